/* pqn: the projected quasi-Newton method of Koziara (004, algorithm 1).
 *
 *     repeat  u = W r + q;   C, X, Y of every contact at (u, r)
 *             solve (X W + Y + delta I) dr = C  by GMRES, to eps |C| or m iterations
 *             r <- P_K(r - dr)
 *
 * with the smoothed map C_w of pqn_map.h and the inverted diagonal blocks of the matrix as
 * preconditioner. W is only applied, so both forms of the problem are supported without forming
 * a matrix. After n iterations without convergence Gauss-Seidel continues from the best point.
 *
 * Scales. The paper's C compares impulses with velocities and its omega is a velocity, so both
 * depend on units. Here s = w r with w the mean of diag W takes the place of r, and omega is
 * relative to the mean size of q; then delta relative to the mean of diag W is the paper's.
 * scaled=no gives the paper's own form, w = 1.
 *
 * Defaults are those of table 1, except delta: 0 there, which leaves the matrix singular whenever
 * contacts outnumber degrees of freedom; 0.01 of the mean of diag W is the paper's recommendation
 * for rigid bodies (table 3) after its sensitivity studies.
 *
 * GMRES is SPGMR of SUNDIALS with vector operations of this library (pqn_vector.h), or PETSc's on
 * several ranks (parallel/krylov.h), as in 004 section 7. */
#include "core/log.h"
#include "math/vector.h"
#include "parallel/krylov.h"
#include "problem/set_inline.h"
#include "solver/pqn_map.h"
#include "solver/pqn_vector.h"
#include "solver/registry.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <sunlinsol/sunlinsol_spgmr.h>

enum { DELTA_ABSOLUTE, DELTA_MIN, DELTA_MEAN, DELTA_MAX };

typedef struct Options {
  double omega, delta, epsilon;
  int delta_scale, krylov, restart, iterations, products;
  bool scaled, fallback;
  int gmres;
} Options;

enum { GMRES_SUNDIALS, GMRES_PETSC };

static const char *const gmres_names[] = {"sundials", "petsc", NULL};
static const char *const delta_names[] = {"absolute", "min", "mean", "max", NULL};

typedef struct State {
  Options options;
  const scree_Operator *W;
  double weight;       /* w: s = w r */
  double omega, delta; /* in the units of s and of C */
  size_t n;            /* rows */
  double *s, *best;    /* (n) impulses in units of velocity; the best of them so far */
  double *C, *step;    /* (n) */
  double *product;     /* (n) W v */
  double *X, *Y, *P;   /* (squares) derivatives, inverted diagonal blocks */
  double *y;           /* state of W */
  int products;        /* with W, inside GMRES */
  scree_Poll *poll;    /* of the run */
  SUNContext context;
  SUNLinearSolver gmres;    /* or: */
  scree_Krylov *shared;     /* PETSc's */
  N_Vector right, solution; /* views of C and step */
} State;

static double friction(const scree_Problem *p, int c) {
  return p->set && !scree_set_has_cone((scree_SetKind)p->set[c]) ? 0.0 : p->mu[c];
}

static bool is_joint(const scree_Problem *p, int c) {
  return p->set && p->set[c] == SCREE_SET_SPACE;
}

/* ---- the linear system ------------------------------------------------------------------------
 */

/* P = inverse of A (d x d) by Gauss-Jordan with row pivots; the identity if A is singular. */
static void invert(int d, double *A, double *P) {
  double size = 0.0;
  for (int i = 0; i < d * d; ++i) {
    P[i] = i % (d + 1) == 0 ? 1.0 : 0.0;
    size = fmax(size, fabs(A[i]));
  }
  for (int k = 0; k < d; ++k) {
    int pivot = k;
    for (int i = k + 1; i < d; ++i)
      if (fabs(A[i * d + k]) > fabs(A[pivot * d + k])) pivot = i;
    if (!(fabs(A[pivot * d + k]) > DBL_EPSILON * size)) {
      for (int i = 0; i < d * d; ++i) P[i] = i % (d + 1) == 0 ? 1.0 : 0.0;
      return;
    }
    for (int j = 0; j < d; ++j) {
      const double a = A[k * d + j], b = P[k * d + j];
      A[k * d + j] = A[pivot * d + j], P[k * d + j] = P[pivot * d + j];
      A[pivot * d + j] = a, P[pivot * d + j] = b;
    }
    const double scale = 1.0 / A[k * d + k];
    for (int j = 0; j < d; ++j) A[k * d + j] *= scale, P[k * d + j] *= scale;
    for (int i = 0; i < d; ++i) {
      const double factor = A[i * d + k];
      if (i == k) continue;
      for (int j = 0; j < d; ++j) {
        A[i * d + j] -= factor * A[k * d + j];
        P[i * d + j] -= factor * P[k * d + j];
      }
    }
  }
}

