/* Problems between balls: the short form (normals and arms) against the same problem with B written
 * out by cross products, and the recognition of balls in a B that somebody else wrote. */
#define _DEFAULT_SOURCE /* scandir */

#include "bench/packing.h"
#include "problem/measure.h"
#include "problem/operator.h"
#include "scree/world.h"
#include "solver/colouring.h"
#include "solver/graph_system.h"
#include "solver/lanes.h"
#include "solver/local_exact.h"
#include "tests/small_problems.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CONTACTS = 700 };

/* A packing with random normals (also along and against z), some obstacles, and its dense twin. */
static void make_twins(int d, scree_Problem *balls, scree_Problem *dense) {
  uint64_t seed = 11;
  assert_int_equal(packing_create(d, CONTACTS, 0.4, balls, NULL), SCREE_OK);
  for (int c = 0; c < balls->nc; ++c) {
    double *n = balls->bodies.normal + 3 * c, *arm = balls->bodies.arm + 4 * c, norm = 0.0;
    for (int k = 0; k < d; ++k) n[k] = packing_random(&seed) - 0.5;
    if (c % 50 == 0)
      for (int k = 0; k < 3; ++k) n[k] = k == d - 1 ? (c % 100 ? 1.0 : -1.0) : 0.0;
    for (int k = 0; k < d; ++k) norm += n[k] * n[k];
    for (int k = 0; k < d; ++k) n[k] /= sqrt(norm);
    for (int k = 0; k < 4; ++k) arm[k] *= 0.5 + packing_random(&seed);
    const int side = c % 14 < 7;
    if (c % 7 == 0) {
      balls->bodies.body[2 * c + side] = -1;
      arm[2 * side] = arm[2 * side + 1] = 0.0;
    }
  }
  assert_int_equal(packing_dense(balls, dense, NULL), SCREE_OK);
  for (int c = 0; c < balls->nc; ++c) /* an obstacle's block is zero, not minus zero */
    for (int side = 0; side < 2; ++side)
      if (balls->bodies.body[2 * c + side] < 0)
        memset(dense->bodies.B + (size_t)((2 * c + side) * d * dense->bodies.nb), 0,
               (size_t)(d * dense->bodies.nb) * sizeof(double));
  assert_int_equal(scree_problem_check(balls, NULL), SCREE_OK);
  assert_int_equal(scree_problem_check(dense, NULL), SCREE_OK);
}

static double *random_vector(size_t n, uint64_t seed) {
  double *x = calloc(n, sizeof *x);
  for (size_t i = 0; i < n; ++i) x[i] = packing_random(&seed) - 0.5;
  return x;
}

static void assert_close(size_t n, const double *a, const double *b, double relative) {
  double scale = 0.0;
  for (size_t i = 0; i < n; ++i) scale = fmax(scale, fmax(fabs(a[i]), fabs(b[i])));
  for (size_t i = 0; i < n; ++i) assert_true(fabs(a[i] - b[i]) <= relative * scale);
}

/* u = W r + q, the state, the diagonal, one contact's velocity and update, the norm, W itself. */
static void both_forms_are_one_operator(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p[2], assembled[2];
    scree_Operator W[2];
    double *u[2], *y[2];
    make_twins(d, &p[0], &p[1]);
    const size_t n = (size_t)(p[0].nc * d);
    double *r = random_vector(n, 3), dr[3] = {0.3, -0.2, 0.1};
    for (int k = 0; k < 2; ++k) {
      assert_int_equal(scree_operator_create(&p[k], 1, NULL, &W[k]), SCREE_OK);
      u[k] = calloc(n, sizeof(double));
      y[k] = calloc(W[k].state_size, sizeof(double));
      scree_operator_apply(&W[k], r, p[k].q, y[k], u[k]);
      for (int c = 0; c < p[k].nc; c += 5)
        scree_contact_update(&W[k], SCREE_BODIES, d, p[k].bodies.nb, c, dr, y[k]);
      assert_int_equal(scree_problem_assemble(&p[k], &assembled[k], NULL), SCREE_OK);
    }
    assert_close(n, u[0], u[1], 1e-14);
    assert_close(W[0].state_size, y[0], y[1], 1e-14);
    double one[3], other[3];
    for (int c = 0; c < p[0].nc; ++c) {
      double D[2][9];
      scree_contact_velocity(&W[0], SCREE_BODIES, d, p[0].bodies.nb, c, r, y[0], p[0].q, one);
      scree_contact_velocity(&W[1], SCREE_BODIES, d, p[1].bodies.nb, c, r, y[1], p[1].q, other);
      assert_close((size_t)d, one, other, 1e-13);
      assert_close((size_t)(d * d), scree_contact_diagonal(&W[0], d, c, D[0]),
                   scree_contact_diagonal(&W[1], d, c, D[1]), 1e-14);
    }
    assert_true(fabs(W[0].mean_diagonal - W[1].mean_diagonal) <= 1e-14 * W[0].mean_diagonal);
    assert_memory_equal(assembled[0].blocks.row, assembled[1].blocks.row,
                        ((size_t)p[0].nc + 1) * sizeof(size_t));
    assert_close(assembled[0].blocks.row[p[0].nc] * (size_t)(d * d), assembled[0].blocks.x,
                 assembled[1].blocks.x, 1e-14);
    for (int k = 0; k < 2; ++k) {
      scree_operator_destroy(&W[k]);
      scree_problem_destroy(&p[k]);
      scree_problem_destroy(&assembled[k]);
      free(u[k]);
      free(y[k]);
    }
    free(r);
  }
}

