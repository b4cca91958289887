/* spg: spectral projected gradient (002 section 10.1; Birgin, Martinez, Raydan's SPG2) on the dual
 *
 *     min over r in Y of f(r) = 1/2 r'Wr + q'r ,        grad f(r) = W r + q = u
 *
 *     d = P_Y(r - alpha u) - r                           the spectral direction, always of descent
 *     r <- r + lambda d                                  lambda from the line search, mostly 1
 *     alpha <- Barzilai-Borwein step of the last d
 *
 * Line search: Grippo, Lampariello and Lucidi's non-monotone rule,
 *     f(r + lambda d) <= max of the last values of f + 1e-4 lambda u.d
 * f is quadratic, so f along d is known exactly from u.d and d'Wd without another evaluation. If
 * lambda = 1 fails, the minimiser along d is taken, which always passes. Values of f are kept as
 * differences from the current one, which avoids cancellation near the solution.
 *
 * Step: the two of Barzilai and Borwein alternately, d'd/d'Wd and d'Wd/|Wd|^2. In |Wd| only
 * contacts that moved count: the others give no information about the curvature on the face of Y
 * that the iterates are on. Chosen among some twenty rules (long only, mixtures by ratio, steps
 * kept for several iterations) and lengths of the history by iterations to 1e-6 or 1e-7 on seven of
 * the problem files: the best on most of them, not on all. In the metric of gradient.h 1 is a
 * suitable first step, in any units.
 *
 * One product with W per iteration, always of the full new point: round-off does not accumulate. */
#include "core/log.h"
#include "math/vector.h"
#include "solver/gradient.h"
#include "solver/solver.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { HISTORY = 50, HISTORY_MAX = 1000, MEASURE_EVERY = 5 };

static const double sufficient_decrease = 1e-4;
static const double step_min = 1e-5, step_max = 1e5; /* of alpha in the metric, whose scale is 1 */

typedef struct Options {
  int history; /* of the line search; 1 makes it monotone */
} Options;

/* Sums of one iteration over all contacts. */
typedef struct Sums {
  double slope;     /* u.d */
  double distance;  /* |d|_w^2 */
  double curvature; /* d'Wd */
  double image;     /* |Wd|^2 over contacts that moved, in the dual norm */
} Sums;

typedef struct Spg {
  Options options;
  double *w;                        /* (constraints) weights of the metric */
  double *memory;                   /* the three below */
  double *r_trial, *u_trial, *best; /* (rows) each */
  double *state;                    /* (W->state_size) */
  double past[HISTORY_MAX];         /* f at earlier iterates minus f now */
} Spg;

static scree_Status create(const scree_SolveRun *run, const void *options, void **state) {
  const size_t nc = (size_t)run->W->constraints, n = run->W->rows;
  scree_Arena *work = &run->cache->work;
  Spg *s = SCREE_TAKE(work, Spg, 1);
  if (!s) return scree_fail_memory(run->log, "the spectral projected gradient");
  memcpy(&s->options, options, sizeof s->options);
  s->w = SCREE_TAKE(work, double, nc);
  s->memory = SCREE_TAKE(work, double, 3 * n);
  s->state = SCREE_TAKE(work, double, run->W->state_size);
  if (!s->w || !s->memory || !s->state)
    return scree_fail_memory(run->log, "the vectors of the spectral projected gradient");
  s->r_trial = s->memory;
  s->u_trial = s->r_trial + n;
  s->best = s->u_trial + n;
  *state = s;
  return SCREE_OK;
}

/* The part of rows first .. end-1, those of a constraint with weight w. */
SCREE_INLINE void add_rows(size_t first, size_t end, double w, const double *r, const double *u,
                           const double *r_trial, const double *u_trial, Sums *s) {
  double distance = 0.0, image = 0.0;
  for (size_t k = first; k < end; ++k) {
    const double step = r_trial[k] - r[k], change = u_trial[k] - u[k];
    s->slope += u[k] * step;
    s->curvature += change * step;
    distance += step * step;
    image += change * change;
  }
  s->distance += w * distance;
  if (distance > 0.0) s->image += image / w;
}

/* Contacts begin .. end-1; d is a literal */
SCREE_INLINE Sums sum_range(int d, size_t begin, size_t end, const double *w, const double *r,
                            const double *u, const double *r_trial, const double *u_trial) {
  Sums s = {0.0, 0.0, 0.0, 0.0};
  for (size_t c = begin; c < end; ++c)
    add_rows(c * (size_t)d, (c + 1) * (size_t)d, w[c], r, u, r_trial, u_trial, &s);
  return s;
}

static void add_sums(Sums *s, const Sums *part) {
  s->slope += part->slope;
  s->distance += part->distance;
  s->image += part->image;
  s->curvature += part->curvature;
}

