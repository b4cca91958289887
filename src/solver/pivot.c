/* pivot: proximal steps, each followed status by status, for dense packings to many digits.
 *
 * As in `implicit`, a step from r0 solves the proximal problem
 *     u + e w (r - r0)  in place of  u = W r + q,      w the mean diagonal of W_cc,
 * an implicit step of the flow dr/dt = -(law of the contact), but with one e for all contacts, and
 * not by Newton's method over statuses. In a packing of a thousand contacts impulses may drift
 * along directions in which W is 1e-5 of its mean: there a step with e of this size moves them by
 * much, a hundred contacts change their status, and Newton's method turns over half of them.
 * Weights of single contacts that make it converge hold the whole direction. Here the step is a
 * path (pivot_path.h), from impulses that solve a perturbed problem to those that solve the
 * proximal one, on which statuses change one by one. It may turn back: then the step is one to
 * another branch, or too long, which is found out after some events.
 *
 * e follows the number of events: few, and it falls, down to steps that are Newton's; many, or a
 * path that does not arrive, and it rises. Steps that are too short follow the flow, which need not
 * lead to the solution, since friction is not associated: in large packings it is chaotic. Long
 * steps damp it. In space laws are linearised at the start of a path, and the path is repeated from
 * its end until what is left is small beside the step.
 *
 * What limits the size. Paths turn back by modes of 10 to 80 neighbouring contacts (2078 contacts
 * of spheres under a plate, 2568 of disks of sizes 1 to 4, mu 0.5, seed 8101): the more contacts,
 * the more such places, and one parameter serves all of them. Tried on these, in CPU seconds, and
 * not better:
 *   - weights of the contacts of such a mode raised by 4, about the current point, so that the path
 *     never turns back: nearly all paths arrive, errors stay between 4e-7 and 1e-5 (7 s);
 *   - the perturbation removed from one patch of 200 neighbouring contacts after the other: paths
 *     arrive at weights of 1e-5, but 2568 contacts end at 2e-7 (8 s), and 873 of disks under a
 *     plate, 1.0 s as it is, are not solved in 5 s;
 *   - tangential weights of 0.001, 0.01, 0.05 and 20 times the normal ones: 2568 contacts 2.5, 6.6,
 *     1.9 s and not in 7 s, with 1 not in 14 s; 2574 of disks in a box 7.6 s with 0.05 and 5.7 with
 *     1; of five packings of 640 spheres under a plate two or three in 5 s with all of them: these
 *     times scatter by factors of five for no reason that could be found;
 *   - in space, laws that keep passing through the point at which they were linearised, and are
 *     linearised again where their direction has turned by 0.3: no path stands still any more (9 of
 *     14 that did not arrive), 9 of 12 packings of about 700 contacts in 5 s, as without;
 *   - a path almost without weight from each new smallest error, in whichever direction it begins,
 *     for solutions with a negative determinant, which repel the flow: 18 % more factorisations on
 *     2647 contacts of disks; two of five packings of 640 spheres under a plate in 13 s, three
 *     without.
 *
 * Reference: this library; on implicit steps of a flow, Kelley and Keyes 1998, "Convergence
 * analysis of pseudo-transient continuation"; on paths of linear pieces, C. E. Lemke, Management
 * Science 11 (1965). */
#include "core/log.h"
#include "problem/measure.h"
#include "problem/set_inline.h"
#include "solver/pivot_path.h"
#include "solver/registry.h"

#include <math.h>
#include <string.h>

typedef struct Options {
  double weight; /* first e */
  double start;  /* sweeps before the first step */
  double most;   /* work, in factorisations */
} Options;

/* Numbers chosen by measurement on packings of bench/packs.h with seed 5001: two of disks and two
 * of spheres with about 850 contacts, and one of spheres with 245. */
static const struct Numbers {
  double share,
      least_share;       /* events that a path should have: of the number of contacts, at least */
  double patience;       /* times that number: the path is given up */
  double few, many;      /* of that number: below, e falls; above, it rises */
  double down, up;       /* factor of e at no events, and at most for many */
  double against;        /* the same for a path that would begin the wrong way, */
  double failed;         /* and for one that does not arrive */
  double least, largest; /* e */
  double tolerant;       /* error of a step over the largest of the last ones, at most */
  double settled;        /* perturbation that is left at the end of a path in space, over the
                            step */
  int repeats;           /* of a path in space, at most */
  double entry, contact; /* seconds of an event: for each number of the factor and column that is
                            solved for, and for each contact */
} number = {
    .share = 0.05,
    .least_share = 40, /* 10: 2 of 5 solved; 20: 3 of 5; 40: all, in 4.7 s */
    .patience = 1.0,   /* four packings of 650 to 2660 contacts, seed 6001: 6.5 CPU seconds; 2: 8.5;
                          3: 13; 5: 23 */
    .few = 0.5,
    .many = 1.5,
    .down = 0.25,
    .up = 2.0,
    .against = 3.0,
    .failed = 4.0,
    .least = 1e-9,
    .largest = 0.3,
    .tolerant = 5.0,
    .settled = 0.3, /* 0.1: the same */
    .repeats = 6,   /* without: 3 of 5 */
    /* 8920 contacts of disks, 7506 of spheres: 1.6 and 7.6 ms with factorisations. With the price
     * of a tenth of a factorisation, spheres were stopped after a fifth of their time */
    .entry = 0.13e-9,
    .contact = 0.09e-6,
};

