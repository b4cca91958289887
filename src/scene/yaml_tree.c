/* YAML to tree and back (see yaml_tree.h). libyaml's events are used rather than its documents:
 * those hide the places of keys, and build cycles from aliases. An alias copies the node that its
 * anchor named, which must be complete; the number of nodes is bounded, so that a short text cannot
 * expand without limit. */
#include "scene/yaml_tree.h"

#include "core/log.h"
#include "core/memory.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { BLOCK_SIZE = 1 << 16, DEPTH_MAX = 48, ANCHORS_MAX = 256, COPIES_MAX = 1000000 };

/* ---- memory ---------------------------------------------------------------------------------- */

struct scree_TreeBlock {
  struct scree_TreeBlock *next;
  size_t used, size;
};

static void *take(scree_Tree *tree, size_t size) {
  size = (size + 15) & ~(size_t)15;
  struct scree_TreeBlock *block = tree->blocks;
  const size_t head = (sizeof *block + 15) & ~(size_t)15;
  if (!block || block->size - block->used < size) {
    const size_t room = head + (size > BLOCK_SIZE ? size : (size_t)BLOCK_SIZE);
    block = scree_alloc(room, 1);
    if (!block) {
      tree->failed = true;
      return NULL;
    }
    *block = (struct scree_TreeBlock){.next = tree->blocks, .used = head, .size = room};
    tree->blocks = block;
  }
  void *memory = (char *)block + block->used;
  block->used += size;
  return memory;
}

void scree_tree_fini(scree_Tree *tree) {
  while (tree->blocks) {
    struct scree_TreeBlock *next = tree->blocks->next;
    scree_free(tree->blocks);
    tree->blocks = next;
  }
  *tree = (scree_Tree){0};
}

