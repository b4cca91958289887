/* A world that is built by calls, recorded into the folder of a run: read back it is the world; a
 * recorder that is resumed gives the same bytes; page, picture and VTK files are made of it. */
#define _XOPEN_SOURCE 700
#include "test_world_heap.h"

#include "scree/run.h"
#include "scree/view.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where) {
  (void)info, (void)type, (void)where;
  return remove(path);
}

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/scree-recorder-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *in_folder(const char *name) {
  static char path[4][256];
  static int next;
  char *at = path[next++ % 4];
  snprintf(at, sizeof path[0], "%s/%s", folder, name);
  return at;
}

static char *load(const char *path, size_t *size) {
  struct stat info;
  FILE *file = fopen(path, "rb");
  assert_true(file && fstat(fileno(file), &info) == 0);
  *size = (size_t)info.st_size;
  char *data = malloc(*size + 1);
  assert_non_null(data);
  assert_int_equal(fread(data, 1, *size, file), *size);
  fclose(file);
  return data;
}

static scree_Recorder *record(const scree_World *world, const char *name, bool resume) {
  static const char *const materials[] = {"grain"};
  scree_RecorderSettings settings = scree_recorder_settings();
  scree_Recorder *recorder;
  settings.folder = in_folder(name);
  settings.title = "a heap";
  settings.material_names = materials;
  settings.resume = resume;
  OK(scree_recorder_create(world, &settings, &test_log, &recorder));
  return recorder;
}

/* Steps up to `last`, each with its line, and a frame after every tenth. */
static void step(scree_World *world, scree_Recorder *recorder, int last) {
  if (scree_world_steps(world) % 10 == 0) OK(scree_recorder_frame(recorder));
  while (scree_world_steps(world) < last) {
    scree_StepReport report;
    assert_true(scree_world_step(world, &report) <= SCREE_NOT_CONVERGED);
    report.seconds_detect = report.seconds_build = report.seconds_solve = report.seconds_move =
        report.seconds_certify = 0; /* the clock is not the same */
    OK(scree_recorder_step(recorder, &report));
    if (scree_world_steps(world) % 10 == 0) OK(scree_recorder_frame(recorder));
  }
}

static void what_is_read_is_the_world(void **state) {
  (void)state;
  scree_World *world = heap(2, "moreau-jean", 12, 1);
  scree_Recorder *recorder = record(world, "whole", false);
  step(world, recorder, 40);
  int other;
  OK(scree_world_add_material(world, &other)); /* bodies and materials may come on the way */
  scree_BodyDef late = at(0, 3, 0);
  late.material = other;
  add_disk(world, 0.1, late);
  step(world, recorder, 80);
  assert_int_equal(scree_recorder_frames(recorder), 9);
  OK(scree_recorder_write(recorder, true));
  assert_int_equal(scree_recorder_frame(recorder), SCREE_BAD_INPUT);
  scree_recorder_destroy(recorder);
  assert_int_not_equal(access(in_folder("whole/frames.bin"), F_OK), 0);

  scree_Replay *replay;
  scree_ReplayFrame frame = {0};
  OK(scree_replay_open(in_folder("whole"), &test_log, &replay));
  const scree_ReplayInfo info = scree_replay_info(replay);
  assert_string_equal(info.title, "a heap");
  assert_int_equal(info.dimension, 2);
  assert_int_equal(info.frames, 9);
  assert_int_equal(info.bodies, scree_world_body_count(world));
  assert_int_equal(info.materials, 2);
  assert_int_equal(info.rows, 80);
  assert_int_equal(info.steps[8], 80);
  assert_true(info.gravity.y == -9.81 && info.step == 2e-3 && !info.note[0]);
  assert_string_equal(scree_replay_material(replay, 0), "grain");
  assert_string_equal(scree_replay_material(replay, 1), "material 1");
  assert_null(scree_replay_material(replay, 2));
  assert_null(scree_replay_body(replay, info.bodies));
  assert_true(scree_replay_body(replay, 0)->obstacle);
  assert_int_equal(scree_replay_read(replay, 9, &frame), SCREE_BAD_INPUT);
  OK(scree_replay_read(replay, 4, &frame));
  assert_int_equal(frame.bodies, info.bodies - 1);
  OK(scree_replay_read(replay, 8, &frame));
  for (int b = 0; b < info.bodies; ++b) {
    const scree_Pose pose = scree_body_pose(world, b);
    const scree_Twist v = scree_body_velocity(world, b);
    assert_true(frame.position[3 * b] == pose.position.x &&
                frame.position[3 * b + 1] == pose.position.y);
    assert_true(frame.orientation[4 * b + 3] == pose.orientation.z);
    assert_true(frame.velocity[3 * b] == v.linear.x && frame.angular[3 * b + 2] == v.angular.z);
    assert_int_equal(scree_replay_body(replay, b)->material, scree_body_material(world, b));
  }
  assert_int_equal(frame.contacts, scree_world_contact_count(world));
  assert_true(frame.contacts > 0);
  for (int c = 0; c < frame.contacts; ++c) {
    const scree_Contact contact = scree_world_contact(world, c);
    assert_int_equal(frame.contact[c].status, contact.status);
    assert_true(frame.contact[c].r[0] == contact.r[0] && frame.contact[c].gap == contact.gap);
  }
  const scree_ReplayCurve *time = scree_replay_curve(replay, "time");
  assert_ptr_equal(time, scree_replay_curve_at(replay, 0));
  assert_null(scree_replay_curve_at(replay, info.curves));
  assert_true(time->values[79] == scree_world_time(world));
  assert_int_equal(scree_replay_certificate(replay)->steps, 80);
  scree_CertificateText text;
  scree_replay_verdict(replay, &text);
  assert_true(strlen(text.verdict) > 0);

  /* and it can be shown */
  scree_RenderSettings render = scree_render_settings();
  scree_ReplayExtent extent;
  render.width = 64;
  render.height = 40;
  unsigned char *pixels = malloc(3 * 64 * 40);
  assert_non_null(pixels);
  OK(scree_replay_extent(replay, 8, &extent));
  OK(scree_render(replay, &frame, &extent, &render, pixels));
  OK(scree_png_write(in_folder("whole/picture.png"), 64, 40, pixels, &test_log));
  free(pixels);
  const scree_ReportSettings page = scree_report_settings();
  OK(scree_report_write(replay, &page, in_folder("whole/page.html"), NULL));
  int written = 0;
  assert_int_equal(mkdir(in_folder("whole/vtk"), 0777), 0);
  OK(scree_vtk_write(replay, in_folder("whole/vtk"), 2, false, &written));
  assert_int_equal(written, 5);
  scree_replay_frame_fini(&frame);
  scree_replay_close(replay);
  scree_world_destroy(world);
}

