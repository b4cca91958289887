/* Runs (see scree/run.h). A run can be resumed after any interruption because of the order of
 * writes: a frame and the telemetry of its steps are on the disk before the checkpoint that counts
 * them; the checkpoint replaces the previous one by a rename; results.h5 is made from the journal
 * and replaced by a rename too. A resumed run cuts off all data after the last checkpoint and
 * computes it again, to the same bits.
 */
#define _POSIX_C_SOURCE 200809L
#include "core/clock.h"
#include "core/log.h"
#include "core/memory.h"
#include "run/checkpoint.h"
#include "run/frame_writer.h"
#include "run/results_file.h"
#include "run/results_write.h"
#include "run/resume.h"
#include "run/telemetry.h"
#include "scree/fclib.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double FLUSH_SECONDS = 0.5;     /* after which waiting telemetry is written */
static const double FIRST_RESULTS = 1.0;     /* seconds, after which there is a results.h5 */
static const double CHECKPOINT_SHARE = 0.02; /* of the time that checkpoints may take */
static const double LEAVE_SECONDS = 1.2;     /* after a request to stop, for results.h5 */

enum { SCENE, RESULTS, TELEMETRY, CHECKPOINT, JOURNAL, CHANGES, PROBLEMS, PATHS };

static const char *const names[PATHS] = {"scene.yaml",     "results.h5", "telemetry.jsonl",
                                         "checkpoint.bin", "frames.bin", "changes.jsonl",
                                         "problems"};

struct scree_Run {
  const scree_Scene *scene;
  scree_SceneInfo info;
  scree_ResultsMaterial *materials; /* (info.materials) */
  scree_RunSettings settings;
  scree_Log own_log; /* copy of the caller's */
  const scree_Log *log;
  char *path[PATHS];
  scree_World *world;
  scree_Journal journal;
  scree_Telemetry telemetry;
  scree_Sensors sensors;
  scree_FrameWriter writer;  /* of the journal, once there is one */
  scree_CheckpointHead head; /* the summary is kept in it */
  int *order;                /* (info.poured) generator of each poured body */
  int64_t steps_limit, steps_start;
  double clock_start, clock_checkpoint, clock_flush, seconds_before;
  double checkpoint_cost; /* seconds that the last one took */
  double clock_asked;     /* when the caller asked to stop; 0: it has not */
  int frames_written;     /* in the last results.h5 */
  bool over, failed, journal_gone;
  bool torn;            /* a step was done, but its output is incomplete */
  scree_Status unsaved; /* status of writing telemetry during a step */
  const char *reason;
};

scree_RunSettings scree_run_settings(void) {
  return (scree_RunSettings){.folder = "run"};
}

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
  scree_Status status = scree_file_load(run->path[SCENE], &text, &count, run->log);
  *have = text != NULL;
  if (status == SCREE_OK && text)
    status =
        scree_changes_find(text, scree_scene_text(run->scene), run->path[SCENE], run->log, changes);
  scree_free(text);
  return status;
}

/* Remove the files of an earlier run: only files with names that a run creates. The telemetry
 * stays, empty: its lock keeps other runs out. */
static void clear_folder(const scree_Run *run) {
  for (int k = 0; k < PROBLEMS; ++k)
    if (k != TELEMETRY) (void)unlink(run->path[k]);
}

static scree_Status prepare_folder(scree_Run *run) {
  const scree_RunSettings *settings = &run->settings;
  for (int k = 0; k < PATHS; ++k) {
    run->path[k] = scree_join_path(settings->folder, names[k]);
    if (!run->path[k]) return scree_fail_memory(run->log, "names of files");
  }
  const int error = scree_make_folder(settings->folder);
  if (error)
    return scree_fail(run->log,
                      error == ENOTDIR || error == EEXIST ? SCREE_BAD_INPUT : SCREE_MACHINE,
                      "%s: the folder cannot be made: %s", settings->folder, strerror(error));
  const bool used =
      exists(run->path[SCENE]) || exists(run->path[RESULTS]) || exists(run->path[CHECKPOINT]);
  if (used && !settings->resume && !settings->replace)
    return scree_fail(
        run->log, SCREE_BAD_INPUT,
        "%s: holds a run already: resume it (--resume), replace it (--force), or choose "
        "another folder (-o)",
        settings->folder);
  return SCREE_OK;
}

