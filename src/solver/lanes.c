/* Batches of four contacts (see lanes.h).
 *
 * A batch holds, lane by lane, B of both bodies (2 d nb), the upper triangle of W_cc (symmetric in
 * body form), 1/W_nn, q (d) and mu; between balls the normal (d), the arms (4), q (d) and mu; with
 * compliance its normal and tangential entry. The local solution is that of local_exact.h with
 * every branch turned into a mask: all statuses are computed and the right one is chosen. */
#include "solver/lanes.h"
#include "problem/balls.h"

#include <float.h>
#include <math.h>

enum { NEWTON_ITERATIONS = 100, PREFETCH = 2, PREFETCH_BALLS = SCREE_LANES_AHEAD };
enum { LONGEST_PAUSE = 32 }; /* sweeps */

typedef scree_Lane Lane;
typedef scree_LaneMask Mask;

/* ---- the local solution: r of Coulomb's law from q, four times ---------------------------------
 */

/* The root of f in (0, hi] where `active`; see scree_slip_root in local_exact.h. A lane that has
 * converged keeps its value. */
SCREE_INLINE Lane slip_root(const Lane *n0, const Lane *n1, Lane trace, Lane det, Lane scale,
                            Lane qn, const Lane *w, Lane start, Lane hi, Mask active) {
  const Lane zero = {0.0, 0.0, 0.0, 0.0};
  Lane lo = zero, a = scree_lane_choose((start > zero) & (start < hi), start, 0.5 * hi);
  a = scree_lane_choose(active, a, zero);
  for (int k = 0; k < NEWTON_ITERATIONS && scree_lane_any(active); ++k) {
    const Lane N0 = n0[0] + a * n1[0], N1 = n0[1] + a * n1[1];
    const Lane norm2 = N0 * N0 + N1 * N1, norm = scree_lane_sqrt(norm2);
    const Lane f = norm + scale * (qn * (a * (a + trace) + det) + w[0] * N0 + w[1] * N1);
    const Mask above = f > zero;
    lo = scree_lane_choose(above, a, lo);
    hi = scree_lane_choose(above, hi, a);
    /* slope of f/|N| times |N|^2: radial part n1.N, without dividing */
    const Lane along = n1[0] * N0 + n1[1] * N1;
    const Lane rest = scale * (qn * (2.0 * a + trace) + w[0] * n1[0] + w[1] * n1[1]);
    const Lane slope = rest * norm2 + (norm - f) * along;
    Lane next = a - f * norm2 / slope;
    next = scree_lane_choose((next >= lo) & (next <= hi), next, 0.5 * (lo + hi));
    const Lane change = scree_lane_abs(next - a);
    a = scree_lane_choose(active, next, a);
    active &= ~(change <= 1e-8 * a); /* the remaining error is the square of this */
  }
  return a;
}

