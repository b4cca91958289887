/* `auto` compared with the methods it is made of. For each problem and tolerance the
 * time of auto against the best of all other solvers that can take the problem, each with its own
 * defaults. The aim: at most 1.3 times.
 *
 *     portfolio [-a] [-w] [-f] [-s seed] [-t seconds] [-r repeats] [-o file] [problem.hdf5...]
 *
 * Without problems: all of SCREE_PROBLEMS. -a poses the associated law, which lets the gradient
 * methods take part; -t is the time limit of auto (20), -r the repeats (7), -o also writes the
 * table to a file.
 *
 * -w compares counted work instead of time, with nlgs, newton, ipm and lemke: from the numbers of
 * sweeps and factorisations and their sizes, so that one run is enough, and gives the same table on
 * any machine. Without problems the family of bench/family.h follows, which was never used for
 * choosing the numbers of any solver; -f: only that family; -s adds to its seeds, which gives
 * problems to choose numbers with (any seed but 0). -t is then a limit of the work (counted
 * seconds) of auto, and others get three times its work.
 *
 * Machines drift in speed by more than the ratio that is asked for, within seconds. So the solvers
 * take turns in every repeat, in an order that rotates, and the fastest run of each counts; short
 * solves are repeated until they add up. The time is that of preparing W and solving, without the
 * check of the input and the certificate, which are the same for all and would hide differences: by
 * the clock, or, where other programs disturb it, the processor's time for the whole call less the
 * least that check and certificate have taken; the smaller of the two.
 *
 * A solver gets three times the best time of auto, at least a millisecond. It is out when it does
 * not reach the tolerance in that time, or is still slower than twice auto after three runs: both
 * say that auto is not worse, and spare the minutes in which the slow ones would show how slow. */
#define _DEFAULT_SOURCE
#include "bench/family.h"
#include "bench/table.h"

#include "core/clock.h"
#include "scree/scree.h"

#include <unistd.h>

enum { SOLVERS_MOST = 32, TOLERANCES = 2, WARM_ROUNDS = 3, ROUNDS_FACTOR = 20 };

static const double tolerances[TOLERANCES] = {1e-4, 1e-8};
static const double WORSE = 1.3;    /* ratio that auto should not exceed */
static const double PATIENCE = 3.0; /* times auto's best that another solver gets */
static const double SLOW = 2.0;     /* times auto's best from which a solver is out */
static const double LEAST_LIMIT = 1e-3;
static const double ADD_UP = 0.2; /* seconds of solves on a problem before repeats may end */
static const double ENOUGH = 5.0; /* seconds after which three repeats will do */

/* A solver on one problem and tolerance. */
typedef struct Entrant {
  const char *name, *method; /* method: the stage that gave the result */
  double best, processor;    /* seconds of solving, of the whole call; infinite until solved */
  double spent;              /* processor's seconds in the last run, solved or not */
  bool out;
} Entrant;

typedef struct Sums {
  double log_ratio, largest;
  char where[64]; /* the largest ratio */
  int compared, worse, alone, lost, unsolved;
} Sums;

typedef struct Bench {
  double limit;
  int repeats;
  bool associated, counted, family_only;
  unsigned seed; /* added to those of the family */
  FILE *file;
  Sums sums[TOLERANCES];
} Bench;

/* ---- the solvers in turns ----------------------------------------------------------------------
 */

/* auto first, then all others that can take the problem. */
static int enter(const scree_Problem *p, Entrant *entrants) {
  int count = 0;
  entrants[count++] = (Entrant){.name = "auto", .best = INFINITY, .processor = INFINITY};
  for (int k = 0; scree_solver_class(k) && count < SOLVERS_MOST; ++k) {
    const scree_SolverClass *class_ = scree_solver_class(k);
    const char *name = scree_solver_class_name(class_);
    if (strcmp(name, "auto") != 0 && !scree_solver_class_refuses(class_, p))
      entrants[count++] = (Entrant){.name = name, .best = INFINITY, .processor = INFINITY};
  }
  return count;
}

