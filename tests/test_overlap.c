/* Bodies that turn do not overlap in schemes that look ahead: tumbling boxes and polygons at coarse
 * steps, looked at by a detection of its own after every step. */
#include "test_world_scene.h"

static double unit(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-53;
}

static double between(uint64_t *seed, double low, double high) {
  return low + (high - low) * unit(seed);
}

/* What a scene did. */
typedef struct Outcome {
  double penetration, kick; /* at the ends of steps; where contacts act */
  double made, closing; /* energy made by contacts since the start, over the largest there was */
  int expansions;
  scree_Vec3 last; /* place of the last body */
} Outcome;

static Outcome watch(scree_World *world, int steps) {
  Outcome o = {0};
  const scree_EnergyBalance start = scree_world_energy(world);
  double top = start.kinetic;
  for (int k = 0; k < steps; ++k) {
    scree_StepReport report;
    double depth;
    OK(scree_world_step(world, &report));
    OK(scree_world_penetration(world, &depth, NULL));
    o.penetration = fmax(o.penetration, depth);
    o.kick = fmax(o.kick, report.penetration);
    o.expansions += report.expansions;
    const scree_EnergyBalance e = scree_world_energy(world);
    top = fmax(top, e.kinetic);
    o.closing = e.closing / top;
    o.made = fmax(o.made, -(e.normal + e.friction) / top);
  }
  o.last = scree_body_pose(world, scree_world_body_count(world) - 1).position;
  return o;
}

static const char *const ahead[] = {"moreau-jean", "euler"};

/* Contacts act at the ends of euler's steps and in the middle of those of moreau-jean. Between two
 * kicks the corner of a body that turns can enter another one: by 6e-3 where bodies turn by a tenth
 * of a radian per step, and by the square of that angle. */
static void assert_apart(const Outcome *o, const char *scheme) {
  assert_true(o->kick <= 1e-4);
  assert_true(o->penetration <= (strcmp(scheme, "euler") == 0 ? 1e-4 : 1e-2));
}

static scree_WorldSettings settings_of(const char *scheme, int dimension, double step,
                                       double scale) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = dimension;
  settings.scheme = scheme;
  settings.step = step;
  settings.gravity = dimension == 2 ? vec(0, -9.81 * scale, 0) : vec(0, 0, -9.81 * scale);
  settings.penetration = 1e-4;
  settings.solve.tolerance = 1e-6;
  settings.solve.threads = 1;
  return settings;
}

/* Boxes thrown at each other above a floor, turning up to a twentieth of a radian per step. */
static Outcome tumbling_boxes(const char *scheme, double mu, double scale, int threads) {
  uint64_t seed = 11;
  scree_WorldSettings settings = settings_of(scheme, 3, 5e-3, scale);
  settings.solve.threads = threads;
  scree_World *world = make_world(&settings, mu, 0, 0);
  add_half_space(world, obstacle_at(0, 0, 0));
  for (int k = 0; k < 12; ++k) {
    scree_BodyDef def =
        at(scale * 0.25 * (k % 3 - 1), scale * 0.25 * (k / 3 % 2), scale * (0.2 + 0.25 * (k / 6)));
    def.pose.orientation = (scree_Quat){between(&seed, -1, 1), between(&seed, -1, 1),
                                        between(&seed, -1, 1), between(&seed, -1, 1)};
    def.velocity.linear = vec(-4 * def.pose.position.x, -4 * def.pose.position.y, -scale);
    def.velocity.angular =
        vec(between(&seed, -10, 10), between(&seed, -10, 10), between(&seed, -10, 10));
    add_box(world, scale * between(&seed, 0.04, 0.08), scale * between(&seed, 0.04, 0.08),
            scale * between(&seed, 0.04, 0.08), def);
  }
  const Outcome o = watch(world, 160);
  scree_world_destroy(world);
  return o;
}

static void boxes(void **state) {
  (void)state;
  const double mus[] = {0, 0.6};
  for (int k = 0; k < 4; ++k) {
    const Outcome o = tumbling_boxes(ahead[k / 2], mus[k % 2], 1, 1);
    print_message("boxes, %s, mu %g: penetration %.1e, %d expansions, energy made %.1e, closing "
                  "%.1e\n",
                  ahead[k / 2], mus[k % 2], o.penetration, o.expansions, o.made, o.closing);
    assert_apart(&o, ahead[k / 2]);
    assert_true(o.expansions > 0);
    assert_true(o.made < 1e-12 && o.closing < 1e-12);
  }
}

static void same_everywhere(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) {
    const Outcome one = tumbling_boxes(ahead[k], 0.6, 1, 1);
    const Outcome two = tumbling_boxes(ahead[k], 0.6, 1, 2);
    assert_memory_equal(&one, &two, sizeof one);
    const Outcome big = tumbling_boxes(ahead[k], 0.6, 1024, 1);
    NEAR(big.last.x / 1024, one.last.x, 0);
    NEAR(big.last.z / 1024, one.last.z, 0);
    assert_int_equal(big.expansions, one.expansions);
  }
}

