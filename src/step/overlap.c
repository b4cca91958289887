/* Rotating bodies: the gaps of a scheme that looks ahead, linearised again.
 *
 * The expanded gap D + h u_n is a lower bound of the distance of convex bodies that are translated,
 * but not of bodies that rotate: the face of a box that turns by a comes closer than the tangent
 * predicts, by a^2/2 of its distance from the centre. So after a solve the pairs that may have come
 * too close are tested in the configuration at the end of the step. A point with a true gap g < 0
 * there requires
 *
 *     g + h (u+_n - u_n) >= -slop ,     u_n the velocity that was found,
 *
 * which is the expanded gap again with D = g + slop - h u_n. Slop is half of the tolerated
 * penetration, and the correction starts at a little more than that: if bodies were pushed apart
 * fully, forces would jump in the step in which it begins and in the one after it ends. A contact
 * with the same key gets this D, and a point that was no contact (a corner that rotates into reach)
 * becomes one, with the normal of the end and its position moved back along the motion of the two
 * bodies. The problem is then solved again from the current impulses. Only pairs for which a bound
 * on the error of the expansion exceeds the tolerance are tested: balls, bodies at rest and
 * separated bodies are skipped.
 *
 * Every pair that overlaps at the end is a pair of the contacts, since these are searched as far as
 * the bodies move (advance.c). */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/narrow.h"
#include "step/system.h"

#include <omp.h>
#include <string.h>

enum { POLL_PAIRS = 64 }; /* pairs that a thread tests between two polls */
enum { AIM_STEPS = 4 };   /* of Newton, for the moment of an impact */

/* Gap, over the size, above which the separating plane of two balls is placed where they meet: at
 * smaller gaps they may roll on each other. */
static const double aim_from = 1e-3;

/* One body of a pair: its motion in the step, and the effect of its rotation on gaps. */
typedef struct Side {
  scree_Twist velocity; /* that was found */
  bool moves;           /* the pose changes; belts and obstacles at rest do not */
  double turn;     /* angle in the step; 0 for balls, which look the same in every orientation */
  double arm;      /* distance of the furthest point that rotates with it */
  double slimness; /* bounding radius over the smallest radius: curvature of flat sides */
} Side;

/* A ball inside a drum comes closer to it by moving along it, in every step: with its centre at a
 * distance e from the axis and a displacement w around it the gap falls by sqrt(e^2 + w^2) - e,
 * times the radial part of the normal in a funnel.
 * This is added to the gaps in advance with the velocities without contacts, which avoids a second
 * solve. */
static void bend_share(scree_System *s, double h, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(c, (int)s->contacts.count, share) {
    const int pair[2] = {s->contacts.keys[c].i, s->contacts.keys[c].j};
    const int side = scree_shape_is_drum(&b->cold[pair[0]].shape) ? 0 : 1, drum = pair[side];
    const int ball = pair[1 - side];
    if (!scree_shape_is_drum(&b->cold[drum].shape) || !scree_shape_is_ball(&b->cold[ball].shape))
      continue;
    if (s->contacts.keys[c].image || scree_bodies_deformable(b, ball)) continue; /* halfway.c */
    const scree_Pose *pose = &b->motion[drum].pose;
    const scree_Vec3 axis = scree_quat_rotate(pose->orientation, scree_vec3(0, 0, 1));
    const double tilt = scree_dot(axis, s->contacts.normal[c]);
    if (fabs(tilt) > 0.5) continue; /* an end cap is flat */
    const scree_Vec3 x = scree_sub(b->motion[ball].pose.position, pose->position);
    const scree_Vec3 arm = scree_axpy(x, -scree_dot(axis, x), axis);
    const double e = scree_norm(arm);
    if (!(e > 0)) continue;
    scree_Vec3 v = scree_system_free(s, ball).linear;
    if (scree_body_moves(b, drum)) v = scree_sub(v, scree_system_free(s, drum).linear);
    const double way = h * scree_dot(v, scree_cross(axis, arm)) / e;
    s->contacts.curve[c] = -way * way / (hypot(e, way) + e) * sqrt(1 - tilt * tilt);
  }
}

void scree_system_bend(scree_System *s, double h) {
  SCREE_ON_THREADS((int)s->contacts.count, s->threads, share, bend_share(s, h, share));
}

