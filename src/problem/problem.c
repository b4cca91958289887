/* The life of a scree_Problem: memory, conversion, and the check that every solver relies on. All
 * arrays of a problem that owns its memory lie in one allocation. */
#include "scree/problem.h"
#include "core/log.h"
#include "core/memory.h"
#include "problem/balls.h"
#include "problem/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cuts aligned pieces from one allocation; with a null base it only measures. */
typedef struct Carver {
  char *base;
  size_t used;
} Carver;

static void *carve(Carver *carver, size_t count, size_t size) {
  void *piece = carver->base ? carver->base + carver->used : NULL;
  carver->used += (count * size + 63) / 64 * 64;
  return piece;
}

static void carve_common(Carver *carver, scree_Problem *p, bool with_sets) {
  const size_t nc = (size_t)p->nc, n = nc * (size_t)p->d;
  p->q = carve(carver, n, sizeof(double));
  p->mu = carve(carver, nc, sizeof(double));
  if (!with_sets) return;
  p->set = carve(carver, nc, sizeof(uint8_t));
  p->set_a = carve(carver, nc, sizeof(double));
  p->set_b = carve(carver, nc, sizeof(double));
}

static void carve_assembled(Carver *carver, scree_Problem *p, size_t nblocks, bool with_sets) {
  carve_common(carver, p, with_sets);
  p->blocks.row = carve(carver, (size_t)p->nc + 1, sizeof(size_t));
  p->blocks.col = carve(carver, nblocks, sizeof(int));
  /* four more than there are: kernels may load a whole vector at the last row */
  p->blocks.x = carve(carver, nblocks * (size_t)(p->d * p->d) + 4, sizeof(double));
}

static void carve_bodies(Carver *carver, scree_Problem *p, bool balls, bool with_sets,
                         bool with_compliance) {
  const size_t nc = (size_t)p->nc, dd = (size_t)p->d * (size_t)p->d;
  carve_common(carver, p, with_sets);
  p->bodies.body = carve(carver, 2 * nc, sizeof(int));
  if (balls) {
    p->bodies.normal = carve(carver, 3 * nc, sizeof(double));
    p->bodies.arm = carve(carver, 4 * nc, sizeof(double));
  } else {
    p->bodies.B = carve(carver, nc * 2 * (size_t)p->d * (size_t)p->bodies.nb + 4, sizeof(double));
  }
  if (with_compliance) p->bodies.C = carve(carver, nc * dd, sizeof(double));
}

static scree_Status check_sizes(int d, int nc, const scree_Log *log) {
  if (d != 2 && d != 3)
    return scree_fail(log, SCREE_BAD_INPUT, "problem: dimension is %d, expected 2 or 3", d);
  if (nc < 0)
    return scree_fail(log, SCREE_BAD_INPUT, "problem: %d contacts, expected 0 or more", nc);
  return SCREE_OK;
}

scree_Status scree_problem_create_assembled(scree_Problem *problem, int d, int nc, size_t nblocks,
                                            bool with_sets, const scree_Log *log) {
  scree_Status status = check_sizes(d, nc, log);
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

static scree_Status create_bodies(scree_Problem *problem, int d, int nc, int nbodies, int nb,
                                  bool balls, bool with_sets, bool with_compliance,
                                  const scree_Log *log) {
  scree_Status status = check_sizes(d, nc, log);
  if (status) return status;
  if (nbodies < 0 || nb < 1)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: %d bodies of %d velocity components, expected >= 0 and >= 1",
                      nbodies, nb);
  scree_Problem p = {.d = d, .nc = nc, .kind = SCREE_BODIES};
  p.bodies.nbodies = nbodies;
  p.bodies.nb = nb;
  Carver carver = {0};
  carve_bodies(&carver, &p, balls, with_sets, with_compliance);
  p.owned = carver.base = scree_alloc(carver.used, 1);
  if (!p.owned) return scree_fail_memory(log, "a problem over bodies");
  carver.used = 0;
  carve_bodies(&carver, &p, balls, with_sets, with_compliance);
  *problem = p;
  return SCREE_OK;
}

