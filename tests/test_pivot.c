/* The path of pivot: its start against the law, its pieces against a fresh factorisation at each
 * event, its end against the proximal problem; and packings and piles that are solved to 1e-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/packing.h"
#include "small_problems.h"

/* the path itself, so that its static functions can be called */
#include "solver/pivot_path.c"

/* A path that is walked by hand. */
typedef struct Walk {
  scree_Operator W;
  scree_SolveCache cache;
  scree_SolveSettings settings;
  scree_SolveRun run;
  scree_PivotPath path;
} Walk;

/* From three sweeps, a step of weight e. */
static void walk_begin(Walk *walk, const scree_Problem *p, double e) {
  const size_t n = (size_t)(p->nc * p->d);
  double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u);
  *walk = (Walk){0};
  walk->settings = scree_solve_settings();
  walk->settings.solver = "nlgs";
  walk->settings.max_iterations = 3;
  assert_int_equal(scree_solve(p, &walk->settings, r, u, NULL, NULL), SCREE_NOT_CONVERGED);
  assert_int_equal(scree_operator_create(p, 1, NULL, &walk->W), SCREE_OK);
  walk->settings = scree_solve_settings();
  walk->settings.max_iterations = 1000000;
  walk->run = (scree_SolveRun){.W = &walk->W, .settings = &walk->settings, .cache = &walk->cache};
  scree_PivotPath *path = &walk->path;
  assert_int_equal(scree_pivot_path_create(&walk->run, path), SCREE_OK);
  for (int c = 0; c < p->nc; ++c) {
    path->weight[c] = e * path->laws.w[c];
    for (int i = c * p->d; i < (c + 1) * p->d; ++i) {
      path->r[i] = r[i];
      path->base[i] = p->q[i] - path->weight[c] * r[i];
    }
  }
  scree_pivot_path_start(path);
  free(r);
  free(u);
}

static void walk_end(Walk *walk) {
  scree_solve_cache_fini(&walk->cache);
  scree_operator_destroy(&walk->W);
}

static scree_Problem some_packing(int trial) {
  const int d = 2 + trial % 2;
  scree_Problem balls, p;
  assert_int_equal(packing_create(d, 60 + 20 * (trial / 2), 0.5, &balls, NULL), SCREE_OK);
  assert_int_equal(packing_dense(&balls, &p, NULL), SCREE_OK);
  scree_problem_destroy(&balls);
  unsigned long long seed = 77 + (unsigned)trial;
  for (int i = 0; i < p.nc * d; ++i) p.q[i] += 0.3 * small_random(&seed);
  return p;
}

/* |r - P(r - u/w)| over |r|, with u of the law posed at tau, the compliance included. */
static double law_error(const Walk *walk, double tau) {
  const scree_PivotPath *path = &walk->path;
  const scree_Problem *p = walk->W.problem;
  const int d = p->d, n = p->nc * d;
  double *u = calloc((size_t)n, sizeof *u);
  double sum = 0.0, all = 0.0;
  plain_velocity(p, path->r, u);
  for (int c = 0; c < p->nc; ++c) {
    double z[3] = {0.0}, out[3], slip2 = 0.0;
    for (int i = 0; i < d; ++i) {
      const int k = c * d + i;
      u[k] += path->base[k] - p->q[k] + tau * path->d[k] + path->weight[c] * path->r[k];
      if (i > 0) slip2 += u[k] * u[k];
    }
    for (int i = 0; i < d; ++i) z[i] = path->r[c * d + i] - u[c * d + i] / path->laws.w[c];
    z[0] -= p->mu[c] * sqrt(slip2) / path->laws.w[c];
    plain_project(d, p->mu[c], z, out);
    for (int i = 0; i < d; ++i) {
      const double r = path->r[c * d + i];
      sum += (r - out[i]) * (r - out[i]);
      all += r * r;
    }
  }
  free(u);
  return sqrt(sum / all);
}

/* The given impulses solve the perturbed problem, and in the plane the end of a path the proximal
 * one; in between the law holds with tau d. */
