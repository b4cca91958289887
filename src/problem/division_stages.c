/* Dividing a problem between ranks, and the stages of a sweep over it (see division.h). */
#include "problem/division.h"

#include "core/log.h"
#include "problem/graph.h"

#include <metis.h>
#include <string.h>

enum { SEED = 1, FEW = 8 }; /* blocks per rank below which they are dealt out in their order */

/* ---- the partition -----------------------------------------------------------------------------
 */

typedef struct Graph {
  int *start, *next, *weight; /* compressed rows as METIS wants them */
} Graph;

/* Bodies are vertices, weighted by their contacts, and contacts edges; METIS takes double edges as
 * they are. */
static bool body_graph(const scree_Problem *p, const size_t *row, const int *entry,
                       scree_Arena *arena, Graph *graph) {
  const int n = p->bodies.nbodies;
  graph->start = SCREE_TAKE(arena, int, n + 1);
  graph->next = SCREE_TAKE_RAW(arena, int, row[n]);
  graph->weight = SCREE_TAKE_RAW(arena, int, n);
  int *mark = SCREE_TAKE(arena, int, n);
  if (!graph->start || !graph->next || !graph->weight || !mark) return false;
  int filled = 0;
  for (int b = 0; b < n; ++b) {
    for (size_t e = row[b]; e < row[b + 1]; ++e) {
      const int other = p->bodies.body[entry[e] ^ 1];
      if (other < 0 || other == b || mark[other] == b + 1) continue;
      mark[other] = b + 1;
      graph->next[filled++] = other;
    }
    graph->start[b + 1] = filled;
    graph->weight[b] = 1 + (int)(row[b + 1] - row[b]);
  }
  return true;
}

/* Contacts are vertices, weighted by the blocks of their rows. METIS needs a symmetric pattern: a
 * block below the diagonal counts for both, whether or not its mirror image is there. */
static bool row_graph(const scree_Problem *p, scree_Arena *arena, Graph *graph) {
  const scree_BlockRows *W = &p->blocks;
  const int n = p->nc;
  graph->start = SCREE_TAKE(arena, int, n + 1);
  graph->next = SCREE_TAKE_RAW(arena, int, 2 * W->row[n]);
  graph->weight = SCREE_TAKE_RAW(arena, int, n);
  int *at = SCREE_TAKE(arena, int, n + 1);
  if (!graph->start || !graph->next || !graph->weight || !at) return false;
  for (int pass = 0; pass < 2; ++pass) {
    for (int c = 0; c < n; ++c)
      for (size_t k = W->row[c]; k < W->row[c + 1] && W->col[k] < c; ++k) {
        const int other = W->col[k];
        if (pass == 0) {
          ++graph->start[c + 1];
          ++graph->start[other + 1];
        } else {
          graph->next[at[c]++] = other;
          graph->next[at[other]++] = c;
        }
      }
    for (int c = 0; pass == 0 && c < n; ++c) {
      graph->start[c + 1] += graph->start[c];
      at[c] = graph->start[c];
    }
  }
  for (int c = 0; c < n; ++c) graph->weight[c] = (int)(W->row[c + 1] - W->row[c]);
  return true;
}

static void deal_out(int n, int size, int *part) {
  for (int b = 0; b < n; ++b) part[b] = (int)((long long)b * size / n);
}

scree_Status scree_division_partition(const scree_Problem *whole, int size, scree_Arena *arena,
                                      int *part, const scree_Log *log) {
  _Static_assert(sizeof(idx_t) == sizeof(int), "METIS with 32-bit indices");
  const int n = scree_division_blocks(whole);
  if (size == 1 || n < FEW * size) {
    deal_out(n, size, part);
    return SCREE_OK;
  }
  const scree_ArenaMark mark = scree_arena_mark(arena);
  Graph graph = {0};
  size_t *row = NULL;
  int *entry = NULL;
  scree_Status status = SCREE_OK;
  if (whole->kind == SCREE_BODIES) status = scree_body_graph(whole, arena, &row, &entry, log);
  const bool enough =
      !status && (whole->kind == SCREE_BODIES ? body_graph(whole, row, entry, arena, &graph)
                                              : row_graph(whole, arena, &graph));
  if (!status && !enough) status = scree_fail_memory(log, "the graph of a partition");
  if (!status) {
    idx_t options[METIS_NOPTIONS], vertices = n, one = 1, parts = size, cut;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = SEED;
    const int result = METIS_PartGraphKway(&vertices, &one, graph.start, graph.next, graph.weight,
                                           NULL, NULL, &parts, NULL, NULL, options, &cut, part);
    if (result == METIS_ERROR_MEMORY)
      status = scree_fail_memory(log, "a partition");
    else if (result != METIS_OK)
      deal_out(n, size, part);
  }
  scree_arena_release(arena, mark);
  return status;
}

/* ---- stages ------------------------------------------------------------------------------------
 */

/* Where stages begin in `order`: one for each group, or for each run of a serial group. */
static int find_stages(const scree_Division *division, int groups, const int *start,
                       const int *order, const int *serial, int *first, int *coupled) {
  int stages = 0;
  for (int g = 0; g < groups; ++g)
    for (int k = start[g]; k < start[g + 1]; ++k) {
      const bool begins = k == start[g] ||
                          (serial[g] && division->owner[order[k]] != division->owner[order[k - 1]]);
      if (!begins) continue;
      if (first) first[stages] = k;
      if (coupled) coupled[stages] = serial[g];
      ++stages;
    }
  return stages;
}

