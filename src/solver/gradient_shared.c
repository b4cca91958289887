/* The metric, the projected step and the largest eigenvalue (see gradient.h). */
#include "solver/gradient.h"

#include "math/vector.h"
#include "problem/set_inline.h"

#include <math.h>
#include <stdint.h>

enum { LANCZOS_STEPS = 24 };

void scree_gradient_weights(const scree_Operator *W, double *w) {
  const scree_Problem *p = W->problem;
  for (int c = 0; c < W->constraints; ++c) {
    double room[9];
    const double *D = scree_constraint_diagonal(W, c, room);
    const int d = scree_rows_of(W, c);
    /* frictionless contacts have a normal component only */
    const int size = p->set && p->set[c] == SCREE_SET_HALF_LINE ? 1 : d;
    double trace = 0.0;
    for (int i = 0; i < size; ++i) trace += D[i * d + i];
    /* a contact between two obstacles moves no body: any weight is valid */
    w[c] = trace > 0.0 ? trace / size : W->mean_diagonal;
  }
}

/* Contacts begin .. end-1 of scree_gradient_step, cones only; d is a literal. */
SCREE_INLINE void step_cones(const double *mu, int d, size_t begin, size_t end, const double *w,
                             double step, const double *x, const double *g, double *out) {
  for (size_t c = begin; c < end; ++c) {
    double z[3] = {0.0, 0.0, 0.0};
    const double a = step / w[c];
    for (size_t i = 0; i < (size_t)d; ++i) {
      const size_t k = c * (size_t)d + i;
      z[i] = g ? x[k] - a * g[k] : x[k];
    }
    scree_cone_project(d, mu[c], z, out + c * (size_t)d);
  }
}

/* The same for any set and size. */
static void step_sets(const scree_Operator *W, int begin, int end, const double *w, double step,
                      const double *x, const double *g, double *out) {
  for (int c = begin; c < end; ++c) {
    const size_t at = scree_row_of(W, c);
    const int d = scree_rows_of(W, c);
    double z[SCREE_ROWS_MAX] = {0.0};
    const double a = step / w[c];
    const scree_Set set = scree_problem_set(W->problem, c);
    for (int i = 0; i < d; ++i) {
      const size_t k = at + (size_t)i;
      z[i] = g ? x[k] - a * g[k] : x[k];
    }
    scree_set_project(&set, d, z, out + at);
  }
}

void scree_gradient_step(const scree_Operator *W, const double *w, double step, const double *x,
                         const double *g, double *out) {
  const scree_Problem *p = W->problem;
  const size_t n = (size_t)p->nc;
  SCREE_OVER_CHUNKS(chunk, n * (size_t)p->d, W->threads) {
    size_t begin, end;
    scree_chunk(n, chunk, &begin, &end);
    if (!W->plain_cones)
      step_sets(W, (int)begin, (int)end, w, step, x, g, out);
    else if (p->d == 2)
      step_cones(p->mu, 2, begin, end, w, step, x, g, out);
    else
      step_cones(p->mu, 3, begin, end, w, step, x, g, out);
  }
  step_sets(W, p->nc, W->constraints, w, step, x, g, out);
}

/* A fixed vector without structure: the top bits of a multiplicative hash of the index, in
 * [-1, 1). */
static void fill_start(size_t n, double *x) {
  for (size_t i = 0; i < n; ++i) {
    uint64_t z = ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z ^= z >> 27;
    x[i] = (double)(int64_t)(z * UINT64_C(0x94d049bb133111eb)) * 0x1p-63;
  }
}

/* out_c = x_c / sqrt(w_c) */
static void unscale(const scree_Operator *W, const double *w, const double *x, double *out) {
  for (int c = 0; c < W->constraints; ++c) {
    const double a = 1.0 / sqrt(w[c]);
    const size_t at = scree_row_of(W, c), end = at + (size_t)scree_rows_of(W, c);
    for (size_t i = at; i < end; ++i) out[i] = a * x[i];
  }
}

/* The largest eigenvalue of the tridiagonal matrix (a, b) of size m, by bisection on the number of
 * eigenvalues above x, which is the number of negative pivots of x - T. */
static double tridiagonal_largest(int m, const double *a, const double *b) {
  double low = a[0], high = a[0];
  for (int i = 0; i < m; ++i) {
    const double reach = (i ? fabs(b[i - 1]) : 0.0) + (i + 1 < m ? fabs(b[i]) : 0.0);
    low = fmax(low, a[i]);
    high = fmax(high, a[i] + reach);
  }
  for (int step = 0; step < 60 && high - low > 1e-10 * fabs(high); ++step) {
    const double x = 0.5 * (low + high);
    bool above = false;
    double pivot = 1.0;
    for (int i = 0; i < m && !above; ++i) {
      pivot = x - a[i] - (i ? b[i - 1] * b[i - 1] / pivot : 0.0);
      above = pivot <= 0.0;
    }
    if (above)
      low = x;
    else
      high = x;
  }
  return high;
}

double scree_gradient_eigenvalue(const scree_Operator *W, const double *w, double *work,
                                 double *state) {
  const size_t n = W->rows;
  const int threads = W->threads;
  double *previous = work, *v = work + n, *next = work + 2 * n, *scaled = work + 3 * n;
  double a[LANCZOS_STEPS], b[LANCZOS_STEPS];
  fill_start(n, v);
  const double length = scree_rows_norm(W, v);
  if (!(length > 0.0)) return 1.0;
  scree_vector_combine(n, 1.0 / length, v, 0.0, v, v, threads);
  int m = 0;
  while (m < LANCZOS_STEPS) {
    unscale(W, w, v, scaled);
    scree_operator_apply(W, scaled, NULL, state, next);
    unscale(W, w, next, next);
    if (m) scree_vector_combine(n, 1.0, next, -b[m - 1], previous, next, threads);
    a[m] = scree_rows_dot(W, next, v);
    scree_vector_combine(n, 1.0, next, -a[m], v, next, threads);
    b[m] = scree_rows_norm(W, next);
    ++m;
    if (!(b[m - 1] > 1e-8 * fabs(a[0]))) break; /* the Krylov space is exhausted */
    scree_vector_combine(n, 1.0 / b[m - 1], next, 0.0, next, next, threads);
    double *swap = previous;
    previous = v;
    v = next;
    next = swap;
  }
  const double largest = tridiagonal_largest(m, a, b);
  return largest > 0.0 ? largest : 1.0;
}
