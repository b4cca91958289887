/* Dense packings: bodies are moved and turned until none overlaps another, an obstacle or a wall.
 *
 * The overlaps are removed by minimising
 *
 *     E = 1/2 sum over pairs (c - gap)^2   where gap < c,
 *
 * with gap the signed distance of the two surfaces and c a small clearance, relative to the mean
 * size of the two. Below the density at which the bodies jam (about 0.64 for equal spheres,
 * 0.84 for disks of different sizes) E has zeros, and a gradient method with inertia finds one:
 * FIRE (Bitzek et al., Phys. Rev. Lett. 97, 170201, 2006) with the step back of its second version.
 * The iteration ends as soon as no gap is negative. Because of the clearance this happens after
 * finitely many steps and at the given sizes: nothing is shrunk. All sums have one order, so that
 * the result depends on the arguments alone. */
#ifndef SCREE_SCENE_PACKING_H
#define SCREE_SCENE_PACKING_H

#include "scree/shape.h"

typedef struct scree_Packing {
  int dimension;
  int count;                 /* bodies: the moving ones first, then those that stay */
  int moving;                /* of them */
  const scree_Shape *shapes; /* (count) */
  scree_Pose *poses;         /* (count) the first `moving` are changed */
  int wall_count;            /* unbounded shapes that every body is tested against */
  const scree_Shape *walls;  /* (wall_count) */
  const scree_Pose *wall_poses;
  bool turn; /* bodies may turn */
} scree_Packing;

/* Remove all overlaps, in at most `iterations` steps of the minimisation. *deepest is the largest
 * overlap that is left, relative to the size of the smaller body; 0: none. */
scree_Status scree_packing_relax(const scree_Packing *packing, int iterations, double *deepest,
                                 const scree_Log *log);

#endif
