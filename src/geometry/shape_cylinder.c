/* Solids of revolution with flat ends: cylinder and cone, along z.
 *
 * Cylinder: radius r, half length h. Cone: base of radius r at the bottom, height H; its centroid
 * is H/4 above the base; half_length holds H/2, so that a scene gives the height of both alike. In
 * contact with another face an end is a polygon of RIM corners on its rim: fixed to the body, so
 * that contacts of a body at rest do not move. The rim between them is at most 1 - cos(pi/RIM)
 * of the radius, 3.4 %, outside of the polygon. */
#include "geometry/shape_class.h"

static const double PI = 3.14159265358979323846;

enum { RIM = SCREE_RIM };

static const scree_ShapeParameter parameters[] = {
    {"radius", SCREE_SHAPE_FIELD(radius), true, 0, false, false, "radius", false},
    {"half_length", SCREE_SHAPE_FIELD(half_length), true, 0, false, false,
     "half the length, along z", false}};
static const scree_ShapeParameter cone_parameters[] = {
    {"radius", SCREE_SHAPE_FIELD(radius), true, 0, false, false, "radius of the base", false},
    {"half_length", SCREE_SHAPE_FIELD(half_length), true, 0, false, false,
     "half the height; the tip points along z", false}};

/* The corners of the end at height z: end 0 faces down, 1 up. */
static void rim(const scree_Shape *s, double z, int end, scree_Feature *out) {
  out->count = RIM;
  for (int k = 0; k < RIM; ++k) {
    const double angle = 2 * PI * (end ? k : RIM - k) / RIM; /* counter-clockwise from outside */
    out->point[k] = scree_vec3(s->radius * cos(angle), s->radius * sin(angle), z);
    out->corner[k] = end * RIM + k;
    out->edge[k] = end * RIM + k;
  }
}

/* ---- cylinder ---- */

static scree_Status init_cylinder(scree_Shape *s, const scree_ShapeSource *source,
                                  const scree_Log *log) {
  (void)source, (void)log;
  const double r = s->radius, h = s->half_length;
  s->bounding_radius = hypot(r, h);
  s->size = 2 * fmin(r, h);
  s->volume = 2 * PI * r * r * h;
  const double across = s->volume * (r * r / 4 + h * h / 3);
  s->inertia = scree_vec3(across, across, s->volume * r * r / 2);
  return SCREE_OK;
}

static scree_Vec3 support_cylinder(const scree_Shape *s, scree_Vec3 d) {
  const double z = d.z < 0 ? -s->half_length : s->half_length, side = hypot(d.x, d.y);
  if (!(side > 0)) return scree_vec3(0, 0, z);
  return scree_vec3(s->radius * d.x / side, s->radius * d.y / side, z);
}

static void feature_cylinder(const scree_Shape *s, scree_Vec3 d, scree_Feature *out) {
  const double h = s->half_length;
  if (fabs(d.z) >= SCREE_FACE_ALIGNED) {
    rim(s, d.z < 0 ? -h : h, d.z >= 0, out);
    return;
  }
  scree_feature_point(out, support_cylinder(s, d), 2 * RIM + (d.z >= 0));
  if (fabs(d.z) > SCREE_EDGE_ALIGNED) return;
  out->count = 2;
  out->point[1] = out->point[0];
  for (int k = 0; k < 2; ++k) {
    out->point[k].z = k ? h : -h;
    out->corner[k] = 2 * RIM + k;
    out->edge[k] = 2 * RIM;
  }
}

const scree_ShapeClass scree_shape_cylinder = {.type = {.name = "cylinder",
                                                        .summary = "cylinder with flat ends",
                                                        .dimension = 3,
                                                        .bounded = true,
                                                        .convex = true,
                                                        SCREE_SHAPE_TABLE(parameters)},
                                               .init = init_cylinder,
                                               .support = support_cylinder,
                                               .feature = feature_cylinder};

/* ---- cone ---- */

static double base_of(const scree_Shape *s) {
  return -0.5 * s->half_length;
}

static double tip_of(const scree_Shape *s) {
  return 1.5 * s->half_length;
}

static scree_Status init_cone(scree_Shape *s, const scree_ShapeSource *source,
                              const scree_Log *log) {
  (void)source, (void)log;
  const double r = s->radius, H = 2 * s->half_length;
  s->bounding_radius = fmax(hypot(r, H / 4), 3 * H / 4);
  s->size = fmin(H, 2 * r * H / hypot(r, H)); /* across the slant */
  s->volume = PI * r * r * H / 3;
  const double across = s->volume * (3 * r * r / 20 + 3 * H * H / 80);
  s->inertia = scree_vec3(across, across, s->volume * 3 * r * r / 10);
  return SCREE_OK;
}

static scree_Vec3 support_cone(const scree_Shape *s, scree_Vec3 d) {
  const double side = hypot(d.x, d.y), z = base_of(s);
  /* the tip is further than the rim: d.z H >= side r */
  if (d.z * 2 * s->half_length >= side * s->radius) return scree_vec3(0, 0, tip_of(s));
  if (!(side > 0)) return scree_vec3(0, 0, z);
  return scree_vec3(s->radius * d.x / side, s->radius * d.y / side, z);
}

static void feature_cone(const scree_Shape *s, scree_Vec3 d, scree_Feature *out) {
  if (d.z <= -SCREE_FACE_ALIGNED) {
    rim(s, base_of(s), 0, out);
    return;
  }
  const double side = hypot(d.x, d.y), H = 2 * s->half_length, slant = hypot(s->radius, H);
  scree_feature_point(out, support_cone(s, d), 2 * RIM + (support_cone(s, d).z > 0));
  /* sine between the direction and the slant line from rim to tip */
  const double sine = (d.z * H - side * s->radius) / slant;
  if (fabs(sine) > SCREE_EDGE_ALIGNED || !(side > 0)) return;
  out->count = 2;
  out->point[0] = scree_vec3(s->radius * d.x / side, s->radius * d.y / side, base_of(s));
  out->point[1] = scree_vec3(0, 0, tip_of(s));
  for (int k = 0; k < 2; ++k) {
    out->corner[k] = 2 * RIM + k;
    out->edge[k] = 2 * RIM;
  }
}

const scree_ShapeClass scree_shape_cone = {.type = {.name = "cone",
                                                    .summary = "cone with a flat base",
                                                    .dimension = 3,
                                                    .bounded = true,
                                                    .convex = true,
                                                    SCREE_SHAPE_TABLE(cone_parameters)},
                                           .init = init_cone,
                                           .support = support_cone,
                                           .feature = feature_cone};
