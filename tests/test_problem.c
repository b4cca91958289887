/* The discrete problem: both forms of W, the checks, the measures against hand solutions,
 * colouring, and the same bits for any number of threads. */
#define _DEFAULT_SOURCE /* scandir */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/packing.h"
#include "problem/measure.h"
#include "problem/operator.h"
#include "small_problems.h"
#include "solver/colouring.h"
#include "solver/local_exact.h"

#include <float.h>

/* ---- the two forms ----------------------------------------------------------------------------
 */

static void test_forms_agree(void **unused) {
  (void)unused;
  for (int d = 2; d <= 3; ++d)
    for (int compliant = 0; compliant < 2; ++compliant) {
      scree_Problem pile = small_pile(d, 4, 0.4, 0.2), p, assembled;
      assert_int_equal(
          scree_problem_create_bodies(&p, d, pile.nc, 4, pile.bodies.nb, false, compliant, NULL),
          SCREE_OK);
      memcpy(p.bodies.B, pile.bodies.B,
             (size_t)(pile.nc * 2 * d * pile.bodies.nb) * sizeof(double));
      memcpy(p.bodies.body, pile.bodies.body, (size_t)(2 * pile.nc) * sizeof(int));
      memcpy(p.q, pile.q, (size_t)(pile.nc * d) * sizeof(double));
      unsigned long long seed = 5;
      for (int i = 0; compliant && i < p.nc * d * d; ++i) p.bodies.C[i] = small_random(&seed);
      assert_int_equal(scree_problem_assemble(&p, &assembled, NULL), SCREE_OK);
      assert_int_equal(scree_problem_check(&assembled, NULL), SCREE_OK);
      const size_t n = (size_t)(p.nc * d);
      double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u), *v = calloc(n, sizeof *v),
             *w = calloc(n, sizeof *w);
      for (size_t i = 0; i < n; ++i) r[i] = small_random(&seed);
      plain_velocity(&p, r, u);
      plain_velocity(&assembled, r, v);
      scree_Operator W[2];
      assert_int_equal(scree_operator_create(&p, 1, NULL, &W[0]), SCREE_OK);
      assert_int_equal(scree_operator_create(&assembled, 1, NULL, &W[1]), SCREE_OK);
      double *y = calloc(W[0].state_size, sizeof *y);
      for (int form = 0; form < 2; ++form) {
        scree_operator_apply(&W[form], r, p.q, y, w);
        for (size_t i = 0; i < n; ++i) {
          assert_true(fabs(w[i] - u[i]) < 1e-13);
          assert_true(fabs(u[i] - v[i]) < 1e-13);
        }
      }
      for (size_t i = 0; i < n * (size_t)d; ++i)
        assert_true(fabs(W[0].diagonal[i] - W[1].diagonal[i]) < 1e-14);
      assert_true(fabs(W[0].mean_diagonal - W[1].mean_diagonal) < 1e-14);
      scree_operator_destroy(&W[0]);
      scree_operator_destroy(&W[1]);
      scree_problem_destroy(&pile);
      scree_problem_destroy(&p);
      scree_problem_destroy(&assembled);
      free(r);
      free(u);
      free(v);
      free(w);
      free(y);
    }
}

/* Gauss-Seidel's own view of one contact is the row of the whole product. */
static void test_contact_kernels(void **unused) {
  (void)unused;
  scree_Problem p = small_pile(3, 3, 0.4, 0.2);
  scree_Operator W;
  assert_int_equal(scree_operator_create(&p, 1, NULL, &W), SCREE_OK);
  const int n = p.nc * 3;
  double r[64] = {0}, u[64], uc[3], y[32] = {0};
  unsigned long long seed = 11;
  for (int c = 0; c < p.nc; ++c) { /* build y by updates only */
    for (int i = 0; i < 3; ++i) r[3 * c + i] = small_random(&seed);
    scree_contact_update(&W, SCREE_BODIES, 3, 6, c, r + 3 * c, y);
  }
  assert_true(n <= 64);
  plain_velocity(&p, r, u);
  for (int c = 0; c < p.nc; ++c) {
    scree_contact_velocity(&W, SCREE_BODIES, 3, 6, c, r, y, p.q, uc);
    for (int i = 0; i < 3; ++i) assert_true(fabs(uc[i] - u[3 * c + i]) < 1e-13);
  }
  scree_operator_destroy(&W);
  scree_problem_destroy(&p);
}

/* ---- checks -----------------------------------------------------------------------------------
 */

