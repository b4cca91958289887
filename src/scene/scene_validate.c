/* Scene against schema (see scene_schema.h): one function per type of field turns what was given,
 * or the default, into a node of the normalised tree. A mistake is reported with its place and its
 * path, and the rest is still checked, so that one run shows all of them. */
#include "scene/scene_schema.h"

#include "core/log.h"
#include "core/memory.h"
#include "scene/scene_expression.h"
#include "scree/law.h"
#include "scree/options.h"
#include "scree/shape.h"
#include "scree/solver.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  ERRORS_MAX = 20,
  WORDS_MAX = 96,
  VERTICES_MAX = 1024,
  PARTS_MAX = 65536,
  TABLE_MAX = 1000000
};

typedef struct Check {
  const char *name; /* of the file */
  const scree_Log *log;
  scree_Tree *tree; /* normalised */
  int dimension;
  int errors;
  bool with_ends;     /* the body has `from` and `to`: half_length follows */
  const char *solver; /* whose options are meant */
  char path[256];     /* "bodies[3].shape" */
} Check;

/* ---- messages -------------------------------------------------------------------------------- */

static void complain(Check *check, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void complain(Check *check, int line, int column, const char *format, ...) {
  if (++check->errors > ERRORS_MAX) return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *colon = check->path[0] ? ": " : "";
  if (line > 0)
    scree_report(check->log, SCREE_LOG_ERROR, "%s:%d:%d: %s%s%s", check->name, line, column,
                 check->path, colon, text);
  else
    scree_report(check->log, SCREE_LOG_ERROR, "%s: --set %s%s%s", check->name, check->path, colon,
                 text);
}

/* What was found, in words short enough for a message. */
static const char *found(const scree_Node *node, char *text, size_t size) {
  if (node->kind == SCREE_NODE_MAP)
    snprintf(text, size, "a map");
  else if (node->kind == SCREE_NODE_LIST)
    snprintf(text, size, "a list of %d", node->count);
  else if (!node->text[0])
    snprintf(text, size, "nothing");
  else
    snprintf(text, size, "\"%.60s%s\"", node->text, strlen(node->text) > 60 ? "..." : "");
  return text;
}

static void expected(Check *check, const scree_Node *node, const char *what) {
  char text[96];
  complain(check, node->line, node->column, "found %s, expected %s", found(node, text, sizeof text),
           what);
}

static size_t push(Check *check, const char *key, int index) {
  const size_t length = strlen(check->path), room = sizeof check->path - length;
  if (key)
    snprintf(check->path + length, room, "%s%.60s", length ? "." : "", key);
  else
    snprintf(check->path + length, room, "[%d]", index);
  return length;
}

static void pop(Check *check, size_t length) {
  check->path[length] = '\0';
}

static void list_words(const char *const *words, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; words[k] && used < size; ++k)
    used += (size_t)snprintf(text + used, size - used, "%s%s", k ? ", " : "", words[k]);
}

