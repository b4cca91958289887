/* Checks of scenes: messages, and scalars (see scene_check.h). */
#include "scene/scene_check.h"

#include "core/log.h"
#include "scene/scene_expression.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- messages -------------------------------------------------------------------------------- */

void scree_check_complain(scree_Check *check, int line, int column, const char *format, ...) {
  if (++check->errors > SCREE_CHECK_ERRORS) return;
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

/* The found value in words, short enough for a message. */
const char *scree_check_found(const scree_Node *node, char *text, size_t size) {
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

void scree_check_expected(scree_Check *check, const scree_Node *node, const char *what) {
  char text[96];
  scree_check_complain(check, node->line, node->column, "found %s, expected %s",
                       scree_check_found(node, text, sizeof text), what);
}

size_t scree_check_push(scree_Check *check, const char *key, int index) {
  const size_t length = strlen(check->path), room = sizeof check->path - length;
  if (key)
    snprintf(check->path + length, room, "%s%.60s", length ? "." : "", key);
  else
    snprintf(check->path + length, room, "[%d]", index);
  return length;
}

void scree_check_pop(scree_Check *check, size_t length) {
  check->path[length] = '\0';
}

void scree_check_list_words(const char *const *words, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; words[k] && used < size; ++k)
    used += (size_t)snprintf(text + used, size - used, "%s%s", k ? ", " : "", words[k]);
}

const scree_Node *scree_check_kind(scree_Check *check, const scree_Node *map,
                                   const char *const *words) {
  const scree_Node *kind = scree_node_find(map, "kind");
  if (kind && kind->kind == SCREE_NODE_SCALAR) return kind;
  char list[160], what[200];
  scree_check_list_words(words, list, sizeof list);
  snprintf(what, sizeof what, "{ kind: ..., } with kind one of: %s", list);
  scree_check_expected(check, kind ? kind : map, what);
  return NULL;
}

void scree_check_refuse_word(scree_Check *check, const char *what, const char *word, int line,
                             int column, const char *const *words) {
  char list[320];
  const char *near = scree_check_meant(word, words);
  scree_check_list_words(words, list, sizeof list);
  scree_check_complain(check, line, column, "unknown %s \"%.60s\"%s%s%s, expected one of: %s", what,
                       word, near ? "; did you mean " : "", near ? near : "", near ? "?" : "",
                       list);
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
static bool read_number(scree_Check *check, const scree_Node *node, const char *what,
                        double *value) {
  scree_Expression expression;
  int at = 0;
  const char *reason = NULL;
  if (node->kind != SCREE_NODE_SCALAR) {
    scree_check_expected(check, node, what);
    return false;
  }
  if (strcmp(node->text, "inf") == 0 || strcmp(node->text, ".inf") == 0) {
    *value = INFINITY;
    return true;
  }
  const char *given = scree_parameters_expand(&check->parameters, check->tree, node->text);
  if (!given) return false;
  reason = scree_expression_parse(&expression, given, &at);
  if (given != node->text) at = 0;
  if (reason || expression.uses_time) {
    char text[96];
    scree_check_complain(check, node->line, node->column + (reason && node->line ? at : 0),
                         "found %s, expected %s (%s)", scree_check_found(node, text, sizeof text),
                         what, reason ? reason : "it may not depend on t");
    return false;
  }
  *value = scree_expression_value(&expression, 0);
  if (isfinite(*value)) return true;
  scree_check_expected(check, node, what);
  return false;
}

static bool in_range(const scree_Field *field, double value) {
  const bool open = (field->flags & SCREE_FIELD_OPEN) != 0;
  return (open ? value > field->min : value >= field->min) && value <= field->max;
}

bool scree_check_is_auto(const scree_Field *field, const scree_Node *node) {
  return (field->flags & SCREE_FIELD_AUTO) && node->kind == SCREE_NODE_SCALAR &&
         strcmp(node->text, "auto") == 0;
}

/* A number of the field's range; infinity only where the range says so. */
scree_Node *scree_check_real(scree_Check *check, const scree_Field *field, const scree_Node *node) {
  char what[160];
  double value = 0;
  range_text(field, what, sizeof what);
  if (!read_number(check, node, what, &value)) return NULL;
  if (!in_range(field, value) || isinf(value)) {
    scree_check_expected(check, node, what);
    return NULL;
  }
  return scree_tree_number(check->tree, value, node->line, node->column);
}

scree_Node *scree_check_int(scree_Check *check, const scree_Field *field, const scree_Node *node) {
  char what[96];
  double value = 0;
  if (field->max >= 1e15)
    snprintf(what, sizeof what, "an integer >= %.0f", field->min);
  else
    snprintf(what, sizeof what, "an integer from %.0f to %.0f", field->min, field->max);
  if (!read_number(check, node, what, &value)) return NULL;
  if (value != floor(value) || !in_range(field, value)) {
    scree_check_expected(check, node, what);
    return NULL;
  }
  char text[32];
  snprintf(text, sizeof text, "%.0f", value);
  scree_Node *result = scree_tree_scalar(check->tree, text, node->line, node->column);
  if (result) result->number = value;
  return result;
}

scree_Node *scree_check_bool(scree_Check *check, const scree_Node *node) {
  static const char *const yes[] = {"true", "yes", "on"}, *const no[] = {"false", "no", "off"};
  for (int k = 0; k < 3 && node->kind == SCREE_NODE_SCALAR; ++k) {
    const bool is_yes = strcmp(node->text, yes[k]) == 0;
    if (!is_yes && strcmp(node->text, no[k]) != 0) continue;
    scree_Node *result =
        scree_tree_scalar(check->tree, is_yes ? "true" : "false", node->line, node->column);
    if (result) result->number = is_yes;
    return result;
  }
  scree_check_expected(check, node, "true or false");
  return NULL;
}

scree_Node *scree_check_text(scree_Check *check, const scree_Node *node) {
  if (node->kind != SCREE_NODE_SCALAR) {
    scree_check_expected(check, node, "text");
    return NULL;
  }
  return scree_tree_scalar(check->tree, node->text, node->line, node->column);
}

scree_Node *scree_check_choice(scree_Check *check, const scree_Field *field,
                               const scree_Node *node) {
  const char *words[SCREE_CHECK_WORDS] = {NULL};
  int count = 0;
  if (field->flags & SCREE_FIELD_AUTO) words[count++] = "auto";
  for (int k = 0; count < SCREE_CHECK_WORDS - 1; ++k) {
    const char *word = field->words ? field->words[k] : field->registry(k);
    if (!word) break;
    if (field->flags & SCREE_FIELD_AUTO && strcmp(word, "auto") == 0) continue;
    words[count++] = word;
  }
  if (node->kind != SCREE_NODE_SCALAR) {
    char list[320], what[352];
    scree_check_list_words(words, list, sizeof list);
    snprintf(what, sizeof what, "one of: %s", list);
    scree_check_expected(check, node, what);
    return NULL;
  }
  for (int k = 0; k < count; ++k)
    if (strcmp(words[k], node->text) == 0)
      return scree_tree_scalar(check->tree, node->text, node->line, node->column);
  scree_check_refuse_word(check, "value", node->text, node->line, node->column, words);
  return NULL;
}
