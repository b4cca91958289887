/* Worlds as a whole: the same bits for any number of threads and after restoring, the same solution
 * in any units, certificates that tell the truth, drivers, penetration, analysis, refusals. */
#include "test_world_scene.h"

static double next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed / 4294967296.0;
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* A heap of disks and rectangles in 2D, or of spheres and boxes in 3D, falling into a corner. */
static scree_World *heap(int dimension, const char *scheme, int n, int threads) {
  scree_WorldSettings settings = scree_world_settings();
  const int side = (int)ceil(dimension == 2 ? sqrt(n) : cbrt(n));
  settings.dimension = dimension;
  settings.scheme = scheme;
  settings.step = 2e-3;
  settings.gravity = dimension == 2 ? vec(1, -9.81, 0) : vec(1, 0.5, -9.81);
  settings.solve.tolerance = 1e-4;
  settings.solve.threads = threads;
  scree_World *world = make_world(&settings, 0.4, 0.2, 0);
  uint32_t seed = 3;
  if (dimension == 2)
    add_half_plane(world, obstacle_at(0, -0.02, 0));
  else
    add_half_space(world, obstacle_at(0, 0, -0.02));
  for (int k = 0; k < n; ++k) {
    const int i = k % side, j = k / side % side, l = k / side / side;
    scree_BodyDef def;
    if (dimension == 2)
      def = at(0.196 * i, 0.196 * (k / side) + 0.1, 0);
    else
      def = at(0.2 * i, 0.2 * j, 0.2 * l + 0.1);
    def.velocity.linear = vec(next_random(&seed) - 0.5, next_random(&seed) - 0.5, 0);
    const double r = 0.095 + 0.004 * next_random(&seed);
    if (dimension == 2 && k % 4)
      add_disk(world, r, def);
    else if (dimension == 2)
      add_rectangle(world, 0.8 * r, 0.7 * r, def);
    else if (k % 4)
      add_sphere(world, r, def);
    else
      add_box(world, 0.7 * r, 0.6 * r, 0.5 * r, def);
  }
  return world;
}

static void *save(const scree_World *world, size_t *size) {
  *size = scree_world_state_size(world);
  void *buffer = malloc(*size);
  assert_non_null(buffer);
  scree_world_save(world, buffer);
  return buffer;
}

static void assert_same_state(const scree_World *a, const scree_World *b) {
  size_t size_a, size_b;
  void *state_a = save(a, &size_a), *state_b = save(b, &size_b);
  assert_int_equal(size_a, size_b);
  assert_memory_equal(state_a, state_b, size_a);
  free(state_a);
  free(state_b);
}

static void same_bits_with_threads(void **state) {
  (void)state;
  const char *const schemes[] = {"moreau-jean", "euler"};
  for (int k = 0; k < 2; ++k) {
    scree_World *one = heap(2, schemes[k], 1600, 1), *two = heap(2, schemes[k], 1600, 2);
    run_steps(one, 8);
    run_steps(two, 8);
    assert_true(scree_world_contact_count(one) > 100);
    assert_same_state(one, two);
    scree_world_destroy(one);
    scree_world_destroy(two);
  }
}

static void same_bits_after_restore(void **state) {
  (void)state;
  const char *const schemes[] = {"moreau-jean", "euler"};
  for (int k = 0; k < 4; ++k) {
    const int dimension = 2 + k / 2, n = 40, half = 50;
    scree_World *world = heap(dimension, schemes[k % 2], n, 1);
    run_steps(world, half);
    size_t size;
    void *saved = save(world, &size);
    run_steps(world, half);
    assert_true(scree_world_contact_count(world) > 10);
    scree_World *other = heap(dimension, schemes[k % 2], n, 1);
    OK(scree_world_restore(other, saved, size));
    assert_true(scree_world_steps(other) == half);
    run_steps(other, half);
    assert_same_state(world, other);
    /* back in the same world, whose broad phase remembers the future */
    OK(scree_world_restore(world, saved, size));
    run_steps(world, half);
    assert_same_state(world, other);
    /* broken states are refused and change nothing */
    const scree_World *before = other;
    size_t now_size;
    void *now = save(before, &now_size), *again;
    assert_int_equal(scree_world_restore(other, saved, size - 1), SCREE_BAD_INPUT);
    assert_int_equal(scree_world_restore(other, saved, 3), SCREE_BAD_INPUT);
    ((char *)saved)[0] ^= 1;
    assert_int_equal(scree_world_restore(other, saved, size), SCREE_BAD_INPUT);
    again = save(other, &size);
    assert_memory_equal(now, again, now_size);
    free(now);
    free(again);
    free(saved);
    scree_world_destroy(world);
    scree_world_destroy(other);
  }
}

