/* Contacts of all bodies: bounds, broad phase, narrow phase.
 *
 * The pairs of the broad phase come sorted; each thread takes one contiguous range of them and
 * writes its contacts to a list of its own, and the lists are joined in order. So the contacts come
 * in the order of the pairs for any number of threads.
 *
 * In a periodic cell images of bodies near its sides are offered to the broad phase as further
 * bodies, numbered after the real ones. A pair of two bodies is found with the image of each; the
 * one whose first body has the smaller number counts. */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/composite.h"
#include "step/images.h"
#include "step/system.h"

#include <assert.h>
#include <omp.h>
#include <string.h>

enum { POLL_PAIRS = 256 }; /* pairs that a thread tests between two polls, at most about 0.01 s */

void scree_points_fini(scree_Points *points) {
  scree_free(points->keys);
  scree_free(points->position);
  scree_free(points->normal);
  scree_free(points->gap);
  scree_free(points->curve);
  *points = (scree_Points){0};
}

static bool points_reserve(scree_Points *p, size_t count) {
  size_t capacity[5] = {p->capacity, p->capacity, p->capacity, p->capacity, p->capacity};
  if (!scree_grow_lean((void **)&p->keys, &capacity[0], count, sizeof *p->keys) ||
      !scree_grow_lean((void **)&p->position, &capacity[1], count, sizeof *p->position) ||
      !scree_grow_lean((void **)&p->normal, &capacity[2], count, sizeof *p->normal) ||
      !scree_grow_lean((void **)&p->gap, &capacity[3], count, sizeof *p->gap) ||
      !scree_grow_lean((void **)&p->curve, &capacity[4], count, sizeof *p->curve))
    return false;
  p->capacity = capacity[0];
  return true;
}

void scree_points_add(scree_Points *p, int i, int j, uint32_t image,
                      const scree_ManifoldPoint *point) {
  assert(i >= 0 && j >= 0 && scree_is_unit(point->normal));
  if (p->count >= p->capacity && !points_reserve(p, p->count + 1)) {
    p->failed = true;
    return;
  }
  p->keys[p->count] =
      (scree_ContactKey){i, j, {point->part[0], point->part[1]}, point->feature, image};
  p->position[p->count] = point->position;
  p->normal[p->count] = point->normal;
  p->gap[p->count] = point->gap;
  p->curve[p->count++] = 0;
}

void scree_points_widen(scree_Points *p, size_t begin, double more, double margin) {
  size_t count = begin;
  for (size_t k = begin; k < p->count; ++k) {
    if (!(p->gap[k] + more <= margin)) continue;
    p->keys[count] = p->keys[k];
    p->position[count] = p->position[k];
    p->normal[count] = p->normal[k];
    p->gap[count] = p->gap[k] + more;
    p->curve[count++] = p->curve[k];
  }
  p->count = count;
}

scree_Points *scree_system_lists(scree_System *s, int threads) {
  if (threads > s->list_count) {
    scree_Points *lists = SCREE_ALLOC(scree_Points, threads);
    if (!lists) return NULL;
    if (s->list_count) memcpy(lists, s->lists, (size_t)s->list_count * sizeof *lists);
    scree_free(s->lists);
    s->lists = lists;
    s->list_count = threads;
  }
  for (int t = 0; t < threads; ++t) {
    s->lists[t].count = 0;
    s->lists[t].failed = false;
  }
  return s->lists;
}

/* A body in the first test of the narrow phase; radius < 0: not a ball, but a half-space or another
 * shape. */
typedef struct Ball {
  scree_Vec3 centre;
  double radius;
} Ball;

static const double other_shape = -1, half_space = -2;

/* Data of each body that only the detection needs, in the arena of the step. */
typedef struct Scratch {
  scree_Aabb *bounds;   /* (bodies) */
  double *radius;       /* (bodies) radius of a ball around the centre of the bounds */
  Ball *balls;          /* (bodies) */
  scree_Vec3 *normal;   /* (bodies) of half-spaces; not set for others */
  int images;           /* of bodies in a periodic cell: they follow the bodies in the arrays */
  scree_Image *image;   /* (images) */
  unsigned char *fixed; /* (bodies + images) or null: those of the bodies */
} Scratch;

