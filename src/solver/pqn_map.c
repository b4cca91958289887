/* The smoothed equation of one contact (see pqn_map.h). */
#include "solver/pqn_map.h"

#include <math.h>

/* g(x) = (x + sqrt(x^2 + 4 w^2))/2 of (31), without cancellation for x < 0, and its derivative. */
static double smooth_positive(double x, double w, double *slope) {
  const double root = sqrt(x * x + 4.0 * w * w);
  if (root > 0.0) {
    *slope = x > 0.0 ? 0.5 * (1.0 + x / root) : 2.0 * w * w / (root * (root - x));
    return x > 0.0 ? 0.5 * (x + root) : 2.0 * w * w / (root - x);
  }
  *slope = 1.0; /* mu = 0 and z_T = 0: the limit from z_T > 0, without smoothing */
  return 0.0;
}

void scree_pqn_polar(int d, double mu, double omega, const double *z, double *m, double *gradient) {
  const double size = d == 2 ? fabs(z[1]) : sqrt(z[1] * z[1] + z[2] * z[2]);
  const double scale = 1.0 / (1.0 + mu * mu);
  const double l1 = scale * (-z[0] - mu * size), l2 = scale * (size - mu * z[0]); /* (20) */
  double slope1, slope2;
  const double g1 = smooth_positive(l1, omega, &slope1); /* (31), (34) */
  const double g2 = smooth_positive(l2, mu * omega, &slope2);
  double e[2] = {0.0, 0.0}; /* z_T/|z_T|; at z_T = 0 it is only multiplied by zero */
  for (int i = 1; i < d && size > 0.0; ++i) e[i - 1] = z[i] / size;
  m[0] = -g1 - mu * g2; /* g1 u1 + g2 u2 with (21), (22) */
  for (int i = 1; i < d; ++i) m[i] = (g2 - mu * g1) * e[i - 1];
  if (!gradient) return;

  /* (35)-(38) */
  const double root1 = sqrt(l1 * l1 + 4.0 * omega * omega);
  const double root2 = sqrt(l2 * l2 + 4.0 * mu * mu * omega * omega);
  const double roots = root2 + mu * root1;
  const double a = roots > 0.0 ? 0.5 * (1.0 + (l2 + mu * l1) / roots) : 1.0;
  const double b = scale * (mu * mu * slope1 + slope2);
  const double c = scale * mu * (slope1 - slope2);
  gradient[0] = scale * (slope1 + mu * mu * slope2);
  for (int i = 1; i < d; ++i) {
    gradient[i] = gradient[i * d] = c * e[i - 1];
    for (int j = 1; j < d; ++j)
      gradient[i * d + j] = (i == j ? a : 0.0) + (b - a) * e[i - 1] * e[j - 1];
  }
  /* in 2D there is no direction across z_T: keep b, which equals a at z_T = 0 up to round-off */
  if (d == 2) gradient[3] = size > 0.0 ? b : a;
}

/* F (d) = F_w(u) and, when not null, gradient (d x d). `mu` is 0 for the associated law. */
static void smooth_velocity(int d, double mu, double omega, const double *u, double *F,
                            double *gradient) {
  double size2 = omega * omega;
  for (int i = 1; i < d; ++i) size2 += u[i] * u[i];
  const double root = sqrt(size2);
  for (int i = 0; i < d; ++i) F[i] = u[i];
  F[0] += mu * (size2 - omega * omega) / (root + omega); /* root - omega */
  if (!gradient) return;
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) gradient[i * d + j] = i == j ? 1.0 : 0.0;
  for (int j = 1; j < d; ++j) gradient[j] = mu * u[j] / root;
}

void scree_pqn_map(int d, double mu, double slope, double omega, const double *u, const double *s,
                   double *C, double *X, double *Y) {
  double F[3] = {0.0}, z[3] = {0.0}, m[3] = {0.0}, dF[9];
  smooth_velocity(d, slope, omega, u, F, X ? dF : 0);
  for (int i = 0; i < d; ++i) z[i] = s[i] - F[i];
  scree_pqn_polar(d, mu, omega, z, m, Y);
  for (int i = 0; i < d; ++i) C[i] = F[i] + m[i];
  if (!X) return;
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      double sum = dF[i * d + j];
      for (int k = 0; k < d; ++k) sum -= Y[i * d + k] * dF[k * d + j];
      X[i * d + j] = sum;
    }
}