enum { REMEMBERED = 5 }; /* errors of the last steps */

typedef struct State {
  Options options;
  scree_PivotPath path;
  double *centre, *end, *best; /* (n) r0; the end of a path; the best impulses */
  double factor, event;        /* seconds of a factorisation, and of an event */
  int steps, against, turned;  /* so far; that did not begin; that did not arrive */
} State;

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  scree_Arena *work = &run->cache->work;
  State *st = SCREE_TAKE(work, State, 1);
  if (!st) return scree_fail_memory(run->log, "pivot");
  st->options = *(const Options *)options;
  st->centre = SCREE_TAKE(work, double, run->W->rows);
  st->end = SCREE_TAKE(work, double, run->W->rows);
  st->best = SCREE_TAKE(work, double, run->W->rows);
  if (!st->centre || !st->end || !st->best) return scree_fail_memory(run->log, "pivot");
  *out = st;
  return scree_pivot_path_create(run, &st->path);
}

/* ---- one step ---------------------------------------------------------------------------------
 */

/* Pose the proximal problem about r. */
static void centre_at(State *st, const double *r, double e) {
  scree_PivotPath *path = &st->path;
  const scree_Operator *W = path->laws.W;
  for (int c = 0; c < W->constraints; ++c) {
    const size_t at = scree_row_of(W, c), d = (size_t)W->problem->d;
    path->weight[c] = e * path->laws.w[c];
    for (size_t i = at; i < at + d; ++i) {
      path->base[i] = W->problem->q[i] - path->weight[c] * r[i];
      st->centre[i] = path->r[i] = r[i];
    }
  }
}

/* Whether the perturbation of the path that begins now is small beside the step so far. */
static bool is_settled(const State *st) {
  const scree_PivotPath *path = &st->path;
  const scree_Operator *W = path->laws.W;
  double left = 0.0, step = 0.0;
  for (int c = 0; c < W->constraints; ++c) {
    const size_t at = scree_row_of(W, c), d = (size_t)W->problem->d;
    for (size_t i = at; i < at + d; ++i) {
      const double moved = path->weight[c] * (st->end[i] - st->centre[i]);
      left += path->d[i] * path->d[i];
      step += moved * moved;
    }
  }
  return left <= number.settled * number.settled * step;
}

static scree_Status follow(State *st, scree_SolveRun *run, int most, int *events, bool *arrived) {
  const scree_Status status = scree_pivot_path_follow(&st->path, run, most, arrived);
  *events += st->path.events;
  run->elsewhere += st->event * st->path.events;
  return status;
}

/* The step with the centre and weights of the path; its impulses are path->r. */
static scree_Status make_step(State *st, scree_SolveRun *run, int most, int *events,
                              bool *arrived) {
  scree_PivotPath *path = &st->path;
  const size_t bytes = path->n * sizeof *path->r;
  *events = 0;
  scree_pivot_path_start(path);
  scree_Status status = follow(st, run, most, events, arrived);
  for (int k = 0; !status && *arrived && run->W->problem->d == 3 && k < number.repeats; ++k) {
    bool again = false;
    memcpy(st->end, path->r, bytes);
    scree_pivot_path_start(path);
    if (!is_settled(st)) status = follow(st, run, most, events, &again);
    if (again) continue;
    memcpy(path->r, st->end, bytes);
    break;
  }
  if (!*arrived) memcpy(path->r, path->lowest, bytes);
  return status;
}

/* The weight of the next step. */
static double next_weight(double e, int events, double wanted, bool arrived) {
  const double x = events / wanted;
  double factor = 1.0;
  if (!arrived)
    factor = events == 0 ? number.against : number.failed;
  else if (x < number.few)
    factor = number.down + (1.0 - number.down) * x / number.few;
  else if (x > number.many)
    factor = fmin(number.up, x / number.many);
  return fmin(number.largest, fmax(number.least, factor * e));
}

