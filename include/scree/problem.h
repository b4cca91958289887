/* scree/problem.h — the discrete frictional contact problem, in one form for every method.
 *
 *     u = W r + q                          r_c in Y_c ,   -(u_c + s_c(u_c)) in N_{Y_c}(r_c)
 *
 * for contacts c = 0 .. nc-1 of local size d (2 or 3), normal component first. r are impulses, u
 * relative velocities. s_c(u) = mu |u_T| n gives Coulomb's law (De Saxce), s = 0 the associated
 * law.
 *
 * W comes in one of two forms behind the same problem:
 *   SCREE_ASSEMBLED  block-sparse rows of W, symmetric or not;
 *   SCREE_BODIES     W = B B^T + C, never formed. Body b has nb velocity components, scaled by the
 *                    square root of its inertia: y_b = L^T v_b with A_b = L L^T (A = M for rigid
 *                    bodies). Contact c touches at most two bodies, with blocks B = H L^-T:
 *                        u_c = B_c0 y_body[c][0] + B_c1 y_body[c][1] + C_c r_c + (free part in q)
 *                    In this form kinetic energy is |y|^2/2 and the inertia never appears again. */
#ifndef SCREE_PROBLEM_H
#define SCREE_PROBLEM_H

#include "scree/base.h"
#include "scree/set.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum scree_Law {
  SCREE_COULOMB,   /* s = mu |u_T| n */
  SCREE_ASSOCIATED /* s = 0: convex, dilates by mu |u_T| */
} scree_Law;

typedef enum scree_OperatorKind { SCREE_ASSEMBLED, SCREE_BODIES } scree_OperatorKind;

/* Row c holds the blocks W[c][col[k]] for k = row[c] .. row[c+1]-1, columns ascending, the diagonal
 * always there. The d rows of a block row lie one after the other, each as the concatenation of its
 * blocks' rows, so that u_c is d dot products with the gathered r:
 *     W[c][col[k]](i, j) = x[d*d*row[c] + i*d*(row[c+1]-row[c]) + d*(k-row[c]) + j] */
typedef struct scree_BlockRows {
  size_t *row; /* (nc+1) */
  int *col;    /* (row[nc]) */
  double *x;   /* (row[nc] * d * d) */
} scree_BlockRows;

/* body[c] = the two bodies of contact c, -1 for an obstacle. B[c][k] is d x nb, row by row; blocks
 * of an obstacle are zero.
 *
 * Between balls (spheres, disks) a contact has a third of the numbers and none of the coupling of
 * W_cc: the point of contact lies on the line of the normal through the centre, so that all rows
 * follow from the unit normal n and two numbers for each side,
 *     s = +-1/sqrt(m) (plus for the first body) and a = distance of the point from the centre
 *     / sqrt(J), both zero for an obstacle.
 * The tangents are then (-n_y, n_x) in 2D, and in 3D, with o = 1 or -1 as n_z has that sign bit and
 * p = -1/(o + n_z):  t1 = (1 + o n_x^2 p, o n_x n_y p, -o n_x), t2 = (n_x n_y p, o + n_y^2 p,
 * -n_y). B is null in this form, and the components of a body are its velocity and its spin (nb is
 * 3, in 3D 6). */
typedef struct scree_BodyRows {
  int nbodies, nb;
  int *body;      /* (nc x 2) */
  double *B;      /* (nc x 2 x d x nb), or null for balls */
  double *normal; /* balls: (nc x 3), from the second body to the first; z is 0 in 2D */
  double *arm;    /* balls: (nc x 2 x 2) s and a of each side */
  double *C;      /* (nc x d x d) compliance, or null */
  /* (nbodies) a name for each body that stays the same from problem to problem, no two alike, or
   * null: the numbers of the bodies. A scree_Solver recognises bodies by it. The caller's memory.
   */
  const int *id;
} scree_BodyRows;

typedef struct scree_Problem {
  int d, nc;
  scree_Law law;
  scree_OperatorKind kind;
  scree_BlockRows blocks; /* if SCREE_ASSEMBLED */
  scree_BodyRows bodies;  /* if SCREE_BODIES */
  double *q;              /* (nc x d) */
  double *mu;             /* (nc) */
  uint8_t *set;           /* (nc) scree_SetKind, or null: all SCREE_SET_CONE */
  double *set_a, *set_b;  /* (nc) parameters of the sets, or null: zero */
  /* Non-associated flow (002 section 9), or null. (nc x d x d) symmetric positive definite H_c that
   * do not mix normal and tangents: the law is then -H_c u_c in N_{Y_c}(r_c), with law =
   * SCREE_ASSOCIATED. The caller's memory. */
  const double *flow;
  void *owned; /* memory that scree_problem_destroy frees, or null for a view */
} scree_Problem;

/* An empty problem that owns zeroed arrays of the right sizes, to be filled by the caller.
 * `nblocks` is the number of blocks of W. scree_problem_destroy frees it; it may be called on a
 * zeroed struct. `with_sets` allocates set, set_a, set_b; `with_compliance` allocates C. */
SCREE_API scree_Status scree_problem_create_assembled(scree_Problem *problem, int d, int nc,
                                                      size_t nblocks, bool with_sets,
                                                      const scree_Log *log);
SCREE_API scree_Status scree_problem_create_bodies(scree_Problem *problem, int d, int nc,
                                                   int nbodies, int nb, bool with_sets,
                                                   bool with_compliance, const scree_Log *log);
SCREE_API scree_Status scree_problem_create_balls(scree_Problem *problem, int d, int nc,
                                                  int nbodies, bool with_sets, bool with_compliance,
                                                  const scree_Log *log);
SCREE_API void scree_problem_destroy(scree_Problem *problem);

/* An assembled problem from the rows of a dense W (nc*d x nc*d, row by row); zero blocks are left
 * out. */
SCREE_API scree_Status scree_problem_create_dense(scree_Problem *problem, int d, int nc,
                                                  const double *W, const double *q,
                                                  const double *mu, const scree_Log *log);

/* An assembled problem from a sparse W (nc*d x nc*d) in compressed rows: entries row[i] to
 * row[i+1] - 1 of `col` and `x` are those of row i, in any order; several of one place add up.
 * Blocks without an entry other than zero are left out, except those of the diagonal, which are
 * there also when W has nothing in them. q (nc x d) and mu (nc) are copied; null: zero, for the
 * caller to fill in. `with_sets` allocates set, set_a, set_b: cones until they are changed.
 * SCREE_BAD_INPUT names the row, column or contact that is wrong; *problem is then empty. */
SCREE_API scree_Status scree_problem_create_csr(scree_Problem *problem, int d, int nc,
                                                const size_t *row, const int *col, const double *x,
                                                const double *q, const double *mu, bool with_sets,
                                                const scree_Log *log);

/* An assembled copy of a problem in body form: W = B B^T + C is formed. */
SCREE_API scree_Status scree_problem_assemble(const scree_Problem *bodies, scree_Problem *assembled,
                                              const scree_Log *log);

/* The blocks (2 x d x nb) of contact c of a problem in body form, whether B or balls. */
SCREE_API void scree_problem_blocks(const scree_Problem *problem, int c, double *B);

/* Refuse what no solver can work on: wrong sizes, NaN or infinite numbers, mu < 0, indices out of
 * range, columns not ascending, a missing diagonal block, normals of balls that are not unit. */
SCREE_API scree_Status scree_problem_check(const scree_Problem *problem, const scree_Log *log);

/* Contact c's set. */
SCREE_API scree_Set scree_problem_set(const scree_Problem *problem, int c);

#ifdef __cplusplus
}
#endif

#endif
