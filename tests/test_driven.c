/* Nodes of finite elements that move with an obstacle (body/driven.h), against closed forms, other
 * ways to say the same, and the energy balance. */
#include "body/bodies.h"
#include "math/vec3.h"
#include "test_world_scene.h"
#include "world/world.h"

static const double pi = 3.14159265358979323846;

static scree_World *space(double step, double g) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 3;
  settings.gravity = vec(0, 0, -g);
  settings.step = step;
  return make_world(&settings, 0.3, 0, 0);
}

/* A clamp out of reach of everything: its shape does not matter. */
static int add_clamp(scree_World *world, scree_Twist (*move)(void *, double), void *user) {
  scree_Shape ball;
  OK(scree_shape_init_sphere(&ball, 1e-3, &test_log));
  scree_BodyDef def = obstacle_at(0, 5, 0);
  if (move) {
    def.driver.kind = SCREE_SIGNAL_CALLBACK;
    def.driver.callback = move;
    def.driver.user = user;
  }
  return add_shape(world, &ball, def);
}

static int add_block(scree_World *world, scree_Vec3 semi, const int n[3], scree_BodyDef def,
                     double young) {
  scree_ElementMesh *mesh;
  scree_Shape shape;
  OK(scree_element_mesh_create_block(3, semi, n, &mesh, &test_log));
  OK(scree_shape_init_elements(&shape, mesh, &test_log));
  scree_element_mesh_destroy(mesh);
  def.kind = SCREE_BODY_ELEMENTS;
  def.elastic.young = young;
  return add_shape(world, &shape, def);
}

static double *nodes_of(scree_World *world, int body, int *count) {
  scree_Bodies *b = &world->system.bodies;
  const scree_Deformable *self = scree_bodies_deformable(b, body);
  assert_non_null(self);
  *count = self->vertices;
  return scree_deformable_q(b, self);
}

static bool at_left(void *user, scree_Vec3 x) {
  (void)user;
  return x.x < -0.5 + 1e-9;
}

static bool at_right(void *user, scree_Vec3 x) {
  (void)user;
  return x.x > 0.5 - 1e-9;
}

static bool anywhere(void *user, scree_Vec3 x) {
  (void)user;
  (void)x;
  return true;
}

static void drive(scree_World *world, int body, int obstacle, bool (*nodes)(void *, scree_Vec3)) {
  OK(scree_world_drive_nodes(world, &(scree_DrivenDef){body, obstacle, nodes, NULL}));
}

/* 0.02 m along x in a second that starts and ends at rest */
static scree_Twist pull(void *user, double time) {
  (void)user;
  const double v = time < 1 ? 0.02 * (1 - cos(2 * pi * time)) : 0;
  return (scree_Twist){{v, 0, 0}, {0, 0, 0}};
}

/* A bar without Poisson's effect is stretched between two clamps: the strain is e = 0.02 along it,
 * and its energy (1/2) E A L (e + e^2/2)^2. The work of the clamp is that energy and what damping
 * took, in every step to rounding, and the left end may as well be held. Lumped and consistent
 * masses, implicit and explicit. */
static void test_stretched(void **state) {
  (void)state;
  const double E = 1e5, a = 0.05, e = 0.02, area = 4 * a * a;
  const double wanted = 0.5 * E * area * (e + 0.5 * e * e) * (e + 0.5 * e * e);
  for (int kind = 0; kind < 4; ++kind) {
    double place[2][3 * 45];
    for (int held = 0; held < 2; ++held) {
      scree_World *world = space(kind == 2 ? 5e-4 : 4e-3, 0);
      const int still = add_clamp(world, NULL, NULL), clamp = add_clamp(world, pull, NULL);
      const int n[3] = {4, 2, 2};
      scree_BodyDef def = at(0, 0, 0);
      def.elastic.damping = kind == 3 ? 0 : 0.02;
      def.elastic.consistent_mass = kind == 1;
      def.elastic.explicit_ = kind == 2;
      if (held) def.elastic.held = at_left;
      const int bar = add_block(world, vec(0.5, a, a), n, def, E);
      if (!held) drive(world, bar, still, at_left);
      drive(world, bar, clamp, at_right);
      scree_StepReport report = {0};
      double worst = 0;
      for (double t = 0; t < 1.5; t = report.time) {
        OK(scree_world_step(world, &report));
        worst = fmax(worst, fabs(report.energy.closing));
      }
      const scree_EnergyBalance sum = scree_world_energy(world);
      const double left = sum.drivers + sum.scheme - sum.viscous - sum.elastic - sum.kinetic;
      int count;
      const double *q = nodes_of(world, bar, &count);
      assert_int_equal(count, 45);
      memcpy(place[held], q, sizeof place[held]);
      print_message("stretched %d: energy %.6f of theory, work %.6f, closing %.1e, rest %.1e\n",
                    kind, sum.elastic / wanted, sum.drivers / wanted, worst / wanted,
                    left / wanted);
      assert_true(report.certified);
      if (kind < 3) NEAR(sum.elastic / wanted, 1, 2e-3); /* without damping it swings */
      NEAR(worst, 0, 1e-12 * wanted);
      NEAR(left, 0, 1e-11 * wanted);
      scree_world_destroy(world);
    }
    double apart = 0;
    for (int k = 0; k < 3 * 45; ++k) apart = fmax(apart, fabs(place[0][k] - place[1][k]));
    assert_true(apart < 1e-11);
  }
}

