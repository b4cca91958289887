/* Gauss-Seidel between balls in single precision, eight contacts at a time.
 *
 * A sweep need not be exact: what it leaves, the next one corrects, and the solution is judged in
 * double precision from r alone (driver.c). So where the tolerance is far above the rounding of
 * single precision, sweeps between balls (balls.h) keep their numbers in half of the memory and
 * work on twice as many in a register. Numbers are scaled by powers of two to be of order one, so
 * that neither units nor sizes of bodies bring them near the limits of the format, and the
 * velocities of bodies are recomputed from r whenever r is taken.
 *
 * The error of the impulses can be estimated here as well, in one pass over the batches: it says
 * when a measurement in double precision is worth its price. */
#ifndef SCREE_SOLVER_SINGLES_H
#define SCREE_SOLVER_SINGLES_H

#include "solver/lanes.h"

enum { SCREE_SINGLES = 8 }; /* contacts of a batch */

typedef struct scree_Singles {
  scree_LaneLayout layout;
  int d, stride; /* stride: floats per body in y */
  int nbodies, colours, size;
  const double *mu;         /* of the problem */
  double impulse, velocity; /* units of r and of the scaled velocities of bodies */
  float rho;                /* of the natural map, in these units */
  bool soft;                /* with compliance */
  bool based;               /* q of the batches are velocities at some r, y the change since then */
  double q2;                /* sum of the squares of q, in these units */
  bool pauses;              /* as in lanes.h */
  float *batch, *r, *y;
  float *last;                 /* as r: after the sweep before, for momentum */
  float *changes;              /* (batches) squared change of the last sweep with momentum */
  unsigned char *wait, *pause; /* (batches) */
  double *sums;                /* (chunks x 4) */
} scree_Singles;

/* Error below which rounding slows these sweeps; if they are `based` (scree_singles_base). */
double scree_singles_least(void);
double scree_singles_least_based(void);

/* Whether the contacts of a problem can be swept in this way. */
bool scree_singles_fit(const scree_Operator *W);

/* r and left_out as in scree_lane_layout_create. All memory is from the arena. */
scree_Status scree_singles_create(const scree_Operator *W, const scree_Colouring *colouring,
                                  const double *r, const bool *left_out, scree_Arena *arena,
                                  scree_Singles *singles, const scree_Log *log);

/* Load the impulses r and the state y of the operator that belongs to them; no batch pauses. */
void scree_singles_set(scree_Singles *singles, const double *r, const double *y, int threads);

/* Load y alone. */
void scree_singles_refresh(scree_Singles *singles, const double *y, int threads);

/* From here on y holds the change from the impulses whose velocities are u: rounding is then
 * relative to changes, and errors fall ten times further. */
void scree_singles_base(scree_Singles *singles, const double *u, int threads);

/* Store the impulses into r, inside their cones. */
void scree_singles_get(const scree_Singles *singles, double *r, int threads);

/* Visit batches first .. last-1, which must belong to one colour if other threads work too.
 * momentum: b of the sweep, whose impulses are moved when they are visited, or null. */
scree_SweepChange scree_singles_visit(scree_Singles *singles, int first, int last,
                                      const double *momentum);

/* The `error` of the impulses as they are, up to rounding. */
double scree_singles_error(const scree_Singles *singles, int threads);

#endif
