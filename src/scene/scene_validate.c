/* Scene against schema (see scene_schema.h): one function per type of field turns the given value,
 * or the default, into a node of the normalised tree. A mistake is reported with its place and its
 * path, and the rest is still checked, so that one run shows all of them. */
#include "scene/scene_check.h"

#include "core/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- maps and lists of maps ------------------------------------------------------------------ */

static scree_Node *check_field(scree_Check *check, const scree_Field *field,
                               const scree_Node *node);

static scree_Node *check_variant(scree_Check *check, const scree_Variant *variants,
                                 const scree_Node *node) {
  const char *words[SCREE_CHECK_WORDS] = {NULL};
  for (int k = 0; variants[k].kind; ++k) words[k] = variants[k].kind;
  const scree_Node *kind = scree_check_kind(check, node, words);
  if (!kind) return NULL;
  for (int k = 0; variants[k].kind; ++k) {
    if (strcmp(variants[k].kind, kind->text) != 0) continue;
    if (variants[k].dimension && variants[k].dimension != check->dimension) {
      scree_check_complain(check, kind->line, kind->column, "%s exists in %dD only", kind->text,
                           variants[k].dimension);
      return NULL;
    }
    return scree_check_fields(check, variants[k].fields, kind->text, node);
  }
  scree_check_refuse_word(check, "kind", kind->text, kind->line, kind->column, words);
  return NULL;
}

static scree_Node *check_list(scree_Check *check, const scree_Field *field,
                              const scree_Node *node) {
  if (node->kind != SCREE_NODE_LIST) {
    scree_check_expected(check, node, "a list");
    return NULL;
  }
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_LIST, node->line, node->column);
  for (int k = 0; k < node->count && result; ++k) {
    const size_t mark = scree_check_push(check, NULL, k);
    const scree_Node *item = node->entries[k].value;
    scree_Node *value = field->variants ? check_variant(check, field->variants, item)
                                        : scree_check_fields(check, field->fields, NULL, item);
    scree_check_pop(check, mark);
    if (!scree_tree_add(check->tree, result, NULL, value) && check->errors > SCREE_CHECK_ERRORS)
      return NULL;
  }
  return result;
}

static scree_Node *check_named(scree_Check *check, const scree_Field *field,
                               const scree_Node *node) {
  if (node->kind != SCREE_NODE_MAP) {
    scree_check_expected(check, node, "a map from names to maps");
    return NULL;
  }
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_MAP, node->line, node->column);
  for (int k = 0; k < node->count && result; ++k) {
    const size_t mark = scree_check_push(check, node->entries[k].key, 0);
    const scree_Node *item = node->entries[k].value, *empty = NULL;
    if (item->kind == SCREE_NODE_SCALAR && !item->text[0])
      empty = scree_tree_node(check->tree, SCREE_NODE_MAP, item->line, item->column);
    scree_Node *value = scree_check_fields(check, field->fields, NULL, empty ? empty : item);
    scree_check_pop(check, mark);
    if (!scree_tree_add(check->tree, result, node->entries[k].key, value)) return NULL;
  }
  return result;
}

/* Whether parameter k uses another one that has no value yet. */
static bool waits(const scree_Node *node, const bool *done, int k) {
  const scree_Node *value = node->entries[k].value;
  for (int other = 0; other < node->count && value->kind == SCREE_NODE_SCALAR; ++other)
    if (!done[other] && scree_parameter_used(value->text, node->entries[other].key)) return true;
  return false;
}

/* One parameter: its name is allowed, its value a number. */
static bool check_one_parameter(scree_Check *check, const scree_NodeEntry *entry, double *number) {
  static const scree_Field any = {.min = -INFINITY, .max = INFINITY};
  const size_t mark = scree_check_push(check, entry->key, 0);
  const scree_Node *value = scree_check_real(check, &any, entry->value);
  scree_check_pop(check, mark);
  if (!value) return false;
  *number = value->number;
  check->parameters.name[check->parameters.count] = entry->key;
  check->parameters.value[check->parameters.count++] = value->number;
  return true;
}

/* Parameters, which may use each other, before all other keys. */
static scree_Node *check_parameters(scree_Check *check, const scree_Node *node) {
  bool done[SCREE_PARAMETERS_MAX] = {false};
  double number[SCREE_PARAMETERS_MAX];
  if (node->kind != SCREE_NODE_MAP || node->count > SCREE_PARAMETERS_MAX) {
    scree_check_expected(check, node, "a map from names to numbers");
    return NULL;
  }
  for (int k = 0; k < node->count; ++k) {
    const scree_NodeEntry *entry = &node->entries[k];
    const char *reason = scree_parameter_refuse(entry->key);
    if (!reason) continue;
    scree_check_complain(check, entry->line, entry->column, "found the name \"%.60s\", expected %s",
                         entry->key, reason);
    return NULL;
  }
  check->parameters.count = 0;
  for (bool progress = true; progress;) {
    progress = false;
    for (int k = 0; k < node->count; ++k) {
      if (done[k] || waits(node, done, k)) continue;
      if (!check_one_parameter(check, &node->entries[k], &number[k])) return NULL;
      done[k] = progress = true;
    }
  }
  scree_Node *result = scree_tree_node(check->tree, SCREE_NODE_MAP, node->line, node->column);
  for (int k = 0; k < node->count && result; ++k) {
    const scree_NodeEntry *entry = &node->entries[k];
    if (!done[k]) {
      scree_check_complain(check, entry->line, entry->column,
                           "the parameter \"%.60s\" depends on itself", entry->key);
      return NULL;
    }
    if (!scree_tree_add(check->tree, result, entry->key,
                        scree_tree_number(check->tree, number[k], entry->line, entry->column)))
      return NULL;
  }
  return result;
}

