/* Pairs of parts (see composite.h): each part of one shape against those parts of the other whose
 * bounding balls are near. */
#include "geometry/composite.h"

static scree_Pose compose(const scree_Pose *outer, const scree_Pose *inner) {
  return (scree_Pose){scree_pose_apply(outer, inner->position),
                      scree_quat_mul(outer->orientation, inner->orientation)};
}

/* One shape without parts against all parts of b. `part` is the number of the first. */
static void against_parts(const scree_Shape *a, const scree_Pose *pa, uint32_t part,
                          const scree_Shape *b, const scree_Pose *pb, double margin,
                          scree_PointSink sink, void *user) {
  if (scree_shape_is_surface(b)) {
    if (scree_shape_type(a->kind)->convex)
      scree_collide_mesh(a, pa, part, b, pb, margin, sink, user);
    return;
  }
  const int count = scree_shape_part_count(b);
  const double reach = a->bounding_radius + margin;
  for (int k = 0; k < (count ? count : 1); ++k) {
    const scree_ClumpPart *one = count ? scree_shape_part(b, k) : NULL;
    const scree_Shape *shape = one ? &one->shape : b;
    scree_Pose pose = *pb;
    if (one) {
      const double apart = reach + shape->bounding_radius; /* infinite: no ball is known */
      const scree_Vec3 centre = scree_pose_apply(pb, one->pose.position);
      if (scree_norm2(scree_sub(pa->position, centre)) > apart * apart) continue;
      pose = (scree_Pose){centre, scree_quat_mul(pb->orientation, one->pose.orientation)};
    }
    scree_Manifold manifold;
    const int n = scree_collide(a, pa, shape, &pose, margin, &manifold);
    for (int p = 0; p < n; ++p) {
      manifold.points[p].part[0] = part;
      manifold.points[p].part[1] = (uint32_t)k;
      sink(user, &manifold.points[p]);
    }
  }
}

/* Points of the pair with the bodies exchanged. */
typedef struct Exchange {
  scree_PointSink sink;
  void *user;
} Exchange;

static void exchange(void *user, const scree_ManifoldPoint *point) {
  const Exchange *to = user;
  const scree_ManifoldPoint other = {point->position,
                                     scree_neg(point->normal),
                                     point->gap,
                                     scree_feature_exchange(point->feature),
                                     {point->part[1], point->part[0]}};
  to->sink(to->user, &other);
}

void scree_collide_each(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                        const scree_Pose *pb, double margin, scree_PointSink sink, void *user) {
  Exchange to = {sink, user};
  if (a->kind == SCREE_SHAPE_ELEMENTS) {
    scree_collide_elements(a, pa, b, pb, margin, sink, user);
    return;
  }
  if (b->kind == SCREE_SHAPE_ELEMENTS) {
    scree_collide_elements(b, pb, a, pa, margin, exchange, &to);
    return;
  }
  if (scree_shape_is_surface(a)) {
    if (!scree_shape_is_surface(b)) scree_collide_each(b, pb, a, pa, margin, exchange, &to);
    return;
  }
  if (!scree_shape_is_composite(a)) {
    against_parts(a, pa, 0, b, pb, margin, sink, user);
    return;
  }
  for (int k = 0; k < scree_shape_part_count(a); ++k) {
    const scree_ClumpPart *part = scree_shape_part(a, k);
    const scree_Pose pose = compose(pa, &part->pose);
    const double apart = part->shape.bounding_radius + b->bounding_radius + margin;
    if (scree_norm2(scree_sub(pose.position, pb->position)) > apart * apart) continue;
    against_parts(&part->shape, &pose, (uint32_t)k, b, pb, margin, sink, user);
  }
}