static void refuse_word(Check *check, const char *what, const char *word, int line, int column,
                        const char *const *words) {
  char list[320];
  const char *near = scree_nearest_word(word, words);
  list_words(words, list, sizeof list);
  complain(check, line, column, "unknown %s \"%.60s\"%s%s%s, expected one of: %s", what, word,
           near ? "; did you mean " : "", near ? near : "", near ? "?" : "", list);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void range_text(const scree_Field *field, char *text, size_t size) {
  const bool open = (field->flags & SCREE_FIELD_OPEN) != 0;
  char unit[48] = "";
  if (field->unit) snprintf(unit, sizeof unit, " [%.40s]", field->unit);
  if (isinf(field->min) && isinf(field->max))
    snprintf(text, size, "a number%s", unit);
  else if (isinf(field->max))
    snprintf(text, size, "a number %s %g%s", open ? ">" : ">=", field->min, unit);
  else
    snprintf(text, size, "a number %s %g %s %g%s", open ? "above" : "from", field->min,
             open ? "and up to" : "to", field->max, unit);
}

/* A number or an expression without t. */
static bool read_number(Check *check, const scree_Node *node, const char *what, double *value) {
  scree_Expression expression;
  int at = 0;
  const char *reason = NULL;
  if (node->kind != SCREE_NODE_SCALAR) {
    expected(check, node, what);
    return false;
  }
  if (strcmp(node->text, "inf") == 0 || strcmp(node->text, ".inf") == 0) {
    *value = INFINITY;
    return true;
  }
  reason = scree_expression_parse(&expression, node->text, &at);
  if (reason || expression.uses_time) {
    char text[96];
    complain(check, node->line, node->column + (reason && node->line ? at : 0),
             "found %s, expected %s (%s)", found(node, text, sizeof text), what,
             reason ? reason : "it may not depend on t");
    return false;
  }
  *value = scree_expression_value(&expression, 0);
  if (isfinite(*value)) return true;
  expected(check, node, what);
  return false;
}

static bool in_range(const scree_Field *field, double value) {
  const bool open = (field->flags & SCREE_FIELD_OPEN) != 0;
  return (open ? value > field->min : value >= field->min) && value <= field->max;
}

static bool is_auto(const scree_Field *field, const scree_Node *node) {
  return (field->flags & SCREE_FIELD_AUTO) && node->kind == SCREE_NODE_SCALAR &&
         strcmp(node->text, "auto") == 0;
}

/* A number of the field's range; infinity only where the range says so. */
static scree_Node *check_real(Check *check, const scree_Field *field, const scree_Node *node) {
  char what[160];
  double value = 0;
  range_text(field, what, sizeof what);
  if (!read_number(check, node, what, &value)) return NULL;
  if (!in_range(field, value) || isinf(value)) {
    expected(check, node, what);
    return NULL;
  }
  return scree_tree_number(check->tree, value, node->line, node->column);
}

static scree_Node *check_int(Check *check, const scree_Field *field, const scree_Node *node) {
  char what[96];
  double value = 0;
  if (field->max >= 1e15)
    snprintf(what, sizeof what, "an integer >= %.0f", field->min);
  else
    snprintf(what, sizeof what, "an integer from %.0f to %.0f", field->min, field->max);
  if (!read_number(check, node, what, &value)) return NULL;
  if (value != floor(value) || !in_range(field, value)) {
    expected(check, node, what);
    return NULL;
  }
  char text[32];
  snprintf(text, sizeof text, "%.0f", value);
  scree_Node *result = scree_tree_scalar(check->tree, text, node->line, node->column);
  if (result) result->number = value;
  return result;
}

static scree_Node *check_bool(Check *check, const scree_Node *node) {
  static const char *const yes[] = {"true", "yes", "on"}, *const no[] = {"false", "no", "off"};
  for (int k = 0; k < 3 && node->kind == SCREE_NODE_SCALAR; ++k) {
    const bool is_yes = strcmp(node->text, yes[k]) == 0;
    if (!is_yes && strcmp(node->text, no[k]) != 0) continue;
    scree_Node *result =
        scree_tree_scalar(check->tree, is_yes ? "true" : "false", node->line, node->column);
    if (result) result->number = is_yes;
    return result;
  }
  expected(check, node, "true or false");
  return NULL;
}

static scree_Node *check_text(Check *check, const scree_Node *node) {
  if (node->kind != SCREE_NODE_SCALAR) {
    expected(check, node, "text");
    return NULL;
  }
  return scree_tree_scalar(check->tree, node->text, node->line, node->column);
}

static scree_Node *check_choice(Check *check, const scree_Field *field, const scree_Node *node) {
  const char *words[WORDS_MAX] = {NULL};
  int count = 0;
  if (field->flags & SCREE_FIELD_AUTO) words[count++] = "auto";
  for (int k = 0; count < WORDS_MAX - 1; ++k) {
    const char *word = field->words ? field->words[k] : field->registry(k);
    if (!word) break;
    if (field->flags & SCREE_FIELD_AUTO && strcmp(word, "auto") == 0) continue;
    words[count++] = word;
  }
  if (node->kind != SCREE_NODE_SCALAR) {
    char list[320], what[352];
    list_words(words, list, sizeof list);
    snprintf(what, sizeof what, "one of: %s", list);
    expected(check, node, what);
    return NULL;
  }
  for (int k = 0; k < count; ++k)
    if (strcmp(words[k], node->text) == 0)
      return scree_tree_scalar(check->tree, node->text, node->line, node->column);
  refuse_word(check, "value", node->text, node->line, node->column, words);
  return NULL;
}

/* ---- vectors, lists of scalars --------------------------------------------------------------- */

static int components(const Check *check, const scree_Field *field) {
  if (field->flags & SCREE_FIELD_AXIAL) return check->dimension == 2 ? 1 : 3;
  return check->dimension;
}

static void expected_vector(Check *check, const scree_Field *field, const scree_Node *node) {
  const int count = components(check, field);
  char what[128], unit[48] = "";
  if (field->unit) snprintf(unit, sizeof unit, " [%.40s]", field->unit);
  if (count == 1)
    snprintf(what, sizeof what, "one number%s", unit);
  else
    snprintf(what, sizeof what, "a list of %d numbers%s%s", count, unit,
             field->flags & SCREE_FIELD_BROADCAST ? " or one number" : "");
  expected(check, node, what);
}

static scree_Node *check_vector(Check *check, const scree_Field *field, const scree_Node *node) {
  const int count = components(check, field);
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  /* one number for one component, for equal components, or the default zero */
  const bool single =
      node->kind == SCREE_NODE_SCALAR && (count == 1 || (field->flags & SCREE_FIELD_BROADCAST) ||
                                          (node->line == 0 && strcmp(node->text, "0") == 0));
  if (!single && (node->kind != SCREE_NODE_LIST || node->count != count)) {
    expected_vector(check, field, node);
    return NULL;
  }
  if (single && count == 1) return check_real(check, field, node);
  bool good = result != NULL;
  for (int k = 0; k < count && good; ++k) {
    const size_t mark = push(check, NULL, k);
    const scree_Node *item = single ? node : node->entries[k].value;
    good = scree_tree_add(check->tree, result, NULL, check_real(check, field, item));
    pop(check, mark);
  }
  return good ? result : NULL;
}

/* `max` scalars, checked one by one; any number of them for integers. */
static scree_Node *check_scalars(Check *check, const scree_Field *field, const scree_Node *node) {
  const scree_Field number = {.min = -INFINITY, .max = INFINITY};
  const bool ints = field->type == SCREE_FIELD_INTS;
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  if (node->kind != SCREE_NODE_LIST || (!ints && node->count != (int)field->max)) {
    char what[64];
    if (ints)
      snprintf(what, sizeof what, "a list of integers");
    else
      snprintf(what, sizeof what, "a list of %d %s", (int)field->max,
               field->type == SCREE_FIELD_TEXTS ? "names" : "numbers");
    expected(check, node, what);
    return NULL;
  }
  for (int k = 0; k < node->count && result; ++k) {
    const size_t mark = push(check, NULL, k);
    const scree_Node *given = node->entries[k].value;
    scree_Node *item = ints                               ? check_int(check, field, given)
                       : field->type == SCREE_FIELD_TEXTS ? check_text(check, given)
                                                          : check_real(check, &number, given);
    pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, item)) return NULL;
  }
  return result;
}

