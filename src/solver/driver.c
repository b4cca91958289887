/* The driver: checks the problem, prepares the operator, runs the chosen solver and measures the
 * error of the result. The error is computed here, from r alone, by the shared function; the solver
 * does not influence it. If a solver reports convergence that this measurement does not confirm
 * (its own velocities had drifted), it is restarted from where it stopped.
 *
 * Data kept between solves. A scree_Solver has a cache for the problem it is given, one for a
 * problem that a method derives from it (the bodies behind W, the convex problems of fixed-point),
 * and one for a problem derived from that. A cache may change the bits of later results only
 * through its scree_Elimination, which is saved and restored; all other data are compared with the
 * current problem and rebuilt if they do not match, so that they are the same whether kept or not
 * (kept_graph.h, graph_system.h). */
#include "solver/driver.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/memory.h"
#include "math/vector.h"
#include "problem/measure.h"
#include "solver/mechanism.h"
#include "solver/registry.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { RESTARTS = 3 };

scree_SolveSettings scree_solve_settings(void) {
  const char *preset = scree_solver_class_find("auto") ? "auto" : "nlgs";
  return (scree_SolveSettings){
      .solver = preset, .tolerance = 1e-8, .measure = SCREE_MEASURE_ERROR, .threads = 0};
}

const scree_SolverClass *scree_solver_class_find(const char *name) {
  for (int k = 0; scree_solver_registry[k]; ++k)
    if (strcmp(scree_solver_registry[k]->name, name) == 0) return scree_solver_registry[k];
  return NULL;
}

const char *scree_solver_class_name(const scree_SolverClass *class_) {
  return class_->name;
}

const char *scree_solver_class_summary(const scree_SolverClass *class_) {
  return class_->summary;
}

const char *scree_solver_class_reference(const scree_SolverClass *class_) {
  return class_->reference;
}

unsigned scree_solver_class_capabilities(const scree_SolverClass *class_) {
  return class_->capabilities;
}

const scree_OptionTable *scree_solver_class_options(const scree_SolverClass *class_) {
  return &class_->options;
}

unsigned scree_solver_class_sets(const scree_SolverClass *class_) {
  return class_->sets;
}

/* The first constraint whose set is not in the mask, or -1. */
static int first_outside(const scree_Problem *p, unsigned sets) {
  for (int c = 0; p->set && c < scree_problem_constraints(p); ++c)
    if (!(sets & 1u << p->set[c])) return c;
  return -1;
}

const char *scree_solver_class_refuses(const scree_SolverClass *class_,
                                       const scree_Problem *problem) {
  const unsigned can = class_->capabilities;
  if (problem->d == 2 && !(can & SCREE_CAN_2D)) return "it does not solve 2D problems";
  if (problem->d == 3 && !(can & SCREE_CAN_3D)) return "it does not solve 3D problems";
  if (problem->flow == SCREE_COULOMB && !(can & SCREE_CAN_COULOMB))
    return "it solves the associated law only (--law associated), or is used inside fixed-point";
  if (problem->flow == SCREE_ASSOCIATED && !(can & SCREE_CAN_ASSOCIATED))
    return "it does not solve the associated law";
  if (problem->kind == SCREE_ASSEMBLED && !(can & SCREE_CAN_ASSEMBLED))
    return "it needs the bodies, and this problem gives W only";
  if (problem->kind == SCREE_BODIES && !(can & SCREE_CAN_BODIES))
    return "it needs W assembled, and this problem gives bodies";
  if (problem->flow_blocks && !(can & SCREE_CAN_FLOW))
    return "it does not support non-associated flow";
  if (problem->general.count && !(can & SCREE_CAN_ANY_SIZE))
    return "it solves contacts only, no joints or other constraints of any size";
  static const char *const names[SCREE_SET_KINDS] = {
      [SCREE_SET_CONE] = "it does not support Coulomb's cone",
      [SCREE_SET_SHIFTED] = "it does not support cones with cohesion",
      [SCREE_SET_CONE_BALL] = "it does not support cones with a ball added",
      [SCREE_SET_CAPPED] = "it does not support capped cones",
      [SCREE_SET_HALF_LINE] = "it does not support frictionless contact",
      [SCREE_SET_SPACE] = "it does not support bilateral constraints (joints)",
      [SCREE_SET_BALL] = "it does not support joints with dry friction",
      [SCREE_SET_ROLLING] = "it does not support contacts with resistance to rolling",
  };
  const int outside = first_outside(problem, class_->sets);
  return outside < 0 ? NULL : names[problem->set[outside]];
}

