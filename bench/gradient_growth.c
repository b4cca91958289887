/* Iterations and time of the five gradient methods against the size of the problem: 003 Figure 10
 * and Table 2 on piles made in code (pile.h), without friction (the paper's case) and with the
 * associated law at mu = 0.5. Every method stops at the same error, measured by the driver.
 *
 *     gradient_growth [TOLERANCE] [LARGEST]     default 1e-3, piles of up to 16^3 spheres
 * The ratios to pgd are the result; the seconds are those of one thread of this machine. */
#include "bench/pile.h"
#include "scree/solver.h"

#include <stdio.h>

static const char *const methods[] = {"pgd", "apgd", "apgd-as", "apgd-ar", "apgd-asr", "spg"};
enum { METHODS = sizeof methods / sizeof *methods };

static scree_Status row(int n, bool frictionless, double tolerance) {
  scree_Problem problem;
  scree_Status status = pile_create(3, n, frictionless ? 0.0 : 0.5, frictionless, &problem, NULL);
  if (status) return status;
  problem.flow = SCREE_ASSOCIATED;
  const size_t size = (size_t)problem.nc * 3;
  double *r = malloc(size * sizeof *r), *u = malloc(size * sizeof *u), slowest = 0.0;
  for (int m = 0; m < METHODS && r && u; ++m) {
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info;
    settings.solver = methods[m];
    settings.tolerance = tolerance;
    settings.threads = 1;
    status = scree_solve(&problem, &settings, r, u, &info, NULL);
    if (status != SCREE_OK && status != SCREE_NOT_CONVERGED) break;
    int active = 0;
    for (int c = 0; c < problem.nc; ++c) active += r[3 * c] > 0.0;
    if (m == 0) slowest = info.seconds;
    printf("%8d %9d %8d  %-9s %7d%s %10.4f %9.2f %10.0f\n", n * n * n, problem.nc, active,
           methods[m], info.iterations, info.converged ? " " : "*", info.seconds,
           info.seconds / slowest,
           1e9 * info.seconds / ((double)info.iterations * (double)problem.nc));
    fflush(stdout);
    status = SCREE_OK;
  }
  if (!r || !u) status = SCREE_MACHINE;
  free(r);
  free(u);
  scree_problem_destroy(&problem);
  return status;
}

int main(int argc, char **argv) {
  const double tolerance = argc > 1 ? strtod(argv[1], NULL) : 1e-3;
  const long largest = argc > 2 ? strtol(argv[2], NULL, 10) : 16;
  const int sizes[] = {8, 12, 16, 24, 32, 40, 50};
  scree_Status status = SCREE_OK;
  for (int frictionless = 1; frictionless >= 0 && !status; --frictionless) {
    printf("%s, error <= %g, one thread (* not converged)\n",
           frictionless ? "without friction" : "associated law, mu = 0.5", tolerance);
    printf("%8s %9s %8s  %-9s %8s %10s %9s %10s\n", "spheres", "contacts", "active", "solver",
           "iterat.", "seconds", "over pgd", "ns/it/cont");
    for (int k = 0; k < 7 && sizes[k] <= largest && !status; ++k)
      status = row(sizes[k], frictionless, tolerance);
    printf("\n");
  }
  return (int)status;
}
