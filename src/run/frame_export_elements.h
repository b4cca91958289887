/* Finite-element bodies of a saved frame, for its scene (frame_export.c). */
#ifndef SCREE_RUN_FRAME_EXPORT_ELEMENTS_H
#define SCREE_RUN_FRAME_EXPORT_ELEMENTS_H

#include "run/frames.h"
#include "scene/scene_schema.h"

/* Write the undeformed mesh of body b (MSH 2.2) and the table of its nodes beside the scene `path`,
 * and put both files into the map of the body, as `shape` and `state`. */
scree_Status scree_export_elements(const scree_Replay *replay, const scree_ReplayFrame *frame,
                                   const char *path, int b, scree_Tree *tree, scree_Node *map);

#endif
