/* Values of the systems of Newton-like methods (see graph_system.h): products B^T G B of single
 * constraints, added where they belong. */
#include "solver/graph_system_internal.h"

#include "problem/general.h"
#include "problem/pieces.h"

#include <string.h>

/* x[slot] += B_a^T (G B_b) for the pairs of bodies of one contact */
SCREE_INLINE void add_contact(scree_GraphSystem *system, int d, int nb, int c, const double *G) {
  const scree_Problem *p = system->W->problem;
  double GB[2 * 3 * 12], room[SCREE_BALL_ROOM];
  const double *B = scree_contact_blocks(p, c, room);
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < nb; ++j) {
        double sum = 0.0;
        for (int k = 0; k < d; ++k) sum += G[i * d + k] * B[(side * d + k) * nb + j];
        GB[(side * d + i) * nb + j] = sum;
      }
  for (int k = 0; k < 4; ++k) {
    const int a = k / 2, b = k % 2;
    if (p->bodies.body[2 * c + a] < 0 || p->bodies.body[2 * c + b] < 0) continue;
    double *x = system->x + (size_t)system->slot[4 * c + k] * (size_t)(nb * nb);
    for (int i = 0; i < nb; ++i)
      for (int j = 0; j < nb; ++j) {
        double sum = 0.0;
        for (int m = 0; m < d; ++m) sum += B[(a * d + m) * nb + i] * GB[(b * d + m) * nb + j];
        x[i * nb + j] += sum;
      }
  }
}

/* x += the block L^T R of two vertices that starts at `slot`, cut into pieces: L (d x rows), R (d x
 * cols). */
static void add_product(scree_GraphSystem *system, int slot, int node, int d, int rows, int cols,
                        const double *L, const double *R) {
  const size_t length = system->row[node + 1] - system->row[node];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      double sum = 0.0;
      for (int m = 0; m < d; ++m) sum += L[m * rows + i] * R[m * cols + j];
      *scree_piece_entry(system->x, system->nb, (size_t)slot, length, i, j) += sum;
    }
}

/* out (d x size) = G (d x d) B (d x size) */
static void multiply_block(int d, int size, const double *G, const double *B, double *out) {
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < size; ++j) {
      double sum = 0.0;
      for (int k = 0; k < d; ++k) sum += G[i * d + k] * B[k * size + j];
      out[i * size + j] = sum;
    }
}

static void add_contact_pieces(scree_GraphSystem *system, int c, const double *G) {
  const scree_Problem *p = system->W->problem;
  const int d = p->d, nb = p->bodies.nb;
  double room[SCREE_BALL_ROOM], *GB = system->room;
  const double *B = scree_contact_blocks(p, c, room);
  for (int side = 0; side < 2; ++side)
    multiply_block(d, nb, G, B + side * d * nb, GB + side * d * nb);
  for (int k = 0; k < 4; ++k) {
    const int a = p->bodies.body[2 * c + k / 2], b = p->bodies.body[2 * c + k % 2];
    if (a < 0 || b < 0) continue;
    add_product(system, system->slot[4 * c + k], scree_graph_system_node(system, a), d, nb, nb,
                B + k / 2 * d * nb, GB + k % 2 * d * nb);
  }
}

static void add_general(scree_GraphSystem *system, int k, const double *G) {
  const scree_Problem *p = system->W->problem;
  const scree_GeneralRows *g = &p->general;
  const int d = (int)(g->row[k + 1] - g->row[k]);
  const size_t first = g->entry[k], end = g->entry[k + 1];
  double *GB = system->room;
  for (size_t e = first; e < end; ++e)
    multiply_block(d, scree_vertex_size(p, g->vertex[e]), G, g->B + g->block[e],
                   GB + (g->block[e] - g->block[first]));
  const int *slot = system->pair_slot + system->pair[k];
  for (size_t e = first; e < end; ++e)
    for (size_t f = first; f < end; ++f, ++slot)
      add_product(system, *slot, scree_graph_system_node(system, g->vertex[e]), d,
                  scree_vertex_size(p, g->vertex[e]), scree_vertex_size(p, g->vertex[f]),
                  g->B + g->block[e], GB + (g->block[f] - g->block[first]));
}

/* x += E */
static void add_coupling(scree_GraphSystem *system) {
  const scree_Problem *p = system->W->problem;
  const scree_Vertices *v = &p->vertices;
  const double *E = v->x;
  for (int k = 0; v->row && k < v->count; ++k)
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      const int col = v->col[j];
      const int a = scree_graph_system_node(system, p->bodies.nbodies + k);
      const int b = scree_graph_system_node(system, p->bodies.nbodies + col);
      const size_t slot[2] = {(size_t)system->coupled_slot[2 * j],
                              (size_t)system->coupled_slot[2 * j + 1]};
      const int rows = v->size[k], cols = v->size[col];
      scree_piece_add(system->x, system->nb, slot[0], system->row[a + 1] - system->row[a], rows,
                      cols, E, false);
      scree_piece_add(system->x, system->nb, slot[1], system->row[b + 1] - system->row[b], cols,
                      rows, E, true);
      E += (size_t)rows * (size_t)cols;
    }
}

