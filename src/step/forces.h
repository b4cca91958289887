/* Errors of a solution compared with the forces alone. */
#ifndef SCREE_STEP_FORCES_H
#define SCREE_STEP_FORCES_H

#include "step/portion.h"

/* Continue the solve of the whole, and of each island, until its error is small compared with its
 * impulses. `known`: the islands of the whole, or none if they were not looked for. */
scree_Status scree_forces_refine(scree_System *s, const scree_Portion *whole,
                                 const scree_Islands *known, scree_StepReport *report);

#endif
