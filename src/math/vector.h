/* Long vectors: sums and updates that give the same bits for any number of threads.
 *
 * A vector is cut into SCREE_CHUNKS pieces whose borders depend on its length alone. A sum adds
 * each piece in eight interleaved lanes (no chain of dependent additions, and suited to vector
 * registers), the lanes in one order, and the pieces in ascending order. Threads only decide which
 * of them adds which piece. Short vectors stay on the calling thread: starting a team costs more
 * than they do. Fused passes over several vectors are written by the caller over the same pieces:
 *
 *     SCREE_OVER_CHUNKS(chunk, n, threads) {
 *       size_t begin, end;
 *       scree_chunk(n, chunk, &begin, &end);
 *       ...
 *     } */
#ifndef SCREE_MATH_VECTOR_H
#define SCREE_MATH_VECTOR_H

#include <stddef.h>

enum {
  SCREE_CHUNKS = 64,         /* pieces of a vector */
  SCREE_PARALLEL_SIZE = 8192 /* doubles below which a pass stays on one thread */
};

#define SCREE_PRAGMA(text) _Pragma(#text)

/* A parallel loop over the pieces of something of `n` elements that costs about as much as one pass
 * over n doubles. */
#define SCREE_OVER_CHUNKS(chunk, n, threads)                                                       \
  SCREE_PRAGMA(omp parallel for schedule(static) num_threads(threads)                              \
               if ((threads) > 1 && (n) >= SCREE_PARALLEL_SIZE))                                   \
  for (int chunk = 0; chunk < SCREE_CHUNKS; ++chunk)

/* Piece `chunk` of n elements: begin .. end-1. All but the last few are multiples of eight long. */
static inline void scree_chunk(size_t n, int chunk, size_t *begin, size_t *end) {
  const size_t length = (n / SCREE_CHUNKS + 8) / 8 * 8;
  *begin = (size_t)chunk * length < n ? (size_t)chunk * length : n;
  *end = *begin + length < n ? *begin + length : n;
}

/* sum x[i] y[i] */
double scree_vector_dot(size_t n, const double *x, const double *y, int threads);

/* |x|, also when the squares overflow or underflow */
double scree_vector_norm(size_t n, const double *x, int threads);

/* |x - y| */
double scree_vector_distance(size_t n, const double *x, const double *y, int threads);

/* out = a x + b y; `out` may be x or y. Without y when b is 0. */
void scree_vector_combine(size_t n, double a, const double *x, double b, const double *y,
                          double *out, int threads);

void scree_vector_copy(size_t n, const double *x, double *out, int threads);

#endif
