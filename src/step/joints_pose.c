/* Joints in a step: their constraints, from the rows to sets, q and the first impulses (see
 * joints.h). */
#include "core/log.h"
#include "core/memory.h"
#include "step/joints_internal.h"

#include <assert.h>

/* A side of a joint is a rigid body or the vertices of an anchor; `nb` numbers of each in a row.
 * A cell under a pressure is a third one. */
static bool reserve(scree_Joints *j, int constraints, size_t rows, size_t nb, bool cell) {
  const size_t n = (size_t)constraints;
  const size_t sides = (j->anchors ? 2 * SCREE_TOUCH_MAX : 2) + (size_t)cell;
  if (n > j->part_capacity || !j->part) {
    scree_free(j->part);
    scree_free(j->rows.row);
    scree_free(j->rows.entry);
    scree_free(j->rows.vertex);
    scree_free(j->rows.block);
    j->part_capacity = 0;
    j->part = SCREE_ALLOC(scree_JointPart, n);
    j->rows.row = SCREE_ALLOC(size_t, n + 1);
    j->rows.entry = SCREE_ALLOC(size_t, n + 1);
    j->rows.vertex = SCREE_ALLOC(int, sides *n);
    j->rows.block = SCREE_ALLOC(size_t, sides * n + 1);
    if (!j->part || !j->rows.row || !j->rows.entry || !j->rows.vertex || !j->rows.block)
      return false;
    j->part_capacity = n;
  }
  if (rows > j->row_capacity || !j->shift) {
    scree_free(j->shift);
    scree_free(j->before);
    scree_free(j->row);
    scree_free(j->error);
    scree_free(j->rows.B);
    scree_free(j->rows.C);
    j->row_capacity = 0;
    j->number_capacity = rows * (sides * nb + SCREE_ROWS_MAX);
    j->shift = SCREE_ALLOC(double, rows);
    j->before = SCREE_ALLOC(double, rows);
    j->row = SCREE_ALLOC(scree_JointRow, rows);
    j->error = SCREE_ALLOC(double, rows);
    j->rows.B = SCREE_ALLOC(double, rows *sides *nb);
    j->rows.C = SCREE_ALLOC(double, rows *SCREE_ROWS_MAX);
    if (!j->shift || !j->before || !j->row || !j->error || !j->rows.B || !j->rows.C) return false;
    j->row_capacity = rows;
  }
  return true;
}

void scree_joints_block(const scree_Bodies *b, int body, scree_Vec3 linear, scree_Vec3 angular,
                        double scale, double *B) {
  const scree_Inertia *inertia = &b->inertia[body];
  const double m = scale * inertia->inv_sqrt_mass;
  const scree_Vec3 i = scree_scale(scale, inertia->inv_sqrt_moments);
  if (b->dimension == 2) {
    B[0] = m * linear.x;
    B[1] = m * linear.y;
    B[2] = i.z * angular.z;
    return;
  }
  const scree_Mat3 R = scree_inertia_frame(inertia, b->motion[body].pose.orientation);
  const scree_Vec3 w = scree_times(i, scree_mat3_tmul(&R, angular));
  B[0] = m * linear.x;
  B[1] = m * linear.y;
  B[2] = m * linear.z;
  B[3] = w.x;
  B[4] = w.y;
  B[5] = w.z;
}

/* |B|^2 of one row: its diagonal entry of W. */
static double diagonal_of(const scree_System *s, const scree_Joint *joint,
                          const scree_JointRow *row) {
  const scree_Bodies *b = &s->bodies;
  const int *body = joint->body;
  double sum = 0, B[6];
  for (int side = 0; side < 2; ++side) {
    if (is_fixed(b, body[side])) continue;
    const scree_JointAnchor *anchor = anchor_of(s, joint, side);
    if (anchor) {
      sum += scree_joint_anchor_square(s, anchor, body[side], row->linear[side]);
      continue;
    }
    scree_joints_block(b, body[side], row->linear[side], row->angular[side], 1, B);
    for (int k = 0; k < b->nb; ++k) sum += B[k] * B[k];
  }
  return sum;
}

