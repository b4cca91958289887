/* Coupled vertices: A = I + E over the nodes of deformable bodies.
 *
 * Vertices that E connects form a cluster: a deformable body. A is factorised cluster by cluster,
 * once. Products with W need y = A^-1 B^T r. Gauss-Seidel cannot keep such a y up to date, since
 * one impulse moves a whole body: constraints that touch the same cluster are coupled through
 * condensed blocks instead, W_ck = sum over the clusters of both of B_c A^-1 B_k^T. A row of W is
 * therefore as long as there are constraints on the one or two bodies that it touches. Vertices
 * that are not coupled with others keep A = I. */
#ifndef SCREE_PROBLEM_COUPLING_H
#define SCREE_PROBLEM_COUPLING_H

#include "math/factor.h"
#include "problem/operator.h"

/* Vertices that are connected through E, and the factor of their part of A. */
typedef struct scree_Cluster {
  int first, count; /* of `member` */
  size_t length;    /* components */
  scree_Factor *factor;
} scree_Cluster;

typedef struct scree_Coupling {
  uint8_t *coupled; /* (vertices.count) 1: E has a block for this vertex */
  int *cluster_of;  /* (vertices.count) -1: not coupled */
  size_t *place;    /* (vertices.count) where a vertex is in the vectors of its cluster */
  int clusters;
  scree_Cluster *cluster; /* (clusters) */
  int *member;            /* vertices, cluster by cluster, ascending */
  double *work, *vector;  /* (largest cluster) each */
  /* condensed W over the constraints of any size: */
  size_t *row;   /* (general.count + 1) */
  int *col;      /* (row[general.count]) constraints k, ascending */
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
