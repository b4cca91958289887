/* Vertices of 3, 6, 12 and 30 components in one problem, some of them coupled as finite elements
 * are, with contacts and constraints of 1, 3 and 5 rows: the operator against a dense W that is
 * formed here, and every solver that claims the problem against a solution that is found here. */
#define _DEFAULT_SOURCE /* scandir */
#include "bench/packing.h"
#include "core/memory.h"
#include "problem/general.h"
#include "scree/solver.h"
#include "small_problems.h"

#include <lapacke.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 200 }; /* rows and unknowns of the test problem */

typedef struct Case {
  scree_Problem problem;
  size_t rows, unknowns;
  double W[MOST * MOST]; /* rows x rows */
} Case;

static double number(uint64_t *seed) {
  unsigned long long state = *seed;
  const double x = small_random(&state);
  *seed = state;
  return x;
}

static double unit(uint64_t *seed) {
  return 0.5 + 0.5 * number(seed);
}

/* Bodies 0 to 3 have 6 components (3 in the plane). Vertices 4 to 7 have 3 and are coupled in a
 * ring, 8 has 12, 9 has 30: a second cluster of coupled vertices. */
static const int sizes[] = {3, 3, 3, 3, 12, 30};
static const size_t coupled_row[] = {0, 0, 1, 2, 4, 4, 5};
static const int coupled_col[] = {0, 1, 0, 2, 4};
static const int touched[] = {0, 8,       /* a joint of 5 rows */
                              9, 1,       /* one of 1 row */
                              8,          /* a stop */
                              4, 5, 6, 2, /* a contact on three nodes and a body */
                              6, 7,       /* one of two nodes with the ground */
                              4, 9};      /* a joint of 2 rows with dry friction */

static void create_case(int d, bool with_friction_joint, bool balls, uint64_t *seed, Case *made) {
  const int body[] = {0, 1, 1, 2, 2, -1, 3, 0, -1, 3};
  const int rows[] = {5, 1, 1, d, d, 2}, touches[] = {2, 2, 1, 4, 2, 2};
  const scree_ProblemLayout layout = {.d = d,
                                      .contacts = 5,
                                      .balls = balls,
                                      .bodies = 4,
                                      .nb = d == 3 ? 6 : 3,
                                      .body = body,
                                      .vertices = 6,
                                      .vertex_size = sizes,
                                      .coupled_row = coupled_row,
                                      .coupled_col = coupled_col,
                                      .constraints = with_friction_joint ? 6 : 5,
                                      .rows = rows,
                                      .touches = touches,
                                      .touched = touched,
                                      .with_compliance = true};
  scree_Problem *p = &made->problem;
  assert_int_equal(scree_problem_create(p, &layout, NULL), SCREE_OK);
  const size_t dd = (size_t)(d * d), nb = (size_t)p->bodies.nb;
  for (size_t k = 0; !balls && k < 5 * 2 * (size_t)d * nb; ++k)
    p->bodies.B[k] = body[k / ((size_t)d * nb)] < 0 ? 0.0 : number(seed);
  for (int c = 0; balls && c < 5; ++c) {
    double *n = p->bodies.normal + 3 * c, size = 0.0;
    for (int i = 0; i < d; ++i) n[i] = number(seed);
    for (int i = 0; i < d; ++i) size = hypot(size, n[i]);
    for (int i = 0; i < d; ++i) n[i] /= size;
    for (int side = 0; side < 2; ++side)
      for (int k = 0; k < 2; ++k)
        p->bodies.arm[4 * c + 2 * side + k] =
            body[2 * c + side] < 0 ? 0.0 : (side && !k ? -1.0 : 1.0) * (0.5 + unit(seed));
  }
  for (size_t k = 0; k < 5; ++k)
    for (size_t i = 0; i < (size_t)d; ++i) p->bodies.C[k * dd + i * (size_t)(d + 1)] = 0.1;
  const scree_GeneralRows *g = &p->general;
  const size_t numbers = g->block[g->entry[g->count]];
  for (size_t k = 0; k < numbers; ++k) g->B[k] = number(seed);
  size_t square = 0;
  for (int k = 0; k < g->count; ++k) {
    const size_t n = g->row[k + 1] - g->row[k];
    for (size_t i = 0; i < n; ++i) g->C[square + i * (n + 1)] = 0.05;
    square += n * n;
  }
  for (size_t k = 0; k < 4 * 9 + 12 * 30; ++k)
    p->vertices.x[k] = (k < 4 * 9 ? 0.15 : 0.05) * number(seed);
  const uint8_t kinds[] = {SCREE_SET_SPACE, SCREE_SET_SPACE, SCREE_SET_HALF_LINE,
                           SCREE_SET_CONE,  SCREE_SET_CONE,  SCREE_SET_BALL};
  for (int c = 0; c < scree_problem_constraints(p); ++c) {
    p->mu[c] = 0.3 + 0.4 * unit(seed);
    p->set[c] = (uint8_t)(c < 5 ? SCREE_SET_CONE : kinds[c - 5]);
    p->set_a[c] = c >= 5 && kinds[c - 5] == SCREE_SET_BALL ? 0.2 : 0.0;
  }
  made->rows = scree_problem_rows(p);
  for (size_t i = 0; i < made->rows; ++i) p->q[i] = number(seed);
  for (int c = 0; c < 5; ++c) p->q[c * d] = -0.5 - unit(seed);
  for (int k = 2; k < g->count; ++k) p->q[g->row[k]] -= 1.0;
  assert_int_equal(scree_problem_check(p, NULL), SCREE_OK);
}

