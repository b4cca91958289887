/* The joints of a system in its steps: constraints of the discrete problem after the contacts.
 *
 * A joint poses one constraint for its locked motions, and one row each for a motor, dry friction,
 * stops and spring of its free coordinate x. With the row H of a motion, u = H v, and its error g
 * at this kick, a time H_k before the next one:
 *     locked            u + g/H_k = 0                           r free
 *     motor             u = target, or u + (x - target)/H_k = 0   r free, or |r| <= h force
 *     dry friction      -u normal to |r| <= h friction
 *     stops             u + (x - lower)/H_k >= 0                r >= 0 ; restitution as a contact
 *     spring, damper    r = -h (k (x + h (u - u-)/4 - x0) + c (u + u-)/2)
 *     bond              u + (g - y_P)/H_k = u_P ,  -u_P normal to its set (Coulomb's flow)
 * The spring and damper follow the trapezoidal rule of 004 (1)-(5), which is stable for any
 * stiffness and conserves the energy of a linear spring exactly; solved for u this is
 * u + C r + shift = 0 with C = 1/(h^2 k/4 + h c/2).
 *
 * A bond has up to three constraints: the force on a cone shifted by its tension, bending and
 * torsion on balls. Where one is at its limit, it moves on by u_P at constant load; this is added
 * to y_P and to the displacement at which the bond breaks, after the step.
 *
 * Where bodies rotate, g at the next kick is not zero to second order in h; the solve is then
 * repeated with that error added, until g vanishes there to round-off. With theta = 1/2 this is
 * SHAKE: of second order, without drift in position or energy. In worlds with contacts and
 * deformable bodies errors of 1e-7 of the size are left, as gaps of contacts are. */
#ifndef SCREE_STEP_JOINTS_H
#define SCREE_STEP_JOINTS_H

#include "body/bodies.h"
#include "joint/joint.h"
#include "scree/problem.h"
#include "scree/step.h"
#include "step/deform.h"

struct scree_System;

/* The parts of a joint that are constraints of their own. */
enum {
  SCREE_PART_LOCKED,
  SCREE_PART_PULL, /* of a bond: normal and tangents, bending, torsion */
  SCREE_PART_BEND,
  SCREE_PART_TWIST,
  SCREE_PART_MOTOR,
  SCREE_PART_FRICTION,
  SCREE_PART_LOWER,
  SCREE_PART_UPPER,
  SCREE_PART_SPRING,
  SCREE_JOINT_PARTS
};

enum { SCREE_JOINT_IMPULSES = SCREE_JOINT_ROWS + SCREE_JOINT_PARTS - SCREE_PART_MOTOR };

/* State of a joint that is kept from step to step. All doubles. */
typedef struct scree_JointMemory {
  double x;                         /* free coordinate at the last kick; full turns are counted */
  double r[SCREE_JOINT_IMPULSES];   /* impulses of the locked rows, then of each other part */
  double plastic[SCREE_JOINT_ROWS]; /* of a bond: displacement by which each locked row gave way */
  double displacement;              /* their path length so far */
  double broken;                    /* 1: a bond that broke */
} scree_JointMemory;

/* One posed constraint. */
typedef struct scree_JointPart {
  int joint, part;
  int first;    /* of its rows among the locked ones */
  double scale; /* scale of its rows: prevents a soft spring from dominating all other rows */
} scree_JointPart;

/* The material point of a deformable body at which a joint acts: x = sum N_i q_i. */
typedef struct scree_JointAnchor {
  int count; /* vertices */
  int vertex[SCREE_TOUCH_MAX];
  double N[SCREE_TOUCH_MAX * 9]; /* (count x d x size of the vertices) */
} scree_JointAnchor;

/* What a joint needs of a side when it is made. */
typedef struct scree_JointSide {
  scree_Pose pose;
  double size;                     /* of a body that can move, else infinite */
  double known, fixed, deformable; /* 1 or 0 */
} scree_JointSide;

/* In place of a body: it is on another rank. */
enum { SCREE_JOINT_ELSEWHERE = -2 };

