/* Runs (see scree/run.h). A run can be resumed after any interruption because of the order of
 * writes: a frame and the telemetry of its steps are on the disk before the checkpoint that counts
 * them; the checkpoint replaces the previous one by a rename; results.h5 is made from the journal
 * and replaced by a rename too. A resumed run cuts off all data after the last checkpoint and
 * computes it again, to the same bits.
 *
 * On several ranks (parts.h) every rank runs this file. Decisions that are taken by the clock or by
 * the caller's poll are taken by rank 0 or by any rank, for all; whatever may fail on one rank ends
 * with scree_run_parts_agree.
 *
 * The order of writes that makes a run resumable is decided here, in one place. */
#define _POSIX_C_SOURCE 200809L
#include "core/clock.h"
#include "core/log.h"
#include "core/memory.h"
#include "run/frame_writer.h"
#include "run/results_file.h"
#include "run/results_shared.h"
#include "run/run.h"
#include "scene/scene.h"
#include "scree/fclib.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double FLUSH_SECONDS = 0.5;     /* after which waiting telemetry is written */
static const double FIRST_RESULTS = 1.0;     /* seconds, after which there is a results.h5 */
static const double CHECKPOINT_SHARE = 0.02; /* of the time that checkpoints may take */
static const double LEAVE_SECONDS = 1.2;     /* after a request to stop, for results.h5 */

