/* Local solver `epdas`: one step of the "exact" primal-dual active set method of 000 section 5.1,
 * (5.1)-(5.4); the stick condition is linearised with the normal impulse, so that the tangential
 * step is multiplied by p_n'/p_n. The step is in local_pdas.h. */
#include "solver/local_pdas.h"

static void solve(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                  const double *u, const double *r, double *r_new) {
  switch (d) {
  case 2: local_pdas_step(parameters, true, 2, W, mu, u, r, r_new); break;
  default: local_pdas_step(parameters, true, 3, W, mu, u, r, r_new); break;
  }
}

const scree_LocalClass scree_local_epdas = {
    .name = "epdas",
    .summary = "exact primal-dual active set: one step per visit",
    .reference = "Abide et al. 2021, section 5.1, (5.1)-(5.4)",
    .associated = false,
    .solve = solve,
};
