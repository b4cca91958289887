/* Convergence of sequences and series (src/run/converge*.c) on made-up numbers whose orders,
 * limits, means and errors are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/converge.h"

#include <math.h>
#include <string.h>

enum { W = SCREE_CONVERGE_WINDOWS, LEVELS = SCREE_CONVERGE_LEVELS };

static const double limits[W] = {1, -2, 3, 0.5, 0, 2, 7, -1, 4, 0.1};
static const double slopes[W] = {0.3, 0.1, -0.2, 0.5, 0.05, -0.4, 0.2, 0.1, 0.3, -0.1};

/* limit + slope h^p at h = 1, 1/2, 1/4, ... */
static void fill(double order, int levels, double *values) {
  for (int k = 0; k < levels; ++k)
    for (int i = 0; i < W; ++i) values[k * W + i] = limits[i] + slopes[i] * pow(0.5, order * k);
}

static uint32_t seed;
static double noise(void) {
  seed = seed * 1664525u + 1013904223u;
  return seed / 4294967296.0 - 0.5;
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void test_exact_orders(void **state) {
  (void)state;
  const double orders[] = {0.6, 1.0, 1.5, 2.0, 3.0};
  for (size_t o = 0; o < sizeof orders / sizeof *orders; ++o)
    for (int levels = 3; levels <= LEVELS; ++levels) {
      double values[LEVELS * W], limit[W], errors[LEVELS];
      fill(orders[o], levels, values);
      const double order = scree_converge_order(values, levels, W, 0.0);
      assert_true(fabs(order - orders[o]) < 1e-9);
      scree_converge_limit(values, levels, W, order, limit);
      for (int i = 0; i < W; ++i) assert_true(fabs(limit[i] - limits[i]) < 1e-9);
      scree_converge_errors(values, limit, levels, W, 1, errors);
      for (int k = 0; k < levels; ++k)
        assert_true(fabs(errors[k] - 0.5 * pow(0.5, orders[o] * k)) < 1e-9);
    }
}

/* One number, as a summary of a run would be. */
static void test_scalar(void **state) {
  (void)state;
  const double falling[] = {1.4, 1.2, 1.1}, crossing[] = {1.4, 1.0, 1.2}, growing[] = {1, 1.1, 1.3};
  double limit;
  assert_true(fabs(scree_converge_order(falling, 3, 1, 0) - 1.0) < 1e-12);
  scree_converge_limit(falling, 3, 1, 1.0, &limit);
  assert_true(fabs(limit - 1.0) < 1e-12);
  assert_true(isnan(scree_converge_order(crossing, 3, 1, 0)));
  assert_true(isnan(scree_converge_order(growing, 3, 1, 0)));
  assert_true(isnan(scree_converge_order(falling, 2, 1, 0)));
  assert_true(isnan(scree_converge_order(falling, 3, 0, 0)));
}

static void test_no_order(void **state) {
  (void)state;
  double values[3 * W], errors[3];
  /* constant, and zero */
  for (int i = 0; i < 3 * W; ++i) values[i] = limits[i % W];
  assert_true(isnan(scree_converge_order(values, 3, W, 0.0)));
  scree_converge_errors(values, NULL, 3, W, 1, errors);
  assert_true(errors[0] == 0.0 && errors[2] == 0.0);
  memset(values, 0, sizeof values);
  assert_true(isnan(scree_converge_order(values, 3, W, 0.0)));
  /* oscillating about the limit */
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < W; ++i) values[k * W + i] = limits[i] + slopes[i] * pow(-0.5, k);
  assert_true(isnan(scree_converge_order(values, 3, W, 0.0)));
  /* first order, but below the noise */
  fill(1.0, 3, values);
  assert_true(isnan(scree_converge_order(values, 3, W, 0.2)));
  assert_true(fabs(scree_converge_order(values, 3, W, 0.01) - 1.0) < 1e-9);
  /* no convergence: equal differences */
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < W; ++i) values[k * W + i] = slopes[i] * k;
  assert_true(isnan(scree_converge_order(values, 3, W, 0.0)));
}

