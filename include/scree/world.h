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
 * Each step detects the contacts, sets up the contact problem (problem.h), solves it, moves the
 * bodies, and measures its errors in a scree_StepReport. A step whose error is above the tolerance
 * is repeated with a tighter solver, then as halved steps. If the error is still above the
 * tolerance, the status is SCREE_NOT_CONVERGED and the report has the place.
 *
 * Bodies are identified by their index, in the order in which they were added; obstacles are bodies
 * of infinite mass. There are no absolute tolerances: lengths are compared with the sizes of the
 * bodies that touch. The bits of the state do not depend on the number of threads, nor on whether
 * the state was saved and restored on the way. */
#ifndef SCREE_WORLD_H
#define SCREE_WORLD_H

#include "scree/body.h"
#include "scree/cell.h"
#include "scree/contact.h"
#include "scree/joint.h"
#include "scree/law.h"
#include "scree/parallel.h"
#include "scree/step.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct scree_World scree_World;

/* The defaults. */
SCREE_API scree_WorldSettings scree_world_settings(void);

/* ---- life ------------------------------------------------------------------------------------ */

/* A copy of `log` is kept. *world is null on failure. */
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
SCREE_API int scree_world_material_count(const scree_World *world);
/* The law of a pair in force. Checked: for materials that do not exist there is a message, and the
 * default law. */
SCREE_API scree_PairLaw scree_world_pair_law(const scree_World *world, int material_a,
                                             int material_b);

/* Reserve memory for this total number of bodies and obstacles, to build large worlds faster. */
SCREE_API scree_Status scree_world_reserve(scree_World *world, int bodies);
/* `body` (or null) receives the index. */
SCREE_API scree_Status scree_world_add_body(scree_World *world, const scree_BodyDef *def,
                                            int *body);
/* Remove a body or obstacle, between steps. All bodies keep their numbers. The removed body keeps
 * its number, shape and last position. It is at rest and takes no part in contacts, energies,
 * momentum or forces. */
SCREE_API scree_Status scree_world_remove_body(scree_World *world, int body);
/* Make the world periodic along the sides of a box (scree/cell.h), before the first step. Bodies
 * with joints, and bodies larger than the cell, are not moved to the opposite side and should stay
 * inside. Only obstacles smaller than the cell have images. */
SCREE_API scree_Status scree_world_set_cell(scree_World *world, const scree_CellDef *cell);
/* False, and nothing is filled, if the world has none. */
SCREE_API bool scree_world_cell(const scree_World *world, scree_CellInfo *cell);
/* Add a joint in the current positions of the bodies. Joints are numbered from 0; `joint` (or null)
 * receives the number. A joint is removed together with its bodies. In a divided world all ranks
 * make this call, and that of bonds, together. */
SCREE_API scree_Status scree_world_add_joint(scree_World *world, const scree_JointDef *def,
                                             int *joint);
SCREE_API int scree_world_joint_count(const scree_World *world);
/* Checked: for a joint that does not exist there is a message, and numbers that are NAN. Of a
 * divided world: right on the rank that owns its first body that is no obstacle. */
SCREE_API scree_JointState scree_world_joint(const scree_World *world, int joint);
/* The definition of a joint. Null, with a message, if there is no such joint. */
SCREE_API const scree_JointDef *scree_world_joint_def(const scree_World *world, int joint);
/* Bond the bodies that touch now, also to obstacles, but not those that a joint holds already, nor
 * across the boundaries of a periodic cell. `count` (or null) receives the number of new joints. */
SCREE_API scree_Status scree_world_add_bonds(scree_World *world, const scree_BondDef *def,
                                             int *count);
/* Number of bonds with this label, or with any (-1), and of those that broke. */
SCREE_API void scree_world_count_bonds(const scree_World *world, int label, int *bonds,
                                       int *broken);
/* Whether some law keeps a state of its contacts (the last members of scree_Contact); known after
 * the first step. */
SCREE_API bool scree_world_laws_remember(const scree_World *world);
/* Change the motor of a joint with a free coordinate, between steps. */
SCREE_API scree_Status scree_world_set_motor(scree_World *world, int joint,
                                             const scree_Motor *motor);
