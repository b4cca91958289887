/* Resistance to rolling and spinning: the set and its projection, the law of one contact against
 * its definition, and bodies that stop, stay and spin down as theory has it. */
#include "test_world_scene.h"

#include "scree/solver.h"

static const double g = 10, radius = 0.1;

static double uniform(unsigned long long *seed) {
  *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(int64_t)*seed * 0x1p-63;
}

/* The variational inequality of a projection: (x - p).(z - p) <= 0 for all z in the set. */
static void test_projection(void **state) {
  (void)state;
  unsigned long long seed = 7;
  for (int d = 3; d <= 6; d += 3)
    for (int k = 0; k < 4000; ++k) {
      const scree_Set set = {SCREE_SET_ROLLING, k % 7 == 0 ? 0 : fabs(uniform(&seed)),
                             k % 5 == 0 ? 0 : fabs(uniform(&seed)),
                             k % 3 == 0 ? 0 : fabs(uniform(&seed))};
      double x[6], p[6], again[6], y[6], z[6], product = 0;
      for (int i = 0; i < d; ++i) x[i] = uniform(&seed) * (k % 2 ? 1 : 1e-3 + (i == 0));
      scree_set_project(&set, d, x, p);
      scree_set_project(&set, d, p, again);
      for (int i = 0; i < d; ++i) NEAR(again[i], p[i], 1e-15);
      for (int n = 0; n < 20; ++n) {
        for (int i = 0; i < d; ++i) y[i] = 2 * uniform(&seed);
        scree_set_project(&set, d, y, z);
        product = 0;
        for (int i = 0; i < d; ++i) product += (x[i] - p[i]) * (z[i] - p[i]);
        assert_true(product <= 1e-14);
      }
    }
}

static double part_norm(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return sqrt(sum);
}

/* One part of Coulomb's law: |r| <= bound, and -u along r where the bound is reached. */
static void check_part(const double *r, const double *u, int n, double bound, double scale) {
  const double size = part_norm(r, n), speed = part_norm(u, n);
  double product = 0;
  for (int i = 0; i < n; ++i) product += r[i] * u[i];
  assert_true(size <= bound + 1e-9 * scale);
  NEAR(product, -bound * speed, 1e-8 * scale * scale);
}

