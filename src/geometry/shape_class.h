/* Kinds of shapes. A kind is one `const scree_ShapeClass` in a file shape_<name>.c, one line in
 * registry of shape.c, and its entries in the pair table of narrow.c. */
#ifndef SCREE_GEOMETRY_SHAPE_CLASS_H
#define SCREE_GEOMETRY_SHAPE_CLASS_H

#include "math/vec3.h"
#include "scree/shape.h"

#include <stdatomic.h>

/* What a shape owns besides its numbers. Copies of a shape share it. */
struct scree_ShapeData {
  atomic_int references;
  scree_Pose frame;     /* of the shape in the coordinates that it was given in */
  scree_Vec3 *vertices; /* polygon: [n], then [n] outward unit normals of the edges k -> k+1 */
  int part_count;       /* clump */
  scree_Part *parts;
};

/* What a shape is made from; the parameters are in the shape already, and checked. */
typedef struct scree_ShapeSource {
  const scree_Vec3 *vertices; /* [vertex_count] */
  int vertex_count;
  const scree_Part *parts; /* [part_count] */
  int part_count;
} scree_ShapeSource;

typedef struct scree_ShapeClass {
  scree_ShapeType type;
  /* Fill in what is derived, and `data` where the kind has any. */
  scree_Status (*init)(scree_Shape *shape, const scree_ShapeSource *source, const scree_Log *log);
  /* Furthest point along a direction of any length, in the shape's frame; null if not convex. */
  scree_Vec3 (*support)(const scree_Shape *shape, scree_Vec3 direction);
  /* Bounds with axes R and origin p; null: from support points. */
  scree_Aabb (*bounds)(const scree_Shape *shape, const scree_Mat3 *R, scree_Vec3 p);
} scree_ShapeClass;

const scree_ShapeClass *scree_shape_class(scree_ShapeKind kind);

/* Bounds with axes R and origin p. */
scree_Aabb scree_shape_bounds(const scree_Shape *shape, const scree_Mat3 *R, scree_Vec3 p);

/* Data with one reference, or null. */
scree_ShapeData *scree_shape_data_create(void);

extern const scree_ShapeClass scree_shape_disk, scree_shape_ellipse, scree_shape_polygon,
    scree_shape_segment, scree_shape_half_plane, scree_shape_drum_2d, scree_shape_clump_2d,
    scree_shape_sphere, scree_shape_ellipsoid, scree_shape_box, scree_shape_capsule,
    scree_shape_clump, scree_shape_half_space, scree_shape_drum;

#define SCREE_SHAPE_FIELD(member) offsetof(scree_Shape, member)
#define SCREE_SHAPE_TABLE(array)                                                                   \
  .parameter_count = (int)(sizeof(array) / sizeof((array)[0])), .parameters = (array)

/* Bounds symmetric about p. */
static inline scree_Aabb scree_bounds_about(scree_Vec3 p, double x, double y, double z) {
  const scree_Vec3 half = scree_vec3(x, y, z);
  return (scree_Aabb){scree_sub(p, half), scree_add(p, half)};
}

#endif
