/* Names of bodies: those of generators ("domino-{i}"), that each is there once, and patterns
 * ("domino-*") by which forces, sensors, conditions to stop and removals refer to several. */
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
  if (strcmp(pattern, "all") == 0) return body >= scene->obstacle_count;
  return scree_name_matches(pattern, scree_scene_body_name(scene, body));
}

scree_Status scree_scene_name_generated(scree_Scene *scene, const scree_Node *node, size_t first,
                                        const scree_Log *log) {
  const scree_Node *given = scree_node_find(node, "name");
  if (!given) return SCREE_OK;
  const char *mark = strstr(given->text, "{i}");
  if (!mark && scene->body_count - first > 1)
    return scree_scene_refuse(scene, given, log,
                              "found the name \"%.60s\" for %zu bodies, expected {i} in it, which "
                              "becomes their number: \"%.40s-{i}\"",
                              given->text, scene->body_count - first, given->text);
  for (size_t k = first; k < scene->body_count; ++k) {
    char text[2 * NAME_MAX];
    if (mark)
      snprintf(text, sizeof text, "%.*s%zu%s", (int)(mark - given->text), given->text, k - first,
               mark + 3);
    else
      snprintf(text, sizeof text, "%s", given->text);
    scene->bodies[k].name = scree_tree_text(&scene->tree, text, strlen(text));
    if (!scene->bodies[k].name) return scree_fail_memory(log, scene->name);
  }
  return SCREE_OK;
}

static int compare(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

scree_Status scree_scene_check_names(const scree_Scene *scene, const scree_Log *log) {
  const char **names = SCREE_ALLOC(const char *, scene->body_count);
  size_t count = 0;
  scree_Status status = names ? SCREE_OK : scree_fail_memory(log, scene->name);
  for (size_t k = 0; k < scene->body_count && status == SCREE_OK; ++k) {
    const char *name = scene->bodies[k].name;
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
  for (size_t k = 0; k < scene->body_count; ++k)
    if (scree_name_matches(node->text, scene->bodies[k].name)) return SCREE_OK;
  return scree_scene_refuse(scene, node, log, "no body has a name like \"%.60s\"", node->text);
}