/* Contacts of balls of different sizes: every solver that knows the set gives the law. */
static void test_law(void **state) {
  (void)state;
  static const char *const solvers[] = {"nlgs", "auto", "fixed-point", "newton"};
  unsigned long long seed = 3;
  for (int trial = 0; trial < 40; ++trial)
    for (int d = 2; d <= 3; ++d) {
      const int n = d == 2 ? 3 : 6, nb = n, touches[2] = {1, 2}, rows[2] = {n, n};
      static const int touched[3] = {0, 0, 1};
      scree_Problem p;
      const scree_ProblemLayout layout = {.d = d,
                                          .bodies = 2,
                                          .nb = nb,
                                          .constraints = 2,
                                          .rows = rows,
                                          .touches = touches,
                                          .touched = touched,
                                          .with_sets = true};
      OK(scree_problem_create(&p, &layout, &test_log));
      for (size_t k = 0; k < p.general.block[p.general.entry[2]]; ++k)
        p.general.B[k] = 0.3 * uniform(&seed) + (k % (size_t)(n * nb) % (size_t)(nb + 1) == 0);
      for (int i = 0; i < 2 * n; ++i) p.q[i] = uniform(&seed);
      p.q[0] = -fabs(p.q[0]);
      for (int c = 0; c < 2; ++c) {
        p.set[c] = SCREE_SET_ROLLING;
        p.mu[c] = 0.5 * fabs(uniform(&seed));
        p.set_a[c] = 0.3 * fabs(uniform(&seed));
        p.set_b[c] = 0.2 * fabs(uniform(&seed));
      }
      p.flow = SCREE_COULOMB;
      OK(scree_problem_check(&p, &test_log));
      for (int m = 0; m < 4; ++m) {
        double r[12] = {0}, u[12];
        scree_SolveInfo info;
        scree_SolveSettings settings = scree_solve_settings();
        settings.solver = solvers[m];
        settings.tolerance = 1e-11;
        settings.time_limit = 2;
        if (scree_solve(&p, &settings, r, u, &info, NULL) != SCREE_OK) {
          if (m == 2) continue; /* a fixed point need not exist for large friction */
          fail_msg("%s: error %g in trial %d", solvers[m], info.measures.error, trial);
        }
        const double scale = 1 + part_norm(r, 2 * n);
        for (int c = 0; c < 2; ++c) {
          const double *rc = r + c * n, *uc = u + c * n;
          assert_true(rc[0] >= 0 && uc[0] >= -1e-9 * scale);
          NEAR(rc[0] * uc[0], 0, 1e-8 * scale * scale);
          check_part(rc + 1, uc + 1, d - 1, p.mu[c] * rc[0], scale);
          check_part(rc + d, uc + d, d - 1, p.set_a[c] * rc[0], scale);
          if (d == 3) check_part(rc + 5, uc + 5, 1, p.set_b[c] * rc[0], scale);
        }
      }
      /* the associated law is one minimum: two methods find the same velocities */
      p.flow = SCREE_ASSOCIATED;
      double r[12] = {0}, u[3][12];
      for (int m = 0; m < 3; ++m) {
        scree_SolveInfo info;
        scree_SolveSettings settings = scree_solve_settings();
        settings.solver = m == 0 ? "nlgs" : m == 1 ? "spg" : "newton";
        settings.tolerance = 1e-10;
        memset(r, 0, sizeof r);
        OK(scree_solve(&p, &settings, r, u[m], &info, NULL));
      }
      for (int i = 0; i < 2 * n; ++i) {
        NEAR(u[0][i], u[1][i], 1e-7);
        NEAR(u[0][i], u[2][i], 1e-7);
      }
      scree_problem_destroy(&p);
    }
}

/* Newton from near a solution is quadratic: a row of balls on a plane, pushed from one end and
 * turned, to round-off in a few factorisations, where sweeps need hundreds. */
static void test_newton(void **state) {
  (void)state;
  enum { BALLS = 16 };
  for (int flow = 0; flow < 2; ++flow) {
    unsigned long long seed = 5;
    int touches[2 * BALLS], rows[2 * BALLS], touched[4 * BALLS], n = 0;
    for (int b = 0; b < BALLS; ++b) {
      rows[2 * b] = rows[2 * b + 1] = 3;
      touches[2 * b] = 1; /* the plane; then the ball before it, or a wall */
      touched[n++] = b;
      touches[2 * b + 1] = b ? 2 : 1;
      touched[n++] = b;
      if (b) touched[n++] = b - 1;
    }
    scree_Problem p;
    const scree_ProblemLayout layout = {.d = 2,
                                        .bodies = BALLS,
                                        .nb = 3,
                                        .constraints = 2 * BALLS,
                                        .rows = rows,
                                        .touches = touches,
                                        .touched = touched,
                                        .with_sets = true};
    OK(scree_problem_create(&p, &layout, &test_log));
    /* rows: normal, tangent, rotation; B is scaled by the root of the inverse mass */
    static const double on_plane[9] = {0, 1, 0, 1, 0, 1.4, 0, 0, 1.4};
    static const double beside[9] = {1, 0, 0, 0, -1, 1.4, 0, 0, 1.4};
    for (int c = 0; c < 2 * BALLS; ++c) {
      p.set[c] = SCREE_SET_ROLLING;
      p.mu[c] = 0.3;
      p.set_a[c] = 0.05;
      for (size_t e = p.general.entry[c]; e < p.general.entry[c + 1]; ++e)
        for (int i = 0; i < 9; ++i) {
          const bool second = e > p.general.entry[c];
          const double *B = c % 2 ? beside : on_plane;
          const double sign = !second || (c % 2 && i == 5) ? 1 : -1;
          p.general.B[p.general.block[e] + (size_t)i] = sign * B[i];
        }
      for (int i = 0; i < 3; ++i) p.q[3 * c + i] = 0.1 * uniform(&seed);
      p.q[3 * c] = c % 2 ? -0.1 : -0.5;
    }
    p.flow = flow ? SCREE_ASSOCIATED : SCREE_COULOMB;
    OK(scree_problem_check(&p, &test_log));
    static double r[6 * BALLS], u[6 * BALLS], start[6 * BALLS];
    memset(r, 0, sizeof r);
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info, sweeps;
    settings.threads = 1;
    settings.solver = "nlgs";
    settings.tolerance = 1e-7;
    OK(scree_solve(&p, &settings, r, u, &info, &test_log));
    settings.warm_start = true;
    settings.tolerance = 1e-12;
    memcpy(start, r, sizeof r);
    OK(scree_solve(&p, &settings, r, u, &sweeps, &test_log));
    memcpy(r, start, sizeof r);
    settings.solver = "newton";
    const scree_Status status = scree_solve(&p, &settings, r, u, &info, &test_log);
    print_message("rolling, flow %d: %d sweeps, or %d factorisations to %.1e\n", flow,
                  sweeps.iterations, info.factorisations, info.measures.error);
    OK(status);
    assert_true(info.factorisations > 0 && 20 * info.factorisations < sweeps.iterations);
    scree_problem_destroy(&p);
  }
}

