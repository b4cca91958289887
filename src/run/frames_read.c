/* Runs from their folder: results.h5 (docs/RESULTS.md) and telemetry.jsonl. The files are not
 * trusted: sizes, offsets, body numbers and shapes are checked before they are used. */
#include "core/log.h"
#include "core/memory.h"
#include "fclib/fclib_h5.h"
#include "math/vec3.h"
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
  hid_t position, orientation, velocity, angular; /* datasets, (F x N x ...) */
  hid_t alive; /* (F x N), or -1: bodies stay once they have come */
  bool contacts;
  int64_t *offset; /* (F + 1) of the contacts of each frame */
  double *reals;   /* work */
  int *ints;
  size_t reals_capacity, ints_capacity;
} Source;

/* ---- reading parts of datasets --------------------------------------------------------------- */

/* Shape of a dataset: false when it is absent or has another rank. */
static bool shape_of(const scree_H5 *h5, const char *name, int rank, hsize_t *dims) {
  if (!scree_h5_has(h5, name)) return false;
  const hid_t data = H5Dopen2(h5->file, name, H5P_DEFAULT);
  if (data < 0) return false;
  const hid_t space = H5Dget_space(data);
  const bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                    H5Sget_simple_extent_dims(space, dims, NULL) == rank;
  if (space >= 0) H5Sclose(space);
  H5Dclose(data);
  return good;
}

/* Rows [start, start + count) of an open dataset whose first dimension is rows; the whole rest of
 * each row. `columns` per row are expected in `values`. */
static bool read_rows(hid_t data, hsize_t start, hsize_t count, hsize_t columns, hid_t type,
                      void *values) {
  if (count == 0 || columns == 0) return true;
  const hid_t space = H5Dget_space(data);
  hsize_t dims[3], first[3] = {start, 0, 0}, many[3] = {count, 1, 1};
  const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;
  bool good = rank >= 1 && rank <= 3 && H5Sget_simple_extent_dims(space, dims, NULL) == rank;
  hsize_t width = 1;
  for (int k = 1; good && k < rank; ++k) width *= many[k] = dims[k];
  good = good && width == columns && start + count <= dims[0];
  /* Of the selection's own shape: HDF5 copies between different shapes number by number. */
  const hid_t memory = good ? H5Screate_simple(rank, many, NULL) : -1;
  good = good && memory >= 0 &&
         H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, many, NULL) >= 0 &&
         H5Dread(data, type, memory, space, H5P_DEFAULT, values) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  return good;
}

/* The same by name. */
static scree_Status read_named(const scree_H5 *h5, const char *name, hsize_t start, hsize_t count,
                               hsize_t columns, hid_t type, void *values) {
  const hid_t data = scree_h5_has(h5, name) ? H5Dopen2(h5->file, name, H5P_DEFAULT) : -1;
  const bool good = data >= 0 && read_rows(data, start, count, columns, type, values);
  if (data >= 0) H5Dclose(data);
  if (good) return SCREE_OK;
  return scree_fail(
      h5->log, SCREE_BAD_INPUT,
      "%s: %s: rows %llu to %llu of %llu numbers cannot be read: the file is damaged, "
      "or was not written by scree run",
      h5->path, name, (unsigned long long)start, (unsigned long long)(start + count),
      (unsigned long long)columns);
}

static void read_attribute(const scree_H5 *h5, const char *name, hid_t type, void *value,
                           hsize_t count) {
  const hid_t attribute = H5Aopen(h5->file, name, H5P_DEFAULT);
  if (attribute < 0) return;
  const hid_t space = H5Aget_space(attribute);
  if (space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count)
    (void)H5Aread(attribute, type, value);
  if (space >= 0) H5Sclose(space);
  H5Aclose(attribute);
}

/* Texts are of fixed size, as scree run writes them. Those of variable size are not read: HDF5
 * follows their addresses without checks, and crashes on a damaged file. */
static bool is_fixed_text(hid_t type) {
  return type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
         H5Tget_size(type) <= 4096;
}

static void read_text_attribute(const scree_H5 *h5, const char *name, char *text, size_t size) {
  text[0] = 0;
  const hid_t attribute = H5Aopen(h5->file, name, H5P_DEFAULT);
  if (attribute < 0) return;
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  char value[4097] = {0};
  if (is_fixed_text(type) && space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
      H5Aread(attribute, type, value) >= 0)
    snprintf(text, size, "%s", value);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  H5Aclose(attribute);
}

