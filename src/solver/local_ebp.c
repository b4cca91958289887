/* Local solver `ebp`: Newton's method on the bipotential, 001 section 3.3.
 *
 *     Z(r, v) = r - P_K(tau),   tau = r - rho (v + mu |v_T| n)
 *
 * With D = dP_K/dtau and E = dv + mu (v_T/|v_T| . dv_T) n as a matrix,
 *
 *     A = I - D          B = rho D E
 *
 * no contact  D = 0
 * stick       D = I
 * slip        P_K = tau - s g,  s = (|tau_T| - mu tau_n)/(1 + mu^2),  g = tau_T/|tau_T| - mu n
 *             D = I - g g^T/(1 + mu^2) - (s/|tau_T|) (I_T - t t^T),   t = tau_T/|tau_T|
 *
 * which are the columns that the paper writes out (its 2D tangential column has 1 + theta_r theta_v
 * once the misprint is corrected). s/|tau_T| is in [0, 1]. v_T = 0 takes the generalised derivative
 * v_T/|v_T| = 0, and tau_T = 0 under slip (only when mu = 0 or tau = 0) the limit of mu = 0. */
#include "solver/local_common.h"
#include "solver/local_newton.h"

static inline scree_LocalStatus tangent(int d, double mu, double saxce, double rho, const double *r,
                                        const double *v, double *Z, double *A, double *B) {
  const double v_t = local_tangential(d, v);
  double tau[3], D[9], P[3], hat[3] = {0.0, 0.0, 0.0}; /* hat = mu v_T/|v_T| */
  for (int i = 0; i < d; ++i) tau[i] = r[i] - rho * v[i];
  tau[0] -= rho * saxce * v_t;
  if (v_t > 0.0)
    for (int i = 1; i < d; ++i) hat[i] = saxce * (v[i] / v_t);

  const double s = local_tangential(d, tau);
  scree_LocalStatus status = SCREE_LOCAL_SLIP;
  if (tau[0] < 0.0 && mu * s <= -tau[0])
    status = SCREE_LOCAL_FREE;
  else if (s < mu * tau[0])
    status = SCREE_LOCAL_STICK;

  for (int i = 0; i < d * d; ++i) D[i] = 0.0;
  if (status != SCREE_LOCAL_FREE)
    for (int i = 0; i < d; ++i) D[d * i + i] = 1.0;
  if (status == SCREE_LOCAL_SLIP) {
    const double c = 1.0 / (1.0 + mu * mu);
    double g[3] = {-mu, 0.0, 0.0}, ratio = 1.0;
    if (s > 0.0) {
      for (int i = 1; i < d; ++i) g[i] = tau[i] / s;
      ratio = c * (1.0 - mu * (tau[0] / s));
    }
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) D[d * i + j] -= c * g[i] * g[j];
    for (int i = 1; i < d; ++i)
      for (int j = 1; j < d; ++j) D[d * i + j] -= ratio * ((i == j ? 1.0 : 0.0) - g[i] * g[j]);
  }

  scree_cone_project(d, mu, tau, P);
  for (int i = 0; i < d; ++i) {
    Z[i] = r[i] - P[i];
    for (int j = 0; j < d; ++j) {
      A[d * i + j] = (i == j ? 1.0 : 0.0) - D[d * i + j];
      B[d * i + j] = rho * (D[d * i + j] + D[d * i] * hat[j]);
    }
  }
  return status;
}

scree_LocalStatus scree_local_ebp_tangent(int d, double mu, double saxce, double rho,
                                          const double *r, const double *v, double *Z, double *A,
                                          double *B) {
  return d == 2 ? tangent(2, mu, saxce, rho, r, v, Z, A, B)
                : tangent(3, mu, saxce, rho, r, v, Z, A, B);
}

static void solve(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                  const double *u, const double *r, double *r_new) {
  scree_local_newton(parameters, scree_local_ebp_tangent, d, W, mu, u, r, r_new);
}

const scree_LocalClass scree_local_ebp = {
    .name = "ebp",
    .summary = "enhanced bipotential: Newton on the projection on Coulomb's cone",
    .reference = "Dumont 2013, sections 3.3-3.4, (25)-(32)",
    .associated = true,
    .solve = solve,
};
