/* Sparse direct solution of A x = b on a graph of block nodes: the linear algebra of the interior
 * point methods, where A = I + H^T G H lives on the graph of the bodies.
 *
 * A has n x n blocks of nb x nb numbers on a symmetric block pattern; the values may be symmetric
 * or not. `create` orders the nodes and analyses the pattern once; `compute` and `solve` may then
 * be called any number of times, allocate nothing (but for the numbers of the factor, at the first
 * matrix), and give the same bits every time and on every machine: they depend on the pattern, the
 * order of elimination and the values alone. The method (multifrontal, dense fronts) is described
 * in factor_internal.h. */
#ifndef SCREE_MATH_FACTOR_H
#define SCREE_MATH_FACTOR_H

#include "core/arena.h"
#include "core/poll.h"
#include "core/private.h"

typedef struct scree_Factor scree_Factor;

typedef enum scree_FactorKind {
  SCREE_FACTOR_SYMMETRIC, /* L D L^T without pivoting: positive definite or quasi-definite values */
  SCREE_FACTOR_UNSYMMETRIC /* L U, rows exchanged inside the dense pivot blocks */
} scree_FactorKind;

enum { SCREE_FACTOR_BLOCK_MAX = 12 }; /* largest nb */

/* The pattern: row (n + 1), col (row[n]) with columns ascending in each row, the diagonal present,
 * and (j, i) present whenever (i, j) is. 1 <= nb <= SCREE_FACTOR_BLOCK_MAX; n may be zero. */
SCREE_PRIVATE scree_Status scree_factor_create(int n, int nb, const size_t *row, const int *col,
                                               scree_FactorKind kind, const scree_Log *log,
                                               scree_Factor **factor);

/* The order in which nodes are eliminated. It decides how much work a factorisation is. To find a
 * good one costs about as much as the rest of the analysis, with METIS several times as much, so an
 * order that was found for nearly the same pattern is worth trying. */
typedef struct scree_FactorOrder {
  int *node;         /* (n) in: the nodes in the order to try; out: in the order that was taken */
  bool given;        /* there is an order to try */
  double most;       /* operations up to which it is taken without looking for a better one */
  double operations; /* out: of the order that was taken, in the same measure */
  bool fresh;        /* out: a new order was looked for, and the better of the two taken */
} scree_FactorOrder;

/* Costs in nanoseconds of an ordinary core: of finding an order for n nodes when a factorisation
 * needs that many operations, and of these operations. */
double scree_factor_order_nanoseconds(int n, double operations);
double scree_factor_operations_nanoseconds(double operations);

/* scree_factor_create in memory of the caller's: the factor, which must not be destroyed, takes all
 * it needs from `keep` and lives as long as that is not given back; work of the analysis comes from
 * `scratch` and goes back there. `order` may be null. */
scree_Status scree_factor_create_in(scree_Arena *keep, scree_Arena *scratch, int n, int nb,
                                    const size_t *row, const int *col, scree_FactorKind kind,
                                    scree_FactorOrder *order, const scree_Log *log,
                                    scree_Factor **factor);

/* Factorise the values x (row[n] x nb x nb), blocks in the order of the pattern, each row by row.
 * The symmetric kind reads only the blocks with column <= row, and of a diagonal block only its
 * lower triangle; the rest of x need not be set.
 *
 * A pivot that is nothing but rounding, that is, not above the machine's epsilon times the diagonal
 * entry it started from (symmetric) or the sum of its column (unsymmetric), is replaced by one of
 * sqrt(epsilon) times that size; *perturbed (may be NULL) gets the number of such pivots. With
 * some, `solve` is that of a nearby matrix. Returns SCREE_BAD_INPUT when a value is not finite or
 * overflows, SCREE_MACHINE when memory for the factor cannot be had; the factor must then be
 * computed again before it is used. */
SCREE_PRIVATE scree_Status scree_factor_compute(scree_Factor *factor, const double *x,
                                                int *perturbed);

/* `compute` calls `poll` (or null), which must outlive the factor, about every hundredth of a
 * second and returns SCREE_INTERRUPTED on a request to stop; the factor must then be computed
 * again. */
void scree_factor_set_poll(scree_Factor *factor, scree_Poll *poll);

/* Semi-definite values (symmetric kind): from now on a pivot that is not above `part` > 0 of its
 * diagonal entry belongs to a row that depends on earlier ones. It is left out instead of replaced:
 * `solve` gives its unknown the value zero and solves the other rows as if it were not there.
 * *perturbed counts such rows. */
void scree_factor_set_dependent(scree_Factor *factor, double part);

/* x := A^-1 x, x (n x nb). work (n x nb) is overwritten. Threads may solve with one factor at once,
 * each with its own work. */
SCREE_PRIVATE void scree_factor_solve(const scree_Factor *factor, double *work, double *x);

/* The same for `count` vectors that lie `stride` numbers apart in work and in x; each panel is read
 * from memory once for all of them. */
void scree_factor_solve_several(const scree_Factor *factor, int count, size_t stride, double *work,
                                double *x);

/* The sign of the determinant of the last computed matrix, +1 or -1 (with perturbed pivots, of the
 * matrix that was factorised), and, for the symmetric kind, how many pivots were negative. */
int scree_factor_sign(const scree_Factor *factor);
SCREE_PRIVATE int scree_factor_negative(const scree_Factor *factor);

/* Results of the analysis: numbers stored by the factor, floating-point operations of one `compute`
 * (additions and multiplications, zeros of merged fronts included), the number of dense fronts. */
SCREE_PRIVATE size_t scree_factor_entries(const scree_Factor *factor);
double scree_factor_flops(const scree_Factor *factor);
int scree_factor_fronts(const scree_Factor *factor);

/* Of a factor of scree_factor_create; null is allowed. */
SCREE_PRIVATE void scree_factor_destroy(scree_Factor *factor);

#endif