/* Independent noise at each level hardly ever looks like an order. */
static void test_noise(void **state) {
  (void)state;
  int found = 0;
  seed = 7;
  for (int trial = 0; trial < 1000; ++trial) {
    double values[3 * W];
    for (int i = 0; i < 3 * W; ++i) values[i] = noise();
    found += !isnan(scree_converge_order(values, 3, W, 0.0));
  }
  assert_true(found < 5);
  /* and a little of it does not hide one */
  for (int trial = 0; trial < 100; ++trial) {
    double values[3 * W];
    fill(1.0, 3, values);
    for (int i = 0; i < 3 * W; ++i) values[i] += 0.02 * noise();
    const double order = scree_converge_order(values, 3, W, 0.0);
    assert_true(fabs(order - 1.0) < 0.3);
  }
}

/* Without a limit: the spread of a level and all finer ones. */
static void test_spread(void **state) {
  (void)state;
  const double values[] = {0, 5, 1, 5.2, 1.1, 5.5}; /* 3 levels of 2 windows */
  double errors[3];
  scree_converge_errors(values, NULL, 3, 2, 1, errors);
  assert_true(fabs(errors[0] - 1.1) < 1e-12);
  assert_true(fabs(errors[1] - 0.3) < 1e-12 && errors[2] == errors[1]);
  /* of one window with two bins: the mean over the bins */
  assert_true(fabs(scree_converge_distance(values, values + 2, 2, 2) - 0.6) < 1e-12);
  assert_true(fabs(scree_converge_distance(values, values + 2, 2, 1) - 1.0) < 1e-12);
}

/* ---- means over intervals -------------------------------------------------------------------- */

static void test_means(void **state) {
  (void)state;
  double t[41], y[41], means[4];
  /* t^2 by straight lines: exact to the second order, and exactly so for a line */
  for (int k = 0; k <= 40; ++k) t[k] = 0.05 * k, y[k] = 3.0 * t[k] - 1.0;
  scree_converge_means(t, y, 41, false, 2.0, 4, means);
  for (int k = 0; k < 4; ++k) assert_true(fabs(means[k] - (3.0 * (0.25 + 0.5 * k) - 1.0)) < 1e-12);
  /* an end within a step */
  scree_converge_means(t, y, 41, false, 1.03, 2, means);
  assert_true(fabs(means[1] - (3.0 * 0.75 * 1.03 - 1.0)) < 1e-12);
  /* rates: each holds for the step that ends with it */
  for (int k = 0; k <= 40; ++k) y[k] = k % 2;
  scree_converge_means(t + 1, y + 1, 40, true, 2.0, 4, means);
  for (int k = 0; k < 4; ++k) assert_true(fabs(means[k] - 0.5) < 1e-12);
  scree_converge_means(t + 1, y + 1, 40, true, 0.2, 4, means);
  assert_true(fabs(means[0] - 1.0) < 1e-9 && fabs(means[1]) < 1e-9);
  /* more intervals than samples, and a series that ends before the end */
  const double few_t[] = {0.5, 1.0}, few_y[] = {2.0, 4.0};
  scree_converge_means(few_t, few_y, 2, false, 2.0, 4, means);
  assert_true(fabs(means[0] - 2.0) < 1e-12 && fabs(means[1] - 3.0) < 1e-12);
  assert_true(fabs(means[2] - 4.0) < 1e-12 && fabs(means[3] - 4.0) < 1e-12);
  scree_converge_means(few_t, few_y, 0, false, 2.0, 4, means);
  assert_true(isnan(means[0]) && isnan(means[3]));
}

static void test_means_of_gaps(void **state) {
  (void)state;
  double t[41], y[41], means[4];
  for (int k = 0; k <= 40; ++k) t[k] = 0.05 * k, y[k] = k > 25 ? NAN : 1.0;
  scree_converge_means(t, y, 41, false, 2.0, 4, means);
  assert_true(fabs(means[0] - 1.0) < 1e-12 && fabs(means[1] - 1.0) < 1e-12);
  assert_true(isnan(means[2]) && isnan(means[3]));
}

