/* The scene format: joints (see scene_schema.h and src/joint). */
#include "scene/schema_tables.h"

static const scree_Field motor[] = {{.key = "velocity",
                                     .type = SCREE_FIELD_SIGNALS,
                                     .flags = SCREE_FIELD_SCALAR,
                                     .unit = "m/s, rad/s",
                                     .min = -INFINITY,
                                     .max = INFINITY,
                                     .help = "rate of the free coordinate"},
                                    {.key = "position",
                                     .type = SCREE_FIELD_SIGNALS,
                                     .flags = SCREE_FIELD_SCALAR,
                                     .unit = "m, rad",
                                     .min = -INFINITY,
                                     .max = INFINITY,
                                     .help = "the free coordinate itself, instead of its rate"},
                                    REAL("force", 0, "N, N m", "0", 0, INFINITY,
                                         "largest force or torque of the motor; 0: unlimited"),
                                    END};

#define JOINT_FIELDS                                                                               \
  TEXT("name", 0, NULL, "name that sensors refer to"), {                                           \
    .key = "bodies", .type = SCREE_FIELD_TEXTS, .flags = REQUIRED, .max = 2,                       \
    .help = "names of the two bodies; one of them may be an obstacle, or \"world\""                \
  }
#define ANCHOR VECTOR("anchor", REQUIRED, "m", NULL, "point of both bodies, at the start")
#define AXIS(d)                                                                                    \
  {                                                                                                \
    .key = "axis", .type = SCREE_FIELD_VECTOR, .flags = REQUIRED, .min = -INFINITY,                \
    .max = INFINITY, .dimension = (d), .help = "direction, of any length"                          \
  }
#define COLLIDE BOOL("collide", "false", "whether the two bodies can touch each other")
#define COORDINATE(u, f, k, c)                                                                     \
  MAP("motor", 0, NULL, motor, "drives the free coordinate"),                                      \
      REAL("stiffness", 0, k, "0", 0, INFINITY, "of a spring on the free coordinate"),             \
      REAL("damping", 0, c, "0", 0, INFINITY, "of a damper on the free coordinate"),               \
      REAL("rest", 0, u, NULL, -INFINITY, INFINITY,                                                \
           "coordinate at which the spring has no force; default: that at the start"),             \
      REAL("friction", 0, f, "0", 0, INFINITY, "dry friction: force or torque that it resists"),   \
      REAL("lower", 0, u, NULL, -INFINITY, INFINITY, "stop of the coordinate; default: none"),     \
      REAL("upper", 0, u, NULL, -INFINITY, INFINITY, "stop of the coordinate; default: none"),     \
      REAL("restitution", 0, NULL, "0", 0, 1, "of the stops")

static const scree_Field joint_point[] = {JOINT_FIELDS, ANCHOR, COLLIDE, END};
static const scree_Field joint_axis[] = {JOINT_FIELDS, ANCHOR, AXIS(0), COLLIDE, END};
static const scree_Field joint_hinge[] = {
    JOINT_FIELDS, ANCHOR, AXIS(3), COORDINATE("rad", "N m", "N m/rad", "N m s/rad"), COLLIDE, END};
static const scree_Field joint_slider[] = {
    JOINT_FIELDS, ANCHOR, AXIS(0), COORDINATE("m", "N", "N/m", "N s/m"), COLLIDE, END};
static const scree_Field joint_universal[] = {
    JOINT_FIELDS,
    ANCHOR,
    VECTOR("axis", REQUIRED, NULL, NULL, "about which the first body turns"),
    VECTOR("axis2", REQUIRED, NULL, NULL, "about which the second turns, perpendicular to axis"),
    COLLIDE,
    END};
static const scree_Field joint_distance[] = {
    JOINT_FIELDS, VECTOR("from", REQUIRED, "m", NULL, "point of the first body, at the start"),
    VECTOR("to", REQUIRED, "m", NULL, "point of the second body"), COLLIDE, END};
static const scree_Field joint_spring[] = {
    JOINT_FIELDS,
    VECTOR("from", REQUIRED, "m", NULL, "point of the first body, at the start"),
    VECTOR("to", REQUIRED, "m", NULL, "point of the second body"),
    COORDINATE("m", "N", "N/m", "N s/m"),
    BOOL("collide", "true", "whether the two bodies can touch each other"),
    END};

#define STRENGTH(k, p, h) REAL(k, OPEN, "N, Pa", p, 0, INFINITY, h)
#define BREAK_AT                                                                                   \
  REAL("break_at", 0, "m", "0", 0, INFINITY,                                                       \
       "displacement under full load at which it breaks; 0: 1e-4 of the smaller body")
static const scree_Field joint_bond[] = {
    JOINT_FIELDS,
    ANCHOR,
    VECTOR("axis", REQUIRED, NULL, NULL,
           "normal of the section, from the second body to the first"),
    REAL("tension", OPEN, "N", NULL, 0, INFINITY, "strength; default: no limit"),
    REAL("shear", OPEN, "N", NULL, 0, INFINITY, "strength without load; with tension"),
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
    TEXT("name", 0, NULL, "name that sensors refer to"),
    {.key = "between",
     .type = SCREE_FIELD_TEXTS,
     .max = 2,
     .help = "two names or patterns (\"brick-*\") of bodies or obstacles; default: all bodies"},
    {.key = "materials",
     .type = SCREE_FIELD_TEXTS,
     .max = 2,
     .help = "only bodies of these two materials; default: of any"},
    REAL("gap", 0, NULL, "0.001", 0, 1,
         "widest gap that is bonded, over the size of the smaller body"),
    STRENGTH("tension", NULL, "strength; default: the bonds do not break"),
    STRENGTH("shear", NULL, "strength without load; default: as tension"),
    REAL("bending", OPEN, "N m, Pa", NULL, 0, INFINITY,
         "strength; default: that of a cement with this tension"),
    {.key = "torsion",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "N m, Pa",
     .min = 0,
     .max = INFINITY,
     .dimension = 3,
     .help = "strength; default: that of a cement with this shear"},
    BOOL("stress", "false",
         "strengths are stresses, times the area or section modulus of each bond"),
    REAL("width", OPEN, NULL, "1", 0, INFINITY,
         "of the section, over that of the common face or of the smaller body"),
    BREAK_AT,
    END};

const scree_Variant scree_schema_joints[] = {
    {"ball", 3, joint_point, "two points stay together"},
    {"hinge", 0, joint_hinge,
     "the bodies turn about an axis through the anchor; in 2D about the anchor. Its free "
     "coordinate is the angle of the first body against the second, 0 at the start"},
    {"slider", 0, joint_slider,
     "the bodies move along the axis and do not turn. Its free coordinate is the displacement "
     "of the first body along the axis, 0 at the start"},
    {"cylinder", 3, joint_axis, "the bodies move along the axis and turn about it"},
    {"universal", 3, joint_universal, "the anchor points stay together; two axes at right angles"},
    {"fixed", 0, joint_point, "no relative motion"},
    {"distance", 0, joint_distance, "two points keep their distance"},
    {"spring", 0, joint_spring,
     "spring, damper, stops or a motor between two points. Its free coordinate is their distance"},
    {"bond", 0, joint_bond,
     "no relative motion, up to a strength beyond which it breaks for good; see also `bonds`"},
    {0}};