/* Where vertex v starts among the unknowns. */
static size_t start_of(const scree_Problem *p, int v) {
  const size_t nb = (size_t)p->bodies.nb;
  if (v < p->bodies.nbodies) return (size_t)v * nb;
  size_t at = (size_t)p->bodies.nbodies * nb;
  for (int k = 0; k < v - p->bodies.nbodies; ++k) at += (size_t)p->vertices.size[k];
  return at;
}

static size_t size_of(const scree_Problem *p, int v) {
  return start_of(p, v + 1) - start_of(p, v);
}

/* W = B A^-1 B^T + C by dense linear algebra. */
static void form_dense(Case *made) {
  const scree_Problem *p = &made->problem;
  const int d = p->d, vertices = p->bodies.nbodies + p->vertices.count;
  const size_t n = made->unknowns = start_of(p, vertices), m = made->rows;
  static double A[MOST * MOST], B[MOST * MOST], X[MOST * MOST];
  memset(A, 0, sizeof A);
  memset(B, 0, sizeof B);
  for (size_t i = 0; i < n; ++i) A[i * n + i] = 1.0;
  const double *x = p->vertices.x;
  for (int k = 0; k < p->vertices.count; ++k)
    for (size_t j = p->vertices.row[k]; j < p->vertices.row[k + 1]; ++j) {
      const int a = p->bodies.nbodies + k, b = p->bodies.nbodies + p->vertices.col[j];
      for (size_t r = 0; r < size_of(p, a); ++r)
        for (size_t c = 0; c < size_of(p, b); ++c, ++x) {
          A[(start_of(p, a) + r) * n + start_of(p, b) + c] = *x;
          A[(start_of(p, b) + c) * n + start_of(p, a) + r] = *x;
        }
    }
  const size_t nb = (size_t)p->bodies.nb;
  for (int c = 0; c < p->nc; ++c) {
    double block[2 * 3 * 6];
    scree_problem_blocks(p, c, block);
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < d && p->bodies.body[2 * c + side] >= 0; ++i)
        for (size_t j = 0; j < nb; ++j)
          B[(size_t)(c * d + i) * n + (size_t)p->bodies.body[2 * c + side] * nb + j] =
              block[(size_t)(side * d + i) * nb + j];
  }
  const scree_GeneralRows *g = &p->general;
  for (int k = 0; k < g->count; ++k)
    for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e)
      for (size_t i = g->row[k]; i < g->row[k + 1]; ++i)
        for (size_t j = 0; j < size_of(p, g->vertex[e]); ++j)
          B[i * n + start_of(p, g->vertex[e]) + j] =
              g->B[g->block[e] + (i - g->row[k]) * size_of(p, g->vertex[e]) + j];
  for (size_t i = 0; i < m; ++i) /* X = B^T, one right side in each column of LAPACK's order */
    for (size_t j = 0; j < n; ++j) X[i * n + j] = B[i * n + j];
  assert_int_equal(LAPACKE_dposv(LAPACK_COL_MAJOR, 'U', (int)n, (int)m, A, (int)n, X, (int)n), 0);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < m; ++j) {
      double sum = 0.0;
      for (size_t k = 0; k < n; ++k) sum += B[i * n + k] * X[j * n + k];
      made->W[i * m + j] = sum;
    }
  for (int c = 0; c < p->nc; ++c)
    for (int i = 0; i < d * d; ++i)
      made->W[(size_t)(c * d + i / d) * m + (size_t)(c * d + i % d)] += p->bodies.C[c * d * d + i];
  const double *C = g->C;
  for (int k = 0; k < g->count; ++k)
    for (size_t i = g->row[k]; i < g->row[k + 1]; ++i)
      for (size_t j = g->row[k]; j < g->row[k + 1]; ++j) made->W[i * m + j] += *C++;
}

