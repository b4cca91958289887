/* Long vectors: against plain loops in long double, the same bits for any number of threads, and
 * norms whose squares do not fit. */
#include "math/vector.h"

#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { LONGEST = 100003 };

static const size_t lengths[] = {0,   1,   7,   8,    9,    63,    64,     65,
                                 511, 512, 513, 8191, 8192, 40961, LONGEST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static double *random_array(uint64_t seed) {
  double *x = SCREE_ALLOC(double, LONGEST);
  assert_non_null(x);
  for (size_t i = 0; i < LONGEST; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    x[i] = (double)(int64_t)seed * 0x1p-63;
  }
  return x;
}

/* The pieces cover everything once, in order, and do not depend on anything but the length. */
static void test_chunks(void **state) {
  (void)state;
  for (size_t n = 0; n < 3000; ++n) {
    size_t next = 0;
    for (int chunk = 0; chunk < SCREE_CHUNKS; ++chunk) {
      size_t begin, end;
      scree_chunk(n, chunk, &begin, &end);
      assert_true(begin == next && end >= begin && end <= n);
      next = end;
    }
    assert_true(next == n);
  }
}

static void test_sums(void **state) {
  (void)state;
  double *x = random_array(1), *y = random_array(2);
  for (int k = 0; k < LENGTHS; ++k) {
    const size_t n = lengths[k];
    long double xy = 0.0L, xx = 0.0L, distance = 0.0L, size = 0.0L;
    for (size_t i = 0; i < n; ++i) {
      const long double a = x[i], b = y[i];
      xy += a * b;
      size += fabsl(a * b);
      xx += a * a;
      distance += (a - b) * (a - b);
    }
    assert_true(fabsl(scree_vector_dot(n, x, y, 2) - xy) <= 100 * DBL_EPSILON * size);
    assert_true(fabsl(scree_vector_norm(n, x, 2) - sqrtl(xx)) <= 100 * DBL_EPSILON * sqrtl(xx));
    assert_true(fabsl(scree_vector_distance(n, x, y, 2) - sqrtl(distance)) <=
                100 * DBL_EPSILON * sqrtl(distance));
  }
  scree_free(x);
  scree_free(y);
}

static void test_same_bits(void **state) {
  (void)state;
  double *x = random_array(3), *y = random_array(4);
  for (int k = 0; k < LENGTHS; ++k) {
    const size_t n = lengths[k];
    const double dot = scree_vector_dot(n, x, y, 1), norm = scree_vector_norm(n, x, 1);
    const double distance = scree_vector_distance(n, x, y, 1);
    for (int threads = 2; threads <= 7; ++threads) {
      assert_true(scree_vector_dot(n, x, y, threads) == dot);
      assert_true(scree_vector_norm(n, x, threads) == norm);
      assert_true(scree_vector_distance(n, x, y, threads) == distance);
    }
  }
  scree_free(x);
  scree_free(y);
}

static void test_updates(void **state) {
  (void)state;
  double *x = random_array(5), *y = random_array(6), *out = random_array(7),
         *copy = random_array(5);
  for (int k = 0; k < LENGTHS; ++k) {
    const size_t n = lengths[k];
    scree_vector_combine(n, 2.0, x, -0.5, y, out, 2);
    for (size_t i = 0; i < n; ++i) assert_true(out[i] == 2.0 * x[i] + -0.5 * y[i]);
    scree_vector_combine(n, 3.0, x, 0.0, NULL, out, 2);
    for (size_t i = 0; i < n; ++i) assert_true(out[i] == 3.0 * x[i]);
    memcpy(copy, x, n * sizeof *x);
    scree_vector_combine(n, 1.0, copy, 1.0, y, copy, 2); /* in place */
    for (size_t i = 0; i < n; ++i) assert_true(copy[i] == x[i] + y[i]);
    scree_vector_copy(n, x, out, 2);
    assert_true(n == 0 || memcmp(out, x, n * sizeof *x) == 0);
  }
  scree_free(x);
  scree_free(y);
  scree_free(out);
  scree_free(copy);
}

static void test_extremes(void **state) {
  (void)state;
  const double big[] = {3e200, 4e200}, small[] = {3e-200, -4e-200}, zero[] = {0.0, 0.0};
  const double bad[] = {NAN, 1.0}, endless[] = {INFINITY, 1.0};
  assert_true(fabs(scree_vector_norm(2, big, 1) / 5e200 - 1.0) < 4 * DBL_EPSILON);
  assert_true(fabs(scree_vector_norm(2, small, 1) / 5e-200 - 1.0) < 4 * DBL_EPSILON);
  assert_true(fabs(scree_vector_distance(2, zero, small, 1) / 5e-200 - 1.0) < 4 * DBL_EPSILON);
  assert_true(scree_vector_norm(2, zero, 1) == 0.0);
  assert_true(isnan(scree_vector_norm(2, bad, 1)));
  assert_true(isinf(scree_vector_norm(2, endless, 1)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chunks),    cmocka_unit_test(test_sums),
      cmocka_unit_test(test_same_bits), cmocka_unit_test(test_updates),
      cmocka_unit_test(test_extremes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
