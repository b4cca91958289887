/* Impacts that a step does not resolve in time.
 *
 * All impacts of a step act in one kick, with the normals of that kick, up to half a step before or
 * after the bodies meet. A body that meets one other body is moved to where it would be (delay.c).
 * One that meets several is stopped by all of them together: where it would hit the first, slide
 * along it and then hit the second, its slip is taken by the impact, and energy that friction
 * should have taken is dissipated by impact: at the default step a twentieth of all energy of
 * disks that bounce in a box, and a seventh where a heavy plate falls on a loose packing.
 *
 * What is misplaced is a part of the energy of the impact that grows with the way of the bodies in
 * half a step over their size, s = |u-| h / (2 size):
 *
 *     error = sum of r |u-|/2 min(1, s)       energy = sum of r |u-|/2 + energy exchanged
 *
 * over contacts that approach each other, in the first sum those of bodies with several that are
 * not delayed. In five scenes compared with ensembles at h/8 the error in the split of dissipated
 * energy is one to five times error / energy; both fall like h^1.3 to h^1.5. The world divides its
 * steps by it (world/refine.c). */
#include "core/log.h"
#include "step/system.h"

/* Part of its energy that an impact without friction dissipates below which steps are not divided
 * for it. They are cut instead (event.c). When parts could not be cut, a gas of disks with e_n =
 * 0.99 (0.98) that keeps 0.585 (0.391) of its energy kept 0.580 (0.380) without parts and 0.561
 * (0.374) with them, at a quarter of the step. */
static const double slight = 0.05;

/* Only the leapfrog is divided: with another theta a change of the step adds or takes energy
 * (certify.c). */
static bool divides(const scree_System *s) {
  return s->scheme->looks_ahead && s->scheme->theta(&s->settings) == 0.5 && !s->laws.any_terms &&
         !scree_system_deforms(s);
}

/* How many contacts of each body carry an impulse. */
static scree_Status count_contacts(scree_System *s, double *count) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension;
  for (int k = 0; k < s->bodies.count; ++k) count[k] = 0;
  for (int c = 0; c < p->nc; ++c) {
    if (p->r[(size_t)c * d] == 0) continue;
    count[s->contacts.keys[c].i]++;
    count[s->contacts.keys[c].j]++;
  }
  return s->domain.global && s->domain.size > 1 ? scree_domain_sum_bodies(s, count) : SCREE_OK;
}

/* Whether no body of contact c has another one. */
static bool is_alone(const scree_System *s, int c, const double *count) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  return (s->bodies.fixed[key->i] || count[key->i] <= 1) &&
         (s->bodies.fixed[key->j] || count[key->j] <= 1);
}

static void add_up(const scree_System *s, const double *count, double *error, double *energy) {
  const scree_Bodies *b = &s->bodies;
  const scree_Posed *p = &s->posed;
  for (int c = 0; c < p->nc; ++c) {
    const size_t at = (size_t)c * (size_t)b->dimension;
    const double r = p->r[at], u = p->before[at];
    if (!(r > 0 && u < 0)) continue;
    const scree_ContactKey *key = &s->contacts.keys[c];
    const double size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
    const double work = -0.5 * r * u;
    *energy += work;
    /* impacts that dissipate nearly nothing have nothing to split */
    const double e = scree_system_law(s, key->i, key->j)->e_n;
    if (!(p->mu[c] > 0) && 1 - e * e < slight) continue;
    if (p->delay[c] == 0 && !is_alone(s, c, count))
      *error += work * fmin(1, -0.5 * u * s->times.horizon / size);
  }
}

scree_Status scree_system_impacts(scree_System *s, const scree_EnergyBalance *step,
                                  scree_Impacts *impacts) {
  *impacts = (scree_Impacts){0, scree_energy_exchanged(step)};
  if (!divides(s)) return SCREE_OK;
  double sums[2] = {0, 0};
  if (s->posed.all > 0) {
    const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
    double *count = SCREE_TAKE_RAW(&s->scratch, double, s->bodies.count);
    scree_Status status = scree_domain_agree(
        s, count ? SCREE_OK : scree_fail_memory(s->log, "the impacts of a step"));
    if (!status) status = count_contacts(s, count);
    if (!status) add_up(s, count, &sums[0], &sums[1]);
    scree_arena_release(&s->scratch, mark);
    if (status) return status;
    scree_system_sums(s, sums, 2);
  }
  impacts->error = sums[0];
  impacts->energy += sums[1];
  return SCREE_OK;
}
