/* Meshes of finite elements, with all that does not change as they deform (total Lagrangian form):
 * the gradients of the shape functions at the points of integration, the surface, and the graph of
 * nodes that elements couple. */
#ifndef SCREE_ELEMENT_MESH_H
#define SCREE_ELEMENT_MESH_H

#include "scree/element.h"

enum { SCREE_ELEMENT_POINTS = 8, SCREE_ELEMENT_FACES = 6, SCREE_FACE_CORNERS = 4 };

/* A kind of element: corners in the element's own coordinates (-1 .. 1, simplices 0 .. 1),
 * points of integration with their weights, faces with outward orientation. */
typedef struct scree_ElementClass {
  const char *name;
  int dimension, corners, points, faces;
  int gmsh; /* its number in MSH files */
  double place[SCREE_ELEMENT_POINTS][3], weight[SCREE_ELEMENT_POINTS];
  int face_corners;
  int face[SCREE_ELEMENT_FACES][SCREE_FACE_CORNERS];
  int turned[SCREE_ELEMENT_CORNERS]; /* corners in the order of the mirrored element */
  /* Shape functions N (corners) and their derivatives at xi. */
  void (*shape)(const double *xi, double *N, double (*dN)[3]);
} scree_ElementClass;

extern const scree_ElementClass scree_element_classes[SCREE_ELEMENT_KINDS];

/* A mesh. Arrays of points of integration and of corners are in the order of the elements. */
struct scree_ElementMesh {
  int shared; /* number of owners besides the first */
  int dimension, node_count, element_count;
  scree_Vec3 *node;     /* (node_count) undeformed positions */
  uint8_t *kind;        /* (element_count) scree_ElementKind */
  size_t *corner_row;   /* (element_count + 1) where the corners of an element start */
  int *corner;          /* nodes of the elements */
  size_t *point_row;    /* (element_count + 1) where its points of integration start */
  double *volume;       /* (points) of the undeformed mesh */
  size_t *gradient_row; /* (element_count + 1) where its gradients start, in units of Vec3 */
  scree_Vec3 *gradient; /* (points x corners) of the shape functions, in the undeformed mesh */
  double *part;         /* (corner_row[element_count]) volume of a corner: integral of N */
  double total;         /* volume */
  scree_Vec3 centroid;
  /* Nodes that share an element: the blocks below the diagonal, as in scree_Vertices, and for each
   * element the blocks of its pairs of corners (a, b), b < a, in the order (1,0) (2,0) (2,1) ... */
  size_t *row;      /* (node_count + 1) */
  int *col;         /* (row[node_count]) ascending in each row */
  size_t *pair_row; /* (element_count + 1) */
  size_t *pair;     /* a block of the graph for each pair */
  /* The surface. */
  int face_count, surface_count;
  int *face_corners;               /* (face_count) 2, 3 or 4 */
  int (*face)[SCREE_FACE_CORNERS]; /* (face_count) nodes */
  int *face_element;               /* (face_count) */
  int *surface;                    /* (surface_count) nodes on the surface, ascending */
  double shortest;                 /* height of the thinnest element: volume over largest face */
};

static inline const scree_ElementClass *scree_element_class(const scree_ElementMesh *mesh,
                                                            int element) {
  return &scree_element_classes[mesh->kind[element]];
}

/* Find the surface (surface.c) and the graph of the nodes (graph.c) of a mesh that has elements. */
scree_Status scree_element_mesh_find_surface(scree_ElementMesh *mesh, const scree_Log *log);
scree_Status scree_element_mesh_find_graph(scree_ElementMesh *mesh, const scree_Log *log);

#endif
