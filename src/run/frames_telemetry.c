/* Curves and certificate (see frames_telemetry.h). Energy flows are recorded per step and summed
 * here; quantities that exist per frame only (coordination, packing, contacts by status) are
 * interpolated linearly. */
#include "run/frames_telemetry.h"

#include "core/log.h"
#include "core/memory.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CURVES = 26, SENSOR_COLUMNS = SCREE_REPLAY_CURVES - CURVES - 8 };

/* The keys that are read from a line. Of a list the first two numbers are kept, or the first one.
 */
typedef struct Row {
  double step, time, contacts, error, tolerance, penetration, iterations, kinetic, potential;
  double elastic, work_forces, work_drivers, normal, friction, viscous, plastic, scheme, push,
      closing;
  double detect, build, solve, move, certify;
  double certified, created, energy_limit, penetration_limit, creep, creep_limit;
  double worst[2], deepest[2];
} Row;

static const struct {
  const char *key;
  size_t at;
  int numbers; /* to keep */
} keys[] = {
    {"step", offsetof(Row, step), 1},
    {"time", offsetof(Row, time), 1},
    {"contacts", offsetof(Row, contacts), 1},
    {"error", offsetof(Row, error), 1},
    {"tolerance", offsetof(Row, tolerance), 1},
    {"penetration", offsetof(Row, penetration), 1},
    {"iterations", offsetof(Row, iterations), 1},
    {"kinetic", offsetof(Row, kinetic), 1},
    {"potential", offsetof(Row, potential), 1},
    {"elastic", offsetof(Row, elastic), 1},
    {"work_forces", offsetof(Row, work_forces), 1},
    {"work_drivers", offsetof(Row, work_drivers), 1},
    {"dissipated_normal", offsetof(Row, normal), 1},
    {"dissipated_friction", offsetof(Row, friction), 1},
    {"dissipated_viscous", offsetof(Row, viscous), 1},
    {"dissipated_plastic", offsetof(Row, plastic), 1},
    {"scheme", offsetof(Row, scheme), 1},
    {"push", offsetof(Row, push), 1},
    {"closing", offsetof(Row, closing), 1},
    {"seconds_detect", offsetof(Row, detect), 1},
    {"seconds_build", offsetof(Row, build), 1},
    {"seconds_solve", offsetof(Row, solve), 1},
    {"seconds_move", offsetof(Row, move), 1},
    {"seconds_certify", offsetof(Row, certify), 1},
    {"certified", offsetof(Row, certified), 1},
    {"energy_created", offsetof(Row, created), 1},
    {"energy_limit", offsetof(Row, energy_limit), 1},
    {"penetration_limit", offsetof(Row, penetration_limit), 1},
    {"creep", offsetof(Row, creep), 1},
    {"creep_limit", offsetof(Row, creep_limit), 1},
    {"worst_body", offsetof(Row, worst), 2},
    {"deepest_body", offsetof(Row, deepest), 2},
};

/* Columns of sensors: there are as many as the lines name, up to a limit. */
typedef struct Sensors {
  int count;
  bool dropped; /* there were more, or names too long to keep */
  char name[SENSOR_COLUMNS][sizeof((scree_ReplayCurve *)0)->name];
  double *values[SENSOR_COLUMNS]; /* (rows) NAN where a line has none */
  size_t capacity[SENSOR_COLUMNS];
} Sensors;

/* ---- a line of JSON -------------------------------------------------------------------------- */

static const char *skip_space(const char *at) {
  while (*at == ' ' || *at == '\t') ++at;
  return at;
}

/* Past a text that begins at its quote; null when it does not end. */
static const char *skip_text(const char *at) {
  for (++at; *at && *at != '"'; ++at)
    if (*at == '\\' && at[1]) ++at;
  return *at ? at + 1 : NULL;
}

/* A number, true, false or null (NAN); null pointer when it is none of these. */
static const char *take_number(const char *at, double *value) {
  static const struct {
    const char *word;
    double value;
  } words[] = {{"true", 1.0}, {"false", 0.0}, {"null", NAN}};
  for (size_t k = 0; k < 3; ++k)
    if (strncmp(at, words[k].word, strlen(words[k].word)) == 0) {
      *value = words[k].value;
      return at + strlen(words[k].word);
    }
  char *end;
  *value = strtod(at, &end);
  return end == at ? NULL : end;
}

