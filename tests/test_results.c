/* Runs: what is in the folder, the same bits after stopping and resuming anywhere, damage that is
 * noticed. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/memory.h"
#include "run/checkpoint.h"
#include "run/frames.h"
#include "run/results_file.h"
#include "run/results_frame.h"
#include "run/results_write.h"
#include "scree/run.h"

#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Disks poured from two sources onto a moving floor: bodies come while it runs. */
static const char scene_text[] =
    "title: test\ndimension: 2\nseed: 3\n"
    "materials: {a: {density: 100}, b: {density: 300, colour: red}}\n"
    "contact: {mu: 0.4}\npairs: [{between: [a, b], mu: 0.1, e_n: 0.5}]\n"
    "obstacles:\n  - {shape: {kind: half-plane}, velocity: [0.1*sin(20*t), 0], belt: true}\n"
    "  - {shape: {kind: half-plane}, position: [-0.1, 0], normal: [1, 0]}\n"
    "  - {shape: {kind: half-plane}, position: [0.1, 0], normal: [-1, 0]}\n"
    "bodies:\n  - {name: p, shape: {kind: polygon, vertices: [[0,0],[0.04,0],[0.02,0.03]]}}\n"
    "generators:\n"
    "  - {kind: pour, count: 9, rate: 60, region: {kind: box, lower: [-0.1, 0.1], upper: [0, "
    "0.2]},\n"
    "     shape: {kind: disk, radius: 0.01}, scale: {min: 0.7, max: 1.2}}\n"
    "  - {kind: pour, count: 7, rate: 50, start: 0.02, material: b,\n"
    "     region: {kind: box, lower: [0, 0.1], upper: [0.1, 0.2]},\n"
    "     shape: {kind: ellipse, semi_x: 0.012, semi_y: 0.006}}\n"
    "time: {step: 2e-3, duration: 0.25}\noutput: {every: 0.01, checkpoint: 0}\n"
    "solver: {tolerance: 1e-6}\ndump_problem: {steps: [100]}\n"
    "sensors:\n  - {kind: force, name: floor, body: 0}\n"
    "  - {kind: position, name: last, body: 19}\n"
    "  - {kind: flux, name: down, point: [0, 0.05], normal: [0, -1]}\n"
    "  - {kind: kinetic_energy, name: of_b, material: b}\n"
    "remove:\n  - {kind: plane, point: [0.06, 0], normal: [1, 0]}\n"
    "  - {kind: outside, lower: [-0.2, -0.1], upper: [0.2, 0.21]}\n"
    "  - {kind: body, body: p, time: 0.11}\n";

static void keep_message(void *user, scree_LogLevel level, const char *message) {
  (void)level;
  snprintf(user, 256, "%s", message);
}

typedef struct Fixture {
  char root[64];
  scree_Scene *scene;
} Fixture;

static int setup(void **state) {
  Fixture *f = calloc(1, sizeof *f);
  snprintf(f->root, sizeof f->root, "/tmp/scree-results-XXXXXX");
  *state = f;
  if (!mkdtemp(f->root)) return -1;
  return (int)scree_scene_parse(scene_text, strlen(scene_text), "s", NULL, NULL, &f->scene);
}

static int teardown(void **state) {
  Fixture *f = *state;
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", f->root);
  const int status = system(command);
  scree_scene_destroy(f->scene);
  free(f);
  return status;
}

static const char *folder(const Fixture *f, const char *name, char *path) {
  snprintf(path, 256, "%s/%s", f->root, name);
  return path;
}

/* Run until it is over, or for some steps; close or leave it as a crash would. */
static scree_RunSummary run(const Fixture *f, const char *name, bool resume, int64_t steps,
                            bool crash, int threads) {
  char path[256];
  scree_RunSettings settings = scree_run_settings();
  settings.folder = folder(f, name, path);
  settings.resume = resume;
  settings.steps = crash ? 0 : steps;
  settings.threads = threads;
  scree_Run *r = NULL;
  assert_int_equal(scree_run_create(f->scene, &settings, NULL, &r), SCREE_OK);
  for (int64_t k = 0; !scree_run_is_over(r) && !(crash && k >= steps); ++k)
    assert_true(scree_run_step(r, NULL) <= SCREE_NOT_CONVERGED);
  if (!crash) assert_int_equal(scree_run_close(r), SCREE_OK);
  const scree_RunSummary summary = scree_run_summary(r);
  scree_run_destroy(r);
  return summary;
}

