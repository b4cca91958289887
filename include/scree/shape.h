/* scree/shape.h — the shapes of bodies and obstacles.
 *
 * A shape is a plain tagged struct in the body's own frame, whose origin is the centroid (of
 * bounded shapes) and whose axes are the principal axes of inertia (in 3D). Where each shape sits
 * in its frame:
 *
 *   2D  disk        radius                       round the origin
 *       ellipse     semi.x, semi.y               semi-axes along x and y
 *       polygon     vertices (any order, hull)   moved so that its centroid is the origin
 *       segment     half_length, radius >= 0     along x, rounded by `radius` (0: no area)
 *       clump       parts, each with a pose      moved to their centroid
 *       half-plane                               the solid is y <= 0
 *       drum        radius                       the solid is everything outside the circle
 *   3D  sphere      radius                       round the origin
 *       ellipsoid   semi.x, semi.y, semi.z       semi-axes along x, y, z
 *       box         semi.x, semi.y, semi.z       half extents along x, y, z of the flat faces,
 *                   radius >= 0                  rounded by `radius` around them
 *       capsule     half_length, radius > 0      along z; half_length of the cylinder's axis
 *       cylinder    half_length, radius          along z
 *       cone        half_length, radius          along z, tip at the top; its height is twice
 *                                                half_length, its base a quarter of that below
 *       superellipsoid  semi, exponent           (|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q <= 1
 *       polyhedron  vertices, radius >= 0        hull of the vertices, rounded by `radius`, moved
 *                                                and turned to its principal axes
 *       clump       parts, each with a pose      moved and turned to their principal axes
 *       half-space                               the solid is z <= 0
 *       drum        radius, half_length          the solid is everything outside the cylinder
 *                                                along z; half_length = INFINITY: endless, else
 *                                                closed by end caps at z = +-half_length
 *
 *       rectangle   semi.x, semi.y               half extents in the plane z = 0; solid below it
 *       mesh        vertices, triangles          where they are given; the solid is behind them
 *       height-field  vertices, triangles        a mesh made of heights over a grid
 *       pipe        radius, half_length          inside of an open cylinder along z
 *       funnel      radius, semi.x, half_length  inside of an open cone along z: `radius` at the
 *                                                bottom, semi.x at the top
 *       ring        radius, semi.x               disk of `radius` in the plane z = 0 with a hole of
 *                                                radius semi.x; solid below it
 *       elements    mesh of finite elements      moved and turned to its principal axes; its
 *                                                surface makes the contacts
 *
 * Unbounded shapes (half-plane, half-space, drums) and surfaces (rectangle to ring) have no volume
 * and can only be obstacles. */
#ifndef SCREE_SHAPE_H
#define SCREE_SHAPE_H

#include "scree/base.h"
#include "scree/element.h"
#include "scree/pose.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The order matters to the pair table only in that unbounded kinds come after bounded ones of the
 * same dimension. */
typedef enum scree_ShapeKind {
  SCREE_SHAPE_DISK,
  SCREE_SHAPE_ELLIPSE,
  SCREE_SHAPE_POLYGON,
  SCREE_SHAPE_SEGMENT,
  SCREE_SHAPE_CLUMP_2D,
  SCREE_SHAPE_HALF_PLANE,
  SCREE_SHAPE_DRUM_2D,
  SCREE_SHAPE_SPHERE,
  SCREE_SHAPE_ELLIPSOID,
  SCREE_SHAPE_BOX,
  SCREE_SHAPE_CAPSULE,
  SCREE_SHAPE_CYLINDER,
  SCREE_SHAPE_CONE,
  SCREE_SHAPE_SUPERELLIPSOID,
  SCREE_SHAPE_POLYHEDRON,
  SCREE_SHAPE_CLUMP,
  SCREE_SHAPE_HALF_SPACE,
  SCREE_SHAPE_DRUM,
  SCREE_SHAPE_RECTANGLE,
  SCREE_SHAPE_MESH,
  SCREE_SHAPE_HEIGHT_FIELD,
  SCREE_SHAPE_PIPE,
  SCREE_SHAPE_FUNNEL,
  SCREE_SHAPE_RING,
  SCREE_SHAPE_ELEMENTS,
  SCREE_SHAPE_KINDS
} scree_ShapeKind;

