/* Time stepping against invariants and hand solutions: free tops, impacts, slopes, rocking,
 * conservation of momentum, the energy balance. */
#include "body/rigid.h"
#include "test_world_scene.h"

static scree_WorldSettings plain(int dimension, double step) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = dimension;
  settings.step = step;
  settings.solve.tolerance = 1e-12;
  settings.solve.threads = 1;
  settings.max_work = INFINITY; /* so near to round-off a step may cost many times the usual */
  return settings;
}

/* ---- free rotation --------------------------------------------------------------------------- */

/* A box spinning about its unstable axis tumbles; energy and angular momentum stay. */
static void free_top(void **state) {
  (void)state;
  const scree_WorldSettings settings = plain(3, 0.05);
  scree_World *world = make_world(&settings, 0, 0, 0);
  scree_BodyDef def = at(0, 0, 0);
  def.velocity.angular = vec(0.01, 3, 0.02);
  add_box(world, 0.3, 0.2, 0.1, def);
  scree_Analysis first, now;
  OK(scree_world_analyse(world, NULL, &first));
  bool tumbled = false;
  for (int k = 0; k < 4000; ++k) {
    OK(scree_world_step(world, NULL));
    OK(scree_world_analyse(world, NULL, &now));
    const double L = sqrt(pow(first.angular_momentum.x, 2) + pow(first.angular_momentum.y, 2) +
                          pow(first.angular_momentum.z, 2));
    NEAR(now.kinetic, first.kinetic, 1e-11 * first.kinetic);
    NEAR(now.angular_momentum.x, first.angular_momentum.x, 1e-11 * L);
    NEAR(now.angular_momentum.y, first.angular_momentum.y, 1e-11 * L);
    NEAR(now.angular_momentum.z, first.angular_momentum.z, 1e-11 * L);
    const scree_Vec3 w = scree_body_velocity(world, 0).angular;
    const scree_Mat3 R = scree_quat_matrix(scree_body_pose(world, 0).orientation);
    tumbled = tumbled || scree_dot(w, R.y) < -2; /* turned upside down in its own frame */
  }
  assert_true(tumbled);
  scree_world_destroy(world);
}

/* A symmetric top in its own frame: w1 + i w2 turns at (J3 - J1)/J1 w3. Order 2 in the step. */
static void symmetric_top(void **state) {
  (void)state;
  const scree_Vec3 J = {1, 1, 1.7}, start = {0.4, 0, 2};
  const double T = 5;
  double last = 0;
  for (int n = 50; n <= 400; n *= 2) {
    scree_Quat q = {1, 0, 0, 0};
    scree_Vec3 w = start;
    for (int k = 0; k < n; ++k) scree_rigid_turn(J, T / n, &q, &w);
    const scree_Mat3 R = scree_quat_matrix(q);
    const scree_Vec3 body = scree_mat3_tmul(&R, w);
    const double phase = (J.z - J.x) / J.x * start.z * T;
    const double error = hypot(body.x - start.x * cos(phase), body.y - start.x * sin(phase));
    NEAR(body.z, start.z, 1e-13 * start.z);
    if (last > 0) NEAR(last / error, 4, 0.2);
    last = error;
  }
  assert_true(last < 1e-3);
}

/* A turn about a principal axis is exact, however long the step. */
static void principal_turn(void **state) {
  (void)state;
  const scree_Vec3 J = {1, 2, 2.5};
  scree_Quat q = {1, 0, 0, 0};
  scree_Vec3 w = {0, 0, 7};
  scree_rigid_turn(J, 1, &q, &w);
  NEAR(fabs(q.w), fabs(cos(3.5)), 1e-13);
  NEAR(fabs(q.z), fabs(sin(3.5)), 1e-13);
  NEAR(w.z, 7, 1e-13);
}

/* ---- impacts --------------------------------------------------------------------------------- */

