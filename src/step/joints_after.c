/* Joints in a step: corrections, memory and work after a solve (see joints.h). */
#include "step/joints_internal.h"

#include <string.h>

/* The pose of a side of a joint at the next kick. */
static scree_Pose pose_then(const scree_System *s, const scree_Joint *joint, int side) {
  const int body = joint->body[side];
  if (body < 0) return *pose_of(&s->bodies, body);
  if (anchor_of(s, joint, side)) {
    scree_Pose pose = scree_joint_pose(s, joint, side);
    pose.position = scree_axpy(pose.position, s->times.horizon,
                               scree_joint_twist(s, joint, side, SCREE_AFTER).linear);
    return pose;
  }
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

/* A bond gives way where r - rho (u + s) is outside of its set: the status that solvers read off
 * too. Impulses alone do not tell, since they are near a limit only within the tolerance. */
bool scree_bond_yields(const scree_System *s, int c) {
  const scree_Joints *j = &s->joints;
  const scree_Posed *p = &s->posed;
  const scree_JointPart *part = &j->part[c];
  const double *r = p->r + j->rows.row[c], *u = p->u + j->rows.row[c];
  if (part->part == SCREE_PART_LOCKED || !is_locking(part->part)) return false;
  const scree_Set set = scree_bond_set(&j->joint[part->joint], part->part, s->times.h);
  if (set.kind == SCREE_SET_SPACE) return false;
  double size = 0;
  const int n = (int)(j->rows.row[c + 1] - j->rows.row[c]);
  for (int i = set.kind == SCREE_SET_SHIFTED; i < n; ++i) size = hypot(size, r[i] - p->rho * u[i]);
  if (set.kind == SCREE_SET_BALL) return size > set.a;
  const double normal = r[0] - p->rho * u[0] + set.a;
  return normal <= 0 || size > set.mu * normal;
}

/* Displacement of a brittle bond at which it breaks, over the size of the smaller body. The
 * distribution of a load among several bonds is not unique, so that one may be at its limit at
 * rest: bonds break by displacement, not by load. */
static const double brittle = 1e-4;

/* Plastic displacement of the bond with constraint c in the step. Where bodies turn, its rows are
 * not linear in time: the displacement is the one that they will have at the next kick, since a
 * remaining error would be corrected there against the full load, and create energy. */
static void give_way(scree_System *s, int c) {
  scree_Joints *j = &s->joints;
  const scree_JointPart *part = &j->part[c];
  const scree_Joint *joint = &j->joint[part->joint];
  scree_JointMemory *memory = &j->trial[part->joint];
  double way = 0;
  if (!scree_bond_yields(s, c)) return;
  const scree_Pose a = pose_then(s, joint, 0), b = pose_then(s, joint, 1);
  const scree_JointPlace place = scree_joint_place(joint, &a, &b);
  double then[SCREE_JOINT_ROWS];
  scree_joint_locked(joint, s->bodies.dimension, &place, then, NULL);
  const int rows = (int)(j->rows.row[c + 1] - j->rows.row[c]);
  for (int i = part->first; i < part->first + rows; ++i) {
    way = hypot(way, then[i] - memory->plastic[i]);
    memory->plastic[i] = then[i];
  }
  memory->displacement += way;
  const double most = joint->def.break_at > 0 ? joint->def.break_at : brittle * joint->size;
  if (memory->displacement >= most) memory->broken = 1;
}

double scree_joints_correct(scree_System *s, double *error_most) {
  scree_Joints *j = &s->joints;
  scree_Posed *p = &s->posed;
  const scree_GeneralRows *g = &j->rows;
  const int d = s->bodies.dimension;
  double largest = 0;
  *error_most = 0;
  if (j->anchors) scree_deform_after(s);
  for (int c = 0; c < g->count; ++c) {
    const scree_JointPart *part = &j->part[c];
    const scree_Joint *joint = &j->joint[part->joint];
    const size_t at = g->row[c];
    const bool stop = part->part == SCREE_PART_LOWER || part->part == SCREE_PART_UPPER;
    const bool position =
        part->part == SCREE_PART_MOTOR && joint->def.motor.kind == SCREE_MOTOR_POSITION;
    /* a stop that bounces has no prescribed position; one without load may be at any distance */
    if (!is_locking(part->part) && !position &&
        !(stop && p->r[at] > 0 && joint->def.restitution == 0))
      continue;
    if (scree_bond_yields(s, c)) continue;
    const scree_Pose a = pose_then(s, joint, 0), b = pose_then(s, joint, 1);
    const scree_JointPlace place = scree_joint_place(joint, &a, &b);
    double error[SCREE_JOINT_ROWS];
    const int n = (int)(g->row[c + 1] - at);
    const double *own = error + part->first;
    if (is_locking(part->part)) {
      const int locked = scree_joint_locked(joint, d, &place, error, NULL);
      for (int i = 0; i < locked; ++i) error[i] -= j->memory[part->joint].plastic[i];
    } else {
      const double scale = scree_joint_scale(joint);
      const double x = scree_joint_coordinate(joint, d, &place, j->trial[part->joint].x, NULL);
      error[0] = position                         ? x - scree_joint_target(joint, &s->times)
                 : part->part == SCREE_PART_LOWER ? x - scale * joint->def.lower
                                                  : scale * joint->def.upper - x;
      if (position && p->set[p->nc + c] == SCREE_SET_BALL &&
          fabs(p->r[at]) >= (1 - 1e-9) * p->set_a[p->nc + c])
        continue; /* the motor is off or at its force limit */
    }
    for (int i = 0; i < n; ++i) {
      const double excess = scree_joint_excess(s, joint, part->part, own[i]);
      largest = fmax(largest, fabs(excess) / joint->size);
      *error_most = fmax(*error_most, fabs(own[i]) / joint->size);
      const double more = excess / s->times.horizon;
      j->shift[at - g->row[0] + (size_t)i] += more;
      p->q[at + (size_t)i] += part->scale * more;
    }
  }
  return largest;
}

void scree_joints_remember(scree_System *s) {
  scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k) {
    const double x = j->trial[k].x;
    j->trial[k] = j->memory[k];
    j->trial[k].x = x;
    memset(j->trial[k].r, 0, sizeof j->trial[k].r);
  }
  for (int c = 0; c < j->rows.count; ++c) {
    const scree_JointPart *part = &j->part[c];
    double *r = impulses_of(&j->trial[part->joint], part->part, part->first);
    for (size_t i = j->rows.row[c]; i < j->rows.row[c + 1]; ++i) *r++ = part->scale * s->posed.r[i];
    give_way(s, c);
  }
}

void scree_joints_commit(scree_Joints *j) {
  if (j->count) memcpy(j->memory, j->trial, (size_t)j->count * sizeof *j->memory);
}

/* Mean velocity before and after the kick of the obstacles of a joint, and of nodes that obstacles
 * drive, in a row. */
static double obstacle_velocity(const scree_System *s, const scree_Joint *joint,
                                const scree_JointRow *row) {
  double sum = 0;
  for (int side = 0; side < 2; ++side) {
    const int body = joint->body[side];
    if (body < 0) continue;
    if (!s->bodies.fixed[body]) {
      sum += scree_dot(row->linear[side], scree_joint_driven(s, joint, side));
      continue;
    }
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
    const scree_Twist vi = scree_joint_twist(s, joint, 0, SCREE_AFTER);
    const scree_Twist vj = scree_joint_twist(s, joint, 1, SCREE_AFTER);
    const bool yields = scree_bond_yields(s, c);
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
      default:
        if (yields)
          balance->plastic -= work;
        else
          balance->scheme += work;
      }
    }
  }
}
