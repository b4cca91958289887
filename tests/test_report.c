/* Runs read back and written as pages, VTK files and pictures: what the reader returns is what the
 * documentation of results.h5 says is there; blocks give back the numbers that were put in, to the
 * precision of their level; sizes keep to the budget; damaged files are refused with a message.
 *
 * More than 600 lines: the checks of the page share one run and its reader. */
#define _XOPEN_SOURCE 700
#include "core/memory.h"
#include "replay_fixture.h"
#include "scree/view.h"
#include "view/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <unistd.h>
#include <zlib.h>

/* HDF5 asks for as much memory as a damaged file says, and loses some of its own on the way out. */
const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
  return "allocator_may_return_null=1";
}
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void) {
  return "leak:libhdf5";
}

static char folder[64];
static char message[1024];

static void keep_message(void *user, scree_LogLevel level, const char *text) {
  (void)user;
  (void)level;
  snprintf(message, sizeof message, "%s", text);
}

static const scree_Log quiet = {.write = keep_message};

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/scree-report-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

static scree_Replay *open_fixture(const Fixture *fixture) {
  scree_Replay *replay = NULL;
  fixture_write(folder, fixture);
  assert_int_equal(scree_replay_open(folder, &quiet, &replay), SCREE_OK);
  return replay;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void reads_what_is_documented(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    Fixture fixture = fixture_default();
    fixture.dimension = d;
    fixture.poured = 3;
    scree_Replay *replay = open_fixture(&fixture);
    assert_int_equal(replay->dimension, d);
    assert_int_equal(replay->body_count, fixture.bodies);
    assert_int_equal(replay->frame_count, fixture.frames);
    assert_int_equal(replay->material_count, 2);
    assert_string_equal(replay->materials[1], "steel");
    assert_true(replay->bodies[0].obstacle && isinf(replay->bodies[0].mass));
    assert_int_equal(replay->bodies[1].shape.kind, d == 2 ? SCREE_SHAPE_DISK : SCREE_SHAPE_SPHERE);
    assert_true(replay->bodies[1].shape.volume > 0.0);
    if (d == 2) assert_int_equal(replay->bodies[3].shape.vertex_count, 3);
    scree_ReplayFrame frame = {0};
    for (int k = 0; k < fixture.frames; ++k) {
      assert_int_equal(scree_replay_read(replay, k, &frame), SCREE_OK);
      assert_int_equal(frame.bodies, fixture_present(&fixture, k));
      assert_int_equal(frame.contacts, k ? frame.bodies - 1 : 0);
      for (int i = 1; i < frame.bodies; ++i)
        for (int c = 0; c < d; ++c) {
          assert_true(frame.position[3 * i + c] == fixture_x(&fixture, k, i, c));
          assert_true(frame.velocity[3 * i + c] == fixture_v(k, i, c));
        }
      if (k) assert_int_equal(frame.contact[1].body[0], 2);
    }
    assert_int_equal(scree_replay_read(replay, fixture.frames, &frame), SCREE_BAD_INPUT);
    scree_replay_frame_fini(&frame);
    assert_int_equal(scree_replay_nearest(replay, 0.031), 2);
    scree_replay_close(replay);
  }
}

/* The replay that scree_replay_open_again gives is that of a fresh one. */
static void check_again(scree_Replay **replay, int rows) {
  scree_Replay *again = NULL, *fresh = NULL;
  assert_int_equal(scree_replay_open_again(*replay, &quiet, &again), SCREE_OK);
  scree_replay_close(*replay);
  assert_int_equal(scree_replay_open(folder, &quiet, &fresh), SCREE_OK);
  assert_int_equal(again->rows, rows);
  assert_int_equal(fresh->rows, rows);
  assert_int_equal(again->curve_count, fresh->curve_count);
  for (int k = 0; k < again->curve_count; ++k) {
    assert_string_equal(again->curves[k].name, fresh->curves[k].name);
    for (int row = 0; row < rows; ++row) {
      const double a = again->curves[k].values[row], b = fresh->curves[k].values[row];
      assert_true(a == b || (isnan(a) && isnan(b)));
    }
  }
  assert_int_equal(again->certificate.above, fresh->certificate.above);
  assert_true(again->certificate.error == fresh->certificate.error);
  scree_replay_close(fresh);
  *replay = again;
}

