/* One mesh for each different shape of a run, and for each body its number and scale: what VTK and
 * ParaView call glyphs with a table of sources. Bodies of one shape and any size share a mesh, and
 * so do all spheres, all ellipsoids and all boxes. */
#ifndef SCREE_VIEW_VTK_GLYPHS_H
#define SCREE_VIEW_VTK_GLYPHS_H

#include "run/frames.h"
#include "view/mesh.h"

enum { SCREE_GLYPHS_MAX = 256 };

typedef struct scree_Glyphs {
  int count;
  scree_DrawnMesh mesh[SCREE_GLYPHS_MAX]; /* (count) */
  int *glyph;    /* (bodies) -1: none: unbounded, or a shape beyond the last mesh */
  double *scale; /* (bodies x 3) */
} scree_Glyphs;

scree_Status scree_glyphs_init(scree_Glyphs *glyphs, const scree_Replay *replay, int segments);
void scree_glyphs_fini(scree_Glyphs *glyphs);

#endif
