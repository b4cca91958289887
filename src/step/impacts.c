/* Impacts that a step does not resolve in time.
 *
 * All impacts of a step act in one kick, with the normals of that kick, up to half a step before or
 * after the bodies meet. A body that meets one other body is moved to where it would be (delay.c).
 * One that meets several is stopped by all of them together: where it would hit the first, slide
 * along it and then hit the second, its slip is taken by the impact, and energy that friction
 * should have taken is dissipated by impact. In disks that bounce in a box it was a twentieth of
 * all energy, and a seventh where a heavy plate falls on a loose packing.
 *
 * What is misplaced is a part of the energy of the impact that grows with the way of the bodies in
 * half a step over their size, s = |u-| h / (2 size):
 *
 *     error = sum of r |u-|/2 min(1, s)       energy = sum of r |u-|/2 + energy exchanged
 *
 * over contacts that approach each other, without those that are delayed in the first sum. In five
 * scenes compared with ensembles at h/8 the error in the split of dissipated energy is one to five
 * times error / energy; both fall like h^1.3 to h^1.5. The world divides its steps by it
 * (world/refine.c). */
#include "step/system.h"

/* Only the leapfrog is divided: with another theta a change of the step adds or takes energy
 * (certify.c). */
static bool divides(const scree_System *s) {
  return s->scheme->looks_ahead && s->scheme->theta(&s->settings) == 0.5 && !s->laws.any_terms &&
         !s->bodies.deformable_count;
}

scree_Impacts scree_system_impacts(const scree_System *s, const scree_EnergyBalance *step) {
  const scree_Bodies *b = &s->bodies;
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)b->dimension;
  double all[2] = {0, 0};
  if (!divides(s)) return (scree_Impacts){0, 0};
  for (int c = 0; c < p->nc; ++c) {
    const double r = p->r[(size_t)c * d], u = p->before[(size_t)c * d];
    if (!(r > 0 && u < 0)) continue;
    const scree_ContactKey *key = &s->contacts.keys[c];
    const double size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
    const double energy = -0.5 * r * u;
    if (p->delay[c] == 0) all[0] += energy * fmin(1, -0.5 * u * s->times.horizon / size);
    all[1] += energy;
  }
  scree_system_sums(s, all, 2);
  return (scree_Impacts){all[0], all[1] + scree_energy_exchanged(step)};
}
