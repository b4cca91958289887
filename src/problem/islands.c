/* Islands of contacts (see islands.h): the components of the graph of bodies, by union and find. */
#include "problem/islands.h"

#include "core/log.h"
#include "core/union_find.h"
#include "problem/measure.h"

#include <math.h>
#include <string.h>

/* Unite the vertices of each general constraint and of each block of the coupling, and mark them:
 * the mark of an island is that of any of its vertices. */
static void unite_others(const scree_Problem *p, int *parent, bool *marked) {
  const scree_GeneralRows *g = &p->general;
  const scree_Vertices *v = &p->vertices;
  const int nbodies = p->bodies.nbodies;
  for (int k = 0; k < g->count; ++k)
    for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
      scree_unite(parent, g->vertex[g->entry[k]], g->vertex[e]);
      marked[g->vertex[e]] = true;
    }
  for (int k = 0; v->row && k < v->count; ++k)
    for (size_t e = v->row[k]; e < v->row[k + 1]; ++e)
      scree_unite(parent, nbodies + k, nbodies + v->col[e]);
}

/* Count the contacts of each island. */
static void count_contacts(scree_Islands *islands, int nc) {
  islands->largest = 0;
  memset(islands->size, 0, (size_t)islands->count * sizeof *islands->size);
  for (int c = 0; c < nc; ++c) {
    const int size = ++islands->size[islands->of[c]];
    if (size > islands->largest) islands->largest = size;
  }
}

scree_Status scree_islands_find(const scree_Problem *p, scree_Arena *arena, scree_Islands *islands,
                                const scree_Log *log) {
  const int n = p->kind == SCREE_BODIES ? p->bodies.nbodies + p->vertices.count : 0;
  *islands = (scree_Islands){.of = SCREE_TAKE(arena, int, p->nc),
                             .size = SCREE_TAKE_RAW(arena, int, p->nc),
                             .bound = SCREE_TAKE(arena, bool, p->nc)};
  int *parent = SCREE_TAKE_RAW(arena, int, n), *number = SCREE_TAKE_RAW(arena, int, n);
  bool *marked = SCREE_TAKE(arena, bool, n);
  if (!islands->of || !islands->size || !islands->bound || !parent || !number || !marked)
    return scree_fail_memory(log, "islands of contacts");
  if (p->nc == 0) return SCREE_OK;
  if (p->kind != SCREE_BODIES) {
    islands->count = 1;
    count_contacts(islands, p->nc);
    return SCREE_OK;
  }
  for (int b = 0; b < n; ++b) {
    parent[b] = b;
    number[b] = -1;
  }
  for (int c = 0; c < p->nc; ++c) {
    const int *body = p->bodies.body + 2 * (size_t)c;
    if (body[0] >= 0 && body[1] >= 0) scree_unite(parent, body[0], body[1]);
  }
  unite_others(p, parent, marked);
  for (int c = 0; c < p->nc; ++c) {
    const int *body = p->bodies.body + 2 * (size_t)c;
    const int b = body[0] >= 0 ? body[0] : body[1];
    if (b < 0) { /* between obstacles: alone */
      islands->of[c] = islands->count++;
      continue;
    }
    const int root = scree_root_of(parent, b);
    if (number[root] < 0) number[root] = islands->count++;
    islands->of[c] = number[root];
  }
  for (int b = 0; b < n; ++b) {
    const int root = scree_root_of(parent, b);
    if (marked[b] && number[root] >= 0) islands->bound[number[root]] = true;
  }
  count_contacts(islands, p->nc);
  return SCREE_OK;
}

enum { GROUP = 4096 }; /* contacts that threads measure before they are added up */

static void add_squares(const scree_Problem *p, int c, double map, const double *r, const double *u,
                        scree_IslandNorms *norm) {
  const size_t d = (size_t)p->d;
  norm->map += map * map;
  for (size_t k = (size_t)c * d; k < ((size_t)c + 1) * d; ++k) {
    norm->r += r[k] * r[k];
    norm->q += p->q[k] * p->q[k];
    norm->u += u[k] * u[k];
  }
}

void scree_islands_norms(const scree_Problem *p, const scree_Islands *islands, const double *r,
                         const double *u, int threads, scree_IslandNorms *norms) {
  for (int k = 0; k < islands->count; ++k) norms[k] = (scree_IslandNorms){.rho = norms[k].rho};
  for (int start = 0; start < p->nc; start += GROUP) {
    const int end = start + GROUP < p->nc ? start + GROUP : p->nc;
    double maps[GROUP];
    if (threads == 1 || end - start < GROUP / 2)
      for (int c = start; c < end; ++c)
        maps[c - start] = scree_measure_contact(p, c, norms[islands->of[c]].rho, r, u);
    else
#pragma omp parallel for schedule(static) num_threads(threads)
      for (int c = start; c < end; ++c)
        maps[c - start] = scree_measure_contact(p, c, norms[islands->of[c]].rho, r, u);
    for (int c = start; c < end; ++c)
      add_squares(p, c, maps[c - start], r, u, &norms[islands->of[c]]); /* squares so far */
  }
  for (int k = 0; k < islands->count; ++k) {
    scree_IslandNorms *norm = &norms[k];
    norm->map = sqrt(norm->map);
    norm->r = sqrt(norm->r);
    norm->q = sqrt(norm->q);
    norm->u = sqrt(norm->u);
  }
}

double scree_island_error(const scree_IslandNorms *norm) {
  const double scale = fmax(norm->r, norm->rho * fmax(norm->q, norm->u));
  return scale > 0.0 ? norm->map / scale : norm->map > 0.0 ? INFINITY : 0.0;
}
