/* Bodies that would pass through each other unnoticed.
 *
 * A scheme that does not look ahead finds contacts where bodies overlap, at one configuration per
 * step. A pair that moves by less than its thickness between two of them is found while it
 * overlaps; a faster one may be before an obstacle now and behind it at the next look. So:
 *
 *  - A body is fast when it moves by more than an eighth of the thinnest body there is. Most steps
 *    have none, and then nothing else is done.
 *  - The bounds of fast bodies cover their way, so that the broad phase offers the pairs they meet.
 *  - After the kick, such pairs are followed to the next look (conservative advancement): from a
 *    gap g along n the pair cannot meet before g / (-n.u + turning), as the distance of convex
 *    bodies is convex in their translation.
 *  - A pair that meets, and that the next look would find apart, or with the normal turned round,
 *    has passed: the step is halved, and in the end not certified. It is halved, too, when the next
 *    look would find the pair deeper than a step is certified for. */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/narrow.h"
#include "step/system.h"

#include <string.h>

enum { ADVANCES = 1000 };

/* Part of the thinnest size that a body, by translation and by rotation, may move by without being
 * fast; part of a pair's size by which it may move and still be seen. */
static const double fast_part = 0.125, pair_part = 0.5;

/* How far pairs are sought, over the way: the next look may be one and a half steps away, and a
 * kick that makes a body faster by less than a third asks for no other pairs. */
static const double room = 2;

/* Gap, over the size, at which a pair touches; way, over the size, after which it is looked at
 * again.
 */
static const double met = 1e-3, graze = 0.25;

static bool turns(const scree_System *s, int k) {
  const scree_Shape *shape = &s->bodies.cold[k].shape;
  return isfinite(shape->bounding_radius) && !scree_shape_is_ball(shape);
}

/* Squares of what the points of body k move by in a step h at velocity v, by translation and by
 * rotation. */
static void motions(const scree_System *s, int k, const scree_Twist *v, double h, double *linear2,
                    double *angular2) {
  const double arm = s->bodies.cold[k].shape.bounding_radius;
  *linear2 = h * h * scree_norm2(v->linear);
  *angular2 = turns(s, k) ? h * h * arm * arm * scree_norm2(v->angular) : 0;
}

/* Way of body k by translation and rotation in a step h at velocity v; 0 when it is not fast. */
static double fast_way(const scree_System *s, int k, const scree_Twist *v, double h) {
  const double least = fast_part * s->bodies.thinnest, least2 = least * least;
  double linear2, angular2;
  if (!scree_body_moves(&s->bodies, k)) return 0;
  motions(s, k, v, h, &linear2, &angular2);
  return linear2 > least2 || angular2 > least2 ? sqrt(linear2) + sqrt(angular2) : 0;
}

static int count_fast(const scree_System *s, double h, bool kicked) {
  const scree_Bodies *b = &s->bodies;
  int found = 0;
#pragma omp parallel for schedule(static) num_threads(s->threads)                                  \
    reduction(+ : found) if (s->threads > 1 && b->count >= 1024)
  for (int k = 0; k < b->count; ++k) {
    const scree_Twist v = kicked ? b->motion[k].velocity : scree_system_free(s, k);
    found += fast_way(s, k, &v, h) > 0;
  }
  return found;
}

scree_Status scree_system_find_fast(scree_System *s, double h) {
  const scree_Bodies *b = &s->bodies;
  s->fast = count_fast(s, h, false) > 0;
  if (!s->fast) return SCREE_OK;
  if (!scree_grow_lean((void **)&s->reach, &s->reach_capacity, (size_t)b->count, sizeof *s->reach))
    return scree_fail_memory(s->log, "the ways of fast bodies");
  SCREE_OVER_BODIES(k, b->count, s->threads) {
    const scree_Twist v = scree_system_free(s, k);
    s->reach[k] = room * fast_way(s, k, &v, h);
  }
  return SCREE_OK;
}

/* Bodies that the kick has made faster than their free velocity: pairs as far as they come. */
static scree_Status find_faster(scree_System *s, double h) {
  const scree_Bodies *b = &s->bodies;
  if (!s->fast) {
    if (count_fast(s, h, true) == 0) return SCREE_OK;
    if (!scree_grow_lean((void **)&s->reach, &s->reach_capacity, (size_t)b->count,
                         sizeof *s->reach))
      return scree_fail_memory(s->log, "the ways of fast bodies");
    memset(s->reach, 0, (size_t)b->count * sizeof *s->reach);
    s->fast = true;
  }
  bool further = false;
  for (int k = 0; k < b->count; ++k) {
    const double way = fast_way(s, k, &b->motion[k].velocity, h);
    if (!(room * way > s->reach[k])) continue;
    further = further || 0.75 * room * way > s->reach[k];
    s->reach[k] = room * way;
  }
  return further ? scree_system_find_pairs(s, 0, s->reach) : SCREE_OK;
}

/* A pair on its way. */
typedef struct Way {
  int body[2];
  double size;
  scree_Twist v[2];
  double turning; /* speed of the furthest point by rotation, both bodies */
  double speed;   /* relative, of the centres, and turning */
} Way;