/* The equation of constraints that are not cones: u = 0 for a joint, and for a stop (a half-line of
 * any size) the map of a frictionless contact, which does not mix its rows. */
static void map_rows(const State *state, bool joint, int d, const double *u, const double *s,
                     double *C, double *X, double *Y) {
  for (int i = 0; i < d * d; ++i) X[i] = Y[i] = 0.0;
  for (int i = 0; i < d; ++i) {
    C[i] = joint ? u[i] : s[i];
    X[i * d + i] = joint ? 1.0 : 0.0;
    Y[i * d + i] = joint ? 0.0 : 1.0;
  }
  if (joint) return;
  const double u2[2] = {u[0], 0.0}, s2[2] = {s[0], 0.0};
  double C2[2], X2[4], Y2[4];
  scree_pqn_map(2, 0.0, 0.0, state->omega, u2, s2, C2, X2, Y2);
  C[0] = C2[0];
  X[0] = X2[0];
  Y[0] = Y2[0];
}

/* C, X, Y and the preconditioner of constraint c at velocity u. */
static void linearise(State *state, int c, const double *u) {
  const scree_Operator *W = state->W;
  const scree_Problem *p = W->problem;
  const size_t at = scree_row_of(W, c), block = scree_square_of(W, c);
  const int d = scree_rows_of(W, c);
  const double mu = friction(p, c), slope = p->flow == SCREE_COULOMB ? mu : 0.0;
  double *X = state->X + block, *Y = state->Y + block, room[9];
  double A[SCREE_ROWS_MAX * SCREE_ROWS_MAX];
  const double *Wcc = scree_constraint_diagonal(W, c, room);
  const bool cone = !is_joint(p, c) && (c < p->nc || p->set[c] == SCREE_SET_CONE);
  if (cone)
    scree_pqn_map(d, mu, slope, state->omega, u + at, state->s + at, state->C + at, X, Y);
  else
    map_rows(state, is_joint(p, c), d, u + at, state->s + at, state->C + at, X, Y);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      double sum = 0.0;
      for (int k = 0; k < d; ++k) sum += X[i * d + k] * Wcc[k * d + j];
      A[i * d + j] = sum / state->weight + Y[i * d + j] + (i == j ? state->delta : 0.0);
    }
  invert(d, A, state->P + block);
}

/* z = (X W/w + Y + delta) v */
static void multiply(void *data, const double *v, double *z) {
  State *state = data;
  const scree_Operator *W = state->W;
  const double inverse = 1.0 / state->weight;
  scree_operator_apply(W, v, NULL, state->y, state->product);
  ++state->products;
  SCREE_OVER_CHUNKS(chunk, state->n, W->threads) {
    size_t begin, end;
    scree_chunk((size_t)W->constraints, chunk, &begin, &end);
    for (int c = (int)begin; c < (int)end; ++c) {
      const size_t at = scree_row_of(W, c), block = scree_square_of(W, c);
      const int d = scree_rows_of(W, c);
      const double *X = state->X + block, *Y = state->Y + block;
      const double *Wv = state->product + at, *vc = v + at;
      for (int i = 0; i < d; ++i) {
        double sum = state->delta * vc[i];
        for (int j = 0; j < d; ++j) sum += X[i * d + j] * (inverse * Wv[j]) + Y[i * d + j] * vc[j];
        z[at + (size_t)i] = sum;
      }
    }
  }
}

static void precondition(void *data, const double *v, double *z) {
  const State *state = data;
  const scree_Operator *W = state->W;
  SCREE_OVER_CHUNKS(chunk, state->n, W->threads) {
    size_t begin, end;
    scree_chunk((size_t)W->constraints, chunk, &begin, &end);
    for (int c = (int)begin; c < (int)end; ++c) {
      const size_t at = scree_row_of(W, c);
      const int d = scree_rows_of(W, c);
      const double *P = state->P + scree_square_of(W, c);
      for (int i = 0; i < d; ++i) {
        double sum = 0.0;
        for (int j = 0; j < d; ++j) sum += P[i * d + j] * v[at + (size_t)j];
        z[at + (size_t)i] = sum;
      }
    }
  }
}

