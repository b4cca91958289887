/* Reading a saved run (see frames.h): the functions that do not depend on the source of the data.
 */
#include "run/frames.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/frames_telemetry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

scree_Status scree_replay_create(int bodies, int frames, const scree_Log *log, scree_Replay **out) {
  scree_Replay *replay = SCREE_ALLOC(scree_Replay, 1);
  *out = replay;
  if (!replay) return scree_fail_memory(log, "a run");
  if (log) replay->own_log = *log;
  replay->log = &replay->own_log;
  replay->dimension = 3;
  replay->body_count = bodies;
  replay->frame_count = frames;
  replay->bodies = SCREE_ALLOC(scree_ReplayBody, bodies);
  replay->times = SCREE_ALLOC(double, frames);
  replay->steps = SCREE_ALLOC(int64_t, frames);
  replay->frame_bodies = SCREE_ALLOC(int, frames);
  const scree_ReplayCertificate none = {.energy_error = NAN,
                                        .energy_created = NAN,
                                        .energy_limit = NAN,
                                        .creep = NAN,
                                        .creep_limit = NAN,
                                        .penetration_limit = NAN,
                                        .tolerance = NAN,
                                        .worst = {-1, -1},
                                        .deepest = {-1, -1}};
  replay->certificate = none;
  if (replay->bodies && replay->times && replay->steps && replay->frame_bodies) return SCREE_OK;
  scree_replay_close(replay);
  *out = NULL;
  return scree_fail_memory(log, "the bodies and frames of a run");
}

void scree_replay_close(scree_Replay *replay) {
  if (!replay) return;
  if (replay->close) replay->close(replay);
  for (int i = 0; replay->bodies && i < replay->body_count; ++i)
    scree_shape_fini(&replay->bodies[i].shape);
  for (int k = 0; k < replay->curve_count; ++k) scree_free(replay->curves[k].values);
  scree_telemetry_forget(replay->telemetry);
  scree_free(replay->directory);
  scree_free(replay->title);
  scree_free(replay->convergence);
  scree_free(replay->bodies);
  scree_free(replay->surface_node);
  scree_free(replay->node_place);
  scree_free(replay->node_anchor);
  scree_free(replay->node_holder);
  scree_free(replay->corner);
  scree_free(replay->element_first);
  scree_free(replay->joint_table);
  scree_free(replay->fields);
  scree_free(replay->materials);
  scree_free(replay->densities);
  scree_free(replay->names);
  scree_free(replay->colours);
  scree_free(replay->times);
  scree_free(replay->steps);
  scree_free(replay->frame_bodies);
  scree_free(replay);
}

/* The arrays that have a row for each body. */
static void free_bodies(scree_ReplayFrame *frame) {
  scree_free(frame->position);
  scree_free(frame->orientation);
  scree_free(frame->velocity);
  scree_free(frame->angular);
  scree_free(frame->stretch);
  scree_free(frame->account);
  scree_free(frame->present);
}

void scree_replay_frame_fini(scree_ReplayFrame *frame) {
  free_bodies(frame);
  scree_free(frame->contact);
  scree_free(frame->node);
  scree_free(frame->node_stress);
  scree_free(frame->node_velocity);
  scree_free(frame->gradient);
  scree_free(frame->law_memory);
  scree_free(frame->joint);
  *frame = (scree_ReplayFrame){0};
}

scree_Status scree_replay_reserve_nodes(const scree_Replay *replay, int nodes,
                                        scree_ReplayFrame *frame) {
  size_t stress = frame->node_capacity; /* all three have one capacity */
  size_t velocity = stress;
  if (!scree_grow((void **)&frame->node_stress, &stress, 6 * (size_t)nodes, sizeof(double)) ||
      !scree_grow((void **)&frame->node_velocity, &velocity, 6 * (size_t)nodes, sizeof(double)) ||
      !scree_grow((void **)&frame->node, &frame->node_capacity, 6 * (size_t)nodes, sizeof(double)))
    return scree_fail_memory(replay->log, "the nodes of a frame");
  frame->nodes = nodes;
  return SCREE_OK;
}

