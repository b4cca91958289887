/* Contact laws with parameters and memory of their own: the table of parameters, and the compliant
 * contact of 002 (45)-(51) against closed forms. */
#include "test_world_scene.h"

static const double g = 9.81, radius = 0.1, density = 1000;

static double mass_of_sphere(void) {
  return density * 4 * 3.14159265358979323846 / 3 * radius * radius * radius;
}

static scree_PairLaw compliant(double mu, double c_n, double c_t, double damping) {
  scree_PairLaw law = scree_pair_law("compliant");
  OK(scree_pair_law_set(&law, "mu", mu, &test_log));
  OK(scree_pair_law_set(&law, "compliance_n", c_n, &test_log));
  OK(scree_pair_law_set(&law, "compliance_t", c_t, &test_log));
  OK(scree_pair_law_set(&law, "damping", damping, &test_log));
  return law;
}

static scree_World *world_of(const char *scheme, int dimension, double h,
                             const scree_PairLaw *law) {
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  settings.dimension = dimension;
  settings.scheme = scheme;
  settings.step = h;
  settings.gravity = dimension == 2 ? vec(0, -g, 0) : vec(0, 0, -g);
  settings.solve.tolerance = 1e-12;
  OK(scree_world_create(&settings, &test_log, &world));
  OK(scree_world_set_default_law(world, law));
  return world;
}

static int add_ball_on_plane(scree_World *world, double gap) {
  add_half_space(world, obstacle_at(0, 0, 0));
  return add_sphere(world, radius, at(0, 0, radius + gap));
}

static void test_parameters(void **state) {
  (void)state;
  scree_PairLaw law = scree_pair_law(NULL);
  assert_string_equal(law.law, "coulomb");
  assert_true(scree_pair_law_get(&law, "mu") == 0.5);
  assert_true(isnan(scree_pair_law_get(&law, "compliance_n")));
  const scree_Log quiet = {0};
  assert_int_equal(scree_pair_law_set(&law, "e_n", 1.5, &quiet), SCREE_BAD_INPUT);
  assert_true(scree_pair_law_get(&law, "e_n") == 0);
  assert_int_equal(scree_pair_law_set(&law, "stickiness", 1, &quiet), SCREE_BAD_INPUT);
  law = scree_pair_law("nothing");
  assert_int_equal(scree_pair_law_set(&law, "mu", 1, &quiet), SCREE_BAD_INPUT);
  for (int k = 0; scree_law_name(k); ++k) {
    const scree_OptionTable *table = scree_law_options(scree_law_name(k));
    assert_true(table->count > 0 && table->count <= SCREE_LAW_VALUES);
    law = scree_pair_law(scree_law_name(k));
    for (int p = 0; p < table->count; ++p) assert_true(law.values[p] == table->options[p].preset);
  }
}

/* The papers' scheme knows closed contacts only: a law with a gap of its own is refused. */
static void test_scheme_is_checked(void **state) {
  (void)state;
  scree_WorldSettings settings = scree_world_settings();
  const scree_Log quiet = {0};
  scree_World *world;
  settings.step = 1e-3;
  settings.scheme = "moreau-jean-closed";
  OK(scree_world_create(&settings, &quiet, &world));
  const scree_PairLaw law = compliant(0.5, 1e-6, 0, 0);
  assert_int_equal(scree_world_set_default_law(world, &law), SCREE_BAD_INPUT);
  settings.scheme = "euler";
  OK(scree_world_set_settings(world, &settings));
  OK(scree_world_set_default_law(world, &law));
  settings.scheme = "moreau-jean-closed";
  assert_int_equal(scree_world_set_settings(world, &settings), SCREE_BAD_INPUT);
  scree_world_destroy(world);
}

/* A sphere at rest on a compliant plane sinks in by its weight times the compliance. */
static void test_indentation(void **state) {
  (void)state;
  static const char *const schemes[] = {"moreau-jean", "euler"};
  const double c = 1e-6, m = mass_of_sphere(), w = 1 / sqrt(c * m);
  for (int k = 0; k < 2; ++k) {
    const scree_PairLaw law = compliant(0.5, c, 0, 2 / w); /* critical */
    scree_World *world = world_of(schemes[k], 3, 0.05 / w, &law);
    const int ball = add_ball_on_plane(world, 0);
    run_steps(world, 1000);
    const double depth = radius - scree_body_pose(world, ball).position.z;
    NEAR(depth, m * g * c, 1e-6 * m * g * c);
    const scree_EnergyBalance e = scree_world_energy(world);
    NEAR(e.elastic, 0.5 * c * m * g * m * g, 1e-6 * e.elastic);
    scree_world_destroy(world);
  }
}

