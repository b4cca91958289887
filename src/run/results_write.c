/* results.h5 (see results_write.h, docs/RESULTS.md). Two passes over the journal: the first finds
 * the sizes, so that every dataset is made with its final extent; the second writes frame by frame
 * and holds one frame in memory. Object times are not recorded: equal results give equal files.
 *
 * HDF5 does not recover from a failed write of its own: the file cannot be closed, and the process
 * may crash when it ends. So files of ordinary size are built in memory (fclib_h5.h) and written by
 * us; larger ones go to the disk directly, once it was seen that the disk has room for them. */
#define _POSIX_C_SOURCE 200809L
#include "run/results_write.h"

#include "core/log.h"
#include "core/memory.h"
#include "fclib/fclib_h5.h"
#include "run/results_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int64_t IN_MEMORY = 256000000; /* bytes before compression */

/* A dataset that is filled row by row; rank 1 to 3. */
typedef struct Data {
  hid_t id, memory; /* dataset; type of the values in memory */
  int rank;
  hsize_t extent[3];
} Data;

typedef struct Writer {
  hid_t file;
  int compression;
  bool good;
} Writer;

/* ---- small pieces ---------------------------------------------------------------------------- */

static void make_group(Writer *writer, const char *name) {
  if (!writer->good) return;
  hid_t group = H5Gcreate2(writer->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  writer->good = group >= 0 && H5Gclose(group) >= 0;
}

/* Chunks of about 64 kB, along the first axes. */
static void choose_chunk(int rank, const hsize_t *extent, size_t size, hsize_t *chunk) {
  double room = 65536.0 / (double)size;
  for (int k = rank - 1; k >= 0; --k) {
    const double n = extent[k] < 1 ? 1 : (double)extent[k];
    const double take = room < 1 ? 1 : n < room ? n : floor(room);
    chunk[k] = (hsize_t)take;
    room /= take;
  }
}

static Data make_data(Writer *writer, const char *name, hid_t disk, hid_t memory, int rank,
                      hsize_t a, hsize_t b, hsize_t c, bool fill_nan) {
  Data data = {.id = -1, .memory = memory, .rank = rank, .extent = {a, b, c}};
  if (!writer->good) return data;
  hsize_t chunk[3];
  const double nan = NAN;
  bool empty = false;
  for (int k = 0; k < rank; ++k) empty |= data.extent[k] == 0;
  choose_chunk(rank, data.extent, H5Tget_size(disk), chunk);
  hid_t space = H5Screate_simple(rank, data.extent, NULL);
  hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  writer->good = space >= 0 && create >= 0 && H5Pset_obj_track_times(create, false) >= 0;
  if (!empty && writer->good) writer->good = H5Pset_chunk(create, rank, chunk) >= 0;
  if (!empty && writer->good && writer->compression > 0)
    writer->good =
        H5Pset_shuffle(create) >= 0 && H5Pset_deflate(create, (unsigned)writer->compression) >= 0;
  if (fill_nan && writer->good)
    writer->good = H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &nan) >= 0;
  if (writer->good)
    data.id = H5Dcreate2(writer->file, name, disk, space, H5P_DEFAULT, create, H5P_DEFAULT);
  writer->good = writer->good && data.id >= 0;
  if (create >= 0) H5Pclose(create);
  if (space >= 0) H5Sclose(space);
  return data;
}

static Data make_reals(Writer *writer, const char *name, int rank, hsize_t a, hsize_t b,
                       hsize_t c) {
  return make_data(writer, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rank, a, b, c, false);
}

/* Write a block of `count` from `start`. */
static void put(Writer *writer, const Data *data, const hsize_t *start, const hsize_t *count,
                const void *values) {
  if (!writer->good) return;
  for (int k = 0; k < data->rank; ++k)
    if (count[k] == 0) return;
  hid_t file = H5Dget_space(data->id), memory = H5Screate_simple(data->rank, count, NULL);
  writer->good = file >= 0 && memory >= 0 &&
                 H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                 H5Dwrite(data->id, data->memory, memory, file, H5P_DEFAULT, values) >= 0;
  if (file >= 0) H5Sclose(file);
  if (memory >= 0) H5Sclose(memory);
}

