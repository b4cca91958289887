#define _DEFAULT_SOURCE /* scandir */
/* Every solver of the registry on every small problem, in each dimension, law and form that it
 * claims, judged by an error that shares no code with the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "problem_files.h"
#include "small_problems.h"

enum { MOST_CONTACTS = 60 };

typedef struct Solution {
  double *r, *u;
  scree_SolveInfo info;
  scree_Status status;
} Solution;

static Solution solve_with(const scree_Problem *p, const char *solver, const char *option,
                           double tolerance) {
  const size_t n = (size_t)(p->nc * p->d) + 1;
  const char *options[] = {option, NULL};
  Solution s = {.r = calloc(n, sizeof(double)), .u = calloc(n, sizeof(double))};
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = solver;
  settings.options = option ? options : NULL;
  settings.tolerance = tolerance;
  settings.time_limit = 2.0;
  s.status = scree_solve(p, &settings, s.r, s.u, &s.info, NULL);
  return s;
}

static void free_solution(Solution *s) {
  free(s->r);
  free(s->u);
}

/* The driver's figures are those of the second implementation, and the status is honest. */
static void check_honest(const char *what, const scree_Problem *p, const Solution *s) {
  assert_true(s->status == SCREE_OK || s->status == SCREE_NOT_CONVERGED);
  const double error = plain_error(p, s->r, 0.0), siconos = plain_error(p, s->r, 1.0);
  const double slack = 1e-13 + 1e-6 * error;
  if (!(fabs(s->info.measures.error - error) <= slack))
    fail_msg("%s: error %g, second opinion %g", what, s->info.measures.error, error);
  if (!(fabs(s->info.measures.error_siconos - siconos) <= 1e-13 + 1e-6 * siconos))
    fail_msg("%s: error_siconos %g, second opinion %g", what, s->info.measures.error_siconos,
             siconos);
  assert_int_equal(s->info.converged, s->status == SCREE_OK);
  double *u = calloc((size_t)(p->nc * p->d) + 1, sizeof *u);
  plain_velocity(p, s->r, u);
  double worst = 0.0, size = 0.0;
  for (int i = 0; i < p->nc * p->d; ++i) {
    worst = fmax(worst, fabs(u[i] - s->u[i]));
    size = fmax(size, fmax(fabs(u[i]), fabs(p->q[i])));
  }
  free(u);
  if (!(worst <= 1e-11 * size)) fail_msg("%s: u is not W r + q (by %g of %g)", what, worst, size);
}

/* One solver on one problem; `must` when it is a problem on which every method converges. */
static void try_solver(const scree_SolverClass *class_, const scree_Problem *p, const char *name,
                       bool must) {
  char what[256];
  snprintf(what, sizeof what, "%s on %s (%dD, %s, %s)", scree_solver_class_name(class_), name, p->d,
           p->flow == SCREE_COULOMB ? "coulomb" : "associated",
           p->kind == SCREE_BODIES ? "bodies" : "assembled");
  if (scree_solver_class_refuses(class_, p)) return;
  Solution s = solve_with(p, scree_solver_class_name(class_), NULL, 1e-8);
  check_honest(what, p, &s);
  if (must && s.status != SCREE_OK)
    fail_msg("%s: error %g after %d iterations", what, s.info.measures.error, s.info.iterations);
  free_solution(&s);
}

/* `must` holds for Coulomb's law; `must_associated` for the other, where a hyperstatic pile makes
 * every first-order method crawl. */
static void try_all(scree_Problem *p, const char *name, bool must, bool must_associated) {
  for (int law = SCREE_COULOMB; law <= SCREE_ASSOCIATED; ++law) {
    p->flow = (scree_Flow)law;
    for (int k = 0; scree_solver_class(k); ++k)
      try_solver(scree_solver_class(k), p, name, law == SCREE_COULOMB ? must : must_associated);
  }
  p->flow = SCREE_COULOMB;
}

