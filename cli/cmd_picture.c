/* `scree picture`: one frame as a picture, or all as a film, without a display. */
#define _POSIX_C_SOURCE 200809L
#include "cli/args.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "scree/view.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const colour_names[] = {"velocity", "angular", "size", "material",
                                           "id",       "stress",  NULL};

static const char *const look_names[] = {"solid", "ghost", "hidden", NULL};

/* Directions towards the eye along front, side and up of the scene: as on the page. */
static const struct {
  const char *name;
  double from[3];
} views[] = {{"oblique", {0.85, 0.42, 0.36}},
             {"front", {1, 0, 0}},
             {"side", {0, 1, 0}},
             {"back", {-1, 0, 0}},
             {"top", {0.001, 0, 1}},
             {"above", {0.6, 0.3, 1}}};
static const char *const view_names[] = {"oblique", "front", "side", "back", "top", "above", NULL};

typedef struct Picture {
  const char *directory, *output, *movie;
  double at;
  int width, height, colour, rate, view, bodies, obstacles;
  const char *camera; /* "x,y,z" of the eye, and of the point it looks at */
  double place[6], zoom;
  bool chains, software, placed;
} Picture;

/* ---- by a browser ---------------------------------------------------------------------------- */

/* Remove the folder that the browser filled. Only ever called on a folder mkdtemp made. */
static void remove_folder(char *path) {
  static const char *const names[] = {"rm", NULL};
  char *program = cli_find_program(names);
  if (!program) return;
  char *const arguments[] = {program, (char *)"-rf", (char *)"--", path, NULL};
  const pid_t child = cli_start(arguments, NULL, NULL);
  if (child > 0) (void)cli_wait(child, 20.0);
  free(program);
}

/* Value of a digit of base64, -1 for none. */
static int digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decode the picture that the page holds as base64 text and write it to a file. */
static bool extract(const char *dom, const char *output) {
  static const char mark[] = "id=\"scree-picture\"";
  FILE *from = fopen(dom, "rb");
  if (!from) return false;
  fseek(from, 0, SEEK_END);
  const long size = ftell(from);
  rewind(from);
  char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
  bool good = text && fread(text, 1, (size_t)size, from) == (size_t)size;
  fclose(from);
  if (good) text[size] = 0;
  /* The mark also occurs in the script of the page: the element is the last occurrence. */
  const char *at = NULL;
  for (const char *next = good ? strstr(text, mark) : NULL; next; next = strstr(next + 1, mark))
    at = next;
  at = at ? strchr(at, '>') : NULL;
  good = at && strncmp(at + 1, "iVBORw0KGgo", 11) == 0; /* signature of PNG files */
  FILE *to = good ? fopen(output, "wb") : NULL;
  good = to != NULL;
  unsigned word = 0, bits = 0;
  if (good) ++at;
  for (; good && digit(*at) >= 0; ++at) {
    word = word << 6 | (unsigned)digit(*at);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    fputc((int)(word >> bits & 255), to);
  }
  if (to && (ferror(to) || fclose(to) != 0)) good = false;
  free(text);
  return good;
}

