/* Shapes: the registry, parameters and their checks, shared data (see shape.h, shape_class.h). */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/principal.h"
#include "geometry/shape_class.h"
#include "geometry/trimesh.h"

#include <assert.h>
#include <string.h>

static const scree_ShapeClass *const registry[SCREE_SHAPE_KINDS] = {
    [SCREE_SHAPE_DISK] = &scree_shape_disk,
    [SCREE_SHAPE_ELLIPSE] = &scree_shape_ellipse,
    [SCREE_SHAPE_POLYGON] = &scree_shape_polygon,
    [SCREE_SHAPE_SEGMENT] = &scree_shape_segment,
    [SCREE_SHAPE_CLUMP_2D] = &scree_shape_clump_2d,
    [SCREE_SHAPE_HALF_PLANE] = &scree_shape_half_plane,
    [SCREE_SHAPE_DRUM_2D] = &scree_shape_drum_2d,
    [SCREE_SHAPE_SPHERE] = &scree_shape_sphere,
    [SCREE_SHAPE_ELLIPSOID] = &scree_shape_ellipsoid,
    [SCREE_SHAPE_BOX] = &scree_shape_box,
    [SCREE_SHAPE_CAPSULE] = &scree_shape_capsule,
    [SCREE_SHAPE_CYLINDER] = &scree_shape_cylinder,
    [SCREE_SHAPE_CONE] = &scree_shape_cone,
    [SCREE_SHAPE_SUPERELLIPSOID] = &scree_shape_superellipsoid,
    [SCREE_SHAPE_POLYHEDRON] = &scree_shape_polyhedron,
    [SCREE_SHAPE_CLUMP] = &scree_shape_clump,
    [SCREE_SHAPE_HALF_SPACE] = &scree_shape_half_space,
    [SCREE_SHAPE_DRUM] = &scree_shape_drum,
    [SCREE_SHAPE_RECTANGLE] = &scree_shape_rectangle,
    [SCREE_SHAPE_MESH] = &scree_shape_mesh,
    [SCREE_SHAPE_HEIGHT_FIELD] = &scree_shape_height_field,
    [SCREE_SHAPE_PIPE] = &scree_shape_pipe,
    [SCREE_SHAPE_FUNNEL] = &scree_shape_funnel,
    [SCREE_SHAPE_RING] = &scree_shape_ring,
    [SCREE_SHAPE_ELEMENTS] = &scree_shape_elements_class,
};

const scree_ShapeClass *scree_shape_class(scree_ShapeKind kind) {
  assert(kind < SCREE_SHAPE_KINDS);
  return registry[kind];
}

const scree_ShapeType *scree_shape_type(scree_ShapeKind kind) {
  return &scree_shape_class(kind)->type;
}

scree_ShapeKind scree_shape_kind(const char *name, int dimension) {
  for (int k = 0; k < SCREE_SHAPE_KINDS; k++)
    if (registry[k]->type.dimension == dimension && strcmp(registry[k]->type.name, name) == 0)
      return (scree_ShapeKind)k;
  return SCREE_SHAPE_KINDS;
}

/* ---- shared data ---- */

scree_ShapeData *scree_shape_data_create(void) {
  scree_ShapeData *data = SCREE_ALLOC(scree_ShapeData, 1);
  if (!data) return NULL;
  atomic_init(&data->references, 1);
  data->frame.orientation = scree_quat_identity();
  return data;
}

void scree_shape_copy(const scree_Shape *from, scree_Shape *to) {
  *to = *from;
  if (to->data) atomic_fetch_add(&to->data->references, 1);
}

void scree_shape_fini(scree_Shape *shape) {
  scree_ShapeData *data = shape->data;
  shape->data = NULL;
  shape->vertices = NULL;
  shape->vertex_count = 0;
  if (!data || atomic_fetch_sub(&data->references, 1) > 1) return;
  for (int k = 0; k < data->part_count; ++k) scree_shape_fini(&data->parts[k].shape);
  scree_free(data->parts);
  scree_polyhedron_destroy(data->polyhedron);
  scree_trimesh_destroy(data->mesh);
  scree_element_mesh_destroy(data->elements);
  scree_free(data->vertices);
  scree_free(data);
}

