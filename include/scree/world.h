/* scree/world.h — bodies, obstacles, materials and forces that move together in time.
 *
 * A world is built by calls (or from a scene file, which makes the same calls), then stepped:
 *
 *     scree_WorldSettings settings = scree_world_settings();
 *     settings.step = 1e-3;
 *     scree_world_create(&settings, log, &world);
 *     scree_world_add_body(world, &def, &body);                 any number, also between steps
 *     while (scree_world_time(world) < 1) scree_world_step(world, &report);
 *     scree_world_destroy(world);
 *
 * Each step finds the contacts, poses the discrete problem (problem.h), solves it, moves the bodies
 * and certifies what it did in a scree_StepReport. A step whose error is above the tolerance is
 * tried again with a tighter solver, then as halved steps, and what is left is reported: the status
 * is SCREE_NOT_CONVERGED and the report says where.
 *
 * Bodies are named by their index, in the order in which they were added; obstacles are bodies of
 * infinite mass. There are no absolute tolerances: lengths are compared with the sizes of the
 * bodies that touch. The bits of the state do not depend on the number of threads, nor on whether
 * the state was saved and restored on the way. */
#ifndef SCREE_WORLD_H
#define SCREE_WORLD_H

#include "scree/body.h"
#include "scree/law.h"
#include "scree/step.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct scree_World scree_World;

/* The defaults. */
SCREE_API scree_WorldSettings scree_world_settings(void);

/* ---- life ------------------------------------------------------------------------------------ */

/* `log` (or null) is kept and must outlive the world. *world is null on failure. */
SCREE_API scree_Status scree_world_create(const scree_WorldSettings *settings, const scree_Log *log,
                                          scree_World **world);
SCREE_API void scree_world_destroy(scree_World *world);

/* The settings in use. Names and options point into the world. */
SCREE_API const scree_WorldSettings *scree_world_get_settings(const scree_World *world);
/* Change the step, the solver, or any other setting but the dimension, between steps. */
SCREE_API scree_Status scree_world_set_settings(scree_World *world,
                                                const scree_WorldSettings *settings);

/* Materials are numbered from 0; the first exists from the start. A pair without a law of its own
 * takes the default law. */
SCREE_API scree_Status scree_world_add_material(scree_World *world, int *material);
SCREE_API scree_Status scree_world_set_default_law(scree_World *world, const scree_PairLaw *law);
SCREE_API scree_Status scree_world_set_pair_law(scree_World *world, int material_a, int material_b,
                                                const scree_PairLaw *law);

/* `body` (or null) receives the index. */
SCREE_API scree_Status scree_world_add_body(scree_World *world, const scree_BodyDef *def,
                                            int *body);
/* Take a body or obstacle away, between steps. It keeps its number, so that all others keep theirs,
 * its shape and the place where it was, but it is at rest and takes no part in anything: no
 * contacts, energies, momentum or forces. The bodies that touched it find no contact there in the
 * next step. */
SCREE_API scree_Status scree_world_remove_body(scree_World *world, int body);
SCREE_API scree_Status scree_world_add_force(scree_World *world, const scree_ForceDef *def);

/* ---- state ----------------------------------------------------------------------------------- */

SCREE_API double scree_world_time(const scree_World *world);
SCREE_API int64_t scree_world_steps(const scree_World *world);  /* calls of scree_world_step */
SCREE_API int scree_world_body_count(const scree_World *world); /* removed ones included */
SCREE_API int scree_world_removed_count(const scree_World *world);

SCREE_API scree_Pose scree_body_pose(const scree_World *world, int body);
/* Of an obstacle: its driver at the middle of the last step. */
SCREE_API scree_Twist scree_body_velocity(const scree_World *world, int body);
SCREE_API scree_Status scree_body_set_pose(scree_World *world, int body, const scree_Pose *pose);
SCREE_API scree_Status scree_body_set_velocity(scree_World *world, int body,
                                               const scree_Twist *velocity);
SCREE_API const scree_Shape *scree_body_shape(const scree_World *world, int body);
SCREE_API bool scree_body_is_obstacle(const scree_World *world, int body);
SCREE_API bool scree_body_is_removed(const scree_World *world, int body);
/* Steps that were done when it was removed; -1: it is there. */
SCREE_API int64_t scree_body_removed_step(const scree_World *world, int body);
SCREE_API double scree_body_mass(const scree_World *world, int body); /* INFINITY: obstacle */
SCREE_API scree_Vec3 scree_body_inertia(const scree_World *world, int body);
SCREE_API int scree_body_material(const scree_World *world, int body);

/* ---- stepping and the certificate ------------------------------------------------------------ */

/* One step of length settings.step. `report` may be null. SCREE_OK: certified; SCREE_NOT_CONVERGED:
 * done, but the report shows what is above the tolerance; otherwise nothing was changed and the
 * report is not filled: SCREE_BAD_INPUT (a driver or force is not finite at some time, or the
 * motion is not at the end: the message names the body or force and the time), SCREE_MACHINE, or
 * SCREE_INTERRUPTED (settings.solve.interrupted returned true). The step can then be repeated, to
 * the same bits as if it had not been tried. */
