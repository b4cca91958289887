/* Height fields, random polyhedra and solids of scenes (see shape_made.h).
 *
 * A height field is a table of heights (CSV, rows along y and columns along x, the first row at the
 * smallest y), a grey image (PGM, the first row at the largest y, as it is looked at), or an
 * expression in x and y. A random polyhedron is the hull of points on an ellipsoid: directions of a
 * golden spiral, which are even, each moved at random by up to `angularity`; it is then scaled so
 * that the smallest ball round its centroid has the asked diameter. */
#include "scene/shape_made.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/csv.h"
#include "scene/mesh_file.h"
#include "scene/scene.h"
#include "scene/scene_expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

static const scree_Field height_field[] = {
    {.key = "file",
     .type = SCREE_FIELD_TEXT,
     .help = "file with the heights: a CSV table (rows along y, columns along x) or a grey image "
             "(.pgm: black is 0, white is 1), relative to the folder of the scene"},
    {.key = "expression",
     .type = SCREE_FIELD_TEXT,
     .help = "instead of a file: height in m as an expression in x and y, in m from the centre"},
    {.key = "size",
     .type = SCREE_FIELD_REALS,
     .flags = SCREE_FIELD_REQUIRED,
     .max = 2,
     .help = "lengths along x and y that the heights cover from edge to edge [m]"},
    {.key = "count",
     .type = SCREE_FIELD_REALS,
     .max = 2,
     .help = "with `expression`: number of heights along x and y"},
    {.key = "scale",
     .type = SCREE_FIELD_REAL,
     .preset = "1",
     .min = -INFINITY,
     .max = INFINITY,
     .help = "factor on the heights of the file"},
    {0}};

static const scree_Field random_fields[] = {
    {.key = "diameter",
     .type = SCREE_FIELD_REAL,
     .flags = SCREE_FIELD_REQUIRED | SCREE_FIELD_OPEN,
     .unit = "m",
     .max = INFINITY,
     .help = "diameter of the smallest ball around its centroid that contains it"},
    {.key = "points",
     .type = SCREE_FIELD_INT,
     .preset = "16",
     .min = 4,
     .max = 500,
     .help = "number of vertices; a polyhedron with n vertices has up to 2 n - 4 faces"},
    {.key = "angularity",
     .type = SCREE_FIELD_REAL,
     .preset = "0.5",
     .min = 0,
     .max = 1,
     .help = "0: vertices are evenly distributed, nearly round; 1: vertices at random positions"},
    {.key = "elongation",
     .type = SCREE_FIELD_REAL,
     .preset = "1",
     .min = 1,
     .max = 20,
     .help = "ratio of the longest axis to the middle one, before the vertices are chosen"},
    {.key = "flatness",
     .type = SCREE_FIELD_REAL,
     .preset = "1",
     .min = 1,
     .max = 20,
     .help = "ratio of the middle axis to the shortest one"},
    {.key = "seed",
     .type = SCREE_FIELD_INT,
     .preset = "1",
     .min = 0,
     .max = 9e15,
     .help = "seed of the shape; generators give every body another shape"},
    {0}};

static const scree_Field polyhedron[] = {{.key = "random",
                                          .type = SCREE_FIELD_MAP,
                                          .flags = SCREE_FIELD_REQUIRED,
                                          .fields = random_fields,
                                          .help = "parameters of a random convex polyhedron"},
                                         {.key = "radius",
                                          .type = SCREE_FIELD_REAL,
                                          .unit = "m",
                                          .preset = "0",
                                          .min = 0,
                                          .max = INFINITY,
                                          .help = "radius of rounding; the diameter includes it"},
                                         {0}};

static const scree_Field solid[] = {
    {.key = "file",
     .type = SCREE_FIELD_TEXT,
     .flags = SCREE_FIELD_REQUIRED,
     .help = "OBJ or STL file with a closed surface, relative to the folder of the scene"},
    {.key = "concavity",
     .type = SCREE_FIELD_REAL,
     .preset = "0.02",
     .flags = SCREE_FIELD_OPEN,
     .min = 0,
     .max = 1,
     .help = "largest distance by which a part may protrude from the solid, relative to its size"},
    {.key = "most",
     .type = SCREE_FIELD_INT,
     .preset = "32",
     .min = 1,
     .max = 1000,
     .help = "largest number of parts"},
    {0}};

