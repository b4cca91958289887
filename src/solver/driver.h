/* The parts of the driver that solves on one rank and on several share. */
#ifndef SCREE_SOLVER_DRIVER_H
#define SCREE_SOLVER_DRIVER_H

#include "core/private.h"
#include "solver/solver.h"

enum { SCREE_CACHES = 3 };

/* Contacts for each rank below which `auto` leaves a problem to rank 0. A sweep over so many takes
 * 0.08 to 0.4 ms (20 ns for a contact between balls, 100 ns between boxes), as long as the
 * exchanges of its 10 to 20 colours at some microseconds each. The latency is assumed, not
 * measured. */
enum { SCREE_CONTACTS_PER_RANK = 4000 };

/* What a solver keeps of a problem that may be solved again, in the first cache. */
typedef struct scree_KeptProblem {
  bool keeps;           /* the present solve is to keep its problem */
  bool same;            /* and its problem is that of the last solve */
  bool known;           /* the rest is that of the last solve */
  scree_Operator W;     /* with as many threads as memory was made for */
  scree_ArenaMark mark; /* of the arena `work`, behind these data */
  scree_Solved solved;
} scree_KeptProblem;

struct scree_Solver {
  scree_Log log;
  const scree_SolverClass *class_;
  scree_SolveSettings settings; /* without `options`, which have been read */
  scree_SolverOptions options;
  scree_Poll poll;          /* of the solve in progress */
  scree_MachineLoad load;   /* of the machine */
  const double *velocities; /* (nbodies x nb) of the last problem, or null */
  scree_Arena dividing;     /* of `division`, on several ranks */
  scree_Arena aside;        /* of scree_solver_internal_forces */
  scree_Division division;
  scree_KeptProblem kept;
  scree_SolveCache cache[SCREE_CACHES];
};

/* As scree_solver_solve, for callers that solve a problem several times with other settings.
 * `same`: it is the problem of the last call, none of its numbers has changed, and u is as that
 * call left it if r is. What follows from the problem is then used again: the operator, batches of
 * sweeps, and where r is what the last call left its velocities and its error. */
SCREE_PRIVATE scree_Status scree_solver_solve_again(scree_Solver *solver,
                                                    const scree_Problem *problem, bool same,
                                                    double *r, double *u, scree_SolveInfo *info);

void scree_solver_init(scree_Solver *solver, const scree_Log *log);
void scree_solver_fini(scree_Solver *solver);

/* Forget the order and the work of factorisations, but keep the memory: the next result is that of
 * a new solver. */
SCREE_PRIVATE void scree_solver_forget(scree_Solver *solver);

/* Solve a problem, or the part of this rank, from the start r; *velocities is the state of r. */
scree_Status scree_solver_solve_part(scree_Solver *solver, const scree_Problem *problem,
                                     const scree_Division *division, double *r, double *u,
                                     scree_SolveInfo *info, const double **velocities);

/* The message for a solver that works on one rank only. */
scree_Status scree_solver_refuse_ranks(const scree_Solver *solver, int ranks);

/* Whether a problem is divided between the ranks of the settings; else rank 0 solves it alone. */
bool scree_solver_divides(const scree_Solver *solver, const scree_Problem *problem);

/* On rank 0: divide it, and solve it with the others. */
scree_Status scree_solver_solve_divided(scree_Solver *solver, const scree_Problem *problem,
                                        double *r, double *u, scree_SolveInfo *info);

#endif
