/* How short steps have to be while a deformable body is hit.
 *
 * An impact strains a body by about v / c, v its speed and c that of elastic waves, and lasts for a
 * few times a / c, a half of the size of the body. The linearly implicit step gives the vibration
 * the inertia M + (h^2/4) K in place of M, so a step that is long against that time ends the impact
 * as that of a rigid body with e_n = 0. Of the energy of the impact the part
 *
 *     x / (1 + x) ,   x = h^2 k / (4 m) = 5/4 (h c / a)^2
 *
 * is lost by that, with mass m = M a^2 / 5 and stiffness k = M c^2 of the stretching of a ball of
 * mass M. Two balls of rubber (E = 1 MPa) that met at 1 m/s kept 28, 45, 69, 79, 82.1 and 83.0 % of
 * their energy at steps of 2.4, 1.6, 0.8, 0.4, 0.2 and 0.1 a / c. A body that the impact strains
 * little is taken as nearly rigid. */
#ifndef SCREE_BODY_RINGING_H
#define SCREE_BODY_RINGING_H

#include "core/private.h"
#include "scree/body.h"

typedef struct scree_Ringing {
  double half; /* a */
  double wave; /* a / c, the time in which an elastic wave covers it */
} scree_Ringing;

SCREE_PRIVATE scree_Ringing scree_ringing(const scree_Elastic *elastic, double density,
                                          double size);

/* The part of the energy of an impact at `speed` that a step h misplaces. */
double scree_ringing_error(const scree_Ringing *ringing, const scree_Elastic *elastic, double speed,
                           double h);
/* Largest such part that is accepted; and the longest step with it, infinite if any step has it. */
double scree_ringing_accepted(void);
SCREE_PRIVATE double scree_ringing_step(const scree_Ringing *ringing, const scree_Elastic *elastic,
                                        double speed);

#endif