/* ---- in the middle of a step ----------------------------------------------------------------- */

static scree_Status flush_when_due(scree_Run *run) {
  if (run->telemetry.count == 0) return SCREE_OK;
  const double now = scree_seconds();
  if (now - run->clock_flush < FLUSH_SECONDS) return SCREE_OK;
  run->clock_flush = now;
  return scree_telemetry_flush(&run->telemetry, false, run->log);
}

static bool asked_to_stop(scree_Run *run) {
  const scree_RunSettings *settings = &run->settings;
  const bool asked = settings->interrupted && settings->interrupted(settings->interrupted_user);
  if (!asked)
    run->clock_asked = 0;
  else if (!(run->clock_asked > 0))
    run->clock_asked = scree_seconds();
  return asked;
}

/* Poll of the world. A step may take minutes: telemetry of earlier steps is written in the
 * meantime. */
static bool poll_step(void *user) {
  scree_Run *run = user;
  if (run->unsaved == SCREE_OK) run->unsaved = flush_when_due(run);
  return run->unsaved != SCREE_OK || asked_to_stop(run);
}

/* Poll of writing results.h5, which is abandoned only when it takes long. */
static bool poll_results(void *user) {
  scree_Run *run = user;
  return asked_to_stop(run) && scree_seconds() - run->clock_asked > LEAVE_SECONDS;
}

/* ---- writing --------------------------------------------------------------------------------- */

static scree_Status save_frame(scree_Run *run) {
  const scree_Aabb *region = run->info.has_region ? &run->info.region : NULL;
  scree_Status status = SCREE_OK;
  if (!run->writer.made)
    status = scree_writer_init(&run->writer, &run->journal, run->info.compression, run->log);
  if (status == SCREE_OK)
    status = scree_frame_take(scree_writer_frame(&run->writer), run->world, run->info.save_contacts,
                              region, run->log);
  if (status == SCREE_OK) status = scree_writer_add(&run->writer, run->log);
  if (status != SCREE_OK) return status;
  ++run->head.frames;
  run->head.last_frame = scree_world_steps(run->world);
  return SCREE_OK;
}

static scree_Status save_results(scree_Run *run) {
  scree_Poll poll = {poll_results, run, false};
  scree_ResultsHead head = scree_results_head(run->scene, run->materials);
  head.finished = run->head.summary.finished;
  scree_Status status = SCREE_OK;
  if (!run->writer.made)
    status = scree_writer_init(&run->writer, &run->journal, head.compression, run->log);
  if (status == SCREE_OK) {
    /* whole frames are kept although a later one could not be written, which was reported */
    const scree_Status written =
        scree_writer_wait(&run->writer, &poll, run->torn ? NULL : run->log);
    if (!run->torn) status = written;
  }
  if (status == SCREE_OK)
    status = scree_results_write_packed(run->path[RESULTS], &run->journal, &run->writer.pack, &head,
                                        run->world, &poll, run->log);
  if (status == SCREE_OK) run->frames_written = run->head.frames;
  if (status == SCREE_INTERRUPTED)
    scree_report(run->log, SCREE_LOG_WARNING,
                 "%s: not updated, since that takes too long: the frames are kept in %s and a "
                 "resumed run adds them",
                 run->path[RESULTS], names[JOURNAL]);
  return status;
}

static double elapsed(const scree_Run *run) {
  return run->seconds_before + scree_seconds() - run->clock_start;
}

