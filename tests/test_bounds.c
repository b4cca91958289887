/* Boundaries and loads of scenes against hand calculation: plates, joints to the world, sensors of
 * contacts between groups, stresses, periodic cells. */
#include "scene/scene.h"
#include "scene/sensors.h"
#include "test_world_scene.h"

static char heard[2000];

static void hear(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level <= SCREE_LOG_ERROR) snprintf(heard, sizeof heard, "%s", message);
}

static const scree_Log ear = {hear, NULL};

/* A scene at work. */
typedef struct Run {
  scree_Scene *scene;
  scree_World *world;
  scree_Sensors sensors;
} Run;

static Run begin(const char *text) {
  Run run;
  OK(scree_scene_parse(text, strlen(text), "test", NULL, &test_log, &run.scene));
  OK(scree_scene_build(run.scene, &test_log, &run.world));
  OK(scree_sensors_init(&run.sensors, run.scene, &test_log));
  return run;
}

static void end(Run *run) {
  scree_sensors_fini(&run->sensors);
  scree_world_destroy(run->world);
  scree_scene_destroy(run->scene);
}

static void go(Run *run, int steps) {
  run_steps(run->world, steps);
  OK(scree_sensors_take(&run->sensors, run->world, &test_log));
}

static double read(const Run *run, const char *name) {
  for (int k = 0; k < run->sensors.columns; ++k)
    if (strcmp(run->sensors.names[k] + strlen("sensor."), name) == 0) return run->sensors.values[k];
  fail_msg("no sensor %s", name);
  return NAN;
}

static void refused(const char *text, const char *message) {
  scree_Scene *scene = NULL;
  scree_World *world = NULL;
  scree_Status status = scree_scene_parse(text, strlen(text), "test", NULL, &ear, &scene);
  if (status == SCREE_OK) status = scree_scene_build(scene, &ear, &world);
  assert_int_equal(status, SCREE_BAD_INPUT);
  if (!strstr(heard, message) && !strstr(heard, "is refused"))
    fail_msg("found \"%s\", expected \"%s\"", heard, message);
  scree_scene_destroy(scene);
}

/* ---- plates ---------------------------------------------------------------------------------- */

/* A plate presses a ball on a floor: the floor carries p A and the weight of the ball, the plate
 * none of its own. */
static void pressed(void **state) {
  (void)state;
  Run run =
      begin("dimension: 3\n"
            "contact: { mu: 0.5 }\n"
            "obstacles: [{ name: floor, shape: { kind: half-space } }]\n"
            "bodies: [{ name: ball, shape: { kind: sphere, radius: 0.05 }, mass: 2, "
            "position: [0.01, 0, 0.05] }]\n"
            "plates: [{ name: top, point: [0, 0, 0.1], normal: [0, 0, -1], length: 0.2, "
            "width: 0.3, pressure: 5000, mass: 3 }]\n"
            "sensors:\n"
            "  - { kind: force, name: floor, body: floor }\n"
            "  - { kind: contact_force, name: pair, between: [ball, top] }\n"
            "  - { kind: contact_torque, name: turn, between: [ball, floor], point: [0, 1, 0] }\n"
            "  - { kind: joint_torque, name: hold, joint: top }\n"
            "  - { kind: joint_position, name: way, joint: top }\n"
            "time: { step: 1e-3, duration: 1 }\n");
  go(&run, 50);
  const double F = 5000 * 0.06, N = F + 2 * 9.81;
  NEAR(read(&run, "floor.z"), -N, 1e-3 * N);
  NEAR(read(&run, "pair.z"), -F, 1e-3 * F);
  NEAR(read(&run, "pair.x"), 0, 1e-3 * F);
  NEAR(read(&run, "turn.x"), -N, 1e-3 * N); /* (0.01, -1, 0) x (0, 0, N) */
  NEAR(read(&run, "turn.y"), -0.01 * N, 1e-3 * N);
  NEAR(fabs(read(&run, "hold.y")), 0.01 * F, 1e-3 * F); /* the ball is off the middle */
  NEAR(read(&run, "way"), 0, 1e-6);
  const scree_EnergyBalance e = scree_world_energy(run.world);
  NEAR(e.closing, 0, 1e-9);
  end(&run);
}

/* A disk stays on a slope of 1 in 10 by a moment of the contact, f_T R: the sensor of torques has
 * it, about the point of contact alone. */
