/* Free motion of rigid bodies (see rigid.h). */
#include "body/rigid.h"

#include <assert.h>

enum { NEWTON_STEPS = 12, PARTS_MAX = 4096 };

/* Solve A x = b for a 3x3 matrix of columns by Cramer's rule: A here is 1 + O(h w). */
static scree_Vec3 solve3(const scree_Mat3 *A, scree_Vec3 b) {
  const scree_Vec3 yz = scree_cross(A->y, A->z);
  const double scale = 1 / scree_dot(A->x, yz);
  return scree_vec3(scale * scree_dot(b, yz), scale * scree_dot(A->x, scree_cross(b, A->z)),
                    scale * scree_dot(A->x, scree_cross(A->y, b)));
}

/* a x (column k of the unit matrix) */
static scree_Vec3 cross_axis(scree_Vec3 a, int k) {
  return k == 0   ? scree_vec3(0, a.z, -a.y)
         : k == 1 ? scree_vec3(-a.z, 0, a.x)
                  : scree_vec3(a.y, -a.x, 0);
}

/* One part of a rotation: momentum P in the body's frame before; returns the midpoint (P0 + P1)/2.
 * With Q the midpoint, P1 - P0 = 2(Q - P0), so (1) is F(Q) = Q - P0 - k Q x J^-1 Q = 0. */
static scree_Vec3 turn_midpoint(scree_Vec3 inverse, double h, scree_Vec3 P0) {
  scree_Vec3 Q = P0;
  double last = INFINITY;
  for (int k = 0; k < NEWTON_STEPS; ++k) {
    const scree_Vec3 W = scree_times(inverse, Q);
    const double speed = scree_norm(W), half = 0.5 * h * speed;
    const double factor = speed > 0 ? tan(half) / speed : 0.5 * h;
    const scree_Vec3 F = scree_sub(scree_sub(Q, P0), scree_scale(factor, scree_cross(Q, W)));
    /* dF = 1 - k ( [Q x] J^-1 - [W x] ) */
    scree_Mat3 A;
    scree_Vec3 *columns[3] = {&A.x, &A.y, &A.z};
    for (int j = 0; j < 3; ++j) {
      scree_Vec3 column = scree_scale(scree_component(inverse, j), cross_axis(Q, j));
      column = scree_scale(-factor, scree_sub(column, cross_axis(W, j)));
      if (j == 0) column.x += 1;
      if (j == 1) column.y += 1;
      if (j == 2) column.z += 1;
      *columns[j] = column;
    }
    const scree_Vec3 step = solve3(&A, F);
    const double size = scree_norm2(step);
    if (!(size < last)) break; /* at round-off the step no longer shrinks */
    Q = scree_sub(Q, step);
    /* steps shrink by a factor each: the next one, size^2/last, would be below round-off */
    const bool done = k > 0 && size * size <= 1e-33 * last * scree_norm2(Q);
    last = size;
    if (done || size == 0) break;
  }
  return Q;
}

void scree_rigid_turn(scree_Vec3 moments, double h, scree_Quat *orientation, scree_Vec3 *w) {
  assert(moments.x > 0 && moments.y > 0 && moments.z > 0);
  const double speed = scree_norm(*w);
  if (!(speed > 0)) return;
  const scree_Vec3 inverse = scree_vec3(1 / moments.x, 1 / moments.y, 1 / moments.z);
  const double wanted = ceil(2 * speed * fabs(h));
  const int parts = wanted < 1 ? 1 : wanted < PARTS_MAX ? (int)wanted : PARTS_MAX;
  const scree_Mat3 R = scree_quat_matrix(*orientation);
  scree_Vec3 P = scree_times(moments, scree_mat3_tmul(&R, *w));
  const scree_Vec3 L = scree_mat3_mul(&R, P);
  for (int k = 0; k < parts; ++k) {
    const scree_Vec3 Q = turn_midpoint(inverse, h / parts, P);
    const scree_Vec3 W = scree_times(inverse, Q);
    P = scree_sub(scree_scale(2, Q), P);
    const scree_Quat turn = scree_quat_integrate(scree_quat_identity(), W, h / parts);
    *orientation = scree_quat_normalize(scree_quat_mul(*orientation, turn));
  }
  /* The momentum in space is known exactly: compute the velocity from it. */
  const scree_Mat3 R1 = scree_quat_matrix(*orientation);
  *w = scree_mat3_mul(&R1, scree_times(inverse, scree_mat3_tmul(&R1, L)));
}

void scree_rigid_drift(const scree_Inertia *inertia, double h, scree_Motion *motion) {
  motion->pose.position = scree_axpy(motion->pose.position, h, motion->velocity.linear);
  if (scree_inertia_isotropic(inertia))
    motion->pose.orientation =
        scree_quat_integrate(motion->pose.orientation, motion->velocity.angular, h);
  else
    scree_rigid_turn(inertia->moments, h, &motion->pose.orientation, &motion->velocity.angular);
}

double scree_rigid_kinetic(const scree_Inertia *inertia, const scree_Motion *motion,
                           double *rotation) {
  const scree_Vec3 w = motion->velocity.angular;
  const scree_Vec3 L = scree_inertia_mul(inertia, motion->pose.orientation, w);
  const double turning = 0.5 * scree_dot(L, w);
  if (rotation) *rotation = turning;
  return 0.5 * inertia->mass * scree_norm2(motion->velocity.linear) + turning;
}

void scree_rigid_block(const scree_Inertia *inertia, scree_Quat orientation, scree_Vec3 arm,
                       const scree_Vec3 *a, double sign, int d, double *B) {
  assert((d == 2 || d == 3) && fabs(sign) == 1);
  const double m = sign * inertia->inv_sqrt_mass;
  const scree_Vec3 i = scree_scale(sign, inertia->inv_sqrt_moments);
  if (d == 2) {
    for (int k = 0; k < 2; ++k, B += 3) {
      B[0] = m * a[k].x;
      B[1] = m * a[k].y;
      B[2] = i.z * (arm.x * a[k].y - arm.y * a[k].x);
    }
    return;
  }
  const bool turned = !scree_inertia_isotropic(inertia);
  scree_Mat3 R = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  if (turned) R = scree_quat_matrix(orientation);
  for (int k = 0; k < 3; ++k, B += 6) {
    scree_Vec3 t = scree_cross(arm, a[k]);
    if (turned) t = scree_mat3_tmul(&R, t);
    B[0] = m * a[k].x;
    B[1] = m * a[k].y;
    B[2] = m * a[k].z;
    B[3] = i.x * t.x;
    B[4] = i.y * t.y;
    B[5] = i.z * t.z;
  }
}

scree_Twist scree_rigid_unscale(const scree_Inertia *inertia, scree_Quat orientation, int d,
                                const double *y) {
  const double m = inertia->inv_sqrt_mass;
  const scree_Vec3 i = inertia->inv_sqrt_moments;
  if (d == 2) return (scree_Twist){scree_vec3(m * y[0], m * y[1], 0), scree_vec3(0, 0, i.z * y[2])};
  scree_Twist v = {scree_vec3(m * y[0], m * y[1], m * y[2]),
                   scree_times(i, scree_vec3(y[3], y[4], y[5]))};
  if (!scree_inertia_isotropic(inertia)) v.angular = scree_quat_rotate(orientation, v.angular);
  return v;
}
