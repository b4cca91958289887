/* The part of results.h5 that does not change from frame to frame: head, materials, bodies. */
#include "core/memory.h"
#include "element/mesh.h"
#include "run/results_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

scree_ResultsHead scree_results_head(const scree_Scene *scene, scree_ResultsMaterial *materials) {
  const scree_SceneInfo info = scree_scene_info(scene);
  for (int k = 0; k < info.materials; ++k)
    materials[k].name = scree_scene_material(scene, k, &materials[k].density, &materials[k].colour);
  return (scree_ResultsHead){.title = info.title,
                             .scene = scree_scene_text(scene),
                             .compression = info.compression,
                             .materials = info.materials,
                             .material = materials,
                             .naming = scene};
}

static void write_head(scree_ResultsWriter *writer, const scree_ResultsHead *head,
                       const scree_World *world) {
  const scree_WorldSettings *settings = scree_world_get_settings(world);
  const int version = 1, done = head->finished;
  const char *const text[] = {head->scene};
  scree_results_text(writer, "format", "scree-results");
  scree_results_attribute(writer, "version", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &version);
  scree_results_text(writer, "scree", scree_version());
  scree_results_attribute(writer, "dimension", H5T_STD_I32LE, H5T_NATIVE_INT, 0,
                          &settings->dimension);
  scree_results_text(writer, "title", head->title);
  scree_results_attribute(writer, "finished", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &done);
  scree_results_attribute(writer, "gravity", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3,
                          &settings->gravity);
  scree_results_attribute(writer, "step", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &settings->step);
  scree_results_texts(writer, "/scene", text, 0, 0, 0);
}

/* The parameters of law number `law` that no law before it has, for all pairs of materials: NaN
 * where the pair has another law. `values` has room for (m x m). */
static void write_parameters(scree_ResultsWriter *writer, const scree_World *world, int law, int m,
                             double *values) {
  const scree_OptionTable *table = scree_law_options(scree_law_name(law));
  for (int k = 0; k < table->count; ++k) {
    const char *name = table->options[k].name;
    bool written = false;
    for (int before = 0; before < law && !written; ++before) {
      const scree_PairLaw other = scree_pair_law(scree_law_name(before));
      written = !isnan(scree_pair_law_get(&other, name));
    }
    if (written) continue;
    for (int a = 0; a < m; ++a)
      for (int b = 0; b < m; ++b) {
        const scree_PairLaw pair = scree_world_pair_law(world, a, b);
        values[a * m + b] = scree_pair_law_get(&pair, name);
      }
    char path[64];
    snprintf(path, sizeof path, "/materials/%.40s", name);
    const hsize_t n = (hsize_t)m;
    scree_results_put_all(writer, scree_results_reals(writer, path, 2, n, n, 0), values);
  }
}

static void write_materials(scree_ResultsWriter *writer, const scree_ResultsHead *head,
                            const scree_World *world) {
  const int m = head->materials;
  const size_t mm = (size_t)m * (size_t)m;
  const char **texts = SCREE_ALLOC(const char *, 2 * (size_t)m + mm);
  double *values = SCREE_ALLOC(double, (size_t)m + mm);
  scree_results_group(writer, "/materials");
  writer->good = writer->good && texts && values;
  if (writer->good) {
    for (int a = 0; a < m; ++a) {
      texts[a] = head->material[a].name;
      texts[m + a] = head->material[a].colour;
      values[a] = head->material[a].density;
      for (int b = 0; b < m; ++b)
        texts[2 * (size_t)m + (size_t)a * (size_t)m + (size_t)b] =
            scree_world_pair_law(world, a, b).law;
    }
    const hsize_t n = (hsize_t)m;
    scree_results_texts(writer, "/materials/name", texts, 1, n, 0);
    scree_results_texts(writer, "/materials/colour", texts + m, 1, n, 0);
    scree_results_texts(writer, "/materials/law", texts + 2 * m, 2, n, n);
    scree_results_put_all(writer, scree_results_reals(writer, "/materials/density", 1, n, 0, 0),
                          values);
    for (int k = 0; scree_law_name(k); ++k) write_parameters(writer, world, k, m, values + m);
  }
  scree_free(texts);
  scree_free(values);
}