/* ---- signals --------------------------------------------------------------------------------- */

/* One component: a number, or an expression in t, kept as text. */
static scree_Node *check_component(Check *check, const scree_Node *node) {
  scree_Expression expression;
  int at = 0;
  char text[96];
  if (node->kind != SCREE_NODE_SCALAR) {
    expected(check, node, "a number or an expression in t");
    return NULL;
  }
  const char *reason = scree_expression_parse(&expression, node->text, &at);
  if (reason) {
    complain(check, node->line, node->column + (node->line ? at : 0),
             "found %s, expected a number or an expression in t (%s)",
             found(node, text, sizeof text), reason);
    return NULL;
  }
  if (expression.uses_time)
    return scree_tree_scalar(check->tree, node->text, node->line, node->column);
  const double value = scree_expression_value(&expression, 0);
  if (isfinite(value)) return scree_tree_number(check->tree, value, node->line, node->column);
  expected(check, node, "a finite number");
  return NULL;
}

/* { times: [...], values: [[...], ...] } */
static scree_Node *check_table(Check *check, const scree_Field *field, const scree_Node *node) {
  static const scree_Field number = {.min = -INFINITY, .max = INFINITY};
  const scree_Node *times = scree_node_find(node, "times");
  const scree_Node *values = scree_node_find(node, "values");
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_MAP, node->line, node->column);
  scree_Node *out[2] = {scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column),
                        scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column)};
  if (!times || !values || node->count != 2 || times->kind != SCREE_NODE_LIST ||
      values->kind != SCREE_NODE_LIST || times->count != values->count || times->count < 1 ||
      times->count > TABLE_MAX) {
    complain(check, node->line, node->column,
             "expected a table { times: [...], values: [...] } with as many values as times");
    return NULL;
  }
  if (!result || !out[0] || !out[1]) return NULL;
  double last = -INFINITY;
  for (int k = 0; k < times->count; ++k) {
    const scree_Node *given = times->entries[k].value;
    size_t mark = push(check, "times", 0);
    push(check, NULL, k);
    scree_Node *time = check_real(check, &number, given);
    if (time && time->number <= last) {
      expected(check, given, "a time after the one before it");
      time = NULL;
    }
    pop(check, mark);
    if (!time) return NULL;
    last = time->number;
    mark = push(check, "values", 0);
    push(check, NULL, k);
    scree_Node *value = check_vector(check, field, values->entries[k].value);
    pop(check, mark);
    if (!scree_tree_add(check->tree, out[0], NULL, time) ||
        !scree_tree_add(check->tree, out[1], NULL, value))
      return NULL;
  }
  return scree_tree_add(check->tree, result, "times", out[0]) &&
                 scree_tree_add(check->tree, result, "values", out[1])
             ? result
             : NULL;
}

