/* newton: proximal semi-smooth Newton with Gauss-Seidel as its smoother, for the end of a solve.
 *
 * Each contact has a status, read off z = r - (u + s)/w (open, stick, or slip along t), and in that
 * status its law is linear, up to the turning of t:
 *     open   r = 0
 *     stick  u + e w (r - r0) = 0
 *     slip   u_n + e w (r_n - r0_n) = 0,   t.r_T = mu r_n,   r_p = -k (u_p - e w r0_p)
 * with p across t, k = mu r_n/(|u_T| + e w mu r_n), w the mean diagonal of W_cc; for the associated
 * law the first line of slip reads v.u + e w v.(r - r0) = 0, v = (1, mu t). The proximal weight e,
 * centred at the current r0 = r, keeps the system regular when W is singular (hyperstatic) and does
 * not move the solution. Written as Lu u + Lr r = c per contact this
 * gives one linear system (linear_laws.h).
 *
 * One step, a projection and a few sweeps make a cycle. A cycle that lowers the error is kept and
 * e falls; one that does not is undone and e grows, and from then on a step that turns a few
 * contacts over is replaced by the one of their new statuses. After some failures in a row the
 * solver stops and says what it reached: it finds solutions only from near (but then
 * quadratically).
 *
 * Reference: this library; local systems as in 000 section 3 and 001 section 3.5 (Alart, Curnier).
 */
#include "core/log.h"
#include "math/vector.h"
#include "problem/measure.h"
#include "problem/set_inline.h"
#include "solver/linear_laws.h"
#include "solver/registry.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct Options {
  double weight; /* first e */
  int sweeps;    /* of a cycle */
  int window;    /* factorisations in which the error must fall by `fall`, or the solver gives up */
  double fall;
} Options;

enum { WINDOW_MAX = 128 };
enum { ALWAYS = 8 };                /* contacts that may be turned over in any step */
static const double HOPELESS = 0.1; /* share of contacts whose status a failed step turns over */
static const double WILD = 0.3;     /* share that even a good step may not turn over twice */
static const double FEW = 0.1;      /* share whose new statuses are worth a second solve */
static const double CLOSE = 1e-6; /* error below which only contacts without load are turned over */
static const double NEAR = 3.0;   /* times the tolerance: sweeps may do what is left */

typedef struct State {
  Options options;
  scree_LinearLaws laws;
  const double *w; /* (nc) of the laws */
  double *e;       /* (nc) proximal weight of each contact, relative to w */
  uint8_t *status; /* (nc) in the last step: bit 2 is set where the step turns it over */
  double *old, *t; /* (nc x d) */
} State;

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  const scree_Operator *W = run->W;
  const size_t nc = (size_t)W->problem->nc, d = (size_t)W->problem->d;
  scree_Arena *work = &run->cache->work;
  State *st = SCREE_TAKE(work, State, 1);
  if (!st) return scree_fail_memory(run->log, "newton");
  st->options = *(const Options *)options;
  st->e = SCREE_TAKE_RAW(work, double, nc);
  st->status = SCREE_TAKE_RAW(work, uint8_t, nc);
  st->old = SCREE_TAKE_RAW(work, double, nc *d);
  st->t = SCREE_TAKE_RAW(work, double, nc *d);
  if (!st->e || !st->status || !st->old || !st->t) return scree_fail_memory(run->log, "newton");
  const scree_Status status = scree_linear_laws_create(run, &st->laws);
  st->w = st->laws.w;
  *out = st;
  return status;
}

/* ---- the linear law of one contact ------------------------------------------------------------
 */

enum { OPEN, STICK, SLIP, FLIPPED = 4 };

/* A contact as the law sees it: the impulse from the apex of the cone, the velocity that drives it
 * (u, or H u with non-associated flow), its status and, if it slips, where to. */
typedef struct View {
  double mu, shift;
  double r[3], u[3], t[2];
  int status;
} View;

/* Coulomb: active while r_n - u_n/w > 0, then |r_T - u_T/w| against the friction that this normal
 * part allows. Associated: by the projection of r - u/w on the cone. */