scree_Status scree_replay_reserve_gradients(const scree_Replay *replay, int bodies,
                                            scree_ReplayFrame *frame) {
  if (!scree_grow((void **)&frame->gradient, &frame->gradient_capacity, 18 * (size_t)bodies,
                  sizeof(double)))
    return scree_fail_memory(replay->log, "the deformation gradients of a frame");
  frame->affine = true;
  return SCREE_OK;
}

scree_Status scree_replay_reserve(const scree_Replay *replay, int bodies, int contacts,
                                  scree_ReplayFrame *frame) {
  const size_t n = (size_t)bodies;
  if (!frame->position || n > frame->body_capacity) {
    free_bodies(frame);
    frame->position = SCREE_ALLOC(double, 3 * n);
    frame->orientation = SCREE_ALLOC(double, 4 * n);
    frame->velocity = SCREE_ALLOC(double, 3 * n);
    frame->angular = SCREE_ALLOC(double, 3 * n);
    frame->stretch = SCREE_ALLOC(double, 3 * n);
    frame->account = SCREE_ALLOC(double, n);
    frame->present = SCREE_ALLOC(bool, n);
    frame->body_capacity = n;
    if (!frame->position || !frame->orientation || !frame->velocity || !frame->angular ||
        !frame->stretch || !frame->account || !frame->present) {
      frame->body_capacity = 0;
      return scree_fail_memory(replay->log, "a frame");
    }
  }
  if (!scree_grow((void **)&frame->contact, &frame->contact_capacity, (size_t)contacts,
                  sizeof *frame->contact) ||
      !scree_grow((void **)&frame->law_memory, &frame->law_capacity,
                  SCREE_CONTACT_MEMORY * (size_t)contacts, sizeof(double)))
    return scree_fail_memory(replay->log, "the contacts of a frame");
  if (contacts)
    memset(frame->law_memory, 0, SCREE_CONTACT_MEMORY * (size_t)contacts * sizeof(double));
  for (size_t i = 0; i < n; ++i) frame->present[i] = true;
  frame->deforms = frame->affine = false;
  frame->nodes = 0;
  frame->joints = 0;
  frame->bodies = bodies;
  frame->contacts = contacts;
  return SCREE_OK;
}

scree_Status scree_replay_read(scree_Replay *replay, int k, scree_ReplayFrame *frame) {
  if (k < 0 || k >= replay->frame_count)
    return scree_fail(replay->log, SCREE_BAD_INPUT, "frame: found %d, expected 0 to %d", k,
                      replay->frame_count - 1);
  const scree_Status status = replay->read(replay, k, frame);
  frame->time = replay->times[k];
  frame->step = replay->steps[k];
  for (int i = 0; status == SCREE_OK && i < frame->bodies; ++i)
    if (!isfinite(frame->position[3 * i] + frame->position[3 * i + 1] + frame->position[3 * i + 2]))
      frame->present[i] = false;
  return status;
}

void scree_replay_pressure(const scree_Replay *replay, const scree_ReplayFrame *frame,
                           double *pressure) {
  for (int i = 0; i < frame->bodies; ++i) pressure[i] = 0.0;
  for (int c = 0; c < frame->contacts; ++c) {
    const scree_ReplayContact *contact = &frame->contact[c];
    for (int side = 0; side < 2; ++side) {
      const int i = contact->body[side];
      const double *x = frame->position + 3 * i;
      double dot = 0.0;
      for (int k = 0; k < 3; ++k) dot += contact->impulse[k] * (contact->position[k] - x[k]);
      const double volume = replay->bodies[i].shape.volume * replay->dimension * replay->h;
      if (!replay->bodies[i].obstacle && volume > 0.0) pressure[i] += (side ? dot : -dot) / volume;
    }
  }
}

