/* Reads a run from its folder: results.h5 (docs/RESULTS.md) and telemetry.jsonl. The files are not
 * trusted: sizes, offsets, body numbers and shapes are checked before they are used. */
#include "core/log.h"
#include "core/memory.h"
#include "fclib/fclib_h5.h"
#include "math/vec3.h"
#include "run/frames_data.h"
#include "run/frames_journal.h"
#include "run/frames_telemetry.h"
#include "run/results_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Source {
  scree_H5 h5;
  char *path;
  int frames;                  /* F, in results.h5 */
  scree_FramesJournal journal; /* has further ones of a run that is not finished */
  hid_t position, orientation, velocity, angular; /* datasets, (F x N x ...) */
  hid_t stretch;                                  /* the same, or -1: all bodies are rigid */
  hid_t node, node_stress;                        /* (F x nodes x ...), or -1 */
  hid_t node_velocity;                            /* the same */
  hid_t gradient, gradient_rate; /* (F x bodies x 9), or -1: no body is pseudo-rigid */
  hid_t account;                 /* (F x N), or -1: all bodies are rigid */
  hid_t alive;                   /* (F x N), or -1: bodies stay once they have come */
  bool contacts;
  int64_t *offset; /* (F + 1) of the contacts of each frame */
  double *reals;   /* work */
  int *ints;
  size_t reals_capacity, ints_capacity;
} Source;

/* ---- frames ---------------------------------------------------------------------------------- */

static bool room(void **array, size_t *capacity, size_t count, size_t size) {
  return scree_grow(array, capacity, count, size);
}

/* The memory of the laws of nc contacts; zero in runs without. */
static scree_Status read_memory(Source *source, hsize_t first, hsize_t nc,
                                scree_ReplayFrame *frame) {
  static const struct {
    const char *name;
    size_t at, columns;
  } parts[] = {{"/contacts/moment", offsetof(scree_ReplayContact, moment), 3},
               {"/contacts/plastic", offsetof(scree_ReplayContact, plastic), 1},
               {"/contacts/energy", offsetof(scree_ReplayContact, energy), 1}};
  scree_Status status = SCREE_OK;
  hsize_t dims[1];
  const bool there = scree_frames_extent(&source->h5, "/contacts/bond", 1, dims);
  for (hsize_t c = 0; c < nc; ++c) {
    scree_ReplayContact *contact = &frame->contact[c];
    memset(contact->moment, 0, sizeof contact->moment);
    contact->plastic = contact->energy = 0;
    contact->bond = SCREE_BOND_NONE;
  }
  for (size_t p = 0; there && status == SCREE_OK && p < sizeof parts / sizeof *parts; ++p) {
    const size_t columns = parts[p].columns;
    status = scree_frames_named(&source->h5, parts[p].name, first, nc, columns, H5T_NATIVE_DOUBLE,
                                source->reals);
    for (size_t c = 0; status == SCREE_OK && c < nc; ++c)
      memcpy((char *)&frame->contact[c] + parts[p].at, source->reals + columns * c,
             columns * sizeof(double));
  }
  hsize_t sizes[2];
  if (there && status == SCREE_OK && scree_frames_extent(&source->h5, "/contacts/memory", 2, sizes))
    status = scree_frames_named(&source->h5, "/contacts/memory", first, nc, SCREE_CONTACT_MEMORY,
                                H5T_NATIVE_DOUBLE, frame->law_memory);
  if (!there || status != SCREE_OK) return status;
  status =
      scree_frames_named(&source->h5, "/contacts/bond", first, nc, 1, H5T_NATIVE_INT, source->ints);
  for (size_t c = 0; status == SCREE_OK && c < nc; ++c)
    frame->contact[c].bond = source->ints[c] == SCREE_BOND_INTACT   ? SCREE_BOND_INTACT
                             : source->ints[c] == SCREE_BOND_BROKEN ? SCREE_BOND_BROKEN
                                                                    : SCREE_BOND_NONE;
  return status;
}