static void assert_same_file(const char *a, const char *b) {
  size_t na, nb;
  char *first = load(a, &na), *second = load(b, &nb);
  assert_int_equal(na, nb);
  assert_memory_equal(first, second, na);
  free(first);
  free(second);
}

static void resumed_is_the_same(void **state) {
  (void)state;
  scree_World *world = heap(2, "moreau-jean", 12, 1);
  scree_Recorder *recorder = record(world, "straight", false);
  step(world, recorder, 60);
  OK(scree_recorder_write(recorder, true));
  scree_recorder_destroy(recorder);
  scree_world_destroy(world);

  world = heap(2, "moreau-jean", 12, 1);
  recorder = record(world, "cut", false);
  step(world, recorder, 25);
  size_t size;
  void *saved = save(world, &size);
  step(world, recorder, 47); /* lost: the program ends here */
  OK(scree_recorder_write(recorder, false));
  scree_recorder_destroy(recorder);
  scree_world_destroy(world);

  world = heap(2, "moreau-jean", 12, 1);
  OK(scree_world_restore(world, saved, size));
  recorder = record(world, "cut", true);
  assert_int_equal(scree_recorder_frames(recorder), 3);
  step(world, recorder, 60);
  OK(scree_recorder_write(recorder, true));
  scree_recorder_destroy(recorder);
  assert_same_file(in_folder("straight/results.h5"), in_folder("cut/results.h5"));
  assert_same_file(in_folder("straight/telemetry.jsonl"), in_folder("cut/telemetry.jsonl"));

  /* a folder that holds a run */
  scree_RecorderSettings settings = scree_recorder_settings();
  settings.folder = in_folder("cut");
  assert_int_equal(scree_recorder_create(world, &settings, NULL, &recorder), SCREE_BAD_INPUT);
  assert_null(recorder);
  settings.resume = true; /* it is finished */
  assert_int_equal(scree_recorder_create(world, &settings, NULL, &recorder), SCREE_BAD_INPUT);
  settings.resume = false;
  settings.replace = true;
  OK(scree_recorder_create(world, &settings, &test_log, &recorder));
  assert_int_not_equal(access(in_folder("cut/results.h5"), F_OK), 0);
  scree_recorder_destroy(recorder);
  settings.compression = 10;
  assert_int_equal(scree_recorder_create(world, &settings, NULL, &recorder), SCREE_BAD_INPUT);
  free(saved);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_read_is_the_world),
                                     cmocka_unit_test(resumed_is_the_same)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