bool scree_system_is_aimed(const scree_System *s, size_t c) {
  const scree_BodyCold *cold = s->bodies.cold;
  const scree_ContactKey *key = &s->contacts.keys[c];
  return s->contacts.gap[c] > aim_from * scree_pair_size(&cold[key->i].shape, &cold[key->j].shape);
}

/* Two separated balls: the plane between them is placed where they would touch in the step, or come
 * closest, if they touched no other body. A plane placed at the start would block balls that pass
 * each other at more than half of their size in a step, and they would collide with it. It is a
 * bound of the distance wherever it is placed. The normal of the impact is then that of the moment
 * of contact. */
static void aim_share(scree_System *s, double h, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(c, (int)s->contacts.count, share) {
    const int i = s->contacts.keys[c].i, j = s->contacts.keys[c].j;
    const scree_Shape *si = &b->cold[i].shape, *sj = &b->cold[j].shape;
    if (!scree_system_is_aimed(s, (size_t)c)) continue;
    if (!scree_shape_is_ball(si) || !scree_shape_is_ball(sj)) continue;
    if (scree_deform_keeps_shape(b, i) || scree_deform_keeps_shape(b, j)) continue;
    const scree_ContactKey *key = &s->contacts.keys[c];
    const scree_Vec3 second = scree_system_second(s, key);
    const scree_Vec3 x = scree_sub(b->motion[i].pose.position, second);
    scree_Vec3 v = {0, 0, 0};
    if (scree_body_moves(b, i)) v = scree_system_free(s, i).linear;
    if (scree_body_moves(b, j)) v = scree_sub(v, scree_system_free(s, j).linear);
    if (key->image) v = scree_sub(v, scree_cell_velocity(&s->cell, key->image));
    const double approach = -scree_dot(x, v), speed2 = scree_norm2(v);
    if (!(approach > 0)) continue;
    const double R = si->bounding_radius + sj->bounding_radius;
    const double left = approach * approach - speed2 * (scree_norm2(x) - R * R);
    /* The impulses of an impact that is not delayed act now: along the line of centres they have no
     * moment. */
    if (left > 0 && approach < speed2 * h + sqrt(left) && !scree_system_meets_one(s, (size_t)c))
      continue;
    const double when =
        left > 0 ? (scree_norm2(x) - R * R) / (approach + sqrt(left)) : approach / speed2;
    const scree_Vec3 at = scree_axpy(x, fmin(when, h), v);
    const scree_Vec3 n = scree_scale(1 / scree_norm(at), at);
    const scree_Vec3 on_i = scree_axpy(b->motion[i].pose.position, -si->bounding_radius, n);
    const scree_Vec3 on_j = scree_axpy(second, sj->bounding_radius, n);
    s->contacts.normal[c] = n;
    s->contacts.position[c] = scree_scale(0.5, scree_add(on_i, on_j));
    s->contacts.gap[c] = fmax(0, scree_dot(n, x) - R);
  }
}

/* A point of a body on its way to an obstacle at rest. */
typedef struct Corner {
  size_t contact;
  int body, obstacle;
  double sign;        /* of the velocity of the body in u */
  scree_Twist mean;   /* velocity at the kick */
  scree_Twist change; /* by the forces, in the time h */
  scree_Vec3 arm, normal;
} Corner;

static double normal_velocity(const Corner *a, const scree_Twist *v) {
  return a->sign * scree_dot(a->normal, scree_add(v->linear, scree_cross(v->angular, a->arm)));
}

static scree_Twist plus(const scree_Twist *v, double f, const scree_Twist *w) {
  return (scree_Twist){scree_axpy(v->linear, f, w->linear), scree_axpy(v->angular, f, w->angular)};
}

/* Gap, arm and normal after a time t in units of h. Returns false where the point is no longer that
 * of the contact. */
