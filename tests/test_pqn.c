/* pqn: its closed forms against finite differences and limits, its solutions against nlgs, and the
 * number of iterations that the paper reports for grains in a turning drum. */
#define _DEFAULT_SOURCE /* scandir in small_problems.h */
#include "bench/packing.h"
#include "scree/solver.h"
#include "small_problems.h"
#include "solver/pqn_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const double frictions[] = {0.0, 0.1, 0.3, 1.0, 2.0};
enum { FRICTIONS = sizeof frictions / sizeof *frictions };

static double largest_difference(int n, const double *a, const double *b) {
  double worst = 0.0;
  for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* m is once differentiable on the axis z_T = 0 and its second derivative jumps there (unless mu is
 * 0 or 1), so that differences are only good to their step; elsewhere to its square. */
static double difference_tolerance(bool on_axis) {
  return on_axis ? 1e-4 : 1e-7;
}

static void polar_by_differences(int d, double mu, double omega, const double *z,
                                 double *gradient) {
  const double h = 1e-5 * omega;
  for (int j = 0; j < d; ++j) {
    double lo[3], hi[3], a[3], b[3];
    memcpy(lo, z, sizeof lo);
    memcpy(hi, z, sizeof hi);
    lo[j] -= h;
    hi[j] += h;
    scree_pqn_polar(d, mu, omega, lo, a, NULL);
    scree_pqn_polar(d, mu, omega, hi, b, NULL);
    for (int i = 0; i < d; ++i) gradient[i * d + j] = (b[i] - a[i]) / (2.0 * h);
  }
}

static void polar_gradient(void **state) {
  (void)state;
  unsigned long long seed = 3;
  for (int f = 0; f < FRICTIONS; ++f)
    for (int d = 2; d <= 3; ++d)
      for (int k = 0; k < 200; ++k) {
        const double omega = 0.3;
        double z[3], m[3], G[9], D[9];
        for (int i = 0; i < 3; ++i) z[i] = 2.0 * small_random(&seed);
        /* on the axis too, where the spectral vectors are not unique; without friction nothing is
         * smoothed in the tangent plane and m_T = z_T there, so its derivative is the identity */
        if (k % 4 == 0) z[1] = z[2] = 0.0;
        scree_pqn_polar(d, frictions[f], omega, z, m, G);
        polar_by_differences(d, frictions[f], omega, z, D);
        assert_true(largest_difference(d * d, G, D) < difference_tolerance(k % 4 == 0));
      }
}

static void gradient_without_friction(void **state) {
  (void)state;
  const double z[2][3] = {{-0.4, 0.0, 0.0}, {0.7, 0.2, -0.1}};
  for (int k = 0; k < 2; ++k) {
    double m[3], G[9];
    scree_pqn_polar(3, 0.0, 0.5, z[k], m, G);
    const double slope = 0.5 * (1.0 - z[k][0] / sqrt(z[k][0] * z[k][0] + 1.0));
    const double expected[9] = {slope, 0, 0, 0, 1, 0, 0, 0, 1}; /* normal first */
    assert_true(largest_difference(9, G, expected) < 1e-15);
    assert_true(fabs(m[1] - z[k][1]) < 1e-16 && fabs(m[2] - z[k][2]) < 1e-16);
  }
}

/* m_omega -> z - P_K(z) as omega -> 0 */
static void polar_limit(void **state) {
  (void)state;
  unsigned long long seed = 5;
  for (int f = 0; f < FRICTIONS; ++f)
    for (int k = 0; k < 200; ++k) {
      const scree_Set cone = {SCREE_SET_CONE, frictions[f], 0.0, 0.0};
      const int d = 2 + k % 2;
      double z[3], m[3], P[3];
      for (int i = 0; i < 3; ++i) z[i] = small_random(&seed);
      scree_set_project(&cone, d, z, P);
      scree_pqn_polar(d, frictions[f], 1e-12, z, m, NULL);
      for (int i = 0; i < d; ++i) assert_true(fabs(z[i] - P[i] - m[i]) < 1e-10);
    }
}

static void map_derivatives(void **state) {
  (void)state;
  unsigned long long seed = 9;
  for (int f = 0; f < FRICTIONS; ++f)
    for (int k = 0; k < 200; ++k) {
      const int d = 2 + k % 2;
      const double mu = frictions[f], slope = k % 3 ? mu : 0.0, omega = 0.2, h = 1e-6;
      double u[3], s[3], C[3], X[9], Y[9], DX[9], DY[9];
      for (int i = 0; i < 3; ++i) u[i] = small_random(&seed), s[i] = small_random(&seed);
      if (k % 5 == 0) u[1] = u[2] = 0.0;
      if (k % 10 == 0) s[1] = s[2] = 0.0; /* then z_T = 0 as well */
      scree_pqn_map(d, mu, slope, omega, u, s, C, X, Y);
      for (int j = 0; j < d; ++j)
        for (int which = 0; which < 2; ++which) {
          double *moved = which ? s : u, lo[3], hi[3];
          const double kept = moved[j];
          moved[j] = kept - h;
          scree_pqn_map(d, mu, slope, omega, u, s, lo, NULL, NULL);
          moved[j] = kept + h;
          scree_pqn_map(d, mu, slope, omega, u, s, hi, NULL, NULL);
          moved[j] = kept;
          for (int i = 0; i < d; ++i) (which ? DY : DX)[i * d + j] = (hi[i] - lo[i]) / (2.0 * h);
        }
      const double tolerance = difference_tolerance(k % 10 == 0);
      assert_true(largest_difference(d * d, X, DX) < tolerance);
      assert_true(largest_difference(d * d, Y, DY) < tolerance);
    }
}

/* ---- solutions --------------------------------------------------------------------------------
 */

static scree_SolveInfo solve(const scree_Problem *p, const char *solver, const char *const *options,
                             scree_Measure measure, double tolerance, bool warm, double *r,
                             double *u) {
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  settings.solver = solver;
  settings.options = options;
  settings.measure = measure;
  settings.tolerance = tolerance;
  settings.threads = 1;
  settings.warm_start = warm;
  assert_int_equal(scree_solve(p, &settings, r, u, &info, NULL), SCREE_OK);
  return info;
}

/* The same velocities as nlgs (impulses need not be unique), in both forms of the operator. */
static void agrees_with_gauss_seidel(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d)
    for (int f = 0; f < FRICTIONS; ++f) {
      scree_Problem bodies, assembled;
      assert_int_equal(packing_create(d, 30, frictions[f], &bodies, NULL), SCREE_OK);
      assert_int_equal(scree_problem_assemble(&bodies, &assembled, NULL), SCREE_OK);
      double r[90], u[90], v[90], w[90];
      const int n = bodies.nc * d;
      solve(&bodies, "nlgs", NULL, SCREE_MEASURE_ERROR, 1e-11, false, r, u);
      solve(&bodies, "pqn", NULL, SCREE_MEASURE_ERROR, 1e-11, false, r, v);
      solve(&assembled, "pqn", NULL, SCREE_MEASURE_ERROR, 1e-11, false, r, w);
      assert_true(largest_difference(n, v, w) < 1e-8);
      if (frictions[f] <= 0.3) assert_true(largest_difference(n, u, v) < 1e-8);
      scree_problem_destroy(&bodies);
      scree_problem_destroy(&assembled);
    }
}

