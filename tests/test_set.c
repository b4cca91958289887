/* Projections on the sets: p = P_Y(x) is the projection exactly when p is in Y and
 * (x - p).(z - p) <= 0 for every z in Y. Points of Y for the test are made without the projection:
 * from the set's definition. */
#include "problem/set_inline.h"
#include "scree/problem.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static double random_unit(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static double dot(int d, const double *a, const double *b) {
  double sum = 0.0;
  for (int i = 0; i < d; ++i) sum += a[i] * b[i];
  return sum;
}

static double tangent(int d, const double *x) {
  return d == 2 ? fabs(x[1]) : hypot(x[1], x[2]);
}

/* A random direction of length `length`. */
static void random_vector(int d, double length, uint64_t *seed, double *x) {
  double norm;
  do {
    for (int i = 0; i < d; ++i) x[i] = 2.0 * random_unit(seed) - 1.0;
    norm = sqrt(dot(d, x, x));
  } while (norm < 1e-3 || norm > 1.0);
  for (int i = 0; i < d; ++i) x[i] *= length / norm;
}

/* A random point of the cone, of size about `size`: inside, on the surface, on the axis, the apex.
 */
static void random_cone(int d, double mu, double size, uint64_t *seed, double *z) {
  double t[3] = {0.0, 0.0, 0.0};
  z[0] = random_unit(seed) < 0.1 ? 0.0 : size * random_unit(seed);
  const double part = random_unit(seed) < 0.5 ? 1.0 : random_unit(seed);
  random_vector(d, 1.0, seed, t);
  const double length = tangent(d, t) > 0.0 ? tangent(d, t) : 1.0;
  for (int i = 1; i < d; ++i) z[i] = mu * z[0] * part * t[i] / length;
}

static void random_member(const scree_Set *set, int d, double size, uint64_t *seed, double *z) {
  double ball[3] = {0.0, 0.0, 0.0};
  random_vector(d, random_unit(seed) < 0.5 ? set->a : set->a * random_unit(seed), seed, ball);
  switch (set->kind) {
  case SCREE_SET_CONE: random_cone(d, set->mu, size, seed, z); return;
  case SCREE_SET_SHIFTED:
    random_cone(d, set->mu, size, seed, z);
    z[0] -= set->a;
    return;
  case SCREE_SET_CONE_BALL:
    random_cone(d, set->mu, size, seed, z);
    for (int i = 0; i < d; ++i) z[i] += ball[i];
    return;
  case SCREE_SET_CAPPED: {
    random_cone(d, set->mu, size, seed, z);
    const double norm = sqrt(dot(d, z, z));
    for (int i = 0; i < d; ++i) z[i] = (norm > set->b ? z[i] * set->b / norm : z[i]) + ball[i];
    return;
  }
  case SCREE_SET_HALF_LINE:
    for (int i = 0; i < d; ++i) z[i] = i ? 0.0 : size * random_unit(seed);
    return;
  case SCREE_SET_BALL: memcpy(z, ball, sizeof ball); return;
  default: random_vector(d, size, seed, z); return;
  }
}

/* How far p is outside the set, from the definition. */
static double outside(const scree_Set *set, int d, const double *p) {
  switch (set->kind) {
  case SCREE_SET_CONE: return fmax(0.0, tangent(d, p) - set->mu * p[0]);
  case SCREE_SET_SHIFTED: return fmax(0.0, tangent(d, p) - set->mu * (p[0] + set->a));
  case SCREE_SET_HALF_LINE: return fmax(tangent(d, p), -p[0]);
  case SCREE_SET_CONE_BALL:
  case SCREE_SET_CAPPED: {
    /* the distance to the inner set, by a slow second method: nearest point on rays of the cone in
     * the plane of p, found by section of the angle */
    const double s = tangent(d, p), half = atan(set->mu);
    double best = INFINITY;
    for (int step = 0; step <= 2000; ++step) {
      const double angle = half * step / 2000.0, c = cos(angle), n = sin(angle);
      double length = fmax(0.0, p[0] * c + s * n);
      if (set->kind == SCREE_SET_CAPPED) length = fmin(length, set->b);
      best = fmin(best, hypot(p[0] - length * c, s - length * n));
    }
    return fmax(0.0, best - set->a);
  }
  case SCREE_SET_BALL: return fmax(0.0, sqrt(dot(d, p, p)) - set->a);
  default: return 0.0;
  }
}

static void check_projection(const scree_Set *set, int d, double size, const double *x,
                             double slack, uint64_t *seed) {
  double p[3] = {0.0, 0.0, 0.0}, again[3];
  scree_set_project(set, d, x, p);
  const double scale = fmax(sqrt(dot(d, x, x)), fmax(set->a, DBL_MIN));
  for (int i = 0; i < d; ++i) assert_true(isfinite(p[i]));
  assert_true(outside(set, d, p) <= slack * (1.0 + set->mu) * scale);
  for (int trial = 0; trial < 20; ++trial) {
    double z[3], product = 0.0, far = 0.0;
    random_member(set, d, size, seed, z);
    for (int i = 0; i < d; ++i) {
      product += (x[i] - p[i]) * (z[i] - p[i]);
      far = fmax(far, fabs(z[i] - p[i]));
    }
    assert_true(product <= 1e-13 * scale * (scale + far) * (1.0 + set->mu));
  }
  scree_set_project(set, d, p, again); /* a projection stays where it is */
  for (int i = 0; i < d; ++i) assert_true(fabs(again[i] - p[i]) <= 1e-13 * scale);
  memcpy(again, x, sizeof again);
  scree_set_project(set, d, again, again); /* in place */
  for (int i = 0; i < d; ++i) assert_true(again[i] == p[i]);
}

