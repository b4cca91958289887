/* Triangle meshes as obstacles: neighbours, convex edges, and a tree of bounds.
 *
 * The solid is behind the triangles, whose corners are counter-clockwise as seen from outside.
 * Besides its faces only the convex edges and vertices of a mesh can be touched: an edge between
 * triangles of one plane, or in a valley, is no contact. So the edges between coplanar triangles
 * do not affect bodies that slide over them. */
#ifndef SCREE_GEOMETRY_TRIMESH_H
#define SCREE_GEOMETRY_TRIMESH_H

#include "core/private.h"
#include "math/vec3.h"
#include "scree/base.h"

typedef struct scree_MeshEdge {
  int vertex[2];   /* ascending */
  int triangle[2]; /* of which it is a side, ascending; -1: a border */
  bool sharp;      /* convex: between two planes, or a border */
} scree_MeshEdge;

typedef struct scree_MeshNode {
  scree_Aabb bounds;
  int first, count; /* leaf: triangles order[first] ..; count 0: children first, first + 1 */
} scree_MeshNode;

typedef struct scree_TriangleMesh {
  int vertex_count, triangle_count, edge_count, node_count;
  scree_Vec3 *vertex;   /* [vertex_count] */
  int (*triangle)[3];   /* [triangle_count] vertices */
  int (*side)[3];       /* [triangle_count] edges from corner k to k+1 */
  scree_Vec3 *normal;   /* [triangle_count] unit */
  scree_MeshEdge *edge; /* [edge_count] */
  bool *sharp;          /* [vertex_count] an end of a sharp edge */
  int *owner;           /* [vertex_count] the first triangle that has it */
  int *link_first;      /* [vertex_count + 1] */
  int *link;            /* edges of each vertex */
  scree_MeshNode *node; /* [node_count] the root first */
  int *order;           /* [triangle_count] */
} scree_TriangleMesh;

/* Vertices and triangles are copied. Degenerate triangles are rejected. */
SCREE_PRIVATE scree_Status scree_trimesh_create(const scree_Vec3 *vertices, int vertex_count,
                                                const int *triangles, int triangle_count,
                                                scree_TriangleMesh **mesh, const scree_Log *log);
SCREE_PRIVATE void scree_trimesh_destroy(scree_TriangleMesh *mesh);
size_t scree_trimesh_memory(const scree_TriangleMesh *mesh);

/* Call `visit` for every triangle whose bounds meet `box` (in the frame of the mesh), in an order
 * that depends on the mesh alone. */
void scree_trimesh_query(const scree_TriangleMesh *mesh, const scree_Aabb *box,
                         void (*visit)(void *user, int triangle), void *user);

/* A copy that can be deformed; null if out of memory. */
scree_TriangleMesh *scree_trimesh_copy(const scree_TriangleMesh *mesh);
/* Move the vertices: bounds and normals follow, which edges are convex stays as it was. */
void scree_trimesh_move(scree_TriangleMesh *mesh, const scree_Vec3 *vertices);

#endif
