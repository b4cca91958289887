/* Joints at points of deformable bodies.
 *
 * A material point is x = sum N_i q_i over a few vertices, with N that does not change
 * (body/class.h), so a row that pulls at it along e has the velocity e . sum N_i v_i and the blocks
 * e^T N_i L_i^-T. Its place at the next kick is linear in the velocities: such joints need no
 * correction. The rest of joints sees a body that does not turn, with the anchor as its centre. */
#include "body/driven.h"
#include "core/log.h"
#include "core/memory.h"
#include "step/joints_internal.h"

#include <string.h>

static const scree_Twist at_rest = {{0, 0, 0}, {0, 0, 0}};

/* sum N_i a_i over the vertices of the anchor */
static scree_Vec3 combine(const scree_Deformable *self, const scree_JointAnchor *anchor,
                          const double *a) {
  const int d = self->dimension, n = self->size;
  double x[3] = {0, 0, 0};
  for (int k = 0; k < anchor->count; ++k) {
    const double *N = anchor->N + (size_t)k * (size_t)(d * n);
    const double *ak = a + (size_t)anchor->vertex[k] * (size_t)n;
    for (int i = 0; i < d; ++i)
      for (int m = 0; m < n; ++m) x[i] += N[i * n + m] * ak[m];
  }
  return scree_vec3(x[0], x[1], x[2]);
}

scree_Pose scree_joint_pose(const scree_System *s, const scree_Joint *joint, int side) {
  const scree_Bodies *b = &s->bodies;
  const int body = joint->body[side];
  const scree_JointAnchor *anchor = anchor_of(s, joint, side);
  if (!anchor || body < 0) return *pose_of(b, body); /* it may be on another rank */
  const scree_Deformable *self = scree_bodies_deformable(b, body);
  return (scree_Pose){combine(self, anchor, scree_deformable_q(b, self)), {1, 0, 0, 0}};
}

scree_Twist scree_joint_twist(const scree_System *s, const scree_Joint *joint, int side,
                              scree_VelocityTime moment) {
  const scree_Bodies *b = &s->bodies;
  const int body = joint->body[side];
  if (body < 0) return at_rest;
  const scree_JointAnchor *anchor = anchor_of(s, joint, side);
  if (!anchor || b->fixed[body]) {
    switch (moment) {
    case SCREE_BEFORE: return scree_bodies_velocity_before(b, body);
    case SCREE_FREE: return scree_system_free(s, body);
    case SCREE_AFTER: return scree_system_after(s, body);
    default: return b->motion[body].velocity;
    }
  }
  const scree_Deformable *self = scree_bodies_deformable(b, body);
  if (moment == SCREE_AFTER)
    return (scree_Twist){combine(self, anchor, scree_deformable_after(b, self)), {0, 0, 0}};
  scree_Twist v = {combine(self, anchor, scree_deformable_v(b, self)), {0, 0, 0}};
  if (moment == SCREE_FREE)
    v.linear = scree_add(v.linear, combine(self, anchor, scree_deformable_change(b, self)));
  return v;
}

scree_Vec3 scree_joint_driven(const scree_System *s, const scree_Joint *joint, int side) {
  const scree_JointAnchor *anchor = anchor_of(s, joint, side);
  const scree_Deformable *self = anchor && joint->body[side] >= 0
                                     ? scree_bodies_deformable(&s->bodies, joint->body[side])
                                     : NULL;
  if (!self || self->driven == 0) return scree_vec3(0, 0, 0);
  return scree_driven_velocity(&s->bodies, self, anchor->vertex, anchor->N, anchor->count);
}

/* The block of vertex k of an anchor for a row along e (size numbers). */
static void block_of(const scree_Deformable *self, const scree_JointAnchor *anchor, int k,
                     scree_Vec3 e, double scale, double *B) {
  const int d = self->dimension, n = self->size;
  const double *N = anchor->N + (size_t)k * (size_t)(d * n);
  const double *L = self->class_->scaling(self) + (size_t)anchor->vertex[k] * (size_t)(n * n);
  double row[SCREE_VERTEX_MAX];
  for (int m = 0; m < n; ++m) {
    row[m] = 0;
    for (int i = 0; i < d; ++i) row[m] += scale * scree_component(e, i) * N[i * n + m];
  }
  for (int m = 0; m < n; ++m) {
    B[m] = 0;
    for (int i = 0; i <= m; ++i) B[m] += L[m * n + i] * row[i];
  }
}

