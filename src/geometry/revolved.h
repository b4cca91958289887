/* The generating line of a pipe, funnel or ring, which is rotated about z. */
#ifndef SCREE_GEOMETRY_REVOLVED_H
#define SCREE_GEOMETRY_REVOLVED_H

#include "scree/shape.h"

/* In the half-plane (distance from the axis, z). The free side is that of the normal. */
typedef struct scree_Meridian {
  double start[2];
  double along[2];  /* unit */
  double normal[2]; /* unit; its first component is <= 0 */
  double length;
} scree_Meridian;

scree_Meridian scree_shape_meridian(const scree_Shape *shape);

/* A convex body inside a wall of revolution about z. */
typedef struct scree_InWall {
  scree_Vec3 (*support)(const void *body, scree_Vec3 direction); /* its furthest point */
  const void *body;
  scree_Vec3 centre;
  double reach;     /* bounding radius about the centre */
  double normal[2]; /* of the wall: along the distance from z, <= 0, and along z */
} scree_InWall;

enum { SCREE_AZIMUTHS = 64 }; /* samples around the axis */

/* The points of a round body that are locally nearest to the wall; returns their number. */
int scree_wall_nearest(const scree_InWall *in, scree_Vec3 nearest[SCREE_AZIMUTHS]);

/* Names of points that stay on their part of a body when their number changes: the octant of a
 * point in the frame of the body, and how many there were before it in the same octant. */
typedef struct scree_Octants {
  int count[8];
} scree_Octants;

static inline int scree_octant_name(scree_Octants *seen, scree_Vec3 local) {
  const int octant = (local.x < 0) | (local.y < 0) << 1 | (local.z < 0) << 2;
  return octant + 8 * seen->count[octant]++;
}

#endif
