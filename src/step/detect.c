/* Contacts of all bodies: bounds, broad phase, narrow phase.
 *
 * The pairs of the broad phase come sorted; each thread takes one contiguous range of them and
 * writes its contacts to a list of its own, and the lists are joined in order. So the contacts come
 * in the order of the pairs for any number of threads. */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/narrow.h"
#include "step/system.h"

#include <omp.h>
#include <string.h>

void scree_points_fini(scree_Points *points) {
  scree_free(points->keys);
  scree_free(points->points);
  *points = (scree_Points){0};
}

static bool points_reserve(scree_Points *p, size_t count) {
  return scree_grow_lean((void **)&p->keys, &p->key_capacity, count, sizeof *p->keys) &&
         scree_grow_lean((void **)&p->points, &p->point_capacity, count, sizeof *p->points);
}

bool scree_points_add(scree_Points *p, int i, int j, uint32_t feature, scree_Vec3 position,
                      scree_Vec3 normal, double gap) {
  if ((p->count >= p->key_capacity || p->count >= p->point_capacity) &&
      !points_reserve(p, p->count + 1)) {
    p->failed = true;
    return false;
  }
  p->keys[p->count] = (scree_ContactKey){i, j, feature};
  p->points[p->count++] = (scree_Point){position, normal, gap};
  return true;
}

static bool is_ball(scree_ShapeKind kind) {
  return kind == SCREE_SHAPE_SPHERE || kind == SCREE_SHAPE_DISK;
}

/* Bounds inflated by what a body adds to the margin of its pairs: its reach, and `relative` of its
 * size, which is at least that part of the pair's size. */
static void update_bounds(scree_System *s, double relative, const double *reach) {
  const scree_Bodies *b = &s->bodies;
  const double plane = b->dimension == 2 ? 0 : 1;
  SCREE_OVER_BODIES(k, b->count, s->threads) {
    const scree_Shape *shape = &b->cold[k].shape;
    const scree_Pose *pose = &b->motion[k].pose;
    const double size = isfinite(shape->size) ? shape->size : 0;
    const double more = relative * size + (reach ? reach[k] : 0);
    scree_Aabb box;
    const bool ball = is_ball(shape->kind);
    s->balls[k] = (scree_Ball){pose->position, ball ? shape->radius : -1};
    if (ball) {
      const scree_Vec3 e = scree_vec3(shape->radius, shape->radius, plane * shape->radius);
      box = (scree_Aabb){scree_sub(pose->position, e), scree_add(pose->position, e)};
    } else {
      box = scree_shape_aabb(shape, pose);
    }
    const scree_Vec3 e = scree_vec3(more, more, more);
    s->bounds[k] = (scree_Aabb){scree_sub(box.lower, e), scree_add(box.upper, e)};
    /* the vertices of a polygon are not symmetric about its origin */
    s->radius[k] = shape->kind == SCREE_SHAPE_POLYGON ? INFINITY : shape->bounding_radius + more;
  }
}

/* out[0] takes the contacts, out[1] what is only near. */
static void detect_pair(const scree_System *s, int i, int j, double relative, double closed,
                        const double *reach, scree_Points *const out[2]) {
  const scree_Bodies *b = &s->bodies;
  const scree_Ball *bi = &s->balls[i], *bj = &s->balls[j];
  const double ahead = reach ? reach[i] + reach[j] : 0;
  if (bi->radius >= 0 && bj->radius >= 0) {
    scree_ManifoldPoint point;
    const double size = 2 * (bi->radius < bj->radius ? bi->radius : bj->radius);
    if (!scree_collide_balls(bi->centre, bi->radius, bj->centre, bj->radius, b->dimension,
                             relative * size + ahead, &point))
      return;
    if (b->cold[i].group && b->cold[i].group == b->cold[j].group) return;
    scree_points_add(out[!(point.gap <= closed * size)], i, j, point.feature, point.position,
                     point.normal, point.gap);
    return;
  }
  if (b->cold[i].group && b->cold[i].group == b->cold[j].group) return;
  scree_Manifold manifold;
  const scree_Shape *si = &b->cold[i].shape, *sj = &b->cold[j].shape;
  const double size = scree_pair_size(si, sj);
  const int n = scree_collide(si, &b->motion[i].pose, sj, &b->motion[j].pose,
                              relative * size + ahead, &manifold);
  for (int k = 0; k < n; ++k)
    scree_points_add(out[!(manifold.points[k].gap <= closed * size)], i, j,
                     manifold.points[k].feature, manifold.points[k].position,
                     manifold.points[k].normal, manifold.points[k].gap);
}

