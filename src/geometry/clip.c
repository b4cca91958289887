/* Removal of the corners of a clipped face that lie on the line between their neighbours
 * (see clip.h). */
#include "geometry/clip.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

/* Whether b is within `most` of the segment from a to c. */
static bool is_between(const scree_ClipCorner *a, const scree_ClipCorner *b,
                       const scree_ClipCorner *c, double most) {
  const double ex = c->u[0] - a->u[0], ey = c->u[1] - a->u[1];
  const double x = b->u[0] - a->u[0], y = b->u[1] - a->u[1], length2 = ex * ex + ey * ey;
  double t = length2 > 0 ? (x * ex + y * ey) / length2 : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return hypot(x - t * ex, y - t * ey) <= most;
}

int scree_clip_straighten(scree_ClipCorner *x, int count, double most) {
  assert(count >= 0 && most >= 0);
  for (int k = 0; k < count && count > 1;) {
    if (!is_between(&x[k > 0 ? k - 1 : count - 1], &x[k], &x[k + 1 < count ? k + 1 : 0], most)) {
      ++k;
      continue;
    }
    for (int m = k; m + 1 < count; ++m) x[m] = x[m + 1];
    --count;
    k = k > 0 ? k - 1 : 0;
  }
  return count;
}
