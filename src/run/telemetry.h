/* telemetry.jsonl: a line of JSON per step (docs/RESULTS.md). */
#ifndef SCREE_RUN_TELEMETRY_H
#define SCREE_RUN_TELEMETRY_H

#include "run/parts.h"
#include "scene/sensors.h"
#include "scree/world.h"

#include <stdint.h>

typedef struct scree_Telemetry {
  const char *path;
  int file;
  int64_t length; /* bytes of whole lines, written or waiting */
  char *waiting;  /* lines that are not yet written */
  size_t count, capacity;
} scree_Telemetry;

/* Open for appending after the first `length` bytes; the rest of the file is cut off. The file is
 * locked: a second run in the same folder is refused. */
scree_Status scree_telemetry_open(scree_Telemetry *telemetry, const char *path, int64_t length,
                                  const scree_Log *log);
/* `sent`: by the ranks in this step, or null. */
scree_Status scree_telemetry_add(scree_Telemetry *telemetry, const scree_StepReport *report,
                                 int bodies, const scree_RunSent *sent,
                                 const scree_Sensors *sensors, const scree_Log *log);
/* Write the waiting lines; flush to the disk when `sync`. */
scree_Status scree_telemetry_flush(scree_Telemetry *telemetry, bool sync, const scree_Log *log);
/* The last line as text, to be freed; null: out of memory. */
char *scree_telemetry_last_line(const scree_Telemetry *telemetry);
void scree_telemetry_close(scree_Telemetry *telemetry);

#endif