static void assemble_pieces(scree_GraphSystem *system, const double *G) {
  const scree_Operator *W = system->W;
  for (int c = 0; c < W->problem->nc; ++c) add_contact_pieces(system, c, G + scree_square_of(W, c));
  for (int k = 0; k < W->problem->general.count; ++k)
    add_general(system, k, G + scree_square_of(W, W->problem->nc + k));
  add_coupling(system);
}

/* The same for rigid bodies in space: rows of six numbers as four and two. Sums run in the order of
 * add_contact, so the bits are the same. */
SCREE_INLINE void add_contact_3d(scree_GraphSystem *system, int c, const double *G) {
  const scree_Problem *p = system->W->problem;
  double room[SCREE_BALL_ROOM];
  const double *B = scree_contact_blocks(p, c, room);
  scree_Lane wide[2][3];
  scree_Pair narrow[2][3];
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < 3; ++i) {
      const double *row = B + side * 18;
      wide[side][i] = G[i * 3] * scree_lane_load(row) + G[i * 3 + 1] * scree_lane_load(row + 6) +
                      G[i * 3 + 2] * scree_lane_load(row + 12);
      narrow[side][i] = G[i * 3] * *(const scree_PairAnywhere *)(row + 4) +
                        G[i * 3 + 1] * *(const scree_PairAnywhere *)(row + 10) +
                        G[i * 3 + 2] * *(const scree_PairAnywhere *)(row + 16);
    }
  for (int k = 0; k < 4; ++k) {
    const int a = k / 2, b = k % 2;
    if (p->bodies.body[2 * c + a] < 0 || p->bodies.body[2 * c + b] < 0) continue;
    double *x = system->x + (size_t)system->slot[4 * c + k] * 36;
    for (int i = 0; i < 6; ++i, x += 6) {
      const double *column = B + a * 18 + i;
      *scree_lane_at(x) +=
          column[0] * wide[b][0] + column[6] * wide[b][1] + column[12] * wide[b][2];
      *(scree_PairAnywhere *)(x + 4) +=
          column[0] * narrow[b][0] + column[6] * narrow[b][1] + column[12] * narrow[b][2];
    }
  }
}

SCREE_CLONES static void add_contacts_3d(scree_GraphSystem *system, const double *G) {
  for (int c = 0; c < system->W->problem->nc; ++c) add_contact_3d(system, c, G + (size_t)c * 9);
}

SCREE_CLONES static void add_contacts_2d(scree_GraphSystem *system, const double *G) {
  for (int c = 0; c < system->W->problem->nc; ++c) add_contact(system, 2, 3, c, G + (size_t)c * 4);
}

static void assemble_bodies(scree_GraphSystem *system, const double *G) {
  const scree_Problem *p = system->W->problem;
  const int d = p->d, nb = system->nb;
  const size_t bb = (size_t)nb * (size_t)nb, dd = (size_t)d * (size_t)d;
  memset(system->x, 0, system->row[system->n] * bb * sizeof(double));
  for (int b = 0; b < system->n; ++b) {
    if (system->shared && !scree_shared_factor_owns(system->shared, b)) continue;
    double *x = system->x + scree_graph_system_block(system, b, b) * bb;
    for (int i = 0; i < nb; ++i) x[i * nb + i] = 1.0;
  }
  if (system->pieces)
    assemble_pieces(system, G);
  else if (d == 3 && nb == 6)
    add_contacts_3d(system, G);
  else if (d == 2 && nb == 3)
    add_contacts_2d(system, G);
  else
    for (int c = 0; c < p->nc; ++c) add_contact(system, d, nb, c, G + (size_t)c * dd);
}

/* x (d x d) = L w, or w where L is null; the rows of w are `stride` apart. */
SCREE_INLINE void put_block(size_t d, const double *L, const double *w, size_t stride, double *x) {
  for (size_t i = 0; i < d; ++i)
    for (size_t j = 0; j < d; ++j) {
      double sum = L ? 0.0 : w[i * stride + j];
      for (size_t m = 0; L && m < d; ++m) sum += L[i * d + m] * w[m * stride + j];
      x[i * d + j] = sum;
    }
}

SCREE_INLINE void put_rows(scree_GraphSystem *system, size_t d, const double *L, const double *G) {
  const scree_BlockRows *rows = &system->W->problem->blocks;
  const size_t dd = d * d;
  memset(system->x, 0, system->row[system->n] * dd * sizeof(double));
  for (int c = 0; c < system->n; ++c) {
    const size_t start = rows->row[c], n = rows->row[c + 1] - start;
    const double *Lc = L ? L + (size_t)c * dd : NULL;
    size_t at = system->row[c];
    for (size_t k = 0; k < n; ++k) {
      while (system->col[at] != rows->col[start + k]) ++at;
      double *x = system->x + at * dd;
      put_block(d, Lc, rows->x + start * dd + d * k, d * n, x);
      if (rows->col[start + k] == c)
        for (size_t i = 0; i < dd; ++i) x[i] += G[(size_t)c * dd + i];
    }
  }
}

static void assemble_blocks(scree_GraphSystem *system, const double *L, const double *G) {
  if (system->nb == 2)
    put_rows(system, 2, L, G);
  else
    put_rows(system, 3, L, G);
}

void scree_graph_system_assemble(scree_GraphSystem *system, const double *L, const double *G) {
  if (system->W->problem->kind == SCREE_BODIES)
    assemble_bodies(system, G);
  else
    assemble_blocks(system, L, G);
}
