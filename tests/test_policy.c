/* The decisions of `auto`, with made-up histories: no problem is solved to test them. Then that
 * real solves record what they have done, and that a time limit is used. */
#define _DEFAULT_SOURCE /* scandir */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_problems.h"
#include "solver/policy.h"

/* A packing in space of 1000 contacts, a factorisation costs 50 sweeps. */
static scree_Facts usual_facts(void) {
  return (scree_Facts){.d = 3,
                       .contacts = 1000,
                       .factorises = true,
                       .follows = true,
                       .tolerance = 1e-8,
                       .sweep_seconds = 48e-6,
                       .price = 50.0,
                       .factor_seconds = 50.0 * 48e-6,
                       .work_left = INFINITY,
                       .time_left = INFINITY};
}

static void add(scree_History *h, const scree_Action *action, double after) {
  const double before = h->count ? h->stage[h->count - 1].record.error_after : 1.0;
  assert_true(h->count < SCREE_STAGES_MOST);
  h->stage[h->count++] = (scree_Stage){.action = *action,
                                       .record = {.name = scree_action_name(action->kind),
                                                  .error_before = before,
                                                  .error_after = after}};
}

/* Let nothing succeed: the names of all stages, in order. `ratio`: what each makes of the error. */
static void play(const scree_Facts *facts, double ratio, scree_History *h, char *names,
                 size_t size) {
  double error = 1.0;
  names[0] = '\0';
  h->count = 0;
  for (int k = 0; k <= SCREE_STAGES_MOST; ++k) {
    const scree_Action action = scree_policy_next(facts, h);
    if (action.kind == SCREE_ACTION_STOP) return;
    error *= ratio;
    add(h, &action, error);
    strncat(names, scree_action_name(action.kind), size - strlen(names) - 1);
    strncat(names, " ", size - strlen(names) - 1);
  }
  fail_msg("it does not stop: %s", names);
}

static void expect_order(const scree_Facts *facts, double ratio, const char *expected) {
  static scree_History h;
  char names[1000];
  play(facts, ratio, &h, names, sizeof names);
  assert_string_equal(names, expected);
}

/* implicit and pivot after the first ipm, for cold starts to many digits. */
static void test_packings(void **unused) {
  (void)unused;
  scree_Facts f = usual_facts();
  static scree_History h;
  char names[4000];
  f.steps = true;
  expect_order(
      &f, 0.9,
      "nlgs analysis nlgs newton nlgs ipm newton implicit nlgs lemke newton ipm newton ipm "
      "newton ipm newton ipm newton nlgs ");
  f.pivots = true;
  expect_order(
      &f, 0.9,
      "nlgs analysis nlgs newton nlgs ipm newton pivot implicit nlgs lemke newton ipm newton ipm "
      "newton ipm newton ipm newton nlgs ");
  f.contacts = 300; /* in small problems implicit comes first */
  expect_order(
      &f, 0.9,
      "nlgs analysis nlgs newton nlgs ipm newton implicit pivot nlgs lemke newton ipm newton ipm "
      "newton ipm newton ipm newton nlgs ");
  f.contacts = 1000;
  f.time_left = 60.0; /* in each round, for longer */
  play(&f, 0.9, &h, names, sizeof names);
  int most = 0, count = 0;
  for (int k = 0; k < h.count; ++k) {
    if (h.stage[k].action.kind != SCREE_ACTION_IMPLICIT) continue;
    assert_true(h.stage[k].action.factorisations >= (count > 0 ? 2 * most : 1));
    most = h.stage[k].action.factorisations;
    ++count;
  }
  assert_true(count > 1);
  f.warm = true;
  play(&f, 0.9, &h, names, sizeof names);
  assert_null(strstr(names, "implicit"));
  assert_null(strstr(names, "pivot"));
  f.warm = false;
  f.tolerance = 1e-4;
  play(&f, 0.9, &h, names, sizeof names);
  assert_null(strstr(names, "implicit"));
  assert_null(strstr(names, "pivot"));
}

