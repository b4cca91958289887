/* Shapes: parameters, checks, volumes and moments of inertia, support points, bounds (see shape.h).
 *
 * Everything that depends on the kind of a shape and on nothing else is in the table `types`, one
 * row per kind: adding a shape is a row here, its functions, and its line in the pair table
 * (narrow.c).
 *
 * Moments of inertia are for unit density about the centroid: I_x = integral of (y^2 + z^2).
 * Rounded segments and capsules are a rectangle or cylinder of length 2h and two half balls moved
 * out by h, whose cross term 2 h * (first moment of a half ball) is 2 r^3 / 3 in 2D and pi r^4 / 4
 * in 3D. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scree/shape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

#define FIELD(member) offsetof(scree_Shape, member)

static const scree_ShapeParameter radius_parameter[] = {
    {"radius", FIELD(radius), true, 0, false, false, "radius"}};
static const scree_ShapeParameter ellipse_parameters[] = {
    {"semi_x", FIELD(semi.x), true, 0, false, false, "semi-axis along x"},
    {"semi_y", FIELD(semi.y), true, 0, false, false, "semi-axis along y"}};
static const scree_ShapeParameter segment_parameters[] = {
    {"half_length", FIELD(half_length), true, 0, false, false, "half the length, along x"},
    {"radius", FIELD(radius), false, 0, true, false, "rounding; 0 for a line without area"}};
static const scree_ShapeParameter ellipsoid_parameters[] = {
    {"semi_x", FIELD(semi.x), true, 0, false, false, "semi-axis along x"},
    {"semi_y", FIELD(semi.y), true, 0, false, false, "semi-axis along y"},
    {"semi_z", FIELD(semi.z), true, 0, false, false, "semi-axis along z"}};
static const scree_ShapeParameter box_parameters[] = {
    {"half_x", FIELD(semi.x), true, 0, false, false, "half extent along x"},
    {"half_y", FIELD(semi.y), true, 0, false, false, "half extent along y"},
    {"half_z", FIELD(semi.z), true, 0, false, false, "half extent along z"}};
static const scree_ShapeParameter capsule_parameters[] = {
    {"half_length", FIELD(half_length), true, 0, true, false,
     "half the length of the axis, along z"},
    {"radius", FIELD(radius), true, 0, false, false, "radius"}};
static const scree_ShapeParameter drum_parameters[] = {
    {"radius", FIELD(radius), true, 0, false, false, "inner radius"},
    {"half_length", FIELD(half_length), false, INFINITY, false, true,
     "half the length between the end caps, along z; infinite for none"}};

#define TABLE(array) (int)(sizeof(array) / sizeof((array)[0])), array
#define NONE         0, NULL

static const scree_ShapeType types[SCREE_SHAPE_KINDS] = {
    [SCREE_SHAPE_DISK] = {"disk", "disk", 2, true, true, false, TABLE(radius_parameter)},
    [SCREE_SHAPE_ELLIPSE] = {"ellipse", "ellipse", 2, true, true, false, TABLE(ellipse_parameters)},
    [SCREE_SHAPE_POLYGON] = {"polygon", "convex polygon", 2, true, true, true, NONE},
    [SCREE_SHAPE_SEGMENT] = {"segment", "segment, possibly rounded", 2, true, true, false,
                             TABLE(segment_parameters)},
    [SCREE_SHAPE_HALF_PLANE] = {"half-plane", "everything below y = 0", 2, false, false, false,
                                NONE},
    [SCREE_SHAPE_DRUM_2D] = {"drum", "everything outside a circle", 2, false, false, false,
                             TABLE(radius_parameter)},
    [SCREE_SHAPE_SPHERE] = {"sphere", "sphere", 3, true, true, false, TABLE(radius_parameter)},
    [SCREE_SHAPE_ELLIPSOID] = {"ellipsoid", "ellipsoid", 3, true, true, false,
                               TABLE(ellipsoid_parameters)},
    [SCREE_SHAPE_BOX] = {"box", "rectangular block", 3, true, true, false, TABLE(box_parameters)},
    [SCREE_SHAPE_CAPSULE] = {"capsule", "cylinder with round ends", 3, true, true, false,
                             TABLE(capsule_parameters)},
    [SCREE_SHAPE_HALF_SPACE] = {"half-space", "everything below z = 0", 3, false, false, false,
                                NONE},
    [SCREE_SHAPE_DRUM] = {"drum", "everything outside a cylinder", 3, false, false, false,
                          TABLE(drum_parameters)},
};

const scree_ShapeType *scree_shape_type(scree_ShapeKind kind) {
  assert(kind < SCREE_SHAPE_KINDS);
  return &types[kind];
}

scree_ShapeKind scree_shape_kind(const char *name, int dimension) {
  for (int k = 0; k < SCREE_SHAPE_KINDS; k++)
    if (types[k].dimension == dimension && strcmp(types[k].name, name) == 0)
      return (scree_ShapeKind)k;
  return SCREE_SHAPE_KINDS;
}

/* ---- polygons ---- */