static scree_Node *check_signals(Check *check, const scree_Field *field, const scree_Node *node) {
  const int count = components(check, field);
  if (node->kind == SCREE_NODE_MAP) return check_table(check, field, node);
  if (node->kind == SCREE_NODE_SCALAR && count == 1) return check_component(check, node);
  if (node->kind == SCREE_NODE_SCALAR && node->line == 0 && strcmp(node->text, "0") == 0)
    return check_vector(check, field, node);
  if (node->kind != SCREE_NODE_LIST || node->count != count) {
    expected_vector(check, field, node);
    return NULL;
  }
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  for (int k = 0; k < count && result; ++k) {
    const size_t mark = push(check, NULL, k);
    scree_Node *item = check_component(check, node->entries[k].value);
    pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, item)) return NULL;
  }
  return result;
}

/* ---- shapes and options: described by tables of other folders -------------------------------- */

static scree_ShapeKind check_kind(Check *check, const scree_Node *node) {
  const char *words[SCREE_SHAPE_KINDS + 1] = {NULL};
  int count = 0;
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k)
    if (scree_shape_type((scree_ShapeKind)k)->dimension == check->dimension)
      words[count++] = scree_shape_type((scree_ShapeKind)k)->name;
  const scree_Node *kind = scree_node_find(node, "kind");
  if (!kind || kind->kind != SCREE_NODE_SCALAR) {
    char list[160], what[200];
    list_words(words, list, sizeof list);
    snprintf(what, sizeof what, "{ kind: ..., } with kind one of: %s", list);
    expected(check, kind ? kind : node, what);
    return SCREE_SHAPE_KINDS;
  }
  scree_ShapeKind shape = scree_shape_kind(kind->text, check->dimension);
  if (shape != SCREE_SHAPE_KINDS) return shape;
  if (scree_shape_kind(kind->text, 5 - check->dimension) != SCREE_SHAPE_KINDS)
    complain(check, kind->line, kind->column, "a %s exists in %dD, but the scene is %dD",
             kind->text, 5 - check->dimension, check->dimension);
  else
    refuse_word(check, "shape", kind->text, kind->line, kind->column, words);
  return SCREE_SHAPE_KINDS;
}

static scree_Node *check_vertices(Check *check, const scree_Node *node) {
  static const scree_Field point = {
      .key = "vertices", .unit = "m", .min = -INFINITY, .max = INFINITY};
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  if (node->kind != SCREE_NODE_LIST || node->count < 3 || node->count > VERTICES_MAX) {
    expected(check, node, "a list of 3 to 1024 points [x, y]");
    return NULL;
  }
  for (int k = 0; k < node->count && result; ++k) {
    const size_t mark = push(check, NULL, k);
    scree_Node *item = check_vector(check, &point, node->entries[k].value);
    pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, item)) return NULL;
  }
  return result;
}