scree_RunSettings scree_run_settings(void) {
  return (scree_RunSettings){.folder = "run"};
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

scree_Status scree_run_save_frame(scree_Run *run) {
  const scree_Aabb *region = run->info.has_region ? &run->info.region : NULL;
  const bool contacts = run->info.save_contacts;
  scree_Status status = SCREE_OK;
  if (scree_run_parts_divided(&run->parts)) {
    status =
        scree_run_parts_frame(&run->parts, run->world, contacts, region, &run->journal, run->log);
  } else {
    if (!run->writer.made)
      status = scree_writer_init(&run->writer, &run->journal, run->info.compression, run->log);
    scree_Frame *frame = status == SCREE_OK ? scree_writer_frame(&run->writer) : NULL;
    if (frame) status = scree_frame_take(frame, run->world, contacts, region, run->log);
    if (status == SCREE_OK) status = scree_writer_add(&run->writer, run->log);
  }
  if (status != SCREE_OK) return status;
  ++run->head.frames;
  run->head.last_frame = scree_world_steps(run->world);
  return SCREE_OK;
}

/* From the journal, by this process alone. */
static scree_Status write_results(scree_Run *run, const scree_BodyTable *table) {
  scree_Poll poll = {poll_results, run, false};
  scree_ResultsHead head = scree_results_head(run->scene, run->materials);
  head.finished = run->head.summary.finished;
  head.bodies = table;
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
    status = scree_results_write_packed(run->path[SCREE_PATH_RESULTS], &run->journal,
                                        &run->writer.pack, &head, run->world, &poll, run->log);
  return status;
}

/* From the journal, by all ranks: the bodies of this one are in the table. */
static scree_Status share_results(scree_Run *run, const scree_BodyTable *table) {
  scree_Poll poll = {poll_results, run, false};
  scree_ResultsHead head = scree_results_head(run->scene, run->materials);
  head.finished = run->head.summary.finished;
  head.bodies = table;
  return scree_results_write_shared(run->path[SCREE_PATH_RESULTS], &run->journal, &head, run->world,
                                    run->parts.ranks, &poll, run->log);
}

/* All ranks of a divided world call it. */
static scree_Status save_results(scree_Run *run) {
  const bool divided = scree_run_parts_divided(&run->parts);
  scree_BodyTable table = {0};
  scree_Status status = SCREE_OK;
  const bool shared = divided && scree_results_can_share();
  if (divided) status = scree_run_parts_table(&run->parts, run->world, !shared, &table);
  if (status == SCREE_OK && shared)
    status = share_results(run, &table);
  else if (status == SCREE_OK && run->parts.writes)
    status = write_results(run, divided ? &table : NULL);
  scree_world_free_rows(table.row, table.count);
  scree_free(table.node);
  status = scree_run_parts_agree(&run->parts, status, run->log);
  if (status == SCREE_OK) run->frames_written = run->head.frames;
  if (status == SCREE_INTERRUPTED && run->parts.writes)
    scree_report(run->log, SCREE_LOG_WARNING,
                 "%s: not updated, since that takes too long: the frames are kept in %s and a "
                 "resumed run adds them",
                 run->path[SCREE_PATH_RESULTS], run->path[SCREE_PATH_JOURNAL]);
  return status;
}

static double elapsed(const scree_Run *run) {
  return run->seconds_before + scree_seconds() - run->clock_start;
}

static scree_Status write_checkpoint(scree_Run *run) {
  const scree_World *whole = run->world;
  const bool divided = scree_run_parts_divided(&run->parts);
  scree_Status status = SCREE_OK;
  if (run->parts.writes) status = scree_telemetry_flush(&run->telemetry, true, run->log);
  if (status == SCREE_OK && run->writer.made)
    status = scree_writer_wait(&run->writer, NULL, run->log);
  if (status == SCREE_OK) status = scree_journal_sync(&run->journal, run->log);
  if (divided) status = scree_run_parts_agree(&run->parts, status, run->log);
  if (status != SCREE_OK) return status;
  run->head.journal = run->journal.length;
  run->head.telemetry = run->telemetry.length;
  run->head.summary.seconds = elapsed(run);
  run->head.summary.time = scree_world_time(whole);
  if (divided)
    return scree_run_parts_checkpoint(&run->parts, whole, run->path[SCREE_PATH_CHECKPOINT],
                                      &run->head, run->order, run->log);
  run->head.state = scree_world_state_size(whole);
  void *state = SCREE_ALLOC(char, run->head.state);
  if (!state) return scree_fail_memory(run->log, "the checkpoint");
  scree_world_save(whole, state);
  status = scree_checkpoint_write(run->path[SCREE_PATH_CHECKPOINT], &run->head, run->order, state,
                                  run->log);
  scree_free(state);
  return status;
}

scree_Status scree_run_save_checkpoint(scree_Run *run) {
  const double start = scree_seconds();
  run->clock_flush = start;
  const scree_Status status = write_checkpoint(run);
  run->clock_checkpoint = scree_seconds();
  run->checkpoint_cost = run->clock_checkpoint - start;
  return scree_run_parts_agree(&run->parts, status, run->log);
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
  const int error = scree_make_folder(run->path[SCREE_PATH_PROBLEMS]);
  if (error)
    return scree_fail(run->log, SCREE_MACHINE, "%s: the folder cannot be made: %s",
                      run->path[SCREE_PATH_PROBLEMS], strerror(error));
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
  char *path = scree_join_path(run->path[SCREE_PATH_PROBLEMS], name);
  if (!path) return scree_fail_memory(run->log, "the name of a problem");
  status = scree_fclib_write(path, problem, title, r, u, run->log);
  scree_free(path);
  return status;
}

/* Settings of the world that are the run's. */
static scree_Status set_up(scree_Run *run) {
  const scree_RunSettings *settings = &run->settings;
  scree_WorldSettings world = *scree_world_get_settings(run->world);
  const scree_SolverClass *solver = scree_solver_class_find(world.solve.solver);
  const bool joined = solver && scree_solver_class_capabilities(solver) & SCREE_CAN_RANKS;
  if (settings->threads > 0) world.solve.threads = settings->threads;
  world.solve.share_processors = true;
  world.solve.ranks = run->parts.solves && joined ? settings->ranks : NULL;
  world.solve.interrupted = poll_step;
  world.solve.interrupted_user = run;
  return scree_world_set_settings(run->world, &world);
}

/* Number of the step after which `time` is reached. Whole steps are counted from the present state,
 * since the last step of a run that was finished may have been shorter. */
static int64_t steps_until(const scree_Run *run, double time) {
  const double left = time - run->time_start;
  return run->steps_start +
         (int64_t)fmin(9e15, fmax(0, ceil(left / run->info.step - SCREE_RUN_ROUNDED)));
}

/* A run ends at its duration, or where `until` is later, there: `end`, with a last step that is
 * shorter if need be. An earlier `until` stops it after a whole step, since it may go on. */
static void find_limits(scree_Run *run) {
  const double until = run->settings.until;
  run->end = fmax(until, run->info.duration);
  run->steps_end = steps_until(run, run->end);
  run->steps_limit = until > 0 && until < run->end ? steps_until(run, until) : run->steps_end;
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
  scree_run_parts_init(&made->parts, settings->ranks, scene);
  made->sent.ranks = scree_ranks_size(settings->ranks);
  made->sent.imbalance = 1;
  made->order = SCREE_ALLOC(int, made->info.poured);
  made->materials = SCREE_ALLOC(scree_ResultsMaterial, made->info.materials);
  scree_Status status = made->order && made->materials
                            ? SCREE_OK
                            : scree_fail_memory(log, "the poured bodies and the materials");
  if (status == SCREE_OK) status = scree_sensors_init(&made->sensors, scene, log);
  if (status == SCREE_OK) status = scree_run_prepare_folder(made);
  status = scree_run_parts_agree(&made->parts, status, made->log);
  if (status == SCREE_OK)
    status = settings->resume ? scree_run_resume(made) : scree_run_start(made);
  if (status == SCREE_OK && made->world)
    status = scree_run_parts_agree(&made->parts, set_up(made), log);
  if (status != SCREE_OK) {
    scree_run_destroy(made);
    return status;
  }
  made->sent.divided = scree_run_parts_divided(&made->parts);
  made->steps_start = made->world ? scree_world_steps(made->world) : 0;
  made->time_start = made->world ? scree_world_time(made->world) : 0;
  find_limits(made);
  if (made->world && made->steps_start >= made->steps_limit) made->over = true;
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

/* Bodies that are there. */
static int count_bodies(const scree_Run *run) {
  if (run->scene->removal_count == 0)
    return scree_world_whole_count(run->world) - run->info.obstacles;
  return scree_run_parts_bodies(&run->parts, run->world);
}

static scree_Status write_line(scree_Run *run, const scree_StepReport *report, int bodies) {
  scree_RunSent sent = {0};
  if (run->parts.ranks) {
    const double steps = (double)(report->step - run->steps_start);
    sent = scree_run_parts_count(&run->parts, run->world);
    if (run->parts.solves && report->solve.imbalance >= 1) sent.imbalance = report->solve.imbalance;
    run->sent.messages += (long long)sent.messages;
    run->sent.bytes += (long long)sent.bytes;
    run->sent.synchronisations += (long long)sent.synchronisations;
    run->sent.imbalance += (sent.imbalance - run->sent.imbalance) / fmax(steps, 1);
  }
  if (!run->parts.writes) return SCREE_OK;
  const scree_Status status = scree_telemetry_add(
      &run->telemetry, report, bodies, run->parts.ranks ? &sent : NULL, &run->sensors, run->log);
  return status == SCREE_OK ? flush_when_due(run) : status;
}

/* Whether the run is over after this step, and why. */
static void find_end(scree_Run *run, int64_t step) {
  const char *reason = NULL;
  const bool stop = scree_scene_should_stop(run->scene, run->world, &run->head.peak, &reason);
  if (stop || step >= run->steps_end) {
    run->over = run->head.summary.finished = true;
    run->reason = stop ? reason : "finished";
  }
  if (!run->over && step >= run->steps_limit) {
    run->over = true;
    run->reason = "the requested time was reached";
  }
  if (!run->over && run->settings.steps > 0 && step - run->steps_start >= run->settings.steps) {
    run->over = true;
    run->reason = "the requested number of steps was reached";
  }
}

/* results.h5 while the run goes on. */
static scree_Status update_results(scree_Run *run) {
  const scree_Status status = save_results(run);
  return status == SCREE_INTERRUPTED ? SCREE_OK : status; /* the next step is abandoned, too */
}

/* After a step: telemetry, frames, problems, checkpoints. */
static scree_Status record(scree_Run *run, const scree_StepReport *report) {
  const scree_RunParts *parts = &run->parts;
  const int64_t step = scree_world_steps(run->world);
  const int bodies = count_bodies(run);
  add_up(run, report);
  scree_Status status = scree_sensors_take(&run->sensors, run->world, run->log);
  if (status == SCREE_OK)
    status = scree_run_parts_agree(parts, write_line(run, report, bodies), run->log);
  if (status == SCREE_OK && scree_scene_dumps(run->scene, step)) status = dump_problem(run);
  find_end(run, step);
  const bool frame = step % run->info.frame_steps == 0 || run->head.summary.finished;
  if (status == SCREE_OK && frame) status = scree_run_save_frame(run);
  if (status != SCREE_OK || run->over) return status;
  const double now = scree_seconds();
  /* the first results.h5 of a run that takes longer: `scree view` shows it from then on */
  bool first = frame && run->frames_written == 0 && now - run->clock_start > FIRST_RESULTS;
  bool due = checkpoint_due(run, frame);
  first = scree_run_parts_any(parts, parts->writes && first);
  due = scree_run_parts_any(parts, parts->writes && due);
  /* bodies due now belong to the checkpoint's state only after they were added */
  if (due) status = scree_run_save_checkpoint(run);
  const bool many = due && run->head.frames >= 2 * run->frames_written;
  if (status == SCREE_OK && (first || many)) status = update_results(run);
  return scree_run_parts_agree(parts, status, run->log);
}

/* The last step ends at the end of the run. */
static scree_Status fit_last_step(scree_Run *run) {
  const double step = run->info.step, left = run->end - scree_world_time(run->world);
  if (scree_world_steps(run->world) + 1 != run->steps_end || !(left > 0) ||
      fabs(left - step) <= 1e-9 * step)
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
  if (run->parts.serves) {
    memset(report, 0, sizeof *report);
    run->over = true;
    return scree_solver_serve(run->parts.ranks, run->log);
  }
  /* several ranks are told at different times */
  if (run->parts.together && scree_run_parts_any(&run->parts, asked_to_stop(run)))
    return SCREE_INTERRUPTED;
  scree_Status status = prepare_bodies(run);
  if (status == SCREE_OK) status = scree_sensors_begin(&run->sensors, run->world, run->log);
  if (status == SCREE_OK) status = fit_last_step(run);
  status = scree_run_parts_agree(&run->parts, status, run->log);
  if (status != SCREE_OK) return fail(run, status);
  status = scree_world_step(run->world, report);
  const scree_Status unsaved = scree_run_parts_agree(&run->parts, run->unsaved, run->log);
  if (unsaved != SCREE_OK) return fail(run, unsaved);
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

static scree_Status close_files(scree_Run *run, scree_Status status) {
  if (run->torn && run->parts.writes) (void)scree_telemetry_flush(&run->telemetry, false, NULL);
  const bool news = run->head.frames != run->frames_written || run->head.summary.finished;
  const scree_Status written = news ? save_results(run) : SCREE_OK;
  if (status == SCREE_OK) status = written;
  if (status == SCREE_OK && run->head.summary.finished && !run->failed) {
    scree_writer_fini(&run->writer);
    scree_journal_close(&run->journal);
    if (run->parts.writes) (void)unlink(run->path[SCREE_PATH_JOURNAL]);
    run->journal_gone = true;
  }
  return status;
}

scree_Status scree_run_close(scree_Run *run) {
  if (run->journal_gone || run->parts.serves) return SCREE_OK; /* the same on all ranks */
  /* when telemetry or frames of the present state are missing the last checkpoint stays */
  scree_Status status = run->torn ? SCREE_OK : scree_run_save_checkpoint(run);
  status = close_files(run, status);
  scree_run_parts_memory(&run->parts, &run->sent.memory_most, &run->sent.memory_mean);
  return scree_run_parts_agree(&run->parts, status, run->log);
}

void scree_run_destroy(scree_Run *run) {
  if (!run) return;
  scree_run_parts_fini(&run->parts);
  scree_world_destroy(run->world);
  scree_writer_fini(&run->writer);
  scree_sensors_fini(&run->sensors);
  scree_journal_close(&run->journal);
  scree_telemetry_close(&run->telemetry);
  for (int k = 0; k < SCREE_PATHS; ++k) scree_free(run->path[k]);
  scree_free(run->order);
  scree_free(run->materials);
  scree_free(run);
}

scree_RunSummary scree_run_summary(const scree_Run *run) {
  scree_RunSummary summary = run->head.summary;
  if (!run->world) return summary;
  summary.steps = scree_world_steps(run->world);
  summary.time = scree_world_time(run->world);
  summary.bodies = scree_world_whole_count(run->world) - run->info.obstacles;
  summary.frames = run->head.frames;
  summary.reason = run->reason;
  if (!run->journal_gone || !summary.finished || run->steps_start < summary.steps)
    summary.seconds = elapsed(run);
  return summary;
}

scree_RunRanks scree_run_ranks(const scree_Run *run) {
  scree_RunRanks ranks = run->sent;
  ranks.undivided = run->parts.why[0] ? run->parts.why : NULL;
  return ranks;
}

const scree_World *scree_run_world(const scree_Run *run) {
  return run->world;
}

double scree_run_end(const scree_Run *run) {
  const double rest = (double)(run->steps_limit - run->steps_start) * run->info.step;
  double end = run->end;
  if (run->steps_limit < run->steps_end) end = fmin(end, run->time_start + rest);
  if (run->settings.steps > 0)
    end = fmin(end, run->time_start + (double)run->settings.steps * run->info.step);
  return end;
}
