/* Contacts of bodies of different sizes as contacts of bodies of one size: W r + q, errors and
 * velocities are those of the problem itself, and problems without such a form are refused. */
#include "problem/operator.h"
#include "problem/widen.h"
#include "small_problems.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { BODIES = 3, VERTICES = 3, CONTACTS = 2, FURTHER = 4, MOST = 3 * (CONTACTS + FURTHER) };

static const int body[2 * CONTACTS] = {0, 1, 2, -1};
static const int sizes[VERTICES] = {12, 6, 12};
static const int touches[FURTHER] = {2, 1, 2, 2};
static const int touched[] = {3, 0, 4, 5, 3, 1, 5}; /* vertices 3 to 5 are the further ones */

static void fill(double *x, size_t count, unsigned long long *seed) {
  for (size_t k = 0; k < count; ++k) x[k] = small_random(seed);
}

static void create(scree_Problem *p, int d, bool balls, const int *rows, const size_t *coupled_row,
                   const int *coupled_col) {
  const scree_ProblemLayout layout = {.d = d,
                                      .contacts = CONTACTS,
                                      .balls = balls,
                                      .bodies = BODIES,
                                      .nb = d == 3 ? 6 : 3,
                                      .body = body,
                                      .vertices = VERTICES,
                                      .vertex_size = sizes,
                                      .coupled_row = coupled_row,
                                      .coupled_col = coupled_col,
                                      .constraints = FURTHER,
                                      .rows = rows,
                                      .touches = touches,
                                      .touched = touched,
                                      .with_compliance = true};
  unsigned long long seed = 7;
  assert_int_equal(scree_problem_create(p, &layout, NULL), SCREE_OK);
  const size_t dd = (size_t)(d * d), nb = (size_t)p->bodies.nb;
  if (balls) {
    for (size_t c = 0; c < CONTACTS; ++c) p->bodies.normal[3 * c + c] = 1;
    fill(p->bodies.arm, 4 * CONTACTS, &seed);
    p->bodies.arm[6] = p->bodies.arm[7] = 0; /* the obstacle */
  } else {
    fill(p->bodies.B, CONTACTS * 2 * (size_t)d * nb, &seed);
    memset(p->bodies.B + 3 * (size_t)d * nb, 0, (size_t)d * nb * sizeof(double));
  }
  fill(p->general.B, p->general.block[p->general.entry[FURTHER]], &seed);
  for (size_t k = 0; k < CONTACTS * dd; k += (size_t)d + 1) p->bodies.C[k % (CONTACTS * dd)] = 0.1;
  double *C = p->general.C; /* a block for each constraint */
  for (size_t k = 0; k < FURTHER; ++k) {
    const size_t n = (size_t)rows[k];
    for (size_t i = 0; i < n; ++i) C[i * (n + 1)] = 0.01 * (double)(k + 1);
    C += n * n;
  }
  fill(p->q, scree_problem_rows(p), &seed);
  for (int c = 0; c < CONTACTS + FURTHER; ++c) p->mu[c] = 0.1 * (c + 1);
}

static void same_numbers(int d, bool balls) {
  const int rows[FURTHER] = {d, d, d, d};
  scree_Problem p, wide;
  scree_Arena arena = {0};
  double r[MOST], u[2][MOST];
  unsigned long long seed = 3;
  create(&p, d, balls, rows, NULL, NULL);
  fill(r, MOST, &seed);
  assert_true(scree_problem_can_widen(&p));
  assert_int_equal(scree_problem_widen(&p, &arena, &wide, NULL), SCREE_OK);
  assert_int_equal(wide.nc, CONTACTS + FURTHER);
  assert_int_equal(wide.bodies.nb, 12);
  assert_int_equal(scree_problem_rows(&wide), scree_problem_rows(&p));
  scree_Operator W[2];
  double *y[2];
  const scree_Problem *both[2] = {&p, &wide};
  scree_Measures measures[2];
  for (int k = 0; k < 2; ++k) {
    assert_int_equal(scree_operator_create(both[k], 1, NULL, &W[k]), SCREE_OK);
    assert_non_null(y[k] = SCREE_TAKE(&arena, double, W[k].state_size));
    scree_operator_apply(&W[k], r, p.q, y[k], u[k]);
    assert_int_equal(scree_problem_measure(both[k], r, NULL, u[k], &measures[k], NULL), SCREE_OK);
  }
  double largest = 0;
  for (size_t i = 0; i < scree_problem_rows(&p); ++i) {
    assert_true(fabs(u[0][i] - u[1][i]) <= 1e-13);
    largest = fmax(largest, fabs(u[0][i] - p.q[i]));
  }
  assert_true(largest > 0.1); /* W r is not zero */
  assert_true(fabs(measures[0].error - measures[1].error) <= 1e-13);
  assert_true(fabs(measures[0].merit - measures[1].merit) <= 1e-12 * measures[0].merit);
  const double *narrow;
  assert_int_equal(scree_problem_narrow(&p, &wide, y[1], &arena, &narrow, NULL), SCREE_OK);
  for (size_t i = 0; i < W[0].state_size; ++i) assert_true(fabs(narrow[i] - y[0][i]) <= 1e-13);
  for (int k = 0; k < 2; ++k) scree_operator_destroy(&W[k]);
  scree_arena_fini(&arena);
  scree_problem_destroy(&p);
}

static void test_same_numbers(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d)
    for (int balls = 0; balls < 2; ++balls) same_numbers(d, balls);
}

static void test_refused(void **state) {
  static const size_t row[] = {0, 0, 1, 1};
  static const int col[] = {0};
  (void)state;
  scree_Problem p;
  const int joint[FURTHER] = {3, 1, 3, 3}, plain[FURTHER] = {3, 3, 3, 3};
  create(&p, 3, false, joint, NULL, NULL);
  assert_false(scree_problem_can_widen(&p)); /* a constraint of one row */
  scree_problem_destroy(&p);
  create(&p, 3, false, plain, row, col);
  assert_false(scree_problem_can_widen(&p)); /* coupled vertices */
  scree_problem_destroy(&p);
  create(&p, 3, false, plain, NULL, NULL);
  p.set[CONTACTS + 1] = SCREE_SET_SPACE;
  assert_false(scree_problem_can_widen(&p)); /* a ball joint */
  scree_problem_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_numbers),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
