/* nlgs: non-linear Gauss-Seidel. Contacts are visited one after the other; each visit freezes the
 * others and lets a local solver (local.h) give the contact its new impulse.
 *
 *     repeat  for c in order:  u_c = (W r + q)_c;  r_c <- local(W_cc, u_c, r_c);  update y
 *
 * References: 000 section 4.3, 001 section 3.1 (Jean and Moreau).
 *
 * Order. Problems with many contacts are coloured (colouring.h), so that threads change nothing but
 * the time, and where contacts can be visited four at a time (lanes.h) middling ones too; small
 * ones are visited in their own order. The choice depends on the problem alone. The most common
 * large problems go four contacts at a time (lanes.h).
 *
 * Measuring costs several sweeps of a small problem, so for the library's own measures it is done
 * when the change of a sweep has fallen as far as the error still has to (the two are nearly
 * proportional, and each measurement tells the factor anew), and in any case at intervals of a half
 * of the sweeps done; a paper's measure is checked after every sweep, as in the paper. At each
 * measurement the velocities are computed from those of the bodies, and these now and then afresh
 * from r, so that round-off does not build up. Only the exact local solver sees sets other than
 * cones. */
#include "solver/nlgs.h"
#include "core/log.h"
#include "solver/local_exact.h"
#include "solver/registry.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { ORDER_AUTO, ORDER_NATURAL, ORDER_COLOURED };
enum { COLOURED_CONTACTS = 1500, LANED_CONTACTS = 64, PARALLEL_COLOUR = 256, PREFETCH = 3 };
enum { FRESH_SWEEPS = 100 };   /* after which the velocities of bodies are computed afresh */
enum { POLL_VISITS = 100000 }; /* of contacts between two polls, at most about 0.1 s */

typedef struct Options {
  int local;
  double rho, rho_factor, gamma_n, gamma_t, newton_tolerance;
  int newton_iterations;
  int order, check;
} Options;

static const scree_LocalClass *const locals[] = {
    &scree_local_exact, &scree_local_sbp, &scree_local_sal,   &scree_local_ebp,
    &scree_local_eal,   &scree_local_ibp, &scree_local_epdas, &scree_local_ipdas,
};
static const char *const local_names[] = {"exact", "sbp",   "sal",   "ebp", "eal",
                                          "ibp",   "epdas", "ipdas", NULL};
static const char *const order_names[] = {"auto", "natural", "coloured", NULL};

typedef struct State {
  const scree_LocalClass *local;
  scree_LocalParameters parameters;
  const scree_Colouring *order; /* of the contacts, kept with the graph */
  scree_Lanes lanes;
  bool in_lanes;
  double *y; /* state of W */
  int stale; /* sweeps since y was computed from r */
  int check;
  scree_Poll *poll; /* of the run */
} State;

/* What one sweep changed (000 (4.15)). Maxima do not depend on the order. */
typedef scree_SweepChange Change;

/* ---- one contact ------------------------------------------------------------------------------
 */

SCREE_INLINE void visit(const State *state, const scree_Operator *W, scree_OperatorKind kind, int d,
                        int nb, bool exact_cone, int c, double *r, Change *change) {
  const scree_Problem *p = W->problem;
  const size_t at = (size_t)c * (size_t)d;
  double room[9];
  const double *Wcc = scree_contact_diagonal(W, d, c, room);
  double u[3], next[3], dr[3], *rc = r + at;
  scree_contact_velocity(W, kind, d, nb, c, r, state->y, p->q, u);
  if (exact_cone) {
    double q[3];
    for (int i = 0; i < d; ++i) {
      q[i] = u[i];
      for (int j = 0; j < d; ++j) q[i] -= Wcc[i * d + j] * rc[j];
    }
    scree_exact_coulomb(d, Wcc, p->mu[c], q, rc, next);
  } else if (state->local == &scree_local_exact) {
    const scree_Set set = scree_problem_set(p, c);
    double q[3];
    for (int i = 0; i < d; ++i) {
      q[i] = u[i];
      for (int j = 0; j < d; ++j) q[i] -= Wcc[i * d + j] * rc[j];
    }
    if (p->flow)
      scree_exact_flow(&set, d, p->flow + at * (size_t)d, Wcc, q, rc, next);
    else
      scree_exact_solve(&set, p->law, d, Wcc, q, rc, next);
  } else {
    const double mu = p->set && p->set[c] == SCREE_SET_HALF_LINE ? 0.0 : p->mu[c];
    state->local->solve(&state->parameters, d, Wcc, mu, u, rc, next);
  }
  double tangent = 0.0;
  for (int i = 0; i < d; ++i) {
    dr[i] = next[i] - rc[i];
    rc[i] = next[i];
    if (i) tangent += dr[i] * dr[i];
  }
  scree_contact_update(W, kind, d, nb, c, dr, state->y);
  if (fabs(dr[0]) > change->normal) change->normal = fabs(dr[0]);
  if (tangent > change->tangent2) change->tangent2 = tangent;
}

