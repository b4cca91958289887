/* Triangle mesh, height field and rectangle as obstacles: surfaces with the solid on their back
 * side. */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/shape_class.h"
#include "geometry/trimesh.h"

static const scree_ShapeParameter rectangle_parameters[] = {
    {"half_x", SCREE_SHAPE_FIELD(semi.x), true, 0, false, false, "half extent along x", false},
    {"half_y", SCREE_SHAPE_FIELD(semi.y), true, 0, false, false, "half extent along y", false}};

static scree_Status init_with(scree_Shape *s, const scree_ShapeSource *source,
                              const scree_Log *log) {
  s->data = scree_shape_data_create();
  if (!s->data) return scree_fail_memory(log, "a mesh");
  const scree_Status status =
      scree_trimesh_create(source->vertices, source->vertex_count, source->triangles,
                           source->triangle_count, &s->data->mesh, log);
  if (status) return status;
  for (int k = 0; k < source->vertex_count; ++k)
    s->bounding_radius = fmax(s->bounding_radius, scree_norm(source->vertices[k]));
  s->size = INFINITY; /* gaps are relative to the size of the body that touches it */
  return SCREE_OK;
}

static scree_Status init_mesh(scree_Shape *s, const scree_ShapeSource *source,
                              const scree_Log *log) {
  const scree_Status status = init_with(s, source, log);
  if (status) return status;
  s->vertices = s->data->mesh->vertex;
  s->vertex_count = s->data->mesh->vertex_count;
  return SCREE_OK;
}

static scree_Status init_rectangle(scree_Shape *s, const scree_ShapeSource *source,
                                   const scree_Log *log) {
  (void)source;
  const double x = s->semi.x, y = s->semi.y;
  const scree_Vec3 corners[4] = {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
  const int triangles[6] = {0, 1, 2, 0, 2, 3};
  const scree_ShapeSource own = {
      .vertices = corners, .vertex_count = 4, .triangles = triangles, .triangle_count = 2};
  return init_with(s, &own, log);
}

static scree_Aabb bounds(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  /* of the bounding box of the mesh in its own frame: exact bounds of many vertices cost too
   * much */
  const scree_Aabb own = s->data->mesh->node[0].bounds;
  const scree_Vec3 middle = scree_scale(0.5, scree_add(own.lower, own.upper));
  const scree_Vec3 e = scree_scale(0.5, scree_sub(own.upper, own.lower));
  return scree_bounds_about(scree_add(p, scree_mat3_mul(R, middle)),
                            fabs(R->x.x) * e.x + fabs(R->y.x) * e.y + fabs(R->z.x) * e.z,
                            fabs(R->x.y) * e.x + fabs(R->y.y) * e.y + fabs(R->z.y) * e.z,
                            fabs(R->x.z) * e.x + fabs(R->y.z) * e.y + fabs(R->z.z) * e.z);
}

const scree_ShapeClass scree_shape_mesh = {
    .type = {.name = "mesh",
             .summary = "surface of triangles; the solid is on their back side",
             .dimension = 3,
             .takes_vertices = true,
             .takes_triangles = true},
    .init = init_mesh,
    .bounds = bounds};

const scree_ShapeClass scree_shape_height_field = {
    .type = {.name = "height-field",
             .summary = "surface of heights over a grid in the plane z = 0; the solid is below it",
             .dimension = 3,
             .takes_heights = true},
    .init = init_mesh,
    .bounds = bounds};

const scree_ShapeClass scree_shape_rectangle = {
    .type = {.name = "rectangle",
             .summary = "rectangle in the plane z = 0; the solid is below it",
             .dimension = 3,
             SCREE_SHAPE_TABLE(rectangle_parameters)},
    .init = init_rectangle,
    .bounds = bounds};