/* (I + B^T G B) dy = b with unsymmetric G. */
static void both_forms_give_one_system(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p[2];
    double *b[2];
    make_twins(d, &p[0], &p[1]);
    const size_t size = (size_t)(p[0].bodies.nbodies * p[0].bodies.nb);
    double *G = random_vector((size_t)(p[0].nc * d * d), 5);
    for (int c = 0; c < p[0].nc; ++c)
      for (int i = 0; i < d; ++i) G[(c * d + i) * d + i] += 1.0;
    for (int k = 0; k < 2; ++k) {
      scree_Operator W;
      scree_GraphSystem system = {0};
      scree_Elimination elimination = {0};
      scree_Arena arena = {0};
      bool broken = true;
      b[k] = random_vector(size, 9);
      assert_int_equal(scree_operator_create(&p[k], 1, NULL, &W), SCREE_OK);
      assert_int_equal(scree_graph_system_set(&system, &W, 1, &elimination, &arena, NULL),
                       SCREE_OK);
      assert_int_equal(scree_graph_system_factor(&system, NULL, G, &broken), SCREE_OK);
      assert_false(broken);
      scree_graph_system_solve(&system, b[k]);
      scree_graph_system_fini(&system);
      scree_elimination_fini(&elimination);
      scree_arena_fini(&arena);
      scree_operator_destroy(&W);
    }
    assert_close(size, b[0], b[1], 1e-11);
    for (int k = 0; k < 2; ++k) {
      scree_problem_destroy(&p[k]);
      free(b[k]);
    }
    free(G);
  }
}

