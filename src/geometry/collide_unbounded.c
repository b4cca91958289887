/* Unbounded obstacles: half-plane, half-space, and the inside of drums.
 *
 * Both are the complement of a convex hollow, so the gap of a body is reached at an extreme point
 * of it: a ball's or an ellipsoid's support point, or any corner of a polygon, box, segment or
 * capsule (the distance to the drum's axis is a convex function, whose largest value over a flat
 * body is at corners). Every corner within the margin is a contact with a normal of its own.
 *
 * An ellipse in a circle: the points x(t) = (a cos t, b sin t) furthest from the drum's centre c,
 * given in the ellipse's frame with a >= b. F = |x - c|^2 / 2 has
 *     F'(t) = -k cos t sin t + P sin t + Q cos t,   k = a^2 - b^2, P = a c_x, Q = -b c_y.
 * By reflection c_x, c_y <= 0. In the first quadrant F' / (sin cos) = -k - |P|/cos + |Q|/sin falls
 * from +inf to -inf: one maximum, the global one. In the second it is k - |P|/|cos| - |Q|/sin (with
 * the sign reversed), concave, largest where |tan|^3 = |Q|/|P|: when that is positive (c inside the
 * evolute) there is a second local maximum between there and t = pi. An ellipsoid in a cylinder is
 * the same for its projection along the axis, which is an ellipse. */
#include "geometry/narrow.h"
#include "geometry/revolved.h"
#include "geometry/shape_class.h"

enum { AROUND = 8 }; /* further points of a superellipsoid on a plane */

/* Corners of a flat shape, relative to its origin in world axes, with the radius around them. */
static int corner_count(const scree_Shape *s) {
  switch (s->kind) {
  case SCREE_SHAPE_POLYGON:
  case SCREE_SHAPE_POLYHEDRON: return s->vertex_count;
  case SCREE_SHAPE_BOX: return 8;
  case SCREE_SHAPE_SEGMENT: return 2;
  case SCREE_SHAPE_CAPSULE: return s->half_length > 0 ? 2 : 1;
  default: return 1;
  }
}

static scree_Vec3 corner(const scree_Shape *s, const scree_Mat3 *R, int k) {
  scree_Vec3 h = s->semi;
  switch (s->kind) {
  case SCREE_SHAPE_POLYGON:
  case SCREE_SHAPE_POLYHEDRON: return scree_mat3_mul(R, s->vertices[k]);
  case SCREE_SHAPE_BOX:
    return scree_mat3_mul(R,
                          scree_vec3(k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z));
  case SCREE_SHAPE_SEGMENT: return scree_scale(k ? s->half_length : -s->half_length, R->x);
  case SCREE_SHAPE_CAPSULE: return scree_scale(k ? s->half_length : -s->half_length, R->z);
  default: return scree_vec3(0, 0, 0);
  }
}

static bool is_elliptic(const scree_Shape *s) {
  return s->kind == SCREE_SHAPE_ELLIPSE || s->kind == SCREE_SHAPE_ELLIPSOID;
}

/* Smooth bodies without corners: the support point takes their place. */
static bool is_smooth(const scree_Shape *s) {
  return is_elliptic(s) || s->kind == SCREE_SHAPE_SUPERELLIPSOID;
}

/* Support point, relative to its centre in world axes. */
static scree_Vec3 support_point(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 n) {
  return scree_mat3_mul(R, scree_shape_support(s, scree_mat3_tmul(R, n)));
}

/* ---- cylinders and cones ---- */

/* Their two ends: a ring of radius r at height z along the axis; the tip of a cone has none. */
typedef struct Ring {
  double z, radius;
} Ring;

static bool has_rings(const scree_Shape *s, Ring ring[2]) {
  if (s->kind == SCREE_SHAPE_CYLINDER) {
    ring[0] = (Ring){-s->half_length, s->radius};
    ring[1] = (Ring){s->half_length, s->radius};
  } else if (s->kind == SCREE_SHAPE_CONE) {
    ring[0] = (Ring){-0.5 * s->half_length, s->radius};
    ring[1] = (Ring){1.5 * s->half_length, 0};
  } else {
    return false;
  }
  return true;
}

