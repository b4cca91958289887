/* `scree race`: every capable solver on every problem, each within a time limit; a table of times,
 * the performance profile as text, and both as files. Times are those of the solve alone; short
 * solves are repeated and the best time counts. */
#define _POSIX_C_SOURCE 200809L
#include "cli/args.h"
#include "cli/guard.h"
#include "cli/profile.h"
#include "cli/record.h"
#include "cli/terminal.h"
#include "run/results_file.h"
#include "scree/fclib.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOLVERS = 64, CELL = 11 };

typedef struct Request {
  scree_SolveSettings settings;
  int law, measure;
  CliList problems, chosen;
  const char *folder;
  bool json, quiet;
} Request;

/* One solver on one problem. */
typedef struct Cell {
  bool ran, converged;
  double seconds, value;
} Cell;

typedef struct Race {
  const Request *request;
  int solvers;
  const char *names[MAX_SOLVERS];
  Cell *cells; /* (problems x solvers) */
  int name_width;
  CliLog log;
  CliProgress progress;
  const char *problem, *solver; /* problem and solver under way, for the progress line */
} Race;

static Cell *cell_of(const Race *race, int problem, int solver) {
  return race->cells + (size_t)problem * (size_t)race->solvers + solver;
}

/* The fastest solver of a problem, or -1. */
static int winner_of(const Race *race, int problem) {
  int winner = -1;
  for (int s = 0; s < race->solvers; ++s) {
    const Cell *cell = cell_of(race, problem, s);
    if (cell->converged && (winner < 0 || cell->seconds < cell_of(race, problem, winner)->seconds))
      winner = s;
  }
  return winner;
}

/* ---- output ------------------------------------------------------------------------------------
 */

static void print_header(const Race *race) {
  const CliColours colour = cli_colours();
  printf("%s%-*s  contacts", colour.bold, race->name_width, "problem");
  for (int s = 0; s < race->solvers; ++s) printf("  %*.*s", CELL, CELL, race->names[s]);
  printf("%s\n", colour.off);
}

/* The time if it was solved, else the error in brackets; a dash where the solver does not apply. */
static void cell_text(const Cell *cell, char *text, size_t size) {
  if (!cell->ran)
    snprintf(text, size, "-");
  else if (cell->converged)
    cli_format_seconds(cell->seconds, text, size);
  else
    snprintf(text, size, "(%.0e)", cell->value);
}

static void print_row(const Race *race, int index, const scree_Problem *problem) {
  const CliColours colour = cli_colours();
  const int winner = winner_of(race, index);
  printf("%-*.*s  %dD %5d", race->name_width, race->name_width,
         cli_base_name(race->request->problems.items[index]), problem->d, problem->nc);
  for (int s = 0; s < race->solvers; ++s) {
    const Cell *cell = cell_of(race, index, s);
    char text[32];
    cell_text(cell, text, sizeof text);
    const char *paint = s == winner ? colour.good : cell->converged ? "" : colour.dim;
    printf(" %s%s%*s%s", paint, s == winner ? "*" : " ", CELL, text, *paint ? colour.off : "");
  }
  printf("\n");
  fflush(stdout);
}

static bool write_csv(const Race *race, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) return false;
  fprintf(file, "problem,solver,converged,seconds,value\n");
  for (int p = 0; p < race->request->problems.count; ++p)
    for (int s = 0; s < race->solvers; ++s) {
      const Cell *cell = cell_of(race, p, s);
      if (cell->ran)
        fprintf(file, "\"%s\",%s,%d,%.6g,%.6g\n", cli_base_name(race->request->problems.items[p]),
                race->names[s], cell->converged, cell->seconds, cell->value);
    }
  const bool written = !ferror(file);
  return fclose(file) == 0 && written;
}

static int write_files(const Race *race, const CliProfile *profile) {
  const char *folder = race->request->folder;
  const size_t size = strlen(folder) + 32;
  char *path = malloc(size), title[128], tolerance[32];
  if (!path) return 3;
  cli_format_short(race->request->settings.tolerance, tolerance, sizeof tolerance);
  snprintf(title, sizeof title, "%d problems to %s (%s)", profile->problems, tolerance,
           scree_measure_names[race->request->measure]);
  snprintf(path, size, "%s/profile.svg", folder);
  bool written = cli_profile_svg(profile, title, path);
  if (written) {
    snprintf(path, size, "%s/race.csv", folder);
    written = write_csv(race, path);
  }
  if (!written) cli_error("scree race: -o: %s cannot be written: %s", path, strerror(errno));
  free(path);
  return written ? 0 : 3;
}

