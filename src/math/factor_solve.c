/* Solution with a computed factor (step 4 of factor_internal.h).
 *
 * Forwards each panel solves for its pivots and takes their share from the rows it touches;
 * backwards it takes the share of those rows from its pivots. The rows of a panel are the later
 * pivots of its front, the padding, the front's rest: gathered into one contiguous vector around
 * the kernels. */
#include "math/factor.h"

#include <assert.h>

#include "math/factor_internal.h"

enum { VECTOR = 256 }; /* longest vector kept on the stack */

/* Blocks of nb numbers in their own loops, unrolled for the sizes that matter. */
static inline void blocks_copy(int count, const int *nodes, int nb, const double *x, double *z) {
  for (int i = 0; i < count; ++i, z += nb) {
    const double *source = x + (ptrdiff_t)nodes[i] * nb;
    for (int c = 0; c < nb; ++c) z[c] = source[c];
  }
}

static inline void blocks_subtract(int count, const int *nodes, int nb, const double *z,
                                   double *x) {
  for (int i = 0; i < count; ++i, z += nb) {
    double *target = x + (ptrdiff_t)nodes[i] * nb;
    for (int c = 0; c < nb; ++c) target[c] -= z[c];
  }
}

static inline void blocks_return(int count, const int *nodes, int nb, const double *z, double *x) {
  for (int i = 0; i < count; ++i, z += nb) {
    double *target = x + (ptrdiff_t)nodes[i] * nb;
    for (int c = 0; c < nb; ++c) target[c] = z[c];
  }
}

/* Blocks of the caller's vector to the factor's order, and back. */
static void permute(const scree_Factor *f, const double *x, double *work) {
  switch (f->nb) {
  case 2: blocks_copy(f->n, f->order, 2, x, work); break;
  case 3: blocks_copy(f->n, f->order, 3, x, work); break;
  case 6: blocks_copy(f->n, f->order, 6, x, work); break;
  default: blocks_copy(f->n, f->order, f->nb, x, work);
  }
}

static void permute_back(const scree_Factor *f, const double *work, double *x) {
  switch (f->nb) {
  case 2: blocks_return(f->n, f->order, 2, work, x); break;
  case 3: blocks_return(f->n, f->order, 3, work, x); break;
  case 6: blocks_return(f->n, f->order, 6, work, x); break;
  default: blocks_return(f->n, f->order, f->nb, work, x);
  }
}

/* z: the values of x in the panel's rows, zeros in the padding. */
static void rows_gather(const scree_Factor *f, const scree_FactorPanel *panel, const double *x,
                        double *z) {
  const scree_Front *front = &f->front[panel->front];
  const int later = front->pivots * f->nb - panel->offset - panel->p;
  const int padded = panel->m - front->size2, rest = front->rest * f->nb;
  const int *nodes = f->rows + front->rows;
  for (int i = 0; i < later; ++i) z[i] = x[panel->start + panel->p + i];
  for (int i = later; i < padded; ++i) z[i] = 0.0;
  z += padded;
  switch (f->nb) {
  case 2: blocks_copy(front->rest, nodes, 2, x, z); break;
  case 3: blocks_copy(front->rest, nodes, 3, x, z); break;
  case 6: blocks_copy(front->rest, nodes, 6, x, z); break;
  default: blocks_copy(front->rest, nodes, f->nb, x, z);
  }
  const int end = (panel->m + SCREE_TILE - 1) / SCREE_TILE * SCREE_TILE - padded;
  for (int i = rest; i < end; ++i) z[i] = 0.0;
}

