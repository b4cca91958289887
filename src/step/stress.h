/* Self-stress that no load needs. */
#ifndef SCREE_STEP_STRESS_H
#define SCREE_STEP_STRESS_H

#include "step/portion.h"

/* The largest impulse of the whole over what the loads of the step can ask for; above 1 it is
 * self-stress. 0 where this is not known. */
double scree_stress(const scree_System *s, const scree_Portion *part);
/* Whether other impulses than `before` have brought self-stress. */
bool scree_stress_rises(const scree_System *s, const scree_Portion *part, const double *before);
/* After the solve: look for smaller impulses if they are self-stress. */
scree_Status scree_stress_relieve(scree_System *s, const scree_Portion *part,
                                  scree_StepReport *report);

#endif
