/* pgd, apgd, apgd-as, apgd-ar, apgd-asr: projected gradients on the dual (003 section 3.1.2)
 *
 *     min over r in Y of f(r) = 1/2 r'Wr + q'r ,        grad f(r) = W r + q = u
 *
 * which is the associated law (with half-lines or mu = 0, frictionless contact). One family:
 *
 *     r+ = P_Y(y - g/L)                                  g = grad f(y)
 *     PGD    y+ = r+
 *     APGD   theta+ = (theta sqrt(4 + theta^2) - theta^2)/2,
 *            beta = theta(1 - theta)/(theta^2 + theta+),  y+ = r+ + beta (r+ - r)    (Nesterov)
 *     -AS    step: L doubles while f(r+) > f(y) + g.(r+ - y) + L/2 |r+ - y|^2, and is multiplied by
 *            0.97 after the iteration. f is quadratic, so the test is whether L is below the
 *            curvature (r+ - y)'W(r+ - y)/|r+ - y|^2; this form avoids cancellation.
 *     -AR    restart: theta = 1 and y = r+ when g.(r+ - r) > 0
 *
 * (003's algorithms as corrected by the readings that repeat its Table 1: the printed loop tests
 * are reversed, the step test compares with f(y), a restart also resets y.)
 *
 * One product with W per iteration: since grad f is affine, the gradient at y+ is the same
 * combination of the velocities at r+ and r as y+ is of r+ and r. The velocities at r are always
 * recomputed, so round-off does not accumulate, and measuring the iterate costs no product.
 *
 * The step. With `rho` given, L = 1/rho in the plain norm, as printed. With rho = auto the norm is
 * weighted per contact (gradient.h) and L comes from a Lanczos estimate, which is a lower bound; so
 * the curvature of every step is checked, and L is raised when a step shows a larger one. */
#include "solver/gradient.h"

#include "core/log.h"
#include "math/vector.h"
#include "solver/solver.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Which member of the family. */
enum { ACCELERATED = 1, ADAPTIVE_STEP = 2, RESTART = 4 };

enum {
  MEASURE_EVERY = 5
}; /* iterations between measures of the error, about 1/3 of an iteration */

static const double step_growth = 0.97, step_cut = 2.0; /* of L, 003 section 3.1.2 */
static const double eigenvalue_margin = 1.05;           /* on the Lanczos estimate */

typedef struct Options {
  double rho; /* 0: automatic */
} Options;

/* Sums over all contacts that one iteration needs. */
typedef struct Sums {
  double distance;  /* |r+ - y|_w^2 */
  double curvature; /* (r+ - y)'W(r+ - y) */
  double descent;   /* g.(r+ - r) */
  double increment; /* |r+ - r|^2 */
  double old_size;  /* |r|^2 */
  double size;      /* |r+|_w^2 */
} Sums;

typedef struct Gradient {
  Options options;
  unsigned kind;
  double *w;                              /* (constraints) weights of the metric */
  double *memory;                         /* the five below, one after the other */
  double *y, *g, *r_next, *u_next, *best; /* (rows) each */
  double *state;                          /* (W->state_size) */
  double L;                               /* initial value */
} Gradient;

static scree_Status create(const scree_SolveRun *run, const void *options, unsigned kind,
                           void **state) {
  const size_t nc = (size_t)run->W->constraints, n = run->W->rows;
  scree_Arena *work = &run->cache->work;
  Gradient *s = SCREE_TAKE(work, Gradient, 1);
  if (!s) return scree_fail_memory(run->log, "the gradient method");
  memcpy(&s->options, options, sizeof s->options);
  s->kind = kind;
  s->w = SCREE_TAKE(work, double, nc);
  s->memory = SCREE_TAKE(work, double, 5 * n);
  s->state = SCREE_TAKE(work, double, run->W->state_size);
  const bool enough = s->w && s->memory && s->state;
  const scree_Status status = scree_ranks_agree(
      scree_ranks_of(run->W),
      enough ? SCREE_OK : scree_fail_memory(run->log, "the vectors of the gradient method"),
      run->log);
  if (status) return status;
  s->y = s->memory;
  s->g = s->y + n;
  s->r_next = s->g + n;
  s->u_next = s->r_next + n;
  s->best = s->u_next + n;
  if (s->options.rho > 0.0) {
    for (size_t c = 0; c < nc; ++c) s->w[c] = 1.0;
    s->L = 1.0 / s->options.rho;
  } else {
    scree_gradient_weights(run->W, s->w);
    s->L = eigenvalue_margin * scree_gradient_eigenvalue(run->W, s->w, s->memory, s->state);
  }
  *state = s;
  return SCREE_OK;
}

/* The part of rows first .. end-1, those of a constraint with weight w. */
SCREE_INLINE void add_rows(size_t first, size_t end, double w, const double *y, const double *g,
                           const double *r, const double *r_next, const double *u_next, Sums *s) {
  double distance = 0.0, size = 0.0;
  for (size_t k = first; k < end; ++k) {
    const double step = r_next[k] - y[k], change = r_next[k] - r[k];
    distance += step * step;
    size += r_next[k] * r_next[k];
    s->curvature += step * (u_next[k] - g[k]);
    s->descent += g[k] * change;
    s->increment += change * change;
    s->old_size += r[k] * r[k];
  }
  s->distance += w * distance;
  s->size += w * size;
}