/* ---- single bodies --------------------------------------------------------------------------- */

static void test_divergence(void **state) {
  (void)state;
  double times[8], wide[8], near[8];
  scree_ConvergeBodies bodies = {.frames = 8, .times = times, .distance = {wide, near}};
  for (int f = 0; f < 8; ++f) times[f] = f, wide[f] = 0.02 * f, near[f] = 0.01 * f;
  scree_converge_divergence(&bodies, 3);
  assert_true(isnan(bodies.diverge) && !bodies.chaotic && fabs(bodies.largest - 0.07) < 1e-12);
  /* apart, but half as far with half of the step: too coarse, not chaotic */
  for (int f = 0; f < 8; ++f) wide[f] = 0.1 * f, near[f] = 0.05 * f;
  scree_converge_divergence(&bodies, 3);
  assert_true(bodies.diverge == 3.0 && !bodies.chaotic);
  /* apart for a while, then together again */
  near[6] = near[7] = 0.01;
  scree_converge_divergence(&bodies, 3);
  assert_true(isnan(bodies.diverge) && !bodies.chaotic);
  /* chaotic */
  for (int f = 0; f < 8; ++f) wide[f] = near[f] = 0.001 * exp2(f + 2);
  scree_converge_divergence(&bodies, 3);
  assert_true(bodies.diverge == 5.0 && bodies.chaotic);
  /* frames without bodies */
  near[0] = near[7] = NAN;
  scree_converge_divergence(&bodies, 3);
  assert_true(bodies.diverge == 5.0 && bodies.chaotic);
  bodies.frames = 0;
  scree_converge_divergence(&bodies, 3);
  assert_true(isnan(bodies.diverge) && !bodies.chaotic);
}

/* ---- advice ---------------------------------------------------------------------------------- */

static void test_advice(void **state) {
  (void)state;
  const double small[] = {0.004, 0.002, 0.001}, large[] = {0.04, 0.02, 0.01};
  const double uneven[] = {0.03, 0.008, 0.008}, rough[] = {0.05, 0.04, 0.04};
  const double none[] = {0, 0, 0};
  scree_ConvergeError e[] = {{small, 3, 1.0, 0.0, true}, {none, 3, NAN, 1e-4, true}};
  scree_ConvergeAdvice a = scree_converge_advise(e, 2, 0.01, false);
  assert_true(a.within && a.worst == 0 && a.worst_tolerance == 1 && a.tolerance == 1.0);
  assert_true(a.step == 2.0 && a.limiting == -1 && a.duration == 1.0); /* never more than doubled */
  a = scree_converge_advise(e, 2, 0.005, false);
  assert_true(a.within && fabs(a.step - 1.25) < 1e-12 && a.limiting == 0);
  /* first order: a quarter of the step; second order is not trusted to need less */
  e[0] = (scree_ConvergeError){large, 3, 1.0, 0.0, true};
  a = scree_converge_advise(e, 2, 0.01, false);
  assert_true(!a.within && fabs(a.step - 0.25) < 1e-12 && a.limiting == 0);
  e[0].order = 2.0;
  assert_true(fabs(scree_converge_advise(e, 2, 0.01, false).step - 0.25) < 1e-12);
  e[0].order = 0.5;
  assert_true(fabs(scree_converge_advise(e, 2, 0.01, false).step - 0.0625) < 1e-12);
  /* not judged */
  e[0].judged = false;
  a = scree_converge_advise(e, 2, 0.01, false);
  assert_true(a.within && a.worst == 1);
  /* no order: a step that was run, or none */
  e[0] = (scree_ConvergeError){uneven, 3, NAN, 0.0, true};
  a = scree_converge_advise(e, 2, 0.01, false);
  assert_true(!a.within && a.step == 0.5);
  e[0].errors = rough;
  a = scree_converge_advise(e, 2, 0.01, false);
  assert_true(!a.within && isnan(a.step) && a.limiting == 0);
  /* the same where motion is chaotic: longer, five times the error squared */
  a = scree_converge_advise(e, 2, 0.01, true);
  assert_true(!a.within && a.step == 1.0 && fabs(a.duration - 25.0) < 1e-9);
  /* the tolerance: in proportion, unless it is as good as scatter */
  e[0] = (scree_ConvergeError){small, 3, 1.0, 0.05, true};
  a = scree_converge_advise(e, 2, 0.01, false);
  assert_true(!a.within && fabs(a.tolerance - 0.2) < 1e-12 && a.worst_tolerance == 0);
  e[0] = (scree_ConvergeError){rough, 3, NAN, 0.05, true};
  assert_true(scree_converge_advise(e, 2, 0.01, true).tolerance == 1.0);
  /* nothing to judge */
  a = scree_converge_advise(e, 0, 0.01, false);
  assert_true(a.within && a.worst == -1 && a.worst_tolerance == -1);
}

