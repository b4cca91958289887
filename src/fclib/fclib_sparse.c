/* FCLIB's sparse matrices (see fclib_sparse.h). Layouts by the value of `nz`:
 *     -1    compressed columns: p (n+1) pointers, i row indices
 *     -2    compressed rows:    p (m+1) pointers, i column indices
 *     >= 0  nz triplets:        i rows, p columns
 * All are first spread out as (row, column, value) in the order of the file, then sorted by two
 * stable counting sorts, minor index first, which is linear and leaves duplicates side by side. */
#include "fclib/fclib_sparse.h"

#include "core/log.h"
#include "core/memory.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 256 };

typedef struct Entries {
  size_t count;
  int *row, *col; /* (count) */
  double *x;      /* (count) */
} Entries;

static void entries_fini(Entries *entries) {
  scree_free(entries->row);
  scree_free(entries->col);
  scree_free(entries->x);
  *entries = (Entries){0};
}

static scree_Status entries_init(Entries *entries, size_t count, const scree_Log *log) {
  entries->count = count;
  entries->row = SCREE_ALLOC(int, count);
  entries->col = SCREE_ALLOC(int, count);
  entries->x = SCREE_ALLOC(double, count);
  if (entries->row && entries->col && entries->x) return SCREE_OK;
  entries_fini(entries);
  return scree_fail_memory(log, "a sparse matrix");
}

/* Header of a matrix group. */
typedef struct Header {
  int m, n, nz, nzmax;
} Header;

static scree_Status read_header(const scree_H5 *h5, const char *name, int rows, int cols,
                                Header *header) {
  const char *const fields[] = {"m", "n", "nz", "nzmax"};
  int *const values[] = {&header->m, &header->n, &header->nz, &header->nzmax};
  if (!scree_h5_has(h5, name))
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s is missing, expected a matrix", h5->path,
                      name);
  for (int k = 0; k < 4; ++k) {
    char field[NAME_SIZE];
    snprintf(field, sizeof field, "%s/%s", name, fields[k]);
    scree_Status status = scree_h5_read_int(h5, field, values[k]);
    if (status != SCREE_OK) return status;
  }
  if (header->m != rows || header->n != cols)
    return scree_fail(h5->log, SCREE_BAD_INPUT,
                      "%s: %s is %d x %d (m x n), expected %d x %d from the sizes of the vectors",
                      h5->path, name, header->m, header->n, rows, cols);
  if (header->nz < -2)
    return scree_fail(h5->log, SCREE_BAD_INPUT,
                      "%s: %s/nz = %d, expected -1 (compressed columns), -2 (compressed rows) or a "
                      "number of triplets",
                      h5->path, name, header->nz);
  if (header->nzmax < 0 || header->nz > header->nzmax)
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s/nzmax = %d, expected at least %d", h5->path,
                      name, header->nzmax, header->nz > 0 ? header->nz : 0);
  return SCREE_OK;
}

/* The number of values to read from i, p or x: FCLIB writes nzmax of them, or nz of triplets. */
static scree_Status array_count(const scree_H5 *h5, const char *field, const Header *header,
                                size_t *count) {
  scree_Status status = scree_h5_count(h5, field, count);
  if (status != SCREE_OK) return status;
  if (*count == (size_t)header->nzmax || (header->nz >= 0 && *count == (size_t)header->nz))
    return SCREE_OK;
  return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s has %zu values, expected %d (nzmax)",
                    h5->path, field, *count, header->nzmax);
}

static scree_Status read_index(const scree_H5 *h5, const char *field, const Header *header,
                               int used, int limit, int *index) {
  size_t count = 0;
  scree_Status status = array_count(h5, field, header, &count);
  if (status != SCREE_OK) return status;
  int *all = SCREE_ALLOC(int, count);
  if (!all) return scree_fail_memory(h5->log, field);
  assert(index || used == 0);
  status = scree_h5_read_ints(h5, field, count, "nzmax", all);
  for (int k = 0; k < used && status == SCREE_OK; ++k) {
    if (all[k] < 0 || all[k] >= limit)
      status =
          scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s[%d] = %d, expected an index from 0 to %d",
                     h5->path, field, k, all[k], limit - 1);
    index[k] = all[k];
  }
  scree_free(all);
  return status;
}

static scree_Status read_x(const scree_H5 *h5, const char *field, const Header *header, int used,
                           double *x) {
  size_t count = 0;
  scree_Status status = array_count(h5, field, header, &count);
  if (status != SCREE_OK) return status;
  double *all = SCREE_ALLOC(double, count);
  if (!all) return scree_fail_memory(h5->log, field);
  status = scree_h5_read_reals(h5, field, count, "nzmax", all);
  if (status == SCREE_OK && used > 0) memcpy(x, all, (size_t)used * sizeof *x);
  scree_free(all);
  return status;
}

