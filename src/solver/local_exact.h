/* The exact solution of one contact: find r with u = W r + q and the law, for any d x d block W.
 *
 * Coulomb's law on the cone. The three statuses of a contact are tried in turn:
 *   open   q_n >= 0: r = 0
 *   stick  u = 0: r = -W^-1 q, if it lies in the cone
 *   slip   u_n = 0 and u_T = -a r_T with a > 0. Eliminating r_n leaves
 *              (S + a I) r_T = -b,   S = W_TT - W_Tn W_nT / W_nn,   b = q_T - W_Tn q_n / W_nn
 *          so r_T = N(a)/D(a), N = n0 + a n1, D = a^2 + a tr S + det S, and |r_T| = mu r_n becomes
 *              f(a) = |N| + mu/W_nn (q_n D + W_nT . N) = 0.
 *          f(0) > 0 because stick has failed and f -> -inf because q_n < 0: there is always a root,
 *          and it is bracketed by [0, k|n1| + sqrt(k|n0|)], k = (W_nn/mu + |W_nT|)/|q_n|. Newton
 *          inside the bracket finds it to machine accuracy. (Squaring f gives the quartic of
 *          Bonnefon and Daviet; the root of f itself is better conditioned.)
 * W need not be symmetric. No comparison uses an absolute tolerance.
 *
 * In 2D f is linear in a and the formulas are closed. The associated law and the other sets are in
 * local_exact.c. */
#ifndef SCREE_SOLVER_LOCAL_EXACT_H
#define SCREE_SOLVER_LOCAL_EXACT_H

#include "problem/operator.h"
#include "problem/set_inline.h"
#include "solver/local.h"

#include <float.h>
#include <math.h>

/* A contact with resistance to rolling that is neither fixed nor open, with Coulomb's flow
 * (local_rolling.c). */
void scree_exact_rolling(const scree_Set *set, int d, const double *W, const double *q,
                         const double *old, double *r);

/* All sets and both laws; q = u - W r_old, `old` the previous impulse (a start for iterations). */
void scree_exact_solve(const scree_Set *set, scree_Flow law, int d, const double *W,
                       const double *q, const double *old, double *r);

/* Non-associated flow: -H u in N_Y(r), that is the associated law with H W and H q. */
void scree_exact_flow(const scree_Set *set, int d, const double *H, const double *W,
                      const double *q, const double *old, double *r);

/* The root of f in (0, hi], f(0) > 0 > f(hi), by Newton kept inside the bracket. Newton is applied
 * to f/|N|, which is a straight line when W_cc is a multiple of the identity in the tangent plane
 * and nothing couples to the normal (spheres), and nearly so otherwise. */
SCREE_INLINE double scree_slip_root(const double *n0, const double *n1, double trace, double det,
                                    double scale, double qn, const double *w, double start,
                                    double hi) {
  double lo = 0.0, a = start > 0.0 && start < hi ? start : 0.5 * hi;
  for (int k = 0; k < 100; ++k) {
    const double N0 = n0[0] + a * n1[0], N1 = n0[1] + a * n1[1];
    const double norm2 = N0 * N0 + N1 * N1, norm = sqrt(norm2);
    const double f = norm + scale * (qn * (a * (a + trace) + det) + w[0] * N0 + w[1] * N1);
    if (f > 0.0)
      lo = a;
    else
      hi = a;
    const double along = n1[0] * N0 + n1[1] * N1;
    const double rest = scale * (qn * (2.0 * a + trace) + w[0] * n1[0] + w[1] * n1[1]);
    /* f / (f/|N|)' |N| with both multiplied by |N|^2, so that |N| = 0 is allowed */
    double next = a - f * norm2 / (rest * norm2 + (norm - f) * along);
    if (!(next >= lo && next <= hi)) next = 0.5 * (lo + hi);
    const double change = fabs(next - a);
    a = next;
    if (change <= 1e-8 * a) break; /* Newton's error is now of the order of its square */
  }
  return a;
}