/* ---- several starts -------------------------------------------------------------------------- */

enum { STARTS = 12, RUNS = 4, N2 = 2 };

/* Normal, variance 1: the sum of twelve uniform numbers. */
static double normal(void) {
  double sum = 0.0;
  for (int k = 0; k < 12; ++k) sum += noise();
  return sum;
}

/* Starts of their own (own[s]), a first-order error of `slope` at h, and the scatter `scatter` of
 * every run besides: what a chaotic scene gives. The tolerance changes nothing. */
static void fill_starts(double slope, double order, double scatter, double *values) {
  for (int s = 0; s < STARTS; ++s) {
    const double own = 5.0 * normal();
    for (int r = 0; r < RUNS; ++r)
      for (int i = 0; i < N2; ++i)
        values[(s * RUNS + r) * N2 + i] =
            10.0 * i + own + slope * pow(0.5, order * (r < 3 ? r : 0)) + scatter * normal();
  }
}

static scree_ConvergeStarts judge_starts(const double *values) {
  scree_ConvergeStarts found;
  double work[6 * N2];
  const scree_ConvergeSample sample = {values, STARTS, RUNS, 3, N2, 1};
  scree_converge_over_starts(&sample, work, &found);
  return found;
}

static void test_student(void **state) {
  (void)state;
  /* tables of the t distribution, two-sided 99 % */
  assert_true(fabs(scree_converge_student(5) - 4.604) < 1e-3);
  assert_true(fabs(scree_converge_student(31) - 2.750) < 1e-3);
  assert_true(fabs(scree_converge_student(41) - 2.704) < 5e-3);
  assert_true(fabs(scree_converge_student(121) - 2.617) < 5e-3);
  for (int n = 3; n < 200; ++n)
    assert_true(scree_converge_student(n) < scree_converge_student(n - 1));
  assert_true(isinf(scree_converge_student(1)));
}

static void test_starts_without_scatter(void **state) {
  (void)state;
  double values[STARTS * RUNS * N2];
  seed = 5;
  for (int o = 1; o <= 2; ++o) { /* own values of the starts do not hide the order */
    fill_starts(0.3, o, 0.0, values);
    const scree_ConvergeStarts found = judge_starts(values);
    assert_true(fabs(found.order - o) < 1e-9 && found.order_deviation < 1e-9);
    assert_true(fabs(found.step.error - 0.3) < 1e-9 && found.step.deviation < 1e-9);
    for (int k = 0; k < 3; ++k) assert_true(fabs(found.errors[k] - 0.3 * pow(0.5, o * k)) < 1e-9);
    assert_true(found.tolerance.error < 1e-12 && found.scatter > 2.5);
  }
}

/* Four hundred made-up scenes: the bounds hold the true error in 99 % of them, the standard error
 * is the scatter of the estimates, and no order is reported that is not there. */
