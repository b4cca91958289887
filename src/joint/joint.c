/* Frames, errors and rows of joints (see joint.h). */
#include "joint/joint.h"

#include "core/log.h"

#include <math.h>

scree_JointDef scree_joint_def(void) {
  return (scree_JointDef){.body = {-1, -1},
                          .axis = {1, 0, 0},
                          .rest = NAN,
                          .lower = -INFINITY,
                          .upper = INFINITY,
                          .tension = INFINITY,
                          .shear = INFINITY,
                          .bending = INFINITY,
                          .torsion = INFINITY};
}

scree_BondDef scree_bond_def(void) {
  return (scree_BondDef){
      .gap = 1e-3, .width = 1, .tension = INFINITY, .shear = NAN, .bending = NAN, .torsion = NAN};
}

/* ---- making ----------------------------------------------------------------------------------
 */

static bool is_finite(scree_Vec3 a) {
  return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static scree_Status check_number(double x, bool may_be_negative, const char *name, const char *kind,
                                 const scree_Log *log) {
  if (isfinite(x) && (may_be_negative || x >= 0)) return SCREE_OK;
  return scree_fail(log, SCREE_BAD_INPUT, "joint: %s of a %s is %g, expected a number%s", name,
                    kind, x, may_be_negative ? "" : " >= 0");
}

static scree_Status check_coordinate(const scree_JointDef *def, const char *kind,
                                     const scree_Log *log) {
  const bool any = def->motor.kind != SCREE_MOTOR_NONE || def->stiffness != 0 ||
                   def->damping != 0 || def->friction != 0 || def->lower > -INFINITY ||
                   def->upper < INFINITY;
  if (any && !scree_joint_has_coordinate(def->kind))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "joint: a %s has a motor, spring, damper, friction or stops, expected none: "
                      "it has no free coordinate (hinge, slider and spring have one)",
                      kind);
  scree_Status status = check_number(def->stiffness, false, "stiffness", kind, log);
  if (!status) status = check_number(def->damping, false, "damping", kind, log);
  if (!status) status = check_number(def->friction, false, "friction", kind, log);
  if (!status) status = check_number(def->motor.force, false, "the force of the motor", kind, log);
  if (!status && !isnan(def->rest)) status = check_number(def->rest, true, "rest", kind, log);
  if (status) return status;
  if (!(def->lower <= def->upper))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "joint: stops of a %s at %g and %g, expected lower <= upper", kind,
                      def->lower, def->upper);
  if (def->restitution > 0 && !(def->lower > -INFINITY) && !(def->upper < INFINITY))
    return scree_fail(
        log, SCREE_BAD_INPUT,
        "joint: restitution of a %s is %g without a stop, expected lower or upper too", kind,
        def->restitution);
  if (def->kind == SCREE_JOINT_SPRING && def->rest < 0)
    return scree_fail(log, SCREE_BAD_INPUT, "joint: rest of a %s is %g, expected a length >= 0",
                      kind, def->rest);
  if (!(def->restitution >= 0 && def->restitution <= 1))
    return scree_fail(log, SCREE_BAD_INPUT, "joint: restitution of a %s is %g, expected 0 to 1",
                      kind, def->restitution);
  return SCREE_OK;
}

static scree_Status check_strength(const scree_JointDef *def, const char *kind,
                                   const scree_Log *log) {
  const struct {
    const char *name;
    double value;
  } all[] = {{"tension", def->tension},
             {"shear", def->shear},
             {"bending", def->bending},
             {"torsion", def->torsion}};
  for (int k = 0; k < 4; ++k) {
    if (!(all[k].value > 0))
      return scree_fail(log, SCREE_BAD_INPUT, "joint: %s of a %s is %g, expected a number > 0",
                        all[k].name, kind, all[k].value);
    if (def->kind != SCREE_JOINT_BOND && all[k].value < INFINITY)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "joint: a %s has a strength (%s), expected none: only bonds break", kind,
                        all[k].name);
  }
  if (isinf(def->tension) != isinf(def->shear))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "joint: tension %g and shear %g of a %s, expected both or neither",
                      def->tension, def->shear, kind);
  return check_number(def->break_at, false, "break_at", kind, log);
}

