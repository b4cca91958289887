/* The state of a divided world in one place, and back (see scree/world.h).
 *
 * Bodies and contacts are named by their numbers in the whole world. To rank 0 each rank sends what
 * it owns; from rank 0 everything is sent to all in pieces, of which each rank takes its own, so
 * that no rank but 0 needs memory for the whole. */
#include "world/spread.h"
#include "core/log.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 16384 }; /* bodies or contacts in one message */

typedef scree_SentBody Body;

/* All other state, the same on all ranks of a divided world. */
typedef struct Scalars {
  scree_WorldTotals progress;
  int64_t bodies, contacts, stride;
} Scalars;

static Scalars get_scalars(const scree_World *world) {
  const scree_System *s = &world->system;
  Scalars x;
  memset(&x, 0, sizeof x);
  scree_world_get_progress(world, &x.progress);
  x.bodies = s->domain.global ? s->domain.whole : s->bodies.count;
  x.contacts = (int64_t)s->memory.count;
  x.stride = (int64_t)s->memory.stride;
  return x;
}

static void set_scalars(scree_World *world, const Scalars *x) {
  scree_world_set_progress(world, &x->progress);
  world->system.memory.stride = (size_t)x->stride;
}

scree_SentBody scree_spread_get(const scree_System *s, int k, const int *late_of) {
  Body body;
  memset(&body, 0, sizeof body);
  body.motion = s->bodies.motion[k];
  body.creep = scree_creep_of(s, k);
  body.gone = s->bodies.gone ? s->bodies.gone[k] : -1;
  body.number = scree_domain_global(&s->domain, k);
  body.late = late_of[k] >= 0;
  if (body.late) body.way = s->memory.late.at[late_of[k]];
  return body;
}

int *scree_spread_late(const scree_System *s) {
  int *late_of = SCREE_ALLOC(int, s->bodies.count);
  for (int k = 0; late_of && k < s->bodies.count; ++k) late_of[k] = -1;
  for (size_t k = 0; late_of && k < s->memory.late.count; ++k)
    late_of[s->memory.late.at[k].body] = (int)k;
  return late_of;
}

bool scree_spread_put(scree_System *s, int k, const Body *body) {
  s->bodies.motion[k] = body->motion;
  const int64_t gone = s->bodies.gone ? s->bodies.gone[k] : -1;
  if (gone != body->gone && scree_bodies_set_gone(&s->bodies, k, body->gone, s->log)) return false;
  s->bodies.motion[k] = body->motion; /* it may have been put to rest */
  s->creep.bodies[k] = body->creep;
  return !body->late || scree_late_add(&s->memory.late, k, body->way.way, body->way.left);
}