static void test_ends(void **unused) {
  (void)unused;
  int ends = 0;
  for (int trial = 0; trial < 12; ++trial) {
    scree_Problem p = some_packing(trial);
    Walk walk;
    walk_begin(&walk, &p, 0.01);
    assert_true(law_error(&walk, 1.0) < 1e-12);
    bool arrived;
    assert_int_equal(scree_pivot_path_follow(&walk.path, &walk.run, 1000, &arrived), SCREE_OK);
    if (p.d == 2) assert_true(law_error(&walk, walk.path.tau) < 1e-9);
    assert_true(arrived == (walk.path.tau == 0.0));
    ends += arrived && walk.path.events > 2;
    walk_end(&walk);
    scree_problem_destroy(&p);
  }
  assert_true(ends > 6);
}

/* Pieces from columns of one factorisation are those of a factorisation for each. */
static void test_columns(void **unused) {
  (void)unused;
  int events = 0;
  for (int trial = 0; trial < 12; trial += 2) {
    scree_Problem p = some_packing(trial);
    Walk walk;
    walk_begin(&walk, &p, 1e-3);
    scree_PivotPath *path = &walk.path;
    const size_t n = path->n;
    double *r = calloc(2 * n, sizeof *r);
    bool broken = false;
    assert_int_equal(begin(path, &walk.run, &broken), SCREE_OK);
    for (int k = 0; k < 12 && !broken; ++k) {
      const double sign = -path->sign;
      const Event event = next_event(path, sign, sign < 0.0 ? path->tau : INFINITY);
      if (event.contact < 0) break;
      path->tau += sign * event.at;
      place(path);
      change_status(path, &event);
      assert_int_equal(apply_change(path, &walk.run, event.contact, &broken), SCREE_OK);
      assert_true(path->count > 0);
      for (int s = 0; s < 2; ++s) memcpy(r + (size_t)s * n, path->now.r[s], n * sizeof *r);
      const int found = path->sign;
      Walk fresh;
      walk_begin(&fresh, &p, 1e-3);
      memcpy(fresh.path.status, path->status, (size_t)p.nc);
      memcpy(fresh.path.turn, path->turn, 2 * (size_t)p.nc * sizeof *r);
      assert_int_equal(factorise(&fresh.path, &fresh.run, &broken), SCREE_OK);
      assert_int_equal(fresh.path.sign, found);
      double worst = 0.0, largest = 0.0;
      for (size_t i = 0; i < 2 * n; ++i) {
        const double other = fresh.path.now.r[i / n][i % n];
        worst = fmax(worst, fabs(r[i] - other));
        largest = fmax(largest, fabs(other));
      }
      if (!(worst <= 1e-8 * largest))
        fail_msg("trial %d, event %d: %g of %g", trial, k, worst, largest);
      walk_end(&fresh);
      ++events;
    }
    free(r);
    walk_end(&walk);
    scree_problem_destroy(&p);
  }
  assert_true(events > 30);
}

static double error_of(const scree_Problem *p, scree_SolveInfo *info) {
  const size_t n = (size_t)(p->nc * p->d);
  double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u);
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = "pivot";
  const char *const list[] = {"start=10", NULL}; /* sweeps alone would solve them */
  settings.options = list;
  const scree_Status status = scree_solve(p, &settings, r, u, info, NULL);
  assert_true(status == SCREE_OK || status == SCREE_NOT_CONVERGED);
  const double error = plain_error(p, r, 0.0);
  free(r);
  free(u);
  return error;
}

static void test_solves(void **unused) {
  (void)unused;
  scree_SolveInfo info;
  for (int trial = 0; trial < 10; ++trial) {
    scree_Problem p = some_packing(trial);
    const double error = error_of(&p, &info);
    if (!(error <= 1.001e-8)) fail_msg("packing %d: error %g", trial, error);
    assert_true(info.factorisations > 0);
    scree_problem_destroy(&p);
  }
  for (int trial = 0; trial < 8; ++trial) { /* hyperstatic, at rest and sliding */
    scree_Problem p = small_pile(2 + trial % 2, 3 + trial / 2, 0.4, trial % 3 == 0 ? 0.7 : 0.1);
    const double error = error_of(&p, &info);
    if (!(error <= 1.001e-8)) fail_msg("pile %d: error %g", trial, error);
    scree_problem_destroy(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ends),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_solves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
