/* Kernels of constraints of any size (see general.h). */
#include "problem/general.h"

void scree_general_motion(const scree_Operator *W, int k, const scree_VertexState *state,
                          bool with_coupled, double *u) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  const size_t rows = g->row[k + 1] - g->row[k];
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    const int v = g->vertex[e];
    if (!with_coupled && scree_is_coupled(W, v)) continue;
    const size_t size = (size_t)scree_vertex_size(p, v);
    const double *B = g->B + g->block[e], *y = scree_vertex_at(W, state, v);
    for (size_t i = 0; i < rows; ++i) {
      double sum = 0.0;
      for (size_t j = 0; j < size; ++j) sum += B[i * size + j] * y[j];
      u[i] += sum;
    }
  }
}

void scree_general_push(const scree_Operator *W, int k, const double *dr,
                        const scree_VertexState *state, bool with_coupled) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  const size_t rows = g->row[k + 1] - g->row[k];
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    const int v = g->vertex[e];
    if (!with_coupled && scree_is_coupled(W, v)) continue;
    const size_t size = (size_t)scree_vertex_size(p, v);
    const double *B = g->B + g->block[e];
    double *y = scree_vertex_at(W, state, v);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < size; ++j) y[j] += B[i * size + j] * dr[i];
  }
}

void scree_general_comply(const scree_Operator *W, int k, const double *r, double *u) {
  const scree_GeneralRows *g = &W->problem->general;
  if (!g->C) return;
  const size_t rows = g->row[k + 1] - g->row[k];
  const double *C = g->C + W->square[k];
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < rows; ++j) u[i] += C[i * rows + j] * r[j];
}

void scree_general_velocity(const scree_Operator *W, int k, const double *r,
                            const scree_VertexState *state, double *u) {
  const scree_Problem *p = W->problem;
  const size_t at = p->general.row[k], rows = p->general.row[k + 1] - at;
  for (size_t i = 0; i < rows; ++i) u[i] = p->q[at + i];
  scree_general_motion(W, k, state, false, u);
  scree_general_comply(W, k, r + at, u);
  if (W->coupling) scree_coupling_velocity(W, k, r, u);
}
