/* Drifts and kicks of all bodies (see system.h). */
#include "body/patch.h"
#include "body/signal.h"
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <string.h>

static void drift_all(scree_System *s, double h, scree_Share share) {
  if (h == 0) return;
  scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->count, share) {
    if (b->fixed[k] && (b->cold[k].driver < 0 || b->cold[k].belt || b->fixed[k] & SCREE_BODY_GONE))
      continue;
    scree_bodies_drift(b, k, h);
  }
}

void scree_system_drift(scree_System *s, double h) {
  scree_cell_drift(&s->cell, h);
  SCREE_ON_THREADS(s->bodies.count, s->threads, share, drift_all(s, h, share));
}

/* J^-1 torque in the world frame. */
static scree_Vec3 inertia_solve(const scree_Inertia *inertia, scree_Quat orientation,
                                scree_Vec3 torque) {
  const scree_Mat3 R = scree_inertia_frame(inertia, orientation);
  const scree_Vec3 local = scree_mat3_tmul(&R, torque), i = inertia->inv_sqrt_moments;
  return scree_mat3_mul(&R, scree_times(i, scree_times(i, local)));
}

static void apply_force(scree_System *s, int k, const scree_Force *force, scree_Twist f, double h) {
  const scree_Inertia *inertia = &s->bodies.inertia[k];
  scree_Twist *forced = &s->forced[k];
  if (s->bodies.fixed[k]) return;
  const double factor = force->per_mass ? h : h / inertia->mass;
  forced->linear = scree_axpy(forced->linear, factor, f.linear);
  if (force->per_mass) return;
  const scree_Vec3 turn = inertia_solve(inertia, s->bodies.motion[k].pose.orientation, f.angular);
  forced->angular = scree_axpy(forced->angular, h, turn);
}

/* Finite forces can still be too large for the body. */
static scree_Status check_forced(const scree_System *s, double time) {
  for (int k = 0; k < s->bodies.count; ++k)
    if (!scree_twist_is_finite(&s->forced[k]))
      return scree_fail(s->log, SCREE_BAD_INPUT,
                        "body %d: its velocity is not finite at t = %.9g s: the forces on it are "
                        "too large",
                        k, time);
  return SCREE_OK;
}

static void apply_to_all(scree_System *s, const scree_Force *force, scree_Twist f, double h,
                         scree_Share share) {
  SCREE_OVER_BODIES(j, s->bodies.count, share) apply_force(s, j, force, f, h);
}

static void apply_cell(scree_System *s, scree_Share share) {
  SCREE_OVER_BODIES(k, s->bodies.count, share)
  if (!s->bodies.fixed[k])
    s->forced[k].linear = scree_add(s->forced[k].linear, scree_cell_push(s, k));
}

/* Room for forces on nodes, set to zero, if there are any. */
static scree_Status begin_loads(scree_System *s, double h) {
  const scree_Bodies *b = &s->bodies;
  scree_Deform *deform = &s->deform;
  bool any = false;
  for (int k = 0; k < b->force_count; ++k) any = any || b->forces[k].patch;
  deform->loaded = any ? h : 0;
  if (!any) return SCREE_OK;
  if (!scree_grow_lean((void **)&deform->load, &deform->load_capacity, b->components,
                       sizeof *deform->load))
    return scree_fail_memory(s->log, "the forces on nodes");
  memset(deform->load, 0, b->components * sizeof *deform->load);
  return SCREE_OK;
}

static void apply_patch(scree_System *s, const scree_Force *force, scree_Vec3 f) {
  const scree_Bodies *b = &s->bodies;
  const scree_Deformable *self = scree_bodies_deformable(b, force->body);
  if (b->fixed[force->body]) return; /* removed */
  scree_patch_add(force->patch, self, scree_deformable_q(b, self), f,
                  s->deform.load + self->offset);
}

/* The factor of a force by its spans, whose bodies have their numbers in the whole world: places
 * come from the ranks that own them. */