typedef struct scree_Joints {
  int count;
  size_t joint_capacity, memory_capacity, trial_capacity, place_capacity;
  scree_Joint *joint;        /* (count) */
  scree_JointMemory *memory; /* (count) after the last accepted step */
  scree_JointMemory *trial;  /* (count) of the current attempt */
  size_t material_capacity, anchor_capacity;
  int (*material)[2];        /* (count) anchors of its two sides, -1: rigid body or the world */
  scree_JointAnchor *anchor; /* (anchors) */
  int anchors;
  size_t pair_capacity;
  int (*pair)[3]; /* (pairs) two bodies that do not touch each other and their joint, sorted; bodies
                   * by their numbers in the whole world */
  int pairs;
  /* Of a divided world (domain_joints.c): (count) whether this rank has the joint, and whether all
   * ranks know that it broke; else null. */
  bool *here, *told;

  /* of the current step */
  scree_GeneralRows rows; /* its arrays; row[0] is the end of the contacts */
  scree_JointPart *part;  /* (rows.count) */
  scree_JointRow *row;    /* (rows) the rows themselves, and the errors of locked motions now */
  double *error;
  double *shift, *before; /* (rows) q without the free velocity; velocity before the kick */
  size_t part_capacity, row_capacity, number_capacity;
  double elastic; /* energy of springs at the start of the step */
  long long all;  /* rows.count of all ranks */
} scree_Joints;

/* ---- create and destroy ---------------------------------------------------------------------- */

void scree_joints_fini(scree_Joints *joints);
/* All ranks of a divided world make the same calls. */
scree_Status scree_joints_add(struct scree_System *s, const scree_JointDef *def);
/* The same where the sides are known. */
scree_Status scree_joints_add_sides(struct scree_System *s, const scree_JointDef *def,
                                    const scree_JointSide side[2]);
/* A body of this rank, or -1, as a side. */
scree_JointSide scree_joint_side(const struct scree_System *s, int body);
/* Whether a joint that is not broken keeps bodies i and j from touching each other. */
bool scree_joints_apart(const struct scree_System *s, int i, int j);
/* The overlap from which bodies i and j touch each other, over the size of the smaller: 0 for
 * bodies without a joint, infinite for joints that keep them apart. Bodies that a bond holds
 * together touch once it has given way a little: a bond is as strong as it says until then, and
 * turning bodies do not go into each other while it is drawn out. */
double scree_joints_spare(const struct scree_System *s, int i, int j);
/* Bonds with a label, or any (-1), and those of them that broke; of the whole world. */
void scree_joints_count_bonds(const struct scree_System *s, int label, int *bonds, int *broken);
size_t scree_joints_memory(const scree_Joints *joints);

/* ---- a step ---------------------------------------------------------------------------------- */

/* Whether this rank has joint k. */
static inline bool scree_joint_is_here(const scree_Joints *joints, int k) {
  return !joints->here || joints->here[k];
}
/* Whether it does, and the joint exists: none of its bodies was removed, and it is not broken. */
bool scree_joint_is_there(const struct scree_System *s, int k);
/* Constraints and rows that the joints pose. */
void scree_joints_size(const struct scree_System *s, int *constraints, size_t *rows);
/* Mark the bodies of joints in index (bodies), as those of contacts are. */
void scree_joints_mark(const struct scree_System *s, int *index);
/* Whether joints exist that only lock motions and stop them: no springs, motors or friction. */
bool scree_joints_only_hold(const struct scree_System *s);
/* Add to busy (bodies) for the bodies of joints, which move together with others. */
void scree_joints_count(const struct scree_System *s, int *busy);
/* Rows and blocks, appended to those of nc contacts. */
scree_Status scree_joints_pose(struct scree_System *s, int nc);
/* The row (nb) of body in its scaled velocity (rigid.h), times `scale`. */
void scree_joints_block(const scree_Bodies *b, int body, scree_Vec3 linear, scree_Vec3 angular,
                        double scale, double *B);
/* q, sets and the initial r, from the impulses of the last step or of the current attempt. */
void scree_joints_fill(struct scree_System *s, double h);
/* The shifts are corrected by the error of the locked motions at the next kick. Returns the largest
 * correction, as an error relative to the size of the joint; *error_most is the largest error,
 * some of which may be left (joints_pose.c). */
double scree_joints_correct(struct scree_System *s, double *error_most);
/* Store the current impulses as those of the attempt. */
void scree_joints_remember(struct scree_System *s);
/* Accept the attempt. */
void scree_joints_commit(scree_Joints *joints);
/* Work of the joints of this rank in the step; see certify.c. */
void scree_joints_work(const struct scree_System *s, double h, scree_EnergyBalance *balance);
/* Energy stored in springs now, in the whole world. */
double scree_joints_elastic(const struct scree_System *s);
/* The current state of a joint, with the reactions of a last step of length h. */
scree_JointState scree_joints_state(const struct scree_System *s, int joint, double h);

#endif