/* Polygons of three to seven corners in a trough. */
static void polygons_of(const char *scheme) {
  uint64_t seed = 5;
  const scree_WorldSettings settings = settings_of(scheme, 2, 5e-3, 1);
  scree_World *world = make_world(&settings, 0.4, 0, 0);
  scree_BodyDef side = obstacle_at(-0.4, 0, 0);
  side.pose.orientation = turned(-0.6);
  add_half_plane(world, side);
  side.pose.position.x = 0.4;
  side.pose.orientation = turned(0.6);
  add_half_plane(world, side);
  for (int k = 0; k < 24; ++k) {
    scree_Shape shape;
    scree_Vec3 corners[7];
    const int n = 3 + k % 5;
    const double radius = between(&seed, 0.05, 0.09);
    for (int i = 0; i < n; ++i)
      corners[i] = vec(1.4 * radius * cos(6.283185307179586 * i / n),
                       radius * sin(6.283185307179586 * i / n), 0);
    OK(scree_shape_init_polygon(&shape, corners, n, &test_log));
    scree_BodyDef def = at(0.27 * (k % 4 - 1.5), 0.5 + 0.27 * (k / 4), 0);
    def.pose.orientation = turned(between(&seed, 0, 6));
    def.velocity.angular.z = between(&seed, -12, 12);
    add_shape(world, &shape, def);
  }
  const Outcome o = watch(world, 300);
  print_message("polygons, %s: penetration %.1e, %d expansions, energy made %.1e, closing %.1e\n",
                scheme, o.penetration, o.expansions, o.made, o.closing);
  assert_apart(&o, scheme);
  assert_true(o.expansions > 0);
  assert_true(o.made < 1e-12 && o.closing < 1e-12);
  scree_world_destroy(world);
}

/* A drum that turns. */
static void add_drum(scree_World *world) {
  scree_Shape shape;
  OK(scree_shape_init_drum_2d(&shape, 0.5, &test_log));
  scree_BodyDef drum = obstacle_at(0, 0, 0);
  drum.driver.kind = SCREE_SIGNAL_CONSTANT;
  drum.driver.constant.angular.z = 3;
  add_shape(world, &shape, drum);
}

/* Slim ellipses, whose flat sides come closer when they turn, in a drum, which is not convex. */
static void ellipses_in_a_drum_of(const char *scheme) {
  uint64_t seed = 7;
  const scree_WorldSettings settings = settings_of(scheme, 2, 5e-3, 1);
  scree_World *world = make_world(&settings, 0.3, 0, 0);
  scree_Shape shape;
  add_drum(world);
  for (int k = 0; k < 12; ++k) {
    OK(scree_shape_init_ellipse(&shape, 0.1, 0.035, &test_log));
    scree_BodyDef def = at(0.22 * (k % 3 - 1), 0.13 * (k / 3 - 1.5), 0);
    def.velocity.angular.z = between(&seed, -10, 10);
    add_shape(world, &shape, def);
  }
  const Outcome o = watch(world, 300);
  print_message("ellipses, %s: penetration %.1e, %d expansions, closing %.1e\n", scheme,
                o.penetration, o.expansions, o.closing);
  assert_apart(&o, scheme);
  assert_true(o.expansions > 0);
  scree_world_destroy(world);
}

/* Disks in a drum, which is not convex, thrown round it at a quarter of their size per step. */
static void disks_in_a_drum_of(const char *scheme) {
  const scree_WorldSettings settings = settings_of(scheme, 2, 5e-3, 1);
  scree_World *world = make_world(&settings, 0.3, 0, 0);
  add_drum(world);
  for (int k = 0; k < 12; ++k) {
    scree_BodyDef def = at(0.4 * cos(0.4 * k), 0.4 * sin(0.4 * k), 0);
    def.velocity.linear = vec(-3 * sin(0.4 * k), 3 * cos(0.4 * k), 0);
    add_disk(world, 0.03, def);
  }
  const Outcome o = watch(world, 300);
  print_message("disks, %s: penetration %.1e, %d expansions, closing %.1e\n", scheme, o.penetration,
                o.expansions, o.closing);
  assert_apart(&o, scheme);
  assert_true(o.expansions < 30); /* of 300 steps */
  scree_world_destroy(world);
}

/* Balls cannot come closer by turning: nothing is repeated. */
static void balls_need_nothing_of(const char *scheme) {
  const scree_WorldSettings settings = settings_of(scheme, 3, 5e-3, 1);
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  add_half_space(world, obstacle_at(0, 0, 0));
  for (int k = 0; k < 8; ++k) {
    scree_BodyDef def = at(0.21 * (k % 2), 0.21 * (k / 2 % 2), 0.12 + 0.21 * (k / 4));
    def.velocity.angular = vec(20, -15, 10);
    add_sphere(world, 0.1, def);
  }
  const Outcome o = watch(world, 100);
  assert_int_equal(o.expansions, 0);
  assert_apart(&o, scheme);
  scree_world_destroy(world);
}

static void polygons(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) polygons_of(ahead[k]);
}

static void ellipses_in_a_drum(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) ellipses_in_a_drum_of(ahead[k]);
}

static void disks_in_a_drum(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) disks_in_a_drum_of(ahead[k]);
}

static void balls_need_nothing(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) balls_need_nothing_of(ahead[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes),           cmocka_unit_test(same_everywhere),
      cmocka_unit_test(polygons),        cmocka_unit_test(ellipses_in_a_drum),
      cmocka_unit_test(disks_in_a_drum), cmocka_unit_test(balls_need_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
