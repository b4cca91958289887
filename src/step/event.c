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
 * 2. Several impacts of one body. All impacts of a step act in one kick. A body that is hit, and
 * reaches a third one in the same step, has no velocity before that impact from which restitution
 * could follow: the gap is closed without a bounce. Where two bodies hit it one after the other,
 * restitution follows from the velocities before both. In both cases contact c, if its impact came
 * after the others, would approach at the velocity that it has without its own impulse,
 *
 *     v = W_cc r_c - u_c+ ,
 *
 * and separate at e v, not at u_c+. The difference is the velocity that is misplaced. If it is a
 * relevant part of the velocity of an impact of the same body, each of these impacts gets a span of
 * its own: one ends before the first impact, the next one before the body that was hit reaches
 * another. Both are compared with the velocity of a fall by a thousandth of the size of the body,
 * not with the energy of the world: otherwise a small ball that is thrown up by a large one leaves
 * with the velocity of the large one. (With a bound on the work r (u- + u+)/2 of such a contact,
 * relative to the energy of the world, a ball 0.1 mm above a five times larger one lost two thirds
 * of its velocity, as the work is zero where both bodies leave together.)
 *
 * Gaps that take less than `instant` of a span are left: such bodies touch, and share the impulse.
 * Not in divided worlds, whose ranks would have to agree on the smallest gap. */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

/* Relevant part of the kinetic energy, or of the energy that lifts every body by a thousandth of
 * its size. */
static const double relevant = 1e-3, lifted = 1e-3;
/* Velocity that an impact may misplace, over that of another one; and what is an error of the
 * solution, over its own velocity. */
static const double passed_on = 0.1, inexact = 1e-3;
/* Impacts of bodies that have several in a span, up to which they are taken apart: the world is
 * solved anew for each. */
enum { FEW = 10 };
/* A span ends so much before the impact that it does not feel it; one between several impacts of a
 * body less. The impact that comes then is not cut again if it takes less than `left` of that span.
 */
static const double early = 0.98, just = 0.998, left = 0.01;
/* Part of a span that is no time. With 2e-3 rows of five balls with e_n = 0.9 that came together
 * keep up to 8 % too much of their energy. Shorter gaps are those that errors of the solution leave
 * between bodies that touch. */
static const double instant = 2e-4;

double scree_event_instant(const scree_System *s) {
  return 1e-4 * s->settings.step;
}

/* Force of gravity and other forces on body k; in a kick without forces that of gravity. */
static double force_on(const scree_System *s, int k) {
  const double acceleration = scree_system_forced_change(s, k) / s->times.h;
  return s->bodies.inertia[k].mass * fmax(acceleration, scree_norm(s->settings.gravity));
}

/* Sums and lists over the contacts of bodies. */
typedef struct Supports {
  double *count;  /* (bodies) number of contacts that carried an impulse in the last step */
  double *carry;  /* (bodies) sum of their normal impulses in this step */
  double *left;   /* (bodies) time until the displacement by the last impact is complete */
  double *missed; /* (nc) velocity that contact c misplaces */
  int *first;     /* (bodies) twice a contact with an impulse, plus the side of the body; or -1 */
  int *next;      /* (2 nc) the same of the contact after that */
} Supports;

/* The velocity that contact c misplaces. 0 if it carries nothing, or in a divided world. */
static double misplaced(const scree_System *s, int c) {
  const scree_Posed *p = &s->posed;
  const scree_ContactKey *key = &s->contacts.keys[c];
  const size_t at = (size_t)c * (size_t)s->bodies.dimension;
  if (s->domain.global || !(p->r[at] > 0)) return 0;
  const double e = scree_system_law(s, key->i, key->j)->e_n, after = scree_system_velocity(s, c, 0);
  if (!(e > 0)) return 0;
  const double approach = scree_system_diagonal(s, c, 0) * p->r[at] - after;
  const double missed = fabs(e * fmax(0, approach) - fmax(0, after));
  return missed > inexact * fabs(approach) ? missed : 0;
}