static void test_order(void **unused) {
  (void)unused;
  scree_Facts f = usual_facts();
  /* ipm hardly lowers the error: the path comes at once; else after five starts */
  expect_order(&f, 0.9,
               "nlgs analysis nlgs newton nlgs ipm newton nlgs lemke newton ipm newton ipm newton "
               "ipm newton ipm newton nlgs ");
  expect_order(&f, 0.5,
               "nlgs analysis nlgs newton nlgs ipm newton ipm newton ipm newton ipm newton ipm "
               "newton nlgs lemke newton nlgs ");
  f.contacts = 150; /* short paths come at once in any case */
  expect_order(&f, 0.5,
               "nlgs analysis nlgs newton nlgs ipm newton nlgs lemke newton ipm newton ipm newton "
               "ipm newton ipm newton nlgs ");
  f.contacts = 100000; /* long ones never */
  expect_order(&f, 0.9,
               "nlgs analysis nlgs newton nlgs ipm newton ipm newton ipm newton ipm newton ipm "
               "newton nlgs ");
  f = usual_facts();
  f.associated = true; /* convex: one start is enough, and there is no path */
  f.follows = false;
  expect_order(&f, 0.9, "nlgs analysis nlgs newton nlgs ipm newton nlgs ");
  f.factorises = false; /* sets that only sweeps can take */
  expect_order(&f, 0.9, "nlgs nlgs ");
}

static void test_bodies(void **unused) {
  (void)unused;
  scree_Facts f = usual_facts();
  static scree_History h;
  char names[1000];
  f.assembled = true;
  play(&f, 0.9, &h, names, sizeof names);
  assert_int_equal(h.stage[1].action.kind, SCREE_ACTION_RECOVER);
  assert_int_equal(h.stage[2].action.kind, SCREE_ACTION_ANALYSE);
  f.tolerance = 1e-11; /* rounding is left between B B^T and W */
  play(&f, 0.9, &h, names, sizeof names);
  assert_int_equal(h.stage[1].action.kind, SCREE_ACTION_ANALYSE);
  f.tolerance = 1e-8;
  f.contacts = 50; /* not worth it */
  play(&f, 0.9, &h, names, sizeof names);
  assert_int_equal(h.stage[1].action.kind, SCREE_ACTION_ANALYSE);
}

static void test_warm_start(void **unused) {
  (void)unused;
  scree_Facts f = usual_facts();
  f.warm = true; /* once more from zero; long paths are not taken, since a step can be halved */
  expect_order(&f, 0.9,
               "nlgs analysis nlgs newton restart nlgs newton nlgs ipm newton ipm newton ipm "
               "newton ipm newton ipm newton nlgs ");
  f.polish = true;
  expect_order(&f, 0.9, "nlgs analysis nlgs newton ");
  f.pivots = true;
  expect_order(&f, 0.9, "nlgs analysis nlgs newton pivot ");
  f.work_left = 5.0 * f.factor_seconds; /* not enough for pivot */
  expect_order(&f, 0.9, "nlgs analysis nlgs newton ");
  f.work_left = INFINITY;
  f.pivots = false;
  f.polish = false;
  /* from a start that is nearly solved: no restart; ipm only if enough work is left for it */
  static scree_History h;
  h.count = 0;
  const scree_Action first = scree_policy_next(&f, NULL);
  const scree_Action newton = {.kind = SCREE_ACTION_NEWTON, .phase = SCREE_PHASE_NEWTON};
  add(&h, &first, 1e-4);
  h.stage[0].record.error_before = 2e-4;
  add(&h, &newton, 1e-4);
  const scree_Action after = scree_policy_next(&f, &h);
  assert_int_equal(after.phase, SCREE_PHASE_LONG);
  add(&h, &after, 1e-4);
  assert_int_equal(scree_policy_next(&f, &h).kind, SCREE_ACTION_IPM);
  f.work_left = 5.0 * f.factor_seconds;
  assert_int_equal(scree_policy_next(&f, &h).phase, SCREE_PHASE_REST);
}

