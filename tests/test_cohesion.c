/* Bonds hold up to their strength and let go beyond it, in tension, shear and bending; broken ones
 * stay broken. */
#include "test_world_scene.h"

static scree_World *make(int dimension, double step, double mu, double cohesion, double break_at,
                         double rebond) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = dimension;
  settings.step = step;
  settings.gravity = dimension == 2 ? vec(0, -10, 0) : vec(0, 0, -10);
  settings.solve.threads = 1;
  scree_World *world;
  scree_PairLaw law = scree_pair_law("cohesive");
  OK(scree_pair_law_set(&law, "mu", mu, &test_log));
  OK(scree_pair_law_set(&law, "cohesion", cohesion, &test_log));
  OK(scree_pair_law_set(&law, "break_at", break_at, &test_log));
  OK(scree_pair_law_set(&law, "rebond", rebond, &test_log));
  OK(scree_world_create(&settings, &test_log, &world));
  OK(scree_world_set_default_law(world, &law));
  return world;
}

/* A ball of 1 kg hangs under a fixed one: 10 N of tension. */
static void tension(void **state) {
  (void)state;
  for (int dimension = 2; dimension <= 3; ++dimension)
    for (int strong = 0; strong < 2; ++strong) {
      scree_World *world = make(dimension, 1e-3, 0.5, strong ? 10.1 : 9.9, 0, 0);
      scree_BodyDef def = dimension == 2 ? at(0, -0.2, 0) : at(0, 0, -0.2);
      def.mass = 1;
      int ball;
      if (dimension == 2) {
        add_disk(world, 0.1, obstacle_at(0, 0, 0));
        ball = add_disk(world, 0.1, def);
      } else {
        add_sphere(world, 0.1, obstacle_at(0, 0, 0));
        ball = add_sphere(world, 0.1, def);
      }
      run_steps(world, 1000);
      const scree_Vec3 x = scree_body_pose(world, ball).position;
      const double fall = -0.2 - (dimension == 2 ? x.y : x.z);
      if (strong)
        NEAR(fall, 0, 1e-9);
      else
        NEAR(fall, 4.8, 0.2); /* free after the first hundredths of a second */
      scree_world_destroy(world);
    }
}

/* A block on a vertical wall is held by friction of the cohesion: mu c of each of its points. */
static void shear(void **state) {
  (void)state;
  for (int strong = 0; strong < 2; ++strong) {
    /* two points carry 0.5 * 2 c */
    scree_World *world = make(2, 1e-3, 0.5, strong ? 10.5 : 9.5, 0, 0);
    add_rectangle(world, 0.1, 1, obstacle_at(-0.1, 0, 0));
    scree_BodyDef def = at(0.0001, 0, 0);
    def.pose.position.x = 0.001; /* thin, so that its weight turns it by little */
    def.mass = 1;
    const int block = add_rectangle(world, 0.001, 0.2, def);
    run_steps(world, 500);
    const double fall = -scree_body_pose(world, block).position.y;
    if (strong)
      NEAR(fall, 0, 1e-8);
    else
      assert_true(fall > 0.5);
    scree_world_destroy(world);
  }
}

/* A cantilever of one brick: the upper point of its face carries the moment W l / height. */
static void bending(void **state) {
  (void)state;
  for (int strong = 0; strong < 2; ++strong) {
    const double weight = 10, half = 0.2, height = 0.2, moment = weight * half;
    scree_World *world = make(2, 1e-3, 2, (strong ? 1.05 : 0.95) * moment / height, 0, 0);
    add_rectangle(world, 0.1, 1, obstacle_at(-0.1, 0, 0));
    scree_BodyDef def = at(half, 0, 0);
    def.mass = 1;
    const int brick = add_rectangle(world, half, 0.5 * height, def);
    run_steps(world, 500);
    const double turn = fabs(scree_body_pose(world, brick).orientation.z);
    if (strong)
      assert_true(turn < 1e-8);
    else
      assert_true(turn > 0.05);
    scree_world_destroy(world);
  }
}

/* A block on a table that is tilted slowly slides where W sin a = mu (W cos a + 2 c), and not
 * before: each of its bonds may carry its full strength for seconds. */
static scree_Twist tilt(void *user, double time) {
  (void)user;
  return (scree_Twist){{0, 0, 0}, {0, 0, 0.4 * fmin(time, 0.5)}};
}

