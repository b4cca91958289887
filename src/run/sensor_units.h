/* What the sensors of a run measure, and in which unit: from the scene in the folder of the run. */
#ifndef SCREE_RUN_SENSOR_UNITS_H
#define SCREE_RUN_SENSOR_UNITS_H

#include "scene/sensors.h"

typedef struct scree_SensorUnit {
  char name[SCREE_SENSOR_NAME_MAX + 1];
  char what[24]; /* its kind in words: "contact force" */
  char unit[32]; /* empty for pure numbers */
} scree_SensorUnit;

typedef struct scree_SensorUnits {
  scree_SensorUnit sensor[SCREE_SENSORS_MAX];
  int count;
} scree_SensorUnits;

/* None where the folder has no scene that can be read: worlds that are built by calls. */
void scree_sensor_units_read(const char *folder, scree_SensorUnits *units);

/* By the name of the sensor, `length` characters; null: unknown. */
const scree_SensorUnit *scree_sensor_units_find(const scree_SensorUnits *units, const char *name,
                                                size_t length);

#endif