/* The checked map has the polygon instead (scene_check_tables.c). */
static const scree_Field box[] = {{.key = "half_x",
                                   .type = SCREE_FIELD_REAL,
                                   .flags = SCREE_FIELD_REQUIRED | SCREE_FIELD_OPEN,
                                   .unit = "m",
                                   .max = INFINITY,
                                   .help = "half of the length along x"},
                                  {.key = "half_y",
                                   .type = SCREE_FIELD_REAL,
                                   .flags = SCREE_FIELD_REQUIRED | SCREE_FIELD_OPEN,
                                   .unit = "m",
                                   .max = INFINITY,
                                   .help = "half of the length along y"},
                                  {0}};

const scree_ShapeRecipe scree_shape_recipes[] = {
    {"box", 2, NULL, box, "Rectangle, centred at the origin"},
    {"height-field", 3, NULL, height_field, "Heights over a rectangle, centred at the origin"},
    {"polyhedron", 3, "random", polyhedron, "Random convex polyhedron, instead of `vertices`"},
    {"clump", 3, "file", solid,
     "Solid that is not convex, instead of `parts`. It is divided into convex parts. Mass, "
     "centroid and moments of inertia are those of the solid in the file"},
    {0}};

const scree_ShapeRecipe *scree_shape_recipe(const char *kind, int dimension,
                                            const scree_Node *map) {
  for (const scree_ShapeRecipe *r = scree_shape_recipes; r->kind; ++r)
    if (strcmp(r->kind, kind) == 0 && r->dimension == dimension &&
        (!r->key || scree_node_find(map, r->key)))
      return r;
  return NULL;
}

/* ---- height fields --------------------------------------------------------------------------- */

typedef struct Heights {
  int nx, ny;
  double *value; /* [ny x nx] */
} Heights;

static scree_Status allocate(Heights *h, double nx, double ny, const scree_Log *log) {
  if (!(nx >= 2 && ny >= 2 && nx * ny <= 1e8 && nx == floor(nx) && ny == floor(ny)))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "height-field: found %g x %g heights, expected whole numbers from 2 and at "
                      "most 1e8 in all",
                      nx, ny);
  h->nx = (int)nx, h->ny = (int)ny;
  h->value = SCREE_ALLOC(double, (size_t)h->nx *(size_t)h->ny);
  return h->value ? SCREE_OK : scree_fail_memory(log, "a height field");
}

static scree_Status from_table(const char *path, Heights *h, const scree_Log *log) {
  scree_Csv csv;
  scree_Status status = scree_csv_read(path, log, &csv);
  if (status) return status;
  status = allocate(h, csv.columns, csv.rows, log);
  for (int j = 0; j < csv.rows && !status; ++j)
    for (int i = 0; i < csv.columns && !status; ++i)
      status = scree_csv_number(&csv, j, i, log, &h->value[(size_t)j * (size_t)h->nx + (size_t)i]);
  scree_csv_fini(&csv);
  return status;
}

/* The next number of the head of a PGM file; comments begin with #. */
static bool next_number(const char **at, const char *end, long *number) {
  for (;;) {
    while (*at < end && isspace((unsigned char)**at)) ++*at;
    if (*at >= end || **at != '#') break;
    while (*at < end && **at != '\n') ++*at;
  }
  if (*at >= end || !isdigit((unsigned char)**at)) return false;
  *number = 0;
  for (; *at < end && isdigit((unsigned char)**at) && *number < 100000000; ++*at)
    *number = 10 * *number + (**at - '0');
  return true;
}

