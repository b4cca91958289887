/* Cohesion that can break (002 section 8): Coulomb's cone shifted by a force c,
 *     |f_T| <= mu (f_n + c) ,
 * so that a contact carries a tension up to c, and mu c of shear without any load. The flow is
 * Coulomb's. The law is rigid up to its strength: the gap of a bond below its strength is zero, and
 * a bond at its strength exerts the force c while it opens.
 *
 * A bond breaks once the displacement under its full strength, in opening and in sliding, has
 * grown to `break_at`; then it is a contact without cohesion, for as long as the two bodies stay
 * near each other. Displacement is measured along the force, with its sign, so that errors of
 * the solutions, which move bodies to and fro, do not accumulate. (With the length of the path
 * instead, they broke the bond of a block on a table that was tilted in 3 s, at 0.8 of its
 * strength.)
 * Bodies that touch in the first step are bonded; contacts that are made later are bonded by their
 * first impulse, but only with `rebond`, even if a bond was broken and the bodies have been apart.
 * Bonds act on bodies whose gap is small enough that the contact is still detected, about a
 * hundredth of the smaller body. */
#include "law/law.h"

#include <float.h>
#include <math.h>

enum { MU, COHESION, BREAK_AT, REBOND };

/* Memory: how the contact is bonded, and the displacement so far. */
enum { STATE, DISPLACEMENT, MEMORY };
enum { NEW = 0, BONDED = 1, LOOSE = 2 };

/* A bond carries its full strength when it is within `full` of it. The distribution of a load among
 * several bonds of a face is not unique, so that one may carry its full strength at rest: even a
 * brittle bond breaks only after a displacement of `brittle` times the size of the smaller body. */
static const double full = 1e-3, brittle = 1e-4;

static const scree_Option options[] = {
    SCREE_LAW_MU(MU),
    SCREE_LAW_REAL("cohesion", COHESION, 0, 0, DBL_MAX, "tensile strength of a bond, N"),
    SCREE_LAW_REAL("break_at", BREAK_AT, 0, 0, DBL_MAX,
                   "displacement under full load at which a bond breaks, m; 0: 1e-4 of the size of "
                   "the smaller body"),
    SCREE_LAW_REAL(
        "rebond", REBOND, 0, 0, 1,
        "1: contacts that form later are bonded too; 0: only contacts of the first step")};

static const char *check(const scree_PairLaw *law) {
  const double rebond = law->values[REBOND];
  return rebond != 0 && rebond != 1 ? "rebond is neither 0 nor 1, expected one of them" : NULL;
}

static void fill(const scree_PairLaw *law, double h, scree_LawContact *contact) {
  contact->set =
      (scree_Set){.kind = SCREE_SET_SHIFTED, .mu = law->values[MU], .a = h * law->values[COHESION]};
}

/* Bodies that touch in the first step are bonded; contacts are also found where bodies are near. */
static bool is_bonded(const scree_LawPoint *p) {
  if (p->memory[STATE] != NEW) return p->memory[STATE] == BONDED;
  return p->first && p->gap <= brittle * p->size;
}

static void pose(const scree_PairLaw *law, const scree_LawPoint *p, scree_LawTerms *terms) {
  if (!is_bonded(p)) terms->set = (scree_Set){.kind = SCREE_SET_CONE, .mu = law->values[MU]};
}

static void update(const scree_PairLaw *law, const scree_LawPoint *p, const double *r,
                   const double *u, double *memory) {
  (void)u;
  memory[STATE] = p->memory[STATE];
  memory[DISPLACEMENT] = p->memory[DISPLACEMENT];
  if (!is_bonded(p)) { /* a new contact is bonded by its first impulse, if at all */
    if (memory[STATE] == NEW && r[0] > 0) memory[STATE] = law->values[REBOND] > 0 ? BONDED : LOOSE;
    return;
  }
  memory[STATE] = BONDED;
  const double c = p->h * law->values[COHESION], mu = law->values[MU];
  const double tangent = p->d == 2 ? fabs(r[1]) : hypot(r[1], r[2]);
  const bool opens = r[0] <= -(1 - full) * c;
  const bool slides = tangent >= (1 - full) * mu * (r[0] + c) && tangent > 0;
  if (!opens && !slides) return;
  double moved = opens ? p->before[0] : 0;
  for (int k = 1; k < p->d && slides; ++k) moved -= p->before[k] * r[k] / tangent;
  memory[DISPLACEMENT] = fmax(0, memory[DISPLACEMENT] + p->h * moved);
  const double limit = law->values[BREAK_AT] > 0 ? law->values[BREAK_AT] : brittle * p->size;
  if (memory[DISPLACEMENT] >= limit) memory[STATE] = LOOSE;
}

static void show(const scree_PairLaw *law, const double *memory, double *plastic,
                 scree_ContactBond *bond) {
  (void)law;
  *plastic = memory[DISPLACEMENT];
  *bond = memory[STATE] == BONDED      ? SCREE_BOND_INTACT
          : memory[DISPLACEMENT] > 0.0 ? SCREE_BOND_BROKEN
                                       : SCREE_BOND_NONE;
}

const scree_LawClass scree_law_cohesive = {
    .name = "cohesive",
    .summary = "breakable bonds with a tensile and shear strength, and Coulomb friction",
    .options = SCREE_LAW_TABLE(options),
    .check = check,
    .fill = fill,
    .pose = pose,
    .memory = MEMORY,
    .update = update,
    .show = show};
