/* Closest points of a closed surface of triangles, for contacts of its own vertices and of those of
 * other bodies (collide_elements.c). */
#ifndef SCREE_GEOMETRY_SURFACE_H
#define SCREE_GEOMETRY_SURFACE_H

#include "core/private.h"
#include "geometry/trimesh.h"

/* A surface in the world. */
typedef struct scree_Surface {
  const scree_TriangleMesh *mesh;
  const scree_Pose *pose;
  scree_Mat3 axes;
  double size;
} scree_Surface;

static inline scree_Vec3 scree_surface_to_world(const scree_Surface *s, scree_Vec3 x) {
  return scree_add(s->pose->position, scree_mat3_mul(&s->axes, x));
}

static inline scree_Vec3 scree_surface_to_local(const scree_Surface *s, scree_Vec3 x) {
  return scree_mat3_tmul(&s->axes, scree_sub(x, s->pose->position));
}

typedef struct scree_Closest {
  const scree_Surface *surface;
  scree_Vec3 p;     /* in the frame of the surface */
  double best;      /* square of the distance */
  int triangle;     /* -1: none yet */
  scree_Vec3 on;    /* the closest point */
  int edge, vertex; /* that it lies on, or -1 */
} scree_Closest;

/* Data that decide whether a normal may act on a point `at`: the neighbours of vertex v of a
 * surface, or a point inside of the body whose corner it is. */
typedef struct scree_Corner {
  const scree_Surface *surface; /* null: `inner` counts */
  int v;
  scree_Vec3 at, inner;
} scree_Corner;

/* The closest point of a triangle (Ericson's regions): edge k is from corner k to the next. */
scree_Vec3 scree_closest_on_triangle(const scree_Vec3 *x, scree_Vec3 p, int *edge, int *corner);

/* Signed distance of a world point from a surface, negative inside, and the outward unit normal at
 * the closest point (world frame); false: further than the margin or deeper than the depth. */
SCREE_PRIVATE bool scree_surface_closest(const scree_Surface *s, scree_Vec3 p, double margin,
                                         double depth, scree_Closest *c, double *gap,
                                         scree_Vec3 *normal);

/* The same for a corner, with a normal that may act on it: that of the closest point, or for a
 * point inside that of the closest triangle above it. */
bool scree_surface_closest_acting(const scree_Surface *s, const scree_Corner *corner, double margin,
                                  double depth, scree_Closest *c, double *gap, scree_Vec3 *normal);

/* Whether the neighbours of a vertex do not lie far on the side that the normal comes from. */
bool scree_surface_in_cone(const scree_Surface *s, int v, scree_Vec3 normal);

#endif
