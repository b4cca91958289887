/* Dense kernels of the sparse factorisation (see dense.h).
 *
 * All heavy work goes through one register block, `block_48`: a 4 x 8 block of c in eight registers
 * of four lanes, from which products of a row of a tile with four numbers are subtracted. It does
 * 64 operations for 6 loads. The functions that contain it are compiled twice, for AVX2 and for the
 * baseline; multiplication and addition stay separate, so both give the same bits. */
#include "math/dense.h"

#include "math/simd.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum {
  TILE = SCREE_TILE,
  ROWS = 96 /* rows of c per pass: their left factors stay in the cache */
};

SCREE_INLINE int round_up4(int n) {
  return (n + 3) & ~3;
}

/* Four rows of eight columns. */
typedef struct Block {
  scree_Lane a0, a1, b0, b1, c0, c1, d0, d1;
} Block;

/* Four rows of four. */
typedef struct HalfBlock {
  scree_Lane a, b, c, d;
} HalfBlock;

/* block -= left^T right: left (p x 4, row length ld), right (p x 8, rows contiguous). */
SCREE_INLINE void block_48(Block *block, int p, const double *left, ptrdiff_t ld,
                           const double *right) {
  scree_Lane a0 = block->a0, a1 = block->a1, b0 = block->b0, b1 = block->b1;
  scree_Lane c0 = block->c0, c1 = block->c1, d0 = block->d0, d1 = block->d1;
  for (int k = 0; k < p; ++k, left += ld, right += TILE) {
    const scree_Lane r0 = scree_lane_load(right), r1 = scree_lane_load(right + 4);
    a0 -= left[0] * r0;
    a1 -= left[0] * r1;
    b0 -= left[1] * r0;
    b1 -= left[1] * r1;
    c0 -= left[2] * r0;
    c1 -= left[2] * r1;
    d0 -= left[3] * r0;
    d1 -= left[3] * r1;
  }
  *block = (Block){a0, a1, b0, b1, c0, c1, d0, d1};
}

/* The same with 4 x 4 numbers. */
SCREE_INLINE void block_44(HalfBlock *block, int p, const double *left, ptrdiff_t ld,
                           const double *right) {
  scree_Lane a = block->a, b = block->b, c = block->c, d = block->d;
  for (int k = 0; k < p; ++k, left += ld, right += TILE) {
    const scree_Lane r = scree_lane_load(right);
    a -= left[0] * r;
    b -= left[1] * r;
    c -= left[2] * r;
    d -= left[3] * r;
  }
  *block = (HalfBlock){a, b, c, d};
}

SCREE_INLINE Block block_load(const double *x, ptrdiff_t ld) {
  return (Block){scree_lane_load(x),          scree_lane_load(x + 4),
                 scree_lane_load(x + ld),     scree_lane_load(x + ld + 4),
                 scree_lane_load(x + 2 * ld), scree_lane_load(x + 2 * ld + 4),
                 scree_lane_load(x + 3 * ld), scree_lane_load(x + 3 * ld + 4)};
}

SCREE_INLINE void block_store(const Block *block, double *x, ptrdiff_t ld) {
  *scree_lane_at(x) = block->a0, *scree_lane_at(x + 4) = block->a1;
  *scree_lane_at(x + ld) = block->b0, *scree_lane_at(x + ld + 4) = block->b1;
  *scree_lane_at(x + 2 * ld) = block->c0, *scree_lane_at(x + 2 * ld + 4) = block->c1;
  *scree_lane_at(x + 3 * ld) = block->d0, *scree_lane_at(x + 3 * ld + 4) = block->d1;
}

/* A pivot that is only rounding, or not finite. */
static double pivot_replace(double d, double scale, scree_Pivots *pivots) {
  if (isfinite(d)) {
    ++pivots->perturbed;
    if (pivots->skip) return INFINITY;
    return copysign(sqrt(DBL_EPSILON) * scale, d);
  }
  pivots->broken = true;
  return scale;
}