static void bouncing_ball(void **state) {
  (void)state;
  const double e = 0.7, height = 1, radius = 0.1, g = 10;
  const char *const schemes[] = {"moreau-jean", "euler"};
  for (int k = 0; k < 2; ++k) {
    scree_WorldSettings settings = plain(3, 1e-4);
    settings.scheme = schemes[k];
    settings.gravity = vec(0, 0, -g);
    scree_World *world = make_world(&settings, 0.3, e, 0);
    add_half_space(world, obstacle_at(0, 0, 0));
    const int ball = add_sphere(world, radius, at(0, 0, radius + height));
    double last = 0, top = 0;
    int bounces = 0;
    while (bounces < 4) {
      OK(scree_world_step(world, NULL));
      const double v = scree_body_velocity(world, ball).linear.z;
      const double z = scree_body_pose(world, ball).position.z - radius;
      if (last < 0 && v > 0) {
        NEAR(v, -e * last, 2 * g * settings.step);
        ++bounces;
        top = 0;
      }
      if (last > 0 && v <= 0) NEAR(top, height * pow(e * e, bounces), 2e-3 * height);
      top = fmax(top, z);
      last = v;
    }
    scree_world_destroy(world);
  }
}

/* Balls that touch share the impact as Newton's law of simultaneous impacts says, (-1/3, 2/3, 2/3);
 * balls a little apart hand it on, (0, 0, 1). Both keep momentum and energy. */
static void newtons_cradle(void **state) {
  (void)state;
  for (int apart = 0; apart < 2; ++apart) {
    const scree_WorldSettings settings = plain(3, 1e-3);
    scree_World *world = make_world(&settings, 0, 1, 0);
    const double gap = apart ? 0.02 : 0;
    for (int k = 0; k < 3; ++k) {
      scree_BodyDef def = at(k == 0 ? -0.5 : k * (0.2 + gap), 0, 0);
      if (k == 0) def.velocity.linear.x = 1;
      add_sphere(world, 0.1, def);
    }
    run_steps(world, 1000);
    const double want[2][3] = {{-1.0 / 3, 2.0 / 3, 2.0 / 3}, {0, 0, 1}};
    for (int k = 0; k < 3; ++k) NEAR(scree_body_velocity(world, k).linear.x, want[apart][k], 1e-10);
    scree_world_destroy(world);
  }
}

/* ---- friction -------------------------------------------------------------------------------- */

/* Distance that a block moves in a second on a slope whose tangent is `factor` times mu. */
static void block_on_slope(void **state) {
  (void)state;
  const double mu = 0.4, g = 9.81, factors[] = {0.5, 0.98, 1, 1.02, 2};
  const char *const schemes[] = {"moreau-jean", "euler"};
  for (int scheme = 0; scheme < 2; ++scheme)
    for (int k = 0; k < 10; ++k) {
      const double angle = atan(mu * factors[k / 2]), start = k % 2 ? 0.3 : 0, h = 1e-2;
      scree_WorldSettings settings = plain(3, h);
      settings.scheme = schemes[scheme];
      settings.solve.tolerance = 1e-9; /* at the angle itself all sets of impulses are degenerate */
      settings.gravity = vec(g * sin(angle), 0, -g * cos(angle));
      scree_World *world = make_world(&settings, mu, 0, 0);
      add_half_space(world, obstacle_at(0, 0, 0));
      scree_BodyDef def = at(0, 0, 0.1);
      def.velocity.linear.x = start;
      const int block = add_box(world, 0.3, 0.2, 0.1, def);
      run_steps(world, 50);
      const double a = g * (sin(angle) - mu * cos(angle)), T = 0.5;
      const double stop = a < 0 ? -start / a : INFINITY;
      double v = start + a * T, x = start * T + 0.5 * a * T * T;
      if (stop <= T || (start == 0 && a <= 0)) {
        v = 0;
        x = start == 0 ? 0 : start * stop + 0.5 * a * stop * stop;
      }
      const scree_Twist twist = scree_body_velocity(world, block);
      NEAR(twist.linear.x, v, 1e-6); /* at the angle itself each step creeps by its error */
      NEAR(scree_body_pose(world, block).position.x, x,
           1e-6 + (scheme == 1 || stop <= T ? h * g * T : 0));
      NEAR(twist.angular.y, 0, 1e-6);
      scree_world_destroy(world);
    }
}

