/* Joints in a step: their creation, number and description (see joints.h). */
#include "core/log.h"
#include "core/memory.h"
#include "step/joints_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- create and destroy ---------------------------------------------------------------------- */

void scree_joints_fini(scree_Joints *j) {
  void *arrays[] = {j->joint,      j->memory,     j->trial,       j->pair,   j->part,
                    j->shift,      j->before,     j->rows.B,      j->rows.C, j->rows.row,
                    j->rows.entry, j->rows.block, j->rows.vertex, j->row,    j->error,
                    j->material,   j->anchor,     j->here,        j->told};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
  *j = (scree_Joints){0};
}

size_t scree_joints_memory(const scree_Joints *j) {
  return j->joint_capacity * sizeof *j->joint +
         (j->memory_capacity + j->trial_capacity) * sizeof *j->memory +
         j->pair_capacity * sizeof *j->pair + j->material_capacity * sizeof *j->material +
         j->place_capacity * (sizeof *j->here + sizeof *j->told) +
         j->anchor_capacity * sizeof *j->anchor +
         j->part_capacity * (sizeof *j->part + 2 * sizeof(size_t)) +
         j->row_capacity * (sizeof *j->row + 3 * sizeof(double)) +
         j->number_capacity * sizeof(double);
}

static int compare_pairs(const int *x, const int *y) {
  for (int k = 0; k < 3; ++k)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}

