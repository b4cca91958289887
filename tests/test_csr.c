/* Assembled problems from a sparse matrix in compressed rows: the same problem as from the dense
 * matrix, whatever the order of the entries; what is missing and what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scree/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NC = 7, N_MAX = 3 * NC };

static char message[1024];

static void keep(void *user, scree_LogLevel level, const char *text) {
  (void)user;
  if (level == SCREE_LOG_ERROR) strncpy(message, text, sizeof message - 1);
}

static const scree_Log log_of_test = {keep, NULL};

static double next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed / 4294967296.0 - 0.5;
}

/* A chain of contacts: blocks on the diagonal and beside it, diagonally dominant. */
static void make_chain(int d, double *W, double *q, double *mu) {
  uint32_t seed = 5;
  const int n = NC * d;
  memset(W, 0, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j)
      if (abs(i / d - j / d) < 2) W[i * n + j] = W[j * n + i] = i == j ? 6 : next_random(&seed);
  for (int i = 0; i < n; ++i) q[i] = next_random(&seed) - (i % d == 0);
  for (int c = 0; c < NC; ++c) mu[c] = 0.1 * c;
}

/* Rows of W; `hard`: backwards, each entry cut in two parts, with stored zeros between. */
static size_t compress(int n, const double *W, bool hard, size_t *row, int *col, double *x) {
  size_t count = 0;
  for (int i = 0; i < n; ++i) {
    row[i] = count;
    for (int k = 0; k < n; ++k) {
      const int j = hard ? n - 1 - k : k;
      const double value = W[i * n + j];
      if (value == 0 && !hard) continue;
      for (int part = 0; part < (hard ? 2 : 1); ++part) {
        col[count] = j;
        x[count++] = hard ? 0.5 * value : value;
      }
    }
  }
  row[n] = count;
  return count;
}

static void same_as_dense(void **state) {
  (void)state;
  static double W[N_MAX * N_MAX], q[N_MAX], mu[NC], x[2 * N_MAX * N_MAX];
  static int col[2 * N_MAX * N_MAX];
  size_t row[N_MAX + 1];
  for (int d = 2; d <= 3; ++d)
    for (int hard = 0; hard < 2; ++hard) {
      scree_Problem dense, sparse;
      make_chain(d, W, q, mu);
      compress(NC * d, W, hard, row, col, x);
      assert_int_equal(scree_problem_create_dense(&dense, d, NC, W, q, mu, NULL), SCREE_OK);
      assert_int_equal(
          scree_problem_create_csr(&sparse, d, NC, row, col, x, q, mu, false, &log_of_test),
          SCREE_OK);
      assert_int_equal(scree_problem_check(&sparse, NULL), SCREE_OK);
      const size_t blocks = dense.blocks.row[NC];
      assert_memory_equal(sparse.blocks.row, dense.blocks.row, (NC + 1) * sizeof *row);
      assert_memory_equal(sparse.blocks.col, dense.blocks.col, blocks * sizeof *col);
      assert_memory_equal(sparse.blocks.x, dense.blocks.x, blocks * (size_t)(d * d) * sizeof *x);
      assert_memory_equal(sparse.q, dense.q, (size_t)(NC * d) * sizeof *q);
      assert_memory_equal(sparse.mu, dense.mu, NC * sizeof *mu);
      scree_problem_destroy(&dense);
      scree_problem_destroy(&sparse);
    }
}

/* A contact whose rows are empty has a diagonal block of zeros; sets can be filled in. */
static void missing_diagonal(void **state) {
  (void)state;
  const size_t row[5] = {0, 1, 2, 2, 2};
  const int col[2] = {0, 1};
  const double x[2] = {2, 1};
  scree_Problem problem;
  assert_int_equal(scree_problem_create_csr(&problem, 2, 2, row, col, x, NULL, NULL, true, NULL),
                   SCREE_OK);
  assert_int_equal(scree_problem_check(&problem, NULL), SCREE_OK);
  assert_int_equal(problem.blocks.row[2], 2);
  assert_int_equal(problem.blocks.col[1], 1);
  for (int k = 4; k < 8; ++k) assert_true(problem.blocks.x[k] == 0);
  assert_non_null(problem.set);
  assert_int_equal(scree_problem_set(&problem, 1).kind, SCREE_SET_CONE);
  problem.q[0] = -1; /* with mu = 0: the impulse is 1/2 */
  double r[4], u[4];
  scree_SolveSettings settings = scree_solve_settings();
  assert_int_equal(scree_solve(&problem, &settings, r, u, NULL, NULL), SCREE_OK);
  assert_true(fabs(r[0] - 0.5) < 1e-8 && fabs(u[0]) < 1e-8);
  scree_problem_destroy(&problem);
  assert_int_equal(
      scree_problem_create_csr(&problem, 3, 0, NULL, NULL, NULL, NULL, NULL, false, NULL),
      SCREE_OK);
  scree_problem_destroy(&problem);
}

static void expect(const char *part, int d, int nc, const size_t *row, const int *col,
                   const double *x, const double *q, const double *mu) {
  scree_Problem problem;
  message[0] = 0;
  assert_int_equal(
      scree_problem_create_csr(&problem, d, nc, row, col, x, q, mu, false, &log_of_test),
      SCREE_BAD_INPUT);
  if (!strstr(message, part)) fail_msg("\"%s\" does not contain \"%s\"", message, part);
  assert_null(problem.owned);
}

static void refusals(void **state) {
  (void)state;
  const size_t row[3] = {0, 1, 2}, late[3] = {1, 1, 2}, back[3] = {0, 2, 1};
  const int col[2] = {0, 1}, wide[2] = {0, 2}, negative[2] = {-1, 1};
  const double x[2] = {1, 1}, bad[2] = {1, NAN}, q[2] = {0, INFINITY}, mu[1] = {-0.5};
  expect("size 2 or 3", 4, 1, row, col, x, NULL, NULL);
  expect("-1 contacts", 2, -1, row, col, x, NULL, NULL);
  expect("null", 2, 1, NULL, col, x, NULL, NULL);
  expect("null", 2, 1, row, NULL, x, NULL, NULL);
  expect("row 0 begins at entry 1", 2, 1, late, col, x, NULL, NULL);
  expect("row 1 ends at entry 1", 2, 1, back, col, x, NULL, NULL);
  expect("column 2 in row 1, expected 0 to 1", 2, 1, row, wide, x, NULL, NULL);
  expect("column -1 in row 0", 2, 1, row, negative, x, NULL, NULL);
  expect("entry (1, 1) is nan", 2, 1, row, col, bad, NULL, NULL);
  expect("q: entry 1 is inf", 2, 1, row, col, x, q, NULL);
  expect("mu: contact 0 has -0.5", 2, 1, row, col, x, NULL, mu);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_dense),
                                     cmocka_unit_test(missing_diagonal),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