/* One solve from nothing, on one thread; *aside is the least that a call took beside solving. */
static void attempt(Entrant *entrant, const scree_Problem *p, double tolerance, double limit,
                    double *r, double *u, double *aside) {
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  settings.solver = entrant->name;
  settings.measure = SCREE_MEASURE_BOTH;
  settings.tolerance = tolerance;
  settings.threads = 1;
  settings.time_limit = limit;
  const double processor = scree_processor_seconds(), start = scree_seconds();
  const scree_Status status = scree_solve(p, &settings, r, u, &info, NULL);
  const double elapsed = scree_seconds() - start;
  entrant->spent = scree_processor_seconds() - processor;
  if (status == SCREE_OK) {
    entrant->best = fmin(entrant->best, fmin(info.seconds, entrant->spent));
    entrant->processor = fmin(entrant->processor, entrant->spent);
    entrant->method = info.solver;
    *aside = fmin(*aside, elapsed - info.seconds);
  }
  /* the limit is in wall time: a solver that did not get the processor may try again */
  const bool robbed = info.seconds >= limit && entrant->spent < 0.7 * limit;
  if (status != SCREE_OK && !robbed) entrant->out = true;
}

/* All take turns until the fastest times of those that matter are known. */
static void take_turns(const Bench *bench, const scree_Problem *p, double tolerance,
                       Entrant *entrants, int count, double *r, double *u) {
  Entrant *ours = &entrants[0];
  double total = 0.0, aside = INFINITY;
  for (int round = 0; round < ROUNDS_FACTOR * bench->repeats; ++round) {
    int left = 0; /* others that still matter */
    for (int k = 0; k < count; ++k) {
      const int turn = (k + round) % count;
      Entrant *entrant = &entrants[turn];
      const double theirs = PATIENCE * (isinf(ours->best) ? ours->spent : ours->best);
      const double limit = turn ? fmin(bench->limit, fmax(LEAST_LIMIT, theirs)) : bench->limit;
      if (entrant->out) continue;
      attempt(entrant, p, tolerance, limit, r, u, &aside);
      total += entrant->spent;
    }
    for (int k = 1; k < count; ++k) {
      if (round + 1 >= WARM_ROUNDS && entrants[k].best > SLOW * ours->best) entrants[k].out = true;
      left += !entrants[k].out;
    }
    if (ours->out) break; /* a solver that solves what auto does not wins at any time */
    if (round + 1 >= WARM_ROUNDS && (left == 0 || total > ENOUGH)) break;
    if (round + 1 >= bench->repeats && total > ADD_UP) break;
  }
  for (int k = 0; k < count; ++k)
    if (!isinf(entrants[k].best))
      entrants[k].best = fmin(entrants[k].best, entrants[k].processor - aside);
}

/* ---- the table ---------------------------------------------------------------------------------
 */

static void row(Bench *bench, const scree_Problem *p, const char *name, int t,
                const Entrant *entrants, int count) {
  const Entrant *ours = &entrants[0], *other = NULL;
  Sums *sums = &bench->sums[t];
  char our_time[32], other_time[32], note[64];
  for (int k = 1; k < count; ++k)
    if (!isinf(entrants[k].best) && (!other || entrants[k].best < other->best))
      other = &entrants[k];
  const bool solved = !isinf(ours->best);
  if (solved && other) {
    const double ratio = ours->best == other->best ? 1.0 : ours->best / other->best;
    sums->log_ratio += log(ratio);
    ++sums->compared;
    sums->worse += ratio > WORSE;
    if (ratio > sums->largest) {
      sums->largest = ratio;
      snprintf(sums->where, sizeof sums->where, "%s", name);
    }
    snprintf(note, sizeof note, "%.2f%s", ratio, ratio > WORSE ? " worse" : "");
  } else {
    sums->alone += solved;
    sums->lost += !solved && other;
    sums->unsolved += !solved && !other;
    snprintf(note, sizeof note, "%s", solved ? "only auto" : other ? "not auto" : "none");
  }
  table_duration(ours->best, our_time, sizeof our_time);
  table_duration(other ? other->best : INFINITY, other_time, sizeof other_time);
  table_say(bench->file, "%-42.42s %dD %8d %6.0e  %-8s %10s  %-12s %10s  %s\n", name, p->d, p->nc,
            tolerances[t], solved ? ours->method : "-", our_time, other ? other->name : "-",
            other_time, note);
}

