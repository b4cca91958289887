/* Slip halfway between kicks.
 *
 * A contact that sticks should do no work. The kick at the configuration q_k ends with velocities
 * v+ that hold until the next kick, and friction does the work r_t . (u- + u+)/2 in it, with
 * u = G(q_k) v. If u+ were zero, the work would be r_t . u-/2, where u- = (G(q_k) - G(q_k-1)) v is
 * the slip that has come up since the last kick because the arms of the contact have turned with
 * the bodies, or its normal with their positions: a first-order error in the energy, always of the
 * same sign. Without a correction a ball that rolls inside a drum loses 6 % of its energy in ten
 * turns at the usual step, and a coin that rolls on its edge gains 1 %. Demanding that there is no
 * slip halfway between the kicks,
 *
 *     G(q_k+1/2) v+ = 0 ,   that is   u+ + D = 0 ,   D = (G(q_k + v h/2) - G(q_k)) v ,
 *
 * makes u- and u+ equal and opposite, and the error one of second order. The same D is right for
 * contacts that slide. It is found with the velocities before the kick: for two balls from their
 * line of centres, for other shapes from the points of contact in the poses halfway. Only contacts
 * that were loaded in the last step have it: an impact has no kick before it.
 *
 * The same points show by how much the turning of the bodies closes the gap until the next kick,
 * beyond what their velocities say: with the gap g halfway, from D now,
 *
 *     4 (g - D - u_n h/2) .
 *
 * The law contains it (scree_Points.curve). Without it, it is noticed only where bodies would
 * overlap by more than is tolerated (overlap.c): the edge of a thin coin that rolls is turned back
 * in every second step, by twice as much, and the work of that, 5 % of its energy, counts as
 * created.
 *
 * A pseudo-rigid body that rolls needs it more than any: its points move on straight lines, so that
 * the part of its surface that comes down next goes by R (w h)^2/2 deeper than the material
 * velocity at the contact says, also for a ball on a plane, which created 13 % of its energy in 2
 * s. Round ones are followed here, with their own shape halfway, or the one that they keep and
 * where the deformed body is touched then (deform.h). */
#include "geometry/narrow.h"
#include "geometry/smooth.h"
#include "step/system.h"

/* Angle, in half a step, below which bodies do not turn, and above which the contact halfway may be
 * another one. */
static const double turn_least = 1e-6, turn_most = 0.3;

/* Largest correction of a gap, over the size: above it the shape is not smooth there. */
static const double curve_most = 0.05;

/* Way of a contact over a body, over the size and the angle by which it turns, below which it is a
 * corner: seen are 1e-4 on the tip of a top, and 1 and more on rims. Above the other limit, over
 * its diameter, the body is so flat there that the contact jumps from one end of the face to the
 * other (20 and 80, on a superellipsoid that rolls on a slope and in a drum, where the bend that
 * was foreseen created 1 and 3 % of the energy in single steps). */
static const double wander_least = 0.01, wander_most = 5;

/* Distance of a point halfway from that of the kick, over the size: above it is another one. */
static const double near_part = 0.25;

/* The two bodies of a contact halfway to the next kick. */
typedef struct Halfway {
  scree_Motion motion[2];
  const scree_Shape *shape[2];
  scree_Shape later[2];            /* of soft ones: views, which own nothing */
  const scree_Deformable *soft[2]; /* or null: a rigid body */
  double q[2][SCREE_VERTEX_MAX];   /* coordinates of soft ones */
  scree_Vec3 shift;                /* of the image of the second one */
} Halfway;

/* Of a ball only the position matters. */
static scree_Motion drifted(const scree_Bodies *b, int k, double h) {
  scree_Motion motion = b->motion[k];
  if (!scree_body_moves(b, k)) return motion;
  if (scree_shape_is_ball(&b->cold[k].shape) && scree_inertia_isotropic(&b->inertia[k]))
    motion.pose.position = scree_axpy(motion.pose.position, 0.5 * h, motion.velocity.linear);
  else
    scree_rigid_drift(&b->inertia[k], 0.5 * h, &motion);
  return motion;
}

static void drift_posed(const scree_System *s, double h, scree_Motion *halfway, scree_Share share) {
  const scree_Posed *p = &s->posed;
  SCREE_OVER_BODIES(k, s->bodies.count, share) {
    const int index = p->problem_index[k];
    if (index >= 0 && index < p->nbodies) halfway[index] = drifted(&s->bodies, k, h);
  }
}

