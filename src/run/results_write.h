/* results.h5 from a journal of frames; docs/RESULTS.md is its layout. */
#ifndef SCREE_RUN_RESULTS_WRITE_H
#define SCREE_RUN_RESULTS_WRITE_H

#include "core/poll.h"
#include "run/results_frame.h"
#include "scree/scene.h"

/* Write the file from all whole records of the journal. `world` has all bodies of the last frame.
 * The file appears whole or not at all: not when `poll` (or null), asked before each frame, says
 * stop (SCREE_INTERRUPTED); the file that was there before stays. */
scree_Status scree_results_write(const char *path, const scree_Journal *journal,
                                 const scree_Scene *scene, const scree_World *world, bool finished,
                                 scree_Poll *poll, const scree_Log *log);

/* The same, without a poll; with a journal of more than `memory` bytes the file is built on the
 * disk, not in memory.
 */
scree_Status scree_results_write_within(const char *path, const scree_Journal *journal,
                                        const scree_Scene *scene, const scree_World *world,
                                        bool finished, int64_t memory, const scree_Log *log);

#endif
