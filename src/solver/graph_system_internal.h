/* The two files of graph_system.h: pattern and solutions; values of the matrix. */
#ifndef SCREE_SOLVER_GRAPH_SYSTEM_INTERNAL_H
#define SCREE_SOLVER_GRAPH_SYSTEM_INTERNAL_H

#include "solver/graph_system.h"

#include <assert.h>

/* The position of a block in the pattern, which has it. */
SCREE_INLINE size_t scree_graph_system_block(const scree_GraphSystem *system, int row, int col) {
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
SCREE_INLINE int scree_graph_system_node(const scree_GraphSystem *system, int v) {
  return (int)(scree_vertex_start(system->W, v) / (size_t)system->nb);
}

/* x = A + B^T G B, or L W + G. */
void scree_graph_system_assemble(scree_GraphSystem *system, const double *L, const double *G);

#endif
