/* Deformable bodies that change their place in the arrays of bodies, or the rank that has them
 * (bodies.h). What is sent is the definition, the coordinates and the rates: the body is made anew
 * from these, as it was made the first time. */
#include "body/bodies.h"
#include "core/log.h"
#include "core/memory.h"
#include "element/elastic.h"

#include <string.h>

bool scree_deformable_can_send(const scree_Deformable *self) {
  return self->vertices == 1 && self->class_->given;
}

scree_Shape scree_body_given_shape(const scree_Bodies *b, int k) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  return self && self->class_->given ? self->class_->given(self) : b->cold[k].shape;
}

void scree_deformable_send(const scree_Bodies *b, int k, scree_DeformableSent *sent) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  memset(sent, 0, sizeof *sent);
  if (!self) return;
  sent->kind = scree_body_kind(self->class_->name);
  sent->model = scree_elastic_find(self->elastic.model);
  sent->elastic = self->elastic;
  sent->elastic.model = NULL; /* an address of this process */
  sent->account = b->account[b->deformable_index[k]];
  memcpy(sent->q, scree_deformable_q(b, self), self->components * sizeof *sent->q);
  memcpy(sent->v, scree_deformable_v(b, self), self->components * sizeof *sent->v);
}

void scree_deformable_put(scree_Bodies *b, int k, const scree_DeformableSent *sent) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (!self) return;
  memcpy(scree_deformable_q(b, self), sent->q, self->components * sizeof *sent->q);
  memcpy(scree_deformable_v(b, self), sent->v, self->components * sizeof *sent->v);
  b->account[b->deformable_index[k]] = sent->account;
  scree_deformable_update(b, self);
}

scree_Status scree_deformable_receive(scree_Bodies *b, int k, const scree_DeformableSent *sent,
                                      const scree_Log *log) {
  b->deformable_index[k] = -1;
  if (sent->kind == SCREE_BODY_RIGID) return SCREE_OK;
  scree_BodyDef def = scree_body_def();
  def.shape = &b->cold[k].shape;
  def.kind = sent->kind;
  def.elastic = sent->elastic;
  def.elastic.model = scree_elastic_model(sent->model, NULL);
  scree_Deformable made;
  const scree_Status status = scree_deformable_make(b, k, &def, &b->inertia[k], &made, log);
  if (status) return status;
  b->deformable[b->deformable_count] = made;
  b->deformable_index[k] = b->deformable_count++;
  b->components += made.components;
  scree_deformable_put(b, k, sent);
  return SCREE_OK;
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
