/* The ranks of a build with MPI, for the files of this folder. */
#ifndef SCREE_PARALLEL_MPI_RANKS_H
#define SCREE_PARALLEL_MPI_RANKS_H

#include "parallel/ranks.h"

#include <mpi.h>

struct scree_Ranks {
  MPI_Comm comm; /* of our own: no message of the caller's program is mistaken for ours */
  int rank, size;
  bool started; /* MPI was initialised here, and is finalised here */
  bool petsc;   /* the same of PETSc */
  scree_RankCounts counts;
  char *gathered;        /* (size x SCREE_GATHER_MOST) */
  MPI_Request *requests; /* (2 x size) */
  int *offset;           /* (size) work space of scree_ranks_collect */
};

/* A context is const for those who use it; counts and work space are its own. */
static inline scree_Ranks *scree_ranks_own(const scree_Ranks *ranks) {
  return (scree_Ranks *)ranks;
}

#endif
