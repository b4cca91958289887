/* Generator `csv`: bodies from a table, a row each (see docs/SCENES.md). `scree convert --csv`
 * writes such tables. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/csv.h"
#include "scene/scene.h"
#include "scree/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z, QW, QX, QY, QZ, ANGLE, VX, VY, VZ, WX, WY, WZ, SCALE, MASS, DENSITY, NUMBERS };

static const char *const numbers[] = {"x",  "y",     "z",     "qw",   "qx",      "qy",
                                      "qz", "angle", "vx",    "vy",   "vz",      "wx",
                                      "wy", "wz",    "scale", "mass", "density", NULL};
static const char *const texts[] = {"shape", "material", "name", "body", "vertices", NULL};

typedef struct Table {
  scree_Scene *scene;
  const scree_Node *node;
  const scree_Log *log;
  scree_Csv csv;
  int column[NUMBERS]; /* -1: none */
  int shape, material, name, vertices;
  bool has_shape; /* `shape` of the generator is given */
  scree_Shape common;
  scree_BodyDef def;
} Table;

/* Whether a shape of this dimension has a parameter of this name. */
static bool is_parameter(int dimension, const char *name) {
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) {
    const scree_ShapeType *type = scree_shape_type((scree_ShapeKind)k);
    for (int p = 0; type->dimension == dimension && p < type->parameter_count; ++p)
      if (strcmp(type->parameters[p].name, name) == 0) return true;
  }
  return false;
}

static scree_Status read_header(Table *table) {
  const scree_Csv *csv = &table->csv;
  if (!csv->header)
    return scree_fail(table->log, SCREE_BAD_INPUT,
                      "%s: found no header, expected the names of the columns: x, y, radius, ...",
                      csv->path);
  const char *words[NUMBERS + 6] = {NULL};
  int count = 0;
  for (int k = 0; numbers[k]; ++k) words[count++] = numbers[k];
  for (int k = 0; texts[k]; ++k) words[count++] = texts[k];
  for (int k = 0; k < csv->columns; ++k) {
    bool known = is_parameter(table->scene->dimension, csv->header[k]);
    for (int w = 0; w < count && !known; ++w) known = strcmp(words[w], csv->header[k]) == 0;
    if (known) continue;
    const char *near = scree_nearest_word(csv->header[k], words);
    return scree_fail(
        table->log, SCREE_BAD_INPUT,
        "%s: unknown column \"%.60s\"%s%s%s, expected x, y, z, qw, qx, qy, qz, angle, "
        "vx, vy, vz, wx, wy, wz, scale, mass, density, shape, vertices, material, name, or a "
        "parameter of a shape",
        csv->path, csv->header[k], near ? "; did you mean " : "", near ? near : "",
        near ? "?" : "");
  }
  for (int k = 0; k < NUMBERS; ++k) table->column[k] = scree_csv_column(csv, numbers[k]);
  table->shape = scree_csv_column(csv, "shape");
  table->material = scree_csv_column(csv, "material");
  table->name = scree_csv_column(csv, "name");
  table->vertices = scree_csv_column(csv, "vertices");
  if (table->column[X] < 0 || table->column[Y] < 0 ||
      (table->column[Z] < 0 && table->scene->dimension == 3))
    return scree_fail(table->log, SCREE_BAD_INPUT, "%s: expected columns x, y%s", csv->path,
                      table->scene->dimension == 3 ? ", z" : "");
  if (table->shape < 0 && !table->has_shape)
    return scree_scene_refuse(
        table->scene, table->node, table->log,
        "shape is missing, expected it here or as a column \"shape\" of the table");
  return SCREE_OK;
}

static scree_Status refuse_row(const Table *table, int row, const char *text, const char *found) {
  return scree_fail(table->log, SCREE_BAD_INPUT, "%s:%d: %s%s%.60s%s", table->csv.path,
                    table->csv.lines[row], text, found ? ": found \"" : "", found ? found : "",
                    found ? "\"" : "");
}

