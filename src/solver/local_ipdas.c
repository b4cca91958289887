/* Local solver `ipdas`: one step of the "iterative" primal-dual active set method of 000
 * section 5.2, (5.5)-(5.8); the stick condition is u_T' = 0, without the factor p_n'/p_n of
 * `epdas`. The step is in local_pdas.h. */
#include "solver/local_pdas.h"

static void solve(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                  const double *u, const double *r, double *r_new) {
  switch (d) {
  case 2: local_pdas_step(parameters, false, 2, W, mu, u, r, r_new); break;
  default: local_pdas_step(parameters, false, 3, W, mu, u, r, r_new); break;
  }
}

const scree_LocalClass scree_local_ipdas = {
    .name = "ipdas",
    .summary = "iterative primal-dual active set: one step per visit",
    .reference = "Abide et al. 2021, section 5.2, (5.5)-(5.8)",
    .associated = false,
    .solve = solve,
};
