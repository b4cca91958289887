/* The bodies that a rank holds: owners, ghosts, and what goes with them (see domain.h).
 *
 * A build has two exchanges. In the first, bodies that have a new owner go there, with the memory
 * of the contacts that change their rank. In the second, every rank sends copies of its bodies to
 * the ranks whose covers they meet. Arrays stay sorted by the numbers in the whole world: what
 * leaves is removed in place, what arrives is merged in from the back. */
#include "body/driven.h"
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A body on its way between ranks. */
typedef struct Record {
  size_t bytes;      /* with what follows, so that the next record is aligned */
  size_t deformable; /* of these, of a deformable body (deformable_send.c) */
  scree_Motion motion;
  scree_Inertia inertia;
  scree_BodyCold cold; /* without pointers: `shape` has the number of the shape */
  scree_Late way;      /* remaining displacement of a late impact, if `late` */
  scree_BodyCreep creep;
  int64_t gone;
  int global, owner, shape;
  unsigned char fixed;
  bool late;
} Record;

typedef struct Build {
  scree_System *s;
  scree_Arena *work;
  int *next_owner;            /* (bodies) */
  int *late_of;               /* (bodies) place in the list of late impacts, or -1 */
  size_t *out_size, *in_size; /* (size) bytes */
  scree_LateList late;        /* with whole numbers */
  bool by_number;             /* owners by the numbers of bodies */
} Build;

static scree_Status fail_memory(const scree_System *s) {
  return scree_fail_memory(s->log, "the bodies of a rank");
}

/* ---- records ----------------------------------------------------------------------------------
 */

/* The record at this place, and the number of those in so many bytes. */
static const Record *record_at(const char *records, size_t at) {
  return (const void *)(records + at);
}

static size_t count_records(const char *records, size_t bytes) {
  size_t count = 0;
  for (size_t at = 0; at < bytes; at += record_at(records, at)->bytes) ++count;
  return count;
}

static size_t record_bytes(const scree_System *s, int k) {
  const size_t unit = _Alignof(Record);
  return (sizeof(Record) + scree_deformable_bytes(&s->bodies, k) + unit - 1) / unit * unit;
}

/* Returns the bytes of the record. */
static size_t pack_body(const Build *build, int k, int owner, char *to) {
  const scree_System *s = build->s;
  const scree_Bodies *b = &s->bodies;
  Record *record = (void *)to;
  memset(record, 0, sizeof *record);
  record->bytes = record_bytes(s, k);
  record->deformable = scree_deformable_bytes(b, k);
  record->motion = b->motion[k];
  record->inertia = b->inertia[k];
  record->cold = b->cold[k];
  record->cold.shape = scree_body_given_shape(b, k);
  record->cold.shape.data = NULL;
  record->cold.shape.vertices = NULL;
  record->creep = scree_creep_of(s, k);
  record->gone = b->gone ? b->gone[k] : -1;
  record->global = s->domain.global[k];
  record->owner = owner;
  record->shape = s->domain.shape[k];
  record->fixed = b->fixed[k];
  const int late = build->late_of[k];
  record->late = late >= 0;
  if (late >= 0) record->way = s->memory.late.at[late];
  scree_deformable_send(b, k, record + 1);
  return record->bytes;
}

static void move_body(scree_System *s, int from, int to) {
  scree_Bodies *b = &s->bodies;
  scree_Domain *p = &s->domain;
  if (from == to) return;
  b->motion[to] = b->motion[from];
  b->inertia[to] = b->inertia[from];
  b->cold[to] = b->cold[from];
  b->fixed[to] = b->fixed[from];
  if (b->gone) b->gone[to] = b->gone[from];
  if (b->deformable_index) b->deformable_index[to] = b->deformable_index[from];
  s->creep.bodies[to] = s->creep.bodies[from];
  p->global[to] = p->global[from];
  p->owner[to] = p->owner[from];
  p->shape[to] = p->shape[from];
  p->cover[to] = p->cover[from];
}

