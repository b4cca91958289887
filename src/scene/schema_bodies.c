/* The scene format: materials, laws, bodies, plates, obstacles and forces (see scene_schema.h).
 * Units are SI; angles are radians. */
#include "scene/schema_tables.h"

#include "scree/world.h"

static const scree_Field rotation[] = {
    VECTOR("axis", 0, NULL, NULL, "axis of the rotation"),
    REAL("angle", 0, "rad", NULL, -INFINITY, INFINITY, "angle of rotation about `axis`"),
    {.key = "quaternion",
     .type = SCREE_FIELD_REALS,
     .max = 4,
     .help = "unit quaternion [w, x, y, z]; it is normalised"},
    VECTOR("euler", 0, "rad", NULL,
           "angles of successive rotations about the fixed axes x, y and z"),
    END};

const scree_Field scree_schema_law[] = {
    LAW("coulomb",
        "name of the contact law; its parameters are written as keys beside it (see Laws)"),
    END};

const scree_Field scree_schema_pair[] = {
    {.key = "between",
     .type = SCREE_FIELD_TEXTS,
     .flags = REQUIRED,
     .max = 2,
     .help = "names of the two materials; they may be the same"},
    LAW(NULL, "name of the contact law. Default: the law of `contact`; its parameters default to "
              "those of `contact`"),
    END};

static const char *model_name(int index) {
  return scree_elastic_model(index, NULL);
}

const scree_Field scree_schema_material[] = {
    REAL("density", OPEN, "kg/m3, kg/m2 in 2D", "1000", 0, INFINITY,
         "mass per volume, in 2D per area"),
    REAL("young", OPEN, "Pa, N/m in 2D", NULL, 0, INFINITY,
         "Young's modulus, required for deformable bodies (`kind`)"),
    /* without presets: materials of rigid bodies do not have these keys */
    REAL("poisson", OPEN, NULL, NULL, -1, 0.5,
         "Poisson's ratio of deformable bodies; default: 0.25"),
    REAL("damping", 0, "s", NULL, 0, INFINITY,
         "damping of deformable bodies, proportional to stiffness: ratio of viscous stress to the "
         "rate of elastic stress; default: 0"),
    REAL("damping_mass", 0, "1/s", NULL, 0, INFINITY,
         "damping of finite elements, proportional to mass: damping force over mass times "
         "velocity; default: 0"),
    REGISTRY("model", 0, NULL, model_name,
             "elastic law of finite elements: st-venant-kirchhoff (default), or neo-hookean for "
             "large strains"),
    TEXT("colour", 0, NULL, "colour in pictures, in the notation of web pages: \"#c08040\""), END};

#define PLACE_FIELDS                                                                               \
  VECTOR("position", 0, "m", "0", "position of the origin of the shape (see Shapes)"),             \
      {.key = "angle",                                                                             \
       .type = SCREE_FIELD_REAL,                                                                   \
       .unit = "rad",                                                                              \
       .preset = "0",                                                                              \
       .min = -INFINITY,                                                                           \
       .max = INFINITY,                                                                            \
       .dimension = 2,                                                                             \
       .help = "angle of rotation, counter-clockwise"},                                            \
      {.key = "rotation",                                                                          \
       .type = SCREE_FIELD_MAP,                                                                    \
       .fields = rotation,                                                                         \
       .dimension = 3,                                                                             \
       .help = "orientation, by `axis` and `angle`, by `quaternion`, or by `euler`; default: no "  \
               "rotation"},                                                                        \
      VECTOR("from", 0, "m", NULL,                                                                 \
             "segment, capsule, cylinder: first end of the axis; replaces `half_length`, "         \
             "`position` and the rotation"),                                                       \
      VECTOR("to", 0, "m", NULL, "second end of the axis")

