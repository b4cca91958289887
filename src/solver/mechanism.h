/* Mechanisms: the constraints of any size that hold their vertices together, solved as one.
 *
 * Visited one by one in a sweep, the joints of a machine converge slowly, and a tolerance that
 * suits contacts leaves errors in them that the correction of drift turns into motion in the next
 * step: a motor that presses a bucket into gravel would shake it. Together they are a linear
 * system, small beside the contacts:
 *
 *     S dr = -u ,    S: the rows of W that hold, u their velocity.
 *
 * Bilateral constraints always hold; motors and friction of limited force hold inside their limit,
 * stops while they press. Those that do not hold are left to the visits one by one. S = L D L^T is
 * factorised in envelope form, with the constraints in reverse order of Cuthill and McKee, and
 * again when one begins or ceases to hold. Rows that depend on others, as in closed loops, have
 * pivots of round-off: their impulses stay as they are. */
#ifndef SCREE_SOLVER_MECHANISM_H
#define SCREE_SOLVER_MECHANISM_H

#include "problem/general.h"

typedef struct scree_Mechanisms {
  int count;          /* constraints that may hold, in the order of elimination; 0: no mechanism */
  int *constraint;    /* (count) indices as in general.h */
  size_t *row;        /* (count + 1) their first rows */
  bool *holds;        /* (general.count) */
  size_t *first;      /* (rows) first column of a row of L */
  size_t *start;      /* (rows + 1) where that row starts in L; the diagonal is its last number */
  double *S, *L;      /* (start[rows]) */
  double *reciprocal; /* (rows) of the pivots, 0 for rows that do not hold */
  double *x;          /* (rows) work space */
  int changes;        /* of what holds since they were created */
  bool stale;         /* what holds has changed since the factorisation */
} scree_Mechanisms;

/* r: impulses to begin with. Memory is from the arena. No mechanism: no two constraints share a
 * vertex, or their factorisation would take much longer than sweeps do. */
scree_Status scree_mechanisms_create(const scree_Operator *W, const double *r, scree_Arena *arena,
                                     const scree_Log *log, scree_Mechanisms *mechanisms);

/* Solve what holds: r and the velocities of the vertices change; returns the largest change of r.
 */
double scree_mechanisms_visit(scree_Mechanisms *mechanisms, const scree_Operator *W,
                              const scree_VertexState *state, double *r);

#endif
