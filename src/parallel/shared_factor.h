/* Sparse linear systems A x = b whose matrix is the sum of parts on several ranks: PETSc behind an
 * interface like that of math/factor.h.
 *
 * The nodes are the blocks of a halo. Each rank has a part of A with the pattern of its own
 * constraints; rows of nodes that several ranks hold are sums over these ranks. A node is owned by
 * the lowest rank that holds it, and PETSc has the rows of a rank's own nodes there. Where blocks
 * have one owner (an assembled W), rows belong to it, and columns may be blocks of other ranks.
 *
 * Direct: MUMPS, a multifrontal L U with pivoting. Otherwise GMRES, preconditioned by algebraic
 * multigrid: hypre's BoomerAMG, or PETSc's own GAMG.
 *
 * Everything here is called by all ranks together, and gives the same status on all of them. A
 * build without PETSc does not have them: SCREE_SHARED_FACTORS is 0, and every call fails. */
#ifndef SCREE_PARALLEL_SHARED_FACTOR_H
#define SCREE_PARALLEL_SHARED_FACTOR_H

#include "parallel/halo.h"

typedef enum scree_SharedMethod {
  SCREE_SHARED_DIRECT,
  SCREE_SHARED_BOOMERAMG,
  SCREE_SHARED_GAMG
} scree_SharedMethod;

typedef struct scree_SharedFactor scree_SharedFactor;

/* Operations of one factorisation on all ranks together, and numbers that it stores; of GMRES those
 * of a guessed number of iterations. */
typedef struct scree_SharedWork {
  double flops, entries;
} scree_SharedWork;

#ifdef SCREE_PETSC

enum { SCREE_SHARED_FACTORS = 1 }; /* they are in this build */

/* n local nodes have rows here: the first n blocks of the halo. row (n + 1), col (row[n]): blocks
 * of the halo, in any order; both are needed during this call alone. */
scree_Status scree_shared_factor_create(const scree_Halo *halo, int n, const size_t *row,
                                        const int *col, const scree_Log *log,
                                        scree_SharedFactor **factor);

/* Whether this rank owns a node: what is in A once, and not part by part, is added there. */
bool scree_shared_factor_owns(const scree_SharedFactor *factor, int node);

/* The work of `direct`, from the analysis of the pattern. */
scree_Status scree_shared_factor_work(scree_SharedFactor *factor, scree_SharedWork *work);

/* The parts of A, x (row[n] x nb x nb), blocks in the order of the pattern. *broken: the values are
 * not finite, or the matrix cannot be factorised; there is no factor then. */
scree_Status scree_shared_factor_compute(scree_SharedFactor *factor, scree_SharedMethod method,
                                         const double *x, bool *broken);

/* b <- A^-1 b. Values of a node are the same on all ranks that hold it, before and after. Direct:
 * refined until there is no round-off, since that of MUMPS differs from run to run. */
scree_Status scree_shared_factor_solve(scree_SharedFactor *factor, double *b);

/* Iterations of GMRES since it was created. */
long long scree_shared_factor_iterations(const scree_SharedFactor *factor);

/* Null is allowed. */
void scree_shared_factor_destroy(scree_SharedFactor *factor);

#else

/* NOLINTBEGIN(readability-non-const-parameter) */

enum { SCREE_SHARED_FACTORS = 0 };

static inline scree_Status scree_shared_factor_create(const scree_Halo *halo, int n,
                                                      const size_t *row, const int *col,
                                                      const scree_Log *log,
                                                      scree_SharedFactor **factor) {
  (void)halo;
  (void)n;
  (void)row;
  (void)col;
  (void)log;
  *factor = NULL;
  return SCREE_BAD_INPUT;
}

static inline bool scree_shared_factor_owns(const scree_SharedFactor *factor, int node) {
  (void)factor;
  (void)node;
  return true;
}

static inline scree_Status scree_shared_factor_work(scree_SharedFactor *factor,
                                                    scree_SharedWork *work) {
  (void)factor;
  *work = (scree_SharedWork){0};
  return SCREE_BAD_INPUT;
}

static inline scree_Status scree_shared_factor_compute(scree_SharedFactor *factor,
                                                       scree_SharedMethod method, const double *x,
                                                       bool *broken) {
  (void)factor;
  (void)method;
  (void)x;
  *broken = true;
  return SCREE_BAD_INPUT;
}

static inline scree_Status scree_shared_factor_solve(scree_SharedFactor *factor, double *b) {
  (void)factor;
  (void)b;
  return SCREE_BAD_INPUT;
}

static inline long long scree_shared_factor_iterations(const scree_SharedFactor *factor) {
  (void)factor;
  return 0;
}

static inline void scree_shared_factor_destroy(scree_SharedFactor *factor) {
  (void)factor;
}

/* NOLINTEND(readability-non-const-parameter) */

#endif

#endif