/* Index of the first pair that is not below `key`. */
static int first_pair(const scree_Joints *j, const int *key) {
  int low = 0, high = j->pairs;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (compare_pairs(j->pair[middle], key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Where the joints between two bodies begin. */
static void begin_key(const scree_System *s, int a, int b, int key[3]) {
  a = scree_domain_global(&s->domain, a);
  b = scree_domain_global(&s->domain, b);
  key[0] = a < b ? a : b;
  key[1] = a < b ? b : a;
  key[2] = -1;
}

bool scree_joints_apart(const scree_System *s, int a, int b) {
  const scree_Joints *joints = &s->joints;
  int key[3];
  if (!joints->pairs) return false;
  begin_key(s, a, b, key);
  for (int k = first_pair(joints, key); k < joints->pairs; ++k) {
    const int *pair = joints->pair[k];
    if (pair[0] != key[0] || pair[1] != key[1]) return false;
    if (joints->memory[pair[2]].broken == 0) return true;
  }
  return false;
}

/* Overlap of bonded bodies from which they touch, in parts of the allowed penetration: brittle
 * bonds break at a twentieth of it, and it is a fifth of the limit of penetration. */
static const double bond_spare = 2;

double scree_joints_spare(const scree_System *s, int a, int b) {
  const scree_Joints *j = &s->joints;
  int key[3];
  if (!j->pairs) return 0;
  begin_key(s, a, b, key);
  double spare = 0;
  for (int k = first_pair(j, key); k < j->pairs; ++k) {
    const int *pair = j->pair[k];
    if (pair[0] != key[0] || pair[1] != key[1]) break;
    if (j->memory[pair[2]].broken > 0) continue;
    if (j->joint[pair[2]].def.kind != SCREE_JOINT_BOND) return INFINITY;
    spare = bond_spare * s->settings.penetration;
  }
  return spare;
}

/* Keep the pair of the last joint, at its place. */
static void add_pair(scree_Joints *j, int a, int b) {
  const int key[3] = {a < b ? a : b, a < b ? b : a, j->count - 1};
  const int at = first_pair(j, key);
  memmove(j->pair[at + 1], j->pair[at], (size_t)(j->pairs - at) * sizeof *j->pair);
  memcpy(j->pair[at], key, sizeof key);
  ++j->pairs;
}

void scree_joints_count_bonds(const scree_System *s, int label, int *bonds, int *broken) {
  const scree_Joints *j = &s->joints;
  double sum = 0;
  *bonds = 0;
  for (int k = 0; k < j->count; ++k) {
    const scree_JointDef *def = &j->joint[k].def;
    if (def->kind != SCREE_JOINT_BOND || (label >= 0 && def->label != label)) continue;
    ++*bonds;
    sum += scree_joint_is_here(j, k) && j->memory[k].broken != 0;
  }
  if (*bonds) scree_system_sums(s, &sum, 1);
  *broken = (int)sum;
}

static scree_Status check_numbers(const scree_System *s, const scree_JointDef *def) {
  const int bodies = s->domain.global ? s->domain.whole : s->bodies.count;
  for (int k = 0; k < 2; ++k)
    if (def->body[k] < -1 || def->body[k] >= bodies)
      return scree_fail(s->log, SCREE_BAD_INPUT,
                        "joint: body %d, expected 0 to %d, or -1 for the world", def->body[k],
                        bodies - 1);
  if (def->body[0] == def->body[1])
    return scree_fail(s->log, SCREE_BAD_INPUT, "joint: body %d with itself, expected two bodies",
                      def->body[0]);
  return SCREE_OK;
}

static scree_Status check_sides(const scree_System *s, const scree_JointDef *def,
                                const scree_JointSide *side) {
  if (side[0].fixed > 0 && side[1].fixed > 0)
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "joint: neither of the bodies %d and %d can move, expected one that does",
                      def->body[0], def->body[1]);
  const scree_JointKind kind = def->kind;
  const bool points =
      kind == SCREE_JOINT_BALL || kind == SCREE_JOINT_DISTANCE || kind == SCREE_JOINT_SPRING;
  for (int k = 0; k < 2 && !points; ++k)
    if (side[k].deformable > 0)
      return scree_fail(s->log, SCREE_BAD_INPUT,
                        "joint: a %s holds the orientation of body %d, which is deformable and has "
                        "none, expected ball, distance or spring; several of them hold it in place",
                        scree_joint_name(kind), def->body[k]);
  return SCREE_OK;
}

scree_JointSide scree_joint_side(const scree_System *s, int body) {
  const scree_Bodies *b = &s->bodies;
  const bool fixed = is_fixed(b, body); /* the size of obstacles does not count */
  return (scree_JointSide){.pose = *pose_of(b, body),
                           .size = fixed ? INFINITY : b->cold[body].shape.size,
                           .known = 1,
                           .fixed = fixed,
                           .deformable = body >= 0 && scree_bodies_deformable(b, body)};
}

scree_Status scree_joints_add(scree_System *s, const scree_JointDef *def) {
  const scree_Domain *p = &s->domain;
  scree_JointSide side[2] = {{.known = 0}, {.known = 0}};
  const scree_Status status = check_numbers(s, def);
  if (status) return status;
  for (int k = 0; k < 2; ++k) {
    const int body = def->body[k] < 0 ? -1 : scree_domain_local(p, s->bodies.count, def->body[k]);
    /* copies of bodies of other ranks may be older than their originals */
    const bool mine =
        body >= 0 && (s->bodies.fixed[body] & SCREE_BODY_OBSTACLE || scree_domain_owns(p, body));
    if (mine || def->body[k] < 0) side[k] = scree_joint_side(s, body);
  }
  if (!p->global) return scree_joints_add_sides(s, def, side);
  const scree_JointSide *all = scree_ranks_gather(p->ranks, side, sizeof side);
  for (int rank = 0; rank < p->size; ++rank, all += 2)
    for (int k = 0; k < 2; ++k)
      if (all[k].known > 0) side[k] = all[k];
  return scree_joints_add_sides(s, def, side);
}

/* Room for n joints. */
static bool reserve(scree_System *s, size_t n) {
  scree_Joints *j = &s->joints;
  if (s->domain.global) {
    size_t told = j->place_capacity;
    if (!scree_grow((void **)&j->told, &told, n, sizeof *j->told) ||
        !scree_grow((void **)&j->here, &j->place_capacity, n, sizeof *j->here))
      return false;
  }
  return scree_grow((void **)&j->joint, &j->joint_capacity, n, sizeof *j->joint) &&
         scree_grow((void **)&j->memory, &j->memory_capacity, n, sizeof *j->memory) &&
         scree_grow((void **)&j->trial, &j->trial_capacity, n, sizeof *j->trial) &&
         scree_grow((void **)&j->material, &j->material_capacity, n, sizeof *j->material) &&
         scree_grow((void **)&j->anchor, &j->anchor_capacity, (size_t)j->anchors + 2,
                    sizeof *j->anchor) &&
         scree_grow((void **)&j->pair, &j->pair_capacity, n, sizeof *j->pair);
}

scree_Status scree_joints_add_sides(scree_System *s, const scree_JointDef *def,
                                    const scree_JointSide side[2]) {
  scree_Joints *j = &s->joints;
  const scree_Bodies *b = &s->bodies;
  scree_Joint joint;
  scree_JointHold hold[2];
  scree_Pose pose[2];
  scree_Status status = check_sides(s, def, side);
  if (!status) status = scree_joint_find_anchors(s, def, side, hold);
  if (status) return status;
  for (int k = 0; k < 2; ++k) pose[k] = hold[k].anchor.count ? hold[k].pose : side[k].pose;
  status = scree_joint_init(&joint, def, b->dimension, fmin(side[0].size, side[1].size), &pose[0],
                            &pose[1], s->log);
  if (status) return status;
  if (!reserve(s, (size_t)j->count + 1)) return scree_fail_memory(s->log, "a joint");
  j->joint[j->count] = joint;
  j->memory[j->count] = (scree_JointMemory){0};
  for (int k = 0; k < 2; ++k) {
    j->material[j->count][k] = hold[k].anchor.count ? j->anchors : -1;
    if (hold[k].anchor.count) j->anchor[j->anchors++] = hold[k].anchor;
  }
  const scree_JointPlace place = scree_joint_place(&joint, &pose[0], &pose[1]);
  j->memory[j->count].x = scree_joint_coordinate(&joint, b->dimension, &place, 0, NULL);
  j->trial[j->count] = j->memory[j->count];
  if (s->domain.global) { /* the next build finds where it is */
    for (int k = 0; k < 2; ++k)
      if (def->body[k] >= 0) j->joint[j->count].body[k] = SCREE_JOINT_ELSEWHERE;
    j->here[j->count] = j->told[j->count] = false;
    s->domain.fresh = false;
  }
  ++j->count;
  if (def->collide || def->body[0] < 0 || def->body[1] < 0) return SCREE_OK;
  add_pair(j, def->body[0], def->body[1]);
  return SCREE_OK;
}

/* ---- counted ----------------------------------------------------------------------------------
 */

/* Limits of a bond. */
static double strength_of(const scree_Joint *joint, int part) {
  const scree_JointDef *def = &joint->def;
  return part == SCREE_PART_PULL   ? def->tension
         : part == SCREE_PART_BEND ? def->bending
                                   : def->torsion;
}

bool scree_joint_has_part(const scree_Joint *joint, int dimension, int part) {
  const scree_JointDef *def = &joint->def;
  const scree_JointClass *class_ = scree_joint_class(joint);
  const bool bond = def->kind == SCREE_JOINT_BOND;
  switch (part) {
  case SCREE_PART_LOCKED:
    return !bond && (class_->distance || class_->translations[dimension - 2] ||
                     class_->pairs[dimension - 2]);
  case SCREE_PART_PULL:
  case SCREE_PART_BEND: return bond;
  case SCREE_PART_TWIST: return bond && dimension == 3;
  case SCREE_PART_MOTOR: return def->motor.kind != SCREE_MOTOR_NONE;
  case SCREE_PART_FRICTION: return def->friction > 0;
  case SCREE_PART_LOWER: return def->lower > -INFINITY;
  case SCREE_PART_UPPER: return def->upper < INFINITY;
  default: return def->stiffness > 0 || def->damping > 0;
  }
}

int scree_joint_part_rows(const scree_Joint *joint, int dimension, int part, int *first) {
  const scree_JointPlace nowhere = {0};
  *first = part == SCREE_PART_BEND ? dimension : part == SCREE_PART_TWIST ? 5 : 0;
  switch (part) {
  case SCREE_PART_LOCKED: return scree_joint_locked(joint, dimension, &nowhere, NULL, NULL);
  case SCREE_PART_PULL: return dimension;
  case SCREE_PART_BEND: return dimension - 1;
  default: return 1;
  }
}

bool scree_joint_is_there(const scree_System *s, int k) {
  if (!scree_joint_is_here(&s->joints, k)) return false;
  for (int side = 0; side < 2; ++side) {
    const int body = s->joints.joint[k].body[side];
    if (body == SCREE_JOINT_ELSEWHERE) return false; /* of a bond that broke */
    if (body >= 0 && s->bodies.fixed[body] & SCREE_BODY_GONE) return false;
  }
  return s->joints.memory[k].broken == 0;
}

scree_Set scree_bond_set(const scree_Joint *joint, int part, double h) {
  const double strength = strength_of(joint, part);
  if (isinf(strength)) return (scree_Set){.kind = SCREE_SET_SPACE};
  if (part == SCREE_PART_PULL)
    return (scree_Set){SCREE_SET_SHIFTED, joint->def.shear / strength, h * strength, 0};
  return (scree_Set){.kind = SCREE_SET_BALL, .a = h * strength / joint->size};
}

bool scree_joints_only_hold(const scree_System *s) {
  const scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k)
    for (int part = 0; part < SCREE_JOINT_PARTS; ++part)
      if ((part == SCREE_PART_PULL || part == SCREE_PART_MOTOR || part == SCREE_PART_FRICTION ||
           part == SCREE_PART_SPRING) &&
          scree_joint_has_part(&j->joint[k], s->bodies.dimension, part))
        return false;
  return true;
}

void scree_joints_size(const scree_System *s, int *constraints, size_t *rows) {
  const scree_Joints *j = &s->joints;
  *constraints = 0;
  *rows = 0;
  for (int k = 0; k < j->count; ++k) {
    if (!scree_joint_is_there(s, k)) continue;
    for (int part = 0; part < SCREE_JOINT_PARTS; ++part) {
      int first;
      if (!scree_joint_has_part(&j->joint[k], s->bodies.dimension, part)) continue;
      ++*constraints;
      *rows += (size_t)scree_joint_part_rows(&j->joint[k], s->bodies.dimension, part, &first);
    }
  }
}

void scree_joints_count(const scree_System *s, int *busy) {
  const scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k)
    for (int side = 0; side < 2 && scree_joint_is_there(s, k); ++side)
      if (j->joint[k].body[side] >= 0) busy[j->joint[k].body[side]] += 2;
}

