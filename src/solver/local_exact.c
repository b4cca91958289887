/* Exact local solutions other than Coulomb's cone: the associated law and the other sets (see
 * local_exact.h for the main case).
 *
 * Associated law on the cone: -u in N_K(r). Either r = 0 (q in the dual cone), or u = 0 with r in
 * K, or r = t v on the boundary, v = (1, mu e), with v.u = 0 and u_T parallel to e:
 *     t = -v.q / v.Wv ,   h(e) = (e'.q_T)(v.Wv) - (v.q) e'.(W_Tn + mu W_TT e) = 0 ,
 * e' = e turned by a right angle. h is a
 * trigonometric polynomial of degree 3 in the angle of e, so it has at most six roots. A root with
 * t > 0 and u_n >= 0 satisfies the whole law, so that it is the solution: Newton's method from the
 * direction of the last impulse mostly ends there after two or three steps. Otherwise all roots are
 * computed, and of those with t > 0 the one with the least energy -(v.q)^2 / (2 v.Wv) is taken.
 *
 * Shifted cone: r + c n is in K with q replaced by q - c W n. Cone + ball and capped cones have no
 * such closed form; they iterate the projection, which contracts since the block is small and
 * definite. */
#include "solver/local_exact.h"

enum { ANGLES = 24, NEWTON_STEPS = 10, PROJECTIONS = 2000 };
static const double NEWTON_TURN = 1e-8; /* squared it is below the precision of an angle */

static const double TAU = 6.283185307179586476925286766559;

typedef struct Ray {
  double h, vWv, vq;
} Ray;

static Ray ray_at(const double *W, double mu, const double *q, double angle) {
  const double e[2] = {cos(angle), sin(angle)}, turned[2] = {-e[1], e[0]};
  const double v[3] = {1.0, mu * e[0], mu * e[1]};
  double Wv[3], vWv = 0.0, vq = 0.0;
  for (int i = 0; i < 3; ++i) {
    Wv[i] = W[3 * i] * v[0] + W[3 * i + 1] * v[1] + W[3 * i + 2] * v[2];
    vWv += v[i] * Wv[i];
    vq += v[i] * q[i];
  }
  const double across_q = turned[0] * q[1] + turned[1] * q[2];
  const double across_W = turned[0] * Wv[1] + turned[1] * Wv[2];
  return (Ray){.h = across_q * vWv - vq * across_W, .vWv = vWv, .vq = vq};
}

/* Root of h between two angles of opposite sign: bisection ends at the spacing of doubles. */
static double refine_angle(const double *W, double mu, const double *q, double lo, double hi,
                           double h_lo) {
  for (int k = 0; k < 60; ++k) {
    const double mid = 0.5 * (lo + hi);
    if (mid <= lo || mid >= hi) break;
    const double h = ray_at(W, mu, q, mid).h;
    if (h == 0.0) return mid;
    if ((h > 0.0) == (h_lo > 0.0))
      lo = mid;
    else
      hi = mid;
  }
  return 0.5 * (lo + hi);
}

static void consider_ray(const double *W, double mu, const double *q, double angle, double *best,
                         double *r) {
  const Ray ray = ray_at(W, mu, q, angle);
  if (!(ray.vq < 0.0 && ray.vWv > 0.0)) return;
  const double gain = ray.vq * ray.vq / ray.vWv;
  if (!(gain > *best)) return;
  *best = gain;
  r[0] = -ray.vq / ray.vWv;
  r[1] = mu * r[0] * cos(angle);
  r[2] = mu * r[0] * sin(angle);
}

