/* The state of a divided world in the layout of a saved one (state.h), without a rank that has all
 * of it.
 *
 * To save it, bodies and contacts go to the ranks that have their range of numbers; each rank then
 * writes one piece of every section. Contacts are sorted by the numbers of their bodies, so that
 * the bytes are those of any number of ranks. To restore it, each rank reads the bodies that were
 * dealt to it, and a share of the contacts, which it sends to the ranks of their bodies. */
#include "body/actuation.h"
#include "core/log.h"
#include "core/memory.h"
#include "world/spread.h"
#include "world/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 16384 }; /* removed bodies and late impacts that are read at a time */

enum {
  HEADER,
  MOTIONS,
  STATES,   /* q, v of deformable bodies */
  ACCOUNTS, /* and the energy that steps created in them */
  JOINTS,
  CREEP,
  REMOVED,
  LATE,
  KEYS,
  IMPULSES,
  ARMS,
  VALUES,
  REST /* drivers and forces, solver */
};

static scree_Status fail_memory(const scree_System *s) {
  return scree_fail_memory(s->log, "the state of a rank");
}

static int block_of(const scree_System *s) {
  const int whole = s->domain.whole, size = s->domain.size;
  return whole < size ? 1 : (whole + size - 1) / size;
}

static void *room(scree_PartState *state, int section, size_t count, size_t bytes) {
  void *memory = scree_alloc(count, bytes);
  state->memory[section] = memory;
  state->data[section] = memory;
  state->bytes[section] = count * bytes;
  return memory;
}

void scree_world_part_state_fini(scree_PartState *state) {
  for (int k = 0; k < SCREE_STATE_SECTIONS; ++k) scree_free(state->memory[k]);
  *state = (scree_PartState){0};
}

/* ---- saving ------------------------------------------------------------------------------------
 */

/* The sections of bodies while they arrive. */
typedef struct Bodies {
  const scree_System *s;
  const int *late_of;
  int block, first;
  scree_Motion *motions;
  scree_BodyCreep *creep;
  scree_StateRemoved *gone;
  scree_Late *ways;
  size_t removed, late, gone_capacity, way_capacity;
} Bodies;

static int pack_body(void *user, size_t k, void *element) {
  const Bodies *to = user;
  const scree_System *s = to->s;
  const bool obstacle = s->bodies.fixed[k] & SCREE_BODY_OBSTACLE;
  if (obstacle ? s->domain.rank != 0 : !scree_domain_owns(&s->domain, (int)k)) return -1;
  const scree_SentBody body = scree_spread_get(s, (int)k, to->late_of);
  memcpy(element, &body, sizeof body);
  return body.number / to->block;
}

static bool take_body(void *user, const void *element) {
  Bodies *to = user;
  scree_SentBody body;
  memcpy(&body, element, sizeof body);
  to->motions[body.number - to->first] = body.motion;
  to->creep[body.number - to->first] = body.creep;
  if (body.gone >= 0) {
    if (!scree_grow((void **)&to->gone, &to->gone_capacity, to->removed + 1, sizeof *to->gone))
      return false;
    to->gone[to->removed++] = (scree_StateRemoved){body.number, body.gone};
  }
  if (!body.late) return true;
  if (!scree_grow((void **)&to->ways, &to->way_capacity, to->late + 1, sizeof *to->ways))
    return false;
  to->ways[to->late] = body.way;
  to->ways[to->late++].body = body.number;
  return true;
}

static int compare_removed(const void *a, const void *b) {
  const scree_StateRemoved *x = a, *y = b;
  return (x->body > y->body) - (x->body < y->body);
}

static int compare_late(const void *a, const void *b) {
  const scree_Late *x = a, *y = b;
  return (x->body > y->body) - (x->body < y->body);
}

static void keep(scree_PartState *state, int section, void *memory, size_t bytes) {
  state->memory[section] = memory;
  state->data[section] = memory;
  state->bytes[section] = bytes;
}