static int compare_numbers(const void *a, const void *b) {
  const scree_DeformedBody *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

scree_Status scree_spread_deformed(const scree_System *s, scree_DeformedList *list) {
  const scree_Bodies *b = &s->bodies;
  const scree_Domain *p = &s->domain;
  double most = b->deformable_count;
  *list = (scree_DeformedList){0};
  scree_ranks_most(p->ranks, &most, 1);
  if (!(most > 0)) return SCREE_OK;
  const size_t room = (size_t)most, all = room * (size_t)p->size;
  scree_DeformedBody *mine = SCREE_ALLOC(scree_DeformedBody, room);
  list->body = SCREE_ALLOC(scree_DeformedBody, all);
  const bool enough = mine && list->body;
  const scree_Status status =
      scree_domain_agree(s, enough ? SCREE_OK : scree_fail_memory(s->log, "deformable bodies"));
  if (!status && enough) {
    for (size_t k = 0; k < room; ++k) {
      const scree_Deformable *self = k < (size_t)b->deformable_count ? &b->deformable[k] : NULL;
      mine[k].number = -1;
      if (self && scree_domain_owns(p, self->body))
        mine[k] = (scree_DeformedBody){p->global[self->body], (int)self->components,
                                       self->class_->nodes ? self->vertices : 0};
    }
    scree_ranks_gather_all(p->ranks, mine, room * sizeof *mine, list->body);
    for (size_t k = 0; k < all; ++k)
      if (list->body[k].number >= 0) list->body[list->count++] = list->body[k];
    if (list->count) qsort(list->body, list->count, sizeof *list->body, compare_numbers);
  }
  scree_free(mine);
  return status;
}

scree_Status scree_spread_nodes(const scree_System *s, scree_OwnNode **nodes, size_t *count,
                                int64_t *whole) {
  const scree_Bodies *b = &s->bodies;
  const scree_Domain *p = &s->domain;
  scree_DeformedList list;
  *nodes = NULL;
  *count = 0;
  *whole = 0;
  scree_Status status = scree_spread_deformed(s, &list);
  size_t room = 0;
  for (int k = 0; k < b->deformable_count; ++k) room += (size_t)b->deformable[k].vertices;
  if (!status) {
    *nodes = SCREE_ALLOC(scree_OwnNode, room);
    status =
        scree_domain_agree(s, *nodes ? SCREE_OK : scree_fail_memory(s->log, "the nodes of a rank"));
  }
  int own = 0; /* bodies of the list and of this rank are ascending */
  for (size_t i = 0; !status && *nodes && i < list.count; *whole += list.body[i++].nodes) {
    while (own < b->deformable_count && p->global[b->deformable[own].body] < list.body[i].number)
      ++own;
    if (own == b->deformable_count || p->global[b->deformable[own].body] != list.body[i].number ||
        !scree_domain_owns(p, b->deformable[own].body))
      continue;
    for (int k = 0; k < list.body[i].nodes; ++k)
      (*nodes)[(*count)++] = (scree_OwnNode){own, k, list.body[i].number, *whole + k};
  }
  scree_free(list.body);
  return status;
}

/* ---- to rank 0 ---------------------------------------------------------------------------------
 */

/* Bytes of the states of all deformable bodies on this rank. */
static size_t state_bytes(const scree_Bodies *b) {
  size_t sum = 0;
  for (int k = 0; k < b->deformable_count; ++k)
    sum += scree_deformable_state_bytes(b, b->deformable[k].body);
  return sum;
}

/* Body k and the state of a deformable one; returns their bytes. */
static size_t pack_body(const scree_System *s, int k, const int *late_of, char *to) {
  const Body body = scree_spread_get(s, k, late_of);
  memcpy(to, &body, sizeof body);
  scree_deformable_get(&s->bodies, k, to + sizeof body);
  return sizeof body + scree_deformable_state_bytes(&s->bodies, k);
}

static scree_Status collect_bodies(const scree_World *world, scree_World *whole) {
  const scree_System *s = &world->system;
  const scree_Bodies *b = &s->bodies;
  int *late_of = scree_spread_late(s);
  char *mine = SCREE_ALLOC(char, (size_t)b->count * sizeof(Body) + state_bytes(b));
  scree_Status status = late_of && mine ? SCREE_OK : scree_fail_memory(s->log, "the whole world");
  status = scree_domain_agree(s, status);
  size_t n = 0, bytes = 0, capacity = 0;
  for (int k = 0; !status && late_of && mine && k < b->count; ++k) {
    const bool obstacle = b->fixed[k] & SCREE_BODY_OBSTACLE;
    if (obstacle ? s->domain.rank == 0 : scree_domain_owns(&s->domain, k))
      n += pack_body(s, k, late_of, mine + n);
  }
  char *all = NULL;
  if (!status)
    status = scree_ranks_bring(s->domain.ranks, mine, n, &all, &capacity, &bytes, s->log);
  if (!status && whole) whole->system.memory.late.count = 0;
  if (!status && whole)
    status = scree_creep_reserve(&whole->system, (size_t)whole->system.bodies.count);
  for (size_t at = 0; !status && whole && at < bytes;) {
    Body body;
    memcpy(&body, all + at, sizeof body);
    if (!scree_spread_put(&whole->system, body.number, &body))
      status = scree_fail_memory(s->log, "the whole world");
    scree_deformable_put(&whole->system.bodies, body.number, all + at + sizeof body);
    at += sizeof body + scree_deformable_state_bytes(&whole->system.bodies, body.number);
  }
  scree_free(all);
  scree_free(mine);
  scree_free(late_of);
  return scree_domain_agree(s, status);
}

static int compare_contacts(const void *a, const void *b) {
  const scree_KeptContact *x = *(const scree_KeptContact *const *)a,
                          *y = *(const scree_KeptContact *const *)b;
  if (x->key.i != y->key.i) return x->key.i < y->key.i ? -1 : 1;
  if (x->key.j != y->key.j) return x->key.j < y->key.j ? -1 : 1;
  return (x > y) - (x < y); /* points of a pair are of one rank, in their order */
}

static scree_Status take_contacts(scree_System *s, const char *all, size_t count, size_t stride) {
  const size_t each = scree_spread_bytes(stride);
  scree_Memory *m = &s->memory;
  const void **sorted = SCREE_ALLOC(const void *, count);
  if (!sorted || !scree_memory_reserve(m, count, stride)) {
    scree_free((void *)sorted);
    return scree_fail_memory(s->log, "the whole world");
  }
  for (size_t k = 0; k < count; ++k) sorted[k] = all + k * each;
  if (count) qsort((void *)sorted, count, sizeof *sorted, compare_contacts);
  for (size_t k = 0; k < count; ++k) {
    scree_KeptContact kept;
    memcpy(&kept, sorted[k], sizeof kept);
    m->keys[k] = kept.key;
    m->impulses[k] = kept.impulse;
    m->arms[k] = kept.arm;
    if (stride)
      memcpy(m->values + k * stride, (const char *)sorted[k] + sizeof kept, each - sizeof kept);
  }
  m->count = count;
  scree_free((void *)sorted);
  return scree_memory_order(s);
}

void scree_spread_pack(const scree_System *s, size_t k, char *to) {
  const scree_KeptContact kept = scree_domain_kept(s, k);
  const size_t stride = s->memory.stride;
  memcpy(to, &kept, sizeof kept);
  if (stride) memcpy(to + sizeof kept, s->memory.values + k * stride, stride * sizeof(double));
}

static scree_Status collect_contacts(const scree_World *world, scree_World *whole) {
  const scree_System *s = &world->system;
  const size_t stride = s->memory.stride;
  const size_t each = scree_spread_bytes(stride);
  char *mine = SCREE_ALLOC(char, s->memory.count *each), *all = NULL;
  size_t bytes = 0, capacity = 0;
  scree_Status status =
      scree_domain_agree(s, mine ? SCREE_OK : scree_fail_memory(s->log, "the whole world"));
  for (size_t k = 0; !status && k < s->memory.count; ++k) scree_spread_pack(s, k, mine + k * each);
  if (!status)
    status = scree_ranks_bring(s->domain.ranks, mine, s->memory.count * each, &all, &capacity,
                               &bytes, s->log);
  if (!status && whole) status = take_contacts(&whole->system, all, bytes / each, stride);
  scree_free(all);
  scree_free(mine);
  return scree_domain_agree(s, status);
}

static scree_Status collect_joints(const scree_World *world, scree_World *whole) {
  const scree_System *s = &world->system;
  const scree_Joints *j = &s->joints;
  size_t n = 0, bytes = 0, capacity = 0;
  if (j->count == 0) return SCREE_OK;
  scree_SentJoint *mine = SCREE_ALLOC(scree_SentJoint, j->count), *all = NULL;
  scree_Status status =
      scree_domain_agree(s, mine ? SCREE_OK : scree_fail_memory(s->log, "the whole world"));
  for (int k = 0; !status && mine && k < j->count; ++k)
    if (j->here[k]) mine[n++] = (scree_SentJoint){k, j->memory[k]};
  if (!status)
    status = scree_ranks_bring(s->domain.ranks, mine, n * sizeof *mine, (char **)&all, &capacity,
                               &bytes, s->log);
  for (size_t k = 0; !status && whole && k < bytes / sizeof *all; ++k)
    whole->system.joints.memory[all[k].joint] = all[k].memory;
  scree_free(all);
  scree_free(mine);
  return status;
}

static scree_Status check_whole(const scree_World *world, const scree_World *whole) {
  const scree_System *s = &world->system;
  const bool root = s->domain.rank == 0;
  if (!s->domain.global)
    return scree_fail(&world->log, SCREE_BAD_INPUT, "world: it is not divided");
  const bool good = !root || (whole && !whole->system.domain.global &&
                              whole->system.bodies.count == s->domain.whole &&
                              whole->system.joints.count == s->joints.count &&
                              whole->system.bodies.dimension == s->bodies.dimension);
  return scree_domain_agree(s, good ? SCREE_OK
                                    : scree_fail(&world->log, SCREE_BAD_INPUT,
                                                 "world: rank 0 has no undivided world of the same "
                                                 "%d bodies and %d joints",
                                                 s->domain.whole, s->joints.count));
}

scree_Status scree_world_collect(const scree_World *world, scree_World *whole) {
  scree_Status status = check_whole(world, whole);
  if (status) return status;
  scree_World *to = world->system.domain.rank == 0 ? whole : NULL;
  if (to) {
    const Scalars scalars = get_scalars(world);
    set_scalars(to, &scalars);
    scree_Bodies *b = &to->system.bodies;
    for (int k = 0; k < b->driver_count; ++k)
      b->drivers[k].before = world->system.bodies.drivers[k].before;
  }
  status = collect_bodies(world, to);
  if (!status) status = collect_joints(world, to);
  return status ? status : collect_contacts(world, to);
}

/* ---- from rank 0 -------------------------------------------------------------------------------
 */

/* Bytes of bodies first .. end - 1 of the whole world and their states. */
static size_t piece_bytes(const scree_DeformedList *deformed, int first, int end) {
  size_t low = 0, high = deformed->count, sum = (size_t)(end - first) * sizeof(Body);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (deformed->body[middle].number < first)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < deformed->count && deformed->body[low].number < end; ++low)
    sum += (1 + 2 * (size_t)deformed->body[low].components) * sizeof(double);
  return sum;
}

