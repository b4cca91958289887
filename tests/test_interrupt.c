/* Interruption and bad numbers: a solve or a step that is left in the middle, at any moment,
 * changes nothing, and what follows has the same bits as if it had not been tried. Signals that are
 * not finite and motions that overflow are refused with their place and time. */
#define _DEFAULT_SOURCE /* scandir */
#include "small_problems.h"
#include "solver/solver.h"
#include "test_world_scene.h"

/* Returns true at its call number `at`, and counts. */
typedef struct Bell {
  long calls, at;
} Bell;

static bool ring(void *user) {
  Bell *bell = user;
  return ++bell->calls == bell->at;
}

static char last_error[512];

static void remember_error(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level == SCREE_LOG_ERROR) snprintf(last_error, sizeof last_error, "%s", message);
}

static const scree_Log listening = {remember_error, NULL};

/* ---- solves ---------------------------------------------------------------------------------- */

static scree_Status solve_pile(const char *solver, scree_Flow law, Bell *bell, double *r) {
  scree_Problem problem = small_pile(3, 8, 0.4, 0.2);
  problem.flow = law;
  const size_t n = (size_t)(problem.nc * problem.d);
  double *u = calloc(n, sizeof *u);
  scree_SolveInfo info;
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = solver;
  settings.tolerance = 1e-10;
  settings.max_iterations = 200;
  settings.interrupted = bell ? ring : NULL;
  settings.interrupted_user = bell;
  memset(r, 0, n * sizeof *r);
  const scree_Status status = scree_solve(&problem, &settings, r, u, &info, NULL);
  free(u);
  scree_problem_destroy(&problem);
  return status;
}

/* Each solver asks, stops when told at its first, second and last question, and gives the same bits
 * when it is only asked. */
static void every_solver_stops(void **state) {
  (void)state;
  static double r[400], asked[400];
  for (int k = 0; scree_solver_class(k); ++k) {
    const scree_SolverClass *class_ = scree_solver_class(k);
    const bool coulomb = scree_solver_class_capabilities(class_) & SCREE_CAN_COULOMB;
    const scree_Flow law = coulomb ? SCREE_COULOMB : SCREE_ASSOCIATED;
    Bell never = {0, -1};
    const scree_Status status = solve_pile(class_->name, law, NULL, r);
    assert_true(status <= SCREE_NOT_CONVERGED);
    assert_int_equal(solve_pile(class_->name, law, &never, asked), status);
    assert_memory_equal(r, asked, sizeof r);
    assert_true(never.calls > 1);
    const long moments[] = {1, 2, never.calls};
    for (int m = 0; m < 3; ++m) {
      Bell bell = {0, moments[m]};
      assert_int_equal(solve_pile(class_->name, law, &bell, asked), SCREE_INTERRUPTED);
      assert_int_equal(bell.calls, moments[m]); /* it is not asked again */
    }
  }
  assert_string_equal(scree_status_name(SCREE_INTERRUPTED), "interrupted");
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Boxes dropped on a shaking floor: contacts that come and go, expansions, halved steps. */
static scree_World *heap(const scree_Log *log, Bell *bell, int halvings) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.step = 5e-3;
  settings.gravity = vec(0, -9.81, 0);
  settings.max_halvings = halvings;
  settings.penetration_limit = 1e-6; /* so that some steps are halved */
  settings.solve.threads = 1;
  settings.solve.interrupted = bell ? ring : NULL;
  settings.solve.interrupted_user = bell;
  scree_World *world;
  const scree_PairLaw law = scree_pair_law_coulomb(0.4, 0, 0);
  OK(scree_world_create(&settings, log, &world));
  OK(scree_world_set_default_law(world, &law));
  scree_BodyDef floor = obstacle_at(0, 0, 0);
  scree_Shape shape;
  OK(scree_shape_init(&shape, SCREE_SHAPE_HALF_PLANE, NULL, NULL, 0, NULL));
  add_shape(world, &shape, floor);
  for (int k = 0; k < 9; ++k) {
    scree_BodyDef def = at(0.11 * (k % 3) + 0.01 * (k / 3), 0.06 + 0.115 * (k / 3), 0);
    def.pose.orientation = turned(0.1 * k);
    def.velocity.linear = vec(0, -1, 0);
    def.velocity.angular = vec(0, 0, 2.0 * (k % 2) - 1);
    const double half = 0.05;
    const scree_Vec3 corners[4] = {vec(-half, -half, 0), vec(half, -half, 0), vec(half, half, 0),
                                   vec(-half, half, 0)};
    OK(scree_shape_init(&shape, SCREE_SHAPE_POLYGON, NULL, corners, 4, NULL));
    add_shape(world, &shape, def);
  }
  return world;
}