/* One parameter of a shape, given or by default. */
static bool add_parameter(Check *check, const scree_ShapeParameter *parameter,
                          const scree_Node *node, scree_Node *result) {
  const scree_Field number = {.unit = "m",
                              .min = 0,
                              .max = INFINITY,
                              .flags = parameter->may_be_zero ? 0 : SCREE_FIELD_OPEN};
  const scree_Node *given = scree_node_find(node, parameter->name);
  scree_Node *value = NULL;
  if (!given) {
    if (parameter->required && !(check->with_ends && strcmp(parameter->name, "half_length") == 0)) {
      complain(check, node->line, node->column, "%s is missing (%s)", parameter->name,
               parameter->help);
      return false;
    }
    value = scree_tree_number(check->tree, parameter->fallback, 0, 0);
  } else if (parameter->may_infinite && given->kind == SCREE_NODE_SCALAR &&
             (strcmp(given->text, "inf") == 0 || strcmp(given->text, ".inf") == 0)) {
    value = scree_tree_number(check->tree, INFINITY, given->line, given->column);
  } else {
    const size_t mark = push(check, parameter->name, 0);
    value = check_real(check, &number, given);
    pop(check, mark);
  }
  return scree_tree_add(check->tree, result, parameter->name, value);
}

static scree_Node *check_fields(Check *check, const scree_Field *fields, const char *kind,
                                const scree_Node *node);

static scree_Node *check_parts(Check *check, const scree_Node *node) {
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  if (node->kind != SCREE_NODE_LIST || node->count < 1 || node->count > PARTS_MAX) {
    expected(check, node, "a list of parts { shape: ..., position: ... }");
    return NULL;
  }
  for (int k = 0; k < node->count && result; ++k) {
    const size_t mark = push(check, NULL, k);
    scree_Node *item = check_fields(check, scree_scene_part_fields, NULL, node->entries[k].value);
    pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, item)) return NULL;
  }
  return result;
}

static scree_Node *check_shape(Check *check, const scree_Node *node) {
  const scree_ShapeKind kind = check_kind(check, node);
  if (kind == SCREE_SHAPE_KINDS) return NULL;
  const scree_ShapeType *type = scree_shape_type(kind);
  const char *words[16] = {"kind"};
  for (int k = 0; k < type->parameter_count; ++k) words[k + 1] = type->parameters[k].name;
  if (type->takes_vertices) words[type->parameter_count + 1] = "vertices";
  if (type->takes_parts) words[type->parameter_count + 1] = "parts";
  bool good = true;
  for (int k = 0; k < node->count; ++k) {
    bool known = false;
    for (int w = 0; words[w]; ++w) known |= strcmp(words[w], node->entries[k].key) == 0;
    if (known) continue;
    refuse_word(check, "key", node->entries[k].key, node->entries[k].line, node->entries[k].column,
                words);
    good = false;
  }
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_MAP, node->line, node->column);
  good = good && scree_tree_add(check->tree, result, "kind",
                                scree_tree_scalar(check->tree, type->name, node->line, 0));
  for (int k = 0; k < type->parameter_count && good; ++k)
    good = add_parameter(check, &type->parameters[k], node, result);
  if (type->takes_vertices && good) {
    const scree_Node *vertices = scree_node_find(node, "vertices");
    if (!vertices) {
      complain(check, node->line, node->column, "vertices are missing (corners, in any order)");
      return NULL;
    }
    const size_t mark = push(check, "vertices", 0);
    good = scree_tree_add(check->tree, result, "vertices", check_vertices(check, vertices));
    pop(check, mark);
  }
  if (type->takes_parts && good) {
    const scree_Node *parts = scree_node_find(node, "parts");
    if (!parts) {
      complain(check, node->line, node->column, "parts are missing (a list of shapes)");
      return NULL;
    }
    const size_t mark = push(check, "parts", 0);
    good = scree_tree_add(check->tree, result, "parts", check_parts(check, parts));
    pop(check, mark);
  }
  return good ? result : NULL;
}

