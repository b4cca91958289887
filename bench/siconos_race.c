/* The race against Siconos: for each problem and tolerance the best of all its friction solvers
 * against scree's default, one core each, cold start, in the same run, judged by the same error
 * (error_siconos, computed here from the impulses that each returns).
 *
 *     siconos_race [-t seconds] [-s solver] [-o file] [-v] [problem.hdf5...]
 *
 * Without problems: all of SCREE_PROBLEMS. -t is the time limit of one solver on one problem (10),
 * -s the scree solver, -o also writes the table to a file, -v prints every attempt.
 *
 * Every peer runs in a process of its own, since some crash, some hang and all print: it is stopped
 * at the limit, or earlier when it can no longer be the best. Times are those of the driver's call
 * alone, the best of three or more: short solves are repeated, for both alike, until they add up,
 * since a solve of 10 us scatters by a factor of two, and then the best peer and scree take turns,
 * since machines drift in speed. A peer that stops above the tolerance in our measure is asked
 * again for a tenth and a hundredth of it. Interior points of Siconos need the global form and are
 * left out.
 */
#define _DEFAULT_SOURCE
#include "bench/siconos_bridge.h"
#include "bench/table.h"

#include "core/clock.h"
#include "scree/scree.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEATS = 3, REPEATS_MOST = 200, TURNS = 5, SMALL = 20, TOLERANCES = 2 };

static const double tolerances[TOLERANCES] = {1e-4, 1e-8};
static const double ADD_UP = 5e-3; /* seconds of solves before more than three repeats end */
static const double SLOW = 0.5;    /* seconds of a solve that is not repeated */
static const double DRIFT = 1.0;   /* seconds in which the speed of a machine changes */

typedef struct Peer {
  const char *name;
  int d, id, local; /* local: the solver of one contact, or 0 for the default */
} Peer;

/* Those that are often best come first, so that the others can be stopped early. */
static const Peer peers[] = {
    {"NSN_AC", 3, SICONOS_FRICTION_3D_NSN_AC, 0},
    {"NSGS", 3, SICONOS_FRICTION_3D_NSGS, 0},
    {"PROX", 3, SICONOS_FRICTION_3D_PROX, 0},
    {"ADMM", 3, SICONOS_FRICTION_3D_ADMM, 0},
    {"NSGS-QUARTIC", 3, SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC},
    {"NSGS-PLI", 3, SICONOS_FRICTION_3D_NSGS,
     SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration},
    {"NSGS-P", 3, SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnCone},
    {"NSN_AC_TEST", 3, SICONOS_FRICTION_3D_NSN_AC_TEST, 0},
    {"NSN_FB", 3, SICONOS_FRICTION_3D_NSN_FB, 0},
    {"NSN_NM", 3, SICONOS_FRICTION_3D_NSN_NM, 0},
    {"NSGSV", 3, SICONOS_FRICTION_3D_NSGSV, 0},
    {"TFP", 3, SICONOS_FRICTION_3D_TFP, 0},
    {"PFP", 3, SICONOS_FRICTION_3D_PFP, 0},
    {"ACLMFP", 3, SICONOS_FRICTION_3D_ACLMFP, 0},
    {"SOCLCP", 3, SICONOS_FRICTION_3D_SOCLCP, 0},
    {"DSFP", 3, SICONOS_FRICTION_3D_DSFP, 0},
    {"FPP", 3, SICONOS_FRICTION_3D_FPP, 0},
    {"EG", 3, SICONOS_FRICTION_3D_EG, 0},
    {"VI_FPP", 3, SICONOS_FRICTION_3D_VI_FPP, 0},
    {"VI_EG", 3, SICONOS_FRICTION_3D_VI_EG, 0},
    {"HP", 3, SICONOS_FRICTION_3D_HP, 0},
    {"NSGS", 2, SICONOS_FRICTION_2D_NSGS, 0},
    {"CPG", 2, SICONOS_FRICTION_2D_CPG, 0},
    {"LEMKE", 2, SICONOS_FRICTION_2D_LEMKE, 0},
    {"ENUM", 2, SICONOS_FRICTION_2D_ENUM, 0},
};

/* Result of a run: seconds < 0 when it did not finish, error in our measure; asked: the tolerance
 * that was given to it. */
typedef struct Outcome {
  double seconds, error, asked;
} Outcome;

typedef struct Sums {
  double log_ratio[TOLERANCES];
  int compared[TOLERANCES], lost[TOLERANCES], alone[TOLERANCES], failed[TOLERANCES];
  int small, small_slow;
} Sums;

typedef struct Race {
  double limit;
  bool verbose;
  const char *solver;
  FILE *file;
  Sums sums;
} Race;

/* Has a solver been timed often enough? `last` and `total` are seconds of its solves. */
static bool timed(int solves, double last, double total) {
  return last > SLOW || solves >= REPEATS_MOST || (solves >= REPEATS && total > ADD_UP);
}

/* ---- one run of a peer -----------------------------------------------------------------------
 */

