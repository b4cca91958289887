/* Joints of a frame for its scene (see frame_export_joints.h). */
#include "run/frame_export_joints.h"

#include "core/log.h"
#include "math/vec3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static scree_Vec3 at(const double *x) {
  return scree_vec3(x[0], x[1], x[2]);
}

static scree_Quat turn_of(const scree_ReplayFrame *frame, int body) {
  const double *q = frame->orientation + 4 * (size_t)body;
  return (scree_Quat){q[0], q[1], q[2], q[3]};
}

/* A point or direction of a body at the start, where it is now; of the world (-1) it stays. */
static scree_Vec3 carry(const scree_JointExport *out, int body, scree_Vec3 x, bool point) {
  if (body < 0) return x;
  const scree_Vec3 from = at(out->first->position + 3 * (size_t)body);
  const scree_Vec3 to = at(out->now->position + 3 * (size_t)body);
  const scree_Quat before = turn_of(out->first, body), after = turn_of(out->now, body);
  const scree_Quat back = {before.w, -before.x, -before.y, -before.z};
  const scree_Vec3 own = scree_quat_rotate(back, point ? scree_sub(x, from) : x);
  const scree_Vec3 turned = scree_quat_rotate(after, own);
  return point ? scree_add(turned, to) : turned;
}

static scree_Node *vector_node(const scree_JointExport *out, scree_Vec3 x) {
  const double values[3] = {x.x, x.y, x.z};
  scree_Node *list = scree_tree_node(out->tree, SCREE_NODE_LIST, 0, 0);
  for (int k = 0; k < out->replay->dimension; ++k)
    scree_tree_add(out->tree, list, NULL, scree_tree_number(out->tree, values[k], 0, 0));
  return list;
}

static scree_Vec3 read_vector(const scree_Node *node) {
  double x[3] = {0, 0, 0};
  for (int k = 0; k < node->count && k < 3; ++k) {
    const scree_Node *entry = node->entries[k].value;
    x[k] = strtod(entry->text, NULL);
  }
  return at(x);
}

/* A number, or the expression "(text) - shift". */
static scree_Node *shifted(const scree_JointExport *out, const scree_Node *node, double shift) {
  char *end;
  const double value = strtod(node->text, &end);
  if (end != node->text && *end == '\0') return scree_tree_number(out->tree, value - shift, 0, 0);
  char text[512];
  if (snprintf(text, sizeof text, "(%s) - (%.17g)", node->text, shift) >= (int)sizeof text)
    return NULL;
  return scree_tree_scalar(out->tree, text, 0, 0);
}

/* The position of a motor: an expression, or a table. */
static scree_Node *shift_signal(const scree_JointExport *out, const scree_Node *given,
                                double shift) {
  if (given->kind == SCREE_NODE_SCALAR) return shifted(out, given, shift);
  scree_Node *map = scree_tree_node(out->tree, SCREE_NODE_MAP, 0, 0);
  for (int k = 0; k < given->count; ++k) {
    scree_Node *value = given->entries[k].value;
    if (strcmp(given->entries[k].key, "values") == 0) {
      scree_Node *list = scree_tree_node(out->tree, SCREE_NODE_LIST, 0, 0);
      for (int i = 0; i < value->count; ++i)
        scree_tree_add(out->tree, list, NULL, shifted(out, value->entries[i].value, shift));
      value = list;
    }
    scree_tree_add(out->tree, map, given->entries[k].key, value);
  }
  return map;
}

static scree_Node *shift_motor(const scree_JointExport *out, const scree_Node *given,
                               double shift) {
  scree_Node *map = scree_tree_node(out->tree, SCREE_NODE_MAP, 0, 0);
  for (int k = 0; k < given->count; ++k) {
    const scree_NodeEntry *entry = &given->entries[k];
    scree_tree_add(out->tree, map, entry->key,
                   strcmp(entry->key, "position") == 0 ? shift_signal(out, entry->value, shift)
                                                       : entry->value);
  }
  return map;
}

/* Joint k of the run, of which `given` is the map. */
static scree_Node *joint_node(const scree_JointExport *out, const scree_Node *given, int k) {
  const scree_ReplayJoint *joint = &out->now->joint[k];
  const int own = joint->body[0] >= 0 ? joint->body[0] : joint->body[1];
  const bool counts = joint->kind == SCREE_JOINT_HINGE || joint->kind == SCREE_JOINT_SLIDER;
  bool rests = false;
  scree_Node *map = scree_tree_node(out->tree, SCREE_NODE_MAP, 0, 0);
  for (int e = 0; e < given->count; ++e) {
    const char *key = given->entries[e].key;
    scree_Node *value = given->entries[e].value;
    const bool first = strcmp(key, "from") == 0;
    if (strcmp(key, "anchor") == 0)
      value = vector_node(out, carry(out, own, read_vector(value), true));
    else if (first || strcmp(key, "to") == 0)
      value = vector_node(out, carry(out, joint->body[first ? 0 : 1], read_vector(value), true));
    else if (strcmp(key, "axis") == 0)
      value = vector_node(out, carry(out, own, read_vector(value), false));
    else if (strcmp(key, "axis2") == 0)
      value = vector_node(out, carry(out, joint->body[1], read_vector(value), false));
    else if (counts && strcmp(key, "motor") == 0)
      value = shift_motor(out, value, joint->x);
    else if (counts &&
             (strcmp(key, "lower") == 0 || strcmp(key, "upper") == 0 || strcmp(key, "rest") == 0))
      value = shifted(out, value, joint->x);
    rests = rests || strcmp(key, "rest") == 0;
    scree_tree_add(out->tree, map, key, value);
  }
  /* by default a spring rests where the joint was at the start of the run: at 0, or at the distance
   * of its points */
  const scree_Node *stiffness = scree_node_find(given, "stiffness");
  if (!rests && stiffness && strtod(stiffness->text, NULL) > 0) {
    double rest = -joint->x;
    if (!counts)
      rest = scree_norm(scree_sub(read_vector(scree_node_find(given, "from")),
                                  read_vector(scree_node_find(given, "to"))));
    scree_tree_add(out->tree, map, "rest", scree_tree_number(out->tree, rest, 0, 0));
  }
  return map;
}

static bool is_gone(const scree_JointExport *out, int k) {
  const scree_ReplayJoint *joint = &out->now->joint[k];
  if (joint->status != SCREE_JOINT_HOLDS) return true;
  for (int side = 0; side < 2; ++side)
    if (joint->body[side] >= 0 && !out->now->present[joint->body[side]]) return true;
  return false;
}

scree_Status scree_export_joints(const scree_JointExport *out, const scree_Node *joints,
                                 scree_Node *list) {
  const int typed = joints ? joints->count : 0;
  if (typed > out->now->joints)
    return scree_fail(out->replay->log, SCREE_BAD_INPUT,
                      "%s: the scene of the run has %d joints, its frames have %d", out->path,
                      typed, out->now->joints);
  for (int k = 0; k < out->now->joints; ++k) {
    if (k >= typed && out->now->joint[k].kind == SCREE_JOINT_BOND && is_gone(out, k))
      return scree_fail(
          out->replay->log, SCREE_BAD_INPUT,
          "%s: a bond of `bonds` is broken in this frame, and the scene would make it "
          "again: choose an earlier frame, or continue the run with --resume --until",
          out->path);
    if (k < typed && !is_gone(out, k))
      scree_tree_add(out->tree, list, NULL, joint_node(out, joints->entries[k].value, k));
  }
  return SCREE_OK;
}
