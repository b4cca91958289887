/* Global FCLIB problems (see fclib_global.h), reduced to contacts.
 *
 * M is block diagonal in any file: the connected components of its pattern do not interact but
 * through contacts. When the degrees of freedom can be grouped into small bodies such that each
 * contact touches at most two of them, the problem keeps its body form, which is cheaper to store
 * and to sweep:
 *     M_b = L L^T,   B_cb = H_cb^T L^-T,   W = B B^T,   q_c = w_c + sum_b B_cb (L^-1 f_b).
 * Otherwise (finite elements, an unsymmetric M, a contact on three bodies) W = H^T M^-1 H is
 * assembled component by component.
 *
 * Grouping. A diagonal M, the usual case for rigid bodies, says nothing of which components belong
 * together, so consecutive degrees of freedom are tried in the natural sizes (3 in 2D, 6 in 3D, d
 * for points, 12 for pseudo-rigid bodies) as well as the components themselves. Only W and q matter
 * to contacts, so any grouping that passes gives the same problem; the smallest one is kept.  */
#include "io/fclib_global.h"

#include "core/log.h"
#include "core/memory.h"
#include "io/fclib_dense.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BODY = 12 };

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

/* ---- grouping degrees of freedom ---------------------------------------------------------------
 */

/* Parts: a partition of the degrees of freedom that M does not couple. */
typedef struct Parts {
  int count, largest;
  int *part;  /* (nd) part of each degree of freedom */
  int *place; /* (nd) its place within the part */
  int *start; /* (count+1) range of a part in dof */
  int *dof;   /* (nd) degrees of freedom by part, ascending */
} Parts;

static void parts_fini(Parts *parts) {
  scree_free(parts->part);
  scree_free(parts->place);
  scree_free(parts->start);
  scree_free(parts->dof);
  *parts = (Parts){0};
}

static scree_Status parts_init(Parts *parts, int nd, const scree_Log *log) {
  parts->part = SCREE_ALLOC(int, nd);
  parts->place = SCREE_ALLOC(int, nd);
  parts->start = SCREE_ALLOC(int, (size_t)nd + 1);
  parts->dof = SCREE_ALLOC(int, nd);
  if (parts->part && parts->place && parts->start && parts->dof) return SCREE_OK;
  parts_fini(parts);
  return scree_fail_memory(log, "the bodies of M");
}

/* Fill place, start, dof and the sizes from part[] and count. */
static void parts_list(Parts *parts, int nd) {
  memset(parts->start, 0, ((size_t)nd + 1) * sizeof *parts->start);
  for (int i = 0; i < nd; ++i) parts->place[i] = parts->start[parts->part[i] + 1]++;
  parts->largest = 0;
  for (int p = 0; p < parts->count; ++p) {
    if (parts->start[p + 1] > parts->largest) parts->largest = parts->start[p + 1];
    parts->start[p + 1] += parts->start[p];
  }
  for (int i = 0; i < nd; ++i) parts->dof[parts->start[parts->part[i]] + parts->place[i]] = i;
}

