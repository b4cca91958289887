/* The scene format: sensors (see scene_schema.h and scene/sensors.h). */
#include "scene/schema_tables.h"
#include "scene/sensors.h"

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

static const scree_Field sensed_region[] = {SENSOR_NAME,
                                            REGION(REQUIRED, "region in which it measures"), END};

static const scree_Field sensed_profile[] = {
    SENSOR_NAME,
    REGION(REQUIRED, "region in which it measures"),
    VECTOR("along", REQUIRED, NULL, NULL, "direction along which the region is cut into slices"),
    VECTOR("component", REQUIRED, NULL, NULL, "direction of the velocity that is shown"),
    INT("bins", 0, "8", 1, SCREE_PROFILE_BINS_MAX,
        "number of slices of equal width; the columns are sensor.NAME.0, .1, ..."),
    END};

#define SENSED_GROUPS                                                                              \
  {                                                                                                \
    .key = "between", .type = SCREE_FIELD_TEXTS, .flags = REQUIRED, .max = 2,                      \
    .help = "two names, numbers, patterns of groups of bodies (\"grain-*\"), or all (every body "  \
            "that is no obstacle)"                                                                 \
  }
static const scree_Field sensed_between[] = {SENSOR_NAME, SENSED_GROUPS, END};
static const scree_Field sensed_torque[] = {
    SENSOR_NAME, SENSED_GROUPS, VECTOR("point", 0, "m", "0", "about which moments are taken"), END};
static const scree_Field sensed_stress[] = {
    SENSOR_NAME,
    VECTOR("lower", 0, "m", NULL, "corner of the region; default: the bounds of all bodies"),
    VECTOR("upper", 0, "m", NULL, "the opposite corner"), END};
static const scree_Field sensed_cell[] = {SENSOR_NAME, END};

static const scree_Field sensed_bonds[] = {
    SENSOR_NAME, TEXT("bonds", 0, "all", "a name of `bonds`, or all, those of `joints` too"), END};

const scree_Variant scree_schema_sensors[] = {
    {"position", 0, sensed_body, "of a body's origin [m]"},
    {"rotation", 0, sensed_body,
     "of a body, from the axes of the world: in 2D an angle from -pi to pi, in 3D axis times angle "
     "[rad]"},
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
    {"bonds_intact", 0, sensed_bonds, "number of bonds that hold"},
    {"bonds_broken", 0, sensed_bonds, "number of bonds that broke"},
    {0}};
