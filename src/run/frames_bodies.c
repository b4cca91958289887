/* The bodies of a run that is read back, and the parts of clumps (see frames_data.h). */
#include "run/frames_data.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "run/results_data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shapes of /bodies or of /parts, (N) each. */
typedef struct Shapes {
  int *kind;
  double *exponent; /* (n x 2) or null */
  double *radius, *half_length, *semi, *vertices;
  int64_t *offset, *triangle_offset; /* the latter null: there are no meshes */
  int *triangles;
} Shapes;

/* The rest of /bodies and /parts, (N) each. */
typedef struct Table {
  int *obstacle, *material, *body;
  uint32_t *group, *kind, *flags; /* or null: all are 0 */
  double *mass, *inertia, *position, *orientation;
  Shapes shapes;
} Table;

static void table_fini(Table *table) {
  void *const arrays[] = {table->obstacle,
                          table->material,
                          table->group,
                          table->kind,
                          table->flags,
                          table->body,
                          table->mass,
                          table->inertia,
                          table->position,
                          table->orientation,
                          table->shapes.kind,
                          table->shapes.radius,
                          table->shapes.half_length,
                          table->shapes.semi,
                          table->shapes.exponent,
                          table->shapes.vertices,
                          table->shapes.offset,
                          table->shapes.triangle_offset,
                          table->shapes.triangles};
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
    status = scree_frames_named(h5, path, 0, columns[k].rows, columns[k].columns, columns[k].type,
                                columns[k].values);
  }
  return status;
}

static scree_Status read_shapes(const scree_H5 *h5, const char *group, hsize_t n, Shapes *s) {
  *s = (Shapes){.kind = SCREE_ALLOC(int, n),
                .radius = SCREE_ALLOC(double, n),
                .half_length = SCREE_ALLOC(double, n),
                .semi = SCREE_ALLOC(double, 3 * n),
                .offset = SCREE_ALLOC(int64_t, n + 1)};
  if (!s->kind || !s->radius || !s->half_length || !s->semi || !s->offset)
    return scree_fail_memory(h5->log, "the shapes of a run");
  const Column columns[] = {{"kind", n, 1, H5T_NATIVE_INT, s->kind},
                            {"radius", n, 1, H5T_NATIVE_DOUBLE, s->radius},
                            {"half_length", n, 1, H5T_NATIVE_DOUBLE, s->half_length},
                            {"semi", n, 3, H5T_NATIVE_DOUBLE, s->semi},
                            {"vertex_offset", n + 1, 1, H5T_NATIVE_INT64, s->offset}};
  scree_Status status = read_columns(h5, group, columns, sizeof columns / sizeof *columns);
  if (status != SCREE_OK) return status;
  char path[64];
  hsize_t extent[2] = {0, 0};
  snprintf(path, sizeof path, "%s/exponent", group); /* only where there are superellipsoids */
  if (scree_frames_extent(h5, path, 2, extent) && extent[0] == n && extent[1] == 2) {
    s->exponent = SCREE_ALLOC(double, 2 * n);
    if (!s->exponent) return scree_fail_memory(h5->log, "the shapes of a run");
    status = scree_frames_named(h5, path, 0, n, 2, H5T_NATIVE_DOUBLE, s->exponent);
    if (status != SCREE_OK) return status;
  }
  snprintf(path, sizeof path, "%s/vertices", group);
  hsize_t dims[2] = {0, 3};
  const bool any = scree_frames_extent(h5, path, 2, dims) && dims[1] == 3;
  const int64_t total = any ? (int64_t)dims[0] : 0;
  for (hsize_t i = 0; i < n; ++i)
    if (s->offset[i] < 0 || s->offset[i + 1] < s->offset[i] || s->offset[i + 1] > total)
      return scree_fail(h5->log, SCREE_BAD_INPUT,
                        "%s: %s/vertex_offset: shape %llu has vertices %lld to %lld, expected them "
                        "to ascend to at most %lld",
                        h5->path, group, (unsigned long long)i, (long long)s->offset[i],
                        (long long)s->offset[i + 1], (long long)total);
  s->vertices = SCREE_ALLOC(double, 3 * total);
  if (!s->vertices) return scree_fail_memory(h5->log, "the vertices of a run");
  return total ? scree_frames_named(h5, path, 0, (hsize_t)total, 3, H5T_NATIVE_DOUBLE, s->vertices)
               : SCREE_OK;
}

