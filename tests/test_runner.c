/* Runs that are interrupted in the middle of a step, stopped by bad numbers, or killed between
 * frames: what is in the folder, and the same bits after going on. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/rate.h"
#include "core/clock.h"
#include "core/memory.h"
#include "run/checkpoint.h"
#include "run/results_file.h"
#include "run/results_write.h"
#include "scree/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bodies are poured into the region from which they are removed: a step that is repeated must not
 * take away what has just come. */
static const char poured[] =
    "title: test\ndimension: 2\nseed: 3\ncontact: {mu: 0.4}\n"
    "obstacles:\n  - {shape: {kind: half-plane}, velocity: [0.1*sin(20*t), 0], belt: true}\n"
    "  - {shape: {kind: half-plane}, position: [-0.05, 0], normal: [1, 0]}\n"
    "  - {shape: {kind: half-plane}, position: [0.05, 0], normal: [-1, 0]}\n"
    "generators:\n"
    "  - {kind: pour, count: 30, rate: 200, region: {kind: box, lower: [-0.05, 0.03], upper: "
    "[0.05, "
    "0.12]},\n     shape: {kind: polygon, vertices: [[0,0],[0.02,0],[0.01,0.015]]}, velocity: [0, "
    "-1]}\n"
    "time: {step: 2e-3, duration: 0.16}\noutput: {every: 0.02, checkpoint: 0}\n"
    "solver: {tolerance: 1e-6, threads: 1}\n"
    "sensors:\n  - {kind: force, name: floor, body: 0}\n"
    "  - {kind: flux, name: down, point: [0, 0.05], normal: [0, -1]}\n"
    "remove:\n  - {kind: plane, point: [0, 0.075], normal: [0, 1]}\n";

static char message[512];

static void keep_message(void *user, scree_LogLevel level, const char *text) {
  (void)user;
  if (level == SCREE_LOG_ERROR) snprintf(message, sizeof message, "%s", text);
}

static const scree_Log keeping = {keep_message, NULL};

static char root[64];