static scree_Status place_record(scree_System *s, int to, const Record *record) {
  scree_Bodies *b = &s->bodies;
  scree_Domain *p = &s->domain;
  b->motion[to] = record->motion;
  b->inertia[to] = record->inertia;
  b->cold[to] = record->cold;
  if (record->shape >= 0) scree_shape_copy(&p->shapes[record->shape], &b->cold[to].shape);
  b->fixed[to] = record->fixed;
  if (b->gone) b->gone[to] = record->gone;
  s->creep.bodies[to] = record->creep;
  p->global[to] = record->global;
  p->owner[to] = record->owner;
  p->shape[to] = record->shape;
  return p->deforms ? scree_deformable_receive(b, to, record + 1, record->deformable, s->log)
                    : SCREE_OK;
}

/* Room for n bodies, with an index of the deformable ones where there are any. */
static bool reserve_index(const scree_System *s, scree_Bodies *b, size_t n) {
  const bool first = !b->deformable_index;
  if (!s->domain.deforms) return true;
  if (!scree_grow_lean((void **)&b->deformable_index, &b->index_capacity, n,
                       sizeof *b->deformable_index))
    return false;
  for (int k = 0; first && k < b->count; ++k) b->deformable_index[k] = -1;
  return true;
}

static int compare_records(const void *a, const void *b) {
  const Record *const *x = a, *const *y = b;
  return ((*x)->global > (*y)->global) - ((*x)->global < (*y)->global);
}

/* Merge records into the bodies, from the back. */
static scree_Status insert(Build *build, const char *records, size_t bytes) {
  scree_System *s = build->s;
  const size_t count = count_records(records, bytes);
  scree_Bodies *b = &s->bodies;
  scree_Domain *p = &s->domain;
  const size_t n = (size_t)b->count + count;
  bool gone = false;
  scree_Status status = SCREE_OK;
  for (size_t at = 0; at < bytes; at += record_at(records, at)->bytes)
    gone = gone || record_at(records, at)->gone >= 0;
  const Record **sorted = SCREE_TAKE_RAW(build->work, const Record *, count);
  if (n > INT32_MAX || !sorted || !scree_bodies_reserve(b, n) || scree_creep_reserve(s, n) ||
      !scree_grow_lean((void **)&p->global, &p->global_capacity, n, sizeof *p->global) ||
      !scree_grow_lean((void **)&p->owner, &p->owner_capacity, n, sizeof *p->owner) ||
      !scree_grow_lean((void **)&p->shape, &p->shape_capacity, n, sizeof *p->shape) ||
      !scree_grow_lean((void **)&p->cover, &p->cover_capacity, n, sizeof *p->cover) ||
      !reserve_index(s, b, n) ||
      ((b->gone || gone) &&
       !scree_grow_lean((void **)&b->gone, &b->gone_capacity, n, sizeof *b->gone)))
    return fail_memory(s);
  for (int k = 0; gone && b->gone_count == 0 && k < b->count; ++k) b->gone[k] = -1;
  for (size_t k = 0, at = 0; k < count; at += sorted[k++]->bytes)
    sorted[k] = record_at(records, at);
  if (count) qsort(sorted, count, sizeof *sorted, compare_records);
  size_t left = count;
  int from = b->count;
  b->count = (int)n;
  for (int to = (int)n; left > 0; --to) {
    if (from > 0 && p->global[from - 1] > sorted[left - 1]->global)
      move_body(s, --from, to - 1);
    else {
      const scree_Status placed = place_record(s, to - 1, sorted[--left]);
      if (placed) status = placed;
    }
  }
  if (!scree_deformable_sort(b)) status = fail_memory(s);
  for (size_t k = 0; k < count; ++k) {
    if (sorted[k]->gone >= 0) b->gone_count++;
    if (!sorted[k]->late) continue;
    if (!scree_grow((void **)&build->late.at, &build->late.capacity, build->late.count + 1,
                    sizeof *build->late.at))
      return fail_memory(s);
    build->late.at[build->late.count] = sorted[k]->way;
    build->late.at[build->late.count++].body = sorted[k]->global;
  }
  return status;
}