static scree_Status save_checkpoint(scree_Run *run) {
  const double start = scree_seconds();
  run->clock_flush = start;
  scree_Status status = scree_telemetry_flush(&run->telemetry, true, run->log);
  if (status == SCREE_OK && run->writer.made)
    status = scree_writer_wait(&run->writer, NULL, run->log);
  if (status == SCREE_OK) status = scree_journal_sync(&run->journal, run->log);
  if (status != SCREE_OK) return status;
  run->head.journal = run->journal.length;
  run->head.telemetry = run->telemetry.length;
  run->head.state = scree_world_state_size(run->world);
  run->head.summary.seconds = elapsed(run);
  void *state = SCREE_ALLOC(char, run->head.state);
  if (!state) return scree_fail_memory(run->log, "the checkpoint");
  scree_world_save(run->world, state);
  status = scree_checkpoint_write(run->path[CHECKPOINT], &run->head, run->order, state, run->log);
  scree_free(state);
  run->clock_checkpoint = scree_seconds();
  run->checkpoint_cost = run->clock_checkpoint - start;
  return status;
}

/* By the clock, after any step, but only so often that the run is not slowed down. */
static bool checkpoint_due(const scree_Run *run, bool frame) {
  if (!(run->info.checkpoint > 0)) return frame;
  return scree_seconds() - run->clock_checkpoint >=
         fmax(run->info.checkpoint, run->checkpoint_cost / CHECKPOINT_SHARE);
}

static scree_Status dump_problem(scree_Run *run) {
  const scree_Problem *problem;
  const double *r, *u;
  char name[32], title[160];
  const int64_t step = scree_world_steps(run->world);
  const int error = scree_make_folder(run->path[PROBLEMS]);
  if (error)
    return scree_fail(run->log, SCREE_MACHINE, "%s: the folder cannot be made: %s",
                      run->path[PROBLEMS], strerror(error));
  scree_Status status = scree_world_problem(run->world, &problem, &r, &u, NULL);
  if (status != SCREE_OK) return status;
  if (problem->nc == 0) {
    scree_report(run->log, SCREE_LOG_WARNING, "dump_problem: step %lld has no contacts",
                 (long long)step);
    return SCREE_OK;
  }
  snprintf(name, sizeof name, "step-%08lld.hdf5", (long long)step);
  snprintf(title, sizeof title, "%.100s, step %lld", run->info.title[0] ? run->info.title : "scree",
           (long long)step);
  char *path = scree_join_path(run->path[PROBLEMS], name);
  if (!path) return scree_fail_memory(run->log, "the name of a problem");
  status = scree_fclib_write(path, problem, title, r, u, run->log);
  scree_free(path);
  return status;
}

/* ---- start ----------------------------------------------------------------------------------- */

/* Bodies that overlap by more than the limit at the start keep every step from being certified
 * until they are apart: say so before the first one. */
static scree_Status warn_of_overlap(const scree_Run *run) {
  double depth = 0;
  int pair[2] = {-1, -1};
  char a[80], b[80];
  const scree_Status status = scree_world_penetration(run->world, &depth, pair);
  if (status != SCREE_OK || !(depth > run->info.penetration_limit)) return status;
  scree_scene_body_label(run->scene, pair[0], a, sizeof a);
  scree_scene_body_label(run->scene, pair[1], b, sizeof b);
  scree_report(run->log, SCREE_LOG_WARNING,
               "%s and %s overlap at the start by %.2g of the smaller one, more than the limit %g: "
               "steps are not certified until they are apart",
               a, b, depth, run->info.penetration_limit);
  return SCREE_OK;
}

