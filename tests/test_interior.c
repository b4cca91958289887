/* The parts of the interior point and Newton methods: cone algebra against its defining identities,
 * the assembled systems against dense ones, and the directions against the equations that they
 * linearise (by finite differences of the residuals). */
#define _DEFAULT_SOURCE /* scandir */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_problems.h"

/* the solver itself, so that its static functions can be called */
#include "solver/ipm.c"

static void multiply(int d, const double *A, const double *v, double *out) {
  for (int i = 0; i < d; ++i) {
    out[i] = 0.0;
    for (int j = 0; j < d; ++j) out[i] += A[i * d + j] * v[j];
  }
}

static void random_inside(int d, unsigned long long *seed, double closeness, double *x) {
  double tail = 0.0;
  for (int i = 1; i < d; ++i) {
    x[i] = small_random(seed);
    tail += x[i] * x[i];
  }
  x[0] = sqrt(tail) * (1.0 + closeness * fabs(small_random(seed))) + closeness * 1e-3;
}

static void assert_close(const double *a, const double *b, int n, double tolerance) {
  double size = 0.0;
  for (int i = 0; i < n; ++i) size = fmax(size, fmax(fabs(a[i]), fabs(b[i])));
  for (int i = 0; i < n; ++i)
    if (!(fabs(a[i] - b[i]) <= tolerance * size)) fail_msg("%.17g and %.17g", a[i], b[i]);
}

static void test_scaling(void **unused) {
  (void)unused;
  unsigned long long seed = 4;
  for (int trial = 0; trial < 2000; ++trial) {
    const int d = 2 + trial % 2;
    const double closeness = trial % 3 == 0 ? 1e-3 : 1.0;
    double x[3], z[3], P[9], Pi[9], out[3], back[3];
    scree_Scaling s;
    random_inside(d, &seed, closeness, x);
    random_inside(d, &seed, closeness, z);
    scree_scaling_init(&s, d, x, z);
    scree_scaling_matrix(&s, d, P);
    scree_scaling_inverse_matrix(&s, d, Pi);
    multiply(d, P, z, out);
    assert_close(out, x, d, 1e-9); /* P z = x */
    multiply(d, Pi, x, out);
    assert_close(out, z, d, 1e-9);
    scree_scaling_invert(&s, d, x, out); /* R^-1 x = l */
    assert_close(out, s.l, d, 1e-9);
    scree_scaling_apply(&s, d, z, out);
    scree_scaling_apply(&s, d, out, back); /* R R z = P z */
    assert_close(back, x, d, 1e-9);
    scree_jordan_product(d, s.l, z, out);
    scree_jordan_divide(d, s.l, out, back);
    assert_close(back, z, d, 1e-8);
  }
}

static void test_cone_step(void **unused) {
  (void)unused;
  unsigned long long seed = 9;
  for (int trial = 0; trial < 5000; ++trial) {
    const int d = 2 + trial % 2;
    double x[3], dx[3], y[3];
    random_inside(d, &seed, 1.0, x);
    for (int i = 0; i < d; ++i) dx[i] = 3.0 * small_random(&seed);
    const double t = scree_cone_step(d, x, dx, 10.0);
    assert_true(t > 0.0 && t <= 10.0);
    for (int i = 0; i < d; ++i) y[i] = x[i] + 0.999999 * t * dx[i];
    assert_true(y[0] >= scree_cone_tail(d, y)); /* just before: inside */
    if (t < 10.0) {
      for (int i = 0; i < d; ++i) y[i] = x[i] + 1.000001 * t * dx[i];
      assert_true(y[0] < scree_cone_tail(d, y)); /* just after: outside */
    }
  }
}