static void keep_message(void *user, scree_LogLevel level, const char *message) {
  (void)level;
  snprintf(user, 256, "%s", message);
}

static void expect_refusal(scree_Problem *p, const char *part) {
  char message[256] = "";
  const scree_Log log = {keep_message, message};
  assert_int_equal(scree_problem_check(p, &log), SCREE_BAD_INPUT);
  if (!strstr(message, part)) fail_msg("\"%s\" does not name %s", message, part);
}

static void test_checks(void **unused) {
  (void)unused;
  scree_Problem p = small_random_problem(3, 3, 0.2, 1);
  assert_int_equal(scree_problem_check(&p, NULL), SCREE_OK);
  p.q[4] = INFINITY;
  expect_refusal(&p, "q of contact 1");
  p.q[4] = 0.0;
  p.mu[2] = -0.1;
  expect_refusal(&p, "mu of contact 2");
  p.mu[2] = 0.1;
  p.blocks.col[1] = 7;
  expect_refusal(&p, "column 7");
  p.blocks.col[1] = 0;
  expect_refusal(&p, "ascend");
  p.blocks.col[1] = 1;
  p.blocks.x[5] = NAN;
  expect_refusal(&p, "W");
  scree_problem_destroy(&p);
  p = small_pile(2, 2, 0.2, 0.1);
  p.bodies.body[3] = 5;
  expect_refusal(&p, "body 5");
  p.bodies.body[3] = p.bodies.body[2];
  expect_refusal(&p, "twice");
  scree_problem_destroy(&p);
  assert_int_equal(scree_problem_create_assembled(&p, 4, 1, 1, false, NULL), SCREE_BAD_INPUT);
  assert_int_equal(scree_problem_create_bodies(&p, 3, -1, 1, 6, false, false, NULL),
                   SCREE_BAD_INPUT);
}

/* ---- measures: one contact by hand ------------------------------------------------------------
 */

static scree_Measures measure_one(int d, const double *W, const double *q, double mu,
                                  const double *r, scree_Flow law) {
  scree_Problem p;
  scree_Measures m;
  assert_int_equal(scree_problem_create_dense(&p, d, 1, W, q, &mu, NULL), SCREE_OK);
  p.flow = law;
  assert_int_equal(scree_problem_measure(&p, r, NULL, NULL, &m, NULL), SCREE_OK);
  scree_problem_destroy(&p);
  return m;
}

