/* Messages, bytes, synchronisations and memory of a solve on several ranks:
 *
 *     mpirun -n 4 build/mpi/bench/ranks SIDE [SOLVER [OPTION]]
 *
 * A packing of SIDE^3 balls (tests/ranks/packing.h) is solved with 100 and with 200 iterations; the
 * difference is what 100 iterations send and take, without the division of the problem. Each rank
 * also tells how much memory it had at most. Runs without MPI too, then with zeros. */
#include "bench/process.h"
#include "scree/solver.h"
#include "tests/ranks/packing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5 }; /* of which the fastest counts */

static int measure(const scree_Ranks *ranks, int side, const char *solver, const char *option) {
  const char *const options[] = {option, NULL};
  scree_Problem p;
  if (packing_create(&p, 3, side)) return 3;
  const size_t n = scree_problem_rows(&p);
  double *r = calloc(2 * n, sizeof *r);
  if (!r) return 3;
  scree_SolveInfo info[2];
  double least[2] = {INFINITY, INFINITY}; /* seconds */
  for (int repeat = 0; repeat < 2 * REPEATS; ++repeat) {
    const int k = repeat % 2;
    scree_SolveSettings settings = scree_solve_settings();
    settings.solver = solver;
    settings.options = option ? options : NULL;
    settings.tolerance = 0.0;
    settings.max_iterations = 100 * (k + 1);
    settings.ranks = ranks;
    p.flow = strcmp(solver, "spg") == 0 || strncmp(solver, "apgd", 4) == 0 ? SCREE_ASSOCIATED
                                                                           : SCREE_COULOMB;
    const scree_Status status = scree_solve(&p, &settings, r, r + n, &info[k], NULL);
    if (status > SCREE_NOT_CONVERGED) return (int)status;
    least[k] = fmin(least[k], info[k].seconds);
  }
  const double count = info[1].iterations - info[0].iterations;
  const int size = scree_ranks_size(ranks);
  printf(
      "%d bodies, %d contacts, %s %s, %d ranks: imbalance %.3f; for each iteration %.1f messages "
      "and %.0f bytes of all ranks (%.2f and %.0f of each), %.2f synchronisations, %.1f us; %lld "
      "bytes "
      "to divide it; error %.3e\n",
      p.bodies.nbodies, p.nc, solver, option ? option : "", size, info[1].imbalance,
      (double)(info[1].sent.messages - info[0].sent.messages) / count,
      (double)(info[1].sent.bytes - info[0].sent.bytes) / count,
      (double)(info[1].sent.messages - info[0].sent.messages) / count / size,
      (double)(info[1].sent.bytes - info[0].sent.bytes) / count / size,
      (double)(info[1].sent.synchronisations - info[0].sent.synchronisations) / count,
      1e6 * (least[1] - least[0]) / count, info[0].sent_before.bytes, info[1].measures.error);
  free(r);
  scree_problem_destroy(&p);
  return 0;
}

int main(int argc, char **argv) {
  scree_Ranks *ranks;
  if (scree_ranks_create(&ranks, NULL) != SCREE_OK) return 3;
  const int side = argc > 1 ? atoi(argv[1]) : 20;
  int status = 0;
  if (scree_ranks_rank(ranks) > 0) {
    scree_solver_serve(ranks, NULL);
  } else {
    status = measure(ranks, side > 0 ? side : 20, argc > 2 ? argv[2] : "nlgs",
                     argc > 3 ? argv[3] : NULL);
    if (scree_ranks_size(ranks) > 1) scree_solver_dismiss(ranks);
  }
  printf("  rank %d: at most %.1f MB\n", scree_ranks_rank(ranks), peak_memory());
  scree_ranks_destroy(ranks);
  return status;
}
