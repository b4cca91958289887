#define _DEFAULT_SOURCE /* scandir */
/* fixed-point: a hand solution, agreement with nlgs on Coulomb's law, any inner solver, 003's own
 * stopping test, damping, any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/pile.h"
#include "problem_files.h"
#include "small_problems.h"

enum { MOST_CONTACTS = 100 };

typedef struct Solution {
  double *r, *u;
  scree_SolveInfo info;
  scree_Status status;
} Solution;

/* From `start`, or from zero when it is null. */
static Solution solve_from(const scree_Problem *p, const char *solver, const char *option,
                           double tolerance, int threads, const double *start) {
  const char *options[] = {option, NULL};
  const size_t n = (size_t)(p->nc * p->d);
  Solution s = {.r = calloc(n + 1, sizeof(double)), .u = calloc(n + 1, sizeof(double))};
  if (start) memcpy(s.r, start, n * sizeof *start);
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = solver;
  settings.options = option ? options : NULL;
  settings.tolerance = tolerance;
  settings.threads = threads;
  settings.warm_start = start != NULL;
  settings.max_iterations = strcmp(solver, "fixed-point") == 0 ? 300 : 4000;
  s.status = scree_solve(p, &settings, s.r, s.u, &s.info, NULL);
  return s;
}

static Solution solve_with(const scree_Problem *p, const char *solver, const char *option,
                           double tolerance, int threads) {
  return solve_from(p, solver, option, tolerance, threads, NULL);
}

static void free_solution(Solution *s) {
  free(s->r);
  free(s->u);
}

/* |a - b| / |q| */
static double difference(const scree_Problem *p, const double *a, const double *b) {
  double sum = 0.0, size = 0.0;
  for (int i = 0; i < p->nc * p->d; ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    size += p->q[i] * p->q[i];
  }
  return sqrt(sum / fmax(size, 1e-300));
}

/* A block that lands while it slides, W = I: r_n = 1 stops it, friction takes mu of its speed and
 * it stays on the plane. The associated law would lift it off by mu |u_T|. */
static void test_hand(void **state) {
  (void)state;
  const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1.0, 3.0, 4.0}, mu[1] = {0.5};
  scree_Problem p;
  assert_int_equal(scree_problem_create_dense(&p, 3, 1, W, q, mu, NULL), SCREE_OK);
  Solution s = solve_with(&p, "fixed-point", NULL, 1e-12, 1);
  assert_int_equal(s.status, SCREE_OK);
  const double expected[3] = {1.0, -0.5 * 0.6, -0.5 * 0.8};
  for (int i = 0; i < 3; ++i) assert_true(fabs(s.r[i] - expected[i]) <= 1e-10);
  assert_true(fabs(s.u[0]) <= 1e-10);
  free_solution(&s);
  p.flow = SCREE_ASSOCIATED;
  s = solve_with(&p, "apgd-ar", NULL, 1e-12, 1);
  assert_int_equal(s.status, SCREE_OK);
  const double sliding = hypot(s.u[1], s.u[2]);
  assert_true(fabs(s.u[0] - 0.5 * sliding) <= 1e-10);
  assert_true(fabs(s.info.measures.dilatation_max - s.u[0]) <= 1e-10);
  free_solution(&s);
  scree_problem_destroy(&p);
}

static int compared, several;

/* Coulomb's law can have several solutions: then each stays where it is when both are taken a
 * thousand times further. */
static bool both_solve(const scree_Problem *p, const Solution *a, const Solution *b,
                       double tolerance) {
  Solution x = solve_from(p, "fixed-point", NULL, 1e-3 * tolerance, 1, a->r);
  Solution y = solve_from(p, "nlgs", NULL, 1e-3 * tolerance, 1, b->r);
  const bool both = x.status == SCREE_OK && y.status == SCREE_OK &&
                    difference(p, x.u, a->u) <= 1e3 * tolerance &&
                    difference(p, y.u, b->u) <= 1e3 * tolerance;
  free_solution(&x);
  free_solution(&y);
  return both;
}

static void agree(const char *name, scree_Problem *p) {
  const double tolerance = 1e-7;
  Solution a = solve_with(p, "fixed-point", NULL, tolerance, 1);
  Solution b = solve_with(p, "nlgs", NULL, tolerance, 1);
  if (a.status == SCREE_OK && p->set == NULL)
    assert_true(plain_error(p, a.r, 0.0) <= tolerance * (1.0 + 1e-6));
  if (a.status == SCREE_OK && b.status == SCREE_OK) {
    const double apart = difference(p, a.u, b.u);
    if (apart <= 1e3 * tolerance)
      ++compared;
    else if (both_solve(p, &a, &b, tolerance))
      ++several;
    else
      fail_msg("%s: fixed-point and nlgs are %g apart in velocity", name, apart);
  }
  free_solution(&a);
  free_solution(&b);
}

static void test_files(void **state) {
  (void)state;
  compared = several = 0;
  const int files = small_files(MOST_CONTACTS, agree);
  if (!files) skip();
  print_message("%d files: %d agree, %d have several solutions\n", files, compared, several);
  assert_true(compared >= files / 2); /* agreement was not won by failing */
}

