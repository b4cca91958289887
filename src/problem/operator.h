/* The operator W of a problem, prepared for computing: diagonal blocks, the body-to-contact graph,
 * and the few operations that solvers are written with. A solver does not know which of the two
 * forms is behind it; its inner loops are instantiated for each by `switch` with literal arguments.
 *
 * The state y. In body form W r = B (B^T r) + C r passes through the scaled body velocities
 * y = B^T r, (nbodies + 1) blocks of nb, the last one the ground, always zero. Gauss-Seidel keeps y
 * up to date instead of W. In assembled form there is no state and y is not touched; it may be a
 * null pointer.
 *
 * Sums over bodies and contacts run in a fixed order whatever the number of threads. */
#ifndef SCREE_PROBLEM_OPERATOR_H
#define SCREE_PROBLEM_OPERATOR_H

#include "scree/problem.h"

typedef struct scree_Operator {
  const scree_Problem *problem;
  int threads;          /* that loops over many contacts may use, >= 1 */
  double *diagonal;     /* (nc x d x d) W_cc */
  double mean_diagonal; /* of diag W, > 0 (1 when W is zero) */
  size_t state_size;    /* doubles in y: (nbodies + 1) * nb, or 0 */
  size_t *body_row;     /* (nbodies + 1) body form: range of a body in body_entry */
  int *body_entry;      /* (body_row[nbodies]) 2*c + side of each contact of a body, ascending */
} scree_Operator;

scree_Status scree_operator_create(const scree_Problem *problem, int threads, const scree_Log *log,
                                   scree_Operator *W);
void scree_operator_destroy(scree_Operator *W);

/* y = B^T r (nothing in assembled form) */
void scree_operator_state(const scree_Operator *W, const double *r, double *y);

/* u = W r + q, given the state y of r. `q` (nc x d) may be another vector than the problem's, or
 * null for zero. */
void scree_operator_velocity(const scree_Operator *W, const double *r, const double *y,
                             const double *q, double *u);

/* u = W r + q with `y` as scratch (state_size doubles) */
void scree_operator_apply(const scree_Operator *W, const double *r, const double *q, double *y,
                          double *u);

/* A bound of the largest eigenvalue of W from above (Gershgorin over blocks; cheap, not sharp). */
double scree_operator_norm_bound(const scree_Operator *W);

/* ---- one contact at a time: the inner loop of Gauss-Seidel -------------------------------------
 * `kind`, `d` and `nb` are the problem's own, passed as literals so that the compiler unrolls. */

#define SCREE_INLINE static inline __attribute__((always_inline))

/* u_c = (W r)_c + q_c; a null q is zero */
SCREE_INLINE void scree_contact_velocity(const scree_Operator *W, scree_OperatorKind kind, int d,
                                         int nb, int c, const double *r, const double *y,
                                         const double *q, double *u) {
  const scree_Problem *p = W->problem;
  for (int i = 0; i < d; ++i) u[i] = q ? q[(size_t)c * (size_t)d + (size_t)i] : 0.0;
  if (kind == SCREE_ASSEMBLED) {
    const size_t start = p->blocks.row[c];
    const size_t n = p->blocks.row[c + 1] - start, stride = n * (size_t)d;
    const double *x = p->blocks.x + start * (size_t)(d * d);
    const int *col = p->blocks.col + start;
    double sum[9] = {0.0}; /* one accumulator per (i, j): no chain of dependent additions */
    for (size_t k = 0; k < n; ++k, x += d) {
      const double *rk = r + (size_t)col[k] * (size_t)d;
      for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) sum[i * d + j] += x[(size_t)i * stride + (size_t)j] * rk[j];
    }
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) u[i] += sum[i * d + j];
  } else {
    const int b0 = p->bodies.body[2 * c], b1 = p->bodies.body[2 * c + 1],
              ground = p->bodies.nbodies;
    const double *B0 = p->bodies.B + (size_t)c * (size_t)(2 * d * nb), *B1 = B0 + d * nb;
    const double *y0 = y + (size_t)(b0 < 0 ? ground : b0) * (size_t)nb;
    const double *y1 = y + (size_t)(b1 < 0 ? ground : b1) * (size_t)nb;
    for (int i = 0; i < d; ++i) {
      double sum = 0.0;
      for (int j = 0; j < nb; ++j) sum += B0[i * nb + j] * y0[j] + B1[i * nb + j] * y1[j];
      u[i] += sum;
    }
    if (p->bodies.C) {
      const double *C = p->bodies.C + (size_t)c * (size_t)(d * d), *rc = r + (size_t)c * (size_t)d;
      for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) u[i] += C[i * d + j] * rc[j];
    }
  }
}

/* y += B_c^T dr; the caller changes r itself */
SCREE_INLINE void scree_contact_update(const scree_Operator *W, scree_OperatorKind kind, int d,
                                       int nb, int c, const double *dr, double *y) {
  if (kind == SCREE_ASSEMBLED) return;
  const scree_Problem *p = W->problem;
  const double *B = p->bodies.B + (size_t)c * (size_t)(2 * d * nb);
  for (int side = 0; side < 2; ++side, B += d * nb) {
    const int body = p->bodies.body[2 * c + side];
    if (body < 0) continue;
    double *yb = y + (size_t)body * (size_t)nb;
    for (int j = 0; j < nb; ++j) {
      double sum = 0.0;
      for (int i = 0; i < d; ++i) sum += B[i * nb + j] * dr[i];
      yb[j] += sum;
    }
  }
}

#endif
