/* FCLIB files: every problem of the collection, all layouts and types, both forms against an
 * independent computation with LAPACK, exact round trips. */
#include "fclib_made.h"

#include <dirent.h>
#include <lapacke.h>
#include <sys/stat.h>

static const char *problems_folder(void) {
  const char *folder = getenv("SCREE_PROBLEMS");
  return folder ? folder : SCREE_PROBLEMS;
}

/* out = W r + q by the problem's own arrays, whatever its form. */
static void apply(const scree_Problem *problem, const double *r, double *out) {
  scree_Problem assembled = {0};
  if (problem->kind == SCREE_BODIES) {
    assert_int_equal(scree_problem_assemble(problem, &assembled, NULL), SCREE_OK);
    problem = &assembled;
  }
  const int d = problem->d;
  for (int c = 0; c < problem->nc; ++c) {
    const size_t first = problem->blocks.row[c], count = problem->blocks.row[c + 1] - first;
    for (int i = 0; i < d; ++i) {
      double sum = problem->q[c * d + i];
      for (size_t k = 0; k < count; ++k)
        for (int j = 0; j < d; ++j)
          sum += problem->blocks.x[(size_t)(d * d) * first + (size_t)(i * d) * count +
                                   (size_t)d * k + (size_t)j] *
                 r[problem->blocks.col[first + k] * d + j];
      out[c * d + i] = sum;
    }
  }
  scree_problem_destroy(&assembled);
}

/* y += A x (or A^T x) with the sparse matrix of the file read by plain calls. */
static void file_multiply(const char *path, const char *group, bool transpose, const double *x,
                          double *y) {
  char name[128];
  int *p = NULL, *i = NULL;
  double *a = NULL;
  snprintf(name, sizeof name, "%s/nz", group);
  const int layout = get_int(path, name);
  assert_true(layout == BY_COLUMNS || layout == BY_ROWS);
  snprintf(name, sizeof name, "%s/p", group);
  const size_t lines = get_ints(path, name, &p) - 1;
  snprintf(name, sizeof name, "%s/i", group);
  get_ints(path, name, &i);
  snprintf(name, sizeof name, "%s/x", group);
  get_reals(path, name, &a);
  for (size_t line = 0; line < lines; ++line)
    for (int k = p[line]; k < p[line + 1]; ++k) {
      const size_t other = (size_t)i[k];
      const bool line_is_row = (layout == BY_ROWS) != transpose;
      if (line_is_row)
        y[line] += a[k] * x[other];
      else
        y[other] += a[k] * x[line];
    }
  free(p);
  free(i);
  free(a);
}

/* z = M^-1 z for the file's M: by division when diagonal, else by LAPACK's dense LU. */
static void file_solve(const char *path, int nd, double *z) {
  double *unit = calloc((size_t)nd, sizeof *unit), *A = NULL;
  int *i = NULL;
  const size_t entries = get_ints(path, "/fclib_global/M/i", &i);
  if (entries == (size_t)nd) {
    for (int k = 0; k < nd; ++k) {
      assert_int_equal(i[k], k);
      unit[k] = 1.0;
    }
    double *diagonal = calloc((size_t)nd, sizeof *diagonal);
    file_multiply(path, "/fclib_global/M", false, unit, diagonal);
    for (int k = 0; k < nd; ++k) z[k] /= diagonal[k];
    free(diagonal);
  } else {
    assert_true(nd < 500);
    A = calloc((size_t)nd * (size_t)nd, sizeof *A);
    int *pivot = calloc((size_t)nd, sizeof *pivot);
    for (int k = 0; k < nd; ++k) {
      memset(unit, 0, (size_t)nd * sizeof *unit);
      unit[k] = 1.0;
      file_multiply(path, "/fclib_global/M", false, unit, A + (size_t)k * (size_t)nd);
    }
    assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, nd, 1, A, nd, pivot, z, nd), 0);
    free(pivot);
  }
  free(A);
  free(unit);
  free(i);
}

/* u = W r + q by the definition, from the file. */
static void file_apply(const char *path, bool global, int n, const double *r, double *u) {
  double *vector = NULL;
  memset(u, 0, (size_t)n * sizeof *u);
  if (global) {
    double *v = NULL;
    const int nd = (int)get_reals(path, "/fclib_global/vectors/f", &v);
    file_multiply(path, "/fclib_global/H", false, r, v);
    file_solve(path, nd, v);
    file_multiply(path, "/fclib_global/H", true, v, u);
    free(v);
    assert_int_equal(get_reals(path, "/fclib_global/vectors/w", &vector), n);
  } else {
    file_multiply(path, "/fclib_local/W", false, r, u);
    assert_int_equal(get_reals(path, "/fclib_local/vectors/q", &vector), n);
  }
  for (int k = 0; k < n; ++k) u[k] += vector[k];
  free(vector);
}

