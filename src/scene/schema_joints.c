/* The scene format: joints (see scene_schema.h and src/joint). */
#include "scene/schema_tables.h"

static const scree_Field motor[] = {
    {.key = "velocity",
     .type = SCREE_FIELD_SIGNALS,
     .flags = SCREE_FIELD_SCALAR,
     .unit = "m/s, rad/s",
     .min = -INFINITY,
     .max = INFINITY,
     .help = "target rate of the free coordinate"},
    {.key = "position",
     .type = SCREE_FIELD_SIGNALS,
     .flags = SCREE_FIELD_SCALAR,
     .unit = "m, rad",
     .min = -INFINITY,
     .max = INFINITY,
     .help = "target value of the free coordinate, instead of its rate"},
    REAL("force", 0, "N, N m", "0", 0, INFINITY,
         "largest force or torque of the motor; 0: no limit"),
    END};

#define JOINT_FIELDS                                                                               \
  TEXT("name", 0, NULL, "name by which sensors refer to it"), {                                    \
    .key = "bodies", .type = SCREE_FIELD_TEXTS, .flags = REQUIRED, .max = 2,                       \
    .help = "names of the two bodies; one of them may be an obstacle or \"world\""                 \
  }
#define ANCHOR VECTOR("anchor", REQUIRED, "m", NULL, "position of the anchor point at the start")
#define AXIS(d)                                                                                    \
  {                                                                                                \
    .key = "axis", .type = SCREE_FIELD_VECTOR, .flags = REQUIRED, .min = -INFINITY,                \
    .max = INFINITY, .dimension = (d), .help = "direction of the axis, of any length"              \
  }
#define COLLIDE BOOL("collide", "false", "whether the two bodies can touch each other")
#define COORDINATE(u, f, k, c)                                                                     \
  MAP("motor", 0, NULL, motor, "motor on the free coordinate"),                                    \
      REAL("stiffness", 0, k, "0", 0, INFINITY, "stiffness of a spring on the free coordinate"),   \
      REAL("damping", 0, c, "0", 0, INFINITY, "coefficient of a damper on the free coordinate"),   \
      REAL("rest", 0, u, NULL, -INFINITY, INFINITY,                                                \
           "value of the free coordinate at which the spring has no force; default: the value at " \
           "the start"),                                                                           \
      REAL("friction", 0, f, "0", 0, INFINITY, "dry friction: largest friction force or torque"),  \
      REAL("lower", 0, u, NULL, -INFINITY, INFINITY,                                               \
           "limit of the free coordinate (stop); default: none"),                                  \
      REAL("upper", 0, u, NULL, -INFINITY, INFINITY,                                               \
           "limit of the free coordinate (stop); default: none"),                                  \
      REAL("restitution", 0, NULL, "0", 0, 1, "coefficient of restitution of the stops")

static const scree_Field joint_point[] = {JOINT_FIELDS, ANCHOR, COLLIDE, END};
static const scree_Field joint_axis[] = {JOINT_FIELDS, ANCHOR, AXIS(0), COLLIDE, END};
static const scree_Field joint_hinge[] = {
    JOINT_FIELDS, ANCHOR, AXIS(3), COORDINATE("rad", "N m", "N m/rad", "N m s/rad"), COLLIDE, END};
static const scree_Field joint_slider[] = {
    JOINT_FIELDS, ANCHOR, AXIS(0), COORDINATE("m", "N", "N/m", "N s/m"), COLLIDE, END};
static const scree_Field joint_universal[] = {
    JOINT_FIELDS,
    ANCHOR,
    VECTOR("axis", REQUIRED, NULL, NULL, "axis about which the first body rotates"),
    VECTOR("axis2", REQUIRED, NULL, NULL,
           "axis about which the second body rotates, perpendicular to `axis`"),
    COLLIDE,
    END};
static const scree_Field joint_distance[] = {
    JOINT_FIELDS, VECTOR("from", REQUIRED, "m", NULL, "point of the first body, at the start"),
    VECTOR("to", REQUIRED, "m", NULL, "point of the second body, at the start"), COLLIDE, END};
