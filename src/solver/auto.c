/* auto: the default of everything. It tries the cheap before the dear, continues each method from
 * where the last one stopped, and leaves a method as soon as its own progress says that the next
 * one will be faster:
 *
 *   1. sweeps of Gauss-Seidel, as long as their rate promises the tolerance for the price of a few
 *      factorisations: most loose tolerances and warm starts end here
 *   2. newton: proximal Newton steps on the statuses that the sweeps have found; from near a
 *      solution a handful of factorisations gives all digits
 *      when that fails, sweeps again if they promise to be cheaper than stage 3
 *   3. ipm: interior point from its own start, which finds the statuses of dense packings; it ends
 *      with sweeps and newton again. What fails from one start often succeeds from another, so it
 *      is tried with other weights too
 *   4. lemke, where its path is not too long: it needs no luck, but some factorisations for each
 *      contact
 *   5. sweeps from the best impulses so far, until they do not pay any more
 *
 * An assembled W that rigid bodies stand behind is taken apart into them before stage 2
 * (problem/recover.h): over bodies everything that follows is cheaper.
 *
 * Decisions come from counts (sweeps, factorisations, operations of the analysed factor) and
 * errors, never from clocks: the same problem gives the same bits on any machine and number of
 * threads. There is nothing to tune. */
#include "core/log.h"
#include "problem/recover.h"
#include "solver/registry.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Sweeps before the price of a factorisation is asked for: at least, and at most if they promise
 * the tolerance. The analysis itself costs as much as 10 to 50 sweeps in space, 70 in the plane. */
enum { FIRST_SWEEPS_3D = 4, FIRST_MOST_3D = 35, FIRST_SWEEPS_2D = 4, FIRST_MOST_2D = 150 };
enum { BALLS_MOST_3D = 400, BALLS_MOST_2D = 800 }; /* at most, where sweeps are cheap */
enum { SLOWER = 4 };                       /* sweeps for the associated law, that many times */
enum { FIRST_SWEEPS = 8 };                 /* of a later stage */
enum { PATH_BEFORE = 200 };                /* contacts: the path is as short as other starts */
enum { RECOVER_FROM = 100 };               /* contacts; fewer have small systems anyway */
static const double RECOVER_ABOVE = 1e-10; /* tolerances: rounding is left between B B^T and W */
static const double NEWTON_PRICE = 4.0;    /* factorisations that stage 2 is expected to need */
static const double IPM_PRICE = 8.0;       /* a third of what stage 3 needs: rates of sweeps fall */
static const double PATH_PRICE = 5.0;      /* factorisations of stage 4 for each contact */
static const double PATH_SECONDS = 20.0;   /* that stage 4 may be expected to take */
static const double PATH_WARM = 500.0;     /* its factorisations after a warm start: steps of time
                                            that are not solved can be halved, which is cheaper */
static const double STUCK = 0.5; /* fall of the error by the first of stage 3 that promises more */
static const double LAST_PRICE = 400.0; /* factorisations that stage 5 may cost */
static const double LEAST_ROOM = 150.0; /* sweeps of limited work below which nothing is analysed */

typedef struct Options {
  bool polish;
} Options;

typedef struct State {
  Options options;
  double *best; /* (nc x d) */
  double error; /* of best */
} State;

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  scree_Arena *work = &run->cache->work;
  State *st = SCREE_TAKE(work, State, 1);
  const size_t n = (size_t)run->W->problem->nc * (size_t)run->W->problem->d;
  if (!st || !(st->best = SCREE_TAKE_RAW(work, double, n)))
    return scree_fail_memory(run->log, "auto");
  st->options = *(const Options *)options;
  *out = st;
  return SCREE_OK;
}

static bool finished(const scree_SolveRun *run) {
  return run->met || run->exhausted;
}

/* The end of a stage: remember the iterate if it is the best, or go back to the best. */
static void settle(State *st, scree_SolveRun *run, double *r) {
  scree_report(run->log, SCREE_LOG_DETAIL,
               "auto: %s leaves at error %.2e after %d iterations, %d factorisations", run->note,
               run->value, run->iterations, run->factorisations);
  const size_t bytes = (size_t)run->W->problem->nc * (size_t)run->W->problem->d * sizeof *r;
  if (run->value <= st->error) {
    st->error = run->value;
    memcpy(st->best, r, bytes);
  } else if (!run->met) {
    memcpy(r, st->best, bytes);
    run->value = st->error;
  }
}

