/* Checks of scenes: shapes, options of solvers and laws, which tables of other folders describe
 * (see scene_check.h). */
#define _DEFAULT_SOURCE
#include "scene/scene_check.h"

#include "core/memory.h"
#include "scene/csv.h"
#include "scene/shape_made.h"
#include "scree/law.h"
#include "scree/shape.h"
#include "scree/solver.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes and options: described by tables of other folders -------------------------------- */

static scree_ShapeKind check_kind(scree_Check *check, const scree_Node *node) {
  const char *words[SCREE_SHAPE_KINDS + 2] = {NULL};
  int count = 0;
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k)
    if (scree_shape_type((scree_ShapeKind)k)->dimension == check->dimension)
      words[count++] = scree_shape_type((scree_ShapeKind)k)->name;
  if (check->dimension == 2) words[count++] = "box";
  const scree_Node *kind = scree_check_kind(check, node, words);
  if (!kind) return SCREE_SHAPE_KINDS;
  scree_ShapeKind shape = scree_shape_kind(kind->text, check->dimension);
  if (shape != SCREE_SHAPE_KINDS) return shape;
  if (scree_shape_kind(kind->text, 5 - check->dimension) != SCREE_SHAPE_KINDS)
    scree_check_complain(check, kind->line, kind->column,
                         "a %s exists in %dD, but the scene is %dD", kind->text,
                         5 - check->dimension, check->dimension);
  else
    scree_check_refuse_word(check, "shape", kind->text, kind->line, kind->column, words);
  return SCREE_SHAPE_KINDS;
}

static scree_Node *check_vertices(scree_Check *check, const scree_Node *node) {
  static const scree_Field point = {
      .key = "vertices", .unit = "m", .min = -INFINITY, .max = INFINITY};
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  if (node->kind != SCREE_NODE_LIST || node->count < 3 || node->count > SCREE_CHECK_VERTICES) {
    scree_check_expected(check, node,
                         check->dimension == 2 ? "a list of 3 to 1024 points [x, y]"
                                               : "a list of 4 to 1024 points [x, y, z]");
    return NULL;
  }
  for (int k = 0; k < node->count && result; ++k) {
    const size_t mark = scree_check_push(check, NULL, k);
    scree_Node *item = scree_check_vector(check, &point, node->entries[k].value);
    scree_check_pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, item)) return NULL;
  }
  return result;
}

/* One parameter of a shape, given or by default. */
static bool add_parameter(scree_Check *check, const scree_ShapeParameter *parameter,
                          const scree_Node *node, scree_Node *result) {
  const scree_Field number = {.unit = parameter->pure ? NULL : "m",
                              .min = 0,
                              .max = INFINITY,
                              .flags = parameter->may_be_zero ? 0 : SCREE_FIELD_OPEN};
  const scree_Node *given = scree_node_find(node, parameter->name);
  scree_Node *value = NULL;
  if (!given) {
    if (parameter->required && !(check->with_ends && strcmp(parameter->name, "half_length") == 0)) {
      scree_check_complain(check, node->line, node->column, "%s is missing (%s)", parameter->name,
                           parameter->help);
      return false;
    }
    value = scree_tree_number(check->tree, parameter->fallback, 0, 0);
  } else if (parameter->may_infinite && given->kind == SCREE_NODE_SCALAR &&
             (strcmp(given->text, "inf") == 0 || strcmp(given->text, ".inf") == 0)) {
    value = scree_tree_number(check->tree, INFINITY, given->line, given->column);
  } else {
    const size_t mark = scree_check_push(check, parameter->name, 0);
    value = scree_check_real(check, &number, given);
    scree_check_pop(check, mark);
  }
  return scree_tree_add(check->tree, result, parameter->name, value);
}

