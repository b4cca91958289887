/* Which bodies of this rank are copied to which others (see domain.h): those whose covers meet the
 * covers of another rank, of which each rank tells the boxes around them. */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <math.h>

/* How far a cover reaches beyond the bounds of a body: parts of its size, and motions in a step. In
 * a step detection looks about two motions ahead; the rest is for the steps until the next build. A
 * larger cover means more ghosts, a smaller one more builds. */
static const double cover_size = 0.05, cover_motion = 6;

enum { CELLS = 64 }; /* boxes by which a rank tells where its bodies are */

static scree_Status fail_memory(const scree_System *s) {
  return scree_fail_memory(s->log, "the ghosts of a rank");
}

static double motion_of(const scree_System *s, int k, double h) {
  const scree_Bodies *b = &s->bodies;
  const scree_Twist *v = &b->motion[k].velocity;
  if (scree_bodies_deformable(b, k))
    return scree_deform_reach(s, k, SCREE_BEFORE, h) + h * h * scree_norm(s->settings.gravity);
  const double turn = scree_shape_is_ball(&b->cold[k].shape) ? 0 : b->cold[k].shape.bounding_radius;
  return h * (scree_norm(v->linear) + turn * scree_norm(v->angular) +
              h * scree_norm(s->settings.gravity));
}

static void find_covers(scree_System *s) {
  const scree_Bodies *b = &s->bodies;
  scree_Domain *p = &s->domain;
  const double slack = ldexp(1, p->tries > 0 ? p->tries - 1 : 0);
  for (int k = 0; k < b->count; ++k) {
    if (b->fixed[k] || !scree_domain_owns(p, k)) continue;
    const double size = b->cold[k].shape.size;
    const double more =
        s->settings.gap_tolerance * size +
        slack * (cover_size * size + cover_motion * motion_of(s, k, s->settings.step));
    p->cover[k] = scree_system_bounds(s, k, more);
  }
}

static bool meet(const scree_Aabb *a, const scree_Aabb *b) {
  return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
         b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static void widen(scree_Aabb *box, const scree_Aabb *more) {
  box->lower = scree_vec3(fmin(box->lower.x, more->lower.x), fmin(box->lower.y, more->lower.y),
                          fmin(box->lower.z, more->lower.z));
  box->upper = scree_vec3(fmax(box->upper.x, more->upper.x), fmax(box->upper.y, more->upper.y),
                          fmax(box->upper.z, more->upper.z));
}

static const scree_Aabb nothing = {{INFINITY, INFINITY, INFINITY},
                                   {-INFINITY, -INFINITY, -INFINITY}};

/* Boxes around the covers of this rank, in the cells of a grid; the first is around all. */
static void find_boxes(const scree_System *s, scree_Aabb *boxes) {
  const scree_Bodies *b = &s->bodies;
  const scree_Domain *p = &s->domain;
  for (int k = 0; k <= CELLS; ++k) boxes[k] = nothing;
  for (int k = 0; k < b->count; ++k)
    if (!b->fixed[k] && scree_domain_owns(p, k)) widen(&boxes[0], &p->cover[k]);
  if (!(boxes[0].lower.x <= boxes[0].upper.x)) return;
  const scree_Vec3 low = boxes[0].lower, extent = scree_sub(boxes[0].upper, low);
  const int n = b->dimension == 2 ? 8 : 4;
  for (int k = 0; k < b->count; ++k) {
    if (b->fixed[k] || !scree_domain_owns(p, k)) continue;
    const scree_Vec3 x = scree_sub(b->motion[k].pose.position, low);
    const double part[3] = {x.x / extent.x, x.y / extent.y, b->dimension == 2 ? 0 : x.z / extent.z};
    int cell = 0;
    for (int i = 0; i < b->dimension; ++i) {
      const double at = part[i] * n;
      cell = cell * n + (at > 0 ? at < n ? (int)at : n - 1 : 0);
    }
    widen(&boxes[1 + cell], &p->cover[k]);
  }
}

static bool meets_rank(const scree_Aabb *cover, const scree_Aabb *boxes) {
  if (!meet(cover, &boxes[0])) return false;
  for (int k = 1; k <= CELLS; ++k)
    if (meet(cover, &boxes[k])) return true;
  return false;
}

scree_Status scree_domain_choose_ghosts(scree_System *s) {
  const scree_Bodies *b = &s->bodies;
  scree_Domain *p = &s->domain;
  const size_t size = (size_t)p->size;
  scree_Aabb mine[CELLS + 1];
  scree_Aabb *boxes = SCREE_TAKE_RAW(&p->work, scree_Aabb, size * (CELLS + 1));
  scree_arena_reset(&p->lists);
  p->send_start = SCREE_TAKE(&p->lists, size_t, size + 1);
  p->receive_start = SCREE_TAKE(&p->lists, size_t, size + 1);
  scree_Status status = boxes && p->send_start && p->receive_start ? SCREE_OK : fail_memory(s);
  status = scree_domain_agree(s, status);
  if (status) return status;
  find_covers(s);
  find_boxes(s, mine);
  scree_ranks_gather_all(p->ranks, mine, sizeof mine, boxes);
  size_t found = 0;
  for (int pass = 0; pass < 2 && !status; ++pass) {
    found = 0;
    for (int rank = 0; rank < p->size; ++rank) {
      p->send_start[rank] = found;
      for (int k = 0; rank != p->rank && k < b->count; ++k) {
        if (b->fixed[k] || !scree_domain_owns(p, k)) continue;
        if (!meets_rank(&p->cover[k], boxes + (size_t)rank * (CELLS + 1))) continue;
        if (pass == 1) p->send[found] = k;
        ++found;
      }
    }
    p->send_start[size] = found;
    if (pass == 1) break;
    p->send = SCREE_TAKE_RAW(&p->lists, int, found);
    status = scree_domain_agree(s, p->send ? SCREE_OK : fail_memory(s));
  }
  return status;
}