/* Free oscillation about the equilibrium: turning points give the period and the damping ratio. */
static void oscillate(double h, double c, double damping, double *period, double *ratio) {
  const double m = mass_of_sphere(), rest = m * g * c, start = 0.3 * rest;
  const scree_PairLaw law = compliant(0.5, c, 0, damping);
  scree_World *world = world_of("moreau-jean", 3, h, &law);
  const int ball = add_ball_on_plane(world, -rest + start);
  double x[3] = {start, start, start}, time[64], size[64];
  int turns = 0;
  for (int k = 0; turns < 9; ++k) {
    run_steps(world, 1);
    x[0] = x[1];
    x[1] = x[2];
    x[2] = scree_body_pose(world, ball).position.z - radius + rest;
    if (k < 3 || (x[1] - x[0]) * (x[2] - x[1]) > 0) continue;
    /* parabola through three points */
    const double bend = x[0] - 2 * x[1] + x[2], slope = 0.5 * (x[2] - x[0]);
    time[turns] = (k - slope / bend) * h;
    size[turns++] = fabs(x[1] - 0.5 * slope * slope / bend);
  }
  *period = (time[8] - time[0]) / 4;
  const double decay = log(size[0] / size[8]) / 4; /* logarithmic decrement */
  *ratio = decay / sqrt(4 * 3.14159265358979323846 * 3.14159265358979323846 + decay * decay);
  scree_world_destroy(world);
}

static void test_oscillation(void **state) {
  (void)state;
  const double c = 1e-6, m = mass_of_sphere(), w = 1 / sqrt(c * m), pi = acos(-1);
  const double wanted = 0.05, damping = 2 * wanted / w;
  double error[2];
  for (int k = 0; k < 2; ++k) {
    const double h = (k == 0 ? 0.04 : 0.02) / w;
    double period, ratio;
    oscillate(h, c, damping, &period, &ratio);
    NEAR(period, 2 * pi / (w * sqrt(1 - wanted * wanted)), 5e-3 * period);
    /* the scheme itself: x' = x + s, s (1 + z (1 + damping/h)) = s- - z x, z = (w h)^2 */
    const double z = w * w * h * h, det = 1 / (1 + z * (1 + damping / h));
    const double angle = acos((1 + det - z * det) / (2 * sqrt(det)));
    NEAR(period, 2 * pi * h / angle, 1e-3 * period);
    const double decay = -pi * log(det) / angle;
    NEAR(ratio, decay / sqrt(4 * pi * pi + decay * decay), 5e-3 * ratio);
    error[k] = ratio - wanted;
  }
  /* numerical damping w h / 2, of order one */
  NEAR(error[0], 0.02, 0.004);
  NEAR(error[0] / error[1], 2, 0.3);
}

/* Without damping the sphere bounces off; energy is accounted for, and less is lost at h/2. */
static void test_energy_closes(void **state) {
  (void)state;
  const double c = 1e-6, m = mass_of_sphere(), w = 1 / sqrt(c * m);
  double lost[2];
  for (int k = 0; k < 2; ++k) {
    const scree_PairLaw law = compliant(0, c, 0, 0);
    scree_World *world = world_of("moreau-jean", 3, (k == 0 ? 0.02 : 0.01) / w, &law);
    const int ball = add_ball_on_plane(world, 1e-3);
    const double start = scree_world_energy(world).potential;
    double most = 0;
    for (int n = 0; n < 20000; ++n) {
      run_steps(world, 1);
      const scree_EnergyBalance e = scree_world_energy(world);
      most = fmax(most, e.elastic);
      NEAR(e.kinetic + e.potential + e.elastic + e.normal - e.push - e.scheme, start,
           1e-10 * start);
      assert_true(e.closing <= 1e-10 * start);
      if (most > 0 && e.elastic == 0 && scree_body_velocity(world, ball).linear.z > 0) break;
    }
    const double fall = m * g * 1e-3;
    assert_true(most > 0.9 * fall);
    lost[k] = scree_world_energy(world).normal / fall;
    scree_world_destroy(world);
  }
  assert_true(lost[0] > 0 && lost[0] < 0.08);
  NEAR(lost[0] / lost[1], 2, 0.3);
}

/* No scheme takes the swing of a spring for created energy, at short steps and long ones; the
 * sphere also slides, so that the tangential spring swings, too. */
