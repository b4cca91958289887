/* Joints of a scene. */
#include "core/log.h"
#include "core/memory.h"
#include "scene/scene.h"

#include <math.h>
#include <string.h>

/* Distance of the first position of a motor from that of its joint that is rounding, over the whole
 * way of the motor. */
static const double start_error = 1e-6;

/* How far a joint may be beyond a stop at the start, over the size of its smaller body, or as an
 * angle: runs that begin where another one ended have errors of that kind. */
static const double stop_error = 1e-3;

/* Target of a motor: the z component of the half of a signal that it uses. */
static double motor_velocity(void *user, double time) {
  return scree_scene_motor_value(scree_scene_signal_at(user, time).linear.z);
}

static double motor_position(void *user, double time) {
  return scree_scene_motor_value(scree_scene_signal_at(user, time).angular.z);
}

static scree_Status read_motor(scree_Scene *scene, int index, const scree_Node *map,
                               scree_SceneJoint *joint, const scree_Log *log) {
  const scree_Node *velocity = scree_node_find(map, "velocity");
  const scree_Node *position = scree_node_find(map, "position");
  if (!velocity == !position)
    return scree_scene_refuse(scene, map, log, "expected velocity or position, one of them");
  joint->signal = scree_scene_read_signal(scene, "joints", index, map, "velocity", "position");
  if (!joint->signal) return scree_fail_memory(log, scene->name);
  joint->def.motor = (scree_Motor){
      .kind = velocity ? SCREE_MOTOR_VELOCITY : SCREE_MOTOR_POSITION,
      .function = velocity ? motor_velocity : motor_position,
      .user = joint->signal,
      .name = joint->signal->names[velocity ? 2 : 5],
      .force = scree_node_number(map, "force"),
  };
  return SCREE_OK;
}

static double number_or(const scree_Node *map, const char *key, double otherwise) {
  return scree_node_find(map, key) ? scree_node_number(map, key) : otherwise;
}

static scree_Status read_joint(scree_Scene *scene, int index, const scree_Node *map,
                               scree_SceneJoint *joint, const scree_Log *log) {
  const scree_Node *bodies = scree_node_find(map, "bodies"), *motor = scree_node_find(map, "motor");
  scree_JointDef *def = &joint->def;
  *def = scree_joint_def();
  def->kind = scree_joint_find(scree_node_text(map, "kind"));
  joint->node = map;
  joint->name = scree_node_find(map, "name") ? scree_node_text(map, "name") : NULL;
  for (int k = 0; k < 2; ++k) {
    if (strcmp(bodies->entries[k].value->text, "world") == 0) continue; /* -1 */
    def->body[k] = scree_scene_find_body(scene, bodies->entries[k].value, log);
    if (def->body[k] < 0) return SCREE_BAD_INPUT;
    if (def->body[k] >= (int)scene->body_count)
      return scree_scene_refuse(scene, bodies->entries[k].value, log,
                                "found a body that is poured, expected one that is there at the "
                                "start");
  }
  const bool two = scree_node_find(map, "from") != NULL;
  def->anchor = scree_scene_vector(map, two ? "from" : "anchor");
  def->anchor2 = scree_scene_vector(map, "to");
  if (scree_node_find(map, "axis")) def->axis = scree_scene_vector(map, "axis");
  if (scree_node_find(map, "axis2")) def->axis2 = scree_scene_vector(map, "axis2");
  def->collide = scree_node_true(map, "collide");
  def->stiffness = scree_node_number(map, "stiffness");
  def->damping = scree_node_number(map, "damping");
  def->friction = scree_node_number(map, "friction");
  def->restitution = scree_node_number(map, "restitution");
  def->rest = number_or(map, "rest", NAN);
  def->lower = number_or(map, "lower", -INFINITY);
  def->upper = number_or(map, "upper", INFINITY);
  def->tension = number_or(map, "tension", INFINITY);
  def->shear = number_or(map, "shear", INFINITY);
  def->bending = number_or(map, "bending", INFINITY);
  def->torsion = number_or(map, "torsion", INFINITY);
  def->break_at = scree_node_number(map, "break_at");
  const scree_Node *rest = scree_node_find(map, "rest");
  if (rest && !(def->stiffness > 0))
    return scree_scene_refuse(scene, rest, log,
                              "found a rest without a spring, expected a stiffness too");
  return motor ? read_motor(scene, index, motor, joint, log) : SCREE_OK;
}

scree_Status scree_scene_read_joints(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "joints");
  const int plates = scree_node_find(scene->tree.root, "plates")->count;
  scene->joints = SCREE_ALLOC(scree_SceneJoint, list->count + plates);
  if (!scene->joints) return scree_fail_memory(log, scene->name);
  for (int k = 0; k < list->count; ++k) {
    scree_SceneJoint *joint = &scene->joints[scene->joint_count++];
    const scree_Status status = read_joint(scene, k, list->entries[k].value, joint, log);
    if (status != SCREE_OK) return status;
    for (int j = 0; joint->name && j < k; ++j)
      if (scene->joints[j].name && strcmp(scene->joints[j].name, joint->name) == 0)
        return scree_scene_refuse(scene, joint->node, log, "two joints are named \"%.60s\"",
                                  joint->name);
  }
  return SCREE_OK;
}

