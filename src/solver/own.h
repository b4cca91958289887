/* A problem that is posed in parts: each rank has its own contacts from the start, and no rank has
 * the whole (compare driver.h, where rank 0 has it and sends the parts). */
#ifndef SCREE_SOLVER_OWN_H
#define SCREE_SOLVER_OWN_H

#include "core/private.h"
#include "problem/division.h"
#include "scree/solver.h"

/* Who has what. All constraints that hold bodies together (joints) and share a body are of one
 * rank: mechanisms are not divided. */
typedef struct scree_OwnPart {
  const scree_Ranks *ranks;
  int size;
  int whole; /* bodies of the whole world */
  scree_PartBlocks blocks;
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