/* Another solver, then settle. */
static scree_Status run_with(State *st, scree_SolveRun *run, const scree_SolverClass *class_,
                             const char *const *options, double *r, double *u) {
  const scree_Status status = scree_solve_run_solver(run, class_, options, r, u);
  settle(st, run, r);
  return status;
}

/* The best point so far may be near enough by now. */
static scree_Status patient_newton(State *st, scree_SolveRun *run, double *r, double *u) {
  static const char *const patient[] = {"window=20", "fall=2", NULL};
  return run_with(st, run, &scree_solver_newton, patient, r, u);
}

/* The certain way, where it can be afforded, unless sweeps promise to be cheaper. */
static scree_Status follow_path(State *st, scree_SolveRun *run, double *r, double *u) {
  const double factorisations = PATH_PRICE * run->W->problem->nc;
  double seconds, price;
  scree_Status status = scree_solve_run_factorisation_seconds(run, &seconds);
  if (!status) status = scree_solve_run_sweeps_per_factorisation(run, &price);
  if (status || scree_solver_class_refuses(&scree_solver_lemke, run->W->problem) ||
      factorisations * seconds > PATH_SECONDS ||
      (run->settings->warm_start && factorisations > PATH_WARM))
    return status;
  run->note = "nlgs";
  status = scree_solve_run_sweep(run, FIRST_SWEEPS, fmin(factorisations, LAST_PRICE) * price, r, u);
  settle(st, run, r);
  if (status || finished(run)) return status;
  run->note = "lemke";
  status = run_with(st, run, &scree_solver_lemke, NULL, r, u);
  if (!status && !finished(run)) status = patient_newton(st, run, r, u);
  return status;
}

static scree_Status interior_points(State *st, scree_SolveRun *run, double *r, double *u) {
  static const char *const tries[][3] = {
      {"kappa=5", "barrier=10", NULL}, {"kappa=8", "barrier=10", NULL},
      {"kappa=3", "barrier=3", NULL},  {"kappa=5", "barrier=100", NULL},
      {"kappa=12", "barrier=1", NULL},
  };
  const int most = run->W->problem->law == SCREE_ASSOCIATED ? 1 : 5; /* convex: one is enough */
  const double before = st->error;
  bool stuck = run->W->problem->nc < PATH_BEFORE;
  scree_Status status = SCREE_OK;
  for (int k = 0; k < most && !status && !finished(run); ++k) {
    run->note = "ipm";
    status = run_with(st, run, &scree_solver_ipm, tries[k], r, u);
    if (status || finished(run)) break;
    status = patient_newton(st, run, r, u);
    if (k > 0 || status || finished(run)) continue;
    stuck = stuck || !(st->error < STUCK * before);
    if (stuck) status = follow_path(st, run, r, u);
  }
  if (!stuck && !status && !finished(run)) status = follow_path(st, run, r, u);
  return status;
}

/* How many sweeps may be spent before the price of a factorisation is known. */
static double first_most(const scree_SolveRun *run) {
  const bool balls = scree_solve_run_sweeps_balls(run);
  const double most = run->W->problem->d == 2 ? (balls ? BALLS_MOST_2D : FIRST_MOST_2D)
                                              : (balls ? BALLS_MOST_3D : FIRST_MOST_3D);
  return scree_solve_run_sweeps_slowly(run) ? most / SLOWER : most;
}

/* Stages 1 and 2 from the r at hand; `price` of a factorisation, in sweeps. */
static scree_Status sweeps_and_newton(State *st, scree_SolveRun *run, double price, double *r,
                                      double *u) {
  scree_Status status = SCREE_OK;
  /* where a factorisation is cheap, the first sweeps have already been given what it is worth */
  if (scree_solve_run_sweeps_balls(run) || NEWTON_PRICE * price > 3.0 * first_most(run)) {
    run->note = "nlgs";
    status = scree_solve_run_sweep(run, FIRST_SWEEPS, NEWTON_PRICE * price, r, u);
    settle(st, run, r);
    if (status || finished(run)) return status;
  }
  run->note = "newton";
  return run_with(st, run, &scree_solver_newton, NULL, r, u);
}

