/* Loads on a part of the surface of a finite-element body: a force that is spread over faces, or
 * a pressure that follows them as they deform. */
#ifndef SCREE_BODY_PATCH_H
#define SCREE_BODY_PATCH_H

#include "body/bodies.h"
#include "parallel/ranks.h"

typedef struct scree_Patch {
  bool pressure;
  int node_count, face_count;
  int *node;     /* (node_count) */
  double *share; /* (node_count) of the force, the sum is 1 */
  int *face;     /* (face_count) of the mesh */
} scree_Patch;

/* The nodes that def->nodes chooses, where they are now. */
scree_Status scree_patch_create(const scree_Bodies *bodies, const scree_ForceDef *def,
                                scree_Patch **patch, const scree_Log *log);
/* The patch of the rank that has one, on all ranks; null: this one has none. */
scree_Status scree_patch_share(const scree_Ranks *ranks, scree_Patch **patch, const scree_Log *log);
void scree_patch_destroy(scree_Patch *patch);

/* Add its forces to `load` (components of the body); q are its coordinates. The pressure is f.z. */
void scree_patch_add(const scree_Patch *patch, const scree_Deformable *self, const double *q,
                     scree_Vec3 f, double *load);

#endif
