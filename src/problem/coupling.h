/* Coupled vertices: A = I + E over the nodes of deformable bodies.
 *
 * Products with W need y = A^-1 B^T r, for which A is factorised once, unless the caller has done
 * so (scree_Vertices.solve). Gauss-Seidel needs y only at the vertices that constraints touch, and
 * has to update it for every impulse: vertices that are connected through E are a group (a
 * deformable body), and for each group A^-1 is kept as a dense matrix over its touched vertices,
 * the condensed inverse. Vertices that are not coupled with others keep A = I. */
#ifndef SCREE_PROBLEM_COUPLING_H
#define SCREE_PROBLEM_COUPLING_H

#include "math/factor.h"
#include "problem/operator.h"

/* Components of touched vertices that are next to each other in a state. */
typedef struct scree_CoupledRun {
  size_t at, count; /* the first one, in a state */
} scree_CoupledRun;

/* A group of coupled vertices, as far as constraints touch it. */
typedef struct scree_CoupledGroup {
  int *vertex;     /* (count) touched vertices, ascending */
  int count, room; /* room: their number while they are collected */
  size_t width;    /* their components */
  int runs;
  scree_CoupledRun *run; /* (runs) they cover the components in their order */
  double *inverse;       /* (width x width) A^-1 over them */
} scree_CoupledGroup;

typedef struct scree_Coupling {
  uint8_t *coupled; /* (vertices.count) 1: E has a block for this vertex */
  int piece;        /* vertices are cut into pieces of this size, the nodes of the factor */
  int nodes;
  scree_Factor *factor;
  double *work; /* (nodes x piece) */
  int groups;
  scree_CoupledGroup *group; /* (groups) */
  int *group_of;             /* (vertices.count) -1: not coupled */
  int *
      place; /* (vertices.count) first row of a vertex in the inverse of its group, -1: untouched */
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

/* y += A^-1 B^T dr at the touched vertices of a state, for the block B of entry e of a constraint
 * with that many rows, on a coupled vertex */
void scree_coupling_push(const scree_Operator *W, size_t e, size_t rows, const double *dr,
                         double *y);

/* D (rows x rows) += B_k A^-1 B_k^T of constraint k over its coupled vertices */
void scree_coupling_diagonal(const scree_Operator *W, int k, double *D);

#endif
