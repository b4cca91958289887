/* Worlds that are divided between ranks (see step/domain.h). */
#include "core/log.h"
#include "world/world.h"

scree_Status scree_world_divide(scree_World *world, const scree_Ranks *ranks) {
  return scree_domain_divide(&world->system, ranks);
}

scree_Status scree_world_pass_body(scree_World *world, const scree_Shape *shape) {
  world->system.energy_known = false;
  return scree_domain_pass_body(&world->system, shape);
}

void scree_world_set_cuts(scree_World *world, const scree_Cut *cuts) {
  scree_Domain *p = &world->system.domain;
  if (p->size == 1) return;
  p->cut_count = p->size - 1;
  for (int k = 0; k < p->cut_count; ++k) p->cut[k] = cuts[k];
}

void scree_world_passed(scree_World *world) {
  scree_domain_passed(&world->system);
}

const char *scree_world_cannot_divide(const scree_World *world) {
  return scree_domain_refuse(&world->system);
}

scree_Status scree_world_settle(scree_World *world) {
  const scree_Status status = scree_domain_begin(&world->system, true);
  world->body_generation++;
  return status;
}

const scree_Ranks *scree_world_ranks(const scree_World *world) {
  return world->system.domain.ranks;
}

int scree_world_whole_count(const scree_World *world) {
  const scree_System *s = &world->system;
  return s->domain.global ? s->domain.whole : s->bodies.count;
}

int scree_body_find(const scree_World *world, int number) {
  const scree_System *s = &world->system;
  return number >= 0 && number < scree_world_whole_count(world)
             ? scree_domain_local(&s->domain, s->bodies.count, number)
             : -1;
}

bool scree_body_is_mine(const scree_World *world, int body) {
  const scree_System *s = &world->system;
  if (body < 0 || body >= s->bodies.count) return false;
  return s->bodies.fixed[body] & SCREE_BODY_OBSTACLE ? s->domain.rank == 0
                                                     : scree_domain_owns(&s->domain, body);
}

int scree_body_number(const scree_World *world, int body) {
  return body >= 0 && body < world->system.bodies.count
             ? scree_domain_global(&world->system.domain, body)
             : -1;
}

bool scree_body_is_owned(const scree_World *world, int body) {
  const scree_System *s = &world->system;
  return body >= 0 && body < s->bodies.count && !(s->bodies.fixed[body] & SCREE_BODY_OBSTACLE) &&
         scree_domain_owns(&s->domain, body);
}

scree_WorldPart scree_world_part(const scree_World *world) {
  const scree_System *s = &world->system;
  const scree_Domain *p = &s->domain;
  scree_WorldPart part = {.whole = p->global ? p->whole : s->bodies.count,
                          .contacts = scree_world_contact_count(world),
                          .builds = p->counts.builds,
                          .cuts = p->counts.cuts,
                          .migrated = p->counts.migrated,
                          .imbalance = p->global ? p->imbalance : 1,
                          .memory = scree_world_memory(world) + scree_world_solver_memory(world)};
  for (int k = 0; k < s->bodies.count; ++k) {
    if (s->bodies.fixed[k] & SCREE_BODY_OBSTACLE) continue;
    if (scree_domain_owns(p, k))
      ++part.owned;
    else
      ++part.copies;
  }
  for (int k = 0; p->send_start && p->receive_start && k < p->size; ++k)
    part.neighbours +=
        p->send_start[k + 1] > p->send_start[k] || p->receive_start[k + 1] > p->receive_start[k];
  return part;
}