static void test_no_energy_created(void **state) {
  (void)state;
  static const char *const schemes[] = {"moreau-jean", "euler"};
  const double c = 2e-4, m = mass_of_sphere(), w = 1 / sqrt(c * m);
  for (int k = 0; k < 4; ++k) {
    const scree_PairLaw law = compliant(0.5, c, c, 0.1 / w);
    scree_World *world = world_of(schemes[k % 2], 3, (k < 2 ? 0.05 : 0.3) / w, &law);
    const int ball = add_ball_on_plane(world, 0);
    const scree_Twist push = {{0.2 * g / w, 0, 0}, {0, 0, 0}};
    OK(scree_body_set_velocity(world, ball, &push));
    for (int n = 0; n < 500; ++n) {
      scree_StepReport report;
      OK(scree_world_step(world, &report));
      assert_true(report.certified);
      assert_true(report.energy_created < 2e-3);
    }
    scree_world_destroy(world);
  }
}

/* A damper acts while the bodies touch: the sphere falls freely until then, also where the time of
 * the damper is far longer than its fall; then it sinks in as the overdamped closed form says; and
 * where it is pulled off, the dent returns with the time of the damper. */
static void test_long_damping(void **state) {
  (void)state;
  const double c = 1e-6, a = 0.1, h = 1e-3, gap = 5e-3, m = mass_of_sphere(), rest = m * g * c;
  const scree_PairLaw law = compliant(0, c, 0, a);
  scree_World *world = world_of("moreau-jean", 3, h, &law);
  const int ball = add_ball_on_plane(world, gap);
  const int falls = (int)(sqrt(2 * gap / g) / h);
  run_steps(world, falls - 1);
  NEAR(scree_body_velocity(world, ball).linear.z, -g * (falls - 1) * h, 1e-12);
  assert_true(scree_world_energy(world).viscous == 0);
  /* m y'' + (a y' + y)/c = -m g from y = 0, y' = -v */
  const double v = sqrt(2 * g * gap), t = 0.15 - sqrt(2 * gap / g);
  const double root = sqrt(a * a / (c * c) - 4 * m / c);
  const double slow = -2 / (a + c * root), fast = (-a / c - root) / (2 * m);
  const double B = (-v - rest * slow) / (fast - slow), A = rest - B;
  run_steps(world, (int)(0.15 / h + 0.5) - falls + 1);
  const double y = scree_body_pose(world, ball).position.z - radius;
  NEAR(y, -rest + A * exp(slow * t) + B * exp(fast * t), 0.02 * rest);
  scree_EnergyBalance e = scree_world_energy(world);
  NEAR(e.elastic, 0.5 * y * y / c, 0.02 * e.elastic);
  NEAR(e.viscous + e.normal, m * g * (gap - y) - e.elastic - e.kinetic, 1e-3 * e.viscous);
  assert_true(e.viscous > 2 * e.normal); /* what the impact took before the bodies touched */
  scree_WorldSettings settings = *scree_world_get_settings(world);
  settings.gravity.z = g;
  OK(scree_world_set_settings(world, &settings));
  run_steps(world, 2);
  const double before = scree_world_energy(world).elastic;
  run_steps(world, 10);
  NEAR(scree_world_energy(world).elastic / before, pow(a / (a + h), 20), 1e-6);
  scree_world_destroy(world);
}

/* Sixty grains in a smooth box, under a plate. Returns the plate; *floor is that of the box. */
static int add_loaded_box(scree_World *world, double c, double load, int *floor) {
  const double small = 0.005, wide = 0.0151, spacing = 0.01004;
  const scree_PairLaw law = compliant(0.5, c, c, 0.1), smooth = compliant(0, c, c, 0.1);
  int grain, wall;
  OK(scree_world_add_material(world, &grain));
  OK(scree_world_add_material(world, &wall));
  OK(scree_world_set_default_law(world, &law));
  OK(scree_world_set_pair_law(world, grain, wall, &smooth));
  scree_BodyDef def = obstacle_at(0, 0, -0.01);
  def.material = grain;
  *floor = add_box(world, 0.1, 0.1, 0.01, def);
  for (int k = 0; k < 4; ++k) {
    const double x = (wide + 0.01) * (k == 0 ? 1 : k == 1 ? -1 : 0);
    const double y = (wide + 0.01) * (k == 2 ? 1 : k == 3 ? -1 : 0);
    def = obstacle_at(x, y, 0.05);
    def.material = wall;
    add_box(world, k < 2 ? 0.01 : 0.05, k < 2 ? 0.05 : 0.01, 0.05, def);
  }
  double top = 0;
  for (int k = 0; k < 60; ++k) { /* layers of nine and four, as close as the box allows */
    const int layer = k / 13 * 2 + (k % 13 >= 9), i = k % 13;
    const double z = small + 0.0072 * layer;
    def = i < 9 ? at(spacing * (i % 3 - 1), spacing * (i / 3 - 1), z)
                : at(spacing * ((i - 9) % 2 - 0.5), spacing * ((i - 9) / 2 - 0.5), z);
    def.material = grain;
    def.density = 1700;
    add_sphere(world, small, def);
    top = fmax(top, z + small);
  }
  def = at(0, 0, top + 0.0055);
  def.mass = load;
  def.material = grain;
  return add_box(world, 0.0149, 0.0149, 0.005, def);
}

