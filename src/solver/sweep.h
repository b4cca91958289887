/* Sweeps of non-linear Gauss-Seidel: every constraint is visited in turn, its local problem solved
 * with the others frozen. They are a method of their own (nlgs), and what newton, ipm, lemke and
 * auto smooth and polish with. */
#ifndef SCREE_SOLVER_SWEEP_H
#define SCREE_SOLVER_SWEEP_H

#include "solver/local.h"
#include "solver/solver.h"

typedef enum scree_SweepOrder {
  SCREE_ORDER_AUTO, /* coloured where it pays */
  SCREE_ORDER_NATURAL,
  SCREE_ORDER_COLOURED
} scree_SweepOrder;

typedef struct scree_SweepSettings {
  const scree_LocalClass *local; /* of contacts; constraints of any size are solved exactly */
  scree_LocalParameters parameters;
  scree_SweepOrder order;
} scree_SweepSettings;

typedef struct scree_Sweeps scree_Sweeps;

/* The exact local solution, in the best order. */
scree_SweepSettings scree_sweep_settings(void);

/* All memory is from the arena, which must live as long; there is nothing to destroy. */
scree_Status scree_sweeps_create(const scree_SolveRun *run, const scree_SweepSettings *settings,
                                 scree_Arena *arena, scree_Sweeps **sweeps);

/* Take r as the point to resume from; u = W r + q. */
void scree_sweeps_start(scree_Sweeps *sweeps, const scree_Operator *W, const double *r, double *u);

/* At most `count` sweeps from r, until one changes no more than `small` (negative: all of them);
 * then u = W r + q afresh. A visit goes `relaxation` times the way to its local solution where
 * balls meet, just there elsewhere. `resume` says that r is what the last call, or
 * `start`, left. Returns the
 * change of the last sweep, max |dr_n| + max |dr_T| (000 (4.15)), infinite if there was none; *done
 * counts them. */
double scree_sweeps_run(scree_Sweeps *sweeps, const scree_Operator *W, int count, double small,
                        double relaxation, bool resume, double *r, double *u, int *done);

/* Whether they take the fast way of contacts between balls. */
bool scree_sweeps_balls(const scree_Sweeps *sweeps);

#endif