static void test_starts_with_scatter(void **state) {
  (void)state;
  enum { TRIALS = 400 };
  const double slope = 0.3, scatter = 0.2;
  double values[STARTS * RUNS * N2], deviation = 0.0;
  int outside = 0, below = 0, told = 0, wrong = 0, quiet_outside = 0;
  seed = 11;
  for (int trial = 0; trial < TRIALS; ++trial) {
    fill_starts(slope, 1.0, scatter, values);
    scree_ConvergeStarts found = judge_starts(values);
    /* Of the two windows the bounds are those of the worse one, and the lower one of the better
     * one: they hold a little more often than 99 %. */
    outside += found.step.high < slope || found.step.low > slope;
    below += found.step.low > 0.0;
    deviation += found.step.deviation / TRIALS;
    if (!isnan(found.order)) {
      ++told;
      wrong += fabs(found.order - 1.0) > 3.0 * fmax(found.order_deviation, 0.1);
    }
    fill_starts(0.0, 1.0, scatter, values);
    found = judge_starts(values);
    quiet_outside += found.step.low > 0.0;
    wrong += !isnan(found.order) && found.order_deviation < 0.2;
  }
  /* 4/3 of a difference of two runs: variance 2 scatter^2 (16 / 9) / STARTS */
  const double expected = 4.0 / 3.0 * sqrt(2.0 / STARTS) * scatter;
  assert_true(outside <= 12);       /* 4 to 8 expected */
  assert_true(quiet_outside <= 16); /* two windows, two sides: 8 expected */
  assert_true(below > TRIALS / 2);  /* an error of three standard errors is mostly seen */
  assert_true(fabs(deviation - expected) < 0.15 * expected);
  assert_true(told < TRIALS && wrong <= TRIALS / 50);
}

static void test_advice_of_starts(void **state) {
  (void)state;
  const scree_ConvergeBounds nothing = {0};
  scree_ConvergeOpinion o[2] = {{{0.002, 0.0005, 0.0, 0.004}, nothing, NAN, true},
                                {{0.05, 0.001, 0.04, 0.06}, nothing, NAN, false}};
  scree_ConvergeAdvice a = scree_converge_advise_starts(o, 2, 0.01, 8);
  assert_true(a.within && a.worst == 0 && a.step == 2.0 && a.starts == 0 && a.open == -1);
  /* shown to be above: first order */
  o[1].judged = true;
  a = scree_converge_advise_starts(o, 2, 0.01, 8);
  assert_true(!a.within && a.worst == 1 && fabs(a.step - 0.2) < 1e-12 && a.limiting == 1);
  /* not told: the step stays, and starts are asked for: (0.016 / 0.006)^2 times as many */
  o[1].step = (scree_ConvergeBounds){0.004, 0.005, 0.0, 0.020};
  a = scree_converge_advise_starts(o, 2, 0.01, 8);
  assert_true(!a.within && a.step == 1.0 && a.starts == 57 && a.open == 1);
  /* near the accuracy it need not be told from it */
  o[1].step.error = 0.0099;
  assert_true(scree_converge_advise_starts(o, 2, 0.01, 8).starts < 200);
  /* the tolerance in the same way */
  o[1] = (scree_ConvergeOpinion){nothing, {0.05, 0.001, 0.04, 0.06}, NAN, true};
  a = scree_converge_advise_starts(o, 2, 0.01, 8);
  assert_true(!a.within && fabs(a.tolerance - 0.2) < 1e-12 && a.worst_tolerance == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_student),
      cmocka_unit_test(test_starts_without_scatter),
      cmocka_unit_test(test_starts_with_scatter),
      cmocka_unit_test(test_advice_of_starts),
      cmocka_unit_test(test_exact_orders),
      cmocka_unit_test(test_scalar),
      cmocka_unit_test(test_no_order),
      cmocka_unit_test(test_noise),
      cmocka_unit_test(test_spread),
      cmocka_unit_test(test_means),
      cmocka_unit_test(test_means_of_gaps),
      cmocka_unit_test(test_divergence),
      cmocka_unit_test(test_advice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
