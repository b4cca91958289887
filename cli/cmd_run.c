/* `scree run`: runs a scene into a folder of results. Checkpoints and recovery are in the library
 * (scree/run.h); this file has the arguments, the progress and the summary. */
#define _POSIX_C_SOURCE 200809L
#include "cli/args.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "scree/run.h"

#include <errno.h>
#include <hdf5.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Request {
  const char *scene, *folder;
  scree_RunSettings settings;
  int steps;
  CliList sets;
  bool json, quiet, verbose;
} Request;

/* ---- signals --------------------------------------------------------------------------------- */

/* Globals, since a signal handler has no other way to pass on its message. */
static volatile sig_atomic_t stop_asked; /* Ctrl-C, or SIGTERM, which is treated alike */
static volatile sig_atomic_t stepping;   /* a checkpoint must be written before exit */
static volatile sig_atomic_t on_terminal;

static void say(const char *text) {
  if (cli_is_silent()) return;
  const ssize_t written = write(STDERR_FILENO, text, strlen(text));
  (void)written; /* a failed write to stderr cannot be reported */
}

/* The first signal asks the run to stop and prints a message at once; the second one, of either
 * kind, ends the program. Before the first step there is nothing to write, and the first signal
 * ends it. */
static void on_stop(int number) {
  const int error = errno;
  (void)number;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  stop_asked = 1;
  if (on_terminal) say("\r\033[K");
  if (!stepping) {
    say("scree run: interrupt: no step had begun\n");
    _exit(SCREE_INTERRUPTED);
  }
  say("scree run: interrupt: leaving the step, writing the checkpoint and results.h5 "
      "(a second one ends at once)\n");
  errno = error;
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = on_stop};
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  action.sa_flags =
      (int)SA_RESTART; /* system calls are restarted, so that files are written completely */
  on_terminal = isatty(STDERR_FILENO);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  /* a file size limit is reported as a write error; it must not kill the program */
  action = (struct sigaction){.sa_handler = SIG_IGN};
  sigemptyset(&action.sa_mask);
  sigaction(SIGXFSZ, &action, NULL);
}

/* "examples/drum.yaml" -> "drum-run", in the current folder. */
static char *default_folder(const char *scene) {
  const char *slash = strrchr(scene, '/'), *name = slash ? slash + 1 : scene;
  const char *dot = strrchr(name, '.');
  const size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
  char *folder = malloc(length + 8);
  if (folder) snprintf(folder, length + 8, "%.*s-run", (int)length, name);
  return folder;
}

/* ---- summary --------------------------------------------------------------------------------- */

