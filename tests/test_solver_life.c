#define _DEFAULT_SOURCE /* scandir, posix_memalign */
/* A solver that lives on: sequences of problems give the same bits straight, continued by another
 * solver from saved memory, and on any number of threads; repeated solves allocate nothing; what it
 * keeps never leads to a wrong answer. */
#include "bench/packing.h"
#include "bench/sequence.h"
#include "counted_allocations.h"
#include "problem/measure.h"
#include "scree/solver.h"
#include "small_problems.h"
#include "solver/driver.h"
#include "solver/graph_system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- sequences ---------------------------------------------------------------------------------
 */

typedef struct Case {
  const char *solver;
  int d, contacts;
  double tolerance;
  bool dense;
  int life;        /* of the contacts of the sequence */
  bool factorises; /* it does somewhere in the sequence */
} Case;

static const Case cases[] = {
    {"nlgs", 3, 300, 1e-4, false, 10, false},  {"nlgs", 2, 1700, 1e-2, true, 10, false},
    {"newton", 3, 300, 1e-8, false, 10, true}, {"newton", 2, 300, 1e-8, true, 5, true},
    {"auto", 3, 500, 1e-9, false, 10, true},   {"auto", 3, 150, 1e-11, true, 5, true},
    {"auto", 2, 300, 1e-10, false, 10, true},  {"auto", 2, 200, 1e-9, true, 10, true},
};
enum { CASES = sizeof cases / sizeof *cases };

static scree_SolveSettings settings_of(const Case *c, int threads) {
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = c->solver;
  settings.tolerance = c->tolerance;
  settings.threads = threads;
  return settings;
}

static Sequence sequence_of(const Case *c) {
  return sequence_create(c->d, c->contacts, 0.3, 8, c->life, c->dense);
}

static scree_Solver *make_solver(const scree_SolveSettings *settings) {
  scree_Solver *solver;
  assert_int_equal(scree_solver_create(settings, NULL, &solver), SCREE_OK);
  return solver;
}

/* Save, destroy, restore into another one. */
static scree_Solver *reincarnate(scree_Solver *solver, const scree_SolveSettings *settings) {
  const size_t size = scree_solver_state_size(solver);
  char *memory = malloc(size), *again = malloc(size);
  scree_solver_save(solver, memory);
  scree_solver_destroy(solver);
  solver = make_solver(settings);
  assert_int_equal(scree_solver_restore(solver, memory, size), SCREE_OK);
  assert_int_equal(scree_solver_state_size(solver), size);
  scree_solver_save(solver, again);
  assert_memory_equal(memory, again, size);
  free(memory);
  free(again);
  return solver;
}

enum { STEPS = 50 };
typedef enum Way { STRAIGHT, RESTORED, FORGETFUL } Way;

static uint64_t add_hash(uint64_t hash, const double *x, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    uint64_t bits;
    memcpy(&bits, x + i, sizeof bits);
    hash = scree_mix(hash ^ bits);
  }
  return hash;
}

/* Hashes of r, u and the velocities of each step; the number of steps that were factorised. */
static int run_sequence(const Case *c, int threads, Way way, uint64_t hash[STEPS]) {
  Sequence s = sequence_of(c);
  const scree_SolveSettings settings = settings_of(c, threads);
  scree_Solver *solver = make_solver(&settings);
  const size_t most = (size_t)(s.all.nc * c->d);
  double *r = calloc(most, sizeof *r), *u = calloc(most, sizeof *u);
  int factorised = 0;
  for (int step = 0; step < STEPS; ++step) {
    scree_SolveInfo info;
    sequence_set(&s, step);
    if (step % 25 == 24 && way == RESTORED) solver = reincarnate(solver, &settings);
    if (step % 25 == 24 && way == FORGETFUL) {
      scree_solver_destroy(solver);
      solver = make_solver(&settings);
    }
    assert_true(scree_solver_solve(solver, &s.problem, r, u, &info) <= SCREE_NOT_CONVERGED);
    const size_t n = (size_t)(s.problem.nc * c->d);
    hash[step] = add_hash(add_hash((uint64_t)info.iterations, r, n), u, n);
    hash[step] = add_hash(hash[step], scree_solver_velocities(solver),
                          (size_t)(s.problem.bodies.nbodies * s.problem.bodies.nb));
    factorised += info.factorisations > 0;
  }
  scree_solver_destroy(solver);
  sequence_destroy(&s);
  free(r);
  free(u);
  return factorised;
}