static double factor_of(const scree_System *s, const scree_Force *force) {
  const scree_Domain *p = &s->domain;
  scree_Vec3 place[2][2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
  if (!scree_span_counts(&force->span[0]) && !scree_span_counts(&force->span[1])) return 1;
  for (int k = 0; k < 4; ++k) {
    const scree_Span *span = &force->span[k / 2];
    const int body =
        scree_span_counts(span) ? scree_domain_local(p, s->bodies.count, span->body[k % 2]) : -1;
    if (body < 0) continue;
    const bool obstacle = s->bodies.fixed[body] & SCREE_BODY_OBSTACLE; /* all ranks have it */
    if (obstacle ? p->rank == 0 : scree_domain_owns(p, body))
      place[k / 2][k % 2] = s->bodies.motion[body].pose.position;
  }
  double sums[12];
  memcpy(sums, place, sizeof sums);
  scree_system_sums(s, sums, 12);
  memcpy(place, sums, sizeof sums);
  return scree_force_factor(force, place);
}

scree_Status scree_system_force(scree_System *s, double middle, double h) {
  const scree_Bodies *b = &s->bodies;
  s->fall = scree_scale(h, s->settings.gravity);
  s->forced = NULL;
  s->deform.loaded = 0;
  if (b->count == 0 || (b->force_count == 0 && !s->cell.any)) return SCREE_OK;
  if (!scree_grow_lean((void **)&s->forced_room, &s->forced_capacity, (size_t)b->count,
                       sizeof *s->forced_room))
    return scree_fail_memory(s->log, "the forces on bodies");
  s->forced = s->forced_room;
  memset(s->forced, 0, (size_t)b->count * sizeof *s->forced);
  scree_Status status = begin_loads(s, h);
  if (status) return status;
  for (int k = 0; k < b->force_count; ++k) {
    const scree_Force *force = &b->forces[k];
    scree_Twist f = scree_signal_at(&force->signal, middle);
    if (b->dimension == 2) f = scree_twist_planar(f);
    status = scree_signal_check(&force->signal, &f, "force", k, middle, s->log);
    if (status) return status;
    const double factor = factor_of(s, force);
    f = (scree_Twist){scree_scale(factor, f.linear), scree_scale(factor, f.angular)};
    if (force->body == SCREE_FORCE_ELSEWHERE) continue;
    if (force->patch)
      apply_patch(s, force, f.linear);
    else if (force->body >= 0)
      apply_force(s, force->body, force, f, h);
    else
      SCREE_ON_THREADS(b->count, s->threads, share, apply_to_all(s, force, f, h, share));
  }
  if (s->cell.any) SCREE_ON_THREADS(b->count, s->threads, share, apply_cell(s, share));
  return check_forced(s, middle);
}

scree_Twist scree_system_unscaled(const scree_System *s, int k) {
  const scree_Bodies *b = &s->bodies;
  const scree_Posed *p = &s->posed;
  const int index = scree_system_is_posed(s) ? p->problem_index[k] : -1;
  if (index < 0 || index >= p->nbodies) /* deformable bodies: see deform.c */
    return (scree_Twist){{0, 0, 0}, {0, 0, 0}};
  return scree_rigid_unscale(&b->inertia[k], b->motion[k].pose.orientation, b->dimension,
                             scree_deform_solved(s, index));
}

scree_Twist scree_system_after(const scree_System *s, int k) {
  const scree_Deformable *self = scree_bodies_deformable(&s->bodies, k);
  if (self && !s->bodies.fixed[k])
    return self->class_->twist(self, scree_deformable_q(&s->bodies, self),
                               scree_deformable_after(&s->bodies, self));
  const scree_Twist free = scree_system_free(s, k), v = scree_system_unscaled(s, k);
  const scree_Twist after = {scree_add(free.linear, v.linear), scree_add(free.angular, v.angular)};
  if (!s->cell.pressed || s->bodies.fixed[k]) return after;
  return (scree_Twist){scree_add(after.linear, scree_cell_pushed(s, k)), after.angular};
}

static void kick_all(scree_System *s, scree_Share share) {
  scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->count, share) {
    if (b->fixed[k] || scree_bodies_deformable(b, k)) continue;
    b->motion[k].velocity = scree_system_after(s, k);
  }
}

void scree_system_kick(scree_System *s) {
  SCREE_ON_THREADS(s->bodies.count, s->threads, share, kick_all(s, share));
  if (s->bodies.deformable_count) scree_deform_kick(s);
}
