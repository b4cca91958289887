/* Dense kernels of the sparse factorisation: the pivot block of a front, the rows and columns
 * beside it, and the update of what remains.
 *
 * Sizes named m are multiples of 4 (padded with zeros), so that no kernel has a scalar rest. Rows
 * and columns beside a pivot block are kept in tiles: 8 columns wide, p rows high, contiguous,
 *     tile t, row k, column c  at  tiles[(t * p + k) * 8 + c],     columns 8 t + c < m,
 * which is what the innermost loops stream through. A last half tile has zeros in its right half.
 *
 * Every number is the result of the same operations in the same order on every machine: four lanes,
 * no fused multiply-add. */
#ifndef SCREE_MATH_DENSE_H
#define SCREE_MATH_DENSE_H

#include <stdbool.h>
#include <stddef.h>

enum {
  SCREE_TILE = 8,  /* columns of a tile */
  SCREE_PANEL = 96 /* most pivots eliminated at a time; a multiple of 4 */
};

/* Limit and counts of unusual pivots. */
typedef struct scree_Pivots {
  double least;  /* one that is not above this part of its scale is only rounding */
  bool skip;     /* leave those out: reciprocal zero; else they are replaced */
  int perturbed; /* left out or replaced */
  int negative;  /* below zero */
  int swaps;     /* exchanges of rows */
  bool broken;   /* one was not finite */
} scree_Pivots;

/* Numbers taken by the tiles of m columns. */
static inline size_t scree_tiles_size(int p, int m) {
  return (size_t)((m + SCREE_TILE - 1) / SCREE_TILE) * (size_t)SCREE_TILE * (size_t)p;
}

/* L D L^T of the upper triangle of f (p x p, row length ldf, zeros up to a multiple of 4 columns),
 * p <= SCREE_PANEL. lt (p x ld, ld = p
 * rounded up to 4) gets L^T strictly above the diagonal and zeros elsewhere, rd (p) the reciprocals
 * of D. scale (p): the size each pivot is compared with. */
void scree_dense_ldl(int p, const double *f, int ldf, double *lt, double *rd, const double *scale,
                     scree_Pivots *pivots);

/* P f = L U with the rows of f (p x p, as above) exchanged: row k of P f is row perm[k] of f. lt as
 * above, u (p x ld) gets U strictly above its diagonal and zeros elsewhere, rd (p) the reciprocals
 * of U's diagonal. */
void scree_dense_lu(int p, const double *f, int ldf, double *lt, double *u, double *rd, int *perm,
                    const double *scale, scree_Pivots *pivots);

/* tiles (p x m) := L^-1 (rows perm[0..p) of f), f (p x m, row length ldf); perm NULL: as they are.
 */
void scree_dense_rows(int p, int m, const double *f, int ldf, const int *perm, const double *lt,
                      double *tiles);

/* tiles (p x m) := U^-T f^T, f (m x p, readable up to a multiple of 4 columns); u and rd as
 * scree_dense_lu gives them. */
void scree_dense_columns(int p, int m, const double *f, int ldf, const double *u, const double *rd,
                         double *tiles);

/* scaled := diag(rd) tiles */
void scree_dense_scale(int p, int m, const double *tiles, const double *rd, double *scaled);

/* c (m x m, row length ldc) := s (m x m, row length lds) - left^T right, both p x m in tiles. s may
 * be c, or NULL for zero. upper: only c's upper triangle is needed, below it c is undefined. */
void scree_dense_update(int p, int m, const double *left, const double *right, const double *s,
                        int lds, double *c, int ldc, bool upper);

/* y (p, 32-byte aligned, zeros up to a multiple of 4) := L^-1 y, and y := U^-1 y for a strictly
 * upper u, with rd NULL for a unit diagonal. */
void scree_dense_lower_solve(int p, const double *lt, double *y);
void scree_dense_upper_solve(int p, const double *u, const double *rd, double *y);

/* z (m) := tiles^T y, and y (p) := y - tiles z. z has zeros up to a multiple of 8. */
void scree_dense_gather(int p, int m, const double *tiles, const double *y, double *z);
void scree_dense_spread(int p, int m, const double *tiles, const double *z, double *y);

/* Numbers of a child's update that land side by side in its parent: `length` of them, from `source`
 * in the update to `target` in the front, for rows and for columns alike. */
typedef struct scree_DenseRun {
  int source, target, length;
} scree_DenseRun;

/* front (row length ldf) += update (row length ldu), rows and columns moved by the runs; upper:
 * only the upper triangle of the update. */
void scree_dense_extend(int runs, const scree_DenseRun *run, int ldu, const double *update, int ldf,
                        double *front, bool upper);

#endif
