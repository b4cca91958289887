/* Rest and creep: islands that rest in a world that does not, at all defaults, and the certificate
 * of creep, with runs that must fail it; restitution, which must not keep bodies from resting.
 * Worlds that rest as a whole are in test_truth. */
#include "test_world_scene.h"

static const double g = 9.81;

static scree_WorldSettings defaults(int dimension, double size) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = dimension;
  settings.step = 0.03 * sqrt(size / g);
  settings.gravity = dimension == 2 ? vec(0, -g, 0) : vec(0, 0, -g);
  settings.solve.threads = 1;
  return settings;
}

static double distance(scree_Vec3 a, scree_Vec3 b) {
  return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

/* ---- busy worlds ----------------------------------------------------------------------------- */

enum { BOXES = 20 };

/* Bodies 1 to BOXES are a stack; beside it a disk bounces without loss and another one
 * rolls. */
static scree_World *busy_stack(const scree_WorldSettings *settings) {
  scree_World *world = make_world(settings, 0.5, 0, 0);
  int rubber;
  const scree_PairLaw bounce = scree_pair_law_coulomb(0.5, 1, 0);
  OK(scree_world_add_material(world, &rubber));
  OK(scree_world_set_pair_law(world, rubber, 0, &bounce));
  add_half_plane(world, obstacle_at(0, 0, 0));
  for (int k = 0; k < BOXES; ++k) add_rectangle(world, 0.5, 0.5, at(0, 0.5 + k, 0));
  scree_BodyDef disk = at(5, 2, 0);
  disk.material = rubber;
  add_disk(world, 0.5, disk);
  disk = at(8, 0.5, 0);
  disk.velocity = (scree_Twist){{1, 0, 0}, {0, 0, -2}};
  add_disk(world, 0.5, disk);
  return world;
}

static void stack_beside_bouncing_disk(void **state) {
  (void)state;
  const scree_WorldSettings settings = defaults(2, 1);
  scree_World *world = busy_stack(&settings);
  scree_StepReport report = {0};
  double moved = 0;
  while (scree_world_time(world) < 10) {
    OK(scree_world_step(world, &report));
    for (int k = 1; k <= BOXES; ++k)
      moved = fmax(moved, distance(scree_body_pose(world, k).position, vec(0, k - 0.5, 0)));
  }
  const scree_EnergyBalance energy = scree_world_energy(world);
  print_message("stack beside a bouncing disk: moves by %.1e m in 10 s, creep %.1e\n", moved,
                report.creep);
  assert_true(moved < 1e-7);         /* 1e-5 to 1e-4 if only the world as a whole is judged */
  assert_true(report.creep < 1e-7);  /* and it says so */
  assert_true(energy.kinetic > 500); /* the world is busy */
  scree_world_destroy(world);
}

/* The same bits after a restart in the middle, islands and creep among them. */
static void restart(void **state) {
  (void)state;
  const scree_WorldSettings settings = defaults(2, 1);
  scree_World *world = busy_stack(&settings), *again = busy_stack(&settings);
  scree_StepReport a = {0}, b = {0};
  for (int k = 0; k < 150; ++k) OK(scree_world_step(world, &a));
  size_t size = scree_world_state_size(world);
  void *middle = malloc(size);
  scree_world_save(world, middle);
  OK(scree_world_restore(again, middle, size));
  free(middle);
  for (int k = 0; k < 150; ++k) {
    OK(scree_world_step(world, &a));
    OK(scree_world_step(again, &b));
  }
  assert_true(a.creep == b.creep && a.creep > 0);
  assert_int_equal(a.iterations, b.iterations);
  size = scree_world_state_size(world);
  assert_int_equal(size, scree_world_state_size(again));
  char *one = malloc(size), *two = malloc(size);
  scree_world_save(world, one);
  scree_world_save(again, two);
  assert_memory_equal(one, two, size);
  free(one);
  free(two);
  scree_world_destroy(world);
  scree_world_destroy(again);
}

/* A wall of bricks beside a belt that turns balls against a stop for ever. */
static void wall_beside_conveyor(void **state) {
  (void)state;
  enum { COURSES = 6, LENGTH = 4, BRICKS = COURSES * LENGTH };
  const double x = 0.125, y = 0.06, z = 0.05;
  const scree_WorldSettings settings = defaults(3, 2 * z);
  scree_World *world = make_world(&settings, 0.6, 0, 0);
  scree_Vec3 start[BRICKS];
  for (int k = 0; k < BRICKS; ++k) {
    const int course = k / LENGTH;
    start[k] = vec(2 * x * (k % LENGTH + 0.5 * (course % 2)), 0, z * (2 * course + 1));
    assert_int_equal(k, add_box(world, x, y, z, at(start[k].x, start[k].y, start[k].z)));
  }
  add_half_space(world, obstacle_at(0, 0, 0));
  scree_BodyDef belt = obstacle_at(0, 2, 0.5);
  belt.driver.kind = SCREE_SIGNAL_CONSTANT;
  belt.driver.constant.linear.x = 0.5;
  belt.belt = true;
  add_box(world, 1, 0.3, 0.05, belt);
  add_box(world, 0.05, 0.3, 0.3, obstacle_at(1.05, 2, 0.85));
  for (int k = 0; k < 3; ++k) add_sphere(world, 0.06, at(0.5 - 0.2 * k, 2, 0.62));
  scree_StepReport report = {0};
  double moved = 0;
  while (scree_world_time(world) < 3) {
    OK(scree_world_step(world, &report));
    for (int k = 0; k < BRICKS; ++k)
      moved = fmax(moved, distance(scree_body_pose(world, k).position, start[k]));
  }
  print_message("wall beside a conveyor: moves by %.1e m in 3 s, creep %.1e\n", moved,
                report.creep);
  assert_true(moved < 1e-8);
  assert_true(report.creep < 1e-7);
  scree_world_destroy(world);
}

/* ---- the certificate of creep ---------------------------------------------------------------- */

/* A pyramid of `rows` rows of boxes with gaps between them; returns the largest way of a box. */
static double pyramid(const scree_WorldSettings *settings, int rows, double duration,
                      scree_StepReport *last, int *failed) {
  scree_World *world = make_world(settings, 0.5, 0, 0);
  int count = 0;
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < rows - row; ++k, ++count)
      add_rectangle(world, 0.5, 0.5, at(1.02 * (k + 0.5 * row), 0.5 + row, 0));
  add_half_plane(world, obstacle_at(0, 0, 0));
  scree_Vec3 start[100];
  assert_true(count <= 100);
  for (int k = 0; k < count; ++k) start[k] = scree_body_pose(world, k).position;
  double most = 0;
  *failed = 0;
  while (scree_world_time(world) < duration) {
    const scree_Status status = scree_world_step(world, last);
    assert_true(status <= SCREE_NOT_CONVERGED);
    *failed += (last->missed & SCREE_MISSED_CREEP) != 0;
    for (int k = 0; k < count; ++k)
      most = fmax(most, distance(scree_body_pose(world, k).position, start[k]));
  }
  scree_world_destroy(world);
  return most;
}