/* One sweep from zero over contacts that do not see each other gives the exact local solution. */
static void lanes_solve_balls_exactly(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p;
    scree_Operator W;
    scree_Arena arena = {0};
    scree_Colouring colouring;
    scree_LaneLayout layout;
    scree_Lanes lanes;
    uint64_t seed = 17;
    int open = 0, stick = 0, slip = 0;
    assert_int_equal(scree_problem_create_balls(&p, d, CONTACTS, CONTACTS, false, false, NULL), 0);
    for (int c = 0; c < CONTACTS; ++c) {
      double *n = p.bodies.normal + 3 * c, norm = 0.0;
      const double size = pow(10.0, 6.0 * packing_random(&seed) - 3.0);
      p.bodies.body[2 * c + c % 2] = c;
      p.bodies.body[2 * c + (c + 1) % 2] = -1;
      for (int k = 0; k < d; ++k) {
        n[k] = packing_random(&seed) - 0.5;
        norm += n[k] * n[k];
      }
      for (int k = 0; k < d; ++k) n[k] /= sqrt(norm);
      p.bodies.arm[4 * c + 2 * (c % 2)] = c % 2 ? -size : size;
      p.bodies.arm[4 * c + 2 * (c % 2) + 1] = c % 13 == 0 ? 0.0 : 2.0 * size;
      for (int i = 0; i < d; ++i) p.q[d * c + i] = packing_random(&seed) - (i ? 0.5 : 0.8);
      if (c % 11 == 0)
        for (int i = 1; i < d; ++i) p.q[d * c + i] = 0.0;
      p.mu[c] = c % 7 == 0 ? 0.0 : 2.0 * packing_random(&seed);
    }
    double *r = random_vector((size_t)(CONTACTS * d), 2), *start = calloc(CONTACTS * 3, sizeof *r);
    double *y = calloc((CONTACTS + 1) * 6, sizeof *y);
    memcpy(start, r, (size_t)(CONTACTS * d) * sizeof *r);
    assert_int_equal(scree_operator_create(&p, 1, NULL, &W), SCREE_OK);
    assert_int_equal(scree_colouring_create(&W, &arena, &colouring, NULL), SCREE_OK);
    assert_int_equal(
        scree_lane_layout_create(&W, &colouring, r, NULL, SCREE_LANES, &arena, &layout, NULL),
        SCREE_OK);
    assert_int_equal(scree_lanes_create(&W, &colouring, &layout, &arena, &lanes, NULL), SCREE_OK);
    assert_true(lanes.balls && !lanes.turn);
    scree_operator_state(&W, r, y);
    scree_lanes_set(&lanes, r, y, 1);
    scree_lanes_visit(&lanes, 0, lanes.start[lanes.colours]);
    scree_lanes_get(&lanes, r, 1);
    for (int c = 0; c < CONTACTS; ++c) {
      double exact[3] = {0.0}, room[9], *mine = r + d * c;
      const double *Wcc = scree_contact_diagonal(&W, d, c, room);
      scree_exact_coulomb(d, Wcc, p.mu[c], p.q + d * c, start + d * c, exact);
      /* the old impulse comes and goes: its size counts too */
      double scale = 0.0, difference = 0.0, t2 = 0.0;
      for (int i = 0; i < d; ++i) {
        scale = fmax(scale, fmax(fabs(exact[i]), fabs(start[d * c + i])));
        difference = fmax(difference, fabs(exact[i] - mine[i]));
        if (i) t2 += mine[i] * mine[i];
      }
      assert_true(difference <= 1e-13 * scale);
      const double limit = p.mu[c] * mine[0];
      assert_true(mine[0] >= 0.0 && sqrt(t2) <= (1.0 + 1e-14) * limit);
      open += mine[0] == 0.0;
      slip += mine[0] > 0.0 && sqrt(t2) >= (1.0 - 1e-12) * limit;
      stick += mine[0] > 0.0 && sqrt(t2) < (1.0 - 1e-12) * limit;
    }
    assert_true(open > 50 && stick > 50 && slip > 50);
    scree_arena_fini(&arena);
    scree_operator_destroy(&W);
    scree_problem_destroy(&p);
    free(r);
    free(start);
    free(y);
  }
}

/* Another frame: tangents turned by `angle` about n, in 2D and with `mirror` the last one flipped.
 */
static void turn_tangents(scree_Problem *dense, int c, double angle, bool mirror) {
  const int d = dense->d, nb = dense->bodies.nb;
  const double cosine = d == 3 ? cos(angle) : 1.0, sine = d == 3 ? sin(angle) : 0.0;
  for (int side = 0; side < 2; ++side) {
    double *t1 = dense->bodies.B + ((2 * c + side) * d + 1) * nb, *t2 = t1 + nb;
    for (int k = 0; k < nb; ++k) {
      const double a = t1[k], b = d == 3 ? t2[k] : 0.0;
      t1[k] = cosine * a + sine * b;
      if (d == 3) t2[k] = (mirror ? -1.0 : 1.0) * (cosine * b - sine * a);
      if (d == 2 && mirror) t1[k] = -a;
    }
  }
}