static void test_made_problems(void **unused) {
  (void)unused;
  for (int d = 2; d <= 3; ++d) {
    for (int k = 0; k < 6; ++k) {
      const double mus[] = {0.0, 0.1, 0.3, 0.6, 1.0, 0.3};
      scree_Problem p = small_random_problem(d, 1 + 2 * k, mus[k], (unsigned long long)(k + 7));
      try_all(&p, "random", true, true);
      scree_problem_destroy(&p);
    }
    for (int k = 0; k < 4; ++k) {
      const double mus[] = {0.0, 0.3, 0.3, 0.8}, pushes[] = {0.2, 0.1, 1.0, 0.4};
      scree_Problem p = small_pile(d, 1 + k, mus[k], pushes[k]), assembled;
      try_all(&p, "pile", true, false);
      assert_int_equal(scree_problem_assemble(&p, &assembled, NULL), SCREE_OK);
      try_all(&assembled, "pile", true, false);
      scree_problem_destroy(&assembled);
      scree_problem_destroy(&p);
    }
  }
}

static void visit_file(const char *name, scree_Problem *p) {
  for (int k = 0; scree_solver_class(k); ++k) try_solver(scree_solver_class(k), p, name, false);
}

static void test_files(void **unused) {
  (void)unused;
  if (!small_files(20, visit_file)) skip();
}

/* Each local solver gives the velocities of `exact` wherever both converge. Coulomb's law may have
 * several solutions; when two results differ and both pass the second error to round-off of the
 * tolerance, they are two solutions, and there must be few of those. */
static const char *const locals[] = {"local=sbp", "local=sal",   "local=ebp",  "local=eal",
                                     "local=ibp", "local=epdas", "local=ipdas"};
static int compared, several;

static void compare_locals(const char *name, scree_Problem *p) {
  Solution exact = solve_with(p, "nlgs", NULL, 1e-9);
  for (size_t k = 0; exact.status == SCREE_OK && k < sizeof locals / sizeof *locals; ++k) {
    Solution s = solve_with(p, "nlgs", locals[k], 1e-9);
    char what[256];
    snprintf(what, sizeof what, "%s on %s", locals[k], name);
    check_honest(what, p, &s);
    double worst = 0.0, size = 0.0;
    for (int i = 0; i < p->nc * p->d; ++i) {
      worst = fmax(worst, fabs(s.u[i] - exact.u[i]));
      size = fmax(size, fmax(fabs(exact.u[i]), fabs(p->q[i])));
    }
    if (s.status == SCREE_OK) {
      ++compared;
      if (!(worst <= 1e-5 * size)) {
        print_message("%s: another solution, velocities differ by %g of %g\n", what, worst, size);
        assert_true(plain_error(p, s.r, 0.0) <= 1.001e-9 &&
                    plain_error(p, exact.r, 0.0) <= 1.001e-9);
        ++several;
      }
    }
    free_solution(&s);
  }
  free_solution(&exact);
}

static void test_local_solvers_agree(void **unused) {
  (void)unused;
  compared = several = 0;
  for (int d = 2; d <= 3; ++d)
    for (int k = 0; k < 4; ++k) {
      scree_Problem p = small_random_problem(d, 2 + 2 * k, 0.25, (unsigned long long)(k + 1));
      compare_locals("random", &p);
      scree_problem_destroy(&p);
    }
  assert_true(compared >= 40); /* of 56: the papers' methods need not converge on dense W */
  assert_int_equal(several, 0);
  small_files(MOST_CONTACTS, compare_locals);
  assert_true(several <= 10);
}

