/* Changes of a scene between two parts of a run (see resume.h). */
#include "run/resume.h"

#include "core/log.h"
#include "core/memory.h"
#include "scene/yaml_tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Keys that act on later steps alone; a key ends at its end, or at "." or "[". */
static const char *const free_keys[] = {"title",
                                        "description",
                                        "parameters",
                                        "solver",
                                        "time.duration",
                                        "time.penetration",
                                        "time.penetration_limit",
                                        "time.energy_limit",
                                        "time.creep_limit",
                                        "time.max_work",
                                        "time.max_halvings",
                                        "output",
                                        "stop",
                                        "dump_problem",
                                        "analysis",
                                        "sensors"};

static bool is_free(const char *key) {
  for (size_t k = 0; k < sizeof free_keys / sizeof *free_keys; ++k) {
    const size_t length = strlen(free_keys[k]);
    if (strncmp(key, free_keys[k], length) == 0 &&
        (key[length] == '\0' || key[length] == '.' || key[length] == '['))
      return true;
  }
  return false;
}

typedef struct Compare {
  scree_SceneChanges *changes;
  const char *path;
  const scree_Log *log;
  scree_Status status;
  char key[160];
} Compare;

static void describe(const scree_Node *node, char *text, size_t size) {
  if (!node) {
    snprintf(text, size, "nothing");
  } else if (node->kind == SCREE_NODE_SCALAR) {
    snprintf(text, size, "%s", node->text);
  } else {
    char *whole = scree_tree_write(node);
    snprintf(text, size, "%s", whole ? whole : "");
    text[strcspn(text, "\n")] = '\0';
    scree_free(whole);
  }
}

static void note(Compare *compare, const scree_Node *before, const scree_Node *now) {
  scree_SceneChanges *changes = compare->changes;
  scree_SceneChange change;
  snprintf(change.key, sizeof change.key, "%s", compare->key);
  describe(before, change.from, sizeof change.from);
  describe(now, change.to, sizeof change.to);
  if (!is_free(compare->key)) {
    if (compare->status == SCREE_OK)
      compare->status = scree_fail(
          compare->log, SCREE_BAD_INPUT,
          "%s: %s: the run was made with \"%s\", the scene now says \"%s\": a run that is resumed "
          "may change solver, time.duration, limits, output, stop and sensors; otherwise choose "
          "another folder",
          compare->path, change.key, change.from, change.to);
    return;
  }
  if (!scree_grow((void **)&changes->list, &changes->capacity, (size_t)changes->count + 1,
                  sizeof *changes->list)) {
    compare->status = scree_fail_memory(compare->log, "the changes of a scene");
    return;
  }
  changes->list[changes->count++] = change;
}

static void walk(Compare *compare, const scree_Node *before, const scree_Node *now) {
  if (compare->status != SCREE_OK) return;
  if (!before || !now || before->kind != now->kind) {
    note(compare, before, now);
    return;
  }
  if (before->kind == SCREE_NODE_SCALAR) {
    if (strcmp(before->text, now->text) != 0) note(compare, before, now);
    return;
  }
  const size_t length = strlen(compare->key), room = sizeof compare->key - length;
  const bool map = before->kind == SCREE_NODE_MAP;
  const int most = before->count > now->count ? before->count : now->count;
  for (int k = 0; map && k < before->count; ++k) {
    const char *key = before->entries[k].key;
    snprintf(compare->key + length, room, "%s%s", length ? "." : "", key);
    walk(compare, before->entries[k].value, scree_node_find(now, key));
    compare->key[length] = '\0';
  }
  for (int k = 0; map && k < now->count; ++k) {
    const char *key = now->entries[k].key;
    if (scree_node_find(before, key)) continue;
    snprintf(compare->key + length, room, "%s%s", length ? "." : "", key);
    walk(compare, NULL, now->entries[k].value);
    compare->key[length] = '\0';
  }
  for (int k = 0; !map && k < most; ++k) {
    snprintf(compare->key + length, room, "[%d]", k);
    walk(compare, k < before->count ? before->entries[k].value : NULL,
         k < now->count ? now->entries[k].value : NULL);
    compare->key[length] = '\0';
  }
}

scree_Status scree_changes_find(const char *before, const char *now, const char *path,
                                const scree_Log *log, scree_SceneChanges *changes) {
  *changes = (scree_SceneChanges){0};
  if (strcmp(before, now) == 0) return SCREE_OK;
  scree_Tree old, fresh;
  scree_Status status = scree_tree_parse(&old, before, strlen(before), path, log);
  if (status != SCREE_OK) return status;
  status = scree_tree_parse(&fresh, now, strlen(now), "the scene", log);
  if (status == SCREE_OK) {
    Compare compare = {.changes = changes, .path = path, .log = log};
    walk(&compare, old.root, fresh.root);
    status = compare.status;
    scree_tree_fini(&fresh);
  }
  scree_tree_fini(&old);
  if (status != SCREE_OK) scree_changes_fini(changes);
  return status;
}

static void put_text(FILE *file, const char *text) {
  fputc('"', file);
  for (const char *c = text; *c; ++c) {
    if (*c == '"' || *c == '\\')
      fprintf(file, "\\%c", *c);
    else if ((unsigned char)*c < 0x20)
      fprintf(file, "\\u%04x", (unsigned)*c);
    else
      fputc(*c, file);
  }
  fputc('"', file);
}

scree_Status scree_changes_record(const scree_SceneChanges *changes, const char *path, int64_t step,
                                  double time, const scree_Log *log) {
  if (changes->count == 0) return SCREE_OK;
  FILE *file = fopen(path, "a");
  if (!file)
    return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", path, strerror(errno));
  fprintf(file, "{\"step\": %lld, \"time\": %.17g, \"changes\": [", (long long)step, time);
  for (int k = 0; k < changes->count; ++k) {
    fputs(k ? ", {\"key\": " : "{\"key\": ", file);
    put_text(file, changes->list[k].key);
    fputs(", \"from\": ", file);
    put_text(file, changes->list[k].from);
    fputs(", \"to\": ", file);
    put_text(file, changes->list[k].to);
    fputc('}', file);
  }
  fputs("]}\n", file);
  const bool failed = ferror(file) != 0;
  if ((fclose(file) != 0) | failed)
    return scree_fail(log, SCREE_MACHINE, "%s: cannot be written", path);
  return SCREE_OK;
}

void scree_changes_fini(scree_SceneChanges *changes) {
  scree_free(changes->list);
  *changes = (scree_SceneChanges){0};
}
