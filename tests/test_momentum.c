/* Sweeps with momentum: its factors, the number of sweeps that it saves on piles, and the same bits
 * for any number of threads. */
#include "bench/packing.h"
#include "bench/pile.h"
#include "scree/solver.h"
#include "solver/colouring.h"
#include "solver/momentum.h"
#include "solver/singles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void factors_follow_nesterov(void **unused) {
  (void)unused;
  enum { N = 100 };
  double x[N], v[2] = {1.0, 2.0};
  float w[N], z[N], before[N], changes[N];
  scree_Arena arena = {0};
  scree_Momentum m = {0};
  for (int i = 0; i < N; ++i) x[i] = w[i] = z[i] = 1.0f;
  assert_true(scree_momentum_add(&m, x, N, true, &arena));
  assert_true(scree_momentum_add(&m, v, 2, false, &arena));
  assert_true(scree_momentum_add_singles(&m, w, N, &arena));
  scree_momentum_add_visited(&m, z, before, N, changes, N);
  scree_MomentumState state = scree_momentum_begin(&m);
  double t = state.t;
  assert_true(!state.swept && t >= 1.0 && before[N - 1] == 1.0f);
  for (int k = 1; k < 6; ++k) { /* each sweep changes every number by 2^-k */
    const double change = ldexp(1.0, -k);
    for (int i = 0; i < N; ++i) {
      x[i] += change;
      w[i] += (float)change;
      changes[i] = (float)(change * change);
    }
    const double was = x[7], last = ((double *)m.part[0].last)[7],
                 next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
    for (int me = 0; me < 3; ++me) scree_momentum_sum(&m, me, 3);
    const double b = scree_momentum_factor(&m, &state);
    assert_true(fabs(state.change2 - 2 * N * change * change) <= 1e-5 * state.change2);
    assert_true(fabs(b - (t - 1.0) / next) < 1e-15);
    for (int me = 0; me < 3; ++me) scree_momentum_move(&m, b, me, 3);
    for (int i = 0; i < N; ++i) {
      assert_true(x[i] == was + b * (was - last));
      assert_true(fabs((double)w[i] - x[i]) < 1e-6);
      assert_true(z[i] == 1.0f); /* moved by visits alone */
    }
    t = next;
  }
  for (int i = 0; i < N; ++i) x[i] += 1.0; /* a change that has grown */
  scree_momentum_sum(&m, 0, 1);
  assert_true(scree_momentum_factor(&m, &state) == 0.0 && state.t < t);
  x[3] = NAN; /* nor does what is not a number go on */
  scree_momentum_sum(&m, 0, 1);
  assert_true(scree_momentum_factor(&m, &state) == 0.0);
  scree_arena_fini(&arena);
}

/* Visits that move impulses have the bits of a pass that moves them before visits that do not, and
 * leave the squares of what they change. */
static void visits_move_impulses(void **unused) {
  (void)unused;
  const double b = 0.4;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p;
    scree_Operator W;
    scree_Colouring colouring;
    scree_Arena arena = {0};
    scree_Singles s[2];
    assert_int_equal(packing_create(d, 300, 0.4, &p, NULL), SCREE_OK);
    assert_int_equal(scree_operator_create(&p, 1, NULL, &W), SCREE_OK);
    assert_int_equal(scree_colouring_create(&W, &arena, &colouring, NULL), SCREE_OK);
    double *r = calloc((size_t)(p.nc * d), sizeof *r), *y = calloc(W.state_size, sizeof *y);
    for (int k = 0; k < 2; ++k) {
      assert_int_equal(scree_singles_create(&W, &colouring, r, NULL, &arena, &s[k], NULL),
                       SCREE_OK);
      scree_singles_set(&s[k], r, y, 1);
    }
    const int n = s[0].layout.batches * SCREE_SINGLES * d;
    memcpy(s[0].last, s[0].r, (size_t)n * sizeof(float));
    memcpy(s[1].last, s[1].r, (size_t)n * sizeof(float));
    for (int sweep = 0; sweep < 40; ++sweep) {
      for (int k = 0; k < 2; ++k) s[k].pauses = sweep >= 10;
      scree_singles_visit(&s[0], 0, s[0].layout.start[s[0].colours], &b);
      double change2 = 0.0, sum = 0.0;
      for (int i = 0; i < n; ++i) {
        const float x = s[1].r[i], last = s[1].last[i];
        s[1].r[i] = x + (float)b * (x - last);
        s[1].last[i] = x;
      }
      float *moved = malloc((size_t)n * sizeof *moved);
      memcpy(moved, s[1].r, (size_t)n * sizeof *moved);
      scree_singles_visit(&s[1], 0, s[1].layout.start[s[1].colours], NULL);
      assert_memory_equal(s[0].r, s[1].r, (size_t)n * sizeof(float));
      assert_memory_equal(s[0].last, s[1].last, (size_t)n * sizeof(float));
      assert_memory_equal(s[0].wait, s[1].wait, (size_t)s[0].layout.batches);
      for (int i = 0; i < n; ++i)
        change2 += ((double)s[1].r[i] - moved[i]) * ((double)s[1].r[i] - moved[i]);
      for (int k = 0; k < s[0].layout.batches; ++k) sum += (double)s[0].changes[k];
      assert_true(change2 > 0.0 && fabs(sum - change2) <= 1e-4 * change2);
      free(moved);
    }
    free(r), free(y);
    scree_operator_destroy(&W);
    scree_arena_fini(&arena);
    scree_problem_destroy(&p);
  }
}

static scree_SolveInfo solve(const scree_Problem *p, const char *name, int threads, double *r,
                             double *u) {
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  settings.solver = name;
  settings.tolerance = 1e-4;
  settings.threads = threads;
  assert_int_equal(scree_solve(p, &settings, r, u, &info, NULL), SCREE_OK);
  return info;
}

/* auto makes its sweeps with momentum, nlgs without. */
static void fewer_sweeps_and_the_same_bits(void **unused) {
  (void)unused;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p;
    assert_int_equal(pile_create(d, d == 2 ? 30 : 9, 0.3, false, &p, NULL), SCREE_OK);
    assert_true(p.nc > 2000); /* threads are used */
    const size_t n = (size_t)p.nc * (size_t)d;
    double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u), *other = calloc(n, sizeof *other);
    const int plain = solve(&p, "nlgs", 1, r, u).iterations;
    const scree_SolveInfo info = solve(&p, "auto", 1, r, u);
    if (info.factorisations > 0 || 4 * info.iterations >= 3 * plain)
      fail_msg("%dD: %d sweeps and %d factorisations, %d sweeps without momentum", d,
               info.iterations, info.factorisations, plain);
    for (int threads = 2; threads <= 3; ++threads) {
      solve(&p, "auto", threads, other, u);
      assert_memory_equal(r, other, n * sizeof *r);
    }
    free(other);
    free(u);
    free(r);
    scree_problem_destroy(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_follow_nesterov),
      cmocka_unit_test(visits_move_impulses),
      cmocka_unit_test(fewer_sweeps_and_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