size_t scree_shape_memory(const scree_Shape *shape) {
  const scree_ShapeData *data = shape->data;
  if (!data) return 0;
  size_t bytes = sizeof *data + 2 * (size_t)shape->vertex_count * sizeof *data->vertices;
  if (data->polyhedron) {
    const scree_Polyhedron *p = data->polyhedron;
    bytes += sizeof *p + (size_t)p->face_count * (sizeof(int) + sizeof(scree_Vec3)) +
             (size_t)p->edge_count * (2 + 2 + 2 + 2) * sizeof(int) +
             (size_t)p->vertex_count * sizeof(int);
  }
  if (data->mesh) bytes += scree_trimesh_memory(data->mesh);
  for (int k = 0; k < data->part_count; ++k)
    bytes += sizeof *data->parts + scree_shape_memory(&data->parts[k].shape);
  return bytes / (size_t)atomic_load(&data->references);
}

scree_Pose scree_shape_frame(const scree_Shape *shape) {
  const scree_Pose none = {{0, 0, 0}, {1, 0, 0, 0}};
  return shape->data ? shape->data->frame : none;
}

int scree_shape_part_count(const scree_Shape *shape) {
  return shape->data ? shape->data->part_count : 0;
}

const scree_ClumpPart *scree_shape_part(const scree_Shape *shape, int part) {
  const bool exists = part >= 0 && part < scree_shape_part_count(shape);
  return exists ? &shape->data->parts[part] : NULL;
}

int scree_shape_face_count(const scree_Shape *shape) {
  return shape->data && shape->data->polyhedron ? shape->data->polyhedron->face_count : 0;
}

const int *scree_shape_face(const scree_Shape *shape, int face, int *count, scree_Vec3 *normal) {
  *count = 0;
  if (face < 0 || face >= scree_shape_face_count(shape)) return NULL;
  const scree_Polyhedron *p = shape->data->polyhedron;
  *count = p->first[face + 1] - p->first[face];
  if (normal) *normal = p->normal[face];
  return p->corner + p->first[face];
}

int scree_shape_triangle_count(const scree_Shape *shape) {
  return shape->data && shape->data->mesh ? shape->data->mesh->triangle_count : 0;
}

const int *scree_shape_triangles(const scree_Shape *shape, const scree_Vec3 **vertices) {
  if (!shape->data || !shape->data->mesh) return NULL;
  if (vertices) *vertices = shape->data->mesh->vertex;
  return shape->data->mesh->triangle[0];
}

const scree_ElementMesh *scree_shape_elements(const scree_Shape *shape) {
  return shape->data ? shape->data->elements : NULL;
}

/* ---- init ---- */

static scree_Status init(scree_Shape *shape, scree_ShapeKind kind, const double *parameters,
                         const scree_ShapeSource *source, const scree_Log *log) {
  memset(shape, 0, sizeof *shape);
  if ((int)kind < 0 || kind >= SCREE_SHAPE_KINDS)
    return scree_fail(log, SCREE_BAD_INPUT, "shape: found kind %d, expected 0 to %d", (int)kind,
                      SCREE_SHAPE_KINDS - 1);
  const scree_ShapeClass *class_ = registry[kind];
  const scree_ShapeType *type = &class_->type;
  assert(parameters || type->parameter_count == 0);
  shape->kind = kind;
  for (int k = 0; k < type->parameter_count; k++) {
    const scree_ShapeParameter *p = &type->parameters[k];
    double value = parameters[k];
    bool good = p->may_be_zero ? value >= 0 : value > 0; /* false for NaN */
    if (!good || (isinf(value) && !p->may_infinite))
      return scree_fail(log, SCREE_BAD_INPUT, "%s: %s is %g, expected a %s number %s 0", type->name,
                        p->name, value, p->may_infinite ? "possibly infinite" : "finite",
                        p->may_be_zero ? ">=" : ">");
    memcpy((char *)shape + p->offset, &value, sizeof value);
  }
  scree_Status status = class_->init(shape, source, log);
  if (!status && type->bounded && !(isfinite(shape->inertia.z) && isfinite(shape->volume)))
    status = scree_fail(log, SCREE_BAD_INPUT,
                        "%s: its moment of inertia overflows, expected sizes "
                        "that can be raised to the fifth power",
                        type->name);
  if (status) scree_shape_fini(shape);
  return status;
}

