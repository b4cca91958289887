/* The quantities of a run that are compared, as means over equal intervals of time (see
 * converge.h): energies and sensors from the telemetry, which has every step; centre of mass and
 * profiles from the saved frames.
 *
 * Profiles are along the height. A body counts in the two bins whose middles are nearest to its
 * centre, in proportion to its distance from these, so that a profile changes by a little when
 * bodies move by a little: counting whole bodies in bins would jump. */
#include "core/log.h"
#include "core/memory.h"
#include "run/converge.h"
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = SCREE_CONVERGE_INTERVALS, BINS = SCREE_CONVERGE_BINS };

/* Where nothing moves there are no scales to take from the motion: the floors, as parts of those
 * that weight and size of the bodies give. */
static const struct {
  double energy;   /* of total weight times mean size */
  double velocity; /* of the velocity after falling by half of the mean size */
} floors = {1e-2, 1e-2};

/* ---- means over intervals -------------------------------------------------------------------- */

/* Add the integral of a straight line from (t0, y0) to (t1, y1) to the intervals it crosses. */
static void add_segment(double t0, double y0, double t1, double y1, double end, int count,
                        double *sums) {
  if (!(t1 > t0)) return;
  const double width = end / count, slope = (y1 - y0) / (t1 - t0);
  int k = (int)fmin(fmax(floor(t0 / width), 0.0), count - 1.0);
  for (; k < count; ++k) {
    const double from = fmax(t0, k * width), to = fmin(t1, (k + 1) * width);
    /* rounding of the edges must not carry a NAN into a neighbour */
    if (to - from > 1e-9 * width) sums[k] += (to - from) * (y0 + slope * (0.5 * (from + to) - t0));
    if (t1 <= (k + 1) * width) break;
  }
}

void scree_converge_means(const double *t, const double *y, size_t n, bool rate, double end,
                          int count, double *means) {
  for (int k = 0; k < count; ++k) means[k] = n ? 0.0 : NAN;
  if (n == 0) return;
  add_segment(0.0, y[0], fmin(t[0], end), y[0], end, count, means);
  for (size_t i = 1; i < n && t[i - 1] < end; ++i) {
    const double to = fmin(t[i], end), part = (to - t[i - 1]) / (t[i] - t[i - 1]);
    if (!(t[i] > t[i - 1])) continue;
    const double y1 = rate ? y[i] : part < 1.0 ? y[i - 1] + part * (y[i] - y[i - 1]) : y[i];
    add_segment(t[i - 1], rate ? y[i] : y[i - 1], to, y1, end, count, means);
  }
  add_segment(t[n - 1], y[n - 1], end, y[n - 1], end, count, means);
  for (int k = 0; k < count; ++k) means[k] *= count / end;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* A run being taken. */
typedef struct Taking {
  scree_Replay *replay;
  scree_ConvergeRun *run;
  double end;
  int groups;
  bool periodic;              /* the scene is a periodic cell */
  double size, mass, gravity; /* mean size and total mass of all bodies that come; |g| */
  double *time, *work;        /* (rows + 1): 0, then the rows; work for one curve */
} Taking;

static scree_ConvergeSeries *add(Taking *taking, const char *name, const char *unit,
                                 int components) {
  scree_ConvergeRun *run = taking->run;
  if (run->count == SCREE_CONVERGE_SERIES) return NULL;
  scree_ConvergeSeries *s = &run->series[run->count];
  *s = (scree_ConvergeSeries){
      .unit = unit, .components = components, .group = taking->groups, .judged = true};
  snprintf(s->name, sizeof s->name, "%s", name);
  s->values = SCREE_ALLOC(double, N *components);
  if (!s->values) return NULL;
  ++run->count;
  return s;
}

static double largest(const scree_ConvergeSeries *s) {
  double most = 0.0;
  for (int i = 0; i < N * s->components; ++i)
    if (fabs(s->values[i]) > most) most = fabs(s->values[i]);
  return most;
}

static double range(const scree_ConvergeSeries *s) {
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < N * s->components; ++i)
    low = fmin(low, s->values[i]), high = fmax(high, s->values[i]);
  return high > low ? high - low : 0.0;
}

