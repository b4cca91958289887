/* Bodies from three of their groups e, g, h, none of which needs to be at the ground (see
 * recover.c). W_eg = B_e B_g^T and so on, each nb x nb over independent rows, give
 *     S = W_eg W_hg^-1 W_he = B_e B_e^T
 * from off-diagonal blocks alone, without a contribution or an error of any other body. It
 * is symmetric only if the three groups share a body, not if they form a ring of three bodies. */
#include "solver/recover_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_TRIES = 6 }; /* triples tried for each group */

/* X <- A^-1 X for A (n x n), X (n x n), both row by row with SCREE_FINDER_NB columns; A is
 * destroyed. False when A is singular. */
static bool solve_small(int n, double A[SCREE_FINDER_NB][SCREE_FINDER_NB],
                        double X[SCREE_FINDER_NB][SCREE_FINDER_NB]) {
  for (int k = 0; k < n; ++k) {
    int p = k;
    for (int i = k + 1; i < n; ++i)
      if (fabs(A[i][k]) > fabs(A[p][k])) p = i;
    if (!(fabs(A[p][k]) > 0.0)) return false;
    for (int j = 0; j < n; ++j) {
      const double a = A[k][j], x = X[k][j];
      A[k][j] = A[p][j], A[p][j] = a;
      X[k][j] = X[p][j], X[p][j] = x;
    }
    for (int i = k + 1; i < n; ++i) {
      const double m = A[i][k] / A[k][k];
      for (int j = k; j < n; ++j) A[i][j] -= m * A[k][j];
      for (int j = 0; j < n; ++j) X[i][j] -= m * X[k][j];
    }
  }
  for (int k = n - 1; k >= 0; --k)
    for (int j = 0; j < n; ++j) {
      for (int i = k + 1; i < n; ++i) X[k][j] -= A[k][i] * X[i][j];
      X[k][j] /= A[k][k];
    }
  return true;
}

/* W between the pivot rows of two groups. All contacts of a group have one pattern, so that a
 * column has one place in all their rows. */
static void between(const scree_Finder *f, int g, int h,
                    double A[SCREE_FINDER_NB][SCREE_FINDER_NB]) {
  const int *P = f->pivot + (size_t)g * (size_t)f->nb, *Q = f->pivot + (size_t)h * (size_t)f->nb;
  const int d = f->d;
  size_t start, n, at[SCREE_FINDER_NB];
  for (int j = 0; j < f->nb; ++j)
    at[j] =
        j > 0 && Q[j] / d == Q[j - 1] / d ? at[j - 1] : scree_finder_place(f, P[0] / d, Q[j] / d);
  for (int i = 0; i < f->nb; ++i) {
    const double *x = scree_finder_row(f, P[i] / d, P[i] % d, &start, &n);
    for (int j = 0; j < f->nb; ++j)
      A[i][j] = at[j] < n ? x[(size_t)d * at[j] + (size_t)(Q[j] % d)] : 0.0;
  }
}

/* The lower Cholesky factor C of S = W_eg W_hg^-1 W_he over the pivot rows of e. False when S is
 * not symmetric (up to `tolerance`) and positive definite, or larger than W_ee: then the three
 * groups do not share a body. */
static bool factor_triple(const scree_Finder *f, int e, int g, int h, double tolerance,
                          double C[SCREE_FINDER_NB][SCREE_FINDER_NB]) {
  const int n = f->nb, *P = f->pivot + (size_t)e * (size_t)f->nb;
  double A[SCREE_FINDER_NB][SCREE_FINDER_NB], M[SCREE_FINDER_NB][SCREE_FINDER_NB],
      X[SCREE_FINDER_NB][SCREE_FINDER_NB];
  between(f, e, g, A);
  between(f, h, g, M);
  between(f, h, e, X);
  if (!solve_small(n, M, X)) return false;
  double S[SCREE_FINDER_NB][SCREE_FINDER_NB] = {{0.0}};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) S[i][j] += A[i][k] * X[k][j];
  for (int i = 0; i < n; ++i) {
    if (!(S[i][i] > 0.0 &&
          S[i][i] <= (1.0 + SCREE_FINDER_SMALL) * scree_finder_entry(f, P[i], P[i])))
      return false;
    for (int j = 0; j < i; ++j)
      if (!(fabs(S[i][j] - S[j][i]) <= tolerance * sqrt(S[i][i] * S[j][j]))) return false;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = 0.5 * (S[i][j] + S[j][i]);
      for (int k = 0; k < j; ++k) sum -= C[i][k] * C[j][k];
      if (i == j && !(sum > SCREE_FINDER_NOTHING * S[i][i])) return false;
      C[i][j] = i == j ? sqrt(sum) : sum / C[j][j];
    }
  return true;
}