static void resists_rolling(void **state) {
  (void)state;
  Run run = begin(
      "dimension: 2\n"
      "gravity: [1, -10]\n"
      "contact: { mu: 0.5, rolling: 0.2 }\n"
      "obstacles: [{ name: floor, shape: { kind: half-plane } }]\n"
      "bodies: [{ name: disk, shape: { kind: disk, radius: 0.1 }, mass: 2, position: [0, 0.1] }]\n"
      "sensors:\n"
      "  - { kind: contact_force, name: force, between: [disk, floor] }\n"
      "  - { kind: contact_torque, name: foot, between: [disk, floor], point: [0, 0] }\n"
      "  - { kind: contact_torque, name: centre, between: [disk, floor], point: [0, 0.1] }\n"
      "time: { step: 1e-3, duration: 1 }\n");
  go(&run, 50);
  NEAR(read(&run, "force.x"), -2, 1e-3);
  NEAR(read(&run, "force.y"), 20, 1e-2);
  NEAR(read(&run, "foot"), 0.2, 1e-4);
  NEAR(read(&run, "centre"), 0, 1e-4);
  end(&run);
}

/* Free plates in 2D: x = p A t^2 / (2 m), on their own face and between two others; a velocity; a
 * load and then a velocity. */
static void driven(void **state) {
  (void)state;
  Run run =
      begin("dimension: 2\n"
            "gravity: [0, -10]\n"
            "plates:\n"
            "  - { name: a, point: [0, 5], normal: [0, 2], length: 0.5, mass: 4, pressure: 80 }\n"
            "  - { name: b, point: [9, 5], normal: [1, 0], length: 0.5, mass: 2, pressure: 3, "
            "between: [d, c] }\n"
            "  - { name: c, point: [0, 9], normal: [0, -1], length: 0.1, mass: 1, velocity: 0 }\n"
            "  - { name: d, point: [0, 1], normal: [0, 1], length: 0.1, mass: 1, velocity: 1+t }\n"
            "  - { name: e, point: [5, 1], normal: [-1, 0], length: 0.1, mass: 2, force: 4, "
            "velocity: 3, velocity_from: 0.5 }\n"
            "  - { name: f, point: [7, 1], normal: [0, -1], length: 0.1, mass: 2, force: 0, "
            "weight: true }\n"
            "sensors:\n"
            "  - { kind: joint_position, name: a, joint: a }\n"
            "  - { kind: joint_position, name: b, joint: b }\n"
            "  - { kind: joint_position, name: d, joint: d }\n"
            "  - { kind: joint_position, name: e, joint: e }\n"
            "  - { kind: joint_position, name: f, joint: f }\n"
            "  - { kind: velocity, name: v, body: b }\n"
            "time: { step: 1e-3, duration: 2 }\n");
  go(&run, 1000);
  NEAR(read(&run, "a"), 0.5 * 80 * 0.5 / 4, 1e-3);
  NEAR(read(&run, "d"), 1.5, 2e-3);
  /* m b'' = p (8 - t - t^2/2): b' = 1.5 (8 t - t^2/2 - t^3/6), b = 1.5 (4 t^2 - t^3/6 - t^4/24) */
  NEAR(read(&run, "v.x"), 1.5 * (8 - 0.5 - 1.0 / 6), 2e-2);
  NEAR(read(&run, "b"), 1.5 * (4 - 1.0 / 6 - 1.0 / 24), 1e-2);
  NEAR(read(&run, "e"), 0.5 * 2 * 0.25 + 3 * 0.5, 5e-3);
  NEAR(read(&run, "f"), 0.5 * 10, 1e-2);
  NEAR(scree_world_energy(run.world).closing, 0, 1e-9 * scree_world_energy(run.world).kinetic);
  /* the same bits after a restart */
  const size_t size = scree_world_state_size(run.world);
  void *saved = malloc(size);
  scree_world_save(run.world, saved);
  Run again = begin(scree_scene_text(run.scene));
  OK(scree_world_restore(again.world, saved, size));
  free(saved);
  go(&run, 20);
  go(&again, 20);
  for (int k = 0; k < run.sensors.columns; ++k)
    assert_true(run.sensors.values[k] == again.sensors.values[k]);
  end(&run);
  end(&again);
}