static void write_json(const Request *request, const scree_RunSummary *s,
                       const scree_RunRanks *ranks, int status) {
  CliJson json;
  cli_json_begin(&json, stdout);
  cli_json_text(&json, "scene", request->scene);
  cli_json_text(&json, "folder", request->folder);
  cli_json_int(&json, "steps", s->steps);
  cli_json_real(&json, "time", s->time);
  cli_json_int(&json, "bodies", s->bodies);
  cli_json_int(&json, "contacts_max", s->contacts_max);
  cli_json_real(&json, "error_max", s->error_max);
  cli_json_real(&json, "tolerance", s->tolerance);
  cli_json_real(&json, "penetration_max", s->penetration_max);
  cli_json_real(&json, "penetration_limit", s->penetration_limit);
  cli_json_real(&json, "energy_created", s->energy_created);
  cli_json_real(&json, "energy_limit", s->energy_limit);
  cli_json_real(&json, "creep", s->creep);
  cli_json_real(&json, "creep_limit", s->creep_limit);
  cli_json_real(&json, "energy_error", s->energy_error);
  cli_json_real(&json, "seconds", s->seconds);
  if (request->settings.ranks) {
    cli_json_int(&json, "ranks", ranks->ranks);
    cli_json_bool(&json, "divided", ranks->divided);
    if (ranks->undivided) cli_json_text(&json, "undivided", ranks->undivided);
    cli_json_int(&json, "messages", ranks->messages);
    cli_json_int(&json, "bytes", ranks->bytes);
    cli_json_int(&json, "synchronisations", ranks->synchronisations);
    cli_json_real(&json, "imbalance", ranks->imbalance);
    cli_json_real(&json, "memory_most", ranks->memory_most);
    cli_json_real(&json, "memory_mean", ranks->memory_mean);
  }
  cli_json_real(&json, "seconds_detect", s->seconds_detect);
  cli_json_real(&json, "seconds_solve", s->seconds_solve);
  cli_json_int(&json, "frames", s->frames);
  cli_json_int(&json, "iterations", s->iterations);
  cli_json_int(&json, "substeps_extra", s->substeps);
  cli_json_int(&json, "steps_above", s->steps_above);
  cli_json_open(&json, "above", '[');
  for (int k = 0; k < s->steps_above && k < SCREE_RUN_REMEMBERED; ++k) {
    const scree_RunFailure *f = &s->above[k];
    char missed[SCREE_MISSED_SIZE];
    scree_missed_text(f->missed, missed, sizeof missed);
    cli_json_open(&json, NULL, '{');
    cli_json_int(&json, "step", f->step);
    cli_json_text(&json, "missed", missed);
    cli_json_real(&json, "time", f->time);
    cli_json_real(&json, "error", f->error);
    cli_json_real(&json, "penetration", f->penetration);
    cli_json_real(&json, "energy_created", f->energy_created);
    cli_json_real(&json, "creep", f->creep);
    cli_json_int(&json, "contacts_above", f->contacts_above);
    cli_json_open(&json, "bodies", '[');
    cli_json_int(&json, NULL, f->body[0]);
    cli_json_int(&json, NULL, f->body[1]);
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
  }
  cli_json_close(&json, ']');
  cli_json_bool(&json, "finished", s->finished);
  cli_json_bool(&json, "resumed", s->resumed);
  cli_json_int(&json, "status", status);
  cli_json_end(&json);
}

static void print_failures(const scree_Scene *scene, const scree_RunSummary *s) {
  fprintf(stderr, "scree run: %lld of %lld steps are not certified:\n", (long long)s->steps_above,
          (long long)s->steps);
  for (int k = 0; k < s->steps_above && k < SCREE_RUN_REMEMBERED; ++k) {
    const scree_RunFailure *f = &s->above[k];
    char missed[SCREE_MISSED_SIZE], body[2][80], worst[200] = "";
    for (int b = 0; b < 2; ++b) scree_scene_body_label(scene, f->body[b], body[b], sizeof body[b]);
    if (f->body[0] >= 0)
      snprintf(worst, sizeof worst, ", worst between %s and %s", body[0], body[1]);
    scree_missed_text(f->missed, missed, sizeof missed);
    fprintf(
        stderr,
        "  step %lld (t = %.6g s) misses %s: error %.2e, %d contacts above%s, penetration %.2e, "
        "energy created %.2e, creep %.2e\n",
        (long long)f->step, f->time, missed, f->error, f->contacts_above, worst, f->penetration,
        f->energy_created, f->creep);
  }
  if (s->steps_above > SCREE_RUN_REMEMBERED)
    fprintf(stderr, "  and %lld more: see telemetry.jsonl, \"certified\": false\n",
            (long long)(s->steps_above - SCREE_RUN_REMEMBERED));
}

