/* Non-associated flow with a given H (002 section 9): -H u in N_Y(r). */
#define _DEFAULT_SOURCE /* scandir */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_problems.h"

enum { MOST = 64 };

static const char *const capable[] = {"nlgs", "ipm", "newton", "auto"};

/* Blocks h11 and (h22, h23; h23, h33), positive definite. */
static void make_flow(int d, int nc, unsigned long long seed, double *H) {
  for (int c = 0; c < nc; ++c, H += d * d) {
    memset(H, 0, (size_t)(d * d) * sizeof *H);
    H[0] = 2.0 + small_random(&seed);
    const double a = 1.0 + 0.5 * small_random(&seed), b = 1.0 + 0.5 * small_random(&seed);
    H[d + 1] = a;
    if (d == 3) {
      H[8] = b;
      H[5] = H[7] = 0.5 * sqrt(a * b) * small_random(&seed);
    }
  }
}

/* |r - P(r - rho H u)|, the definition once more */
static double flow_error(const scree_Problem *p, const double *H, const double *r) {
  const int d = p->d;
  double u[3 * MOST], sum = 0.0, size = 0.0;
  plain_velocity(p, r, u);
  for (int c = 0; c < p->nc; ++c) {
    double z[3] = {0.0};
    for (int i = 0; i < d; ++i) {
      z[i] = r[c * d + i];
      for (int j = 0; j < d; ++j) z[i] -= H[(c * d + i) * d + j] * u[c * d + j];
    }
    plain_project(d, p->mu[c], z, z);
    for (int i = 0; i < d; ++i) {
      sum += (z[i] - r[c * d + i]) * (z[i] - r[c * d + i]);
      size += r[c * d + i] * r[c * d + i] + p->q[c * d + i] * p->q[c * d + i];
    }
  }
  return sqrt(sum / size);
}

static void solve(const scree_Problem *p, const char *solver, double *r, double *u) {
  scree_SolveInfo info;
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = solver;
  settings.tolerance = 1e-10;
  settings.time_limit = 5.0;
  if (scree_solve(p, &settings, r, u, &info, NULL) != SCREE_OK)
    fail_msg("%s: error %g", solver, info.measures.error);
}

static void check_all(scree_Problem *p, const double *H) {
  double r[3 * MOST], u[3 * MOST], first[3 * MOST];
  assert_true(p->nc <= MOST);
  p->flow = SCREE_ASSOCIATED;
  p->flow_blocks = H;
  for (size_t k = 0; k < sizeof capable / sizeof *capable; ++k) {
    solve(p, capable[k], r, u);
    assert_true(flow_error(p, H, r) < 1e-8);
    if (k == 0) memcpy(first, u, sizeof first);
    for (int i = 0; i < p->nc * p->d; ++i) assert_true(fabs(u[i] - first[i]) < 1e-6);
  }
}

static void test_general_flow(void **unused) {
  (void)unused;
  double H[9 * MOST];
  for (int d = 2; d <= 3; ++d)
    for (int k = 0; k < 5; ++k) {
      scree_Problem p =
          small_random_problem(d, 1 + 2 * k, k == 3 ? 0.0 : 0.4, (unsigned long long)k + 3);
      make_flow(d, p.nc, (unsigned long long)k + 11, H);
      check_all(&p, H);
      scree_problem_destroy(&p);
    }
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p = small_pile(d, 3, 0.5, 0.1);
    make_flow(d, p.nc, 5, H);
    check_all(&p, H);
    scree_problem_destroy(&p);
  }
}

