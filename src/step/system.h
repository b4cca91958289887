/* The system that a step works on: bodies, laws, contacts, the discrete problem and the memory of
 * the previous step. One step, whatever the scheme, is
 *
 *     1  drift for (1 - theta) h with the old velocities                        move.c
 *     2  find the contacts there                                                detect.c
 *     3  kick: pose u = W r + q over the bodies that can meet, solve,           pose.c, advance.c
 *        v+ = v- + M^-1 (h f + H^T r); again where turning bodies overlap       overlap.c
 *     4  drift for theta h with v+                                              move.c
 *     5  certify: error, penetration, cone, energy                              certify.c
 *
 * Gaps are known at the configurations of the kicks. From one kick to the next the bodies move by
 * h v+, whatever theta is (h/2 v+ at the end of this step and h/2 v+ at the start of the next one,
 * for theta = 1/2), so a condition D + h u_n >= 0 on the gap D at one kick is a condition on the
 * gap at the next: see moreau_jean.c. The inertia of a body is that of the configuration of the
 * kick, and the drift keeps kinetic energy (rigid.h), so the energy balance of a step is an
 * identity.
 *
 * More than 600 lines: the one struct that all parts of a step work on, and their functions by
 * file. */
#ifndef SCREE_STEP_SYSTEM_H
#define SCREE_STEP_SYSTEM_H

#include "body/bodies.h"
#include "core/arena.h"
#include "core/load.h"
#include "core/poll.h"
#include "geometry/broad.h"
#include "geometry/contact_match.h"
#include "law/law.h"
#include "scree/solver.h"
#include "scree/step.h"
#include "step/account.h"
#include "step/cell.h"
#include "step/deform.h"
#include "step/domain.h"
#include "step/joints.h"
#include "step/rolling.h"

#include <omp.h>

/* A contact before the solve, as passed to a scheme. */
typedef struct scree_Approach {
  double horizon; /* time from this kick to the next one */
  double gap;     /* D, negative: penetration */
  double size;    /* of the smaller body */
  bool sustained; /* it carried an impulse in the last step */
  bool loaded;    /* the same, where an open gap of such a contact is an error */
  double travel;  /* how far the bodies move along each other until the next kick */
  double curve;   /* <= 0: reduction of the gap by rotation and curvature until the next kick */
  double load;    /* change of velocity, > 0, by which forces press this contact in a step */
  bool alone;     /* its bodies meet no other bodies in this step */
  const double *before; /* (d) relative velocity before the kick */
  const double *free;   /* (d) relative velocity after a kick without contacts */
} scree_Approach;

typedef struct scree_SchemeClass {
  const char *name, *summary;
  bool looks_ahead; /* contacts are searched as far as bodies can move until the next kick */
  double (*theta)(const scree_WorldSettings *settings);
  /* shift (d) receives what q holds besides the free velocity. Returns the normal velocity that the
   * law imposes to correct the gap: > 0 out of penetration, < 0 where an open gap is to be closed.
   * *delay is how long after the kick the bodies bounce, 0 if they do not. */
  double (*shift)(const scree_LawContact *law, int d, const scree_Approach *approach, double *shift,
                  double *delay);
} scree_SchemeClass;

extern const scree_SchemeClass scree_scheme_moreau_jean, scree_scheme_euler,
    scree_scheme_moreau_jean_closed;
/* The gap in the law, for schemes that look ahead (moreau_jean.c). */
double scree_shift_ahead(const scree_LawContact *law, int d, const scree_Approach *approach,
                         double *shift, double *delay);
extern const scree_SchemeClass *const scree_scheme_registry[]; /* null-terminated */
const scree_SchemeClass *scree_scheme_find(const char *name);

/* Contact points in the order of the sorted pairs. */
typedef struct scree_Points {
  size_t count, capacity;
  scree_ContactKey *keys;        /* (count) */
  scree_Vec3 *position, *normal; /* (count) position: the middle of the gap */
  double *gap;                   /* (count) */
  double *curve;                 /* (count) see scree_Approach */
  bool failed;                   /* out of memory */
} scree_Points;

/* A body whose impact comes after the end of the step, and its remaining displacement at the next
 * kick. */
typedef struct scree_Late {
  int body;
  double left; /* time until the impact */
  scree_Twist way;
} scree_Late;

typedef struct scree_LateList {
  size_t count, capacity;
  scree_Late *at; /* (count) */
} scree_LateList;

/* Data that the contacts of a step keep for the next one, matched by key and position: nonzero
 * impulses, in the world frame, and the memory of their laws. */