/* W a and q b change neither counts nor errors: powers of two leave the very same bits. */
static void test_units(void **unused) {
  (void)unused;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p = small_random_problem(d, 9, 0.4, 3),
                  scaled = small_random_problem(d, 9, 0.4, 3);
    const double a = 0x1p-30, b = 0x1p17;
    for (size_t i = 0; i < scaled.blocks.row[9] * (size_t)(d * d); ++i) scaled.blocks.x[i] *= a;
    for (int i = 0; i < 9 * d; ++i) scaled.q[i] *= b;
    for (int k = 0; scree_solver_class(k); ++k)
      for (int law = SCREE_COULOMB; law <= SCREE_ASSOCIATED; ++law) {
        const scree_SolverClass *class_ = scree_solver_class(k);
        p.flow = scaled.flow = (scree_Flow)law;
        if (scree_solver_class_refuses(class_, &p)) continue;
        Solution s = solve_with(&p, scree_solver_class_name(class_), NULL, 1e-8);
        Solution t = solve_with(&scaled, scree_solver_class_name(class_), NULL, 1e-8);
        if (s.info.iterations != t.info.iterations)
          fail_msg("%s: %d iterations, %d in other units", scree_solver_class_name(class_),
                   s.info.iterations, t.info.iterations);
        assert_true(s.info.measures.error == t.info.measures.error);
        for (int i = 0; i < 9 * d; ++i) assert_true(s.r[i] * (b / a) == t.r[i]);
        free_solution(&s);
        free_solution(&t);
      }
    scree_problem_destroy(&p);
    scree_problem_destroy(&scaled);
  }
}

/* A start at the solution is recognised; a cold start is not disturbed by what r held. */
static void test_warm_start(void **unused) {
  (void)unused;
  scree_Problem p = small_pile(3, 3, 0.5, 0.3);
  for (int k = 0; scree_solver_class(k); ++k) {
    const char *name = scree_solver_class_name(scree_solver_class(k));
    for (int law = SCREE_COULOMB; law <= SCREE_ASSOCIATED; ++law) {
      p.flow = (scree_Flow)law;
      if (scree_solver_class_refuses(scree_solver_class(k), &p)) continue;
      Solution s = solve_with(&p, name, NULL, 1e-9);
      assert_int_equal(s.status, SCREE_OK);
      scree_SolveSettings settings = scree_solve_settings();
      settings.solver = name;
      settings.tolerance = 1e-8;
      settings.warm_start = true;
      scree_SolveInfo info;
      assert_int_equal(scree_solve(&p, &settings, s.r, s.u, &info, NULL), SCREE_OK);
      if (info.iterations > 1)
        fail_msg("%s: %d iterations from the solution", name, info.iterations);
      free_solution(&s);
    }
  }
  scree_problem_destroy(&p);
}

/* Interior points start a path of their own. Stopped on it, before it is any good, they return what
 * they were given and not what is worse. */
static void test_a_good_start_is_not_lost(void **unused) {
  (void)unused;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p = small_pile(d, 6, 0.5, 0.3);
    Solution s = solve_with(&p, "auto", NULL, 1e-6);
    assert_int_equal(s.status, SCREE_OK);
    const double given = plain_error(&p, s.r, 0.0);
    scree_SolveSettings settings = scree_solve_settings();
    settings.solver = "ipm";
    settings.tolerance = 1e-3 * given;
    settings.warm_start = true;
    settings.max_iterations = 3;
    s.status = scree_solve(&p, &settings, s.r, s.u, &s.info, NULL);
    assert_int_equal(s.status, SCREE_NOT_CONVERGED);
    check_honest("ipm", &p, &s);
    assert_true(plain_error(&p, s.r, 0.0) <= given);
    free_solution(&s);
    scree_problem_destroy(&p);
  }
}

/* A stack of boxes on four points each, where single steps of Newton's method turn contacts over
 * and back: from any number of sweeps most runs must arrive all the same. */
static int stacks_tried, stacks_solved;