static scree_Status save_bodies(const scree_System *s, scree_PartState *state) {
  const int block = block_of(s), whole = s->domain.whole;
  const int64_t begin = (int64_t)s->domain.rank * block;
  const int first = begin < whole ? (int)begin : whole;
  const size_t count = (size_t)(whole - first < block ? whole - first : block);
  int *late_of = scree_spread_late(s);
  Bodies to = {.s = s,
               .late_of = late_of,
               .block = block,
               .first = first,
               .motions = room(state, MOTIONS, count, sizeof(scree_Motion)),
               .creep = room(state, CREEP, count, sizeof(scree_BodyCreep))};
  const scree_Deal deal = {sizeof(scree_SentBody), pack_body, take_body, &to};
  scree_Status status = to.motions && to.creep && late_of ? SCREE_OK : fail_memory(s);
  status = scree_domain_agree(s, status);
  if (!status) status = scree_ranks_deal(s->domain.ranks, (size_t)s->bodies.count, &deal, s->log);
  if (to.removed) qsort(to.gone, to.removed, sizeof *to.gone, compare_removed);
  if (to.late) qsort(to.ways, to.late, sizeof *to.ways, compare_late);
  keep(state, REMOVED, to.gone, to.removed * sizeof *to.gone);
  keep(state, LATE, to.ways, to.late * sizeof *to.ways);
  if (!status && scree_system_deforms(s)) {
    status = scree_part_share_deformed(s, block, &state->memory[STATES], &state->bytes[STATES],
                                       &state->memory[ACCOUNTS], &state->bytes[ACCOUNTS]);
    state->data[STATES] = state->memory[STATES];
    state->data[ACCOUNTS] = state->memory[ACCOUNTS];
  }
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

/* Contacts on their way to the ranks of their first bodies, or back to those that have them. */
typedef struct Contacts {
  const scree_System *s;
  int block;
  size_t each;
  const char *from; /* of the others: to be sent */
  const int *to;
  char *got;
  size_t count, capacity;
} Contacts;

static int pack_contact(void *user, size_t k, void *element) {
  const Contacts *c = user;
  const scree_System *s = c->s;
  scree_KeptContact kept;
  if (k < s->memory.count)
    scree_spread_pack(s, k, element);
  else
    memcpy(element, s->domain.given + (k - s->memory.count) * c->each, c->each);
  memcpy(&kept, element, sizeof kept);
  return kept.key.i / c->block;
}

static bool take_contact(void *user, const void *element) {
  Contacts *c = user;
  if (!scree_grow_lean((void **)&c->got, &c->capacity, (c->count + 1) * c->each, 1)) return false;
  memcpy(c->got + c->count++ * c->each, element, c->each);
  return true;
}

static scree_Status save_contacts(const scree_System *s, scree_PartState *state) {
  const size_t stride = s->memory.stride, each = scree_spread_bytes(stride);
  Contacts c = {.s = s, .block = block_of(s), .each = each};
  const scree_Deal deal = {each, pack_contact, take_contact, &c};
  scree_Status status =
      scree_ranks_deal(s->domain.ranks, s->memory.count + s->domain.given_count, &deal, s->log);
  char *contacts = c.got;
  const size_t count = c.count;
  const void **sorted = SCREE_ALLOC(const void *, count);
  scree_ContactKey *keys = room(state, KEYS, count, sizeof *keys);
  scree_Vec3 *impulses = room(state, IMPULSES, count, sizeof *impulses);
  scree_Vec3 *arms = room(state, ARMS, count, sizeof *arms);
  double *values = room(state, VALUES, count * stride, sizeof *values);
  const bool enough = !status && sorted && keys && impulses && arms && values;
  for (size_t k = 0; enough && k < count; ++k) sorted[k] = contacts + k * each;
  if (enough && count) qsort((void *)sorted, count, sizeof *sorted, compare_contacts);
  for (size_t k = 0; enough && k < count; ++k) {
    scree_KeptContact kept;
    memcpy(&kept, sorted[k], sizeof kept);
    keys[k] = kept.key;
    impulses[k] = kept.impulse;
    arms[k] = kept.arm;
    if (stride)
      memcpy(values + k * stride, (const char *)sorted[k] + sizeof kept, stride * sizeof *values);
  }
  scree_free((void *)sorted);
  scree_free(contacts);
  if (!status && !enough) status = fail_memory(s);
  return scree_domain_agree(s, status);
}

/* Drivers and forces, and an empty memory of the solver: ranks do not save theirs. */
static scree_Status save_rest(const scree_World *world, scree_PartState *state, int64_t bytes[2]) {
  const scree_System *s = &world->system;
  scree_Solver *empty = NULL;
  const scree_SolveSettings settings = scree_solve_settings();
  scree_Status status = scree_solver_create(&settings, s->log, &empty);
  if (!status) {
    bytes[0] = (int64_t)scree_actuation_size(&s->bodies);
    bytes[1] = (int64_t)scree_solver_state_size(empty);
    const bool writes = s->domain.rank == 0;
    char *rest = room(state, REST, writes ? (size_t)(bytes[0] + bytes[1]) : 0, 1);
    if (!rest) status = fail_memory(s);
    if (!status && writes) {
      scree_actuation_save_as(&s->bodies, s->domain.global, s->domain.forces, rest);
      scree_solver_save(empty, rest + bytes[0]);
    }
  }
  scree_solver_destroy(empty);
  return scree_domain_agree(s, status);
}

scree_Status scree_world_part_save(const scree_World *world, scree_PartState *state) {
  const scree_System *s = &world->system;
  int64_t rest[2] = {0};
  *state = (scree_PartState){0};
  scree_Status status = save_bodies(s, state);
  if (!status) status = scree_part_share_joints(s, &state->memory[JOINTS], &state->bytes[JOINTS]);
  state->data[JOINTS] = state->memory[JOINTS];
  if (!status) status = save_contacts(s, state);
  if (!status) status = save_rest(world, state, rest);
  if (status) {
    scree_world_part_state_fini(state);
    return status;
  }
  const size_t keys = state->bytes[KEYS] / sizeof(scree_ContactKey),
               removed = state->bytes[REMOVED] / sizeof(scree_StateRemoved),
               late = state->bytes[LATE] / sizeof(scree_Late);
  double counts[4] = {(double)keys, (double)removed, (double)late, 0};
  for (int k = MOTIONS; k < SCREE_STATE_SECTIONS; ++k) counts[3] += (double)state->bytes[k];
  scree_ranks_sums(s->domain.ranks, counts, 4);
  const bool writes = s->domain.rank == 0;
  scree_StateHeader *header = room(state, HEADER, writes, sizeof *header);
  if (writes && header) {
    *header = scree_state_header(world);
    header->bodies = s->domain.whole;
    header->contacts = (int64_t)counts[0];
    header->removed = (int64_t)counts[1];
    header->late = (int64_t)counts[2];
    header->size = (int64_t)(sizeof *header) + (int64_t)counts[3];
    header->actuation = rest[0];
    header->solver = rest[1];
  }
  status = scree_domain_agree(s, header ? SCREE_OK : fail_memory(s));
  if (status) scree_world_part_state_fini(state);
  return status;
}

/* ---- restoring ---------------------------------------------------------------------------------
 */

typedef struct Source {
  scree_World *world;
  scree_System *s;
  scree_StateReader read;
  void *user;
  scree_StateHeader header;
  int64_t at[SCREE_STATE_SECTIONS + 1]; /* where the sections begin */
  scree_DeformedList deformed;
} Source;

static scree_Status fail_read(const Source *source) {
  return scree_fail(source->s->log, SCREE_BAD_INPUT,
                    "state: it cannot be read, expected the bytes that its head describes");
}

static scree_Status read_header(Source *source) {
  const scree_Domain *p = &source->s->domain;
  scree_StateHeader *h = &source->header;
  if (!source->read(source->user, 0, h, sizeof *h)) return fail_read(source);
  const scree_Status status = scree_state_check_header(source->world, h, p->whole);
  if (status) return status;
  const int64_t n = h->bodies, c = h->contacts, number = (int64_t)sizeof(double);
  const int64_t deforms = (int64_t)source->deformed.count, joints = source->s->joints.count;
  int64_t components = 0;
  for (size_t k = 0; k < source->deformed.count; ++k)
    components += source->deformed.body[k].components;
  const bool sound = c >= 0 && c < INT32_MAX && h->removed >= 0 && h->removed <= n &&
                     h->late >= 0 && h->late <= n && h->stride >= 0 &&
                     h->stride <= SCREE_LAW_MEMORY && h->actuation >= 0 && h->solver >= 0;
  const int64_t bytes[SCREE_STATE_SECTIONS] = {(int64_t)sizeof *h,
                                               n * (int64_t)sizeof(scree_Motion),
                                               2 * components * number,
                                               deforms * number,
                                               joints * (int64_t)sizeof(scree_JointMemory),
                                               n * (int64_t)sizeof(scree_BodyCreep),
                                               h->removed * (int64_t)sizeof(scree_StateRemoved),
                                               h->late * (int64_t)sizeof(scree_Late),
                                               c * (int64_t)sizeof(scree_ContactKey),
                                               c * (int64_t)sizeof(scree_Vec3),
                                               c * (int64_t)sizeof(scree_Vec3),
                                               c * (sound ? h->stride : 0) *
                                                   (int64_t)sizeof(double),
                                               h->actuation + h->solver};
  for (int k = 0; k < SCREE_STATE_SECTIONS; ++k) source->at[k + 1] = source->at[k] + bytes[k];
  if (sound && h->size == source->at[SCREE_STATE_SECTIONS]) return SCREE_OK;
  return scree_fail(source->s->log, SCREE_BAD_INPUT,
                    "state: found other sizes, expected those of %d bodies and %lld contacts",
                    h->bodies, (long long)c);
}

static bool all_finite(const void *numbers, size_t bytes) {
  const double *x = numbers;
  for (size_t k = 0; k < bytes / sizeof *x; ++k)
    if (!isfinite(x[k])) return false;
  return true;
}

/* Motions and creep, run by run of bodies with consecutive numbers. */
static scree_Status read_bodies(Source *source) {
  scree_System *s = source->s;
  scree_Bodies *b = &s->bodies;
  const int *global = s->domain.global;
  scree_Status status = scree_creep_reserve(s, (size_t)b->count);
  for (int first = 0, next; !status && first < b->count; first = next) {
    for (next = first + 1; next < b->count && global[next] == global[next - 1] + 1;) ++next;
    const size_t n = (size_t)(next - first);
    const int64_t at = global[first];
    scree_Motion *motion = &b->motion[first];
    if (!source->read(source->user, source->at[MOTIONS] + at * (int64_t)sizeof *motion, motion,
                      n * sizeof *motion) ||
        !source->read(source->user, source->at[CREEP] + at * (int64_t)sizeof(scree_BodyCreep),
                      &s->creep.bodies[first], n * sizeof(scree_BodyCreep)))
      status = fail_read(source);
    else if (!all_finite(motion, n * sizeof *motion))
      status = scree_fail(s->log, SCREE_BAD_INPUT,
                          "state: found motions that are not finite, expected finite numbers");
  }
  return status;
}

/* The memory of all joints: every rank knows them. */
static scree_Status read_joints(const Source *source) {
  scree_System *s = source->s;
  void *to = s->joints.memory;
  const size_t bytes = (size_t)s->joints.count * sizeof *s->joints.memory;
  if (bytes == 0) return SCREE_OK;
  if (!source->read(source->user, source->at[JOINTS], to, bytes)) return fail_read(source);
  if (!all_finite(to, bytes))
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "state: found numbers of joints that are not finite, expected finite ones");
  scree_domain_know_joints(s);
  return SCREE_OK;
}