/* The same for SUNDIALS; -1, which ends GMRES, when the caller wants to stop. */
static int multiply_vector(void *data, N_Vector v, N_Vector z) {
  const State *state = data;
  multiply(data, N_VGetArrayPointer(v), N_VGetArrayPointer(z));
  if (scree_is_divided(state->W)) return 0; /* ranks agree elsewhere */
  return scree_poll(state->poll) ? -1 : 0;
}

static int precondition_vector(void *data, N_Vector v, N_Vector z, realtype tolerance, int side) {
  (void)tolerance;
  (void)side;
  precondition(data, N_VGetArrayPointer(v), N_VGetArrayPointer(z));
  return 0;
}

static int prepare_nothing(void *data) {
  (void)data;
  return 0;
}

/* step = A^-1 C up to eps |C|. A less accurate result is still a step; false only if GMRES breaks
 * down. */
static bool solve_linear(State *state) {
  const double norm = scree_rows_norm(state->W, state->C);
  memset(state->step, 0, state->n * sizeof *state->step);
  if (!(norm > 0.0)) return norm == 0.0;
  if (state->shared)
    return scree_krylov_solve(state->shared, state->options.epsilon, state->C, state->step);
  SUNLinSolSetZeroGuess(state->gmres, SUNTRUE);
  const int flag = SUNLinSolSolve(state->gmres, NULL, state->solution, state->right,
                                  state->options.epsilon * norm);
  return flag == SUNLS_SUCCESS || flag == SUNLS_RES_REDUCED || flag == SUNLS_CONV_FAIL;
}

/* ---- the method -------------------------------------------------------------------------------
 */

static void project(State *state, const double *step) {
  const scree_Operator *W = state->W;
  SCREE_OVER_CHUNKS(chunk, state->n, W->threads) {
    size_t begin, end;
    scree_chunk((size_t)W->constraints, chunk, &begin, &end);
    for (int c = (int)begin; c < (int)end; ++c) {
      const size_t at = scree_row_of(W, c);
      const int d = scree_rows_of(W, c);
      double *s = state->s + at;
      for (int i = 0; step && i < d; ++i) s[i] -= step[at + (size_t)i];
      if (c < W->problem->nc && !is_joint(W->problem, c)) {
        scree_cone_project(d, friction(W->problem, c), s, s);
      } else { /* cones do not depend on the scale of s, and neither do the others here */
        const scree_Set set = scree_problem_set(W->problem, c);
        scree_set_project(&set, d, s, s);
      }
    }
  }
}

/* r from s, then u = W r + q */
static void velocities(State *state, double *r, double *u) {
  const scree_Operator *W = state->W;
  scree_vector_combine(state->n, 1.0 / state->weight, state->s, 0.0, NULL, r, W->threads);
  scree_operator_apply(W, r, W->problem->q, state->y, u);
}

static scree_Status fall_back(State *state, scree_SolveRun *run, double *r, double *u) {
  scree_vector_combine(state->n, 1.0 / state->weight, state->best, 0.0, NULL, r, state->W->threads);
  run->note = "nlgs after pqn";
  return scree_solve_run_solver(run, &scree_solver_nlgs, NULL, r, u);
}

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *state = memory;
  const scree_Operator *W = state->W;
  double best = INFINITY;
  state->products = 0;
  scree_vector_combine(state->n, state->weight, r, 0.0, NULL, state->s, W->threads);
  project(state, NULL);
  scree_vector_copy(state->n, state->s, state->best, W->threads);
  for (int k = 0;; ++k) {
    velocities(state, r, u);
    const bool stop = scree_solve_run_stop(run, r, u, scree_rows_norm(W, state->step));
    if (run->value < best) {
      best = run->value;
      scree_vector_copy(state->n, state->s, state->best, W->threads);
    }
    if (run->met || (stop && !isnan(run->value))) return SCREE_OK;
    if (stop || isnan(run->value) || k >= state->options.iterations ||
        state->products >= state->options.products)
      break;
    SCREE_OVER_CHUNKS(chunk, state->n, W->threads) {
      size_t begin, end;
      scree_chunk((size_t)W->constraints, chunk, &begin, &end);
      for (size_t c = begin; c < end; ++c) linearise(state, (int)c, u);
    }
    if (!solve_linear(state)) break;
    project(state, state->step);
    ++run->iterations;
  }
  if (state->options.fallback && !scree_solve_run_exhausted(run))
    return fall_back(state, run, r, u);
  scree_vector_copy(state->n, state->best, state->s, W->threads);
  velocities(state, r, u);
  return SCREE_OK;
}

