/* Data that a step keeps for the next one: impulses and the memory of contact laws, matched by the
 * key and position of their contacts. The impulses start the next solve (warm start); the memory of
 * laws is state, and belongs to the last accepted step, however often the current one is tried. */
#include "core/memory.h"
#include "core/log.h"
#include "step/system.h"

#include <assert.h>
#include <string.h>

bool scree_memory_reserve(scree_Memory *m, size_t count, size_t stride) {
  if (!scree_grow_lean((void **)&m->keys, &m->key_capacity, count, sizeof *m->keys) ||
      !scree_grow_lean((void **)&m->impulses, &m->impulse_capacity, count, sizeof *m->impulses) ||
      !scree_grow_lean((void **)&m->arms, &m->arm_capacity, count, sizeof *m->arms) ||
      !scree_grow_lean((void **)&m->values, &m->value_capacity, count * stride, sizeof *m->values))
    return false;
  m->stride = stride;
  return true;
}

void scree_memory_fini(scree_Memory *m) {
  scree_free(m->keys);
  scree_free(m->impulses);
  scree_free(m->arms);
  scree_free(m->values);
  scree_free(m->late.at);
  *m = (scree_Memory){0};
}

void scree_memory_swap(scree_Memory *a, scree_Memory *b) {
  const scree_Memory c = *a;
  *a = *b;
  *b = c;
}

bool scree_memory_copy(const scree_Memory *from, scree_Memory *to) {
  if (!scree_memory_reserve(to, from->count, from->stride) ||
      !scree_grow_lean((void **)&to->late.at, &to->late.capacity, from->late.count,
                       sizeof *to->late.at))
    return false;
  if (from->late.count) memcpy(to->late.at, from->late.at, from->late.count * sizeof *to->late.at);
  to->late.count = from->late.count;
  if (from->count) {
    memcpy(to->keys, from->keys, from->count * sizeof *to->keys);
    memcpy(to->impulses, from->impulses, from->count * sizeof *to->impulses);
    memcpy(to->arms, from->arms, from->count * sizeof *to->arms);
    if (from->stride)
      memcpy(to->values, from->values, from->count * from->stride * sizeof *to->values);
  }
  to->count = from->count;
  to->h = from->h;
  return true;
}

size_t scree_memory_bytes(const scree_Memory *m) {
  return m->key_capacity * sizeof *m->keys + m->impulse_capacity * sizeof *m->impulses +
         m->arm_capacity * sizeof *m->arms + m->value_capacity * sizeof *m->values +
         m->late.capacity * sizeof *m->late.at;
}

scree_Status scree_memory_order(scree_System *s) {
  const scree_Memory *from = &s->memory;
  scree_Memory to = {0};
  if (!s->bodies.deformable_index || from->count == 0) return SCREE_OK;
  if (!scree_memory_reserve(&to, from->count, from->stride)) {
    scree_memory_fini(&to);
    return scree_fail_memory(s->log, "the impulses of contacts");
  }
  for (int last = 0; last < 2; ++last)
    for (size_t k = 0; k < from->count; ++k) {
      if (scree_deform_touches(&s->bodies, &from->keys[k]) != (last == 1)) continue;
      const size_t at = to.count++, stride = from->stride;
      to.keys[at] = from->keys[k];
      to.impulses[at] = from->impulses[k];
      to.arms[at] = from->arms[k];
      if (stride)
        memcpy(to.values + at * stride, from->values + k * stride, stride * sizeof *to.values);
    }
  to.h = from->h;
  to.late = s->memory.late;
  s->memory.late = (scree_LateList){0};
  scree_memory_fini(&s->memory);
  s->memory = to;
  return SCREE_OK;
}

/* Obstacles may be far away: a position is relative to the origin of the other body. */
static scree_Vec3 arm_of(const scree_System *s, const scree_Points *points, size_t k) {
  const scree_ContactKey *key = &points->keys[k];
  const scree_Vec3 origin = s->bodies.fixed[key->i] ? scree_system_second(s, key)
                                                    : s->bodies.motion[key->i].pose.position;
  return scree_sub(points->position[k], origin);
}

