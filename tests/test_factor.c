/* The sparse factorisation against LAPACK on the graphs that contact problems make: chains, grids,
 * stars, cliques, clouds of points, several pieces; every block size; both kinds of values. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lapacke.h>

#include "math/factor.h"

/* A block matrix; `edge` (n x n) while it is built. */
typedef struct System {
  int n, nb;
  char *edge;
  size_t *row;
  int *col;
  double *x; /* blocks */
  double *a; /* dense, (n nb) x (n nb), row by row */
} System;

static uint64_t state = 1;

static double uniform(void) { /* in (-1, 1) */
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)state / 9223372036854775808.0;
}

static void link_nodes(System *s, int i, int j) {
  s->edge[i * s->n + j] = s->edge[j * s->n + i] = 1;
}

static void system_begin(System *s, int n, int nb) {
  *s = (System){.n = n, .nb = nb, .edge = calloc((size_t)(n * n) + 1, 1)};
  assert_non_null(s->edge);
  for (int i = 0; i < n; ++i) s->edge[i * n + i] = 1;
}

static void system_pattern(System *s) {
  const size_t n = (size_t)s->n;
  s->row = calloc(n + 1, sizeof *s->row);
  s->col = calloc(n * n + 1, sizeof *s->col);
  size_t end = 0;
  for (int i = 0; i < s->n; ++i) {
    for (int j = 0; j < s->n; ++j) {
      if (s->edge[i * s->n + j]) s->col[end++] = j;
    }
    s->row[i + 1] = end;
  }
  s->x = calloc(end * (size_t)(s->nb * s->nb) + 1, sizeof *s->x);
  s->a = calloc(n * n * (size_t)(s->nb * s->nb) + 1, sizeof *s->a);
}

/* Random values. Symmetric: sums of edges' v v^T, and a diagonal, so positive definite.
 * Unsymmetric: random blocks, `diagonal` added on the diagonal. */
static void system_values(System *s, scree_FactorKind kind, double diagonal) {
  const int nb = s->nb, size = s->n * nb;
  memset(s->a, 0, (size_t)(size * size) * sizeof *s->a);
  if (kind == SCREE_FACTOR_SYMMETRIC) {
    for (int i = 0; i < s->n; ++i) {
      for (int j = 0; j <= i; ++j) {
        if (!s->edge[i * s->n + j]) continue;
        double v[2 * SCREE_FACTOR_BLOCK_MAX];
        for (int rank = 0; rank < 2; ++rank) {
          for (int c = 0; c < 2 * nb; ++c) v[c] = uniform();
          for (int r = 0; r < 2 * nb; ++r) {
            const int p = r < nb ? i * nb + r : j * nb + r - nb;
            for (int c = 0; c < 2 * nb; ++c)
              s->a[p * size + (c < nb ? i * nb + c : j * nb + c - nb)] += v[r] * v[c];
          }
        }
      }
    }
    for (int p = 0; p < size; ++p) s->a[p * size + p] += diagonal;
  } else {
    for (int p = 0; p < size; ++p) {
      for (int q = 0; q < size; ++q) {
        if (s->edge[p / nb * s->n + q / nb]) s->a[p * size + q] = uniform();
      }
      s->a[p * size + p] += diagonal;
    }
  }
  for (int i = 0; i < s->n; ++i) {
    for (size_t k = s->row[i]; k < s->row[i + 1]; ++k) {
      const bool unread = kind == SCREE_FACTOR_SYMMETRIC && s->col[k] > i;
      for (int r = 0; r < nb; ++r) {
        for (int c = 0; c < nb; ++c) {
          const bool above = kind == SCREE_FACTOR_SYMMETRIC && s->col[k] == i && c > r;
          s->x[k * (size_t)(nb * nb) + (size_t)(r * nb + c)] =
              unread || above ? (double)NAN /* the upper half is never looked at */
                              : s->a[(i * nb + r) * size + s->col[k] * nb + c];
        }
      }
    }
  }
}