static bool scratch_init(Scratch *t, scree_Arena *work, int bodies) {
  *t = (Scratch){.bounds = SCREE_TAKE_RAW(work, scree_Aabb, bodies),
                 .radius = SCREE_TAKE_RAW(work, double, bodies),
                 .balls = SCREE_TAKE_RAW(work, Ball, bodies),
                 .normal = SCREE_TAKE_RAW(work, scree_Vec3, bodies)};
  return t->bounds && t->radius && t->balls && t->normal;
}

scree_Aabb scree_system_bounds(const scree_System *s, int k, double more) {
  const scree_Shape *shape = &s->bodies.cold[k].shape;
  const scree_Pose *pose = &s->bodies.motion[k].pose;
  const double plane = s->bodies.dimension == 2 ? 0 : 1;
  scree_Aabb box;
  if (scree_shape_is_ball(shape)) {
    const scree_Vec3 e = scree_vec3(shape->radius, shape->radius, plane * shape->radius);
    box = (scree_Aabb){scree_sub(pose->position, e), scree_add(pose->position, e)};
  } else {
    box = scree_shape_aabb(shape, pose);
  }
  const scree_Vec3 e = scree_vec3(more, more, more);
  return (scree_Aabb){scree_sub(box.lower, e), scree_add(box.upper, e)};
}

static bool is_half_space(const scree_Shape *shape) {
  return shape->kind == SCREE_SHAPE_HALF_SPACE || shape->kind == SCREE_SHAPE_HALF_PLANE;
}

/* Bounds inflated by the body's part of the margin of its pairs: its reach, and `relative` of its
 * size, which is at least that part of the pair's size. */
static void fill_scratch(const scree_System *s, double relative, const double *reach, Scratch *t,
                         scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->count, share) {
    const scree_Shape *shape = &b->cold[k].shape;
    const scree_Pose *pose = &b->motion[k].pose;
    const double size = isfinite(shape->size) ? shape->size : 0;
    const double more = relative * size + (reach ? reach[k] : 0);
    t->balls[k] = (Ball){pose->position, scree_shape_is_ball(shape) ? shape->radius : other_shape};
    if (is_half_space(shape)) {
      const scree_Mat3 R = scree_quat_matrix(pose->orientation);
      t->balls[k].radius = half_space;
      t->normal[k] = shape->kind == SCREE_SHAPE_HALF_PLANE ? R.y : R.z;
    }
    t->bounds[k] = scree_system_bounds(s, k, more);
    /* shapes with vertices or parts, and cones, are not symmetric about their origin */
    const bool centred = !shape->data && shape->kind != SCREE_SHAPE_CONE;
    t->radius[k] = centred ? shape->bounding_radius + more : INFINITY;
  }
}

/* Add the images of a periodic cell. */
static bool add_images(const scree_System *s, scree_Arena *work, Scratch *t) {
  const int n = s->bodies.count;
  scree_Image *image;
  const int count = scree_images_find(s, t->bounds, work, &image);
  if (count <= 0) return count == 0;
  const size_t bodies = (size_t)n;
  Scratch all;
  if (!scratch_init(&all, work, n + count)) return false;
  all.images = count;
  all.image = image;
  all.fixed = SCREE_TAKE_RAW(work, unsigned char, n + count);
  if (!all.fixed) return false;
  memcpy(all.bounds, t->bounds, bodies * sizeof *t->bounds);
  memcpy(all.radius, t->radius, bodies * sizeof *t->radius);
  memcpy(all.balls, t->balls, bodies * sizeof *t->balls);
  memcpy(all.normal, t->normal, bodies * sizeof *t->normal);
  memcpy(all.fixed, s->bodies.fixed, bodies * sizeof *all.fixed);
  for (int k = 0; k < count; ++k) {
    const int body = image[k].body;
    const scree_Vec3 shift = image[k].shift;
    const scree_Aabb *box = &t->bounds[body];
    all.bounds[n + k] = (scree_Aabb){scree_add(box->lower, shift), scree_add(box->upper, shift)};
    all.radius[n + k] = t->radius[body];
    all.balls[n + k] = (Ball){scree_add(t->balls[body].centre, shift), t->balls[body].radius};
    all.fixed[n + k] = SCREE_BODY_OBSTACLE; /* images are not paired with each other */
  }
  *t = all;
  return true;
}

