/* Scenes that are divided between ranks. Every rank reads the whole file and runs all generators,
 * whose random numbers are the same everywhere, but keeps only its own bodies. Others are dropped
 * while the generator runs, except those that later bodies might overlap: the last layers of a
 * lattice, and bodies in the regions of later generators. Numbers of bodies are
 * those of the whole scene.
 *
 * All generators run twice. The first time places are counted, and the space is cut into pieces
 * with equal numbers of bodies (step/domain_cut.c). The second time each rank keeps the bodies in
 * its piece, so that none has to be sent. If a saved state is restored, in which bodies may have
 * moved far, bodies are distributed by their numbers. For a scene with joints, bonds, plates or
 * finite elements each rank keeps all bodies until the world is built. */
#include "scene/scene.h"

#include "core/log.h"
#include "core/memory.h"
#include "scene/scene_state.h"
#include "step/domain.h"

#include <stdlib.h>
#include <string.h>

/* Bodies that arrive before others are dropped: a part of those that are kept, and a number. */
static const size_t spare_part = 16, spare_least = 16384;

static void wait_for_more(scree_Scene *scene) {
  const size_t part = scene->kept / spare_part;
  scene->part.next_thin = scene->kept + (part > spare_least ? part : spare_least);
}

int scree_scene_place(const scree_Scene *scene, int number) {
  if (!scene->part.ranks) return number >= 0 && (size_t)number < scene->kept ? number : -1;
  size_t low = 0, high = scene->kept;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (scene->part.number[middle] < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low < scene->kept && scene->part.number[low] == number ? (int)low : -1;
}

bool scree_scene_expect_more(scree_Scene *scene, size_t bodies, size_t layer) {
  scree_ScenePart *part = &scene->part;
  if (!part->ranks) return scree_scene_reserve(scene, scene->body_count + bodies);
  const size_t share = bodies / (size_t)scree_ranks_size(part->ranks) + SCREE_DOMAIN_DEALT;
  const size_t mine = part->counts ? 0 : share + share / spare_part;
  const size_t more = mine + spare_least + 2 * layer;
  if (!scree_scene_reserve(scene, scene->kept + (more < bodies ? more : bodies))) return false;
  return !part->counts || scree_grow_lean((void **)&part->place, &part->place_capacity,
                                          part->place_count + share, sizeof *part->place);
}

bool scree_scene_keep_names(scree_Scene *scene) {
  void *names = (void *)scene->kept_names;
  if (!scree_grow_lean(&names, &scene->kept_name_capacity, scene->body_count, sizeof(char *)))
    return false;
  scene->kept_names = names;
  for (; scene->kept_name_count < scene->body_count; ++scene->kept_name_count)
    scene->kept_names[scene->kept_name_count] = NULL;
  return true;
}

double scree_scene_most(const scree_Scene *scene, double mine) {
  return scene->part.ranks ? scree_ranks_max(scene->part.ranks, mine) : mine;
}

void scree_scene_part_fini(scree_Scene *scene) {
  scree_ScenePart *part = &scene->part;
  for (size_t k = 0; k < part->shape_count; ++k) scree_shape_fini(&part->shapes[k].shape);
  scree_free(part->shapes);
  scree_free(part->number);
  scree_free(part->needed);
  scree_free(part->cut);
  scree_free(part->place);
  *part = (scree_ScenePart){0};
}

/* ---- whether it can be divided -----------------------------------------------------------------
 */

static bool has(const scree_Node *root, const char *key) {
  const scree_Node *node = scree_node_find(root, key);
  return node && node->count > 0;
}

/* Whether some bodies of the scene, or of another run that every rank has read as a whole
 * (scene.c), are of this kind. */
static bool any_kind(const scree_Scene *scene, scree_BodyKind of) {
  const scree_Node *root = scene->tree.root;
  for (int which = 0; which < 2; ++which) {
    const scree_Node *list = scree_node_find(root, which == 0 ? "bodies" : "generators");
    for (int k = 0; list && k < list->count; ++k) {
      const scree_Node *kind =
          scree_node_find(list->entries[k].value, which == 0 ? "kind" : "body_kind");
      if (kind && strcmp(kind->text, scree_body_kind_name(of)) == 0) return true;
    }
  }
  for (size_t k = 0; k < scene->kept; ++k)
    if (scene->bodies[k].def.kind == of) return true;
  return false;
}

bool scree_scene_keeps_all(const scree_Scene *scene) {
  const scree_Node *root = scene->tree.root;
  return has(root, "joints") || has(root, "bonds") || has(root, "plates") ||
         any_kind(scene, SCREE_BODY_ELEMENTS);
}

const char *scree_scene_cannot_divide(const scree_Scene *scene) {
  const scree_Node *root = scene->tree.root, *solver = scree_node_find(root, "solver");
  const scree_Node *dump = scree_node_find(root, "dump_problem");
  const scree_SolverClass *class_ = scree_solver_class_find(scree_node_text(solver, "name"));
  if (has(root, "cell")) return "it has a periodic cell";
  if (scree_node_true(solver, "internal_forces")) return "internal forces are asked for";
  if (scree_node_number(dump, "every") > 0 || has(dump, "steps"))
    return "problems of steps are written (dump_problem)";
  const unsigned capable = class_ ? scree_solver_class_capabilities(class_) : 0;
  if (!(capable & SCREE_CAN_RANKS)) return "its solver works on one rank";
  if (capable & SCREE_RANKS_BODIES_ONLY &&
      (any_kind(scene, SCREE_BODY_ELEMENTS) || any_kind(scene, SCREE_BODY_PSEUDO_RIGID)))
    return "its solver works on one rank where bodies deform";
  return NULL;
}

/* ---- bodies that generators to come may need ---------------------------------------------------
 */

static bool meet(const scree_Aabb *a, const scree_Aabb *b) {
  return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
         b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

scree_Status scree_scene_expect(scree_Scene *scene, int index, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "generators");
  scree_ScenePart *part = &scene->part;
  if (!part->ranks) return SCREE_OK;
  part->needed_count = 0;
  part->all_needed = false;
  wait_for_more(scene);
  for (int k = index + 1; k < list->count; ++k) {
    scree_Node *node = list->entries[k].value, *given = scree_node_find(node, "region");
    if (!scree_node_is(node, "kind", "lattice") && !scree_node_is(node, "kind", "fill") &&
        !scree_node_is(node, "kind", "pack"))
      continue; /* other generators do not test for overlap */
    scree_Region region = {.kind = SCREE_REGION_NONE};
    if (given && !scree_node_is(given, "kind", "mesh")) {
      const scree_Status status = scree_region_read(scene, given, log, &region);
      if (status) return status;
    }
    if (region.kind == SCREE_REGION_NONE) {
      part->all_needed = true;
      return SCREE_OK;
    }
    if (!scree_grow((void **)&part->needed, &part->needed_capacity, part->needed_count + 1,
                    sizeof *part->needed))
      return scree_fail_memory(log, scene->name);
    scree_Aabb box = {region.lower, region.upper};
    if (scene->dimension == 2) {
      box.lower.z = -INFINITY;
      box.upper.z = INFINITY;
    }
    part->needed[part->needed_count++] = box;
  }
  return SCREE_OK;
}

static bool is_mine(const scree_ScenePart *part, int number, scree_Vec3 place) {
  const int rank = part->cut ? scree_cut_rank(part->cut, place)
                             : scree_domain_dealt(number, scree_ranks_size(part->ranks));
  return rank == scree_ranks_rank(part->ranks);
}

static bool is_needed(const scree_Scene *scene, size_t k, const scree_Aabb *window) {
  const scree_ScenePart *part = &scene->part;
  const scree_SceneBody *body = &scene->bodies[k];
  if (part->number[k] < scene->obstacle_count || (!part->counts && part->whole) ||
      (!part->counts && is_mine(part, part->number[k], body->def.pose.position)))
    return true;
  const scree_Aabb box = scree_shape_aabb(&body->shape, &body->def.pose);
  bool needed = part->all_needed || (window && meet(window, &box));
  for (size_t i = 0; i < part->needed_count && !needed; ++i) needed = meet(&part->needed[i], &box);
  return needed;
}

/* Vertices and parts of shapes are on all ranks. */
static bool keep_shape(scree_ScenePart *part, int number, const scree_Shape *shape) {
  if (!shape->data) return true;
  scree_NumberedShape *last = part->shape_count ? &part->shapes[part->shape_count - 1] : NULL;
  if (last && last->last == number - 1 && last->shape.data == shape->data) {
    last->last = number;
    return true;
  }
  if (!scree_grow_lean((void **)&part->shapes, &part->shape_capacity, part->shape_count + 1,
                       sizeof *part->shapes))
    return false;
  last = &part->shapes[part->shape_count++];
  last->first = last->last = number;
  scree_shape_copy(shape, &last->shape);
  return true;
}

/* Each body is counted by one rank. */
static bool count_body(scree_ScenePart *part, int number, const scree_SceneBody *body) {
  if (!is_mine(part, number, body->def.pose.position)) return true;
  if (!scree_grow_lean((void **)&part->place, &part->place_capacity, part->place_count + 1,
                       sizeof *part->place))
    return false;
  part->place[part->place_count++] = body->def.pose.position;
  return true;
}

static int compare_shapes(const void *a, const void *b) {
  const scree_NumberedShape *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

scree_Status scree_scene_thin(scree_Scene *scene, const scree_Aabb *window, const scree_Log *log) {
  scree_ScenePart *part = &scene->part;
  if (!part->ranks) return SCREE_OK;
  size_t kept = 0;
  bool good = true;
  for (size_t k = 0; k < scene->kept; ++k) {
    if (good && !is_needed(scene, k, window)) {
      good = part->counts ? count_body(part, part->number[k], &scene->bodies[k])
                          : keep_shape(part, part->number[k], &scene->bodies[k].shape);
      scree_shape_fini(&scene->bodies[k].shape);
      scree_scene_state_free(scene->bodies[k].state);
      continue;
    }
    scene->bodies[kept] = scene->bodies[k];
    part->number[kept++] = part->number[k];
  }
  scene->kept = kept;
  if (part->shape_count)
    qsort(part->shapes, part->shape_count, sizeof *part->shapes, compare_shapes);
  wait_for_more(scene);
  return good ? SCREE_OK : scree_fail_memory(log, "the shapes of bodies");
}

scree_Status scree_scene_cut(const scree_Scene *counted, scree_Cut **cut, const scree_Log *log) {
  const scree_ScenePart *part = &counted->part;
  *cut = SCREE_ALLOC(scree_Cut, scree_ranks_size(part->ranks));
  scree_Status status = *cut ? SCREE_OK : scree_fail_memory(log, counted->name);
  status = scree_ranks_agree(part->ranks, status, log);
  return status ? status
                : scree_cut_places(part->ranks, part->place, (int)part->place_count, *cut, log);
}
