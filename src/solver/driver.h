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
  scree_SolveCache cache[SCREE_CACHES];
};

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