/* Other units, the same iterations: W x a, q x b with powers of two gives scaled bits. */
static void does_not_see_units(void **state) {
  (void)state;
  scree_Problem p;
  assert_int_equal(packing_create(3, 60, 0.3, &p, NULL), SCREE_OK);
  double r[180], u[180], r2[180], u2[180];
  const scree_SolveInfo one = solve(&p, "pqn", NULL, SCREE_MEASURE_ERROR, 1e-9, false, r, u);
  for (int i = 0; i < p.nc * 4; ++i) p.bodies.arm[i] *= 0x1p-10;
  for (int i = 0; i < p.nc * 3; ++i) p.q[i] *= 0x1p7;
  const scree_SolveInfo two = solve(&p, "pqn", NULL, SCREE_MEASURE_ERROR, 1e-9, false, r2, u2);
  assert_int_equal(one.iterations, two.iterations);
  for (int i = 0; i < p.nc * 3; ++i) assert_true(r2[i] == r[i] * 0x1p27);
  scree_problem_destroy(&p);
}

static void falls_back(void **state) {
  (void)state;
  static const char *const options[] = {"iterations=1", NULL};
  scree_Problem p = small_pile(3, 4, 0.5, 0.1);
  double r[48], u[48];
  const scree_SolveInfo info = solve(&p, "pqn", options, SCREE_MEASURE_ERROR, 1e-8, false, r, u);
  assert_true(info.iterations > 1);
  assert_string_equal(info.solver, "nlgs after pqn");
  scree_problem_destroy(&p);
}