static void balls_are_recognised(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem balls, dense;
    uint64_t seed = 23;
    const int m = d - 1;
    make_twins(d, &balls, &dense);
    const int nb = dense.bodies.nb;
    for (int c = 0; c < dense.nc; ++c) {
      double n[3], arm[4], turn[4], *B = dense.bodies.B + 2 * c * d * nb;
      turn_tangents(&dense, c, 6.0 * packing_random(&seed), c % 3 == 0);
      assert_true(scree_balls_recognise(&dense, c, n, arm, turn));
      const double sign = balls.bodies.body[2 * c] < 0 ? -1.0 : 1.0; /* the first side's s > 0 */
      for (int k = 0; k < 3; ++k)
        assert_true(fabs(n[k] - sign * balls.bodies.normal[3 * c + k]) < 1e-15);
      for (int k = 0; k < 4; ++k)
        assert_true(fabs(arm[k] - (k % 2 ? 1.0 : sign) * balls.bodies.arm[4 * c + k]) < 1e-14 ||
                    sign < 0.0);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) {
          double sum = 0.0;
          for (int k = 0; k < m; ++k) sum += turn[i * m + k] * turn[j * m + k];
          assert_true(fabs(sum - (i == j)) < 1e-15);
        }
      /* near misses: any one entry that is off by a little */
      for (int k = 0; k < 2 * d * nb; ++k) {
        if (balls.bodies.body[2 * c + k / (d * nb)] < 0) continue;
        if (d == 2 && k % 6 == 5) continue; /* another arm: still a disk */
        const double old = B[k];
        B[k] += (c % 2 ? 1e-11 : -1e-11) * fabs(arm[2 * (k / (d * nb))]);
        assert_false(scree_balls_recognise(&dense, c, n, arm, turn));
        B[k] = old;
      }
    }
    /* an ellipsoid's spin: one column weighs more */
    double n[3], arm[4], turn[4];
    for (int i = 0; i < d; ++i) dense.bodies.B[2 * d * nb + i * nb + nb - 1] *= 1.0 + 1e-9;
    if (d == 3) assert_false(scree_balls_recognise(&dense, 1, n, arm, turn));
    memset(dense.bodies.B, 0, (size_t)(2 * d * nb) * sizeof(double));
    assert_false(scree_balls_recognise(&dense, 0, n, arm, turn));
    scree_problem_destroy(&balls);
    scree_problem_destroy(&dense);
  }
}

/* What sweeps end at satisfies the law. */
static void sweeps_end_at_a_solution(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p;
    scree_Operator W;
    scree_Arena arena = {0};
    scree_Colouring colouring;
    scree_LaneLayout layout;
    assert_int_equal(packing_create(d, 60, 0.4, &p, NULL), SCREE_OK);
    assert_int_equal(scree_operator_create(&p, 1, NULL, &W), SCREE_OK);
    assert_int_equal(scree_colouring_create(&W, &arena, &colouring, NULL), SCREE_OK);
    const size_t n = (size_t)(p.nc * d);
    double *none = calloc(n, sizeof *none);
    assert_int_equal(
        scree_lane_layout_create(&W, &colouring, none, NULL, SCREE_LANES, &arena, &layout, NULL),
        SCREE_OK);
    free(none);
    double *y = calloc(W.state_size, sizeof *y), *u = calloc(n, sizeof *u);
    scree_Lanes lanes;
    double *r = calloc(n, sizeof *r);
    assert_int_equal(scree_lanes_create(&W, &colouring, &layout, &arena, &lanes, NULL), SCREE_OK);
    assert_true(lanes.balls);
    scree_lanes_set(&lanes, r, y, 1);
    for (int sweep = 0; sweep < 20000; ++sweep)
      scree_lanes_visit(&lanes, 0, lanes.start[lanes.colours]);
    scree_lanes_get(&lanes, r, 1);
    scree_operator_apply(&W, r, p.q, y, u);
    assert_true(scree_measure_value(&W, SCREE_MEASURE_ERROR, r, u) < 1e-11);
    free(r);
    free(u);
    free(y);
    scree_arena_fini(&arena);
    scree_operator_destroy(&W);
    scree_problem_destroy(&p);
  }
}

/* Solutions of the short form, of the recognised one (in other frames) and of the general one: the
 * same impulses, however they were swept. */