static void bad_plates(void **state) {
  (void)state;
  refused(
      "dimension: 2\nplates: [{ name: a, point: [0, 0], normal: [0, 0], length: 1, force: 1 }]\n",
      "normal");
  refused("dimension: 2\nplates: [{ name: a, point: [0, 0], normal: [0, 1], length: 1 }]\n",
          "expected pressure, force or velocity");
  refused("dimension: 2\nplates: [{ name: a, point: [0, 0], normal: [0, 1], length: 1, force: 1, "
          "pressure: 1 }]\n",
          "not both");
  refused("dimension: 2\nplates: [{ name: a, point: [0, 0], normal: [0, 1], length: 1, force: 1, "
          "between: [a, a] }]\n",
          "expected pressure");
  refused("dimension: 2\nplates: [{ name: a, point: [0, 0], normal: [0, 1], length: 1, force: 1, "
          "velocity_from: 1 }]\n",
          "expected a velocity");
  refused(
      "dimension: 2\nplates:\n"
      "  - { name: a, point: [0, 0], normal: [0, 1], length: 1, pressure: 1, between: [a, b] }\n"
      "  - { name: b, point: [0, -1], normal: [0, 1], length: 1, force: 1 }\n",
      "does not face");
  refused("dimension: 2\nplates:\n"
          "  - { name: a, point: [0, 0], normal: [0, 1], length: 1, force: 1 }\n"
          "  - { name: a, point: [0, -1], normal: [0, 1], length: 1, force: 1 }\n",
          "named");
  /* beside a wall, unless there is no friction or they do not touch */
#define LID(mu, group, length)                                                                     \
  "dimension: 2\ncontact: { mu: " mu " }\nobstacles: [{ name: wall, position: [0.5, 0], normal: "  \
  "[-1, 0], shape: { kind: half-plane }, group: " group " }]\n"                                    \
  "plates: [{ name: a, point: [0, 0], normal: [0, -1], length: " length ", pressure: 1 }]\n"
  refused(LID("0.3", "0", "1"), "the plate touches wall beside its path");
  refused(LID("0.3", "0", "1.001"), "the plate touches wall beside its path");
  Run run = begin(LID("0", "0", "1"));
  end(&run);
  run = begin(LID("0.3", "999", "1"));
  end(&run);
  run = begin(LID("0.3", "0", "0.999"));
  end(&run);
#undef LID
}

/* ---- joints to the world --------------------------------------------------------------------- */

static void world_joint(void **state) {
  (void)state;
  Run run = begin("dimension: 2\n"
                  "gravity: [0, -10]\n"
                  "bodies: [{ name: rod, shape: { kind: segment, half_length: 0.5, radius: 0.01 }, "
                  "position: [0.5, 0], mass: 3, inertia: 0.25 }]\n"
                  "joints: [{ kind: hinge, name: pin, bodies: [rod, world], anchor: [0, 0] }]\n"
                  "sensors: [{ kind: joint_force, name: pin, joint: pin }]\n"
                  "time: { step: 1e-4, duration: 1 }\n");
  go(&run, 2);
  /* released from rest: a = g m l^2 / (m l^2 + J) at the centre, the pin carries the rest */
  const double carried = 30 * (1 - 3 * 0.25 / (3 * 0.25 + 0.25));
  NEAR(read(&run, "pin.y"), carried, 1e-2 * carried);
  end(&run);
  refused("dimension: 2\nbodies: [{ name: a, shape: { kind: disk, radius: 1 } }]\n"
          "joints: [{ kind: hinge, bodies: [world, world], anchor: [0, 0] }]\n",
          "neither");
}

/* A ball bounces beside a pendulum as it does alone, at the moment of impact and from the first
 * step on. */
static void beside(void **state) {
  (void)state;
  static const char *const texts[2] = {
      "dimension: 2\ngravity: [0, -10]\ncontact: { mu: 0.2, e_n: 0.8 }\n"
      "obstacles: [{ shape: { kind: half-plane }, normal: [0, 1] }]\n"
      "bodies:\n"
      "  - { name: ball, shape: { kind: disk, radius: 0.1 }, position: [0, 0.5], velocity: [1, 0] "
      "}\n"
      "  - { name: rod, shape: { kind: disk, radius: 0.1 }, position: [5, 5] }\n"
      "sensors: [{ kind: position, name: x, body: ball }]\n"
      "time: { step: 8e-3, duration: 9 }\n",
      "dimension: 2\ngravity: [0, -10]\ncontact: { mu: 0.2, e_n: 0.8 }\n"
      "obstacles: [{ shape: { kind: half-plane }, normal: [0, 1] }]\n"
      "bodies:\n"
      "  - { name: ball, shape: { kind: disk, radius: 0.1 }, position: [0, 0.5], velocity: [1, 0] "
      "}\n"
      "  - { name: rod, shape: { kind: disk, radius: 0.1 }, position: [5, 5] }\n"
      "joints: [{ kind: hinge, bodies: [rod, world], anchor: [5, 6] }]\n"
      "sensors: [{ kind: position, name: x, body: ball }]\n"
      "time: { step: 8e-3, duration: 9 }\n"};
  Run alone = begin(texts[0]), joined = begin(texts[1]);
  go(&alone, 100);
  go(&joined, 100);
  NEAR(read(&alone, "x.y"), read(&joined, "x.y"), 1e-9);
  NEAR(read(&alone, "x.x"), read(&joined, "x.x"), 1e-9);
  end(&alone);
  end(&joined);
}