static double cross2(scree_Vec3 a, scree_Vec3 b, scree_Vec3 c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static int compare_xy(const void *left, const void *right) {
  const scree_Vec3 *a = left, *b = right;
  if (a->x != b->x) return a->x < b->x ? -1 : 1;
  if (a->y != b->y) return a->y < b->y ? -1 : 1;
  return 0;
}

/* Andrew's monotone chain over sorted points; turns flatter than `flat` (an area) are left out.
 * hull [2 n], counter-clockwise. Returns the number of vertices. */
static int convex_hull(const scree_Vec3 *sorted, int n, double flat, scree_Vec3 *hull) {
  int m = 0;
  for (int pass = 0; pass < 2; pass++) {
    int base = m;
    for (int k = 0; k < n; k++) {
      scree_Vec3 p = sorted[pass ? n - 1 - k : k];
      while (m >= base + 2 && cross2(hull[m - 2], hull[m - 1], p) <= flat) m--;
      hull[m++] = p;
    }
    m--; /* the last point starts the other chain */
  }
  return m;
}

/* The furthest that `p` lies inside the hull, over its nearest edge (<= 0 on or outside it). */
static double depth_inside(const scree_Vec3 *hull, int m, scree_Vec3 p) {
  double depth = INFINITY;
  for (int k = 0; k < m; k++) {
    scree_Vec3 a = hull[k], b = hull[(k + 1) % m];
    double length = scree_norm(scree_sub(b, a));
    depth = fmin(depth, cross2(a, b, p) / length);
  }
  return depth;
}

/* Area, centroid and polar moment by triangles from the first vertex; then the vertices move to the
 * centroid and the outward normals of the edges follow them. */
static void finish_polygon(scree_Shape *shape) {
  int n = shape->vertex_count;
  scree_Vec3 *v = shape->vertices, *normal = v + n, origin = v[0];
  double area2 = 0, mx = 0, my = 0;
  for (int k = 1; k + 1 < n; k++) {
    scree_Vec3 p = scree_sub(v[k], origin), q = scree_sub(v[k + 1], origin);
    double w = p.x * q.y - p.y * q.x;
    area2 += w;
    mx += w * (p.x + q.x);
    my += w * (p.y + q.y);
  }
  scree_Vec3 centroid = scree_vec3(origin.x + mx / (3 * area2), origin.y + my / (3 * area2), 0);
  double polar = 0, radius2 = 0, width = INFINITY;
  for (int k = 0; k < n; k++) v[k] = scree_sub(v[k], centroid);
  for (int k = 0; k < n; k++) {
    scree_Vec3 p = v[k], q = v[(k + 1) % n], e = scree_sub(q, p);
    double w = p.x * q.y - p.y * q.x;
    polar += w * (scree_dot(p, p) + scree_dot(p, q) + scree_dot(q, q));
    radius2 = fmax(radius2, scree_norm2(p));
    normal[k] = scree_unit_or(scree_vec3(e.y, -e.x, 0), scree_vec3(1, 0, 0));
    double across = 0;
    for (int j = 0; j < n; j++) across = fmax(across, scree_dot(normal[k], scree_sub(p, v[j])));
    width = fmin(width, across);
  }
  normal[n] = centroid;
  shape->volume = 0.5 * area2;
  shape->inertia = scree_vec3(0, 0, polar / 12);
  shape->bounding_radius = sqrt(radius2);
  shape->size = width;
}

static scree_Status init_polygon(scree_Shape *shape, const scree_Vec3 *given, int n,
                                 const scree_Log *log) {
  if (n < 3 || !given)
    return scree_fail(log, SCREE_BAD_INPUT, "polygon: found %d vertices, expected at least 3", n);
  double extent = 0;
  for (int k = 0; k < n; k++) {
    if (!isfinite(given[k].x) || !isfinite(given[k].y))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "polygon: vertex %d is (%g, %g), expected finite numbers", k, given[k].x,
                        given[k].y);
    extent = fmax(extent, fmax(fabs(given[k].x - given[0].x), fabs(given[k].y - given[0].y)));
  }
  scree_Vec3 *work = SCREE_ALLOC(scree_Vec3, 3 * (size_t)n + 1);
  if (!work) return scree_fail_memory(log, "the vertices of a polygon");
  scree_Vec3 *sorted = work, *hull = work + n;
  for (int k = 0; k < n; k++) sorted[k] = scree_vec3(given[k].x, given[k].y, 0);
  qsort(sorted, (size_t)n, sizeof *sorted, compare_xy);
  const double slack = 1e-12; /* relative: what rounding may do to points meant to be in line */
  int m = convex_hull(sorted, n, slack * extent * extent, hull);
  scree_Status status = SCREE_OK;
  if (m < 3)
    status = scree_fail(log, SCREE_BAD_INPUT,
                        "polygon: its %d vertices lie on a line, expected an area", n);
  for (int k = 0; k < n && status == SCREE_OK; k++) {
    double depth = depth_inside(hull, m, scree_vec3(given[k].x, given[k].y, 0));
    if (depth > 1e-9 * extent)
      status = scree_fail(log, SCREE_BAD_INPUT,
                          "polygon: vertex %d (%g, %g) lies %g inside the hull of the others, "
                          "expected a convex polygon",
                          k, given[k].x, given[k].y, depth);
  }
  if (status == SCREE_OK) {
    shape->vertices = SCREE_ALLOC(scree_Vec3, 2 * (size_t)m + 1);
    if (!shape->vertices) status = scree_fail_memory(log, "the vertices of a polygon");
  }
  if (status == SCREE_OK) {
    memcpy(shape->vertices, hull, (size_t)m * sizeof *hull);
    shape->vertex_count = m;
    finish_polygon(shape);
  }
  scree_free(work);
  return status;
}