typedef struct scree_ShapeData scree_ShapeData;

typedef struct scree_Shape {
  scree_ShapeKind kind;
  int vertex_count; /* polygon, polyhedron: number of vertices, else 0 */
  double radius;    /* disk, sphere, segment, capsule, drums, ...; rounding of a box or
                     * polyhedron */
  /* Derived by the init functions; here, since every pair of bodies needs them. */
  double bounding_radius;     /* of the smallest ball round the origin; INFINITY when unbounded */
  double size;                /* smallest width across: the length that a gap is small against.
                               * Unbounded shapes: radius, or INFINITY for half-plane and
                               * half-space. */
  double half_length;         /* segment, capsule, drum, ... */
  scree_Vec3 semi;            /* ellipse, ellipsoid: semi-axes; box: half extents; funnel, ring: x,
                               * the second radius */
  double exponent[2];         /* superellipsoid: across z (p) and along z (q) */
  const scree_Vec3 *vertices; /* polygon: [vertex_count] counter-clockwise, then [vertex_count]
                               * outward unit normals of the edges k -> k+1; polyhedron,
                               * mesh: [vertex_count]; else NULL */
  scree_ShapeData *data;      /* vertices, parts: shared between the copies of a shape, or NULL */
  /* Derived by the init functions. */
  double volume;      /* area in 2D; 0 for a segment without radius and for unbounded shapes */
  scree_Vec3 inertia; /* principal moments for unit density; 2D: only z */
} scree_Shape;

/* A part of a clump: a shape and where it is in the clump's frame. */
typedef struct scree_ClumpPart {
  scree_Shape shape;
  scree_Pose pose;
} scree_ClumpPart;

/* A ball of its dimension: it looks the same from all sides. */
static inline bool scree_shape_is_ball(const scree_Shape *shape) {
  return shape->kind == SCREE_SHAPE_SPHERE || shape->kind == SCREE_SHAPE_DISK;
}

/* A parameter of a shape, as a scene names it. */
typedef struct scree_ShapeParameter {
  const char *name;
  size_t offset;     /* of the double in scree_Shape */
  bool required;     /* otherwise `fallback` holds when it is absent */
  double fallback;   /* value when absent */
  bool may_be_zero;  /* otherwise > 0 */
  bool may_infinite; /* otherwise finite */
  const char *help;
  bool pure; /* a number without unit, not a length */
} scree_ShapeParameter;

/* Description of a kind of shape: enough for a scene reader to build one. */
typedef struct scree_ShapeType {
  const char *name; /* as a scene names it; unique within a dimension */
  const char *summary;
  int dimension; /* 2 or 3 */
  bool bounded;  /* can be a body with a mass */
  bool convex;   /* has a support function */
  bool takes_vertices;
  int parameter_count;
  const scree_ShapeParameter *parameters; /* [parameter_count] */
  bool takes_parts;                       /* scree_shape_init_clump */
  bool takes_triangles;                   /* scree_shape_init_mesh */
  bool takes_heights;                     /* scree_shape_init_height_field */
  bool takes_elements;                    /* scree_shape_init_elements */
} scree_ShapeType;

/* `kind` must be below SCREE_SHAPE_KINDS. */
SCREE_API const scree_ShapeType *scree_shape_type(scree_ShapeKind kind);

/* Kind by name and dimension; SCREE_SHAPE_KINDS when there is none. */
SCREE_API scree_ShapeKind scree_shape_kind(const char *name, int dimension);

