/* Factorising A over coupled vertices, and condensed blocks of W (see coupling.h). */
#include "problem/coupling.h"

#include "core/log.h"
#include "problem/pieces.h"

#include <string.h>

/* Doubles of the further vertices, which are contiguous at the end of a state. */
static size_t length_of(const scree_Operator *W) {
  return W->offset[W->problem->vertices.count] - W->offset[0];
}

/* ---- the factor of A --------------------------------------------------------------------------
 */

/* A = I + E in the order of the pattern. */
static void fill_values(const scree_Vertices *v, const scree_Pieces *pieces, double *x) {
  const size_t g = (size_t)pieces->piece;
  memset(x, 0, pieces->row[pieces->n] * g * g * sizeof *x);
  const double *block = v->x;
  for (int k = 0; k < v->count; ++k) {
    size_t length;
    const size_t own = scree_pieces_slot(pieces, k, k, &length);
    for (int i = 0; i < v->size[k]; ++i) {
      const size_t j = (size_t)i;
      x[(own + j / g * (length + 1)) * g * g + (j % g) * (g + 1)] = 1.0;
    }
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      const int col = v->col[j];
      size_t slot = scree_pieces_slot(pieces, k, col, &length);
      scree_pieces_add(pieces, slot, length, v->size[k], v->size[col], block, false, x);
      slot = scree_pieces_slot(pieces, col, k, &length);
      scree_pieces_add(pieces, slot, length, v->size[col], v->size[k], block, true, x);
      block += (size_t)v->size[k] * (size_t)v->size[col];
    }
  }
}

static scree_Status factorise(const scree_Problem *p, scree_Coupling *coupling, scree_Arena *arena,
                              scree_Arena *scratch, const scree_Log *log) {
  const scree_Vertices *v = &p->vertices;
  const size_t pairs = v->row[v->count];
  int *pair = SCREE_TAKE_RAW(scratch, int, 2 * pairs);
  if (!pair) return scree_fail_memory(log, "the coupling of vertices");
  for (int k = 0; k < v->count; ++k)
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      pair[2 * j] = k;
      pair[2 * j + 1] = v->col[j];
      coupling->coupled[k] = coupling->coupled[v->col[j]] = 1;
    }
  scree_Pieces pieces;
  coupling->piece = scree_piece_size(0, v->count, v->size);
  scree_Status status =
      scree_pieces_create(v->count, v->size, coupling->piece, pairs, pair, scratch, log, &pieces);
  if (status) return status;
  coupling->nodes = pieces.n;
  const size_t g = (size_t)pieces.piece;
  double *x = SCREE_TAKE_RAW(scratch, double, pieces.row[pieces.n] * g * g);
  if (!x) return scree_fail_memory(log, "the coupling of vertices");
  fill_values(v, &pieces, x);
  status = scree_factor_create_in(arena, scratch, pieces.n, pieces.piece, pieces.row, pieces.col,
                                  SCREE_FACTOR_SYMMETRIC, NULL, log, &coupling->factor);
  int perturbed = 0;
  if (!status) status = scree_factor_compute(coupling->factor, x, &perturbed);
  if (status == SCREE_MACHINE) return scree_fail_memory(log, "the coupling of vertices");
  if (status || perturbed || scree_factor_negative(coupling->factor))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: the inertia of the coupled vertices has %d pivots that are not "
                      "positive, expected a positive definite matrix",
                      status ? pieces.n : perturbed + scree_factor_negative(coupling->factor));
  return SCREE_OK;
}

void scree_coupling_solve(const scree_Operator *W, double *y) {
  scree_factor_solve(W->coupling->factor, W->coupling->work, y + W->offset[0]);
}

void scree_coupling_multiply(const scree_Operator *W, const double *y, double *out) {
  const scree_Vertices *v = &W->problem->vertices;
  const double *x = v->x;
  for (int k = 0; k < v->count; ++k)
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      const int rows = v->size[k], cols = v->size[v->col[j]];
      const size_t a = W->offset[k], b = W->offset[v->col[j]];
      for (int i = 0; i < rows; ++i)
        for (int m = 0; m < cols; ++m, ++x) {
          out[a + (size_t)i] += *x * y[b + (size_t)m];
          out[b + (size_t)m] += *x * y[a + (size_t)i];
        }
    }
}