/* One value of any flat kind; up to two numbers are stored. */
static const char *take_value(const char *at, double values[2], int *count) {
  *count = 0;
  if (*at == '"') return skip_text(at);
  if (*at != '[') {
    *count = 1;
    return take_number(at, values);
  }
  at = skip_space(at + 1);
  while (at && *at != ']') {
    double value = NAN;
    at = *at == '"' ? skip_text(at) : take_number(at, &value);
    if (!at) return NULL;
    if (*count < 2) values[(*count)++] = value;
    at = skip_space(at);
    if (*at == ',')
      at = skip_space(at + 1);
    else if (*at != ']')
      return NULL;
  }
  return at ? at + 1 : NULL;
}

/* Keep the value of a key that begins with "sensor."; false when memory runs out. */
static bool keep_sensor(Sensors *sensors, const char *key, size_t length, size_t row,
                        double value) {
  if (length >= sizeof sensors->name[0]) {
    sensors->dropped = true;
    return true;
  }
  int k = 0;
  while (k < sensors->count &&
         (strncmp(sensors->name[k], key, length) != 0 || sensors->name[k][length] != 0))
    ++k;
  if (k == SENSOR_COLUMNS) {
    sensors->dropped = true;
    return true;
  }
  const size_t old = sensors->capacity[k];
  if (!scree_grow((void **)&sensors->values[k], &sensors->capacity[k], row + 1, sizeof(double)))
    return false;
  for (size_t i = old; i < sensors->capacity[k]; ++i) sensors->values[k][i] = NAN;
  if (k == sensors->count) {
    memcpy(sensors->name[k], key, length);
    ++sensors->count;
  }
  sensors->values[k][row] = value;
  return true;
}

/* True when the line is a whole object, row number `number`. */
static bool parse_row(const char *line, size_t number, Row *row, Sensors *sensors) {
  for (size_t k = 0; k < sizeof keys / sizeof *keys; ++k)
    *(double *)((char *)row + keys[k].at) = NAN;
  row->worst[0] = row->worst[1] = row->deepest[0] = row->deepest[1] = -1.0;
  const char *at = skip_space(line);
  if (*at++ != '{') return false;
  for (at = skip_space(at); *at == '"';) {
    const char *key = at + 1, *end = skip_text(at);
    if (!end) return false;
    at = skip_space(end);
    if (*at++ != ':') return false;
    double values[2];
    int count;
    at = take_value(skip_space(at), values, &count);
    if (!at) return false;
    const size_t length = (size_t)(end - 1 - key);
    if (count == 1 && length > 7 && strncmp(key, "sensor.", 7) == 0 &&
        !keep_sensor(sensors, key, length, number, values[0]))
      return false;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; ++k)
      if (strlen(keys[k].key) == length && strncmp(keys[k].key, key, length) == 0)
        memcpy((char *)row + keys[k].at, values,
               (size_t)(count < keys[k].numbers ? count : keys[k].numbers) * sizeof(double));
    at = skip_space(at);
    if (*at == ',') at = skip_space(at + 1);
  }
  return *at == '}' && isfinite(row->time);
}

/* What has been read of the file. The last line is kept to see whether the file still begins with
 * these lines: a run that is resumed writes those after its checkpoint again. */
struct scree_TelemetryLines {
  Row *rows;
  size_t count, capacity;
  Sensors sensors;
  long end; /* behind the last whole line */
  char *last;
  size_t last_length, last_capacity;
};

void scree_telemetry_forget(scree_TelemetryLines *lines) {
  if (!lines) return;
  for (int k = 0; k < lines->sensors.count; ++k) scree_free(lines->sensors.values[k]);
  scree_free(lines->rows);
  scree_free(lines->last);
  scree_free(lines);
}

/* The next line without its end, as long as it is whole; false at the end of the file. */
static bool next_line(FILE *file, char **line, size_t *capacity, size_t *length, bool *memory) {
  int c = EOF;
  *length = 0;
  while (*memory && (c = fgetc(file)) != EOF && c != '\n') {
    *memory = scree_grow((void **)line, capacity, *length + 2, 1);
    if (*memory) (*line)[(*length)++] = (char)c;
  }
  *memory = *memory && scree_grow((void **)line, capacity, *length + 2, 1);
  if (*memory) (*line)[*length] = 0;
  return *memory && c == '\n';
}

