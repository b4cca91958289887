/* Implicit Euler with the gap expanded to first order (003 (9)-(12), 002 (30)):
 *
 *     D + h u+_n >= 0   for every pair that can meet in the step,
 *     M (v_{k+1} - v_k) = h f + H^T r ,   q_{k+1} = q_k + h v_{k+1} ,
 *
 * so q_n = u_free,n + D/h. The distance of convex bodies is a convex function of their translation:
 * bodies that do not overlap at the start do not overlap at the end; where they turn, the gap is
 * expanded again at the end until that holds (overlap.c). Restitution, which 003 does
 * not have, acts in the step in which the bodies would meet: u+_n >= -e u-_n > 0 then implies the
 * condition on the gap. */
#include "step/system.h"

static double theta(const scree_WorldSettings *settings) {
  (void)settings;
  return 1;
}

static void shift(const scree_LawContact *law, int d, double h, double gap, const double *before,
                  const double *free, double *out) {
  const bool meets = gap + h * free[0] < 0;
  const double bounce = law->e_n * before[0];
  out[0] = gap / h;
  if (meets && bounce < 0 && bounce < out[0]) out[0] = bounce;
  for (int k = 1; k < d; ++k) out[k] = meets ? law->e_t * before[k] : 0;
}

const scree_SchemeClass scree_scheme_euler = {
    .name = "euler",
    .summary = "implicit Euler with the expanded gap: convex bodies do not overlap",
    .looks_ahead = true,
    .theta = theta,
    .shift = shift};
