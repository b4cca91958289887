/* Assembling and solving the systems of Newton-like methods (see graph_system.h). */
#include "solver/graph_system.h"

#include "core/log.h"
#include "problem/general.h"
#include "problem/pieces.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/* ---- pattern ----------------------------------------------------------------------------------
 */

typedef struct Pattern {
  int n;
  size_t *row; /* (n + 1) */
  int *col;    /* (row[n]) ascending in each row */
} Pattern;

static bool pattern_allocate(Pattern *pattern, scree_Arena *arena, int n, size_t most) {
  pattern->n = n;
  pattern->row = SCREE_TAKE(arena, size_t, n + 1);
  pattern->col = SCREE_TAKE_RAW(arena, int, most);
  return pattern->row && pattern->col;
}

/* Rows of the body graph: each body itself and those it touches. Body b is appended to its own row
 * and to those of its neighbours; since bodies come in ascending order, so do the entries of each
 * row, and duplicate entries are adjacent. `end` (n) is work space; there is room for one entry
 * more than a body has contacts. */
static void pattern_of_bodies(const scree_Operator *W, size_t *end, Pattern *pattern) {
  const int *body = W->problem->bodies.body, n = pattern->n;
  int *col = pattern->col;
  for (int b = 0; b < n; ++b) end[b] = W->body_row[b] + (size_t)b;
  for (int b = 0; b < n; ++b) {
    col[end[b]++] = b;
    for (size_t e = W->body_row[b]; e < W->body_row[b + 1]; ++e) {
      const int other = body[W->body_entry[e] ^ 1];
      if (other < 0) continue;
      const size_t at = end[other];
      if (at > W->body_row[other] + (size_t)other && col[at - 1] == b) continue;
      col[end[other]++] = b;
    }
  }
  size_t filled = 0;
  for (int b = 0; b < n; ++b) { /* close the gaps left by obstacles and repeated pairs */
    const size_t start = W->body_row[b] + (size_t)b, count = end[b] - start;
    memmove(col + filled, col + start, count * sizeof *col);
    filled += count;
    pattern->row[b + 1] = filled;
  }
}

/* The pattern of W, made symmetric where the file's is not: each row merged with the same column.
 * `start` (n + 1) and `list` (as many as W has blocks) are work space. */
static void pattern_of_blocks(const scree_BlockRows *rows, size_t *start, int *list,
                              Pattern *pattern) {
  const size_t n = (size_t)pattern->n, nnz = rows->row[n];
  memset(start, 0, (n + 1) * sizeof *start);
  for (size_t k = 0; k < nnz; ++k) ++start[rows->col[k]];
  for (size_t c = 1; c < n; ++c) start[c] += start[c - 1]; /* ends, */
  start[n] = nnz;
  for (size_t c = n; c-- > 0;) /* iterating backwards turns ends into starts */
    for (size_t k = rows->row[c]; k < rows->row[c + 1]; ++k) list[--start[rows->col[k]]] = (int)c;
  size_t filled = 0;
  for (size_t c = 0; c < n; ++c) {
    const int *a = rows->col + rows->row[c], *a_end = rows->col + rows->row[c + 1];
    const int *b = list + start[c], *b_end = list + start[c + 1];
    while (a < a_end || b < b_end) {
      const int next = b == b_end || (a < a_end && *a < *b) ? *a : *b;
      a += a < a_end && *a == next;
      b += b < b_end && *b == next;
      pattern->col[filled++] = next;
    }
    pattern->row[c + 1] = filled;
  }
}

/* Whether the nodes are pieces of vertices: for all problems except those of contacts and bodies
 * that fit a node. */
static bool has_pieces(const scree_Problem *p) {
  return p->kind == SCREE_BODIES &&
         (p->general.count || p->vertices.count || p->bodies.nb > SCREE_FACTOR_BLOCK_MAX);
}

static int piece_of(const scree_Problem *p) {
  return scree_piece_size(p->bodies.nb, p->vertices.count, p->vertices.size);
}

