/* How many parts a step is divided into because of its impacts (step/impacts.c). */
#ifndef SCREE_WORLD_REFINE_H
#define SCREE_WORLD_REFINE_H

#include "step/system.h"

/* Sums of the energies of impacts (scree_Impacts) over the last steps, older ones with a smaller
 * weight. */
typedef struct scree_ImpactSums {
  double error, energy;
  double latest; /* error, with a shorter memory */
} scree_ImpactSums;

/* A step of level k is divided into 2^k parts. */
typedef struct scree_Refinement {
  scree_ImpactSums recent;
  int64_t level; /* of the next step */
  double spent;  /* counted work of divided steps beyond that of undivided ones, less the part
                    of the latter that it may be */
  double usual;  /* counted work of a step of the present kind if it is not divided */
} scree_Refinement;

/* `recent` after a span of so many steps; `turned_over`: energy of the world since its start. */
scree_ImpactSums scree_refine_add(const scree_ImpactSums *recent, const scree_Impacts *span,
                                  double length, double turned_over);

/* Whether spans that lead to these sums are too long, and shorter ones can be paid for: spans of
 * level `level`, in a step that begins with this account. */
bool scree_refine_rises(const scree_Refinement *account, const scree_ImpactSums *recent, int level);

/* The level of the step after the one of level `level` that begins with this account. It is needed
 * before that step ends: its last kick holds bodies apart until the first one of the next step. */
int scree_refine_next(const scree_Refinement *account, int level);

/* The level, at most `highest`, that the impacts and vibrations of soft bodies in a span of level
 * `level` need. */
int scree_refine_soft(const scree_ImpactSums *recent, const scree_StepOutcome *outcome, int level,
                      int highest);

/* Add the price of a step of level `level`: the counted work of its solves, and of so many attempts
 * with so many contacts and bodies (of each rank, where the world is divided). */
void scree_refine_pay(scree_Refinement *account, int level, double work, int attempts,
                      double contacts, double bodies);

/* Highest level in a world whose steps may be halved so often. */
SCREE_PRIVATE int scree_refine_highest(int max_halvings);

#endif