static void write_telemetry(const char *mode, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/telemetry.jsonl", folder);
  FILE *file = fopen(path, mode);
  assert_non_null(file);
  if (strcmp(mode, "r+") == 0) assert_int_equal(fseek(file, 0, SEEK_SET), 0);
  fputs(text, file);
  fclose(file);
}

static void a_run_that_goes_on_is_read_on(void **state) {
  (void)state;
  Fixture fixture = fixture_default();
  scree_Replay *replay = open_fixture(&fixture);
  write_telemetry("a", "{\"step\": 121, \"time\": 0.121, \"error\": 1e-9, \"sensor.f\": 2}\n"
                       "{\"step\": 122, \"time\": 0.1");
  check_again(&replay, 121);
  write_telemetry("a", "22, \"error\": 0.5, \"sensor.f\": 3, \"certified\": false}\n");
  check_again(&replay, 122);
  check_again(&replay, 122);
  write_telemetry("a", "{\"step\": 123, \"time\": 0.123, \"error\": 1e-9}"); /* whole, no end */
  check_again(&replay, 123);
  write_telemetry("a", "\n{\"step\": 124, \"time\": 0.124, \"error\": 1e-9}\n");
  check_again(&replay, 124);
  /* A file that became another one is read from its begin: shorter, and as long. */
  write_telemetry("w", "{\"step\": 1, \"time\": 0.001, \"error\": 1e-9}\n");
  check_again(&replay, 1);
  write_telemetry("w", "{\"step\": 7, \"time\": 0.007, \"error\": 1e-9}\n"
                       "{\"step\": 8, \"time\": 0.008, \"error\": 1e-9}\n");
  check_again(&replay, 2);
  /* Lines that are known are not read again: a change of the first one is not seen. */
  write_telemetry("r+", "{\"step\": 6");
  scree_Replay *again = NULL;
  assert_int_equal(scree_replay_open_again(replay, &quiet, &again), SCREE_OK);
  assert_true(again->curves[1].values[0] == 7.0);
  scree_replay_close(again);
  scree_replay_close(replay);
}

static void curves_and_certificate(void **state) {
  (void)state;
  Fixture fixture = fixture_default();
  scree_Replay *replay = open_fixture(&fixture);
  assert_int_equal(replay->rows, 120);
  const scree_ReplayCurve *work = scree_replay_curve(replay, "work");
  assert_true(work && work->values[119] == 60.0); /* 120 steps of one half */
  assert_true(scree_replay_curve(replay, "dissipated")->values[9] == 5.0);
  /* Between frames 0 and 1 the packing fraction goes from 0.5 to 0.51. */
  assert_true(fabs(scree_replay_curve(replay, "packing_fraction")->values[9] - 0.505) < 1e-12);
  assert_null(scree_replay_curve(replay, "coordination"));
  scree_CertificateText text;
  scree_replay_verdict(replay, &text);
  assert_true(text.good);
  assert_non_null(strstr(text.verdict, "120 steps"));
  assert_int_equal(replay->certificate.penetration_step, 120);
  assert_int_equal(replay->certificate.worst[0], 3);
  scree_replay_close(replay);

  fixture.error = 3e-7;
  replay = open_fixture(&fixture);
  scree_replay_verdict(replay, &text);
  assert_false(text.good);
  assert_int_equal(replay->certificate.above, 1);
  assert_int_equal(replay->certificate.first_above, 120);
  assert_non_null(strstr(text.verdict, "Not certified"));
  scree_replay_close(replay);
}