/* Tilt of an end, as a sine, above which its lowest point is a contact of its own: below that the
 * points fixed to its rim are as low to 1e-4 of the radius, and do not move with the tilt. */
static const double TILTED = 1e-3;

/* A ring against the half-space n.x <= offset: its lowest point, and when the end lies nearly flat
 * the points of its rim. */
static void add_ring(const Ring *ring, int end, const scree_Mat3 *R, scree_Vec3 d,
                     scree_Vec3 origin, scree_Vec3 n, double offset, int patch, double margin,
                     scree_Manifold *manifold) {
  const double along = scree_dot(n, R->z);
  const scree_Vec3 across = scree_axpy(n, -along, R->z), centre = scree_scale(ring->z, R->z);
  const double sine = scree_norm(across);
  const bool lies = ring->radius > 0 && fabs(along) >= SCREE_FACE_ALIGNED;
  const scree_Vec3 down = scree_unit_or(scree_neg(across), R->x);
  for (int k = lies ? 0 : SCREE_RIM; k <= SCREE_RIM; ++k) {
    scree_Vec3 out = down;
    if (k < SCREE_RIM) {
      const double angle = 2 * 3.14159265358979323846 * k / SCREE_RIM;
      out = scree_add(scree_scale(cos(angle), R->x), scree_scale(sin(angle), R->y));
      if (sine > TILTED && scree_dot(out, down) > 0.985) continue; /* covered by the lowest point */
    } else if (lies && !(sine > TILTED)) {
      continue;
    }
    const scree_Vec3 p = scree_add(d, scree_axpy(centre, ring->radius, out));
    const double gap = scree_dot(n, p) - offset;
    if (!(gap <= margin)) continue;
    scree_manifold_add(manifold, scree_add(origin, scree_axpy(p, -0.5 * gap, n)), n, gap,
                       scree_feature_vertex(0, (SCREE_RIM + 1) * end + k, patch));
  }
}

/* Body `a`, whose origin is at d relative to `origin`, against the half-space n.x <= offset. */
/* Points of a superellipsoid around its lowest one, where its surface is turned by a small angle.
 *
 * Faces of superellipsoids with large exponents are nearly flat: the lowest point crosses such a
 * face in a turn that is much smaller than that of a step, and a body that stands on one point at a
 * time rocks faster and faster: with exponents of 8 and 16 a body that should slide at 1.02 m/s
 * did so at 1.5 and 1.9 m/s and was not certified at any step. Turns of 0.001 and 0.005, of what
 * gravity does in a step of 0.03 sqrt(size / g), cure it (1.0241, 1.0241 m/s); one of them, or
 * 0.02, does not for all exponents from 4 to 32. Where the surface is so round that a point is near
 * the lowest one, it is left out. */
static int points_around(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 n, scree_Vec3 lowest,
                         scree_Vec3 point[AROUND]) {
  static const double turn[] = {0.001, 0.005}, least = 0.1;
  const int directions = AROUND / 2;
  int up = 0, count = 0;
  if (s->kind != SCREE_SHAPE_SUPERELLIPSOID) return 0;
  for (int k = 1; k < 3; ++k)
    if (fabs(scree_dot(scree_column(R, k), n)) > fabs(scree_dot(scree_column(R, up), n))) up = k;
  /* towards the corners of the face */
  const scree_Vec3 along = scree_column(R, (up + 1) % 3);
  const scree_Vec3 t1 = scree_unit_or(scree_axpy(along, -scree_dot(along, n), n), along);
  const scree_Vec3 t2 = scree_cross(n, t1);
  for (int ring = 0; ring < 2; ++ring)
    for (int k = 0; k < directions; ++k) {
      const scree_Vec3 out = scree_axpy(scree_scale(k & 1 ? 1 : -1, t1), k & 2 ? 1 : -1, t2);
      const scree_Vec3 down = scree_axpy(scree_neg(n), turn[ring] * sqrt(0.5), out);
      point[count] = support_point(s, R, down);
      if (scree_norm(scree_sub(point[count], lowest)) > least * s->size) ++count;
    }
  return count;
}

