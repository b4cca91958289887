/* The solvers, in the order of the documentation. A new one is a line here. */
#include "solver/registry.h"

const scree_SolverClass *const scree_solver_registry[] = {
    &scree_solver_nlgs,
    NULL,
};

const scree_SolverClass *scree_solver_class(int index) {
  const int count = (int)(sizeof scree_solver_registry / sizeof *scree_solver_registry) - 1;
  return index >= 0 && index < count ? scree_solver_registry[index] : NULL;
}
