/* Coupled vertices: A = I + E over the nodes of deformable bodies.
 *
 * Products with W need y = A^-1 B^T r, for which A is factorised once. Gauss-Seidel cannot keep
 * such a y up to date, since one impulse moves a whole body: constraints that touch coupled
 * vertices are coupled through condensed blocks instead, W_ck = B_c A^-1 B_k^T over the
 * coupled vertices of both, dense within each deformable body. Vertices that are not coupled with
 * others keep A = I. */
#ifndef SCREE_PROBLEM_COUPLING_H
#define SCREE_PROBLEM_COUPLING_H

#include "math/factor.h"
#include "problem/operator.h"

typedef struct scree_Coupling {
  uint8_t *coupled; /* (vertices.count) 1: E has a block for this vertex */
  int piece;        /* vertices are cut into pieces of this size, the nodes of the factor */
  int nodes;
  scree_Factor *factor;
  double *work; /* (nodes x piece) */
  /* condensed W over the constraints of any size: */
  size_t *row;   /* (general.count + 1) */
  int *col;      /* (row[general.count]) constraints k, ascending; null row: none */
  size_t *block; /* (row[general.count]) where a block starts in values: rows x rows of col */
  double *values;
} scree_Coupling;

SCREE_INLINE bool scree_is_coupled(const scree_Operator *W, int v) {
  const int nbodies = W->problem->bodies.nbodies;
  return W->coupling && v >= nbodies && W->coupling->coupled[v - nbodies];
}

/* The coupling of the problem of W, whose offsets are set, or null if there is none. Fails if A is
 * not positive definite. */
scree_Status scree_coupling_create(const scree_Operator *W, scree_Arena *arena,
                                   const scree_Log *log, const scree_Coupling **coupling);

/* y := A^-1 y over the further vertices of a state */
void scree_coupling_solve(const scree_Operator *W, double *y);

/* out += E y over the further vertices of a state */
void scree_coupling_multiply(const scree_Operator *W, const double *y, double *out);

/* u += sum over other constraints, and its own, of condensed blocks times r (rows of the problem)
 */
void scree_coupling_velocity(const scree_Operator *W, int k, const double *r, double *u);

/* D (rows x rows) += the condensed block of constraint k with itself */
void scree_coupling_diagonal(const scree_Operator *W, int k, double *D);

#endif
