/* Units of sensors (see sensor_units.h). */
#include "run/sensor_units.h"

#include "core/memory.h"
#include "run/results_file.h"
#include "scene/yaml_tree.h"

#include <stdio.h>
#include <string.h>

static const char *text_of(const scree_Node *map, const char *key, const char *otherwise) {
  const scree_Node *node = scree_node_find(map, key);
  return node && node->kind == SCREE_NODE_SCALAR ? node->text : otherwise;
}

/* The entry of a list that has a name, or null. */
static const scree_Node *entry_of(const scree_Node *list, const char *name) {
  for (int k = 0; list && list->kind == SCREE_NODE_LIST && k < list->count; ++k)
    if (strcmp(text_of(list->entries[k].value, "name", ""), name) == 0)
      return list->entries[k].value;
  return NULL;
}

/* Of what is measured itself. The free coordinate of a hinge is an angle, of other joints and of
 * plates a length. */
static const char *plain_unit(const scree_Node *root, const scree_Node *sensor, const char *kind) {
  const char *name = text_of(sensor, "joint", "");
  const scree_Node *joint = entry_of(scree_node_find(root, "joints"), name);
  const bool known = joint || entry_of(scree_node_find(root, "plates"), name);
  const bool hinge = joint && strcmp(text_of(joint, "kind", ""), "hinge") == 0;
  if (known && strcmp(kind, "joint_position") == 0) return hinge ? "rad" : "m";
  if (known && strcmp(kind, "joint_effort") == 0) return hinge ? "N m" : "N";
  return scree_sensor_unit(kind);
}

/* Rates are per second, integrals times seconds: those of kg/s are kg. */
static void write_unit(const char *plain, const char *gives, char *unit, size_t size) {
  const size_t length = strlen(plain);
  const bool rate = strcmp(gives, "rate") == 0, integral = strcmp(gives, "integral") == 0;
  const bool per_second = length > 2 && strcmp(plain + length - 2, "/s") == 0;
  const bool choice = strstr(plain, " or ") != NULL;
  if (integral && per_second)
    snprintf(unit, size, "%.*s", (int)length - 2, plain);
  else if (rate && per_second)
    snprintf(unit, size, "%s²", plain);
  else if (rate)
    snprintf(unit, size, choice ? "(%s)/s" : "%s/s", plain[0] ? plain : "1");
  else if (integral)
    snprintf(unit, size, choice ? "(%s) s" : plain[0] ? "%s s" : "%ss", plain);
  else
    snprintf(unit, size, "%s", plain);
}

void scree_sensor_units_read(const char *folder, scree_SensorUnits *units) {
  char *path = scree_join_path(folder ? folder : ".", "scene.yaml"), *text = NULL;
  size_t length = 0;
  scree_Tree tree;
  units->count = 0;
  if (path && scree_file_load(path, &text, &length, NULL) == SCREE_OK && text &&
      scree_tree_parse(&tree, text, length, path, NULL) == SCREE_OK) {
    const scree_Node *list = scree_node_find(tree.root, "sensors");
    for (int k = 0; list && list->kind == SCREE_NODE_LIST && k < list->count; ++k) {
      const scree_Node *sensor = list->entries[k].value;
      const char *name = text_of(sensor, "name", NULL), *kind = text_of(sensor, "kind", NULL);
      if (!name || !kind || units->count == SCREE_SENSORS_MAX) continue;
      scree_SensorUnit *one = &units->sensor[units->count++];
      snprintf(one->name, sizeof one->name, "%s", name);
      snprintf(one->what, sizeof one->what, "%s", kind);
      for (char *c = one->what; *c; ++c)
        if (*c == '_') *c = ' ';
      write_unit(plain_unit(tree.root, sensor, kind), text_of(sensor, "gives", "value"), one->unit,
                 sizeof one->unit);
    }
    scree_tree_fini(&tree);
  }
  scree_free(text);
  scree_free(path);
}

const scree_SensorUnit *scree_sensor_units_find(const scree_SensorUnits *units, const char *name,
                                                size_t length) {
  for (int k = 0; k < units->count; ++k)
    if (strlen(units->sensor[k].name) == length &&
        strncmp(units->sensor[k].name, name, length) == 0)
      return &units->sensor[k];
  return NULL;
}