/* In the child: solve, the best of some, into shared memory: seconds, then r (n). */
static void run_peer(const Peer *peer, const scree_Problem *p, double tolerance, double *shared) {
  const int n = p->nc * p->d, null = open("/dev/null", O_WRONLY);
  double *r = bridge_alloc((size_t)n, sizeof *r), *u = bridge_alloc((size_t)n, sizeof *u);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  double total = 0.0, last = 0.0;
  for (int k = 0; !timed(k, last, total); ++k) {
    FrictionContactProblem *problem = bridge_create(p); /* some change their input */
    SolverOptions *options = solver_options_create(peer->id);
    options->iparam[SICONOS_IPARAM_MAX_ITER] = 10000000;
    options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    if (peer->local) solver_options_update_internal(options, 0, peer->local);
    memset(r, 0, (size_t)n * sizeof *r);
    memset(u, 0, (size_t)n * sizeof *u);
    const double start = scree_seconds();
    bridge_solve(problem, options, r, u);
    last = scree_seconds() - start;
    total += last;
    if (shared[0] < 0.0 || last < shared[0]) {
      memcpy(shared + 1, r, (size_t)n * sizeof *r);
      shared[0] = last;
    }
    solver_options_delete(options);
    frictionContactProblem_free(problem);
  }
  _exit(0);
}

static Outcome try_peer(const Peer *peer, const scree_Problem *p, double tolerance, double limit) {
  const size_t n = (size_t)p->nc * (size_t)p->d, bytes = (n + 1) * sizeof(double);
  Outcome outcome = {-1.0, INFINITY, tolerance};
  double *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) abort();
  shared[0] = -1.0;
  const pid_t child = fork();
  if (child == 0) {
    /* the default of this signal ends the process, in whatever loop it is */
    const struct itimerval timer = {
        .it_value = {(time_t)limit, (suseconds_t)(1e6 * (limit - floor(limit)))}};
    setitimer(ITIMER_REAL, &timer, NULL);
    run_peer(peer, p, tolerance, shared);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) abort();
  if (shared[0] >= 0.0) {
    scree_Measures measures;
    outcome.seconds = shared[0];
    if (scree_problem_measure(p, shared + 1, NULL, NULL, &measures, NULL) == SCREE_OK)
      outcome.error = isnan(measures.error_siconos) ? INFINITY : measures.error_siconos;
  }
  munmap(shared, bytes);
  return outcome;
}

/* The best of all peers: index into `peers`, or -1. */
static int best_peer(const Race *race, const scree_Problem *p, double tolerance, Outcome *best) {
  int winner = -1;
  *best = (Outcome){INFINITY, INFINITY, tolerance};
  for (size_t k = 0; k < sizeof peers / sizeof *peers; ++k) {
    if (peers[k].d != p->d) continue;
    for (double factor = 1.0; factor > 0.005; factor *= 0.1) {
      /* three runs of one that is as fast as the best, and starting the process */
      const double limit = fmin(race->limit, 5.0 * best->seconds + 0.5);
      const Outcome outcome = try_peer(&peers[k], p, factor * tolerance, limit);
      if (race->verbose)
        table_say(race->file, "  %-12s asked %.0e got %.1e in %.3g s\n", peers[k].name,
                  factor * tolerance, outcome.error, outcome.seconds);
      if (outcome.seconds < 0.0) break;
      if (!(outcome.error <= tolerance)) continue;
      if (outcome.seconds < best->seconds) {
        *best = outcome;
        winner = (int)k;
      }
      break;
    }
  }
  return winner;
}

/* ---- ours -------------------------------------------------------------------------------------
 */

static Outcome run_ours(const Race *race, const scree_Problem *p, double tolerance,
                        const char **gave) {
  const size_t n = (size_t)p->nc * (size_t)p->d;
  double *r = bridge_alloc(n, sizeof *r), *u = bridge_alloc(n, sizeof *u);
  Outcome best = {-1.0, INFINITY, tolerance};
  double total = 0.0, last = 0.0;
  for (int k = 0; !timed(k, last, total); ++k) {
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info;
    settings.solver = race->solver;
    settings.measure = SCREE_MEASURE_SICONOS;
    settings.tolerance = tolerance;
    settings.threads = 1;
    settings.time_limit = race->limit;
    const scree_Status status = scree_solve(p, &settings, r, u, &info, NULL);
    if (status != SCREE_OK && status != SCREE_NOT_CONVERGED) break;
    if (best.seconds < 0.0 || info.seconds < best.seconds) {
      best = (Outcome){info.seconds, info.measures.error_siconos, tolerance};
      *gave = info.solver;
    }
    last = info.seconds;
    total += last;
  }
  free(r);
  free(u);
  return best;
}

/* The machine drifts in speed between the peers' runs and ours, so the best peer and scree take
 * turns, and the fastest of each counts. */
