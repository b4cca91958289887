/* Global FCLIB problems (see fclib_global.h), reduced to contacts.
 *
 * When the degrees of freedom can be grouped into small bodies such that each contact touches at
 * most two of them (fclib_parts.c), the problem keeps its body form, which is cheaper to store and
 * to sweep: M_b = L L^T,   B_cb = H_cb^T L^-T,   W = B B^T,   q_c = w_c + sum_b B_cb (L^-1 f_b).
 * Otherwise (finite elements, an unsymmetric M, a contact on three bodies) W is assembled
 * (fclib_assemble.c). */
#include "fclib/fclib_global.h"

#include "core/log.h"
#include "core/memory.h"
#include "fclib/fclib_parts.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

void scree_global_fini(scree_Global *global) {
  scree_sparse_fini(&global->M);
  scree_sparse_fini(&global->Ht);
  scree_free(global->f);
  scree_free(global->w);
  scree_free(global->mu);
  *global = (scree_Global){0};
}

scree_Status scree_global_read(const scree_H5 *h5, scree_Global *global) {
  *global = (scree_Global){0};
  const char *const equalities[] = {"G", NULL};
  scree_Status status = scree_fclib_refuse(h5, "/fclib_global", equalities, "b");
  if (status != SCREE_OK) return status;
  status = scree_fclib_sizes(h5, "/fclib_global", "w", &global->d, &global->nc);
  if (status != SCREE_OK) return status;
  size_t count = 0;
  status = scree_h5_count(h5, "/fclib_global/vectors/f", &count);
  if (status != SCREE_OK) return status;
  if (count > INT_MAX)
    return scree_fail(h5->log, SCREE_BAD_INPUT,
                      "%s: /fclib_global/vectors/f has %zu values, "
                      "expected at most %d",
                      h5->path, count, INT_MAX);
  const int m = global->d * global->nc;
  global->nd = (int)count;
  global->f = SCREE_ALLOC(double, count);
  global->w = SCREE_ALLOC(double, m);
  global->mu = SCREE_ALLOC(double, global->nc);
  if (!global->f || !global->w || !global->mu) status = scree_fail_memory(h5->log, "the vectors");
  if (status == SCREE_OK) status = scree_fclib_read_mu(h5, "/fclib_global", global->nc, global->mu);
  if (status == SCREE_OK)
    status = scree_h5_read_reals(h5, "/fclib_global/vectors/w", (size_t)m, "contacts x spacedim",
                                 global->w);
  if (status == SCREE_OK)
    status = scree_h5_read_reals(h5, "/fclib_global/vectors/f", count, "the size of M", global->f);
  if (status == SCREE_OK)
    status = scree_sparse_read(h5, "/fclib_global/M", global->nd, global->nd, false, &global->M);
  if (status == SCREE_OK)
    status = scree_sparse_read(h5, "/fclib_global/H", global->nd, m, true, &global->Ht);
  if (status != SCREE_OK) scree_global_fini(global);
  return status;
}

/* ---- the body form ------------------------------------------------------------------------- */

static void copy_part(const scree_Global *global, const scree_MassGroups *parts, int p, int n,
                      double *A) {
  memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
  for (int j = parts->start[p]; j < parts->start[p + 1]; ++j) {
    const int i = parts->dof[j];
    for (size_t k = global->M.row[i]; k < global->M.row[i + 1]; ++k)
      if (global->M.x[k] != 0.0)
        A[(size_t)parts->place[i] * (size_t)n + (size_t)parts->place[global->M.col[k]]] =
            global->M.x[k];
  }
}

/* A = L L^T in place (n x n, row by row); false when A is not positive definite to working
 * accuracy. Not LAPACK's, whose last bits change with the machine: these numbers become the problem
 * itself. */
static bool cholesky(int n, double *A) {
  for (int i = 0; i < n; ++i) {
    double *row = A + i * n;
    const double diagonal = row[i];
    double rest = diagonal;
    for (int j = 0; j < i; ++j) {
      double sum = row[j];
      for (int k = 0; k < j; ++k) sum -= row[k] * A[j * n + k];
      row[j] = sum / A[j * n + j];
      rest -= row[j] * row[j];
    }
    if (!(rest > n * DBL_EPSILON * diagonal) || !isfinite(rest)) return false;
    row[i] = sqrt(rest);
  }
  return true;
}

/* x = L^-1 x */
static void forward(int n, const double *L, double *x) {
  for (int i = 0; i < n; ++i) {
    double sum = x[i];
    for (int k = 0; k < i; ++k) sum -= L[i * n + k] * x[k];
    x[i] = sum / L[i * n + i];
  }
}

