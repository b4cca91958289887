/* What the files of sweeps (sweep.c, sweep_create.c) share. */
#ifndef SCREE_SOLVER_SWEEP_STATE_H
#define SCREE_SOLVER_SWEEP_STATE_H

#include "core/load.h"
#include "solver/lanes.h"
#include "solver/mechanism.h"
#include "solver/momentum.h"
#include "solver/singles.h"
#include "solver/sweep.h"

/* Contacts from which a problem is coloured, and from which it is if visits have vector lanes. */
enum { SCREE_COLOURED_CONTACTS = 1500, SCREE_LANED_CONTACTS = 64 };
enum { SCREE_CHANGE_STRIDE = 8 }; /* no two threads write to one cache line */

struct scree_Sweeps {
  scree_SweepSettings settings;
  const scree_Colouring *order; /* of the contacts, kept with the graph */
  scree_Lanes lanes;
  bool in_lanes;
  scree_Singles *singles;       /* in place of the lanes, or null */
  bool loaded;                  /* the lanes hold r and y of the last call */
  double *y;                    /* state of W */
  int stale;                    /* sweeps since y was computed from r */
  double left_out;              /* of all calls, see scree_sweeps_left_out */
  scree_SweepChange *changes;   /* (threads x SCREE_CHANGE_STRIDE) work space of sweep_parallel */
  scree_Mechanisms *mechanisms; /* of the run, or null */
  scree_Poll *poll;             /* of the run */
  scree_MachineLoad *load;      /* of the run, or null: always all threads */
  scree_Momentum momentum;      /* no parts: sweeps are plain */
  scree_MomentumState speed;
  bool moving; /* `speed` belongs to the last call */
  /* on several ranks: */
  scree_DivisionStages
      stages; /* of exact sweeps; `own_order` is their order of this rank's contacts */
  scree_Colouring own_order;
  double *before, *factor; /* (rows), (constraints) relaxed: r before the sweep, 1/m */
};

/* The first impulses, those that are held in lanes or as floats. */
static inline size_t scree_sweeps_in_lanes(const scree_Sweeps *sweeps, const scree_Operator *W) {
  return scree_sweeps_batched(sweeps) ? (size_t)W->problem->nc * (size_t)W->problem->d : 0;
}

#endif
