/* A heap of bodies that fall, and states of worlds compared bit by bit. */
#ifndef TEST_WORLD_HEAP_H
#define TEST_WORLD_HEAP_H

#include "test_world_scene.h"

static inline double next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed / 4294967296.0;
}

/* A heap of disks and rectangles in 2D, or of spheres and boxes in 3D, falling into a corner. */
static inline scree_World *heap(int dimension, const char *scheme, int n, int threads) {
  scree_WorldSettings settings = scree_world_settings();
  const int side = (int)ceil(dimension == 2 ? sqrt(n) : cbrt(n));
  settings.dimension = dimension;
  settings.scheme = scheme;
  settings.step = 2e-3;
  settings.gravity = dimension == 2 ? vec(1, -9.81, 0) : vec(1, 0.5, -9.81);
  settings.solve.tolerance = 1e-4;
  settings.solve.threads = threads;
  scree_World *world = make_world(&settings, 0.4, 0.2, 0);
  uint32_t seed = 3;
  if (dimension == 2)
    add_half_plane(world, obstacle_at(0, -0.02, 0));
  else
    add_half_space(world, obstacle_at(0, 0, -0.02));
  for (int k = 0; k < n; ++k) {
    const int i = k % side, j = k / side % side, l = k / side / side;
    scree_BodyDef def;
    if (dimension == 2)
      def = at(0.196 * i, 0.196 * (k / side) + 0.1, 0);
    else
      def = at(0.2 * i, 0.2 * j, 0.2 * l + 0.1);
    def.velocity.linear = vec(next_random(&seed) - 0.5, next_random(&seed) - 0.5, 0);
    const double r = 0.095 + 0.004 * next_random(&seed);
    if (dimension == 2 && k % 4)
      add_disk(world, r, def);
    else if (dimension == 2)
      add_rectangle(world, 0.8 * r, 0.7 * r, def);
    else if (k % 4)
      add_sphere(world, r, def);
    else
      add_box(world, 0.7 * r, 0.6 * r, 0.5 * r, def);
  }
  return world;
}

static inline void *save(const scree_World *world, size_t *size) {
  *size = scree_world_state_size(world);
  void *buffer = malloc(*size);
  assert_non_null(buffer);
  scree_world_save(world, buffer);
  return buffer;
}

static inline void assert_same_state(const scree_World *a, const scree_World *b) {
  size_t size_a, size_b;
  void *state_a = save(a, &size_a), *state_b = save(b, &size_b);
  assert_int_equal(size_a, size_b);
  assert_memory_equal(state_a, state_b, size_a);
  free(state_a);
  free(state_b);
}

#endif