static void put_all(Writer *writer, Data data, const void *values) {
  const hsize_t zero[3] = {0, 0, 0};
  put(writer, &data, zero, data.extent, values);
  if (data.id >= 0) H5Dclose(data.id);
}

/* Values of row `row`. */
static void put_row(Writer *writer, const Data *data, hsize_t row, const void *values) {
  const hsize_t start[3] = {row, 0, 0}, count[3] = {1, data->extent[1], data->extent[2]};
  put(writer, data, start, count, values);
}

/* Texts of equal length, padded with zeros; rank 0 to 2. */
static void write_texts(Writer *writer, const char *name, const char *const *texts, int rank,
                        hsize_t a, hsize_t b) {
  if (!writer->good) return;
  const size_t count = rank == 0 ? 1 : rank == 1 ? (size_t)a : (size_t)(a * b);
  size_t width = 1;
  for (size_t k = 0; k < count; ++k)
    if (strlen(texts[k]) > width) width = strlen(texts[k]);
  char *flat = SCREE_ALLOC(char, count *width + 1);
  const hsize_t extent[2] = {a, b};
  hid_t type = H5Tcopy(H5T_C_S1), create = H5Pcreate(H5P_DATASET_CREATE);
  hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, extent, NULL);
  writer->good = flat && type >= 0 && space >= 0 && create >= 0 && H5Tset_size(type, width) >= 0 &&
                 H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                 H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                 H5Pset_obj_track_times(create, false) >= 0;
  hid_t data = -1;
  if (writer->good) {
    for (size_t k = 0; k < count; ++k) memcpy(flat + k * width, texts[k], strlen(texts[k]));
    data = H5Dcreate2(writer->file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    writer->good = data >= 0 && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flat) >= 0;
  }
  if (data >= 0) H5Dclose(data);
  if (create >= 0) H5Pclose(create);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  scree_free(flat);
}

static void attribute(Writer *writer, const char *name, hid_t disk, hid_t memory, int count,
                      const void *value) {
  if (!writer->good) return;
  const hsize_t extent = (hsize_t)count;
  hid_t space = count > 0 ? H5Screate_simple(1, &extent, NULL) : H5Screate(H5S_SCALAR);
  hid_t id = H5Acreate2(writer->file, name, disk, space, H5P_DEFAULT, H5P_DEFAULT);
  writer->good = id >= 0 && H5Awrite(id, memory, value) >= 0;
  if (id >= 0) H5Aclose(id);
  if (space >= 0) H5Sclose(space);
}

static void text_attribute(Writer *writer, const char *name, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1);
  const size_t length = strlen(text);
  if (type < 0 || H5Tset_size(type, length ? length : 1) < 0 ||
      H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)
    writer->good = false;
  attribute(writer, name, type, type, 0, text);
  if (type >= 0) H5Tclose(type);
}

/* ---- what does not change -------------------------------------------------------------------- */

static void write_head(Writer *writer, const scree_Scene *scene, const scree_World *world,
                       bool finished) {
  const scree_SceneInfo info = scree_scene_info(scene);
  const scree_WorldSettings *settings = scree_world_get_settings(world);
  const int version = 1, done = finished;
  const char *const text[] = {scree_scene_text(scene)};
  text_attribute(writer, "format", "scree-results");
  attribute(writer, "version", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &version);
  text_attribute(writer, "scree", scree_version());
  attribute(writer, "dimension", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &info.dimension);
  text_attribute(writer, "title", info.title);
  attribute(writer, "finished", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &done);
  attribute(writer, "gravity", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, &settings->gravity);
  attribute(writer, "step", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &settings->step);
  write_texts(writer, "/scene", text, 0, 0, 0);
}

