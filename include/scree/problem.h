/* scree/problem.h — the discrete frictional contact problem, in one form for every method.
 *
 *     u = W r + q                          r_c in Y_c ,   -(u_c + s_c(u_c)) in N_{Y_c}(r_c)
 *
 * r are impulses, u relative velocities; each constraint c has its own closed convex set Y_c.
 * s_c(u) = mu |u_T| n gives Coulomb's law (De Saxce), s = 0 the associated law.
 *
 * Constraints. Most are contacts: nc of them, all of local size d (2 or 3), normal component
 * first. Behind them come constraints of any size (scree_GeneralRows): joints, contacts with
 * rolling resistance, contacts of deformable bodies. Vectors such as q, r and u hold the d rows of
 * each contact, then the rows of the others.
 *
 * W comes in one of two forms behind the same problem:
 *   SCREE_ASSEMBLED  block-sparse rows of W, symmetric or not; contacts only;
 *   SCREE_BODIES     W = B A^-1 B^T + C, never formed. Velocities live on vertices: first nbodies
 *                    bodies of nb components each, then vertices of any size (scree_Vertices). The
 *                    velocity of a vertex is scaled by the square root of its inertia: y = L^T v
 *                    with A_b = L L^T (A_b = M for rigid bodies). A constraint touches vertices
 *                    with blocks B = H L^-T:
 *                        u_c = sum over its vertices B_cb y_b + C_c r_c + (free part in q)
 *                    Where no vertices are coupled, A is the identity in these variables: kinetic
 *                    energy is |y|^2/2 and the inertia never appears again.
 *
 * All rows should have one unit: a row of a joint that constrains rotation is multiplied by a
 * length, so that u is a velocity and r an impulse. */
#ifndef SCREE_PROBLEM_H
#define SCREE_PROBLEM_H

#include "scree/base.h"
#include "scree/set.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum scree_Flow {
  SCREE_COULOMB,   /* s = mu |u_T| n */
  SCREE_ASSOCIATED /* s = 0: convex, dilates by mu |u_T| */
} scree_Flow;

/* "coulomb", "associated"; null for other values. */
SCREE_API const char *scree_flow_name(scree_Flow flow);

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

/* The bodies, and the contacts between them. body[c] = the two bodies of contact c, -1 for an
 * obstacle. B[c][k] is d x nb, row by row; blocks of an obstacle are zero.
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
  /* (nbodies) an identifier for each body that stays the same from problem to problem, no two
   * alike, or null: the numbers of the bodies. A scree_Solver recognises bodies by it. The caller's
   * memory. */
  const int *id;
} scree_BodyRows;

/* Vertices of any size behind the bodies: vertex nbodies + k has size[k] components. They may be
 * coupled, as the nodes of a finite-element body are by its stiffness: A = I + E, where E has no
 * diagonal blocks (each vertex is scaled by the square root of its own block) and A must be
 * positive definite. */
typedef struct scree_Vertices {
  int count;
  int *size; /* (count) */
  /* The blocks of E below the diagonal, or a null row: none. Block j of row[k] .. row[k+1]-1
   * couples vertex nbodies + k with vertex nbodies + col[j], col[j] < k ascending; blocks lie one
   * after the other in x, each size[k] x size[col[j]], row by row. */
  size_t *row; /* (count + 1) */
  int *col;    /* (row[count]) */
  double *x;
  /* x := A^-1 x over the components of all these vertices, for callers who have factorised A
   * already; null: it is factorised. Called from one thread at a time. */
  void (*solve)(void *user, double *x);
  void *user;
} scree_Vertices;

/* Constraints of any number of rows, 1 to SCREE_ROWS_MAX, on any number of vertices: constraint
 * nc + k has rows row[k] .. row[k+1]-1 of q, r and u, and touches the vertices
 * vertex[entry[k]] .. vertex[entry[k+1]-1], none of them twice. Obstacles are left out. */