/* A body that was taken away is missing from then on, and its numbers are not asked for. */
static void bodies_may_go(void **state) {
  (void)state;
  Fixture fixture = fixture_default();
  fixture.gone = 5;
  scree_Replay *replay = open_fixture(&fixture);
  scree_ReplayFrame frame = {0};
  for (int k = 0; k < fixture.frames; ++k) {
    assert_int_equal(scree_replay_read(replay, k, &frame), SCREE_OK);
    for (int i = 0; i < fixture.bodies; ++i) assert_int_equal(frame.present[i], i != 5 || k < 3);
  }
  frame.bodies_only = true;
  assert_int_equal(scree_replay_read(replay, 2, &frame), SCREE_OK);
  assert_int_equal(frame.contacts, 0);
  scree_replay_frame_fini(&frame);
  scree_replay_close(replay);
}

static void colours_of_scenes(void **state) {
  (void)state;
  const struct {
    const char *text;
    bool given;
    unsigned char rgb[3];
  } cases[] = {{"#c08040", true, {192, 128, 64}}, {"#F0a", true, {255, 0, 170}},
               {"teal", true, {0, 128, 128}},     {"", false, {0, 0, 0}},
               {"#12345", false, {0, 0, 0}},      {"#12345g", false, {0, 0, 0}},
               {"chartreuse?", false, {0, 0, 0}}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    const scree_ReplayColour colour = scree_replay_colour(cases[k].text);
    assert_int_equal(colour.given, cases[k].given);
    assert_memory_equal(colour.rgb, cases[k].rgb, 3);
  }
}

/* A ball squeezed by two others with force F at both ends of a diameter along x, and by the floor
 * with force G from below, rubbed there by G/2: sum f.arm = -2 F R - G R, so that the pressure is
 * (2 F + G) R / (3 V); the rubbing is across the arm. The outer balls have one contact each. */
static void pressure_by_hand(void **state) {
  (void)state;
  scree_Replay *replay = NULL;
  assert_int_equal(scree_replay_create(4, 0, &quiet, &replay), SCREE_OK);
  replay->h = 0.01;
  const double r = 0.5, f = 7.0, g = 3.0, volume = 4.0 / 3.0 * 3.14159265358979323846 * r * r * r;
  for (int i = 0; i < 4; ++i) {
    const double none[3] = {0};
    const scree_ShapeKind kind = i ? SCREE_SHAPE_SPHERE : SCREE_SHAPE_HALF_SPACE;
    assert_int_equal(
        scree_shape_init(&replay->bodies[i].shape, kind, i ? &r : none, NULL, 0, &quiet), SCREE_OK);
    replay->bodies[i].obstacle = i == 0;
  }
  double position[12] = {0, 0, -0.5, 2, 3, 0, 3, 3, 0, 1, 3, 0}; /* the floor, three in a row */
  double pressure[4];
  scree_ReplayContact contact[3] = {
      {.body = {1, 2}, .position = {2.5, 3, 0}, .impulse = {-f * replay->h, 0, 0}},
      {.body = {3, 1}, .position = {1.5, 3, 0}, .impulse = {-f * replay->h, 0, 0}},
      {.body = {1, 0},
       .position = {2, 3, -0.5},
       .impulse = {0.5 * g * replay->h, 0, g * replay->h}}};
  const scree_ReplayFrame frame = {
      .bodies = 4, .position = position, .contacts = 3, .contact = contact};
  scree_replay_pressure(replay, &frame, pressure);
  assert_true(pressure[0] == 0.0);
  assert_true(fabs(pressure[1] - (2.0 * f + g) * r / (3.0 * volume)) <= 1e-12 * pressure[1]);
  for (int i = 2; i < 4; ++i)
    assert_true(fabs(pressure[i] - f * r / (3.0 * volume)) <= 1e-12 * pressure[i]);
  scree_replay_close(replay);
}

