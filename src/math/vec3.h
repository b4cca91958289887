/* Small vectors, quaternions and 3x3 matrices by value. All of it is inline and branch-free, so
 * that the compiler can optimise across calls; 2D is the plane z = 0 and costs a few additions of
 * zeros. */
#ifndef SCREE_MATH_VEC3_H
#define SCREE_MATH_VEC3_H

#include "scree/pose.h"

#include <math.h>
#include <stdbool.h>

/* Columns: the images of the three axes. */
typedef struct scree_Mat3 {
  scree_Vec3 x, y, z;
} scree_Mat3;

static inline scree_Vec3 scree_vec3(double x, double y, double z) {
  return (scree_Vec3){x, y, z};
}

static inline scree_Vec3 scree_add(scree_Vec3 a, scree_Vec3 b) {
  return scree_vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline scree_Vec3 scree_sub(scree_Vec3 a, scree_Vec3 b) {
  return scree_vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline scree_Vec3 scree_scale(double s, scree_Vec3 a) {
  return scree_vec3(s * a.x, s * a.y, s * a.z);
}

static inline scree_Vec3 scree_neg(scree_Vec3 a) {
  return scree_vec3(-a.x, -a.y, -a.z);
}

/* a + s b */
static inline scree_Vec3 scree_axpy(scree_Vec3 a, double s, scree_Vec3 b) {
  return scree_vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline double scree_dot(scree_Vec3 a, scree_Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline scree_Vec3 scree_cross(scree_Vec3 a, scree_Vec3 b) {
  return scree_vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double scree_norm2(scree_Vec3 a) {
  return scree_dot(a, a);
}

static inline double scree_norm(scree_Vec3 a) {
  return sqrt(scree_dot(a, a));
}

/* Whether a is a unit vector up to rounding: for asserts. Or zero or not finite, as directions
 * between infinite places are: these pass through detection before the step refuses them. */
static inline bool scree_is_unit(scree_Vec3 a) {
  const double square = scree_norm2(a);
  return !(fabs(square - 1) >= 1e-9) || square == 0;
}

/* a / |a|, or `otherwise` when |a| is zero. */
static inline scree_Vec3 scree_unit_or(scree_Vec3 a, scree_Vec3 otherwise) {
  double length = scree_norm(a);
  return length > 0 ? scree_scale(1 / length, a) : otherwise;
}

static inline scree_Vec3 scree_mat3_mul(const scree_Mat3 *m, scree_Vec3 a) {
  return scree_vec3(m->x.x * a.x + m->y.x * a.y + m->z.x * a.z,
                    m->x.y * a.x + m->y.y * a.y + m->z.y * a.z,
                    m->x.z * a.x + m->y.z * a.y + m->z.z * a.z);
}

/* transpose(m) a */
static inline scree_Vec3 scree_mat3_tmul(const scree_Mat3 *m, scree_Vec3 a) {
  return scree_vec3(scree_dot(m->x, a), scree_dot(m->y, a), scree_dot(m->z, a));
}

static inline scree_Mat3 scree_mat3_matmul(const scree_Mat3 *a, const scree_Mat3 *b) {
  return (scree_Mat3){scree_mat3_mul(a, b->x), scree_mat3_mul(a, b->y), scree_mat3_mul(a, b->z)};
}

static inline scree_Mat3 scree_mat3_transpose(const scree_Mat3 *m) {
  return (scree_Mat3){{m->x.x, m->y.x, m->z.x}, {m->x.y, m->y.y, m->z.y}, {m->x.z, m->y.z, m->z.z}};
}

/* Component 0, 1 or 2. */
static inline double scree_component(scree_Vec3 a, int k) {
  return k == 0 ? a.x : k == 1 ? a.y : a.z;
}

static inline scree_Vec3 scree_column(const scree_Mat3 *m, int k) {
  return k == 0 ? m->x : k == 1 ? m->y : m->z;
}

static inline scree_Quat scree_quat_identity(void) {
  return (scree_Quat){1, 0, 0, 0};
}

/* Rotation by `angle` about the unit vector `axis`. */
static inline scree_Quat scree_quat_axis_angle(scree_Vec3 axis, double angle) {
  double s = sin(0.5 * angle);
  return (scree_Quat){cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z};
}

/* First b, then a. */
static inline scree_Quat scree_quat_mul(scree_Quat a, scree_Quat b) {
  return (scree_Quat){
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static inline scree_Quat scree_quat_conj(scree_Quat q) {
  return (scree_Quat){q.w, -q.x, -q.y, -q.z};
}

static inline scree_Quat scree_quat_normalize(scree_Quat q) {
  double norm = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(norm > 0)) return scree_quat_identity();
  double s = 1 / norm;
  return (scree_Quat){s * q.w, s * q.x, s * q.y, s * q.z};
}

static inline scree_Mat3 scree_quat_matrix(scree_Quat q) {
  double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return (scree_Mat3){{1 - 2 * (yy + zz), 2 * (xy + wz), 2 * (xz - wy)},
                      {2 * (xy - wz), 1 - 2 * (xx + zz), 2 * (yz + wx)},
                      {2 * (xz + wy), 2 * (yz - wx), 1 - 2 * (xx + yy)}};
}

static inline scree_Vec3 scree_quat_rotate(scree_Quat q, scree_Vec3 a) {
  scree_Mat3 m = scree_quat_matrix(q);
  return scree_mat3_mul(&m, a);
}

/* The shortest rotation that takes the unit vector a to the unit vector b. When b = -a the axis is
 * z if a is in the plane z = 0 (so that 2D stays 2D), else some axis perpendicular to a. */
static inline scree_Quat scree_quat_from_to(scree_Vec3 a, scree_Vec3 b) {
  double h = scree_norm(scree_add(a, b)); /* twice the cosine of half the angle */
  scree_Vec3 c = scree_cross(a, b);
  if (h > 1e-7) return scree_quat_normalize((scree_Quat){0.5 * h, c.x / h, c.y / h, c.z / h});
  if (a.z == 0) return (scree_Quat){0, 0, 0, 1};
  scree_Vec3 axis = scree_unit_or(scree_vec3(-a.z, 0, a.x), scree_vec3(1, 0, 0));
  return (scree_Quat){0, axis.x, axis.y, axis.z};
}

/* Axis times angle of a rotation, the angle in [0, pi]. */
static inline scree_Vec3 scree_quat_vector(scree_Quat q) {
  const double sign = q.w < 0 ? -1 : 1;
  const scree_Vec3 v = {sign * q.x, sign * q.y, sign * q.z};
  const double sine = scree_norm(v);
  return scree_scale(sine > 0 ? 2 * atan2(sine, sign * q.w) / sine : 0, v);
}

/* q after turning at the angular velocity w (world frame) for a time h, exactly for constant w. */
static inline scree_Quat scree_quat_integrate(scree_Quat q, scree_Vec3 w, double h) {
  double speed = scree_norm(w);
  if (!(speed > 0)) return q;
  scree_Quat turn = scree_quat_axis_angle(scree_scale(1 / speed, w), speed * h);
  return scree_quat_normalize(scree_quat_mul(turn, q));
}

static inline scree_Vec3 scree_pose_apply(const scree_Pose *pose, scree_Vec3 local) {
  return scree_add(pose->position, scree_quat_rotate(pose->orientation, local));
}

/* World point to the body's frame. */
static inline scree_Vec3 scree_pose_invert(const scree_Pose *pose, scree_Vec3 world) {
  scree_Mat3 m = scree_quat_matrix(pose->orientation);
  return scree_mat3_tmul(&m, scree_sub(world, pose->position));
}

/* The local frame (n, t1, t2) of a contact, right-handed, from its unit normal.
 *
 * 2D (dimension 2): t1 is n turned by +90 degrees, t2 = z. 3D: the branchless basis of Duff et al.,
 * "Building an orthonormal basis, revisited" (2017), which is continuous in n except across the
 * plane n.z = 0. */
static inline void scree_contact_frame(scree_Vec3 n, int dimension, scree_Vec3 *t1,
                                       scree_Vec3 *t2) {
  if (dimension == 2) {
    *t1 = scree_vec3(-n.y, n.x, 0);
    *t2 = scree_vec3(0, 0, 1);
    return;
  }
  double sign = copysign(1.0, n.z);
  double a = -1 / (sign + n.z);
  double b = n.x * n.y * a;
  *t1 = scree_vec3(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
  *t2 = scree_vec3(b, sign + n.y * n.y * a, -n.y);
}

#endif
