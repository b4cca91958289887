/* The solvers, in the order of the documentation. A new one is a line here. */
#include "solver/registry.h"

/* clang-format off */
const scree_SolverClass *const scree_solver_registry[] = {
    &scree_solver_nlgs,
    &scree_solver_pgd,
    &scree_solver_apgd,
    &scree_solver_apgd_as,
    &scree_solver_apgd_ar,
    &scree_solver_apgd_asr,
    &scree_solver_spg,
    &scree_solver_fixed_point,
    &scree_solver_ipm,
    &scree_solver_newton,
    &scree_solver_lemke,
    &scree_solver_implicit,
    &scree_solver_pivot,
    &scree_solver_pqn,
    &scree_solver_auto,
    NULL,
};
/* clang-format on */

const scree_SolverClass *scree_solver_class(int index) {
  const int count = (int)(sizeof scree_solver_registry / sizeof *scree_solver_registry) - 1;
  return index >= 0 && index < count ? scree_solver_registry[index] : NULL;
}