scree_Status scree_shape_init(scree_Shape *shape, scree_ShapeKind kind, const double *parameters,
                              const scree_Vec3 *vertices, int vertex_count, const scree_Log *log) {
  const scree_ShapeSource source = {.vertices = vertices, .vertex_count = vertex_count};
  return init(shape, kind, parameters, &source, log);
}

scree_Status scree_shape_init_clump_of(scree_Shape *shape, const scree_ClumpPart *parts,
                                       int part_count, const scree_Moments *moments,
                                       const scree_Log *log) {
  const scree_ShapeSource source = {.parts = parts, .part_count = part_count, .moments = moments};
  const bool flat = part_count > 0 && scree_shape_type(parts[0].shape.kind)->dimension == 2;
  return init(shape, flat ? SCREE_SHAPE_CLUMP_2D : SCREE_SHAPE_CLUMP, NULL, &source, log);
}

scree_Status scree_shape_init_clump(scree_Shape *shape, const scree_ClumpPart *parts,
                                    int part_count, const scree_Log *log) {
  return scree_shape_init_clump_of(shape, parts, part_count, NULL, log);
}

scree_Status scree_shape_init_clump_with(scree_Shape *shape, const scree_ClumpPart *parts,
                                         int part_count, double volume, scree_Vec3 inertia,
                                         const scree_Log *log) {
  const scree_Mat3 axes = scree_quat_matrix(scree_quat_identity());
  const bool flat = part_count > 0 && scree_shape_type(parts[0].shape.kind)->dimension == 2;
  scree_Moments sum = {0};
  if (!(volume > 0) || !(inertia.z > 0) || !isfinite(volume + inertia.x + inertia.y + inertia.z))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "clump: volume %g and moments (%g, %g, %g), expected finite ones above 0",
                      volume, inertia.x, inertia.y, inertia.z);
  if (flat)
    scree_moments_add_flat(&sum, volume, scree_vec3(0, 0, 0), inertia.z);
  else
    scree_moments_add(&sum, volume, scree_vec3(0, 0, 0), &axes, inertia);
  return scree_shape_init_clump_of(shape, parts, part_count, &sum, log);
}

scree_Status scree_shape_init_mesh(scree_Shape *shape, const scree_Vec3 *vertices, int vertex_count,
                                   const int *triangles, int triangle_count, const scree_Log *log) {
  const scree_ShapeSource source = {.vertices = vertices,
                                    .vertex_count = vertex_count,
                                    .triangles = triangles,
                                    .triangle_count = triangle_count};
  return init(shape, SCREE_SHAPE_MESH, NULL, &source, log);
}