static bool follow(scree_System *s, Corner *a, double t, double h, double *gap) {
  const scree_Bodies *b = &s->bodies;
  const scree_ContactKey *key = &s->contacts.keys[a->contact];
  scree_Points *points = &s->overlaps;
  const scree_Twist v = plus(&a->mean, 0.5 * t, &a->change);
  scree_Pose pose[2] = {b->motion[key->i].pose, b->motion[key->j].pose};
  scree_Pose *moved = &pose[a->sign > 0 ? 0 : 1];
  moved->position = scree_axpy(moved->position, t * h, v.linear);
  moved->orientation = scree_quat_integrate(moved->orientation, v.angular, t * h);
  points->count = 0;
  scree_points_collide(key->i, &b->cold[key->i].shape, &pose[0], key->j, key->image,
                       &b->cold[key->j].shape, &pose[1], s->contacts.gap[a->contact], points);
  for (size_t k = 0; k < points->count; ++k) {
    if (points->keys[k].feature != key->feature || points->keys[k].part[0] != key->part[0] ||
        points->keys[k].part[1] != key->part[1])
      continue;
    a->normal = points->normal[k];
    *gap = points->gap[k];
    const scree_Vec3 on = scree_axpy(points->position[k], 0.5 * a->sign * *gap, a->normal);
    a->arm = scree_sub(on, moved->position);
    return true;
  }
  return false;
}

/* A body that turns hits an obstacle with the arm of the moment of impact. With that of the kick
 * before it, its impulse would be wrong by the angle until then, always in the same sense. So the
 * contact gets this arm, and the gap that the point closes in the same time at its velocity then.
 */
static void aim_corner(scree_System *s, Corner *a, double h) {
  double t = 0, gap;
  for (int k = 0; k < AIM_STEPS; ++k) {
    if (!follow(s, a, t, h, &gap)) return;
    const scree_Twist v = plus(&a->mean, t, &a->change);
    const double u = normal_velocity(a, &v);
    if (!(u < 0)) return;
    t = fmin(1, fmax(0, t - gap / (h * u)));
  }
  const scree_Twist way = plus(&a->mean, 0.5 * t, &a->change);
  gap = -t * h * normal_velocity(a, &way);
  if (!(gap > 0)) return;
  const scree_Vec3 on = scree_add(s->bodies.motion[a->body].pose.position, a->arm);
  s->contacts.gap[a->contact] = gap;
  s->contacts.normal[a->contact] = a->normal;
  s->contacts.position[a->contact] = scree_axpy(on, -0.5 * a->sign * gap, a->normal);
}

static bool is_at_rest(const scree_Bodies *b, int k) {
  const scree_Twist before = scree_bodies_velocity_before(b, k), *v = &b->motion[k].velocity;
  return scree_norm2(v->linear) == 0 && scree_norm2(v->angular) == 0 &&
         scree_norm2(before.linear) == 0 && scree_norm2(before.angular) == 0;
}

static void aim_corners(scree_System *s, double h) {
  const scree_Bodies *b = &s->bodies;
  for (size_t c = 0; c < s->contacts.count && s->posed.foreseen; ++c) {
    const int i = s->contacts.keys[c].i, j = s->contacts.keys[c].j;
    if (!(b->fixed[i] || b->fixed[j]) || s->contacts.keys[c].image) continue;
    if (!scree_system_meets_one(s, c)) continue;
    Corner a = {.contact = c, .sign = b->fixed[i] ? -1 : 1};
    a.body = b->fixed[i] ? j : i;
    a.obstacle = b->fixed[i] ? i : j;
    const double size = scree_pair_size(&b->cold[i].shape, &b->cold[j].shape);
    if (b->fixed[a.body] || !is_at_rest(b, a.obstacle) ||
        scree_shape_is_drum(&b->cold[a.obstacle].shape) ||
        scree_shape_is_ball(&b->cold[a.body].shape) || !(s->contacts.gap[c] > aim_from * size))
      continue;
    if (!(s->contacts.gap[c] + h * scree_system_free_approach(s, (int)c) < 0)) continue;
    const scree_Twist start = scree_bodies_velocity_before(b, a.body);
    const scree_Twist end = scree_system_free(s, a.body);
    a.change = plus(&end, -1, &start);
    a.mean = plus(&start, 0.5, &a.change);
    aim_corner(s, &a, h);
  }
}

void scree_system_aim(scree_System *s, double h) {
  SCREE_ON_THREADS((int)s->contacts.count, s->threads, share, aim_share(s, h, share));
  aim_corners(s, h);
}

