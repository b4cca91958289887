/* newton: proximal semi-smooth Newton with Gauss-Seidel as its smoother, for the end of a solve.
 *
 * Each contact has a status, read off z = r - (u + s)/w (open, stick, or slip along t), and in that
 * status its law is linear, up to the turning of t (status_rows.h). A proximal weight e w, w the
 * mean diagonal of W_cc, centred at the current r0 = r, adds e w (r - r0) to u in these laws: it
 * keeps the system regular when W is singular (hyperstatic) and does not move the solution. Written
 * as Lu u + Lr r = c per contact this gives one linear system (linear_laws.h). Joints always stick.
 *
 * One step, a projection and a few sweeps make a cycle. A cycle that lowers the error is kept and
 * e falls; one that does not is undone and e grows, and from then on a step that changes a few
 * statuses is replaced by the step for the new ones. After some failures in a row the solver stops
 * with the best impulses so far: it converges only from near a solution (but then quadratically).
 *
 * Reference: this library; local systems as in 000 section 3 and 001 section 3.5 (Alart, Curnier).
 */
#include "core/log.h"
#include "math/vector.h"
#include "problem/measure.h"
#include "problem/set_inline.h"
#include "solver/linear_laws.h"
#include "solver/registry.h"
#include "solver/rolling_rows.h"
#include "solver/status_rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct Options {
  double weight; /* first e */
  int sweeps;    /* of a cycle */
  int window;    /* factorisations in which the error must fall by `fall`, or the solver gives up */
  double fall;
  int ranks; /* scree_SharedMethod */
} Options;

enum { WINDOW_MAX = 128 };

/* Numbers chosen by measurement, as in policy.c: beside each value the work with another value over
 * the work with this one, for `auto` to 1e-8. */
static const struct Numbers {
  int always;      /* contacts whose status any step may change */
  double few;      /* share of further contacts whose new statuses are worth a second solve */
  double hopeless; /* share of contacts whose status a failed first step changes, above which the
                      solver gives up */
  double wild;     /* share that even a step that lowers the error may not change twice */
  double close;    /* error below which only contacts without load change: never give up */
  double near;     /* times the tolerance: below this the same number of sweeps again may suffice */
  double flipped_up;  /* factor of the weight of a contact whose status a step has changed */
  double failed_up;   /* of all others after a step that failed */
  double down;        /* of all others after a step that lowered the error */
  double most, least; /* weights */
} number = {
    .always = 8,     /* 4: 0.99; 16: 1.00 */
    .few = 0.1,      /* 0: Capsules-i100 1.28, the mean of 59 problems 1.00 */
    .hopeless = 0.1, /* 0.05: 0.99; 0.2: 1.01 */
    .wild = 0.3, /* 0.15: 1.01; 0.6: 1.01; without it 1.00, but wall-50 takes 1.4 times the work */
    .close = 1e-6,     /* 1e-7: 1.00; 1e-5: 1.00; for time steps that are solved to more digits */
    .near = 3.0,       /* 1.5: 1.00; 6: 1.00 */
    .flipped_up = 8.0, /* 4: 1.00; 16: 0.97 */
    .failed_up = 2.0,  /* 1: 1.07; 4: 1.01 */
    .down = 0.2,       /* 0.1: 1.05; 0.4: 1.01 */
    .most = 0.1,       /* a limit; 1: 1.00 */
    .least = 1e-8,     /* a limit that keeps systems regular; 1e-9: 1.00; 1e-7: 1.00 */
};

typedef struct State {
  Options options;
  scree_LinearLaws laws; /* their status: in the last step; changes: 1 where that changes it */
  double *old, *t;       /* (rows) */
} State;

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  scree_LinearLaws laws;
  const scree_Status status = scree_linear_laws_create(run, sizeof(State), 2, out, &laws);
  if (status) return status;
  State *st = *out;
  *st = (State){.options = *(const Options *)options,
                .laws = laws,
                .old = laws.vectors,
                .t = laws.vectors + run->W->rows};
  st->laws.system->method = (scree_SharedMethod)st->options.ranks;
  return SCREE_OK;
}

/* ---- the linear law of one constraint ---------------------------------------------------------
 */

/* Input of the law of a constraint: the impulse from the apex of the cone, the velocity that drives
 * it (u, or H u with non-associated flow), and its status. */
typedef struct View {
  scree_RowRange rows;
  double mu, shift;
  double r[SCREE_ROWS_MAX], u[SCREE_ROWS_MAX];
  double t[2];     /* direction of the friction */
  unsigned status; /* scree_RowStatus, or that of rolling_rows.h */
  bool ball;       /* the set is a ball */
  bool rolls;      /* it resists rolling */
} View;