static void system_end(System *s) {
  free(s->edge);
  free(s->row);
  free(s->col);
  free(s->x);
  free(s->a);
}

static scree_Factor *create(const System *s, scree_FactorKind kind) {
  scree_Factor *factor = NULL;
  assert_int_equal(scree_factor_create(s->n, s->nb, s->row, s->col, kind, NULL, &factor), SCREE_OK);
  assert_non_null(factor);
  return factor;
}

/* Largest residual of A x = b relative to |A| |x| + |b|. */
static double backward_error(const System *s, const double *x, const double *b) {
  const int size = s->n * s->nb;
  double worst = 0.0;
  for (int p = 0; p < size; ++p) {
    double sum = -b[p], norm = fabs(b[p]);
    for (int q = 0; q < size; ++q) {
      sum += s->a[p * size + q] * x[q];
      norm += fabs(s->a[p * size + q] * x[q]);
    }
    if (!(fabs(sum) <= worst * norm)) worst = fabs(sum) / norm;
  }
  return worst;
}

/* Solve by LAPACK; the sign of the determinant. */
static int lapack_solve(const System *s, double *x) {
  const int size = s->n * s->nb;
  double *a = malloc((size_t)(size * size) * sizeof *a);
  int *pivot = malloc((size_t)size * sizeof *pivot);
  memcpy(a, s->a, (size_t)(size * size) * sizeof *a);
  assert_int_equal(LAPACKE_dgesv(LAPACK_ROW_MAJOR, size, 1, a, size, pivot, x, 1), 0);
  int sign = 1;
  for (int p = 0; p < size; ++p) {
    if (a[p * size + p] < 0.0) sign = -sign;
    if (pivot[p] != p + 1) sign = -sign;
  }
  free(a);
  free(pivot);
  return sign;
}

/* Factorise, solve and compare with LAPACK; twice, for the same bits. */
static void check(const System *s, scree_FactorKind kind, double tolerance) {
  const size_t size = (size_t)(s->n * s->nb);
  scree_Factor *factor = create(s, kind);
  double *b = malloc(size * sizeof *b), *x = malloc(size * sizeof *x);
  double *again = malloc(size * sizeof *x), *work = malloc(size * sizeof *work);
  for (size_t p = 0; p < size; ++p) b[p] = uniform();
  memcpy(x, b, size * sizeof *x);
  memcpy(again, b, size * sizeof *x);
  int perturbed = -1;
  assert_int_equal(scree_factor_compute(factor, s->x, &perturbed), SCREE_OK);
  assert_int_equal(perturbed, 0);
  scree_factor_solve(factor, work, x);
  assert_true(backward_error(s, x, b) < tolerance);
  assert_int_equal(scree_factor_compute(factor, s->x, NULL), SCREE_OK);
  scree_factor_solve(factor, work, again);
  assert_memory_equal(x, again, size * sizeof *x);
  memcpy(again, b, size * sizeof *x);
  assert_int_equal(scree_factor_sign(factor), lapack_solve(s, again));
  if (kind == SCREE_FACTOR_SYMMETRIC) assert_int_equal(scree_factor_negative(factor), 0);
  double error = 0.0, norm = 0.0;
  for (size_t p = 0; p < size; ++p) {
    error = fmax(error, fabs(x[p] - again[p]));
    norm = fmax(norm, fabs(again[p]));
  }
  assert_true(error <= 1e-8 * norm);
  free(b);
  free(x);
  free(again);
  free(work);
  scree_factor_destroy(factor);
}

/* Both kinds. Unsymmetric values are well behaved with a large diagonal, and indefinite but regular
 * with none: then only pivot blocks are searched, and the residual may grow. */
static void check_kinds(System *s) {
  system_pattern(s);
  system_values(s, SCREE_FACTOR_SYMMETRIC, 0.5);
  check(s, SCREE_FACTOR_SYMMETRIC, 1e-13);
  const double degree = (double)s->row[s->n] / s->n * s->nb;
  system_values(s, SCREE_FACTOR_UNSYMMETRIC, 0.6 * degree);
  check(s, SCREE_FACTOR_UNSYMMETRIC, 1e-12);
  system_values(s, SCREE_FACTOR_UNSYMMETRIC, -0.7 * sqrt(degree));
  check(s, SCREE_FACTOR_UNSYMMETRIC, 1e-9);
  system_end(s);
}

