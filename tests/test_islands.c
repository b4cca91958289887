/* Sweeps in single precision and islands: parts of a solve that do less than the whole work must
 * end at what the whole work would give. */
#define _DEFAULT_SOURCE

#include "bench/packing.h"
#include "problem/islands.h"
#include "problem/measure.h"
#include "scree/solver.h"
#include "solver/colouring.h"
#include "solver/singles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CONTACTS = 900, FEW = 150, COPIES = 5 };

/* With rigid and with compliant contacts, in units of any size the error that is estimated in
 * single precision is the one that is measured, impulses are in their cones, and sweeps reach the
 * error at which they end; from a base a smaller one. */
static void singles_estimate_and_solve(void **state) {
  (void)state;
  const double units[] = {1.0, 1e-12, 1e15};
  for (int d = 2; d <= 3; ++d)
    for (int k = 0; k < 6; ++k) {
      scree_Problem p;
      scree_Operator W;
      scree_Arena arena = {0};
      scree_Colouring colouring;
      scree_Singles singles;
      const double arms = units[(k + 1) % 3];
      assert_int_equal(packing_create(d, FEW, 0.4, &p, NULL), SCREE_OK);
      for (int i = 0; i < p.nc * d; ++i) p.q[i] *= units[k % 3];
      for (int i = 0; i < 4 * p.nc; ++i) p.bodies.arm[i] *= arms;
      const size_t n = (size_t)(p.nc * d);
      double *C = calloc(n * (size_t)d, sizeof *C);
      for (int i = 0; i < p.nc * d; ++i)
        C[i * d + i % d] = (i % d ? 0.3 : 0.1 * (1 + i % 5)) * arms * arms;
      if (k >= 3) p.bodies.C = C;
      assert_int_equal(scree_operator_create(&p, 1, NULL, &W), SCREE_OK);
      assert_true(scree_singles_fit(&W));
      assert_int_equal(scree_colouring_create(&W, &arena, &colouring, NULL), SCREE_OK);
      double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u);
      double *y = calloc(W.state_size, sizeof *y);
      assert_int_equal(scree_singles_create(&W, &colouring, r, NULL, &arena, &singles, NULL),
                       SCREE_OK);
      scree_singles_set(&singles, r, y, 1);
      for (int based = 0; based <= 1; ++based) {
        const double least = based ? scree_singles_least_based() : scree_singles_least();
        double error = INFINITY;
        for (int sweep = 0; sweep < 10000; ++sweep) {
          scree_singles_visit(&singles, 0, singles.layout.start[singles.colours], NULL);
          if (sweep % 100 != 3) continue;
          scree_singles_get(&singles, r, 1);
          scree_operator_apply(&W, r, p.q, y, u);
          error = scree_measure_value(&W, SCREE_MEASURE_ERROR, r, u);
          const double guess = scree_singles_error(&singles, 1);
          assert_true(fabs(guess - error) <= 1e-3 * error + least);
          if (based)
            scree_singles_base(&singles, u, 1);
          else
            scree_singles_refresh(&singles, y, 1);
        }
        assert_true(error < least);
      }
      for (int c = 0; c < p.nc; ++c) {
        const double *rc = r + c * d;
        const double t = d == 3 ? hypot(rc[1], rc[2]) : fabs(rc[1]);
        assert_true(rc[0] >= 0.0 && t <= p.mu[c] * rc[0] * (1.0 + 1e-14));
      }
      free(r);
      free(u);
      free(y);
      free(C);
      scree_arena_fini(&arena);
      scree_operator_destroy(&W);
      scree_problem_destroy(&p);
    }
}

/* Several packings side by side, each pushed `factor` times as hard as the one before. */
static void make_copies(int d, double factor, scree_Problem *one, scree_Problem *all) {
  assert_int_equal(packing_create(d, CONTACTS, 0.4, one, NULL), SCREE_OK);
  const int nc = one->nc, nb = one->bodies.nbodies;
  assert_int_equal(scree_problem_create_balls(all, d, COPIES * nc, COPIES * nb, false, false, NULL),
                   SCREE_OK);
  double scale = 1.0;
  for (int k = 0; k < COPIES; ++k, scale *= factor)
    for (int c = 0; c < nc; ++c) {
      const int to = k * nc + c;
      for (int side = 0; side < 2; ++side) {
        const int b = one->bodies.body[2 * c + side];
        all->bodies.body[2 * to + side] = b < 0 ? -1 : k * nb + b;
      }
      memcpy(all->bodies.normal + 3 * to, one->bodies.normal + 3 * c, 3 * sizeof(double));
      memcpy(all->bodies.arm + 4 * to, one->bodies.arm + 4 * c, 4 * sizeof(double));
      for (int i = 0; i < d; ++i) all->q[to * d + i] = scale * one->q[c * d + i];
      all->mu[to] = one->mu[c];
    }
}