/* Test a pivot, replace it when it cannot be used, and count. */
SCREE_INLINE double pivot_check(double d, double scale, scree_Pivots *pivots) {
  const double size = fabs(d);
  if (__builtin_expect(!(size > pivots->least * scale && size <= DBL_MAX), 0))
    d = pivot_replace(d, scale, pivots);
  pivots->negative += d < 0.0;
  return d;
}

/* After four pivots k .. k + 3: the rows i > k + 3 of t (p x ld) minus l (4 x ld) times right (4 x
 * ld), from column k + 4, or from the diagonal on. */
SCREE_INLINE void trailing_update(int p, int k, const double *l, const double *right, double *t,
                                  bool upper) {
  const ptrdiff_t ld = round_up4(p);
  for (ptrdiff_t i = k + 4; i < p; ++i) {
    const double l0 = l[i], l1 = l[ld + i], l2 = l[2 * ld + i], l3 = l[3 * ld + i];
    for (ptrdiff_t j = upper ? i & ~3 : k + 4; j < ld; j += 4) {
      scree_Lane a = scree_lane_load(t + i * ld + j);
      a -= l0 * scree_lane_load(right + j);
      a -= l1 * scree_lane_load(right + ld + j);
      a -= l2 * scree_lane_load(right + 2 * ld + j);
      a -= l3 * scree_lane_load(right + 3 * ld + j);
      *scree_lane_at(t + i * ld + j) = a;
    }
  }
}

/* The rows of a block of four pivots to the right of it: x := L^-1 x, l (4 x ld) at its diagonal.
 */
SCREE_INLINE void trailing_rows(int p, int k, const double *l, double *x) {
  const ptrdiff_t ld = round_up4(p);
  for (ptrdiff_t j = k + 4; j < ld; j += 4) {
    const scree_Lane a = scree_lane_load(x + j);
    scree_Lane b = scree_lane_load(x + ld + j), c = scree_lane_load(x + 2 * ld + j),
               d = scree_lane_load(x + 3 * ld + j);
    b -= l[1] * a;
    c -= l[2] * a;
    c -= l[ld + 2] * b;
    d -= l[3] * a;
    d -= l[ld + 3] * b;
    d -= l[2 * ld + 3] * c;
    *scree_lane_at(x + ld + j) = b;
    *scree_lane_at(x + 2 * ld + j) = c;
    *scree_lane_at(x + 3 * ld + j) = d;
  }
}

