/* Distance of convex bodies known only by their support functions: GJK, and EPA by libccd. */
#ifndef SCREE_GEOMETRY_GJK_H
#define SCREE_GEOMETRY_GJK_H

#include "geometry/narrow.h"

/* The furthest point of `body` along `direction`. */
typedef scree_Vec3 (*scree_SupportFunction)(const void *body, scree_Vec3 direction);

/* Distance of two convex bodies, with its two points and the unit normal from the second to the
 * first, which is more accurate than the difference of the points when they nearly touch; exact to
 * rounding for polytopes, slower and to about half the digits for curved bodies. Returns 0 when
 * they overlap or touch to rounding; then the points are not set. `start` is any vector from the
 * second to the first. */
double scree_gjk_distance(scree_SupportFunction support_a, const void *a,
                          scree_SupportFunction support_b, const void *b, scree_Vec3 start,
                          scree_Vec3 *point_a, scree_Vec3 *point_b, scree_Vec3 *normal);

/* The same; returns some distance above `reach`, without the points, as soon as it is known that
 * the bodies are further apart than that. */
double scree_gjk_within(scree_SupportFunction support_a, const void *a,
                        scree_SupportFunction support_b, const void *b, scree_Vec3 start,
                        double reach, scree_Vec3 *point_a, scree_Vec3 *point_b, scree_Vec3 *normal);

/* The generic pair function, for any two convex shapes: one contact. */
void scree_collide_convex(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                          const scree_Pose *pb, double margin, scree_Manifold *manifold);

#endif