static double largest(const double *x, int n) {
  double most = 0.0;
  for (int k = 0; k < n; ++k) most = fmax(most, fabs(x[k]));
  return most;
}

/* The problem read from `path` against the definition, on random impulses. */
static void check_against_file(const char *path, double tolerance) {
  scree_Problem problem;
  scree_FclibInfo info;
  assert_int_equal(read_again(path, &problem, &info), SCREE_OK);
  const int n = problem.nc * problem.d;
  double *r = calloc((size_t)n + 1, sizeof *r), *u = calloc((size_t)n + 1, sizeof *u);
  double *expected = calloc((size_t)n + 1, sizeof *expected);
  uint64_t seed = 7;
  for (int probe = 0; probe < 3; ++probe) {
    for (int k = 0; k < n; ++k) r[k] = probe ? random_real(&seed) : 0.0; /* q first, alone */
    apply(&problem, r, u);
    file_apply(path, info.global, n, r, expected);
    const double scale = largest(expected, n);
    for (int k = 0; k < n; ++k)
      if (!(fabs(u[k] - expected[k]) <= tolerance * scale))
        fail_msg("%s: component %d is %.17g, expected %.17g", path, k, u[k], expected[k]);
  }
  free(r);
  free(u);
  free(expected);
  scree_problem_destroy(&problem);
}

static void test_collection(void **state) {
  (void)state;
  DIR *folder = opendir(problems_folder());
  int count = 0;
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    const char *end = strrchr(entry->d_name, '.');
    if (!end || strcmp(end, ".hdf5") != 0) continue;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", problems_folder(), entry->d_name);
    check_against_file(path, 1e-12);
    ++count;
  }
  if (folder) closedir(folder);
  if (count == 0) {
    print_message("no problems in %s: skipped\n", problems_folder());
    skip();
  }
}

/* Rigid bodies in the collection keep the body form. */
static void test_forms(void **state) {
  (void)state;
  static const struct {
    const char *name;
    scree_OperatorKind kind;
    int nb;
  } expected[] = {{"spheres-500.hdf5", SCREE_BODIES, 6},
                  {"disks-400.hdf5", SCREE_BODIES, 3},
                  {"GFC3D_Example00_badly_scaled.hdf5", SCREE_BODIES, 3},
                  {"GFC3D_TwoRods1.hdf5", SCREE_ASSEMBLED, 0},
                  {"KaplasTower-i1061-4.hdf5", SCREE_ASSEMBLED, 0},
                  /* the stand-ins */
                  {"spheres-bodies.hdf5", SCREE_BODIES, 6},
                  {"stack-bodies.hdf5", SCREE_BODIES, 6},
                  {"disks-bodies.hdf5", SCREE_BODIES, 3},
                  {"wall.hdf5", SCREE_ASSEMBLED, 0}};
  int found = 0;
  for (size_t k = 0; k < sizeof expected / sizeof *expected; ++k) {
    char path[1024];
    struct stat status;
    scree_Problem problem;
    snprintf(path, sizeof path, "%s/%s", problems_folder(), expected[k].name);
    if (stat(path, &status) != 0) continue;
    ++found;
    assert_int_equal(read_again(path, &problem, NULL), SCREE_OK);
    assert_int_equal(problem.kind, expected[k].kind);
    assert_int_equal(problem.bodies.nb, expected[k].nb);
    scree_problem_destroy(&problem);
  }
  if (!found) skip();
  assert_true(found >= 4);
}

/* ---- problems made here ------------------------------------------------------------------------
 */

