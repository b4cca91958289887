/* `scree solve`: read problems, solve each with the chosen solver, print the certificate that the
 * library measured, write the solutions. A problem that fails does not stop the others; the exit
 * status is the worst of all. */
#define _POSIX_C_SOURCE 200809L
#include "cli/args.h"
#include "cli/guard.h"
#include "cli/ranks.h"
#include "cli/record.h"
#include "cli/terminal.h"
#include "run/results_file.h"
#include "scree/fclib.h"
#include "scree/solver.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The request of the command line. */
typedef struct Request {
  scree_SolveSettings settings;
  int law, measure; /* scree_Flow, scree_Measure */
  CliList sets, problems;
  const char *folder; /* of -o, or null */
  bool json, quiet, verbose, internal;
} Request;

/* A problem, its solve and its result. */
typedef struct Task {
  const char *path, *name; /* name: the last part of the path */
  scree_Problem problem;
  double *r, *u; /* (nc x d) */
  scree_SolveInfo info;
  scree_InternalForces internal; /* if asked for */
  scree_Status status;
} Task;

/* ---- output ------------------------------------------------------------------------------------
 */

static void write_json(const Request *request, const Task *task, const char *message) {
  cli_write_record(stdout, &(CliRecord){.name = task->name,
                                        .problem = &task->problem,
                                        .law = request->law,
                                        .settings = &request->settings,
                                        .info = &task->info,
                                        .internal = request->internal ? &task->internal : NULL,
                                        .status = task->status,
                                        .message = message});
}

/* Width of the first column: the longest name. */
static int name_width(const CliList *problems) {
  size_t width = strlen("problem");
  for (int k = 0; k < problems->count; ++k) {
    const size_t length = strlen(cli_base_name(problems->items[k]));
    if (length > width) width = length;
  }
  return width < 60 ? (int)width : 60;
}

static void print_header(int width) {
  const CliColours colour = cli_colours();
  printf("%s%-*s  dim  contacts  %-12s  iterations     error   siconos      time  result%s\n",
         colour.bold, width, "problem", "solver", colour.off);
}

static void print_row(const Request *request, const Task *task, int width) {
  const CliColours colour = cli_colours();
  printf("%-*s", width, task->name);
  if (task->status > SCREE_NOT_CONVERGED) {
    printf("  %s%s%s\n", colour.bad, scree_status_name(task->status), colour.off);
    return;
  }
  char seconds[32];
  cli_format_seconds(task->info.seconds, seconds, sizeof seconds);
  printf("  %dD   %8d  %-12s  %10d  %8.1e  %8.1e  %8s  ", task->problem.d, task->problem.nc,
         task->info.solver ? task->info.solver : request->settings.solver, task->info.iterations,
         task->info.measures.error, task->info.measures.error_siconos, seconds);
  if (task->info.converged)
    printf("%sok%s", colour.good, colour.off);
  else
    printf("%snot converged%s", colour.warn, colour.off);
  if (request->measure > SCREE_MEASURE_BOTH)
    printf("  %s %.1e", scree_measure_names[request->measure], task->info.value);
  if (request->law == SCREE_ASSOCIATED)
    printf("  dilatation %.1e", task->info.measures.dilatation_max);
  if (request->internal) printf("  internal forces in %d contacts", task->internal.contacts);
  printf("\n");
}

/* The stages of a solve, under its row. */
static void print_stages(const Task *task) {
  const CliColours colour = cli_colours();
  if (task->status > SCREE_NOT_CONVERGED) return;
  for (int k = 0; k < task->info.nstages; ++k) {
    const scree_SolveStage *stage = &task->info.stages[k];
    char seconds[32];
    cli_format_seconds(stage->seconds, seconds, sizeof seconds);
    printf("%s  stage %2d  %-8s  error %8.1e -> %8.1e  iterations %7d  factorisations %5d  %8s%s\n",
           colour.dim, k + 1, stage->name, stage->error_before, stage->error_after,
           stage->iterations, stage->factorisations, seconds, colour.off);
  }
}