static void chains(void **unused) {
  (void)unused;
  for (int nb = 1; nb <= SCREE_FACTOR_BLOCK_MAX; ++nb) {
    for (int n = 1; n <= 13; n += 3) {
      System s;
      system_begin(&s, n, nb);
      for (int i = 1; i < n; ++i) link_nodes(&s, i - 1, i);
      check_kinds(&s);
    }
  }
}

static void grid(int nx, int ny, int nz, int nb) {
  System s;
  system_begin(&s, nx * ny * nz, nb);
  for (int i = 0; i < s.n; ++i) {
    if (i % nx > 0) link_nodes(&s, i, i - 1);
    if (i / nx % ny > 0) link_nodes(&s, i, i - nx);
    if (i / nx / ny > 0) link_nodes(&s, i, i - nx * ny);
  }
  check_kinds(&s);
}

static void grids(void **unused) {
  (void)unused;
  grid(5, 4, 1, 1);
  grid(9, 11, 1, 2);
  grid(12, 12, 1, 3);
  grid(4, 4, 4, 6);
  grid(4, 5, 3, 4);
}

static void stars(void **unused) {
  (void)unused;
  for (int hub = 0; hub < 60; hub += 29) {
    System s;
    system_begin(&s, 60, 3);
    for (int i = 0; i < s.n; ++i) link_nodes(&s, hub, i);
    check_kinds(&s);
  }
  System s;
  system_begin(&s, 40, 6); /* a chain whose links all touch one body */
  for (int i = 1; i < s.n; ++i) link_nodes(&s, 0, i), link_nodes(&s, i - 1, i);
  check_kinds(&s);
}

static void cliques(void **unused) {
  (void)unused;
  const int sizes[][2] = {{2, 1},  {5, 3},  {8, 6},  {16, 3}, {17, 3},
                          {9, 11}, {33, 6}, {64, 6}, {101, 1}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    System s;
    system_begin(&s, sizes[k][0], sizes[k][1]);
    memset(s.edge, 1, (size_t)(s.n * s.n));
    check_kinds(&s);
  }
}

/* Cliques but for pairs of nodes that do not touch: fronts that touch nearly everything. */
static void nearly_cliques(void **unused) {
  (void)unused;
  for (int apart = 1; apart <= 5; apart += 2) {
    System s;
    system_begin(&s, 131, 2);
    memset(s.edge, 1, (size_t)(s.n * s.n));
    for (int i = 0; i + apart < s.n; i += 3 * apart) {
      for (int j = i + 1; j <= i + apart; ++j) s.edge[i * s.n + j] = s.edge[j * s.n + i] = 0;
    }
    check_kinds(&s);
  }
}

/* Random edges, some nodes alone, some pieces. */
static void random_graphs(void **unused) {
  (void)unused;
  for (int trial = 0; trial < 40; ++trial) {
    System s;
    const int n = 2 + (int)(20.0 * (1.0 + uniform()));
    system_begin(&s, n, 1 + trial % 7);
    const int edges = (int)(1.5 * n * (1.0 + uniform()));
    for (int e = 0; e < edges; ++e) {
      const int i = (int)(0.5 * n * (1.0 + uniform())), j = (int)(0.5 * n * (1.0 + uniform()));
      if (i < n && j < n && abs(i - j) < n / 2) link_nodes(&s, i, j);
    }
    check_kinds(&s);
  }
}

