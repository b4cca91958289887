/* `scree converge`: a scene at h, h/2, h/4, … and with a tenth of the tolerance, each an ordinary
 * run in a folder of its own, and their comparison (run/converge.h, cli/converge.h). */
#define _POSIX_C_SOURCE 200809L
#include "cli/args.h"
#include "cli/converge.h"
#include "cli/progress.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "run/results_file.h"
#include "scree/run.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { INTERRUPTED = 130, OVERRIDES = 4, OVERRIDE_SIZE = 64 };

typedef struct Request {
  const char *scene, *folder;
  CliList sets;
  double until, accuracy;
  int levels, jobs, threads;
  bool resume, force, json, quiet, verbose;
} Request;

/* The plan: everything that is decided before the first run. */
typedef struct Plan {
  char *scene_path, *folder;
  char *run_folder; /* folder of the run whose page shows the result, or null */
  char title[128];
  double duration, every;
  int runs;
  ConvergeVariant variant[SCREE_CONVERGE_RUNS];
} Plan;

/* SIGTERM is treated like Ctrl-C. */
static volatile sig_atomic_t terminated;

static void on_terminate(int number) {
  (void)number;
  terminated = 1;
}

static bool stop_asked(void) {
  return cli_interrupted() || terminated;
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = on_terminate};
  sigemptyset(&action.sa_mask);
  action.sa_flags = (int)SA_RESETHAND;
  sigaction(SIGTERM, &action, NULL);
  /* a file size limit is reported as a write error; it must not kill the program */
  action = (struct sigaction){.sa_handler = SIG_IGN};
  sigemptyset(&action.sa_mask);
  sigaction(SIGXFSZ, &action, NULL);
  cli_catch_interrupt();
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* "examples/drum.yaml" -> "drum-converge", "runs/drum-run/" -> "drum-run-converge", in the current
 * folder. */
static char *default_folder(const char *scene, bool is_run) {
  size_t end = strlen(scene), start;
  while (end > 1 && scene[end - 1] == '/') --end;
  for (start = end; start > 0 && scene[start - 1] != '/'; --start) continue;
  const char *name = scene + start;
  size_t length = end - start;
  for (size_t k = length; !is_run && k-- > 1;)
    if (name[k] == '.') {
      length = k;
      break;
    }
  if (name[0] == '.' && is_run) length = 0; /* "." and ".." are no names */
  char *folder = malloc(length + 16);
  if (folder) snprintf(folder, length + 16, "%.*s%sconverge", (int)length, name, length ? "-" : "");
  return folder;
}

static void plan_variants(const Request *request, double step, double tolerance, Plan *plan) {
  for (int k = 0; k < request->levels; ++k) {
    ConvergeVariant *v = &plan->variant[plan->runs++];
    const int parts = 1 << k;
    *v = (ConvergeVariant){.step = step / parts, .tolerance = tolerance};
    snprintf(v->name, sizeof v->name, k ? "h%d" : "h", parts);
    snprintf(v->label, sizeof v->label, k ? "h/%d" : "h", parts);
  }
  plan->variant[plan->runs++] = (ConvergeVariant){
      .name = "tol", .label = "tolerance/10", .step = step, .tolerance = tolerance / 10.0};
}

/* The user's overrides, then those of a run; null-ended, freed with free. `room` holds the texts.
 */
static const char **overrides(const Request *request, const Plan *plan, const ConvergeVariant *v,
                              char room[OVERRIDES][OVERRIDE_SIZE]) {
  const char **list = malloc(((size_t)request->sets.count + OVERRIDES + 1) * sizeof *list);
  if (!list) {
    cli_error("scree: out of memory");
    return NULL;
  }
  int count = 0;
  for (; count < request->sets.count; ++count) list[count] = request->sets.items[count];
  if (request->until > 0.0) {
    snprintf(room[0], OVERRIDE_SIZE, "time.duration=%.17g", request->until);
    list[count++] = room[0];
  }
  if (v) {
    snprintf(room[1], OVERRIDE_SIZE, "time.step=%.17g", v->step);
    snprintf(room[2], OVERRIDE_SIZE, "output.every=%.17g", plan->every);
    snprintf(room[3], OVERRIDE_SIZE, "solver.tolerance=%.17g", v->tolerance);
    for (int k = 1; k < OVERRIDES; ++k) list[count++] = room[k];
  }
  list[count] = NULL;
  return list;
}