/* Whether the file has the last line where it was. */
static bool goes_on(FILE *file, const scree_TelemetryLines *lines) {
  const long begin = lines->end - (long)lines->last_length - 1;
  if (lines->count == 0 || fseek(file, begin, SEEK_SET) != 0) return false;
  for (size_t k = 0; k < lines->last_length; ++k)
    if (fgetc(file) != (unsigned char)lines->last[k]) return false;
  return fgetc(file) == '\n';
}

/* Lines behind those that are known. A last line without an end is left for the next time, unless
 * it is a whole object: then it counts, but is read again. */
static scree_Status read_lines(const char *path, const scree_Log *log, scree_TelemetryLines *lines,
                               int *count) {
  FILE *file = fopen(path, "rb");
  *count = 0;
  if (!file) return SCREE_OK;
  char *line = NULL;
  size_t capacity = 0, length = 0, used = lines->count;
  bool memory = fseek(file, lines->end, SEEK_SET) == 0, whole = true;
  while (whole && memory) {
    whole = next_line(file, &line, &capacity, &length, &memory);
    memory = memory &&
             scree_grow((void **)&lines->rows, &lines->capacity, used + 1, sizeof *lines->rows);
    if (!memory) break;
    const bool good = length > 0 && parse_row(line, used, &lines->rows[used], &lines->sensors);
    used += good;
    if (!whole) break;
    lines->end = ftell(file);
    lines->count = used;
    memory = scree_grow((void **)&lines->last, &lines->last_capacity, length + 1, 1);
    if (memory) memcpy(lines->last, line, length);
    lines->last_length = length;
  }
  fclose(file);
  scree_free(line);
  *count = used < INT32_MAX ? (int)used : INT32_MAX;
  return memory ? SCREE_OK : scree_fail_memory(log, "telemetry");
}

/* ---- curves ---------------------------------------------------------------------------------- */

static double zero_nan(double x) {
  return isnan(x) ? 0.0 : x;
}

static bool add_curves(scree_Replay *replay, const Row *rows) {
  double *time = scree_replay_add_curve(replay, "time", false);
  double *step = scree_replay_add_curve(replay, "step", false);
  double *kinetic = scree_replay_add_curve(replay, "kinetic", false);
  double *potential = scree_replay_add_curve(replay, "potential", false);
  double *total = scree_replay_add_curve(replay, "total", false);
  double *dissipated = scree_replay_add_curve(replay, "dissipated", false);
  double *work = scree_replay_add_curve(replay, "work", false);
  double *missing = scree_replay_add_curve(replay, "energy_error", false);
  double *contacts = scree_replay_add_curve(replay, "contacts", true);
  double *error = scree_replay_add_curve(replay, "error", true);
  double *tolerance = scree_replay_add_curve(replay, "tolerance", false);
  double *iterations = scree_replay_add_curve(replay, "iterations", true);
  double *penetration = scree_replay_add_curve(replay, "penetration", true);
  double *seconds = scree_replay_add_curve(replay, "seconds", true);
  double *solve = scree_replay_add_curve(replay, "seconds_solve", true);
  double *detect = scree_replay_add_curve(replay, "seconds_detect", true);
  double *normal = scree_replay_add_curve(replay, "dissipated_normal", false);
  double *friction = scree_replay_add_curve(replay, "dissipated_friction", false);
  double *elastic = scree_replay_add_curve(replay, "elastic", false);
  double *viscous = scree_replay_add_curve(replay, "dissipated_viscous", false);
  double *plastic = scree_replay_add_curve(replay, "dissipated_plastic", false);
  double *forces = scree_replay_add_curve(replay, "work_forces", false);
  double *drivers = scree_replay_add_curve(replay, "work_drivers", false);
  double *put_in = scree_replay_add_curve(replay, "put_in", false);
  double *created = scree_replay_add_curve(replay, "energy_created", false);
  double *creep = scree_replay_add_curve(replay, "creep", false);
  if (!creep || replay->curve_count != CURVES) return false;
  assert(rows || replay->rows == 0);
  double sum_normal = 0.0, sum_friction = 0.0, sum_forces = 0.0, sum_drivers = 0.0, gap = 0.0;
  double sum_put_in = 0.0, sum_viscous = 0.0, sum_plastic = 0.0;
  for (int k = 0; k < replay->rows; ++k) {
    const Row *row = &rows[k];
    sum_normal += zero_nan(row->normal);
    sum_friction += zero_nan(row->friction);
    sum_viscous += zero_nan(row->viscous);
    sum_plastic += zero_nan(row->plastic);
    sum_forces += zero_nan(row->work_forces);
    sum_drivers += zero_nan(row->work_drivers);
    sum_put_in += zero_nan(row->scheme) + zero_nan(row->push);
    gap += fabs(zero_nan(row->closing));
    put_in[k] = sum_put_in;
    created[k] = row->created;
    creep[k] = zero_nan(row->creep);
    time[k] = row->time;
    step[k] = row->step;
    kinetic[k] = row->kinetic;
    potential[k] = row->potential;
    elastic[k] = zero_nan(row->elastic);
    total[k] = row->kinetic + row->potential + elastic[k];
    viscous[k] = sum_viscous;
    plastic[k] = sum_plastic;
    normal[k] = sum_normal;
    friction[k] = sum_friction;
    forces[k] = sum_forces;
    drivers[k] = sum_drivers;
    dissipated[k] = sum_normal + sum_friction + sum_viscous + sum_plastic;
    work[k] = sum_forces + sum_drivers;
    missing[k] = gap;
    contacts[k] = row->contacts;
    error[k] = row->error;
    tolerance[k] = row->tolerance;
    iterations[k] = row->iterations;
    penetration[k] = row->penetration;
    solve[k] = row->solve;
    detect[k] = row->detect;
    seconds[k] = zero_nan(row->detect) + zero_nan(row->build) + zero_nan(row->solve) +
                 zero_nan(row->move) + zero_nan(row->certify);
  }
  return true;
}