/* Remove ghosts, and bodies that have another owner now. */
static bool compact(const Build *build) {
  scree_System *s = build->s;
  scree_Bodies *b = &s->bodies;
  scree_Domain *p = &s->domain;
  int kept = 0;
  for (int k = 0; k < b->count; ++k) {
    if (p->owner[k] >= 0 && (p->owner[k] != p->rank || build->next_owner[k] != p->rank)) {
      if (b->gone && b->gone[k] >= 0) b->gone_count--;
      scree_deformable_drop(b, k);
      scree_shape_fini(&b->cold[k].shape);
      continue;
    }
    move_body(s, k, kept++);
  }
  b->count = kept;
  s->creep.count = (size_t)kept;
  return scree_deformable_sort(b);
}

/* ---- swapping ---------------------------------------------------------------------------------
 */

/* Exchange `out`, whose bytes for each rank are out_size; *in is from the arena. */
static scree_Status swap(Build *build, const void *out, char **in, size_t *bytes) {
  const scree_Domain *p = &build->s->domain;
  scree_ranks_swap_sizes(p->ranks, build->out_size, build->in_size);
  *bytes = 0;
  for (int k = 0; k < p->size; ++k) *bytes += build->in_size[k];
  *in = SCREE_TAKE_RAW(build->work, char, *bytes);
  const scree_Status status = scree_domain_agree(build->s, *in ? SCREE_OK : fail_memory(build->s));
  if (!status) scree_ranks_swap(p->ranks, out, build->out_size, *in, build->in_size);
  return status;
}

/* ---- first exchange: new owners ----------------------------------------------------------------
 */

static scree_Status send_bodies(Build *build, const char **arrived, size_t *bytes) {
  scree_System *s = build->s;
  const scree_Domain *p = &s->domain;
  const scree_Bodies *b = &s->bodies;
  const size_t size = (size_t)p->size;
  size_t total = 0, *at = SCREE_TAKE(build->work, size_t, size);
  if (!at) return scree_domain_agree(s, fail_memory(s));
  memset(build->out_size, 0, size * sizeof *build->out_size);
  for (int k = 0; k < b->count; ++k)
    if (p->owner[k] == p->rank && build->next_owner[k] != p->rank) {
      build->out_size[build->next_owner[k]] += record_bytes(s, k);
      total += record_bytes(s, k);
      s->domain.counts.migrated++;
    }
  char *out = SCREE_TAKE_RAW(build->work, char, total);
  const scree_Status status = scree_domain_agree(s, out ? SCREE_OK : fail_memory(s));
  if (status) return status;
  for (size_t k = 1; k < size; ++k) at[k] = at[k - 1] + build->out_size[k - 1];
  for (int k = 0; k < b->count; ++k) {
    const int to = build->next_owner[k];
    if (p->owner[k] == p->rank && to != p->rank) at[to] += pack_body(build, k, to, out + at[to]);
  }
  char *in;
  const scree_Status swapped = swap(build, out, &in, bytes);
  *arrived = in;
  return swapped;
}

scree_KeptContact scree_domain_kept(const scree_System *s, size_t k) {
  scree_KeptContact kept = {s->memory.keys[k], s->memory.impulses[k], s->memory.arms[k]};
  kept.key.i = scree_domain_global(&s->domain, kept.key.i);
  kept.key.j = scree_domain_global(&s->domain, kept.key.j);
  return kept;
}

/* The rank that has a contact from now on, given by whole numbers; -1: not known here. */
static int next_rank(const Build *build, const scree_ContactKey *key) {
  const scree_System *s = build->s;
  const scree_Bodies *b = &s->bodies;
  const int i = scree_domain_local(&s->domain, b->count, key->i);
  const int j = scree_domain_local(&s->domain, b->count, key->j);
  const int side =
      scree_domain_choose(i >= 0 && b->fixed[i], j >= 0 && b->fixed[j], key->i, key->j);
  const int body = side == 0 ? i : j;
  return body < 0 || b->fixed[body] ? -1 : build->next_owner[body];
}

/* Contact k of the memory, then those that were given from outside, and the values of their laws.
 */
static scree_KeptContact kept_at(const scree_System *s, size_t k, size_t each,
                                 const char **values) {
  const scree_Memory *m = &s->memory;
  scree_KeptContact kept;
  if (k < m->count) {
    *values = (const char *)(m->values + k * m->stride);
    return scree_domain_kept(s, k);
  }
  const char *at = s->domain.given + (k - m->count) * each;
  memcpy(&kept, at, sizeof kept);
  *values = at + sizeof kept;
  return kept;
}