static void check_same(const Case *c, const char *what, const uint64_t *a, const uint64_t *b) {
  for (int step = 0; step < STEPS; ++step)
    if (a[step] != b[step])
      fail_msg("%s, %dD, %d contacts: other bits in step %d %s", c->solver, c->d, c->contacts, step,
               what);
}

static void sequences_give_the_same_bits(void **state) {
  (void)state;
  int differ = 0;
  for (int k = 0; k < CASES; ++k) {
    uint64_t straight[STEPS], other[STEPS];
    const int factorised = run_sequence(&cases[k], 1, STRAIGHT, straight);
    assert_true((factorised > 0) == cases[k].factorises);
    run_sequence(&cases[k], 1, RESTORED, other);
    check_same(&cases[k], "after save and restore", straight, other);
    run_sequence(&cases[k], 3, RESTORED, other);
    check_same(&cases[k], "on three threads, after save and restore", straight, other);
    run_sequence(&cases[k], 1, FORGETFUL, other);
    differ += memcmp(straight, other, sizeof other) != 0;
    if (!cases[k].factorises) check_same(&cases[k], "without memory", straight, other);
  }
  assert_true(differ > 0); /* so the memory matters, and the test says something */
}

/* The first problem of a solver, and every problem of a method that does not factorise, has the
 * bits of scree_solve; all others are solved to the same tolerance. */
static void results_are_those_of_one_call(void **state) {
  (void)state;
  for (int k = 0; k < CASES; ++k) {
    const Case *c = &cases[k];
    Sequence s = sequence_of(c);
    const scree_SolveSettings settings = settings_of(c, 1);
    scree_Solver *solver = make_solver(&settings);
    const size_t most = (size_t)(s.all.nc * c->d);
    double *r = calloc(4 * most, sizeof *r), *u = r + most, *r1 = u + most, *u1 = r1 + most;
    for (int step = 0; step < 6; ++step) {
      scree_SolveInfo info, info1;
      sequence_set(&s, step);
      const size_t bytes = (size_t)(s.problem.nc * c->d) * sizeof *r;
      const scree_Status status = scree_solver_solve(solver, &s.problem, r, u, &info);
      assert_int_equal(scree_solve(&s.problem, &settings, r1, u1, &info1, NULL), status);
      assert_true(info.converged == info1.converged);
      if (step > 0 && c->factorises) continue;
      assert_memory_equal(r, r1, bytes);
      assert_memory_equal(u, u1, bytes);
      assert_int_equal(info.iterations, info1.iterations);
    }
    scree_solver_destroy(solver);
    sequence_destroy(&s);
    free(r);
  }
}

/* ---- allocations -------------------------------------------------------------------------------
 */

#ifdef __SANITIZE_ADDRESS__
enum { PERIOD = 10, SOLVES = 10 }; /* it is slow, and counts in its own way */
#else
enum { PERIOD = 10, SOLVES = 100 };
#endif
enum { BEFORE = 6 * PERIOD };

/* Solves in which allocations are counted: with two threads the same code runs, only slower. */
static int counted_solves(int threads) {
  return threads == 1 ? SOLVES : 2 * PERIOD;
}

/* A sequence that comes back every PERIOD steps, with a warm start in every third; period 1: the
 * same graph always. All of it repeats after 3 PERIOD steps, but the order of elimination that the
 * solver remembers is another in the first of these: counting begins with the third. */
