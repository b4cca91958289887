/* `include` in scenes: files whose keys are put below those of the scene. */
#ifndef SCREE_SCENE_INCLUDE_H
#define SCREE_SCENE_INCLUDE_H

#include "scene/yaml_tree.h"

/* Put in the files that the key `include` of the root names (a path, or a list of them, relative to
 * the folder of the file `name`), and remove the key. Maps are merged, the scene's own values win;
 * lists of the scene (bodies, obstacles, ...) come after those of the files. A file is checked by
 * itself, so that mistakes are reported with its own name and lines. */
scree_Status scree_scene_include(scree_Tree *tree, const char *name, const scree_Log *log);

#endif
