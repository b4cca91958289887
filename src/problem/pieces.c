/* Cutting vertices into nodes (see pieces.h). */
#include "problem/pieces.h"

#include "core/log.h"
#include "math/factor.h"

#include <assert.h>
#include <stdlib.h>

int scree_piece_size(int nb, int count, const int *size) {
  int common = nb;
  for (int k = 0; k < count; ++k) common = scree_common_divisor(size[k], common);
  if (common < 1) return 1;
  int piece = common < SCREE_FACTOR_BLOCK_MAX ? common : SCREE_FACTOR_BLOCK_MAX;
  while (common % piece) --piece;
  return piece;
}

static int ascending(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Neighbours of each vertex, sorted, each once. `start` (vertices + 1) becomes final. */
static scree_Status find_neighbours(scree_Pieces *p, size_t pairs, const int *pair,
                                    scree_Arena *arena, const scree_Log *log) {
  const int n = p->vertices;
  p->start = SCREE_TAKE(arena, size_t, n + 1);
  p->neighbour = SCREE_TAKE_RAW(arena, int, 2 * pairs + (size_t)n);
  if (!p->start || !p->neighbour) return scree_fail_memory(log, "the graph of vertices");
  for (size_t k = 0; k < pairs; ++k)
    if (pair[2 * k] >= 0 && pair[2 * k + 1] >= 0) {
      ++p->start[pair[2 * k]];
      ++p->start[pair[2 * k + 1]];
    }
  for (int v = 0; v < n; ++v) p->start[v] += 1 + (v ? p->start[v - 1] : 0); /* ends */
  p->start[n] = n ? p->start[n - 1] : 0;
  for (size_t k = 0; k < pairs; ++k) /* filling turns ends into starts */
    if (pair[2 * k] >= 0 && pair[2 * k + 1] >= 0) {
      p->neighbour[--p->start[pair[2 * k]]] = pair[2 * k + 1];
      p->neighbour[--p->start[pair[2 * k + 1]]] = pair[2 * k];
    }
  for (int v = 0; v < n; ++v) p->neighbour[--p->start[v]] = v;
  size_t filled = 0;
  for (int v = 0; v < n; ++v) {
    const size_t first = p->start[v], count = p->start[v + 1] - first;
    qsort(p->neighbour + first, count, sizeof(int), ascending);
    p->start[v] = filled;
    for (size_t k = first; k < first + count; ++k)
      if (filled == p->start[v] || p->neighbour[filled - 1] != p->neighbour[k])
        p->neighbour[filled++] = p->neighbour[k];
  }
  p->start[n] = filled;
  return SCREE_OK;
}

/* The pattern of the nodes: each piece of a vertex has all pieces of the neighbours. */
static scree_Status expand(scree_Pieces *p, const int *size, scree_Arena *arena,
                           const scree_Log *log) {
  p->first = SCREE_TAKE(arena, int, p->vertices + 1);
  p->before = SCREE_TAKE_RAW(arena, int, p->start[p->vertices]);
  if (!p->first || !p->before) return scree_fail_memory(log, "the pieces of vertices");
  for (int v = 0; v < p->vertices; ++v) p->first[v + 1] = p->first[v] + size[v] / p->piece;
  p->n = p->first[p->vertices];
  for (int v = 0; v < p->vertices; ++v) assert(size[v] % p->piece == 0);
  size_t blocks = 0;
  for (int v = 0; v < p->vertices; ++v) {
    int length = 0;
    for (size_t k = p->start[v]; k < p->start[v + 1]; ++k) {
      p->before[k] = length;
      length += p->first[p->neighbour[k] + 1] - p->first[p->neighbour[k]];
    }
    blocks += (size_t)length * (size_t)(p->first[v + 1] - p->first[v]);
  }
  p->row = SCREE_TAKE(arena, size_t, p->n + 1);
  p->col = SCREE_TAKE_RAW(arena, int, blocks);
  if (!p->row || !p->col) return scree_fail_memory(log, "the pattern of a system");
  size_t filled = 0;
  for (int v = 0; v < p->vertices; ++v)
    for (int node = p->first[v]; node < p->first[v + 1]; ++node) {
      for (size_t k = p->start[v]; k < p->start[v + 1]; ++k)
        for (int other = p->first[p->neighbour[k]]; other < p->first[p->neighbour[k] + 1]; ++other)
          p->col[filled++] = other;
      p->row[node + 1] = filled;
    }
  assert(filled == blocks);
  return SCREE_OK;
}

scree_Status scree_pieces_create(int vertices, const int *size, int piece, size_t pairs,
                                 const int *pair, scree_Arena *arena, const scree_Log *log,
                                 scree_Pieces *pieces) {
  *pieces = (scree_Pieces){.piece = piece, .vertices = vertices};
  const scree_Status status = find_neighbours(pieces, pairs, pair, arena, log);
  return status ? status : expand(pieces, size, arena, log);
}

size_t scree_pieces_slot(const scree_Pieces *p, int vertex, int neighbour, size_t *length) {
  size_t lo = p->start[vertex], hi = p->start[vertex + 1];
  while (lo + 1 < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (p->neighbour[mid] <= neighbour)
      lo = mid;
    else
      hi = mid;
  }
  assert(p->neighbour[lo] == neighbour); /* the pattern was made from all pairs */
  const size_t node = (size_t)p->first[vertex];
  *length = p->row[node + 1] - p->row[node];
  return p->row[node] + (size_t)p->before[lo];
}

void scree_piece_add(double *x, int piece, size_t slot, size_t length, int rows, int cols,
                     const double *block, bool turned) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      *scree_piece_entry(x, piece, slot, length, i, j) +=
          block[turned ? j * rows + i : i * cols + j];
}
