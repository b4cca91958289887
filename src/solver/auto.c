/* auto: the default solver. It tries cheap methods first, continues each method from the best
 * impulses so far, and stops a method as soon as its progress indicates that the next one will be
 * faster:
 *
 *   1. sweeps of Gauss-Seidel, as long as their rate predicts that the tolerance is reached at the
 *      cost of a few factorisations: most loose tolerances and warm starts end here
 *   2. newton: proximal Newton steps on the statuses that the sweeps have found; from near a
 *      solution a handful of factorisations gives all digits
 *      when that fails, sweeps again if they are predicted to be cheaper than stage 3
 *   3. ipm: interior point from its own start, which finds the statuses of dense packings; it ends
 *      with sweeps and newton again. If it fails from one start it often succeeds from another, so
 *      it is tried with other weights too
 *   4. lemke, where its path is not too long: the error need not fall along the path, but it needs
 *      some factorisations for each contact
 *   5. sweeps from the best impulses so far, until they no longer reduce the error enough
 *   6. if a time limit was given and is not reached: stages 3 to 5 from other starts
 *
 * After a start near the solution (option `polish`) pivot follows newton, and nothing else.
 *
 * An assembled W that belongs to rigid bodies is decomposed into these before stage 2
 * (solver/recover.h): all later stages are cheaper in body form.
 *
 * The next stage is chosen in policy.c, from recorded data alone. This file carries out the
 * decisions and records them. Decisions depend on counts (sweeps, factorisations, operations of the
 * analysed factor) and errors, never on clocks: the same problem gives the same bits on any
 * machine and number of threads. There are no parameters to tune. */
#include "core/clock.h"
#include "core/log.h"
#include "solver/driver.h"
#include "solver/policy.h"
#include "solver/recover.h"
#include "solver/registry.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct Options {
  bool polish;
  double slack;
} Options;

typedef struct State {
  Options options;
  scree_History *history; /* null until a second stage is needed: small solves do not allocate it */
  double clock;           /* when the last stage ended */
  double work;            /* counted by then */
  scree_SolveSettings settings; /* of this solve */
  size_t bytes;                 /* of r */
  double *best;                 /* (nc x d) */
  double error;                 /* of best */
  /* the bodies behind W, once they have been found */
  bool has_bodies;
  scree_Problem bodies;
  scree_Operator over_bodies;
} State;

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  scree_Arena *work = &run->cache->work;
  State *st = SCREE_TAKE_RAW(work, State, 1);
  const size_t n = run->W->rows;
  if (!st || !(st->best = SCREE_TAKE_RAW(work, double, n)))
    return scree_fail_memory(run->log, "auto");
  st->options = *(const Options *)options;
  st->bytes = n * sizeof *st->best;
  st->history = NULL;
  *out = st;
  return SCREE_OK;
}

/* ---- the actions ------------------------------------------------------------------------------
 */

/* From now on the run works on the bodies recovered from its assembled W, if there are any. The
 * result must satisfy the tolerance with W as given: the driver measures that, and calls again if
 * the error is above it. */
static scree_Status recover(State *st, scree_SolveRun *run) {
  const scree_Operator *W = run->W;
  scree_SolveCache *own = run->cache->next;
  bool found;
  scree_Status status = scree_recover_bodies(W->problem, &st->bodies, &found, run->log);
  if (status || !found) return status;
  st->has_bodies = true;
  scree_report(run->log, SCREE_LOG_DETAIL, "auto: %d bodies behind W", st->bodies.bodies.nbodies);
  status = scree_solve_cache_begin(own, &st->bodies, run->log);
  if (!status)
    status =
        scree_solve_cache_operator(own, &st->bodies, NULL, W->threads, run->log, &st->over_bodies);
  if (status) return status;
  run->W = &st->over_bodies;
  run->cache = own;
  return SCREE_OK;
}

static scree_Status analyse(scree_SolveRun *run) {
  double price = 0.0;
  const scree_Status status = scree_solve_run_sweeps_per_factorisation(run, &price);
  scree_report(run->log, SCREE_LOG_DETAIL,
               "auto: error %.2e after %d sweeps, a factorisation costs %.0f", run->value,
               run->iterations, price);
  return status;
}

enum { OPTION_SIZE = 32 };