/* Coordinates and accounts of the deformable bodies of this rank. */
static scree_Status read_deformed(const Source *source) {
  const scree_System *s = source->s;
  const scree_DeformedList *list = &source->deformed;
  const int64_t number = (int64_t)sizeof(double);
  scree_Bodies *b = &source->s->bodies;
  size_t at = 0;
  int64_t before = 0; /* numbers of the bodies before */
  for (int k = 0; k < b->deformable_count; ++k) {
    const scree_Deformable *self = &b->deformable[k];
    const int body = s->domain.global[self->body];
    for (; at < list->count && list->body[at].number < body; ++at)
      before += 2 * (int64_t)list->body[at].components;
    if (at == list->count || list->body[at].number != body) return fail_read(source);
    double *q = scree_deformable_q(b, self), *account = &b->account[k];
    const size_t bytes = 2 * self->components * sizeof *q;
    if (!source->read(source->user, source->at[STATES] + before * number, q, bytes) ||
        !source->read(source->user, source->at[ACCOUNTS] + (int64_t)at * number, account,
                      sizeof *account))
      return fail_read(source);
    if (!all_finite(q, bytes) || !isfinite(*account) || !isfinite(self->class_->strain(self, q)))
      return scree_fail(s->log, SCREE_BAD_INPUT,
                        "state: body %d: found coordinates that are not finite, or turn it inside "
                        "out, expected those of a possible shape",
                        body);
    scree_deformable_update(b, self);
  }
  return SCREE_OK;
}

