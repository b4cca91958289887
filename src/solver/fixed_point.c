/* fixed-point: Coulomb's law by repeated convex problems (003 section 2.2.4, after Acary, Cadoux,
 * Lemarechal and Malick)
 *
 * With the sliding speeds s_c given, u + mu s n with the associated law is a convex problem of the
 * same W and another q. Its solution gives F(s)_c = |u_T,c|; where F(s) = s, Coulomb's law holds.
 *
 *     repeat  r = solution for q + mu s n, from the last r, to a tolerance that follows the error
 *             s <- s + omega (F(s) - s)
 *
 * The plain iteration (omega = 1) mostly needs the fewest problems where it converges, but cycles
 * on some dense packings, where more sliding at one contact means less at others. So each contact
 * has its own omega: while the change of s has made no progress for a few iterations, the omegas of
 * contacts whose change reverses are halved; an omega grows again when its contact keeps its
 * direction. Convergence is not guaranteed: the method stalls on some packings (spheres-500), which
 * the driver reports.
 *
 * The outer test is the driver's, on Coulomb's law itself. 003's own test, |F(s) - s|/(|s| + 1) <=
 * tolFP, is the option tol_fp, or the measure `increment`. An iteration is one convex problem. */
#include "core/log.h"
#include "math/vector.h"
#include "problem/set_inline.h"
#include "solver/registry.h"
#include "solver/solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double inner_ratio = 0.1;    /* inner tolerance over the outer error */
static const double inner_loosest = 1e-2; /* before the outer error is known */

/* The same where the outer test looks at s alone (the measure `increment`, tol_fp): nothing else
 * would notice a convex problem that is far from solved. 900 disks of convex-collapse, mu = 0.1, to
 * t = 1.5: with 1e-2 disks overlap by 0.17 of their size, with 1e-3 by 0.0025, with 1e-4 by 0.0004,
 * in 0.3, 0.7 and 2 s. */
static const double inner_unseen = 1e-4;
static const double omega_min = 1.0 / 64, omega_growth = 1.25;

/* Ratio of the changes of s that counts as progress; iterations without it before damping starts.
 */
static const double progress = 0.9;
enum { PATIENCE = 6 };

typedef struct Options {
  char inner[SCREE_OPTION_NAME_SIZE];
  double tol_fp; /* 0: only the measured error stops the iteration */
  int inner_iterations;
  bool damping;
} Options;

typedef struct FixedPoint {
  Options options;
  const scree_SolverClass *inner;
  scree_SolverOptions inner_options;
  void *inner_state;
  scree_Problem problem; /* the convex problem: a view with its own q */
  scree_Operator W;      /* the same matrix for that problem */
  scree_SolveSettings settings;
  scree_SolveRun run;         /* of the inner solver, with its own cache: another law */
  scree_SolveRun *outer;      /* for the user's progress callback */
  double *q;                  /* (rows) q + mu s n */
  double *s, *omega, *change; /* (constraints) */
  double *best;               /* (rows) */
  double *state;              /* (W.state_size) */
} FixedPoint;

static void destroy(void *state) {
  FixedPoint *m = state;
  if (m->inner->destroy) m->inner->destroy(m->inner_state);
}

/* Lets the user stop during a long inner solve: the callback gets the state of the outer
 * iteration. */
static bool inner_progress(void *user, int iteration, double measured) {
  const FixedPoint *m = user;
  const scree_SolveSettings *s = m->outer->settings;
  (void)iteration;
  (void)measured;
  return s->progress(s->progress_user, m->outer->iterations, m->outer->value);
}

static scree_Status find_inner(FixedPoint *m, const scree_SolveRun *run) {
  m->inner = scree_solver_class_find(m->options.inner);
  if (!m->inner)
    return scree_fail(run->log, SCREE_BAD_INPUT,
                      "solver fixed-point: inner=%s, expected the name of a solver",
                      m->options.inner);
  const char *reason = scree_solver_class_refuses(m->inner, &m->problem);
  if (reason)
    return scree_fail(run->log, SCREE_BAD_INPUT,
                      "solver fixed-point: inner=%s cannot solve the convex problem: %s",
                      m->options.inner, reason);
  /* `auto` would give rank 0 the whole problem, which has Coulomb's law */
  if (scree_is_divided(run->W) &&
      (!(m->inner->capabilities & SCREE_CAN_RANKS) || m->inner == &scree_solver_auto))
    return scree_fail(run->log, SCREE_BAD_INPUT,
                      "solver fixed-point: inner=%s works on one rank; on several use nlgs, "
                      "spg, apgd or another that `scree solvers` lists for several ranks",
                      m->options.inner);
  return scree_solver_class_read_options(m->inner, NULL, &m->inner_options, run->log);
}