/* A list of texts: (count x 64), or null. */
static char (*read_texts(const scree_H5 *h5, const char *name, int *count))[64] {
  hsize_t dims[1];
  *count = 0;
  if (!shape_of(h5, name, 1, dims) || dims[0] > 100000) return NULL;
  const hid_t data = H5Dopen2(h5->file, name, H5P_DEFAULT), type = H5Dget_type(data);
  char(*texts)[64] = NULL;
  if (is_fixed_text(type)) {
    const size_t width = H5Tget_size(type);
    char *values = SCREE_ALLOC(char, dims[0] * (width + 1));
    texts = scree_alloc((size_t)dims[0], 64);
    if (values && texts && H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) {
      for (hsize_t k = 0; k < dims[0]; ++k)
        snprintf(texts[k], 64, "%.*s", width < 63 ? (int)width : 63, values + k * width);
      *count = (int)dims[0];
    } else {
      scree_free(texts);
      texts = NULL;
    }
    scree_free(values);
  }
  if (type >= 0) H5Tclose(type);
  H5Dclose(data);
  return texts;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Shapes of /bodies or of /parts, (N) each. */
typedef struct Shapes {
  int *kind;
  double *radius, *half_length, *semi, *vertices;
  int64_t *offset;
} Shapes;

/* The rest of /bodies and /parts, (N) each. */
typedef struct Table {
  int *obstacle, *material, *body;
  double *mass, *position, *orientation;
  Shapes shapes;
} Table;

static void table_fini(Table *table) {
  void *const arrays[] = {table->obstacle,    table->material,        table->body,
                          table->mass,        table->position,        table->orientation,
                          table->shapes.kind, table->shapes.radius,   table->shapes.half_length,
                          table->shapes.semi, table->shapes.vertices, table->shapes.offset};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
}

typedef struct Column {
  const char *name;
  hsize_t rows, columns;
  hid_t type;
  void *values;
} Column;

static scree_Status read_columns(const scree_H5 *h5, const char *group, const Column *columns,
                                 size_t count) {
  scree_Status status = SCREE_OK;
  for (size_t k = 0; status == SCREE_OK && k < count; ++k) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", group, columns[k].name);
    status = read_named(h5, path, 0, columns[k].rows, columns[k].columns, columns[k].type,
                        columns[k].values);
  }
  return status;
}

static scree_Status read_shapes(const scree_H5 *h5, const char *group, hsize_t n, Shapes *s) {
  *s = (Shapes){SCREE_ALLOC(int, n),
                SCREE_ALLOC(double, n),
                SCREE_ALLOC(double, n),
                SCREE_ALLOC(double, 3 * n),
                NULL,
                SCREE_ALLOC(int64_t, n + 1)};
  if (!s->kind || !s->radius || !s->half_length || !s->semi || !s->offset)
    return scree_fail_memory(h5->log, "the shapes of a run");
  const Column columns[] = {{"kind", n, 1, H5T_NATIVE_INT, s->kind},
                            {"radius", n, 1, H5T_NATIVE_DOUBLE, s->radius},
                            {"half_length", n, 1, H5T_NATIVE_DOUBLE, s->half_length},
                            {"semi", n, 3, H5T_NATIVE_DOUBLE, s->semi},
                            {"vertex_offset", n + 1, 1, H5T_NATIVE_INT64, s->offset}};
  const scree_Status status = read_columns(h5, group, columns, sizeof columns / sizeof *columns);
  if (status != SCREE_OK) return status;
  char path[64];
  snprintf(path, sizeof path, "%s/vertices", group);
  hsize_t dims[2] = {0, 3};
  const bool any = shape_of(h5, path, 2, dims) && dims[1] == 3;
  const int64_t total = any ? (int64_t)dims[0] : 0;
  for (hsize_t i = 0; i < n; ++i)
    if (s->offset[i] < 0 || s->offset[i + 1] < s->offset[i] || s->offset[i + 1] > total)
      return scree_fail(h5->log, SCREE_BAD_INPUT,
                        "%s: %s/vertex_offset: shape %llu has vertices %lld to %lld of %lld",
                        h5->path, group, (unsigned long long)i, (long long)s->offset[i],
                        (long long)s->offset[i + 1], (long long)total);
  s->vertices = SCREE_ALLOC(double, 3 * total);
  if (!s->vertices) return scree_fail_memory(h5->log, "the vertices of a run");
  return total ? read_named(h5, path, 0, (hsize_t)total, 3, H5T_NATIVE_DOUBLE, s->vertices)
               : SCREE_OK;
}