/* ---- units ----------------------------------------------------------------------------------- */

/* A ball and a box fall on a slope and come to rest or slide; lengths times `scale`. */
static void fall(const char *scheme, double scale, double density, scree_Vec3 *out) {
  scree_WorldSettings settings = scree_world_settings();
  settings.scheme = scheme;
  settings.step = 2e-3;
  settings.gravity = vec(2 * scale, 0, -9 * scale);
  settings.solve.tolerance = 1e-12;
  settings.solve.threads = 1;
  scree_World *world = make_world(&settings, 0.3, 0.3, 0);
  add_half_space(world, obstacle_at(0, 0, 0));
  scree_BodyDef def = at(0, 0, 1.5 * scale);
  def.density = density;
  def.velocity.angular = vec(0.3, 1, 0.2);
  add_box(world, 0.3 * scale, 0.2 * scale, 0.25 * scale, def);
  def.pose.position = vec(0.1 * scale, 0.05 * scale, 2.2 * scale);
  add_sphere(world, 0.2 * scale, def);
  run_steps(world, 400);
  for (int k = 0; k < 2; ++k) out[k] = scree_body_pose(world, k + 1).position;
  scree_world_destroy(world);
}

static void any_units(void **state) {
  (void)state;
  const char *const schemes[] = {"moreau-jean", "euler"};
  for (int k = 0; k < 2; ++k) {
    scree_Vec3 metres[2];
    fall(schemes[k], 1, 1000, metres);
    const double scales[] = {1e-3, 1e3, 1}, densities[] = {1000, 1000, 1e-6};
    for (int i = 0; i < 3; ++i) {
      scree_Vec3 other[2];
      fall(schemes[k], scales[i], densities[i], other);
      for (int b = 0; b < 2; ++b) {
        NEAR(other[b].x / scales[i], metres[b].x, 1e-9);
        NEAR(other[b].y / scales[i], metres[b].y, 1e-9);
        NEAR(other[b].z / scales[i], metres[b].z, 1e-9);
      }
    }
    /* units that are powers of two change no bit */
    const double powers[] = {0x1p-10, 0x1p10, 1}, heavy[] = {1000, 1000 * 0x1p-8, 1000 * 0x1p12};
    for (int i = 0; i < 3; ++i) {
      scree_Vec3 other[2];
      fall(schemes[k], powers[i], heavy[i], other);
      for (int b = 0; b < 2; ++b) {
        NEAR(other[b].x, metres[b].x * powers[i], 0);
        NEAR(other[b].y, metres[b].y * powers[i], 0);
        NEAR(other[b].z, metres[b].z * powers[i], 0);
      }
    }
  }
}

/* ---- certificate ----------------------------------------------------------------------------- */