void scree_halfway_motions(const scree_System *s, double h, scree_Motion *halfway) {
  SCREE_ON_THREADS(s->bodies.count, s->threads, share, drift_posed(s, h, halfway, share));
}

static scree_Motion motion_halfway(const scree_System *s, int k, double h,
                                   const scree_Motion *halfway) {
  const int index = s->posed.problem_index[k];
  return halfway && index >= 0 ? halfway[index] : drifted(&s->bodies, k, h);
}

static bool is_elliptic(const scree_Shape *s) {
  return s->kind == SCREE_SHAPE_ELLIPSE || s->kind == SCREE_SHAPE_ELLIPSOID;
}

/* Body k of a contact, as number `side` of it; false if it is deformable and not round: points on
 * elements go from face to face. */
static bool add_halfway(const scree_System *s, int k, double h, const scree_Motion *halfway,
                        int side, Halfway *at) {
  const scree_Bodies *b = &s->bodies;
  const scree_Deformable *self = b->fixed[k] ? NULL : scree_bodies_deformable(b, k);
  at->shape[side] = &b->cold[k].shape;
  at->soft[side] = self;
  if (!self) {
    at->motion[side] = motion_halfway(s, k, h, halfway);
    return true;
  }
  const scree_Shape *shape = at->shape[side];
  if (!self->class_->foresee || self->components > SCREE_VERTEX_MAX ||
      (!is_elliptic(shape) && !scree_shape_is_ball(shape)))
    return false;
  const double *q = scree_deformable_q(b, self), *v = scree_deformable_v(b, self);
  for (size_t i = 0; i < self->components; ++i) at->q[side][i] = q[i] + 0.5 * h * v[i];
  at->motion[side] = b->motion[k];
  at->later[side] = *shape;
  at->shape[side] = &at->later[side];
  self->class_->foresee(self, at->q[side], &at->later[side], &at->motion[side].pose);
  return true;
}

static bool is_plane(const scree_Shape *shape) {
  return shape->kind == SCREE_SHAPE_HALF_SPACE || shape->kind == SCREE_SHAPE_HALF_PLANE ||
         shape->kind == SCREE_SHAPE_RECTANGLE;
}

/* sum of N_j x_j over the components x of a body whose coordinates at `point` are q. */
static scree_Vec3 of_point(const scree_Deformable *self, const double *q, scree_Vec3 point,
                           const double *x) {
  int vertex[SCREE_TOUCH_MAX];
  double N[SCREE_TOUCH_MAX * 3 * SCREE_VERTEX_MAX], sum[3] = {0, 0, 0};
  self->class_->touch(self, q, point, 0, vertex, N); /* the body has one vertex */
  for (int i = 0; i < self->dimension; ++i)
    for (int j = 0; j < self->size; ++j) sum[i] += N[i * self->size + j] * x[j];
  return scree_vec3(sum[0], sum[1], sum[2]);
}

/* Velocity halfway of the point of a body that is there. */
static scree_Vec3 velocity_then(const scree_System *s, const Halfway *at, int side, scree_Vec3 on) {
  const scree_Deformable *self = at->soft[side];
  if (self) return of_point(self, at->q[side], on, scree_deformable_v(&s->bodies, self));
  return scree_rigid_velocity(&at->motion[side].pose, &at->motion[side].velocity, on);
}

/* The same at the kick. */
static scree_Vec3 velocity_now(const scree_System *s, const Halfway *at, int k, int side,
                               scree_Vec3 on) {
  const scree_Bodies *b = &s->bodies;
  const scree_Deformable *self = at->soft[side];
  if (self) return of_point(self, scree_deformable_q(b, self), on, scree_deformable_v(b, self));
  return scree_rigid_velocity(&b->motion[k].pose, &b->motion[k].velocity, on);
}

static bool is_same(const scree_ContactKey *a, const scree_ContactKey *b) {
  return a->feature == b->feature && a->part[0] == b->part[0] && a->part[1] == b->part[1];
}

/* The point of contact c among those of its pair halfway, or -1: that of the same features, else
 * the nearest. */
