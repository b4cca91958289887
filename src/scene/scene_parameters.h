/* Parameters of a scene: numbers with names, which expressions may use.
 *
 *     parameters: { d: 0.01, height: 20*d }
 *     bodies: [{ shape: { kind: disk, radius: d/2 }, position: [0, height] }]
 *
 * Parameters may use each other, in any order. Expressions are expanded as text, "(0.01)/2", so
 * that those in the time t can be kept as text in the scene as used. */
#ifndef SCREE_SCENE_PARAMETERS_H
#define SCREE_SCENE_PARAMETERS_H

#include "scene/yaml_tree.h"

enum { SCREE_PARAMETERS_MAX = 256 };

typedef struct scree_Parameters {
  int count;
  const char *name[SCREE_PARAMETERS_MAX]; /* in the tree that they were read from */
  double value[SCREE_PARAMETERS_MAX];
} scree_Parameters;

/* The reason why a text cannot be the name of a parameter; null: it can be. */
const char *scree_parameter_refuse(const char *name);

/* Whether an expression uses a name. */
bool scree_parameter_used(const char *text, const char *name);

/* The text with parameters replaced by their values, in the tree's memory; the text itself when it
 * has none. Null: out of memory. */
const char *scree_parameters_expand(const scree_Parameters *parameters, scree_Tree *tree,
                                    const char *text);

#endif