SCREE_INLINE void solve_3d(const Lane *W, Lane inverse, Lane mu, const Lane *q, const Lane *old,
                           Lane *r) {
  const Lane zero = {0.0, 0.0, 0.0, 0.0};
  const Mask closed = (q[0] < zero) & (inverse > zero);
  r[0] = r[1] = r[2] = zero;
  if (!scree_lane_any(closed)) return;
  const Lane w[2] = {W[1], W[2]}, l0 = w[0] * inverse, l1 = w[1] * inverse;
  const Lane S00 = W[3] - l0 * w[0], S01 = W[4] - l0 * w[1], S11 = W[5] - l1 * w[1];
  const Lane n1[2] = {l0 * q[0] - q[1], l1 * q[0] - q[2]};
  const Lane n0[2] = {S11 * n1[0] - S01 * n1[1], S00 * n1[1] - S01 * n1[0]};
  const Lane trace = scree_lane_max(S00 + S11, zero);
  Lane det = S00 * S11 - S01 * S01;
  const Mask regular = det > DBL_EPSILON * trace * trace;
  det = scree_lane_choose(regular, det, zero);
  const Lane scale = mu * inverse;
  const Lane norm0 = scree_lane_sqrt(n0[0] * n0[0] + n0[1] * n0[1]);
  const Lane f0 = norm0 + scale * (q[0] * det + w[0] * n0[0] + w[1] * n0[1]);
  Mask slip = closed & ~(regular & (f0 <= zero)) & (mu > zero), smooth = ~(mu > zero);
  Lane a = zero;
  if (scree_lane_any(slip)) {
    const Lane norm1 = scree_lane_sqrt(n1[0] * n1[0] + n1[1] * n1[1]);
    const Lane k = (W[0] / mu + scree_lane_sqrt(w[0] * w[0] + w[1] * w[1])) / -q[0];
    const Lane hi = k * norm1 + scree_lane_sqrt(k * norm0);
    const Mask pushed = (hi > zero) & (hi < INFINITY);
    smooth |= slip & ~pushed; /* no tangential load */
    slip &= pushed;
    const Lane old2 = old[1] * old[1] + old[2] * old[2];
    const Lane start = (old[1] * (n1[0] - S00 * old[1] - S01 * old[2]) +
                        old[2] * (n1[1] - S01 * old[1] - S11 * old[2])) /
                       old2; /* NaN without an old direction: then not used */
    a = slip_root(n0, n1, trace, det, scale, q[0], w, start, hi, slip);
  }
  const Lane D = a * (a + trace) + det;
  Lane t0 = scree_lane_choose(smooth, zero, (n0[0] + a * n1[0]) / D);
  Lane t1 = scree_lane_choose(smooth, zero, (n0[1] + a * n1[1]) / D);
  const Lane rn = -(q[0] + w[0] * t0 + w[1] * t1) * inverse;
  const Mask pressed = closed & (rn > zero);
  const Lane norm = scree_lane_sqrt(t0 * t0 + t1 * t1), limit = mu * rn;
  const Mask outside = (norm > limit) | ((a > zero) & (norm > zero));
  const Lane shrink = scree_lane_choose(outside, limit / norm, (Lane){1.0, 1.0, 1.0, 1.0});
  r[0] = scree_lane_choose(pressed, rn, zero);
  r[1] = scree_lane_choose(pressed, shrink * t0, zero);
  r[2] = scree_lane_choose(pressed, shrink * t1, zero);
}

SCREE_INLINE void solve_2d(const Lane *W, Lane inverse, Lane mu, const Lane *q, Lane *r) {
  const Lane zero = {0.0, 0.0, 0.0, 0.0};
  const Mask closed = (q[0] < zero) & (inverse > zero);
  const Lane l = W[1] * inverse, S = W[2] - l * W[1], b = q[1] - l * q[0];
  const Lane t = -b / S, n = -(q[0] + W[1] * t) * inverse;
  const Mask stick = (S > DBL_EPSILON * W[2]) & (scree_lane_abs(t) <= mu * n);
  const Lane side = scree_lane_choose(b > zero, -mu, scree_lane_choose(b < zero, mu, zero));
  const Lane along = W[0] + side * W[1], slip = -q[0] / along;
  const Mask pressed = closed & (stick | (along > zero));
  r[0] = scree_lane_choose(pressed, scree_lane_choose(stick, n, slip), zero);
  r[1] = scree_lane_choose(pressed, scree_lane_choose(stick, t, side * slip), zero);
}

/* Between balls W_cc = diag(wn, wt, wt) and the statuses decouple: r_n = max(0, r_n - u_n/wn), and
 * r_T - u_T/wt, pulled back to the disk of radius mu r_n, for then it points against the slip. */
SCREE_INLINE void solve_balls(int d, const Lane *arm, const Lane *C, Lane mu, const Lane *u,
                              const Lane *old, Lane *r) {
  const Lane zero = {0.0, 0.0, 0.0, 0.0}, one = {1.0, 1.0, 1.0, 1.0};
  const Lane rigid = arm[0] * arm[0] + arm[2] * arm[2];
  const Lane turning = rigid + (arm[1] * arm[1] + arm[3] * arm[3]);
  const Lane wn = C ? rigid + C[0] : rigid, wt = C ? turning + C[1] : turning;
  const Lane rn = old[0] - u[0] / wn;
  const Mask pressed = (rn > zero) & (wn > zero);
  const Lane limit = mu * rn;
  r[0] = scree_lane_choose(pressed, rn, zero);
  if (d == 2) {
    const Lane t = old[1] - u[1] / wt, low = scree_lane_choose(t > limit, limit, t);
    r[1] = scree_lane_choose(pressed, scree_lane_max(low, -limit), zero);
  } else {
    const Lane inverse = one / wt;
    const Lane t0 = old[1] - inverse * u[1], t1 = old[2] - inverse * u[2];
    const Lane norm = scree_lane_sqrt(t0 * t0 + t1 * t1);
    const Lane shrink = scree_lane_choose(norm > limit, limit / norm, one);
    r[1] = scree_lane_choose(pressed, shrink * t0, zero);
    r[2] = scree_lane_choose(pressed, shrink * t1, zero);
  }
}

