/* The run as a solver sees it: when to stop, and what methods of one run share. */
#include "core/clock.h"
#include "core/log.h"
#include "core/memory.h"
#include "problem/measure.h"
#include "solver/graph_system.h"
#include "solver/nlgs.h"
#include "solver/registry.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { NAME_SIZE = 256 };
static const double FAR_OFF = 100.0;
enum { SHORT = 3 };      /* a rate that was seen for a few sweeps is trusted less */
enum { NEARLY = 8 };     /* sweeps that are made in any case if they promise the tolerance */
enum { CALM_GROUP = 5 }; /* sweeps whose lack of progress makes over-relaxation doubtful */
static const double NO_PROGRESS = 0.9; /* ratio of errors that counts as none */
/* Of sweeps that are to solve; those that smooth after a Newton step take 1. Between balls 1.5
 * halves the sweeps to 1e-3 ... 1e-5; above 1.7 packings begin to diverge. */
static const double RELAXATION = 1.5;
/* Without friction the problem is convex and any value below 2 converges (projected SOR). */
static const double RELAXATION_FRICTIONLESS = 1.7;

bool scree_solve_run_exhausted(scree_SolveRun *run) {
  const scree_SolveSettings *s = run->settings;
  if (s->max_iterations > 0 && run->iterations >= s->max_iterations) run->exhausted = true;
  if (s->time_limit > 0.0 && scree_seconds() - run->start >= s->time_limit) run->exhausted = true;
  if (s->work_limit > 0.0 && scree_solve_run_work(run) >= s->work_limit) run->exhausted = true;
  if (scree_poll(run->poll)) run->exhausted = true;
  return run->exhausted;
}

bool scree_solve_run_stop(scree_SolveRun *run, const double *r, const double *u, double increment) {
  const scree_SolveSettings *s = run->settings;
  run->value = s->measure == SCREE_MEASURE_INCREMENT
                   ? increment
                   : scree_measure_value(run->W, s->measure, r, u);
  run->met = run->value <= s->tolerance;
  if (s->progress && !s->progress(s->progress_user, run->iterations, run->value))
    run->exhausted = true;
  return scree_solve_run_exhausted(run) || run->met;
}

scree_Status scree_solver_read_options(const scree_SolverClass *class_, const char *const *list,
                                       void *options, const scree_Log *log) {
  char owner[SCREE_OPTION_NAME_SIZE + 16] = "solver ", name[NAME_SIZE];
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
  void *values = scree_alloc(class_->options.size, 1), *state = NULL;
  if (!values) return scree_fail_memory(run->log, "the options of a solver");
  scree_Status status = scree_solver_read_options(class_, options, values, run->log);
  if (!status) status = class_->create(run, values, &state);
  if (!status) {
    status = class_->solve(state, run, r, u);
    class_->destroy(state);
  }
  scree_free(values);
  return status;
}

/* ---- shared by the methods of a run ------------------------------------------------------------
 */

void scree_solve_cache_destroy(scree_SolveCache *cache) {
  if (cache->system) scree_graph_system_destroy(cache->system);
  scree_free(cache->system);
  if (cache->smoother) scree_solver_nlgs.destroy(cache->smoother);
  *cache = (scree_SolveCache){0};
}

scree_Status scree_solve_run_system(const scree_SolveRun *run, scree_GraphSystem **system) {
  scree_SolveCache *cache = run->cache;
  if (!cache->system) {
    scree_GraphSystem *made = SCREE_ALLOC(scree_GraphSystem, 1);
    if (!made) return scree_fail_memory(run->log, "a linear system");
    scree_Status status = scree_graph_system_create(run->W, false, run->log, made);
    if (status) {
      scree_free(made);
      return status;
    }
    scree_factor_set_poll(made->factor, run->poll);
    cache->system = made;
  }
  *system = cache->system;
  return SCREE_OK;
}

/* ---- prices: nanoseconds, fitted on an ordinary core; ratios matter more ----------------------
 */

static double factor_nanoseconds(const scree_Problem *p, const scree_GraphSystem *system) {
  assert(system);
  return scree_factor_flops(system->factor) / 20.0 +
         4.5 * (double)scree_factor_entries(system->factor) + p->nc * (p->d == 2 ? 450.0 : 700.0);
}

static bool sweeps_slowly(const scree_Problem *p) {
  return (p->law == SCREE_ASSOCIATED && !scree_problem_is_frictionless(p)) || p->flow;
}

static double sweep_nanoseconds(const scree_Problem *p, bool balls) {
  const double nc = p->nc > 0 ? p->nc : 1.0;
  const bool plane = p->d == 2;
  const double blocks = p->kind == SCREE_ASSEMBLED ? (double)p->blocks.row[p->nc] : 0.0;
  if (sweeps_slowly(p)) return nc * (plane ? 80.0 : 150.0) + blocks * 3.0;
  if (balls) return nc * (plane ? 7.0 : 18.0);
  if (p->kind == SCREE_BODIES) return nc * (plane ? 9.0 : 48.0);
  return nc * (plane ? 8.0 : 45.0) + blocks * (plane ? 1.5 : 3.0);
}

static double sweep_seconds(const scree_SolveRun *run) {
  return 1e-9 * sweep_nanoseconds(run->W->problem, scree_solve_run_sweeps_balls(run));
}

double scree_sweep_seconds(const scree_Problem *problem) {
  return 1e-9 * sweep_nanoseconds(problem, problem->kind == SCREE_BODIES && problem->bodies.arm);
}

