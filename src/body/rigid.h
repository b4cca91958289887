/* Kernels of rigid bodies: free motion, and the velocity scaled by the square root of the inertia.
 *
 * Free rotation. Without torque the angular momentum L = R J R^T w (J principal moments) is
 * constant, while w rotates with the body unless J is isotropic. Over a time h the body rotates by
 * exp(h W), W a constant angular velocity in the body's frame, and the momentum P = J R^T w in that
 * frame becomes
 *     P1 = exp(-h W) P0 ,     W = J^-1 (P0 + P1)/2 .                                        (1)
 * Writing exp as a Cayley map with k = tan(h|W|/2)/|W|, (1) is P1 - P0 = k (P0 + P1) x W, the
 * midpoint rule of Euler's equations with step 2k. It conserves the quadratic invariants |P|^2 and
 * P.J^-1 P: angular momentum in space and kinetic energy are both conserved to round-off, and a
 * constant rotation is exact. (1) is solved by Newton for the midpoint with k from the last
 * iterate; a rotation of more than half a radian is split into equal parts, so that k stays
 * moderate and Newton needs only a few steps. */
#ifndef SCREE_BODY_RIGID_H
#define SCREE_BODY_RIGID_H

#include "body/class.h"

/* Every frame is principal: the world frame is used, no rotation is needed. */
static inline bool scree_inertia_isotropic(const scree_Inertia *inertia) {
  return inertia->moments.x == inertia->moments.y && inertia->moments.y == inertia->moments.z;
}

static inline scree_Vec3 scree_times(scree_Vec3 a, scree_Vec3 b) {
  return scree_vec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

/* Frame in which the rotation is scaled: principal axes, or the world's when isotropic. */
static inline scree_Mat3 scree_inertia_frame(const scree_Inertia *inertia, scree_Quat orientation) {
  if (scree_inertia_isotropic(inertia)) return (scree_Mat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  return scree_quat_matrix(orientation);
}

/* J w in the world frame. */
static inline scree_Vec3 scree_inertia_mul(const scree_Inertia *inertia, scree_Quat orientation,
                                           scree_Vec3 w) {
  if (scree_inertia_isotropic(inertia)) return scree_times(inertia->moments, w);
  const scree_Mat3 R = scree_quat_matrix(orientation);
  return scree_mat3_mul(&R, scree_times(inertia->moments, scree_mat3_tmul(&R, w)));
}

/* Free motion of a rigid body for a time h. */
void scree_rigid_drift(const scree_Inertia *inertia, double h, scree_Motion *motion);

/* The rotation alone, for bodies whose principal moments differ. */
void scree_rigid_turn(scree_Vec3 moments, double h, scree_Quat *orientation, scree_Vec3 *w);

/* Velocity of the point of a rigid body with this pose and velocity that is at `point`. */
static inline scree_Vec3 scree_rigid_velocity(const scree_Pose *pose, const scree_Twist *velocity,
                                              scree_Vec3 point) {
  return scree_add(velocity->linear,
                   scree_cross(velocity->angular, scree_sub(point, pose->position)));
}

/* Change of velocity L^-T y. */
scree_Twist scree_rigid_unscale(const scree_Inertia *inertia, scree_Quat orientation, int d,
                                const double *y);

/* Rows of the directions a (d) at `arm` from the centre: ( a / sqrt(m), ((arm x a) . e_k) /
 * sqrt(J_k) ), e_k the principal axes, times `sign`. B is (d x 3) in 2D, (d x 6) in 3D. */
void scree_rigid_block(const scree_Inertia *inertia, scree_Quat orientation, scree_Vec3 arm,
                       const scree_Vec3 *a, double sign, int d, double *B);

/* Kinetic energy, and the part of rotation when not null. */
double scree_rigid_kinetic(const scree_Inertia *inertia, const scree_Motion *motion,
                           double *rotation);

#endif
