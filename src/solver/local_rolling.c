/* One contact with resistance to rolling and spinning, with Coulomb's flow:
 *     0 <= r_n  perpendicular to  u_n >= 0 ,
 *     -u_i normal to the disc |r_i| <= k_i r_n   for sliding, rolling and spinning.
 * Blocks in turn: normal and tangents by the exact solution of a plain contact, then the moments,
 * each the minimum of a quadratic in its disc. The blocks of a ball couple as 2.5 to 3.5, so that a
 * turn reduces the error by a quarter or more; since sweeps over all contacts follow, a few digits
 * below the first change are enough. */
#include "solver/local_exact.h"

#include <float.h>
#include <math.h>

enum { TURNS = 60, SECULAR_STEPS = 60 };
static const double enough = 1e-4; /* of the first change */

/* Eigenvalues of a 2 x 2 symmetric matrix, and the cosine and sine of its eigenvectors' angle. */
typedef struct Eigen {
  double value[2], c, s;
} Eigen;

static Eigen eigen_of(const double *A) {
  const double angle = 0.5 * atan2(A[1] + A[2], A[0] - A[3]);
  const double mean = 0.5 * (A[0] + A[3]), half = hypot(0.5 * (A[0] - A[3]), 0.5 * (A[1] + A[2]));
  return (Eigen){.value = {mean + half, mean - half}, .c = cos(angle), .s = sin(angle)};
}

/* The minimum of x.A x/2 + b.x over |x| <= radius, A 2 x 2 symmetric positive definite: by the
 * eigenvectors of A and the root of |x(lambda)| = radius, x(lambda) = -(A + lambda)^-1 b. */
static void minimum_in_disc(const Eigen *A, const double *b, double radius, double *x) {
  const double c = A->c, s = A->s;
  const double rotated[2] = {c * b[0] + s * b[1], c * b[1] - s * b[0]};
  double lambda = 0.0, y[2] = {0.0, 0.0};
  for (int k = 0; k < SECULAR_STEPS && radius > 0.0; ++k) {
    double square = 0.0, slope = 0.0;
    for (int i = 0; i < 2; ++i) {
      const double e = A->value[i] + lambda;
      y[i] = e > 0.0 ? -rotated[i] / e : 0.0;
      square += y[i] * y[i];
      slope += e > 0.0 ? y[i] * y[i] / e : 0.0;
    }
    const double size = sqrt(square);
    if (size <= radius * (1.0 + 4.0 * DBL_EPSILON)) break;
    /* Newton on 1/|x|, which is nearly linear in lambda: from below, monotone */
    lambda += square / slope * (size - radius) / radius;
  }
  const double size = hypot(y[0], y[1]);
  const double shrink = size > radius ? radius / size : 1.0;
  x[0] = shrink * (c * y[0] - s * y[1]);
  x[1] = shrink * (s * y[0] + c * y[1]);
}

SCREE_INLINE double larger(double a, double b) {
  return b > a ? b : a;
}

/* Rows first .. first+n-1 of q + W r without their own part. */
SCREE_INLINE void rest_of(int d, const double *W, const double *q, const double *r, int first,
                          int n, double *out) {
  for (int i = 0; i < n; ++i) {
    const int row = first + i;
    out[i] = q[row];
    for (int j = 0; j < d; ++j)
      if (j < first || j >= first + n) out[i] += W[row * d + j] * r[j];
  }
}

SCREE_INLINE void block_of(int d, const double *W, int first, int n, double *out) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) out[i * n + j] = W[(first + i) * d + first + j];
}

static double clamp(double w, double q, double bound) {
  return w > 0.0 ? fmax(-bound, fmin(bound, -q / w)) : 0.0;
}

/* d is 3 or 6, as a literal: the loops over rows are unrolled. */
SCREE_INLINE void solve(const scree_Set *set, int d, const double *W, const double *q,
                        const double *old, double *r) {
  const int contact = d == 3 ? 2 : 3, rolls = contact - 1;
  double plain[9], rolling[4], first = 0.0;
  for (int i = 0; i < d; ++i) r[i] = q[0] >= 0.0 ? 0.0 : old[i];
  if (q[0] >= 0.0) return;
  block_of(d, W, 0, contact, plain);
  block_of(d, W, contact, rolls, rolling);
  const Eigen eigen = rolls == 2 ? eigen_of(rolling) : (Eigen){.c = 1};
  for (int turn = 0; turn < TURNS; ++turn) {
    double rest[3], last[SCREE_ROWS_MAX], start[3], change = 0.0, size = 0.0;
    for (int i = 0; i < d; ++i) last[i] = r[i];
    for (int i = 0; i < contact; ++i) start[i] = r[i];
    rest_of(d, W, q, r, 0, contact, rest);
    scree_exact_coulomb(contact, plain, set->mu, rest, start, r);
    rest_of(d, W, q, r, contact, rolls, rest);
    if (rolls == 1)
      r[contact] = clamp(rolling[0], rest[0], set->a * r[0]);
    else
      minimum_in_disc(&eigen, rest, set->a * r[0], r + contact);
    if (d == 6) {
      rest_of(d, W, q, r, 5, 1, rest);
      r[5] = clamp(W[35], rest[0], set->b * r[0]);
    }
    for (int i = 0; i < d; ++i) {
      change = larger(change, fabs(r[i] - last[i]));
      size = larger(size, fabs(r[i]));
    }
    if (turn == 0) first = change;
    if (change <= fmax(enough * first, 2.0 * DBL_EPSILON * size)) break;
  }
}

void scree_exact_rolling(const scree_Set *set, int d, const double *W, const double *q,
                         const double *old, double *r) {
  if (d == 3)
    solve(set, 3, W, q, old, r);
  else
    solve(set, 6, W, q, old, r);
}