static int make_root(void **state) {
  (void)state;
  /* in memory, where it can be had: disks that are slow to flush would make checkpoints rare */
  snprintf(root, sizeof root, "/dev/shm/scree-runner-XXXXXX");
  if (mkdtemp(root)) return 0;
  snprintf(root, sizeof root, "/tmp/scree-runner-XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
  (void)state;
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", root);
  return system(command);
}

static scree_Scene *parse(const char *text) {
  scree_Scene *scene;
  assert_int_equal(scree_scene_parse(text, strlen(text), "s.yaml", NULL, NULL, &scene), SCREE_OK);
  return scene;
}

static scree_RunSettings settings_for(const char *name, char folder[96]) {
  scree_RunSettings settings = scree_run_settings();
  snprintf(folder, 96, "%s/%s", root, name);
  settings.folder = folder;
  return settings;
}

static char *load(const char *folder, const char *name, size_t *size) {
  char path[160], *data;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(scree_file_load(path, &data, size, NULL), SCREE_OK);
  assert_non_null(data);
  return data;
}

/* Telemetry without the clock's columns. */
static char *load_telemetry(const char *folder, size_t *size) {
  char *text = load(folder, "telemetry.jsonl", size), *to = text;
  for (char *line = text; *line;) {
    const size_t length = strcspn(line, "\n");
    char *seconds = strstr(line, ", \"seconds_");
    assert_non_null(seconds);
    const size_t kept = (size_t)(seconds - line);
    char *next = line + length + 1;
    memmove(to, line, kept);
    to += kept;
    *to++ = '\n';
    line = next;
  }
  *to = 0;
  *size = (size_t)(to - text);
  return text;
}

static void assert_same_run(const char *a, const char *b) {
  size_t n, m;
  char *x = load(a, "results.h5", &n), *y = load(b, "results.h5", &m);
  assert_int_equal(n, m);
  assert_memory_equal(x, y, n);
  scree_free(x);
  scree_free(y);
  x = load_telemetry(a, &n);
  y = load_telemetry(b, &m);
  assert_int_equal(n, m);
  assert_memory_equal(x, y, n);
  scree_free(x);
  scree_free(y);
}

static void run_to_the_end(const scree_Scene *scene, const scree_RunSettings *settings) {
  scree_Run *run;
  assert_int_equal(scree_run_create(scene, settings, NULL, &run), SCREE_OK);
  while (!scree_run_is_over(run)) assert_true(scree_run_step(run, NULL) <= SCREE_NOT_CONVERGED);
  assert_int_equal(scree_run_close(run), SCREE_OK);
  scree_run_destroy(run);
}

/* ---- interruption ---------------------------------------------------------------------------- */

typedef struct Bell {
  int left; /* calls until it says stop */
} Bell;

static bool ring(void *user) {
  Bell *bell = user;
  return bell->left-- == 0;
}

/* Interrupted over and over, at moments drawn at random: now the step is repeated at once, now the
 * run is closed and resumed, now it is dropped as if killed. */
static void interrupted_runs_have_the_same_bits(void **state) {
  (void)state;
  char whole[96], parts[96];
  scree_Scene *scene = parse(poured);
  scree_RunSettings plain = settings_for("whole", whole), settings = settings_for("parts", parts);
  run_to_the_end(scene, &plain);
  Bell bell = {0};
  settings.interrupted = ring;
  settings.interrupted_user = &bell;
  unsigned random = 7;
  int interrupted = 0, resumed = 0;
  for (bool over = false; !over; settings.resume = true, ++resumed) {
    scree_Run *run;
    assert_int_equal(scree_run_create(scene, &settings, NULL, &run), SCREE_OK);
    bool dropped = false;
    while (!scree_run_is_over(run) && !dropped) {
      random = random * 1664525u + 1013904223u;
      /* most steps ask a few times, the longest some hundred times */
      bell.left = (int)(random >> 8 & 0xffff) % (random >> 31 ? 1000 : 20);
      const scree_Status status = scree_run_step(run, NULL);
      if (status <= SCREE_NOT_CONVERGED) continue;
      assert_int_equal(status, SCREE_INTERRUPTED);
      assert_false(scree_run_is_over(run));
      ++interrupted;
      const int choice = interrupted % 4;
      bell.left = -1; /* never */
      if (choice == 1) assert_int_equal(scree_run_close(run), SCREE_OK);
      dropped = choice == 1 || choice == 2;
      if (dropped) break;
    }
    over = scree_run_is_over(run);
    if (over) assert_int_equal(scree_run_close(run), SCREE_OK);
    scree_run_destroy(run);
    assert_true(resumed < 1000);
  }
  print_message("interrupted %d times, resumed %d times\n", interrupted, resumed);
  assert_true(interrupted > 10 && resumed > 5);
  assert_same_run(whole, parts);
  scree_scene_destroy(scene);
}

/* ---- by the clock ---------------------------------------------------------------------------- */

static int64_t checkpoint_steps(const char *folder) {
  char path[160];
  int *order;
  void *saved;
  bool found;
  scree_CheckpointHead head;
  snprintf(path, sizeof path, "%s/checkpoint.bin", folder);
  assert_int_equal(scree_checkpoint_read(path, &head, &order, &saved, &found, NULL), SCREE_OK);
  assert_true(found);
  scree_free(order);
  scree_free(saved);
  return head.telemetry;
}

/* Between two frames that are far apart. The run is then dropped, as if killed, and goes on from
 * the last checkpoint. */
static void checkpoints_come_between_frames(void **state) {
  (void)state;
  static const char text[] =
      "dimension: 2\nobstacles: [{shape: {kind: half-plane}}]\n"
      "bodies: [{shape: {kind: disk, radius: 0.01}, position: [0, 0.05], velocity: [0.3, 0]}]\n"
      "time: {step: 1e-4, duration: 0.3}\noutput: {every: 0.15, checkpoint: 1e-3}\n";
  char whole[96], parts[96];
  scree_Scene *scene = parse(text);
  scree_RunSettings plain = settings_for("clock", whole), settings = settings_for("clocked", parts);
  run_to_the_end(scene, &plain);
  for (int round = 0; round < 3; ++round, settings.resume = true) {
    scree_Run *run;
    assert_int_equal(scree_run_create(scene, &settings, NULL, &run), SCREE_OK);
    const int64_t first = checkpoint_steps(parts);
    const double start = scree_seconds();
    int64_t now = first;
    while (now == first && !scree_run_is_over(run) && scree_seconds() - start < 20) {
      for (int k = 0; k < 100 && !scree_run_is_over(run); ++k)
        assert_int_equal(scree_run_step(run, NULL), SCREE_OK);
      now = checkpoint_steps(parts);
    }
    assert_true(now > first || scree_run_is_over(run));
    scree_run_destroy(run);
  }
  settings.resume = true;
  run_to_the_end(scene, &settings);
  assert_same_run(whole, parts);
  scree_scene_destroy(scene);
}

typedef struct Sleeper {
  char path[160];
  bool asleep;
  int lines, calls;
} Sleeper;

/* A long step: once it sleeps, later it counts the lines that a reader sees. */
static bool look(void *user) {
  Sleeper *sleeper = user;
  if (!sleeper->asleep) return false;
  if (++sleeper->calls == 1) usleep(700000);
  if (sleeper->calls != 3) return false;
  size_t size;
  char *text;
  assert_int_equal(scree_file_load(sleeper->path, &text, &size, NULL), SCREE_OK);
  for (size_t k = 0; text && k < size; ++k) sleeper->lines += text[k] == '\n';
  scree_free(text);
  return false;
}

static void telemetry_does_not_wait_for_a_long_step(void **state) {
  (void)state;
  char folder[96];
  scree_Scene *scene = parse(poured);
  scree_RunSettings settings = settings_for("flushed", folder);
  Sleeper sleeper = {.asleep = false};
  snprintf(sleeper.path, sizeof sleeper.path, "%s/telemetry.jsonl", folder);
  settings.interrupted = look;
  settings.interrupted_user = &sleeper;
  scree_Run *run;
  assert_int_equal(scree_run_create(scene, &settings, NULL, &run), SCREE_OK);
  for (int k = 0; k < 40; ++k) assert_int_equal(scree_run_step(run, NULL), SCREE_OK);
  sleeper.asleep = true;
  assert_int_equal(scree_run_step(run, NULL), SCREE_OK);
  assert_int_equal(sleeper.lines, 40);
  assert_int_equal(scree_run_close(run), SCREE_OK);
  scree_run_destroy(run);
  scree_scene_destroy(scene);
}

static bool always(void *user) {
  (void)user;
  return true;
}

/* results.h5 that is given up: the one before it stays. */
static void results_are_given_up_whole(void **state) {
  (void)state;
  static const char text[] = "bodies: [{shape: {kind: sphere, radius: 0.01}}]\n"
                             "time: {step: 1e-3, duration: 0.1}\noutput: {every: 1e-3}\n";
  char folder[96], path[160];
  scree_Scene *scene = parse(text);
  scree_RunSettings settings = settings_for("given-up", folder);
  settings.steps = 20;
  run_to_the_end(scene, &settings);
  size_t n, m;
  char *before = load(folder, "results.h5", &n), *journal_data = load(folder, "frames.bin", &m);
  scree_free(journal_data);
  scree_Journal journal;
  scree_World *world;
  snprintf(path, sizeof path, "%s/frames.bin", folder);
  assert_int_equal(scree_journal_open(&journal, path, (int64_t)m, NULL), SCREE_OK);
  assert_int_equal(scree_scene_build(scene, NULL, &world), SCREE_OK);
  char results[160];
  snprintf(results, sizeof results, "%s/results.h5", folder);
  scree_Poll poll = {always, NULL, false};
  scree_ResultsMaterial materials[8];
  assert_true(scree_scene_info(scene).materials <= 8);
  const scree_ResultsHead head = scree_results_head(scene, materials);
  assert_int_equal(scree_results_write(results, &journal, &head, world, &poll, NULL),
                   SCREE_INTERRUPTED);
  char *after = load(folder, "results.h5", &m);
  assert_int_equal(n, m);
  assert_memory_equal(before, after, n);
  assert_int_equal(scree_results_write(results, &journal, &head, world, NULL, NULL), SCREE_OK);
  scree_free(before);
  scree_free(after);
  scree_journal_close(&journal);
  scree_world_destroy(world);
  scree_scene_destroy(scene);
}

/* ---- bad numbers ----------------------------------------------------------------------------- */

static void stops_with(const char *text, const char *expected, int64_t steps) {
  static int number;
  char folder[96], name[24];
  scree_Scene *scene = parse(text);
  snprintf(name, sizeof name, "bad%d", number++);
  scree_RunSettings settings = settings_for(name, folder);
  for (int round = 0; round < 2; ++round, settings.resume = true) {
    scree_Run *run;
    scree_Status status = SCREE_OK;
    message[0] = 0;
    assert_int_equal(scree_run_create(scene, &settings, &keeping, &run), SCREE_OK);
    while (!scree_run_is_over(run) && status <= SCREE_NOT_CONVERGED)
      status = scree_run_step(run, NULL);
    assert_int_equal(status, SCREE_BAD_INPUT);
    if (!strstr(message, expected)) print_message("%s\n", message);
    assert_non_null(strstr(message, expected));
    assert_int_equal(scree_run_close(run), SCREE_OK);
    scree_run_destroy(run);
    size_t size;
    char *lines = load_telemetry(folder, &size);
    int64_t count = 0;
    for (size_t k = 0; k < size; ++k) count += lines[k] == '\n';
    assert_int_equal(count, steps);
    scree_free(lines);
  }
  scree_scene_destroy(scene);
}

static void bad_numbers_stop_the_run(void **state) {
  (void)state;
  stops_with(
      "dimension: 2\nobstacles:\n  - shape: {kind: disk, radius: 1}\n"
      "    velocity: [0, sqrt(0.02-t)]\n"
      "bodies: [{shape: {kind: disk, radius: 0.01}, position: [0, 9]}]\n"
      "time: {step: 1e-3, duration: 1}\n",
      "s.yaml:4:19: obstacles[0].velocity[1] is nan at t = 0.021 s, expected a finite number", 20);
  stops_with("dimension: 2\nbodies: [{name: a, shape: {kind: disk, radius: 0.01}}]\n"
             "forces:\n  - {body: a, force: [0, 0]}\n  - {body: a, torque: 1/(0.0105-t)^200}\n"
             "time: {step: 1e-3, duration: 1}\n",
             "s.yaml:5:23: forces[1].torque is inf at t = ", 0);
  stops_with("bodies: [{name: a, shape: {kind: sphere, radius: 0.01}}]\n"
             "forces: [{body: all, acceleration: [0, 0, log(0.0101-t)]}]\n"
             "time: {step: 1e-3, duration: 1}\n",
             "s.yaml:2:43: forces[0].acceleration[2] is nan at t = 0.0105 s", 10);
  /* a motor: NaN turns it off in the library, but an expression that leaves its range is a mistake
   */
  stops_with(
      "dimension: 2\nbodies: [{name: a, shape: {kind: disk, radius: 0.1}, position: [0, 1]}]\n"
      "joints:\n  - {kind: hinge, bodies: [a, world], anchor: [0, 1],\n"
      "     motor: {velocity: log(0.0105-t), force: 1}}\n"
      "time: {step: 1e-3, duration: 1}\n",
      "s.yaml:5:24: joints[0].velocity is not finite at t = 0.01", 10);
  /* the step is done, its sensor is not finite: the lines up to it are there */
  stops_with("dimension: 2\ngravity: [0, 0]\n"
             "bodies: [{shape: {kind: disk, radius: 0.01}, velocity: [1e160, 0]}]\n"
             "sensors:\n  - {kind: kinetic_energy, name: k}\ntime: {step: 1e-3, duration: 1}\n",
             "s.yaml:5:5: sensors[0] (k) is infinite at t = 0.001 s", 0);
}

/* ---- time left ------------------------------------------------------------------------------- */

/* Run on to `until`; 0: to the scene's own end. */
static scree_RunSummary run_on(const scree_Scene *scene, const char *name, double until,
                               bool resume) {
  char folder[96];
  scree_Run *run;
  scree_RunSettings settings = settings_for(name, folder);
  settings.until = until;
  settings.resume = resume;
  assert_int_equal(scree_run_create(scene, &settings, NULL, &run), SCREE_OK);
  while (!scree_run_is_over(run)) assert_true(scree_run_step(run, NULL) <= SCREE_NOT_CONVERGED);
  assert_int_equal(scree_run_close(run), SCREE_OK);
  const scree_RunSummary summary = scree_run_summary(run);
  scree_run_destroy(run);
  return summary;
}

/* The duration is no multiple of the step: the last step is shorter, whatever was run before. The
 * ball bounces, so that steps are cut at its impacts; with the tiny limit every step in which it
 * touches is halved. */
static void runs_end_at_their_duration(void **state) {
  (void)state;
  static const char *const limits[] = {"0.01", "1e-15"};
  for (int k = 0; k < 2; ++k) {
    char text[512], name[32];
    snprintf(text, sizeof text,
             "dimension: 2\ncontact: {mu: 0.3, e_n: 0.5}\nobstacles: [{shape: {kind: "
             "half-plane}}]\nbodies: [{shape: {kind: polygon, vertices: "
             "[[0,0],[0.05,0],[0,0.03]]}, position: [0, 0.1], angular_velocity: 5}]\n"
             "time: {step: 7e-3, duration: 0.5, penetration_limit: %s}\n",
             limits[k]);
    scree_Scene *scene = parse(text);
    snprintf(name, sizeof name, "ends%d", k);
    /* stopped before its end: after a whole step */
    scree_RunSummary s = run_on(scene, name, 0.3, false);
    assert_true(!s.finished && s.steps == 43 && s.time == 43 * 7e-3);
    s = run_on(scene, name, 0, true);
    assert_true(s.finished && s.steps == 72 && fabs(s.time - 0.5) < 1e-15);
    if (k == 1) assert_true(s.substeps > 0);
    s = run_on(scene, name, 0.5, true); /* nothing left to do */
    assert_true(s.finished && s.steps == 72);
    s = run_on(scene, name, 0.8, true);
    assert_true(s.finished && s.steps == 115 && fabs(s.time - 0.8) < 1e-15);
    s = run_on(scene, name, 0.8, true);
    assert_true(s.finished && s.steps == 115);
    /* less than a step more */
    s = run_on(scene, name, 0.801, true);
    assert_true(s.finished && s.steps == 116 && fabs(s.time - 0.801) < 1e-15);
    /* in one go: the step at 0.5 is whole */
    snprintf(name, sizeof name, "one%d", k);
    s = run_on(scene, name, 0.8, false);
    assert_true(s.finished && s.steps == 115 && fabs(s.time - 0.8) < 1e-15);
    scree_scene_destroy(scene);
  }
}

static void time_left_follows_recent_steps(void **state) {
  (void)state;
  CliRate rate = {0};
  assert_true(cli_rate_left(&rate, 1, 0) < 0);
  /* 100 s at 1 s of the clock for each simulated second, then a minute at a tenth of that speed */
  for (int k = 0; k < 10000; ++k) cli_rate_add(&rate, 0.01, 0.01);
  assert_true(fabs(cli_rate_left(&rate, 5, 0) - 5) < 1e-6);
  for (int k = 0; k < 300; ++k) cli_rate_add(&rate, 0.1, 0.01);
  assert_true(cli_rate_left(&rate, 5, 0) > 30); /* the mean since the start would be 11.5 */
  for (int k = 0; k < 300; ++k) cli_rate_add(&rate, 0.1, 0.01);
  assert_true(fabs(cli_rate_left(&rate, 5, 0) - 50) < 3);
  assert_true(fabs(cli_rate_steps(&rate) - 10) < 2);
  /* one step of a minute among quick ones counts, but is forgotten */
  CliRate calm = {0};
  for (int k = 0; k < 1000; ++k) cli_rate_add(&calm, 0.1, 0.01);
  const double before = cli_rate_left(&calm, 1, 0);
  cli_rate_add(&calm, 60, 0.01);
  assert_true(cli_rate_left(&calm, 1, 0) > 2 * before);
  for (int k = 0; k < 600; ++k) cli_rate_add(&calm, 0.1, 0.01);
  assert_true(cli_rate_left(&calm, 1, 0) < 1.1 * before);
  /* a step under way that is longer than usual */
  assert_true(cli_rate_left(&calm, 1, 30) > cli_rate_left(&calm, 1, 0));
  assert_true(cli_rate_left(&calm, 1, 0.05) == cli_rate_left(&calm, 1, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(interrupted_runs_have_the_same_bits),
      cmocka_unit_test(checkpoints_come_between_frames),
      cmocka_unit_test(telemetry_does_not_wait_for_a_long_step),
      cmocka_unit_test(results_are_given_up_whole),
      cmocka_unit_test(bad_numbers_stop_the_run),
      cmocka_unit_test(runs_end_at_their_duration),
      cmocka_unit_test(time_left_follows_recent_steps),
  };
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
