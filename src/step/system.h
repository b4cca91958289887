/* The system that a step works on: bodies, laws, contacts, the discrete problem and the memory of
 * the previous step. One step, whatever the scheme, is
 *
 *     1  drift for (1 - theta) h with the old velocities                        move.c
 *     2  find the contacts there                                                detect.c
 *     3  kick: pose u = W r + q over the bodies that touch, solve,              pose.c, advance.c
 *        v+ = v- + M^-1 (h f + H^T r); euler: again where turning overlaps      overlap.c
 *     4  push positions out of deep penetration; drift for theta h with v+      project.c, move.c
 *     5  certify: error, penetration, cone, energy                              certify.c
 *
 * moreau-jean has theta in [1/2, 1] and contacts where the gap is closed; euler has theta = 1 and
 * contacts as far as bodies can come in the step. The inertia of a body is that of the
 * configuration of the kick, and the drift keeps kinetic energy (rigid.h), so the energy balance of
 * a step is an identity. */
#ifndef SCREE_STEP_SYSTEM_H
#define SCREE_STEP_SYSTEM_H

#include "body/bodies.h"
#include "geometry/broad.h"
#include "geometry/contact_cache.h"
#include "law/law.h"
#include "scree/step.h"

typedef struct scree_SchemeClass {
  const char *name, *summary;
  bool looks_ahead; /* contacts are sought as far as bodies can come in the step */
  bool drifts;      /* penetration is not pushed out by the scheme itself */
  double (*theta)(const scree_WorldSettings *settings);
  /* What q holds besides the free velocity: `before` and `free` are the relative velocities (d) at
   * the start and without contacts. */
  void (*shift)(const scree_LawContact *law, int d, double h, double gap, const double *before,
                const double *free, double *shift);
} scree_SchemeClass;

extern const scree_SchemeClass scree_scheme_moreau_jean, scree_scheme_euler;
extern const scree_SchemeClass *const scree_scheme_registry[]; /* null-ended */
const scree_SchemeClass *scree_scheme_find(const char *name);

/* Contact points in the order of the sorted pairs; behind them `near` points that are open but
 * near, for the projection, in the same order. */
typedef struct scree_Points {
  size_t count, near, capacity;
  scree_ContactKey *keys;        /* (count + near) */
  scree_Vec3 *position, *normal; /* (count + near) */
  double *gap;                   /* (count + near) */
  bool failed;                   /* memory ran out */
} scree_Points;

/* The impulses of the last step that are not zero by name, in the world frame, for the warm start.
 */
typedef struct scree_Memory {
  size_t count, key_capacity, impulse_capacity;
  scree_ContactKey *keys; /* (count) */
  scree_Vec3 *impulses;   /* (count) on the first body */
  double h;               /* of the step they were found in */
} scree_Memory;

/* The discrete problem and its solution; arrays for `capacity` contacts, those of its rows for
 * `row_capacity`, which has room for the near points while they are posed. */
typedef struct scree_Posed {
  int nc, nbodies; /* bodies with contacts */
  int near_bodies; /* that only near points have, numbered after the others */
  size_t capacity, row_capacity, set_capacity, body_capacity, index_capacity;
  bool balls;  /* all bodies that touch are balls: `arm` and the normals of the contacts stand for B
                */
  int *body;   /* (nc x 2) index of a problem body, -1 for obstacles */
  double *B;   /* (nc x 2 x d x nb) */
  double *arm; /* (nc x 2 x 2) see scree/problem.h */
  double *q, *r, *u;
  double *shift; /* (nc x d) q without the free velocity, or null: zero */
  double *mu;    /* (nc) */
  uint8_t *set;  /* (nc) and its parameters, if some pair needs another set than the cone */
  double *set_a, *set_b;
  int *problem_body;  /* (nbodies) body of the world */
  int *problem_index; /* (bodies) index in the problem, -1 */
  double *y;          /* (nbodies x nb) impulses on bodies, scaled; only from the solution on */
  double rho, scale;  /* of the error: step of the natural map, and what it is relative to */
  double r_max;       /* largest normal impulse: a contact below `tolerance` of it is open */
} scree_Posed;

