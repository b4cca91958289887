/* Bodies that meet in a world: nothing passes through anything else, nothing is stopped that only
 * comes near, impacts leave no penetration, and penetration at the start is pushed out without
 * creating energy unseen. */
#include "test_world_scene.h"

/* ---- schemes --------------------------------------------------------------------------------- */

static const char *const ahead[] = {"moreau-jean", "euler"}; /* schemes that look ahead */

/* A fast ball does not pass a thin plate, nor a ball pushed by a fast one, and nothing ever
 * overlaps. */
static void nothing_tunnels(void **state) {
  (void)state;
  for (int scheme = 0; scheme < 2; ++scheme) {
    scree_WorldSettings settings = scree_world_settings();
    settings.scheme = ahead[scheme];
    settings.step = 1e-2;
    settings.solve.tolerance = 1e-10;
    scree_World *world = make_world(&settings, 0.2, 0, 0);
    add_box(world, 1, 1, 0.001, obstacle_at(0, 0, 0));
    scree_BodyDef def = at(0.01, 0.02, 1.3);
    def.velocity.linear = vec(0, 0, -100);
    add_sphere(world, 0.05, def);
    add_sphere(world, 0.02, at(0, 0, 0.3)); /* light and still, between the ball and the plate */
    for (int k = 0; k < 20; ++k) {
      double penetration;
      int pair[2];
      OK(scree_world_step(world, NULL));
      OK(scree_world_penetration(world, &penetration, pair));
      assert_true(penetration < 1e-5); /* of the plate, after a motion of 500 times its thickness */
      for (int b = 1; b < 3; ++b) assert_true(scree_body_pose(world, b).position.z > 0);
    }
    scree_world_destroy(world);
  }
}

/* A bullet of radius 0.05 flies at a plate of thickness 0.001 and reaches it in the third step, all
 * lengths times `scale`. Returns its distance from the plate after ten steps and its velocity over
 * the first one. */
static double shoot(const char *scheme, double e, double speed, double scale, double *velocity) {
  scree_WorldSettings settings = scree_world_settings();
  settings.scheme = scheme;
  settings.step = 1e-2;
  scree_World *world = make_world(&settings, 0.3, e, 0);
  add_box(world, scale, scale, 0.0005 * scale, obstacle_at(0, 0, 0));
  const double height = 0.0505 + 2.3 * speed * settings.step;
  scree_BodyDef def = at(0.01 * scale, 0.02 * scale, height * scale);
  def.velocity.linear = vec(0, 0, -speed * scale);
  const int ball = add_sphere(world, 0.05 * scale, def);
  for (int k = 0; k < 10; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    assert_true(report.certified && report.substeps == 1);
    assert_true(report.penetration < 1e-9 + 1e-14 * speed); /* round-off of the way flown */
    assert_true(report.energy_created < 1e-12);
  }
  const double z = scree_body_pose(world, ball).position.z / scale - 0.0505;
  *velocity = scree_body_velocity(world, ball).linear.z / (speed * scale);
  scree_world_destroy(world);
  return z;
}

/* At any speed the bullet and the plate meet: without restitution it comes to rest on the surface,
 * with restitution it comes back at e times its speed. */
static void bullets_do_not_pass(void **state) {
  (void)state;
  const double scales[] = {1, 1e-3, 1e3}, speeds[] = {0.01, 1, 100, 1e4, 1e8};
  for (int scheme = 0; scheme < 2; ++scheme)
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 5; ++i) {
        double velocity;
        /* places are known to round-off of the way that was flown */
        const double exact = 1e-9 + 1e-13 * speeds[i];
        NEAR(shoot(ahead[scheme], 0, speeds[i], scales[k], &velocity), 0, exact);
        NEAR(velocity, 0, 1e-9);
        assert_true(shoot(ahead[scheme], 0.5, speeds[i], scales[k], &velocity) > 0);
        NEAR(velocity, 0.5, 1e-9);
        assert_true(shoot(ahead[scheme], 1, speeds[i], scales[k], &velocity) > 0);
        NEAR(velocity, 1, 1e-12);
      }
}