/* ---- solving -----------------------------------------------------------------------------------
 */

typedef struct Watch {
  CliProgress progress;
  const Task *task;
  int number, count;
} Watch;

static bool on_progress(void *user, int iteration, double measured) {
  Watch *watch = user;
  if (cli_progress_due(&watch->progress))
    cli_progress_show(&watch->progress, "[%d/%d] %s: iteration %d, %.2e", watch->number,
                      watch->count, watch->task->name, iteration, measured);
  return !cli_interrupted();
}

static scree_Status write_result(const Request *request, const Task *task, const scree_Log *log) {
  const size_t size = strlen(request->folder) + strlen(task->name) + 2;
  char *path = malloc(size);
  if (!path) {
    cli_error("scree: out of memory");
    return SCREE_MACHINE;
  }
  snprintf(path, size, "%s/%s", request->folder, task->name);
  scree_Status status =
      scree_fclib_write_solution(task->path, path, &task->problem, task->r, task->u, log);
  free(path);
  return status;
}

/* Read, solve, write. task->status is the outcome. */
static void perform(const Request *request, Task *task, Watch *watch, const scree_Log *log) {
  task->status = cli_read_problem(task->path, &task->problem, NULL, log);
  if (task->status != SCREE_OK) return;
  task->problem.flow = (scree_Flow)request->law;
  const size_t count = (size_t)task->problem.nc * (size_t)task->problem.d;
  task->r = calloc(count + 1, sizeof *task->r);
  task->u = calloc(count + 1, sizeof *task->u);
  if (!task->r || !task->u) {
    cli_error("scree: out of memory: cannot allocate the impulses of %s", task->path);
    task->status = SCREE_MACHINE;
    return;
  }
  scree_SolveSettings settings = request->settings;
  settings.progress = on_progress;
  settings.progress_user = watch;
  watch->task = task;
  task->status = cli_solve(&task->problem, &settings, task->r, task->u, &task->info, log);
  cli_progress_clear(&watch->progress);
  if (task->status <= SCREE_NOT_CONVERGED && request->internal) {
    const double accuracy = fmax(1e-6, 10 * task->info.measures.error);
    const scree_Status found =
        scree_internal_forces(&task->problem, task->u, accuracy, NULL, &task->internal, log);
    if (found) task->status = found;
  }
  if (task->status > SCREE_NOT_CONVERGED || !request->folder) return;
  scree_Status written = write_result(request, task, log);
  if (written != SCREE_OK) task->status = written;
}

static int solve_all(const Request *request) {
  CliLog log;
  Watch watch = {.count = request->problems.count};
  const int width = name_width(&request->problems);
  int worst = 0, solved = 0;
  cli_log_init(&log, request->quiet, request->verbose);
  cli_progress_init(&watch.progress, request->quiet);
  cli_catch_interrupt();
  if (!request->json && !request->quiet) print_header(width);
  for (int k = 0; k < request->problems.count; ++k) {
    const char *path = request->problems.items[k];
    Task task = {.path = path, .name = cli_base_name(path)};
    watch.number = k + 1;
    log.last[0] = '\0';
    perform(request, &task, &watch, &log.log);
    if (request->json)
      write_json(request, &task, log.last);
    else if (!request->quiet)
      print_row(request, &task, width);
    if (!request->json && request->verbose) print_stages(&task);
    if ((int)task.status > worst) worst = (int)task.status;
    solved += task.status == SCREE_OK;
    scree_problem_destroy(&task.problem);
    free(task.r);
    free(task.u);
    if (!cli_output_alive()) break;
    if (cli_interrupted()) {
      cli_error("scree solve: interrupted");
      if (worst < 1) worst = 1;
      break;
    }
  }
  if (!request->json && !request->quiet && request->problems.count > 1) {
    char tolerance[32];
    cli_format_short(request->settings.tolerance, tolerance, sizeof tolerance);
    printf("%d of %d solved to %s (%s)\n", solved, request->problems.count, tolerance,
           scree_measure_names[request->measure]);
  }
  return cli_finish(worst);
}