static void fill_arms(const scree_System *s, const scree_Points *points, scree_Vec3 *arms,
                      scree_Share share) {
  SCREE_OVER_BODIES(k, (int)points->count, share) arms[k] = arm_of(s, points, (size_t)k);
}

void scree_system_arms(const scree_System *s, const scree_Points *points, scree_Vec3 *arms) {
  SCREE_ON_THREADS((int)points->count, s->threads, share, fill_arms(s, points, arms, share));
}

/* previous[c]: the entry of contact c in a memory, or -1. */
static void match(const scree_System *s, const scree_Memory *memory, const scree_Vec3 *arms,
                  int32_t *previous) {
  scree_deform_match(&s->bodies, memory->keys, memory->arms, memory->count, s->contacts.keys, arms,
                     (size_t)s->posed.nc, previous);
}

/* The memory of laws after the last accepted step; zero for new contacts. */
static void recall(scree_System *s, const int32_t *previous) {
  scree_Posed *p = &s->posed;
  const scree_Memory *memory = &s->memory;
  const size_t size = p->memory_size;
  for (int c = 0; c < p->nc; ++c) {
    double *values = p->memory + (size_t)c * size;
    if (previous[c] < 0 || memory->stride != size)
      memset(values, 0, size * sizeof *values);
    else
      memcpy(values, memory->values + (size_t)previous[c] * size, size * sizeof *values);
  }
}

static void find_loaded(scree_System *s, const int32_t *previous, scree_Share share) {
  scree_Posed *p = &s->posed;
  SCREE_OVER_BODIES(c, p->nc, share) {
    const int32_t old = previous[c];
    assert(old < (int32_t)s->memory.count);
    p->loaded[c] = old >= 0 && scree_dot(s->contacts.normal[c], s->memory.impulses[old]) > 0;
  }
}

/* r from the impulses of `memory` times `scale`. */
static void take_impulses(scree_System *s, const scree_Memory *memory, double scale,
                          const int32_t *previous, scree_Share share) {
  scree_Posed *p = &s->posed;
  const int d = s->bodies.dimension;
  SCREE_OVER_BODIES(c, p->nc, share) {
    double *r = p->r + (size_t)c * (size_t)d;
    const int32_t old = previous[c];
    scree_Vec3 a[3];
    a[0] = s->contacts.normal[c];
    scree_contact_frame(a[0], d, &a[1], &a[2]);
    for (int k = 0; k < d; ++k) r[k] = old < 0 ? 0 : scale * scree_dot(a[k], memory->impulses[old]);
    if (!s->laws.any_rolling) continue;
    const size_t stride = memory->stride;
    const double *moment = old < 0 ? NULL : memory->values + (size_t)(old + 1) * stride - 3;
    p->moment[c] = !moment || stride != p->memory_size
                       ? scree_vec3(0, 0, 0)
                       : scree_scale(scale, scree_vec3(moment[0], moment[1], moment[2]));
  }
}

static void warm(scree_System *s, double h, const scree_Vec3 *arms, int32_t *previous) {
  scree_Posed *p = &s->posed;
  const bool tried = s->trial.h > 0;
  const scree_Memory *memory = tried ? &s->trial : &s->memory;
  match(s, &s->memory, arms, previous);
  if (p->loaded) SCREE_ON_THREADS(p->nc, s->threads, share, find_loaded(s, previous, share));
  if (s->laws.memory > 0) recall(s, previous);
  if (tried) match(s, memory, arms, previous);
  const double scale = memory->h > 0 ? h / memory->h : 0;
  SCREE_ON_THREADS(p->nc, s->threads, share, take_impulses(s, memory, scale, previous, share));
}

scree_Status scree_system_warm(scree_System *s, double h) {
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  int32_t *previous = SCREE_TAKE_RAW(&s->scratch, int32_t, s->posed.nc);
  scree_Vec3 *arms = SCREE_TAKE_RAW(&s->scratch, scree_Vec3, s->posed.nc);
  scree_Status status = SCREE_OK;
  if (previous && arms) {
    scree_system_arms(s, &s->contacts, arms);
    warm(s, h, arms, previous);
  } else {
    status = scree_fail_memory(s->log, "the matching of contacts");
  }
  scree_arena_release(&s->scratch, mark);
  return status;
}

