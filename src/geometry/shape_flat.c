/* Flat shapes: convex polygon and box. */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/shape_class.h"

#include <stdlib.h>
#include <string.h>

static const scree_ShapeParameter box_parameters[] = {
    {"half_x", SCREE_SHAPE_FIELD(semi.x), true, 0, false, false, "half extent along x", false},
    {"half_y", SCREE_SHAPE_FIELD(semi.y), true, 0, false, false, "half extent along y", false},
    {"half_z", SCREE_SHAPE_FIELD(semi.z), true, 0, false, false, "half extent along z", false},
    {"radius", SCREE_SHAPE_FIELD(radius), false, 0, true, false,
     "rounding around the half extents, which are those of the flat faces", false}};

static const double PI = 3.14159265358979323846;

/* ---- box ---- */

/* Integral of x^2 over a box of half extents a (along x), b, c rounded by r: the box, the slabs on
 * its faces, the quarter cylinders along its edges (area pi r^2/4, first moment r^3/3 and second
 * pi r^4/16 about their axis), the octants of a ball at its corners (pi r^3/6, pi r^4/16,
 * pi r^5/30). */
static double second_of_rounded(double a, double b, double c, double r) {
  const double r2 = r * r, r4 = r2 * r2, out = a + r;
  const double within = 2 * a * a * a / 3; /* of x^2 over [-a, a] */
  const double slabs = 8 * b * c * (out * out * out - a * a * a) / 3 + 4 * r * within * (b + c);
  const double along = PI * r2 * within;
  const double across = 8 * (b + c) * (PI * r2 / 4 * a * a + 2 * a * r2 * r / 3 + PI * r4 / 16);
  const double corners = 8 * (PI * r2 * r / 6 * a * a + a * PI * r4 / 8 + PI * r4 * r / 30);
  return 4 * b * c * within + slabs + along + across + corners;
}

static scree_Status init_box(scree_Shape *s, const scree_ShapeSource *source,
                             const scree_Log *log) {
  (void)source, (void)log;
  const double a = s->semi.x, b = s->semi.y, c = s->semi.z, r = s->radius, r2 = r * r;
  s->bounding_radius = scree_norm(s->semi) + r;
  s->size = 2 * (fmin(a, fmin(b, c)) + r);
  s->volume = 8 * a * b * c;
  s->inertia = scree_scale(s->volume / 3, scree_vec3(b * b + c * c, a * a + c * c, a * a + b * b));
  if (!(r > 0)) return SCREE_OK;
  s->volume += 8 * r * (a * b + b * c + c * a) + 2 * PI * r2 * (a + b + c) + 4 * PI * r2 * r / 3;
  const double x = second_of_rounded(a, b, c, r), y = second_of_rounded(b, c, a, r);
  const double z = second_of_rounded(c, a, b, r);
  s->inertia = scree_vec3(y + z, z + x, x + y);
  return SCREE_OK;
}

static scree_Vec3 support_box(const scree_Shape *s, scree_Vec3 d) {
  const scree_Vec3 corner =
      scree_vec3(d.x < 0 ? -s->semi.x : s->semi.x, d.y < 0 ? -s->semi.y : s->semi.y,
                 d.z < 0 ? -s->semi.z : s->semi.z);
  if (!(s->radius > 0)) return corner;
  return scree_axpy(corner, s->radius, scree_unit_or(d, scree_vec3(0, 0, 0)));
}

static scree_Aabb bounds_box(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  const scree_Vec3 e = s->semi;
  const double r = s->radius;
  return scree_bounds_about(p, fabs(R->x.x) * e.x + fabs(R->y.x) * e.y + fabs(R->z.x) * e.z + r,
                            fabs(R->x.y) * e.x + fabs(R->y.y) * e.y + fabs(R->z.y) * e.z + r,
                            fabs(R->x.z) * e.x + fabs(R->y.z) * e.y + fabs(R->z.z) * e.z + r);
}

/* Corner with bit k set on the positive side of axis k; edges along axis k: 4 k + the bits of the
 * other two (as in collide_flat3.c). */
static scree_Vec3 corner_of(const scree_Shape *s, int bits) {
  return scree_vec3(bits & 1 ? s->semi.x : -s->semi.x, bits & 2 ? s->semi.y : -s->semi.y,
                    bits & 4 ? s->semi.z : -s->semi.z);
}

static int edge_of(int axis, int bits) {
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  return 4 * axis + 2 * (bits >> i & 1) + (bits >> j & 1);
}