SCREE_INLINE Change visit_list(const State *state, const scree_Operator *W, scree_OperatorKind kind,
                               int d, int nb, bool exact_cone, const int *list, int n, double *r) {
  Change change = {0.0, 0.0};
  for (int k = 0; k < n; ++k) {
    if (k + PREFETCH < n) scree_contact_prefetch(W, kind, d, nb, list[k + PREFETCH], state->y);
    visit(state, W, kind, d, nb, exact_cone, list[k], r, &change);
  }
  return change;
}

/* The instances that the compiler unrolls; everything else takes the last line of each block. */
SCREE_CLONES static Change visit_all(const State *state, const scree_Operator *W, const int *list,
                                     int n, double *r) {
  const scree_Problem *p = W->problem;
  const int d = p->d, nb = p->bodies.nb;
  const bool cone = state->local == &scree_local_exact && p->law == SCREE_COULOMB && p->set == NULL;
  if (p->kind == SCREE_ASSEMBLED) {
    if (d == 3 && cone) return visit_list(state, W, SCREE_ASSEMBLED, 3, 0, true, list, n, r);
    if (d == 2 && cone) return visit_list(state, W, SCREE_ASSEMBLED, 2, 0, true, list, n, r);
    if (d == 3) return visit_list(state, W, SCREE_ASSEMBLED, 3, 0, false, list, n, r);
    return visit_list(state, W, SCREE_ASSEMBLED, 2, 0, false, list, n, r);
  }
  if (d == 3 && nb == 6 && cone) return visit_list(state, W, SCREE_BODIES, 3, 6, true, list, n, r);
  if (d == 2 && nb == 3 && cone) return visit_list(state, W, SCREE_BODIES, 2, 3, true, list, n, r);
  return visit_list(state, W, SCREE_BODIES, d, nb, false, list, n, r);
}

static void widen(Change *total, const Change *part) {
  total->normal = fmax(total->normal, part->normal);
  total->tangent2 = fmax(total->tangent2, part->tangent2);
}

/* ---- one sweep --------------------------------------------------------------------------------
 */

/* Items first .. last-1 of the order: batches in lanes, else contacts. */
static Change visit_items(State *state, const scree_Operator *W, int first, int last, double *r) {
  if (state->in_lanes) return scree_lanes_visit(&state->lanes, first, last);
  return visit_all(state, W, state->order->order + first, last - first, r);
}

static Change sweep_serial(State *state, const scree_Operator *W, double *r) {
  const int *start = state->in_lanes ? state->lanes.start : state->order->start;
  return visit_items(state, W, 0, start[state->order->colours], r);
}

static Change sweep_parallel(State *state, const scree_Operator *W, double *r) {
  const scree_Colouring *colouring = state->order;
  const int *start = state->in_lanes ? state->lanes.start : colouring->start;
  Change total = {0.0, 0.0};
#pragma omp parallel num_threads(W->threads)
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    Change mine = {0.0, 0.0};
    for (int k = 0; k < colouring->colours; ++k) {
      const int contacts = colouring->start[k + 1] - colouring->start[k];
      const int n = start[k + 1] - start[k];
      const bool alone = colouring->serial[k] || contacts < PARALLEL_COLOUR;
      const int lo = alone ? (me ? n : 0) : (int)((long long)n * me / threads);
      const int hi = alone ? n : (int)((long long)n * (me + 1) / threads);
      const Change part = visit_items(state, W, start[k] + lo, start[k] + hi, r);
      widen(&mine, &part);
#pragma omp barrier
    }
#pragma omp critical
    widen(&total, &mine);
  }
  return total;
}

/* ---- the solver -------------------------------------------------------------------------------
 */

