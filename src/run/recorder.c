/* The folder of a run for a world that is built by calls (see scree/run.h): the same journal,
 * telemetry and results.h5 as those of the runner, without a scene and without checkpoints, which
 * are the caller's own. */
#define _POSIX_C_SOURCE 200809L
#include "core/log.h"
#include "core/memory.h"
#include "run/results_file.h"
#include "run/results_write.h"
#include "run/telemetry.h"
#include "scree/run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESULTS, TELEMETRY, JOURNAL, PATHS, MATERIAL_NAME = 64 };

static const char *const names[PATHS] = {"results.h5", "telemetry.jsonl", "frames.bin"};

struct scree_Recorder {
  const scree_World *world;
  scree_Log log; /* copy of the caller's */
  char *path[PATHS];
  char *title;
  char (*material_names)[MATERIAL_NAME]; /* (materials) */
  scree_ResultsMaterial *materials;      /* (materials) */
  int material_count;
  size_t name_capacity, material_capacity;
  bool contacts, has_region, finished;
  int compression;
  scree_Aabb region;
  scree_Journal journal;
  scree_Telemetry telemetry;
  scree_Frame frame;
  int frames;
  int64_t last_frame; /* step, -1: none */
};

scree_RecorderSettings scree_recorder_settings(void) {
  return (scree_RecorderSettings){.folder = "run", .contacts = true, .compression = 1};
}

/* ---- start ----------------------------------------------------------------------------------- */

static int64_t size_of(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

/* Names of the materials that have none yet: materials may be added to the world at any time. */
static scree_Status name_materials(scree_Recorder *recorder, const char *const *given) {
  const int m = scree_world_material_count(recorder->world);
  if (!scree_grow((void **)&recorder->material_names, &recorder->name_capacity, (size_t)m,
                  sizeof *recorder->material_names) ||
      !scree_grow((void **)&recorder->materials, &recorder->material_capacity, (size_t)m,
                  sizeof *recorder->materials))
    return scree_fail_memory(&recorder->log, "the materials of a recorder");
  for (int k = recorder->material_count; k < m; ++k) {
    char *name = recorder->material_names[k];
    if (given)
      snprintf(name, MATERIAL_NAME, "%s", given[k]);
    else
      snprintf(name, MATERIAL_NAME, "material %d", k);
  }
  for (int k = 0; k < m; ++k)
    recorder->materials[k] =
        (scree_ResultsMaterial){.name = recorder->material_names[k], .colour = "", .density = NAN};
  recorder->material_count = m;
  return SCREE_OK;
}

static scree_Status copy_settings(scree_Recorder *recorder,
                                  const scree_RecorderSettings *settings) {
  const scree_Log *log = &recorder->log;
  if (!settings->folder || !settings->folder[0])
    return scree_fail(log, SCREE_BAD_INPUT, "recorder: found no folder, expected its name");
  if (settings->compression < 0 || settings->compression > 9)
    return scree_fail(log, SCREE_BAD_INPUT, "recorder: compression %d, expected 0 to 9",
                      settings->compression);
  const char *title = settings->title ? settings->title : "";
  recorder->title = SCREE_ALLOC(char, strlen(title) + 1);
  if (!recorder->title) return scree_fail_memory(log, "the settings of a recorder");
  memcpy(recorder->title, title, strlen(title) + 1);
  const scree_Status status = name_materials(recorder, settings->material_names);
  if (status) return status;
  recorder->contacts = settings->contacts;
  recorder->compression = settings->compression;
  recorder->has_region = settings->region != NULL;
  if (settings->region) recorder->region = *settings->region;
  for (int k = 0; k < PATHS; ++k) {
    recorder->path[k] = scree_join_path(settings->folder, names[k]);
    if (!recorder->path[k]) return scree_fail_memory(log, "names of files");
  }
  return SCREE_OK;
}

/* Bytes of the journal up to the last frame that is not later than the world; counts the frames. */
static scree_Status keep_frames(scree_Recorder *recorder, int64_t *length) {
  const int64_t size = size_of(recorder->path[JOURNAL]), now = scree_world_steps(recorder->world);
  scree_Journal journal;
  scree_FrameHead head;
  bool end = false;
  scree_Status status = scree_journal_open(&journal, recorder->path[JOURNAL], size, &recorder->log);
  if (status) return status;
  *length = 0;
  for (int64_t offset = 0; !status;) {
    status = scree_journal_read(&journal, &offset, &recorder->frame, &end, &recorder->log);
    head = recorder->frame.head;
    if (status || end || head.step > now) break;
    ++recorder->frames;
    recorder->last_frame = head.step;
    *length = offset;
  }
  scree_journal_close(&journal);
  return status;
}

/* Bytes of the telemetry up to the line of the world's last step. */
static scree_Status keep_lines(const scree_Recorder *recorder, int64_t *length) {
  static const char key[] = "{\"step\": ";
  char *text = NULL;
  size_t count = 0;
  const scree_Status status =
      scree_file_load(recorder->path[TELEMETRY], &text, &count, &recorder->log);
  *length = 0;
  if (status || !text) return status;
  for (size_t at = 0; at < count;) {
    const char *line = text + at, *newline = memchr(line, '\n', count - at);
    if (!newline || strncmp(line, key, sizeof key - 1) != 0) break;
    if (strtoll(line + sizeof key - 1, NULL, 10) > scree_world_steps(recorder->world)) break;
    at += (size_t)(newline - line) + 1;
    *length = (int64_t)at;
  }
  scree_free(text);
  return SCREE_OK;
}

static scree_Status open_folder(scree_Recorder *recorder, const scree_RecorderSettings *settings) {
  const scree_Log *log = &recorder->log;
  const int error = scree_make_folder(settings->folder);
  if (error)
    return scree_fail(log, error == ENOTDIR || error == EEXIST ? SCREE_BAD_INPUT : SCREE_MACHINE,
                      "%s: cannot create the folder: %s", settings->folder, strerror(error));
  const bool journal = size_of(recorder->path[JOURNAL]) >= 0,
             results = size_of(recorder->path[RESULTS]) >= 0;
  if ((journal || results) && !settings->replace && !settings->resume)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: found a run, expected an empty folder: resume the run, replace it, or "
                      "choose another folder",
                      settings->folder);
  if (settings->resume && results && !journal)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: found a finished run, expected one that can be resumed",
                      settings->folder);
  int64_t frames = 0, lines = 0;
  scree_Status status = SCREE_OK;
  if (settings->resume && journal) {
    status = keep_frames(recorder, &frames);
    if (!status) status = keep_lines(recorder, &lines);
  }
  if (!status)
    status = scree_telemetry_open(&recorder->telemetry, recorder->path[TELEMETRY], lines, log);
  if (!status && !settings->resume) (void)unlink(recorder->path[RESULTS]);
  if (!status)
    status = scree_journal_open(&recorder->journal, recorder->path[JOURNAL], frames, log);
  return status;
}