static char *load(const Fixture *f, const char *name, const char *file, size_t *size) {
  char path[256], full[320], *data;
  snprintf(full, sizeof full, "%s/%s", folder(f, name, path), file);
  assert_int_equal(scree_file_load(full, &data, size, NULL), SCREE_OK);
  return data;
}

static void assert_same_file(const Fixture *f, const char *a, const char *b, const char *file) {
  size_t na, nb;
  char *da = load(f, a, file, &na), *db = load(f, b, file, &nb);
  assert_true(da && db);
  assert_int_equal(na, nb);
  assert_memory_equal(da, db, na);
  scree_free(da);
  scree_free(db);
}

/* Telemetry is the same but for the times that the clock gave. */
static void assert_same_telemetry(const Fixture *f, const char *a, const char *b) {
  size_t na, nb;
  char *da = load(f, a, "telemetry.jsonl", &na), *db = load(f, b, "telemetry.jsonl", &nb);
  char *sa = NULL, *sb = NULL;
  int lines = 0;
  for (char *la = strtok_r(da, "\n", &sa), *lb = strtok_r(db, "\n", &sb); la || lb;
       la = strtok_r(NULL, "\n", &sa), lb = strtok_r(NULL, "\n", &sb)) {
    assert_true(la && lb);
    *strstr(la, "\"seconds_detect\"") = '\0';
    *strstr(lb, "\"seconds_detect\"") = '\0';
    assert_string_equal(la, lb);
    ++lines;
  }
  assert_int_equal(lines, 125);
  scree_free(da);
  scree_free(db);
}

static void same_bits(void **state) {
  const Fixture *f = *state;
  const scree_RunSummary whole = run(f, "whole", false, 0, false, 1);
  assert_true(whole.finished);
  assert_int_equal(whole.steps, 125);
  assert_int_equal(whole.bodies, 17);
  assert_int_equal(whole.frames, 26);
  /* two threads */
  run(f, "threads", false, 0, false, 2);
  assert_same_file(f, "whole", "threads", "results.h5");
  /* stopped in good order, and left without a word, at several places */
  static const int64_t stops[] = {1, 4, 30, 26, 40};
  bool resume = false;
  for (size_t k = 0; k < sizeof stops / sizeof *stops; ++k) {
    run(f, "parts", resume, stops[k], k & 1, 1);
    resume = true;
  }
  const scree_RunSummary parts = run(f, "parts", true, 0, false, 1);
  assert_true(parts.finished && parts.resumed);
  assert_int_equal(parts.contacts_max, whole.contacts_max);
  assert_true(parts.error_max == whole.error_max);
  assert_true(parts.energy_error == whole.energy_error);
  assert_same_file(f, "whole", "parts", "results.h5");
  assert_same_file(f, "whole", "parts", "scene.yaml");
  assert_same_file(f, "whole", "parts", "problems/step-00000100.hdf5");
  assert_same_telemetry(f, "whole", "parts");
  /* the journal is gone, and a finished run stays finished */
  size_t size;
  char *journal = load(f, "whole", "frames.bin", &size);
  assert_null(journal);
  const scree_RunSummary again = run(f, "whole", true, 0, false, 1);
  assert_true(again.finished);
  assert_same_file(f, "whole", "parts", "results.h5");
}