static void all_forms_have_one_solution(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p[3];
    make_twins(d, &p[0], &p[1]);
    assert_int_equal(packing_dense(&p[0], &p[2], NULL), SCREE_OK);
    memcpy(p[2].bodies.B, p[1].bodies.B,
           (size_t)(2 * p[1].nc * d * p[1].bodies.nb) * sizeof(double));
    /* below what the solution can show, above what recognition lets pass */
    p[2].bodies.B[(d == 2 ? 2 : 5)] += 1e-11;
    const double angle = 0.7;
    for (int c = 0; c < p[1].nc; ++c) {
      turn_tangents(&p[1], c, angle, false);
      const double a = p[1].q[d * c + 1];
      if (d == 2) continue;
      p[1].q[d * c + 1] = cos(angle) * a + sin(angle) * p[1].q[d * c + 2];
      p[1].q[d * c + 2] = cos(angle) * p[1].q[d * c + 2] - sin(angle) * a;
    }
    const size_t n = (size_t)(p[0].nc * d);
    double *r[3], *u = calloc(n, sizeof *u);
    for (int k = 0; k < 3; ++k) {
      scree_SolveSettings settings = scree_solve_settings();
      scree_SolveInfo info;
      r[k] = calloc(n, sizeof(double));
      settings.solver = "nlgs";
      settings.tolerance = 0.0;
      settings.max_iterations = 30;
      settings.threads = 1;
      const scree_Status status = scree_solve(&p[k], &settings, r[k], u, &info, NULL);
      assert_true(status == SCREE_OK || status == SCREE_NOT_CONVERGED);
      assert_true(info.measures.cone_violation < 1e-14);
    }
    for (int c = 0; d == 3 && c < p[1].nc; ++c) { /* back to the common frame */
      double *t = r[1] + 3 * c + 1;
      const double a = t[0];
      t[0] = cos(angle) * a - sin(angle) * t[1];
      t[1] = cos(angle) * t[1] + sin(angle) * a;
    }
    /* thirty sweeps in the same order: equal but for round-off */
    assert_close(n, r[0], r[1], 1e-11);
    assert_close(n, r[0], r[2], 1e-9);
    for (int k = 0; k < 3; ++k) {
      scree_problem_destroy(&p[k]);
      free(r[k]);
    }
    free(u);
  }
}

/* Every method solves the short form to the same error as the dense one. */
static void every_method_takes_balls(void **state) {
  (void)state;
  scree_Problem p, dense;
  assert_int_equal(packing_create(3, 60, 0.3, &p, NULL), SCREE_OK);
  assert_int_equal(packing_dense(&p, &dense, NULL), SCREE_OK);
  double r[180], u[180];
  for (int k = 0; scree_solver_class(k); ++k) {
    const scree_SolverClass *class_ = scree_solver_class(k);
    if (!(scree_solver_class_capabilities(class_) & SCREE_CAN_BODIES)) continue;
    p.flow = scree_solver_class_capabilities(class_) & SCREE_CAN_COULOMB ? SCREE_COULOMB
                                                                         : SCREE_ASSOCIATED;
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info;
    settings.solver = scree_solver_class_name(class_);
    settings.tolerance = 1e-6;
    assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_OK);
    dense.flow = p.flow;
    assert_true(plain_error(&dense, r, 0.0) <= 1.1e-6);
  }
  scree_problem_destroy(&p);
  scree_problem_destroy(&dense);
}

/* A heap of balls in a corner of obstacles. With the moments of one ball a little apart, the step
 * that touches it is posed with B written out: both worlds must move alike. */
static scree_World *make_heap(int d, bool balls) {
  scree_World *world;
  scree_WorldSettings settings = scree_world_settings();
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  settings.dimension = d;
  settings.step = 1e-3;
  settings.gravity = (scree_Vec3){2.0, d == 2 ? -9.81 : 1.0, d == 2 ? 0.0 : -9.81};
  settings.solve.solver = "nlgs";
  settings.solve.tolerance = 1e-13;
  assert_int_equal(scree_world_create(&settings, NULL, &world), SCREE_OK);
  def.shape = &shape;
  def.obstacle = true;
  if (d == 2)
    assert_int_equal(scree_shape_init_half_plane(&shape, NULL), SCREE_OK);
  else
    assert_int_equal(scree_shape_init_box(&shape, 1.0, 1.0, 1.0, NULL), SCREE_OK);
  if (d == 3) def.pose.position = (scree_Vec3){0.0, 0.0, -1.0};
  assert_int_equal(scree_world_add_body(world, &def, NULL), SCREE_OK);
  def.obstacle = false;
  for (int k = 0; k < 12; ++k) {
    const double radius = 0.05 * (1.0 + 0.02 * k), x = 0.13 * (k % 3) + 0.004 * k,
                 up = 0.07 + 0.13 * (k / 3);
    if (d == 2)
      assert_int_equal(scree_shape_init_disk(&shape, radius, NULL), SCREE_OK);
    else
      assert_int_equal(scree_shape_init_sphere(&shape, radius, NULL), SCREE_OK);
    def.pose.position = d == 2 ? (scree_Vec3){x, up, 0.0} : (scree_Vec3){x, 0.01 * (k % 2), up};
    def.mass = 1.0 + 0.1 * k;
    const double J = 0.4 * def.mass * radius * radius;
    def.inertia = (scree_Vec3){J, J, balls || d == 2 ? J : J * (1.0 + 4e-16)};
    assert_int_equal(scree_world_add_body(world, &def, NULL), SCREE_OK);
  }
  return world;
}

