/* Dense factorisations for the inertia blocks of a global problem. Written here rather than taken
 * from LAPACK because an optimised BLAS changes its last bits with the number of threads and the
 * machine, and these numbers become the problem itself. Matrices are row by row. */
#ifndef SCREE_IO_FCLIB_DENSE_H
#define SCREE_IO_FCLIB_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/* True when A (n x n) is symmetric up to the rounding of its own entries:
 * |a_ij - a_ji| <= 4 eps sqrt(|a_ii a_jj|). */
bool scree_fclib_symmetric(int n, const double *A);

/* A = L L^T in place, L in the lower triangle. Returns -1, or the row at which A stops being
 * positive definite to working accuracy. */
int scree_fclib_cholesky(int n, double *A);

/* x = L^-1 x and x = L^-T x for a vector whose entries are `stride` apart. */
void scree_fclib_forward(int n, const double *L, double *x, size_t stride);
void scree_fclib_backward(int n, const double *L, double *x, size_t stride);

/* P A = L U in place with partial pivoting, pivot (n) the rows exchanged. Returns -1, or the column
 * at which A is singular to working accuracy. */
int scree_fclib_lu(int n, double *A, int *pivot);

/* x = A^-1 x from the factors. */
void scree_fclib_lu_solve(int n, const double *LU, const int *pivot, double *x, size_t stride);

#endif