/* Draw a page with this frame alone in Chromium. False when there is no browser or it failed. */
static bool browse(scree_Replay *replay, int frame, const Picture *picture) {
  static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", NULL};
  char *browser = cli_find_program(names);
  if (!browser) return false;
  const char *base = getenv("TMPDIR");
  char folder[512], page[600], dom[600], address[1024], data[640];
  snprintf(folder, sizeof folder, "%s/scree-picture-XXXXXX", base && *base ? base : "/tmp");
  bool good = mkdtemp(folder) != NULL;
  if (good) {
    snprintf(page, sizeof page, "%s/page.html", folder);
    snprintf(dom, sizeof dom, "%s/dom.html", folder);
    const int length = snprintf(
        address, sizeof address,
        "file://"
        "%s#picture&theme=light&scale=run&size=%d,%d&colour=%s&bodies=%s&obstacles=%s&view=%s"
        "&zoom=%g%s",
        page, picture->width, picture->height, colour_names[picture->colour],
        look_names[picture->bodies], look_names[picture->obstacles], view_names[picture->view],
        picture->zoom, picture->chains ? "&chains" : "");
    const double *p = picture->place;
    if (picture->placed && length > 0 && length < (int)sizeof address)
      snprintf(address + length, sizeof address - (size_t)length,
               "&eye=%.9g,%.9g,%.9g&target=%.9g,%.9g,%.9g", p[0], p[1], p[2], p[3], p[4], p[5]);
    snprintf(data, sizeof data, "--user-data-dir=%s/profile", folder);
    scree_ReportSettings settings = scree_report_settings();
    settings.budget = 500e6;
    settings.only = frame;
    good = scree_report_write(replay, &settings, page, NULL) == SCREE_OK;
    /* Chromium's sandbox does not work for root; the page is our own. */
    const char *arguments[] = {browser,
                               "--headless",
                               "--disable-gpu",
                               "--use-angle=swiftshader",
                               "--enable-unsafe-swiftshader",
                               "--no-first-run",
                               "--disable-background-networking",
                               "--disable-component-update",
                               "--disable-sync",
                               "--disable-quic",
                               "--disable-extensions",
                               "--virtual-time-budget=10000",
                               data,
                               "--dump-dom",
                               address,
                               geteuid() == 0 ? "--no-sandbox" : NULL,
                               NULL};
    const pid_t child = good ? cli_start((char *const *)(const void *)arguments, NULL, dom) : -1;
    good = child > 0 && cli_wait(child, 90.0) && extract(dom, picture->output);
    remove_folder(folder);
  }
  free(browser);
  return good;
}

/* ---- by ourselves ---------------------------------------------------------------------------- */

static scree_RenderSettings render_settings(const Picture *picture) {
  scree_RenderSettings settings = scree_render_settings();
  settings.width = picture->width;
  settings.height = picture->height;
  settings.colour = (scree_RenderColour)picture->colour;
  settings.chains = picture->chains;
  settings.bodies = (scree_RenderLook)picture->bodies;
  settings.obstacles = (scree_RenderLook)picture->obstacles;
  settings.zoom = picture->zoom;
  settings.placed = picture->placed;
  for (int c = 0; c < 3; ++c) {
    settings.from[c] = views[picture->view].from[c];
    settings.eye[c] = picture->place[c];
    settings.target[c] = picture->place[3 + c];
  }
  return settings;
}

static scree_Status draw(scree_Replay *replay, int k, const Picture *picture,
                         const scree_Log *log) {
  scree_RenderSettings settings = render_settings(picture);
  settings.tight = true;
  scree_ReplayFrame frame = {0};
  scree_ReplayExtent extent;
  unsigned char *pixels = malloc(3 * (size_t)picture->width * (size_t)picture->height);
  scree_Status status = pixels ? SCREE_OK : SCREE_MACHINE;
  if (status == SCREE_OK) status = scree_replay_read(replay, k, &frame);
  if (status == SCREE_OK) status = scree_replay_extent(replay, k, &extent);
  if (status == SCREE_OK) status = scree_render(replay, &frame, &extent, &settings, pixels);
  if (status == SCREE_OK)
    status = scree_png_write(picture->output, picture->width, picture->height, pixels, log);
  scree_replay_frame_fini(&frame);
  free(pixels);
  return status;
}

/* Write a whole frame to ffmpeg; false when it has exited. */
static bool feed(int input, const unsigned char *pixels, size_t size) {
  while (size > 0) {
    const ssize_t written = write(input, pixels, size);
    if (written <= 0) return false;
    pixels += written;
    size -= (size_t)written;
  }
  return true;
}

