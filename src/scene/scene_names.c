/* Names of bodies: names made by generators ("domino-{i}"), the check that names are unique, and
 * patterns ("domino-*") by which forces, sensors, stop conditions and removals refer to several
 * bodies. */
#include "core/log.h"
#include "core/memory.h"
#include "scene/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX = 63 };

bool scree_name_is_pattern(const char *text) {
  return strchr(text, '*') != NULL;
}

bool scree_name_matches(const char *pattern, const char *name) {
  /* after the last * that was met, the rest may begin anywhere */
  const char *star = NULL, *resume = NULL;
  if (!name) return false;
  while (*name) {
    if (*pattern == '*') {
      star = ++pattern;
      resume = name;
    } else if (*pattern == *name) {
      ++pattern;
      ++name;
    } else if (star) {
      pattern = star;
      name = ++resume;
    } else {
      return false;
    }
  }
  while (*pattern == '*') ++pattern;
  return *pattern == '\0';
}

bool scree_scene_takes(const scree_Scene *scene, const char *pattern, int body) {
  if (strcmp(pattern, "all") == 0 || strcmp(pattern, "*") == 0) /* those without a name, too */
    return body >= scene->obstacle_count;
  return scree_name_matches(pattern, scree_scene_body_name(scene, body));
}

/* Whether a name of a generator can be that of `count` bodies. */
static scree_Status check_given(const scree_Scene *scene, const scree_Node *given, size_t count,
                                const scree_Log *log) {
  if (strstr(given->text, "{i}") || count <= 1) return SCREE_OK;
  return scree_scene_refuse(scene, given, log,
                            "found the name \"%.60s\" for %zu bodies, expected {i} in it, which "
                            "becomes their number: \"%.40s-{i}\"",
                            given->text, count, given->text);
}

/* The name of body `number` of a generator; null: out of memory. */
static const char *make_name(scree_Scene *scene, const scree_Node *given, size_t number) {
  const char *mark = strstr(given->text, "{i}");
  char text[2 * NAME_MAX];
  if (mark)
    snprintf(text, sizeof text, "%.*s%zu%s", (int)(mark - given->text), given->text, number,
             mark + 3);
  else
    snprintf(text, sizeof text, "%s", given->text);
  return scree_tree_text(&scene->tree, text, strlen(text));
}

scree_Status scree_scene_name_generated(scree_Scene *scene, const scree_Node *node, size_t first,
                                        const scree_Log *log) {
  const scree_Node *given = scree_node_find(node, "name");
  if (!given || scree_node_is(node, "kind", "pour")) return SCREE_OK;
  scree_Status status = check_given(scene, given, scene->body_count - first, log);
  if (scene->part.ranks && !scree_scene_keep_names(scene))
    status = scree_fail_memory(log, scene->name);
  for (size_t k = first; k < scene->body_count && status == SCREE_OK; ++k) {
    const char *name = make_name(scene, given, k - first);
    const int place = scree_scene_place(scene, (int)k);
    if (!name) status = scree_fail_memory(log, scene->name);
    if (place >= 0) scene->bodies[place].name = name;
    if (scene->part.ranks) scene->kept_names[k] = name;
  }
  return status;
}

/* Number of poured bodies; 0: none of them has a name. */
static int64_t poured_names(const scree_Scene *scene) {
  int64_t count = 0;
  bool any = false;
  for (int p = 0; p < scene->pour_count; ++p) {
    count += scene->pours[p].count;
    any = any || scene->pours[p].names;
  }
  return any ? count : 0;
}

/* Numbers for names, where these do not follow from each other. */
static scree_Status begin_poured(scree_Scene *scene, const scree_Log *log) {
  const int64_t count = poured_names(scene);
  if (scene->pour_count < 2 || count == 0) return SCREE_OK;
  scree_PouredNames *poured = scene->poured = SCREE_ALLOC(scree_PouredNames, 1);
  if (!poured) return scree_fail_memory(log, scene->name);
  poured->place = SCREE_ALLOC(int, count);
  poured->number = SCREE_ALLOC(int, count);
  if (!poured->place || !poured->number) return scree_fail_memory(log, scene->name);
  poured->count = (int)count;
  scree_scene_forget_poured(scene);
  return SCREE_OK;
}

void scree_scene_forget_poured(const scree_Scene *scene) {
  for (int k = 0; scene->poured && k < scene->poured->count; ++k)
    scene->poured->place[k] = scene->poured->number[k] = -1;
}

