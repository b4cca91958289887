/* Kernels of constraints of any size (see general.h). */
#include "problem/general.h"

#include <assert.h>

void scree_general_motion(const scree_Operator *W, int k, const scree_VertexState *state,
                          double *u) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  const size_t rows = g->row[k + 1] - g->row[k];
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    const int v = g->vertex[e];
    const size_t size = (size_t)scree_vertex_size(p, v);
    const double *B = g->B + g->block[e], *y = scree_vertex_at(W, state, v);
    for (size_t i = 0; i < rows; ++i) {
      double sum = 0.0;
      for (size_t j = 0; j < size; ++j) sum += B[i * size + j] * y[j];
      u[i] += sum;
    }
  }
}

/* to += B^T dr for entry e of a constraint */
static void push_vertex(const scree_Problem *p, size_t e, size_t rows, const double *dr,
                        double *to) {
  assert(rows >= 1 && rows <= SCREE_ROWS_MAX);
  const scree_GeneralRows *g = &p->general;
  const size_t size = (size_t)scree_vertex_size(p, g->vertex[e]);
  const double *B = g->B + g->block[e];
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < size; ++j) to[j] += B[i * size + j] * dr[i];
}

void scree_general_push(const scree_Operator *W, int k, const double *dr,
                        const scree_VertexState *state) {
  const scree_GeneralRows *g = &W->problem->general;
  const size_t rows = g->row[k + 1] - g->row[k];
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e)
    push_vertex(W->problem, e, rows, dr, scree_vertex_at(W, state, g->vertex[e]));
}

void scree_general_move(const scree_Operator *W, int k, const double *dr,
                        const scree_VertexState *state) {
  const scree_GeneralRows *g = &W->problem->general;
  const size_t rows = g->row[k + 1] - g->row[k];
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    const int v = g->vertex[e];
    if (!scree_is_coupled(W, v)) {
      push_vertex(W->problem, e, rows, dr, scree_vertex_at(W, state, v));
      continue;
    }
    scree_coupling_push(W, e, rows, dr, state->further);
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
  scree_general_motion(W, k, state, u);
  scree_general_comply(W, k, r + at, u);
}
