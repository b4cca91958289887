/* Contacts of bodies of different sizes as contacts of bodies of one size (see widen.h). */
#include "problem/widen.h"

#include "core/log.h"
#include "problem/balls.h"
#include "problem/general.h"

#include <string.h>

bool scree_problem_can_widen(const scree_Problem *p) {
  const scree_GeneralRows *g = &p->general;
  if (p->kind != SCREE_BODIES || p->vertices.row || p->flow_blocks) return false;
  for (int k = 0; k < g->count; ++k) {
    const int kind = p->set ? p->set[p->nc + k] : SCREE_SET_CONE;
    if (g->row[k + 1] - g->row[k] != (size_t)p->d || g->entry[k + 1] - g->entry[k] > 2 ||
        kind == SCREE_SET_SPACE || kind == SCREE_SET_BALL || kind == SCREE_SET_ROLLING)
      return false;
  }
  return true;
}

static int largest_vertex(const scree_Problem *p) {
  int most = p->bodies.nb;
  for (int k = 0; k < p->vertices.count; ++k)
    if (p->vertices.size[k] > most) most = p->vertices.size[k];
  return most;
}

/* A block (d x size) into one of rows nb long. */
static void put_block(int d, int size, int nb, const double *from, double *to) {
  for (int i = 0; i < d; ++i)
    memcpy(to + (size_t)i * (size_t)nb, from + (size_t)i * (size_t)size, (size_t)size * sizeof *to);
}

static void fill_rows(const scree_Problem *p, const scree_Problem *wide, int *body, double *B) {
  const scree_GeneralRows *g = &p->general;
  const int d = p->d, nb = wide->bodies.nb;
  const size_t block = (size_t)d * (size_t)nb;
  for (int c = 0; c < p->nc; ++c) {
    double room[SCREE_BALL_ROOM];
    const double *own = scree_contact_blocks(p, c, room);
    for (int side = 0; side < 2; ++side) {
      body[2 * c + side] = p->bodies.body[2 * c + side];
      if (body[2 * c + side] >= 0)
        put_block(d, p->bodies.nb, nb, own + side * d * p->bodies.nb,
                  B + (2 * (size_t)c + (size_t)side) * block);
    }
  }
  for (int k = 0; k < g->count; ++k) {
    const size_t at = 2 * (size_t)(p->nc + k);
    body[at] = body[at + 1] = -1;
    for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
      const size_t to = at + e - g->entry[k];
      body[to] = g->vertex[e];
      put_block(d, scree_vertex_size(p, g->vertex[e]), nb, g->B + g->block[e], B + to * block);
    }
  }
}

scree_Status scree_problem_widen(const scree_Problem *p, scree_Arena *arena, scree_Problem *wide,
                                 const scree_Log *log) {
  enum { PAD = 8 }; /* kernels may load a full vector past the end */
  const size_t nc = (size_t)scree_problem_constraints(p), d = (size_t)p->d, dd = d * d;
  const size_t nb = (size_t)largest_vertex(p), first = (size_t)p->nc * dd;
  const bool complies = p->bodies.C || p->general.C;
  int *body = SCREE_TAKE_RAW(arena, int, 2 * nc);
  double *B = SCREE_TAKE(arena, double, 2 * nc * d * nb + PAD);
  double *C = complies ? SCREE_TAKE(arena, double, nc *dd) : NULL;
  if (!body || !B || (complies && !C)) return scree_fail_memory(log, "contacts of bodies");
  *wide = *p;
  wide->nc = (int)nc;
  wide->vertices = (scree_Vertices){0};
  wide->general = (scree_GeneralRows){0};
  wide->bodies = (scree_BodyRows){.nbodies = p->bodies.nbodies + p->vertices.count,
                                  .nb = (int)nb,
                                  .body = body,
                                  .B = B,
                                  .C = C};
  fill_rows(p, wide, body, B);
  if (C && p->bodies.C) memcpy(C, p->bodies.C, first * sizeof *C);
  if (C && p->general.C) memcpy(C + first, p->general.C, (nc * dd - first) * sizeof *C);
  return SCREE_OK;
}

scree_Status scree_problem_narrow(const scree_Problem *p, const scree_Problem *wide,
                                  const double *velocities, scree_Arena *arena,
                                  const double **narrow, const scree_Log *log) {
  const int bodies = p->bodies.nbodies;
  const size_t nb = (size_t)p->bodies.nb, each = (size_t)wide->bodies.nb;
  size_t n = ((size_t)bodies + 1) * nb;
  for (int k = 0; k < p->vertices.count; ++k) n += (size_t)p->vertices.size[k];
  double *y = SCREE_TAKE(arena, double, n);
  if (!y) return scree_fail_memory(log, "the velocities of bodies");
  *narrow = y;
  for (int v = 0; v < wide->bodies.nbodies; ++v) {
    const size_t size = (size_t)scree_vertex_size(p, v);
    if (v == bodies) y += nb; /* the ground */
    memcpy(y, velocities + (size_t)v * each, size * sizeof *y);
    y += size;
  }
  return SCREE_OK;
}
