/* Unilateral contact without friction: r_n >= 0, r_T = 0; restitution e_n. */
#include "law/law.h"

static const scree_Option options[] = {
    SCREE_LAW_REAL("e_n", 0, 0, 0, 1, "coefficient of restitution of the normal velocity")};

static void fill(const scree_PairLaw *law, double h, scree_LawContact *contact) {
  (void)h;
  /* the cone with mu = 0 is the half-line, and cones are solved faster */
  contact->set = (scree_Set){.kind = SCREE_SET_CONE, .mu = 0.0};
  contact->e_n = law->values[0];
}

const scree_LawClass scree_law_frictionless = {.name = "frictionless",
                                               .summary = "no friction, with restitution",
                                               .options = SCREE_LAW_TABLE(options),
                                               .fill = fill};