double *scree_replay_add_curve(scree_Replay *replay, const char *name, bool peak) {
  if (replay->curve_count == SCREE_REPLAY_CURVES) return NULL;
  scree_ReplayCurve *curve = &replay->curves[replay->curve_count];
  curve->values = SCREE_ALLOC(double, replay->rows);
  if (!curve->values) return NULL;
  snprintf(curve->name, sizeof curve->name, "%s", name);
  curve->peak = peak;
  ++replay->curve_count;
  return curve->values;
}

scree_ReplayColour scree_replay_colour(const char *text) {
  static const struct {
    const char *name;
    unsigned char rgb[3];
  } names[] = {{"black", {0, 0, 0}},      {"silver", {192, 192, 192}}, {"gray", {128, 128, 128}},
               {"grey", {128, 128, 128}}, {"white", {255, 255, 255}},  {"maroon", {128, 0, 0}},
               {"red", {255, 0, 0}},      {"purple", {128, 0, 128}},   {"fuchsia", {255, 0, 255}},
               {"green", {0, 128, 0}},    {"lime", {0, 255, 0}},       {"olive", {128, 128, 0}},
               {"yellow", {255, 255, 0}}, {"navy", {0, 0, 128}},       {"blue", {0, 0, 255}},
               {"teal", {0, 128, 128}},   {"aqua", {0, 255, 255}}};
  scree_ReplayColour colour = {0};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (strcmp(names[k].name, text) == 0) {
      colour.given = true;
      memcpy(colour.rgb, names[k].rgb, sizeof colour.rgb);
    }
  const size_t length = strlen(text);
  if (text[0] != '#' || (length != 4 && length != 7) ||
      strspn(text + 1, "0123456789abcdefABCDEF") != length - 1)
    return colour;
  const long value = strtol(text + 1, NULL, 16);
  colour.given = true;
  for (int c = 0; c < 3; ++c)
    colour.rgb[c] = (unsigned char)(length == 7 ? value >> (16 - 8 * c) & 255
                                                : 17 * (value >> (8 - 4 * c) & 15));
  return colour;
}

const scree_ReplayCurve *scree_replay_curve(const scree_Replay *replay, const char *name) {
  for (int k = 0; k < replay->curve_count; ++k)
    if (strcmp(replay->curves[k].name, name) == 0) return &replay->curves[k];
  return NULL;
}

const scree_ReplayCurve *scree_replay_curve_at(const scree_Replay *replay, int k) {
  return k >= 0 && k < replay->curve_count ? &replay->curves[k] : NULL;
}

scree_ReplayInfo scree_replay_info(const scree_Replay *replay) {
  const double *g = replay->gravity;
  return (scree_ReplayInfo){.folder = replay->directory,
                            .title = replay->title,
                            .dimension = replay->dimension,
                            .gravity = {g[0], g[1], g[2]},
                            .step = replay->h,
                            .bodies = replay->body_count,
                            .materials = replay->material_count,
                            .frames = replay->frame_count,
                            .times = replay->times,
                            .steps = replay->steps,
                            .curves = replay->curve_count,
                            .rows = replay->rows,
                            .note = replay->note,
                            .convergence = replay->convergence};
}

const scree_ReplayBody *scree_replay_body(const scree_Replay *replay, int body) {
  return body >= 0 && body < replay->body_count ? &replay->bodies[body] : NULL;
}

const char *scree_replay_material(const scree_Replay *replay, int material) {
  return material >= 0 && material < replay->material_count ? replay->materials[material] : NULL;
}

double scree_replay_density(const scree_Replay *replay, int material) {
  const bool known = replay->densities && material >= 0 && material < replay->material_count;
  return known && replay->densities[material] > 0 ? replay->densities[material] : 0.0;
}

const char *scree_replay_body_name(const scree_Replay *replay, int body) {
  const bool known = replay->names && body >= 0 && body < replay->name_count;
  return known && replay->names[body][0] ? replay->names[body] : NULL;
}