/* All stages that factorise. */
static scree_Status factorising(State *st, scree_SolveRun *run, double price, double *r,
                                double *u) {
  const size_t n = (size_t)run->W->problem->nc * (size_t)run->W->problem->d;
  scree_Status status = sweeps_and_newton(st, run, price, r, u);
  if (status || finished(run) || st->options.polish) return status;
  if (run->settings->warm_start) { /* yesterday's statuses can mislead: once from nothing */
    memset(r, 0, n * sizeof *r);
    status = scree_solve_run_smooth(run, 0, r, u);
    if (!status) status = sweeps_and_newton(st, run, price, r, u);
    if (status || finished(run)) return status;
  }
  run->note = "nlgs";
  /* within a factor of two of the tolerance there is little room for a rate to fall */
  const double near = run->value < 2.0 * run->settings->tolerance ? 3.0 : 1.0;
  status = scree_solve_run_sweep(run, price, near * IPM_PRICE * price, r, u);
  settle(st, run, r);
  if (status || finished(run)) return status;
  return interior_points(st, run, r, u);
}

/* The stages that factorise, and the last sweeps, on the operator of the run. */
static scree_Status factorise_or_sweep(State *st, scree_SolveRun *run, double *r, double *u) {
  double price = INFINITY; /* of a factorisation, in sweeps */
  scree_Status status = SCREE_OK;
  if (!scree_solver_class_refuses(&scree_solver_newton, run->W->problem)) {
    status = scree_solve_run_sweeps_per_factorisation(run, &price);
    scree_report(run->log, SCREE_LOG_DETAIL,
                 "auto: error %.2e after %d sweeps, a factorisation costs %.0f", run->value,
                 run->iterations, price);
    if (!status) status = factorising(st, run, price, r, u);
  }
  if (status || finished(run) || st->options.polish) return status;
  run->note = "nlgs";
  status = scree_solve_run_sweep(run, FIRST_SWEEPS, LAST_PRICE * price, r, u);
  settle(st, run, r);
  return status;
}

/* Whether the work that is left allows for more than sweeps. */
static bool has_room(const scree_SolveRun *run) {
  const double limit = run->settings->work_limit;
  return !(limit > 0.0) ||
         limit - scree_solve_run_work(run) > LEAST_ROOM * scree_sweep_seconds(run->W->problem);
}

/* The same over the bodies behind an assembled W, if they can be found. What counts in the end is
 * the error with W as given: the driver asks for it, and comes back when it is above. */
static scree_Status over_bodies(State *st, scree_SolveRun *run, double *r, double *u, bool *found) {
  const scree_Operator *W = run->W;
  scree_SolveCache *cache = run->cache, *own = cache->next;
  scree_Operator V;
  scree_Problem bodies;
  *found = false;
  if (W->problem->nc < RECOVER_FROM || run->settings->tolerance < RECOVER_ABOVE) return SCREE_OK;
  scree_Status status = scree_recover_bodies(W->problem, &bodies, found, run->log);
  if (status || !*found) return status;
  scree_report(run->log, SCREE_LOG_DETAIL, "auto: %d bodies behind W", bodies.bodies.nbodies);
  status = scree_solve_cache_begin(own, &bodies, run->log);
  if (!status) status = scree_solve_cache_operator(own, &bodies, W->threads, run->log, &V);
  if (!status) {
    run->W = &V;
    run->cache = own;
    status = factorise_or_sweep(st, run, r, u);
    run->cache = cache;
    run->W = W;
  }
  scree_problem_destroy(&bodies);
  return status;
}

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *st = memory;
  st->error = INFINITY;
  scree_Status status = scree_solve_run_smooth(run, 0, r, u);
  if (status || finished(run)) return status;
  run->note = "nlgs";
  const double first = run->W->problem->d == 2 ? FIRST_SWEEPS_2D : FIRST_SWEEPS_3D;
  status = scree_solve_run_sweep(run, first, first_most(run), r, u);
  settle(st, run, r);
  if (status || finished(run)) return status;
  if (!has_room(run)) {
    status = scree_solve_run_sweep(run, INFINITY, INFINITY, r, u);
    settle(st, run, r);
    return status;
  }
  bool found;
  status = over_bodies(st, run, r, u, &found);
  if (!status && !found) status = factorise_or_sweep(st, run, r, u);
  return status;
}

static const scree_Option options[] = {
    {"polish", SCREE_OPTION_BOOL, offsetof(Options, polish), 0, 0, 1, false, NULL,
     "the start is near the solution: sweeps and Newton steps only"},
};

const scree_SolverClass scree_solver_auto = {
    .name = "auto",
    .summary =
        "sweeps, Newton, interior points, a path in turn, as the problem asks; nothing to tune",
    .reference = "this library",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSOCIATED |
                    SCREE_CAN_ASSEMBLED | SCREE_CAN_BODIES | SCREE_CAN_FLOW | SCREE_CAN_ANY_SIZE,
    .sets = SCREE_SETS_ALL,
    .max_iterations = 200000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
};
