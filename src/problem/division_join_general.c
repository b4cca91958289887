/* The whole problem on rank 0 where the parts have constraints of any size alone (see division.h).
 *
 * A record has the numbers of a constraint, as doubles: its rows, how many vertices it touches, its
 * length; of each vertex the number of its body in the whole world and its place among the vertices
 * of the body (-1: a body of one vertex that is not coupled); its blocks, C if any part has one, q,
 * and the set. The further vertices and their coupling come in records of their own, one for each
 * group, from the first rank that holds it: its number, its length, vertices and their sizes, and
 * for each of these vertices how many others of the group it is coupled with, their places, and the
 * blocks of E. */
#include "core/log.h"
#include "core/memory.h"
#include "problem/division.h"

#include <string.h>

/* Numbers behind the blocks and q: mu, the kind of the set, a, b. */
enum { HEAD = 3, TOUCH = 2, SET = 4, GROUP_HEAD = 3 };

/* ---- constraints into records ----------------------------------------------------------------
 */

static size_t pack(const scree_Division *division, bool compliance, double *at) {
  const scree_Problem *p = &division->problem;
  const scree_GeneralRows *g = &p->general;
  const double *C = g->C;
  size_t total = 0;
  for (int k = 0; k < g->count; ++k) {
    const size_t rows = g->row[k + 1] - g->row[k], first = g->entry[k], end = g->entry[k + 1];
    const size_t blocks = g->block[end] - g->block[first];
    const size_t size =
        HEAD + TOUCH * (end - first) + blocks + (compliance ? rows * rows : 0) + rows + SET;
    total += size;
    if (!at) continue;
    *at++ = (double)rows;
    *at++ = (double)(end - first);
    *at++ = (double)size;
    for (size_t e = first; e < end; ++e) {
      const int block = scree_division_block(division, g->vertex[e]);
      const int group = block - p->bodies.nbodies;
      *at++ = division->global[block];
      *at++ = group < 0 ? -1 : g->vertex[e] - p->bodies.nbodies - division->group[group];
    }
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

/* Groups that this rank is the first to hold. */
static size_t pack_groups(const scree_Division *division, double *at) {
  const scree_Problem *p = &division->problem;
  const scree_Vertices *v = &p->vertices;
  const double *x = v->x;
  size_t total = 0;
  for (int k = 0; k < division->groups; ++k) {
    const int block = p->bodies.nbodies + k, first = division->group[k],
              end = division->group[k + 1];
    const bool mine = division->holder[division->holder_start[block]] == division->rank;
    size_t pairs = 0, numbers = 0;
    for (int i = first; v->row && i < end; ++i)
      for (size_t j = v->row[i]; j < v->row[i + 1]; ++j, ++pairs)
        numbers += (size_t)v->size[i] * (size_t)v->size[v->col[j]];
    const size_t size = GROUP_HEAD + 2 * (size_t)(end - first) + pairs + numbers;
    if (mine) total += size;
    if (mine && at) {
      *at++ = division->global[block];
      *at++ = (double)size;
      *at++ = end - first;
      for (int i = first; i < end; ++i) *at++ = v->size[i];
      for (int i = first; i < end; ++i) *at++ = v->row ? (double)(v->row[i + 1] - v->row[i]) : 0;
      for (int i = first; v->row && i < end; ++i)
        for (size_t j = v->row[i]; j < v->row[i + 1]; ++j) *at++ = v->col[j] - first;
      if (numbers) memcpy(at, x, numbers * sizeof *at);
      at += numbers;
    }
    if (v->row) x += numbers;
  }
  return total;
}

/* ---- the graph of the records ----------------------------------------------------------------
 */

/* Sizes, then vertices; bodies and groups are in the order of the world. */
typedef struct Graph {
  const double *all, *groups; /* the records */
  size_t numbers, group_numbers;
  int constraints, bodies, vertices;
  int *rows, *touches, *touched; /* (constraints) twice, (entries) */
  int *index;                    /* (bodies of the world) body, or first vertex of a group; -1 */
  const double **group;          /* (bodies of the world) record of a group, or null */
  int *size, *col;               /* (vertices), (pairs) */
  size_t *row;                   /* (vertices + 1) */
  size_t entries, pairs;
} Graph;

static void count_records(Graph *graph) {
  for (size_t at = 0; at < graph->numbers; at += (size_t)graph->all[at + 2]) {
    ++graph->constraints;
    graph->entries += (size_t)graph->all[at + 1];
  }
  for (size_t at = 0; at < graph->group_numbers; at += (size_t)graph->groups[at + 1]) {
    const double *record = graph->groups + at, *count = record + GROUP_HEAD + (size_t)record[2];
    const int n = (int)record[2];
    graph->vertices += n;
    for (int k = 0; k < n; ++k) graph->pairs += (size_t)count[k];
  }
}

static bool take_graph(Graph *graph, int world, scree_Arena *arena) {
  graph->rows = SCREE_TAKE_RAW(arena, int, graph->constraints);
  graph->touches = SCREE_TAKE_RAW(arena, int, graph->constraints);
  graph->touched = SCREE_TAKE_RAW(arena, int, graph->entries);
  graph->index = SCREE_TAKE_RAW(arena, int, world);
  graph->group = SCREE_TAKE(arena, const double *, world);
  graph->size = SCREE_TAKE_RAW(arena, int, graph->vertices);
  graph->row = SCREE_TAKE(arena, size_t, graph->vertices + 1);
  graph->col = SCREE_TAKE_RAW(arena, int, graph->pairs);
  return graph->rows && graph->touches && graph->touched && graph->index && graph->group &&
         graph->size && graph->row && graph->col;
}

/* The vertices of all groups in the order of the world: their places, sizes and pattern. */
static void fill_vertices(int world, Graph *graph) {
  int first = 0;
  size_t pair = 0;
  for (size_t at = 0; at < graph->group_numbers; at += (size_t)graph->groups[at + 1])
    graph->group[(int)graph->groups[at]] = graph->groups + at;
  for (int b = 0; b < world; ++b) {
    const double *record = graph->group[b];
    if (!record) continue;
    const int n = (int)record[2];
    const double *size = record + GROUP_HEAD, *count = size + n, *col = count + n;
    graph->index[b] = first;
    for (int k = 0; k < n; ++k) {
      graph->size[first + k] = (int)size[k];
      for (int j = 0; j < (int)count[k]; ++j) graph->col[pair++] = first + (int)*col++;
      graph->row[first + k + 1] = pair;
    }
    first += n;
  }
}

static void fill_graph(int world, Graph *graph) {
  for (int b = 0; b < world; ++b) graph->index[b] = -1;
  fill_vertices(world, graph);
  for (int pass = 0; pass < 2; ++pass) {
    int *to = graph->touched;
    const double *at = graph->all;
    for (int k = 0; k < graph->constraints; ++k, at += (size_t)at[2]) {
      graph->rows[k] = (int)at[0];
      graph->touches[k] = (int)at[1];
      for (int j = 0; j < graph->touches[k]; ++j) {
        const double *touch = at + HEAD + (ptrdiff_t)TOUCH * j;
        const int body = (int)touch[0], vertex = (int)touch[1];
        if (pass == 0 && vertex < 0)
          graph->index[body] = 0;
        else if (pass == 1)
          *to++ = vertex < 0 ? graph->index[body] : graph->bodies + graph->index[body] + vertex;
      }
    }
    for (int b = 0; pass == 0 && b < world; ++b)
      if (graph->index[b] >= 0 && !graph->group[b]) graph->index[b] = graph->bodies++;
  }
}

/* ---- the problem from the records ------------------------------------------------------------
 */

static void unpack(const Graph *graph, int world, bool compliance, scree_Problem *p) {
  const scree_GeneralRows *g = &p->general;
  const double *at = graph->all;
  double *C = g->C, *x = p->vertices.x;
  for (int k = 0; k < g->count; ++k) {
    const size_t rows = g->row[k + 1] - g->row[k], first = g->entry[k], end = g->entry[k + 1];
    const size_t blocks = g->block[end] - g->block[first];
    at += HEAD + TOUCH * (end - first);
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
  for (int b = 0; b < world && graph->pairs; ++b) {
    const double *record = graph->group[b];
    if (!record) continue;
    const int n = (int)record[2], first = graph->index[b];
    const size_t pairs = graph->row[first + n] - graph->row[first];
    const size_t head = GROUP_HEAD + 2 * (size_t)n + pairs, numbers = (size_t)record[1] - head;
    if (numbers) memcpy(x, record + head, numbers * sizeof *x);
    x += numbers;
  }
}

static scree_Status make_whole(const scree_Division *division, bool compliance, Graph *graph,
                               scree_Arena *arena, scree_Problem *whole, const scree_Log *log) {
  const scree_Problem *p = &division->problem;
  count_records(graph);
  if (!take_graph(graph, division->bodies, arena))
    return scree_fail_memory(log, "the whole problem");
  fill_graph(division->bodies, graph);
  const scree_ProblemLayout layout = {.d = p->d,
                                      .bodies = graph->bodies,
                                      .nb = p->bodies.nb,
                                      .vertices = graph->vertices,
                                      .vertex_size = graph->size,
                                      .coupled_row = graph->pairs ? graph->row : NULL,
                                      .coupled_col = graph->col,
                                      .constraints = graph->constraints,
                                      .rows = graph->rows,
                                      .touches = graph->touches,
                                      .touched = graph->touched,
                                      .with_sets = true,
                                      .with_compliance = compliance};
  const scree_Status status = scree_problem_create(whole, &layout, log);
  if (status) return status;
  whole->flow = p->flow;
  unpack(graph, division->bodies, compliance, whole);
  return SCREE_OK;
}

scree_Status scree_division_join_general(const scree_Division *division, scree_Arena *arena,
                                         scree_Problem *whole, const scree_Log *log) {
  const scree_Ranks *ranks = division->halo.ranks;
  const bool compliance = scree_ranks_any(ranks, division->problem.general.C != NULL);
  const scree_ArenaMark mark = scree_arena_mark(arena);
  const size_t count = pack(division, compliance, NULL), more = pack_groups(division, NULL);
  double *mine = SCREE_TAKE_RAW(arena, double, count);
  double *groups = SCREE_TAKE_RAW(arena, double, more);
  char *all = NULL, *all_groups = NULL;
  size_t room = 0, group_room = 0, bytes = 0, group_bytes = 0;
  scree_Status status = mine && groups ? SCREE_OK : scree_fail_memory(log, "the whole problem");
  status = scree_ranks_agree(ranks, status, log);
  if (!status && mine && groups) {
    pack(division, compliance, mine);
    pack_groups(division, groups);
    status = scree_ranks_bring(ranks, mine, count * sizeof *mine, &all, &room, &bytes, log);
    if (!status && scree_ranks_any(ranks, division->groups > 0))
      status = scree_ranks_bring(ranks, groups, more * sizeof *groups, &all_groups, &group_room,
                                 &group_bytes, log);
  }
  if (!status && division->rank == 0 && all) { /* some rank has a constraint */
    Graph graph = {.all = (const double *)(void *)all,
                   .groups = (const double *)(void *)all_groups,
                   .numbers = bytes / sizeof(double),
                   .group_numbers = group_bytes / sizeof(double)};
    status = make_whole(division, compliance, &graph, arena, whole, log);
  }
  scree_free(all);
  scree_free(all_groups);
  scree_arena_release(arena, mark);
  return scree_ranks_agree(ranks, status, log);
}