static scree_Status read_contacts(scree_Replay *replay, Source *source, int k,
                                  scree_ReplayFrame *frame) {
  const hsize_t first = (hsize_t)source->offset[k], nc = (hsize_t)frame->contacts;
  frame->has_contacts = source->contacts;
  if (nc == 0) return SCREE_OK;
  if (!room((void **)&source->reals, &source->reals_capacity, 3 * nc, sizeof(double)) ||
      !room((void **)&source->ints, &source->ints_capacity, 2 * nc, sizeof(int)))
    return scree_fail_memory(replay->log, "the contacts of a frame");
  static const struct {
    const char *name;
    int columns;
    size_t at;
  } parts[] = {{"/contacts/position", 3, offsetof(scree_ReplayContact, position)},
               {"/contacts/normal", 3, offsetof(scree_ReplayContact, normal)},
               {"/contacts/impulse", 3, offsetof(scree_ReplayContact, r)},
               {"/contacts/velocity", 3, offsetof(scree_ReplayContact, u)},
               {"/contacts/impulse_world", 3, offsetof(scree_ReplayContact, impulse)},
               {"/contacts/gap", 1, offsetof(scree_ReplayContact, gap)},
               {"/contacts/mu", 1, offsetof(scree_ReplayContact, mu)}};
  scree_Status status = SCREE_OK;
  for (size_t p = 0; status == SCREE_OK && p < sizeof parts / sizeof *parts; ++p) {
    const size_t columns = (size_t)parts[p].columns;
    status = scree_frames_named(&source->h5, parts[p].name, first, nc, columns, H5T_NATIVE_DOUBLE,
                                source->reals);
    for (size_t c = 0; status == SCREE_OK && c < nc; ++c)
      memcpy((char *)&frame->contact[c] + parts[p].at, source->reals + columns * c,
             columns * sizeof(double));
  }
  if (status == SCREE_OK)
    status = scree_frames_named(&source->h5, "/contacts/body", first, nc, 2, H5T_NATIVE_INT,
                                source->ints);
  for (size_t c = 0; status == SCREE_OK && c < nc; ++c)
    for (int side = 0; side < 2; ++side) {
      const int body = source->ints[2 * c + (size_t)side];
      if (body < 0 || body >= frame->bodies)
        status = scree_fail(replay->log, SCREE_BAD_INPUT,
                            "%s: /contacts/body: contact %zu of frame %d names body %d, expected 0 "
                            "to %d",
                            source->h5.path, c, k, body, frame->bodies - 1);
      frame->contact[c].body[side] = body;
    }
  hsize_t dims[2];
  const bool named = scree_frames_extent(&source->h5, "/contacts/feature", 1, dims);
  if (status == SCREE_OK && named)
    status = scree_frames_named(&source->h5, "/contacts/feature", first, nc, 1, H5T_NATIVE_UINT32,
                                source->ints);
  for (size_t c = 0; status == SCREE_OK && c < nc; ++c)
    frame->contact[c].feature = named ? (uint32_t)source->ints[c] : 0;
  if (status == SCREE_OK)
    status = scree_frames_named(&source->h5, "/contacts/status", first, nc, 1, H5T_NATIVE_INT,
                                source->ints);
  for (size_t c = 0; status == SCREE_OK && c < nc; ++c) {
    frame->contact[c].status = source->ints[c] >= 0 && source->ints[c] < SCREE_CONTACT_STATUSES
                                   ? (scree_ContactStatus)source->ints[c]
                                   : SCREE_CONTACT_OPEN;
    frame->contact[c].error = NAN;
  }
  if (status == SCREE_OK) status = read_memory(source, first, nc, frame);
  if (status != SCREE_OK || !scree_frames_extent(&source->h5, "/contacts/error", 1, dims))
    return status;
  status = scree_frames_named(&source->h5, "/contacts/error", first, nc, 1, H5T_NATIVE_DOUBLE,
                              source->reals);
  for (size_t c = 0; status == SCREE_OK && c < nc; ++c) frame->contact[c].error = source->reals[c];
  return status;
}

