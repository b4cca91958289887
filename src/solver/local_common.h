/* Common parts of the papers' local solvers: a contact in its own units, and small d x d algebra.
 *
 * A local solver first divides W_cc, u and r by powers of two so that max |W| and
 * max(|u|, |W||r|) are in [1/4, 1]. Then squares neither overflow nor underflow whatever the
 * scene's units, and with automatic parameters a change of units by powers of two does not change
 * one bit of the answer. In the new units impulses are r 2^-shift, and rho and gamma, which turn a
 * velocity into an impulse, are multiplied like 1/W.
 *
 * Automatic parameters come from bounds lo <= eigenvalues of the symmetric part of W_cc <= hi. In
 * 2D they are exact; in 3D they are those of the 2 x 2 matrix of the norms of the normal part, the
 * coupling and the tangential part, which is exact when the coupling vanishes (any pair of balls).
 */
#ifndef SCREE_SOLVER_LOCAL_COMMON_H
#define SCREE_SOLVER_LOCAL_COMMON_H

#include "problem/set_inline.h"
#include "solver/local.h"

#include <float.h>
#include <math.h>

/* A contact in its own units. */
typedef struct Contact {
  double W[9]; /* (d x d) */
  double u[3], r[3];
  double mu;
  double saxce;   /* mu for Coulomb's law, 0 for the associated one: s(u) = saxce |u_T| n */
  double lo, hi;  /* bounds of the eigenvalues of W's symmetric part, hi > 0 */
  int W_exponent; /* W = 2^W_exponent * this W */
  int shift;      /* r = 2^shift * this r */
} Contact;

static inline double local_norm(int n, const double *x) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return sqrt(sum);
}

/* |x_T| */
static inline double local_tangential(int d, const double *x) {
  return d == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
}

static inline double local_largest(int n, const double *x) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(x[i]));
  return largest;
}

/* Exponent of the largest entry, or -5000 for zeros (below that of every double). */
static inline int local_exponent(int n, const double *x) {
  const double largest = local_largest(n, x);
  int exponent = -5000;
  if (largest > 0.0) frexp(largest, &exponent);
  return exponent;
}

static inline void local_bounds(int d, const double *W, double *lo, double *hi) {
  double t_lo = W[d + 1], t_hi = W[d + 1], coupling;
  if (d == 2) {
    coupling = 0.5 * (W[1] + W[2]);
  } else {
    const double mean = 0.5 * (W[4] + W[8]),
                 radius = hypot(0.5 * (W[4] - W[8]), 0.5 * (W[5] + W[7]));
    t_lo = mean - radius;
    t_hi = mean + radius;
    coupling = hypot(0.5 * (W[1] + W[3]), 0.5 * (W[2] + W[6]));
  }
  *lo = 0.5 * (W[0] + t_lo) - hypot(0.5 * (W[0] - t_lo), coupling);
  *hi = 0.5 * (W[0] + t_hi) + hypot(0.5 * (W[0] - t_hi), coupling);
}

/* Scale a contact to its own units. False if no impulse can change its velocity (W = 0, or W not
 * positive): then there is nothing to solve. */
static inline bool local_begin(const scree_LocalParameters *parameters, int d, const double *W,
                               double mu, const double *u, const double *r, Contact *contact) {
  const int W_exponent = local_exponent(d * d, W);
  if (W_exponent <= -5000) return false;
  const int r_exponent = local_exponent(d, r), u_exponent = local_exponent(d, u);
  int exponent = W_exponent + r_exponent; /* of velocities */
  if (u_exponent > exponent) exponent = u_exponent;
  if (exponent <= -5000) exponent = 0;
  for (int i = 0; i < d * d; ++i) contact->W[i] = ldexp(W[i], -W_exponent);
  for (int i = 0; i < d; ++i) contact->u[i] = ldexp(u[i], -exponent);
  for (int i = 0; i < d; ++i) contact->r[i] = ldexp(r[i], W_exponent - exponent);
  contact->mu = mu;
  contact->saxce = parameters->law == SCREE_ASSOCIATED ? 0.0 : mu;
  contact->W_exponent = W_exponent;
  contact->shift = exponent - W_exponent;
  local_bounds(d, contact->W, &contact->lo, &contact->hi);
  return contact->hi > 0.0;
}

