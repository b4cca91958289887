/* Internal data of a run: runner.c steps it, begin.c prepares or resumes it, parts.h has its ranks.
 */
#ifndef SCREE_RUN_RUN_H
#define SCREE_RUN_RUN_H

#include "run/checkpoint.h"
#include "run/frame_writer.h"
#include "run/parts.h"
#include "run/results_write.h"
#include "run/telemetry.h"

/* Files of the folder. */
enum {
  SCREE_PATH_SCENE,
  SCREE_PATH_RESULTS,
  SCREE_PATH_TELEMETRY,
  SCREE_PATH_CHECKPOINT,
  SCREE_PATH_JOURNAL,
  SCREE_PATH_CHANGES,
  SCREE_PATH_PROBLEMS,
  SCREE_PATHS
};

/* Part of a step by which the time of a run may be off by rounding. */
#define SCREE_RUN_ROUNDED 1e-6

struct scree_Run {
  const scree_Scene *scene;
  scree_SceneInfo info;
  scree_ResultsMaterial *materials; /* (info.materials) */
  scree_RunSettings settings;
  scree_Log own_log; /* copy of the caller's */
  const scree_Log *log;
  char *path[SCREE_PATHS];
  scree_RunParts parts;
  scree_World *world; /* null on ranks that join the solves of rank 0 */
  scree_Journal journal;
  scree_Telemetry telemetry;
  scree_Sensors sensors;
  scree_FrameWriter writer;  /* of the journal, once there is one */
  scree_CheckpointHead head; /* the summary is kept in it */
  int *order;                /* (info.poured) generator of each poured body */
  double end, time_start;    /* when the run ends, and when this call began */
  int64_t steps_end;         /* number of the step that ends there */
  int64_t steps_limit;       /* of the last step of this call: the same, or less */
  int64_t steps_start;       /* steps before this call */
  double clock_start, clock_checkpoint, clock_flush, seconds_before;
  double checkpoint_cost; /* seconds that the last one took */
  double clock_asked;     /* when the caller asked to stop; 0: it has not */
  int frames_written;     /* in the last results.h5 */
  bool over, failed, journal_gone;
  bool torn;            /* a step was done, but its output is incomplete */
  scree_Status unsaved; /* status of writing telemetry during a step */
  const char *reason;
  scree_RunRanks sent; /* by all ranks, in this call */
};

/* ---- runner.c --------------------------------------------------------------------------------
 */

scree_Status scree_run_save_frame(scree_Run *run);
scree_Status scree_run_save_checkpoint(scree_Run *run);

/* ---- begin.c ---------------------------------------------------------------------------------
 */

/* Names of the files, and the folder. */
scree_Status scree_run_prepare_folder(scree_Run *run);
/* The world and the files at the start, or as the checkpoint has them. */
scree_Status scree_run_start(scree_Run *run);
scree_Status scree_run_resume(scree_Run *run);

#endif
