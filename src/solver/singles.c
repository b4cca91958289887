/* Batches of eight contacts between balls in single precision (see singles.h).
 *
 * A batch holds, lane by lane, the normals (d), the arms (4), q (d) and mu; with compliance its
 * normal and tangential entry. The visit is that of lanes.c. Units: with A and Q powers of two near
 * 1/sqrt(mean diag W) and max |q|, arms are multiplied by A, compliances by A^2, and q divided by
 * Q; then u is in Q, r in A^2 Q and y in A Q. */
#include "solver/singles.h"

#include "core/log.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { WIDTH = SCREE_SINGLES, QUAD = 4, AHEAD = SCREE_LANES_AHEAD, LONGEST_PAUSE = 32 };
enum { CHUNK = 128 };            /* batches that are summed before the sums are added */
enum { PARALLEL_BATCHES = 500 }; /* below, a team of threads costs more than it saves */

/* Errors stop falling at some 1e-7, in a stack of hundreds at 1e-6; ten times lower with a base. */
static const double least_error = 3e-6, least_based = 3e-7;

typedef float Wide __attribute__((vector_size(4 * WIDTH)));
typedef int32_t WideMask __attribute__((vector_size(4 * WIDTH)));
typedef float Quad __attribute__((vector_size(4 * QUAD), may_alias));
typedef int64_t Halves __attribute__((vector_size(4 * WIDTH)));

SCREE_INLINE Wide choose(WideMask mask, Wide yes, Wide no) {
  return (Wide)((mask & (WideMask)yes) | (~mask & (WideMask)no));
}

SCREE_INLINE bool any(WideMask mask) {
  const Halves h = (Halves)mask;
  return (h[0] | h[1] | h[2] | h[3]) != 0;
}

SCREE_INLINE Wide root(Wide x) {
  return (Wide){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3]),
                sqrtf(x[4]), sqrtf(x[5]), sqrtf(x[6]), sqrtf(x[7])};
}

SCREE_INLINE Wide absolute(Wide x) {
  return choose(x < 0.0f, -x, x);
}

SCREE_INLINE Wide larger(Wide a, Wide b) {
  return choose(a > b, a, b);
}

/* ---- bodies ------------------------------------------------------------------------------------
 */

/* Rows a, b, c, d of each half become columns, in place. */
SCREE_INLINE void transpose(Wide *a, Wide *b, Wide *c, Wide *d) {
  const Wide ab0 = __builtin_shufflevector(*a, *b, 0, 8, 1, 9, 4, 12, 5, 13);
  const Wide ab1 = __builtin_shufflevector(*a, *b, 2, 10, 3, 11, 6, 14, 7, 15);
  const Wide cd0 = __builtin_shufflevector(*c, *d, 0, 8, 1, 9, 4, 12, 5, 13);
  const Wide cd1 = __builtin_shufflevector(*c, *d, 2, 10, 3, 11, 6, 14, 7, 15);
  *a = __builtin_shufflevector(ab0, cd0, 0, 1, 8, 9, 4, 5, 12, 13);
  *b = __builtin_shufflevector(ab0, cd0, 2, 3, 10, 11, 6, 7, 14, 15);
  *c = __builtin_shufflevector(ab1, cd1, 0, 1, 8, 9, 4, 5, 12, 13);
  *d = __builtin_shufflevector(ab1, cd1, 2, 3, 10, 11, 6, 7, 14, 15);
}