/* The analysis of the graph counts as one factorisation. */
double scree_solve_run_work(const scree_SolveRun *run) {
  const scree_GraphSystem *system = run->cache ? run->cache->system : NULL;
  const double factor = system ? 1e-9 * factor_nanoseconds(run->W->problem, system) : 0.0;
  return run->iterations * sweep_seconds(run) + (run->factorisations + 1) * factor;
}

/* ---- sweeps -----------------------------------------------------------------------------------
 */

/* Sweeps as in nlgs.h, then one measurement; *done and *change are of the sweeps. */
static scree_Status smooth(scree_SolveRun *run, int sweeps, double small, double relaxation,
                           bool resume, double *r, double *u, int *done, double *change) {
  scree_SolveCache *cache = run->cache;
  if (!cache->smoother) {
    void *preset = scree_alloc(scree_solver_nlgs.options.size, 1);
    if (!preset) return scree_fail_memory(run->log, "sweeps");
    scree_options_init(&scree_solver_nlgs.options, preset);
    scree_Status status = scree_solver_nlgs.create(run, preset, &cache->smoother);
    scree_free(preset);
    if (status) return status;
  }
  const scree_SolveSettings *s = run->settings;
  const int most = s->max_iterations;
  if (most && most - run->iterations < sweeps) sweeps = most - run->iterations;
  if (s->work_limit > 0.0) { /* a group of sweeps does not go far beyond the limit */
    const double left = (s->work_limit - scree_solve_run_work(run)) / sweep_seconds(run);
    if (left < sweeps) sweeps = left > 1.0 ? (int)left : 1;
  }
  *change =
      scree_nlgs_sweep(cache->smoother, run->W, sweeps, small, relaxation, resume, r, u, done);
  run->iterations += *done;
  scree_solve_run_stop(run, r, u, *change);
  return SCREE_OK;
}

scree_Status scree_solve_run_smooth(scree_SolveRun *run, int sweeps, double *r, double *u) {
  int done;
  double change;
  return smooth(run, sweeps, -1.0, 1.0, false, r, u, &done, &change);
}

/* Over-relaxed sweeps with friction can wander about above some error. Where the error no longer
 * falls, the rest of the run is relaxed less. */
static bool calm_down(scree_SolveRun *run, double before) {
  if (!(run->relaxation > 1.0) || !(run->value > NO_PROGRESS * before) ||
      !scree_solve_run_sweeps_balls(run) || scree_problem_is_frictionless(run->W->problem))
    return false;
  run->relaxation = run->relaxation > 1.1 ? 0.5 * (1.0 + run->relaxation) : 1.0;
  return true;
}

scree_Status scree_solve_run_sweep(scree_SolveRun *run, double least, double most, double *r,
                                   double *u) {
  double half_error = run->value, lowest = run->value;
  double small = -1.0; /* a change of a sweep that promises the tolerance, as in nlgs.c */
  int done = 0, half = 0;
  /* far from the tolerance one sweep will not do, and between balls measuring costs more */
  const bool far =
      run->value > FAR_OFF * run->settings->tolerance && scree_solve_run_sweeps_balls(run);
  if (!(run->relaxation > 0.0))
    run->relaxation =
        scree_problem_is_frictionless(run->W->problem) ? RELAXATION_FRICTIONLESS : RELAXATION;
  for (int group = far && !run->measure_often ? 3 : 1; !run->met && !run->exhausted;) {
    int swept;
    double change;
    const double before = run->value;
    scree_Status status =
        smooth(run, group, small, run->relaxation, done > 0, r, u, &swept, &change);
    if (status) return status;
    done += swept;
    lowest = fmin(lowest, run->value); /* single sweeps may go up */
    if (!run->measure_often) small = change * (run->settings->tolerance / run->value);
    const bool calmed = swept >= CALM_GROUP && calm_down(run, before);
    if (calmed && done > most) break;
    if (!calmed && done >= least && done >= 2 * half) {
      const double rate = log(lowest / half_error) / (done - half);
      const double needed =
          log(run->settings->tolerance / run->value) / rate * (1.0 + SHORT / (double)done);
      if (!(rate < 0.0) || (needed > NEARLY && done + needed > most)) break;
    }
    if (calmed || done >= 2 * half) { /* judged from here on */
      half = done;
      half_error = lowest;
    }
    group = run->measure_often ? 1 : 1 + done / 2;
  }
  return SCREE_OK;
}

bool scree_solve_run_sweeps_balls(const scree_SolveRun *run) {
  return run->cache && run->cache->smoother && scree_nlgs_sweeps_balls(run->cache->smoother);
}

bool scree_solve_run_sweeps_slowly(const scree_SolveRun *run) {
  return sweeps_slowly(run->W->problem);
}

scree_Status scree_solve_run_factorisation_seconds(const scree_SolveRun *run, double *seconds) {
  scree_GraphSystem *system = NULL;
  scree_Status status = scree_solve_run_system(run, &system);
  if (!status) *seconds = 1e-9 * factor_nanoseconds(run->W->problem, system);
  return status;
}

scree_Status scree_solve_run_sweeps_per_factorisation(const scree_SolveRun *run, double *sweeps) {
  scree_SolveCache *cache = run->cache;
  if (!(cache->sweeps_per_factorisation > 0.0)) {
    scree_GraphSystem *system;
    scree_Status status = scree_solve_run_system(run, &system);
    if (status) return status;
    cache->sweeps_per_factorisation =
        fmax(1.0, 1e-9 * factor_nanoseconds(run->W->problem, system) / sweep_seconds(run));
  }
  *sweeps = cache->sweeps_per_factorisation;
  return SCREE_OK;
}