void scree_graph_system_nodes(const scree_Operator *W, int *n, int *nb) {
  const scree_Problem *p = W->problem;
  if (has_pieces(p)) {
    *nb = piece_of(p);
    *n = (int)(W->state_size / (size_t)*nb);
  } else {
    *nb = p->kind == SCREE_BODIES ? p->bodies.nb : p->d;
    *n = p->kind == SCREE_BODIES ? p->bodies.nbodies : p->nc;
  }
}

/* Pairs of vertices that a constraint or E joins, numbered as in the state: the ground comes
 * between the bodies and the further vertices. */
static size_t list_pairs(const scree_Problem *p, int *pair) {
  const scree_GeneralRows *g = &p->general;
  const scree_Vertices *v = &p->vertices;
  const int nbodies = p->bodies.nbodies;
  size_t n = 0;
  for (int c = 0; c < p->nc; ++c, ++n)
    for (int side = 0; pair && side < 2; ++side)
      pair[2 * n + (size_t)side] = p->bodies.body[2 * c + side];
  for (int k = 0; k < g->count; ++k)
    for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e)
      for (size_t f = g->entry[k]; f < e; ++f, ++n) {
        if (!pair) continue;
        pair[2 * n] = g->vertex[e] + (g->vertex[e] >= nbodies);
        pair[2 * n + 1] = g->vertex[f] + (g->vertex[f] >= nbodies);
      }
  for (int k = 0; v->row && k < v->count; ++k)
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j, ++n) {
      if (!pair) continue;
      pair[2 * n] = nbodies + 1 + k;
      pair[2 * n + 1] = nbodies + 1 + v->col[j];
    }
  return n;
}

static scree_Status pattern_of_pieces(const scree_Problem *p, scree_Arena *scratch,
                                      Pattern *pattern, const scree_Log *log) {
  const int vertices = p->bodies.nbodies + 1 + p->vertices.count;
  const size_t pairs = list_pairs(p, NULL);
  int *pair = SCREE_TAKE_RAW(scratch, int, 2 * pairs);
  int *size = SCREE_TAKE_RAW(scratch, int, vertices);
  if (!pair || !size) return scree_fail_memory(log, "the pattern of a system");
  list_pairs(p, pair);
  for (int k = 0; k < vertices; ++k)
    size[k] = k <= p->bodies.nbodies ? p->bodies.nb : p->vertices.size[k - p->bodies.nbodies - 1];
  scree_Pieces pieces;
  const scree_Status status =
      scree_pieces_create(vertices, size, piece_of(p), pairs, pair, scratch, log, &pieces);
  *pattern = (Pattern){.n = pieces.n, .row = pieces.row, .col = pieces.col};
  return status;
}

static scree_Status pattern_fill(const scree_Operator *W, scree_Arena *scratch, Pattern *pattern,
                                 const scree_Log *log) {
  const scree_Problem *p = W->problem;
  if (has_pieces(p)) return pattern_of_pieces(p, scratch, pattern, log);
  const bool bodies = p->kind == SCREE_BODIES;
  const int n = bodies ? p->bodies.nbodies : p->nc;
  const size_t blocks = bodies ? 0 : p->blocks.row[n];
  const size_t most = bodies ? W->body_row[n] + (size_t)n : 2 * blocks;
  size_t *work = SCREE_TAKE_RAW(scratch, size_t, n + 1);
  int *list = SCREE_TAKE_RAW(scratch, int, blocks);
  if (!work || !list || !pattern_allocate(pattern, scratch, n, most))
    return scree_fail_memory(log, "the pattern of a system");
  if (bodies)
    pattern_of_bodies(W, work, pattern);
  else
    pattern_of_blocks(&p->blocks, work, list, pattern);
  return SCREE_OK;
}

static size_t find_block(const scree_GraphSystem *system, int row, int col) {
  size_t lo = system->row[row], hi = system->row[row + 1];
  while (lo + 1 < hi) {
    const size_t mid = (lo + hi) / 2;
    if (system->col[mid] <= col)
      lo = mid;
    else
      hi = mid;
  }
  assert(system->col[lo] == col); /* the pattern has every block that is asked for */
  return lo;
}