/* Four pivots at a time, whose 4 x 4 block stays in registers. */
SCREE_CLONES static void ldl_clones(int p, const double *f, int ldf, double *lt, double *rd,
                                    const double *scale, scree_Pivots *pivots) {
  const ptrdiff_t ld = round_up4(p);
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0};
  double right[4 * SCREE_PANEL];
  for (int k = 0; k < p; ++k, f += ldf) {
    int j = 0;
    for (; j + 4 <= k; j += 4) *scree_lane_at(lt + k * ld + j) = zero;
    for (; j < ld; j += 4) *scree_lane_at(lt + k * ld + j) = scree_lane_load(f + j);
  }
  for (int k = 0; k < p; k += 4) {
    double *a = lt + k * ld + k;
    const int rows = p - k < 4 ? p - k : 4;
    scree_Lane q0 = scree_lane_load(a), q1 = rows > 1 ? scree_lane_load(a + ld) : zero;
    scree_Lane q2 = rows > 2 ? scree_lane_load(a + 2 * ld) : zero,
               q3 = rows > 3 ? scree_lane_load(a + 3 * ld) : zero;
    const double r0 = 1.0 / pivot_check(q0[0], scale[k], pivots);
    const scree_Lane l0 = {0.0, r0 * q0[1], r0 * q0[2], r0 * q0[3]};
    rd[k] = r0;
    *scree_lane_at(a) = l0;
    if (rows > 1) {
      q1 -= l0[1] * q0;
      const double r1 = 1.0 / pivot_check(q1[1], scale[k + 1], pivots);
      const scree_Lane l1 = {0.0, 0.0, r1 * q1[2], r1 * q1[3]};
      rd[k + 1] = r1;
      *scree_lane_at(a + ld) = l1;
      if (rows > 2) {
        q2 -= l0[2] * q0;
        q2 -= l1[2] * q1;
        const double r2 = 1.0 / pivot_check(q2[2], scale[k + 2], pivots);
        const scree_Lane l2 = {0.0, 0.0, 0.0, r2 * q2[3]};
        rd[k + 2] = r2;
        *scree_lane_at(a + 2 * ld) = l2;
        if (rows > 3) {
          q3 -= l0[3] * q0;
          q3 -= l1[3] * q1;
          q3 -= l2[3] * q2;
          rd[k + 3] = 1.0 / pivot_check(q3[3], scale[k + 3], pivots);
          *scree_lane_at(a + 3 * ld) = zero;
        }
      }
    }
    if (k + 4 >= p) break;
    trailing_rows(p, k, a, lt + k * ld);
    for (int r = 0; r < 4; ++r) {
      for (ptrdiff_t j = k + 4; j < ld; j += 4) {
        const scree_Lane x = scree_lane_load(lt + (k + r) * ld + j);
        *scree_lane_at(right + r * ld + j) = x;
        *scree_lane_at(lt + (k + r) * ld + j) = rd[k + r] * x;
      }
    }
    trailing_update(p, k, lt + k * ld, right, lt, true);
  }
}

/* Exchange rows k and i of the remaining matrix and of the multipliers found so far. */
static void exchange(int p, int ld, double *lt, double *u, int *perm, int k, int i) {
  for (int j = 0; j < p; ++j) {
    const double swap = u[k * ld + j];
    u[k * ld + j] = u[i * ld + j];
    u[i * ld + j] = swap;
  }
  for (int j = 0; j < k; ++j) {
    const double swap = lt[j * ld + k];
    lt[j * ld + k] = lt[j * ld + i];
    lt[j * ld + i] = swap;
  }
  const int swap = perm[k];
  perm[k] = perm[i];
  perm[i] = swap;
}

/* Four columns at a time: those are eliminated one by one, the columns to their right together. */
SCREE_CLONES static void lu_clones(int p, const double *f, int ldf, double *lt, double *u,
                                   double *rd, int *perm, const double *scale,
                                   scree_Pivots *pivots) {
  const ptrdiff_t ld = round_up4(p);
  for (int k = 0; k < p; ++k, f += ldf) {
    for (ptrdiff_t j = 0; j < ld; j += 4) *scree_lane_at(u + k * ld + j) = scree_lane_load(f + j);
    perm[k] = k;
  }
  memset(lt, 0, (size_t)p * (size_t)ld * sizeof *lt);
  for (int first = 0; first < p; first += 4) {
    for (int k = first; k < p && k < first + 4; ++k) {
      int best = k;
      for (int i = k + 1; i < p; ++i) { /* a NaN is selected, and then detected */
        if (!(fabs(u[i * ld + k]) <= fabs(u[best * ld + k]))) best = i;
      }
      if (best != k) {
        exchange(p, (int)ld, lt, u, perm, k, best);
        ++pivots->swaps;
      }
      const double r = 1.0 / pivot_check(u[k * ld + k], scale[k], pivots);
      const scree_Lane a = scree_lane_load(u + k * ld + first);
      rd[k] = r;
      for (int i = k + 1; i < p; ++i) {
        const double l = u[i * ld + k] * r;
        lt[k * ld + i] = l;
        *scree_lane_at(u + i * ld + first) = scree_lane_load(u + i * ld + first) - l * a;
      }
    }
    if (first + 4 < p) {
      trailing_rows(p, first, lt + first * ld + first, u + first * ld);
      trailing_update(p, first, lt + first * ld, u + first * ld, u, false);
    }
  }
  for (int k = 0; k < p; ++k) { /* what elimination left of zeros and of pivots */
    for (int j = 0; j <= k; ++j) u[k * ld + j] = 0.0;
  }
}

