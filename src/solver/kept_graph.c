/* Comparing the graph with the last one, and data derived from it (see kept_graph.h). */
#include "solver/kept_graph.h"

#include "core/log.h"
#include "problem/graph.h"

#include <string.h>

static bool equal(const void *a, const void *b, size_t bytes) {
  return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/* Constraints of any size and further vertices. */
static bool has_same_general(const scree_KeptGraph *kept, const scree_Problem *p) {
  const scree_GeneralRows *g = &p->general;
  const scree_Vertices *v = &p->vertices;
  if (kept->general != g->count || kept->vertices != v->count) return false;
  if (g->count && !(equal(kept->entry, g->entry, ((size_t)g->count + 1) * sizeof *g->entry) &&
                    equal(kept->vertex, g->vertex, g->entry[g->count] * sizeof *g->vertex)))
    return false;
  if (!v->count) return true;
  if (!equal(kept->size, v->size, (size_t)v->count * sizeof *v->size) ||
      !kept->coupled_row != !v->row)
    return false;
  return !v->row || (equal(kept->coupled_row, v->row, ((size_t)v->count + 1) * sizeof *v->row) &&
                     equal(kept->coupled_col, v->col, v->row[v->count] * sizeof *v->col));
}

static bool is_same(const scree_KeptGraph *kept, const scree_Problem *p) {
  if (!kept->known || kept->kind != p->kind || kept->nc != p->nc) return false;
  const size_t nc = (size_t)p->nc;
  if (p->kind == SCREE_BODIES)
    return kept->nbodies == p->bodies.nbodies &&
           equal(kept->body, p->bodies.body, 2 * nc * sizeof *kept->body) &&
           has_same_general(kept, p);
  return equal(kept->row, p->blocks.row, (nc + 1) * sizeof *kept->row) &&
         equal(kept->col, p->blocks.col, p->blocks.row[nc] * sizeof *kept->col);
}

static void *copy(scree_Arena *arena, const void *data, size_t count, size_t size) {
  void *mine = scree_arena_take_raw(arena, count, size);
  if (mine && count) memcpy(mine, data, count * size);
  return mine;
}

/* Copies of the graph of constraints of any size; false if out of memory. */
static bool copy_general(scree_KeptGraph *kept, scree_Arena *arena, const scree_Problem *p) {
  const scree_GeneralRows *g = &p->general;
  const scree_Vertices *v = &p->vertices;
  kept->general = g->count;
  kept->vertices = v->count;
  bool enough = true;
  if (g->count) {
    kept->entry = copy(arena, g->entry, (size_t)g->count + 1, sizeof *g->entry);
    kept->vertex = copy(arena, g->vertex, g->entry[g->count], sizeof *g->vertex);
    enough = kept->entry && kept->vertex;
  }
  if (v->count) {
    kept->size = copy(arena, v->size, (size_t)v->count, sizeof *v->size);
    enough = enough && kept->size;
  }
  if (v->count && v->row) {
    kept->coupled_row = copy(arena, v->row, (size_t)v->count + 1, sizeof *v->row);
    kept->coupled_col = copy(arena, v->col, v->row[v->count], sizeof *v->col);
    enough = enough && kept->coupled_row && kept->coupled_col;
  }
  return enough;
}

scree_Status scree_kept_graph_set(scree_KeptGraph *kept, const scree_Problem *p,
                                  const scree_Log *log) {
  if (is_same(kept, p)) return SCREE_OK;
  scree_Arena arena = kept->arena;
  const int changes = kept->changes + 1;
  const size_t nc = (size_t)p->nc;
  scree_arena_reset(&arena);
  *kept = (scree_KeptGraph){.changes = changes, .kind = p->kind, .nc = p->nc};
  scree_Status status = SCREE_OK;
  if (p->kind == SCREE_BODIES) {
    kept->nbodies = p->bodies.nbodies;
    kept->body = copy(&arena, p->bodies.body, 2 * nc, sizeof *kept->body);
    kept->known = copy_general(kept, &arena, p) && kept->body;
    status = scree_body_graph(p, &arena, &kept->body_row, &kept->body_entry, log);
  } else {
    kept->row = copy(&arena, p->blocks.row, nc + 1, sizeof *kept->row);
    kept->col = copy(&arena, p->blocks.col, p->blocks.row[nc], sizeof *kept->col);
    kept->known = kept->row && kept->col;
  }
  kept->arena = arena;
  if (status) kept->known = false;
  if (!status && !kept->known) status = scree_fail_memory(log, "the graph of a problem");
  return status;
}

scree_Status scree_kept_graph_order(scree_KeptGraph *kept, const scree_Operator *W, bool coloured,
                                    const scree_Log *log, const scree_Colouring **order) {
  scree_Status status = SCREE_OK;
  if (coloured && !kept->has_coloured)
    status = scree_colouring_create(W, &kept->arena, &kept->coloured, log);
  if (!coloured && !kept->has_natural)
    status = scree_colouring_natural(W, &kept->arena, &kept->natural, log);
  if (status) return status;
  kept->has_coloured = kept->has_coloured || coloured;
  kept->has_natural = kept->has_natural || !coloured;
  *order = coloured ? &kept->coloured : &kept->natural;
  return SCREE_OK;
}