/* The problem in view, measured anew, gives the reported error; the velocities are the bodies'. */
static void certificate_is_true(void **state) {
  (void)state;
  scree_World *world = heap(3, "moreau-jean", 30, 1);
  assert_int_equal(scree_world_problem(world, NULL, NULL, NULL, NULL), SCREE_BAD_INPUT);
  for (int k = 0; k < 100; ++k) {
    scree_StepReport report;
    scree_Problem problem;
    scree_Measures measures;
    const double *r, *u;
    OK(scree_world_step(world, &report));
    assert_true(report.certified && report.error <= report.tolerance);
    OK(scree_world_problem(world, &problem, &r, &u, NULL));
    assert_int_equal(problem.nc, report.contacts);
    if (problem.nc == 0) continue;
    OK(scree_problem_check(&problem, &test_log));
    OK(scree_problem_measure(&problem, r, u, NULL, &measures, &test_log));
    NEAR(measures.error, report.error, 1e-12);
    NEAR(measures.eps_motion, 0, 1e-12);
    double largest = 0, sum = 0;
    for (int c = 0; c < problem.nc; ++c) {
      const double error = scree_world_contact(world, c).error;
      assert_true(error >= 0);
      sum += error * error;
      largest = fmax(largest, error);
    }
    /* the error of the step is the norm of those of its contacts */
    NEAR(sqrt(sum), measures.error, 1e-12);
    NEAR(largest, measures.worst_error, 1e-12);
    NEAR(scree_world_contact(world, measures.worst_contact).error, largest, 1e-12);
    assert_true(report.energy.normal + report.energy.friction > -1e-3);
    assert_true(fabs(report.energy.closing) < 1e-10);
  }
  scree_world_destroy(world);
}

/* u of a contact is the relative velocity of the two bodies after the step (spheres: the drift does
 * not change it). */
static void contact_velocity(void **state) {
  (void)state;
  scree_WorldSettings settings = scree_world_settings();
  settings.step = 1e-3;
  scree_World *world = make_world(&settings, 0.05, 0.5, 0);
  scree_BodyDef def = at(0, 0, 0);
  def.velocity.linear = vec(1, 0.2, 0);
  def.velocity.angular = vec(0, 1, 3);
  add_sphere(world, 0.1, def);
  add_sphere(world, 0.1, at(0.2, 0, 0));
  run_steps(world, 1);
  assert_int_equal(scree_world_contact_count(world), 1);
  const scree_Contact c = scree_world_contact(world, 0);
  const scree_Twist a = scree_body_velocity(world, c.body[0]),
                    b = scree_body_velocity(world, c.body[1]);
  NEAR(c.u[0], 0.5, 1e-3); /* -e u- */
  assert_true(c.status == SCREE_CONTACT_SLIP);
  NEAR(c.gap, 0, 1e-15); /* the first step looks for contacts at its start, where they touch */
  NEAR((a.linear.x - b.linear.x) * c.normal.x + (a.linear.y - b.linear.y) * c.normal.y, c.u[0],
       1e-9);
  NEAR(hypot(c.r[1], c.r[2]), 0.05 * c.r[0], 1e-6 * c.r[0]);
  scree_world_destroy(world);
}

/* A solver that is not given enough iterations: retried, halved, and in the end reported. */
static void failure_is_reported(void **state) {
  (void)state;
  static const char *const options[] = {"local=sbp", NULL};
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.step = 1e-2;
  settings.gravity = vec(0, -9.81, 0);
  settings.solve.solver = "nlgs";
  settings.solve.options = options;
  settings.solve.tolerance = 0;
  settings.solve.max_iterations = 1;
  settings.max_retries = 1;
  settings.max_halvings = 2;
  scree_World *world = make_world(&settings, 0.4, 0, 0);
  add_half_plane(world, obstacle_at(0, 0, 0));
  for (int k = 0; k < 5; ++k) add_rectangle(world, 0.2, 0.1, at(0.013 * k * k, 0.1 + 0.2 * k, 0));
  scree_StepReport report;
  assert_int_equal(scree_world_step(world, &report), SCREE_NOT_CONVERGED);
  assert_false(report.certified);
  assert_int_equal(report.substeps, 4);
  assert_true(report.retries > 0 && report.contacts_above > 0 && report.error > 0);
  assert_true(report.worst_body[0] >= 0);
  NEAR(scree_world_time(world), 1e-2, 1e-15);
  assert_true(fabs(report.energy.closing) < 1e-12 * fabs(report.energy.potential));
  scree_world_destroy(world);
}

/* ---- removal --------------------------------------------------------------------------------- */

