/* Round shapes: disk, sphere, ellipse, ellipsoid, segment and capsule.
 *
 * Moments of inertia are for unit density about the centroid: I_x = integral of (y^2 + z^2).
 * Rounded segments and capsules are a rectangle or cylinder of length 2h and two half balls moved
 * out by h, whose cross term 2 h * (first moment of a half ball) is 2 r^3 / 3 in 2D and pi r^4 / 4
 * in 3D. */
#include "geometry/shape_class.h"

static const double PI = 3.14159265358979323846;
static const scree_Vec3 zero = {0, 0, 0};

static const scree_ShapeParameter radius_parameter[] = {
    {"radius", SCREE_SHAPE_FIELD(radius), true, 0, false, false, "radius", false}};
static const scree_ShapeParameter ellipse_parameters[] = {
    {"semi_x", SCREE_SHAPE_FIELD(semi.x), true, 0, false, false, "semi-axis along x", false},
    {"semi_y", SCREE_SHAPE_FIELD(semi.y), true, 0, false, false, "semi-axis along y", false}};
static const scree_ShapeParameter ellipsoid_parameters[] = {
    {"semi_x", SCREE_SHAPE_FIELD(semi.x), true, 0, false, false, "semi-axis along x", false},
    {"semi_y", SCREE_SHAPE_FIELD(semi.y), true, 0, false, false, "semi-axis along y", false},
    {"semi_z", SCREE_SHAPE_FIELD(semi.z), true, 0, false, false, "semi-axis along z", false}};
static const scree_ShapeParameter segment_parameters[] = {
    {"half_length", SCREE_SHAPE_FIELD(half_length), true, 0, false, false,
     "half the length, along x", false},
    {"radius", SCREE_SHAPE_FIELD(radius), false, 0, true, false,
     "rounding; 0 for a line without area", false}};
static const scree_ShapeParameter capsule_parameters[] = {
    {"half_length", SCREE_SHAPE_FIELD(half_length), true, 0, true, false,
     "half the length of the axis, along z", false},
    {"radius", SCREE_SHAPE_FIELD(radius), true, 0, false, false, "radius", false}};

/* ---- balls ---- */

static scree_Status init_ball(scree_Shape *s, const scree_ShapeSource *source,
                              const scree_Log *log) {
  (void)source, (void)log;
  const double r = s->radius;
  s->bounding_radius = r;
  s->size = 2 * r;
  if (s->kind == SCREE_SHAPE_DISK) {
    s->volume = PI * r * r;
    s->inertia.z = s->volume * r * r / 2;
  } else {
    s->volume = 4 * PI * r * r * r / 3;
    s->inertia.x = s->inertia.y = s->inertia.z = 2 * s->volume * r * r / 5;
  }
  return SCREE_OK;
}

static scree_Vec3 support_ball(const scree_Shape *s, scree_Vec3 d) {
  if (s->kind == SCREE_SHAPE_DISK) d.z = 0;
  return scree_scale(s->radius, scree_unit_or(d, zero));
}

static scree_Aabb bounds_ball(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  (void)R;
  return scree_bounds_about(p, s->radius, s->radius, s->kind == SCREE_SHAPE_DISK ? 0 : s->radius);
}

const scree_ShapeClass scree_shape_disk = {.type = {.name = "disk",
                                                    .summary = "disk",
                                                    .dimension = 2,
                                                    .bounded = true,
                                                    .convex = true,
                                                    SCREE_SHAPE_TABLE(radius_parameter)},
                                           .rounded = true,
                                           .init = init_ball,
                                           .support = support_ball,
                                           .bounds = bounds_ball};
const scree_ShapeClass scree_shape_sphere = {.type = {.name = "sphere",
                                                      .summary = "sphere",
                                                      .dimension = 3,
                                                      .bounded = true,
                                                      .convex = true,
                                                      SCREE_SHAPE_TABLE(radius_parameter)},
                                             .rounded = true,
                                             .init = init_ball,
                                             .support = support_ball,
                                             .bounds = bounds_ball};

/* ---- ellipses and ellipsoids ---- */

static scree_Status init_ellipse(scree_Shape *s, const scree_ShapeSource *source,
                                 const scree_Log *log) {
  (void)source, (void)log;
  const double a = s->semi.x, b = s->semi.y;
  s->bounding_radius = fmax(a, b);
  s->size = 2 * fmin(a, b);
  s->volume = PI * a * b;
  s->inertia.z = s->volume * (a * a + b * b) / 4;
  return SCREE_OK;
}

static scree_Status init_ellipsoid(scree_Shape *s, const scree_ShapeSource *source,
                                   const scree_Log *log) {
  (void)source, (void)log;
  const double a = s->semi.x, b = s->semi.y, c = s->semi.z;
  s->bounding_radius = fmax(a, fmax(b, c));
  s->size = 2 * fmin(a, fmin(b, c));
  s->volume = 4 * PI * a * b * c / 3;
  s->inertia = scree_scale(s->volume / 5, scree_vec3(b * b + c * c, a * a + c * c, a * a + b * b));
  return SCREE_OK;
}

