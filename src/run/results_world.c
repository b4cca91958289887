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

/* Shapes of bodies, or of parts of clumps: the data sets that both have. */
static void write_shapes(scree_ResultsWriter *writer, const char *group,
                         const scree_Shape *const *shapes, int n) {
  const hsize_t N = (hsize_t)n;
  int *kind = SCREE_ALLOC(int, n);
  double *numbers = SCREE_ALLOC(double, 7 * (size_t)n);
  int64_t *offset = SCREE_ALLOC(int64_t, (size_t)n + 1);
  writer->good = writer->good && kind && numbers && offset;
  for (int k = 0; k < n && writer->good; ++k) offset[k + 1] = offset[k] + shapes[k]->vertex_count;
  const size_t total = writer->good ? (size_t)offset[n] : 0;
  scree_Vec3 *vertices = SCREE_ALLOC(scree_Vec3, total);
  writer->good = writer->good && vertices;
  if (writer->good) {
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
        memcpy(vertices + offset[k], shape->vertices,
               (size_t)shape->vertex_count * sizeof *vertices);
    }
    char path[64];
#define PATH(name) (snprintf(path, sizeof path, "%s/%s", group, name), path)
    scree_results_put_all(
        writer,
        scree_results_data(writer, PATH("kind"), H5T_STD_I32LE, H5T_NATIVE_INT, 1, N, 0, 0, false),
        kind);
    scree_results_put_all(writer, scree_results_reals(writer, PATH("radius"), 1, N, 0, 0), radius);
    scree_results_put_all(writer, scree_results_reals(writer, PATH("half_length"), 1, N, 0, 0),
                          half);
    scree_results_put_all(writer, scree_results_reals(writer, PATH("semi"), 2, N, 3, 0), semi);
    if (super)
      scree_results_put_all(writer, scree_results_reals(writer, PATH("exponent"), 2, N, 2, 0),
                            exponent);
    scree_results_put_all(writer,
                          scree_results_data(writer, PATH("vertex_offset"), H5T_STD_I64LE,
                                             H5T_NATIVE_INT64, 1, N + 1, 0, 0, false),
                          offset);
    scree_results_put_all(writer, scree_results_reals(writer, PATH("vertices"), 2, total, 3, 0),
                          vertices);
#undef PATH
  }
  scree_free(kind);
  scree_free(numbers);
  scree_free(offset);
  scree_free(vertices);
}

/* The triangles of meshes, if there are any, with offsets (n+1). */
static void write_triangles(scree_ResultsWriter *writer, const scree_Shape *const *shapes, int n) {
  int64_t *offset = SCREE_ALLOC(int64_t, (size_t)n + 1);
  writer->good = writer->good && offset;
  for (int k = 0; k < n && writer->good; ++k) {
    const scree_ShapeType *type = scree_shape_type(shapes[k]->kind);
    const bool mesh = type->takes_triangles || type->takes_heights || type->takes_elements;
    offset[k + 1] = offset[k] + (mesh ? scree_shape_triangle_count(shapes[k]) : 0);
  }
  const size_t total = writer->good ? (size_t)offset[n] : 0;
  int *triangles = SCREE_ALLOC(int, 3 * total);
  writer->good = writer->good && triangles;
  if (writer->good && total > 0) {
    for (int k = 0; k < n; ++k)
      if (offset[k + 1] > offset[k])
        memcpy(triangles + 3 * offset[k], scree_shape_triangles(shapes[k], NULL),
               3 * (size_t)(offset[k + 1] - offset[k]) * sizeof *triangles);
    scree_results_put_all(writer,
                          scree_results_data(writer, "/bodies/triangle_offset", H5T_STD_I64LE,
                                             H5T_NATIVE_INT64, 1, (hsize_t)n + 1, 0, 0, false),
                          offset);
    scree_results_put_all(writer,
                          scree_results_data(writer, "/bodies/triangles", H5T_STD_I32LE,
                                             H5T_NATIVE_INT, 2, total, 3, 0, false),
                          triangles);
  }
  scree_free(offset);
  scree_free(triangles);
}