static const scree_Field joint_spring[] = {
    JOINT_FIELDS,
    VECTOR("from", REQUIRED, "m", NULL, "point of the first body, at the start"),
    VECTOR("to", REQUIRED, "m", NULL, "point of the second body, at the start"),
    COORDINATE("m", "N", "N/m", "N s/m"),
    BOOL("collide", "true", "whether the two bodies can touch each other"),
    END};

#define STRENGTH(k, p, h) REAL(k, OPEN, "N, Pa", p, 0, INFINITY, h)
#define BREAK_AT                                                                                   \
  REAL("break_at", 0, "m", "0", 0, INFINITY,                                                       \
       "displacement under full load at which the bond breaks; 0: 1e-4 of the size of the "        \
       "smaller body")
static const scree_Field joint_bond[] = {
    JOINT_FIELDS,
    ANCHOR,
    VECTOR("axis", REQUIRED, NULL, NULL,
           "normal of the section, from the second body to the first"),
    REAL("tension", OPEN, "N", NULL, 0, INFINITY, "strength; default: no limit"),
    REAL("shear", OPEN, "N", NULL, 0, INFINITY,
         "shear strength at zero normal force; to be given together with `tension`"),
    REAL("bending", OPEN, "N m", NULL, 0, INFINITY, "strength; default: no limit"),
    {.key = "torsion",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "N m",
     .min = 0,
     .max = INFINITY,
     .dimension = 3,
     .help = "strength; default: no limit"},
    BREAK_AT,
    COLLIDE,
    END};

const scree_Field scree_schema_bond[] = {
    TEXT("name", 0, NULL, "name by which sensors refer to it"),
    {.key = "between",
     .type = SCREE_FIELD_TEXTS,
     .max = 2,
     .help = "names or patterns (\"brick-*\") of the two groups of bodies or obstacles; default: "
             "all bodies"},
    {.key = "materials",
     .type = SCREE_FIELD_TEXTS,
     .max = 2,
     .help = "only pairs of bodies of these two materials; default: any"},
    REAL("gap", 0, NULL, "0.001", 0, 1,
         "largest gap that is bonded, relative to the size of the smaller body"),
    STRENGTH("tension", NULL, "tensile strength; default: the bonds do not break"),
    STRENGTH("shear", NULL, "shear strength at zero normal force; default: `tension`"),
    REAL("bending", OPEN, "N m, Pa", NULL, 0, INFINITY,
         "bending strength; default: that of a cement with the strength `tension`"),
    {.key = "torsion",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "N m, Pa",
     .min = 0,
     .max = INFINITY,
     .dimension = 3,
     .help = "torsional strength; default: that of a cement with the strength `shear`"},
    BOOL("stress", "false",
         "whether the strengths are stresses, which are multiplied by the area or section modulus "
         "of each bond"),
    REAL("width", OPEN, NULL, "1", 0, INFINITY,
         "width of the section, relative to the width of the common face or of the smaller body"),
    BREAK_AT,
    END};

const scree_Variant scree_schema_joints[] = {
    {"ball", 3, joint_point, "the anchor points of both bodies coincide"},
    {"hinge", 0, joint_hinge,
     "the bodies rotate about an axis through the anchor, in 2D about the anchor. The free "
     "coordinate is the angle of the first body relative to the second, 0 at the start"},
    {"slider", 0, joint_slider,
     "the bodies move along the axis without relative rotation. The free coordinate is the "
     "displacement of the first body along the axis, 0 at the start"},
    {"cylinder", 3, joint_axis, "the bodies move along the axis and rotate about it"},
    {"universal", 3, joint_universal,
     "the anchor points coincide, and the bodies rotate about two perpendicular axes"},
    {"fixed", 0, joint_point, "no relative motion"},
    {"distance", 0, joint_distance, "the distance of two points is constant"},
    {"spring", 0, joint_spring,
     "spring, damper, stops or a motor between two points. The free coordinate is their distance"},
    {"bond", 0, joint_bond,
     "no relative motion up to a strength, above which the bond breaks permanently; see also "
     "`bonds`"},
    {0}};