/* Contacts go where they belong; *all receives those that arrive or stay, with whole numbers. */
static scree_Status send_memory(Build *build, const char **all, size_t *count) {
  scree_System *s = build->s;
  const scree_Memory *m = &s->memory;
  const size_t size = (size_t)s->domain.size, n = m->count + s->domain.given_count;
  const size_t each = sizeof(scree_KeptContact) + m->stride * sizeof(double);
  size_t bytes, *at = SCREE_TAKE(build->work, size_t, size);
  char *out = SCREE_TAKE_RAW(build->work, char, n *each);
  const scree_Status status = scree_domain_agree(s, at && out ? SCREE_OK : fail_memory(s));
  if (status) return status;
  memset(build->out_size, 0, size * sizeof *build->out_size);
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t k = 0; k < n; ++k) {
      const char *values;
      const scree_KeptContact kept = kept_at(s, k, each, &values);
      const int rank = next_rank(build, &kept.key);
      if (rank < 0) continue;
      if (pass == 0) {
        build->out_size[rank] += each;
        continue;
      }
      memcpy(out + at[rank], &kept, sizeof kept);
      if (m->stride) memcpy(out + at[rank] + sizeof kept, values, each - sizeof kept);
      at[rank] += each;
    }
    for (size_t k = 1; pass == 0 && k < size; ++k) at[k] = at[k - 1] + build->out_size[k - 1];
  }
  s->domain.given_count = 0;
  char *in;
  const scree_Status swapped = swap(build, out, &in, &bytes);
  *all = in;
  *count = bytes / each;
  return swapped;
}

typedef struct Place {
  int i, j;
  size_t at;
} Place;

static int compare_places(const void *a, const void *b) {
  const Place *x = a, *y = b;
  if (x->i != y->i) return x->i < y->i ? -1 : 1;
  if (x->j != y->j) return x->j < y->j ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at); /* points of a pair keep their order */
}

/* The memory of this rank again, in the order of its bodies. Contacts whose bodies are no longer
 * near are dropped, as their bodies do not touch. */
static scree_Status take_memory(Build *build, const char *all, size_t count) {
  scree_System *s = build->s;
  scree_Memory *m = &s->memory;
  const size_t each = sizeof(scree_KeptContact) + m->stride * sizeof(double);
  Place *places = SCREE_TAKE_RAW(build->work, Place, count);
  if (!places || !scree_memory_reserve(m, count, m->stride)) return fail_memory(s);
  m->count = 0;
  size_t found = 0;
  for (size_t k = 0; k < count; ++k) {
    scree_KeptContact kept;
    memcpy(&kept, all + k * each, sizeof kept);
    const int i = scree_domain_local(&s->domain, s->bodies.count, kept.key.i);
    const int j = scree_domain_local(&s->domain, s->bodies.count, kept.key.j);
    if (i >= 0 && j >= 0) places[found++] = (Place){i, j, k};
  }
  if (found) qsort(places, found, sizeof *places, compare_places);
  for (size_t k = 0; k < found; ++k) {
    scree_KeptContact kept;
    const char *from = all + places[k].at * each;
    memcpy(&kept, from, sizeof kept);
    m->keys[k] = kept.key;
    m->keys[k].i = places[k].i;
    m->keys[k].j = places[k].j;
    m->impulses[k] = kept.impulse;
    m->arms[k] = kept.arm;
    if (m->stride) memcpy(m->values + k * m->stride, from + sizeof kept, each - sizeof kept);
  }
  m->count = found;
  return scree_memory_order(s);
}

/* ---- second exchange: ghosts -------------------------------------------------------------------
 */