static bool add_sensors(scree_Replay *replay, const Sensors *sensors) {
  for (int k = 0; k < sensors->count; ++k) {
    double *curve = scree_replay_add_curve(replay, sensors->name[k], false);
    if (!curve) return false;
    for (int row = 0; row < replay->rows; ++row)
      curve[row] = (size_t)row < sensors->capacity[k] ? sensors->values[k][row] : NAN;
  }
  if (sensors->dropped && !replay->note[0])
    snprintf(replay->note, sizeof replay->note,
             "Of the sensors, %d columns are kept, with names of at most %zu bytes.",
             SENSOR_COLUMNS, sizeof sensors->name[0] - 8);
  return true;
}

/* Values at the frames, joined by straight lines, at the times of the rows. */
static void join(const scree_Replay *replay, const double *values, const double *times,
                 double *out) {
  int k = 0;
  for (int row = 0; row < replay->rows; ++row) {
    while (k + 1 < replay->frame_count && replay->times[k + 1] < times[row]) ++k;
    const int next = k + 1 < replay->frame_count ? k + 1 : k;
    const double span = replay->times[next] - replay->times[k];
    const double part = span > 0.0 ? (times[row] - replay->times[k]) / span : 0.0;
    out[row] = values[k] + fmin(fmax(part, 0.0), 1.0) * (values[next] - values[k]);
  }
}

/* Analysis of the frames. A dataset that is absent has no curve. */
static scree_Status add_analysis(scree_Replay *replay, const scree_H5 *h5) {
  static const char *const names[] = {
      "open", "stick", "slip", "coordination", "coordination_touching", "packing_fraction"};
  if (replay->frame_count == 0 || replay->rows == 0) return SCREE_OK;
  double *values = SCREE_ALLOC(double, replay->frame_count);
  if (!values) return scree_fail_memory(replay->log, "curves");
  scree_Status status = SCREE_OK;
  for (size_t k = 0; status == SCREE_OK && k < sizeof names / sizeof *names; ++k) {
    char name[64];
    size_t count = 0;
    snprintf(name, sizeof name, "/analysis/%s", names[k]);
    if (!scree_h5_has(h5, name) || scree_h5_count(h5, name, &count) != SCREE_OK ||
        count != (size_t)replay->frame_count)
      continue;
    const hid_t data = H5Dopen2(h5->file, name, H5P_DEFAULT);
    const bool good =
        data >= 0 && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    if (data >= 0) H5Dclose(data);
    double *curve = good ? scree_replay_add_curve(replay, names[k], false) : NULL;
    if (good && !curve) status = scree_fail_memory(replay->log, "curves");
    if (curve) join(replay, values, replay->curves[0].values, curve);
  }
  scree_free(values);
  return status;
}

/* ---- certificate ----------------------------------------------------------------------------- */