/* Two fast balls that pass each other at a tenth of their size do not touch. The expanded gap takes
 * each for a half-space: that is so for steps in which they move by less than half of their size,
 * here by a fifth. */
static void near_misses_are_none(void **state) {
  (void)state;
  for (int scheme = 0; scheme < 2; ++scheme) {
    scree_WorldSettings settings = scree_world_settings();
    settings.scheme = ahead[scheme];
    settings.step = 0.02 / 150;
    scree_World *world = make_world(&settings, 0, 0, 0);
    scree_BodyDef def = at(-1, 0.11, 0);
    def.velocity.linear.x = 70;
    def.velocity.angular.z = 500;
    add_sphere(world, 0.05, def);
    def = at(1, 0, 0);
    def.velocity.linear.x = -80;
    add_sphere(world, 0.05, def);
    add_box(world, 3, 0.01, 1, obstacle_at(0, -0.06 - 1e-6, 0)); /* it all but slides along this */
    for (int k = 0; k < 200; ++k) {
      scree_StepReport report;
      OK(scree_world_step(world, &report));
      assert_int_equal(report.substeps, 1);
      assert_int_equal(report.active, 0);
    }
    assert_true(scree_body_pose(world, 0).position.x > scree_body_pose(world, 1).position.x);
    NEAR(scree_body_velocity(world, 0).linear.x, 70, 0);
    NEAR(scree_body_velocity(world, 1).linear.x, -80, 0);
    scree_world_destroy(world);
  }
}

/* Impacts leave no penetration, and the energy never grows; with closed contacts only, as 000 and
 * 001 print the scheme, bodies that meet in the middle of a step keep their overlap. */
static void impacts_leave_no_penetration(void **state) {
  (void)state;
  const char *const schemes[] = {"moreau-jean-closed", "moreau-jean", "euler"};
  double depth[3];
  for (int scheme = 0; scheme < 3; ++scheme) {
    scree_WorldSettings settings = scree_world_settings();
    settings.dimension = 2;
    settings.scheme = schemes[scheme];
    settings.step = 1e-3;
    settings.gravity = vec(0, -9.81, 0);
    if (scheme == 0) settings.penetration_limit = INFINITY;
    scree_World *world = make_world(&settings, 0.5, 0, 0);
    add_half_plane(world, obstacle_at(0, 0, 0));
    for (int k = 0; k < 12; ++k) {
      const scree_BodyDef def = at(0.03 * (k % 3), 0.1 + 0.25 * k, 0);
      if (k % 2)
        add_rectangle(world, 0.1, 0.08, def);
      else
        add_disk(world, 0.1, def);
    }
    scree_EnergyBalance energy = scree_world_energy(world);
    const double scale = energy.potential;
    double last = energy.kinetic + energy.potential;
    for (int k = 0; k < 1500; ++k) {
      scree_StepReport report;
      OK(scree_world_step(world, &report));
      last = report.energy.kinetic + report.energy.potential;
      assert_true(last <= scale * (1 + 1e-9));
      assert_true(report.energy_created <= settings.energy_limit);
    }
    energy = scree_world_energy(world);
    assert_true(last < scale);
    assert_true(energy.push <= 1e-3 * (energy.normal + energy.friction));
    OK(scree_world_penetration(world, &depth[scheme], NULL));
    scree_world_destroy(world);
  }
  print_message("penetration left: %.1e as printed in the papers, %.1e moreau-jean, %.1e euler\n",
                depth[0], depth[1], depth[2]);
  assert_true(depth[1] <= 1e-4 && depth[2] <= 1e-4);
  assert_true(depth[1] < 0.1 * depth[0] && depth[2] < 0.1 * depth[0]);
}

/* ---- penetration at the start, and energy that is created ------------------------------------ */

/* Blocks of 1 m stacked with `depth` of overlap at every face. */
static scree_World *overlapping_stack(const scree_WorldSettings *settings, int n, double depth) {
  scree_World *world = make_world(settings, 0.5, 0, 0);
  if (settings->dimension == 2)
    add_half_plane(world, obstacle_at(0, 0, 0));
  else
    add_half_space(world, obstacle_at(0, 0, 0));
  for (int k = 0; k < n; ++k) {
    const double up = 0.5 - depth + k * (1 - depth);
    if (settings->dimension == 2)
      add_rectangle(world, 0.5, 0.5, at(0, up, 0));
    else
      add_box(world, 0.5, 0.5, 0.5, at(0, 0, up));
  }
  return world;
}