/* Velocities of the eight bodies of one side, component by component: v (stride). */
SCREE_INLINE void load_bodies(const float *y, int stride, const int *body, Wide *v) {
  SCREE_UNROLL for (int k = 0; k < stride; k += QUAD) {
    SCREE_UNROLL for (int lane = 0; lane < QUAD; ++lane) {
      const Quad low = *(const Quad *)(y + (size_t)body[lane] * (size_t)stride + k);
      const Quad high = *(const Quad *)(y + (size_t)body[lane + QUAD] * (size_t)stride + k);
      v[k + lane] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    transpose(v + k, v + k + 1, v + k + 2, v + k + 3);
  }
}

SCREE_INLINE void store_bodies(float *y, int stride, int ground, const int *body, Wide *v) {
  SCREE_UNROLL for (int k = 0; k < stride; k += QUAD)
      transpose(v + k, v + k + 1, v + k + 2, v + k + 3);
  SCREE_UNROLL for (int lane = 0; lane < QUAD; ++lane) {
    float *low = y + (size_t)body[lane] * (size_t)stride;
    float *high = y + (size_t)body[lane + QUAD] * (size_t)stride;
    if (body[lane] != ground)
      SCREE_UNROLL for (int k = 0; k < stride; k += QUAD) * (Quad *)(low + k) =
          __builtin_shufflevector(v[k + lane], v[k + lane], 0, 1, 2, 3);
    if (body[lane + QUAD] != ground)
      SCREE_UNROLL for (int k = 0; k < stride; k += QUAD) * (Quad *)(high + k) =
          __builtin_shufflevector(v[k + lane], v[k + lane], 4, 5, 6, 7);
  }
}

/* ---- one batch ---------------------------------------------------------------------------------
 */

SCREE_INLINE int batch_size(bool soft, int d) {
  return d + 4 + d + 1 + (soft ? 2 : 0);
}

/* The numbers of a batch. */
typedef struct Batch {
  const Wide *n, *arm, *q, *mu;
  const Wide *C; /* (2) compliance, or null */
  const int *body;
  Wide *r;
  Wide t1[3], t2[3]; /* in space */
  Wide v0[8], v1[8];
} Batch;

SCREE_INLINE Wide dot3(const Wide *a, const Wide *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* scree_contact_frame eight times */
SCREE_INLINE void tangents(const Wide *n, Wide *t1, Wide *t2) {
  const Wide one = {1, 1, 1, 1, 1, 1, 1, 1},
             minus = {-0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f};
  const Wide sign = (Wide)((WideMask)one | ((WideMask)n[2] & (WideMask)minus));
  const Wide a = -1.0f / (sign + n[2]), b = n[0] * n[1] * a;
  t1[0] = 1.0f + sign * n[0] * n[0] * a;
  t1[1] = sign * b;
  t1[2] = -sign * n[0];
  t2[0] = b;
  t2[1] = sign + n[1] * n[1] * a;
  t2[2] = -n[1];
}

SCREE_INLINE void load(const scree_Singles *s, bool soft, int d, int index, Batch *b) {
  const int stride = d == 3 ? 8 : 4;
  b->n = (const Wide *)(s->batch) + (size_t)index * (size_t)batch_size(soft, d);
  b->arm = b->n + d;
  b->q = b->arm + 4;
  b->mu = b->q + d;
  b->C = soft ? b->mu + 1 : NULL;
  b->r = (Wide *)(s->r) + (size_t)index * (size_t)d;
  b->body = s->layout.body + (size_t)index * 2 * WIDTH;
  if (d == 3) tangents(b->n, b->t1, b->t2);
  load_bodies(s->y, stride, b->body, b->v0);
  load_bodies(s->y, stride, b->body + WIDTH, b->v1);
}

/* u += C r */
SCREE_INLINE void add_compliance(int d, const Batch *b, Wide *u) {
  u[0] += b->C[0] * b->r[0];
  SCREE_UNROLL for (int i = 1; i < d; ++i) u[i] += b->C[1] * b->r[i];
}

/* u = q + B y */
SCREE_INLINE void rigid_velocity(int d, const Batch *b, Wide *u) {
  const Wide *n = b->n, *arm = b->arm, *v0 = b->v0, *v1 = b->v1;
  if (d == 2) {
    const Wide g0 = arm[0] * v0[0] + arm[2] * v1[0], g1 = arm[0] * v0[1] + arm[2] * v1[1];
    u[0] = b->q[0] + (n[0] * g0 + n[1] * g1);
    u[1] = b->q[1] + ((n[0] * g1 - n[1] * g0) - (arm[1] * v0[2] + arm[3] * v1[2]));
    return;
  }
  Wide g[3], h[3];
  SCREE_UNROLL for (int k = 0; k < 3; ++k) {
    g[k] = arm[0] * v0[k] + arm[2] * v1[k];
    h[k] = arm[1] * v0[3 + k] + arm[3] * v1[3 + k];
  }
  u[0] = b->q[0] + dot3(n, g);
  u[1] = b->q[1] + (dot3(b->t1, g) - dot3(b->t2, h));
  u[2] = b->q[2] + (dot3(b->t2, g) + dot3(b->t1, h));
}

SCREE_INLINE void relative_velocity(bool soft, int d, const Batch *b, Wide *u) {
  rigid_velocity(d, b, u);
  if (soft) add_compliance(d, b, u);
}

/* The local solution as in solve_balls of lanes.c. */
SCREE_INLINE void solve(bool soft, int d, const Batch *b, const Wide *u, Wide *r) {
  const Wide zero = {0}, one = zero + 1.0f, *arm = b->arm, *old = b->r;
  Wide wn = arm[0] * arm[0] + arm[2] * arm[2];
  Wide wt = wn + (arm[1] * arm[1] + arm[3] * arm[3]);
  if (soft) {
    wn += b->C[0];
    wt += b->C[1];
  }
  const Wide rn = old[0] - u[0] / wn;
  const WideMask pressed = (rn > zero) & (wn > zero);
  const Wide limit = *b->mu * rn, inverse = 1.0f / wt;
  r[0] = choose(pressed, rn, zero);
  if (d == 2) {
    const Wide t = old[1] - inverse * u[1], low = choose(t > limit, limit, t);
    r[1] = choose(pressed, larger(low, -limit), zero);
  } else {
    const Wide t0 = old[1] - inverse * u[1], t1 = old[2] - inverse * u[2];
    const Wide norm = root(t0 * t0 + t1 * t1);
    const Wide shrink = choose(norm > limit, limit / norm, one);
    r[1] = choose(pressed, shrink * t0, zero);
    r[2] = choose(pressed, shrink * t1, zero);
  }
}

/* y += B^T dr */
SCREE_INLINE void move(int d, const Wide *dr, Batch *b) {
  const Wide *n = b->n, *arm = b->arm;
  if (d == 2) {
    const Wide f0 = n[0] * dr[0] - n[1] * dr[1], f1 = n[1] * dr[0] + n[0] * dr[1];
    b->v0[0] += arm[0] * f0;
    b->v0[1] += arm[0] * f1;
    b->v0[2] -= arm[1] * dr[1];
    b->v1[0] += arm[2] * f0;
    b->v1[1] += arm[2] * f1;
    b->v1[2] -= arm[3] * dr[1];
    return;
  }
  SCREE_UNROLL for (int k = 0; k < 3; ++k) {
    const Wide f = n[k] * dr[0] + b->t1[k] * dr[1] + b->t2[k] * dr[2];
    const Wide m = b->t1[k] * dr[2] - b->t2[k] * dr[1];
    b->v0[k] += arm[0] * f;
    b->v1[k] += arm[2] * f;
    b->v0[3 + k] += arm[1] * m;
    b->v1[3 + k] += arm[3] * m;
  }
}

SCREE_INLINE unsigned char longer(unsigned char pause) {
  return (unsigned char)(pause == 0 ? 1 : pause < LONGEST_PAUSE ? 2 * pause : LONGEST_PAUSE);
}

/* The impulses of a batch move along their last change (momentum.h). */
SCREE_INLINE void move_on(const scree_Singles *s, int d, int index, float b) {
  Wide *r = (Wide *)(s->r) + (size_t)index * (size_t)d;
  Wide *last = (Wide *)(s->last) + (size_t)index * (size_t)d;
  SCREE_UNROLL for (int i = 0; i < d; ++i) {
    const Wide x = r[i];
    r[i] = x + b * (x - last[i]);
    last[i] = x;
  }
}

SCREE_INLINE float lanes_sum(Wide x) {
  const Quad half =
      __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
  return (half[0] + half[1]) + (half[2] + half[3]);
}

SCREE_INLINE scree_SweepChange visit_range(scree_Singles *s, bool soft, int d, int first, int last,
                                           const double *momentum) {
  const Wide zero = {0};
  const int stride = d == 3 ? 8 : 4;
  const bool pauses = s->pauses;
  const float along = momentum ? (float)*momentum : 0.0f;
  Wide normal = zero, tangent2 = zero;
  int visited = last - first;
  for (int k = first; k < last; ++k) {
    if (momentum) move_on(s, d, k, along);
    if (pauses && s->wait[k]) {
      --s->wait[k];
      --visited;
      if (momentum) s->changes[k] = 0.0f;
      continue;
    }
    const int *later = s->layout.body + (size_t)(k + AHEAD) * 2 * WIDTH;
    SCREE_UNROLL for (int e = 0; e < 2 * WIDTH; ++e)
        __builtin_prefetch(s->y + (size_t)later[e] * (size_t)stride, 1);
    Batch b;
    Wide u[3], next[3], dr[3];
    load(s, soft, d, k, &b);
    relative_velocity(soft, d, &b, u);
    solve(soft, d, &b, u, next);
    SCREE_UNROLL for (int i = 0; i < d; ++i) {
      dr[i] = next[i] - b.r[i];
      b.r[i] = next[i];
    }
    move(d, dr, &b);
    store_bodies(s->y, stride, s->nbodies, b.body, b.v0);
    store_bodies(s->y, stride, s->nbodies, b.body + WIDTH, b.v1);
    const Wide change = absolute(dr[0]);
    const Wide slide = d == 3 ? dr[1] * dr[1] + dr[2] * dr[2] : dr[1] * dr[1];
    normal = larger(normal, change);
    tangent2 = larger(tangent2, slide);
    if (momentum) s->changes[k] = lanes_sum(change * change + slide);
    if (!pauses) continue;
    s->wait[k] = s->pause[k] = any((change != zero) | (slide != zero)) ? 0 : longer(s->pause[k]);
  }
  scree_SweepChange total = {.visited = visited};
  for (int lane = 0; lane < WIDTH; ++lane) {
    total.normal = fmax(total.normal, (double)normal[lane]);
    total.tangent2 = fmax(total.tangent2, (double)tangent2[lane]);
  }
  total.normal *= s->impulse;
  total.tangent2 *= s->impulse * s->impulse;
  return total;
}

#define SCREE_VISIT(name, soft, d)                                                                 \
  SCREE_CLONES static scree_SweepChange name(scree_Singles *s, int first, int last,                \
                                             const double *momentum) {                             \
    return visit_range(s, soft, d, first, last, momentum);                                         \
  }
SCREE_VISIT(visit_spheres, false, 3)
SCREE_VISIT(visit_disks, false, 2)
SCREE_VISIT(visit_soft_spheres, true, 3)
SCREE_VISIT(visit_soft_disks, true, 2)

scree_SweepChange scree_singles_visit(scree_Singles *s, int first, int last,
                                      const double *momentum) {
  static scree_SweepChange (*const visits[2][2])(scree_Singles *, int, int, const double *) = {
      {visit_disks, visit_spheres}, {visit_soft_disks, visit_soft_spheres}};
  return visits[s->soft][s->d == 3](s, first, last, momentum);
}

/* ---- the error ---------------------------------------------------------------------------------
 */

/* |r - P(r - rho (u + s(u)))|^2 as in measure.c */
SCREE_INLINE Wide natural_map(int d, float rho, Wide mu, const Wide *r, const Wide *u) {
  const Wide zero = {0}, one = zero + 1.0f;
  const Wide slip = d == 3 ? root(u[1] * u[1] + u[2] * u[2]) : absolute(u[1]);
  Wide z[3], sum;
  SCREE_UNROLL for (int i = 0; i < d; ++i) z[i] = r[i] - rho * u[i];
  z[0] -= rho * mu * slip;
  const Wide t = d == 3 ? root(z[1] * z[1] + z[2] * z[2]) : absolute(z[1]);
  const WideMask inside = (t <= mu * z[0]) & (z[0] >= zero), polar = mu * t <= -z[0];
  const Wide a = (z[0] + mu * t) / (one + mu * mu), b = mu * a / t;
  const Wide shrink = choose(inside, one, choose(polar, zero, b));
  const Wide m = r[0] - choose(inside, z[0], choose(polar, zero, a));
  sum = m * m;
  SCREE_UNROLL for (int i = 1; i < d; ++i) {
    const Wide e = r[i] - shrink * z[i];
    sum += e * e;
  }
  return sum;
}

SCREE_INLINE double across(Wide x) {
  double sum = 0.0;
  SCREE_UNROLL for (int lane = 0; lane < WIDTH; ++lane) sum += (double)x[lane];
  return sum;
}

/* Sums of the squares of the natural map, r, q and u. */
SCREE_INLINE void sum_range(const scree_Singles *s, bool soft, int d, int first, int last,
                            double *sums) {
  const Wide zero = {0};
  Wide map = zero, r2 = zero, q2 = zero, u2 = zero;
  for (int k = first; k < last; ++k) {
    Batch b;
    Wide u[3];
    load(s, soft, d, k, &b);
    relative_velocity(soft, d, &b, u);
    map += natural_map(d, s->rho, *b.mu, b.r, u);
    SCREE_UNROLL for (int i = 0; i < d; ++i) {
      r2 += b.r[i] * b.r[i];
      q2 += b.q[i] * b.q[i];
      u2 += u[i] * u[i];
    }
  }
  sums[0] = across(map);
  sums[1] = across(r2);
  sums[2] = across(q2);
  sums[3] = across(u2);
}

#define SCREE_SUM(name, soft, d)                                                                   \
  SCREE_CLONES static void name(const scree_Singles *s, int first, int last, double *sums) {       \
    sum_range(s, soft, d, first, last, sums);                                                      \
  }
SCREE_SUM(sum_spheres, false, 3)
SCREE_SUM(sum_disks, false, 2)
SCREE_SUM(sum_soft_spheres, true, 3)
SCREE_SUM(sum_soft_disks, true, 2)

static void sum_chunk(const scree_Singles *s, int chunk) {
  const int first = chunk * CHUNK, batches = s->layout.batches;
  const int last = first + CHUNK < batches ? first + CHUNK : batches;
  static void (*const sums[2][2])(const scree_Singles *, int, int, double *) = {
      {sum_disks, sum_spheres}, {sum_soft_disks, sum_soft_spheres}};
  sums[s->soft][s->d == 3](s, first, last, s->sums + (size_t)chunk * 4);
}

double scree_singles_error(const scree_Singles *s, int threads) {
  const int chunks = (s->layout.batches + CHUNK - 1) / CHUNK;
  double total[4] = {0.0};
  if (threads == 1 || s->layout.batches < PARALLEL_BATCHES)
    for (int k = 0; k < chunks; ++k) sum_chunk(s, k);
  else
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int k = 0; k < chunks; ++k) sum_chunk(s, k);
  for (int k = 0; k < chunks; ++k)
    for (int i = 0; i < 4; ++i) total[i] += s->sums[4 * k + i];
  const double rho = (double)s->rho;
  if (s->based) total[2] = s->q2;
  const double scale = fmax(sqrt(total[1]), rho * sqrt(fmax(total[2], total[3])));
  return scale > 0.0 ? sqrt(total[0]) / scale : INFINITY;
}

/* ---- making batches ----------------------------------------------------------------------------
 */

double scree_singles_least(void) {
  return least_error;
}

double scree_singles_least_based(void) {
  return least_based;
}

bool scree_singles_fit(const scree_Operator *W) {
  const scree_Problem *p = W->problem;
  return p->kind == SCREE_BODIES && p->bodies.arm && p->general.count == 0 && !W->coupling &&
         scree_lanes_fit(W);
}

/* The power of two next to x > 0, or 1. */
static double next_power(double x) {
  return x > 0.0 && x < INFINITY ? ldexp(1.0, ilogb(x)) : 1.0;
}

static void fill_batch(const scree_Problem *p, scree_Singles *s, int index, double A, double Q) {
  const int d = s->d;
  for (int lane = 0; lane < WIDTH; ++lane) {
    float *at = s->batch + (size_t)index * (size_t)(s->size * WIDTH) + lane;
    const int c = s->layout.contact[index * WIDTH + lane];
    if (c < 0) { /* a contact that is never closed */
      for (int k = 0; k < s->size; ++k, at += WIDTH) *at = 0.0f;
      continue;
    }
    const double *n = p->bodies.normal + 3 * (size_t)c, *arm = p->bodies.arm + 4 * (size_t)c;
    const double *q = p->q + (size_t)c * (size_t)d;
    for (int k = 0; k < d; ++k, at += WIDTH) *at = (float)n[k];
    for (int k = 0; k < 4; ++k, at += WIDTH) *at = (float)(A * arm[k]);
    for (int k = 0; k < d; ++k, at += WIDTH) *at = (float)(q[k] / Q);
    *at = (float)p->mu[c];
    if (!s->soft) continue;
    const double *C = p->bodies.C + (size_t)c * (size_t)(d * d); /* normal, the same for tangents */
    at[WIDTH] = (float)(A * A * C[0]);
    at[2 * WIDTH] = (float)(A * A * C[d + 1]);
  }
}

static void fill_batches(const scree_Problem *p, scree_Singles *s, int first, int last, double A,
                         double Q) {
  for (int k = first; k < last; ++k) fill_batch(p, s, k, A, Q);
}

/* Start of part k of n of `total`. */
static int part(int total, int k, int n) {
  return (int)((long long)total * k / n);
}

scree_Status scree_singles_create(const scree_Operator *W, const scree_Colouring *colouring,
                                  const double *r, const bool *left_out, scree_Arena *arena,
                                  scree_Singles *s, const scree_Log *log) {
  const scree_Problem *p = W->problem;
  const int d = p->d;
  *s = (scree_Singles){.d = d,
                       .stride = d == 3 ? 8 : 4,
                       .nbodies = p->bodies.nbodies,
                       .colours = colouring->colours,
                       .soft = p->bodies.C != NULL,
                       .size = batch_size(p->bodies.C != NULL, d),
                       .mu = p->mu};
  const scree_Status status =
      scree_lane_layout_create(W, colouring, r, left_out, WIDTH, arena, &s->layout, log);
  if (status) return status;
  const size_t batches = (size_t)s->layout.batches;
  s->batch = SCREE_TAKE_RAW(arena, float, batches *(size_t)(s->size * WIDTH));
  s->r = SCREE_TAKE(arena, float, batches *(size_t)(d * WIDTH));
  s->last = SCREE_TAKE_RAW(arena, float, batches *(size_t)(d * WIDTH));
  s->changes = SCREE_TAKE(arena, float, batches);
  s->y = SCREE_TAKE(arena, float, ((size_t)s->nbodies + 1) * (size_t)s->stride);
  s->wait = SCREE_TAKE(arena, unsigned char, batches);
  s->pause = SCREE_TAKE(arena, unsigned char, batches);
  s->sums = SCREE_TAKE(arena, double, (batches + CHUNK - 1) / CHUNK * 4);
  if (!s->batch || !s->r || !s->last || !s->changes || !s->y || !s->wait || !s->pause || !s->sums)
    return scree_fail_memory(log, "batches of contacts");
  double largest = 0.0;
  for (int k = 0; k < p->nc * d; ++k)
    if (fabs(p->q[k]) > largest) largest = fabs(p->q[k]);
  const double A = next_power(1.0 / sqrt(W->mean_diagonal)), Q = next_power(largest);
  s->impulse = A * A * Q;
  s->velocity = A * Q;
  s->rho = (float)(1.0 / (W->mean_diagonal * A * A));
  for (int c = 0; c < p->nc; ++c)
    for (int i = 0; i < d && !(left_out && left_out[c]); ++i) {
      const double q = p->q[c * d + i] / Q;
      s->q2 += q * q;
    }
  const int n = s->layout.batches, threads = n < PARALLEL_BATCHES ? 1 : W->threads;
  if (threads == 1)
    fill_batches(p, s, 0, n, A, Q);
  else
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int k = 0; k < threads; ++k)
      fill_batches(p, s, part(n, k, threads), part(n, k + 1, threads), A, Q);
  return SCREE_OK;
}

