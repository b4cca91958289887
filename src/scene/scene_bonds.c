/* Bonds of a scene: entry k of `bonds` glues the pairs of bodies that it names and that touch at
 * the start; its joints have the label k + 1. */
#include "core/log.h"
#include "scene/scene.h"

#include <math.h>
#include <string.h>

/* An entry, and the scene of its bodies. */
typedef struct Choice {
  const scree_Scene *scene;
  const char *pattern[2]; /* null: all bodies that are no obstacles */
  int material[2];        /* -1: any */
} Choice;

static bool is_one(const Choice *choice, int side, int body) {
  const scree_SceneBody *b = &choice->scene->bodies[body];
  const char *pattern = choice->pattern[side];
  if (pattern ? !scree_name_matches(pattern, scree_scene_body_name(choice->scene, body))
              : b->def.obstacle)
    return false;
  return choice->material[side] < 0 || b->def.material == choice->material[side];
}

static bool is_chosen(void *user, int a, int b) {
  const Choice *choice = user;
  return (is_one(choice, 0, a) && is_one(choice, 1, b)) ||
         (is_one(choice, 0, b) && is_one(choice, 1, a));
}

static int find_material(const scree_Scene *scene, const char *name) {
  for (int k = 0; k < scene->material_count; ++k)
    if (strcmp(scree_scene_material(scene, k, NULL, NULL), name) == 0) return k;
  return -1;
}

static Choice choice_of(const scree_Scene *scene, const scree_Node *map) {
  const scree_Node *between = scree_node_find(map, "between");
  const scree_Node *materials = scree_node_find(map, "materials");
  Choice choice = {.scene = scene, .material = {-1, -1}};
  for (int side = 0; side < 2; ++side) {
    if (between) choice.pattern[side] = between->entries[side].value->text;
    if (materials)
      choice.material[side] = find_material(scene, materials->entries[side].value->text);
  }
  return choice;
}

static double number_or(const scree_Node *map, const char *key, double otherwise) {
  return scree_node_find(map, key) ? scree_node_number(map, key) : otherwise;
}

static scree_BondDef def_of(const scree_Node *map, int label) {
  scree_BondDef def = scree_bond_def();
  def.gap = scree_node_number(map, "gap");
  def.width = scree_node_number(map, "width");
  def.stress = scree_node_true(map, "stress");
  def.tension = number_or(map, "tension", INFINITY);
  def.shear = number_or(map, "shear", NAN);
  def.bending = number_or(map, "bending", NAN);
  def.torsion = number_or(map, "torsion", NAN);
  def.break_at = scree_node_number(map, "break_at");
  def.label = label;
  return def;
}

static scree_Status check_entry(const scree_Scene *scene, const scree_Node *map,
                                const scree_Log *log) {
  const scree_Node *between = scree_node_find(map, "between");
  const scree_Node *materials = scree_node_find(map, "materials");
  for (int side = 0; side < 2; ++side) {
    if (between) {
      const scree_Status status =
          scree_scene_check_pattern(scene, between->entries[side].value, log);
      if (status) return status;
    }
    if (materials && find_material(scene, materials->entries[side].value->text) < 0)
      return scree_scene_refuse(scene, materials->entries[side].value, log,
                                "no material is named \"%.60s\"",
                                materials->entries[side].value->text);
  }
  const char *const others[] = {"shear", "bending", "torsion"};
  for (int k = 0; k < 3; ++k)
    if (scree_node_find(map, others[k]) && !scree_node_find(map, "tension"))
      return scree_scene_refuse(scene, scree_node_find(map, others[k]), log,
                                "a strength without `tension`: expected tension too");
  if (scree_node_true(map, "stress") && !scree_node_find(map, "tension"))
    return scree_scene_refuse(scene, scree_node_find(map, "stress"), log,
                              "found stress without strengths, expected a tension");
  return SCREE_OK;
}

scree_Status scree_scene_read_bonds(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "bonds");
  for (int k = 0; k < list->count; ++k) {
    const scree_Node *map = list->entries[k].value, *name = scree_node_find(map, "name");
    const scree_Status status = check_entry(scene, map, log);
    if (status) return status;
    for (int j = 0; name && j < k; ++j)
      if (scree_node_is(list->entries[j].value, "name", name->text))
        return scree_scene_refuse(scene, name, log, "two entries of bonds are named \"%.60s\"",
                                  name->text);
  }
  return SCREE_OK;
}

int scree_scene_find_bonds(const scree_Scene *scene, const scree_Node *node, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "bonds");
  const char *words[256] = {NULL};
  int count = 0;
  for (int k = 0; k < list->count; ++k) {
    const scree_Node *name = scree_node_find(list->entries[k].value, "name");
    if (!name) continue;
    if (strcmp(name->text, node->text) == 0) return k + 1;
    if (count < 255) words[count++] = name->text;
  }
  return scree_scene_refuse_name(scene, node, log, "entry of bonds", words);
}

scree_Status scree_scene_build_bonds(const scree_Scene *scene, scree_World *world,
                                     const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "bonds");
  for (int k = 0; k < list->count; ++k) {
    const scree_Node *map = list->entries[k].value;
    Choice choice = choice_of(scene, map);
    scree_BondDef def = def_of(map, k + 1);
    int count;
    def.select = is_chosen;
    def.user = &choice;
    const scree_Status status = scree_world_add_bonds(world, &def, &count);
    if (status != SCREE_OK) return status;
    if (count == 0)
      return scree_scene_refuse(scene, map, log,
                                "no two of these bodies touch (gap at most %g of the smaller one), "
                                "or they are held by joints or bonds already: expected bodies to "
                                "bond",
                                def.gap);
  }
  return SCREE_OK;
}
