/* Problems made for the tests of FCLIB files. */
#ifndef TESTS_FCLIB_MADE_H
#define TESTS_FCLIB_MADE_H

#include "fclib_files.h"

/* A symmetric block-sparse W (n x n) with some blocks, and some entries, zero. */
static inline double *random_W(int d, int nc, uint64_t *seed) {
  const int n = d * nc;
  double *W = calloc((size_t)(n * n), sizeof *W);
  for (int a = 0; a < nc; ++a)
    for (int b = 0; b <= a; ++b) {
      if (a != b && random_int(seed, 3)) continue;
      for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) {
          if (random_int(seed, 5) == 0) continue;
          const double value = random_real(seed) + (a == b && i == j ? d * nc : 0);
          W[(a * d + i) * n + b * d + j] = value;
          W[(b * d + j) * n + a * d + i] = value;
        }
    }
  return W;
}

static inline void random_vector(double *x, int n, uint64_t *seed) {
  for (int k = 0; k < n; ++k) x[k] = random_real(seed);
}

/* A local file made through plain HDF5 calls. */
static inline void put_local(const char *path, int layout, int d, int nc, const double *W,
                             const double *q, const double *mu, bool twice) {
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(file >= 0);
  put_int(file, "/fclib_local/spacedim", d);
  put_sparse(file, "/fclib_local/W", layout, d * nc, d * nc, W, twice);
  put_reals(file, "/fclib_local/vectors/q", d * nc, q);
  put_reals(file, "/fclib_local/vectors/mu", nc, mu);
  H5Fclose(file);
}

static inline void assert_same_problem(const scree_Problem *a, const scree_Problem *b) {
  assert_true(a->d == b->d && a->nc == b->nc && a->kind == b->kind);
  const size_t n = (size_t)a->nc, d = (size_t)a->d;
  assert_memory_equal(a->q, b->q, n * d * sizeof(double));
  assert_memory_equal(a->mu, b->mu, n * sizeof(double));
  if (a->kind == SCREE_BODIES) {
    assert_true(a->bodies.nbodies == b->bodies.nbodies && a->bodies.nb == b->bodies.nb);
    assert_memory_equal(a->bodies.body, b->bodies.body, 2 * n * sizeof(int));
    assert_memory_equal(a->bodies.B, b->bodies.B,
                        2 * n * d * (size_t)a->bodies.nb * sizeof(double));
    return;
  }
  assert_memory_equal(a->blocks.row, b->blocks.row, (n + 1) * sizeof(size_t));
  assert_memory_equal(a->blocks.col, b->blocks.col, a->blocks.row[n] * sizeof(int));
  assert_memory_equal(a->blocks.x, b->blocks.x, a->blocks.row[n] * d * d * sizeof(double));
}

/* A chain of bodies, contact c between c and c + 1, the last one on an obstacle. */
static inline void make_chain(scree_Problem *problem, int d, int nb, int nc, bool compliant,
                              uint64_t *seed) {
  assert_int_equal(scree_problem_create_bodies(problem, d, nc, nc, nb, true, compliant, NULL),
                   SCREE_OK);
  for (int c = 0; c < nc; ++c) {
    problem->bodies.body[2 * c] = c;
    problem->bodies.body[2 * c + 1] = c + 1 < nc ? c + 1 : -1;
    for (int k = 0; k < d * nb * (c + 1 < nc ? 2 : 1); ++k)
      problem->bodies.B[c * 2 * d * nb + k] = random_real(seed);
    for (int i = 0; compliant && i < d; ++i) problem->bodies.C[c * d * d + i * d + i] = 0.5;
    problem->mu[c] = 0.3;
  }
  random_vector(problem->q, d * nc, seed);
}

#endif
