/* Bodies that a scene removes while it runs: those that pass a plane or leave a box, so that a
 * hopper can run for long, and bodies or obstacles with a time, such as the gate of a silo. The
 * rules depend on the state alone: a resumed run removes the same bodies. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "parallel/ranks.h"
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

/* Whether a rule takes body b of this rank away now. */
static bool is_taken(const scree_Scene *scene, const scree_World *world, const scree_Removal *rule,
                     double now, int b) {
  const int number = scree_body_number(world, b);
  if (!scree_body_is_mine(world, b) || scree_body_is_removed(world, b)) return false;
  if (rule->kind == SCREE_REMOVE_BODY && !rule->pattern)
    return now >= rule->time && number == scree_scene_number(scene, rule->body);
  if (rule->pattern && !scree_scene_takes(scene, rule->pattern, number)) return false;
  if (rule->kind == SCREE_REMOVE_BODY) return now >= rule->time;
  return number >= scene->obstacle_count &&
         goes(rule, scene->dimension, scree_body_pose(world, b).position);
}

/* Count the bodies of this rank that a rule takes away; their numbers go into `list`, if it is not
 * null. */
static int find_taken(const scree_Scene *scene, const scree_World *world, const scree_Removal *rule,
                      double now, int *list) {
  const int n = scree_world_body_count(world);
  int count = 0;
  if (rule->kind == SCREE_REMOVE_BODY && !(now >= rule->time)) return 0;
  for (int b = 0; b < n; ++b)
    if (is_taken(scene, world, rule, now, b)) {
      if (list) list[count] = scree_body_number(world, b);
      ++count;
    }
  return count;
}

/* Every rank removes what any rank found: copies go with their originals. As many numbers at a time
 * as one message of the ranks has room for. */
static scree_Status remove_all(scree_World *world, const int *list, int count) {
  enum { AT_ONCE = SCREE_GATHER_MOST / sizeof(int) - 1 };
  const scree_Ranks *ranks = scree_world_ranks(world);
  const int size = scree_ranks_count(ranks);
  scree_Status status = SCREE_OK;
  for (int at = 0, most = 1; at < most; at += AT_ONCE) { /* most: of any rank */
    struct {
      int count, number[AT_ONCE];
    } mine, all;
    memset(&mine, 0, sizeof mine);
    mine.count = count;
    for (int k = at; k < count && k < at + AT_ONCE; ++k) mine.number[k - at] = list[k];
    const char *gathered = scree_ranks_gather(ranks, &mine, sizeof mine);
    for (int rank = 0; rank < size; ++rank) {
      memcpy(&all, gathered + (size_t)rank * sizeof all, sizeof all);
      if (all.count > most) most = all.count;
      for (int k = at; k < all.count && k < at + AT_ONCE && status == SCREE_OK; ++k)
        status = scree_world_remove_body(world, all.number[k - at]);
    }
  }
  return status;
}

static scree_Status apply(const scree_Scene *scene, scree_World *world, const scree_Removal *rule) {
  const double now = scree_world_time(world) * (1 + 1e-12);
  const scree_Ranks *ranks = scree_world_ranks(world);
  const int count = find_taken(scene, world, rule, now, NULL);
  if (!scree_ranks_any(ranks, count > 0)) return SCREE_OK;
  int *list = SCREE_ALLOC(int, count);
  scree_Status status = scree_ranks_agree(ranks, list ? SCREE_OK : SCREE_MACHINE, NULL);
  if (status == SCREE_OK) {
    (void)find_taken(scene, world, rule, now, list);
    status = scree_ranks_agree(ranks, remove_all(world, list, count), NULL);
  }
  scree_free(list);
  return status;
}

scree_Status scree_scene_remove(const scree_Scene *scene, scree_World *world) {
  scree_Status status = SCREE_OK;
  for (int r = 0; r < scene->removal_count && status == SCREE_OK; ++r)
    status = apply(scene, world, &scene->removals[r]);
  return status;
}