const scree_ReplayCertificate *scree_replay_certificate(const scree_Replay *replay) {
  return &replay->certificate;
}

int scree_replay_nearest(const scree_Replay *replay, double time) {
  int best = -1;
  for (int k = 0; k < replay->frame_count; ++k)
    if (best < 0 || fabs(replay->times[k] - time) < fabs(replay->times[best] - time)) best = k;
  return best;
}

/* ---- extent ---------------------------------------------------------------------------------- */

enum { LOOKS = 24, PLACES_MAX = 200000 };

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Positions of the bodies that move, seen at some frames, or at one: places[axis][count]. */
static scree_Status collect(scree_Replay *replay, int only, double *places[3], size_t *count) {
  scree_ReplayFrame frame = {.bodies_only = true};
  scree_Status status = SCREE_OK;
  const int looks = only >= 0 ? 1 : replay->frame_count < LOOKS ? replay->frame_count : LOOKS;
  const int stride = 1 + (int)((int64_t)looks * replay->body_count / PLACES_MAX);
  for (int s = 0; status == SCREE_OK && s < looks; ++s) {
    const int k = looks > 1   ? (int)((int64_t)s * (replay->frame_count - 1) / (looks - 1))
                  : only >= 0 ? only
                              : 0;
    status = scree_replay_read(replay, k, &frame);
    for (int i = s % stride; status == SCREE_OK && i < frame.bodies; i += stride) {
      const double *x = frame.position + 3 * i;
      if (replay->bodies[i].obstacle || !frame.present[i]) continue;
      for (int c = 0; c < 3; ++c) places[c][*count] = x[c];
      ++*count;
    }
  }
  scree_replay_frame_fini(&frame);
  return status;
}

/* Value that a share of the sorted places are below. */
static double quantile(const double *places, size_t count, double share) {
  const double at = share * (double)(count - 1);
  return places[(size_t)(share < 0.5 ? floor(at) : ceil(at))];
}

/* Bounds without outliers: bodies that went far away, or a few that were far away for a while. Far
 * is relative to the interquartile range of the positions along their longest axis. */
static void robust_bounds(double *places[3], size_t count, double share, double largest,
                          scree_ReplayExtent *extent) {
  const double reach = share > 0.05 ? 1.5 : 2.5;
  double spread = largest;
  for (int c = 0; c < 3; ++c) {
    qsort(places[c], count, sizeof *places[c], compare);
    spread = fmax(spread, quantile(places[c], count, 0.75) - quantile(places[c], count, 0.25));
  }
  for (int c = 0; c < 3; ++c) {
    const double first = quantile(places[c], count, share),
                 last = quantile(places[c], count, 1.0 - share), slack = 0.3 * (last - first);
    extent->lower[c] =
        fmax(places[c][0], fmax(first - slack, quantile(places[c], count, 0.25) - reach * spread));
    extent->upper[c] = fmin(places[c][count - 1],
                            fmin(last + slack, quantile(places[c], count, 0.75) + reach * spread));
  }
}

/* Obstacles widen the view, but only by a small part of the bodies' extent in each direction: a
 * long floor must not dominate the picture. */
