/* Restitution where several bodies bounce off each other in one kick.
 *
 * Newton's law gives each contact a velocity of its own, u+ = b = -e u-, as if it were alone. With
 * u+ = u_free + W r the energy changes in the kick by
 *
 *     r . u+ - r . W r / 2 ,
 *
 * where u+ is b, or negative where a gap closes until the next kick, apart from the work of forces
 * and of friction, which only takes energy. Where all contacts of a group bounce with the same e,
 * also those that separate before the kick, this is
 * -(1 - e)/(1 + e) r . W r / 2, as for a single impact. But bodies that separate are not pulled
 * together: where others press them onto each other in the same kick their contact has b = 0, it
 * passes on larger impulses, and the group may end with more energy than it had. Five balls in a
 * row, thrown at each other with e = 1 and gaps of a hundredth of their way in a step, doubled it.
 *
 * So where a group (bodies coupled by active contacts; obstacles couple nothing) would gain energy
 * its b are scaled down to
 *
 *     r . u+ = e/(1 + e) r . W r
 *
 * with its largest e, which is the loss of a single impact. With b = 0 the left side is zero. The
 * factor is found by solving again, since r depends on it, until nothing is gained.
 *
 * A single contact gains energy where friction turns the slip round (Kane and Levinson 1985): with
 * e = 1 its energy changes by r_T . (u_T- + u_T+)/2, and r_T opposes u_T+ alone. A rod that bounced
 * in a box with mu = 0.3 and e = 1 gained 18 % in 10 s. It is treated like a group, with the work
 * of friction on both sides, r_T . u_T+ on the left. */
#include "core/log.h"
#include "core/memory.h"
#include "core/union_find.h"
#include "step/system.h"

#include <assert.h>

enum { SOLVES = 6 };
/* Gain over r . W r that is left: forces that act in the kick make some. */
static const double excess = 1e-3;

/* Sums over the active contacts of a group; at its first body. */
typedef struct Group {
  double bounce; /* r . b */
  double closed; /* -r . u+ of gaps that close */
  double square; /* r . W r */
  double slips;  /* r_T . u_T+ */
  double gain;   /* r_T . (u_T- + u_T+)/2 - r_n |u_n-| (1 - e)/2 of those that bounce */
  double e;      /* largest restitution */
  int contacts;
} Group;

/* The velocity b > 0 at which the bodies of contact c separate, or zero where they do not bounce.
 */
static double bounce_of(const scree_System *s, int c) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const size_t at = (size_t)c * (size_t)s->bodies.dimension;
  const double shift = s->posed.shift[at];
  if (!(scree_system_law(s, key->i, key->j)->e_n > 0) || s->posed.push[c] != 0) return 0;
  return shift < fmin(0, s->contacts.curve[c] / s->times.horizon) ? -shift : 0;
}

/* A body of contact c that is not an obstacle. */
static int body_of(const scree_System *s, int c) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  return s->bodies.fixed[key->i] ? key->j : key->i;
}

/* Bodies that active contacts couple have one root, the smallest of them. */
static void couple(const scree_System *s, int *parent) {
  const size_t d = (size_t)s->bodies.dimension;
  for (int k = 0; k < s->bodies.count; ++k) parent[k] = k;
  for (int c = 0; c < s->posed.nc; ++c) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    if (s->posed.r[(size_t)c * d] == 0 || s->bodies.fixed[key->i] || s->bodies.fixed[key->j])
      continue;
    scree_unite(parent, key->i, key->j);
  }
}

static void add_up(const scree_System *s, int *parent, Group *groups) {
  const scree_Posed *p = &s->posed;
  const int d = s->bodies.dimension;
  for (int k = 0; k < s->bodies.count; ++k) groups[k] = (Group){0};
  for (int c = 0; c < p->nc; ++c) {
    const size_t at = (size_t)c * (size_t)d;
    const scree_ContactKey *key = &s->contacts.keys[c];
    if (p->r[at] == 0) continue;
    Group *group = &groups[scree_root_of(parent, body_of(s, c))];
    const double b = bounce_of(s, c);
    group->contacts++;
    group->bounce += p->r[at] * b;
    if (s->contacts.gap[c] > 0)
      group->closed += p->r[at] * fmax(0, -scree_system_velocity(s, c, 0));
    const double e = b > 0 ? scree_system_law(s, key->i, key->j)->e_n : 0;
    group->e = fmax(group->e, e);
    if (b > 0) group->gain -= 0.5 * p->r[at] * b * (1 / e - 1);
    for (int k = 1; k < d; ++k) {
      const double r = p->r[at + (size_t)k], u = p->u[at + (size_t)k] - p->shift[at + (size_t)k];
      group->slips += r * u;
      group->gain += 0.5 * r * (u + p->before[at + (size_t)k]);
    }
    for (int k = 0; k < d; ++k) /* u = W r + q */
      group->square += p->r[at + (size_t)k] * (p->u[at + (size_t)k] - p->q[at + (size_t)k]);
  }
}

/* The factor on the velocities of a group. */
static double factor_of(const Group *group, double allowed) {
  assert(group->e >= 0 && group->e <= 1);
  const bool single = group->contacts == 1;
  const double gain = single ? group->gain : group->bounce - group->closed - 0.5 * group->square;
  if (!(gain > excess * group->square && gain > allowed)) return 1;
  const double kept = group->e / (1 + group->e) * group->square - (single ? group->slips : 0);
  return fmax(0, fmin(1, (kept + group->closed) / group->bounce));
}

/* Whether some group has to bounce less; its velocities are lowered. */
static bool lower(scree_System *s, double allowed, int *parent, Group *groups) {
  scree_Posed *p = &s->posed;
  bool any = false;
  couple(s, parent);
  add_up(s, parent, groups);
  for (int c = 0; c < p->nc; ++c) {
    const size_t at = (size_t)c * (size_t)s->bodies.dimension;
    const double b = bounce_of(s, c);
    if (!(b > 0)) continue;
    const double f = factor_of(&groups[scree_root_of(parent, body_of(s, c))], allowed);
    assert(f >= 0 && f <= 1);
    if (f == 1) continue;
    p->shift[at] += (1 - f) * b;
    p->q[at] += (1 - f) * b;
    p->solved = false;
    any = true;
  }
  return any;
}

scree_Status scree_system_hold_bounces(scree_System *s, scree_StepReport *report) {
  const size_t n = (size_t)s->bodies.count;
  /* sums over groups that lie on several ranks would need all of them; the sets of other contacts
   * store energy */
  if (!s->laws.any_restitution || s->laws.any_terms || s->domain.global || scree_system_general(s))
    return SCREE_OK;
  const double allowed = scree_system_work_allowed(s, s->total.kinetic, s->times.h);
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  int *parent = SCREE_TAKE_RAW(&s->scratch, int, n);
  Group *groups = SCREE_TAKE_RAW(&s->scratch, Group, n);
  scree_Status status =
      parent && groups ? SCREE_OK : scree_fail_memory(s->log, "the impacts of a step");
  for (int k = 0; k < SOLVES && !status && !scree_system_work_used_up(s); ++k) {
    if (!lower(s, allowed, parent, groups)) break;
    status = scree_system_solve(s, true, report);
  }
  scree_arena_release(&s->scratch, mark);
  return status;
}
