/* PETSc as the files of this folder use it. */
#ifndef SCREE_PARALLEL_PETSC_MPI_H
#define SCREE_PARALLEL_PETSC_MPI_H

#include "parallel/mpi_ranks.h"

#ifdef SCREE_PETSC

#include <petscksp.h>

/* Initialise PETSc, if nobody has; collective. */
scree_Status scree_petsc_begin(scree_Ranks *ranks, const scree_Log *log);

/* Finalise it, if it was initialised here: before MPI is. */
void scree_petsc_end(scree_Ranks *ranks);

/* Refinement to solutions without round-off (petsc_exact_mpi.c). */
typedef struct scree_PetscExact {
  Mat inside, outside; /* columns of this rank and of others, in its rows; of A */
  Vec hi, lo;          /* their sum is the solution */
  Vec residual, correction;
  Vec ghost_hi, ghost_lo; /* columns of others */
  VecScatter scatter;
} scree_PetscExact;

/* For a matrix of type MATMPIAIJ, zeroed before; to be destroyed after a failure, too. */
PetscErrorCode scree_petsc_exact_create(Mat A, scree_PetscExact *exact);
void scree_petsc_exact_destroy(scree_PetscExact *exact);

/* x = A^-1 b, where LU is an approximate factorisation of A. `sum` (rows of this rank). */
PetscErrorCode scree_petsc_exact_solve(scree_PetscExact *exact, Mat LU, Vec b, Vec x,
                                       double (*sum)[2]);

#else

static inline void scree_petsc_end(scree_Ranks *ranks) {
  (void)ranks;
}

#endif

#endif
