/* Deformable bodies of all kinds: what follows from their coordinates q and rates v (class.h). */
#include "body/bodies.h"

#include <assert.h>

void scree_deformable_update(scree_Bodies *b, const scree_Deformable *self) {
  assert(self->components > 0 && self->body >= 0 && self->body < b->count);
  const double *q = scree_deformable_q(b, self), *v = scree_deformable_v(b, self);
  scree_Motion *motion = &b->motion[self->body];
  self->class_->shape(self, q, &b->cold[self->body].shape, &motion->pose);
  motion->velocity = self->class_->twist(self, q, v);
}

void scree_deformable_drift(scree_Bodies *b, const scree_Deformable *self, double h) {
  double *q = scree_deformable_q(b, self);
  const double *v = scree_deformable_v(b, self);
  for (size_t k = 0; k < self->components; ++k) q[k] += h * v[k];
  scree_deformable_update(b, self);
}

void scree_bodies_set_rigid_velocity(scree_Bodies *b, int k, const scree_Twist *velocity) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (!self) return;
  self->class_->spin(self, scree_deformable_q(b, self), velocity, scree_deformable_v(b, self));
  scree_deformable_update(b, self);
}

void scree_bodies_set_undeformed(scree_Bodies *b, int k, const scree_Pose *pose) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (!self) return;
  const scree_Twist velocity = b->motion[k].velocity;
  const scree_Pose given = *pose; /* may be the body's own */
  self->class_->place(self, &given, scree_deformable_q(b, self));
  scree_bodies_set_rigid_velocity(b, k, &velocity);
}
