/* Impulses of a step of several kicks.
 *
 * A step that is halved, or cut at an impact, has several kicks. Results need the impulse of each
 * contact in the whole step, for its mean force or the load on a wall. After each kick the sum so
 * far is stored like the impulses that start the next solve (memory.c), and matched to the contacts
 * of the next kick. Most steps have one kick, and store nothing. */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <assert.h>

/* Add what contact c carried before, and store the sum. */
static void add_up(scree_System *s, int c, const scree_Memory *from, int32_t previous,
                   scree_Vec3 arm) {
  assert(previous < (int32_t)from->count);
  scree_Posed *p = &s->posed;
  scree_Memory *to = &s->carried.next;
  const size_t d = (size_t)s->bodies.dimension;
  const double *r = p->r + (size_t)c * d;
  double *total = p->total + (size_t)c * d;
  scree_Vec3 a[3], sum = previous < 0 ? scree_vec3(0, 0, 0) : from->impulses[previous];
  a[0] = s->contacts.normal[c];
  scree_contact_frame(a[0], (int)d, &a[1], &a[2]);
  for (size_t k = 0; k < d; ++k) total[k] = r[k] + scree_dot(sum, a[k]);
  for (size_t k = 0; k < d; ++k) sum = scree_axpy(sum, r[k], a[k]);
  if (scree_norm2(sum) == 0) return;
  to->keys[to->count] = s->contacts.keys[c];
  to->arms[to->count] = arm;
  to->impulses[to->count++] = sum;
}

static bool is_idle(const scree_System *s) {
  const scree_Posed *p = &s->posed;
  const size_t n = (size_t)p->nc * (size_t)s->bodies.dimension;
  for (size_t k = 0; k < n; ++k)
    if (p->r[k] != 0) return false;
  return true;
}

scree_Status scree_system_carry(scree_System *s) {
  scree_Posed *p = &s->posed;
  scree_Carried *carried = &s->carried;
  const scree_Memory *from = carried->kicked ? &carried->now : &carried->before;
  const size_t n = (size_t)p->nc, d = (size_t)s->bodies.dimension;
  if (!carried->any && is_idle(s)) return SCREE_OK; /* an impact without impulses */
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  int32_t *previous = SCREE_TAKE_RAW(&s->scratch, int32_t, n);
  scree_Vec3 *arms = SCREE_TAKE_RAW(&s->scratch, scree_Vec3, n);
  scree_Status status = SCREE_OK;
  if (previous && arms && scree_memory_reserve(&carried->next, n, 0) &&
      scree_grow_lean((void **)&p->total, &p->total_capacity, n * d, sizeof *p->total)) {
    scree_system_arms(s, &s->contacts, arms);
    scree_deform_match(&s->bodies, from->keys, from->arms, from->count, s->contacts.keys, arms, n,
                       previous);
    carried->next.count = 0;
    for (int c = 0; c < p->nc; ++c) add_up(s, c, from, previous[c], arms[c]);
    scree_memory_swap(&carried->now, &carried->next);
    carried->kicked = true;
  } else {
    status = scree_fail_memory(s->log, "the impulses of a step");
  }
  scree_arena_release(&s->scratch, mark);
  return status;
}

void scree_system_carry_on(scree_System *s) {
  if (s->carried.kicked) scree_memory_swap(&s->carried.before, &s->carried.now);
}

void scree_carried_fini(scree_Carried *carried) {
  scree_memory_fini(&carried->before);
  scree_memory_fini(&carried->now);
  scree_memory_fini(&carried->next);
}
