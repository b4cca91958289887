/* Forces, stiffness, mass and stress of a mesh of elements (total Lagrangian).
 *
 * Vectors of nodes have `dimension` numbers for each node, one node after the other. Matrices are
 * blocks (dimension x dimension, row by row): one for each node on the diagonal, and one for each
 * entry of the mesh's graph below it. All functions are pure and add up the elements in their
 * order, so that their bits depend on nothing else. */
#ifndef SCREE_ELEMENT_ASSEMBLE_H
#define SCREE_ELEMENT_ASSEMBLE_H

#include "core/private.h"
#include "element/elastic.h"
#include "element/mesh.h"

/* A tangent, the sum material * K_m + geometric * K_g, where K_m = B^T D B and K_g contains the
 * stress. With `definite`, D and the stress are replaced by positive semidefinite ones that are not
 * smaller (their difference from the true ones is positive semidefinite), and so are K_m and K_g.
 * K_m vanishes for rotations of the deformed body: K_m (w x x) = 0. */
typedef struct scree_ElementTangent {
  double material, geometric;
  bool definite;
  double *diagonal; /* (nodes) blocks */
  double *below;    /* (entries of the graph) blocks */
} scree_ElementTangent;

typedef struct scree_ElementResult {
  double energy; /* of strain */
  double power;  /* of the damping forces that are proportional to stiffness, <= 0 */
  int inverted;  /* elements that are inside out somewhere */
  int first;     /* the first of these, or -1 */
} scree_ElementResult;

/* At positions x of the nodes: add the internal forces to f (or null), with velocities v (or null)
 * those of the damping too, and the tangent -df/dx (or null) to its blocks. An element that is
 * inside out adds the forces that its material model gives there. */
void scree_element_assemble(const scree_ElementMesh *mesh, const scree_ElasticMaterial *elastic,
                            const double *x, const double *v, double *f,
                            const scree_ElementTangent *tangent, scree_ElementResult *result);

/* Mass of each node (lumped: rows of the consistent one added up). */
void scree_element_lump(const scree_ElementMesh *mesh, double density, double *mass);
/* The consistent mass: a number for each node, and one for each entry of the graph. */
void scree_element_mass(const scree_ElementMesh *mesh, double density, double *diagonal,
                        double *below);

/* Cauchy's stress of each element (6: xx, yy, zz, yz, zx, xy), the mean over its volume, into
 * `element`, and averaged at the nodes into `node`; either may be null. `node` has room for 7
 * numbers for each node: the stresses of all nodes, then one number for each node as workspace. */
void scree_element_stress(const scree_ElementMesh *mesh, const scree_ElasticMaterial *elastic,
                          const double *x, double *element, double *node);
/* The equivalent stress of von Mises. */
SCREE_PRIVATE double scree_stress_mises(const double *stress);

#endif