typedef struct scree_Memory {
  size_t count, key_capacity, impulse_capacity, arm_capacity, value_capacity;
  scree_ContactKey *keys; /* (count) */
  scree_Vec3 *impulses;   /* (count) on the first body */
  scree_Vec3 *arms;    /* (count) position relative to the origin of a body that is no obstacle */
  size_t stride;       /* number of doubles in the memory of a contact's law */
  double *values;      /* (count x stride) */
  double h;            /* of the step they were found in */
  scree_LateList late; /* bodies with a remaining displacement */
} scree_Memory;

/* Impulses of the earlier kicks of a step (carry.c). */
typedef struct scree_Carried {
  bool any;    /* the current attempt is a part of a step: posed.total is filled */
  bool kicked; /* `now` holds the sums after its last kick */
  scree_Memory before, now, next; /* at its start; after a kick; memory for the next one */
} scree_Carried;

/* The discrete problem and its solution; arrays for `capacity` contacts, those of its rows for
 * `row_capacity`. */
typedef struct scree_Posed {
  int nc, nbodies;      /* contacts; rigid bodies with contacts */
  long long all;        /* contacts of all ranks */
  size_t more_capacity; /* rows of joints after the contacts in q, r, u, mu */
  size_t capacity, row_capacity, set_capacity, body_capacity, index_capacity;
  bool balls;  /* all bodies that touch are balls: `arm` and the normals replace B */
  int *body;   /* (nc x 2) index of a problem body, -1 for obstacles */
  double *B;   /* (nc x 2 x d x nb) */
  double *arm; /* (nc x 2 x 2) see scree/problem.h */
  double *q, *r, *u;
  double *total; /* (nc x d) impulses of the whole step, if it has several kicks (carry.c) */
  size_t total_capacity;
  double *shift;  /* (nc x d) q without the free velocity, or null: zero */
  double *before; /* (nc x d) relative velocities before the kick */
  double *push;   /* (nc) velocity out of penetration; allocated if shift is */
  bool *loaded;   /* (nc) it carried an impulse in the last step; allocated if shift is */
  double *mu;     /* (nc) */
  bool sets;      /* some constraint needs another set than the cone, or more than d rows: */
  uint8_t *set;   /* (nc) and its parameters */
  double *set_a, *set_b;
  size_t term_capacity, memory_size; /* if some law has terms of its own: */
  double *C;                         /* (nc x d x d) compliance */
  double *memory;                    /* (nc x memory_size) of the laws before the step */
  size_t kept_capacity;
  int32_t *kept; /* (nc) their place in the memory after the step, or -1; if memory_size > 0 */
  size_t flow_capacity, moment_capacity;
  double *H;          /* (nc x d x d) of the flow, if some pair has a dilatancy of its own */
  scree_Vec3 *moment; /* (nc) on the first body, over the radius, if some pair resists rolling */
  int *problem_body;  /* (nbodies) body of the world */
  int *problem_index; /* (bodies) index in the problem, -1; of deformable ones the first vertex */
  const double *y;    /* (nbodies x nb) the velocities of the solver, from the solve to the kick */
  double *delay;      /* (nc) time from the kick to the impact of a contact that bounces, or 0;
                       * there if shift is */
  bool foreseen;      /* some contact may bounce: the arrays below are filled */
  int *busy, *struck; /* (bodies of the world) number of relevant contacts; the contact that
                         bounces, or -1 */
  double *held_back;  /* (bodies of the world) delay of a body, in a world that is divided: the
                       * contact  may be on another rank */
  size_t busy_capacity, struck_capacity, held_capacity;
  double *lowered; /* (nbodies + 1 x nb) the same for impulses that were lowered (dissipate.c) */
  size_t lowered_capacity;
  bool solved;       /* the solver knows the problem: none of its numbers changed since a solve */
  double rho, scale; /* of the error: step of the natural map, and scale of the relative error */
  double r_max;      /* largest normal impulse: a contact below `tolerance` of it is open */
} scree_Posed;

/* Energy created by the discretisation, and the energies that it is compared with. */
typedef struct scree_EnergyAudit {
  double scheme;      /* sum of the energy created by the scheme (certify.c) */
  double taken_peak;  /* largest sum so far of the losses by impact, friction and scheme */
  double given_back;  /* largest fall of that sum below its maximum */
  double push_held;   /* current reduction of pushes out of penetration, in [0, 1) */
  double push_least;  /* smallest sum so far of the work of correcting gaps */
  double push_rise;   /* largest rise of that sum above its minimum */
  double turned_over; /* largest kinetic energy and energy flows so far */
  double last_step;   /* energy exchanged in the last step */
  double mean_step;   /* mean of the last ones, for a whole step (certify.c) */
  double supplied;    /* the same of the work of drivers and forces */
  double weight;      /* sum over bodies of force (gravity included) times size */
  double creep;       /* largest so far of bodies that rest (creep.c) */
  double rest; /* the same times h over the time in which the force moves the body that far */
} scree_EnergyAudit;

/* How far a body that rests has moved, and how far errors may have moved it (creep.c), over its
 * size. */