typedef struct scree_System {
  scree_Bodies bodies;
  scree_LawTable laws;
  scree_WorldSettings settings;
  const scree_SchemeClass *scheme;
  const scree_Log *log;
  int threads;

  scree_BroadPhase *broad;
  size_t reach_capacity;
  double *reach; /* (bodies) how far a body may come in this step, if the scheme looks ahead, or if
                  * some bodies are fast */
  bool fast;     /* moreau-jean: some bodies are (guard.c) */
  scree_Vec3 fall;     /* change of velocity by gravity in this step */
  scree_Twist *forced; /* (bodies) and by other forces, or null when there are none */

  scree_Points contacts; /* of the last detection */
  scree_Posed posed;
  scree_Memory memory;

  double bank;               /* energy that contacts have taken and projections have not used */
  scree_EnergyBalance total; /* kinetic, potential: now; the flows: sums since the start */
  double penetration;        /* deepest of the last step */
  bool energy_known;         /* total.kinetic and .potential are those of the present state */
} scree_System;

/* ---- move.c ---------------------------------------------------------------------------------- */

/* Step 1: obstacles are driven as at `middle`, all drift for `h`. */
void scree_system_drift(scree_System *s, double h);
/* `fall` and `forced` from the forces at time `middle` for a step h. */
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
/* Velocity of body k after the kick: v_free + M^-1 H^T r, from posed.y. */
scree_Twist scree_system_after(const scree_System *s, int k);
/* All bodies to their velocity after. */
void scree_system_kick(scree_System *s);
/* M^-1/2 y of body k: the velocity (or displacement) of its scaled one. */
scree_Twist scree_system_unscaled(const scree_System *s, int k);

/* ---- detect.c -------------------------------------------------------------------------------- */

/* Points in the present configuration with gaps up to relative * size + the reaches of the two
 * bodies (a null reach is zero) into `contacts`; those with a gap above closed * size are near.
 * Under a scheme that does not look ahead the reaches only make the pairs of the broad phase more.
 */
scree_Status scree_system_detect(scree_System *s, double relative, double closed,
                                 const double *reach);
/* Its first part: the pairs of the broad phase. */
scree_Status scree_system_find_pairs(scree_System *s, double relative, const double *reach);
/* Deepest penetration of the contacts found, relative to the smaller body. */
double scree_system_penetration(const scree_System *s, int *body);
void scree_points_fini(scree_Points *points);
struct scree_ManifoldPoint;
/* Behind the others; `failed` is set when memory runs out. */
void scree_points_add(scree_Points *points, int i, int j, const struct scree_ManifoldPoint *point);

/* ---- pose.c ---------------------------------------------------------------------------------- */

/* Fill `posed` from the contacts: numbering of bodies and B. */
scree_Status scree_system_pose(scree_System *s);
/* The near points behind the contacts: their bodies and B alone. Nothing else of the problem moves,
 * and scree_system_unpose_near takes them away again. */
scree_Status scree_system_pose_near(scree_System *s);
void scree_system_unpose_near(scree_System *s);
/* Free velocities, restitution, friction: q, mu, sets. */
void scree_system_fill(scree_System *s, double h);
/* r from the memory of the last step. */
scree_Status scree_system_warm(scree_System *s, double h);
/* The memory becomes this step's. */
scree_Status scree_system_remember(scree_System *s, double h);
/* Component k of the relative velocity after the kick at contact c: the solver's without shift. */
static inline double scree_system_velocity(const scree_System *s, int c, int k) {
  const size_t at = (size_t)c * (size_t)s->bodies.dimension + (size_t)k;
  return s->posed.shift ? s->posed.u[at] - s->posed.shift[at] : s->posed.u[at];
}
/* A view of the posed problem. */
scree_Problem scree_system_problem(const scree_System *s);
/* y = B^T r. It lives until the end of the step and not while a solver works. */
scree_Status scree_system_gather(scree_System *s, const double *r);
/* Relative velocity (d) at contact c, and without forces on the way if `free` is not null. */
void scree_system_approach(const scree_System *s, int c, double *before, double *free);
/* Velocity of the surface of obstacle or body `body` at `point`. */
scree_Vec3 scree_velocity_at(const scree_Pose *pose, const scree_Twist *velocity, scree_Vec3 point);