static long count_allocations(const Case *c, int period, int threads, int *factorised) {
  Sequence s = sequence_of(c);
  scree_SolveSettings settings = settings_of(c, threads);
  scree_Solver *solver = make_solver(&settings);
  const size_t most = (size_t)(s.all.nc * c->d);
  double *r = calloc(most, sizeof *r), *u = calloc(most, sizeof *u);
  long before = 0;
  *factorised = 0;
  for (int step = 0; step < BEFORE + counted_solves(threads); ++step) {
    scree_SolveInfo info;
    if (step == BEFORE) before = allocations;
    sequence_set(&s, step % period);
    settings.warm_start = step % 3 == 0;
    assert_int_equal(scree_solver_set_settings(solver, &settings), SCREE_OK);
    assert_true(scree_solver_solve(solver, &s.problem, r, u, &info) <= SCREE_NOT_CONVERGED);
    *factorised += info.factorisations > 0;
  }
  const long after = allocations;
  scree_solver_destroy(solver);
  sequence_destroy(&s);
  free(r);
  free(u);
  return after - before;
}

static void steady_solves_allocate_nothing(void **state) {
  (void)state;
  if (!COUNTED) skip();
  for (int k = 0; k < CASES; ++k)
    for (int way = 0; way < 4; ++way) {
      int factorised;
      const int period = way % 2 ? PERIOD : 1, threads = way / 2 ? 2 : 1;
      const long count = count_allocations(&cases[k], period, threads, &factorised);
      if (count)
        fail_msg("%s, %dD, %d contacts, period %d, %d threads: %ld allocations in %d solves",
                 cases[k].solver, cases[k].d, cases[k].contacts, period, threads, count,
                 counted_solves(threads));
    }
}

/* ---- the interface -----------------------------------------------------------------------------
 */

static void velocities_are_those_of_the_impulses(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem pile = small_pile(d, 4, 0.4, 0.2), assembled;
    assert_int_equal(scree_problem_assemble(&pile, &assembled, NULL), SCREE_OK);
    const scree_SolveSettings settings = scree_solve_settings();
    scree_Solver *solver = make_solver(&settings);
    double r[64], u[64], y[64] = {0};
    scree_SolveInfo info;
    assert_null(scree_solver_velocities(solver));
    assert_int_equal(scree_solver_solve(solver, &pile, r, u, &info), SCREE_OK);
    const int nb = pile.bodies.nb;
    for (int c = 0; c < pile.nc; ++c)
      for (int side = 0; side < 2; ++side) {
        const double *B = pile.bodies.B + (2 * c + side) * d * nb;
        const int b = pile.bodies.body[2 * c + side];
        for (int i = 0; b >= 0 && i < d * nb; ++i) y[b * nb + i % nb] += B[i] * r[d * c + i / nb];
      }
    const double *v = scree_solver_velocities(solver);
    assert_non_null(v);
    for (int i = 0; i < pile.bodies.nbodies * nb; ++i) assert_true(fabs(v[i] - y[i]) < 1e-12);
    assert_int_equal(scree_solver_solve(solver, &assembled, r, u, &info), SCREE_OK);
    assert_null(scree_solver_velocities(solver));
    scree_solver_destroy(solver);
    scree_problem_destroy(&pile);
    scree_problem_destroy(&assembled);
  }
}

/* Problems of every size, kind and law, one after the other, with every method in turn. */
static void one_solver_takes_all_problems(void **state) {
  (void)state;
  scree_SolveSettings settings = scree_solve_settings();
  scree_Solver *solver = make_solver(&settings);
  for (int k = 0; k < 120; ++k) {
    const int d = 2 + k % 2, size = k * 7 % 13;
    scree_Problem p = small_pile(d, 1 + size, 0.4, 0.2), other = {0};
    if (k % 3 == 1) assert_int_equal(scree_problem_assemble(&p, &other, NULL), SCREE_OK);
    if (k % 3 == 2) other = small_random_problem(d, 1 + size, 0.3, (unsigned)k);
    if (k % 3) {
      scree_problem_destroy(&p);
      p = other;
    }
    const scree_SolverClass *class_ = scree_solver_class(k % 13);
    p.flow = scree_solver_class_capabilities(class_) & SCREE_CAN_COULOMB && k % 4
                 ? SCREE_COULOMB
                 : SCREE_ASSOCIATED;
    const double zero[256] = {0};
    double r[256], u[256], r1[256], u1[256];
    scree_SolveInfo info, info1;
    settings.solver = scree_solver_class_name(class_);
    settings.max_iterations = 2000;
    assert_int_equal(scree_solver_set_settings(solver, &settings), SCREE_OK);
    memcpy(r, zero, sizeof zero);
    const scree_Status status = scree_solver_solve(solver, &p, r, u, &info);
    assert_int_equal(scree_solve(&p, &settings, r1, u1, &info1, NULL), status);
    if (status <= SCREE_NOT_CONVERGED) assert_true(info.converged == info1.converged);
    scree_problem_destroy(&p);
  }
  assert_true(scree_solver_memory(solver) > 0);
  scree_solver_destroy(solver);
}