typedef struct scree_BodyCreep {
  float way[3];
  float error; /* < 0: it does not rest */
} scree_BodyCreep;

typedef struct scree_Creep {
  size_t count, capacity;
  scree_BodyCreep *bodies; /* (count) */
} scree_Creep;

/* When an attempt to tighten a solution is made again (solve.c). */
typedef struct scree_Pause {
  int failures; /* attempts that failed in a row */
  int steps;    /* until the next */
} scree_Pause;

/* Work of the steps, in seconds of a reference core, but counted, not timed (solve.c). */
typedef struct scree_WorkMeter {
  double usual;       /* running mean over the steps, per contact; 0: not known yet */
  double spent;       /* in this step */
  double before;      /* part of it before the present attempt at the step */
  scree_Pause pause;  /* of long attempts for the world */
  scree_Pause rest;   /* of those for islands that rest in a world that does not */
  scree_Pause few;    /* of attempts with few sweeps in large problems */
  scree_Pause stress; /* of attempts to find smaller impulses (stress.c) */
  /* of solves beyond the tolerance */
  scree_TightenAccount account;
} scree_WorkMeter;

/* The current step, as passed to contact laws. */
typedef struct scree_StepTimes {
  double h;       /* its length */
  double horizon; /* from its kick to the next one */
  double rest;    /* from its kick to its end */
  double kick;    /* the time of the kick itself */
  bool brief;     /* it is one of several impacts, much shorter than a step: bodies are not pushed
                     out of deep penetration, whose velocity would be high */
} scree_StepTimes;

typedef struct scree_System {
  scree_Bodies bodies;
  scree_LawTable laws;
  scree_WorldSettings settings;
  const scree_SchemeClass *scheme;
  const scree_Log *log;
  int threads, threads_most; /* now, and while no other program uses the processors */
  scree_MachineLoad load;
  scree_Poll poll; /* of settings.solve.interrupted, new for each step */
  int solves;      /* number of solves in the current step */

  scree_Solver *solver;   /* of all steps */
  scree_Solver *apart;    /* of islands (portion.c); null until there is one */
  scree_Solver *internal; /* of the search for internal forces; null until it is asked for */
  scree_BroadPhase *broad;
  size_t reach_capacity;
  double *reach;   /* (bodies) how far a body may move in this step, if the scheme looks ahead */
  scree_Vec3 fall; /* change of velocity by gravity in this step */
  scree_Twist *forced;      /* (bodies) and by other forces, or null when there are none */
  scree_Twist *forced_room; /* its memory */
  size_t forced_capacity;
  double forced_most; /* largest change of a velocity by gravity and forces */

  scree_Domain domain;   /* of a world that is divided between ranks */
  scree_StepTimes times; /* of the current attempt */
  scree_Joints joints;
  scree_Cell cell;
  scree_Deform deform;   /* contacts of deformable bodies */
  scree_Rolling rolling; /* the problem in full rows, if some pair resists rolling */
  scree_Points contacts; /* of the last detection */
  /* Memory of the parts of a step, kept from step to step: temporary blocks of a part, lists of
   * points for each thread, points that would overlap at the end. */
  scree_Arena scratch;
  int list_count;
  scree_Points *lists; /* (list_count) */
  scree_Points overlaps;
  scree_Posed posed;
  scree_Memory memory; /* of the last accepted step */
  scree_Memory trial;  /* of the current attempt, if its h > 0 */
  scree_Carried carried;
  scree_LateList late; /* displacements of the current attempt that are completed within the step */

  scree_EnergyAudit audit;
  scree_Creep creep;
  double pending; /* work along the displacements in trial.late, which the next step counts */
  double swing;   /* energy oscillation in the current step, without drift (certify.c) */
  scree_WorkMeter work;
  scree_EnergyBalance total; /* kinetic, potential: current; flows: sums since the start */
  double penetration;        /* deepest penetration of the last step */
  bool energy_known;         /* total.kinetic and .potential are those of the current state */
} scree_System;

/* ---- advance.c ------------------------------------------------------------------------------- */

/* State of bodies and joints that a step changes, all doubles; the memory of contacts is
 * separate. */
size_t scree_system_snapshot_size(const scree_System *s);
void scree_system_save(const scree_System *s, void *snapshot);
void scree_system_restore(scree_System *s, const void *snapshot);

/* ---- move.c ---------------------------------------------------------------------------------- */