static void write_materials(Writer *writer, const scree_Scene *scene) {
  const int m = scree_scene_info(scene).materials;
  const size_t mm = (size_t)m * (size_t)m;
  const char **texts = SCREE_ALLOC(const char *, 2 * (size_t)m + mm);
  double *values = SCREE_ALLOC(double, (size_t)m + 3 * mm);
  make_group(writer, "/materials");
  writer->good = writer->good && texts && values;
  if (writer->good) {
    double *mu = values + m, *e_n = mu + mm, *e_t = e_n + mm;
    for (int a = 0; a < m; ++a) {
      texts[a] = scree_scene_material(scene, a, &values[a], &texts[m + a]);
      for (int b = 0; b < m; ++b) {
        const scree_PairLaw law = scree_scene_law(scene, a, b);
        const size_t k = (size_t)a * (size_t)m + (size_t)b;
        mu[k] = law.mu;
        e_n[k] = law.e_n;
        e_t[k] = law.e_t;
        texts[2 * (size_t)m + k] = law.law;
      }
    }
    const hsize_t n = (hsize_t)m;
    write_texts(writer, "/materials/name", texts, 1, n, 0);
    write_texts(writer, "/materials/colour", texts + m, 1, n, 0);
    write_texts(writer, "/materials/law", texts + 2 * m, 2, n, n);
    put_all(writer, make_reals(writer, "/materials/density", 1, n, 0, 0), values);
    put_all(writer, make_reals(writer, "/materials/mu", 2, n, n, 0), mu);
    put_all(writer, make_reals(writer, "/materials/e_n", 2, n, n, 0), e_n);
    put_all(writer, make_reals(writer, "/materials/e_t", 2, n, n, 0), e_t);
  }
  scree_free(texts);
  scree_free(values);
}

/* Vertices of polygons, with offsets (n+1). */
static void write_vertices(Writer *writer, const scree_World *world, int n) {
  int64_t *offset = SCREE_ALLOC(int64_t, (size_t)n + 1);
  writer->good = writer->good && offset;
  for (int b = 0; b < n && writer->good; ++b)
    offset[b + 1] = offset[b] + scree_body_shape(world, b)->vertex_count;
  const size_t total = writer->good ? (size_t)offset[n] : 0;
  scree_Vec3 *vertices = SCREE_ALLOC(scree_Vec3, total);
  writer->good = writer->good && vertices;
  for (int b = 0; b < n && writer->good; ++b) {
    const scree_Shape *shape = scree_body_shape(world, b);
    if (shape->vertex_count)
      memcpy(vertices + offset[b], shape->vertices, (size_t)shape->vertex_count * sizeof *vertices);
  }
  put_all(writer,
          make_data(writer, "/bodies/vertex_offset", H5T_STD_I64LE, H5T_NATIVE_INT64, 1,
                    (hsize_t)n + 1, 0, 0, false),
          offset);
  put_all(writer, make_reals(writer, "/bodies/vertices", 2, total, 3, 0), vertices);
  scree_free(offset);
  scree_free(vertices);
}

/* Names of bodies, "" where there is none; no dataset when no body has a name. */
static void write_names(Writer *writer, const scree_Scene *scene, int n) {
  const char **names = SCREE_ALLOC(const char *, n);
  bool any = false;
  writer->good = writer->good && names;
  for (int b = 0; b < n && writer->good; ++b) {
    const char *name = scree_scene_body_name(scene, b);
    names[b] = name ? name : "";
    any = any || name;
  }
  if (any) write_texts(writer, "/bodies/name", names, 1, (hsize_t)n, 0);
  scree_free(names);
}

