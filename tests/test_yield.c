/* Contacts that yield (002 sections 6 to 8): the cycle of Figure 1-f point by point, the energy in
 * it, the four yield surfaces, strength as a stress, breaking, restarts. */
#include "test_world_scene.h"

static const double radius = 0.1, stiffness = 1e6, pi = 3.14159265358979323846;

static scree_PairLaw law_of(const char *const *names, const double *values, int count) {
  scree_PairLaw law = scree_pair_law("compliant");
  for (int k = 0; k < count; ++k) OK(scree_pair_law_set(&law, names[k], values[k], &test_log));
  return law;
}

static scree_World *world_of(const char *scheme, double h, double gravity,
                             const scree_PairLaw *law) {
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  settings.scheme = scheme;
  settings.step = h;
  settings.gravity = vec(0, 0, -gravity);
  settings.solve.tolerance = 1e-12;
  settings.solve.threads = 1;
  OK(scree_world_create(&settings, &test_log, &world));
  OK(scree_world_set_default_law(world, law));
  return world;
}

/* The height of the ball over time: down, up past the strength in tension, down, up. */
static double height(void *user, double time) {
  const double y[] = {0, -3.1e-4, 2.1e-4, -5.1e-4, 1.1e-4}, part = time / 0.25;
  (void)user;
  if (!(part > 0)) return 0;
  const int k = part >= 4 ? 3 : (int)part;
  return y[k] + fmin(part - k, 1) * (y[k + 1] - y[k]);
}

static scree_World *pressed(const char *scheme, double h, const scree_PairLaw *law, int *ball) {
  scree_World *world = world_of(scheme, h, 0, law);
  const int plane = add_half_space(world, obstacle_at(0, 0, 0));
  *ball = add_sphere(world, radius, at(0, 0, radius));
  scree_JointDef guide = scree_joint_def();
  guide.kind = SCREE_JOINT_SLIDER;
  guide.body[0] = *ball;
  guide.body[1] = plane;
  guide.anchor = vec(0, 0, radius);
  guide.axis = vec(0, 0, 1);
  guide.collide = true;
  guide.motor = (scree_Motor){.kind = SCREE_MOTOR_POSITION, .function = height};
  int joint;
  OK(scree_world_add_joint(world, &guide, &joint));
  return world;
}

/* f = -K (y - y_P), held between the strengths in tension and in compression. */
static double returned(double y, double tension, double compression, double *plastic) {
  const double trial = -stiffness * (y - *plastic);
  const double f = fmax(-tension, fmin(compression, trial));
  *plastic += (f - trial) / stiffness;
  return f;
}

static void test_cycle(void **state) {
  (void)state;
  static const char *const schemes[] = {"moreau-jean", "euler"};
  static const char *const names[] = {"compliance_n", "ball", "cap"};
  const double tension = 50, cap = 100, h = 1e-3;
  const double values[] = {1 / stiffness, tension, cap};
  const scree_PairLaw law = law_of(names, values, 3);
  for (int k = 0; k < 2; ++k) {
    int ball, yielded[2] = {0, 0};
    scree_World *world = pressed(schemes[k], h, &law, &ball);
    double plastic = 0, area = 0, last = 0;
    for (int n = 0; n < 1000; ++n) {
      run_steps(world, 1);
      const scree_EnergyBalance e = scree_world_energy(world);
      assert_true(fabs(e.closing) <= 1e-12);
      if (scree_world_contact_count(world) == 0) continue;
      const scree_Contact contact = scree_world_contact(world, 0);
      const double y = contact.gap + h * contact.u[0]; /* at the next kick, as the force is */
      const double wanted = returned(y, tension, cap + tension, &plastic);
      NEAR(contact.r[0] / h, wanted, 1e-7 * cap);
      area -= wanted * (y - last);
      last = y;
      yielded[0] += wanted == -tension;
      yielded[1] += wanted == cap + tension;
    }
    assert_true(yielded[0] > 100 && yielded[1] > 100);
    const scree_EnergyBalance e = scree_world_energy(world);
    /* what went in is stored or lost; the spring is that of the end of the step, half a step on */
    NEAR(e.plastic, area - e.elastic, 0.01 * e.plastic);
    NEAR(e.viscous, 0, 1e-12);
    assert_true(e.plastic > 0.08);
    scree_world_destroy(world);
  }
}

