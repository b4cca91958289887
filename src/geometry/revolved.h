/* The line that makes a pipe, funnel or ring when it is turned about z. */
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

#endif
