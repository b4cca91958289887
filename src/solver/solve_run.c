/* The run for solvers: stopping, and data shared by the methods of one run. */
#include "core/clock.h"
#include "core/log.h"
#include "problem/measure.h"
#include "solver/policy.h"
#include "solver/price.h"
#include "solver/registry.h"
#include "solver/singles.h"
#include "solver/sweep.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { NAME_SIZE = 256 };
/* Number of solves after which the memory of an unused factor is freed. Not measured: large enough
 * that a scene that factorises occasionally keeps it. */
enum { IDLE_SOLVES = 256 };
/* Stages of sweeps in single precision that may fail before those of a solve are in double. */
enum { SINGLE_STAGES = 2 };

/* Limits that are the same on all ranks at every moment. */
static bool is_exhausted(scree_SolveRun *run) {
  const scree_SolveSettings *s = run->settings;
  if (s->max_iterations > 0 && run->iterations >= s->max_iterations) run->exhausted = true;
  return run->exhausted;
}

/* Those that are not: clocks, counted work, requests of callers. */
static bool is_stopped(scree_SolveRun *run) {
  const scree_SolveSettings *s = run->settings;
  if (s->time_limit > 0.0 && scree_seconds() - run->start >= s->time_limit) run->exhausted = true;
  if (s->work_limit > 0.0 && scree_solve_run_work(run) >= s->work_limit) run->exhausted = true;
  if (scree_poll(run->poll)) run->exhausted = true;
  return run->exhausted;
}

bool scree_solve_run_exhausted(scree_SolveRun *run) {
  const bool exhausted = is_exhausted(run);
  return scree_is_divided(run->W) ? exhausted : is_stopped(run);
}

/* Every rank ends when one does. */
static bool is_stopped_anywhere(scree_SolveRun *run) {
  if (!scree_is_divided(run->W)) return scree_solve_run_exhausted(run);
  is_exhausted(run);
  is_stopped(run);
  const scree_Ranks *ranks = scree_ranks_of(run->W);
  const bool mine[2] = {run->exhausted, run->poll->stopped};
  const bool *all = scree_ranks_gather(ranks, mine, sizeof mine);
  for (int k = 0; k < scree_ranks_count(ranks); ++k) {
    run->exhausted = run->exhausted || all[2 * k];
    run->poll->stopped = run->poll->stopped || all[2 * k + 1];
  }
  return run->exhausted;
}

/* The iterate has been measured. */
static bool decide(scree_SolveRun *run, double value) {
  const scree_SolveSettings *s = run->settings;
  run->value = value;
  if (!run->measured) run->first_value = run->value;
  run->measured = true;
  run->met = run->value <= s->tolerance;
  if (s->progress && !s->progress(s->progress_user, run->iterations, run->value))
    run->exhausted = true;
  return is_stopped_anywhere(run) || run->met;
}

bool scree_solve_run_stop(scree_SolveRun *run, const double *r, const double *u, double increment) {
  const scree_Measure measure = run->settings->measure;
  return decide(run, measure == SCREE_MEASURE_INCREMENT
                         ? increment
                         : scree_measure_value(run->W, measure, r, u));
}

scree_Status scree_solver_class_read_options(const scree_SolverClass *class_,
                                             const char *const *list, scree_SolverOptions *options,
                                             const scree_Log *log) {
  char owner[SCREE_OPTION_NAME_SIZE + 16] = "solver ", name[NAME_SIZE];
  assert(class_->options.size <= sizeof *options);
  strncat(owner, class_->name, SCREE_OPTION_NAME_SIZE);
  scree_options_init(&class_->options, options);
  for (; list && *list; ++list) {
    const char *equals = strchr(*list, '=');
    const size_t length = equals ? (size_t)(equals - *list) : 0;
    if (!equals || length == 0 || length >= sizeof name)
      return scree_fail(log, SCREE_BAD_INPUT, "%s: option \"%s\", expected name=value", owner,
                        *list);
    memcpy(name, *list, length);
    name[length] = '\0';
    scree_Status status =
        scree_options_set(&class_->options, owner, options, name, equals + 1, log);
    if (status) return status;
  }
  return SCREE_OK;
}