/* Rows k .. k + 3 of a triangular solution, once the rows above are subtracted: lt at their own
 * diagonal. */
SCREE_INLINE void block_triangle(Block *x, const double *lt, ptrdiff_t ld, const double *rd) {
  if (rd) x->a0 *= rd[0], x->a1 *= rd[0];
  x->b0 -= lt[1] * x->a0, x->b1 -= lt[1] * x->a1;
  if (rd) x->b0 *= rd[1], x->b1 *= rd[1];
  x->c0 -= lt[2] * x->a0, x->c1 -= lt[2] * x->a1;
  x->c0 -= lt[ld + 2] * x->b0, x->c1 -= lt[ld + 2] * x->b1;
  if (rd) x->c0 *= rd[2], x->c1 *= rd[2];
  x->d0 -= lt[3] * x->a0, x->d1 -= lt[3] * x->a1;
  x->d0 -= lt[ld + 3] * x->b0, x->d1 -= lt[ld + 3] * x->b1;
  x->d0 -= lt[2 * ld + 3] * x->c0, x->d1 -= lt[2 * ld + 3] * x->c1;
  if (rd) x->d0 *= rd[3], x->d1 *= rd[3];
}

/* One tile: x (p x 8) := T^-1 x with T^T strictly upper in lt, diagonal 1 / rd (NULL: ones). */
SCREE_INLINE void tile_solve(int p, const double *lt, const double *rd, double *x) {
  const ptrdiff_t ld = round_up4(p);
  int k = 0;
  for (; k + 4 <= p; k += 4) {
    Block block = block_load(x + k * TILE, TILE);
    block_48(&block, k, lt + k, ld, x);
    block_triangle(&block, lt + k * ld + k, ld, rd ? rd + k : NULL);
    block_store(&block, x + k * TILE, TILE);
  }
  for (; k < p; ++k) {
    scree_Lane a = scree_lane_load(x + k * TILE), b = scree_lane_load(x + k * TILE + 4);
    for (int l = 0; l < k; ++l) {
      a -= lt[l * ld + k] * scree_lane_load(x + l * TILE);
      b -= lt[l * ld + k] * scree_lane_load(x + l * TILE + 4);
    }
    *scree_lane_at(x + k * TILE) = rd ? rd[k] * a : a;
    *scree_lane_at(x + k * TILE + 4) = rd ? rd[k] * b : b;
  }
}

SCREE_CLONES static void rows_clones(int p, int m, const double *f, int ldf, const int *perm,
                                     const double *lt, double *tiles) {
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0};
  for (int j = 0; j < m; j += TILE, tiles += (ptrdiff_t)p * TILE) {
    const bool whole = j + TILE <= m;
    for (int k = 0; k < p; ++k) {
      const double *source = f + (ptrdiff_t)(perm ? perm[k] : k) * ldf + j;
      *scree_lane_at(tiles + k * TILE) = scree_lane_load(source);
      *scree_lane_at(tiles + k * TILE + 4) = whole ? scree_lane_load(source + 4) : zero;
    }
    tile_solve(p, lt, NULL, tiles);
  }
}

/* Four rows of four numbers, row length ldf, to four columns. */
SCREE_INLINE HalfBlock transposed(const double *f, ptrdiff_t ldf) {
  HalfBlock x = {scree_lane_load(f), scree_lane_load(f + ldf), scree_lane_load(f + 2 * ldf),
                 scree_lane_load(f + 3 * ldf)};
  scree_lane_transpose(&x.a, &x.b, &x.c, &x.d);
  return x;
}

