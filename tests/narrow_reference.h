/* Random shapes and poses, and a second method for the distance of convex bodies, which knows only
 * support functions: the largest separation over all directions, searched for on a dense set of
 * directions and refined by shrinking random steps. */
#ifndef TESTS_NARROW_REFERENCE_H
#define TESTS_NARROW_REFERENCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "geometry/gjk.h"
#include "geometry/narrow.h"

#include <string.h>

/* ---- random bodies ----------------------------------------------------------------------------
 */

static uint64_t random_state;

/* in (0, 1) */
static inline double uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  uint64_t x = random_state;
  x ^= x >> 32;
  return ((double)(x >> 11) + 0.5) * 0x1p-53;
}

static inline double between(double low, double high) {
  return low + (high - low) * uniform();
}

static inline scree_Vec3 random_direction(int dimension) {
  for (;;) {
    scree_Vec3 d = {between(-1, 1), between(-1, 1), dimension == 2 ? 0 : between(-1, 1)};
    double length = scree_norm(d);
    if (length > 0.1 && length <= 1) return scree_scale(1 / length, d);
  }
}

static inline scree_Quat random_quat(int dimension) {
  if (dimension == 2) return scree_quat_axis_angle(scree_vec3(0, 0, 1), between(-3, 3));
  return scree_quat_normalize(
      (scree_Quat){between(-1, 1), between(-1, 1), between(-1, 1), between(-1, 1)});
}

/* A shape of about unit size times `scale`, elongated up to `aspect`. */
static inline void random_shape(scree_Shape *s, scree_ShapeKind kind, double scale, double aspect) {
  scree_Status status = SCREE_OK;
  double a = scale * between(1 / aspect, 1), b = scale * between(1 / aspect, 1);
  double c = scale * between(1 / aspect, 1);
  switch (kind) {
  case SCREE_SHAPE_DISK: status = scree_shape_init_disk(s, a, NULL); break;
  case SCREE_SHAPE_ELLIPSE: status = scree_shape_init_ellipse(s, a, b, NULL); break;
  case SCREE_SHAPE_SEGMENT: status = scree_shape_init_segment(s, a, b / 3, NULL); break;
  case SCREE_SHAPE_SPHERE: status = scree_shape_init_sphere(s, a, NULL); break;
  case SCREE_SHAPE_ELLIPSOID: status = scree_shape_init_ellipsoid(s, a, b, c, NULL); break;
  case SCREE_SHAPE_BOX: status = scree_shape_init_box(s, a, b, c, NULL); break;
  case SCREE_SHAPE_CAPSULE: status = scree_shape_init_capsule(s, a, b / 2, NULL); break;
  case SCREE_SHAPE_POLYGON: {
    scree_Vec3 v[8];
    int n = 3 + (int)(5 * uniform());
    for (int k = 0; k < n; k++) {
      double t = 6.283185307179586 * (k + 0.6 * uniform()) / n;
      v[k] = scree_vec3(a * cos(t), b * sin(t), 0);
    }
    status = scree_shape_init_polygon(s, v, n, NULL);
    break;
  }
  case SCREE_SHAPE_CYLINDER: status = scree_shape_init_cylinder(s, a, b, NULL); break;
  case SCREE_SHAPE_CONE: status = scree_shape_init_cone(s, a, b, NULL); break;
  case SCREE_SHAPE_SUPERELLIPSOID:
    status = scree_shape_init_superellipsoid(s, a, b, c, between(2, 8), between(2, 8), NULL);
    break;
  case SCREE_SHAPE_POLYHEDRON: {
    scree_Vec3 v[24];
    int n = 4 + (int)(20 * uniform());
    for (int k = 0; k < n; k++) {
      scree_Vec3 u = random_direction(3);
      v[k] = scree_vec3(a * u.x, b * u.y, c * u.z);
    }
    status = scree_shape_init_polyhedron(s, v, n, NULL);
    break;
  }
  default: fail();
  }
  assert_int_equal(status, SCREE_OK);
}