/* [[a, b, c], ...]: numbers of vertices. */
static scree_Node *check_triangles(scree_Check *check, const scree_Node *node) {
  static const scree_Field number = {.key = "triangles", .min = 0, .max = 2147483647.0};
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  if (node->kind != SCREE_NODE_LIST || node->count < 1) {
    scree_check_expected(check, node, "a list of triangles [a, b, c], numbers of vertices from 0");
    return NULL;
  }
  for (int k = 0; k < node->count && result; ++k) {
    const scree_Node *given = node->entries[k].value;
    const size_t mark = scree_check_push(check, NULL, k);
    scree_Node *item = NULL;
    if (given->kind == SCREE_NODE_LIST && given->count == 3)
      item = scree_tree_node(check->tree, SCREE_NODE_LIST, given->line, given->column);
    else
      scree_check_expected(check, given, "three numbers of vertices");
    for (int c = 0; c < 3 && item; ++c)
      if (!scree_tree_add(check->tree, item, NULL,
                          scree_check_int(check, &number, given->entries[c].value)))
        item = NULL;
    scree_check_pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, item)) return NULL;
  }
  return result;
}

/* The path of a mesh file, relative to the scene's folder, written out whole, so that the scene as
 * used finds it from anywhere. */
static scree_Node *check_mesh_file(scree_Check *check, const scree_Node *node) {
  if (node->kind != SCREE_NODE_SCALAR || !node->text[0]) {
    scree_check_expected(check, node, "the name of a file");
    return NULL;
  }
  char *path = scree_path_beside(check->name, node->text);
  char *whole = path ? realpath(path, NULL) : NULL;
  scree_free(path);
  if (!whole) {
    scree_check_complain(check, node->line, node->column, "file \"%.200s\": %s", node->text,
                         strerror(errno));
    return NULL;
  }
  scree_Node *result = scree_tree_scalar(check->tree, whole, node->line, node->column);
  free(whole);
  return result;
}

/* Vertices and triangles, or a file that has them. */
static bool check_points(scree_Check *check, const scree_ShapeType *type, const scree_Node *node,
                         scree_Node *result) {
  const scree_Node *file = type->dimension == 3 ? scree_node_find(node, "file") : NULL;
  const scree_Node *vertices = scree_node_find(node, "vertices");
  const scree_Node *triangles = scree_node_find(node, "triangles");
  if (file && (vertices || triangles)) {
    scree_check_complain(check, file->line, file->column,
                         "found a file and vertices, expected one of them");
    return false;
  }
  if (!file && (!vertices || (type->takes_triangles && !triangles))) {
    scree_check_complain(check, node->line, node->column, "%s missing (%s)",
                         vertices ? "triangles are" : "vertices are",
                         type->takes_triangles ? "vertices and triangles, or a file"
                                               : "corners, in any order");
    return false;
  }
  const char *key = file ? "file" : "vertices";
  size_t mark = scree_check_push(check, key, 0);
  bool good = scree_tree_add(check->tree, result, key,
                             file ? check_mesh_file(check, file) : check_vertices(check, vertices));
  scree_check_pop(check, mark);
  if (!good || file || !type->takes_triangles) return good;
  mark = scree_check_push(check, "triangles", 0);
  good = scree_tree_add(check->tree, result, "triangles", check_triangles(check, triangles));
  scree_check_pop(check, mark);
  return good;
}

/* Elements: a file, or the divisions of a block; its half extents are parameters. */
static bool check_elements(scree_Check *check, const scree_ShapeType *type, const scree_Node *node,
                           scree_Node *result) {
  static const scree_Field number = {.key = "divisions", .min = 1, .max = 1000};
  const scree_Node *file = scree_node_find(node, "file");
  const scree_Node *list = scree_node_find(node, "divisions");
  if (file) {
    bool alone = !list;
    for (int k = 0; k < type->parameter_count; ++k)
      alone = alone && !scree_node_find(node, type->parameters[k].name);
    if (!alone)
      scree_check_complain(check, file->line, file->column,
                           "found a file and a block, expected one of them");
    const size_t mark = scree_check_push(check, "file", 0);
    const bool good =
        alone && scree_tree_add(check->tree, result, "file", check_mesh_file(check, file));
    scree_check_pop(check, mark);
    return good;
  }
  if (!list || list->kind != SCREE_NODE_LIST || list->count != 3) {
    if (list)
      scree_check_expected(check, list, "three numbers of elements, along x, y and z");
    else
      scree_check_complain(check, node->line, node->column,
                           "divisions are missing (numbers of elements along x, y and z), or a "
                           "file of Gmsh");
    return false;
  }
  scree_Node *to = scree_tree_node(check->tree, SCREE_NODE_LIST, list->line, list->column);
  const size_t mark = scree_check_push(check, "divisions", 0);
  bool good = to != NULL;
  for (int k = 0; k < 3 && good; ++k)
    good = scree_tree_add(check->tree, to, NULL,
                          scree_check_int(check, &number, list->entries[k].value));
  scree_check_pop(check, mark);
  return good && scree_tree_add(check->tree, result, "divisions", to);
}

