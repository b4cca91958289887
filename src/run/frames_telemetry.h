/* The curves and the certificate of a run, from telemetry.jsonl (a line per step) and from the
 * analysis of the saved frames in results.h5. */
#ifndef SCREE_RUN_FRAMES_TELEMETRY_H
#define SCREE_RUN_FRAMES_TELEMETRY_H

#include "fclib/fclib_h5.h"
#include "run/frames.h"

/* Free the lines that a replay keeps; null is allowed. */
void scree_telemetry_forget(scree_TelemetryLines *lines);

/* Fill replay->rows, curves and certificate. A run without telemetry gets the curves of its frames;
 * a last line that was cut short is left out. Lines that replay->telemetry has already are not read
 * again, unless the file has become another one. */
scree_Status scree_replay_read_telemetry(scree_Replay *replay, const char *directory,
                                         const scree_H5 *h5);

#endif