static scree_World *falling_heap(const char *scheme, int threads) {
  scree_WorldSettings settings = scree_world_settings();
  settings.scheme = scheme;
  settings.step = 2e-3;
  settings.gravity = vec(0, 0, -9.81);
  settings.solve.tolerance = 1e-8;
  settings.solve.threads = threads;
  scree_World *world = make_world(&settings, 0.4, 0, 0);
  add_half_space(world, obstacle_at(0, 0, 0));
  for (int k = 0; k < 24; ++k)
    add_sphere(world, 0.05,
               at(0.102 * (k % 3) + 0.003 * k, 0.1 * (k / 3 % 2), 0.06 + 0.11 * (k / 6)));
  return world;
}

/* Steps with removals at two moments; the state at the end. */
static void *heap_with_removals(const char *scheme, int threads, int stop, size_t *size) {
  scree_World *world = falling_heap(scheme, threads);
  for (int k = 0; k < 60; ++k) {
    if (k == 20) OK(scree_world_remove_body(world, 5));
    if (k == 35)
      for (int b = 9; b < 14; ++b) OK(scree_world_remove_body(world, b));
    if (k == stop) { /* into another world, whose bodies are all there */
      size_t bytes;
      void *saved = save(world, &bytes);
      scree_world_destroy(world);
      world = falling_heap(scheme, threads);
      OK(scree_world_remove_body(world, 2)); /* not so in the state: it comes back */
      OK(scree_world_restore(world, saved, bytes));
      free(saved);
      assert_int_equal(scree_world_removed_count(world), k > 35 ? 6 : 1);
      assert_false(scree_body_is_removed(world, 2));
    }
    run_steps(world, 1);
  }
  void *state = save(world, size);
  scree_world_destroy(world);
  return state;
}

static void removal_same_bits(void **state) {
  (void)state;
  const char *const schemes[] = {"moreau-jean", "euler"};
  for (int s = 0; s < 2; ++s) {
    size_t n, m;
    void *one = heap_with_removals(schemes[s], 1, -1, &n);
    const int stops[] = {25, 36, 50};
    for (int k = 0; k < 4; ++k) {
      void *other = heap_with_removals(schemes[s], k == 3 ? 2 : 1, k == 3 ? -1 : stops[k], &m);
      assert_int_equal(n, m);
      assert_memory_equal(one, other, n);
      free(other);
    }
    free(one);
  }
}

/* What is removed takes its own momentum and energy with it and nothing else; the others fall on as
 * if it had never been there. */
