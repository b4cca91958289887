/* Steps are divided where many bodies have several impacts at once.
 *
 * The energy that impacts misplace (step/impacts.c) is held below a part of the energy that is
 * exchanged at the same time. Where it is above, the attempt is undone, and this step and the next
 * ones are divided once more; where it would be below even with parts of twice the length they
 * become longer again. The sums are those of the last steps, with weights that fall exponentially,
 * so that single impacts do not change the length of every step. Impacts with very little energy,
 * relative to all that was turned over, are left as they are.
 *
 * Parts that follow each other need to know each other's length (moreau_jean.c: the gap is closed
 * at the next kick), so levels fall from one step to the next, announced one step ahead. They rise
 * at once: then the bodies are only held apart for longer than needed. Everything follows from
 * energies, not from clocks, and is part of the saved state. */
#include "world/refine.h"

static const struct {
  double limit;   /* part of the energy exchanged that may be misplaced */
  double memory;  /* steps: time constant of the sums */
  double least;   /* part of the energy turned over that is added to the energy of each step */
  double coarser; /* factor on the error for parts of twice the length: 2^1.3 to 2^1.5 measured */
  double calm;    /* part of the limit below which the predicted error lengthens them */
  int highest;    /* level */
} rules = {.limit = 2e-3, .memory = 8, .least = 1e-4, .coarser = 2.7, .calm = 0.7, .highest = 3};

scree_Impacts scree_refine_add(const scree_Impacts *recent, const scree_Impacts *span,
                               double length, double turned_over) {
  const double kept = 1 - length / rules.memory;
  return (scree_Impacts){kept * recent->error + span->error,
                         kept * recent->energy + span->energy + rules.least * length * turned_over};
}

bool scree_refine_rises(const scree_Impacts *recent) {
  return recent->error > rules.limit * recent->energy;
}

int scree_refine_next(const scree_Impacts *recent, int level) {
  const bool calm = rules.coarser * recent->error < rules.calm * rules.limit * recent->energy;
  return level > 0 && calm ? level - 1 : level;
}

int scree_refine_highest(int max_halvings) {
  return max_halvings < rules.highest ? max_halvings : rules.highest;
}
