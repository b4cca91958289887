/* The start of a run: its folder, and a new world or that of its checkpoint (see runner.c). */
#define _POSIX_C_SOURCE 200809L
#include "core/log.h"
#include "core/memory.h"
#include "run/results_file.h"
#include "run/resume.h"
#include "run/run.h"
#include "scene/scene.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[SCREE_PATHS] = {"scene.yaml",     "results.h5", "telemetry.jsonl",
                                               "checkpoint.bin", "frames.bin", "changes.jsonl",
                                               "problems"};

/* ---- the folder ------------------------------------------------------------------------------ */

static bool exists(const char *path) {
  return access(path, F_OK) == 0;
}

/* Compare the scene with that of the folder: changes of settings that act on later steps alone are
 * allowed, and listed. */
static scree_Status check_same_scene(const scree_Run *run, bool *have,
                                     scree_SceneChanges *changes) {
  char *text;
  size_t count;
  scree_Status status = scree_file_load(run->path[SCREE_PATH_SCENE], &text, &count, run->log);
  *have = text != NULL;
  if (status == SCREE_OK && text)
    status = scree_changes_find(text, scree_scene_text(run->scene), run->path[SCREE_PATH_SCENE],
                                run->log, changes);
  scree_free(text);
  return status;
}

/* Remove the files of an earlier run: only files with names that a run creates. The telemetry
 * stays, empty: its lock keeps other runs out. */
static void clear_folder(const scree_Run *run) {
  for (int k = 0; k < SCREE_PATH_PROBLEMS; ++k)
    if (k != SCREE_PATH_TELEMETRY) (void)unlink(run->path[k]);
}

scree_Status scree_run_prepare_folder(scree_Run *run) {
  const scree_RunSettings *settings = &run->settings;
  for (int k = 0; k < SCREE_PATHS; ++k) {
    run->path[k] = scree_join_path(settings->folder, names[k]);
    if (!run->path[k]) return scree_fail_memory(run->log, "names of files");
  }
  if (!run->parts.writes) return SCREE_OK;
  const int error = scree_make_folder(settings->folder);
  if (error)
    return scree_fail(run->log,
                      error == ENOTDIR || error == EEXIST ? SCREE_BAD_INPUT : SCREE_MACHINE,
                      "%s: the folder cannot be made: %s", settings->folder, strerror(error));
  const bool used = exists(run->path[SCREE_PATH_SCENE]) || exists(run->path[SCREE_PATH_RESULTS]) ||
                    exists(run->path[SCREE_PATH_CHECKPOINT]);
  if (used && !settings->resume && !settings->replace)
    return scree_fail(
        run->log, SCREE_BAD_INPUT,
        "%s: holds a run already: resume it (--resume), replace it (--force), or choose "
        "another folder (-o)",
        settings->folder);
  return SCREE_OK;
}

/* ---- start ----------------------------------------------------------------------------------- */

/* Bodies that overlap by more than the limit at the start keep every step from being certified
 * until they are apart: say so before the first one. */
static scree_Status warn_of_overlap(const scree_Run *run) {
  double depth = 0;
  int pair[2] = {-1, -1};
  char a[80], b[80];
  scree_Status status = SCREE_OK;
  if (scree_run_parts_divided(&run->parts)) status = scree_world_settle(run->world);
  if (status == SCREE_OK) status = scree_world_penetration(run->world, &depth, pair);
  if (status != SCREE_OK || !(depth > run->info.penetration_limit) || !run->parts.writes)
    return status;
  scree_scene_body_label(run->scene, pair[0], a, sizeof a);
  scree_scene_body_label(run->scene, pair[1], b, sizeof b);
  scree_report(run->log, SCREE_LOG_WARNING,
               "%s and %s overlap at the start by %.2g of the smaller one, more than the limit %g: "
               "steps are not certified until they are apart",
               a, b, depth, run->info.penetration_limit);
  return SCREE_OK;
}

/* The files of a new run. */
static scree_Status open_files(scree_Run *run) {
  const char *text = scree_scene_text(run->scene);
  scree_Status status =
      scree_telemetry_open(&run->telemetry, run->path[SCREE_PATH_TELEMETRY], 0, run->log);
  if (status == SCREE_OK) clear_folder(run);
  if (status == SCREE_OK)
    status = scree_journal_open(&run->journal, run->path[SCREE_PATH_JOURNAL], 0, run->log);
  if (status == SCREE_OK)
    status = scree_file_replace(run->path[SCREE_PATH_SCENE], text, strlen(text), run->log);
  return status;
}

