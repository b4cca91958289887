/* Creating and destroying a scree_Problem. All arrays of a problem that owns its memory are in one
 * allocation. */
#include "scree/problem.h"
#include "core/log.h"
#include "core/memory.h"
#include "problem/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Splits one allocation into aligned arrays; with a null base it only computes the size. */
typedef struct Carver {
  char *base;
  size_t used;
} Carver;

static void *carve(Carver *carver, size_t count, size_t size) {
  void *piece = carver->base ? carver->base + carver->used : NULL;
  carver->used += (count * size + 63) / 64 * 64;
  return piece;
}

static void carve_common(Carver *carver, scree_Problem *p, size_t rows, bool with_sets) {
  const size_t n = (size_t)scree_problem_constraints(p);
  p->q = carve(carver, rows, sizeof(double));
  p->mu = carve(carver, n, sizeof(double));
  if (!with_sets) return;
  p->set = carve(carver, n, sizeof(uint8_t));
  p->set_a = carve(carver, n, sizeof(double));
  p->set_b = carve(carver, n, sizeof(double));
}

static void carve_assembled(Carver *carver, scree_Problem *p, size_t nblocks, bool with_sets) {
  carve_common(carver, p, (size_t)p->nc * (size_t)p->d, with_sets);
  p->blocks.row = carve(carver, (size_t)p->nc + 1, sizeof(size_t));
  p->blocks.col = carve(carver, nblocks, sizeof(int));
  /* four spare entries: kernels may load a full vector at the last row */
  p->blocks.x = carve(carver, nblocks * (size_t)(p->d * p->d) + 4, sizeof(double));
}

/* Lengths of the arrays of a layout. */
typedef struct Lengths {
  size_t rows, squares; /* of the general constraints: their number, the sum of their squares */
  size_t entries, blocks;
  size_t coupled, couplings; /* blocks of E, and their numbers */
} Lengths;

static int size_of_vertex(const scree_ProblemLayout *l, int v) {
  return v < l->bodies ? l->nb : l->vertex_size[v - l->bodies];
}

static void carve_vertices(Carver *carver, scree_Problem *p, const scree_ProblemLayout *l,
                           const Lengths *n) {
  p->vertices.size = carve(carver, (size_t)l->vertices, sizeof(int));
  if (!l->coupled_row) return;
  p->vertices.row = carve(carver, (size_t)l->vertices + 1, sizeof(size_t));
  p->vertices.col = carve(carver, n->coupled, sizeof(int));
  p->vertices.x = carve(carver, n->couplings, sizeof(double));
}

static void carve_general(Carver *carver, scree_Problem *p, const scree_ProblemLayout *l,
                          const Lengths *n) {
  const size_t count = (size_t)l->constraints;
  p->general.row = carve(carver, count + 1, sizeof(size_t));
  p->general.entry = carve(carver, count + 1, sizeof(size_t));
  p->general.vertex = carve(carver, n->entries, sizeof(int));
  p->general.block = carve(carver, n->entries + 1, sizeof(size_t));
  p->general.B = carve(carver, n->blocks, sizeof(double));
  if (l->with_compliance) p->general.C = carve(carver, n->squares, sizeof(double));
}

static void carve_bodies(Carver *carver, scree_Problem *p, const scree_ProblemLayout *l,
                         const Lengths *n) {
  const size_t nc = (size_t)p->nc, dd = (size_t)p->d * (size_t)p->d;
  carve_common(carver, p, nc * (size_t)p->d + n->rows, l->with_sets || l->constraints > 0);
  p->bodies.body = carve(carver, 2 * nc, sizeof(int));
  if (l->balls) {
    p->bodies.normal = carve(carver, 3 * nc, sizeof(double));
    p->bodies.arm = carve(carver, 4 * nc, sizeof(double));
  } else {
    p->bodies.B = carve(carver, nc * 2 * (size_t)p->d * (size_t)p->bodies.nb + 4, sizeof(double));
  }
  if (l->with_compliance) p->bodies.C = carve(carver, nc * dd, sizeof(double));
  if (l->vertices > 0) carve_vertices(carver, p, l, n);
  if (l->constraints > 0) carve_general(carver, p, l, n);
}

scree_Status scree_problem_check_sizes(int d, int nc, const scree_Log *log) {
  if (d != 2 && d != 3)
    return scree_fail(log, SCREE_BAD_INPUT, "problem: dimension is %d, expected 2 or 3", d);
  if (nc < 0)
    return scree_fail(log, SCREE_BAD_INPUT, "problem: %d contacts, expected 0 or more", nc);
  return SCREE_OK;
}