static int find_root(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* Parts = connected components of M's pattern, numbered by their first degree of freedom. */
static void parts_components(Parts *parts, const scree_Global *global) {
  int *parent = parts->part;
  for (int i = 0; i < global->nd; ++i) parent[i] = i;
  for (int i = 0; i < global->nd; ++i)
    for (size_t k = global->M.row[i]; k < global->M.row[i + 1]; ++k) {
      if (global->M.x[k] == 0.0) continue;
      const int a = find_root(parent, i), b = find_root(parent, global->M.col[k]);
      if (a < b) parent[b] = a;
      if (b < a) parent[a] = b;
    }
  /* Roots are the smallest members, so their numbers are known when the others ask. */
  int *number = parts->dof;
  parts->count = 0;
  for (int i = 0; i < global->nd; ++i) {
    const int root = find_root(parent, i);
    if (root == i) number[i] = parts->count++;
    parts->place[i] = number[root];
  }
  memcpy(parts->part, parts->place, (size_t)global->nd * sizeof *parts->part);
  parts_list(parts, global->nd);
}

/* Parts = consecutive degrees of freedom, `size` each; false when M couples two of them. */
static bool parts_consecutive(Parts *parts, const scree_Global *global, int size) {
  if (global->nd == 0 || global->nd % size != 0) return false;
  for (int i = 0; i < global->nd; ++i)
    for (size_t k = global->M.row[i]; k < global->M.row[i + 1]; ++k)
      if (global->M.x[k] != 0.0 && global->M.col[k] / size != i / size) return false;
  parts->count = global->nd / size;
  for (int i = 0; i < global->nd; ++i) parts->part[i] = i / size;
  parts_list(parts, global->nd);
  return true;
}

/* The parts that contact c touches, in the order met; their number, or limit + 1 when there are
 * more than `limit`. */
static int touched_parts(const scree_Global *global, const Parts *parts, int c, int limit,
                         int *touched) {
  int count = 0;
  for (int i = c * global->d; i < (c + 1) * global->d; ++i)
    for (size_t k = global->Ht.row[i]; k < global->Ht.row[i + 1]; ++k) {
      if (global->Ht.x[k] == 0.0) continue;
      const int part = parts->part[global->Ht.col[k]];
      int t = 0;
      while (t < count && touched[t] != part) ++t;
      if (t < count) continue;
      if (count == limit) return limit + 1;
      touched[count++] = part;
    }
  return count;
}

/* Numbers stored for the contacts with this grouping (a row of each side's B), or -1 when some
 * contact touches more than two parts or a part is too large. */
static long long contacts_cost(const scree_Global *global, const Parts *parts) {
  int touched[2];
  long long sides = 0;
  if (parts->largest > MAX_BODY) return -1;
  for (int c = 0; c < global->nc; ++c) {
    const int count = touched_parts(global, parts, c, 2, touched);
    if (count > 2) return -1;
    sides += count;
  }
  return sides * parts->largest;
}

static void copy_part(const scree_Global *global, const Parts *parts, int p, int n, double *A) {
  memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
  for (int j = parts->start[p]; j < parts->start[p + 1]; ++j) {
    const int i = parts->dof[j];
    for (size_t k = global->M.row[i]; k < global->M.row[i + 1]; ++k)
      if (global->M.x[k] != 0.0)
        A[(size_t)parts->place[i] * (size_t)n + (size_t)parts->place[global->M.col[k]]] =
            global->M.x[k];
  }
}

static bool parts_symmetric(const scree_Global *global, const Parts *parts) {
  double A[MAX_BODY * MAX_BODY];
  for (int p = 0; p < parts->count; ++p) {
    const int n = parts->start[p + 1] - parts->start[p];
    copy_part(global, parts, p, n, A);
    if (!scree_fclib_symmetric(n, A)) return false;
  }
  return true;
}

/* Group by candidate k: consecutive degrees of freedom in natural sizes, then M's components. False
 * past the last one; *cost is -1 when the candidate does not fit. */
static bool group(const scree_Global *global, int k, Parts *parts, long long *cost) {
  const int sizes[] = {global->d == 2 ? 3 : 6, global->d, MAX_BODY};
  if (k > 3) return false;
  *cost = -1;
  if (k == 3)
    parts_components(parts, global);
  else if (!parts_consecutive(parts, global, sizes[k]))
    return true;
  *cost = contacts_cost(global, parts);
  if (*cost >= 0 && !parts_symmetric(global, parts)) *cost = -1;
  return true;
}

/* Choose the grouping with the least to store, the first of equals; true when the body form is
 * possible with it. Else parts are the components. */
static bool choose_parts(const scree_Global *global, Parts *parts) {
  int best = -1;
  long long cost = -1, least = LLONG_MAX;
  for (int k = 0; group(global, k, parts, &cost); ++k)
    if (cost >= 0 && cost < least) {
      least = cost;
      best = k;
    }
  group(global, best >= 0 ? best : 3, parts, &cost);
  return best >= 0;
}

static scree_Status fail_part(const scree_H5 *h5, const Parts *parts, int p, int row,
                              const char *what) {
  const int first = parts->dof[parts->start[p]], last = parts->dof[parts->start[p + 1] - 1];
  return scree_fail(h5->log, SCREE_BAD_INPUT,
                    "%s: /fclib_global/M of body %d (rows %d to %d) is not %s: row %d depends on "
                    "the rows before it",
                    h5->path, p, first, last, what, parts->dof[parts->start[p] + row]);
}

/* ---- the body form -----------------------------------------------------------------------------
 */

/* Factor the touched bodies: L (count x nb x nb) with identity in the padding, y = L^-1 f. */
static scree_Status factor_bodies(const scree_H5 *h5, const scree_Global *global,
                                  const Parts *parts, const int *kept, int nb, double *L,
                                  double *y) {
  for (int p = 0; p < parts->count; ++p) {
    if (kept[p] < 0) continue;
    double *A = L + (size_t)kept[p] * (size_t)(nb * nb), *yp = y + (size_t)kept[p] * (size_t)nb;
    copy_part(global, parts, p, nb, A);
    for (int j = parts->start[p + 1] - parts->start[p]; j < nb; ++j) A[j * nb + j] = 1.0;
    const int row = scree_fclib_cholesky(nb, A);
    if (row >= 0) return fail_part(h5, parts, p, row, "positive definite");
    for (int j = parts->start[p]; j < parts->start[p + 1]; ++j)
      yp[j - parts->start[p]] = global->f[parts->dof[j]];
    scree_fclib_forward(nb, A, yp, 1);
  }
  return SCREE_OK;
}

/* Fill contact c: its two bodies, B = H^T L^-T row by row (L b = h), and q. */
static void fill_contact(const scree_Global *global, const Parts *parts, const int *kept,
                         const double *L, const double *y, int c, scree_Problem *problem) {
  const int d = global->d, nb = problem->bodies.nb;
  int touched[2] = {-1, -1};
  touched_parts(global, parts, c, 2, touched);
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
      scree_fclib_forward(nb, L + (size_t)body * (size_t)(nb * nb), b, 1);
      for (int j = 0; j < nb; ++j) q += b[j] * y[(size_t)body * (size_t)nb + (size_t)j];
    }
    problem->q[row] = q;
  }
  problem->mu[c] = global->mu[c];
}