static void bad_settings_are_refused(void **state) {
  (void)state;
  scree_SolveSettings good = scree_solve_settings(), bad = good;
  scree_Solver *solver;
  bad.solver = "nlsg";
  assert_int_equal(scree_solver_create(&bad, NULL, &solver), SCREE_BAD_INPUT);
  assert_null(solver);
  scree_solver_destroy(NULL);
  static const char *const options[] = {"local=exact", "no_such=1", NULL};
  solver = make_solver(&good);
  assert_int_equal(scree_solver_set_settings(solver, &bad), SCREE_BAD_INPUT);
  bad = good;
  bad.solver = "nlgs";
  bad.options = options;
  assert_int_equal(scree_solver_set_settings(solver, &bad), SCREE_BAD_INPUT);
  bad = good;
  bad.tolerance = -1.0;
  assert_int_equal(scree_solver_set_settings(solver, &bad), SCREE_BAD_INPUT);
  /* and the solver goes on with those it had */
  scree_Problem p = small_pile(3, 3, 0.4, 0.2);
  double r[64], u[64];
  scree_SolveInfo info;
  assert_int_equal(scree_solver_solve(solver, &p, r, u, &info), SCREE_OK);
  assert_non_null(scree_solver_velocities(solver));
  p.mu[0] = -1.0;
  assert_int_equal(scree_solver_solve(solver, &p, r, u, &info), SCREE_BAD_INPUT);
  assert_null(scree_solver_velocities(solver));
  p.mu[0] = 0.4;
  assert_int_equal(scree_solver_solve(solver, &p, r, u, &info), SCREE_OK);
  scree_solver_destroy(solver);
  scree_problem_destroy(&p);
}

/* Saved memory that is cut, prolonged or spoilt is refused, or at least does no harm. */
static void unsound_memory_is_refused(void **state) {
  (void)state;
  Case c = cases[2];
  Sequence s = sequence_of(&c);
  const scree_SolveSettings settings = settings_of(&c, 1);
  scree_Solver *solver = make_solver(&settings);
  const size_t most = (size_t)(s.all.nc * c.d);
  double *r = calloc(most, sizeof *r), *u = calloc(most, sizeof *u);
  scree_SolveInfo info;
  sequence_set(&s, 0);
  assert_int_equal(scree_solver_solve(solver, &s.problem, r, u, &info), SCREE_OK);
  const size_t size = scree_solver_state_size(solver);
  assert_true(size > 4 * (size_t)s.problem.bodies.nbodies);
  unsigned char *memory = malloc(size + 8), *spoilt = malloc(size + 8);
  memset(memory, 0, size + 8);
  scree_solver_save(solver, memory);
  for (size_t cut = 0; cut < size; ++cut)
    assert_int_equal(scree_solver_restore(solver, memory, cut), SCREE_BAD_INPUT);
  assert_int_equal(scree_solver_restore(solver, memory, size + 8), SCREE_BAD_INPUT);
  for (size_t k = 0; k < 400; ++k) {
    memcpy(spoilt, memory, size);
    for (int n = 0; n < 3; ++n)
      spoilt[scree_mix(3 * k + (unsigned)n) % (k % 2 ? 80 : size)] =
          (unsigned char)scree_mix(k + 7777u * (unsigned)n);
    const scree_Status status = scree_solver_restore(solver, spoilt, size);
    assert_true(status == SCREE_OK || status == SCREE_BAD_INPUT);
    if (k % 20 == 0)
      assert_int_equal(scree_solver_solve(solver, &s.problem, r, u, &info), SCREE_OK);
  }
  free(memory);
  free(spoilt);
  free(r);
  free(u);
  scree_solver_destroy(solver);
  sequence_destroy(&s);
}