/* ---- derived quantities ---- */

static void derive_round_bar(scree_Shape *s) {
  double r = s->radius, h = s->half_length;
  double r2 = r * r, h2 = h * h;
  s->bounding_radius = h + r;
  s->size = r > 0 ? 2 * r : 2 * h;
  if (s->kind == SCREE_SHAPE_SEGMENT) {
    s->volume = 4 * h * r + PI * r2;
    s->inertia.z = 4 * h * r * (h2 + r2) / 3 + PI * r2 * r2 / 2 + PI * r2 * h2 + 8 * h * r2 * r / 3;
    return;
  }
  double cylinder = 2 * PI * r2 * h, ball = 4 * PI * r2 * r / 3;
  double across = cylinder * (r2 / 4 + h2 / 3) + ball * (2 * r2 / 5 + h2) + PI * r2 * r2 * h;
  s->volume = cylinder + ball;
  s->inertia = scree_vec3(across, across, cylinder * r2 / 2 + ball * 2 * r2 / 5);
}

static void derive(scree_Shape *s) {
  double a = s->semi.x, b = s->semi.y, c = s->semi.z, r = s->radius;
  switch (s->kind) {
  case SCREE_SHAPE_DISK:
    s->bounding_radius = r;
    s->size = 2 * r;
    s->volume = PI * r * r;
    s->inertia.z = s->volume * r * r / 2;
    break;
  case SCREE_SHAPE_ELLIPSE:
    s->bounding_radius = fmax(a, b);
    s->size = 2 * fmin(a, b);
    s->volume = PI * a * b;
    s->inertia.z = s->volume * (a * a + b * b) / 4;
    break;
  case SCREE_SHAPE_SPHERE:
    s->bounding_radius = r;
    s->size = 2 * r;
    s->volume = 4 * PI * r * r * r / 3;
    s->inertia.x = s->inertia.y = s->inertia.z = 2 * s->volume * r * r / 5;
    break;
  case SCREE_SHAPE_ELLIPSOID:
    s->bounding_radius = fmax(a, fmax(b, c));
    s->size = 2 * fmin(a, fmin(b, c));
    s->volume = 4 * PI * a * b * c / 3;
    s->inertia =
        scree_scale(s->volume / 5, scree_vec3(b * b + c * c, a * a + c * c, a * a + b * b));
    break;
  case SCREE_SHAPE_BOX:
    s->bounding_radius = scree_norm(s->semi);
    s->size = 2 * fmin(a, fmin(b, c));
    s->volume = 8 * a * b * c;
    s->inertia =
        scree_scale(s->volume / 3, scree_vec3(b * b + c * c, a * a + c * c, a * a + b * b));
    break;
  case SCREE_SHAPE_SEGMENT:
  case SCREE_SHAPE_CAPSULE: derive_round_bar(s); break;
  case SCREE_SHAPE_HALF_PLANE:
  case SCREE_SHAPE_HALF_SPACE: s->bounding_radius = s->size = INFINITY; break;
  case SCREE_SHAPE_DRUM_2D:
  case SCREE_SHAPE_DRUM:
    s->bounding_radius = INFINITY;
    s->size = r;
    break;
  case SCREE_SHAPE_POLYGON: /* by finish_polygon */
  case SCREE_SHAPE_KINDS: break;
  }
}