static void test_piles(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p = small_pile(d, 3, 0.3, 0.5), assembled;
    compared = several = 0;
    agree("pile", &p);
    assert_int_equal(scree_problem_assemble(&p, &assembled, NULL), SCREE_OK);
    agree("assembled pile", &assembled);
    assert_int_equal(compared + several, 2);
    scree_problem_destroy(&p);
    scree_problem_destroy(&assembled);
  }
}

/* Every solver of the registry that can do the associated law serves inside. */
static void test_inner(void **state) {
  (void)state;
  scree_Problem p = small_pile(2, 2, 0.3, 0.5);
  Solution reference = solve_with(&p, "nlgs", NULL, 1e-9, 1);
  assert_int_equal(reference.status, SCREE_OK);
  for (int k = 0; scree_solver_class(k); ++k) {
    const scree_SolverClass *class_ = scree_solver_class(k);
    char option[64];
    snprintf(option, sizeof option, "inner=%s", scree_solver_class_name(class_));
    Solution s = solve_with(&p, "fixed-point", option, 1e-7, 1);
    if (scree_solver_class_capabilities(class_) & SCREE_CAN_ASSOCIATED) {
      if (s.status != SCREE_OK) fail_msg("%s: %g", option, s.info.value);
      assert_true(difference(&p, s.u, reference.u) <= 1e-5);
    } else {
      assert_int_equal(s.status, SCREE_BAD_INPUT);
    }
    free_solution(&s);
  }
  Solution s = solve_with(&p, "fixed-point", "inner=nobody", 1e-7, 1);
  assert_int_equal(s.status, SCREE_BAD_INPUT);
  free_solution(&s);
  free_solution(&reference);
  scree_problem_destroy(&p);
}

/* 003's test stops early, and the driver says honestly what was reached. */
static void test_own_criterion(void **state) {
  (void)state;
  scree_Problem p = small_pile(3, 3, 0.3, 0.5);
  Solution whole = solve_with(&p, "fixed-point", NULL, 1e-9, 1);
  Solution early = solve_with(&p, "fixed-point", "tol_fp=0.01", 1e-9, 1);
  assert_int_equal(whole.status, SCREE_OK);
  assert_true(early.info.iterations < whole.info.iterations);
  assert_int_equal(early.status,
                   early.info.measures.error <= 1e-9 ? SCREE_OK : SCREE_NOT_CONVERGED);
  assert_true(early.info.measures.error < 0.1);
  free_solution(&whole);
  free_solution(&early);
  scree_problem_destroy(&p);
}

/* The measure `increment` looks at the sliding speeds alone, and with little friction these are
 * soon found: the convex problems must be solved all the same. */
static void test_increment(void **state) {
  (void)state;
  scree_Problem p;
  assert_int_equal(pile_create(2, 20, 0.01, false, &p, NULL), SCREE_OK);
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = "fixed-point";
  settings.measure = SCREE_MEASURE_INCREMENT;
  settings.tolerance = 1e-2;
  scree_SolveInfo info;
  double *r = calloc((size_t)(p.nc * p.d), sizeof *r), *u = calloc((size_t)(p.nc * p.d), sizeof *u);
  assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_OK);
  assert_true(info.iterations <= 10);
  assert_true(info.measures.error < 1e-3);
  free(r);
  free(u);
  scree_problem_destroy(&p);
}

/* A packing on which the plain iteration cycles, and the damped one converges. */
static void test_damping(void **state) {
  (void)state;
  scree_Problem p;
  assert_int_equal(pile_create(2, 8, 0.55, false, &p, NULL), SCREE_OK);
  Solution plain = solve_with(&p, "fixed-point", "damping=no", 1e-8, 1);
  Solution damped = solve_with(&p, "fixed-point", NULL, 1e-8, 1);
  assert_int_equal(plain.status, SCREE_NOT_CONVERGED);
  assert_int_equal(damped.status, SCREE_OK);
  free_solution(&plain);
  free_solution(&damped);
  scree_problem_destroy(&p);
}

static void test_threads(void **state) {
  (void)state;
  scree_Problem p;
  assert_int_equal(pile_create(3, 10, 0.5, false, &p, NULL), SCREE_OK);
  assert_true(p.nc > 5000);
  const char *limit = "inner_iterations=5";
  Solution one = {0};
  for (int threads = 1; threads <= 3; ++threads) {
    const char *options[] = {limit, NULL};
    const size_t n = (size_t)(p.nc * p.d);
    Solution s = {.r = calloc(n, sizeof(double)), .u = calloc(n, sizeof(double))};
    scree_SolveSettings settings = scree_solve_settings();
    settings.solver = "fixed-point";
    settings.options = options;
    settings.max_iterations = 3;
    settings.threads = threads;
    s.status = scree_solve(&p, &settings, s.r, s.u, &s.info, NULL);
    if (threads == 1) {
      one = s;
      continue;
    }
    assert_memory_equal(one.r, s.r, n * sizeof(double));
    assert_memory_equal(one.u, s.u, n * sizeof(double));
    free_solution(&s);
  }
  free_solution(&one);
  scree_problem_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hand),          cmocka_unit_test(test_files),
      cmocka_unit_test(test_piles),         cmocka_unit_test(test_inner),
      cmocka_unit_test(test_own_criterion), cmocka_unit_test(test_increment),
      cmocka_unit_test(test_damping),       cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
