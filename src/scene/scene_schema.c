/* The tables of the scene format (see scene_schema.h). Units are SI; angles are radians. All keys
 * are in this one file, though it is long: it is data without code, and is read as a whole. */
#include "scene/scene_schema.h"
#include "scene/sensors.h"

#include "scree/solver.h"
#include "scree/world.h"

#include <math.h>

#define REQUIRED  SCREE_FIELD_REQUIRED
#define AUTO      SCREE_FIELD_AUTO
#define OPEN      SCREE_FIELD_OPEN
#define AXIAL     SCREE_FIELD_AXIAL
#define BROADCAST SCREE_FIELD_BROADCAST

#define END                                                                                        \
  { 0 }

/* clang-format off */
#define REAL(k, fl, u, p, lo, hi, h) {.key = k, .type = SCREE_FIELD_REAL, .flags = (fl), .unit = u, .preset = p, .min = (lo), .max = (hi), .help = h}
#define INT(k, fl, p, lo, hi, h) {.key = k, .type = SCREE_FIELD_INT, .flags = (fl), .preset = p, .min = (lo), .max = (hi), .help = h}
#define BOOL(k, p, h) {.key = k, .type = SCREE_FIELD_BOOL, .preset = p, .help = h}
#define TEXT(k, fl, p, h) {.key = k, .type = SCREE_FIELD_TEXT, .flags = (fl), .preset = p, .help = h}
#define CHOICE(k, p, w, h) {.key = k, .type = SCREE_FIELD_CHOICE, .preset = p, .words = w, .help = h}
#define REGISTRY(k, fl, p, r, h) {.key = k, .type = SCREE_FIELD_CHOICE, .flags = (fl), .preset = p, .registry = r, .help = h}
#define VECTOR(k, fl, u, p, h) {.key = k, .type = SCREE_FIELD_VECTOR, .flags = (fl), .unit = u, .preset = p, .min = -INFINITY, .max = INFINITY, .help = h}
#define POSITIVES(k, fl, u, p, h) {.key = k, .type = SCREE_FIELD_VECTOR, .flags = (fl) | OPEN, .unit = u, .preset = p, .min = 0, .max = INFINITY, .help = h}
#define SIGNALS(k, fl, u, p, h) {.key = k, .type = SCREE_FIELD_SIGNALS, .flags = (fl), .unit = u, .preset = p, .min = -INFINITY, .max = INFINITY, .help = h}
#define INTS(k, p, lo, hi, h) {.key = k, .type = SCREE_FIELD_INTS, .preset = p, .min = (lo), .max = (hi), .help = h}
#define MAP(k, fl, p, f, h) {.key = k, .type = SCREE_FIELD_MAP, .flags = (fl), .preset = p, .fields = f, .help = h}
#define LIST(k, f, h) {.key = k, .type = SCREE_FIELD_LIST, .preset = "[]", .fields = f, .help = h}
#define LAW(p, h) {.key = "law", .type = SCREE_FIELD_LAW, .preset = p, .registry = scree_law_name, .help = h}
#define SHAPE(h) {.key = "shape", .type = SCREE_FIELD_SHAPE, .flags = REQUIRED, .help = h}
/* clang-format on */

/* ---- names of registries --------------------------------------------------------------------- */

static const char *solver_name(int index) {
  const scree_SolverClass *class_ = scree_solver_class(index);
  return class_ ? scree_solver_class_name(class_) : NULL;
}

static const char *measure_name(int index) {
  return scree_measure_name((scree_Measure)index);
}

