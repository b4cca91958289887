/* The sparse factorisation on graphs like those of packings: times of create, compute and solve,
 * and where SuiteSparse is installed the ratio of CHOLMOD's and UMFPACK's numerical factorisation
 * and solution to ours, measured in the same run. (The library itself never uses those two: they
 * are GPL. Their speed depends on the BLAS that is installed.)
 *
 *     disks    n disks in a plane on a triangular lattice, three of four contacts closed, nb = 3
 *     spheres  n spheres near a cubic lattice, those nearer than 1.2 touch, nb = 6
 *
 * Usage: factor [largest n]   (default 6400) */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "math/factor.h"

#ifdef SCREE_BENCH_SUITESPARSE
#include <cholmod.h>
#include <umfpack.h>
#endif

typedef struct System {
  int n, nb;
  size_t *row;
  int *col;
  double *x;
} System;

static uint64_t state;

static double uniform(void) { /* in (0, 1) */
  state = state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

enum { DEGREE = 32 };

/* Neighbours (n x DEGREE) and their number (n), each pair once, from the earlier node. */
typedef struct Pairs {
  int (*to)[DEGREE];
  int *count;
} Pairs;

static void disks(int side, Pairs *pairs) {
  for (int i = 0; i < side * side; ++i) {
    const int x = i % side, y = i / side, shift = y % 2 ? 1 : -1;
    const int near[3][2] = {{x + 1, y}, {x, y + 1}, {x + shift, y + 1}};
    for (int k = 0; k < 3; ++k) {
      if (near[k][0] < 0 || near[k][0] >= side || near[k][1] >= side || uniform() < 0.25) continue;
      pairs->to[i][pairs->count[i]++] = near[k][1] * side + near[k][0];
    }
  }
}

static void spheres(int side, Pairs *pairs) {
  const int n = side * side * side;
  double(*centre)[3] = malloc((size_t)n * sizeof *centre);
  for (int i = 0; i < n; ++i) {
    const int at[3] = {i % side, i / side % side, i / side / side};
    for (int c = 0; c < 3; ++c) centre[i][c] = at[c] + 0.4 * (uniform() - 0.5);
  }
  for (int i = 0; i < n; ++i) {
    for (int dz = 0; dz <= 1; ++dz) {
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int x = i % side + dx, y = i / side % side + dy, z = i / side / side + dz;
          const int j = (z * side + y) * side + x;
          if (x < 0 || x >= side || y < 0 || y >= side || z >= side || j <= i) continue;
          double square = 0.0;
          for (int c = 0; c < 3; ++c) square += pow(centre[i][c] - centre[j][c], 2.0);
          if (square < 1.2 * 1.2) pairs->to[i][pairs->count[i]++] = j;
        }
      }
    }
  }
  free(centre);
}

/* The block of (i, j), which is in the pattern. */
static double *block(const System *s, int i, int j) {
  size_t low = s->row[i], high = s->row[i + 1];
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (s->col[middle] <= j)
      low = middle;
    else
      high = middle;
  }
  return s->x + low * (size_t)(s->nb * s->nb);
}