static scree_Status from_image(const char *path, Heights *h, const scree_Log *log) {
  char *text = NULL;
  size_t size = 0;
  scree_Status status = scree_text_load(path, log, &text, &size);
  if (status) return status;
  const char *at = text + 2, *end = text + size;
  const bool binary = size > 2 && text[0] == 'P' && text[1] == '5';
  long nx = 0, ny = 0, white = 0, value = 0;
  if (size < 3 || !(binary || (text[0] == 'P' && text[1] == '2')) || !next_number(&at, end, &nx) ||
      !next_number(&at, end, &ny) || !next_number(&at, end, &white) || white < 1 || white > 65535)
    status = scree_fail(log, SCREE_BAD_INPUT, "%s: expected a grey image of the kind PGM (P2, P5)",
                        path);
  if (!status) status = allocate(h, (double)nx, (double)ny, log);
  if (binary) ++at; /* one space behind the head */
  const int bytes = white > 255 ? 2 : 1;
  for (long j = ny - 1; j >= 0 && !status; --j)
    for (long i = 0; i < nx && !status; ++i) {
      bool good = true;
      if (binary) {
        good = end - at >= bytes;
        value = good ? (unsigned char)at[0] : 0;
        if (good && bytes == 2) value = 256 * value + (unsigned char)at[1];
        at += bytes;
      } else {
        good = next_number(&at, end, &value);
      }
      if (!good)
        status = scree_fail(log, SCREE_BAD_INPUT,
                            "%s: found the end of the file, expected an image of %ld x %ld points",
                            path, nx, ny);
      else
        h->value[(size_t)j * (size_t)nx + (size_t)i] = (double)value / (double)white;
    }
  scree_free(text);
  return status;
}

static scree_Status from_expression(const scree_Scene *scene, const scree_Node *map,
                                    const double size[2], Heights *h, const scree_Log *log) {
  const scree_Node *text = scree_node_find(map, "expression"),
                   *count = scree_node_find(map, "count");
  scree_Expression expression;
  int at = 0;
  const char *reason = scree_expression_parse_place(&expression, text->text, &at);
  if (reason)
    return scree_scene_refuse(scene, text, log,
                              "expression: found \"%.80s\", expected one in x and y (%s, at column "
                              "%d)",
                              text->text, reason, at);
  if (!count)
    return scree_scene_refuse(scene, map, log, "count is missing (heights along x and y)");
  scree_Status status =
      allocate(h, count->entries[0].value->number, count->entries[1].value->number, log);
  for (int j = 0; j < h->ny && !status; ++j)
    for (int i = 0; i < h->nx && !status; ++i) {
      const double x = size[0] * ((double)i / (h->nx - 1) - 0.5);
      const double y = size[1] * ((double)j / (h->ny - 1) - 0.5);
      h->value[(size_t)j * (size_t)h->nx + (size_t)i] = scree_expression_at(&expression, x, y);
    }
  return status;
}

static bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static scree_Status make_height_field(const scree_Scene *scene, const scree_Node *map, double scale,
                                      const scree_Log *log, scree_Shape *shape) {
  const scree_Node *extent = scree_node_find(map, "size");
  const double size[2] = {extent->entries[0].value->number, extent->entries[1].value->number};
  const char *file = scree_node_text(map, "file");
  const bool image = ends_with(file, ".pgm");
  Heights h = {0};
  if (!(size[0] > 0 && size[1] > 0))
    return scree_scene_refuse(scene, extent, log, "size: expected two numbers above 0");
  if (!*file == !scree_node_find(map, "expression"))
    return scree_scene_refuse(scene, map, log, "expected a file or an expression, one of them");
  scree_Status status = !*file  ? from_expression(scene, map, size, &h, log)
                        : image ? from_image(file, &h, log)
                                : from_table(file, &h, log);
  const double factor = scale * (*file ? scree_node_number(map, "scale") : 1);
  for (size_t k = 0; !status && k < (size_t)h.nx * (size_t)h.ny; ++k) h.value[k] *= factor;
  if (!status)
    status = scree_shape_init_height_field(shape, h.value, h.nx, h.ny, scale * size[0] / (h.nx - 1),
                                           scale * size[1] / (h.ny - 1), log);
  scree_free(h.value);
  return status;
}

/* ---- random polyhedra ------------------------------------------------------------------------ */