static int read_scene(const Request *request, const Plan *plan, const ConvergeVariant *v,
                      const scree_Log *log, scree_Scene **scene) {
  char room[OVERRIDES][OVERRIDE_SIZE];
  const char **list = overrides(request, plan, v, room);
  if (!list) return 3;
  const scree_Status status = scree_scene_read(plan->scene_path, list, log, scene);
  free((void *)list);
  return (int)status;
}

static int check_until(const Request *request, const scree_Log *log, const Plan *plan) {
  scree_Scene *scene = NULL;
  const scree_Status status = scree_scene_read(plan->scene_path, request->sets.items, log, &scene);
  if (status != SCREE_OK) return (int)status;
  const double duration = scree_scene_info(scene).duration;
  scree_scene_destroy(scene);
  if (request->until <= duration * (1.0 + 1e-12)) return 0;
  cli_error("scree converge: --until: found %g s, expected at most the scene's duration, %g s "
            "(--set time.duration=%g makes it longer)",
            request->until, duration, request->until);
  return 2;
}

static int make_plan(const Request *request, const scree_Log *log, Plan *plan) {
  struct stat about;
  *plan = (Plan){0};
  const bool is_run = stat(request->scene, &about) == 0 && S_ISDIR(about.st_mode);
  plan->scene_path = cli_join(request->scene, is_run ? "scene.yaml" : NULL);
  if (is_run) plan->run_folder = cli_join(request->scene, NULL);
  plan->folder =
      request->folder ? cli_join(request->folder, NULL) : default_folder(request->scene, is_run);
  if (!plan->scene_path || !plan->folder || (is_run && !plan->run_folder)) return 3;
  int status = request->until > 0.0 ? check_until(request, log, plan) : 0;
  scree_Scene *scene = NULL;
  if (status == 0) status = read_scene(request, plan, NULL, log, &scene);
  if (status != 0) return status;
  const scree_SceneInfo info = scree_scene_info(scene);
  snprintf(plan->title, sizeof plan->title, "%s", info.title ? info.title : "");
  plan->duration = info.duration;
  plan->every = info.step * (double)info.frame_steps; /* a multiple of every run's step */
  plan_variants(request, info.step, scree_converge_tolerance(scene), plan);
  scree_scene_destroy(scene);
  return 0;
}

static void plan_fini(Plan *plan) {
  free(plan->scene_path);
  free(plan->folder);
  free(plan->run_folder);
}

/* ---- running --------------------------------------------------------------------------------- */

static int carry_out(scree_Run *run, bool quiet) {
  CliRunProgress progress;
  scree_Status failure = SCREE_OK;
  cli_run_progress_init(&progress, run, quiet);
  while (!scree_run_is_over(run) && !stop_asked()) {
    scree_StepReport report;
    const scree_Status status = scree_run_step(run, &report);
    if (status > SCREE_NOT_CONVERGED)
      failure = status;
    else
      cli_run_progress_update(&progress, run, &report);
  }
  cli_run_progress_clear(&progress);
  const bool interrupted = !scree_run_is_over(run);
  const scree_Status closed = scree_run_close(run);
  if (closed > failure) failure = closed;
  return failure != SCREE_OK ? (int)failure : interrupted ? INTERRUPTED : 0;
}

/* Remove an earlier comparison: it does not describe the new runs. */
static void forget_result(const Plan *plan) {
  char *path = cli_join(plan->folder, "converge.json");
  if (path) (void)unlink(path);
  free(path);
}