static Sums sum_all(const scree_Operator *W, const Spg *m, const double *r, const double *u) {
  const size_t nc = (size_t)W->problem->nc;
  const int d = W->problem->d;
  Sums partial[SCREE_CHUNKS], s = {0.0, 0.0, 0.0, 0.0};
  SCREE_OVER_CHUNKS(chunk, nc * (size_t)d, W->threads) {
    size_t begin, end;
    scree_chunk(nc, chunk, &begin, &end);
    partial[chunk] = d == 2 ? sum_range(2, begin, end, m->w, r, u, m->r_trial, m->u_trial)
                            : sum_range(3, begin, end, m->w, r, u, m->r_trial, m->u_trial);
  }
  for (int chunk = 0; chunk < SCREE_CHUNKS; ++chunk) add_sums(&s, &partial[chunk]);
  for (int c = W->problem->nc; c < W->constraints; ++c)
    add_rows(scree_row_of(W, c), scree_row_of(W, c) + (size_t)scree_rows_of(W, c), m->w[c], r, u,
             m->r_trial, m->u_trial, &s);
  scree_ranks_sums(scree_ranks_of(W), (double *)&s, sizeof s / sizeof(double));
  return s;
}

/* lambda of the non-monotone line search; shifts the history to the new point. */
static double search(Spg *m, int iteration, const Sums *s) {
  const int size = m->options.history;
  double reference = 0.0; /* current f */
  for (int k = 0; k < size; ++k) reference = fmax(reference, m->past[k]);
  double lambda = 1.0, change = s->slope + 0.5 * s->curvature;
  if (change > reference + sufficient_decrease * s->slope && s->curvature > 0.0) {
    lambda = fmin(1.0, -s->slope / s->curvature);
    change = lambda * (s->slope + 0.5 * lambda * s->curvature);
  }
  m->past[iteration % size] = 0.0;
  assert(lambda > 0.0 && lambda <= 1.0);
  for (int k = 0; k < size; ++k)
    if (m->past[k] > -INFINITY) m->past[k] -= change;
  return lambda;
}

/* The next alpha from the last direction. */
static double next_step(int iteration, const Sums *s, double alpha) {
  assert(alpha >= step_min && alpha <= step_max);
  if (!(s->curvature > 0.0)) return fmin(step_max, 10.0 * alpha); /* no curvature along d */
  const double step = iteration % 2 ? s->curvature / s->image : s->distance / s->curvature;
  return fmin(step_max, fmax(step_min, step));
}

/* The increment that stops 003's gradient methods. */
static double relative_change(const scree_Operator *W, const Spg *m, double lambda,
                              const double *r) {
  return lambda * scree_rows_distance(W, m->r_trial, r) / (scree_rows_norm(W, r) + 1.0);
}

static scree_Status solve(void *state, scree_SolveRun *run, double *r, double *u) {
  Spg *m = state;
  const scree_Operator *W = run->W;
  const size_t n = W->rows;
  double alpha = 1.0, best = INFINITY;
  scree_gradient_weights(W, m->w);
  for (int k = 0; k < m->options.history; ++k) m->past[k] = -INFINITY;

  scree_gradient_step(W, m->w, 0.0, r, NULL, r);
  scree_operator_apply(W, r, W->problem->q, m->state, u);
  bool stop = scree_solve_run_stop(run, r, u, INFINITY);
  for (int iteration = 0; !stop; ++iteration) {
    scree_gradient_step(W, m->w, alpha, r, u, m->r_trial);
    scree_operator_apply(W, m->r_trial, W->problem->q, m->state, m->u_trial);
    const Sums s = sum_all(W, m, r, u);
    const double lambda = search(m, iteration, &s);
    alpha = next_step(iteration, &s, alpha);
    const double increment = run->measure_often ? relative_change(W, m, lambda, r) : INFINITY;
    if (lambda == 1.0) {
      scree_vector_copy(n, m->r_trial, r, W->threads);
      scree_vector_copy(n, m->u_trial, u, W->threads);
    } else {
      scree_vector_combine(n, lambda, m->r_trial, 1.0 - lambda, r, r, W->threads);
      scree_vector_combine(n, lambda, m->u_trial, 1.0 - lambda, u, u, W->threads);
    }
    ++run->iterations;
    if (run->measure_often || run->iterations <= MEASURE_EVERY ||
        run->iterations % MEASURE_EVERY == 0) {
      stop = scree_solve_run_stop(run, r, u, increment);
      if (run->value < best && !stop && run->settings->measure != SCREE_MEASURE_INCREMENT) {
        best = run->value;
        scree_vector_copy(n, r, m->best, W->threads);
      }
    } else {
      stop = scree_solve_run_exhausted(run);
    }
  }
  if (!run->met && best < run->value) { /* limit reached: the best iterate that was measured */
    scree_vector_copy(n, m->best, r, W->threads);
    scree_operator_apply(W, r, W->problem->q, m->state, u);
  }
  return SCREE_OK;
}

static const scree_Option option_list[] = {
    {.name = "history",
     .type = SCREE_OPTION_INT,
     .offset = offsetof(Options, history),
     .preset = HISTORY,
     .min = 1,
     .max = HISTORY_MAX,
     .help =
         "number of earlier values of the cost with which the line search compares; 1: monotone"},
};

const scree_SolverClass scree_solver_spg = {
    .name = "spg",
    .summary = "spectral projected gradient, Barzilai-Borwein steps, non-monotone line search",
    .reference = "002 section 10.1",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_ASSOCIATED | SCREE_CAN_ASSEMBLED |
                    SCREE_CAN_BODIES | SCREE_CAN_ANY_SIZE | SCREE_CAN_RANKS,
    .sets = SCREE_SETS_ALL,
    .max_iterations = 200000,
    .options = {option_list, 1, sizeof(Options)},
    .create = create,
    .solve = solve,
};
