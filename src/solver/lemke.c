/* lemke: the path from no contact at all to a solution.
 *
 * With a velocity tau d added to q, d_n > 0, every contact is open for large tau: r = 0 solves. The
 * solutions (r, tau) form a path; along it contacts close, slip, stick and open, one after the
 * other, and tau falls, but may rise for a while. Where it reaches zero is a solution. That is the
 * method of Lemke (1965) for linear complementarity; for Coulomb's law in the plane the path is
 * made of straight pieces, in space of curved ones, which are followed by steps and corrections.
 *
 * It reaches solutions where descent methods get stuck, because the error need not fall along the
 * path. It passes turning points, and it cannot cycle, because its direction is a function of
 * the point alone: tau falls where the determinant of the linearised laws is positive and rises
 * where it is negative (the index of the solution). lemke_path.h has the statuses and events.
 *
 * Hyperstatic packings have many solutions and no such path. A compliance e D, D the mean diagonals
 * of W, makes the solution unique: W + e D with e = e0 + tau e1 on the first path. From the
 * solution with e0 a second path leads to the one where the compliance is centred at it, and so on
 * (proximal steps): a few, mostly without any change of status, remove e0.
 *
 * Joints hold from the start: the first path begins with the impulses of the joints alone.
 *
 * It needs one factorisation for each event or step, so it is meant for problems of a few hundred
 * or thousand contacts that no other method solves.
 *
 * Reference: this library; C. E. Lemke, Management Science 11 (1965). */
#include "core/log.h"
#include "solver/lemke_path.h"
#include "solver/registry.h"

#include <math.h>
#include <string.h>

typedef struct Options {
  double compliance, first; /* e0, e1 */
  double least;             /* e0 of the last proximal steps */
  int events;               /* factorisations of the first path, at most, for each contact */
  int start;                /* number of the first d */
} Options;

/* Numbers chosen by measurement, as in policy.c: beside each value the work with another value over
 * the work with this one, for `lemke` alone to 1e-8 within 0.2 s of counted work, on the 25
 * smallest problems, of which 20 were solved. */
static const struct Numbers {
  int attempts;         /* first paths, each with another d */
  int few;              /* factorisations that any path may take */
  int proximal_one;     /* factorisations of one proximal step, for each contact */
  int proximal;         /* and of all of them */
  int idle;             /* proximal steps without a lower error before giving up */
  double down;          /* factor of the compliance after a path that arrives */
  double after_failure; /* the same once a path has not arrived */
  double up;            /* factor of the compliance after a path that does not arrive */
  double lower;         /* ratio of errors below which a proximal step has made progress */
} number = {
    .attempts = 3,        /* no change from 1.5 to 6 */
    .few = 100,           /* no change from 50 to 200 */
    .proximal_one = 2,    /* 1: 1.00; 4: 1.00 */
    .proximal = 40,       /* no change from 20 to 80 */
    .idle = 20,           /* no change from 10 to 40 */
    .down = 0.1,          /* 0.05: 1.02; 0.2: 0.98 */
    .after_failure = 0.5, /* 0.25: 1.06; 1: 1.00 */
    .up = 20.0,           /* 10: 1.00; 40: 1.00 (+1 solved) */
    .lower = 0.5,         /* a limit; no change from 0.25 to 1 */
};

enum { EVENTS_MOST = 1000000000 }; /* fits an int with a margin */

typedef struct State {
  Options options;
  scree_LemkePath path;
  double *centre;        /* (n) of the compliance */
  uint8_t *status_there; /* (constraints) statuses at the centre */
} State;

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  scree_Arena *work = &run->cache->work;
  State *st = SCREE_TAKE(work, State, 1);
  if (!st) return scree_fail_memory(run->log, "lemke");
  st->options = *(const Options *)options;
  const scree_Status status = scree_lemke_path_create(run, &st->path);
  if (status) return status;
  st->status_there = SCREE_TAKE(work, uint8_t, run->W->constraints);
  st->centre = SCREE_TAKE(work, double, st->path.n);
  if (!st->status_there || !st->centre) return scree_fail_memory(run->log, "lemke");
  *out = st;
  return SCREE_OK;
}

/* ---- proximal steps ---------------------------------------------------------------------------
 */

/* Use the current impulses as the new centre. The next path removes the velocities that the
 * compliance about the old centre adds. */
static void centre_here(State *st) {
  scree_LemkePath *path = &st->path;
  const scree_Problem *p = path->laws.W->problem;
  const double e = scree_lemke_compliance(path);
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    for (size_t i = rows.at; i < rows.at + (size_t)rows.d; ++i) {
      path->d[i] = e * path->soft[k] * path->here.r[i] + path->base[i] +
                   path->here.tau * path->d[i] - p->q[i];
      st->centre[i] = path->here.r[i];
    }
  }
  memcpy(st->status_there, path->status, (size_t)path->laws.W->constraints);
}

