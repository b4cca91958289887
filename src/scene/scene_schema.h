/* The schema of scene files: keys, types, units, ranges and defaults. It is written once, as
 * tables, from which the checks, the messages, the reference page and the JSON Schema for editors
 * are made. */
#ifndef SCREE_SCENE_SCHEMA_H
#define SCREE_SCENE_SCHEMA_H

#include "scene/yaml_tree.h"

typedef enum scree_FieldType {
  SCREE_FIELD_REAL,       /* a number, or an expression without t */
  SCREE_FIELD_INT,        /* */
  SCREE_FIELD_BOOL,       /* yes/no, true/false, on/off */
  SCREE_FIELD_TEXT,       /* */
  SCREE_FIELD_CHOICE,     /* one of `words` or of `registry` */
  SCREE_FIELD_VECTOR,     /* as many numbers as there are dimensions */
  SCREE_FIELD_INTS,       /* list of integers */
  SCREE_FIELD_REALS,      /* list of `max` numbers */
  SCREE_FIELD_TEXTS,      /* list of `max` texts */
  SCREE_FIELD_SIGNALS,    /* vector as a function of time */
  SCREE_FIELD_MAP,        /* of `fields` */
  SCREE_FIELD_LIST,       /* of maps of `fields`, or of `variants` */
  SCREE_FIELD_NAMED,      /* map from names of the user's own to maps of `fields` */
  SCREE_FIELD_VARIANT,    /* map whose key `kind` names the one of `variants` that describes it */
  SCREE_FIELD_LAW,        /* a contact law by name; its parameters are keys beside it */
  SCREE_FIELD_SHAPE,      /* map whose key `kind` names a shape of scree/shape.h */
  SCREE_FIELD_OPTIONS,    /* options of the solver that the key `name` beside it names */
  SCREE_FIELD_PARAMETERS, /* map from names of the user's own to numbers */
  SCREE_FIELD_INCLUDE     /* path of a file, or a list of them */
} scree_FieldType;

enum {
  SCREE_FIELD_REQUIRED = 1,
  SCREE_FIELD_AUTO = 2,       /* the word auto is allowed */
  SCREE_FIELD_OPEN = 4,       /* `min` itself is not allowed */
  SCREE_FIELD_AXIAL = 8,      /* vector of rotation: one number in 2D */
  SCREE_FIELD_BROADCAST = 16, /* vector: one number stands for equal components */
  SCREE_FIELD_SCALAR = 32     /* signal: one number, or an expression in t, in any dimension */
};

typedef struct scree_Field scree_Field;

typedef struct scree_Variant {
  const char *kind;
  int dimension; /* 0: both */
  const scree_Field *fields;
  const char *help;
} scree_Variant;

struct scree_Field {
  const char *key; /* null ends a table */
  scree_FieldType type;
  unsigned flags;
  const char *unit;   /* or null */
  const char *preset; /* default: a scalar, "0" for a zero vector, "{}" for a map of defaults,
                       * "[]"; null: none, the key may be absent */
  double min, max;    /* of numbers, both included unless SCREE_FIELD_OPEN */
  const char *const *words;
  const char *(*registry)(int index);
  const scree_Field *fields;
  const scree_Variant *variants; /* null kind ends the table */
  int dimension;                 /* 2, 3: only there; 0: both */
  const char *help;
};

/* A part of a clump. */
extern const scree_Field scree_scene_part_fields[];

/* The whole scene. */
const scree_Field *scree_scene_schema(void);

/* Check `given` against the schema and write it out with every default into `tree`, whose root is
 * set. All mistakes are reported, up to a limit, as NAME:LINE:COLUMN: PATH: found, expected. */
scree_Status scree_scene_normalise(const scree_Node *given, const char *name, scree_Tree *tree,
                                   const scree_Log *log);

/* ---- reading a normalised tree: keys are known to be there, or are optional ---- */

static inline double scree_node_number(const scree_Node *map, const char *key) {
  const scree_Node *node = scree_node_find(map, key);
  return node ? node->number : 0.0;
}

const char *scree_node_text(const scree_Node *map, const char *key); /* "" when absent */
bool scree_node_true(const scree_Node *map, const char *key);
bool scree_node_is(const scree_Node *map, const char *key, const char *word);

#endif
