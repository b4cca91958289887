/* scree/pose.h — vectors, orientations and velocities of bodies.
 *
 * One representation serves 2D and 3D. A 2D world lies in the plane z = 0: positions have z = 0,
 * orientations are rotations about z, velocities have z = 0 and spins z alone. SI units. */
#ifndef SCREE_POSE_H
#define SCREE_POSE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct scree_Vec3 {
  double x, y, z;
} scree_Vec3;

/* Unit quaternion, scalar first. */
typedef struct scree_Quat {
  double w, x, y, z;
} scree_Quat;

typedef struct scree_Pose {
  scree_Vec3 position;    /* of the body's origin */
  scree_Quat orientation; /* body frame to world frame */
} scree_Pose;

/* Velocity of a body: of its origin (centre of mass), and of rotation, both in the world frame.
 * 2D: angular.z alone. Also used for forces: force and torque about the origin. */
typedef struct scree_Twist {
  scree_Vec3 linear, angular;
} scree_Twist;

/* Bounds along the axes of the world. */
typedef struct scree_Aabb {
  scree_Vec3 lower, upper;
} scree_Aabb;

#ifdef __cplusplus
}
#endif

#endif