/* The feature of the box without its rounding. */
static void feature_core(const scree_Shape *s, scree_Vec3 d, scree_Feature *out) {
  const double x[3] = {d.x, d.y, d.z};
  int most = 0, least = 0, bits = 0;
  for (int k = 0; k < 3; ++k) {
    if (fabs(x[k]) > fabs(x[most])) most = k;
    if (fabs(x[k]) < fabs(x[least])) least = k;
    if (x[k] >= 0) bits |= 1 << k;
  }
  if (fabs(x[most]) >= SCREE_FACE_ALIGNED) {
    int i = (most + 1) % 3, j = (most + 2) % 3;
    const int base = bits & 1 << most;
    if (!base) { /* counter-clockwise from outside */
      const int swap = i;
      i = j;
      j = swap;
    }
    const int corners[4] = {base, base | 1 << i, base | 1 << i | 1 << j, base | 1 << j};
    const int along[4] = {i, j, i, j};
    out->count = 4;
    for (int k = 0; k < 4; ++k) {
      out->point[k] = corner_of(s, corners[k]);
      out->corner[k] = corners[k];
      out->edge[k] = edge_of(along[k], corners[k]);
    }
    return;
  }
  scree_feature_point(out, corner_of(s, bits), bits);
  if (fabs(x[least]) > SCREE_EDGE_ALIGNED) return;
  out->count = 2;
  for (int k = 0; k < 2; ++k) {
    const int end = (bits & ~(1 << least)) | k << least;
    out->point[k] = corner_of(s, end);
    out->corner[k] = end;
    out->edge[k] = edge_of(least, bits);
  }
}

static void feature_box(const scree_Shape *s, scree_Vec3 d, scree_Feature *out) {
  feature_core(s, d, out);
  scree_feature_round(out, d, s->radius);
}

const scree_ShapeClass scree_shape_box = {.type = {.name = "box",
                                                   .summary = "rectangular block",
                                                   .dimension = 3,
                                                   .bounded = true,
                                                   .convex = true,
                                                   SCREE_SHAPE_TABLE(box_parameters)},
                                          .rounded = true,
                                          .init = init_box,
                                          .support = support_box,
                                          .bounds = bounds_box,
                                          .feature = feature_box};

/* ---- polygon ---- */

static double cross2(scree_Vec3 a, scree_Vec3 b, scree_Vec3 c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static int compare_xy(const void *left, const void *right) {
  const scree_Vec3 *a = left, *b = right;
  if (a->x != b->x) return a->x < b->x ? -1 : 1;
  if (a->y != b->y) return a->y < b->y ? -1 : 1;
  return 0;
}

/* Andrew's monotone chain over sorted points; turns flatter than `flat` (an area) are skipped. hull
 * [2 n], counter-clockwise. Returns the number of vertices. */
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
  scree_Vec3 *v = shape->data->vertices, *normal = v + n, origin = v[0];
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
  shape->data->frame.position = centroid;
  shape->volume = 0.5 * area2;
  shape->inertia = scree_vec3(0, 0, polar / 12);
  shape->bounding_radius = sqrt(radius2);
  shape->size = width;
}

static scree_Status init_polygon(scree_Shape *shape, const scree_ShapeSource *source,
                                 const scree_Log *log) {
  const scree_Vec3 *given = source->vertices;
  const int n = source->vertex_count;
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
  const double slack = 1e-12; /* relative: rounding of points that are meant to be collinear */
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
  scree_ShapeData *data = status == SCREE_OK ? scree_shape_data_create() : NULL;
  if (data) data->vertices = SCREE_ALLOC(scree_Vec3, 2 * (size_t)m);
  shape->data = data;
  if (data && data->vertices) {
    memcpy(data->vertices, hull, (size_t)m * sizeof *hull);
    shape->vertices = data->vertices;
    shape->vertex_count = m;
    finish_polygon(shape);
  } else if (status == SCREE_OK) {
    status = scree_fail_memory(log, "the vertices of a polygon");
  }
  scree_free(work);
  return status;
}

static scree_Vec3 support_polygon(const scree_Shape *s, scree_Vec3 d) {
  int best = 0;
  double most = scree_dot(d, s->vertices[0]);
  for (int k = 1; k < s->vertex_count; k++) {
    double value = scree_dot(d, s->vertices[k]);
    if (value > most) most = value, best = k;
  }
  return s->vertices[best];
}

static scree_Aabb bounds_polygon(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  scree_Aabb box = {{INFINITY, INFINITY, p.z}, {-INFINITY, -INFINITY, p.z}};
  for (int k = 0; k < s->vertex_count; k++) {
    scree_Vec3 v = scree_add(p, scree_mat3_mul(R, s->vertices[k]));
    box.lower.x = fmin(box.lower.x, v.x);
    box.lower.y = fmin(box.lower.y, v.y);
    box.upper.x = fmax(box.upper.x, v.x);
    box.upper.y = fmax(box.upper.y, v.y);
  }
  return box;
}

const scree_ShapeClass scree_shape_polygon = {.type = {.name = "polygon",
                                                       .summary = "convex polygon",
                                                       .dimension = 2,
                                                       .bounded = true,
                                                       .convex = true,
                                                       .takes_vertices = true},
                                              .init = init_polygon,
                                              .support = support_polygon,
                                              .bounds = bounds_polygon};