/* Go to the start of the path from the centre, with compliance e about it. */
static void start_at_centre(State *st, double e) {
  scree_LemkePath *path = &st->path;
  const scree_Problem *p = path->laws.W->problem;
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    for (size_t i = rows.at; i < rows.at + (size_t)rows.d; ++i) {
      path->base[i] = p->q[i] - e * path->soft[k] * st->centre[i];
      path->here.r[i] = st->centre[i];
    }
  }
  memcpy(path->status, st->status_there, (size_t)path->laws.W->constraints);
  path->here.tau = 1.0;
  path->e0 = e;
  path->e1 = 0.0;
  path->gate = SCREE_GATE_NONE;
}

/* Less compliance after a path that arrives, more after one that does not. */
static scree_Status stiffen(State *st, scree_SolveRun *run, double *r, double *u) {
  scree_LemkePath *path = &st->path;
  const int nc = run->W->constraints;
  const int end = run->factorisations + number.proximal * nc + number.few;
  double e = path->e0, lowest = run->value, down = number.down;
  centre_here(st);
  for (int idle = 0; idle < number.idle && run->factorisations < end; ++idle) {
    bool arrived;
    const int before = run->factorisations;
    e = fmax(down * e, st->options.least);
    start_at_centre(st, e);
    scree_Status status =
        scree_lemke_follow(path, run, number.proximal_one * nc + number.few, r, u, &arrived);
    if (status || run->met || run->exhausted) return status;
    if (arrived) scree_lemke_measure(path, run, r, u);
    scree_report(run->log, SCREE_LOG_DETAIL,
                 "lemke: compliance %.0e, %d factorisations, error %.2e%s", e,
                 run->factorisations - before, run->value, arrived ? "" : ", not arrived");
    if (run->met || run->exhausted) return SCREE_OK;
    if (arrived) {
      centre_here(st);
    } else {
      down = number.after_failure;
      e = fmin(number.up * e, 1.0);
    }
    if (arrived && run->value < number.lower * lowest) {
      idle = 0;
      lowest = run->value;
    }
  }
  return SCREE_OK;
}

/* ---- the solver -------------------------------------------------------------------------------
 */

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *st = memory;
  scree_LemkePath *path = &st->path;
  const scree_Problem *p = run->W->problem;
  const int one =
      (int)fmin((double)st->options.events * run->W->constraints + number.few, EVENTS_MOST);
  const int most = run->factorisations + one + (number.attempts - 1) * number.few;
  bool arrived = false, broken = false;
  scree_Status status = SCREE_OK;
  path->best_error = INFINITY;
  scree_lemke_keep_if_best(path, run, r, u); /* the given impulses may be the best */
  for (int k = 0; k < number.attempts && !arrived && run->factorisations < most; ++k) {
    if (run->met || run->exhausted) break;
    status = scree_lemke_start(path, run, st->options.start * number.attempts + k,
                               st->options.compliance, st->options.first, &broken);
    if (status || broken) break;
    double opening = 0.0;
    for (size_t i = 0; i < path->n; ++i) opening = fmax(opening, fabs(path->d[i]));
    arrived = !(opening > 0.0); /* no contact approaches */
    if (!arrived) status = scree_lemke_follow(path, run, one, r, u, &arrived);
    if (status) return status;
    if (!run->met && !run->exhausted) scree_lemke_measure(path, run, r, u);
    scree_report(run->log, SCREE_LOG_DETAIL,
                 "lemke: path %s at tau %.1e, %d factorisations so far, error %.2e",
                 arrived ? "ends" : "is given up", path->here.tau, run->factorisations, run->value);
  }
  if (!status && arrived && !run->met && !run->exhausted) status = stiffen(st, run, r, u);
  if (!status && !run->met) {
    memcpy(r, path->best, path->n * sizeof *r);
    scree_operator_apply(run->W, r, p->q, path->laws.y, u);
    run->value = path->best_error;
  }
  return status;
}

static const scree_Option options[] = {
    {"compliance", SCREE_OPTION_REAL, offsetof(Options, compliance), 1e-4, 1e-12, 1, false, NULL,
     "compliance at the end of the first path, relative to W; it makes the solution unique"},
    {"least", SCREE_OPTION_REAL, offsetof(Options, least), 1e-9, 1e-14, 1, false, NULL,
     "smallest compliance of the proximal steps, relative to W"},
    {"first", SCREE_OPTION_REAL, offsetof(Options, first), 0.1, 0, 1e3, false, NULL,
     "compliance at the start of the first path, relative to W"},
    {"events", SCREE_OPTION_INT, offsetof(Options, events), 20, 1, 100000, false, NULL,
     "largest number of factorisations of the first path per contact"},
    {"start", SCREE_OPTION_INT, offsetof(Options, start), 0, 0, 1000, false, NULL,
     "number of the first direction d; each number gives another path"},
};

const scree_SolverClass scree_solver_lemke = {
    .name = "lemke",
    .summary = "follows a path from no contact to a solution, one status change at a time",
    .reference = "this library; C. E. Lemke, Management Science 11 (1965)",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSEMBLED |
                    SCREE_CAN_BODIES | SCREE_CAN_ANY_SIZE,
    .sets = SCREE_SETS_CONES | 1 << SCREE_SET_SPACE,
    .max_iterations = 1000000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
};