SCREE_CLONES static void columns_clones(int p, int m, const double *f, int ldf, const double *u,
                                        const double *rd, double *tiles) {
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0};
  for (int j = 0; j < m; j += TILE, tiles += (ptrdiff_t)p * TILE) {
    for (int c = 0; c < TILE; c += 4) {
      const double *source = f + (ptrdiff_t)(j + c) * ldf;
      for (int k = 0; k < p; k += 4) {
        double *tile = tiles + k * TILE + c;
        HalfBlock x = {zero, zero, zero, zero};
        if (j + c < m) x = transposed(source + k, ldf);
        *scree_lane_at(tile) = x.a;
        if (k + 1 < p) *scree_lane_at(tile + TILE) = x.b;
        if (k + 2 < p) *scree_lane_at(tile + 2 * TILE) = x.c;
        if (k + 3 < p) *scree_lane_at(tile + 3 * TILE) = x.d;
      }
    }
    tile_solve(p, u, rd, tiles);
  }
}

SCREE_CLONES static void scale_clones(int p, int m, const double *tiles, const double *rd,
                                      double *scaled) {
  for (int j = 0; j < m; j += TILE) {
    for (int k = 0; k < p; ++k, tiles += TILE, scaled += TILE) {
      *scree_lane_at(scaled) = rd[k] * scree_lane_load(tiles);
      *scree_lane_at(scaled + 4) = rd[k] * scree_lane_load(tiles + 4);
    }
  }
}

SCREE_INLINE void update_48(int p, const double *left, const double *right, const double *s,
                            ptrdiff_t lds, double *c, ptrdiff_t ldc) {
  Block block;
  if (s)
    block = block_load(s, lds);
  else
    block = (Block){0};
  block_48(&block, p, left, TILE, right);
  block_store(&block, c, ldc);
}

SCREE_INLINE void update_44(int p, const double *left, const double *right, const double *s,
                            ptrdiff_t lds, double *c, ptrdiff_t ldc) {
  HalfBlock block;
  if (s)
    block = (HalfBlock){scree_lane_load(s), scree_lane_load(s + lds), scree_lane_load(s + 2 * lds),
                        scree_lane_load(s + 3 * lds)};
  else
    block = (HalfBlock){0};
  block_44(&block, p, left, TILE, right);
  *scree_lane_at(c) = block.a;
  *scree_lane_at(c + ldc) = block.b;
  *scree_lane_at(c + 2 * ldc) = block.c;
  *scree_lane_at(c + 3 * ldc) = block.d;
}

/* Rows in groups of ROWS, whose left tiles stay in the cache while the right tiles pass by. */
SCREE_CLONES static void update_clones(int p, int m, const double *left, const double *right,
                                       const double *s, int lds, double *c, int ldc, bool upper) {
  for (int first = 0; first < m; first += ROWS) {
    const int last = first + ROWS < m ? first + ROWS : m;
    for (int j = upper ? first & ~(TILE - 1) : 0; j < m; j += TILE) {
      const double *tile = right + (ptrdiff_t)j * p;
      const int end = upper && j + TILE < last ? j + TILE : last;
      for (int i = first; i < end; i += 4) {
        const double *rows = left + (ptrdiff_t)(i & ~(TILE - 1)) * p + (i & 4);
        const int skip = upper && i > j ? 4 : 0; /* the left half is below the diagonal */
        const ptrdiff_t from = (ptrdiff_t)i * lds + j + skip, to = (ptrdiff_t)i * ldc + j + skip;
        if (skip == 0 && j + TILE <= m)
          update_48(p, rows, tile, s ? s + from : NULL, lds, c + to, ldc);
        else if (j + skip < m)
          update_44(p, rows, tile + skip, s ? s + from : NULL, lds, c + to, ldc);
      }
    }
  }
}

