/* The deepest of the points that scree_collide_each finds. */
#ifndef TEST_DEEPEST_H
#define TEST_DEEPEST_H

#include "geometry/composite.h"

#include <math.h>

typedef struct Deepest {
  int count; /* points found */
  double gap;
  scree_Vec3 normal;
} Deepest;

static const Deepest no_point = {0, INFINITY, {0, 0, 0}};

static inline void keep_deepest(void *user, const scree_ManifoldPoint *point) {
  Deepest *deepest = user;
  deepest->count++;
  if (!(point->gap < deepest->gap)) return;
  deepest->gap = point->gap;
  deepest->normal = point->normal;
}

#endif
