/* Joints in a step (see joints.h). */
#include "step/joints.h"

#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <stdlib.h>
#include <string.h>

/* ---- the bodies of joints -------------------------------------------------------------------- */

/* Body -1 is the world: at rest, at the origin. */
static bool is_fixed(const scree_Bodies *b, int k) {
  return k < 0 || b->fixed[k];
}

static const scree_Pose *pose_of(const scree_Bodies *b, int k) {
  static const scree_Pose world = {{0, 0, 0}, {1, 0, 0, 0}};
  return k < 0 ? &world : &b->motion[k].pose;
}

static const scree_Twist at_rest = {{0, 0, 0}, {0, 0, 0}};

/* Velocities before the kick, after one without impulses, and after it. */
static scree_Twist velocity_before(const scree_System *s, int k) {
  return k < 0 ? at_rest : scree_bodies_velocity_before(&s->bodies, k);
}

static scree_Twist velocity_free(const scree_System *s, int k) {
  return k < 0 ? at_rest : scree_system_free(s, k);
}

static scree_Twist velocity_after(const scree_System *s, int k) {
  return k < 0 ? at_rest : scree_system_after(s, k);
}

/* ---- create and destroy ---------------------------------------------------------------------- */

void scree_joints_fini(scree_Joints *j) {
  void *arrays[] = {j->joint,      j->memory,     j->trial,       j->pair,   j->part,
                    j->shift,      j->before,     j->rows.B,      j->rows.C, j->rows.row,
                    j->rows.entry, j->rows.block, j->rows.vertex, j->row,    j->error};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
  *j = (scree_Joints){0};
}

size_t scree_joints_memory(const scree_Joints *j) {
  return j->joint_capacity * sizeof *j->joint +
         (j->memory_capacity + j->trial_capacity) * sizeof *j->memory +
         j->pair_capacity * sizeof *j->pair +
         j->part_capacity * (sizeof *j->part + 2 * sizeof(size_t)) +
         j->row_capacity * (sizeof *j->row + 3 * sizeof(double)) +
         j->number_capacity * sizeof(double);
}

static int compare_pairs(const void *a, const void *b) {
  const int *x = a, *y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

bool scree_joints_apart(const scree_Joints *joints, int i, int j) {
  if (!joints->pairs) return false;
  const int key[2] = {i < j ? i : j, i < j ? j : i};
  return bsearch(key, joints->pair, (size_t)joints->pairs, sizeof *joints->pair, compare_pairs) !=
         NULL;
}

static scree_Status check_bodies(const scree_System *s, const scree_JointDef *def) {
  const scree_Bodies *b = &s->bodies;
  for (int k = 0; k < 2; ++k)
    if (def->body[k] < -1 || def->body[k] >= b->count)
      return scree_fail(s->log, SCREE_BAD_INPUT,
                        "joint: body %d, expected 0 to %d, or -1 for the world", def->body[k],
                        b->count - 1);
  if (def->body[0] == def->body[1])
    return scree_fail(s->log, SCREE_BAD_INPUT, "joint: body %d with itself, expected two bodies",
                      def->body[0]);
  if (is_fixed(b, def->body[0]) && is_fixed(b, def->body[1]))
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "joint: neither of the bodies %d and %d can move, expected one that does",
                      def->body[0], def->body[1]);
  for (int k = 0; k < 2; ++k)
    if (def->body[k] >= 0 && scree_bodies_deformable(b, def->body[k]))
      return scree_fail(s->log, SCREE_BAD_INPUT,
                        "joint: body %d is not rigid, expected rigid bodies", def->body[k]);
  return SCREE_OK;
}

/* The size of the smaller body; the size of obstacles does not count. */
static double size_of(const scree_Bodies *b, const scree_JointDef *def) {
  double size = INFINITY;
  for (int k = 0; k < 2; ++k)
    if (!is_fixed(b, def->body[k])) size = fmin(size, b->cold[def->body[k]].shape.size);
  return size;
}