static Side side_of(const scree_System *s, int k, scree_Vec3 point, double h) {
  const scree_Bodies *b = &s->bodies;
  const scree_Shape *shape = &b->cold[k].shape;
  Side side = {
      .velocity = scree_system_after(s, k), .moves = scree_body_moves(b, k), .slimness = 1};
  side.arm = scree_norm(scree_sub(point, b->motion[k].pose.position));
  if (isfinite(shape->bounding_radius)) {
    if (shape->bounding_radius > side.arm) side.arm = shape->bounding_radius;
    if (2 * shape->bounding_radius > shape->size)
      side.slimness = 2 * shape->bounding_radius / shape->size;
  }
  if (side.moves && !scree_shape_is_ball(shape)) side.turn = h * scree_norm(side.velocity.angular);
  if (scree_bodies_deformable(b, k)) { /* deformation counts as turning does */
    const double more = scree_deform_reach(s, k, SCREE_AFTER, h);
    side.turn = fmax(0, more - h * scree_norm(side.velocity.linear)) / side.arm;
    if (scree_shape_is_ball(shape)) side.turn = INFINITY; /* it keeps its shape */
  }
  return side;
}

/* The manifold of flat faces may jump to another face when an edge rotates into contact: factor on
 * the error of the expansion that covers this with a margin. */
static const double safety = 100;

/* Target overlap and overlap that triggers a correction, as parts of the tolerated overlap; and the
 * part of the latter that must be caused by the expansion in a whole step, in proportion in a part
 * of one: eight parts that each caused a little less added up, as overlaps of loaded contacts are
 * corrected slowly. */
static const double aim = 0.5, notice = 0.6, own = 0.1;

/* Velocity at a point of the first body of a pair less that of the second, or its image. */
static scree_Vec3 pair_velocity(const scree_System *s, const scree_ContactKey *key,
                                scree_Vec3 point, const scree_Twist *vi, const scree_Twist *vj) {
  const scree_Motion *motion = s->bodies.motion;
  const scree_Vec3 back = scree_sub(point, scree_cell_shift(&s->cell, key->image));
  const scree_Vec3 u = scree_sub(scree_rigid_velocity(&motion[key->i].pose, vi, point),
                                 scree_rigid_velocity(&motion[key->j].pose, vj, back));
  return key->image ? scree_sub(u, scree_cell_velocity_after(&s->cell, key->image)) : u;
}

/* Rigid balls, ellipses and ellipsoids, and planes that do not turn. */
static bool is_smooth(const scree_Bodies *b, int k, const Side *side) {
  const scree_ShapeKind kind = b->cold[k].shape.kind;
  if (scree_bodies_deformable(b, k)) return false;
  if (kind == SCREE_SHAPE_HALF_PLANE || kind == SCREE_SHAPE_HALF_SPACE) return side->turn == 0;
  return scree_shape_is_ball(&b->cold[k].shape) || kind == SCREE_SHAPE_ELLIPSE ||
         kind == SCREE_SHAPE_ELLIPSOID;
}

/* By how much the rotation of a smooth body can lower a gap below the expanded one. The gap is the
 * largest separation over all directions, so at the end it is at least the separation along the
 * present normal. In that, translations are exact, and the support value of an ellipsoid in a
 * direction that turns has a second derivative below its largest radius of curvature,
 * a_max^2 / a_min = arm * slimness. */
static double curving(const Side *side) {
  return 0.5 * side->turn * side->turn * side->arm * side->slimness;
}

/* Bound on how far a true gap at the end can be below the expanded one. The inside of a drum is not
 * convex: there translations count too. */
static double expansion_error(const scree_System *s, const scree_ContactKey *key, scree_Vec3 point,
                              const Side *a, const Side *b, double h) {
  const scree_Bodies *bodies = &s->bodies;
  const int i = key->i, j = key->j;
  if (is_smooth(bodies, i, a) && is_smooth(bodies, j, b)) return curving(a) + curving(b);
  const scree_Vec3 u = pair_velocity(s, key, point, &a->velocity, &b->velocity);
  const double travel = h * scree_norm(u) + a->turn * a->arm + b->turn * b->arm;
  if (scree_shape_is_drum(&bodies->cold[i].shape) || scree_shape_is_drum(&bodies->cold[j].shape))
    return travel > 0 ? INFINITY : 0;
  const double slimness = a->slimness > b->slimness ? a->slimness : b->slimness;
  return safety * (a->turn + b->turn) * travel * slimness;
}