static void add_obstacles(const scree_Replay *replay, const scree_ReplayFrame *frame,
                          scree_ReplayExtent *extent, bool any) {
  double lower[3], upper[3], reach = 0.0;
  memcpy(lower, extent->lower, sizeof lower);
  memcpy(upper, extent->upper, sizeof upper);
  for (int c = 0; c < 3; ++c) reach = fmax(reach, upper[c] - lower[c]);
  for (int i = 0; i < frame->bodies; ++i) {
    const scree_Shape *shape = &replay->bodies[i].shape;
    if (!replay->bodies[i].obstacle) continue;
    const double *x = frame->position + 3 * i, *q = frame->orientation + 4 * i;
    const scree_Pose pose = {{x[0], x[1], x[2]}, {q[0], q[1], q[2], q[3]}};
    scree_Aabb box = scree_shape_aabb(shape, &pose);
    double r[3] = {0.5 * (box.upper.x - box.lower.x), 0.5 * (box.upper.y - box.lower.y),
                   0.5 * (box.upper.z - box.lower.z)};
    const bool drum = shape->kind == SCREE_SHAPE_DRUM || shape->kind == SCREE_SHAPE_DRUM_2D;
    /* The visible part of a drum is its inside, though its solid is unbounded; the axis is z. */
    const double axis[3] = {2.0 * (q[1] * q[3] + q[0] * q[2]), 2.0 * (q[2] * q[3] - q[0] * q[1]),
                            1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2])};
    for (int c = 0; c < 3; ++c) {
      if (drum) {
        const double half = isfinite(shape->half_length) ? shape->half_length : 0.0;
        r[c] = shape->radius * sqrt(fmax(0.0, 1.0 - axis[c] * axis[c])) + half * fabs(axis[c]);
        if (shape->kind == SCREE_SHAPE_DRUM_2D) r[c] = c < 2 ? shape->radius : 0.0;
      }
      if (!isfinite(r[c]) || !isfinite(x[c])) continue;
      const double room = !any || drum ? INFINITY : (replay->dimension == 2 ? 0.25 : 0.02) * reach;
      extent->lower[c] = fmin(extent->lower[c], fmax(x[c] - r[c], lower[c] - room));
      extent->upper[c] = fmax(extent->upper[c], fmin(x[c] + r[c], upper[c] + room));
    }
  }
}

static void finish_extent(const scree_Replay *replay, scree_ReplayExtent *extent) {
  double size = 0.0;
  for (int c = 0; c < 3; ++c) {
    if (!(extent->lower[c] <= extent->upper[c]) || !isfinite(extent->lower[c]) ||
        !isfinite(extent->upper[c]))
      extent->lower[c] = extent->upper[c] = 0.0;
    extent->origin[c] = extent->lower[c] + 0.5 * (extent->upper[c] - extent->lower[c]);
    size = fmax(size, 0.5 * extent->upper[c] - 0.5 * extent->lower[c]);
  }
  extent->length = size > 0.0 ? size : 1.0;
  const double *g = replay->gravity;
  const double norm = hypot(hypot(g[0], g[1]), g[2]);
  extent->up[replay->dimension == 2 ? 1 : 2] = 1.0;
  for (int c = 0; c < 3 && norm > 0.0; ++c) extent->up[c] = -g[c] / norm;
}

scree_Status scree_replay_extent(scree_Replay *replay, int only, scree_ReplayExtent *extent) {
  if (replay->dimension == 2) only = -1;
  *extent = (scree_ReplayExtent){.lower = {INFINITY, INFINITY, INFINITY},
                                 .upper = {-INFINITY, -INFINITY, -INFINITY}};
  double *places[3] = {NULL};
  double largest = 0.0;
  size_t count = 0;
  const size_t room = PLACES_MAX + (size_t)LOOKS * 2 + (size_t)replay->body_count;
  scree_Status status = SCREE_OK;
  for (int c = 0; c < 3; ++c) {
    places[c] = SCREE_ALLOC(double, room);
    if (!places[c]) status = scree_fail_memory(replay->log, "the extent of a run");
  }
  if (status == SCREE_OK && replay->frame_count > 0) status = collect(replay, only, places, &count);
  for (int i = 0; i < replay->body_count; ++i)
    if (!replay->bodies[i].obstacle && isfinite(replay->bodies[i].shape.bounding_radius))
      largest = fmax(largest, replay->bodies[i].shape.bounding_radius);
  if (status == SCREE_OK && count > 0)
    robust_bounds(places, count, only < 0 ? 0.06 : 0.01, largest, extent);
  for (int c = 0; status == SCREE_OK && c < 3 && count > 0; ++c) {
    if (c == 2 && replay->dimension == 2) continue;
    extent->lower[c] -= largest;
    extent->upper[c] += largest;
  }
  if (status == SCREE_OK && replay->frame_count > 0) {
    scree_ReplayFrame frame = {.bodies_only = true};
    status = scree_replay_read(replay, only < 0 ? 0 : only, &frame);
    if (status == SCREE_OK) add_obstacles(replay, &frame, extent, count > 0);
    scree_replay_frame_fini(&frame);
  }
  for (int c = 0; c < 3; ++c) scree_free(places[c]);
  finish_extent(replay, extent);
  return status;
}