/* Messages of the option table reach the log with the place in front. */
typedef struct OptionLog {
  Check *check;
  const scree_Node *node;
} OptionLog;

static void write_option_message(void *user, scree_LogLevel level, const char *message) {
  const OptionLog *log = user;
  if (level == SCREE_LOG_ERROR)
    complain(log->check, log->node->line, log->node->column, "%s", message);
}

static scree_Node *check_options(Check *check, const scree_Node *node) {
  /* auto may be a solver of its own, or stand for the library's default */
  const scree_SolverClass *class_ = scree_solver_class_find(check->solver);
  if (!class_) class_ = scree_solver_class_find(scree_solve_settings().solver);
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_MAP, node->line, node->column);
  if (!class_ || !result) return result;
  if (node->kind != SCREE_NODE_MAP) {
    expected(check, node, "a map of options");
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
      expected(check, value, "one value");
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
static const scree_Option *find_law_option(const char *law, const char *key) {
  for (int l = 0; scree_law_name(l); ++l) {
    if (law && strcmp(law, scree_law_name(l)) != 0) continue;
    const scree_OptionTable *table = scree_law_options(scree_law_name(l));
    for (int k = 0; k < table->count; ++k)
      if (strcmp(table->options[k].name, key) == 0) return &table->options[k];
  }
  return NULL;
}

static bool has_law(const scree_Field *fields) {
  for (int k = 0; fields[k].key; ++k)
    if (fields[k].type == SCREE_FIELD_LAW) return true;
  return false;
}

/* Names of the parameters of all laws, each once, behind `words`. */
static int add_law_words(const char **words, int count) {
  for (int l = 0; scree_law_name(l); ++l) {
    const scree_OptionTable *table = scree_law_options(scree_law_name(l));
    for (int k = 0; k < table->count && count < WORDS_MAX - 1; ++k) {
      bool known = false;
      for (int w = 0; w < count && !known; ++w)
        known = strcmp(words[w], table->options[k].name) == 0;
      if (!known) words[count++] = table->options[k].name;
    }
  }
  return count;
}

static scree_Node *check_parameter(Check *check, const scree_Option *option,
                                   const scree_Node *given) {
  const scree_Field number = {.min = option->min,
                              .max = option->max < DBL_MAX ? option->max : INFINITY};
  const size_t mark = push(check, option->name, 0);
  scree_Node *value = check_real(check, &number, given);
  pop(check, mark);
  return value;
}

/* Parameters beside the key `law`. With a default law (`contact`) all parameters of the law are
 * written out; otherwise those that were given, and the rest follows from `contact`. Parameters of
 * other laws are checked and left out, so that a scene can be tried with another law. */
static bool add_law_parameters(Check *check, const scree_Field *field, const char *law,
                               const scree_Node *node, scree_Node *result) {
  const char *words[WORDS_MAX] = {NULL};
  const int count = add_law_words(words, 0);
  for (int k = 0; k < count; ++k) {
    const scree_Node *given = scree_node_find(node, words[k]);
    const scree_Option *own = find_law_option(law, words[k]);
    const scree_Option *option = own ? own : find_law_option(NULL, words[k]);
    scree_Node *value = NULL;
    if (given)
      value = check_parameter(check, option, given);
    else if (own && field->preset)
      value = scree_tree_number(check->tree, own->preset, 0, 0);
    if ((own || !field->preset) && value && !scree_tree_add(check->tree, result, words[k], value))
      return false;
  }
  return true;
}

/* ---- maps and lists of maps ------------------------------------------------------------------ */

static scree_Node *check_field(Check *check, const scree_Field *field, const scree_Node *node);

static scree_Node *check_fields(Check *check, const scree_Field *fields, const char *kind,
                                const scree_Node *node);

static scree_Node *check_variant(Check *check, const scree_Variant *variants,
                                 const scree_Node *node) {
  const char *words[WORDS_MAX] = {NULL};
  for (int k = 0; variants[k].kind; ++k) words[k] = variants[k].kind;
  const scree_Node *kind = scree_node_find(node, "kind");
  if (!kind || kind->kind != SCREE_NODE_SCALAR) {
    char list[160], what[200];
    list_words(words, list, sizeof list);
    snprintf(what, sizeof what, "{ kind: ..., } with kind one of: %s", list);
    expected(check, kind ? kind : node, what);
    return NULL;
  }
  for (int k = 0; variants[k].kind; ++k) {
    if (strcmp(variants[k].kind, kind->text) != 0) continue;
    if (variants[k].dimension && variants[k].dimension != check->dimension) {
      complain(check, kind->line, kind->column, "%s exists in %dD only", kind->text,
               variants[k].dimension);
      return NULL;
    }
    return check_fields(check, variants[k].fields, kind->text, node);
  }
  refuse_word(check, "kind", kind->text, kind->line, kind->column, words);
  return NULL;
}

static scree_Node *check_list(Check *check, const scree_Field *field, const scree_Node *node) {
  if (node->kind != SCREE_NODE_LIST) {
    expected(check, node, "a list");
    return NULL;
  }
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  for (int k = 0; k < node->count && result; ++k) {
    const size_t mark = push(check, NULL, k);
    const scree_Node *item = node->entries[k].value;
    scree_Node *value = field->variants ? check_variant(check, field->variants, item)
                                        : check_fields(check, field->fields, NULL, item);
    pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, value) && check->errors > ERRORS_MAX)
      return NULL;
  }
  return result;
}

