/* Contacts of shapes that consist of parts: clumps and triangle meshes. */
#ifndef SCREE_GEOMETRY_COMPOSITE_H
#define SCREE_GEOMETRY_COMPOSITE_H

#include "core/private.h"
#include "geometry/narrow.h"

/* Receives each point of a pair, in an order that depends on the arguments alone; the numbers of
 * the parts are in point->part. */
typedef void (*scree_PointSink)(void *user, const scree_ManifoldPoint *point);

static inline bool scree_shape_is_surface(const scree_Shape *shape) {
  return shape->kind == SCREE_SHAPE_MESH || shape->kind == SCREE_SHAPE_RECTANGLE ||
         shape->kind == SCREE_SHAPE_HEIGHT_FIELD;
}

static inline bool scree_shape_is_composite(const scree_Shape *shape) {
  return shape->kind == SCREE_SHAPE_CLUMP || shape->kind == SCREE_SHAPE_CLUMP_2D ||
         scree_shape_is_surface(shape) || shape->kind == SCREE_SHAPE_ELEMENTS;
}

/* All contact points of two shapes with gaps up to `margin`, whether they consist of parts or not.
 * Unlike scree_collide there may be any number of them. */
SCREE_PRIVATE void scree_collide_each(const scree_Shape *a, const scree_Pose *pa,
                                      const scree_Shape *b, const scree_Pose *pb, double margin,
                                      scree_PointSink sink, void *user);

/* Convex shape, which is part `part` of its body, against a mesh (collide_mesh.c); normals point
 * from the mesh to the shape. */
void scree_collide_mesh(const scree_Shape *shape, const scree_Pose *pose, uint32_t part,
                        const scree_Shape *mesh, const scree_Pose *mesh_pose, double margin,
                        scree_PointSink sink, void *user);

/* A shape of elements against any other (collide_elements.c); normals point from the other to it.
 * Its part is a triangle of its surface, or the number of these plus a vertex of the surface. */
void scree_collide_elements(const scree_Shape *elements, const scree_Pose *pose,
                            const scree_Shape *other, const scree_Pose *other_pose, double margin,
                            scree_PointSink sink, void *user);

#endif
