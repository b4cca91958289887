/* Contacts of pseudo-rigid bodies: those that keep their shape for contacts, round ones that roll
 * in pipes and drums, and impacts at steps that are long against them. Every step is certified. */
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

static double energy_of(const scree_World *world) {
  const scree_EnergyBalance e = scree_world_energy(world);
  return e.kinetic + e.elastic;
}

/* Two balls that approach each other at 2 v, at a step of 1.6 times the time of a wave over a
 * radius of 0.05 m, and a rigid ball that flies beside them. */
static scree_World *pair_of_balls(double young, double v) {
  const double modulus = young * 0.75 / (1.25 * 0.5); /* of Poisson's ratio 0.25 */
  scree_World *w = space(1.6 * 0.05 / sqrt(modulus / 1000), 0);
  for (int k = 0; k < 2; ++k) {
    scree_BodyDef def = soft_at(k ? 0.1 : -0.1, 0.03 * k, 0, young);
    def.density = 1000;
    def.velocity.linear = vec(k ? -v : v, 0, 0);
    add_sphere(w, 0.05, def);
  }
  scree_BodyDef def = at(0, 1, 0);
  def.velocity.linear = vec(0, 0, 1);
  add_sphere(w, 0.05, def);
  return w;
}

/* Soft bodies keep five sixths of the energy of an impact, whatever the step: an impact of a ball
 * loses that of the mass m / 6 at its contact. Steps are divided during the impact alone, and where
 * strains of a tenth vibrate at steps of the length of their period. The energy of the vibration
 * stays. */
static void test_impacts(void **state) {
  (void)state;
  for (double young = 1e5; young < 2e7; young *= 10)
    for (double v = 0.3; v < 4; v *= 3) {
      if (v < 0.006 * sqrt(young / 1000)) continue; /* nearly rigid */
      scree_World *w = pair_of_balls(young, v);
      const double start = scree_world_energy(w).kinetic, step = scree_world_get_settings(w)->step;
      const double other = 0.5 * 1000 * 4.0 / 3 * PI * pow(0.05, 3); /* of the rigid ball */
      const int steps = (int)(0.15 / v / step) + 200;
      int more = 0;
      for (int k = 0; k < steps; ++k) {
        scree_StepReport report;
        OK(scree_world_step(w, &report));
        assert_true(report.certified && report.energy_created < 2e-3);
        more += report.substeps - 1;
      }
      const double left = (energy_of(w) - other) / (start - other);
      print_message("%g Pa, %g m/s: %.4f left, %d parts more than %d steps\n", young, v, left, more,
                    steps);
      assert_true(left > 0.815 && left < 0.84);
      assert_true(more > 10 && more < 140);
      scree_world_destroy(w);
    }
}

/* A world that is saved while two balls hit each other goes on with the same bits. */
static void test_saved_impact(void **state) {
  (void)state;
  scree_World *w = pair_of_balls(1e6, 1), *other = pair_of_balls(1e6, 1);
  scree_StepReport report;
  int divided = 0;
  while (divided < 2) {
    OK(scree_world_step(w, &report));
    divided += report.substeps > 1;
  }
  const size_t size = scree_world_state_size(w);
  char *saved = malloc(size);
  assert_non_null(saved);
  scree_world_save(w, saved);
  OK(scree_world_restore(other, saved, size));
  for (int k = 0; k < 20; ++k) {
    scree_StepReport again;
    OK(scree_world_step(w, &report));
    OK(scree_world_step(other, &again));
    assert_int_equal(report.substeps, again.substeps);
  }
  for (int k = 0; k < 2; ++k) {
    const scree_Pose a = scree_body_pose(w, k), b = scree_body_pose(other, k);
    assert_memory_equal(&a, &b, sizeof a);
  }
  free(saved);
  scree_world_destroy(w);
  scree_world_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept_shape),
                                     cmocka_unit_test(test_kept_corners),
                                     cmocka_unit_test(test_in_drum), cmocka_unit_test(test_impacts),
                                     cmocka_unit_test(test_saved_impact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