static scree_Status start_anew(scree_Run *run) {
  run->head.last_frame = -1;
  const char *text = scree_scene_text(run->scene);
  scree_Status status = scree_telemetry_open(&run->telemetry, run->path[TELEMETRY], 0, run->log);
  if (status == SCREE_OK) clear_folder(run);
  if (status == SCREE_OK)
    status = scree_journal_open(&run->journal, run->path[JOURNAL], 0, run->log);
  if (status == SCREE_OK)
    status = scree_file_replace(run->path[SCENE], text, strlen(text), run->log);
  if (status == SCREE_OK) status = scree_scene_build(run->scene, run->log, &run->world);
  if (status == SCREE_OK)
    status = scree_scene_pour(run->scene, run->world, run->order, &run->head.poured, run->log);
  if (status == SCREE_OK) status = warn_of_overlap(run);
  if (status == SCREE_OK) status = save_frame(run);
  if (status == SCREE_OK) status = save_checkpoint(run);
  return status;
}

static scree_Status restore(scree_Run *run, const int *order, const void *state) {
  if (run->head.poured > run->info.poured)
    return scree_fail(run->log, SCREE_BAD_INPUT, "%s: more bodies were poured than the scene has",
                      run->path[CHECKPOINT]);
  memcpy(run->order, order, (size_t)run->head.poured * sizeof *order);
  scree_Status status = scree_scene_build(run->scene, run->log, &run->world);
  if (status == SCREE_OK)
    status = scree_scene_pour_again(run->scene, run->world, order, run->head.poured, run->log);
  if (status == SCREE_OK) status = scree_world_restore(run->world, state, (size_t)run->head.state);
  if (status != SCREE_OK || run->journal_gone) return status;
  status =
      scree_telemetry_open(&run->telemetry, run->path[TELEMETRY], run->head.telemetry, run->log);
  if (status == SCREE_OK) {
    char *line = scree_telemetry_last_line(&run->telemetry);
    if (!line) return scree_fail_memory(run->log, "the sensors");
    scree_sensors_resume(&run->sensors, line);
    scree_free(line);
    status = scree_journal_open(&run->journal, run->path[JOURNAL], run->head.journal, run->log);
  }
  return status;
}

/* Whether a run that had finished is to be continued: beyond its end, or because the duration or
 * the conditions to stop were changed. */
static bool goes_further(const scree_Run *run, const scree_SceneChanges *changes) {
  bool wanted = run->settings.until > 0;
  for (int k = 0; k < changes->count; ++k)
    wanted = wanted || strcmp(changes->list[k].key, "time.duration") == 0 ||
             strncmp(changes->list[k].key, "stop", 4) == 0;
  return wanted && run->steps_limit > run->head.last_frame;
}

/* The journal of a finished run is gone: make it again from results.h5. */
static scree_Status remake_journal(scree_Run *run) {
  scree_Status status = scree_journal_open(&run->journal, run->path[JOURNAL], 0, run->log);
  if (status == SCREE_OK)
    status =
        scree_results_to_journal(run->path[RESULTS], &run->journal, run->head.frames, run->log);
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
      scree_changes_record(changes, run->path[CHANGES], scree_world_steps(run->world),
                           scree_world_time(run->world), run->log);
  if (status == SCREE_OK)
    status = scree_file_replace(run->path[SCENE], text, strlen(text), run->log);
  return status;
}

static scree_Status go_on(scree_Run *run) {
  bool have_scene = false, found = false;
  int *order = NULL;
  void *state = NULL;
  scree_SceneChanges changes = {0};
  scree_Status status = check_same_scene(run, &have_scene, &changes);
  if (status == SCREE_OK && have_scene)
    status =
        scree_checkpoint_read(run->path[CHECKPOINT], &run->head, &order, &state, &found, run->log);
  if (status == SCREE_OK && !found) {
    scree_report(run->log, SCREE_LOG_WARNING,
                 "%s: no checkpoint to resume from, starting from the beginning",
                 run->settings.folder);
    scree_changes_fini(&changes);
    return start_anew(run);
  }
  if (status == SCREE_OK && run->head.summary.finished && goes_further(run, &changes)) {
    run->head.summary.finished = false;
    if (!exists(run->path[JOURNAL])) status = remake_journal(run);
  } else if (status == SCREE_OK && run->head.summary.finished) {
    /* with its journal still there, the run was stopped before results.h5 was written */
    run->over = true;
    run->journal_gone = !exists(run->path[JOURNAL]);
    run->reason = "the run had already finished";
  }
  if (status == SCREE_OK) status = restore(run, order, state);
  if (status == SCREE_OK && !run->over) status = record_changes(run, &changes);
  scree_changes_fini(&changes);
  scree_free(order);
  scree_free(state);
  run->seconds_before = run->head.summary.seconds;
  run->head.summary.resumed = true;
  return status;
}