/* Before the first step: nodes of a finite-element body follow an obstacle. */
SCREE_API scree_Status scree_world_drive_nodes(scree_World *world, const scree_DrivenDef *def);
/* Forces are numbered from 0 in the order of the calls. */
SCREE_API scree_Status scree_world_add_force(scree_World *world, const scree_ForceDef *def);
SCREE_API int scree_world_force_count(const scree_World *world);
/* Replace force number `force`, between steps. To end a force use signals of kind
 * SCREE_SIGNAL_ZERO. */
SCREE_API scree_Status scree_world_set_force(scree_World *world, int force,
                                             const scree_ForceDef *def);
/* Prescribe the velocity of an obstacle as a function of time, between steps; the kind
 * SCREE_SIGNAL_ZERO stops it. Constants and tables are part of the saved state (below), callbacks
 * are not. */
SCREE_API scree_Status scree_body_set_driver(scree_World *world, int body,
                                             const scree_Signal *driver);

/* ---- several ranks (scree/parallel.h) ---------------------------------------------------------
 * A divided world has a part of the bodies on each rank: those that the rank owns, copies of bodies
 * of other ranks that these may touch, and all obstacles. It is made and stepped by the same calls
 * in the same order on all ranks. Calls that add or change bodies name them by their numbers in the
 * whole world. Calls and arrays that read bodies and contacts have those of this rank, 0 to
 * scree_world_body_count - 1, in the order of these numbers; copies are up to date only at the
 * start of a step. Each contact is on exactly one rank. Energies and reports are of the whole
 * world. */

/* Divide a world that has no bodies yet. `ranks` may be null: one rank has everything. */
SCREE_API scree_Status scree_world_divide(scree_World *world, const scree_Ranks *ranks);

/* Why a world, divided or not, cannot be stepped in parts; null: it can. Finite elements, joints
 * together with deformable bodies, periodic cells and internal forces are not divided. */
SCREE_API const char *scree_world_cannot_divide(const scree_World *world);

/* The ranks of a divided world; null: it is not divided, or there is one rank. */
SCREE_API const scree_Ranks *scree_world_ranks(const scree_World *world);
/* Bodies and obstacles of the whole world, removed ones included: their numbers are smaller. */
SCREE_API int scree_world_whole_count(const scree_World *world);

/* The number in the whole world of a body of this rank, and whether the rank owns it; obstacles
 * have no owner. */
SCREE_API int scree_body_number(const scree_World *world, int body);
SCREE_API bool scree_body_is_owned(const scree_World *world, int body);
/* The body of this rank that has this number in the whole world, a copy perhaps; -1: none. */
SCREE_API int scree_body_find(const scree_World *world, int number);
/* Whether this rank answers for a body: its owner does, and rank 0 for obstacles. */
SCREE_API bool scree_body_is_mine(const scree_World *world, int body);

/* The state of a divided world in an undivided one of the same bodies on rank 0 (`whole` is null on
 * the others), and back: motions, removed bodies, impulses and the memory of contacts, energies,
 * time. The undivided world can be saved, restored and looked at as any other; so a run goes on on
 * any number of ranks. Its contacts are not those of a step. */
SCREE_API scree_Status scree_world_collect(const scree_World *world, scree_World *whole);
SCREE_API scree_Status scree_world_spread(scree_World *world, const scree_World *whole);

/* The part of this rank, and the cost of dividing so far. */
typedef struct scree_WorldPart {
  int whole, owned, copies; /* bodies: of the world, of this rank, of others */
  int contacts;             /* of the last step, of this rank */
  int neighbours;           /* ranks that have copies of its bodies, or bodies of its copies */
  long long builds;         /* how often copies were chosen */
  long long cuts;           /* how often the world was divided anew, to balance the work */
  long long migrated;       /* bodies that went to other ranks */
  double imbalance;         /* largest work of a rank over the mean */
  size_t memory;            /* bytes of the world and its solver on this rank */
} scree_WorldPart;

SCREE_API scree_WorldPart scree_world_part(const scree_World *world);

/* ---- state ----------------------------------------------------------------------------------- */

SCREE_API double scree_world_time(const scree_World *world);
SCREE_API int64_t scree_world_steps(const scree_World *world);  /* calls of scree_world_step */
SCREE_API int scree_world_body_count(const scree_World *world); /* removed ones included */
SCREE_API int scree_world_removed_count(const scree_World *world);

/* One body. All are checked: for a body that does not exist there is a message in the log, and the
 * getters return numbers that are NAN, a null shape, false, or -1. */
