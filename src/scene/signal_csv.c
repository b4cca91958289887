/* Signals from tables of text (see signal_csv.h). */
#include "scene/signal_csv.h"

#include "core/log.h"
#include "core/memory.h"
#include "scene/csv.h"
#include "scene/scene_expression.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Source {
  scree_Tree *tree;
  const scree_Parameters *parameters;
  const scree_Node *node;
  int components;
  const char *name, *path;
  const scree_Log *log;
  scree_Csv csv;
  int column[4]; /* of the time, or -1; of each component, or -1: zero */
  double step, scale;
  bool integrate;
} Source;

static bool refuse(const Source *source, const scree_Node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool refuse(const Source *source, const scree_Node *node, const char *format, ...) {
  char text[320];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  scree_report(source->log, SCREE_LOG_ERROR, "%s:%d:%d: %s: %s", source->name, node->line,
               node->column, source->path, text);
  return false;
}

static bool read_real(const Source *source, const char *key, double *value) {
  const scree_Node *node = scree_node_find(source->node, key);
  scree_Expression expression;
  int at;
  if (!node) return true;
  const char *text = node->kind == SCREE_NODE_SCALAR
                         ? scree_parameters_expand(source->parameters, source->tree, node->text)
                         : NULL;
  if (!text || scree_expression_parse(&expression, text, &at) || expression.uses_time)
    return refuse(source, node, "%s: expected a number", key);
  *value = scree_expression_value(&expression, 0);
  return isfinite(*value) || refuse(source, node, "%s: expected a finite number", key);
}

static bool read_keys(Source *source) {
  static const char *const known[] = {"csv", "columns", "step", "scale", "integrate", NULL};
  for (int k = 0; k < source->node->count; ++k) {
    bool found = false;
    for (int w = 0; known[w]; ++w)
      found = found || strcmp(known[w], source->node->entries[k].key) == 0;
    if (!found)
      return refuse(source, source->node,
                    "unknown key \"%.60s\", expected csv, columns, step, scale, integrate",
                    source->node->entries[k].key);
  }
  const scree_Node *integrate = scree_node_find(source->node, "integrate");
  source->integrate = integrate && integrate->kind == SCREE_NODE_SCALAR &&
                      (strcmp(integrate->text, "true") == 0 || strcmp(integrate->text, "yes") == 0);
  source->scale = 1;
  return read_real(source, "step", &source->step) && read_real(source, "scale", &source->scale);
}

/* One of `columns`: a name of the header, a number from 1, or - for zero. */
static bool read_column(Source *source, const scree_Node *node, int *column) {
  *column = -1;
  if (node->kind != SCREE_NODE_SCALAR)
    return refuse(source, node, "columns: expected names or numbers of columns");
  if (strcmp(node->text, "-") == 0) return true;
  *column = scree_csv_column(&source->csv, node->text);
  return *column >= 0 ||
         refuse(source, node, "%s has no column \"%.60s\", expected the name or number of one",
                source->csv.path, node->text);
}

static bool read_columns(Source *source) {
  const scree_Node *columns = scree_node_find(source->node, "columns");
  const int timed = source->step > 0 ? 0 : 1, wanted = timed + source->components;
  source->column[0] = timed ? 0 : -1;
  for (int k = 0; k < source->components; ++k) source->column[k + 1] = timed + k;
  if (!columns)
    return source->csv.columns == wanted ||
           refuse(source, source->node,
                  "%s has %d columns, expected %d (%s%d components), or their names in `columns`",
                  source->csv.path, source->csv.columns, wanted, timed ? "the time and " : "",
                  source->components);
  if (columns->kind != SCREE_NODE_LIST || columns->count != wanted)
    return refuse(source, columns, "columns: expected a list of %d (%s%d components; - for zero)",
                  wanted, timed ? "the time and " : "", source->components);
  for (int k = 0; k < wanted; ++k)
    if (!read_column(source, columns->entries[k].value, &source->column[k + 1 - timed]))
      return false;
  return source->column[0] >= 0 || !timed ||
         refuse(source, columns, "columns: expected the column of the time first");
}

static bool add_value(const Source *source, scree_Node *values, const double *x) {
  if (source->components == 1)
    return scree_tree_add(source->tree, values, NULL, scree_tree_number(source->tree, x[0], 0, 0));
  scree_Node *row = scree_tree_node(source->tree, SCREE_NODE_LIST, 0, 0);
  for (int c = 0; row && c < source->components; ++c)
    if (!scree_tree_add(source->tree, row, NULL, scree_tree_number(source->tree, x[c], 0, 0)))
      return false;
  return scree_tree_add(source->tree, values, NULL, row);
}

static scree_Node *make_table(const Source *source) {
  scree_Node *map =
      scree_tree_node(source->tree, SCREE_NODE_MAP, source->node->line, source->node->column);
  scree_Node *times = scree_tree_node(source->tree, SCREE_NODE_LIST, 0, 0);
  scree_Node *values = scree_tree_node(source->tree, SCREE_NODE_LIST, 0, 0);
  double sum[3] = {0}, before[3] = {0}, last = 0;
  bool good = map && times && values;
  for (int row = 0; row < source->csv.rows && good; ++row) {
    double time = row * source->step, x[3] = {0};
    if (source->column[0] >= 0)
      good = scree_csv_number(&source->csv, row, source->column[0], source->log, &time) == SCREE_OK;
    for (int c = 0; c < source->components && good; ++c) {
      if (source->column[c + 1] >= 0)
        good = scree_csv_number(&source->csv, row, source->column[c + 1], source->log, &x[c]) ==
               SCREE_OK;
      x[c] *= source->scale;
    }
    if (good && row > 0 && !(time > last))
      good = refuse(source, source->node, "%s:%d: found the time %g, expected one after %g",
                    source->csv.path, source->csv.lines[row], time, last);
    for (int c = 0; c < source->components && good; ++c) {
      if (row > 0) sum[c] += 0.5 * (time - last) * (x[c] + before[c]);
      before[c] = x[c];
    }
    last = time;
    good = good &&
           scree_tree_add(source->tree, times, NULL, scree_tree_number(source->tree, time, 0, 0)) &&
           add_value(source, values, source->integrate ? sum : x);
  }
  good = good && scree_tree_add(source->tree, map, "times", times) &&
         scree_tree_add(source->tree, map, "values", values);
  return good ? map : NULL;
}

scree_Node *scree_signal_from_csv(scree_Tree *tree, const scree_Parameters *parameters,
                                  const scree_Node *node, int components, const char *name,
                                  const char *path, const scree_Log *log) {
  Source source = {.tree = tree,
                   .parameters = parameters,
                   .node = node,
                   .components = components,
                   .name = name,
                   .path = path,
                   .log = log};
  const scree_Node *file = scree_node_find(node, "csv");
  scree_Node *table = NULL;
  if (file->kind != SCREE_NODE_SCALAR) {
    refuse(&source, file, "csv: expected the path of a file");
    return NULL;
  }
  char *found = scree_path_beside(name, file->text);
  if (found && read_keys(&source)) {
    if (scree_csv_read(found, log, &source.csv) == SCREE_OK) {
      if (read_columns(&source)) table = make_table(&source);
      scree_csv_fini(&source.csv);
    } else {
      refuse(&source, file, "csv: this table cannot be used");
    }
  }
  scree_free(found);
  return table;
}
