/* scree/solver.h — solvers of the discrete problem: choose one by name, set its options by name,
 * solve, read the certificate. */
#ifndef SCREE_SOLVER_H
#define SCREE_SOLVER_H

#include "scree/measure.h"
#include "scree/options.h"
#include "scree/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a solver can do; the driver refuses the rest by name. */
enum {
  SCREE_CAN_2D = 1 << 0,
  SCREE_CAN_3D = 1 << 1,
  SCREE_CAN_COULOMB = 1 << 2,
  SCREE_CAN_ASSOCIATED = 1 << 3,
  SCREE_CAN_ASSEMBLED = 1 << 4,
  SCREE_CAN_BODIES = 1 << 5,
  SCREE_CAN_ALL_SETS = 1 << 6, /* without it: cones and half-lines only */
  SCREE_CAN_FLOW = 1 << 7      /* non-associated flow with a given H */
};

typedef struct scree_SolverClass scree_SolverClass;

/* How to solve; start from scree_solve_settings(). */
typedef struct scree_SolveSettings {
  const char *solver;         /* a name of `scree solvers` */
  const char *const *options; /* null-ended list of "name=value" for that solver, or null */
  double tolerance;           /* on the chosen measure */
  scree_Measure measure;
  int max_iterations; /* 0: the solver's own limit */
  double time_limit;  /* seconds, 0: none; where it acts, results depend on the machine */
  /* Limit on the counted work, 0: none. It is given in seconds of an ordinary core but computed
   * from counts of sweeps, factorisations and their sizes, so that it stops a solve at the same
   * iterate on every machine. */
  double work_limit;
  int threads;     /* 0: all processors; the result does not depend on it */
  bool warm_start; /* r holds a guess on entry */
  /* called after each measured iteration when not null; return false to stop */
  bool (*progress)(void *user, int iteration, double measured);
  void *progress_user;
  /* Asked several times a second when not null, also inside of an iteration; return true to leave
   * the solve at once, without a result (SCREE_INTERRUPTED). Called from the thread that called the
   * library, never from a worker. */
  bool (*interrupted)(void *user);
  void *interrupted_user;
} scree_SolveSettings;

/* What came out; every figure is measured by the driver from r alone. */
typedef struct scree_SolveInfo {
  bool converged; /* the chosen measure is at most the tolerance */
  double value;   /* of the chosen measure (for SCREE_MEASURE_INCREMENT the solver's own) */
  scree_Measures measures;
  int iterations;     /* of the solver: sweeps, gradient steps, Newton steps */
  int factorisations; /* of a sparse matrix */
  double work;        /* counted, see work_limit */
  double seconds; /* preparing W and solving; without the check of the input and the certificate */
  const char *solver; /* that gave the result */
} scree_SolveInfo;

SCREE_API scree_SolveSettings scree_solve_settings(void);

/* Solve. r (nc x d) receives the impulses, u (nc x d) the velocities W r + q. Returns SCREE_OK,
 * SCREE_NOT_CONVERGED (r, u and info are valid), SCREE_BAD_INPUT, SCREE_MACHINE, or
 * SCREE_INTERRUPTED (`interrupted` returned true; r and u hold nothing of use). */
SCREE_API scree_Status scree_solve(const scree_Problem *problem,
                                   const scree_SolveSettings *settings, double *r, double *u,
                                   scree_SolveInfo *info, const scree_Log *log);

/* The registry: classes in the order of the documentation, null past the end. */
SCREE_API const scree_SolverClass *scree_solver_class(int index);
SCREE_API const scree_SolverClass *scree_solver_find(const char *name);
SCREE_API const char *scree_solver_name(const scree_SolverClass *class_);
SCREE_API const char *scree_solver_summary(const scree_SolverClass *class_);
SCREE_API const char *scree_solver_reference(const scree_SolverClass *class_);
SCREE_API unsigned scree_solver_capabilities(const scree_SolverClass *class_);
SCREE_API const scree_OptionTable *scree_solver_options(const scree_SolverClass *class_);

/* Null when the solver can work on the problem, else the reason in words. */
SCREE_API const char *scree_solver_refuses(const scree_SolverClass *class_,
                                           const scree_Problem *problem);

#ifdef __cplusplus
}
#endif

#endif