static Way make_way(const scree_System *s, int i, int j) {
  const scree_Bodies *b = &s->bodies;
  Way way = {.body = {i, j}, .v = {b->motion[i].velocity, b->motion[j].velocity}};
  way.size = scree_pair_size(&b->cold[i].shape, &b->cold[j].shape);
  for (int side = 0; side < 2; ++side) {
    double linear2, angular2;
    if (!scree_body_moves(b, way.body[side])) way.v[side] = (scree_Twist){{0, 0, 0}, {0, 0, 0}};
    motions(s, way.body[side], &way.v[side], 1, &linear2, &angular2);
    way.turning += sqrt(angular2);
  }
  way.speed = scree_norm(scree_sub(way.v[0].linear, way.v[1].linear)) + way.turning;
  return way;
}

/* The closest point of the pair at time t from now within `margin`. */
static bool look(const scree_Bodies *b, const Way *w, double t, double margin,
                 scree_ManifoldPoint *closest) {
  scree_Motion motion[2] = {b->motion[w->body[0]], b->motion[w->body[1]]};
  for (int side = 0; side < 2; ++side) {
    motion[side].velocity = w->v[side];
    scree_rigid_drift(&b->inertia[w->body[side]], t, &motion[side]);
  }
  scree_Manifold manifold;
  const int n = scree_collide(&b->cold[w->body[0]].shape, &motion[0].pose,
                              &b->cold[w->body[1]].shape, &motion[1].pose, margin, &manifold);
  if (n == 0) return false;
  *closest = manifold.points[0];
  for (int k = 1; k < n; ++k)
    if (manifold.points[k].gap < closest->gap) *closest = manifold.points[k];
  return true;
}

/* What a look at the time `to` would show of a pair that meets after the time `from`. */
typedef enum Meeting { NONE, SHALLOW, DEEP, UNSEEN } Meeting;

static Meeting meet(const scree_System *s, const Way *w, double from, double to) {
  const scree_Bodies *b = &s->bodies;
  const double travel = (to - from) * w->speed, limit = s->settings.penetration_limit;
  const scree_Vec3 u = scree_sub(w->v[0].linear, w->v[1].linear);
  scree_ManifoldPoint now, first = {0}, last;
  bool touching = false;
  double t = from;
  if (!(travel > fmin(pair_part, limit) * w->size)) return NONE;
  for (int k = 0;; ++k) {
    if (k == ADVANCES || !look(b, w, t, travel, &now)) return NONE;
    if (t == from && now.gap <= s->settings.gap_tolerance * w->size) return NONE; /* a contact */
    if (now.gap <= met * w->size) { /* it touches; whether it only grazes shows a little later */
      if (!touching) first = now;
      touching = true;
      if (now.gap < -met * w->size) break;
      t += graze * w->size / w->speed;
    } else {
      const double closing = w->turning - scree_dot(now.normal, u);
      touching = false;
      if (!(closing > 0)) return NONE;
      t += now.gap / closing;
    }
    if (!(t < to)) return NONE;
  }
  if (!look(b, w, to, 0, &last) || scree_dot(first.normal, last.normal) <= 0) return UNSEEN;
  return -last.gap > limit * w->size ? DEEP : SHALLOW;
}

/* All pairs of fast bodies between two times from now at their present velocities. */
static void guard_pairs(const scree_System *s, double from, double to, scree_StepReport *report,
                        bool *deep) {
  const scree_Bodies *b = &s->bodies;
  const scree_Pairs pairs = scree_broad_pairs(s->broad);
  int i = 0;
  for (size_t k = 0; k < pairs.count; ++k) {
    while (k >= pairs.row[i + 1]) ++i;
    const int j = pairs.partner[k];
    if (s->reach[i] + s->reach[j] == 0) continue;
    if (b->cold[i].group && b->cold[i].group == b->cold[j].group) continue;
    const Way way = make_way(s, i, j);
    const Meeting meeting = meet(s, &way, from, to);
    if (meeting == DEEP) *deep = true;
    if (meeting != UNSEEN) continue;
    const double needed = pair_part * way.size / way.speed;
    if (report->passing && !(needed < report->step_needed)) continue;
    report->passing = true;
    report->passing_body[0] = i;
    report->passing_body[1] = j;
    report->step_needed = needed;
  }
}

void scree_system_guard_back(const scree_System *s, double h, scree_StepReport *report) {
  bool deep = false;
  if (s->fast) guard_pairs(s, (s->scheme->theta(&s->settings) - 1) * h, 0, report, &deep);
}

scree_Status scree_system_guard(scree_System *s, double h, scree_StepReport *report, bool *deep) {
  const double theta = s->scheme->theta(&s->settings);
  /* the next look is part of the way through the next step, which may be twice as long as this */
  const double next = theta * h + (1 - theta) * fmin(2 * h, s->settings.step);
  *deep = false;
  const scree_Status status = find_faster(s, h);
  if (!status && s->fast) guard_pairs(s, 0, next, report, deep);
  return status;
}
