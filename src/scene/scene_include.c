/* Files that a scene includes (see scene_include.h). */
#define _POSIX_C_SOURCE 200809L
#include "scene/scene_include.h"

#include "core/log.h"
#include "core/memory.h"
#include "scene/csv.h"
#include "scene/scene_schema.h"

#include <string.h>

enum { DEPTH_MAX = 8 };

static scree_Status include(scree_Tree *tree, const char *name, int depth, const scree_Log *log);

/* A deep copy without lines and columns, which belong to another file. */
static scree_Node *copy(scree_Tree *tree, const scree_Node *node) {
  scree_Node *fresh = scree_tree_node(tree, node->kind, 0, 0);
  if (!fresh) return NULL;
  fresh->quoted = node->quoted;
  if (node->kind == SCREE_NODE_SCALAR) {
    fresh->text = scree_tree_text(tree, node->text, strlen(node->text));
    return fresh->text ? fresh : NULL;
  }
  for (int k = 0; k < node->count; ++k) {
    const char *key = node->entries[k].key;
    const char *own = key ? scree_tree_text(tree, key, strlen(key)) : NULL;
    if ((key && !own) || !scree_tree_add(tree, fresh, own, copy(tree, node->entries[k].value)))
      return NULL;
  }
  return fresh;
}

/* Put `below`, which belongs to the tree, below the values of `map`. */
static bool merge(scree_Tree *tree, scree_Node *map, const scree_Node *below, bool top) {
  for (int k = 0; k < below->count; ++k) {
    const char *key = below->entries[k].key;
    scree_Node *other = below->entries[k].value, *own = scree_node_find(map, key);
    if (!own) {
      if (!scree_tree_add(tree, map, key, other)) return false;
    } else if (own->kind == SCREE_NODE_MAP && other->kind == SCREE_NODE_MAP) {
      if (!merge(tree, own, other, false)) return false;
    } else if (top && own->kind == SCREE_NODE_LIST && other->kind == SCREE_NODE_LIST &&
               strcmp(key, "gravity") != 0) {
      for (int e = 0; e < own->count; ++e)
        if (!scree_tree_add(tree, other, NULL, own->entries[e].value)) return false;
      *own = *other;
    }
  }
  return true;
}

/* Check the file by itself, with the dimension and the parameters of the scene. */
static scree_Status check_alone(const scree_Tree *scene, const scree_Tree *part, const char *path,
                                const scree_Log *log) {
  static const char *const inherited[] = {"dimension", "parameters"};
  scree_Tree given = {0}, checked;
  given.root = scree_tree_node(&given, SCREE_NODE_MAP, 1, 1);
  bool good = given.root != NULL;
  for (int k = 0; good && k < part->root->count; ++k)
    good = scree_tree_add(&given, given.root, part->root->entries[k].key,
                          part->root->entries[k].value);
  for (int k = 0; good && k < 2; ++k) {
    scree_Node *own = scree_node_find(given.root, inherited[k]);
    scree_Node *other = scree_node_find(scene->root, inherited[k]);
    if (!other) continue;
    if (!own) {
      good = scree_tree_add(&given, given.root, inherited[k], other);
    } else if (own->kind == SCREE_NODE_MAP && other->kind == SCREE_NODE_MAP) {
      scree_Node *both = scree_tree_node(&given, SCREE_NODE_MAP, 1, 1);
      good = both != NULL;
      for (int e = 0; good && e < other->count; ++e)
        good = scree_tree_add(&given, both, other->entries[e].key, other->entries[e].value);
      for (int e = 0; good && e < own->count; ++e)
        if (!scree_node_find(both, own->entries[e].key))
          good = scree_tree_add(&given, both, own->entries[e].key, own->entries[e].value);
      for (int e = 0; good && e < given.root->count; ++e)
        if (given.root->entries[e].value == own) given.root->entries[e].value = both;
    }
  }
  scree_Status status =
      good ? scree_scene_normalise(given.root, path, &checked, log) : scree_fail_memory(log, path);
  if (status == SCREE_OK) scree_tree_fini(&checked);
  scree_tree_fini(&given);
  return status;
}

static scree_Status include_file(scree_Tree *tree, const char *name, const scree_Node *node,
                                 int depth, const scree_Log *log) {
  if (node->kind != SCREE_NODE_SCALAR)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s:%d:%d: include: expected the path of a file, or a list", name, node->line,
                      node->column);
  if (depth >= DEPTH_MAX)
    return scree_fail(log, SCREE_BAD_INPUT, "%s:%d:%d: include: files include each other", name,
                      node->line, node->column);
  char *path = scree_path_beside(name, node->text), *text = NULL;
  size_t length = 0;
  scree_Tree part;
  scree_Status status =
      path ? scree_text_load(path, log, &text, &length) : scree_fail_memory(log, name);
  if (status == SCREE_OK) {
    status = scree_tree_parse(&part, text, length, path, log);
    if (status == SCREE_OK) {
      if (part.root->kind != SCREE_NODE_MAP)
        status = scree_fail(log, SCREE_BAD_INPUT, "%s: expected a map, as in a scene", path);
      if (status == SCREE_OK) status = include(&part, path, depth + 1, log);
      if (status == SCREE_OK) status = check_alone(tree, &part, path, log);
      if (status == SCREE_OK) {
        const scree_Node *below = copy(tree, part.root);
        if (!below || !merge(tree, tree->root, below, true)) status = scree_fail_memory(log, path);
      }
      scree_tree_fini(&part);
    }
  }
  if (status == SCREE_BAD_INPUT)
    scree_report(log, SCREE_LOG_ERROR, "%s:%d:%d: include: %s cannot be used", name, node->line,
                 node->column, node->text);
  scree_free(text);
  scree_free(path);
  return status;
}

static scree_Status include(scree_Tree *tree, const char *name, int depth, const scree_Log *log) {
  scree_Node *root = tree->root;
  int at = 0;
  while (at < root->count && strcmp(root->entries[at].key, "include") != 0) ++at;
  if (at == root->count) return SCREE_OK;
  const scree_Node *node = root->entries[at].value;
  for (int k = at; k + 1 < root->count; ++k) root->entries[k] = root->entries[k + 1];
  --root->count;
  if (node->kind != SCREE_NODE_LIST) return include_file(tree, name, node, depth, log);
  scree_Status status = SCREE_OK;
  /* later files win over earlier ones, as the scene does over all */
  for (int k = node->count - 1; k >= 0 && status == SCREE_OK; --k)
    status = include_file(tree, name, node->entries[k].value, depth, log);
  return status;
}

scree_Status scree_scene_include(scree_Tree *tree, const char *name, const scree_Log *log) {
  return tree->root->kind == SCREE_NODE_MAP ? include(tree, name, 0, log) : SCREE_OK;
}
