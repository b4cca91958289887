/* Checks of scenes: vectors, lists of scalars, functions of time (see scene_check.h). */
#include "scene/scene_check.h"

#include "scene/scene_expression.h"
#include "scene/signal_csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- vectors, lists of scalars --------------------------------------------------------------- */

static int components(const scree_Check *check, const scree_Field *field) {
  if (field->flags & SCREE_FIELD_SCALAR) return 1;
  if (field->flags & SCREE_FIELD_AXIAL) return check->dimension == 2 ? 1 : 3;
  return check->dimension;
}

static void expected_vector(scree_Check *check, const scree_Field *field, const scree_Node *node) {
  const int count = components(check, field);
  char what[128], unit[48] = "";
  if (field->unit) snprintf(unit, sizeof unit, " [%.40s]", field->unit);
  if (count == 1)
    snprintf(what, sizeof what, "one number%s", unit);
  else
    snprintf(what, sizeof what, "a list of %d numbers%s%s", count, unit,
             field->flags & SCREE_FIELD_BROADCAST ? " or one number" : "");
  scree_check_expected(check, node, what);
}

scree_Node *scree_check_vector(scree_Check *check, const scree_Field *field,
                               const scree_Node *node) {
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
  if (single && count == 1) return scree_check_real(check, field, node);
  bool good = result != NULL;
  for (int k = 0; k < count && good; ++k) {
    const size_t mark = scree_check_push(check, NULL, k);
    const scree_Node *item = single ? node : node->entries[k].value;
    good = scree_tree_add(check->tree, result, NULL, scree_check_real(check, field, item));
    scree_check_pop(check, mark);
  }
  return good ? result : NULL;
}

/* `max` scalars, checked one by one; any number of them for integers. */
scree_Node *scree_check_scalars(scree_Check *check, const scree_Field *field,
                                const scree_Node *node) {
  const scree_Field number = {.min = -INFINITY, .max = INFINITY};
  const bool ints = field->type == SCREE_FIELD_INTS;
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  const int wanted = ints ? 0 : (int)field->max; /* 0: any number of numbers */
  if (node->kind != SCREE_NODE_LIST || (!ints && wanted > 0 && node->count != wanted)) {
    char what[64];
    if (ints)
      snprintf(what, sizeof what, "a list of integers");
    else if (wanted == 0)
      snprintf(what, sizeof what, "a list of numbers");
    else
      snprintf(what, sizeof what, "a list of %d %s", (int)field->max,
               field->type == SCREE_FIELD_TEXTS ? "names" : "numbers");
    scree_check_expected(check, node, what);
    return NULL;
  }
  for (int k = 0; k < node->count && result; ++k) {
    const size_t mark = scree_check_push(check, NULL, k);
    const scree_Node *given = node->entries[k].value;
    scree_Node *item = ints                               ? scree_check_int(check, field, given)
                       : field->type == SCREE_FIELD_TEXTS ? scree_check_text(check, given)
                                                          : scree_check_real(check, &number, given);
    scree_check_pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, item)) return NULL;
  }
  return result;
}

/* ---- signals --------------------------------------------------------------------------------- */

/* One component: a number, or an expression in t, kept as text. */
static scree_Node *check_component(scree_Check *check, const scree_Node *node) {
  scree_Expression expression;
  int at = 0;
  char text[96];
  if (node->kind != SCREE_NODE_SCALAR) {
    scree_check_expected(check, node, "a number or an expression in t");
    return NULL;
  }
  const char *given = scree_parameters_expand(&check->parameters, check->tree, node->text);
  if (!given) return NULL;
  const char *reason = scree_expression_parse(&expression, given, &at);
  if (given != node->text) at = 0;
  if (reason) {
    scree_check_complain(check, node->line, node->column + (node->line ? at : 0),
                         "found %s, expected a number or an expression in t (%s)",
                         scree_check_found(node, text, sizeof text), reason);
    return NULL;
  }
  if (expression.uses_time) return scree_tree_scalar(check->tree, given, node->line, node->column);
  const double value = scree_expression_value(&expression, 0);
  if (isfinite(value)) return scree_tree_number(check->tree, value, node->line, node->column);
  scree_check_expected(check, node, "a finite number");
  return NULL;
}

/* { times: [...], values: [[...], ...] } */
static scree_Node *check_table(scree_Check *check, const scree_Field *field,
                               const scree_Node *node) {
  static const scree_Field number = {.min = -INFINITY, .max = INFINITY};
  const scree_Node *times = scree_node_find(node, "times");
  const scree_Node *values = scree_node_find(node, "values");
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_MAP, node->line, node->column);
  scree_Node *out[2] = {scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column),
                        scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column)};
  if (!times || !values || node->count != 2 || times->kind != SCREE_NODE_LIST ||
      values->kind != SCREE_NODE_LIST || times->count != values->count || times->count < 1 ||
      times->count > SCREE_CHECK_ROWS) {
    scree_check_complain(
        check, node->line, node->column,
        "expected a table { times: [...], values: [...] } with as many values as times");
    return NULL;
  }
  if (!result || !out[0] || !out[1]) return NULL;
  double last = -INFINITY;
  for (int k = 0; k < times->count; ++k) {
    const scree_Node *given = times->entries[k].value;
    size_t mark = scree_check_push(check, "times", 0);
    scree_check_push(check, NULL, k);
    scree_Node *time = scree_check_real(check, &number, given);
    if (time && time->number <= last) {
      scree_check_expected(check, given, "a time after the one before it");
      time = NULL;
    }
    scree_check_pop(check, mark);
    if (!time) return NULL;
    last = time->number;
    mark = scree_check_push(check, "values", 0);
    scree_check_push(check, NULL, k);
    scree_Node *value = scree_check_vector(check, field, values->entries[k].value);
    scree_check_pop(check, mark);
    if (!scree_tree_add(check->tree, out[0], NULL, time) ||
        !scree_tree_add(check->tree, out[1], NULL, value))
      return NULL;
  }
  return scree_tree_add(check->tree, result, "times", out[0]) &&
                 scree_tree_add(check->tree, result, "values", out[1])
             ? result
             : NULL;
}

scree_Node *scree_check_signals(scree_Check *check, const scree_Field *field,
                                const scree_Node *node) {
  const int count = components(check, field);
  if (node->kind == SCREE_NODE_MAP && scree_node_find(node, "csv")) {
    node = scree_signal_from_csv(check->tree, &check->parameters, node, count, check->name,
                                 check->path, check->log);
    if (!node) ++check->errors;
    if (!node) return NULL;
  }
  if (node->kind == SCREE_NODE_MAP) return check_table(check, field, node);
  if (node->kind == SCREE_NODE_SCALAR && count == 1) return check_component(check, node);
  if (node->kind == SCREE_NODE_SCALAR && node->line == 0 && strcmp(node->text, "0") == 0)
    return scree_check_vector(check, field, node);
  if (node->kind != SCREE_NODE_LIST || node->count != count) {
    expected_vector(check, field, node);
    return NULL;
  }
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  for (int k = 0; k < count && result; ++k) {
    const size_t mark = scree_check_push(check, NULL, k);
    scree_Node *item = check_component(check, node->entries[k].value);
    scree_check_pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, item)) return NULL;
  }
  return result;
}
