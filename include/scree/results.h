/* scree/results.h — runs: a scene carried out step by step into a folder that survives whatever
 * happens to the program. docs/RESULTS.md describes what is in the folder.
 *
 *     scree_RunSettings settings = scree_run_settings();
 *     settings.folder = "drum-run";
 *     scree_run_create(scene, &settings, log, &run);
 *     while (status <= SCREE_NOT_CONVERGED && !scree_run_is_over(run))
 *       status = scree_run_step(run, &report);
 *     scree_run_close(run, log);                    checkpoint, results.h5
 *     scree_RunSummary summary = scree_run_summary(run);
 *     scree_run_destroy(run); */
#ifndef SCREE_RESULTS_H
#define SCREE_RESULTS_H

#include "scree/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct scree_Run scree_Run;

typedef struct scree_RunSettings {
  const char *folder; /* made when absent */
  bool resume;        /* go on from the checkpoint in it, or from the start when there is none */
  bool replace;       /* a run that is there already is replaced */
  double until;       /* stop at this time; 0: the scene's duration */
  int64_t steps;      /* stop after so many steps of this call; 0: no limit */
  int threads;        /* 0: the scene's */
  /* Asked several times a second when not null, also in the middle of a step and while results.h5
   * is written; return true to stop (see scree_run_step and scree_run_close). It may look at the
   * run, as far as that is const. Called from the thread that called the library. */
  bool (*interrupted)(void *user);
  void *interrupted_user;
} scree_RunSettings;

SCREE_API scree_RunSettings scree_run_settings(void);

/* Prepare or resume. Refuses (SCREE_BAD_INPUT) a folder that already holds a run when neither
 * `resume` nor `replace` is set, and to resume with another scene than the folder's. The scene must
 * outlive the run. */
SCREE_API scree_Status scree_run_create(const scree_Scene *scene, const scree_RunSettings *settings,
                                        const scree_Log *log, scree_Run **run);

/* One step with all that belongs to it: pouring, telemetry, frames, checkpoints, problems. The
 * status is that of scree_world_step, or of a failure to write. SCREE_INTERRUPTED: the step was
 * left and can be repeated, by another call or by a run that is resumed; call scree_run_close.
 * Other failures end the run. */
SCREE_API scree_Status scree_run_step(scree_Run *run, scree_StepReport *report);

/* The scene's end was reached, or the limits of the settings. */
SCREE_API bool scree_run_is_over(const scree_Run *run);

/* Write the last frame if the scene has ended, the checkpoint and results.h5. Must be called also
 * after an interruption or a failure; once. After `interrupted` has asked to stop, results.h5 is
 * given up if it takes longer than a second or so (SCREE_INTERRUPTED): a resumed run makes it. */
SCREE_API scree_Status scree_run_close(scree_Run *run, const scree_Log *log);
SCREE_API void scree_run_destroy(scree_Run *run);

enum { SCREE_RUN_REMEMBERED = 16 };

typedef struct scree_RunFailure {
  int64_t step;
  double time, error, penetration, energy_created;
  int contacts_above;
  int body[2]; /* of the worst contact, or of the deepest when the penetration is at fault */
} scree_RunFailure;

/* What has been done so far, the parts before a resumption included. */
typedef struct scree_RunSummary {
  int64_t steps;
  double time;
  int bodies; /* that exist, obstacles not counted */
  int contacts_max;
  double error_max, tolerance;
  double penetration_max, penetration_limit; /* relative to the smaller body */
  double energy_created, energy_limit; /* by the discretisation, over the energy turned over */
  double energy_error; /* missing in the energy balance, over the energy turned over */
  double seconds, seconds_detect, seconds_solve; /* clock; seconds of the whole, resumed or not */
  int64_t steps_above;                           /* not certified */
  scree_RunFailure above[SCREE_RUN_REMEMBERED];  /* the first of them */
  int64_t iterations;
  int64_t substeps; /* beyond one per step */
  int frames;
  bool finished;      /* the scene's own end was reached */
  bool resumed;       /* this call went on from a checkpoint */
  const char *reason; /* why it ended, or null */
} scree_RunSummary;

SCREE_API scree_RunSummary scree_run_summary(const scree_Run *run);
SCREE_API const scree_World *scree_run_world(const scree_Run *run);
/* Time at which it will be over, if no condition ends it before. */
SCREE_API double scree_run_end(const scree_Run *run);

#ifdef __cplusplus
}
#endif

#endif