/* Rows of a table that this process writes: all, or of several ranks those of its own. */
typedef struct Rows {
  int64_t first, count, whole;
  bool last; /* the last row is one of them */
} Rows;

/* `mine` rows behind those of the ranks before. */
static Rows rows_of(const scree_ResultsWriter *writer, int64_t mine) {
  Rows rows = {0, mine, mine,
               scree_ranks_rank(writer->ranks) + 1 == scree_ranks_count(writer->ranks)};
  const int64_t *all = scree_ranks_gather(writer->ranks, &mine, sizeof mine);
  rows.whole = 0;
  for (int k = 0; k < scree_ranks_count(writer->ranks); ++k) {
    if (k < scree_ranks_rank(writer->ranks)) rows.first += all[k];
    rows.whole += all[k];
  }
  return rows;
}

/* Offsets (count + 1) of rows whose lengths were put in place 1 and on: counted over all ranks. */
static Rows add_up(const scree_ResultsWriter *writer, int64_t *offset, const Rows *rows) {
  for (int64_t k = 0; k < rows->count && writer->good; ++k) offset[k + 1] += offset[k];
  const Rows items = rows_of(writer, writer->good ? offset[rows->count] : 0);
  for (int64_t k = 0; k <= rows->count && writer->good; ++k) offset[k] += items.first;
  return items;
}

static void put_offsets(scree_ResultsWriter *writer, const char *name, const Rows *rows,
                        const int64_t *offset) {
  scree_results_put_rows(writer,
                         scree_results_data(writer, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 1,
                                            (hsize_t)rows->whole + 1, 0, 0, false),
                         (hsize_t)rows->first, (hsize_t)rows->count + (hsize_t)rows->last, offset);
}

static void put_ints(scree_ResultsWriter *writer, const char *name, const Rows *rows, hsize_t width,
                     const int *values) {
  scree_results_put_rows(writer,
                         scree_results_data(writer, name, H5T_STD_I32LE, H5T_NATIVE_INT,
                                            width ? 2 : 1, (hsize_t)rows->whole, width, 0, false),
                         (hsize_t)rows->first, (hsize_t)rows->count, values);
}

static void put_reals(scree_ResultsWriter *writer, const char *name, const Rows *rows,
                      hsize_t width, const double *values) {
  scree_results_put_rows(
      writer, scree_results_reals(writer, name, width ? 2 : 1, (hsize_t)rows->whole, width, 0),
      (hsize_t)rows->first, (hsize_t)rows->count, values);
}

static bool any(const scree_ResultsWriter *writer, bool mine) {
  return scree_ranks_any(writer->ranks, mine);
}

