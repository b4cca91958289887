/* The graph of a mesh: pairs of nodes that share an element, as rows of blocks below the diagonal,
 * and the block of every pair of corners of every element. */
#include "core/log.h"
#include "core/memory.h"
#include "element/mesh.h"

#include <assert.h>
#include <stdlib.h>

static int compare_ints(const void *left, const void *right) {
  const int a = *(const int *)left, b = *(const int *)right;
  return (a > b) - (a < b);
}

static int larger(int a, int b) {
  return a > b ? a : b;
}

static int smaller(int a, int b) {
  return a < b ? a : b;
}

/* The number of the block (node, below) in the sorted rows. */
static size_t find_block(const scree_ElementMesh *m, int node, int below) {
  assert(below < node && node < m->node_count);
  size_t low = m->row[node], high = m->row[node + 1];
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (m->col[middle] <= below)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Collect all neighbours of each node, sort them, and keep each once. */
static scree_Status fill_rows(scree_ElementMesh *m, const scree_Log *log) {
  const size_t n = (size_t)m->node_count, pairs = m->pair_row[m->element_count];
  size_t *start = SCREE_ALLOC(size_t, n + 1), *end = SCREE_ALLOC(size_t, n);
  int *all = SCREE_ALLOC(int, pairs);
  m->row = SCREE_ALLOC(size_t, n + 1);
  scree_Status status = SCREE_OK;
  if (!start || !end || !all || !m->row) status = scree_fail_memory(log, "the graph of a mesh");
  for (int pass = 0; !status && pass < 2; ++pass) {
    for (int e = 0; e < m->element_count; ++e) {
      const int *corner = m->corner + m->corner_row[e];
      const int corners = scree_element_class(m, e)->corners;
      for (int a = 1; a < corners; ++a)
        for (int b = 0; b < a; ++b) {
          const int node = larger(corner[a], corner[b]);
          if (pass == 0)
            ++start[node + 1];
          else
            all[end[node]++] = smaller(corner[a], corner[b]);
        }
    }
    for (size_t k = 0; pass == 0 && k < n; ++k) {
      start[k + 1] += start[k];
      end[k] = start[k];
    }
  }
  size_t kept = 0;
  for (size_t k = 0; !status && k < n; ++k) {
    qsort(all + start[k], end[k] - start[k], sizeof *all, compare_ints);
    for (size_t j = start[k]; j < end[k]; ++j)
      if (j == start[k] || all[j] != all[j - 1]) all[kept++] = all[j];
    m->row[k + 1] = kept;
  }
  if (!status && !(m->col = SCREE_ALLOC(int, kept)))
    status = scree_fail_memory(log, "the graph of a mesh");
  for (size_t k = 0; !status && k < kept; ++k) m->col[k] = all[k];
  scree_free(start);
  scree_free(end);
  scree_free(all);
  return status;
}

scree_Status scree_element_mesh_find_graph(scree_ElementMesh *m, const scree_Log *log) {
  m->pair_row = SCREE_ALLOC(size_t, (size_t)m->element_count + 1);
  if (!m->pair_row) return scree_fail_memory(log, "the graph of a mesh");
  for (int e = 0; e < m->element_count; ++e) {
    const size_t n = (size_t)scree_element_class(m, e)->corners;
    m->pair_row[e + 1] = m->pair_row[e] + n * (n - 1) / 2;
  }
  const scree_Status status = fill_rows(m, log);
  if (status) return status;
  m->pair = SCREE_ALLOC(size_t, m->pair_row[m->element_count]);
  if (!m->pair) return scree_fail_memory(log, "the graph of a mesh");
  size_t at = 0;
  for (int e = 0; e < m->element_count; ++e) {
    const int *corner = m->corner + m->corner_row[e];
    for (int a = 1; a < scree_element_class(m, e)->corners; ++a)
      for (int b = 0; b < a; ++b)
        m->pair[at++] = find_block(m, larger(corner[a], corner[b]), smaller(corner[a], corner[b]));
  }
  return SCREE_OK;
}
