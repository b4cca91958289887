/* The driver: checks the problem, prepares the operator, runs the chosen solver and grades the
 * result. The grade is computed here, from r alone, by the shared function; a solver has no say in
 * it. If a solver believes in a result that the grade refutes (its own velocities had drifted), it
 * is started again from where it stopped. */
#include "core/clock.h"
#include "core/log.h"
#include "core/memory.h"
#include "problem/measure.h"
#include "solver/registry.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { RESTARTS = 3 };

scree_SolveSettings scree_solve_settings(void) {
  const char *preset = scree_solver_find("auto") ? "auto" : "nlgs";
  return (scree_SolveSettings){
      .solver = preset, .tolerance = 1e-8, .measure = SCREE_MEASURE_ERROR, .threads = 0};
}

const scree_SolverClass *scree_solver_find(const char *name) {
  for (int k = 0; scree_solver_registry[k]; ++k)
    if (strcmp(scree_solver_registry[k]->name, name) == 0) return scree_solver_registry[k];
  return NULL;
}

const char *scree_solver_name(const scree_SolverClass *class_) {
  return class_->name;
}

const char *scree_solver_summary(const scree_SolverClass *class_) {
  return class_->summary;
}

const char *scree_solver_reference(const scree_SolverClass *class_) {
  return class_->reference;
}

unsigned scree_solver_capabilities(const scree_SolverClass *class_) {
  return class_->capabilities;
}

const scree_OptionTable *scree_solver_options(const scree_SolverClass *class_) {
  return &class_->options;
}

static bool only_cones(const scree_Problem *p) {
  if (!p->set) return true;
  for (int c = 0; c < p->nc; ++c)
    if (p->set[c] != SCREE_SET_CONE && p->set[c] != SCREE_SET_HALF_LINE) return false;
  return true;
}

const char *scree_solver_refuses(const scree_SolverClass *class_, const scree_Problem *problem) {
  const unsigned can = class_->capabilities;
  if (problem->d == 2 && !(can & SCREE_CAN_2D)) return "it does not solve 2D problems";
  if (problem->d == 3 && !(can & SCREE_CAN_3D)) return "it does not solve 3D problems";
  if (problem->law == SCREE_COULOMB && !(can & SCREE_CAN_COULOMB))
    return "it solves the associated law only (--law associated), or serves inside fixed-point";
  if (problem->law == SCREE_ASSOCIATED && !(can & SCREE_CAN_ASSOCIATED))
    return "it does not solve the associated law";
  if (problem->kind == SCREE_ASSEMBLED && !(can & SCREE_CAN_ASSEMBLED))
    return "it needs the bodies, and this problem gives W only";
  if (problem->kind == SCREE_BODIES && !(can & SCREE_CAN_BODIES))
    return "it needs W assembled, and this problem gives bodies";
  if (problem->flow && !(can & SCREE_CAN_FLOW)) return "it does not know non-associated flow";
  if (!(can & SCREE_CAN_ALL_SETS) && !only_cones(problem))
    return "it knows Coulomb's cone and frictionless contact only";
  return NULL;
}

/* ---- solve ----------------------------------------------------------------------------------- */