static scree_World *world_of(int d, double slope, double rolling, double spinning, double mu) {
  scree_WorldSettings settings = scree_world_settings();
  scree_PairLaw law = scree_pair_law_coulomb(mu, 0, 0);
  scree_World *world;
  OK(scree_pair_law_set(&law, "rolling", rolling, &test_log));
  OK(scree_pair_law_set(&law, "spinning", spinning, &test_log));
  settings.dimension = d;
  settings.step = 1e-3;
  settings.solve.threads = 1;
  settings.gravity =
      d == 2 ? vec(g * sin(slope), -g * cos(slope), 0) : vec(g * sin(slope), 0, -g * cos(slope));
  OK(scree_world_create(&settings, &test_log, &world));
  OK(scree_world_set_default_law(world, &law));
  return world;
}

static int add_ball(scree_World *world, int d, double v, double w) {
  scree_BodyDef def = d == 2 ? at(0, radius, 0) : at(0, 0, radius);
  def.velocity.linear.x = v;
  if (d == 2)
    def.velocity.angular.z = -v / radius;
  else
    def.velocity.angular = vec(0, v / radius, w);
  if (d == 2) {
    add_half_plane(world, obstacle_at(0, 0, 0));
    return add_disk(world, radius, def);
  }
  add_half_space(world, obstacle_at(0, 0, 0));
  return add_sphere(world, radius, def);
}

/* v^2 (1 + k) / (2 mu_r g) with k = J / (m R^2). */
static void test_stopping_distance(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    const double v = 1, rolling = 0.1, k = d == 2 ? 0.5 : 0.4;
    scree_World *world = world_of(d, 0, rolling, 0, 0.5);
    const int ball = add_ball(world, d, v, 0);
    const double start = scree_world_energy(world).kinetic;
    const double time = v * (1 + k) / (rolling * g), distance = 0.5 * v * time;
    run_steps(world, (int)(0.5 * time / 1e-3));
    NEAR(scree_body_velocity(world, ball).linear.x, 0.5 * v, 2e-3);
    run_steps(world, (int)(0.6 * time / 1e-3));
    NEAR(scree_body_pose(world, ball).position.x, distance, 2e-3 * distance);
    NEAR(scree_body_velocity(world, ball).linear.x, 0, 1e-7);
    const scree_EnergyBalance e = scree_world_energy(world);
    NEAR(e.friction, start, 1e-6 * start); /* all of it by the moment */
    assert_true(e.closing <= 1e-10 * start);
    scree_world_destroy(world);
  }
}