/* A curve of the telemetry with its value at time 0 before it; NAN: not known. A state then goes on
 * backwards as it begins: the first value held for a whole step would be an error of its own. */
static scree_ConvergeSeries *add_curve(Taking *taking, const char *curve_name, const char *unit,
                                       bool rate, double start) {
  const scree_Replay *replay = taking->replay;
  const scree_ReplayCurve *curve = scree_replay_curve(replay, curve_name);
  scree_ConvergeSeries *s = add(taking, curve_name, unit, 1);
  if (!s) return NULL;
  const double *t = taking->time;
  if (curve && isnan(start) && !rate && replay->rows > 1)
    start = curve->values[0] - (curve->values[1] - curve->values[0]) * t[1] / (t[2] - t[1]);
  const bool started = !isnan(start);
  if (curve) {
    taking->work[0] = start;
    memcpy(taking->work + 1, curve->values, (size_t)replay->rows * sizeof(double));
  }
  scree_converge_means(taking->time + !started, taking->work + !started,
                       curve ? (size_t)replay->rows + started : 0, rate, taking->end, N, s->values);
  return s;
}

/* ---- energies -------------------------------------------------------------------------------- */

/* The energy turned over: initial energy, and energy passed through contacts, forces and drivers.
 */
static double turned_over(const scree_Replay *replay, double end) {
  static const char *const names[] = {
      "kinetic",           "work_forces",         "work_drivers",
      "dissipated_normal", "dissipated_friction", "dissipated_viscous",
      "dissipated_plastic"};
  const scree_ReplayCurve *time = scree_replay_curve(replay, "time");
  double most = 0.0;
  for (int row = 0; time && row < replay->rows && time->values[row] <= end; ++row) {
    double sum = 0.0;
    for (int k = 0; k < 7; ++k) {
      const scree_ReplayCurve *curve = scree_replay_curve(replay, names[k]);
      if (curve && isfinite(curve->values[row])) sum += fabs(curve->values[row]);
    }
    most = fmax(most, sum);
  }
  return most;
}

static bool take_energies(Taking *taking) {
  static const char *const sums[] = {"work_forces", "work_drivers", "dissipated_normal",
                                     "dissipated_friction"};
  const double floor = floors.energy * taking->mass * taking->gravity * taking->size;
  double start = NAN;
  (void)scree_replay_analysis(taking->replay, "kinetic", 0, &start);
  scree_ConvergeSeries *kinetic = add_curve(taking, "kinetic", "J", false, start);
  ++taking->groups;
  start = NAN;
  (void)scree_replay_analysis(taking->replay, "potential", 0, &start);
  scree_ConvergeSeries *potential = add_curve(taking, "potential", "J", false, start);
  ++taking->groups;
  if (!kinetic || !potential) return false;
  /* Potential energy has no zero of its own: its change since the start counts. */
  if (isnan(start)) start = potential->values[0];
  for (int k = 0; k < N; ++k) potential->values[k] -= start;
  kinetic->reference = largest(kinetic);
  potential->reference = fmax(range(potential), kinetic->reference);
  kinetic->floor = potential->floor = floor;
  const double all = turned_over(taking->replay, taking->end);
  for (int k = 0; k < 4; ++k) {
    scree_ConvergeSeries *s = add_curve(taking, sums[k], "J", false, 0.0);
    if (!s) return false;
    s->reference = all;
    s->floor = floor;
  }
  ++taking->groups;
  return true;
}

/* ---- sensors --------------------------------------------------------------------------------- */