static scree_Vec3 support_elliptic(const scree_Shape *s, scree_Vec3 d) {
  scree_Vec3 l = scree_vec3(s->semi.x * d.x, s->semi.y * d.y, s->semi.z * d.z);
  l = scree_unit_or(l, zero);
  return scree_vec3(s->semi.x * l.x, s->semi.y * l.y, s->semi.z * l.z);
}

static scree_Aabb bounds_elliptic(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  const scree_Vec3 e = s->semi;
  return scree_bounds_about(p, scree_norm(scree_vec3(R->x.x * e.x, R->y.x * e.y, R->z.x * e.z)),
                            scree_norm(scree_vec3(R->x.y * e.x, R->y.y * e.y, R->z.y * e.z)),
                            scree_norm(scree_vec3(R->x.z * e.x, R->y.z * e.y, R->z.z * e.z)));
}

const scree_ShapeClass scree_shape_ellipse = {.type = {.name = "ellipse",
                                                       .summary = "ellipse",
                                                       .dimension = 2,
                                                       .bounded = true,
                                                       .convex = true,
                                                       SCREE_SHAPE_TABLE(ellipse_parameters)},
                                              .init = init_ellipse,
                                              .support = support_elliptic,
                                              .bounds = bounds_elliptic};
const scree_ShapeClass scree_shape_ellipsoid = {.type = {.name = "ellipsoid",
                                                         .summary = "ellipsoid",
                                                         .dimension = 3,
                                                         .bounded = true,
                                                         .convex = true,
                                                         SCREE_SHAPE_TABLE(ellipsoid_parameters)},
                                                .init = init_ellipsoid,
                                                .support = support_elliptic,
                                                .bounds = bounds_elliptic};

/* ---- segments and capsules ---- */

static scree_Status init_bar(scree_Shape *s, const scree_ShapeSource *source,
                             const scree_Log *log) {
  (void)source, (void)log;
  const double r = s->radius, h = s->half_length, r2 = r * r, h2 = h * h;
  s->bounding_radius = h + r;
  s->size = r > 0 ? 2 * r : 2 * h;
  if (s->kind == SCREE_SHAPE_SEGMENT) {
    s->volume = 4 * h * r + PI * r2;
    s->inertia.z = 4 * h * r * (h2 + r2) / 3 + PI * r2 * r2 / 2 + PI * r2 * h2 + 8 * h * r2 * r / 3;
    return SCREE_OK;
  }
  const double cylinder = 2 * PI * r2 * h, ball = 4 * PI * r2 * r / 3;
  const double across = cylinder * (r2 / 4 + h2 / 3) + ball * (2 * r2 / 5 + h2) + PI * r2 * r2 * h;
  s->volume = cylinder + ball;
  s->inertia = scree_vec3(across, across, cylinder * r2 / 2 + ball * 2 * r2 / 5);
  return SCREE_OK;
}

static scree_Vec3 support_segment(const scree_Shape *s, scree_Vec3 d) {
  d.z = 0;
  const scree_Vec3 end = scree_vec3(d.x < 0 ? -s->half_length : s->half_length, 0, 0);
  return scree_axpy(end, s->radius, scree_unit_or(d, zero));
}

static scree_Vec3 support_capsule(const scree_Shape *s, scree_Vec3 d) {
  const scree_Vec3 end = scree_vec3(0, 0, d.z < 0 ? -s->half_length : s->half_length);
  return scree_axpy(end, s->radius, scree_unit_or(d, zero));
}

static void feature_capsule(const scree_Shape *s, scree_Vec3 d, scree_Feature *out) {
  scree_feature_point(out, support_capsule(s, d), d.z >= 0);
  if (fabs(d.z) > SCREE_EDGE_ALIGNED || !(s->half_length > 0)) return;
  out->count = 2;
  for (int k = 0; k < 2; ++k) {
    const scree_Vec3 end = scree_vec3(0, 0, k ? s->half_length : -s->half_length);
    out->point[k] = scree_axpy(end, s->radius, d);
    out->corner[k] = k;
    out->edge[k] = 0;
  }
}

static scree_Aabb bounds_segment(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  const double h = s->half_length, r = s->radius;
  return scree_bounds_about(p, h * fabs(R->x.x) + r, h * fabs(R->x.y) + r, 0);
}

static scree_Aabb bounds_capsule(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  const double h = s->half_length, r = s->radius;
  return scree_bounds_about(p, h * fabs(R->z.x) + r, h * fabs(R->z.y) + r, h * fabs(R->z.z) + r);
}

const scree_ShapeClass scree_shape_segment = {.type = {.name = "segment",
                                                       .summary = "segment, optionally rounded",
                                                       .dimension = 2,
                                                       .bounded = true,
                                                       .convex = true,
                                                       SCREE_SHAPE_TABLE(segment_parameters)},
                                              .rounded = true,
                                              .init = init_bar,
                                              .support = support_segment,
                                              .bounds = bounds_segment};
const scree_ShapeClass scree_shape_capsule = {
    .type = {.name = "capsule",
             .summary = "cylinder with hemispherical ends",
             .dimension = 3,
             .bounded = true,
             .convex = true,
             SCREE_SHAPE_TABLE(capsule_parameters)},
    .rounded = true,
    .init = init_bar,
    .support = support_capsule,
    .bounds = bounds_capsule,
    .feature = feature_capsule};
