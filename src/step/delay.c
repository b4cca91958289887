/* Impacts between two kicks.
 *
 * A body that bounces reverses at the kick before it would meet the other one, up to a step too
 * early. If it meets no other body in that step, the whole path is known (moreau_jean.c): its
 * impulse r acts a time tau later, so that the positions at the next kick have to change by
 *
 *     - tau M^-1 H^T r
 *
 * compared with an impulse at the kick. This conserves the centre of mass of the two bodies.
 * With it a ball that falls on a plane follows its parabolas exactly, and errors of bouncing bodies
 * no longer grow by half a step in each impact.
 *
 * The part of the displacement up to the end of the step is applied at once, the rest at the end of
 * the drift before the next kick, so that bodies do not overlap in the positions that are saved. If
 * that kick comes earlier than was foreseen (a step that is halved), only the part up to it is.
 * The work of gravity and forces along these displacements is counted with the impact, which has
 * prescribed a velocity that is higher or lower by the same energy.
 *
 * No body is displaced if another contact of the two bodies carries an impulse, or if another body
 * is in the way. */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <string.h>

/* ---- before the solve: which bodies meet only one other -------------------------------------- */

/* Gap, over the size, up to which a contact may be loaded. */
static const double touching = 1e-3;

static void count(scree_System *s, size_t c) {
  s->posed.busy[s->contacts.keys[c].i]++;
  s->posed.busy[s->contacts.keys[c].j]++;
}

static bool is_alone(const scree_System *s, size_t c) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  return (s->bodies.fixed[key->i] || s->posed.busy[key->i] <= 1) &&
         (s->bodies.fixed[key->j] || s->posed.busy[key->j] <= 1);
}

/* The normals of bodies that rotate are not known in advance: between two moving bodies only balls
 * have the normal of the impact (overlap.c), which conservation of angular momentum needs. */
static bool is_simple(const scree_System *s, size_t c) {
  const scree_Bodies *b = &s->bodies;
  const int i = s->contacts.keys[c].i, j = s->contacts.keys[c].j;
  if (scree_deform_touches(b, &s->contacts.keys[c])) return false; /* rigid bodies only */
  if (b->fixed[i] || b->fixed[j]) return true;
  return scree_shape_is_ball(&b->cold[i].shape) && scree_shape_is_ball(&b->cold[j].shape) &&
         scree_system_is_aimed(s, c);
}

/* ---- bodies whose contacts are on several ranks -----------------------------------------------
 */

static bool is_shared(const scree_System *s) {
  return s->domain.global && s->domain.size > 1;
}

/* Add up the contacts of each body over the ranks. */
static scree_Status share_busy(scree_System *s) {
  scree_Posed *p = &s->posed;
  if (!is_shared(s)) return SCREE_OK;
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  double *busy = SCREE_TAKE_RAW(&s->scratch, double, s->bodies.count);
  scree_Status status =
      scree_domain_agree(s, busy ? SCREE_OK : scree_fail_memory(s->log, "the impacts of a step"));
  for (int k = 0; !status && k < s->bodies.count; ++k) busy[k] = p->busy[k];
  if (!status) status = scree_domain_sum_bodies(s, busy);
  for (int k = 0; !status && k < s->bodies.count; ++k) p->busy[k] = (int)busy[k];
  scree_arena_release(&s->scratch, mark);
  return status;
}

/* The delays of bodies from those of their contacts. */
static scree_Status share_delays(scree_System *s) {
  scree_Posed *p = &s->posed;
  if (!is_shared(s)) return SCREE_OK;
  for (int k = 0; k < s->bodies.count; ++k)
    p->held_back[k] = p->struck[k] >= 0 ? p->delay[p->struck[k]] : 0;
  return scree_domain_sum_bodies(s, p->held_back);
}

/* Delays of contacts of which one body was released here or on another rank: negative there. */
static scree_Status share_releases(scree_System *s) {
  scree_Posed *p = &s->posed;
  if (!is_shared(s)) return SCREE_OK;
  for (int k = 0; k < s->bodies.count; ++k) p->held_back[k] = p->held_back[k] < 0 ? 1 : 0;
  scree_Status status = scree_domain_sum_bodies(s, p->held_back);
  for (int c = 0; !status && c < p->nc; ++c) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    if (p->held_back[key->i] > 0 || p->held_back[key->j] > 0) p->delay[c] = 0;
  }
  return status ? status : share_delays(s);
}