static void test_hand_solutions(void **unused) {
  (void)unused;
  const double W[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
  const double open[3] = {1, 3, 4}, falling[3] = {-2, 0.6, 0.8}, fast[3] = {-2, 6, 8};
  const double none[3] = {0, 0, 0}, stick[3] = {1, -0.3, -0.4}, slip[3] = {1, -0.3, -0.4};
  /* open: u = q, r = 0 */
  assert_true(measure_one(3, W, open, 0.5, none, SCREE_COULOMB).error == 0.0);
  /* stick: r = -q/2, |r_T| = 0.5 <= 0.9 r_n */
  assert_true(measure_one(3, W, falling, 0.9, stick, SCREE_COULOMB).error < 1e-16);
  /* slip: r_n = 1, r_T = -mu r_n q_T/|q_T|, u_T = q_T + 2 r_T = (5.4, 7.2) against r_T */
  assert_true(measure_one(3, W, fast, 0.5, slip, SCREE_COULOMB).error < 1e-16);
  /* the same impulse does not solve the associated law: u_n = 0 < mu |u_T| */
  scree_Measures m = measure_one(3, W, fast, 0.5, slip, SCREE_ASSOCIATED);
  assert_true(m.error > 0.01);
  assert_true(fabs(m.dilatation_max - 0.5 * 9.0) < 1e-14 && m.dilatation_mean == m.dilatation_max);
  /* associated, by hand: r = t (1, -mu e), e = (0.6, 0.8); (1,-mu e).(W r + q) = 0:
   * t (2 + 2 mu^2) = 2 + 10 mu, mu = 0.5: t = 7/2.5 = 2.8 */
  const double dilating[3] = {2.8, -0.5 * 2.8 * 0.6, -0.5 * 2.8 * 0.8};
  assert_true(measure_one(3, W, fast, 0.5, dilating, SCREE_ASSOCIATED).error < 1e-16);
  /* frictionless */
  const double normal[3] = {1, 0, 0};
  assert_true(measure_one(3, W, fast, 0.0, normal, SCREE_COULOMB).error < 1e-16);
}

/* 001 (37) and 004 (40) with numbers that can be followed by hand. */
static void test_hand_measures(void **unused) {
  (void)unused;
  const double W[4] = {2, 0, 0, 4}, q[2] = {-3, 1}, r[2] = {1, 1};
  /* u = (-1, 5); mu = 0.5: P_K(r) = (1 + 0.5)/1.25 (1, 0.5) = (1.2, 0.6) */
  const scree_Measures m = measure_one(2, W, q, 0.5, r, SCREE_COULOMB);
  assert_true(fabs(m.eps_proj - hypot(0.2, 0.4)) < 1e-15);
  assert_true(fabs(m.eps_bipotential - fabs(-1.0 + 5.0 + 0.5 * 5.0)) < 1e-15);
  assert_true(m.eps_penetration == 1.0 && m.eps_motion == 0.0);
  assert_true(fabs(m.eps_glob - (m.eps_proj + 6.5 + 1.0)) < 1e-14);
  /* natural map, rho = 1: r - u - mu|u_T| n = (1 + 1 - 2.5, 1 - 5) = (-0.5, -4):
   * a = (-0.5 + 2)/1.25 = 1.2, P = (1.2, -0.6), C = (-0.2, 1.6) */
  assert_true(fabs(m.merit - (0.04 / 2 + 2.56 / 4) / (9.0 / 2 + 1.0 / 4)) < 1e-15);
  assert_true(fabs(m.error_siconos - hypot(0.2, 1.6) / sqrt(26.0)) < 1e-15);
  /* rho = 1/3: r - rho(...) = (1 - (-1 + 2.5)/3, 1 - 5/3) = (0.5, -2/3): P: |x_T| > mu x_n,
   * a = (0.5 + 1/3)/1.25 = 2/3, P = (2/3, -1/3); map = (1/3, 4/3); scale = max(sqrt 2, sqrt(26)/3)
   */
  assert_true(fabs(m.error - hypot(1.0 / 3, 4.0 / 3) / (sqrt(26.0) / 3)) < 1e-15);
  const double claimed[2] = {-1, 5.5};
  scree_Problem p;
  scree_Measures with_claim;
  const double mu = 0.5;
  assert_int_equal(scree_problem_create_dense(&p, 2, 1, W, q, &mu, NULL), SCREE_OK);
  assert_int_equal(scree_problem_measure(&p, r, claimed, NULL, &with_claim, NULL), SCREE_OK);
  assert_true(with_claim.eps_motion == 0.5);
  scree_problem_destroy(&p);
}

/* The error that a solve stops by goes four contacts at a time; that of the certificate does not.
 * Contacts on the axis, open ones and magnitudes near the ends of the range are among the fours. */
static void test_measures_in_fours(void **unused) {
  (void)unused;
  unsigned long long seed = 11;
  for (int d = 2; d <= 3; ++d)
    for (int law = 0; law < 2; ++law)
      for (int hostile = 0; hostile < 2; ++hostile) {
        scree_Problem p = small_random_problem(d, 39, 0.6, (unsigned long long)(d + law));
        scree_Operator W;
        scree_Measures all;
        double r[39 * 3], u[39 * 3];
        p.flow = law ? SCREE_ASSOCIATED : SCREE_COULOMB;
        p.mu[5] = p.mu[6] = 0.0; /* 6 is on the axis, and open */
        assert_int_equal(scree_operator_create(&p, 1, NULL, &W), SCREE_OK);
        for (int i = 0; i < 39 * d; ++i) {
          const int c = i / d;
          const double size = hostile && c % 7 == 0 ? 1e-170 : 1.0;
          const bool axis = c % 5 == 1 && i % d > 0;
          r[i] = axis ? 0.0 : size * (2.0 * small_random(&seed) - 1.0);
          u[i] = axis ? 0.0 : size * (2.0 * small_random(&seed) - 1.0);
        }
        r[6 * d] = -0.5;
        u[6 * d] = 0.5;
        scree_measure_all(&W, r, u, NULL, &all);
        const double error = scree_measure_value(&W, SCREE_MEASURE_ERROR, r, u),
                     siconos = scree_measure_value(&W, SCREE_MEASURE_SICONOS, r, u);
        assert_true(all.error > 0.0 && fabs(error - all.error) <= 1e-14 * all.error);
        assert_true(fabs(siconos - all.error_siconos) <= 1e-14 * all.error_siconos);
        assert_true(scree_measure_value(&W, SCREE_MEASURE_BOTH, r, u) == fmax(error, siconos));
        u[17 * d] = NAN;
        assert_true(isnan(scree_measure_value(&W, SCREE_MEASURE_ERROR, r, u)));
        scree_operator_destroy(&W);
        scree_problem_destroy(&p);
      }
}

/* ---- exact local solutions --------------------------------------------------------------------
 */

static void random_block(int d, double condition, double asymmetry, unsigned long long *seed,
                         double *W) {
  double A[9];
  for (int i = 0; i < d * d; ++i) A[i] = small_random(seed);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      W[i * d + j] = i == j ? 1.0 / condition : 0.0;
      for (int k = 0; k < d; ++k)
        W[i * d + j] += A[i * d + k] * A[j * d + k] * (k ? 1.0 : 1.0 / condition);
    }
  for (int i = 0; i < d * d; ++i) W[i] *= 1.0 + asymmetry * small_random(seed);
}