char *scree_tree_text(scree_Tree *tree, const char *text, size_t length) {
  char *copy = take(tree, length + 1);
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

scree_Node *scree_tree_node(scree_Tree *tree, scree_NodeKind kind, int line, int column) {
  scree_Node *node = tree->failed ? NULL : take(tree, sizeof *node);
  if (!node) return NULL;
  *node = (scree_Node){.kind = kind, .line = line, .column = column, .text = ""};
  return node;
}

scree_Node *scree_tree_scalar(scree_Tree *tree, const char *text, int line, int column) {
  scree_Node *node = scree_tree_node(tree, SCREE_NODE_SCALAR, line, column);
  if (!node) return NULL;
  node->text = scree_tree_text(tree, text, strlen(text));
  return node->text ? node : NULL;
}

scree_Node *scree_tree_number(scree_Tree *tree, double number, int line, int column) {
  char text[40];
  scree_format_real(number, text, sizeof text);
  scree_Node *node = scree_tree_scalar(tree, text, line, column);
  if (node) node->number = number;
  return node;
}

bool scree_tree_add(scree_Tree *tree, scree_Node *parent, const char *key, scree_Node *value) {
  if (!value || !parent) return false;
  if (parent->count == parent->capacity) {
    const int capacity = parent->capacity ? 2 * parent->capacity : 4;
    scree_NodeEntry *entries = take(tree, (size_t)capacity * sizeof *entries);
    if (!entries) return false;
    if (parent->count) memcpy(entries, parent->entries, (size_t)parent->count * sizeof *entries);
    parent->entries = entries;
    parent->capacity = capacity;
  }
  char *copy = NULL;
  if (key && !(copy = scree_tree_text(tree, key, strlen(key)))) return false;
  parent->entries[parent->count++] =
      (scree_NodeEntry){.key = copy, .line = value->line, .column = value->column, .value = value};
  return true;
}

scree_Node *scree_node_find(const scree_Node *map, const char *key) {
  if (!map || map->kind != SCREE_NODE_MAP) return NULL;
  for (int k = 0; k < map->count; ++k)
    if (strcmp(map->entries[k].key, key) == 0) return map->entries[k].value;
  return NULL;
}

static scree_Node *copy_node(scree_Tree *tree, const scree_Node *node) {
  assert(node);
  if (++tree->copies > COPIES_MAX) return NULL;
  scree_Node *copy = scree_tree_node(tree, node->kind, node->line, node->column);
  if (!copy) return NULL;
  copy->text = node->text;
  copy->quoted = node->quoted;
  copy->number = node->number;
  for (int k = 0; k < node->count; ++k) {
    scree_Node *value = copy_node(tree, node->entries[k].value);
    if (!scree_tree_add(tree, copy, node->entries[k].key, value)) return NULL;
    copy->entries[k].line = node->entries[k].line;
    copy->entries[k].column = node->entries[k].column;
  }
  return copy;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct Anchor {
  const char *name;
  const scree_Node *node;
} Anchor;

typedef struct Reader {
  yaml_parser_t parser;
  scree_Tree *tree;
  const char *name;
  const scree_Log *log;
  Anchor anchors[ANCHORS_MAX];
  int anchor_count;
} Reader;

static scree_Status refuse(const Reader *reader, yaml_mark_t mark, const char *what) {
  return scree_fail(reader->log, SCREE_BAD_INPUT, "%s:%zu:%zu: %s", reader->name, mark.line + 1,
                    mark.column + 1, what);
}

static scree_Status next_event(Reader *reader, yaml_event_t *event) {
  if (yaml_parser_parse(&reader->parser, event)) return SCREE_OK;
  const yaml_parser_t *parser = &reader->parser;
  if (parser->error == YAML_MEMORY_ERROR) return scree_fail_memory(reader->log, reader->name);
  char text[256];
  snprintf(text, sizeof text, "not valid YAML: %s%s%s", parser->problem ? parser->problem : "",
           parser->context ? ", " : "", parser->context ? parser->context : "");
  const yaml_mark_t mark = {.line = parser->problem_mark.line,
                            .column = parser->problem_mark.column};
  return refuse(reader, mark, text);
}

static scree_Status read_value(Reader *reader, yaml_event_t *event, int depth, scree_Node **node);

static scree_Status keep_anchor(Reader *reader, const yaml_event_t *event, const yaml_char_t *name,
                                const scree_Node *node) {
  if (!name) return SCREE_OK;
  if (reader->anchor_count == ANCHORS_MAX)
    return refuse(reader, event->start_mark, "too many anchors, expected at most 256");
  const char *copy = scree_tree_text(reader->tree, (const char *)name, strlen((const char *)name));
  if (!copy) return scree_fail_memory(reader->log, reader->name);
  reader->anchors[reader->anchor_count++] = (Anchor){copy, node};
  return SCREE_OK;
}

static scree_Status read_alias(Reader *reader, const yaml_event_t *event, scree_Node **node) {
  const char *name = (const char *)event->data.alias.anchor;
  for (int k = reader->anchor_count - 1; k >= 0; --k) {
    if (strcmp(reader->anchors[k].name, name) != 0) continue;
    *node = copy_node(reader->tree, reader->anchors[k].node);
    if (*node) return SCREE_OK;
    return reader->tree->copies > COPIES_MAX
               ? refuse(reader, event->start_mark,
                        "found aliases that make the file too large, expected fewer copies")
               : scree_fail_memory(reader->log, reader->name);
  }
  char text[200];
  snprintf(text, sizeof text,
           "alias *%.100s names no anchor, expected one that is complete before it", name);
  return refuse(reader, event->start_mark, text);
}

static scree_Status read_scalar(Reader *reader, const yaml_event_t *event, scree_Node **node) {
  const char *value = (const char *)event->data.scalar.value;
  if (strlen(value) != event->data.scalar.length)
    return refuse(reader, event->start_mark, "found a null character, expected text");
  *node = scree_tree_scalar(reader->tree, value, (int)event->start_mark.line + 1,
                            (int)event->start_mark.column + 1);
  if (!*node) return scree_fail_memory(reader->log, reader->name);
  (*node)->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  return SCREE_OK;
}

static scree_Status read_list(Reader *reader, int depth, scree_Node *node) {
  for (;;) {
    yaml_event_t event;
    scree_Status status = next_event(reader, &event);
    if (status != SCREE_OK) return status;
    const bool end = event.type == YAML_SEQUENCE_END_EVENT;
    scree_Node *value = NULL;
    if (!end) status = read_value(reader, &event, depth + 1, &value);
    yaml_event_delete(&event);
    if (end || status != SCREE_OK) return status;
    if (!scree_tree_add(reader->tree, node, NULL, value))
      return scree_fail_memory(reader->log, reader->name);
  }
}

/* A key and its value; *end at the end of the map. */
static scree_Status read_pair(Reader *reader, int depth, scree_Node *node, bool *end) {
  yaml_event_t key, value;
  assert(node);
  scree_Status status = next_event(reader, &key);
  if (status != SCREE_OK) return status;
  *end = key.type == YAML_MAPPING_END_EVENT;
  scree_Node *name = NULL, *child = NULL;
  if (!*end && key.type != YAML_SCALAR_EVENT)
    status = refuse(reader, key.start_mark, "found a list or map as a key, expected a word");
  else if (!*end)
    status = read_scalar(reader, &key, &name);
  assert(name || *end || status != SCREE_OK);
  if (!*end && status == SCREE_OK && scree_node_find(node, name->text)) {
    char text[160];
    snprintf(text, sizeof text, "key \"%.80s\" is given twice", name->text);
    status = refuse(reader, key.start_mark, text);
  }
  yaml_event_delete(&key);
  if (*end || status != SCREE_OK) return status;
  status = next_event(reader, &value);
  if (status != SCREE_OK) return status;
  status = read_value(reader, &value, depth + 1, &child);
  yaml_event_delete(&value);
  if (status != SCREE_OK) return status;
  if (!scree_tree_add(reader->tree, node, name->text, child))
    return scree_fail_memory(reader->log, reader->name);
  node->entries[node->count - 1].line = name->line;
  node->entries[node->count - 1].column = name->column;
  return SCREE_OK;
}

static scree_Status read_value(Reader *reader, yaml_event_t *event, int depth, scree_Node **node) {
  scree_Status status = SCREE_OK;
  const yaml_char_t *anchor = NULL;
  const int line = (int)event->start_mark.line + 1, column = (int)event->start_mark.column + 1;
  if (depth > DEPTH_MAX)
    return refuse(reader, event->start_mark,
                  "found values nested too deeply, expected fewer levels");
  switch (event->type) {
  case YAML_ALIAS_EVENT: return read_alias(reader, event, node);
  case YAML_SCALAR_EVENT:
    anchor = event->data.scalar.anchor;
    status = read_scalar(reader, event, node);
    break;
  case YAML_SEQUENCE_START_EVENT:
    anchor = event->data.sequence_start.anchor;
    *node = scree_tree_node(reader->tree, SCREE_NODE_LIST, line, column);
    status = *node ? read_list(reader, depth, *node) : scree_fail_memory(reader->log, reader->name);
    break;
  case YAML_MAPPING_START_EVENT:
    anchor = event->data.mapping_start.anchor;
    *node = scree_tree_node(reader->tree, SCREE_NODE_MAP, line, column);
    if (!*node) status = scree_fail_memory(reader->log, reader->name);
    for (bool end = false; status == SCREE_OK && !end;)
      status = read_pair(reader, depth, *node, &end);
    break;
  default: return refuse(reader, event->start_mark, "found the end, expected a value");
  }
  return status == SCREE_OK ? keep_anchor(reader, event, anchor, *node) : status;
}

static scree_Status read_stream(Reader *reader) {
  bool have = false;
  for (;;) {
    yaml_event_t event;
    scree_Status status = next_event(reader, &event);
    if (status != SCREE_OK) return status;
    const yaml_event_type_t type = event.type;
    const yaml_mark_t mark = event.start_mark;
    const bool structure = type == YAML_STREAM_START_EVENT || type == YAML_STREAM_END_EVENT ||
                           type == YAML_DOCUMENT_START_EVENT || type == YAML_DOCUMENT_END_EVENT;
    if (!structure && have) status = refuse(reader, mark, "a second document, expected one");
    if (!structure && status == SCREE_OK) {
      status = read_value(reader, &event, 0, &reader->tree->root);
      have = true;
    }
    yaml_event_delete(&event);
    if (status != SCREE_OK || type == YAML_STREAM_END_EVENT) return status;
  }
}

scree_Status scree_tree_parse(scree_Tree *tree, const char *text, size_t length, const char *name,
                              const scree_Log *log) {
  *tree = (scree_Tree){0};
  Reader *reader = SCREE_ALLOC(Reader, 1);
  if (!reader || !yaml_parser_initialize(&reader->parser)) {
    scree_free(reader);
    return scree_fail_memory(log, name);
  }
  reader->tree = tree;
  reader->name = name;
  reader->log = log;
  yaml_parser_set_input_string(&reader->parser, (const unsigned char *)text, length);
  scree_Status status = read_stream(reader);
  yaml_parser_delete(&reader->parser);
  scree_free(reader);
  /* An empty file is a plain scalar without text, or nothing at all. */
  if (status == SCREE_OK &&
      (!tree->root || (tree->root->kind == SCREE_NODE_SCALAR && !tree->root->text[0])))
    tree->root = scree_tree_node(tree, SCREE_NODE_MAP, 1, 1);
  if (status == SCREE_OK && !tree->root) status = scree_fail_memory(log, name);
  if (status != SCREE_OK) scree_tree_fini(tree);
  return status;
}

/* ---- overrides ------------------------------------------------------------------------------- */

/* The slot for the next part of a path, made when absent. Null with a reason when it cannot be. */
static scree_NodeEntry *step_key(scree_Tree *tree, scree_Node *node, const char *key, size_t length,
                                 const char **reason) {
  if (node->kind != SCREE_NODE_MAP) {
    *reason = "its parent is no map";
    return NULL;
  }
  for (int k = 0; k < node->count; ++k)
    if (strlen(node->entries[k].key) == length && memcmp(node->entries[k].key, key, length) == 0)
      return &node->entries[k];
  char *name = scree_tree_text(tree, key, length);
  scree_Node *child = scree_tree_node(tree, SCREE_NODE_MAP, 0, 0);
  *reason = "out of memory";
  if (!name || !scree_tree_add(tree, node, name, child)) return NULL;
  return &node->entries[node->count - 1];
}

static scree_NodeEntry *step_index(scree_Tree *tree, scree_Node *node, long index,
                                   const char **reason) {
  /* a fresh map, made on the way here, becomes the list that it was meant to be */
  if (node->kind == SCREE_NODE_MAP && node->count == 0) node->kind = SCREE_NODE_LIST;
  *reason = "its parent is no list";
  if (node->kind != SCREE_NODE_LIST) return NULL;
  *reason = "the list is shorter (items are numbered from 0)";
  if (index > node->count) return NULL;
  *reason = "out of memory";
  if (index == node->count &&
      !scree_tree_add(tree, node, NULL, scree_tree_node(tree, SCREE_NODE_MAP, 0, 0)))
    return NULL;
  return &node->entries[index];
}

/* Nodes of an override have no line and column: messages name --set instead. */
static void forget_places(scree_Node *node) {
  node->line = node->column = 0;
  for (int k = 0; k < node->count; ++k) {
    node->entries[k].line = node->entries[k].column = 0;
    forget_places(node->entries[k].value);
  }
}

scree_Status scree_tree_override(scree_Tree *tree, const char *path, const char *value,
                                 const scree_Log *log) {
  const char *p = path, *reason = NULL;
  scree_Node *node = tree->root;
  scree_NodeEntry *slot = NULL;
  while (*p && !reason) {
    if (slot) node = slot->value;
    if (*p == '[') {
      char *end;
      const long index = strtol(p + 1, &end, 10);
      if (end == p + 1 || *end != ']' || index < 0) {
        reason = "expected [NUMBER]";
        break;
      }
      slot = step_index(tree, node, index, &reason);
      p = end + 1;
    } else {
      const size_t length = strcspn(p, ".[");
      if (length == 0) {
        reason = "a name is missing";
        break;
      }
      slot = step_key(tree, node, p, length, &reason);
      p += length;
    }
    if (!slot) break;
    reason = NULL;
    if (*p == '.' && p[1]) ++p;
  }
  if (!slot || reason)
    return scree_fail(log, SCREE_BAD_INPUT, "--set %s: no such key: %s", path,
                      reason ? reason : "the path is empty");
  scree_Tree part;
  char name[128];
  snprintf(name, sizeof name, "--set %.100s", path);
  scree_Status status = scree_tree_parse(&part, value, strlen(value), name, log);
  if (status != SCREE_OK) return status;
  /* "" is an empty text here, not an empty map */
  scree_Node *copy = *value ? copy_node(tree, part.root) : scree_tree_scalar(tree, "", 0, 0);
  /* texts still live in `part`: move its blocks over */
  struct scree_TreeBlock **last = &part.blocks;
  while (*last) last = &(*last)->next;
  *last = tree->blocks;
  tree->blocks = part.blocks;
  if (!copy) return scree_fail_memory(log, name);
  forget_places(copy);
  slot->value = copy;
  slot->line = slot->column = 0;
  return SCREE_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

void scree_format_real(double value, char *text, size_t size) {
  if (isnan(value))
    snprintf(text, size, ".nan");
  else if (isinf(value))
    snprintf(text, size, value > 0 ? "inf" : "-inf");
  else
    for (int digits = 15; digits <= 17; ++digits) {
      snprintf(text, size, "%.*g", digits, value);
      if (strtod(text, NULL) == value) break;
    }
}

typedef struct Writer {
  char *text;
  size_t length, capacity;
  bool failed;
} Writer;

static void put(Writer *writer, const char *text, size_t length) {
  if (writer->failed) return;
  void *memory = writer->text;
  if (!scree_grow(&memory, &writer->capacity, writer->length + length + 1, 1)) {
    writer->failed = true;
    return;
  }
  writer->text = memory;
  memcpy(writer->text + writer->length, text, length);
  writer->length += length;
  writer->text[writer->length] = '\0';
}

static void put_text(Writer *writer, const char *text) {
  put(writer, text, strlen(text));
}

/* Can stand without quotes: letters, digits and a few signs, not starting with a sign of YAML's. */
static bool is_plain(const char *text) {
  static const char *const words[] = {"true", "false", "yes", "no",   "on",
                                      "off",  "null",  "~",   "True", "False"};
  if (!*text || strchr("-?:.+~", text[0])) {
    char *end;
    (void)strtod(text, &end);
    if (!*text || *end) return false; /* a negative number may start with a sign */
  }
  if (strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.") !=
      strlen(text))
    return false;
  for (size_t k = 0; k < sizeof words / sizeof *words; ++k)
    if (strcmp(text, words[k]) == 0) return false;
  return true;
}

static void put_scalar(Writer *writer, const char *text, bool quoted) {
  if (!quoted && (is_plain(text) || strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
    put_text(writer, text);
    return;
  }
  put_text(writer, "\"");
  for (const char *p = text; *p; ++p) {
    char escape[8];
    if (*p == '"' || *p == '\\')
      snprintf(escape, sizeof escape, "\\%c", *p);
    else if ((unsigned char)*p < 0x20 || *p == 0x7f)
      snprintf(escape, sizeof escape, "\\x%02x", (unsigned)(unsigned char)*p);
    else
      snprintf(escape, sizeof escape, "%c", *p);
    put_text(writer, escape);
  }
  put_text(writer, "\"");
}

/* Small nodes go on one line: { a: 1, b: [0, 1] } */
static bool is_short(const scree_Node *node, int depth) {
  if (node->kind == SCREE_NODE_SCALAR) return true;
  if (depth > 2 || node->count > 8)
    return depth <= 1 && node->kind == SCREE_NODE_LIST &&
           node->entries[0].value->kind == SCREE_NODE_SCALAR;
  for (int k = 0; k < node->count; ++k)
    if (!is_short(node->entries[k].value, depth + 1)) return false;
  return true;
}

static void write_flow(Writer *writer, const scree_Node *node) {
  if (node->kind == SCREE_NODE_SCALAR) {
    put_scalar(writer, node->text, node->quoted);
    return;
  }
  const bool map = node->kind == SCREE_NODE_MAP;
  put_text(writer, map ? "{" : "[");
  for (int k = 0; k < node->count; ++k) {
    if (k) put_text(writer, ", ");
    if (map) {
      put_scalar(writer, node->entries[k].key, false);
      put_text(writer, ": ");
    }
    write_flow(writer, node->entries[k].value);
  }
  put_text(writer, map ? "}" : "]");
}

static void write_block(Writer *writer, const scree_Node *node, int indent) {
  for (int k = 0; k < node->count; ++k) {
    const scree_NodeEntry *entry = &node->entries[k];
    const scree_Node *value = entry->value;
    for (int level = 0; level < indent; ++level) put_text(writer, "  ");
    if (node->kind == SCREE_NODE_MAP) {
      put_scalar(writer, entry->key, false);
      put_text(writer, ":");
    } else {
      put_text(writer, "-");
    }
    /* maps of maps are unfolded down to their leaves at the first two levels */
    if (is_short(value, 0) && (value->kind != SCREE_NODE_MAP || indent > 0 || value->count == 0)) {
      put_text(writer, " ");
      write_flow(writer, value);
      put_text(writer, "\n");
    } else {
      put_text(writer, "\n");
      write_block(writer, value, indent + 1);
    }
  }
}

char *scree_tree_write(const scree_Node *root) {
  Writer writer = {0};
  put(&writer, "", 0);
  if (root->kind == SCREE_NODE_MAP && root->count)
    write_block(&writer, root, 0);
  else
    write_flow(&writer, root);
  if (!writer.failed) return writer.text;
  scree_free(writer.text);
  return NULL;
}
