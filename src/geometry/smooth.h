/* Common normals of ellipses and ellipsoids by Newton's method in the direction of the normal. */
#ifndef SCREE_GEOMETRY_SMOOTH_H
#define SCREE_GEOMETRY_SMOOTH_H

#include "math/vec3.h"

#include <stdbool.h>

/* Two ellipsoids (or an ellipsoid and a point) in a space of k = 2 or 3 dimensions. */
typedef struct scree_SmoothPair {
  int k;
  double delta[3]; /* centre of the first relative to that of the second; k = 2: the third, and the
                    * third columns below, are 0 */
  double A[3][3];  /* row i: semi-axis i of the first, [3][k]; |A y| is its support value */
  double B[3][3];  /* the same for the second, [3][k] */
  bool point;      /* the second is a point: B is not used */
} scree_SmoothPair;

/* The unit y (from the second to the first) that makes the separation
 *     f(y) = y . delta - |A y| - |B y|
 * largest; returns that separation, the signed distance of the two. Stops early with any y whose
 * separation exceeds `enough`. */
double scree_smooth_separation(const scree_SmoothPair *pair, double enough, double y[3]);

/* From a unit y nearby to that direction, to 1e-6, by a few plain steps of Newton; false, and y as
 * it was, if these do not converge. */
bool scree_smooth_follow(const scree_SmoothPair *pair, double y[3]);

/* Rows semi_i * axis_i of a body with axes R in the basis [k]. */
void scree_smooth_rows(scree_Vec3 semi, const scree_Mat3 *R, int k, const scree_Vec3 basis[3],
                       double rows[3][3]);

/* The support point of an ellipsoid with axes R in direction n, relative to its centre. */
scree_Vec3 scree_smooth_support(scree_Vec3 semi, const scree_Mat3 *R, scree_Vec3 n);

/* An ellipse or ellipsoid in the frame of the body that it meets. */
typedef struct scree_Elliptic {
  scree_Vec3 centre, semi;
  scree_Mat3 axes;
} scree_Elliptic;

/* The point that is lowest along n. */
scree_Vec3 scree_elliptic_lowest(const scree_Elliptic *e, scree_Vec3 n);

/* The signed distance of `point` from the body in the space of basis [k], into which both are
 * projected: k = 2 with a basis across an edge gives that of its line. n is the unit direction from
 * the point to the body. Stops early with a separation above `enough`. */
double scree_elliptic_separation(const scree_Elliptic *e, scree_Vec3 point, int k,
                                 const scree_Vec3 basis[3], double enough, scree_Vec3 *n);

#endif
