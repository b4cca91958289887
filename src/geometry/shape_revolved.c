/* Walls of revolution about z as obstacles: pipe and funnel, touched from inside, and ring,
 * touched from above. All three are a straight line of the half-plane (distance from the axis, z)
 * rotated about the axis (revolved.h). */
#include "core/log.h"
#include "geometry/revolved.h"
#include "geometry/shape_class.h"

static const scree_ShapeParameter pipe_parameters[] = {
    {"radius", SCREE_SHAPE_FIELD(radius), true, 0, false, false, "inner radius", false},
    {"half_length", SCREE_SHAPE_FIELD(half_length), true, 0, false, false,
     "half the length, along z; both ends are open", false}};
static const scree_ShapeParameter funnel_parameters[] = {
    {"radius", SCREE_SHAPE_FIELD(radius), true, 0, true, false,
     "inner radius at the bottom; 0: closed by its tip", false},
    {"top_radius", SCREE_SHAPE_FIELD(semi.x), true, 0, false, false, "inner radius at the top",
     false},
    {"half_length", SCREE_SHAPE_FIELD(half_length), true, 0, false, false,
     "half the height, along z; the ends are open", false}};
static const scree_ShapeParameter ring_parameters[] = {
    {"radius", SCREE_SHAPE_FIELD(radius), true, 0, false, false, "outer radius", false},
    {"hole_radius", SCREE_SHAPE_FIELD(semi.x), false, 0, true, false, "radius of the hole; 0: none",
     false}};

scree_Meridian scree_shape_meridian(const scree_Shape *s) {
  const double h = s->kind == SCREE_SHAPE_RING ? 0 : s->half_length;
  const double first = s->kind == SCREE_SHAPE_RING ? s->semi.x : s->radius;
  const double last = s->kind == SCREE_SHAPE_FUNNEL ? s->semi.x : s->radius;
  const double length = hypot(last - first, 2 * h);
  return (scree_Meridian){{first, -h},
                          {(last - first) / length, 2 * h / length},
                          {-2 * h / length, (last - first) / length},
                          length};
}

static scree_Status init(scree_Shape *s, const scree_ShapeSource *source, const scree_Log *log) {
  (void)source;
  if (s->kind == SCREE_SHAPE_RING && !(s->semi.x < s->radius))
    return scree_fail(log, SCREE_BAD_INPUT, "ring: hole_radius is %g, expected less than radius %g",
                      s->semi.x, s->radius);
  const double widest = s->kind == SCREE_SHAPE_FUNNEL ? fmax(s->radius, s->semi.x) : s->radius;
  s->bounding_radius = hypot(widest, s->kind == SCREE_SHAPE_RING ? 0 : s->half_length);
  s->size = widest;
  return SCREE_OK;
}

static scree_Aabb bounds(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  const double widest = s->kind == SCREE_SHAPE_FUNNEL ? fmax(s->radius, s->semi.x) : s->radius;
  const double h = s->kind == SCREE_SHAPE_RING ? 0 : s->half_length;
  double reach[3];
  for (int k = 0; k < 3; ++k) {
    const double z = scree_component(R->z, k);
    reach[k] = widest * sqrt(fmax(0, 1 - z * z)) + h * fabs(z);
  }
  return scree_bounds_about(p, reach[0], reach[1], reach[2]);
}

const scree_ShapeClass scree_shape_pipe = {
    .type = {.name = "pipe",
             .summary = "inner surface of a cylinder along z, open at both ends",
             .dimension = 3,
             SCREE_SHAPE_TABLE(pipe_parameters)},
    .init = init,
    .bounds = bounds};
const scree_ShapeClass scree_shape_funnel = {
    .type = {.name = "funnel",
             .summary = "inner surface of a cone along z, open at both ends",
             .dimension = 3,
             SCREE_SHAPE_TABLE(funnel_parameters)},
    .init = init,
    .bounds = bounds};
const scree_ShapeClass scree_shape_ring = {
    .type = {.name = "ring",
             .summary = "disk in the plane z = 0 with a hole; the solid is below it",
             .dimension = 3,
             SCREE_SHAPE_TABLE(ring_parameters)},
    .init = init,
    .bounds = bounds};