/* With each problem solved once to a loose tolerance boxes creep, and the certificate says how far;
 * at the defaults they do not, and it says that too. */
static void creep_is_certified(void **state) {
  (void)state;
  scree_WorldSettings settings = defaults(2, 1);
  scree_StepReport report;
  int failed;
  settings.creep_limit = 1e-6;
  double moved = pyramid(&settings, 10, 3, &report, &failed);
  print_message("pyramid at defaults: moves by %.1e, creep %.1e\n", moved, report.creep);
  assert_int_equal(failed, 0);
  assert_true(report.certified && report.creep < 1e-7 && report.creep <= 1.05 * moved);
  settings.max_retries = 0;
  moved = pyramid(&settings, 10, 3, &report, &failed);
  print_message("pyramid, each problem solved once: moves by %.1e, creep %.1e, %d steps\n", moved,
                report.creep, failed);
  assert_true(failed > 0 && !report.certified && (report.missed & SCREE_MISSED_CREEP));
  assert_true(report.creep > settings.creep_limit && report.creep <= 1.05 * moved);
  char text[SCREE_MISSED_SIZE];
  scree_missed_text(SCREE_MISSED_CREEP, text, sizeof text);
  assert_string_equal(text, "creep");
}

/* Slow motion that the law asks for is no creep: a plate lifts a block slowly. */
static void slow_motion_is_no_creep(void **state) {
  (void)state;
  scree_WorldSettings settings = defaults(2, 1);
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  add_half_plane(world, obstacle_at(0, 0, 0));
  scree_BodyDef floor = obstacle_at(0, 1, 0);
  floor.driver.kind = SCREE_SIGNAL_CONSTANT;
  floor.driver.constant.linear.y = 1e-3;
  add_rectangle(world, 1, 0.1, floor);
  const int block = add_rectangle(world, 0.5, 0.5, at(0, 1.6, 0));
  scree_StepReport report = {0};
  while (scree_world_time(world) < 3) OK(scree_world_step(world, &report));
  const double lifted = scree_body_pose(world, block).position.y - 1.6;
  print_message("a block lifted by %.2e: creep %.1e\n", lifted, report.creep);
  NEAR(lifted, 3e-3, 1e-4);
  assert_true(report.creep < 1e-3 * lifted);
  scree_world_destroy(world);
}

/* ---- restitution ----------------------------------------------------------------------------- */

