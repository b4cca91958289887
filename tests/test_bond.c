/* Bonds hold up to their strength and let go beyond it, in tension, shear, bending and torsion, as
 * calculated by hand; made for all bodies that touch, they have the strength of their section; the
 * restart gives the same bits. */
#include "test_world_scene.h"

static const double pi = 3.14159265358979323846;

static scree_World *make(int dimension, double step, double gravity, int threads) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = dimension;
  settings.step = step;
  settings.gravity = vec(0, -gravity, 0);
  settings.solve.threads = threads;
  return make_world(&settings, 0.5, 0, 0);
}

static scree_JointDef bond(int a, int b, scree_Vec3 anchor, scree_Vec3 axis) {
  scree_JointDef def = scree_joint_def();
  def.kind = SCREE_JOINT_BOND;
  def.body[0] = a;
  def.body[1] = b;
  def.anchor = anchor;
  def.axis = axis;
  return def;
}

static int add_ball(scree_World *world, int dimension, double radius, scree_BodyDef def) {
  return dimension == 2 ? add_disk(world, radius, def) : add_sphere(world, radius, def);
}

static int broken_of(const scree_World *world) {
  int bonds, broken;
  scree_world_count_bonds(world, -1, &bonds, &broken);
  return broken;
}

/* Every step is certified: the bond breaks, the step does not. */
static void run_certified(scree_World *world, int steps) {
  for (int k = 0; k < steps; ++k) {
    scree_StepReport report;
    const scree_Status status = scree_world_step(world, &report);
    if (!report.certified)
      fail_msg("step %d is not certified: %u, error %.1e, penetration %.1e, energy %.1e, %d bonds "
               "broken",
               k, report.missed, report.solve.value, report.penetration, report.energy_created,
               broken_of(world));
    OK(status);
  }
}

/* A ball of 1 kg hangs under a fixed one, is bonded to the side of a wall, or carried by an arm of
 * 0.3 m: tension 10 N, shear 10 N, a moment of 3 N m. Each strength is 1 % above or below. */
static void strength(void **state) {
  (void)state;
  enum { TENSION, SHEAR, BENDING, TORSION, KINDS };
  for (int dimension = 2; dimension <= 3; ++dimension)
    for (int kind = 0; kind < (dimension == 2 ? TORSION : KINDS); ++kind)
      for (int strong = 0; strong < 2; ++strong) {
        const double factor = strong ? 1.01 : 0.99;
        scree_World *world = make(dimension, 1e-3, 10, 1);
        scree_BodyDef def = kind == TENSION ? at(0, -0.3, 0) : at(0.3, 0, 0);
        def.mass = 1;
        const int post = add_ball(world, dimension, 0.1, obstacle_at(0, 0, 0));
        const int ball = add_ball(world, dimension, 0.1, def);
        /* the normal points from the obstacle to the ball */
        const scree_Vec3 normal = kind == TENSION   ? vec(0, -1, 0)
                                  : kind == TORSION ? vec(0, 0, 1)
                                                    : vec(1, 0, 0);
        scree_JointDef glue =
            bond(ball, post, kind == SHEAR ? vec(0.3, 0, 0) : vec(0, 0, 0), normal);
        glue.tension = glue.shear = 1e3;
        glue.bending = glue.torsion = 1e3;
        if (kind == TENSION) glue.tension = factor * 10;
        if (kind == SHEAR) glue.shear = factor * 10;
        if (kind == BENDING) glue.bending = factor * 3;
        if (kind == TORSION) glue.torsion = factor * 3;
        int joint;
        OK(scree_world_add_joint(world, &glue, &joint));
        const scree_Vec3 start = scree_body_pose(world, ball).position;
        run_certified(world, 5);
        const scree_JointState now = scree_world_joint(world, joint);
        run_certified(world, 995);
        const scree_Vec3 end = scree_body_pose(world, ball).position;
        assert_int_equal(broken_of(world), strong ? 0 : 1);
        if (strong) {
          NEAR(end.x, start.x, 1e-9);
          NEAR(end.y, start.y, 1e-9);
          NEAR(now.force.y, 10, 1e-6);
          if (kind == BENDING || kind == TORSION) NEAR(now.torque.z, 3, 1e-6);
        } else {
          assert_true(end.y < -1);
        }
        scree_world_destroy(world);
      }
}

