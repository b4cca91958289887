/* Local solver `sal`: one step on the augmented Lagrangian of Alart and Curnier.
 *
 *     tau = r - rho u                                 001 (35)
 *     r_n = max(0, tau_n)
 *     r_T = tau_T min(1, mu r_n / |tau_T|)            with the new r_n
 *
 * A given rho is used unchanged (the papers: 0.6 m/dt in 001, m/dt in 000, against a plane). */
#include "solver/local_common.h"

static inline void project(int d, double mu, double rho, const double *r, const double *u,
                           double *r_new) {
  const double n = fmax(0.0, r[0] - rho * u[0]);
  double t[3] = {0.0, 0.0, 0.0};
  for (int i = 1; i < d; ++i) t[i] = r[i] - rho * u[i];
  const double s = local_tangential(d, t), radius = mu * n;
  const double factor = s <= radius ? 1.0 : radius / s;
  r_new[0] = n;
  for (int i = 1; i < d; ++i) r_new[i] = factor * t[i];
}

static inline void step(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                        const double *u, const double *r, double *r_new) {
  Contact contact;
  if (!local_begin(parameters, d, W, mu, u, r, &contact)) {
    scree_cone_project(d, mu, r, r_new);
    return;
  }
  double next[3];
  project(d, mu, local_rho(parameters, &contact, local_safe_rho(&contact)), contact.r, contact.u,
          next);
  local_end(&contact, d, next, r_new);
}

static void solve(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                  const double *u, const double *r, double *r_new) {
  switch (d) {
  case 2: step(parameters, 2, W, mu, u, r, r_new); break;
  default: step(parameters, 3, W, mu, u, r, r_new); break;
  }
}

const scree_LocalClass scree_local_sal = {
    .name = "sal",
    .summary = "standard augmented Lagrangian: one projected step on the half-cylinder mu r_n",
    .reference = "Dumont 2013, section 3.5, (35)",
    .associated = false,
    .solve = solve,
};