static void test_layouts(void **state) {
  (void)state;
  static const int layouts[] = {BY_COLUMNS, BY_ROWS, TRIPLETS};
  uint64_t seed = 1;
  const char *path = scratch_path("layout.hdf5");
  for (int d = 2; d <= 3; ++d) {
    const int nc = 7;
    double q[21], mu[7], *W = random_W(d, nc, &seed);
    random_vector(q, d * nc, &seed);
    for (int c = 0; c < nc; ++c) mu[c] = 0.1 * c;
    W[3] += 0.25; /* not symmetric: rows and columns cannot be taken for each other */
    scree_Problem expected;
    assert_int_equal(scree_problem_create_dense(&expected, d, nc, W, q, mu, NULL), SCREE_OK);
    for (int k = 0; k < 6; ++k) {
      scree_Problem problem;
      scree_FclibInfo info;
      put_local(path, layouts[k % 3], d, nc, W, q, mu, k >= 3);
      assert_int_equal(read_again(path, &problem, &info), SCREE_OK);
      assert_same_problem(&problem, &expected);
      assert_true(info.asymmetry > 0.0 && !info.global && !info.has_solution);
      scree_problem_destroy(&problem);
    }
    scree_problem_destroy(&expected);
    free(W);
  }
  unlink(path);
}

/* Numbers of other types, scalars without a shape, arrays longer than what is used. */
static void test_types(void **state) {
  (void)state;
  const char *path = scratch_path("types.hdf5");
  const double W[9] = {2, 0, 0.5, 0, 2, 0, 0.5, 0, 2}, q[3] = {-1, 0.5, 0}, mu[1] = {0.5};
  put_local(path, BY_ROWS, 3, 1, W, q, mu, false);
  scree_Problem expected, problem;
  assert_int_equal(read_again(path, &expected, NULL), SCREE_OK);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  const int three = 3, p[] = {0, 2, 3, 5}, i[] = {0, 2, 1, 0, 2, 0, 0};
  const double x[] = {2, 0.5, 2, 0.5, 2, 0, 0}, half = 0.5;
  put(file, "/fclib_local/spacedim", H5T_STD_I64BE, H5T_NATIVE_INT, -1, &three);
  put(file, "/fclib_local/W/m", H5T_STD_U8LE, H5T_NATIVE_INT, -1, &three);
  put(file, "/fclib_local/W/n", H5T_IEEE_F64LE, H5T_NATIVE_INT, 1, &three);
  put_int(file, "/fclib_local/W/nzmax", 7);
  put(file, "/fclib_local/W/p", H5T_STD_I16BE, H5T_NATIVE_INT, 4, p);
  put(file, "/fclib_local/W/i", H5T_STD_U32LE, H5T_NATIVE_INT, 7, i);
  put(file, "/fclib_local/W/x", H5T_IEEE_F32BE, H5T_NATIVE_DOUBLE, 7, x);
  put(file, "/fclib_local/vectors/mu", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, -1, &half);
  H5Fclose(file);
  assert_int_equal(read_again(path, &problem, NULL), SCREE_OK);
  assert_same_problem(&problem, &expected);
  scree_problem_destroy(&problem);
  scree_problem_destroy(&expected);
  unlink(path);
}

static void test_local_round_trip(void **state) {
  (void)state;
  uint64_t seed = 2;
  const char *path = scratch_path("local.hdf5");
  for (int d = 2; d <= 3; ++d)
    for (int nc = 0; nc <= 9; nc += 3) {
      const int n = d * nc;
      double q[27], mu[9], r[27], u[27], r2[27], u2[27], *W = random_W(d, nc, &seed);
      random_vector(q, n, &seed);
      random_vector(r, n, &seed);
      random_vector(u, n, &seed);
      for (int c = 0; c < nc; ++c) mu[c] = fabs(random_real(&seed));
      scree_Problem problem, again;
      scree_FclibInfo info;
      assert_int_equal(scree_problem_create_dense(&problem, d, nc, W, q, mu, NULL), SCREE_OK);
      assert_int_equal(scree_fclib_write(path, &problem, "a title", r, u, &keep_log), SCREE_OK);
      assert_int_equal(read_again(path, &again, &info), SCREE_OK);
      assert_same_problem(&again, &problem);
      assert_string_equal(info.title, "a title");
      assert_true(info.has_solution && info.guesses == 0 && info.asymmetry == 0.0);
      assert_int_equal(scree_fclib_read_solution(path, &again, r2, u2, &keep_log), SCREE_OK);
      assert_memory_equal(r, r2, (size_t)n * sizeof *r);
      assert_memory_equal(u, u2, (size_t)n * sizeof *u);
      scree_problem_destroy(&problem);
      scree_problem_destroy(&again);
      free(W);
    }
  unlink(path);
}