scree_Status scree_joints_add(scree_System *s, const scree_JointDef *def) {
  scree_Joints *j = &s->joints;
  const scree_Bodies *b = &s->bodies;
  scree_Status status = check_bodies(s, def);
  if (status) return status;
  scree_Joint joint;
  status = scree_joint_init(&joint, def, b->dimension, size_of(b, def), pose_of(b, def->body[0]),
                            pose_of(b, def->body[1]), s->log);
  if (status) return status;
  const size_t n = (size_t)j->count + 1;
  if (!scree_grow((void **)&j->joint, &j->joint_capacity, n, sizeof *j->joint) ||
      !scree_grow((void **)&j->memory, &j->memory_capacity, n, sizeof *j->memory) ||
      !scree_grow((void **)&j->trial, &j->trial_capacity, n, sizeof *j->trial) ||
      !scree_grow((void **)&j->pair, &j->pair_capacity, n, sizeof *j->pair))
    return scree_fail_memory(s->log, "a joint");
  j->joint[j->count] = joint;
  j->memory[j->count] = (scree_JointMemory){0};
  const scree_JointPlace place =
      scree_joint_place(&joint, pose_of(b, def->body[0]), pose_of(b, def->body[1]));
  j->memory[j->count].x = scree_joint_coordinate(&joint, b->dimension, &place, 0, NULL);
  j->trial[j->count] = j->memory[j->count];
  ++j->count;
  if (def->collide || def->body[0] < 0 || def->body[1] < 0) return SCREE_OK;
  const int a = def->body[0], c = def->body[1];
  j->pair[j->pairs][0] = a < c ? a : c;
  j->pair[j->pairs++][1] = a < c ? c : a;
  qsort(j->pair, (size_t)j->pairs, sizeof *j->pair, compare_pairs);
  return SCREE_OK;
}

/* ---- pose ------------------------------------------------------------------------------------ */

static bool has_part(const scree_Joint *joint, int dimension, int part) {
  const scree_JointDef *def = &joint->def;
  const scree_JointClass *class_ = scree_joint_class(joint);
  switch (part) {
  case SCREE_PART_LOCKED:
    return class_->distance || class_->translations[dimension - 2] || class_->pairs[dimension - 2];
  case SCREE_PART_MOTOR: return def->motor.kind != SCREE_MOTOR_NONE;
  case SCREE_PART_FRICTION: return def->friction > 0;
  case SCREE_PART_LOWER: return def->lower > -INFINITY;
  case SCREE_PART_UPPER: return def->upper < INFINITY;
  default: return def->stiffness > 0 || def->damping > 0;
  }
}

static bool is_there(const scree_System *s, const scree_Joint *joint) {
  for (int side = 0; side < 2; ++side) {
    const int body = joint->def.body[side];
    if (body >= 0 && s->bodies.fixed[body] & SCREE_BODY_GONE) return false;
  }
  return true;
}

bool scree_joints_only_hold(const scree_System *s) {
  const scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k)
    for (int part = 0; part < SCREE_JOINT_PARTS; ++part)
      if ((part == SCREE_PART_MOTOR || part == SCREE_PART_FRICTION || part == SCREE_PART_SPRING) &&
          has_part(&j->joint[k], s->bodies.dimension, part))
        return false;
  return true;
}

void scree_joints_size(const scree_System *s, int *constraints, size_t *rows) {
  const scree_Joints *j = &s->joints;
  *constraints = 0;
  *rows = 0;
  for (int k = 0; k < j->count; ++k) {
    if (!is_there(s, &j->joint[k])) continue;
    for (int part = 0; part < SCREE_JOINT_PARTS; ++part) {
      if (!has_part(&j->joint[k], s->bodies.dimension, part)) continue;
      ++*constraints;
      if (part != SCREE_PART_LOCKED) {
        ++*rows;
        continue;
      }
      const scree_JointPlace nowhere = {0};
      *rows += (size_t)scree_joint_locked(&j->joint[k], s->bodies.dimension, &nowhere, NULL, NULL);
    }
  }
}

void scree_joints_count(const scree_System *s, int *busy) {
  const scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k)
    for (int side = 0; side < 2 && is_there(s, &j->joint[k]); ++side)
      if (j->joint[k].def.body[side] >= 0) busy[j->joint[k].def.body[side]] += 2;
}

void scree_joints_mark(const scree_System *s, int *index) {
  const scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k)
    if (is_there(s, &j->joint[k]))
      for (int side = 0; side < 2; ++side)
        if (j->joint[k].def.body[side] >= 0) index[j->joint[k].def.body[side]] = 0;
}

