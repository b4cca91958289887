/* Cost of one Gauss-Seidel sweep over an assembled W, scree against the NSGS of Siconos, on the
 * same problem in the same run, one thread, nanoseconds of processor time per contact. Siconos runs
 * its default local solver with its cheap stopping test, so that a sweep of it is a sweep and not
 * an evaluation of the error. Matrix-free and two-thread figures are printed by `sweep`.
 *
 *     siconos_sweep [contacts...]        (default 10000 100000) */
#include "bench/packing.h"
#include "bench/siconos_bridge.h"

#include "scree/scree.h"

#include <stdio.h>
#include <time.h>

enum { REPEATS = 3, SHORT = 5, LONG = 20 };

static double ours(const scree_Problem *p, int sweeps, double *r, double *u) {
  static const char *const options[] = {"check=1000000", NULL};
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  settings.solver = "nlgs";
  settings.options = options;
  settings.tolerance = 0.0;
  settings.max_iterations = sweeps;
  settings.threads = 1;
  const clock_t start = clock();
  const scree_Status status = scree_solve(p, &settings, r, u, &info, NULL);
  if (status != SCREE_OK && status != SCREE_NOT_CONVERGED) abort();
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static double theirs(FrictionContactProblem *p, int sweeps, double *r, double *u) {
  SolverOptions *options = solver_options_create(p->dimension == 3 ? SICONOS_FRICTION_3D_NSGS
                                                                   : SICONOS_FRICTION_2D_NSGS);
  options->iparam[SICONOS_IPARAM_MAX_ITER] = sweeps;
  if (p->dimension == 3)
    options->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] =
        SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_LIGHT;
  else
    options->iparam[SICONOS_IPARAM_ERROR_EVALUATION] = SICONOS_ERROR_LIGHT_EVALUATION_NO_UPDATE;
  options->dparam[SICONOS_DPARAM_TOL] = 1e-300;
  for (int i = 0; i < p->numberOfContacts * p->dimension; ++i) r[i] = u[i] = 0.0;
  const clock_t start = clock();
  bridge_solve(p, options, r, u);
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  solver_options_delete(options);
  return seconds;
}

int main(int argc, char **argv) {
  const int preset[] = {10000, 100000};
  for (int d = 3; d >= 2; --d)
    for (int k = 0; k < (argc > 1 ? argc - 1 : 2); ++k) {
      scree_Problem bodies, p;
      if (packing_create(d, argc > 1 ? atoi(argv[k + 1]) : preset[k], 0.3, &bodies, NULL)) return 3;
      if (scree_problem_assemble(&bodies, &p, NULL)) return 3;
      FrictionContactProblem *peer = bridge_create(&p);
      const size_t n = (size_t)p.nc * (size_t)d;
      double *r = bridge_alloc(n, sizeof *r), *u = bridge_alloc(n, sizeof *u);
      double lo[2] = {INFINITY, INFINITY}, hi[2] = {INFINITY, INFINITY};
      for (int repeat = 0; repeat < REPEATS; ++repeat) {
        lo[0] = fmin(lo[0], ours(&p, SHORT, r, u));
        hi[0] = fmin(hi[0], ours(&p, LONG, r, u));
        lo[1] = fmin(lo[1], theirs(peer, SHORT, r, u));
        hi[1] = fmin(hi[1], theirs(peer, LONG, r, u));
      }
      const double scale = 1e9 / (double)(LONG - SHORT) / (double)p.nc;
      const double mine = scale * (hi[0] - lo[0]), other = scale * (hi[1] - lo[1]);
      printf("%dD assembled %7d contacts  scree %6.1f ns  Siconos NSGS %6.1f ns  ratio %.2f\n", d,
             p.nc, mine, other, other / mine);
      fflush(stdout);
      free(r);
      free(u);
      frictionContactProblem_free(peer);
      scree_problem_destroy(&bodies);
      scree_problem_destroy(&p);
    }
  return 0;
}