/* The journal that rank 0 has opened is written by all ranks of a divided world. */
static scree_Status join_journal(scree_Run *run, int64_t length) {
  const scree_RunParts *parts = &run->parts;
  scree_Status status = SCREE_OK;
  if (!scree_run_parts_divided(parts)) return status;
  if (!parts->writes)
    status = scree_journal_join(&run->journal, run->path[SCREE_PATH_JOURNAL], length, run->log);
  return scree_run_parts_agree(parts, status, run->log);
}

scree_Status scree_run_start(scree_Run *run) {
  scree_RunParts *parts = &run->parts;
  run->head.last_frame = -1;
  scree_Status status = parts->writes ? open_files(run) : SCREE_OK;
  status = scree_run_parts_agree(parts, status, run->log);
  if (status == SCREE_OK)
    status = scree_run_parts_build(parts, run->scene, true, run->log, &run->world);
  if (status != SCREE_OK || !run->world) return status;
  status = join_journal(run, 0);
  if (status == SCREE_OK)
    status = scree_scene_pour(run->scene, run->world, run->order, &run->head.poured, run->log);
  if (status == SCREE_OK) status = warn_of_overlap(run);
  status = scree_run_parts_agree(parts, status, run->log);
  if (status == SCREE_OK) status = scree_run_save_frame(run);
  if (status == SCREE_OK) status = scree_run_save_checkpoint(run);
  return status;
}

/* The files of a run that goes on. */
static scree_Status reopen_files(scree_Run *run) {
  scree_Status status = scree_telemetry_open(&run->telemetry, run->path[SCREE_PATH_TELEMETRY],
                                             run->head.telemetry, run->log);
  if (status != SCREE_OK) return status;
  char *line = scree_telemetry_last_line(&run->telemetry);
  if (!line) return scree_fail_memory(run->log, "the sensors");
  scree_sensors_resume(&run->sensors, line);
  scree_free(line);
  return scree_journal_open(&run->journal, run->path[SCREE_PATH_JOURNAL], run->head.journal,
                            run->log);
}

/* The state of the checkpoint: `state`, or of a divided world from byte `at` of the file on. */
static scree_Status restore(scree_Run *run, const void *state, int64_t at) {
  scree_RunParts *parts = &run->parts;
  scree_Status status = scree_run_parts_build(parts, run->scene, false, run->log, &run->world);
  if (status != SCREE_OK || !run->world) return status;
  status = scree_scene_pour_again(run->scene, run->world, run->order, run->head.poured, run->log);
  status = scree_run_parts_agree(parts, status, run->log);
  if (status == SCREE_OK)
    status = scree_run_parts_divided(parts)
                 ? scree_run_parts_restore(parts, run->world, run->path[SCREE_PATH_CHECKPOINT], at,
                                           run->log)
                 : scree_world_restore(run->world, state, (size_t)run->head.state);
  if (status == SCREE_OK && parts->writes && !run->journal_gone) status = reopen_files(run);
  status = scree_run_parts_agree(parts, status, run->log);
  if (status == SCREE_OK && !run->journal_gone) status = join_journal(run, run->head.journal);
  return status;
}

/* Whether a run that had finished is to be continued: beyond its end, or because the duration or
 * the conditions to stop were changed. */
static bool goes_further(const scree_Run *run, const scree_SceneChanges *changes) {
  bool wanted = run->settings.until > 0;
  for (int k = 0; k < changes->count; ++k)
    wanted = wanted || strcmp(changes->list[k].key, "time.duration") == 0 ||
             strncmp(changes->list[k].key, "stop", 4) == 0;
  const double end = fmax(run->settings.until, run->info.duration);
  return wanted && end > run->head.summary.time + SCREE_RUN_ROUNDED * run->info.step;
}

