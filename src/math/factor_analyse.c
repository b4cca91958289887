/* The symbolic analysis (step 2 of factor_internal.h): the rows of the fronts, the panels, the runs
 * that carry updates to parents, the blocks of A, the places in the factor and on the stack. */
#include "math/factor_internal.h"

#include <string.h>

#include "core/log.h"

enum { WIDE = 500 }; /* rows of a front from which panels are wide */

static int round_up4(int n) {
  return (n + 3) & ~3;
}

static size_t row_length(const scree_Front *front) {
  return (size_t)front->size1 + (size_t)front->size2;
}

/* Sizes of the fronts, their parents and children. */
static void fronts_fill(scree_Factor *f, const scree_FactorTree *tree) {
  int first = 0;
  size_t rows = 0;
  for (int s = 0; s < f->fronts; ++s) {
    scree_Front *front = &f->front[s];
    front->first = first;
    front->pivots = tree->pivots[s];
    front->rest = tree->rest[s];
    front->parent = tree->parent[s];
    front->child = -1;
    front->sibling = -1;
    front->size1 = round_up4(front->pivots * f->nb);
    front->size2 = round_up4(front->rest * f->nb);
    front->rows = rows;
    first += front->pivots;
    rows += (size_t)front->rest;
  }
  for (int s = f->fronts - 1; s >= 0; --s) { /* backwards, so that lists go forwards */
    scree_Front *front = &f->front[s];
    if (front->parent < 0) continue;
    scree_Front *parent = &f->front[front->parent];
    front->sibling = parent->child;
    parent->child = s;
    ++parent->children;
  }
}

/* With rows ascending, the blocks of column i come up in order in every row j. */
scree_Status scree_factor_transpose(int n, const size_t *row, const int *col, size_t *next,
                                    size_t *transposed, const scree_Log *log) {
  for (int i = 0; i < n; ++i) next[i] = row[i];
  for (int i = 0; i < n; ++i) {
    bool diagonal = false;
    for (size_t k = row[i]; k < row[i + 1]; ++k) {
      const int j = col[k];
      if (j < 0 || j >= n || (k > row[i] && j <= col[k - 1]))
        return scree_fail(
            log, SCREE_BAD_INPUT,
            "factorisation: row %d of the pattern has column %d in place %zu, expected "
            "ascending columns in 0..%d",
            i, j, k - row[i], n - 1);
      diagonal = diagonal || j == i;
      if (next[j] == row[j + 1] || col[next[j]] != i)
        return scree_fail(log, SCREE_BAD_INPUT,
                          "factorisation: the pattern has block (%d, %d) but not (%d, %d), or rows "
                          "not ascending; expected a symmetric pattern",
                          i, j, j, i);
      transposed[k] = next[j]++;
    }
    if (!diagonal)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "factorisation: row %d of the pattern has no diagonal block", i);
  }
  return SCREE_OK;
}

/* The rest of each front, ascending: node i is in the rest of every front on the paths from the
 * fronts of its earlier neighbours up to its own. */
static void rows_fill(scree_Factor *f, const size_t *row, const int *col, const int *position,
                      const int *front_of, int *mark, int *filled) {
  for (int s = 0; s < f->fronts; ++s) mark[s] = -1, filled[s] = 0;
  for (int i = 0; i < f->n; ++i) {
    const int node = f->order[i], own = front_of[i];
    mark[own] = i;
    for (size_t k = row[node]; k < row[node + 1]; ++k) {
      const int j = position[col[k]];
      if (j >= i) continue;
      for (int s = front_of[j]; mark[s] != i; s = f->front[s].parent) {
        f->rows[f->front[s].rows + (size_t)filled[s]++] = i;
        mark[s] = i;
      }
    }
  }
}

/* Where in a front's rows and columns each of its nodes begins. */
static void front_places(const scree_Factor *f, const scree_Front *front, int *place) {
  for (int i = 0; i < front->pivots; ++i) place[front->first + i] = i * f->nb;
  for (int i = 0; i < front->rest; ++i)
    place[f->rows[front->rows + (size_t)i]] = front->size1 + i * f->nb;
}

static void runs_fill(scree_Factor *f, scree_Front *child, const int *place, size_t *end) {
  child->run = *end;
  int last = -1; /* where a run goes on */
  for (int i = 0; i < child->rest; ++i) {
    const int target = place[f->rows[child->rows + (size_t)i]];
    if (target != last)
      f->runs[(*end)++] = (scree_DenseRun){.source = i * f->nb, .target = target, .length = 0};
    f->runs[*end - 1].length += f->nb;
    last = target + f->nb;
  }
  child->runs = *end - child->run;
}

