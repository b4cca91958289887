/* The clocks of POSIX. */
#define _POSIX_C_SOURCE 200809L
#include "core/clock.h"

#include <time.h>

static double read_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double scree_seconds(void) {
  return read_clock(CLOCK_MONOTONIC);
}

double scree_processor_seconds(void) {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
