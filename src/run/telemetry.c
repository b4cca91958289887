/* Telemetry (see telemetry.h). Lines are gathered and written some at a time, and always before a
 * checkpoint. */
#define _DEFAULT_SOURCE /* flock */
#include "run/telemetry.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/results_file.h"
#include "scene/yaml_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048 + 80 * SCREE_SENSOR_COLUMNS_MAX, WAITING_MAX = 1 << 15 };

scree_Status scree_telemetry_open(scree_Telemetry *telemetry, const char *path, int64_t length,
                                  const scree_Log *log) {
  *telemetry = (scree_Telemetry){.path = path, .length = length};
  telemetry->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (telemetry->file < 0)
    return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", path, strerror(errno));
  /* flock and not fcntl, whose lock does not exclude runs of the same process, and is lost when any
   * reader of the file in the same process closes it */
  int error = 0;
  if (flock(telemetry->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    scree_telemetry_close(telemetry);
    return scree_fail(
        log, SCREE_BAD_INPUT,
        "%s: another run is writing to this folder, expected a folder that no run uses", path);
  }
  const off_t end = lseek(telemetry->file, 0, SEEK_END);
  if (end < length) {
    scree_telemetry_close(telemetry);
    return scree_fail(
        log, SCREE_BAD_INPUT,
        "%s: found %lld bytes, expected at least the %lld of the checkpoint: the folder is damaged",
        path, (long long)end, (long long)length);
  }
  if (ftruncate(telemetry->file, length) != 0 || lseek(telemetry->file, length, SEEK_SET) != length)
    error = errno;
  if (!error) return SCREE_OK;
  scree_telemetry_close(telemetry);
  return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", path, strerror(error));
}

char *scree_telemetry_last_line(const scree_Telemetry *telemetry) {
  const size_t size =
      (size_t)(telemetry->length < LINE_MAX_BYTES ? telemetry->length : LINE_MAX_BYTES);
  char *text = SCREE_ALLOC(char, LINE_MAX_BYTES + 1);
  if (!text) return NULL;
  const ssize_t got =
      pread(telemetry->file, text, size, (off_t)(telemetry->length - (int64_t)size));
  size_t end = got > 0 ? (size_t)got : 0;
  text[end] = '\0';
  if (end > 0 && text[end - 1] == '\n') text[--end] = '\0';
  const char *start = strrchr(text, '\n');
  if (start) memmove(text, start + 1, strlen(start + 1) + 1);
  return text;
}

typedef struct Line {
  char text[LINE_MAX_BYTES];
  size_t length;
} Line;

static void raw(Line *line, const char *key, const char *value) {
  const int n = snprintf(line->text + line->length, sizeof line->text - line->length,
                         "%s\"%s\": %s", line->length > 1 ? ", " : "", key, value);
  if (n > 0 && (size_t)n < sizeof line->text - line->length) line->length += (size_t)n;
}

static void real(Line *line, const char *key, double value) {
  char text[40] = "null";
  if (isfinite(value)) scree_format_real(value, text, sizeof text);
  raw(line, key, text);
}

static void integer(Line *line, const char *key, long long value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", value);
  raw(line, key, text);
}

static void pair(Line *line, const char *key, const int value[2]) {
  char text[64];
  snprintf(text, sizeof text, "[%d, %d]", value[0], value[1]);
  raw(line, key, text);
}

static void write_line(Line *line, const scree_StepReport *report, int bodies,
                       const scree_RunSent *sent, const scree_Sensors *sensors) {
  const scree_EnergyBalance *energy = &report->energy;
  char solver[48], missed[SCREE_MISSED_SIZE], quoted[SCREE_MISSED_SIZE + 2];
  scree_missed_text(report->missed, missed, sizeof missed);
  snprintf(quoted, sizeof quoted, "\"%s\"", missed);
  snprintf(solver, sizeof solver, "\"%.40s\"", report->solve.solver ? report->solve.solver : "");
  line->text[0] = '{';
  line->length = 1;
  integer(line, "step", report->step);
  real(line, "time", report->time);
  real(line, "h", report->h);
  integer(line, "bodies", bodies);
  integer(line, "contacts", report->contacts);
  integer(line, "active", report->active);
  raw(line, "certified", report->certified ? "true" : "false");
  if (!report->certified) raw(line, "missed", quoted);
  real(line, "error", report->error);
  real(line, "tolerance", report->tolerance);
  integer(line, "contacts_above", report->contacts_above);
  pair(line, "worst_body", report->worst_body);
  real(line, "penetration", report->penetration);
  real(line, "penetration_limit", report->penetration_limit);
  real(line, "energy_created", report->energy_created);
  real(line, "energy_limit", report->energy_limit);
  real(line, "creep", report->creep);
  real(line, "creep_limit", report->creep_limit);
  pair(line, "deepest_body", report->deepest_body);
  real(line, "cone_violation", report->cone_violation);
  if (report->joints > 0) {
    integer(line, "joints", report->joints);
    real(line, "joint_error", report->joint_error);
  }
  if (report->bonds > 0) {
    integer(line, "bonds", report->bonds - report->bonds_broken);
    integer(line, "bonds_broken", report->bonds_broken);
  }
  if (report->internal_contacts >= 0) integer(line, "internal_contacts", report->internal_contacts);
  integer(line, "iterations", report->iterations);
  integer(line, "solves", report->solves);
  integer(line, "retries", report->retries);
  integer(line, "redetections", report->redetections);
  integer(line, "expansions", report->expansions);
  integer(line, "substeps", report->substeps);
  raw(line, "solver", solver);
  real(line, "kinetic", energy->kinetic);
  real(line, "potential", energy->potential);
  real(line, "elastic", energy->elastic);
  real(line, "work_forces", energy->forces);
  real(line, "work_drivers", energy->drivers);
  real(line, "dissipated_normal", energy->normal);
  real(line, "dissipated_friction", energy->friction);
  real(line, "dissipated_viscous", energy->viscous);
  real(line, "dissipated_plastic", energy->plastic);
  real(line, "scheme", energy->scheme);
  real(line, "push", energy->push);
  real(line, "closing", energy->closing);
  if (sent) {
    real(line, "messages", sent->messages);
    real(line, "bytes", sent->bytes);
    real(line, "synchronisations", sent->synchronisations);
    real(line, "imbalance", sent->imbalance);
  }
  for (int k = 0; k < sensors->columns; ++k) real(line, sensors->names[k], sensors->values[k]);
  real(line, "seconds_detect", report->seconds_detect);
  real(line, "seconds_build", report->seconds_build);
  real(line, "seconds_solve", report->seconds_solve);
  real(line, "seconds_move", report->seconds_move);
  real(line, "seconds_certify", report->seconds_certify);
  memcpy(line->text + line->length, "}\n", 2);
  line->length += 2;
}

scree_Status scree_telemetry_add(scree_Telemetry *telemetry, const scree_StepReport *report,
                                 int bodies, const scree_RunSent *sent,
                                 const scree_Sensors *sensors, const scree_Log *log) {
  Line line;
  write_line(&line, report, bodies, sent, sensors);
  void *array = telemetry->waiting;
  if (!scree_grow(&array, &telemetry->capacity, telemetry->count + line.length, 1))
    return scree_fail_memory(log, telemetry->path);
  telemetry->waiting = array;
  memcpy(telemetry->waiting + telemetry->count, line.text, line.length);
  telemetry->count += line.length;
  telemetry->length += (int64_t)line.length;
  return telemetry->count < WAITING_MAX ? SCREE_OK : scree_telemetry_flush(telemetry, false, log);
}

scree_Status scree_telemetry_flush(scree_Telemetry *telemetry, bool sync, const scree_Log *log) {
  int error = scree_write_all(telemetry->file, telemetry->waiting, telemetry->count);
  telemetry->count = 0;
  if (!error && sync && fdatasync(telemetry->file) != 0 && errno != EINVAL && errno != ENOTSUP)
    error = errno;
  if (!error) return SCREE_OK;
  return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", telemetry->path,
                    strerror(error));
}

void scree_telemetry_close(scree_Telemetry *telemetry) {
  if (telemetry->file >= 0) (void)close(telemetry->file);
  telemetry->file = -1;
  scree_free(telemetry->waiting);
  telemetry->waiting = NULL;
}