/* Dry friction in a joint: it sticks while |r - u/w| <= a, else r is a in that direction, which is
 * kept in view.r. */
static View view_ball(const State *st, double a, int k, const double *r, const double *u) {
  View view = {.rows = scree_row_range(st->laws.W, k), .ball = true, .status = SCREE_ROWS_STICK};
  double size = 0.0;
  for (int i = 0; i < view.rows.d; ++i) {
    const size_t at = view.rows.at + (size_t)i;
    view.r[i] = r[at] - u[at] / st->laws.w[k];
    size = hypot(size, view.r[i]);
  }
  if (size <= a) return view;
  view.status = SCREE_ROWS_SLIP;
  for (int i = 0; i < view.rows.d; ++i) view.r[i] *= a / size;
  return view;
}

static View view_contact(const State *st, const scree_Problem *p, int k, const double *r,
                         const double *u) {
  const scree_Set set = scree_problem_set(p, k);
  View view = {.rows = scree_row_range(st->laws.W, k),
               .mu = scree_set_friction(&set),
               .shift = set.kind == SCREE_SET_SHIFTED ? set.a : 0.0,
               .status = SCREE_ROWS_STICK};
  if (set.kind == SCREE_SET_SPACE) return view;
  const int d = view.rows.d;
  if (set.kind == SCREE_SET_BALL) return view_ball(st, set.a, k, r, u);
  if (set.kind == SCREE_SET_ROLLING) {
    view.rolls = true;
    view.status =
        scree_rolling_status(&set, d, p->flow, st->laws.w[k], r + view.rows.at, u + view.rows.at);
    return view;
  }
  const double *flow =
      p->flow_blocks && k < p->nc ? p->flow_blocks + view.rows.mat : NULL; /* contacts */
  r += view.rows.at;
  u += view.rows.at;
  for (int i = 0; i < d; ++i) {
    view.r[i] = r[i];
    view.u[i] = flow ? 0.0 : u[i];
    for (int j = 0; flow && j < d; ++j) view.u[i] += flow[i * d + j] * u[j];
  }
  view.r[0] += view.shift;
  view.status = scree_read_status(d, p->flow, view.mu, st->laws.w[k], view.r, view.u, view.t);
  return view;
}

/* Lu acts on H u: Lu <- Lu H */
static void apply_flow(int d, const double *H, double *Lu) {
  for (int i = 0; i < d; ++i) {
    double row[3] = {0.0, 0.0, 0.0};
    for (int j = 0; j < d; ++j)
      for (int m = 0; m < d; ++m) row[j] += Lu[i * d + m] * H[m * d + j];
    for (int j = 0; j < d; ++j) Lu[i * d + j] = row[j];
  }
}

/* The law of constraint k in the status that it has at (r, u), with a proximal weight about
 * `centre`. */
static void contact_rows(State *st, const scree_Problem *p, int k, const double *centre,
                         const double *r, const double *u) {
  const View view = view_contact(st, p, k, r, u);
  const int d = view.rows.d;
  const double w = st->laws.w[k], weight = st->laws.e[k] * w;
  double *Lu = st->laws.Lu + view.rows.mat, *Lr = st->laws.Lr + view.rows.mat;
  double *c = st->laws.c + view.rows.at, from[SCREE_ROWS_MAX];
  st->laws.status[k] = (uint8_t)view.status;
  if (view.ball && view.status == SCREE_ROWS_SLIP) { /* w r = w times the point of the ball */
    for (int i = 0; i < d * d; ++i) Lu[i] = Lr[i] = 0.0;
    for (int i = 0; i < d; ++i) {
      Lr[i * d + i] = w;
      c[i] = w * view.r[i];
    }
    return;
  }
  for (int i = 0; i < d; ++i) from[i] = centre[view.rows.at + (size_t)i];
  if (view.rolls) {
    const scree_Set set = scree_problem_set(p, k);
    scree_rolling_rows(&set, d, p->flow, w, view.status, r + view.rows.at, u + view.rows.at,
                       fmax(from[0], 0.0), Lu, Lr);
    scree_rows_soften(d, weight, from, Lu, Lr, c);
    return;
  }
  from[0] += view.shift;
  scree_Slip slip = {.t = {view.t[0], view.t[1]}, .normal = fmax(from[0], 0.0)};
  if (view.status == SCREE_ROWS_SLIP && view.mu > 0.0) slip.speed = scree_tangent_norm(d, view.u);
  scree_status_rows(d, (scree_RowStatus)view.status, p->flow, view.mu, w, &slip, weight, from, Lu,
                    Lr, c);
  for (int i = 0; i < d; ++i) c[i] -= Lr[i * d] * view.shift;
  if (p->flow_blocks && k < p->nc && scree_problem_set(p, k).kind != SCREE_SET_SPACE)
    apply_flow(d, p->flow_blocks + view.rows.mat, Lu);
}