/* (I + B^T G B) and (L W + G) against dense products. */
static void test_systems(void **unused) {
  (void)unused;
  unsigned long long seed = 3;
  for (int d = 2; d <= 3; ++d)
    for (int form = 0; form < 2; ++form) {
      scree_Problem pile = small_pile(d, 4, 0.4, 0.2), p = pile;
      if (form) assert_int_equal(scree_problem_assemble(&pile, &p, NULL), SCREE_OK);
      scree_Operator W;
      scree_GraphSystem system = {0};
      scree_Elimination elimination = {0};
      scree_Arena scratch = {0};
      assert_int_equal(scree_operator_create(&p, 1, NULL, &W), SCREE_OK);
      assert_int_equal(scree_graph_system_set(&system, &W, 1, &elimination, &scratch, NULL),
                       SCREE_OK);
      const size_t nc = (size_t)p.nc, dd = (size_t)(d * d), n = nc * (size_t)d;
      double *G = calloc(nc * dd, sizeof *G), *L = calloc(nc * dd, sizeof *L);
      double *x = calloc(n + W.state_size, sizeof *x), *b = calloc(n + W.state_size, sizeof *b);
      double *t = calloc(n, sizeof *t), *s = calloc(n, sizeof *s);
      for (size_t i = 0; i < nc * dd; ++i) {
        G[i] = 0.3 * small_random(&seed) + (i % dd % (size_t)(d + 1) == 0 ? 2.0 : 0.0);
        L[i] = 0.3 * small_random(&seed) + (i % dd % (size_t)(d + 1) == 0 ? 1.0 : 0.0);
      }
      for (size_t i = 0; i < system.size; ++i) x[i] = small_random(&seed);
      /* b = A x by the definition */
      if (form) {
        plain_velocity(&p, x, t);
        for (size_t c = 0; c < nc; ++c)
          for (size_t i = 0; i < (size_t)d; ++i) {
            double sum = 0.0;
            for (size_t j = 0; j < (size_t)d; ++j) {
              const size_t ij = c * dd + i * (size_t)d + j, at = c * (size_t)d + j;
              sum += L[ij] * (t[at] - p.q[at]) + G[ij] * x[at];
            }
            b[c * (size_t)d + i] = sum;
          }
      } else {
        scree_operator_velocity(&W, NULL, x, NULL, t);
        for (size_t c = 0; c < nc; ++c) {
          multiply(d, G + c * dd, t + c * (size_t)d, s + c * (size_t)d);
        }
        scree_operator_state(&W, s, b);
        for (size_t i = 0; i < system.size; ++i) b[i] += x[i];
      }
      bool broken = true;
      assert_int_equal(scree_graph_system_factor(&system, form ? L : NULL, G, &broken), SCREE_OK);
      assert_false(broken);
      scree_graph_system_solve(&system, b);
      assert_close(b, x, (int)system.size, 1e-10);
      scree_graph_system_fini(&system);
      scree_elimination_fini(&elimination);
      scree_arena_fini(&scratch);
      scree_operator_destroy(&W);
      if (form) scree_problem_destroy(&p);
      scree_problem_destroy(&pile);
      free(G);
      free(L);
      free(x);
      free(b);
      free(t);
      free(s);
    }
}

static double norm_of(int n, const double *v) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += v[i] * v[i];
  return sqrt(sum);
}

/* A state of the solver at random x, z and y, with proximal weights switched off; joints need a
 * small one. */
static State *make_state(scree_Problem *p, scree_Operator *W, scree_SolveCache *cache,
                         scree_SolveSettings *settings, scree_SolveRun *run) {
  assert_int_equal(scree_operator_create(p, 1, NULL, W), SCREE_OK);
  *settings = scree_solve_settings();
  *run = (scree_SolveRun){.W = W, .settings = settings, .cache = cache};
  Options o;
  void *state;
  scree_options_init(&scree_solver_ipm.options, &o);
  o.weight = p->set ? 1e8 : 1e300;
  assert_int_equal(create(run, &o, &state), SCREE_OK);
  State *st = state;
  measure_scales(st);
  unsigned long long seed = 17;
  for (int c = 0; c < p->nc; ++c) {
    double *x = st->x + c * p->d, *z = st->z + c * p->d;
    random_inside(p->d, &seed, 1.0, x);
    random_inside(p->d, &seed, 1.0, z);
    for (int i = 0; i < p->d; ++i) {
      if (st->contact[c].kind == SCREE_IPM_LINE && i) x[i] = z[i] = 0.0;
      if (st->contact[c].kind == SCREE_IPM_SPACE) z[i] = 0.0;
      if (st->contact[c].kind == SCREE_IPM_NONE) x[i] = z[i] = 0.0;
    }
    if (st->contact[c].kind == SCREE_IPM_BALL) st->contact[c].zeta = 1.3 * norm_of(p->d, z);
  }
  for (size_t i = 0; W->state_size && i < st->system->size; ++i) st->y[i] = small_random(&seed);
  return st;
}

/* The direction of a ball, in the cone of one dimension more with a fixed X_0: in the scaled
 * variables l o (R^-1 dX + R dZ) = target e - l o l. */