scree_Status scree_solve_run_solver(scree_SolveRun *run, const scree_SolverClass *class_,
                                    const char *const *options, double *r, double *u) {
  scree_Arena *work = &run->cache->work;
  const scree_ArenaMark mark = scree_arena_mark(work);
  scree_SolverOptions values;
  void *state = NULL;
  scree_Status status = scree_solver_class_read_options(class_, options, &values, run->log);
  if (!status) status = class_->create(run, &values, &state);
  if (!status) {
    status = class_->solve(state, run, r, u);
    if (class_->destroy) class_->destroy(state);
  }
  scree_arena_release(work, mark);
  run->swept = false;
  run->state = NULL;
  return status;
}

/* ---- single precision --------------------------------------------------------------------------
 * Sweeps in single precision cost a quarter of others where memory limits them: 6.5 for 28 ns a
 * contact among 10^4 spheres. So they also begin the sweeps to tolerances that they do not reach,
 * as long as the error is far enough above their rounding. Small problems stay in one precision. */
static const struct {
  double far;   /* times the rounding, an error from which they begin */
  int contacts; /* of a large problem */
} single = {.far = 3, .contacts = 1500};

/* Whether a run with these settings begins in single precision. */
static bool begins_single(const scree_SolveSettings *settings, int contacts) {
  return settings->measure == SCREE_MEASURE_ERROR &&
         (settings->tolerance >= scree_singles_least() || contacts >= single.contacts);
}

/* Whether it is to go below the error at which these end. */
static bool is_deep(const scree_SolveSettings *settings) {
  return settings->tolerance < scree_singles_least();
}

/* Error at which sweeps in single precision end. */
static double single_end(const scree_SolveRun *run) {
  const double tolerance = run->settings->tolerance;
  return tolerance >= scree_singles_least() ? tolerance : single.far * scree_singles_least_based();
}

static bool may_be_single(const scree_SolveRun *run) {
  if (!begins_single(run->settings, run->W->problem->nc) || run->cache->stopped >= SINGLE_STAGES)
    return false;
  return !is_deep(run->settings) || !(run->measured && run->value < single_end(run));
}

/* ---- shared by the methods of a run ------------------------------------------------------------
 */

static void forget_smoother(scree_SolveCache *cache) {
  scree_arena_reset(&cache->smoothing);
  cache->smoother = NULL;
  cache->balls = false;
  cache->islands = (scree_Islands){0};
  cache->left_out = NULL;
  cache->left = 0;
}

static void begin_solve(scree_SolveCache *cache) {
  cache->ahead = false;
  cache->stopped = 0;
  cache->idle = cache->has_system ? 0 : cache->idle + 1;
  if (cache->idle == IDLE_SOLVES) scree_graph_system_fini(&cache->system);
  cache->has_system = false;
  cache->sweeps_per_factorisation = 0.0;
  cache->shared_sweep = 0.0;
}

scree_Status scree_solve_cache_begin(scree_SolveCache *cache, const scree_Problem *problem,
                                     const scree_Log *log) {
  scree_arena_reset(&cache->work);
  forget_smoother(cache);
  begin_solve(cache);
  return scree_kept_graph_set(&cache->graph, problem, log);
}

void scree_solve_cache_again(scree_SolveCache *cache, const scree_Problem *problem,
                             const scree_SolveSettings *settings, scree_ArenaMark mark) {
  scree_arena_release(&cache->work, mark);
  begin_solve(cache);
  if (!cache->smoother || cache->left_out ||
      !scree_sweeps_suit(cache->smoother, begins_single(settings, problem->nc), is_deep(settings)))
    forget_smoother(cache);
}

scree_Status scree_solve_cache_operator(scree_SolveCache *cache, const scree_Problem *problem,
                                        const scree_Halo *halo, int threads, const scree_Log *log,
                                        scree_Operator *W) {
  return scree_operator_init(problem, halo, threads, cache->graph.body_row, cache->graph.body_entry,
                             &cache->work, log, W);
}