static void print_summary(const Request *request, const scree_RunSummary *s,
                          const scree_RunRanks *ranks, bool written) {
  const CliColours colour = cli_colours();
  char spent[32];
  cli_format_span(s->seconds, spent, sizeof spent);
  printf("%s%s%s: %lld steps to t = %.6g s in %s%s%s\n", colour.bold, request->folder, colour.off,
         (long long)s->steps, s->time, spent, s->reason ? "; " : "", s->reason ? s->reason : "");
  printf("  certificate  %s%s%s", s->steps_above ? colour.warn : colour.good,
         s->steps_above ? "NOT MET" : "met", colour.off);
  if (s->steps_above) printf(" in %lld steps", (long long)s->steps_above);
  printf(": error %.1e (limit %.0e),\n"
         "               penetration %.2g %% of the smaller body (limit %g %%),\n"
         "               energy created %.2g %% of the energy turned over (limit %g %%),\n"
         "               creep %.2g %% of the size of a resting body (limit %g %%)\n",
         s->error_max, s->tolerance, 100 * s->penetration_max, 100 * s->penetration_limit,
         100 * s->energy_created, 100 * s->energy_limit, 100 * s->creep, 100 * s->creep_limit);
  printf("  bodies       %d, at most %d contacts\n", s->bodies, s->contacts_max);
  printf("  time         detection %.1f s, solver %.1f s of %.1f s\n", s->seconds_detect,
         s->seconds_solve, s->seconds);
  if (ranks->divided)
    printf("  ranks        %d; memory of a rank at most %.0f MB, mean %.0f MB\n", ranks->ranks,
           1e-6 * ranks->memory_most, 1e-6 * ranks->memory_mean);
  if (written) printf("  frames       %d in %s/results.h5\n", s->frames, request->folder);
}

static void say_resume(const Request *request) {
  fprintf(stderr, "resume with: scree run %s -o %s --resume", request->scene, request->folder);
  for (int k = 0; k < request->sets.count; ++k)
    fprintf(stderr, " --set '%s'", request->sets.items[k]);
  fputc('\n', stderr);
}

/* ---- running --------------------------------------------------------------------------------- */

/* Data of the library's callback; the run is null until it is created. */
typedef struct Watch {
  CliRunProgress progress;
  const scree_Run *run;
} Watch;

/* Called several times a second during a step. */
static bool poll_run(void *user) {
  Watch *watch = user;
  if (!stop_asked && watch->run) cli_run_progress_step(&watch->progress, watch->run);
  return stop_asked;
}

static int carry_out(const Request *request, const scree_Scene *scene, scree_Run *run,
                     Watch *watch) {
  CliRunProgress *progress = &watch->progress;
  scree_Status failure = SCREE_OK;
  cli_run_progress_init(progress, run, request->quiet || request->json);
  watch->run = run;
  stepping = 1;
  bool interrupted = false;
  while (!scree_run_is_over(run) && !interrupted) {
    scree_StepReport report;
    const scree_Status status = scree_run_step(run, &report);
    if (status <= SCREE_NOT_CONVERGED)
      cli_run_progress_update(progress, run, &report);
    else if (status != SCREE_INTERRUPTED)
      failure = status;
    /* several ranks leave together: scree_run_step asks all of them */
    interrupted = status == SCREE_INTERRUPTED ||
                  (stop_asked && !scree_run_is_over(run) && !request->settings.ranks);
  }
  watch->run = NULL; /* no progress from here on */
  cli_run_progress_clear(progress);
  const scree_Status closed = scree_run_close(run);
  interrupted = interrupted || closed == SCREE_INTERRUPTED;
  if (closed != SCREE_INTERRUPTED && closed > failure) failure = closed;
  const scree_RunSummary summary = scree_run_summary(run);
  int status = failure != SCREE_OK       ? (int)failure
               : interrupted             ? (int)SCREE_INTERRUPTED
               : summary.steps_above > 0 ? 1
                                         : 0;
  const scree_RunRanks ranks = scree_run_ranks(run);
  if (request->json)
    write_json(request, &summary, &ranks, status);
  else if (!request->quiet)
    print_summary(request, &summary, &ranks, closed == SCREE_OK);
  if (cli_output_alive() && summary.steps_above > 0 && !request->quiet)
    print_failures(scene, &summary);
  if (failure != SCREE_OK)
    cli_error("scree run: stopped at step %lld; what was written is intact",
              (long long)summary.steps);
  else if (interrupted)
    cli_error("scree run: interrupted after step %lld, %s", (long long)summary.steps,
              closed == SCREE_OK ? "everything is written" : "the checkpoint is written");
  if (!cli_is_silent() &&
      (failure != SCREE_OK || interrupted || (!summary.finished && !request->quiet)))
    say_resume(request);
  return status;
}