/* Quasi-definite: pivots of both signs, as many negative as the second block has numbers. */
static void quasi_definite(void **unused) {
  (void)unused;
  System s;
  system_begin(&s, 50, 2);
  for (int i = 1; i < s.n; ++i) link_nodes(&s, i, i - 1), link_nodes(&s, i, i / 2);
  system_pattern(&s);
  system_values(&s, SCREE_FACTOR_SYMMETRIC, 1.0);
  const int size = s.n * s.nb;
  int negative = 0;
  for (int i = 0; i < s.n; ++i) { /* change the sign of the diagonal part of every third node */
    for (size_t k = s.row[i]; k < s.row[i + 1]; ++k) {
      const int j = s.col[k];
      const bool both = i % 3 == 0 && j % 3 == 0;
      for (int e = 0; both && e < 4; ++e) s.x[4 * k + (size_t)e] *= -1.0;
      for (int e = 0; both && e < 4; ++e) s.a[(2 * i + e / 2) * size + 2 * j + e % 2] *= -1.0;
    }
    negative += i % 3 == 0 ? 2 : 0;
  }
  scree_Factor *factor = create(&s, SCREE_FACTOR_SYMMETRIC);
  double x[100], b[100], work[100];
  for (int p = 0; p < size; ++p) x[p] = b[p] = uniform();
  int perturbed = -1;
  assert_int_equal(scree_factor_compute(factor, s.x, &perturbed), SCREE_OK);
  assert_int_equal(perturbed, 0);
  assert_int_equal(scree_factor_negative(factor), negative);
  scree_factor_solve(factor, work, x);
  assert_true(backward_error(&s, x, b) < 1e-13);
  scree_factor_destroy(factor);
  system_end(&s);
}

/* Matrices without an inverse: pivots are replaced, counted, and nothing is NaN. The answer does
 * not change when all values are scaled. */
static void singular(void **unused) {
  (void)unused;
  for (int kind = 0; kind < 2; ++kind) {
    for (int nb = 1; nb <= 6; nb += 5) {
      System s;
      system_begin(&s, 20, nb);
      for (int i = 1; i < s.n; ++i) link_nodes(&s, i, i - 1);
      system_pattern(&s);
      /* The Laplacian of a chain, in each component: constants are its kernel. */
      for (int i = 0; i < s.n; ++i) {
        for (size_t k = s.row[i]; k < s.row[i + 1]; ++k) {
          const double value = s.col[k] == i ? (double)(s.row[i + 1] - s.row[i] - 1) : -1.0;
          for (int c = 0; c < nb; ++c) s.x[k * (size_t)(nb * nb) + (size_t)(c * (nb + 1))] = value;
        }
      }
      scree_Factor *factor = create(&s, (scree_FactorKind)kind);
      double x[120], work[120];
      int perturbed = 0;
      for (int scale = 0; scale < 3; ++scale) {
        for (size_t k = 0; k < s.row[s.n] * (size_t)(nb * nb); ++k) s.x[k] *= scale ? 1e-30 : 1.0;
        assert_int_equal(scree_factor_compute(factor, s.x, &perturbed), SCREE_OK);
        assert_int_equal(perturbed, nb);
        for (int p = 0; p < s.n * nb; ++p) x[p] = 1.0;
        scree_factor_solve(factor, work, x);
        for (int p = 0; p < s.n * nb; ++p) assert_true(isfinite(x[p]));
      }
      memset(s.x, 0, s.row[s.n] * (size_t)(nb * nb) * sizeof *s.x);
      assert_int_equal(scree_factor_compute(factor, s.x, &perturbed), SCREE_OK);
      assert_int_equal(perturbed, s.n * nb);
      scree_factor_solve(factor, work, x);
      for (int p = 0; p < s.n * nb; ++p) assert_true(isfinite(x[p]));
      scree_factor_destroy(factor);
      system_end(&s);
    }
  }
}

/* Rows of J J^T for a chain of J with one row more than it has columns, and that row again:
 * they depend on others and are left out, the rest is solved, and with a right-hand side in
 * the range all rows are satisfied. */
