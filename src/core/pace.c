/* One thread or more, by measured costs (see pace.h). */
#include "core/pace.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

/* Loops between two that try the dearer number of threads: where it takes twice as long that costs
 * a sixty-fourth. */
enum { AGAIN = 64 };
/* Part of a new cost in the mean. */
static const double fresh = 0.25;

int scree_pace_threads(scree_Pace *pace, int most) {
  assert(most >= 1);
  if (most == 1) return 1;
  if (!(pace->many > 0)) return most;
  if (!(pace->one > 0)) return 1;
  const bool one = pace->one < pace->many;
  pace->turn = (pace->turn + 1) % AGAIN;
  return one != (pace->turn == 0) ? 1 : most;
}

void scree_pace_add(scree_Pace *pace, int threads, double cost) {
  double *mean = threads == 1 ? &pace->one : &pace->many;
  if (!(cost > 0 && cost < INFINITY)) return;
  *mean = *mean > 0 ? *mean + fresh * (cost - *mean) : cost;
}