static void write_bodies(Writer *writer, const scree_World *world, int n, const int *first,
                         const int *last) {
  int *ints = SCREE_ALLOC(int, 3 * (size_t)n);
  double *reals = SCREE_ALLOC(double, 9 * (size_t)n);
  const char *names[SCREE_SHAPE_KINDS];
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) names[k] = scree_shape_type((scree_ShapeKind)k)->name;
  make_group(writer, "/bodies");
  writer->good = writer->good && ints && reals;
  if (writer->good) {
    int *kind = ints, *obstacle = ints + n, *material = ints + 2 * n;
    double *mass = reals, *radius = reals + n, *half = reals + 2 * n;
    double *inertia = reals + 3 * n, *semi = reals + 6 * n;
    for (int b = 0; b < n; ++b) {
      const scree_Shape *shape = scree_body_shape(world, b);
      const scree_Vec3 moments = scree_body_inertia(world, b);
      kind[b] = (int)shape->kind;
      obstacle[b] = scree_body_is_obstacle(world, b);
      material[b] = scree_body_material(world, b);
      mass[b] = scree_body_mass(world, b);
      radius[b] = shape->radius;
      half[b] = shape->half_length;
      memcpy(inertia + 3 * b, &moments, sizeof moments);
      memcpy(semi + 3 * b, &shape->semi, sizeof shape->semi);
    }
    const struct {
      const char *name;
      const int *values;
    } integers[] = {{"/bodies/kind", kind},
                    {"/bodies/obstacle", obstacle},
                    {"/bodies/material", material},
                    {"/bodies/first_frame", first},
                    {"/bodies/last_frame", last}};
    for (int k = 0; k < 5; ++k)
      put_all(writer,
              make_data(writer, integers[k].name, H5T_STD_I32LE, H5T_NATIVE_INT, 1, (hsize_t)n, 0,
                        0, false),
              integers[k].values);
    const hsize_t N = (hsize_t)n;
    write_texts(writer, "/bodies/kind_names", names, 1, SCREE_SHAPE_KINDS, 0);
    put_all(writer, make_reals(writer, "/bodies/mass", 1, N, 0, 0), mass);
    put_all(writer, make_reals(writer, "/bodies/inertia", 2, N, 3, 0), inertia);
    put_all(writer, make_reals(writer, "/bodies/radius", 1, N, 0, 0), radius);
    put_all(writer, make_reals(writer, "/bodies/half_length", 1, N, 0, 0), half);
    put_all(writer, make_reals(writer, "/bodies/semi", 2, N, 3, 0), semi);
    write_vertices(writer, world, n);
  }
  scree_free(ints);
  scree_free(reals);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* What the first pass over the journal finds. */
typedef struct Sizes {
  int frames, bodies;
  int64_t contacts;
  int *first, *last; /* (bodies) first and last frame of each body */
  bool removed;      /* some bodies were */
} Sizes;

static scree_Status find_sizes(const scree_Journal *journal, const scree_World *world, Sizes *sizes,
                               const scree_Log *log) {
  const int bodies = scree_world_body_count(world);
  const bool removed = scree_world_removed_count(world) > 0;
  scree_FrameHead head;
  bool end = false;
  *sizes = (Sizes){
      .first = SCREE_ALLOC(int, bodies), .last = SCREE_ALLOC(int, bodies), .removed = removed};
  if (!sizes->first || !sizes->last) return scree_fail_memory(log, "the bodies of the results");
  for (int64_t offset = 0;;) {
    scree_Status status = scree_journal_skip(journal, &offset, &head, &end, log);
    if (status != SCREE_OK || end || offset > journal->length) {
      for (int b = 0; b < sizes->bodies && !removed; ++b) sizes->last[b] = sizes->frames - 1;
      return status;
    }
    if (head.bodies > bodies)
      return scree_fail(log, SCREE_BAD_INPUT, "%s: a frame has %d bodies, the world only %d",
                        journal->path, (int)head.bodies, bodies);
    for (; sizes->bodies < head.bodies; ++sizes->bodies) {
      sizes->first[sizes->bodies] = sizes->frames;
      sizes->last[sizes->bodies] = sizes->frames - 1;
    }
    for (int b = 0; b < head.bodies && removed; ++b) {
      const int64_t step = scree_body_removed_step(world, b);
      if (step < 0 || step >= head.step) sizes->last[b] = sizes->frames;
    }
    ++sizes->frames;
    sizes->contacts += head.contacts;
  }
}