int scree_scene_find_joint(const scree_Scene *scene, const scree_Node *node, const scree_Log *log) {
  const char *words[256] = {NULL};
  int count = 0;
  for (int k = 0; k < scene->joint_count; ++k) {
    if (!scene->joints[k].name) continue;
    if (strcmp(scene->joints[k].name, node->text) == 0) return k;
    if (count < 255) words[count++] = scene->joints[k].name;
  }
  return scree_scene_refuse_name(scene, node, log, "joint", words);
}

/* Largest distance of the target of a motor from x over the duration. */
static double way_of_motor(const scree_Scene *scene, const scree_Motor *motor, double x) {
  enum { SAMPLES = 200 };
  double most = 0;
  for (int k = 0; k <= SAMPLES; ++k) {
    const double target = motor->function(motor->user, scene->duration * k / SAMPLES);
    if (isfinite(target)) most = fmax(most, fabs(target - x));
  }
  return most;
}

/* A motor of unlimited force whose position begins elsewhere than the joint would throw its bodies
 * there within one step. */
static scree_Status check_motor(const scree_Scene *scene, const scree_SceneJoint *joint, double x,
                                const scree_Log *log) {
  const scree_Motor *motor = &joint->def.motor;
  const scree_Node *map = scree_node_find(joint->node, "motor"); /* a plate has none */
  if (!map || motor->kind != SCREE_MOTOR_POSITION || motor->force > 0) return SCREE_OK;
  const double start = motor->function(motor->user, 0);
  const bool near = fabs(start - x) <= start_error * way_of_motor(scene, motor, x);
  if (near || !isfinite(start)) return SCREE_OK;
  return scree_scene_refuse(scene, scree_node_find(map, "position"), log,
                            "found %g at the start, where the joint is at %g: without a limit the "
                            "motor would be there after one step; expected %g, or a force",
                            start, x, x);
}

/* A joint that begins beyond a stop would be thrown to it within one step. */
static scree_Status check_start(const scree_Scene *scene, const scree_SceneJoint *joint, double x,
                                const scree_Log *log) {
  const scree_JointDef *def = &joint->def;
  double size = INFINITY;
  for (int k = 0; k < 2; ++k)
    if (def->body[k] >= scene->obstacle_count)
      size = fmin(size, scene->bodies[def->body[k]].shape.size);
  const double error = stop_error * (def->kind == SCREE_JOINT_HINGE ? 1 : size);
  const bool below = x < def->lower - error;
  if (!below && !(x > def->upper + error)) return SCREE_OK;
  const scree_Node *stop = scree_node_find(joint->node, below ? "lower" : "upper");
  return scree_scene_refuse(scene, stop ? stop : joint->node, log,
                            "found a stop at %g, beyond which the joint begins, at %g: expected a "
                            "start between the stops",
                            below ? def->lower : def->upper, x);
}

/* A motor of unlimited force that passes a stop of its joint has no solution from then on. A target
 * that is not finite stops the run, and the way from there on is not known. */
static scree_Status check_stops(const scree_Scene *scene, const scree_SceneJoint *joint, double x,
                                const scree_Log *log) {
  enum { SAMPLES = 1000 };
  const scree_JointDef *def = &joint->def;
  const scree_Motor *motor = &def->motor;
  const scree_Node *map = scree_node_find(joint->node, "motor"); /* a plate has none */
  if (!map || motor->force > 0) return SCREE_OK;
  const bool position = motor->kind == SCREE_MOTOR_POSITION;
  const double step = scene->duration / SAMPLES;
  const double up = def->upper + start_error * fabs(def->upper - x);
  const double down = def->lower - start_error * fabs(def->lower - x);
  for (int k = 1; k <= SAMPLES; ++k) {
    const double time = step * k;
    x = position ? motor->function(motor->user, time)
                 : x + step * motor->function(motor->user, time - 0.5 * step);
    if (!isfinite(x)) return SCREE_OK;
    if (!(x > up || x < down)) continue;
    return scree_scene_refuse(
        scene, map, log,
        "this motor has no limit of force and passes the stop of its joint at %g at t = %.3g s, "
        "which has no solution; expected a limit (`force`), or a motion between the stops",
        x > up ? def->upper : def->lower, time);
  }
  return SCREE_OK;
}

scree_Status scree_scene_build_joints(const scree_Scene *scene, scree_World *world,
                                      const scree_Log *log) {
  for (int k = 0; k < scene->joint_count; ++k) {
    const scree_SceneJoint *joint = &scene->joints[k];
    int index;
    scree_Status status = scree_world_add_joint(world, &joint->def, &index);
    if (status == SCREE_BAD_INPUT)
      return scree_scene_refuse(scene, joint->node, log, "this joint is refused");
    const double x = status ? 0 : scree_world_joint(world, index).x;
    if (!status) status = check_start(scene, joint, x, log);
    if (!status) status = check_motor(scene, joint, x, log);
    if (!status) status = check_stops(scene, joint, x, log);
    if (status != SCREE_OK) return status;
  }
  return SCREE_OK;
}