/* Vertices "x y; x y; ..." (x y z in space), scaled. */
static scree_Status read_vertices(const Table *table, int row, scree_ShapeKind kind,
                                  const double *parameters, double scale, scree_Shape *shape) {
  const char *text = scree_csv_text(&table->csv, row, table->vertices);
  const int d = table->scene->dimension;
  size_t room = 1;
  for (const char *c = text; *c; ++c) room += *c == ';';
  scree_Vec3 *points = SCREE_ALLOC(scree_Vec3, room);
  if (!points) return scree_fail_memory(table->log, "the vertices of a body");
  int count = 0;
  bool good = true;
  while (*text && good) {
    double x[3] = {0, 0, 0};
    for (int k = 0; k < d && good; ++k) {
      char *end;
      x[k] = scale * strtod(text, &end);
      good = end != text && isfinite(x[k]);
      text = end;
    }
    text += strspn(text, " ");
    good = good && (*text == ';' || *text == '\0');
    text += *text == ';';
    points[count++] = scree_vec3(x[0], x[1], x[2]);
  }
  scree_Status status =
      good ? scree_shape_init(shape, kind, parameters, points, count, table->log) : SCREE_BAD_INPUT;
  scree_free(points);
  if (status != SCREE_BAD_INPUT) return status;
  return refuse_row(table, row,
                    "vertices: expected \"x y; x y; ...\" (x y z in 3D) of a convex shape", NULL);
}

/* The shape of a row: its own or the common one, with the parameters that have columns. */
static scree_Status read_shape(const Table *table, int row, double scale, scree_Shape *shape) {
  const scree_Csv *csv = &table->csv;
  scree_ShapeKind kind = table->common.kind;
  bool own = false;
  if (table->shape >= 0) {
    const char *word = scree_csv_text(csv, row, table->shape);
    kind = scree_shape_kind(word, table->scene->dimension);
    if (kind == SCREE_SHAPE_KINDS)
      return refuse_row(table, row, "expected the name of a shape of this dimension", word);
    own = !table->has_shape || kind != table->common.kind;
  }
  const scree_ShapeType *type = scree_shape_type(kind);
  double parameters[8] = {0};
  bool changed = own;
  for (int p = 0; p < type->parameter_count && p < 8; ++p) {
    const scree_ShapeParameter *parameter = &type->parameters[p];
    const int column = scree_csv_column(csv, parameter->name);
    parameters[p] = own ? parameter->fallback
                        : *(const double *)((const char *)&table->common + parameter->offset);
    if (column >= 0 && scree_csv_text(csv, row, column)[0]) {
      scree_Status status = scree_csv_number(csv, row, column, table->log, &parameters[p]);
      if (status != SCREE_OK) return status;
      changed = true;
    } else if (own && parameter->required) {
      char text[120];
      snprintf(text, sizeof text, "expected a number in the column %.40s, which the shape needs",
               parameter->name);
      return refuse_row(table, row, text, NULL);
    }
    parameters[p] *= scale;
  }
  if (type->takes_vertices && !type->takes_triangles && table->vertices >= 0 &&
      scree_csv_text(csv, row, table->vertices)[0])
    return read_vertices(table, row, kind, parameters, scale, shape);
  if (!changed || type->takes_vertices || type->takes_parts) {
    if (own)
      return refuse_row(table, row,
                        "expected the column vertices, or `shape` of the generator, for a",
                        type->name);
    return scree_scene_scale_shape(&table->common, scale, shape, table->log);
  }
  scree_Status status = scree_shape_init(shape, kind, parameters, NULL, 0, table->log);
  return status == SCREE_BAD_INPUT
             ? refuse_row(table, row,
                          "the shape is refused, expected parameters as the message before says",
                          NULL)
             : status;
}

static scree_Status read_material(const Table *table, int row, scree_BodyDef *def) {
  const char *word = scree_csv_text(&table->csv, row, table->material);
  if (!word[0]) return SCREE_OK;
  for (int k = 0; k < table->scene->material_count; ++k)
    if (strcmp(scree_scene_material(table->scene, k, NULL, NULL), word) == 0) {
      def->material = k;
      scree_scene_material(table->scene, k, &def->density, NULL);
      return SCREE_OK;
    }
  return refuse_row(table, row, "expected the name of a material of the scene", word);
}