/* ---- one batch ---------------------------------------------------------------------------------
 */

/* Velocities of the four bodies of one side, component by component: v (stride) */
SCREE_INLINE void load_bodies(const double *y, int stride, const int *body, Lane *v) {
  SCREE_UNROLL for (int k = 0; k < stride; k += SCREE_LANES) {
    SCREE_UNROLL for (int lane = 0; lane < SCREE_LANES; ++lane) v[k + lane] =
        *(const Lane *)(y + (size_t)body[lane] * (size_t)stride + k);
    scree_lane_transpose(v + k, v + k + 1, v + k + 2, v + k + 3);
  }
}

SCREE_INLINE void store_bodies(double *y, int stride, int ground, const int *body, Lane *v) {
  SCREE_UNROLL for (int k = 0; k < stride; k += SCREE_LANES) {
    scree_lane_transpose(v + k, v + k + 1, v + k + 2, v + k + 3);
    SCREE_UNROLL for (int lane = 0; lane < SCREE_LANES; ++lane) if (body[lane] != ground) *
        (Lane *)(y + (size_t)body[lane] * (size_t)stride + k) = v[k + lane];
  }
}

/* u += C r */
SCREE_INLINE void add_compliance(int d, const Lane *C, const Lane *r, Lane *u) {
  u[0] += C[0] * r[0];
  SCREE_UNROLL for (int i = 1; i < d; ++i) u[i] += C[1] * r[i];
}

typedef struct Change {
  Lane normal, tangent2;
} Change;

/* r <- next; dr receives the difference, and *change its size. */
SCREE_INLINE void replace(int d, const Lane *next, Lane *r, Lane *dr, Change *change) {
  SCREE_UNROLL for (int i = 0; i < d; ++i) {
    dr[i] = next[i] - r[i];
    r[i] = next[i];
  }
  change->normal = scree_lane_abs(dr[0]);
  change->tangent2 = d == 3 ? dr[1] * dr[1] + dr[2] * dr[2] : dr[1] * dr[1];
}

SCREE_INLINE void visit(scree_Lanes *lanes, bool soft, int d, int nb, int stride, int index,
                        Change *change) {
  const Lane *B0 = lanes->batch + (size_t)index * (size_t)scree_lane_batch_size(false, soft, d, nb),
             *B1 = B0 + d * nb;
  const Lane *W = B1 + d * nb, *inverse = W + d * (d + 1) / 2, *q = inverse + 1, *mu = q + d;
  const int *body = lanes->body + (size_t)index * 2 * SCREE_LANES;
  Lane *r = lanes->r + (size_t)index * (size_t)d;
  Lane v0[8], v1[8], local[3], next[3], dr[3];
  load_bodies(lanes->y, stride, body, v0);
  load_bodies(lanes->y, stride, body + SCREE_LANES, v1);
  SCREE_UNROLL for (int i = 0; i < d; ++i) {
    Lane first = B0[i * nb] * v0[0], second = B1[i * nb] * v1[0];
    SCREE_UNROLL for (int j = 1; j < nb; ++j) {
      first += B0[i * nb + j] * v0[j];
      second += B1[i * nb + j] * v1[j];
    }
    local[i] = q[i] + (first + second);
  }
  if (soft) add_compliance(d, mu + 1, r, local);
  if (d == 3) {
    local[0] -= W[0] * r[0] + W[1] * r[1] + W[2] * r[2];
    local[1] -= W[1] * r[0] + W[3] * r[1] + W[4] * r[2];
    local[2] -= W[2] * r[0] + W[4] * r[1] + W[5] * r[2];
    solve_3d(W, *inverse, *mu, local, r, next);
  } else {
    local[0] -= W[0] * r[0] + W[1] * r[1];
    local[1] -= W[1] * r[0] + W[2] * r[1];
    solve_2d(W, *inverse, *mu, local, next);
  }
  replace(d, next, r, dr, change);
  SCREE_UNROLL for (int j = 0; j < nb; ++j) SCREE_UNROLL for (int i = 0; i < d; ++i) {
    v0[j] += B0[i * nb + j] * dr[i];
    v1[j] += B1[i * nb + j] * dr[i];
  }
  store_bodies(lanes->y, stride, lanes->nbodies, body, v0);
  store_bodies(lanes->y, stride, lanes->nbodies, body + SCREE_LANES, v1);
}