static size_t largest_piece(const scree_DeformedList *deformed, int whole) {
  size_t most = 0;
  for (int first = 0; first < whole; first += PIECE) {
    const size_t bytes =
        piece_bytes(deformed, first, whole - first < PIECE ? whole : first + PIECE);
    if (bytes > most) most = bytes;
  }
  return most;
}

static scree_Status spread_bodies(scree_World *world, const scree_World *whole) {
  scree_System *s = &world->system;
  scree_DeformedList deformed;
  int *late_of = whole ? scree_spread_late(&whole->system) : NULL;
  scree_Status status = scree_spread_deformed(s, &deformed);
  if (status) return status;
  char *piece = SCREE_ALLOC(char, largest_piece(&deformed, s->domain.whole));
  status =
      piece && (late_of || !whole) ? SCREE_OK : scree_fail_memory(s->log, "the bodies of a rank");
  if (!status) status = scree_creep_reserve(s, (size_t)s->bodies.count);
  status = scree_domain_agree(s, status);
  s->memory.late.count = 0;
  scree_Status put = SCREE_OK;
  for (int first = 0; !status && first < s->domain.whole; first += PIECE) {
    const int end = s->domain.whole - first < PIECE ? s->domain.whole : first + PIECE;
    size_t at = 0;
    for (int k = first; whole && late_of && k < end; ++k)
      at += pack_body(&whole->system, k, late_of, piece + at);
    scree_ranks_broadcast(s->domain.ranks, piece, piece_bytes(&deformed, first, end));
    at = 0;
    for (int k = first; k < end; ++k) {
      Body body;
      memcpy(&body, piece + at, sizeof body);
      const int local = scree_domain_local(&s->domain, s->bodies.count, k);
      if (local >= 0 && !scree_spread_put(s, local, &body))
        put = scree_fail_memory(s->log, "the bodies of a rank");
      if (local >= 0) scree_deformable_put(&s->bodies, local, piece + at + sizeof body);
      at += piece_bytes(&deformed, k, k + 1);
    }
  }
  scree_free(deformed.body);
  scree_free(piece);
  scree_free(late_of);
  return scree_domain_agree(s, status ? status : put);
}

