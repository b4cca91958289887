/* Sensors of a scene: quantities measured after every step that become columns of the telemetry,
 * sensor.NAME, or sensor.NAME.x, .y, .z for vectors, sensor.NAME.xx, ... for tensors.
 * A resumed run gives the same numbers: values at the start of a step (which side of a plane a body
 * is on) are those of the state before it, and integrals and means over time go on from the last
 * line of the telemetry, which has their values to the last bit. */
#ifndef SCREE_SCENE_SENSORS_H
#define SCREE_SCENE_SENSORS_H

#include "scene/region.h"
#include "scree/scene.h"
#include "world/world.h"

#include <stdint.h>

enum {
  SCREE_SENSORS_MAX = 32, /* of a scene */
  SCREE_SENSOR_COLUMNS_MAX = 3 * SCREE_SENSORS_MAX,
  SCREE_PROFILE_BINS_MAX = 32,
  SCREE_SENSOR_NAME_MAX = 20,                /* characters of its name */
  SCREE_SENSOR_COLUMN_SIZE = 7 + 20 + 16 + 1 /* "sensor.", the name, ".17" or ".xx" */
};

typedef enum scree_SensorKind {
  SCREE_SENSOR_POSITION,
  SCREE_SENSOR_ROTATION,
  SCREE_SENSOR_VELOCITY,
  SCREE_SENSOR_ANGULAR_VELOCITY,
  SCREE_SENSOR_FORCE,
  SCREE_SENSOR_DISTANCE,
  SCREE_SENSOR_HEIGHT,
  SCREE_SENSOR_FLUX,
  SCREE_SENSOR_KINETIC_ENERGY,
  SCREE_SENSOR_JOINT_FORCE,
  SCREE_SENSOR_JOINT_TORQUE,
  SCREE_SENSOR_JOINT_POSITION,
  SCREE_SENSOR_JOINT_EFFORT,
  SCREE_SENSOR_SOLID_FRACTION,
  SCREE_SENSOR_MASS,
  SCREE_SENSOR_MEAN_VELOCITY,
  SCREE_SENSOR_VELOCITY_PROFILE,
  SCREE_SENSOR_CONTACT_FORCE,
  SCREE_SENSOR_CONTACT_TORQUE,
  SCREE_SENSOR_STRESS,
  SCREE_SENSOR_CELL_STRESS,
  SCREE_SENSOR_CELL_STRAIN,
  SCREE_SENSOR_CELL_SIZE,
  SCREE_SENSOR_CELL_WORK,
  SCREE_SENSOR_BONDS_INTACT,
  SCREE_SENSOR_BONDS_BROKEN,
  SCREE_SENSOR_KINDS
} scree_SensorKind;

/* How a column is computed from the measured quantity x. */
typedef enum scree_SensorForm {
  SCREE_SENSOR_VALUE,    /* x */
  SCREE_SENSOR_RATE,     /* its change in the step, over the step */
  SCREE_SENSOR_INTEGRAL, /* the sum of h x since `after` */
  SCREE_SENSOR_MEAN      /* that over the time since `after` */
} scree_SensorForm;

typedef struct scree_Sensor {
  scree_SensorKind kind;
  const char *name;         /* in the scene's tree */
  int body[2];              /* numbers in the world, -1: none */
  const char *pattern;      /* force, kinetic energy: names of bodies, or null: `body`, or all */
  scree_Vec3 point, normal; /* flux: of the plane, unit normal */
  double radius;            /* flux: about the point, INFINITY: all of the plane */
  double fraction;          /* height */
  int material;             /* kinetic energy: -1 for all */
  int64_t group;            /* kinetic energy: -1 for all */
  int joint;                /* of the world */
  int bonds;                /* label of bonds, -1: all */
  const char *pattern2;     /* contact force and torque: of the second group, or null: body[1] */
  scree_Vec3 lower, upper;  /* stress: the region */
  bool whole;               /* stress: the bounds of all bodies instead */
  scree_Region region;      /* of sensors of regions */
  scree_Vec3 component;     /* velocity profile: unit vector of the velocity that is shown */
  int bins;                 /* velocity profile: slices of the region along `normal` */
  scree_SensorForm form;
  double after; /* integral, mean: s */
} scree_Sensor;