size_t scree_joint_anchor_blocks(const scree_System *s, const scree_JointAnchor *anchor, int body,
                                 const scree_JointRow *rows, int n, int side, double scale,
                                 scree_GeneralRows *g, size_t e) {
  const scree_Deformable *self = scree_bodies_deformable(&s->bodies, body);
  for (int k = 0; k < anchor->count; ++k, ++e) {
    double *B = g->B + g->block[e];
    g->vertex[e] = s->posed.problem_index[body] + anchor->vertex[k];
    g->block[e + 1] = g->block[e] + (size_t)(n * self->size);
    for (int i = 0; i < n; ++i, B += self->size)
      block_of(self, anchor, k, rows[i].linear[side], scale, B);
  }
  return e;
}

double scree_joint_anchor_square(const scree_System *s, const scree_JointAnchor *anchor, int body,
                                 scree_Vec3 linear) {
  const scree_Deformable *self = scree_bodies_deformable(&s->bodies, body);
  double sum = 0, B[SCREE_VERTEX_MAX];
  for (int k = 0; k < anchor->count; ++k) {
    block_of(self, anchor, k, linear, 1, B);
    for (int m = 0; m < self->size; ++m) sum += B[m] * B[m];
  }
  return sum;
}

static bool all_held(const scree_Deformable *self, const scree_JointAnchor *anchor) {
  for (int k = 0; k < anchor->count; ++k)
    if (!self->class_->is_held || !self->class_->is_held(self, anchor->vertex[k])) return false;
  return true;
}

/* The anchor of a side on a deformable body of this rank. */
static scree_Status find_anchor(const scree_System *s, const scree_JointDef *def, int side,
                                const scree_Deformable *self, scree_JointHold *hold) {
  const bool two = def->kind == SCREE_JOINT_DISTANCE || def->kind == SCREE_JOINT_SPRING;
  const scree_Vec3 point = side == 1 && two ? def->anchor2 : def->anchor;
  const double *q = scree_deformable_q(&s->bodies, self);
  scree_JointAnchor *anchor = &hold->anchor;
  anchor->count = self->class_->anchor(self, q, point, anchor->vertex, anchor->N);
  if (anchor->count == 0)
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "joint: anchor (%g, %g, %g) is not in body %d, expected a point of it",
                      point.x, point.y, point.z, def->body[side]);
  hold->pose = (scree_Pose){combine(self, anchor, q), {1, 0, 0, 0}};
  hold->stays = all_held(self, anchor);
  hold->known = 1;
  return SCREE_OK;
}

/* Those that other ranks have found. */
static scree_Status share_anchors(scree_System *s, scree_JointHold hold[2]) {
  const scree_Domain *p = &s->domain;
  const scree_ArenaMark mark = scree_arena_mark(&s->domain.work);
  scree_JointHold *all = SCREE_TAKE_RAW(&s->domain.work, scree_JointHold, 2 * (size_t)p->size);
  const scree_Status status =
      scree_domain_agree(s, all ? SCREE_OK : scree_fail_memory(s->log, "a joint"));
  if (!status && all) {
    scree_ranks_gather_all(p->ranks, hold, 2 * sizeof *hold, all);
    for (int k = 0; k < 2 * p->size; ++k)
      if (all[k].known > 0) hold[k % 2] = all[k];
  }
  scree_arena_release(&s->domain.work, mark);
  return status;
}

scree_Status scree_joint_find_anchors(scree_System *s, const scree_JointDef *def,
                                      const scree_JointSide side[2], scree_JointHold hold[2]) {
  scree_Status status = SCREE_OK;
  bool any = false, moves = false;
  memset(hold, 0, 2 * sizeof *hold);
  for (int k = 0; k < 2; ++k) {
    const int body =
        def->body[k] < 0 ? -1 : scree_domain_local(&s->domain, s->bodies.count, def->body[k]);
    any = any || side[k].deformable > 0;
    if (!(side[k].deformable > 0) || body < 0 || !scree_domain_owns(&s->domain, body) || status)
      continue;
    status = find_anchor(s, def, k, scree_bodies_deformable(&s->bodies, body), &hold[k]);
  }
  if (!any) return SCREE_OK;
  status = scree_domain_agree(s, status);
  if (!status && s->domain.global) status = share_anchors(s, hold);
  if (status) return status;
  for (int k = 0; k < 2; ++k)
    moves = moves || (side[k].deformable > 0 ? !(hold[k].stays > 0) : !(side[k].fixed > 0));
  if (moves) return SCREE_OK;
  return scree_fail(s->log, SCREE_BAD_INPUT,
                    "joint: nothing can move its two anchors, expected one that is not held");
}
