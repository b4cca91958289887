/* Impacts of bodies that stand on something else.
 *
 * The law on the gap at the next kick stops a body up to one step before it meets another one. A
 * body in free flight does not mind: it arrives where it should. But a body that stands on a second
 * contact, as a block that rocks from one edge to the other, leaves that support up to a step too
 * early, and its weight, which the support carried until the impact, takes energy from it instead.
 * The error is of first order in the step, always a loss, and repeated at every impact: a block
 * that rocks at the default step came to rest in three quarters of the time.
 *
 * The energy in question is the weight of the body times the gap that is open at the kick. Where it
 * is a relevant part of the energy of the world, the step is cut at the time of the impact
 * (world/step.c): the first part ends there, without the impact; the second one begins with a kick
 * without forces, which is the impact. Only the leapfrog is cut: with another theta a change of the
 * step adds or takes energy (certify.c). */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

/* Relevant part of the kinetic energy, or of the energy that lifts every body by a thousandth of
 * its size. */
static const double relevant = 1e-3, lifted = 1e-3;
/* A span ends so much before the impact that it does not feel it. */
static const double early = 0.98;

/* Force of gravity and other forces on body k; in a kick without forces that of gravity. */
static double force_on(const scree_System *s, int k) {
  const scree_Twist free = scree_system_free(s, k);
  const scree_Vec3 change = scree_sub(free.linear, s->bodies.motion[k].velocity.linear);
  const double mass = s->bodies.inertia[k].mass;
  return mass * fmax(scree_norm(change) / s->times.h, scree_norm(s->settings.gravity));
}

/* Number of contacts of each body that carried an impulse in the last step. */
static scree_Status count_supports(scree_System *s, double *supports) {
  const scree_Posed *p = &s->posed;
  for (int k = 0; k < s->bodies.count; ++k) supports[k] = 0;
  for (int c = 0; c < p->nc; ++c) {
    if (!p->loaded[c]) continue;
    supports[s->contacts.keys[c].i]++;
    supports[s->contacts.keys[c].j]++;
  }
  return s->domain.global && s->domain.size > 1 ? scree_domain_sum_bodies(s, supports) : SCREE_OK;
}

/* Weight of the bodies of contact c that another contact supports; supports null: of both. */
static double supported_weight(const scree_System *s, int c, const double *supports) {
  const int pair[2] = {s->contacts.keys[c].i, s->contacts.keys[c].j};
  double weight = 0;
  for (int side = 0; side < 2; ++side) {
    const int k = pair[side];
    if (!s->bodies.fixed[k] && (!supports || supports[k] > 0)) weight += force_on(s, k);
  }
  return weight;
}

/* Length of a span from the start of this one in which contact c does not close. Its gap is D, its
 * velocity u- up to the kick, which is at the same part of each span, and at most u- + A a in a
 * span a after the kick, where A is the acceleration without contacts. The true acceleration is
 * lower, so the span ends somewhat early; what is left is cut again, if it matters. */
static double span_before(const scree_System *s, int c, const double *before, const double *free) {
  const double h = s->times.h, after = s->times.rest / h;
  const double V = -before[0], A = fmax(0, before[0] - free[0]) / h;
  const double D = s->contacts.gap[c] + V * (1 - after) * h;
  return early * 2 * D / (V + sqrt(V * V + 4 * after * A * D));
}

/* The shortest span before an impact by which more than `energy` is lost, or infinity. */
static double first_impact(const scree_System *s, double energy, const double *supports) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension;
  double first = INFINITY;
  for (int c = 0; c < p->nc; ++c) {
    const double gap = s->contacts.gap[c];
    if (p->loaded[c] || !(gap > 0) || !(p->r[(size_t)c * d] > 0)) continue;
    double before[3], free[3];
    scree_system_approach(s, c, before, free);
    if (before[0] < 0 && supported_weight(s, c, supports) * gap > energy)
      first = fmin(first, span_before(s, c, before, free));
  }
  return -scree_system_max(s, -first);
}

scree_Status scree_system_event(scree_System *s, double kinetic, double *time) {
  const scree_Posed *p = &s->posed;
  const double energy = relevant * fmax(kinetic, lifted * s->audit.weight);
  *time = -1;
  if (!s->scheme->looks_ahead || s->scheme->theta(&s->settings) != 0.5 || p->all == 0 ||
      !p->shift || s->laws.any_terms || s->laws.any_rolling || s->bodies.deformable_count ||
      s->joints.count > 0)
    return SCREE_OK;
  if (!isfinite(first_impact(s, energy, NULL))) return SCREE_OK; /* most steps */
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  double *supports = SCREE_TAKE_RAW(&s->scratch, double, s->bodies.count);
  scree_Status status = supports ? SCREE_OK : scree_fail_memory(s->log, "the supports of bodies");
  status = scree_domain_agree(s, status);
  if (!status) status = count_supports(s, supports);
  if (!status) {
    const double first = first_impact(s, energy, supports);
    if (isfinite(first)) *time = first;
  }
  scree_arena_release(&s->scratch, mark);
  return status;
}