/* Blocks of A of which this front eliminates the row or the column. */
static void blocks_fill(scree_Factor *f, scree_Front *front, const size_t *row, const int *col,
                        const int *position, const int *place, const size_t *transposed,
                        size_t *end) {
  const size_t square = (size_t)f->nb * (size_t)f->nb, ld = row_length(front);
  front->block = *end;
  for (int turned = 0; turned < 2; ++turned) {
    const size_t begin = *end;
    for (int i = front->first; i < front->first + front->pivots; ++i) {
      const int node = f->order[i];
      for (size_t k = row[node]; k < row[node + 1]; ++k) {
        const int j = position[col[k]];
        if (j < i) continue;
        const size_t upper = (size_t)place[i] * ld + (size_t)place[j];
        if (f->kind == SCREE_FACTOR_SYMMETRIC) { /* only the caller's lower half */
          if ((col[k] >= node) != (turned == 1)) continue;
          f->blocks[(*end)++] =
              (scree_FactorBlock){.source = square * (turned ? transposed[k] : k), .target = upper};
        } else if (turned == 0) {
          f->blocks[(*end)++] = (scree_FactorBlock){.source = square * k, .target = upper};
          if (j != i)
            f->blocks[(*end)++] =
                (scree_FactorBlock){.source = square * transposed[k],
                                    .target = (size_t)place[j] * ld + (size_t)place[i]};
        }
      }
    }
    if (turned)
      front->turned = *end - begin;
    else
      front->straight = *end - begin;
  }
}

static size_t take(size_t *end, size_t count) {
  const size_t begin = *end;
  *end += (count + 7) / 8 * 8; /* whole cache lines */
  return begin;
}

/* Panels of a front. Narrow ones lose less in the pivot block, wide ones pass less often over what
 * remains, which counts once that is larger than the cache. */
static int panels_of(const scree_Factor *f, const scree_Front *front) {
  const int most = row_length(front) > WIDE ? SCREE_PANEL : SCREE_PANEL / 2;
  return (front->pivots * f->nb + most - 1) / most;
}

/* Cut a front's pivots into panels of about equal width; count operations: symmetric, p^2 + m^2 per
 * pivot with what is right of it, unsymmetric twice that. */
static void panels_fill(scree_Factor *f, int s, size_t *values) {
  scree_Front *front = &f->front[s];
  const int total = front->pivots * f->nb, outside = front->rest * f->nb;
  const int panels = panels_of(f, front);
  const int width = round_up4((total + panels - 1) / panels);
  front->panel = f->panels;
  for (int offset = 0; offset < total; offset += width) {
    const bool last = offset + width >= total;
    scree_FactorPanel *panel = &f->panel[f->panels++];
    const int p = last ? total - offset : width;
    const int end = last ? front->size1 : offset + width;
    panel->front = s;
    panel->start = front->first * f->nb + offset;
    panel->offset = offset;
    panel->p = p;
    panel->m = front->size1 - end + front->size2;
    const size_t square = (size_t)p * (size_t)round_up4(p), tiles = scree_tiles_size(p, panel->m);
    panel->rd = take(values, (size_t)p);
    panel->lt = take(values, square);
    panel->left = take(values, tiles);
    if (f->kind == SCREE_FACTOR_UNSYMMETRIC) {
      panel->u = take(values, square);
      panel->right = take(values, tiles);
    }
    const int rounded = (panel->m + SCREE_TILE - 1) / SCREE_TILE * SCREE_TILE;
    if (rounded > f->vector_max) f->vector_max = rounded;
  }
  front->panels = f->panels - front->panel;
  const double work = f->kind == SCREE_FACTOR_SYMMETRIC ? 1.0 : 2.0;
  for (int k = 0; k < total; ++k) {
    const double right = (double)(total - k - 1 + outside);
    f->flops += work * right * (right + 1.0) + right;
    f->entries += (size_t)(work * right) + 1;
  }
}

static int panels_count(const scree_Factor *f) {
  int count = 0;
  for (int s = 0; s < f->fronts; ++s) count += panels_of(f, &f->front[s]);
  return count;
}

/* Places on the stack, and the sizes of all arrays of numbers. The large ones are only allocated
 * for the first matrix: a caller may need the cost estimate alone. */