const scree_Field scree_scene_part_fields[] = {
    SHAPE("shape"),
    VECTOR("position", 0, "m", "0", "position of the origin of the shape"),
    {.key = "angle",
     .type = SCREE_FIELD_REAL,
     .unit = "rad",
     .preset = "0",
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 2,
     .help = "angle of rotation, counter-clockwise"},
    {.key = "rotation",
     .type = SCREE_FIELD_MAP,
     .fields = rotation,
     .dimension = 3,
     .help = "orientation, by `axis` and `angle`, by `quaternion`, or by `euler`; default: no "
             "rotation"},
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
     .help = "region; the nodes that are inside at the start belong to the group"},
    TEXT("by", REQUIRED, NULL,
         "name of the obstacle with which the nodes move, as if they were attached to it"),
    END};

#define DEFORMED(k, dim, fl, u, h)                                                                 \
  {                                                                                                \
    .key = k, .type = SCREE_FIELD_VECTOR, .flags = (fl), .unit = u, .dimension = dim,              \
    .min = -INFINITY, .max = INFINITY, .help = h                                                   \
  }

static const scree_Field deformation[] = {
    DEFORMED("x", 0, REQUIRED, NULL,
             "image of the unit vector along the x axis of the undeformed shape, that is, the "
             "first column of the deformation gradient"),
    DEFORMED("y", 0, REQUIRED, NULL, "the same along y"),
    DEFORMED("z", 3, REQUIRED, NULL, "the same along z"),
    DEFORMED("x_rate", 0, 0, "1/s",
             "rate of change of `x`; default: from the rotation by `angular_velocity`"),
    DEFORMED("y_rate", 0, 0, "1/s", "the same along y"),
    DEFORMED("z_rate", 3, 0, "1/s", "the same along z"),
    END};

const scree_Field scree_schema_body[] = {
    TEXT("name", 0, NULL, "name by which forces, joints, sensors and conditions refer to the body"),
    SHAPE("shape"),
    PLACE_FIELDS,
    VECTOR("velocity", 0, "m/s", "0", "initial velocity"),
    VECTOR("angular_velocity", AXIAL, "rad/s", "0", "initial angular velocity; one number in 2D"),
    MATTER_FIELDS,
    KIND_FIELDS("kind"),
    {.key = "held",
     .type = SCREE_FIELD_VARIANT,
     .variants = scree_schema_regions,
     .help = "finite elements: region; nodes that are inside at the start are fixed"},
    {.key = "driven",
     .type = SCREE_FIELD_LIST,
     .fields = driven,
     .help =
         "finite elements: groups of nodes that move with an obstacle, for example with a clamp"},
    MAP("deformation", 0, NULL, deformation,
        "initial deformation of a pseudo-rigid body; replaces the rotation. The point (X, Y, Z) of "
        "the undeformed shape is at position + X x + Y y + Z z"),
    TEXT("state", 0, NULL,
         "finite elements: CSV file with the initial state; replaces position, rotation and "
         "velocities. It has one row per node, in the order of the mesh, and the columns x, y, z; "
         "vx, vy, vz (default: 0); held (1: the node is fixed); by (name of an obstacle with which "
         "the node moves)"),
    OWN_DENSITY,
    REAL("mass", OPEN, "kg", NULL, 0, INFINITY, "mass; default: density times volume"),
    POSITIVES("inertia", AXIAL, "kg m2", NULL,
              "principal moments of inertia; default: those of the shape; one number in 2D"),
    END};

#define LOAD(k, u, h)                                                                              \
  {                                                                                                \
    .key = k, .type = SCREE_FIELD_SIGNALS, .flags = SCREE_FIELD_SCALAR, .unit = u,                 \
    .min = -INFINITY, .max = INFINITY, .help = h                                                   \
  }

