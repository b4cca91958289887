/* Deformable bodies in a step (body/class.h): their part of the discrete problem.
 *
 * Contacts of rigid bodies only come first, in the short form of scree_BodyRows; those that touch a
 * deformable body follow as constraints of d rows, then the joints. So the rows of contact c start
 * at c d in both cases, and worlds of rigid bodies never see this file. Within both groups contacts
 * are in the order of their pairs. The vertices of deformable bodies that touch something follow
 * the rigid bodies of the problem. In a cell under a pressure all contacts are in that form, and
 * the only further vertex is that of the cell (cell_pose.c). */
#ifndef SCREE_STEP_DEFORM_H
#define SCREE_STEP_DEFORM_H

#include "body/bodies.h"
#include "core/arena.h"
#include "geometry/contact_match.h"
#include "scree/problem.h"
#include "scree/step.h"

struct scree_System;
struct scree_Points;

typedef struct scree_Deform {
  int first;               /* contacts before this one touch rigid bodies and obstacles only */
  scree_Vertices vertices; /* of the deformable bodies in the problem */
  scree_GeneralRows rows;  /* contacts first .. nc-1, then the joints */
  size_t size_capacity, coupled_row_capacity, coupled_capacity, coupled_number_capacity;
  size_t row_capacity, entry_capacity, vertex_capacity, block_capacity, number_capacity,
      compliance_capacity;
  /* Energies of the deformable bodies in a step (deform_energy.c). */
  struct scree_DeformEnergy *energy; /* (deformable_count) */
  size_t energy_capacity;
  double strain, strain_end; /* elastic energy of all at the start of the step and at its end */
  double misplaced;          /* energy that the step created or lost in implicit vibrations */
  /* Forces on nodes in this step, which act for the time `loaded`; 0: none. */
  double *load; /* (components of all deformable bodies) */
  size_t load_capacity;
  double loaded;
  struct scree_DeformEnd *end; /* (deformable_count) those in the problem at its end */
  double *later;               /* (components of all) their coordinates then */
  size_t end_capacity, later_capacity;
  double *goal; /* (components of all) velocities of driven nodes after the kick (body/driven.h) */
  size_t goal_capacity;
  int inverted; /* a body that the step turned inside out, or -1 */
  int groups;   /* deformable bodies in the problem */
  int *group;   /* (groups + 1) their first vertices */
  size_t group_capacity;
} scree_Deform;

typedef struct scree_DeformEnergy {
  double begun, end; /* elastic energy at the start and the end of the step */
  double work;       /* of internal forces in the kick */
  double taken;      /* of the vibration at the end */
  double misplaced;  /* created or lost, and not taken or given back */
  double owed;       /* increase of what the body lacks of the energy that it should have */
  bool pushed;       /* by a contact, or held by a joint */
} scree_DeformEnergy;

void scree_deform_fini(scree_Deform *deform);
size_t scree_deform_memory(const scree_Deform *deform);

/* Whether a contact touches a deformable body. */
static inline bool scree_deform_touches(const scree_Bodies *b, const scree_ContactKey *key) {
  return b->deformable_index &&
         (b->deformable_index[key->i] >= 0 || b->deformable_index[key->j] >= 0);
}
/* Whether contacts of a come before those of b: their order in the lists of a step. */
static inline bool scree_deform_before(const scree_Bodies *bodies, const scree_ContactKey *a,
                                       const scree_ContactKey *b) {
  const bool da = scree_deform_touches(bodies, a), db = scree_deform_touches(bodies, b);
  if (da != db) return db;
  if (a->i != b->i) return a->i < b->i;
  return a->j < b->j || (a->j == b->j && a->image < b->image);
}

/* Drop the points from `first` on whose two sides nothing can move: held nodes and obstacles. */
void scree_deform_drop_stuck(const struct scree_System *s, struct scree_Points *points,
                             size_t first);
/* Put the contacts, sorted by pairs, into that order, without those that are stuck. */
scree_Status scree_deform_sort(struct scree_System *s);
/* scree_contact_match_near for lists in that order. */
void scree_deform_match(const scree_Bodies *bodies, const scree_ContactKey *old_keys,
                        const scree_Vec3 *old_arms, size_t old_count, const scree_ContactKey *keys,
                        const scree_Vec3 *arms, size_t count, int32_t *previous);

/* Forces, inertia and the kick without contacts at the current coordinates, for forces that act for
 * a time h. SCREE_NOT_CONVERGED for a body that is turned inside out. */
