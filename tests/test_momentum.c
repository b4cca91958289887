/* Sweeps with momentum: its factors, the number of sweeps that it saves on piles, and the same bits
 * for any number of threads. */
#include "bench/pile.h"
#include "scree/solver.h"
#include "solver/momentum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void factors_follow_nesterov(void **unused) {
  (void)unused;
  enum { N = 100 };
  double x[N], v[2] = {1.0, 2.0};
  float w[N];
  scree_Arena arena = {0};
  scree_Momentum m = {0};
  for (int i = 0; i < N; ++i) x[i] = w[i] = 1.0f;
  assert_true(scree_momentum_add(&m, x, N, true, &arena));
  assert_true(scree_momentum_add(&m, v, 2, false, &arena));
  assert_true(scree_momentum_add_singles(&m, w, N, true, &arena));
  scree_MomentumState state = scree_momentum_begin(&m);
  double t = state.t;
  assert_true(!state.swept && t >= 1.0);
  for (int k = 1; k < 6; ++k) { /* each sweep changes every number by 2^-k */
    const double change = ldexp(1.0, -k);
    for (int i = 0; i < N; ++i) {
      x[i] += change;
      w[i] += (float)change;
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
      cmocka_unit_test(fewer_sweeps_and_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
