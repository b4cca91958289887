/* Solving contact laws that are linear in fixed statuses (see linear_laws.h). */
#include "solver/linear_laws.h"

#include "core/log.h"

#include <assert.h>
#include <math.h>

scree_Status scree_linear_laws_create(const scree_SolveRun *run, size_t size, size_t vectors,
                                      void **state, scree_LinearLaws *laws) {
  const scree_Operator *W = run->W;
  scree_Arena *work = &run->cache->work;
  *laws = (scree_LinearLaws){.W = W};
  if (state) *state = SCREE_TAKE(work, char, size);
  laws->Lu = SCREE_TAKE_RAW(work, double, W->squares);
  laws->Lr = SCREE_TAKE_RAW(work, double, W->squares);
  laws->c = SCREE_TAKE_RAW(work, double, W->rows);
  laws->w = SCREE_TAKE_RAW(work, double, W->constraints);
  laws->t = SCREE_TAKE_RAW(work, double, W->rows);
  laws->y = SCREE_TAKE(work, double, W->state_size);
  laws->e = SCREE_TAKE_RAW(work, double, W->constraints);
  laws->status = SCREE_TAKE_RAW(work, uint8_t, W->constraints);
  laws->changes = SCREE_TAKE_RAW(work, uint8_t, W->constraints);
  laws->vectors = SCREE_TAKE_RAW(work, double, vectors * W->rows);
  const bool enough = (!state || *state) && laws->Lu && laws->Lr && laws->c && laws->w && laws->t &&
                      laws->y && laws->e && laws->status && laws->changes && laws->vectors;
  scree_Status status = scree_ranks_agree(
      scree_ranks_of(W), enough ? SCREE_OK : scree_fail_memory(run->log, "the laws of contacts"),
      run->log);
  if (!status) status = scree_solve_run_system(run, &laws->system);
  if (status) return status;
  for (int k = 0; k < W->constraints; ++k) {
    const int d = scree_rows_of(W, k);
    double trace = 0.0, room[9];
    const double *D = scree_constraint_diagonal(W, k, room);
    for (int i = 0; i < d; ++i) trace += D[i * d + i];
    laws->w[k] = trace > 0.0 ? trace / d : W->mean_diagonal;
  }
  return SCREE_OK;
}

/* X <- A^-1 X and v <- A^-1 v for d x d, rows exchanged; A is destroyed. */
static void solve_rows(int d, double *A, double *X, double *v) {
  assert(d >= 1 && d <= SCREE_ROWS_MAX);
  for (int k = 0; k < d; ++k) {
    int best = k;
    for (int i = k + 1; i < d; ++i)
      if (fabs(A[i * d + k]) > fabs(A[best * d + k])) best = i;
    for (int j = 0; j < d && best != k; ++j) {
      double keep = A[k * d + j];
      A[k * d + j] = A[best * d + j];
      A[best * d + j] = keep;
      keep = X[k * d + j];
      X[k * d + j] = X[best * d + j];
      X[best * d + j] = keep;
    }
    if (best != k) {
      const double keep = v[k];
      v[k] = v[best];
      v[best] = keep;
    }
    const double pivot = A[k * d + k] != 0.0 ? 1.0 / A[k * d + k] : 0.0;
    for (int i = 0; i < d; ++i) {
      if (i == k) continue;
      const double f = A[i * d + k] * pivot;
      for (int j = 0; j < d; ++j) {
        A[i * d + j] -= f * A[k * d + j];
        X[i * d + j] -= f * X[k * d + j];
      }
      v[i] -= f * v[k];
    }
    for (int j = 0; j < d; ++j) {
      A[k * d + j] *= pivot;
      X[k * d + j] *= pivot;
    }
    v[k] *= pivot;
  }
}

void scree_linear_law_eliminate(const scree_Operator *W, int k, const double *Lr, double *Lu,
                                double *c) {
  const int d = scree_rows_of(W, k);
  const double *C = scree_compliance_of(W, k);
  double A[SCREE_ROWS_MAX * SCREE_ROWS_MAX];
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      A[i * d + j] = Lr[i * d + j];
      for (int m = 0; C && m < d; ++m) A[i * d + j] += Lu[i * d + m] * C[m * d + j];
    }
  solve_rows(d, A, Lu, c);
}

scree_Status scree_linear_laws_factor(scree_LinearLaws *laws, bool *broken) {
  if (laws->W->problem->kind != SCREE_BODIES)
    return scree_graph_system_factor(laws->system, laws->Lu, laws->Lr, broken);
  for (int k = 0; k < laws->W->constraints; ++k)
    scree_linear_law_eliminate(laws->W, k, laws->Lr + scree_square_of(laws->W, k),
                               laws->Lu + scree_square_of(laws->W, k),
                               laws->c + scree_row_of(laws->W, k));
  return scree_graph_system_factor(laws->system, NULL, laws->Lu, broken);
}

/* out = c - L v, block by block; c may be null */
static void subtract_blocks(const scree_Operator *W, const double *c, const double *L,
                            const double *v, double *out) {
  for (int k = 0; k < W->constraints; ++k) {
    const size_t at = scree_row_of(W, k);
    const int d = scree_rows_of(W, k);
    const double *Lk = L + scree_square_of(W, k);
    double sum[SCREE_ROWS_MAX];
    for (int i = 0; i < d; ++i) {
      sum[i] = c ? c[at + (size_t)i] : 0.0;
      for (int j = 0; j < d; ++j) sum[i] -= Lk[i * d + j] * v[at + (size_t)j];
    }
    for (int i = 0; i < d; ++i) out[at + (size_t)i] = sum[i];
  }
}

scree_Status scree_linear_laws_solve(scree_LinearLaws *laws, const double *c, const double *q,
                                     double *r) {
  const scree_Operator *W = laws->W;
  if (W->problem->kind != SCREE_BODIES) {
    subtract_blocks(W, c, laws->Lu, q, r);
    return scree_graph_system_solve(laws->system, r);
  }
  subtract_blocks(W, c, laws->Lu, q, laws->t);
  scree_operator_load(W, laws->t, laws->y);
  const scree_Status status = scree_graph_system_solve(laws->system, laws->y);
  if (status) return status;
  scree_operator_velocity(W, NULL, laws->y, q, laws->t);
  subtract_blocks(W, c, laws->Lu, laws->t, r);
  return SCREE_OK;
}