static scree_Status find_supports(scree_System *s, const Supports *supports) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension;
  for (int k = 0; k < s->bodies.count; ++k) {
    supports->count[k] = supports->carry[k] = supports->left[k] = 0;
    supports->first[k] = -1;
  }
  for (size_t k = 0; k < s->memory.late.count; ++k)
    supports->left[s->memory.late.at[k].body] = s->memory.late.at[k].left;
  for (int c = 0; c < p->nc; ++c) {
    const int pair[2] = {s->contacts.keys[c].i, s->contacts.keys[c].j};
    supports->missed[c] = misplaced(s, c);
    for (int side = 0; side < 2; ++side) {
      if (p->r[(size_t)c * d] > 0 && s->contacts.gap[c] > 0) {
        supports->next[2 * c + side] = supports->first[pair[side]];
        supports->first[pair[side]] = 2 * c + side;
      }
      if (!p->loaded[c]) continue;
      supports->count[pair[side]]++;
      supports->carry[pair[side]] += p->r[(size_t)c * d];
    }
  }
  if (!s->domain.global || s->domain.size == 1) return SCREE_OK;
  scree_Status status = scree_domain_sum_bodies(s, supports->count);
  return status ? status : scree_domain_sum_bodies(s, supports->carry);
}

/* Gap of contact c at the start of the span, if its velocity was `before` since then. */
static double gap_at_start(const scree_System *s, int c, double before) {
  return s->contacts.gap[c] - before * (s->times.h - s->times.rest);
}

/* Length of a span in which body k, which contact c hits at the speed u a time `delay` after the
 * start, does not reach other bodies: it changes its velocity by at most 2 u. Infinite if the
 * velocities that are misplaced are small, or if the bodies touch by then. */
static double span_in_room(const scree_System *s, int k, int c, double u, double delay,
                           const Supports *supports) {
  if (s->bodies.fixed[k] || !supports) return INFINITY;
  const double acceleration = force_on(s, k) / s->bodies.inertia[k].mass;
  const double slow = sqrt(lifted * acceleration * s->bodies.cold[k].shape.size);
  const double least = fmax(passed_on * u, slow);
  if (!(u > slow)) return INFINITY;
  const double moment = fmax(instant * s->times.h, scree_event_instant(s));
  double shortest = INFINITY;
  for (int at = supports->first[k]; at >= 0; at = supports->next[at]) {
    const int o = at / 2;
    if (o == c || !(fmax(supports->missed[c], supports->missed[o]) > least)) continue;
    const double before = fmin(0, s->posed.before[(size_t)o * (size_t)s->bodies.dimension]);
    const double gap = gap_at_start(s, o, before) + before * delay;
    const double span = just * gap / (2 * u - before);
    if (span > moment) shortest = fmin(shortest, span);
  }
  return shortest;
}

/* Part of the force on body k that its supports no longer carry; supports null: all of it. */
static double dropped(const scree_System *s, int k, const Supports *supports) {
  if (s->bodies.fixed[k] || (supports && supports->count[k] == 0)) return 0;
  return fmax(0, force_on(s, k) - (supports ? supports->carry[k] / s->times.h : 0));
}

/* Time from the start of this span until contact c closes. Its gap is D, its
 * velocity u- up to the kick, which is at the same part of each span, and at most u- + A a in a
 * time a after the kick, where A is the acceleration without contacts. The true acceleration is
 * lower, so it closes somewhat later; what is left is cut again, if it matters. */
static double time_until(const scree_System *s, int c, double before) {
  const double h = s->times.h, after = s->times.rest / h;
  const double V = -before, A = fmax(0, before - scree_system_free_approach(s, c)) / h;
  const double D = gap_at_start(s, c, before);
  return 2 * D / (V + sqrt(V * V + 4 * after * A * D));
}

/* Time for which the kick may not come: bodies that carry an impulse would change their velocity
 * before a displacement (delay.c) is complete, which conserves angular momentum as a whole only. */
static double not_before(const scree_System *s, const Supports *supports) {
  double most = 0;
  for (int c = 0; c < s->posed.nc; ++c) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    if (s->posed.r[(size_t)c * (size_t)s->bodies.dimension] == 0) continue;
    most = fmax(most, fmax(supports->left[key->i], supports->left[key->j]));
  }
  return most;
}

/* The shortest span before an impact by which more than `energy` is lost, and before one of several
 * of a body; or infinity. */