/* On a slope: below tan(slope) = mu_r it stays, above it rolls with g (sin - mu_r cos) / (1 + k).
 */
static void test_slope(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d)
    for (int rolls = 0; rolls < 2; ++rolls) {
      const double rolling = 0.2, k = d == 2 ? 0.5 : 0.4, slope = atan(rolls ? 0.25 : 0.19);
      scree_World *world = world_of(d, slope, rolling, 0.1, 0.8);
      const int ball = add_ball(world, d, 0, 0);
      run_steps(world, 1000);
      const double moved = scree_body_pose(world, ball).position.x;
      const double wanted = rolls ? 0.5 * g * (sin(slope) - rolling * cos(slope)) / (1 + k) : 0;
      NEAR(moved, wanted, rolls ? 3e-3 * wanted : 1e-10);
      scree_world_destroy(world);
    }
}

/* A sphere that spins on the spot: w falls by mu_s R m g / J. */
static void test_spin(void **state) {
  (void)state;
  const double w = 20, spinning = 0.05, rate = spinning * g / (0.4 * radius);
  scree_World *world = world_of(3, 0, 0, spinning, 0.5);
  const int ball = add_ball(world, 3, 0, w);
  run_steps(world, 1000);
  NEAR(scree_body_velocity(world, ball).angular.z, w - rate, 1e-6 * w);
  run_steps(world, 1000);
  NEAR(scree_body_velocity(world, ball).angular.z, 0, 1e-6);
  scree_world_destroy(world);
}

/* A pair with resistance beside one without, a joint, and the same bits after a restart. */
static void test_restart(void **state) {
  (void)state;
  scree_World *worlds[2];
  for (int k = 0; k < 2; ++k) {
    worlds[k] = world_of(2, 0.1, 0.1, 0, 0.5);
    int smooth;
    OK(scree_world_add_material(worlds[k], &smooth));
    const scree_PairLaw plain = scree_pair_law_coulomb(0.3, 0, 0);
    OK(scree_world_set_pair_law(worlds[k], 0, smooth, &plain));
    add_half_plane(worlds[k], obstacle_at(0, 0, 0));
    int last = -1;
    for (int n = 0; n < 6; ++n) {
      scree_BodyDef def = at(0.21 * (n % 3) + 0.05 * (n / 3), radius + 0.2 * (n / 3), 0);
      def.velocity.linear.x = 0.5;
      if (n == 5) def.material = smooth;
      const int body = add_disk(worlds[k], radius, def);
      if (n == 1) {
        scree_JointDef joint = scree_joint_def();
        joint.kind = SCREE_JOINT_DISTANCE;
        joint.body[0] = last;
        joint.body[1] = body;
        joint.anchor = vec(0, radius, 0);
        joint.anchor2 = vec(0.21, radius, 0);
        int index;
        OK(scree_world_add_joint(worlds[k], &joint, &index));
      }
      last = body;
    }
  }
  run_steps(worlds[0], 200);
  const size_t size = scree_world_state_size(worlds[0]);
  void *buffer = malloc(size);
  scree_world_save(worlds[0], buffer);
  OK(scree_world_restore(worlds[1], buffer, size));
  for (int k = 0; k < 2; ++k) run_steps(worlds[k], 200);
  for (int body = 1; body < 7; ++body) {
    const scree_Pose a = scree_body_pose(worlds[0], body), b = scree_body_pose(worlds[1], body);
    assert_memory_equal(&a, &b, sizeof a);
  }
  const scree_EnergyBalance e = scree_world_energy(worlds[0]);
  assert_true(e.closing <= 1e-9 * e.friction && e.friction > 0);
  free(buffer);
  for (int k = 0; k < 2; ++k) scree_world_destroy(worlds[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_projection),
      cmocka_unit_test(test_law),
      cmocka_unit_test(test_newton),
      cmocka_unit_test(test_slope),
      cmocka_unit_test(test_stopping_distance),
      cmocka_unit_test(test_spin),
      cmocka_unit_test(test_restart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
