/* Moreau's time stepping with Jean's theta as 000 (section 4) and 001 (section 2) print it:
 * contacts exist where the gap at the middle position is closed, and the law is on velocities
 * alone. Newton's impact law requires the complementarity of r with u+ + e u-, component by
 * component, so q = u_free + e u- (DESIGN: without the papers' division by 1 + e).
 *
 * It is provided to reproduce the papers' figures only: bodies meet in mid-step and keep the
 * overlap, fast ones tunnel, and a loaded contact whose gap opens by rounding does not exist for a
 * step. */
#include "step/system.h"

static double theta(const scree_WorldSettings *settings) {
  return settings->theta;
}

static double shift(const scree_LawContact *law, int d, const scree_Approach *approach, double *out,
                    double *delay) {
  *delay = 0;
  out[0] = law->e_n * approach->before[0];
  for (int k = 1; k < d; ++k) out[k] = law->e_t * approach->before[k];
  return 0;
}

const scree_SchemeClass scree_scheme_moreau_jean_closed = {
    .name = "moreau-jean-closed",
    .summary = "theta scheme of 000 and 001 as printed: the law contains velocities of closed "
               "contacts only; for comparison with these papers",
    .theta = theta,
    .shift = shift};
