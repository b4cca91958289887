/* A build without HDF5's MPI driver (see results_shared.h). */
#include "core/log.h"
#include "run/results_shared.h"

bool scree_results_can_share(void) {
  return false;
}

scree_Status scree_results_write_shared(const char *path, const scree_Journal *journal,
                                        const scree_ResultsHead *head, const scree_World *world,
                                        const scree_Ranks *ranks, scree_Poll *poll,
                                        const scree_Log *log) {
  (void)journal;
  (void)head;
  (void)world;
  (void)ranks;
  (void)poll;
  return scree_fail(log, SCREE_MACHINE, "%s: this build has no parallel HDF5", path);
}