/* ---- counted work ------------------------------------------------------------------------------
 */

static const char *const counted[] = {"nlgs", "newton", "ipm", "lemke"};

/* The work of one solver, infinite if it does not solve the problem with `limit`. */
static double count_work(const char *name, const scree_Problem *p, double tolerance, double limit,
                         double *r, double *u, scree_SolveInfo *info) {
  const scree_SolverClass *class_ = scree_solver_class_find(name);
  scree_SolveSettings settings = scree_solve_settings();
  if (scree_solver_class_refuses(class_, p)) return INFINITY;
  settings.solver = name;
  settings.measure = SCREE_MEASURE_BOTH;
  settings.tolerance = tolerance;
  settings.threads = 1;
  settings.max_iterations = 100000000;
  settings.work_limit = limit;
  return scree_solve(p, &settings, r, u, info, NULL) == SCREE_OK ? info->work : INFINITY;
}

/* Rows of one problem by counted work, all tolerances. */
static void count_rows(Bench *bench, scree_Problem *p, const char *name) {
  const size_t n = scree_problem_rows(p);
  double *r = calloc(n + 1, sizeof *r), *u = calloc(n + 1, sizeof *u);
  if (!r || !u) abort();
  for (int t = 0; t < TOLERANCES; ++t) {
    Entrant entrants[1 + sizeof counted / sizeof *counted];
    scree_SolveInfo info;
    int count = 0;
    const double ours = count_work("auto", p, tolerances[t], bench->limit, r, u, &info);
    entrants[count++] = (Entrant){.name = "auto", .best = ours, .method = info.solver};
    const double limit = isinf(ours) ? bench->limit : PATIENCE * ours;
    for (size_t k = 0; k < sizeof counted / sizeof *counted; ++k)
      entrants[count++] = (Entrant){
          .name = counted[k], .best = count_work(counted[k], p, tolerances[t], limit, r, u, &info)};
    row(bench, p, name, t, entrants, count);
  }
  free(r);
  free(u);
}

static void count_family(Bench *bench) {
  for (int k = 0; k < FAMILY_SIZE; ++k) {
    scree_World *world = NULL;
    const scree_Problem *posed;
    FamilyMember member = family[k];
    member.seed += bench->seed;
    scree_Status status = family_world(&member, &world);
    if (!status) status = scree_world_problem(world, &posed, NULL, NULL, NULL);
    if (status) {
      table_say(bench->file, "%s: not made\n", family[k].name);
    } else {
      scree_Problem p = *posed; /* a view */
      if (bench->associated) p.flow = SCREE_ASSOCIATED;
      count_rows(bench, &p, family[k].name);
    }
    scree_world_destroy(world);
  }
}

static void race(void *user, const char *path) {
  Bench *bench = user;
  scree_Problem p;
  if (scree_fclib_read(path, &p, NULL, NULL)) {
    table_say(bench->file, "%s: not read\n", path);
    return;
  }
  if (bench->associated) p.flow = SCREE_ASSOCIATED;
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  if (bench->counted) {
    count_rows(bench, &p, name);
    scree_problem_destroy(&p);
    return;
  }
  const size_t n = (size_t)p.nc * (size_t)p.d;
  double *r = calloc(n + 1, sizeof *r), *u = calloc(n + 1, sizeof *u);
  if (!r || !u) abort();
  for (int t = 0; t < TOLERANCES; ++t) {
    Entrant entrants[SOLVERS_MOST];
    const int count = enter(&p, entrants);
    take_turns(bench, &p, tolerances[t], entrants, count, r, u);
    row(bench, &p, name, t, entrants, count);
  }
  free(r);
  free(u);
  scree_problem_destroy(&p);
}