/* H = I is the associated law, and a large h11 takes the dilatation away: u_n = mu |u_T| / h11. */
static void test_dilatation(void **unused) {
  (void)unused;
  const double W[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, q[3] = {-2, 6, 8}, mu = 0.5;
  scree_Problem p;
  assert_int_equal(scree_problem_create_dense(&p, 3, 1, W, q, &mu, NULL), SCREE_OK);
  p.flow = SCREE_ASSOCIATED;
  double r[3], u[3], expected[3], H[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  solve(&p, "nlgs", expected, u);
  p.flow_blocks = H;
  solve(&p, "ipm", r, u);
  for (int i = 0; i < 3; ++i) assert_true(fabs(r[i] - expected[i]) < 1e-8);
  H[0] = 100.0;
  solve(&p, "ipm", r, u);
  assert_true(fabs(H[0] * u[0] - mu * hypot(u[1], u[2])) < 1e-7);
  scree_problem_destroy(&p);
}

static void test_refusals(void **unused) {
  (void)unused;
  scree_Problem p = small_random_problem(3, 2, 0.3, 1);
  double H[18];
  make_flow(3, 2, 1, H);
  p.flow_blocks = H;
  assert_int_equal(scree_problem_check(&p, NULL), SCREE_BAD_INPUT); /* Coulomb */
  p.flow = SCREE_ASSOCIATED;
  assert_int_equal(scree_problem_check(&p, NULL), SCREE_OK);
  H[9 + 4] = -1.0;
  assert_int_equal(scree_problem_check(&p, NULL), SCREE_BAD_INPUT);
  make_flow(3, 2, 1, H);
  H[1] = H[3] = 0.1;
  assert_int_equal(scree_problem_check(&p, NULL), SCREE_BAD_INPUT);
  make_flow(3, 2, 1, H);
  assert_non_null(scree_solver_class_refuses(scree_solver_class_find("apgd"), &p));
  scree_problem_destroy(&p);
}

/* A disk of mass 1 between two walls that are turned by `angle` from the vertical, pressed down:
 * u = W r + q over the body (x, y, turn), contacts on its left and right. */
static scree_Problem wedge(double angle, double mu, double q_down) {
  const double radius = 1, inertia = 0.5, s = sin(angle), c = cos(angle);
  /* normals point from the walls to the disk, tangents are turned by 90 degrees */
  const double n[2][2] = {{c, s}, {-c, s}};
  double H[4][3], W[16], q[4], mus[2] = {mu, mu};
  for (int k = 0; k < 2; ++k) {
    const double t[2] = {-n[k][1], n[k][0]}, arm[2] = {-radius * n[k][0], -radius * n[k][1]};
    H[2 * k][0] = n[k][0];
    H[2 * k][1] = n[k][1];
    H[2 * k][2] = arm[0] * n[k][1] - arm[1] * n[k][0];
    H[2 * k + 1][0] = t[0];
    H[2 * k + 1][1] = t[1];
    H[2 * k + 1][2] = arm[0] * t[1] - arm[1] * t[0];
  }
  for (int i = 0; i < 4; ++i) {
    q[i] = -q_down * H[i][1];
    for (int j = 0; j < 4; ++j)
      W[4 * i + j] = H[i][0] * H[j][0] + H[i][1] * H[j][1] + H[i][2] * H[j][2] / inertia;
  }
  scree_Problem p = {0};
  assert_int_equal(scree_problem_create_dense(&p, 2, 2, W, q, mus, NULL), SCREE_OK);
  return p;
}

/* 002 Theorem 1. Between parallel walls the disk sticks, and both normal impulses may be any
 * t >= q/(2 mu) at once; where the walls open by more than the angle of friction they are what the
 * weight demands, and where a spring is in each contact too. */
static void test_internal_forces(void **unused) {
  (void)unused;
  const double mu = 0.4, fall = 0.7;
  static const double H[8] = {1, 0, 0, 0.3, 1, 0, 0, 0.3};
  for (int wide = 0; wide < 3; ++wide) {
    double r[4], u[4], g[4];
    scree_InternalForces found;
    scree_Problem p = wedge(wide == 1 ? 1.1 * atan(mu) : 0, mu, fall);
    p.flow = SCREE_ASSOCIATED;
    p.flow_blocks = H;
    for (size_t k = 0; wide == 2 && k < 16; k += 5) { /* rows of blocks: diagonal of W */
      const size_t row = k / 4;
      p.blocks.x[row / 2 * 8 + row % 2 * 4 + row] += 0.1;
    }
    solve(&p, "ipm", r, u);
    assert_int_equal(scree_internal_forces(&p, u, 1e-6, g, &found, NULL), SCREE_OK);
    assert_true(found.any == (wide == 0));
    if (wide) {
      assert_true(found.contacts == 0 && found.residual > 1e-3);
      for (int k = 0; k < 4; ++k) assert_true(g[k] == 0);
    } else {
      assert_true(found.contacts == 2 && found.residual < 1e-6);
      for (int k = 0; k < 4; ++k) assert_true(fabs(g[k] - (k % 2 == 0)) < 1e-6);
      assert_true(fabs(fabs(r[1]) - fall / 2) < 1e-8 && fabs(fabs(r[3]) - fall / 2) < 1e-8);
      assert_true(r[0] > fall / 2 / mu - 1e-8 && fabs(r[0] - r[2]) < 1e-8);
      for (double t = 1e-3; t < 1e4; t *= 10) { /* each of the family is a solution */
        double more[4];
        for (int k = 0; k < 4; ++k) more[k] = r[k] + t * g[k];
        assert_true(flow_error(&p, H, more) < 1e-6);
      }
    }
    scree_problem_destroy(&p);
  }
}

/* The same in 3D and body form, for Coulomb's law: a ball between two plates, and one on a plate.
 */
static void test_internal_forces_of_bodies(void **unused) {
  (void)unused;
  for (int plates = 1; plates <= 2; ++plates) {
    scree_Problem p = {0};
    assert_int_equal(scree_problem_create_balls(&p, 3, plates, 1, false, false, NULL), SCREE_OK);
    for (int c = 0; c < plates; ++c) {
      p.bodies.body[2 * c] = 0;
      p.bodies.body[2 * c + 1] = -1;
      p.bodies.normal[3 * c + 2] = c == 0 ? 1 : -1;
      p.bodies.arm[4 * c] = 1;
      p.bodies.arm[4 * c + 1] = sqrt(2.5);
      p.q[3 * c] = c == 0 ? -0.1 : 0.1;
      p.mu[c] = 0.5;
    }
    double r[6], u[6], g[6];
    scree_InternalForces found;
    solve(&p, "nlgs", r, u);
    assert_int_equal(scree_internal_forces(&p, u, 1e-6, g, &found, NULL), SCREE_OK);
    assert_true(found.any == (plates == 2) && found.contacts == (plates == 2 ? 2 : 0));
    for (int k = 0; k < 3 * plates; ++k) assert_true(fabs(g[k] - (found.any && k % 3 == 0)) < 1e-6);
    scree_problem_destroy(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_internal_forces), cmocka_unit_test(test_internal_forces_of_bodies),
      cmocka_unit_test(test_general_flow),    cmocka_unit_test(test_dilatation),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