/* Removed bodies and late impacts of this rank; the lists are read by all. */
static scree_Status read_lists(Source *source) {
  scree_System *s = source->s;
  const scree_StateHeader *h = &source->header;
  scree_Late *piece = SCREE_ALLOC(scree_Late, PIECE);
  scree_StateRemoved *gone = (void *)piece; /* the smaller ones */
  scree_Status status = piece ? SCREE_OK : fail_memory(s);
  for (int64_t first = 0; !status && first < h->removed; first += PIECE) {
    const size_t n = h->removed - first < PIECE ? (size_t)(h->removed - first) : PIECE;
    if (!source->read(source->user, source->at[REMOVED] + first * (int64_t)sizeof *gone, gone,
                      n * sizeof *gone))
      status = fail_read(source);
    for (size_t k = 0; !status && k < n; ++k) {
      const bool sound = gone[k].body >= 0 && gone[k].body < h->bodies && gone[k].step >= 0;
      const int local =
          sound ? scree_domain_local(&s->domain, s->bodies.count, (int)gone[k].body) : -1;
      if (!sound) status = fail_read(source);
      if (local >= 0) status = scree_bodies_set_gone(&s->bodies, local, gone[k].step, s->log);
    }
  }
  s->memory.late.count = 0;
  for (int64_t first = 0; !status && first < h->late; first += PIECE) {
    const size_t n = h->late - first < PIECE ? (size_t)(h->late - first) : PIECE;
    if (!source->read(source->user, source->at[LATE] + first * (int64_t)sizeof *piece, piece,
                      n * sizeof *piece))
      status = fail_read(source);
    for (size_t k = 0; !status && k < n; ++k) {
      const int local = scree_domain_local(&s->domain, s->bodies.count, piece[k].body);
      if (local >= 0 && !scree_late_add(&s->memory.late, local, piece[k].way, piece[k].left))
        status = fail_memory(s);
    }
  }
  scree_free(piece);
  return status;
}