static scree_Node *check_parts(scree_Check *check, const scree_Node *node) {
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  if (node->kind != SCREE_NODE_LIST || node->count < 1 || node->count > SCREE_CHECK_PARTS) {
    scree_check_expected(check, node, "a list of parts { shape: ..., position: ... }");
    return NULL;
  }
  for (int k = 0; k < node->count && result; ++k) {
    const size_t mark = scree_check_push(check, NULL, k);
    scree_Node *item =
        scree_check_fields(check, scree_scene_part_fields, NULL, node->entries[k].value);
    scree_check_pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, item)) return NULL;
  }
  return result;
}

/* A shape that follows a recipe (shape_made.h): its fields are checked as those of any map; files
 * are written out whole, and parameters are put into expressions. */
static scree_Node *check_recipe(scree_Check *check, const scree_ShapeRecipe *recipe,
                                const scree_Node *node) {
  scree_Node *result = scree_check_fields(check, recipe->fields, recipe->kind, node);
  scree_Node *file = result ? scree_node_find(result, "file") : NULL;
  scree_Node *text = result ? scree_node_find(result, "expression") : NULL;
  if (file) {
    const scree_Node *whole = check_mesh_file(check, file);
    if (!whole) return NULL;
    file->text = whole->text;
  }
  if (text) {
    const char *given = scree_parameters_expand(&check->parameters, check->tree, text->text);
    if (!given) return NULL;
    text->text = given;
  }
  return result;
}

/* A box in 2D becomes the polygon that it is. */
static scree_Node *check_box(scree_Check *check, const scree_ShapeRecipe *recipe,
                             const scree_Node *node) {
  static const double corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  const scree_Node *box = scree_check_fields(check, recipe->fields, recipe->kind, node);
  if (!box) return NULL;
  const double half[2] = {scree_node_number(box, "half_x"), scree_node_number(box, "half_y")};
  scree_Tree *tree = check->tree;
  scree_Node *result = scree_tree_node(tree, SCREE_NODE_MAP, node->line, node->column);
  scree_Node *list = scree_tree_node(tree, SCREE_NODE_LIST, node->line, node->column);
  bool good = result && list;
  for (int k = 0; k < 4 && good; ++k) {
    scree_Node *point = scree_tree_node(tree, SCREE_NODE_LIST, node->line, node->column);
    for (int i = 0; i < 2 && good; ++i)
      good = point && scree_tree_add(tree, point, NULL,
                                     scree_tree_number(tree, corner[k][i] * half[i], node->line,
                                                       node->column));
    good = good && scree_tree_add(tree, list, NULL, point);
  }
  good = good &&
         scree_tree_add(tree, result, "kind",
                        scree_tree_scalar(tree, "polygon", node->line, node->column)) &&
         scree_tree_add(tree, result, "vertices", list);
  return good ? result : NULL;
}

