/* Coulomb's dry friction with Newton's restitution: |r_T| <= mu r_n. Whether the flow is Coulomb's
 * own or the associated one is a property of the whole problem (scree_WorldSettings.flow). */
#include "law/law.h"

#include <float.h>

enum { MU, E_N, E_T, ROLLING, SPINNING, DILATANCY };

static const scree_Option options[] = {
    SCREE_LAW_MU(MU),
    SCREE_LAW_REAL("e_n", E_N, 0, 0, 1, "coefficient of restitution of the normal velocity"),
    SCREE_LAW_REAL("e_t", E_T, 0, 0, 1, "coefficient of restitution of the tangential velocity"),
    SCREE_LAW_ROLLING(ROLLING),
    SCREE_LAW_SPINNING(SPINNING),
    SCREE_LAW_DILATANCY(DILATANCY)};

static void fill(const scree_PairLaw *law, double h, scree_LawContact *contact) {
  (void)h;
  contact->set = (scree_Set){.kind = SCREE_SET_CONE, .mu = law->values[MU]};
  contact->e_n = law->values[E_N];
  contact->e_t = law->values[E_T];
  contact->rolling = law->values[ROLLING];
  contact->spinning = law->values[SPINNING];
}

const scree_LawClass scree_law_coulomb = {.name = "coulomb",
                                          .summary = "Coulomb friction with restitution",
                                          .options = SCREE_LAW_TABLE(options),
                                          .fill = fill};

scree_PairLaw scree_pair_law_coulomb(double mu, double e_n, double e_t) {
  scree_PairLaw law = scree_pair_law(scree_law_coulomb.name);
  law.values[MU] = mu;
  law.values[E_N] = e_n;
  law.values[E_T] = e_t;
  return law;
}
