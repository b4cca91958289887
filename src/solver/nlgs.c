/* nlgs: non-linear Gauss-Seidel. Contacts are visited one after the other; in each visit the others
 * are frozen and a local solver (local.h) computes the new impulse of the contact.
 *
 *     repeat  for c in order:  u_c = (W r + q)_c;  r_c <- local(W_cc, u_c, r_c);  update y
 *
 * References: 000 section 4.3, 001 section 3.1 (Jean and Moreau).
 *
 * Measuring costs several sweeps of a small problem, so for the library's own measures it is done
 * when the change of a sweep has fallen by the factor by which the error still has to fall (the two
 * are nearly proportional, and each measurement updates the factor), and in any case at intervals
 * of half of the sweeps done; a paper's measure is checked after every sweep, as in the paper. Only
 * the exact local solver supports sets other than cones. The sweeps themselves are in sweep.c. */
#include "core/log.h"
#include "solver/registry.h"
#include "solver/sweep.h"

#include <math.h>

typedef struct Options {
  int local;
  double rho, rho_factor, gamma_n, gamma_t, newton_tolerance;
  int newton_iterations;
  int order, check, ranks;
} Options;

static const scree_LocalClass *const locals[] = {
    &scree_local_exact, &scree_local_sbp, &scree_local_sal,   &scree_local_ebp,
    &scree_local_eal,   &scree_local_ibp, &scree_local_epdas, &scree_local_ipdas,
};
static const char *const local_names[] = {"exact", "sbp",   "sal",   "ebp", "eal",
                                          "ibp",   "epdas", "ipdas", NULL};
static const char *const ranks_names[] = {"exact", "relaxed", NULL};
static const char *const order_names[] = {"auto", "natural", "coloured", NULL};

typedef struct State {
  scree_SweepSettings settings;
  scree_Sweeps *sweeps; /* made by the first solve */
  int check;
} State;

/* ---- the solver -------------------------------------------------------------------------------
 */

static scree_Status check_local(const scree_SolveRun *run, const scree_LocalClass *local) {
  const scree_Problem *p = run->W->problem;
  if (local == &scree_local_exact) return SCREE_OK;
  if (p->flow_blocks)
    return scree_fail(run->log, SCREE_BAD_INPUT,
                      "solver nlgs: local=%s does not support non-associated flow; use local=exact",
                      local->name);
  if (p->flow == SCREE_ASSOCIATED && !local->associated)
    return scree_fail(run->log, SCREE_BAD_INPUT,
                      "solver nlgs: local=%s solves Coulomb's law only; use local=exact for the "
                      "associated law",
                      local->name);
  for (int c = 0; p->set && c < p->nc; ++c)
    if (p->set[c] != SCREE_SET_CONE && p->set[c] != SCREE_SET_HALF_LINE)
      return scree_fail(run->log, SCREE_BAD_INPUT,
                        "solver nlgs: local=%s supports cones only and contact %d has another set; "
                        "use local=exact",
                        local->name, c);
  return SCREE_OK;
}

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  const Options *o = options;
  scree_Arena *work = &run->cache->work;
  const scree_Status status = check_local(run, locals[o->local]);
  if (status) return status;
  State *state = SCREE_TAKE(work, State, 1);
  if (!state) return scree_fail_memory(run->log, "nlgs");
  state->check = o->check;
  const scree_SweepSettings settings = {.local = locals[o->local],
                                        .parameters = {.rho = o->rho,
                                                       .rho_factor = o->rho_factor,
                                                       .gamma_n = o->gamma_n,
                                                       .gamma_t = o->gamma_t,
                                                       .newton_tolerance = o->newton_tolerance,
                                                       .newton_iterations = o->newton_iterations},
                                        .order = (scree_SweepOrder)o->order,
                                        .between = (scree_SweepRanks)o->ranks};
  state->settings = settings;
  *out = state;
  return SCREE_OK;
}

/* Largest number of sweeps until the next measurement, after `sweeps` sweeps: small enough that a
 * time limit is met to a fraction of a second. */
