/* scree/body.h — definition of bodies, obstacles and forces. */
#ifndef SCREE_BODY_H
#define SCREE_BODY_H

#include "scree/shape.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions of time ----------------------------------------------------------------------- */

typedef enum scree_SignalKind {
  SCREE_SIGNAL_ZERO,
  SCREE_SIGNAL_CONSTANT,
  SCREE_SIGNAL_TABLE,   /* linear between the entries, held before the first and after the last */
  SCREE_SIGNAL_CALLBACK /* must be a pure function of (user, time): a resumed run calls it again */
} scree_SignalKind;

/* A twist (velocity of an obstacle, or force and torque) as a function of time. The world copies
 * tables; `user` must outlive the world. A step in which the value is not finite fails with
 * SCREE_BAD_INPUT and changes nothing. */
typedef struct scree_Signal {
  scree_SignalKind kind;
  scree_Twist constant;
  int count;                 /* of the table */
  const double *times;       /* (count) ascending */
  const scree_Twist *values; /* (count) */
  scree_Twist (*callback)(void *user, double time);
  void *user;
  /* (6) or null: what messages call the components, linear then angular; must outlive the world */
  const char *const *names;
} scree_Signal;

/* ---- bodies ---------------------------------------------------------------------------------- */

typedef enum scree_BodyKind {
  SCREE_BODY_RIGID,
  SCREE_BODY_PSEUDO_RIGID, /* deforms by an affine map: 12 degrees of freedom, 6 in 2D (004 8.1) */
  SCREE_BODY_ELEMENTS,     /* finite elements, of a shape `elements` (004 8.2) */
  SCREE_BODY_KINDS
} scree_BodyKind;

/* "rigid", "pseudo-rigid", "elements"; null for other values. */
SCREE_API const char *scree_body_kind_name(scree_BodyKind kind);
/* Kind by name; SCREE_BODY_KINDS when there is none. */
SCREE_API scree_BodyKind scree_body_kind(const char *name);

/* A body or an obstacle; start from scree_body_def(). */
typedef struct scree_BodyDef {
  const scree_Shape *shape; /* copied; its data is shared */
  bool obstacle;            /* infinite mass; unbounded shapes must be */
  scree_Pose pose;
  scree_Twist velocity; /* of a body that is not an obstacle */
  double density;       /* used when mass is 0 (1000) */
  double mass;          /* 0: from the density and the shape */
  scree_Vec3 inertia;   /* principal moments; all zero: the shape's own for the mass. 2D: z alone */
  int material;         /* of scree_world_add_material (0: the first, always there) */
  uint32_t group;       /* bodies of the same group other than 0 do not touch each other (0) */
  scree_Signal driver;  /* of an obstacle: its velocity as a function of time */
  bool belt;            /* of an obstacle: the driver moves its surface, the shape stays in place */
  scree_BodyKind kind;  /* of a body that is not an obstacle (rigid) */
  scree_Elastic elastic; /* of deformable bodies */
} scree_BodyDef;

SCREE_API scree_BodyDef scree_body_def(void);

/* A length that changes with the motion: along . (x of body[0] - x of body[1]) - less, at least 0.
 */
typedef struct scree_Span {
  int body[2];
  scree_Vec3 along; /* zero: no span */
  double less;
} scree_Span;

/* A force and torque (world frame, torque about the centre of mass) on one body, or on all. Spans
 * make it a pressure: the signal is multiplied by each of them, as it is at the middle of the step.
 */
typedef struct scree_ForceDef {
  int body;      /* -1: every body that is not an obstacle */
  bool per_mass; /* `signal.linear` is an acceleration; then the torque must be zero */
  scree_Signal signal;
  scree_Span span[2];
  /* On nodes of a finite-element body: those for which it is true where they are when the force is
   * added. The force is spread over the faces of the surface all of whose nodes are chosen, by
   * their areas; if there are none, equally over the nodes. The torque is not used. Null: on the
   * whole body. */
  bool (*nodes)(void *user, scree_Vec3 place);
  void *nodes_user;
  bool pressure; /* `signal.linear.z` is a pressure on these faces, which it follows as they deform
                  */
} scree_ForceDef;

/* Nodes of a finite-element body that move with an obstacle as if they were part of it: those for
 * which it is true where they are when this is added (asked once for each node, in the order of
 * their numbers). Obstacles do not move by it; the work that they do is that of drivers in the
 * energy balance. */
typedef struct scree_DrivenDef {
  int body, obstacle;
  bool (*nodes)(void *user, scree_Vec3 place);
  void *nodes_user;
} scree_DrivenDef;

#ifdef __cplusplus
}
#endif

#endif