/* Output of the points of a pair of shapes with parts. */
typedef struct Sink {
  scree_Points *out;
  int i, j;
  uint32_t image;
} Sink;

static void add_point(void *user, const scree_ManifoldPoint *point) {
  const Sink *sink = user;
  scree_points_add(sink->out, sink->i, sink->j, sink->image, point);
}

void scree_points_collide(int i, const scree_Shape *si, const scree_Pose *pi, int j, uint32_t image,
                          const scree_Shape *sj, const scree_Pose *pj, double margin,
                          scree_Points *out) {
  if (scree_shape_is_composite(si) || scree_shape_is_composite(sj)) {
    Sink sink = {out, i, j, image};
    scree_collide_each(si, pi, sj, pj, margin, add_point, &sink);
    return;
  }
  scree_Manifold manifold;
  const int n = scree_collide(si, pi, sj, pj, margin, &manifold);
  for (int k = 0; k < n; ++k) scree_points_add(out, i, j, image, &manifold.points[k]);
}

/* Whether a ball is farther than the margin from a half-space. The broad phase pairs all bodies
 * with one that is not exactly along an axis. */
static bool is_above(const Ball *ball, const Ball *plane, scree_Vec3 normal, double relative,
                     double ahead) {
  const double gap = scree_dot(normal, scree_sub(ball->centre, plane->centre)) - ball->radius;
  return gap > relative * 2 * ball->radius + ahead;
}

static void detect_pair(const scree_System *s, const Scratch *t, int i, int j, double relative,
                        const double *reach, scree_Points *out) {
  const scree_Bodies *b = &s->bodies;
  const Ball *bi = &t->balls[i], *bj = &t->balls[j];
  const scree_Image *of = j < b->count ? NULL : &t->image[j - b->count];
  if (of) { /* image of a body */
    if (of->body == i || (of->body < i && !b->fixed[of->body])) return;
    if (b->fixed[i] && b->fixed[of->body]) return;
    j = of->body;
  }
  if (!scree_domain_has(&s->domain, b, i, j)) return;
  const uint32_t image = of ? of->image : 0;
  const double ahead = reach ? reach[i] + reach[j] : 0;
  if (bi->radius >= 0 && bj->radius >= 0) {
    scree_ManifoldPoint point;
    const double size = 2 * (bi->radius < bj->radius ? bi->radius : bj->radius);
    const double margin = relative * size + ahead;
    if (!scree_collide_balls(bi->centre, bi->radius, bj->centre, bj->radius, b->dimension, margin,
                             &point))
      return;
    if (b->cold[i].group && b->cold[i].group == b->cold[j].group) return;
    const double spare = scree_joints_spare(s, i, j) * size;
    point.gap += spare;
    if (spare == 0 || point.gap <= ahead) scree_points_add(out, i, j, image, &point);
    return;
  }
  if (bi->radius == half_space && bj->radius >= 0 &&
      is_above(bj, bi, t->normal[i], relative, ahead))
    return;
  if (bj->radius == half_space && bi->radius >= 0 && !of &&
      is_above(bi, bj, t->normal[j], relative, ahead))
    return;
  if (b->cold[i].group && b->cold[i].group == b->cold[j].group) return;
  const scree_Shape *si = &b->cold[i].shape, *sj = &b->cold[j].shape;
  const double size = scree_pair_size(si, sj), spare = scree_joints_spare(s, i, j);
  if (spare == INFINITY) return;
  scree_Pose pose = b->motion[j].pose;
  if (of) pose.position = scree_add(pose.position, of->shift);
  const double margin = relative * size + ahead;
  const size_t begin = out->count;
  scree_points_collide(i, si, &b->motion[i].pose, j, image, sj, &pose, margin, out);
  if (spare > 0) scree_points_widen(out, begin, spare * size, ahead);
}