/* Each rank takes the contacts of its bodies; the next build sends them on. */
static scree_Status spread_contacts(scree_World *world, const scree_World *whole,
                                    const Scalars *scalars) {
  scree_System *s = &world->system;
  scree_Domain *p = &s->domain;
  const size_t each = sizeof(scree_KeptContact) + (size_t)scalars->stride * sizeof(double);
  const int64_t count = scalars->contacts;
  char *piece = SCREE_ALLOC(char, PIECE *each);
  scree_Status put = SCREE_OK;
  const scree_Status status =
      scree_domain_agree(s, piece ? SCREE_OK : scree_fail_memory(s->log, "the contacts of a rank"));
  s->memory.count = p->given_count = 0;
  for (int64_t first = 0; !status && first < count; first += PIECE) {
    const size_t n = count - first < PIECE ? (size_t)(count - first) : PIECE;
    for (size_t k = 0; whole && k < n; ++k)
      scree_spread_pack(&whole->system, (size_t)first + k, piece + k * each);
    scree_ranks_broadcast(p->ranks, piece, n * each);
    for (size_t k = 0; k < n; ++k) {
      scree_KeptContact kept;
      memcpy(&kept, piece + k * each, sizeof kept);
      const int i = scree_domain_local(p, s->bodies.count, kept.key.i);
      const int j = scree_domain_local(p, s->bodies.count, kept.key.j);
      const bool fixed_i = i >= 0 && s->bodies.fixed[i], fixed_j = j >= 0 && s->bodies.fixed[j];
      const int body = scree_domain_choose(fixed_i, fixed_j, kept.key.i, kept.key.j) == 0 ? i : j;
      if (body < 0 || s->bodies.fixed[body] || !scree_domain_owns(p, body)) continue;
      if (!scree_grow((void **)&p->given, &p->given_capacity, (p->given_count + 1) * each, 1)) {
        put = scree_fail_memory(s->log, "the contacts of a rank");
        break;
      }
      memcpy(p->given + p->given_count++ * each, piece + k * each, each);
    }
  }
  scree_free(piece);
  return scree_domain_agree(s, status ? status : put);
}

/* The memory of all joints, to all ranks. */
static void spread_joints(scree_World *world, const scree_World *whole) {
  scree_System *s = &world->system;
  scree_Joints *j = &s->joints;
  if (j->count == 0) return;
  const size_t bytes = (size_t)j->count * sizeof *j->memory;
  if (whole) memcpy(j->memory, whole->system.joints.memory, bytes);
  scree_ranks_broadcast(s->domain.ranks, j->memory, bytes);
  scree_domain_know_joints(s);
}

scree_Status scree_world_spread(scree_World *world, const scree_World *whole) {
  scree_Status status = check_whole(world, whole);
  if (status) return status;
  const scree_World *from = world->system.domain.rank == 0 ? whole : NULL;
  Scalars scalars;
  memset(&scalars, 0, sizeof scalars);
  if (from) scalars = get_scalars(from);
  scree_ranks_broadcast(world->system.domain.ranks, &scalars, sizeof scalars);
  set_scalars(world, &scalars);
  spread_joints(world, from);
  status = spread_bodies(world, from);
  if (!status) status = spread_contacts(world, from, &scalars);
  world->system.domain.fresh = false;
  return status;
}