scree_Status scree_problem_create_assembled(scree_Problem *problem, int d, int nc, size_t nblocks,
                                            bool with_sets, const scree_Log *log) {
  scree_Status status = scree_problem_check_sizes(d, nc, log);
  if (status) return status;
  if (nblocks > SIZE_MAX / 1024) return scree_fail_memory(log, "the blocks of W");
  scree_Problem p = {.d = d, .nc = nc, .kind = SCREE_ASSEMBLED};
  Carver carver = {0};
  carve_assembled(&carver, &p, nblocks, with_sets);
  p.owned = carver.base = scree_alloc(carver.used, 1);
  if (!p.owned) return scree_fail_memory(log, "an assembled problem");
  carver.used = 0;
  carve_assembled(&carver, &p, nblocks, with_sets);
  *problem = p;
  return SCREE_OK;
}

/* ---- body form ------------------------------------------------------------------------------ */

static scree_Status measure_vertices(const scree_ProblemLayout *l, Lengths *n,
                                     const scree_Log *log) {
  for (int k = 0; k < l->vertices; ++k)
    if (l->vertex_size[k] < 1)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: vertex %d has %d velocity components, expected 1 or more",
                        l->bodies + k, l->vertex_size[k]);
  for (int k = 0; l->coupled_row && k < l->vertices; ++k)
    for (size_t j = l->coupled_row[k]; j < l->coupled_row[k + 1]; ++j) {
      const int col = l->coupled_col[j];
      if (col < 0 || col >= k || (j > l->coupled_row[k] && l->coupled_col[j - 1] >= col))
        return scree_fail(log, SCREE_BAD_INPUT,
                          "problem: vertex %d is coupled with %d, expected ascending numbers "
                          "below its own",
                          l->bodies + k, l->bodies + col);
      n->couplings += (size_t)l->vertex_size[k] * (size_t)l->vertex_size[col];
    }
  if (l->coupled_row) n->coupled = l->coupled_row[l->vertices];
  return SCREE_OK;
}

static scree_Status measure_general(const scree_ProblemLayout *l, Lengths *n,
                                    const scree_Log *log) {
  for (int k = 0; k < l->constraints; ++k) {
    const int c = l->contacts + k, rows = l->rows[k];
    if (rows < 1 || rows > SCREE_ROWS_MAX || l->touches[k] < 0)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: constraint %d has %d rows on %d vertices, expected 1 to %d rows "
                        "and 0 or more vertices",
                        c, rows, l->touches[k], SCREE_ROWS_MAX);
    n->rows += (size_t)rows;
    n->squares += (size_t)(rows * rows);
    for (int j = 0; j < l->touches[k]; ++j) {
      const int v = l->touched[n->entries++];
      if (v < 0 || v >= l->bodies + l->vertices)
        return scree_fail(log, SCREE_BAD_INPUT,
                          "problem: constraint %d touches vertex %d, expected 0 to %d", c, v,
                          l->bodies + l->vertices - 1);
      n->blocks += (size_t)rows * (size_t)size_of_vertex(l, v);
    }
  }
  return SCREE_OK;
}

static scree_Status measure_layout(const scree_ProblemLayout *l, Lengths *n, const scree_Log *log) {
  scree_Status status = scree_problem_check_sizes(l->d, l->contacts, log);
  if (status) return status;
  if (l->bodies < 0 || l->nb < 1)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: %d bodies of %d velocity components, expected >= 0 and >= 1",
                      l->bodies, l->nb);
  if (l->vertices < 0 || l->constraints < 0)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: %d further vertices and %d further constraints, expected >= 0",
                      l->vertices, l->constraints);
  status = measure_vertices(l, n, log);
  if (!status) status = measure_general(l, n, log);
  return status;
}

/* Fill the graph of a problem from its layout. */
static void fill_graph(scree_Problem *p, const scree_ProblemLayout *l) {
  if (l->body && l->contacts)
    memcpy(p->bodies.body, l->body, 2 * (size_t)l->contacts * sizeof *l->body);
  if (l->vertices) memcpy(p->vertices.size, l->vertex_size, (size_t)l->vertices * sizeof(int));
  if (l->vertices && l->coupled_row) {
    memcpy(p->vertices.row, l->coupled_row, ((size_t)l->vertices + 1) * sizeof(size_t));
    const size_t n = l->coupled_row[l->vertices];
    if (n) memcpy(p->vertices.col, l->coupled_col, n * sizeof(int));
  }
  if (!l->constraints) return;
  scree_GeneralRows *g = &p->general;
  g->row[0] = (size_t)l->contacts * (size_t)l->d;
  for (int k = 0; k < l->constraints; ++k) {
    g->row[k + 1] = g->row[k] + (size_t)l->rows[k];
    g->entry[k + 1] = g->entry[k] + (size_t)l->touches[k];
    for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
      g->vertex[e] = l->touched[e];
      g->block[e + 1] = g->block[e] + (size_t)l->rows[k] * (size_t)size_of_vertex(l, l->touched[e]);
    }
  }
}