static void read_set(hid_t file, const char *name, hid_t type, void *out, size_t count) {
  hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(data >= 0);
  hid_t space = H5Dget_space(data);
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  assert_true(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
  H5Sclose(space);
  H5Dclose(data);
}

/* The last frame of the file is the state of a world that was stepped by hand. */
static void content(void **state) {
  const Fixture *f = *state;
  char path[256], file_name[320];
  run(f, "content", false, 0, false, 1);
  scree_World *world;
  int order[16], poured = 0;
  assert_int_equal(scree_scene_build(f->scene, NULL, &world), SCREE_OK);
  for (int k = 0; k < 125; ++k) {
    assert_int_equal(scree_scene_remove(f->scene, world), SCREE_OK);
    assert_int_equal(scree_scene_pour(f->scene, world, order, &poured, NULL), SCREE_OK);
    assert_true(scree_world_step(world, NULL) <= SCREE_NOT_CONVERGED);
  }
  const int removed = scree_world_removed_count(world);
  assert_true(removed > 2 && removed < 17);
  assert_int_equal(poured, 16);
  snprintf(file_name, sizeof file_name, "%s/results.h5", folder(f, "content", path));
  hid_t file = H5Fopen(file_name, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  enum { F = 26, N = 20 };
  static double x[F][N][3], q[F][N][4], time[F];
  static int64_t step[F], offset[F + 1];
  static int count[F], first[N], last[N], kind[N];
  read_set(file, "/frames/position", H5T_NATIVE_DOUBLE, x, F * N * 3);
  read_set(file, "/frames/orientation", H5T_NATIVE_DOUBLE, q, F * N * 4);
  read_set(file, "/frames/time", H5T_NATIVE_DOUBLE, time, F);
  read_set(file, "/frames/step", H5T_NATIVE_INT64, step, F);
  read_set(file, "/frames/body_count", H5T_NATIVE_INT, count, F);
  read_set(file, "/frames/contact_offset", H5T_NATIVE_INT64, offset, F + 1);
  read_set(file, "/bodies/first_frame", H5T_NATIVE_INT, first, N);
  read_set(file, "/bodies/last_frame", H5T_NATIVE_INT, last, N);
  read_set(file, "/bodies/kind", H5T_NATIVE_INT, kind, N);
  assert_int_equal(step[F - 1], 125);
  assert_true(time[F - 1] == scree_world_time(world));
  for (int b = 0; b < N; ++b) {
    const scree_Pose pose = scree_body_pose(world, b);
    assert_true(x[F - 1][b][0] == pose.position.x && x[F - 1][b][1] == pose.position.y);
    assert_true(q[F - 1][b][0] == pose.orientation.w && q[F - 1][b][3] == pose.orientation.z);
    assert_int_equal(kind[b], scree_body_shape(world, b)->kind);
    assert_int_equal(isnan(x[0][b][0]) != 0, first[b] > 0);
    if (first[b] > 0) assert_true(isnan(x[first[b] - 1][b][0]) && !isnan(x[first[b]][b][0]));
    const int64_t gone = scree_body_removed_step(world, b);
    assert_int_equal(last[b], gone < 0 ? F - 1 : gone / 5);
    for (int k = last[b] + 2; k < F; ++k) assert_memory_equal(x[k][b], x[k - 1][b], sizeof x[k][b]);
  }
  assert_int_equal(count[F - 1], N);
  assert_int_equal(offset[F] - offset[F - 1], scree_world_contact_count(world));
  const size_t contacts = (size_t)offset[F];
  double *local = calloc(3 * contacts, sizeof *local),
         *global = calloc(3 * contacts, sizeof *local);
  read_set(file, "/contacts/impulse", H5T_NATIVE_DOUBLE, local, 3 * contacts);
  read_set(file, "/contacts/impulse_world", H5T_NATIVE_DOUBLE, global, 3 * contacts);
  for (size_t c = 0; c < contacts; ++c)
    assert_true(
        fabs(hypot(local[3 * c], local[3 * c + 1]) - hypot(global[3 * c], global[3 * c + 1])) <=
        1e-12 * hypot(local[3 * c], local[3 * c + 1]));
  read_set(file, "/contacts/error", H5T_NATIVE_DOUBLE, local, contacts);
  for (int c = 0; c < scree_world_contact_count(world); ++c)
    assert_true(local[offset[F - 1] + c] == scree_world_contact(world, c).error);
  free(local);
  free(global);
  H5Fclose(file);
  scree_world_destroy(world);
}

static scree_Status create(const Fixture *f, const scree_Scene *scene, const char *name,
                           bool resume, bool replace) {
  char path[256];
  scree_RunSettings settings = scree_run_settings();
  settings.folder = folder(f, name, path);
  settings.resume = resume;
  settings.replace = replace;
  scree_Run *r = NULL;
  const scree_Status status = scree_run_create(scene, &settings, NULL, &r);
  scree_run_destroy(r);
  return status;
}

static void refusals(void **state) {
  const Fixture *f = *state;
  char path[256], file[320];
  run(f, "used", false, 5, false, 1);
  assert_int_equal(create(f, f->scene, "used", false, false), SCREE_BAD_INPUT);
  /* another scene */
  static const char *const sets[] = {"contact.mu=0.3", NULL};
  scree_Scene *other;
  assert_int_equal(scree_scene_parse(scene_text, strlen(scene_text), "s", sets, NULL, &other),
                   SCREE_OK);
  assert_int_equal(create(f, other, "used", true, false), SCREE_BAD_INPUT);
  assert_int_equal(create(f, f->scene, "used", true, false), SCREE_OK);
  /* a damaged checkpoint */
  snprintf(file, sizeof file, "%s/checkpoint.bin", folder(f, "used", path));
  size_t size;
  char *data = load(f, "used", "checkpoint.bin", &size);
  for (size_t at = 0; at < size; at += 1 + size / 40) {
    data[at] = (char)(data[at] ^ 1);
    assert_int_equal(scree_file_replace(file, data, size, NULL), SCREE_OK);
    assert_int_equal(create(f, f->scene, "used", true, false), SCREE_BAD_INPUT);
    data[at] = (char)(data[at] ^ 1);
  }
  assert_int_equal(scree_file_replace(file, data, size / 2, NULL), SCREE_OK);
  assert_int_equal(create(f, f->scene, "used", true, false), SCREE_BAD_INPUT);
  scree_free(data);
  assert_int_equal(create(f, other, "used", false, true), SCREE_OK);
  scree_scene_destroy(other);
  /* a folder that cannot be */
  snprintf(path, sizeof path, "%s/file", f->root);
  assert_int_equal(scree_file_replace(path, "x", 1, NULL), SCREE_OK);
  assert_int_equal(create(f, f->scene, "file", false, false), SCREE_BAD_INPUT);
}

/* A run keeps others out of its folder as long as it lives. */
static void locked(void **state) {
  const Fixture *f = *state;
  char path[256];
  scree_RunSettings settings = scree_run_settings();
  settings.folder = folder(f, "locked", path);
  scree_Run *r = NULL;
  assert_int_equal(scree_run_create(f->scene, &settings, NULL, &r), SCREE_OK);
  for (int k = 0; k < 7; ++k) assert_int_equal(scree_run_step(r, NULL), SCREE_OK);
  assert_int_equal(create(f, f->scene, "locked", false, true), SCREE_BAD_INPUT);
  assert_int_equal(create(f, f->scene, "locked", true, false), SCREE_BAD_INPUT);
  size_t size; /* a reader that comes and goes does not open the door */
  scree_free(load(f, "locked", "telemetry.jsonl", &size));
  assert_int_equal(create(f, f->scene, "locked", true, false), SCREE_BAD_INPUT);
  while (!scree_run_is_over(r)) assert_true(scree_run_step(r, NULL) <= SCREE_NOT_CONVERGED);
  assert_int_equal(scree_run_close(r), SCREE_OK);
  scree_run_destroy(r);
  assert_int_equal(create(f, f->scene, "locked", true, false), SCREE_OK);
  run(f, "alone", false, 0, false, 1);
  assert_same_file(f, "locked", "alone", "results.h5");
}

/* Results that are too large for memory are built on the disk, to the same content; when the disk
 * is full, the file of before stays and nothing else is left. */
static void large(void **state) {
  const Fixture *f = *state;
  char path[256], journal_path[320], small[320], big[320], part[330];
  run(f, "large", false, 100, false, 1);
  folder(f, "large", path);
  snprintf(journal_path, sizeof journal_path, "%s/frames.bin", path);
  snprintf(small, sizeof small, "%s/small.h5", path);
  snprintf(big, sizeof big, "%s/big.h5", path);
  snprintf(part, sizeof part, "%s.part", big);
  size_t size;
  scree_free(load(f, "large", "frames.bin", &size));
  scree_Journal journal;
  assert_int_equal(scree_journal_open(&journal, journal_path, (int64_t)size, NULL), SCREE_OK);
  scree_World *world;
  int order[16], poured = 0;
  assert_int_equal(scree_scene_build(f->scene, NULL, &world), SCREE_OK);
  for (int k = 0; k < 100; ++k) {
    assert_int_equal(scree_scene_remove(f->scene, world), SCREE_OK);
    assert_int_equal(scree_scene_pour(f->scene, world, order, &poured, NULL), SCREE_OK);
    assert_true(scree_world_step(world, NULL) <= SCREE_NOT_CONVERGED);
  }
  scree_ResultsMaterial materials[8];
  assert_true(scree_scene_info(f->scene).materials <= 8);
  const scree_ResultsHead head = scree_results_head(f->scene, materials);
  assert_int_equal(scree_results_write_within(small, &journal, &head, world, (int64_t)size, NULL),
                   SCREE_OK);
  assert_int_equal(scree_results_write_within(big, &journal, &head, world, (int64_t)size - 1, NULL),
                   SCREE_OK);
  assert_int_not_equal(access(part, F_OK), 0);
  size_t na, nb;
  char *a = load(f, "large", "small.h5", &na), *b = load(f, "large", "big.h5", &nb);
  char *c = load(f, "large", "results.h5", &size);
  print_message("results: %zu bytes from memory, %zu from the disk\n", na, nb);
  assert_int_equal(na, nb);
  assert_memory_equal(a, b, na);
  assert_int_equal(na, size);
  assert_memory_equal(a, c, na);
  /* a disk that is full */
  struct rlimit old, tight;
  char message[256] = "";
  const scree_Log log = {keep_message, message};
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  tight = old;
  tight.rlim_cur = na / 2;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  for (int k = 0; k < 2; ++k) {
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    const scree_Status status = scree_results_write_within(k ? big : small, &journal, &head, world,
                                                           k ? 0 : INT64_MAX, &log);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, SCREE_MACHINE);
    assert_non_null(strstr(message, "cannot be written"));
  }
  signal(SIGXFSZ, handler);
  assert_int_not_equal(access(part, F_OK), 0);
  scree_free(b);
  b = load(f, "large", "big.h5", &nb);
  assert_int_equal(na, nb);
  assert_memory_equal(a, b, na);
  scree_free(a);
  scree_free(b);
  scree_free(c);
  scree_journal_close(&journal);
  scree_world_destroy(world);
}

/* ---- sensors --------------------------------------------------------------------------------- */

/* Two balls of known mass: one rests on the floor, one falls past it and past a plane. `*` stands
 * for all bodies, those without a name too. */
static const char sensor_text[] =
    "materials: {light: {density: 100}, heavy: {density: 1000}}\ncontact: {mu: 0}\n"
    "obstacles:\n  - {name: floor, shape: {kind: box, half_x: 1, half_y: 1, half_z: 0.1}, "
    "position: [0, 0, -0.1]}\n"
    "bodies:\n  - {name: rests, shape: {kind: sphere, radius: 0.1}, mass: 2, position: [0, 0, "
    "0.1], material: light}\n"
    "  - {name: falls, shape: {kind: sphere, radius: 0.1}, mass: 3, position: [2, 0, 0.2], "
    "velocity: [0, 0.5, 0], angular_velocity: [1, 2, 3], material: heavy, group: 4}\n"
    "time: {step: 1e-3, duration: 0.4}\nsolver: {tolerance: 1e-10}\noutput: {checkpoint: 0}\n"
    "sensors:\n  - {kind: position, name: x, body: falls}\n"
    "  - {kind: velocity, name: v, body: 2}\n"
    "  - {kind: angular_velocity, name: w, body: falls}\n"
    "  - {kind: rotation, name: turn, body: falls}\n"
    "  - {kind: contact_force, name: floor, between: [floor, '*']}\n"
    "  - {kind: force, name: f, body: floor}\n"
    "  - {kind: distance, name: d, between: [rests, falls]}\n"
    "  - {kind: height, name: top}\n  - {kind: height, name: low, fraction: 0.5}\n"
    "  - {kind: flux, name: through, point: [2, 0, 0], normal: [0, 0, -2]}\n"
    "  - {kind: flux, name: near, point: [2, 0, 0], normal: [0, 0, 1], radius: 0.2}\n"
    "  - {kind: flux, name: far, point: [3, 0, 0], normal: [0, 0, -1], radius: 0.5}\n"
    "  - {kind: kinetic_energy, name: all}\n"
    "  - {kind: kinetic_energy, name: light, material: light}\n"
    "  - {kind: kinetic_energy, name: four, group: 4}\n";

static double curve_at(const scree_Replay *replay, const char *name, int row) {
  const scree_ReplayCurve *curve = scree_replay_curve(replay, name);
  assert_non_null(curve);
  return curve->values[row];
}

static double sum_of(const scree_Replay *replay, const char *name) {
  double sum = 0;
  for (int k = 0; k < replay->rows; ++k) sum += curve_at(replay, name, k);
  return sum;
}

static void sensors(void **state) {
  const Fixture *f = *state;
  Fixture own = *f;
  char path[256];
  assert_int_equal(scree_scene_parse(sensor_text, strlen(sensor_text), "s", NULL, NULL, &own.scene),
                   SCREE_OK);
  run(&own, "sensors", false, 0, false, 1);
  scree_Replay *replay;
  assert_int_equal(scree_replay_open(folder(f, "sensors", path), NULL, &replay), SCREE_OK);
  assert_int_equal(replay->rows, 400);
  const double g = 9.81, h = 1e-3;
  for (int k = 0; k < 400; ++k) {
    const double t = (k + 1) * h, z = 0.2 - 0.5 * g * t * t, y = 0.5 * t; /* leapfrog: exact */
    assert_true(fabs(curve_at(replay, "sensor.x.x", k) - 2) < 1e-12);
    assert_true(fabs(curve_at(replay, "sensor.x.y", k) - y) < 1e-12);
    assert_true(fabs(curve_at(replay, "sensor.x.z", k) - z) < 1e-12);
    assert_true(fabs(curve_at(replay, "sensor.v.z", k) + g * t) < 1e-12);
    assert_true(fabs(curve_at(replay, "sensor.w.y", k) - 2) < 1e-12);
    assert_true(fabs(curve_at(replay, "sensor.turn.x", k) - t) < 1e-12);
    assert_true(fabs(curve_at(replay, "sensor.turn.z", k) - 3 * t) < 1e-12);
    assert_true(fabs(curve_at(replay, "sensor.f.z", k) + 2 * g) < 1e-6);
    assert_true(fabs(curve_at(replay, "sensor.f.x", k)) < 1e-6);
    assert_true(curve_at(replay, "sensor.floor.z", k) == curve_at(replay, "sensor.f.z", k));
    assert_true(fabs(curve_at(replay, "sensor.d", k) - hypot(2, hypot(y, z - 0.1))) < 1e-9);
    assert_true(fabs(curve_at(replay, "sensor.top", k) - fmax(0.1, z)) < 1e-9);
    assert_true(fabs(curve_at(replay, "sensor.low", k) - fmin(0.1, z)) < 1e-9);
    const double spin = 0.5 * 0.4 * 3 * 0.01 * 14, fall = 1.5 * (0.25 + g * t * g * t);
    assert_true(fabs(curve_at(replay, "sensor.four", k) - spin - fall) < 1e-9);
    assert_true(fabs(curve_at(replay, "sensor.light", k)) < 1e-12);
    assert_true(curve_at(replay, "sensor.all", k) == curve_at(replay, "kinetic", k));
  }
  assert_true(fabs(h * sum_of(replay, "sensor.through") - 3) < 1e-12);
  assert_true(fabs(h * sum_of(replay, "sensor.near") + 3) < 1e-12);
  assert_true(sum_of(replay, "sensor.far") == 0);
  assert_null(scree_replay_curve(replay, "sensor.x"));
  scree_replay_close(replay);
  scree_scene_destroy(own.scene);
}

/* A glued beam that breaks at its root, a pendulum with a spring, a disk that sticks to the ground.
 */
static const char joint_text[] =
    "dimension: 2\ngravity: [0, -10]\nmaterials: {a: {density: 100}, clay: {density: 100}}\n"
    "pairs: [{between: [clay, clay], law: cohesive, cohesion: 100}]\n"
    "obstacles:\n  - {name: wall, shape: {kind: polygon, vertices: "
    "[[-0.1,-1],[0,-1],[0,1],[-0.1,1]]}}\n"
    "  - {name: ground, shape: {kind: half-plane}, position: [0, -2], material: clay}\n"
    "bodies:\n  - {name: bob, shape: {kind: disk, radius: 0.1}, position: [3, 0]}\n"
    "  - {name: lump, shape: {kind: disk, radius: 0.1}, position: [5, -1.9], material: clay}\n"
    "generators:\n  - {kind: lattice, name: 'b-{i}', count: [3, 1], spacing: 0.2, origin: [0.1, "
    "0], "
    "orientation: fixed,\n     shape: {kind: polygon, vertices: "
    "[[-0.1,-0.1],[0.1,-0.1],[0.1,0.1],[-0.1,0.1]]}}\n"
    "joints:\n  - {name: h, kind: hinge, bodies: [bob, world], anchor: [2, 0], stiffness: 3}\n"
    "bonds:\n  - {name: glue, between: ['*', 'b-*'], tension: 500, bending: 30}\n"
    "time: {step: 2e-3, duration: 0.1}\noutput: {every: 0.01, checkpoint: 0}\n"
    "sensors:\n  - {kind: bonds_intact, name: hold, bonds: glue}\n"
    "  - {kind: bonds_broken, name: broke}\n"
    "  - {kind: joint_force, name: pin, joint: h}\n";

static void joints(void **state) {
  const Fixture *f = *state;
  Fixture own = *f;
  char path[256];
  assert_int_equal(scree_scene_parse(joint_text, strlen(joint_text), "s", NULL, NULL, &own.scene),
                   SCREE_OK);
  run(&own, "joints", false, 0, false, 1);
  run(&own, "joints-parts", false, 7, false, 1);
  run(&own, "joints-parts", true, 13, true, 1);
  run(&own, "joints-parts", true, 0, false, 1);
  assert_same_file(f, "joints", "joints-parts", "results.h5");
  scree_Replay *replay;
  scree_ReplayFrame frame = {0};
  assert_int_equal(scree_replay_open(folder(f, "joints", path), NULL, &replay), SCREE_OK);
  assert_int_equal(scree_replay_read(replay, 0, &frame), SCREE_OK);
  assert_int_equal(frame.joints, 4);
  for (int k = 0; k < 4; ++k) assert_int_equal(frame.joint[k].status, SCREE_JOINT_HOLDS);
  assert_int_equal(scree_replay_read(replay, 10, &frame), SCREE_OK);
  const scree_ReplayJoint *hinge = &frame.joint[0], *root = &frame.joint[1];
  assert_int_equal(hinge->kind, SCREE_JOINT_HINGE);
  assert_int_equal(hinge->body[1], -1);
  assert_true(fabs(hinge->position[0] - 2) < 1e-5 && hinge->x < 0);
  assert_true(fabs(hinge->energy - 1.5 * hinge->x * hinge->x) < 1e-12);
  assert_true(hinge->force[1] == curve_at(replay, "sensor.pin.y", replay->rows - 1));
  assert_int_equal(root->kind, SCREE_JOINT_BOND);
  assert_int_equal(root->label, 1);
  assert_int_equal(root->status, SCREE_JOINT_BROKEN); /* 3 bricks: 36 N m, limit 30 */
  assert_true(root->plastic >= 2e-5);
  assert_int_equal(frame.joint[2].status, SCREE_JOINT_HOLDS);
  int bonded = 0;
  for (int c = 0; c < frame.contacts; ++c) bonded += frame.contact[c].bond == SCREE_BOND_INTACT;
  assert_int_equal(bonded, 1); /* the lump */
  assert_true(curve_at(replay, "sensor.hold", replay->rows - 1) == 2);
  assert_true(curve_at(replay, "sensor.broke", replay->rows - 1) == 1);
  scree_replay_frame_fini(&frame);
  scree_replay_close(replay);
  scree_scene_destroy(own.scene);
}

static void sensors_refused(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"{kind: force, name: a, body: flor}", "did you mean floor"},
      {"{kind: force, name: a, body: 7}", "nor is it a number from 0 to 0"},
      {"{kind: force, name: a b, body: 0}", "letters, digits"},
      {"{kind: force, name: a, body: 0}, {kind: height, name: a}", "two sensors"},
      {"{kind: flux, name: a, normal: [0, 0, 0]}", "other than zero"},
      {"{kind: kinetic_energy, name: a, material: wod}", "did you mean wood"},
      {"{kind: weight, name: a}", "weight"},
      {"{kind: height, name: a, fraction: 2}", "fraction"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
    char text[512], message[256] = "";
    const scree_Log log = {keep_message, message};
    scree_Scene *scene;
    snprintf(text, sizeof text,
             "materials: {wood: {}}\nobstacles: [{name: floor, shape: {kind: half-space}}]\n"
             "sensors: [%s]\n",
             wrong[k][0]);
    assert_int_equal(scree_scene_parse(text, strlen(text), "s", NULL, &log, &scene),
                     SCREE_BAD_INPUT);
    assert_null(scene);
    if (!strstr(message, wrong[k][1])) fail_msg("%s: %s", wrong[k][0], message);
  }
}

