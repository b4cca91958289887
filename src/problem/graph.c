/* A counting sort of contacts by body (see graph.h). */
#include "problem/graph.h"

#include "core/log.h"

scree_Status scree_body_graph(const scree_Problem *p, scree_Arena *arena, size_t **row, int **entry,
                              const scree_Log *log) {
  const size_t nbodies = (size_t)p->bodies.nbodies;
  *row = SCREE_TAKE(arena, size_t, nbodies + 1);
  *entry = SCREE_TAKE_RAW(arena, int, 2 * (size_t)p->nc);
  if (!*row || !*entry) return scree_fail_memory(log, "the graph of bodies");
  size_t *start = *row;
  size_t total = 0;
  for (int e = 0; e < 2 * p->nc; ++e)
    if (p->bodies.body[e] >= 0) {
      ++start[p->bodies.body[e]];
      ++total;
    }
  for (size_t b = 1; b < nbodies; ++b) start[b] += start[b - 1]; /* ends */
  start[nbodies] = total;
  for (int e = 2 * p->nc - 1; e >= 0; --e) /* backwards turns ends into starts */
    if (p->bodies.body[e] >= 0) (*entry)[--start[p->bodies.body[e]]] = e;
  return SCREE_OK;
}