static scree_JointPlace place_now(const scree_System *s, const scree_Joint *joint) {
  return scree_joint_place(joint, pose_of(&s->bodies, joint->def.body[0]),
                           pose_of(&s->bodies, joint->def.body[1]));
}

static bool reserve(scree_Joints *j, int constraints, size_t rows, size_t nb) {
  const size_t n = (size_t)constraints;
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
    j->rows.vertex = SCREE_ALLOC(int, 2 * n);
    j->rows.block = SCREE_ALLOC(size_t, 2 * n + 1);
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
    j->number_capacity = rows * (2 * nb + SCREE_ROWS_MAX);
    j->shift = SCREE_ALLOC(double, rows);
    j->before = SCREE_ALLOC(double, rows);
    j->row = SCREE_ALLOC(scree_JointRow, rows);
    j->error = SCREE_ALLOC(double, rows);
    j->rows.B = SCREE_ALLOC(double, rows * 2 * nb);
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
static double diagonal_of(const scree_Bodies *b, const int body[2], const scree_JointRow *row) {
  double sum = 0, B[6];
  for (int side = 0; side < 2; ++side) {
    if (is_fixed(b, body[side])) continue;
    scree_joints_block(b, body[side], row->linear[side], row->angular[side], 1, B);
    for (int k = 0; k < b->nb; ++k) sum += B[k] * B[k];
  }
  return sum;
}

/* Velocity in a row. It is computed from the twists, since obstacles have no blocks. */
static double row_velocity(const scree_JointRow *row, const scree_Twist *a, const scree_Twist *b) {
  return scree_dot(row->linear[0], a->linear) + scree_dot(row->angular[0], a->angular) +
         scree_dot(row->linear[1], b->linear) + scree_dot(row->angular[1], b->angular);
}

/* The same row in the opposite direction. */
static scree_JointRow reversed(const scree_JointRow *row) {
  return (scree_JointRow){{scree_neg(row->linear[0]), scree_neg(row->linear[1])},
                          {scree_neg(row->angular[0]), scree_neg(row->angular[1])}};
}

/* Append a constraint of n rows. */
static void add_part(scree_System *s, int joint, int part, int n, const scree_JointRow *rows,
                     const double *error, double compliance) {
  scree_Joints *j = &s->joints;
  const scree_Bodies *b = &s->bodies;
  scree_GeneralRows *g = &j->rows;
  const int *body = j->joint[joint].def.body, c = g->count++;
  const size_t nb = (size_t)b->nb;
  /* C may be arbitrarily large: the row is scaled until its diagonal entry is its own |B|^2 */
  double scale = 1;
  if (compliance > 0) {
    const double w = diagonal_of(b, body, rows);
    scale = sqrt(w / (w + compliance));
  }
  j->part[c] = (scree_JointPart){joint, part, scale};
  g->row[c + 1] = g->row[c] + (size_t)n;
  g->entry[c + 1] = g->entry[c];
  for (int side = 0; side < 2; ++side) {
    if (is_fixed(b, body[side])) continue;
    const size_t e = g->entry[c + 1]++;
    double *B = g->B + g->block[e];
    g->vertex[e] = s->posed.problem_index[body[side]];
    g->block[e + 1] = g->block[e] + (size_t)n * nb;
    for (int i = 0; i < n; ++i, B += nb)
      scree_joints_block(b, body[side], rows[i].linear[side], rows[i].angular[side], scale, B);
  }
  const scree_Twist vi = velocity_before(s, body[0]), vj = velocity_before(s, body[1]);
  const size_t local = g->row[c] - g->row[0];
  for (int i = 0; i < n; ++i) {
    j->row[local + (size_t)i] = rows[i];
    j->error[local + (size_t)i] = error ? error[i] : 0;
    j->before[local + (size_t)i] = row_velocity(&rows[i], &vi, &vj);
  }
}

/* The damper and spring of the free coordinate in units of force over x: an angle is a length over
 * the size of the joint. */
typedef struct Spring {
  double k, c, S; /* S = h^2 k/4 + h c/2 */
} Spring;

static Spring spring_of(const scree_Joint *joint, double h) {
  const double scale = scree_joint_scale(joint), square = scale * scale;
  Spring spring = {.k = joint->def.stiffness / square, .c = joint->def.damping / square};
  spring.S = 0.25 * h * h * spring.k + 0.5 * h * spring.c;
  return spring;
}

scree_Status scree_joints_pose(scree_System *s, int nc) {
  scree_Joints *j = &s->joints;
  const int d = s->bodies.dimension;
  int constraints;
  size_t rows;
  scree_joints_size(s, &constraints, &rows);
  if (!reserve(j, constraints, rows, (size_t)s->bodies.nb))
    return scree_fail_memory(s->log, "the joints of a step");
  j->rows.count = 0;
  j->rows.row[0] = (size_t)nc * (size_t)d;
  j->rows.entry[0] = j->rows.block[0] = 0;
  for (int k = 0; k < j->count; ++k) {
    const scree_Joint *joint = &j->joint[k];
    if (!is_there(s, joint)) continue;
    const scree_JointPlace place = place_now(s, joint);
    scree_JointRow row[SCREE_JOINT_ROWS];
    double error[SCREE_JOINT_ROWS];
    if (has_part(joint, d, SCREE_PART_LOCKED)) {
      const int n = scree_joint_locked(joint, d, &place, error, row);
      add_part(s, k, SCREE_PART_LOCKED, n, row, error, 0);
    }
    if (scree_joint_class(joint)->coordinate == SCREE_COORDINATE_NONE) continue;
    j->trial[k].x = scree_joint_coordinate(joint, d, &place, j->memory[k].x, row);
    for (int part = SCREE_PART_MOTOR; part < SCREE_JOINT_PARTS; ++part) {
      if (!has_part(joint, d, part)) continue;
      const scree_JointRow own = part == SCREE_PART_UPPER ? reversed(row) : *row;
      add_part(s, k, part, 1, &own, NULL,
               part == SCREE_PART_SPRING ? 1 / spring_of(joint, s->times.h).S : 0);
    }
  }
  return SCREE_OK;
}

/* ---- fill ------------------------------------------------------------------------------------ */

static double target_of(const scree_Joint *joint, const scree_StepTimes *times) {
  const scree_Motor *motor = &joint->def.motor;
  const bool position = motor->kind == SCREE_MOTOR_POSITION;
  const double time = times->kick + (position ? times->horizon : 0.5 * times->horizon);
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
    const double target = target_of(joint, t);
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
    const Spring spring = spring_of(joint, t->h);
    const double away = x - scale * def->rest;
    return (t->h * spring.k * away +
            (0.5 * t->h * spring.c - 0.25 * t->h * t->h * spring.k) * before) /
           spring.S;
  }
  }
}