scree_Status scree_system_foresee(scree_System *s, double horizon) {
  const scree_Bodies *b = &s->bodies;
  scree_Posed *p = &s->posed;
  p->foreseen = s->laws.any_restitution;
  if (!p->foreseen) return SCREE_OK;
  const size_t n = (size_t)b->count;
  if (!scree_grow_lean((void **)&p->busy, &p->busy_capacity, n, sizeof *p->busy) ||
      !scree_grow_lean((void **)&p->struck, &p->struck_capacity, n, sizeof *p->struck) ||
      (is_shared(s) &&
       !scree_grow_lean((void **)&p->held_back, &p->held_capacity, n, sizeof *p->held_back)))
    return scree_domain_agree(s, scree_fail_memory(s->log, "the impacts of a step"));
  const scree_Status status = scree_domain_agree(s, SCREE_OK);
  if (status) return status;
  memset(p->busy, 0, n * sizeof *p->busy);
  scree_joints_count(s, p->busy);
  for (size_t c = 0; c < s->contacts.count; ++c) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    const double size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
    const double gap = s->contacts.gap[c];
    if (gap < touching * size ||
        gap + s->contacts.curve[c] + horizon * scree_system_free_approach(s, (int)c) < 0)
      count(s, c);
  }
  return share_busy(s);
}

bool scree_system_meets_one(const scree_System *s, size_t c) {
  return s->posed.foreseen && is_simple(s, c) && is_alone(s, c);
}

/* ---- after the solve ------------------------------------------------------------------------- */

/* Displacement that corrects the position of body k for an impulse that acts `delay` later. */
static scree_Twist way_of(const scree_System *s, int k, double delay) {
  const scree_Twist v = scree_system_unscaled(s, k);
  return (scree_Twist){scree_scale(-delay, v.linear), scree_scale(-delay, v.angular)};
}

/* The angular velocity of a body with different principal moments rotates with it, which conserves
 * its energy. */
static void move(const scree_Inertia *inertia, const scree_Twist *way, scree_Motion *motion) {
  const scree_Quat turn = scree_quat_integrate(scree_quat_identity(), way->angular, 1);
  motion->pose.position = scree_add(motion->pose.position, way->linear);
  motion->pose.orientation = scree_quat_integrate(motion->pose.orientation, way->angular, 1);
  if (!scree_inertia_isotropic(inertia))
    motion->velocity.angular = scree_quat_rotate(turn, motion->velocity.angular);
}

static double delay_of(const scree_System *s, int body) {
  if (is_shared(s)) return s->bodies.fixed[body] ? 0 : fmax(0, s->posed.held_back[body]);
  const int c = s->bodies.fixed[body] ? -1 : s->posed.struck[body];
  return c < 0 ? 0 : s->posed.delay[c];
}

static void cancel(scree_System *s, int body) {
  const int c = s->posed.struck[body];
  if (c >= 0) s->posed.delay[c] = 0;
  if (!is_shared(s)) return;
  s->posed.held_back[body] = -1;
  for (int side = 0; c >= 0 && side < 2; ++side)
    s->posed.held_back[side == 0 ? s->contacts.keys[c].i : s->contacts.keys[c].j] = -1;
}

/* How much the displacement of `body` reduces the gap of contact c, >= 0. */
static double taken(const scree_System *s, int c, int body, double sign) {
  const double delay = delay_of(s, body);
  if (delay == 0) return 0;
  const scree_Twist way = way_of(s, body, delay);
  scree_Vec3 P = s->contacts.position[c];
  const scree_ContactKey *key = &s->contacts.keys[c];
  if (sign < 0 && key->image) P = scree_sub(P, scree_cell_shift(&s->cell, key->image));
  const scree_Vec3 x = scree_rigid_velocity(&s->bodies.motion[body].pose, &way, P);
  return fmax(0, -sign * scree_dot(s->contacts.normal[c], x));
}

/* Whether the bodies of contact c, if they rotate, overlap by more than the tolerance at the next
 * kick. */
