/* The pair table and its dispatch (see narrow.h).
 *
 * A pair is brought into a canonical order before its function is called: by kind, and between two
 * of a kind by comparing their data. So the function gets the same arguments in either order of the
 * bodies, and exchanging the bodies flips the normals exactly. */
#include "geometry/narrow.h"

#include "geometry/gjk.h"

#include <assert.h>
#include <string.h>

/* Every bounded shape of 3D against walls of revolution. */
#define WALLS                                                                                      \
  [SCREE_SHAPE_PIPE] = scree_collide_revolved, [SCREE_SHAPE_FUNNEL] = scree_collide_revolved,      \
  [SCREE_SHAPE_RING] = scree_collide_revolved

/* Two-dimensional and three-dimensional kinds are never paired: those entries stay NULL, as do
 * pairs of unbounded shapes. Other convex pairs without an entry go to the generic routine. Filled
 * for row kind <= column kind. */
static const scree_CollideFunction table[SCREE_SHAPE_KINDS][SCREE_SHAPE_KINDS] = {
    [SCREE_SHAPE_DISK] = {[SCREE_SHAPE_DISK] = scree_collide_round_round,
                          [SCREE_SHAPE_ELLIPSE] = scree_collide_smooth,
                          [SCREE_SHAPE_POLYGON] = scree_collide_round_polygon,
                          [SCREE_SHAPE_SEGMENT] = scree_collide_round_segment,
                          [SCREE_SHAPE_HALF_PLANE] = scree_collide_half_space,
                          [SCREE_SHAPE_DRUM_2D] = scree_collide_drum},
    [SCREE_SHAPE_ELLIPSE] = {[SCREE_SHAPE_ELLIPSE] = scree_collide_smooth,
                             [SCREE_SHAPE_POLYGON] = scree_collide_smooth_flat2,
                             [SCREE_SHAPE_SEGMENT] = scree_collide_smooth_flat2,
                             [SCREE_SHAPE_HALF_PLANE] = scree_collide_half_space,
                             [SCREE_SHAPE_DRUM_2D] = scree_collide_drum},
    [SCREE_SHAPE_POLYGON] = {[SCREE_SHAPE_POLYGON] = scree_collide_flat2,
                             [SCREE_SHAPE_SEGMENT] = scree_collide_flat2,
                             [SCREE_SHAPE_HALF_PLANE] = scree_collide_half_space,
                             [SCREE_SHAPE_DRUM_2D] = scree_collide_drum},
    [SCREE_SHAPE_SEGMENT] = {[SCREE_SHAPE_SEGMENT] = scree_collide_flat2,
                             [SCREE_SHAPE_HALF_PLANE] = scree_collide_half_space,
                             [SCREE_SHAPE_DRUM_2D] = scree_collide_drum},
    [SCREE_SHAPE_SPHERE] = {[SCREE_SHAPE_SPHERE] = scree_collide_round_round,
                            [SCREE_SHAPE_ELLIPSOID] = scree_collide_smooth,
                            [SCREE_SHAPE_BOX] = scree_collide_sphere_box,
                            [SCREE_SHAPE_CAPSULE] = scree_collide_round_segment,
                            [SCREE_SHAPE_HALF_SPACE] = scree_collide_half_space,
                            [SCREE_SHAPE_DRUM] = scree_collide_drum,
                            WALLS},
    [SCREE_SHAPE_ELLIPSOID] = {[SCREE_SHAPE_ELLIPSOID] = scree_collide_smooth,
                               [SCREE_SHAPE_BOX] = scree_collide_smooth_flat3,
                               [SCREE_SHAPE_CAPSULE] = scree_collide_smooth_flat3,
                               [SCREE_SHAPE_HALF_SPACE] = scree_collide_half_space,
                               [SCREE_SHAPE_DRUM] = scree_collide_drum,
                               WALLS},
    [SCREE_SHAPE_BOX] = {[SCREE_SHAPE_BOX] = scree_collide_flat3,
                         [SCREE_SHAPE_CAPSULE] = scree_collide_flat3,
                         [SCREE_SHAPE_HALF_SPACE] = scree_collide_half_space,
                         [SCREE_SHAPE_DRUM] = scree_collide_drum,
                         WALLS},
    [SCREE_SHAPE_CAPSULE] = {[SCREE_SHAPE_CAPSULE] = scree_collide_capsules,
                             [SCREE_SHAPE_HALF_SPACE] = scree_collide_half_space,
                             [SCREE_SHAPE_DRUM] = scree_collide_drum,
                             WALLS},
    [SCREE_SHAPE_CYLINDER] = {[SCREE_SHAPE_HALF_SPACE] = scree_collide_half_space,
                              [SCREE_SHAPE_DRUM] = scree_collide_drum,
                              WALLS},
    [SCREE_SHAPE_CONE] = {[SCREE_SHAPE_HALF_SPACE] = scree_collide_half_space,
                          [SCREE_SHAPE_DRUM] = scree_collide_drum,
                          WALLS},
    [SCREE_SHAPE_SUPERELLIPSOID] = {[SCREE_SHAPE_HALF_SPACE] = scree_collide_half_space,
                                    [SCREE_SHAPE_DRUM] = scree_collide_drum,
                                    WALLS},
    [SCREE_SHAPE_POLYHEDRON] = {[SCREE_SHAPE_HALF_SPACE] = scree_collide_half_space,
                                [SCREE_SHAPE_DRUM] = scree_collide_drum,
                                WALLS},
};