static void test_ends(void **unused) {
  (void)unused;
  scree_Facts f = usual_facts();
  static scree_History h;
  h.count = 0;
  const scree_Action first = scree_policy_next(&f, NULL);
  assert_int_equal(first.kind, SCREE_ACTION_SWEEP);
  assert_true(first.least > 0.0 && first.most >= first.least);
  add(&h, &first, 1e-9);
  h.stage[0].finished = true;
  assert_int_equal(scree_policy_next(&f, &h).kind, SCREE_ACTION_STOP);
  /* little work is left: sweeps until it is used up */
  h.stage[0].finished = false;
  f.work_left = 100.0 * f.sweep_seconds;
  const scree_Action rest = scree_policy_next(&f, &h);
  assert_int_equal(rest.phase, SCREE_PHASE_REST);
  assert_true(isinf(rest.least) && isinf(rest.most));
  add(&h, &rest, 1e-5);
  assert_int_equal(scree_policy_next(&f, &h).kind, SCREE_ACTION_STOP);
}

/* Where a factorisation is cheap, newton needs no sweeps before it. */
static void test_prices(void **unused) {
  (void)unused;
  scree_Facts f = usual_facts();
  static scree_History h;
  char names[1000];
  f.price = 5.0;
  play(&f, 0.9, &h, names, sizeof names);
  assert_int_equal(h.stage[2].action.kind, SCREE_ACTION_NEWTON);
  assert_false(h.stage[2].action.patient);
  /* sweeps may cost what the next method costs: more, where factorisations are dearer */
  double most = 0.0;
  for (int k = 0; k < 5; ++k) {
    f.price = 100.0 * (k + 1);
    play(&f, 0.9, &h, names, sizeof names);
    assert_int_equal(h.stage[2].action.phase, SCREE_PHASE_APPROACH);
    assert_true(h.stage[2].action.most > most);
    most = h.stage[2].action.most;
  }
  /* after many sweeps a rate is not judged by a few */
  const double least = h.stage[2].action.least;
  h.count = 2;
  h.stage[0].record.iterations = 4000;
  assert_true(scree_policy_next(&f, &h).least > least);
  f.balls = true; /* sweeps are cheaper there */
  assert_true(scree_policy_next(&f, NULL).most >
              scree_policy_next(&(scree_Facts){.d = 3}, NULL).most);
}

/* With a time limit all other starts are tried, and what is left is filled with sweeps; every start
 * is another one. */
static void test_time_limit(void **unused) {
  (void)unused;
  scree_Facts f = usual_facts();
  static scree_History h;
  char names[4000];
  f.contacts = 5000;
  f.factor_seconds = 2e-3; /* the path: 50 s */
  play(&f, 0.9, &h, names, sizeof names);
  assert_null(strstr(names, "lemke"));
  const int untimed = h.count;
  f.time_left = 30.0;
  play(&f, 0.9, &h, names, sizeof names);
  assert_null(strstr(names, "lemke")); /* not even now */
  f.time_left = 60.0;
  play(&f, 0.9, &h, names, sizeof names);
  assert_non_null(strstr(names, "lemke"));
  assert_true(h.count > untimed + 10);
  assert_int_equal(h.stage[h.count - 1].action.phase, SCREE_PHASE_REST);
  int paths = 0;
  for (int k = 0; k < h.count; ++k) {
    const scree_Action *a = &h.stage[k].action;
    if (a->kind == SCREE_ACTION_LEMKE) assert_int_equal(a->start, paths++);
    for (int j = 0; j < k && a->kind == SCREE_ACTION_IPM; ++j) {
      const scree_Action *b = &h.stage[j].action;
      assert_false(b->kind == SCREE_ACTION_IPM && a->kappa == b->kappa &&
                   a->barrier == b->barrier && a->weight == b->weight);
    }
  }
  assert_true(paths > 1);
  f.warm = true; /* a time step is halved instead */
  play(&f, 0.9, &h, names, sizeof names);
  assert_true(h.stage[h.count - 1].action.phase != SCREE_PHASE_REST);
  f.warm = false;
  f.factorises = false;
  expect_order(&f, 0.9, "nlgs nlgs nlgs ");
}