scree_Status scree_shape_init(scree_Shape *shape, scree_ShapeKind kind, const double *parameters,
                              const scree_Vec3 *vertices, int vertex_count, const scree_Log *log) {
  memset(shape, 0, sizeof *shape);
  if ((int)kind < 0 || kind >= SCREE_SHAPE_KINDS)
    return scree_fail(log, SCREE_BAD_INPUT, "shape: found kind %d, expected 0 to %d", (int)kind,
                      SCREE_SHAPE_KINDS - 1);
  const scree_ShapeType *type = &types[kind];
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
  if (type->takes_vertices) return init_polygon(shape, vertices, vertex_count, log);
  derive(shape);
  if (type->bounded && !(isfinite(shape->inertia.z) && isfinite(shape->volume)))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: its moment of inertia overflows, expected sizes "
                      "that can be raised to the fifth power",
                      type->name);
  return SCREE_OK;
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
  return scree_shape_init(shape, SCREE_SHAPE_BOX, (double[]){half_x, half_y, half_z}, NULL, 0, log);
}

scree_Status scree_shape_init_capsule(scree_Shape *shape, double half_length, double radius,
                                      const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_CAPSULE, (double[]){half_length, radius}, NULL, 0,
                          log);
}

scree_Status scree_shape_init_half_space(scree_Shape *shape, const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_HALF_SPACE, NULL, NULL, 0, log);
}

scree_Status scree_shape_init_drum(scree_Shape *shape, double radius, double half_length,
                                   const scree_Log *log) {
  return scree_shape_init(shape, SCREE_SHAPE_DRUM, (double[]){radius, half_length}, NULL, 0, log);
}

void scree_shape_fini(scree_Shape *shape) {
  scree_free(shape->vertices);
  shape->vertices = NULL;
  shape->vertex_count = 0;
}

/* ---- support points and bounds ---- */

scree_Vec3 scree_shape_support(const scree_Shape *s, scree_Vec3 d) {
  scree_Vec3 zero = {0, 0, 0};
  switch (s->kind) {
  case SCREE_SHAPE_DISK: d.z = 0; return scree_scale(s->radius, scree_unit_or(d, zero));
  case SCREE_SHAPE_SPHERE: return scree_scale(s->radius, scree_unit_or(d, zero));
  case SCREE_SHAPE_ELLIPSE:
  case SCREE_SHAPE_ELLIPSOID: {
    scree_Vec3 l = scree_vec3(s->semi.x * d.x, s->semi.y * d.y, s->semi.z * d.z);
    l = scree_unit_or(l, zero);
    return scree_vec3(s->semi.x * l.x, s->semi.y * l.y, s->semi.z * l.z);
  }
  case SCREE_SHAPE_BOX:
    return scree_vec3(d.x < 0 ? -s->semi.x : s->semi.x, d.y < 0 ? -s->semi.y : s->semi.y,
                      d.z < 0 ? -s->semi.z : s->semi.z);
  case SCREE_SHAPE_SEGMENT: {
    d.z = 0;
    scree_Vec3 end = scree_vec3(d.x < 0 ? -s->half_length : s->half_length, 0, 0);
    return scree_axpy(end, s->radius, scree_unit_or(d, zero));
  }
  case SCREE_SHAPE_CAPSULE: {
    scree_Vec3 end = scree_vec3(0, 0, d.z < 0 ? -s->half_length : s->half_length);
    return scree_axpy(end, s->radius, scree_unit_or(d, zero));
  }
  case SCREE_SHAPE_POLYGON: {
    int best = 0;
    double most = scree_dot(d, s->vertices[0]);
    for (int k = 1; k < s->vertex_count; k++) {
      double value = scree_dot(d, s->vertices[k]);
      if (value > most) most = value, best = k;
    }
    return s->vertices[best];
  }
  default: return zero;
  }
}