static scree_Node *check_named(Check *check, const scree_Field *field, const scree_Node *node) {
  if (node->kind != SCREE_NODE_MAP) {
    expected(check, node, "a map from names to maps");
    return NULL;
  }
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_MAP, node->line, node->column);
  for (int k = 0; k < node->count && result; ++k) {
    const size_t mark = push(check, node->entries[k].key, 0);
    const scree_Node *item = node->entries[k].value, *empty = NULL;
    if (item->kind == SCREE_NODE_SCALAR && !item->text[0])
      empty = scree_tree_node(check->tree, SCREE_NODE_MAP, item->line, item->column);
    scree_Node *value = check_fields(check, field->fields, NULL, empty ? empty : item);
    pop(check, mark);
    if (!scree_tree_add(check->tree, result, node->entries[k].key, value)) return NULL;
  }
  return result;
}

/* Keys that the table does not have. */
static void check_keys(Check *check, const scree_Field *fields, const char *kind,
                       const scree_Node *node) {
  const char *words[WORDS_MAX] = {NULL};
  int count = 0;
  if (kind) words[count++] = "kind";
  for (int k = 0; fields[k].key; ++k)
    if (!fields[k].dimension || fields[k].dimension == check->dimension)
      words[count++] = fields[k].key;
  const bool law = has_law(fields);
  if (law) add_law_words(words, count);
  for (int k = 0; k < node->count; ++k) {
    const scree_NodeEntry *entry = &node->entries[k];
    bool known = kind && strcmp(entry->key, "kind") == 0;
    int other = 0;
    for (int f = 0; fields[f].key && !known; ++f) {
      if (strcmp(fields[f].key, entry->key) != 0) continue;
      known = !fields[f].dimension || fields[f].dimension == check->dimension;
      other = fields[f].dimension;
    }
    if (known || (law && find_law_option(NULL, entry->key))) continue;
    if (other)
      complain(check, entry->line, entry->column, "key \"%s\" exists in %dD only, the scene is %dD",
               entry->key, other, check->dimension);
    else
      refuse_word(check, "key", entry->key, entry->line, entry->column, words);
  }
}

static scree_Node *check_fields(Check *check, const scree_Field *fields, const char *kind,
                                const scree_Node *node) {
  if (node->kind != SCREE_NODE_MAP) {
    expected(check, node, "a map");
    return NULL;
  }
  const int before = check->errors;
  check_keys(check, fields, kind, node);
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_MAP, node->line, node->column);
  if (!result) return NULL;
  if (kind && !scree_tree_add(check->tree, result, "kind",
                              scree_tree_scalar(check->tree, kind, node->line, node->column)))
    return NULL;
  const bool with_ends = check->with_ends;
  check->with_ends = scree_node_find(node, "from") && scree_node_find(node, "to");
  for (int k = 0; fields[k].key; ++k) {
    const scree_Field *field = &fields[k];
    if (field->dimension && field->dimension != check->dimension) continue;
    const scree_Node *given = scree_node_find(node, field->key);
    if (!given && (field->flags & SCREE_FIELD_REQUIRED)) {
      complain(check, node->line, node->column, "%s is missing (%s)", field->key, field->help);
      continue;
    }
    if (!given && !field->preset) {
      if (field->type == SCREE_FIELD_LAW && !add_law_parameters(check, field, NULL, node, result))
        return NULL;
      continue;
    }
    const size_t mark = push(check, field->key, 0);
    scree_Node *value = check_field(check, field, given);
    if (strcmp(field->key, "name") == 0 && value) check->solver = value->text;
    pop(check, mark);
    if (value && !scree_tree_add(check->tree, result, field->key, value)) return NULL;
    if (value && field->type == SCREE_FIELD_LAW &&
        !add_law_parameters(check, field, value->text, node, result))
      return NULL;
  }
  check->with_ends = with_ends;
  return check->errors == before && !check->tree->failed ? result : NULL;
}