static scree_Status read_body_table(const scree_H5 *h5, hsize_t n, Table *table) {
  table->obstacle = SCREE_ALLOC(int, n);
  table->material = SCREE_ALLOC(int, n);
  table->mass = SCREE_ALLOC(double, n);
  if (!table->obstacle || !table->material || !table->mass)
    return scree_fail_memory(h5->log, "the bodies of a run");
  const Column columns[] = {{"obstacle", n, 1, H5T_NATIVE_INT, table->obstacle},
                            {"material", n, 1, H5T_NATIVE_INT, table->material},
                            {"mass", n, 1, H5T_NATIVE_DOUBLE, table->mass}};
  const scree_Status status = read_columns(h5, "/bodies", columns, 3);
  return status == SCREE_OK ? read_shapes(h5, "/bodies", n, &table->shapes) : status;
}

/* The parts of clumps; *n is 0 when the run has none. */
static scree_Status read_part_table(const scree_H5 *h5, hsize_t *n, Table *table) {
  hsize_t dims[2] = {0, 3};
  *n = shape_of(h5, "/parts/position", 2, dims) && dims[1] == 3 ? dims[0] : 0;
  if (*n == 0) return SCREE_OK;
  table->body = SCREE_ALLOC(int, *n);
  table->position = SCREE_ALLOC(double, 3 * *n);
  table->orientation = SCREE_ALLOC(double, 4 * *n);
  if (!table->body || !table->position || !table->orientation)
    return scree_fail_memory(h5->log, "the parts of a run");
  const Column columns[] = {{"body", *n, 1, H5T_NATIVE_INT, table->body},
                            {"position", *n, 3, H5T_NATIVE_DOUBLE, table->position},
                            {"orientation", *n, 4, H5T_NATIVE_DOUBLE, table->orientation}};
  const scree_Status status = read_columns(h5, "/parts", columns, 3);
  return status == SCREE_OK ? read_shapes(h5, "/parts", *n, &table->shapes) : status;
}

/* The kind of shape i, SCREE_SHAPE_KINDS with a message if it is not known. */
static scree_ShapeKind kind_of(const scree_Replay *replay, const scree_H5 *h5, const char *group,
                               const Shapes *shapes, int i, char (*names)[64], int count) {
  const int index = shapes->kind[i];
  const bool known = index >= 0 && index < count;
  const scree_ShapeKind kind =
      known ? scree_shape_kind(names[index], replay->dimension) : SCREE_SHAPE_KINDS;
  if (kind == SCREE_SHAPE_KINDS)
    scree_fail(h5->log, SCREE_BAD_INPUT,
               "%s: %s/kind: shape %d is of kind %d (%s), which this scree does not know", h5->path,
               group, i, index, known ? names[index] : "?");
  return kind;
}

/* Shape i without parts, with all that is derived from its parameters. */
static scree_Status make_shape(const scree_Replay *replay, const Shapes *shapes, int i,
                               scree_ShapeKind kind, scree_Shape *shape) {
  const scree_ShapeType *type = scree_shape_type(kind);
  const scree_Shape numbers = {
      .radius = shapes->radius[i],
      .half_length = shapes->half_length[i],
      .semi = {shapes->semi[3 * i], shapes->semi[3 * i + 1], shapes->semi[3 * i + 2]}};
  double parameters[8] = {0};
  for (int p = 0; p < type->parameter_count && p < 8; ++p)
    memcpy(&parameters[p], (const char *)&numbers + type->parameters[p].offset, sizeof(double));
  const int64_t first = shapes->offset[i], count = shapes->offset[i + 1] - first;
  const scree_Vec3 *vertices = (const scree_Vec3 *)(const void *)(shapes->vertices + 3 * first);
  return scree_shape_init(shape, kind, parameters, type->takes_vertices ? vertices : NULL,
                          type->takes_vertices ? (int)count : 0, replay->log);
}