/* The blocks that a visit of contact c changes: its bodies, or its own impulse. */
static int changed_blocks(const scree_Problem *p, int c, int *list) {
  int n = 0;
  if (p->kind == SCREE_ASSEMBLED) {
    list[n++] = c;
    return n;
  }
  for (int side = 0; side < 2; ++side)
    if (p->bodies.body[2 * c + side] >= 0) list[n++] = p->bodies.body[2 * c + side];
  return n;
}

typedef struct Filler {
  const scree_Division *division;
  const int *index; /* (size) position of a rank among the neighbours */
  int *mark;        /* (blocks) last stage that listed a block, plus one */
  size_t *next;     /* (2 x neighbours) */
} Filler;

/* Blocks changed in contacts first .. last-1 of the order: counted, or listed if `fill`. */
static void list_stage(const Filler *f, const int *order, int first, int last, int mark, bool fill,
                       scree_HaloLists *lists) {
  const scree_Division *division = f->division;
  for (int k = first; k < last; ++k) {
    const int c = order[k], owner = division->owner[c];
    int changed[2];
    const int n = changed_blocks(division->whole, c, changed);
    for (int j = 0; j < n; ++j) {
      const int b = changed[j];
      if (division->local[b] < 0 || f->mark[b] == mark) continue;
      f->mark[b] = mark;
      if (owner != division->rank) {
        const int at = f->index[owner];
        if (fill)
          lists->receive[f->next[2 * at + 1]++] = division->local[b];
        else
          ++lists->receive_start[at + 1];
        continue;
      }
      for (size_t h = division->holder_start[b]; h < division->holder_start[b + 1]; ++h) {
        if (division->holder[h] == division->rank) continue;
        const int at = f->index[division->holder[h]];
        if (fill)
          lists->send[f->next[2 * at]++] = division->local[b];
        else
          ++lists->send_start[at + 1];
      }
    }
  }
}

static bool make_lists(const Filler *f, const int *order, int first, int last, int stage,
                       scree_Arena *arena, scree_HaloLists *lists) {
  const size_t n = (size_t)f->division->halo.neighbours;
  lists->send_start = SCREE_TAKE(arena, size_t, n + 1);
  lists->receive_start = SCREE_TAKE(arena, size_t, n + 1);
  if (!lists->send_start || !lists->receive_start) return false;
  list_stage(f, order, first, last, 2 * stage + 1, false, lists);
  for (size_t k = 0; k < n; ++k) {
    lists->send_start[k + 1] += lists->send_start[k];
    lists->receive_start[k + 1] += lists->receive_start[k];
    f->next[2 * k] = lists->send_start[k];
    f->next[2 * k + 1] = lists->receive_start[k];
  }
  lists->send = SCREE_TAKE_RAW(arena, int, lists->send_start[n]);
  lists->receive = SCREE_TAKE_RAW(arena, int, lists->receive_start[n]);
  if (!lists->send || !lists->receive) return false;
  list_stage(f, order, first, last, 2 * stage + 2, true, lists);
  return true;
}

scree_Status scree_division_stages(const scree_Division *division, int groups, const int *start,
                                   const int *order, const int *serial, scree_Arena *arena,
                                   scree_DivisionStages *stages, const scree_Log *log) {
  const int count = find_stages(division, groups, start, order, serial, NULL, NULL);
  *stages = (scree_DivisionStages){.stages = count};
  stages->start = SCREE_TAKE(arena, int, count + 1);
  stages->order = SCREE_TAKE_RAW(arena, int, division->problem.nc);
  stages->serial = SCREE_TAKE_RAW(arena, int, count);
  stages->lists = SCREE_TAKE(arena, scree_HaloLists, count);
  int *first = SCREE_TAKE_RAW(arena, int, count + 1),
      *index = SCREE_TAKE(arena, int, division->size);
  int *mark = SCREE_TAKE(arena, int, division->blocks);
  size_t *next = SCREE_TAKE(arena, size_t, 2 * division->halo.neighbours);
  if (!stages->start || !stages->order || !stages->serial || !stages->lists || !first || !index ||
      !mark || !next)
    return scree_fail_memory(log, "the stages of a sweep");
  find_stages(division, groups, start, order, serial, first, stages->serial);
  first[count] = start[groups];
  for (int k = 0; k < division->halo.neighbours; ++k) index[division->halo.neighbour[k]] = k;
  const Filler filler = {division, index, mark, next};
  int filled = 0;
  for (int k = 0; k < count; ++k) {
    for (int m = first[k]; m < first[k + 1]; ++m)
      if (division->local_contact[order[m]] >= 0)
        stages->order[filled++] = division->local_contact[order[m]];
    stages->start[k + 1] = filled;
    if (!make_lists(&filler, order, first[k], first[k + 1], k, arena, &stages->lists[k]))
      return scree_fail_memory(log, "the stages of a sweep");
  }
  return SCREE_OK;
}
