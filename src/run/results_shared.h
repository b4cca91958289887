/* results.h5 written by all ranks of a divided world together, with HDF5's MPI driver, where the
 * build has it; otherwise rank 0 writes it (results_write.h). */
#ifndef SCREE_RUN_RESULTS_SHARED_H
#define SCREE_RUN_RESULTS_SHARED_H

#include "run/results_write.h"

/* Whether this build can do so. */
bool scree_results_can_share(void);

/* As scree_results_write, called by all ranks; head->bodies has those of this rank, a range of
 * numbers behind that of the rank before. The file has the datasets, chunks and numbers that one
 * rank writes. */
scree_Status scree_results_write_shared(const char *path, const scree_Journal *journal,
                                        const scree_ResultsHead *head, const scree_World *world,
                                        const scree_Ranks *ranks, scree_Poll *poll,
                                        const scree_Log *log);

#endif