void scree_solve_cache_fini(scree_SolveCache *cache) {
  if (cache->graph.changes == 0 && !cache->elimination.id && !cache->work.first) return; /* new */
  scree_arena_fini(&cache->work);
  scree_arena_fini(&cache->smoothing);
  scree_arena_fini(&cache->graph.arena);
  scree_graph_system_fini(&cache->system);
  scree_elimination_fini(&cache->elimination);
  scree_arena_fini(&cache->mechanisms.arena);
  *cache = (scree_SolveCache){0};
}

size_t scree_solve_cache_memory(const scree_SolveCache *cache) {
  return scree_arena_memory(&cache->work) + scree_arena_memory(&cache->smoothing) +
         scree_arena_memory(&cache->graph.arena) + scree_arena_memory(&cache->system.kept) +
         scree_arena_memory(&cache->system.slots) + scree_arena_memory(&cache->mechanisms.arena) +
         cache->elimination.capacity * sizeof *cache->elimination.id;
}

scree_Status scree_solve_run_system(const scree_SolveRun *run, scree_GraphSystem **system) {
  scree_SolveCache *cache = run->cache;
  if (!cache->has_system) {
    const scree_Status status = scree_graph_system_set(&cache->system, run->W, cache->graph.changes,
                                                       &cache->elimination, &cache->work, run->log);
    if (status) return status;
    if (cache->system.factor) /* it may be an old one */
      scree_factor_set_poll(cache->system.factor, run->poll);
    cache->has_system = true;
  }
  *system = &cache->system;
  return SCREE_OK;
}

/* ---- prices -----------------------------------------------------------------------------------
 */

/* Price of one factorisation with its solves, from the stored operations of the last analysed
 * pattern (elimination.h). False: that pattern had another size, and only the part of the contacts
 * is known. */
static bool factorisation_seconds(const scree_SolveRun *run, double *seconds) {
  int n, nb;
  if (scree_is_divided(run->W)) {
    const scree_SolveCache *cache = run->cache;
    const scree_SharedWork none = {0}, *work = &none;
    if (cache->has_system) work = &cache->system.shared_work;
    *seconds = scree_price_shared_factorisation(run->W, work, false);
    return cache->has_system;
  }
  scree_graph_system_nodes(run->W, &n, &nb);
  double flops = 0.0, entries = 0.0;
  const bool known = scree_elimination_work(&run->cache->elimination, n, nb, &flops, &entries);
  *seconds = scree_price_factorisation(run->W, flops, entries);
  return known;
}

scree_Status scree_solve_run_factorisation_seconds(const scree_SolveRun *run, double *seconds) {
  if (factorisation_seconds(run, seconds)) return SCREE_OK;
  scree_GraphSystem *system;
  const scree_Status status = scree_solve_run_system(run, &system);
  if (!status) factorisation_seconds(run, seconds);
  return status;
}

double scree_solve_run_sweep_seconds(const scree_SolveRun *run) {
  const bool balls = scree_solve_run_sweeps_balls(run);
  if (!scree_is_divided(run->W)) return scree_price_sweep(run->W->problem, balls);
  scree_SolveCache *cache = run->cache;
  if (!(cache->shared_sweep > 0.0))
    cache->shared_sweep = scree_price_shared_sweep(run->W, balls, !run->division->own);
  return cache->shared_sweep;
}

scree_Status scree_solve_run_sweeps_per_factorisation(const scree_SolveRun *run, double *sweeps) {
  scree_SolveCache *cache = run->cache;
  if (!(cache->sweeps_per_factorisation > 0.0)) {
    double seconds;
    const scree_Status status = scree_solve_run_factorisation_seconds(run, &seconds);
    if (status) return status;
    cache->sweeps_per_factorisation = fmax(1.0, seconds / scree_solve_run_sweep_seconds(run));
  }
  *sweeps = cache->sweeps_per_factorisation;
  return SCREE_OK;
}

double scree_solve_run_factorisation_least(const scree_SolveRun *run) {
  double seconds;
  factorisation_seconds(run, &seconds);
  return seconds;
}

/* The analysis of the graph counts, even if an earlier one is still valid: a solver that starts
 * from saved memory has to repeat it, and must count the same work. In small systems it is taken as
 * one factorisation; an order for a large one takes far less than that. */