scree_Node *scree_check_shape(scree_Check *check, const scree_Node *node) {
  const scree_Node *word = node->kind == SCREE_NODE_MAP ? scree_node_find(node, "kind") : NULL;
  const scree_ShapeRecipe *box =
      word && word->kind == SCREE_NODE_SCALAR && strcmp(word->text, "box") == 0
          ? scree_shape_recipe(word->text, check->dimension, node)
          : NULL;
  if (box) return check_box(check, box, node);
  const scree_ShapeKind kind = check_kind(check, node);
  if (kind == SCREE_SHAPE_KINDS) return NULL;
  const scree_ShapeType *type = scree_shape_type(kind);
  const scree_ShapeRecipe *recipe = scree_shape_recipe(type->name, type->dimension, node);
  if (recipe) return check_recipe(check, recipe, node);
  const char *words[16] = {"kind"};
  int count = 1;
  for (int k = 0; k < type->parameter_count; ++k) words[count++] = type->parameters[k].name;
  if (type->takes_vertices) words[count++] = "vertices";
  if (type->takes_vertices && type->dimension == 3) words[count++] = "file";
  if (type->takes_triangles) words[count++] = "triangles";
  if (type->takes_parts) words[count++] = "parts";
  if (type->takes_elements) words[count++] = "divisions", words[count++] = "file";
  bool good = true;
  for (int k = 0; k < node->count; ++k) {
    bool known = false;
    for (int w = 0; words[w]; ++w) known |= strcmp(words[w], node->entries[k].key) == 0;
    if (known) continue;
    scree_check_refuse_word(check, "key", node->entries[k].key, node->entries[k].line,
                            node->entries[k].column, words);
    good = false;
  }
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_MAP, node->line, node->column);
  good = good && scree_tree_add(check->tree, result, "kind",
                                scree_tree_scalar(check->tree, type->name, node->line, 0));
  const bool from_file = type->takes_elements && scree_node_find(node, "file");
  for (int k = 0; k < type->parameter_count && good && !from_file; ++k)
    good = add_parameter(check, &type->parameters[k], node, result);
  if (type->takes_elements && good) good = check_elements(check, type, node, result);
  if (type->takes_vertices && good) good = check_points(check, type, node, result);
  if (type->takes_parts && good) {
    const scree_Node *parts = scree_node_find(node, "parts");
    if (!parts) {
      scree_check_complain(check, node->line, node->column, "parts are missing (a list of shapes)");
      return NULL;
    }
    const size_t mark = scree_check_push(check, "parts", 0);
    good = scree_tree_add(check->tree, result, "parts", check_parts(check, parts));
    scree_check_pop(check, mark);
  }
  return good ? result : NULL;
}

/* Messages of the option table reach the log with the place in front. */
typedef struct OptionLog {
  scree_Check *check;
  const scree_Node *node;
} OptionLog;

static void write_option_message(void *user, scree_LogLevel level, const char *message) {
  const OptionLog *log = user;
  if (level == SCREE_LOG_ERROR)
    scree_check_complain(log->check, log->node->line, log->node->column, "%s", message);
}

scree_Node *scree_check_options(scree_Check *check, const scree_Node *node) {
  /* auto may be a solver of its own, or stand for the library's default */
  const scree_SolverClass *class_ = scree_solver_class_find(check->solver);
  if (!class_) class_ = scree_solver_class_find(scree_solve_settings().solver);
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_MAP, node->line, node->column);
  if (!class_ || !result) return result;
  if (node->kind != SCREE_NODE_MAP) {
    scree_check_expected(check, node, "a map of options");
    return NULL;
  }
  const scree_OptionTable *table = scree_solver_class_options(class_);
  char *values = SCREE_ALLOC(char, table->size + 1), owner[64];
  scree_Status status = values ? SCREE_OK : SCREE_MACHINE;
  snprintf(owner, sizeof owner, "solver %.40s", check->solver);
  if (values) scree_options_init(table, values);
  for (int k = 0; k < node->count && status == SCREE_OK; ++k) {
    const scree_Node *value = node->entries[k].value;
    OptionLog user = {check, value};
    const scree_Log log = {write_option_message, &user};
    if (value->kind != SCREE_NODE_SCALAR) {
      scree_check_expected(check, value, "one value");
      status = SCREE_BAD_INPUT;
    } else {
      status = scree_options_set(table, owner, values, node->entries[k].key, value->text, &log);
    }
  }
  for (int k = 0; k < table->count && status == SCREE_OK; ++k) {
    char text[64];
    scree_options_get(table, values, k, text, sizeof text);
    if (!scree_tree_add(check->tree, result, table->options[k].name,
                        scree_tree_scalar(check->tree, text, 0, 0)))
      status = SCREE_MACHINE;
  }
  scree_free(values);
  return status == SCREE_OK ? result : NULL;
}