static void test_body_round_trip(void **state) {
  (void)state;
  static const int shapes[][2] = {{2, 3}, {2, 2}, {3, 6}, {3, 3}, {2, 12}, {3, 12}};
  uint64_t seed = 3;
  const char *path = scratch_path("bodies.hdf5");
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k) {
    const int d = shapes[k][0], nb = shapes[k][1], nc = 6, n = d * nc;
    scree_Problem problem, again;
    scree_FclibInfo info;
    double r[18], u[18], r2[18], u2[18];
    make_chain(&problem, d, nb, nc, false, &seed);
    random_vector(r, n, &seed);
    apply(&problem, r, u);
    assert_int_equal(scree_fclib_write(path, &problem, "chain", r, u, &keep_log), SCREE_OK);
    assert_int_equal(read_again(path, &again, &info), SCREE_OK);
    assert_same_problem(&again, &problem);
    assert_true(info.global && info.dofs == nc * nb && info.has_solution);
    assert_int_equal(scree_fclib_read_solution(path, &again, r2, u2, &keep_log), SCREE_OK);
    assert_memory_equal(r, r2, (size_t)n * sizeof *r);
    check_against_file(path, 1e-13);
    /* FCLIB's own test of a global solution: M v = H r + f, with M = I and f = 0 */
    double *v = NULL, Hr[72] = {0};
    assert_int_equal(get_reals(path, "/solution/v", &v), nc * nb);
    file_multiply(path, "/fclib_global/H", false, r, Hr);
    for (int i = 0; i < nc * nb; ++i) assert_true(fabs(v[i] - Hr[i]) < 1e-14);
    free(v);
    scree_problem_destroy(&problem);
    scree_problem_destroy(&again);
  }
  unlink(path);
}

/* Compliance has no place in the global form: W + C goes out assembled. Half-lines become mu = 0,
 * other sets are refused. */
static void test_written_sets(void **state) {
  (void)state;
  uint64_t seed = 4;
  const char *path = scratch_path("sets.hdf5");
  scree_Problem problem, again, expected;
  make_chain(&problem, 3, 6, 4, true, &seed);
  problem.set[1] = SCREE_SET_HALF_LINE;
  assert_int_equal(scree_problem_assemble(&problem, &expected, NULL), SCREE_OK);
  assert_int_equal(scree_fclib_write(path, &problem, NULL, NULL, NULL, &keep_log), SCREE_OK);
  assert_int_equal(read_again(path, &again, NULL), SCREE_OK);
  expected.mu[1] = 0.0;
  assert_same_problem(&again, &expected);
  scree_problem_destroy(&again);
  scree_problem_destroy(&expected);
  problem.set[2] = SCREE_SET_SHIFTED;
  assert_int_equal(scree_fclib_write(path, &problem, NULL, NULL, NULL, &keep_log), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "contact 2"));
  scree_problem_destroy(&problem);
  unlink(path);
}

/* ---- global files made here --------------------------------------------------------------------
 */

typedef struct GlobalFile {
  int d, nc, nd, layout;
  double *M, *H, *f, *w, *mu; /* M (nd x nd), H (nd x nc*d) dense, row by row */
} GlobalFile;

static void global_init(GlobalFile *g, int d, int nc, int nd, uint64_t *seed) {
  *g = (GlobalFile){.d = d, .nc = nc, .nd = nd, .layout = BY_COLUMNS};
  g->M = calloc((size_t)(nd * nd), sizeof *g->M);
  g->H = calloc((size_t)(nd * nc * d), sizeof *g->H);
  g->f = calloc((size_t)nd, sizeof *g->f);
  g->w = calloc((size_t)(nc * d), sizeof *g->w);
  g->mu = calloc((size_t)nc, sizeof *g->mu);
  random_vector(g->f, nd, seed);
  random_vector(g->w, nc * d, seed);
}

static void global_fini(GlobalFile *g) {
  free(g->M);
  free(g->H);
  free(g->f);
  free(g->w);
  free(g->mu);
}

/* Couple the degrees of freedom `dof` in M, positive definite. */
static void global_body(GlobalFile *g, int n, const int *dof, uint64_t *seed) {
  for (int a = 0; a < n; ++a)
    for (int b = 0; b <= a; ++b) {
      const double value = a == b ? n + 1.0 : random_real(seed);
      g->M[dof[a] * g->nd + dof[b]] = g->M[dof[b] * g->nd + dof[a]] = value;
    }
}

static void global_touch(GlobalFile *g, int c, int n, const int *dof, uint64_t *seed) {
  for (int i = 0; i < g->d; ++i)
    for (int a = 0; a < n; ++a) g->H[dof[a] * g->nc * g->d + c * g->d + i] = random_real(seed);
}