static double analysis_seconds(const scree_SolveRun *run, double factor) {
  int n, nb;
  if (scree_is_divided(run->W)) return factor;
  scree_graph_system_nodes(run->W, &n, &nb);
  const double operations = run->cache->elimination.flops;
  return fmin(factor, 1e-9 * scree_factor_order_nanoseconds(n, operations));
}

double scree_solve_run_work(const scree_SolveRun *run) {
  double work =
      (run->iterations - run->left_out) * scree_solve_run_sweep_seconds(run) + run->elsewhere;
  double factor = 0.0;
  if (run->cache->has_system) {
    factorisation_seconds(run, &factor);
    work += run->factorisations * factor + analysis_seconds(run, factor);
  }
  return work;
}

/* ---- sweeps -----------------------------------------------------------------------------------
 */

/* Where the next sweeps are in double precision: those in single precision cannot go further. */
static void leave_singles(scree_SolveRun *run) {
  scree_SolveCache *cache = run->cache;
  if (!cache->smoother || !scree_sweeps_single(cache->smoother) || cache->ahead ||
      !is_deep(run->settings) || run->value > single_end(run))
    return;
  cache->stopped = SINGLE_STAGES;
  cache->smoother = NULL;
}

/* Whether r is what the solve before this one ended with, and its error is that of this run. */
static bool is_solved(const scree_SolveRun *run, const double *r) {
  return run->solved && !run->measured && run->settings->measure == SCREE_MEASURE_ERROR &&
         memcmp(r, run->solved->r, run->W->rows * sizeof *r) == 0;
}

/* Sweeps as in sweep.h, then one measurement; *done and *change are of the sweeps. */
static scree_Status smooth(scree_SolveRun *run, scree_SweepPlan plan, double *r, double *u,
                           int *done, double *change) {
  scree_SolveCache *cache = run->cache;
  if (!cache->smoother) {
    scree_SweepSettings settings = scree_sweep_settings();
    settings.single = may_be_single(run);
    settings.deep = is_deep(run->settings);
    settings.left_out = cache->left_out;
    settings.momentum = true;
    const scree_Ranks *ranks = scree_ranks_of(run->W);
    const scree_Status status = scree_ranks_agree(
        ranks, scree_sweeps_create(run, &settings, r, &cache->smoothing, &cache->smoother),
        run->log);
    if (status) return status;
    cache->balls = !scree_ranks_any(ranks, !scree_sweeps_balls(cache->smoother));
    cache->shared_sweep = 0.0;
    plan.resume = false;
  }
  const scree_SolveSettings *s = run->settings;
  run->state = NULL;
  if (plan.count == 0 && is_solved(run, r)) {
    *done = 0;
    *change = INFINITY;
    scree_sweeps_take(cache->smoother, run->W, run->solved->y);
    run->swept = true;
    decide(run, run->solved->error);
    return SCREE_OK;
  }
  const int most = s->max_iterations;
  if (most && most - run->iterations < plan.count) plan.count = most - run->iterations;
  if (s->work_limit > 0.0) { /* limits how far a group of sweeps exceeds the limit */
    const double left =
        (s->work_limit - scree_solve_run_work(run)) / scree_solve_run_sweep_seconds(run);
    if (left < plan.count) plan.count = left > 1.0 ? (int)left : 1;
  }
  double estimate = 0.0;
  plan.estimate = scree_sweeps_single(cache->smoother) && plan.pauses ? &estimate : NULL;
  const double left_out = scree_sweeps_left_out(cache->smoother);
  *change = scree_sweeps_run(cache->smoother, run->W, &plan, r, u, done);
  run->iterations += *done;
  run->left_out += scree_sweeps_left_out(cache->smoother) - left_out;
  run->swept = true;
  if (plan.estimate) {
    run->value = estimate;
    cache->ahead = estimate > single_end(run) && !scree_solve_run_exhausted(run);
    if (cache->ahead && s->progress && !s->progress(s->progress_user, run->iterations, estimate)) {
      run->exhausted = true;
      cache->ahead = false;
    }
    if (cache->ahead) return SCREE_OK;
    scree_sweeps_collect(cache->smoother, run->W, r, u);
  }
  scree_solve_run_stop(run, r, u, *change);
  return SCREE_OK;
}

