/* Creation of a factor and the numerical factorisation (step 3 of factor_internal.h; interface in
 * factor.h). */
#include "math/factor.h"

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/log.h"
#include "core/memory.h"
#include "math/factor_internal.h"

enum { SMALL = 128 };                /* rows of a front that is cleared as a whole */
static const double POLL_WORK = 1e8; /* operations between two polls, about 0.01 s */

static scree_Status check_size(int n, int nb, const scree_Log *log) {
  if (nb < 1 || nb > SCREE_FACTOR_BLOCK_MAX)
    return scree_fail(log, SCREE_BAD_INPUT, "factorisation: found blocks of %d, expected 1..%d", nb,
                      SCREE_FACTOR_BLOCK_MAX);
  if (n < 0 || n > INT_MAX / 2 / nb)
    return scree_fail(log, SCREE_BAD_INPUT, "factorisation: found %d nodes, expected 0..%d", n,
                      INT_MAX / 2 / nb);
  return SCREE_OK;
}

/* Order and analyse; f->keep is set. */
static scree_Status analyse(scree_Factor *f, scree_Arena *scratch, int n, int nb, const size_t *row,
                            const int *col, scree_FactorKind kind, scree_FactorOrder *order,
                            const scree_Log *log) {
  const scree_ArenaMark mark = scree_arena_mark(scratch);
  f->n = n;
  f->nb = nb;
  f->kind = kind;
  scree_FactorTree tree;
  size_t *transposed = SCREE_TAKE_RAW(scratch, size_t, row[n]);
  size_t *next = SCREE_TAKE_RAW(scratch, size_t, n);
  scree_Status status = SCREE_OK;
  if (!transposed || !next) status = scree_fail_memory(log, "pattern of the factorisation");
  if (status == SCREE_OK) status = scree_factor_transpose(n, row, col, next, transposed, log);
  if (status == SCREE_OK)
    status = scree_factor_order(scratch, n, nb, row, col, kind, order, log, &tree);
  if (status == SCREE_OK)
    status = scree_factor_analyse(f, scratch, row, col, transposed, &tree, log);
  scree_arena_release(scratch, mark);
  return status;
}

scree_Status scree_factor_create_in(scree_Arena *keep, scree_Arena *scratch, int n, int nb,
                                    const size_t *row, const int *col, scree_FactorKind kind,
                                    scree_FactorOrder *order, const scree_Log *log,
                                    scree_Factor **factor) {
  *factor = NULL;
  scree_Status status = check_size(n, nb, log);
  if (status) return status;
  scree_Factor *f = SCREE_TAKE(keep, scree_Factor, 1);
  if (!f) return scree_fail_memory(log, "factorisation");
  f->keep = keep;
  status = analyse(f, scratch, n, nb, row, col, kind, order, log);
  if (!status) *factor = f;
  return status;
}

scree_Status scree_factor_create(int n, int nb, const size_t *row, const int *col,
                                 scree_FactorKind kind, const scree_Log *log,
                                 scree_Factor **factor) {
  *factor = NULL;
  scree_Status status = check_size(n, nb, log);
  if (status) return status;
  scree_Factor *f = SCREE_ALLOC(scree_Factor, 1);
  if (!f) return scree_fail_memory(log, "factorisation");
  scree_Arena scratch = {0};
  f->keep = &f->own;
  status = analyse(f, &scratch, n, nb, row, col, kind, NULL, log);
  scree_arena_fini(&scratch);
  if (status)
    scree_factor_destroy(f);
  else
    *factor = f;
  return status;
}

void scree_factor_destroy(scree_Factor *f) {
  if (!f) return;
  scree_arena_fini(&f->own);
  scree_free(f);
}

/* Sums of the absolute values in each column; unrolled for a literal nb. */
static inline void columns_sum(const scree_Factor *f, const double *x, size_t nb) {
  memset(f->scale, 0, (size_t)f->n * nb * sizeof *f->scale);
  for (size_t k = 0; k < f->nonzeros; ++k, x += nb * nb) {
    double *scale = f->scale + (size_t)f->columns[k] * nb;
    for (size_t c = 0; c < nb; ++c) {
      double sum = 0.0;
      for (size_t r = 0; r < nb; ++r) sum += fabs(x[r * nb + c]);
      scale[c] += sum;
    }
  }
}

/* The scale of each pivot: |diagonal entry| or the sum of the column. Where that is zero the
 * largest of all scales is used, and 1 for a zero matrix. */
