/* Coulomb's dry friction with Newton's restitution: |r_T| <= mu r_n. Whether the flow is Coulomb's
 * own or the associated one is a property of the whole problem (scree_WorldSettings.flow). */
#include "law/law.h"

#include <math.h>

static const char *check(const scree_PairLaw *law) {
  if (!(law->mu >= 0) || !isfinite(law->mu)) return "mu, expected a number >= 0";
  if (!(law->e_n >= 0 && law->e_n <= 1)) return "e_n, expected a number in [0, 1]";
  if (!(law->e_t >= 0 && law->e_t <= 1)) return "e_t, expected a number in [0, 1]";
  return NULL;
}

static void fill(const scree_PairLaw *law, double h, scree_LawContact *contact) {
  (void)h;
  *contact = (scree_LawContact){
      .set = {.kind = SCREE_SET_CONE, .mu = law->mu}, .e_n = law->e_n, .e_t = law->e_t};
}

const scree_LawClass scree_law_coulomb = {.name = "coulomb",
                                          .summary = "dry friction mu with restitution e_n, e_t",
                                          .check = check,
                                          .fill = fill};