static void test_inequality(void **state) {
  (void)state;
  uint64_t seed = 1;
  const double friction[] = {0.0, 1e-9, 0.1, 0.7, 1.0, 30.0};
  for (int d = 2; d <= 3; ++d)
    for (int kind = 0; kind < SCREE_SET_ROLLING; ++kind)
      for (int m = 0; m < 6; ++m)
        for (int trial = 0; trial < 60; ++trial) {
          const scree_Set set = {(scree_SetKind)kind, friction[m], random_unit(&seed),
                                 2.0 * random_unit(&seed)};
          /* members of cone + ball are compared with a search over angles: half its square step */
          const double slack =
              kind == SCREE_SET_CONE_BALL || kind == SCREE_SET_CAPPED ? 1e-5 : 1e-14;
          double x[3] = {0.0, 0.0, 0.0};
          random_vector(d, 3.0 * random_unit(&seed), &seed, x);
          if (trial == 0) memset(x, 0, sizeof x);                /* the apex */
          if (trial == 1 || trial == 2) x[1] = x[2] = 0.0;       /* the axis */
          if (trial == 2) x[0] = -fabs(x[0]);                    /* below the apex */
          if (trial == 3) x[0] = 0.0;                            /* beside it */
          if (trial == 4) random_cone(d, set.mu, 1.0, &seed, x); /* in the cone already */
          check_projection(&set, d, 3.0, x, slack, &seed);
        }
}

/* The projection on a cone commutes with scaling, exactly for powers of two within the range. */
static void test_scales(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (int d = 2; d <= 3; ++d)
    for (int trial = 0; trial < 200; ++trial) {
      double x[3] = {0.0, 0.0, 0.0}, p[3] = {0.0}, large[3] = {0.0}, q[3] = {0.0};
      const double mu = 2.0 * random_unit(&seed);
      random_vector(d, 1.0, &seed, x);
      scree_cone_project(d, mu, x, p);
      const int exponents[] = {-1000, -530, -300, 300, 530, 1000};
      for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < d; ++i) large[i] = ldexp(x[i], exponents[k]);
        scree_cone_project(d, mu, large, q);
        for (int i = 0; i < d; ++i)
          assert_true(fabs(ldexp(q[i], -exponents[k]) - p[i]) <= 4.0 * DBL_EPSILON);
      }
    }
}

static void test_extremes(void **state) {
  (void)state;
  const double values[] = {0.0, -0.0, DBL_TRUE_MIN, -DBL_TRUE_MIN, DBL_MIN,     1e-170,
                           1.0, -1.0, 1e170,        -1e170,        DBL_MAX / 4, -DBL_MAX / 4};
  const double friction[] = {0.0, DBL_TRUE_MIN, 1e-200, 0.5, 1e200, DBL_MAX};
  for (int m = 0; m < 6; ++m)
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 12; ++j)
        for (int k = 0; k < 12; ++k) {
          const double x[3] = {values[i], values[j], values[k]};
          double p[3];
          for (int d = 2; d <= 3; ++d) {
            scree_cone_project(d, friction[m], x, p);
            assert_true(p[0] >= 0.0);
            for (int c = 0; c < d; ++c) assert_true(isfinite(p[c]));
            for (int c = 1; c < d; ++c) assert_true(fabs(p[c]) <= fabs(x[c]));
          }
        }
}

/* mu = 0 is the half-line, a large mu nearly the half-space: hand solutions. */
static void test_limits(void **state) {
  (void)state;
  double p[3];
  scree_cone_project(3, 0.0, (const double[]){2.0, 1.0, -1.0}, p);
  assert_true(p[0] == 2.0 && p[1] == 0.0 && p[2] == 0.0);
  scree_cone_project(3, 0.0, (const double[]){-2.0, 0.0, 0.0}, p);
  assert_true(p[0] == 0.0 && p[1] == 0.0 && p[2] == 0.0);
  scree_cone_project(2, 1.0, (const double[]){0.0, 2.0}, p);
  assert_true(p[0] == 1.0 && p[1] == 1.0);
  scree_cone_project(3, 1e12, (const double[]){-1.0, 3.0, 4.0}, p);
  assert_true(fabs(p[0]) < 1e-10 && fabs(p[1] - 3.0) < 1e-10 && fabs(p[2] - 4.0) < 1e-10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inequality),
      cmocka_unit_test(test_scales),
      cmocka_unit_test(test_extremes),
      cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
