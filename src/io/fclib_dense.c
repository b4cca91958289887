/* Dense factorisations (see fclib_dense.h). Leading zeros of each row are skipped, so that banded
 * inertia matrices (finite elements) cost their envelope, not n^3. */
#include "io/fclib_dense.h"

#include <float.h>
#include <math.h>

bool scree_fclib_symmetric(int n, const double *A) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      const double scale = sqrt(fabs(A[(size_t)i * (size_t)n + (size_t)i])) *
                           sqrt(fabs(A[(size_t)j * (size_t)n + (size_t)j]));
      const double lower = A[(size_t)i * (size_t)n + (size_t)j];
      const double upper = A[(size_t)j * (size_t)n + (size_t)i];
      if (!(fabs(lower - upper) <= 4.0 * DBL_EPSILON * scale)) return false;
    }
  return true;
}

/* First column of row i with a non-zero entry left of the diagonal, or i. */
static int first_entry(const double *row, int i) {
  int first = 0;
  while (first < i && row[first] == 0.0) ++first;
  return first;
}

int scree_fclib_cholesky(int n, double *A) {
  for (int i = 0; i < n; ++i) {
    double *row = A + (size_t)i * (size_t)n;
    const double diagonal = row[i];
    const int first = first_entry(row, i);
    double rest = diagonal;
    for (int j = first; j < i; ++j) {
      const double *other = A + (size_t)j * (size_t)n;
      double sum = row[j];
      for (int k = first; k < j; ++k) sum -= row[k] * other[k];
      row[j] = sum / other[j];
      rest -= row[j] * row[j];
    }
    if (!(rest > (double)n * DBL_EPSILON * diagonal) || !isfinite(rest)) return i;
    row[i] = sqrt(rest);
  }
  return -1;
}

void scree_fclib_forward(int n, const double *L, double *x, size_t stride) {
  for (int i = 0; i < n; ++i) {
    const double *row = L + (size_t)i * (size_t)n;
    double sum = x[(size_t)i * stride];
    for (int k = 0; k < i; ++k) sum -= row[k] * x[(size_t)k * stride];
    x[(size_t)i * stride] = sum / row[i];
  }
}

void scree_fclib_backward(int n, const double *L, double *x, size_t stride) {
  for (int i = n - 1; i >= 0; --i) {
    double sum = x[(size_t)i * stride];
    for (int k = i + 1; k < n; ++k)
      sum -= L[(size_t)k * (size_t)n + (size_t)i] * x[(size_t)k * stride];
    x[(size_t)i * stride] = sum / L[(size_t)i * (size_t)n + (size_t)i];
  }
}

int scree_fclib_lu(int n, double *A, int *pivot) {
  for (int k = 0; k < n; ++k) {
    int best = k;
    double scale = 0.0;
    for (int i = k; i < n; ++i)
      if (fabs(A[(size_t)i * (size_t)n + (size_t)k]) >
          fabs(A[(size_t)best * (size_t)n + (size_t)k]))
        best = i;
    /* The pivot is compared with its own column, factored part included. */
    for (int i = 0; i < n; ++i) scale = fmax(scale, fabs(A[(size_t)i * (size_t)n + (size_t)k]));
    pivot[k] = best;
    const double value = A[(size_t)best * (size_t)n + (size_t)k];
    if (!(fabs(value) > (double)n * DBL_EPSILON * scale) || !isfinite(value)) return k;
    double *row = A + (size_t)k * (size_t)n, *other = A + (size_t)best * (size_t)n;
    if (best != k)
      for (int j = 0; j < n; ++j) {
        const double swap = row[j];
        row[j] = other[j];
        other[j] = swap;
      }
    for (int i = k + 1; i < n; ++i) {
      double *below = A + (size_t)i * (size_t)n;
      if (below[k] == 0.0) continue;
      below[k] /= value;
      for (int j = k + 1; j < n; ++j) below[j] -= below[k] * row[j];
    }
  }
  return -1;
}

void scree_fclib_lu_solve(int n, const double *LU, const int *pivot, double *x, size_t stride) {
  for (int i = 0; i < n; ++i) {
    const double swap = x[(size_t)pivot[i] * stride];
    x[(size_t)pivot[i] * stride] = x[(size_t)i * stride];
    x[(size_t)i * stride] = swap;
  }
  for (int i = 0; i < n; ++i) {
    double sum = x[(size_t)i * stride];
    for (int k = 0; k < i; ++k)
      sum -= LU[(size_t)i * (size_t)n + (size_t)k] * x[(size_t)k * stride];
    x[(size_t)i * stride] = sum;
  }
  for (int i = n - 1; i >= 0; --i) {
    double sum = x[(size_t)i * stride];
    for (int k = i + 1; k < n; ++k)
      sum -= LU[(size_t)i * (size_t)n + (size_t)k] * x[(size_t)k * stride];
    x[(size_t)i * stride] = sum / LU[(size_t)i * (size_t)n + (size_t)i];
  }
}
