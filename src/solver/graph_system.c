/* Assembling and solving the systems of Newton-like methods (see graph_system.h). */
#include "solver/graph_system_internal.h"

#include "core/log.h"
#include "problem/general.h"
#include "problem/pieces.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

const char *const scree_graph_system_methods[] = {"direct", "boomeramg", "gamg", NULL};

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
    if (scree_is_divided(W)) *n = p->bodies.nbodies; /* whole bodies, and no ground: see set_part */
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

static scree_Status slots_of_contacts(scree_GraphSystem *system, const scree_Log *log) {
  const scree_Problem *p = system->W->problem;
  system->slot = SCREE_TAKE_RAW(&system->slots, int, 4 * (size_t)p->nc);
  if (!system->slot) return scree_fail_memory(log, "the slots of a system");
  for (int c = 0; c < p->nc; ++c)
    for (int k = 0; k < 4; ++k) {
      const int a = p->bodies.body[2 * c + k / 2], b = p->bodies.body[2 * c + k % 2];
      if (a >= 0 && b >= 0)
        system->slot[4 * c + k] = (int)scree_graph_system_block(
            system, scree_graph_system_node(system, a), scree_graph_system_node(system, b));
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
            (int)scree_graph_system_block(system, scree_graph_system_node(system, g->vertex[e]),
                                          scree_graph_system_node(system, g->vertex[f]));
  for (int k = 0; k < v->count && couplings; ++k)
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      const int a = scree_graph_system_node(system, p->bodies.nbodies + k);
      const int b = scree_graph_system_node(system, p->bodies.nbodies + v->col[j]);
      system->coupled_slot[2 * j] = (int)scree_graph_system_block(system, a, b);
      system->coupled_slot[2 * j + 1] = (int)scree_graph_system_block(system, b, a);
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

/* Keep the pattern and the names of the nodes; with them goes all that was made for others. */
static scree_Status keep_pattern(scree_GraphSystem *system, const scree_Operator *W,
                                 const Pattern *pattern, const scree_Log *log) {
  scree_Arena *kept = &system->kept;
  const int n = pattern->n;
  assert(pattern->row && pattern->col);
  scree_arena_reset(kept);
  system->factor = NULL;
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
  return SCREE_OK;
}

static scree_Status analyse(scree_GraphSystem *system, const scree_Operator *W,
                            const Pattern *pattern, scree_Elimination *elimination,
                            scree_Arena *scratch, const scree_Log *log) {
  scree_Arena *kept = &system->kept;
  const int n = pattern->n;
  scree_FactorOrder order;
  scree_Status status = keep_pattern(system, W, pattern, log);
  if (!status)
    status =
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

/* ---- several ranks -----------------------------------------------------------------------------
 */

/* Whether bodies are nodes, also where constraints of any size make them pieces: one each. */
static bool has_whole_bodies(const scree_Problem *p) {
  return p->kind != SCREE_BODIES || (!p->vertices.count && p->bodies.nb <= SCREE_FACTOR_BLOCK_MAX);
}

bool scree_graph_system_fits(const scree_Operator *W) {
  return !scree_is_divided(W) || (SCREE_SHARED_FACTORS && has_whole_bodies(W->problem));
}

/* Of an assembled W the rows as they are: their columns may be contacts of other ranks. */
static scree_Status pattern_of_part(const scree_Operator *W, scree_Arena *scratch, Pattern *pattern,
                                    const scree_Log *log) {
  const scree_Problem *p = W->problem;
  if (!has_whole_bodies(p))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "bodies of %d components: factorisations on several ranks have at most %d",
                      p->bodies.nb, (int)SCREE_FACTOR_BLOCK_MAX);
  if (p->kind == SCREE_BODIES) {
    const scree_Status status = pattern_fill(W, scratch, pattern, log);
    pattern->n = p->bodies.nbodies; /* of pieces the ground is the last, and alone */
    return status;
  }
  *pattern = (Pattern){.n = p->nc, .row = p->blocks.row, .col = p->blocks.col};
  return SCREE_OK;
}

static scree_Status set_part(scree_GraphSystem *system, const scree_Operator *W,
                             scree_Arena *scratch, const scree_Log *log) {
  const scree_Ranks *ranks = scree_ranks_of(W);
  Pattern pattern = {0};
  scree_graph_system_end(system);
  system->analysed = false;
  scree_Status status = pattern_of_part(W, scratch, &pattern, log);
  if (!status) status = keep_pattern(system, W, &pattern, log);
  scree_arena_reset(&system->slots);
  if (!status && W->problem->kind == SCREE_BODIES) status = slots_of_contacts(system, log);
  if (!status && system->pieces) status = slots_of_pieces(system, log);
  status = scree_ranks_agree(ranks, status, log);
  if (!status)
    status = scree_shared_factor_create(W->halo, system->n, system->row, system->col, log,
                                        &system->shared);
  if (!status) status = scree_shared_factor_work(system->shared, &system->shared_work);
  if (!status && scree_ranks_rank(ranks) == 0)
    scree_report(log, SCREE_LOG_DETAIL, "MUMPS: %.3g operations, %.3g numbers of a factor",
                 system->shared_work.flops, system->shared_work.entries);
  system->analysed = !status;
  return status;
}

void scree_graph_system_end(scree_GraphSystem *system) {
  if (!system->shared) return;
  scree_shared_factor_destroy(system->shared);
  system->shared = NULL;
  system->analysed = false;
}

/* ------------------------------------------------------------------------------------------------
 */

scree_Status scree_graph_system_set(scree_GraphSystem *system, const scree_Operator *W, int graph,
                                    scree_Elimination *elimination, scree_Arena *scratch,
                                    const scree_Log *log) {
  const scree_ArenaMark mark = scree_arena_mark(scratch);
  system->W = W;
  system->log = log;
  system->method = SCREE_SHARED_DIRECT;
  const bool divided = scree_is_divided(W);
  const scree_Status status = divided ? set_part(system, W, scratch, log)
                                      : update(system, W, graph, elimination, scratch, log);
  if (status)
    system->analysed = false;
  else if (!divided)
    scree_elimination_use(elimination);
  scree_arena_release(scratch, mark);
  return status;
}

void scree_graph_system_fini(scree_GraphSystem *system) {
  scree_graph_system_end(system);
  scree_arena_fini(&system->kept);
  scree_arena_fini(&system->slots);
  *system = (scree_GraphSystem){0};
}

/* ---- factorising ------------------------------------------------------------------------------
 */

scree_Status scree_graph_system_factor(scree_GraphSystem *system, const double *L, const double *G,
                                       bool *broken) {
  const size_t bb = (size_t)system->nb * (size_t)system->nb;
  assert(system->analysed && system->W);
  if (!system->x) system->x = SCREE_TAKE_RAW(&system->kept, double, system->row[system->n] * bb);
  scree_Status status =
      system->x ? SCREE_OK : scree_fail_memory(system->log, "the matrix of a Newton step");
  status = scree_ranks_agree(scree_ranks_of(system->W), status, system->log);
  if (status) return status;
  scree_graph_system_assemble(system, L, G);
  if (system->shared)
    return scree_shared_factor_compute(system->shared, system->method, system->x, broken);
  status = scree_factor_compute(system->factor, system->x, NULL);
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

scree_Status scree_graph_system_solve(scree_GraphSystem *system, double *b) {
  assert(system->analysed && system->x); /* it was factorised */
  if (system->shared) return scree_shared_factor_solve(system->shared, b);
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
  return SCREE_OK;
}
