/* Signals from tables of text, such as accelerograms:
 *     { csv: quake.csv, columns: [t, ax, ay], scale: 9.81, integrate: true } */
#ifndef SCREE_SCENE_SIGNAL_CSV_H
#define SCREE_SCENE_SIGNAL_CSV_H

#include "scene/scene_parameters.h"

/* The table { times: [...], values: [...] } that the node describes, with `components` numbers for
 * each time, whose step and scale may use parameters; null with a message that names the place
 * `path` in the file `name`. */
scree_Node *scree_signal_from_csv(scree_Tree *tree, const scree_Parameters *parameters,
                                  const scree_Node *node, int components, const char *name,
                                  const char *path, const scree_Log *log);

#endif