scree_Status scree_recorder_create(const scree_World *world, const scree_RecorderSettings *settings,
                                   const scree_Log *log, scree_Recorder **recorder) {
  *recorder = NULL;
  scree_Recorder *made = SCREE_ALLOC(scree_Recorder, 1);
  if (!made) return scree_fail_memory(log, "a recorder");
  made->world = world;
  if (log) made->log = *log;
  made->journal.file = made->telemetry.file = -1;
  made->last_frame = -1;
  scree_Status status = copy_settings(made, settings);
  if (!status) status = open_folder(made, settings);
  if (status)
    scree_recorder_destroy(made);
  else
    *recorder = made;
  return status;
}

void scree_recorder_destroy(scree_Recorder *recorder) {
  if (!recorder) return;
  scree_journal_close(&recorder->journal);
  scree_telemetry_close(&recorder->telemetry);
  scree_frame_fini(&recorder->frame);
  for (int k = 0; k < PATHS; ++k) scree_free(recorder->path[k]);
  scree_free(recorder->title);
  scree_free(recorder->material_names);
  scree_free(recorder->materials);
  scree_free(recorder);
}

/* ---- writing --------------------------------------------------------------------------------- */

static scree_Status check_open(const scree_Recorder *recorder) {
  if (!recorder->finished) return SCREE_OK;
  return scree_fail(&recorder->log, SCREE_BAD_INPUT,
                    "%s: the run is finished, expected no further steps", recorder->path[RESULTS]);
}

scree_Status scree_recorder_step(scree_Recorder *recorder, const scree_StepReport *report) {
  const scree_Sensors none = {0};
  int bodies = 0; /* that exist */
  const int n = scree_world_body_count(recorder->world);
  for (int b = 0; b < n; ++b)
    bodies +=
        !scree_body_is_obstacle(recorder->world, b) && !scree_body_is_removed(recorder->world, b);
  scree_Status status = check_open(recorder);
  if (!status)
    status = scree_telemetry_add(&recorder->telemetry, report, bodies, NULL, &none, &recorder->log);
  if (!status) status = scree_telemetry_flush(&recorder->telemetry, false, &recorder->log);
  return status;
}

scree_Status scree_recorder_frame(scree_Recorder *recorder) {
  scree_Status status = check_open(recorder);
  if (status || recorder->last_frame == scree_world_steps(recorder->world)) return status;
  status = scree_frame_take(&recorder->frame, recorder->world, recorder->contacts,
                            recorder->has_region ? &recorder->region : NULL, &recorder->log);
  if (!status) status = scree_journal_append(&recorder->journal, &recorder->frame, &recorder->log);
  if (status) return status;
  ++recorder->frames;
  recorder->last_frame = recorder->frame.head.step;
  return SCREE_OK;
}

scree_Status scree_recorder_write(scree_Recorder *recorder, bool finished) {
  scree_Status status = check_open(recorder);
  if (!status) status = name_materials(recorder, NULL);
  const scree_ResultsHead head = {.title = recorder->title,
                                  .scene = "",
                                  .compression = recorder->compression,
                                  .finished = finished,
                                  .materials = recorder->material_count,
                                  .material = recorder->materials};
  if (!status) status = scree_telemetry_flush(&recorder->telemetry, true, &recorder->log);
  if (!status) status = scree_journal_sync(&recorder->journal, &recorder->log);
  if (!status)
    status = scree_results_write(recorder->path[RESULTS], &recorder->journal, &head,
                                 recorder->world, NULL, &recorder->log);
  if (status || !finished) return status;
  recorder->finished = true;
  scree_journal_close(&recorder->journal);
  (void)unlink(recorder->path[JOURNAL]);
  return SCREE_OK;
}

int scree_recorder_frames(const scree_Recorder *recorder) {
  return recorder->frames;
}