static bool numbers_allocate(scree_Factor *f) {
  size_t top = 0, peak = 0, scratch = 0, tiles = 0, values = 0;
  for (int s = 0; s < f->fronts; ++s) {
    scree_Front *front = &f->front[s];
    front->update = front->child >= 0 ? f->front[front->child].update : top;
    top = front->update + (size_t)front->size2 * (size_t)front->size2;
    const size_t square = row_length(front) * row_length(front);
    if (top > peak) peak = top;
    if (square > scratch) scratch = square;
    panels_fill(f, s, &values);
    for (int q = front->panel; q < front->panel + front->panels; ++q) {
      const size_t size = scree_tiles_size(f->panel[q].p, f->panel[q].m);
      if (size > tiles) tiles = size;
    }
  }
  f->values_size = values;
  f->stack_size = peak;
  f->scratch_size = scratch;
  f->tiles_size = f->kind == SCREE_FACTOR_SYMMETRIC ? tiles : 0;
  f->scale = SCREE_TAKE_RAW(f->keep, double, f->n * f->nb);
  f->perm = SCREE_TAKE_RAW(f->keep, int, f->kind == SCREE_FACTOR_SYMMETRIC ? 0 : f->n * f->nb);
  return f->scale && f->perm;
}

/* Parts of the pattern that only one of the two kinds needs. */
static void pattern_keep(scree_Factor *f, const size_t *row, const int *col, const int *position) {
  if (f->kind == SCREE_FACTOR_SYMMETRIC) {
    for (int i = 0; i < f->n; ++i) {
      size_t k = row[f->order[i]];
      while (col[k] != f->order[i]) ++k;
      f->diagonal[i] = k;
    }
  } else {
    for (size_t k = 0; k < f->nonzeros; ++k) f->columns[k] = position[col[k]];
  }
}

static bool lists_allocate(scree_Factor *f, const scree_FactorTree *tree, size_t nonzeros) {
  const bool symmetric = f->kind == SCREE_FACTOR_SYMMETRIC;
  size_t rest = 0;
  for (int s = 0; s < tree->fronts; ++s) rest += (size_t)tree->rest[s];
  scree_Arena *keep = f->keep;
  f->order = SCREE_TAKE_RAW(keep, int, f->n);
  f->diagonal = SCREE_TAKE_RAW(keep, size_t, symmetric ? f->n : 0);
  f->columns = SCREE_TAKE_RAW(keep, int, symmetric ? 0 : nonzeros);
  f->front = SCREE_TAKE(keep, scree_Front, tree->fronts);
  f->rows = SCREE_TAKE_RAW(keep, int, rest);
  f->runs = SCREE_TAKE_RAW(keep, scree_DenseRun, rest);
  f->blocks =
      SCREE_TAKE_RAW(keep, scree_FactorBlock, symmetric ? (nonzeros + (size_t)f->n) / 2 : nonzeros);
  return f->order && f->diagonal && f->columns && f->front && f->rows && f->runs && f->blocks;
}

/* Lists that need the nodes' positions; maps (5 x n) is work space. */
static void lists_fill(scree_Factor *f, const size_t *row, const int *col, int *maps,
                       const size_t *transposed) {
  const size_t n = (size_t)f->n;
  int *position = maps, *front_of = maps + n, *place = maps + 2 * n;
  for (int i = 0; i < f->n; ++i) position[f->order[i]] = i;
  for (int s = 0; s < f->fronts; ++s) {
    for (int i = 0; i < f->front[s].pivots; ++i) front_of[f->front[s].first + i] = s;
  }
  rows_fill(f, row, col, position, front_of, maps + 3 * n, maps + 4 * n);
  size_t runs = 0, blocks = 0;
  for (int s = 0; s < f->fronts; ++s) {
    scree_Front *front = &f->front[s];
    front_places(f, front, place);
    for (int c = front->child; c >= 0; c = f->front[c].sibling)
      runs_fill(f, &f->front[c], place, &runs);
    blocks_fill(f, front, row, col, position, place, transposed, &blocks);
  }
  pattern_keep(f, row, col, position);
}

scree_Status scree_factor_analyse(scree_Factor *f, scree_Arena *scratch, const size_t *row,
                                  const int *col, const size_t *transposed,
                                  const scree_FactorTree *tree, const scree_Log *log) {
  f->fronts = tree->fronts;
  f->nonzeros = row[f->n];
  int *maps = SCREE_TAKE_RAW(scratch, int, 5 * (size_t)f->n);
  if (!maps || !lists_allocate(f, tree, row[f->n]))
    return scree_fail_memory(log, "analysis of the factorisation");
  if (f->n > 0) memcpy(f->order, tree->order, (size_t)f->n * sizeof *f->order);
  fronts_fill(f, tree);
  lists_fill(f, row, col, maps, transposed);
  f->panel = SCREE_TAKE(f->keep, scree_FactorPanel, panels_count(f));
  if (!f->panel || !numbers_allocate(f))
    return scree_fail_memory(log, "numbers of the factorisation");
  return SCREE_OK;
}
