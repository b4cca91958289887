/* Local solver `sbp`: one Uzawa step on the bipotential.
 *
 *     tau = r - rho (u + mu |u_T| n)        001 (21), also 000 [13]
 *     r_new = P_K(tau)                      001 (22)
 *
 * Without the De Saxce term mu |u_T| n the same step solves the associated law. It contracts when
 * rho is small compared with 1/W; a given rho is used unchanged (the paper: 0.6 m/dt against a
 * plane).
 *
 * Automatic rho: r -> u + mu |u_T| n has the Lipschitz constant sigma hi, where sigma is the norm
 * of the 2 x 2 matrix (1 mu; 0 1), so that the rho of a sticking contact is divided by sigma^2: the
 * growth with mu of a map that is no gradient. */
#include "solver/local_common.h"

static inline void step(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                        const double *u, const double *r, double *r_new) {
  Contact contact;
  if (!local_begin(parameters, d, W, mu, u, r, &contact)) {
    scree_cone_project(d, mu, r, r_new);
    return;
  }
  const double sigma = 0.5 * (contact.saxce + hypot(contact.saxce, 2.0));
  const double rho = local_rho(parameters, &contact, local_safe_rho(&contact) / (sigma * sigma));
  double tau[3];
  local_augmented(&contact, d, rho, contact.r, contact.u, tau);
  scree_cone_project(d, mu, tau, tau);
  local_end(&contact, d, tau, r_new);
}

static void solve(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                  const double *u, const double *r, double *r_new) {
  switch (d) {
  case 2: step(parameters, 2, W, mu, u, r, r_new); break;
  default: step(parameters, 3, W, mu, u, r, r_new); break;
  }
}

const scree_LocalClass scree_local_sbp = {
    .name = "sbp",
    .summary = "standard bipotential: one projected step with De Saxce's correction",
    .reference = "Dumont 2013, section 3.2, (21)-(22)",
    .associated = true,
    .solve = solve,
};
