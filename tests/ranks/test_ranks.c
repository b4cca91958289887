/* Solves on several ranks, run by mpirun with any number of them: exact sweeps give the impulses of
 * one rank to round-off, every other method a solution that the library certifies on one rank, the
 * same call the same bits, and what cannot be divided is refused by name or solved by rank 0. */
#include "parallel/shared_factor.h"
#include "ranks/packing.h"
#include "scree/measure.h"
#include "scree/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(bool good, const char *what, const char *where) {
  if (good) return;
  ++failures;
  fprintf(stderr, "test_ranks: %s: %s\n", where, what);
}

static double distance(size_t n, const double *a, const double *b) {
  double difference = 0.0, size = 0.0;
  for (size_t i = 0; i < n; ++i) {
    difference = fmax(difference, fabs(a[i] - b[i]));
    size = fmax(size, fabs(b[i]));
  }
  return size > 0.0 ? difference / size : difference;
}

static void check_exact(const scree_Problem *p, const scree_Ranks *ranks, const char *name) {
  const char *const coloured[] = {"order=coloured", NULL}, *const natural[] = {"order=natural",
                                                                               NULL};
  const size_t n = scree_problem_rows(p);
  double *r = calloc(4 * n, sizeof *r), *u = r + n, *one = u + n, *rest = one + n;
  for (int k = 0; k < 2; ++k) {
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info, alone;
    settings.solver = "nlgs";
    settings.options = k ? natural : coloured;
    settings.tolerance = 0.0;
    settings.max_iterations = 20;
    settings.threads = 1;
    scree_solve(p, &settings, one, rest, &alone, NULL);
    settings.ranks = ranks;
    expect(scree_solve(p, &settings, r, u, &info, NULL) == SCREE_NOT_CONVERGED, "status", name);
    expect(distance(n, r, one) < 1e-11, k ? "natural sweeps differ" : "coloured sweeps differ",
           name);
    expect(distance(n, u, rest) < 1e-10, "velocities differ", name);
    expect(fabs(info.measures.error - alone.measures.error) <= 1e-9 * alone.measures.error,
           "the errors differ", name);
    expect(info.measures.worst_contact == alone.measures.worst_contact, "worst contact", name);
  }
  free(r);
}

static void check_method(const scree_Problem *p, const scree_Ranks *ranks, const char *solver,
                         const char *option, const char *name) {
  const char *const options[] = {option, NULL};
  const size_t n = scree_problem_rows(p);
  double *r = calloc(3 * n, sizeof *r), *u = r + n, *again = u + n;
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  scree_Measures measures;
  settings.solver = solver;
  settings.options = option ? options : NULL;
  settings.tolerance = 1e-4;
  settings.max_iterations = 20000;
  settings.ranks = ranks;
  expect(scree_solve(p, &settings, r, u, &info, NULL) == SCREE_OK, solver, name);
  expect(scree_problem_measure(p, r, u, NULL, &measures, NULL) == SCREE_OK, "measure", name);
  expect(measures.error <= 1.01e-4, "the whole problem is not solved", name);
  expect(fabs(measures.error - info.measures.error) <= 1e-6 * measures.error + 1e-14,
         "the certificate of the ranks is not that of one rank", name);
  expect(info.sent.messages > 0 && info.sent.bytes > 0 && info.sent.synchronisations > 0,
         "nothing was counted", name);
  scree_solve(p, &settings, again, u, &info, NULL);
  expect(memcmp(r, again, n * sizeof *r) == 0, "a second solve has other bits", name);
  /* a start that is the solution is returned at once */
  settings.warm_start = true;
  settings.tolerance = 2e-4;
  expect(scree_solve(p, &settings, r, u, &info, NULL) == SCREE_OK && info.iterations <= 1,
         "warm start", name);
  free(r);
}

/* A solver that factorises: the tight tolerance that it reaches on one rank, and the only solution
 * of a convex problem with compliances. */
static void check_factors(const scree_Problem *p, const scree_Ranks *ranks, const char *solver,
                          const char *option, const char *name) {
  const char *const options[] = {option, NULL};
  const size_t n = scree_problem_rows(p);
  double *r = calloc(4 * n, sizeof *r), *u = r + n, *one = u + n, *rest = one + n;
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info, alone;
  settings.solver = solver;
  settings.options = options;
  settings.tolerance = 1e-10;
  settings.threads = 1;
  expect(scree_solve(p, &settings, one, rest, &alone, NULL) == SCREE_OK, "on one rank", name);
  settings.ranks = ranks;
  expect(scree_solve(p, &settings, r, u, &info, NULL) == SCREE_OK, option, name);
  expect(info.measures.error <= 1e-10 && info.factorisations > 0, "not factorised", name);
  expect(distance(n, r, one) < 1e-7, "the solution is another one", name);
  expect(distance(n, u, rest) < 1e-7, "velocities are others", name);
  printf("  %s %s, %s: %d factorisations, %d on one rank; impulses %.1e\n", solver, option, name,
         info.factorisations, alone.factorisations, distance(n, r, one));
  free(r);
}