static void add_plane(const scree_Shape *a, const scree_Mat3 *R, scree_Vec3 d, scree_Vec3 origin,
                      scree_Vec3 n, double offset, int patch, double margin,
                      scree_Manifold *manifold) {
  Ring ring[2];
  if (has_rings(a, ring)) {
    for (int end = 0; end < 2; ++end)
      add_ring(&ring[end], end, R, d, origin, n, offset, patch, margin, manifold);
    return;
  }
  const bool smooth = is_smooth(a);
  const double radius = smooth ? 0 : a->radius, height = scree_dot(n, d);
  scree_Vec3 point[1 + AROUND];
  int count = corner_count(a), first = 0; /* name of the first point */
  if (smooth) {
    point[0] = support_point(a, R, scree_neg(n));
    count += points_around(a, R, n, point[0], point + 1);
  }
  if (a->kind == SCREE_SHAPE_SUPERELLIPSOID) { /* its lowest point may jump: another one then */
    scree_Octants none = {{0}};
    first = (1 + AROUND) * scree_octant_name(&none, scree_mat3_tmul(R, point[0]));
  }
  for (int k = 0; k < count; k++) {
    scree_Vec3 p = smooth ? point[k] : corner(a, R, k);
    double gap = height + scree_dot(n, p) - radius - offset;
    if (!(gap <= margin)) continue;
    scree_Vec3 x = scree_axpy(scree_add(d, p), -(radius + 0.5 * gap), n);
    scree_manifold_add(manifold, scree_add(origin, x), n, gap,
                       scree_feature_vertex(0, first + k, patch));
  }
}

void scree_collide_half_space(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                              const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  scree_Mat3 Rb = scree_quat_matrix(pb->orientation);
  scree_Vec3 n = b->kind == SCREE_SHAPE_HALF_PLANE ? Rb.y : Rb.z;
  if (scree_shape_is_ball(a)) {
    manifold->count = scree_collide_ball_plane(pa->position, a->radius, pb->position, n, margin,
                                               &manifold->points[0]);
    return;
  }
  scree_Vec3 d = scree_sub(pa->position, pb->position);
  if (scree_dot(n, d) - a->bounding_radius > margin) return;
  scree_Mat3 Ra = scree_quat_matrix(pa->orientation);
  add_plane(a, &Ra, d, pb->position, n, 0, 0, margin, manifold);
}

/* ---- drums ---- */

typedef struct Drum {
  scree_Vec3 origin;      /* world position of its centre */
  scree_Vec3 axis, spare; /* unit, and a unit vector perpendicular to it */
  double radius;
} Drum;

/* A ball of radius r whose centre is at q relative to the drum's centre, against the round wall. */
static void add_wall(const Drum *drum, scree_Vec3 q, double r, uint32_t feature, double margin,
                     scree_Manifold *manifold) {
  double along = scree_dot(q, drum->axis);
  scree_Vec3 radial = scree_axpy(q, -along, drum->axis);
  double distance = scree_norm(radial), gap = drum->radius - distance - r;
  if (!(gap <= margin)) return;
  scree_Vec3 u = distance > 0 ? scree_scale(1 / distance, radial) : drum->spare;
  scree_Vec3 x = scree_axpy(q, r + 0.5 * gap, u);
  scree_manifold_add(manifold, scree_add(drum->origin, x), scree_neg(u), gap, feature);
}

/* The maximum of F along an arc, as the root between lo and hi of its derivative, which is positive
 * at lo and negative at hi: Newton kept inside the bracket. p = |P|, q = |Q|, k as above. On the
 * first quadrant the arc is t itself; on the second it is pi - t, for which the sign of p is
 * reversed. */
static double furthest_root(double k, double p, double q, bool second, double lo, double hi) {
  double sign = second ? 1 : -1, t = 0.5 * (lo + hi);
  for (int step = 0; step < 100; step++) {
    double c = cos(t), s = sin(t);
    double g = q * c + sign * p * s - k * s * c;
    double dg = -q * s + sign * p * c - k * (c * c - s * s);
    if (g > 0)
      lo = t;
    else
      hi = t;
    double next = dg < 0 ? t - g / dg : 0.5 * (lo + hi);
    if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
    double moved = fabs(next - t);
    t = next;
    if (moved <= 1e-16 || hi - lo <= 4e-16) break;
  }
  return t;
}

