/* Time of `auto` against the number of contacts, 1e3 to 1e5, on settled packings of disks and
 * spheres (settle.h), to 1e-4 and to 1e-8 on the default measure; the exponent is the slope of
 * log time over log contacts by least squares. Solves start cold.
 *
 *     growth [--quick] [--mu X (0.3)] [--threads N (1)] [--time-limit S (60)] [--cache DIR]
 *            [--dimension 2|3] [--largest CONTACTS (100000)] [--flow]
 *
 * Packings are at rest: gravity alone loads them, and most contacts are at the edge of sticking
 * with no velocity to tell where they would slide, the hardest case there is. With --flow a wall
 * has been drawn away and the heap is collapsing.
 *
 * --quick stops at 1e4 contacts. --cache keeps the packings as FCLIB files for the next run. A row
 * with a star did not converge within the time limit: its error is what was reached, and it takes
 * no part in the exponent, which is then that of the rows that did. Solves shorter than a second
 * are repeated and the fastest of three is told. */
#include "bench/settle.h"
#include "scree/solver.h"

#include <string.h>

static const int sizes[] = {1000, 3000, 10000, 30000, 100000};
static const double tolerances[] = {1e-4, 1e-8};
enum { FLOW_STEPS = 60 };             /* since the wall began to move */
static const double FLOW_SPEED = 2.0; /* of the wall, metres per second */
enum { SIZES = sizeof sizes / sizeof *sizes, TOLERANCES = 2, REPEATS = 3 };

typedef struct Options {
  double mu, time_limit;
  int threads, largest, dimension; /* dimension 0: both */
  bool flow;
  const char *cache;
} Options;

/* Sums of a least-squares line through (log contacts, log seconds). */
typedef struct Fit {
  double n, x, y, xx, xy;
} Fit;

static void fit_add(Fit *fit, double contacts, double seconds) {
  const double x = log(contacts), y = log(seconds);
  fit->n += 1.0;
  fit->x += x;
  fit->y += y;
  fit->xx += x * x;
  fit->xy += x * y;
}

static double fit_slope(const Fit *fit) {
  return (fit->n * fit->xy - fit->x * fit->y) / (fit->n * fit->xx - fit->x * fit->x);
}

/* Solve up to REPEATS times while it is quick; info is of the fastest. */
static scree_Status solve(const scree_Problem *problem, const Options *options, double tolerance,
                          double *r, double *u, scree_SolveInfo *info) {
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = "auto";
  settings.tolerance = tolerance;
  settings.threads = options->threads;
  settings.time_limit = options->time_limit;
  scree_Status status = SCREE_OK;
  for (int k = 0; k < REPEATS && (k == 0 || info->seconds < 1.0); ++k) {
    scree_SolveInfo again;
    status = scree_solve(problem, &settings, r, u, &again, &settle_log);
    if (status != SCREE_OK && status != SCREE_NOT_CONVERGED) return status;
    if (k == 0 || again.seconds < info->seconds) *info = again;
  }
  return SCREE_OK;
}

static scree_Status rows(const scree_Problem *problem, const Options *options, Fit *fits) {
  const size_t size = (size_t)problem->nc * (size_t)problem->d;
  double *r = malloc(size * sizeof *r), *u = malloc(size * sizeof *u);
  scree_Status status = r && u ? SCREE_OK : SCREE_MACHINE;
  for (int t = 0; t < TOLERANCES && !status; ++t) {
    scree_SolveInfo info;
    status = solve(problem, options, tolerances[t], r, u, &info);
    if (status) break;
    int active = 0;
    for (int c = 0; c < problem->nc; ++c) active += r[c * problem->d] > 0.0;
    printf("%2dD %9d %9d %9d %8.0e %11.4f%s %9.2f %9d %8d  %-8s %9.1e\n", problem->d, problem->nc,
           active, problem->bodies.nbodies, tolerances[t], info.seconds, info.converged ? " " : "*",
           1e6 * info.seconds / problem->nc, info.iterations, info.factorisations, info.solver,
           info.value);
    fflush(stdout);
    if (info.converged) fit_add(&fits[t], problem->nc, info.seconds);
  }
  free(r);
  free(u);
  return status;
}

static scree_Status dimension(int d, const Options *options) {
  Fit fits[TOLERANCES] = {{0}};
  scree_Status status = SCREE_OK;
  for (int k = 0; k < SIZES && sizes[k] <= options->largest && !status; ++k) {
    SettleOptions packing = settle_options(d, sizes[k], options->mu);
    scree_Problem problem;
    scree_World *world;
    packing.threads = options->threads;
    packing.verbose = true;
    if (options->flow) {
      packing.pull = FLOW_SPEED;
      packing.after = FLOW_STEPS;
    }
    status = settle_problem(&packing, options->cache, &problem, &world);
    if (status) break;
    status = rows(&problem, options, fits);
    scree_problem_destroy(&problem);
    scree_world_destroy(world);
  }
  for (int t = 0; t < TOLERANCES && !status; ++t)
    if (fits[t].n >= 2.0)
      printf("%dD to %.0e: seconds ~ contacts^%.2f (%.0f rows)\n", d, tolerances[t],
             fit_slope(&fits[t]), fits[t].n);
    else
      printf("%dD to %.0e: fewer than two rows converged, no exponent\n", d, tolerances[t]);
  printf("\n");
  return status;
}

/* Value of an option that takes one, or null. */
static const char *value_of(int argc, char **argv, int *k, const char *name) {
  if (strcmp(argv[*k], name) != 0 || *k + 1 >= argc) return NULL;
  return argv[++*k];
}

static bool parse(int argc, char **argv, Options *options) {
  for (int k = 1; k < argc; ++k) {
    const char *value;
    if (strcmp(argv[k], "--quick") == 0)
      options->largest = 10000;
    else if ((value = value_of(argc, argv, &k, "--mu")))
      options->mu = strtod(value, NULL);
    else if ((value = value_of(argc, argv, &k, "--threads")))
      options->threads = atoi(value);
    else if ((value = value_of(argc, argv, &k, "--time-limit")))
      options->time_limit = strtod(value, NULL);
    else if ((value = value_of(argc, argv, &k, "--cache")))
      options->cache = value;
    else if ((value = value_of(argc, argv, &k, "--dimension")))
      options->dimension = atoi(value);
    else if ((value = value_of(argc, argv, &k, "--largest")))
      options->largest = atoi(value);
    else if (strcmp(argv[k], "--flow") == 0)
      options->flow = true;
    else
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  Options options = {.mu = 0.3, .time_limit = 60.0, .threads = 1, .largest = 100000};
  if (!parse(argc, argv, &options)) {
    fprintf(stderr, "usage: growth [--quick] [--mu X] [--threads N] [--time-limit S] [--cache DIR] "
                    "[--dimension 2|3] [--largest CONTACTS] [--flow]\n");
    return SCREE_BAD_INPUT;
  }
  printf("auto on %s packings, mu = %g, %d thread(s), cold, at most %g s a solve (* not "
         "converged)\n",
         options.flow ? "collapsing" : "settled", options.mu, options.threads, options.time_limit);
  printf("%3s %9s %9s %9s %8s %11s  %9s %9s %8s  %-8s %9s\n", "", "contacts", "active", "bodies",
         "error <=", "seconds", "us/cont.", "iterat.", "factor.", "by", "error");
  scree_Status status = SCREE_OK;
  for (int d = 2; d <= 3 && !status; ++d)
    if (!options.dimension || options.dimension == d) status = dimension(d, &options);
  return (int)status;
}
