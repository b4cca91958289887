/* A problem that is posed in parts: each rank has its own contacts from the start, and no rank has
 * the whole (compare driver.h, where rank 0 has it and sends the parts). */
#ifndef SCREE_SOLVER_OWN_H
#define SCREE_SOLVER_OWN_H

#include "core/private.h"
#include "parallel/ranks.h"
#include "scree/solver.h"

/* Who has what. All constraints that hold bodies together (joints) and share a body are of one
 * rank: mechanisms are not divided. Bodies of the part are ascending in their numbers in the whole
 * world, and `bodies.id` of the problem indexes `global`. */
typedef struct scree_OwnPart {
  const scree_Ranks *ranks;
  int rank, size;
  int whole;                  /* bodies of the whole world */
  const int *global;          /* number of body `id` of the problem in the whole world */
  const size_t *holder_start; /* (bodies of the problem + 1) */
  const int *holder;          /* ranks that hold a body, ascending, this one among them */
} scree_OwnPart;

/* Solve it, on all ranks together. */
SCREE_PRIVATE scree_Status scree_solver_solve_own(scree_Solver *solver,
                                                  const scree_Problem *problem,
                                                  const scree_OwnPart *part, double *r, double *u,
                                                  scree_SolveInfo *info);

/* The number of this rank's first contact among those of all, in the last such solve. */
SCREE_PRIVATE int scree_solver_first_contact(const scree_Solver *solver);

/* W of the problem of the last such solve, exchanges included; or of any other problem, where there
 * was none. */
struct scree_Operator;
SCREE_PRIVATE scree_Status scree_solver_operator(const scree_Solver *solver,
                                                 const scree_Problem *problem, int threads,
                                                 const scree_Log *log, struct scree_Operator *W);

#endif
