/* Bars of a picture: force chains, joints and bonds. */
#ifndef SCREE_VIEW_RENDER_BARS_H
#define SCREE_VIEW_RENDER_BARS_H

#include "run/frames.h"
#include "view/mesh.h"

/* Draw each bar with its colour. In the plane (flat) joints are dots. */
scree_Status scree_render_bars(
    const scree_Replay *replay, const scree_ReplayFrame *frame, bool chains, bool flat,
    void (*draw)(void *user, const scree_DrawnMesh *mesh, const double rgb[3]), void *user);

#endif
