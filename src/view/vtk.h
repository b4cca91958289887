/* A run as VTK XML files for ParaView: OUT/bodies.pvd (points with all fields: spheres by glyphs),
 * OUT/shapes.pvd (triangles of everything that is no sphere) and OUT/contacts.pvd (points with
 * impulses and status), each a series in time. */
#ifndef SCREE_VIEW_VTK_H
#define SCREE_VIEW_VTK_H

#include "run/frames.h"

/* Frames first, first + every, ...; the folder `directory` is there. *written counts frames. */
scree_Status scree_vtk_write(scree_Replay *replay, const char *directory, int every, int *written);

#endif