/* Step 1: obstacles are driven as at time `middle`, all bodies drift for `h`. */
void scree_system_drift(scree_System *s, double h);
/* Compute `fall` and `forced` from the forces at time `middle` for a step h. */
scree_Status scree_system_force(scree_System *s, double middle, double h);
/* Velocity of body k without contacts, before the kick. */
static inline scree_Twist scree_system_free(const scree_System *s, int k) {
  scree_Twist v = s->bodies.motion[k].velocity;
  if (s->bodies.fixed[k]) return v;
  v.linear = scree_add(v.linear, s->fall);
  if (!s->forced) return v;
  return (scree_Twist){scree_add(v.linear, s->forced[k].linear),
                       scree_add(v.angular, s->forced[k].angular)};
}
/* Change of the velocity of body k by gravity and forces in this step; 0 for obstacles. */
static inline double scree_system_forced_change(const scree_System *s, int k) {
  return scree_norm(scree_sub(scree_system_free(s, k).linear, s->bodies.motion[k].velocity.linear));
}
/* Velocity of body k after the kick: v_free + M^-1 H^T r, from posed.y. */
scree_Twist scree_system_after(const scree_System *s, int k);
/* Set all bodies to their velocity after the kick. */
void scree_system_kick(scree_System *s);
/* M^-1/2 y of body k: the velocity (or displacement) for a scaled velocity y. */
scree_Twist scree_system_unscaled(const scree_System *s, int k);

/* ---- detect.c -------------------------------------------------------------------------------- */

/* Whether body k is an obstacle whose surface moves while its shape stays: along the surface, so
 * that velocities of a belt across it, as at the rounded ends of a segment, count as zero. */
static inline bool scree_is_belt(const scree_System *s, int k) {
  return s->bodies.fixed[k] && s->bodies.cold[k].belt;
}

/* Points in the present configuration with gaps up to relative * size + the reaches of the two
 * bodies (a null reach is zero) into `contacts`. */
scree_Status scree_system_detect(scree_System *s, double relative, const double *reach);
/* Bounds of body k at its pose, with `more` on all sides. */
scree_Aabb scree_system_bounds(const scree_System *s, int k, double more);
/* For the threads of a parallel loop: whether to stop. Thread 0, the caller's, calls the poll; the
 * others read the *stop that it sets. */
bool scree_system_stops(scree_System *s, size_t thread, bool *stop);
/* Point at which contact c acts on the first (side 0) or second body itself, not its image: on its
 * surface. Where the gap
 * is closed the two are one point, so that angular momentum is conserved exactly. */
static inline scree_Vec3 scree_system_point(const scree_System *s, size_t c, int side) {
  const double gap = s->contacts.gap[c] > 0 ? s->contacts.gap[c] : 0;
  const int k = side == 0 ? s->contacts.keys[c].i : s->contacts.keys[c].j;
  const scree_Shape *shape = &s->bodies.cold[k].shape;
  if (gap > 0 && scree_shape_is_ball(shape)) /* the normal may be that of a later time */
    return scree_axpy(s->bodies.motion[k].pose.position,
                      side == 0 ? -shape->bounding_radius : shape->bounding_radius,
                      s->contacts.normal[c]);
  const scree_Vec3 P = scree_axpy(s->contacts.position[c], side == 0 ? 0.5 * gap : -0.5 * gap,
                                  s->contacts.normal[c]);
  const uint32_t image = s->contacts.keys[c].image;
  return side == 0 || image == 0 ? P : scree_sub(P, scree_cell_shift(&s->cell, image));
}
/* Where the second body of a contact is: its pose, or that of its image. */
static inline scree_Vec3 scree_system_second(const scree_System *s, const scree_ContactKey *key) {
  const scree_Vec3 x = s->bodies.motion[key->j].pose.position;
  return key->image == 0 ? x : scree_add(x, scree_cell_shift(&s->cell, key->image));
}
/* From the second centre to the first; from the point P of the contact if one is an obstacle. */
static inline scree_Vec3 scree_system_branch(const scree_System *s, const scree_ContactKey *key,
                                             scree_Vec3 P) {
  const scree_Bodies *b = &s->bodies;
  const scree_Vec3 to = b->fixed[key->i] ? P : b->motion[key->i].pose.position;
  return scree_sub(to, b->fixed[key->j] ? P : scree_system_second(s, key));
}
/* The law between two bodies. */
static inline const scree_LawContact *scree_system_law(const scree_System *s, int i, int j) {
  const scree_BodyCold *cold = s->bodies.cold;
  return scree_law_table_get(&s->laws, cold[i].material, cold[j].material);
}
/* Deepest penetration of the current contacts, relative to the smaller body. */
double scree_system_penetration(const scree_System *s, int *body);
/* The pair of the rank that has one, with the numbers of the whole world; null: this one has none.
 */
void scree_system_pair(const scree_System *s, const int *mine, int *pair);
void scree_points_fini(scree_Points *points);
/* An empty list for each thread, valid until the next call; null if out of memory. */
scree_Points *scree_system_lists(scree_System *s, int threads);
struct scree_ManifoldPoint;
/* Append a point; `failed` is set if out of memory. */
void scree_points_add(scree_Points *points, int i, int j, uint32_t image,
                      const struct scree_ManifoldPoint *point);
