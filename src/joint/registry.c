/* The kinds of joints. A new one is an entry here and a scree_JointKind. */
#include "joint/joint.h"

#include <string.h>

enum { X = 1, Y = 2, Z = 4 };

const scree_JointClass scree_joint_registry[SCREE_JOINT_KINDS] = {
    [SCREE_JOINT_BALL] = {.name = "ball",
                          .summary = "two points stay together",
                          .exists = {false, true},
                          .translations = {0, X | Y | Z}},
    [SCREE_JOINT_HINGE] = {.name = "hinge",
                           .summary = "turns about an axis; in the plane a pin",
                           .exists = {true, true},
                           .translations = {X | Y, X | Y | Z},
                           .pairs = {0, 2},
                           .pair = {{0, 1}, {0, 2}},
                           .needs_axis = {false, true},
                           .coordinate = SCREE_COORDINATE_ANGLE},
    [SCREE_JOINT_SLIDER] = {.name = "slider",
                            .summary = "moves along an axis without turning",
                            .exists = {true, true},
                            .translations = {Y, Y | Z},
                            .pairs = {1, 3},
                            .pair = {{0, 1}, {0, 2}, {1, 2}},
                            .needs_axis = {true, true},
                            .coordinate = SCREE_COORDINATE_ALONG},
    [SCREE_JOINT_CYLINDER] = {.name = "cylinder",
                              .summary = "moves along an axis and turns about it",
                              .exists = {false, true},
                              .translations = {0, Y | Z},
                              .pairs = {0, 2},
                              .pair = {{0, 1}, {0, 2}},
                              .needs_axis = {false, true},
                              .coordinate = SCREE_COORDINATE_NONE},
    [SCREE_JOINT_UNIVERSAL] = {.name = "universal",
                               .summary = "turns about two axes at right angles",
                               .exists = {false, true},
                               .translations = {0, X | Y | Z},
                               .pairs = {0, 1},
                               .pair = {{0, 1}},
                               .needs_axis = {false, true},
                               .coordinate = SCREE_COORDINATE_NONE},
    [SCREE_JOINT_FIXED] = {.name = "fixed",
                           .summary = "no relative motion",
                           .exists = {true, true},
                           .translations = {X | Y, X | Y | Z},
                           .pairs = {1, 3},
                           .pair = {{0, 1}, {0, 2}, {1, 2}}},
    [SCREE_JOINT_DISTANCE] = {.name = "distance",
                              .summary = "two points keep their distance",
                              .exists = {true, true},
                              .distance = true},
    [SCREE_JOINT_SPRING] = {.name = "spring",
                            .summary = "spring, damper, stops or a motor between two points",
                            .exists = {true, true},
                            .coordinate = SCREE_COORDINATE_DISTANCE},
    /* rows: normal, tangents, then rotations: bending (1 in the plane, 2 in space), torsion */
    [SCREE_JOINT_BOND] = {.name = "bond",
                          .summary = "no relative motion, up to a strength at which it breaks",
                          .exists = {true, true},
                          .translations = {X | Y, X | Y | Z},
                          .pairs = {1, 3},
                          .pair = {{0, 1}, {0, 2}, {1, 2}},
                          .needs_axis = {true, true}},
};

static bool is_kind(scree_JointKind kind) {
  return (int)kind >= 0 && kind < SCREE_JOINT_KINDS;
}

const char *scree_joint_name(scree_JointKind kind) {
  return is_kind(kind) ? scree_joint_registry[kind].name : NULL;
}

const char *scree_joint_summary(scree_JointKind kind) {
  return is_kind(kind) ? scree_joint_registry[kind].summary : NULL;
}

scree_JointKind scree_joint_find(const char *name) {
  int kind = 0;
  while (kind < SCREE_JOINT_KINDS && strcmp(scree_joint_registry[kind].name, name) != 0) ++kind;
  return (scree_JointKind)kind;
}

bool scree_joint_exists(scree_JointKind kind, int dimension) {
  const bool known = is_kind(kind) && (dimension == 2 || dimension == 3);
  return known && scree_joint_registry[kind].exists[dimension - 2];
}

bool scree_joint_has_coordinate(scree_JointKind kind) {
  return is_kind(kind) && scree_joint_registry[kind].coordinate != SCREE_COORDINATE_NONE;
}
