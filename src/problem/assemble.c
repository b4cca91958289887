/* Forming W = B B^T + C of a problem over bodies, block by block. */
#include "core/log.h"
#include "problem/balls.h"
#include "problem/graph.h"
#include "scree/problem.h"

#include <string.h>

/* The distinct contacts that share a body with c, ascending, into `list`; returns how many. */
static int neighbours(const scree_Problem *p, const size_t *row, const int *entry, int c, int *mark,
                      int *list) {
  int n = 0;
  list[n++] = c;
  mark[c] = c + 1;
  for (int side = 0; side < 2; ++side) {
    const int b = p->bodies.body[2 * c + side];
    if (b < 0) continue;
    for (size_t e = row[b]; e < row[b + 1]; ++e) {
      const int k = entry[e] / 2;
      if (mark[k] == c + 1) continue;
      mark[k] = c + 1;
      int at = n++; /* insertion keeps the list ascending */
      while (at > 0 && list[at - 1] > k) {
        list[at] = list[at - 1];
        --at;
      }
      list[at] = k;
    }
  }
  return n;
}

/* The block W_ck (d x d) into rows `stride` apart. */
static void fill_block(const scree_Problem *p, int c, int k, size_t stride, double *x) {
  const int d = p->d, nb = p->bodies.nb;
  double room[2][SCREE_BALL_ROOM];
  const double *Bc = scree_contact_blocks(p, c, room[0]), *Bk = scree_contact_blocks(p, k, room[1]);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      double sum = 0.0;
      for (int s = 0; s < 2; ++s) {
        const int b = p->bodies.body[2 * c + s];
        for (int t = 0; b >= 0 && t < 2; ++t) {
          if (p->bodies.body[2 * k + t] != b) continue;
          for (int a = 0; a < nb; ++a) sum += Bc[(s * d + i) * nb + a] * Bk[(t * d + j) * nb + a];
        }
      }
      if (c == k && p->bodies.C) sum += p->bodies.C[(size_t)(c * d + i) * (size_t)d + (size_t)j];
      x[(size_t)i * stride + (size_t)j] = sum;
    }
}

static void copy_common(const scree_Problem *from, scree_Problem *to) {
  const size_t nc = (size_t)from->nc, n = nc * (size_t)from->d;
  to->flow = from->flow;
  to->flow_blocks = from->flow_blocks;
  if (!nc) return;
  memcpy(to->q, from->q, n * sizeof(double));
  memcpy(to->mu, from->mu, nc * sizeof(double));
  if (from->set && to->set) memcpy(to->set, from->set, nc);
  if (from->set_a && to->set_a) memcpy(to->set_a, from->set_a, nc * sizeof(double));
  if (from->set_b && to->set_b) memcpy(to->set_b, from->set_b, nc * sizeof(double));
}

scree_Status scree_problem_assemble(const scree_Problem *bodies, scree_Problem *assembled,
                                    const scree_Log *log) {
  const scree_Problem *p = bodies;
  if (p->general.count || p->vertices.count)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: %d constraints of any size cannot be assembled, expected contacts "
                      "only",
                      p->general.count);
  const size_t nc = (size_t)p->nc, d = (size_t)p->d;
  scree_Arena arena = {0};
  size_t *row = NULL, nblocks = 0;
  int *entry = NULL, *mark = SCREE_TAKE(&arena, int, nc), *list = SCREE_TAKE_RAW(&arena, int, nc);
  scree_Status status =
      mark && list ? SCREE_OK : scree_fail_memory(log, "the pattern of an assembled problem");
  if (!status) status = scree_body_graph(p, &arena, &row, &entry, log);
  if (!status) {
    for (int c = 0; c < p->nc; ++c) nblocks += (size_t)neighbours(p, row, entry, c, mark, list);
    status = scree_problem_create_assembled(assembled, p->d, p->nc, nblocks, p->set != NULL, log);
  }
  if (!status) {
    copy_common(p, assembled);
    if (nc) memset(mark, 0, nc * sizeof *mark);
    size_t filled = 0;
    for (int c = 0; c < p->nc; ++c) {
      const int n = neighbours(p, row, entry, c, mark, list);
      assembled->blocks.row[c] = filled;
      double *x = assembled->blocks.x + filled * d * d;
      for (int k = 0; k < n; ++k) fill_block(p, c, list[k], d * (size_t)n, x + d * (size_t)k);
      memcpy(assembled->blocks.col + filled, list, (size_t)n * sizeof *list);
      filled += (size_t)n;
    }
    assembled->blocks.row[nc] = filled;
  }
  scree_arena_fini(&arena);
  return status;
}
