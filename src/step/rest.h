/* Islands that rest in a world that does not, and the parts of a problem that are solved alone. */
#ifndef SCREE_STEP_REST_H
#define SCREE_STEP_REST_H

#include "problem/islands.h"
#include "step/system.h"

/* A part of the posed problem that is solved alone: the whole, or an island of it. */
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
/* Whether the settings allow it: not where each problem is to be solved once. */
bool scree_system_tightens(const scree_System *s);
/* After an attempt that succeeded or failed. */
void scree_pause_after(scree_Pause *pause, bool tight);
/* Work of a long attempt where bodies rest, if a sweep takes so long. */
double scree_system_rest_work(const scree_System *s, double sweep);

/* ---- rest.c ---------------------------------------------------------------------------------- */

/* Energy error of the current solution of a part. */
double scree_portion_defect(const scree_System *s, const scree_Portion *part);

/* The islands of a step, from before its solve until after it. */
typedef struct scree_Rest {
  scree_ArenaMark mark;
  scree_Islands islands; /* no island: none rests, or all do */
  double *loads;         /* (count) `rest` of the audit, of islands that rest; zero for others */
  double *start;         /* (nc x d) impulses of the last step */
} scree_Rest;

/* Before the solve: which islands rest. */
scree_Status scree_rest_begin(scree_System *s, const scree_Problem *problem, scree_Rest *rest);
/* After it: solve the islands that rest until errors do not move them. */
scree_Status scree_rest_hold(scree_System *s, const scree_Portion *whole, const scree_Rest *rest,
                             scree_StepReport *report);
/* Release the memory. */
void scree_rest_end(scree_System *s, const scree_Rest *rest);

#endif
