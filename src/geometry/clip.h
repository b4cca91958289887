/* Corners of a face that is clipped to another one: what clipping of boxes (collide_flat3.c) and of
 * other features (manifold.c) have in common. */
#ifndef SCREE_GEOMETRY_CLIP_H
#define SCREE_GEOMETRY_CLIP_H

#include <stdint.h>

/* A corner in the frame of the clipping face: u along the face, its height, its id, and the edge
 * from it to the next corner: an edge of the clipped body (>= 0), or -1 - (side of the clipping
 * face). */
typedef struct scree_ClipCorner {
  double u[2], height;
  uint32_t feature;
  int edge;
} scree_ClipCorner;

/* A corner beyond a side of the clipping face by less than this part of the face's extent is
 * inside. Otherwise rounding would decide in each step whether faces that only share an edge
 * (bricks whose joints are aligned, the blocks of a vault) touch there, and their loads would never
 * settle. */
#define SCREE_CLIP_ALONG 1e-6

/* Corners of the result this close to the line between their neighbours, as a part of the face's
 * extent, are dropped, since the neighbours support the same load. Otherwise faces whose corners or
 * edges coincide up to rounding (boxes that are stacked exactly) would give up to eight points, at
 * different positions in each step, and a singular problem. */
#define SCREE_CLIP_STRAIGHT 1e-5

/* Drop the corners that are within `most` of the line between their neighbours; returns the number
 * of the others. */
int scree_clip_straighten(scree_ClipCorner *x, int count, double most);

#endif
