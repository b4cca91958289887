/* Cost of one sweep of nlgs in nanoseconds per contact, on one thread and two, 2D and 3D:
 * between balls, between bodies of any shape, and with W assembled. The time of a sweep is the
 * slope between a short and a long solve, so that reading, colouring and the certificate do not
 * count; the best of several repeats is printed. One thread is timed by the processor's clock,
 * which others on the machine disturb least, two by the wall's.
 *
 *     sweep [-1] [contacts...]     (default 10000 100000; -1: on one thread only) */
#include "bench/packing.h"

#include "scree/scree.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 5, SHORT = 10 };

static double seconds_of(const scree_Problem *p, int sweeps, int threads, double *r, double *u) {
  static const char *const options[] = {"check=1000000", "order=coloured", NULL};
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  settings.solver = "nlgs";
  settings.options = options;
  settings.tolerance = 0.0;
  settings.max_iterations = sweeps;
  settings.threads = threads;
  const clock_t start = clock();
  const scree_Status status = scree_solve(p, &settings, r, u, &info, NULL);
  if (status != SCREE_OK && status != SCREE_NOT_CONVERGED) abort();
  return threads == 1 ? (double)(clock() - start) / CLOCKS_PER_SEC : info.seconds;
}

static double nanoseconds(const scree_Problem *p, int threads, double *r, double *u) {
  const int sweeps = SHORT + (p->nc < 30000 ? 1500000 / p->nc : 15);
  double lo = INFINITY, hi = INFINITY;
  for (int k = 0; k < REPEATS; ++k) {
    lo = fmin(lo, seconds_of(p, SHORT, threads, r, u));
    hi = fmin(hi, seconds_of(p, sweeps, threads, r, u));
  }
  return 1e9 * (hi - lo) / (double)(sweeps - SHORT) / (double)p->nc;
}

static void statuses(const scree_Problem *p, const double *r, char *text, size_t size) {
  int open = 0, slip = 0;
  for (int c = 0; c < p->nc; ++c) {
    const double *x = r + c * p->d;
    const double t = p->d == 3 ? hypot(x[1], x[2]) : fabs(x[1]);
    open += x[0] == 0.0;
    slip += x[0] > 0.0 && t >= 0.999999 * p->mu[c] * x[0];
  }
  snprintf(text, size, "%d%% open, %d%% sliding", (int)(100.0 * open / p->nc),
           (int)(100.0 * slip / p->nc));
}

static void report(const char *form, const scree_Problem *p, bool single) {
  const size_t n = (size_t)p->nc * (size_t)p->d;
  double *r = malloc(n * sizeof *r), *u = malloc(n * sizeof *u);
  if (!r || !u) abort();
  const double one = nanoseconds(p, 1, r, u), two = single ? NAN : nanoseconds(p, 2, r, u);
  char text[64];
  statuses(p, r, text, sizeof text);
  printf("%dD %-9s %7d contacts  %6.2f ns", p->d, form, p->nc, one);
  if (!single) printf("  %6.2f ns on 2 threads (x%.2f)", two, one / two);
  printf("  %s\n", text);
  fflush(stdout);
  free(r);
  free(u);
}

int main(int argc, char **argv) {
  const int preset[] = {10000, 100000};
  const bool single = argc > 1 && strcmp(argv[1], "-1") == 0;
  const int first = single ? 2 : 1, given = argc - first;
  for (int d = 3; d >= 2; --d)
    for (int k = 0; k < (given > 0 ? given : 2); ++k) {
      const int contacts = given > 0 ? atoi(argv[first + k]) : preset[k];
      scree_Problem bodies, dense, assembled;
      if (packing_create(d, contacts, 0.3, &bodies, NULL)) return 3;
      if (scree_problem_assemble(&bodies, &assembled, NULL)) return 3;
      if (packing_dense(&bodies, &dense, NULL)) return 3;
      /* spheroids: one spin of every other body weighs a little more */
      for (int c = 0; c < dense.nc; ++c)
        if (dense.bodies.body[2 * c] % 2 == 0)
          for (int i = 0; i < d; ++i)
            dense.bodies.B[((2 * c) * d + i + 1) * dense.bodies.nb - 1] *= 1.001;
      report("balls", &bodies, single);
      report("bodies", &dense, single);
      report("assembled", &assembled, single);
      scree_problem_destroy(&bodies);
      scree_problem_destroy(&dense);
      scree_problem_destroy(&assembled);
    }
  return 0;
}
