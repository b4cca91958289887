/* Long vectors (see vector.h). */
#include "math/vector.h"

#include "math/simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Eight lanes as four registers of two, available on every x86-64 and ARM processor, so that the
 * order of a sum is the same on all of them. */
typedef scree_Pair Pair;

typedef struct Lanes {
  Pair a, b, c, d;
} Lanes;

static inline Pair load(const double *x) {
  Pair pair;
  memcpy(&pair, x, sizeof pair);
  return pair;
}

/* The lanes of one piece and its last elements (fewer than eight), in one order. */
static inline double sum_lanes(const Lanes *lanes, double rest) {
  const Pair sum = (lanes->a + lanes->b) + (lanes->c + lanes->d);
  return (sum[0] + sum[1]) + rest;
}

static double sum_chunks(const double *partial) {
  double sum = 0.0;
  for (int chunk = 0; chunk < SCREE_CHUNKS; ++chunk) sum += partial[chunk];
  return sum;
}

static double chunk_dot(size_t n, int chunk, const double *x, const double *y) {
  Lanes lanes = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
  size_t i, end;
  scree_chunk(n, chunk, &i, &end);
  for (; i + 8 <= end; i += 8) {
    lanes.a += load(x + i) * load(y + i);
    lanes.b += load(x + i + 2) * load(y + i + 2);
    lanes.c += load(x + i + 4) * load(y + i + 4);
    lanes.d += load(x + i + 6) * load(y + i + 6);
  }
  double rest = 0.0;
  for (; i < end; ++i) rest += x[i] * y[i];
  return sum_lanes(&lanes, rest);
}

static inline Pair square(Pair x) {
  return x * x;
}

static double chunk_distance(size_t n, int chunk, const double *x, const double *y) {
  Lanes lanes = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
  size_t i, end;
  scree_chunk(n, chunk, &i, &end);
  for (; i + 8 <= end; i += 8) {
    lanes.a += square(load(x + i) - load(y + i));
    lanes.b += square(load(x + i + 2) - load(y + i + 2));
    lanes.c += square(load(x + i + 4) - load(y + i + 4));
    lanes.d += square(load(x + i + 6) - load(y + i + 6));
  }
  double rest = 0.0;
  for (; i < end; ++i) rest += (x[i] - y[i]) * (x[i] - y[i]);
  return sum_lanes(&lanes, rest);
}

/* `call` for every piece. OpenMP would also create a team for one thread, and allocate memory for
 * it. */
#define EACH_CHUNK(chunk, n, threads, call)                                                        \
  do {                                                                                             \
    if ((threads) > 1 && (n) >= SCREE_PARALLEL_SIZE) {                                             \
      SCREE_PRAGMA(omp parallel for schedule(static) num_threads(threads))                         \
      for (int chunk = 0; chunk < SCREE_CHUNKS; ++chunk) call;                                     \
    } else {                                                                                       \
      for (int chunk = 0; chunk < SCREE_CHUNKS; ++chunk) call;                                     \
    }                                                                                              \
  } while (0)

double scree_vector_dot(size_t n, const double *x, const double *y, int threads) {
  double partial[SCREE_CHUNKS];
  EACH_CHUNK(chunk, n, threads, partial[chunk] = chunk_dot(n, chunk, x, y));
  return sum_chunks(partial);
}

/* The sum of squares was too large or too small for its root to be right: divide by the largest
 * element first. Rare, so it is not made fast. */
static double norm_scaled(size_t n, const double *x, const double *y) {
  double largest = 0.0;
  for (size_t i = 0; i < n; ++i) largest = fmax(largest, fmax(fabs(x[i]), y ? fabs(y[i]) : 0.0));
  if (!(largest > 0.0) || isinf(largest)) return largest;
  int exponent;
  frexp(largest, &exponent);
  /* a power of two, kept representable: the norm may pass the largest number only if |x| does */
  const int half = exponent / 2;
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) {
    const double z = ldexp(x[i], -exponent) - (y ? ldexp(y[i], -exponent) : 0.0);
    sum += z * z;
  }
  return ldexp(ldexp(sqrt(sum), half), exponent - half);
}

static double root(size_t n, const double *x, const double *y, double sum) {
  if (sum >= DBL_MIN / DBL_EPSILON && sum <= DBL_MAX) return sqrt(sum);
  return isnan(sum) ? sum : norm_scaled(n, x, y);
}

double scree_vector_norm(size_t n, const double *x, int threads) {
  return root(n, x, NULL, scree_vector_dot(n, x, x, threads));
}

double scree_vector_distance(size_t n, const double *x, const double *y, int threads) {
  double partial[SCREE_CHUNKS];
  EACH_CHUNK(chunk, n, threads, partial[chunk] = chunk_distance(n, chunk, x, y));
  return root(n, x, y, sum_chunks(partial));
}

static void chunk_combine(size_t n, int chunk, double a, const double *x, double b, const double *y,
                          double *out) {
  size_t begin, end;
  scree_chunk(n, chunk, &begin, &end);
  if (b == 0.0) {
#pragma omp simd
    for (size_t i = begin; i < end; ++i) out[i] = a * x[i];
  } else {
#pragma omp simd
    for (size_t i = begin; i < end; ++i) out[i] = a * x[i] + b * y[i];
  }
}

void scree_vector_combine(size_t n, double a, const double *x, double b, const double *y,
                          double *out, int threads) {
  EACH_CHUNK(chunk, n, threads, chunk_combine(n, chunk, a, x, b, y, out));
}

static void chunk_copy(size_t n, int chunk, const double *x, double *out) {
  size_t begin, end;
  scree_chunk(n, chunk, &begin, &end);
  memcpy(out + begin, x + begin, (end - begin) * sizeof *x);
}

void scree_vector_copy(size_t n, const double *x, double *out, int threads) {
  EACH_CHUNK(chunk, n, threads, chunk_copy(n, chunk, x, out));
}
