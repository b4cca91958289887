/* scree/element.h — meshes of finite elements and elastic materials.
 *
 * A mesh has nodes and elements: triangles and quadrilaterals in 2D (plane strain, unit thickness),
 * tetrahedra and hexahedra in 3D, also mixed. It is never changed after it is made, so that many
 * bodies can share one. */
#ifndef SCREE_ELEMENT_H
#define SCREE_ELEMENT_H

#include "scree/base.h"
#include "scree/pose.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Corners are numbered as in Gmsh: counter-clockwise in the plane; of a tetrahedron the first three
 * are counter-clockwise as seen from outside opposite the fourth; of a hexahedron the first four go
 * round its bottom, counter-clockwise as seen from above, the others lie above them. */
typedef enum scree_ElementKind {
  SCREE_ELEMENT_TRIANGLE,
  SCREE_ELEMENT_QUADRILATERAL,
  SCREE_ELEMENT_TETRAHEDRON,
  SCREE_ELEMENT_HEXAHEDRON,
  SCREE_ELEMENT_KINDS
} scree_ElementKind;

enum { SCREE_ELEMENT_CORNERS = 8 }; /* of an element, at most */

/* "triangle", "quadrilateral", "tetrahedron", "hexahedron"; null for other values. */
SCREE_API const char *scree_element_kind_name(scree_ElementKind kind);
SCREE_API int scree_element_kind_corners(scree_ElementKind kind);

typedef struct scree_ElementMesh scree_ElementMesh;

/* A mesh of the given nodes and elements. `corners` holds the nodes of the first element, of the
 * second, ... An element that is inside out is turned; one without volume or with a corner where it
 * is folded is refused, as is a node that no element has. All arrays are copied. */
SCREE_API scree_Status scree_element_mesh_create(int dimension, const scree_Vec3 *nodes,
                                                 int node_count, const uint8_t *kinds,
                                                 const int *corners, int element_count,
                                                 scree_ElementMesh **mesh, const scree_Log *log);

/* A block (a rectangle in 2D) with these half extents round the origin, cut into
 * divisions[0] x divisions[1] x divisions[2] equal hexahedra (quadrilaterals). */
SCREE_API scree_Status scree_element_mesh_create_block(int dimension, scree_Vec3 semi,
                                                       const int *divisions,
                                                       scree_ElementMesh **mesh,
                                                       const scree_Log *log);

/* Read a Gmsh file (MSH 2.2 or 4.1, ASCII). Its hexahedra and tetrahedra are taken, in a world of 2
 * dimensions its quadrilaterals and triangles; points, lines and, in 3D, faces are skipped, and
 * nodes that no element has are left out. Elements of higher order, prisms and pyramids are
 * refused. */
SCREE_API scree_Status scree_element_mesh_read(const char *path, int dimension,
                                               scree_ElementMesh **mesh, const scree_Log *log);
/* The same from memory; `path` for messages. */
SCREE_API scree_Status scree_element_mesh_parse(const char *path, const char *text, size_t length,
                                                int dimension, scree_ElementMesh **mesh,
                                                const scree_Log *log);

/* Meshes are shared: a copy counts, destroy frees the last. Null is allowed. */
SCREE_API scree_ElementMesh *scree_element_mesh_share(scree_ElementMesh *mesh);
SCREE_API void scree_element_mesh_destroy(scree_ElementMesh *mesh);

SCREE_API int scree_element_mesh_dimension(const scree_ElementMesh *mesh);
SCREE_API int scree_element_mesh_node_count(const scree_ElementMesh *mesh);
SCREE_API const scree_Vec3 *scree_element_mesh_nodes(const scree_ElementMesh *mesh);
SCREE_API int scree_element_mesh_element_count(const scree_ElementMesh *mesh);
/* The corners of an element, and its kind (or null). */
SCREE_API const int *scree_element_mesh_element(const scree_ElementMesh *mesh, int element,
                                                scree_ElementKind *kind);
/* Area in 2D. */
SCREE_API double scree_element_mesh_volume(const scree_ElementMesh *mesh);
SCREE_API scree_Vec3 scree_element_mesh_centroid(const scree_ElementMesh *mesh);
/* The faces of the surface, edges in 2D: 2, 3 or 4 nodes, counter-clockwise as seen from outside
 * (in 2D the solid is on the left of the edge). */
SCREE_API int scree_element_mesh_face_count(const scree_ElementMesh *mesh);
SCREE_API const int *scree_element_mesh_face(const scree_ElementMesh *mesh, int face, int *corners);

/* ---- elastic materials ----------------------------------------------------------------------- */

/* Elastic material (plane strain in 2D) and integration of deformable bodies. */
typedef struct scree_Elastic {
  double young;         /* Young's modulus, > 0 */
  double poisson;       /* > -1 and < 0.5 */
  double damping;       /* seconds, >= 0: viscous stress over the rate of elastic stress */
  bool explicit_;       /* A = M in 004 (3), stable for short steps only; else M + (h^2/4) K */
  bool keeps_shape;     /* pseudo-rigid: contacts see the undeformed shape, turned with the body */
  const char *model;    /* elements: "st-venant-kirchhoff" (also for null) or "neo-hookean" */
  double damping_mass;  /* elements: 1/s, >= 0, forces -damping_mass M v */
  bool consistent_mass; /* elements: masses between the nodes of an element, else lumped */
  /* elements: nodes that never move, those for which it is true at their first place; null: none.
   * Called while the body is added, once for each node in the order of their numbers. */
  bool (*held)(void *user, scree_Vec3 place);
  void *held_user;
} scree_Elastic;

/* Name and summary of model k, in the order of their registry; null after the last. */
SCREE_API const char *scree_elastic_model(int k, const char **summary);

#ifdef __cplusplus
}
#endif

#endif
