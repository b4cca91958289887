/* Impacts for which a step is cut.
 *
 * 1. Impacts of bodies that leave a support. The law on the gap at the next kick stops a body up to
 * one step before it meets another one. For a body in free flight this makes no difference: its
 * position at the next kick is right. But a body that stands on a second contact, as a block that
 * rocks from one edge to the other, leaves that support up to a step too early, and its weight,
 * which the support carried until the impact, takes energy from it instead. The error is of first
 * order in the step, always a loss, and repeated at every impact: without the cut a block that
 * rocks at the default step comes to rest in three quarters of the time.
 *
 * The energy in question is the weight that the supports no longer carry times the gap that is open
 * at the kick. Where it is a relevant part of the energy of the world, the step is cut at the time
 * of the impact (world/step.c): the first part ends there, without the impact; the second one
 * begins with a kick without forces, which is the impact. Only the leapfrog is cut: with another
 * theta a change of the step adds or takes energy (certify.c).
 *
 * 2. Impacts of bodies that are pushed into others. A body that is hit, and reaches a third one in
 * the same step, has no velocity before that impact from which restitution could follow: the gap is
 * closed without a bounce. Of the work r (u- + u+)/2 of that contact the part e_n^2 is wrong. A
 * cradle of five balls with e_n = 1 and gaps of a tenth of their way in a step would lose a quarter
 * of its energy in one impact. So each such impact gets a span of its own: one ends before the
 * first impact, the next one before the body that was hit reaches another. Gaps that take less than
 * `instant` of a span are left: such bodies touch, and share the impulse. Not in divided worlds,
 * whose ranks would have to agree on the smallest gap. */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

/* Relevant part of the kinetic energy, or of the energy that lifts every body by a thousandth of
 * its size. */
static const double relevant = 1e-3, lifted = 1e-3;
/* Part of its energy that an impact may dissipate before the bounces of a chain count half. */
static const double lossless = 0.02;
/* A span ends so much before the impact that it does not feel it. */
static const double early = 0.98;
/* Part of a span that is no time. */
static const double instant = 2e-3;

double scree_event_instant(const scree_System *s) {
  return 1e-3 * s->settings.step;
}

/* Force of gravity and other forces on body k; in a kick without forces that of gravity. */
static double force_on(const scree_System *s, int k) {
  const double acceleration = scree_system_forced_change(s, k) / s->times.h;
  return s->bodies.inertia[k].mass * fmax(acceleration, scree_norm(s->settings.gravity));
}

/* The contacts of a body that carried an impulse in the last step. */
typedef struct Supports {
  double *count; /* (bodies) how many there are */
  double *carry; /* (bodies) sum of their normal impulses in this step */
  double *chain; /* (bodies) energy that is misplaced where it is pushed into others */
  double *room;  /* (bodies) smallest gap to one of these */
} Supports;

/* Energy that is lost or gained because contact c, which others press together, does not bounce. It
 * counts less where impacts dissipate much energy anyway: with one measure for all, steps of
 * bouncing disks with e_n = 0.8 were cut instead of divided, and 2 % of their energy was dissipated
 * by impact that belongs to friction. */
static double misplaced(const scree_System *s, int c) {
  const scree_Posed *p = &s->posed;
  const scree_ContactKey *key = &s->contacts.keys[c];
  const size_t at = (size_t)c * (size_t)s->bodies.dimension;
  const double e = scree_system_law(s, key->i, key->j)->e_n, after = scree_system_velocity(s, c, 0);
  if (s->domain.global || p->loaded[c] || !(e > 0) || after > 0) return 0; /* rests, or bounced */
  const double lossy = 1 + (1 - e * e) / lossless;
  return e * e * fabs(0.5 * p->r[at] * (p->before[at] + after)) / lossy;
}

static scree_Status find_supports(scree_System *s, const Supports *supports) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension;
  for (int k = 0; k < s->bodies.count; ++k) {
    supports->count[k] = supports->carry[k] = supports->chain[k] = 0;
    supports->room[k] = INFINITY;
  }
  for (int c = 0; c < p->nc; ++c) {
    const int pair[2] = {s->contacts.keys[c].i, s->contacts.keys[c].j};
    const double lost = misplaced(s, c);
    for (int side = 0; side < 2; ++side) {
      supports->chain[pair[side]] += lost;
      double *room = &supports->room[pair[side]];
      if (lost > 0) *room = fmin(*room, s->contacts.gap[c]);
      if (!p->loaded[c]) continue;
      supports->count[pair[side]]++;
      supports->carry[pair[side]] += p->r[(size_t)c * d];
    }
  }
  if (!s->domain.global || s->domain.size == 1) return SCREE_OK;
  scree_Status status = scree_domain_sum_bodies(s, supports->count);
  return status ? status : scree_domain_sum_bodies(s, supports->carry);
}

/* Length of a span in which body k, which is hit at the speed u in its first kick, does not reach
 * the bodies that it is pushed into: none is faster than 2 u afterwards. Infinite if what they lose
 * is below `energy`, or if they touch. */
