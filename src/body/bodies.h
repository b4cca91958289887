/* The bodies of a world: arrays indexed by body; data that every step reads are separate from data
 * that is rarely needed. */
#ifndef SCREE_BODY_BODIES_H
#define SCREE_BODY_BODIES_H

#include "body/rigid.h"
#include "geometry/broad.h"

#include <stddef.h>

/* Data needed once per contact or less often. What contacts need of a body (material, group, belt,
 * kind and sizes of its shape) is in one line of the cache. */
typedef struct scree_BodyCold {
  _Alignas(64) int material;
  uint32_t group;
  int driver; /* index into drivers, -1 for a body without one */
  bool belt;
  scree_Shape shape;
} scree_BodyCold;
_Static_assert(offsetof(scree_BodyCold, shape.size) + sizeof(double) <= 64, "one line");

typedef struct scree_Driver {
  scree_Signal signal;
  int body;
  scree_Twist before; /* velocity until the last change by scree_bodies_drive */
} scree_Driver;

/* In place of a body: the force acts on a body that this rank does not have. */
enum { SCREE_FORCE_ELSEWHERE = -2 };

typedef struct scree_Force {
  scree_Signal signal;
  int body; /* -1: all */
  bool per_mass;
  scree_Span span[2];
  struct scree_Patch *patch; /* of a finite-element body, or null: the whole body */
} scree_Force;

static inline bool scree_span_counts(const scree_Span *span) {
  return scree_norm2(span->along) > 0;
}
/* The factor of a force by its spans, from the places of their bodies. */
double scree_force_factor(const scree_Force *force, scree_Vec3 place[2][2]);
/* Check spans between `bodies` bodies. */
scree_Status scree_force_check_spans(const scree_ForceDef *def, int bodies, const scree_Log *log);

/* Removed bodies keep their number and data, but take no part in the simulation. */
enum { SCREE_BODY_OBSTACLE = 1, SCREE_BODY_GONE = SCREE_BROAD_ABSENT };

typedef struct scree_Bodies {
  int dimension, count;
  int nb;     /* velocity components of a rigid body: 3 or 6 */
  bool balls; /* all bodies except obstacles are rigid balls with equal moments */
  /* Bodies that are not rigid (deformable.c). */
  int deformable_count;
  size_t deformable_capacity, index_capacity, state_capacity, work_capacity, account_capacity;
  scree_Deformable *deformable; /* (deformable_count) in the order of the world */
  int *deformable_index;        /* (count) index in `deformable`, or -1; null: there are none */
  size_t components;            /* of all of them */
  double *state;                /* (2 components) q, then v, of each */
  double *work; /* (2 components) change of v in a kick without contacts, then v after the kick */
  double *account; /* (deformable_count) energy that steps created in each (step/deform_energy.c) */
  size_t motion_capacity, inertia_capacity, cold_capacity, fixed_capacity, gone_capacity;
  scree_Motion *motion;   /* (count) */
  scree_Inertia *inertia; /* (count) */
  scree_BodyCold *cold;   /* (count) */
  unsigned char *fixed;   /* (count) bits below; 0: a body that moves */
  int64_t *gone;          /* (count) step after which it was removed, -1: not removed; or null */
  int gone_count;
  double thinnest; /* smallest size of all shapes; INFINITY without any */
  int driver_count, force_count;
  size_t driver_capacity, force_capacity;
  scree_Driver *drivers; /* (driver_count) obstacles that move */
  scree_Force *forces;   /* (force_count) */
} scree_Bodies;

void scree_bodies_init(scree_Bodies *bodies, int dimension);
void scree_bodies_fini(scree_Bodies *bodies);
scree_Status scree_bodies_add(scree_Bodies *bodies, const scree_BodyDef *def, const scree_Log *log);
scree_Status scree_bodies_add_force(scree_Bodies *bodies, const scree_ForceDef *def,
                                    const scree_Log *log);
scree_Status scree_bodies_check_pose(const scree_Bodies *bodies, int body, const scree_Pose *pose,
                                     const scree_Log *log);

/* Remove a body after step `step`, or (-1) restore it at rest. */
scree_Status scree_bodies_set_gone(scree_Bodies *bodies, int body, int64_t step,
                                   const scree_Log *log);

/* Velocities of all obstacles from their drivers at `time`; SCREE_BAD_INPUT when one is not finite.
 */
scree_Status scree_bodies_drive(scree_Bodies *bodies, double time, const scree_Log *log);
/* Velocity of body k before that call: obstacles change theirs when bodies are kicked. */
static inline scree_Twist scree_bodies_velocity_before(const scree_Bodies *bodies, int k) {
  const int driver = bodies->fixed[k] ? bodies->cold[k].driver : -1;
  return driver >= 0 ? bodies->drivers[driver].before : bodies->motion[k].velocity;
}

/* The deformable body k, or null: it is rigid or an obstacle. */
static inline const scree_Deformable *scree_bodies_deformable(const scree_Bodies *b, int k) {
  if (!b->deformable_index || b->deformable_index[k] < 0) return NULL;
  return &b->deformable[b->deformable_index[k]];
}
/* Coordinates and velocity of a deformable body; in a kick, the change of the velocity without
 * contacts, and the velocity after it. */
