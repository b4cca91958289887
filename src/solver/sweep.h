/* Sweeps of non-linear Gauss-Seidel: every constraint is visited in turn, its local problem solved
 * with the others frozen. They are a method of their own (nlgs), and the smoother of newton, ipm,
 * lemke and auto. */
#ifndef SCREE_SOLVER_SWEEP_H
#define SCREE_SOLVER_SWEEP_H

#include "solver/local.h"
#include "solver/solver.h"

typedef enum scree_SweepOrder {
  SCREE_ORDER_AUTO, /* coloured where it is faster */
  SCREE_ORDER_NATURAL,
  SCREE_ORDER_COLOURED
} scree_SweepOrder;

/* Which data of the other ranks a sweep uses. */
typedef enum scree_SweepRanks {
  SCREE_RANKS_EXACT,  /* everything: the sweep of one rank, with an exchange after each colour */
  SCREE_RANKS_RELAXED /* the state before the sweep: one exchange, and shorter steps at the border
                       */
} scree_SweepRanks;

typedef struct scree_SweepSettings {
  const scree_LocalClass *local; /* of contacts; constraints of any size are solved exactly */
  scree_LocalParameters parameters;
  scree_SweepOrder order;
  scree_SweepRanks between; /* of no effect on one rank */
  const bool *left_out;     /* (nc) contacts that keep their impulses, or null; in lanes only */
  bool single;   /* in single precision where the tolerance of the run allows it (singles.h) */
  bool deep;     /* single precision goes on to smaller errors, from a base (singles.h) */
  bool momentum; /* sweeps may be accelerated: memory for momentum.h */
} scree_SweepSettings;

typedef struct scree_Sweeps scree_Sweeps;

/* The exact local solution, in the best order. */
scree_SweepSettings scree_sweep_settings(void);

/* r: impulses to begin with. All memory is from the arena, which must outlive the sweeps; there is
 * nothing to destroy. */
scree_Status scree_sweeps_create(const scree_SolveRun *run, const scree_SweepSettings *settings,
                                 const double *r, scree_Arena *arena, scree_Sweeps **sweeps);

/* Use r as the point to resume from; u = W r + q. */
void scree_sweeps_start(scree_Sweeps *sweeps, const scree_Operator *W, const double *r, double *u);

/* How sweeps are made. */
typedef struct scree_SweepPlan {
  int count;        /* at most so many */
  double small;     /* end after one that changes no more than this; negative: make all of them */
  bool momentum;    /* accelerated, if the settings allow it and it can be done */
  bool pauses;      /* contacts that do not change are left out of some of the next sweeps, as long
                           as calls resume; in lanes only (lanes.h) */
  bool resume;      /* r is the result of the last call, or of `start` */
  double *estimate; /* in single precision only: receives an estimate of the error, and r and u are
                       not those of it until they are collected. Null: they are */
} scree_SweepPlan;

/* Sweeps from r, after which u = W r + q is recomputed. Returns the change of the last sweep,
 * max |dr_n| + max |dr_T| (000 (4.15)), infinite if there was none; *done is their number. */
double scree_sweeps_run(scree_Sweeps *sweeps, const scree_Operator *W, const scree_SweepPlan *plan,
                        double *r, double *u, int *done);

/* r and u = W r + q after sweeps that only estimated the error. */
void scree_sweeps_collect(scree_Sweeps *sweeps, const scree_Operator *W, double *r, double *u);

/* Whether sweeps that are made with such settings (and leave no contacts out) would be like these.
 */
bool scree_sweeps_suit(const scree_Sweeps *sweeps, bool single, bool deep);

/* Take y for the state of the impulses from which the next call resumes. */
void scree_sweeps_take(scree_Sweeps *sweeps, const scree_Operator *W, const double *y);

/* The state of the last r and u, if it was computed from r, and not updated by visits; else null.
 */
const double *scree_sweeps_state(const scree_Sweeps *sweeps);

/* Whether contacts are in batches, of which some can be left out. */
bool scree_sweeps_batched(const scree_Sweeps *sweeps);

/* Whether they work in single precision. */
bool scree_sweeps_single(const scree_Sweeps *sweeps);

/* Whether they use the fast path of contacts between balls. */
bool scree_sweeps_balls(const scree_Sweeps *sweeps);

/* Visits that pauses have saved since `create`, in sweeps: sweeps done less this is what they have
 * cost. It does not depend on threads. */
double scree_sweeps_left_out(const scree_Sweeps *sweeps);

#endif
