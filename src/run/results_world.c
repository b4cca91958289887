/* The part of results.h5 that does not change from frame to frame: head, materials, bodies. */
#include "core/memory.h"
#include "run/results_write.h"

#include <string.h>

scree_ResultsHead scree_results_head(const scree_Scene *scene, scree_ResultsMaterial *materials) {
  const scree_SceneInfo info = scree_scene_info(scene);
  for (int k = 0; k < info.materials; ++k)
    materials[k].name = scree_scene_material(scene, k, &materials[k].density, &materials[k].colour);
  return (scree_ResultsHead){.title = info.title,
                             .scene = scree_scene_text(scene),
                             .compression = info.compression,
                             .materials = info.materials,
                             .material = materials};
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

static void write_materials(scree_ResultsWriter *writer, const scree_ResultsHead *head,
                            const scree_World *world) {
  const int m = head->materials;
  const size_t mm = (size_t)m * (size_t)m;
  const char **texts = SCREE_ALLOC(const char *, 2 * (size_t)m + mm);
  double *values = SCREE_ALLOC(double, (size_t)m + 3 * mm);
  scree_results_group(writer, "/materials");
  writer->good = writer->good && texts && values;
  if (writer->good) {
    double *mu = values + m, *e_n = mu + mm, *e_t = e_n + mm;
    for (int a = 0; a < m; ++a) {
      texts[a] = head->material[a].name;
      texts[m + a] = head->material[a].colour;
      values[a] = head->material[a].density;
      for (int b = 0; b < m; ++b) {
        const scree_PairLaw law = scree_world_pair_law(world, a, b);
        const size_t k = (size_t)a * (size_t)m + (size_t)b;
        mu[k] = law.mu;
        e_n[k] = law.e_n;
        e_t[k] = law.e_t;
        texts[2 * (size_t)m + k] = law.law;
      }
    }
    const hsize_t n = (hsize_t)m;
    scree_results_texts(writer, "/materials/name", texts, 1, n, 0);
    scree_results_texts(writer, "/materials/colour", texts + m, 1, n, 0);
    scree_results_texts(writer, "/materials/law", texts + 2 * m, 2, n, n);
    scree_results_put_all(writer, scree_results_reals(writer, "/materials/density", 1, n, 0, 0),
                          values);
    scree_results_put_all(writer, scree_results_reals(writer, "/materials/mu", 2, n, n, 0), mu);
    scree_results_put_all(writer, scree_results_reals(writer, "/materials/e_n", 2, n, n, 0), e_n);
    scree_results_put_all(writer, scree_results_reals(writer, "/materials/e_t", 2, n, n, 0), e_t);
  }
  scree_free(texts);
  scree_free(values);
}

/* Vertices of polygons, with offsets (n+1). */
static void write_vertices(scree_ResultsWriter *writer, const scree_World *world, int n) {
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
  scree_results_put_all(writer,
                        scree_results_data(writer, "/bodies/vertex_offset", H5T_STD_I64LE,
                                           H5T_NATIVE_INT64, 1, (hsize_t)n + 1, 0, 0, false),
                        offset);
  scree_results_put_all(writer, scree_results_reals(writer, "/bodies/vertices", 2, total, 3, 0),
                        vertices);
  scree_free(offset);
  scree_free(vertices);
}

static void write_bodies(scree_ResultsWriter *writer, const scree_World *world, int n,
                         const int *first, const int *last) {
  int *ints = SCREE_ALLOC(int, 3 * (size_t)n);
  double *reals = SCREE_ALLOC(double, 9 * (size_t)n);
  const char *names[SCREE_SHAPE_KINDS];
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) names[k] = scree_shape_type((scree_ShapeKind)k)->name;
  scree_results_group(writer, "/bodies");
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
      scree_results_put_all(writer,
                            scree_results_data(writer, integers[k].name, H5T_STD_I32LE,
                                               H5T_NATIVE_INT, 1, (hsize_t)n, 0, 0, false),
                            integers[k].values);
    const hsize_t N = (hsize_t)n;
    scree_results_texts(writer, "/bodies/kind_names", names, 1, SCREE_SHAPE_KINDS, 0);
    scree_results_put_all(writer, scree_results_reals(writer, "/bodies/mass", 1, N, 0, 0), mass);
    scree_results_put_all(writer, scree_results_reals(writer, "/bodies/inertia", 2, N, 3, 0),
                          inertia);
    scree_results_put_all(writer, scree_results_reals(writer, "/bodies/radius", 1, N, 0, 0),
                          radius);
    scree_results_put_all(writer, scree_results_reals(writer, "/bodies/half_length", 1, N, 0, 0),
                          half);
    scree_results_put_all(writer, scree_results_reals(writer, "/bodies/semi", 2, N, 3, 0), semi);
    write_vertices(writer, world, n);
  }
  scree_free(ints);
  scree_free(reals);
}

void scree_results_write_world(scree_ResultsWriter *writer, const scree_ResultsHead *head,
                               const scree_World *world, int bodies, const int *first,
                               const int *last) {
  write_head(writer, head, world);
  write_materials(writer, head, world);
  write_bodies(writer, world, bodies, first, last);
}