/* ---- overlap.c ------------------------------------------------------------------------------- */

/* Gaps of balls in drums, less what the drum's curvature takes of them in a step h. */
void scree_system_bend(scree_System *s, double h);
/* After a solve of a scheme that looks ahead, gathered: the points that would overlap at the end of
 * the step by more than is left alone, put into the empty list; *depth is the deepest over the
 * pair's size. */
scree_Status scree_system_overlap(const scree_System *s, double h, scree_Points *points,
                                  double *depth);
/* Those points as contacts whose expanded gap at the end is the true one. */
scree_Status scree_system_expand_again(scree_System *s, double h, scree_Points *points);

/* ---- guard.c --------------------------------------------------------------------------------- */

/* `fast`: some body is, at its free velocity, so that it may pass another between two looks;
 * `reach` then holds how far pairs are to be sought for each such body, and 0 for all others. */
scree_Status scree_system_find_fast(scree_System *s, double h);
/* Pairs that pass before this look, in the first drift; and, after the kick, before the next one.
 * What passes is put into the report; *deep: the next look would find a pair deeper than a step is
 * certified for. */
void scree_system_guard_back(const scree_System *s, double h, scree_StepReport *report);
scree_Status scree_system_guard(scree_System *s, double h, scree_StepReport *report, bool *deep);

/* ---- project.c ------------------------------------------------------------------------------- */

/* After the kick: push bodies out of deep penetration as far as the bank pays; `work` receives the
 * potential energy that was put in. */
scree_Status scree_system_project(scree_System *s, double h, scree_StepReport *report,
                                  double *work);

/* ---- certify.c ------------------------------------------------------------------------------- */

/* Kinetic and potential energy now. */
void scree_system_energy(const scree_System *s, double *kinetic, double *potential);
/* Work done in the kick; call after scree_system_gather and before scree_system_kick. */
void scree_system_work(const scree_System *s, double h, scree_EnergyBalance *balance);
/* Whether contact c carries an impulse beyond the solver's tolerance. */
bool scree_system_is_active(const scree_System *s, int c);
/* The natural map of contact c over the scale of the error; as the last solve left it. */
double scree_system_contact_error(const scree_System *s, int c);
/* How many contacts exceed the tolerance by themselves. */
int scree_system_count_above(const scree_System *s, double tolerance);

/* ---- advance.c ------------------------------------------------------------------------------- */

/* One attempt at a step of length h from time `start`. Fills the part of the report that belongs to
 * one substep; `report->certified` says whether everything was met, *halve
 * whether a shorter step may help. On SCREE_BAD_INPUT or
 * SCREE_MACHINE the state is half-way: the caller puts it back. */
scree_Status scree_system_advance(scree_System *s, double start, double h, scree_StepReport *report,
                                  bool *halve);

void scree_system_fini(scree_System *s);
size_t scree_system_memory(const scree_System *s);

/* A parallel loop over n things of about a microsecond or less each. */
#define SCREE_PRAGMA_(text) _Pragma(#text)
#define SCREE_OVER_BODIES(k, n, threads)                                                           \
  SCREE_PRAGMA_(omp parallel for schedule(static) num_threads(threads)                             \
                if ((threads) > 1 && (n) >= 1024))                                                 \
  for (int k = 0; k < (n); ++k)

#endif