/* Scale back to the caller's units; values that overflow become the largest double. */
static inline void local_end(const Contact *contact, int d, const double *r, double *r_new) {
  for (int i = 0; i < d; ++i) r_new[i] = fmax(-DBL_MAX, fmin(DBL_MAX, ldexp(r[i], contact->shift)));
}

/* Convert a parameter from the caller's units to the contact's. The limits are far outside the
 * useful range; they keep its square finite. */
static inline double local_given(const Contact *contact, double value) {
  return fmax(1e-100, fmin(1e100, ldexp(value, contact->W_exponent)));
}

/* rho for which I - rho W contracts well: 2/(lo + hi) is the best one for a sticking contact; lo is
 * taken as at least a quarter of hi, so that rho hi <= 1.6 when W is nearly singular. */
static inline double local_safe_rho(const Contact *contact) {
  return 2.0 / (contact->hi + fmax(contact->lo, 0.25 * contact->hi));
}

/* rho as given, or automatic times rho_factor. */
static inline double local_rho(const scree_LocalParameters *parameters, const Contact *contact,
                               double automatic) {
  if (parameters->rho > 0.0) return local_given(contact, parameters->rho);
  return parameters->rho_factor > 0.0 ? parameters->rho_factor * automatic : automatic;
}

/* v = u + W (r - contact->r): the velocity for another impulse. */
static inline void local_velocity(const Contact *contact, int d, const double *r, double *v) {
  for (int i = 0; i < d; ++i) {
    double sum = contact->u[i];
    for (int j = 0; j < d; ++j) sum += contact->W[d * i + j] * (r[j] - contact->r[j]);
    v[i] = sum;
  }
}

/* 001 (21): tau = r - rho (v + saxce |v_T| n). */
static inline void local_augmented(const Contact *contact, int d, double rho, const double *r,
                                   const double *v, double *tau) {
  for (int i = 0; i < d; ++i) tau[i] = r[i] - rho * v[i];
  tau[0] -= rho * contact->saxce * local_tangential(d, v);
}

/* Solve A x = b, n <= 3, by elimination with the largest pivot of each column. False, and x not
 * written, when a pivot is lost in the round-off of its own row's scale. A and b are destroyed. */
static inline bool local_solve(int n, double *A, double *b, double *x) {
  for (int i = 0; i < n; ++i) { /* rows of size 1: stick and slip rows have different units */
    const double size = local_largest(n, A + n * i);
    if (!(size > 0.0 && size < DBL_MAX)) return false;
    for (int j = 0; j < n; ++j) A[n * i + j] /= size;
    b[i] /= size;
  }
  for (int k = 0; k < n; ++k) {
    int p = k;
    for (int i = k + 1; i < n; ++i)
      if (fabs(A[n * i + k]) > fabs(A[n * p + k])) p = i;
    if (!(fabs(A[n * p + k]) > 16.0 * DBL_EPSILON)) return false;
    if (p != k) {
      for (int j = k; j < n; ++j) {
        const double swap = A[n * k + j];
        A[n * k + j] = A[n * p + j];
        A[n * p + j] = swap;
      }
      const double swap = b[k];
      b[k] = b[p];
      b[p] = swap;
    }
    for (int i = k + 1; i < n; ++i) {
      const double factor = A[n * i + k] / A[n * k + k];
      for (int j = k + 1; j < n; ++j) A[n * i + j] -= factor * A[n * k + j];
      b[i] -= factor * b[k];
    }
  }
  double y[3];
  for (int i = n - 1; i >= 0; --i) {
    double sum = b[i];
    for (int j = i + 1; j < n; ++j) sum -= A[n * i + j] * y[j];
    y[i] = sum / A[n * i + i];
    if (!(fabs(y[i]) < 1e150)) return false;
  }
  for (int i = 0; i < n; ++i) x[i] = y[i];
  return true;
}

#endif
