/* Joints that share bodies: solved together, to round-off, whatever the tolerance of contacts. */
#define _DEFAULT_SOURCE /* scandir */
#include "scree/solver.h"
#include "small_problems.h"
#include "solver/mechanism.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { LINKS = 12, CONTACTS = LINKS / 2, MOST = 3 * CONTACTS + 6 * LINKS + LINKS + 5 };

static double number(unsigned long long *seed) {
  return small_random(seed);
}

/* A chain of links with a joint of five rows from each to the next, the last one joined to the
 * first, one joint twice; `limited` rows between the same links, alternately motors of limited
 * force and stops. Every other link has a contact with the ground. */
static void create_machine(int limited, scree_Problem *p) {
  int body[2 * CONTACTS], rows[2 * LINKS + 1], touches[2 * LINKS + 1], touched[4 * LINKS + 2];
  unsigned long long seed = 7;
  int n = 0;
  for (int c = 0; c < CONTACTS; ++c) {
    body[2 * c] = 2 * c;
    body[2 * c + 1] = -1;
  }
  for (int k = 0; k < LINKS + 1 + limited; ++k, ++n) {
    const int first = k == LINKS ? 4 : k % (LINKS + 1);
    rows[n] = k <= LINKS ? 5 : 1;
    touches[n] = 2;
    touched[2 * n] = first % LINKS;
    touched[2 * n + 1] = (first + 1) % LINKS;
  }
  const scree_ProblemLayout layout = {.d = 3,
                                      .contacts = CONTACTS,
                                      .bodies = LINKS,
                                      .nb = 6,
                                      .body = body,
                                      .constraints = n,
                                      .rows = rows,
                                      .touches = touches,
                                      .touched = touched};
  assert_int_equal(scree_problem_create(p, &layout, NULL), SCREE_OK);
  for (int c = 0; c < CONTACTS; ++c) {
    for (size_t i = 0; i < 18; ++i) p->bodies.B[(size_t)c * 36 + i] = number(&seed);
    p->mu[c] = 0.4;
    for (int i = 0; i < 3; ++i) p->q[3 * c + i] = number(&seed) - (i == 0);
  }
  scree_GeneralRows *g = &p->general;
  for (size_t i = 0; i < g->block[g->entry[n]]; ++i) g->B[i] = number(&seed);
  for (size_t i = g->row[0]; i < g->row[n]; ++i) p->q[i] = number(&seed);
  for (int k = 0; k < n; ++k) {
    const size_t c = (size_t)(p->nc + k);
    p->set[c] = (uint8_t)(k <= LINKS ? SCREE_SET_SPACE
                          : k % 2    ? SCREE_SET_BALL
                                     : SCREE_SET_HALF_LINE);
    p->set_a[c] = p->set[c] == SCREE_SET_BALL ? 0.05 * k : 0;
  }
  /* the joint that is there twice */
  memcpy(g->B + g->block[g->entry[LINKS]], g->B + g->block[g->entry[4]], 60 * sizeof(double));
  memcpy(p->q + g->row[LINKS], p->q + g->row[4], 5 * sizeof(double));
  assert_int_equal(scree_problem_check(p, NULL), SCREE_OK);
}

static double worst_joint(const scree_Problem *p, const double *u) {
  double worst = 0;
  for (size_t i = p->general.row[0]; i < p->general.row[LINKS + 1]; ++i)
    worst = fmax(worst, fabs(u[i]));
  return worst;
}

/* One visit gives every joint the velocity zero, the one that is there twice as well. */
static void one_visit(void **state) {
  (void)state;
  scree_Problem p;
  scree_Operator W;
  scree_Arena arena = {0};
  scree_MechanismFactor kept = {0};
  scree_Mechanisms m;
  double r[MOST], u[MOST], y[6 * LINKS + 6];
  unsigned long long seed = 3;
  create_machine(0, &p);
  assert_int_equal(scree_operator_create(&p, 1, NULL, &W), SCREE_OK);
  assert_true(W.state_size <= sizeof y / sizeof *y);
  for (size_t i = 0; i < W.rows; ++i) r[i] = number(&seed);
  assert_int_equal(scree_mechanisms_create(&W, r, &arena, &kept, NULL, NULL, &m), SCREE_OK);
  assert_int_equal(m.count, LINKS + 1);
  scree_operator_state(&W, r, y);
  const scree_VertexState vertices = scree_vertex_state(&W, y);
  assert_true(scree_mechanisms_visit(&m, &W, &vertices, r) > 0.1);
  scree_operator_apply(&W, r, p.q, y, u); /* from r alone */
  assert_true(worst_joint(&p, u) < 1e-11);
  assert_true(scree_mechanisms_visit(&m, &W, &vertices, r) < 1e-11);
  scree_arena_fini(&arena);
  scree_arena_fini(&kept.arena);
  scree_operator_destroy(&W);
  scree_problem_destroy(&p);
}

/* Contacts to a tolerance, joints to round-off: by every method, from nothing and from the solution
 * of a problem nearby, which is accepted as it is. */
static void joints_are_exact(void **state) {
  (void)state;
  static const char *const solvers[] = {"nlgs", "newton", "ipm", "auto"};
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) {
    scree_Problem p;
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info;
    double r[MOST], u[MOST];
    unsigned long long seed = 5;
    create_machine(0, &p);
    settings.solver = solvers[k];
    settings.tolerance = 1e-3;
    assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_OK);
    assert_true(worst_joint(&p, u) < 1e-10);
    settings.warm_start = true;
    for (size_t i = p.general.row[0]; i < p.general.row[LINKS + 1]; ++i)
      if (i < p.general.row[4] || (i >= p.general.row[5] && i < p.general.row[LINKS]))
        p.q[i] += 1e-5 * number(&seed);
    assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_OK);
    assert_true(worst_joint(&p, u) < 1e-10);
    scree_problem_destroy(&p);
  }
}

/* Motors at their limits, friction and stops: what holds is found by the sweeps. The velocities are
 * those that a method without mechanisms finds. */
static void limits(void **state) {
  (void)state;
  scree_Problem p;
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  double r[2][MOST], u[2][MOST];
  create_machine(LINKS, &p);
  settings.tolerance = 1e-10;
  int at_limit = 0, holding = 0;
  for (int k = 0; k < 2; ++k) {
    settings.solver = k ? "nlgs" : "newton";
    assert_int_equal(scree_solve(&p, &settings, r[k], u[k], &info, NULL), SCREE_OK);
  }
  for (size_t i = 0; i < scree_problem_rows(&p); ++i) assert_true(fabs(u[0][i] - u[1][i]) < 1e-7);
  for (int k = LINKS + 1; k < p.general.count; ++k) {
    const size_t i = p.general.row[k];
    if (fabs(u[1][i]) < 1e-8)
      ++holding;
    else
      ++at_limit;
  }
  assert_true(holding > 0 && at_limit > 0); /* else nothing was tested */
  scree_problem_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_visit),
      cmocka_unit_test(joints_are_exact),
      cmocka_unit_test(limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