/* Newton's method on h from the direction of `old`; true when it ended at the solution. */
static bool associated_newton_3d(const double *W, double mu, const double *q, const double *old,
                                 double *r) {
  const bool slid = old[1] != 0.0 || old[2] != 0.0;
  double e[2] = {slid ? old[1] : -q[1], slid ? old[2] : -q[2]}, turn = 1.0;
  for (int k = 0; k <= NEWTON_STEPS; ++k) {
    const double size = sqrt(e[0] * e[0] + e[1] * e[1]);
    if (!(size > 0.0)) return false;
    e[0] /= size;
    e[1] /= size;
    const double a[2] = {-e[1], e[0]}; /* across e: its derivative by the angle */
    double Wv[3], Wa[3];               /* W v and W v' / mu */
    for (int i = 0; i < 3; ++i) {
      Wv[i] = W[3 * i] + mu * (W[3 * i + 1] * e[0] + W[3 * i + 2] * e[1]);
      Wa[i] = W[3 * i + 1] * a[0] + W[3 * i + 2] * a[1];
    }
    const double vWv = Wv[0] + mu * (e[0] * Wv[1] + e[1] * Wv[2]);
    const double vq = q[0] + mu * (e[0] * q[1] + e[1] * q[2]);
    const double aq = a[0] * q[1] + a[1] * q[2], aWv = a[0] * Wv[1] + a[1] * Wv[2];
    if (fabs(turn) <= NEWTON_TURN) { /* the last turn was below the root of the precision */
      if (!(vq < 0.0 && vWv > 0.0)) return false;
      r[0] = -vq / vWv;
      r[1] = mu * r[0] * e[0];
      r[2] = mu * r[0] * e[1];
      return Wv[0] * r[0] + q[0] >= 0.0;
    }
    const double vWv1 = mu * (aWv + Wa[0] + mu * (e[0] * Wa[1] + e[1] * Wa[2]));
    const double slope = -(e[0] * q[1] + e[1] * q[2]) * vWv + aq * vWv1 - mu * aq * aWv -
                         vq * (mu * (a[0] * Wa[1] + a[1] * Wa[2]) - (e[0] * Wv[1] + e[1] * Wv[2]));
    turn = -(aq * vWv - vq * aWv) / slope;
    if (!(fabs(turn) < 1.0)) return false; /* far from a root */
    e[0] += turn * a[0];
    e[1] += turn * a[1];
  }
  return false;
}

static void associated_boundary_3d(const double *W, double mu, const double *q, const double *old,
                                   double *r) {
  if (associated_newton_3d(W, mu, q, old, r)) return;
  for (int i = 0; i < 3; ++i) r[i] = 0.0;
  double best = 0.0;
  /* an odd start keeps the samples off the axes, where symmetric problems have their roots */
  const double first = 0.1, step = TAU / ANGLES;
  Ray previous = ray_at(W, mu, q, first);
  consider_ray(W, mu, q, first, &best, r);
  for (int k = 1; k <= ANGLES; ++k) {
    const double angle = first + step * k;
    const Ray ray = ray_at(W, mu, q, angle);
    if ((ray.h > 0.0) != (previous.h > 0.0))
      consider_ray(W, mu, q, refine_angle(W, mu, q, angle - step, angle, previous.h), &best, r);
    previous = ray;
  }
}

/* Whether W is that of two balls up to round-off: no coupling of n and T, and equal tangential
 * entries. Then the best ray points against q_T, and no angle is searched (thirty times faster). */
static bool is_isotropic(const double *W) {
  const double least = 8.0 * DBL_EPSILON * (W[0] + W[4] + W[8]);
  return fabs(W[1]) <= least && fabs(W[2]) <= least && fabs(W[3]) <= least && fabs(W[6]) <= least &&
         fabs(W[5]) <= least && fabs(W[7]) <= least && fabs(W[4] - W[8]) <= least;
}

static void isotropic_boundary_3d(const double *W, double mu, const double *q, double *r) {
  const double qt = hypot(q[1], q[2]), vq = q[0] - mu * qt, vWv = W[0] + mu * mu * W[4];
  if (!(vq < 0.0 && vWv > 0.0)) return;
  r[0] = -vq / vWv;
  for (int i = 1; i < 3; ++i) r[i] = qt > 0.0 ? -mu * r[0] * (q[i] / qt) : 0.0;
}

static void associated_boundary_2d(const double *W, double mu, const double *q, double *r) {
  double best = 0.0;
  for (int side = -1; side <= 1; side += 2) {
    const double m = side * mu;
    const double vWv = W[0] + m * (W[1] + W[2]) + m * m * W[3], vq = q[0] + m * q[1];
    if (!(vq < 0.0 && vWv > 0.0) || !(vq * vq / vWv > best)) continue;
    best = vq * vq / vWv;
    r[0] = -vq / vWv;
    r[1] = m * r[0];
  }
}