/* ---- the second method ------------------------------------------------------------------------
 */

static inline double support_value(const scree_Shape *s, const scree_Pose *p, scree_Vec3 n) {
  scree_Mat3 R = scree_quat_matrix(p->orientation);
  scree_Vec3 local = scree_mat3_tmul(&R, n);
  return scree_dot(local, scree_shape_support(s, local)) + scree_dot(n, p->position);
}

static inline double separation(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                                const scree_Pose *pb, scree_Vec3 n) {
  return -support_value(a, pa, scree_neg(n)) - support_value(b, pb, n);
}

/* The direction that reference_gap found last. */
static scree_Vec3 reference_normal;

static inline double reference_gap(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                                   const scree_Pose *pb, int dimension) {
  enum { DIRECTIONS = 400, BEST = 4 };
  scree_Vec3 best[BEST];
  double value[BEST];
  for (int k = 0; k < BEST; k++) value[k] = -INFINITY;
  for (int k = 0; k < DIRECTIONS; k++) {
    double z = dimension == 2 ? 0 : 1 - (2 * k + 1.0) / DIRECTIONS, r = sqrt(1 - z * z);
    double t = dimension == 2 ? 6.283185307179586 * k / DIRECTIONS : 2.399963229728653 * k;
    scree_Vec3 n = scree_vec3(r * cos(t), r * sin(t), z);
    double s = separation(a, pa, b, pb, n);
    int worst = 0;
    for (int m = 1; m < BEST; m++)
      if (value[m] < value[worst]) worst = m;
    if (s > value[worst]) value[worst] = s, best[worst] = n;
  }
  double most = -INFINITY;
  for (int m = 0; m < BEST; m++) {
    double radius = 0.2;
    for (int step = 0; step < 1200 && radius > 1e-9; step++) {
      scree_Vec3 n = scree_axpy(best[m], radius * uniform(), random_direction(dimension));
      n = scree_unit_or(n, best[m]);
      double s = separation(a, pa, b, pb, n);
      if (s > value[m])
        value[m] = s, best[m] = n, radius *= 1.5;
      else
        radius *= 0.93;
    }
    if (value[m] > most) most = value[m], reference_normal = best[m];
  }
  return most;
}