scree_Status scree_solve_run_smooth(scree_SolveRun *run, int sweeps, double *r, double *u) {
  int done;
  double change;
  const scree_SweepPlan plan = {.count = sweeps, .small = -1.0};
  return smooth(run, plan, r, u, &done, &change);
}

/* ---- islands -----------------------------------------------------------------------------------
 * Islands (problem/islands.h) that satisfy the law keep their impulses while the others are swept:
 * piles at rest beside a flow, or the parts of a cloud that are solved after few sweeps. Each is
 * measured; `settled` of the tolerance leaves the others most of it in the error of all:
 * the sum of squares over such islands is at most 3 settled^2 of what the tolerance allows. */
static const struct {
  int contacts;   /* in smaller problems sweeps cost less than the search */
  double settled; /* error of an island that is left out, over the tolerance */
  double worth;   /* part of the contacts that must be left out to make new batches */
  int sweeps;     /* until the islands are measured again; then twice as many, and so on */
} island = {.contacts = 256, .settled = 0.3, .worth = 0.25, .sweeps = 32};

static scree_Status find_settled(scree_SolveRun *run, const double *r, const double *u) {
  scree_SolveCache *cache = run->cache;
  const scree_Problem *p = run->W->problem;
  const int nc = p->nc;
  scree_Arena *arena = &cache->smoothing; /* `work` is released between methods */
  if (run->settings->measure != SCREE_MEASURE_ERROR || nc < island.contacts || p->general.count ||
      p->kind != SCREE_BODIES || scree_is_divided(run->W) || !cache->smoother ||
      !scree_sweeps_batched(cache->smoother))
    return SCREE_OK;
  if (!cache->islands.of) {
    const scree_Status status = scree_islands_find(p, arena, &cache->islands, run->log);
    if (status) return status;
  }
  const scree_Islands *islands = &cache->islands;
  if (islands->largest > (1.0 - island.worth) * nc) return SCREE_OK;
  const scree_ArenaMark mark = scree_arena_mark(&cache->work);
  scree_IslandNorms *norms = SCREE_TAKE_RAW(&cache->work, scree_IslandNorms, islands->count);
  bool *settled = SCREE_TAKE_RAW(&cache->work, bool, islands->count);
  if (!norms || !settled) return scree_fail_memory(run->log, "islands of contacts");
  for (int k = 0; k < islands->count; ++k) norms[k].rho = 1.0 / run->W->mean_diagonal;
  scree_islands_norms(p, islands, r, u, run->W->threads, norms);
  const double small = island.settled * run->settings->tolerance;
  int left = 0;
  for (int k = 0; k < islands->count; ++k) {
    settled[k] = scree_island_error(&norms[k]) <= small;
    left += settled[k] ? islands->size[k] : 0;
  }
  scree_Status status = SCREE_OK;
  if (left < nc && left - cache->left >= island.worth * (nc - cache->left)) {
    if (!cache->left_out) cache->left_out = SCREE_TAKE_RAW(arena, bool, nc);
    if (!cache->left_out) status = scree_fail_memory(run->log, "islands of contacts");
    for (int c = 0; c < nc && !status; ++c) cache->left_out[c] = settled[islands->of[c]];
    cache->left = left;
    cache->smoother = NULL;
  }
  scree_arena_release(&cache->work, mark);
  return status;
}

/* r, u and their error, if the smoother is ahead of them. */
static void catch_up(scree_SolveRun *run, double *r, double *u) {
  if (!run->cache->ahead) return;
  run->cache->ahead = false;
  scree_sweeps_collect(run->cache->smoother, run->W, r, u);
  scree_solve_run_stop(run, r, u, INFINITY);
}