static void dependent(void **unused) {
  (void)unused;
  enum { COLUMNS = 40, ROWS = COLUMNS + 2 };
  double J[ROWS][COLUMNS] = {{0}}, x[ROWS], b[ROWS], work[ROWS];
  System s;
  system_begin(&s, ROWS, 1);
  for (int i = 0; i < ROWS; ++i)
    for (int c = i ? i - 1 : 0; c <= i && c < COLUMNS; ++c) J[i][c] = 1 + 0.5 * uniform();
  memcpy(J[ROWS - 1], J[7], sizeof J[7]);
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < i; ++j)
      for (int c = 0; c < COLUMNS; ++c)
        if (J[i][c] != 0 && J[j][c] != 0) link_nodes(&s, i, j);
  system_pattern(&s);
  for (int i = 0; i < ROWS; ++i) {
    b[i] = 0;
    for (int c = 0; c < COLUMNS; ++c) b[i] += J[i][c] * sin(c);
    x[i] = b[i];
    for (size_t k = s.row[i]; k < s.row[i + 1]; ++k)
      for (int c = 0; c < COLUMNS; ++c) s.x[k] += J[i][c] * J[s.col[k]][c];
  }
  scree_Factor *factor;
  int left_out;
  assert_int_equal(
      scree_factor_create(ROWS, 1, s.row, s.col, SCREE_FACTOR_SYMMETRIC, NULL, &factor), SCREE_OK);
  scree_factor_set_dependent(factor, 1e-11);
  assert_int_equal(scree_factor_compute(factor, s.x, &left_out), SCREE_OK);
  assert_int_equal(left_out, ROWS - COLUMNS);
  scree_factor_solve(factor, work, x);
  int zero = 0;
  for (int i = 0; i < ROWS; ++i) {
    double sum = 0;
    for (size_t k = s.row[i]; k < s.row[i + 1]; ++k) sum += s.x[k] * x[s.col[k]];
    assert_true(fabs(sum - b[i]) < 1e-10);
    zero += x[i] == 0;
  }
  assert_int_equal(zero, ROWS - COLUMNS);
  scree_factor_destroy(factor);
  system_end(&s);
}

static void not_finite(void **unused) {
  (void)unused;
  const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  for (int kind = 0; kind < 2; ++kind) {
    System s;
    system_begin(&s, 12, 3);
    for (int i = 1; i < s.n; ++i) link_nodes(&s, i, i / 2);
    system_pattern(&s);
    system_values(&s, (scree_FactorKind)kind, 5.0);
    scree_Factor *factor = create(&s, (scree_FactorKind)kind);
    for (size_t k = 0; k < s.row[s.n] * 9; ++k) {
      const double kept = s.x[k];
      if (isnan(kept)) continue; /* not read */
      s.x[k] = bad[k % 3];
      assert_int_equal(scree_factor_compute(factor, s.x, NULL), SCREE_BAD_INPUT);
      s.x[k] = kept;
    }
    assert_int_equal(scree_factor_compute(factor, s.x, NULL), SCREE_OK);
    scree_factor_destroy(factor);
    system_end(&s);
  }
}

static void empty(void **unused) {
  (void)unused;
  const size_t row[1] = {0};
  const int col[1] = {0};
  for (int kind = 0; kind < 2; ++kind) {
    scree_Factor *factor = NULL;
    assert_int_equal(scree_factor_create(0, 3, row, col, (scree_FactorKind)kind, NULL, &factor),
                     SCREE_OK);
    int perturbed = -1;
    double none[1] = {0.0};
    assert_int_equal(scree_factor_compute(factor, none, &perturbed), SCREE_OK);
    assert_int_equal(perturbed, 0);
    scree_factor_solve(factor, none, none);
    assert_int_equal(scree_factor_sign(factor), 1);
    scree_factor_destroy(factor);
  }
  scree_factor_destroy(NULL);
}

