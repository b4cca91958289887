/* Batches of four contacts (see lanes.h).
 *
 * A batch holds, lane by lane, B of both bodies (2 d nb), the upper triangle of W_cc (symmetric in
 * body form), 1/W_nn, q (d) and mu; between balls the normal (d), the arms (4), q (d) and mu; with
 * compliance its normal and tangential entry. The local solution is that of local_exact.h with
 * every branch turned into a mask: all statuses are computed and the right one is chosen. */
#include "solver/lanes.h"

#include "core/log.h"
#include "problem/balls.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

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

SCREE_INLINE int batch_size(bool balls, bool soft, int d, int nb) {
  return (balls ? d + 4 + d + 1 : 2 * d * nb + d * (d + 1) / 2 + 1 + d + 1) + (soft ? 2 : 0);
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
  const Lane *B0 = lanes->batch + (size_t)index * (size_t)batch_size(false, soft, d, nb),
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

/* scree_contact_frame four times: the same bits */
SCREE_INLINE void tangents(const Lane *n, Lane *t1, Lane *t2) {
  const Lane one = {1.0, 1.0, 1.0, 1.0}, minus = {-0.0, -0.0, -0.0, -0.0};
  const Lane sign = (Lane)((Mask)one | ((Mask)n[2] & (Mask)minus));
  const Lane a = -1.0 / (sign + n[2]), b = n[0] * n[1] * a;
  t1[0] = 1.0 + sign * n[0] * n[0] * a;
  t1[1] = sign * b;
  t1[2] = -sign * n[0];
  t2[0] = b;
  t2[1] = sign + n[1] * n[1] * a;
  t2[2] = -n[1];
}

SCREE_INLINE Lane dot3(const Lane *a, const Lane *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

SCREE_INLINE void visit_spheres(scree_Lanes *lanes, bool soft, int index, Change *change) {
  const Lane *n = lanes->batch + (size_t)index * (size_t)batch_size(true, soft, 3, 6);
  const Lane *arm = n + 3, *q = arm + 4, *mu = q + 3;
  const int *body = lanes->body + (size_t)index * 2 * SCREE_LANES;
  Lane *r = lanes->r + (size_t)index * 3;
  Lane v0[8], v1[8], t1[3], t2[3], g[3], h[3], u[3], next[3], dr[3];
  tangents(n, t1, t2);
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
  const Lane *n = lanes->batch + (size_t)index * (size_t)batch_size(true, soft, 2, 3);
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
  const int size = batch_size(balls, soft, d, nb),
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

/* ---- making batches ----------------------------------------------------------------------------
 */

/* Whether all compliances are diagonal, with equal entries along the tangents. */
static bool is_isotropic(const scree_Problem *p) {
  const int d = p->d;
  const double *C = p->bodies.C;
  for (int c = 0; C && c < p->nc; ++c, C += d * d) {
    if (d == 2 && (C[1] != 0 || C[2] != 0)) return false;
    if (d == 3 && (C[1] != 0 || C[2] != 0 || C[3] != 0 || C[5] != 0 || C[6] != 0 || C[7] != 0 ||
                   C[4] != C[8]))
      return false;
  }
  return true;
}

bool scree_lanes_fit(const scree_Operator *W) {
  const scree_Problem *p = W->problem;
  return p->kind == SCREE_BODIES && W->plain_cones && !p->flow_blocks && is_isotropic(p) &&
         (p->flow == SCREE_COULOMB || scree_problem_is_frictionless(p)) &&
         ((p->d == 3 && p->bodies.nb == 6) || (p->d == 2 && p->bodies.nb == 3));
}

/* Whether all blocks of a dense B are those of balls. */
static bool all_balls(const scree_Problem *p) {
  double normal[3], arm[4], turn[4];
  for (int c = 0; p->bodies.B && c < p->nc; ++c)
    if (!scree_balls_recognise(p, c, normal, arm, turn)) return false;
  return true;
}

/* x (d) of contact c in the tangents of the balls; out may be x. */
static void turn_to(const scree_Lanes *lanes, int c, const double *x, double *out) {
  const double n = x[0], a = x[1], b = lanes->d == 3 ? x[2] : 0.0;
  const double *Q = lanes->turn + (lanes->d == 3 ? 4 : 1) * (size_t)c;
  out[0] = n;
  out[1] = lanes->d == 3 ? Q[0] * a + Q[2] * b : Q[0] * a;
  if (lanes->d == 3) out[2] = Q[1] * a + Q[3] * b;
}

/* The inverse transformation. */
static void turn_from(const scree_Lanes *lanes, int c, const double *x, double *out) {
  const double n = x[0], a = x[1], b = lanes->d == 3 ? x[2] : 0.0;
  const double *Q = lanes->turn + (lanes->d == 3 ? 4 : 1) * (size_t)c;
  out[0] = n;
  out[1] = lanes->d == 3 ? Q[0] * a + Q[1] * b : Q[0] * a;
  if (lanes->d == 3) out[2] = Q[2] * a + Q[3] * b;
}

static void fill_compliance(const scree_Problem *p, int lane, int c, Lane *at) {
  assert(p->bodies.C); /* the lanes are soft */
  const double *C = p->bodies.C + (size_t)c * (size_t)(p->d * p->d);
  at[0][lane] = C[0];
  at[1][lane] = C[p->d + 1];
}

static void fill_balls(scree_Lanes *lanes, const scree_Problem *p, int lane, int c, Lane *at) {
  const int d = p->d;
  double found[7], q[3] = {0.0};
  const double *n = found, *arm = found + 3, *free = p->q + (size_t)c * (size_t)d;
  if (lanes->turn) {
    scree_balls_recognise(p, c, found, found + 3, lanes->turn + (d == 3 ? 4 : 1) * (size_t)c);
    turn_to(lanes, c, free, q);
    free = q;
  } else {
    n = p->bodies.normal + 3 * (size_t)c;
    arm = p->bodies.arm + 4 * (size_t)c;
  }
  for (int k = 0; k < d; ++k) (at++)[0][lane] = n[k];
  for (int k = 0; k < 4; ++k) (at++)[0][lane] = arm[k];
  for (int k = 0; k < d; ++k) (at++)[0][lane] = free[k];
  at[0][lane] = p->mu[c];
  if (lanes->soft) fill_compliance(p, lane, c, at + 1);
}

static void fill_lane(const scree_Operator *W, scree_Lanes *lanes, int index, int lane) {
  const scree_Problem *p = W->problem;
  const int d = p->d, nb = p->bodies.nb, blocks = 2 * d * nb;
  const int c = lanes->contact[index * SCREE_LANES + lane];
  Lane *at = lanes->batch + (size_t)index * (size_t)lanes->size;
  if (c < 0) { /* zeros: a contact that is never closed */
    for (int k = 0; k < lanes->size; ++k) at[k][lane] = 0.0;
    return;
  }
  if (lanes->balls) {
    fill_balls(lanes, p, lane, c, at);
    return;
  }
  const double *D = W->diagonal + (size_t)c * (size_t)(d * d);
  const double *B = p->bodies.B + (size_t)c * (size_t)blocks;
  for (int k = 0; k < blocks; ++k) (at++)[0][lane] = B[k];
  for (int i = 0; i < d; ++i)
    for (int j = i; j < d; ++j) (at++)[0][lane] = D[i * d + j];
  (at++)[0][lane] = D[0] > 0.0 ? 1.0 / D[0] : 0.0;
  for (int i = 0; i < d; ++i) (at++)[0][lane] = p->q[(size_t)c * (size_t)d + (size_t)i];
  at[0][lane] = p->mu[c];
  if (lanes->soft) fill_compliance(p, lane, c, at + 1);
}

scree_Status scree_lanes_create(const scree_Operator *W, const scree_Colouring *colouring,
                                const scree_LaneLayout *layout, scree_Arena *arena,
                                scree_Lanes *lanes, const scree_Log *log) {
  const scree_Problem *p = W->problem;
  const int d = p->d;
  const bool balls = all_balls(p), turned = balls && p->bodies.B;
  *lanes = (scree_Lanes){.balls = balls,
                         .soft = p->bodies.C != NULL,
                         .d = d,
                         .stride = d == 3 ? 8 : 4,
                         .nbodies = p->bodies.nbodies,
                         .colours = colouring->colours,
                         .start = layout->start,
                         .open = layout->open,
                         .contact = layout->contact,
                         .body = layout->body,
                         .size = batch_size(balls, p->bodies.C != NULL, d, p->bodies.nb)};
  const size_t room = (size_t)layout->batches + (balls ? PREFETCH_BALLS : PREFETCH);
  lanes->batch = SCREE_TAKE_RAW(arena, Lane, room * (size_t)lanes->size);
  lanes->r = SCREE_TAKE(arena, Lane, (size_t)layout->batches * (size_t)d);
  lanes->wait = SCREE_TAKE(arena, unsigned char, layout->batches);
  lanes->pause = SCREE_TAKE(arena, unsigned char, layout->batches);
  lanes->y = SCREE_TAKE(arena, double, ((size_t)p->bodies.nbodies + 1) * (size_t)lanes->stride);
  if (turned)
    lanes->turn = SCREE_TAKE_RAW(arena, double, (size_t)p->nc *(size_t)((d - 1) * (d - 1)));
  if (!lanes->batch || !lanes->r || !lanes->y || !lanes->wait || !lanes->pause ||
      (turned && !lanes->turn))
    return scree_fail_memory(log, "batches of contacts");
  for (int index = 0; index < layout->batches; ++index)
    for (int lane = 0; lane < SCREE_LANES; ++lane) fill_lane(W, lanes, index, lane);
  return SCREE_OK;
}

/* Below this many batches a team of threads costs more than the copying. */
enum { PARALLEL_BATCHES = 1000 };

static void set_impulses(scree_Lanes *lanes, int first, int last, const double *r) {
  const int d = lanes->d;
  for (int k = SCREE_LANES * first; k < SCREE_LANES * last; ++k) {
    const int c = lanes->contact[k];
    if (c < 0) continue;
    const double *rc = r + (size_t)c * (size_t)d;
    double turned[3];
    if (lanes->turn) {
      turn_to(lanes, c, rc, turned);
      rc = turned;
    }
    for (int i = 0; i < d; ++i) lanes->r[k / SCREE_LANES * d + i][k % SCREE_LANES] = rc[i];
  }
}

static void set_velocities(scree_Lanes *lanes, int first, int last, const double *y) {
  const int nb = lanes->d == 3 ? 6 : 3;
  for (int b = first; b < last; ++b)
    for (int j = 0; j < nb; ++j)
      lanes->y[(size_t)b * (size_t)lanes->stride + (size_t)j] =
          y[(size_t)b * (size_t)nb + (size_t)j];
}

static void get_impulses(const scree_Lanes *lanes, int first, int last, double *r) {
  const int d = lanes->d;
  for (int k = SCREE_LANES * first; k < SCREE_LANES * last; ++k) {
    const int c = lanes->contact[k];
    if (c < 0) continue;
    double *rc = r + (size_t)c * (size_t)d;
    for (int i = 0; i < d; ++i) rc[i] = lanes->r[k / SCREE_LANES * d + i][k % SCREE_LANES];
    if (lanes->turn) turn_from(lanes, c, rc, rc);
  }
}

/* Start of part k of n of `total`. */
static int part(int total, int k, int n) {
  return (int)((long long)total * k / n);
}

void scree_lanes_set(scree_Lanes *lanes, const double *r, const double *y, int threads) {
  const int batches = lanes->start[lanes->colours], bodies = lanes->nbodies;
  memset(lanes->wait, 0, (size_t)batches);
  memset(lanes->pause, 0, (size_t)batches);
  if (threads == 1 || batches < PARALLEL_BATCHES) {
    set_impulses(lanes, 0, batches, r);
    set_velocities(lanes, 0, bodies, y);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int k = 0; k < threads; ++k) {
    set_impulses(lanes, part(batches, k, threads), part(batches, k + 1, threads), r);
    set_velocities(lanes, part(bodies, k, threads), part(bodies, k + 1, threads), y);
  }
}

void scree_lanes_refresh(scree_Lanes *lanes, const double *y, int threads) {
  const int bodies = lanes->nbodies;
  if (threads == 1 || lanes->start[lanes->colours] < PARALLEL_BATCHES) {
    set_velocities(lanes, 0, bodies, y);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int k = 0; k < threads; ++k)
    set_velocities(lanes, part(bodies, k, threads), part(bodies, k + 1, threads), y);
}

void scree_lanes_get(const scree_Lanes *lanes, double *r, int threads) {
  const int batches = lanes->start[lanes->colours];
  if (threads == 1 || batches < PARALLEL_BATCHES) {
    get_impulses(lanes, 0, batches, r);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int k = 0; k < threads; ++k)
    get_impulses(lanes, part(batches, k, threads), part(batches, k + 1, threads), r);
}

static void get_velocities(const scree_Lanes *lanes, int first, int last, double *y) {
  const int nb = lanes->d == 3 ? 6 : 3;
  for (int b = first; b < last; ++b)
    for (int j = 0; j < nb; ++j)
      y[(size_t)b * (size_t)nb + (size_t)j] =
          lanes->y[(size_t)b * (size_t)lanes->stride + (size_t)j];
}

void scree_lanes_state(const scree_Lanes *lanes, double *y, int threads) {
  const int bodies = lanes->nbodies + 1; /* and the ground */
  if (threads == 1 || lanes->start[lanes->colours] < PARALLEL_BATCHES) {
    get_velocities(lanes, 0, bodies, y);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int k = 0; k < threads; ++k)
    get_velocities(lanes, part(bodies, k, threads), part(bodies, k + 1, threads), y);
}
