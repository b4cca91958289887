/* Laws of constraints that are linear in fixed statuses: Lu u + Lr r = c for each, u = W r + q.
 *
 *     body form       (A + B^T G B) y = B^T (b - G q),   r = b - G (B y + q),
 *                     G = (Lu C + Lr)^-1 Lu,   b = (Lu C + Lr)^-1 c
 *     assembled form  (Lu W + Lr) r = c - Lu q
 *
 * Methods that go from status to status set the rows, factorise, and solve for one or more q. */
#ifndef SCREE_SOLVER_LINEAR_LAWS_H
#define SCREE_SOLVER_LINEAR_LAWS_H

#include "solver/solver.h"

typedef struct scree_LinearLaws {
  const scree_Operator *W;
  scree_GraphSystem *system; /* of the run */
  double *Lu, *Lr;           /* (W->squares); body form: Lu holds G after `factor` */
  double *c;                 /* (W->rows); body form: b after `factor` */
  double *w;                 /* (W->constraints) mean diagonal of W_cc, for scaling rows */
  double *t;                 /* (W->rows) work */
  double *y;                 /* state, work */
  double *e;                 /* (W->constraints) for the method: proximal weights, relative to w */
  uint8_t *status, *changes; /* (W->constraints) for the method: of the last system; since then */
  double *vectors;           /* (W->rows each) for the method, as many as it asked for */
} scree_LinearLaws;

/* Arrays come from the work memory of the run, as does *state, `size` bytes of the method's own
 * unless `state` is null; there is nothing to destroy. */
scree_Status scree_linear_laws_create(const scree_SolveRun *run, size_t size, size_t vectors,
                                      void **state, scree_LinearLaws *laws);

/* Body form: G = (Lu C + Lr)^-1 Lu of constraint k in place of Lu, and b in place of c. */
void scree_linear_law_eliminate(const scree_Operator *W, int k, const double *Lr, double *Lu,
                                double *c);

/* Factorise for the current rows; *broken as in graph_system.h. */
scree_Status scree_linear_laws_factor(scree_LinearLaws *laws, bool *broken);

/* r for velocities W r + q; c: laws->c, or null for zero. */
scree_Status scree_linear_laws_solve(scree_LinearLaws *laws, const double *c, const double *q,
                                     double *r);

#endif
