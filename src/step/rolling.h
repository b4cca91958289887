/* The problem of a step in full rows: all contacts and joints as constraints of any size.
 *
 * A divided world poses it in this form where it has joints or deformable bodies, since its parts
 * are then alike. So does every world in which some pair of materials resists rolling or spinning:
 * contacts of such pairs have 3 rows in 2D and 6 in 3D (SCREE_SET_ROLLING), the others d, and the
 * joints follow.
 * Rotations are multiplied by the radius R of the contact, half the width of the smaller body, so
 * that all rows are velocities:
 *     u = ( u_n, u_T, R w.t1, R w.t2, R w.n ) ,   w = w_i - w_j ,   moments are R times impulses.
 * Everything else in a step (gaps, restitution, springs, energies) is on the first d rows of a
 * contact, which are copied back after each solve. */
#ifndef SCREE_STEP_ROLLING_H
#define SCREE_STEP_ROLLING_H

#include "scree/problem.h"

struct scree_System;

/* Lengths of its arrays: constraints, rows, entries and numbers of the blocks. */
typedef struct scree_RollingRoom {
  size_t constraints, rows, entries, numbers;
} scree_RollingRoom;

typedef struct scree_Rolling {
  scree_GeneralRows rows; /* the contacts, then the joints */
  double *q, *r, *u;      /* (rows) */
  double *mu;             /* (constraints) and their sets: */
  double *set_a, *set_b;
  uint8_t *set;
  scree_RollingRoom room;
} scree_Rolling;

void scree_rolling_fini(scree_Rolling *rolling);
size_t scree_rolling_memory(const scree_Rolling *rolling);
/* Rows, q, sets and r from the posed contacts and joints. */
scree_Status scree_rolling_pose(struct scree_System *s);
scree_Problem scree_rolling_problem(const struct scree_System *s);
/* After a solve: posed.r, posed.u and posed.moment. */
void scree_rolling_take(struct scree_System *s);
/* Add the dissipation by rolling and spinning, and the work of turning obstacles against it. */
void scree_rolling_work(const struct scree_System *s, double *friction, double *drivers);

#endif