/* Shapes of bodies, or of parts of clumps: the data sets that both have. */
static void write_shapes(scree_ResultsWriter *writer, const char *group,
                         const scree_Shape *const *shapes, const Rows *rows) {
  const int n = (int)rows->count;
  int *kind = SCREE_ALLOC(int, n);
  double *numbers = SCREE_ALLOC(double, 7 * (size_t)n);
  int64_t *offset = SCREE_ALLOC(int64_t, (size_t)n + 1);
  writer->good = writer->good && kind && numbers && offset;
  for (int k = 0; k < n && writer->good; ++k) offset[k + 1] = shapes[k]->vertex_count;
  const Rows corners = add_up(writer, offset, rows);
  scree_Vec3 *vertices = SCREE_ALLOC(scree_Vec3, corners.count);
  writer->good = writer->good && vertices;
  if (scree_results_ready(writer)) {
    double *radius = numbers, *half = numbers + n, *semi = numbers + 2 * (size_t)n;
    double *exponent = numbers + 5 * (size_t)n;
    bool super = false;
    for (int k = 0; k < n; ++k) {
      const scree_Shape *shape = shapes[k];
      kind[k] = (int)shape->kind;
      radius[k] = shape->radius;
      half[k] = shape->half_length;
      memcpy(semi + 3 * k, &shape->semi, sizeof shape->semi);
      memcpy(exponent + 2 * k, shape->exponent, sizeof shape->exponent);
      super = super || shape->kind == SCREE_SHAPE_SUPERELLIPSOID;
      if (shape->vertex_count)
        memcpy(vertices + (offset[k] - corners.first), shape->vertices,
               (size_t)shape->vertex_count * sizeof *vertices);
    }
    super = any(writer, super);
    char path[64];
#define PATH(name) (snprintf(path, sizeof path, "%s/%s", group, name), path)
    put_ints(writer, PATH("kind"), rows, 0, kind);
    put_reals(writer, PATH("radius"), rows, 0, radius);
    put_reals(writer, PATH("half_length"), rows, 0, half);
    put_reals(writer, PATH("semi"), rows, 3, semi);
    if (super) put_reals(writer, PATH("exponent"), rows, 2, exponent);
    put_offsets(writer, PATH("vertex_offset"), rows, offset);
    put_reals(writer, PATH("vertices"), &corners, 3, (const double *)vertices);
#undef PATH
  }
  scree_free(kind);
  scree_free(numbers);
  scree_free(offset);
  scree_free(vertices);
}

/* The triangles of meshes, if there are any, with offsets (n+1). */
static void write_triangles(scree_ResultsWriter *writer, const scree_Shape *const *shapes,
                            const Rows *rows) {
  const int n = (int)rows->count;
  int64_t *offset = SCREE_ALLOC(int64_t, (size_t)n + 1);
  writer->good = writer->good && offset;
  for (int k = 0; k < n && writer->good; ++k) {
    const scree_ShapeType *type = scree_shape_type(shapes[k]->kind);
    const bool mesh = type->takes_triangles || type->takes_heights || type->takes_elements;
    offset[k + 1] = mesh ? scree_shape_triangle_count(shapes[k]) : 0;
  }
  const Rows faces = add_up(writer, offset, rows);
  int *triangles = SCREE_ALLOC(int, 3 * faces.count);
  writer->good = writer->good && triangles;
  if (scree_results_ready(writer) && faces.whole > 0) {
    for (int k = 0; k < n; ++k)
      if (offset[k + 1] > offset[k])
        memcpy(triangles + 3 * (offset[k] - faces.first), scree_shape_triangles(shapes[k], NULL),
               3 * (size_t)(offset[k + 1] - offset[k]) * sizeof *triangles);
    put_offsets(writer, "/bodies/triangle_offset", rows, offset);
    put_ints(writer, "/bodies/triangles", &faces, 3, triangles);
  }
  scree_free(offset);
  scree_free(triangles);
}

/* Undeformed places of the nodes of all bodies, what holds each (-1 nothing, -2 it is held, or the
 * number of the obstacle that moves it), and, if an obstacle does, their places in its frame. */
static void write_nodes(scree_ResultsWriter *writer, const scree_BodyTable *table,
                        const Rows *rows) {
  const size_t n = (size_t)rows->count;
  double *place = SCREE_ALLOC(double, 3 * n), *anchor = SCREE_ALLOC(double, 3 * n);
  int *holder = SCREE_ALLOC(int, n);
  bool driven = false;
  writer->good = writer->good && place && anchor && holder;
  for (size_t k = 0; k < n && writer->good; ++k) {
    const scree_NodeRow *node = &table->node[k];
    memcpy(place + 3 * k, &node->place, 3 * sizeof *place);
    memcpy(anchor + 3 * k, &node->anchor, 3 * sizeof *anchor);
    holder[k] = node->holder;
    driven = driven || node->holder >= 0;
  }
  if (scree_results_ready(writer)) {
    driven = any(writer, driven);
    put_reals(writer, "/elements/place", rows, 3, place);
    put_ints(writer, "/elements/holder", rows, 0, holder);
    if (driven) put_reals(writer, "/elements/anchor", rows, 3, anchor);
  }
  scree_free(place);
  scree_free(anchor);
  scree_free(holder);
}