/* ---- certificate ----------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static void
add_line(scree_CertificateText *text, const char *label, bool good, const char *format, ...);

static void add_line(scree_CertificateText *text, const char *label, bool good, const char *format,
                     ...) {
  if (text->count == SCREE_CERTIFICATE_LINES) return;
  text->line[text->count].label = label;
  text->line[text->count].good = good;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text->line[text->count].text, sizeof text->line[0].text, format, arguments);
  va_end(arguments);
  ++text->count;
}

/* Two bodies by their names, or by their numbers where they have none. */
static const char *pair_text(const scree_Replay *replay, const int pair[2], char *buffer,
                             size_t size) {
  char label[2][80];
  for (int k = 0; k < 2; ++k) {
    const char *name = scree_replay_body_name(replay, pair[k]);
    if (name && name[0])
      snprintf(label[k], sizeof label[k], "%s", name);
    else
      snprintf(label[k], sizeof label[k], "body %d", pair[k]);
  }
  snprintf(buffer, size, "%s and %s", label[0], label[1]);
  return buffer;
}

void scree_replay_verdict(const scree_Replay *replay, scree_CertificateText *text) {
  const scree_ReplayCertificate *c = &replay->certificate;
  char pair[192];
  *text = (scree_CertificateText){.good = c->steps > 0 && c->above == 0};
  if (c->steps == 0)
    snprintf(text->verdict, sizeof text->verdict,
             "Not certified: the run has no telemetry of any step.");
  else if (c->above == 0)
    snprintf(text->verdict, sizeof text->verdict,
             "Certified: error, penetration, energy and creep of each of the %lld steps are within "
             "their limits.",
             (long long)c->steps);
  else
    snprintf(text->verdict, sizeof text->verdict,
             "Not certified: %lld of %lld steps are above a limit; the first is step %lld.",
             (long long)c->above, (long long)c->steps, (long long)c->first_above);
  if (c->steps == 0) return;
  add_line(text, "error", !(c->error > c->tolerance), "%.3g, tolerance %.3g, step %lld", c->error,
           c->tolerance, (long long)c->error_step);
  if (c->worst[0] >= 0)
    add_line(text, "worst contact", true, "between %s, in that step",
             pair_text(replay, c->worst, pair, sizeof pair));
  add_line(text, "penetration", !(c->penetration > c->penetration_limit),
           "%.3g of the smaller body, limit %.3g, step %lld%s%s", c->penetration,
           c->penetration_limit, (long long)c->penetration_step, c->deepest[0] >= 0 ? ", " : "",
           c->deepest[0] >= 0 ? pair_text(replay, c->deepest, pair, sizeof pair) : "");
  if (!isnan(c->energy_created))
    add_line(text, "energy created", !(c->energy_created > c->energy_limit),
             "%.3g of the energy turned over, limit %.3g", c->energy_created, c->energy_limit);
  if (!isnan(c->creep))
    add_line(text, "creep", !(c->creep > c->creep_limit),
             "%.3g of the size of a resting body, limit %.3g", c->creep, c->creep_limit);
  if (!isnan(c->energy_error))
    add_line(text, "energy balance", true, "closes to %.3g of the largest energy", c->energy_error);
  add_line(text, "contacts", true, "at most %d at once", c->contacts_max);
  if (c->seconds > 0.0) add_line(text, "time taken", true, "%.3g s", c->seconds);
  if (replay->note[0]) add_line(text, "note", false, "%.180s", replay->note);
}