static int find_point(const scree_System *s, size_t c, const scree_Points *points, double size) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  int nearest = -1;
  double least = near_part * size;
  for (size_t k = 0; k < points->count; ++k) {
    const scree_ContactKey *other = &points->keys[k];
    const double distance = scree_norm(scree_sub(points->position[k], s->contacts.position[c]));
    if (!(distance < near_part * size)) continue;
    if (is_same(key, other)) return (int)k;
    if (!(distance < least)) continue;
    least = distance;
    nearest = (int)k;
  }
  return nearest;
}

/* The contact of two points on the surfaces: of the deformed bodies where they keep their shapes.
 * Where these overlap both bodies have the point in the middle, as in scree_system_point; the
 * second one in its own place, not that of its image. Returns the gap. */
static double settle(const Halfway *at, scree_Vec3 n, scree_Vec3 on[2]) {
  const scree_DeformedSide side[2] = {{at->soft[0], at->q[0]}, {at->soft[1], at->q[1]}};
  const bool kept = scree_deform_touched(side, at->shift, n, on);
  const double gap = scree_dot(n, scree_sub(on[0], on[1]));
  const scree_Vec3 middle = scree_scale(0.5, scree_add(on[0], on[1]));
  if (gap < 0) {
    on[0] = on[1] = middle;
  } else if (kept) {
    on[0] = scree_axpy(middle, 0.5 * gap, n);
    on[1] = scree_axpy(middle, -0.5 * gap, n);
  }
  on[1] = scree_sub(on[1], at->shift);
  return gap;
}

/* Two ellipsoids, or one and a ball: from the normal at the kick. */
static bool follow_smooth(const scree_System *s, size_t c, const Halfway *at, scree_Vec3 on[2],
                          double *gap) {
  const scree_Shape *si = at->shape[0], *sj = at->shape[1];
  scree_Pose second = at->motion[1].pose;
  scree_Vec3 n;
  second.position = scree_add(second.position, at->shift);
  if (!scree_collide_smooth_near(si, &at->motion[0].pose, sj, &second, s->contacts.normal[c], &n,
                                 on))
    return false;
  *gap = settle(at, n, on);
  return true;
}

/* An ellipsoid on a plane or on the inside of a face of a mesh: the normal turns with that body.
 * `side` is that of the ellipsoid. */
static bool follow_face(const scree_System *s, size_t c, const Halfway *at, int side,
                        scree_Vec3 on[2], double *gap) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const int f = side == 0 ? key->j : key->i;
  const scree_Shape *flat = &s->bodies.cold[f].shape;
  const bool face =
      key->feature >> 30 == (uint32_t)(side == 0 ? SCREE_FEATURE_VERTEX_A : SCREE_FEATURE_VERTEX_B);
  if (!face ||
      !(is_plane(flat) || flat->kind == SCREE_SHAPE_MESH || flat->kind == SCREE_SHAPE_HEIGHT_FIELD))
    return false;
  const scree_Pose *before = &s->bodies.motion[f].pose, *then = &at->motion[1 - side].pose;
  const scree_Pose *body = &at->motion[side].pose;
  const scree_Quat turn = scree_quat_mul(then->orientation, scree_quat_conj(before->orientation));
  const scree_Vec3 n = scree_quat_rotate(turn, s->contacts.normal[c]);
  const scree_Mat3 R = scree_quat_matrix(body->orientation);
  const scree_Vec3 low =
      scree_smooth_support(at->shape[side]->semi, &R, side == 0 ? scree_neg(n) : n);
  const scree_Vec3 on_face =
      scree_pose_apply(then, scree_pose_invert(before, scree_system_point(s, c, 1 - side)));
  on[0] = scree_add(at->motion[0].pose.position, low);
  on[1] = scree_add(scree_add(at->motion[1].pose.position, at->shift), low);
  if (side == 0) {
    const scree_Vec3 to = scree_sub(on[0], scree_add(on_face, at->shift));
    on[1] = scree_axpy(on[0], -scree_dot(n, to), n);
  } else {
    on[0] = scree_axpy(on[1], scree_dot(n, scree_sub(on_face, on[1])), n);
  }
  /* where bodies overlap the point of the kick lies in the middle of it, not on the face */
  *gap = settle(at, n, on) + 0.5 * fmin(0, s->contacts.gap[c]);
  return true;
}

