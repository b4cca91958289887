/* Driven plates of a scene: servo walls, pistons, platens.
 *
 * A plate is a body with one degree of freedom: a flat box, or a disk, that slides along its normal
 * (a slider joint to the world), loaded by a force, by a pressure times an area, or moved at a
 * velocity (a motor of the slider). So it needs nothing of its own in a step: its inertia,
 * contacts, work and sensors are those of bodies and joints. Its weight is balanced by an
 * opposite acceleration unless the scene asks for it, so that the given load equals the force on
 * the grains at rest.
 *
 * A pressure acts on the area of the plate, or on that of the sample between other plates, which
 * changes as they move (scree_Span). */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/composite.h"
#include "math/vec3.h"
#include "scene/scene.h"

#include <math.h>
#include <string.h>

/* Geometry of a plate from its map. */
typedef struct Plate {
  scree_Vec3 point, normal, along;
  double length, width, thickness;
  bool round; /* a disk of diameter `length` */
} Plate;

static scree_Status read_plate(const scree_Scene *scene, const scree_Node *map,
                               const scree_Log *log, Plate *plate) {
  const bool flat = scene->dimension == 2;
  *plate = (Plate){.point = scree_scene_vector(map, "point"),
                   .normal = scree_scene_vector(map, "normal"),
                   .length = scree_node_number(map, "length")};
  if (!(scree_norm(plate->normal) > 0))
    return scree_scene_refuse(scene, scree_node_find(map, "normal"), log,
                              "normal: expected a vector other than zero");
  plate->normal = scree_unit_or(plate->normal, plate->normal);
  plate->width = flat ? 1 : plate->length;
  if (!flat && scree_node_find(map, "width")) plate->width = scree_node_number(map, "width");
  plate->round = !flat && scree_node_true(map, "round");
  if (plate->round && (scree_node_find(map, "width") || scree_node_find(map, "between")))
    return scree_scene_refuse(scene, map, log,
                              "round: found width or between, too; a round plate has the diameter "
                              "length, and its pressure acts on its own face");
  plate->thickness =
      scree_node_find(map, "thickness") ? scree_node_number(map, "thickness") : 0.1 * plate->length;
  const scree_Vec3 n = plate->normal;
  scree_Vec3 a = fabs(n.x) < 0.9 ? scree_vec3(1, 0, 0) : scree_vec3(0, 1, 0);
  if (!flat && scree_node_find(map, "along")) a = scree_scene_vector(map, "along");
  a = scree_axpy(a, -scree_dot(a, n), n);
  if (!(scree_norm(a) > 1e-9))
    return scree_scene_refuse(scene, map, log,
                              "along: expected a direction other than that of the normal");
  plate->along = scree_unit_or(a, a);
  return SCREE_OK;
}

/* The face that presses is that of local +y in the plane and +z in space. */
static scree_Status make_shape(const scree_Scene *scene, const Plate *plate, const scree_Log *log,
                               scree_SceneBody *body) {
  const double l = 0.5 * plate->length, t = 0.5 * plate->thickness;
  const scree_Vec3 n = plate->normal;
  scree_Pose *pose = &body->def.pose;
  pose->position = scree_axpy(plate->point, -t, n);
  if (scene->dimension == 2) {
    const scree_Vec3 corners[4] = {{-l, -t, 0}, {l, -t, 0}, {l, t, 0}, {-l, t, 0}};
    const double angle = atan2(-n.x, n.y);
    pose->orientation =
        angle == 0 ? scree_quat_identity() : scree_quat_axis_angle(scree_vec3(0, 0, 1), angle);
    return scree_shape_init_polygon(&body->shape, corners, 4, log);
  }
  const scree_Quat first = scree_quat_from_to(scree_vec3(0, 0, 1), n);
  const scree_Vec3 x = scree_quat_rotate(first, scree_vec3(1, 0, 0));
  const double angle =
      atan2(scree_dot(scree_cross(x, plate->along), n), scree_dot(x, plate->along));
  pose->orientation = scree_quat_normalize(scree_quat_mul(scree_quat_axis_angle(n, angle), first));
  if (plate->round) return scree_shape_init_cylinder(&body->shape, l, t, log);
  return scree_shape_init_box(&body->shape, l, 0.5 * plate->width, t, log);
}