/* x = -W^-1 q by elimination with diagonal pivots (W is positive); false when W is singular. */
static bool solve_stick(int d, const double *W, const double *q, double *x) {
  double A[9], trace = 0.0;
  for (int i = 0; i < d * d; ++i) A[i] = W[i];
  for (int i = 0; i < d; ++i) {
    x[i] = -q[i];
    trace += W[i * d + i];
  }
  for (int k = 0; k < d; ++k) {
    if (!(A[k * d + k] > DBL_EPSILON * trace)) return false;
    for (int i = k + 1; i < d; ++i) {
      const double f = A[i * d + k] / A[k * d + k];
      for (int j = k; j < d; ++j) A[i * d + j] -= f * A[k * d + j];
      x[i] -= f * x[k];
    }
  }
  for (int k = d - 1; k >= 0; --k) {
    for (int j = k + 1; j < d; ++j) x[k] -= A[k * d + j] * x[j];
    x[k] /= A[k * d + k];
  }
  return true;
}

static void exact_associated(int d, const double *W, double mu, const double *q, const double *old,
                             double *r) {
  const double qt = d == 2 ? fabs(q[1]) : hypot(q[1], q[2]);
  for (int i = 0; i < d; ++i) r[i] = 0.0;
  if (q[0] >= mu * qt) return;
  if (mu == 0.0) { /* frictionless */
    if (W[0] > 0.0) r[0] = -q[0] / W[0];
    return;
  }
  double stick[3] = {0.0, 0.0, 0.0};
  if (solve_stick(d, W, q, stick)) {
    const double t = d == 2 ? fabs(stick[1]) : hypot(stick[1], stick[2]);
    if (t <= mu * stick[0]) {
      for (int i = 0; i < d; ++i) r[i] = stick[i];
      return;
    }
  }
  if (d == 2)
    associated_boundary_2d(W, mu, q, r);
  else if (is_isotropic(W))
    isotropic_boundary_3d(W, mu, q, r);
  else
    associated_boundary_3d(W, mu, q, old, r);
}

/* W r = -q for any size, rows exchanged; a component that W does not determine keeps its old value,
 * so that redundant rows of a joint keep the distribution of their impulses. */
static void solve_space(int d, const double *W, const double *q, const double *old, double *r) {
  double A[SCREE_ROWS_MAX * SCREE_ROWS_MAX], b[SCREE_ROWS_MAX], trace = 0.0;
  int order[SCREE_ROWS_MAX], rank = 0;
  for (int i = 0; i < d; ++i) {
    b[i] = -q[i];
    for (int j = 0; j < d; ++j) {
      A[i * d + j] = W[i * d + j];
      b[i] -= W[i * d + j] * old[j];
    }
    trace += W[i * d + i];
    order[i] = i;
  }
  /* elimination with pivots from the diagonal, the largest first */
  for (; rank < d; ++rank) {
    int best = rank;
    for (int i = rank + 1; i < d; ++i)
      if (A[order[i] * d + order[i]] > A[order[best] * d + order[best]]) best = i;
    const int p = order[best];
    if (!(A[p * d + p] > 4.0 * DBL_EPSILON * trace)) break;
    order[best] = order[rank];
    order[rank] = p;
    for (int i = rank + 1; i < d; ++i) {
      const int k = order[i];
      const double f = A[k * d + p] / A[p * d + p];
      for (int j = 0; j < d; ++j) A[k * d + j] -= f * A[p * d + j];
      b[k] -= f * b[p];
    }
  }
  for (int i = 0; i < d; ++i) r[i] = 0.0;
  for (int i = rank - 1; i >= 0; --i) {
    const int p = order[i];
    double sum = b[p];
    for (int j = i + 1; j < rank; ++j) sum -= A[p * d + order[j]] * r[order[j]];
    r[p] = sum / A[p * d + p];
  }
  for (int i = 0; i < d; ++i) r[i] += old[i];
}

/* r <- P(r - rho (W r + q + s)), rho = 1/trace: at most half of a contraction is lost to mu. */
static void exact_by_projection(const scree_Set *set, scree_Flow law, int d, const double *W,
                                const double *q, const double *old, double *r) {
  double trace = 0.0, largest = 0.0;
  for (int i = 0; i < d; ++i) trace += W[i * d + i];
  for (int i = 0; i < d; ++i) r[i] = old[i];
  if (!(trace > 0.0)) return;
  for (int i = 0; i < d; ++i) largest = fmax(largest, fabs(q[i]) / trace);
  for (int k = 0; k < PROJECTIONS; ++k) {
    double u[SCREE_ROWS_MAX], next[SCREE_ROWS_MAX], change = 0.0, size = largest;
    for (int i = 0; i < d; ++i) {
      u[i] = q[i];
      for (int j = 0; j < d; ++j) u[i] += W[i * d + j] * r[j];
    }
    if (law == SCREE_COULOMB && scree_set_has_cone(set->kind)) u[0] += scree_set_slip(set, d, u);
    for (int i = 0; i < d; ++i) next[i] = r[i] - u[i] / trace;
    scree_set_project(set, d, next, next);
    for (int i = 0; i < d; ++i) {
      change = fmax(change, fabs(next[i] - r[i]));
      size = fmax(size, fabs(next[i]));
      r[i] = next[i];
    }
    if (change <= 2.0 * DBL_EPSILON * size) break;
  }
}

