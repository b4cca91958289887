/* Islands that rest in a world of which other parts move. */
#ifndef SCREE_STEP_REST_H
#define SCREE_STEP_REST_H

#include "step/portion.h"

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