static double force_on(const scree_World *world, int body, double h) {
  double sum = 0;
  for (int k = 0; k < scree_world_contact_count(world); ++k) {
    const scree_Contact one = scree_world_contact(world, k);
    if (one.body[0] == body || one.body[1] == body) sum += one.r[0] / h;
  }
  return sum;
}

/* A load on grains of a ten thousandth of its mass, through dampers whose time is far longer than
 * the step (the shear box of 002 section 11, in small). Where the velocities of the grains are
 * wrong by the tolerance, springs must not store the energy of that error. */
static void test_heavy_load(void **state) {
  (void)state;
  const double c = 0.9e-7, load = 10;
  for (int exact = 0; exact < 2; ++exact) {
    scree_WorldSettings settings = scree_world_settings();
    scree_World *world;
    settings.step = 2e-3;
    settings.gravity = vec(0, 0, -g);
    settings.flow = SCREE_ASSOCIATED;
    if (exact) settings.solve.tolerance = 1e-8;
    OK(scree_world_create(&settings, &test_log, &world));
    int floor;
    const int plate = add_loaded_box(world, c, load, &floor);
    const double start = scree_body_pose(world, plate).position.z;
    double mean = 0;
    for (int k = 0; k < 40; ++k) {
      scree_StepReport report;
      if (exact)
        run_steps(world, 1);
      else
        assert_true(scree_world_step(world, &report) <= SCREE_NOT_CONVERGED);
      const scree_EnergyBalance e = scree_world_energy(world);
      const double fallen = start - scree_body_pose(world, plate).position.z;
      assert_true(e.elastic < 0.01 * load * g * fallen + 1e-6);
      if (k >= 20) mean += force_on(world, floor, settings.step) / 20;
    }
    if (exact) NEAR(mean, load * g, 0.05 * load * g);
    scree_world_destroy(world);
  }
}

/* Tangential springs carry a force below the limit of friction and give it back. */
static void test_tangential_spring(void **state) {
  (void)state;
  const double c = 1e-5, half = 0.1, m = 1000 * 4 * half * half, force = 0.3 * m * g;
  const scree_PairLaw law = compliant(0.5, 0, c, 0.02);
  scree_World *world = world_of("moreau-jean", 2, 1e-3, &law);
  add_half_plane(world, obstacle_at(0, 0, 0));
  const int block = add_rectangle(world, half, half, at(0, half, 0));
  const double times[4] = {0, 0.5, 1.5, 2};
  const scree_Twist push = {{force, 0, 0}, {0, 0, 0}}, none = {{0, 0, 0}, {0, 0, 0}};
  const scree_Twist values[4] = {none, push, push, none};
  OK(scree_world_add_force(
      world,
      &(scree_ForceDef){
          .body = block,
          .signal = {.kind = SCREE_SIGNAL_TABLE, .count = 4, .times = times, .values = values}}));
  run_steps(world, 1400);
  /* the block has two contacts: each spring carries its part, whatever the parts are */
  const double moved = scree_body_pose(world, block).position.x;
  NEAR(moved, 0.5 * c * force, 1e-3 * moved);
  assert_true(scree_world_energy(world).elastic > 0.4 * force * moved);
  run_steps(world, 1600);
  NEAR(scree_body_pose(world, block).position.x, 0, 1e-3 * moved);
  scree_world_destroy(world);
}