static void scale_fill(scree_Factor *f, const double *x) {
  const int nb = f->nb, size = f->n * nb;
  if (f->kind == SCREE_FACTOR_SYMMETRIC) {
    for (int i = 0; i < f->n; ++i) {
      const double *block = x + f->diagonal[i] * (size_t)(nb * nb);
      for (int c = 0; c < nb; ++c) f->scale[i * nb + c] = fabs(block[c * (nb + 1)]);
    }
  } else {
    switch (nb) {
    case 2: columns_sum(f, x, 2); break;
    case 3: columns_sum(f, x, 3); break;
    case 6: columns_sum(f, x, 6); break;
    default: columns_sum(f, x, (size_t)nb);
    }
  }
  double largest = 0.0;
  bool zero = false;
  for (int i = 0; i < size; ++i) {
    if (f->scale[i] > largest) largest = f->scale[i];
    zero = zero || !(f->scale[i] > 0.0);
  }
  if (!zero) return;
  for (int i = 0; i < size; ++i) {
    if (!(f->scale[i] > 0.0)) f->scale[i] = largest > 0.0 ? largest : 1.0;
  }
}

/* Blocks of A into the front; with a literal nb the loops are unrolled. */
static inline void blocks_scatter(const scree_FactorBlock *block, size_t straight, size_t turned,
                                  const double *x, size_t ld, size_t nb, double *front) {
  for (; straight > 0; --straight, ++block) {
    const double *source = x + block->source;
    double *target = front + block->target;
    for (size_t r = 0; r < nb; ++r) {
      for (size_t c = 0; c < nb; ++c) target[r * ld + c] = source[r * nb + c];
    }
  }
  for (; turned > 0; --turned, ++block) {
    const double *source = x + block->source;
    double *target = front + block->target;
    for (size_t r = 0; r < nb; ++r) {
      for (size_t c = 0; c < nb; ++c) target[r * ld + c] = source[c * nb + r];
    }
  }
}

static void front_scatter(const scree_Factor *f, const scree_Front *front, const double *x) {
  const scree_FactorBlock *block = f->blocks + front->block;
  const size_t ld = (size_t)front->size1 + (size_t)front->size2;
  switch (f->nb) {
  case 2: blocks_scatter(block, front->straight, front->turned, x, ld, 2, f->scratch); break;
  case 3: blocks_scatter(block, front->straight, front->turned, x, ld, 3, f->scratch); break;
  case 6: blocks_scatter(block, front->straight, front->turned, x, ld, 6, f->scratch); break;
  default: blocks_scatter(block, front->straight, front->turned, x, ld, (size_t)f->nb, f->scratch);
  }
}

/* Zeros where the front will be summed. Of a leaf with one panel the update starts from nothing,
 * and its part of the front is never read. A small front is cleared as a whole: that touches twice
 * as much memory, but saves a call per row. */
static void front_clear(const scree_Factor *f, const scree_Front *front) {
  const size_t ld = (size_t)front->size1 + (size_t)front->size2, pivots = (size_t)front->size1;
  const bool leaf = front->child < 0 && front->panels == 1;
  const size_t rows = leaf ? pivots : ld;
  if (f->kind == SCREE_FACTOR_SYMMETRIC && ld > SMALL) {
    for (size_t i = 0; i < rows; ++i) {
      const size_t from = i & ~(size_t)3;
      memset(f->scratch + i * ld + from, 0, (ld - from) * sizeof(double));
    }
    return;
  }
  memset(f->scratch, 0, rows * ld * sizeof(double));
  if (f->kind == SCREE_FACTOR_UNSYMMETRIC) {
    for (size_t i = rows; i < ld; ++i) memset(f->scratch + i * ld, 0, pivots * sizeof(double));
  }
}

/* Sum the children's updates, in their order. */
static void front_extend(const scree_Factor *f, const scree_Front *front) {
  const int ld = front->size1 + front->size2;
  for (int c = front->child; c >= 0; c = f->front[c].sibling) {
    const scree_Front *child = &f->front[c];
    scree_dense_extend((int)child->runs, f->runs + child->run, child->size2,
                       f->stack + child->update, ld, f->scratch, f->kind == SCREE_FACTOR_SYMMETRIC);
  }
}

static void panel_symmetric(scree_Factor *f, const scree_Front *front,
                            const scree_FactorPanel *panel, bool last) {
  const int p = panel->p, m = panel->m, ld = front->size1 + front->size2, next = ld - m;
  double *v = f->values, *pivot = f->scratch + (size_t)panel->offset * (size_t)(ld + 1);
  double *trailing = f->scratch + (size_t)next * (size_t)(ld + 1);
  scree_dense_ldl(p, pivot, ld, v + panel->lt, v + panel->rd, f->scale + panel->start, &f->pivots);
  if (m == 0) return;
  scree_dense_rows(p, m, pivot + (next - panel->offset), ld, NULL, v + panel->lt, f->tiles);
  scree_dense_scale(p, m, f->tiles, v + panel->rd, v + panel->left);
  const bool leaf = front->child < 0 && front->panels == 1;
  if (last)
    scree_dense_update(p, m, v + panel->left, f->tiles, leaf ? NULL : trailing, ld,
                       f->stack + front->update, front->size2, true);
  else
    scree_dense_update(p, m, v + panel->left, f->tiles, trailing, ld, trailing, ld, true);
}