/* ---- checking the request ----------------------------------------------------------------------
 */

/* A wrong solver or option is wrong for all problems: report it before any is read. */
static int check_solver(const Request *request) {
  const scree_SolverClass *solver = scree_solver_class_find(request->settings.solver);
  if (!solver) {
    const char *words[64] = {NULL};
    for (int k = 0; k < 63 && scree_solver_class(k); ++k)
      words[k] = scree_solver_class_name(scree_solver_class(k));
    const char *near = scree_nearest_word(request->settings.solver, words);
    cli_error("scree solve: unknown solver \"%s\"%s%s%s (scree solvers lists them)",
              request->settings.solver, near ? "; did you mean " : "", near ? near : "",
              near ? "?" : "");
    return 2;
  }
  const scree_OptionTable *table = scree_solver_class_options(solver);
  void *values = calloc(1, table->size ? table->size : 1);
  if (!values) {
    cli_error("scree: out of memory");
    return 3;
  }
  CliLog log;
  cli_log_init(&log, true, false);
  int status = -1;
  scree_options_init(table, values);
  for (int k = 0; k < request->sets.count && status < 0; ++k) {
    const char *text = request->sets.items[k], *equals = strchr(text, '=');
    char name[64], owner[64];
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name) {
      cli_error("scree solve: --set: found \"%s\", expected NAME=VALUE", text);
      status = 2;
      break;
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    snprintf(owner, sizeof owner, "solver %s", request->settings.solver);
    if (scree_options_set(table, owner, values, name, equals + 1, &log.log) != SCREE_OK) status = 2;
  }
  free(values);
  return status;
}

/* The output folder exists, no two problems share a name in it, and no input would be overwritten.
 */
static int check_folder(const Request *request) {
  if (!request->folder) return -1;
  const CliList *problems = &request->problems;
  for (int a = 0; a < problems->count; ++a)
    for (int b = 0; b < a; ++b)
      if (strcmp(cli_base_name(problems->items[a]), cli_base_name(problems->items[b])) == 0) {
        cli_error("scree solve: -o: %s and %s would both be written as %s/%s", problems->items[b],
                  problems->items[a], request->folder, cli_base_name(problems->items[a]));
        return 2;
      }
  const int error = scree_make_folder(request->folder);
  if (error) {
    cli_error("scree solve: -o: folder %s cannot be made: %s", request->folder, strerror(error));
    return error == ENOTDIR || error == EEXIST ? 2 : 3;
  }
  for (int k = 0; k < problems->count; ++k) {
    struct stat source, target;
    const size_t size = strlen(request->folder) + strlen(cli_base_name(problems->items[k])) + 2;
    char *path = malloc(size);
    if (!path) return 3;
    snprintf(path, size, "%s/%s", request->folder, cli_base_name(problems->items[k]));
    const bool same = stat(problems->items[k], &source) == 0 && stat(path, &target) == 0 &&
                      source.st_dev == target.st_dev && source.st_ino == target.st_ino;
    free(path);
    if (!same) continue;
    cli_error("scree solve: -o: %s would be overwritten; choose another folder",
              problems->items[k]);
    return 2;
  }
  return -1;
}