/* ---- the drum ---------------------------------------------------------------------------------
 */

enum { DRUM_BODIES = 100, DRUM_CONTACTS = 8 * DRUM_BODIES, DRUM_STEPS = 12 };

typedef struct Drum {
  int d, bodies, contacts;
  double x[DRUM_BODIES][3], v[DRUM_BODIES][6]; /* v: velocity and spin */
  double frame[DRUM_CONTACTS][9];
  double wall[DRUM_CONTACTS][3]; /* velocity of the drum at a contact, zero between grains */
} Drum;

/* About a hundred grains of unit diameter on a dense lattice that fills the lower part of a drum;
 * those next to the wall touch it, which moves under them. */
static void fill_drum(Drum *drum, int d, scree_Problem *p) {
  const double radius = d == 2 ? 7.6 : 3.9, row = d == 2 ? 0.5 * sqrt(3.0) : sqrt(2.0 / 3.0);
  *drum = (Drum){.d = d};
  for (int layer = 0; drum->bodies < DRUM_BODIES && layer < 20; ++layer)
    for (int k = -12; k <= 12; ++k)
      for (int j = d == 3 ? -2 : 0; j <= (d == 3 ? 2 : 0); ++j) {
        const double x = k + 0.5 * (layer % 2) + (d == 3 ? 0.5 * (abs(j) % 2) : 0.0);
        const double y = d == 3 ? j * 0.5 * sqrt(3.0) + (layer % 2) * sqrt(3.0) / 6.0 : 0.0;
        const double z = -radius + 0.5 + layer * row;
        if (hypot(x, z) > radius - 0.45 || drum->bodies == DRUM_BODIES) continue;
        double *at = drum->x[drum->bodies++];
        at[0] = x, at[1] = d == 2 ? z : y, at[2] = d == 2 ? 0.0 : z;
      }
  const int nb = d == 2 ? 3 : 6, up = d - 1;
  assert_int_equal(
      scree_problem_create_bodies(p, d, DRUM_CONTACTS, drum->bodies, nb, false, false, NULL),
      SCREE_OK);
  for (int a = 0; a < drum->bodies; ++a)
    for (int b = -1; b < a; ++b) {
      double n[3] = {0.0, 0.0, 0.0}, length = 0.0;
      const double *xa = drum->x[a];
      if (b >= 0)
        for (int i = 0; i < 3; ++i) n[i] = xa[i] - drum->x[b][i];
      else
        n[0] = -xa[0], n[up] = -xa[up];
      for (int i = 0; i < 3; ++i) length += n[i] * n[i];
      length = sqrt(length);
      if (b >= 0 ? length > 1.02 : length < radius - 0.75) continue;
      assert_true(drum->contacts < DRUM_CONTACTS);
      const int c = drum->contacts++;
      for (int i = 0; i < 3; ++i) n[i] /= length;
      packing_frame(d, n, drum->frame[c]);
      double *B = p->bodies.B + c * 2 * d * nb;
      p->bodies.body[2 * c] = a;
      p->bodies.body[2 * c + 1] = b;
      packing_block(d, drum->frame[c], 1.0, 0.5, 1.0, B);
      if (b >= 0) packing_block(d, drum->frame[c], -1.0, 0.5, 1.0, B + d * nb);
      if (b < 0) { /* one radian per second about the axis of the drum */
        drum->wall[c][0] = xa[up] / length * radius;
        drum->wall[c][up] = -xa[0] / length * radius;
      }
      p->mu[c] = 0.3;
    }
  p->nc = drum->contacts;
}

