/* Deformable bodies that change their place in the arrays of bodies, or the rank that has them
 * (bodies.h). What is sent is the definition, the coordinates and the rates: the body is made anew
 * from these, as it was made the first time. Behind them come the vertices that do not move by
 * themselves, where there are some: what holds each, and its place in the frame of the obstacle
 * that moves it. */
#include "body/bodies.h"
#include "core/log.h"
#include "core/memory.h"
#include "element/elastic.h"

#include <string.h>

/* The definition; obstacles by their numbers in the whole world. */
typedef struct Sent {
  scree_BodyKind kind;
  int model;             /* of elastic materials, -1: none */
  scree_Elastic elastic; /* without addresses */
  int held, driven;      /* vertices */
} Sent;

_Static_assert(sizeof(Sent) % sizeof(double) == 0, "doubles follow");

scree_Shape scree_body_given_shape(const scree_Bodies *b, int k) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  return self ? self->class_->given(self) : b->cold[k].shape;
}

/* ---- coordinates and rates -------------------------------------------------------------------
 */

size_t scree_deformable_state_bytes(const scree_Bodies *b, int k) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  return self ? (1 + 2 * self->components) * sizeof(double) : 0;
}

void scree_deformable_get(const scree_Bodies *b, int k, void *state) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (!self) return;
  double *to = state;
  *to = b->account[b->deformable_index[k]];
  memcpy(to + 1, scree_deformable_q(b, self), 2 * self->components * sizeof *to);
}

void scree_deformable_put(scree_Bodies *b, int k, const void *state) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (!self) return;
  const double *from = state;
  b->account[b->deformable_index[k]] = *from;
  memcpy(scree_deformable_q(b, self), from + 1, 2 * self->components * sizeof *from);
  scree_deformable_update(b, self);
}

/* ---- the whole body --------------------------------------------------------------------------
 */

/* Bytes of what holds the vertices: (vertices) integers, then places. */
static size_t hold_bytes(const scree_Deformable *self, const Sent *sent) {
  const size_t n = (size_t)self->vertices, pairs = (n + 1) / 2; /* the next is aligned */
  if (sent->held == 0) return 0;
  return 2 * pairs * sizeof(int) + (sent->driven ? n * sizeof(scree_Vec3) : 0);
}

static scree_Vec3 *anchors_in(const scree_Deformable *self, char *holds) {
  return (void *)(holds + 2 * (((size_t)self->vertices + 1) / 2) * sizeof(int));
}

static Sent definition_of(const scree_Deformable *self) {
  Sent sent;
  memset(&sent, 0, sizeof sent);
  sent.kind = scree_body_kind(self->class_->name);
  sent.model = scree_elastic_find(self->elastic.model);
  sent.elastic = self->elastic;
  sent.elastic.model = NULL; /* an address of this process */
  sent.held = self->held;
  sent.driven = self->driven;
  return sent;
}

size_t scree_deformable_bytes(const scree_Bodies *b, int k) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (!self) return 0;
  const Sent sent = definition_of(self);
  return sizeof sent + scree_deformable_state_bytes(b, k) + hold_bytes(self, &sent);
}

void scree_deformable_send(const scree_Bodies *b, int k, void *to) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (!self) return;
  const Sent sent = definition_of(self);
  char *at = to;
  memcpy(at, &sent, sizeof sent);
  at += sizeof sent;
  scree_deformable_get(b, k, at);
  at += scree_deformable_state_bytes(b, k);
  if (sent.held)
    self->class_->get_holds(self, (void *)at, sent.driven ? anchors_in(self, at) : NULL);
}

scree_Status scree_deformable_receive(scree_Bodies *b, int k, const void *from, size_t bytes,
                                      const scree_Log *log) {
  b->deformable_index[k] = -1;
  if (bytes == 0) return SCREE_OK;
  Sent sent;
  const char *at = from;
  memcpy(&sent, at, sizeof sent);
  at += sizeof sent;
  scree_BodyDef def = scree_body_def();
  def.shape = &b->cold[k].shape;
  def.kind = sent.kind;
  def.elastic = sent.elastic;
  def.elastic.model = scree_elastic_model(sent.model, NULL);
  scree_Deformable made;
  scree_Status status = scree_deformable_make(b, k, &def, &b->inertia[k], &made, log);
  if (status) return status;
  const char *holds = at + (1 + 2 * made.components) * sizeof(double);
  if (sent.held && !made.class_->set_holds(&made, (const void *)holds,
                                           sent.driven ? anchors_in(&made, (char *)holds) : NULL))
    status = scree_fail_memory(log, "a finite-element body");
  b->deformable[b->deformable_count] = made;
  b->deformable_index[k] = b->deformable_count++;
  b->components += made.components;
  scree_deformable_put(b, k, at);
  return status;
}

void scree_deformable_drop(scree_Bodies *b, int k) {
  const int index = b->deformable_index ? b->deformable_index[k] : -1;
  if (index < 0) return;
  scree_Deformable *self = &b->deformable[index];
  self->class_->destroy(self);
  self->class_ = NULL;
  b->deformable_index[k] = -1;
  if (index < b->deformable_count - 1) return;
  b->deformable_count--;
  b->components -= self->components;
}

bool scree_deformable_sort(scree_Bodies *b) {
  const int old = b->deformable_count;
  if (!b->deformable_index || old == 0) return true;
  scree_Deformable *list = SCREE_ALLOC(scree_Deformable, old);
  double *state = SCREE_ALLOC(double, 2 * b->components), *account = SCREE_ALLOC(double, old);
  const bool enough = list && state && account;
  int count = 0;
  size_t offset = 0;
  for (int k = 0; enough && k < b->count; ++k) {
    const int index = b->deformable_index[k];
    if (index < 0) continue;
    scree_Deformable *self = &list[count];
    *self = b->deformable[index];
    memcpy(state + 2 * offset, scree_deformable_q(b, self), 2 * self->components * sizeof *state);
    account[count] = b->account[index];
    self->body = k;
    self->offset = offset;
    offset += self->components;
    b->deformable_index[k] = count++;
  }
  if (enough) {
    memcpy(b->deformable, list, (size_t)count * sizeof *list);
    memcpy(b->state, state, 2 * offset * sizeof *state);
    memcpy(b->account, account, (size_t)count * sizeof *account);
    b->deformable_count = count;
    b->components = offset;
  }
  scree_free(list);
  scree_free(state);
  scree_free(account);
  return enough;
}