SCREE_CLONES static void lower_solve_clones(int p, const double *lt, double *y) {
  const int ld = round_up4(p);
  for (int k = 0; k + 1 < p; ++k, lt += ld) {
    const double x = y[k];
    for (int j = (k + 1) & ~3; j < ld; j += 4)
      *scree_lane_at(y + j) = scree_lane_load(y + j) - x * scree_lane_load(lt + j);
  }
}

SCREE_INLINE double sum(const scree_Lane *q) {
  return ((*q)[0] + (*q)[1]) + ((*q)[2] + (*q)[3]);
}

/* Four rows at a time, from the last; within the four the numbers stay in registers, for a vector
 * loaded from where single numbers were just stored waits long. */
SCREE_CLONES static void upper_solve_clones(int p, const double *u, const double *rd, double *y) {
  const ptrdiff_t ld = round_up4(p);
  for (int k = (p - 1) & ~3; k >= 0; k -= 4) {
    const double *row = u + k * ld;
    double x[4] = {y[k], y[k + 1], y[k + 2], y[k + 3]};
    if (k + 4 <= p) {
      scree_Lane a = {0.0, 0.0, 0.0, 0.0}, b = a, c = a, d = a;
      for (ptrdiff_t j = k + 4; j < ld; j += 4) {
        const scree_Lane z = scree_lane_load(y + j);
        a += scree_lane_load(row + j) * z;
        b += scree_lane_load(row + ld + j) * z;
        c += scree_lane_load(row + 2 * ld + j) * z;
        d += scree_lane_load(row + 3 * ld + j) * z;
      }
      x[3] -= sum(&d), x[2] -= sum(&c), x[1] -= sum(&b), x[0] -= sum(&a);
      if (rd) x[3] *= rd[k + 3];
    } else {
      x[3] = 0.0;
    }
    if (k + 3 <= p) {
      x[2] -= row[2 * ld + k + 3] * x[3];
      if (rd) x[2] *= rd[k + 2];
    }
    if (k + 2 <= p) {
      x[1] -= row[ld + k + 3] * x[3];
      x[1] -= row[ld + k + 2] * x[2];
      if (rd) x[1] *= rd[k + 1];
    }
    x[0] -= row[k + 3] * x[3];
    x[0] -= row[k + 2] * x[2];
    x[0] -= row[k + 1] * x[1];
    if (rd) x[0] *= rd[k];
    *scree_lane_at(y + k) = (scree_Lane){x[0], x[1], x[2], x[3]};
  }
}

SCREE_CLONES static void gather_clones(int p, int m, const double *tiles, const double *y,
                                       double *z) {
  for (int j = 0; j < m; j += TILE) {
    scree_Lane a = {0.0, 0.0, 0.0, 0.0}, b = a, c = a, d = a;
    int k = 0;
    for (; k + 2 <= p; k += 2, tiles += 2 * TILE) {
      a += y[k] * scree_lane_load(tiles);
      b += y[k] * scree_lane_load(tiles + 4);
      c += y[k + 1] * scree_lane_load(tiles + TILE);
      d += y[k + 1] * scree_lane_load(tiles + TILE + 4);
    }
    if (k < p) {
      a += y[k] * scree_lane_load(tiles);
      b += y[k] * scree_lane_load(tiles + 4);
      tiles += TILE;
    }
    *scree_lane_at(z + j) = a + c;
    *scree_lane_at(z + j + 4) = b + d;
  }
}

SCREE_CLONES static void spread_clones(int p, int m, const double *tiles, const double *z,
                                       double *y) {
  scree_Lane total[SCREE_PANEL];
  for (int k = 0; k < p; ++k) total[k] = (scree_Lane){0.0, 0.0, 0.0, 0.0};
  for (int j = 0; j < m; j += TILE) {
    const scree_Lane a = scree_lane_load(z + j), b = scree_lane_load(z + j + 4);
    for (int k = 0; k < p; ++k, tiles += TILE)
      total[k] += a * scree_lane_load(tiles) + b * scree_lane_load(tiles + 4);
  }
  for (int k = 0; k < p; ++k) y[k] -= sum(&total[k]);
}