/* One dataset per number of the head: found by its offset, `count` doubles or one int each. */
static const struct {
  const char *name;
  size_t offset;
  int count;
  bool integer;
} analysis[] = {
#define A(name, member, count)                                                                     \
  { "/analysis/" name, offsetof(scree_FrameHead, analysis.member), count, false }
#define I(name, member)                                                                            \
  { "/analysis/" name, offsetof(scree_FrameHead, analysis.member), 1, true }
#define E(name, member)                                                                            \
  { "/analysis/" name, offsetof(scree_FrameHead, energy.member), 1, false }
    A("kinetic", kinetic, 1),
    A("kinetic_rotation", kinetic_rotation, 1),
    A("potential", potential, 1),
    E("work_forces", forces),
    E("work_drivers", drivers),
    E("dissipated_normal", normal),
    E("dissipated_friction", friction),
    E("scheme", scheme),
    E("push", push),
    E("closing", closing),
    A("momentum", momentum, 3),
    A("angular_momentum", angular_momentum, 3),
    A("centre", centre, 3),
    A("mass", mass, 1),
    I("open", open),
    I("stick", stick),
    I("slip", slip),
    A("coordination", coordination, 1),
    A("coordination_touching", coordination_touching, 1),
    I("rattlers", rattlers),
    A("penetration", penetration, 1),
    A("volume", volume, 1),
    A("packing_fraction", packing_fraction, 1),
    A("stress", stress, 9),
    A("fabric", fabric, 9),
#undef A
#undef I
#undef E
};

enum { ANALYSIS = sizeof analysis / sizeof *analysis, FRAME_FIELDS = 4, CONTACT_FIELDS = 13 };

/* Parts of a body's or contact's record. */
typedef struct Part {
  const char *name;
  size_t offset;
  int count;
  char type; /* d double, i int32, u uint32, s int32 kept in 8 bits */
} Part;

static const Part body_parts[FRAME_FIELDS] = {
    {"/frames/position", offsetof(scree_FrameBody, position), 3, 'd'},
    {"/frames/orientation", offsetof(scree_FrameBody, orientation), 4, 'd'},
    {"/frames/velocity", offsetof(scree_FrameBody, velocity), 3, 'd'},
    {"/frames/angular_velocity", offsetof(scree_FrameBody, angular), 3, 'd'},
};

static const Part contact_parts[CONTACT_FIELDS] = {
    {"/contacts/body", offsetof(scree_FrameContact, body), 2, 'i'},
    {"/contacts/feature", offsetof(scree_FrameContact, feature), 1, 'u'},
    {"/contacts/status", offsetof(scree_FrameContact, status), 1, 's'},
    {"/contacts/position", offsetof(scree_FrameContact, position), 3, 'd'},
    {"/contacts/normal", offsetof(scree_FrameContact, normal), 3, 'd'},
    {"/contacts/tangent", offsetof(scree_FrameContact, tangent), 3, 'd'},
    {"/contacts/gap", offsetof(scree_FrameContact, gap), 1, 'd'},
    {"/contacts/mu", offsetof(scree_FrameContact, mu), 1, 'd'},
    {"/contacts/error", offsetof(scree_FrameContact, error), 1, 'd'},
    {"/contacts/impulse", offsetof(scree_FrameContact, impulse), 3, 'd'},
    {"/contacts/impulse_world", offsetof(scree_FrameContact, impulse_world), 3, 'd'},
    {"/contacts/velocity", offsetof(scree_FrameContact, velocity), 3, 'd'},
    {NULL, 0, 0, 0},
};

