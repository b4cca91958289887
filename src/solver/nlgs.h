/* Sweeps of Gauss-Seidel for other methods: smoothing, polishing. */
#ifndef SCREE_SOLVER_NLGS_H
#define SCREE_SOLVER_NLGS_H

#include "solver/solver.h"

/* A state of nlgs with its default options, in memory from an arena that outlives the method that
 * asks for it; there is nothing to destroy. */
scree_Status scree_nlgs_create_smoother(const scree_SolveRun *run, scree_Arena *arena,
                                        void **state);

/* At most `sweeps` sweeps of a state of scree_solver_nlgs or of the smoother, from r, until one
 * changes no more than `small` (negative: all of them); then u = W r + q afresh. A visit goes
 * `relaxation` times the way to its local solution where balls meet, just there elsewhere. `resume`
 * says that r is what the last call left. Returns the change of the last sweep, max |dr_n| + max
 * |dr_T| (000 (4.15)), infinite if there was none; *done counts them. */
double scree_nlgs_sweep(void *state, const scree_Operator *W, int sweeps, double small,
                        double relaxation, bool resume, double *r, double *u, int *done);

/* Whether sweeps of this state go the fast way of balls. */
bool scree_nlgs_sweeps_balls(const void *state);

#endif