static void head(const Bench *bench) {
  char model[200];
  table_processor(model, sizeof model);
  table_say(bench->file,
            "scree %s, auto against the best of scree's other solvers, %s law; one core of: %s "
            "(%ld)\n",
            scree_version(), bench->associated ? "associated" : "Coulomb's", model,
            sysconf(_SC_NPROCESSORS_ONLN));
  if (bench->counted)
    table_say(bench->file,
              "both errors <= tolerance, cold start, counted work in seconds of an "
              "ordinary core; the ratio is auto/other,\nothers (nlgs, newton, ipm, "
              "lemke) get %.0f times auto's work\n\n",
              PATIENCE);
  else
    table_say(
        bench->file,
        "both errors <= tolerance, cold start, one thread, best of %d repeats or more in turns; "
        "the ratio\nis auto/other, others get %.0f times auto's time\n\n",
        bench->repeats, PATIENCE);
  table_say(bench->file, "%-42s    contacts    tol  %-8s %10s  %-12s %10s  %s\n", "problem",
            "auto by", bench->counted ? "work" : "time", "best other",
            bench->counted ? "work" : "time", "ratio");
}

static void summary(const Bench *bench) {
  table_say(bench->file, "\n");
  for (int t = 0; t < TOLERANCES; ++t) {
    const Sums *s = &bench->sums[t];
    table_say(bench->file,
              "tolerance %.0e: geometric mean of the ratio %.2f over %d problems, largest %.2f "
              "(%s), above %.1f on %d; no other within %.0f times auto's %s on %d; solved by "
              "another only %d, by none %d\n",
              tolerances[t], s->compared ? exp(s->log_ratio / s->compared) : 0.0, s->compared,
              s->largest, s->compared ? s->where : "-", WORSE, s->worse, PATIENCE,
              bench->counted ? "work" : "time", s->alone, s->lost, s->unsolved);
  }
}

int main(int argc, char **argv) {
  Bench bench = {.limit = 20.0, .repeats = 7};
  int option;
  while ((option = getopt(argc, argv, "awfs:t:r:o:")) != -1) {
    if (option == 'a') bench.associated = true;
    if (option == 'w') bench.counted = true;
    if (option == 'f') bench.counted = bench.family_only = true;
    if (option == 's') bench.seed = (unsigned)strtoul(optarg, NULL, 10);
    if (option == 't') bench.limit = atof(optarg);
    if (option == 'r') bench.repeats = atoi(optarg);
    if (option == 'o' && !(bench.file = fopen(optarg, "w"))) {
      perror(optarg);
      return 2;
    }
    if (option == '?') return 2;
  }
  if (!(bench.limit > 0.0) || bench.repeats < 1) {
    fprintf(stderr, "portfolio: -t expects seconds > 0, -r a count > 0\n");
    return 2;
  }
  head(&bench);
  if (!bench.family_only) {
    if (!table_each_problem(argc - optind, argv + optind, race, &bench))
      table_say(bench.file, "no problems in the folder of SCREE_PROBLEMS\n");
    summary(&bench);
  }
  if (bench.counted && optind == argc) {
    for (int t = 0; t < TOLERANCES; ++t) bench.sums[t] = (Sums){0};
    table_say(bench.file, "\n%s (bench/family.h)\n",
              bench.seed ? "the same scenes with other seeds"
                         : "problems that were never used for choosing numbers");
    count_family(&bench);
    summary(&bench);
  }
  if (bench.file) fclose(bench.file);
  return 0;
}
