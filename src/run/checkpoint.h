/* The checkpoint of a run: the state that does not follow from the scene. */
#ifndef SCREE_RUN_CHECKPOINT_H
#define SCREE_RUN_CHECKPOINT_H

#include "scree/run.h"

#include "parallel/ranks.h"
#include "world/world.h"

#include <stdint.h>

/* Plain numbers; arrays follow the head in the file. */
typedef struct scree_CheckpointHead {
  int64_t journal;   /* bytes of frames.bin that belong to it */
  int64_t telemetry; /* bytes of telemetry.jsonl */
  int32_t frames, poured;
  int64_t prepared;   /* 1: bodies of the next step are already poured and removed */
  int64_t last_frame; /* step of the last saved frame, -1: none */
  double peak;        /* of the kinetic energy */
  double turned_over; /* largest energy so far: scale of energy_error */
  scree_RunSummary summary;
  uint64_t state; /* bytes of the world's state */
} scree_CheckpointHead;

/* Write atomically. `order` (head->poured), `state` (head->state bytes). */
scree_Status scree_checkpoint_write(const char *path, const scree_CheckpointHead *head,
                                    const int *order, const void *state, const scree_Log *log);

/* Read and verify. *found is false, and the status SCREE_OK, when there is none. *order and *state
 * are freed with scree_free. */
scree_Status scree_checkpoint_read(const char *path, scree_CheckpointHead *head, int **order,
                                   void **state, bool *found, const scree_Log *log);

/* The same file by the ranks of a divided world: `head` and `order` of rank 0, and the state of
 * each rank. */
scree_Status scree_checkpoint_write_part(const char *path, scree_CheckpointHead *head,
                                         const int *order, const scree_PartState *state,
                                         const scree_Ranks *ranks, const scree_Log *log);
/* Verify, and read without the state, which begins at byte *state of the file. */
scree_Status scree_checkpoint_scan(const char *path, scree_CheckpointHead *head, int **order,
                                   int64_t *state, bool *found, const scree_Log *log);

#endif