/* Make a shape of any kind: *shape is overwritten, whatever was in it, and must be given to
 * scree_shape_fini. `parameters` holds a value for each of scree_shape_type(kind)->parameters, in
 * that order; the fallbacks are not applied here. It may be null for kinds without parameters.
 * `vertices` [vertex_count] is read for polygons (x and y) and polyhedra alone, null for others: in
 * any order; their convex hull is taken. A point inside the hull of a polygon is refused, because
 * it would change the shape. Clumps, meshes, height fields and elements have functions of their own
 * below. On SCREE_BAD_INPUT the message names the parameter, and the shape owns nothing. */
SCREE_API scree_Status scree_shape_init(scree_Shape *shape, scree_ShapeKind kind,
                                        const double *parameters, const scree_Vec3 *vertices,
                                        int vertex_count, const scree_Log *log);
SCREE_API scree_Status scree_shape_init_disk(scree_Shape *shape, double radius,
                                             const scree_Log *log);
SCREE_API scree_Status scree_shape_init_ellipse(scree_Shape *shape, double semi_x, double semi_y,
                                                const scree_Log *log);
SCREE_API scree_Status scree_shape_init_polygon(scree_Shape *shape, const scree_Vec3 *vertices,
                                                int vertex_count, const scree_Log *log);
SCREE_API scree_Status scree_shape_init_segment(scree_Shape *shape, double half_length,
                                                double radius, const scree_Log *log);
SCREE_API scree_Status scree_shape_init_half_plane(scree_Shape *shape, const scree_Log *log);
SCREE_API scree_Status scree_shape_init_drum_2d(scree_Shape *shape, double radius,
                                                const scree_Log *log);
SCREE_API scree_Status scree_shape_init_sphere(scree_Shape *shape, double radius,
                                               const scree_Log *log);
SCREE_API scree_Status scree_shape_init_ellipsoid(scree_Shape *shape, double semi_x, double semi_y,
                                                  double semi_z, const scree_Log *log);
SCREE_API scree_Status scree_shape_init_box(scree_Shape *shape, double half_x, double half_y,
                                            double half_z, const scree_Log *log);
SCREE_API scree_Status scree_shape_init_capsule(scree_Shape *shape, double half_length,
                                                double radius, const scree_Log *log);
SCREE_API scree_Status scree_shape_init_cylinder(scree_Shape *shape, double radius,
                                                 double half_length, const scree_Log *log);
SCREE_API scree_Status scree_shape_init_cone(scree_Shape *shape, double radius, double half_length,
                                             const scree_Log *log);
/* Exponents of at least 2: 2, 2 is an ellipsoid, large ones approach a cylinder or a box. */
SCREE_API scree_Status scree_shape_init_superellipsoid(scree_Shape *shape, double semi_x,
                                                       double semi_y, double semi_z,
                                                       double exponent_xy, double exponent_z,
                                                       const scree_Log *log);
/* The convex hull of the vertices, in any order. */
SCREE_API scree_Status scree_shape_init_polyhedron(scree_Shape *shape, const scree_Vec3 *vertices,
                                                   int vertex_count, const scree_Log *log);
SCREE_API scree_Status scree_shape_init_half_space(scree_Shape *shape, const scree_Log *log);
SCREE_API scree_Status scree_shape_init_drum(scree_Shape *shape, double radius, double half_length,
                                             const scree_Log *log);

/* One shape of several bounded ones, for a body that is not convex. Mass properties are the sums
 * over the parts: where parts overlap, matter counts twice. The parts' shapes are copied. */
SCREE_API scree_Status scree_shape_init_clump(scree_Shape *shape, const scree_ClumpPart *parts,
                                              int part_count, const scree_Log *log);

/* The same with mass properties of its own, for unit density; the frame of the clump is that of the
 * poses of the parts. */
SCREE_API scree_Status scree_shape_init_clump_with(scree_Shape *shape, const scree_ClumpPart *parts,
                                                   int part_count, double volume,
                                                   scree_Vec3 inertia, const scree_Log *log);

/* A surface of triangles [triangle_count x 3] (numbers of vertices) as an obstacle: the solid is
 * behind it, corners are counter-clockwise as seen from its free side. Edges between triangles of
 * one plane cannot be felt. The frame is the one that the vertices are given in. */