/* The points of the ellipse with semi-axes a >= b along x and y that are locally furthest from c:
 * one or two, the furthest first. */
static int furthest_points(double a, double b, double cx, double cy, double points[2][2]) {
  const double half_pi = 1.5707963267948966;
  double sx = cx > 0 ? -1 : 1, sy = cy > 0 ? -1 : 1; /* the far side */
  double k = (a - b) * (a + b), p = a * fabs(cx), q = b * fabs(cy);
  double scale = fmax(k, fmax(p, q)); /* makes the following independent of units to the last bit */
  if (scale > 0) k /= scale, p /= scale, q /= scale;
  double t = furthest_root(k, p, q, false, 0, half_pi);
  if (q == 0 && k + p > 0) t = 0;             /* c on the major axis: the far tip */
  if (p == 0 && q >= k && q > 0) t = half_pi; /* far out on the minor axis: the flat side */
  points[0][0] = sx * a * cos(t);
  points[0][1] = sy * b * sin(t);
  if (!(k > 0)) return 1;
  /* Second quadrant, tau = pi - t in (0, pi/2): local maximum between 0 and the top of the concave
   * function k - p/cos - q/sin, if that is positive. */
  double u = cbrt(p), w = cbrt(q);
  double top = u > 0 || w > 0 ? atan2(w, u) : 0.5 * half_pi;
  double cut = cbrt(p * p) + cbrt(q * q);
  if (!(cut * cut * cut < k * k)) return 1;
  double tau = q == 0 ? 0 : furthest_root(k, p, q, true, 0, top);
  points[1][0] = -sx * a * cos(tau);
  points[1][1] = sy * b * sin(tau);
  return 2;
}

/* Ellipse, or projection of an ellipsoid along the drum's axis, in the round wall. */
static void add_ellipse(const Drum *drum, const scree_Shape *a, const scree_Mat3 *R, scree_Vec3 d,
                        int first, double margin, scree_Manifold *manifold) {
  /* Columns of L span the shadow: x = sum of L_i y_i with |y| = 1. Its semi-axes are the
   * eigenvectors of L L^T in the plane (e1, e2) across the axis, found by a Jacobi rotation. */
  scree_Vec3 e1, e2;
  if (a->kind == SCREE_SHAPE_ELLIPSE) {
    e1 = R->x, e2 = R->y;
  } else {
    scree_contact_frame(drum->axis, 3, &e1, &e2);
    double s11 = 0, s12 = 0, s22 = 0;
    for (int i = 0; i < 3; i++) {
      scree_Vec3 l = scree_scale(scree_component(a->semi, i), scree_column(R, i));
      double l1 = scree_dot(e1, l), l2 = scree_dot(e2, l);
      s11 += l1 * l1;
      s12 += l1 * l2;
      s22 += l2 * l2;
    }
    double angle = 0.5 * atan2(2 * s12, s11 - s22), c = cos(angle), s = sin(angle);
    scree_Vec3 f1 = scree_add(scree_scale(c, e1), scree_scale(s, e2));
    e2 = scree_sub(scree_scale(c, e2), scree_scale(s, e1));
    e1 = f1;
  }
  double width[2];
  scree_Vec3 axes[2] = {e1, e2};
  for (int k = 0; k < 2; k++) {
    scree_Vec3 local = scree_mat3_tmul(R, axes[k]);
    width[k] =
        scree_norm(scree_vec3(local.x * a->semi.x, local.y * a->semi.y, local.z * a->semi.z));
  }
  int major = width[1] > width[0];
  scree_Vec3 f1 = axes[major], f2 = axes[1 - major];
  double points[2][2], w1 = width[major], w2 = width[1 - major];
  int count = furthest_points(w1, w2, -scree_dot(d, f1), -scree_dot(d, f2), points);
  for (int k = 0; k < count; k++) {
    double x = points[k][0], y = points[k][1];
    /* The normal of the ellipse there is the contact's; it defines the point of the ellipsoid. */
    scree_Vec3 out = scree_add(scree_scale(x / (w1 * w1), f1), scree_scale(y / (w2 * w2), f2));
    scree_Vec3 q = scree_add(d, support_point(a, R, out));
    add_wall(drum, q, 0, scree_feature_vertex(0, first + (x < 0), 0), margin, manifold);
  }
}