scree_Status scree_problem_create(scree_Problem *problem, const scree_ProblemLayout *layout,
                                  const scree_Log *log) {
  Lengths lengths = {0};
  const scree_Status status = measure_layout(layout, &lengths, log);
  if (status) return status;
  scree_Problem p = {.d = layout->d, .nc = layout->contacts, .kind = SCREE_BODIES};
  p.bodies.nbodies = layout->bodies;
  p.bodies.nb = layout->nb;
  p.vertices.count = layout->vertices;
  p.general.count = layout->constraints;
  Carver carver = {0};
  carve_bodies(&carver, &p, layout, &lengths);
  p.owned = carver.base = scree_alloc(carver.used, 1);
  if (!p.owned) return scree_fail_memory(log, "a problem over bodies");
  carver.used = 0;
  carve_bodies(&carver, &p, layout, &lengths);
  fill_graph(&p, layout);
  *problem = p;
  return SCREE_OK;
}

scree_Status scree_problem_create_bodies(scree_Problem *problem, int d, int nc, int nbodies, int nb,
                                         bool with_sets, bool with_compliance,
                                         const scree_Log *log) {
  const scree_ProblemLayout layout = {.d = d,
                                      .contacts = nc,
                                      .bodies = nbodies,
                                      .nb = nb,
                                      .with_sets = with_sets,
                                      .with_compliance = with_compliance};
  return scree_problem_create(problem, &layout, log);
}

scree_Status scree_problem_create_balls(scree_Problem *problem, int d, int nc, int nbodies,
                                        bool with_sets, bool with_compliance,
                                        const scree_Log *log) {
  const scree_ProblemLayout layout = {.d = d,
                                      .contacts = nc,
                                      .balls = true,
                                      .bodies = nbodies,
                                      .nb = d == 3 ? 6 : 3,
                                      .with_sets = with_sets,
                                      .with_compliance = with_compliance};
  return scree_problem_create(problem, &layout, log);
}

void scree_problem_destroy(scree_Problem *problem) {
  if (!problem) return;
  scree_free(problem->owned);
  *problem = (scree_Problem){0};
}

static bool block_is_zero(const double *W, size_t n, size_t d, size_t c, size_t k) {
  for (size_t i = 0; i < d; ++i)
    for (size_t j = 0; j < d; ++j)
      if (W[(c * d + i) * n + k * d + j] != 0.0) return false;
  return true;
}

scree_Status scree_problem_create_dense(scree_Problem *problem, int d, int nc, const double *W,
                                        const double *q, const double *mu, const scree_Log *log) {
  scree_Status status = scree_problem_check_sizes(d, nc, log);
  if (status) return status;
  const size_t N = (size_t)nc, D = (size_t)d, n = N * D;
  size_t nblocks = 0;
  for (size_t c = 0; c < N; ++c)
    for (size_t k = 0; k < N; ++k) nblocks += k == c || !block_is_zero(W, n, D, c, k);
  status = scree_problem_create_assembled(problem, d, nc, nblocks, false, log);
  if (status) return status;
  scree_BlockRows *rows = &problem->blocks;
  size_t filled = 0;
  for (size_t c = 0; c < N; ++c) {
    rows->row[c] = filled;
    for (size_t k = 0; k < N; ++k)
      if (k == c || !block_is_zero(W, n, D, c, k)) rows->col[filled++] = (int)k;
    const size_t start = rows->row[c], width = D * (filled - start);
    for (size_t b = start; b < filled; ++b)
      for (size_t i = 0; i < D; ++i)
        for (size_t j = 0; j < D; ++j)
          rows->x[D * D * start + i * width + D * (b - start) + j] =
              W[(c * D + i) * n + (size_t)rows->col[b] * D + j];
  }
  rows->row[N] = filled;
  if (n) memcpy(problem->q, q, n * sizeof *q);
  if (N) memcpy(problem->mu, mu, N * sizeof *mu);
  return SCREE_OK;
}

scree_Set scree_problem_set(const scree_Problem *p, int c) {
  return (scree_Set){.kind = p->set ? (scree_SetKind)p->set[c] : SCREE_SET_CONE,
                     .mu = p->mu[c],
                     .a = p->set_a ? p->set_a[c] : 0.0,
                     .b = p->set_b ? p->set_b[c] : 0.0};
}
