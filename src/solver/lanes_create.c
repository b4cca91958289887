/* Making batches of four contacts, and storing impulses and velocities in them and back (see
 * lanes.h; lanes.c visits them). */
#include "core/log.h"
#include "problem/balls.h"
#include "solver/lanes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef scree_Lane Lane;

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

/* Below this many batches a team of threads costs more than the copying. */
enum { PARALLEL_BATCHES = 1000 };

/* Start of part k of n of `total`. */
static int part(int total, int k, int n) {
  return (int)((long long)total * k / n);
}

static bool are_balls(const scree_Problem *p, int first, int last) {
  double normal[3], arm[4], turn[4];
  for (int c = first; c < last; ++c)
    if (!scree_balls_recognise(p, c, normal, arm, turn)) return false;
  return true;
}

/* Whether all blocks of a dense B are those of balls. */
static bool all_balls(const scree_Problem *p, int threads) {
  if (!p->bodies.B) return true;
  if (threads == 1 || p->nc < PARALLEL_BATCHES * SCREE_LANES) return are_balls(p, 0, p->nc);
  int others = 0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : others)
  for (int k = 0; k < threads; ++k)
    others += !are_balls(p, part(p->nc, k, threads), part(p->nc, k + 1, threads));
  return others == 0;
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

static void fill_batches(const scree_Operator *W, scree_Lanes *lanes, int first, int last) {
  for (int index = first; index < last; ++index)
    for (int lane = 0; lane < SCREE_LANES; ++lane) fill_lane(W, lanes, index, lane);
}

scree_Status scree_lanes_create(const scree_Operator *W, const scree_Colouring *colouring,
                                const scree_LaneLayout *layout, scree_Arena *arena,
                                scree_Lanes *lanes, const scree_Log *log) {
  const scree_Problem *p = W->problem;
  const int d = p->d;
  const bool balls = all_balls(p, W->threads), turned = balls && p->bodies.B;
  *lanes =
      (scree_Lanes){.balls = balls,
                    .soft = p->bodies.C != NULL,
                    .d = d,
                    .stride = d == 3 ? 8 : 4,
                    .nbodies = p->bodies.nbodies,
                    .colours = colouring->colours,
                    .start = layout->start,
                    .open = layout->open,
                    .contact = layout->contact,
                    .body = layout->body,
                    .size = scree_lane_batch_size(balls, p->bodies.C != NULL, d, p->bodies.nb)};
  const size_t room = (size_t)layout->batches + SCREE_LANES_AHEAD; /* batches are prefetched */
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
  const int n = layout->batches, threads = n < PARALLEL_BATCHES ? 1 : W->threads;
  if (threads == 1)
    fill_batches(W, lanes, 0, n);
  else
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int k = 0; k < threads; ++k)
      fill_batches(W, lanes, part(n, k, threads), part(n, k + 1, threads));
  return SCREE_OK;
}

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

void scree_lanes_set(scree_Lanes *lanes, const double *r, const double *y, int threads) {
  const int batches = lanes->start[lanes->colours];
  memset(lanes->wait, 0, (size_t)batches);
  memset(lanes->pause, 0, (size_t)batches);
  scree_lanes_refresh(lanes, y, threads);
  if (threads == 1 || batches < PARALLEL_BATCHES) {
    set_impulses(lanes, 0, batches, r);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int k = 0; k < threads; ++k)
    set_impulses(lanes, part(batches, k, threads), part(batches, k + 1, threads), r);
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