/* The first node of vertex v. */
static int node_of(const scree_GraphSystem *system, int v) {
  return (int)(scree_vertex_start(system->W, v) / (size_t)system->nb);
}

static scree_Status slots_of_contacts(scree_GraphSystem *system, const scree_Log *log) {
  const scree_Problem *p = system->W->problem;
  system->slot = SCREE_TAKE_RAW(&system->slots, int, 4 * (size_t)p->nc);
  if (!system->slot) return scree_fail_memory(log, "the slots of a system");
  for (int c = 0; c < p->nc; ++c)
    for (int k = 0; k < 4; ++k) {
      const int a = p->bodies.body[2 * c + k / 2], b = p->bodies.body[2 * c + k % 2];
      if (a >= 0 && b >= 0)
        system->slot[4 * c + k] = (int)find_block(system, node_of(system, a), node_of(system, b));
    }
  return SCREE_OK;
}

/* Slots of constraints of any size and of coupled vertices, and room for the largest G B. */
static scree_Status slots_of_pieces(scree_GraphSystem *system, const scree_Log *log) {
  const scree_Problem *p = system->W->problem;
  const scree_GeneralRows *g = &p->general;
  const scree_Vertices *v = &p->vertices;
  const size_t couplings = v->row ? v->row[v->count] : 0;
  size_t largest = 2 * (size_t)p->d * (size_t)p->bodies.nb, pairs = 0;
  system->pair = SCREE_TAKE(&system->slots, size_t, g->count + 1);
  if (!system->pair) return scree_fail_memory(log, "the slots of a system");
  for (int k = 0; k < g->count; ++k) {
    const size_t m = g->entry[k + 1] - g->entry[k];
    const size_t room = g->block[g->entry[k + 1]] - g->block[g->entry[k]];
    system->pair[k + 1] = pairs += m * m;
    if (room > largest) largest = room;
  }
  system->pair_slot = SCREE_TAKE_RAW(&system->slots, int, pairs);
  system->coupled_slot = SCREE_TAKE_RAW(&system->slots, int, 2 * couplings);
  system->room = SCREE_TAKE_RAW(&system->slots, double, largest);
  if (!system->pair_slot || !system->coupled_slot || !system->room)
    return scree_fail_memory(log, "the slots of a system");
  pairs = 0;
  for (int k = 0; k < g->count; ++k)
    for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e)
      for (size_t f = g->entry[k]; f < g->entry[k + 1]; ++f)
        system->pair_slot[pairs++] =
            (int)find_block(system, node_of(system, g->vertex[e]), node_of(system, g->vertex[f]));
  for (int k = 0; k < v->count && couplings; ++k)
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      const int a = node_of(system, p->bodies.nbodies + k);
      const int b = node_of(system, p->bodies.nbodies + v->col[j]);
      system->coupled_slot[2 * j] = (int)find_block(system, a, b);
      system->coupled_slot[2 * j + 1] = (int)find_block(system, b, a);
    }
  return SCREE_OK;
}

/* ---- analysis ---------------------------------------------------------------------------------
 */

/* The name of node k: that of its body, or a number. Pieces of a body are numbered from the name of
 * the body; those of the ground and the further vertices get negative names, by their index. */
static int name_of(const scree_GraphSystem *system, const scree_Problem *p, int k) {
  if (p->kind != SCREE_BODIES) return k;
  const int *id = p->bodies.id;
  if (!system->pieces) return id ? id[k] : k;
  const int each = p->bodies.nb / system->nb, bodies = each * p->bodies.nbodies;
  if (k >= bodies) return -1 - (k - bodies);
  const long long name = (long long)(id ? id[k / each] : k / each) * each + k % each;
  return (int)(name % INT_MAX);
}

/* Whether nodes have the size and the names of those of a problem. */
static bool has_nodes_of(const scree_GraphSystem *system, const scree_Operator *W) {
  int n, nb;
  scree_graph_system_nodes(W, &n, &nb);
  if (system->nb != nb || system->n != n || system->pieces != has_pieces(W->problem)) return false;
  for (int k = 0; k < n; ++k)
    if (system->id[k] != name_of(system, W->problem, k)) return false;
  return true;
}

