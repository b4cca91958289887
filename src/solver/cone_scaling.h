/* The second-order cone Q = { z_0 >= |z_T| } of one contact: Nesterov-Todd scaling, Jordan
 * products, steps to the boundary. Vectors have size d (2 or 3; 1 more than the rows of a ball, see
 * ipm_contact.h), matrices are d x d row by row.
 *
 * For x, z inside Q there is one point w inside Q whose quadratic representation P = Q_w maps z to
 * x:
 *     P = eta^2 (2 w w^T - J) ,   w = (x/|x| + J z/|z|) / (2 gamma) ,
 *     gamma^2 = (1 + x.z/(|x||z|))/2 ,
 * with J = diag(1, -1, ..), |x|^2 = x.Jx and eta^4 = |x|^2/|z|^2. Its square root
 *     R = eta [w_0, w_T^T; w_T, I + w_T w_T^T/(1 + w_0)]
 * gives the scaled point l = R z = R^-1 x. With mu = 0 the cone is a half-line: only component 0
 * counts, P = x_0/z_0 there and 0 elsewhere. */
#ifndef SCREE_SOLVER_CONE_SCALING_H
#define SCREE_SOLVER_CONE_SCALING_H

#include "problem/operator.h"

#include <assert.h>
#include <float.h>
#include <math.h>

typedef struct scree_Scaling {
  double eta;                   /* (|x|^2/|z|^2)^(1/4) */
  double w[SCREE_ROWS_MAX + 1]; /* w.Jw = 1 */
  double l[SCREE_ROWS_MAX + 1]; /* R z */
} scree_Scaling;

SCREE_INLINE double scree_cone_tail(int d, const double *x) {
  if (d <= 3) return d == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
  double sum = 0.0;
  for (int i = 1; i < d; ++i) sum += x[i] * x[i];
  return sqrt(sum);
}

/* |x|^2 = x_0^2 - |x_T|^2, kept positive for points that round-off put on the boundary */
SCREE_INLINE double scree_cone_det(int d, const double *x) {
  const double tail = scree_cone_tail(d, x);
  const double gap = x[0] - tail;
  return (gap > DBL_EPSILON * x[0] ? gap : DBL_EPSILON * x[0]) * (x[0] + tail);
}

/* out = R v */
SCREE_INLINE void scree_scaling_apply(const scree_Scaling *s, int d, const double *v, double *out) {
  double tail = 0.0;
  for (int i = 1; i < d; ++i) tail += s->w[i] * v[i];
  const double f = v[0] + tail / (1.0 + s->w[0]);
  out[0] = s->eta * (s->w[0] * v[0] + tail);
  for (int i = 1; i < d; ++i) out[i] = s->eta * (v[i] + f * s->w[i]);
}

/* out = R^-1 v = J R J v / eta^2 */
SCREE_INLINE void scree_scaling_invert(const scree_Scaling *s, int d, const double *v,
                                       double *out) {
  double tail = 0.0;
  for (int i = 1; i < d; ++i) tail += s->w[i] * v[i];
  const double f = tail / (1.0 + s->w[0]) - v[0];
  out[0] = (s->w[0] * v[0] - tail) / s->eta;
  for (int i = 1; i < d; ++i) out[i] = (v[i] + f * s->w[i]) / s->eta;
}

SCREE_INLINE void scree_scaling_init(scree_Scaling *s, int d, const double *x, const double *z) {
  assert(!(x[0] < 0.0) && !(z[0] < 0.0)); /* both are inside Q */
  const double dx = scree_cone_det(d, x), dz = scree_cone_det(d, z);
  const double nx = 1.0 / sqrt(dx), nz = 1.0 / sqrt(dz);
  double inner = 0.0;
  for (int i = 0; i < d; ++i) inner += x[i] * z[i];
  const double gamma = sqrt(0.5 * (1.0 + fmax(inner * nx * nz, 1.0)));
  s->eta = sqrt(sqrt(dx / dz));
  double tail = 0.0;
  for (int i = 1; i < d; ++i) {
    s->w[i] = (x[i] * nx - z[i] * nz) / (2.0 * gamma);
    tail += s->w[i] * s->w[i];
  }
  s->w[0] = sqrt(1.0 + tail);
  scree_scaling_apply(s, d, z, s->l);
}

/* P = R^2 = eta^2 (2 w w^T - J) */
SCREE_INLINE void scree_scaling_matrix(const scree_Scaling *s, int d, double *P) {
  const double e2 = s->eta * s->eta;
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j)
      P[i * d + j] = e2 * (2.0 * s->w[i] * s->w[j] - (i == j ? (i ? -1.0 : 1.0) : 0.0));
}

/* P^-1 = (2 Jw (Jw)^T - J) / eta^2 */
SCREE_INLINE void scree_scaling_inverse_matrix(const scree_Scaling *s, int d, double *P) {
  const double e2 = 1.0 / (s->eta * s->eta);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      const double sign = (i ? -1.0 : 1.0) * (j ? -1.0 : 1.0);
      P[i * d + j] = e2 * (2.0 * sign * s->w[i] * s->w[j] - (i == j ? (i ? -1.0 : 1.0) : 0.0));
    }
}

/* out = a o b = (a.b, a_0 b_T + b_0 a_T) */
SCREE_INLINE void scree_jordan_product(int d, const double *a, const double *b, double *out) {
  double head = a[0] * b[0];
  for (int i = 1; i < d; ++i) head += a[i] * b[i];
  const double a0 = a[0], b0 = b[0];
  for (int i = 1; i < d; ++i) out[i] = a0 * b[i] + b0 * a[i];
  out[0] = head;
}

/* out with l o out = v */
SCREE_INLINE void scree_jordan_divide(int d, const double *l, const double *v, double *out) {
  double inner = 0.0;
  for (int i = 1; i < d; ++i) inner += l[i] * v[i];
  const double head = (l[0] * v[0] - inner) / scree_cone_det(d, l);
  for (int i = 1; i < d; ++i) out[i] = (v[i] - head * l[i]) / l[0];
  out[0] = head;
}

/* The largest step t with x + t dx in Q, at most `most`. x is inside Q. */
SCREE_INLINE double scree_cone_step(int d, const double *x, const double *dx, double most) {
  double a = dx[0] * dx[0], b = x[0] * dx[0];
  for (int i = 1; i < d; ++i) {
    a -= dx[i] * dx[i];
    b -= x[i] * dx[i];
  }
  const double c = scree_cone_det(d, x);
  const double disc = b * b - a * c;
  double t = most;
  /* the smallest positive root of a t^2 + 2 b t + c, c > 0 */
  if (a < 0.0 || (b < 0.0 && disc >= 0.0)) {
    const double root = sqrt(disc > 0.0 ? disc : 0.0);
    const double candidate = c / (root - b);
    if (candidate > 0.0 && candidate < t) t = candidate;
  }
  if (dx[0] < 0.0) { /* the lower nappe: only if round-off hides the root */
    const double head = -x[0] / dx[0];
    if (head < t) t = head;
  }
  return t;
}

#endif