static void put_ints(scree_ResultsWriter *writer, const char *name, int rank, hsize_t rows,
                     hsize_t columns, const int *values) {
  scree_results_put_all(writer,
                        scree_results_data(writer, name, H5T_STD_I32LE, H5T_NATIVE_INT, rank, rows,
                                           columns, 0, false),
                        values);
}

static void put_offsets(scree_ResultsWriter *writer, const char *name, int n,
                        const int64_t *values) {
  scree_results_put_all(writer,
                        scree_results_data(writer, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 1,
                                           (hsize_t)n + 1, 0, 0, false),
                        values);
}

/* Undeformed places of the nodes of all bodies, what holds each (-1 nothing, -2 it is held, or the
 * number of the obstacle that moves it), and, if an obstacle does, their places in its frame. */
static void write_nodes(scree_ResultsWriter *writer, const scree_World *world, int n) {
  const size_t nodes = (size_t)scree_world_node_count(world);
  double *place = SCREE_ALLOC(double, 3 * nodes), *anchor = SCREE_ALLOC(double, 3 * nodes);
  int *holder = SCREE_ALLOC(int, nodes);
  bool driven = false;
  size_t at = 0;
  writer->good = writer->good && place && anchor && holder;
  for (int b = 0; b < n && writer->good; ++b)
    for (int k = 0; k < scree_body_node_count(world, b); ++k, ++at) {
      const scree_NodeInfo info = scree_body_node(world, b, k);
      memcpy(place + 3 * at, &info.place, 3 * sizeof *place);
      memcpy(anchor + 3 * at, &info.anchor, 3 * sizeof *anchor);
      holder[at] = info.held ? -2 : info.obstacle;
      driven = driven || info.obstacle >= 0;
    }
  if (writer->good) {
    scree_results_put_all(writer, scree_results_reals(writer, "/elements/place", 2, nodes, 3, 0),
                          place);
    put_ints(writer, "/elements/holder", 1, nodes, 0, holder);
    if (driven)
      scree_results_put_all(writer, scree_results_reals(writer, "/elements/anchor", 2, nodes, 3, 0),
                            anchor);
  }
  scree_free(place);
  scree_free(anchor);
  scree_free(holder);
}

/* The meshes of finite-element bodies: where the nodes and elements of each body start (n+1), the
 * corners of the elements (numbers of nodes within the body, -1 behind the last), and the node of
 * each vertex in /bodies/vertices (-1: of another shape). */
static void write_elements(scree_ResultsWriter *writer, const scree_World *world,
                           const scree_Shape *const *shapes, int n) {
  if (scree_world_node_count(world) == 0) return;
  int64_t *node = SCREE_ALLOC(int64_t, (size_t)n + 1),
          *element = SCREE_ALLOC(int64_t, (size_t)n + 1);
  size_t vertices = 0;
  writer->good = writer->good && node && element;
  for (int b = 0; b < n && writer->good; ++b) {
    const int count = scree_body_node_count(world, b);
    const scree_ElementMesh *mesh = count ? scree_shape_elements(shapes[b]) : NULL;
    node[b + 1] = node[b] + count;
    element[b + 1] = element[b] + (mesh ? mesh->element_count : 0);
    vertices += (size_t)shapes[b]->vertex_count;
  }
  const size_t total = writer->good ? (size_t)element[n] : 0;
  int *corner = SCREE_ALLOC(int, SCREE_ELEMENT_CORNERS *total);
  int *surface = SCREE_ALLOC(int, vertices), *to = corner, *on = surface;
  writer->good = writer->good && corner && surface;
  for (int b = 0; b < n && writer->good; ++b) {
    const scree_ElementMesh *mesh = node[b + 1] > node[b] ? scree_shape_elements(shapes[b]) : NULL;
    for (int e = 0; mesh && e < mesh->element_count; ++e)
      for (size_t k = 0; k < SCREE_ELEMENT_CORNERS; ++k) {
        const size_t at = mesh->corner_row[e] + k;
        *to++ = at < mesh->corner_row[e + 1] ? mesh->corner[at] : -1;
      }
    for (int k = 0; k < shapes[b]->vertex_count; ++k) *on++ = mesh ? mesh->surface[k] : -1;
  }
  if (writer->good) {
    scree_results_group(writer, "/elements");
    put_offsets(writer, "/elements/node_offset", n, node);
    put_offsets(writer, "/elements/element_offset", n, element);
    put_ints(writer, "/elements/corner", 2, total, SCREE_ELEMENT_CORNERS, corner);
    put_ints(writer, "/elements/surface_node", 1, vertices, 0, surface);
  }
  write_nodes(writer, world, n);
  scree_free(node);
  scree_free(element);
  scree_free(corner);
  scree_free(surface);
}