/* Append the lists of the other threads to the first one, which is in place. */
static bool join(scree_Points *all, const scree_Points *lists, int threads) {
  size_t total = all->count;
  bool failed = all->failed;
  for (int t = 1; t < threads; ++t) {
    total += lists[t].count;
    failed = failed || lists[t].failed;
  }
  if (failed || !points_reserve(all, total)) return false;
  for (int t = 1; t < threads; ++t) {
    const scree_Points *more = &lists[t];
    const size_t at = all->count, n = more->count;
    if (n == 0) continue;
    memcpy(all->keys + at, more->keys, n * sizeof *all->keys);
    memcpy(all->position + at, more->position, n * sizeof *all->position);
    memcpy(all->normal + at, more->normal, n * sizeof *all->normal);
    memcpy(all->gap + at, more->gap, n * sizeof *all->gap);
    memcpy(all->curve + at, more->curve, n * sizeof *all->curve);
    all->count += n;
  }
  return true;
}

static bool comes_before(const scree_ContactKey *a, const scree_ContactKey *b) {
  if (a->i != b->i) return a->i < b->i;
  return a->j < b->j || (a->j == b->j && a->image < b->image);
}

/* Contacts with images come after the others of their first body: sort by second body and image.
 * Each body has few contacts, so insertion is quick. */
static void sort_rows(scree_Points *p) {
  for (size_t k = 1; k < p->count; ++k) {
    const scree_ContactKey key = p->keys[k];
    const scree_Vec3 position = p->position[k], normal = p->normal[k];
    const double gap = p->gap[k], curve = p->curve[k];
    size_t at = k;
    for (; at > 0 && comes_before(&key, &p->keys[at - 1]); --at) {
      p->keys[at] = p->keys[at - 1];
      p->position[at] = p->position[at - 1];
      p->normal[at] = p->normal[at - 1];
      p->gap[at] = p->gap[at - 1];
      p->curve[at] = p->curve[at - 1];
    }
    if (at == k) continue;
    p->keys[at] = key;
    p->position[at] = position;
    p->normal[at] = normal;
    p->gap[at] = gap;
    p->curve[at] = curve;
  }
}

/* Process a thread's share of the pairs. */
static void detect_pairs(scree_System *s, const Scratch *scratch, const scree_Pairs *pairs,
                         double relative, const double *reach, bool *stop, scree_Points *out,
                         scree_Share share) {
  const size_t team = (size_t)share.of, me = (size_t)share.thread;
  const size_t begin = pairs->count * me / team, end = pairs->count * (me + 1) / team;
  int i = begin < end ? scree_pairs_first(pairs, begin) : 0;
  for (size_t k = begin; k < end && !out->failed; ++k) {
    if (k % POLL_PAIRS == 0 && scree_system_stops(s, me, stop)) break;
    while (k >= pairs->row[i + 1]) ++i;
    detect_pair(s, scratch, i, pairs->partner[k], relative, reach, out);
  }
}

#ifndef NDEBUG
/* Sorted by bodies: matching with the memory of the last step goes through both lists together. */
static bool is_sorted(const scree_Points *p) {
  for (size_t k = 1; k < p->count; ++k)
    if (comes_before(&p->keys[k], &p->keys[k - 1])) return false;
  return true;
}
#endif