static size_t first_row(const scree_Problem *p, int c) {
  return c < p->nc ? (size_t)(c * p->d) : p->general.row[c - p->nc];
}

/* u = W r + q with the dense W; then the natural map with rho = 1/largest diagonal entry, written
 * out for the five sets of the problem; `next` receives r minus the map. Returns its norm. */
static double natural(const Case *made, const double *r, double *u, double *next) {
  const scree_Problem *p = &made->problem;
  const size_t m = made->rows;
  double largest = 0.0, sum = 0.0;
  for (size_t i = 0; i < m; ++i) {
    u[i] = p->q[i];
    for (size_t j = 0; j < m; ++j) u[i] += made->W[i * m + j] * r[j];
    largest = fmax(largest, made->W[i * m + i]);
  }
  for (int c = 0; c < scree_problem_constraints(p); ++c) {
    const size_t at = first_row(p, c), n = first_row(p, c + 1) - at;
    double z[6], size = 0.0, speed = 0.0;
    for (size_t i = 1; i < n; ++i) speed = hypot(speed, u[at + i]);
    for (size_t i = 0; i < n; ++i) z[i] = r[at + i] - u[at + i] / largest;
    for (size_t i = p->set[c] == SCREE_SET_BALL ? 0 : 1; i < n; ++i) size = hypot(size, z[i]);
    switch ((scree_SetKind)p->set[c]) {
    case SCREE_SET_SPACE: break;
    case SCREE_SET_HALF_LINE: z[0] = fmax(z[0], 0.0); break;
    case SCREE_SET_BALL:
      for (size_t i = 0; i < n; ++i) z[i] *= size > p->set_a[c] ? p->set_a[c] / size : 1.0;
      break;
    default: {
      const double mu = p->mu[c];
      if (p->flow == SCREE_COULOMB) z[0] -= mu * speed / largest;
      if (size <= mu * z[0]) break;
      const double a = mu * size <= -z[0] ? 0.0 : (z[0] + mu * size) / (1.0 + mu * mu);
      z[0] = a;
      for (size_t i = 1; i < n; ++i) z[i] = size > 0.0 ? mu * a * z[i] / size : 0.0;
    }
    }
    for (size_t i = 0; i < n; ++i) {
      sum += (r[at + i] - z[i]) * (r[at + i] - z[i]);
      next[at + i] = z[i];
    }
  }
  return sqrt(sum);
}