/* The parts of clumps, if there are any. */
static void write_parts(scree_ResultsWriter *writer, const scree_World *world, int n) {
  size_t total = 0;
  for (int b = 0; b < n; ++b) total += (size_t)scree_shape_part_count(scree_body_shape(world, b));
  if (total == 0) return;
  const scree_Shape **shapes = SCREE_ALLOC(const scree_Shape *, total);
  int *body = SCREE_ALLOC(int, total);
  double *position = SCREE_ALLOC(double, 3 * total), *orientation = SCREE_ALLOC(double, 4 * total);
  scree_results_group(writer, "/parts");
  writer->good = writer->good && shapes && body && position && orientation;
  size_t at = 0;
  for (int b = 0; b < n && writer->good; ++b) {
    const scree_Shape *clump = scree_body_shape(world, b);
    for (int k = 0; k < scree_shape_part_count(clump); ++k, ++at) {
      const scree_Part *part = scree_shape_part(clump, k);
      shapes[at] = &part->shape;
      body[at] = b;
      memcpy(position + 3 * at, &part->pose.position, sizeof part->pose.position);
      memcpy(orientation + 4 * at, &part->pose.orientation, sizeof part->pose.orientation);
    }
  }
  if (writer->good) {
    const hsize_t P = (hsize_t)total;
    scree_results_put_all(
        writer,
        scree_results_data(writer, "/parts/body", H5T_STD_I32LE, H5T_NATIVE_INT, 1, P, 0, 0, false),
        body);
    scree_results_put_all(writer, scree_results_reals(writer, "/parts/position", 2, P, 3, 0),
                          position);
    scree_results_put_all(writer, scree_results_reals(writer, "/parts/orientation", 2, P, 4, 0),
                          orientation);
    write_shapes(writer, "/parts", shapes, (int)total);
  }
  scree_free((void *)shapes);
  scree_free(body);
  scree_free(position);
  scree_free(orientation);
}

/* Keys of deformable bodies other than the kind, as bits. */
static uint32_t flags_of(const scree_World *world, int body) {
  const scree_Elastic e = scree_body_elastic(world, body);
  return (e.explicit_ ? SCREE_RESULTS_EXPLICIT : 0u) |
         (e.consistent_mass ? SCREE_RESULTS_CONSISTENT : 0u) |
         (e.keeps_shape ? SCREE_RESULTS_KEEPS_SHAPE : 0u);
}

/* Groups of bodies that do not touch each other, and how they deform; no dataset when all are 0. */
static void write_groups(scree_ResultsWriter *writer, const scree_World *world, int n) {
  static const char *const names[] = {"/bodies/group", "/bodies/body_kind", "/bodies/body_flags"};
  enum { COUNT = 3 };
  uint32_t *values[COUNT] = {SCREE_ALLOC(uint32_t, n), SCREE_ALLOC(uint32_t, n),
                             SCREE_ALLOC(uint32_t, n)};
  bool any[COUNT] = {false, false, false};
  writer->good = writer->good && values[0] && values[1] && values[2];
  for (int b = 0; b < n && writer->good; ++b) {
    values[0][b] = scree_body_group(world, b);
    values[1][b] = (uint32_t)scree_body_kind_of(world, b);
    values[2][b] = flags_of(world, b);
    for (int k = 0; k < COUNT; ++k) any[k] = any[k] || values[k][b] != 0;
  }
  for (int k = 0; k < COUNT; ++k) {
    if (any[k])
      scree_results_put_all(writer,
                            scree_results_data(writer, names[k], H5T_STD_U32LE, H5T_NATIVE_UINT32,
                                               1, (hsize_t)n, 0, 0, false),
                            values[k]);
    scree_free(values[k]);
  }
}