scree_Rubble scree_rubble_read(const scree_Node *map) {
  const scree_Node *node = scree_node_find(map, "random");
  if (!node) return (scree_Rubble){0};
  return (scree_Rubble){.given = true,
                        .points = (int)scree_node_number(node, "points"),
                        .diameter = scree_node_number(node, "diameter"),
                        .angularity = scree_node_number(node, "angularity"),
                        .elongation = scree_node_number(node, "elongation"),
                        .flatness = scree_node_number(node, "flatness"),
                        .rounding = scree_node_number(map, "radius")};
}

enum { MOST_POINTS = 500, ATTEMPTS = 20 };

scree_Status scree_rubble_make(const scree_Rubble *rubble, scree_Random *random, double scale,
                               scree_Shape *shape, const scree_Log *log) {
  scree_Vec3 v[MOST_POINTS];
  const int n = rubble->points < MOST_POINTS ? rubble->points : MOST_POINTS;
  const scree_Vec3 semi =
      scree_vec3(1, 1 / rubble->elongation, 1 / (rubble->elongation * rubble->flatness));
  const double rounding = scale * rubble->rounding,
               half = 0.5 * scale * rubble->diameter - rounding;
  if (!(half > 0))
    return scree_fail(log, SCREE_BAD_INPUT, "polyhedron: radius is %g, expected less than %g",
                      rubble->rounding, 0.5 * rubble->diameter);
  scree_Status status = SCREE_BAD_INPUT;
  /* few points may lie in a plane: draw again */
  for (int attempt = 0; attempt < ATTEMPTS && status; ++attempt) {
    for (int k = 0; k < n; ++k) {
      const double z = 1 - (2 * k + 1.0) / n, r = sqrt(1 - z * z), t = 2.399963229728653 * k;
      const scree_Vec3 even = scree_vec3(r * cos(t), r * sin(t), z);
      const scree_Vec3 away = scree_random_in_ball(random, 3);
      /* at angularity 1 only the random part is left */
      const scree_Vec3 d = scree_unit_or(scree_add(scree_scale(1 - rubble->angularity, even),
                                                   scree_scale(rubble->angularity, away)),
                                         even);
      v[k] = scree_vec3(semi.x * d.x, semi.y * d.y, semi.z * d.z);
    }
    status = scree_shape_init_polyhedron(shape, v, n, attempt + 1 < ATTEMPTS ? NULL : log);
  }
  if (status) return status;
  const double factor = half / shape->bounding_radius;
  const int count = shape->vertex_count;
  for (int k = 0; k < count; ++k) v[k] = scree_scale(factor, shape->vertices[k]);
  scree_shape_fini(shape);
  return scree_shape_init(shape, SCREE_SHAPE_POLYHEDRON, &rounding, v, count, log);
}

/* ---- solids ---------------------------------------------------------------------------------- */

static scree_Status make_solid(const scree_Node *map, double scale, const scree_Log *log,
                               scree_Shape *shape) {
  scree_MeshFile mesh = {0};
  scree_Status status = scree_mesh_file_read(scree_node_text(map, "file"), &mesh, log);
  for (int k = 0; k < mesh.vertex_count && !status; ++k)
    mesh.vertices[k] = scree_scale(scale, mesh.vertices[k]);
  if (!status)
    status = scree_shape_init_solid(shape, mesh.vertices, mesh.vertex_count, mesh.triangles,
                                    mesh.triangle_count, scree_node_number(map, "concavity"),
                                    (int)scree_node_number(map, "most"), log);
  scree_mesh_file_fini(&mesh);
  return status;
}

scree_Status scree_shape_make(const scree_Scene *scene, const scree_Node *map, double scale,
                              const scree_Log *log, scree_Shape *shape) {
  if (scree_node_is(map, "kind", "height-field"))
    return make_height_field(scene, map, scale, log, shape);
  if (scree_node_is(map, "kind", "clump")) return make_solid(map, scale, log, shape);
  const scree_Rubble one = scree_rubble_read(map);
  scree_Random random =
      scree_random((uint64_t)scree_node_number(scree_node_find(map, "random"), "seed"), 0, 0);
  return scree_rubble_make(&one, &random, scale, shape, log);
}
