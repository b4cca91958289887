/* How short steps have to be while a deformable body is hit (see ringing.h). */
#include "body/ringing.h"

#include <math.h>

static const struct {
  double step; /* part of the time of a wave that a step may be: 82 % of 83 % of the energy are kept
                  (ringing.h) */
  double soft; /* strain v / c by an impact above which that is so; steps of impacts that strain
                  less are longer by the square of soft c / v */
} rules = {.step = 0.2, .soft = 5e-3};

scree_Ringing scree_ringing(const scree_Elastic *e, double density, double size) {
  const double modulus = e->young * (1 - e->poisson) / ((1 + e->poisson) * (1 - 2 * e->poisson));
  const double half = 0.5 * size;
  return (scree_Ringing){half, half / sqrt(modulus / density)};
}

static double part_of(double waves) {
  const double x = 1.25 * waves * waves;
  return x / (1 + x);
}

double scree_ringing_accepted(void) {
  return part_of(rules.step);
}

double scree_ringing_step(const scree_Ringing *ringing, const scree_Elastic *e, double speed) {
  const double wave = ringing->wave;
  if (!(speed > 0) || e->explicit_ || e->damping >= wave) return INFINITY; /* resolved; or damped */
  const double stiffer = rules.soft * ringing->half / (speed * wave);
  return rules.step * wave * fmax(1, stiffer * stiffer);
}

double scree_ringing_error(const scree_Ringing *ringing, const scree_Elastic *e, double speed,
                           double h) {
  return part_of(rules.step * h / scree_ringing_step(ringing, e, speed));
}