scree_Status scree_deform_prepare(struct scree_System *s, double h);
/* Of all ranks: SCREE_NOT_CONVERGED, and its number in the whole world in `inverted`, if a body is
 * turned inside out; -1: none of this rank. */
scree_Status scree_deform_judge(struct scree_System *s, int inverted);
/* Vertices of the bodies marked in posed.problem_index, which becomes their first vertex. */
scree_Status scree_deform_number(struct scree_System *s);
/* Blocks of the contacts first .. nc-1. */
scree_Status scree_deform_pose(struct scree_System *s);
/* Append the joints and the compliance; call when both are filled. */
scree_Status scree_deform_close(struct scree_System *s);
/* The velocity of body or vertex `index` of the problem in posed.y. */
const double *scree_deform_solved(const struct scree_System *s, int index);
/* Diagonal entry `axis` of W at contact c >= first, without the coupling of vertices. */
double scree_deform_diagonal(const struct scree_System *s, int c, int axis);

/* Velocity of a point of body k: before the kick, after a kick without contacts, or after it. */
typedef enum scree_VelocityTime {
  SCREE_BEFORE,
  SCREE_FREE,
  SCREE_AFTER,
  SCREE_NOW
} scree_VelocityTime;
scree_Vec3 scree_deform_velocity(const struct scree_System *s, int k, scree_VelocityTime moment,
                                 scree_Vec3 point, uint32_t part);
/* Mean velocity in the kick that obstacles impose on a point of body k; zero if they do not. */
scree_Vec3 scree_deform_driven(const struct scree_System *s, int k, scree_Vec3 point,
                               uint32_t part);
/* Velocities after the kick, from posed.y. */
void scree_deform_after(struct scree_System *s);
/* Bound of the motion of deformable body k in a time h, from now on. */
double scree_deform_reach(const struct scree_System *s, int k, scree_VelocityTime moment, double h);
/* Whether the shape of body k does not follow its deformation. */
static inline bool scree_deform_keeps_shape(const scree_Bodies *b, int k) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  return self && self->class_->deformed && self->elastic.keeps_shape;
}
/* A body of a contact at some coordinates; null: a rigid one. */
typedef struct scree_DeformedSide {
  const scree_Deformable *self;
  const double *q;
} scree_DeformedSide;
/* The law has the velocities of material points. So where a body keeps its shape, which shows the
 * normal, the points on[2] of the two surfaces become those of the deformed body (class.h): the gap
 * then changes as the velocity says. The point of a body that does not keep its shape goes along,
 * at right angles to n: apart, equal and opposite impulses would not keep the angular momentum.
 * `shift` is that of the image of the second body. Returns false if neither keeps its shape. */
bool scree_deform_touched(const scree_DeformedSide side[2], scree_Vec3 shift, scree_Vec3 n,
                          scree_Vec3 on[2]);
/* The same for position and gap of point k of a list, or of a whole list at the present
 * coordinates. */
void scree_deform_point(const scree_DeformedSide side[2], scree_Vec3 shift,
                        struct scree_Points *points, size_t k);
void scree_deform_points(const struct scree_System *s, struct scree_Points *points);
/* A deformable body after a further time h with its velocity after the kick. */
typedef struct scree_DeformEnd {
  scree_Shape shape; /* a view, which owns nothing */
  scree_Pose pose;
} scree_DeformEnd;
/* Fill s->deform.end for the bodies that may touch something. */
scree_Status scree_deform_foresee(struct scree_System *s, double h);
/* Current place of the material point of body k that is at `point` of part `part` then. */
scree_Vec3 scree_deform_back(const struct scree_System *s, int k, scree_Vec3 point, uint32_t part);
/* Set the velocities of all deformable bodies to those after the kick. */
void scree_deform_kick(struct scree_System *s);
/* Work of internal forces in the kick: the elastic part into scheme, without the change of the
 * stored energy (advance.c), damping into friction. */
void scree_deform_work(struct scree_System *s, scree_EnergyBalance *balance);

/* Elastic energies at the start of a step. */
scree_Status scree_deform_begin(struct scree_System *s);
/* The same at its end; energy that the step created is taken from the vibrations. A body that was
 * turned inside out gives SCREE_NOT_CONVERGED: a shorter step may avoid it. */
scree_Status scree_deform_settle(struct scree_System *s, scree_EnergyBalance *balance);
/* The message for a body for which the shortest step is too long. */
scree_Status scree_deform_refuse(const struct scree_System *s);

#endif