static void global_put(const GlobalFile *g, const char *path) {
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(file >= 0);
  put_int(file, "/fclib_global/spacedim", g->d);
  put_sparse(file, "/fclib_global/M", g->layout, g->nd, g->nd, g->M, false);
  put_sparse(file, "/fclib_global/H", g->layout, g->nd, g->nc * g->d, g->H, false);
  put_reals(file, "/fclib_global/vectors/f", g->nd, g->f);
  put_reals(file, "/fclib_global/vectors/w", g->nc * g->d, g->w);
  put_reals(file, "/fclib_global/vectors/mu", g->nc, g->mu);
  H5Fclose(file);
}

/* u = H^T M^-1 (H r + f) + w with LAPACK, against the problem read. */
static void global_check(const GlobalFile *g, const char *path, scree_OperatorKind kind, int nb) {
  scree_Problem problem;
  scree_FclibInfo info;
  assert_int_equal(read_again(path, &problem, &info), SCREE_OK);
  assert_int_equal(problem.kind, kind);
  if (kind == SCREE_BODIES) assert_int_equal(problem.bodies.nb, nb);
  const int n = g->nc * g->d;
  uint64_t seed = 11;
  double *A = malloc((size_t)(g->nd * g->nd) * sizeof *A);
  double *v = malloc((size_t)g->nd * sizeof *v), *r = malloc((size_t)n * sizeof *r);
  double *u = malloc((size_t)n * sizeof *u), *expected = malloc((size_t)n * sizeof *expected);
  int *pivot = malloc((size_t)g->nd * sizeof *pivot);
  random_vector(r, n, &seed);
  memcpy(A, g->M, (size_t)(g->nd * g->nd) * sizeof *A);
  for (int i = 0; i < g->nd; ++i) {
    v[i] = g->f[i];
    for (int k = 0; k < n; ++k) v[i] += g->H[i * n + k] * r[k];
  }
  assert_int_equal(LAPACKE_dgesv(LAPACK_ROW_MAJOR, g->nd, 1, A, g->nd, pivot, v, 1), 0);
  for (int k = 0; k < n; ++k) {
    expected[k] = g->w[k];
    for (int i = 0; i < g->nd; ++i) expected[k] += g->H[i * n + k] * v[i];
  }
  apply(&problem, r, u);
  for (int k = 0; k < n; ++k) assert_true(fabs(u[k] - expected[k]) <= 1e-12 * largest(expected, n));
  /* the file written again with this solution holds the same v */
  const char *solved = scratch_path("solved.hdf5");
  double *stored = NULL;
  assert_int_equal(scree_fclib_write_solution(path, solved, &problem, r, u, &keep_log), SCREE_OK);
  assert_int_equal(get_reals(solved, "/solution/v", &stored), g->nd);
  for (int i = 0; i < g->nd; ++i) assert_true(fabs(stored[i] - v[i]) <= 1e-12 * largest(v, g->nd));
  unlink(solved);
  free(stored);
  free(A);
  free(v);
  free(r);
  free(u);
  free(expected);
  free(pivot);
  scree_problem_destroy(&problem);
}

static void test_global_forms(void **state) {
  (void)state;
  const char *path = scratch_path("global.hdf5");
  uint64_t seed = 5;
  for (int layout = BY_ROWS; layout <= TRIPLETS; ++layout) {
    /* full 6 x 6 inertia, three bodies in a chain */
    GlobalFile g;
    int dof[24];
    for (int k = 0; k < 24; ++k) dof[k] = k;
    global_init(&g, 3, 3, 18, &seed);
    g.layout = layout;
    for (int b = 0; b < 3; ++b) global_body(&g, 6, dof + 6 * b, &seed);
    global_touch(&g, 0, 12, dof, &seed);
    global_touch(&g, 1, 12, dof + 6, &seed);
    global_touch(&g, 2, 6, dof + 12, &seed);
    global_put(&g, path);
    global_check(&g, path, SCREE_BODIES, 6);
    /* an unsymmetric inertia has no square root */
    g.M[1] += 0.5;
    global_put(&g, path);
    global_check(&g, path, SCREE_ASSEMBLED, 0);
    g.M[1] -= 0.5;
    /* a contact on all three */
    global_touch(&g, 0, 18, dof, &seed);
    global_put(&g, path);
    global_check(&g, path, SCREE_ASSEMBLED, 0);
    global_fini(&g);
  }
  /* bodies of 4 and 7 whose degrees of freedom are interleaved, and one that nothing touches */
  GlobalFile g;
  const int first[] = {0, 3, 6, 9}, second[] = {1, 2, 4, 5, 7, 8, 10}, alone[] = {11, 12};
  global_init(&g, 2, 2, 13, &seed);
  global_body(&g, 4, first, &seed);
  global_body(&g, 7, second, &seed);
  global_body(&g, 2, alone, &seed);
  global_touch(&g, 0, 4, first, &seed);
  global_touch(&g, 0, 7, second, &seed);
  global_touch(&g, 1, 7, second, &seed);
  global_put(&g, path);
  global_check(&g, path, SCREE_BODIES, 7);
  /* not positive definite: refused, with the body */
  g.M[1 * 13 + 1] = -1.0;
  global_put(&g, path);
  scree_Problem problem;
  assert_int_equal(read_again(path, &problem, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "/fclib_global/M of body 1 (rows 1 to 10)"));
  assert_non_null(strstr(message, "positive definite"));
  global_fini(&g);
  unlink(path);
}