static scree_Status run_ipm(scree_SolveRun *run, const scree_Action *action, double *r, double *u) {
  char kappa[OPTION_SIZE], barrier[OPTION_SIZE], weight[OPTION_SIZE];
  snprintf(kappa, sizeof kappa, "kappa=%g", action->kappa);
  snprintf(barrier, sizeof barrier, "barrier=%g", action->barrier);
  snprintf(weight, sizeof weight, "weight=%g", action->weight);
  const char *const options[] = {kappa, barrier, weight, NULL};
  return scree_solve_run_solver(run, &scree_solver_ipm, options, r, u);
}

/* A solver with one option, a whole number. */
static scree_Status run_with(scree_SolveRun *run, const scree_SolverClass *solver, const char *name,
                             int value, double *r, double *u) {
  char option[OPTION_SIZE];
  snprintf(option, sizeof option, "%s=%d", name, value);
  const char *const options[] = {option, NULL};
  return scree_solve_run_solver(run, solver, options, r, u);
}

/* Near the solution, once the sweeps have been made, a larger error may be enough. */
static double tolerance_near(const State *st, const scree_SolveRun *run) {
  return run->settings->tolerance * (st->options.polish ? st->options.slack : 1.0);
}

static scree_Status run_near(const State *st, scree_SolveRun *run, const scree_SolverClass *solver,
                             const char *const *options, double *r, double *u) {
  const scree_SolveSettings *asked = run->settings;
  scree_SolveSettings settings = *asked;
  settings.tolerance = tolerance_near(st, run);
  run->settings = &settings;
  const scree_Status status = scree_solve_run_solver(run, solver, options, r, u);
  run->settings = asked;
  run->met = run->met && run->value <= asked->tolerance;
  return status;
}

/* Near the solution most statuses are known, and a step is right as far as its weight allows: with
 * the default one, 1e-4, the long waves of a stack of 100 boxes did not change. Processor seconds
 * of runs with 1e-4, 1e-6 and 1e-7: that stack in 2D 3.2, 1.9, 2.0; in 3D 3.8, 2.5, 2.2; under a
 * load of 1e4 weights 3.2, 2.6, 2.4; examples/crush-3d.yaml 3.4, 1.0, 2.3, with scatter.
 *
 * Before pivot a window of 3 instead of its default of 8: 200 disks without loss that settle took
 * 4.4 s of counted work in solves from near the solution (2: 4.7, 4: 4.7, 8: 5.7),
 * examples/drum.yaml to 0.6 s 1.8 s (2.0, 1.7, 2.3). */
static scree_Status run_newton(const State *st, scree_SolveRun *run, const scree_Action *action,
                               double *r, double *u) {
  static const char *const patient[] = {"window=20", "fall=2", NULL},
                           *const near[] = {"weight=1e-6", NULL},
                           *const brief[] = {"weight=1e-6", "window=3", NULL};
  const char *const *options = action->patient ? patient : NULL;
  if (st->options.polish) options = action->brief ? brief : near;
  return run_near(st, run, &scree_solver_newton, options, r, u);
}

static scree_Status run_pivot(const State *st, scree_SolveRun *run, const scree_Action *action,
                              double *r, double *u) {
  const bool near = action->phase == SCREE_PHASE_FINISH;
  char most[OPTION_SIZE];
  snprintf(most, sizeof most, "most=%d", action->factorisations);
  const char *const options[] = {most, near ? "start=0" : NULL, NULL};
  return run_near(st, run, &scree_solver_pivot, options, r, u);
}

static scree_Status perform(State *st, scree_SolveRun *run, const scree_Action *action, double *r,
                            double *u) {
  const scree_SweepLimits limits = {
      .least = action->least, .most = action->most, .idle = action->least};
  switch (action->kind) {
  case SCREE_ACTION_SWEEP: return scree_solve_run_sweep(run, &limits, r, u);
  case SCREE_ACTION_RECOVER: return recover(st, run);
  case SCREE_ACTION_ANALYSE: return analyse(run);
  case SCREE_ACTION_RESTART: memset(r, 0, st->bytes); return scree_solve_run_smooth(run, 0, r, u);
  case SCREE_ACTION_NEWTON: return run_newton(st, run, action, r, u);
  case SCREE_ACTION_IPM: return run_ipm(run, action, r, u);
  case SCREE_ACTION_LEMKE: return run_with(run, &scree_solver_lemke, "start", action->start, r, u);
  case SCREE_ACTION_IMPLICIT:
    return run_with(run, &scree_solver_implicit, "most", action->factorisations, r, u);
  case SCREE_ACTION_PIVOT: return run_pivot(st, run, action, r, u);
  case SCREE_ACTION_STOP: break;
  }
  return SCREE_OK;
}