scree_Status scree_problem_create_bodies(scree_Problem *problem, int d, int nc, int nbodies, int nb,
                                         bool with_sets, bool with_compliance,
                                         const scree_Log *log) {
  return create_bodies(problem, d, nc, nbodies, nb, false, with_sets, with_compliance, log);
}

scree_Status scree_problem_create_balls(scree_Problem *problem, int d, int nc, int nbodies,
                                        bool with_sets, bool with_compliance,
                                        const scree_Log *log) {
  return create_bodies(problem, d, nc, nbodies, 3 * (d - 1), true, with_sets, with_compliance, log);
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
  scree_Status status = check_sizes(d, nc, log);
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

/* ---- assembling W = B B^T + C -------------------------------------------------------------- */

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
  to->law = from->law;
  to->flow = from->flow;
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

/* ---- checking ------------------------------------------------------------------------------- */

static scree_Status check_finite(const char *name, const double *x, size_t rows, size_t width,
                                 const scree_Log *log) {
  for (size_t k = 0; k < rows * width; ++k)
    if (!isfinite(x[k]))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: %s of contact %zu is %g, expected a finite number", name,
                        k / width, x[k]);
  return SCREE_OK;
}

static scree_Status check_not_negative(const char *name, const double *x, size_t n,
                                       const scree_Log *log) {
  for (size_t c = 0; c < n; ++c)
    if (!(x[c] >= 0.0 && isfinite(x[c])))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: %s of contact %zu is %g, expected a number >= 0", name, c, x[c]);
  return SCREE_OK;
}

static scree_Status check_blocks(const scree_Problem *p, const scree_Log *log) {
  const scree_BlockRows *rows = &p->blocks;
  for (int c = 0; c < p->nc; ++c) {
    if (rows->row[c] > rows->row[c + 1])
      return scree_fail(log, SCREE_BAD_INPUT, "problem: row pointers of W decrease at contact %d",
                        c);
    bool diagonal = false;
    for (size_t k = rows->row[c]; k < rows->row[c + 1]; ++k) {
      const int col = rows->col[k];
      if (col < 0 || col >= p->nc)
        return scree_fail(log, SCREE_BAD_INPUT,
                          "problem: W has column %d in row %d, expected 0 to %d", col, c,
                          p->nc - 1);
      if (k > rows->row[c] && rows->col[k - 1] >= col)
        return scree_fail(log, SCREE_BAD_INPUT, "problem: columns of row %d of W do not ascend", c);
      diagonal = diagonal || col == c;
    }
    if (!diagonal)
      return scree_fail(log, SCREE_BAD_INPUT, "problem: W has no diagonal block for contact %d", c);
  }
  const size_t n = rows->row[p->nc] * (size_t)(p->d * p->d);
  for (size_t k = 0; k < n; ++k)
    if (!isfinite(rows->x[k]))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: entry %zu of W is %g, expected a finite number", k, rows->x[k]);
  return SCREE_OK;
}

static scree_Status check_balls(const scree_Problem *p, const scree_Log *log) {
  const int nb = 3 * (p->d - 1);
  if (p->bodies.nb != nb)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: balls with %d velocity components, expected %d", p->bodies.nb, nb);
  scree_Status status = check_finite("the normal", p->bodies.normal, (size_t)p->nc, 3, log);
  if (!status) status = check_finite("the arm", p->bodies.arm, (size_t)p->nc, 4, log);
  for (int c = 0; !status && c < p->nc; ++c) {
    const double *n = p->bodies.normal + 3 * (size_t)c;
    const double norm2 = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    if (!(fabs(norm2 - 1.0) <= 1e-8) || (p->d == 2 && n[2] != 0.0))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: normal (%g, %g, %g) of contact %d, expected a unit vector%s",
                        n[0], n[1], n[2], c, p->d == 2 ? " in the plane" : "");
  }
  return status;
}