SCREE_API scree_Pose scree_body_pose(const scree_World *world, int body);
/* Of an obstacle: its driver at the middle of the last step. */
SCREE_API scree_Twist scree_body_velocity(const scree_World *world, int body);
SCREE_API scree_Status scree_body_set_pose(scree_World *world, int body, const scree_Pose *pose);
SCREE_API scree_Status scree_body_set_velocity(scree_World *world, int body,
                                               const scree_Twist *velocity);
/* Valid until a body is added. */
SCREE_API const scree_Shape *scree_body_shape(const scree_World *world, int body);
/* SCREE_BODY_KINDS for a body that does not exist. */
SCREE_API scree_BodyKind scree_body_kind_of(const scree_World *world, int body);
/* Of a deformable body: the shape without deformation, of the same kind as the present one (a ball
 * that deforms counts as an ellipsoid), and the lengths along the axes of its present pose over
 * those without deformation. The shape itself and 1 of all other bodies. */
SCREE_API scree_Shape scree_body_undeformed(const scree_World *world, int body);
SCREE_API scree_Vec3 scree_body_stretch(const scree_World *world, int body);
/* Whether some body is not rigid. */
SCREE_API bool scree_world_deforms(const scree_World *world);
/* Nodes of a finite-element body, and of all of them together; 0 for other bodies. */
SCREE_API int scree_body_node_count(const scree_World *world, int body);
SCREE_API int scree_world_node_count(const scree_World *world);
/* A node of a finite-element body: its position in the undeformed mesh, in the frame of the body,
 * and its constraint. -1 and NAN for a node that does not exist. */
typedef struct scree_NodeInfo {
  scree_Vec3 place;
  bool held;         /* it is fixed */
  int obstacle;      /* with which it moves (scree_world_drive_nodes), or -1 */
  scree_Vec3 anchor; /* then: its position in the frame of the obstacle */
} scree_NodeInfo;
SCREE_API scree_NodeInfo scree_body_node(const scree_World *world, int body, int node);
/* Material and integration of a deformable body as they were given, without the nodes that are
 * held; all zero for other bodies. */
SCREE_API scree_Elastic scree_body_elastic(const scree_World *world, int body);
/* State of a deformable body: coordinates q and their rates v, as many as the first function
 * says; 0 for other bodies. Pseudo-rigid: the centre of mass c, then the columns of the deformation
 * gradient F, so that the point X of the undeformed body (in its own axes) is at c + F X: 12
 * numbers, 6 in 2D. Elements: the positions of the nodes, 3 each. `account` is the energy that
 * steps have created in it so far and later steps remove; initially 0. */
SCREE_API int scree_body_coordinate_count(const scree_World *world, int body);
SCREE_API scree_Status scree_body_coordinates(const scree_World *world, int body, double *q,
                                              double *v, double *account);
/* Between steps. Rates of held nodes are set to 0. A body that would be turned inside out is
 * refused. */
SCREE_API scree_Status scree_body_set_coordinates(scree_World *world, int body, const double *q,
                                                  const double *v, double account);
/* Their positions (nodes x 3), and Cauchy's stresses xx, yy, zz, yz, zx, xy (nodes x 6, the mean of
 * the elements around a node), in the order of the bodies; either array may be null. */
SCREE_API scree_Status scree_world_nodes(const scree_World *world, double *position,
                                         double *stress);
SCREE_API bool scree_body_is_obstacle(const scree_World *world, int body);
SCREE_API bool scree_body_is_removed(const scree_World *world, int body);
/* Number of steps done when it was removed; -1: it has not been removed. */
SCREE_API int64_t scree_body_removed_step(const scree_World *world, int body);
SCREE_API double scree_body_mass(const scree_World *world, int body); /* INFINITY: obstacle */
SCREE_API scree_Vec3 scree_body_inertia(const scree_World *world, int body);
SCREE_API int scree_body_material(const scree_World *world, int body);
/* scree_BodyDef.group; 0 for a body that does not exist. */
SCREE_API uint32_t scree_body_group(const scree_World *world, int body);
/* Kinetic energy including rotation; 0 for obstacles and removed bodies. */
SCREE_API double scree_body_kinetic(const scree_World *world, int body);

