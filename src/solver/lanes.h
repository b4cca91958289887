/* Gauss-Seidel over bodies, four contacts at a time.
 *
 * Contacts of one colour are not coupled, so a sweep may visit four of them in the lanes of a
 * vector register. Their data are copied once into batches in the order of the visits, so that a
 * sweep streams through memory and its only scattered accesses are the velocities of the bodies. A
 * lane's arithmetic does not depend on the other lanes, so neither batches nor threads change bits.
 *
 * Between balls (balls.h) a batch holds the normals and arms instead of B, and the local solution
 * needs no root finding: two or three times faster. Problems whose dense blocks turn out to be
 * those of balls are swept in the same way, with tangents rotated into those of the balls.
 *
 * Supported: Coulomb's cone with the exact local solution, rigid bodies (2D and 3D), and a diagonal
 * compliance that is the same along both tangents, the cases in which a sweep has to be fast. All
 * other cases take the general path of nlgs.c. */
#ifndef SCREE_SOLVER_LANES_H
#define SCREE_SOLVER_LANES_H

#include "math/simd.h"
#include "solver/colouring.h"

/* The largest changes of one sweep: |dr_n| and |dr_T|^2 */
typedef struct scree_SweepChange {
  double normal, tangent2;
  int visited; /* batches, or contacts one by one */
} scree_SweepChange;

enum { SCREE_LANES_AHEAD = 4 }; /* batches past the end whose bodies may be prefetched */

/* Which contact is in which lane. In each colour the contacts that are expected to carry an impulse
 * come first, in batches of their own. */
typedef struct scree_LaneLayout {
  int batches, width; /* width: lanes of a batch */
  int *start;         /* (colours + 1) batches of a colour */
  int *open;          /* (colours) the first of its batches that are expected to stay without */
  int *contact;       /* (batches x width) contact of a lane, -1 for padding */
  int *body;          /* (batches x 2 x width) its bodies, nbodies for the ground */
} scree_LaneLayout;

typedef struct scree_Lanes {
  bool balls, soft; /* the form of balls; with compliance */
  int d, stride;    /* stride: doubles per body in y, a multiple of four */
  int nbodies;      /* y holds one more, the ground, always zero */
  int colours;      /* of the colouring */
  const int *start; /* these four are of the layout */
  const int *open;
  const int *contact;
  const int *body;
  int size;          /* of a batch, see lanes.c */
  scree_Lane *batch; /* (batches x size) */
  scree_Lane *r;     /* (batches x d) */
  double *turn;      /* (nc x (d-1) x (d-1)) tangents of a contact by those of the balls, or null */
  double *y;         /* ((nbodies + 1) x stride) scaled velocities of the bodies */
  bool pauses; /* whether a batch that did not change is left out of the next sweep, if it stays so
                  of two, of four ...: most contacts that are found do not close */
  unsigned char *wait, *pause; /* (batches) sweeps to leave out; the length of the last pause */
} scree_Lanes;

/* Numbers of a batch, see lanes.c. */
static inline int scree_lane_batch_size(bool balls, bool soft, int d, int nb) {
  return (balls ? d + 4 + d + 1 : 2 * d * nb + d * (d + 1) / 2 + 1 + d + 1) + (soft ? 2 : 0);
}

/* Whether the contacts of a problem can be swept in lanes. */
bool scree_lanes_fit(const scree_Operator *W);

/* r (nc x d): impulses to begin with. left_out (nc) or null: contacts that no batch has. */
scree_Status scree_lane_layout_create(const scree_Operator *W, const scree_Colouring *colouring,
                                      const double *r, const bool *left_out, int width,
                                      scree_Arena *arena, scree_LaneLayout *layout,
                                      const scree_Log *log);

/* Batches with the numbers of W's problem. The layout must outlive them; the rest is taken from the
 * arena. */
scree_Status scree_lanes_create(const scree_Operator *W, const scree_Colouring *colouring,
                                const scree_LaneLayout *layout, scree_Arena *arena,
                                scree_Lanes *lanes, const scree_Log *log);

/* Load the impulses r (nc x d) and the state y of the operator that belongs to them; no batch
 * pauses. */
void scree_lanes_set(scree_Lanes *lanes, const double *r, const double *y, int threads);

/* Load y alone. */
void scree_lanes_refresh(scree_Lanes *lanes, const double *y, int threads);

/* Store the impulses into r. */
void scree_lanes_get(const scree_Lanes *lanes, double *r, int threads);

/* Store the velocities of the bodies, as the state of the operator. */
void scree_lanes_state(const scree_Lanes *lanes, double *y, int threads);

/* Visit batches first .. last-1, which must belong to one colour if other threads work too. */
scree_SweepChange scree_lanes_visit(scree_Lanes *lanes, int first, int last);

#endif