/* The profile of all that was run, on the terminal and in files. */
static int report_profile(const Race *race) {
  const int problems = race->request->problems.count;
  double *seconds = malloc(((size_t)problems * (size_t)race->solvers + 1) * sizeof *seconds);
  if (!seconds) return 3;
  for (int k = 0; k < problems * race->solvers; ++k)
    seconds[k] = race->cells[k].converged ? fmax(race->cells[k].seconds, 1e-9) : INFINITY;
  const CliProfile profile = {race->solvers, problems, race->names, seconds};
  if (!race->request->json && problems > 1) {
    printf("\n");
    cli_profile_print(&profile, stdout);
  }
  const int status = race->request->folder ? write_files(race, &profile) : 0;
  free(seconds);
  return status;
}

/* ---- running -----------------------------------------------------------------------------------
 */

static bool on_progress(void *user, int iteration, double measured) {
  Race *race = user;
  if (cli_progress_due(&race->progress))
    cli_progress_show(&race->progress, "%s, %s: iteration %d, %.2e", race->problem, race->solver,
                      iteration, measured);
  return !cli_interrupted();
}

/* One solver on one problem. */
static void run_cell(Race *race, const scree_Problem *problem, Cell *cell, double *r, double *u) {
  scree_SolveSettings settings = race->request->settings;
  scree_SolveInfo info;
  settings.solver = race->solver;
  settings.progress = on_progress;
  settings.progress_user = race;
  const scree_Status status = cli_solve(problem, &settings, r, u, &info, &race->log.log);
  cli_progress_clear(&race->progress);
  *cell = (Cell){.ran = status <= SCREE_NOT_CONVERGED,
                 .converged = info.converged,
                 .seconds = info.seconds,
                 .value = info.value};
  if (race->request->json)
    cli_write_record(stdout, &(CliRecord){.name = race->problem,
                                          .problem = problem,
                                          .law = race->request->law,
                                          .settings = &settings,
                                          .info = &info,
                                          .status = status,
                                          .message = race->log.last});
}

/* Run all solvers on one problem. Returns 0, 1 when no solver solved it, 2 or 3 for failures. */
static int run_problem(Race *race, int index) {
  const char *path = race->request->problems.items[index];
  scree_Problem problem = {0};
  scree_Status status = cli_read_problem(path, &problem, NULL, &race->log.log);
  if (status) return (int)status;
  const size_t count = (size_t)problem.nc * (size_t)problem.d;
  double *r = calloc(count + 1, sizeof *r), *u = calloc(count + 1, sizeof *u);
  problem.flow = (scree_Flow)race->request->law;
  race->problem = cli_base_name(path);
  for (int s = 0; r && u && s < race->solvers; ++s) {
    race->solver = race->names[s];
    if (scree_solver_class_refuses(scree_solver_class_find(race->solver), &problem)) continue;
    run_cell(race, &problem, cell_of(race, index, s), r, u);
    if (cli_interrupted() || !cli_output_alive()) break;
  }
  if (!race->request->json) print_row(race, index, &problem);
  if (!r || !u) cli_error("scree: out of memory: cannot allocate the impulses of %s", path);
  const int outcome = !r || !u ? 3 : winner_of(race, index) < 0;
  free(r);
  free(u);
  scree_problem_destroy(&problem);
  return outcome;
}

static int run_all(const Request *request) {
  Race race = {.request = request};
  const unsigned law = request->law == SCREE_COULOMB ? SCREE_CAN_COULOMB : SCREE_CAN_ASSOCIATED;
  int worst = 0;
  for (int k = 0; scree_solver_class(k) && race.solvers < MAX_SOLVERS; ++k) {
    const scree_SolverClass *class_ = scree_solver_class(k);
    const char *name = scree_solver_class_name(class_);
    bool wanted = request->chosen.count == 0 && (scree_solver_class_capabilities(class_) & law);
    for (int c = 0; c < request->chosen.count; ++c)
      wanted = wanted || strcmp(request->chosen.items[c], name) == 0;
    if (wanted) race.names[race.solvers++] = name;
  }
  race.cells = calloc((size_t)request->problems.count * (size_t)race.solvers + 1, sizeof(Cell));
  if (!race.cells) {
    cli_error("scree: out of memory");
    return 3;
  }
  for (int k = 0; k < request->problems.count; ++k) {
    const int length = (int)strlen(cli_base_name(request->problems.items[k]));
    race.name_width = length > race.name_width ? length : race.name_width;
  }
  race.name_width = race.name_width > 40 ? 40 : race.name_width < 7 ? 7 : race.name_width;
  cli_log_init(&race.log, true, false);
  cli_progress_init(&race.progress, request->quiet);
  cli_catch_interrupt();
  if (!request->json) print_header(&race);
  for (int k = 0; k < request->problems.count && cli_output_alive(); ++k) {
    const int status = run_problem(&race, k);
    if (status > worst) worst = status;
    if (!cli_interrupted()) continue;
    cli_error("scree race: interrupted");
    if (worst < 1) worst = 1;
    break;
  }
  const int status = report_profile(&race);
  free(race.cells);
  return cli_finish(status > worst ? status : worst);
}