/* The rank to which the body that has the contact was dealt. */
static int owner_of(const scree_System *s, const scree_ContactKey *key) {
  const scree_Domain *p = &s->domain;
  bool fixed[2];
  for (int side = 0; side < 2; ++side) {
    const int local = scree_domain_local(p, s->bodies.count, side == 0 ? key->i : key->j);
    fixed[side] = local >= 0 && s->bodies.fixed[local] & SCREE_BODY_OBSTACLE;
  }
  const int side = scree_domain_choose(fixed[0], fixed[1], key->i, key->j);
  return scree_domain_dealt(side == 0 ? key->i : key->j, p->size);
}

/* This rank's share of the contacts, with the rank of each. */
static scree_Status read_share(const Source *source, char *mine, int *to, int64_t first,
                               size_t count) {
  const size_t stride = (size_t)source->header.stride, each = scree_spread_bytes(stride);
  const struct {
    int section;
    size_t offset, bytes;
  } parts[] = {{KEYS, offsetof(scree_KeptContact, key), sizeof(scree_ContactKey)},
               {IMPULSES, offsetof(scree_KeptContact, impulse), sizeof(scree_Vec3)},
               {ARMS, offsetof(scree_KeptContact, arm), sizeof(scree_Vec3)},
               {VALUES, sizeof(scree_KeptContact), stride * sizeof(double)}};
  char *work = SCREE_ALLOC(char, count * sizeof(scree_Vec3) + count * stride * sizeof(double));
  scree_Status status = work ? SCREE_OK : fail_memory(source->s);
  for (size_t k = 0; k < sizeof parts / sizeof *parts && !status; ++k) {
    const size_t bytes = parts[k].bytes;
    if (bytes == 0) continue;
    if (!source->read(source->user, source->at[parts[k].section] + first * (int64_t)bytes, work,
                      count * bytes))
      status = fail_read(source);
    else if (k > 0 && !all_finite(work, count * bytes))
      status = scree_fail(source->s->log, SCREE_BAD_INPUT,
                          "state: found impulses that are not finite, expected finite numbers");
    for (size_t c = 0; c < count && !status; ++c)
      memcpy(mine + c * each + parts[k].offset, work + c * bytes, bytes);
  }
  for (size_t c = 0; c < count && !status; ++c) {
    scree_KeptContact kept;
    memcpy(&kept, mine + c * each, sizeof kept);
    if (kept.key.i < 0 || kept.key.j < 0 || kept.key.i >= source->header.bodies ||
        kept.key.j >= source->header.bodies)
      status = fail_read(source);
    else
      to[c] = owner_of(source->s, &kept.key);
  }
  scree_free(work);
  return status;
}