/* Mark the contacts whose status at the end of a step, before the projection, is not the one that
 * the step was made for; their number, of all ranks. */
static int mark_flips(State *st, const scree_Problem *p, const double *r, const double *u) {
  int flips = 0;
  for (int k = 0; k < st->laws.W->constraints; ++k) {
    st->laws.changes[k] = view_contact(st, p, k, r, u).status != st->laws.status[k];
    flips += st->laws.changes[k];
  }
  return (int)scree_ranks_sum(scree_ranks_of(st->laws.W), flips);
}

/* ---- one step ---------------------------------------------------------------------------------
 */

/* Solve the linear laws of the statuses at (r, u), centred at `centre`: the new r, its velocities
 * in st->t (which u may be) and the number of contacts whose status it changes. */
static scree_Status solve_statuses(State *st, scree_SolveRun *run, const double *centre, double *r,
                                   const double *u, int *flips, bool *broken) {
  const scree_Operator *W = run->W;
  const scree_Problem *p = W->problem;
  for (int k = 0; k < st->laws.W->constraints; ++k) contact_rows(st, p, k, centre, r, u);
  ++run->factorisations;
  scree_Status status = scree_linear_laws_factor(&st->laws, broken);
  if (status || *broken) return status;
  status = scree_linear_laws_solve(&st->laws, st->laws.c, p->q, r);
  if (status) return status;
  scree_operator_apply(W, r, p->q, st->laws.y, st->t);
  *flips = mark_flips(st, p, r, st->t);
  return SCREE_OK;
}

/* A step from r = st->old. With `doubt`, a step that changes a few statuses is replaced by the step
 * for these new statuses. Then the projection. *flips: contacts whose status it changes. */
static scree_Status newton_step(State *st, scree_SolveRun *run, bool doubt, double *r,
                                const double *u, int *flips, bool *broken) {
  const scree_Problem *p = run->W->problem;
  scree_Status status = solve_statuses(st, run, st->old, r, u, flips, broken);
  if (!status && !*broken && doubt && *flips > 0 &&
      *flips < number.always + number.few * (double)scree_all_constraints(st->laws.W))
    status = solve_statuses(st, run, st->old, r, st->t, flips, broken);
  if (status || *broken) return status;
  for (int k = 0; k < st->laws.W->constraints; ++k) {
    const scree_Set set = scree_problem_set(p, k);
    const scree_RowRange rows = scree_row_range(st->laws.W, k);
    scree_set_project(&set, rows.d, r + rows.at, r + rows.at);
  }
  return SCREE_OK;
}

/* Restore the impulses `kept`, whose error was `value`. */
static void go_back(State *st, scree_SolveRun *run, const double *kept, double value, double *r,
                    double *u) {
  const scree_Problem *p = run->W->problem;
  memcpy(r, kept, run->W->rows * sizeof *r);
  run->value = value;
  scree_operator_apply(run->W, r, p->q, st->laws.y, u);
}

/* New weights: higher for contacts whose status the step changed, lower for the others when the
 * error fell and higher when it did not. */
static void adapt_weights(State *st, bool better) {
  for (int k = 0; k < st->laws.W->constraints; ++k) {
    if (st->laws.changes[k])
      st->laws.e[k] = fmin(number.flipped_up * st->laws.e[k], number.most);
    else if (better)
      st->laws.e[k] = fmax(number.down * st->laws.e[k], number.least);
    else
      st->laws.e[k] = fmin(number.failed_up * st->laws.e[k], number.most);
  }
}

/* Near the tolerance the same number of sweeps again costs less than another step; they are undone
 * if they do not help. */
static scree_Status sweep_once_more(State *st, scree_SolveRun *run, double *r, double *u) {
  if (run->met || run->exhausted) return SCREE_OK;
  const double before = run->value;
  memcpy(st->t, r, run->W->rows * sizeof *r);
  scree_Status status = scree_solve_run_smooth(run, st->options.sweeps, r, u);
  if (!status && !(run->value < before)) go_back(st, run, st->t, before, r, u);
  return status;
}

/* ---- the solver -------------------------------------------------------------------------------
 */

/* Error history, one entry for each factorisation: a corrected step has two. */
typedef struct Past {
  int first, filled; /* factorisations of the run at the start; errors recorded */
  double error[WINDOW_MAX];
} Past;

