/* The scene format: materials, laws, bodies, plates, obstacles and forces (see scene_schema.h).
 * Units are SI; angles are radians. */
#include "scene/schema_tables.h"

#include "scree/world.h"

static const scree_Field rotation[] = {
    VECTOR("axis", 0, NULL, NULL, "axis of a rotation by `angle`"),
    REAL("angle", 0, "rad", NULL, -INFINITY, INFINITY, "angle of the rotation about `axis`"),
    {.key = "quaternion",
     .type = SCREE_FIELD_REALS,
     .max = 4,
     .help = "[w, x, y, z], made a unit one"},
    VECTOR("euler", 0, "rad", NULL, "rotations about the fixed x, then y, then z axis"),
    END};

const scree_Field scree_schema_law[] = {
    LAW("coulomb", "the contact law; its parameters are keys beside it (see Laws)"), END};

const scree_Field scree_schema_pair[] = {
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

const scree_Field scree_schema_material[] = {
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

const char *scree_schema_kind(int index) {
  return scree_body_kind_name((scree_BodyKind)index);
}

const char *const scree_schema_integrations[] = {"implicit", "explicit", NULL};
const char *const scree_schema_mass_matrices[] = {"lumped", "consistent", NULL};

static const scree_Field driven[] = {
    {.key = "nodes",
     .type = SCREE_FIELD_VARIANT,
     .flags = REQUIRED,
     .variants = scree_schema_regions,
     .help = "a region; the nodes that are in it at the start"},
    TEXT("by", REQUIRED, NULL,
         "name of the obstacle with which they move, as if they were part of it"),
    END};

#define DEFORMED(k, dim, fl, u, h)                                                                 \
  {                                                                                                \
    .key = k, .type = SCREE_FIELD_VECTOR, .flags = (fl), .unit = u, .dimension = dim,              \
    .min = -INFINITY, .max = INFINITY, .help = h                                                   \
  }

static const scree_Field deformation[] = {
    DEFORMED("x", 0, REQUIRED, NULL,
             "where a unit vector along the x axis of the undeformed shape is: the first column of "
             "the deformation gradient"),
    DEFORMED("y", 0, REQUIRED, NULL, "the same along y"),
    DEFORMED("z", 3, REQUIRED, NULL, "the same along z"),
    DEFORMED("x_rate", 0, 0, "1/s",
             "its rate of change; default: the body turns by its `angular_velocity`"),
    DEFORMED("y_rate", 0, 0, "1/s", "the same along y"),
    DEFORMED("z_rate", 3, 0, "1/s", "the same along z"),
    END};

const scree_Field scree_schema_body[] = {
    TEXT("name", 0, NULL, "name that forces, sensors and stop conditions refer to"),
    SHAPE("its shape"),
    PLACE_FIELDS,
    VECTOR("velocity", 0, "m/s", "0", "at the start"),
    VECTOR("angular_velocity", AXIAL, "rad/s", "0", "at the start; one number in 2D"),
    MATTER_FIELDS,
    KIND_FIELDS("kind"),
    {.key = "held",
     .type = SCREE_FIELD_VARIANT,
     .variants = scree_schema_regions,
     .help = "of finite elements: a region; nodes that are in it at the start never move"},
    {.key = "driven",
     .type = SCREE_FIELD_LIST,
     .fields = driven,
     .help = "of finite elements: groups of nodes that move with an obstacle, such as a clamp"},
    MAP("deformation", 0, NULL, deformation,
        "of a pseudo-rigid body, in place of a rotation: how it is deformed at the start. The "
        "point "
        "(X, Y, Z) of the shape is at position + X x + Y y + Z z"),
    TEXT("state", 0, NULL,
         "of finite elements, in place of position, rotation and velocities: a CSV file with a row "
         "for each node of the mesh, in its order: columns x, y, z; vx, vy, vz (default: 0); held "
         "(1: "
         "the node never moves); by (name of an obstacle with which it moves)"),
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

const scree_Field scree_schema_plate[] = {
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
    {.key = "round",
     .type = SCREE_FIELD_BOOL,
     .preset = "false",
     .dimension = 3,
     .help = "the face is a disk of diameter `length`, such as the lid of a round cell"},
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
    REAL("lower", 0, "m", NULL, -INFINITY, INFINITY,
         "stop of its displacement along the normal; default: none"),
    REAL("upper", 0, "m", NULL, -INFINITY, INFINITY,
         "stop of its displacement along the normal; default: none"),
    BOOL("weight", "false", "whether gravity acts on it"),
    TEXT("material", AUTO, "auto", "a name of `materials`; auto: the first of them"),
    INT("group", 0, "999", 0, 4294967295.0,
        "bodies of the same group other than 0 do not touch each other: by default, plates do not; "
        "give it to obstacles that plates cross, too"),
    OWN_DENSITY,
    REAL("mass", OPEN, "kg", NULL, 0, INFINITY, "in place of density times volume"),
    END};

const scree_Field scree_schema_obstacle[] = {
    TEXT("name", 0, NULL, "for sensors"),
    SHAPE("shape of the obstacle, possibly unbounded"),
    PLACE_FIELDS,
    VECTOR("normal", 0, NULL, NULL,
           "half-plane, half-space, rectangle: outward normal, in place of the rotation"),
    SIGNALS("velocity", 0, "m/s", "0", "prescribed velocity"),
    SIGNALS("angular_velocity", AXIAL, "rad/s", "0",
            "prescribed angular velocity, about its origin"),
    BOOL("belt", "false",
         "the surface moves along itself with these velocities, the shape stays where it is"),
    MATTER_FIELDS,
    END};

const scree_Field scree_schema_force[] = {
    TEXT("body", 0, "all", "name of a body, a pattern (\"grain-*\"), or all"),
    SIGNALS("force", 0, "N", NULL, "acts at the centre of mass, or on nodes"),
    SIGNALS("torque", AXIAL, "N m", NULL, "one number in 2D"),
    SIGNALS("acceleration", 0, "m/s2", NULL, "a force in proportion to the mass, like gravity"),
    {.key = "nodes",
     .type = SCREE_FIELD_VARIANT,
     .variants = scree_schema_regions,
     .help = "of a body of finite elements: a region; the force is spread over the faces of its "
             "surface all of whose nodes are in it at the start, by area, or if there are none, "
             "equally over the nodes in it"},
    LOAD("pressure", "Pa",
         "with nodes, in place of a force: on these faces, against their outward normal, which it "
         "follows as the body deforms"),
    END};