/* The half-space of outward normal n through p is bounded only when n is exactly along an axis. */
static scree_Aabb half_space_bounds(scree_Vec3 n, scree_Vec3 p) {
  scree_Aabb box = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  if (n.y == 0 && n.z == 0) *(n.x > 0 ? &box.upper.x : &box.lower.x) = p.x;
  if (n.x == 0 && n.z == 0) *(n.y > 0 ? &box.upper.y : &box.lower.y) = p.y;
  if (n.x == 0 && n.y == 0) *(n.z > 0 ? &box.upper.z : &box.lower.z) = p.z;
  return box;
}

scree_Aabb scree_shape_aabb(const scree_Shape *s, const scree_Pose *pose) {
  scree_Vec3 p = pose->position, half;
  if (scree_shape_is_ball(s)) {
    double z = s->kind == SCREE_SHAPE_DISK ? 0 : s->radius;
    half = scree_vec3(s->radius, s->radius, z);
    return (scree_Aabb){scree_sub(p, half), scree_add(p, half)};
  }
  scree_Mat3 R = scree_quat_matrix(pose->orientation);
  scree_Vec3 e = s->semi;
  switch (s->kind) {
  case SCREE_SHAPE_ELLIPSE:
  case SCREE_SHAPE_ELLIPSOID:
    half.x = scree_norm(scree_vec3(R.x.x * e.x, R.y.x * e.y, R.z.x * e.z));
    half.y = scree_norm(scree_vec3(R.x.y * e.x, R.y.y * e.y, R.z.y * e.z));
    half.z = scree_norm(scree_vec3(R.x.z * e.x, R.y.z * e.y, R.z.z * e.z));
    break;
  case SCREE_SHAPE_BOX:
    half.x = fabs(R.x.x) * e.x + fabs(R.y.x) * e.y + fabs(R.z.x) * e.z;
    half.y = fabs(R.x.y) * e.x + fabs(R.y.y) * e.y + fabs(R.z.y) * e.z;
    half.z = fabs(R.x.z) * e.x + fabs(R.y.z) * e.y + fabs(R.z.z) * e.z;
    break;
  case SCREE_SHAPE_SEGMENT:
  case SCREE_SHAPE_CAPSULE: {
    scree_Vec3 axis = s->kind == SCREE_SHAPE_SEGMENT ? R.x : R.z;
    half = scree_vec3(
        s->half_length * fabs(axis.x) + s->radius, s->half_length * fabs(axis.y) + s->radius,
        s->kind == SCREE_SHAPE_SEGMENT ? 0 : s->half_length * fabs(axis.z) + s->radius);
    break;
  }
  case SCREE_SHAPE_POLYGON: {
    scree_Aabb box = {{INFINITY, INFINITY, p.z}, {-INFINITY, -INFINITY, p.z}};
    for (int k = 0; k < s->vertex_count; k++) {
      scree_Vec3 v = scree_add(p, scree_mat3_mul(&R, s->vertices[k]));
      box.lower.x = fmin(box.lower.x, v.x);
      box.lower.y = fmin(box.lower.y, v.y);
      box.upper.x = fmax(box.upper.x, v.x);
      box.upper.y = fmax(box.upper.y, v.y);
    }
    return box;
  }
  case SCREE_SHAPE_HALF_PLANE: return half_space_bounds(R.y, p);
  case SCREE_SHAPE_HALF_SPACE: return half_space_bounds(R.z, p);
  default: half = scree_vec3(INFINITY, INFINITY, INFINITY); break;
  }
  return (scree_Aabb){scree_sub(p, half), scree_add(p, half)};
}