static scree_Status read_triangles(const scree_H5 *h5, hsize_t n, Shapes *s) {
  hsize_t dims[2] = {0, 3};
  if (!scree_frames_extent(h5, "/bodies/triangles", 2, dims) || dims[1] != 3 || dims[0] == 0)
    return SCREE_OK;
  const int64_t total = (int64_t)dims[0];
  s->triangle_offset = SCREE_ALLOC(int64_t, n + 1);
  s->triangles = SCREE_ALLOC(int, 3 * total);
  if (!s->triangle_offset || !s->triangles)
    return scree_fail_memory(h5->log, "the triangles of a run");
  scree_Status status = scree_frames_named(h5, "/bodies/triangle_offset", 0, n + 1, 1,
                                           H5T_NATIVE_INT64, s->triangle_offset);
  for (hsize_t i = 0; i < n && status == SCREE_OK; ++i)
    if (s->triangle_offset[i] < 0 || s->triangle_offset[i + 1] < s->triangle_offset[i] ||
        s->triangle_offset[i + 1] > total)
      status = scree_fail(h5->log, SCREE_BAD_INPUT,
                          "%s: /bodies/triangle_offset: body %llu has triangles %lld to %lld, "
                          "expected them to ascend to at most %lld",
                          h5->path, (unsigned long long)i, (long long)s->triangle_offset[i],
                          (long long)s->triangle_offset[i + 1], (long long)total);
  return status == SCREE_OK ? scree_frames_named(h5, "/bodies/triangles", 0, (hsize_t)total, 3,
                                                 H5T_NATIVE_INT, s->triangles)
                            : status;
}

/* One number per body, of datasets that are there only if some are not 0. */
static scree_Status read_codes(const scree_H5 *h5, const char *name, hsize_t n, uint32_t **values) {
  hsize_t count;
  if (!scree_frames_extent(h5, name, 1, &count) || count != n) return SCREE_OK;
  *values = SCREE_ALLOC(uint32_t, n);
  return *values ? scree_frames_named(h5, name, 0, n, 1, H5T_NATIVE_UINT32, *values)
                 : scree_fail_memory(h5->log, "the bodies of a run");
}

static scree_Status read_body_table(const scree_H5 *h5, hsize_t n, Table *table) {
  table->obstacle = SCREE_ALLOC(int, n);
  table->material = SCREE_ALLOC(int, n);
  table->mass = SCREE_ALLOC(double, n);
  table->inertia = SCREE_ALLOC(double, 3 * n);
  if (!table->obstacle || !table->material || !table->mass || !table->inertia)
    return scree_fail_memory(h5->log, "the bodies of a run");
  const Column columns[] = {{"obstacle", n, 1, H5T_NATIVE_INT, table->obstacle},
                            {"material", n, 1, H5T_NATIVE_INT, table->material},
                            {"mass", n, 1, H5T_NATIVE_DOUBLE, table->mass}};
  scree_Status status = read_columns(h5, "/bodies", columns, 3);
  /* files of other programs may leave the moments out */
  hsize_t dims[2] = {0, 0};
  if (status == SCREE_OK && scree_frames_extent(h5, "/bodies/inertia", 2, dims) && dims[0] == n &&
      dims[1] == 3)
    status = scree_frames_named(h5, "/bodies/inertia", 0, n, 3, H5T_NATIVE_DOUBLE, table->inertia);
  if (status == SCREE_OK) status = read_codes(h5, "/bodies/group", n, &table->group);
  if (status == SCREE_OK) status = read_codes(h5, "/bodies/body_kind", n, &table->kind);
  if (status == SCREE_OK) status = read_codes(h5, "/bodies/body_flags", n, &table->flags);
  if (status == SCREE_OK) status = read_shapes(h5, "/bodies", n, &table->shapes);
  return status == SCREE_OK ? read_triangles(h5, n, &table->shapes) : status;
}

/* The parts of clumps; *n is 0 when the run has none. */
static scree_Status read_part_table(const scree_H5 *h5, hsize_t *n, Table *table) {
  hsize_t dims[2] = {0, 3};
  *n = scree_frames_extent(h5, "/parts/position", 2, dims) && dims[1] == 3 ? dims[0] : 0;
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
  const int index = shapes->kind ? shapes->kind[i] : -1;
  const bool known = index >= 0 && index < count;
  const scree_ShapeKind kind =
      known ? scree_shape_kind(names[index], replay->dimension) : SCREE_SHAPE_KINDS;
  if (kind == SCREE_SHAPE_KINDS)
    scree_fail(h5->log, SCREE_BAD_INPUT,
               "%s: %s/kind: shape %d is of kind %d (%s), expected a kind that this version of "
               "scree knows",
               h5->path, group, i, index, known ? names[index] : "?");
  return kind;
}

