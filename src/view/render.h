/* A picture of a frame without any graphics system: triangles and balls in a depth buffer, lit as
 * on the page, written as PNG. */
#ifndef SCREE_VIEW_RENDER_H
#define SCREE_VIEW_RENDER_H

#include "run/frames.h"

typedef enum scree_RenderColour {
  SCREE_RENDER_VELOCITY,
  SCREE_RENDER_ANGULAR,
  SCREE_RENDER_SIZE,
  SCREE_RENDER_MATERIAL,
  SCREE_RENDER_ID,
  SCREE_RENDER_STRESS /* mean pressure */
} scree_RenderColour;

typedef struct scree_RenderSettings {
  int width, height; /* pixels */
  scree_RenderColour colour;
  bool chains;  /* force chains over the bodies, which become pale */
  bool tight;   /* frame the bodies of this frame; else the extent of the run (films) */
  double scale; /* upper end of the colour range; 0: from the run */
} scree_RenderSettings;

scree_RenderSettings scree_render_settings(void); /* 1280 x 800, velocity */

/* `pixels` (height x width x 3), from the top left. */
scree_Status scree_render(scree_Replay *replay, const scree_ReplayFrame *frame,
                          const scree_ReplayExtent *extent, const scree_RenderSettings *settings,
                          unsigned char *pixels);

/* The 99th percentile of the coloured quantity, over some frames. */
scree_Status scree_render_scale(scree_Replay *replay, scree_RenderColour colour, double *scale);

scree_Status scree_png_write(const char *path, int width, int height, const unsigned char *pixels,
                             const scree_Log *log);

#endif