static const char *flow_name(int index) {
  return scree_flow_name((scree_Flow)index);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static const scree_Field rotation[] = {
    VECTOR("axis", 0, NULL, NULL, "axis of a rotation by `angle`"),
    REAL("angle", 0, "rad", NULL, -INFINITY, INFINITY, "angle of the rotation about `axis`"),
    {.key = "quaternion",
     .type = SCREE_FIELD_REALS,
     .max = 4,
     .help = "[w, x, y, z], made a unit one"},
    VECTOR("euler", 0, "rad", NULL, "rotations about the fixed x, then y, then z axis"),
    END};

static const scree_Field law[] = {
    LAW("coulomb", "the contact law; its parameters are keys beside it (see Laws)"), END};

static const scree_Field pair[] = {
    {.key = "between",
     .type = SCREE_FIELD_TEXTS,
     .flags = REQUIRED,
     .max = 2,
     .help = "names of the two materials, possibly the same"},
    LAW(NULL, "the contact law; it and the parameters beside it are by default as in `contact`"),
    END};

static const char *model_name(int index) {
  return scree_elastic_model(index, NULL);
}

static const scree_Field material[] = {
    REAL("density", OPEN, "kg/m3, kg/m2 in 2D", "1000", 0, INFINITY, "mass per volume"),
    REAL("young", OPEN, "Pa, N/m in 2D", NULL, 0, INFINITY,
         "Young's modulus of deformable bodies (`kind`)"),
    /* without presets: materials of rigid bodies do not have these keys */
    REAL("poisson", OPEN, NULL, NULL, -1, 0.5,
         "Poisson's ratio of deformable bodies; default: 0.25"),
    REAL("damping", 0, "s", NULL, 0, INFINITY,
         "of deformable bodies: viscous stress over the rate of elastic stress; default: 0"),
    REAL("damping_mass", 0, "1/s", NULL, 0, INFINITY,
         "of finite elements: forces over mass times velocity, as of a resting fluid; default: 0"),
    REGISTRY(
        "model", 0, NULL, model_name,
        "elastic law of finite elements: st-venant-kirchhoff (default), or neo-hookean for large "
        "strains"),
    TEXT("colour", 0, NULL, "colour in pictures, as in web pages: \"#c08040\""), END};

#define PLACE_FIELDS                                                                               \
  VECTOR("position", 0, "m", "0", "of the shape's origin (shapes: see below)"),                    \
      {.key = "angle",                                                                             \
       .type = SCREE_FIELD_REAL,                                                                   \
       .unit = "rad",                                                                              \
       .preset = "0",                                                                              \
       .min = -INFINITY,                                                                           \
       .max = INFINITY,                                                                            \
       .dimension = 2,                                                                             \
       .help = "rotation, counter-clockwise"},                                                     \
      {.key = "rotation",                                                                          \
       .type = SCREE_FIELD_MAP,                                                                    \
       .fields = rotation,                                                                         \
       .dimension = 3,                                                                             \
       .help = "axis and angle, or quaternion, or euler; default: none"},                          \
      VECTOR("from", 0, "m", NULL,                                                                 \
             "segment, capsule, cylinder: one end of the axis, in place of half_length, position " \
             "and "                                                                                \
             "rotation"),                                                                          \
      VECTOR("to", 0, "m", NULL, "the other end")

const scree_Field scree_scene_part_fields[] = {
    SHAPE("its shape"),
    VECTOR("position", 0, "m", "0", "of the origin of its shape"),
    {.key = "angle",
     .type = SCREE_FIELD_REAL,
     .unit = "rad",
     .preset = "0",
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 2,
     .help = "rotation, counter-clockwise"},
    {.key = "rotation",
     .type = SCREE_FIELD_MAP,
     .fields = rotation,
     .dimension = 3,
     .help = "axis and angle, or quaternion, or euler; default: none"},
    END};

#define MATTER_FIELDS                                                                              \
  TEXT("material", AUTO, "auto", "a name of `materials`; auto: the first of them"),                \
      INT("group", 0, "0", 0, 4294967295.0,                                                        \
          "bodies of the same group other than 0 do not touch each other")

#define OWN_DENSITY                                                                                \
  REAL("density", OPEN, "kg/m3, kg/m2 in 2D", NULL, 0, INFINITY, "in place of the material's")

static const char *kind_name(int index) {
  return scree_body_kind_name((scree_BodyKind)index);
}

static const char *const integrations[] = {"implicit", "explicit", NULL};
static const char *const mass_matrices[] = {"lumped", "consistent", NULL};

/* `key` is `kind` where that is not the kind of a generator. */
#define KIND_FIELDS(key)                                                                           \
  REGISTRY(key, 0, "rigid", kind_name,                                                             \
           "rigid; pseudo-rigid: it deforms by an affine map (disk, ellipse, sphere, ellipsoid), " \
           "its material needs `young`; elements: finite elements (shape elements), likewise"),    \
      CHOICE("integration", "implicit", integrations,                                              \
             "of deformable bodies: linearly implicit, stable for all steps, or explicit, for "    \
             "short ones"),                                                                        \
      CHOICE("mass_matrix", "lumped", mass_matrices,                                               \
             "of finite elements: masses at the nodes, or between the nodes of an element too"),   \
      BOOL("keep_shape", "false",                                                                  \
           "pseudo-rigid: contacts see the undeformed shape, which turns with the body")

static const scree_Field body[] = {
    TEXT("name", 0, NULL, "name that forces, sensors and stop conditions refer to"),
    SHAPE("its shape"),
    PLACE_FIELDS,
    VECTOR("velocity", 0, "m/s", "0", "at the start"),
    VECTOR("angular_velocity", AXIAL, "rad/s", "0", "at the start; one number in 2D"),
    MATTER_FIELDS,
    KIND_FIELDS("kind"),
    OWN_DENSITY,
    REAL("mass", OPEN, "kg", NULL, 0, INFINITY, "in place of density times volume"),
    POSITIVES("inertia", AXIAL, "kg m2", NULL,
              "principal moments, in place of the shape's own; one number in 2D"),
    END};

#define LOAD(k, u, h)                                                                              \
  {                                                                                                \
    .key = k, .type = SCREE_FIELD_SIGNALS, .flags = SCREE_FIELD_SCALAR, .unit = u,                 \
    .min = -INFINITY, .max = INFINITY, .help = h                                                   \
  }

static const scree_Field plate[] = {
    TEXT("name", REQUIRED, NULL, "of its body and of its slider joint, for sensors"),
    VECTOR("point", REQUIRED, "m", NULL, "middle of the face that presses, at the start"),
    VECTOR("normal", REQUIRED, NULL, NULL, "direction in which it presses and slides"),
    REAL("length", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "of the face"),
    {.key = "width",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "m",
     .max = INFINITY,
     .dimension = 3,
     .help = "of the face, across its length; default: the length"},
    {.key = "along",
     .type = SCREE_FIELD_VECTOR,
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 3,
     .help = "direction of the length; default: x, or y if the normal is along x"},
    REAL("thickness", OPEN, "m", NULL, 0, INFINITY, "behind the face; default: 0.1 of the length"),
    LOAD("pressure", "Pa, N/m in 2D", "on the face, pushing along the normal"),
    LOAD("force", "N", "along the normal, in place of a pressure"),
    LOAD("velocity", "m/s", "along the normal, in place of a load: the plate is moved"),
    REAL("velocity_from", 0, "s", NULL, 0, INFINITY,
         "time from which the velocity is imposed; until then the pressure or force acts"),
    {.key = "between",
     .type = SCREE_FIELD_TEXTS,
     .max = 2,
     .help =
         "pressure: names of a plate, and of the plate or obstacle that it faces; the length of "
         "the loaded area is the distance of their faces, as they move; default: `length`"},
    {.key = "between2",
     .type = SCREE_FIELD_TEXTS,
     .max = 2,
     .dimension = 3,
     .help = "the same for the width of the loaded area"},
    REAL("damping", 0, "N s/m", "0", 0, INFINITY, "of a damper on its motion"),
    REAL("lower", 0, "m", NULL, -INFINITY, INFINITY, "stop of its way; default: none"),
    REAL("upper", 0, "m", NULL, -INFINITY, INFINITY, "stop of its way; default: none"),
    BOOL("weight", "false", "whether gravity acts on it"),
    TEXT("material", AUTO, "auto", "a name of `materials`; auto: the first of them"),
    INT("group", 0, "999", 0, 4294967295.0,
        "bodies of the same group other than 0 do not touch each other: by default, plates do not; "
        "give it to obstacles that plates cross, too"),
    OWN_DENSITY,
    REAL("mass", OPEN, "kg", NULL, 0, INFINITY, "in place of density times volume"),
    END};

static const scree_Field obstacle[] = {
    TEXT("name", 0, NULL, "for sensors"),
    SHAPE("shape of the obstacle, possibly unbounded"),
    PLACE_FIELDS,
    VECTOR("normal", 0, NULL, NULL,
           "half-plane, half-space, rectangle: outward normal, in place of the rotation"),
    SIGNALS("velocity", 0, "m/s", "0", "prescribed velocity"),
    SIGNALS("angular_velocity", AXIAL, "rad/s", "0",
            "prescribed angular velocity, about its origin"),
    BOOL("belt", "false", "the surface moves with these velocities, the shape stays where it is"),
    MATTER_FIELDS,
    END};

static const scree_Field force[] = {
    TEXT("body", 0, "all", "name of a body, a pattern (\"grain-*\"), or all"),
    SIGNALS("force", 0, "N", NULL, "acts at the centre of mass"),
    SIGNALS("torque", AXIAL, "N m", NULL, "one number in 2D"),
    SIGNALS("acceleration", 0, "m/s2", NULL, "a force in proportion to the mass, like gravity"),
    END};

/* ---- joints ---------------------------------------------------------------------------------- */

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

static const scree_Variant joints[] = {
    {"ball", 3, joint_point, "two points stay together"},
    {"hinge", 0, joint_hinge,
     "the bodies turn about an axis through the anchor; in 2D about the anchor. Its free "
     "coordinate is the angle of the first body against the second, 0 at the start"},
    {"slider", 0, joint_slider,
     "the bodies move along the axis and do not turn. Its free coordinate is the way of the first "
     "body along the axis, 0 at the start"},
    {"cylinder", 3, joint_axis, "the bodies move along the axis and turn about it"},
    {"universal", 3, joint_universal, "the anchor points stay together; two axes at right angles"},
    {"fixed", 0, joint_point, "no relative motion"},
    {"distance", 0, joint_distance, "two points keep their distance"},
    {"spring", 0, joint_spring,
     "spring, damper, stops or a motor between two points. Its free coordinate is their distance"},
    {0}};

/* ---- generators ------------------------------------------------------------------------------ */

static const char *const distributions[] = {"constant", "uniform", "normal", "power",
                                            "mixture",  "sieve",   NULL};
static const char *const shares[] = {"auto", "mass", "number", NULL};
static const char *const turns[] = {"random", "fixed", NULL};
static const char *const arrangements[] = {"square", "hexagonal", NULL};

static const scree_Field scale[] = {
    CHOICE("distribution", "uniform", distributions,
           "constant (1), uniform, normal (cut to min..max), power (density ~ scale^-exponent), "
           "mixture (some sizes), sieve (a curve)"),
    REAL("min", OPEN, NULL, "1", 0, INFINITY, "smallest scale"),
    REAL("max", OPEN, NULL, "1", 0, INFINITY, "largest scale"),
    REAL("mean", OPEN, NULL, "1", 0, INFINITY, "normal: mean"),
    REAL("deviation", OPEN, NULL, "0.1", 0, INFINITY, "normal: standard deviation"),
    REAL("exponent", 0, NULL, "3", -20, 20, "power: exponent"),
    {.key = "sizes",
     .type = SCREE_FIELD_REALS,
     .help = "mixture: the scales; sieve: scales in ascending order, at most 32"},
    {.key = "shares",
     .type = SCREE_FIELD_REALS,
     .help =
         "mixture: the share of each size; sieve: the share that passes each size, from 0 to 1, "
         "linear in between"},
    CHOICE(
        "by", "auto", shares,
        "whether the distribution is one of the mass or of the number of bodies; auto: of the mass "
        "for mixture and sieve, else of the number"),
    END};

#define GENERATED_NAME                                                                             \
  TEXT("name", 0, NULL, "name of each body, with {i} for its number from 0: \"grain-{i}\"")

#define GRAIN_FIELDS                                                                               \
  SHAPE("of each body, before scaling"),                                                           \
      MAP("scale", 0, "{}", scale, "random factor on the size of each body"),                      \
      CHOICE("orientation", "random", turns, "random, or as the shape is defined"),                \
      VECTOR("velocity", 0, "m/s", "0", "of each body at its start"),                              \
      VECTOR("angular_velocity", AXIAL, "rad/s", "0", "of each body at its start"), MATTER_FIELDS, \
      KIND_FIELDS("body_kind"), OWN_DENSITY

static const scree_Field region_box[] = {
    VECTOR("lower", REQUIRED, "m", NULL, "corner with the smallest coordinates"),
    VECTOR("upper", REQUIRED, "m", NULL, "corner with the largest coordinates"), END};

static const scree_Field region_drum[] = {
    VECTOR("centre", 0, "m", "0", "centre"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "radius"),
    {.key = "half_length",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "m",
     .preset = "1",
     .max = INFINITY,
     .dimension = 3,
     .help = "half the length along the axis"},
    {.key = "axis",
     .type = SCREE_FIELD_VECTOR,
     .preset = "auto",
     .flags = AUTO,
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 3,
     .help = "direction of the axis; auto: y"},
    END};

static const scree_Field region_hopper[] = {
    VECTOR("outlet", 0, "m", "0", "middle of the outlet"),
    REAL("outlet_width", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "width of the outlet, along x"),
    REAL("top_width", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "width at the top, along x"),
    REAL("height", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "from the outlet to the top"),
    {.key = "length",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "m",
     .preset = "1",
     .max = INFINITY,
     .dimension = 3,
     .help = "length along y"},
    END};

static const scree_Variant regions[] = {
    {"box", 0, region_box, "a box along the axes"},
    {"drum", 0, region_drum, "inside of a circle or cylinder"},
    {"hopper", 0, region_hopper,
     "between two slopes that widen upwards, along y in 2D and along z in 3D"},
    {0}};

#define REGION(fl, h)                                                                              \
  { .key = "region", .type = SCREE_FIELD_VARIANT, .flags = (fl), .variants = regions, .help = h }

static const scree_Field lattice[] = {
    GENERATED_NAME,
    VECTOR("origin", 0, "m", "0", "centre of the first body"),
    INTS("count", NULL, 1, 1e7, "bodies along each axis"),
    POSITIVES("spacing", AUTO | BROADCAST, "m", "auto",
              "between centres; auto: as close as the largest body and the jitter allow"),
    CHOICE("arrangement", "square", arrangements, "rows above each other, or shifted by half"),
    REAL("jitter", 0, NULL, "0", 0, 0.49,
         "each centre is moved at random by up to this part of the smallest spacing"),
    REGION(0, "only bodies that lie inside are made"),
    GRAIN_FIELDS,
    END};

static const scree_Field fill[] = {
    GENERATED_NAME,
    REGION(REQUIRED, "region to fill, from the bottom up"),
    REAL("fraction", REQUIRED | OPEN, NULL, NULL, 0, 0.95,
         "volume of the bodies over the volume of the region (areas in 2D)"),
    REAL("jitter", 0, NULL, "0.02", 0, 0.4,
         "each centre is moved at random by up to this part of the spacing"),
    GRAIN_FIELDS,
    END};

static const scree_Field pack[] = {
    GENERATED_NAME, REGION(REQUIRED, "region to pack"),
    REAL("fraction", AUTO | OPEN, NULL, "auto", 0, 0.95,
         "volume of the bodies over the volume of the region (areas in 2D); auto: 0.6, in 2D 0.8"),
    GRAIN_FIELDS, END};

static const scree_Field pour[] = {
    REGION(REQUIRED, "region where bodies appear, when there is room"),
    INT("count", REQUIRED, NULL, 1, 1e7, "number of bodies"),
    REAL("rate", REQUIRED | OPEN, "1/s", NULL, 0, INFINITY, "bodies per second, at most"),
    REAL("start", 0, "s", "0", 0, INFINITY, "time of the first"),
    GRAIN_FIELDS,
    END};

static const scree_Field wall[] = {
    GENERATED_NAME,
    VECTOR("origin", 0, "m", "0", "lowest corner with the smallest coordinates"),
    POSITIVES("brick", REQUIRED, "m", NULL,
              "length, height of a brick in 2D; length along x, depth along y, height in 3D"),
    INT("courses", REQUIRED, NULL, 1, 100000, "layers of bricks"),
    INT("length", REQUIRED, NULL, 1, 100000, "bricks in a course"),
    REAL("joint", 0, "m", "0", 0, INFINITY, "gap between bricks of a course"),
    VECTOR("velocity", 0, "m/s", "0", "of each brick at its start"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field arch[] = {
    GENERATED_NAME,
    VECTOR("centre", 0, "m", "0", "centre of the circle"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "of the inner face"),
    REAL("thickness", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "from the inner to the outer face"),
    INT("blocks", REQUIRED, NULL, 2, 10000, "number of blocks"),
    REAL("embrace", OPEN, "rad", "pi", 0, 3.1415926535897936, "angle of the whole arch"),
    {.key = "depth",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "m",
     .preset = "1",
     .max = INFINITY,
     .dimension = 3,
     .help = "along y, centred"},
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field vault[] = {
    GENERATED_NAME,
    VECTOR("centre", 0, "m", "0", "middle of its axis, which is along y"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "of the inner face"),
    REAL("thickness", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "from the inner to the outer face"),
    INT("courses", REQUIRED, NULL, 2, 10000, "courses round the arc, odd: with a keystone course"),
    INT("length", REQUIRED, NULL, 1, 100000, "blocks in a course, along y"),
    REAL("depth", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "of a block along y"),
    REAL("embrace", OPEN, "rad", "pi", 0, 3.1415926535897936, "angle of the whole arc"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field dome[] = {
    GENERATED_NAME,
    VECTOR("centre", 0, "m", "0", "centre of the spheres"),
    REAL("radius", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "of the inner face, at its corners"),
    REAL("thickness", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "from the inner to the outer face"),
    INT("courses", REQUIRED, NULL, 1, 10000, "courses, one above the other"),
    INT("blocks", REQUIRED, NULL, 3, 10000, "blocks in each course"),
    REAL("base", OPEN, "rad", "pi/2", 0, 1.5707963267948968,
         "angle from the axis at which it begins"),
    REAL("opening", REQUIRED | OPEN, "rad", NULL, 0, 1.5707963267948968,
         "angle from the axis of the opening at the top"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Field from_csv[] = {
    TEXT("file", REQUIRED, NULL,
         "the table, relative to the folder of the scene; written out as an absolute path. Its "
         "header names the columns: x, y, z; qw, qx, qy, qz or angle; vx, vy, vz, wx, wy, wz; "
         "shape, scale and the parameters of shapes (radius, ...); material, density, mass; name"),
    {.key = "shape",
     .type = SCREE_FIELD_SHAPE,
     .help = "of rows without a shape of their own; columns replace its parameters"},
    VECTOR("velocity", 0, "m/s", "0", "of each body at its start, if the table has none"),
    VECTOR("angular_velocity", AXIAL, "rad/s", "0",
           "of each body at its start, if the table has none"),
    MATTER_FIELDS,
    OWN_DENSITY,
    END};

static const scree_Variant generators[] = {
    {"lattice", 0, lattice, "bodies on a lattice, possibly moved at random"},
    {"fill", 0, fill,
     "a box, drum or hopper filled from the bottom up, without overlap with other bodies"},
    {"pack", 0, pack,
     "a box, drum or hopper filled evenly and densely, in disorder, without overlap with other "
     "bodies: "
     "bodies at random places push each other apart. Spheres and disks reach about 0.6 and 0.8, "
     "less in regions of few diameters"},
    {"pour", 0, pour, "bodies that appear over time"},
    {"wall", 0, wall, "courses of bricks, each shifted by half a brick; half bricks at the ends"},
    {"arch", 0, arch, "wedge-shaped blocks round a half circle, or part of it"},
    {"vault", 3, vault, "a barrel vault: courses of wedges along y, each shifted by half a block"},
    {"dome", 3, dome, "courses of blocks between two spheres, with an opening at the top"},
    {"csv", 0, from_csv, "bodies from a table, one per row (`scree convert --csv` writes one)"},
    {0}};

/* ---- sensors --------------------------------------------------------------------------------- */

static const char *const sensor_forms[] = {"value", "rate", "integral", "mean", NULL};
#define SENSOR_NAME                                                                                \
  TEXT("name", REQUIRED, NULL, "its column of the telemetry is sensor.NAME"),                      \
      CHOICE("gives", "value", sensor_forms,                                                       \
             "the value, its rate of change, its integral over time, or its mean over time"),      \
      REAL("after", 0, "s", "0", 0, INFINITY, "integral, mean: time at which it begins")
#define SENSED_BODY                                                                                \
  TEXT("body", REQUIRED, NULL, "name of a body or obstacle, or its number in the results")

static const scree_Field sensed_body[] = {SENSOR_NAME, SENSED_BODY, END};

static const scree_Field sensed_force[] = {
    SENSOR_NAME,
    TEXT("body", REQUIRED, NULL,
         "name of a body or obstacle, a pattern (\"brick-*\") for the sum, or a number in the "
         "results"),
    END};

static const scree_Field sensed_distance[] = {SENSOR_NAME,
                                              {.key = "between",
                                               .type = SCREE_FIELD_TEXTS,
                                               .flags = REQUIRED,
                                               .max = 2,
                                               .help = "names or numbers of the two"},
                                              END};

static const scree_Field sensed_height[] = {
    SENSOR_NAME,
    REAL("fraction", OPEN, NULL, "1", 0, 1,
         "height below which this part of the bodies lies; 1: of the highest"),
    END};

static const scree_Field sensed_flux[] = {
    SENSOR_NAME, VECTOR("point", 0, "m", "0", "a point of the plane"),
    VECTOR("normal", REQUIRED, NULL, NULL,
           "mass that passes in this direction is positive, against it negative"),
    REAL("radius", OPEN, "m", NULL, 0, INFINITY,
         "only bodies that pass within this distance of the point; default: the whole plane"),
    END};

static const scree_Field sensed_energy[] = {
    SENSOR_NAME, TEXT("bodies", 0, "all", "a name or pattern (\"grain-*\"), or all"),
    TEXT("material", 0, "all", "only bodies of this material, or all"),
    INT("group", 0, NULL, 0, 4294967295.0, "only bodies of this group; default: of any"), END};

static const scree_Field sensed_joint[] = {SENSOR_NAME,
                                           TEXT("joint", REQUIRED, NULL, "name of a joint"), END};

static const scree_Field sensed_region[] = {SENSOR_NAME, REGION(REQUIRED, "where it looks"), END};

static const scree_Field sensed_profile[] = {
    SENSOR_NAME,
    REGION(REQUIRED, "where it looks"),
    VECTOR("along", REQUIRED, NULL, NULL, "direction along which the region is cut into slices"),
    VECTOR("component", REQUIRED, NULL, NULL, "direction of the velocity that is shown"),
    INT("bins", 0, "8", 1, SCREE_PROFILE_BINS_MAX,
        "number of slices of equal width; the columns are sensor.NAME.0, .1, ..."),
    END};

#define SENSED_GROUPS                                                                              \
  {                                                                                                \
    .key = "between", .type = SCREE_FIELD_TEXTS, .flags = REQUIRED, .max = 2,                      \
    .help = "two names, numbers, or patterns of groups of bodies (\"grain-*\")"                    \
  }
static const scree_Field sensed_between[] = {SENSOR_NAME, SENSED_GROUPS, END};
static const scree_Field sensed_torque[] = {
    SENSOR_NAME, SENSED_GROUPS, VECTOR("point", 0, "m", "0", "about which moments are taken"), END};
static const scree_Field sensed_stress[] = {
    SENSOR_NAME,
    VECTOR("lower", 0, "m", NULL, "corner of the region; default: the bounds of all bodies"),
    VECTOR("upper", 0, "m", NULL, "the opposite corner"), END};
static const scree_Field sensed_cell[] = {SENSOR_NAME, END};

static const scree_Variant sensors[] = {
    {"position", 0, sensed_body, "of a body's origin [m]"},
    {"velocity", 0, sensed_body, "of a body's origin [m/s]"},
    {"angular_velocity", 0, sensed_body, "of a body; one number in 2D [rad/s]"},
    {"force", 0, sensed_force,
     "of all contacts on a body or obstacle: their impulses over the time step [N]"},
    {"distance", 0, sensed_distance, "between two bodies' origins [m]"},
    {"height", 0, sensed_height, "of the bodies' origins, against gravity [m]"},
    {"flux", 0, sensed_flux,
     "mass of the bodies whose origin passes a plane in a step, over the step [kg/s]"},
    {"kinetic_energy", 0, sensed_energy, "of some of the bodies [J]"},
    {"joint_force", 0, sensed_joint, "of a joint on its first body, motor and spring included [N]"},
    {"joint_torque", 0, sensed_joint, "the same about the anchor; one number in 2D [N m]"},
    {"joint_position", 0, sensed_joint, "free coordinate of a joint [m or rad]"},
    {"joint_effort", 0, sensed_joint, "force or torque along the free coordinate [N or N m]"},
    {"solid_fraction", 0, sensed_region,
     "volume of the bodies in a region over its volume; a body that a face cuts counts with the "
     "part inside, as a ball of its volume"},
    {"mass", 0, sensed_region, "of the bodies whose origins are in a region [kg]"},
    {"mean_velocity", 0, sensed_region,
     "of the bodies whose origins are in a region, by mass [m/s]"},
    {"velocity_profile", 0, sensed_profile,
     "mean velocity, by mass, of the bodies whose origins are in each slice of a region [m/s]"},
    {"contact_force", 0, sensed_between,
     "of all contacts of the second group on the first: their impulses over the time step [N]"},
    {"contact_torque", 0, sensed_torque,
     "of the same contacts about a point; one number in 2D [N m]"},
    {"stress", 0, sensed_stress,
     "mean stress of the contacts in a region (Love, Weber): -1/V sum f (x) branch; compression is "
     "negative; components xx, yy, xy in 2D, xx, yy, zz, xy, yz, zx in 3D [Pa, N/m in 2D]"},
    {"cell_stress", 0, sensed_cell,
     "mean stress of a periodic cell, with the momentum that bodies carry; compression is "
     "negative; components as of stress [Pa, N/m in 2D]"},
    {"cell_strain", 0, sensed_cell,
     "rates of deformation of the cell, integrated over time: logarithmic strains of its sides and "
     "shear angles; components as of stress"},
    {"cell_size", 0, sensed_cell, "lengths of its sides along the axes; 0: not periodic [m]"},
    {"cell_work", 0, sensed_cell, "work that the cell has done on the bodies [J]"},
    {0}};

/* ---- how it runs ----------------------------------------------------------------------------- */

static const scree_Field time_fields[] = {
    REGISTRY("scheme", 0, "moreau-jean", scree_scheme_name, "time scheme"),
    REAL("step", AUTO | OPEN, "s", "auto", 0, INFINITY,
         "time step; auto: 0.03 sqrt(size / gravity) of the smallest body, less when bodies or "
         "obstacles cross 0.05 of it (0.1, if all bodies are balls) or turn by 0.1 faster, or "
         "where a force would move a body "
         "by 0.01 of its size; 0.25 of it at the speed of a fall, if not all bodies are balls"),
    REAL("duration", OPEN, "s", "1", 0, INFINITY, "time to run"),
    REAL("theta", 0, NULL, "0.5", 0.5, 1, "moreau-jean: weight of the end of the step"),
    REAL("gap_tolerance", 0, NULL, "1e-9", 0, 1,
         "moreau-jean-closed: gap that counts as closed, relative to the smaller body"),
    REAL("penetration", OPEN, NULL, "1e-3", 0, 1,
         "tolerated penetration, relative to the smaller body: a step that would end with more "
         "because bodies turn is solved again"),
    REAL("penetration_limit", OPEN, NULL, "0.01", 0, INFINITY,
         "penetration above which a step is not certified, relative to the smaller body"),
    REAL("energy_limit", OPEN, NULL, "0.01", 0, INFINITY,
         "energy created by the discretisation above which a step is not certified, relative to "
         "the energy turned over"),
    REAL("max_work", OPEN, NULL, "50", 0, INFINITY,
         "a step costs at most this many times the usual step, in counted work; then the best "
         "solution found is used, and the step is not certified"),
    INT("max_halvings", 0, "4", 0, 20, "how often a step that cannot be certified is halved"),
    END};

static const scree_Field solver[] = {
    REGISTRY("name", AUTO, "auto", solver_name, "the solver; `scree solvers` explains them"),
    {.key = "options",
     .type = SCREE_FIELD_OPTIONS,
     .preset = "{}",
     .help = "options of the solver; `scree solvers NAME` lists them"},
    REAL("tolerance", AUTO | OPEN, NULL, "auto", 0, INFINITY,
         "on the measure; auto: the library's own"),
    REGISTRY("measure", 0, "error", measure_name,
             "the error measure that must be below the tolerance"),
    INT("max_iterations", 0, "0", 0, 2147483647.0, "of one solve; 0: the solver's own limit"),
    REAL("time_limit", 0, "s", "0", 0, INFINITY,
         "of one solve, in seconds of the clock; 0: none. Where it acts the results "
         "depend on the machine, and repeating or resuming the run does not give the same bits"),
    INT("max_retries", 0, "2", 0, 100,
        "of a solve that misses the tolerance: first with ten times the iterations and the time, "
        "then with the default solver; 0: each problem is solved once, to the tolerance, even "
        "where "
        "its error does more work than the step"),
    REGISTRY("flow", 0, "coulomb", flow_name, "coulomb, or associated: the convex relaxation"),
    BOOL("warm_start", "true", "start from the impulses of the step before"),
    INT("threads", 0, "0", 0, 4096,
        "largest number of threads, 0: as many as processors; fewer are used while other programs "
        "keep "
        "these busy; the results do not depend on it"),
    END};

static const scree_Field output[] = {
    REAL("every", AUTO | OPEN, "s", "auto", 0, INFINITY,
         "time between saved frames, rounded to steps; auto: 100 frames"),
    BOOL("contacts", "true", "save the contacts of each frame"),
    REAL("checkpoint", 0, "s", "10", 0, INFINITY,
         "a checkpoint is written after the first step that ends that many seconds of the clock "
         "after the last one, later if it would take more than 2 % of the time; 0: with each "
         "frame"),
    INT("compression", 0, "4", 0, 9, "compress results.h5"), END};

static const scree_Field plane[] = {
    TEXT("body", 0, "any", "name of a body, a pattern (\"grain-*\"), or any"),
    VECTOR("point", 0, "m", "0", "a point of the plane"),
    VECTOR("normal", REQUIRED, NULL, NULL, "the run stops when a body's centre is on this side"),
    END};

static const scree_Field stop[] = {
    REAL("kinetic_energy", OPEN, NULL, NULL, 0, 1,
         "stop when the kinetic energy is below this part of its peak"),
    REAL("after", 0, "s", "0", 0, INFINITY, "do not stop before this time"),
    MAP("plane", 0, NULL, plane, "stop when a body passes a plane"), END};

static const scree_Field removed_plane[] = {
    VECTOR("point", 0, "m", "0", "a point of the plane"),
    VECTOR("normal", REQUIRED, NULL, NULL, "bodies whose centre is on this side are removed"),
    TEXT("bodies", 0, "all", "a name or pattern (\"grain-*\"), or all"), END};

static const scree_Field removed_outside[] = {
    VECTOR("lower", REQUIRED, "m", NULL, "corner with the smallest coordinates"),
    VECTOR("upper", REQUIRED, "m", NULL, "corner with the largest coordinates"),
    TEXT("bodies", 0, "all", "a name or pattern (\"grain-*\"), or all"), END};

static const scree_Field removed_body[] = {
    TEXT("body", REQUIRED, NULL,
         "name of a body or obstacle, a pattern (\"gate-*\"), or a number in the results"),
    REAL("time", 0, "s", "0", 0, INFINITY, "when it is removed"), END};

static const scree_Variant removals[] = {
    {"plane", 0, removed_plane, "bodies that pass a plane"},
    {"outside", 0, removed_outside, "bodies whose centre leaves a box"},
    {"body", 0, removed_body, "one body or obstacle, such as a gate, at a time"},
    {0}};

static const scree_Field dump_problem[] = {
    INTS("steps", "[]", 1, 9e15, "numbers of the steps whose problem is written, counted from 1"),
    INT("every", 0, "0", 0, 9e15, "write the problem of every N-th step, too; 0: none"), END};

static const scree_Field region[] = {
    VECTOR("lower", REQUIRED, "m", NULL, "corner with the smallest coordinates"),
    VECTOR("upper", REQUIRED, "m", NULL, "corner with the largest coordinates"), END};

static const scree_Field cell[] = {
    VECTOR("origin", 0, "m", "0", "corner with the smallest coordinates"),
    VECTOR("size", REQUIRED, "m", NULL,
           "lengths of the sides along the axes; 0: not periodic along it"),
    SIGNALS("gradient_x", 0, "1/s", "0",
            "the cell is deformed: change of the velocity along x over x, y, z"),
    SIGNALS("gradient_y", 0, "1/s", "0", "change of the velocity along y over x, y, z"),
    {.key = "gradient_z",
     .type = SCREE_FIELD_SIGNALS,
     .unit = "1/s",
     .preset = "0",
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 3,
     .help = "change of the velocity along z over x, y, z"},
    REAL("pressure_x", 0, "Pa, N/m in 2D", NULL, -INFINITY, INFINITY,
         "the side along x is held at this pressure, which takes the place of the gradient along "
         "it; for compliant contacts in a cell that is periodic in all directions"),
    REAL("pressure_y", 0, "Pa, N/m in 2D", NULL, -INFINITY, INFINITY, "the same along y"),
    {.key = "pressure_z",
     .type = SCREE_FIELD_REAL,
     .unit = "Pa",
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 3,
     .help = "the same along z"},
    END};

static const scree_Field analysis[] = {MAP("region", 0, NULL, region,
                                           "region in which packing fraction, stress and fabric "
                                           "are measured; default: the bounds of all "
                                           "bodies"),
                                       END};

static const scree_Field start[] = {
    TEXT("run", REQUIRED, NULL,
         "folder of the run, relative to the folder of the scene; written out as an absolute path"),
    TEXT("frame", 0, "last", "last, or the number of a saved frame, from 0"),
    BOOL("velocities", "true", "keep the velocities; false: all bodies are at rest"),
    BOOL("contacts", "true", "start from the impulses of the contacts, too"), END};

static const scree_Field scene[] = {
    {.key = "parameters",
     .type = SCREE_FIELD_PARAMETERS,
     .help = "numbers by name, which expressions may use: `parameters: { d: 0.01, height: 20*d }`, "
             "then `radius: d/2`. Parameters may use each other; `--set parameters.d=0.02` changes "
             "one"},
    {.key = "include",
     .type = SCREE_FIELD_INCLUDE,
     .help = "files with parts of scenes, relative to the folder of this one. Maps are merged, and "
             "values of the scene replace those of the files; lists of the scene (bodies, "
             "obstacles, ...) come after those of the files"},
    TEXT("title", 0, "", "one line for reports"),
    TEXT("description", 0, "", "free text"),
    INT("dimension", 0, "3", 2, 3, "2 or 3"),
    INT("seed", 0, "1", 0, 9e15, "seed of all random choices"),
    VECTOR("gravity", AUTO, "m/s2", "auto", "auto: 9.81 downwards, along y in 2D, z in 3D"),
    {.key = "materials",
     .type = SCREE_FIELD_NAMED,
     .preset = "{}",
     .fields = material,
     .help = "materials by name"},
    MAP("contact", 0, "{}", law, "law between materials that have none of their own"),
    LIST("pairs", pair, "laws between pairs of materials"),
    MAP("start", 0, NULL, start,
        "bodies of a saved frame of another run, with shape, mass, position and velocity; they "
        "come before `bodies` and keep their names. Their materials must be in `materials`, and "
        "masses follow where a density is changed. Obstacles, laws, forces and time are those of "
        "this scene"),
    LIST("bodies", body, "bodies"),
    LIST("obstacles", obstacle, "bodies of infinite mass, fixed or driven"),
    LIST("plates", plate,
         "plates that slide along their normal, driven by a pressure, a force or a velocity: servo "
         "walls, pistons. Each is a body (box, or polygon in 2D) on a slider joint to the world"),
    {.key = "generators",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = generators,
     .help = "make many bodies at once"},
    LIST("forces", force, "forces besides gravity"),
    {.key = "joints",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = joints,
     .help = "joints between bodies, made where the bodies are at the start; their reactions are "
             "unknowns of the same problem as the contacts"},
    MAP("cell", 0, NULL, cell,
        "a periodic cell: the scene repeats itself along the sides of a box, which may be "
        "deformed. Bodies that leave it come in on the other side"),
    MAP("time", 0, "{}", time_fields, "scheme, step, duration"),
    MAP("solver", 0, "{}", solver, "solver of the contact problem of each step"),
    MAP("output", 0, "{}", output, "frames, checkpoints and compression of the results"),
    MAP("stop", 0, "{}", stop, "conditions to stop before `time.duration`"),
    {.key = "remove",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = removals,
     .help = "bodies that are removed while it runs; obstacles only if they are named"},
    MAP("dump_problem", 0, "{}", dump_problem,
        "steps whose contact problem is written to problems/ in FCLIB's format"),
    MAP("analysis", 0, "{}", analysis, "measurements"),
    {.key = "sensors",
     .type = SCREE_FIELD_LIST,
     .preset = "[]",
     .variants = sensors,
     .help = "quantities measured after every step, for the telemetry and the plots"},
    END};

const scree_Field *scree_scene_schema(void) {
  return scene;
}
