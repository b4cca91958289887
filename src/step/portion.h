/* Parts of the posed problem that are solved alone: the whole, or an island of it. */
#ifndef SCREE_STEP_PORTION_H
#define SCREE_STEP_PORTION_H

#include "problem/islands.h"
#include "step/system.h"

typedef struct scree_Portion {
  const scree_Problem *problem;
  scree_Solver *solver;
  double *r, *u;
  double allowed;   /* energy error */
  bool rests;       /* its bodies rest, and a long attempt to tighten may cost */
  double rest_work; /* this much */
} scree_Portion;

/* ---- solve.c --------------------------------------------------------------------------------- */

/* The settings of the first solve of a step; `begun`: r is a rough solution. */
scree_SolveSettings scree_system_solve_settings(const scree_System *s, bool begun);
/* Solve it once, with at most the work `most` and the work limit of the step. */
scree_Status scree_portion_solve(scree_System *s, const scree_Portion *part,
                                 scree_SolveSettings *settings, double most,
                                 scree_StepReport *report);
/* Lower the energy error of a solved part to the allowed one, in a long attempt or a short one. */
scree_Status scree_portion_tighten(scree_System *s, const scree_Portion *part, bool is_long,
                                   scree_SolveSettings *settings, scree_StepReport *report,
                                   bool *tight);
/* Measure the whole again, from the impulses alone, after parts of it have got others. */
scree_Status scree_portion_measure(scree_System *s, const scree_Portion *whole,
                                   scree_StepReport *report);
/* Whether the settings allow it: not where each problem is to be solved once. */
bool scree_system_tightens(const scree_System *s);
/* Whether its error is so low that rounding may not allow a lower one. */
bool scree_portion_is_exact(const scree_StepReport *report);
/* After an attempt that succeeded or failed. */
void scree_pause_after(scree_Pause *pause, bool tight, bool large);
/* Work of a long attempt where bodies rest, if a sweep takes so long. */
double scree_system_rest_work(const scree_System *s, double sweep);

/* ---- portion.c ------------------------------------------------------------------------------- */

/* Room for an island as a problem of its own, and the contacts of all islands in their order. */
typedef struct scree_PortionRoom {
  scree_Problem problem; /* its arrays; sizes are those of the island that was taken last */
  int *contact;          /* (nc) its contacts in the whole */
  int *local;            /* (bodies of the whole) number in the island, or -1 */
  int *ids;              /* (bodies of the island) */
  double *r, *u, *flow;
  int *first, *order; /* contacts of island k: order[first[k]] to order[first[k+1] - 1] */
} scree_PortionRoom;

/* Room for islands of up to `most` contacts, from the scratch memory of the step. The solver of
 * islands (`s->apart`) is made, too, if there is none. */
scree_Status scree_portion_room(scree_System *s, const scree_Problem *whole,
                                const scree_Islands *islands, int most, scree_PortionRoom *room);
/* Island k becomes the problem of the room, starting from the impulses `start` of the whole. */
void scree_portion_take(const scree_Problem *whole, const scree_Islands *islands, int k,
                        const double *start, scree_PortionRoom *room);
/* The island in the room. */
scree_Portion scree_portion_of(const scree_System *s, const scree_PortionRoom *room);
/* Its impulses become those of the whole. */
void scree_portion_put(const scree_PortionRoom *room, double *r);
/* The largest of the islands that are marked; 0 if there is none. */
int scree_portion_largest(const scree_Islands *islands, const bool *marked);

#endif
