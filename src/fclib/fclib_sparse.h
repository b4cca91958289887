/* A sparse matrix of an FCLIB file, in any of its three layouts, as sorted compressed rows. */
#ifndef SCREE_FCLIB_SPARSE_H
#define SCREE_FCLIB_SPARSE_H

#include "fclib/fclib_h5.h"

typedef struct scree_Sparse {
  int rows, cols;
  size_t *row; /* (rows+1) */
  int *col;    /* (row[rows]) ascending within a row, no duplicates */
  double *x;   /* (row[rows]) finite */
} scree_Sparse;

/* Read the group `name` ("/fclib_local/W"), which must be rows x cols (known from the vectors,
 * whose sizes are backed by data). With `transpose` the result is the transpose, cols x rows.
 * Duplicates are summed in the order of the file. */
scree_Status scree_sparse_read(const scree_H5 *h5, const char *name, int rows, int cols,
                               bool transpose, scree_Sparse *matrix);
void scree_sparse_fini(scree_Sparse *matrix);

/* Value at (i, j), zero when it is not stored. */
double scree_sparse_at(const scree_Sparse *matrix, int i, int j);

/* max |A - A^T| / max |A| of a square matrix, zero for a zero matrix. */
double scree_sparse_asymmetry(const scree_Sparse *matrix);

/* Write compressed columns (by_columns) or compressed rows; `pointer` has rows+1 or cols+1 values.
 */
bool scree_sparse_write(const scree_H5 *h5, const char *name, bool by_columns, int rows, int cols,
                        const int *pointer, const int *index, const double *x);

#endif