/* The same row in the opposite direction. */
static scree_JointRow reversed(const scree_JointRow *row) {
  return (scree_JointRow){{scree_neg(row->linear[0]), scree_neg(row->linear[1])},
                          {scree_neg(row->angular[0]), scree_neg(row->angular[1])}};
}

/* Append the constraint of a part; `rows` and `error` are those of all locked motions, or of the
 * free coordinate. */
static void add_part(scree_System *s, int joint, int part, const scree_JointRow *rows,
                     const double *error, double compliance) {
  scree_Joints *j = &s->joints;
  const scree_Bodies *b = &s->bodies;
  scree_GeneralRows *g = &j->rows;
  const int *body = j->joint[joint].body, c = g->count++;
  const size_t nb = (size_t)b->nb;
  int first;
  const int n = scree_joint_part_rows(&j->joint[joint], b->dimension, part, &first);
  assert(n >= 1 && n <= SCREE_ROWS_MAX);
  rows += first;
  if (error) error += first;
  /* C may be arbitrarily large: the row is scaled until its diagonal entry is its own |B|^2 */
  double scale = 1;
  if (compliance > 0) {
    const double w = diagonal_of(s, &j->joint[joint], rows);
    scale = sqrt(w / (w + compliance));
  }
  j->part[c] = (scree_JointPart){joint, part, first, scale};
  g->row[c + 1] = g->row[c] + (size_t)n;
  g->entry[c + 1] = g->entry[c];
  for (int side = 0; side < 2; ++side) {
    if (is_fixed(b, body[side])) continue;
    const scree_JointAnchor *anchor = anchor_of(s, &j->joint[joint], side);
    if (anchor) {
      g->entry[c + 1] = scree_joint_anchor_blocks(s, anchor, body[side], rows, n, side, scale, g,
                                                  g->entry[c + 1]);
      continue;
    }
    const size_t e = g->entry[c + 1]++;
    double *B = g->B + g->block[e];
    g->vertex[e] = s->posed.problem_index[body[side]];
    g->block[e + 1] = g->block[e] + (size_t)n * nb;
    for (int i = 0; i < n; ++i, B += nb)
      scree_joints_block(b, body[side], rows[i].linear[side], rows[i].angular[side], scale, B);
  }
  if (s->cell.pressed) {
    const size_t e = g->entry[c + 1]++, each = (size_t)s->cell.pressed;
    g->vertex[e] = s->posed.nbodies;
    g->block[e + 1] = g->block[e] + (size_t)n * each;
    for (int i = 0; i < n; ++i)
      scree_cell_joint_row(s, body, rows[i].linear, scale, g->B + g->block[e] + (size_t)i * each);
  }
  const scree_Twist vi = scree_joint_twist(s, &j->joint[joint], 0, SCREE_BEFORE);
  const scree_Twist vj = scree_joint_twist(s, &j->joint[joint], 1, SCREE_BEFORE);
  const size_t local = g->row[c] - g->row[0];
  for (int i = 0; i < n; ++i) {
    j->row[local + (size_t)i] = rows[i];
    j->error[local + (size_t)i] = error ? error[i] : 0;
    j->before[local + (size_t)i] = row_velocity(&rows[i], &vi, &vj);
  }
}

/* Motors whose targets are given by functions. */
static scree_Status check_motors(const scree_System *s) {
  const scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k) {
    const scree_Motor *motor = &j->joint[k].def.motor;
    if (!motor->function || !scree_joint_is_there(s, k) ||
        !isinf(scree_joint_target(&j->joint[k], &s->times)))
      continue;
    if (motor->name)
      return scree_fail(s->log, SCREE_BAD_INPUT,
                        "%s is not finite at t = %.9g s, expected a finite number", motor->name,
                        scree_joint_target_time(&j->joint[k], &s->times));
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "motor of joint %d is infinite at t = %.9g s, expected a finite number", k,
                      scree_joint_target_time(&j->joint[k], &s->times));
  }
  return SCREE_OK;
}