/* Add all points of body i and this image of j with these shapes at these poses with gaps up to
 * `margin`. */
void scree_points_collide(int i, const scree_Shape *si, const scree_Pose *pi, int j, uint32_t image,
                          const scree_Shape *sj, const scree_Pose *pj, double margin,
                          scree_Points *points);
/* Add `more` to the gaps of points from `begin` on, and drop those whose gap is above `margin`
 * then.
 */
void scree_points_widen(scree_Points *points, size_t begin, double more, double margin);

/* ---- pose.c ---------------------------------------------------------------------------------- */

/* Fill `posed` from the contacts: numbering of bodies and B. */
scree_Status scree_system_pose(scree_System *s);
/* Free velocities, gaps, restitution, friction: q, mu, sets, compliance. r holds the impulses of
 * the last step for the loads of contacts. */
scree_Status scree_system_fill(scree_System *s);
/* Diagonal entry k of W at contact c. */
double scree_system_diagonal(const scree_System *s, int c, int k);
/* Contact c as passed to a law; axes (d) and before (d) are the caller's. */
scree_LawPoint scree_system_law_point(const scree_System *s, int c, const scree_Vec3 *axes,
                                      const double *before);
/* Whether contacts and joints are posed together as constraints of any size, on all ranks: where
 * contacts have moments, and in a divided world with joints or deformable bodies. */
static inline bool scree_rolls(const scree_System *s) {
  if (s->domain.size > 1 && (s->joints.count > 0 || s->domain.deforms)) return s->posed.all > 0;
  return s->laws.any_rolling && (s->posed.nc > 0 || (s->domain.global && s->posed.all > 0));
}
/* Component k of the relative velocity after the kick at contact c: the solver's without shift and
 * compliance. */
static inline double scree_system_velocity(const scree_System *s, int c, int k) {
  const size_t d = (size_t)s->bodies.dimension, at = (size_t)c * d + (size_t)k;
  const scree_Posed *p = &s->posed;
  if (!p->shift) return p->u[at];
  if (!s->laws.any_terms) return p->u[at] - p->shift[at];
  return p->u[at] - p->shift[at] - p->C[((size_t)c * d + (size_t)k) * d + (size_t)k] * p->r[at];
}
/* Whether there are contacts or joints to solve. */
static inline bool scree_system_is_posed(const scree_System *s) {
  return s->posed.all > 0 || s->joints.all > 0;
}
/* Whether there are deformable bodies in the world, on this rank or on others. */
static inline bool scree_system_deforms(const scree_System *s) {
  return s->bodies.deformable_count > 0 || s->domain.deforms;
}
/* Whether contacts are constraints of any size: those of deformable bodies, or in a cell under a
 * pressure all. */
static inline bool scree_system_general(const scree_System *s) {
  return scree_system_deforms(s) || s->cell.pressed > 0;
}
/* Complete the problem: it is filled. */
scree_Status scree_system_close(scree_System *s);
/* A view of the posed problem, and its unknowns. */
scree_Problem scree_system_problem(const scree_System *s);
static inline double *scree_system_r(const scree_System *s) {
  return scree_rolls(s) ? s->rolling.r : s->posed.r;
}
static inline double *scree_system_u(const scree_System *s) {
  return scree_rolls(s) ? s->rolling.u : s->posed.u;
}
/* Normal component of the relative velocity at contact c after a kick without contacts. */
double scree_system_free_approach(const scree_System *s, int c);

/* ---- halfway.c ------------------------------------------------------------------------------- */

/* Motions after half of a time h of the rigid bodies of the problem [nbodies]. */
void scree_halfway_motions(const scree_System *s, double h, scree_Motion *halfway);

/* By how much the slip of contact c changes in half of a time h, because the bodies turn; false
 * where it does not, or is not known. `halfway` may be null. *curve <= 0: by how much its gap falls
 * in h for the same reason. Contacts of a pair share their `points`: *pair is the last contact that
 * filled them, SIZE_MAX at the start. */
bool scree_halfway_slip(const scree_System *s, size_t c, double h, const scree_Motion *halfway,
                        scree_Points *points, size_t *pair, scree_Vec3 *slip, double *curve);

/* ---- memory.c -------------------------------------------------------------------------------- */

bool scree_memory_reserve(scree_Memory *memory, size_t count, size_t stride);
void scree_memory_fini(scree_Memory *memory);
bool scree_memory_copy(const scree_Memory *from, scree_Memory *to);
void scree_memory_swap(scree_Memory *a, scree_Memory *b);
size_t scree_memory_bytes(const scree_Memory *memory);
/* The memory of the last step, sorted by the numbers of bodies, into the order of a step: contacts
 * of deformable bodies last. */
