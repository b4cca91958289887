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

#endif