static void write_bodies(scree_ResultsWriter *writer, const scree_World *world, int n,
                         const int *first, const int *last) {
  int *ints = SCREE_ALLOC(int, 2 * (size_t)n);
  double *reals = SCREE_ALLOC(double, 4 * (size_t)n);
  const scree_Shape **shapes = SCREE_ALLOC(const scree_Shape *, n);
  scree_Shape *base = SCREE_ALLOC(scree_Shape, n); /* without deformation */
  const char *names[SCREE_SHAPE_KINDS];
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) names[k] = scree_shape_type((scree_ShapeKind)k)->name;
  scree_results_group(writer, "/bodies");
  writer->good = writer->good && ints && reals && shapes && base;
  if (writer->good) {
    int *obstacle = ints, *material = ints + n;
    double *mass = reals, *inertia = reals + n;
    for (int b = 0; b < n; ++b) {
      const scree_Vec3 moments = scree_body_inertia(world, b);
      base[b] = scree_body_undeformed(world, b);
      shapes[b] = &base[b];
      obstacle[b] = scree_body_is_obstacle(world, b);
      material[b] = scree_body_material(world, b);
      mass[b] = scree_body_mass(world, b);
      memcpy(inertia + 3 * b, &moments, sizeof moments);
    }
    const struct {
      const char *name;
      const int *values;
    } integers[] = {{"/bodies/obstacle", obstacle},
                    {"/bodies/material", material},
                    {"/bodies/first_frame", first},
                    {"/bodies/last_frame", last}};
    for (int k = 0; k < 4; ++k)
      scree_results_put_all(writer,
                            scree_results_data(writer, integers[k].name, H5T_STD_I32LE,
                                               H5T_NATIVE_INT, 1, (hsize_t)n, 0, 0, false),
                            integers[k].values);
    const hsize_t N = (hsize_t)n;
    scree_results_texts(writer, "/bodies/kind_names", names, 1, SCREE_SHAPE_KINDS, 0);
    scree_results_put_all(writer, scree_results_reals(writer, "/bodies/mass", 1, N, 0, 0), mass);
    scree_results_put_all(writer, scree_results_reals(writer, "/bodies/inertia", 2, N, 3, 0),
                          inertia);
    write_shapes(writer, "/bodies", shapes, n);
    write_triangles(writer, shapes, n);
    write_elements(writer, world, shapes, n);
  }
  write_groups(writer, world, n);
  scree_free(ints);
  scree_free(reals);
  scree_free((void *)shapes);
  scree_free(base);
  write_parts(writer, world, n);
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

/* Names of bodies, "" where there is none; no dataset when no body has a name. */
static void write_names(scree_ResultsWriter *writer, const scree_Scene *scene, int n) {
  const char **names = SCREE_ALLOC(const char *, n);
  bool any = false;
  writer->good = writer->good && names;
  for (int b = 0; b < n && writer->good; ++b) {
    const char *name = scree_scene_body_name(scene, b);
    names[b] = name ? name : "";
    any = any || name;
  }
  if (any) scree_results_texts(writer, "/bodies/name", names, 1, (hsize_t)n, 0);
  scree_free(names);
}

void scree_results_write_world(scree_ResultsWriter *writer, const scree_ResultsHead *head,
                               const scree_World *world, int bodies, const int *first,
                               const int *last) {
  write_head(writer, head, world);
  write_materials(writer, head, world);
  write_bodies(writer, world, bodies, first, last);
  write_joints(writer, world);
  if (head->naming) write_names(writer, head->naming, bodies);
}
