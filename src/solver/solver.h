/* Internal interface of a solver: its descriptor, and the run through which it and the driver
 * exchange data.
 *
 * A solver is one file with static functions and one `const scree_SolverClass` at its end, named
 * scree_solver_<name>, plus one line in registry.c. It accesses the problem only through its
 * prepared operator. It does not decide about convergence: it passes its iterates to
 * scree_solve_run_stop, which measures them with the shared function and returns when to stop. */
#ifndef SCREE_SOLVER_SOLVER_H
#define SCREE_SOLVER_SOLVER_H

#include "core/load.h"
#include "core/poll.h"
#include "core/private.h"
#include "problem/division.h"
#include "problem/islands.h"
#include "scree/solver.h"
#include "solver/graph_system.h"
#include "solver/kept_graph.h"
#include "solver/mechanism.h"
#include "solver/policy.h"
#include "solver/price.h"

/* Memory for one operator and data shared by the methods of a run, made on first use: the analysed
 * linear system and the sweeps for smoothing. During a solve q may change, W may not. From solve to
 * solve it keeps the data that are still valid, and its memory in any case. */
typedef struct scree_SolveCache {
  scree_Arena work;                 /* vectors and states of the methods of this solve */
  scree_Arena smoothing;            /* of the smoother, which outlives the method that created it */
  scree_KeptGraph graph;            /* data that depend on the graph of the problem alone */
  scree_GraphSystem system;         /* that of this solve if has_system, else of an earlier one */
  scree_Elimination elimination;    /* data kept for the next solve */
  scree_MechanismFactor mechanisms; /* factor of the joints, of this solve or an earlier one */
  struct scree_SolveCache *next;    /* for a problem derived from this one, or null */

  bool has_system;
  int idle;                      /* solves since the system was needed */
  struct scree_Sweeps *smoother; /* sweep.h */
  bool balls;                    /* it is of the fast path of balls, or was */
  int stopped;                   /* stages of sweeps in single precision that did not end a solve */
  scree_Islands islands;         /* of this solve, once they were needed */
  bool *left_out; /* (nc) contacts of islands that the smoother leaves as they are, or null */
  int left;       /* number of them */
  bool ahead;     /* the smoother is ahead of r and u: these are not collected yet */
  double sweeps_per_factorisation; /* number of sweeps that cost as much; 0: not known yet */
  double shared_sweep;             /* seconds of a sweep on several ranks; 0: not known yet */
} scree_SolveCache;

/* Start another solve of the problem of the last one: `work` memory is released down to the mark.
 * The smoother is kept if sweeps for these settings would begin with one like it. */
void scree_solve_cache_again(scree_SolveCache *cache, const scree_Problem *problem,
                             const scree_SolveSettings *settings, scree_ArenaMark mark);

/* Start a new solve: all `work` memory of the last one is released, and the graph is that of
 * `problem`. */
scree_Status scree_solve_cache_begin(scree_SolveCache *cache, const scree_Problem *problem,
                                     const scree_Log *log);

/* The operator of that problem, until the next solve; there is nothing to destroy. `halo`: null for
 * one rank. */
scree_Status scree_solve_cache_operator(scree_SolveCache *cache, const scree_Problem *problem,
                                        const scree_Halo *halo, int threads, const scree_Log *log,
                                        scree_Operator *W);

void scree_solve_cache_fini(scree_SolveCache *cache);
size_t scree_solve_cache_memory(const scree_SolveCache *cache);

/* Impulses of a problem that was solved before, all computed from r. */
typedef struct scree_Solved {
  double *r; /* (rows) */
  double *y; /* (state_size) state of W */
  double error;
} scree_Solved;

/* One solve in progress. The first part is for the solver to read, the second for it to fill. */
typedef struct scree_SolveRun {
  const scree_Operator *W; /* the prepared problem: W->problem is the problem itself */
  const scree_SolveSettings *settings;
  const scree_Log *log;
  scree_Poll *poll;        /* of settings->interrupted, for long loops between measurements */
  scree_MachineLoad *load; /* of the machine, or null: use all threads of W whatever it is */
  double start;            /* clock at the start */
  bool measure_often; /* the measure is a paper's own: check every iteration, as the paper did */
  const scree_Division *division; /* the whole problem, on several ranks; else null */
  double elsewhere;               /* work of solves that rank 0 made alone */
  scree_SolveCache *cache;        /* `create` takes memory from its arena `work` */
  scree_Mechanisms *mechanisms;   /* constraints that sweeps solve together, or null */

  int iterations, factorisations; /* counted by the solver, read by scree_solve_run_stop */
  double left_out;                /* sweeps' worth of visits that iterations did not make */
  double value;                   /* the last measured value */
  bool swept;                     /* r is the result of the last sweeps: the next ones resume */
  bool measured;                  /* something has been measured */
  double first_value;             /* the first measured value */
  bool met;                       /* the last measured value is at most the tolerance */
  bool exhausted;                 /* iteration or time limit reached, or a callback asked to stop */
  const char *note;               /* name of the inner method that gave the result, or null */
  double *work;                   /* (W->rows) of the driver, for the measure */
  const scree_Solved *solved;     /* the same problem as it was solved before, or null */
  const double *state;            /* state of the r that ended the run, computed from it, or null:
                                     not known */
  scree_SolveInfo *info;          /* of the driver, for stages */
} scree_SolveRun;