static scree_Status check_local(const scree_SolveRun *run, const scree_LocalClass *local) {
  const scree_Problem *p = run->W->problem;
  if (local == &scree_local_exact) return SCREE_OK;
  if (p->flow)
    return scree_fail(run->log, SCREE_BAD_INPUT,
                      "solver nlgs: local=%s does not know non-associated flow; use local=exact",
                      local->name);
  if (p->law == SCREE_ASSOCIATED && !local->associated)
    return scree_fail(run->log, SCREE_BAD_INPUT,
                      "solver nlgs: local=%s solves Coulomb's law only; use local=exact for the "
                      "associated law",
                      local->name);
  for (int c = 0; p->set && c < p->nc; ++c)
    if (p->set[c] != SCREE_SET_CONE && p->set[c] != SCREE_SET_HALF_LINE)
      return scree_fail(run->log, SCREE_BAD_INPUT,
                        "solver nlgs: local=%s knows cones only and contact %d has another set; "
                        "use local=exact",
                        local->name, c);
  return SCREE_OK;
}

/* The order of the visits, and the lanes if they go by lanes. */
static scree_Status prepare_order(State *state, const scree_SolveRun *run, int order,
                                  scree_Arena *arena) {
  const scree_Operator *W = run->W;
  scree_KeptGraph *graph = &run->cache->graph;
  const bool lanes = state->local == &scree_local_exact && scree_lanes_fit(W->problem);
  const int enough = lanes ? LANED_CONTACTS : COLOURED_CONTACTS;
  const bool coloured =
      order == ORDER_COLOURED || (order == ORDER_AUTO && W->problem->nc >= enough);
  state->in_lanes = coloured && lanes;
  scree_Status status = scree_kept_graph_order(graph, W, coloured, run->log, &state->order);
  if (status || !state->in_lanes) return status;
  const scree_LaneLayout *layout;
  status = scree_kept_graph_layout(graph, W, run->log, &layout);
  if (!status) status = scree_lanes_create(W, state->order, layout, arena, &state->lanes, run->log);
  return status;
}

static scree_Status create_in(const scree_SolveRun *run, const Options *o, scree_Arena *arena,
                              void **out) {
  const scree_Operator *W = run->W;
  scree_Status status = check_local(run, locals[o->local]);
  if (status) return status;
  State *state = SCREE_TAKE(arena, State, 1);
  if (!state) return scree_fail_memory(run->log, "nlgs");
  state->local = locals[o->local];
  state->check = o->check;
  state->poll = run->poll;
  state->parameters = (scree_LocalParameters){.law = W->problem->law,
                                              .rho = o->rho,
                                              .rho_factor = o->rho_factor,
                                              .gamma_n = o->gamma_n,
                                              .gamma_t = o->gamma_t,
                                              .newton_tolerance = o->newton_tolerance,
                                              .newton_iterations = o->newton_iterations};
  state->y = SCREE_TAKE(arena, double, W->state_size);
  if (!state->y) return scree_fail_memory(run->log, "the velocities of bodies");
  status = prepare_order(state, run, o->order, arena);
  *out = state;
  return status;
}

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  return create_in(run, options, &run->cache->work, out);
}

scree_Status scree_nlgs_create_smoother(const scree_SolveRun *run, scree_Arena *arena, void **out) {
  Options preset;
  scree_options_init(&scree_solver_nlgs.options, &preset);
  const scree_Status status = create_in(run, &preset, arena, out);
  if (status) *out = NULL;
  return status;
}

/* Most sweeps until the next measurement, when `sweeps` are done: few enough that a time limit is
 * kept to a fraction of a second. */
static int next_group(const State *state, const scree_SolveRun *run, int sweeps) {
  if (state->check > 0) return state->check;
  if (run->measure_often) return 1;
  const int most = 2000000 / (run->W->problem->nc + 1), group = 1 + sweeps / 2;
  return group < most ? group : most > 1 ? most : 1;
}

