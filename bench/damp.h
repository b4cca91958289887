/* Settling of packings for benchmarks: all velocities times a factor. */
#ifndef SCREE_BENCH_DAMP_H
#define SCREE_BENCH_DAMP_H

#include "scree/world.h"

static inline scree_Status damp_velocities(scree_World *world, double factor) {
  scree_Status status = SCREE_OK;
  for (int b = 0; b < scree_world_body_count(world) && !status; ++b) {
    if (scree_body_is_obstacle(world, b)) continue;
    scree_Twist v = scree_body_velocity(world, b);
    double *part[6] = {&v.linear.x,  &v.linear.y,  &v.linear.z,
                       &v.angular.x, &v.angular.y, &v.angular.z};
    for (int k = 0; k < 6; ++k) *part[k] *= factor;
    status = scree_body_set_velocity(world, b, &v);
  }
  return status;
}

#endif
