/* Assembled problems from a scalar sparse matrix in compressed rows (scree_problem_create_csr).
 *
 * Two passes over the rows of each contact: the first counts the blocks that have a nonzero entry,
 * and the diagonal block, which always exists; the second lists them in ascending order and adds
 * the entries to their blocks. */
#include "core/log.h"
#include "core/memory.h"
#include "scree/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Csr {
  int n; /* rows and columns */
  const size_t *row;
  const int *col;
  const double *x;
} Csr;

static scree_Status check_matrix(const Csr *W, const scree_Log *log) {
  if (W->n == 0) return SCREE_OK;
  if (!W->row || (W->row[W->n] > 0 && (!W->col || !W->x)))
    return scree_fail(log, SCREE_BAD_INPUT, "W: an array is null, expected row, col and x");
  if (W->row[0] != 0)
    return scree_fail(log, SCREE_BAD_INPUT, "W: row 0 begins at entry %zu, expected 0", W->row[0]);
  for (int i = 0; i < W->n; ++i) {
    if (W->row[i + 1] < W->row[i])
      return scree_fail(log, SCREE_BAD_INPUT,
                        "W: row %d ends at entry %zu, expected at least %zu, where it begins", i,
                        W->row[i + 1], W->row[i]);
    for (size_t k = W->row[i]; k < W->row[i + 1]; ++k) {
      if (W->col[k] < 0 || W->col[k] >= W->n)
        return scree_fail(log, SCREE_BAD_INPUT, "W: column %d in row %d, expected 0 to %d",
                          W->col[k], i, W->n - 1);
      if (!isfinite(W->x[k]))
        return scree_fail(log, SCREE_BAD_INPUT, "W: entry (%d, %d) is %g, expected a finite number",
                          i, W->col[k], W->x[k]);
    }
  }
  return SCREE_OK;
}

static scree_Status check_vectors(int d, int nc, const double *q, const double *mu,
                                  const scree_Log *log) {
  for (int k = 0; q && k < nc * d; ++k)
    if (!isfinite(q[k]))
      return scree_fail(log, SCREE_BAD_INPUT, "q: entry %d is %g, expected a finite number", k,
                        q[k]);
  for (int c = 0; mu && c < nc; ++c)
    if (!(mu[c] >= 0) || !isfinite(mu[c]))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "mu: contact %d has %g, expected a finite number >= 0", c, mu[c]);
  return SCREE_OK;
}

static int compare_ints(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Block columns of block row c: those with a nonzero entry, and the diagonal. `seen` (nc) holds the
 * last row in which a column was found. Returns their number; the list is unordered. */
static int block_columns(const Csr *W, int d, int c, int *seen, int *columns) {
  int count = 0;
  seen[c] = c;
  columns[count++] = c;
  for (size_t k = W->row[c * d]; k < W->row[(c + 1) * d]; ++k) {
    const int block = W->col[k] / d;
    if (W->x[k] == 0.0 || seen[block] == c) continue;
    seen[block] = c;
    columns[count++] = block;
  }
  return count;
}

/* Add the entries of block row c; place (nc) of its block columns. Duplicate entries are added in
 * the order in which they are stored. */
static void fill_row(const Csr *W, int c, const int *place, scree_Problem *problem) {
  const int d = problem->d;
  const size_t first = problem->blocks.row[c], count = problem->blocks.row[c + 1] - first;
  for (int i = 0; i < d; ++i) {
    double *x = problem->blocks.x + first * (size_t)(d * d) + (size_t)i * (size_t)d * count;
    for (size_t k = W->row[c * d + i]; k < W->row[c * d + i + 1]; ++k) {
      if (W->x[k] == 0.0) continue;
      x[(size_t)place[W->col[k] / d] * (size_t)d + (size_t)(W->col[k] % d)] += W->x[k];
    }
  }
}

static scree_Status fill(const Csr *W, int d, int nc, bool with_sets, int *seen, int *columns,
                         int *place, scree_Problem *problem, const scree_Log *log) {
  size_t blocks = 0, used = 0;
  for (int c = 0; c < nc; ++c) seen[c] = -1;
  for (int c = 0; c < nc; ++c) blocks += (size_t)block_columns(W, d, c, seen, columns);
  const scree_Status status =
      scree_problem_create_assembled(problem, d, nc, blocks, with_sets, log);
  if (status) return status;
  for (int c = 0; c < nc; ++c) seen[c] = -1;
  for (int c = 0; c < nc; ++c) {
    const int count = block_columns(W, d, c, seen, columns);
    qsort(columns, (size_t)count, sizeof *columns, compare_ints);
    for (int b = 0; b < count; ++b) place[columns[b]] = b;
    memcpy(problem->blocks.col + used, columns, (size_t)count * sizeof *columns);
    problem->blocks.row[c] = used;
    used += (size_t)count;
    problem->blocks.row[c + 1] = used;
    fill_row(W, c, place, problem);
  }
  return SCREE_OK;
}

scree_Status scree_problem_create_csr(scree_Problem *problem, int d, int nc, const size_t *row,
                                      const int *col, const double *x, const double *q,
                                      const double *mu, bool with_sets, const scree_Log *log) {
  *problem = (scree_Problem){0};
  if ((d != 2 && d != 3) || nc < 0 || nc > INT32_MAX / 3)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: %d contacts of size %d, expected 0 to %d of size 2 or 3", nc, d,
                      INT32_MAX / 3);
  const Csr W = {nc * d, row, col, x};
  scree_Status status = check_matrix(&W, log);
  if (!status) status = check_vectors(d, nc, q, mu, log);
  if (status) return status;
  int *seen = SCREE_ALLOC(int, nc), *columns = SCREE_ALLOC(int, nc), *place = SCREE_ALLOC(int, nc);
  if (!seen || !columns || !place)
    status = scree_fail_memory(log, "the pattern of W");
  else
    status = fill(&W, d, nc, with_sets, seen, columns, place, problem, log);
  if (!status && q && nc) memcpy(problem->q, q, (size_t)W.n * sizeof *q);
  if (!status && mu && nc) memcpy(problem->mu, mu, (size_t)nc * sizeof *mu);
  scree_free(seen);
  scree_free(columns);
  scree_free(place);
  return status;
}