double scree_nlgs_sweep(void *memory, const scree_Operator *W, int sweeps, double small,
                        double relaxation, bool resume, double *r, double *u, int *done) {
  State *state = memory;
  state->lanes.relaxation = relaxation;
  const bool parallel =
      W->threads > 1 && state->order->colours > 1 && W->problem->nc >= COLOURED_CONTACTS;
  double change = INFINITY;
  long long visits = 0;
  if (!resume) {
    scree_operator_state(W, r, state->y);
    state->stale = 0;
  }
  if (state->in_lanes) scree_lanes_set(&state->lanes, r, state->y, W->threads);
  for (*done = 0; *done < sweeps && !(change <= small); ++*done) { /* also when not a number */
    const Change last = parallel ? sweep_parallel(state, W, r) : sweep_serial(state, W, r);
    change = last.normal + sqrt(last.tangent2);
    if ((visits += W->problem->nc) < POLL_VISITS) continue;
    visits = 0;
    if (scree_poll(state->poll)) sweeps = *done; /* the run ends at its next measurement */
  }
  if (state->in_lanes) scree_lanes_get(&state->lanes, r, W->threads);
  state->stale += *done;
  if (state->in_lanes && state->stale < FRESH_SWEEPS) {
    scree_lanes_state(&state->lanes, state->y, W->threads);
  } else {
    scree_operator_state(W, r, state->y);
    state->stale = 0;
  }
  scree_operator_velocity(W, r, state->y, W->problem->q, u);
  return change;
}

bool scree_nlgs_sweeps_balls(const void *memory) {
  const State *state = memory;
  return state->in_lanes && state->lanes.balls;
}

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *state = memory;
  const scree_Operator *W = run->W;
  const bool estimate = !run->measure_often && state->check == 0;
  double small = -1.0; /* a change at which the tolerance is likely to be met; none is known yet */
  scree_operator_apply(W, r, W->problem->q, state->y, u);
  /* a start that already satisfies the law is not touched; papers count at least one sweep */
  if (!run->measure_often && scree_solve_run_stop(run, r, u, INFINITY)) return SCREE_OK;
  for (int sweeps = 0, group = 1;;) {
    const int most = run->settings->max_iterations;
    int done;
    if (most && most - run->iterations < group) group = most - run->iterations;
    const double change = scree_nlgs_sweep(state, W, group, small, 1.0, true, r, u, &done);
    sweeps += done;
    run->iterations += done;
    if (scree_solve_run_stop(run, r, u, change)) return SCREE_OK;
    if (estimate) small = change * (run->settings->tolerance / run->value);
    group = next_group(state, run, sweeps);
  }
}

static const scree_Option options[] = {
    {"local", SCREE_OPTION_CHOICE, offsetof(Options, local), 0, 0, 0, false, local_names,
     "what is done at one contact"},
    {"rho", SCREE_OPTION_REAL, offsetof(Options, rho), 0, 0, 1e300, true, NULL,
     "descent parameter of sbp, sal, ebp, eal, ibp (force convention of 001); auto scales with W"},
    {"rho_factor", SCREE_OPTION_REAL, offsetof(Options, rho_factor), 1, 1e-6, 1e6, false, NULL,
     "multiplies the automatic rho (alpha of 001 table IV)"},
    {"gamma_n", SCREE_OPTION_REAL, offsetof(Options, gamma_n), 0, 0, 1e300, true, NULL,
     "normal active-set parameter of epdas, ipdas (000 section 5)"},
    {"gamma_t", SCREE_OPTION_REAL, offsetof(Options, gamma_t), 0, 0, 1e300, true, NULL,
     "tangential active-set parameter of epdas, ipdas"},
    {"newton_tolerance", SCREE_OPTION_REAL, offsetof(Options, newton_tolerance), 1e-12, 0, 1, false,
     NULL, "stop of the local Newton of ebp, eal, relative (001 (28))"},
    {"newton_iterations", SCREE_OPTION_INT, offsetof(Options, newton_iterations), 100, 1, 100000,
     false, NULL, "most local Newton iterations of ebp, eal"},
    {"order", SCREE_OPTION_CHOICE, offsetof(Options, order), ORDER_AUTO, 0, 0, false, order_names,
     "order of the contacts; auto colours large problems"},
    {"check", SCREE_OPTION_INT, offsetof(Options, check), 0, 1, 1000000, true, NULL,
     "sweeps between two measurements; auto spaces them out"},
};

const scree_SolverClass scree_solver_nlgs = {
    .name = "nlgs",
    .summary = "non-linear Gauss-Seidel with a choice of local solvers",
    .reference = "000 section 4.3 and 5; 001 section 3",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSOCIATED |
                    SCREE_CAN_ASSEMBLED | SCREE_CAN_BODIES | SCREE_CAN_ALL_SETS | SCREE_CAN_FLOW,
    .max_iterations = 100000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
};