/* What deformable bodies have besides: velocities of nodes, gradients and their rates. */
static scree_Status read_state(const scree_Replay *replay, Source *source, hsize_t row,
                               scree_ReplayFrame *frame) {
  const hsize_t n = (hsize_t)replay->body_count, nodes = (hsize_t)frame->nodes;
  bool good = true;
  for (hsize_t i = 0; i < n; ++i) frame->account[i] = 0;
  if (source->account >= 0)
    good = scree_frames_rows(source->account, row, 1, n, H5T_NATIVE_DOUBLE, frame->account);
  if (nodes > 0 && source->node_velocity >= 0)
    good = good && scree_frames_rows(source->node_velocity, row, 1, 3 * nodes, H5T_NATIVE_DOUBLE,
                                     frame->node_velocity);
  else
    for (hsize_t k = 0; k < 3 * nodes; ++k) frame->node_velocity[k] = NAN;
  if (source->gradient >= 0 && source->gradient_rate >= 0) {
    const scree_Status status = scree_replay_reserve_gradients(replay, replay->body_count, frame);
    if (status != SCREE_OK) return status;
    if (!room((void **)&source->reals, &source->reals_capacity, 18 * n, sizeof(double)))
      return scree_fail_memory(replay->log, "a frame");
    double *work = source->reals;
    good = good && scree_frames_rows(source->gradient, row, 1, 9 * n, H5T_NATIVE_DOUBLE, work) &&
           scree_frames_rows(source->gradient_rate, row, 1, 9 * n, H5T_NATIVE_DOUBLE, work + 9 * n);
    for (hsize_t i = 0; i < n && good; ++i) {
      memcpy(frame->gradient + 18 * i, work + 9 * i, 9 * sizeof *work);
      memcpy(frame->gradient + 18 * i + 9, work + 9 * (n + i), 9 * sizeof *work);
    }
  }
  if (good) return SCREE_OK;
  return scree_fail(replay->log, SCREE_BAD_INPUT,
                    "%s: /frames/gradient: frame %llu cannot be read, expected 9 "
                    "numbers for each body: the file is damaged",
                    source->h5.path, (unsigned long long)row);
}

static scree_Status read_frame(scree_Replay *replay, int k, scree_ReplayFrame *frame) {
  Source *source = replay->source;
  if (k >= source->frames) return scree_frames_journal_read(&source->journal, replay, k, frame);
  const bool wanted = source->contacts && !frame->bodies_only;
  const int64_t nc = wanted ? source->offset[k + 1] - source->offset[k] : 0;
  /* Whole rows are read; the bodies that exist are the first ones. */
  scree_Status status = scree_replay_reserve(replay, replay->body_count, (int)nc, frame);
  if (status != SCREE_OK) return status;
  const hsize_t n = (hsize_t)replay->body_count, row = (hsize_t)k;
  if (!scree_frames_rows(source->position, row, 1, 3 * n, H5T_NATIVE_DOUBLE, frame->position) ||
      !scree_frames_rows(source->orientation, row, 1, 4 * n, H5T_NATIVE_DOUBLE,
                         frame->orientation) ||
      !scree_frames_rows(source->velocity, row, 1, 3 * n, H5T_NATIVE_DOUBLE, frame->velocity) ||
      !scree_frames_rows(source->angular, row, 1, 3 * n, H5T_NATIVE_DOUBLE, frame->angular))
    return scree_fail(replay->log, SCREE_BAD_INPUT,
                      "%s: frame %d cannot be read, expected positions, orientations and "
                      "velocities of %d bodies: the file is damaged",
                      source->h5.path, k, replay->body_count);
  if (source->alive >= 0) {
    if (!room((void **)&source->ints, &source->ints_capacity, n, sizeof(int)))
      return scree_fail_memory(replay->log, "a frame");
    if (!scree_frames_rows(source->alive, row, 1, n, H5T_NATIVE_INT, source->ints))
      return scree_fail(replay->log, SCREE_BAD_INPUT,
                        "%s: /frames/alive: frame %d cannot be read, expected a number for each "
                        "body: the file is damaged",
                        source->h5.path, k);
    for (hsize_t i = 0; i < n; ++i) frame->present[i] = source->ints[i] != 0;
  }
  frame->bodies = replay->frame_bodies[k];
  frame->deforms = source->stretch >= 0;
  if (frame->deforms &&
      !scree_frames_rows(source->stretch, row, 1, 3 * n, H5T_NATIVE_DOUBLE, frame->stretch))
    return scree_fail(replay->log, SCREE_BAD_INPUT,
                      "%s: /frames/stretch: frame %d cannot be read, expected 3 numbers for each "
                      "body: the file is damaged",
                      source->h5.path, k);
  for (hsize_t i = 0; frame->deforms && i < 3 * n; ++i)
    if (!(frame->stretch[i] > 0) || !isfinite(frame->stretch[i])) frame->stretch[i] = 1;
  if (source->node >= 0 && source->node_stress >= 0) {
    const hsize_t nodes = (hsize_t)replay->node_count;
    status = scree_replay_reserve_nodes(replay, replay->node_count, frame);
    if (status != SCREE_OK) return status;
    if (!scree_frames_rows(source->node, row, 1, 3 * nodes, H5T_NATIVE_DOUBLE, frame->node) ||
        !scree_frames_rows(source->node_stress, row, 1, 6 * nodes, H5T_NATIVE_DOUBLE,
                           frame->node_stress))
      return scree_fail(replay->log, SCREE_BAD_INPUT,
                        "%s: /frames/node_position: frame %d cannot be read, expected positions "
                        "and stresses of %d nodes: the file is damaged",
                        source->h5.path, k, replay->node_count);
  }
  status = read_state(replay, source, row, frame);
  if (status == SCREE_OK) status = scree_frames_read_joints(replay, &source->h5, k, frame);
  return status == SCREE_OK ? read_contacts(replay, source, k, frame) : status;
}