/* ---- the solver -------------------------------------------------------------------------------
 */

/* Project the impulses of the path into r and measure them. */
static void measure(State *st, scree_SolveRun *run, double *r, double *u) {
  const scree_Problem *p = run->W->problem;
  for (int c = 0; c < run->W->constraints; ++c) {
    const scree_Set set = scree_problem_set(p, c);
    const size_t at = scree_row_of(run->W, c);
    scree_set_project(&set, p->d, st->path.r + at, r + at);
  }
  scree_operator_apply(run->W, r, p->q, st->path.laws.y, u);
  scree_solve_run_stop(run, r, u, INFINITY);
}

static scree_Status begin(State *st, scree_SolveRun *run, double *r, double *u) {
  const double sweeps = st->options.start;
  const scree_SweepLimits limits = {.least = sweeps, .most = sweeps, .idle = sweeps};
  scree_Status status = scree_solve_run_smooth(run, 0, r, u);
  if (!status && !run->met && !run->exhausted && sweeps > 0)
    status = scree_solve_run_sweep(run, &limits, r, u);
  if (!status) status = scree_solve_run_factorisation_seconds(run, &st->factor);
  if (status) return status;
  const double numbers = (double)scree_factor_entries(st->path.laws.system->factor);
  st->event = number.entry * run->W->problem->d * numbers + number.contact * run->W->constraints;
  return SCREE_OK;
}

static double largest(const double *x, int n) {
  double most = x[0];
  for (int k = 1; k < n; ++k) most = fmax(most, x[k]);
  return most;
}

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *st = memory;
  const size_t bytes = run->W->rows * sizeof *r;
  const double wanted = fmax(number.least_share, number.share * run->W->constraints);
  double last[REMEMBERED], e = st->options.weight;
  scree_Status status = begin(st, run, r, u);
  double best = run->value;
  const double end = scree_solve_run_work(run) + st->options.most * st->factor;
  for (int k = 0; k < REMEMBERED; ++k) last[k] = best;
  memcpy(st->best, r, bytes);
  for (int step = 0; !status && !run->met && !run->exhausted; ++step) {
    if (scree_solve_run_work(run) >= end) break;
    const double from = run->value;
    int events;
    bool arrived;
    centre_at(st, r, e);
    status = make_step(st, run, (int)(number.patience * wanted), &events, &arrived);
    if (status || run->exhausted) break;
    measure(st, run, r, u);
    if (run->met) return SCREE_OK;
    last[step % REMEMBERED] = from;
    const bool accepted =
        arrived ? run->value <= number.tolerant * largest(last, REMEMBERED) : run->value < from;
    scree_report(run->log, SCREE_LOG_DETAIL,
                 "pivot: weight %.1e, %d events%s, error %.2e -> %.2e%s", e, events,
                 arrived ? "" : ", not arrived", from, run->value, accepted ? "" : ", undone");
    ++st->steps;
    st->turned += !arrived && events > 0;
    st->against += !arrived && events == 0;
    if (!accepted) {
      memcpy(r, st->centre, bytes);
      run->value = from;
    }
    if (run->value < best) {
      best = run->value;
      memcpy(st->best, r, bytes);
    }
    e = next_weight(e, events, wanted, arrived && accepted);
  }
  if (status || run->met) return status;
  scree_report(
      run->log, SCREE_LOG_INFO,
      "pivot: no solution found, smallest error %.1e; of %d steps %d did not arrive, and %d "
      "did not begin (determinant not positive)",
      best, st->steps, st->turned, st->against);
  memcpy(r, st->best, bytes);
  run->value = best;
  scree_operator_apply(run->W, r, run->W->problem->q, st->path.laws.y, u);
  return SCREE_OK;
}

static const scree_Option options[] = {
    {"weight", SCREE_OPTION_REAL, offsetof(Options, weight), 1e-3, 1e-9, 0.3, false, NULL,
     "proximal weight of the first step, relative to W"},
    {"start", SCREE_OPTION_REAL, offsetof(Options, start), 1000, 0, 1e9, false, NULL,
     "sweeps before the first step"},
    {"most", SCREE_OPTION_REAL, offsetof(Options, most), 1e5, 1, 1e9, false, NULL,
     "largest amount of work, in factorisations; events count by what they cost"},
};

const scree_SolverClass scree_solver_pivot = {
    .name = "pivot",
    .summary = "proximal steps solved by path following; high accuracy on dense packings",
    .reference = "this library; C. E. Lemke, Management Science 11 (1965)",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_BODIES,
    .sets = SCREE_SETS_CONES,
    .max_iterations = 1000000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
};