scree_Status scree_memory_order(scree_System *s);
/* Positions (count) of points relative to one of their bodies, by which contacts are matched. */
void scree_system_arms(const scree_System *s, const scree_Points *points, scree_Vec3 *arms);
/* r from the trial, or else from the memory of the last step; which contacts were loaded then, and
 * the memory of their laws. */
scree_Status scree_system_warm(scree_System *s, double h);
/* Store the current impulses, and the memory of the laws after them, in the trial. */
scree_Status scree_system_remember(scree_System *s, double h);
/* Energy stored in the contacts of a memory. */
scree_LawEnergy scree_system_stored(const scree_System *s, const scree_Memory *memory);

/* ---- solve.c --------------------------------------------------------------------------------- */

/* Solve the posed problem: posed.r, posed.u, and the solver's part of the report. `begun`: posed.r
 * is a rough solution. */
scree_Status scree_system_solve(scree_System *s, bool begun, scree_StepReport *report);

/* The same to a much larger tolerance, in one attempt. */
scree_Status scree_system_solve_roughly(scree_System *s, scree_StepReport *report);
/* Go on from posed.r to somewhat less than the tolerance, for as much work as the attempt has cost;
 * to less each time that was not enough. */
scree_Status scree_system_solve_further(scree_System *s, int times, scree_StepReport *report);
/* Additional penetration at the next kick caused by errors of the solution, over what is left to
 * the penetration limit; and its limit. */
double scree_system_sinking(const scree_System *s);
double scree_system_sinking_allowed(void);
/* Reset or update the meter at the start and at the end of a step, including all substeps and
 * attempts. */
void scree_system_work_begin(scree_System *s);
void scree_system_work_end(scree_System *s, bool certified);
/* Whether the step has reached its work limit. */
bool scree_system_work_used_up(const scree_System *s);

/* ---- dissipate.c ----------------------------------------------------------------------------- */

/* Lower the impulses found where contacts add more energy than is allowed; the report then has
 * their error. `kinetic` is the kinetic energy before the step. Call before the kick. */
scree_Status scree_system_dissipate(scree_System *s, double kinetic, scree_StepReport *report);

/* ---- delay.c --------------------------------------------------------------------------------- */

/* After detection: which bodies touch or meet which others, for scree_system_meets_one. */
scree_Status scree_system_foresee(scree_System *s, double horizon);
/* Whether the bodies of contact c meet no others, and their impact can be delayed. */
bool scree_system_meets_one(const scree_System *s, size_t c);
/* After the solve and before the kick: fill `late` and `trial.late`, the displacements that undo
 * the excess motion of the kick in the `rest` of the step, and beyond it. The work along these
 * displacements in a step h, and along those left from the last step, is added. */
scree_Status scree_system_delay(scree_System *s, double rest, double horizon, double h,
                                scree_EnergyBalance *balance);
/* One displacement more; false: no memory. */
bool scree_late_add(scree_LateList *list, int body, scree_Twist way, double left);
/* Displace the bodies by the parts of the displacements for a time. */
void scree_system_move_late(scree_System *s, const scree_LateList *list, double time);

/* ---- carry.c --------------------------------------------------------------------------------- */

/* After the solve of a kick, if it is one of several of the step: posed.total, and the sums for the
 * next kick. An impact at its start that has no impulses is none. */
scree_Status scree_system_carry(scree_System *s);
/* The attempt is accepted, and is not the last of the step. */
void scree_system_carry_on(scree_System *s);
void scree_carried_fini(scree_Carried *carried);
/* Impulses (nc x d) of the contacts in the last step. */
static inline const double *scree_system_total(const scree_System *s) {
  return s->carried.any ? s->posed.total : s->posed.r;
}

/* ---- bounce.c -------------------------------------------------------------------------------- */

/* Solve again with less restitution where impacts of one kick create energy. */
scree_Status scree_system_hold_bounces(scree_System *s, scree_StepReport *report);

/* ---- event.c --------------------------------------------------------------------------------- */

/* A time in which nothing happens: shorter spans are not made. */
double scree_event_instant(const scree_System *s);
/* The first impact at which a span should be cut. */
typedef struct scree_Event {
  double time; /* from the start of the span, or -1 */
  bool chain;  /* an impact that pushes bodies into others; else one that lifts them */
  bool shared; /* there is none, but bodies that touch share an impact without loss */
} scree_Event;

/* ---- overlap.c ------------------------------------------------------------------------------- */

/* `curve` of balls in drums: reduction of their gaps by the drum's curvature in a time h. */
void scree_system_bend(scree_System *s, double h);
/* Normals of balls that are apart: those at the time when they meet or are closest. */
void scree_system_aim(scree_System *s, double h);
/* Whether contact c is between two balls so far apart that it is placed where they meet. */
bool scree_system_balls_apart(const scree_System *s, size_t c);
/* After a solve of a scheme that looks ahead: append to the empty list the points that would
 * overlap at the end of the step by more than the tolerance; *depth is the deepest over the pair's
 * size. */