/* Index of the impulses of a part in a memory. */
static double *impulses_of(scree_JointMemory *memory, int part) {
  return memory->r + (part == SCREE_PART_LOCKED ? 0 : SCREE_JOINT_ROWS + part - 1);
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
    const scree_Twist vi = velocity_free(s, joint->def.body[0]);
    const scree_Twist vj = velocity_free(s, joint->def.body[1]);
    const double *start = impulses_of(&(tried ? j->trial : j->memory)[part->joint], part->part);
    scree_Set set = {.kind = SCREE_SET_SPACE};
    for (int i = 0; i < n; ++i) {
      const double free = row_velocity(&rows[i], &vi, &vj);
      double *shift = &j->shift[local + (size_t)i];
      *shift = part->part == SCREE_PART_LOCKED
                   ? error[i] / s->times.horizon
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
    p->mu[index] = 0;
    p->set[index] = (uint8_t)set.kind;
    p->set_a[index] = set.a / part->scale;
    p->set_b[index] = 0;
    scree_set_project(&(scree_Set){set.kind, 0, p->set_a[index], 0}, n, p->r + at, p->r + at);
  }
}

/* ---- after a solve --------------------------------------------------------------------------- */

/* The pose of a body at the next kick. */
static scree_Pose pose_then(const scree_System *s, int body) {
  if (body < 0) return *pose_of(&s->bodies, body);
  scree_Motion motion = s->bodies.motion[body];
  if (s->bodies.fixed[body]) {
    if (s->bodies.cold[body].driver < 0 || s->bodies.cold[body].belt) return motion.pose;
  } else {
    motion.velocity = scree_system_after(s, body);
  }
  scree_rigid_drift(&s->bodies.inertia[body], s->times.rest, &motion);
  if (s->times.horizon > s->times.rest)
    scree_rigid_drift(&s->bodies.inertia[body], s->times.horizon - s->times.rest, &motion);
  return motion.pose;
}

