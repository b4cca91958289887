/* Solves that a script asks for, one at a time, so that two builds can take turns row by row
 * (bench/old_new.py). Only what both builds declare is used: this file is compiled in each tree.
 *
 *     cold
 *
 * Reads lines from the standard input and answers each with one line:
 *
 *     load FILE                          "ok", or "refused"
 *     shake SEED                         "ok": q as in the file, each entry changed by round-off
 *                                        (1e-13 of it); 0: not changed
 *     solve TOLERANCE MEASURE FLOW TIME  MEASURE siconos or both, FLOW coulomb or associated; cold
 *                                        solves by `auto` on one thread for about TIME seconds, at
 *                                        least two: "SECONDS COUNT METHOD ITERATIONS
 *                                        FACTORISATIONS", with the shortest time
 *
 * A time is that of info.seconds or, of long solves, the processor's time of the call, whichever is
 * smaller. */
#include "core/clock.h"
#include "scree/scree.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef COLD_FLOW /* the name of this field in the other tree */
#define COLD_FLOW flow
#endif

enum { LEAST = 2, MOST = 2000 };
static const double LONG = 1e-3; /* seconds; the clock of the processor is too coarse below */

typedef struct Bench {
  scree_Problem problem;
  bool loaded;
  double *r, *u, *q; /* q as in the file */
} Bench;

static void load(Bench *bench, const char *path) {
  if (bench->loaded) scree_problem_destroy(&bench->problem);
  free(bench->r);
  free(bench->u);
  free(bench->q);
  bench->loaded = scree_fclib_read(path, &bench->problem, NULL, NULL) == SCREE_OK;
  const size_t n =
      bench->loaded ? (size_t)bench->problem.nc * (size_t)bench->problem.d + 1 : (size_t)1;
  bench->r = calloc(n, sizeof *bench->r);
  bench->u = calloc(n, sizeof *bench->u);
  bench->q = calloc(n, sizeof *bench->q);
  if (!bench->r || !bench->u || !bench->q) abort();
  for (size_t i = 0; i + 1 < n; ++i) bench->q[i] = bench->problem.q[i];
  printf("%s\n", bench->loaded ? "ok" : "refused");
}

static void shake(Bench *bench, unsigned long seed) {
  uint64_t state = seed;
  const size_t n = (size_t)bench->problem.nc * (size_t)bench->problem.d;
  for (size_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double x = (double)(state >> 11) * 0x1p-53 - 0.5;
    bench->problem.q[i] = bench->q[i] * (seed ? 1.0 + 1e-13 * x : 1.0);
  }
  printf("ok\n");
}

static void solve(Bench *bench, double tolerance, const char *measure, const char *flow,
                  double seconds) {
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info = {0};
  scree_Status status = SCREE_OK;
  double best = INFINITY, spent = 0.0;
  int count = 0;
  settings.solver = "auto";
  settings.measure = strcmp(measure, "siconos") == 0 ? SCREE_MEASURE_SICONOS : SCREE_MEASURE_BOTH;
  settings.tolerance = tolerance;
  settings.threads = 1;
  settings.time_limit = 10.0;
  bench->problem.COLD_FLOW = strcmp(flow, "associated") == 0 ? SCREE_ASSOCIATED : SCREE_COULOMB;
  while (count < MOST && (count < LEAST || spent < seconds) && status == SCREE_OK) {
    const double start = scree_processor_seconds();
    status = scree_solve(&bench->problem, &settings, bench->r, bench->u, &info, NULL);
    const double took = scree_processor_seconds() - start;
    best = fmin(best, took > LONG ? fmin(took, info.seconds) : info.seconds);
    spent += took;
    ++count;
  }
  if (status != SCREE_OK) best = INFINITY;
  printf("%.9g %d %s %d %d\n", best, count, info.solver ? info.solver : "-", info.iterations,
         info.factorisations);
}

int main(void) {
  Bench bench = {.loaded = false};
  char line[1200], path[1100], measure[16], flow[16];
  double tolerance, seconds;
  unsigned long seed;
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "load %1099[^\n]", path) == 1)
      load(&bench, path);
    else if (bench.loaded && sscanf(line, "shake %lu", &seed) == 1)
      shake(&bench, seed);
    else if (bench.loaded &&
             sscanf(line, "solve %lf %15s %15s %lf", &tolerance, measure, flow, &seconds) == 4)
      solve(&bench, tolerance, measure, flow, seconds);
    else
      printf("refused\n");
    fflush(stdout);
  }
  if (bench.loaded) scree_problem_destroy(&bench.problem);
  free(bench.r);
  free(bench.u);
  free(bench.q);
  return 0;
}