static scree_Status create(const scree_SolveRun *run, const void *options, void **state) {
  const size_t nc = (size_t)run->W->constraints, n = run->W->rows;
  scree_Arena *work = &run->cache->work;
  FixedPoint *m = SCREE_TAKE(work, FixedPoint, 1);
  if (!m) return scree_fail_memory(run->log, "the fixed point");
  memcpy(&m->options, options, sizeof m->options);
  m->q = SCREE_TAKE(work, double, n);
  m->s = SCREE_TAKE(work, double, 3 * nc);
  m->best = SCREE_TAKE(work, double, n);
  m->state = SCREE_TAKE(work, double, run->W->state_size);
  const bool enough = m->q && m->s && m->best && m->state;
  scree_Status status = scree_ranks_agree(
      scree_ranks_of(run->W),
      enough ? SCREE_OK : scree_fail_memory(run->log, "the vectors of the fixed point"), run->log);
  if (status) return status;
  m->omega = m->s + nc;
  m->change = m->omega + nc;
  m->problem = *run->W->problem;
  m->problem.flow = SCREE_ASSOCIATED;
  m->problem.q = m->q;
  m->problem.owned = NULL;
  m->W = *run->W;
  m->W.problem = &m->problem;
  m->settings = *run->settings;
  if (m->settings.measure >= SCREE_MEASURE_EPS_GLOB) m->settings.measure = SCREE_MEASURE_ERROR;
  m->settings.progress = run->settings->progress ? inner_progress : NULL;
  m->settings.progress_user = m;
  m->run = (scree_SolveRun){.W = &m->W,
                            .settings = &m->settings,
                            .log = run->log,
                            .poll = run->poll,
                            .work = run->work,
                            .division = run->division,
                            .cache = run->cache->next};
  status = find_inner(m, run);
  if (!status) status = scree_solve_cache_begin(m->run.cache, &m->problem, run->log);
  if (!status) status = m->inner->create(&m->run, &m->inner_options, &m->inner_state);
  *state = m;
  return status;
}

/* Whether Coulomb's law adds mu |u_T| to the normal velocity of contact c. */
static bool slides(const scree_Problem *p, int c) {
  return !p->set || scree_set_has_cone((scree_SetKind)p->set[c]);
}

/* Coulomb's term is this times the sliding speed. */
static double weight_of(const scree_Problem *p, int c) {
  return p->set && p->set[c] == SCREE_SET_ROLLING ? 1.0 : p->mu[c];
}

/* |u_T| of a constraint that slides; where it also rolls, Coulomb's whole term. */
static double sliding_speed(const scree_Operator *W, int c, const double *u) {
  const double *uc = u + scree_row_of(W, c);
  const scree_Set set = scree_problem_set(W->problem, c);
  if (set.kind == SCREE_SET_ROLLING) return scree_set_slip(&set, scree_rows_of(W, c), uc);
  return scree_rows_of(W, c) == 2 ? fabs(uc[1]) : hypot(uc[1], uc[2]);
}

/* One convex solve for the current s. On return u = W r + q with the problem's own q. */
static scree_Status solve_inner(FixedPoint *m, scree_SolveRun *run, double tolerance, double *r,
                                double *u) {
  const scree_Operator *W = run->W;
  const scree_Problem *p = W->problem;
  memcpy(m->q, p->q, W->rows * sizeof *m->q);
  for (int c = 0; c < W->constraints; ++c)
    if (slides(p, c)) m->q[scree_row_of(W, c)] += weight_of(p, c) * m->s[c];
  m->settings.tolerance = tolerance;
  m->settings.max_iterations = m->options.inner_iterations;
  m->run.start = run->start;
  m->run.iterations = 0;
  m->run.met = m->run.exhausted = false;
  m->outer = run;
  const scree_Status status = m->inner->solve(m->inner_state, &m->run, r, u);
  run->factorisations += m->run.factorisations;
  m->run.factorisations = 0;
  for (int c = 0; c < W->constraints; ++c)
    if (slides(p, c)) u[scree_row_of(W, c)] -= weight_of(p, c) * m->s[c];
  return status;
}

/* |F(s) - s| / (|s| + 1), or over |u| when `relative` */
static double speed_change(const scree_SolveRun *run, const FixedPoint *m, const double *u,
                           bool relative) {
  const scree_Operator *W = run->W;
  double change = 0.0, size = 0.0;
  for (int c = 0; c < W->constraints; ++c) {
    if (!slides(W->problem, c)) continue;
    const double speed = sliding_speed(W, c, u), difference = speed - m->s[c];
    change += difference * difference;
    size += relative ? speed * speed : m->s[c] * m->s[c];
  }
  change = scree_ranks_sum(scree_ranks_of(W), change);
  size = scree_ranks_sum(scree_ranks_of(W), size);
  if (relative) return size > 0.0 ? sqrt(change / size) : 0.0;
  return sqrt(change) / (sqrt(size) + 1.0);
}