/* Whether the current analysis is that of the pattern and the names of a problem. */
static bool is_analysed(const scree_GraphSystem *system, const scree_Operator *W,
                        const Pattern *pattern) {
  const size_t n = (size_t)pattern->n;
  return system->n == pattern->n &&
         memcmp(system->row, pattern->row, (n + 1) * sizeof *pattern->row) == 0 &&
         memcmp(system->col, pattern->col, pattern->row[n] * sizeof *pattern->col) == 0 &&
         has_nodes_of(system, W);
}

static scree_Status analyse(scree_GraphSystem *system, const scree_Operator *W,
                            const Pattern *pattern, scree_Elimination *elimination,
                            scree_Arena *scratch, const scree_Log *log) {
  scree_Arena *kept = &system->kept;
  const int n = pattern->n;
  scree_arena_reset(kept);
  system->analysed = false;
  system->x = NULL;
  scree_graph_system_nodes(W, &system->n, &system->nb);
  system->pieces = has_pieces(W->problem);
  system->size = (size_t)n * (size_t)system->nb;
  system->row = SCREE_TAKE_RAW(kept, size_t, n + 1);
  system->col = SCREE_TAKE_RAW(kept, int, pattern->row[n]);
  system->id = SCREE_TAKE_RAW(kept, int, n);
  system->work = SCREE_TAKE_RAW(kept, double, system->size);
  system->residual = SCREE_TAKE_RAW(kept, double, system->size);
  if (!system->row || !system->col || !system->id || !system->work || !system->residual)
    return scree_fail_memory(log, "the pattern of a system");
  memcpy(system->row, pattern->row, ((size_t)n + 1) * sizeof *system->row);
  if (n) memcpy(system->col, pattern->col, pattern->row[n] * sizeof *system->col);
  for (int k = 0; k < n; ++k) system->id[k] = name_of(system, W->problem, k);
  scree_FactorOrder order;
  scree_Status status =
      scree_elimination_propose(elimination, n, system->nb, system->id, scratch, log, &order);
  if (!status)
    status = scree_factor_create_in(kept, scratch, n, system->nb, system->row, system->col,
                                    SCREE_FACTOR_UNSYMMETRIC, &order, log, &system->factor);
  if (!status)
    status = scree_elimination_remember(elimination, n, system->nb, system->id, &order,
                                        system->factor, log);
  system->analysed = !status;
  return status;
}

/* Update everything that has changed since the last call. */
static scree_Status update(scree_GraphSystem *system, const scree_Operator *W, int graph,
                           scree_Elimination *elimination, scree_Arena *scratch,
                           const scree_Log *log) {
  const scree_Problem *p = W->problem;
  const bool good = system->analysed && scree_elimination_is_good(elimination);
  if (good && system->graph == graph && has_nodes_of(system, W)) return SCREE_OK;
  Pattern pattern = {0};
  scree_Status status = pattern_fill(W, scratch, &pattern, log);
  if (status || !pattern.row || !pattern.col) return status; /* both are set after success */
  if (!(good && is_analysed(system, W, &pattern)))
    status = analyse(system, W, &pattern, elimination, scratch, log);
  scree_arena_reset(&system->slots);
  if (!status && p->kind == SCREE_BODIES) status = slots_of_contacts(system, log);
  if (!status && system->pieces) status = slots_of_pieces(system, log);
  system->graph = graph;
  return status;
}

scree_Status scree_graph_system_set(scree_GraphSystem *system, const scree_Operator *W, int graph,
                                    scree_Elimination *elimination, scree_Arena *scratch,
                                    const scree_Log *log) {
  const scree_ArenaMark mark = scree_arena_mark(scratch);
  system->W = W;
  system->log = log;
  const scree_Status status = update(system, W, graph, elimination, scratch, log);
  if (status)
    system->analysed = false;
  else
    scree_elimination_use(elimination);
  scree_arena_release(scratch, mark);
  return status;
}

void scree_graph_system_fini(scree_GraphSystem *system) {
  scree_arena_fini(&system->kept);
  scree_arena_fini(&system->slots);
  *system = (scree_GraphSystem){0};
}