/* ---- laws: described by the option tables of src/law --------------------------------------------
 */

/* The option named `key` of the law, or of the first law that has one (law null). */
const scree_Option *scree_check_law_option(const char *law, const char *key) {
  for (int l = 0; scree_law_name(l); ++l) {
    if (law && strcmp(law, scree_law_name(l)) != 0) continue;
    const scree_OptionTable *table = scree_law_options(scree_law_name(l));
    for (int k = 0; k < table->count; ++k)
      if (strcmp(table->options[k].name, key) == 0) return &table->options[k];
  }
  return NULL;
}

bool scree_check_has_law(const scree_Field *fields) {
  for (int k = 0; fields[k].key; ++k)
    if (fields[k].type == SCREE_FIELD_LAW) return true;
  return false;
}

/* Names of the parameters of all laws, each once, behind `words`. */
int scree_check_add_law_words(const char **words, int count) {
  for (int l = 0; scree_law_name(l); ++l) {
    const scree_OptionTable *table = scree_law_options(scree_law_name(l));
    for (int k = 0; k < table->count && count < SCREE_CHECK_WORDS - 1; ++k) {
      bool known = false;
      for (int w = 0; w < count && !known; ++w)
        known = strcmp(words[w], table->options[k].name) == 0;
      if (!known) words[count++] = table->options[k].name;
    }
  }
  return count;
}

static scree_Node *check_parameter(scree_Check *check, const scree_Option *option,
                                   const scree_Node *given) {
  const scree_Field number = {.min = option->min,
                              .max = option->max < DBL_MAX ? option->max : INFINITY};
  const size_t mark = scree_check_push(check, option->name, 0);
  scree_Node *value = scree_check_real(check, &number, given);
  scree_check_pop(check, mark);
  return value;
}

/* The first law that has a parameter. */
static const char *law_with(const char *parameter) {
  int l = 0;
  while (scree_law_name(l) && !scree_check_law_option(scree_law_name(l), parameter)) ++l;
  return scree_law_name(l);
}

/* Parameters beside the key `law`. With a default law (`contact`) all parameters of the law are
 * written out; otherwise those that were given, and the rest follows from `contact`. Parameters of
 * other laws are checked and left out, so that a scene can be tried with another law; but where no
 * law is named, the one that they belong to was meant. */
bool scree_check_add_law_parameters(scree_Check *check, const scree_Field *field, const char *law,
                                    const scree_Node *node, scree_Node *result) {
  const char *words[SCREE_CHECK_WORDS] = {NULL};
  const int count = scree_check_add_law_words(words, 0);
  for (int k = 0; k < count; ++k) {
    const scree_Node *given = scree_node_find(node, words[k]);
    const scree_Option *own = scree_check_law_option(law, words[k]);
    const scree_Option *option = own ? own : scree_check_law_option(NULL, words[k]);
    scree_Node *value = NULL;
    if (given && !own && field->preset && !scree_node_find(node, field->key))
      scree_check_complain(check, given->line, given->column,
                           "found %s, which the law %s does not have, and no law; expected law: %s",
                           words[k], law, law_with(words[k]));
    else if (given)
      value = check_parameter(check, option, given);
    else if (own && field->preset)
      value = scree_tree_number(check->tree, own->preset, 0, 0);
    if ((own || !field->preset) && value && !scree_tree_add(check->tree, result, words[k], value))
      return false;
  }
  return true;
}