/* The groups coupled with all of e, g, h, none of them done, are those of their body. False when
 * one of those is done, or has another body in common with e. */
static bool gather_triple(scree_Finder *f, int e, int g, int h) {
  f->nclique = 0;
  f->clique[f->nclique++] = e;
  f->clique[f->nclique++] = g;
  f->clique[f->nclique++] = h;
  for (size_t a = f->adj_row[e]; a < f->adj_row[e + 1]; ++a) f->mark[f->adj[a]] = 1;
  for (size_t a = f->adj_row[g]; a < f->adj_row[g + 1]; ++a)
    if (f->mark[f->adj[a]] == 1) f->mark[f->adj[a]] = 2;
  bool good = true;
  for (size_t a = f->adj_row[h]; a < f->adj_row[h + 1]; ++a) {
    const int other = f->adj[a];
    if (f->mark[other] != 2) continue;
    good = good && !f->done[other] && !scree_finder_share_body(f, other, e);
    f->clique[f->nclique++] = other;
  }
  for (size_t a = f->adj_row[e]; a < f->adj_row[e + 1]; ++a) f->mark[f->adj[a]] = -1;
  return good;
}

/* L over the clique from the factor C of the pivot rows of its first group e; the rows of e itself
 * from those of the second group, W_eg B_g^-T. */
static bool spread_triple(scree_Finder *f, double C[SCREE_FINDER_NB][SCREE_FINDER_NB]) {
  const int n = f->nb, d = f->d, rows = d * f->nlist;
  const int *P = f->pivot + (size_t)f->clique[0] * (size_t)n,
            *Q = f->pivot + (size_t)f->clique[1] * (size_t)n;
  for (int k = 0; k < n; ++k) {
    double *v = scree_finder_column(f, k);
    scree_finder_gather(f, P[k] / d, P[k] % d, v);
    for (int j = 0; j < k; ++j) {
      const double *u = scree_finder_column(f, j);
      for (int i = 0; i < rows; ++i) v[i] -= C[k][j] * u[i];
    }
    for (int i = 0; i < rows; ++i) v[i] /= C[k][k];
  }
  double M[SCREE_FINDER_NB][SCREE_FINDER_NB],
      X[SCREE_FINDER_NB][SCREE_FINDER_NB] = {{0.0}}; /* X = (pivot rows of B_g)^-1 */
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      M[i][k] = scree_finder_column(f, k)[d * f->local[Q[i] / d] + Q[i] % d];
      X[i][k] = i == k;
    }
  if (!solve_small(n, M, X)) return false;
  const int e = f->clique[0];
  for (int m = f->first[e]; m < f->first[e + 1]; ++m)
    for (int i = 0; i < d; ++i) {
      const int c = f->member[m];
      double w[SCREE_FINDER_NB];
      for (int k = 0; k < n; ++k) w[k] = scree_finder_entry(f, d * c + i, Q[k]);
      for (int k = 0; k < n; ++k) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) sum += X[k][j] * w[j];
        scree_finder_column(f, k)[d * f->local[c] + i] = sum;
      }
    }
  return true;
}

static bool is_coupled(const scree_Finder *f, int g, int h) {
  const int c = f->member[f->first[g]], k = f->member[f->first[h]];
  return scree_finder_place(f, c, k) < f->p->blocks.row[c + 1] - f->p->blocks.row[c];
}

void scree_finder_triples(scree_Finder *f, int e, double tolerance, int *lost) {
  int tries = 0;
  for (size_t a = f->adj_row[e]; a < f->adj_row[e + 1]; ++a) {
    const int g = f->adj[a];
    if (f->rank[g] < f->nb || f->done[g] || scree_finder_share_body(f, e, g)) continue;
    for (size_t b = a + 1; b < f->adj_row[e + 1]; ++b) {
      const int h = f->adj[b];
      if (f->rank[h] < f->nb || f->done[h] || scree_finder_share_body(f, e, h) ||
          !is_coupled(f, g, h))
        continue;
      if (f->done[e] || tries++ == MOST_TRIES) return;
      ++*lost;
      double C[SCREE_FINDER_NB][SCREE_FINDER_NB];
      if (!factor_triple(f, e, g, h, tolerance, C) || !gather_triple(f, e, g, h)) continue;
      scree_finder_list_clique(f, 0);
      if (!spread_triple(f, C)) continue;
      scree_finder_accept(f, f->nb);
      --*lost;
      break;
    }
  }
}