/* The strength in shear grows with pressure: S (1 + f_n / T). A brick of 1 kg is pressed against a
 * wall by 30 N: with T = 20 and S = 4 it carries 10 N, with S = 3.9 it does not. */
static void shear_under_pressure(void **state) {
  (void)state;
  for (int strong = 0; strong < 2; ++strong) {
    scree_World *world = make(2, 1e-3, 10, 1);
    const int wall = add_rectangle(world, 0.1, 2, obstacle_at(-0.1, 0, 0));
    scree_BodyDef def = at(0.1, 0, 0);
    def.mass = 1;
    const int brick = add_rectangle(world, 0.1, 0.1, def);
    scree_JointDef glue = bond(brick, wall, vec(0, 0, 0), vec(1, 0, 0));
    glue.tension = 20;
    glue.shear = strong ? 4.04 : 3.96;
    glue.bending = 10;
    OK(scree_world_add_joint(world, &glue, NULL));
    const scree_ForceDef push = {
        .body = brick,
        .signal = {.kind = SCREE_SIGNAL_CONSTANT, .constant = {{-30, 0, 0}, {0, 0, 0}}}};
    OK(scree_world_add_force(world, &push));
    run_certified(world, 300);
    assert_int_equal(broken_of(world), !strong);
    /* broken, friction of 15 N holds it by itself: it touches the wall now */
    NEAR(scree_body_pose(world, brick).position.y, 0, strong ? 1e-9 : 1e-3);
    double pressed = 0; /* while the bond holds, contacts carry nothing */
    for (int c = 0; c < scree_world_contact_count(world); ++c)
      pressed += scree_world_contact(world, c).r[0];
    if (strong)
      assert_true(pressed == 0);
    else
      NEAR(pressed, 30 * 1e-3, 1e-5);
    scree_world_destroy(world);
  }
}

/* A bond of 9 N under 10 N gives way with 1 m/s2 until it breaks after 0.01 m, at sqrt(0.02) s; it
 * has dissipated 0.09 J. */
static void gives_way(void **state) {
  (void)state;
  scree_World *world = make(2, 1e-3, 10, 1);
  scree_BodyDef def = at(0, -0.2, 0);
  def.mass = 1;
  const int post = add_disk(world, 0.1, obstacle_at(0, 0, 0)), ball = add_disk(world, 0.1, def);
  scree_JointDef glue = bond(ball, post, vec(0, -0.1, 0), vec(0, -1, 0));
  glue.tension = glue.shear = 9;
  glue.break_at = 0.01;
  int joint;
  OK(scree_world_add_joint(world, &glue, &joint));
  run_certified(world, 100);
  NEAR(scree_body_pose(world, ball).position.y, -0.2 - 0.5 * 0.01, 1e-5);
  NEAR(scree_world_joint(world, joint).plastic, 0.005, 1.5e-4);
  NEAR(scree_world_joint(world, joint).force.y, 9, 1e-6);
  run_certified(world, 39);
  assert_int_equal(broken_of(world), 0);
  run_certified(world, 6);
  assert_int_equal(broken_of(world), 1);
  assert_true(scree_world_joint(world, joint).broken);
  const scree_EnergyBalance energy = scree_world_energy(world);
  NEAR(energy.plastic, 0.09, 2e-3);
  assert_true(fabs(energy.closing) < 1e-12);
  scree_world_destroy(world);
}