static bool is_zero(const double *x, size_t n) {
  for (size_t k = 0; k < n; ++k)
    if (x[k] != 0) return false;
  return true;
}

/* The memory of contact c after the step. */
static void update(const scree_System *s, int c, const scree_Vec3 *axes, double *values) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_LawContact *law = scree_system_law(s, key->i, key->j);
  const size_t d = (size_t)s->bodies.dimension;
  memset(values, 0, s->posed.memory_size * sizeof *values);
  if (s->laws.any_rolling) {
    const scree_Vec3 moment = s->posed.moment[c];
    double *last = values + s->posed.memory_size - 3;
    last[0] = moment.x;
    last[1] = moment.y;
    last[2] = moment.z;
  }
  if (!law->law->update) return;
  const scree_LawPoint point = scree_system_law_point(s, c, axes, s->posed.before + (size_t)c * d);
  law->law->update(law->pair, &point, s->posed.r + (size_t)c * d, s->posed.u + (size_t)c * d,
                   values);
}

scree_Status scree_system_remember(scree_System *s, double h) {
  scree_Posed *p = &s->posed;
  scree_Memory *memory = &s->trial;
  const size_t d = (size_t)s->bodies.dimension;
  const size_t stride = (size_t)s->laws.memory;
  size_t count = 0;
  for (int c = 0; c < p->nc; ++c) count += !is_zero(p->r + (size_t)c * d, d);
  if (stride) count = (size_t)p->nc;
  if (!scree_memory_reserve(memory, count, stride) ||
      (stride &&
       !scree_grow_lean((void **)&p->kept, &p->kept_capacity, (size_t)p->nc, sizeof *p->kept)))
    return scree_fail_memory(s->log, "the impulses of a step");
  for (int c = 0; stride && c < p->nc; ++c) p->kept[c] = -1;
  memory->count = 0;
  for (int c = 0; c < p->nc; ++c) {
    const double *r = p->r + (size_t)c * d;
    double values[SCREE_LAW_MEMORY];
    scree_Vec3 a[3], impulse = {0, 0, 0};
    const bool pushes = !is_zero(r, d);
    if (!pushes && !stride) continue;
    a[0] = s->contacts.normal[c];
    scree_contact_frame(a[0], (int)d, &a[1], &a[2]);
    if (stride) update(s, c, a, values);
    if (!pushes && is_zero(values, stride)) continue;
    for (size_t k = 0; k < d; ++k) impulse = scree_axpy(impulse, r[k], a[k]);
    memory->keys[memory->count] = s->contacts.keys[c];
    memory->arms[memory->count] = arm_of(s, &s->contacts, (size_t)c);
    if (stride) {
      memcpy(memory->values + memory->count * stride, values, stride * sizeof *values);
      p->kept[c] = (int32_t)memory->count;
    }
    memory->impulses[memory->count++] = impulse;
  }
  assert(memory->count <= count);
  memory->h = h;
  return SCREE_OK;
}

scree_LawEnergy scree_system_stored(const scree_System *s, const scree_Memory *memory) {
  scree_LawEnergy sum = {0};
  for (size_t k = 0; k < memory->count && memory->stride > 0; ++k) {
    const scree_ContactKey *key = &memory->keys[k];
    const scree_LawContact *law = scree_system_law(s, key->i, key->j);
    if (!law->law->energy || (size_t)s->laws.memory != memory->stride) continue;
    const scree_LawEnergy one = law->law->energy(memory->values + k * memory->stride);
    sum.normal += one.normal;
    sum.tangent += one.tangent;
    sum.viscous_n += one.viscous_n;
    sum.viscous_t += one.viscous_t;
    sum.plastic += one.plastic;
    sum.power += one.power;
  }
  double all[6] = {sum.normal, sum.tangent, sum.viscous_n, sum.viscous_t, sum.plastic, sum.power};
  if (s->laws.memory > 0) scree_system_sums(s, all, 6);
  return (scree_LawEnergy){.normal = all[0],
                           .tangent = all[1],
                           .viscous_n = all[2],
                           .viscous_t = all[3],
                           .plastic = all[4],
                           .power = all[5]};
}
