/* Contact points of two convex shapes along a known normal: their opposite features, clipped. */
#ifndef SCREE_GEOMETRY_MANIFOLD_H
#define SCREE_GEOMETRY_MANIFOLD_H

#include "geometry/narrow.h"
#include "geometry/shape_class.h"

/* A feature in the world frame, relative to some origin. */
void scree_feature_place(scree_Feature *feature, const scree_Mat3 *R, scree_Vec3 origin);

/* Add the points of features a and b (placed in one frame, b of the second body) that overlap as
 * seen along the unit normal n, with gaps up to `margin`; `origin` is added to their positions.
 * Returns the least gap of all points, INFINITY when there is none. */
double scree_feature_clip(const scree_Feature *a, const scree_Feature *b, scree_Vec3 n,
                          scree_Vec3 origin, double margin, scree_Manifold *manifold);

#endif
