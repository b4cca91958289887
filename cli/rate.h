/* Time left, estimated from recent steps.
 *
 * Clock and simulated time of the steps done are summed with weights that fall by e over ten
 * seconds of the clock or ten steps, whichever is longer: fast steps are averaged over seconds,
 * slow ones over a few of them, so that a single long step does not dominate. */
#ifndef CLI_RATE_H
#define CLI_RATE_H

#include <math.h>

typedef struct CliRate {
  double wall, time, steps; /* weighted sums: seconds of the clock, simulated time, steps */
} CliRate;

/* One step of simulated time `time` took `wall` seconds of the clock. */
static inline void cli_rate_add(CliRate *rate, double wall, double time) {
  const double seconds = 10, steps = 10;
  const double keep = exp(-fmin(wall / seconds, 1 / steps));
  rate->wall = keep * rate->wall + wall;
  rate->time = keep * rate->time + time;
  rate->steps = keep * rate->steps + 1;
}

/* Seconds of the clock for `time`, when the step under way has taken `wall` so far; negative:
 * unknown. */
static inline double cli_rate_left(const CliRate *rate, double time, double wall) {
  if (!(rate->time > 0)) return -1;
  const double mean =
      rate->wall / rate->steps; /* mean time of a step: the one under way takes that, or more */
  return time * (rate->wall + fmax(0, wall - mean)) / rate->time;
}

static inline double cli_rate_steps(const CliRate *rate) {
  return rate->wall > 0 ? rate->steps / rate->wall : 0;
}

#endif