/* Motion of body k at the end. */
static scree_Motion motion_after(const scree_Bodies *b, int k, const Side *side, double h) {
  scree_Motion motion = b->motion[k];
  motion.velocity = side->velocity;
  if (side->moves) scree_rigid_drift(&b->inertia[k], h, &motion);
  return motion;
}

/* A body at the end. */
typedef struct End {
  scree_Shape shape; /* a view */
  scree_Pose pose;
} End;

static void find_end(const scree_System *s, int k, const Side *side, double h, End *end) {
  const scree_Bodies *b = &s->bodies;
  if (scree_bodies_deformable(b, k)) {
    const scree_DeformEnd *deformed = &s->deform.end[b->deformable_index[k]];
    *end = (End){deformed->shape, deformed->pose};
  } else {
    *end = (End){b->cold[k].shape, motion_after(b, k, side, h).pose};
  }
}

/* Current position of the point of body k, of its part `part`, that is at `point` at the end. */
static scree_Vec3 back(const scree_System *s, int k, const End *end, scree_Vec3 point,
                       uint32_t part) {
  const scree_Bodies *b = &s->bodies;
  if (scree_bodies_deformable(b, k)) return scree_deform_back(s, k, point, part);
  return scree_pose_apply(&b->motion[k].pose, scree_pose_invert(&end->pose, point));
}

/* Body k at its coordinates at the end. */
static scree_DeformedSide side_then(const scree_System *s, int k) {
  const scree_Deformable *self = scree_bodies_deformable(&s->bodies, k);
  return (scree_DeformedSide){self, self ? s->deform.later + self->offset : NULL};
}

/* Bound on how much further than its shape body k reaches then. */
static double further_then(const scree_System *s, int k) {
  if (!scree_deform_keeps_shape(&s->bodies, k)) return 0;
  const scree_DeformedSide side = side_then(s, k);
  return side.self->class_->reach(side.self, side.q, side.q, 0);
}

/* Points of a pair that overlap at the end, if one of them does so by more than the tolerance:
 * current positions, gaps at the end. Returns the deepest over the size. */
static double look_at_pair(const scree_System *s, size_t first, size_t last, double h,
                           scree_Points *out) {
  const scree_Bodies *b = &s->bodies;
  const int i = s->contacts.keys[first].i, j = s->contacts.keys[first].j;
  const scree_Shape *si = &b->cold[i].shape, *sj = &b->cold[j].shape;
  /* balls that deform but keep their shape do not move as their material points do */
  if (scree_shape_is_ball(si) && scree_shape_is_ball(sj) &&
      !scree_deform_touches(b, &s->contacts.keys[first]))
    return 0;
  if (scree_system_law(s, i, j)->soft) return 0;
  const double size = scree_pair_size(si, sj), limit = notice * s->settings.penetration * size;
  const double caused = own * limit * fmin(1, h / s->settings.step);
  double lowest = INFINITY;
  for (size_t c = first; c < last; ++c) {
    const double u = scree_system_velocity(s, (int)c, 0);
    lowest = fmin(lowest, s->contacts.gap[c] + s->contacts.curve[c] + h * u);
  }
  const scree_Vec3 at = s->contacts.position[first];
  const scree_ContactKey *key = &s->contacts.keys[first];
  const scree_Vec3 shift = scree_cell_shift(&s->cell, key->image);
  const Side a = side_of(s, i, at, h), z = side_of(s, j, scree_sub(at, shift), h);
  const double error = expansion_error(s, key, at, &a, &z, h);
  /* overlap that the expanded gap itself predicts is the solver's error, which is certified
   * elsewhere */
  if (error <= caused || lowest - error >= -limit) return 0;
  End ei, ej;
  find_end(s, i, &a, h, &ei);
  find_end(s, j, &z, h, &ej);
  const size_t begin = out->count;
  /* where the image is then */
  const scree_Vec3 later = scree_axpy(shift, h, scree_cell_velocity_after(&s->cell, key->image));
  scree_Pose pj = ej.pose;
  if (key->image) pj.position = scree_add(pj.position, later);
  const double further = further_then(s, i) + further_then(s, j);
  scree_points_collide(i, &ei.shape, &ei.pose, j, key->image, &ej.shape, &pj, further, out);
  for (size_t k = begin; k < out->count && further > 0; ++k) {
    const scree_DeformedSide side[2] = {side_then(s, i), side_then(s, j)};
    scree_deform_point(side, later, out, k);
  }
  const double spare = scree_joints_spare(s, i, j);
  if (spare > 0 || further > 0) scree_points_widen(out, begin, spare * size, 0);
  if (b->deformable_count) scree_deform_drop_stuck(s, out, begin);
  double deepest = 0;
  for (size_t k = begin; k < out->count; ++k) deepest = fmin(deepest, out->gap[k]);
  if (deepest >= -limit || deepest >= lowest - caused) {
    out->count = begin;
    return 0;
  }
  for (size_t k = begin; k < out->count; ++k) {
    const scree_Vec3 p = out->position[k], n = out->normal[k];
    const uint32_t *part = out->keys[k].part;
    const scree_Vec3 on_i = back(s, i, &ei, scree_axpy(p, 0.5 * out->gap[k], n), part[0]);
    const scree_Vec3 on_image = scree_axpy(scree_sub(p, later), -0.5 * out->gap[k], n);
    const scree_Vec3 on_j = scree_add(back(s, j, &ej, on_image, part[1]), shift);
    out->position[k] = scree_scale(0.5, scree_add(on_i, on_j));
  }
  return -deepest / size;
}

