/* Implicit Euler with the gap expanded to first order (003 (9)-(12), 002 (30)):
 *
 *     D + h u+_n >= 0   for every pair that can meet in the step,
 *     M (v_{k+1} - v_k) = h f + H^T r ,   q_{k+1} = q_k + h v_{k+1} .
 *
 * It is moreau-jean with theta = 1: gaps are known at the start of a step, and the positions at its
 * end, which are the ones that are saved, do not overlap. The drawback is order 1 in free flight.
 */
#include "step/system.h"

static double theta(const scree_WorldSettings *settings) {
  (void)settings;
  return 1;
}

const scree_SchemeClass scree_scheme_euler = {
    .name = "euler",
    .summary =
        "implicit Euler method; the law contains the gap at the end of the step, as in 002 and 003",
    .looks_ahead = true,
    .theta = theta,
    .shift = scree_shift_ahead};
