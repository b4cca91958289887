/* Runs that are resumed with a scene that was changed. Settings that act on later steps alone may
 * be changed: solver, duration, limits of the certificate, output, sensors, conditions to stop.
 * Bodies, laws, forces, drivers and the time step may not. */
#ifndef SCREE_RUN_RESUME_H
#define SCREE_RUN_RESUME_H

#include "scree/base.h"

#include <stdint.h>

typedef struct scree_SceneChange {
  char key[160], from[80], to[80]; /* cut where they are longer */
} scree_SceneChange;

typedef struct scree_SceneChanges {
  int count;
  size_t capacity;
  scree_SceneChange *list; /* (count) */
} scree_SceneChanges;

/* Compare two scenes with all defaults written out. SCREE_BAD_INPUT, with a message that names
 * `path`, when a key differs that must stay. */
scree_Status scree_changes_find(const char *before, const char *now, const char *path,
                                const scree_Log *log, scree_SceneChanges *changes);
/* Append a line of JSON to the file: step, time and the changes. */
scree_Status scree_changes_record(const scree_SceneChanges *changes, const char *path, int64_t step,
                                  double time, const scree_Log *log);
void scree_changes_fini(scree_SceneChanges *changes);

#endif