bool scree_replay_analysis(const scree_Replay *replay, const char *name, int k, double *value) {
  const Source *source = replay->source;
  char path[64];
  hsize_t dims[1];
  if (replay->read != read_frame || k < 0 || k >= replay->frame_count) return false;
  snprintf(path, sizeof path, "/analysis/%s", name);
  return scree_frames_extent(&source->h5, path, 1, dims) && (hsize_t)k < dims[0] &&
         scree_frames_named(&source->h5, path, (hsize_t)k, 1, 1, H5T_NATIVE_DOUBLE, value) ==
             SCREE_OK;
}

bool scree_replay_field(const scree_Replay *replay, int field, int k, double *values) {
  const Source *source = replay->source;
  char path[80];
  if (replay->read != read_frame || field < 0 || field >= replay->field_count || k < 0 ||
      k >= source->frames)
    return false;
  snprintf(path, sizeof path, "/fields/%s", replay->fields[field]);
  return scree_frames_named(&source->h5, path, (hsize_t)k, 1, (hsize_t)replay->body_count,
                            H5T_NATIVE_DOUBLE, values) == SCREE_OK;
}

const char *scree_replay_field_name(const scree_Replay *replay, int field) {
  return field >= 0 && field < replay->field_count ? replay->fields[field] : NULL;
}

static void close_source(scree_Replay *replay) {
  Source *source = replay->source;
  if (!source) return;
  const hid_t sets[] = {source->position, source->orientation,   source->velocity,
                        source->angular,  source->alive,         source->stretch,
                        source->node,     source->node_stress,   source->node_velocity,
                        source->gradient, source->gradient_rate, source->account};
  for (size_t k = 0; k < sizeof sets / sizeof *sets; ++k)
    if (sets[k] >= 0) H5Dclose(sets[k]);
  scree_h5_close(&source->h5);
  scree_frames_journal_close(&source->journal);
  scree_free(source->offset);
  scree_free(source->reals);
  scree_free(source->ints);
  scree_free(source->path);
  scree_free(source);
}

/* ---- the folder ------------------------------------------------------------------------------ */

static char *copy_text(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = SCREE_ALLOC(char, size);
  return copy ? memcpy(copy, text, size) : NULL;
}