/* ---- the loop ---------------------------------------------------------------------------------
 */

/* Keep the iterate if it is the best, else restore the best; not after a restart, which increases
 * the error on purpose. */
static void settle(State *st, scree_SolveRun *run, scree_ActionKind kind, double *r) {
  if (run->value <= st->error) {
    st->error = run->value;
    memcpy(st->best, r, st->bytes);
  } else if (!run->met && kind != SCREE_ACTION_RESTART) {
    memcpy(r, st->best, st->bytes);
    run->value = st->error;
    run->swept = false;
  }
}

/* Facts of the parts of all ranks: what one of them cannot do, none does. */
static void join_facts(const scree_SolveRun *run, scree_Facts *facts) {
  double most[] = {facts->slow_sweeps, !facts->factorises, facts->no_ipm, !facts->steps};
  scree_ranks_most(scree_ranks_of(run->W), most, sizeof most / sizeof *most);
  facts->slow_sweeps = most[0] > 0.0;
  facts->factorises = scree_graph_system_fits(run->W) && !(most[1] > 0.0);
  facts->no_ipm = most[2] > 0.0;
  facts->steps = !(most[3] > 0.0);
  /* bodies and paths are looked for on one rank alone */
  facts->assembled = facts->follows = facts->pivots = false;
  facts->sweep_seconds = scree_solve_run_sweep_seconds(run);
}

/* The first decision needs few facts, and most small solves need no other. */
static scree_Facts gather(const State *st, const scree_SolveRun *run) {
  const scree_Problem *p = run->W->problem;
  const scree_SolveSettings *s = run->settings;
  scree_Facts facts = {.d = p->d,
                       .contacts = (int)fmin(INT_MAX, (double)scree_all_constraints(run->W)),
                       .balls = scree_solve_run_sweeps_balls(run),
                       .slow_sweeps = scree_price_is_slow(p),
                       .tolerance = s->tolerance};
  if (!st->history && !scree_is_divided(run->W)) return facts;
  facts.assembled = p->kind == SCREE_ASSEMBLED;
  facts.associated = p->flow == SCREE_ASSOCIATED;
  facts.factorises = !scree_solver_class_refuses(&scree_solver_newton, p);
  facts.no_ipm = scree_solver_class_refuses(&scree_solver_ipm, p) != NULL;
  facts.follows = !scree_solver_class_refuses(&scree_solver_lemke, p);
  facts.steps = !scree_solver_class_refuses(&scree_solver_implicit, p);
  facts.pivots = !scree_solver_class_refuses(&scree_solver_pivot, p);
  facts.warm = s->warm_start;
  facts.polish = st->options.polish;
  facts.sweep_seconds = scree_sweep_seconds(p);
  if (scree_is_divided(run->W)) join_facts(run, &facts);
  facts.factor_least = scree_solve_run_factorisation_least(run);
  facts.work_left = s->work_limit > 0.0 ? s->work_limit - st->work : INFINITY;
  facts.time_left = s->time_limit > 0.0 ? s->time_limit - st->work : INFINITY;
  if (run->cache->sweeps_per_factorisation > 0.0) { /* after the analysis neither call can fail */
    scree_solve_run_sweeps_per_factorisation(run, &facts.price);
    scree_solve_run_factorisation_seconds(run, &facts.factor_seconds);
  }
  return facts;
}

/* Append a stage that has not ended the solve to the history. */
static scree_Status remember(State *st, scree_SolveRun *run, scree_Stage *now) {
  if (!st->history) {
    st->history = SCREE_TAKE_RAW(&run->cache->work, scree_History, 1);
    const scree_Status status =
        scree_ranks_agree(scree_ranks_of(run->W),
                          st->history ? SCREE_OK : scree_fail_memory(run->log, "auto"), run->log);
    if (status || !st->history) return status;
    st->history->count = 0;
  }
  const double clock = scree_seconds(); /* the driver measures the time of the last stage */
  now->record.seconds = clock - st->clock;
  st->clock = clock;
  st->history->stage[st->history->count++] = *now;
  return SCREE_OK;
}