static void extent_is_finite(void **state) {
  (void)state;
  const double scales[] = {1.0, 1e-9, 1e120}, offsets[] = {0.0, 1e6, 1e150};
  for (int s = 0; s < 3; ++s)
    for (int o = 0; o < 3; ++o) {
      Fixture fixture = fixture_default();
      fixture.all_shapes = false;
      fixture.scale = s == 2 ? 1e50 : scales[s]; /* the fifth power must be finite */
      fixture.offset = offsets[o];
      scree_Replay *replay = open_fixture(&fixture);
      scree_ReplayExtent extent;
      assert_int_equal(scree_replay_extent(replay, -1, &extent), SCREE_OK);
      assert_true(extent.length > 0.0 && isfinite(extent.length));
      for (int c = 0; c < 3; ++c) assert_true(extent.lower[c] <= extent.upper[c]);
      assert_true(extent.up[2] == 1.0);
      scree_replay_close(replay);
    }
}

/* A body a million times as far away as the others are from each other does not make these small.
 */
static void extent_leaves_strays_out(void **state) {
  (void)state;
  scree_Replay *replay = NULL;
  Fixture fixture = fixture_default();
  replay = open_fixture(&fixture);
  scree_ReplayExtent all, stray;
  assert_int_equal(scree_replay_extent(replay, 2, &all), SCREE_OK);
  scree_replay_close(replay);
  fixture.stray = 1e6;
  replay = open_fixture(&fixture);
  for (int only = -1; only < 3; only += 3) {
    assert_int_equal(scree_replay_extent(replay, only, &stray), SCREE_OK);
    assert_true(stray.length < 4.0 * all.length);
  }
  scree_replay_close(replay);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The page's decoder, written again: value of a column of an inflated block. */
static double decode(const unsigned char *raw, const char *name, size_t frame, size_t component,
                     size_t item) {
  static const size_t widths[] = {1, 1, 2, 2, 4, 4, 8};
  uint32_t columns;
  memcpy(&columns, raw + 4, 4);
  for (const unsigned char *at = raw + 8; columns-- > 0;) {
    uint32_t frames, count;
    double scale, offset[3];
    const size_t width = widths[at[64]], components = at[65];
    memcpy(&frames, at + 68, 4), memcpy(&count, at + 72, 4);
    memcpy(&scale, at + 80, 8), memcpy(offset, at + 88, 24);
    const size_t per = components * count, total = per * frames;
    if (strcmp((const char *)at, name) != 0) {
      at += 112 + total * width;
      continue;
    }
    uint64_t word = 0, previous = 0, before = 0;
    for (size_t f = 0; f <= frame; ++f) {
      const size_t k = (f * components + component) * count + item;
      uint64_t bits = 0;
      for (size_t b = 0; b < width; ++b) bits |= (uint64_t)at[112 + b * total + k] << (8 * b);
      const int op = at[66];
      if (op >= 2) bits = bits >> 1 ^ (bits & 1 ? UINT64_MAX : 0);
      word = op == 1   ? bits ^ previous
             : op == 2 ? bits + previous
             : op == 3 ? bits + (f > 1 ? 2 * previous - before : previous)
                       : bits;
      if (width < 8) word &= ((uint64_t)1 << (8 * width)) - 1;
      before = previous, previous = word;
    }
    double q = (double)word;
    if (at[64] == SCREE_COLUMN_I8) q = (int8_t)word;
    if (at[64] == SCREE_COLUMN_I16) q = (int16_t)word;
    if (at[64] == SCREE_COLUMN_F64) memcpy(&q, &word, 8);
    if (at[64] == SCREE_COLUMN_F32) {
      const uint32_t small = (uint32_t)word;
      float single;
      memcpy(&single, &small, 4);
      q = (double)single;
    }
    return (component < 3 ? offset[component] : 0.0) + scale * (at[67] ? q * fabs(q) : q);
  }
  fail_msg("no column %s", name);
  return NAN;
}

static unsigned char *inflated(scree_PageBlock *block) {
  unsigned char *packed, *raw = malloc(1 << 22);
  size_t size;
  uLongf length = 1 << 22;
  assert_int_equal(scree_block_end(block, &quiet, &packed, &size), SCREE_OK);
  assert_int_equal(uncompress(raw, &length, packed, (uLong)size), Z_OK);
  assert_int_equal(memcmp(raw, "SCB2", 4), 0);
  scree_free(packed);
  return raw;
}

static void blocks_give_back_the_numbers(void **state) {
  (void)state;
  Fixture fixture = fixture_default();
  scree_Replay *replay = open_fixture(&fixture);
  const scree_ReportSettings settings = scree_report_settings();
  /* Relative to: the value, the extent, the smallest body. */
  const double tolerance[] = {0.0, 1e-7, 1.0 / 256.0};
  scree_PageBlock block = {0};
  for (int level = 0; level < 3; ++level) {
    scree_ReportPlan plan;
    assert_int_equal(scree_report_plan(replay, &settings, 1e9, &plan), SCREE_OK);
    assert_int_equal(plan.level, SCREE_REPORT_EXACT);
    plan.level = (scree_ReportLevel)level;
    assert_int_equal(scree_report_frames(replay, &plan, 0, &block), SCREE_OK);
    unsigned char *raw = inflated(&block);
    for (int k = 0; k < fixture.frames; ++k)
      for (int i = 1; i < fixture.bodies; ++i) {
        double speed = 0.0;
        for (int c = 0; c < 3; ++c) {
          const double x = decode(raw, "position", (size_t)k, (size_t)c, (size_t)i);
          const double scale = level == 1 ? plan.extent.length : plan.smallest;
          assert_true(fabs(x - fixture_x(&fixture, k, i, c)) <= tolerance[level] * scale * 1.01);
          speed = hypot(speed, fixture_v(k, i, c));
          if (level < 2) {
            const double v = decode(raw, "velocity", (size_t)k, (size_t)c, (size_t)i);
            assert_true(fabs(v - fixture_v(k, i, c)) <= tolerance[level] * fabs(v));
          }
        }
        if (level == 2) {
          const double found = decode(raw, "speed", (size_t)k, 0, (size_t)i);
          /* Half of the widest of 63 steps of the square curve. */
          assert_true(fabs(found - speed) <= 1.01 / 63.0 * plan.speed_max);
        }
      }
    free(raw);
    assert_int_equal(scree_report_contacts(replay, &plan, 3, &block), SCREE_OK);
    raw = inflated(&block);
    assert_true(decode(raw, "a", 0, 0, 4) == 5.0 && decode(raw, "b", 0, 0, 4) == 4.0);
    assert_true(decode(raw, "status", 0, 0, 4) == 1.0);
    assert_true(fabs(decode(raw, "r", 0, 0, 4) - 5.0) <= (level == 2 ? 0.05 : 1e-6));
    free(raw);
    scree_report_plan_fini(&plan);
  }
  scree_block_fini(&block);
  scree_replay_close(replay);
}

/* ---- pages ----------------------------------------------------------------------------------- */

static char *load(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  char *text = calloc(1, (size_t)size + 1);
  assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
  fclose(file);
  return text;
}

static void page_is_whole_and_within_budget(void **state) {
  (void)state;
  size_t page;
  if (!scree_report_page(&page)) skip();
  Fixture fixture = fixture_default();
  fixture.bodies = 400;
  fixture.frames = 20;
  scree_Replay *replay = open_fixture(&fixture);
  char path[128];
  snprintf(path, sizeof path, "%s/page.html", folder);
  scree_ReportSettings settings = scree_report_settings();
  scree_ReportInfo info;
  int last_level = 0;
  const double budgets[] = {30e6, (double)page + 1.2e6, (double)page + 4e5, (double)page + 1.2e5};
  for (int k = 0; k < 4; ++k) {
    settings.budget = budgets[k];
    assert_int_equal(scree_report_write(replay, &settings, path, &info), SCREE_OK);
    assert_true((double)info.bytes <= budgets[k]);
    assert_true((int)info.level >= last_level);
    assert_true(info.frames >= 1 && info.frames <= 20);
    last_level = (int)info.level;
    char *text = load(path);
    assert_non_null(text);
    assert_int_equal(strlen(text), info.bytes);
    assert_non_null(strstr(text, "id=\"scree-meta\""));
    assert_non_null(strstr(text, "</html>"));
    /* The title of the fixture must not have ended the script that holds it. */
    assert_null(strstr(text, "A test </script>"));
    assert_non_null(strstr(text, "A test \\u003c/script\\u003e \\u0026 \\\"quotes\\\""));
    free(text);
  }
  assert_int_equal(last_level, SCREE_REPORT_COMPACT);
  settings.budget = 1e4;
  assert_int_equal(scree_report_write(replay, &settings, path, &info), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "budget"));
  settings = scree_report_settings();
  settings.frames = 5;
  assert_int_equal(scree_report_write(replay, &settings, path, &info), SCREE_OK);
  assert_int_equal(info.frames, 5);
  snprintf(path, sizeof path, "%s/no/such/page.html", folder);
  assert_int_equal(scree_report_write(replay, &settings, path, &info), SCREE_MACHINE);
  scree_replay_close(replay);
}