static scree_Status send_ghosts(Build *build, const char **arrived, size_t *bytes) {
  scree_System *s = build->s;
  scree_Domain *p = &s->domain;
  const size_t size = (size_t)p->size;
  size_t total = 0;
  memset(build->out_size, 0, size * sizeof *build->out_size);
  for (size_t rank = 0; rank < size; ++rank)
    for (size_t k = p->send_start[rank]; k < p->send_start[rank + 1]; ++k)
      build->out_size[rank] += record_bytes(s, p->send[k]);
  for (size_t rank = 0; rank < size; ++rank) total += build->out_size[rank];
  char *out = SCREE_TAKE_RAW(build->work, char, total);
  scree_Status status = scree_domain_agree(s, out ? SCREE_OK : fail_memory(s));
  if (status) return status;
  for (size_t k = 0, at = 0; k < p->send_start[size]; ++k) {
    at += pack_body(build, p->send[k], p->rank, out + at);
    p->send[k] = p->global[p->send[k]];
  }
  char *in;
  status = swap(build, out, &in, bytes);
  if (status) return status;
  *arrived = in;
  for (size_t k = 0; k < size; in += build->in_size[k++])
    p->receive_start[k + 1] = p->receive_start[k] + count_records(in, build->in_size[k]);
  p->receive = SCREE_TAKE_RAW(&p->lists, int, p->receive_start[size]);
  if (!p->receive) return fail_memory(s);
  for (size_t k = 0, at = 0; at < *bytes; at += record_at(*arrived, at)->bytes)
    p->receive[k++] = record_at(*arrived, at)->global;
  return SCREE_OK;
}

/* ---- numbers that refer to bodies --------------------------------------------------------------
 */

static int compare_late(const void *a, const void *b) {
  const scree_Late *x = a, *y = b;
  return (x->body > y->body) - (x->body < y->body);
}

static bool index_late(const scree_System *s, Build *build) {
  const scree_LateList *late = &s->memory.late;
  build->late_of = SCREE_TAKE_RAW(build->work, int, s->bodies.count);
  if (!build->late_of) return false;
  for (int k = 0; k < s->bodies.count; ++k) build->late_of[k] = -1;
  for (size_t k = 0; k < late->count; ++k) build->late_of[late->at[k].body] = (int)k;
  return true;
}

/* Late impacts of the bodies that stay. */
static bool keep_late(const scree_System *s, Build *build) {
  const scree_LateList *late = &s->memory.late;
  for (size_t k = 0; k < late->count; ++k) {
    const int body = late->at[k].body;
    if (!scree_domain_owns(&s->domain, body) || build->next_owner[body] != s->domain.rank) continue;
    if (!scree_grow((void **)&build->late.at, &build->late.capacity, build->late.count + 1,
                    sizeof *build->late.at))
      return false;
    build->late.at[build->late.count] = late->at[k];
    build->late.at[build->late.count++].body = s->domain.global[body];
  }
  return true;
}

static void take_late(Build *build) {
  scree_System *s = build->s;
  for (size_t k = 0; k < build->late.count; ++k)
    build->late.at[k].body =
        scree_domain_local(&s->domain, s->bodies.count, build->late.at[k].body);
  if (build->late.count)
    qsort(build->late.at, build->late.count, sizeof *build->late.at, compare_late);
  scree_free(s->memory.late.at);
  s->memory.late = build->late;
  build->late = (scree_LateList){0};
}

/* The numbers of obstacles in the whole world, and back: of drivers, and of nodes that they drive.
 */
static int to_whole(const void *user, int obstacle) {
  return scree_domain_global(&((const scree_System *)user)->domain, obstacle);
}

static int to_local(const void *user, int obstacle) {
  const scree_System *s = user;
  return scree_domain_local(&s->domain, s->bodies.count, obstacle);
}

static void number_again(scree_System *s) {
  scree_Bodies *b = &s->bodies;
  scree_Domain *p = &s->domain;
  const size_t size = (size_t)p->size;
  for (size_t k = 0; k < p->send_start[size]; ++k)
    p->send[k] = scree_domain_local(p, b->count, p->send[k]);
  for (size_t k = 0; k < p->receive_start[size]; ++k)
    p->receive[k] = scree_domain_local(p, b->count, p->receive[k]);
  for (int k = 0; k < b->driver_count; ++k)
    b->drivers[k].body = scree_domain_local(p, b->count, b->drivers[k].body);
  scree_driven_number(b, to_local, s);
  for (int k = 0; k < b->force_count; ++k) {
    const int local = p->forces[k] < 0 ? -1 : scree_domain_local(p, b->count, p->forces[k]);
    b->forces[k].body = p->forces[k] < 0 ? -1 : local < 0 ? SCREE_FORCE_ELSEWHERE : local;
  }
}

