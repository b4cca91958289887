/* Shared by the files of joints in a step (see joints.h): joints.c makes and describes them,
 * joints_pose.c writes their constraints, joints_after.c reads the solution. */
#ifndef SCREE_STEP_JOINTS_INTERNAL_H
#define SCREE_STEP_JOINTS_INTERNAL_H

#include "step/system.h"

/* Body -1 is the world: at rest, at the origin. */
static inline bool is_fixed(const scree_Bodies *b, int k) {
  return k < 0 || b->fixed[k];
}

static inline const scree_Pose *pose_of(const scree_Bodies *b, int k) {
  static const scree_Pose world = {{0, 0, 0}, {1, 0, 0, 0}};
  return k < 0 ? &world : &b->motion[k].pose;
}

/* The anchor of a side of a joint on a deformable body (joints_anchor.c), or null. */
static inline const scree_JointAnchor *anchor_of(const scree_System *s, const scree_Joint *joint,
                                                 int side) {
  const int at = s->joints.material[joint - s->joints.joint][side];
  return at < 0 ? NULL : &s->joints.anchor[at];
}

/* The pose of a side of a joint. A deformable body has that of a frame that does not turn, with the
 * anchor as origin, so that rows have no moments on it. */
scree_Pose scree_joint_pose(const scree_System *s, const scree_Joint *joint, int side);
/* Its velocity. */
scree_Twist scree_joint_twist(const scree_System *s, const scree_Joint *joint, int side,
                              scree_VelocityTime moment);
/* The part of its mean velocity in the kick that obstacles impose on nodes of its body. */
scree_Vec3 scree_joint_driven(const scree_System *s, const scree_Joint *joint, int side);
/* A side of a joint on a deformable body; anchor.count is 0 on a rigid one. */
typedef struct scree_JointHold {
  scree_JointAnchor anchor;
  scree_Pose pose;
  double known, stays; /* 1 or 0; nothing can move it */
} scree_JointHold;

/* Find the anchors of a joint on deformable bodies, on all ranks. */
scree_Status scree_joint_find_anchors(scree_System *s, const scree_JointDef *def,
                                      const scree_JointSide side[2], scree_JointHold hold[2]);
/* Blocks of n rows on an anchor as entries e, e + 1, ... of g; returns the next one. */
size_t scree_joint_anchor_blocks(const scree_System *s, const scree_JointAnchor *anchor, int body,
                                 const scree_JointRow *rows, int n, int side, double scale,
                                 scree_GeneralRows *g, size_t e);
/* |B|^2 of a row on it. */
double scree_joint_anchor_square(const scree_System *s, const scree_JointAnchor *anchor, int body,
                                 scree_Vec3 linear);

static inline scree_JointPlace place_now(const scree_System *s, const scree_Joint *joint) {
  const scree_Pose a = scree_joint_pose(s, joint, 0), b = scree_joint_pose(s, joint, 1);
  return scree_joint_place(joint, &a, &b);
}

/* Velocity in a row. It is computed from the twists, since obstacles have no blocks. */
static inline double row_velocity(const scree_JointRow *row, const scree_Twist *a,
                                  const scree_Twist *b) {
  return scree_dot(row->linear[0], a->linear) + scree_dot(row->angular[0], a->angular) +
         scree_dot(row->linear[1], b->linear) + scree_dot(row->angular[1], b->angular);
}

/* The damper and spring of the free coordinate in units of force over x: an angle is a length over
 * the size of the joint. */
typedef struct scree_JointSpring {
  double k, c, S; /* S = h^2 k/4 + h c/2 */
} scree_JointSpring;

static inline scree_JointSpring spring_of(const scree_Joint *joint, double h) {
  const double scale = scree_joint_scale(joint), square = scale * scale;
  scree_JointSpring spring = {.k = joint->def.stiffness / square, .c = joint->def.damping / square};
  spring.S = 0.25 * h * h * spring.k + 0.5 * h * spring.c;
  return spring;
}

/* The part of an error of a locking part that is corrected. */
double scree_joint_excess(const scree_System *s, const scree_Joint *joint, int part, double error);

/* Whether a part locks motions: its rows are some of those of scree_joint_locked. */
static inline bool is_locking(int part) {
  return part < SCREE_PART_MOTOR;
}

/* Number of rows of a part, and the first of them among those of scree_joint_locked. */
int scree_joint_part_rows(const scree_Joint *joint, int dimension, int part, int *first);

/* The impulses of a part in a memory; `first` as above. */
static inline double *impulses_of(scree_JointMemory *memory, int part, int first) {
  return memory->r + (is_locking(part) ? first : SCREE_JOINT_ROWS + part - SCREE_PART_MOTOR);
}

bool scree_joint_has_part(const scree_Joint *joint, int dimension, int part);
/* Target of a motor at the kick, in units of its row; NAN: the motor is off. */
double scree_joint_target(const scree_Joint *joint, const scree_StepTimes *times);
/* The time at which it is taken. */
double scree_joint_target_time(const scree_Joint *joint, const scree_StepTimes *times);
/* The set of a part of a bond in a step h: impulses; rotations are multiplied by the size. */
scree_Set scree_bond_set(const scree_Joint *joint, int part, double h);
/* Whether posed constraint c of a bond is at the limit of its strength. */
bool scree_bond_yields(const scree_System *s, int c);

#endif
