/* Bodies that a scene removes while it runs: those that pass a plane or leave a box, so that a
 * hopper can run for long, and bodies or obstacles with a time, such as the gate of a silo. The
 * rules depend on the state alone: a resumed run removes the same bodies. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/scene.h"

#include <math.h>
#include <string.h>

static scree_Status read_rule(const scree_Scene *scene, const scree_Node *map, scree_Removal *rule,
                              const scree_Log *log) {
  *rule = (scree_Removal){.body = -1};
  const scree_Node *bodies = scree_node_find(map, "bodies");
  if (bodies && strcmp(bodies->text, "all") != 0) {
    rule->pattern = bodies->text;
    if (scree_scene_check_pattern(scene, bodies, log) != SCREE_OK) return SCREE_BAD_INPUT;
  }
  if (scree_node_is(map, "kind", "body")) {
    rule->kind = SCREE_REMOVE_BODY;
    rule->time = scree_node_number(map, "time");
    if (scree_name_is_pattern(scree_node_text(map, "body"))) {
      rule->pattern = scree_node_text(map, "body");
      return scree_scene_check_pattern(scene, scree_node_find(map, "body"), log);
    }
    rule->body = scree_scene_find_body(scene, scree_node_find(map, "body"), log);
    return rule->body < 0 ? SCREE_BAD_INPUT : SCREE_OK;
  }
  if (scree_node_is(map, "kind", "plane")) {
    rule->kind = SCREE_REMOVE_PLANE;
    rule->point = scree_scene_vector(map, "point");
    rule->normal = scree_scene_vector(map, "normal");
    if (!(scree_norm(rule->normal) > 0))
      return scree_scene_refuse(scene, scree_node_find(map, "normal"), log,
                                "normal: expected a vector other than zero");
    return SCREE_OK;
  }
  rule->kind = SCREE_REMOVE_OUTSIDE;
  rule->lower = scree_scene_vector(map, "lower");
  rule->upper = scree_scene_vector(map, "upper");
  if (!(rule->lower.x < rule->upper.x && rule->lower.y < rule->upper.y &&
        (scene->dimension == 2 || rule->lower.z < rule->upper.z)))
    return scree_scene_refuse(scene, map, log, "lower: expected below upper");
  return SCREE_OK;
}

scree_Status scree_scene_read_removals(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "remove");
  scene->removals = SCREE_ALLOC(scree_Removal, list->count);
  if (!scene->removals) return scree_fail_memory(log, scene->name);
  for (int k = 0; k < list->count; ++k) {
    scree_Status status = read_rule(scene, list->entries[k].value, &scene->removals[k], log);
    if (status != SCREE_OK) return status;
    ++scene->removal_count;
  }
  return SCREE_OK;
}

/* Whether a body at x is to be removed. A position that is not a number is outside. */
static bool goes(const scree_Removal *rule, int dimension, scree_Vec3 x) {
  const scree_Vec3 l = rule->lower, u = rule->upper;
  if (rule->kind == SCREE_REMOVE_PLANE)
    return scree_dot(rule->normal, scree_sub(x, rule->point)) > 0;
  return !(x.x >= l.x && x.x <= u.x && x.y >= l.y && x.y <= u.y &&
           (dimension == 2 || (x.z >= l.z && x.z <= u.z)));
}

scree_Status scree_scene_remove(const scree_Scene *scene, scree_World *world) {
  const int n = scree_world_body_count(world);
  const double now = scree_world_time(world) * (1 + 1e-12);
  scree_Status status = SCREE_OK;
  for (int r = 0; r < scene->removal_count && status == SCREE_OK; ++r) {
    const scree_Removal *rule = &scene->removals[r];
    const char *pattern = rule->pattern;
    if (rule->kind == SCREE_REMOVE_BODY) {
      for (int b = 0; pattern && now >= rule->time && b < n && status == SCREE_OK; ++b)
        if (scree_scene_takes(scene, pattern, b) && !scree_body_is_removed(world, b))
          status = scree_world_remove_body(world, b);
      if (!pattern && rule->body < n && now >= rule->time &&
          !scree_body_is_removed(world, rule->body))
        status = scree_world_remove_body(world, rule->body);
      continue;
    }
    for (int b = scene->obstacle_count; b < n && status == SCREE_OK; ++b)
      if (!scree_body_is_removed(world, b) && (!pattern || scree_scene_takes(scene, pattern, b)) &&
          goes(rule, scene->dimension, scree_body_pose(world, b).position))
        status = scree_world_remove_body(world, b);
  }
  return status;
}