/* Shape i without parts, with all that is derived from its parameters. */
static scree_Status make_shape(const scree_Replay *replay, const Shapes *shapes, int i,
                               scree_ShapeKind kind, scree_Shape *shape) {
  const scree_ShapeType *type = scree_shape_type(kind);
  scree_Shape all = {
      .radius = shapes->radius[i],
      .half_length = shapes->half_length[i],
      .semi = {shapes->semi[3 * i], shapes->semi[3 * i + 1], shapes->semi[3 * i + 2]}};
  if (shapes->exponent) memcpy(all.exponent, shapes->exponent + 2 * (size_t)i, sizeof all.exponent);
  double parameters[8] = {0};
  for (int p = 0; p < type->parameter_count && p < 8; ++p)
    memcpy(&parameters[p], (const char *)&all + type->parameters[p].offset, sizeof(double));
  const int64_t first = shapes->offset[i], count = shapes->offset[i + 1] - first;
  const scree_Vec3 *vertices = (const scree_Vec3 *)(const void *)(shapes->vertices + 3 * first);
  /* of elements the surface is drawn */
  if (type->takes_triangles || type->takes_heights || type->takes_elements) {
    const int64_t from = shapes->triangle_offset ? shapes->triangle_offset[i] : 0;
    const int64_t to = shapes->triangle_offset ? shapes->triangle_offset[i + 1] : 0;
    return scree_shape_init_mesh(shape, vertices, (int)count,
                                 shapes->triangles ? shapes->triangles + 3 * from : NULL,
                                 (int)(to - from), replay->log);
  }
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
  scree_ClumpPart *parts = SCREE_ALLOC(scree_ClumpPart, count);
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
  /* the parts are in the frame of the body, whose moments may be those of another solid than the
   * sum of the parts */
  double volume = 0;
  for (int k = 0; k < made; ++k) volume += parts[k].shape.volume;
  const scree_Vec3 moments = replay->bodies[b].inertia;
  const double mass = replay->bodies[b].mass;
  if (status == SCREE_OK)
    status = isfinite(mass) && mass > 0 && moments.z > 0
                 ? scree_shape_init_clump_with(shape, parts, count, volume,
                                               scree_scale(volume / mass, moments), replay->log)
                 : scree_shape_init_clump(shape, parts, count, replay->log);
  for (int k = 0; k < made; ++k) scree_shape_fini(&parts[k].shape);
  scree_free(parts);
  return status;
}

scree_Status scree_frames_bodies(scree_Replay *replay, const scree_H5 *h5) {
  Table table = {0}, parts = {0};
  int names_count = 0;
  hsize_t part_count = 0, next = 0;
  char(*names)[64] = scree_frames_texts(h5, "/bodies/kind_names", &names_count);
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
    replay->bodies[i].group = table.group ? table.group[i] : 0;
    if (table.kind && table.kind[i] < SCREE_BODY_KINDS)
      replay->bodies[i].kind = (scree_BodyKind)table.kind[i];
    const uint32_t flags = table.flags ? table.flags[i] : 0;
    replay->bodies[i].explicit_ = flags & SCREE_RESULTS_EXPLICIT;
    replay->bodies[i].consistent_mass = flags & SCREE_RESULTS_CONSISTENT;
    replay->bodies[i].keeps_shape = flags & SCREE_RESULTS_KEEPS_SHAPE;
    replay->bodies[i].mass = table.obstacle[i] ? INFINITY : table.mass[i];
    const double *moments = table.inertia + 3 * (size_t)i;
    if (!table.obstacle[i] && isfinite(moments[0] + moments[1] + moments[2]))
      replay->bodies[i].inertia = (scree_Vec3){moments[0], moments[1], moments[2]};
    status = scree_shape_type(kind)->takes_parts
                 ? make_clump(replay, h5, &parts, part_count, i, names, names_count, &next, shape)
                 : make_shape(replay, &table.shapes, i, kind, shape);
    if (status == SCREE_OK) continue;
    *shape = (scree_Shape){0};
    scree_fail(
        replay->log, status,
        "body %d of the run: found no usable shape, expected the one with which the run was made",
        i);
  }
  table_fini(&table);
  table_fini(&parts);
  scree_free(names);
  if (status == SCREE_OK)
    replay->names = scree_frames_texts(h5, "/bodies/name", &replay->name_count);
  return status;
}
