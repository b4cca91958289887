/* Joints of a world (see scree/world.h). */
#include "core/log.h"
#include "world/world.h"

#include <math.h>

scree_Status scree_world_add_joint(scree_World *world, const scree_JointDef *def, int *joint) {
  const scree_Status status = scree_joints_add(&world->system, def);
  if (status) return status;
  world->system.energy_known = false; /* a spring may be stretched */
  if (joint) *joint = world->system.joints.count - 1;
  return SCREE_OK;
}

int scree_world_joint_count(const scree_World *world) {
  return world->system.joints.count;
}

static scree_Status check_joint(const scree_World *world, int joint) {
  if (joint >= 0 && joint < world->system.joints.count) return SCREE_OK;
  return scree_fail(&world->log, SCREE_BAD_INPUT, "joint %d, expected 0 to %d", joint,
                    world->system.joints.count - 1);
}

scree_JointState scree_world_joint(const scree_World *world, int joint) {
  if (check_joint(world, joint))
    return (scree_JointState){.position = {NAN, NAN, NAN},
                              .x = NAN,
                              .velocity = NAN,
                              .force = {NAN, NAN, NAN},
                              .torque = {NAN, NAN, NAN},
                              .effort = NAN,
                              .error = NAN};
  return scree_joints_state(&world->system, joint, world->last_h);
}

scree_JointState scree_joint_of_all(const scree_World *world, int joint) {
  scree_JointState state = scree_world_joint(world, joint);
  const bool here = scree_joint_is_here(&world->system.joints, joint);
  double sums[] = {state.force.x,  state.force.y,  state.force.z, state.torque.x,
                   state.torque.y, state.torque.z, state.x,       state.effort};
  enum { N = sizeof sums / sizeof *sums };
  for (int k = 0; k < N && !here; ++k) sums[k] = 0;
  scree_ranks_sums(scree_world_ranks(world), sums, N);
  state.force = scree_vec3(sums[0], sums[1], sums[2]);
  state.torque = scree_vec3(sums[3], sums[4], sums[5]);
  state.x = sums[6];
  state.effort = sums[7];
  return state;
}

const scree_JointDef *scree_world_joint_def(const scree_World *world, int joint) {
  return check_joint(world, joint) ? NULL : &world->system.joints.joint[joint].def;
}

scree_Status scree_world_set_motor(scree_World *world, int joint, const scree_Motor *motor) {
  const scree_Status status = check_joint(world, joint);
  if (status) return status;
  scree_JointDef *def = &world->system.joints.joint[joint].def;
  if (motor->kind != SCREE_MOTOR_NONE && !scree_joint_has_coordinate(def->kind))
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "joint %d: a motor for a %s, expected a hinge, slider or spring", joint,
                      scree_joint_name(def->kind));
  if (!(motor->force >= 0) || !(isfinite(motor->target) || motor->function))
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "joint %d: a motor with target %g and force %g, expected a number and >= 0",
                      joint, motor->target, motor->force);
  def->motor = *motor;
  return SCREE_OK;
}