static bool take_sensor(Taking *taking, const scree_Sensor *sensor) {
  static const char *const parts[] = {"", ".x", ".y", ".z"}; /* profiles are not compared */
  const scree_SensorKind kind = sensor->kind;
  const bool rate = kind == SCREE_SENSOR_FORCE || kind == SCREE_SENSOR_FLUX;
  /* positions have no natural zero */
  const bool place =
      kind == SCREE_SENSOR_POSITION || kind == SCREE_SENSOR_DISTANCE || kind == SCREE_SENSOR_HEIGHT;
  for (int k = 0; k < 4; ++k) {
    char name[64];
    snprintf(name, sizeof name, "sensor.%s%s", sensor->name, parts[k]);
    if (!scree_replay_curve(taking->replay, name)) continue;
    scree_ConvergeSeries *s = add_curve(taking, name, scree_sensor_unit_of(sensor), rate, NAN);
    if (!s) return false;
    s->reference = place ? range(s) : largest(s);
    const double weight = taking->mass * taking->gravity;
    s->floor = place ? taking->size
               : kind == SCREE_SENSOR_VELOCITY
                   ? floors.velocity * sqrt(taking->gravity * taking->size)
               : kind == SCREE_SENSOR_KINETIC_ENERGY ? floors.energy * weight * taking->size
                                                     : 0.0;
  }
  ++taking->groups;
  return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

scree_Status scree_converge_profile(scree_Replay *replay, scree_ConvergeProfile *profile) {
  scree_ReplayExtent extent;
  const scree_Status status = scree_replay_extent(replay, -1, &extent);
  if (status != SCREE_OK) return status;
  *profile = (scree_ConvergeProfile){{extent.up[0], extent.up[1], extent.up[2]}, 0.0, 0.0};
  for (int c = 0; c < 3; ++c) {
    const double a = extent.up[c] * extent.lower[c], b = extent.up[c] * extent.upper[c];
    profile->low += fmin(a, b);
    profile->high += fmax(a, b);
  }
  if (!(profile->high > profile->low)) profile->high = profile->low + extent.length;
  return SCREE_OK;
}

/* Columns of one frame: centre (3), mass of each bin, momentum of each bin (BINS x dimension). */
enum { CENTRE = 0, MASS = 3, MOMENTUM = 3 + BINS, COLUMNS = 3 + BINS + 3 * BINS };

/* Add the mass of a body at x to its two bins and, with a velocity, the momentum. */
static void add_to_bins(const scree_ConvergeProfile *profile, int dimension, double mass,
                        const double *x, const double *v, double *columns) {
  double height = 0.0;
  for (int c = 0; c < 3; ++c) height += profile->up[c] * x[c];
  const double place = fmin(
      fmax((height - profile->low) / (profile->high - profile->low) * BINS - 0.5, 0.0), BINS - 1.0);
  const int bin = place < BINS - 1 ? (int)place : BINS - 2;
  const double share[2] = {1.0 - (place - bin), place - bin};
  for (int side = 0; side < 2; ++side) {
    if (!v) columns[MASS + bin + side] += share[side] * mass;
    for (int c = 0; v && c < dimension; ++c)
      columns[MOMENTUM + (bin + side) * dimension + c] += share[side] * mass * v[c];
  }
}

/* Momentum of a body since the frame before, from the way it went, half of it at each end. Its
 * velocities in the frames would not do: frames are many steps apart, and an impact that comes one
 * step before or after a frame would count like one that is as early or late as frames are apart.
 * In a periodic cell bodies leave on one side and come in on the other: there these must do. */
static void add_momentum(const Taking *taking, const scree_ConvergeProfile *profile, int i,
                         const scree_ReplayFrame *before, const scree_ReplayFrame *frame,
                         double span, double *columns) {
  const double mass = taking->replay->bodies[i].mass;
  const double *x = frame->position + 3 * i, *v = frame->velocity + 3 * i;
  double way[3];
  if (taking->periodic) {
    add_to_bins(profile, taking->replay->dimension, mass, x, v, columns);
    return;
  }
  if (!(span > 0.0) || i >= before->bodies || !before->present[i]) return;
  const double *from = before->position + 3 * i;
  for (int c = 0; c < 3; ++c) way[c] = (x[c] - from[c]) / span;
  add_to_bins(profile, taking->replay->dimension, 0.5 * mass, from, way, columns);
  add_to_bins(profile, taking->replay->dimension, 0.5 * mass, x, way, columns);
}

/* All frames: table (frames x COLUMNS). Mass as part of the whole; momentum over the mass that a
 * bin has on average, a velocity that needs no division by the mass of an empty bin. */
static scree_Status read_frames(Taking *taking, const scree_ConvergeProfile *profile,
                                double *table) {
  scree_Replay *replay = taking->replay;
  scree_ReplayFrame frames[2] = {{.bodies_only = true}, {.bodies_only = true}};
  scree_Status status = SCREE_OK;
  for (int f = 0; status == SCREE_OK && f < replay->frame_count; ++f) {
    scree_ReplayFrame *frame = &frames[f % 2];
    const scree_ReplayFrame *before = &frames[(f + 1) % 2];
    const double span = f > 0 ? replay->times[f] - replay->times[f - 1] : 0.0;
    double *columns = table + (size_t)f * COLUMNS, mass = 0.0;
    status = scree_replay_read(replay, f, frame);
    if (status != SCREE_OK) break;
    for (int i = 0; i < frame->bodies; ++i) {
      const scree_ReplayBody *body = &replay->bodies[i];
      if (body->obstacle || !frame->present[i]) continue;
      const double *x = frame->position + 3 * i;
      mass += body->mass;
      for (int c = 0; c < 3; ++c) columns[CENTRE + c] += body->mass * x[c];
      add_to_bins(profile, replay->dimension, body->mass, x, NULL, columns);
      add_momentum(taking, profile, i, before, frame, span, columns);
    }
    for (int c = 0; c < COLUMNS; ++c)
      columns[c] = mass > 0.0 ? columns[c] / (c < MOMENTUM ? mass : mass / BINS) : NAN;
  }
  scree_replay_frame_fini(&frames[0]);
  scree_replay_frame_fini(&frames[1]);
  return status;
}

/* Means of `components` columns of the table from `first` on. `rate`: each value is the mean since
 * the frame before. */
static scree_ConvergeSeries *add_columns(Taking *taking, const char *name, const char *unit,
                                         int first, int components, bool rate,
                                         const double *table) {
  const scree_Replay *replay = taking->replay;
  const size_t frames = (size_t)replay->frame_count;
  scree_ConvergeSeries *s = add(taking, name, unit, components);
  double *column = s ? SCREE_ALLOC(double, frames) : NULL, means[N];
  if (!column) return NULL;
  for (int c = 0; c < components; ++c) {
    for (size_t f = 0; f < frames; ++f) column[f] = table[f * COLUMNS + (size_t)(first + c)];
    scree_converge_means(replay->times, column, frames, rate, taking->end, N, means);
    for (int k = 0; k < N; ++k) s->values[k * components + c] = means[k];
  }
  scree_free(column);
  return s;
}

static bool take_columns(Taking *taking, const double *table) {
  static const char *const centres[] = {"centre.x", "centre.y", "centre.z"};
  const int dimension = taking->replay->dimension;
  for (int c = 0; c < dimension; ++c) {
    scree_ConvergeSeries *s = add_columns(taking, centres[c], "m", CENTRE + c, 1, false, table);
    if (!s) return false;
    s->reference = range(s);
    s->floor = taking->size;
  }
  ++taking->groups;
  scree_ConvergeSeries *s = add_columns(taking, "mass_profile", "", MASS, BINS, false, table);
  if (!s) return false;
  s->reference = largest(s);
  ++taking->groups;
  s = add_columns(taking, "velocity_profile", "m/s", MOMENTUM, BINS * dimension, !taking->periodic,
                  table);
  if (!s) return false;
  s->reference = largest(s);
  s->floor = floors.velocity * sqrt(taking->gravity * taking->size);
  ++taking->groups;
  return true;
}

static scree_Status take_frames(Taking *taking, const scree_ConvergeProfile *profile) {
  double *table = SCREE_ALLOC(double, (size_t)taking->replay->frame_count *COLUMNS);
  if (!table) return scree_fail_memory(taking->replay->log, "the profiles of a run");
  scree_Status status = read_frames(taking, profile, table);
  if (status == SCREE_OK && !take_columns(taking, table))
    status = scree_fail_memory(taking->replay->log, "the profiles of a run");
  scree_free(table);
  return status;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void find_scales(Taking *taking) {
  const scree_Replay *replay = taking->replay;
  int bodies = 0;
  for (int i = 0; i < replay->body_count; ++i) {
    if (replay->bodies[i].obstacle) continue;
    taking->size += replay->bodies[i].shape.size;
    taking->mass += replay->bodies[i].mass;
    ++bodies;
  }
  if (bodies) taking->size /= bodies;
  const double *g = replay->gravity;
  taking->gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

/* Quantities of the contacts that are shown but not judged: which contacts carry an impulse in one
 * step is no average, and penetration is meant to vanish with the step. */
static bool take_contacts(Taking *taking) {
  scree_ConvergeSeries *s = add_curve(taking, "coordination", "", false, NAN);
  if (!s) return false;
  s->judged = false;
  s->reference = largest(s);
  ++taking->groups;
  s = add_curve(taking, "penetration", "", true, NAN);
  if (!s) return false;
  s->judged = false;
  s->reference = 1.0; /* it is relative to the size of the smaller body */
  ++taking->groups;
  return true;
}

scree_Status scree_converge_take(scree_Replay *replay, const scree_Scene *scene,
                                 const scree_ConvergeProfile *profile, double end,
                                 scree_ConvergeRun *run) {
  Taking taking = {.replay = replay, .run = run, .end = end, .periodic = scene->cell.any};
  const size_t rows = (size_t)replay->rows + 1;
  const scree_ReplayCurve *time = scree_replay_curve(replay, "time");
  *run = (scree_ConvergeRun){0};
  find_scales(&taking);
  taking.time = SCREE_ALLOC(double, rows);
  taking.work = SCREE_ALLOC(double, rows);
  scree_Status status = SCREE_OK;
  bool good = taking.time && taking.work;
  if (good && time) memcpy(taking.time + 1, time->values, (rows - 1) * sizeof(double));
  good = good && take_energies(&taking);
  if (good) status = take_frames(&taking, profile);
  for (int k = 0; good && status == SCREE_OK && k < scene->sensor_count; ++k)
    good = take_sensor(&taking, &scene->sensors[k]);
  good = good && status == SCREE_OK && take_contacts(&taking);
  if (status == SCREE_OK && !good) status = scree_fail_memory(replay->log, "the curves of a run");
  scree_free(taking.time);
  scree_free(taking.work);
  if (status != SCREE_OK) scree_converge_run_fini(run);
  return status;
}

void scree_converge_run_fini(scree_ConvergeRun *run) {
  for (int k = 0; k < run->count; ++k) scree_free(run->series[k].values);
  *run = (scree_ConvergeRun){0};
}

double scree_converge_tolerance(const scree_Scene *scene) {
  return scree_node_number(scree_node_find(scene->tree.root, "solver"), "tolerance");
}

void scree_converge_seed(const scree_Scene *scene, double *seed, double *perturb) {
  *seed = scree_node_number(scene->tree.root, "seed");
  *perturb = scree_node_number(scene->tree.root, "perturb");
}