scree_Status scree_shape_init_height_field(scree_Shape *shape, const double *heights, int nx,
                                           int ny, double dx, double dy, const scree_Log *log) {
  memset(shape, 0, sizeof *shape);
  if (nx < 2 || ny < 2 || !(dx > 0) || !(dy > 0) || (double)nx * ny > 1e8)
    return scree_fail(
        log, SCREE_BAD_INPUT,
        "height-field: found %d x %d heights %g and %g apart, expected at least 2 x 2 "
        "at positive distances",
        nx, ny, dx, dy);
  const size_t cells = (size_t)(nx - 1) * (size_t)(ny - 1);
  scree_Vec3 *vertices = SCREE_ALLOC(scree_Vec3, (size_t)nx * (size_t)ny);
  int *triangles = SCREE_ALLOC(int, 6 * cells), *t = triangles;
  scree_Status status = SCREE_OK;
  if (!vertices || !triangles) status = scree_fail_memory(log, "a height field");
  for (int j = 0; j < ny && !status; ++j)
    for (int i = 0; i < nx; ++i) {
      const int at = j * nx + i;
      vertices[at] = scree_vec3(dx * (i - 0.5 * (nx - 1)), dy * (j - 0.5 * (ny - 1)), heights[at]);
      if (i + 1 == nx || j + 1 == ny) continue;
      const int corners[6] = {at, at + 1, at + nx + 1, at, at + nx + 1, at + nx};
      memcpy(t, corners, sizeof corners);
      t += 6;
    }
  const scree_ShapeSource source = {.vertices = vertices,
                                    .vertex_count = nx * ny,
                                    .triangles = triangles,
                                    .triangle_count = (int)(2 * cells)};
  if (!status) status = init(shape, SCREE_SHAPE_HEIGHT_FIELD, NULL, &source, log);
  scree_free(vertices);
  scree_free(triangles);
  return status;
}

scree_Status scree_shape_init_elements(scree_Shape *shape, const scree_ElementMesh *mesh,
                                       const scree_Log *log) {
  const scree_ShapeSource source = {.elements = mesh};
  return init(shape, SCREE_SHAPE_ELEMENTS, (double[]){0, 0, 0}, &source, log);
}

scree_Status scree_shape_init_rectangle(scree_Shape *shape, double half_x, double half_y,
                                        const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_RECTANGLE, (double[]){half_x, half_y}, NULL, 0, log);
}

scree_Status scree_shape_init_disk(scree_Shape *shape, double radius, const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_DISK, &radius, NULL, 0, log);
}

scree_Status scree_shape_init_ellipse(scree_Shape *shape, double semi_x, double semi_y,
                                      const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_ELLIPSE, (double[]){semi_x, semi_y}, NULL, 0, log);
}

scree_Status scree_shape_init_polygon(scree_Shape *shape, const scree_Vec3 *vertices,
                                      int vertex_count, const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_POLYGON, NULL, vertices, vertex_count, log);
}

scree_Status scree_shape_init_segment(scree_Shape *shape, double half_length, double radius,
                                      const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_SEGMENT, (double[]){half_length, radius}, NULL, 0,
                          log);
}

scree_Status scree_shape_init_half_plane(scree_Shape *shape, const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_HALF_PLANE, NULL, NULL, 0, log);
}

scree_Status scree_shape_init_drum_2d(scree_Shape *shape, double radius, const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_DRUM_2D, &radius, NULL, 0, log);
}

scree_Status scree_shape_init_sphere(scree_Shape *shape, double radius, const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_SPHERE, &radius, NULL, 0, log);
}

scree_Status scree_shape_init_ellipsoid(scree_Shape *shape, double semi_x, double semi_y,
                                        double semi_z, const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_ELLIPSOID, (double[]){semi_x, semi_y, semi_z}, NULL, 0,
                          log);
}

scree_Status scree_shape_init_box(scree_Shape *shape, double half_x, double half_y, double half_z,
                                  const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_BOX, (double[]){half_x, half_y, half_z, 0}, NULL, 0,
                          log);
}

scree_Status scree_shape_init_capsule(scree_Shape *shape, double half_length, double radius,
                                      const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_CAPSULE, (double[]){half_length, radius}, NULL, 0,
                          log);
}

scree_Status scree_shape_init_cylinder(scree_Shape *shape, double radius, double half_length,
                                       const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_CYLINDER, (double[]){radius, half_length}, NULL, 0,
                          log);
}

scree_Status scree_shape_init_cone(scree_Shape *shape, double radius, double half_length,
                                   const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_CONE, (double[]){radius, half_length}, NULL, 0, log);
}