static void check_ball(const scree_IpmContact *k, int d, const double *x, const double *z,
                       const double *dx, const double *dz, double target) {
  double dX[4] = {0.0}, dZ[4] = {k->dzeta}, a[4], b[4], sum[4], left[4], right[4];
  assert_true(norm_of(d, x) < k->radius && norm_of(d, z) < k->zeta);
  for (int i = 0; i < d; ++i) {
    dX[i + 1] = dx[i];
    dZ[i + 1] = dz[i];
  }
  scree_scaling_invert(&k->scaling, d + 1, dX, a);
  scree_scaling_apply(&k->scaling, d + 1, dZ, b);
  for (int i = 0; i <= d; ++i) sum[i] = a[i] + b[i];
  scree_jordan_product(d + 1, k->scaling.l, sum, left);
  scree_jordan_product(d + 1, k->scaling.l, k->scaling.l, right);
  right[0] -= target;
  for (int i = 0; i <= d; ++i) left[i] += right[i];
  assert_true(norm_of(d + 1, left) < 1e-7 * (1.0 + norm_of(d + 1, right)));
}

static void test_direction(void **unused) {
  (void)unused;
  for (int d = 2; d <= 3; ++d)
    for (int variant = 0; variant < 32; ++variant) {
      const bool assembled = variant & 1, frictionless = variant & 2, coulomb = variant & 4;
      uint8_t sets[16] = {[2] = SCREE_SET_SPACE};
      double sizes[16] = {[3] = 0.7, [4] = 9.0}, none[16] = {0};
      if (variant & 16) { /* a cone with cohesion, two balls, one of them without a radius */
        sets[3] = SCREE_SET_SHIFTED;
        sets[4] = sets[0] = SCREE_SET_BALL;
      }
      scree_Problem pile = small_pile(d, 3, 0.4, 0.2), p = pile;
      if (assembled) assert_int_equal(scree_problem_assemble(&pile, &p, NULL), SCREE_OK);
      p.flow = coulomb ? SCREE_COULOMB : SCREE_ASSOCIATED;
      if (frictionless) p.mu[1] = 0.0;
      assert_true(p.nc >= 5 && p.nc <= 16);
      p.set = variant & 24 ? sets : NULL;
      p.set_a = variant & 24 ? sizes : NULL;
      p.set_b = variant & 24 ? none : NULL;
      scree_Operator W;
      scree_SolveCache cache = {0};
      scree_SolveSettings settings;
      scree_SolveRun run;
      State *st = make_state(&p, &W, &cache, &settings, &run);
      const size_t n = (size_t)(p.nc * d), ny = st->system->size;
      const double target = 0.37;
      residuals(st, st->x, st->z, st->y, st->ru, st->ry);
      bool broken = true;
      assert_int_equal(factorise(st, &run, &broken), SCREE_OK);
      assert_false(broken);
      double *ru = calloc(n, sizeof *ru), *ry = calloc(W.state_size + 1, sizeof *ry);
      memcpy(ru, st->ru, n * sizeof *ru);
      memcpy(ry, st->ry, W.state_size * sizeof *ry);
      direction(st, target, NULL, NULL, st->ru, st->dx, st->dz);
      /* complementarity: dx + P dz = a */
      for (int c = 0; c < p.nc; ++c) {
        double P[9], v[3], sum[3];
        if (st->contact[c].kind == SCREE_IPM_SPACE) {
          for (int i = 0; i < d; ++i) assert_true(st->dz[c * d + i] == 0.0);
          continue;
        }
        if (st->contact[c].kind == SCREE_IPM_NONE) {
          for (int i = 0; i < d; ++i) assert_true(fabs(st->dx[c * d + i]) < 1e-8);
          continue;
        }
        if (st->contact[c].kind == SCREE_IPM_BALL) {
          check_ball(&st->contact[c], d, st->x + c * d, st->z + c * d, st->dx + c * d,
                     st->dz + c * d, target);
          continue;
        }
        if (st->contact[c].kind == SCREE_IPM_LINE) {
          const double *x = st->x + c * d, *z = st->z + c * d;
          const double value = x[0] * z[0] + x[0] * st->dz[c * d] + z[0] * st->dx[c * d];
          assert_true(fabs(value - target) < 1e-8);
          continue;
        }
        scree_scaling_matrix(&st->contact[c].scaling, d, P);
        multiply(d, P, st->dz + c * d, v);
        for (int i = 0; i < d; ++i) sum[i] = v[i] + st->dx[c * d + i];
        assert_close(sum, st->a + c * d, d, 1e-8);
      }
      /* residuals along the direction: R(t) = (1 - t) R(0) + O(t^2) */
      const double t = 1e-6;
      move(st, t, st->x, st->z, W.state_size ? st->y : NULL);
      residuals(st, st->x, st->z, st->y, st->ru, st->ry);
      double size = 0.0;
      for (size_t i = 0; i < n; ++i) size = fmax(size, fabs(ru[i]));
      for (size_t i = 0; i < n; ++i)
        if (!(fabs((st->ru[i] - ru[i]) / t + ru[i]) < 1e-3 * size))
          fail_msg("%dD variant %d: residual %zu falls by %g, expected %g", d, variant, i,
                   (ru[i] - st->ru[i]) / t, ru[i]);
      for (size_t i = 0; i < ny && !assembled; ++i)
        assert_true(fabs((st->ry[i] - ry[i]) / t + ry[i]) < 1e-6);
      free(ru);
      free(ry);
      scree_solve_cache_fini(&cache);
      scree_operator_destroy(&W);
      if (assembled) scree_problem_destroy(&p);
      scree_problem_destroy(&pile);
    }
}