static void visit_stack(const char *name, scree_Problem *p) {
  if (strncmp(name, "BoxesStack", strlen("BoxesStack")) != 0) return;
  for (int sweeps = 2; sweeps <= 24; sweeps += 2) {
    const size_t n = (size_t)(p->nc * p->d);
    Solution s = {.r = calloc(n, sizeof(double)), .u = calloc(n, sizeof(double))};
    scree_SolveSettings settings = scree_solve_settings();
    settings.solver = "nlgs";
    settings.tolerance = 1e-8;
    settings.max_iterations = sweeps;
    s.status = scree_solve(p, &settings, s.r, s.u, &s.info, NULL);
    assert_int_equal(s.status, SCREE_NOT_CONVERGED);
    settings.solver = "newton";
    settings.max_iterations = 0;
    settings.warm_start = true;
    s.status = scree_solve(p, &settings, s.r, s.u, &s.info, NULL);
    check_honest("newton", p, &s);
    ++stacks_tried;
    stacks_solved += s.status == SCREE_OK && plain_error(p, s.r, 0.0) <= 1.001e-8;
    free_solution(&s);
  }
}

static void test_newton_corrects_itself(void **unused) {
  (void)unused;
  stacks_tried = stacks_solved = 0;
  if (!small_files(MOST_CONTACTS, visit_stack) || !stacks_tried) skip();
  if (4 * stacks_solved < 3 * stacks_tried)
    fail_msg("%d of %d starts arrive", stacks_solved, stacks_tried);
}

static void test_refusals(void **unused) {
  (void)unused;
  scree_Problem p = small_random_problem(3, 2, 0.3, 1);
  double r[6], u[6];
  scree_SolveInfo info;
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = "nlsg";
  assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_BAD_INPUT);
  settings.solver = "nlgs";
  settings.tolerance = -1.0;
  assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_BAD_INPUT);
  settings.tolerance = 1e-8;
  const char *bad[] = {"local=exakt", NULL};
  settings.options = bad;
  assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_BAD_INPUT);
  settings.options = NULL;
  p.q[3] = NAN;
  assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_BAD_INPUT);
  scree_problem_destroy(&p);
}

/* Limits are kept and reported: one iteration cannot be enough here. */
static void test_limits(void **unused) {
  (void)unused;
  scree_Problem p = small_pile(3, 6, 0.5, 0.3);
  for (int k = 0; scree_solver_class(k); ++k) {
    const scree_SolverClass *class_ = scree_solver_class(k);
    if (scree_solver_class_refuses(class_, &p)) continue;
    const size_t n = (size_t)(p.nc * p.d);
    double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u);
    scree_SolveSettings settings = scree_solve_settings();
    settings.solver = scree_solver_class_name(class_);
    settings.tolerance = 1e-14;
    settings.max_iterations = 1;
    scree_SolveInfo info;
    assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_NOT_CONVERGED);
    assert_false(info.converged);
    assert_true(info.measures.error > 1e-14 && isfinite(info.measures.error));
    free(r);
    free(u);
  }
  scree_problem_destroy(&p);
}

/* Numbers at the edge of the range come to an end, with an honest status. */
static void test_extremes(void **unused) {
  (void)unused;
  const double values[] = {1e305, 1e160, 1e-160, 1e-305};
  for (int k = 0; scree_solver_class(k); ++k)
    for (int v = 0; v < 8; ++v) {
      scree_Problem p = small_random_problem(3, 4, 0.5, 3);
      if (v < 4)
        p.blocks.x[0] = values[v];
      else
        p.q[4] = values[v - 4];
      if (!scree_solver_class_refuses(scree_solver_class(k), &p)) {
        double r[12], u[12];
        scree_SolveInfo info;
        scree_SolveSettings settings = scree_solve_settings();
        settings.solver = scree_solver_class_name(scree_solver_class(k));
        settings.max_iterations = 2000;
        const scree_Status status = scree_solve(&p, &settings, r, u, &info, NULL);
        assert_true(status == SCREE_OK || status == SCREE_NOT_CONVERGED);
        assert_int_equal(info.converged, status == SCREE_OK);
      }
      scree_problem_destroy(&p);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_made_problems),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_local_solvers_agree),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_warm_start),
      cmocka_unit_test(test_a_good_start_is_not_lost),
      cmocka_unit_test(test_newton_corrects_itself),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_extremes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
