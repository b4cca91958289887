/* The scene format: sensors (see scene_schema.h and scene/sensors.h). */
#include "scene/schema_tables.h"
#include "scene/sensors.h"

static const char *const sensor_forms[] = {"value", "rate", "integral", "mean", NULL};
#define SENSOR_NAME                                                                                \
  TEXT("name", REQUIRED, NULL, "name; the column of the telemetry is sensor.NAME"),                \
      CHOICE("gives", "value", sensor_forms,                                                       \
             "output: the value, its rate of change, its time integral, or its mean over time"),   \
      REAL("after", 0, "s", "0", 0, INFINITY,                                                      \
           "integral, mean: time at which the integration begins")
#define SENSED_BODY                                                                                \
  TEXT("body", REQUIRED, NULL, "name of a body or obstacle, or its number in the results")

static const scree_Field sensed_body[] = {SENSOR_NAME, SENSED_BODY, END};

static const scree_Field sensed_force[] = {
    SENSOR_NAME,
    TEXT("body", REQUIRED, NULL,
         "name of a body or obstacle, a pattern (\"brick-*\") for the sum over several, or a "
         "number in the results"),
    END};

static const scree_Field sensed_distance[] = {SENSOR_NAME,
                                              {.key = "between",
                                               .type = SCREE_FIELD_TEXTS,
                                               .flags = REQUIRED,
                                               .max = 2,
                                               .help = "names or numbers of the two bodies"},
                                              END};

static const scree_Field sensed_height[] = {
    SENSOR_NAME,
    REAL("fraction", OPEN, NULL, "1", 0, 1,
         "part of the bodies that lies below the measured height; 1: height of the highest body"),
    END};

static const scree_Field sensed_flux[] = {
    SENSOR_NAME, VECTOR("point", 0, "m", "0", "a point of the plane"),
    VECTOR("normal", REQUIRED, NULL, NULL,
           "normal of the plane; mass that crosses the plane in this direction counts as positive"),
    REAL("radius", OPEN, "m", NULL, 0, INFINITY,
         "only bodies that cross the plane within this distance from the point count; default: the "
         "whole plane"),
    END};

static const scree_Field sensed_energy[] = {
    SENSOR_NAME, TEXT("bodies", 0, "all", "name or pattern of bodies (\"grain-*\"), or all"),
    TEXT("material", 0, "all", "only bodies of this material, or all"),
    INT("group", 0, NULL, 0, 4294967295.0, "only bodies of this collision group; default: any"),
    END};

static const scree_Field sensed_joint[] = {SENSOR_NAME,
                                           TEXT("joint", REQUIRED, NULL, "name of a joint"), END};

static const scree_Field sensed_region[] = {SENSOR_NAME,
                                            REGION(REQUIRED, "region of the measurement"), END};

static const scree_Field sensed_profile[] = {
    SENSOR_NAME,
    REGION(REQUIRED, "region of the measurement"),
    VECTOR("along", REQUIRED, NULL, NULL,
           "direction along which the region is divided into slices"),
    VECTOR("component", REQUIRED, NULL, NULL,
           "direction of the measured component of the velocity"),
    INT("bins", 0, "8", 1, SCREE_PROFILE_BINS_MAX,
        "number of slices of equal width; the columns are sensor.NAME.0, .1, ..."),
    END};

#define SENSED_GROUPS                                                                              \
  {                                                                                                \
    .key = "between", .type = SCREE_FIELD_TEXTS, .flags = REQUIRED, .max = 2,                      \
    .help = "the two groups of bodies: a name, a number, a pattern (\"grain-*\"), or all (all "    \
            "bodies that are no obstacles)"                                                        \
  }
static const scree_Field sensed_between[] = {SENSOR_NAME, SENSED_GROUPS, END};
static const scree_Field sensed_torque[] = {
    SENSOR_NAME, SENSED_GROUPS, VECTOR("point", 0, "m", "0", "reference point of the moments"),
    END};
