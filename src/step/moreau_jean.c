/* Moreau's time stepping with Jean's theta (000 section 4, 001 section 2):
 *
 *     q_m = q_k + (1 - theta) h v_k ,   contacts where the gap at q_m is closed,
 *     M (v_{k+1} - v_k) = h f + H^T r ,   q_{k+1} = q_m + theta h v_{k+1} ,
 *
 * with theta = 1/2 the midpoint rule. Newton's impact law asks for the complementarity of r with
 * u+ + e u-, component by component, so q = u_free + e u- (DESIGN: without the papers' division by
 * 1 + e). */
#include "step/system.h"

static double theta(const scree_WorldSettings *settings) {
  return settings->theta;
}

static void shift(const scree_LawContact *law, int d, double h, double gap, const double *before,
                  const double *free, double *out) {
  (void)h;
  (void)gap;
  (void)free;
  out[0] = law->e_n * before[0];
  for (int k = 1; k < d; ++k) out[k] = law->e_t * before[k];
}

const scree_SchemeClass scree_scheme_moreau_jean = {
    .name = "moreau-jean",
    .summary = "theta-scheme with contacts at the predicted mid-position and Newton impact",
    .drifts = true,
    .theta = theta,
    .shift = shift};
