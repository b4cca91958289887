/* Steps are divided where many bodies have several impacts at once, and while soft ones are hit.
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
 * at once: then the bodies are only held apart for longer than needed.
 *
 * This corrects the split of the dissipated energy between friction and impact; the motion of a
 * flow of many grains stays the same. So the price is bounded: a step of 2^k parts is taken to cost
 * 2^k times an undivided one, and the work beyond that may be a part of the work of undivided
 * steps, plus what small worlds need for a whole run. The work is that of all attempts: their
 * solves, counted, and detection and motion, by the numbers of contacts and bodies (most of the
 * work of small worlds). Without a bound steps were divided for most
 * of the time in which 2000 spheres fell into a hopper, and cost five times as much.
 *
 * Impacts of soft bodies (step/soft.c) take longer than contacts need to close. In worlds with
 * deformable bodies steps are divided for them alone: energy that they misplace is lost, not only
 * split wrongly, so there is no bound of the price. Parts have at once the length that their
 * impacts need, and the next step has the shortest one that any part of this step has needed.
 *
 * Everything follows from energies and counted work, not from clocks, and is part of the saved
 * state. */
#include "world/refine.h"

#include "body/ringing.h"

#include <assert.h>
#include <math.h>

static const struct {
  double limit;   /* part of the energy exchanged that may be misplaced */
  double memory;  /* steps: time constant of the sums */
  double latest;  /* the same of the errors that decide when parts become longer. After an impact
                     error and energy fall alike: with one memory for both an arch that falls
                     stayed in eight parts between its impacts, 2183 parts of 420 steps, with
                     4: 1443, with 2: 1198 (at a limit of 2e-3 and a calm of 0.7). Disks that bounce
                     in a box, 37 starts beside a quarter of the step, error of the energy
                     dissipated by impact: 0.4 +- 0.2 %, with 2: 0.8 +- 0.2 %, and with the values
                     below -0.1 +- 0.2 %, for the same time */
  double least;   /* part of the energy turned over that is added to the energy of each step */
  double coarser; /* factor on the error for parts of twice the length: 2^1.3 to 2^1.5 measured */
  double calm;    /* part of the limit below which the predicted error lengthens them */
  int highest;    /* level */
  double part;    /* of the work of undivided steps that dividing may cost */
  double always;  /* what it may cost in every run: seconds of a reference core. With 0.2 the split
                     of dissipated energy is off by 3 % in examples/arch.yaml and by 1.3 % in
                     sedimentation.yaml, with 0.5 by 0.1 and 0.9 %, with 1 by 0 and 0.6 %; with 0.5
                     the way of the last of the dominoes depends on the tolerance by 1.3 %, with
                     0.7 by 0.8 %. A row of dominoes and an arch take two to four times the work of
                     undivided steps, so no relative bound does */
  double contact, body; /* what an attempt costs besides its solves, in seconds of a reference
                           core: detection, building the problem, motion. Measured in 13 scenes: 0.7
                           to 2 us a contact and 0.5 to 2 us a body; clumps and meshes ten times */
  double vibration; /* part of the energy of the world that a part of a step may create or lose in
                       the vibrations of soft bodies */
  double order;     /* factor on it for parts of twice the length: that of a scheme of order 2 */
  double over;      /* factor on the part of the energy that impacts of soft bodies may misplace */
} rules = {.limit = 1.5e-3,
           .memory = 8,
           .latest = 2,
           .least = 1e-4,
           .coarser = 2.7,
           .calm = 0.5,
           .highest = 3,
           .part = 0.25,
           .always = 0.7,
           .contact = 1e-6,
           .body = 0.5e-6,
           .vibration = 1e-3,
           .order = 8,
           .over = 1.2};

scree_ImpactSums scree_refine_add(const scree_ImpactSums *recent, const scree_Impacts *span,
                                  double length, double turned_over) {
  assert(length >= 0 && length <= rules.memory);
  const double kept = 1 - length / rules.memory;
  return (scree_ImpactSums){
      .error = kept * recent->error + span->error,
      .energy = kept * recent->energy + span->energy + rules.least * length * turned_over,
      .latest = fmax(0, 1 - length / rules.latest) * recent->latest + span->error};
}

/* A rise is for some steps, so all of them have to be within the bound. */
static bool can_pay(const scree_Refinement *account, int level) {
  const double price = account->usual * (double)((1 << level) - 1);
  return account->spent + rules.memory * price < rules.always;
}

bool scree_refine_rises(const scree_Refinement *account, const scree_ImpactSums *recent,
                        int level) {
  return recent->error > rules.limit * recent->energy && can_pay(account, level + 1);
}

int scree_refine_next(const scree_Refinement *account, int level) {
  assert(level >= 0 && level <= rules.highest);
  const scree_ImpactSums *recent = &account->recent;
  const double going_on = recent->latest * rules.memory / rules.latest;
  const bool calm = rules.coarser * going_on < rules.calm * rules.limit * recent->energy;
  return level > 0 && (calm || account->spent > rules.always) ? level - 1 : level;
}

int scree_refine_soft(const scree_ImpactSums *recent, const scree_StepOutcome *outcome, int level,
                      int highest) {
  const scree_SoftImpacts *soft = &outcome->soft;
  const double limit = rules.over * scree_ringing_accepted() * (recent->energy + soft->energy);
  int impacts = 0, vibration = level < highest ? level : highest;
  while (impacts < highest && soft->error[impacts] > limit) ++impacts;
  if (outcome->vibration > rules.vibration) {
    if (level < highest) ++vibration;
  } else {
    double coarser = outcome->vibration;
    while (vibration > 0 && (coarser *= rules.order) <= rules.vibration) --vibration;
  }
  return impacts > vibration ? impacts : vibration;
}

void scree_refine_pay(scree_Refinement *account, int level, double work, int attempts,
                      double contacts, double bodies) {
  assert(level >= 0 && level <= rules.highest && attempts >= 1);
  const double all = work + attempts * (rules.contact * contacts + rules.body * bodies);
  account->usual = all / (double)(1 << level);
  account->spent += all - (1 + rules.part) * account->usual;
}

int scree_refine_highest(int max_halvings) {
  return max_halvings < rules.highest ? max_halvings : rules.highest;
}
