/* Solutions of A x = b that do not depend on the order in which messages arrive.
 *
 * MUMPS adds contributions of other ranks as they come, so its factors and solutions have other
 * round-off in every run. Iterative refinement with residuals in twice the precision converges to
 * the solution itself, which has no round-off: x is kept as a sum of two numbers, hi + lo, and
 *     r = b - A (hi + lo)  in twice the precision,     (L U) d = r,     hi + lo += d
 * gains about -log10(cond(A) eps) digits a step. When d no longer changes hi + lo the result is
 * rounded, which gives the same bits whatever (L U) was, unless A is singular to working precision
 * (then the last correction decides, and bits may differ) or hi + lo is within 1e-30 of the middle
 * between two numbers. For the sake of the latter, components that are small next to the largest
 * one are rounded to 2^-62 of it.
 *
 * Reference: J. Demmel, Y. Hida, W. Kahan, X. S. Li, S. Mukherjee, E. J. Riedy, Error bounds from
 * extra-precise iterative refinement, ACM TOMS 32 (2006) 325-351; products and sums without error
 * by T. J. Dekker, Numer. Math. 18 (1971) 224-242. */
#include "parallel/petsc_mpi.h"

#include <math.h>

static const struct Numbers {
  int most;     /* corrections */
  double small; /* correction over the solution: nothing changes any more */
  double slow;  /* ratio of two corrections above which they do not converge any further */
  int grid;     /* the coarsest rounding, in powers of two of the largest component */
} number = {.most = 60, .small = 0x1p-100, .slow = 0.5, .grid = 62};

/* hi + lo = a + b */
static inline void add(double a, double b, double *hi, double *lo) {
  *hi = a + b;
  const double part = *hi - a;
  *lo = (a - (*hi - part)) + (b - part);
}

/* sum -= a (hi + lo), in twice the precision */
static inline void subtract_product(double sum[2], double a, double hi, double lo) {
  const double p = a * hi, rest = fma(a, hi, -p) + a * lo;
  double low;
  add(sum[0], -p, &sum[0], &low);
  sum[1] += low - rest;
}

PetscErrorCode scree_petsc_exact_create(Mat A, scree_PetscExact *exact) {
  PetscInt ghosts = 0;
  IS columns = NULL;
  const PetscInt *column;
  PetscErrorCode error = MatMPIAIJGetSeqAIJ(A, &exact->inside, &exact->outside, &column);
  if (!error) error = MatGetSize(exact->outside, NULL, &ghosts);
  if (!error) error = MatCreateVecs(A, &exact->hi, &exact->residual);
  if (!error) error = VecDuplicate(exact->hi, &exact->lo);
  if (!error) error = VecDuplicate(exact->hi, &exact->correction);
  if (!error) error = VecCreateSeq(PETSC_COMM_SELF, ghosts, &exact->ghost_hi);
  if (!error) error = VecDuplicate(exact->ghost_hi, &exact->ghost_lo);
  if (!error) error = ISCreateGeneral(PETSC_COMM_SELF, ghosts, column, PETSC_COPY_VALUES, &columns);
  if (!error) error = VecScatterCreate(exact->hi, columns, exact->ghost_hi, NULL, &exact->scatter);
  (void)ISDestroy(&columns);
  return error;
}

void scree_petsc_exact_destroy(scree_PetscExact *exact) {
  (void)VecScatterDestroy(&exact->scatter);
  (void)VecDestroy(&exact->hi);
  (void)VecDestroy(&exact->lo);
  (void)VecDestroy(&exact->residual);
  (void)VecDestroy(&exact->correction);
  (void)VecDestroy(&exact->ghost_hi);
  (void)VecDestroy(&exact->ghost_lo);
}

/* Part of the rows of a sequential matrix: sums (rows x 2) -= A (hi + lo). */
static PetscErrorCode subtract_rows(Mat A, Vec hi, Vec lo, double (*sum)[2]) {
  PetscInt n;
  PetscBool done;
  const PetscInt *row, *col;
  const PetscScalar *a, *h, *l;
  PetscErrorCode error = MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &row, &col, &done);
  if (!error && !done) error = PETSC_ERR_SUP;
  if (!error) error = MatSeqAIJGetArrayRead(A, &a);
  if (!error) error = VecGetArrayRead(hi, &h);
  if (!error) error = VecGetArrayRead(lo, &l);
  if (error) return error;
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt k = row[i]; k < row[i + 1]; ++k)
      subtract_product(sum[i], a[k], h[col[k]], l[col[k]]);
  error = VecRestoreArrayRead(hi, &h);
  if (!error) error = VecRestoreArrayRead(lo, &l);
  if (!error) error = MatSeqAIJRestoreArrayRead(A, &a);
  if (!error) error = MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &row, &col, &done);
  return error;
}