static int read_status(int d, scree_Law law, double w, View *view) {
  const double normal = view->r[0] - view->u[0] / w;
  double norm2 = 0.0;
  for (int i = 1; i < d; ++i) {
    view->t[i - 1] = view->r[i] - view->u[i] / w;
    norm2 += view->t[i - 1] * view->t[i - 1];
  }
  const double norm = sqrt(norm2);
  if (law == SCREE_COULOMB ? !(normal > 0.0) : view->mu * norm <= -normal) return OPEN;
  if (norm <= view->mu * normal) return STICK;
  for (int i = 1; i < d; ++i) view->t[i - 1] /= norm;
  return SLIP;
}

static View view_contact(const State *st, const scree_Problem *p, int k, const double *r,
                         const double *u) {
  const int d = p->d;
  const size_t at = (size_t)k * (size_t)d;
  const scree_Set set = scree_problem_set(p, k);
  View view = {.mu = set.kind == SCREE_SET_HALF_LINE ? 0.0 : set.mu,
               .shift = set.kind == SCREE_SET_SHIFTED ? set.a : 0.0};
  for (int i = 0; i < d; ++i) {
    view.r[i] = r[at + (size_t)i];
    view.u[i] = p->flow ? 0.0 : u[at + (size_t)i];
    for (int j = 0; p->flow && j < d; ++j)
      view.u[i] += p->flow[(at + (size_t)i) * (size_t)d + (size_t)j] * u[at + (size_t)j];
  }
  view.r[0] += view.shift;
  view.status = set.kind == SCREE_SET_SPACE ? STICK : read_status(d, p->law, st->w[k], &view);
  return view;
}

/* Rows of Lu u + Lr r = c for slip along t. */
static void slip_rows(int d, scree_Law law, double mu, double w, double weight, const double *r,
                      const double *u, const double *t, double *Lu, double *Lr, double *c) {
  const bool associated = law == SCREE_ASSOCIATED;
  Lu[0] = 1.0;
  for (int i = 1; i < d; ++i) Lu[i] = associated ? mu * t[i - 1] : 0.0;
  c[0] = 0.0;
  for (int i = 0; i < d; ++i) {
    Lr[i] = weight * Lu[i];
    c[0] += Lr[i] * r[i];
  }
  Lr[d] = -mu * w;
  for (int i = 1; i < d; ++i) Lr[d + i] = w * t[i - 1];
  if (d == 2) return;
  const double p[2] = {-t[1], t[0]};
  const double speed = hypot(u[1], u[2]), limit = mu * fmax(r[0], 0.0);
  const double k = limit > 0.0 ? limit / (speed + weight * limit) : 0.0;
  const double s = 1.0 / (k + 1.0 / w);
  for (int i = 1; i < 3; ++i) {
    Lu[6 + i] = s * k * p[i - 1];
    Lr[6 + i] = s * p[i - 1];
    c[2] += s * k * weight * p[i - 1] * r[i];
  }
}

/* The law of contact k in the status that it has at (r, u), centred at `centre`. */
static void contact_rows(State *st, const scree_Problem *p, int k, const double *centre,
                         const double *r, const double *u) {
  const int d = p->d;
  const size_t at = (size_t)k * (size_t)d, mat = at * (size_t)d;
  View view = view_contact(st, p, k, r, u);
  for (int i = 0; i < d; ++i) view.r[i] = centre[at + (size_t)i] + (i == 0 ? view.shift : 0.0);
  const double w = st->w[k], weight = st->e[k] * w;
  double *Lu = st->laws.Lu + mat, *Lr = st->laws.Lr + mat, *c = st->laws.c + at;
  st->status[k] = (uint8_t)view.status;
  for (int i = 0; i < d * d; ++i) Lu[i] = Lr[i] = 0.0;
  for (int i = 0; i < d; ++i) c[i] = 0.0;
  if (view.status == SLIP && view.mu > 0.0) {
    slip_rows(d, p->law, view.mu, w, weight, view.r, view.u, view.t, Lu, Lr, c);
  } else {
    for (int i = 0; i < d; ++i) {
      const bool stick = view.status == STICK || (view.status == SLIP && i == 0);
      Lu[i * d + i] = stick ? 1.0 : 0.0;
      Lr[i * d + i] = stick ? weight : w;
      c[i] = stick ? weight * view.r[i] : 0.0;
    }
  }
  for (int i = 0; i < d; ++i) c[i] -= Lr[i * d] * view.shift;
  if (!p->flow) return;
  for (int i = 0; i < d; ++i) { /* Lu acts on H u */
    double row[3] = {0.0, 0.0, 0.0};
    for (int j = 0; j < d; ++j)
      for (int m = 0; m < d; ++m) row[j] += Lu[i * d + m] * p->flow[mat + (size_t)(m * d + j)];
    for (int j = 0; j < d; ++j) Lu[i * d + j] = row[j];
  }
}