/* Read the scene. A resumed run keeps its time step: where the scene leaves it to the library,
 * which may now choose another one (for another duration), that of the run is put in. */
static int read_scene(const Request *request, const scree_Log *log, scree_Scene **scene) {
  const scree_Ranks *ranks = request->settings.ranks;
  const bool resume = request->settings.resume;
  int status =
      (int)scree_scene_read_part(request->scene, request->sets.items, ranks, resume, log, scene);
  if (status != 0 || !request->settings.resume || !scree_scene_info(*scene).automatic_step)
    return status;
  char *path = cli_join(request->folder, "scene.yaml");
  scree_Scene *recorded = NULL;
  if (!path) return 3;
  if (access(path, R_OK) == 0)
    status = (int)scree_scene_read_part(path, NULL, ranks, resume, log, &recorded);
  free(path);
  if (status != 0 || !recorded) return status;
  const double step = scree_scene_info(recorded).step;
  scree_scene_destroy(recorded);
  if (step == scree_scene_info(*scene).step) return 0;
  char text[48];
  const char **sets = calloc((size_t)request->sets.count + 2, sizeof *sets);
  scree_scene_destroy(*scene);
  *scene = NULL;
  if (!sets) return 3;
  snprintf(text, sizeof text, "time.step=%.17g", step);
  for (int k = 0; k < request->sets.count; ++k) sets[k] = request->sets.items[k];
  sets[request->sets.count] = text;
  status = (int)scree_scene_read_part(request->scene, sets, ranks, resume, log, scene);
  free(sets);
  return status;
}

static int run_scene(Request *request) {
  CliLog log;
  Watch watch = {.run = NULL};
  scree_Scene *scene = NULL;
  scree_Run *run = NULL;
  cli_log_init(&log, request->quiet, request->verbose);
  catch_signals();
  /* `scree run DIR --resume` continues with the scene in the folder */
  struct stat about;
  char *inside = NULL, *folder = NULL;
  if (stat(request->scene, &about) == 0 && S_ISDIR(about.st_mode) && request->settings.resume) {
    const size_t size = strlen(request->scene) + 16;
    inside = malloc(size);
    if (inside) snprintf(inside, size, "%s/scene.yaml", request->scene);
    if (inside && !request->folder) request->folder = request->scene;
    if (inside) request->scene = inside;
  }
  if (!request->folder) request->folder = folder = default_folder(request->scene);
  int status = 3;
  if (request->folder) {
    request->settings.folder = request->folder;
    request->settings.steps = request->steps;
    request->settings.ranks = cli_ranks();
    request->quiet = request->quiet || cli_is_silent();
    request->json = request->json && !cli_is_silent();
    request->settings.interrupted = poll_run;
    request->settings.interrupted_user = &watch;
    status = read_scene(request, &log.log, &scene);
  }
  if (status == 0) status = (int)scree_run_create(scene, &request->settings, &log.log, &run);
  if (status == 0) {
    scree_scene_release_bodies(scene); /* the world is built */
    status = carry_out(request, scene, run, &watch);
  }
  request->settings.interrupted_user = NULL;
  scree_run_destroy(run);
  scree_scene_destroy(scene);
  free(inside);
  free(folder);
  return cli_finish(status);
}

