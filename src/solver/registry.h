/* The descriptors of all solvers. */
#ifndef SCREE_SOLVER_REGISTRY_H
#define SCREE_SOLVER_REGISTRY_H

#include "solver/solver.h"

extern const scree_SolverClass scree_solver_nlgs;
extern const scree_SolverClass scree_solver_pgd, scree_solver_apgd, scree_solver_apgd_as,
    scree_solver_apgd_ar, scree_solver_apgd_asr;
extern const scree_SolverClass scree_solver_spg, scree_solver_fixed_point;
extern const scree_SolverClass scree_solver_ipm, scree_solver_newton, scree_solver_lemke,
    scree_solver_auto, scree_solver_implicit, scree_solver_pivot;

extern const scree_SolverClass scree_solver_pqn;

extern const scree_SolverClass *const scree_solver_registry[]; /* null-terminated */

#endif