/* The rotation whose x axis is `x` and whose y axis is the part of `y` perpendicular to it. */
static scree_Quat frame_of(scree_Vec3 x, scree_Vec3 y) {
  const scree_Vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  x = scree_unit_or(x, unit[0]);
  y = scree_axpy(y, -scree_dot(x, y), x);
  for (int k = 1; k < 3 && !(scree_norm(y) > 1e-3); ++k)
    y = scree_axpy(unit[k], -scree_dot(x, unit[k]), x);
  if (!(scree_norm(y) > 1e-3)) y = scree_axpy(unit[0], -x.x, x);
  y = scree_unit_or(y, unit[1]);
  const scree_Quat first = scree_quat_from_to(unit[0], x);
  const scree_Vec3 turned = scree_quat_rotate(first, unit[1]);
  const double angle = atan2(scree_dot(scree_cross(turned, y), x), scree_dot(turned, y));
  return scree_quat_normalize(scree_quat_mul(scree_quat_axis_angle(x, angle), first));
}

static scree_Status check_kind(const scree_JointDef *def, int dimension, const scree_Log *log) {
  if ((int)def->kind < 0 || def->kind >= SCREE_JOINT_KINDS)
    return scree_fail(log, SCREE_BAD_INPUT, "joint: kind is %d, expected 0 to %d", (int)def->kind,
                      SCREE_JOINT_KINDS - 1);
  const scree_JointClass *class_ = &scree_joint_registry[def->kind];
  if (!class_->exists[dimension - 2])
    return scree_fail(log, SCREE_BAD_INPUT, "joint: %s in %dD, expected a kind that exists there",
                      class_->name, dimension);
  if (!is_finite(def->anchor) || !is_finite(def->anchor2) || !is_finite(def->axis) ||
      !is_finite(def->axis2))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "joint: anchor or axis of a %s is not finite, expected numbers",
                      class_->name);
  if (class_->needs_axis[dimension - 2] && !(scree_norm(def->axis) > 0))
    return scree_fail(log, SCREE_BAD_INPUT, "joint: axis of a %s is zero, expected a direction",
                      class_->name);
  if (def->kind == SCREE_JOINT_UNIVERSAL) {
    const double sine = scree_norm(
        scree_cross(scree_unit_or(def->axis, def->axis), scree_unit_or(def->axis2, def->axis2)));
    if (!(fabs(sine - 1) < 1e-6))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "joint: the axes of a universal are not at right angles (sine %g), "
                        "expected axis2 perpendicular to axis",
                        sine);
  }
  return SCREE_OK;
}

scree_Status scree_joint_init(scree_Joint *joint, const scree_JointDef *def, int dimension,
                              double size, const scree_Pose *a, const scree_Pose *b,
                              const scree_Log *log) {
  scree_Status status = check_kind(def, dimension, log);
  if (!status) status = check_coordinate(def, scree_joint_name(def->kind), log);
  if (!status) status = check_strength(def, scree_joint_name(def->kind), log);
  if (status) return status;
  const scree_JointClass *class_ = &scree_joint_registry[def->kind];
  const bool two = class_->distance || class_->coordinate == SCREE_COORDINATE_DISTANCE;
  const scree_Vec3 z = {0, 0, 1}, x = {1, 0, 0};
  *joint = (scree_Joint){.def = *def, .body = {def->body[0], def->body[1]}, .size = size};
  joint->anchor[0] = scree_pose_invert(a, def->anchor);
  joint->anchor[1] = scree_pose_invert(b, two ? def->anchor2 : def->anchor);
  scree_Quat frame;
  if (dimension == 2) /* axis x in the plane, z stays z */
    frame = scree_quat_from_to(x, scree_unit_or(scree_vec3(def->axis.x, def->axis.y, 0), x));
  else if (def->kind == SCREE_JOINT_UNIVERSAL)
    frame = frame_of(def->axis, def->axis2);
  else
    frame = frame_of(def->axis, z);
  joint->frame[0] = scree_quat_mul(scree_quat_conj(a->orientation), frame);
  joint->frame[1] = scree_quat_mul(scree_quat_conj(b->orientation), frame);
  if (!two) {
    if (isnan(joint->def.rest)) joint->def.rest = 0;
    return SCREE_OK;
  }
  joint->length = scree_norm(scree_sub(def->anchor, def->anchor2));
  if (isnan(joint->def.rest)) joint->def.rest = joint->length;
  if (!(joint->length > 0))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "joint: the two anchors of a %s are at one point, expected a distance",
                      class_->name);
  return SCREE_OK;
}

/* ---- places and rows -------------------------------------------------------------------------
 */

