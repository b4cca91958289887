/* Mass properties of solids composed of pieces: volume, centroid, principal axes. */
#ifndef SCREE_GEOMETRY_PRINCIPAL_H
#define SCREE_GEOMETRY_PRINCIPAL_H

#include "math/vec3.h"

/* Integrals over a solid of unit density. */
typedef struct scree_Moments {
  double volume;
  scree_Vec3 first;    /* of x */
  double second[3][3]; /* of x_i x_j */
} scree_Moments;

/* Add a piece with centroid c whose axes are R and whose principal moments about c are J. */
void scree_moments_add(scree_Moments *sum, double volume, scree_Vec3 c, const scree_Mat3 *R,
                       scree_Vec3 J);
/* The same of the plane: polar moment J.z. */
void scree_moments_add_flat(scree_Moments *sum, double area, scree_Vec3 c, double polar);

/* Add the tetrahedron a, b, c, d; its sign is that of (b - a) . (c - a) x (d - a). */
void scree_moments_add_tetrahedron(scree_Moments *sum, scree_Vec3 a, scree_Vec3 b, scree_Vec3 c,
                                   scree_Vec3 d);

/* Centroid and principal axes as a pose in the given coordinates, and the moments about them. Axes
 * that are principal up to rounding are not changed, so that a solid that is already in its
 * principal frame keeps it. */
scree_Pose scree_moments_frame(const scree_Moments *sum, scree_Vec3 *inertia);

/* Make the symmetric matrix `a` diagonal by rotations of its axes (Jacobi): V, a rotation, is
 * multiplied by them from the right. Axes that are principal already stay in their order. */
void scree_axes_rotate(double a[3][3], double V[3][3]);
/* The orientation whose axes are the columns of the rotation V. */
scree_Quat scree_axes_quat(const double V[3][3]);

#endif