/* ---- sweeps ---- */

/* Sweeps whose error falls by `rate` each: how many are made. */
static int sweep_within(double rate, const scree_SweepLimits *limits, bool momentum, bool *last) {
  scree_SweepRecord record = {
      .half_error = 1.0, .lowest = 1.0, .error = 1.0, .momentum = momentum, .may_calm = true};
  int group = 1;
  while (record.done < 100000 && record.error > 1e-8) {
    const double before = record.error;
    for (int k = 0; k < group; ++k) record.error *= rate;
    if (!scree_policy_keep_sweeping(&record, group, before, limits, 1e-8)) break;
    group = 1 + record.done / 2;
  }
  *last = record.momentum;
  return record.done;
}

static int sweep_at(double rate, double least, double most, bool momentum, bool *last) {
  const scree_SweepLimits limits = {.least = least, .most = most, .idle = least};
  return sweep_within(rate, &limits, momentum, last);
}

/* Estimated errors, whose groups are short, that fall in waves of `period` sweeps: by `rate` each,
 * less `swing` of them in turns. How many sweeps are made in 5000. */
static int sweep_in_waves(double rate, double swing, int period, bool *last) {
  scree_SweepRecord record = {.half_error = 1.0,
                              .lowest = 1.0,
                              .error = 1.0,
                              .judged_error = 1.0,
                              .momentum = true,
                              .may_calm = true,
                              .estimated = true};
  const scree_SweepLimits limits = {.least = 100, .most = 1e5, .idle = 100};
  int group = 1;
  double trend = 1.0;
  while (record.done < 5000 && trend > 1e-8) {
    const double before = record.error;
    for (int k = 0; k < group; ++k) trend *= rate;
    record.error = trend * ((record.done + group) / period % 2 ? swing : 1.0);
    if (!scree_policy_keep_sweeping(&record, group, before, &limits, 1e-8)) break;
    group = scree_policy_next_group(record.done, true);
    assert_in_range(group, 1, 12);
  }
  *last = record.momentum;
  return record.done;
}

static void test_estimated(void **unused) {
  (void)unused;
  bool momentum;
  assert_int_equal(scree_policy_next_group(10, true), scree_policy_next_group(10, false));
  assert_int_equal(scree_policy_next_group(100, false), 51);
  /* waves do not end momentum, which a comparison of neighbouring groups would */
  assert_in_range(sweep_in_waves(0.97, 1.5, 12, &momentum), 600, 640);
  assert_true(momentum);
  sweep_in_waves(1.0, 1.0, 12, &momentum); /* no progress does */
  assert_false(momentum);
}