static void test_exact_on_random_contacts(void **unused) {
  (void)unused;
  const double mus[] = {0.0, 0.1, 0.3, 1.0, 2.0};
  const scree_SetKind kinds[] = {SCREE_SET_CONE, SCREE_SET_SHIFTED, SCREE_SET_HALF_LINE,
                                 SCREE_SET_SPACE};
  unsigned long long seed = 2024;
  for (int trial = 0; trial < 20000; ++trial) {
    const int d = 2 + trial % 2;
    const double condition = trial % 3 == 0 ? 1e6 : 10.0;
    const scree_Flow law = trial % 5 ? SCREE_COULOMB : SCREE_ASSOCIATED;
    double W[9], q[3], r[3], u[3], old[3] = {0.5, 0.1, -0.2};
    random_block(d, condition, law == SCREE_COULOMB && trial % 7 == 0 ? 0.01 / condition : 0.0,
                 &seed, W);
    for (int i = 0; i < d; ++i) q[i] = small_random(&seed);
    const scree_Set set = {.kind = kinds[trial / 2 % 4],
                           .mu = mus[trial % 5 == 0 ? trial / 5 % 5 : trial % 5],
                           .a = 0.3};
    scree_exact_solve(&set, law, d, W, q, old, r);
    double trace = 0.0, map2 = 0.0, size = 0.0, z[3], ut = 0.0;
    for (int i = 0; i < d; ++i) {
      trace += W[i * d + i] / d;
      u[i] = q[i];
      for (int j = 0; j < d; ++j) u[i] += W[i * d + j] * r[j];
      if (i) ut += u[i] * u[i];
      size = fmax(size, fmax(fabs(r[i]), fabs(q[i]) / trace));
    }
    const bool slides = law == SCREE_COULOMB && set.kind <= SCREE_SET_CAPPED;
    for (int i = 0; i < d; ++i) z[i] = r[i] - u[i] / trace;
    if (slides) z[0] -= set.mu * sqrt(ut) / trace;
    scree_set_project(&set, d, z, z);
    for (int i = 0; i < d; ++i) map2 += (r[i] - z[i]) * (r[i] - z[i]);
    /* round-off of u is eps |W||r|: ill-conditioned blocks have large r */
    if (!(sqrt(map2) <= 1e-12 * size))
      fail_msg("trial %d (%dD, kind %d, mu %g): natural map %g of %g", trial, d, (int)set.kind,
               set.mu, sqrt(map2), size);
  }
}