static const scree_ElementMesh *mesh_of(const scree_BodyRow *row) {
  return row->kind == SCREE_BODY_ELEMENTS ? scree_shape_elements(&row->shape) : NULL;
}

/* The meshes of finite-element bodies: where the nodes and elements of each body start (n+1), the
 * corners of the elements (numbers of nodes within the body, -1 behind the last), and the node of
 * each vertex in /bodies/vertices (-1: of another shape). */
static void write_elements(scree_ResultsWriter *writer, const scree_BodyTable *table,
                           const Rows *rows) {
  const int n = (int)rows->count;
  int64_t vertices = 0;
  if (table->whole_nodes == 0) return;
  int64_t *node = SCREE_ALLOC(int64_t, (size_t)n + 1),
          *element = SCREE_ALLOC(int64_t, (size_t)n + 1);
  writer->good = writer->good && node && element;
  for (int b = 0; b < n && writer->good; ++b) {
    const scree_ElementMesh *mesh = mesh_of(&table->row[b]);
    node[b + 1] = mesh ? mesh->node_count : 0;
    element[b + 1] = mesh ? mesh->element_count : 0;
    vertices += table->row[b].shape.vertex_count;
  }
  const Rows nodes = add_up(writer, node, rows), elements = add_up(writer, element, rows);
  const Rows places = rows_of(writer, vertices);
  int *corner = SCREE_ALLOC(int, SCREE_ELEMENT_CORNERS *elements.count);
  int *surface = SCREE_ALLOC(int, vertices), *to = corner, *on = surface;
  writer->good = writer->good && corner && surface;
  for (int b = 0; b < n && writer->good; ++b) {
    const scree_ElementMesh *mesh = mesh_of(&table->row[b]);
    for (int e = 0; mesh && e < mesh->element_count; ++e)
      for (size_t k = 0; k < SCREE_ELEMENT_CORNERS; ++k) {
        const size_t at = mesh->corner_row[e] + k;
        *to++ = at < mesh->corner_row[e + 1] ? mesh->corner[at] : -1;
      }
    for (int k = 0; k < table->row[b].shape.vertex_count; ++k) *on++ = mesh ? mesh->surface[k] : -1;
  }
  if (scree_results_ready(writer)) {
    scree_results_group(writer, "/elements");
    put_offsets(writer, "/elements/node_offset", rows, node);
    put_offsets(writer, "/elements/element_offset", rows, element);
    put_ints(writer, "/elements/corner", &elements, SCREE_ELEMENT_CORNERS, corner);
    put_ints(writer, "/elements/surface_node", &places, 0, surface);
  }
  write_nodes(writer, table, &nodes);
  scree_free(node);
  scree_free(element);
  scree_free(corner);
  scree_free(surface);
}

/* The parts of clumps, if there are any. */
static void write_parts(scree_ResultsWriter *writer, const scree_BodyTable *table) {
  int64_t total = 0;
  for (int b = 0; b < table->count; ++b) total += scree_shape_part_count(&table->row[b].shape);
  const Rows rows = rows_of(writer, total);
  if (rows.whole == 0) return;
  const scree_Shape **shapes = SCREE_ALLOC(const scree_Shape *, total);
  int *body = SCREE_ALLOC(int, total);
  double *position = SCREE_ALLOC(double, 3 * total), *orientation = SCREE_ALLOC(double, 4 * total);
  scree_results_group(writer, "/parts");
  writer->good = writer->good && shapes && body && position && orientation;
  size_t at = 0;
  for (int b = 0; b < table->count && writer->good; ++b) {
    const scree_Shape *clump = &table->row[b].shape;
    for (int k = 0; k < scree_shape_part_count(clump); ++k, ++at) {
      const scree_ClumpPart *part = scree_shape_part(clump, k);
      shapes[at] = &part->shape;
      body[at] = table->first + b;
      memcpy(position + 3 * at, &part->pose.position, sizeof part->pose.position);
      memcpy(orientation + 4 * at, &part->pose.orientation, sizeof part->pose.orientation);
    }
  }
  if (scree_results_ready(writer)) {
    put_ints(writer, "/parts/body", &rows, 0, body);
    put_reals(writer, "/parts/position", &rows, 3, position);
    put_reals(writer, "/parts/orientation", &rows, 4, orientation);
    write_shapes(writer, "/parts", shapes, &rows);
  }
  scree_free((void *)shapes);
  scree_free(body);
  scree_free(position);
  scree_free(orientation);
}