double scree_joints_correct(scree_System *s) {
  scree_Joints *j = &s->joints;
  scree_Posed *p = &s->posed;
  const scree_GeneralRows *g = &j->rows;
  const int d = s->bodies.dimension;
  double largest = 0;
  for (int c = 0; c < g->count; ++c) {
    const scree_JointPart *part = &j->part[c];
    const scree_Joint *joint = &j->joint[part->joint];
    const size_t at = g->row[c];
    const bool stop = part->part == SCREE_PART_LOWER || part->part == SCREE_PART_UPPER;
    const bool position =
        part->part == SCREE_PART_MOTOR && joint->def.motor.kind == SCREE_MOTOR_POSITION;
    /* a stop that bounces has no prescribed position; one without load may be at any distance */
    if (part->part != SCREE_PART_LOCKED && !position &&
        !(stop && p->r[at] > 0 && joint->def.restitution == 0))
      continue;
    const scree_Pose a = pose_then(s, joint->def.body[0]), b = pose_then(s, joint->def.body[1]);
    const scree_JointPlace place = scree_joint_place(joint, &a, &b);
    double error[SCREE_JOINT_ROWS];
    int n = 1;
    if (part->part == SCREE_PART_LOCKED) {
      n = scree_joint_locked(joint, d, &place, error, NULL);
    } else {
      const double scale = scree_joint_scale(joint);
      const double x = scree_joint_coordinate(joint, d, &place, j->trial[part->joint].x, NULL);
      error[0] = position                         ? x - target_of(joint, &s->times)
                 : part->part == SCREE_PART_LOWER ? x - scale * joint->def.lower
                                                  : scale * joint->def.upper - x;
      if (position && p->set[p->nc + c] == SCREE_SET_BALL &&
          fabs(p->r[at]) >= (1 - 1e-9) * p->set_a[p->nc + c])
        continue; /* the motor is off or at its force limit */
    }
    for (int i = 0; i < n; ++i) {
      largest = fmax(largest, fabs(error[i]) / joint->size);
      const double more = error[i] / s->times.horizon;
      j->shift[at - g->row[0] + (size_t)i] += more;
      p->q[at + (size_t)i] += part->scale * more;
    }
  }
  return largest;
}

void scree_joints_remember(scree_System *s) {
  scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k) memset(j->trial[k].r, 0, sizeof j->trial[k].r);
  for (int c = 0; c < j->rows.count; ++c) {
    const scree_JointPart *part = &j->part[c];
    double *r = impulses_of(&j->trial[part->joint], part->part);
    for (size_t i = j->rows.row[c]; i < j->rows.row[c + 1]; ++i) *r++ = part->scale * s->posed.r[i];
  }
}

void scree_joints_commit(scree_Joints *j) {
  if (j->count) memcpy(j->memory, j->trial, (size_t)j->count * sizeof *j->memory);
}

/* Mean velocity before and after the kick of the obstacles of a joint in a row. */
static double obstacle_velocity(const scree_System *s, const scree_Joint *joint,
                                const scree_JointRow *row) {
  double sum = 0;
  for (int side = 0; side < 2; ++side) {
    const int body = joint->def.body[side];
    if (body < 0 || !s->bodies.fixed[body]) continue;
    const scree_Twist before = scree_bodies_velocity_before(&s->bodies, body);
    const scree_Twist *after = &s->bodies.motion[body].velocity;
    sum += 0.5 * (scree_dot(row->linear[side], scree_add(before.linear, after->linear)) +
                  scree_dot(row->angular[side], scree_add(before.angular, after->angular)));
  }
  return sum;
}