scree_Status scree_run_create(const scree_Scene *scene, const scree_RunSettings *settings,
                              const scree_Log *log, scree_Run **run) {
  *run = NULL;
  scree_Run *made = SCREE_ALLOC(scree_Run, 1);
  if (!made) return scree_fail_memory(log, "the run");
  made->scene = scene;
  made->info = scree_scene_info(scene);
  made->settings = *settings;
  if (log) made->own_log = *log;
  made->log = &made->own_log;
  made->journal.file = made->telemetry.file = -1;
  made->clock_start = made->clock_checkpoint = made->clock_flush = scree_seconds();
  const double until = settings->until > 0 ? settings->until : made->info.duration;
  made->steps_limit = (int64_t)fmin(9e15, fmax(0, ceil(until / made->info.step * (1 - 1e-12))));
  made->order = SCREE_ALLOC(int, made->info.poured);
  made->materials = SCREE_ALLOC(scree_ResultsMaterial, made->info.materials);
  scree_Status status = made->order && made->materials
                            ? SCREE_OK
                            : scree_fail_memory(log, "the poured bodies and the materials");
  if (status == SCREE_OK) status = scree_sensors_init(&made->sensors, scene, log);
  if (status == SCREE_OK) status = prepare_folder(made);
  if (status == SCREE_OK) status = settings->resume ? go_on(made) : start_anew(made);
  if (status == SCREE_OK) {
    scree_WorldSettings world = *scree_world_get_settings(made->world);
    if (settings->threads > 0) world.solve.threads = settings->threads;
    world.solve.share_processors = true;
    world.solve.ranks = settings->ranks;
    world.solve.interrupted = poll_step;
    world.solve.interrupted_user = made;
    status = scree_world_set_settings(made->world, &world);
  }
  if (status != SCREE_OK) {
    scree_run_destroy(made);
    return status;
  }
  made->steps_start = scree_world_steps(made->world);
  if (made->steps_start >= made->steps_limit) made->over = true;
  *run = made;
  return SCREE_OK;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void remember_failure(scree_RunSummary *summary, const scree_StepReport *report) {
  if (summary->steps_above < SCREE_RUN_REMEMBERED) {
    const bool solver = report->error > report->tolerance;
    const int *body = solver ? report->worst_body : report->deepest_body;
    summary->above[summary->steps_above] =
        (scree_RunFailure){.step = report->step,
                           .time = report->time,
                           .error = report->error,
                           .penetration = report->penetration,
                           .energy_created = report->energy_created,
                           .creep = report->creep,
                           .contacts_above = report->contacts_above,
                           .missed = report->missed,
                           .body = {body[0], body[1]}};
  }
  ++summary->steps_above;
}

static void add_up(scree_Run *run, const scree_StepReport *report) {
  scree_RunSummary *summary = &run->head.summary;
  const scree_EnergyBalance energy = scree_world_energy(run->world);
  if (report->contacts > summary->contacts_max) summary->contacts_max = report->contacts;
  summary->error_max = fmax(summary->error_max, report->error);
  summary->penetration_max = fmax(summary->penetration_max, report->penetration);
  summary->tolerance = report->tolerance;
  const scree_WorldSettings *limits = scree_world_get_settings(run->world);
  summary->penetration_limit = limits->penetration_limit;
  summary->energy_limit = limits->energy_limit;
  summary->energy_created = report->energy_created;
  summary->creep = report->creep;
  summary->creep_limit = limits->creep_limit;
  summary->iterations += report->iterations;
  summary->substeps += report->substeps - 1;
  summary->seconds_detect += report->seconds_detect;
  summary->seconds_solve += report->seconds_solve;
  if (!report->certified) remember_failure(summary, report);
  /* initial energy, and energy passed through contacts, forces and drivers */
  const double now = energy.kinetic + fabs(energy.normal) + fabs(energy.friction) +
                     fabs(energy.viscous) + fabs(energy.plastic) + fabs(energy.forces) +
                     fabs(energy.drivers);
  run->head.turned_over = fmax(run->head.turned_over, now);
  summary->energy_error = run->head.turned_over > 0 ? energy.closing / run->head.turned_over : 0;
}

/* After a step: telemetry, frames, problems, checkpoints. */
static scree_Status record(scree_Run *run, const scree_StepReport *report) {
  const int64_t step = scree_world_steps(run->world);
  int bodies = 0; /* that are there */
  const int n = scree_world_body_count(run->world);
  if (scree_world_removed_count(run->world) == 0)
    bodies = n - run->info.obstacles;
  else
    for (int b = run->info.obstacles; b < n; ++b) bodies += !scree_body_is_removed(run->world, b);
  add_up(run, report);
  scree_Status status = scree_sensors_take(&run->sensors, run->world, run->log);
  if (status == SCREE_OK)
    status = scree_telemetry_add(&run->telemetry, report, bodies, &run->sensors, run->log);
  if (status == SCREE_OK) status = flush_when_due(run);
  if (status == SCREE_OK && scree_scene_dumps(run->scene, step)) status = dump_problem(run);
  const char *reason = NULL;
  const bool stop = scree_scene_should_stop(run->scene, run->world, &run->head.peak, &reason);
  if (stop || step >= run->info.steps) {
    /* with --until beyond the duration the run ends at the duration */
    const bool extended = !stop && run->steps_limit > run->info.steps && step < run->steps_limit;
    if (!extended) {
      run->over = run->head.summary.finished = true;
      run->reason = stop ? reason : "finished";
    }
  }
  if (!run->over && step >= run->steps_limit) {
    run->over = true;
    run->reason = "the time asked for was reached";
  }
  if (!run->over && run->settings.steps > 0 && step - run->steps_start >= run->settings.steps) {
    run->over = true;
    run->reason = "the number of steps asked for was reached";
  }
  const bool frame = step % run->info.frame_steps == 0 || run->head.summary.finished;
  if (status == SCREE_OK && frame) status = save_frame(run);
  /* the first results.h5 of a run that takes longer: `scree view` shows it from then on */
  if (status == SCREE_OK && frame && !run->over && run->frames_written == 0 &&
      scree_seconds() - run->clock_start > FIRST_RESULTS) {
    status = save_results(run);
    if (status == SCREE_INTERRUPTED) status = SCREE_OK;
  }
  if (status == SCREE_OK && !run->over && checkpoint_due(run, frame)) {
    /* bodies due now belong to the checkpoint's state only after they were added */
    status = save_checkpoint(run);
    if (status == SCREE_OK && run->head.frames >= 2 * run->frames_written)
      status = save_results(run);
    if (status == SCREE_INTERRUPTED) status = SCREE_OK; /* the next step is abandoned, too */
  }
  return status;
}

/* The last step of the scene is shorter where the duration is no multiple of the step. */
static scree_Status fit_last_step(scree_Run *run) {
  const double step = run->info.step, left = run->info.duration - scree_world_time(run->world);
  if (scree_world_steps(run->world) + 1 != run->info.steps || run->steps_limit > run->info.steps ||
      !(left > 1e-9 * step && left < (1 - 1e-9) * step))
    return SCREE_OK;
  scree_WorldSettings settings = *scree_world_get_settings(run->world);
  settings.step = left;
  return scree_world_set_settings(run->world, &settings);
}

/* Pour and remove bodies before the next step. A step that is repeated, in this run or in a resumed
 * one, does not do it again: a body that has just been poured could be removed. */
static scree_Status prepare_bodies(scree_Run *run) {
  if (run->head.prepared) return SCREE_OK;
  scree_Status status = scree_scene_remove(run->scene, run->world);
  if (status == SCREE_OK)
    status = scree_scene_pour(run->scene, run->world, run->order, &run->head.poured, run->log);
  run->head.prepared = status == SCREE_OK;
  return status;
}

static scree_Status fail(scree_Run *run, scree_Status status) {
  run->failed = run->torn = true;
  return status;
}

scree_Status scree_run_step(scree_Run *run, scree_StepReport *report) {
  scree_StepReport own;
  if (!report) report = &own;
  scree_Status status = prepare_bodies(run);
  if (status == SCREE_OK) status = scree_sensors_begin(&run->sensors, run->world, run->log);
  if (status == SCREE_OK) status = fit_last_step(run);
  if (status != SCREE_OK) return fail(run, status);
  status = scree_world_step(run->world, report);
  if (run->unsaved != SCREE_OK) return fail(run, run->unsaved);
  if (status > SCREE_NOT_CONVERGED) { /* the world is as it was before the step */
    run->failed = status != SCREE_INTERRUPTED;
    return status;
  }
  run->head.prepared = false;
  const scree_Status recorded = record(run, report);
  return recorded == SCREE_OK ? status : fail(run, recorded);
}

/* ---- end ------------------------------------------------------------------------------------- */

bool scree_run_is_over(const scree_Run *run) {
  return run->over || run->failed;
}

scree_Status scree_run_close(scree_Run *run) {
  if (run->journal_gone) return SCREE_OK;
  /* when telemetry or frames of the present state are missing the last checkpoint stays */
  scree_Status status = run->torn ? SCREE_OK : save_checkpoint(run);
  if (run->torn) (void)scree_telemetry_flush(&run->telemetry, false, NULL);
  const bool news = run->head.frames != run->frames_written || run->head.summary.finished;
  const scree_Status written = news ? save_results(run) : SCREE_OK;
  if (status == SCREE_OK) status = written;
  if (status == SCREE_OK && run->head.summary.finished && !run->failed) {
    scree_writer_fini(&run->writer);
    scree_journal_close(&run->journal);
    (void)unlink(run->path[JOURNAL]);
    run->journal_gone = true;
  }
  return status;
}

void scree_run_destroy(scree_Run *run) {
  if (!run) return;
  scree_world_destroy(run->world);
  scree_writer_fini(&run->writer);
  scree_sensors_fini(&run->sensors);
  scree_journal_close(&run->journal);
  scree_telemetry_close(&run->telemetry);
  for (int k = 0; k < PATHS; ++k) scree_free(run->path[k]);
  scree_free(run->order);
  scree_free(run->materials);
  scree_free(run);
}

scree_RunSummary scree_run_summary(const scree_Run *run) {
  scree_RunSummary summary = run->head.summary;
  summary.steps = scree_world_steps(run->world);
  summary.time = scree_world_time(run->world);
  summary.bodies = scree_world_body_count(run->world) - run->info.obstacles;
  summary.frames = run->head.frames;
  summary.reason = run->reason;
  if (!run->journal_gone || !summary.finished || run->steps_start < summary.steps)
    summary.seconds = elapsed(run);
  return summary;
}

const scree_World *scree_run_world(const scree_Run *run) {
  return run->world;
}

double scree_run_end(const scree_Run *run) {
  double end = (double)run->steps_limit * run->info.step;
  if (run->steps_limit <= run->info.steps) end = fmin(end, run->info.duration);
  if (run->settings.steps > 0)
    end = fmin(end, (double)(run->steps_start + run->settings.steps) * run->info.step);
  return end;
}
