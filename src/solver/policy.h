/* The decisions of `auto`, as functions of recorded data alone.
 *
 * A solve is a sequence of stages. After each of them scree_policy_next reads the history (the
 * actions, the error before and after, the work) and the facts (size and kind of the problem,
 * prices, limits) and returns the next action. scree_policy_keep_sweeping decides in the same way
 * when a stage of sweeps ends. Both use numbers only, no vectors and no clock: the same history
 * gives the same decision on any machine, and a test can use invented histories
 * (tests/test_policy.c).
 *
 * The order of the stages:
 *
 *     first sweeps -> (bodies behind W) -> analysis -> (sweeps) -> newton
 *       -> after a warm start once more from zero: (sweeps) -> newton
 *       -> sweeps, while they are predicted to be cheaper than ipm
 *       -> ipm -> newton -> [implicit, pivot] -> [path: sweeps -> lemke -> newton]
 *       -> ipm with other starts ...
 *       -> last sweeps
 *       -> with a time limit: ipm, lemke and sweeps from other starts until it is reached
 *
 * implicit and pivot come after the first ipm of each round where many digits are asked of a cold
 * start, pivot first in large problems.
 * From near the solution (`polish`) all ends with newton and then pivot.
 * The path comes after the first ipm if that has hardly lowered the error or the path is short,
 * else after the last. */
#ifndef SCREE_SOLVER_POLICY_H
#define SCREE_SOLVER_POLICY_H

#include "scree/solver.h"

/* The kind of an action. */
typedef enum scree_ActionKind {
  SCREE_ACTION_STOP,
  SCREE_ACTION_SWEEP,   /* Gauss-Seidel: `least` sweeps, then while the rate predicts that `most`
                           suffice */
  SCREE_ACTION_RECOVER, /* search for the bodies behind an assembled W, and work on them */
  SCREE_ACTION_ANALYSE, /* find the price of a factorisation */
  SCREE_ACTION_RESTART, /* go back to r = 0 */
  SCREE_ACTION_NEWTON,
  SCREE_ACTION_IPM,
  SCREE_ACTION_LEMKE,
  SCREE_ACTION_IMPLICIT,
  SCREE_ACTION_PIVOT
} scree_ActionKind;

/* The position of an action in the order of stages. */
typedef enum scree_Phase {
  SCREE_PHASE_FIRST, /* sweeps before anything is known */
  SCREE_PHASE_REST,  /* sweeps until a limit is reached */
  SCREE_PHASE_RECOVER,
  SCREE_PHASE_ANALYSE,
  SCREE_PHASE_APPROACH, /* sweeps before newton */
  SCREE_PHASE_NEWTON,
  SCREE_PHASE_RESTART,
  SCREE_PHASE_LONG, /* sweeps before ipm */
  SCREE_PHASE_IPM,
  SCREE_PHASE_IPM_NEWTON, /* after ipm */
  SCREE_PHASE_IMPLICIT,   /* after that, to many digits */
  SCREE_PHASE_PIVOT,      /* the same */
  SCREE_PHASE_PATH_SWEEPS,
  SCREE_PHASE_PATH,
  SCREE_PHASE_PATH_NEWTON, /* after lemke */
  SCREE_PHASE_FINISH,      /* pivot after newton, near the solution */
  SCREE_PHASE_LAST,        /* sweeps when all methods have been tried */
  SCREE_PHASE_END
} scree_Phase;

typedef struct scree_Action {
  scree_ActionKind kind;
  scree_Phase phase;
  double least, most;            /* SWEEP */
  bool patient;                  /* NEWTON: may take long to lower the error, */
  bool brief;                    /* or has to lower it at once: pivot comes next */
  double kappa, barrier, weight; /* IPM: its options */
  int start;                     /* LEMKE: number of its first d */
  int factorisations;            /* IMPLICIT, PIVOT: at most */
} scree_Action;

/* A completed stage. */
typedef struct scree_Stage {
  scree_Action action;
  scree_SolveStage record; /* its errors are those of the best impulses so far */
  bool finished;           /* the tolerance is met, or a limit is reached */
} scree_Stage;

typedef struct scree_History {
  int count;
  scree_Stage stage[SCREE_STAGES_MOST];
} scree_History;

/* Known data of the problem and the settings when a decision is made. */
typedef struct scree_Facts {
  int d, contacts;
  bool assembled;   /* W is given, not bodies */
  bool associated;  /* the convex law */
  bool factorises;  /* newton can work on it */
  bool no_ipm;      /* ipm cannot */
  bool follows;     /* lemke can */
  bool steps;       /* implicit can */
  bool pivots;      /* pivot can */
  bool balls;       /* sweeps use the fast path of balls */
  bool slow_sweeps; /* sweeps visit contact by contact: the associated law with friction */
  bool warm;        /* r was given */
  bool polish;      /* option: the start is near the solution */
  double tolerance;
  double sweep_seconds;  /* counted work of a sweep */
  double price;          /* of a factorisation, in sweeps; known after the analysis */
  double factor_seconds; /* counted work of a factorisation; known after the analysis */
  double factor_least;   /* that of the last system of about this size, or a lower bound */
  double work_left;      /* counted seconds until the work limit, infinite if there is none */
  double time_left;      /* counted seconds until the time limit, infinite if there is none */
} scree_Facts;

/* The next action; a null history is empty. */
scree_Action scree_policy_next(const scree_Facts *facts, const scree_History *history);

/* The displayed name of an action: that of the solver, "bodies", "analysis" or "restart". */
const char *scree_action_name(scree_ActionKind kind);

/* ---- sweeps ------------------------------------------------------------------------------------
 */

/* Limits of a stage of sweeps. */
typedef struct scree_SweepLimits {
  double least; /* sweeps before they may end because of their rate; */
  double most;  /* they end when so many will not suffice at that rate */
  double idle;  /* sweeps from which they end if the last half of them did not reduce the error at
                   all: at most `least` */
} scree_SweepLimits;

/* A stage of sweeps in progress. */
typedef struct scree_SweepRecord {
  int done;          /* sweeps so far */
  int half;          /* of these, before the part by which the rate is judged */
  double half_error; /* lowest error then */
  double lowest;     /* lowest error so far: single sweeps may increase it */
  double error;      /* current error */
  bool momentum;     /* sweeps are accelerated (momentum.h) */
  bool may_calm;     /* there is friction: momentum need not converge */
  bool estimated;    /* errors are estimated after short groups: momentum is judged over several, */
  int judged;        /* since so many sweeps */
  double judged_error;
} scree_SweepRecord;

/* Whether sweeps that are to solve have momentum (momentum.h). */
bool scree_policy_momentum(int contacts, bool balls, bool warm);

/* Sweeps until the first measurement, and after `done` sweeps until the next one. */
int scree_policy_first_group(double error, double tolerance, bool balls);
int scree_policy_next_group(int done, bool estimated);

/* After `swept` more sweeps, from the error `before` to record->error: false when they should end,
 * because limits->most in all will not suffice at the rate of their last half. Updates the record,
 * and ends the momentum if the error no longer falls. */
bool scree_policy_keep_sweeping(scree_SweepRecord *record, int swept, double before,
                                const scree_SweepLimits *limits, double tolerance);

#endif
