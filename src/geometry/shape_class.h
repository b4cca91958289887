/* Kinds of shapes. A kind is one `const scree_ShapeClass` in a file shape_<name>.c, one line in
 * registry of shape.c, and its entries in the pair table of narrow.c. */
#ifndef SCREE_GEOMETRY_SHAPE_CLASS_H
#define SCREE_GEOMETRY_SHAPE_CLASS_H

#include "math/vec3.h"
#include "scree/shape.h"

#include <stdatomic.h>

/* Faces and edges of a convex polyhedron. Corners of a face are counter-clockwise from outside. */
typedef struct scree_Polyhedron {
  int face_count, edge_count, vertex_count;
  int *first;         /* [face_count + 1] corners of face f: first[f] .. first[f+1]-1 */
  int *corner;        /* [first[face_count]] vertex */
  int *side;          /* [first[face_count]] edge from this corner to the next */
  scree_Vec3 *normal; /* [face_count] unit, outward */
  int (*edge)[2];     /* [edge_count] vertices, ascending */
  int *link_first;    /* [vertex_count + 1] */
  int *link;          /* [2 edge_count] edges of each vertex */
} scree_Polyhedron;

/* The point, edge or face of a convex shape that faces a direction: the points within which another
 * flat face can touch it, counter-clockwise as seen against the direction. */
enum { SCREE_FEATURE_POINTS = 64 };
typedef struct scree_Feature {
  int count; /* 1: a point, 2: an edge, more: a face */
  scree_Vec3 point[SCREE_FEATURE_POINTS];
  int corner[SCREE_FEATURE_POINTS]; /* ids of the points within the shape */
  int edge[SCREE_FEATURE_POINTS];   /* and of the edges from each to the next */
} scree_Feature;

/* Corners that approximate the rim of a flat round end. */
enum { SCREE_RIM = 12 };

/* Cosine above which a face counts as facing a direction, and sine below which an edge counts as
 * perpendicular to it. */
#define SCREE_FACE_ALIGNED 0.98
#define SCREE_EDGE_ALIGNED 0.2

/* Data that a shape owns besides its parameters. Copies of a shape share it. */
struct scree_ShapeData {
  atomic_int references;
  scree_Pose frame;     /* of the shape in the coordinates that it was given in */
  scree_Vec3 *vertices; /* polygon: [n], then [n] outward unit normals of the edges k -> k+1 */
  scree_Polyhedron *polyhedron;
  struct scree_TriangleMesh *mesh; /* mesh, rectangle, surface of elements */
  scree_ElementMesh *elements;     /* elements; vertex k of the surface is node surface[k] */
  int part_count;                  /* clump */
  scree_ClumpPart *parts;
};

struct scree_Moments;

/* Input of a shape; the parameters are already in the shape, and checked. */
typedef struct scree_ShapeSource {
  const scree_Vec3 *vertices; /* [vertex_count] */
  int vertex_count;
  const int *triangles; /* [triangle_count x 3] */
  int triangle_count;
  const scree_ClumpPart *parts; /* [part_count] */
  int part_count;
  const struct scree_Moments *moments; /* of a clump, or null: the sums over its parts */
  const scree_ElementMesh *elements;
} scree_ShapeSource;

typedef struct scree_ShapeClass {
  scree_ShapeType type;
  /* `radius` is a rounding: the shape is all points within `radius` of the one with radius 0. */
  bool rounded;
  /* Compute the derived values, and `data` if the kind has any. */
  scree_Status (*init)(scree_Shape *shape, const scree_ShapeSource *source, const scree_Log *log);
  /* Furthest point along a direction of any length, in the shape's frame; null if not convex. */
  scree_Vec3 (*support)(const scree_Shape *shape, scree_Vec3 direction);
  /* Bounds with axes R and origin p; null: from support points. */
  scree_Aabb (*bounds)(const scree_Shape *shape, const scree_Mat3 *R, scree_Vec3 p);
  /* The feature that faces a unit direction; null: the support point. */
  void (*feature)(const scree_Shape *shape, scree_Vec3 direction, scree_Feature *feature);
} scree_ShapeClass;

const scree_ShapeClass *scree_shape_class(scree_ShapeKind kind);

/* Bounds with axes R and origin p. */
scree_Aabb scree_shape_bounds(const scree_Shape *shape, const scree_Mat3 *R, scree_Vec3 p);

/* By how much a shape is rounded, and the same shape without it; scree_shape_fini must not be
 * called on that. */
static inline double scree_shape_rounding(const scree_Shape *shape) {
  return scree_shape_class(shape->kind)->rounded ? shape->radius : 0;
}
static inline scree_Shape scree_shape_core(const scree_Shape *shape) {
  scree_Shape core = *shape;
  if (scree_shape_class(shape->kind)->rounded) core.radius = 0;
  return core;
}

/* The feature of any convex shape. */
void scree_shape_feature(const scree_Shape *shape, scree_Vec3 direction, scree_Feature *feature);
/* A feature of one point. */
static inline void scree_feature_point(scree_Feature *feature, scree_Vec3 point, int name) {
  feature->count = 1;
  feature->point[0] = point;
  feature->corner[0] = name;
  feature->edge[0] = 0;
}

/* Move the feature that faces a unit direction by a rounding: a face along its normal, an edge
 * across itself, a point along the direction. */
void scree_feature_round(scree_Feature *feature, scree_Vec3 direction, double radius);

/* Convex hull of points [count] (hull.c); vertices [at most count] receives its corners in the
 * order of the points. The polyhedron is to be freed with scree_polyhedron_destroy. */
scree_Status scree_hull_create(const scree_Vec3 *points, int count, scree_Vec3 *vertices,
                               scree_Polyhedron **polyhedron, const scree_Log *log);
void scree_polyhedron_destroy(scree_Polyhedron *polyhedron);

/* Add what rounding by `radius` adds to the polyhedron with corners v (rounding.c). */
void scree_moments_add_rounding(struct scree_Moments *sum, const scree_Polyhedron *p,
                                const scree_Vec3 *v, double radius);

/* A clump with moments of its own, in the coordinates of the parts. */
scree_Status scree_shape_init_clump_of(scree_Shape *shape, const scree_ClumpPart *parts,
                                       int part_count, const struct scree_Moments *moments,
                                       const scree_Log *log);

/* Data with one reference, or null. */
scree_ShapeData *scree_shape_data_create(void);

extern const scree_ShapeClass scree_shape_disk, scree_shape_ellipse, scree_shape_polygon,
    scree_shape_segment, scree_shape_half_plane, scree_shape_drum_2d, scree_shape_clump_2d,
    scree_shape_sphere, scree_shape_ellipsoid, scree_shape_box, scree_shape_capsule,
    scree_shape_cylinder, scree_shape_cone, scree_shape_superellipsoid, scree_shape_polyhedron,
    scree_shape_clump, scree_shape_half_space, scree_shape_drum, scree_shape_rectangle,
    scree_shape_mesh, scree_shape_height_field, scree_shape_pipe, scree_shape_funnel,
    scree_shape_ring, scree_shape_elements_class;

#define SCREE_SHAPE_FIELD(member) offsetof(scree_Shape, member)
#define SCREE_SHAPE_TABLE(array)                                                                   \
  .parameter_count = (int)(sizeof(array) / sizeof((array)[0])), .parameters = (array)

/* Bounds symmetric about p. */
static inline scree_Aabb scree_bounds_about(scree_Vec3 p, double x, double y, double z) {
  const scree_Vec3 half = scree_vec3(x, y, z);
  return (scree_Aabb){scree_sub(p, half), scree_add(p, half)};
}

#endif