static size_t part_size(const Part *part) {
  return (part->type == 'd' ? sizeof(double) : sizeof(int32_t)) * (size_t)part->count;
}

/* One part of all records, side by side. */
static void gather(const Part *part, const void *records, size_t stride, int count, char *out) {
  const char *from = (const char *)records + part->offset;
  const size_t size = part_size(part);
  for (int k = 0; k < count; ++k) memcpy(out + (size_t)k * size, from + (size_t)k * stride, size);
}

typedef struct Sets {
  Data analysis[ANALYSIS], body[FRAME_FIELDS], contact[CONTACT_FIELDS];
  Data time, step, body_count, alive; /* `alive` only when bodies were removed */
  const Sizes *sizes;
  int64_t *offset; /* (frames+1) */
  char *work;
  size_t capacity;
} Sets;

static void make_sets(Writer *writer, const Sizes *sizes, Sets *sets) {
  const hsize_t F = (hsize_t)sizes->frames, N = (hsize_t)sizes->bodies;
  const hsize_t C = (hsize_t)sizes->contacts;
  make_group(writer, "/frames");
  make_group(writer, "/contacts");
  make_group(writer, "/analysis");
  sets->time = make_reals(writer, "/frames/time", 1, F, 0, 0);
  sets->step =
      make_data(writer, "/frames/step", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, F, 0, 0, false);
  sets->body_count =
      make_data(writer, "/frames/body_count", H5T_STD_I32LE, H5T_NATIVE_INT32, 1, F, 0, 0, false);
  sets->sizes = sizes;
  if (sizes->removed)
    sets->alive =
        make_data(writer, "/frames/alive", H5T_STD_U8LE, H5T_NATIVE_UINT8, 2, F, N, 0, false);
  for (int k = 0; k < FRAME_FIELDS; ++k)
    sets->body[k] = make_data(writer, body_parts[k].name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, F,
                              N, (hsize_t)body_parts[k].count, true);
  for (int k = 0; contact_parts[k].name; ++k) {
    const Part *part = &contact_parts[k];
    const hid_t memory = part->type == 'd'   ? H5T_NATIVE_DOUBLE
                         : part->type == 'u' ? H5T_NATIVE_UINT32
                                             : H5T_NATIVE_INT32;
    const hid_t disk = part->type == 'd'   ? H5T_IEEE_F64LE
                       : part->type == 'u' ? H5T_STD_U32LE
                       : part->type == 's' ? H5T_STD_I8LE
                                           : H5T_STD_I32LE;
    sets->contact[k] = make_data(writer, part->name, disk, memory, part->count > 1 ? 2 : 1, C,
                                 (hsize_t)part->count, 0, false);
  }
  for (int k = 0; k < ANALYSIS; ++k)
    sets->analysis[k] =
        analysis[k].integer
            ? make_data(writer, analysis[k].name, H5T_STD_I32LE, H5T_NATIVE_INT, 1, F, 0, 0, false)
            : make_reals(writer, analysis[k].name, analysis[k].count > 1 ? 2 : 1, F,
                         (hsize_t)analysis[k].count, 0);
}

static void close_sets(Sets *sets) {
  Data *all[] = {&sets->time, &sets->step, &sets->body_count, &sets->alive};
  for (int k = 0; k < 4; ++k)
    if (all[k]->id > 0) H5Dclose(all[k]->id);
  for (int k = 0; k < FRAME_FIELDS; ++k)
    if (sets->body[k].id > 0) H5Dclose(sets->body[k].id);
  for (int k = 0; k < CONTACT_FIELDS; ++k)
    if (sets->contact[k].id > 0) H5Dclose(sets->contact[k].id);
  for (int k = 0; k < ANALYSIS; ++k)
    if (sets->analysis[k].id > 0) H5Dclose(sets->analysis[k].id);
  scree_free(sets->offset);
  scree_free(sets->work);
}