/* ---- create and destroy -----------------------------------------------------------------------
 */

static void destroy(void *memory) {
  State *state = memory;
  scree_krylov_destroy(state->shared);
  if (state->gmres) SUNLinSolFree(state->gmres);
  if (state->right) N_VDestroy(state->right);
  if (state->solution) N_VDestroy(state->solution);
  if (state->context) SUNContext_Free(&state->context);
}

/* weight, omega and delta from the problem's own scales */
static void choose_scales(State *state, const scree_SolveRun *run) {
  const Options *o = &state->options;
  const scree_Operator *W = state->W;
  const int nc = W->constraints;
  double least = INFINITY, largest = 0.0;
  for (int c = 0; c < nc; ++c) {
    double room[9];
    const double *D = scree_constraint_diagonal(W, c, room);
    const int d = scree_rows_of(W, c);
    for (int i = 0; i < d; ++i) {
      least = fmin(least, D[i * d + i]);
      largest = fmax(largest, D[i * d + i]);
    }
  }
  const scree_Ranks *ranks = scree_ranks_of(W);
  least = -scree_ranks_max(ranks, -least);
  largest = scree_ranks_max(ranks, largest);
  const double all = (double)scree_all_constraints(W);
  const double q = scree_rows_norm(W, W->problem->q) / sqrt(fmax(1.0, all));
  const double unit = o->scaled && q > 0.0 ? q : 1.0;
  state->weight = o->scaled ? W->mean_diagonal : 1.0;
  /* of table 1: a thousandth of the tolerance; round-off limits it from below */
  const double omega = o->omega > 0.0 ? o->omega : 1e-3 * run->settings->tolerance;
  state->omega = unit * fmax(omega, 1e-14);
  const double reference[] = {
      [DELTA_ABSOLUTE] = 1.0,
      [DELTA_MIN] = all > 0.0 ? least / state->weight : 1.0,
      [DELTA_MEAN] = W->mean_diagonal / state->weight,
      [DELTA_MAX] = largest / state->weight,
  };
  state->delta = o->delta * reference[o->delta_scale];
}

/* Size of the Krylov space. */
static int restart_of(const Options *options) {
  return options->restart < options->krylov ? options->restart : options->krylov;
}

static bool create_gmres(State *state) {
  const Options *o = &state->options;
  const int size = restart_of(o);
  const int restarts = (o->krylov + size - 1) / size - 1;
  if (SUNContext_Create(NULL, &state->context)) return false;
  state->right = scree_pqn_vector(state->W, state->C, state->context);
  state->solution = scree_pqn_vector(state->W, state->step, state->context);
  if (!state->right || !state->solution) return false;
  state->gmres = SUNLinSol_SPGMR(state->right, SUN_PREC_RIGHT, size, state->context);
  /* on several ranks all products of a new vector with the others are one reduction */
  if (state->gmres && scree_is_divided(state->W))
    SUNLinSol_SPGMRSetGSType(state->gmres, SUN_CLASSICAL_GS);
  return state->gmres && !SUNLinSol_SPGMRSetMaxRestarts(state->gmres, restarts) &&
         !SUNLinSolSetATimes(state->gmres, state, multiply_vector) &&
         !SUNLinSolSetPreconditioner(state->gmres, state, prepare_nothing, precondition_vector) &&
         !SUNLinSolInitialize(state->gmres) && !SUNLinSolSetup(state->gmres, NULL);
}

static bool uses_petsc(const State *state) {
  return state->options.gmres == GMRES_PETSC && scree_is_divided(state->W);
}