/* ---- values -----------------------------------------------------------------------------------
 */

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
    add_product(system, system->slot[4 * c + k], node_of(system, a), d, nb, nb, B + k / 2 * d * nb,
                GB + k % 2 * d * nb);
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
      add_product(system, *slot, node_of(system, g->vertex[e]), d,
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
      const int a = node_of(system, p->bodies.nbodies + k);
      const int b = node_of(system, p->bodies.nbodies + col);
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
    double *x = system->x + find_block(system, b, b) * bb;
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

static void assemble_blocks(scree_GraphSystem *system, const double *L, const double *G) {
  const scree_BlockRows *rows = &system->W->problem->blocks;
  const size_t d = (size_t)system->nb, dd = d * d;
  memset(system->x, 0, system->row[system->n] * dd * sizeof(double));
  for (int c = 0; c < system->n; ++c) {
    const size_t start = rows->row[c], n = rows->row[c + 1] - start;
    size_t at = system->row[c];
    for (size_t k = 0; k < n; ++k) {
      while (system->col[at] != rows->col[start + k]) ++at;
      double *x = system->x + at * dd;
      const double *w = rows->x + start * dd + d * k; /* rows n d apart */
      for (size_t i = 0; i < d; ++i)
        for (size_t j = 0; j < d; ++j) {
          double sum = L ? 0.0 : w[i * d * n + j];
          for (size_t m = 0; L && m < d; ++m)
            sum += L[(size_t)c * dd + i * d + m] * w[m * d * n + j];
          x[i * d + j] = sum;
        }
      if (rows->col[start + k] == c)
        for (size_t i = 0; i < dd; ++i) x[i] += G[(size_t)c * dd + i];
    }
  }
}

scree_Status scree_graph_system_factor(scree_GraphSystem *system, const double *L, const double *G,
                                       bool *broken) {
  const size_t bb = (size_t)system->nb * (size_t)system->nb;
  assert(system->analysed && system->W);
  if (!system->x &&
      !(system->x = SCREE_TAKE_RAW(&system->kept, double, system->row[system->n] * bb)))
    return scree_fail_memory(system->log, "the matrix of a Newton step");
  if (system->W->problem->kind == SCREE_BODIES)
    assemble_bodies(system, G);
  else
    assemble_blocks(system, L, G);
  const scree_Status status = scree_factor_compute(system->factor, system->x, NULL);
  if (status == SCREE_INTERRUPTED) return status;
  if (status == SCREE_MACHINE) return scree_fail_memory(system->log, "a factorisation");
  *broken = status != SCREE_OK;
  return SCREE_OK;
}

/* ---- solving ----------------------------------------------------------------------------------
 */

SCREE_INLINE void subtract_product(const scree_GraphSystem *system, int nb, const double *v,
                                   double *out) {
  for (int a = 0; a < system->n; ++a) {
    double *o = out + (size_t)a * (size_t)nb;
    for (size_t k = system->row[a]; k < system->row[a + 1]; ++k) {
      const double *x = system->x + k * (size_t)(nb * nb);
      const double *w = v + (size_t)system->col[k] * (size_t)nb;
      for (int i = 0; i < nb; ++i)
        for (int j = 0; j < nb; ++j) o[i] -= x[i * nb + j] * w[j];
    }
  }
}

void scree_graph_system_solve(scree_GraphSystem *system, double *b) {
  assert(system->analysed && system->x); /* it was factorised */
  const size_t bytes = system->size * sizeof(double);
  memcpy(system->residual, b, bytes);
  scree_factor_solve(system->factor, system->work, b);
  switch (system->nb) {
  case 2: subtract_product(system, 2, b, system->residual); break;
  case 3: subtract_product(system, 3, b, system->residual); break;
  case 6: subtract_product(system, 6, b, system->residual); break;
  default: subtract_product(system, system->nb, b, system->residual); break;
  }
  scree_factor_solve(system->factor, system->work, system->residual);
  for (size_t i = 0; i < system->size; ++i) b[i] += system->residual[i];
}