static scree_Twist tumble(void *user, double time) {
  (void)user;
  return (scree_Twist){{0.3 * sin(3 * time), 0.1, 0.2 * time}, {1, 2 * cos(time), 3}};
}

/* All nodes of a block follow an obstacle that tumbles: it stays as it is, up to second order in
 * the step within a step and not more after many. */
static void test_carried(void **state) {
  (void)state;
  double worst[2] = {0, 0};
  for (int k = 0; k < 2; ++k) {
    const double h = 4e-3 / (1 << k);
    scree_World *world = space(h, 10);
    const int clamp = add_clamp(world, tumble, NULL), n[3] = {2, 1, 1};
    const int body = add_block(world, vec(0.5, 0.2, 0.1), n, at(0, 0, 0), 1e7);
    int count;
    double first[3 * 12];
    double *q = nodes_of(world, body, &count);
    memcpy(first, q, sizeof first);
    const scree_Pose start = scree_body_pose(world, clamp);
    drive(world, body, clamp, anywhere);
    for (int step = 0; step < 500 << k; ++step) {
      scree_StepReport report;
      OK(scree_world_step(world, &report));
      assert_true(report.certified);
      const scree_Pose now = scree_body_pose(world, clamp);
      q = nodes_of(world, body, &count);
      for (int i = 0; i < count; ++i) {
        const scree_Vec3 X =
            scree_pose_invert(&start, vec(first[3 * i], first[3 * i + 1], first[3 * i + 2]));
        const scree_Vec3 x = scree_pose_apply(&now, X);
        const scree_Vec3 gap = scree_sub(x, vec(q[3 * i], q[3 * i + 1], q[3 * i + 2]));
        worst[k] = fmax(worst[k], scree_norm(gap));
      }
    }
    scree_world_destroy(world);
  }
  print_message("carried: off by %.2e m, %.2e at half the step\n", worst[0], worst[1]);
  /* the centre is 5 m away, turning at 3.7 rad/s: (h w)^2 r / 8 is 1.4e-4 */
  assert_true(worst[0] < 2e-4);
  NEAR(worst[0] / worst[1], 4, 0.2);
}

static scree_Twist shake(void *user, double time) {
  const double w = *(const double *)user;
  return (scree_Twist){{1e-3 * w * cos(w * time), 0, 0}, {0, 0, 0}};
}

/* The free end of a bar whose other end is moved by a sin(w t) follows with a/cos(w L/c), damped
 * swings of its own have died down: below the first resonance. */
static void test_shaken(void **state) {
  (void)state;
  const double E = 1e6, c = sqrt(E / 1000), L = 1;
  double w = 0.8 * c / L;
  scree_World *world = space(1.5e-3, 0);
  const int clamp = add_clamp(world, shake, &w), n[3] = {12, 1, 1};
  scree_BodyDef def = at(0, 0, 0);
  def.elastic.damping = 2e-3;
  const int bar = add_block(world, vec(0.5, 0.05, 0.05), n, def, E);
  drive(world, bar, clamp, at_left);
  double most = 0;
  scree_StepReport report = {0};
  for (double t = 0; t < 3; t = report.time) {
    int count;
    OK(scree_world_step(world, &report));
    const double *q = nodes_of(world, bar, &count);
    if (t < 2.5) continue;
    for (int k = 0; k < count; ++k) most = fmax(most, q[3 * k] - 0.5);
  }
  /* viscous stress E t de/dt: a wave number k = w/c / sqrt(1 + i w t) */
  const double wt = w * def.elastic.damping, amplitude = 1e-3 / cos(w * L / c);
  print_message("shaken: %.4f of theory without damping, w t = %.3f\n", most / amplitude, wt);
  NEAR(most / amplitude, 1, 0.02);
  assert_true(report.certified);
  scree_world_destroy(world);
}