/* The same without compliance is the cycle of Figure 1-d. */
static void test_rigid_cycle(void **state) {
  (void)state;
  static const char *const names[] = {"ball", "cap"};
  const double values[] = {50, 100}, h = 1e-3;
  const scree_PairLaw law = law_of(names, values, 2);
  int ball;
  scree_World *world = pressed("moreau-jean", h, &law, &ball);
  double work = 0;
  for (int n = 0; n < 999; ++n) {
    run_steps(world, 1);
    if (n < 2) continue;
    const scree_Contact contact = scree_world_contact(world, 0);
    const bool down = height(NULL, (n + 1.25) * h) < height(NULL, (n + 0.25) * h);
    const double f = contact.r[0] / h;
    if (n % 250 > 1 && n % 250 < 248) NEAR(f, down ? 150 : -50, 1e-6);
    work += (down ? 150 : 50) * fabs(height(NULL, (n + 1.0) * h) - height(NULL, n * h));
  }
  NEAR(scree_world_energy(world).plastic, work, 0.01 * work);
  scree_world_destroy(world);
}

/* Damping proportional to mass: the ratio of an oscillation is alpha_M / (2 w) plus w h / 2. */
static void test_mass_damping(void **state) {
  (void)state;
  static const char *const names[] = {"compliance_n", "damping_mass", "mu"};
  const double m = 1000 * 4 * pi / 3 * radius * radius * radius, w = sqrt(stiffness / m);
  const double h = 0.01 / w, ratio = 0.1, values[] = {1 / stiffness, 2 * ratio * w, 0};
  const scree_PairLaw law = law_of(names, values, 3);
  scree_World *world = world_of("moreau-jean", h, 10, &law);
  add_half_space(world, obstacle_at(0, 0, 0));
  const double rest = radius - 10 * m / stiffness, start = 0.3 * 10 * m / stiffness;
  const int ball = add_sphere(world, radius, at(0, 0, rest + start));
  const int period = (int)(2 * pi / (w * sqrt(1 - ratio * ratio)) / h + 0.5);
  run_steps(world, period);
  const double x = scree_body_pose(world, ball).position.z - rest;
  const double decay = exp(-2 * pi * (ratio + 0.5 * w * h) / sqrt(1 - ratio * ratio));
  NEAR(x / start, decay, 0.02 * decay);
  const scree_EnergyBalance e = scree_world_energy(world);
  const double given = 0.5 * stiffness * (start * start - x * x);
  /* the scheme damps as a ratio of w h / 2, the law by the rest */
  NEAR(e.viscous, given * ratio / (ratio + 0.5 * w * h), 0.02 * given);
  scree_world_destroy(world);
}

/* How far a ball of 1 kg under a fixed one falls in half a second of 10 m/s^2. */
static double hang(const char *const *names, const double *values, int count) {
  const scree_PairLaw law = law_of(names, values, count);
  scree_World *world = world_of("moreau-jean", 1e-3, 10, &law);
  add_sphere(world, radius, obstacle_at(0, 0, 0));
  scree_BodyDef def = at(0, 0, -2 * radius);
  def.mass = 1;
  const int ball = add_sphere(world, radius, def);
  run_steps(world, 500);
  const double fall = -2 * radius - scree_body_pose(world, ball).position.z;
  scree_world_destroy(world);
  return fall;
}