static int ascending(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

static void pattern_build(System *s, const Pairs *pairs) {
  s->row = calloc((size_t)s->n + 1, sizeof *s->row);
  for (int i = 0; i < s->n; ++i) {
    s->row[i + 1] += (size_t)pairs->count[i] + 1;
    for (int k = 0; k < pairs->count[i]; ++k) ++s->row[pairs->to[i][k] + 1];
  }
  for (int i = 0; i < s->n; ++i) s->row[i + 1] += s->row[i];
  s->col = calloc(s->row[s->n], sizeof *s->col);
  size_t *end = malloc((size_t)s->n * sizeof *end);
  for (int i = 0; i < s->n; ++i) end[i] = s->row[i];
  for (int i = 0; i < s->n; ++i) {
    s->col[end[i]++] = i;
    for (int k = 0; k < pairs->count[i]; ++k) {
      const int j = pairs->to[i][k];
      s->col[end[i]++] = j;
      s->col[end[j]++] = i;
    }
  }
  free(end);
  for (int i = 0; i < s->n; ++i)
    qsort(s->col + s->row[i], s->row[i + 1] - s->row[i], sizeof *s->col, ascending);
}

/* I + sum over contacts of J^T G J, J (d x 2 nb) and G = diagonal + skew part. */
static void values_build(System *s, const Pairs *pairs, double skew) {
  const int nb = s->nb, d = nb == 3 ? 2 : 3;
  s->x = calloc(s->row[s->n] * (size_t)(nb * nb), sizeof *s->x);
  for (int i = 0; i < s->n; ++i) {
    for (int c = 0; c < nb; ++c) block(s, i, i)[c * (nb + 1)] += 1.0;
    for (int k = 0; k < pairs->count[i]; ++k) {
      const int node[2] = {i, pairs->to[i][k]};
      double J[3][12], G[3][3];
      for (int a = 0; a < d; ++a) {
        for (int c = 0; c < 2 * nb; ++c) J[a][c] = uniform() - 0.5;
        for (int b = 0; b < d; ++b)
          G[a][b] = a == b ? pow(10.0, 2.0 * uniform()) : a < b ? skew : 0;
      }
      for (int p = 0; p < 2 * nb; ++p) {
        for (int q = 0; q < 2 * nb; ++q) {
          double sum = 0.0;
          for (int a = 0; a < d; ++a) {
            for (int b = 0; b < d; ++b) sum += J[a][p] * G[a][b] * J[b][q];
          }
          block(s, node[p / nb], node[q / nb])[p % nb * nb + q % nb] += sum;
        }
      }
    }
  }
}

static double residual(const System *s, const double *x, const double *b) {
  const int nb = s->nb;
  double worst = 0.0, norm = 0.0;
  for (int i = 0; i < s->n; ++i) {
    for (int r = 0; r < nb; ++r) {
      double sum = -b[i * nb + r];
      for (size_t k = s->row[i]; k < s->row[i + 1]; ++k) {
        for (int c = 0; c < nb; ++c) {
          const double term =
              s->x[k * (size_t)(nb * nb) + (size_t)(r * nb + c)] * x[s->col[k] * nb + c];
          sum += term;
          norm = fmax(norm, fabs(term));
        }
      }
      worst = fmax(worst, fabs(sum));
    }
  }
  return worst / norm;
}

typedef struct Times {
  double create, compute, solve;
} Times;

/* The least of several runs that together last a while. */
#define MEASURE(seconds, ...)                                                                      \
  do {                                                                                             \
    double spent_ = 0.0;                                                                           \
    seconds = INFINITY;                                                                            \
    for (int run_ = 0; run_ < 1000 && (run_ < 3 || spent_ < 0.1); ++run_) {                        \
      const double start_ = scree_seconds();                                                       \
      __VA_ARGS__;                                                                                 \
      const double lap_ = scree_seconds() - start_;                                                \
      seconds = fmin(seconds, lap_);                                                               \
      spent_ += lap_;                                                                              \
    }                                                                                              \
  } while (0)

#ifdef SCREE_BENCH_SUITESPARSE
/* The matrix by columns, lower triangle or all of it. */
static void columns_build(const System *s, int lower, int **begin, int **index, double **value) {
  const int nb = s->nb, size = s->n * nb;
  const size_t room = s->row[s->n] * (size_t)(nb * nb);
  *begin = calloc((size_t)size + 1, sizeof **begin);
  *index = calloc(room, sizeof **index);
  *value = calloc(room, sizeof **value);
  int end = 0;
  for (int p = 0; p < size; ++p) { /* column p: row p of the pattern, values of (row, p) */
    for (size_t k = s->row[p / nb]; k < s->row[p / nb + 1]; ++k) {
      const double *x = block(s, s->col[k], p / nb);
      for (int r = 0; r < nb; ++r) {
        const int q = s->col[k] * nb + r;
        if (lower && q < p) continue;
        (*index)[end] = q;
        (*value)[end++] = x[r * nb + p % nb];
      }
    }
    (*begin)[p + 1] = end;
  }
}

static Times cholmod_times(const System *s, int method) {
  Times t = {0.0, 0.0, 0.0};
  cholmod_common common;
  cholmod_start(&common);
  common.supernodal = method;
  int *begin, *index;
  double *value;
  columns_build(s, 1, &begin, &index, &value);
  const size_t size = (size_t)(s->n * s->nb);
  cholmod_sparse a = {.nrow = size,
                      .ncol = size,
                      .nzmax = (size_t)begin[size],
                      .p = begin,
                      .i = index,
                      .x = value,
                      .stype = -1,
                      .itype = CHOLMOD_INT,
                      .xtype = CHOLMOD_REAL,
                      .dtype = CHOLMOD_DOUBLE,
                      .sorted = 1,
                      .packed = 1};
  double start = scree_seconds();
  cholmod_factor *l = cholmod_analyze(&a, &common);
  t.create = scree_seconds() - start;
  MEASURE(t.compute, cholmod_factorize(&a, l, &common));
  cholmod_dense *b = cholmod_ones(size, 1, CHOLMOD_REAL, &common), *x = NULL, *y = NULL, *e = NULL;
  MEASURE(t.solve, cholmod_solve2(CHOLMOD_A, l, b, NULL, &x, NULL, &y, &e, &common));
  cholmod_free_dense(&b, &common);
  cholmod_free_dense(&x, &common);
  cholmod_free_dense(&y, &common);
  cholmod_free_dense(&e, &common);
  cholmod_free_factor(&l, &common);
  cholmod_finish(&common);
  free(begin);
  free(index);
  free(value);
  return t;
}

static Times umfpack_times(const System *s) {
  Times t = {0.0, 0.0, 0.0};
  int *begin, *index;
  double *value;
  columns_build(s, 0, &begin, &index, &value);
  const int size = s->n * s->nb;
  double *b = calloc((size_t)size, sizeof *b), *x = calloc((size_t)size, sizeof *x);
  double control[UMFPACK_CONTROL];
  umfpack_di_defaults(control);
  control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
  control[UMFPACK_IRSTEP] = 0;
  for (int p = 0; p < size; ++p) b[p] = 1.0;
  void *symbolic = NULL, *numeric = NULL;
  const double start = scree_seconds();
  umfpack_di_symbolic(size, size, begin, index, value, &symbolic, control, NULL);
  t.create = scree_seconds() - start;
  MEASURE(t.compute, umfpack_di_free_numeric(&numeric),
          umfpack_di_numeric(begin, index, value, symbolic, &numeric, control, NULL));
  MEASURE(t.solve, umfpack_di_solve(UMFPACK_A, begin, index, value, x, b, numeric, control, NULL));
  umfpack_di_free_numeric(&numeric);
  umfpack_di_free_symbolic(&symbolic);
  free(begin);
  free(index);
  free(value);
  free(b);
  free(x);
  return t;
}

static void ratio_print(const char *name, Times other, Times ours) {
  printf("  %s %.1f/%.1f/%.1f", name, other.create / ours.create, other.compute / ours.compute,
         other.solve / ours.solve);
}
#endif

static void measure(const char *name, const System *s, scree_FactorKind kind) {
  const size_t size = (size_t)(s->n * s->nb);
  double *b = malloc(size * sizeof *b), *x = malloc(size * sizeof *x);
  double *work = malloc(size * sizeof *work);
  Times t;
  scree_Factor *factor = NULL;
  MEASURE(t.create, scree_factor_destroy(factor),
          (void)scree_factor_create(s->n, s->nb, s->row, s->col, kind, NULL, &factor));
  int perturbed;
  MEASURE(t.compute, (void)scree_factor_compute(factor, s->x, &perturbed));
  for (size_t p = 0; p < size; ++p) b[p] = uniform() - 0.5;
  MEASURE(t.solve, memcpy(x, b, size * sizeof *x), scree_factor_solve(factor, work, x));
  printf("%-8s %6d %4.1f %-4s %6d %9.3g %9.3f %9.3f %9.4f %6.2f %8.1e", name, s->n,
         (double)(s->row[s->n] - (size_t)s->n) / s->n, kind ? "LU" : "LDL",
         scree_factor_fronts(factor), scree_factor_flops(factor), 1e3 * t.create, 1e3 * t.compute,
         1e3 * t.solve, 1e-9 * scree_factor_flops(factor) / t.compute, residual(s, x, b));
#ifdef SCREE_BENCH_SUITESPARSE
  if (kind == SCREE_FACTOR_SYMMETRIC) {
    ratio_print("simplicial", cholmod_times(s, CHOLMOD_SIMPLICIAL), t);
    ratio_print("supernodal", cholmod_times(s, CHOLMOD_SUPERNODAL), t);
  } else {
    ratio_print("umfpack", umfpack_times(s), t);
  }
#endif
  printf("\n");
  fflush(stdout);
  scree_factor_destroy(factor);
  free(b);
  free(x);
  free(work);
}

static void run(const char *name, int side, int dimension) {
  const int n = dimension == 2 ? side * side : side * side * side;
  state = 1;
  Pairs pairs = {malloc((size_t)n * sizeof *pairs.to), calloc((size_t)n, sizeof *pairs.count)};
  if (dimension == 2)
    disks(side, &pairs);
  else
    spheres(side, &pairs);
  System s = {.n = n, .nb = dimension == 2 ? 3 : 6};
  pattern_build(&s, &pairs);
  for (int kind = 0; kind < 2; ++kind) {
    values_build(&s, &pairs, kind ? 0.5 : 0.0);
    measure(name, &s, (scree_FactorKind)kind);
    free(s.x);
  }
  free(s.row);
  free(s.col);
  free(pairs.to);
  free(pairs.count);
}

int main(int argc, char **argv) {
  const int largest = argc > 1 ? atoi(argv[1]) : 6400;
  const int planes[] = {4, 10, 20, 40, 80, 160}, spaces[] = {3, 5, 8, 16, 27};
  printf("times in ms; ratios to ours: create/compute/solve\n");
  printf("%-8s %6s %4s %-4s %6s %9s %9s %9s %9s %6s %8s\n", "graph", "n", "deg", "kind", "fronts",
         "flops", "create", "compute", "solve", "GF/s", "residual");
  for (size_t k = 0; k < sizeof planes / sizeof *planes; ++k) {
    if (planes[k] * planes[k] <= largest) run("disks", planes[k], 2);
  }
  for (size_t k = 0; k < sizeof spaces / sizeof *spaces; ++k) {
    if (spaces[k] * spaces[k] * spaces[k] <= largest) run("spheres", spaces[k], 3);
  }
  return 0;
}