/* Keys of deformable bodies other than the kind, as bits. */
static uint32_t flags_of(const scree_BodyRow *row) {
  return (row->explicit_ ? SCREE_RESULTS_EXPLICIT : 0u) |
         (row->consistent_mass ? SCREE_RESULTS_CONSISTENT : 0u) |
         (row->keeps_shape ? SCREE_RESULTS_KEEPS_SHAPE : 0u);
}

/* Groups of bodies that do not touch each other, and how they deform; no dataset when all are 0. */
static void write_groups(scree_ResultsWriter *writer, const scree_BodyTable *table,
                         const Rows *rows) {
  static const char *const names[] = {"/bodies/group", "/bodies/body_kind", "/bodies/body_flags"};
  enum { COUNT = 3 };
  uint32_t *values[COUNT] = {SCREE_ALLOC(uint32_t, table->count),
                             SCREE_ALLOC(uint32_t, table->count),
                             SCREE_ALLOC(uint32_t, table->count)};
  bool found[COUNT] = {false, false, false};
  writer->good = writer->good && values[0] && values[1] && values[2];
  for (int b = 0; b < table->count && writer->good; ++b) {
    values[0][b] = table->row[b].group;
    values[1][b] = (uint32_t)table->row[b].kind;
    values[2][b] = flags_of(&table->row[b]);
    for (int k = 0; k < COUNT; ++k) found[k] = found[k] || values[k][b] != 0;
  }
  for (int k = 0; k < COUNT; ++k) {
    if (any(writer, found[k]))
      scree_results_put_rows(writer,
                             scree_results_data(writer, names[k], H5T_STD_U32LE, H5T_NATIVE_UINT32,
                                                1, (hsize_t)rows->whole, 0, 0, false),
                             (hsize_t)rows->first, (hsize_t)rows->count, values[k]);
    scree_free(values[k]);
  }
}

static void write_bodies(scree_ResultsWriter *writer, const scree_BodyTable *table,
                         const int *first, const int *last) {
  const int n = table->count;
  const Rows rows = rows_of(writer, n);
  int *ints = SCREE_ALLOC(int, 2 * (size_t)n);
  double *reals = SCREE_ALLOC(double, 4 * (size_t)n);
  const scree_Shape **shapes = SCREE_ALLOC(const scree_Shape *, n);
  const char *names[SCREE_SHAPE_KINDS];
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) names[k] = scree_shape_type((scree_ShapeKind)k)->name;
  scree_results_group(writer, "/bodies");
  writer->good = writer->good && ints && reals && shapes;
  if (scree_results_ready(writer)) {
    int *obstacle = ints, *material = ints + n;
    double *mass = reals, *inertia = reals + n;
    for (int b = 0; b < n; ++b) {
      const scree_BodyRow *row = &table->row[b];
      shapes[b] = &row->shape;
      obstacle[b] = row->obstacle;
      material[b] = row->material;
      mass[b] = row->mass;
      memcpy(inertia + 3 * b, &row->inertia, sizeof row->inertia);
    }
    put_ints(writer, "/bodies/obstacle", &rows, 0, obstacle);
    put_ints(writer, "/bodies/material", &rows, 0, material);
    put_ints(writer, "/bodies/first_frame", &rows, 0, first);
    put_ints(writer, "/bodies/last_frame", &rows, 0, last);
    scree_results_texts(writer, "/bodies/kind_names", names, 1, SCREE_SHAPE_KINDS, 0);
    put_reals(writer, "/bodies/mass", &rows, 0, mass);
    put_reals(writer, "/bodies/inertia", &rows, 3, inertia);
    write_shapes(writer, "/bodies", shapes, &rows);
    write_triangles(writer, shapes, &rows);
    write_elements(writer, table, &rows);
  }
  write_groups(writer, table, &rows);
  scree_free(ints);
  scree_free(reals);
  scree_free((void *)shapes);
  write_parts(writer, table);
}