void scree_scene_note_poured(const scree_Scene *scene, int k, int pour, int index) {
  if (!scene->poured) return;
  for (int p = 0; p < pour; ++p) index += scene->pours[p].count;
  scene->poured->place[k] = index;
  scene->poured->number[index] = k;
}

int scree_scene_handle(const scree_Scene *scene, int64_t k) {
  const int64_t count = (int64_t)scene->body_count;
  return (int)(k < count || !scene->poured ? k : k + scene->poured->count);
}

int scree_scene_number(const scree_Scene *scene, int handle) {
  const int64_t count = (int64_t)scene->body_count;
  const scree_PouredNames *poured = scene->poured;
  if (!poured || handle < count + poured->count) return handle;
  const int k = poured->number[handle - count - poured->count];
  return k < 0 ? -1 : (int)count + k;
}

scree_Status scree_scene_name_poured(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "generators");
  for (int p = 0; p < scene->pour_count; ++p) {
    scree_Pour *pour = &scene->pours[p];
    const scree_Node *given = scree_node_find(list->entries[pour->generator].value, "name");
    if (!given) continue;
    scree_Status status = check_given(scene, given, (size_t)pour->count, log);
    if (status != SCREE_OK) return status;
    pour->names = SCREE_ALLOC(const char *, pour->count);
    for (int k = 0; pour->names && k < pour->count; ++k) {
      pour->names[k] = make_name(scene, given, (size_t)k);
      if (!pour->names[k]) return scree_fail_memory(log, scene->name);
    }
    if (!pour->names) return scree_fail_memory(log, scene->name);
  }
  return begin_poured(scene, log);
}

int64_t scree_scene_names(const scree_Scene *scene) {
  return (int64_t)scene->body_count + poured_names(scene);
}

const char *scree_scene_listed_name(const scree_Scene *scene, int64_t k) {
  if (k < 0 || k >= scree_scene_names(scene)) return NULL;
  if ((size_t)k < scene->body_count) {
    if (k < scene->obstacle_count || (!scene->released && !scene->part.ranks))
      return scene->bodies[k].name;
    return (size_t)k < scene->kept_name_count ? scene->kept_names[k] : NULL;
  }
  k -= (int64_t)scene->body_count;
  int p = 0;
  for (; k >= scene->pours[p].count; ++p) k -= scene->pours[p].count;
  return scene->pours[p].names ? scene->pours[p].names[k] : NULL;
}

const char *scree_scene_body_name(const scree_Scene *scene, int body) {
  const scree_PouredNames *poured = scene->poured;
  const int64_t k = body - (int64_t)scene->body_count;
  if (!poured || k < 0) return scree_scene_listed_name(scene, body);
  if (k >= poured->count || poured->place[k] < 0) return NULL;
  return scree_scene_listed_name(scene, (int64_t)scene->body_count + poured->place[k]);
}

static int compare(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

scree_Status scree_scene_check_names(const scree_Scene *scene, const scree_Log *log) {
  const int64_t all = scree_scene_names(scene);
  const char **names = SCREE_ALLOC(const char *, all);
  size_t count = 0;
  scree_Status status = names ? SCREE_OK : scree_fail_memory(log, scene->name);
  for (int64_t k = 0; k < all && status == SCREE_OK; ++k) {
    const char *name = scree_scene_listed_name(scene, k);
    if (!name) continue;
    if (!name[0] || strlen(name) > NAME_MAX || scree_name_is_pattern(name))
      status = scree_fail(log, SCREE_BAD_INPUT,
                          "%s: a body is named \"%.80s\", expected 1 to %d characters without *",
                          scene->name, name, NAME_MAX);
    names[count++] = name;
  }
  if (status == SCREE_OK && count > 1) qsort(names, count, sizeof *names, compare);
  for (size_t k = 1; k < count && status == SCREE_OK; ++k)
    if (strcmp(names[k - 1], names[k]) == 0)
      status = scree_fail(log, SCREE_BAD_INPUT,
                          "%s: two bodies or obstacles are named \"%s\", expected different names",
                          scene->name, names[k]);
  scree_free(names);
  return status;
}

scree_Status scree_scene_check_pattern(const scree_Scene *scene, const scree_Node *node,
                                       const scree_Log *log) {
  const int64_t all = scree_scene_names(scene);
  for (int64_t k = 0; k < all; ++k)
    if (scree_name_matches(node->text, scree_scene_listed_name(scene, k))) return SCREE_OK;
  return scree_scene_refuse(scene, node, log, "no body has a name like \"%.60s\"", node->text);
}
