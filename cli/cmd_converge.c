/* `scree converge`: a scene at h, h/2, h/4, … and with a tenth of the tolerance, each an ordinary
 * run in a folder of its own, and their comparison (run/converge.h, cli/converge.h). */
#define _POSIX_C_SOURCE 200809L
#include "cli/args.h"
#include "cli/converge.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "run/results_file.h"
#include "scree/run.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void plan_variants(const ConvergeRequest *request, double step, double tolerance,
                          ConvergePlan *plan) {
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

static int check_until(const ConvergeRequest *request, const scree_Log *log,
                       const ConvergePlan *plan) {
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

static int make_plan(const ConvergeRequest *request, const scree_Log *log, ConvergePlan *plan) {
  struct stat about;
  *plan =
      (ConvergePlan){.request = request, .log = log, .starts = request->seeds ? request->seeds : 1};
  const bool is_run = stat(request->scene, &about) == 0 && S_ISDIR(about.st_mode);
  plan->scene_path = cli_join(request->scene, is_run ? "scene.yaml" : NULL);
  if (is_run) plan->run_folder = cli_join(request->scene, NULL);
  plan->folder =
      request->folder ? cli_join(request->folder, NULL) : default_folder(request->scene, is_run);
  if (!plan->scene_path || !plan->folder || (is_run && !plan->run_folder)) return 3;
  int status = request->until > 0.0 ? check_until(request, log, plan) : 0;
  scree_Scene *scene = NULL;
  if (status == 0) status = converge_read_scene(plan, 0, NULL, &scene);
  if (status != 0) return status;
  const scree_SceneInfo info = scree_scene_info(scene);
  snprintf(plan->title, sizeof plan->title, "%s", info.title ? info.title : "");
  plan->duration = info.duration;
  scree_converge_seed(scene, &plan->seed, &plan->perturb);
  plan->every = info.step * (double)info.frame_steps; /* a multiple of every run's step */
  plan_variants(request, info.step, scree_converge_tolerance(scene), plan);
  scree_scene_destroy(scene);
  return 0;
}

static void plan_fini(ConvergePlan *plan) {
  free(plan->scene_path);
  free(plan->folder);
  free(plan->run_folder);
}

static void say_resume(const ConvergeRequest *request, const ConvergePlan *plan) {
  fprintf(stderr, "resume with: scree converge %s -o %s --resume", request->scene, plan->folder);
  if (request->until > 0.0) fprintf(stderr, " --until %.10g", request->until);
  if (request->levels != 3) fprintf(stderr, " --levels %d", request->levels);
  if (request->seeds) fprintf(stderr, " --seeds %d", request->seeds);
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

static int write_results(const ConvergePlan *plan, const ConvergeResult *result,
                         const ConvergeText *words, const scree_Log *log) {
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

static scree_Status open_run(void *user, int start, int run, scree_Replay **replay) {
  const ConvergePlan *plan = user;
  char *folder = converge_run_folder(plan, start, &plan->variant[run]);
  const scree_Status status = folder ? scree_replay_open(folder, plan->log, replay) : SCREE_MACHINE;
  free(folder);
  return status;
}

static int compare(ConvergePlan *plan) {
  const ConvergeRequest *request = plan->request;
  ConvergeResult result = {
      .scene = request->scene, .folder = plan->folder, .title = plan->title, .runs = plan->runs};
  const scree_ConvergeSource source = {.open = open_run,
                                       .user = plan,
                                       .starts = plan->starts,
                                       .levels = request->levels,
                                       .tolerance_run = true};
  scree_Scene *scene = NULL;
  memcpy(result.variant, plan->variant, sizeof result.variant);
  int status = converge_read_scene(plan, 0, &plan->variant[0], &scene);
  if (status == 0)
    status =
        (int)scree_convergence_compute(&source, scene, request->accuracy, plan->log, &result.all);
  if (status == 0) {
    ConvergeText words;
    converge_conclude(&result, &words);
    status = write_results(plan, &result, &words, plan->log);
    if (status == 0) status = words.within ? 0 : 1;
    if (status <= 1 && request->json)
      converge_print_json(&result, &words, status);
    else if (status <= 1 && !request->quiet)
      converge_print_table(&result, &words);
    scree_convergence_fini(&result.all);
  }
  scree_scene_destroy(scene);
  return status;
}

static int converge(const ConvergeRequest *request) {
  CliLog log;
  ConvergePlan plan;
  cli_log_init(&log, request->quiet, request->verbose);
  converge_catch_signals();
  int status = make_plan(request, &log.log, &plan);
  if (status == 0 && !cli_need_folder(plan.folder)) {
    status = 3;
  } else if (status == 0) {
    status = converge_run_all(&plan);
    if (status == CONVERGE_INTERRUPTED)
      cli_error("scree converge: interrupted, everything is written");
    else if (status == 3)
      cli_error("scree converge: stopped; what was written is intact");
    if (status >= 3) say_resume(request, &plan);
  }
  if (status == 0) status = compare(&plan);
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
  ConvergeRequest request = {.accuracy = 0.01, .levels = 3, .jobs = 1};
  const CliOption options[] = {
      {"output", 'o', CLI_TEXT, &request.folder, "DIR",
       "folder of the runs and results (default: the name of\nthe scene without extension, "
       "followed by -converge)",
       0, 0, NULL},
      {"set", 0, CLI_LIST, &request.sets, "PATH=VALUE",
       "change a value of the scene; may be repeated", 0, 0, NULL},
      {"until", 0, CLI_REAL, &request.until, "T",
       "compare up to time T (default: the duration of the\nscene)", 0, HUGE_VAL, NULL},
      {"accuracy", 'a', CLI_REAL, &request.accuracy, "X",
       "allowed error of averages, relative to their scales\n(default 0.01)", 1e-12, 1, NULL},
      {"levels", 0, CLI_INT, &request.levels, "N",
       "number of time steps h, h/2, h/4, ... (default 3)", 2, SCREE_CONVERGE_LEVELS, NULL},
      {"seeds", 0, CLI_INT, &request.seeds, "N",
       "for chaotic scenes: compare means over N initial\nstates, with standard errors; 8 for a "
       "first look",
       SCREE_CONVERGE_STARTS_LEAST, SCREE_CONVERGE_STARTS_MOST, NULL},
      {"jobs", 0, CLI_INT, &request.jobs, "N",
       "run N simulations at a time, with one thread each\n(default 1)", 1, 4096, NULL},
      {"threads", 'j', CLI_INT, &request.threads, "N",
       "threads of a run, without --jobs (default: those of\nthe scene, which are all processors)",
       1, 4096, NULL},
      {"resume", 0, CLI_FLAG, &request.resume, NULL,
       "continue interrupted runs; finished runs are not\nrepeated", 0, 0, NULL},
      {"force", 'f', CLI_FLAG, &request.force, NULL, "replace existing runs in the folder", 0, 0,
       NULL},
      {"json", 0, CLI_FLAG, &request.json, NULL,
       "print one JSON object per average, then the verdict", 0, 0, NULL},
      {"quiet", 'q', CLI_FLAG, &request.quiet, NULL, "print errors only", 0, 0, NULL},
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
    .summary = "compare runs at h, h/2, h/4: error of every average",
    .help =
        "Checks whether the time step of a scene is small enough. Runs the scene with\nits own "
        "time step h, with h/2 and h/4, and with h and a tenth of the tolerance.\nCompares "
        "energies, centre of mass, profiles and sensors over time. For each\naverage it prints the "
        "error of the time step relative to the scale of the\nquantity, the error of the "
        "tolerance, and the order of convergence if one is\nobserved. It recommends a time step "
        "and a tolerance. docs/COMMANDS.md has the\ndefinitions.\n\nIf single bodies move "
        "chaotically, it reports the time from which they do, and\ncompares averages over the two "
        "halves of the run. Two runs then differ by their\nscatter, whatever the time step. With "
        "--seeds N the comparison is made for N\ninitial states (other seeds, and velocities "
        "changed by a thousandth), and the\nmeans over these are compared, with their standard "
        "errors. The first initial\nstate is the scene itself. --resume with a larger N keeps the "
        "existing ones.\n\nInstead of a scene the folder of a run can be given. Then its scene is "
        "used,\nand its page (scree report) shows the result.\n\nExit status: 0 all averages are "
        "within the accuracy at h; 1 some are not, or\nthis cannot be decided (--seeds), or some "
        "steps are not certified; 2 wrong\nusage or invalid scene; 3 failure of the machine, the "
        "files written so far are\nintact; 130 interrupted.",
    .examples = "  scree converge examples/column.yaml\n"
                "  scree converge drum.yaml --until 0.5 --accuracy 0.02 --jobs 2\n"
                "  scree converge drum.yaml --seeds 8 --until 1 --jobs 2\n"
                "  scree converge drum-run && scree report drum-run\n"
                "  scree converge drum.yaml --resume --json",
    .run = run,
};