scree_Status scree_scene_read_plates(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "plates");
  scene->first_plate = (int)scene->body_count;
  for (int k = 0; k < list->count; ++k) {
    const scree_Node *map = list->entries[k].value;
    const bool pressure = scree_node_find(map, "pressure"), force = scree_node_find(map, "force"),
               velocity = scree_node_find(map, "velocity");
    Plate plate;
    scree_SceneBody body = {.def = scree_body_def(), .name = scree_node_text(map, "name")};
    const bool from = scree_node_find(map, "velocity_from");
    if (pressure && force)
      return scree_scene_refuse(scene, map, log, "expected pressure or force, not both");
    if (!from && pressure + force + velocity != 1)
      return scree_scene_refuse(scene, map, log,
                                "expected pressure, force or velocity, one of them, or a load and "
                                "then a velocity with velocity_from");
    if (from && !(velocity && (pressure || force)))
      return scree_scene_refuse(scene, scree_node_find(map, "velocity_from"), log,
                                "expected a velocity and a pressure or force with it");
    if (scree_node_find(map, "between") && !pressure)
      return scree_scene_refuse(scene, scree_node_find(map, "between"), log,
                                "between gives the area of a pressure: expected pressure with it");
    if (scree_node_find(map, "between2") && !scree_node_find(map, "between"))
      return scree_scene_refuse(scene, scree_node_find(map, "between2"), log,
                                "expected between, too");
    scree_Status status = read_plate(scene, map, log, &plate);
    if (status == SCREE_OK) status = scree_scene_matter(scene, map, log, &body.def);
    body.def.mass = scree_node_number(map, "mass");
    if (status == SCREE_OK) status = make_shape(scene, &plate, log, &body);
    if (status == SCREE_OK) status = scree_scene_add(scene, &body, log);
    if (status != SCREE_OK) return status;
  }
  return SCREE_OK;
}

static double number_or(const scree_Node *map, const char *key, double otherwise) {
  return scree_node_find(map, key) ? scree_node_number(map, key) : otherwise;
}

/* Motor of a plate that is moved: the z component of its signal; off while a load acts. */
static double plate_velocity(void *user, double time) {
  const scree_SceneJoint *joint = user;
  if (time < joint->from) return NAN;
  return scree_scene_motor_value(scree_scene_signal_at(joint->signal, time).linear.z);
}

static scree_Status slide(scree_Scene *scene, int k, const scree_Node *map, const Plate *plate,
                          const scree_Log *log) {
  scree_SceneJoint *joint = &scene->joints[scene->joint_count++];
  joint->def = scree_joint_def();
  joint->name = scree_node_text(map, "name");
  joint->node = map;
  joint->def.kind = SCREE_JOINT_SLIDER;
  joint->def.body[0] = scene->first_plate + k;
  joint->def.body[1] = -1;
  joint->def.anchor = plate->point;
  joint->def.axis = plate->normal;
  joint->def.damping = scree_node_number(map, "damping");
  joint->def.lower = number_or(map, "lower", -INFINITY);
  joint->def.upper = number_or(map, "upper", INFINITY);
  if (!scree_node_find(map, "velocity")) return SCREE_OK;
  joint->signal = scree_scene_read_signal(scene, "plates", k, map, "velocity", "none");
  if (!joint->signal) return scree_fail_memory(log, scene->name);
  joint->from = number_or(map, "velocity_from", -INFINITY);
  joint->def.motor = (scree_Motor){.kind = SCREE_MOTOR_VELOCITY,
                                   .function = plate_velocity,
                                   .user = joint,
                                   .name = joint->signal->names[2]};
  return SCREE_OK;
}

/* The length between the faces of a plate and another plate, or an obstacle. */
static scree_Status read_span(const scree_Scene *scene, const scree_Node *names,
                              const scree_Log *log, scree_Span *span) {
  const scree_Node *list = scree_node_find(scene->tree.root, "plates");
  double half[2] = {0, 0};
  scree_Vec3 normal = {0, 0, 0};
  int body[2];
  for (int side = 0; side < 2; ++side) {
    body[side] = scree_scene_find_body(scene, names->entries[side].value, log);
    if (body[side] < 0) return SCREE_BAD_INPUT;
    const int index = body[side] - scene->first_plate;
    if (index < 0 || index >= list->count) {
      if (side > 0 && body[side] < scene->obstacle_count) continue;
      return scree_scene_refuse(scene, names->entries[side].value, log,
                                "found \"%.60s\", expected a plate%s",
                                names->entries[side].value->text, side ? " or an obstacle" : "");
    }
    Plate plate;
    const scree_Status status = read_plate(scene, list->entries[index].value, log, &plate);
    if (status != SCREE_OK) return status;
    half[side] = 0.5 * plate.thickness;
    if (side == 0) normal = plate.normal;
  }
  *span = (scree_Span){{body[1], body[0]}, normal, half[0] + half[1]};
  const scree_Vec3 way =
      scree_sub(scene->bodies[body[1]].def.pose.position, scene->bodies[body[0]].def.pose.position);
  if (!(scree_dot(normal, way) > span->less))
    return scree_scene_refuse(scene, names, log,
                              "the first plate does not face the second at the start: %g m along "
                              "its normal, expected more than 0",
                              scree_dot(normal, way) - span->less);
  return SCREE_OK;
}