/* Mark the contacts whose status at the end of a step, before the projection, is not the one that
 * the step was made for; their number. */
static int mark_flips(State *st, const scree_Problem *p, const double *r, const double *u) {
  int flips = 0;
  for (int k = 0; k < p->nc; ++k)
    if (view_contact(st, p, k, r, u).status != st->status[k]) {
      st->status[k] |= FLIPPED;
      ++flips;
    }
  return flips;
}

/* ---- one step ---------------------------------------------------------------------------------
 */

/* Solve the linear laws of the statuses at (r, u), centred at `centre`: the new r, its velocities
 * in st->t (which u may be) and the number of contacts that it turns over. */
static scree_Status solve_statuses(State *st, scree_SolveRun *run, const double *centre, double *r,
                                   const double *u, int *flips, bool *broken) {
  const scree_Operator *W = run->W;
  const scree_Problem *p = W->problem;
  for (int k = 0; k < p->nc; ++k) contact_rows(st, p, k, centre, r, u);
  ++run->factorisations;
  scree_Status status = scree_linear_laws_factor(&st->laws, broken);
  if (status || *broken) return status;
  scree_linear_laws_solve(&st->laws, st->laws.c, p->q, r);
  scree_operator_apply(W, r, p->q, st->laws.y, st->t);
  *flips = mark_flips(st, p, r, st->t);
  return SCREE_OK;
}

/* A step from r = st->old, and in doubt, where it turns a few contacts over, the step that those
 * new statuses ask for instead; then the projection. *flips: contacts that it turns over. */
static scree_Status newton_step(State *st, scree_SolveRun *run, bool doubt, double *r,
                                const double *u, int *flips, bool *broken) {
  const scree_Problem *p = run->W->problem;
  scree_Status status = solve_statuses(st, run, st->old, r, u, flips, broken);
  if (!status && !*broken && doubt && *flips > 0 && *flips < ALWAYS + FEW * p->nc)
    status = solve_statuses(st, run, st->old, r, st->t, flips, broken);
  if (status || *broken) return status;
  for (int k = 0; k < p->nc; ++k) {
    const scree_Set set = scree_problem_set(p, k);
    double *rk = r + (size_t)k * (size_t)p->d;
    scree_set_project(&set, p->d, rk, rk);
  }
  return SCREE_OK;
}

/* Back to the impulses `kept`, whose error was `value`. */
static void go_back(State *st, scree_SolveRun *run, const double *kept, double value, double *r,
                    double *u) {
  const scree_Problem *p = run->W->problem;
  memcpy(r, kept, (size_t)p->nc * (size_t)p->d * sizeof *r);
  run->value = value;
  scree_operator_apply(run->W, r, p->q, st->laws.y, u);
}

/* New weights: contacts whose status the step turned over get more, the others less when the step
 * was good and more when it was not. */
static void adapt_weights(State *st, const scree_Problem *p, bool better) {
  for (int k = 0; k < p->nc; ++k) {
    if (st->status[k] & FLIPPED)
      st->e[k] = fmin(8.0 * st->e[k], 0.1);
    else if (better)
      st->e[k] = fmax(0.2 * st->e[k], 1e-8);
    else
      st->e[k] = fmin(2.0 * st->e[k], 0.1);
  }
}

/* Near the tolerance as many sweeps again cost less than another step; undone if they do not help.
 */