SCREE_API scree_Status scree_world_step(scree_World *world, scree_StepReport *report);

/* The step under way, for the callbacks of settings.solve, which are called in the middle of one.
 */
typedef struct scree_StepProgress {
  int64_t step; /* its number, from 1 */
  double time;  /* at its start */
  int attempts; /* at the step, or at a part of it once it is halved; the present one included */
  int solves;   /* done so far */
  int contacts; /* of the problem at hand, or of the last one */
} scree_StepProgress;

SCREE_API scree_StepProgress scree_world_progress(const scree_World *world);

/* ---- contacts and analysis ------------------------------------------------------------------- */

typedef enum scree_ContactStatus {
  SCREE_CONTACT_OPEN,  /* no impulse */
  SCREE_CONTACT_STICK, /* impulse strictly inside the cone */
  SCREE_CONTACT_SLIP   /* impulse on the boundary of the cone */
} scree_ContactStatus;

/* A contact of the last step, at the configuration in which it was found. */
typedef struct scree_Contact {
  int body[2];
  uint32_t part[2];            /* of the two bodies, where their shapes are clumps; else 0 */
  uint32_t feature;            /* names the contact within the pair, the same in every step */
  scree_Vec3 position, normal; /* the normal points from body[1] to body[0] */
  scree_Vec3 tangent[2];       /* 2D: tangent[1] is z and unused */
  double gap;                  /* negative: penetration; euler: less what turning takes of it */
  double mu;
  double r[3], u[3]; /* impulse on body[0] and relative velocity after, (n, t1, t2) */
  scree_ContactStatus status;
  double error; /* its natural map over the scale of the step's `error` (measure.h) */
} scree_Contact;

SCREE_API int scree_world_contact_count(const scree_World *world);
SCREE_API scree_Contact scree_world_contact(const scree_World *world, int contact);

/* The discrete problem of the last (sub)step as a view into the world, with its solution r and u
 * (nc x d); any of the pointers may be null. Valid until the world changes. SCREE_BAD_INPUT before
 * the first step. Body k of the problem is body problem_body[k] of the world: only bodies with
 * contacts are in it. When all of them are balls, so is the form of the problem. */
SCREE_API scree_Status scree_world_problem(const scree_World *world, scree_Problem *problem,
                                           const double **r, const double **u,
                                           const int **problem_body);

/* Energies now, and the sums of the flows since the start (closing: sum of absolute values). */
SCREE_API scree_EnergyBalance scree_world_energy(const scree_World *world);

typedef struct scree_Analysis {
  double kinetic, kinetic_rotation, potential;
  scree_Vec3 momentum, angular_momentum; /* about the origin */
  scree_Vec3 centre;                     /* of mass */
  double mass;
  int open, stick, slip; /* contacts of the last step by status */
  double coordination;   /* mean number of active contacts of a body that is not an obstacle */
  double coordination_touching; /* the same over bodies with at least one */
  int rattlers;                 /* bodies without any */
  double penetration;           /* deepest of the last step, relative to the smaller body */
  double volume;                /* of the region below */
  double packing_fraction;      /* volume of bodies whose centre is in the region, over it */
  double stress[9]; /* -(1/V) sum f (x) branch over the contacts in the region, row by row; force
                     * f = impulse / h; compression is negative */
  double fabric[9]; /* mean of n (x) n over the active contacts in the region */
} scree_Analysis;

/* `region` null: the bounds of all bodies that are not obstacles. Fails only when memory runs out.
 */
SCREE_API scree_Status scree_world_analyse(const scree_World *world, const scree_Aabb *region,
                                           scree_Analysis *analysis);

/* Deepest penetration in the present configuration, relative to the smaller body, by a detection of
 * its own; 0 when nothing overlaps. `body` (2) or null receives the pair. */
SCREE_API scree_Status scree_world_penetration(const scree_World *world, double *penetration,
                                               int *body);

/* Bytes held by the world, its lists of candidates included (the solver and other work of a step is
 * not counted), and by its solver, which keeps its memory from step to step. */
SCREE_API size_t scree_world_memory(const scree_World *world);
SCREE_API size_t scree_world_solver_memory(const scree_World *world);

/* ---- saving ---------------------------------------------------------------------------------- */

/* All that changes from step to step (poses, velocities, which bodies were removed, contacts with
 * their impulses, time, counters, energy sums) as one flat buffer: machine byte order, checked by a
 * version and sizes. Shapes, laws, forces and drivers belong to the scene: restore into a world
 * that was built by the same calls, with the same bodies; the continuation then has the same bits
 * as if it had never been stopped. */
SCREE_API size_t scree_world_state_size(const scree_World *world);
SCREE_API void scree_world_save(const scree_World *world, void *buffer);
SCREE_API scree_Status scree_world_restore(scree_World *world, const void *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