/* s <- s + omega (F(s) - s), and each contact's omega for the next time. */
static void update_speeds(const scree_SolveRun *run, FixedPoint *m, const double *u, bool cycling) {
  const scree_Operator *W = run->W;
  for (int c = 0; c < W->constraints; ++c) {
    if (!slides(W->problem, c)) continue;
    const double change = sliding_speed(W, c, u) - m->s[c];
    const bool turned = change * m->change[c] < 0.0;
    if (turned && cycling)
      m->omega[c] = fmax(omega_min, 0.5 * m->omega[c]);
    else if (!turned)
      m->omega[c] = fmin(1.0, omega_growth * m->omega[c]);
    m->s[c] += m->omega[c] * change;
    m->change[c] = change;
  }
}

static scree_Status solve(void *state, scree_SolveRun *run, double *r, double *u) {
  FixedPoint *m = state;
  const scree_Operator *W = run->W;
  const size_t n = W->rows;
  double best = INFINITY, best_change = INFINITY;
  int waiting = 0;
  scree_operator_apply(W, r, W->problem->q, m->state, u);
  const bool warm = scree_rows_norm(W, r) > 0.0;
  for (int c = 0; c < W->constraints; ++c) {
    m->omega[c] = 1.0;
    m->change[c] = 0.0;
    m->s[c] = warm && slides(W->problem, c) ? sliding_speed(W, c, u) : 0.0;
  }
  bool stop = scree_solve_run_stop(run, r, u, INFINITY);
  const bool blind = run->settings->measure == SCREE_MEASURE_INCREMENT;
  const double tightest = inner_ratio * run->settings->tolerance;
  double tolerance = blind || m->options.tol_fp > 0.0 ? inner_unseen : inner_loosest;
  if (blind) tolerance = fmin(tolerance, tightest);
  while (!stop) {
    const double known = isfinite(run->value) ? run->value : 1.0;
    if (!blind) tolerance = fmax(tightest, fmin(tolerance, inner_ratio * known));
    const scree_Status status = solve_inner(m, run, tolerance, r, u);
    if (status) return status;
    ++run->iterations;
    const double increment = speed_change(run, m, u, false);
    stop = scree_solve_run_stop(run, r, u, increment);
    if (run->value < best && !stop) {
      best = run->value;
      memcpy(m->best, r, n * sizeof *r);
    }
    if (m->options.tol_fp > 0.0 && increment <= m->options.tol_fp) break;
    const double change = speed_change(run, m, u, true);
    waiting = change < progress * best_change ? 0 : waiting + 1;
    best_change = fmin(best_change, change);
    update_speeds(run, m, u, m->options.damping && waiting >= PATIENCE);
  }
  if (!run->met && best < run->value) {
    memcpy(r, m->best, n * sizeof *r);
    scree_operator_apply(W, r, W->problem->q, m->state, u);
  }
  return SCREE_OK;
}

static const char *const inner_preset[] = {"apgd-asr", NULL};

static const scree_Option option_list[] = {
    {.name = "inner",
     .type = SCREE_OPTION_NAME,
     .offset = offsetof(Options, inner),
     .choices = inner_preset,
     .help = "solver of the convex problems; any that supports the associated law"},
    {.name = "tol_fp",
     .type = SCREE_OPTION_REAL,
     .offset = offsetof(Options, tol_fp),
     .preset = 0.0,
     .min = DBL_MIN,
     .max = 1.0,
     .automatic = true,
     .help = "also stop when |s+ - s|/(|s| + 1) is below this (003: 0.01); auto: stop by the error "
             "only"},
    {.name = "inner_iterations",
     .type = SCREE_OPTION_INT,
     .offset = offsetof(Options, inner_iterations),
     .preset = 5000,
     .min = 1,
     .max = 1e9,
     .help =
         "largest number of iterations of each convex solve; the next one continues from there"},
    {.name = "damping",
     .type = SCREE_OPTION_BOOL,
     .offset = offsetof(Options, damping),
     .preset = 1,
     .help = "damp oscillating sliding speeds"},
};

const scree_SolverClass scree_solver_fixed_point = {
    .name = "fixed-point",
    .summary = "Coulomb's law by a sequence of convex problems with given sliding speeds",
    .reference = "003 section 2.2.4",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSEMBLED |
                    SCREE_CAN_BODIES | SCREE_CAN_ANY_SIZE | SCREE_CAN_RANKS,
    .sets = SCREE_SETS_ALL,
    .max_iterations = 1000,
    .options = {option_list, 4, sizeof(Options)},
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
