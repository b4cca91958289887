/* `auto` on dense packings of many kinds (packs.h), from cold starts: counted work, sweeps and time
 * against the number of contacts to 1e-4, and how many are solved to 1e-8.
 *
 *     growth [--sizes 100,1000,...] [--seeds 1,2,...] [--only TEXT] [--loose | --tight]
 *            [--time-limit S (60)] [--threads N (1)] [--cache DIR] [--solver NAME]
 *
 * Without --sizes: 100 to 100 000 contacts to 1e-4, 100 to 10 000 to 1e-8. Exponents are the slopes
 * of log seconds, log counted work and log sweeps over log contacts by least squares over the rows
 * of one kind of packing that were solved, from 1000 contacts on. A row with a star was not solved
 * within the time limit; its error is what was reached. Seconds on one thread are of the process,
 * which other programs disturb less, and of the clock on several. --cache keeps the packings as
 * FCLIB files for the next run. */
#include "bench/packs.h"
#include "scree/solver.h"

#include <string.h>
#include <time.h>

enum { LIST_MOST = 32, FIT_FROM = 800 };
enum { TOLERANCES = 2 };
static const double tolerances[TOLERANCES] = {1e-4, 1e-8};
static const int default_sizes[TOLERANCES][5] = {{100, 1000, 10000, 100000, 0},
                                                 {100, 300, 1000, 3000, 10000}};

typedef struct Options {
  double time_limit;
  int threads;
  bool skip[TOLERANCES];
  const char *cache, *only, *solver;
  int sizes[LIST_MOST], nsizes;
  int seeds[LIST_MOST], nseeds;
} Options;

/* Sums of a least-squares line through (log contacts, log y). */
typedef struct Fit {
  double n, x, y, xx, xy;
} Fit;

static void fit_add(Fit *fit, double contacts, double value) {
  const double x = log(contacts), y = log(value);
  fit->n += 1.0;
  fit->x += x;
  fit->y += y;
  fit->xx += x * x;
  fit->xy += x * y;
}

static double fit_slope(const Fit *fit) {
  return (fit->n * fit->xy - fit->x * fit->y) / (fit->n * fit->xx - fit->x * fit->x);
}

typedef struct Sums {
  Fit seconds, work, sweeps;
  int solved, all;
} Sums;

static void add_sums(Sums *sums, const Sums *more) {
  sums->solved += more->solved;
  sums->all += more->all;
}

static scree_Status row(const PackMember *m, const Options *options, int t, int contacts,
                        unsigned seed, Sums *sums) {
  Pack pack;
  scree_Status status = pack_make(m, contacts, seed, options->cache, &pack);
  if (status) {
    pack_destroy(&pack);
    return status;
  }
  const scree_Problem *p = &pack.problem;
  const size_t size = (size_t)p->nc * (size_t)p->d;
  double *r = malloc((size + 1) * sizeof *r), *u = malloc((size + 1) * sizeof *u);
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info = {0};
  settings.solver = options->solver;
  settings.tolerance = tolerances[t];
  settings.threads = options->threads;
  settings.time_limit = options->time_limit;
  const clock_t start = clock();
  status = r && u ? scree_solve(p, &settings, r, u, &info, &pack_log) : SCREE_MACHINE;
  const double seconds =
      options->threads == 1 ? (double)(clock() - start) / CLOCKS_PER_SEC : info.seconds;
  if (status == SCREE_OK || status == SCREE_NOT_CONVERGED) {
    int active = 0;
    for (int c = 0; c < p->nc; ++c) active += r[c * p->d] > 0.0;
    printf("%-24s %8d %8d %8d %5.2f %4u %6.0e %9.3f%s %9.3f %8d %6d  %-7s %8.1e\n", m->name, p->nc,
           active, p->bodies.nbodies, m->mu, seed, tolerances[t], seconds,
           info.converged ? " " : "*", info.work, info.iterations, info.factorisations, info.solver,
           info.value);
    fflush(stdout);
    ++sums->all;
    sums->solved += info.converged;
    if (info.converged && p->nc >= FIT_FROM) {
      fit_add(&sums->seconds, p->nc, seconds);
      fit_add(&sums->work, p->nc, fmax(info.work, 1e-9));
      fit_add(&sums->sweeps, p->nc, fmax(info.iterations, 1));
    }
    status = SCREE_OK;
  }
  free(r);
  free(u);
  pack_destroy(&pack);
  return status;
}