/* Times, counts and places of the contacts of all frames. */
static scree_Status read_index(scree_Replay *replay, Source *source) {
  const scree_H5 *h5 = &source->h5;
  const hsize_t frames = (hsize_t)source->frames;
  hsize_t dims[2];
  source->offset = SCREE_ALLOC(int64_t, frames + 1);
  if (!source->offset) return scree_fail_memory(h5->log, "the index of a run");
  scree_Status status =
      scree_frames_named(h5, "/frames/time", 0, frames, 1, H5T_NATIVE_DOUBLE, replay->times);
  if (status == SCREE_OK)
    status = scree_frames_named(h5, "/frames/step", 0, frames, 1, H5T_NATIVE_INT64, replay->steps);
  if (status == SCREE_OK)
    status = scree_frames_named(h5, "/frames/body_count", 0, frames, 1, H5T_NATIVE_INT,
                                replay->frame_bodies);
  for (int k = 0; status == SCREE_OK && k < source->frames; ++k)
    if (replay->frame_bodies[k] < 0 || replay->frame_bodies[k] > replay->body_count)
      status = scree_fail(h5->log, SCREE_BAD_INPUT,
                          "%s: /frames/body_count: frame %d has %d bodies, expected 0 to %d",
                          h5->path, k, replay->frame_bodies[k], replay->body_count);
  if (status != SCREE_OK || !scree_frames_extent(h5, "/contacts/body", 2, dims)) return status;
  status = scree_frames_named(h5, "/frames/contact_offset", 0, frames + 1, 1, H5T_NATIVE_INT64,
                              source->offset);
  for (hsize_t k = 0; status == SCREE_OK && k < frames; ++k)
    if (source->offset[k] < 0 || source->offset[k + 1] < source->offset[k] ||
        source->offset[k + 1] > (int64_t)dims[0] ||
        source->offset[k + 1] - source->offset[k] > INT32_MAX)
      status = scree_fail(h5->log, SCREE_BAD_INPUT,
                          "%s: /frames/contact_offset: frame %llu has contacts %lld to %lld, "
                          "expected them to ascend to at most %llu",
                          h5->path, (unsigned long long)k, (long long)source->offset[k],
                          (long long)source->offset[k + 1], (unsigned long long)dims[0]);
  source->contacts = status == SCREE_OK && dims[0] > 0;
  return status;
}

static hid_t open_set(const scree_H5 *h5, const char *name, hsize_t frames, hsize_t bodies,
                      hsize_t width) {
  hsize_t dims[3];
  if (!scree_frames_extent(h5, name, 3, dims) || dims[0] != frames || dims[1] != bodies ||
      dims[2] != width)
    return -1;
  return H5Dopen2(h5->file, name, H5P_DEFAULT);
}

static scree_Status open_frames(scree_Replay *replay, Source *source) {
  const hsize_t f = (hsize_t)source->frames, n = (hsize_t)replay->body_count;
  const scree_H5 *h5 = &source->h5;
  if (f == 0) return SCREE_OK;
  source->position = open_set(h5, "/frames/position", f, n, 3);
  source->orientation = open_set(h5, "/frames/orientation", f, n, 4);
  source->velocity = open_set(h5, "/frames/velocity", f, n, 3);
  source->angular = open_set(h5, "/frames/angular_velocity", f, n, 3);
  source->stretch = open_set(h5, "/frames/stretch", f, n, 3);
  source->gradient = open_set(h5, "/frames/gradient", f, n, 9);
  source->gradient_rate = open_set(h5, "/frames/gradient_rate", f, n, 9);
  if (replay->node_count > 0) {
    source->node = open_set(h5, "/frames/node_position", f, (hsize_t)replay->node_count, 3);
    source->node_stress = open_set(h5, "/frames/node_stress", f, (hsize_t)replay->node_count, 6);
    source->node_velocity =
        open_set(h5, "/frames/node_velocity", f, (hsize_t)replay->node_count, 3);
  }
  if (source->position >= 0 && source->orientation >= 0 && source->velocity >= 0 &&
      source->angular >= 0) {
    hsize_t dims[2];
    if (scree_frames_extent(h5, "/frames/energy_account", 2, dims) && dims[0] == f && dims[1] == n)
      source->account = H5Dopen2(h5->file, "/frames/energy_account", H5P_DEFAULT);
    if (scree_frames_extent(h5, "/frames/alive", 2, dims) && dims[0] == f && dims[1] == n)
      source->alive = H5Dopen2(h5->file, "/frames/alive", H5P_DEFAULT);
    return SCREE_OK;
  }
  return scree_fail(h5->log, SCREE_BAD_INPUT,
                    "%s: /frames: found other sizes, expected positions, orientations and "
                    "velocities of %llu frames x %llu bodies",
                    h5->path, (unsigned long long)f, (unsigned long long)n);
}