static scree_Status sweep_once_more(State *st, scree_SolveRun *run, double *r, double *u) {
  if (run->met || run->exhausted) return SCREE_OK;
  const double before = run->value;
  const size_t bytes = (size_t)run->W->problem->nc * (size_t)run->W->problem->d * sizeof *r;
  memcpy(st->t, r, bytes);
  scree_Status status = scree_solve_run_smooth(run, st->options.sweeps, r, u);
  if (!status && !(run->value < before)) go_back(st, run, st->t, before, r, u);
  return status;
}

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *st = memory;
  const scree_Problem *p = run->W->problem;
  const size_t n = (size_t)p->nc * (size_t)p->d;
  double history[WINDOW_MAX];
  const int before = run->factorisations;
  int filled = 0;
  bool doubt = false; /* a cycle has failed: steps are corrected once from then on */
  for (int k = 0; k < p->nc; ++k) st->e[k] = st->options.weight;
  scree_Status status = scree_solve_run_smooth(run, 0, r, u);
  /* plain sweeps that the run has made before its first factorisation count for half at most */
  const bool plain = run->factorisations == 0 && !scree_solve_run_sweeps_balls(run);
  const int sweeps = st->options.sweeps, done = plain ? run->iterations : 0;
  if (!status && !run->met && !run->exhausted)
    status = scree_solve_run_smooth(run, sweeps - (2 * done < sweeps ? done : sweeps / 2), r, u);
  for (int step = 0; !status && !run->met && !run->exhausted; ++step) {
    const double best = run->value;
    /* errors of the past, one for each factorisation: a corrected step has two */
    const int made = run->factorisations - before, window = st->options.window;
    if (made >= window && !(best * st->options.fall <= history[(made - window) % WINDOW_MAX]))
      break;
    for (; filled <= made; ++filled) history[filled % WINDOW_MAX] = best;
    memcpy(st->old, r, n * sizeof *r);
    ++run->iterations;
    bool broken = false;
    int flips = 0;
    status = newton_step(st, run, doubt, r, u, &flips, &broken);
    if (broken) { /* r may be what the first of two steps left */
      memcpy(r, st->old, n * sizeof *r);
      break;
    }
    if (!status) status = scree_solve_run_smooth(run, st->options.sweeps, r, u);
    if (!status && run->value < fmin(best, NEAR * run->settings->tolerance))
      status = sweep_once_more(st, run, r, u);
    if (status || run->met) return status;
    const bool better = run->value < best;
    adapt_weights(st, p, better);
    scree_report(run->log, SCREE_LOG_DETAIL, "newton %d: %d flips, error %.2e -> %.2e",
                 run->factorisations, flips, best, run->value);
    /* statuses that are turned over by the hundred are not near those of a solution */
    const double share = (flips - ALWAYS) / (double)p->nc;
    const bool hopeless =
        best > CLOSE && ((step < 2 && !better && share > HOPELESS) || (step > 0 && share > WILD));
    if (!better) {
      doubt = true;
      go_back(st, run, st->old, best, r, u);
    }
    if (hopeless) break;
  }
  return status;
}

static const scree_Option options[] = {
    {"weight", SCREE_OPTION_REAL, offsetof(Options, weight), 1e-4, 1e-12, 1, false, NULL,
     "proximal weight of the first step, relative to W"},
    {"sweeps", SCREE_OPTION_INT, offsetof(Options, sweeps), 10, 1, 1000, false, NULL,
     "Gauss-Seidel sweeps after each step"},
    {"window", SCREE_OPTION_INT, offsetof(Options, window), 8, 1, WINDOW_MAX, false, NULL,
     "factorisations in which the error must fall by `fall`, or the solver gives up"},
    {"fall", SCREE_OPTION_REAL, offsetof(Options, fall), 5, 1, 1e12, false, NULL, "see window"},
};

const scree_SolverClass scree_solver_newton = {
    .name = "newton",
    .summary = "proximal semi-smooth Newton from a good start, smoothed by Gauss-Seidel",
    .reference = "this library; statuses as in 000 section 3, 001 section 3.5",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSOCIATED |
                    SCREE_CAN_ASSEMBLED | SCREE_CAN_BODIES | SCREE_CAN_FLOW,
    .sets = SCREE_SETS_CONES | 1 << SCREE_SET_SHIFTED | 1 << SCREE_SET_SPACE,
    .max_iterations = 100000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
};