scree_Status scree_solve_run_sweep(scree_SolveRun *run, const scree_SweepLimits *limits, double *r,
                                   double *u) {
  const scree_SolveSettings *s = run->settings;
  const bool frictionless = scree_problem_is_frictionless(run->W->problem);
  double small = -1.0; /* change of a sweep that predicts the tolerance, as in nlgs.c */
  scree_SweepRecord record = {.half_error = run->value,
                              .lowest = run->value,
                              .judged_error = run->value,
                              .momentum = !run->measure_often && scree_solve_run_momentum(run),
                              .may_calm = !frictionless};
  int group = run->measure_often ? 1
                                 : scree_policy_first_group(run->value, s->tolerance,
                                                            scree_solve_run_sweeps_balls(run));
  if (!run->met) leave_singles(run);
  scree_Status status = run->met ? SCREE_OK : find_settled(run, r, u);
  int next = island.sweeps;
  while (!status && !run->met && !run->exhausted) {
    int swept;
    double change;
    const double before = run->value;
    const scree_SweepPlan plan = {.count = group,
                                  .small = small,
                                  .momentum = record.momentum,
                                  .pauses = !run->measure_often,
                                  .resume = run->swept};
    status = smooth(run, plan, r, u, &swept, &change);
    if (status) return status;
    record.estimated = plan.pauses && scree_sweeps_single(run->cache->smoother);
    if (!run->met) leave_singles(run);
    const double ratio = s->tolerance / run->value; /* the merit is a square */
    if (!run->measure_often)
      small = change * (s->measure == SCREE_MEASURE_MERIT ? sqrt(ratio) : ratio);
    record.error = run->value;
    if (!scree_policy_keep_sweeping(&record, swept, before, limits, s->tolerance)) break;
    group = run->measure_often ? 1 : scree_policy_next_group(record.done, record.estimated);
    if (record.done < next || run->met) continue;
    next = 2 * record.done;
    if (run->cache->islands.largest > (1.0 - island.worth) * run->W->problem->nc) continue;
    catch_up(run, r, u);
    if (!run->met) status = find_settled(run, r, u);
  }
  if (status) return status;
  catch_up(run, r, u);
  if (run->met) run->state = scree_sweeps_state(run->cache->smoother);
  if (run->met || run->exhausted) return SCREE_OK;
  /* other methods sweep over all contacts; and it may be rounding that stops these */
  scree_SolveCache *cache = run->cache;
  const bool singles = cache->smoother && scree_sweeps_single(cache->smoother);
  if (singles) ++cache->stopped;
  if ((singles && cache->stopped == SINGLE_STAGES) || cache->left_out) cache->smoother = NULL;
  cache->left_out = NULL;
  cache->left = 0;
  return SCREE_OK;
}

bool scree_solve_run_momentum(const scree_SolveRun *run) {
  const scree_Problem *p = run->W->problem;
  if (scree_is_divided(run->W)) return false; /* sweep.c */
  /* The associated law with friction has no momentum because of the shear box of 002 (100 kg on
   * grains of a gram), which is lost at its first impact with it. Momentum is not wrong there:
   * cold, it takes the two problems of the impact to 1e-4 in 143 and 131 sweeps in place of 437 and
   * 1471. But at this ratio of masses an error of 1e-4 says nothing yet, with momentum or without:
   * impulses are off by 0.95 of their norm, velocities of grains by up to 2.6 m/s. A run survives
   * where the methods that follow slow sweeps find a better solution by chance. */
  return !scree_price_is_slow(p) &&
         scree_policy_momentum(run->W->constraints, scree_solve_run_sweeps_balls(run),
                               run->settings->warm_start);
}

bool scree_solve_run_sweeps_balls(const scree_SolveRun *run) {
  return run->cache->balls;
}

/* ---- stages -----------------------------------------------------------------------------------
 */

void scree_solve_run_record(scree_SolveInfo *info, const scree_SolveStage *stage) {
  if (!info) return;
  if (info->nstages < SCREE_STAGES_MOST) {
    info->stages[info->nstages++] = *stage;
    return;
  }
  scree_SolveStage *last = &info->stages[SCREE_STAGES_MOST - 1];
  last->error_after = stage->error_after;
  last->iterations += stage->iterations;
  last->factorisations += stage->factorisations;
  last->work += stage->work;
  last->seconds += stage->seconds;
}
