/* Sweeps of Gauss-Seidel for other methods: smoothing, polishing. */
#ifndef SCREE_SOLVER_NLGS_H
#define SCREE_SOLVER_NLGS_H

#include "problem/operator.h"

/* At most `sweeps` sweeps of a state made by scree_solver_nlgs.create, from r, until one changes no
 * more than `small` (negative: all of them); then u = W r + q afresh. A visit goes `relaxation`
 * times the way to its local solution where balls meet, just there elsewhere. `resume` says that r
 * is what the last call left. Returns the change of the last sweep, max |dr_n| + max |dr_T| (000
 * (4.15)), infinite if there was none; *done counts them. */
double scree_nlgs_sweep(void *state, const scree_Operator *W, int sweeps, double small,
                        double relaxation, bool resume, double *r, double *u, int *done);

/* Whether sweeps of this state go the fast way of balls. */
bool scree_nlgs_sweeps_balls(const void *state);

#endif
