/* The picture that the software renderer draws, shared by its parts. */
#ifndef SCREE_VIEW_RENDER_CANVAS_H
#define SCREE_VIEW_RENDER_CANVAS_H

#include "run/frames.h"
#include "scree/view.h"

enum { OVERSAMPLE = 2, FLOOR = -1 };

typedef struct Colour {
  double r, g, b;
} Colour;

typedef struct Canvas {
  int width, height; /* of the large picture */
  float *depth;      /* length/distance; larger is nearer, 0: background */
  float *colour;     /* (height x width x 3) */
  int *owner;        /* body of each pixel; FLOOR: the background, or the surface of an unbounded
                        obstacle, which fades: it has no edges */
  int drawing;       /* owner of what is drawn now */
  double opacity;    /* of what is drawn; below 1: a ghost, which writes no depth */
  bool flat;
  scree_Vec3 right, up, back, eye; /* camera axes (eye looks along -back) and place */
  double focal;                    /* pixels per unit of x / z; flat: pixels per length */
  double near, length;             /* nearest that is drawn; unit of depth: the extent's */
} Canvas;

/* Place the camera. */
void scree_render_aim(Canvas *canvas, const scree_Replay *replay, const scree_ReplayFrame *frame,
                      const scree_ReplayExtent *extent, const scree_RenderSettings *settings);

/* Darken corners (ambient occlusion within `radius`) and edges of the drawn picture, from its
 * depths. */
scree_Status scree_render_shade(Canvas *canvas, double radius, const scree_Log *log);

/* The picture of the asked size, `pixels` (height x width x 3). */
void scree_render_average(const Canvas *canvas, int width, int height, unsigned char *pixels);

#endif