/* A slender block rocks on another block about its corners: an inverted pendulum with the period
 * of Housner's formula, whose rotation loses (1 - 3/2 sin^2 a)^2 of its energy at each impact. */
static void rocking_block(void **state) {
  (void)state;
  const double b = 0.1, height = 0.4, g = 9.81, R = hypot(b, height), a = atan(b / height);
  const double tilt = 0.5 * a;
  scree_WorldSettings settings = plain(2, 1e-4);
  settings.gravity = vec(0, -g, 0);
  scree_World *world = make_world(&settings, 2, 0, 0);
  add_rectangle(world, 1, 0.5, obstacle_at(0, -0.5, 0));
  /* turned by -tilt about its right lower corner, which is at (b, 0) */
  scree_BodyDef def = at(b - R * sin(a - tilt), R * cos(a - tilt), 0);
  def.pose.orientation = turned(-tilt);
  const int block = add_rectangle(world, b, height, def);
  const scree_EnergyBalance start = scree_world_energy(world);
  double before = 0, after = 0, when = 0, energy = 0;
  for (int k = 0; k < 20000 && after == 0; ++k) {
    OK(scree_world_step(world, NULL));
    const double w = scree_body_velocity(world, block).angular.z;
    if (before > 0 && w < 0.98 * before) {
      when = scree_world_time(world);
      run_steps(world, 1); /* one step closes the gap, the next one ends the impact */
      after = scree_body_velocity(world, block).angular.z;
      break;
    }
    const scree_EnergyBalance now = scree_world_energy(world);
    energy = now.kinetic + now.potential;
    before = w;
  }
  const double ratio = 1 - 1.5 * pow(sin(a), 2);
  NEAR(after / before, ratio, 2e-3);
  /* quarter period of small angles, exact to second order in a */
  const double p = sqrt(3 * g / (4 * R));
  NEAR(when, acosh(1 / (1 - tilt / a)) / p, 2e-2 / p);
  NEAR(energy, start.kinetic + start.potential, 1e-3 * scree_body_mass(world, block) * g * b);
  scree_world_destroy(world);
}

/* ---- conservation ---------------------------------------------------------------------------- */

/* Largest change of a component of the angular momentum of a cloud of boxes and balls that collide
 * in free space for 0.6 s, relative to mass times speed times 1 m. Momentum and energy are checked
 * on the way. */