static void test_operator(void **state) {
  (void)state;
  uint64_t seed = 5;
  static Case made;
  for (int variant = 0; variant < 4; ++variant) {
    create_case(2 + variant % 2, true, variant / 2, &seed, &made);
    form_dense(&made);
    const scree_Problem *p = &made.problem;
    scree_Operator W;
    assert_int_equal(scree_operator_create(p, 1, NULL, &W), SCREE_OK);
    assert_int_equal(W.rows, made.rows);
    double r[MOST], u[MOST], expected[MOST], unused[MOST], *y = SCREE_ALLOC(double, W.state_size);
    double trace = 0.0;
    for (size_t i = 0; i < made.rows; ++i) r[i] = number(&seed);
    natural(&made, r, expected, unused);
    scree_operator_apply(&W, r, p->q, y, u);
    for (size_t i = 0; i < made.rows; ++i) {
      assert_true(fabs(u[i] - expected[i]) < 1e-11);
      trace += made.W[i * made.rows + i];
    }
    assert_true(fabs(W.mean_diagonal * (double)made.rows - trace) < 1e-11 * trace);
    for (int c = 0; c < W.constraints; ++c) { /* diagonal blocks, and the velocity of a sweep */
      const size_t at = scree_row_of(&W, c), n = (size_t)scree_rows_of(&W, c);
      double room[9], local[6];
      const double *D = scree_constraint_diagonal(&W, c, room);
      for (size_t i = 0; i < n * n; ++i)
        assert_true(fabs(D[i] - made.W[(at + i / n) * made.rows + at + i % n]) < 1e-12);
      if (c < p->nc) continue;
      const scree_VertexState vertices = scree_vertex_state(&W, y);
      scree_general_velocity(&W, c - p->nc, r, &vertices, local);
      for (size_t i = 0; i < n; ++i) assert_true(fabs(local[i] - expected[at + i]) < 1e-11);
    }
    scree_free(y);
    scree_operator_destroy(&W);
    scree_problem_destroy(&made.problem);
  }
}

/* The solution of the associated law by projected gradients on the dense W. */
static void solve_slowly(const Case *made, double *r) {
  double u[MOST], next[MOST];
  memset(r, 0, made->rows * sizeof *r);
  for (int k = 0; k < 200000 && natural(made, r, u, next) > 1e-14; ++k)
    memcpy(r, next, made->rows * sizeof *r);
}

static void test_solvers(void **state) {
  (void)state;
  uint64_t seed = 11;
  static Case made;
  for (int variant = 0; variant < 8; ++variant) {
    const bool ball = variant & 4;
    create_case(2 + variant % 2, ball, variant & 2, &seed, &made);
    form_dense(&made);
    int solved = 0;
    for (int law = 0; law < 2; ++law) {
      scree_Problem *p = &made.problem;
      p->flow = law ? SCREE_ASSOCIATED : SCREE_COULOMB;
      double slow[MOST], r[MOST], u[MOST], unused[MOST], size = 0.0;
      if (law) solve_slowly(&made, slow);
      const scree_SolverClass *class_;
      for (int k = 0; (class_ = scree_solver_class(k)); ++k) {
        const char *name = scree_solver_class_name(class_);
        if (scree_solver_class_refuses(class_, p)) {
          const bool claims = strcmp(name, "newton") == 0 || strcmp(name, "ipm") == 0 ||
                              strcmp(name, "auto") == 0 || (strcmp(name, "lemke") == 0 && !law);
          assert_true(ball || !claims);
          continue;
        }
        scree_SolveSettings settings = scree_solve_settings();
        settings.solver = name;
        settings.tolerance = 1e-9;
        settings.threads = 1;
        scree_SolveInfo info;
        const scree_Status status = scree_solve(p, &settings, r, u, &info, NULL);
        if (status != SCREE_OK)
          print_message("%s, d = %d, law %d: error %.1e\n", name, p->d, law, info.measures.error);
        assert_int_equal(status, SCREE_OK);
        size = 0.0;
        for (size_t i = 0; i < made.rows; ++i) size = hypot(size, r[i]);
        assert_true(natural(&made, r, u, unused) < 1e-8 * (1.0 + size));
        for (size_t i = 0; law && i < made.rows; ++i)
          assert_true(fabs(r[i] - slow[i]) < 1e-6 * (1.0 + size));
        ++solved;
      }
    }
    assert_true(solved >= 10);
    scree_problem_destroy(&made.problem);
  }
}