/* The names of the points of an ellipsoid in a drum are those of octants between its axes, from one
 * to the next of which they go as it rolls; and the axes of a soft ball are not those of the last
 * kick. There the nearest point is the same one: with the names alone every fourth step of a soft
 * ball in a pipe lacked its bend, the next ones pushed the ball back, and the work of that, 1 to
 * 2 % of its energy in 2 s, counts as created. */
static bool is_nameless(const scree_Shape *a, const scree_Shape *b) {
  return (is_elliptic(a) && scree_shape_is_drum(b)) || (is_elliptic(b) && scree_shape_is_drum(a));
}

/* Points of contact c on its two bodies halfway. Closed forms and what can be followed from the
 * kick first: a second search of all pairs took as long as that of the detection. *gap_then: there,
 * NaN for another point, and for rigid balls that touch each other, whose paths bend
 * too little to need it. */
static bool points_halfway(const scree_System *s, size_t c, const Halfway *at, scree_Points *points,
                           bool same_pair, scree_Vec3 on[2], double *gap_then) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_Shape *si = at->shape[0], *sj = at->shape[1];
  double gap;
  *gap_then = NAN;
  if (scree_shape_is_ball(si) && scree_shape_is_ball(sj)) {
    const scree_Vec3 xi = at->motion[0].pose.position, xj = at->motion[1].pose.position;
    const scree_Vec3 x = scree_sub(xi, scree_add(xj, at->shift));
    const scree_Vec3 n = scree_scale(1 / scree_norm(x), x);
    on[0] = scree_axpy(xi, -si->bounding_radius, n);
    on[1] = scree_axpy(xj, sj->bounding_radius, n);
    if (!at->soft[0] && !at->soft[1]) return true;
    on[1] = scree_add(on[1], at->shift);
    *gap_then = settle(at, n, on);
    return true;
  }
  const bool smooth_i = is_elliptic(si), smooth_j = is_elliptic(sj);
  const bool followed =
      (smooth_i || scree_shape_is_ball(si)) && (smooth_j || scree_shape_is_ball(sj))
          ? follow_smooth(s, c, at, on, &gap)
          : (smooth_i && follow_face(s, c, at, 0, on, &gap)) ||
                (smooth_j && follow_face(s, c, at, 1, on, &gap));
  if (followed) {
    *gap_then = gap;
    return true;
  }
  const double size = scree_pair_size(si, sj);
  if (!same_pair) {
    scree_Pose second = at->motion[1].pose;
    second.position = scree_add(second.position, at->shift);
    points->count = 0;
    scree_points_collide(key->i, si, &at->motion[0].pose, key->j, key->image, sj, &second,
                         near_part * size, points);
    const scree_DeformedSide side[2] = {{at->soft[0], at->q[0]}, {at->soft[1], at->q[1]}};
    for (size_t k = 0; k < points->count && (at->soft[0] || at->soft[1]); ++k)
      scree_deform_point(side, at->shift, points, k);
  }
  const int k = points->failed ? -1 : find_point(s, c, points, size);
  if (k < 0) return false;
  if (is_same(key, &points->keys[k]) || is_nameless(si, sj)) *gap_then = points->gap[k];
  gap = fmax(0, points->gap[k]);
  on[0] = scree_axpy(points->position[k], 0.5 * gap, points->normal[k]);
  on[1] = scree_sub(scree_axpy(points->position[k], -0.5 * gap, points->normal[k]), at->shift);
  return true;
}

/* Whether the points of the contact change on the bodies, and by little enough. */
static bool turns(const scree_System *s, const scree_ContactKey *key, double h) {
  const scree_Bodies *b = &s->bodies;
  const scree_Shape *si = &b->cold[key->i].shape, *sj = &b->cold[key->j].shape;
  const double turn = 0.5 * h *
                      (scree_norm(b->motion[key->i].velocity.angular) +
                       scree_norm(b->motion[key->j].velocity.angular));
  if (!(turn > turn_least && turn < turn_most)) return false;
  /* a ball on a plane at rest has the same arm and the same normal */
  const bool soft = scree_deform_touches(b, key);
  if (!soft && scree_shape_is_ball(si) && is_plane(sj) && !scree_body_moves(b, key->j))
    return false;
  if (!soft && scree_shape_is_ball(sj) && is_plane(si) && !scree_body_moves(b, key->i))
    return false;
  return !scree_is_belt(s, key->i) && !scree_is_belt(s, key->j);
}