static scree_Status film(scree_Replay *replay, const Picture *picture) {
  static const char *const names[] = {"ffmpeg", NULL};
  char *program = cli_find_program(names);
  if (!program) {
    cli_error("scree picture: --movie needs ffmpeg, which is not installed (Debian: ffmpeg)");
    return SCREE_MACHINE;
  }
  char size[64], rate[32];
  snprintf(size, sizeof size, "%dx%d", picture->width, picture->height);
  snprintf(rate, sizeof rate, "%d", picture->rate);
  const char *arguments[] = {
      program, "-y", "-f", "rawvideo", "-pix_fmt", "rgb24",     "-s",         size,           "-r",
      rate,    "-i", "-",  "-pix_fmt", "yuv420p",  "-movflags", "+faststart", picture->movie, NULL};
  scree_RenderSettings settings = render_settings(picture);
  scree_ReplayFrame frame = {0};
  scree_ReplayExtent extent;
  const size_t bytes = 3 * (size_t)picture->width * (size_t)picture->height;
  unsigned char *pixels = malloc(bytes);
  scree_Status status = pixels ? scree_replay_extent(replay, -1, &extent) : SCREE_MACHINE;
  if (status == SCREE_OK) status = scree_render_scale(replay, settings.colour, &settings.scale);
  int input = -1;
  signal(SIGPIPE, SIG_IGN);
  const pid_t child =
      status == SCREE_OK ? cli_start((char *const *)(const void *)arguments, &input, NULL) : -1;
  bool good = child > 0;
  CliProgress progress;
  cli_progress_init(&progress, false);
  for (int k = 0; good && status == SCREE_OK && k < scree_replay_info(replay).frames; ++k) {
    status = scree_replay_read(replay, k, &frame);
    if (status == SCREE_OK) status = scree_render(replay, &frame, &extent, &settings, pixels);
    if (status == SCREE_OK) good = feed(input, pixels, bytes);
    if (cli_progress_due(&progress))
      cli_progress_show(&progress, "frame %d of %d", k + 1, scree_replay_info(replay).frames);
  }
  cli_progress_clear(&progress);
  if (input >= 0) close(input);
  if (child > 0 && !cli_wait(child, 300.0)) good = false;
  if (status == SCREE_OK && !good) {
    cli_error("scree picture: ffmpeg could not write %s", picture->movie);
    status = SCREE_MACHINE;
  }
  if (status == SCREE_OK)
    printf("%s: %d frames at %d a second\n", picture->movie, scree_replay_info(replay).frames,
           picture->rate);
  scree_replay_frame_fini(&frame);
  free(pixels);
  free(program);
  return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int make(const Picture *picture) {
  CliLog log;
  cli_log_init(&log, false, false);
  scree_Replay *replay;
  scree_Status status = scree_replay_open(picture->directory, &log.log, &replay);
  if (status != SCREE_OK) return (int)status;
  if (scree_replay_info(replay).frames == 0) {
    cli_error("scree picture: %s saved no frames: there is nothing to draw", picture->directory);
    status = SCREE_BAD_INPUT;
  } else if (picture->movie) {
    status = film(replay, picture);
  } else {
    const int last = scree_replay_info(replay).frames - 1;
    const int k = isinf(picture->at) ? last : scree_replay_nearest(replay, picture->at);
    const bool browsed = !picture->software && browse(replay, k, picture);
    if (!browsed) status = draw(replay, k, picture, &log.log);
    if (status == SCREE_OK)
      printf("%s: frame %d at t = %g s, drawn by %s\n", picture->output, k,
             scree_replay_info(replay).times[k], browsed ? "a browser" : "scree itself");
  }
  scree_replay_close(replay);
  return (int)status;
}

/* Six numbers, of which the eye and the target differ. */
static bool read_camera(Picture *picture) {
  char end;
  double *p = picture->place;
  if (!picture->camera) return true;
  const bool good = sscanf(picture->camera, "%lf,%lf,%lf,%lf,%lf,%lf%c", &p[0], &p[1], &p[2], &p[3],
                           &p[4], &p[5], &end) == 6 &&
                    hypot(hypot(p[0] - p[3], p[1] - p[4]), p[2] - p[5]) > 0.0 &&
                    isfinite(p[0] + p[1] + p[2] + p[3] + p[4] + p[5]);
  if (!good)
    cli_error("scree picture: --camera: found \"%s\", expected six numbers, the positions of the "
              "camera and "
              "of its target: X,Y,Z,X,Y,Z",
              picture->camera);
  picture->placed = good;
  return good;
}

static int run(const CliCommand *command, int argc, char **argv) {
  Picture picture = {.at = INFINITY, .width = 1280, .height = 800, .rate = 30, .zoom = 1.0};
  const CliOption options[] = {
      {"at", 0, CLI_REAL, &picture.at, "T",
       "time in seconds; the nearest frame is drawn (default:\nthe last)", -HUGE_VAL, HUGE_VAL,
       NULL},
      {"output", 'o', CLI_TEXT, &picture.output, "FILE.png", "picture file (default picture.png)",
       0, 0, NULL},
      {"movie", 0, CLI_TEXT, &picture.movie, "FILE.mp4", "film of all frames, encoded by ffmpeg", 0,
       0, NULL},
      {"rate", 0, CLI_INT, &picture.rate, "N", "frames per second of the film (default 30)", 1, 240,
       NULL},
      {"width", 0, CLI_INT, &picture.width, "N", "width in pixels (default 1280)", 64, 8192, NULL},
      {"height", 0, CLI_INT, &picture.height, "N", "height in pixels (default 800)", 64, 8192,
       NULL},
      {"colour", 0, CLI_CHOICE, &picture.colour, "WHAT",
       "velocity (default), angular, size, material, id,\n"
       "stress",
       0, 0, colour_names},
      {"view", 0, CLI_CHOICE, &picture.view, "FROM",
       "3D: oblique (default), front, side, back, top, above", 0, 0, view_names},
      {"camera", 0, CLI_TEXT, &picture.camera, "X,Y,Z,X,Y,Z",
       "3D: positions of camera and target, in m", 0, 0, NULL},
      {"zoom", 0, CLI_REAL, &picture.zoom, "F", "magnification (default 1)", 1e-3, 1e3, NULL},
      {"bodies", 0, CLI_CHOICE, &picture.bodies, "LOOK", "solid (default), ghost, hidden", 0, 0,
       look_names},
      {"obstacles", 0, CLI_CHOICE, &picture.obstacles, "LOOK", "solid (default), ghost, hidden", 0,
       0, look_names},
      {"chains", 0, CLI_FLAG, &picture.chains, NULL, "show force chains", 0, 0, NULL},
      {"software", 0, CLI_FLAG, &picture.software, NULL, "do not use a browser", 0, 0, NULL},
      {0},
  };
  CliList arguments = {0};
  int status = cli_parse(command, options, argc, argv, &arguments);
  if (status < 0 && arguments.count != 1) {
    cli_error("scree picture: expected the folder of one run, found %d (scree picture --help "
              "explains)",
              arguments.count);
    status = 2;
  }
  if (status < 0 && !read_camera(&picture)) status = 2;
  if (status < 0) {
    picture.directory = arguments.items[0];
    if (!picture.output) picture.output = "picture.png";
    picture.width &= ~1, picture.height &= ~1; /* films have even sides */
    status = cli_finish(make(&picture));
  }
  cli_list_free(&arguments);
  return status;
}

const CliCommand cli_command_picture = {
    .name = "picture",
    .usage = "DIR [--at T] [-o FILE.png] [--movie FILE.mp4] [options]",
    .summary = "draw one frame of a run, or make a film of all frames",
    .help =
        "Draws one frame, or makes a film of all frames, without a display. Pictures are\ndrawn by "
        "headless Chromium if it is installed, and otherwise by scree itself.\nFilms are drawn by "
        "scree itself, which is several times faster, and encoded by\nffmpeg.",
    .examples = "  scree picture drum-run --at 2.5 -o drum.png\n"
                "  scree picture drum-run --chains --colour size --software\n"
                "  scree picture silo-run --obstacles ghost --view front --zoom 1.5\n"
                "  scree picture drum-run --movie drum.mp4",
    .run = run,
};
