#include "cli/bench/pqn.h"

#include <math.h>

void pqn_observe(void *user, scree_World *world, const scree_StepReport *report) {
  PqnCount *count = user;
  (void)world;
  count->energy = fmax(count->energy, report->energy_created);
  if (report->contacts == 0) return;
  const bool good =
      report->solve.converged && !(count->newton && report->solve.iterations > PQN_LIMIT);
  count->diverged += !good;
  count->converged += good;
  if (good) count->iterations += report->iterations;
}

void pqn_figures(Bench *bench, const char *name, const double *published, const PqnCount *count,
                 const March *result) {
  const double *p = published;
  bench_figure(bench, name, "iterations_per_step", p ? p[2] : NAN,
               count->converged ? count->iterations / (double)count->converged : NAN);
  bench_figure(bench, name, "diverged", p ? p[3] : NAN, (double)count->diverged);
  bench_figure(bench, name, "seconds", p ? p[0] : NAN, result->seconds);
  bench_figure(bench, name, "solver_ratio", p ? p[1] : NAN,
               result->seconds > 0 ? result->seconds_solve / result->seconds : NAN);
}