static double span_in_room(const scree_System *s, int k, double u, double energy,
                           const Supports *supports) {
  if (s->bodies.fixed[k] || !supports || !(supports->chain[k] > energy)) return INFINITY;
  const double span = early * supports->room[k] / (2 * u);
  return span > fmax(instant * s->times.h, scree_event_instant(s)) ? span : INFINITY;
}

/* Part of the force on body k that its supports no longer carry; supports null: all of it. */
static double dropped(const scree_System *s, int k, const Supports *supports) {
  if (s->bodies.fixed[k] || (supports && supports->count[k] == 0)) return 0;
  return fmax(0, force_on(s, k) - (supports ? supports->carry[k] / s->times.h : 0));
}

/* Length of a span from the start of this one in which contact c does not close. Its gap is D, its
 * velocity u- up to the kick, which is at the same part of each span, and at most u- + A a in a
 * span a after the kick, where A is the acceleration without contacts. The true acceleration is
 * lower, so the span ends somewhat early; what is left is cut again, if it matters. */
static double span_before(const scree_System *s, int c, double before) {
  const double h = s->times.h, after = s->times.rest / h;
  const double V = -before, A = fmax(0, before - scree_system_free_approach(s, c)) / h;
  const double D = s->contacts.gap[c] + V * (1 - after) * h;
  return early * 2 * D / (V + sqrt(V * V + 4 * after * A * D));
}

/* The shortest span before an impact by which more than `energy` is lost, or infinity. */
static double first_impact(const scree_System *s, double energy, bool at_once,
                           const Supports *supports) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension;
  const double latest = s->times.h - s->times.rest + s->times.horizon;
  double first = INFINITY;
  for (int c = 0; c < p->nc; ++c) {
    const double gap = s->contacts.gap[c], before = p->before[(size_t)c * d];
    if (p->loaded[c] || !(gap > 0) || !(before < 0) || !(p->r[(size_t)c * d] > 0)) continue;
    const scree_ContactKey *key = &s->contacts.keys[c];
    const double span = span_before(s, c, before);
    const double weight = dropped(s, key->i, supports) + dropped(s, key->j, supports);
    if (weight * gap > energy && !at_once && s->joints.count == 0) first = fmin(first, span);
    /* an impact that pushes bodies into others has a span of its own, from one cut to the next */
    if (span > latest) continue; /* these bodies are pushed themselves */
    const double room = fmin(span_in_room(s, key->i, -before, energy, supports),
                             span_in_room(s, key->j, -before, energy, supports));
    const bool comes = !at_once && span > instant * s->times.h;
    if (isfinite(room)) first = fmin(first, comes ? span : room);
  }
  return -scree_system_max(s, -first);
}

/* Whether some contact of at least the restitution `e` misplaces more than `energy`. */
static bool any_chain(const scree_System *s, double energy, double e) {
  if (!s->laws.any_restitution) return false;
  for (int c = 0; c < s->posed.nc; ++c) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    if (misplaced(s, c) > energy && scree_system_law(s, key->i, key->j)->e_n >= e) return true;
  }
  return false;
}

scree_Status scree_system_event(scree_System *s, double kinetic, bool at_once, double *time,
                                bool *shared) {
  const scree_Posed *p = &s->posed;
  const double energy = relevant * fmax(kinetic, lifted * s->audit.weight);
  *time = -1;
  *shared = false;
  if (!s->scheme->looks_ahead || s->scheme->theta(&s->settings) != 0.5 || p->all == 0 ||
      s->laws.any_terms || s->laws.any_rolling || scree_system_deforms(s) || s->cell.pressed ||
      !scree_joints_only_hold(s))
    return SCREE_OK;
  const bool chain = any_chain(s, energy, 0);
  if (!chain && !isfinite(first_impact(s, energy, at_once, NULL))) return SCREE_OK; /* most steps */
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  const Supports supports = {SCREE_TAKE_RAW(&s->scratch, double, s->bodies.count),
                             SCREE_TAKE_RAW(&s->scratch, double, s->bodies.count),
                             SCREE_TAKE_RAW(&s->scratch, double, s->bodies.count),
                             SCREE_TAKE_RAW(&s->scratch, double, s->bodies.count)};
  const bool room = supports.count && supports.carry && supports.chain && supports.room;
  scree_Status status = room ? SCREE_OK : scree_fail_memory(s->log, "the supports of bodies");
  status = scree_domain_agree(s, status); /* the sums over ranks below need all of them */
  if (!status && room) status = find_supports(s, &supports);
  if (!status && room) {
    const double first = first_impact(s, energy, at_once, &supports);
    if (isfinite(first)) *time = first;
    /* the parts of a step would lose what they share (world/step.c); where impacts dissipate
     * energy they are needed all the same, for the split between impact and friction */
    *shared = *time < 0 && any_chain(s, energy, 1);
  }
  scree_arena_release(&s->scratch, mark);
  return status;
}
