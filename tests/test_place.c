/* Occupied places of generated bodies: blockers against the test of all pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene/generator_place.h"

#include <math.h>

enum { BODIES = 400 };

static double next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed / 4294967296.0;
}

/* A sphere at a random place in a box of four units; radii up to `largest`. */
static scree_SceneBody random_sphere(uint32_t *seed, double largest) {
  scree_SceneBody body = {.def = scree_body_def()};
  const double radius = largest * (0.05 + 0.95 * next_random(seed));
  assert_int_equal(scree_shape_init_sphere(&body.shape, radius, NULL), SCREE_OK);
  body.def.pose.position =
      (scree_Vec3){4 * next_random(seed) - 2, 4 * next_random(seed) - 2, 4 * next_random(seed) - 2};
  return body;
}

static bool touches(const scree_SceneBody *a, const scree_SceneBody *b) {
  const scree_Vec3 x = a->def.pose.position, y = b->def.pose.position;
  const double way =
      sqrt((x.x - y.x) * (x.x - y.x) + (x.y - y.y) * (x.y - y.y) + (x.z - y.z) * (x.z - y.z));
  return way < a->shape.bounding_radius + b->shape.bounding_radius;
}

/* Bodies that are free are kept, as generators do. Cells of the size of the largest body, and of a
 * fifth of it: most bodies are then in several cells. */
static void compare(double cell) {
  static scree_SceneBody bodies[BODIES];
  scree_Scene scene = {.bodies = bodies};
  scree_Place *place = scree_place_create(&scene, cell, NULL);
  uint32_t seed = 7;
  int blocked = 0;
  assert_non_null(place);
  for (int trial = 0; trial < 20 * BODIES && scene.body_count < BODIES; ++trial) {
    const scree_SceneBody body = random_sphere(&seed, 0.3);
    bool free_place = true;
    for (size_t k = 0; k < scene.body_count; ++k)
      if (touches(&bodies[k], &body)) free_place = false;
    const int blocker = scree_place_blocker(place, &scene, &body);
    assert_int_equal(blocker < 0, free_place);
    if (blocker >= 0) {
      assert_true(touches(&bodies[blocker], &body));
      ++blocked;
      continue;
    }
    bodies[scene.body_count++] = body;
    scene.kept = scene.body_count;
    assert_true(scree_place_add(place, &scene, (int)scene.body_count - 1));
  }
  assert_true(scene.body_count > 100 && blocked > 100);
  scree_place_destroy(place);
}

static void test_blockers(void **unused) {
  (void)unused;
  compare(0.6);
  compare(0.12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_blockers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