/* ---- solve ----------------------------------------------------------------------------------- */

static scree_Status find_class(const char *name, const scree_SolverClass **class_,
                               const scree_Log *log) {
  *class_ = scree_solver_class_find(name);
  if (*class_) return SCREE_OK;
  const char *names[64] = {NULL};
  for (int k = 0; k < 63 && scree_solver_registry[k]; ++k)
    names[k] = scree_solver_registry[k]->name;
  const char *near = scree_nearest_word(name, names);
  return scree_fail(log, SCREE_BAD_INPUT, "solver \"%s\" is not known%s%s%s", name,
                    near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
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
  if (run->W->rows > 0) memcpy(run->work, u, run->W->rows * sizeof *u); /* u may be null else */
  if (run->state) /* u comes from it, and it from r */
    scree_vector_copy(run->W->state_size, run->state, y, run->W->threads);
  else
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

/* Record one stage for solvers that have recorded none; else the seconds of the last one. */
static void finish_stages(const scree_SolveRun *run, const scree_SolverClass *class_,
                          scree_SolveInfo *info) {
  if (info->nstages == 0)
    scree_solve_run_record(info, &(scree_SolveStage){.name = class_->name,
                                                     .error_before = run->first_value,
                                                     .error_after = info->value,
                                                     .iterations = info->iterations,
                                                     .factorisations = info->factorisations,
                                                     .work = info->work});
  double others = 0.0;
  for (int k = 0; k + 1 < info->nstages; ++k) others += info->stages[k].seconds;
  info->stages[info->nstages - 1].seconds = fmax(0.0, info->seconds - others);
}

/* ---- mechanisms ------------------------------------------------------------------------------ */

/* The mechanisms of the problem, if there are any. They are solved once before the method starts:
 * otherwise a start within the tolerance would be accepted with joints that are violated. */
static scree_Status begin_mechanisms(scree_SolveRun *run, double *r, double *y) {
  const scree_Ranks *ranks = scree_ranks_of(run->W);
  const bool divided = scree_is_divided(run->W);
  if ((run->W->problem->general.count < 2 && !divided) ||
      run->settings->measure != SCREE_MEASURE_ERROR || (divided && !run->division->own))
    return SCREE_OK;
  scree_Mechanisms *m = SCREE_TAKE(&run->cache->work, scree_Mechanisms, 1);
  scree_Status status = SCREE_OK;
  if (m)
    status = scree_mechanisms_create(run->W, r, &run->cache->work, &run->cache->mechanisms,
                                     run->poll, run->log, m);
  else
    status = scree_fail_memory(run->log, "mechanisms");
  status = scree_ranks_agree(ranks, status, run->log);
  if (status || !m || !scree_ranks_any(ranks, m->count > 0)) return status;
  scree_operator_state(run->W, r, y);
  const scree_VertexState state = scree_vertex_state(run->W, y);
  scree_mechanisms_visit(m, run->W, &state, r);
  run->mechanisms = m;
  return SCREE_OK;
}

/* Changes of impulses below this part of the largest one are round-off. */
static const double round_off = 1e-13;

/* Solve the mechanisms once more, for methods that do not do so in each iteration as sweeps do:
 * then only round-off is left, and nothing is changed. The result is kept only if the contacts
 * still meet the tolerance. */
static scree_Status end_mechanisms(scree_SolveRun *run, double *r, double *u, double *y,
                                   scree_SolveInfo *info) {
  const size_t n = run->W->rows, m = run->W->state_size;
  const scree_VertexState state = scree_vertex_state(run->W, y);
  const scree_Measures measures = info->measures;
  const double value = info->value;
  double *kept = SCREE_TAKE_RAW(&run->cache->work, double, n + m);
  const scree_Status status =
      scree_ranks_agree(scree_ranks_of(run->W),
                        kept ? SCREE_OK : scree_fail_memory(run->log, "mechanisms"), run->log);
  if (status || !kept) return status;
  memcpy(kept, r, n * sizeof *r);
  memcpy(kept + n, y, m * sizeof *y);
  const scree_Ranks *ranks = scree_ranks_of(run->W);
  double most[2] = {scree_mechanisms_visit(run->mechanisms, run->W, &state, r), 0.0};
  for (size_t i = 0; i < n; ++i) most[1] = fmax(most[1], fabs(kept[i]));
  scree_ranks_most(ranks, most, 2);
  const bool changed = most[0] > round_off * most[1];
  run->state = NULL;
  if (changed) certify(run, r, u, y, info);
  if (changed && info->converged) return SCREE_OK;
  memcpy(r, kept, n * sizeof *r);
  memcpy(y, kept + n, m * sizeof *y);
  if (!changed) return SCREE_OK;
  memcpy(u, run->work, n * sizeof *u); /* `certify` has kept the velocities of before */
  info->measures = measures;
  info->value = value;
  info->converged = true;
  return SCREE_OK;
}

static scree_Status run_and_certify(scree_SolveRun *run, const scree_SolverClass *class_,
                                    const void *options, double *r, double *u, double *y,
                                    scree_SolveInfo *info) {
  void *state = NULL;
  scree_Status status =
      scree_ranks_agree(scree_ranks_of(run->W), class_->create(run, options, &state), run->log);
  if (status) return status;
  for (int k = 0; k <= RESTARTS; ++k) {
    run->met = false;
    run->state = NULL;
    status = class_->solve(state, run, r, u);
    if (status) break;
    info->seconds = scree_seconds() - run->start; /* excludes the time of the certificate */
    certify(run, r, u, y, info);
    if (info->converged || !run->met || run->exhausted) break;
  }
  if (!status && run->mechanisms && info->converged) status = end_mechanisms(run, r, u, y, info);
  info->work = scree_solve_run_work(run);
  if (class_->destroy) class_->destroy(state);
  info->iterations = run->iterations;
  info->factorisations = run->factorisations;
  info->solver = run->note ? run->note : class_->name;
  if (!status) finish_stages(run, class_, info);
  return status;
}

/* ---- a solver -------------------------------------------------------------------------------- */

void scree_solver_init(scree_Solver *solver, const scree_Log *log) {
  *solver = (scree_Solver){0};
  if (log) solver->log = *log;
  for (int k = 0; k + 1 < SCREE_CACHES; ++k) solver->cache[k].next = &solver->cache[k + 1];
}

void scree_solver_fini(scree_Solver *solver) {
  scree_arena_fini(&solver->dividing);
  scree_arena_fini(&solver->aside);
  for (int k = 0; k < SCREE_CACHES; ++k) scree_solve_cache_fini(&solver->cache[k]);
}

void scree_solver_forget(scree_Solver *solver) {
  solver->kept.known = false;
  for (int k = 0; k < SCREE_CACHES; ++k) {
    scree_elimination_forget(&solver->cache[k].elimination);
    solver->cache[k].system.analysed = false;
  }
}

scree_Status scree_solver_set_settings(scree_Solver *solver, const scree_SolveSettings *settings) {
  const scree_SolverClass *class_ = NULL;
  scree_SolverOptions options;
  scree_Status status = check_settings(settings, &solver->log);
  if (!status) status = find_class(settings->solver, &class_, &solver->log);
  if (!status)
    status = scree_solver_class_read_options(class_, settings->options, &options, &solver->log);
  if (status) return status;
  solver->class_ = class_;
  solver->options = options;
  solver->settings = *settings;
  solver->settings.solver = class_->name;
  solver->settings.options = NULL;
  if (settings->max_iterations == 0) solver->settings.max_iterations = class_->max_iterations;
  return SCREE_OK;
}

scree_Status scree_solver_create(const scree_SolveSettings *settings, const scree_Log *log,
                                 scree_Solver **solver) {
  *solver = NULL;
  scree_Solver *s = SCREE_ALLOC(scree_Solver, 1);
  if (!s) return scree_fail_memory(log, "a solver");
  scree_solver_init(s, log);
  const scree_Status status = scree_solver_set_settings(s, settings);
  if (status)
    scree_free(s);
  else
    *solver = s;
  return status;
}

void scree_solver_destroy(scree_Solver *solver) {
  if (!solver) return;
  scree_solver_fini(solver);
  scree_free(solver);
}

scree_Status scree_solver_refuse_ranks(const scree_Solver *solver, int ranks) {
  char names[512] = "";
  size_t at = 0;
  for (int k = 0; scree_solver_registry[k]; ++k) {
    const scree_SolverClass *class_ = scree_solver_registry[k];
    if (!(class_->capabilities & SCREE_CAN_RANKS) || at >= sizeof names) continue;
    const int n = snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "", class_->name);
    at += n > 0 ? (size_t)n : 0;
  }
  return scree_fail(&solver->log, SCREE_BAD_INPUT,
                    "solver %s works on one rank and was started on %d; on several use one of %s",
                    solver->class_->name, ranks, names);
}

/* `checked`: the numbers of the problem are known to be usable. */
static scree_Status check_problem(const scree_Solver *solver, const scree_Problem *problem,
                                  bool checked) {
  const scree_Status status = checked ? SCREE_OK : scree_problem_check(problem, &solver->log);
  if (status) return status;
  const int ranks = scree_ranks_count(solver->settings.ranks);
  if (ranks > 1 && !(solver->class_->capabilities & SCREE_CAN_RANKS))
    return scree_solver_refuse_ranks(solver, ranks);
  const char *reason = scree_solver_class_refuses(solver->class_, problem);
  if (!reason) return SCREE_OK;
  return scree_fail(&solver->log, SCREE_BAD_INPUT, "solver %s cannot solve this problem: %s",
                    solver->class_->name, reason);
}

/* The operator, and memory for its state: new, or those of the last solve of this problem. */
static scree_Status begin_problem(scree_Solver *solver, const scree_Problem *problem,
                                  const scree_Division *division, int threads, scree_Operator *W,
                                  double **y, bool *again) {
  const scree_Log *log = &solver->log;
  scree_SolveCache *cache = solver->cache;
  scree_KeptProblem *kept = &solver->kept;
  *again = kept->known && kept->same && !division;
  kept->known = false;
  if (*again) {
    scree_solve_cache_again(cache, problem, &solver->settings, kept->mark);
    kept->W.problem = problem;
    *W = kept->W;
    if (threads < W->threads) W->threads = threads;
    *y = kept->solved.y;
    return SCREE_OK;
  }
  const scree_Ranks *ranks = division ? solver->settings.ranks : NULL;
  scree_Status status = scree_ranks_agree(ranks, scree_solve_cache_begin(cache, problem, log), log);
  if (!status)
    status = scree_solve_cache_operator(cache, problem, division ? &division->halo : NULL, threads,
                                        log, W);
  if (status) return status;
  *y = SCREE_TAKE_RAW(&cache->work, double, W->state_size);
  if (!*y) status = scree_fail_memory(log, "the work of a solve");
  if (kept->keeps && !division && !status) {
    kept->solved = (scree_Solved){.r = SCREE_TAKE_RAW(&cache->work, double, W->rows), .y = *y};
    kept->W = *W;
    kept->mark = scree_arena_mark(&cache->work);
    if (!kept->solved.r) status = scree_fail_memory(log, "the work of a solve");
  }
  return scree_ranks_agree(ranks, status, log);
}

/* The result of a solve, for the next one of the same problem. Joints are solved before the start
 * (begin_mechanisms), so that it is another one each time. */
static void keep_problem(scree_Solver *solver, const double *r, const scree_SolveInfo *info) {
  scree_KeptProblem *kept = &solver->kept;
  if (!kept->keeps || kept->W.problem->general.count > 0) return;
  scree_vector_copy(kept->W.rows, r, kept->solved.r, kept->W.threads);
  kept->solved.error = info->measures.error;
  kept->known = true;
}

scree_Status scree_solver_solve_part(scree_Solver *solver, const scree_Problem *problem,
                                     const scree_Division *division, double *r, double *u,
                                     scree_SolveInfo *info, const double **velocities) {
  const scree_Log *log = &solver->log;
  const scree_SolveSettings *settings = &solver->settings;
  scree_SolveCache *cache = solver->cache;
  scree_Status status;
  /* on several ranks one thread each, unless more are asked for: ranks are the processors */
  const bool adapt = !division && (settings->threads == 0 || settings->share_processors);
  const int most = settings->threads > 0 ? settings->threads : division ? 1 : omp_get_max_threads();
  const int threads = adapt ? scree_load_threads(&solver->load, most) : most;
  const size_t n = scree_problem_rows(problem);
  scree_Operator W;
  scree_SolveRun run = {.W = &W,
                        .settings = settings,
                        .log = log,
                        .poll = &solver->poll,
                        .load = adapt ? &solver->load : NULL,
                        .start = scree_seconds(),
                        .division = division,
                        .cache = cache,
                        .measure_often = settings->measure >= SCREE_MEASURE_EPS_GLOB,
                        .info = info};
  bool again;
  double *y;
  status = begin_problem(solver, problem, division, threads, &W, &y, &again);
  if (status) return status;
  if (again) run.solved = &solver->kept.solved;
  run.work = SCREE_TAKE_RAW(&cache->work, double, n);
  if (!run.work) status = scree_fail_memory(log, "the work of a solve");
  status = scree_ranks_agree(division ? settings->ranks : NULL, status, log);
  if (status) return status;
  status = begin_mechanisms(&run, r, y);
  if (status) return status;
  status = run_and_certify(&run, solver->class_, &solver->options, r, u, y, info);
  for (int k = 0; k < SCREE_CACHES; ++k) scree_graph_system_end(&solver->cache[k].system);
  if (!status && solver->poll.stopped) status = SCREE_INTERRUPTED;
  if (status) return status;
  if (!division) keep_problem(solver, r, info);
  *velocities = y;
  return info->converged ? SCREE_OK : SCREE_NOT_CONVERGED;
}

static scree_Status solve_problem(scree_Solver *solver, const scree_Problem *problem, double *r,
                                  double *u, scree_SolveInfo *info) {
  const scree_SolveSettings *settings = &solver->settings;
  const bool checked = solver->kept.known && solver->kept.same;
  scree_SolveInfo own;
  if (!info) info = &own;
  memset(info, 0, offsetof(scree_SolveInfo, stages));
  info->imbalance = 1.0;
  solver->velocities = NULL;
  solver->poll = (scree_Poll){settings->interrupted, settings->interrupted_user, false};
  scree_Status status = check_problem(solver, problem, checked);
  if (status) return status;
  if (!settings->warm_start)
    for (size_t i = 0, n = scree_problem_rows(problem); i < n; ++i) r[i] = 0.0;
  if (scree_solver_divides(solver, problem))
    return scree_solver_solve_divided(solver, problem, r, u, info);
  const double *velocities = NULL;
  status = scree_solver_solve_part(solver, problem, NULL, r, u, info, &velocities);
  if (status <= SCREE_NOT_CONVERGED && problem->kind == SCREE_BODIES)
    solver->velocities = velocities;
  return status;
}

scree_Status scree_solver_solve(scree_Solver *solver, const scree_Problem *problem, double *r,
                                double *u, scree_SolveInfo *info) {
  solver->kept.keeps = solver->kept.same = false;
  return solve_problem(solver, problem, r, u, info);
}

scree_Status scree_solver_solve_again(scree_Solver *solver, const scree_Problem *problem, bool same,
                                      double *r, double *u, scree_SolveInfo *info) {
  solver->kept.keeps = true;
  solver->kept.same = same;
  return solve_problem(solver, problem, r, u, info);
}

scree_Status scree_solve(const scree_Problem *problem, const scree_SolveSettings *settings,
                         double *r, double *u, scree_SolveInfo *info, const scree_Log *log) {
  /* a small problem needs no other memory: allocating it would take longer than solving */
  _Alignas(64) char room[3][SCREE_ARENA_LENT];
  scree_Solver solver;
  scree_solver_init(&solver, log);
  scree_arena_lend(&solver.cache[0].work, room[0]);
  scree_arena_lend(&solver.cache[0].smoothing, room[1]);
  scree_arena_lend(&solver.cache[0].graph.arena, room[2]);
  scree_SolveInfo own;
  if (!info) info = &own;
  memset(info, 0, offsetof(scree_SolveInfo, stages));
  scree_Status status = scree_solver_set_settings(&solver, settings);
  if (!status) status = scree_solver_solve(&solver, problem, r, u, info);
  scree_solver_fini(&solver);
  return status;
}

const double *scree_solver_velocities(const scree_Solver *solver) {
  return solver->velocities;
}

size_t scree_solver_memory(const scree_Solver *solver) {
  size_t bytes =
      sizeof *solver + scree_arena_memory(&solver->dividing) + scree_arena_memory(&solver->aside);
  for (int k = 0; k < SCREE_CACHES; ++k) bytes += scree_solve_cache_memory(&solver->cache[k]);
  return bytes;
}

/* ---- saved memory: a header, then one scree_Elimination after the other -----------------------
 */

static const char magic[8] = "screesv1";

size_t scree_solver_state_size(const scree_Solver *solver) {
  size_t bytes = sizeof magic;
  for (int k = 0; k < SCREE_CACHES; ++k)
    bytes += scree_elimination_size(&solver->cache[k].elimination);
  return bytes;
}

void scree_solver_save(const scree_Solver *solver, void *buffer) {
  memcpy(buffer, magic, sizeof magic);
  char *at = (char *)buffer + sizeof magic;
  for (int k = 0; k < SCREE_CACHES; ++k)
    at = scree_elimination_save(&solver->cache[k].elimination, at);
}

scree_Status scree_solver_restore(scree_Solver *solver, const void *buffer, size_t size) {
  const char *part[SCREE_CACHES + 1], *end = (const char *)buffer + size;
  solver->kept.known = false;
  part[0] = NULL;
  if (size >= sizeof magic && memcmp(buffer, magic, sizeof magic) == 0)
    part[0] = (const char *)buffer + sizeof magic;
  for (int k = 0; k < SCREE_CACHES; ++k)
    part[k + 1] = part[k] ? scree_elimination_check(part[k], end) : NULL;
  if (part[SCREE_CACHES] != end)
    return scree_fail(&solver->log, SCREE_BAD_INPUT,
                      "memory of a solver: found %zu bytes that are invalid or of another version, "
                      "expected those that scree_solver_save has written",
                      size);
  scree_Status status = SCREE_OK;
  for (int k = 0; k < SCREE_CACHES; ++k) {
    scree_SolveCache *cache = &solver->cache[k];
    scree_graph_system_fini(&cache->system); /* it was made with another order */
    if (!status) status = scree_elimination_restore(&cache->elimination, part[k], &solver->log);
  }
  for (int k = 0; status && k < SCREE_CACHES; ++k)
    scree_elimination_fini(&solver->cache[k].elimination);
  return status;
}
