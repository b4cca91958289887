/* scree/cell.h — definition of a periodic cell.
 *
 * The world is repeated along the sides of a box, so that a packing has no walls. Bodies that leave
 * the box enter it again on the opposite side. The box may be deformed by a velocity gradient, or
 * along its axes by a pressure. */
#ifndef SCREE_CELL_H
#define SCREE_CELL_H

#include "scree/base.h"
#include "scree/pose.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start from scree_cell_def(). */
typedef struct scree_CellDef {
  scree_Vec3 origin; /* corner with the smallest coordinates */
  scree_Vec3 size;   /* lengths of the sides along x, y, z; 0: not periodic along it */
  /* Rates at which the cell is deformed, row by row: the velocity at x is gradient x, for instance
   * gradient[1] = 2 for a shear along x of 2/s across y; 1/s */
  double gradient[9];
  /* Instead, or null: a pure function of (user, time), which outlives the world. */
  void (*function)(void *user, double time, double gradient[9]);
  void *user;
  /* Pressure along x, y, z at which the side is held, Pa (N/m in 2D); NAN: not controlled. It
   * takes the place of that entry of the diagonal of the gradient. */
  double pressure[3];
} scree_CellDef;

SCREE_API scree_CellDef scree_cell_def(void);

/* A cell as it is. */
typedef struct scree_CellInfo {
  scree_Vec3 origin;  /* the corner as it is: the middle stays in place when the sides change */
  scree_Vec3 side[3]; /* unit vectors where it is not periodic */
  bool periodic[3];
  double volume;    /* area in 2D; 0 if it is open in some direction */
  double strain[9]; /* integral of the velocity gradient over time, row by row */
  double stress[9]; /* of the last step, row by row: -(1/V) (sum f (x) branch + sum m v' (x) v'),
                     * v' without the motion of the cell; compression is negative */
  double work;      /* done by the cell on the bodies since the start, J */
} scree_CellInfo;

#ifdef __cplusplus
}
#endif

#endif
