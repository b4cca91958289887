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
 *     count TOLERANCE MEASURE FLOW       one such solve without a limit of time, after another that
 *                                        is not counted: "STATUS COUNT METHOD ITERATIONS
 *                                        FACTORISATIONS". Under valgrind's callgrind the
 *                                        instructions of each that ends with "ok" are in a file of
 *                                        their own
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

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS
#endif

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

static scree_SolveSettings settings_of(double tolerance, const char *measure, double limit) {
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = "auto";
  settings.measure = strcmp(measure, "siconos") == 0 ? SCREE_MEASURE_SICONOS : SCREE_MEASURE_BOTH;
  settings.tolerance = tolerance;
  settings.threads = 1;
  settings.time_limit = limit;
  return settings;
}

static void say(const char *first, int count, const scree_SolveInfo *info) {
  printf("%s %d %s %d %d\n", first, count, info->solver ? info->solver : "-", info->iterations,
         info->factorisations);
}

static void solve(Bench *bench, double tolerance, const char *measure, double seconds) {
  const scree_SolveSettings settings = settings_of(tolerance, measure, 10.0);
  scree_SolveInfo info = {0};
  scree_Status status = SCREE_OK;
  double best = INFINITY, spent = 0.0;
  char word[32];
  int count = 0;
  while (count < MOST && (count < LEAST || spent < seconds) && status == SCREE_OK) {
    const double start = scree_processor_seconds();
    status = scree_solve(&bench->problem, &settings, bench->r, bench->u, &info, NULL);
    const double took = scree_processor_seconds() - start;
    best = fmin(best, took > LONG ? fmin(took, info.seconds) : info.seconds);
    spent += took;
    ++count;
  }
  snprintf(word, sizeof word, "%.9g", status == SCREE_OK ? best : INFINITY);
  say(word, count, &info);
}

static void count(Bench *bench, double tolerance, const char *measure) {
  const scree_SolveSettings settings = settings_of(tolerance, measure, 0.0);
  scree_SolveInfo info = {0};
  scree_Status status = scree_solve(&bench->problem, &settings, bench->r, bench->u, &info, NULL);
  if (status == SCREE_OK) {
    CALLGRIND_ZERO_STATS;
    status = scree_solve(&bench->problem, &settings, bench->r, bench->u, &info, NULL);
    CALLGRIND_DUMP_STATS;
  }
  say(status == SCREE_OK ? "ok" : "failed", 1, &info);
}

/* The law of the next solves; false if a line is about no problem. */
static bool set_flow(Bench *bench, const char *flow) {
  bench->problem.COLD_FLOW = strcmp(flow, "associated") == 0 ? SCREE_ASSOCIATED : SCREE_COULOMB;
  return bench->loaded;
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
    else if (sscanf(line, "solve %lf %15s %15s %lf", &tolerance, measure, flow, &seconds) == 4 &&
             set_flow(&bench, flow))
      solve(&bench, tolerance, measure, seconds);
    else if (sscanf(line, "count %lf %15s %15s", &tolerance, measure, flow) == 3 &&
             set_flow(&bench, flow))
      count(&bench, tolerance, measure);
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