/* One run. Returns 0 when it is done, certified or not (the comparison checks that); 2 or 3 when it
 * failed; 130 when it was interrupted.
 */
static int run_variant(const Request *request, const Plan *plan, const ConvergeVariant *v,
                       bool quiet, const scree_Log *log) {
  scree_Scene *scene = NULL;
  scree_Run *run = NULL;
  char *folder = cli_join(plan->folder, v->name);
  char *checkpoint = folder ? cli_join(folder, "checkpoint.bin") : NULL;
  int status = checkpoint ? read_scene(request, plan, v, log, &scene) : 3;
  if (status == 0) {
    scree_RunSettings settings = scree_run_settings();
    settings.folder = folder;
    settings.resume = request->resume && access(checkpoint, F_OK) == 0;
    settings.replace = request->force || request->resume;
    settings.threads = request->threads;
    status = (int)scree_run_create(scene, &settings, log, &run);
  }
  if (status == 0 && !scree_run_is_over(run)) forget_result(plan);
  if (status == 0 && !scree_run_is_over(run) && !request->quiet && !request->json)
    fprintf(stderr, "%s: step %.4g s, tolerance %.2g, %.0f steps\n", v->label, v->step,
            v->tolerance, ceil(plan->duration / v->step * (1.0 - 1e-12)));
  if (status == 0) status = carry_out(run, quiet);
  scree_run_destroy(run);
  scree_scene_destroy(scene);
  free(checkpoint);
  free(folder);
  return status;
}

/* Wait for one of the processes and give its exit status. A request to stop is passed on to all. */
static int wait_for_one(pid_t *child, int count) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  for (bool passed_on = false;; nanosleep(&pause, NULL)) {
    for (int k = 0; k < count && stop_asked() && !passed_on; ++k)
      if (child[k] > 0) kill(child[k], SIGTERM);
    passed_on = stop_asked();
    for (int k = 0; k < count; ++k) {
      int outcome = 0;
      if (child[k] <= 0 || waitpid(child[k], &outcome, WNOHANG) == 0) continue;
      child[k] = 0;
      return WIFEXITED(outcome) ? WEXITSTATUS(outcome) : 3;
    }
  }
}

/* All runs, `jobs` at a time, each in a process of its own with one thread. The finest, which takes
 * longest, starts first. */
static int run_side_by_side(const Request *request, const Plan *plan, const scree_Log *log) {
  pid_t child[SCREE_CONVERGE_RUNS] = {0};
  int started = 0, running = 0, worst = 0;
  Request alone = *request;
  alone.threads = 1;
  for (;;) {
    const bool more = started < plan->runs && worst == 0 && !stop_asked();
    if (!more && running == 0) break;
    if (!more || running == request->jobs) {
      const int status = wait_for_one(child, plan->runs);
      if (status > worst) worst = status;
      --running;
      continue;
    }
    const int k = started < request->levels ? request->levels - 1 - started : started;
    ++started;
    fflush(NULL); /* otherwise the child would write its copy of the buffers again */
    child[k] = fork();
    if (child[k] == 0) _exit(run_variant(&alone, plan, &plan->variant[k], true, log));
    if (child[k] > 0) {
      ++running;
    } else {
      cli_error("scree converge: cannot start a process: %s", strerror(errno));
      worst = 3;
    }
  }
  return worst == 0 && stop_asked() ? INTERRUPTED : worst;
}

static int run_all(const Request *request, const Plan *plan, const scree_Log *log) {
  if (request->jobs > 1) return run_side_by_side(request, plan, log);
  int status = 0;
  for (int k = 0; status == 0 && k < plan->runs; ++k)
    status = stop_asked() ? INTERRUPTED
                          : run_variant(request, plan, &plan->variant[k],
                                        request->quiet || request->json, log);
  return status;
}