/* How far x is from the surface of s (small values only). */
static inline double off_surface(const scree_Shape *s, const scree_Pose *pose, scree_Vec3 x) {
  scree_Vec3 q = scree_pose_invert(pose, x);
  switch (s->kind) {
  case SCREE_SHAPE_DISK:
  case SCREE_SHAPE_SPHERE: return scree_norm(q) - s->radius;
  case SCREE_SHAPE_ELLIPSE:
    q = scree_vec3(q.x / s->semi.x, q.y / s->semi.y, 0);
    return (scree_norm(q) - 1) * s->size;
  case SCREE_SHAPE_ELLIPSOID:
    q = scree_vec3(q.x / s->semi.x, q.y / s->semi.y, q.z / s->semi.z);
    return (scree_norm(q) - 1) * s->size;
  case SCREE_SHAPE_BOX:
    return fmax(fabs(q.x) - s->semi.x, fmax(fabs(q.y) - s->semi.y, fabs(q.z) - s->semi.z));
  case SCREE_SHAPE_SEGMENT: q = scree_vec3(q.y, 0, q.x); /* fall through */
  case SCREE_SHAPE_CAPSULE:
    q.z -= fmin(fmax(q.z, -s->half_length), s->half_length);
    return scree_norm(q) - s->radius;
  case SCREE_SHAPE_POLYGON: {
    double most = -INFINITY;
    for (int k = 0; k < s->vertex_count; k++)
      most = fmax(most, scree_dot(s->vertices[s->vertex_count + k], scree_sub(q, s->vertices[k])));
    return most;
  }
  case SCREE_SHAPE_CYLINDER: return fmax(hypot(q.x, q.y) - s->radius, fabs(q.z) - s->half_length);
  case SCREE_SHAPE_SUPERELLIPSOID: {
    double p = s->exponent[0], e = s->exponent[1];
    double u = pow(pow(fabs(q.x / s->semi.x), p) + pow(fabs(q.y / s->semi.y), p), 1 / p);
    return (pow(pow(u, e) + pow(fabs(q.z / s->semi.z), e), 1 / e) - 1) * s->size;
  }
  case SCREE_SHAPE_CONE: {
    double base = -0.5 * s->half_length, H = 2 * s->half_length;
    double slant = (hypot(q.x, q.y) - s->radius) * H + (q.z - base) * s->radius;
    return fmax(base - q.z, slant / hypot(H, s->radius));
  }
  case SCREE_SHAPE_POLYHEDRON: {
    double most = -INFINITY;
    for (int f = 0; f < scree_shape_face_count(s); f++) {
      int n;
      scree_Vec3 out;
      const int *corner = scree_shape_face(s, f, &n, &out);
      most = fmax(most, scree_dot(out, scree_sub(q, s->vertices[corner[0]])));
    }
    return most;
  }
  case SCREE_SHAPE_HALF_PLANE: return q.y;
  case SCREE_SHAPE_HALF_SPACE: return q.z;
  case SCREE_SHAPE_DRUM_2D: return sqrt(q.x * q.x + q.y * q.y) - s->radius;
  case SCREE_SHAPE_DRUM: {
    double wall = s->radius - sqrt(q.x * q.x + q.y * q.y), cap = s->half_length - fabs(q.z);
    return fabs(wall) < fabs(cap) ? wall : cap;
  }
  default: return NAN;
  }
}

static inline double least_gap(const scree_Manifold *m) {
  double least = INFINITY;
  for (int k = 0; k < m->count; k++) least = fmin(least, m->points[k].gap);
  return least;
}

static inline void check_sane(const scree_Manifold *m, double margin, int dimension) {
  for (int k = 0; k < m->count; k++) {
    const scree_ManifoldPoint *p = &m->points[k];
    assert_true(isfinite(p->gap) && p->gap <= margin);
    assert_true(isfinite(p->position.x) && isfinite(p->position.y) && isfinite(p->position.z));
    assert_true(fabs(scree_norm(p->normal) - 1) < 1e-14 * 8);
    if (dimension == 2) assert_true(p->normal.z == 0 && p->position.z == 0);
    for (int j = 0; j < k; j++) assert_int_not_equal(p->feature, m->points[j].feature);
  }
}

static inline bool is_bar(scree_ShapeKind kind) {
  return kind == SCREE_SHAPE_SEGMENT || kind == SCREE_SHAPE_CAPSULE;
}

static inline void check_surfaces(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                                  const scree_Pose *pb, const scree_Manifold *m, double tolerance) {
  for (int k = 0; k < m->count; k++) {
    const scree_ManifoldPoint *p = &m->points[k];
    scree_Vec3 qa = scree_axpy(p->position, 0.5 * p->gap, p->normal);
    scree_Vec3 qb = scree_axpy(p->position, -0.5 * p->gap, p->normal);
    double ea = off_surface(a, pa, qa), eb = off_surface(b, pb, qb);
    /* The point of a rounded end that leans away lies within the rounded body. */
    bool least = m->count == 1;
    if (!least && ea < 0 && is_bar(a->kind)) ea = 0;
    if (!least && eb < 0 && is_bar(b->kind)) eb = 0;
    if (fabs(ea) > tolerance || fabs(eb) > tolerance)
      print_message("%s %s: point %d of %d, gap %g, off by %g and %g\n",
                    scree_shape_type(a->kind)->name, scree_shape_type(b->kind)->name, k, m->count,
                    p->gap, ea, eb);
    assert_true(fabs(ea) <= tolerance && fabs(eb) <= tolerance);
  }
}

#endif