/* Kinds, bodies and labels of joints, and the strengths of bonds. */
static void write_joints(scree_ResultsWriter *writer, const scree_World *world) {
  const int n = scree_world_joint_count(world);
  if (n == 0) return;
  const hsize_t J = (hsize_t)n;
  const char *names[SCREE_JOINT_KINDS];
  for (int k = 0; k < SCREE_JOINT_KINDS; ++k) names[k] = scree_joint_name((scree_JointKind)k);
  int *ints = SCREE_ALLOC(int, 4 * (size_t)n);
  double *strength = SCREE_ALLOC(double, 4 * (size_t)n);
  bool bonds = false;
  scree_results_group(writer, "/joints");
  writer->good = writer->good && ints && strength;
  if (writer->good) {
    int *kind = ints, *label = ints + n, *body = ints + 2 * (size_t)n;
    for (int k = 0; k < n; ++k) {
      const scree_JointDef *def = scree_world_joint_def(world, k);
      kind[k] = (int)def->kind;
      label[k] = def->label;
      memcpy(body + 2 * k, def->body, sizeof def->body);
      const double all[4] = {def->tension, def->shear, def->bending, def->torsion};
      memcpy(strength + 4 * k, all, sizeof all);
      bonds = bonds || def->kind == SCREE_JOINT_BOND;
    }
    scree_results_texts(writer, "/joints/kind_names", names, 1, SCREE_JOINT_KINDS, 0);
    scree_results_put_all(writer,
                          scree_results_data(writer, "/joints/kind", H5T_STD_I32LE, H5T_NATIVE_INT,
                                             1, J, 0, 0, false),
                          kind);
    scree_results_put_all(writer,
                          scree_results_data(writer, "/joints/label", H5T_STD_I32LE, H5T_NATIVE_INT,
                                             1, J, 0, 0, false),
                          label);
    scree_results_put_all(writer,
                          scree_results_data(writer, "/joints/body", H5T_STD_I32LE, H5T_NATIVE_INT,
                                             2, J, 2, 0, false),
                          body);
    if (bonds)
      scree_results_put_all(writer, scree_results_reals(writer, "/joints/strength", 2, J, 4, 0),
                            strength);
  }
  scree_free(ints);
  scree_free(strength);
}

/* Names of bodies, "" where there is none; no dataset when no body has a name. Each rank knows all
 * of them. */
static void write_names(scree_ResultsWriter *writer, const scree_Scene *scene,
                        const scree_BodyTable *table) {
  const char **names = SCREE_ALLOC(const char *, table->count);
  bool found = false;
  size_t width = 1;
  writer->good = writer->good && names;
  for (int b = 0; b < table->whole && writer->good; ++b) {
    const char *name = scree_scene_body_name(scene, b);
    const int place = b - table->first;
    if (place >= 0 && place < table->count) names[place] = name ? name : "";
    if (name && strlen(name) > width) width = strlen(name);
    found = found || name;
  }
  if (any(writer, found)) {
    const Rows rows = rows_of(writer, table->count);
    scree_results_put_texts(writer, "/bodies/name", names, width, (hsize_t)rows.whole,
                            (hsize_t)rows.first, (hsize_t)rows.count);
  }
  scree_free(names);
}

void scree_results_write_world(scree_ResultsWriter *writer, const scree_ResultsHead *head,
                               const scree_World *world, const scree_BodyTable *table,
                               const int *first, const int *last) {
  write_head(writer, head, world);
  write_materials(writer, head, world);
  write_bodies(writer, table, first, last);
  write_joints(writer, world);
  if (head->naming) write_names(writer, head->naming, table);
}
