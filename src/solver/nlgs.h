/* Sweeps of Gauss-Seidel for other methods: smoothing, polishing. */
#ifndef SCREE_SOLVER_NLGS_H
#define SCREE_SOLVER_NLGS_H

#include "problem/operator.h"

/* `sweeps` sweeps of a state made by scree_solver_nlgs.create, from r; then u = W r + q afresh.
 * Returns the change of the last sweep, max |dr_n| + max |dr_T| (000 (4.15)). */
double scree_nlgs_sweep(void *state, const scree_Operator *W, int sweeps, double *r, double *u);

#endif