/* Carry out an action and record it. */
static scree_Status stage(State *st, scree_SolveRun *run, const scree_Action *action, double *r,
                          double *u) {
  const char *name = scree_action_name(action->kind);
  const double work = st->work;
  scree_Stage now = {.action = *action, .record = {.name = name, .error_before = run->value}};
  now.record.iterations = -run->iterations;
  now.record.factorisations = -run->factorisations;
  if (action->kind == SCREE_ACTION_SWEEP || action->kind >= SCREE_ACTION_NEWTON) run->note = name;
  scree_Status status = perform(st, run, action, r, u);
  if (status) return status;
  settle(st, run, action->kind, r);
  now.record.error_after = run->value;
  now.record.iterations += run->iterations;
  now.record.factorisations += run->factorisations;
  st->work = scree_solve_run_work(run);
  now.record.work = st->work - work;
  now.finished = run->met || run->exhausted;
  if (!now.finished) status = remember(st, run, &now);
  scree_solve_run_record(run->info, &now.record);
  scree_report(run->log, SCREE_LOG_DETAIL,
               "auto: %s stopped at error %.2e after %d iterations, %d factorisations", name,
               run->value, run->iterations, run->factorisations);
  return status;
}

/* ---- several ranks -----------------------------------------------------------------------------
 * The same stages on all ranks. Rank 0 goes on alone, as auto on one rank, when they have all
 * failed (it has lemke, and looks for bodies behind W), and after the analysis if a factorisation
 * costs less there, with its messages. Where factorisations are not divided it does so after some
 * sweeps. */

enum { SHARED_SWEEPS = 300 }; /* about the cost of one factorisation of 10^4 contacts; not tuned */

static scree_Status continue_alone(State *st, scree_SolveRun *run, double *r, double *u) {
  const scree_Operator *W = run->W;
  const scree_Division *division = run->division;
  const bool own = division->own; /* rank 0 has a part only */
  scree_Problem joined = {0};
  const size_t n = division->rank == 0 ? (size_t)division->halo.rows : 0;
  scree_Arena *work = &run->cache->work;
  double *all_r = SCREE_TAKE_RAW(work, double, n), *all_u = SCREE_TAKE_RAW(work, double, n);
  double *room = SCREE_TAKE_RAW(work, double, n), *y = SCREE_TAKE(work, double, W->state_size);
  scree_Status status =
      all_r && all_u && room && y ? SCREE_OK : scree_fail_memory(run->log, "a solve on one rank");
  status = scree_ranks_agree(scree_ranks_of(W), status, run->log);
  if (status) return status;
  if (own) status = scree_division_join(division, work, &joined, run->log);
  if (status) return status;
  scree_division_collect(division, r, room, all_r);
  double counts[3] = {0, 0, 0};
  if (division->rank == 0) {
    scree_SolveSettings settings = st->settings;
    scree_SolveInfo info;
    settings.ranks = NULL;
    settings.solver = scree_solver_auto.name;
    settings.warm_start = true;
    settings.max_iterations = 0;
    if (settings.time_limit > 0.0)
      settings.time_limit = fmax(1e-3, settings.time_limit - (scree_seconds() - run->start));
    status = scree_solve(own ? &joined : division->whole, &settings, all_r, all_u, &info, run->log);
    if (own) scree_problem_destroy(&joined);
    counts[0] = info.iterations;
    counts[1] = info.factorisations;
    counts[2] = info.work;
  }
  if (status == SCREE_NOT_CONVERGED) status = SCREE_OK; /* the driver measures */
  status = scree_ranks_agree(scree_ranks_of(W), status, run->log);
  if (status) return status;
  scree_ranks_broadcast(scree_ranks_of(W), counts, sizeof counts);
  run->iterations += (int)counts[0];
  run->factorisations += (int)counts[1];
  run->elsewhere += counts[2];
  scree_division_scatter(division, all_r, room, r);
  scree_operator_apply(W, r, W->problem->q, y, u);
  scree_solve_run_stop(run, r, u, INFINITY);
  run->note = "auto on rank 0";
  return SCREE_OK;
}