/* A second problem with the same solver, the graph changed in between. */
static void test_life(void **state) {
  (void)state;
  uint64_t seed = 23;
  static Case made;
  const char *const names[] = {"nlgs", "spg", "auto"};
  for (int k = 0; k < 3; ++k) {
    scree_SolveSettings settings = scree_solve_settings();
    settings.solver = names[k];
    settings.threads = 1;
    scree_Solver *solver;
    assert_int_equal(scree_solver_create(&settings, NULL, &solver), SCREE_OK);
    for (int variant = 0; variant < 6; ++variant) {
      create_case(2 + variant % 2, false, false, &seed, &made);
      if (k == 1) made.problem.flow = SCREE_ASSOCIATED;
      double r[MOST], u[MOST], alone[MOST];
      scree_SolveInfo info;
      assert_null(scree_solver_class_refuses(scree_solver_class_find(names[k]), &made.problem));
      assert_int_equal(scree_solver_solve(solver, &made.problem, r, u, &info), SCREE_OK);
      assert_int_equal(scree_solve(&made.problem, &settings, alone, u, &info, NULL), SCREE_OK);
      for (size_t i = 0; i < made.rows; ++i) assert_true(fabs(r[i] - alone[i]) < 1e-6);
      scree_problem_destroy(&made.problem);
    }
    scree_solver_destroy(solver);
  }
}

static char message[1000];

static void keep_message(void *user, scree_LogLevel level, const char *text) {
  (void)user;
  if (level == SCREE_LOG_ERROR) snprintf(message, sizeof message, "%s", text);
}

static void expect_refusal(const scree_Problem *p, const char *part) {
  const scree_Log log = {keep_message, NULL};
  message[0] = '\0';
  assert_int_equal(scree_problem_check(p, &log), SCREE_BAD_INPUT);
  if (!strstr(message, part)) fail_msg("\"%s\" does not contain \"%s\"", message, part);
}

static void test_bad(void **state) {
  (void)state;
  uint64_t seed = 3;
  static Case made;
  create_case(3, true, false, &seed, &made);
  scree_Problem *p = &made.problem;
  p->general.vertex[1] = 10;
  expect_refusal(p, "constraint 5 touches vertex 10, expected 0 to 9");
  p->general.vertex[1] = 0;
  expect_refusal(p, "constraint 5 touches vertex 0 twice");
  p->general.vertex[1] = 8;
  p->set[6] = SCREE_SET_CONE;
  expect_refusal(p, "constraint 6 is a cone in 1 rows");
  p->set[6] = SCREE_SET_SPACE;
  p->general.B[4] = NAN;
  expect_refusal(p, "B of constraint 5 is nan");
  p->general.B[4] = 0.5;
  p->vertices.col[1] = 2;
  expect_refusal(p, "vertex 6 is coupled with 6");
  p->vertices.col[1] = 1;
  p->q[made.rows - 1] = INFINITY;
  expect_refusal(p, "of q is inf");
  p->q[made.rows - 1] = 0.0;
  assert_int_equal(scree_problem_check(p, NULL), SCREE_OK);
  for (int k = 0; k < 9; ++k) p->vertices.x[k] = k % 4 ? 0.0 : 3.0; /* not positive definite */
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  double r[MOST], u[MOST];
  const scree_Log log = {keep_message, NULL};
  assert_int_equal(scree_solve(p, &settings, r, u, &info, &log), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "positive definite"));
  scree_problem_destroy(p);
}

