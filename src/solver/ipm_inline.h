/* Small functions that the files of one constraint in the interior point share (ipm_contact.c,
 * ipm_direction.c); inlined, so that the compiler unrolls them for sizes that are literals. */
#ifndef SCREE_SOLVER_IPM_INLINE_H
#define SCREE_SOLVER_IPM_INLINE_H

#include "solver/ipm_contact.h"

/* ---- small dense ------------------------------------------------------------------------------
 */

SCREE_INLINE void ipm_multiply(int d, const double *A, const double *v, double *out) {
  for (int i = 0; i < d; ++i) {
    double sum = 0.0;
    for (int j = 0; j < d; ++j) sum += A[i * d + j] * v[j];
    out[i] = sum;
  }
}

/* out = A B */
SCREE_INLINE void ipm_multiply_matrices(int d, const double *A, const double *B, double *out) {
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      double sum = 0.0;
      for (int m = 0; m < d; ++m) sum += A[i * d + m] * B[m * d + j];
      out[i * d + j] = sum;
    }
}

/* B <- A^-1 B for d x d; A is I + something with positive real part, or symmetric and positive
 * definite, so no pivoting is needed. A is destroyed. */
SCREE_INLINE void ipm_solve_left(int d, double *A, double *B) {
  for (int k = 0; k < d; ++k) {
    const double pivot = 1.0 / A[k * d + k];
    for (int i = k + 1; i < d; ++i) {
      const double f = A[i * d + k] * pivot;
      for (int j = k + 1; j < d; ++j) A[i * d + j] -= f * A[k * d + j];
      for (int j = 0; j < d; ++j) B[i * d + j] -= f * B[k * d + j];
    }
  }
  for (int k = d - 1; k >= 0; --k)
    for (int j = 0; j < d; ++j) {
      double sum = B[k * d + j];
      for (int i = k + 1; i < d; ++i) sum -= A[k * d + i] * B[i * d + j];
      B[k * d + j] = sum / A[k * d + k];
    }
}

/* out = D v: diag(k, 1, ..), or H with non-associated flow */
SCREE_INLINE void ipm_weigh(const scree_IpmLaw *law, int d, const scree_IpmContact *k,
                            const double *v, double *out) {
  if (k->flow) {
    double product[3];
    ipm_multiply(d, k->flow, v, product);
    for (int i = 0; i < d; ++i) out[i] = product[i];
    return;
  }
  out[0] = law->kappa * v[0];
  for (int i = 1; i < d; ++i) out[i] = v[i];
}

/* out = D^-1 v; H does not mix the normal with the tangents */
SCREE_INLINE void ipm_unweigh(const scree_IpmLaw *law, int d, const scree_IpmContact *k,
                              const double *v, double *out) {
  const double *H = k->flow;
  if (!H) {
    out[0] = v[0] / law->kappa;
    for (int i = 1; i < d; ++i) out[i] = v[i];
    return;
  }
  out[0] = v[0] / H[0];
  if (d == 2) {
    out[1] = v[1] / H[3];
  } else {
    const double det = H[4] * H[8] - H[5] * H[7], v1 = v[1], v2 = v[2];
    out[1] = (H[8] * v1 - H[5] * v2) / det;
    out[2] = (H[4] * v2 - H[7] * v1) / det;
  }
}

/* D of a half-line */
SCREE_INLINE double ipm_line_weight(const scree_IpmLaw *law, const scree_IpmContact *k) {
  return k->flow ? k->flow[0] : law->kappa;
}

SCREE_INLINE double ipm_proximal_weight(const scree_IpmContact *k) {
  return k->w / k->f;
}

/* s(z) = |z_T|^2 / z_0 */
SCREE_INLINE double ipm_smooth_s(int d, const double *z) {
  double tail2 = 0.0;
  for (int i = 1; i < d; ++i) tail2 += z[i] * z[i];
  return tail2 / z[0];
}

SCREE_INLINE void ipm_zero(int n, double *x) {
  for (int i = 0; i < n; ++i) x[i] = 0.0;
}

/* P' of a ball, or its inverse: eta^2 (I - 2 w w^T/(1 + 2 w.w)), (I + 2 w w^T)/eta^2. */
SCREE_INLINE void ipm_ball_matrix(const scree_IpmContact *k, bool inverse, double *P) {
  const int d = k->d;
  const double *w = k->scaling.w + 1, e2 = k->scaling.eta * k->scaling.eta;
  double w2 = 0.0;
  for (int i = 0; i < d; ++i) w2 += w[i] * w[i];
  const double scale = inverse ? 1.0 / e2 : e2, f = inverse ? 2.0 : -2.0 / (1.0 + 2.0 * w2);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) P[i * d + j] = scale * (f * w[i] * w[j] + (i == j ? 1.0 : 0.0));
}

#endif