/* A null node stands for the default. */
static scree_Node *check_field(Check *check, const scree_Field *field, const scree_Node *node) {
  scree_Node stand_in = {.kind = SCREE_NODE_SCALAR, .text = field->preset};
  if (!node) {
    if (strcmp(field->preset, "{}") == 0) stand_in.kind = SCREE_NODE_MAP;
    if (strcmp(field->preset, "[]") == 0) stand_in.kind = SCREE_NODE_LIST;
    node = &stand_in;
  }
  if (is_auto(field, node)) return scree_tree_scalar(check->tree, "auto", node->line, node->column);
  switch (field->type) {
  case SCREE_FIELD_REAL: return check_real(check, field, node);
  case SCREE_FIELD_INT: return check_int(check, field, node);
  case SCREE_FIELD_BOOL: return check_bool(check, node);
  case SCREE_FIELD_TEXT: return check_text(check, node);
  case SCREE_FIELD_LAW:
  case SCREE_FIELD_CHOICE: return check_choice(check, field, node);
  case SCREE_FIELD_VECTOR: return check_vector(check, field, node);
  case SCREE_FIELD_INTS:
  case SCREE_FIELD_REALS:
  case SCREE_FIELD_TEXTS: return check_scalars(check, field, node);
  case SCREE_FIELD_SIGNALS: return check_signals(check, field, node);
  case SCREE_FIELD_MAP: return check_fields(check, field->fields, NULL, node);
  case SCREE_FIELD_LIST: return check_list(check, field, node);
  case SCREE_FIELD_NAMED: return check_named(check, field, node);
  case SCREE_FIELD_VARIANT: return check_variant(check, field->variants, node);
  case SCREE_FIELD_SHAPE: return check_shape(check, node);
  case SCREE_FIELD_OPTIONS: return check_options(check, node);
  }
  return NULL;
}

scree_Status scree_scene_normalise(const scree_Node *given, const char *name, scree_Tree *tree,
                                   const scree_Log *log) {
  *tree = (scree_Tree){0};
  Check check = {.name = name, .log = log, .tree = tree, .dimension = 3, .solver = ""};
  const scree_Node *dimension = scree_node_find(given, "dimension");
  if (dimension && dimension->kind == SCREE_NODE_SCALAR && strcmp(dimension->text, "2") == 0)
    check.dimension = 2;
  tree->root = check_fields(&check, scree_scene_schema(), NULL, given);
  if (check.errors > ERRORS_MAX)
    scree_report(log, SCREE_LOG_ERROR, "%s: %d more mistakes", name, check.errors - ERRORS_MAX);
  if (tree->root) return SCREE_OK;
  const bool memory = tree->failed && check.errors == 0;
  scree_tree_fini(tree);
  return memory ? scree_fail_memory(log, name) : SCREE_BAD_INPUT;
}

const char *scree_node_text(const scree_Node *map, const char *key) {
  const scree_Node *node = scree_node_find(map, key);
  return node && node->kind == SCREE_NODE_SCALAR ? node->text : "";
}

bool scree_node_true(const scree_Node *map, const char *key) {
  const scree_Node *node = scree_node_find(map, key);
  return node && node->number != 0.0;
}

bool scree_node_is(const scree_Node *map, const char *key, const char *word) {
  return strcmp(scree_node_text(map, key), word) == 0;
}