void scree_joints_work(const scree_System *s, double h, scree_EnergyBalance *balance) {
  const scree_Joints *j = &s->joints;
  const scree_Posed *p = &s->posed;
  for (int c = 0; c < j->rows.count; ++c) {
    const scree_JointPart *part = &j->part[c];
    const scree_Joint *joint = &j->joint[part->joint];
    const int n = (int)(j->rows.row[c + 1] - j->rows.row[c]);
    const scree_JointRow *rows = j->row + (j->rows.row[c] - j->rows.row[0]);
    const scree_Twist vi = velocity_after(s, joint->def.body[0]);
    const scree_Twist vj = velocity_after(s, joint->def.body[1]);
    for (int i = 0; i < n; ++i) {
      const size_t at = j->rows.row[c] + (size_t)i;
      const double r = part->scale * p->r[at];
      const double u = 0.5 * (row_velocity(&rows[i], &vi, &vj) + j->before[at - j->rows.row[0]]);
      const double work = r * u;
      balance->drivers -= r * obstacle_velocity(s, joint, &rows[i]);
      switch (part->part) {
      case SCREE_PART_MOTOR: balance->drivers += work; break;
      case SCREE_PART_FRICTION: balance->friction -= work; break;
      case SCREE_PART_LOWER:
      case SCREE_PART_UPPER: balance->normal -= work; break;
      case SCREE_PART_SPRING: {
        const double lost = h * spring_of(joint, h).c * u * u;
        balance->friction += lost;
        balance->scheme += work + lost; /* without the stored energy, see close_balance */
        break;
      }
      default: balance->scheme += work;
      }
    }
  }
}

double scree_joints_elastic(const scree_System *s) {
  const scree_Joints *j = &s->joints;
  double sum = 0;
  for (int k = 0; k < j->count; ++k) {
    const scree_Joint *joint = &j->joint[k];
    if (!(joint->def.stiffness > 0) || !is_there(s, joint)) continue;
    const scree_JointPlace place = place_now(s, joint);
    const double scale = scree_joint_scale(joint);
    const double x =
        scree_joint_coordinate(joint, s->bodies.dimension, &place, j->memory[k].x, NULL);
    const double away = x / scale - joint->def.rest;
    sum += 0.5 * joint->def.stiffness * away * away;
  }
  return sum;
}

/* ---- state of a joint for the caller --------------------------------------------------------- */

scree_JointState scree_joints_state(const scree_System *s, int index, double h) {
  const scree_Joints *j = &s->joints;
  const scree_Joint *joint = &j->joint[index];
  const scree_Motion *motion = s->bodies.motion;
  const int d = s->bodies.dimension;
  const scree_JointPlace place = place_now(s, joint);
  const double scale = scree_joint_scale(joint);
  scree_JointState state = {.position = place.point[0]};
  scree_JointRow rows[SCREE_JOINT_ROWS];
  double error[SCREE_JOINT_ROWS];
  scree_Vec3 torque = {0, 0, 0}; /* about the centre of the first body */
  const int n = scree_joint_locked(joint, d, &place, error, rows);
  for (int i = 0; i < n; ++i) {
    const double force = h > 0 ? j->memory[index].r[i] / h : 0;
    state.error = fmax(state.error, fabs(error[i]) / joint->size);
    state.force = scree_axpy(state.force, force, rows[i].linear[0]);
    torque = scree_axpy(torque, force, rows[i].angular[0]);
  }
  if (scree_joint_class(joint)->coordinate != SCREE_COORDINATE_NONE) {
    state.x = scree_joint_coordinate(joint, d, &place, j->memory[index].x, rows) / scale;
    const int *body = joint->def.body;
    state.velocity = row_velocity(rows, body[0] < 0 ? &at_rest : &motion[body[0]].velocity,
                                  body[1] < 0 ? &at_rest : &motion[body[1]].velocity) /
                     scale;
    double effort = 0;
    for (int part = SCREE_PART_MOTOR; part < SCREE_JOINT_PARTS; ++part)
      effort +=
          (part == SCREE_PART_UPPER ? -1 : 1) * j->memory[index].r[SCREE_JOINT_ROWS + part - 1];
    effort = h > 0 ? effort / h : 0;
    state.force = scree_axpy(state.force, effort, rows->linear[0]);
    torque = scree_axpy(torque, effort, rows->angular[0]);
    state.effort = effort * scale;
  }
  const scree_Vec3 arm = scree_sub(place.point[0], place.centre[0]);
  state.torque = scree_sub(torque, scree_cross(arm, state.force));
  return state;
}
