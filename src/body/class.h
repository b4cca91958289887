/* Kinds of bodies. A kind is one file with one `const scree_BodyClass` and one line in registry.c;
 * rigid is the first and most common one: loops over bodies call its functions directly
 * (scree_bodies_... in bodies.h) and go through the table only in worlds that contain another
 * kind.
 *
 * Every body has a scree_Motion: the pose of its frame and its velocity as a whole. A kind may have
 * more state (a deformation and its rate), as doubles after it, which are saved and restored
 * with the motion. Its velocity has any number of components; in the discrete problem they are
 * scaled by the square root of the inertia, y = L^T v with M = L L^T. */
#ifndef SCREE_BODY_CLASS_H
#define SCREE_BODY_CLASS_H

#include "math/vec3.h"
#include "scree/body.h"

/* State of a body that changes in every step. 104 bytes. */
typedef struct scree_Motion {
  scree_Pose pose;
  scree_Twist velocity;
} scree_Motion;

/* Inertia of a body; an obstacle has all zero. 64 bytes. */
typedef struct scree_Inertia {
  double mass, inv_sqrt_mass;
  scree_Vec3 moments, inv_sqrt_moments; /* principal */
} scree_Inertia;

typedef struct scree_BodyClass {
  const char *name, *summary;
  int (*components)(int dimension); /* of the velocity */
  int (*state)(int dimension);      /* doubles besides scree_Motion; null: none */
  /* Free motion for a time h. */
  void (*drift)(const scree_Inertia *inertia, double h, scree_Motion *motion, double *state);
  /* Kinetic energy, and the part of rotation when not null. */
  double (*kinetic)(const scree_Inertia *inertia, const scree_Motion *motion, const double *state,
                    double *rotation);
  /* Velocity of the material point that is at `point`. */
  scree_Vec3 (*velocity)(const scree_Motion *motion, const double *state, scree_Vec3 point);
  /* The block (d x components) H L^-T of that point in the directions axes (d), times `sign`. */
  void (*block)(const scree_Inertia *inertia, const scree_Motion *motion, const double *state,
                scree_Vec3 point, const scree_Vec3 *axes, double sign, int d, double *B);
  /* Add L^-T y to the velocity. */
  void (*kick)(const scree_Inertia *inertia, const double *y, int d, scree_Motion *motion,
               double *state);
} scree_BodyClass;

extern const scree_BodyClass scree_body_rigid;
extern const scree_BodyClass *const scree_body_registry[]; /* null-terminated; rigid first */

#endif