/* The clump of body b: its parts begin at *next of the table, which is sorted by bodies. */
static scree_Status make_clump(const scree_Replay *replay, const scree_H5 *h5, const Table *table,
                               hsize_t n, int b, char (*names)[64], int names_count, hsize_t *next,
                               scree_Shape *shape) {
  const hsize_t first = *next;
  while (*next < n && table->body[*next] == b) ++*next;
  const int count = (int)(*next - first);
  scree_Part *parts = SCREE_ALLOC(scree_Part, count);
  if (!parts) return scree_fail_memory(h5->log, "the parts of a run");
  scree_Status status = SCREE_OK;
  int made = 0;
  for (; made < count && status == SCREE_OK; ++made) {
    const size_t k = (size_t)first + (size_t)made;
    const double *x = table->position + 3 * k, *q = table->orientation + 4 * k;
    parts[made].pose = (scree_Pose){{x[0], x[1], x[2]}, {q[0], q[1], q[2], q[3]}};
    const scree_ShapeKind kind =
        kind_of(replay, h5, "/parts", &table->shapes, (int)k, names, names_count);
    status = kind == SCREE_SHAPE_KINDS || scree_shape_type(kind)->takes_parts
                 ? SCREE_BAD_INPUT
                 : make_shape(replay, &table->shapes, (int)k, kind, &parts[made].shape);
  }
  if (status == SCREE_OK) status = scree_shape_init_clump(shape, parts, count, replay->log);
  for (int k = 0; k < made; ++k) scree_shape_fini(&parts[k].shape);
  scree_free(parts);
  return status;
}

static scree_Status read_bodies(scree_Replay *replay, const scree_H5 *h5) {
  Table table = {0}, parts = {0};
  int names_count = 0;
  hsize_t part_count = 0, next = 0;
  char(*names)[64] = read_texts(h5, "/bodies/kind_names", &names_count);
  scree_Status status = read_body_table(h5, (hsize_t)replay->body_count, &table);
  if (status == SCREE_OK) status = read_part_table(h5, &part_count, &parts);
  for (int i = 0; status == SCREE_OK && i < replay->body_count; ++i) {
    scree_Shape *shape = &replay->bodies[i].shape;
    const scree_ShapeKind kind =
        kind_of(replay, h5, "/bodies", &table.shapes, i, names, names_count);
    if (kind == SCREE_SHAPE_KINDS) {
      status = SCREE_BAD_INPUT;
      break;
    }
    replay->bodies[i].obstacle = table.obstacle[i] != 0;
    replay->bodies[i].material = table.material[i] >= 0 ? table.material[i] : 0;
    replay->bodies[i].mass = table.obstacle[i] ? INFINITY : table.mass[i];
    status = scree_shape_type(kind)->takes_parts
                 ? make_clump(replay, h5, &parts, part_count, i, names, names_count, &next, shape)
                 : make_shape(replay, &table.shapes, i, kind, shape);
    if (status == SCREE_OK) continue;
    *shape = (scree_Shape){0};
    scree_fail(replay->log, status, "body %d of the run has no usable shape", i);
  }
  table_fini(&table);
  table_fini(&parts);
  scree_free(names);
  return status;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool room(void **array, size_t *capacity, size_t count, size_t size) {
  return scree_grow(array, capacity, count, size);
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
    status = read_named(&source->h5, parts[p].name, first, nc, columns, H5T_NATIVE_DOUBLE,
                        source->reals);
    for (size_t c = 0; status == SCREE_OK && c < nc; ++c)
      memcpy((char *)&frame->contact[c] + parts[p].at, source->reals + columns * c,
             columns * sizeof(double));
  }
  if (status == SCREE_OK)
    status = read_named(&source->h5, "/contacts/body", first, nc, 2, H5T_NATIVE_INT, source->ints);
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
  if (status == SCREE_OK)
    status =
        read_named(&source->h5, "/contacts/status", first, nc, 1, H5T_NATIVE_INT, source->ints);
  for (size_t c = 0; status == SCREE_OK && c < nc; ++c) {
    frame->contact[c].status = source->ints[c] >= 0 && source->ints[c] < SCREE_CONTACT_STATUSES
                                   ? (scree_ContactStatus)source->ints[c]
                                   : SCREE_CONTACT_OPEN;
    frame->contact[c].error = NAN;
  }
  hsize_t dims[2];
  if (status != SCREE_OK || !shape_of(&source->h5, "/contacts/error", 1, dims)) return status;
  status =
      read_named(&source->h5, "/contacts/error", first, nc, 1, H5T_NATIVE_DOUBLE, source->reals);
  for (size_t c = 0; status == SCREE_OK && c < nc; ++c) frame->contact[c].error = source->reals[c];
  return status;
}

