/* One VTK XML file of polygons (.vtp): points, cells and named arrays on them, with the numbers
 * appended as they are in memory. */
#ifndef SCREE_VIEW_VTK_FILE_H
#define SCREE_VIEW_VTK_FILE_H

#include "scree/base.h"

#include <stddef.h>

typedef enum scree_VtkType { SCREE_VTK_F64, SCREE_VTK_I32, SCREE_VTK_I64 } scree_VtkType;

typedef struct scree_VtkArray {
  const char *name;
  scree_VtkType type;
  int components;
  const void *values;
} scree_VtkArray;

/* Points (x 3), then cells: triangles (x 3) if `triangle` is there, lines (x 2) if `line` is, else
 * each point is a vertex. Arrays on points, then arrays on cells; their lists end with a null name.
 */
typedef struct scree_VtkPolygons {
  size_t points, triangles, lines;
  const double *point;
  const int *triangle, *line;
  const scree_VtkArray *point_arrays, *cell_arrays;
} scree_VtkPolygons;

scree_Status scree_vtk_write_polygons(const char *path, const scree_VtkPolygons *polygons,
                                      double time, const scree_Log *log);

#endif
