/* A build without MPI: always one rank (see scree/parallel.h). */
#include "scree/parallel.h"

scree_Status scree_ranks_create(scree_Ranks **ranks, const scree_Log *log) {
  (void)log;
  *ranks = NULL;
  return SCREE_OK;
}

void scree_ranks_destroy(scree_Ranks *ranks) {
  (void)ranks;
}

int scree_ranks_rank(const scree_Ranks *ranks) {
  (void)ranks;
  return 0;
}

int scree_ranks_size(const scree_Ranks *ranks) {
  (void)ranks;
  return 1;
}

scree_RankCounts scree_ranks_counts(const scree_Ranks *ranks) {
  (void)ranks;
  return (scree_RankCounts){0};
}
