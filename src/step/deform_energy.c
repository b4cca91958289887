/* Energy of deformable bodies in a step.
 *
 * The linearly implicit kick keeps the energy of linear vibrations, but not that of large ones
 * which the step does not resolve (h omega > 1): their energy may grow from step to step until the
 * body is turned inside out. The energy that a step creates in a body is known,
 *
 *     c = U(end) - U(start) + work of internal forces in the kick ,
 *
 * U the elastic energy. Its sum over the steps is kept for each body, and whatever is positive is
 * taken from the vibration: the velocity is v = v_r + v_s, v_r that of the rigid motion with the
 * same linear and angular momentum, and v_s is multiplied by the factor s in [0, 1] for which the
 * kinetic energy is lower by that sum. Both momenta stay as they are. Energy that could not be
 * taken stays in the sum. Resolved vibrations have a sum that oscillates about zero: after the
 * first of its maxima nothing is taken. A negative sum is limited to a part of the body's energy,
 * so that an early loss does not pay for growth later on.
 *
 * A body that nothing pushes or holds gets lost energy back in the same way (s > 1), so its energy
 * does not change. Without this two balls of rubber that had met at 1 m/s, and vibrated freely at
 * steps of 1.6 times the time of a wave over half their size (body/ringing.h), had lost 6 % of
 * their energy after a hundred steps. A body with contacts does not: the vibration would press
 * them, which the law of the contacts does not see. Nor does an explicit step, whose energy
 * oscillates. What a body lacks is not lost yet (`swing` of system.h): getting it back creates no
 * energy.
 *
 * Schemes of the papers (which do not look ahead) keep their velocities as published. */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <assert.h>

static const double credit = 0.1; /* most negative sum, relative to the energy of the body */
/* Most by which the vibration grows in a step in which it gets energy back. */
static const double factor = 2;
static const double least = 1e-12; /* positive sum that is ignored, relative to it: round-off */

static void strain_all(scree_System *s, bool end, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->deformable_count, share) {
    const scree_Deformable *self = &b->deformable[k];
    scree_DeformEnergy *e = &s->deform.energy[k];
    const double strain =
        b->fixed[self->body] ? 0 : self->class_->strain(self, scree_deformable_q(b, self));
    if (end) {
      e->end = strain;
      continue;
    }
    *e = (scree_DeformEnergy){.begun = strain};
  }
}

static bool owned(const scree_System *s, int k) {
  return scree_domain_owns(&s->domain, s->bodies.deformable[k].body);
}

scree_Status scree_deform_begin(scree_System *s) {
  scree_Deform *f = &s->deform;
  const int n = s->bodies.deformable_count;
  f->strain = f->strain_end = 0;
  f->inverted = -1;
  f->misplaced = 0;
  if (!scree_system_deforms(s)) return SCREE_OK;
  scree_Status status = SCREE_OK;
  if (!scree_grow_lean((void **)&f->energy, &f->energy_capacity, (size_t)n, sizeof *f->energy))
    status = scree_fail_memory(s->log, "the energies of deformable bodies");
  status = scree_domain_agree(s, status);
  if (status) return status;
  SCREE_ON_THREADS(n, s->threads, share, strain_all(s, false, share));
  for (int k = 0; k < n; ++k)
    if (owned(s, k)) f->strain += f->energy[k].begun;
  scree_system_sums(s, &f->strain, 1);
  return SCREE_OK;
}

/* Velocity of the rigid motion with the momenta of v; if nodes are held or driven, theirs alone. */
static void rigid_part(const scree_Deformable *self, const double *q, const double *v,
                       double *rigid) {
  scree_Twist turn = {{0, 0, 0}, {0, 0, 0}};
  scree_Vec3 J[3]; /* columns of the inertia */
  if (self->held > 0) {
    const size_t n = (size_t)self->size;
    for (size_t i = 0; i < self->components; ++i)
      rigid[i] = self->class_->is_held(self, (int)(i / n)) ? v[i] : 0;
    return;
  }
  const bool plane = self->dimension == 2;
  for (int k = plane ? 2 : 0; k < 3; ++k) {
    turn.angular = scree_vec3(k == 0, k == 1, k == 2);
    self->class_->spin(self, q, &turn, rigid);
    J[k] = self->class_->momentum(self, q, rigid);
  }
  const scree_Vec3 L = self->class_->momentum(self, q, v);
  turn.linear = self->class_->twist(self, q, v).linear;
  if (plane) {
    turn.angular = scree_vec3(0, 0, L.z / J[2].z);
  } else {
    const scree_Vec3 yz = scree_cross(J[1], J[2]);
    const double det = scree_dot(J[0], yz);
    turn.angular = scree_vec3(scree_dot(L, yz) / det, scree_dot(L, scree_cross(J[2], J[0])) / det,
                              scree_dot(L, scree_cross(J[0], J[1])) / det);
  }
  self->class_->spin(self, q, &turn, rigid);
}

/* Lower the kinetic energy of the vibration by at most `amount`, or raise it if that is negative;
 * returns by how much. `rigid` and `trial` are memory. */
