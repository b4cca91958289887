/* Common parts of projected gradient methods: the metric, the projected step, the largest
 * eigenvalue.
 *
 * The metric. Y is a product of one set per contact, so scaling the step of each contact by its own
 * factor leaves the projection exact: r_c <- P_Yc(r_c - (step / w_c) g_c). With w_c the mean of
 * the diagonal of W_cc, bodies of very different masses converge at the same rate. This is gradient
 * descent in the norm |x|_w^2 = sum w_c |x_c|^2, and "L" means the largest eigenvalue of w^-1/2 W
 * w^-1/2. w = 1 is the choice of the papers. */
#ifndef SCREE_SOLVER_GRADIENT_H
#define SCREE_SOLVER_GRADIENT_H

#include "problem/operator.h"

/* w (constraints): the mean diagonal of each W_cc, positive. */
void scree_gradient_weights(const scree_Operator *W, double *w);

/* out = P_Y(x - (step / w) g), all (rows); `out` may be x. A null g only projects. */
void scree_gradient_step(const scree_Operator *W, const double *w, double step, const double *x,
                         const double *g, double *out);

/* The largest eigenvalue of w^-1/2 W w^-1/2 from a few Lanczos steps: a lower bound, mostly within
 * a few per cent. `work` (4 x rows) and `state` (W->state_size) are scratch. The same bits for any
 * number of threads; 1 when W is zero. */
double scree_gradient_eigenvalue(const scree_Operator *W, const double *w, double *work,
                                 double *state);

#endif