/* Of solvers that work on several ranks where linear systems do. */
enum {
  SCREE_CAN_RANKS_BY_FACTOR = SCREE_SHARED_FACTORS * (SCREE_CAN_RANKS | SCREE_RANKS_BODIES_ONLY)
};

/* Masks of sets. */
enum {
  SCREE_SETS_CONES = 1 << SCREE_SET_CONE | 1 << SCREE_SET_HALF_LINE,
  SCREE_SETS_ALL = (1 << SCREE_SET_KINDS) - 1
};

enum { SCREE_OPTIONS_SIZE = 256 }; /* bytes: no options struct is larger */

/* Memory for the options of any solver. */
typedef union scree_SolverOptions {
  char bytes[SCREE_OPTIONS_SIZE];
  double number;
  void *pointer;
} scree_SolverOptions;

struct scree_SolverClass {
  const char *name, *summary, *reference;
  unsigned capabilities;
  unsigned sets;      /* bits 1 << scree_SetKind that it can project on */
  int max_iterations; /* default limit of iterations */
  scree_OptionTable options;
  /* Allocate all memory of the iterations from run->cache->work. *state is passed to solve and
   * destroy. */
  scree_Status (*create)(const scree_SolveRun *run, const void *options, void **state);
  /* Improve r (W->rows), which holds the start; u must be W r + q up to round-off on return.
   * SCREE_OK also when not converged: the driver measures the error. */
  scree_Status (*solve)(void *state, scree_SolveRun *run, double *r, double *u);
  /* Null if a state has only memory of the run. Not called if create has failed. */
  void (*destroy)(void *state);
};

/* Measure the iterate and return whether to stop: the tolerance is met or a limit is reached. `u`
 * is the solver's own W r + q. `increment` is the change of the impulses in the last iteration in
 * the solver's own norm, used only by SCREE_MEASURE_INCREMENT. */
bool scree_solve_run_stop(scree_SolveRun *run, const double *r, const double *u, double increment);

/* Check only the limits and the poll, without measuring: cheap, for iterations that are not
 * measured. */
bool scree_solve_run_exhausted(scree_SolveRun *run);

/* Create, solve, destroy with another solver, continuing the same run (its counts, limits, clock)
 * from r; `options` as in scree_SolveSettings: a null-terminated list of "name=value", or null. */
scree_Status scree_solve_run_solver(scree_SolveRun *run, const scree_SolverClass *class_,
                                    const char *const *options, double *r, double *u);

/* Fill an options struct: the defaults, then the list. */
scree_Status scree_solver_class_read_options(const scree_SolverClass *class_,
                                             const char *const *list, scree_SolverOptions *options,
                                             const scree_Log *log);

/* The factorisable system of the run (graph_system.h), made on first use and kept. */
scree_Status scree_solve_run_system(const scree_SolveRun *run, scree_GraphSystem **system);

/* Gauss-Seidel sweeps from r, then u and one measurement: run->value, run->met. */
scree_Status scree_solve_run_smooth(scree_SolveRun *run, int sweeps, double *r, double *u);

/* Sweeps as long as their rate predicts the tolerance: at least limits->least, then while the rate
 * of their last half predicts that limits->most in all suffice. */
scree_Status scree_solve_run_sweep(scree_SolveRun *run, const scree_SweepLimits *limits, double *r,
                                   double *u);

/* Whether the sweeps of this run use the fast path of balls; valid after the first call. */
bool scree_solve_run_sweeps_balls(const scree_SolveRun *run);

/* Whether scree_solve_run_sweep accelerates its sweeps; valid after the first call. */
bool scree_solve_run_momentum(const scree_SolveRun *run);

/* Number of sweeps that cost as much as one factorisation with its solves, from counts of
 * operations and the rates of a reference core: decisions that use it give the same bits
 * everywhere. The counts are those of the last analysed pattern, if it was about as large
 * (elimination.h). */
scree_Status scree_solve_run_sweeps_per_factorisation(const scree_SolveRun *run, double *sweeps);

/* Seconds of one sweep on that core; on several ranks the first call is a synchronisation. */
double scree_solve_run_sweep_seconds(const scree_SolveRun *run);

/* Work of the run so far, in seconds of that core: its iterations, each counted as a sweep, and its
 * factorisations. */
double scree_solve_run_work(const scree_SolveRun *run);

/* Seconds of one factorisation without analysing anything: that of the last analysed system if it
 * had about this size, else a lower bound. */
double scree_solve_run_factorisation_least(const scree_SolveRun *run);

/* Seconds of one factorisation on that core. */
scree_Status scree_solve_run_factorisation_seconds(const scree_SolveRun *run, double *seconds);

/* Append a stage to the list; null is allowed, for inner solves. */
void scree_solve_run_record(scree_SolveInfo *info, const scree_SolveStage *stage);

#endif