/* Strengths of the section: of faces their area, of round bodies the disk of the smaller one. */
static void sections(void **state) {
  (void)state;
  for (int round = 0; round < 2; ++round)
    for (int dimension = 2; dimension <= 3; ++dimension) {
      scree_World *world = make(dimension, 1e-3, 10, 1);
      if (round) {
        add_ball(world, dimension, 0.2, at(0, 0.3, 0));
        add_ball(world, dimension, 0.1, at(0, 0, 0));
        add_ball(world, dimension, 0.1, at(5, 0, 0));
      } else if (dimension == 2) {
        add_rectangle(world, 0.2, 0.1, at(0, 0.2, 0));
        add_rectangle(world, 0.2, 0.1, at(0.1, 0, 0));
      } else {
        add_box(world, 0.2, 0.1, 0.3, at(0, 0.2, 0));
        add_box(world, 0.2, 0.1, 0.3, at(0.1, 0, 0));
      }
      scree_BondDef def = scree_bond_def();
      def.stress = true;
      def.tension = 1e4;
      def.shear = 3e4;
      int count;
      OK(scree_world_add_bonds(world, &def, &count));
      assert_int_equal(count, 1);
      const double length = round ? 0.2 : 0.3;
      const double A = dimension == 2 ? length : round ? pi * 0.01 : 0.3 * 0.6;
      const double w = dimension == 2 ? length : sqrt(4 * A / pi);
      const double Z = dimension == 2 ? w * w / 6 : pi * w * w * w / 32;
      const scree_JointDef *glue = scree_world_joint_def(world, 0);
      NEAR(glue->tension, 1e4 * A, 1e-6 * 1e4);
      NEAR(glue->shear, 3e4 * A, 1e-6 * 1e4);
      NEAR(glue->bending, 1e4 * Z, 1e-6 * 1e4);
      NEAR(glue->torsion, 3e4 * 2 * Z, 1e-6 * 1e4);
      NEAR(glue->axis.y, 1, 1e-9);                    /* from the second body to the first */
      OK(scree_world_add_bonds(world, &def, &count)); /* held already */
      assert_int_equal(count, 0);
      scree_world_destroy(world);
    }
}

/* A beam of glued bricks breaks at its root, where the moment is largest: M = n^2 W l / 2. */
static scree_World *beam(int bricks, double bending, int threads) {
  scree_World *world = make(2, 1e-3, 10, threads);
  add_rectangle(world, 0.1, 0.3, obstacle_at(-0.1, 0, 0));
  for (int k = 0; k < bricks; ++k) {
    scree_BodyDef def = at(0.1 + 0.2 * k, 0, 0);
    def.mass = 1;
    add_rectangle(world, 0.1, 0.05, def);
  }
  scree_BondDef def = scree_bond_def();
  def.tension = 1e4;
  def.bending = bending;
  int count;
  OK(scree_world_add_bonds(world, &def, &count));
  assert_int_equal(count, bricks);
  return world;
}

static void beams(void **state) {
  (void)state;
  enum { BRICKS = 10 };
  const double moment = BRICKS * BRICKS * 10 * 0.2 / 2;
  for (int strong = 0; strong < 2; ++strong) {
    scree_World *world = beam(BRICKS, (strong ? 1.01 : 0.99) * moment, 1);
    run_certified(world, 100);
    assert_int_equal(broken_of(world), !strong);
    assert_int_equal(scree_world_joint(world, 0).broken, !strong);
    scree_world_destroy(world);
  }
}

/* A ball hits a wall of glued bricks whose bonds give way for long before they break: many bonds at
 * their limits beside contacts under impact. Every step is certified, and the energy of the ball is
 * found again in the motion, in the bonds and in the contacts. */
