/* Seconds of a clock that never goes back. */
#ifndef SCREE_CORE_CLOCK_H
#define SCREE_CORE_CLOCK_H

double scree_seconds(void);

#endif