/* Sweeps, then rank 0: for builds without PETSc. */
static scree_Status sweep_divided(State *st, scree_SolveRun *run, double *r, double *u) {
  const scree_SolveSettings *given = run->settings;
  const int most = run->iterations + SHARED_SWEEPS;
  st->settings = *given;
  if (st->settings.max_iterations > most) st->settings.max_iterations = most;
  run->settings = &st->settings;
  scree_Status status = scree_solve_run_solver(run, &scree_solver_nlgs, NULL, r, u);
  run->note = scree_solver_nlgs.name;
  run->settings = given;
  st->settings.max_iterations = given->max_iterations;
  const bool limited = run->iterations < most && run->exhausted; /* by the caller or the clock */
  if (status || run->met || limited || run->poll->stopped) return status;
  run->exhausted = false;
  return continue_alone(st, run, r, u);
}

/* Whether a problem is too small for several ranks: only parts that their ranks have posed get
 * here then (scree_solver_divides). */
static bool is_small(const scree_SolveRun *run) {
  return run->division->own &&
         scree_all_constraints(run->W) < (long long)SCREE_CONTACTS_PER_RANK * run->division->size;
}

/* Whether rank 0 factorises faster than all ranks together. */
static bool is_faster_alone(const scree_SolveRun *run) {
  const scree_SharedWork *work = &run->cache->system.shared_work;
  return run->cache->has_system && scree_price_shared_factorisation(run->W, work, true) <
                                       scree_price_shared_factorisation(run->W, work, false);
}

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *st = memory;
  const scree_Operator *W = run->W;
  const bool divided = scree_is_divided(W);
  scree_SolveCache *cache = run->cache;
  const scree_SolveSettings *given = run->settings;
  st->settings = *given;
  if (divided && is_small(run)) return continue_alone(st, run, r, u);
  if (divided && !SCREE_SHARED_FACTORS) return sweep_divided(st, run, r, u);
  /* a time limit replaces the default limit of iterations */
  if (given->time_limit > 0.0 && given->max_iterations == scree_solver_auto.max_iterations)
    st->settings.max_iterations = INT_MAX;
  run->settings = &st->settings;
  /* a paper's measure is checked as seldom as any other: there is no count of a paper to repeat */
  const bool often = run->measure_often;
  run->measure_often = false;
  st->error = INFINITY;
  if (st->history) st->history->count = 0;
  st->clock = run->info && run->info->nstages > 0 ? scree_seconds() : run->start;
  st->has_bodies = false;
  bool alone = false; /* rank 0 goes on alone */
  scree_Status status = scree_solve_run_smooth(run, 0, r, u);
  if (!status && st->options.polish)
    settle(st, run, SCREE_ACTION_SWEEP, r); /* it may be the best */
  st->work = scree_solve_run_work(run);
  while (!status && !run->met && !run->exhausted) {
    const scree_Facts facts = gather(st, run);
    const scree_Action action = scree_policy_next(&facts, st->history);
    alone = divided && (action.kind == SCREE_ACTION_STOP ||
                        (st->history && is_faster_alone(run) && !st->options.polish));
    if (alone || action.kind == SCREE_ACTION_STOP) break;
    status = stage(st, run, &action, r, u);
  }
  run->measure_often = often;
  run->settings = given;
  if (!status && alone) status = continue_alone(st, run, r, u);
  run->cache = cache;
  run->W = W;
  if (st->has_bodies) {
    scree_problem_destroy(&st->bodies);
    run->state = NULL; /* of the operator over these bodies */
  }
  return status;
}

static const scree_Option options[] = {
    {"polish", SCREE_OPTION_BOOL, offsetof(Options, polish), 0, 0, 1, false, NULL,
     "for starting points close to the solution: only sweeps, Newton steps and pivot"},
    {"slack", SCREE_OPTION_REAL, offsetof(Options, slack), 1, 1, 1e6, false, NULL,
     "with polish: times the tolerance, an error at which newton and pivot may end"},
};

const scree_SolverClass scree_solver_auto = {
    .name = "auto",
    .summary = "combines Gauss-Seidel sweeps, Newton, interior point and path methods",
    .reference = "this library",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSOCIATED |
                    SCREE_CAN_ASSEMBLED | SCREE_CAN_BODIES | SCREE_CAN_FLOW | SCREE_CAN_ANY_SIZE |
                    SCREE_CAN_RANKS,
    .sets = SCREE_SETS_ALL,
    .max_iterations = 200000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
};