static void rows_subtract(const scree_Factor *f, const scree_FactorPanel *panel, const double *z,
                          double *x) {
  const scree_Front *front = &f->front[panel->front];
  const int later = front->pivots * f->nb - panel->offset - panel->p;
  const int *nodes = f->rows + front->rows;
  for (int i = 0; i < later; ++i) x[panel->start + panel->p + i] -= z[i];
  z += panel->m - front->size2;
  switch (f->nb) {
  case 2: blocks_subtract(front->rest, nodes, 2, z, x); break;
  case 3: blocks_subtract(front->rest, nodes, 3, z, x); break;
  case 6: blocks_subtract(front->rest, nodes, 6, z, x); break;
  default: blocks_subtract(front->rest, nodes, f->nb, z, x);
  }
}

static bool all_zero(const double *x, int count) {
  for (int k = 0; k < count; ++k)
    if (x[k] != 0.0) return false;
  return true;
}

/* A right side of few entries is zero in most panels: below them nothing has to be done. */
static void forwards(const scree_Factor *f, const scree_FactorPanel *panel, double *x, double *z) {
  _Alignas(32) double y[SCREE_PANEL];
  double *pivot = x + panel->start;
  const int p = panel->p;
  if (all_zero(pivot, p)) return;
  if (f->kind == SCREE_FACTOR_UNSYMMETRIC) {
    for (int k = 0; k < p; ++k) y[k] = pivot[f->perm[panel->start + k]];
  } else {
    for (int k = 0; k < p; ++k) y[k] = pivot[k];
  }
  for (int k = p; k < SCREE_PANEL && k % 4 != 0; ++k) y[k] = 0.0;
  scree_dense_lower_solve(p, f->values + panel->lt, y);
  if (panel->m > 0) {
    scree_dense_gather(p, panel->m, f->values + panel->left, y, z);
    rows_subtract(f, panel, z, x);
  }
  const double *rd = f->values + panel->rd;
  if (f->kind == SCREE_FACTOR_SYMMETRIC) {
    for (int k = 0; k < p; ++k) pivot[k] = rd[k] * y[k];
  } else {
    for (int k = 0; k < p; ++k) pivot[k] = y[k];
  }
}

static void backwards(const scree_Factor *f, const scree_FactorPanel *panel, double *x, double *z) {
  const bool symmetric = f->kind == SCREE_FACTOR_SYMMETRIC;
  _Alignas(32) double y[SCREE_PANEL];
  const int p = panel->p;
  for (int k = 0; k < p; ++k) y[k] = x[panel->start + k];
  for (int k = p; k < SCREE_PANEL && k % 4 != 0; ++k) y[k] = 0.0;
  if (panel->m > 0) {
    rows_gather(f, panel, x, z);
    scree_dense_spread(p, panel->m, f->values + (symmetric ? panel->left : panel->right), z, y);
  }
  scree_dense_upper_solve(p, f->values + (symmetric ? panel->lt : panel->u),
                          symmetric ? NULL : f->values + panel->rd, y);
  for (int k = 0; k < p; ++k) x[panel->start + k] = y[k];
}

void scree_factor_solve_several(const scree_Factor *f, int count, size_t stride, double *work,
                                double *x) {
  _Alignas(64) double vector[VECTOR];
  /* Once permuted into work, x is free, and long enough with the padding: the last panel of a front
   * leaves out at least two tiles of the whole (factor_order.c), others are wider than that. */
  assert(f->vector_max <= VECTOR || f->vector_max <= f->n * f->nb);
  double *z = f->vector_max <= VECTOR ? vector : x;
  for (int k = 0; k < count; ++k) permute(f, x + (size_t)k * stride, work + (size_t)k * stride);
  for (int q = 0; q < f->panels; ++q)
    for (int k = 0; k < count; ++k) forwards(f, &f->panel[q], work + (size_t)k * stride, z);
  for (int q = f->panels - 1; q >= 0; --q)
    for (int k = 0; k < count; ++k) backwards(f, &f->panel[q], work + (size_t)k * stride, z);
  for (int k = 0; k < count; ++k)
    permute_back(f, work + (size_t)k * stride, x + (size_t)k * stride);
}

void scree_factor_solve(const scree_Factor *f, double *work, double *x) {
  scree_factor_solve_several(f, 1, 0, work, x);
}
