/* Gain of a persistent scree_Solver over scree_solve: sequences of packings (sequence.h)
 * whose graph stays or changes a little from step to step, solved by both in turns on one thread;
 * microseconds per problem (the best of each problem over some passes, and their mean). A problem
 * starts from zero ("cold"), from nine tenths of its solution ("warm"), or from the solution, as
 * things at rest do ("settled"): then preparing and measuring is all. Last, how much more work a
 * factorisation is with an order of elimination that was made for an earlier step.
 *
 *     solver [contacts of the largest packings (3000)] */
#include "bench/sequence.h"

#include "core/clock.h"
#include "scree/solver.h"
#include "solver/graph_system.h"

#include <stdio.h>

enum { STEPS = 20, PASSES = 3 };

static scree_Status call(scree_Solver *solver, const scree_Problem *p,
                         const scree_SolveSettings *settings, double *r, double *u,
                         double *seconds) {
  scree_SolveInfo info;
  scree_Status status = SCREE_OK;
  const double start = scree_seconds();
  if (solver) status = scree_solver_set_settings(solver, settings);
  if (!status)
    status = solver ? scree_solver_solve(solver, p, r, u, &info)
                    : scree_solve(p, settings, r, u, &info, NULL);
  *seconds = fmin(*seconds, scree_seconds() - start);
  return status;
}

typedef enum Start { COLD, WARM, SETTLED } Start;

/* One row: the sequence by scree_solve and by a solver. */
static void compare(const char *name, int d, int contacts, bool dense, double tolerance, int open,
                    Start from) {
  static const char *const names[] = {"cold", "warm", "settled"};
  static const double part[] = {0.0, 0.9, 1.0}; /* of the solution */
  Sequence s = sequence_create(d, contacts, 0.3, open, 20, dense);
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = name;
  settings.tolerance = tolerance;
  settings.threads = 1;
  scree_Solver *solver;
  if (scree_solver_create(&settings, NULL, &solver)) abort();
  const size_t n = (size_t)(s.all.nc * d);
  double *start = calloc(STEPS * n, sizeof *start), *r = calloc(2 * n, sizeof *r), *u = r + n;
  double seconds[2][STEPS], sum[2] = {0.0, 0.0};
  for (int k = 0; k < 2 * STEPS; ++k) seconds[k % 2][k / 2] = INFINITY;
  for (int pass = 0; pass <= PASSES; ++pass)
    for (int step = 0; step < STEPS; ++step) {
      sequence_set(&s, open ? step : 0);
      settings.warm_start = from != COLD && pass > 0;
      for (int way = 0; way < 2; ++way) {
        double ignored = INFINITY;
        memcpy(r, start + (size_t)step * n, n * sizeof *r);
        if (call(way ? solver : NULL, &s.problem, &settings, r, u,
                 pass ? &seconds[way][step] : &ignored) > SCREE_NOT_CONVERGED)
          abort();
      }
      if (pass == 0)
        for (size_t i = 0; i < n; ++i) start[(size_t)step * n + i] = part[from] * r[i];
    }
  for (int k = 0; k < 2 * STEPS; ++k) sum[k % 2] += 1e6 * seconds[k % 2][k / 2] / STEPS;
  printf("%-7s %dD %-7s %6d contacts to %.0e  %-8s %-7s %10.1f us %10.1f us  x%.2f\n", name, d,
         dense ? "bodies" : "balls", s.problem.nc, tolerance, open ? "changing" : "the same",
         names[from], sum[0], sum[1], sum[0] / sum[1]);
  fflush(stdout);
  scree_solver_destroy(solver);
  sequence_destroy(&s);
  free(start);
  free(r);
}

/* Work of a factorisation at each step with the order of step 0, over that with a new order. */
static void measure_orders(int d, int contacts, int open) {
  Sequence s = sequence_create(d, contacts, 0.3, open, 40, false);
  scree_Elimination kept = {0};
  scree_Arena scratch = {0};
  printf("%dD, %d contacts, %d%% open:", d, contacts, open);
  for (int step = 0; step <= 40; step += step < 4 ? 1 : 12) {
    scree_Elimination fresh = {0};
    scree_GraphSystem system = {0}, other = {0};
    scree_Operator W;
    sequence_set(&s, step);
    if (scree_operator_create(&s.problem, 1, NULL, &W)) abort();
    const double before = kept.operations;
    kept.operations =
        step ? 1e300 : 0.0; /* any amount of work is accepted: the order is never replaced */
    if (scree_graph_system_set(&system, &W, 1, &kept, &scratch, NULL) ||
        scree_graph_system_set(&other, &W, 1, &fresh, &scratch, NULL))
      abort();
    kept.operations = step ? before : kept.operations;
    printf("  step %d x%.2f", step, kept.flops / fresh.flops);
    scree_operator_destroy(&W);
    scree_graph_system_fini(&system);
    scree_graph_system_fini(&other);
    scree_elimination_fini(&fresh);
  }
  printf("\n");
  scree_elimination_fini(&kept);
  scree_arena_fini(&scratch);
  sequence_destroy(&s);
}

int main(int argc, char **argv) {
  const int large = argc > 1 ? atoi(argv[1]) : 3000;
  const int sizes[] = {50, 500, large};
  printf("scree_solve, a scree_Solver, their ratio\n");
  for (int d = 3; d >= 2; --d)
    for (int dense = 0; dense < 2; ++dense)
      for (int k = 0; k < 3; ++k)
        for (int open = 0; open <= 4; open += 4) {
          compare("nlgs", d, sizes[k], dense, 1e-3, open, SETTLED);
          compare("nlgs", d, sizes[k], dense, 1e-3, open, WARM);
          compare("auto", d, sizes[k], dense, 1e-4, open, SETTLED);
          compare("auto", d, sizes[k], dense, 1e-4, open, WARM);
          if (k < 2) compare("newton", d, sizes[k], dense, 1e-8, open, COLD);
        }
  printf("\noperations with the order of step 0, over those with a new one\n");
  for (int d = 3; d >= 2; --d)
    for (int open = 2; open <= 8; open *= 2) measure_orders(d, 2 * large, open);
  return 0;
}
