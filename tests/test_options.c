/* Option tables: defaults, strict parsing, ranges, messages, and words read back from text. */
#include "scree/options.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct Values {
  double rho, tolerance;
  int sweeps, order;
  bool warm;
  char inner[SCREE_OPTION_NAME_SIZE];
} Values;

static const char *const orders[] = {"forward", "backward", "symmetric", NULL};
static const char *const inner[] = {"nlgs", NULL};

static const scree_Option options[] = {
    {"rho", SCREE_OPTION_REAL, offsetof(Values, rho), 0, 0, HUGE_VAL, true, NULL, "penalty"},
    {"tolerance", SCREE_OPTION_REAL, offsetof(Values, tolerance), 1e-8, 1e-16, 1, false, NULL, "t"},
    {"sweeps", SCREE_OPTION_INT, offsetof(Values, sweeps), 10, 1, INT_MAX, false, NULL, "sweeps"},
    {"order", SCREE_OPTION_CHOICE, offsetof(Values, order), 1, 0, 0, false, orders, "order"},
    {"warm", SCREE_OPTION_BOOL, offsetof(Values, warm), 1, 0, 0, false, NULL, "warm start"},
    {"inner", SCREE_OPTION_NAME, offsetof(Values, inner), 0, 0, 0, false, inner, "inner solver"}};

static const scree_OptionTable table = {options, 6, sizeof(Values)};

static char last[1024];

static void keep(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  (void)level;
  snprintf(last, sizeof last, "%s", message);
}

static const scree_Log log_last = {keep, NULL};

static scree_Status set(Values *values, const char *name, const char *text) {
  last[0] = '\0';
  return scree_options_set(&table, "solver test", values, name, text, &log_last);
}

static void test_defaults(void **state) {
  (void)state;
  Values v;
  memset(&v, 0xff, sizeof v);
  scree_options_init(&table, &v);
  assert_true(v.rho == 0.0 && v.tolerance == 1e-8 && v.sweeps == 10 && v.order == 1 && v.warm);
  assert_string_equal(v.inner, "nlgs");
}

static void test_accepts(void **state) {
  (void)state;
  Values v;
  scree_options_init(&table, &v);
  assert_int_equal(set(&v, "rho", "2.5e-3"), SCREE_OK);
  assert_true(v.rho == 2.5e-3);
  assert_int_equal(set(&v, "rho", "auto"), SCREE_OK);
  assert_true(v.rho == 0.0);
  assert_int_equal(set(&v, "tolerance", "1"), SCREE_OK);
  assert_int_equal(set(&v, "sweeps", "2147483647"), SCREE_OK);
  assert_int_equal(v.sweeps, INT_MAX);
  assert_int_equal(set(&v, "sweeps", "1e3"), SCREE_OK);
  assert_int_equal(v.sweeps, 1000);
  assert_int_equal(set(&v, "order", "symmetric"), SCREE_OK);
  assert_int_equal(v.order, 2);
  const char *const no[] = {"no", "false", "off", "0"}, *const yes[] = {"yes", "true", "on", "1"};
  for (int k = 0; k < 4; ++k) {
    assert_int_equal(set(&v, "warm", no[k]), SCREE_OK);
    assert_false(v.warm);
    assert_int_equal(set(&v, "warm", yes[k]), SCREE_OK);
    assert_true(v.warm);
  }
  assert_int_equal(set(&v, "inner", "apgd-asr"), SCREE_OK);
  assert_string_equal(v.inner, "apgd-asr");
}

static void test_refuses(void **state) {
  (void)state;
  static const char *const bad[][2] = {{"rho", ""},
                                       {"rho", "1x"},
                                       {"rho", " 1"},
                                       {"rho", "nan"},
                                       {"rho", "inf"},
                                       {"rho", "0x10"},
                                       {"rho", "-1"},
                                       {"rho", "1e999"},
                                       {"rho", "1e"},
                                       {"rho", "Auto"},
                                       {"tolerance", "auto"},
                                       {"tolerance", "2"},
                                       {"tolerance", "0"},
                                       {"sweeps", "0"},
                                       {"sweeps", "1.5"},
                                       {"sweeps", "2147483648"},
                                       {"sweeps", "ten"},
                                       {"warm", "maybe"},
                                       {"warm", "Yes "},
                                       {"order", "up"},
                                       {"inner", ""},
                                       {"order", ""},
                                       {"inner", "a-name-that-is-much-too-long-for-it"}};
  Values v, before;
  scree_options_init(&table, &v);
  before = v;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
    assert_int_equal(set(&v, bad[k][0], bad[k][1]), SCREE_BAD_INPUT);
    assert_memory_equal(&v, &before, sizeof v);
    assert_non_null(strstr(last, "solver test"));
    assert_non_null(strstr(last, bad[k][0]));
    assert_non_null(strstr(last, "expected"));
  }
  set(&v, "tolerance", "2");
  assert_non_null(strstr(last, "from 1e-16 to 1"));
  set(&v, "order", "foward");
  assert_non_null(strstr(last, "did you mean forward?"));
  assert_int_equal(set(&v, "tolernace", "1"), SCREE_BAD_INPUT);
  assert_non_null(strstr(last, "did you mean \"tolerance\"?"));
  assert_int_equal(set(&v, "zzzz", "1"), SCREE_BAD_INPUT);
  assert_null(strstr(last, "did you mean"));
  assert_non_null(strstr(last, "rho, tolerance, sweeps"));
}

static void test_text_reads_back(void **state) {
  (void)state;
  Values v, copy;
  scree_options_init(&table, &v);
  static const double numbers[] = {0.1, 1.0 / 3.0, DBL_MIN, 1e300, 3.0, 0.0};
  for (size_t n = 0; n < sizeof numbers / sizeof *numbers; ++n) {
    v.rho = numbers[n];
    scree_options_init(&table, &copy);
    for (int k = 0; k < table.count; ++k) {
      char text[64];
      scree_options_get(&table, &v, k, text, sizeof text);
      assert_int_equal(set(&copy, options[k].name, text), SCREE_OK);
    }
    assert_true(copy.rho == v.rho && copy.tolerance == v.tolerance && copy.order == v.order);
  }
  char text[64];
  v.rho = 0.0;
  scree_options_get(&table, &v, 0, text, sizeof text);
  assert_string_equal(text, "auto");
  v.rho = 0.1;
  scree_options_get(&table, &v, 0, text, sizeof text);
  assert_string_equal(text, "0.1");
}

static void test_nearest(void **state) {
  (void)state;
  static const char *const words[] = {"solve", "solvers", "info", "run", "race", NULL};
  assert_string_equal(scree_nearest_word("sovle", words), "solve");
  assert_string_equal(scree_nearest_word("solver", words), "solve");
  assert_string_equal(scree_nearest_word("inof", words), "info");
  assert_string_equal(scree_nearest_word("rin", words), "run");
  assert_null(scree_nearest_word("x", words));
  assert_null(scree_nearest_word("certificate", words));
  assert_null(scree_nearest_word("", words));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults), cmocka_unit_test(test_accepts),
      cmocka_unit_test(test_refuses),  cmocka_unit_test(test_text_reads_back),
      cmocka_unit_test(test_nearest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