static scree_Status check_bodies(const scree_Problem *p, const scree_Log *log) {
  for (int e = 0; e < 2 * p->nc; ++e) {
    const int b = p->bodies.body[e];
    if (b < -1 || b >= p->bodies.nbodies)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: contact %d touches body %d, expected -1 (obstacle) to %d", e / 2,
                        b, p->bodies.nbodies - 1);
    if (e % 2 && b >= 0 && b == p->bodies.body[e - 1])
      return scree_fail(log, SCREE_BAD_INPUT, "problem: contact %d touches body %d twice", e / 2,
                        b);
  }
  scree_Status status = p->bodies.B ? check_finite("B", p->bodies.B, (size_t)p->nc,
                                                   2 * (size_t)p->d * (size_t)p->bodies.nb, log)
                                    : check_balls(p, log);
  if (!status && p->bodies.C)
    status = check_finite("C", p->bodies.C, (size_t)p->nc, (size_t)p->d * (size_t)p->d, log);
  return status;
}

/* H must be symmetric and positive definite, and must not mix the normal with the tangents (002
 * section 9: blocks h11 and h22, h23, h33). */
static scree_Status check_flow(const scree_Problem *p, const scree_Log *log) {
  const int d = p->d;
  if (p->law != SCREE_ASSOCIATED)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: a flow H is given with Coulomb's law, expected the associated law");
  for (int c = 0; c < p->nc; ++c) {
    const double *H = p->flow + (size_t)c * (size_t)(d * d);
    bool good = true;
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j)
        good = good && isfinite(H[i * d + j]) && H[i * d + j] == H[j * d + i];
    for (int i = 1; i < d; ++i) good = good && H[i] == 0.0;
    good = good && H[0] > 0.0 && H[d + 1] > 0.0;
    if (d == 3) good = good && H[4] * H[8] > H[5] * H[7];
    if (!good)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: flow H of contact %d, expected a symmetric positive definite "
                        "matrix that does not mix normal and tangents",
                        c);
  }
  return SCREE_OK;
}

scree_Status scree_problem_check(const scree_Problem *p, const scree_Log *log) {
  scree_Status status = check_sizes(p->d, p->nc, log);
  if (status) return status;
  const size_t nc = (size_t)p->nc;
  if (p->law != SCREE_COULOMB && p->law != SCREE_ASSOCIATED)
    return scree_fail(log, SCREE_BAD_INPUT, "problem: law is %d, expected coulomb or associated",
                      (int)p->law);
  status = check_finite("q", p->q, nc, (size_t)p->d, log);
  if (!status) status = check_not_negative("mu", p->mu, nc, log);
  if (!status && p->set)
    for (size_t c = 0; c < nc; ++c)
      if (p->set[c] >= SCREE_SET_KINDS)
        return scree_fail(log, SCREE_BAD_INPUT,
                          "problem: set of contact %zu is %d, expected 0 to %d", c, p->set[c],
                          SCREE_SET_KINDS - 1);
  if (!status && p->set_a) status = check_not_negative("set parameter a", p->set_a, nc, log);
  if (!status && p->set_b) status = check_not_negative("set parameter b", p->set_b, nc, log);
  if (!status && p->flow) status = check_flow(p, log);
  if (!status) status = p->kind == SCREE_ASSEMBLED ? check_blocks(p, log) : check_bodies(p, log);
  return status;
}

scree_Set scree_problem_set(const scree_Problem *p, int c) {
  return (scree_Set){.kind = p->set ? (scree_SetKind)p->set[c] : SCREE_SET_CONE,
                     .mu = p->mu[c],
                     .a = p->set_a ? p->set_a[c] : 0.0,
                     .b = p->set_b ? p->set_b[c] : 0.0};
}
