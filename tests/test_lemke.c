/* The path of lemke: its tangent against differences, its direction by two rules that share nothing
 * (the determinant's sign, and that what enters must grow), where cones are left, hand solutions,
 * and problems on which descent gets stuck. */
#define _DEFAULT_SOURCE /* scandir */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "problem_files.h"
#include "small_problems.h"

/* the path itself, so that its static functions can be called */
#include "solver/lemke_path.c"
#include "solver/registry.h"

/* A path that is walked by hand. */
typedef struct Walk {
  scree_Operator W;
  scree_SolveCache cache;
  scree_SolveSettings settings;
  scree_SolveRun run;
  scree_LemkePath path;
} Walk;

static void begin(Walk *walk, const scree_Problem *p) {
  *walk = (Walk){0};
  bool broken = false;
  assert_int_equal(scree_operator_create(p, 1, NULL, &walk->W), SCREE_OK);
  walk->settings = scree_solve_settings();
  walk->run = (scree_SolveRun){.W = &walk->W, .settings = &walk->settings, .cache = &walk->cache};
  assert_int_equal(scree_lemke_path_create(&walk->run, &walk->path), SCREE_OK);
  assert_int_equal(scree_lemke_start(&walk->path, &walk->run, 0, 1e-4, 0.1, &broken), SCREE_OK);
  assert_false(broken);
}

static void end(Walk *walk) {
  scree_solve_cache_fini(&walk->cache);
  scree_operator_destroy(&walk->W);
}

static scree_Problem some_problem(int trial) {
  const int d = 2 + trial % 2;
  return trial % 4 < 2 ? small_pile(d, 3, 0.4, 0.3)
                       : small_random_problem(d, 6, 0.5, (unsigned)trial + 1);
}

/* The impulses of the linear laws at another tau, the statuses being the same: Newton's method. */
static void impulses_at(scree_LemkePath *st, double tau, int d, int nc, double *r) {
  const size_t n = (size_t)(nc * d);
  bool broken = false;
  st->here.tau = tau;
  for (int k = 0; k < 8; ++k) {
    velocity_here(st, st->here.r);
    set_rows(st);
    assert_int_equal(scree_linear_laws_factor(&st->laws, &broken), SCREE_OK);
    scree_linear_laws_solve(&st->laws, NULL, st->q, st->here.r);
  }
  memcpy(r, st->here.r, n * sizeof *r);
}

/* At each event of some paths: what enters grows in the direction that the determinant gives, and
 * the tangent is what differences say. */
static void test_path(void **unused) {
  (void)unused;
  int events = 0;
  for (int trial = 0; trial < 24; ++trial) {
    scree_Problem p = some_problem(trial);
    const size_t n = (size_t)(p.nc * p.d);
    double *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b), *r = calloc(n, sizeof *r);
    Walk walk;
    begin(&walk, &p);
    scree_LemkePath *st = &walk.path;
    Step step = {.sign = -1.0, .event = {0.0, -1, 0}};
    for (int k = 0; k < 60; ++k) {
      bool far, broken = false;
      assert_int_equal(correct(st, &walk.run, &step, &far, &broken), SCREE_OK);
      assert_false(broken);
      if (far || step.landing || st->here.tau <= 0.0) break;
      if (st->gate != SCREE_GATE_NONE) {
        double slope;
        scree_lemke_gate(st, st->here.r, st->u, &slope);
        if (!(slope * orientation(st) > 0.0))
          fail_msg("trial %d, step %d: what enters falls (%g)", trial, k, slope);
        ++events;
      }
      const double tau = st->here.tau, h = 1e-7 * tau * orientation(st);
      memcpy(r, st->here.r, n * sizeof *r);
      double largest_slope = largest(st->rb, n), worst = 0.0;
      double *tangent = calloc(n, sizeof *tangent);
      impulses_at(st, tau, p.d, p.nc, a); /* exactly on the path */
      st->here.tau = tau;
      assert_int_equal(correct(st, &walk.run, &(Step){.landing = true}, &far, &broken), SCREE_OK);
      memcpy(tangent, st->rb, n * sizeof *tangent);
      impulses_at(st, tau + h, p.d, p.nc, a); /* ahead: an event is where the tangent turns */
      impulses_at(st, tau + 2.0 * h, p.d, p.nc, b);
      for (size_t i = 0; i < n; ++i) worst = fmax(worst, fabs((b[i] - a[i]) / h - tangent[i]));
      if (!(worst <= 1e-5 * largest_slope + 1e-12))
        fail_msg("trial %d, step %d: tangent %g, off by %g", trial, k, largest_slope, worst);
      free(tangent);
      memcpy(st->here.r, r, n * sizeof *r);
      st->here.tau = tau;
      assert_int_equal(correct(st, &walk.run, &step, &far, &broken), SCREE_OK);
      if (far || !predict(st, &step)) break;
    }
    end(&walk);
    free(a);
    free(b);
    free(r);
    scree_problem_destroy(&p);
  }
  assert_true(events > 100);
}