static bool is_inside(const scree_Set *set, int d, const double *r) {
  double p[SCREE_ROWS_MAX];
  scree_set_project(set, d, r, p);
  for (int i = 0; i < d; ++i)
    if (p[i] != r[i]) return false;
  return true;
}

static void exact_cone(scree_Flow law, int d, const double *W, double mu, const double *q,
                       const double *old, double *r) {
  if (law == SCREE_COULOMB)
    scree_exact_coulomb(d, W, mu, q, old, r);
  else
    exact_associated(d, W, mu, q, old, r);
}

void scree_exact_solve(const scree_Set *set, scree_Flow law, int d, const double *W,
                       const double *q, const double *old, double *r) {
  switch (set->kind) {
  case SCREE_SET_CONE: exact_cone(law, d, W, set->mu, q, old, r); return;
  case SCREE_SET_HALF_LINE:
    r[0] = q[0] < 0.0 && W[0] > 0.0 ? -q[0] / W[0] : 0.0;
    for (int i = 1; i < d; ++i) r[i] = 0.0;
    return;
  case SCREE_SET_SHIFTED: {
    double shifted[3], start[3];
    for (int i = 0; i < d; ++i) {
      shifted[i] = q[i] - set->a * W[i * d];
      start[i] = old[i];
    }
    start[0] += set->a;
    exact_cone(law, d, W, set->mu, shifted, start, r);
    r[0] -= set->a;
    return;
  }
  case SCREE_SET_SPACE: solve_space(d, W, q, old, r); return;
  case SCREE_SET_BALL:
    solve_space(d, W, q, old, r);
    if (d == 1) {
      r[0] = fmax(-set->a, fmin(set->a, r[0]));
    } else {
      double size = 0.0;
      for (int i = 0; i < d; ++i) size = hypot(size, r[i]);
      if (!(size <= set->a)) exact_by_projection(set, law, d, W, q, old, r);
    }
    return;
  case SCREE_SET_ROLLING:
    solve_space(d, W, q, old, r);
    if (is_inside(set, d, r)) return;
    if (law == SCREE_COULOMB)
      scree_exact_rolling(set, d, W, q, old, r);
    else
      exact_by_projection(set, law, d, W, q, old, r);
    return;
  case SCREE_SET_CONE_BALL:
  case SCREE_SET_CAPPED:
  case SCREE_SET_KINDS: exact_by_projection(set, law, d, W, q, old, r); return;
  }
}

void scree_exact_flow(const scree_Set *set, int d, const double *H, const double *W,
                      const double *q, const double *old, double *r) {
  double HW[9], Hq[3];
  for (int i = 0; i < d; ++i) {
    Hq[i] = 0.0;
    for (int j = 0; j < d; ++j) {
      Hq[i] += H[i * d + j] * q[j];
      HW[i * d + j] = 0.0;
      for (int k = 0; k < d; ++k) HW[i * d + j] += H[i * d + k] * W[k * d + j];
    }
  }
  scree_exact_solve(set, SCREE_ASSOCIATED, d, HW, Hq, old, r);
}

static void local_exact(const scree_LocalParameters *parameters, int d, const double *W, double mu,
                        const double *u, const double *r, double *r_new) {
  double q[3];
  for (int i = 0; i < d; ++i) {
    q[i] = u[i];
    for (int j = 0; j < d; ++j) q[i] -= W[i * d + j] * r[j];
  }
  exact_cone(parameters->law, d, W, mu, q, r, r_new);
}

const scree_LocalClass scree_local_exact = {
    .name = "exact",
    .summary = "the contact solved to machine accuracy",
    .reference = "this library; quartic of Bonnefon and Daviet 2011 as a scalar root",
    .associated = true,
    .solve = local_exact,
};