/* ---- loading and storing -----------------------------------------------------------------------
 */

static void set_impulses(scree_Singles *s, int first, int last, const double *r) {
  const int d = s->d;
  for (int k = first * WIDTH; k < last * WIDTH; ++k) {
    const int c = s->layout.contact[k];
    if (c < 0) continue;
    float *at = s->r + (size_t)(k / WIDTH) * (size_t)(d * WIDTH) + k % WIDTH;
    for (int i = 0; i < d; ++i)
      at[i * WIDTH] = (float)(r[(size_t)c * (size_t)d + (size_t)i] / s->impulse);
  }
}

static void set_velocities(scree_Singles *s, int first, int last, const double *y) {
  const int nb = s->d == 3 ? 6 : 3;
  for (int b = first; b < last; ++b)
    for (int j = 0; j < nb; ++j)
      s->y[(size_t)b * (size_t)s->stride + (size_t)j] =
          (float)(y[(size_t)b * (size_t)nb + (size_t)j] / s->velocity);
}

/* The part C r of the velocities stays with the impulses. */
static void set_base(scree_Singles *s, int first, int last, const double *u) {
  const int d = s->d;
  const double Q = s->velocity * s->velocity / s->impulse;
  for (int k = first * WIDTH; k < last * WIDTH; ++k) {
    const int c = s->layout.contact[k];
    if (c < 0) continue;
    float *at =
        s->batch + ((size_t)(k / WIDTH) * (size_t)s->size + (size_t)(d + 4)) * WIDTH + k % WIDTH;
    const float *r = s->r + (size_t)(k / WIDTH) * (size_t)(d * WIDTH) + k % WIDTH;
    const float *C = at + (d + 1) * WIDTH; /* behind q and mu */
    for (int i = 0; i < d; ++i) {
      double q = u[(size_t)c * (size_t)d + (size_t)i] / Q;
      if (s->soft) q -= (double)C[i > 0 ? WIDTH : 0] * (double)r[i * WIDTH];
      at[i * WIDTH] = (float)q;
    }
  }
}