static double tune(const scree_Deformable *self, const double *q, double *v, double amount,
                   double *rigid, double *trial) {
  const size_t n = self->components;
  rigid_part(self, q, v, rigid);
  for (size_t i = 0; i < n; ++i) trial[i] = v[i] - rigid[i];
  const double all = self->class_->kinetic(self, v, NULL);
  const double own = self->class_->kinetic(self, rigid, NULL);
  const double rest = self->class_->kinetic(self, trial, NULL);
  if (!(rest > 0)) return 0;
  /* T(s) = own + mixed s + rest s^2, mixed = 0 up to round-off and the lumping of masses */
  const double mixed = all - own - rest, wanted = all - amount;
  const double root = mixed * mixed - 4 * rest * (own - wanted);
  const double s =
      root > 0 ? fmin(amount < 0 ? factor : 1, fmax(0, (sqrt(root) - mixed) / (2 * rest))) : 0;
  for (size_t i = 0; i < n; ++i) trial[i] = rigid[i] + s * (v[i] - rigid[i]);
  const double taken = all - self->class_->kinetic(self, trial, NULL);
  if (!(amount < 0 ? taken < 0 : taken > 0)) return 0; /* a motion may be infinite */
  for (size_t i = 0; i < n; ++i) v[i] = trial[i];
  return taken;
}

/* Mark the bodies that something pushes or holds. */
static scree_Status find_pushed(scree_System *s) {
  const scree_Bodies *b = &s->bodies;
  const scree_Posed *p = &s->posed;
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  double *pushes = SCREE_TAKE_RAW(&s->scratch, double, b->count);
  scree_Status status = pushes ? SCREE_OK : scree_fail_memory(s->log, "the pushed bodies");
  status = scree_domain_agree(s, status);
  if (!status) {
    for (int k = 0; k < b->count; ++k) pushes[k] = 0;
    for (int c = s->deform.first; c < p->nc; ++c) {
      if (!(p->r[(size_t)c * (size_t)b->dimension] > 0)) continue;
      pushes[s->contacts.keys[c].i]++;
      pushes[s->contacts.keys[c].j]++;
    }
    if (s->domain.global && s->domain.size > 1) status = scree_domain_sum_bodies(s, pushes);
  }
  for (int k = 0; !status && k < b->deformable_count; ++k) {
    const int body = b->deformable[k].body;
    const bool held = s->joints.all > 0 && p->problem_index[body] >= 0;
    s->deform.energy[k].pushed = held || pushes[body] > 0;
  }
  scree_arena_release(&s->scratch, mark);
  return status;
}

static void settle_all(scree_System *s, scree_Share share) {
  scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->deformable_count, share) {
    const scree_Deformable *self = &b->deformable[k];
    scree_DeformEnergy *e = &s->deform.energy[k];
    if (b->fixed[self->body] || !owned(s, k)) continue;
    const double *q = scree_deformable_q(b, self);
    double *v = scree_deformable_v(b, self), own;
    self->class_->kinetic(self, v, &own);
    const double scale = e->end + own;
    double sum = b->account[k] + e->work + e->end - e->begun;
    const bool lost = sum < -least * scale && !self->elastic.explicit_ && !e->pushed;
    if ((sum > least * scale || lost) && s->scheme->looks_ahead) {
      e->taken =
          tune(self, q, v, sum, scree_deformable_change(b, self), scree_deformable_after(b, self));
      sum -= e->taken;
      if (e->taken != 0) scree_deformable_update(b, self);
    }
    e->owed = fmin(0, b->account[k]);
    e->misplaced = self->elastic.explicit_ ? 0 : fabs(sum - b->account[k]);
    b->account[k] = fmax(sum, -credit * scale);
    e->owed -= fmin(0, b->account[k]);
  }
}

scree_Status scree_deform_settle(scree_System *s, scree_EnergyBalance *balance) {
  scree_Deform *f = &s->deform;
  const int n = s->bodies.deformable_count;
  if (!scree_system_deforms(s)) return SCREE_OK;
  SCREE_ON_THREADS(n, s->threads, share, strain_all(s, true, share));
  int inverted = -1;
  for (int k = n - 1; k >= 0; --k)
    if (owned(s, k) && !isfinite(f->energy[k].end)) inverted = s->bodies.deformable[k].body;
  scree_Status status = scree_deform_judge(s, inverted);
  if (!status) status = find_pushed(s);
  if (status) return status;
  SCREE_ON_THREADS(n, s->threads, share, settle_all(s, share));
  double taken = 0, owed = 0, misplaced = 0;
  for (int k = 0; k < n; ++k) {
    if (!owned(s, k)) continue;
    owed += f->energy[k].owed;
    misplaced += f->energy[k].misplaced;
    f->strain_end += f->energy[k].end;
    if (s->domain.global)
      taken += f->energy[k].taken;
    else
      balance->scheme -= f->energy[k].taken;
  }
  double sums[4] = {f->strain_end, taken, owed, misplaced};
  scree_system_sums(s, sums, 4);
  f->strain_end = sums[0];
  if (s->domain.global) balance->scheme -= sums[1];
  s->swing += sums[2];
  f->misplaced = sums[3];
  return SCREE_OK;
}

scree_Status scree_deform_refuse(const scree_System *s) {
  return scree_fail(s->log, SCREE_BAD_INPUT,
                    "body %d: it is turned inside out or its volume vanishes; a shorter step or "
                    "a higher Young's modulus may help",
                    s->deform.inverted);
}