static double collide(const char *scheme, double mu, double step, uint32_t seed) {
  scree_WorldSettings settings = plain(3, step);
  settings.scheme = scheme;
  settings.solve.tolerance = 1e-8;
  scree_World *world = make_world(&settings, mu, 0.3, 0);
  for (int k = 0; k < 27; ++k) {
    double x[6];
    for (int i = 0; i < 6; ++i) {
      seed = seed * 1664525u + 1013904223u;
      x[i] = seed / 4294967296.0 - 0.5;
    }
    const scree_Vec3 p = vec(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
    scree_BodyDef def = at(p.x, p.y, p.z);
    def.velocity.linear = vec(-2 * p.x + x[0], -2 * p.y + x[1], -2 * p.z + x[2]);
    def.velocity.angular = vec(4 * x[3], 4 * x[4], 4 * x[5]);
    if (k % 2)
      add_box(world, 0.2, 0.25, 0.3, def);
    else
      add_sphere(world, 0.3, def);
  }
  scree_Analysis first, now;
  OK(scree_world_analyse(world, NULL, &first));
  int contacts = 0;
  double scale = 0;
  for (int k = 0; k < 27; ++k) scale += scree_body_mass(world, k) * 3;
  for (int k = 0; k < lround(0.6 / step); ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    contacts += report.active;
    assert_true(fabs(report.energy.closing) < 1e-12 * first.kinetic);
    if (mu > 0) assert_true(report.energy.normal + report.energy.friction > -1e-6 * first.kinetic);
  }
  assert_true(contacts > 100);
  OK(scree_world_analyse(world, NULL, &now));
  NEAR(now.momentum.x, first.momentum.x, 1e-12 * scale);
  NEAR(now.momentum.y, first.momentum.y, 1e-12 * scale);
  NEAR(now.momentum.z, first.momentum.z, 1e-12 * scale);
  assert_true(now.kinetic < 0.9 * first.kinetic);
  const scree_Vec3 L = first.angular_momentum, M = now.angular_momentum;
  scree_world_destroy(world);
  return fmax(fabs(M.x - L.x), fmax(fabs(M.y - L.y), fabs(M.z - L.z))) / scale;
}

/* Momentum is kept to round-off. So is angular momentum where contacts are closed or have no
 * friction. Impulses across an open gap act on the surfaces of the two bodies: their tangential
 * parts make a couple of the length of the gap, which vanishes with the step. */
static void momentum(void **state) {
  (void)state;
  assert_true(collide("moreau-jean-closed", 0.4, 2e-3, 7) < 1e-12);
  const char *const schemes[] = {"moreau-jean", "euler"};
  for (int k = 0; k < 2; ++k) {
    for (uint32_t seed = 1; seed < 4; ++seed)
      assert_true(collide(schemes[k], 0, 2e-3, seed) < 1e-12);
    const double coarse = collide(schemes[k], 0.4, 2e-3, 7);
    const double fine = collide(schemes[k], 0.4, 2.5e-4, 7);
    print_message("angular momentum, %s: changes by %.1e at 2 ms, %.1e at 0.25 ms\n", schemes[k],
                  coarse, fine);
    assert_true(coarse < 2e-4 && fine < 0.5 * coarse);
  }
}

/* The balance of energy is an identity, with forces, drivers, friction, impacts and gaps. */
static scree_Twist swinging(void *user, double time) {
  (void)user;
  return (scree_Twist){{3 * cos(20 * time), 0, 0}, {0, 0, 0.1}};
}

static void energy_balance(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    scree_WorldSettings settings = plain(2, 1e-3);
    settings.gravity = vec(0, -9.81, 0);
    settings.theta = k == 1 ? 0.8 : 0.5;
    if (k == 2) settings.scheme = "euler";
    scree_World *world = make_world(&settings, 0.3, 0.4, 0);
    scree_BodyDef plate = obstacle_at(0, 0, 0);
    plate.driver = (scree_Signal){.kind = SCREE_SIGNAL_CALLBACK, .callback = swinging};
    add_half_plane(world, plate);
    for (int i = 0; i < 6; ++i) {
      if (i % 2)
        add_disk(world, 0.1, at(0.05 * i, 0.12 + 0.25 * i, 0));
      else
        add_rectangle(world, 0.1, 0.08, at(0.05 * i, 0.12 + 0.25 * i, 0));
    }
    scree_ForceDef force = {.body = 2, .signal = {.kind = SCREE_SIGNAL_CONSTANT}};
    force.signal.constant.linear.x = 40;
    force.signal.constant.angular.z = 1;
    OK(scree_world_add_force(world, &force));
    scree_EnergyBalance sum = scree_world_energy(world);
    const double start = sum.kinetic + sum.potential;
    for (int i = 0; i < 1500; ++i) {
      scree_StepReport report;
      OK(scree_world_step(world, &report));
      const scree_EnergyBalance *e = &report.energy;
      assert_true(fabs(e->closing) < 1e-12 * (fabs(e->kinetic) + fabs(e->potential) + start));
      /* the leapfrog adds nothing of its own */
      if (k == 0) NEAR(e->scheme, 0, 0);
    }
    const scree_EnergyBalance end = scree_world_energy(world);
    NEAR(end.kinetic + end.potential - start,
         end.forces + end.drivers - end.normal - end.friction + end.scheme + end.push,
         1e-10 * start);
    assert_true(end.friction > 0 && end.forces != 0 && end.drivers > 0);
    assert_true(end.scheme <= 0);
    scree_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_top),       cmocka_unit_test(symmetric_top),
      cmocka_unit_test(principal_turn), cmocka_unit_test(bouncing_ball),
      cmocka_unit_test(newtons_cradle), cmocka_unit_test(block_on_slope),
      cmocka_unit_test(rocking_block),  cmocka_unit_test(momentum),
      cmocka_unit_test(energy_balance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