/* ---- condensed W ------------------------------------------------------------------------------
 */

static int find_root(int *parent, int v) {
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}

/* The deformable body (a root) that constraint k touches, joining all that it touches; -1: none. */
static int body_of(const scree_Problem *p, const scree_Coupling *coupling, int k, int *parent) {
  const scree_GeneralRows *g = &p->general;
  int root = -1;
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    const int v = g->vertex[e] - p->bodies.nbodies;
    if (v < 0 || !coupling->coupled[v]) continue;
    const int other = find_root(parent, v);
    if (root < 0)
      root = other;
    else if (other != root)
      parent[other > root ? other : root] = other > root ? root : other;
    root = find_root(parent, root);
  }
  return root;
}

/* B_c^T of row i of constraint k over the coupled vertices, into x (zeroed). */
static void scatter_row(const scree_Operator *W, const scree_Coupling *coupling, int k, size_t i,
                        double *x) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    const int v = g->vertex[e] - p->bodies.nbodies;
    if (v < 0 || !coupling->coupled[v]) continue;
    const size_t size = (size_t)p->vertices.size[v];
    const double *B = g->B + g->block[e] + i * size;
    for (size_t j = 0; j < size; ++j) x[W->offset[v] - W->offset[0] + j] = B[j];
  }
}

/* Row i of B of constraint k times x over the coupled vertices. */
static double gather_row(const scree_Operator *W, const scree_Coupling *coupling, int k, size_t i,
                         const double *x) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  double sum = 0.0;
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    const int v = g->vertex[e] - p->bodies.nbodies;
    if (v < 0 || !coupling->coupled[v]) continue;
    const size_t size = (size_t)p->vertices.size[v];
    const double *B = g->B + g->block[e] + i * size;
    for (size_t j = 0; j < size; ++j) sum += B[j] * x[W->offset[v] - W->offset[0] + j];
  }
  return sum;
}

static size_t rows_of(const scree_GeneralRows *g, int k) {
  return g->row[k + 1] - g->row[k];
}

/* Blocks of column k: W_ck = B_c (A^-1 B_k^T) for all c of the same body. */
static void fill_column(const scree_Operator *W, scree_Coupling *coupling, int k, double *x) {
  const scree_GeneralRows *g = &W->problem->general;
  const size_t rows = rows_of(g, k);
  for (size_t i = 0; i < rows; ++i) {
    memset(x, 0, length_of(W) * sizeof *x);
    scatter_row(W, coupling, k, i, x);
    scree_factor_solve(coupling->factor, coupling->work, x);
    for (size_t e = coupling->row[k]; e < coupling->row[k + 1]; ++e) {
      const int c = coupling->col[e]; /* W is symmetric: block (k, c) is the transpose of (c, k) */
      for (size_t j = 0; j < rows_of(g, c); ++j)
        coupling->values[coupling->block[e] + i * rows_of(g, c) + j] =
            gather_row(W, coupling, c, j, x);
    }
  }
}