static void panel_unsymmetric(scree_Factor *f, const scree_Front *front,
                              const scree_FactorPanel *panel, bool last) {
  const int p = panel->p, m = panel->m, ld = front->size1 + front->size2, next = ld - m;
  double *v = f->values, *pivot = f->scratch + (size_t)panel->offset * (size_t)(ld + 1);
  double *trailing = f->scratch + (size_t)next * (size_t)(ld + 1);
  const double *below = f->scratch + (size_t)next * (size_t)ld + panel->offset;
  int *perm = f->perm + panel->start;
  scree_dense_lu(p, pivot, ld, v + panel->lt, v + panel->u, v + panel->rd, perm,
                 f->scale + panel->start, &f->pivots);
  if (m == 0) return;
  scree_dense_rows(p, m, pivot + (next - panel->offset), ld, perm, v + panel->lt, v + panel->right);
  scree_dense_columns(p, m, below, ld, v + panel->u, v + panel->rd, v + panel->left);
  const bool leaf = front->child < 0 && front->panels == 1;
  if (last)
    scree_dense_update(p, m, v + panel->left, v + panel->right, leaf ? NULL : trailing, ld,
                       f->stack + front->update, front->size2, false);
  else
    scree_dense_update(p, m, v + panel->left, v + panel->right, trailing, ld, trailing, ld, false);
}

/* The large arrays, at the first matrix. They are written before they are read. */
static scree_Status numbers_exist(scree_Factor *f) {
  if (f->values) return SCREE_OK;
  const scree_ArenaMark mark = scree_arena_mark(f->keep);
  double *values = SCREE_TAKE_RAW(f->keep, double, f->values_size);
  f->stack = SCREE_TAKE_RAW(f->keep, double, f->stack_size);
  f->scratch = SCREE_TAKE_RAW(f->keep, double, f->scratch_size);
  f->tiles = SCREE_TAKE_RAW(f->keep, double, f->tiles_size);
  if (!values || !f->stack || !f->scratch || !f->tiles) {
    scree_arena_release(f->keep, mark);
    return SCREE_MACHINE;
  }
  f->values = values;
  return SCREE_OK;
}

void scree_factor_set_poll(scree_Factor *f, scree_Poll *poll) {
  f->poll = poll;
}

void scree_factor_set_dependent(scree_Factor *f, double part) {
  assert(f->kind == SCREE_FACTOR_SYMMETRIC);
  f->dependent = part;
}

/* Of summing a front, in operations of the same length. */
static double front_work(const scree_Front *front) {
  const double ld = (double)front->size1 + front->size2;
  return 10.0 * ld * ld;
}

/* Operations of a panel, roughly: its pivots, its rows, and the update of what remains. */
static double panel_work(const scree_FactorPanel *panel) {
  return 2.0 * panel->p * (double)(panel->p + panel->m) * (panel->p + panel->m);
}

scree_Status scree_factor_compute(scree_Factor *f, const double *x, int *perturbed) {
  const scree_Status status = numbers_exist(f);
  if (status != SCREE_OK) return status;
  f->pivots = (scree_Pivots){.least = fmax(f->dependent, DBL_EPSILON), .skip = f->dependent > 0.0};
  scale_fill(f, x);
  double work = 0.0; /* since the last poll */
  for (int s = 0; s < f->fronts; ++s) {
    const scree_Front *front = &f->front[s];
    work += front_work(front);
    front_clear(f, front);
    front_scatter(f, front, x);
    front_extend(f, front);
    for (int q = 0; q < front->panels; ++q) {
      const scree_FactorPanel *panel = &f->panel[front->panel + q];
      const bool last = q == front->panels - 1;
      if ((work += panel_work(panel)) > POLL_WORK) {
        if (scree_poll(f->poll)) return SCREE_INTERRUPTED;
        work = 0.0;
      }
      if (f->kind == SCREE_FACTOR_SYMMETRIC)
        panel_symmetric(f, front, panel, last);
      else
        panel_unsymmetric(f, front, panel, last);
    }
  }
  if (perturbed) *perturbed = f->pivots.perturbed;
  return f->pivots.broken ? SCREE_BAD_INPUT : SCREE_OK;
}

int scree_factor_sign(const scree_Factor *f) {
  return (f->pivots.negative + f->pivots.swaps) % 2 ? -1 : 1;
}

int scree_factor_negative(const scree_Factor *f) {
  return f->pivots.negative;
}

size_t scree_factor_entries(const scree_Factor *f) {
  return f->entries;
}

double scree_factor_flops(const scree_Factor *f) {
  return f->flops;
}

int scree_factor_fronts(const scree_Factor *f) {
  return f->fronts;
}