static int run(const CliCommand *command, int argc, char **argv) {
  Request request = {.settings = scree_solve_settings()};
  scree_SolveSettings *settings = &request.settings;
  settings->share_processors = true;
  settings->ranks = cli_ranks();
  request.measure = (int)settings->measure;
  char solver_help[128], tol_help[128], tolerance[32];
  cli_format_short(settings->tolerance, tolerance, sizeof tolerance);
  snprintf(solver_help, sizeof solver_help, "a solver of `scree solvers` (default %s)",
           settings->solver);
  snprintf(tol_help, sizeof tol_help, "stop when the measure is at most X (default %s)", tolerance);
  const CliOption options[] = {
      {"solver", 's', CLI_TEXT, &settings->solver, "NAME", solver_help, 0, 0, NULL},
      {"set", 0, CLI_LIST, &request.sets, "OPT=VALUE",
       "an option of the solver; may be repeated (scree\nsolvers NAME lists them)", 0, 0, NULL},
      {"law", 0, CLI_CHOICE, &request.law, "LAW",
       "coulomb (default), or associated: convex and cheaper,\nbut sliding contacts open", 0, 0,
       scree_flow_names},
      {"tol", 't', CLI_REAL, &settings->tolerance, "X", tol_help, 0, HUGE_VAL, NULL},
      {"measure", 'm', CLI_CHOICE, &request.measure, "NAME",
       "error measure to which the tolerance applies: error\n(default, independent of units), "
       "siconos, both,\neps_glob, merit, increment",
       0, 0, scree_measure_names},
      {"max-iter", 'n', CLI_INT, &settings->max_iterations, "N",
       "stop after N iterations (default: the limit of the\nsolver)", 1, INT_MAX, NULL},
      {"time-limit", 0, CLI_REAL, &settings->time_limit, "S",
       "stop the solve of a problem after S seconds", 0, HUGE_VAL, NULL},
      {"internal", 0, CLI_FLAG, &request.internal, NULL,
       "search for internal forces: contacts whose impulses\nare not determined", 0, 0, NULL},
      {"threads", 'j', CLI_INT, &settings->threads, "N",
       "use at most N threads (default: all processors), fewer\nwhile other programs use the "
       "processors; the result\ndoes not depend on it",
       1, 4096, NULL},
      {"json", 0, CLI_FLAG, &request.json, NULL,
       "print one JSON object per line, one for each problem", 0, 0, NULL},
      {"output", 'o', CLI_TEXT, &request.folder, "DIR",
       "write each problem with its /solution to this folder", 0, 0, NULL},
      {"quiet", 'q', CLI_FLAG, &request.quiet, NULL, "print only errors, and the lines of --json",
       0, 0, NULL},
      {"verbose", 'v', CLI_FLAG, &request.verbose, NULL, "print more messages", 0, 0, NULL},
      {0},
  };
  int status = cli_parse(command, options, argc, argv, &request.problems);
  if (status < 0 && request.problems.count == 0) {
    cli_error("scree solve: expected a problem file (scree solve --help explains)");
    status = 2;
  }
  settings->measure = (scree_Measure)request.measure;
  settings->options = request.sets.items;
  if (status < 0) status = check_solver(&request);
  if (status < 0) status = check_folder(&request);
  if (status < 0) status = solve_all(&request);
  cli_list_free(&request.sets);
  cli_list_free(&request.problems);
  return status;
}

const CliCommand cli_command_solve = {
    .name = "solve",
    .usage = "PROBLEM.hdf5... [options]",
    .summary = "solve frictional contact problems in FCLIB's format",
    .help =
        "Solves contact problems and prints one line for each. The error is "
        "measured\nindependently of the solver: `error` does not depend on units; `siconos` is "
        "the\nerror of published comparisons. A problem that cannot be read does not stop "
        "the\nothers. Short solves are repeated, up to 20 times, and the shortest time "
        "is\nprinted.\n\n`mpirun -n N scree solve` divides each problem between N processes, in a "
        "build\nwith MPI (make mpi).\n\nExit status: 0 all problems are solved to the tolerance; 1 "
        "some are not; 2\nwrong usage, or some file cannot be read; 3 failure of the machine.",
    .examples = "  scree solve tower.hdf5\n"
                "  scree solve *.hdf5 --tol 1e-6 --time-limit 10\n"
                "  scree solve tower.hdf5 --solver nlgs --set local=exact --max-iter 1000\n"
                "  scree solve tower.hdf5 --json -o solved/",
    .run = run,
};
