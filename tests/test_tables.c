/* The tables of 001 and 000 that need one contact only: how many Gauss-Seidel iterations each local
 * solver takes for a ball that slides and then rolls.
 *
 *   001 table I     ball thrown on a plane: 18 / 18 / 1 / 1 at the last of 2000 steps for
 *                   sbp / sal / ebp / eal
 *   000 table 2     ball put on a running belt: 2 / 2 / 20 / 2 while it slides and 3 / 3 / 20 / 2
 *                   while it rolls, at every step, for epdas / ipdas / sal / ibp
 *
 * Both papers treat r as a force: with u the mean velocity (u+ + e u-)/(1 + e), u = q + W r where
 * W = dt H M^-1 H^T/(1 + e), and r = 0 at the start of each step. The loops here are written once
 * more, independently of nlgs, and the same steps are handed to scree_solve: the counts must agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scree/solver.h"
#include "solver/local.h"

#include <math.h>
#include <stdio.h>

typedef struct Ball {
  double mass, inertia, radius;
  double x[3], v[3]; /* centre and angle */
} Ball;

typedef struct Scene {
  Ball ball;
  double dt, gravity, mu, belt, e;
  double tolerance;
  scree_Measure measure;
} Scene;

/* How one method is called: by its local solver and by the options of nlgs. */
typedef struct Method {
  const scree_LocalClass *local;
  scree_LocalParameters parameters;
} Method;

/* The contact of one step, force convention. */
typedef struct Step {
  double W[4], q[2], free[3];
  bool touches;
} Step;

static Step begin(const Scene *scene) {
  const Ball *b = &scene->ball;
  const double a = 1.0 + scene->e, R = b->radius;
  Step step = {.free = {b->v[0], b->v[1] - scene->dt * scene->gravity, b->v[2]}};
  step.touches = b->x[1] + 0.5 * scene->dt * b->v[1] - R <= 1e-9 * R;
  step.W[0] = scene->dt / b->mass / a;
  step.W[3] = scene->dt * (1.0 / b->mass + R * R / b->inertia) / a;
  step.q[0] = (step.free[1] + scene->e * b->v[1]) / a;
  const double before = b->v[0] + R * b->v[2] - scene->belt,
               after = step.free[0] + R * step.free[2] - scene->belt;
  step.q[1] = (after + scene->e * before) / a;
  return step;
}

static void finish(Scene *scene, const Step *step, const double *r) {
  Ball *b = &scene->ball;
  const double v[3] = {step->free[0] + scene->dt * r[1] / b->mass,
                       step->free[1] + scene->dt * r[0] / b->mass,
                       step->free[2] + scene->dt * b->radius * r[1] / b->inertia};
  for (int i = 0; i < 3; ++i) {
    b->x[i] += 0.5 * scene->dt * (b->v[i] + v[i]);
    b->v[i] = v[i];
  }
}

/* 001 (37) for one contact; the equation of motion holds by construction. */
static double eps_glob(double mu, const double *r, const double *u) {
  const double outside = fmax(0.0, fabs(r[1]) - mu * r[0]) / sqrt(1.0 + mu * mu);
  const double work = fabs(u[0] * r[0] + u[1] * r[1] + mu * r[0] * fabs(u[1]));
  return outside + work + fmax(0.0, -u[0]);
}

/* Gauss-Seidel over the one contact from r = 0; the criterion is checked after the update. */
static int iterate(const Scene *scene, const Method *method, const Step *step, double *r) {
  double u[2] = {step->q[0], step->q[1]}, next[2];
  r[0] = r[1] = 0.0;
  for (int k = 1; k <= 1000; ++k) {
    method->local->solve(&method->parameters, 2, step->W, scene->mu, u, r, next);
    const double increment = fabs(next[0] - r[0]) + fabs(next[1] - r[1]);
    for (int i = 0; i < 2; ++i) {
      r[i] = next[i];
      u[i] = step->q[i] + step->W[3 * i] * r[i];
    }
    const double value =
        scene->measure == SCREE_MEASURE_INCREMENT ? increment : eps_glob(scene->mu, r, u);
    if (value <= scene->tolerance) return k;
  }
  return -1;
}

/* The same through the library's front door. */
static int through_solve(const Scene *scene, const Method *method, const Step *step, double *r) {
  scree_Problem problem;
  assert_int_equal(scree_problem_create_dense(&problem, 2, 1, step->W, step->q, &scene->mu, NULL),
                   SCREE_OK);
  char local[32], rho[64], gamma_n[64], gamma_t[64];
  const char *options[5] = {local, NULL};
  int n = 1;
  snprintf(local, sizeof local, "local=%s", method->local->name);
  if (method->parameters.rho > 0.0) {
    snprintf(rho, sizeof rho, "rho=%.17g", method->parameters.rho);
    options[n++] = rho;
  }
  if (method->parameters.gamma_n > 0.0) {
    snprintf(gamma_n, sizeof gamma_n, "gamma_n=%.17g", method->parameters.gamma_n);
    snprintf(gamma_t, sizeof gamma_t, "gamma_t=%.17g", method->parameters.gamma_t);
    options[n++] = gamma_n;
    options[n++] = gamma_t;
  }
  options[n] = NULL;
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = "nlgs";
  settings.options = options;
  settings.tolerance = scene->tolerance;
  settings.measure = scene->measure;
  settings.threads = 1;
  double u[2];
  scree_SolveInfo info;
  assert_int_equal(scree_solve(&problem, &settings, r, u, &info, NULL), SCREE_OK);
  assert_true(info.converged);
  scree_problem_destroy(&problem);
  return info.iterations;
}