SCREE_INLINE void scree_exact_coulomb_3d(const double *W, double mu, const double *q,
                                         const double *old, double *r) {
  r[0] = r[1] = r[2] = 0.0;
  if (!(q[0] < 0.0) || !(W[0] > 0.0)) return;
  const double inverse = 1.0 / W[0];
  if (!(mu > 0.0)) {
    r[0] = -q[0] * inverse;
    return;
  }
  const double w[2] = {W[1], W[2]};
  const double l0 = W[3] * inverse, l1 = W[6] * inverse; /* W_Tn / W_nn */
  const double S00 = W[4] - l0 * w[0], S01 = W[5] - l0 * w[1];
  const double S10 = W[7] - l1 * w[0], S11 = W[8] - l1 * w[1];
  const double n1[2] = {l0 * q[0] - q[1], l1 * q[0] - q[2]};                   /* -b */
  const double n0[2] = {S11 * n1[0] - S01 * n1[1], S00 * n1[1] - S10 * n1[0]}; /* -adj(S) b */
  double trace = S00 + S11, det = S00 * S11 - S01 * S10;
  if (!(trace > 0.0)) trace = 0.0;
  double a = 0.0;
  const bool regular = det > DBL_EPSILON * trace * trace;
  if (!regular) det = 0.0;
  const double scale = mu * inverse;
  const double norm0 = sqrt(n0[0] * n0[0] + n0[1] * n0[1]);
  const double f0 = norm0 + scale * (q[0] * det + w[0] * n0[0] + w[1] * n0[1]);
  if (!(regular && f0 <= 0.0)) { /* not sticking */
    const double norm1 = sqrt(n1[0] * n1[0] + n1[1] * n1[1]);
    const double wnorm = sqrt(w[0] * w[0] + w[1] * w[1]);
    const double k = (W[0] / mu + wnorm) / -q[0];
    const double hi = k * norm1 + sqrt(k * norm0);
    if (!(hi > 0.0 && hi < INFINITY)) { /* no tangential load */
      r[0] = -q[0] * inverse;
      return;
    }
    /* the a of the old direction of sliding: nearly right once Gauss-Seidel converges */
    const double old2 = old[1] * old[1] + old[2] * old[2];
    double start = 0.0;
    if (old2 > 0.0)
      start = (old[1] * (n1[0] - S00 * old[1] - S01 * old[2]) +
               old[2] * (n1[1] - S10 * old[1] - S11 * old[2])) /
              old2;
    a = scree_slip_root(n0, n1, trace, det, scale, q[0], w, start, hi);
  }
  const double D = a * (a + trace) + det;
  const double t0 = (n0[0] + a * n1[0]) / D, t1 = (n0[1] + a * n1[1]) / D;
  const double rn = -(q[0] + w[0] * t0 + w[1] * t1) * inverse;
  if (!(rn > 0.0)) return; /* round-off at the apex */
  const double norm = sqrt(t0 * t0 + t1 * t1), limit = mu * rn;
  const double shrink = norm > limit || a > 0.0 ? (norm > 0.0 ? limit / norm : 0.0) : 1.0;
  r[0] = rn;
  r[1] = shrink * t0;
  r[2] = shrink * t1;
}

SCREE_INLINE void scree_exact_coulomb_2d(const double *W, double mu, const double *q, double *r) {
  r[0] = r[1] = 0.0;
  if (!(q[0] < 0.0) || !(W[0] > 0.0)) return;
  const double inverse = 1.0 / W[0];
  const double S = W[3] - W[2] * W[1] * inverse, b = q[1] - W[2] * inverse * q[0];
  if (S > DBL_EPSILON * W[3]) {
    const double t = -b / S, n = -(q[0] + W[1] * t) * inverse;
    if (fabs(t) <= mu * n) {
      r[0] = n;
      r[1] = t;
      return;
    }
  }
  const double side = b > 0.0 ? -mu : (b < 0.0 ? mu : 0.0);
  const double denominator = W[0] + side * W[1];
  if (!(denominator > 0.0)) return; /* only when W is not positive: leave the contact open */
  r[0] = -q[0] / denominator;
  r[1] = side * r[0];
}

/* Coulomb's law on a cone. */
SCREE_INLINE void scree_exact_coulomb(int d, const double *W, double mu, const double *q,
                                      const double *old, double *r) {
  if (d == 2)
    scree_exact_coulomb_2d(W, mu, q, r);
  else
    scree_exact_coulomb_3d(W, mu, q, old, r);
}

#endif
