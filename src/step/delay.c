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
 * the drift before the next kick, so that bodies do not overlap in the positions that are saved.
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
  return scree_shape_is_ball(&b->cold[i].shape) && scree_shape_is_ball(&b->cold[j].shape);
}

scree_Status scree_system_foresee(scree_System *s, double horizon) {
  const scree_Bodies *b = &s->bodies;
  scree_Posed *p = &s->posed;
  p->foreseen = s->laws.any_restitution;
  if (!p->foreseen) return SCREE_OK;
  const size_t n = (size_t)b->count;
  if (!scree_grow_lean((void **)&p->busy, &p->busy_capacity, n, sizeof *p->busy) ||
      !scree_grow_lean((void **)&p->struck, &p->struck_capacity, n, sizeof *p->struck))
    return scree_fail_memory(s->log, "the impacts of a step");
  memset(p->busy, 0, n * sizeof *p->busy);
  scree_joints_count(s, p->busy);
  for (size_t c = 0; c < s->contacts.count; ++c) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    const double size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
    double before[3], free[3];
    scree_system_approach(s, (int)c, before, free);
    const double gap = s->contacts.gap[c];
    if (gap < touching * size || gap + s->contacts.curve[c] + horizon * free[0] < 0) count(s, c);
  }
  return SCREE_OK;
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
  const int c = s->bodies.fixed[body] ? -1 : s->posed.struck[body];
  return c < 0 ? 0 : s->posed.delay[c];
}

static void cancel(scree_System *s, int body) {
  const int c = s->posed.struck[body];
  if (c >= 0) s->posed.delay[c] = 0;
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
                                                   scree_cell_velocity(&s->cell, image)));
  scree_points_collide(pair[0], si, &end[0].pose, pair[1], image, sj, &end[1].pose, 0, &points);
  for (size_t k = 0; k < points.count; ++k) deepest = fmin(deepest, points.gap[k]);
  const bool failed = points.failed;
  scree_points_fini(&points);
  return failed || deepest < -s->settings.penetration * size;
}

/* Contacts whose impulses are delayed: struck[k] is the contact of body k. */
static bool find_late(scree_System *s, double horizon) {
  scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension, n = (size_t)s->bodies.count;
  bool any = false;
  for (int c = 0; c < p->nc && !any; ++c) any = p->delay[c] > 0;
  if (!any) return false;
  memset(p->busy, 0, n * sizeof *p->busy);
  scree_joints_count(s, p->busy);
  for (size_t k = 0; k < n; ++k) p->struck[k] = -1;
  for (int c = 0; c < p->nc; ++c)
    if (p->r[(size_t)c * d] != 0) count(s, (size_t)c);
  for (int c = 0; c < p->nc; ++c) {
    if (p->delay[c] == 0) continue;
    if (!(p->r[(size_t)c * d] > 0) || !is_alone(s, (size_t)c) || overlaps(s, c, horizon)) {
      p->delay[c] = 0;
      continue;
    }
    p->struck[s->contacts.keys[c].i] = c;
    p->struck[s->contacts.keys[c].j] = c;
  }
  return true;
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

static scree_Status add(scree_System *s, int body, scree_Twist way, scree_LateList *list) {
  if (!scree_grow((void **)&list->at, &list->capacity, list->count + 1, sizeof *list->at))
    return scree_fail_memory(s->log, "the impacts of a step");
  memset(&list->at[list->count], 0, sizeof *list->at); /* zero the padding, which is saved too */
  list->at[list->count].body = body;
  list->at[list->count++].way = way;
  return SCREE_OK;
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

void scree_system_move_late(scree_System *s, const scree_LateList *list) {
  for (size_t k = 0; k < list->count; ++k) {
    const int body = list->at[k].body;
    if (!s->bodies.fixed[body])
      move(&s->bodies.inertia[body], &list->at[k].way, &s->bodies.motion[body]);
  }
}

static void add_works(const scree_System *s, const scree_LateList *list, double h,
                      scree_EnergyBalance *balance) {
  for (size_t k = 0; k < list->count; ++k)
    if (!s->bodies.fixed[list->at[k].body])
      add_work(s, list->at[k].body, &list->at[k].way, h, balance);
}

scree_Status scree_system_delay(scree_System *s, double rest, double horizon, double h,
                                scree_EnergyBalance *balance) {
  const scree_Posed *p = &s->posed;
  scree_Status status = SCREE_OK;
  s->late.count = s->trial.late.count = 0;
  if (p->nc > 0 && p->foreseen && find_late(s, horizon)) {
    make_room(s, horizon);
    for (int i = 0; i < p->nbodies && !status; ++i) {
      const int k = p->problem_body[i];
      const double delay = delay_of(s, k), now = fmin(delay, rest);
      if (delay > 0) status = add(s, k, way_of(s, k, now), &s->late);
      if (delay > now && !status) status = add(s, k, way_of(s, k, delay - now), &s->trial.late);
    }
  }
  add_works(s, &s->memory.late, h, balance);
  add_works(s, &s->late, h, balance);
  scree_EnergyBalance later = {0};
  add_works(s, &s->trial.late, h, &later);
  s->pending = later.normal;
  return status;
}