static const scree_Field sensed_stress[] = {
    SENSOR_NAME,
    VECTOR(
        "lower", 0, "m", NULL,
        "corner of the region with the smallest coordinates; default: bounding box of all bodies"),
    VECTOR("upper", 0, "m", NULL, "corner of the region with the largest coordinates"), END};
static const scree_Field sensed_cell[] = {SENSOR_NAME, END};

static const scree_Field sensed_bonds[] = {
    SENSOR_NAME,
    TEXT("bonds", 0, "all", "name of an entry of `bonds`, or all (also the bonds in `joints`)"),
    END};

const scree_Variant scree_schema_sensors[] = {
    {"position", 0, sensed_body, "position of the origin of a body [m]"},
    {"rotation", 0, sensed_body,
     "rotation of a body relative to the axes of the world: in 2D an angle from -pi to pi, in 3D "
     "the axis times the angle [rad]"},
    {"velocity", 0, sensed_body, "velocity of the origin of a body [m/s]"},
    {"angular_velocity", 0, sensed_body, "angular velocity of a body; one number in 2D [rad/s]"},
    {"force", 0, sensed_force,
     "resultant of all contact forces on a body or obstacle: the impulses of a step divided by the "
     "time step [N]"},
    {"distance", 0, sensed_distance, "distance of the origins of two bodies [m]"},
    {"height", 0, sensed_height, "height of the origins of the bodies, opposite to gravity [m]"},
    {"flux", 0, sensed_flux,
     "mass flux: mass of the bodies whose origin crosses a plane in a step, divided by the time "
     "step [kg/s]"},
    {"kinetic_energy", 0, sensed_energy, "kinetic energy of some or all bodies [J]"},
    {"joint_force", 0, sensed_joint,
     "force of a joint on its first body, including motor and spring [N]"},
    {"joint_torque", 0, sensed_joint,
     "torque of a joint on its first body about the anchor, including motor and spring; one number "
     "in 2D [N m]"},
    {"joint_position", 0, sensed_joint, "free coordinate of a joint [m or rad]"},
    {"joint_effort", 0, sensed_joint,
     "force or torque of a joint along its free coordinate [N or N m]"},
    {"solid_fraction", 0, sensed_region,
     "volume of the bodies in a region divided by its volume. A body that is cut by the boundary "
     "counts with the part inside, computed for a ball of the same volume"},
    {"mass", 0, sensed_region, "mass of the bodies whose origins are in a region [kg]"},
    {"mean_velocity", 0, sensed_region,
     "mean velocity, weighted by mass, of the bodies whose origins are in a region [m/s]"},
    {"velocity_profile", 0, sensed_profile,
     "mean velocity, weighted by mass, of the bodies whose origins are in each slice of a region "
     "[m/s]"},
    {"contact_force", 0, sensed_between,
     "resultant of the contact forces of the second group on the first: the impulses of a step "
     "divided by the time step [N]"},
    {"contact_torque", 0, sensed_torque,
     "moment of the contact forces of the second group on the first about a point; one number in "
     "2D [N m]"},
    {"stress", 0, sensed_stress,
     "mean stress of the contacts in a region (Love, Weber): -1/V sum f (x) branch. Compression is "
     "negative. The components are xx, yy, xy in 2D and xx, yy, zz, xy, yz, zx in 3D [Pa, N/m in "
     "2D]"},
    {"cell_stress", 0, sensed_cell,
     "mean stress of a periodic cell, including the momentum transported by the bodies. "
     "Compression is negative. Components as for `stress` [Pa, N/m in 2D]"},
    {"cell_strain", 0, sensed_cell,
     "time integral of the rate of deformation of the cell: logarithmic strains of the sides and "
     "shear angles. Components as for `stress`"},
    {"cell_size", 0, sensed_cell,
     "lengths of the sides of the cell along the axes; 0: not periodic [m]"},
    {"cell_work", 0, sensed_cell, "work done by the cell on the bodies [J]"},
    {"bonds_intact", 0, sensed_bonds, "number of bonds that are intact"},
    {"bonds_broken", 0, sensed_bonds, "number of bonds that have broken"},
    {0}};