/* Names of the materials, and the colours that the scene gives them. */
static scree_Status read_materials(scree_Replay *replay, const scree_H5 *h5) {
  int count = 0;
  replay->materials = scree_frames_texts(h5, "/materials/name", &replay->material_count);
  char(*texts)[64] = scree_frames_texts(h5, "/materials/colour", &count);
  scree_Status status = SCREE_OK;
  hsize_t densities = 0;
  if (scree_frames_extent(h5, "/materials/density", 1, &densities) &&
      densities == (hsize_t)replay->material_count) {
    replay->densities = SCREE_ALLOC(double, replay->material_count);
    status = replay->densities ? scree_frames_named(h5, "/materials/density", 0, densities, 1,
                                                    H5T_NATIVE_DOUBLE, replay->densities)
                               : scree_fail_memory(h5->log, "the materials of a run");
  }
  if (texts && replay->material_count > 0) {
    replay->colours = SCREE_ALLOC(scree_ReplayColour, replay->material_count);
    if (!replay->colours) status = scree_fail_memory(h5->log, "the colours of a run");
    for (int k = 0; replay->colours && k < replay->material_count && k < count; ++k)
      replay->colours[k] = scree_replay_colour(texts[k]);
  }
  scree_free(texts);
  return status;
}

/* Title, dimension, gravity, step, materials. */
static scree_Status read_head(scree_Replay *replay, const Source *source, const char *directory) {
  const scree_H5 *h5 = &source->h5;
  char title[256];
  int finished = 1;
  scree_frames_text_attribute(h5, "title", title, sizeof title);
  if (!title[0]) {
    const char *slash = strrchr(directory, '/');
    snprintf(title, sizeof title, "%s", slash && slash[1] ? slash + 1 : directory);
  }
  replay->title = copy_text(title);
  replay->directory = copy_text(directory);
  if (!replay->title || !replay->directory) return scree_fail_memory(h5->log, "a run");
  scree_frames_attribute(h5, "dimension", H5T_NATIVE_INT, &replay->dimension, 1);
  scree_frames_attribute(h5, "gravity", H5T_NATIVE_DOUBLE, replay->gravity, 3);
  scree_frames_attribute(h5, "step", H5T_NATIVE_DOUBLE, &replay->h, 1);
  scree_frames_attribute(h5, "finished", H5T_NATIVE_INT, &finished, 1);
  replay->finished = finished != 0;
  if (!finished)
    snprintf(replay->note, sizeof replay->note, "The run was not finished when this was made.");
  if (replay->dimension != 2 && replay->dimension != 3)
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: dimension is %d, expected 2 or 3", h5->path,
                      replay->dimension);
  return read_materials(replay, h5);
}

/* Open results.h5 and read its sizes. */
static scree_Status open_file(const char *directory, const scree_Log *log, Source *source,
                              hsize_t *bodies, hsize_t *frames) {
  struct stat info;
  char format[64];
  source->path = SCREE_ALLOC(char, strlen(directory) + 16);
  if (!source->path) return scree_fail_memory(log, "a file name");
  sprintf(source->path, "%s/results.h5", directory);
  if (stat(source->path, &info) != 0)
    return scree_fail(
        log, SCREE_BAD_INPUT,
        "%s: no results.h5 there: expected the folder of a run (scree run SCENE -o DIR)",
        directory);
  scree_Status status = scree_h5_open(&source->h5, source->path, log);
  if (status != SCREE_OK) {
    source->h5.file = -1;
    return status;
  }
  scree_frames_text_attribute(&source->h5, "format", format, sizeof format);
  if (strcmp(format, "scree-results") != 0 ||
      !scree_frames_extent(&source->h5, "/bodies/kind", 1, bodies) ||
      !scree_frames_extent(&source->h5, "/frames/time", 1, frames) || *bodies > INT32_MAX / 8 ||
      *frames > INT32_MAX / 8)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: not a results file of scree: attribute format is \"%s\", expected "
                      "\"scree-results\", with /bodies/kind and /frames/time",
                      source->path, format);
  return SCREE_OK;
}

/* converge.json in the folder or, of the run "h" of `scree converge`, in the folder above. A run
 * can be shown without it, so an invalid file is left out. */
static char *read_convergence(const char *directory) {
  size_t end = strlen(directory), count = 0;
  while (end > 1 && directory[end - 1] == '/') --end;
  const bool coarsest =
      end > 0 && directory[end - 1] == 'h' && (end == 1 || directory[end - 2] == '/');
  char *text = NULL;
  for (int up = 0; up <= (coarsest ? 1 : 0) && !text; ++up) {
    char *path = scree_join_path(directory, up ? "../converge.json" : "converge.json");
    struct stat info;
    const bool there =
        path && stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size < (64 << 20);
    if (there && scree_file_load(path, &text, &count, NULL) != SCREE_OK) text = NULL;
    scree_free(path);
  }
  if (text && !strstr(text, "\"scree-converge\"")) {
    scree_free(text);
    text = NULL;
  }
  return text;
}

