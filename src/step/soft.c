/* Impacts of soft bodies, which take longer than a contact needs to close (body/ringing.h).
 *
 * A body is being hit from the step in which something approaches it and pushes until nothing
 * pushes any more. The speed v of the impact is that of the approach of the two surfaces, and later
 * that at which the material where the body is touched moves along the normal, relative to the
 * motion of the body as a rigid one: in the first half of an impact it becomes slower as energy is
 * stored, and in the second half as fast again. A body that rests or rolls, or that vibrates but
 * touches nothing, is not being hit. The energy of the impact is m v^2 / 2, m the mass of the
 * lighter of the two bodies, and steps misplace a part of it that depends on their length.
 *
 * A step also misplaces energy in vibrations that are too large and too fast for it
 * (deform_energy.c). Shorter parts misplace less.
 *
 * The world divides its steps by the sums over all contacts (world/refine.c). */
#include "body/ringing.h"
#include "step/system.h"

/* Speed along the normal at which the material of deformable body k that contact c touches moves
 * relative to the rigid motion of the body, before the kick. */
static double rate_of(const scree_System *s, int c, int side, int k) {
  const scree_Motion *motion = &s->bodies.motion[k];
  const scree_Vec3 point = scree_system_point(s, (size_t)c, side);
  const uint32_t part = s->contacts.keys[c].part[side];
  const scree_Vec3 v = scree_deform_velocity(s, k, SCREE_BEFORE, point, part);
  const scree_Vec3 rigid = scree_rigid_velocity(&motion->pose, &motion->velocity, point);
  return fabs(scree_dot(s->contacts.normal[c], scree_sub(v, rigid)));
}

static double mass_of(const scree_Bodies *b, int k) {
  return b->fixed[k] ? INFINITY : b->inertia[k].mass;
}

void scree_system_soft(const scree_System *s, scree_SoftImpacts *soft) {
  const scree_Bodies *b = &s->bodies;
  const scree_Posed *p = &s->posed;
  *soft = (scree_SoftImpacts){0};
  if (!scree_system_deforms(s) || !s->scheme->looks_ahead) return;
  for (int c = s->deform.first; c < p->nc; ++c) {
    const size_t at = (size_t)c * (size_t)b->dimension;
    if (!(p->r[at] > 0)) continue;
    const int pair[2] = {s->contacts.keys[c].i, s->contacts.keys[c].j};
    const double mass = fmin(mass_of(b, pair[0]), mass_of(b, pair[1]));
    for (int side = 0; side < 2; ++side) {
      const scree_Deformable *self = scree_bodies_deformable(b, pair[side]);
      if (!self || b->fixed[pair[side]]) continue;
      const double speed = fmax(-p->before[at], rate_of(s, c, side, pair[side]));
      const double energy = 0.5 * mass * speed * speed;
      soft->energy += energy;
      for (int level = 0; level < SCREE_PART_LEVELS; ++level)
        soft->error[level] += energy * scree_ringing_error(&self->ringing, &self->elastic, speed,
                                                           ldexp(s->settings.step, -level));
    }
  }
  double sums[1 + SCREE_PART_LEVELS] = {soft->energy};
  for (int level = 0; level < SCREE_PART_LEVELS; ++level) sums[1 + level] = soft->error[level];
  scree_system_sums(s, sums, 1 + SCREE_PART_LEVELS);
  soft->energy = sums[0];
  for (int level = 0; level < SCREE_PART_LEVELS; ++level) soft->error[level] = sums[1 + level];
}