/* A damaged file may contain any number: a value that is not a count becomes -1. */
static int64_t whole(double x) {
  return x >= 0.0 && x < 9e15 ? (int64_t)x : -1;
}

static int body_of(double x) {
  return x >= 0.0 && x < (double)INT32_MAX ? (int)x : -1;
}

static void certify(scree_Replay *replay, const Row *rows) {
  scree_ReplayCertificate *c = &replay->certificate;
  double scale = 0.0, low = INFINITY, high = -INFINITY, gap = 0.0;
  assert(rows || replay->rows == 0);
  c->steps = replay->rows;
  c->error = c->penetration = -INFINITY;
  for (int k = 0; k < replay->rows; ++k) {
    const Row *row = &rows[k];
    const bool above = row->certified == 0.0 || row->error > row->tolerance || isnan(row->error);
    c->above += above;
    if (above && !c->first_above) c->first_above = whole(row->step);
    if (row->error > c->error) {
      c->error = row->error;
      c->error_step = whole(row->step);
      c->worst[0] = body_of(row->worst[0]), c->worst[1] = body_of(row->worst[1]);
    }
    if (row->penetration > c->penetration) {
      c->penetration = row->penetration;
      c->penetration_step = whole(row->step);
      c->deepest[0] = body_of(row->deepest[0]), c->deepest[1] = body_of(row->deepest[1]);
    }
    if (row->tolerance == row->tolerance) c->tolerance = row->tolerance;
    c->energy_created = row->created;
    c->energy_limit = row->energy_limit;
    c->creep = row->creep;
    c->creep_limit = row->creep_limit;
    c->penetration_limit = row->penetration_limit;
    if (row->contacts > c->contacts_max) c->contacts_max = body_of(row->contacts);
    /* Potential energy has no natural zero: its range is used. */
    scale = fmax(scale, zero_nan(row->kinetic));
    low = fmin(low, row->potential), high = fmax(high, row->potential);
    gap += fabs(zero_nan(row->closing));
    c->seconds += zero_nan(row->detect) + zero_nan(row->build) + zero_nan(row->solve) +
                  zero_nan(row->move) + zero_nan(row->certify);
  }
  if (high > low) scale = fmax(scale, high - low);
  if (scale > 0.0) c->energy_error = gap / scale;
  if (c->error < 0.0) c->error = 0.0;
  if (c->penetration < 0.0) c->penetration = 0.0;
  if (c->worst[0] < 0 || c->worst[1] < 0) c->worst[0] = c->worst[1] = -1;
  if (c->deepest[0] < 0 || c->deepest[1] < 0) c->deepest[0] = c->deepest[1] = -1;
}

/* The lines that are known are those of the file, or there are none. */
static bool begin_lines(scree_Replay *replay, const char *path) {
  if (replay->telemetry) {
    FILE *file = fopen(path, "rb");
    const bool same = file && goes_on(file, replay->telemetry);
    if (file) fclose(file);
    if (same) return true;
    scree_telemetry_forget(replay->telemetry);
  }
  replay->telemetry = SCREE_ALLOC(scree_TelemetryLines, 1);
  return replay->telemetry != NULL;
}

scree_Status scree_replay_read_telemetry(scree_Replay *replay, const char *directory,
                                         const scree_H5 *h5) {
  char *path = SCREE_ALLOC(char, strlen(directory) + 32);
  if (!path) return scree_fail_memory(replay->log, "telemetry");
  sprintf(path, "%s/telemetry.jsonl", directory);
  scree_Status status = begin_lines(replay, path)
                            ? read_lines(path, replay->log, replay->telemetry, &replay->rows)
                            : scree_fail_memory(replay->log, "telemetry");
  scree_free(path);
  if (status != SCREE_OK) return status;
  const Row *rows = replay->telemetry->rows;
  if (replay->rows > 0) {
    if (!add_curves(replay, rows) || !add_sensors(replay, &replay->telemetry->sensors))
      return scree_fail_memory(replay->log, "curves");
    certify(replay, rows);
  } else if (replay->frame_count > 0) {
    snprintf(replay->note, sizeof replay->note, "There is no telemetry: no step is certified.");
    replay->rows = replay->frame_count;
    double *time = scree_replay_add_curve(replay, "time", false);
    if (!time) return scree_fail_memory(replay->log, "curves");
    memcpy(time, replay->times, (size_t)replay->rows * sizeof *time);
  }
  return add_analysis(replay, h5);
}