static void few_frames_are_enough(void **state) {
  (void)state;
  size_t page;
  if (!scree_report_page(&page)) skip();
  char path[128];
  snprintf(path, sizeof path, "%s/page.html", folder);
  for (int frames = 0; frames <= 1; ++frames) {
    Fixture fixture = fixture_default();
    fixture.frames = frames;
    scree_Replay *replay = open_fixture(&fixture);
    const scree_ReportSettings settings = scree_report_settings();
    scree_ReportInfo info;
    assert_int_equal(scree_report_write(replay, &settings, path, &info), SCREE_OK);
    assert_int_equal(info.frames, frames);
    scree_CertificateText text;
    scree_replay_verdict(replay, &text);
    assert_false(text.good); /* nothing was stepped: nothing is certified */
    scree_replay_close(replay);
  }
}

/* A file cut anywhere is refused, or read with what is left; it never crashes. */
static void damaged_files_are_refused(void **state) {
  (void)state;
  Fixture fixture = fixture_default();
  fixture_write(folder, &fixture);
  char path[128];
  snprintf(path, sizeof path, "%s/results.h5", folder);
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  FILE *file = fopen(path, "rb");
  unsigned char *bytes = malloc((size_t)info.st_size);
  assert_int_equal(fread(bytes, 1, (size_t)info.st_size, file), (size_t)info.st_size);
  fclose(file);
  for (int k = 0; k < 12; ++k) {
    file = fopen(path, "wb");
    fwrite(bytes, 1, (size_t)(info.st_size * k / 12), file);
    fclose(file);
    scree_Replay *replay;
    message[0] = 0;
    assert_int_equal(scree_replay_open(folder, &quiet, &replay), SCREE_BAD_INPUT);
    assert_null(replay);
    assert_true(message[0] != 0);
  }
  /* Bytes turned over: refused somewhere, or read as other numbers. */
  unsigned seed = 7;
  for (int k = 0; k < 25; ++k) {
    unsigned char *copy = malloc((size_t)info.st_size);
    memcpy(copy, bytes, (size_t)info.st_size);
    for (int m = 0; m < 6; ++m) {
      seed = seed * 1664525u + 1013904223u;
      copy[seed % (unsigned)(info.st_size < 8192 ? info.st_size : 8192)] ^=
          (unsigned char)(seed >> 16);
    }
    file = fopen(path, "wb");
    fwrite(copy, 1, (size_t)info.st_size, file);
    fclose(file);
    free(copy);
    scree_Replay *replay = NULL;
    if (scree_replay_open(folder, &quiet, &replay) == SCREE_OK) {
      scree_ReplayFrame frame = {0};
      for (int f = 0; f < replay->frame_count && f < 20; ++f)
        (void)scree_replay_read(replay, f, &frame);
      scree_replay_frame_fini(&frame);
      scree_replay_close(replay);
    }
  }
  free(bytes);
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* A single sphere in the middle of the view: its outline is a circle, the corners are background.
 */
static void picture_shows_the_bodies(void **state) {
  (void)state;
  for (int d = 2; d <= 4; ++d) {
    Fixture fixture = fixture_default();
    fixture.dimension = d < 4 ? d : 3;
    if (d == 4) fixture.scale = 1e45; /* beyond single precision */
    scree_Replay *replay = open_fixture(&fixture);
    scree_RenderSettings settings = scree_render_settings();
    settings.width = 160, settings.height = 120;
    settings.colour = SCREE_RENDER_MATERIAL;
    scree_ReplayExtent extent;
    scree_ReplayFrame frame = {0};
    static unsigned char pixels[2][160 * 120 * 3];
    assert_int_equal(scree_replay_extent(replay, -1, &extent), SCREE_OK);
    for (int k = 0; k < 2; ++k) {
      settings.chains = k == 1;
      assert_int_equal(scree_replay_read(replay, 2, &frame), SCREE_OK);
      assert_int_equal(scree_render(replay, &frame, &extent, &settings, pixels[k]), SCREE_OK);
    }
    /* Two materials, one with the scene's blue, one with our orange; grey obstacles too. */
    int blue = 0, orange = 0;
    for (int p = 0; p < 160 * 120; ++p) {
      const unsigned char *c = pixels[0] + 3 * p;
      blue += c[2] > c[0] + 40;
      orange += c[0] > c[2] + 40;
    }
    assert_true(blue > 200 && orange > 200);
    int red = 0;
    for (int p = 0; p < 160 * 120; ++p)
      red += pixels[1][3 * p] > pixels[1][3 * p + 1] + 60 &&
             pixels[1][3 * p] > pixels[1][3 * p + 2] + 60;
    assert_true(red > 20);
    char path[128];
    snprintf(path, sizeof path, "%s/picture.png", folder);
    assert_int_equal(scree_png_write(path, 160, 120, pixels[0], &quiet), SCREE_OK);
    scree_replay_frame_fini(&frame);
    scree_replay_close(replay);
  }
}

/* ---- VTK ------------------------------------------------------------------------------------- */

static void vtk_series_are_written(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    Fixture fixture = fixture_default();
    fixture.dimension = d;
    scree_Replay *replay = open_fixture(&fixture);
    int written = 0;
    assert_int_equal(scree_vtk_write(replay, folder, 2, true, &written), SCREE_OK);
    assert_int_equal(written, 4);
    assert_int_equal(scree_vtk_write(replay, folder, 0, false, NULL), SCREE_BAD_INPUT);
    char path[128];
    snprintf(path, sizeof path, "%s/contacts.pvd", folder);
    char *text = load(path);
    assert_non_null(strstr(text, "contacts_000006.vtp"));
    assert_null(strstr(text, "contacts_000001.vtp"));
    free(text);
    scree_replay_close(replay);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(reads_what_is_documented, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(curves_and_certificate, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(a_run_that_goes_on_is_read_on, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(bodies_may_go, make_folder, remove_folder),
      cmocka_unit_test(colours_of_scenes),
      cmocka_unit_test(pressure_by_hand),
      cmocka_unit_test_setup_teardown(extent_is_finite, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(extent_leaves_strays_out, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(blocks_give_back_the_numbers, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(page_is_whole_and_within_budget, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(few_frames_are_enough, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(damaged_files_are_refused, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(picture_shows_the_bodies, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(vtk_series_are_written, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