static scree_Status reserve_workers(scree_System *s, int threads) {
  if (s->worker_count >= threads - 1) return SCREE_OK;
  scree_Points *workers = SCREE_ALLOC(scree_Points, 2 * (threads - 1));
  if (!workers) return scree_fail_memory(s->log, "the lists of contacts");
  for (int k = 0; k < 2 * s->worker_count; ++k) workers[k] = s->workers[k];
  scree_free(s->workers);
  s->workers = workers;
  s->worker_count = threads - 1;
  return SCREE_OK;
}

/* The lists of the other threads, every second from `more` on, after the first one's. */
static bool join(scree_Points *all, const scree_Points *more, int lists) {
  size_t total = all->count;
  bool failed = all->failed;
  for (int t = 0; t < lists; ++t) {
    total += more[2 * t].count;
    failed = failed || more[2 * t].failed;
  }
  if (failed || !points_reserve(all, total)) return false;
  for (int t = 0; t < lists; ++t, more += 2) {
    if (more->count == 0) continue;
    memcpy(all->keys + all->count, more->keys, more->count * sizeof *all->keys);
    memcpy(all->points + all->count, more->points, more->count * sizeof *all->points);
    all->count += more->count;
  }
  return true;
}

scree_Status scree_system_detect(scree_System *s, double relative, double closed,
                                 const double *reach) {
  size_t pair_count;
  update_bounds(s, relative, reach);
  scree_Status status = scree_broad_update(s->broad, s->bodies.count, s->bounds, s->radius,
                                           s->bodies.fixed, 0, s->log);
  if (status) return status;
  const scree_Pair *pairs = scree_broad_pairs(s->broad, &pair_count);
  const int threads = s->threads > 1 && pair_count >= 1024 ? s->threads : 1;
  status = reserve_workers(s, threads);
  if (status) return status;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const size_t team = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
    scree_Points *const out[2] = {me == 0 ? &s->contacts : &s->workers[2 * (me - 1)],
                                  me == 0 ? &s->near : &s->workers[2 * (me - 1) + 1]};
    for (int k = 0; k < 2; ++k) {
      out[k]->count = 0;
      out[k]->failed = false;
    }
    const size_t begin = pair_count * me / team, end = pair_count * (me + 1) / team;
    for (size_t k = begin; k < end && !out[0]->failed && !out[1]->failed; ++k)
      detect_pair(s, pairs[k].i, pairs[k].j, relative, closed, reach, out);
#pragma omp single
    for (size_t t = 2 * (team - 1); t < 2 * (size_t)(threads - 1); ++t) s->workers[t].count = 0;
  }
  if (!join(&s->contacts, s->workers, threads - 1) ||
      !join(&s->near, s->workers ? s->workers + 1 : NULL, threads - 1))
    return scree_fail_memory(s->log, "the contacts");
  return SCREE_OK;
}

double scree_system_penetration(const scree_System *s, int *body) {
  const scree_Bodies *b = &s->bodies;
  double worst = 0;
  if (body) body[0] = body[1] = -1;
  for (size_t c = 0; c < s->contacts.count; ++c) {
    if (!(s->contacts.points[c].gap < 0)) continue;
    const scree_ContactKey *key = &s->contacts.keys[c];
    const double size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
    const double depth = -s->contacts.points[c].gap / size;
    if (!(depth > worst)) continue;
    worst = depth;
    if (body) {
      body[0] = key->i;
      body[1] = key->j;
    }
  }
  return worst;
}
