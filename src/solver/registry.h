/* The descriptors of all solvers. */
#ifndef SCREE_SOLVER_REGISTRY_H
#define SCREE_SOLVER_REGISTRY_H

#include "solver/solver.h"

extern const scree_SolverClass scree_solver_nlgs;

extern const scree_SolverClass *const scree_solver_registry[]; /* null-ended */

#endif