scree_Status scree_joints_pose(scree_System *s, int nc) {
  scree_Joints *j = &s->joints;
  const int d = s->bodies.dimension;
  int constraints;
  size_t rows;
  const scree_Status status = check_motors(s);
  if (status != SCREE_OK) return status;
  scree_joints_size(s, &constraints, &rows);
  const int most = j->anchors ? SCREE_VERTEX_MAX : s->bodies.nb;
  if (!reserve(j, constraints, rows, (size_t)most, s->cell.pressed > 0))
    return scree_fail_memory(s->log, "the joints of a step");
  j->rows.count = 0;
  j->rows.row[0] = (size_t)nc * (size_t)d;
  j->rows.entry[0] = j->rows.block[0] = 0;
  for (int k = 0; k < j->count; ++k) {
    const scree_Joint *joint = &j->joint[k];
    if (!scree_joint_is_there(s, k)) continue;
    const scree_JointPlace place = place_now(s, joint);
    scree_JointRow row[SCREE_JOINT_ROWS];
    double error[SCREE_JOINT_ROWS];
    const int locked = scree_joint_locked(joint, d, &place, error, row);
    for (int i = 0; i < locked; ++i) error[i] -= j->memory[k].plastic[i];
    for (int part = 0; is_locking(part); ++part)
      if (scree_joint_has_part(joint, d, part)) add_part(s, k, part, row, error, 0);
    if (scree_joint_class(joint)->coordinate == SCREE_COORDINATE_NONE) continue;
    j->trial[k].x = scree_joint_coordinate(joint, d, &place, j->memory[k].x, row);
    for (int part = SCREE_PART_MOTOR; part < SCREE_JOINT_PARTS; ++part) {
      if (!scree_joint_has_part(joint, d, part)) continue;
      const scree_JointRow own = part == SCREE_PART_UPPER ? reversed(row) : *row;
      add_part(s, k, part, &own, NULL,
               part == SCREE_PART_SPRING ? 1 / spring_of(joint, s->times.h).S : 0);
    }
  }
  return SCREE_OK;
}

/* ---- fill ------------------------------------------------------------------------------------ */

double scree_joint_target_time(const scree_Joint *joint, const scree_StepTimes *times) {
  const bool position = joint->def.motor.kind == SCREE_MOTOR_POSITION;
  return times->kick + (position ? times->horizon : 0.5 * times->horizon);
}

double scree_joint_target(const scree_Joint *joint, const scree_StepTimes *times) {
  const scree_Motor *motor = &joint->def.motor;
  const double time = scree_joint_target_time(joint, times);
  const double target = motor->function ? motor->function(motor->user, time) : motor->target;
  return scree_joint_scale(joint) * target;
}

/* Shift and set of a part of the free coordinate x; `before` and `free` velocities of its row. */
static double coordinate_shift(const scree_System *s, const scree_Joint *joint, int part, double x,
                               double before, double free, scree_Set *set) {
  const scree_StepTimes *t = &s->times;
  const scree_JointDef *def = &joint->def;
  const double scale = scree_joint_scale(joint);
  switch (part) {
  case SCREE_PART_MOTOR: {
    const double target = scree_joint_target(joint, t);
    if (def->motor.force > 0)
      *set = (scree_Set){.kind = SCREE_SET_BALL, .a = t->h * def->motor.force / scale};
    if (isnan(target)) { /* the motor is off */
      *set = (scree_Set){.kind = SCREE_SET_BALL, .a = 0};
      return 0;
    }
    return def->motor.kind == SCREE_MOTOR_VELOCITY ? -target : (x - target) / t->horizon;
  }
  case SCREE_PART_FRICTION:
    *set = (scree_Set){.kind = SCREE_SET_BALL, .a = t->h * def->friction / scale};
    return 0;
  case SCREE_PART_LOWER:
  case SCREE_PART_UPPER: {
    const double gap = part == SCREE_PART_LOWER ? x - scale * def->lower : scale * def->upper - x;
    const double bounce = def->restitution * before;
    *set = (scree_Set){.kind = SCREE_SET_HALF_LINE};
    const bool meets = gap + t->horizon * free < 0;
    return meets && bounce < 0 && bounce < gap / t->horizon ? bounce : gap / t->horizon;
  }
  default: {
    const scree_JointSpring spring = spring_of(joint, t->h);
    const double away = x - scale * def->rest;
    return (t->h * spring.k * away +
            (0.5 * t->h * spring.c - 0.25 * t->h * t->h * spring.k) * before) /
           spring.S;
  }
  }
}

