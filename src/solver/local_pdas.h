/* The primal-dual active set step of 000 section 5, shared by `epdas` and `ipdas`.
 *
 * One step per visit (000 remark 3). The sets are read from the current (p, u):
 *
 *   inactive   p_n - gamma_n u_n < 0               p' = 0                             (5.1)
 *   slip       |p_T - gamma_t u_T| >= mu p_n       u_n' = 0, p_T' = mu p_n' t         (5.2)-(5.3)
 *                                                  t = (p_T - gamma_t u_T)/|...|
 *   stick      else                                u_n' = 0 and
 *                                           ipdas  u_T' = 0                           (5.8)
 *                                           epdas  p_n u_T' + (p_n' - p_n) u_T = 0    (5.4)
 *
 * with u' = u + W (p' - p). For a ball (no coupling between n and T) that reads
 *   p_n' = p_n - u_n/W_nn,   p_T' = p_T - W_tt^-1 u_T (times p_n'/p_n for epdas),
 * with p_n' in (5.3) and W_tt p_n in the denominator of (5.4): the misprints corrected. The paper
 * is in 2D and for balls. In 3D t is the direction above, found by iterating, and W_tt a 2 x 2
 * block. With coupling the conditions u' = 0 are solved together:
 *   slip   p_n' (W_nn + mu W_nT t) = W_nn p_n + W_nT p_T - u_n
 *   stick  W dp = -u, and for epdas u_T/p_n added to the column W_Tn.
 *
 * Safeguards: the factor p_n'/p_n, which 000 section 5.2 found unstable for small p_n, is used in
 * [0, 2] only; where the coupled equation is near singular (W_nn + mu W_nT t against W_nn) the
 * ball's formula is used; p_n' < 0, a contact that should have been inactive, gives 0.
 *
 * gamma determines statuses only. Automatic: 1/W_nn and 1/(largest eigenvalue of W_tt). */
#ifndef SCREE_SOLVER_LOCAL_PDAS_H
#define SCREE_SOLVER_LOCAL_PDAS_H

#include "solver/local_common.h"

/* dp of a sticking contact. `scaled` is p_n for epdas and 0 for ipdas. */
static inline bool local_pdas_stick(const Contact *contact, int d, double scaled, double *dp) {
  double A[9], b[3];
  for (int i = 0; i < d * d; ++i) A[i] = contact->W[i];
  for (int i = 0; i < d; ++i) b[i] = -contact->u[i];
  if (scaled > 0.0)
    for (int i = 1; i < d; ++i) A[d * i] += contact->u[i] / scaled;
  if (!local_solve(d, A, b, dp)) return false;
  return contact->r[0] + dp[0] > 0.0 && (scaled == 0.0 || dp[0] <= scaled);
}

static inline void local_pdas_step(const scree_LocalParameters *parameters, bool exact, int d,
                                   const double *W, double mu, const double *u, const double *r,
                                   double *r_new) {
  Contact contact;
  if (!local_begin(parameters, d, W, mu, u, r, &contact)) {
    scree_cone_project(d, mu, r, r_new);
    return;
  }
  const double *p = contact.r, *w = contact.W;
  const double W_nn = fmax(w[0], DBL_EPSILON * contact.hi);
  double W_tt = w[d + 1];
  if (d == 3) W_tt = 0.5 * (w[4] + w[8]) + hypot(0.5 * (w[4] - w[8]), 0.5 * (w[5] + w[7]));
  W_tt = fmax(W_tt, DBL_EPSILON * contact.hi);
  const double gamma_n = parameters->gamma_n > 0.0 ? local_given(&contact, parameters->gamma_n)
                                                   : 1.0 / W_nn,
               gamma_t = parameters->gamma_t > 0.0 ? local_given(&contact, parameters->gamma_t)
                                                   : 1.0 / W_tt;

  double next[3] = {0.0, 0.0, 0.0}, t[3] = {0.0, 0.0, 0.0}, dp[3];
  if (p[0] - gamma_n * contact.u[0] >= 0.0) {
    for (int i = 1; i < d; ++i) t[i] = p[i] - gamma_t * contact.u[i];
    const double s = local_tangential(d, t);
    if (s >= mu * p[0]) {
      double slope = w[0], load = w[0] * p[0] - contact.u[0];
      for (int i = 1; i < d; ++i) {
        t[i] = s > 0.0 ? t[i] / s : 0.0;
        slope += mu * w[i] * t[i];
        load += w[i] * p[i];
      }
      if (slope < 0.125 * W_nn) {
        slope = W_nn;
        load = W_nn * p[0] - contact.u[0];
      }
      next[0] = fmax(0.0, load / slope);
      for (int i = 1; i < d; ++i) next[i] = mu * next[0] * t[i];
    } else if ((exact && local_pdas_stick(&contact, d, p[0], dp)) ||
               local_pdas_stick(&contact, d, 0.0, dp)) {
      for (int i = 0; i < d; ++i) next[i] = p[i] + dp[i];
    } else { /* the ball's formula */
      next[0] = p[0] - contact.u[0] / W_nn;
      for (int i = 1; i < d; ++i) next[i] = p[i] - contact.u[i] / W_tt;
    }
    if (next[0] <= 0.0)
      for (int i = 0; i < d; ++i) next[i] = 0.0;
  }
  local_end(&contact, d, next, r_new);
}

#endif
