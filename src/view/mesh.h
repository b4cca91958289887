/* Triangles of shapes, in the body's own frame: for VTK files and pictures. Unbounded shapes are
 * cut at `reach` from `centre`, the middle of the scene in that frame. */
#ifndef SCREE_VIEW_MESH_H
#define SCREE_VIEW_MESH_H

#include "scree/run.h"

typedef struct scree_DrawnMesh {
  size_t points, triangles;
  double *point;  /* (points x 3) */
  double *normal; /* (points x 3) unit, outward */
  int *triangle;  /* (triangles x 3) counter-clockwise seen from outside */
  double *value;  /* (points) equivalent stress, if `stressed` */
  bool stressed;
  bool sheet; /* the surface of an unbounded solid: seen from its free side alone */
  size_t point_capacity, normal_capacity, triangle_capacity, value_capacity;
} scree_DrawnMesh;

/* Replace the contents of `mesh` (zeroed before its first use). `segments`: corners of a circle. */
scree_Status scree_mesh_shape(const scree_Shape *shape, int segments, double reach,
                              scree_Vec3 centre, const scree_Log *log, scree_DrawnMesh *mesh);
/* The same of the deformed surface of a finite-element body of a frame, in the frame of `pose`,
 * with von Mises' stress at its points. */
scree_Status scree_mesh_nodes(const scree_ReplayBody *body, const scree_ReplayFrame *frame,
                              const scree_Pose *pose, const scree_Log *log, scree_DrawnMesh *mesh);
/* Whether a body has nodes in a frame. */
static inline bool scree_mesh_has_nodes(const scree_ReplayBody *body,
                                        const scree_ReplayFrame *frame) {
  return body->surface_node && body->node_first + body->node_count <= frame->nodes;
}
/* Von Mises' stress of a node of a frame, and the mean over the nodes of a body. */
double scree_node_mises(const scree_ReplayFrame *frame, int node);
double scree_mesh_mean_mises(const scree_ReplayBody *body, const scree_ReplayFrame *frame);
/* A cylinder of radius `radius` between two points, without ends. */
scree_Status scree_mesh_beam(scree_Vec3 from, scree_Vec3 to, double radius, int segments,
                             const scree_Log *log, scree_DrawnMesh *mesh);
void scree_mesh_fini(scree_DrawnMesh *mesh);

#endif