static void impact(void **state) {
  (void)state;
  enum { ACROSS = 4, UP = 6 };
  scree_World *world = make(2, 5e-4, 10, 1);
  add_half_plane(world, obstacle_at(0, 0, 0));
  for (int row = 0; row < UP; ++row)
    for (int k = 0; k < ACROSS; ++k) {
      scree_BodyDef def = at(0.25 * k + (row % 2 ? 0.125 : 0), 0.05 + 0.1 * row, 0);
      def.mass = 50;
      add_rectangle(world, 0.125, 0.05, def);
    }
  scree_BondDef glue = scree_bond_def();
  glue.stress = true;
  glue.tension = 5e4;
  glue.shear = 1e5;
  glue.break_at = 0.05;
  int count;
  OK(scree_world_add_bonds(world, &glue, &count));
  assert_true(count > 2 * ACROSS * (UP - 1));
  scree_BodyDef ball = at(-0.3, 0.42, 0);
  ball.mass = 150;
  ball.velocity.linear = vec(9, 0, 0);
  add_disk(world, 0.08, ball);
  const double start = 0.5 * ball.mass * 81;
  run_certified(world, 200);
  const scree_EnergyBalance energy = scree_world_energy(world);
  print_message("impact: %d of %d bonds broken, %.3f of the energy in bonds\n", broken_of(world),
                count, energy.plastic / start);
  assert_true(fabs(energy.closing) < 1e-9 * start);
  assert_true(energy.plastic > 0.01 * start && energy.plastic < start);
  assert_true(energy.kinetic < start);
  scree_world_destroy(world);
}

/* Saved before the break and continued, by other numbers of threads: the same bits. */
static void restart(void **state) {
  (void)state;
  enum { BRICKS = 10 };
  scree_World *first = beam(BRICKS, 60, 1), *second = beam(BRICKS, 60, 2);
  run_certified(first, 3);
  const size_t size = scree_world_state_size(first);
  char *saved = malloc(size), *now[2] = {NULL, NULL};
  scree_world_save(first, saved);
  OK(scree_world_restore(second, saved, size));
  scree_World *both[2] = {first, second};
  for (int k = 0; k < 2; ++k) {
    run_steps(both[k], 150);
    assert_true(broken_of(both[k]) > 0);
    now[k] = malloc(scree_world_state_size(both[k]));
    scree_world_save(both[k], now[k]);
  }
  assert_int_equal(scree_world_state_size(first), scree_world_state_size(second));
  for (int b = 1; b <= BRICKS; ++b) {
    const scree_Pose x = scree_body_pose(first, b), y = scree_body_pose(second, b);
    assert_memory_equal(&x, &y, sizeof x);
  }
  free(saved);
  for (int k = 0; k < 2; ++k) {
    free(now[k]);
    scree_world_destroy(both[k]);
  }
}

static char message[1000];

static void keep_message(void *user, scree_LogLevel level, const char *text) {
  (void)user;
  if (level == SCREE_LOG_ERROR) snprintf(message, sizeof message, "%s", text);
}

static void bad(void **state) {
  (void)state;
  const scree_Log log = {keep_message, NULL};
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  settings.step = 1e-3;
  OK(scree_world_create(&settings, &log, &world));
  add_sphere(world, 0.1, at(0, 0, 0));
  add_sphere(world, 0.1, at(0.2, 0, 0));
  scree_JointDef joint = bond(1, 0, vec(0.1, 0, 0), vec(1, 0, 0));
  joint.tension = 1;
  assert_int_equal(scree_world_add_joint(world, &joint, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "both or neither"));
  joint.shear = -1;
  assert_int_equal(scree_world_add_joint(world, &joint, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "shear of a bond is -1"));
  joint.kind = SCREE_JOINT_FIXED;
  joint.shear = 1;
  assert_int_equal(scree_world_add_joint(world, &joint, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "only bonds break"));
  scree_BondDef def = scree_bond_def();
  def.bending = 1;
  assert_int_equal(scree_world_add_bonds(world, &def, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "expected tension too"));
  def.tension = 0;
  assert_int_equal(scree_world_add_bonds(world, &def, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "tension is 0"));
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strength),  cmocka_unit_test(shear_under_pressure),
      cmocka_unit_test(gives_way), cmocka_unit_test(sections),
      cmocka_unit_test(beams),     cmocka_unit_test(restart),
      cmocka_unit_test(impact),    cmocka_unit_test(bad)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