static void test_tension(void **state) {
  (void)state;
  static const char *const strengths[] = {"cohesion", "ball"};
  const double area = pi * radius * radius;
  for (int k = 0; k < 2; ++k) {
    const char *const names[] = {strengths[k], "compliance_n", "damping", "stress"};
    const double strong[] = {10.5, 1e-6, 0.01, 0}, weak[] = {9.5, 1e-6, 0.01, 0};
    const double strong_stress[] = {10.5 / area, 1e-6, 0.01, 1},
                 weak_stress[] = {9.5 / area, 1e-6, 0.01, 1};
    NEAR(hang(names, strong, 4), 1e-5, 1e-9);
    NEAR(hang(names, strong_stress, 4), 1e-5, 1e-9);
    assert_true(hang(names, weak, 4) > 0.02);
    assert_true(hang(names, weak_stress, 4) > 0.02);
    const char *const breaking[] = {strengths[k], "break_at"};
    const double brittle[] = {9.5, 1e-5}, ductile[] = {9.5, 1};
    NEAR(hang(breaking, brittle, 2), 1.25, 0.06); /* free fall, but for the first 10 ms */
    const double drawn = hang(breaking, ductile, 2);
    assert_true(drawn > 0.02 && drawn < 1.2); /* 0.5 m/s^2 until it is out of reach */
  }
}

/* A block on a wall: a cone with a ball of radius d carries a shear of d sqrt(1 + mu^2) without any
 * load, here 5 N at each of two points. */
static void test_shear(void **state) {
  (void)state;
  static const char *const names[] = {"ball", "mu", "compliance_t"};
  for (int strong = 0; strong < 2; ++strong) {
    const double values[] = {(strong ? 5.2 : 4.8) / sqrt(1.25), 0.5, 1e-7};
    const scree_PairLaw law = law_of(names, values, 3);
    scree_WorldSettings settings = scree_world_settings();
    scree_World *world;
    settings.dimension = 2;
    settings.step = 1e-3;
    settings.gravity = vec(0, -10, 0);
    OK(scree_world_create(&settings, &test_log, &world));
    OK(scree_world_set_default_law(world, &law));
    add_rectangle(world, 0.1, 1, obstacle_at(-0.1, 0, 0));
    scree_BodyDef def = at(1e-4, 0, 0);
    def.mass = 1;
    const int block = add_rectangle(world, 1e-4, 0.2, def);
    run_steps(world, 300);
    const double fall = -scree_body_pose(world, block).position.y;
    if (strong)
      NEAR(fall, 0, 2e-6);
    else
      assert_true(fall > 0.01);
    scree_world_destroy(world);
  }
}

/* Stiffness from a modulus and the size: k = E s in 3D. */
static void test_modulus(void **state) {
  (void)state;
  static const char *const names[] = {"modulus", "damping"};
  const double m = 1000 * 4 * pi / 3 * radius * radius * radius, k = 1e6, w = sqrt(k / m);
  const double values[] = {k / (2 * radius), 2 / w};
  const scree_PairLaw law = law_of(names, values, 2);
  scree_World *world = world_of("moreau-jean", 0.05 / w, 10, &law);
  add_half_space(world, obstacle_at(0, 0, 0));
  const int ball = add_sphere(world, radius, at(0, 0, radius));
  run_steps(world, 1000);
  const double depth = radius - scree_body_pose(world, ball).position.z;
  NEAR(depth, 10 * m / k, 1e-6 * depth);
  scree_world_destroy(world);
}