static inline double *scree_deformable_q(const scree_Bodies *b, const scree_Deformable *self) {
  return b->state + 2 * self->offset;
}
static inline double *scree_deformable_v(const scree_Bodies *b, const scree_Deformable *self) {
  return b->state + 2 * self->offset + self->components;
}
static inline double *scree_deformable_change(const scree_Bodies *b, const scree_Deformable *self) {
  return b->work + 2 * self->offset;
}
static inline double *scree_deformable_after(const scree_Bodies *b, const scree_Deformable *self) {
  return b->work + 2 * self->offset + self->components;
}
/* Shape and motion of a deformable body from its q and v, after these were changed. */
void scree_deformable_update(scree_Bodies *bodies, const scree_Deformable *self);
/* Free motion of a deformable body for a time h. */
void scree_deformable_drift(scree_Bodies *bodies, const scree_Deformable *self, double h);
/* The rates v as those of the motion as a rigid body, and the undeformed coordinates as well. */
void scree_bodies_set_rigid_velocity(scree_Bodies *bodies, int k, const scree_Twist *velocity);
void scree_bodies_set_undeformed(scree_Bodies *bodies, int k, const scree_Pose *pose);

/* A deformable body on its way between ranks, besides its shape as it was given, mass and motion
 * (deformable_send.c). Rigid bodies have no bytes. */
size_t scree_deformable_bytes(const scree_Bodies *bodies, int k);
void scree_deformable_send(const scree_Bodies *bodies, int k, void *to);
/* Make body k, whose other data have arrived, behind all deformable ones. */
scree_Status scree_deformable_receive(scree_Bodies *bodies, int k, const void *from, size_t bytes,
                                      const scree_Log *log);
/* The account, coordinates and rates of a body that is there: doubles. */
size_t scree_deformable_state_bytes(const scree_Bodies *bodies, int k);
void scree_deformable_get(const scree_Bodies *bodies, int k, void *state);
void scree_deformable_put(scree_Bodies *bodies, int k, const void *state);
/* The shape of a body as it was given, before any deformation; its data are those of the body. */
scree_Shape scree_body_given_shape(const scree_Bodies *bodies, int k);
/* Destroy what body k has as a deformable one. Call the next function afterwards. */
void scree_deformable_drop(scree_Bodies *bodies, int k);
/* The list of deformable bodies again in the order of the world, from deformable_index, after
 * bodies were moved, received or dropped. False: out of memory. */
bool scree_deformable_sort(scree_Bodies *bodies);
/* Make what a deformable body of a definition owns, and room for it behind the others. */
scree_Status scree_deformable_make(scree_Bodies *bodies, int k, const scree_BodyDef *def,
                                   const scree_Inertia *inertia, scree_Deformable *self,
                                   const scree_Log *log);
/* Room for one more deformable body, or (0) for the index of all bodies alone. */
bool scree_deformable_reserve(scree_Bodies *bodies, size_t components);

/* Bodies of all kinds. */
static inline void scree_bodies_drift(scree_Bodies *b, int k, double h) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (self)
    scree_deformable_drift(b, self, h);
  else
    scree_rigid_drift(&b->inertia[k], h, &b->motion[k]);
}
static inline double scree_bodies_kinetic(const scree_Bodies *b, int k, double *rotation) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (self) return self->class_->kinetic(self, scree_deformable_v(b, self), rotation);
  return scree_rigid_kinetic(&b->inertia[k], &b->motion[k], rotation);
}

/* SCREE_BAD_INPUT when a pose or a velocity at `time` is not finite. */
scree_Status scree_bodies_check_motion(const scree_Bodies *bodies, double time,
                                       const scree_Log *log);

/* The length to which a gap between two bodies is compared. */
static inline double scree_pair_size(const scree_Shape *a, const scree_Shape *b) {
  return a->size < b->size ? a->size : b->size;
}

/* Whether a body is a ball with equal moments about all axes; rigid if it is no obstacle. */
static inline bool scree_is_ball(const scree_Shape *shape, const scree_Inertia *inertia) {
  return scree_shape_is_ball(shape) && scree_inertia_isotropic(inertia);
}

/* Whether the pose of a body changes: belts and obstacles at rest keep theirs. */
static inline bool scree_body_moves(const scree_Bodies *bodies, int k) {
  return !bodies->fixed[k] || (bodies->cold[k].driver >= 0 && !bodies->cold[k].belt);
}

/* State that a step changes, of all bodies of all kinds: motions, then `state`, all doubles. */
size_t scree_bodies_snapshot_size(const scree_Bodies *bodies);
void scree_bodies_save(const scree_Bodies *bodies, int threads, void *snapshot);
void scree_bodies_restore(scree_Bodies *bodies, const void *snapshot);

/* Free the spare capacity. */
void scree_bodies_fit(scree_Bodies *bodies);
/* Room for n bodies; false when memory runs out. */
bool scree_bodies_reserve(scree_Bodies *bodies, size_t n);

size_t scree_bodies_memory(const scree_Bodies *bodies);

#endif