/* Copies of a problem are islands, and each has the error of the problem alone. */
static void islands_are_found_and_measured(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem one, all;
    scree_Operator W;
    scree_Arena arena = {0};
    scree_Islands alone, islands;
    make_copies(d, 3.0, &one, &all);
    assert_int_equal(scree_operator_create(&all, 1, NULL, &W), SCREE_OK);
    assert_int_equal(scree_islands_find(&one, &arena, &alone, NULL), SCREE_OK);
    assert_int_equal(scree_islands_find(&all, &arena, &islands, NULL), SCREE_OK);
    assert_int_equal(islands.count, COPIES * alone.count);
    assert_int_equal(islands.largest, alone.largest);
    for (int c = 0; c < all.nc; ++c) {
      const int copy = c / one.nc;
      assert_int_equal(islands.of[c], copy * alone.count + alone.of[c % one.nc]);
      for (int side = 0; side < 2; ++side) /* no body is in two */
        for (int e = 0; e < 2; ++e) {
          const int b = all.bodies.body[2 * c + side], other = c > 0 ? c - 1 : 0;
          if (b >= 0 && b == all.bodies.body[2 * other + e])
            assert_int_equal(islands.of[c], islands.of[other]);
        }
    }
    const size_t n = (size_t)(all.nc * d);
    double *r = calloc(n, sizeof *r);
    scree_IslandNorms *norms = calloc((size_t)islands.count, sizeof *norms);
    for (int k = 0; k < islands.count; ++k) norms[k].rho = 1.0 / W.mean_diagonal;
    scree_islands_norms(&all, &islands, r, all.q, 2, norms); /* u = q for r = 0 */
    for (int k = 0; k < islands.count; ++k) {
      const double error = scree_island_error(&norms[k]);
      assert_true(error > 0.0 && fabs(norms[k].u - norms[k].q) <= 1e-12 * norms[k].q);
      assert_true(fabs(error - scree_island_error(&norms[k % alone.count])) <= 1e-12 * error);
    }
    free(r);
    free(norms);
    scree_arena_fini(&arena);
    scree_operator_destroy(&W);
    scree_problem_destroy(&one);
    scree_problem_destroy(&all);
  }
}

/* All but one island start solved: they keep their impulses bit by bit, fewer contacts are visited,
 * and the whole is certified; with any number of threads the same bits. */
static void solved_islands_keep_their_impulses(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem one, all;
    make_copies(d, 1.0, &one, &all);
    const size_t m = (size_t)(one.nc * d), n = COPIES * m;
    double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u), *again = calloc(n, sizeof *r);
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info;
    settings.tolerance = 1e-6;
    settings.threads = 1;
    assert_int_equal(scree_solve(&one, &settings, r, u, &info, NULL), SCREE_OK);
    for (int k = 1; k < COPIES; ++k) memcpy(r + (size_t)k * m, r, m * sizeof *r);
    memset(r + 2 * m, 0, m * sizeof *r);
    memcpy(again, r, n * sizeof *r);
    settings.tolerance = 1e-4;
    settings.warm_start = true;
    assert_int_equal(scree_solve(&all, &settings, r, u, &info, NULL), SCREE_OK);
    assert_true(info.converged && info.value <= 1e-4);
    assert_memory_equal(r, again, 2 * m * sizeof *r);
    assert_memory_equal(r + 3 * m, again + 3 * m, 2 * m * sizeof *r);
    assert_true(memcmp(r + 2 * m, again + 2 * m, m * sizeof *r) != 0);
    settings.threads = 3;
    assert_int_equal(scree_solve(&all, &settings, again, u, &info, NULL), SCREE_OK);
    assert_memory_equal(r, again, n * sizeof *r);
    free(r);
    free(u);
    free(again);
    scree_problem_destroy(&one);
    scree_problem_destroy(&all);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(singles_estimate_and_solve),
      cmocka_unit_test(islands_are_found_and_measured),
      cmocka_unit_test(solved_islands_keep_their_impulses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