const scree_Field scree_schema_plate[] = {
    TEXT("name", REQUIRED, NULL, "name of the body of the plate and of its slider joint"),
    VECTOR("point", REQUIRED, "m", NULL, "centre of the loaded face at the start"),
    VECTOR("normal", REQUIRED, NULL, NULL, "direction in which the plate pushes and slides"),
    REAL("length", REQUIRED | OPEN, "m", NULL, 0, INFINITY, "length of the face"),
    {.key = "width",
     .type = SCREE_FIELD_REAL,
     .flags = OPEN,
     .unit = "m",
     .max = INFINITY,
     .dimension = 3,
     .help = "width of the face, perpendicular to its length; default: `length`"},
    {.key = "round",
     .type = SCREE_FIELD_BOOL,
     .preset = "false",
     .dimension = 3,
     .help =
         "whether the face is a disk of the diameter `length`, such as the lid of a round cell"},
    {.key = "along",
     .type = SCREE_FIELD_VECTOR,
     .min = -INFINITY,
     .max = INFINITY,
     .dimension = 3,
     .help = "direction of the length; default: x, or y if the normal is along x"},
    REAL("thickness", OPEN, "m", NULL, 0, INFINITY,
         "thickness of the plate behind its face; default: 0.1 of the length"),
    LOAD("pressure", "Pa, N/m in 2D", "pressure that pushes the plate along its normal"),
    LOAD("force", "N", "force along the normal, instead of a pressure"),
    LOAD("velocity", "m/s", "prescribed velocity along the normal, instead of a load"),
    REAL("velocity_from", 0, "s", NULL, 0, INFINITY,
         "time at which the prescribed velocity begins; before that time the pressure or force "
         "acts"),
    {.key = "between",
     .type = SCREE_FIELD_TEXTS,
     .max = 2,
     .help = "with a pressure: names of a plate and of the plate or obstacle opposite to it. The "
             "length of the loaded area is the current distance of their faces. Default: `length`"},
    {.key = "between2",
     .type = SCREE_FIELD_TEXTS,
     .max = 2,
     .dimension = 3,
     .help = "the same for the width of the loaded area"},
    REAL("damping", 0, "N s/m", "0", 0, INFINITY,
         "coefficient of a damper on the motion of the plate"),
    REAL("lower", 0, "m", NULL, -INFINITY, INFINITY,
         "limit of the displacement along the normal; default: none"),
    REAL("upper", 0, "m", NULL, -INFINITY, INFINITY,
         "limit of the displacement along the normal; default: none"),
    BOOL("weight", "false", "whether gravity acts on the plate"),
    TEXT("material", AUTO, "auto", "name of a material; auto: the first one of `materials`"),
    INT("group", 0, "999", 0, 4294967295.0,
        "collision group: bodies of the same group do not touch each other, unless it is 0. All "
        "plates have the same group by default. Give this group also to obstacles that plates "
        "cross"),
    OWN_DENSITY,
    REAL("mass", OPEN, "kg", NULL, 0, INFINITY, "mass; default: density times volume"),
    END};

const scree_Field scree_schema_obstacle[] = {
    TEXT("name", 0, NULL, "name by which sensors and other keys refer to the obstacle"),
    SHAPE("shape, which may be unbounded"),
    PLACE_FIELDS,
    VECTOR("normal", 0, NULL, NULL,
           "half-plane, half-space, rectangle: outward normal; replaces the rotation"),
    SIGNALS("velocity", 0, "m/s", "0", "prescribed velocity of the origin"),
    SIGNALS("angular_velocity", AXIAL, "rad/s", "0",
            "prescribed angular velocity about the origin"),
    BOOL("belt", "false",
         "conveyor belt: the surface has the prescribed velocities, but the shape does not move"),
    MATTER_FIELDS,
    END};

const scree_Field scree_schema_force[] = {
    TEXT("body", 0, "all", "name or pattern of bodies (\"grain-*\"), or all"),
    SIGNALS("force", 0, "N", NULL, "force; it acts at the centre of mass, or on `nodes`"),
    SIGNALS("torque", AXIAL, "N m", NULL, "torque; one number in 2D"),
    SIGNALS("acceleration", 0, "m/s2", NULL, "force per mass, like gravity"),
    {.key = "nodes",
     .type = SCREE_FIELD_VARIANT,
     .variants = scree_schema_regions,
     .help = "finite elements: region of loaded nodes. The force is distributed by area over the "
             "faces of the surface whose nodes are all inside at the start. If there are no such "
             "faces, it is distributed equally over the nodes inside"},
    LOAD("pressure", "Pa",
         "with `nodes`, instead of a force: pressure on these faces against their outward normals, "
         "which follow the deformation"),
    END};