static scree_Status check_pointers(const scree_H5 *h5, const char *field, int lines, int nzmax,
                                   const int *pointer) {
  if (pointer[0] != 0)
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s[0] = %d, expected 0", h5->path, field,
                      pointer[0]);
  for (int k = 0; k < lines; ++k)
    if (pointer[k + 1] < pointer[k])
      return scree_fail(h5->log, SCREE_BAD_INPUT,
                        "%s: %s[%d] = %d after %d, expected pointers that do not decrease",
                        h5->path, field, k + 1, pointer[k + 1], pointer[k]);
  if (pointer[lines] > nzmax)
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s[%d] = %d, expected at most nzmax = %d",
                      h5->path, field, lines, pointer[lines], nzmax);
  return SCREE_OK;
}

static scree_Status read_compressed(const scree_H5 *h5, const char *name, const Header *header,
                                    Entries *entries) {
  const bool by_columns = header->nz == -1;
  const int lines = by_columns ? header->n : header->m;
  char p[NAME_SIZE], i[NAME_SIZE];
  snprintf(p, sizeof p, "%s/p", name);
  snprintf(i, sizeof i, "%s/i", name);
  int *pointer = SCREE_ALLOC(int, (size_t)lines + 1);
  if (!pointer) return scree_fail_memory(h5->log, p);
  scree_Status status =
      scree_h5_read_ints(h5, p, (size_t)lines + 1, by_columns ? "n + 1" : "m + 1", pointer);
  if (status == SCREE_OK) status = check_pointers(h5, p, lines, header->nzmax, pointer);
  /* The index array is checked against the file before memory of that size is taken. */
  size_t count = 0;
  if (status == SCREE_OK) status = array_count(h5, i, header, &count);
  if (status == SCREE_OK) status = entries_init(entries, (size_t)pointer[lines], h5->log);
  if (status == SCREE_OK) {
    int *minor = by_columns ? entries->row : entries->col;
    int *major = by_columns ? entries->col : entries->row;
    assert(minor && major);
    status = read_index(h5, i, header, pointer[lines], by_columns ? header->m : header->n, minor);
    for (int line = 0; line < lines; ++line)
      for (int k = pointer[line]; k < pointer[line + 1]; ++k) major[k] = line;
  }
  scree_free(pointer);
  return status;
}

static scree_Status read_triplets(const scree_H5 *h5, const char *name, const Header *header,
                                  Entries *entries) {
  char p[NAME_SIZE], i[NAME_SIZE];
  snprintf(p, sizeof p, "%s/p", name);
  snprintf(i, sizeof i, "%s/i", name);
  size_t count = 0;
  scree_Status status = array_count(h5, i, header, &count);
  if (status == SCREE_OK) status = entries_init(entries, (size_t)header->nz, h5->log);
  if (status == SCREE_OK) status = read_index(h5, i, header, header->nz, header->m, entries->row);
  if (status == SCREE_OK) status = read_index(h5, p, header, header->nz, header->n, entries->col);
  return status;
}

/* Stable counting sort: order[] lists the entries by ascending key. `start` has keys+1 places. */
static void sort_by(const int *key, int keys, const size_t *before, size_t count, size_t *start,
                    size_t *order) {
  memset(start, 0, ((size_t)keys + 1) * sizeof *start);
  for (size_t k = 0; k < count; ++k) start[key[k] + 1]++;
  for (int k = 0; k < keys; ++k) start[k + 1] += start[k];
  for (size_t k = 0; k < count; ++k) {
    const size_t entry = before ? before[k] : k;
    order[start[key[entry]]++] = entry;
  }
}