/* Whether its points may move over it smoothly: not from edge to edge, as those between flat faces.
 * In a glued wall that a ball hits, their jumps, taken for a bend, created a tenth of the energy.
 */
static bool is_curved(const scree_Shape *shape) {
  switch (shape->kind) {
  case SCREE_SHAPE_DISK:
  case SCREE_SHAPE_ELLIPSE:
  case SCREE_SHAPE_SEGMENT:
  case SCREE_SHAPE_SPHERE:
  case SCREE_SHAPE_ELLIPSOID:
  case SCREE_SHAPE_SUPERELLIPSOID:
  case SCREE_SHAPE_CAPSULE:
  case SCREE_SHAPE_CYLINDER:
  case SCREE_SHAPE_CONE: return true;
  default: return false;
  }
}

/* Whether the contact moves over body `side`, as that of a rim that rolls does. That of a corner
 * stays: on the tip of a top the turning of the arm is cancelled by that of the velocity of
 * rotation, which the law sees (with the correction the precession is wrong by (w h)^2/2, without
 * it by a tenth). */
static bool wanders(const scree_System *s, size_t c, int side, const Halfway *at, scree_Vec3 then,
                    double h) {
  const scree_Bodies *b = &s->bodies;
  const scree_ContactKey *key = &s->contacts.keys[c];
  const int k = side == 0 ? key->i : key->j;
  if (b->fixed[k]) return true;
  const scree_Vec3 point = scree_system_point(s, c, side);
  const scree_Deformable *self = at->soft[side];
  scree_Vec3 now, later;
  if (self) {
    now = of_point(self, scree_deformable_q(b, self), point, at->q[side]);
    later = then;
  } else {
    now = scree_pose_invert(&b->motion[k].pose, point);
    later = scree_pose_invert(&at->motion[side].pose, then);
  }
  const double way = scree_norm(scree_sub(later, now));
  const double turn = 0.5 * h * scree_norm(b->motion[k].velocity.angular);
  const scree_Shape *shape = &b->cold[k].shape;
  return way > wander_least * turn * shape->size &&
         way < wander_most * turn * 2 * shape->bounding_radius;
}

bool scree_halfway_slip(const scree_System *s, size_t c, double h, const scree_Motion *halfway,
                        scree_Points *points, size_t *pair, scree_Vec3 *slip, double *curve) {
  const scree_Bodies *b = &s->bodies;
  const scree_ContactKey *key = &s->contacts.keys[c];
  if (!turns(s, key, h)) return false;
  const scree_ContactKey *last = *pair < c ? &s->contacts.keys[*pair] : NULL;
  const bool same_pair =
      last && last->i == key->i && last->j == key->j && last->image == key->image;
  *pair = c;
  Halfway at;
  at.shift = scree_cell_shift(&s->cell, key->image);
  if (!add_halfway(s, key->i, h, halfway, 0, &at) || !add_halfway(s, key->j, h, halfway, 1, &at))
    return false;
  scree_Vec3 on[2];
  double gap;
  *curve = 0;
  if (!points_halfway(s, c, &at, points, same_pair, on, &gap)) return false;
  const scree_Vec3 then =
      scree_sub(velocity_then(s, &at, 0, on[0]), velocity_then(s, &at, 1, on[1]));
  const scree_Vec3 now = scree_sub(velocity_now(s, &at, key->i, 0, scree_system_point(s, c, 0)),
                                   velocity_now(s, &at, key->j, 1, scree_system_point(s, c, 1)));
  *slip = scree_sub(then, now);
  const double un = scree_dot(s->contacts.normal[c], now);
  const double bend = 4 * (gap - s->contacts.gap[c] - 0.5 * h * un);
  const scree_Shape *si = &b->cold[key->i].shape, *sj = &b->cold[key->j].shape;
  if (bend < 0 && bend > -curve_most * scree_pair_size(si, sj) && !key->image &&
      (is_curved(si) || is_curved(sj)) && wanders(s, c, 0, &at, on[0], h) &&
      wanders(s, c, 1, &at, on[1], h))
    *curve = bend;
  return true;
}