/* A block that slides on a plane is kept at a gap of dilatancy mu h |u_T| (002 section 9). */
static void test_dilatancy(void **state) {
  (void)state;
  static const char *const solvers[] = {"auto", "ipm", "nlgs"};
  const double wanted[] = {1, 0.5, 0.01}, mu = 0.4, h = 1e-3, speed = 2;
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 3; ++k) {
      scree_WorldSettings settings = scree_world_settings();
      scree_PairLaw law = scree_pair_law_coulomb(mu, 0, 0);
      scree_World *world;
      OK(scree_pair_law_set(&law, "dilatancy", wanted[k], &test_log));
      settings.dimension = 3;
      settings.step = h;
      settings.scheme = "euler";
      settings.gravity = vec(0, 0, -10);
      settings.flow = SCREE_COULOMB;
      settings.solve.solver = solvers[m];
      settings.solve.tolerance = 1e-9;
      OK(scree_world_create(&settings, NULL, &world));
      assert_int_equal(scree_world_set_default_law(world, &law), k ? SCREE_BAD_INPUT : SCREE_OK);
      settings.flow = SCREE_ASSOCIATED;
      OK(scree_world_set_settings(world, &settings));
      OK(scree_world_set_default_law(world, &law));
      add_half_space(world, obstacle_at(0, 0, 0));
      scree_BodyDef def = at(0, 0, 0.02 + wanted[k] * mu * h * speed);
      def.velocity.linear.x = speed;
      const int block = add_box(world, 0.2, 0.2, 0.02, def);
      run_steps(world, 20);
      const double u = scree_body_velocity(world, block).linear.x;
      const double gap = scree_body_pose(world, block).position.z - 0.02;
      NEAR(u, speed - mu * 10 * 20 * h, 1e-3 * speed);
      NEAR(gap, wanted[k] * mu * h * u, 1e-4 * wanted[k] * mu * h * u + 1e-9);
      scree_world_destroy(world);
    }
}

static void test_refusals(void **state) {
  (void)state;
  const scree_Log quiet = {0};
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  settings.step = 1e-3;
  OK(scree_world_create(&settings, &quiet, &world));
  static const struct {
    const char *names[2];
    double values[2];
  } wrong[] = {{{"cohesion", "ball"}, {1, 1}},
               {{"cohesion", "cap"}, {1, 1}},
               {{"modulus", "compliance_n"}, {1, 1}},
               {{"break_at", "mu"}, {1, 1}},
               {{"stress", "mu"}, {1, 1}}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
    const scree_PairLaw law = law_of(wrong[k].names, wrong[k].values, 2);
    assert_int_equal(scree_world_set_default_law(world, &law), SCREE_BAD_INPUT);
  }
  scree_world_destroy(world);
}

/* Dents, bonds and losses are saved with the world. */
static void test_restart(void **state) {
  (void)state;
  static const char *const names[] = {"compliance_n", "compliance_t", "ball", "cap", "break_at"};
  const double values[] = {1e-6, 1e-6, 20, 60, 1e-4};
  const scree_PairLaw law = law_of(names, values, 5);
  scree_World *worlds[2];
  for (int k = 0; k < 2; ++k) {
    worlds[k] = world_of("moreau-jean", 5e-4, 10, &law);
    add_half_space(worlds[k], obstacle_at(0, 0, 0));
    scree_BodyDef def = at(0, 0, radius + 1e-3);
    def.velocity.linear.x = 0.1;
    add_sphere(worlds[k], radius, def);
    def = at(0.02, 0.01, 3 * radius);
    add_sphere(worlds[k], radius, def);
  }
  run_steps(worlds[0], 200);
  assert_true(scree_world_energy(worlds[0]).plastic > 0);
  const size_t size = scree_world_state_size(worlds[0]);
  void *buffer = malloc(size);
  scree_world_save(worlds[0], buffer);
  OK(scree_world_restore(worlds[1], buffer, size));
  for (int k = 0; k < 2; ++k) run_steps(worlds[k], 200);
  for (int body = 1; body < 3; ++body) {
    const scree_Pose a = scree_body_pose(worlds[0], body), b = scree_body_pose(worlds[1], body);
    assert_memory_equal(&a, &b, sizeof a);
  }
  const scree_EnergyBalance a = scree_world_energy(worlds[0]), b = scree_world_energy(worlds[1]);
  assert_memory_equal(&a, &b, sizeof a);
  free(buffer);
  for (int k = 0; k < 2; ++k) scree_world_destroy(worlds[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cycle),     cmocka_unit_test(test_rigid_cycle),
      cmocka_unit_test(test_tension),   cmocka_unit_test(test_mass_damping),
      cmocka_unit_test(test_shear),     cmocka_unit_test(test_modulus),
      cmocka_unit_test(test_restart),   cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_dilatancy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