/* Frames of frames.bin that came after results.h5 was written. */
static scree_Status open_journal(Source *source, const char *directory, int frames,
                                 const scree_Log *log) {
  int64_t step = -1;
  scree_Status status = SCREE_OK;
  source->frames = frames;
  if (frames > 0)
    status = scree_frames_named(&source->h5, "/frames/step", (hsize_t)frames - 1, 1, 1,
                                H5T_NATIVE_INT64, &step);
  if (status != SCREE_OK) return status;
  return scree_frames_journal_open(&source->journal, directory, frames, step, log);
}

/* Times and counts of these frames. */
static void index_journal(scree_Replay *replay, const Source *source) {
  const scree_FramesJournal *journal = &source->journal;
  for (int k = 0; k < journal->count; ++k) {
    const scree_FrameHead *head = &journal->head[k];
    const int at = source->frames + k, known = replay->body_count;
    replay->times[at] = head->time;
    replay->steps[at] = head->step;
    replay->frame_bodies[at] = head->bodies < known ? head->bodies : known;
  }
}

/* `telemetry` are the lines that are known, or null; they belong to the replay afterwards, also
 * where it fails. */
static scree_Status open_run(const char *directory, scree_TelemetryLines *telemetry,
                             const scree_Log *log, scree_Replay **out) {
  *out = NULL;
  Source *source = SCREE_ALLOC(Source, 1);
  scree_Replay *replay = NULL;
  if (!source) {
    scree_telemetry_forget(telemetry);
    return scree_fail_memory(log, "a run");
  }
  source->stretch = source->node = source->node_stress = source->node_velocity = -1;
  source->gradient = source->gradient_rate = source->account = -1;
  source->journal.journal.file = -1;
  source->h5.file = source->position = source->orientation = source->velocity = source->angular =
      source->alive = -1;
  hsize_t bodies = 0, frames = 0;
  scree_Status status = open_file(directory, log, source, &bodies, &frames);
  if (status == SCREE_OK) status = open_journal(source, directory, (int)frames, log);
  if (status == SCREE_OK)
    status = scree_replay_create((int)bodies, (int)frames + source->journal.count, log, &replay);
  if (status != SCREE_OK) {
    scree_frames_journal_close(&source->journal);
    if (source->h5.file >= 0) scree_h5_close(&source->h5);
    scree_free(source->path);
    scree_free(source);
    scree_telemetry_forget(telemetry);
    return status;
  }
  replay->source = source;
  replay->telemetry = telemetry;
  source->h5.log = replay->log; /* the caller's may be gone when frames are read */
  replay->read = read_frame;
  replay->close = close_source;
  status = read_head(replay, source, directory);
  if (status == SCREE_OK) status = scree_frames_bodies(replay, &source->h5);
  if (status == SCREE_OK) status = scree_frames_elements(replay, &source->h5);
  if (status == SCREE_OK) status = scree_frames_joints(replay, &source->h5);
  if (status == SCREE_OK) status = read_index(replay, source);
  if (status == SCREE_OK) index_journal(replay, source);
  if (status == SCREE_OK)
    status = scree_frames_fields(replay, &source->h5, (hsize_t)source->frames);
  if (status == SCREE_OK) status = open_frames(replay, source);
  if (status == SCREE_OK) status = scree_replay_read_telemetry(replay, directory, &source->h5);
  if (status != SCREE_OK) {
    scree_replay_close(replay);
    return status;
  }
  replay->convergence = read_convergence(directory);
  *out = replay;
  return SCREE_OK;
}

scree_Status scree_replay_open(const char *directory, const scree_Log *log, scree_Replay **out) {
  return open_run(directory, NULL, log, out);
}

scree_Status scree_replay_open_again(scree_Replay *before, const scree_Log *log,
                                     scree_Replay **out) {
  scree_TelemetryLines *telemetry = before->telemetry;
  before->telemetry = NULL;
  return open_run(before->directory, telemetry, log, out);
}