static int pack_given(void *user, size_t k, void *element) {
  const Contacts *c = user;
  memcpy(element, c->from + k * c->each, c->each);
  return c->to[k];
}

static scree_Status read_contacts(Source *source) {
  scree_System *s = source->s;
  scree_Domain *p = &s->domain;
  const int64_t all = source->header.contacts, rank = p->rank, size = p->size;
  const int64_t first = all * rank / size;
  const size_t count = (size_t)(all * (rank + 1) / size - first);
  const size_t each = scree_spread_bytes((size_t)source->header.stride);
  char *mine = SCREE_ALLOC(char, count *each);
  int *to = SCREE_ALLOC(int, count);
  scree_Status status = mine && to ? SCREE_OK : fail_memory(s);
  if (!status) status = read_share(source, mine, to, first, count);
  status = scree_domain_agree(s, status);
  s->memory.count = p->given_count = 0;
  s->memory.stride = (size_t)source->header.stride;
  Contacts c = {.s = s, .each = each, .from = mine, .to = to};
  const scree_Deal deal = {each, pack_given, take_contact, &c};
  if (!status) status = scree_ranks_deal(p->ranks, count, &deal, s->log);
  scree_free(p->given); /* the next build sends them on */
  p->given = c.got;
  p->given_count = status ? 0 : c.count;
  p->given_capacity = c.capacity;
  scree_free(mine);
  scree_free(to);
  return status;
}

scree_Status scree_world_part_restore(scree_World *world, scree_StateReader read, void *user) {
  scree_System *s = &world->system;
  Source source = {.world = world, .s = s, .read = read, .user = user};
  /* contacts are sent to the ranks to which bodies were dealt */
  scree_Status status = s->domain.counts.builds > 0 ? scree_domain_deal(s) : SCREE_OK;
  if (!status) status = scree_spread_deformed(s, &source.deformed);
  if (!status) status = read_header(&source);
  if (!status) status = read_bodies(&source);
  if (!status) status = read_joints(&source);
  if (!status) status = read_deformed(&source);
  if (!status) status = read_lists(&source);
  scree_free(source.deformed.body);
  status = scree_domain_agree(s, status);
  if (!status) status = read_contacts(&source);
  if (!status) scree_state_continue(world, &source.header);
  s->domain.fresh = false;
  return status;
}