/* ---- arrays ----------------------------------------------------------------------------------
 *
 * All bodies or all contacts at once, without a copy: row k of an array begins stride * k bytes
 * after `data` and has `components` values side by side. The memory is the world's and read-only;
 * bodies change through scree_body_set_pose and scree_body_set_velocity.
 *
 * An array of bodies is a live view: after a step it shows the new state. It is valid until bodies
 * are added, and the first two steps after that may move the memory once more. An array of contacts
 * is valid until the next call of scree_world_step or scree_world_restore. In both cases
 * scree_world_array_generation changes when, and only when, arrays of the field that were obtained
 * before are no longer valid. */

typedef enum scree_ArrayField {
  SCREE_ARRAY_POSITION,         /* (bodies x 3) double */
  SCREE_ARRAY_ORIENTATION,      /* (bodies x 4) double, scalar first */
  SCREE_ARRAY_VELOCITY,         /* (bodies x 3) double */
  SCREE_ARRAY_ANGULAR_VELOCITY, /* (bodies x 3) double, world frame */
  SCREE_ARRAY_MASS,             /* (bodies) double; 0 for obstacles, which have no finite mass */
  SCREE_ARRAY_INERTIA,          /* (bodies x 3) double, principal moments; 0 for obstacles */
  SCREE_ARRAY_MATERIAL,         /* (bodies) int32 */
  SCREE_ARRAY_FLAGS,            /* (bodies) uint8: SCREE_FLAG_... */
  SCREE_ARRAY_CONTACT_BODY,     /* (contacts x 2) int32 */
  SCREE_ARRAY_CONTACT_FEATURE,  /* (contacts) uint32 */
  SCREE_ARRAY_CONTACT_POSITION, /* (contacts x 3) double */
  SCREE_ARRAY_CONTACT_NORMAL,   /* (contacts x 3) double, from the second body to the first */
  SCREE_ARRAY_CONTACT_GAP,      /* (contacts) double, negative: penetration */
  SCREE_ARRAY_CONTACT_FRICTION, /* (contacts) double, mu */
  SCREE_ARRAY_CONTACT_IMPULSE,  /* (contacts x dimension) double, on the first body: n, t1, t2 */
  SCREE_ARRAY_FIELDS
} scree_ArrayField;

/* Bits of SCREE_ARRAY_FLAGS. */
enum { SCREE_FLAG_OBSTACLE = 1, SCREE_FLAG_REMOVED = 2 };

typedef enum scree_ValueType {
  SCREE_VALUE_DOUBLE,
  SCREE_VALUE_INT32,
  SCREE_VALUE_UINT32,
  SCREE_VALUE_UINT8
} scree_ValueType;

typedef struct scree_Array {
  const void *data; /* null when there are no rows */
  scree_ValueType type;
  int count;      /* rows: bodies (removed ones included) or contacts */
  int components; /* of a row */
  size_t stride;  /* bytes from one row to the next */
} scree_Array;

/* "position", "orientation", ..., "contact_impulse"; null past the end. */
SCREE_API const char *scree_array_name(scree_ArrayField field);
/* Checked: SCREE_BAD_INPUT for a field that does not exist. */
SCREE_API scree_Status scree_world_array(const scree_World *world, scree_ArrayField field,
                                         scree_Array *array);
/* Never 0, so that a caller may use 0 for "none". */
SCREE_API uint64_t scree_world_array_generation(const scree_World *world, scree_ArrayField field);

/* ---- stepping and the certificate ------------------------------------------------------------ */

/* One step of length settings.step. `report` may be null. SCREE_OK: certified; SCREE_NOT_CONVERGED:
 * done, but the report shows what is above the tolerance; otherwise nothing was changed and the
 * report is not filled: SCREE_BAD_INPUT (a driver or force is not finite at some time, or the
 * motion is not at the end: the message names the body or force and the time), SCREE_MACHINE, or
 * SCREE_INTERRUPTED (settings.solve.interrupted returned true). The step can then be repeated, to
 * the same bits as if it had not been tried. */
SCREE_API scree_Status scree_world_step(scree_World *world, scree_StepReport *report);

/* The current step, for the callbacks of settings.solve, which are called during a step. */
typedef struct scree_StepProgress {
  int64_t step; /* its number, from 1 */
  double time;  /* at its start */
  int attempts; /* at the step, or at a part of it once it is halved; the present one included */
  int solves;   /* done so far */
  int contacts; /* of the problem at hand, or of the last one */
} scree_StepProgress;

SCREE_API scree_StepProgress scree_world_progress(const scree_World *world);

/* ---- contacts and analysis ------------------------------------------------------------------- */