/* Sums over contacts begin .. end-1; d is a literal. */
SCREE_INLINE Sums sum_range(int d, size_t begin, size_t end, const double *w, const double *y,
                            const double *g, const double *r, const double *r_next,
                            const double *u_next) {
  Sums s = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (size_t c = begin; c < end; ++c)
    add_rows(c * (size_t)d, (c + 1) * (size_t)d, w[c], y, g, r, r_next, u_next, &s);
  return s;
}

static void add_sums(Sums *s, const Sums *part) {
  s->distance += part->distance;
  s->curvature += part->curvature;
  s->descent += part->descent;
  s->increment += part->increment;
  s->old_size += part->old_size;
  s->size += part->size;
}

static Sums sum_all(const scree_Operator *W, const Gradient *m, const double *y, const double *g,
                    const double *r, const double *r_next, const double *u_next) {
  const size_t nc = (size_t)W->problem->nc;
  const int d = W->problem->d;
  Sums partial[SCREE_CHUNKS], s = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  SCREE_OVER_CHUNKS(chunk, nc * (size_t)d, W->threads) {
    size_t begin, end;
    scree_chunk(nc, chunk, &begin, &end);
    partial[chunk] = d == 2 ? sum_range(2, begin, end, m->w, y, g, r, r_next, u_next)
                            : sum_range(3, begin, end, m->w, y, g, r, r_next, u_next);
  }
  for (int chunk = 0; chunk < SCREE_CHUNKS; ++chunk) add_sums(&s, &partial[chunk]);
  for (int c = W->problem->nc; c < W->constraints; ++c)
    add_rows(scree_row_of(W, c), scree_row_of(W, c) + (size_t)scree_rows_of(W, c), m->w[c], y, g, r,
             r_next, u_next, &s);
  scree_ranks_sums(scree_ranks_of(W), (double *)&s, sizeof s / sizeof(double));
  return s;
}

/* |q| in the norm dual to |.|_w */
static double dual_norm(const scree_Operator *W, const double *w, const double *q) {
  double sum = 0.0;
  for (int c = 0; c < W->constraints; ++c) {
    const size_t at = scree_row_of(W, c), end = at + (size_t)scree_rows_of(W, c);
    for (size_t i = at; i < end; ++i) sum += q[i] * q[i] / w[c];
  }
  return sqrt(scree_ranks_sum(scree_ranks_of(W), sum));
}

/* Whether the step shows a curvature above L. The velocities carry rounding of the order of eps
 * (|q| + L |r|); a curvature within its effect does not raise L. */
static bool too_curved(const Sums *s, double L, double q_norm) {
  assert(L > 0.0);
  const double noise = 32.0 * DBL_EPSILON * sqrt(s->distance) * (q_norm + L * sqrt(s->size));
  return s->curvature > L * s->distance + noise;
}

/* y = r+ + beta (r+ - r) and the gradient there. */
static void extrapolate(const scree_Operator *W, Gradient *m, double beta, const double *r,
                        const double *u) {
  const size_t n = W->rows;
  const double *r_next = m->r_next, *u_next = m->u_next;
  double *y = m->y, *g = m->g;
  SCREE_OVER_CHUNKS(chunk, n, W->threads) {
    size_t begin, end;
    scree_chunk(n, chunk, &begin, &end);
#pragma omp simd
    for (size_t k = begin; k < end; ++k) {
      y[k] = r_next[k] + beta * (r_next[k] - r[k]);
      g[k] = u_next[k] + beta * (u_next[k] - u[k]);
    }
  }
}

static void swap(double **a, double **b) {
  double *t = *a;
  *a = *b;
  *b = t;
}

/* One iteration from y, g with the gradient at r in u: r_next and u_next; raises L if needed. */
static Sums iterate(Gradient *m, scree_SolveRun *run, const double *y, const double *g,
                    const double *r, double q_norm, double *L) {
  const scree_Operator *W = run->W;
  for (;;) {
    scree_gradient_step(W, m->w, 1.0 / *L, y, g, m->r_next);
    scree_operator_apply(W, m->r_next, W->problem->q, m->state, m->u_next);
    const Sums s = sum_all(W, m, y, g, r, m->r_next, m->u_next);
    const bool redo = (m->kind & ADAPTIVE_STEP) && too_curved(&s, *L, q_norm);
    if (!redo || scree_solve_run_exhausted(run)) {
      if (!(m->kind & ADAPTIVE_STEP) && m->options.rho == 0.0 && too_curved(&s, *L, q_norm))
        *L = eigenvalue_margin * s.curvature / s.distance;
      return s;
    }
    *L *= step_cut;
  }
}