/* ---- the request -------------------------------------------------------------------------------
 */

static int check_request(const Request *request) {
  if (request->problems.count == 0) {
    cli_error("scree race: expected a problem file (scree race --help explains)");
    return 2;
  }
  for (int k = 0; k < request->chosen.count; ++k)
    if (!scree_solver_class_find(request->chosen.items[k])) {
      cli_error("scree race: unknown solver \"%s\" (scree solvers lists them)",
                request->chosen.items[k]);
      return 2;
    }
  const int error = request->folder ? scree_make_folder(request->folder) : 0;
  if (!error) return -1;
  cli_error("scree race: -o: folder %s cannot be made: %s", request->folder, strerror(error));
  return error == ENOTDIR || error == EEXIST ? 2 : 3;
}

static int run(const CliCommand *command, int argc, char **argv) {
  Request request = {.settings = scree_solve_settings()};
  scree_SolveSettings *settings = &request.settings;
  settings->time_limit = 10.0;
  request.measure = (int)settings->measure;
  char tol_help[128], tolerance[32];
  cli_format_short(settings->tolerance, tolerance, sizeof tolerance);
  snprintf(tol_help, sizeof tol_help, "solved means: measure at most X (default %s)", tolerance);
  const CliOption options[] = {
      {"solver", 's', CLI_LIST, &request.chosen, "NAME", "use only this solver; may be repeated", 0,
       0, NULL},
      {"law", 0, CLI_CHOICE, &request.law, "LAW", "coulomb (default) or associated", 0, 0,
       scree_flow_names},
      {"tol", 't', CLI_REAL, &settings->tolerance, "X", tol_help, 0, HUGE_VAL, NULL},
      {"measure", 'm', CLI_CHOICE, &request.measure, "NAME",
       "error (default), siconos, both, eps_glob, merit", 0, 0, scree_measure_names},
      {"time-limit", 0, CLI_REAL, &settings->time_limit, "S",
       "limit for one solver on one problem, in seconds\n(default 10)", 0, HUGE_VAL, NULL},
      {"threads", 'j', CLI_INT, &settings->threads, "N", "use N threads (default: all processors)",
       1, 4096, NULL},
      {"json", 0, CLI_FLAG, &request.json, NULL,
       "print one JSON object per line, one for each solve", 0, 0, NULL},
      {"output", 'o', CLI_TEXT, &request.folder, "DIR",
       "write profile.svg and race.csv to this folder", 0, 0, NULL},
      {"quiet", 'q', CLI_FLAG, &request.quiet, NULL, "no progress", 0, 0, NULL},
      {0},
  };
  int status = cli_parse(command, options, argc, argv, &request.problems);
  settings->measure = (scree_Measure)request.measure;
  if (status < 0) status = check_request(&request);
  if (status < 0) status = run_all(&request);
  cli_list_free(&request.chosen);
  cli_list_free(&request.problems);
  return status;
}

const CliCommand cli_command_race = {
    .name = "race",
    .usage = "PROBLEM.hdf5... [options]",
    .summary = "compare all solvers on contact problems: table, performance profile",
    .help =
        "Runs all solvers that can solve a problem, within a time limit, and prints a\ntable. An "
        "entry is the time in which the solver reached the tolerance (* marks\nthe fastest). If it "
        "did not reach it, the entry is its error in brackets. A\ndash means that the solver does "
        "not apply. With several problems it also prints\na performance profile (Dolan and More): "
        "the part of the problems that a solver\nsolves within a factor of the fastest "
        "time.\n\nExit status: 0 each problem was solved by some solver; 1 some problem by "
        "none;\n2 wrong usage, or some file cannot be read; 3 failure of the machine.",
    .examples = "  scree race tower.hdf5\n"
                "  scree race *.hdf5 --tol 1e-4 --time-limit 5 -o race/\n"
                "  scree race *.hdf5 --solver nlgs --solver pqn --json",
    .run = run,
};
