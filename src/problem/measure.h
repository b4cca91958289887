/* Measuring an iterate inside a solve: the same formulas as scree_problem_measure, for the one
 * value that stops the solve, on velocities that the solver keeps itself. */
#ifndef SCREE_PROBLEM_MEASURE_H
#define SCREE_PROBLEM_MEASURE_H

#include "core/private.h"
#include "problem/operator.h"
#include "scree/measure.h"

/* The value of `measure` for impulses r with velocities u = W r + q. SCREE_MEASURE_INCREMENT has no
 * value here and gives infinity. */
SCREE_PRIVATE double scree_measure_value(const scree_Operator *W, scree_Measure measure,
                                         const double *r, const double *u);

/* All measures, for r with velocities u; u_claimed (or null) is compared with u for eps_motion. */
SCREE_PRIVATE void scree_measure_all(const scree_Operator *W, const double *r, const double *u,
                                     const double *u_claimed, scree_Measures *measures);

/* |r - P(r - rho(u+s))| of contact c alone; r, u (rows). Over measures.scale, with measures.rho,
 * it is the contact's own part of `error`. */
SCREE_PRIVATE double scree_measure_contact(const scree_Problem *problem, int c, double rho,
                                           const double *r, const double *u);

#endif