scree_Status scree_system_overlap(scree_System *s, double h, scree_Points *points, double *depth);
/* Add those points as contacts whose expanded gap at the end is the true one. */
scree_Status scree_system_expand_again(scree_System *s, double h, scree_Points *points);

/* ---- certify.c ------------------------------------------------------------------------------- */

/* `weight` and `rest` of the audit, and `forced_most`, from the forces of a step h. */
void scree_system_weigh(scree_System *s, double h);
/* Kinetic and potential energy now. */
void scree_system_energy(const scree_System *s, double *kinetic, double *potential);
/* Work done in a step that drifts for theta h after the kick; call after the solve and before
 * scree_system_kick. */
void scree_system_work(scree_System *s, double theta, double h, scree_EnergyBalance *balance);
/* After a solve: whether the pushes out of penetration do far more work than is allowed. They are
 * then left out, and the problem has to be posed and solved again: bodies that are jammed cannot be
 * pushed apart, and the impulses that try have no limit. */
bool scree_system_drop_pushes(scree_System *s);
/* Part of the push of a contact that is left out, at its penetration over the size. */
double scree_system_held_push(const scree_System *s, double penetration);
/* Work that contacts may add in a step h in which the kinetic energy is about `kinetic`. */
double scree_system_work_allowed(const scree_System *s, double kinetic, double h);
/* Add an accepted step to the audit; `total` already includes it. `before` is the kinetic energy
 * before the step. */
void scree_system_audit(scree_System *s, const scree_EnergyBalance *step, double before);
/* Energy exchanged: the sum over forces, drivers and contacts. */
double scree_energy_exchanged(const scree_EnergyBalance *e);
/* Energy that created energy is compared with. */
double scree_audit_turned_over(const scree_EnergyAudit *audit);
/* Energy error of a solution: the sum of |r . (u + s(u))|, which is zero for an exact one. Of nc
 * contacts, mu (nc), flow (nc x d x d) or null, r and u (nc x d) each; and of the step. */
double scree_system_defect_of(const scree_System *s, int nc, const double *mu, const double *flow,
                              const double *r, const double *u);
double scree_system_defect(const scree_System *s);
/* Its limit: a small part of the energy exchanged in a step, and for bodies at rest small enough
 * that they stay at rest. */
double scree_system_defect_allowed(const scree_System *s);
/* Energy error that is too large for any single step. */
double scree_system_defect_limit(const scree_System *s);
/* Whether the bodies, taken together, hardly moved in the last step. */
bool scree_system_rests(const scree_System *s);
/* The part of body k in `weight` and `rest` of the audit, in a step h. */
typedef struct scree_BodyRest {
  double speed, weight, rest;
} scree_BodyRest;
scree_BodyRest scree_system_body_rest(const scree_System *s, int k, double h);
/* Error and speed, as parts of `rest`: that which bodies at rest may have, and at which they rest.
 */
double scree_system_held_part(void);
/* Whether a solve that lowers the energy error `defect` is made (account.c). */
bool scree_system_pays(scree_System *s, double defect);
double scree_system_resting_part(void);
/* Energy created since the start: added by pushing bodies out of penetration, returned by contacts
 * and scheme, or missing in the balance; relative to the energy exchanged, at least to the work of
 * moving every body against its load by a hundredth of its size. */
double scree_system_energy_created(const scree_System *s);
/* Whether contact c carries an impulse beyond the solver's tolerance. */
bool scree_system_is_active(const scree_System *s, int c);
/* The natural map of contact c over the scale of the error, after the last solve. */
double scree_system_contact_error(const scree_System *s, int c);
/* Number of contacts that each exceed the tolerance. */
int scree_system_count_above(const scree_System *s, double tolerance);

/* ---- creep.c --------------------------------------------------------------------------------- */

/* Memory for all bodies; new ones do not rest yet. */
scree_Status scree_creep_reserve(scree_System *s, size_t bodies);
/* Of body k, also of one that came after the last step. */
scree_BodyCreep scree_creep_of(const scree_System *s, int k);
/* Bytes in a snapshot; save into one, and restore from one after `reserve`. */
size_t scree_creep_size(const scree_System *s);
void scree_creep_save(const scree_System *s, char *at);
void scree_creep_restore(scree_System *s, const char *at);
/* Add a step h, after the solve and before the kick. */
scree_Status scree_creep_add(scree_System *s, double h);

/* ---- advance.c ------------------------------------------------------------------------------- */

/* One attempt at a step, or at a part of one. `report` receives what belongs to a substep;
 * `report->certified` says whether all limits were met. On SCREE_BAD_INPUT, SCREE_MACHINE or
 * SCREE_INTERRUPTED the state is only partly updated: the caller restores it. */
