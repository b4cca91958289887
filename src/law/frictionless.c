/* Unilateral contact without friction: r_n >= 0, r_T = 0; restitution e_n. */
#include "law/law.h"

static const char *check(const scree_PairLaw *law) {
  if (!(law->e_n >= 0 && law->e_n <= 1)) return "e_n, expected a number in [0, 1]";
  return NULL;
}

static void fill(const scree_PairLaw *law, double h, scree_LawContact *contact) {
  (void)h;
  /* the cone of mu = 0 is the half-line, and what is a cone is solved the fast way */
  *contact = (scree_LawContact){.set = {.kind = SCREE_SET_CONE, .mu = 0.0}, .e_n = law->e_n};
}

const scree_LawClass scree_law_frictionless = {.name = "frictionless",
                                               .summary = "no friction, restitution e_n",
                                               .check = check,
                                               .fill = fill};