/* Sort entries into rows, summing duplicates. */
static scree_Status compress(const scree_H5 *h5, const char *name, const Entries *entries,
                             scree_Sparse *matrix) {
  const int keys = matrix->rows > matrix->cols ? matrix->rows : matrix->cols;
  size_t *start = SCREE_ALLOC(size_t, (size_t)keys + 1);
  size_t *by_col = SCREE_ALLOC(size_t, entries->count);
  size_t *order = SCREE_ALLOC(size_t, entries->count);
  matrix->row = SCREE_ALLOC(size_t, (size_t)matrix->rows + 1);
  matrix->col = SCREE_ALLOC(int, entries->count);
  matrix->x = SCREE_ALLOC(double, entries->count);
  scree_Status status = SCREE_OK;
  if (!start || !by_col || !order || !matrix->row || !matrix->col || !matrix->x) {
    status = scree_fail_memory(h5->log, name);
  } else {
    sort_by(entries->col, matrix->cols, NULL, entries->count, start, by_col);
    sort_by(entries->row, matrix->rows, by_col, entries->count, start, order);
    size_t used = 0;
    int last_row = -1, last_col = -1;
    for (size_t k = 0; k < entries->count; ++k) {
      const int row = entries->row[order[k]], col = entries->col[order[k]];
      if (row == last_row && col == last_col) {
        matrix->x[used - 1] += entries->x[order[k]];
      } else {
        matrix->x[used] = entries->x[order[k]];
        matrix->col[used++] = col;
        matrix->row[row + 1]++;
      }
      last_row = row;
      last_col = col;
      if (!isfinite(matrix->x[used - 1])) {
        status = scree_fail(h5->log, SCREE_BAD_INPUT,
                            "%s: %s: the sum of the entries at row %d, column %d is not finite, "
                            "expected a finite number",
                            h5->path, name, row, col);
        break;
      }
    }
    for (int i = 0; i < matrix->rows; ++i) matrix->row[i + 1] += matrix->row[i];
  }
  scree_free(start);
  scree_free(by_col);
  scree_free(order);
  return status;
}

scree_Status scree_sparse_read(const scree_H5 *h5, const char *name, int rows, int cols,
                               bool transpose, scree_Sparse *matrix) {
  *matrix = (scree_Sparse){.rows = transpose ? cols : rows, .cols = transpose ? rows : cols};
  Header header;
  Entries entries = {0};
  scree_Status status = read_header(h5, name, rows, cols, &header);
  if (status != SCREE_OK) return status;
  status = header.nz < 0 ? read_compressed(h5, name, &header, &entries)
                         : read_triplets(h5, name, &header, &entries);
  if (status == SCREE_OK) {
    char x[NAME_SIZE];
    snprintf(x, sizeof x, "%s/x", name);
    status = read_x(h5, x, &header, (int)entries.count, entries.x);
  }
  if (status == SCREE_OK) {
    if (transpose) {
      int *swap = entries.row;
      entries.row = entries.col;
      entries.col = swap;
    }
    status = compress(h5, name, &entries, matrix);
  }
  entries_fini(&entries);
  if (status != SCREE_OK) scree_sparse_fini(matrix);
  return status;
}

void scree_sparse_fini(scree_Sparse *matrix) {
  scree_free(matrix->row);
  scree_free(matrix->col);
  scree_free(matrix->x);
  *matrix = (scree_Sparse){0};
}

double scree_sparse_at(const scree_Sparse *matrix, int i, int j) {
  size_t low = matrix->row[i], high = matrix->row[i + 1];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (matrix->col[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < matrix->row[i + 1] && matrix->col[low] == j ? matrix->x[low] : 0.0;
}

double scree_sparse_asymmetry(const scree_Sparse *matrix) {
  double largest = 0.0, difference = 0.0;
  for (int i = 0; i < matrix->rows; ++i)
    for (size_t k = matrix->row[i]; k < matrix->row[i + 1]; ++k) {
      largest = fmax(largest, fabs(matrix->x[k]));
      difference =
          fmax(difference, fabs(matrix->x[k] - scree_sparse_at(matrix, matrix->col[k], i)));
    }
  return largest > 0.0 ? difference / largest : 0.0;
}

bool scree_sparse_write(const scree_H5 *h5, const char *name, bool by_columns, int rows, int cols,
                        const int *pointer, const int *index, const double *x) {
  const int lines = by_columns ? cols : rows;
  const int layout = by_columns ? -1 : -2;
  const int used = pointer[lines];
  const char *const fields[] = {"nzmax", "m", "n", "nz"};
  const int values[] = {used, rows, cols, layout};
  char field[NAME_SIZE];
  if (!scree_h5_make_group(h5, name)) return false;
  for (int k = 0; k < 4; ++k) {
    snprintf(field, sizeof field, "%s/%s", name, fields[k]);
    if (!scree_h5_write_ints(h5, field, 1, &values[k])) return false;
  }
  snprintf(field, sizeof field, "%s/p", name);
  if (!scree_h5_write_ints(h5, field, (size_t)lines + 1, pointer)) return false;
  snprintf(field, sizeof field, "%s/i", name);
  if (!scree_h5_write_ints(h5, field, (size_t)used, index)) return false;
  snprintf(field, sizeof field, "%s/x", name);
  return scree_h5_write_reals(h5, field, (size_t)used, x);
}