/* Only bodies that some contact touches are kept: the others have no part in W. */
static int number_touched(const scree_Global *global, const Parts *parts, int *kept) {
  for (int p = 0; p < parts->count; ++p) kept[p] = -1;
  for (int c = 0; c < global->nc; ++c) {
    int touched[2];
    const int count = touched_parts(global, parts, c, 2, touched);
    for (int t = 0; t < count; ++t) kept[touched[t]] = 0;
  }
  int number = 0;
  for (int p = 0; p < parts->count; ++p)
    if (kept[p] >= 0) kept[p] = number++;
  return number;
}

static scree_Status reduce_to_bodies(const scree_H5 *h5, const scree_Global *global,
                                     const Parts *parts, scree_Problem *problem) {
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

/* ---- the assembled form ------------------------------------------------------------------------
 */

/* A factored component: Cholesky when symmetric, else LU. */
typedef struct Factor {
  int n;
  bool symmetric;
  double *A;  /* (n x n) */
  int *pivot; /* (n) */
} Factor;

static void factor_fini(Factor *factor) {
  scree_free(factor->A);
  scree_free(factor->pivot);
  *factor = (Factor){0};
}

static scree_Status factor_init(const scree_H5 *h5, const scree_Global *global, const Parts *parts,
                                int p, Factor *factor) {
  const int n = parts->start[p + 1] - parts->start[p];
  *factor = (Factor){.n = n};
  factor->A = SCREE_ALLOC(double, (size_t)n *(size_t)n);
  factor->pivot = SCREE_ALLOC(int, n);
  scree_Status status = SCREE_OK;
  if (!factor->A || !factor->pivot) {
    status = scree_fail_memory(h5->log, "the factors of M");
  } else {
    copy_part(global, parts, p, n, factor->A);
    factor->symmetric = scree_fclib_symmetric(n, factor->A);
    const int row = factor->symmetric ? scree_fclib_cholesky(n, factor->A)
                                      : scree_fclib_lu(n, factor->A, factor->pivot);
    if (row >= 0)
      status = fail_part(h5, parts, p, row, factor->symmetric ? "positive definite" : "invertible");
  }
  if (status != SCREE_OK) factor_fini(factor);
  return status;
}

/* The contact components ("rows" of H^T) by part. */
typedef struct Touching {
  size_t *start; /* (parts + 1) */
  int *contact;  /* contacts of each part, ascending, once each */
} Touching;

static void touching_fini(Touching *touching) {
  scree_free(touching->start);
  scree_free(touching->contact);
}

static scree_Status touching_init(const scree_Global *global, const Parts *parts,
                                  const scree_Log *log, Touching *touching) {
  touching->start = SCREE_ALLOC(size_t, (size_t)parts->count + 2);
  int *last = SCREE_ALLOC(int, parts->count);
  touching->contact = SCREE_ALLOC(int, global->Ht.row[global->Ht.rows]);
  if (!touching->start || !last || !touching->contact) {
    scree_free(last);
    return scree_fail_memory(log, "the contacts of each body");
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (int p = 0; p < parts->count; ++p) last[p] = -1;
    for (int row = 0; row < global->Ht.rows; ++row)
      for (size_t k = global->Ht.row[row]; k < global->Ht.row[row + 1]; ++k) {
        const int p = parts->part[global->Ht.col[k]], c = row / global->d;
        if (global->Ht.x[k] == 0.0 || last[p] == c) continue;
        last[p] = c;
        if (pass == 0)
          touching->start[p + 2]++;
        else
          touching->contact[touching->start[p + 1]++] = c;
      }
    if (pass == 0)
      for (int p = 0; p < parts->count; ++p) touching->start[p + 2] += touching->start[p + 1];
  }
  scree_free(last);
  return SCREE_OK;
}

/* Add one component's part of W and q. G (n x m, row by row) holds its columns of H, m = d times
 * the contacts that touch it, then f as the last column. */
static scree_Status add_component(const scree_H5 *h5, const scree_Global *global,
                                  const Parts *parts, int p, const Factor *factor,
                                  const int *contact, int contacts, const scree_Sparse *W_pattern,
                                  scree_Problem *problem) {
  const int n = factor->n, d = global->d;
  const size_t m = (size_t)contacts * (size_t)d + 1;
  double *G = SCREE_ALLOC(double, (size_t)n *m);
  double *X = factor->symmetric ? NULL : SCREE_ALLOC(double, (size_t)n *m);
  double *row = SCREE_ALLOC(double, m);
  if (!G || (!factor->symmetric && !X) || !row) {
    scree_free(G);
    scree_free(X);
    scree_free(row);
    return scree_fail_memory(h5->log, "H of one body");
  }
  for (int a = 0; a < contacts; ++a)
    for (int i = 0; i < d; ++i) {
      const int line = contact[a] * d + i;
      for (size_t k = global->Ht.row[line]; k < global->Ht.row[line + 1]; ++k) {
        const int dof = global->Ht.col[k];
        if (parts->part[dof] == p)
          G[(size_t)parts->place[dof] * m + (size_t)(a * d + i)] = global->Ht.x[k];
      }
    }
  for (int j = 0; j < n; ++j) G[(size_t)j * m + m - 1] = global->f[parts->dof[parts->start[p] + j]];
  /* Symmetric: W = (L^-1 H)^T (L^-1 H), symmetric to the bit. Else W = H^T (M^-1 H). */
  if (factor->symmetric) {
    for (size_t k = 0; k < m; ++k) scree_fclib_forward(n, factor->A, G + k, m);
  } else {
    memcpy(X, G, (size_t)n * m * sizeof *X);
    for (size_t k = 0; k < m; ++k) scree_fclib_lu_solve(n, factor->A, factor->pivot, X + k, m);
  }
  const double *right = factor->symmetric ? G : X;
  for (size_t i = 0; i + 1 < m; ++i) {
    memset(row, 0, m * sizeof *row);
    for (int j = 0; j < n; ++j) {
      const double h = G[(size_t)j * m + i];
      if (h == 0.0) continue;
      for (size_t k = 0; k < m; ++k) row[k] += h * right[(size_t)j * m + k];
    }
    const int c = contact[i / (size_t)d], axis = (int)(i % (size_t)d);
    const size_t first = W_pattern->row[c], blocks = W_pattern->row[c + 1] - first;
    double *x = problem->blocks.x + first * (size_t)(d * d) + (size_t)axis * (size_t)d * blocks;
    size_t k = 0;
    for (int a = 0; a < contacts; ++a) {
      while (problem->blocks.col[first + k] != contact[a]) ++k;
      for (int j = 0; j < d; ++j) x[k * (size_t)d + (size_t)j] += row[(size_t)(a * d + j)];
    }
    problem->q[c * d + axis] += row[m - 1];
  }
  scree_free(G);
  scree_free(X);
  scree_free(row);
  return SCREE_OK;
}

static int compare_ints(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Pattern of W: contacts that share a component, and the diagonal. Counted first, then stored. */
static scree_Status pattern_init(const scree_H5 *h5, const scree_Global *global, const Parts *parts,
                                 const Touching *touching, scree_Sparse *pattern) {
  const int d = global->d;
  *pattern = (scree_Sparse){.rows = global->nc, .cols = global->nc};
  pattern->row = SCREE_ALLOC(size_t, (size_t)global->nc + 1);
  int *seen = SCREE_ALLOC(int, global->nc);
  int *seen_part = SCREE_ALLOC(int, parts->count);
  bool good = pattern->row && seen && seen_part;
  for (int pass = 0; pass < 2 && good; ++pass) {
    for (int c = 0; c < global->nc; ++c) seen[c] = -1;
    for (int p = 0; p < parts->count; ++p) seen_part[p] = -1;
    size_t used = 0;
    for (int c = 0; c < global->nc; ++c) {
      const size_t begin = used;
      seen[c] = c;
      if (pass) pattern->col[used] = c;
      used++;
      for (size_t k = global->Ht.row[c * d]; k < global->Ht.row[(c + 1) * d]; ++k) {
        const int p = parts->part[global->Ht.col[k]];
        if (global->Ht.x[k] == 0.0 || seen_part[p] == c) continue;
        seen_part[p] = c;
        for (size_t a = touching->start[p]; a < touching->start[p + 1]; ++a) {
          const int other = touching->contact[a];
          if (seen[other] == c) continue;
          seen[other] = c;
          if (pass) pattern->col[used] = other;
          used++;
        }
      }
      if (pass) qsort(pattern->col + begin, used - begin, sizeof(int), compare_ints);
      pattern->row[c + 1] = used;
    }
    if (pass == 0) good = (pattern->col = SCREE_ALLOC(int, used)) != NULL;
  }
  scree_free(seen);
  scree_free(seen_part);
  return good ? SCREE_OK : scree_fail_memory(h5->log, "the pattern of W");
}

static scree_Status reduce_to_blocks(const scree_H5 *h5, const scree_Global *global,
                                     const Parts *parts, scree_Problem *problem) {
  Touching touching = {0};
  scree_Sparse pattern = {0};
  scree_Status status = touching_init(global, parts, h5->log, &touching);
  if (status == SCREE_OK) status = pattern_init(h5, global, parts, &touching, &pattern);
  if (status == SCREE_OK)
    status = scree_problem_create_assembled(problem, global->d, global->nc, pattern.row[global->nc],
                                            false, h5->log);
  if (status == SCREE_OK) {
    memcpy(problem->blocks.row, pattern.row, ((size_t)global->nc + 1) * sizeof(size_t));
    memcpy(problem->blocks.col, pattern.col, pattern.row[global->nc] * sizeof(int));
    memcpy(problem->q, global->w, (size_t)(global->nc * global->d) * sizeof(double));
    memcpy(problem->mu, global->mu, (size_t)global->nc * sizeof(double));
    for (int p = 0; p < parts->count && status == SCREE_OK; ++p) {
      const int contacts = (int)(touching.start[p + 1] - touching.start[p]);
      Factor factor;
      if (contacts == 0) continue;
      status = factor_init(h5, global, parts, p, &factor);
      if (status != SCREE_OK) break;
      status = add_component(h5, global, parts, p, &factor, touching.contact + touching.start[p],
                             contacts, &pattern, problem);
      factor_fini(&factor);
    }
  }
  touching_fini(&touching);
  scree_sparse_fini(&pattern);
  return status;
}

scree_Status scree_global_reduce(const scree_H5 *h5, const scree_Global *global,
                                 scree_Problem *problem) {
  Parts parts = {0};
  scree_Status status = parts_init(&parts, global->nd, h5->log);
  if (status != SCREE_OK) return status;
  if (choose_parts(global, &parts))
    status = reduce_to_bodies(h5, global, &parts, problem);
  else
    status = reduce_to_blocks(h5, global, &parts, problem);
  parts_fini(&parts);
  return status;
}

scree_Status scree_global_velocity(const scree_H5 *h5, const scree_Global *global, const double *r,
                                   double *v) {
  Parts parts = {0};
  scree_Status status = parts_init(&parts, global->nd, h5->log);
  if (status != SCREE_OK) return status;
  parts_components(&parts, global);
  double *force = SCREE_ALLOC(double, global->nd);
  double *part = SCREE_ALLOC(double, parts.largest);
  if (!force || !part) status = scree_fail_memory(h5->log, "the velocities");
  if (status == SCREE_OK) {
    memcpy(force, global->f, (size_t)global->nd * sizeof *force);
    for (int row = 0; row < global->Ht.rows; ++row)
      for (size_t k = global->Ht.row[row]; k < global->Ht.row[row + 1]; ++k)
        force[global->Ht.col[k]] += global->Ht.x[k] * r[row];
  }
  for (int p = 0; p < parts.count && status == SCREE_OK; ++p) {
    Factor factor;
    status = factor_init(h5, global, &parts, p, &factor);
    if (status != SCREE_OK) break;
    const int *dof = parts.dof + parts.start[p];
    for (int j = 0; j < factor.n; ++j) part[j] = force[dof[j]];
    if (factor.symmetric) {
      scree_fclib_forward(factor.n, factor.A, part, 1);
      scree_fclib_backward(factor.n, factor.A, part, 1);
    } else {
      scree_fclib_lu_solve(factor.n, factor.A, factor.pivot, part, 1);
    }
    for (int j = 0; j < factor.n; ++j) v[dof[j]] = part[j];
    factor_fini(&factor);
  }
  scree_free(force);
  scree_free(part);
  parts_fini(&parts);
  return status;
}