/* Bodies too large for a node of the factorisation, without any general constraint. */
static void test_large_bodies(void **state) {
  (void)state;
  uint64_t seed = 7;
  const int nbs[] = {13, 14, 30};
  for (int k = 0; k < 3; ++k) {
    scree_Problem p;
    const int nb = nbs[k], d = 2 + k % 2;
    assert_int_equal(scree_problem_create_bodies(&p, d, 4, 3, nb, false, false, NULL), SCREE_OK);
    const int body[] = {0, 1, 1, 2, 0, -1, 2, 0};
    memcpy(p.bodies.body, body, sizeof body);
    for (int i = 0; i < 4 * 2 * d * nb; ++i)
      p.bodies.B[i] = body[i / (d * nb)] < 0 ? 0.0 : number(&seed);
    for (int i = 0; i < 4 * d; ++i) p.q[i] = i % d ? number(&seed) : -1.0;
    for (int c = 0; c < 4; ++c) p.mu[c] = 0.5;
    const scree_SolverClass *class_;
    for (int s = 0; (class_ = scree_solver_class(s)); ++s) {
      if (scree_solver_class_refuses(class_, &p)) continue;
      scree_SolveSettings settings = scree_solve_settings();
      settings.solver = scree_solver_class_name(class_);
      scree_SolveInfo info;
      double r[12], u[12];
      assert_int_equal(scree_solve(&p, &settings, r, u, &info, NULL), SCREE_OK);
    }
    scree_problem_destroy(&p);
  }
}

/* Joints of the size of the contacts in an assembled W, among contacts with and without friction:
 * every method that factorises takes them. */
static void test_assembled_joints(void **state) {
  (void)state;
  const char *const names[] = {"nlgs", "newton", "ipm", "lemke", "auto"};
  for (int trial = 0; trial < 8; ++trial) {
    const int d = 2 + trial % 2;
    scree_Problem p = small_random_problem(d, 9, 0.4, (unsigned)trial + 3);
    uint8_t sets[9] = {0};
    sets[trial % 9] = sets[(trial + 4) % 9] = SCREE_SET_SPACE;
    sets[(trial + 2) % 9] = SCREE_SET_HALF_LINE;
    p.set = sets;
    for (int k = 0; k < 5; ++k) {
      scree_SolveSettings settings = scree_solve_settings();
      settings.solver = names[k];
      settings.tolerance = 1e-9;
      settings.threads = 1;
      scree_SolveInfo info;
      double r[27], u[27];
      assert_null(scree_solver_class_refuses(scree_solver_class_find(names[k]), &p));
      if (scree_solve(&p, &settings, r, u, &info, NULL) != SCREE_OK)
        fail_msg("%s, trial %d: error %.1e", names[k], trial, info.measures.error);
      for (int i = 0; i < d; ++i) assert_true(fabs(u[(trial % 9) * d + i]) < 1e-7);
    }
    p.set = NULL;
    scree_problem_destroy(&p);
  }
}

/* One joint of five rows between two balls of a packing, and a stop: every method that factorises
 * still does. */
