/* The sensor of heights (see sensors.h). The height below which a part of the bodies' centres lies
 * is the number of a given place in the order of all. It is found bit by bit, five at a time, from
 * how many numbers of all ranks begin with each, so that no rank needs the numbers of the others.
 */
#include "core/memory.h"
#include "math/vec3.h"
#include "parallel/ranks.h"
#include "scene/scene.h"

#include <math.h>
#include <string.h>

/* Doubles in the order of their values. */
static uint64_t ordered(double x) {
  const uint64_t sign = (uint64_t)1 << 63;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits & sign ? ~bits : bits | sign;
}

static double value_of(uint64_t key) {
  const uint64_t sign = (uint64_t)1 << 63, bits = key & sign ? key & ~sign : ~key;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

double scree_sensor_height(scree_Sensors *sensors, const scree_Sensor *sensor,
                           const scree_World *world, bool *good) {
  enum { BITS = 5, BINS = 1 << BITS };
  const scree_Ranks *ranks = scree_world_ranks(world);
  const scree_Bodies *b = &world->system.bodies;
  const scree_Vec3 g = sensors->scene->gravity;
  const scree_Vec3 up =
      scree_unit_or(scree_scale(-1, g),
                    sensors->scene->dimension == 2 ? scree_vec3(0, 1, 0) : scree_vec3(0, 0, 1));
  *good = scree_grow((void **)&sensors->work, &sensors->work_capacity, (size_t)b->count + 1,
                     sizeof *sensors->work);
  *good = !scree_ranks_any(ranks, !*good);
  if (!*good) return NAN;
  size_t n = 0;
  for (int k = 0; k < b->count; ++k)
    if (scree_sensor_counts(world, k))
      sensors->work[n++] = ordered(scree_dot(up, b->motion[k].pose.position));
  const double all = scree_ranks_sum(ranks, (double)n);
  if (all == 0) return NAN;
  double place = fmin(fmax(ceil(sensor->fraction * all), 1), all); /* from 1 */
  uint64_t found = 0;
  for (int left = 64; left > 0;) {
    const int bits = left < BITS ? left : BITS, shift = left - bits;
    double count[BINS] = {0};
    size_t kept = 0;
    for (size_t k = 0; k < n; ++k) {
      if (left < 64 && sensors->work[k] >> left != found) continue;
      sensors->work[kept++] = sensors->work[k];
      count[sensors->work[k] >> shift & (BINS - 1) & (((uint64_t)1 << bits) - 1)] += 1;
    }
    n = kept;
    scree_ranks_sums(ranks, count, BINS);
    uint64_t bin = 0;
    while (bin < BINS - 1 && place > count[bin]) place -= count[bin++];
    found = found << bits | bin;
    left = shift;
  }
  return value_of(found);
}
