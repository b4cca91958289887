/* Sensors of regions: solid fraction, mass, mean velocity and its profile.
 *
 * Removed bodies and obstacles do not count. A body that the boundary cuts counts for the solid
 * fraction with its share inside, as a ball of its volume (scree_region_share); for mass and
 * velocities it counts if its origin is inside. */
#include "math/vec3.h"
#include "scene/sensors.h"
#include "world/world.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/* Radius of the ball (disk) of the same volume. */
static double radius_of(int dimension, double volume) {
  return dimension == 3 ? cbrt(0.75 * volume / PI) : sqrt(volume / PI);
}

static double solid_fraction(const scree_Region *region, const scree_World *world) {
  const scree_Bodies *b = &world->system.bodies;
  double sum = 0;
  for (int k = 0; k < b->count; ++k) {
    const double volume = b->cold[k].shape.volume;
    if (!scree_sensor_counts(world, k) || !(volume > 0)) continue;
    sum += volume * scree_region_share(region, b->motion[k].pose.position,
                                       radius_of(region->dimension, volume));
  }
  scree_system_sums(&world->system, &sum, 1);
  return sum / region->volume;
}

/* Slice of the region along `normal` that a point is in, between the ends of its bounds. */
static int slice_of(const scree_Sensor *sensor, scree_Vec3 x) {
  const scree_Region *region = &sensor->region;
  double low = 0, high = 0;
  for (int k = 0; k < region->dimension; ++k) {
    const double n = scree_component(sensor->normal, k);
    const double a = n * scree_component(region->lower, k);
    const double c = n * scree_component(region->upper, k);
    low += fmin(a, c);
    high += fmax(a, c);
  }
  const double place = (scree_dot(sensor->normal, x) - low) / (high - low) * sensor->bins;
  return (int)fmin(fmax(place, 0), sensor->bins - 1);
}

static void velocity_profile(const scree_Sensor *sensor, const scree_World *world, double *out) {
  const scree_Bodies *b = &world->system.bodies;
  double mass[SCREE_PROFILE_BINS_MAX] = {0};
  for (int k = 0; k < sensor->bins; ++k) out[k] = 0;
  for (int k = 0; k < b->count; ++k) {
    const scree_Vec3 x = b->motion[k].pose.position;
    if (!scree_sensor_counts(world, k) || !scree_region_holds(&sensor->region, x, 0)) continue;
    const int slice = slice_of(sensor, x);
    mass[slice] += b->inertia[k].mass;
    out[slice] += b->inertia[k].mass * scree_dot(sensor->component, b->motion[k].velocity.linear);
  }
  scree_system_sums(&world->system, mass, (size_t)sensor->bins);
  scree_system_sums(&world->system, out, (size_t)sensor->bins);
  for (int k = 0; k < sensor->bins; ++k) out[k] = mass[k] > 0 ? out[k] / mass[k] : (double)NAN;
}

void scree_sensor_region(const scree_Sensor *sensor, const scree_World *world, double *out) {
  const scree_Bodies *b = &world->system.bodies;
  const scree_Region *region = &sensor->region;
  if (sensor->kind == SCREE_SENSOR_SOLID_FRACTION) {
    out[0] = solid_fraction(region, world);
    return;
  }
  if (sensor->kind == SCREE_SENSOR_VELOCITY_PROFILE) {
    velocity_profile(sensor, world, out);
    return;
  }
  double mass = 0;
  scree_Vec3 momentum = {0, 0, 0};
  for (int k = 0; k < b->count; ++k) {
    if (!scree_sensor_counts(world, k) ||
        !scree_region_holds(region, b->motion[k].pose.position, 0))
      continue;
    mass += b->inertia[k].mass;
    momentum = scree_axpy(momentum, b->inertia[k].mass, b->motion[k].velocity.linear);
  }
  scree_system_sums(&world->system, &mass, 1);
  momentum = scree_sensor_sum(world, momentum);
  if (sensor->kind == SCREE_SENSOR_MASS)
    out[0] = mass;
  else
    for (int c = 0; c < region->dimension; ++c)
      out[c] = mass > 0 ? scree_component(momentum, c) / mass : (double)NAN;
}
