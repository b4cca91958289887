/* Impulses set by the caller, from which the next step starts (see scree/world.h). */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "world/world.h"

#include <stdlib.h>

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
    }
    if (c.body[0] == c.body[1] || (bodies->fixed[c.body[0]] && bodies->fixed[c.body[1]])) continue;
    list[(*kept)++] = c;
  }
  if (list) qsort(list, *kept, sizeof *list, compare);
  return list;
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
  /* laws with a memory start without one */
  if (!list || !scree_memory_reserve(memory, kept, 0)) {
    scree_free(list);
    return scree_fail_memory(&world->log, "the impulses of contacts");
  }
  memory->count = 0;
  for (size_t n = 0; n < 2 * kept; ++n) { /* those of deformable bodies last (step/deform.h) */
    const scree_ContactImpulse *c = &list[n % kept];
    const int i = c->body[0], j = c->body[1];
    const int body = s->bodies.fixed[i] ? j : i;
    /* contacts are matched by their positions: features are unique within a pair, and differ from
     * those that the narrow phase gives */
    const scree_ContactKey key = {.i = i, .j = j, .feature = UINT32_MAX - (uint32_t)(n % kept)};
    if (scree_deform_touches(&s->bodies, &key) != (n >= kept)) continue;
    memory->keys[memory->count] = key;
    memory->impulses[memory->count] = c->impulse;
    memory->arms[memory->count++] = scree_sub(c->position, s->bodies.motion[body].pose.position);
  }
  memory->h = h;
  scree_free(list);
  return SCREE_OK;
}
