/* Constraints of any size, one at a time: their velocity, and how they push their vertices. Index k
 * counts them from zero; constraint nc + k is constraint k here.
 *
 * Storage of velocities: bodies lie `stride` doubles apart (nb in the state of the operator, more
 * where a sweep pads them), the further vertices where the operator stores them. */
#ifndef SCREE_PROBLEM_GENERAL_H
#define SCREE_PROBLEM_GENERAL_H

#include "problem/coupling.h"
#include "problem/operator.h"

typedef struct scree_VertexState {
  double *bodies;
  size_t stride;
  double *further; /* a state of the operator, of which only the further vertices are used */
} scree_VertexState;

SCREE_INLINE scree_VertexState scree_vertex_state(const scree_Operator *W, double *y) {
  return (scree_VertexState){y, (size_t)W->problem->bodies.nb, y};
}

SCREE_INLINE double *scree_vertex_at(const scree_Operator *W, const scree_VertexState *state,
                                     int v) {
  const int nbodies = W->problem->bodies.nbodies;
  return v < nbodies ? state->bodies + (size_t)v * state->stride
                     : state->further + W->offset[v - nbodies];
}

/* u += B y over the vertices of constraint k */
void scree_general_motion(const scree_Operator *W, int k, const scree_VertexState *state,
                          double *u);

/* y += B^T dr over its vertices */
void scree_general_push(const scree_Operator *W, int k, const double *dr,
                        const scree_VertexState *state);

/* y += A^-1 B^T dr, at all vertices that constraints touch */
void scree_general_move(const scree_Operator *W, int k, const double *dr,
                        const scree_VertexState *state);

/* u = (W r + q)_c, given y = A^-1 B^T r at the vertices of the constraint */
void scree_general_velocity(const scree_Operator *W, int k, const double *r,
                            const scree_VertexState *state, double *u);

/* u += C r_c */
void scree_general_comply(const scree_Operator *W, int k, const double *r, double *u);

#endif