static bool overlaps(const scree_System *s, int c, double horizon) {
  const scree_Bodies *b = &s->bodies;
  const int pair[2] = {s->contacts.keys[c].i, s->contacts.keys[c].j};
  scree_Motion end[2];
  bool turns = false;
  for (int side = 0; side < 2; ++side) {
    const int k = pair[side];
    end[side] = b->motion[k];
    turns = turns || (!b->fixed[k] && !scree_shape_is_ball(&b->cold[k].shape));
    end[side].velocity = scree_system_after(s, k);
    if (scree_body_moves(b, k)) scree_rigid_drift(&b->inertia[k], horizon, &end[side]);
    if (b->fixed[k]) continue;
    const scree_Twist way = way_of(s, k, s->posed.delay[c]);
    move(&b->inertia[k], &way, &end[side]);
  }
  if (!turns) return false;
  const scree_Shape *si = &b->cold[pair[0]].shape, *sj = &b->cold[pair[1]].shape;
  const double size = scree_pair_size(si, sj);
  scree_Points points = {0};
  double deepest = 0;
  const uint32_t image = s->contacts.keys[c].image;
  if (image)
    end[1].pose.position =
        scree_add(end[1].pose.position, scree_axpy(scree_cell_shift(&s->cell, image), horizon,
                                                   scree_cell_velocity_after(&s->cell, image)));
  scree_points_collide(pair[0], si, &end[0].pose, pair[1], image, sj, &end[1].pose, 0, &points);
  for (size_t k = 0; k < points.count; ++k) deepest = fmin(deepest, points.gap[k]);
  const bool failed = points.failed;
  scree_points_fini(&points);
  return failed || deepest < -s->settings.penetration * size;
}

/* Contacts whose impulses are delayed: struck[k] is the contact of body k. */
static scree_Status find_late(scree_System *s, double horizon, bool *found) {
  scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension, n = (size_t)s->bodies.count;
  bool any = false;
  for (int c = 0; c < p->nc && !any; ++c) any = p->delay[c] > 0;
  *found = scree_system_max(s, any) > 0;
  if (!*found) return SCREE_OK;
  memset(p->busy, 0, n * sizeof *p->busy);
  scree_joints_count(s, p->busy);
  for (size_t k = 0; k < n; ++k) p->struck[k] = -1;
  for (int c = 0; c < p->nc; ++c)
    if (p->r[(size_t)c * d] != 0) count(s, (size_t)c);
  const scree_Status status = share_busy(s);
  if (status) return status;
  for (int c = 0; c < p->nc; ++c) {
    if (p->delay[c] == 0) continue;
    if (!(p->r[(size_t)c * d] > 0) || !is_alone(s, (size_t)c) || overlaps(s, c, horizon)) {
      p->delay[c] = 0;
      continue;
    }
    p->struck[s->contacts.keys[c].i] = c;
    p->struck[s->contacts.keys[c].j] = c;
  }
  return share_delays(s);
}

/* No displacement may make a body overlap another one at the next kick. */
static void make_room(scree_System *s, double horizon) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension;
  for (int c = 0; c < p->nc; ++c) {
    if (p->r[(size_t)c * d] != 0) continue;
    const int i = s->contacts.keys[c].i, j = s->contacts.keys[c].j;
    const double from_i = taken(s, c, i, 1), from_j = taken(s, c, j, -1);
    if (from_i == 0 && from_j == 0) continue;
    const double gap =
        s->contacts.gap[c] + s->contacts.curve[c] + horizon * scree_system_velocity(s, c, 0);
    if (gap >= from_i + from_j) continue;
    if (from_i > 0) cancel(s, i);
    if (from_j > 0) cancel(s, j);
  }
}

bool scree_late_add(scree_LateList *list, int body, scree_Twist way, double left) {
  if (!scree_grow((void **)&list->at, &list->capacity, list->count + 1, sizeof *list->at))
    return false;
  memset(&list->at[list->count], 0, sizeof *list->at); /* zero the padding, which is saved too */
  list->at[list->count].body = body;
  list->at[list->count].left = left;
  list->at[list->count++].way = way;
  return true;
}

static scree_Status add(scree_System *s, int body, scree_Twist way, double left,
                        scree_LateList *list) {
  return scree_late_add(list, body, way, left) ? SCREE_OK
                                               : scree_fail_memory(s->log, "the impacts of a step");
}

static scree_Twist times(double f, const scree_Twist *way) {
  return (scree_Twist){scree_scale(f, way->linear), scree_scale(f, way->angular)};
}

/* The displacement in the next `time`. */
static scree_Twist part_of(const scree_Late *late, double time) {
  return late->left > time ? times(time / late->left, &late->way) : late->way;
}

/* The remains of displacements at a kick that came earlier than was foreseen, a time `before` after
 * the end of the last step. */