/* Compliance zero is the rigid contact, and a small one is nearly so. */
static void test_rigid_limit(void **state) {
  (void)state;
  double x[3];
  for (int k = 0; k < 3; ++k) {
    const scree_PairLaw law = k == 0   ? scree_pair_law_coulomb(0.3, 0, 0)
                              : k == 1 ? compliant(0.3, 0, 0, 0.1)
                                       : compliant(0.3, 1e-13, 1e-13, 0);
    scree_World *world = world_of("moreau-jean", 2, 1e-3, &law);
    add_half_plane(world, obstacle_at(0, 0, 0));
    scree_BodyDef def = at(0, 0.1, 0);
    def.velocity.linear.x = 1;
    const int block = add_rectangle(world, 0.1, 0.1, def);
    run_steps(world, 500);
    x[k] = scree_body_pose(world, block).position.x;
    scree_world_destroy(world);
  }
  NEAR(x[0], 0.5 / (0.3 * g), 2e-3); /* v^2 / (2 mu g) */
  NEAR(x[1], x[0], 1e-9);
  NEAR(x[2], x[0], 1e-6);
}

/* The memory of springs is saved, and put back when a step is halved or interrupted. */
static void test_restart(void **state) {
  (void)state;
  const scree_PairLaw law = compliant(0.5, 1e-6, 1e-5, 1e-3);
  scree_World *worlds[2];
  for (int k = 0; k < 2; ++k) {
    worlds[k] = world_of("moreau-jean", 2, 1e-3, &law);
    add_half_plane(worlds[k], obstacle_at(0, 0, 0));
    scree_BodyDef def = at(0, 0.1, 0);
    def.velocity.linear.x = 0.1;
    add_rectangle(worlds[k], 0.1, 0.1, def);
    def = at(0.05, 0.3, 0);
    def.velocity.linear.x = -0.1;
    add_rectangle(worlds[k], 0.1, 0.1, def);
  }
  run_steps(worlds[0], 30);
  assert_true(scree_world_energy(worlds[0]).elastic > 0);
  const size_t size = scree_world_state_size(worlds[0]);
  void *buffer = malloc(size);
  scree_world_save(worlds[0], buffer);
  OK(scree_world_restore(worlds[1], buffer, size));
  for (int k = 0; k < 2; ++k) run_steps(worlds[k], 30);
  for (int body = 1; body < 3; ++body) {
    const scree_Pose a = scree_body_pose(worlds[0], body), b = scree_body_pose(worlds[1], body);
    assert_memory_equal(&a, &b, sizeof a);
  }
  assert_true(scree_world_energy(worlds[0]).elastic == scree_world_energy(worlds[1]).elastic);
  free(buffer);
  for (int k = 0; k < 2; ++k) scree_world_destroy(worlds[k]);
}

/* 002 Theorem 1: a disk between two walls, where sliding would have to open the contacts, is held
 * by normal impulses of any size; on a floor by those of its weight. */
static void test_internal_forces(void **state) {
  (void)state;
  for (int walls = 1; walls <= 2; ++walls) {
    scree_WorldSettings settings = scree_world_settings();
    scree_PairLaw law = scree_pair_law("coulomb");
    scree_World *world;
    scree_StepReport report;
    settings.dimension = 2;
    settings.step = 1e-3;
    settings.gravity = walls == 2 ? vec(0, -g, 0) : vec(g, 0, 0);
    settings.flow = SCREE_ASSOCIATED;
    OK(scree_pair_law_set(&law, "dilatancy", 0.3, &test_log));
    OK(scree_world_create(&settings, &test_log, &world));
    OK(scree_world_set_default_law(world, &law));
    for (int k = 0; k < walls; ++k) { /* half-planes whose outward normals are -x and x */
      scree_BodyDef def = obstacle_at(k == 0 ? radius : -radius, 0, 0);
      def.pose.orientation = turned(k == 0 ? acos(-1) / 2 : -acos(-1) / 2);
      add_half_plane(world, def);
    }
    const int disk = add_disk(world, radius, at(0, 0, 0));
    OK(scree_world_step(world, &report));
    assert_int_equal(report.internal_contacts, -1);
    settings.internal_forces = true;
    OK(scree_world_set_settings(world, &settings));
    OK(scree_world_step(world, &report));
    assert_int_equal(report.internal_contacts, walls == 2 ? 2 : 0);
    NEAR(scree_body_velocity(world, disk).linear.y, 0, 1e-6);
    scree_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parameters),        cmocka_unit_test(test_scheme_is_checked),
      cmocka_unit_test(test_indentation),       cmocka_unit_test(test_oscillation),
      cmocka_unit_test(test_no_energy_created), cmocka_unit_test(test_energy_closes),
      cmocka_unit_test(test_tangential_spring), cmocka_unit_test(test_rigid_limit),
      cmocka_unit_test(test_restart),           cmocka_unit_test(test_long_damping),
      cmocka_unit_test(test_heavy_load),        cmocka_unit_test(test_internal_forces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