/* One step: the count, checked against scree_solve where asked. */
static int advance(Scene *scene, const Method *method, bool compare) {
  double r[2] = {0.0, 0.0}, s[2];
  const Step step = begin(scene);
  assert_true(step.touches);
  const int count = iterate(scene, method, &step, r);
  if (compare) {
    assert_int_equal(through_solve(scene, method, &step, s), count);
    for (int i = 0; i < 2; ++i) assert_true(fabs(s[i] - r[i]) <= 1e-12 * fabs(r[0]));
  }
  finish(scene, &step, r);
  return count;
}

/* 001 section 4.1: 1.5 m/s on a plane, a disk, mu = 0.7, rho = 0.6 m/dt and m/dt. */
static void test_ball_on_plane(void **state) {
  (void)state;
  const scree_LocalClass *const locals[] = {&scree_local_sbp, &scree_local_sal, &scree_local_ebp,
                                            &scree_local_eal};
  const int published[] = {18, 18, 1, 1};
  const double densities[] = {2600.0, 8000.0}; /* the paper gives none; the counts agree */
  for (int density = 0; density < 2; ++density)
    for (int k = 0; k < 4; ++k) {
      const double R = 5e-3, m = densities[density] * 4.0 / 3.0 * acos(-1.0) * R * R * R;
      Scene scene = {.ball = {.mass = m,
                              .inertia = 0.5 * m * R * R,
                              .radius = R,
                              .x = {0.0, R, 0.0},
                              .v = {1.5, 0.0, 0.0}},
                     .dt = 1e-4,
                     .gravity = 9.81,
                     .mu = 0.7,
                     .tolerance = 1e-10,
                     .measure = SCREE_MEASURE_EPS_GLOB};
      const Method method = {locals[k],
                             {.rho = (k < 2 ? 0.6 : 1.0) * m / scene.dt,
                              .newton_tolerance = 1e-5,
                              .newton_iterations = 100}};
      int count = 0, worst = 0;
      for (int n = 0; n < 2000; ++n) {
        count = advance(&scene, &method, n % 50 == 0 || n == 1999);
        if (count > worst) worst = count;
      }
      print_message("001 table I, %s: %d iterations at the last step (published %d), at most %d\n",
                    locals[k]->name, count, published[k], worst);
      assert_int_equal(count, published[k]);
      /* it rolls, at two thirds of the speed of a disk thrown without spin */
      assert_true(fabs(scene.ball.v[0] - 1.0) < 1e-3);
      assert_true(fabs(scene.ball.v[0] + R * scene.ball.v[2]) < 1e-9);
    }
}

/* 000 section 6.1: 1 m/s on a belt at 2 m/s, a sphere in 2D, mu = 0.22, e = 1, gamma = 10,
 * rho = m/dt, dt a ten-thousandth of the time at which sliding ends. */
static void test_ball_on_belt(void **state) {
  (void)state;
  const scree_LocalClass *const locals[] = {&scree_local_epdas, &scree_local_ipdas,
                                            &scree_local_sal, &scree_local_ibp};
  const int sliding[] = {2, 2, 20, 2}, rolling[] = {3, 3, 20, 2};
  enum { SLIDING = 10000, STEPS = 75500 };
  for (int k = 0; k < 4; ++k) {
    const double R = 2.7e-3, m = 8000.0 * 4.0 / 3.0 * acos(-1.0) * R * R * R;
    Scene scene = {.ball = {.mass = m,
                            .inertia = 0.4 * m * R * R,
                            .radius = R,
                            .x = {0.0, R, 0.0},
                            .v = {1.0, 0.0, 0.0}},
                   .gravity = 9.80665,
                   .mu = 0.22,
                   .belt = 2.0,
                   .e = 1.0,
                   .tolerance = 1e-8,
                   .measure = SCREE_MEASURE_INCREMENT};
    scene.dt = 1.0 / (scene.mu * scene.gravity * 3.5) / SLIDING;
    const bool active_set = k < 2;
    const Method method = {locals[k],
                           {.rho = active_set ? 0.0 : m / scene.dt,
                            .gamma_n = active_set ? 10.0 : 0.0,
                            .gamma_t = active_set ? 10.0 : 0.0}};
    int histogram[2][32] = {{0}};
    for (int n = 0; n < STEPS; ++n) {
      const int count = advance(&scene, &method, n % 500 == 0);
      ++histogram[n >= SLIDING][count < 0 || count > 31 ? 31 : count];
    }
    print_message("000 table 2, %s:", locals[k]->name);
    for (int phase = 0; phase < 2; ++phase) {
      print_message(" %s", phase ? "rolling" : "sliding");
      for (int c = 0; c < 32; ++c)
        if (histogram[phase][c]) print_message(" %d(x%d)", c, histogram[phase][c]);
    }
    print_message("\n");
    assert_int_equal(histogram[0][sliding[k]], SLIDING);
    assert_int_equal(histogram[1][rolling[k]], STEPS - SLIDING);
    /* mu g t of friction until the belt no longer slips: 1 m/s + 2/7 of the difference */
    assert_true(fabs(scene.ball.v[0] - 9.0 / 7.0) < 1e-9);
    assert_true(fabs(R * scene.ball.v[2] - 5.0 / 7.0) < 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ball_on_plane),
      cmocka_unit_test(test_ball_on_belt),
  };
  return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