static void *state_of(const scree_World *world, size_t *size) {
  *size = scree_world_state_size(world);
  void *buffer = malloc(*size);
  assert_non_null(buffer);
  scree_world_save(world, buffer);
  return buffer;
}

static void assert_same_state(const scree_World *a, const scree_World *b) {
  size_t n, m;
  void *x = state_of(a, &n), *y = state_of(b, &m);
  assert_int_equal(n, m);
  assert_memory_equal(x, y, n);
  free(x);
  free(y);
}

/* In every step the callback says stop at another of its calls, from the first to the last; the
 * state is that of before, and the step repeated gives that of a world that was left alone. */
static void interrupted_steps_change_nothing(void **state) {
  (void)state;
  Bell never = {0, -1}, bell = {0, -1};
  scree_World *alone = heap(NULL, &never, 3), *world = heap(NULL, &bell, 3);
  int halved = 0, interrupted = 0;
  for (int k = 0; k < 60; ++k) {
    scree_StepReport report, again;
    size_t n, m;
    bool done = false;
    never.calls = 0;
    assert_true(scree_world_step(alone, &report) <= SCREE_NOT_CONVERGED);
    halved += report.substeps > 1;
    assert_true(never.calls > 0);
    void *before = state_of(world, &n);
    /* all moments of a few steps, some of the others */
    for (long moment = 1; moment <= never.calls; moment += k % 10 == 5 ? 1 : 1 + never.calls / 4) {
      bell = (Bell){0, moment};
      const scree_Status status = scree_world_step(world, &again);
      done = status <= SCREE_NOT_CONVERGED; /* what it keeps of detection saved it some calls */
      if (done) break;
      assert_int_equal(status, SCREE_INTERRUPTED);
      void *after = state_of(world, &m);
      assert_int_equal(n, m);
      assert_memory_equal(before, after, n);
      free(after);
      ++interrupted;
    }
    free(before);
    bell = (Bell){0, -1};
    if (!done) assert_true(scree_world_step(world, &again) <= SCREE_NOT_CONVERGED);
    assert_same_state(alone, world);
    assert_int_equal(report.iterations, again.iterations);
    assert_true(report.error == again.error);
  }
  assert_true(halved > 2);
  assert_true(interrupted > 100);
  scree_world_destroy(alone);
  scree_world_destroy(world);
}

typedef struct Watcher {
  const scree_World *world;
  scree_StepProgress most;
} Watcher;

static bool watch(void *user) {
  Watcher *watcher = user;
  const scree_StepProgress now = scree_world_progress(watcher->world);
  assert_true(now.step == scree_world_steps(watcher->world) + 1);
  if (now.solves > watcher->most.solves) watcher->most = now;
  return false;
}

static void progress_is_seen_in_the_middle(void **state) {
  (void)state;
  Bell never = {0, -1};
  scree_World *world = heap(NULL, &never, 3);
  Watcher watcher = {.world = world};
  scree_WorldSettings settings = *scree_world_get_settings(world);
  settings.solve.interrupted = watch;
  settings.solve.interrupted_user = &watcher;
  OK(scree_world_set_settings(world, &settings));
  for (int k = 0; k < 40; ++k) assert_true(scree_world_step(world, NULL) <= SCREE_NOT_CONVERGED);
  assert_true(watcher.most.solves > 0 && watcher.most.attempts > 0 && watcher.most.contacts > 0);
  scree_world_destroy(world);
}