enum { SCREE_ROWS_MAX = 6 };
typedef struct scree_GeneralRows {
  int count;
  size_t *row;   /* (count + 1) row[0] = nc d */
  size_t *entry; /* (count + 1) entry[0] = 0 */
  int *vertex;   /* (entry[count]) */
  size_t *block; /* (entry[count] + 1) where the block of an entry starts in B */
  double *B;     /* (block[entry[count]]) rows of the constraint x size of the vertex each */
  double *C;     /* compliance, rows x rows of each constraint one after the other, or null */
} scree_GeneralRows;

typedef struct scree_Problem {
  int d, nc;
  scree_Flow flow;
  scree_OperatorKind kind;
  scree_BlockRows blocks; /* if SCREE_ASSEMBLED */
  scree_BodyRows bodies;  /* these three: if SCREE_BODIES */
  scree_Vertices vertices;
  scree_GeneralRows general;
  double *q;             /* (rows) see scree_problem_rows */
  double *mu;            /* (constraints) */
  uint8_t *set;          /* (constraints) scree_SetKind, or null: all SCREE_SET_CONE */
  double *set_a, *set_b; /* (constraints) parameters of the sets, or null: zero */
  /* Non-associated flow (002 section 9) of the contacts, or null. (nc x d x d) symmetric positive
   * definite H_c that do not mix normal and tangents: the law is then -H_c u_c in N_{Y_c}(r_c),
   * with flow = SCREE_ASSOCIATED. The caller's memory. */
  const double *flow_blocks;
  void *owned; /* memory that scree_problem_destroy frees, or null for a view */
} scree_Problem;

/* Constraints in all: contacts and general ones. */
static inline int scree_problem_constraints(const scree_Problem *problem) {
  return problem->nc + problem->general.count;
}

/* Rows in all: the length of q, r and u. */
static inline size_t scree_problem_rows(const scree_Problem *problem) {
  return problem->general.count ? problem->general.row[problem->general.count]
                                : (size_t)problem->nc * (size_t)problem->d;
}

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

/* The graph of a problem in body form: everything that decides how long its arrays are. All arrays
 * are copied. Start from a zeroed struct and fill what is there. */
typedef struct scree_ProblemLayout {
  int d;                     /* size of the contacts, 2 or 3 */
  int contacts;              /* nc */
  bool balls;                /* contacts are between balls: normal and arm instead of B */
  int bodies, nb;            /* vertices of nb components that contacts touch */
  const int *body;           /* (contacts x 2), or null: to be filled later */
  int vertices;              /* vertices of any size */
  const int *vertex_size;    /* (vertices) */
  const size_t *coupled_row; /* (vertices + 1) pattern of E as in scree_Vertices, or null */
  const int *coupled_col;
  int constraints;      /* of any size */
  const int *rows;      /* (constraints) 1 to SCREE_ROWS_MAX */
  const int *touches;   /* (constraints) how many vertices each touches */
  const int *touched;   /* the vertices of the first constraint, of the second, ... */
  bool with_sets;       /* set, set_a, set_b; always there with constraints of any size */
  bool with_compliance; /* C of the contacts and of the other constraints */
} scree_ProblemLayout;

/* A problem of that layout with zeroed values, to be filled: B or normal and arm, q, mu, sets. */
SCREE_API scree_Status scree_problem_create(scree_Problem *problem,
                                            const scree_ProblemLayout *layout,
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

/* An assembled copy of a problem in body form that has contacts only: W = B B^T + C is formed. */
SCREE_API scree_Status scree_problem_assemble(const scree_Problem *bodies, scree_Problem *assembled,
                                              const scree_Log *log);

/* The blocks (2 x d x nb) of contact c of a problem in body form, whether B or balls. */
SCREE_API void scree_problem_blocks(const scree_Problem *problem, int c, double *B);

/* Refuse what no solver can work on: wrong sizes, NaN or infinite numbers, mu < 0, indices out of
 * range, columns not ascending, a missing diagonal block, normals of balls that are not unit. */
SCREE_API scree_Status scree_problem_check(const scree_Problem *problem, const scree_Log *log);

/* The set of constraint c. */
SCREE_API scree_Set scree_problem_set(const scree_Problem *problem, int c);

#ifdef __cplusplus
}
#endif

#endif