static scree_Status read_frame(scree_Replay *replay, int k, scree_ReplayFrame *frame) {
  Source *source = replay->source;
  const bool wanted = source->contacts && !frame->bodies_only;
  const int64_t nc = wanted ? source->offset[k + 1] - source->offset[k] : 0;
  /* Whole rows are read; the bodies that exist are the first ones. */
  scree_Status status = scree_replay_reserve(replay, replay->body_count, (int)nc, frame);
  if (status != SCREE_OK) return status;
  const hsize_t n = (hsize_t)replay->body_count, row = (hsize_t)k;
  if (!read_rows(source->position, row, 1, 3 * n, H5T_NATIVE_DOUBLE, frame->position) ||
      !read_rows(source->orientation, row, 1, 4 * n, H5T_NATIVE_DOUBLE, frame->orientation) ||
      !read_rows(source->velocity, row, 1, 3 * n, H5T_NATIVE_DOUBLE, frame->velocity) ||
      !read_rows(source->angular, row, 1, 3 * n, H5T_NATIVE_DOUBLE, frame->angular))
    return scree_fail(replay->log, SCREE_BAD_INPUT,
                      "%s: frame %d cannot be read: the file is damaged", source->h5.path, k);
  if (source->alive >= 0) {
    if (!room((void **)&source->ints, &source->ints_capacity, n, sizeof(int)))
      return scree_fail_memory(replay->log, "a frame");
    if (!read_rows(source->alive, row, 1, n, H5T_NATIVE_INT, source->ints))
      return scree_fail(replay->log, SCREE_BAD_INPUT,
                        "%s: /frames/alive: frame %d cannot be read: the file is damaged",
                        source->h5.path, k);
    for (hsize_t i = 0; i < n; ++i) frame->present[i] = source->ints[i] != 0;
  }
  frame->bodies = replay->frame_bodies[k];
  return read_contacts(replay, source, k, frame);
}

bool scree_replay_analysis(const scree_Replay *replay, const char *name, int k, double *value) {
  const Source *source = replay->source;
  char path[64];
  hsize_t dims[1];
  if (replay->read != read_frame || k < 0 || k >= replay->frame_count) return false;
  snprintf(path, sizeof path, "/analysis/%s", name);
  return shape_of(&source->h5, path, 1, dims) && (hsize_t)k < dims[0] &&
         read_named(&source->h5, path, (hsize_t)k, 1, 1, H5T_NATIVE_DOUBLE, value) == SCREE_OK;
}

static void close_source(scree_Replay *replay) {
  Source *source = replay->source;
  if (!source) return;
  const hid_t sets[] = {source->position, source->orientation, source->velocity, source->angular,
                        source->alive};
  for (int k = 0; k < 5; ++k)
    if (sets[k] >= 0) H5Dclose(sets[k]);
  scree_h5_close(&source->h5);
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
  const hsize_t frames = (hsize_t)replay->frame_count;
  hsize_t dims[2];
  source->offset = SCREE_ALLOC(int64_t, frames + 1);
  if (!source->offset) return scree_fail_memory(h5->log, "the index of a run");
  scree_Status status =
      read_named(h5, "/frames/time", 0, frames, 1, H5T_NATIVE_DOUBLE, replay->times);
  if (status == SCREE_OK)
    status = read_named(h5, "/frames/step", 0, frames, 1, H5T_NATIVE_INT64, replay->steps);
  if (status == SCREE_OK)
    status =
        read_named(h5, "/frames/body_count", 0, frames, 1, H5T_NATIVE_INT, replay->frame_bodies);
  for (int k = 0; status == SCREE_OK && k < replay->frame_count; ++k)
    if (replay->frame_bodies[k] < 0 || replay->frame_bodies[k] > replay->body_count)
      status = scree_fail(h5->log, SCREE_BAD_INPUT,
                          "%s: /frames/body_count: frame %d has %d bodies, expected 0 to %d",
                          h5->path, k, replay->frame_bodies[k], replay->body_count);
  if (status != SCREE_OK || !shape_of(h5, "/contacts/body", 2, dims)) return status;
  status =
      read_named(h5, "/frames/contact_offset", 0, frames + 1, 1, H5T_NATIVE_INT64, source->offset);
  for (hsize_t k = 0; status == SCREE_OK && k < frames; ++k)
    if (source->offset[k] < 0 || source->offset[k + 1] < source->offset[k] ||
        source->offset[k + 1] > (int64_t)dims[0] ||
        source->offset[k + 1] - source->offset[k] > INT32_MAX)
      status =
          scree_fail(h5->log, SCREE_BAD_INPUT,
                     "%s: /frames/contact_offset: frame %llu has contacts %lld to %lld of %llu",
                     h5->path, (unsigned long long)k, (long long)source->offset[k],
                     (long long)source->offset[k + 1], (unsigned long long)dims[0]);
  source->contacts = status == SCREE_OK && dims[0] > 0;
  return status;
}