static int run(const CliCommand *command, int argc, char **argv) {
  /* All files are closed here. HDF5's exit handler would crash on a file that could not be written.
   */
  (void)H5dont_atexit();
  Request request = {.settings = scree_run_settings()};
  const CliOption options[] = {
      {"output", 'o', CLI_TEXT, &request.folder, "DIR",
       "folder of the results (default: the name of the scene\nwithout extension, followed by "
       "-run)",
       0, 0, NULL},
      {"set", 0, CLI_LIST, &request.sets, "PATH=VALUE",
       "change a value of the scene; may be repeated: --set\ntime.step=1e-4", 0, 0, NULL},
      {"until", 0, CLI_REAL, &request.settings.until, "T",
       "stop at time T (default: the duration of the scene)", 0, HUGE_VAL, NULL},
      {"steps", 'n', CLI_INT, &request.steps, "N", "stop after N steps", 1, INT_MAX, NULL},
      {"threads", 'j', CLI_INT, &request.settings.threads, "N",
       "use at most N threads (default: those of the scene,\nwhich are all processors), fewer "
       "while other programs\nuse the processors; the results do not depend on it",
       1, 4096, NULL},
      {"resume", 0, CLI_FLAG, &request.settings.resume, NULL,
       "continue from the checkpoint in the folder; also\ncontinues a finished run if --until is "
       "later",
       0, 0, NULL},
      {"force", 'f', CLI_FLAG, &request.settings.replace, NULL,
       "replace an existing run in the folder", 0, 0, NULL},
      {"json", 0, CLI_FLAG, &request.json, NULL,
       "print one JSON object at the end and nothing else", 0, 0, NULL},
      {"quiet", 'q', CLI_FLAG, &request.quiet, NULL, "print errors only", 0, 0, NULL},
      {"verbose", 'v', CLI_FLAG, &request.verbose, NULL, "print more messages", 0, 0, NULL},
      {0},
  };
  CliList scenes = {0};
  int status = cli_parse(command, options, argc, argv, &scenes);
  if (status < 0 && scenes.count != 1) {
    cli_error("scree run: found %d scenes, expected one (scree run --help explains)", scenes.count);
    status = 2;
  }
  if (status < 0) {
    request.scene = scenes.items[0];
    status = run_scene(&request);
  }
  cli_list_free(&request.sets);
  cli_list_free(&scenes);
  return status;
}

const CliCommand cli_command_run = {
    .name = "run",
    .usage = "SCENE.yaml [options]",
    .summary = "run a scene into a folder of results",
    .help = "Runs a scene and certifies every time step. The folder receives the scene with\nall "
            "default values, results.h5, telemetry.jsonl and a checkpoint (see\ndocs/RESULTS.md). "
            "--resume continues a run that was interrupted by Ctrl-C, a\nfull disk or a crash, and "
            "gives the same bits as an uninterrupted run.\n\nCtrl-C and SIGTERM abandon the "
            "current step within two seconds, write the\ncheckpoint and results.h5, and print how "
            "to resume. A second signal ends the\nprogram at once. Checkpoints are also written at "
            "intervals (output.checkpoint).\nVelocities, forces and sensors that are not finite "
            "stop the run with a message\nthat has their place in the scene.\n\n`mpirun -n N scree "
            "run` divides the world between N processes, in a build with\nMPI (make mpi). If a "
            "scene cannot be divided, a message gives the reason, and\nonly its large solves are "
            "divided.\n\nExit status: 0 finished and certified; 1 finished, but some steps are "
            "not\ncertified; 2 wrong usage or invalid scene; 3 failure of the machine, the "
            "files\nwritten so far are intact; 130 interrupted.",
    .examples = "  scree run examples/drum.yaml\n"
                "  scree run drum.yaml -o fast --set time.step=1e-3 --set contact.mu=0.2\n"
                "  scree run drum.yaml --resume\n"
                "  scree run drum.yaml --until 0.5 --json",
    .run = run,
    .on_all_ranks = true,
};