static void take_turns(const Race *race, const scree_Problem *given, const scree_Problem *assembled,
                       int winner, double tolerance, Outcome *ours, Outcome *theirs) {
  const double start = scree_seconds();
  if (fmax(ours->seconds, theirs->seconds) > SLOW) return;
  for (int k = 1; k < TURNS || scree_seconds() - start < DRIFT; ++k) {
    const char *gave;
    const double limit = fmin(race->limit, 5.0 * theirs->seconds + 0.5);
    const Outcome peer = try_peer(&peers[winner], assembled, theirs->asked, limit);
    const Outcome own = run_ours(race, given, tolerance, &gave);
    if (peer.seconds >= 0.0 && peer.error <= tolerance)
      theirs->seconds = fmin(theirs->seconds, peer.seconds);
    if (own.seconds >= 0.0 && own.error <= tolerance)
      ours->seconds = fmin(ours->seconds, own.seconds);
  }
}

/* ---- the table --------------------------------------------------------------------------------
 */

static void race_problem(void *user, const char *path) {
  Race *race = user;
  Sums *sums = &race->sums;
  scree_Problem given, p;
  if (scree_fclib_read(path, &given, NULL, NULL)) {
    table_say(race->file, "%s: not read\n", path);
    return;
  }
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  if (given.kind == SCREE_ASSEMBLED)
    p = given;
  else if (scree_problem_assemble(&given, &p, NULL))
    abort();
  for (int t = 0; t < TOLERANCES; ++t) {
    const char *gave = "";
    char peer_text[32], our_text[32], note[64] = "";
    Outcome theirs;
    const int winner = best_peer(race, &p, tolerances[t], &theirs);
    Outcome ours = run_ours(race, &given, tolerances[t], &gave);
    if (winner >= 0) take_turns(race, &given, &p, winner, tolerances[t], &ours, &theirs);
    const bool solved = ours.seconds >= 0.0 && ours.error <= tolerances[t];
    table_duration(winner >= 0 ? theirs.seconds : -1.0, peer_text, sizeof peer_text);
    table_duration(solved ? ours.seconds : -1.0, our_text, sizeof our_text);
    if (p.nc > SMALL && winner >= 0 && solved) {
      const double ratio = theirs.seconds / ours.seconds;
      snprintf(note, sizeof note, "%.2f", ratio);
      sums->log_ratio[t] += log(ratio);
      ++sums->compared[t];
      sums->lost[t] += ratio < 1.0;
    } else if (p.nc > SMALL) {
      sums->alone[t] += solved;
      sums->failed[t] += !solved;
      snprintf(note, sizeof note, solved ? "only scree" : winner >= 0 ? "lost" : "none");
    } else {
      const double allowed = 20e-6 + 3e-6 * p.nc;
      snprintf(note, sizeof note, "%.2f of %.0f us", ours.seconds / allowed, 1e6 * allowed);
      ++sums->small;
      sums->small_slow += !(solved && ours.seconds <= allowed);
    }
    table_say(race->file, "%-42.42s %dD %5d %6.0e  %-12s %10s  %-16s %10s  %s\n", name, p.d, p.nc,
              tolerances[t], winner >= 0 ? peers[winner].name : "-", peer_text, gave, our_text,
              note);
  }
  if (given.kind != SCREE_ASSEMBLED) scree_problem_destroy(&p);
  scree_problem_destroy(&given);
}

static void describe_machine(const Race *race) {
  char model[200];
  table_processor(model, sizeof model);
  table_say(race->file,
            "scree %s, solver %s, against the best of all Siconos solvers; one core of: %s (%ld)\n",
            scree_version(), race->solver, model, sysconf(_SC_NPROCESSORS_ONLN));
  table_say(race->file,
            "error_siconos <= tolerance, cold start, best of three or more, at most %.0f s; the "
            "ratio is\n"
            "Siconos/scree; up to %d contacts the allowance is 20 us + 3 us per contact\n\n",
            race->limit, SMALL);
  table_say(race->file, "%-42s    contacts tol  %-12s %10s  %-16s %10s  %s\n", "problem", "Siconos",
            "time", "scree", "time", "ratio");
}

int main(int argc, char **argv) {
  Race race = {.limit = 10.0, .solver = scree_solve_settings().solver};
  int option;
  while ((option = getopt(argc, argv, "t:s:o:v")) != -1) {
    if (option == 't') race.limit = atof(optarg);
    if (option == 'v') race.verbose = true;
    if (option == 's') race.solver = optarg;
    if (option == 'o' && !(race.file = fopen(optarg, "w"))) perror(optarg);
    if (option == '?') return 2;
  }
  describe_machine(&race);
  if (!table_each_problem(argc - optind, argv + optind, race_problem, &race))
    table_say(race.file, "no problems in the folder of SCREE_PROBLEMS\n");
  const Sums *sums = &race.sums;
  table_say(race.file, "\n");
  for (int t = 0; t < TOLERANCES; ++t)
    table_say(
        race.file,
        "tolerance %.0e, more than %d contacts: geometric mean of the ratio %.2f over %d problems,"
        " slower on %d; solved by scree only %d, not solved by scree %d\n",
        tolerances[t], SMALL, sums->compared[t] ? exp(sums->log_ratio[t] / sums->compared[t]) : 0.0,
        sums->compared[t], sums->lost[t], sums->alone[t], sums->failed[t]);
  table_say(race.file, "up to %d contacts: %d of %d within the allowance\n", SMALL,
            sums->small - sums->small_slow, sums->small);
  if (race.file) fclose(race.file);
  return 0;
}