static scree_Status member(const PackMember *m, const Options *options, int t, Sums *total) {
  Sums sums = {0};
  scree_Status status = SCREE_OK;
  const int *sizes = options->nsizes ? options->sizes : default_sizes[t];
  const int n = options->nsizes ? options->nsizes : 5;
  for (int k = 0; k < n && !status; ++k)
    for (int s = 0; s < options->nseeds && !status && sizes[k] > 0; ++s) {
      if (m->kind == PACK_PILE && s > 0) continue; /* it has no seed */
      status = row(m, options, t, sizes[k], (unsigned)options->seeds[s], &sums);
    }
  if (!status && sums.seconds.n >= 2.0)
    printf("%-24s to %.0e: seconds ~ contacts^%.2f, work ^%.2f, sweeps ^%.2f; solved %d of %d\n",
           m->name, tolerances[t], fit_slope(&sums.seconds), fit_slope(&sums.work),
           fit_slope(&sums.sweeps), sums.solved, sums.all);
  add_sums(total, &sums);
  return status;
}

/* ---- arguments --------------------------------------------------------------------------------
 */

/* Value of an option that takes one, or null. */
static const char *value_of(int argc, char **argv, int *k, const char *name) {
  if (strcmp(argv[*k], name) != 0 || *k + 1 >= argc) return NULL;
  return argv[++*k];
}

static int read_list(const char *text, int *list) {
  int n = 0;
  while (n < LIST_MOST && *text) {
    char *end;
    list[n++] = (int)strtol(text, &end, 10);
    if (end == text) return 0;
    text = *end == ',' ? end + 1 : end;
  }
  return n;
}

static bool parse(int argc, char **argv, Options *options) {
  for (int k = 1; k < argc; ++k) {
    const char *value;
    if ((value = value_of(argc, argv, &k, "--sizes")))
      options->nsizes = read_list(value, options->sizes);
    else if ((value = value_of(argc, argv, &k, "--seeds")))
      options->nseeds = read_list(value, options->seeds);
    else if ((value = value_of(argc, argv, &k, "--only")))
      options->only = value;
    else if ((value = value_of(argc, argv, &k, "--threads")))
      options->threads = atoi(value);
    else if ((value = value_of(argc, argv, &k, "--time-limit")))
      options->time_limit = strtod(value, NULL);
    else if ((value = value_of(argc, argv, &k, "--cache")))
      options->cache = value;
    else if ((value = value_of(argc, argv, &k, "--solver")))
      options->solver = value;
    else if (strcmp(argv[k], "--loose") == 0)
      options->skip[1] = true;
    else if (strcmp(argv[k], "--tight") == 0)
      options->skip[0] = true;
    else
      return false;
  }
  return options->nseeds > 0;
}

int main(int argc, char **argv) {
  Options options = {
      .time_limit = 60.0, .threads = 1, .solver = "auto", .seeds = {2001}, .nseeds = 1};
  if (!parse(argc, argv, &options)) {
    fprintf(stderr, "usage: growth [--sizes N,...] [--seeds N,...] [--only TEXT] [--loose|--tight] "
                    "[--time-limit S] [--threads N] [--cache DIR] [--solver NAME]\n");
    return SCREE_BAD_INPUT;
  }
  printf("%s, cold, %d thread(s), at most %g s a solve (* not solved); work: counted seconds\n",
         options.solver, options.threads, options.time_limit);
  printf("%-24s %8s %8s %8s %5s %4s %6s %9s  %9s %8s %6s  %-7s %8s\n", "", "contacts", "active",
         "bodies", "mu", "seed", "to", "seconds", "work", "sweeps", "fact.", "by", "error");
  scree_Status status = SCREE_OK;
  for (int t = 0; t < TOLERANCES && !status; ++t) {
    Sums total = {0};
    if (options.skip[t]) continue;
    for (int k = 0; k < PACK_MEMBERS && !status; ++k)
      if (!options.only || strstr(pack_members[k].name, options.only))
        status = member(&pack_members[k], &options, t, &total);
    printf("to %.0e: solved %d of %d\n\n", tolerances[t], total.solved, total.all);
  }
  return (int)status;
}
