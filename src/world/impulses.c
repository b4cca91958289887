/* Impulses set by the caller, from which the next step starts (see scree/world.h). */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "world/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
  const scree_ContactImpulse *x = a, *y = b;
  if (x->body[0] != y->body[0]) return x->body[0] < y->body[0] ? -1 : 1;
  if (x->body[1] != y->body[1]) return x->body[1] < y->body[1] ? -1 : 1;
  return 0;
}

/* Copies with body[0] < body[1], sorted, without pairs that cannot touch; null: out of memory. */
static scree_ContactImpulse *sorted(const scree_World *world, const scree_ContactImpulse *given,
                                    int count, size_t *kept) {
  const scree_Bodies *bodies = &world->system.bodies;
  scree_ContactImpulse *list = SCREE_ALLOC(scree_ContactImpulse, count);
  *kept = 0;
  for (int k = 0; list && k < count; ++k) {
    scree_ContactImpulse c = given[k];
    if (c.body[0] > c.body[1]) {
      c.body[0] = given[k].body[1];
      c.body[1] = given[k].body[0];
      c.impulse = scree_scale(-1, c.impulse);
      c.moment = scree_scale(-1, c.moment);
      c.memory = NULL; /* it is that of the first body */
    }
    if (c.body[0] == c.body[1] || (bodies->fixed[c.body[0]] && bodies->fixed[c.body[1]])) continue;
    list[(*kept)++] = c;
  }
  if (list) qsort(list, *kept, sizeof *list, compare);
  return list;
}

static int law_number(const scree_LawClass *law) {
  int k = 0;
  while (scree_law_registry[k] != law) ++k;
  return k + 1;
}

void scree_world_contact_memory(const scree_World *world, int contact, double *values) {
  const scree_System *s = &world->system;
  const scree_Memory *memory = &s->memory;
  memset(values, 0, SCREE_CONTACT_MEMORY * sizeof *values);
  if (contact < 0 || contact >= scree_world_contact_count(world) || memory->stride == 0 ||
      memory->stride != (size_t)s->laws.memory || !s->posed.kept || s->posed.kept[contact] < 0)
    return;
  const scree_ContactKey *key = &s->contacts.keys[contact];
  const scree_LawClass *law = scree_system_law(s, key->i, key->j)->law;
  assert(law->memory < SCREE_CONTACT_MEMORY);
  if (law->memory == 0) return;
  memcpy(values, memory->values + (size_t)s->posed.kept[contact] * memory->stride,
         (size_t)law->memory * sizeof *values);
  values[SCREE_CONTACT_MEMORY - 1] = law_number(law);
}

/* Memory of a contact (laws.memory): of its law, and the moment of rolling (rolling.h). */
static void recall(const scree_System *s, const scree_ContactImpulse *c, double *values) {
  const size_t stride = (size_t)s->laws.memory;
  const scree_LawClass *law = scree_system_law(s, c->body[0], c->body[1])->law;
  memset(values, 0, stride * sizeof *values);
  if (s->laws.any_rolling) {
    const scree_BodyCold *cold = s->bodies.cold;
    const double radius = 0.5 * scree_pair_size(&cold[c->body[0]].shape, &cold[c->body[1]].shape);
    const scree_Vec3 moment = scree_scale(radius > 0 ? 1 / radius : 0, c->moment);
    memcpy(values + stride - 3, &moment, sizeof moment);
  }
  if (!c->memory || law->memory == 0 || c->memory[SCREE_CONTACT_MEMORY - 1] != law_number(law))
    return;
  memcpy(values, c->memory, (size_t)law->memory * sizeof *values);
}

scree_Status scree_world_set_impulses(scree_World *world, const scree_ContactImpulse *contacts,
                                      int count, double h) {
  scree_System *s = &world->system;
  scree_Memory *memory = &s->memory;
  if (count < 0 || !(h > 0))
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "impulses: found %d of a step of %g s, expected a count of at least 0 and a "
                      "step above 0",
                      count, h);
  for (int k = 0; k < count; ++k)
    for (int side = 0; side < 2; ++side)
      if (contacts[k].body[side] < 0 || contacts[k].body[side] >= s->bodies.count)
        return scree_fail(&world->log, SCREE_BAD_INPUT,
                          "impulses: contact %d names body %d, expected 0 to %d", k,
                          contacts[k].body[side], s->bodies.count - 1);
  size_t kept = 0;
  scree_ContactImpulse *list = sorted(world, contacts, count, &kept);
  scree_law_table_fill(&s->laws, h);
  const size_t stride = (size_t)s->laws.memory;
  if (!list || !scree_memory_reserve(memory, kept, stride)) {
    scree_free(list);
    return scree_fail_memory(&world->log, "the impulses of contacts");
  }
  memory->count = 0;
  for (size_t n = 0; n < 2 * kept; ++n) { /* those of deformable bodies last (step/deform.h) */
    const scree_ContactImpulse *c = &list[n % kept];
    const int i = c->body[0], j = c->body[1];
    const int body = s->bodies.fixed[i] ? j : i;
    /* contacts are matched by their positions: features are unique within a pair, and differ from
     * those that the narrow phase gives, but for the only contact of a pair */
    const size_t at = n % kept;
    const bool alone = (at == 0 || compare(&list[at - 1], c) != 0) &&
                       (at + 1 == kept || compare(c, &list[at + 1]) != 0);
    const scree_ContactKey key = {
        .i = i, .j = j, .feature = alone && c->named ? c->feature : UINT32_MAX - (uint32_t)at};
    if (scree_deform_touches(&s->bodies, &key) != (n >= kept)) continue;
    memory->keys[memory->count] = key;
    memory->impulses[memory->count] = c->impulse;
    if (stride) recall(s, c, memory->values + stride * memory->count);
    memory->arms[memory->count++] = scree_sub(c->position, s->bodies.motion[body].pose.position);
  }
  memory->h = h;
  scree_free(list);
  return SCREE_OK;
}