static scree_Status detect(scree_System *s, Scratch *scratch, double relative,
                           const double *reach) {
  if (s->cell.any && !add_images(s, &s->scratch, scratch))
    return scree_fail_memory(s->log, "the images of bodies");
  scree_broad_set_threads(s->broad, s->threads);
  scree_Status status = scree_broad_update(
      s->broad, s->bodies.count + scratch->images, scratch->bounds, scratch->radius,
      scratch->fixed ? scratch->fixed : s->bodies.fixed, 0, s->log);
  if (status) return status;
  const scree_Pairs pairs = scree_broad_pairs(s->broad);
  scree_Points *all = &s->contacts, *lists = scree_system_lists(s, s->threads);
  if (!lists) return scree_fail_memory(s->log, "the lists of contacts");
  all->count = 0;
  all->failed = false;
  bool stop = false;
  SCREE_ON_THREADS(pairs.count, s->threads, share,
                   detect_pairs(s, scratch, &pairs, relative, reach, &stop,
                                share.thread == 0 ? all : &lists[share.thread], share));
  if (stop) return SCREE_INTERRUPTED;
  if (!join(all, lists, s->threads)) return scree_fail_memory(s->log, "the contacts");
  if (scratch->images > 0) sort_rows(all);
  assert(is_sorted(all));
  if (s->bodies.deformable_count == 0) return SCREE_OK;
  if (s->scheme->looks_ahead) scree_deform_points(s, all); /* the papers keep those of the shapes */
  return scree_deform_sort(s);
}

bool scree_system_stops(scree_System *s, size_t thread, bool *stop) {
  bool now;
  if (thread == 0 && scree_poll(&s->poll)) {
#pragma omp atomic write
    *stop = true;
  }
#pragma omp atomic read
  now = *stop;
  return now;
}

/* Memory for the detection; ghosts of other ranks are marked. */
static scree_Status prepare(scree_System *s, Scratch *scratch) {
  if (scree_poll(&s->poll)) return SCREE_INTERRUPTED;
  bool enough = scratch_init(scratch, &s->scratch, s->bodies.count);
  if (enough && s->domain.global) {
    scratch->fixed = SCREE_TAKE_RAW(&s->scratch, unsigned char, s->bodies.count);
    enough = scratch->fixed != NULL;
    if (enough) scree_domain_mark(s, scratch->fixed);
  }
  return enough ? SCREE_OK : scree_fail_memory(s->log, "the bounds of bodies");
}

scree_Status scree_system_detect(scree_System *s, double relative, const double *reach) {
  Scratch scratch;
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  scree_Status status = scree_domain_agree(s, prepare(s, &scratch));
  if (!status) {
    SCREE_ON_THREADS(s->bodies.count, s->threads, share,
                     fill_scratch(s, relative, reach, &scratch, share));
    status = scree_domain_check(s, scratch.bounds);
  }
  if (!status) status = scree_domain_agree(s, detect(s, &scratch, relative, reach));
  scree_arena_release(&s->scratch, mark);
  return status;
}

double scree_system_penetration(const scree_System *s, int *body) {
  const scree_Bodies *b = &s->bodies;
  double worst = 0;
  int pair[2] = {-1, -1};
  for (size_t c = 0; c < s->contacts.count; ++c) {
    if (!(s->contacts.gap[c] < 0)) continue;
    const scree_ContactKey *key = &s->contacts.keys[c];
    if (scree_system_law(s, key->i, key->j)->soft) continue;
    const double size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
    const double depth = -s->contacts.gap[c] / size;
    if (!(depth > worst)) continue;
    worst = depth;
    pair[0] = key->i;
    pair[1] = key->j;
  }
  const double most = scree_system_max(s, worst);
  if (body) scree_system_pair(s, worst == most && most > 0 ? pair : NULL, body);
  return most;
}

void scree_system_pair(const scree_System *s, const int *mine, int *pair) {
  double bodies[2] = {-1, -1};
  for (int side = 0; mine && side < 2; ++side)
    bodies[side] = scree_domain_global(&s->domain, mine[side]);
  if (s->domain.global) { /* of several ranks the one with the largest first number */
    const double first = scree_system_max(s, bodies[0]);
    bodies[1] = scree_system_max(s, bodies[0] == first ? bodies[1] : -1);
    bodies[0] = first;
  }
  pair[0] = (int)bodies[0];
  pair[1] = (int)bodies[1];
}