/* Factor the touched bodies: L (count x nb x nb) with identity in the padding, y = L^-1 f. */
static scree_Status factor_bodies(const scree_H5 *h5, const scree_Global *global,
                                  const scree_MassGroups *parts, const int *kept, int nb, double *L,
                                  double *y) {
  for (int p = 0; p < parts->count; ++p) {
    if (kept[p] < 0) continue;
    double *A = L + (size_t)kept[p] * (size_t)(nb * nb), *yp = y + (size_t)kept[p] * (size_t)nb;
    copy_part(global, parts, p, nb, A);
    for (int j = parts->start[p + 1] - parts->start[p]; j < nb; ++j) A[j * nb + j] = 1.0;
    const bool positive = cholesky(nb, A);
    if (!positive) return scree_parts_fail(h5, parts, p, "positive definite");
    for (int j = parts->start[p]; j < parts->start[p + 1]; ++j)
      yp[j - parts->start[p]] = global->f[parts->dof[j]];
    forward(nb, A, yp);
  }
  return SCREE_OK;
}

/* Fill contact c: its two bodies, B = H^T L^-T row by row (L b = h), and q. */
static void fill_contact(const scree_Global *global, const scree_MassGroups *parts, const int *kept,
                         const double *L, const double *y, int c, scree_Problem *problem) {
  const int d = global->d, nb = problem->bodies.nb;
  int touched[2] = {-1, -1};
  scree_parts_touched(global, parts, c, 2, touched);
  double *B = problem->bodies.B + (size_t)c * (size_t)(2 * d * nb);
  for (int side = 0; side < 2; ++side)
    problem->bodies.body[2 * c + side] = touched[side] < 0 ? -1 : kept[touched[side]];
  for (int i = 0; i < d; ++i) {
    const int row = c * d + i;
    for (size_t k = global->Ht.row[row]; k < global->Ht.row[row + 1]; ++k) {
      if (global->Ht.x[k] == 0.0) continue;
      const int dof = global->Ht.col[k], side = parts->part[dof] == touched[0] ? 0 : 1;
      B[(side * d + i) * nb + parts->place[dof]] = global->Ht.x[k];
    }
    double q = global->w[row];
    for (int side = 0; side < 2; ++side) {
      const int body = problem->bodies.body[2 * c + side];
      if (body < 0) continue;
      double *b = B + (side * d + i) * nb;
      forward(nb, L + (size_t)body * (size_t)(nb * nb), b);
      for (int j = 0; j < nb; ++j) q += b[j] * y[(size_t)body * (size_t)nb + (size_t)j];
    }
    problem->q[row] = q;
  }
  problem->mu[c] = global->mu[c];
}

/* Only bodies that some contact touches are kept: the others have no part in W. */
static int number_touched(const scree_Global *global, const scree_MassGroups *parts, int *kept) {
  for (int p = 0; p < parts->count; ++p) kept[p] = -1;
  for (int c = 0; c < global->nc; ++c) {
    int touched[2];
    const int count = scree_parts_touched(global, parts, c, 2, touched);
    for (int t = 0; t < count; ++t) kept[touched[t]] = 0;
  }
  int number = 0;
  for (int p = 0; p < parts->count; ++p)
    if (kept[p] >= 0) kept[p] = number++;
  return number;
}

static scree_Status reduce_to_bodies(const scree_H5 *h5, const scree_Global *global,
                                     const scree_MassGroups *parts, scree_Problem *problem) {
  const int nb = parts->largest > 0 ? parts->largest : 1;
  int *kept = SCREE_ALLOC(int, parts->count);
  if (!kept) return scree_fail_memory(h5->log, "the bodies of M");
  const int count = number_touched(global, parts, kept);
  double *L = SCREE_ALLOC(double, (size_t)count *(size_t)(nb * nb));
  double *y = SCREE_ALLOC(double, (size_t)count *(size_t)nb);
  scree_Status status = L && y ? SCREE_OK : scree_fail_memory(h5->log, "the factors of M");
  if (status == SCREE_OK) status = factor_bodies(h5, global, parts, kept, nb, L, y);
  if (status == SCREE_OK)
    status = scree_problem_create_bodies(problem, global->d, global->nc, count, nb, false, false,
                                         h5->log);
  if (status == SCREE_OK)
    for (int c = 0; c < global->nc; ++c) fill_contact(global, parts, kept, L, y, c, problem);
  scree_free(kept);
  scree_free(L);
  scree_free(y);
  return status;
}

scree_Status scree_global_reduce(const scree_H5 *h5, const scree_Global *global,
                                 scree_Problem *problem) {
  scree_MassGroups parts = {0};
  scree_Status status = scree_parts_init(&parts, global->nd, h5->log);
  if (status != SCREE_OK) return status;
  if (scree_parts_choose(global, &parts))
    status = reduce_to_bodies(h5, global, &parts, problem);
  else
    status = scree_global_assemble(h5, global, &parts, problem);
  scree_parts_fini(&parts);
  return status;
}