/* Record the current error. False: it has not fallen enough within the window. */
static bool still_falling(const State *st, const scree_SolveRun *run, Past *past) {
  const int made = run->factorisations - past->first, window = st->options.window;
  if (made >= window &&
      !(run->value * st->options.fall <= past->error[(made - window) % WINDOW_MAX]))
    return false;
  for (; past->filled <= made; ++past->filled) past->error[past->filled % WINDOW_MAX] = run->value;
  return true;
}

/* A step that changes hundreds of statuses is not near a solution. */
static bool is_hopeless(const State *st, int step, int flips, bool better, double before) {
  const double share = (flips - number.always) / (double)scree_all_constraints(st->laws.W);
  return before > number.close &&
         ((step < 2 && !better && share > number.hopeless) || (step > 0 && share > number.wild));
}

/* The first sweeps. Those that the run has made before its first factorisation count for half at
 * most. */
static scree_Status begin(State *st, scree_SolveRun *run, double *r, double *u) {
  scree_Status status = scree_solve_run_smooth(run, 0, r, u);
  const bool plain = run->factorisations == 0 && !scree_solve_run_momentum(run);
  const int sweeps = st->options.sweeps, done = plain ? run->iterations : 0;
  if (!status && !run->met && !run->exhausted)
    status = scree_solve_run_smooth(run, sweeps - (2 * done < sweeps ? done : sweeps / 2), r, u);
  return status;
}

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *st = memory;
  const size_t bytes = run->W->rows * sizeof *r;
  Past past = {.first = run->factorisations};
  bool doubt = false; /* a cycle has failed: steps are corrected once from then on */
  for (int k = 0; k < st->laws.W->constraints; ++k) st->laws.e[k] = st->options.weight;
  scree_Status status = begin(st, run, r, u);
  for (int step = 0; !status && !run->met && !run->exhausted; ++step) {
    const double best = run->value;
    if (!still_falling(st, run, &past)) break;
    memcpy(st->old, r, bytes);
    ++run->iterations;
    bool broken = false;
    int flips = 0;
    status = newton_step(st, run, doubt, r, u, &flips, &broken);
    if (broken) { /* r may be the result of the first of two steps */
      memcpy(r, st->old, bytes);
      break;
    }
    if (!status) status = scree_solve_run_smooth(run, st->options.sweeps, r, u);
    if (!status && run->value < fmin(best, number.near * run->settings->tolerance))
      status = sweep_once_more(st, run, r, u);
    if (status || run->met) return status;
    const bool better = run->value < best;
    adapt_weights(st, better);
    scree_report(run->log, SCREE_LOG_DETAIL, "newton %d: %d statuses change, error %.2e -> %.2e",
                 run->factorisations, flips, best, run->value);
    if (!better) {
      doubt = true;
      go_back(st, run, st->old, best, r, u);
    }
    if (is_hopeless(st, step, flips, better, best)) break;
  }
  return status;
}

static const scree_Option options[] = {
    {"weight", SCREE_OPTION_REAL, offsetof(Options, weight), 1e-4, 1e-12, 1, false, NULL,
     "proximal weight of the first step, relative to W"},
    {"sweeps", SCREE_OPTION_INT, offsetof(Options, sweeps), 10, 1, 1000, false, NULL,
     "Gauss-Seidel sweeps after each step"},
    {"window", SCREE_OPTION_INT, offsetof(Options, window), 8, 1, WINDOW_MAX, false, NULL,
     "number of factorisations within which the error must decrease by `fall`; otherwise the "
     "solver stops"},
    {"fall", SCREE_OPTION_REAL, offsetof(Options, fall), 5, 1, 1e12, false, NULL,
     "factor by which the error must decrease within `window` factorisations"},
    {"ranks", SCREE_OPTION_CHOICE, offsetof(Options, ranks), SCREE_SHARED_DIRECT, 0, 0, false,
     scree_graph_system_methods,
     "on several ranks: direct (MUMPS), or GMRES with algebraic multigrid of hypre or PETSc"},
};

const scree_SolverClass scree_solver_newton = {
    .name = "newton",
    .summary =
        "proximal semi-smooth Newton method for good starting points, with Gauss-Seidel smoothing",
    .reference = "this library; statuses as in 000 section 3, 001 section 3.5",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSOCIATED |
                    SCREE_CAN_ASSEMBLED | SCREE_CAN_BODIES | SCREE_CAN_FLOW | SCREE_CAN_ANY_SIZE |
                    SCREE_CAN_RANKS_BY_FACTOR,
    .sets = SCREE_SETS_CONES | 1 << SCREE_SET_SHIFTED | 1 << SCREE_SET_SPACE | 1 << SCREE_SET_BALL |
            1 << SCREE_SET_ROLLING,
    .max_iterations = 100000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
};