static scree_Status carry_over(scree_System *s, double before, double rest) {
  scree_Status status = SCREE_OK;
  for (size_t k = 0; k < s->memory.late.count && !status; ++k) {
    const scree_Late *late = &s->memory.late.at[k];
    const double left = late->left - before, now = fmin(left, rest);
    if (!(left > 0)) continue;
    status = add(s, late->body, times(now / late->left, &late->way), now, &s->late);
    if (left > now && !status)
      status = add(s, late->body, times((left - now) / late->left, &late->way), left - now,
                   &s->trial.late);
  }
  return status;
}

/* A body has one entry in the list of those that are late: add the second one to the first. */
static void merge_late(scree_System *s, size_t first) {
  scree_LateList *list = &s->trial.late;
  size_t kept = first;
  for (size_t k = 0; k < first; ++k) s->posed.struck[list->at[k].body] = (int)k;
  for (size_t k = first; k < list->count; ++k) {
    const scree_Late *more = &list->at[k];
    const int at = s->posed.struck[more->body];
    if (at >= 0 && (size_t)at < first && list->at[at].body == more->body) {
      scree_Late *late = &list->at[at];
      late->way.linear = scree_add(late->way.linear, more->way.linear);
      late->way.angular = scree_add(late->way.angular, more->way.angular);
      late->left = fmax(late->left, more->left);
    } else {
      list->at[kept++] = *more;
    }
  }
  list->count = kept;
}

/* Work of gravity and forces along the displacement. */
static void add_work(const scree_System *s, int k, const scree_Twist *way, double h,
                     scree_EnergyBalance *balance) {
  const double mass = s->bodies.inertia[k].mass;
  balance->normal += mass * scree_dot(s->settings.gravity, way->linear);
  if (!s->forced) return;
  const scree_Inertia *inertia = &s->bodies.inertia[k];
  const scree_Vec3 L =
      scree_inertia_mul(inertia, s->bodies.motion[k].pose.orientation, s->forced[k].angular);
  const double work =
      (mass * scree_dot(s->forced[k].linear, way->linear) + scree_dot(L, way->angular)) / h;
  balance->forces += work;
  balance->normal += work;
}

void scree_system_move_late(scree_System *s, const scree_LateList *list, double time) {
  for (size_t k = 0; k < list->count; ++k) {
    const int body = list->at[k].body;
    const scree_Twist way = part_of(&list->at[k], time);
    if (!s->bodies.fixed[body]) move(&s->bodies.inertia[body], &way, &s->bodies.motion[body]);
  }
}

static void add_works(const scree_System *s, const scree_LateList *list, double time, double h,
                      scree_EnergyBalance *balance) {
  for (size_t k = 0; k < list->count; ++k) {
    const scree_Twist way = part_of(&list->at[k], time);
    if (!s->bodies.fixed[list->at[k].body] && scree_domain_owns(&s->domain, list->at[k].body))
      add_work(s, list->at[k].body, &way, h, balance);
  }
}

scree_Status scree_system_delay(scree_System *s, double rest, double horizon, double h,
                                scree_EnergyBalance *balance) {
  const scree_Posed *p = &s->posed;
  const double before = h - rest;
  bool found = false;
  s->late.count = s->trial.late.count = 0;
  scree_Status status = carry_over(s, before, rest);
  const size_t carried = s->trial.late.count;
  status = scree_domain_agree(s, status);
  if (!status && p->all > 0 && p->foreseen) status = find_late(s, horizon, &found);
  if (found && !status) {
    make_room(s, horizon);
    status = share_releases(s);
    for (int i = 0; i < p->nbodies && !status; ++i) {
      const int k = p->problem_body[i];
      const double delay = delay_of(s, k), now = fmin(delay, rest);
      if (delay > 0) status = add(s, k, way_of(s, k, now), now, &s->late);
      if (delay > now && !status)
        status = add(s, k, way_of(s, k, delay - now), delay - now, &s->trial.late);
    }
    if (carried && !status) merge_late(s, carried);
  }
  status = scree_domain_agree(s, status);
  if (status) return status;
  scree_EnergyBalance later = {0}, mine = {0}, *now = s->domain.global ? &mine : balance;
  add_works(s, &s->memory.late, before, h, now);
  add_works(s, &s->late, INFINITY, h, now);
  add_works(s, &s->trial.late, INFINITY, h, &later);
  double all[3] = {mine.normal, mine.forces, later.normal};
  scree_system_sums(s, all, 3);
  balance->normal += all[0];
  balance->forces += all[1];
  s->pending = all[2];
  return SCREE_OK;
}