static scree_Status load(scree_Scene *scene, int k, const scree_Node *map, const Plate *plate,
                         const scree_Log *log) {
  static const char *const keys[2] = {"between", "between2"};
  const bool pressure = scree_node_find(map, "pressure");
  scree_SceneForce *out = &scene->forces[scene->force_count];
  out->def = (scree_ForceDef){.body = scene->first_plate + k};
  out->signal =
      scree_scene_read_signal(scene, "plates", k, map, pressure ? "pressure" : "force", "none");
  if (!out->signal) return scree_fail_memory(log, scene->name);
  ++scene->force_count;
  out->along = plate->normal;
  out->area = 1;
  const double disk = plate->round ? 0.25 * acos(-1) : 1;
  out->face = disk * plate->length * plate->width;
  out->until = number_or(map, "velocity_from", INFINITY);
  double sides[2] = {plate->length, plate->width};
  for (int i = 0; i < 2 && pressure; ++i) {
    const scree_Node *names = scree_node_find(map, keys[i]);
    if (!names) continue;
    const scree_Status status = read_span(scene, names, log, &out->def.span[i]);
    if (status != SCREE_OK) return status;
    sides[i] = 1;
  }
  if (!pressure) return SCREE_OK;
  out->area = disk * sides[0] * sides[1];
  return SCREE_OK;
}

/* An acceleration against gravity. */
static scree_Status lift(scree_Scene *scene, int k, const scree_Log *log) {
  scree_SceneForce *out = &scene->forces[scene->force_count];
  out->def = (scree_ForceDef){.body = scene->first_plate + k, .per_mass = true};
  out->signal = SCREE_ALLOC(scree_SceneSignal, 1);
  if (!out->signal) return scree_fail_memory(log, scene->name);
  const scree_Vec3 g = scene->gravity;
  *out->signal = (scree_SceneSignal){.value = {-g.x, -g.y, -g.z}, .constant = true};
  ++scene->force_count;
  return SCREE_OK;
}

scree_Status scree_scene_load_plates(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "plates");
  for (int k = 0; k < list->count; ++k) {
    const scree_Node *map = list->entries[k].value;
    Plate plate;
    scree_Status status = read_plate(scene, map, log, &plate);
    if (status == SCREE_OK) status = slide(scene, k, map, &plate, log);
    if (status == SCREE_OK && (scree_node_find(map, "pressure") || scree_node_find(map, "force")))
      status = load(scene, k, map, &plate, log);
    if (status == SCREE_OK && !scree_node_true(map, "weight") && scree_norm(scene->gravity) > 0)
      status = lift(scene, k, log);
    for (int j = 0; j < scene->joint_count - 1 && status == SCREE_OK; ++j)
      if (scene->joints[j].name &&
          strcmp(scene->joints[j].name, scene->joints[scene->joint_count - 1].name) == 0)
        status = scree_scene_refuse(scene, map, log, "a joint is named \"%.60s\", too",
                                    scene->joints[j].name);
    if (status != SCREE_OK) return status;
  }
  return SCREE_OK;
}

/* ---- wedged plates --------------------------------------------------------------------------- */

/* Gap below which a plate touches what stands beside it, over its thickness. */
static const double beside_gap = 1e-6;

typedef struct Beside {
  scree_Vec3 slide;
  double gap;
  bool found;
} Beside;

static void look_beside(void *user, const scree_ManifoldPoint *point) {
  Beside *beside = user;
  if (point->gap <= beside->gap && fabs(scree_dot(point->normal, beside->slide)) < 0.1)
    beside->found = true;
}

/* The slider takes any force across it, so where a plate slides along an obstacle with friction
 * this may hold any load: a lid exactly as wide as its box hung in the air. */
scree_Status scree_scene_check_plates(const scree_Scene *scene, const scree_World *world,
                                      const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "plates");
  for (int k = 0; k < list->count; ++k) {
    const scree_SceneBody *plate = &scene->bodies[scene->first_plate + k];
    Plate read;
    const scree_Status status = read_plate(scene, list->entries[k].value, log, &read);
    if (status != SCREE_OK) return status;
    for (int j = 0; j < scene->obstacle_count; ++j) {
      const scree_SceneBody *wall = &scene->bodies[j];
      const scree_PairLaw law =
          scree_world_pair_law(world, plate->def.material, wall->def.material);
      Beside beside = {.slide = read.normal, .gap = beside_gap * read.thickness};
      if (plate->def.group > 0 && plate->def.group == wall->def.group) continue;
      if (!(scree_pair_law_get(&law, "mu") > 0)) continue;
      scree_collide_each(&plate->shape, &plate->def.pose, &wall->shape, &wall->def.pose, beside.gap,
                         look_beside, &beside);
      if (beside.found)
        return scree_scene_refuse(
            scene, list->entries[k].value, log,
            "the plate touches %s%.60s beside its path, where friction can carry any load: "
            "expected "
            "a smaller length, `group: %d` of that obstacle, or mu 0 between the two materials",
            wall->name ? "" : "an obstacle", wall->name ? wall->name : "", (int)plate->def.group);
    }
  }
  return SCREE_OK;
}

scree_Twist scree_scene_force_at(void *user, double time) {
  const scree_SceneForce *force = user;
  const scree_Twist value = scree_scene_signal_at(force->signal, time);
  if (!(force->area > 0)) return value;
  if (time >= force->until) return (scree_Twist){{0, 0, 0}, {0, 0, 0}};
  return (scree_Twist){scree_scale(force->area * value.linear.z, force->along), {0, 0, 0}};
}
