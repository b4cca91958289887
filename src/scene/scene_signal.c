/* Functions of time in scenes: drivers and forces, from numbers, expressions and tables. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

scree_Twist scree_scene_signal_at(void *user, double time) {
  const scree_SceneSignal *signal = user;
  double x[6];
  for (int half = 0; half < 2; ++half) {
    const int n = signal->table[half].count;
    const double *times = signal->table[half].times, *values = signal->table[half].values;
    int k = 0;
    while (k < n && times[k] <= time) ++k; /* first entry after the time */
    for (int i = 0; i < 3; ++i) {
      double *out = &x[3 * half + i];
      const scree_Expression *expression = signal->expression[3 * half + i];
      if (n == 0)
        *out = expression ? scree_expression_value(expression, time) : signal->value[3 * half + i];
      else if (k == 0 || k == n)
        *out = values[3 * (k == 0 ? 0 : n - 1) + i];
      else
        *out = values[3 * (k - 1) + i] + (time - times[k - 1]) / (times[k] - times[k - 1]) *
                                             (values[3 * k + i] - values[3 * (k - 1) + i]);
    }
  }
  return (scree_Twist){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

void scree_scene_signal_free(scree_SceneSignal *signal) {
  if (!signal) return;
  for (int k = 0; k < 6; ++k) scree_free(signal->expression[k]);
  for (int half = 0; half < 2; ++half) {
    scree_free(signal->table[half].times);
    scree_free(signal->table[half].values);
  }
  for (int k = 0; k < 6; ++k) scree_free(signal->names[k]);
  scree_free(signal);
}

/* One component; false when memory runs out. */
static bool read_component(scree_SceneSignal *signal, int k, const scree_Node *node) {
  scree_Expression expression;
  int at;
  if (scree_expression_parse(&expression, node->text, &at) || !expression.uses_time) {
    signal->value[k] = node->number;
    return true;
  }
  signal->constant = false;
  signal->expression[k] = SCREE_ALLOC(scree_Expression, 1);
  if (signal->expression[k]) *signal->expression[k] = expression;
  return signal->expression[k] != NULL;
}

static bool read_half(scree_SceneSignal *signal, int half, const scree_Node *node) {
  if (!node) return true;
  if (node->kind == SCREE_NODE_SCALAR) return read_component(signal, 3 * half + 2, node);
  if (node->kind == SCREE_NODE_LIST) {
    bool good = true;
    for (int k = 0; k < node->count && k < 3; ++k)
      good = good && read_component(signal, 3 * half + k, node->entries[k].value);
    return good;
  }
  const scree_Node *times = scree_node_find(node, "times");
  const scree_Node *values = scree_node_find(node, "values");
  const int n = times->count;
  signal->constant = false;
  signal->table[half].times = SCREE_ALLOC(double, n);
  signal->table[half].values = SCREE_ALLOC(double, 3 * (size_t)n);
  if (!signal->table[half].times || !signal->table[half].values) return false;
  signal->table[half].count = n;
  for (int k = 0; k < n; ++k) {
    const scree_Node *value = values->entries[k].value;
    double *x = signal->table[half].values + 3 * k;
    signal->table[half].times[k] = times->entries[k].value->number;
    if (value->kind == SCREE_NODE_SCALAR) x[2] = value->number;
    for (int i = 0; i < value->count && i < 3; ++i) x[i] = value->entries[i].value->number;
  }
  return true;
}

/* Where component `i` of a half is written, for messages while the scene runs. */
static char *name_component(const scree_Scene *scene, const char *owner, int index, const char *key,
                            const scree_Node *node, int i) {
  char place[48] = "", part[16] = "";
  if (node && node->kind == SCREE_NODE_LIST && i < node->count) {
    snprintf(part, sizeof part, "[%d]", i);
    node = node->entries[i].value;
  }
  if (node && node->line > 0)
    snprintf(place, sizeof place, ":%d:%d", node->line, node->column > 0 ? node->column : 1);
  const size_t size = strlen(scene->name) + strlen(owner) + strlen(key) + 96;
  char *name = SCREE_ALLOC(char, size);
  if (name) snprintf(name, size, "%s%s: %s[%d].%s%s", scene->name, place, owner, index, key, part);
  return name;
}

/* Entry `index` of the list `owner`; its values under the keys `linear` and `angular`, where an
 * absent one is zero. Null when memory runs out. */
scree_SceneSignal *scree_scene_read_signal(const scree_Scene *scene, const char *owner, int index,
                                           const scree_Node *map, const char *linear,
                                           const char *angular) {
  const char *const key[2] = {linear, angular};
  scree_SceneSignal *signal = SCREE_ALLOC(scree_SceneSignal, 1);
  if (!signal) return NULL;
  signal->constant = true;
  bool good = true;
  for (int half = 0; half < 2; ++half)
    good = good && read_half(signal, half, scree_node_find(map, key[half]));
  for (int k = 0; k < 6 && good && !signal->constant; ++k) {
    const scree_Node *node = scree_node_find(map, key[k / 3]);
    signal->names[k] = name_component(scene, owner, index, key[k / 3], node, k % 3);
    good = signal->names[k] != NULL;
  }
  if (good) return signal;
  scree_scene_signal_free(signal);
  return NULL;
}