/* ---- the order of elimination ------------------------------------------------------------------
 */

static scree_FactorOrder propose(const scree_Elimination *e, int n, const int *id,
                                 scree_Arena *arena) {
  scree_FactorOrder order;
  assert_int_equal(scree_elimination_propose(e, n, 3, id, arena, NULL, &order), SCREE_OK);
  return order;
}

/* Known bodies keep their order, new ones come first, and those that have gone are left out. */
static void orders_follow_the_names(void **state) {
  (void)state;
  int known[] = {40, 10, 30, 20, 50};
  const scree_Elimination e = {
      .count = 5, .id = known, .nodes = 5, .nb = 3, .operations = 10.0, .analysed = 5};
  scree_Arena arena = {0};
  const int same[] = {10, 20, 30, 40, 50}, same_order[] = {3, 0, 2, 1, 4};
  assert_memory_equal(propose(&e, 5, same, &arena).node, same_order, sizeof same_order);
  const int other[] = {10, 25, 30, 40, 45, 50}, other_order[] = {1, 4, 3, 0, 2, 5};
  assert_memory_equal(propose(&e, 6, other, &arena).node, other_order, sizeof other_order);
  const int mixed[] = {50, 40, 30, 20, 10}, mixed_order[] = {1, 4, 2, 3, 0};
  assert_memory_equal(propose(&e, 5, mixed, &arena).node, mixed_order, sizeof mixed_order);
  const int twice[] = {10, 10, 30, 30, 30}, twice_order[] = {1, 3, 4, 0, 2};
  assert_memory_equal(propose(&e, 5, twice, &arena).node, twice_order, sizeof twice_order);
  assert_true(propose(&e, 5, same, &arena).most > 10.0);
  assert_true(propose(&e, 3, same, &arena).most == 0.0); /* many have gone: a new one */
  const scree_Elimination none = {0};
  assert_false(propose(&none, 5, same, &arena).given);
  scree_arena_fini(&arena);
}

/* In how many steps of a sequence the order is as good as a new one: new, or of the same graph. The
 * loss never exceeds what a new one costs. */
static int count_orders(Sequence *s, int steps) {
  scree_Elimination e = {0};
  scree_Arena scratch = {0};
  scree_GraphSystem system = {0};
  int orders = 0;
  for (int step = 0; step < steps; ++step) {
    scree_Operator W;
    const double loss = e.loss;
    sequence_set(s, step);
    assert_int_equal(scree_operator_create(&s->problem, 1, NULL, &W), SCREE_OK);
    assert_int_equal(scree_graph_system_set(&system, &W, step, &e, &scratch, NULL), SCREE_OK);
    assert_int_equal(e.count, s->problem.bodies.nbodies);
    assert_true(e.loss <= scree_factor_order_nanoseconds(e.analysed, e.operations));
    orders += step == 0 || e.loss < loss || e.operations == e.current;
    scree_operator_destroy(&W);
  }
  scree_graph_system_fini(&system);
  scree_elimination_fini(&e);
  scree_arena_fini(&scratch);
  return orders;
}

/* Where METIS orders, an order serves several steps; where AMD does, it is made when it pays. */
static void orders_are_kept_while_it_pays(void **state) {
  (void)state;
  enum { FEW_STEPS = 12 };
  Sequence large = sequence_create(3, 6000, 0.3, 2, 30, false);
  const int orders = count_orders(&large, FEW_STEPS);
  assert_true(orders > 0 && orders <= FEW_STEPS / 2);
  Sequence still = sequence_create(3, 500, 0.3, 0, 1, false); /* nothing changes */
  assert_int_equal(count_orders(&still, FEW_STEPS), FEW_STEPS);
  sequence_destroy(&large);
  sequence_destroy(&still);
}