static void write_frame(Writer *writer, Sets *sets, int f, const scree_Frame *frame) {
  const scree_FrameHead *head = &frame->head;
  size_t rows = (size_t)(head->bodies > head->contacts ? head->bodies : head->contacts);
  if (rows < (size_t)sets->sizes->bodies) rows = (size_t)sets->sizes->bodies;
  void *work = sets->work;
  if (!scree_grow(&work, &sets->capacity, rows * 4 * sizeof(double) + 1, 1)) {
    writer->good = false;
    return;
  }
  sets->work = work;
  put_row(writer, &sets->time, (hsize_t)f, &head->time);
  put_row(writer, &sets->step, (hsize_t)f, &head->step);
  put_row(writer, &sets->body_count, (hsize_t)f, &head->bodies);
  const Sizes *sizes = sets->sizes;
  if (sizes->removed) {
    uint8_t *alive = work;
    for (int b = 0; b < sizes->bodies; ++b) alive[b] = f >= sizes->first[b] && f <= sizes->last[b];
    put_row(writer, &sets->alive, (hsize_t)f, alive);
  }
  for (int k = 0; k < ANALYSIS; ++k)
    put_row(writer, &sets->analysis[k], (hsize_t)f, (const char *)head + analysis[k].offset);
  for (int k = 0; k < FRAME_FIELDS; ++k) {
    const hsize_t start[3] = {(hsize_t)f, 0, 0};
    const hsize_t count[3] = {1, (hsize_t)head->bodies, (hsize_t)body_parts[k].count};
    gather(&body_parts[k], frame->body, sizeof *frame->body, head->bodies, sets->work);
    put(writer, &sets->body[k], start, count, sets->work);
  }
  for (int k = 0; contact_parts[k].name; ++k) {
    const hsize_t start[3] = {(hsize_t)sets->offset[f], 0, 0};
    const hsize_t count[3] = {(hsize_t)head->contacts, (hsize_t)contact_parts[k].count, 0};
    gather(&contact_parts[k], frame->contact, sizeof *frame->contact, head->contacts, sets->work);
    put(writer, &sets->contact[k], start, count, sets->work);
  }
  sets->offset[f + 1] = sets->offset[f] + head->contacts;
}

