/* scree/solver.h — solvers of the discrete problem: choose one by name, set its options by name,
 * solve, read the certificate.
 *
 * scree_solve is one call for one problem. For a sequence of problems, such as the steps of a
 * simulation, a scree_Solver is made once and solves one after the other. It keeps its memory, so
 * that problems of about the same size allocate nothing, and what it knows of the last problem's
 * graph: colouring, vector lanes, the order of elimination, the analysed factor.
 *
 * The same bits. A result depends on the problem, the settings, the start r, and on what the solver
 * remembers of its earlier problems: the order of elimination, and the work of a factorisation
 * (methods that never factorise remember nothing). A new solver remembers nothing, and then gives
 * the bits of scree_solve. scree_solver_save and scree_solver_restore carry the memory over to
 * another solver, which continues a sequence with the bits of the first; everything else that is
 * kept follows from the problem alone. The number of threads never matters. */
#ifndef SCREE_SOLVER_H
#define SCREE_SOLVER_H

#include "scree/measure.h"
#include "scree/options.h"
#include "scree/parallel.h"
#include "scree/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Capabilities of a solver; the driver refuses the rest by name. */
enum {
  SCREE_CAN_2D = 1 << 0,
  SCREE_CAN_3D = 1 << 1,
  SCREE_CAN_COULOMB = 1 << 2,
  SCREE_CAN_ASSOCIATED = 1 << 3,
  SCREE_CAN_ASSEMBLED = 1 << 4,
  SCREE_CAN_BODIES = 1 << 5,
  SCREE_CAN_ANY_SIZE = 1 << 6,     /* constraints of any number of rows, further vertices */
  SCREE_CAN_FLOW = 1 << 7,         /* non-associated flow with a given H */
  SCREE_CAN_RANKS = 1 << 8,        /* several ranks (scree/parallel.h) */
  SCREE_RANKS_BODIES_ONLY = 1 << 9 /* but there no further vertices: deformable bodies */
};

typedef struct scree_SolverClass scree_SolverClass;
typedef struct scree_Solver scree_Solver;

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
  /* 0: as many as there are processors; the result does not depend on it. Fewer are used while
   * other programs keep processors busy, if this is 0 or `share_processors` is set. */
  int threads;
  bool share_processors;
  bool warm_start; /* r holds a guess on entry */
  /* Ranks that solve together, or null. Rank 0 gives the problem and receives the result, while the
   * others are in scree_solver_serve. The same number of ranks gives the same bits; another number,
   * other round-off. Time limits and `interrupted` act when an iterate is measured. Problems with
   * joints or deformable bodies are solved by rank 0 alone, and so are small ones with `auto`. */
  const scree_Ranks *ranks;
  /* called after each measured iteration when not null; return false to stop */
  bool (*progress)(void *user, int iteration, double measured);
  void *progress_user;
  /* Asked several times a second when not null, also inside of an iteration; return true to leave
   * the solve at once, without a result (SCREE_INTERRUPTED). Called from the thread that called the
   * library, never from a worker. */
  bool (*interrupted)(void *user);
  void *interrupted_user;
} scree_SolveSettings;

/* A stage of a solve. `auto` has several; every other solver is one. */
typedef struct scree_SolveStage {
  /* the solver of the stage, or "bodies" (search for the bodies behind W), "analysis" (of the
   * matrix, for the price of a factorisation), "restart" (from r = 0) */
  const char *name;
  /* of the chosen measure, as the solver sees it, for the best impulses so far; error_before of the
   * first stage is the first that was measured */
  double error_before, error_after;
  int iterations, factorisations; /* in this stage */
  double work;                    /* counted, see work_limit */
  double seconds;
} scree_SolveStage;

enum { SCREE_STAGES_MOST = 64 };

/* The result of a solve; every figure is measured by the driver from r alone. */
typedef struct scree_SolveInfo {
  bool converged; /* the chosen measure is at most the tolerance */
  double value;   /* of the chosen measure (for SCREE_MEASURE_INCREMENT the solver's own) */
  scree_Measures measures;
  int iterations;     /* of the solver: sweeps, gradient steps, Newton steps */
  int factorisations; /* of a sparse matrix */
  double work;        /* counted, see work_limit */
  double seconds; /* preparing W and solving; without the check of the input and the certificate */
  const char *solver; /* that gave the result */
  /* of all ranks together in this solve; zero, and imbalance 1, on one rank */
  scree_RankCounts sent, sent_before; /* sent_before: to divide the problem; it is part of `sent` */
  double imbalance;                   /* rows of the rank that has most over their mean */
  int nstages;
  /* (nstages) in their order; if there were more than SCREE_STAGES_MOST, the last one sums up the
   * rest */
  scree_SolveStage stages[SCREE_STAGES_MOST];
} scree_SolveInfo;

SCREE_API scree_SolveSettings scree_solve_settings(void);

/* Solve. r and u (scree_problem_rows) receive the impulses and the velocities W r + q; with
 * `warm_start` r is also where the solve begins. `info` may be null. Returns SCREE_OK,
 * SCREE_NOT_CONVERGED (r, u and info are valid), SCREE_BAD_INPUT, SCREE_MACHINE, or
 * SCREE_INTERRUPTED (`interrupted` returned true; r and u hold nothing of use). */