static scree_Status add_row(Table *table, int row) {
  scree_SceneBody body = {.def = table->def};
  double x[NUMBERS] = {[QW] = 1, [SCALE] = 1};
  scree_Status status = SCREE_OK;
  for (int k = 0; k < NUMBERS && status == SCREE_OK; ++k)
    if (table->column[k] >= 0)
      status = scree_csv_number(&table->csv, row, table->column[k], table->log, &x[k]);
  if (status == SCREE_OK && table->material >= 0) status = read_material(table, row, &body.def);
  if (status != SCREE_OK) return status;
  scree_BodyDef *def = &body.def;
  const bool flat = table->scene->dimension == 2;
  const double length = sqrt(x[QW] * x[QW] + x[QX] * x[QX] + x[QY] * x[QY] + x[QZ] * x[QZ]);
  if (!(length > 0))
    return refuse_row(table, row, "the quaternion is zero, expected one of any other length", NULL);
  if (!(x[SCALE] > 0)) return refuse_row(table, row, "scale: expected a number above 0", NULL);
  def->pose.position = scree_vec3(x[X], x[Y], flat ? 0 : x[Z]);
  def->pose.orientation = table->column[ANGLE] >= 0
                              ? scree_quat_axis_angle(scree_vec3(0, 0, 1), x[ANGLE])
                              : scree_quat_normalize((scree_Quat){x[QW], x[QX], x[QY], x[QZ]});
  if (table->column[VX] >= 0 || table->column[VY] >= 0 || table->column[VZ] >= 0)
    def->velocity.linear = scree_vec3(x[VX], x[VY], flat ? 0 : x[VZ]);
  if (table->column[WX] >= 0 || table->column[WY] >= 0 || table->column[WZ] >= 0)
    def->velocity.angular = flat ? scree_vec3(0, 0, x[WZ]) : scree_vec3(x[WX], x[WY], x[WZ]);
  if (x[DENSITY] > 0) def->density = x[DENSITY];
  if (x[MASS] > 0) def->mass = x[MASS];
  status = read_shape(table, row, x[SCALE], &body.shape);
  if (status != SCREE_OK) return status;
  if (table->vertices >= 0 && scree_csv_text(&table->csv, row, table->vertices)[0]) {
    /* vertices are where they are typed, as in `bodies` */
    const scree_Pose frame = scree_shape_frame(&body.shape);
    def->pose.position = scree_pose_apply(&def->pose, frame.position);
    def->pose.orientation =
        scree_quat_normalize(scree_quat_mul(def->pose.orientation, frame.orientation));
  }
  if (!scree_shape_type(body.shape.kind)->bounded ||
      (!(body.shape.volume > 0) && !(def->mass > 0))) {
    scree_shape_fini(&body.shape);
    return refuse_row(table, row, "this shape has no mass, expected one with a volume", NULL);
  }
  if (table->name >= 0 && scree_csv_text(&table->csv, row, table->name)[0]) {
    const char *name = scree_csv_text(&table->csv, row, table->name);
    body.name = scree_tree_text(&table->scene->tree, name, strlen(name));
  }
  return scree_scene_add(table->scene, &body, table->log);
}

scree_Status scree_scene_generate_csv(scree_Scene *scene, scree_Node *node, const scree_Log *log) {
  scree_Node *file = scree_node_find(node, "file"), *shape = scree_node_find(node, "shape");
  Table table = {.scene = scene, .node = node, .log = log, .def = scree_body_def()};
  const char *path = scree_scene_path(scene, file, log);
  if (!path) return SCREE_BAD_INPUT;
  file->text = path;
  scree_Status status = scree_scene_matter(scene, node, log, &table.def);
  table.def.velocity = (scree_Twist){scree_scene_vector(node, "velocity"),
                                     scree_scene_vector(node, "angular_velocity")};
  if (status != SCREE_OK) return status;
  status = scree_csv_read(path, log, &table.csv);
  if (status == SCREE_OK && shape) {
    status = scree_scene_shape(scene, shape, 1.0, log, &table.common);
    table.has_shape = status == SCREE_OK;
  }
  if (status == SCREE_OK) status = read_header(&table);
  for (int row = 0; row < table.csv.rows && status == SCREE_OK; ++row)
    status = add_row(&table, row);
  if (table.has_shape) scree_shape_fini(&table.common);
  scree_csv_fini(&table.csv);
  return status;
}