/* A solver that lives on gives the velocities of the bodies. */
static void check_velocities(const scree_Problem *p, const scree_Ranks *ranks) {
  const size_t n = scree_problem_rows(p), m = (size_t)p->bodies.nbodies * (size_t)p->bodies.nb;
  double *r = calloc(2 * n + m, sizeof *r), *u = r + n, *one = u + n;
  scree_SolveSettings settings = scree_solve_settings();
  scree_Solver *solver;
  settings.solver = "nlgs";
  settings.tolerance = 1e-6;
  settings.max_iterations = 20000;
  for (int k = 0; k < 2; ++k) {
    settings.ranks = k ? ranks : NULL;
    expect(scree_solver_create(&settings, NULL, &solver) == SCREE_OK, "create", "velocities");
    expect(scree_solver_solve(solver, p, r, u, NULL) == SCREE_OK, "solve", "velocities");
    const double *y = scree_solver_velocities(solver);
    if (k == 0) memcpy(one, y, m * sizeof *y);
    expect(y && distance(m, y, one) < 1e-4, "they differ", "velocities");
    scree_solver_destroy(solver);
  }
  free(r);
}

static bool stop_at_once(void *user) {
  ++*(int *)user;
  return true;
}

static void check_limits(const scree_Problem *p, const scree_Ranks *ranks) {
  const size_t n = scree_problem_rows(p);
  double *r = calloc(2 * n, sizeof *r);
  scree_SolveSettings settings = scree_solve_settings();
  int asked = 0;
  settings.ranks = ranks;
  settings.solver = SCREE_SHARED_FACTORS ? "lemke" : "newton";
  expect(scree_solve(p, &settings, r, r + n, NULL, NULL) == SCREE_BAD_INPUT, settings.solver,
         "refusal");
  settings.solver = "auto"; /* small: rank 0 alone */
  expect(scree_solve(p, &settings, r, r + n, NULL, NULL) == SCREE_OK, "auto", "small problem");
  settings.solver = "nlgs";
  settings.interrupted = stop_at_once;
  settings.interrupted_user = &asked;
  expect(scree_solve(p, &settings, r, r + n, NULL, NULL) == SCREE_INTERRUPTED && asked > 0,
         "not interrupted", "limits");
  settings.interrupted = NULL;
  settings.time_limit = 1e-9;
  expect(scree_solve(p, &settings, r, r + n, NULL, NULL) == SCREE_NOT_CONVERGED, "time limit",
         "limits");
  free(r);
}

static void check_all(const scree_Ranks *ranks) {
  scree_Problem balls[2], dense, soft, assembled;
  expect(packing_create(&balls[0], 2, 6) == SCREE_OK, "packing", "2D");
  expect(packing_create(&balls[1], 3, 4) == SCREE_OK, "packing", "3D");
  expect(packing_dense(&balls[0], 0.0, &dense) == SCREE_OK, "packing", "blocks");
  expect(packing_dense(&balls[1], 0.1, &soft) == SCREE_OK, "packing", "compliant");
  expect(scree_problem_assemble(&balls[1], &assembled, NULL) == SCREE_OK, "packing", "assembled");
  scree_Problem *const all[] = {&balls[0], &balls[1], &dense, &assembled};
  static const char *const names[] = {"disks", "spheres", "blocks", "assembled"};
  for (int k = 0; k < 4; ++k) {
    all[k]->flow = SCREE_COULOMB;
    check_exact(all[k], ranks, names[k]);
    check_method(all[k], ranks, "nlgs", NULL, names[k]);
    check_method(all[k], ranks, "nlgs", "ranks=relaxed", names[k]);
    if (k == 2) check_method(all[k], ranks, "nlgs", "local=sbp", names[k]);
    check_method(all[k], ranks, "pqn", NULL, names[k]);
    if (SCREE_SHARED_FACTORS) check_method(all[k], ranks, "pqn", "gmres=petsc", names[k]);
    if (k == 1) check_method(all[k], ranks, "fixed-point", NULL, names[k]);
    if (SCREE_SHARED_FACTORS) {
      check_method(all[k], ranks, "newton", NULL, names[k]);
      check_method(all[k], ranks, "ipm", NULL, names[k]);
      check_method(all[k], ranks, "implicit", NULL, names[k]);
    }
    all[k]->flow = SCREE_ASSOCIATED;
    check_exact(all[k], ranks, names[k]);
    check_method(all[k], ranks, "spg", NULL, names[k]);
    check_method(all[k], ranks, "apgd-asr", NULL, names[k]);
    if (k == 0) check_method(all[k], ranks, "apgd", NULL, names[k]);
    all[k]->flow = SCREE_COULOMB;
  }
  static const char *const methods[] = {"ranks=direct", "ranks=boomeramg", "ranks=gamg"};
  soft.flow = SCREE_ASSOCIATED;
  for (int k = 0; SCREE_SHARED_FACTORS && k < 3; ++k) {
    check_factors(&soft, ranks, "newton", methods[k], "compliant");
    check_factors(&soft, ranks, "ipm", methods[k], "compliant");
  }
  scree_problem_destroy(&soft);
  check_velocities(&balls[1], ranks);
  check_limits(&balls[0], ranks);
  for (int k = 0; k < 4; ++k) scree_problem_destroy(all[k]);
}

/* With an argument a rank other than 0 dies in the middle: the others must not hang. */
int main(int argc, char **argv) {
  scree_Ranks *ranks;
  if (scree_ranks_create(&ranks, NULL) != SCREE_OK) return 3;
  const int rank = scree_ranks_rank(ranks), size = scree_ranks_size(ranks);
  if (size == 1) {
    fprintf(stderr, "test_ranks: run it with mpirun -n 2 or more\n");
    scree_ranks_destroy(ranks);
    return 77;
  }
  if (rank > 0) {
    if (argc > 1 && strcmp(argv[1], "die") == 0 && rank == 1) abort();
    scree_solver_serve(ranks, NULL);
  } else {
    check_all(ranks);
    scree_solver_dismiss(ranks);
    printf("test_ranks: %d ranks, %d failures\n", size, failures);
  }
  scree_ranks_destroy(ranks);
  return failures ? 1 : 0;
}