/* The same bodies under other names, and other bodies under the same names: only time is lost. */
static void wrong_names_do_no_harm(void **state) {
  (void)state;
  Case c = cases[2];
  Sequence s = sequence_of(&c);
  const scree_SolveSettings settings = settings_of(&c, 1);
  scree_Solver *solver = make_solver(&settings);
  const size_t most = (size_t)(s.all.nc * c.d);
  double *r = calloc(most, sizeof *r), *u = calloc(most, sizeof *u);
  for (int step = 0; step < 12; ++step) {
    scree_SolveInfo info;
    sequence_set(&s, step / 3);
    for (int b = 0; step % 3 && b < s.problem.bodies.nbodies; ++b)
      s.id[b] = step % 3 == 1 ? 7 : (int)(scree_mix((uint64_t)b) >> 33) - (1 << 30);
    s.problem.bodies.id = step % 4 ? s.id : NULL;
    assert_int_equal(scree_solver_solve(solver, &s.problem, r, u, &info), SCREE_OK);
  }
  scree_solver_destroy(solver);
  sequence_destroy(&s);
  free(r);
  free(u);
}

/* A problem that is solved again, with other settings, from what the last solve left and from other
 * impulses: the result meets its own tolerance, its velocities belong to it, and a start that is
 * the solution already costs nothing. */
static void the_same_problem_again(void **unused) {
  (void)unused;
  for (int d = 2; d <= 3; ++d)
    for (int few = 0; few < 2; ++few) { /* in single precision to 1e-5, and in double */
      scree_Problem p;
      scree_Operator W;
      scree_Solver *solver;
      scree_SolveSettings settings = scree_solve_settings();
      scree_SolveInfo info;
      assert_int_equal(packing_create(d, few ? 200 : 1600, 0.4, &p, NULL), SCREE_OK);
      assert_int_equal(scree_operator_create(&p, 1, NULL, &W), SCREE_OK);
      const size_t n = (size_t)(p.nc * d);
      double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u), *v = calloc(n, sizeof *v);
      double *y = calloc(W.state_size, sizeof *y);
      settings.max_iterations = 2000;
      assert_int_equal(scree_solver_create(&settings, NULL, &solver), SCREE_OK);
      const double tolerances[] = {1e-2, 1e-3, 1e-4, 1e-7, 1e-4, 1e-4, 1e-3};
      for (int k = 0; k < 7; ++k) {
        settings.tolerance = tolerances[k];
        settings.warm_start = k > 0;
        assert_int_equal(scree_solver_set_settings(solver, &settings), SCREE_OK);
        if (k == 5)
          for (size_t i = 0; i < n; ++i) r[i] *= 0.9; /* other impulses */
        if (k == 6) p.q[0] += 0.1 * fabs(p.q[0]);     /* another problem */
        const bool same = k > 0 && k < 6;
        const scree_Status status = scree_solver_solve_again(solver, &p, same, r, u, &info);
        scree_operator_apply(&W, r, p.q, y, v);
        assert_memory_equal(u, v, n * sizeof *u);
        assert_memory_equal(scree_solver_velocities(solver), y, W.state_size * sizeof *y);
        const double error = scree_measure_value(&W, SCREE_MEASURE_ERROR, r, u);
        assert_true(fabs(error - info.measures.error) < 1e-12 * error);
        assert_int_equal(status, error <= tolerances[k] ? SCREE_OK : SCREE_NOT_CONVERGED);
        assert_true(status == SCREE_OK || k == 3); /* such packings are hard to solve to 1e-7 */
        if (k == 4) assert_true(info.iterations == 0 && info.stages[0].error_before < 1e-4);
        if (k == 5) assert_true(info.iterations > 0);
      }
      scree_solver_destroy(solver);
      scree_operator_destroy(&W);
      scree_problem_destroy(&p);
      free(r), free(u), free(v), free(y);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sequences_give_the_same_bits),
      cmocka_unit_test(results_are_those_of_one_call),
      cmocka_unit_test(steady_solves_allocate_nothing),
      cmocka_unit_test(velocities_are_those_of_the_impulses),
      cmocka_unit_test(one_solver_takes_all_problems),
      cmocka_unit_test(bad_settings_are_refused),
      cmocka_unit_test(unsound_memory_is_refused),
      cmocka_unit_test(orders_follow_the_names),
      cmocka_unit_test(orders_are_kept_while_it_pays),
      cmocka_unit_test(wrong_names_do_no_harm),
      cmocka_unit_test(the_same_problem_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