static scree_Status solve(void *state, scree_SolveRun *run, double *r, double *u) {
  Gradient *m = state;
  const scree_Operator *W = run->W;
  const size_t n = W->rows;
  double *const r_out = r, *const u_out = u, *const memory_r = m->r_next,
                *const memory_u = m->u_next;
  double L = m->L, L_last = L, theta = 1.0, best = INFINITY;
  const bool follow = m->options.rho == 0.0 && !(m->kind & RESTART);
  const double q_norm = dual_norm(W, m->w, W->problem->q);

  scree_gradient_step(W, m->w, 0.0, r, NULL, r);
  scree_operator_apply(W, r, W->problem->q, m->state, u);
  bool extrapolated = false; /* else y = r and g = u */
  bool stop = scree_solve_run_stop(run, r, u, INFINITY);
  while (!stop) {
    const Sums s = iterate(m, run, extrapolated ? m->y : r, extrapolated ? m->g : u, r, q_norm, &L);
    ++run->iterations;
    extrapolated = false;
    if (m->kind & ACCELERATED) {
      /* (1 - theta+)/theta+^2 = (L/L_last)/theta^2; 003's recursion when the ratio is 1 */
      const double c = theta * theta * (follow ? L_last / L : 1.0);
      const double next = 0.5 * (sqrt(c * c + 4.0 * c) - c);
      const double beta = next * (1.0 - theta) / theta;
      L_last = L;
      const bool restart = (m->kind & RESTART) && s.descent > 0.0;
      theta = restart ? 1.0 : next;
      extrapolated = !restart && beta > 0.0;
      if (extrapolated) extrapolate(W, m, beta, r, u);
    }
    if (m->kind & ADAPTIVE_STEP) L *= step_growth;
    swap(&r, &m->r_next);
    swap(&u, &m->u_next);
    if (run->measure_often || run->iterations <= MEASURE_EVERY ||
        run->iterations % MEASURE_EVERY == 0) {
      stop = scree_solve_run_stop(run, r, u, sqrt(s.increment) / (sqrt(s.old_size) + 1.0));
      if (run->value < best && !stop && run->settings->measure != SCREE_MEASURE_INCREMENT) {
        best = run->value;
        scree_vector_copy(n, r, m->best, W->threads);
      }
    } else {
      stop = scree_solve_run_exhausted(run);
    }
  }
  /* limit reached: return the best iterate that was measured, since these methods are not
   * monotone */
  if (!run->met && best < run->value) {
    scree_vector_copy(n, m->best, r_out, W->threads);
    scree_operator_apply(W, r_out, W->problem->q, m->state, u_out);
  } else if (r != r_out) {
    scree_vector_copy(n, r, r_out, W->threads);
    scree_vector_copy(n, u, u_out, W->threads);
  }
  m->r_next = memory_r;
  m->u_next = memory_u;
  return SCREE_OK;
}

static scree_Status create_pgd(const scree_SolveRun *run, const void *options, void **state) {
  return create(run, options, 0, state);
}

static scree_Status create_apgd(const scree_SolveRun *run, const void *options, void **state) {
  return create(run, options, ACCELERATED, state);
}

static scree_Status create_as(const scree_SolveRun *run, const void *options, void **state) {
  return create(run, options, ACCELERATED | ADAPTIVE_STEP, state);
}

static scree_Status create_ar(const scree_SolveRun *run, const void *options, void **state) {
  return create(run, options, ACCELERATED | RESTART, state);
}

static scree_Status create_asr(const scree_SolveRun *run, const void *options, void **state) {
  return create(run, options, ACCELERATED | ADAPTIVE_STEP | RESTART, state);
}

static const scree_Option option_list[] = {
    {.name = "rho",
     .type = SCREE_OPTION_REAL,
     .offset = offsetof(Options, rho),
     .preset = 0.0,
     .min = DBL_MIN,
     .max = DBL_MAX,
     .automatic = true,
     .help = "step length (first step if adaptive); auto: from the largest eigenvalue of W"},
};

#define GRADIENT_CLASS(identifier, name_, summary_, create_)                                       \
  const scree_SolverClass identifier = {                                                           \
      .name = name_,                                                                               \
      .summary = summary_,                                                                         \
      .reference = "003 section 3.1.2",                                                            \
      .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_ASSOCIATED | SCREE_CAN_ASSEMBLED |   \
                      SCREE_CAN_BODIES | SCREE_CAN_ANY_SIZE | SCREE_CAN_RANKS,                     \
      .sets = SCREE_SETS_ALL,                                                                      \
      .max_iterations = 200000,                                                                    \
      .options = {option_list, 1, sizeof(Options)},                                                \
      .create = create_,                                                                           \
      .solve = solve}

GRADIENT_CLASS(scree_solver_pgd, "pgd", "projected gradient with a fixed step (003 Algorithm 1)",
               create_pgd);
GRADIENT_CLASS(scree_solver_apgd, "apgd",
               "accelerated projected gradient, Nesterov's momentum (003 Algorithm 2)",
               create_apgd);
GRADIENT_CLASS(scree_solver_apgd_as, "apgd-as", "apgd with an adaptive step", create_as);
GRADIENT_CLASS(scree_solver_apgd_ar, "apgd-ar", "apgd with an adaptive restart", create_ar);
GRADIENT_CLASS(scree_solver_apgd_asr, "apgd-asr", "apgd with an adaptive step and restart",
               create_asr);