/* The start is on the central path of its own barrier. */
static void test_start(void **unused) {
  (void)unused;
  scree_Problem p = small_pile(3, 3, 0.4, 0.2);
  scree_Operator W;
  scree_SolveCache cache = {0};
  scree_SolveSettings settings;
  scree_SolveRun run;
  State *st = make_state(&p, &W, &cache, &settings, &run);
  double *r = calloc((size_t)(p.nc * 3), sizeof *r);
  start_near(st, r, p.q, 0.01);
  for (int c = 0; c < p.nc; ++c) {
    double product[3];
    scree_jordan_product(3, st->x + 3 * c, st->z + 3 * c, product);
    assert_true(fabs(product[0] - 0.01) < 1e-15);
    assert_true(fabs(product[1]) < 1e-15 && fabs(product[2]) < 1e-15);
  }
  free(r);
  scree_solve_cache_fini(&cache);
  scree_operator_destroy(&W);
  scree_problem_destroy(&p);
}

/* Cones shifted by cohesion, with bodies and with W alone: the pile is pulled upwards, so that its
 * bonds carry tension, and sideways. The sweeps at the end are switched off. */
static void test_cohesion(void **unused) {
  (void)unused;
  for (int trial = 0; trial < 8; ++trial) {
    const int d = 2 + trial % 2;
    scree_Problem pile = small_pile(d, 4, 0.5, trial < 4 ? 0.3 : 1.5), p = pile;
    if (trial % 4 > 1) assert_int_equal(scree_problem_assemble(&pile, &p, NULL), SCREE_OK);
    uint8_t set[64];
    double cohesion[64], zero[64] = {0}, r[192], u[192];
    double *q = p.q;
    assert_true(p.nc <= 64);
    for (int c = 0; c < p.nc; ++c) {
      set[c] = c % 5 ? SCREE_SET_SHIFTED : SCREE_SET_CONE;
      cohesion[c] = 0.5 + 0.25 * (c % 3);
      q[d * c] += trial % 3 == 0 ? 1.5 : 0.0;
    }
    scree_Problem bonded = p;
    bonded.set = set;
    bonded.set_a = cohesion;
    bonded.set_b = zero;
    static const char *const alone[] = {"polish_at=0", NULL};
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info;
    settings.solver = "ipm";
    settings.options = alone;
    settings.tolerance = 1e-8;
    assert_int_equal(scree_solve(&bonded, &settings, r, u, &info, NULL), SCREE_OK);
    assert_true(info.value <= 1e-8);
    double tension = 0.0;
    for (int c = 0; c < p.nc; ++c) tension = fmax(tension, -r[d * c]);
    if (trial % 3 == 0) assert_true(tension > 0.1);
    if (trial % 4 > 1) scree_problem_destroy(&p);
    scree_problem_destroy(&pile);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scaling), cmocka_unit_test(test_cone_step),
      cmocka_unit_test(test_systems), cmocka_unit_test(test_direction),
      cmocka_unit_test(test_start),   cmocka_unit_test(test_cohesion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
