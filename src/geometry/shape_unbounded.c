/* Unbounded obstacles: half-plane, half-space and the inside of drums. */
#include "geometry/shape_class.h"

static const scree_ShapeParameter radius_parameter[] = {
    {"radius", SCREE_SHAPE_FIELD(radius), true, 0, false, false, "radius", false}};
static const scree_ShapeParameter drum_parameters[] = {
    {"radius", SCREE_SHAPE_FIELD(radius), true, 0, false, false, "inner radius", false},
    {"half_length", SCREE_SHAPE_FIELD(half_length), false, INFINITY, false, true,
     "half the length between the end caps, along z; infinite for none", false}};

static scree_Status init_half_space(scree_Shape *s, const scree_ShapeSource *source,
                                    const scree_Log *log) {
  (void)source, (void)log;
  s->bounding_radius = s->size = INFINITY;
  return SCREE_OK;
}

static scree_Status init_drum(scree_Shape *s, const scree_ShapeSource *source,
                              const scree_Log *log) {
  (void)source, (void)log;
  s->bounding_radius = INFINITY;
  s->size = s->radius;
  return SCREE_OK;
}

/* The half-space of outward normal n through p is bounded only when n is exactly along an axis. */
static scree_Aabb half_space_bounds(scree_Vec3 n, scree_Vec3 p) {
  scree_Aabb box = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  if (n.y == 0 && n.z == 0) *(n.x > 0 ? &box.upper.x : &box.lower.x) = p.x;
  if (n.x == 0 && n.z == 0) *(n.y > 0 ? &box.upper.y : &box.lower.y) = p.y;
  if (n.x == 0 && n.y == 0) *(n.z > 0 ? &box.upper.z : &box.lower.z) = p.z;
  return box;
}

static scree_Aabb bounds_half_plane(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  (void)s;
  return half_space_bounds(R->y, p);
}

static scree_Aabb bounds_half_space(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  (void)s;
  return half_space_bounds(R->z, p);
}

static scree_Aabb bounds_drum(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  (void)s, (void)R;
  return scree_bounds_about(p, INFINITY, INFINITY, INFINITY);
}

const scree_ShapeClass scree_shape_half_plane = {
    .type = {.name = "half-plane", .summary = "half-plane below y = 0", .dimension = 2},
    .init = init_half_space,
    .bounds = bounds_half_plane};
const scree_ShapeClass scree_shape_half_space = {
    .type = {.name = "half-space", .summary = "half-space below z = 0", .dimension = 3},
    .init = init_half_space,
    .bounds = bounds_half_space};
const scree_ShapeClass scree_shape_drum_2d = {
    .type = {.name = "drum",
             .summary = "inner surface of a circle; the solid is outside",
             .dimension = 2,
             SCREE_SHAPE_TABLE(radius_parameter)},
    .init = init_drum,
    .bounds = bounds_drum};
const scree_ShapeClass scree_shape_drum = {
    .type = {.name = "drum",
             .summary = "inner surface of a cylinder along z; the solid is outside",
             .dimension = 3,
             SCREE_SHAPE_TABLE(drum_parameters)},
    .init = init_drum,
    .bounds = bounds_drum};
