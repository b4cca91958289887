/* The floor and the walls of an open box, for the packings of benchmarks. */
#ifndef SCREE_BENCH_WALLS_H
#define SCREE_BENCH_WALLS_H

#include "scree/world.h"

#include <math.h>

/* The first `count` of: the floor at 0, the walls at x = 0 and x = width and, in 3D, those at y = 0
 * and y = width; heights are along y in 2D, along z in 3D. The one with the number `moving` has the
 * driver; -1: none. */
static inline scree_Status bench_walls(scree_World *world, int d, double width, int count,
                                       int moving, const scree_Signal *driver,
                                       const scree_Log *log) {
  const double s = sqrt(0.5);
  const scree_Pose plane[3] = {
      {{0, 0, 0}, {1, 0, 0, 0}}, {{0, 0, 0}, {s, 0, 0, -s}}, {{width, 0, 0}, {s, 0, 0, s}}};
  const scree_Pose space[5] = {{{0, 0, 0}, {1, 0, 0, 0}},
                               {{0, 0, 0}, {s, 0, s, 0}},
                               {{width, 0, 0}, {s, 0, -s, 0}},
                               {{0, 0, 0}, {s, -s, 0, 0}},
                               {{0, width, 0}, {s, s, 0, 0}}};
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  scree_Status status =
      d == 2 ? scree_shape_init_half_plane(&shape, log) : scree_shape_init_half_space(&shape, log);
  def.shape = &shape;
  def.obstacle = true;
  for (int k = 0; k < count && !status; ++k) {
    def.pose = d == 2 ? plane[k] : space[k];
    def.driver = k == moving ? *driver : (scree_Signal){.kind = SCREE_SIGNAL_ZERO};
    status = scree_world_add_body(world, &def, NULL);
  }
  scree_shape_fini(&shape);
  return status;
}

#endif
