/* The barrier of parallel sweeps, and the number of threads under load. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>

#include "core/barrier.h"
#include "core/load.h"
#include "core/pace.h"

/* Every thread sees what all others wrote before the barrier, thousands of times. */
static void barrier_separates(void **unused) {
  (void)unused;
  enum { MOST = 4, ROUNDS = 2000 };
  static scree_Barrier barrier;
  static int written[MOST][16];
  int wrong = 0;
#pragma omp parallel num_threads(MOST) reduction(+ : wrong)
  {
    const int me = omp_get_thread_num(), threads = omp_get_num_threads();
#pragma omp single
    scree_barrier_init(&barrier, threads);
    for (int round = 1; round <= ROUNDS; ++round) {
      written[me][0] = round;
      scree_barrier_wait(&barrier);
      for (int k = 0; k < threads; ++k) wrong += written[k][0] != round;
      scree_barrier_wait(&barrier);
    }
  }
  scree_barrier_fini(&barrier);
  assert_int_equal(wrong, 0);
}

static void load_leaves_processors(void **unused) {
  (void)unused;
  assert_int_equal(scree_load_spare(2, 0.05), 2);
  assert_int_equal(scree_load_spare(2, 1.0), 1);
  assert_int_equal(scree_load_spare(2, 0.67), 1); /* a program that competes with two threads */
  assert_int_equal(scree_load_spare(2, 5.0), 1);
  assert_int_equal(scree_load_spare(8, 3.1), 5);
  assert_int_equal(scree_load_spare(1, 0.0), 1);
  scree_MachineLoad load = {0};
  assert_int_equal(scree_load_threads(&load, 1), 1);
  for (int k = 0; k < 3; ++k) {
    const int threads = scree_load_threads(&load, 3);
    assert_in_range(threads, 1, 3);
  }
}

/* Both numbers of threads are tried, the cheaper is used, the other one tried again now and then,
 * and a machine that changes is followed. */
static int count_with_one(scree_Pace *pace, double one, double many, int loops) {
  int count = 0;
  for (int k = 0; k < loops; ++k) {
    const int threads = scree_pace_threads(pace, 2);
    scree_pace_add(pace, threads, threads == 1 ? one : many);
    count += threads == 1;
  }
  return count;
}

static void pace_follows_costs(void **unused) {
  (void)unused;
  scree_Pace pace = {0};
  assert_int_equal(scree_pace_threads(&pace, 1), 1);
  assert_int_equal(scree_pace_threads(&pace, 2), 2);
  scree_pace_add(&pace, 2, 0.0); /* a clock that has not moved tells nothing */
  scree_pace_add(&pace, 2, -1.0 / 0.0);
  assert_int_equal(scree_pace_threads(&pace, 2), 2);
  const int alone = count_with_one(&pace, 1.0, 2.0, 1000);
  assert_in_range(alone, 950, 999);
  count_with_one(&pace, 1.0, 0.5, 2000); /* the others leave the processors */
  const int later = count_with_one(&pace, 1.0, 0.5, 1000);
  assert_in_range(later, 1, 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(barrier_separates),
                                     cmocka_unit_test(load_leaves_processors),
                                     cmocka_unit_test(pace_follows_costs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