static int next_group(const State *state, const scree_SolveRun *run, int sweeps) {
  if (state->check > 0) return state->check;
  if (run->measure_often) return 1;
  const int most = (int)(2000000 / (scree_all_constraints(run->W) + 1)), group = 1 + sweeps / 2;
  return group < most ? group : most > 1 ? most : 1;
}

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *state = memory;
  const scree_Operator *W = run->W;
  const bool estimate = !run->measure_often && state->check == 0;
  scree_SweepPlan plan = {.count = 1, .small = -1.0, .resume = true};
  if (!state->sweeps) {
    scree_Status status =
        scree_sweeps_create(run, &state->settings, r, &run->cache->work, &state->sweeps);
    status = scree_ranks_agree(scree_ranks_of(W), status, run->log);
    if (status) return status;
  }
  scree_sweeps_start(state->sweeps, W, r, u);
  /* a start that already satisfies the law is returned unchanged; papers count at least one
   * sweep */
  if (!run->measure_often && scree_solve_run_stop(run, r, u, INFINITY)) return SCREE_OK;
  for (int sweeps = 0;;) {
    const int most = run->settings->max_iterations;
    int done;
    if (most && most - run->iterations < plan.count) plan.count = most - run->iterations;
    const double change = scree_sweeps_run(state->sweeps, W, &plan, r, u, &done);
    sweeps += done;
    run->iterations += done;
    if (scree_solve_run_stop(run, r, u, change)) return SCREE_OK;
    /* a change at which the tolerance is likely to be met */
    if (estimate) plan.small = change * (run->settings->tolerance / run->value);
    plan.count = next_group(state, run, sweeps);
  }
}

static const scree_Option options[] = {
    {"local", SCREE_OPTION_CHOICE, offsetof(Options, local), 0, 0, 0, false, local_names,
     "local solver for one contact"},
    {"rho", SCREE_OPTION_REAL, offsetof(Options, rho), 0, 0, 1e300, true, NULL,
     "descent parameter of sbp, sal, ebp, eal, ibp (force convention of 001); auto: scaled with W"},
    {"rho_factor", SCREE_OPTION_REAL, offsetof(Options, rho_factor), 1, 1e-6, 1e6, false, NULL,
     "factor on the automatic rho (alpha of 001 table IV)"},
    {"gamma_n", SCREE_OPTION_REAL, offsetof(Options, gamma_n), 0, 0, 1e300, true, NULL,
     "normal active-set parameter of epdas, ipdas (000 section 5)"},
    {"gamma_t", SCREE_OPTION_REAL, offsetof(Options, gamma_t), 0, 0, 1e300, true, NULL,
     "tangential active-set parameter of epdas, ipdas"},
    {"newton_tolerance", SCREE_OPTION_REAL, offsetof(Options, newton_tolerance), 1e-12, 0, 1, false,
     NULL, "relative tolerance of the local Newton method of ebp, eal (001 (28))"},
    {"newton_iterations", SCREE_OPTION_INT, offsetof(Options, newton_iterations), 100, 1, 100000,
     false, NULL, "largest number of local Newton iterations of ebp, eal"},
    {"order", SCREE_OPTION_CHOICE, offsetof(Options, order), SCREE_ORDER_AUTO, 0, 0, false,
     order_names, "order of the contacts; auto: coloured for large problems"},
    {"check", SCREE_OPTION_INT, offsetof(Options, check), 0, 1, 1000000, true, NULL,
     "number of sweeps between two measurements; auto: increasing"},
    {"ranks", SCREE_OPTION_CHOICE, offsetof(Options, ranks), SCREE_RANKS_EXACT, 0, 0, false,
     ranks_names, "on several ranks: exact: the sweeps of one rank; relaxed: fewer messages"},
};

const scree_SolverClass scree_solver_nlgs = {
    .name = "nlgs",
    .summary = "non-linear Gauss-Seidel with a choice of local solvers",
    .reference = "000 section 4.3 and 5; 001 section 3",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSOCIATED |
                    SCREE_CAN_ASSEMBLED | SCREE_CAN_BODIES | SCREE_CAN_FLOW | SCREE_CAN_ANY_SIZE |
                    SCREE_CAN_RANKS,
    .sets = SCREE_SETS_ALL,
    .max_iterations = 100000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
};
