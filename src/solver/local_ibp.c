/* Local solver `ibp`: the improved bipotential that 000 compares with (section 6, remarks 2 and 3).
 *
 * 000 gives no formula: it cites the Newton form of the bipotential method (Feng et al. 2005,
 * worked out in 001 section 3.3) and says that one iteration of it is made per visit. So:
 *
 *   predictor   stick if r - W^-1 u, which stops the contact, is in the cone; otherwise
 *               tau = r - rho (u + mu |u_T| n) decides the status, as in `sbp`;
 *   corrector   in that status the bipotential's equations Z = 0 are linearised together with the
 *               contact's own dynamics dv = W dr, (A + B W) dr = -Z, and the result is projected on
 *               the cone.
 *
 * The matrix (A + B W)^-1 takes the place of the scalar rho: the step is scaled by the local W, and
 * in 2D, where Z is piecewise linear, a visit with the right status solves the contact. With the
 * paper's rho = m/dt the ball on the belt takes 2 visits, the second of which makes no change
 * (000 table 2), and so does the ball in the drum (000 table 3), whose rolling contact tau alone
 * would take for a slipping one at first: rho is the same for both directions and W is not.
 *
 * The safeguard: the local dynamics give the velocity after any impulse, so the corrected step is
 * compared with the plain projected one by the natural map and the better of the two is taken. */
#include "solver/local_common.h"
#include "solver/local_newton.h"

/* |r - P_K(r - rho (v + mu |v_T| n))| with v the velocity after r. */
static inline double natural_map(const Contact *contact, int d, double rho, const double *r) {
  double v[3], tau[3], P[3];
  local_velocity(contact, d, r, v);
  local_augmented(contact, d, rho, r, v, tau);
  scree_cone_project(d, contact->mu, tau, P);
  for (int i = 0; i < d; ++i) P[i] -= r[i];
  return local_norm(d, P);
}

/* r - W^-1 u, if it is in the cone and r is not a solution already (there may be several when n and
 * T are coupled, and then the current one is kept). */
static inline bool stick(const Contact *contact, int d, double rho, double *out) {
  const double size = local_norm(d, contact->r) + rho * local_norm(d, contact->u);
  double W[9], b[3];
  for (int i = 0; i < d * d; ++i) W[i] = contact->W[i];
  for (int i = 0; i < d; ++i) b[i] = -contact->u[i];
  if (!local_solve(d, W, b, out)) return false;
  for (int i = 0; i < d; ++i) out[i] += contact->r[i];
  return out[0] >= 0.0 && local_tangential(d, out) <= contact->mu * out[0] &&
         natural_map(contact, d, rho, contact->r) > 64.0 * DBL_EPSILON * size;
}

static inline void step(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                        const double *u, const double *r, double *r_new) {
  Contact contact;
  if (!local_begin(parameters, d, W, mu, u, r, &contact)) {
    scree_cone_project(d, mu, r, r_new);
    return;
  }
  const double safe = local_safe_rho(&contact), rho = local_rho(parameters, &contact, safe);
  double Z[3], A[9], B[9], matrix[9], plain[3], corrected[3];
  if (stick(&contact, d, safe, corrected)) {
    local_end(&contact, d, corrected, r_new);
    return;
  }
  scree_local_ebp_tangent(d, mu, contact.saxce, rho, contact.r, contact.u, Z, A, B);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      double sum = A[d * i + j];
      for (int k = 0; k < d; ++k) sum += B[d * i + k] * contact.W[d * k + j];
      matrix[d * i + j] = sum;
    }
  for (int i = 0; i < d; ++i) Z[i] = -Z[i];

  const double sigma = 0.5 * (contact.saxce + hypot(contact.saxce, 2.0));
  local_augmented(&contact, d, safe / (sigma * sigma), contact.r, contact.u, plain);
  scree_cone_project(d, mu, plain, plain);
  const double *best = plain;
  if (local_solve(d, matrix, Z, corrected)) {
    for (int i = 0; i < d; ++i) corrected[i] += contact.r[i];
    scree_cone_project(d, mu, corrected, corrected);
    if (natural_map(&contact, d, safe, corrected) <= natural_map(&contact, d, safe, plain))
      best = corrected;
  }
  local_end(&contact, d, best, r_new);
}

static void solve(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                  const double *u, const double *r, double *r_new) {
  switch (d) {
  case 2: step(parameters, 2, W, mu, u, r, r_new); break;
  default: step(parameters, 3, W, mu, u, r, r_new); break;
  }
}

const scree_LocalClass scree_local_ibp = {
    .name = "ibp",
    .summary = "improved bipotential: one step per visit, scaled by the local W",
    .reference = "Abide et al. 2021, remarks 2 and 3; Dumont 2013, section 3.3",
    .associated = true,
    .solve = solve,
};