void scree_singles_base(scree_Singles *s, const double *u, int threads) {
  const int batches = s->layout.batches;
  memset(s->y, 0, (size_t)s->nbodies * (size_t)s->stride * sizeof *s->y);
  s->based = true;
  if (threads == 1 || batches < PARALLEL_BATCHES) {
    set_base(s, 0, batches, u);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int k = 0; k < threads; ++k)
    set_base(s, part(batches, k, threads), part(batches, k + 1, threads), u);
}

/* Rounding may leave an impulse outside of its cone. */
static void pull_in(int d, double mu, double *r) {
  const double norm = d == 3 ? sqrt(r[1] * r[1] + r[2] * r[2]) : fabs(r[1]), limit = mu * r[0];
  if (!(norm > limit)) return;
  for (int i = 1; i < d; ++i) r[i] *= limit / norm;
}

static void get_impulses(const scree_Singles *s, int first, int last, double *r) {
  const int d = s->d;
  for (int k = first * WIDTH; k < last * WIDTH; ++k) {
    const int c = s->layout.contact[k];
    if (c < 0) continue;
    const float *at = s->r + (size_t)(k / WIDTH) * (size_t)(d * WIDTH) + k % WIDTH;
    double *rc = r + (size_t)c * (size_t)d;
    for (int i = 0; i < d; ++i) rc[i] = s->impulse * (double)at[i * WIDTH];
    pull_in(d, s->mu[c], rc);
  }
}

void scree_singles_refresh(scree_Singles *s, const double *y, int threads) {
  if (threads == 1 || s->layout.batches < PARALLEL_BATCHES) {
    set_velocities(s, 0, s->nbodies, y);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int k = 0; k < threads; ++k)
    set_velocities(s, part(s->nbodies, k, threads), part(s->nbodies, k + 1, threads), y);
}

void scree_singles_set(scree_Singles *s, const double *r, const double *y, int threads) {
  const int batches = s->layout.batches;
  memset(s->wait, 0, (size_t)batches);
  memset(s->pause, 0, (size_t)batches);
  scree_singles_refresh(s, y, threads);
  if (threads == 1 || batches < PARALLEL_BATCHES) {
    set_impulses(s, 0, batches, r);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int k = 0; k < threads; ++k)
    set_impulses(s, part(batches, k, threads), part(batches, k + 1, threads), r);
}

void scree_singles_get(const scree_Singles *s, double *r, int threads) {
  const int batches = s->layout.batches;
  if (threads == 1 || batches < PARALLEL_BATCHES) {
    get_impulses(s, 0, batches, r);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int k = 0; k < threads; ++k)
    get_impulses(s, part(batches, k, threads), part(batches, k + 1, threads), r);
}