static void tilted(void **state) {
  (void)state;
  const double mu = 0.4, c = 3, half = 0.05;
  double wanted = 0; /* of W = 10 */
  while (10 * sin(wanted) < mu * (10 * cos(wanted) + 2 * c)) wanted += 1e-5;
  for (int fine = 0; fine < 2; ++fine) {
    scree_World *world = make(2, fine ? 1e-3 : 2e-3, mu, c, 0, 0);
    scree_BodyDef table = obstacle_at(0, -half, 0), def = at(0, 0.02, 0);
    table.driver.kind = SCREE_SIGNAL_CALLBACK;
    table.driver.callback = tilt;
    def.mass = 1;
    const int ground = add_rectangle(world, 0.5, half, table);
    const int block = add_rectangle(world, half, 0.02, def);
    double angle = 0, way = 0;
    while (angle < 1 && fabs(way) < 1e-4) {
      run_steps(world, 1);
      const scree_Vec3 x = scree_body_pose(world, block).position;
      const double t = scree_world_time(world);
      angle = t < 0.5 ? 0.2 * t * t : 0.2 * t - 0.05;
      way = x.x * cos(angle) + (x.y - scree_body_pose(world, ground).position.y) * sin(angle);
    }
    assert_true(angle > wanted && angle < wanted + 0.01); /* until it has moved by 1e-4 */
    scree_world_destroy(world);
  }
}

/* A bond that is torn by a pull does not heal when the bodies meet again, unless asked; the restart
 * gives the same bits. */
static scree_Twist pull(void *user, double time) {
  (void)user;
  return (scree_Twist){{0, time < 0.1 ? 25.0 : time < 0.25 ? -10.0 : 10.0, 0}, {0, 0, 0}};
}

static void broken_stays_broken(void **state) {
  (void)state;
  for (int rebond = 0; rebond < 2; ++rebond) {
    scree_World *world[2];
    int ball = -1;
    for (int k = 0; k < 2; ++k) {
      world[k] = make(2, 1e-3, 0.5, 30, 1e-4, rebond);
      add_half_plane(world[k], obstacle_at(0, 0, 0));
      scree_BodyDef def = at(0, 0.1, 0);
      def.mass = 1;
      ball = add_disk(world[k], 0.1, def);
      const scree_ForceDef force = {.body = ball,
                                    .signal = {.kind = SCREE_SIGNAL_CALLBACK, .callback = pull}};
      OK(scree_world_add_force(world[k], &force));
    }
    /* 25 N up against 10 N of weight: 15 N, the bond of 30 N holds */
    run_steps(world[0], 90);
    NEAR(scree_body_pose(world[0], ball).position.y, 0.1, 1e-9);
    const scree_Twist kick = {{0, 2, 0}, {0, 0, 0}}; /* 2 m/s tear it */
    OK(scree_body_set_velocity(world[0], ball, &kick));
    run_steps(world[0], 60);
    assert_true(scree_body_pose(world[0], ball).position.y > 0.11);
    const size_t size = scree_world_state_size(world[0]);
    char *saved = malloc(size);
    scree_world_save(world[0], saved);
    OK(scree_world_restore(world[1], saved, size));
    free(saved);
    for (int k = 0; k < 2; ++k) run_steps(world[k], 850);
    const scree_Vec3 x = scree_body_pose(world[0], ball).position;
    const scree_Vec3 y = scree_body_pose(world[1], ball).position;
    assert_memory_equal(&x, &y, sizeof x);
    NEAR(x.y, 0.1, 1e-6); /* it lies again; 10 N up balance its weight in the end */
    const scree_Twist up = {{0, 0.05, 0}, {0, 0, 0}}; /* less energy than breaking a bond takes */
    OK(scree_body_set_velocity(world[0], ball, &up));
    run_steps(world[0], 50);
    const double now = scree_body_pose(world[0], ball).position.y - 0.1;
    if (rebond)
      assert_true(now < 1e-4);
    else
      NEAR(now, 0.05 * 0.05, 1e-4);
    scree_world_destroy(world[0]);
    scree_world_destroy(world[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tension), cmocka_unit_test(shear),
                                     cmocka_unit_test(bending), cmocka_unit_test(tilted),
                                     cmocka_unit_test(broken_stays_broken)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
