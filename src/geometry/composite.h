/* Contacts of shapes that consist of parts: clumps. */
#ifndef SCREE_GEOMETRY_COMPOSITE_H
#define SCREE_GEOMETRY_COMPOSITE_H

#include "core/private.h"
#include "geometry/narrow.h"

/* Gets each point of a pair, in an order that depends on the arguments alone; the numbers of the
 * parts are in point->part. */
typedef void (*scree_PointSink)(void *user, const scree_ManifoldPoint *point);

static inline bool scree_shape_is_composite(const scree_Shape *shape) {
  return shape->kind == SCREE_SHAPE_CLUMP || shape->kind == SCREE_SHAPE_CLUMP_2D;
}

/* All contact points of two shapes with gaps up to `margin`, whether they consist of parts or not.
 * Unlike scree_collide there may be any number of them. */
SCREE_PRIVATE void scree_collide_each(const scree_Shape *a, const scree_Pose *pa,
                                      const scree_Shape *b, const scree_Pose *pb, double margin,
                                      scree_PointSink sink, void *user);

#endif
