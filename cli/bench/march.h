/* Shared by the cases with bodies: methods by their names in the papers, worlds in the papers'
 * units, and time stepping with the sums that the papers publish.
 *
 * Units. 000 and 001 treat the unknown as a *force* p and scale the velocities by the restitution:
 * with u~ = (u+ + e u-)/(1 + e),  u~ = q/(1 + e) + dt W/(1 + e) p. Our problems are in impulses
 * r = dt p and velocities u = (1 + e) u~. Both are the same numbers when masses are counted in
 * units of dt/(1 + e) kg: a world whose masses are m (1 + e)/dt has W' = dt W/(1 + e), and its
 * impulses are r' = (1 + e) p with velocities u' = (1 + e) u~ in m/s. The papers' methods are
 * homogeneous, so rho and gamma keep their published values, iteration counts are the papers', and
 * only tolerances on forces are multiplied by 1 + e. Velocities, positions and times are as in SI;
 * energies come out in units of dt/(1 + e) J. */
#ifndef CLI_BENCH_MARCH_H
#define CLI_BENCH_MARCH_H

#include "cli/bench/bench.h"
#include "scree/world.h"

#include <stdint.h>

enum { MARCH_TRACE = 512, MARCH_OPTIONS = 5 };
enum { MARCH_PATIENCE = 4 }; /* how many times the limit of a row auto may take */

/* A solver with its settings, under the name of a table's row. */
typedef struct Method {
  const char *name, *solver;
  char text[MARCH_OPTIONS][64];
  double tolerance;
  scree_Measure measure;
  int max_iterations; /* 0: the solver's own limit */
  bool automatic;     /* ours: the default scheme, with warm start and retries */
} Method;

/* Ours, at the default tolerance. */
Method method_auto(void);

/* nlgs with a local solver of the papers. `gamma` is (n, t), null where there is none. `alpha` is
 * rho over rho_bar = 1/(dt W_nn) = m_eff/dt, 0 where there is none; kappa = W_tt/W_nn is 3 for
 * disks and 3.5 for spheres (the library counts rho against both), e the restitution. */
Method method_local(const char *local, const double *gamma, double alpha, double kappa, double mu,
                    double e);

/* A random number in [low, high); `state` is the seed and is changed. */
double march_random(uint64_t *state, double low, double high);

/* Settings of a world for a method: dimension, gravity along -y (2D) or -z (3D), one thread unless
 * the user asked for more. Options point into `pointers`, which must stay until the world is made.
 */
scree_WorldSettings march_settings(const Bench *bench, const Method *method, int dimension,
                                   double step, double gravity,
                                   const char *pointers[MARCH_OPTIONS + 1]);

scree_Status march_add_disk(scree_World *world, double radius, double x, double y, double vx,
                            double vy, double mass, double inertia, const scree_Log *log);
scree_Status march_add_sphere(scree_World *world, double radius, scree_Vec3 position, double mass,
                              const scree_Log *log);
/* A half-plane through (x, y) whose outward normal is y turned by `angle`. */
scree_Status march_add_wall(scree_World *world, double x, double y, double angle,
                            const scree_Log *log);
/* A half-space through `point` with the outward normal along an axis: 0, 1, 2; `sign` +1 or -1. */
scree_Status march_add_wall_3d(scree_World *world, scree_Vec3 point, int axis, int sign,
                               const scree_Log *log);

/* Sums over the steps, and curves for the plots. */
typedef struct March {
  int64_t steps;
  double time;
  double iterations;       /* of all steps */
  int iterations_last;     /* of the last one */
  double seconds_solve;    /* CPU time: of each step the solver's share of its wall time */
  double seconds;          /* CPU time of everything */
  double penetration_max;  /* deepest of all steps, relative to the smaller body */
  double penetration_last; /* in the configuration at the end */
  double error_max;        /* worst natural map of a solve */
  int64_t touching;        /* steps with an active contact */
  int64_t unsolved;        /* steps whose solve missed its own criterion */
  double eps_glob_last;    /* 001 (37) at the last step */
  double approach_last;    /* max over contacts of -min(0, u_n) there: 001's "penetration" */
  int contacts_last, active_last, contacts_max;
  bool stopped; /* by the limit on a row's time, or by the user */
  size_t traced;
  double trace_time[MARCH_TRACE], trace_iterations[MARCH_TRACE], trace_seconds[MARCH_TRACE];
} March;

/* Called after each step; may be null. */
typedef void (*MarchObserver)(void *user, scree_World *world, const scree_StepReport *report);

/* Make `steps` steps. The row's name is shown while it goes on. A row that has taken longer than
 * the user's limit stops, with `stopped` set. */
scree_Status march(Bench *bench, const char *row, scree_World *world, int64_t steps,
                   MarchObserver observer, void *user, March *result);

/* "T steps of N" under the table for a row that was stopped. */
void march_note_stopped(Bench *bench, const char *row, const March *result, int64_t steps);

/* How many times faster ours (seconds) is than the best printed and than the best of the paper's
 * methods here; NAN where there is no figure. */
void march_faster(Bench *bench, const char *row, double ours, double printed, double here);

#endif
