/* Worlds that are divided between ranks (see step/domain.h). */
#include "core/log.h"
#include "world/world.h"

scree_Status scree_world_divide(scree_World *world, const scree_Ranks *ranks) {
  return scree_domain_divide(&world->system, ranks);
}

const char *scree_world_cannot_divide(const scree_World *world) {
  return scree_domain_refuse(&world->system);
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
  return part;
}