static scree_Status create_shared(State *state, const scree_SolveRun *run) {
  if (!SCREE_KRYLOV)
    return scree_fail(run->log, SCREE_BAD_INPUT,
                      "solver pqn: gmres=petsc, and this is a build without PETSc");
  const scree_KrylovSystem system = {.data = state,
                                     .multiply = multiply,
                                     .precondition = precondition,
                                     .rows = state->n,
                                     .restart = restart_of(&state->options),
                                     .most = state->options.krylov};
  return scree_krylov_create(scree_ranks_of(state->W), &system, run->log, &state->shared);
}

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  const scree_Operator *W = run->W;
  const size_t n = W->rows, squares = W->squares;
  scree_Arena *work = &run->cache->work;
  State *state = SCREE_TAKE(work, State, 1);
  if (!state) return scree_fail_memory(run->log, "pqn");
  state->options = *(const Options *)options;
  state->W = W;
  state->poll = run->poll;
  state->n = n;
  double **arrays[] = {&state->s, &state->best, &state->C, &state->step, &state->product,
                       &state->X, &state->Y,    &state->P, &state->y};
  const size_t sizes[] = {n, n, n, n, n, squares, squares, squares, W->state_size};
  bool complete = true;
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k)
    if (!(*arrays[k] = SCREE_TAKE(work, double, sizes[k]))) complete = false;
  complete = complete && (uses_petsc(state) || create_gmres(state));
  scree_Status status = complete ? SCREE_OK : scree_fail_memory(run->log, "pqn");
  status = scree_ranks_agree(scree_ranks_of(W), status, run->log);
  if (!status && uses_petsc(state)) status = create_shared(state, run);
  if (status) {
    destroy(state);
    return status;
  }
  choose_scales(state, run);
  *out = state;
  return SCREE_OK;
}

static const scree_Option options[] = {
    {"omega", SCREE_OPTION_REAL, offsetof(Options, omega), 0, 0, 1, true, NULL,
     "smoothing, relative to the size of q; auto: a thousandth of the tolerance"},
    {"delta", SCREE_OPTION_REAL, offsetof(Options, delta), 0.01, 0, 1e300, false, NULL,
     "regularisation added to the diagonal of the matrix (52)"},
    {"delta_scale", SCREE_OPTION_CHOICE, offsetof(Options, delta_scale), DELTA_MEAN, 0, 0, false,
     delta_names, "scale of delta: the entries of diag W, or none"},
    {"epsilon", SCREE_OPTION_REAL, offsetof(Options, epsilon), 0.25, 0, 1, false, NULL,
     "accuracy of the linear solution, relative to the residual"},
    {"krylov", SCREE_OPTION_INT, offsetof(Options, krylov), 10, 1, 100000, false, NULL,
     "largest number of GMRES iterations in one step (m)"},
    {"restart", SCREE_OPTION_INT, offsetof(Options, restart), 20, 1, 1000, false, NULL,
     "size of the Krylov space after which GMRES restarts"},
    {"iterations", SCREE_OPTION_INT, offsetof(Options, iterations), 1000, 1, 1000000, false, NULL,
     "number of quasi-Newton steps after which Gauss-Seidel continues (n)"},
    {"products", SCREE_OPTION_INT, offsetof(Options, products), 100000, 1, 1000000000, false, NULL,
     "total number of products with W in GMRES after which Gauss-Seidel continues"},
    {"scaled", SCREE_OPTION_BOOL, offsetof(Options, scaled), 1, 0, 0, false, NULL,
     "make the method independent of units; no: the form of the paper"},
    {"fallback", SCREE_OPTION_BOOL, offsetof(Options, fallback), 1, 0, 0, false, NULL,
     "continue with nlgs if the steps do not converge"},
    {"gmres", SCREE_OPTION_CHOICE, offsetof(Options, gmres), GMRES_SUNDIALS, 0, 0, false,
     gmres_names, "implementation of GMRES on several ranks; on one rank that of SUNDIALS"},
};

const scree_SolverClass scree_solver_pqn = {
    .name = "pqn",
    .summary =
        "projected quasi-Newton method on a smoothed equation with GMRES, then nlgs if necessary",
    .reference = "004 (24)-(53), algorithm 1, table 1",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSOCIATED |
                    SCREE_CAN_ASSEMBLED | SCREE_CAN_BODIES | SCREE_CAN_ANY_SIZE | SCREE_CAN_RANKS,
    .sets = SCREE_SETS_CONES | 1 << SCREE_SET_SPACE,
    .max_iterations = 101000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