/* Unit of what a sensor measures; an empty text for words that are none. Rates are per second of
 * it, integrals times seconds. */
const char *scree_sensor_unit_of(const scree_Sensor *sensor);
const char *scree_sensor_unit(const char *kind);

/* Of a divided world all ranks measure together and get the same numbers. Whether body k counts in
 * sums of this rank, and such a sum over all ranks. */
static inline bool scree_sensor_counts(const scree_World *world, int k) {
  return !world->system.bodies.fixed[k] && scree_domain_owns(&world->system.domain, k);
}
static inline scree_Vec3 scree_sensor_sum(const scree_World *world, scree_Vec3 sum) {
  double sums[3] = {sum.x, sum.y, sum.z};
  scree_system_sums(&world->system, sums, 3);
  return scree_vec3(sums[0], sums[1], sums[2]);
}

/* sensors_contact.c: the name of a column, and values of sensors of contacts and cells. */
enum { SCREE_SENSOR_VALUES = 6 }; /* at most, of one sensor */
const char *scree_sensor_suffix(bool tensor, int dimension, int column);
void scree_sensor_tensor(const double *tensor, int dimension, double *out);
scree_Vec3 scree_sensor_between(const scree_Scene *scene, const scree_Sensor *sensor,
                                const scree_World *world, bool torque);
scree_Status scree_sensor_stress(const scree_Sensor *sensor, const scree_World *world,
                                 int dimension, double *out);
void scree_sensor_cell(const scree_Sensor *sensor, const scree_World *world, int dimension,
                       double *out);

/* Fill the scene's list from its tree; bodies and generators are known. */
scree_Status scree_scene_read_sensors(scree_Scene *scene, const scree_Log *log);

/* Numbers that all sensors of the scene give. */
int scree_sensors_columns(const scree_Scene *scene);

/* The sensors of a run at work. */
typedef struct scree_Sensors {
  const scree_Scene *scene;
  int columns;
  char (*names)[SCREE_SENSOR_COLUMN_SIZE]; /* (columns) */
  double *values;                          /* (columns) NAN: the measured body does not exist */
  double *before;     /* (columns) values at the start of the step, for rates */
  double *kept;       /* (columns) integrals and means so far */
  double time_before; /* at the start of the step */
  uint64_t *work;
  size_t work_capacity;
} scree_Sensors;

scree_Status scree_sensors_init(scree_Sensors *sensors, const scree_Scene *scene,
                                const scree_Log *log);
void scree_sensors_fini(scree_Sensors *sensors);
/* Before a step, with all its bodies there. */
scree_Status scree_sensors_begin(scree_Sensors *sensors, const scree_World *world,
                                 const scree_Log *log);
/* Integrals and means go on from a line of the telemetry. */
void scree_sensors_resume(scree_Sensors *sensors, const char *line);
/* After it: all values. SCREE_BAD_INPUT when a value is not finite although its body exists.
 */
scree_Status scree_sensors_take(scree_Sensors *sensors, const scree_World *world,
                                const scree_Log *log);

/* Values of sensors of regions (sensors_region.c); out has as many as the sensor has columns. NAN
 * where no body is. */
void scree_sensor_region(const scree_Sensor *sensor, const scree_World *world, double *out);
/* Height, against gravity, below which a part of the bodies' centres lies (sensors_height.c); NAN
 * where no body is; *good is false when memory ran out. */
double scree_sensor_height(scree_Sensors *sensors, const scree_Sensor *sensor,
                           const scree_World *world, bool *good);

#endif
