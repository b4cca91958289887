/* Trees of scalars, lists and maps, read from YAML with the line and column of every node, so that
 * later checks can report them. The tree owns all of its memory: nodes are never freed one by one.
 */
#ifndef SCREE_SCENE_YAML_TREE_H
#define SCREE_SCENE_YAML_TREE_H

#include "scree/base.h"

typedef enum scree_NodeKind { SCREE_NODE_SCALAR, SCREE_NODE_LIST, SCREE_NODE_MAP } scree_NodeKind;

typedef struct scree_Node scree_Node;

/* An item of a list (key null) or of a map. */
typedef struct scree_NodeEntry {
  const char *key;
  int line, column; /* of the key, from 1; 0: not from the file */
  scree_Node *value;
} scree_NodeEntry;

struct scree_Node {
  scree_NodeKind kind;
  int line, column; /* from 1; 0: a default, or an override */
  bool quoted;      /* scalar that was written in quotes */
  const char *text; /* scalar */
  double number;    /* scalar that was found to be a number */
  int count, capacity;
  scree_NodeEntry *entries; /* (count) of a list or map, in the order of the file */
};

typedef struct scree_Tree {
  struct scree_TreeBlock *blocks;
  size_t copies; /* nodes made by aliases */
  bool failed;   /* memory ran out */
  scree_Node *root;
} scree_Tree;

/* Read the text. `name` stands for the file in messages. The root of an empty text is an empty
 * map. After a failure there is nothing to free. */
scree_Status scree_tree_parse(scree_Tree *tree, const char *text, size_t length, const char *name,
                              const scree_Log *log);
void scree_tree_fini(scree_Tree *tree);

/* Building: null (and tree->failed) when memory runs out. */
char *scree_tree_text(scree_Tree *tree, const char *text, size_t length);
scree_Node *scree_tree_node(scree_Tree *tree, scree_NodeKind kind, int line, int column);
scree_Node *scree_tree_scalar(scree_Tree *tree, const char *text, int line, int column);
scree_Node *scree_tree_number(scree_Tree *tree, double number, int line, int column);
bool scree_tree_add(scree_Tree *tree, scree_Node *parent, const char *key, scree_Node *value);

/* The value of `key` in a map, or null. */
scree_Node *scree_node_find(const scree_Node *map, const char *key);

/* Put the YAML `value` at `path` ("time.step", "bodies[0].velocity"): maps on the way are made,
 * list items must exist, or be the next one. */
scree_Status scree_tree_override(scree_Tree *tree, const char *path, const char *value,
                                 const scree_Log *log);

/* The tree as YAML text, freed with scree_free; null when memory runs out. Reading it gives the
 * same tree. */
char *scree_tree_write(const scree_Node *root);

/* The shortest of the texts that read back to the same bits. */
void scree_format_real(double value, char *text, size_t size);

#endif