SCREE_API scree_Status scree_solve(const scree_Problem *problem,
                                   const scree_SolveSettings *settings, double *r, double *u,
                                   scree_SolveInfo *info, const scree_Log *log);

/* Impulses g != 0 that contacts may have in addition to a solution without moving anything: W g =
 * 0, and r + t g is a solution for all t >= 0 (002 Theorem 1, "internal forces"). Impulses of these
 * contacts are then not determined by the problem, only velocities are. */
typedef struct scree_InternalForces {
  bool any;
  int contacts;    /* that take part */
  double residual; /* largest |W g| over the mean diagonal of W, for g whose largest entry is 1:
                      round-off if there are any */
} scree_InternalForces;

/* u are the velocities of a solution; those below `accuracy` times the largest count as zero (1e-6,
 * or some times the error of the solution, if that is larger). g (rows), or null, receives one
 * of these impulses, largest entry 1, in which all contacts take part that do so in some; zero if
 * there are none. As much work as a solve with `ipm`. */
SCREE_API scree_Status scree_internal_forces(const scree_Problem *problem, const double *u,
                                             double accuracy, double *g,
                                             scree_InternalForces *found, const scree_Log *log);

/* ---- a sequence of problems --------------------------------------------------------------------
 */

/* A solver with these settings, of which it keeps a copy (names and options too; what `progress`
 * points to must stay). `log` may be null; a copy is kept. *solver is null after a failure. */
SCREE_API scree_Status scree_solver_create(const scree_SolveSettings *settings,
                                           const scree_Log *log, scree_Solver **solver);

/* Null is allowed. */
SCREE_API void scree_solver_destroy(scree_Solver *solver);

/* Other settings for the next problem, another method too. After SCREE_BAD_INPUT they are as they
 * were. */
SCREE_API scree_Status scree_solver_set_settings(scree_Solver *solver,
                                                 const scree_SolveSettings *settings);

/* As scree_solve. One solver solves one problem at a time. After SCREE_INTERRUPTED it may remember
 * a part of that solve: to repeat it to the same bits, restore what was saved before. */
SCREE_API scree_Status scree_solver_solve(scree_Solver *solver, const scree_Problem *problem,
                                          double *r, double *u, scree_SolveInfo *info);

/* A^-1 B^T r for the r of the last problem: the velocities that the impulses give to the vertices,
 * scaled as in scree/problem.h. nbodies blocks of nb, nb zeros (the ground), then the further
 * vertices one after the other. Valid until the next solve; null when that problem was
 * assembled or was not solved. */
SCREE_API const double *scree_solver_velocities(const scree_Solver *solver);

/* Bytes held. */
SCREE_API size_t scree_solver_memory(const scree_Solver *solver);

/* The data that a solver keeps of its earlier problems, as bytes for the same machine: four for
 * each body, and some. Restoring refuses bytes that are not sound and leaves the solver as it was;
 * after SCREE_MACHINE it remembers nothing. */
SCREE_API size_t scree_solver_state_size(const scree_Solver *solver);
SCREE_API void scree_solver_save(const scree_Solver *solver, void *buffer);
SCREE_API scree_Status scree_solver_restore(scree_Solver *solver, const void *buffer, size_t size);

/* scree_internal_forces with the memory of a solver that is kept for this. Its settings are
 * replaced, and what it remembers is forgotten: the result depends on the problem alone. */
SCREE_API scree_Status scree_solver_internal_forces(scree_Solver *solver,
                                                    const scree_Problem *problem, const double *u,
                                                    double accuracy, double *g,
                                                    scree_InternalForces *found);

/* ---- several ranks (scree/parallel.h) ----------------------------------------------------------
 */

/* On every rank but 0: take part in the solves of rank 0, until it dismisses the ranks. A solve
 * that fails on this rank fails on rank 0, with a message there. */
SCREE_API scree_Status scree_solver_serve(const scree_Ranks *ranks, const scree_Log *log);

/* On rank 0: no more solves will come. */
SCREE_API void scree_solver_dismiss(const scree_Ranks *ranks);

/* ---- the methods -------------------------------------------------------------------------------
 */

/* The registry: classes in the order of the documentation, null past the end. All that these
 * functions return lives as long as the program. */
SCREE_API const scree_SolverClass *scree_solver_class(int index);
/* Null for a name that is not known. */
SCREE_API const scree_SolverClass *scree_solver_class_find(const char *name);
SCREE_API const char *scree_solver_class_name(const scree_SolverClass *class_);
SCREE_API const char *scree_solver_class_summary(const scree_SolverClass *class_);
SCREE_API const char *scree_solver_class_reference(const scree_SolverClass *class_);
SCREE_API unsigned scree_solver_class_capabilities(const scree_SolverClass *class_);
/* The sets that it can project on: bits 1 << scree_SetKind. */
SCREE_API unsigned scree_solver_class_sets(const scree_SolverClass *class_);
SCREE_API const scree_OptionTable *scree_solver_class_options(const scree_SolverClass *class_);

/* Null when the solver can work on the problem, else the reason in words. */
SCREE_API const char *scree_solver_class_refuses(const scree_SolverClass *class_,
                                                 const scree_Problem *problem);

#ifdef __cplusplus
}
#endif

#endif
