/* The account of solves beyond the tolerance (step/account.c), with made-up cases: when they are
 * made whatever they cost, and when an error is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "step/account.h"

/* The remains of a fall: bodies shake with a thousandth of the energy of a usual step. */
static const scree_TightenCase shaking = {.defect = 1e-9,
                                          .exchanged = 1e-6,
                                          .supplied = 0,
                                          .held = 1e-9,
                                          .turned_over = 1,
                                          .creep = 0,
                                          .e_n = 1};

/* After so many steps that each cost `beyond` seconds of such solves and `other` seconds of others.
 */
static scree_TightenAccount after(int steps, double beyond, double other) {
  scree_TightenAccount account = {0};
  for (int k = 0; k < steps; ++k) {
    account.now = beyond;
    scree_account_close(&account, beyond + other, 1e-6);
  }
  return account;
}

static bool pays(const scree_TightenAccount *of, const scree_TightenCase *what) {
  scree_TightenAccount account = *of;
  const bool made = scree_account_pays(&account, what);
  assert_true(account.left == of->left + (made ? 0 : what->defect));
  return made;
}

static void test_price(void **state) {
  (void)state;
  const scree_TightenAccount begun = after(100, 1e-3, 0), overdrawn = after(1000, 2e-3, 1e-3);
  assert_true(pays(&begun, &shaking)); /* what small worlds need for a whole run */
  assert_false(pays(&overdrawn, &shaking));
  const scree_TightenAccount cheap = after(10000, 0.4e-3, 1e-3);
  assert_true(pays(&cheap, &shaking)); /* cheaper than half of the other solves */
  const scree_TightenAccount few = after(100000, 1e-5, 0);
  assert_true(pays(&few, &shaking)); /* ten sweeps in each step */
  scree_TightenAccount step = after(1000, 0, 1e-3);
  assert_true(pays(&step, &shaking)); /* what was not used is not saved up, */
  step.now = 10;
  assert_false(pays(&step, &shaking)); /* so that a single step can overdraw it, too */
}

/* Solves that are made although 2000 s have been spent. */
static void test_exceptions(void **state) {
  (void)state;
  const scree_TightenAccount overdrawn = after(1000, 2, 0);
  scree_TightenCase c = shaking;
  assert_false(pays(&overdrawn, &c));
  c.exchanged = 2e-4; /* steps on average: 1e-3 */
  assert_true(pays(&overdrawn, &c));
  c = shaking;
  c.supplied = 1e-3 * c.exchanged; /* slow loading */
  assert_true(pays(&overdrawn, &c));
  c = shaking;
  c.held = c.exchanged; /* rest */
  assert_true(pays(&overdrawn, &c));
  c = shaking;
  c.creep = 0.2;
  assert_true(pays(&overdrawn, &c));
  c.creep = NAN;
  assert_true(pays(&overdrawn, &c));
  c = shaking;
  c.e_n = 0.5;
  assert_true(pays(&overdrawn, &c));
}

static void test_bank(void **state) {
  (void)state;
  scree_TightenAccount account = after(1000, 2, 0);
  scree_TightenCase c = shaking;
  c.defect = 1e-6;
  int left = 0;
  while (left < 10000 && !scree_account_pays(&account, &c)) ++left;
  assert_in_range(left, 450, 550); /* 5e-4 of the energy turned over in all */
  c.turned_over = 2;
  assert_false(pays(&account, &c));
  c.defect = 1;
  assert_true(pays(&account, &c));
}

static void test_saved(void **state) {
  (void)state;
  scree_TightenAccount account = after(10, 1, 0);
  assert_true(scree_account_is_valid(&account));
  double *const all[] = {&account.steps, &account.now, &account.spent, &account.left};
  static const double bad[] = {-1, INFINITY, NAN};
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 3; ++i) {
      const double kept = *all[k];
      *all[k] = bad[i];
      assert_false(scree_account_is_valid(&account));
      *all[k] = kept;
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_price),
                                     cmocka_unit_test(test_exceptions), cmocka_unit_test(test_bank),
                                     cmocka_unit_test(test_saved)};
  return cmocka_run_group_tests_name("tighten", tests, NULL, NULL);
}