static scree_Status write_frames(Writer *writer, const scree_Journal *journal, const Sizes *sizes,
                                 scree_Poll *poll, const scree_Log *log) {
  Sets sets = {0};
  scree_Frame frame = {0};
  scree_Status status = SCREE_OK;
  make_sets(writer, sizes, &sets);
  sets.offset = SCREE_ALLOC(int64_t, (size_t)sizes->frames + 1);
  if (!sets.offset) writer->good = false;
  int64_t place = 0;
  for (int f = 0; f < sizes->frames && writer->good && status == SCREE_OK; ++f) {
    bool end = false;
    if (scree_poll(poll)) {
      status = SCREE_INTERRUPTED;
      break;
    }
    status = scree_journal_read(journal, &place, &frame, &end, log);
    if (status == SCREE_OK && end)
      status = scree_fail(log, SCREE_BAD_INPUT, "%s: frame %d is damaged", journal->path, f);
    if (status == SCREE_OK) write_frame(writer, &sets, f, &frame);
  }
  if (status == SCREE_OK)
    put_all(writer,
            make_data(writer, "/frames/contact_offset", H5T_STD_I64LE, H5T_NATIVE_INT64, 1,
                      (hsize_t)sizes->frames + 1, 0, 0, false),
            sets.offset);
  scree_frame_fini(&frame);
  close_sets(&sets);
  return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static scree_Status write_content(hid_t file, const char *path, const scree_Journal *journal,
                                  const Sizes *sizes, const scree_Scene *scene,
                                  const scree_World *world, bool finished, scree_Poll *poll,
                                  const scree_Log *log) {
  Writer writer = {.file = file, .compression = scree_scene_info(scene).compression, .good = true};
  write_head(&writer, scene, world, finished);
  write_materials(&writer, scene);
  write_bodies(&writer, world, sizes->bodies, sizes->first, sizes->last);
  write_names(&writer, scene, sizes->bodies);
  scree_Status status = write_frames(&writer, journal, sizes, poll, log);
  if (status == SCREE_OK && !writer.good)
    status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written: memory or disk is full", path);
  return status;
}

/* Whether the disk takes as many bytes: 0, or errno. The file is there and empty afterwards. */
static int try_room(const char *path, int64_t bytes) {
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int error = posix_fallocate(file, 0, (off_t)bytes);
  if (error == EOPNOTSUPP || error == EINVAL) error = 0; /* it does not tell */
  if (ftruncate(file, 0) != 0 && !error) error = errno;
  (void)close(file);
  if (error) (void)unlink(path);
  return error;
}

/* A file that does not fit into memory: straight to the disk, under another name. */
static scree_Status write_large(const char *path, const scree_Journal *journal, const Sizes *sizes,
                                const scree_Scene *scene, const scree_World *world, bool finished,
                                scree_Poll *poll, const scree_Log *log) {
  const size_t length = strlen(path) + 8;
  char *part = SCREE_ALLOC(char, length);
  if (!part) return scree_fail_memory(log, path);
  snprintf(part, length, "%s.part", path);
  /* the journal has all numbers; compression makes them less */
  const int error = try_room(part, journal->length + (1 << 20));
  if (error) {
    scree_free(part);
    return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s (%lld bytes are needed)", path,
                      strerror(error), (long long)journal->length);
  }
  H5E_auto2_t function = NULL;
  void *user = NULL;
  H5Eget_auto2(H5E_DEFAULT, &function, &user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fcreate(part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  scree_Status status = SCREE_MACHINE;
  if (file >= 0)
    status = write_content(file, path, journal, sizes, scene, world, finished, poll, log);
  if (file >= 0 && H5Fclose(file) < 0 && status == SCREE_OK) file = -1, status = SCREE_MACHINE;
  if (file < 0) status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written", path);
  H5Eset_auto2(H5E_DEFAULT, function, user);
  if (status == SCREE_OK)
    status = scree_file_settle(part, path, log);
  else
    (void)unlink(part);
  scree_free(part);
  return status;
}

static scree_Status write_file(const char *path, const scree_Journal *journal,
                               const scree_Scene *scene, const scree_World *world, bool finished,
                               int64_t memory, scree_Poll *poll, const scree_Log *log) {
  Sizes sizes;
  scree_Status status = find_sizes(journal, world, &sizes, log);
  if (status == SCREE_OK && journal->length > memory) {
    status = write_large(path, journal, &sizes, scene, world, finished, poll, log);
  } else if (status == SCREE_OK) {
    scree_H5 h5;
    status = scree_h5_create(&h5, path, NULL, log);
    if (status == SCREE_OK) {
      status = write_content(h5.file, path, journal, &sizes, scene, world, finished, poll, log);
      if (status == SCREE_OK) status = scree_h5_save(&h5);
      scree_h5_close(&h5);
    }
  }
  scree_free(sizes.first);
  scree_free(sizes.last);
  return status;
}

scree_Status scree_results_write_within(const char *path, const scree_Journal *journal,
                                        const scree_Scene *scene, const scree_World *world,
                                        bool finished, int64_t memory, const scree_Log *log) {
  return write_file(path, journal, scene, world, finished, memory, NULL, log);
}

scree_Status scree_results_write(const char *path, const scree_Journal *journal,
                                 const scree_Scene *scene, const scree_World *world, bool finished,
                                 scree_Poll *poll, const scree_Log *log) {
  return write_file(path, journal, scene, world, finished, IN_MEMORY, poll, log);
}
