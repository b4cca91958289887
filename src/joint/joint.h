/* Joints: locked motions, frames, and the rows of their velocities.
 *
 * The joint has a frame on each body: an anchor point P and axes. With axes e of the second body's
 * frame and a of the first one's, a kind locks
 *     translations   e_k . (P_a - P_b) = 0 ,           for the bits k of `translations`
 *     rotations      a_i . e_j = 0 (they are at right angles when the joint is made),  pairs (i, j)
 *     distance       |P_a - P_b| - L = 0 .
 * Their rates are linear in the velocities v and spins w of the bodies:
 *     e.(P_a - P_b)   e.(v_a + w_a x (P_a - x_a)) - e.(v_b + w_b x (P_a - x_b))
 *     a.e             (a x e).(w_a - w_b)
 *     |P_a - P_b|     n.(velocity of P_a - velocity of P_b)
 * where the second body moves the first's anchor in its own frame, so P_a appears twice.
 * Rotations are multiplied by the size of the joint, a length, so that all rows are velocities. */
#ifndef SCREE_JOINT_JOINT_H
#define SCREE_JOINT_JOINT_H

#include "math/vec3.h"
#include "scree/joint.h"

enum { SCREE_JOINT_ROWS = 6, SCREE_JOINT_PAIRS = 3 };

typedef enum scree_JointCoordinate {
  SCREE_COORDINATE_NONE,
  SCREE_COORDINATE_ANGLE,   /* about axis x */
  SCREE_COORDINATE_ALONG,   /* along axis x */
  SCREE_COORDINATE_DISTANCE /* between the anchors */
} scree_JointCoordinate;

/* A kind of joint, by dimension: [0] in the plane, [1] in space. */
typedef struct scree_JointClass {
  const char *name, *summary;
  bool exists[2];
  unsigned translations[2];
  int pairs[2];                   /* number of locked rotations */
  int pair[SCREE_JOINT_PAIRS][2]; /* axes (i of the first body, j of the second) */
  bool distance;                  /* the distance is locked */
  bool needs_axis[2];
  scree_JointCoordinate coordinate;
} scree_JointClass;

extern const scree_JointClass scree_joint_registry[SCREE_JOINT_KINDS];

typedef struct scree_Joint {
  scree_JointDef def;   /* with rest and motor as given */
  int body[2];          /* the numbers of its bodies on this rank, where the world is divided */
  scree_Vec3 anchor[2]; /* in the frames of the bodies */
  scree_Quat frame[2];  /* axes of the joint in the frames of the bodies */
  double length;        /* of a distance joint */
  double size;          /* reference length of errors, and factor of rotations */
} scree_Joint;

/* The current configuration of a joint. */
typedef struct scree_JointPlace {
  scree_Vec3 centre[2], point[2]; /* of the bodies; anchors */
  scree_Mat3 axes[2];
} scree_JointPlace;

/* One row: u = sum over both bodies of linear.v + angular.w */
typedef struct scree_JointRow {
  scree_Vec3 linear[2], angular[2];
} scree_JointRow;

/* Check a definition and compute the frames from the poses of the two bodies. */
scree_Status scree_joint_init(scree_Joint *joint, const scree_JointDef *def, int dimension,
                              double size, const scree_Pose *a, const scree_Pose *b,
                              const scree_Log *log);

scree_JointPlace scree_joint_place(const scree_Joint *joint, const scree_Pose *a,
                                   const scree_Pose *b);

/* Locked rows: their number, and (if not null) their violations, and the rows. */
int scree_joint_locked(const scree_Joint *joint, int dimension, const scree_JointPlace *place,
                       double error[SCREE_JOINT_ROWS], scree_JointRow rows[SCREE_JOINT_ROWS]);

/* The free coordinate, an angle times the size of the joint, and (if not null) its row. An angle is
 * the one nearest to `near`, the last value, so that full turns are counted. */
double scree_joint_coordinate(const scree_Joint *joint, int dimension,
                              const scree_JointPlace *place, double near, scree_JointRow *row);

/* Factor of the free coordinate: the size for angles, else 1. */
double scree_joint_scale(const scree_Joint *joint);

static inline const scree_JointClass *scree_joint_class(const scree_Joint *joint) {
  return &scree_joint_registry[joint->def.kind];
}

#endif