static scree_Twist lift(void *user, double time) {
  (void)user;
  return (scree_Twist){{0, 0, time < 0.5 ? 0.1 : 0}, {0, 0, 0}};
}

/* A ball lies on a plate of elements all of whose lower nodes an obstacle lifts, so that the
 * contact acts on driven and free nodes: the obstacle does the work of lifting both. */
static bool at_bottom(void *user, scree_Vec3 x) {
  (void)user;
  return x.z < -0.02 + 1e-9 || x.x < 0;
}

static void test_lifted(void **state) {
  (void)state;
  scree_World *world = space(1e-3, 10);
  const int clamp = add_clamp(world, lift, NULL), n[3] = {4, 3, 1};
  scree_BodyDef def = at(0, 0, 0);
  def.elastic.damping = 2e-3;
  const int plate = add_block(world, vec(0.2, 0.2, 0.02), n, def, 1e6);
  drive(world, plate, clamp, at_bottom);
  scree_Shape ball;
  OK(scree_shape_init_sphere(&ball, 0.05, &test_log));
  add_shape(world, &ball, at(0.01, 0.02, 0.0701));
  scree_StepReport report = {0};
  double worst = 0;
  for (double t = 0; t < 1; t = report.time) {
    OK(scree_world_step(world, &report));
    assert_true(report.certified);
    worst = fmax(worst, fabs(report.energy.closing));
  }
  const double mass = 1000 * (0.4 * 0.4 * 0.04 + 4.0 / 3 * pi * 1.25e-4);
  const scree_EnergyBalance e = scree_world_energy(world);
  const double lost = e.normal + e.friction + e.viscous, wanted = mass * 10 * 0.05;
  print_message("lifted: work less losses %.6f of theory, closing %.1e\n",
                (e.drivers - lost) / wanted, worst / wanted);
  NEAR((e.drivers - lost) / wanted, 1, 5e-3); /* the rest is strain */
  NEAR(worst, 0, 1e-10 * wanted);
  scree_world_destroy(world);
}

static void keep(void *user, scree_LogLevel level, const char *message) {
  (void)level;
  snprintf(user, 256, "%s", message);
}

#define REFUSED(call, start)                                                                       \
  do {                                                                                             \
    assert_int_equal((call), SCREE_BAD_INPUT);                                                     \
    assert_memory_equal(last, start, strlen(start));                                               \
  } while (0)

static void test_refused(void **state) {
  (void)state;
  char last[256] = "";
  const scree_Log log = {keep, last};
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  settings.dimension = 3;
  settings.step = 1e-3;
  OK(scree_world_create(&settings, &log, &world));
  const int clamp = add_clamp(world, NULL, NULL), n[3] = {1, 1, 1};
  const int body = add_block(world, vec(0.5, 0.5, 0.5), n, at(0, 0, 0), 1e6);
  const struct {
    scree_DrivenDef def;
    const char *message;
  } wrong[] = {
      {{clamp, clamp, at_left, NULL}, "driven nodes: of body 0, expected the number of a finite"},
      {{7, clamp, at_left, NULL}, "driven nodes: of body 7"},
      {{body, body, at_left, NULL}, "driven nodes: by body 1, expected the number of an obstacle"},
      {{body, clamp, NULL, NULL}, "driven nodes: none is chosen, expected"},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k)
    REFUSED(scree_world_drive_nodes(world, &wrong[k].def), wrong[k].message);
  drive(world, body, clamp, at_left);
  REFUSED(scree_world_drive_nodes(world, &(scree_DrivenDef){body, clamp, anywhere, NULL}),
          "driven nodes: 4 nodes of body 1 are held or driven already");
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stretched), cmocka_unit_test(test_carried),
      cmocka_unit_test(test_shaken),    cmocka_unit_test(test_lifted),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
