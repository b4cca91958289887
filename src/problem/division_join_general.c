/* The whole problem on rank 0 where the parts have constraints of any size alone (see division.h).
 *
 * A record has the numbers of a constraint, as doubles: its rows, how many bodies it touches, their
 * numbers in the whole world, its blocks, C if any part has one, q, and the set. */
#include "core/log.h"
#include "core/memory.h"
#include "problem/division.h"

#include <string.h>

/* Numbers behind the blocks and q: mu, the kind of the set, a, b. */
enum { HEAD = 2, SET = 4 };

static size_t record_size(size_t rows, size_t touches, size_t nb, bool compliance) {
  return HEAD + touches + rows * touches * nb + (compliance ? rows * rows : 0) + rows + SET;
}

static size_t pack(const scree_Division *division, bool compliance, double *at) {
  const scree_Problem *p = &division->problem;
  const scree_GeneralRows *g = &p->general;
  const double *C = g->C;
  size_t total = 0;
  for (int k = 0; k < g->count; ++k) {
    const size_t rows = g->row[k + 1] - g->row[k], first = g->entry[k], end = g->entry[k + 1];
    const size_t size = record_size(rows, end - first, (size_t)p->bodies.nb, compliance);
    const size_t blocks = g->block[end] - g->block[first];
    total += size;
    if (!at) continue;
    *at++ = (double)rows;
    *at++ = (double)(end - first);
    for (size_t e = first; e < end; ++e) *at++ = division->global[g->vertex[e]];
    memcpy(at, g->B + g->block[first], blocks * sizeof *at);
    at += blocks;
    for (size_t i = 0; compliance && i < rows * rows; ++i) *at++ = C ? *C++ : 0;
    memcpy(at, p->q + g->row[k], rows * sizeof *at);
    at += rows;
    *at++ = p->mu[k];
    *at++ = p->set[k];
    *at++ = p->set_a[k];
    *at++ = p->set_b[k];
  }
  return total;
}

/* The graph of the records (numbers of them): sizes, then bodies in the order of the world. */
typedef struct Graph {
  int constraints, bodies;
  int *rows, *touches, *touched, *index; /* (constraints) twice, (entries), (bodies of the world) */
} Graph;

static void count_records(const double *all, size_t numbers, size_t nb, bool compliance,
                          Graph *graph, size_t *entries) {
  graph->constraints = 0;
  *entries = 0;
  for (size_t at = 0; at < numbers; ++graph->constraints) {
    const size_t touches = (size_t)all[at + 1];
    *entries += touches;
    at += record_size((size_t)all[at], touches, nb, compliance);
  }
}

static void fill_graph(const double *all, size_t nb, bool compliance, int world, Graph *graph) {
  for (int b = 0; b < world; ++b) graph->index[b] = -1;
  for (int pass = 0; pass < 2; ++pass) {
    int *to = graph->touched;
    const double *at = all;
    for (int k = 0; k < graph->constraints; ++k) {
      const int rows = (int)at[0], touches = (int)at[1];
      for (int j = 0; j < touches; ++j) {
        const int body = (int)at[HEAD + j];
        if (pass == 0)
          graph->index[body] = 0;
        else
          *to++ = graph->index[body];
      }
      graph->rows[k] = rows;
      graph->touches[k] = touches;
      at += record_size((size_t)rows, (size_t)touches, nb, compliance);
    }
    graph->bodies = pass == 0 ? 0 : graph->bodies;
    for (int b = 0; pass == 0 && b < world; ++b)
      if (graph->index[b] >= 0) graph->index[b] = graph->bodies++;
  }
}

static void unpack(const double *at, bool compliance, scree_Problem *p) {
  const scree_GeneralRows *g = &p->general;
  double *C = g->C;
  for (int k = 0; k < g->count; ++k) {
    const size_t rows = g->row[k + 1] - g->row[k], first = g->entry[k], end = g->entry[k + 1];
    const size_t blocks = g->block[end] - g->block[first];
    at += HEAD + (end - first);
    memcpy(g->B + g->block[first], at, blocks * sizeof *at);
    at += blocks;
    for (size_t i = 0; compliance && i < rows * rows; ++i) *C++ = *at++;
    memcpy(p->q + g->row[k], at, rows * sizeof *at);
    at += rows;
    p->mu[k] = *at++;
    p->set[k] = (uint8_t)*at++;
    p->set_a[k] = *at++;
    p->set_b[k] = *at++;
  }
}

static scree_Status make_whole(const scree_Division *division, bool compliance, const double *all,
                               size_t numbers, scree_Arena *arena, scree_Problem *whole,
                               const scree_Log *log) {
  const scree_Problem *p = &division->problem;
  const size_t nb = (size_t)p->bodies.nb;
  Graph graph;
  size_t entries;
  count_records(all, numbers, nb, compliance, &graph, &entries);
  graph.rows = SCREE_TAKE_RAW(arena, int, graph.constraints);
  graph.touches = SCREE_TAKE_RAW(arena, int, graph.constraints);
  graph.touched = SCREE_TAKE_RAW(arena, int, entries);
  graph.index = SCREE_TAKE_RAW(arena, int, division->bodies);
  if (!graph.rows || !graph.touches || !graph.touched || !graph.index)
    return scree_fail_memory(log, "the whole problem");
  fill_graph(all, nb, compliance, division->bodies, &graph);
  const scree_ProblemLayout layout = {.d = p->d,
                                      .bodies = graph.bodies,
                                      .nb = p->bodies.nb,
                                      .constraints = graph.constraints,
                                      .rows = graph.rows,
                                      .touches = graph.touches,
                                      .touched = graph.touched,
                                      .with_sets = true,
                                      .with_compliance = compliance};
  const scree_Status status = scree_problem_create(whole, &layout, log);
  if (status) return status;
  whole->flow = p->flow;
  unpack(all, compliance, whole);
  return SCREE_OK;
}

scree_Status scree_division_join_general(const scree_Division *division, scree_Arena *arena,
                                         scree_Problem *whole, const scree_Log *log) {
  const scree_Ranks *ranks = division->halo.ranks;
  const bool compliance = scree_ranks_any(ranks, division->problem.general.C != NULL);
  const scree_ArenaMark mark = scree_arena_mark(arena);
  const size_t count = pack(division, compliance, NULL);
  double *mine = SCREE_TAKE_RAW(arena, double, count);
  char *all = NULL;
  size_t capacity = 0, bytes = 0;
  scree_Status status = mine ? SCREE_OK : scree_fail_memory(log, "the whole problem");
  status = scree_ranks_agree(ranks, status, log);
  if (!status && mine) {
    pack(division, compliance, mine);
    status = scree_ranks_bring(ranks, mine, count * sizeof *mine, &all, &capacity, &bytes, log);
  }
  if (!status && division->rank == 0 && all) /* some rank has a constraint */
    status = make_whole(division, compliance, (const double *)(void *)all, bytes / sizeof(double),
                        arena, whole, log);
  scree_free(all);
  scree_arena_release(arena, mark);
  return scree_ranks_agree(ranks, status, log);
}
