/* Clocks, in seconds. */
#ifndef SCREE_CORE_CLOCK_H
#define SCREE_CORE_CLOCK_H

/* That never goes back. */
double scree_seconds(void);

/* What the processor has spent on this program. */
double scree_processor_seconds(void);

#endif
