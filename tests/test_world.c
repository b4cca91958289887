/* Worlds as a whole: the same bits for any number of threads and after restoring, the same solution
 * in any units, certificates that tell the truth, removal, analysis, refusals. */
#include "test_world_heap.h"

/* ---- bits ------------------------------------------------------------------------------------ */

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
    const scree_Problem *problem;
    scree_Measures measures;
    const double *r, *u;
    OK(scree_world_step(world, &report));
    assert_true(report.certified && report.error <= report.tolerance);
    OK(scree_world_problem(world, &problem, &r, &u, NULL));
    assert_int_equal(problem->nc, report.contacts);
    if (problem->nc == 0) continue;
    OK(scree_problem_check(problem, &test_log));
    OK(scree_problem_measure(problem, r, u, NULL, &measures, &test_log));
    if (report.substeps == 1) NEAR(measures.error, report.error, 1e-12);
    assert_true(measures.error <= report.error + 1e-12); /* the largest of all substeps */
    NEAR(measures.eps_motion, 0, 1e-12);
    double largest = 0, sum = 0;
    for (int c = 0; c < problem->nc; ++c) {
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
  add_sphere(world, 0.1, at(0.2 + 7e-4, 0, 0)); /* they would meet after the kick at 5e-4 s */
  run_steps(world, 1);
  assert_int_equal(scree_world_contact_count(world), 1);
  const scree_Contact c = scree_world_contact(world, 0);
  const scree_Twist a = scree_body_velocity(world, c.body[0]),
                    b = scree_body_velocity(world, c.body[1]);
  NEAR(c.u[0], 0.5, 1e-3); /* -e u- */
  assert_true(c.status == SCREE_CONTACT_SLIP);
  NEAR(c.gap, 2e-4, 1e-6);
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
  char missed[SCREE_MISSED_SIZE], all[SCREE_MISSED_SIZE], cut[8];
  scree_missed_text(report.missed, missed, sizeof missed);
  assert_true(strncmp(missed, "error", 5) == 0);
  scree_missed_text(127, all, sizeof all);
  assert_string_equal(all, "error, reach, overlap, sinking, penetration, joints, energy");
  scree_missed_text(127, cut, sizeof cut);
  assert_string_equal(cut, "error, ");
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
                                     cmocka_unit_test(stack_of_cubes),
                                     cmocka_unit_test(refusals),
                                     cmocka_unit_test(mixed_laws),
                                     cmocka_unit_test(nearly_empty),
                                     cmocka_unit_test(failed_step_changes_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