static void test_joint_in_a_packing(void **state) {
  (void)state;
  const struct {
    const char *solver;
    int contacts;
  } cases[] = {{"newton", 1000}, {"ipm", 1000}, {"auto", 1000}, {"lemke", 60}, {"auto", 60}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    scree_Problem packing, p;
    assert_int_equal(packing_create(3, cases[k].contacts, 0.4, &packing, NULL), SCREE_OK);
    const int rows[] = {5, 1}, touches[] = {2, 1}, touching[] = {3, 9, 5};
    const scree_ProblemLayout layout = {.d = 3,
                                        .contacts = packing.nc,
                                        .balls = true,
                                        .bodies = packing.bodies.nbodies,
                                        .nb = 6,
                                        .body = packing.bodies.body,
                                        .constraints = 2,
                                        .rows = rows,
                                        .touches = touches,
                                        .touched = touching};
    assert_int_equal(scree_problem_create(&p, &layout, NULL), SCREE_OK);
    const size_t nc = (size_t)packing.nc;
    memcpy(p.bodies.normal, packing.bodies.normal, 3 * nc * sizeof(double));
    memcpy(p.bodies.arm, packing.bodies.arm, 4 * nc * sizeof(double));
    memcpy(p.q, packing.q, 3 * nc * sizeof(double));
    memcpy(p.mu, packing.mu, nc * sizeof(double));
    uint64_t seed = 3;
    for (size_t i = 0; i < p.general.block[3]; ++i) p.general.B[i] = number(&seed);
    for (size_t i = p.general.row[0]; i < p.general.row[2]; ++i) p.q[i] = 0.3 * number(&seed);
    p.set[nc] = SCREE_SET_SPACE;
    p.set[nc + 1] = SCREE_SET_HALF_LINE;
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info;
    double *r = calloc(3 * nc + 6, sizeof *r), *u = calloc(3 * nc + 6, sizeof *u);
    settings.solver = cases[k].solver;
    settings.threads = 1;
    if (scree_solve(&p, &settings, r, u, &info, NULL) != SCREE_OK)
      fail_msg("%s: error %.1e after %d iterations, %d factorisations", cases[k].solver,
               info.measures.error, info.iterations, info.factorisations);
    if (strcmp(cases[k].solver, "auto") != 0) assert_true(info.factorisations > 0);
    for (size_t i = 3 * nc; i < 3 * nc + 5; ++i) assert_true(fabs(u[i]) < 1e-6);
    assert_true(r[3 * nc + 5] >= 0.0 && u[3 * nc + 5] > -1e-6);
    free(r);
    free(u);
    scree_problem_destroy(&p);
    scree_problem_destroy(&packing);
  }
}

/* The sets that a solver takes are those that it does not refuse. */
static void sets_are_a_mask(void **state) {
  (void)state;
  const unsigned cone = 1u << SCREE_SET_CONE, space = 1u << SCREE_SET_SPACE;
  const scree_SolverClass *class_;
  for (int k = 0; (class_ = scree_solver_class(k)); ++k) {
    const unsigned sets = scree_solver_class_sets(class_);
    assert_true(sets & cone);
    assert_true(sets < 1u << SCREE_SET_KINDS);
    const double W[4] = {1, 0, 0, 1}, q[2] = {-1, 0}, mu = 0;
    for (int kind = 0; kind < SCREE_SET_ROLLING; ++kind) {
      scree_Problem p;
      if (scree_solver_class_capabilities(class_) & SCREE_CAN_ASSEMBLED) {
        assert_int_equal(scree_problem_create_dense(&p, 2, 1, W, q, &mu, NULL), SCREE_OK);
      } else {
        assert_int_equal(scree_problem_create_bodies(&p, 2, 1, 1, 3, false, false, NULL), SCREE_OK);
        p.mu[0] = mu;
      }
      uint8_t set = (uint8_t)kind;
      p.set = &set;
      p.flow = scree_solver_class_capabilities(class_) & SCREE_CAN_COULOMB ? SCREE_COULOMB
                                                                           : SCREE_ASSOCIATED;
      const char *reason = scree_solver_class_refuses(class_, &p);
      assert_int_equal(reason == NULL, (sets & 1u << kind) != 0);
      scree_problem_destroy(&p);
    }
  }
  assert_true(scree_solver_class_sets(scree_solver_class_find("newton")) & space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sets_are_a_mask),
      cmocka_unit_test(test_operator),
      cmocka_unit_test(test_solvers),
      cmocka_unit_test(test_life),
      cmocka_unit_test(test_bad),
      cmocka_unit_test(test_large_bodies),
      cmocka_unit_test(test_assembled_joints),
      cmocka_unit_test(test_joint_in_a_packing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