static scree_WorldSettings settings_of_stack(int dimension, const char *scheme) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = dimension;
  settings.scheme = scheme;
  settings.step = 0.01;
  settings.gravity = dimension == 2 ? vec(0, -9.81, 0) : vec(0, 0, -9.81);
  return settings;
}

/* Penetration that is given at the start goes away slowly: nothing is thrown, all bodies stay
 * loaded and the work of lifting them is reported as such. What is left of it, at most 0.3 of the
 * limit on penetration, is pushed out only as far as the energy that is turned over allows. */
static void push_out(int dimension, const char *scheme, int n, double depth, double step,
                     int steps) {
  const double g = 9.81;
  scree_WorldSettings settings = settings_of_stack(dimension, scheme);
  settings.step = step;
  scree_World *world = overlapping_stack(&settings, n, depth);
  const scree_EnergyBalance start = scree_world_energy(world);
  const double weight = scree_body_mass(world, 1) * g;
  const double lift = weight * depth * (0.5 * n * (n + 1)); /* by depth, 2 depth, 3 depth ... */
  double fastest = 0, highest = 0;
  for (int k = 0; k < steps; ++k) {
    scree_StepReport report;
    /* it is above the limits on penetration and energy, and says so */
    assert_true(scree_world_step(world, &report) <= SCREE_NOT_CONVERGED);
    if (k == 0) assert_false(report.certified);
    assert_true(fabs(report.energy.closing) < 1e-12 * (fabs(start.potential) + lift));
    assert_true(report.error <= report.tolerance && report.substeps == 1);
    const scree_Vec3 v = scree_body_velocity(world, n).linear,
                     x = scree_body_pose(world, n).position;
    fastest = fmax(fastest, sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
    highest = fmax(highest, dimension == 2 ? x.y : x.z);
  }
  double left;
  OK(scree_world_penetration(world, &left, NULL));
  const scree_EnergyBalance end = scree_world_energy(world);
  print_message("pushed out, %s, %dD, %d boxes, depth %g, step %g: %.1e left, fastest %.3f m/s, "
                "push %.3f of the lift\n",
                scheme, dimension, n, depth, step, left, fastest, end.push / lift);
  const double allowed = 0.31 * settings.penetration_limit;
  assert_true(left < fmax(0.05 * depth, allowed));
  NEAR(highest, n - 0.5, n * fmax(0.02 * depth, allowed));
  /* each contact opens with at most twice the velocity that gravity gives in a step */
  assert_true(fastest < 2.1 * n * g * step);
  NEAR(end.potential - start.potential, lift, fmax(0.05, allowed / depth) * lift);
  NEAR(end.push, end.potential - start.potential, 0.2 * lift);
  assert_true(end.kinetic < 1e-4 * lift);
  scree_world_destroy(world);
}

static void penetration_is_pushed_out_gently(void **state) {
  (void)state;
  for (int scheme = 0; scheme < 2; ++scheme) {
    push_out(2, ahead[scheme], 1, 0.05, 0.01, 250);
    push_out(2, ahead[scheme], 3, 0.05, 0.01, 250);
    push_out(3, ahead[scheme], 3, 0.05, 0.01, 250);
    push_out(2, ahead[scheme], 10, 0.05, 0.01, 250);
    push_out(2, ahead[scheme], 10, 0.005, 0.002, 250); /* shorter steps throw no harder */
  }
}

/* Where nothing presses bodies together, nothing pushes them apart: they stay where they are. */
static void penetration_without_load_stays(void **state) {
  (void)state;
  for (int scheme = 0; scheme < 2; ++scheme) {
    scree_WorldSettings settings = scree_world_settings();
    settings.scheme = ahead[scheme];
    settings.step = 0.01;
    scree_World *world = make_world(&settings, 0.5, 0, 0);
    add_sphere(world, 0.5, at(0, 0, 0));
    add_sphere(world, 0.5, at(0.9, 0, 0));
    for (int k = 0; k < 20; ++k) {
      scree_StepReport report;
      assert_int_equal(scree_world_step(world, &report), SCREE_NOT_CONVERGED);
      assert_false(report.certified); /* above the limit on penetration, and said so */
      NEAR(report.penetration, 0.1, 1e-12);
      assert_int_equal(report.deepest_body[0] + report.deepest_body[1], 1);
    }
    NEAR(scree_world_energy(world).kinetic, 0, 0);
    NEAR(scree_body_pose(world, 1).position.x, 0.9, 1e-15);
    scree_world_destroy(world);
  }
}

/* The certificate fails when a scene creates energy: bodies that are pushed out of each other are
 * lifted by nothing. */
static void created_energy_is_reported(void **state) {
  (void)state;
  for (int scheme = 0; scheme < 2; ++scheme) {
    const scree_WorldSettings settings = settings_of_stack(2, ahead[scheme]);
    double created[2] = {0, 0};
    for (int deep = 0; deep < 2; ++deep) {
      scree_World *world = overlapping_stack(&settings, 3, deep ? 0.1 : 0);
      bool failed = false;
      for (int k = 0; k < 100; ++k) {
        scree_StepReport report;
        const scree_Status status = scree_world_step(world, &report);
        const bool above = report.energy_created > settings.energy_limit;
        assert_int_equal(status, report.missed ? SCREE_NOT_CONVERGED : SCREE_OK);
        assert_true(above == ((report.missed & SCREE_MISSED_ENERGY) != 0));
        assert_true(report.certified == !report.missed);
        assert_true(report.energy_created >= created[deep]); /* it is not forgotten */
        created[deep] = report.energy_created;
        failed = failed || above;
      }
      assert_true(failed == (deep == 1));
      assert_true(scree_world_energy(world).push > 0 || !deep);
      scree_world_destroy(world);
    }
    print_message("energy created, %s: %.1e at rest, %.1e from penetration\n", ahead[scheme],
                  created[0], created[1]);
    assert_true(created[0] < 1e-6 && created[1] > 0.5);
  }
}

/* A dense packing in a turning drum, solved to the default tolerance: bodies that press on each
 * other do not sink into each other. */
static void dense_packing(void **state) {
  (void)state;
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.step = 1e-3;
  settings.gravity = vec(0, -9.81, 0);
  settings.solve.tolerance = 1e-4;
  settings.solve.threads = 1;
  scree_World *world = make_world(&settings, 0.5, 0.2, 0);
  scree_Shape drum;
  scree_BodyDef def = obstacle_at(0, 0, 0);
  OK(scree_shape_init_drum_2d(&drum, 0.5, &test_log));
  def.driver.kind = SCREE_SIGNAL_CONSTANT;
  def.driver.constant.angular.z = 1;
  add_shape(world, &drum, def);
  int count = 0;
  for (int i = -6; i <= 6; ++i)
    for (int j = -6; j <= 2; ++j) {
      const double x = 0.065 * i, y = 0.065 * j;
      if (hypot(x, y) > 0.45) continue;
      if (count % 5 == 0)
        add_rectangle(world, 0.025, 0.02, at(x + 0.002 * (j & 1), y, 0));
      else
        add_disk(world, 0.03 - 0.001 * (count % 3), at(x + 0.002 * (j & 1), y, 0));
      ++count;
    }
  double worst = 0;
  for (int k = 0; k < 260; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    worst = fmax(worst, report.penetration);
  }
  print_message("dense packing: deepest penetration %.1e\n", worst);
  assert_true(worst < 1e-3); /* what is tolerated; a step at the speed of the fall is 0.05 */
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_tunnels),
                                     cmocka_unit_test(bullets_do_not_pass),
                                     cmocka_unit_test(near_misses_are_none),
                                     cmocka_unit_test(impacts_leave_no_penetration),
                                     cmocka_unit_test(penetration_is_pushed_out_gently),
                                     cmocka_unit_test(penetration_without_load_stays),
                                     cmocka_unit_test(created_energy_is_reported),
                                     cmocka_unit_test(dense_packing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