static hid_t open_set(const scree_H5 *h5, const char *name, hsize_t frames, hsize_t bodies,
                      hsize_t width) {
  hsize_t dims[3];
  if (!shape_of(h5, name, 3, dims) || dims[0] != frames || dims[1] != bodies || dims[2] != width)
    return -1;
  return H5Dopen2(h5->file, name, H5P_DEFAULT);
}

static scree_Status open_frames(scree_Replay *replay, Source *source) {
  const hsize_t f = (hsize_t)replay->frame_count, n = (hsize_t)replay->body_count;
  const scree_H5 *h5 = &source->h5;
  if (f == 0) return SCREE_OK;
  source->position = open_set(h5, "/frames/position", f, n, 3);
  source->orientation = open_set(h5, "/frames/orientation", f, n, 4);
  source->velocity = open_set(h5, "/frames/velocity", f, n, 3);
  source->angular = open_set(h5, "/frames/angular_velocity", f, n, 3);
  if (source->position >= 0 && source->orientation >= 0 && source->velocity >= 0 &&
      source->angular >= 0) {
    hsize_t dims[2];
    if (shape_of(h5, "/frames/alive", 2, dims) && dims[0] == f && dims[1] == n)
      source->alive = H5Dopen2(h5->file, "/frames/alive", H5P_DEFAULT);
    return SCREE_OK;
  }
  return scree_fail(
      h5->log, SCREE_BAD_INPUT,
      "%s: /frames: positions, orientations and velocities are not all of %llu frames "
      "x %llu bodies",
      h5->path, (unsigned long long)f, (unsigned long long)n);
}

/* Names of the materials, and the colours that the scene gives them. */
static scree_Status read_materials(scree_Replay *replay, const scree_H5 *h5) {
  int count = 0;
  replay->materials = read_texts(h5, "/materials/name", &replay->material_count);
  char(*texts)[64] = read_texts(h5, "/materials/colour", &count);
  scree_Status status = SCREE_OK;
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
  read_text_attribute(h5, "title", title, sizeof title);
  if (!title[0]) {
    const char *slash = strrchr(directory, '/');
    snprintf(title, sizeof title, "%s", slash && slash[1] ? slash + 1 : directory);
  }
  replay->title = copy_text(title);
  replay->directory = copy_text(directory);
  if (!replay->title || !replay->directory) return scree_fail_memory(h5->log, "a run");
  read_attribute(h5, "dimension", H5T_NATIVE_INT, &replay->dimension, 1);
  read_attribute(h5, "gravity", H5T_NATIVE_DOUBLE, replay->gravity, 3);
  read_attribute(h5, "step", H5T_NATIVE_DOUBLE, &replay->h, 1);
  read_attribute(h5, "finished", H5T_NATIVE_INT, &finished, 1);
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
  read_text_attribute(&source->h5, "format", format, sizeof format);
  if (strcmp(format, "scree-results") != 0 || !shape_of(&source->h5, "/bodies/kind", 1, bodies) ||
      !shape_of(&source->h5, "/frames/time", 1, frames) || *bodies > INT32_MAX / 8 ||
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

scree_Status scree_replay_open(const char *directory, const scree_Log *log, scree_Replay **out) {
  *out = NULL;
  Source *source = SCREE_ALLOC(Source, 1);
  scree_Replay *replay = NULL;
  if (!source) return scree_fail_memory(log, "a run");
  source->h5.file = source->position = source->orientation = source->velocity = source->angular =
      source->alive = -1;
  hsize_t bodies = 0, frames = 0;
  scree_Status status = open_file(directory, log, source, &bodies, &frames);
  if (status == SCREE_OK) status = scree_replay_create((int)bodies, (int)frames, log, &replay);
  if (status != SCREE_OK) {
    if (source->h5.file >= 0) scree_h5_close(&source->h5);
    scree_free(source->path);
    scree_free(source);
    return status;
  }
  replay->source = source;
  source->h5.log = replay->log; /* the caller's may be gone when frames are read */
  replay->read = read_frame;
  replay->close = close_source;
  status = read_head(replay, source, directory);
  if (status == SCREE_OK) status = read_bodies(replay, &source->h5);
  if (status == SCREE_OK) status = read_index(replay, source);
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