void scree_joints_mark(const scree_System *s, int *index) {
  const scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k)
    if (scree_joint_is_there(s, k))
      for (int side = 0; side < 2; ++side)
        if (j->joint[k].body[side] >= 0) index[j->joint[k].body[side]] = 0;
}

/* Energy of the spring of joint k. */
static double energy_of(const scree_System *s, int k, const scree_JointPlace *place) {
  const scree_Joint *joint = &s->joints.joint[k];
  const double x =
      scree_joint_coordinate(joint, s->bodies.dimension, place, s->joints.memory[k].x, NULL);
  const double away = x / scree_joint_scale(joint) - joint->def.rest;
  return 0.5 * joint->def.stiffness * away * away;
}

double scree_joints_elastic(const scree_System *s) {
  const scree_Joints *j = &s->joints;
  double sum = 0;
  bool any = false;
  for (int k = 0; k < j->count; ++k) {
    const scree_Joint *joint = &j->joint[k];
    if (!(joint->def.stiffness > 0)) continue;
    any = true;
    if (!scree_joint_is_there(s, k)) continue;
    const scree_JointPlace place = place_now(s, joint);
    sum += energy_of(s, k, &place);
  }
  if (any) scree_system_sums(s, &sum, 1);
  return sum;
}

/* ---- state of a joint for the caller --------------------------------------------------------- */