static void test_exact_on_hostile_contacts(void **unused) {
  (void)unused;
  const double zero[9] = {0}, rank1[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const double flat[9] = {1, 0, 0, 0, 0, 0, 0, 0, 0}, blind[9] = {0, 0, 0, 0, 1, 0, 0, 0, 1};
  const double *blocks[] = {zero, rank1, flat, blind};
  const double scales[] = {1e-150, 1e-20, 1.0, 1e20, 1e150};
  const double values[] = {-1.0, 0.0, 1.0};
  for (int b = 0; b < 4; ++b)
    for (int s = 0; s < 5; ++s)
      for (int k = 0; k < 27; ++k)
        for (int law = SCREE_COULOMB; law <= SCREE_ASSOCIATED; ++law)
          for (int kind = 0; kind < SCREE_SET_KINDS; ++kind) {
            const double q[3] = {scales[s] * values[k % 3], scales[s] * values[k / 3 % 3],
                                 scales[s] * values[k / 9]};
            const double old[3] = {0, 0, 0};
            const scree_Set set = {(scree_SetKind)kind, 0.5, scales[s], 2 * scales[s]};
            double r[3];
            scree_exact_solve(&set, (scree_Flow)law, 3, blocks[b], q, old, r);
            for (int i = 0; i < 3; ++i) assert_true(isfinite(r[i]));
          }
}

/* ---- colouring and threads --------------------------------------------------------------------
 */

static void check_colouring(const scree_Problem *p) {
  scree_Operator W;
  scree_Colouring colouring;
  assert_int_equal(scree_operator_create(p, 1, NULL, &W), SCREE_OK);
  scree_Arena arena = {0};
  assert_int_equal(scree_colouring_create(&W, &arena, &colouring, NULL), SCREE_OK);
  int *seen = calloc((size_t)p->nc, sizeof *seen), *colour = calloc((size_t)p->nc, sizeof *colour);
  for (int k = 0; k < colouring.colours; ++k)
    for (int i = colouring.start[k]; i < colouring.start[k + 1]; ++i) {
      ++seen[colouring.order[i]];
      colour[colouring.order[i]] = colouring.serial[k] ? -1 : k;
    }
  for (int c = 0; c < p->nc; ++c) assert_int_equal(seen[c], 1);
  for (int c = 0; c < p->nc; ++c) {
    if (colour[c] < 0) continue;
    if (p->kind == SCREE_BODIES) {
      for (int side = 0; side < 2; ++side) {
        const int b = p->bodies.body[2 * c + side];
        for (size_t e = b < 0 ? 0 : W.body_row[b]; b >= 0 && e < W.body_row[b + 1]; ++e)
          assert_true(W.body_entry[e] / 2 == c || colour[W.body_entry[e] / 2] != colour[c]);
      }
    } else {
      for (size_t k = p->blocks.row[c]; k < p->blocks.row[c + 1]; ++k)
        assert_true(p->blocks.col[k] == c || colour[p->blocks.col[k]] != colour[c]);
    }
  }
  free(seen);
  free(colour);
  scree_arena_fini(&arena);
  scree_operator_destroy(&W);
}

static void test_colouring(void **unused) {
  (void)unused;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p, assembled;
    assert_int_equal(packing_create(d, 3000, 0.3, &p, NULL), 0);
    check_colouring(&p);
    assert_int_equal(scree_problem_assemble(&p, &assembled, NULL), SCREE_OK);
    check_colouring(&assembled);
    scree_problem_destroy(&assembled);
    /* one body under all others: a hub */
    for (int c = 0; c < p.nc; ++c)
      if (p.bodies.body[2 * c] != 0 && c % 3 == 0) p.bodies.body[2 * c + 1] = 0;
    check_colouring(&p);
    scree_problem_destroy(&p);
  }
}

#ifdef SCREE_SHORT_TESTS
enum { ITERATIONS = 4 };
#else
enum { ITERATIONS = 12 };
#endif

/* Every solver gives the same bits with one and with three threads. */
static void test_threads(void **unused) {
  (void)unused;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p;
    assert_int_equal(packing_create(d, 4000, 0.3, &p, NULL), 0);
    const size_t n = (size_t)(p.nc * d);
    double *r[2], *u = calloc(n, sizeof *u);
    for (int k = 0; k < 2; ++k) r[k] = calloc(n, sizeof(double));
    for (int k = 0; scree_solver_class(k); ++k) {
      p.flow = scree_solver_class_capabilities(scree_solver_class(k)) & SCREE_CAN_COULOMB
                   ? SCREE_COULOMB
                   : SCREE_ASSOCIATED;
      scree_SolveInfo info[2];
      for (int run = 0; run < 2; ++run) {
        scree_SolveSettings settings = scree_solve_settings();
        settings.solver = scree_solver_class_name(scree_solver_class(k));
        settings.tolerance = 1e-12;
        settings.max_iterations = ITERATIONS;
        settings.threads = run ? 3 : 1;
        scree_solve(&p, &settings, r[run], u, &info[run], NULL);
      }
      if (memcmp(r[0], r[1], n * sizeof(double)) != 0)
        fail_msg("%s: other bits with three threads (%dD)",
                 scree_solver_class_name(scree_solver_class(k)), d);
      assert_memory_equal(&info[0].measures, &info[1].measures, sizeof info[0].measures);
    }
    free(r[0]);
    free(r[1]);
    free(u);
    scree_problem_destroy(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forms_agree),
      cmocka_unit_test(test_contact_kernels),
      cmocka_unit_test(test_checks),
      cmocka_unit_test(test_hand_solutions),
      cmocka_unit_test(test_hand_measures),
      cmocka_unit_test(test_measures_in_fours),
      cmocka_unit_test(test_exact_on_random_contacts),
      cmocka_unit_test(test_exact_on_hostile_contacts),
      cmocka_unit_test(test_colouring),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
