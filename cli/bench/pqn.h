/* Shared by the experiments of paper 004: what its tables count. */
#ifndef SCREE_CLI_BENCH_PQN_H
#define SCREE_CLI_BENCH_PQN_H

#include "cli/bench/march.h"

enum { PQN_LIMIT = 1000 }; /* iterations after which the paper counts a step as diverged */

/* Sums that the paper prints; zeroed but for `newton`. */
typedef struct PqnCount {
  bool newton;       /* diverged: Gauss-Seidel took over */
  int64_t converged; /* steps with contacts that converged */
  int64_t diverged;
  double iterations; /* of the converged ones */
  double energy;     /* energy created, worst */
} PqnCount;

/* For march: `user` is a PqnCount. */
void pqn_observe(void *user, scree_World *world, const scree_StepReport *report);

/* iterations_per_step, diverged, seconds, solver_ratio; `published` (4, or null) has them in the
 * order of the paper's tables: seconds, ratio, iterations, diverged. */
void pqn_figures(Bench *bench, const char *name, const double *published, const PqnCount *count,
                 const March *result);

#endif