/* A body in the frame of a drum. */
typedef struct InDrum {
  const scree_Shape *shape;
  const scree_Mat3 *R;
  scree_Mat3 axes; /* of the drum in the world, its axis third */
  scree_Vec3 centre;
} InDrum;

static scree_Vec3 support_in_drum(const void *body, scree_Vec3 direction) {
  const InDrum *in = body;
  const scree_Vec3 x = support_point(in->shape, in->R, scree_mat3_mul(&in->axes, direction));
  return scree_add(in->centre, scree_mat3_tmul(&in->axes, x));
}

/* Superellipsoid in the round wall. */
static void add_superellipsoid(const Drum *drum, const scree_Shape *a, const scree_Mat3 *R,
                               scree_Vec3 d, double margin, scree_Manifold *manifold) {
  InDrum body = {a, R, {drum->spare, scree_cross(drum->axis, drum->spare), drum->axis}, d};
  body.centre = scree_mat3_tmul(&body.axes, d);
  const scree_InWall in = {.support = support_in_drum,
                           .body = &body,
                           .centre = body.centre,
                           .reach = a->bounding_radius,
                           .normal = {-1, 0}};
  const double near = 1e-4 * a->size;
  scree_Vec3 found[SCREE_AZIMUTHS];
  const int count = scree_wall_nearest(&in, found);
  scree_Octants names = {{0}};
  for (int k = 0; k < count; ++k) {
    const scree_Vec3 x = scree_mat3_mul(&body.axes, found[k]);
    const int name = scree_octant_name(&names, scree_mat3_tmul(R, scree_sub(x, d)));
    bool seen = false;
    for (int m = 0; m < k; ++m)
      seen = seen || scree_norm2(scree_sub(found[m], found[k])) <= near * near;
    if (!seen) add_wall(drum, x, 0, scree_feature_vertex(0, name, 0), margin, manifold);
  }
}

void scree_collide_drum(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                        const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  scree_Mat3 Ra = scree_quat_matrix(pa->orientation), Rb = scree_quat_matrix(pb->orientation);
  scree_Vec3 d = scree_sub(pa->position, pb->position);
  Drum drum = {pb->position, Rb.z, Rb.x, b->radius};
  double along = scree_dot(d, drum.axis);
  double off_axis = scree_norm(scree_axpy(d, -along, drum.axis));
  if (b->radius - off_axis - a->bounding_radius <= margin) {
    Ring ring[2];
    if (is_elliptic(a)) {
      add_ellipse(&drum, a, &Ra, d, 0, margin, manifold);
    } else if (a->kind == SCREE_SHAPE_SUPERELLIPSOID) {
      add_superellipsoid(&drum, a, &Ra, d, margin, manifold);
    } else if (has_rings(a, ring)) {
      for (int end = 0; end < 2; ++end) { /* a ring is an ellipsoid of zero height */
        const scree_Shape disk = {.kind = SCREE_SHAPE_ELLIPSOID,
                                  .semi = {ring[end].radius, ring[end].radius, 0}};
        const scree_Vec3 q = scree_axpy(d, ring[end].z, Ra.z);
        if (ring[end].radius > 0)
          add_ellipse(&drum, &disk, &Ra, q, 2 * end, margin, manifold);
        else
          add_wall(&drum, q, 0, scree_feature_vertex(0, 2 * end, 0), margin, manifold);
      }
    } else {
      int count = corner_count(a);
      for (int k = 0; k < count; k++)
        add_wall(&drum, scree_add(d, corner(a, &Ra, k)), a->radius, scree_feature_vertex(0, k, 0),
                 margin, manifold);
    }
  }
  if (b->kind != SCREE_SHAPE_DRUM || !isfinite(b->half_length)) return;
  for (int side = 0; side < 2; side++) { /* the solid of an end cap is beyond +-half_length */
    scree_Vec3 n = side ? scree_neg(drum.axis) : drum.axis;
    if (scree_dot(n, d) + b->half_length - a->bounding_radius > margin) continue;
    add_plane(a, &Ra, d, pb->position, n, -b->half_length, 1 + side, margin, manifold);
  }
}