scree_Status scree_shape_init_superellipsoid(scree_Shape *shape, double semi_x, double semi_y,
                                             double semi_z, double exponent_xy, double exponent_z,
                                             const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_SUPERELLIPSOID,
                          (double[]){semi_x, semi_y, semi_z, exponent_xy, exponent_z}, NULL, 0,
                          log);
}

scree_Status scree_shape_init_polyhedron(scree_Shape *shape, const scree_Vec3 *vertices,
                                         int vertex_count, const scree_Log *log) {
  const double sharp = 0;
  return scree_shape_init(shape, SCREE_SHAPE_POLYHEDRON, &sharp, vertices, vertex_count, log);
}

scree_Status scree_shape_init_half_space(scree_Shape *shape, const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_HALF_SPACE, NULL, NULL, 0, log);
}

scree_Status scree_shape_init_drum(scree_Shape *shape, double radius, double half_length,
                                   const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_DRUM, (double[]){radius, half_length}, NULL, 0, log);
}

/* ---- support points and bounds ---- */

scree_Vec3 scree_shape_support(const scree_Shape *shape, scree_Vec3 direction) {
  const scree_ShapeClass *class_ = registry[shape->kind];
  return class_->support ? class_->support(shape, direction) : scree_vec3(0, 0, 0);
}

void scree_shape_feature(const scree_Shape *shape, scree_Vec3 direction, scree_Feature *feature) {
  const scree_ShapeClass *class_ = registry[shape->kind];
  if (class_->feature)
    class_->feature(shape, direction, feature);
  else
    scree_feature_point(feature, scree_shape_support(shape, direction), 0);
}

void scree_feature_round(scree_Feature *f, scree_Vec3 direction, double radius) {
  if (!(radius > 0)) return;
  scree_Vec3 out = direction;
  if (f->count == 2) {
    const scree_Vec3 e = scree_sub(f->point[1], f->point[0]);
    const double along = scree_dot(e, out) / scree_norm2(e);
    out = scree_unit_or(scree_axpy(out, -along, e), direction);
  } else if (f->count > 2) { /* Newell's sum: twice the area times the normal */
    scree_Vec3 sum = {0, 0, 0};
    for (int k = 2; k < f->count; ++k)
      sum = scree_add(sum, scree_cross(scree_sub(f->point[k - 1], f->point[0]),
                                       scree_sub(f->point[k], f->point[0])));
    out = scree_unit_or(sum, direction);
  }
  for (int k = 0; k < f->count; ++k) f->point[k] = scree_axpy(f->point[k], radius, out);
}

/* Bounds of a convex shape from its support points in six directions. */
static scree_Aabb bounds_by_support(const scree_ShapeClass *class_, const scree_Shape *shape,
                                    const scree_Mat3 *R, scree_Vec3 p) {
  double low[3], high[3];
  for (int k = 0; k < 3; ++k) {
    /* row k of R is the world axis k in the shape's frame */
    const scree_Vec3 axis =
        scree_vec3(scree_component(R->x, k), scree_component(R->y, k), scree_component(R->z, k));
    high[k] = scree_dot(axis, class_->support(shape, axis));
    low[k] = scree_dot(axis, class_->support(shape, scree_neg(axis)));
  }
  return (scree_Aabb){scree_add(p, scree_vec3(low[0], low[1], low[2])),
                      scree_add(p, scree_vec3(high[0], high[1], high[2]))};
}

scree_Aabb scree_shape_bounds(const scree_Shape *shape, const scree_Mat3 *R, scree_Vec3 p) {
  const scree_ShapeClass *class_ = registry[shape->kind];
  return class_->bounds ? class_->bounds(shape, R, p) : bounds_by_support(class_, shape, R, p);
}

scree_Aabb scree_shape_aabb(const scree_Shape *shape, const scree_Pose *pose) {
  const scree_Mat3 R = scree_quat_matrix(pose->orientation);
  return scree_shape_bounds(shape, &R, pose->position);
}