void scree_manifold_add(scree_Manifold *manifold, scree_Vec3 position, scree_Vec3 normal,
                        double gap, uint32_t feature) {
  assert(scree_is_unit(normal));
  int slot = manifold->count;
  if (slot == SCREE_MANIFOLD_MAX) {
    slot = 0;
    for (int k = 1; k < SCREE_MANIFOLD_MAX; k++)
      if (manifold->points[k].gap > manifold->points[slot].gap) slot = k;
    if (!(gap < manifold->points[slot].gap)) return;
  } else {
    manifold->count++;
  }
  manifold->points[slot] = (scree_ManifoldPoint){position, normal, gap, feature, {0, 0}};
}

static int compare(double a, double b) {
  return a < b ? -1 : a > b;
}

/* An order of two bodies of one kind that does not depend on which comes first: by position, then
 * shape, then orientation. */
static int compare_bodies(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                          const scree_Pose *pb) {
  int c = compare(pa->position.x, pb->position.x);
  if (!c) c = compare(pa->position.y, pb->position.y);
  if (!c) c = compare(pa->position.z, pb->position.z);
  if (!c) c = compare(a->bounding_radius, b->bounding_radius);
  if (!c) c = compare(a->volume, b->volume);
  if (!c) c = compare(a->semi.x, b->semi.x);
  if (!c) c = compare(a->semi.y, b->semi.y);
  if (!c) c = compare(a->inertia.z, b->inertia.z);
  if (!c) c = compare(pa->orientation.w, pb->orientation.w);
  if (!c) c = compare(pa->orientation.x, pb->orientation.x);
  if (!c) c = compare(pa->orientation.y, pb->orientation.y);
  if (!c) c = compare(pa->orientation.z, pb->orientation.z);
  return c;
}

/* Balls on balls and on half-spaces, which are most of the pairs of most scenes, without the table.
 * Returns whether the pair was one of these. */
static inline bool collide_fast(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                                const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  if (a->kind == b->kind && scree_shape_is_ball(a)) { /* antisymmetric already */
    int dimension = a->kind == SCREE_SHAPE_DISK ? 2 : 3;
    manifold->count = scree_collide_balls(pa->position, a->radius, pb->position, b->radius,
                                          dimension, margin, &manifold->points[0]);
    return true;
  }
  bool exchange = a->kind == SCREE_SHAPE_HALF_SPACE;
  const scree_Shape *ball = exchange ? b : a, *plane = exchange ? a : b;
  if (ball->kind != SCREE_SHAPE_SPHERE || plane->kind != SCREE_SHAPE_HALF_SPACE) return false;
  const scree_Pose *ball_pose = exchange ? pb : pa, *plane_pose = exchange ? pa : pb;
  scree_Mat3 R = scree_quat_matrix(plane_pose->orientation);
  scree_ManifoldPoint *point = &manifold->points[0];
  manifold->count = scree_collide_ball_plane(ball_pose->position, ball->radius,
                                             plane_pose->position, R.z, margin, point);
  if (manifold->count && exchange) {
    point->normal = scree_neg(point->normal);
    point->feature = scree_feature_exchange(point->feature);
  }
  return true;
}

int scree_collide(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                  const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  manifold->count = 0;
  if (collide_fast(a, pa, b, pb, margin, manifold)) return manifold->count;
  const scree_ShapeType *ta = scree_shape_type(a->kind), *tb = scree_shape_type(b->kind);
  if (ta->dimension != tb->dimension) return 0;
  if (!ta->bounded && !tb->bounded) return 0;
  bool exchange = a->kind > b->kind || (a->kind == b->kind && compare_bodies(a, pa, b, pb) > 0);
  const scree_Shape *first = exchange ? b : a, *second = exchange ? a : b;
  const scree_Pose *pose_first = exchange ? pb : pa, *pose_second = exchange ? pa : pb;
  scree_CollideFunction collide = table[first->kind][second->kind];
  if (collide)
    collide(first, pose_first, second, pose_second, margin, manifold);
  else if (ta->convex && tb->convex)
    scree_collide_convex(first, pose_first, second, pose_second, margin, manifold);
  if (exchange)
    for (int k = 0; k < manifold->count; k++) {
      scree_ManifoldPoint *p = &manifold->points[k];
      p->normal = scree_neg(p->normal);
      p->feature = scree_feature_exchange(p->feature);
    }
  return manifold->count;
}
