/* The joints of a saved frame, for its scene (frame_export.c). */
#ifndef SCREE_RUN_FRAME_EXPORT_JOINTS_H
#define SCREE_RUN_FRAME_EXPORT_JOINTS_H

#include "run/frames.h"
#include "scene/scene_schema.h"

/* What is moved, from frame `first`, with which the run began, to frame `now`, which has joints. */
typedef struct scree_JointExport {
  const scree_Replay *replay;
  const scree_ReplayFrame *first, *now;
  scree_Tree *tree; /* of the scene that is written */
  const char *path; /* for messages */
} scree_JointExport;

/* The list `joints` of the run's scene as it is in the frame, in `list`. Anchors and axes go with
 * their bodies. Hinges and sliders count from where they are, so that their stops, the rest of
 * their spring and the position of their motor are shifted. Broken bonds, and joints whose bodies
 * are gone, are left out. Bonds of the list `bonds` are made again by the scene, so that a frame in
 * which one of them is broken is refused. */
scree_Status scree_export_joints(const scree_JointExport *out, const scree_Node *joints,
                                 scree_Node *list);

#endif
