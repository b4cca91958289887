/* Triangles of shapes, in the body's own frame: for VTK files and pictures. Unbounded shapes are
 * cut at `reach` from `centre`, the middle of the scene in that frame. */
#ifndef SCREE_VIEW_MESH_H
#define SCREE_VIEW_MESH_H

#include "scree/shape.h"

typedef struct scree_Mesh {
  size_t points, triangles;
  double *point;  /* (points x 3) */
  double *normal; /* (points x 3) unit, outward */
  int *triangle;  /* (triangles x 3) counter-clockwise seen from outside */
  bool sheet;     /* the surface of an unbounded solid: seen from its free side alone */
  size_t point_capacity, normal_capacity, triangle_capacity;
} scree_Mesh;

/* Replace the contents of `mesh` (zeroed before its first use). `segments`: corners of a circle. */
scree_Status scree_mesh_shape(const scree_Shape *shape, int segments, double reach,
                              scree_Vec3 centre, const scree_Log *log, scree_Mesh *mesh);
/* A cylinder of radius `radius` between two points, without ends. */
scree_Status scree_mesh_beam(scree_Vec3 from, scree_Vec3 to, double radius, int segments,
                             const scree_Log *log, scree_Mesh *mesh);
void scree_mesh_fini(scree_Mesh *mesh);

#endif