static void removal(void **state) {
  (void)state;
  scree_World *world = falling_heap("moreau-jean", 1);
  run_steps(world, 30);
  scree_Analysis before, after;
  OK(scree_world_analyse(world, NULL, &before));
  const int body = 8;
  const double m = scree_body_mass(world, body);
  const scree_Twist v = scree_body_velocity(world, body);
  const scree_Pose pose = scree_body_pose(world, body);
  OK(scree_world_remove_body(world, body));
  OK(scree_world_analyse(world, NULL, &after));
  NEAR(after.momentum.z, before.momentum.z - m * v.linear.z, 1e-12);
  NEAR(after.mass, before.mass - m, 1e-12);
  const double spin =
      0.5 * scree_body_inertia(world, body).x *
      (v.angular.x * v.angular.x + v.angular.y * v.angular.y + v.angular.z * v.angular.z);
  const double kinetic =
      0.5 * m * (v.linear.x * v.linear.x + v.linear.y * v.linear.y + v.linear.z * v.linear.z) +
      spin;
  NEAR(after.kinetic, before.kinetic - kinetic, 1e-12 * before.kinetic);
  assert_true(scree_body_is_removed(world, body) && !scree_body_is_obstacle(world, body));
  assert_int_equal(scree_body_removed_step(world, body), 30);
  assert_int_equal(scree_body_removed_step(world, body + 1), -1);
  assert_int_equal(scree_world_body_count(world), 25);
  assert_int_equal(scree_world_removed_count(world), 1);
  assert_int_equal(scree_world_remove_body(world, body), SCREE_BAD_INPUT);
  assert_int_equal(scree_body_set_velocity(world, body, &v), SCREE_BAD_INPUT);
  assert_int_equal(scree_body_set_pose(world, body, &pose), SCREE_BAD_INPUT);
  assert_int_equal(scree_world_remove_body(world, 99), SCREE_BAD_INPUT);
  /* a body may be put where it was, and has the next number */
  scree_BodyDef def = at(pose.position.x, pose.position.y, pose.position.z);
  assert_int_equal(add_sphere(world, 0.01, def), 25);
  for (int k = 0; k < 40; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    assert_true(fabs(report.energy.closing) < 1e-12 * before.kinetic);
    for (int c = 0; c < scree_world_contact_count(world); ++c) {
      const scree_Contact contact = scree_world_contact(world, c);
      assert_true(contact.body[0] != body && contact.body[1] != body);
    }
  }
  const scree_Pose still = scree_body_pose(world, body);
  assert_memory_equal(&still, &pose, sizeof pose);
  /* without the floor all fall freely */
  OK(scree_world_remove_body(world, 0));
  assert_true(scree_body_is_obstacle(world, 0));
  OK(scree_world_analyse(world, NULL, &before));
  run_steps(world, 10);
  OK(scree_world_analyse(world, NULL, &after));
  NEAR(after.momentum.z, before.momentum.z - after.mass * 9.81 * 10 * 2e-3, 1e-9);
  for (int b = 1; b < 25; ++b)
    if (b != body) OK(scree_world_remove_body(world, b));
  run_steps(world, 5);
  OK(scree_world_analyse(world, NULL, &after));
  NEAR(after.mass, scree_body_mass(world, 25), 1e-15);
  scree_world_destroy(world);
}

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
 * loaded and the work of lifting them is reported as such. */
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
  assert_true(left < 0.05 * depth);
  NEAR(highest, n - 0.5, 0.02 * n * depth);
  /* each contact opens with at most twice the velocity that gravity gives in a step */
  assert_true(fastest < 2.1 * n * g * step);
  NEAR(end.potential - start.potential, lift, 0.05 * lift);
  NEAR(end.push, lift, 0.2 * lift);
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
    scree_WorldSettings settings = settings_of_stack(2, ahead[scheme]);
    settings.penetration_limit = INFINITY;
    double created[2] = {0, 0};
    for (int deep = 0; deep < 2; ++deep) {
      scree_World *world = overlapping_stack(&settings, 3, deep ? 0.1 : 0);
      bool failed = false;
      for (int k = 0; k < 100; ++k) {
        scree_StepReport report;
        const scree_Status status = scree_world_step(world, &report);
        const bool above = report.energy_created > settings.energy_limit;
        assert_int_equal(status, above ? SCREE_NOT_CONVERGED : SCREE_OK);
        assert_true(report.certified == !above);
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

/* ---- drivers and forces ---------------------------------------------------------------------- */

/* A plate moved by a table carries a block along, as long as friction can; then it slides. */
static void driven_plate(void **state) {
  (void)state;
  const double times[] = {0, 1, 2}, mu = 0.5, g = 10;
  const scree_Twist values[] = {
      {{0, 0, 0}, {0, 0, 0}}, {{2, 0, 0}, {0, 0, 0}}, {{2, 0, 0}, {0, 0, 0}}};
  for (int fast = 0; fast < 2; ++fast) {
    scree_WorldSettings settings = scree_world_settings();
    settings.step = 1e-2;
    settings.gravity = vec(0, 0, -g);
    settings.solve.tolerance = 1e-10;
    scree_World *world = make_world(&settings, mu, 0, 0);
    scree_BodyDef plate = obstacle_at(0, 0, -0.1);
    scree_Twist scaled[3];
    for (int k = 0; k < 3; ++k) {
      scaled[k] = values[k];
      scaled[k].linear.x *= fast ? 5 : 1;
    }
    plate.driver =
        (scree_Signal){.kind = SCREE_SIGNAL_TABLE, .count = 3, .times = times, .values = scaled};
    add_box(world, 10, 10, 0.1, plate);
    const int block = add_box(world, 0.2, 0.2, 0.05, at(0, 0, 0.05));
    run_steps(world, 100);
    const double v = scree_body_velocity(world, block).linear.x;
    NEAR(v, fast ? mu * g : 2, 2e-2 * (fast ? mu * g : 2));
    /* The first step kicks at its start and looks 3h/2 ahead, so that the plate moves with its
     * velocity at 3h/4 then: it is ahead by a h^2 / 4 ever after. */
    const double ahead_by = 0.25 * scaled[1].linear.x * settings.step * settings.step;
    NEAR(scree_body_pose(world, 0).position.x, (fast ? 5 : 1) + ahead_by, 1e-9);
    const scree_EnergyBalance energy = scree_world_energy(world);
    assert_true(energy.drivers > energy.kinetic * (1 - 1e-9));
    scree_world_destroy(world);
  }
}

static scree_Twist push(void *user, double time) {
  return (scree_Twist){{*(const double *)user * time, 0, 0}, {0, 0, 1}};
}

static void forces(void **state) {
  (void)state;
  double slope = 3;
  scree_WorldSettings settings = scree_world_settings();
  settings.step = 1e-2;
  scree_World *world = make_world(&settings, 0, 0, 0);
  scree_BodyDef def = at(0, 0, 0);
  def.mass = 2;
  def.inertia = vec(0.5, 0.5, 0.5);
  add_sphere(world, 0.1, def);
  scree_ForceDef force = {
      .body = 0, .signal = {.kind = SCREE_SIGNAL_CALLBACK, .callback = push, .user = &slope}};
  OK(scree_world_add_force(world, &force));
  force = (scree_ForceDef){.body = -1, .per_mass = true, .signal = {.kind = SCREE_SIGNAL_CONSTANT}};
  force.signal.constant.linear.y = 4;
  OK(scree_world_add_force(world, &force));
  run_steps(world, 100);
  const scree_Twist v = scree_body_velocity(world, 0);
  NEAR(v.linear.x, 0.5 * 3 / 2.0, 1e-12); /* the midpoint is exact for a linear force */
  NEAR(v.linear.y, 4, 1e-12);
  NEAR(v.angular.z, 1 / 0.5, 1e-12);
  const scree_EnergyBalance energy = scree_world_energy(world);
  NEAR(energy.forces, energy.kinetic, 1e-12 * energy.kinetic);
  scree_world_destroy(world);
}

/* ---- analysis -------------------------------------------------------------------------------- */

/* A stack of cubes: the stress in it is its weight over the section. */
static void stack_of_cubes(void **state) {
  (void)state;
  const double a = 0.1, g = 9.81;
  scree_WorldSettings settings = scree_world_settings();
  settings.step = 1e-3;
  settings.gravity = vec(0, 0, -g);
  settings.solve.tolerance = 1e-10;
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  add_half_space(world, obstacle_at(0, 0, 0));
  for (int k = 0; k < 3; ++k) add_box(world, a, a, a, at(0, 0, a + 2 * a * k));
  run_steps(world, 20);
  scree_Analysis analysis;
  OK(scree_world_analyse(world, NULL, &analysis));
  assert_int_equal(analysis.open + analysis.stick + analysis.slip,
                   scree_world_contact_count(world));
  assert_int_equal(analysis.rattlers, 0);
  NEAR(analysis.packing_fraction, 1, 1e-6);
  NEAR(analysis.fabric[8], 1, 1e-9);
  NEAR(analysis.fabric[0] + analysis.fabric[4] + analysis.fabric[8], 1, 1e-12);
  /* sum over contacts f l: 3W*a + 2W*2a + W*2a = 9 W a over the volume 3 (2a)^3 */
  const double W = scree_body_mass(world, 1) * g;
  NEAR(analysis.stress[8], -9 * W * a / (3 * 8 * a * a * a), 1e-4 * W / (a * a));
  NEAR(analysis.centre.z, 3 * a, 1e-4 * a);
  assert_true(analysis.penetration <= 1e-4);
  assert_true(scree_world_memory(world) > 0);
  scree_world_destroy(world);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static char last[1024];

static void keep(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  (void)level;
  snprintf(last, sizeof last, "%s", message);
}

static void refusals(void **state) {
  (void)state;
  const scree_Log log = {keep, NULL};
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  assert_int_equal(scree_world_create(&settings, &log, &world), SCREE_BAD_INPUT);
  assert_non_null(strstr(last, "step"));
  assert_null(world);
  settings.step = 1;
  settings.scheme = "moreau-jeans";
  assert_int_equal(scree_world_create(&settings, &log, &world), SCREE_BAD_INPUT);
  assert_non_null(strstr(last, "did you mean \"moreau-jean\""));
  settings.scheme = "euler";
  settings.solve.solver = "none";
  assert_int_equal(scree_world_create(&settings, &log, &world), SCREE_BAD_INPUT);
  settings.solve.solver = "nlgs";
  OK(scree_world_create(&settings, &log, &world));
  scree_PairLaw law = scree_pair_law_coulomb(-1, 0, 0);
  assert_int_equal(scree_world_set_default_law(world, &law), SCREE_BAD_INPUT);
  assert_non_null(strstr(last, "mu"));
  assert_int_equal(scree_pair_law_set(&law, "mu", 1, &test_log), SCREE_OK);
  law.law = "colomb";
  assert_int_equal(scree_world_set_pair_law(world, 0, 0, &law), SCREE_BAD_INPUT);
  assert_non_null(strstr(last, "did you mean \"coulomb\""));
  law.law = "coulomb";
  assert_int_equal(scree_world_set_pair_law(world, 0, 1, &law), SCREE_BAD_INPUT);
  scree_Shape disk, plane, ball;
  OK(scree_shape_init_disk(&disk, 1, &log));
  OK(scree_shape_init_half_space(&plane, &log));
  OK(scree_shape_init_sphere(&ball, 1, &log));
  scree_BodyDef def = scree_body_def();
  assert_int_equal(scree_world_add_body(world, &def, NULL), SCREE_BAD_INPUT);
  def.shape = &disk;
  assert_int_equal(scree_world_add_body(world, &def, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(last, "2D"));
  def.shape = &plane;
  assert_int_equal(scree_world_add_body(world, &def, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(last, "obstacle"));
  def.shape = &ball;
  def.pose.position.x = NAN;
  assert_int_equal(scree_world_add_body(world, &def, NULL), SCREE_BAD_INPUT);
  def.pose.position.x = 0;
  def.material = 1;
  assert_int_equal(scree_world_add_body(world, &def, NULL), SCREE_BAD_INPUT);
  assert_int_equal(scree_world_body_count(world), 0);
  def.material = 0;
  OK(scree_world_add_body(world, &def, NULL));
  const scree_Twist v = {{INFINITY, 0, 0}, {0, 0, 0}};
  assert_int_equal(scree_body_set_velocity(world, 0, &v), SCREE_BAD_INPUT);
  assert_int_equal(scree_body_set_velocity(world, 7, &v), SCREE_BAD_INPUT);
  assert_string_equal(scree_law_name(0), "coulomb");
  assert_null(scree_law_name(99));
  assert_string_equal(scree_scheme_name(1), "euler");
  scree_world_destroy(world);
}

/* Nothing at all, obstacles alone, a body alone. */
static void nearly_empty(void **state) {
  (void)state;
  for (int dimension = 2; dimension <= 3; ++dimension) {
    scree_WorldSettings settings = scree_world_settings();
    settings.dimension = dimension;
    settings.step = 0.1;
    settings.gravity = vec(0, -1, 0);
    scree_World *world = make_world(&settings, 0, 0, 0);
    scree_Analysis analysis;
    run_steps(world, 2);
    OK(scree_world_analyse(world, NULL, &analysis));
    if (dimension == 2)
      add_half_plane(world, obstacle_at(0, 0, 0));
    else
      add_half_space(world, obstacle_at(0, 0, 0));
    run_steps(world, 2);
    if (dimension == 2)
      add_disk(world, 1, at(0, 10, 0));
    else
      add_sphere(world, 1, at(0, 10, 5));
    run_steps(world, 2);
    OK(scree_world_analyse(world, NULL, &analysis));
    assert_int_equal(analysis.rattlers, 1);
    NEAR(analysis.momentum.y, -0.2 * analysis.mass, 1e-12 * analysis.mass);
    NEAR(scree_world_time(world), 0.6, 1e-15);
    assert_int_equal(scree_world_contact_count(world), 0);
    scree_world_destroy(world);
  }
}

/* A step that fails for good leaves the state as it was. */
static void failed_step_changes_nothing(void **state) {
  (void)state;
  const scree_Log log = {keep, NULL};
  static const char *const wrong[] = {"no_such_option=1", NULL};
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  settings.dimension = 2;
  settings.step = 0.1;
  settings.gravity = vec(0, -1, 0);
  settings.solve.options = wrong;
  OK(scree_world_create(&settings, &log, &world));
  add_half_plane(world, obstacle_at(0, 0, 0));
  add_disk(world, 1, at(0, 1, 0));
  size_t before_size, after_size;
  void *before = save(world, &before_size);
  assert_int_equal(scree_world_step(world, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(last, "no_such_option"));
  void *after = save(world, &after_size);
  assert_int_equal(before_size, after_size);
  assert_memory_equal(before, after, after_size);
  free(before);
  free(after);
  scree_world_destroy(world);
}

/* Frictionless pairs beside frictional ones, groups that ignore each other, bodies added on the
 * way, a step that changes. */
static void mixed_laws(void **state) {
  (void)state;
  scree_WorldSettings settings = scree_world_settings();
  settings.step = 1e-2;
  settings.gravity = vec(1, 0, -10);
  settings.solve.tolerance = 1e-10;
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  int ice;
  OK(scree_world_add_material(world, &ice));
  const scree_PairLaw law = scree_pair_law("frictionless");
  OK(scree_world_set_pair_law(world, 0, ice, &law));
  add_half_space(world, obstacle_at(0, 0, 0));
  scree_BodyDef def = at(0, 0, 0.1);
  def.group = 5;
  const int rough = add_box(world, 0.1, 0.1, 0.1, def);
  def.material = ice;
  const int slippery = add_box(world, 0.1, 0.1, 0.1, def); /* in the same place */
  run_steps(world, 50);
  settings.step = 5e-3;
  OK(scree_world_set_settings(world, &settings));
  add_sphere(world, 0.1, at(3, 3, 0.1));
  run_steps(world, 100);
  NEAR(scree_world_time(world), 1, 1e-13);
  NEAR(scree_body_velocity(world, rough).linear.x, 0, 1e-7);
  NEAR(scree_body_velocity(world, slippery).linear.x, 1, 1e-7);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_with_threads),
                                     cmocka_unit_test(same_bits_after_restore),
                                     cmocka_unit_test(any_units),
                                     cmocka_unit_test(certificate_is_true),
                                     cmocka_unit_test(contact_velocity),
                                     cmocka_unit_test(failure_is_reported),
                                     cmocka_unit_test(removal_same_bits),
                                     cmocka_unit_test(removal),
                                     cmocka_unit_test(nothing_tunnels),
                                     cmocka_unit_test(bullets_do_not_pass),
                                     cmocka_unit_test(near_misses_are_none),
                                     cmocka_unit_test(impacts_leave_no_penetration),
                                     cmocka_unit_test(penetration_is_pushed_out_gently),
                                     cmocka_unit_test(penetration_without_load_stays),
                                     cmocka_unit_test(created_energy_is_reported),
                                     cmocka_unit_test(dense_packing),
                                     cmocka_unit_test(driven_plate),
                                     cmocka_unit_test(forces),
                                     cmocka_unit_test(stack_of_cubes),
                                     cmocka_unit_test(refusals),
                                     cmocka_unit_test(mixed_laws),
                                     cmocka_unit_test(nearly_empty),
                                     cmocka_unit_test(failed_step_changes_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
