/* The linear systems of Newton-like methods, factorised.
 *
 * Body form:       (I + B^T G B) dy = b      over the bodies, G block-diagonal (nc x d x d)
 * Assembled form:  (L W + G) dr = b          over the contacts, L block-diagonal too
 * Both have a symmetric block pattern that does not change during a solve, and values that are
 * unsymmetric when G is. The analysis of the pattern is done once. */
#ifndef SCREE_SOLVER_GRAPH_SYSTEM_H
#define SCREE_SOLVER_GRAPH_SYSTEM_H

#include "math/factor.h"
#include "problem/operator.h"

typedef struct scree_GraphSystem {
  const scree_Operator *W;
  const scree_Log *log;
  int n, nb;   /* block nodes (bodies or contacts) and their size */
  size_t size; /* n * nb unknowns */
  size_t *row; /* (n + 1) block pattern */
  int *col;    /* (row[n]) */
  double *x;   /* (row[n] x nb x nb) values, made with the first matrix */
  int *slot;   /* body form: (nc x 4) blocks (0,0) (0,1) (1,0) (1,1) of a contact */
  scree_Factor *factor;
  double *work, *residual; /* (size) */
} scree_GraphSystem;

scree_Status scree_graph_system_create(const scree_Operator *W, bool symmetric,
                                       const scree_Log *log, scree_GraphSystem *system);
void scree_graph_system_destroy(scree_GraphSystem *system);

/* Assemble for G (and L, null: identity; not used in body form) and factorise. *broken is set when
 * the numbers are not finite any more: the method has broken down, and there is no factor.
 * SCREE_INTERRUPTED when the factor's poll says so. */
scree_Status scree_graph_system_factor(scree_GraphSystem *system, const double *L, const double *G,
                                       bool *broken);

/* b <- solution, with one step of iterative refinement. */
void scree_graph_system_solve(scree_GraphSystem *system, double *b);

#endif