static scree_Status find_class(const scree_Problem *problem, const char *name,
                               const scree_SolverClass **class_, const scree_Log *log) {
  *class_ = scree_solver_find(name);
  if (!*class_) {
    const char *names[64] = {NULL};
    for (int k = 0; k < 63 && scree_solver_registry[k]; ++k)
      names[k] = scree_solver_registry[k]->name;
    const char *near = scree_nearest_word(name, names);
    return scree_fail(log, SCREE_BAD_INPUT, "solver \"%s\" is not known%s%s%s", name,
                      near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
  }
  const char *reason = scree_solver_refuses(*class_, problem);
  if (reason)
    return scree_fail(log, SCREE_BAD_INPUT, "solver %s cannot solve this problem: %s", name,
                      reason);
  return SCREE_OK;
}

static scree_Status check_settings(const scree_SolveSettings *s, const scree_Log *log) {
  if (!(s->tolerance >= 0.0) || !isfinite(s->tolerance))
    return scree_fail(log, SCREE_BAD_INPUT, "tolerance is %g, expected a number >= 0",
                      s->tolerance);
  if (s->max_iterations < 0)
    return scree_fail(log, SCREE_BAD_INPUT, "max_iterations is %d, expected >= 0",
                      s->max_iterations);
  if (!(s->time_limit >= 0.0))
    return scree_fail(log, SCREE_BAD_INPUT, "time_limit is %g, expected >= 0 seconds",
                      s->time_limit);
  if (!(s->work_limit >= 0.0))
    return scree_fail(log, SCREE_BAD_INPUT, "work_limit is %g, expected >= 0 seconds",
                      s->work_limit);
  if (s->threads < 0)
    return scree_fail(log, SCREE_BAD_INPUT, "threads is %d, expected >= 0", s->threads);
  return SCREE_OK;
}

/* The certificate: velocities and every measure, from r alone. */
static void certify(const scree_SolveRun *run, const double *r, double *u, double *y,
                    scree_SolveInfo *info) {
  const scree_SolveSettings *s = run->settings;
  const size_t n = (size_t)run->W->problem->nc * (size_t)run->W->problem->d;
  for (size_t i = 0; i < n; ++i) run->work[i] = u[i];
  scree_operator_apply(run->W, r, run->W->problem->q, y, u);
  scree_measure_all(run->W, r, u, run->work, &info->measures);
  switch (s->measure) {
  case SCREE_MEASURE_ERROR: info->value = info->measures.error; break;
  case SCREE_MEASURE_SICONOS: info->value = info->measures.error_siconos; break;
  case SCREE_MEASURE_BOTH:
    info->value = fmax(info->measures.error, info->measures.error_siconos);
    break;
  case SCREE_MEASURE_EPS_GLOB: info->value = info->measures.eps_glob; break;
  case SCREE_MEASURE_MERIT: info->value = info->measures.merit; break;
  case SCREE_MEASURE_INCREMENT: info->value = run->value; break;
  }
  info->converged = info->value <= s->tolerance;
}

static scree_Status run_and_certify(scree_SolveRun *run, const scree_SolverClass *class_,
                                    const void *options, double *r, double *u, double *y,
                                    scree_SolveInfo *info) {
  scree_Status status = SCREE_OK;
  void *state = NULL;
  scree_SolveCache cache = {0};
  run->cache = &cache;
  status = class_->create(run, options, &state);
  for (int k = 0; !status && k <= RESTARTS; ++k) {
    run->met = false;
    status = class_->solve(state, run, r, u);
    if (status) break;
    info->seconds = scree_seconds() - run->start; /* the certificate is not the solver's */
    certify(run, r, u, y, info);
    if (info->converged || !run->met || run->exhausted) break;
  }
  info->work = scree_solve_run_work(run);
  if (state) class_->destroy(state);
  scree_solve_cache_destroy(&cache);
  run->cache = NULL;
  info->iterations = run->iterations;
  info->factorisations = run->factorisations;
  info->solver = run->note ? run->note : class_->name;
  return status;
}

scree_Status scree_solve(const scree_Problem *problem, const scree_SolveSettings *settings,
                         double *r, double *u, scree_SolveInfo *info, const scree_Log *log) {
  const scree_SolverClass *class_ = NULL;
  scree_Operator W = {0};
  *info = (scree_SolveInfo){0};
  scree_Status status = scree_problem_check(problem, log);
  if (!status) status = check_settings(settings, log);
  if (!status) status = find_class(problem, settings->solver, &class_, log);
  if (status) return status;

  scree_SolveSettings used = *settings;
  if (used.max_iterations == 0) used.max_iterations = class_->max_iterations;
  const int threads = used.threads > 0 ? used.threads : omp_get_max_threads();
  const size_t n = (size_t)problem->nc * (size_t)problem->d;
  const double start = scree_seconds();
  void *options = scree_alloc(class_->options.size, 1);
  double *work = SCREE_ALLOC(double, n), *y = NULL;
  if (!options || !work) status = scree_fail_memory(log, "the work of a solve");
  if (!status) status = scree_solver_read_options(class_, settings->options, options, log);
  if (!status) status = scree_operator_create(problem, threads, log, &W);
  if (!status && !(y = SCREE_ALLOC(double, W.state_size)))
    status = scree_fail_memory(log, "the velocities of bodies");
  if (!status) {
    if (!settings->warm_start)
      for (size_t i = 0; i < n; ++i) r[i] = 0.0;
    scree_Poll poll = {used.interrupted, used.interrupted_user, false};
    scree_SolveRun run = {.W = &W,
                          .poll = &poll,
                          .settings = &used,
                          .log = log,
                          .start = start,
                          .work = work,
                          .measure_often = used.measure >= SCREE_MEASURE_EPS_GLOB};
    status = run_and_certify(&run, class_, options, r, u, y, info);
    if (!status && poll.stopped) status = SCREE_INTERRUPTED;
  }
  if (!status && !info->converged) status = SCREE_NOT_CONVERGED;
  scree_free(options);
  scree_free(work);
  scree_free(y);
  scree_operator_destroy(&W);
  return status;
}
