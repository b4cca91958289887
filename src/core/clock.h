/* Clocks, in seconds. */
#ifndef SCREE_CORE_CLOCK_H
#define SCREE_CORE_CLOCK_H

#include "core/private.h"

/* Monotonic clock. */
SCREE_PRIVATE double scree_seconds(void);

/* CPU time of this process. */
double scree_processor_seconds(void);

#endif