static void say_resume(const Request *request, const Plan *plan) {
  fprintf(stderr, "resume with: scree converge %s -o %s --resume", request->scene, plan->folder);
  if (request->until > 0.0) fprintf(stderr, " --until %.10g", request->until);
  if (request->levels != 3) fprintf(stderr, " --levels %d", request->levels);
  for (int k = 0; k < request->sets.count; ++k)
    fprintf(stderr, " --set '%s'", request->sets.items[k]);
  fputc('\n', stderr);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Write converge.json atomically. */
static int save(const char *folder, const char *text, size_t size, const scree_Log *log) {
  char *path = cli_join(folder, "converge.json");
  const scree_Status status = path ? scree_file_replace(path, text, size, log) : SCREE_MACHINE;
  free(path);
  return (int)status;
}

static int write_results(const Plan *plan, const ConvergeResult *result, const ConvergeText *words,
                         const scree_Log *log) {
  char *text = NULL, *plots = cli_join(plan->folder, "plots");
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  int status = file && plots ? 0 : 3;
  if (file) {
    converge_write_json(result, words, file);
    if (fclose(file) != 0 || !text) status = 3;
  }
  if (status == 0) status = save(plan->folder, text, size, log);
  if (status == 0 && plan->run_folder) status = save(plan->run_folder, text, size, log);
  if (status == 0) status = cli_need_folder(plots) ? (int)converge_draw(result, plots) : 3;
  free(text);
  free(plots);
  return status;
}

static int compare(const Request *request, const Plan *plan, const scree_Log *log) {
  ConvergeResult result = {
      .scene = request->scene, .folder = plan->folder, .title = plan->title, .runs = plan->runs};
  scree_Scene *scene = NULL;
  memcpy(result.variant, plan->variant, sizeof result.variant);
  int status = read_scene(request, plan, &plan->variant[0], log, &scene);
  for (int r = 0; status == 0 && r < plan->runs; ++r) {
    char *folder = cli_join(plan->folder, plan->variant[r].name);
    status = folder ? (int)scree_replay_open(folder, log, &result.replay[r]) : 3;
    free(folder);
  }
  if (status == 0)
    status = (int)scree_convergence_compute(result.replay, request->levels, true, scene,
                                            request->accuracy, log, &result.all);
  if (status == 0) {
    ConvergeText words;
    converge_conclude(&result, &words);
    status = write_results(plan, &result, &words, log);
    if (status == 0) status = words.within ? 0 : 1;
    if (status <= 1 && request->json)
      converge_print_json(&result, &words, status);
    else if (status <= 1 && !request->quiet)
      converge_print_table(&result, &words);
    scree_convergence_fini(&result.all);
  }
  for (int r = 0; r < plan->runs; ++r) scree_replay_close(result.replay[r]);
  scree_scene_destroy(scene);
  return status;
}

static int converge(const Request *request) {
  CliLog log;
  Plan plan;
  cli_log_init(&log, request->quiet, request->verbose);
  catch_signals();
  int status = make_plan(request, &log.log, &plan);
  if (status == 0 && !cli_need_folder(plan.folder)) {
    status = 3;
  } else if (status == 0) {
    status = run_all(request, &plan, &log.log);
    if (status == INTERRUPTED)
      cli_error("scree converge: interrupted, everything is written");
    else if (status == 3)
      cli_error("scree converge: stopped; what was written is intact");
    if (status >= 3) say_resume(request, &plan);
  }
  if (status == 0) status = compare(request, &plan, &log.log);
  if (status <= 1 && !request->quiet && !request->json && cli_output_alive())
    printf("%s/converge.json, plots in %s/plots; scree report %s/h shows it with the run\n",
           plan.folder, plan.folder, plan.folder);
  plan_fini(&plan);
  return cli_finish(status);
}

static int run(const CliCommand *command, int argc, char **argv) {
  /* All files are closed here. HDF5's exit handler would crash on a file that could not be written.
   */
  (void)H5dont_atexit();
  Request request = {.accuracy = 0.01, .levels = 3, .jobs = 1};
  const CliOption options[] = {
      {"output", 'o', CLI_TEXT, &request.folder, "DIR",
       "folder of the runs and the results (default: the\nscene's name without its extension, and "
       "-converge)",
       0, 0, NULL},
      {"set", 0, CLI_LIST, &request.sets, "PATH=VALUE",
       "change a value of the scene, may be repeated", 0, 0, NULL},
      {"until", 0, CLI_REAL, &request.until, "T",
       "compare the runs up to time T (default: the scene's\nduration)", 0, HUGE_VAL, NULL},
      {"accuracy", 'a', CLI_REAL, &request.accuracy, "X",
       "error that averages may have, relative to their\nscales (default 0.01)", 1e-12, 1, NULL},
      {"levels", 0, CLI_INT, &request.levels, "N", "number of steps h, h/2, h/4, ... (3)", 2,
       SCREE_CONVERGE_LEVELS, NULL},
      {"jobs", 0, CLI_INT, &request.jobs, "N", "run N of them at a time, with one thread each (1)",
       1, SCREE_CONVERGE_RUNS, NULL},
      {"threads", 'j', CLI_INT, &request.threads, "N",
       "threads of a run, without --jobs (default: the\nscene's, which is all)", 1, 4096, NULL},
      {"resume", 0, CLI_FLAG, &request.resume, NULL,
       "go on with runs that were interrupted; those that are\nfinished are not repeated", 0, 0,
       NULL},
      {"force", 'f', CLI_FLAG, &request.force, NULL, "replace runs that are in the folder already",
       0, 0, NULL},
      {"json", 0, CLI_FLAG, &request.json, NULL,
       "print a JSON object per average, then the verdict", 0, 0, NULL},
      {"quiet", 'q', CLI_FLAG, &request.quiet, NULL, "print errors alone", 0, 0, NULL},
      {"verbose", 'v', CLI_FLAG, &request.verbose, NULL, "print more messages", 0, 0, NULL},
      {0},
  };
  CliList scenes = {0};
  int status = cli_parse(command, options, argc, argv, &scenes);
  if (status < 0 && scenes.count != 1) {
    cli_error("scree converge: found %d scenes, expected one (scree converge --help explains)",
              scenes.count);
    status = 2;
  }
  if (status < 0) {
    request.scene = scenes.items[0];
    status = converge(&request);
  }
  cli_list_free(&request.sets);
  cli_list_free(&scenes);
  return status;
}

const CliCommand cli_command_converge = {
    .name = "converge",
    .usage = "SCENE.yaml|DIR [options]",
    .summary = "a scene at h, h/2, h/4: order and error bars of every average",
    .help = "Runs the scene with its own time step h, with h/2 and h/4, and at h with a tenth\n"
            "of the tolerance, and compares energies, centre of mass, profiles and sensors\n"
            "over time. Each average gets the error of the step, relative to the scale of\n"
            "the quantity, the error of the tolerance, and the order of convergence where it\n"
            "shows one. Where single bodies move chaotically, it says from which time on, and\n"
            "compares averages over halves of the run. It recommends a step and a tolerance.\n"
            "docs/COMMANDS.md has the definitions.\n"
            "\n"
            "The folder of a run in place of a scene: its scene is taken, and its page (scree\n"
            "report) shows the result.\n"
            "\n"
            "Exit status: 0 all averages are within the accuracy at h; 1 some are not, or\n"
            "steps are not certified; 2 wrong usage or a scene that cannot be used; 3 the\n"
            "machine failed, what was written is intact; 130 interrupted.",
    .examples = "  scree converge examples/column.yaml\n"
                "  scree converge drum.yaml --until 0.5 --accuracy 0.02 --jobs 2\n"
                "  scree converge drum-run && scree report drum-run\n"
                "  scree converge drum.yaml --resume --json",
    .run = run,
};