static void test_sweeps(void **unused) {
  (void)unused;
  bool momentum;
  /* 0.5 per sweep: 27 sweeps are needed */
  assert_in_range(sweep_at(0.5, 4, 60, false, &momentum), 27, 60);
  assert_true(sweep_at(0.99, 4, 40, false, &momentum) < 10); /* 1833 would be needed */
  assert_in_range(sweep_at(0.99, 4, 4000, false, &momentum), 1833, 3000);
  /* a few sweeps more than allowed are made if they suffice */
  assert_true(sweep_at(0.02, 2, 4, false, &momentum) >= 5);
  assert_in_range(sweep_at(1.0, 4, 4000, false, &momentum), 4, 10); /* no progress at all */
  assert_in_range(sweep_at(1.0, 30, 4000, false, &momentum), 30, 90);
  /* sweeps that stall may end earlier than slow ones, whose rate may improve */
  const scree_SweepLimits idle = {.least = 100, .most = 200, .idle = 20};
  assert_in_range(sweep_within(1.0, &idle, false, &momentum), 20, 60);
  assert_in_range(sweep_within(0.9999, &idle, false, &momentum), 100, 200);
  /* without progress momentum ends before sweeps do */
  assert_in_range(sweep_at(1.0, 1000, 4000, true, &momentum), 1000, 4000);
  assert_false(momentum);
  assert_true(sweep_at(0.5, 4, 60, true, &momentum) >= 27 && momentum);
  assert_true(scree_policy_momentum(10, true, false) && scree_policy_momentum(5000, false, false));
  assert_false(scree_policy_momentum(10, false, true) || scree_policy_momentum(300, false, false));
  assert_true(scree_policy_momentum(300, false, true));
  assert_int_equal(scree_policy_first_group(1.0, 1e-8, false), 1);
  assert_true(scree_policy_first_group(1.0, 1e-8, true) > 1);
}

/* ---- records of real solves ---- */

static void check_stages(const scree_SolveInfo *info) {
  int iterations = 0, factorisations = 0;
  double seconds = 0.0;
  assert_in_range(info->nstages, 1, SCREE_STAGES_MOST);
  for (int k = 0; k < info->nstages; ++k) {
    const scree_SolveStage *stage = &info->stages[k];
    assert_non_null(stage->name);
    iterations += stage->iterations;
    factorisations += stage->factorisations;
    seconds += stage->seconds;
    assert_true(stage->error_before >= 0.0 && stage->seconds >= 0.0);
    if (k > 0) assert_true(stage->error_before == info->stages[k - 1].error_after);
  }
  assert_int_equal(iterations, info->iterations);
  assert_int_equal(factorisations, info->factorisations);
  assert_true(fabs(seconds - info->seconds) <= 1e-9 + 1e-6 * info->seconds);
}

static void test_records(void **unused) {
  (void)unused;
  const char *const names[] = {"auto", "nlgs", "newton", "ipm", "lemke"};
  for (int trial = 0; trial < 10; ++trial) {
    scree_Problem p = trial % 2 ? small_pile(2 + trial / 2 % 2, 4, 0.5, 0.3)
                                : small_random_problem(2 + trial / 2 % 2, 12, 0.5, 5);
    double r[200], u[200];
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info;
    settings.solver = names[trial / 2];
    settings.threads = 1;
    assert_in_range(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_OK, SCREE_NOT_CONVERGED);
    check_stages(&info);
    if (trial >= 2) {
      assert_int_equal(info.nstages, 1);
      assert_string_equal(info.stages[0].name, settings.solver);
    }
    scree_problem_destroy(&p);
  }
}

/* A tolerance that cannot be reached: without a limit `auto` gives up after some stages, with one
 * it goes on until the time is over. */
static void test_time_is_used(void **unused) {
  (void)unused;
  scree_Problem p = small_pile(3, 3, 0.5, 0.3);
  double r[100], u[100];
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  settings.threads = 1;
  settings.tolerance = 1e-300;
  assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_NOT_CONVERGED);
  check_stages(&info);
  settings.time_limit = info.seconds + 0.3;
  assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_NOT_CONVERGED);
  assert_true(info.seconds >= settings.time_limit);
  check_stages(&info);
  assert_true(info.measures.error < 1e-12);
  scree_problem_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),      cmocka_unit_test(test_packings),
      cmocka_unit_test(test_bodies),     cmocka_unit_test(test_warm_start),
      cmocka_unit_test(test_ends),       cmocka_unit_test(test_prices),
      cmocka_unit_test(test_time_limit), cmocka_unit_test(test_sweeps),
      cmocka_unit_test(test_records),    cmocka_unit_test(test_time_is_used),
      cmocka_unit_test(test_estimated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
