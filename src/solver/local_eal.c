/* Local solver `eal`: Newton's method on the augmented Lagrangian, 001 section 3.5.
 *
 *     Z(r, v) = r - P_C(tau),   tau = r - rho v,   C = [0, inf) x disk of radius mu r_n
 *
 * where r_n is the unknown itself, so that the radius has a derivative too (001 (36), with mu r_n
 * as the radius).
 *
 * no contact  tau_n <= 0: P = 0, A = I, B = 0
 * stick       |tau_T| < mu r_n: A = 0, B = rho I
 * slip        Z = (rho v_n, r_T - mu r_n t),  t = tau_T/|tau_T|,  k = mu r_n/|tau_T|, in [0, 1]:
 *             A = (0 0; -mu t, I_T - k (I_T - t t^T)),   B = rho (1 0; 0, k (I_T - t t^T))
 *
 * (the sign of the last block is + : a misprint in the paper). tau_T = 0 under slip means mu r_n =
 * 0; t = 0 and k = 0 then, which requires r_T = 0. */
#include "solver/local_common.h"
#include "solver/local_newton.h"

static inline scree_LocalStatus tangent(int d, double mu, double rho, const double *r,
                                        const double *v, double *Z, double *A, double *B) {
  double tau[3];
  for (int i = 0; i < d; ++i) tau[i] = r[i] - rho * v[i];
  for (int i = 0; i < d * d; ++i) A[i] = B[i] = 0.0;
  if (tau[0] <= 0.0) {
    for (int i = 0; i < d; ++i) {
      A[d * i + i] = 1.0;
      Z[i] = r[i];
    }
    return SCREE_LOCAL_FREE;
  }
  const double s = local_tangential(d, tau), radius = mu * fmax(0.0, r[0]);
  Z[0] = rho * v[0];
  if (s < radius) {
    for (int i = 0; i < d; ++i) B[d * i + i] = rho;
    for (int i = 1; i < d; ++i) Z[i] = rho * v[i];
    return SCREE_LOCAL_STICK;
  }
  double t[3] = {0.0, 0.0, 0.0}, k = 0.0;
  if (s > 0.0) {
    for (int i = 1; i < d; ++i) t[i] = tau[i] / s;
    k = radius / s;
  }
  B[0] = rho;
  for (int i = 1; i < d; ++i) {
    Z[i] = r[i] - radius * t[i];
    A[d * i] = -mu * t[i];
    for (int j = 1; j < d; ++j) {
      const double across = k * ((i == j ? 1.0 : 0.0) - t[i] * t[j]);
      A[d * i + j] = (i == j ? 1.0 : 0.0) - across;
      B[d * i + j] = rho * across;
    }
  }
  return SCREE_LOCAL_SLIP;
}

scree_LocalStatus scree_local_eal_tangent(int d, double mu, double saxce, double rho,
                                          const double *r, const double *v, double *Z, double *A,
                                          double *B) {
  (void)saxce; /* the half-cylinder is for Coulomb's law only */
  return d == 2 ? tangent(2, mu, rho, r, v, Z, A, B) : tangent(3, mu, rho, r, v, Z, A, B);
}

static void solve(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                  const double *u, const double *r, double *r_new) {
  scree_local_newton(parameters, scree_local_eal_tangent, d, W, mu, u, r, r_new);
}

const scree_LocalClass scree_local_eal = {
    .name = "eal",
    .summary =
        "enhanced augmented Lagrangian: Newton on the projection on the half-cylinder mu r_n",
    .reference = "Dumont 2013, sections 3.4-3.5, (32)-(36)",
    .associated = false,
    .solve = solve,
};