static void refused(void **unused) {
  (void)unused;
  scree_Factor *factor = NULL;
  const size_t row[3] = {0, 2, 3}, full[3] = {0, 2, 4}, holes[3] = {0, 1, 2};
  const int lopsided[3] = {0, 1, 1}, descending[4] = {1, 0, 0, 1}, outside[4] = {0, 2, 0, 1};
  const int off[2] = {1, 0}, good[4] = {0, 1, 0, 1};
  const scree_FactorKind kind = SCREE_FACTOR_SYMMETRIC;
  assert_int_equal(scree_factor_create(2, 1, row, lopsided, kind, NULL, &factor), SCREE_BAD_INPUT);
  assert_int_equal(scree_factor_create(2, 1, full, descending, kind, NULL, &factor),
                   SCREE_BAD_INPUT);
  assert_int_equal(scree_factor_create(2, 1, full, outside, kind, NULL, &factor), SCREE_BAD_INPUT);
  assert_int_equal(scree_factor_create(2, 1, holes, off, kind, NULL, &factor), SCREE_BAD_INPUT);
  assert_int_equal(scree_factor_create(2, 0, full, good, kind, NULL, &factor), SCREE_BAD_INPUT);
  assert_int_equal(scree_factor_create(2, 13, full, good, kind, NULL, &factor), SCREE_BAD_INPUT);
  assert_int_equal(scree_factor_create(-1, 1, full, good, kind, NULL, &factor), SCREE_BAD_INPUT);
  assert_null(factor);
}

/* Large enough for METIS: A applied to the answer gives b back. */
static void large_grid(void **unused) {
  (void)unused;
  enum { SIDE = 64, N = SIDE * SIDE, NB = 2 };
  size_t *row = calloc(N + 1, sizeof *row);
  int *col = calloc(5 * N, sizeof *col);
  size_t end = 0;
  for (int i = 0; i < N; ++i) {
    const int near[5] = {i >= SIDE ? i - SIDE : -1, i % SIDE > 0 ? i - 1 : -1, i,
                         i % SIDE < SIDE - 1 ? i + 1 : -1, i < N - SIDE ? i + SIDE : -1};
    for (int k = 0; k < 5; ++k) {
      if (near[k] >= 0) col[end++] = near[k];
    }
    row[i + 1] = end;
  }
  double *a = calloc(end * NB * NB, sizeof *a);
  double *x = calloc(N * NB, sizeof *x), *b = calloc(N * NB, sizeof *b);
  double *work = calloc(N * NB, sizeof *work);
  for (int i = 0; i < N; ++i) {
    for (size_t k = row[i]; k < row[i + 1]; ++k) {
      for (int e = 0; e < NB * NB; ++e) a[k * NB * NB + (size_t)e] = uniform();
      for (int c = 0; col[k] == i && c < NB; ++c) a[k * NB * NB + (size_t)(c * (NB + 1))] += 4.0;
    }
  }
  for (int p = 0; p < N * NB; ++p) x[p] = b[p] = uniform();
  scree_Factor *factor = NULL;
  assert_int_equal(scree_factor_create(N, NB, row, col, SCREE_FACTOR_UNSYMMETRIC, NULL, &factor),
                   SCREE_OK);
  assert_int_equal(scree_factor_compute(factor, a, NULL), SCREE_OK);
  scree_factor_solve(factor, work, x);
  for (int i = 0; i < N; ++i) {
    for (int r = 0; r < NB; ++r) {
      double sum = -b[i * NB + r];
      for (size_t k = row[i]; k < row[i + 1]; ++k) {
        for (int c = 0; c < NB; ++c)
          sum += a[k * NB * NB + (size_t)(r * NB + c)] * x[col[k] * NB + c];
      }
      assert_true(fabs(sum) < 1e-11);
    }
  }
  scree_factor_destroy(factor);
  free(row);
  free(col);
  free(a);
  free(x);
  free(b);
  free(work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(empty),          cmocka_unit_test(refused),
      cmocka_unit_test(chains),         cmocka_unit_test(grids),
      cmocka_unit_test(stars),          cmocka_unit_test(cliques),
      cmocka_unit_test(nearly_cliques), cmocka_unit_test(random_graphs),
      cmocka_unit_test(quasi_definite), cmocka_unit_test(singular),
      cmocka_unit_test(dependent),      cmocka_unit_test(not_finite),
      cmocka_unit_test(large_grid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