static double first_impact(const scree_System *s, double energy, const scree_StepSpan *span,
                           const Supports *supports, bool *chain) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension;
  const double latest = s->times.h - s->times.rest + s->times.horizon;
  const double soon = fmax(instant * s->times.h, left * span->since);
  double lifts = INFINITY, pushes = INFINITY;
  int count = 0;
  for (int c = 0; c < p->nc; ++c) {
    const double gap = s->contacts.gap[c], before = p->before[(size_t)c * d];
    if (!(gap > 0) || !(before < 0) || !(p->r[(size_t)c * d] > 0)) continue;
    const scree_ContactKey *key = &s->contacts.keys[c];
    const double time = time_until(s, c, before);
    const double weight = dropped(s, key->i, supports) + dropped(s, key->j, supports);
    if (!p->loaded[c] && weight * gap > energy && !span->at_once && s->joints.count == 0)
      lifts = fmin(lifts, early * time);
    /* an impact that pushes bodies into others has a span of its own, from one cut to the next */
    if (just * time > latest) continue; /* these bodies are pushed themselves */
    const double room = fmin(span_in_room(s, key->i, c, -before, time, supports),
                             span_in_room(s, key->j, c, -before, time, supports));
    const bool comes = !span->at_once && time > soon;
    if (!isfinite(room)) continue;
    pushes = fmin(pushes, comes ? just * time : room);
    count++;
  }
  const bool late =
      supports && (1 - s->scheme->theta(&s->settings)) * pushes < not_before(s, supports);
  if (count > FEW || late) pushes = INFINITY;
  *chain = pushes < lifts; /* the world is not divided */
  return -scree_system_max(s, -fmin(lifts, pushes));
}

/* Whether some contact of at least the restitution `e` misplaces a velocity. */
static bool any_chain(const scree_System *s, double e) {
  if (!s->laws.any_restitution) return false;
  for (int c = 0; c < s->posed.nc; ++c) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    if (misplaced(s, c) > 0 && scree_system_law(s, key->i, key->j)->e_n >= e) return true;
  }
  return false;
}

scree_Status scree_system_event(scree_System *s, double kinetic, const scree_StepSpan *span,
                                scree_Event *event) {
  const scree_Posed *p = &s->posed;
  const double energy = relevant * fmax(kinetic, lifted * s->audit.weight);
  *event = (scree_Event){.time = -1};
  if (!s->scheme->looks_ahead || s->scheme->theta(&s->settings) != 0.5 || p->all == 0 ||
      s->laws.any_terms || s->laws.any_rolling || scree_system_deforms(s) || s->cell.pressed ||
      !scree_joints_only_hold(s))
    return SCREE_OK;
  const bool chain = any_chain(s, 0);
  if (!chain && !isfinite(first_impact(s, energy, span, NULL, &event->chain)))
    return SCREE_OK; /* most steps */
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  const size_t bodies = (size_t)s->bodies.count, nc = (size_t)p->nc;
  const Supports supports = {
      SCREE_TAKE_RAW(&s->scratch, double, bodies), SCREE_TAKE_RAW(&s->scratch, double, bodies),
      SCREE_TAKE_RAW(&s->scratch, double, bodies), SCREE_TAKE_RAW(&s->scratch, double, nc),
      SCREE_TAKE_RAW(&s->scratch, int, bodies),    SCREE_TAKE_RAW(&s->scratch, int, 2 * nc)};
  const bool room = supports.count && supports.carry && supports.left && supports.missed &&
                    supports.first && supports.next;
  scree_Status status = room ? SCREE_OK : scree_fail_memory(s->log, "the supports of bodies");
  status = scree_domain_agree(s, status); /* the sums over ranks below need all of them */
  if (!status && room) status = find_supports(s, &supports);
  if (!status && room) {
    const double first = first_impact(s, energy, span, &supports, &event->chain);
    if (isfinite(first)) event->time = first;
    /* the parts of a step would lose what they share (world/step.c); where impacts dissipate
     * energy they are needed all the same, for the split between impact and friction */
    event->shared = event->time < 0 && any_chain(s, 1);
  }
  scree_arena_release(&s->scratch, mark);
  return status;
}