/* A block that slides to rest stays there: restitution belongs to impacts, and a contact that
 * stays loaded has none, with e_t = 1 either. */
static void block_stops(int dimension) {
  const double mu = 0.3, speed = 1, size = 0.1;
  const scree_WorldSettings settings = defaults(dimension, size);
  scree_World *world = make_world(&settings, mu, 1, 1);
  scree_BodyDef def = dimension == 2 ? at(0, 0.5 * size, 0) : at(0, 0, 0.5 * size);
  def.velocity.linear.x = speed;
  int block;
  if (dimension == 2) {
    add_half_plane(world, obstacle_at(0, 0, 0));
    block = add_rectangle(world, size, 0.5 * size, def);
  } else {
    add_half_space(world, obstacle_at(0, 0, 0));
    block = add_box(world, size, size, 0.5 * size, def);
  }
  while (scree_world_time(world) < 2 * speed / (mu * g)) OK(scree_world_step(world, NULL));
  const double way = scree_body_pose(world, block).position.x;
  const scree_Twist v = scree_body_velocity(world, block);
  print_message("a block with e_n = e_t = 1 in %dD slides %.5f m, then moves at %.1e m/s\n",
                dimension, way, v.linear.x);
  NEAR(way, speed * speed / (2 * mu * g), 1e-3 * way);
  assert_true(fabs(v.linear.x) < 1e-6 * speed); /* 2e-3 if each step reverses it */
  scree_world_destroy(world);
}

static void blocks_stop(void **state) {
  (void)state;
  block_stops(2);
  block_stops(3);
}

/* The point of a ball that hits the floor turns back with e_t of its velocity, at each impact. */
static void impacts_reverse_slip(void **state) {
  (void)state;
  const scree_WorldSettings settings = defaults(2, 0.1);
  scree_World *world = make_world(&settings, 10, 1, 0.8);
  add_half_plane(world, obstacle_at(0, 0, 0));
  scree_BodyDef def = at(0, 0.3, 0);
  def.velocity.angular.z = 20;
  const int ball = add_disk(world, 0.1, def);
  double slip = 2; /* of the lowest point: v + w r */
  for (int impact = 0; impact < 3; ++impact) {
    while (scree_body_velocity(world, ball).linear.y <= 0) OK(scree_world_step(world, NULL));
    const scree_Twist v = scree_body_velocity(world, ball);
    const double now = v.linear.x + 0.1 * v.angular.z;
    NEAR(now, -0.8 * slip, 1e-3 * fabs(slip));
    slip = now;
    while (scree_body_velocity(world, ball).linear.y > 0) OK(scree_world_step(world, NULL));
  }
  scree_world_destroy(world);
}

/* A packing at rest costs little with e_t = 1 too: the errors of the solver are damped. */
static void packing_stops(void **state) {
  (void)state;
  enum { FLOORS = 3, SIDE = 8, SETTLE = 1500, STEPS = 200 };
  scree_WorldSettings settings = defaults(2, 1e-3);
  settings.step = 1e-4;
  settings.solve.tolerance = 1e-5;
  scree_World *world = make_world(&settings, 0.2, 0.5, 1);
  for (int k = 0; k < FLOORS; ++k) {
    scree_BodyDef wall = obstacle_at(k == 1 ? 0 : k == 2 ? 9e-3 : 0, 0, 0);
    wall.pose.orientation = turned(k == 1 ? -0.5 * acos(-1) : k == 2 ? 0.5 * acos(-1) : 0);
    add_half_plane(world, wall);
  }
  uint32_t seed = 11;
  for (int k = 0; k < SIDE * SIDE; ++k) {
    seed = seed * 1664525u + 1013904223u;
    const double radius = 2.5e-4 * (1 + seed / 4294967296.0);
    const int row = k / SIDE;
    add_disk(world, radius,
             at(1.05e-3 * (k % SIDE + 0.5 + 0.45 * (row % 2)), 9e-4 * row + 6e-4, 0));
  }
  for (int k = 0; k < SETTLE; ++k) OK(scree_world_step(world, NULL));
  long long sweeps = 0;
  for (int k = 0; k < STEPS; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    sweeps += report.iterations;
  }
  print_message("a packing of %d disks at rest, e_t = 1: %.1f iterations a step\n", SIDE * SIDE,
                (double)sweeps / STEPS);
  assert_true(sweeps < 50LL * STEPS); /* 2000 if each step reverses what moves */
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stack_beside_bouncing_disk), cmocka_unit_test(restart),
      cmocka_unit_test(wall_beside_conveyor),       cmocka_unit_test(creep_is_certified),
      cmocka_unit_test(slow_motion_is_no_creep),    cmocka_unit_test(blocks_stop),
      cmocka_unit_test(impacts_reverse_slip),       cmocka_unit_test(packing_stops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