/* The journal of a finished run is gone: make it again from results.h5. */
static scree_Status remake_journal(scree_Run *run) {
  scree_Status status =
      scree_journal_open(&run->journal, run->path[SCREE_PATH_JOURNAL], 0, run->log);
  if (status == SCREE_OK)
    status = scree_results_to_journal(run->path[SCREE_PATH_RESULTS], &run->journal,
                                      run->head.frames, run->log);
  if (status == SCREE_OK) status = scree_journal_sync(&run->journal, run->log);
  run->head.journal = run->journal.length;
  scree_journal_close(&run->journal);
  return status;
}

/* Write the changed scene into the folder, and the changes into changes.jsonl. */
static scree_Status record_changes(scree_Run *run, const scree_SceneChanges *changes) {
  if (changes->count == 0) return SCREE_OK;
  const char *text = scree_scene_text(run->scene);
  scree_Status status =
      scree_changes_record(changes, run->path[SCREE_PATH_CHANGES], scree_world_steps(run->world),
                           scree_world_time(run->world), run->log);
  if (status == SCREE_OK)
    status = scree_file_replace(run->path[SCREE_PATH_SCENE], text, strlen(text), run->log);
  return status;
}

/* What the checkpoint and the changes of the scene say, on rank 0. */
static scree_Status read_checkpoint(scree_Run *run, scree_SceneChanges *changes, int **order,
                                    void **state, int64_t *at, bool *found) {
  bool have_scene = false;
  scree_Status status = check_same_scene(run, &have_scene, changes);
  const char *path = run->path[SCREE_PATH_CHECKPOINT];
  if (status == SCREE_OK && have_scene) /* a state that is to be divided is not read here */
    status = run->parts.ranks && !run->parts.why[0]
                 ? scree_checkpoint_scan(path, &run->head, order, at, found, run->log)
                 : scree_checkpoint_read(path, &run->head, order, state, found, run->log);
  if (status != SCREE_OK) return status;
  if (!*found) {
    scree_report(run->log, SCREE_LOG_WARNING,
                 "%s: no checkpoint to resume from, starting from the beginning",
                 run->settings.folder);
    return SCREE_OK;
  }
  if (run->head.poured > run->info.poured)
    return scree_fail(run->log, SCREE_BAD_INPUT,
                      "%s: found %d poured bodies, expected at most %d, as the scene has",
                      run->path[SCREE_PATH_CHECKPOINT], run->head.poured, run->info.poured);
  memcpy(run->order, *order, (size_t)run->head.poured * sizeof **order);
  if (!run->head.summary.finished) return SCREE_OK;
  if (goes_further(run, changes)) {
    run->head.summary.finished = false;
    return exists(run->path[SCREE_PATH_JOURNAL]) ? SCREE_OK : remake_journal(run);
  }
  /* with its journal still there, the run was stopped before results.h5 was written */
  run->over = true;
  run->journal_gone = !exists(run->path[SCREE_PATH_JOURNAL]);
  return SCREE_OK;
}

scree_Status scree_run_resume(scree_Run *run) {
  const scree_RunParts *parts = &run->parts;
  bool found = false;
  int *order = NULL;
  void *state = NULL;
  int64_t at = 0;
  scree_SceneChanges changes = {0};
  scree_Status status =
      parts->writes ? read_checkpoint(run, &changes, &order, &state, &at, &found) : SCREE_OK;
  status = scree_run_parts_agree(parts, status, run->log);
  scree_free(order);
  if (status == SCREE_OK) {
    scree_run_parts_tell(parts, &found, sizeof found);
    scree_run_parts_tell(parts, &at, sizeof at);
    scree_run_parts_tell(parts, &run->head, sizeof run->head);
    scree_run_parts_tell(parts, &run->over, sizeof run->over);
    scree_run_parts_tell(parts, &run->journal_gone, sizeof run->journal_gone);
    scree_run_parts_tell(parts, run->order, (size_t)run->head.poured * sizeof *run->order);
    run->head.summary.reason = NULL; /* a pointer of another process */
    if (run->over) run->reason = "the run had already finished";
    status = found ? restore(run, state, at) : scree_run_start(run);
  }
  if (status == SCREE_OK && found && parts->writes && !run->over)
    status = record_changes(run, &changes);
  if (found) status = scree_run_parts_agree(parts, status, run->log);
  scree_changes_fini(&changes);
  scree_free(state);
  if (!found) return status;
  run->seconds_before = run->head.summary.seconds;
  run->head.summary.resumed = true;
  return status;
}