SCREE_INLINE Lane dot3(const Lane *a, const Lane *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

SCREE_INLINE void visit_spheres(scree_Lanes *lanes, bool soft, int index, Change *change) {
  const Lane *n = lanes->batch + (size_t)index * (size_t)scree_lane_batch_size(true, soft, 3, 6);
  const Lane *arm = n + 3, *q = arm + 4, *mu = q + 3;
  const int *body = lanes->body + (size_t)index * 2 * SCREE_LANES;
  Lane *r = lanes->r + (size_t)index * 3;
  Lane v0[8], v1[8], t1[3], t2[3], g[3], h[3], u[3], next[3], dr[3];
  scree_ball_tangents(n, t1, t2);
  load_bodies(lanes->y, 8, body, v0);
  load_bodies(lanes->y, 8, body + SCREE_LANES, v1);
  SCREE_UNROLL for (int k = 0; k < 3; ++k) {
    g[k] = arm[0] * v0[k] + arm[2] * v1[k];
    h[k] = arm[1] * v0[3 + k] + arm[3] * v1[3 + k];
  }
  u[0] = q[0] + dot3(n, g);
  u[1] = q[1] + (dot3(t1, g) - dot3(t2, h));
  u[2] = q[2] + (dot3(t2, g) + dot3(t1, h));
  if (soft) add_compliance(3, mu + 1, r, u);
  solve_balls(3, arm, soft ? mu + 1 : NULL, *mu, u, r, next);
  replace(3, next, r, dr, change);
  SCREE_UNROLL for (int k = 0; k < 3; ++k) {
    const Lane f = n[k] * dr[0] + t1[k] * dr[1] + t2[k] * dr[2];
    const Lane m = t1[k] * dr[2] - t2[k] * dr[1];
    v0[k] += arm[0] * f;
    v1[k] += arm[2] * f;
    v0[3 + k] += arm[1] * m;
    v1[3 + k] += arm[3] * m;
  }
  store_bodies(lanes->y, 8, lanes->nbodies, body, v0);
  store_bodies(lanes->y, 8, lanes->nbodies, body + SCREE_LANES, v1);
}

SCREE_INLINE void visit_disks(scree_Lanes *lanes, bool soft, int index, Change *change) {
  const Lane *n = lanes->batch + (size_t)index * (size_t)scree_lane_batch_size(true, soft, 2, 3);
  const Lane *arm = n + 2, *q = arm + 4, *mu = q + 2;
  const int *body = lanes->body + (size_t)index * 2 * SCREE_LANES;
  Lane *r = lanes->r + (size_t)index * 2;
  Lane v0[4], v1[4], u[2], next[2], dr[2];
  load_bodies(lanes->y, 4, body, v0);
  load_bodies(lanes->y, 4, body + SCREE_LANES, v1);
  const Lane g0 = arm[0] * v0[0] + arm[2] * v1[0], g1 = arm[0] * v0[1] + arm[2] * v1[1];
  u[0] = q[0] + (n[0] * g0 + n[1] * g1);
  u[1] = q[1] + ((n[0] * g1 - n[1] * g0) - (arm[1] * v0[2] + arm[3] * v1[2]));
  if (soft) add_compliance(2, mu + 1, r, u);
  solve_balls(2, arm, soft ? mu + 1 : NULL, *mu, u, r, next);
  replace(2, next, r, dr, change);
  const Lane f0 = n[0] * dr[0] - n[1] * dr[1], f1 = n[1] * dr[0] + n[0] * dr[1];
  v0[0] += arm[0] * f0;
  v0[1] += arm[0] * f1;
  v0[2] -= arm[1] * dr[1];
  v1[0] += arm[2] * f0;
  v1[1] += arm[2] * f1;
  v1[2] -= arm[3] * dr[1];
  store_bodies(lanes->y, 4, lanes->nbodies, body, v0);
  store_bodies(lanes->y, 4, lanes->nbodies, body + SCREE_LANES, v1);
}

/* Prefetch a later batch and its bodies; there is padding after the last batch. The processor's own
 * prefetching stops at the end of a page, and a batch is almost half of one; batches of balls are
 * small enough for it. */
SCREE_INLINE void prefetch(const scree_Lanes *lanes, bool balls, bool soft, int d, int nb,
                           int stride, int index) {
  const int size = scree_lane_batch_size(balls, soft, d, nb),
            *body = lanes->body + (size_t)index * 2 * SCREE_LANES;
  const Lane *batch = lanes->batch + (size_t)index * (size_t)size;
  SCREE_UNROLL for (int e = 0; e < 2 * SCREE_LANES; ++e)
      __builtin_prefetch(lanes->y + (size_t)body[e] * (size_t)stride, 1);
  if (balls) return;
  int k = 0;
  for (; k + 16 <= size; k += 16)
    SCREE_UNROLL for (int e = 0; e < 16; e += 2) __builtin_prefetch(batch + k + e);
  for (; k < size; k += 2) __builtin_prefetch(batch + k);
}

SCREE_INLINE unsigned char longer(unsigned char pause) {
  return (unsigned char)(pause == 0 ? 1 : pause < LONGEST_PAUSE ? 2 * pause : LONGEST_PAUSE);
}

SCREE_INLINE scree_SweepChange visit_range(scree_Lanes *lanes, bool balls, bool soft, int d, int nb,
                                           int stride, int first, int last) {
  const Lane zero = {0.0, 0.0, 0.0, 0.0};
  const bool pauses = lanes->pauses;
  Change change = {zero, zero};
  int visited = last - first;
  for (int k = first; k < last; ++k) {
    if (pauses && lanes->wait[k]) {
      --lanes->wait[k];
      --visited;
      continue;
    }
    prefetch(lanes, balls, soft, d, nb, stride, k + (balls ? PREFETCH_BALLS : PREFETCH));
    Change now;
    if (!balls)
      visit(lanes, soft, d, nb, stride, k, &now);
    else if (d == 3)
      visit_spheres(lanes, soft, k, &now);
    else
      visit_disks(lanes, soft, k, &now);
    change.normal = scree_lane_max(change.normal, now.normal);
    change.tangent2 = scree_lane_max(change.tangent2, now.tangent2);
    if (!pauses) continue;
    const Mask bits = (Mask)now.normal | (Mask)now.tangent2; /* neither is negative */
    const bool moved = scree_lane_any(bits);
    lanes->wait[k] = lanes->pause[k] = moved ? 0 : longer(lanes->pause[k]);
  }
  scree_SweepChange total = {.visited = visited};
  for (int lane = 0; lane < SCREE_LANES; ++lane) {
    if (change.normal[lane] > total.normal) total.normal = change.normal[lane];
    if (change.tangent2[lane] > total.tangent2) total.tangent2 = change.tangent2[lane];
  }
  return total;
}

#define SCREE_VISIT(name, balls, soft, d, nb, stride)                                              \
  SCREE_CLONES static scree_SweepChange name(scree_Lanes *lanes, int first, int last) {            \
    return visit_range(lanes, balls, soft, d, nb, stride, first, last);                            \
  }
SCREE_VISIT(visit_3d, false, false, 3, 6, 8)
SCREE_VISIT(visit_2d, false, false, 2, 3, 4)
SCREE_VISIT(visit_balls_3d, true, false, 3, 6, 8)
SCREE_VISIT(visit_balls_2d, true, false, 2, 3, 4)
SCREE_VISIT(visit_soft_3d, false, true, 3, 6, 8)
SCREE_VISIT(visit_soft_2d, false, true, 2, 3, 4)
SCREE_VISIT(visit_soft_balls_3d, true, true, 3, 6, 8)
SCREE_VISIT(visit_soft_balls_2d, true, true, 2, 3, 4)

scree_SweepChange scree_lanes_visit(scree_Lanes *lanes, int first, int last) {
  static scree_SweepChange (*const visits[2][2][2])(scree_Lanes *, int, int) = {
      {{visit_2d, visit_3d}, {visit_soft_2d, visit_soft_3d}},
      {{visit_balls_2d, visit_balls_3d}, {visit_soft_balls_2d, visit_soft_balls_3d}}};
  return visits[lanes->balls][lanes->soft][lanes->d == 3](lanes, first, last);
}