/* Part of an error of locked motions that is left, relative to the size of the joint, in worlds
 * with contacts and deformable bodies: the same as of contacts (moreau_jean.c), where no gap of
 * this size is closed. Such a body cannot adapt to faces that are not parallel. When a plate on a
 * joint was tilted by 3e-9 by errors of the solver, and the joint alone wanted to turn it back,
 * the contacts of a soft cube between this plate and the floor could not all stick: the only
 * solution was one in which an edge of the cube came off, and the cube was 15.6 % shorter than it
 * should be. With 1e-9 to 1e-6 all of 19 steps tried were right, without it 9. */
static const double left_part = 1e-7;

double scree_joint_excess(const scree_System *s, const scree_Joint *joint, int part, double error) {
  if (part != SCREE_PART_LOCKED || !scree_system_deforms(s) || s->posed.all == 0) return error;
  const double left = left_part * joint->size;
  return error - fmax(-left, fmin(left, error));
}

void scree_joints_fill(scree_System *s, double h) {
  scree_Joints *j = &s->joints;
  scree_Posed *p = &s->posed;
  const scree_GeneralRows *g = &j->rows;
  const bool tried = s->trial.h > 0;
  const double last = tried ? s->trial.h : s->memory.h, warm = last > 0 ? h / last : 0;
  size_t square = 0;
  for (int c = 0; c < g->count; ++c) {
    const scree_JointPart *part = &j->part[c];
    const scree_Joint *joint = &j->joint[part->joint];
    const size_t at = g->row[c], local = at - g->row[0];
    const int n = (int)(g->row[c + 1] - at);
    const scree_JointRow *rows = j->row + local;
    const double *error = j->error + local;
    const scree_Twist vi = scree_joint_twist(s, joint, 0, SCREE_FREE);
    const scree_Twist vj = scree_joint_twist(s, joint, 1, SCREE_FREE);
    const double *start =
        impulses_of(&(tried ? j->trial : j->memory)[part->joint], part->part, part->first);
    scree_Set set = {.kind = SCREE_SET_SPACE};
    if (part->part != SCREE_PART_LOCKED && is_locking(part->part))
      set = scree_bond_set(joint, part->part, s->times.h);
    for (int i = 0; i < n; ++i) {
      const double free = row_velocity(&rows[i], &vi, &vj);
      double *shift = &j->shift[local + (size_t)i];
      *shift = is_locking(part->part)
                   ? scree_joint_excess(s, joint, part->part, error[i]) / s->times.horizon
                   : coordinate_shift(s, joint, part->part, j->trial[part->joint].x,
                                      j->before[local + (size_t)i], free, &set);
      p->q[at + (size_t)i] = part->scale * (free + *shift);
      p->r[at + (size_t)i] = warm * start[i] / part->scale;
    }
    for (int i = 0; i < n * n; ++i) g->C[square + (size_t)i] = 0;
    if (part->part == SCREE_PART_SPRING)
      g->C[square] = part->scale * part->scale / spring_of(joint, s->times.h).S;
    square += (size_t)(n * n);
    const int index = p->nc + c;
    p->mu[index] = set.mu;
    p->set[index] = (uint8_t)set.kind;
    p->set_a[index] = set.a / part->scale;
    p->set_b[index] = 0;
    scree_set_project(&(scree_Set){set.kind, set.mu, p->set_a[index], 0}, n, p->r + at, p->r + at);
  }
}
