/* Gauss-Seidel four contacts at a time against the scalar local solution: contacts that do not see
 * each other must come out as scree_exact_coulomb gives them, and a packing must come out with the
 * same bits whatever the number of threads. */
#include "bench/packing.h"
#include "scree/solver.h"
#include "solver/local_exact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CONTACTS = 4001 };

/* Every contact has a body of its own and presses it against an obstacle; W_cc is full, sometimes
 * singular, mu from 0 to 2. */
static void make_lonely(int d, scree_Problem *p) {
  const int nb = d == 3 ? 6 : 3, n = 2 * d * nb;
  uint64_t seed = 7;
  assert_int_equal(scree_problem_create_bodies(p, d, CONTACTS, CONTACTS, nb, false, false, NULL),
                   SCREE_OK);
  for (int c = 0; c < CONTACTS; ++c) {
    const double size = pow(10.0, 6.0 * packing_random(&seed) - 3.0);
    p->bodies.body[2 * c] = c % 2 ? -1 : c;
    p->bodies.body[2 * c + 1] = c % 2 ? c : -1;
    double *B = p->bodies.B + c * n + (c % 2 ? d * nb : 0);
    const int rank = c % 5 == 0 ? 2 : nb; /* fewer columns than rows: singular in 3D */
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < rank; ++j) B[i * nb + j] = size * (packing_random(&seed) - 0.5);
    for (int i = 0; i < d; ++i) p->q[d * c + i] = packing_random(&seed) - (i ? 0.5 : 0.8);
    if (c % 11 == 0)
      for (int i = 1; i < d; ++i) p->q[d * c + i] = 0.0;
    p->mu[c] = c % 7 == 0 ? 0.0 : 2.0 * packing_random(&seed);
  }
}

static void one_sweep(const scree_Problem *p, double *r, double *u) {
  static const char *const options[] = {"order=coloured", NULL};
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  settings.solver = "nlgs";
  settings.options = options;
  settings.tolerance = 0.0;
  settings.max_iterations = 1;
  assert_int_equal(scree_solve(p, &settings, r, u, &info, NULL), SCREE_NOT_CONVERGED);
}

static void check_lonely(int d) {
  scree_Problem p;
  scree_Operator W;
  double *r = calloc((size_t)(CONTACTS * d), sizeof *r),
         *u = calloc((size_t)(CONTACTS * d), sizeof *u);
  int open = 0, stick = 0, slip = 0;
  make_lonely(d, &p);
  assert_int_equal(scree_operator_create(&p, 1, NULL, &W), SCREE_OK);
  one_sweep(&p, r, u);
  for (int c = 0; c < CONTACTS; ++c) {
    const double start[3] = {0.0, 0.0, 0.0}, *mine = r + d * c;
    double exact[3], scale = 0.0, difference = 0.0;
    scree_exact_coulomb(d, W.diagonal + c * d * d, p.mu[c], p.q + d * c, start, exact);
    for (int i = 0; i < d; ++i) {
      assert_true(isfinite(mine[i]));
      scale = fmax(scale, fabs(exact[i]));
      difference = fmax(difference, fabs(exact[i] - mine[i]));
    }
    if (c % 5) assert_true(difference <= 1e-10 * scale); /* singular blocks have no unique r_T */
    const double t = d == 3 ? hypot(mine[1], mine[2]) : fabs(mine[1]);
    assert_true(mine[0] >= 0.0 && t <= (1.0 + 1e-14) * p.mu[c] * mine[0]);
    open += mine[0] == 0.0;
    slip += mine[0] > 0.0 && t >= (1.0 - 1e-12) * p.mu[c] * mine[0];
    stick += mine[0] > 0.0 && t < (1.0 - 1e-12) * p.mu[c] * mine[0];
  }
  assert_true(open > 100 && stick > 100 && slip > 100);
  scree_operator_destroy(&W);
  scree_problem_destroy(&p);
  free(r);
  free(u);
}

static void lanes_give_the_exact_local_solution(void **state) {
  (void)state;
  check_lonely(2);
  check_lonely(3);
}

static void same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  for (int run = 0; run < 6; ++run) { /* balls, recognised as balls, bodies of any shape */
    const int d = 2 + run % 2, form = run / 2;
    scree_Problem p, balls;
    assert_int_equal(packing_create(d, 2003, 0.4, &p, NULL), SCREE_OK);
    if (form > 0) {
      balls = p;
      assert_int_equal(packing_dense(&balls, &p, NULL), SCREE_OK);
      scree_problem_destroy(&balls);
    }
    if (form == 2) p.bodies.B[d] += 0.1 * p.bodies.B[0];
    /* a body with very many contacts: its contacts are visited one by one */
    for (int c = 0; c < p.nc; c += 9)
      if (p.bodies.body[2 * c] > 0 && p.bodies.body[2 * c + 1] > 0) p.bodies.body[2 * c] = 0;
    const size_t n = (size_t)(p.nc * d);
    double *r[3], *u = calloc(n, sizeof *u);
    for (int k = 0; k < 3; ++k) {
      scree_SolveSettings settings = scree_solve_settings();
      scree_SolveInfo info;
      r[k] = calloc(n, sizeof **r);
      settings.solver = "nlgs";
      settings.max_iterations = 20;
      settings.tolerance = 0.0;
      settings.threads = k + 1;
      assert_int_equal(scree_solve(&p, &settings, r[k], u, &info, NULL), SCREE_NOT_CONVERGED);
      assert_int_equal(memcmp(r[k], r[0], n * sizeof **r), 0);
    }
    for (int k = 0; k < 3; ++k) free(r[k]);
    free(u);
    scree_problem_destroy(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_give_the_exact_local_solution),
      cmocka_unit_test(same_bits_for_any_number_of_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