/* One connected M of many degrees of freedom, as of a finite-element body: a chain of springs. The
 * sparse route must not need memory of the order of nd^2 (3.2 GB here). */
static void test_global_large(void **state) {
  (void)state;
  enum { ND = 20000, NC = 4, N = 2 * NC };
  const char *path = scratch_path("large.hdf5");
  static int i[3 * ND], p[3 * ND];
  static double x[3 * ND], f[ND], diagonal[ND], side[ND], v[ND];
  const double w[N] = {0}, mu[NC] = {0.1, 0.2, 0.3, 0.4};
  uint64_t seed = 12;
  int used = 0;
  for (int k = 0; k < ND; ++k) {
    f[k] = random_real(&seed);
    for (int j = k - 1; j <= k + 1; ++j) {
      if (j < 0 || j >= ND) continue;
      i[used] = k;
      p[used] = j;
      x[used++] = j == k ? 2.1 : -1.0;
    }
  }
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put_int(file, "/fclib_global/spacedim", 2);
  const char *const fields[] = {"m", "n", "nz", "nzmax"};
  const int sizes[2][4] = {{ND, ND, used, used}, {ND, N, N, N}};
  for (int k = 0; k < 8; ++k) {
    char name[64];
    snprintf(name, sizeof name, "/fclib_global/%c/%s", "MH"[k / 4], fields[k % 4]);
    put_int(file, name, sizes[k / 4][k % 4]);
  }
  put_ints(file, "/fclib_global/M/i", used, i);
  put_ints(file, "/fclib_global/M/p", used, p);
  put_reals(file, "/fclib_global/M/x", used, x);
  /* each column of H is one degree of freedom */
  int dof[N], column[N];
  double h[N], r[N], u[N];
  for (int k = 0; k < N; ++k) {
    dof[k] = 40 + 7 * k * k;
    column[k] = k;
    h[k] = 1.0 + random_real(&seed) / 2.0;
    r[k] = random_real(&seed);
  }
  put_ints(file, "/fclib_global/H/i", N, dof);
  put_ints(file, "/fclib_global/H/p", N, column);
  put_reals(file, "/fclib_global/H/x", N, h);
  put_reals(file, "/fclib_global/vectors/f", ND, f);
  put_reals(file, "/fclib_global/vectors/w", N, w);
  put_reals(file, "/fclib_global/vectors/mu", NC, mu);
  H5Fclose(file);
  scree_Problem problem;
  assert_int_equal(read_again(path, &problem, NULL), SCREE_OK);
  assert_int_equal(problem.kind, SCREE_ASSEMBLED);
  apply(&problem, r, u);
  for (int k = 0; k < ND; ++k) {
    v[k] = f[k];
    diagonal[k] = 2.1;
    side[k] = -1.0;
  }
  for (int k = 0; k < N; ++k) v[dof[k]] += h[k] * r[k];
  assert_int_equal(LAPACKE_dptsv(LAPACK_ROW_MAJOR, ND, 1, diagonal, side, v, 1), 0);
  for (int k = 0; k < N; ++k) assert_true(fabs(u[k] - h[k] * v[dof[k]]) <= 1e-13 * largest(v, ND));
  scree_problem_destroy(&problem);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_collection),       cmocka_unit_test(test_forms),
      cmocka_unit_test(test_layouts),          cmocka_unit_test(test_types),
      cmocka_unit_test(test_local_round_trip), cmocka_unit_test(test_body_round_trip),
      cmocka_unit_test(test_written_sets),     cmocka_unit_test(test_global_forms),
      cmocka_unit_test(test_global_large),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