static double cone_gap(int d, double mu, const double *r, const double *x, double s) {
  double norm2 = 0.0;
  for (int i = 1; i < d; ++i) norm2 += (r[i] + s * x[i]) * (r[i] + s * x[i]);
  return mu * (r[0] + s * x[0]) - sqrt(norm2);
}

/* The cone is left where it is said to be, and not before. */
static void test_leaving_the_cone(void **unused) {
  (void)unused;
  unsigned long long seed = 9;
  int left = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const int d = 2 + trial % 2;
    const double mu = 0.1 + fabs(small_random(&seed)), sign = trial % 3 ? 1.0 : -1.0;
    double r[3], x[3], forward[3];
    for (int i = 0; i < d; ++i) {
      r[i] = small_random(&seed);
      x[i] = small_random(&seed);
      forward[i] = sign * x[i];
    }
    double norm = d == 2 ? fabs(r[1]) : hypot(r[1], r[2]);
    r[0] = norm / mu * (1.0 + fabs(small_random(&seed)));
    const double at = scree_lemke_leaves_cone(d, mu, r, x, sign, false);
    const double until = isinf(at) ? 100.0 : at;
    for (int k = 1; k < 50; ++k)
      if (!(cone_gap(d, mu, r, forward, until * k / 50.0) > -1e-9))
        fail_msg("trial %d: outside before %g", trial, at);
    if (isinf(at)) continue;
    if (!(fabs(cone_gap(d, mu, r, forward, at)) <= 1e-9 * (1.0 + at)))
      fail_msg("trial %d: gap %g at %g", trial, cone_gap(d, mu, r, forward, at), at);
    ++left;
  }
  assert_true(left > 1000);
}

static double error_of(const scree_Problem *p, const char *solver, double *r,
                       scree_SolveInfo *info) {
  double *u = calloc((size_t)(p->nc * p->d) + 1, sizeof *u);
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = solver;
  settings.tolerance = 1e-8;
  settings.measure = SCREE_MEASURE_BOTH;
  const scree_Status status = scree_solve(p, &settings, r, u, info, NULL);
  assert_true(status == SCREE_OK || status == SCREE_NOT_CONVERGED);
  free(u);
  return fmax(plain_error(p, r, 0.0), plain_error(p, r, 1.0));
}

/* One contact, W = I: r = -q where that is in the cone; else it slips: r_n = -q_n. */
static void test_by_hand(void **unused) {
  (void)unused;
  const double q[][3] = {{-1.0, 0.2, 0.1}, {-1.0, 0.8, -0.6}, {0.5, 1.0, 0.0}};
  const double expected[][3] = {{1.0, -0.2, -0.1}, {1.0, -0.24, 0.18}, {0.0, 0.0, 0.0}};
  for (int k = 0; k < 3; ++k) {
    scree_Problem p = small_random_problem(3, 1, 0.3, 1);
    double r[3];
    scree_SolveInfo info;
    for (int i = 0; i < 9; ++i) p.blocks.x[i] = i % 4 == 0 ? 1.0 : 0.0;
    for (int i = 0; i < 3; ++i) p.q[i] = q[k][i];
    assert_true(error_of(&p, "lemke", r, &info) <= 1e-8);
    for (int i = 0; i < 3; ++i) assert_true(fabs(r[i] - expected[k][i]) < 1e-7);
    scree_problem_destroy(&p);
  }
}

static int solved;

static void visit(const char *name, scree_Problem *p) {
  double *r = calloc((size_t)(p->nc * p->d), sizeof *r);
  scree_SolveInfo info;
  const double error = error_of(p, "lemke", r, &info);
  if (!(error <= 1.001e-8)) fail_msg("%s: error %g", name, error);
  ++solved;
  free(r);
}

/* From nothing, without sweeps, without luck. */
static void test_files(void **unused) {
  (void)unused;
  if (!small_files(90, visit)) skip();
  assert_true(solved > 15);
}

/* A falling wall in the middle of its collapse. Newton's method and interior points end near 1e-6,
 * where impulses drift and the error does not fall; the path goes round. */
static void test_collapse(void **unused) {
  (void)unused;
  scree_Problem p;
  assert_int_equal(scree_fclib_read(SCREE_SOURCE "/tests/data/collapse.hdf5", &p, NULL, NULL),
                   SCREE_OK);
  double *r = calloc((size_t)(p.nc * p.d), sizeof *r);
  scree_SolveInfo info;
  assert_true(error_of(&p, "ipm", r, &info) > 1e-8);
  assert_true(error_of(&p, "auto", r, &info) <= 1.001e-8);
  assert_string_equal(info.solver, "lemke");
  free(r);
  scree_problem_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_path),     cmocka_unit_test(test_leaving_the_cone),
      cmocka_unit_test(test_by_hand),  cmocka_unit_test(test_files),
      cmocka_unit_test(test_collapse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