/* q of a step: the velocities of the last step and gravity, relative to the other side. */
static void free_velocities(const Drum *drum, double h, scree_Problem *p) {
  const int d = drum->d, nb = d == 2 ? 3 : 6;
  for (int c = 0; c < p->nc; ++c) {
    for (int i = 0; i < d; ++i) {
      double q = 0.0;
      for (int side = 0; side < 2; ++side) {
        const int b = p->bodies.body[2 * c + side];
        const double *B = p->bodies.B + ((2 * c + side) * d + i) * nb;
        for (int j = 0; b >= 0 && j < nb; ++j)
          q += B[j] * (drum->v[b][j] - (j == d - 1 ? 10.0 * h : 0.0));
      }
      for (int j = 0; j < 3; ++j) q -= drum->frame[c][3 * i + j] * drum->wall[c][j];
      p->q[c * d + i] = q;
    }
  }
}

static void advance(Drum *drum, double h, const scree_Problem *p, const double *r) {
  const int d = drum->d, nb = d == 2 ? 3 : 6;
  for (int b = 0; b < drum->bodies; ++b) drum->v[b][d - 1] -= 10.0 * h;
  for (int c = 0; c < p->nc; ++c)
    for (int side = 0; side < 2; ++side) {
      const int b = p->bodies.body[2 * c + side];
      const double *B = p->bodies.B + (2 * c + side) * d * nb;
      for (int i = 0; b >= 0 && i < d; ++i)
        for (int j = 0; j < nb; ++j) drum->v[b][j] += B[i * nb + j] * r[c * d + i];
    }
}

/* 004, tables 2 and 3: rigid grains, mu = 0.3, 9 to 14 iterations per step, no fallback; merit
 * 1e-8, each step started from the impulses of the last. */
static void few_iterations_in_a_drum(void **state) {
  (void)state;
  static Drum drum;
  static double r[3 * DRUM_CONTACTS], u[3 * DRUM_CONTACTS];
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p;
    int iterations = 0;
    fill_drum(&drum, d, &p);
    memset(r, 0, sizeof r);
    for (int step = 0; step < DRUM_STEPS; ++step) {
      free_velocities(&drum, 1e-3, &p);
      const scree_SolveInfo info = solve(&p, "pqn", NULL, SCREE_MEASURE_MERIT, 1e-8, true, r, u);
      if (getenv("SCREE_VERBOSE"))
        print_message("%dD drum, %d contacts, step %d: %d iterations, %s\n", d, p.nc, step,
                      info.iterations, info.solver);
      assert_string_equal(info.solver, "pqn"); /* no fallback */
      iterations += info.iterations;
      advance(&drum, 1e-3, &p, r);
    }
    assert_true(iterations <= 15 * DRUM_STEPS);
    scree_problem_destroy(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polar_gradient),
      cmocka_unit_test(gradient_without_friction),
      cmocka_unit_test(polar_limit),
      cmocka_unit_test(map_derivatives),
      cmocka_unit_test(agrees_with_gauss_seidel),
      cmocka_unit_test(does_not_see_units),
      cmocka_unit_test(falls_back),
      cmocka_unit_test(few_iterations_in_a_drum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
