/* Mechanisms: the constraints of any size that hold their vertices together, solved as one.
 *
 * Visited one by one in a sweep, the joints of a machine converge slowly, and a tolerance that
 * suits contacts leaves errors in them that the correction of drift turns into motion in the next
 * step: a motor that presses a bucket into gravel would shake it. Together they are a linear
 * system, small beside the contacts:
 *
 *     S dr = -u ,    S: the rows of W that hold, u their velocity.
 *
 * Bilateral constraints always hold; motors, friction and bonds hold inside their limits, stops
 * while they press. Those that do not hold are left to the visits one by one: S has a unit
 * row for each of them. S is sparse, since two constraints are coupled only by a vertex that they
 * share; it is factorised (math/factor.h) at the first visit and again when a constraint begins or
 * ceases to hold. Rows that depend on others, as in closed loops, have pivots of round-off: their
 * impulses stay as they are.
 *
 * The analysis of S is kept for the next problem with the same pattern. It follows from the pattern
 * alone, so that a solver that starts anew gives the same bits. */
#ifndef SCREE_SOLVER_MECHANISM_H
#define SCREE_SOLVER_MECHANISM_H

#include "core/poll.h"
#include "math/factor.h"
#include "problem/general.h"

/* The pattern of S and its analysed factor, kept from solve to solve; zeroed before its first use.
 */
typedef struct scree_MechanismFactor {
  scree_Arena arena;
  int n, nb;   /* nodes of nb rows each */
  size_t *row; /* (n + 1) */
  int *col;    /* (row[n]) */
  scree_Factor *factor;
} scree_MechanismFactor;

typedef struct scree_Mechanisms {
  int count;       /* constraints that may hold, 0: no mechanism */
  int *constraint; /* (count) indices as in general.h, ascending */
  int *node;       /* (count + 1) their first nodes */
  bool *holds;     /* (general.count) */
  size_t *first;   /* (count + 1) neighbours of constraint k: first[k] .. first[k + 1] - 1 */
  int *neighbour;  /* (first[count]) by their numbers here, ascending, itself among them */
  size_t *start;   /* (vertices + 1) entries of the constraints, by vertex */
  size_t *entry;   /* (start[vertices]) */
  int *owner;      /* (start[vertices]) constraint of the entry, by its number here */
  const scree_MechanismFactor *kept;
  int *column;      /* (count) work space: where a neighbour's columns are in the rows of another */
  double *S;        /* (row[n] x nb x nb) lower half */
  double *x, *room; /* (n x nb) work space */
  int changes;      /* of what holds since they were created */
  bool stale;       /* what holds has changed since the factorisation */
} scree_Mechanisms;

/* Where a problem is divided, those of this rank. r: impulses to begin with. Memory is from the
 * arena, and what is kept from that of `kept`. No mechanism: no two constraints share a vertex, or
 * their factorisation would take much longer than sweeps do. */
scree_Status scree_mechanisms_create(const scree_Operator *W, const double *r, scree_Arena *arena,
                                     scree_MechanismFactor *kept, scree_Poll *poll,
                                     const scree_Log *log, scree_Mechanisms *mechanisms);

/* Solve what holds: r and the velocities of the vertices change; returns the largest change of r.
 */
double scree_mechanisms_visit(scree_Mechanisms *mechanisms, const scree_Operator *W,
                              const scree_VertexState *state, double *r);

#endif