static void add_copy(scree_Points *to, const scree_Points *from, size_t k) {
  const scree_ContactKey *key = &from->keys[k];
  const scree_ManifoldPoint point = {
      from->position[k], from->normal[k], from->gap[k], key->feature, {key->part[0], key->part[1]}};
  scree_points_add(to, key->i, key->j, key->image, &point);
  if (!to->failed) to->curve[to->count - 1] = from->curve[k];
}

static bool same_pair(const scree_ContactKey *a, const scree_ContactKey *b) {
  return a->i == b->i && a->j == b->j && a->image == b->image;
}

/* Process a thread's share of the pairs of contacts; *worst is the deepest of them. */
static void look_at_pairs(scree_System *s, double h, bool *stop, scree_Points *out, double *worst,
                          scree_Share share) {
  const scree_ContactKey *keys = s->contacts.keys;
  const size_t nc = s->contacts.count, team = (size_t)share.of, me = (size_t)share.thread;
  size_t c = nc * me / team;
  const size_t end = nc * (me + 1) / team;
  double deepest = 0;
  while (c > 0 && c < end && same_pair(&keys[c - 1], &keys[c])) ++c;
  for (int k = 1; c < end && !out->failed; ++k) {
    if (k % POLL_PAIRS == 0 && scree_system_stops(s, me, stop)) break;
    size_t last = c + 1;
    while (last < nc && same_pair(&keys[c], &keys[last])) ++last;
    deepest = fmax(deepest, look_at_pair(s, c, last, h, out));
    c = last;
  }
#pragma omp critical(scree_overlap)
  *worst = fmax(*worst, deepest);
}

scree_Status scree_system_overlap(scree_System *s, double h, scree_Points *points, double *depth) {
  scree_Points *lists = scree_system_lists(s, s->threads);
  bool stop = false;
  if (!lists) return scree_fail_memory(s->log, "the overlaps of a step");
  const scree_Status status = scree_deform_foresee(s, h);
  if (status) return status;
  *depth = 0;
  SCREE_ON_THREADS(s->contacts.count, s->threads, share,
                   look_at_pairs(s, h, &stop, &lists[share.thread], depth, share));
  for (int t = 0; t < s->threads; ++t) {
    points->failed = points->failed || lists[t].failed;
    for (size_t k = 0; k < lists[t].count && !points->failed; ++k) add_copy(points, &lists[t], k);
  }
  if (stop) return SCREE_INTERRUPTED;
  return points->failed ? scree_fail_memory(s->log, "the overlaps of a step") : SCREE_OK;
}

/* D of the expansion for point k, found at the end, that was no contact. */
static double gap_now(const scree_System *s, const scree_Points *points, size_t k, double h) {
  const scree_ContactKey *key = &points->keys[k];
  const scree_Vec3 P = points->position[k];
  const scree_Vec3 own_P = scree_sub(P, scree_cell_shift(&s->cell, key->image));
  scree_Vec3 u = scree_sub(scree_deform_velocity(s, key->i, SCREE_AFTER, P, key->part[0]),
                           scree_deform_velocity(s, key->j, SCREE_AFTER, own_P, key->part[1]));
  if (key->image) u = scree_sub(u, scree_cell_velocity_after(&s->cell, key->image));
  double rate = scree_dot(points->normal[k], u);
  if (scree_is_belt(s, key->i))
    rate -= scree_dot(points->normal[k],
                      scree_deform_velocity(s, key->i, SCREE_AFTER, P, key->part[0]));
  if (scree_is_belt(s, key->j))
    rate += scree_dot(points->normal[k],
                      scree_deform_velocity(s, key->j, SCREE_AFTER, own_P, key->part[1]));
  return points->gap[k] - h * rate;
}

