/* Contacts of pseudo-rigid bodies: those that keep their shape for contacts, and round ones that
 * roll in pipes and drums. Every step is certified. */
#include "math/vec3.h"
#include "test_world_scene.h"

static const double PI = 3.14159265358979323846;

static scree_World *space(double step, double g) {
  scree_WorldSettings settings = scree_world_settings();
  settings.step = step;
  settings.gravity = vec(0, 0, -g);
  return make_world(&settings, 0.3, 0, 0);
}

/* Balls that keep their shape fall on each other: the gap of the law is that of the deformed
 * bodies, so that compression is no penetration, and every step is certified. */
static void test_kept_shape(void **state) {
  (void)state;
  scree_World *w = space(1e-3, 10);
  add_half_space(w, obstacle_at(0, 0, 0));
  int last = 0;
  for (int k = 0; k < 6; ++k) {
    scree_BodyDef def = soft_at(0.02 * k, 0.01 * (k % 2), 0.09 + 0.2 * k, 1e6);
    def.density = 100;
    def.elastic.keeps_shape = true;
    if (k % 2) {
      last = add_sphere(w, 0.08, def);
      continue;
    }
    scree_Shape shape;
    OK(scree_shape_init_ellipsoid(&shape, 0.08, 0.07, 0.09, &test_log));
    add_shape(w, &shape, def);
  }
  double deepest = 0;
  for (int k = 0; k < 800; ++k) {
    scree_StepReport report;
    OK(scree_world_step(w, &report));
    assert_true(report.certified);
    deepest = fmax(deepest, report.penetration);
  }
  assert_true(deepest < 5e-3);
  assert_true(scree_body_shape(w, last)->kind == SCREE_SHAPE_SPHERE);
  NEAR(scree_body_shape(w, last)->radius, 0.08, 0);
  scree_world_destroy(w);
}

/* A soft ball that is dropped and rolls in a pipe or in a drum that turns: the path of its contact
 * bends in every step, whatever its axes are and whether it keeps its shape. */
static void test_in_drum(void **state) {
  (void)state;
  for (int how = 0; how < 4; ++how) {
    const bool kept = how % 2 == 1, drum = how >= 2;
    scree_World *w = space(drum ? 4e-3 : 2.4e-3, 9.81);
    scree_Shape shape;
    scree_BodyDef wall = obstacle_at(0, 0, 0), ball = soft_at(0, 0, drum ? -0.45 : -0.15, 1e6);
    if (drum)
      OK(scree_shape_init_drum(&shape, 0.6, 0.5, &test_log));
    else
      OK(scree_shape_init(&shape, SCREE_SHAPE_PIPE, (double[]){0.3, 3}, NULL, 0, &test_log));
    /* its axis along y, or almost along x */
    const scree_Vec3 turn = drum ? vec(0.5 * PI, 0, 0) : vec(0, 1.6, 0);
    wall.pose.orientation = scree_quat_integrate(scree_quat_identity(), turn, 1);
    if (drum) {
      wall.driver.kind = SCREE_SIGNAL_CONSTANT;
      wall.driver.constant.angular = vec(0, 1, 0);
    }
    add_shape(w, &shape, wall);
    ball.elastic.damping = 1e-3;
    ball.elastic.keeps_shape = kept;
    if (!drum) ball.velocity.linear = vec(1, 0.5, 0);
    add_sphere(w, 0.1, ball);
    scree_StepReport report;
    for (int k = 0; k < (drum ? 500 : 625); ++k) {
      OK(scree_world_step(w, &report));
      assert_true(report.certified);
    }
    print_message("%s, %s: created %.1e\n", drum ? "drum" : "pipe", kept ? "kept" : "soft",
                  report.energy_created);
    assert_true(report.energy_created < 4e-3);
    scree_world_destroy(w);
  }
}

static double next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return 2.0 * *seed / 4294967296.0 - 1;
}

/* A box or a tetrahedron that keeps its shape, and a soft ellipsoid, turned at random and turning,
 * meet in space at twice `speed`. Steps are certified, and neither depth nor created energy reaches
 * what is allowed. */
static void check_corners(uint32_t seed, double speed) {
  const double r = 0.04;
  const scree_Vec3 corners[4] = {{r, r, r}, {r, -r, -r}, {-r, r, -r}, {-r, -r, r}};
  scree_World *w = space(1e-3, 0);
  for (int k = 0; k < 2; ++k) {
    scree_Shape shape;
    double x[8];
    for (int i = 0; i < 8; ++i) x[i] = next_random(&seed);
    scree_BodyDef def = soft_at(0.116 * k, 0.02 * x[0], 0.02 * x[1], 2e6);
    def.elastic.damping = 1e-3;
    def.elastic.keeps_shape = k == 0;
    def.pose.orientation =
        scree_quat_integrate(scree_quat_identity(), vec(3 * x[2], 3 * x[3], 3 * x[4]), 1);
    def.velocity = (scree_Twist){{k ? -speed : speed, 0, 0}, {10 * x[5], 10 * x[6], 10 * x[7]}};
    if (k == 1)
      OK(scree_shape_init_ellipsoid(&shape, 0.8 * r, 0.9 * r, r, &test_log));
    else if (seed % 2)
      OK(scree_shape_init_box(&shape, 0.8 * r, 0.7 * r, 0.6 * r, &test_log));
    else
      OK(scree_shape_init_polyhedron(&shape, corners, 4, &test_log));
    add_shape(w, &shape, def);
  }
  for (int k = 0; k < 80; ++k) {
    scree_StepReport report;
    OK(scree_world_step(w, &report));
    assert_true(report.certified && report.penetration < 6e-3);
    assert_true(report.energy_created < 0.009);
  }
  scree_world_destroy(w);
}

static void test_kept_corners(void **state) {
  (void)state;
  for (uint32_t k = 0; k < 24; ++k) {
    check_corners(7919 * k + 3, 1.5);
    check_corners(7919 * k + 4, 4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept_shape),
                                     cmocka_unit_test(test_kept_corners),
                                     cmocka_unit_test(test_in_drum)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
