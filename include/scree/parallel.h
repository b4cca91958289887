/* scree/parallel.h — several ranks: processes on one or many machines that solve one problem.
 *
 * A build with MPI (SCREE_MPI) that is started by mpirun has as many ranks as mpirun was asked for;
 * every other process is one rank, and all functions here then take and give null. Objects that can
 * be shared out (scree_SolveSettings.ranks) name the ranks that work on them; every rank makes the
 * same calls in the same order.
 *
 * Sums over ranks are added in the order of the ranks: the same number of ranks gives the same
 * bits. */
#ifndef SCREE_PARALLEL_H
#define SCREE_PARALLEL_H

#include "scree/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct scree_Ranks scree_Ranks;

/* Communication of one rank since scree_ranks_create. */
typedef struct scree_RankCounts {
  long long messages;         /* to other ranks, each with numbers of shared bodies or contacts */
  long long bytes;            /* in these messages */
  long long synchronisations; /* sums, maxima and other calls in which all ranks wait for all */
} scree_RankCounts;

/* Join the ranks of this program. *ranks is null, with SCREE_OK, when there is only one: no MPI in
 * this build, or not started by mpirun. Call it once. */
SCREE_API scree_Status scree_ranks_create(scree_Ranks **ranks, const scree_Log *log);

/* Leave; waits for the others. Null is allowed. */
SCREE_API void scree_ranks_destroy(scree_Ranks *ranks);

/* The number of this rank, 0 to size - 1, and how many there are; 0 and 1 for null. */
SCREE_API int scree_ranks_rank(const scree_Ranks *ranks);
SCREE_API int scree_ranks_size(const scree_Ranks *ranks);

/* Zeros for null. */
SCREE_API scree_RankCounts scree_ranks_counts(const scree_Ranks *ranks);

#ifdef __cplusplus
}
#endif

#endif