/* Cosine between normals below which points in one place are two contacts: a corner that slides
 * along one face of a valley into the other one. */
static const double same_normal = 0.9;

/* Distance, over the size, beyond which the point of a smooth pair has moved over the bodies to
 * where it is another contact. */
static const double same_place = 0.1;

/* Whether a point at the end is the contact that was matched with it. */
static bool is_same(const scree_Points *contacts, size_t c, const scree_Points *points, size_t k,
                    double size) {
  const scree_ContactKey *a = &contacts->keys[c], *b = &points->keys[k];
  const scree_Vec3 way = scree_sub(points->position[k], contacts->position[c]);
  if (scree_norm(way) > same_place * size) return false;
  return (a->feature == b->feature && a->part[0] == b->part[0] && a->part[1] == b->part[1]) ||
         scree_dot(contacts->normal[c], points->normal[k]) > same_normal;
}

static void move_point(scree_Points *to, size_t t, const scree_Points *from, size_t f) {
  to->keys[t] = from->keys[f];
  to->position[t] = from->position[f];
  to->normal[t] = from->normal[f];
  to->gap[t] = from->gap[f];
  to->curve[t] = from->curve[f];
}

/* Merge the points `more`, sorted by pairs, into the contacts: from the back, in place. */
static bool merge(const scree_Bodies *b, scree_Points *all, const scree_Points *more) {
  size_t a = all->count, m = more->count;
  all->failed = false;
  for (size_t k = 0; k < more->count && !all->failed; ++k) add_copy(all, more, k);
  for (size_t to = all->count; m > 0 && !all->failed; --to) {
    const bool old = a > 0 && scree_deform_before(b, &more->keys[m - 1], &all->keys[a - 1]);
    const size_t at = old ? --a : --m;
    move_point(all, to - 1, old ? all : more, at);
  }
  return !all->failed;
}

scree_Status scree_system_expand_again(scree_System *s, double h, scree_Points *points) {
  const scree_Bodies *b = &s->bodies;
  const size_t n = points->count;
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  int32_t *match = SCREE_TAKE_RAW(&s->scratch, int32_t, n);
  scree_Vec3 *arms = SCREE_TAKE_RAW(&s->scratch, scree_Vec3, s->contacts.count + n);
  if (!match || !arms) {
    scree_arena_release(&s->scratch, mark);
    return scree_fail_memory(s->log, "the overlaps of a step");
  }
  scree_system_arms(s, &s->contacts, arms);
  scree_system_arms(s, points, arms + s->contacts.count);
  scree_deform_match(b, s->contacts.keys, arms, s->contacts.count, points->keys,
                     arms + s->contacts.count, n, match);
  points->count = 0; /* keep those that were no contacts */
  for (size_t k = 0; k < n; ++k) {
    const scree_ContactKey *key = &points->keys[k];
    const double size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
    points->gap[k] += aim * s->settings.penetration * size;
    if (match[k] < 0 || !is_same(&s->contacts, (size_t)match[k], points, k, size)) {
      const double gap = gap_now(s, points, k, h);
      points->gap[k] = fmax(gap, 0);
      points->curve[k] = fmin(gap, 0);
      move_point(points, points->count++, points, k);
      continue;
    }
    /* the missing gap at the end is added to the shift that the law already has */
    const size_t c = (size_t)match[k];
    const double asked = h * s->posed.shift[c * (size_t)b->dimension];
    const double curve =
        s->contacts.curve[c] - asked + points->gap[k] - h * scree_system_velocity(s, match[k], 0);
    if (curve < s->contacts.curve[c]) s->contacts.curve[c] = curve;
  }
  scree_arena_release(&s->scratch, mark);
  return merge(b, &s->contacts, points) ? SCREE_OK : scree_fail_memory(s->log, "the contacts");
}