/* ---- bad numbers ----------------------------------------------------------------------------- */

static scree_Twist root(void *user, double time) {
  return (scree_Twist){.linear = {0, *(double *)user * sqrt(0.02 - time), 0}};
}

static void refused(scree_World *world, const char *text) {
  size_t n, m;
  void *before = state_of(world, &n);
  last_error[0] = 0;
  assert_int_equal(scree_world_step(world, NULL), SCREE_BAD_INPUT);
  if (!strstr(last_error, text)) print_message("%s\n", last_error);
  assert_non_null(strstr(last_error, text));
  void *after = state_of(world, &m);
  assert_int_equal(n, m);
  assert_memory_equal(before, after, n);
  free(before);
  free(after);
}

static void signals_must_be_finite(void **state) {
  (void)state;
  double scale = 1;
  static const char *const names[6] = {"a", "there: rate", "c", "d", "e", "f"};
  for (int named = 0; named < 2; ++named) {
    for (int force = 0; force < 2; ++force) {
      scree_World *world = heap(&listening, NULL, 0);
      const scree_Signal signal = {.kind = SCREE_SIGNAL_CALLBACK,
                                   .callback = root,
                                   .user = &scale,
                                   .names = named ? names : NULL};
      if (force) {
        OK(scree_world_add_force(world, &(scree_ForceDef){.body = 4, .signal = signal}));
      } else {
        scree_BodyDef def = obstacle_at(5, 0, 0);
        def.driver = signal;
        add_disk(world, 0.1, def);
      }
      for (int k = 0; k < 3; ++k) assert_true(scree_world_step(world, NULL) <= SCREE_NOT_CONVERGED);
      while (scree_world_time(world) < 0.0199 && scree_world_step(world, NULL) <= 1) continue;
      refused(world, named   ? "there: rate is nan at t = 0.02"
                     : force ? "force 0, linear y, is nan at t = 0.02"
                             : "driver of body 10, linear y, is nan at t = 0.02");
      refused(world, "expected a finite number"); /* and again */
      scree_world_destroy(world);
    }
  }
}

/* A force that is finite but too large for the velocities it makes. */
static void motions_must_be_finite(void **state) {
  (void)state;
  scree_World *world = heap(&listening, NULL, 2);
  add_disk(world, 1e-4, at(50, 50, 0));
  OK(scree_world_step(world, NULL) <= SCREE_NOT_CONVERGED ? SCREE_OK : SCREE_MACHINE);
  const scree_Signal signal = {.kind = SCREE_SIGNAL_CONSTANT, .constant = {{1e308, 0, 0}, {0}}};
  OK(scree_world_add_force(world, &(scree_ForceDef){.body = 10, .signal = signal}));
  /* disks of the heap have impacts: the step is divided, and its first quarter ends then */
  refused(world,
          "body 10: its velocity is not finite at t = 0.00625 s: the forces on it are too large");
  scree_world_destroy(world);
  /* a velocity that is finite, but carries the body too far */
  world = heap(&listening, NULL, 2);
  const int far = add_disk(world, 1e-3, at(1.7e308, 50, 0));
  const scree_Twist fast = {.linear = {1.7e308, 0, 0}};
  OK(scree_body_set_velocity(world, far, &fast));
  scree_WorldSettings settings = *scree_world_get_settings(world);
  settings.step = 1;
  OK(scree_world_set_settings(world, &settings));
  refused(world, "finite");
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_solver_stops),
      cmocka_unit_test(interrupted_steps_change_nothing),
      cmocka_unit_test(progress_is_seen_in_the_middle),
      cmocka_unit_test(signals_must_be_finite),
      cmocka_unit_test(motions_must_be_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