/* A record that is cut short or changed ends the journal. */
static void journal(void **state) {
  const Fixture *f = *state;
  char path[256], file[320];
  run(f, "journal", false, 60, false, 1);
  snprintf(file, sizeof file, "%s/frames.bin", folder(f, "journal", path));
  size_t size;
  char *data = load(f, "journal", "frames.bin", &size);
  int whole = -1;
  for (size_t k = 0; k < 12; ++k) {
    const size_t cut = k == 0 ? size : size * k / 12;
    assert_int_equal(scree_file_replace(file, data, cut, NULL), SCREE_OK);
    scree_Journal journal_;
    scree_Frame frame = {0};
    assert_int_equal(scree_journal_open(&journal_, file, (int64_t)cut, NULL), SCREE_OK);
    int frames = 0;
    int64_t offset = 0;
    for (bool end = false; !end; frames += !end)
      assert_int_equal(scree_journal_read(&journal_, &offset, &frame, &end, NULL), SCREE_OK);
    assert_true((size_t)offset <= cut);
    if (k == 0) whole = frames;
    if (k > 0) assert_true(frames < whole);
    scree_frame_fini(&frame);
    scree_journal_close(&journal_);
  }
  assert_int_equal(whole, 13);
  scree_free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(same_bits, setup, teardown),
                                     cmocka_unit_test_setup_teardown(content, setup, teardown),
                                     cmocka_unit_test_setup_teardown(refusals, setup, teardown),
                                     cmocka_unit_test_setup_teardown(locked, setup, teardown),
                                     cmocka_unit_test_setup_teardown(large, setup, teardown),
                                     cmocka_unit_test_setup_teardown(sensors, setup, teardown),
                                     cmocka_unit_test_setup_teardown(joints, setup, teardown),
                                     cmocka_unit_test(sensors_refused),
                                     cmocka_unit_test_setup_teardown(journal, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