SCREE_INLINE void row_add(int n, const double *x, double *y) {
  int i = 0;
  for (; i + 4 <= n; i += 4)
    *scree_lane_at(y + i) = scree_lane_load(y + i) + scree_lane_load(x + i);
  if (i + 2 <= n) {
    *(scree_PairAnywhere *)(y + i) += *(const scree_PairAnywhere *)(x + i);
    i += 2;
  }
  if (i < n) y[i] += x[i];
}

SCREE_CLONES static void extend_clones(int runs, const scree_DenseRun *run, int ldu,
                                       const double *update, int ldf, double *front, bool upper) {
  for (int a = 0; a < runs; ++a) {
    for (int i = 0; i < run[a].length; ++i) {
      const double *x = update + (ptrdiff_t)(run[a].source + i) * ldu;
      double *y = front + (ptrdiff_t)(run[a].target + i) * ldf;
      int b = 0;
      if (upper) { /* from the diagonal on */
        row_add(run[a].length - i, x + run[a].source + i, y + run[a].target + i);
        b = a + 1;
      }
      for (; b < runs; ++b) row_add(run[b].length, x + run[b].source, y + run[b].target);
    }
  }
}

/* ---- the functions of the header ---------------------------------------------------------------
 * Clang 14 links a function that has clones by its name only within one file (its symbol is
 * name.ifunc), so the clones above are static.
 */

void scree_dense_ldl(int p, const double *f, int ldf, double *lt, double *rd, const double *scale,
                     scree_Pivots *pivots) {
  assert(p >= 1 && p <= SCREE_PANEL);
  ldl_clones(p, f, ldf, lt, rd, scale, pivots);
}

void scree_dense_lu(int p, const double *f, int ldf, double *lt, double *u, double *rd, int *perm,
                    const double *scale, scree_Pivots *pivots) {
  assert(p >= 1 && p <= SCREE_PANEL);
  lu_clones(p, f, ldf, lt, u, rd, perm, scale, pivots);
}

void scree_dense_rows(int p, int m, const double *f, int ldf, const int *perm, const double *lt,
                      double *tiles) {
  assert(p >= 1 && p <= SCREE_PANEL);
  rows_clones(p, m, f, ldf, perm, lt, tiles);
}

void scree_dense_columns(int p, int m, const double *f, int ldf, const double *u, const double *rd,
                         double *tiles) {
  assert(p >= 1 && p <= SCREE_PANEL);
  columns_clones(p, m, f, ldf, u, rd, tiles);
}

void scree_dense_scale(int p, int m, const double *tiles, const double *rd, double *scaled) {
  scale_clones(p, m, tiles, rd, scaled);
}

void scree_dense_update(int p, int m, const double *left, const double *right, const double *s,
                        int lds, double *c, int ldc, bool upper) {
  update_clones(p, m, left, right, s, lds, c, ldc, upper);
}

void scree_dense_lower_solve(int p, const double *lt, double *y) {
  lower_solve_clones(p, lt, y);
}

void scree_dense_upper_solve(int p, const double *u, const double *rd, double *y) {
  upper_solve_clones(p, u, rd, y);
}

void scree_dense_gather(int p, int m, const double *tiles, const double *y, double *z) {
  gather_clones(p, m, tiles, y, z);
}

void scree_dense_spread(int p, int m, const double *tiles, const double *z, double *y) {
  assert(p >= 1 && p <= SCREE_PANEL);
  spread_clones(p, m, tiles, z, y);
}

void scree_dense_extend(int runs, const scree_DenseRun *run, int ldu, const double *update, int ldf,
                        double *front, bool upper) {
  extend_clones(runs, run, ldu, update, ldf, front, upper);
}