SCREE_API int scree_world_contact_count(const scree_World *world);
/* Checked: a contact that does not exist gives a message, bodies -1 and numbers that are NAN. */
SCREE_API scree_Contact scree_world_contact(const scree_World *world, int contact);
/* Contacts first .. first + count - 1 into contacts (count). Checked: SCREE_BAD_INPUT when there
 * are not as many. */
SCREE_API scree_Status scree_world_contacts(const scree_World *world, int first, int count,
                                            scree_Contact *contacts);

/* The discrete problem of the last (sub)step, which belongs to the world, with its solution r and u
 * (scree_problem_rows); any of the pointers may be null. Valid until the next call of
 * scree_world_step or scree_world_restore, and not to be written to or destroyed. SCREE_BAD_INPUT
 * before the first step. Body k of the problem is body problem_body[k] of the world: only bodies
 * with contacts are in it. When all of them are balls, so is the form of the problem. */
SCREE_API scree_Status scree_world_problem(const scree_World *world, const scree_Problem **problem,
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

/* `region` null: the bounds of all bodies that are not obstacles, or the cell, if the world is
 * periodic in all directions. Fails only when memory runs out. Of a divided world: all ranks call
 * it, and get the analysis of the whole. */
SCREE_API scree_Status scree_world_analyse(const scree_World *world, const scree_Aabb *region,
                                           scree_Analysis *analysis);

/* Deepest penetration in the present configuration, relative to the smaller body, by a detection of
 * its own; 0 when nothing overlaps. `body` (2) or null receives the pair. */
SCREE_API scree_Status scree_world_penetration(const scree_World *world, double *penetration,
                                               int *body);
/* The same with the number of contacts: points whose gap is closed. */
SCREE_API scree_Status scree_world_touching(const scree_World *world, int *contacts,
                                            double *penetration, int *body);

/* Bytes held by the world, its lists of candidates included, and by what only works during a step:
 * its solver and the detection of contacts, which keep their memory from step to step. */
SCREE_API size_t scree_world_memory(const scree_World *world);
SCREE_API size_t scree_world_solver_memory(const scree_World *world);

/* ---- impulses of an earlier step ------------------------------------------------------------- */

/* The state that a law keeps of a contact from step to step (displacements of springs, plastic
 * displacement, whether it is bonded): the numbers of the law, then 0, and last the number of the
 * law in the order of scree_law_name from 1, or 0 for a law without a state. */
enum { SCREE_CONTACT_MEMORY = 20 };
/* Of a contact of the last step; all zero for one that does not exist. */
SCREE_API void scree_world_contact_memory(const scree_World *world, int contact, double *memory);

/* A contact and the impulse on body[0] in the axes of the world, N s; the moment on body[0] of laws
 * that resist rolling, N m s; and what its law has kept, or null. It is used if the pair has the
 * same law, whatever the parameters of that. */
typedef struct scree_ContactImpulse {
  int body[2];
  scree_Vec3 position, impulse, moment;
  const double *memory; /* (SCREE_CONTACT_MEMORY) */
  bool named; /* `feature` is that of scree_Contact: it finds contacts that move, of which a
               * pair has one */
  uint32_t feature;
} scree_ContactImpulse;

/* Continue another simulation: the present state counts as the end of a step of length h with these
 * impulses and memories of laws. The impulses are the warm start of the next step, for contacts of
 * the same bodies at the same places. `contacts` (count) may name any pairs of bodies. */
SCREE_API scree_Status scree_world_set_impulses(scree_World *world,
                                                const scree_ContactImpulse *contacts, int count,
                                                double h);

/* ---- saving ---------------------------------------------------------------------------------- */

/* All that changes from step to step (poses, velocities, which bodies were removed, contacts with
 * their impulses, drivers and forces, time, counters, energy sums) as one flat buffer: machine byte
 * order, checked by a version and sizes. Shapes, laws, settings and callbacks are not in it:
 * restore into a world that was built by the same calls, with the same bodies and forces; the
 * continuation then has the same bits as if it had never been stopped. Drivers and forces that were
 * changed need not be changed again, except that one which was a callback when the state was saved
 * must be a callback in the world that it is restored into (SCREE_BAD_INPUT otherwise). */
SCREE_API size_t scree_world_state_size(const scree_World *world);
SCREE_API void scree_world_save(const scree_World *world, void *buffer);
SCREE_API scree_Status scree_world_restore(scree_World *world, const void *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