scree_JointPlace scree_joint_place(const scree_Joint *joint, const scree_Pose *a,
                                   const scree_Pose *b) {
  const scree_Pose *pose[2] = {a, b};
  scree_JointPlace place;
  for (int k = 0; k < 2; ++k) {
    place.centre[k] = pose[k]->position;
    place.point[k] = scree_pose_apply(pose[k], joint->anchor[k]);
    place.axes[k] = scree_quat_matrix(scree_quat_mul(pose[k]->orientation, joint->frame[k]));
  }
  return place;
}

/* The rate of e.(P_a - P_b), where body k moves the point `at[k]`. */
static scree_JointRow translation(const scree_JointPlace *place, scree_Vec3 e, scree_Vec3 at_a,
                                  scree_Vec3 at_b) {
  return (scree_JointRow){{e, scree_neg(e)},
                          {scree_cross(scree_sub(at_a, place->centre[0]), e),
                           scree_neg(scree_cross(scree_sub(at_b, place->centre[1]), e))}};
}

/* The rate of an angle about `axis`, times the size. */
static scree_JointRow rotation(double size, scree_Vec3 axis) {
  const scree_Vec3 zero = {0, 0, 0}, w = scree_scale(size, axis);
  return (scree_JointRow){{zero, zero}, {w, scree_neg(w)}};
}

static scree_JointRow distance_row(const scree_JointPlace *place, double *distance) {
  const scree_Vec3 way = scree_sub(place->point[0], place->point[1]), x = {1, 0, 0};
  *distance = scree_norm(way);
  return translation(place, scree_unit_or(way, x), place->point[0], place->point[1]);
}

int scree_joint_locked(const scree_Joint *joint, int dimension, const scree_JointPlace *place,
                       double error[SCREE_JOINT_ROWS], scree_JointRow rows[SCREE_JOINT_ROWS]) {
  const scree_JointClass *class_ = scree_joint_class(joint);
  const scree_Vec3 way = scree_sub(place->point[0], place->point[1]);
  int n = 0;
  for (int k = 0; k < 3; ++k) {
    if (!(class_->translations[dimension - 2] >> k & 1)) continue;
    const scree_Vec3 e = scree_column(&place->axes[1], k);
    if (error) error[n] = scree_dot(e, way);
    if (rows) rows[n] = translation(place, e, place->point[0], place->point[0]);
    ++n;
  }
  for (int k = 0; k < class_->pairs[dimension - 2]; ++k, ++n) {
    const scree_Vec3 a = scree_column(&place->axes[0], class_->pair[k][0]);
    const scree_Vec3 e = scree_column(&place->axes[1], class_->pair[k][1]);
    if (error) error[n] = joint->size * scree_dot(a, e);
    if (rows) rows[n] = rotation(joint->size, scree_cross(a, e));
  }
  if (class_->distance) {
    double distance;
    const scree_JointRow row = distance_row(place, &distance);
    if (error) error[n] = distance - joint->length;
    if (rows) rows[n] = row;
    ++n;
  }
  return n;
}

double scree_joint_scale(const scree_Joint *joint) {
  return scree_joint_class(joint)->coordinate == SCREE_COORDINATE_ANGLE ? joint->size : 1;
}

double scree_joint_coordinate(const scree_Joint *joint, int dimension,
                              const scree_JointPlace *place, double near, scree_JointRow *row) {
  const double turn = 6.283185307179586476925286766559 * joint->size;
  const scree_Mat3 *a = &place->axes[0], *e = &place->axes[1];
  switch (scree_joint_class(joint)->coordinate) {
  case SCREE_COORDINATE_ANGLE: {
    const bool plane = dimension == 2; /* the axis is z and the angle that of the x axes */
    const scree_Vec3 axis = plane ? e->z : e->x, from = plane ? e->x : e->y,
                     side = plane ? e->y : e->z, arm = plane ? a->x : a->y;
    const double angle = joint->size * atan2(scree_dot(arm, side), scree_dot(arm, from));
    if (row) *row = rotation(joint->size, axis);
    return angle + turn * round((near - angle) / turn);
  }
  case SCREE_COORDINATE_ALONG:
    if (row) *row = translation(place, e->x, place->point[0], place->point[0]);
    return scree_dot(e->x, scree_sub(place->point[0], place->point[1]));
  case SCREE_COORDINATE_DISTANCE: {
    double distance;
    const scree_JointRow way = distance_row(place, &distance);
    if (row) *row = way;
    return distance;
  }
  case SCREE_COORDINATE_NONE: break;
  }
  return 0;
}