/* residual = b - A (hi + lo); `sum` (own rows) is work space */
static PetscErrorCode find_residual(scree_PetscExact *exact, Vec b, double (*sum)[2]) {
  PetscInt n;
  const PetscScalar *from;
  PetscScalar *to;
  PetscErrorCode error = VecGetLocalSize(b, &n);
  if (!error)
    error =
        VecScatterBegin(exact->scatter, exact->hi, exact->ghost_hi, INSERT_VALUES, SCATTER_FORWARD);
  if (!error)
    error =
        VecScatterEnd(exact->scatter, exact->hi, exact->ghost_hi, INSERT_VALUES, SCATTER_FORWARD);
  if (!error)
    error =
        VecScatterBegin(exact->scatter, exact->lo, exact->ghost_lo, INSERT_VALUES, SCATTER_FORWARD);
  if (!error)
    error =
        VecScatterEnd(exact->scatter, exact->lo, exact->ghost_lo, INSERT_VALUES, SCATTER_FORWARD);
  if (!error) error = VecGetArrayRead(b, &from);
  if (error) return error;
  for (PetscInt i = 0; i < n; ++i) {
    sum[i][0] = from[i];
    sum[i][1] = 0.0;
  }
  error = VecRestoreArrayRead(b, &from);
  if (!error) error = subtract_rows(exact->inside, exact->hi, exact->lo, sum);
  if (!error) error = subtract_rows(exact->outside, exact->ghost_hi, exact->ghost_lo, sum);
  if (!error) error = VecGetArrayWrite(exact->residual, &to);
  if (error) return error;
  for (PetscInt i = 0; i < n; ++i) to[i] = sum[i][0] + sum[i][1];
  return VecRestoreArrayWrite(exact->residual, &to);
}

/* hi + lo += correction */
static PetscErrorCode correct(scree_PetscExact *exact) {
  PetscInt n;
  const PetscScalar *d;
  PetscScalar *hi, *lo;
  PetscErrorCode error = VecGetLocalSize(exact->hi, &n);
  if (!error) error = VecGetArrayRead(exact->correction, &d);
  if (!error) error = VecGetArray(exact->hi, &hi);
  if (!error) error = VecGetArray(exact->lo, &lo);
  if (error) return error;
  for (PetscInt i = 0; i < n; ++i) {
    double sum, low;
    add(hi[i], d[i], &sum, &low);
    add(sum, low + lo[i], &hi[i], &lo[i]);
  }
  error = VecRestoreArrayRead(exact->correction, &d);
  if (!error) error = VecRestoreArray(exact->hi, &hi);
  if (!error) error = VecRestoreArray(exact->lo, &lo);
  return error;
}

/* x = hi + lo, rounded. */
static PetscErrorCode round_sum(scree_PetscExact *exact, Vec x) {
  PetscInt n;
  PetscReal largest;
  const PetscScalar *hi, *lo;
  PetscScalar *to;
  PetscErrorCode error = VecNorm(exact->hi, NORM_INFINITY, &largest);
  if (!error) error = VecGetLocalSize(x, &n);
  if (!error) error = VecGetArrayRead(exact->hi, &hi);
  if (!error) error = VecGetArrayRead(exact->lo, &lo);
  if (!error) error = VecGetArrayWrite(x, &to);
  if (error) return error;
  int exponent;
  (void)frexp(largest, &exponent);
  const double grid = ldexp(1.0, exponent - number.grid);
  for (PetscInt i = 0; i < n; ++i) {
    const double scaled = hi[i] / grid, whole = rint(scaled); /* the division is exact */
    const double rest = (scaled - whole) + lo[i] / grid;
    to[i] = !(fabs(scaled) < 0x1p53) ? hi[i] : (whole + (rest > 0.5) - (rest < -0.5)) * grid;
  }
  error = VecRestoreArrayRead(exact->hi, &hi);
  if (!error) error = VecRestoreArrayRead(exact->lo, &lo);
  if (!error) error = VecRestoreArrayWrite(x, &to);
  return error;
}

PetscErrorCode scree_petsc_exact_solve(scree_PetscExact *exact, Mat LU, Vec b, Vec x,
                                       double (*sum)[2]) {
  double before = INFINITY;
  PetscErrorCode error = VecSet(exact->hi, 0.0);
  if (!error) error = VecSet(exact->lo, 0.0);
  if (!error) error = VecCopy(b, exact->residual);
  for (int k = 0; !error && k < number.most; ++k) {
    PetscReal change = 0.0, size = 0.0;
    error = MatSolve(LU, exact->residual, exact->correction);
    if (!error) error = VecNorm(exact->correction, NORM_INFINITY, &change);
    if (error || !(change < number.slow * before)) break;
    before = change;
    error = correct(exact);
    if (!error) error = VecNorm(exact->hi, NORM_INFINITY, &size);
    if (error || change <= number.small * size) break;
    error = find_residual(exact, b, sum);
  }
  return error ? error : round_sum(exact, x);
}
