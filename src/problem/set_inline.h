/* The projection on Coulomb's cone K = { |x_T| <= mu x_n }, for inner loops.
 *
 *     x                              if |x_T| <= mu x_n          (in the cone)
 *     0                              if mu |x_T| <= -x_n         (in the polar cone)
 *     a (1, mu x_T/|x_T|)            else, a = (x_n + mu |x_T|) / (1 + mu^2)
 *
 * Squares overflow or underflow long before the result does, so numbers far from 1 take a second
 * path that first divides by a power of two; the result is finite for every x of finite length and
 * mu >= 0.
 */
#ifndef SCREE_PROBLEM_SET_INLINE_H
#define SCREE_PROBLEM_SET_INLINE_H

#include "scree/set.h"

#include <math.h>

/* Any magnitude: scale so that the largest component is in [1/2, 1), and write the coefficients as
 * cosine and sine of the cone's angle, which stay in [0, 1] for any mu. */
static inline void scree_cone_project_scaled(int d, double mu, const double *x, double *out) {
  double largest = 0.0, scaled[3] = {0.0, 0.0, 0.0};
  for (int i = 0; i < d; ++i) largest = fmax(largest, fabs(x[i]));
  int exponent = 0;
  frexp(largest, &exponent);
  for (int i = 0; i < d; ++i) scaled[i] = ldexp(x[i], -exponent);
  const double s = hypot(scaled[1], scaled[2]);
  if (scaled[0] >= 0.0 && s <= mu * scaled[0]) { /* mu = 0, s = 0: the sign of x_n decides */
    for (int i = 0; i < d; ++i) out[i] = x[i];
  } else if (s == 0.0 || mu * s <= -scaled[0]) {
    out[0] = s == 0.0 ? fmax(x[0], 0.0) : 0.0;
    for (int i = 1; i < d; ++i) out[i] = 0.0;
  } else {
    const double cosine = 1.0 / hypot(1.0, mu),
                 sine = mu < 1.0 ? mu * cosine : 1.0 / hypot(1.0, 1.0 / mu);
    const double along = cosine * scaled[0] + sine * s;
    out[0] = ldexp(cosine * along, exponent);
    for (int i = 1; i < d; ++i) out[i] = ldexp(sine * along * (scaled[i] / s), exponent);
  }
}

/* out = P_K(x), both of size d (2 or 3); `out` may be `x`. */
static inline void scree_cone_project(int d, double mu, const double *x, double *out) {
  const double n = x[0];
  if (x[1] == 0.0 && (d == 2 || x[2] == 0.0) && n == n) { /* on the axis, as open contacts are */
    out[0] = n > 0.0 ? n : 0.0;
    for (int i = 1; i < d; ++i) out[i] = 0.0;
    return;
  }
  const double square = d == 2 ? x[1] * x[1] : x[1] * x[1] + x[2] * x[2];
  /* the comparisons are written so that NaN and extreme magnitudes take the scaled path */
  if (!(square > 1e-280 && square < 1e280 && fabs(n) < 1e140 && mu < 1e140)) {
    scree_cone_project_scaled(d, mu, x, out);
    return;
  }
  const double s = d == 2 ? fabs(x[1]) : sqrt(square);
  if (s <= mu * n) {
    for (int i = 0; i < d; ++i) out[i] = x[i];
  } else if (mu * s <= -n) {
    for (int i = 0; i < d; ++i) out[i] = 0.0;
  } else {
    const double a = (n + mu * s) / (1.0 + mu * mu);
    const double b = mu * a / s;
    out[0] = a;
    for (int i = 1; i < d; ++i) out[i] = b * x[i];
  }
}

/* Coulomb's term s(u) of a set with a cone (De Saxce): mu |u_T|, and the same of rolling and
 * spinning. */
static inline double scree_set_slip(const scree_Set *set, int d, const double *u) {
  if (set->kind != SCREE_SET_ROLLING)
    return set->mu * (d == 1 ? 0.0 : d == 2 ? fabs(u[1]) : sqrt(u[1] * u[1] + u[2] * u[2]));
  if (d == 3) return set->mu * fabs(u[1]) + set->a * fabs(u[2]);
  return set->mu * hypot(u[1], u[2]) + set->a * hypot(u[3], u[4]) + set->b * fabs(u[5]);
}

#endif