typedef struct scree_StepSpan {
  double start, h;    /* its time and its length */
  double next;        /* length of the span after it, if that one is not halved */
  bool after_impact;  /* it begins with a kick without forces */
  bool before_impact; /* the next one does */
  bool part;          /* there are others in the step, */
  bool first;         /* of which this is the first */
  bool may_cut;       /* look for impacts at which it should be cut */
  bool at_once;       /* it begins with the impact for which the one before it was cut, */
  double since;       /* whose length this is; or 0 */
} scree_StepSpan;

/* After the solve and before the kick: where it should be cut (event.c). */
scree_Status scree_system_event(scree_System *s, double kinetic, const scree_StepSpan *span,
                                scree_Event *event);

/* Energy of impacts that a span misplaces, and energy exchanged in it (impacts.c). */
typedef struct scree_Impacts {
  double error, energy;
} scree_Impacts;

/* Levels of parts of a step: 2^level parts each (world/refine.h). */
enum { SCREE_PART_LEVELS = 4 };

/* Energy of the impacts of soft bodies, and what parts of each level misplace of it (soft.c). */
typedef struct scree_SoftImpacts {
  double energy, error[SCREE_PART_LEVELS];
} scree_SoftImpacts;

typedef struct scree_StepOutcome {
  bool halve;    /* a shorter step may help */
  bool inverted; /* a body was turned inside out: the state is no result */
  scree_Event event;
  scree_Impacts impacts;
  scree_SoftImpacts soft;
  double vibration; /* energy misplaced in vibrations (deform_energy.c), of that of the world */
} scree_StepOutcome;

/* Call after the solve and scree_system_delay, with the energy balance of the step. */
scree_Status scree_system_impacts(scree_System *s, const scree_EnergyBalance *step,
                                  scree_Impacts *impacts);

/* Call where scree_system_impacts is called. */
void scree_system_soft(const scree_System *s, scree_SoftImpacts *soft);

scree_Status scree_system_advance(scree_System *s, const scree_StepSpan *span,
                                  scree_StepReport *report, scree_StepOutcome *outcome);

/* The worst status of all ranks of a divided world. */
static inline scree_Status scree_domain_agree(const scree_System *s, scree_Status status) {
  return s->domain.global ? scree_ranks_agree(s->domain.ranks, status, s->log) : status;
}
/* Sums and maxima over all ranks of a divided world. */
static inline void scree_system_sums(const scree_System *s, double *numbers, size_t count) {
  if (s->domain.global) scree_ranks_add(s->domain.ranks, numbers, count);
}
static inline double scree_system_max(const scree_System *s, double number) {
  if (s->domain.global) scree_ranks_most(s->domain.ranks, &number, 1);
  return number;
}

void scree_system_fini(scree_System *s);
size_t scree_system_memory(const scree_System *s);

/* Loops over n bodies or contacts of about a microsecond or less each, shared by threads if there
 * are many: SCREE_ON_THREADS(n, s->threads, share, drift_all(s, h, share)); calls the function on
 * each thread, whose loop SCREE_OVER_BODIES(k, n, share) covers its share of the range. Without
 * threads it is an ordinary call: OpenMP would allocate a team of one thread. */
typedef struct scree_Share {
  int thread, of;
} scree_Share;

#define SCREE_PRAGMA_(text) _Pragma(#text)
#define SCREE_ON_THREADS(n, threads, share, call)                                                  \
  do {                                                                                             \
    if ((threads) > 1 && (n) >= 1024) {                                                            \
      SCREE_PRAGMA_(omp parallel num_threads(threads)) {                                           \
        const scree_Share share = {omp_get_thread_num(), omp_get_num_threads()};                   \
        call;                                                                                      \
      }                                                                                            \
    } else {                                                                                       \
      const scree_Share share = {0, 1};                                                            \
      call;                                                                                        \
    }                                                                                              \
  } while (0)

static inline int scree_share_begin(int n, scree_Share share) {
  return (int)((int64_t)n * share.thread / share.of);
}

/* Raise *most to the largest value that a thread has found. */
void scree_share_raise(double *most, double mine);

/* Two sums and a maximum over bodies or contacts. */
typedef struct scree_Totals {
  double sum[2], most;
} scree_Totals;

/* The terms of body or contact k, from zeros. */
typedef void scree_TermFn(const scree_System *s, int k, double h, scree_Totals *term);

/* Add the terms of 0 .. n-1 in this order, whatever the number of threads. */
void scree_system_add_terms(const scree_System *s, int n, double h, scree_TermFn *term,
                            scree_Totals *total);

#define SCREE_OVER_BODIES(k, n, share)                                                             \
  for (int k = scree_share_begin(n, share),                                                        \
           k##_end = scree_share_begin(n, (scree_Share){(share).thread + 1, (share).of});          \
       k < k##_end; ++k)

#endif