static scree_Status condense(const scree_Operator *W, scree_Coupling *coupling, scree_Arena *arena,
                             scree_Arena *scratch, const scree_Log *log) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  const int count = g->count;
  int *parent = SCREE_TAKE_RAW(scratch, int, p->vertices.count);
  int *body = SCREE_TAKE_RAW(scratch, int, count);
  int *first = SCREE_TAKE_RAW(scratch, int, p->vertices.count);
  int *next = SCREE_TAKE_RAW(scratch, int, count);
  double *x = SCREE_TAKE_RAW(scratch, double, length_of(W));
  coupling->row = SCREE_TAKE(arena, size_t, count + 1);
  if (!parent || !body || !first || !next || !x || !coupling->row)
    return scree_fail_memory(log, "the condensed blocks of W");
  for (int v = 0; v < p->vertices.count; ++v) parent[v] = v;
  for (int v = 0; v < p->vertices.count; ++v)
    for (size_t j = p->vertices.row[v]; j < p->vertices.row[v + 1]; ++j) {
      const int a = find_root(parent, v), b = find_root(parent, p->vertices.col[j]);
      parent[a > b ? a : b] = a > b ? b : a;
    }
  for (int k = 0; k < count; ++k) body_of(p, coupling, k, parent);
  for (int v = 0; v < p->vertices.count; ++v) first[v] = -1;
  for (int k = count - 1; k >= 0; --k) { /* lists of the constraints of each body, ascending */
    body[k] = body_of(p, coupling, k, parent);
    if (body[k] < 0) continue;
    next[k] = first[body[k]];
    first[body[k]] = k;
  }
  size_t blocks = 0, numbers = 0;
  for (int k = 0; k < count; ++k) {
    for (int c = body[k] < 0 ? -1 : first[body[k]]; c >= 0; c = next[c]) {
      ++blocks;
      numbers += rows_of(g, k) * rows_of(g, c);
    }
    coupling->row[k + 1] = blocks;
  }
  coupling->col = SCREE_TAKE_RAW(arena, int, blocks);
  coupling->block = SCREE_TAKE_RAW(arena, size_t, blocks);
  coupling->values = SCREE_TAKE_RAW(arena, double, numbers);
  if (!coupling->col || !coupling->block || !coupling->values)
    return scree_fail_memory(log, "the condensed blocks of W");
  blocks = numbers = 0;
  for (int k = 0; k < count; ++k)
    for (int c = body[k] < 0 ? -1 : first[body[k]]; c >= 0; c = next[c]) {
      coupling->col[blocks] = c;
      coupling->block[blocks++] = numbers;
      numbers += rows_of(g, k) * rows_of(g, c);
    }
  for (int k = 0; k < count; ++k)
    if (body[k] >= 0) fill_column(W, coupling, k, x);
  return SCREE_OK;
}

void scree_coupling_velocity(const scree_Operator *W, int k, const double *r, double *u) {
  const scree_GeneralRows *g = &W->problem->general;
  const scree_Coupling *coupling = W->coupling;
  const size_t rows = rows_of(g, k);
  for (size_t e = coupling->row[k]; e < coupling->row[k + 1]; ++e) {
    const int c = coupling->col[e];
    const size_t width = rows_of(g, c);
    const double *x = coupling->values + coupling->block[e], *rc = r + g->row[c];
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < width; ++j) u[i] += x[i * width + j] * rc[j];
  }
}

void scree_coupling_diagonal(const scree_Operator *W, int k, double *D) {
  const scree_Coupling *coupling = W->coupling;
  const size_t rows = rows_of(&W->problem->general, k);
  for (size_t e = coupling->row[k]; e < coupling->row[k + 1]; ++e)
    if (coupling->col[e] == k)
      for (size_t i = 0; i < rows * rows; ++i) D[i] += coupling->values[coupling->block[e] + i];
}

/* ---- create and destroy -----------------------------------------------------------------------
 */

scree_Status scree_coupling_create(const scree_Operator *W, scree_Arena *arena,
                                   const scree_Log *log, const scree_Coupling **out) {
  const scree_Problem *p = W->problem;
  *out = NULL;
  if (!p->vertices.row || !p->vertices.row[p->vertices.count]) return SCREE_OK;
  scree_Coupling *coupling = SCREE_TAKE(arena, scree_Coupling, 1);
  if (coupling) coupling->coupled = SCREE_TAKE(arena, uint8_t, p->vertices.count);
  if (coupling) coupling->work = SCREE_TAKE_RAW(arena, double, length_of(W));
  if (!coupling || !coupling->coupled || !coupling->work)
    return scree_fail_memory(log, "the coupling of vertices");
  scree_Arena scratch = {0};
  scree_Status status = factorise(p, coupling, arena, &scratch, log);
  if (!status) status = condense(W, coupling, arena, &scratch, log);
  scree_arena_fini(&scratch);
  if (!status) *out = coupling;
  return status;
}