SCREE_API scree_Status scree_shape_init_mesh(scree_Shape *shape, const scree_Vec3 *vertices,
                                             int vertex_count, const int *triangles,
                                             int triangle_count, const scree_Log *log);
/* A rectangle in the plane z = 0, the solid is below it. */
SCREE_API scree_Status scree_shape_init_rectangle(scree_Shape *shape, double half_x, double half_y,
                                                  const scree_Log *log);

/* Heights [ny x nx], row by row along x, over a grid of spacing dx, dy that is centred on the
 * origin, as an obstacle whose solid is below. Each cell is two triangles, cut along the diagonal
 * from its corner with the smallest coordinates. */
SCREE_API scree_Status scree_shape_init_height_field(scree_Shape *shape, const double *heights,
                                                     int nx, int ny, double dx, double dy,
                                                     const scree_Log *log);

/* A solid that is not convex, bounded by a closed surface of triangles [triangle_count x 3] seen
 * counter-clockwise from outside, as a clump of convex polyhedra. Pieces are cut until the hull of
 * each exceeds it by at most the part `concavity` of its size, or until there are `most` of them;
 * mass properties are those of the solid itself. */
SCREE_API scree_Status scree_shape_init_solid(scree_Shape *shape, const scree_Vec3 *vertices,
                                              int vertex_count, const int *triangles,
                                              int triangle_count, double concavity, int most,
                                              const scree_Log *log);

/* The solid that a mesh of finite elements of 3 dimensions fills (shared, not copied): not convex
 * in general. A body of it is rigid, or deforms as a finite-element body. */
SCREE_API scree_Status scree_shape_init_elements(scree_Shape *shape, const scree_ElementMesh *mesh,
                                                 const scree_Log *log);
/* The mesh of a shape of elements, in the frame of the shape; null for all others. */
SCREE_API const scree_ElementMesh *scree_shape_elements(const scree_Shape *shape);

/* A copy shares vertices and parts with its original; free both. */
SCREE_API void scree_shape_copy(const scree_Shape *from, scree_Shape *to);
/* Free what the shape owns; it may be called on a zeroed struct, and twice. */
SCREE_API void scree_shape_fini(scree_Shape *shape);

/* Where the frame of the shape (centroid, principal axes) is in the coordinates that its vertices
 * or parts were given in. */
SCREE_API scree_Pose scree_shape_frame(const scree_Shape *shape);
/* Parts of a clump; 0 for all other shapes. */
SCREE_API int scree_shape_part_count(const scree_Shape *shape);
/* Checked: null for a part that does not exist. */
SCREE_API const scree_ClumpPart *scree_shape_part(const scree_Shape *shape, int part);
/* Faces of a polyhedron; 0 for all other shapes. */
SCREE_API int scree_shape_face_count(const scree_Shape *shape);
/* The corners (*count) of a face as numbers of vertices, counter-clockwise from outside, and its
 * outward normal (or null). Checked: null and a count of 0 for a face that does not exist. */
SCREE_API const int *scree_shape_face(const scree_Shape *shape, int face, int *count,
                                      scree_Vec3 *normal);
/* Triangles of a mesh or rectangle [count x 3], and their vertices (or null); 0 and null for all
 * other shapes. */
SCREE_API int scree_shape_triangle_count(const scree_Shape *shape);
SCREE_API const int *scree_shape_triangles(const scree_Shape *shape, const scree_Vec3 **vertices);
/* Bytes of its share of what the copies of the shape own together. */
SCREE_API size_t scree_shape_memory(const scree_Shape *shape);

/* The furthest point of a convex shape in direction `direction` (any length), both in the shape's
 * own frame. Ties go to the first vertex. */
SCREE_API scree_Vec3 scree_shape_support(const scree_Shape *shape, scree_Vec3 direction);

/* Bounds of the solid in the world for a pose; infinite where the solid is. */
SCREE_API scree_Aabb scree_shape_aabb(const scree_Shape *shape, const scree_Pose *pose);

#ifdef __cplusplus
}
#endif

#endif