static void worlds_of_balls_pose_the_short_form(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_World *world[2] = {make_heap(d, true), make_heap(d, false)};
    const scree_Problem *p[2];
    int contacts = 0;
    for (int step = 0; step < 150; ++step)
      for (int k = 0; k < 2; ++k) {
        assert_true(scree_world_step(world[k], NULL) <= SCREE_NOT_CONVERGED);
        assert_int_equal(scree_world_problem(world[k], &p[k], NULL, NULL, NULL), SCREE_OK);
        if (p[k]->nc == 0) continue;
        assert_int_equal(p[k]->bodies.B == NULL, d == 2 || k == 0);
        contacts += p[k]->nc;
      }
    assert_true(contacts > 500);
    for (int b = 0; b < scree_world_body_count(world[0]); ++b) {
      const scree_Vec3 x = scree_body_pose(world[0], b).position,
                       z = scree_body_pose(world[1], b).position;
      assert_true(hypot(hypot(x.x - z.x, x.y - z.y), x.z - z.z) < 1e-8);
    }
    scree_world_destroy(world[0]);
    scree_world_destroy(world[1]);
  }
}

/* What a world holds: a body and a contact between balls have a price (creep is 32 bytes of a body,
 * its approach 24 of a contact), and no array doubles. The
 * spheres of a lattice overlap a little, so that each has about three contacts. */
static void worlds_of_balls_are_small(void **state) {
  (void)state;
  enum { SIDE = 12, BODIES = SIDE * SIDE * SIDE };
  scree_World *world;
  scree_WorldSettings settings = scree_world_settings();
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  settings.step = 1e-5;
  assert_int_equal(scree_world_create(&settings, NULL, &world), SCREE_OK);
  assert_int_equal(scree_shape_init_sphere(&shape, 0.5, NULL), SCREE_OK);
  def.shape = &shape;
  for (int k = 0; k < BODIES; ++k) {
    def.pose.position =
        (scree_Vec3){0.9999 * (k % SIDE), 0.9999 * (k / SIDE % SIDE), 0.9999 * (k / SIDE / SIDE)};
    assert_int_equal(scree_world_add_body(world, &def, NULL), SCREE_OK);
  }
  for (int step = 0; step < 3; ++step)
    assert_true(scree_world_step(world, NULL) <= SCREE_NOT_CONVERGED);
  const double contacts = scree_world_contact_count(world);
  assert_true(contacts > 2.5 * BODIES);
  assert_true((double)scree_world_memory(world) < 576.0 * BODIES + 294.0 * contacts + 4096.0);
  scree_world_destroy(world);
}

static void broken_normals_are_refused(void **state) {
  (void)state;
  scree_Problem p;
  assert_int_equal(packing_create(2, 10, 0.3, &p, NULL), SCREE_OK);
  p.bodies.normal[3] *= 1.001;
  assert_int_equal(scree_problem_check(&p, NULL), SCREE_BAD_INPUT);
  p.bodies.normal[3] /= 1.001;
  p.bodies.normal[5] = 1e-3;
  assert_int_equal(scree_problem_check(&p, NULL), SCREE_BAD_INPUT);
  p.bodies.normal[5] = 0.0;
  assert_int_equal(scree_problem_check(&p, NULL), SCREE_OK);
  p.bodies.arm[7] = NAN;
  assert_int_equal(scree_problem_check(&p, NULL), SCREE_BAD_INPUT);
  p.bodies.arm[7] = 1.0;
  p.bodies.nb = 6;
  assert_int_equal(scree_problem_check(&p, NULL), SCREE_BAD_INPUT);
  scree_problem_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_forms_are_one_operator),
      cmocka_unit_test(both_forms_give_one_system),
      cmocka_unit_test(lanes_solve_balls_exactly),
      cmocka_unit_test(balls_are_recognised),
      cmocka_unit_test(sweeps_end_at_a_solution),
      cmocka_unit_test(all_forms_have_one_solution),
      cmocka_unit_test(every_method_takes_balls),
      cmocka_unit_test(broken_normals_are_refused),
      cmocka_unit_test(worlds_of_balls_pose_the_short_form),
      cmocka_unit_test(worlds_of_balls_are_small),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