scree_JointState scree_joints_state(const scree_System *s, int index, double h) {
  const scree_Joints *j = &s->joints;
  const scree_Joint *joint = &j->joint[index];
  const int d = s->bodies.dimension;
  const double scale = scree_joint_scale(joint);
  const scree_JointPlace place = place_now(s, joint);
  if (!scree_joint_is_here(j, index)) /* what its second body tells may be right */
    return (scree_JointState){.x = j->memory[index].x / scale,
                              .axis = scree_column(&place.axes[1], 0)};
  scree_JointState state = {.position = place.point[0],
                            .axis = scree_column(&place.axes[1], 0),
                            .broken = j->memory[index].broken != 0,
                            .plastic = j->memory[index].displacement};
  scree_JointRow rows[SCREE_JOINT_ROWS];
  double error[SCREE_JOINT_ROWS];
  scree_Vec3 torque = {0, 0, 0}; /* about the centre of the first body */
  const int n = scree_joint_locked(joint, d, &place, error, rows);
  for (int i = 0; i < n; ++i) {
    const double force = h > 0 ? j->memory[index].r[i] / h : 0;
    const double moved = state.broken ? error[i] : j->memory[index].plastic[i];
    state.error = fmax(state.error, fabs(error[i] - moved) / joint->size);
    state.force = scree_axpy(state.force, force, rows[i].linear[0]);
    torque = scree_axpy(torque, force, rows[i].angular[0]);
  }
  if (scree_joint_class(joint)->coordinate != SCREE_COORDINATE_NONE) {
    state.x = scree_joint_coordinate(joint, d, &place, j->memory[index].x, rows) / scale;
    const scree_Twist a = scree_joint_twist(s, joint, 0, SCREE_NOW);
    const scree_Twist b = scree_joint_twist(s, joint, 1, SCREE_NOW);
    state.velocity = row_velocity(rows, &a, &b) / scale;
    double effort = 0;
    for (int part = SCREE_PART_MOTOR; part < SCREE_JOINT_PARTS; ++part)
      effort += (part == SCREE_PART_UPPER ? -1 : 1) *
                j->memory[index].r[SCREE_JOINT_ROWS + part - SCREE_PART_MOTOR];
    effort = h > 0 ? effort / h : 0;
    state.force = scree_axpy(state.force, effort, rows->linear[0]);
    torque = scree_axpy(torque, effort, rows->angular[0]);
    state.effort = effort * scale;
    if (joint->def.stiffness > 0) state.energy = energy_of(s, index, &place);
  }
  const scree_Vec3 arm = scree_sub(place.point[0], place.centre[0]);
  state.torque = scree_sub(torque, scree_cross(arm, state.force));
  return state;
}