/* ---- a build -----------------------------------------------------------------------------------
 */

static scree_Status find_owners(Build *build) {
  scree_System *s = build->s;
  const scree_Domain *p = &s->domain;
  const scree_Bodies *b = &s->bodies;
  scree_Vec3 *place = SCREE_TAKE_RAW(build->work, scree_Vec3, b->count);
  build->next_owner = SCREE_TAKE_RAW(build->work, int, b->count);
  build->out_size = SCREE_TAKE(build->work, size_t, p->size);
  build->in_size = SCREE_TAKE(build->work, size_t, p->size);
  const bool enough =
      place && build->next_owner && build->out_size && build->in_size && index_late(s, build);
  scree_Status status = scree_domain_agree(s, enough ? SCREE_OK : fail_memory(s));
  if (!status && enough) status = scree_domain_units(s, place);
  if (status || !enough) return status;
  for (int k = 0; k < b->count; ++k) {
    if (b->fixed[k] & SCREE_BODY_OBSTACLE)
      build->next_owner[k] = p->owner[k];
    else if (build->by_number)
      build->next_owner[k] = scree_domain_dealt(p->global[k], p->size);
    else
      build->next_owner[k] = scree_domain_rank_at(p, place[k]);
  }
  return keep_late(s, build) ? SCREE_OK : fail_memory(s);
}

static scree_Status build_domain(Build *build) {
  scree_System *s = build->s;
  scree_Bodies *b = &s->bodies;
  const char *arrived = NULL, *memory = NULL;
  size_t bytes = 0, contacts = 0;
  scree_Status status = find_owners(build);
  if (!status) status = scree_creep_reserve(s, (size_t)b->count);
  status = scree_domain_agree(s, status);
  if (!status) status = scree_domain_send_joints(s, build->next_owner);
  if (!status) status = send_memory(build, &memory, &contacts);
  if (!status) scree_driven_number(b, to_whole, s);
  if (!status) status = send_bodies(build, &arrived, &bytes);
  if (status) return status;
  for (int k = 0; k < b->driver_count; ++k)
    b->drivers[k].body = s->domain.global[b->drivers[k].body];
  status = compact(build) ? insert(build, arrived, bytes) : fail_memory(s);
  status = scree_domain_agree(s, status);
  if (status) return status;
  s->memory.late.count = 0; /* `late` has them, by their whole numbers */
  if (build->late.count) {  /* ghosts carry theirs */
    if (!scree_grow((void **)&s->memory.late.at, &s->memory.late.capacity, build->late.count,
                    sizeof *s->memory.late.at))
      status = fail_memory(s);
    for (size_t k = 0; !status && k < build->late.count; ++k) {
      s->memory.late.at[k] = build->late.at[k];
      s->memory.late.at[k].body = scree_domain_local(&s->domain, b->count, build->late.at[k].body);
    }
    s->memory.late.count = status ? 0 : build->late.count;
  }
  if (!status && !index_late(s, build)) status = fail_memory(s);
  status = scree_domain_agree(s, status);
  if (!status) status = scree_domain_choose_ghosts(s);
  if (!status) status = send_ghosts(build, &arrived, &bytes);
  if (!status) status = insert(build, arrived, bytes);
  status = scree_domain_agree(s, status);
  if (status) return status;
  number_again(s);
  scree_domain_place_joints(s);
  take_late(build);
  status = take_memory(build, memory, contacts);
  return scree_domain_agree(s, status);
}

static scree_Status build_again(scree_System *s, bool by_number) {
  scree_Domain *p = &s->domain;
  scree_arena_reset(&p->work);
  Build build = {.s = s, .work = &p->work, .by_number = by_number};
  const scree_Status status = build_domain(&build);
  scree_free(build.late.at);
  scree_arena_reset(&p->work);
  p->counts.builds++;
  p->fresh = status == SCREE_OK;
  p->outgrown = false;
  s->contacts.count = 0;
  scree_broad_invalidate(s->broad);
  return status;
}

scree_Status scree_domain_build(scree_System *s) {
  return build_again(s, false);
}

scree_Status scree_domain_deal(scree_System *s) {
  const scree_Status status = build_again(s, true);
  s->domain.fresh = false;
  return status;
}
