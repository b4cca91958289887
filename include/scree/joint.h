/* scree/joint.h — definition of joints between bodies.
 *
 * A joint locks some of the relative motions of two bodies; its reactions are unknowns of the
 * contact problem. It is defined in the positions of the bodies at its creation, by an anchor point
 * and, for most kinds, an axis, both in the world frame. The second body may be an obstacle, fixed
 * or driven.
 *
 * The axis is the x axis of the frame of the joint. Hinges and sliders have one free coordinate x
 * (an angle in rad, a length in m). It is zero at the creation of the joint and increases when the
 * first body rotates about the axis, or moves along it, relative to the second. Motors, springs,
 * dampers, friction and stops act on it (002 section 4, with the sets of scree/set.h). Springs have
 * the distance between their two anchors as coordinate.
 *
 * A bond glues two bodies at the anchor; its axis is the normal of the glued section, from the
 * second body to the first. With the force f on the first body, its part f_n along the axis
 * (pressure positive), f_T across it, and the moments about the anchor it carries
 *     |f_T| <= shear (1 + f_n / tension) ,   |bending moment| <= bending ,   |m_axis| <= torsion .
 * At one of these limits it yields under constant load. It breaks permanently when the displacement
 * (for moments: the rotation times the size of the smaller body) reaches break_at. Its bodies can
 * then touch each other. */
#ifndef SCREE_JOINT_H
#define SCREE_JOINT_H

#include "scree/base.h"
#include "scree/pose.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum scree_JointKind {
  SCREE_JOINT_BALL,      /* the anchor points stay together */
  SCREE_JOINT_HINGE,     /* ... and the bodies turn about the axis only; in 2D about z */
  SCREE_JOINT_SLIDER,    /* they move along the axis only, and do not turn */
  SCREE_JOINT_CYLINDER,  /* they move along the axis and turn about it; 3D */
  SCREE_JOINT_UNIVERSAL, /* anchors together; turns about the axis of the first body and about
                            axis2, perpendicular to it, of the second; 3D */
  SCREE_JOINT_FIXED,     /* no relative motion */
  SCREE_JOINT_DISTANCE,  /* the two anchor points keep their distance */
  SCREE_JOINT_SPRING,    /* nothing is locked: spring, damper, stops and motor between two points */
  SCREE_JOINT_BOND,      /* no relative motion up to a strength; beyond it the bond breaks */
  SCREE_JOINT_KINDS
} scree_JointKind;

typedef enum scree_MotorKind {
  SCREE_MOTOR_NONE,
  SCREE_MOTOR_VELOCITY, /* dx/dt is given */
  SCREE_MOTOR_POSITION  /* x is given */
} scree_MotorKind;

/* Drives the free coordinate: a constant, or a pure function of (user, time). While the function
 * returns NAN the motor is off; an infinite value stops the step (SCREE_BAD_INPUT). */
typedef struct scree_Motor {
  scree_MotorKind kind;
  double target;                               /* m/s or rad/s, m or rad */
  double (*function)(void *user, double time); /* instead of target, or null; outlives the world */
  void *user;
  const char *name; /* of the function in messages, or null; outlives the world */
  double force;     /* most force, N, or torque, N m, that it applies; 0: as much as it takes */
} scree_Motor;

/* Start from scree_joint_def(). */
typedef struct scree_JointDef {
  scree_JointKind kind;
  int body[2];         /* at least one of them is no obstacle; -1: the world, at rest */
  scree_Vec3 anchor;   /* on the first body; where both are together at the start (but see below) */
  scree_Vec3 anchor2;  /* distance and spring: on the second body */
  scree_Vec3 axis;     /* any length; not used by ball, fixed, distance, spring, and 2D hinges */
  scree_Vec3 axis2;    /* universal: of the second body */
  bool collide;        /* whether the two bodies can touch each other (false) */
  scree_Motor motor;   /* hinge, slider, spring */
  double stiffness;    /* N/m or N m/rad */
  double damping;      /* N s/m or N m s/rad */
  double rest;         /* x without force of the spring; spring joints: NAN is the distance now */
  double friction;     /* dry friction: force or torque that has to be overcome */
  double lower, upper; /* stops of x (-INFINITY, INFINITY) */
  double restitution;  /* of the stops, 0 to 1 */
  /* bonds: strengths, > 0; INFINITY: no limit. In 2D there is no torsion. */
  double tension, shear;   /* N; both are finite or neither is */
  double bending, torsion; /* N m */
  double break_at;         /* m; 0: 1e-4 of the size of the smaller body */
  int label;               /* the caller's own */
} scree_JointDef;

SCREE_API scree_JointDef scree_joint_def(void);

/* "ball", "hinge", ...; null when there is no such kind. */
SCREE_API const char *scree_joint_name(scree_JointKind kind);
SCREE_API const char *scree_joint_summary(scree_JointKind kind);
/* SCREE_JOINT_KINDS when there is no such name. */
SCREE_API scree_JointKind scree_joint_find(const char *name);
/* Whether the kind exists in a world of this dimension, and whether it has a free coordinate; false
 * for values that are no kind or no dimension. */
SCREE_API bool scree_joint_exists(scree_JointKind kind, int dimension);
SCREE_API bool scree_joint_has_coordinate(scree_JointKind kind);

/* Bonds between all bodies that touch now; start from scree_bond_def(). The section of a bond is
 * that of a cement: the face on which the bodies touch, else a disk (in 2D a line) as wide as the
 * smaller body, times `width`. With its area A and section moduli Z (bending: w^2/6 in 2D, pi
 * w^3/32 in 3D, w the width of a disk of that area) and 2 Z (torsion), strengths that are stresses
 * give tension A ,   shear A ,   bending Z ,   torsion 2 Z ; of forces the moments that are not
 * given are those of a cement with these strengths. */
typedef struct scree_BondDef {
  /* Null, or whether bodies a and b are bonded if they touch; called once for each such pair. */
  bool (*select)(void *user, int a, int b);
  void *user;
  double gap;     /* widest gap that is bonded, over the size of the smaller body (1e-3) */
  double width;   /* of the section, over that of the face or the smaller body (1) */
  bool stress;    /* strengths are stresses, Pa (N/m in 2D), instead of N and N m (false) */
  double tension; /* INFINITY: does not break (default); then the others are infinite too */
  double shear, bending, torsion; /* NAN (default): as large as tension; see above */
  double break_at;                /* m; 0 (default): 1e-4 of the size of the smaller body */
  int label;                      /* of all of them */
} scree_BondDef;

SCREE_API scree_BondDef scree_bond_def(void);

/* As results and pages have it. */
typedef enum scree_JointStatus {
  SCREE_JOINT_GONE, /* one of its bodies was removed */
  SCREE_JOINT_HOLDS,
  SCREE_JOINT_BROKEN
} scree_JointStatus;

/* A joint now. The reaction is that of the last step. */
typedef struct scree_JointState {
  scree_Vec3 position; /* of the anchor of the first body */
  double x, velocity;  /* free coordinate and its rate; 0 where there is none */
  scree_Vec3 force;    /* on the first body, N; motor, spring and stops included */
  scree_Vec3 torque;   /* about the anchor, on the first body, N m */
  double effort;       /* force or torque along the free coordinate */
  double error;        /* by how far the locked motions are violated, relative to the size */
  scree_Vec3 axis;     /* of the joint, on the second body */
  double energy;       /* stored in its spring, J */
  bool broken;         /* a bond that broke: no force, and its bodies can touch */
  double plastic;      /* bond: displacement under full load so far, m */
} scree_JointState;

#ifdef __cplusplus
}
#endif

#endif