/* Flux through a plane on the side of a cell: a body that passes it counts once per turn. */
static void turning(void **state) {
  (void)state;
  Run run = begin("dimension: 2\ngravity: [0, 0]\n"
                  "bodies: [{ shape: { kind: disk, radius: 0.1 }, mass: 3, position: [0.5, 0.5], "
                  "velocity: [1, 0] }]\n"
                  "cell: { size: [1, 0] }\n"
                  "sensors: [{ kind: flux, name: flux, point: [0.999, 0], normal: [1, 0] }]\n"
                  "time: { step: 1e-2, duration: 9 }\n");
  double mass = 0;
  for (int k = 0; k < 310; ++k) {
    OK(scree_sensors_begin(&run.sensors, run.world, &test_log));
    go(&run, 1);
    mass += read(&run, "flux") * 1e-2;
  }
  NEAR(mass, 9, 1e-9);
  end(&run);
}

/* ---- stress ---------------------------------------------------------------------------------- */

/* A column of three disks under a force: the stress of the region is that of the force. */
static void stressed(void **state) {
  (void)state;
  Run run =
      begin("dimension: 2\n"
            "gravity: [0, 0]\n"
            "obstacles: [{ name: floor, shape: { kind: half-plane }, normal: [0, 1] }]\n"
            "generators: [{ kind: lattice, name: \"disk-{i}\", count: [1, 3], spacing: 0.2, "
            "origin: [0, 0.1], shape: { kind: disk, radius: 0.1 }, orientation: fixed }]\n"
            "plates: [{ name: top, point: [0, 0.6], normal: [0, -1], length: 0.2, force: 50 }]\n"
            "sensors:\n"
            "  - { kind: stress, name: all, lower: [-0.1, -0.01], upper: [0.1, 0.61] }\n"
            "  - { kind: contact_force, name: down, between: [\"disk-*\", floor] }\n"
            "time: { step: 1e-3, duration: 1 }\n");
  go(&run, 30);
  NEAR(read(&run, "down.y"), 50, 0.05);
  /* branches: 0.1, 0.2, 0.2 and, to the centre of the plate, 0.1 + half its thickness */
  NEAR(read(&run, "all.yy"), -50 * 0.61 / (0.2 * 0.62), 0.5);
  NEAR(read(&run, "all.xx"), 0, 0.5);
  NEAR(read(&run, "all.xy"), 0, 0.5);
  end(&run);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void sheared(void **state) {
  (void)state;
  static const char text[] =
      "dimension: 2\n"
      "gravity: [0, 0]\n"
      "contact: { mu: 0.4 }\n"
      "generators: [{ kind: lattice, count: [5, 5], spacing: 0.1, origin: [0.05, 0.05], "
      "jitter: 0.1, shape: { kind: disk, radius: 0.035 } }]\n"
      "cell: { size: [0.5, 0.5], gradient_x: [0, 1+0*t], gradient_y: [0, -0.1] }\n"
      "sensors:\n"
      "  - { kind: cell_strain, name: strain }\n"
      "  - { kind: cell_size, name: size }\n"
      "  - { kind: cell_work, name: work }\n"
      "  - { kind: cell_stress, name: stress }\n"
      "time: { step: 2e-3, duration: 1 }\n";
  Run run = begin(text);
  go(&run, 500);
  NEAR(read(&run, "strain.xy"), 1, 4e-3);
  NEAR(read(&run, "strain.yy"), -0.1, 4e-4);
  NEAR(read(&run, "size.y"), 0.5 * exp(-0.1), 1e-4);
  NEAR(read(&run, "size.x"), 0.5, 1e-12);
  NEAR(read(&run, "work"), scree_world_energy(run.world).drivers, 1e-9 * fabs(read(&run, "work")));
  assert_true(read(&run, "work") > 0);
  assert_true(read(&run, "stress.yy") <= 0);
  const scree_EnergyBalance e = scree_world_energy(run.world);
  NEAR(e.closing, 0, 1e-9 * (e.kinetic + e.friction));
  end(&run);
  refused("dimension: 2\ncell: { size: [0, 0] }\n", "expected a length");
  refused("dimension: 2\ncell: { size: [1, 0], gradient_x: [0, 1] }\n", "does not repeat");
  refused("dimension: 2\ncell: { size: [1, 0], pressure_x: 1 }\n", "periodic in all directions");
  refused("dimension: 2\nsensors: [{ kind: cell_work, name: w }]\n", "no cell");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pressed),    cmocka_unit_test(resists_rolling), cmocka_unit_test(driven),
      cmocka_unit_test(bad_plates), cmocka_unit_test(world_joint),     cmocka_unit_test(stressed),
      cmocka_unit_test(sheared),    cmocka_unit_test(beside),          cmocka_unit_test(turning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