/* Keys that the table does not have. */
static void check_keys(scree_Check *check, const scree_Field *fields, const char *kind,
                       const scree_Node *node) {
  const char *words[SCREE_CHECK_WORDS] = {NULL};
  int count = 0;
  if (kind) words[count++] = "kind";
  for (int k = 0; fields[k].key; ++k)
    if (!fields[k].dimension || fields[k].dimension == check->dimension)
      words[count++] = fields[k].key;
  const bool law = scree_check_has_law(fields);
  if (law) scree_check_add_law_words(words, count);
  for (int k = 0; k < node->count; ++k) {
    const scree_NodeEntry *entry = &node->entries[k];
    bool known = kind && strcmp(entry->key, "kind") == 0;
    int other = 0;
    for (int f = 0; fields[f].key && !known; ++f) {
      if (strcmp(fields[f].key, entry->key) != 0) continue;
      known = !fields[f].dimension || fields[f].dimension == check->dimension;
      other = fields[f].dimension;
    }
    if (known || (law && scree_check_law_option(NULL, entry->key))) continue;
    if (other)
      scree_check_complain(check, entry->line, entry->column,
                           "key \"%s\" exists in %dD only, the scene is %dD", entry->key, other,
                           check->dimension);
    else
      scree_check_refuse_word(check, "key", entry->key, entry->line, entry->column, words);
  }
}

scree_Node *scree_check_fields(scree_Check *check, const scree_Field *fields, const char *kind,
                               const scree_Node *node) {
  if (node->kind != SCREE_NODE_MAP) {
    scree_check_expected(check, node, "a map");
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
      scree_check_complain(check, node->line, node->column, "%s is missing (%s)", field->key,
                           field->help);
      continue;
    }
    if (!given && !field->preset) {
      if (field->type == SCREE_FIELD_LAW &&
          !scree_check_add_law_parameters(check, field, NULL, node, result))
        return NULL;
      continue;
    }
    const size_t mark = scree_check_push(check, field->key, 0);
    scree_Node *value = check_field(check, field, given);
    if (strcmp(field->key, "name") == 0 && value) check->solver = value->text;
    scree_check_pop(check, mark);
    /* mistakes that follow from wrong parameters are not reported */
    if (!value && field->type == SCREE_FIELD_PARAMETERS) return NULL;
    if (value && !scree_tree_add(check->tree, result, field->key, value)) return NULL;
    if (value && field->type == SCREE_FIELD_LAW &&
        !scree_check_add_law_parameters(check, field, value->text, node, result))
      return NULL;
  }
  check->with_ends = with_ends;
  return check->errors == before && !check->tree->failed ? result : NULL;
}

/* A null node stands for the default. */
static scree_Node *check_field(scree_Check *check, const scree_Field *field,
                               const scree_Node *node) {
  scree_Node stand_in = {.kind = SCREE_NODE_SCALAR, .text = field->preset};
  if (!node) {
    if (strcmp(field->preset, "{}") == 0) stand_in.kind = SCREE_NODE_MAP;
    if (strcmp(field->preset, "[]") == 0) stand_in.kind = SCREE_NODE_LIST;
    node = &stand_in;
  }
  if (scree_check_is_auto(field, node))
    return scree_tree_scalar(check->tree, "auto", node->line, node->column);
  switch (field->type) {
  case SCREE_FIELD_REAL: return scree_check_real(check, field, node);
  case SCREE_FIELD_INT: return scree_check_int(check, field, node);
  case SCREE_FIELD_BOOL: return scree_check_bool(check, node);
  case SCREE_FIELD_TEXT: return scree_check_text(check, node);
  case SCREE_FIELD_LAW:
  case SCREE_FIELD_CHOICE: return scree_check_choice(check, field, node);
  case SCREE_FIELD_VECTOR: return scree_check_vector(check, field, node);
  case SCREE_FIELD_INTS:
  case SCREE_FIELD_REALS:
  case SCREE_FIELD_TEXTS: return scree_check_scalars(check, field, node);
  case SCREE_FIELD_SIGNALS: return scree_check_signals(check, field, node);
  case SCREE_FIELD_MAP: return scree_check_fields(check, field->fields, NULL, node);
  case SCREE_FIELD_LIST: return check_list(check, field, node);
  case SCREE_FIELD_NAMED: return check_named(check, field, node);
  case SCREE_FIELD_VARIANT: return check_variant(check, field->variants, node);
  case SCREE_FIELD_SHAPE: return scree_check_shape(check, node);
  case SCREE_FIELD_OPTIONS: return scree_check_options(check, node);
  case SCREE_FIELD_PARAMETERS: return check_parameters(check, node);
  case SCREE_FIELD_INCLUDE: break; /* put in before the scene is checked (scene_include.c) */
  }
  return NULL;
}

scree_Status scree_scene_normalise(const scree_Node *given, const char *name, scree_Tree *tree,
                                   const scree_Log *log) {
  *tree = (scree_Tree){0};
  scree_Check check = {.name = name, .log = log, .tree = tree, .dimension = 3, .solver = ""};
  const scree_Node *dimension = scree_node_find(given, "dimension");
  if (dimension && dimension->kind == SCREE_NODE_SCALAR && strcmp(dimension->text, "2") == 0)
    check.dimension = 2;
  tree->root = scree_check_fields(&check, scree_scene_schema(), NULL, given);
  if (check.errors > SCREE_CHECK_ERRORS)
    scree_report(log, SCREE_LOG_ERROR, "%s: there are more mistakes than these %d", name,
                 SCREE_CHECK_ERRORS);
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
