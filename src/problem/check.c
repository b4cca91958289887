/* The check of a problem that every solver relies on. */
#include "problem/check.h"

#include "core/log.h"
#include "math/simd.h"

#include <math.h>
#include <stddef.h>

/* Four at a time: x - x is zero or not a number. */
static bool are_finite(const double *x, size_t n) {
  scree_Lane bad = {0.0, 0.0, 0.0, 0.0};
  size_t k = 0;
  for (; k + SCREE_LANES <= n; k += SCREE_LANES) {
    const scree_Lane lane = scree_lane_load(x + k);
    bad += lane - lane;
  }
  for (; k < n; ++k) bad[0] += x[k] - x[k];
  return bad[0] == 0.0 && bad[1] == 0.0 && bad[2] == 0.0 && bad[3] == 0.0;
}

static scree_Status check_finite(const char *name, const double *x, size_t rows, size_t width,
                                 const scree_Log *log) {
  if (are_finite(x, rows * width)) return SCREE_OK;
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
      return scree_fail(
          log, SCREE_BAD_INPUT,
          "problem: row pointers of W decrease at contact %d, expected them to ascend", c);
    bool diagonal = false;
    for (size_t k = rows->row[c]; k < rows->row[c + 1]; ++k) {
      const int col = rows->col[k];
      if (col < 0 || col >= p->nc)
        return scree_fail(log, SCREE_BAD_INPUT,
                          "problem: W has column %d in row %d, expected 0 to %d", col, c,
                          p->nc - 1);
      if (k > rows->row[c] && rows->col[k - 1] >= col)
        return scree_fail(
            log, SCREE_BAD_INPUT,
            "problem: columns of row %d of W are not in order, expected them to ascend", c);
      diagonal = diagonal || col == c;
    }
    if (!diagonal)
      return scree_fail(
          log, SCREE_BAD_INPUT,
          "problem: W has no diagonal block for contact %d, expected one for each contact", c);
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

/* A of the further vertices: symmetric by its storage; the factorisation checks that it is positive
 * definite. */
static scree_Status check_vertices(const scree_Problem *p, const scree_Log *log) {
  const scree_Vertices *v = &p->vertices;
  size_t numbers = 0;
  for (int k = 0; k < v->count; ++k) {
    if (v->size[k] < 1)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: vertex %d has %d velocity components, expected 1 or more",
                        p->bodies.nbodies + k, v->size[k]);
    for (size_t j = v->row ? v->row[k] : 0; v->row && j < v->row[k + 1]; ++j) {
      if (v->col[j] < 0 || v->col[j] >= k || (j > v->row[k] && v->col[j - 1] >= v->col[j]))
        return scree_fail(log, SCREE_BAD_INPUT,
                          "problem: vertex %d is coupled with %d, expected ascending numbers below "
                          "its own",
                          p->bodies.nbodies + k, p->bodies.nbodies + v->col[j]);
      numbers += (size_t)v->size[k] * (size_t)v->size[v->col[j]];
    }
  }
  for (size_t k = 0; k < numbers; ++k)
    if (!isfinite(v->x[k]))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: number %zu of the coupling of vertices is %g, expected a finite "
                        "number",
                        k, v->x[k]);
  return SCREE_OK;
}

static scree_Status check_entry(const scree_Problem *p, int k, size_t e, const scree_Log *log) {
  const scree_GeneralRows *g = &p->general;
  const int v = g->vertex[e], c = p->nc + k, most = p->bodies.nbodies + p->vertices.count - 1;
  if (v < 0 || v > most)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: constraint %d touches vertex %d, expected 0 to %d", c, v, most);
  for (size_t f = g->entry[k]; f < e; ++f)
    if (g->vertex[f] == v)
      return scree_fail(
          log, SCREE_BAD_INPUT,
          "problem: constraint %d touches vertex %d twice, expected different vertices", c, v);
  const size_t size =
      (size_t)(v < p->bodies.nbodies ? p->bodies.nb : p->vertices.size[v - p->bodies.nbodies]);
  if (g->block[e + 1] != g->block[e] + (g->row[k + 1] - g->row[k]) * size)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: the block of constraint %d on vertex %d has %zu numbers, expected "
                      "%zu x %zu",
                      c, v, g->block[e + 1] - g->block[e], g->row[k + 1] - g->row[k], size);
  for (size_t i = g->block[e]; i < g->block[e + 1]; ++i)
    if (!isfinite(g->B[i]))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: B of constraint %d is %g, expected a finite number", c, g->B[i]);
  return SCREE_OK;
}

/* Cones need a normal and one or two tangents; a half-line and the whole space may have any size.
 */
static scree_Status check_set_size(const scree_Problem *p, int k, size_t rows,
                                   const scree_Log *log) {
  const scree_SetKind kind = (scree_SetKind)p->set[p->nc + k];
  const bool any = kind == SCREE_SET_SPACE || kind == SCREE_SET_HALF_LINE || kind == SCREE_SET_BALL;
  if (kind == SCREE_SET_ROLLING) {
    const size_t wanted = p->d == 2 ? 3 : 6;
    if (rows == wanted) return SCREE_OK;
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: constraint %d is a contact with rolling in %zu rows, expected %zu",
                      p->nc + k, rows, wanted);
  }
  if (any || rows == 2 || rows == 3) return SCREE_OK;
  return scree_fail(log, SCREE_BAD_INPUT,
                    "problem: the set of constraint %d is a cone in %zu rows, expected 2 or 3",
                    p->nc + k, rows);
}

static scree_Status check_general(const scree_Problem *p, const scree_Log *log) {
  const scree_GeneralRows *g = &p->general;
  size_t squares = 0;
  if (!p->set)
    return scree_fail(
        log, SCREE_BAD_INPUT,
        "problem: %d constraints of any size without sets, expected `set` to be given", g->count);
  if (g->row[0] != (size_t)p->nc * (size_t)p->d || g->entry[0] != 0)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: the rows of constraints of any size start at %zu, expected %zu",
                      g->row[0], (size_t)p->nc * (size_t)p->d);
  for (int k = 0; k < g->count; ++k) {
    if (g->row[k + 1] <= g->row[k] || g->row[k + 1] - g->row[k] > SCREE_ROWS_MAX ||
        g->entry[k + 1] < g->entry[k])
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: constraint %d has %td rows, expected 1 to %d", p->nc + k,
                        (ptrdiff_t)(g->row[k + 1] - g->row[k]), SCREE_ROWS_MAX);
    const size_t rows = g->row[k + 1] - g->row[k];
    scree_Status status = check_set_size(p, k, rows, log);
    for (size_t e = g->entry[k]; !status && e < g->entry[k + 1]; ++e)
      status = check_entry(p, k, e, log);
    if (status) return status;
    squares += rows * rows;
  }
  for (size_t i = 0; g->C && i < squares; ++i)
    if (!isfinite(g->C[i]))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: C of a constraint is %g, expected a finite number", g->C[i]);
  return SCREE_OK;
}

static scree_Status check_bodies(const scree_Problem *p, const scree_Log *log) {
  for (int e = 0; e < 2 * p->nc; ++e) {
    const int b = p->bodies.body[e];
    if (b < -1 || b >= p->bodies.nbodies)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: contact %d touches body %d, expected -1 (obstacle) to %d", e / 2,
                        b, p->bodies.nbodies - 1);
    if (e % 2 && b >= 0 && b == p->bodies.body[e - 1])
      return scree_fail(
          log, SCREE_BAD_INPUT,
          "problem: contact %d touches body %d twice, expected two bodies, or -1 for an obstacle",
          e / 2, b);
  }
  scree_Status status = p->bodies.B ? check_finite("B", p->bodies.B, (size_t)p->nc,
                                                   2 * (size_t)p->d * (size_t)p->bodies.nb, log)
                                    : check_balls(p, log);
  if (!status && p->bodies.C)
    status = check_finite("C", p->bodies.C, (size_t)p->nc, (size_t)p->d * (size_t)p->d, log);
  if (!status && p->vertices.count) status = check_vertices(p, log);
  if (!status && p->general.count) status = check_general(p, log);
  return status;
}

/* H must be symmetric and positive definite, and must not mix the normal with the tangents (002
 * section 9: blocks h11 and h22, h23, h33). */
static scree_Status check_flow(const scree_Problem *p, const scree_Log *log) {
  const int d = p->d;
  if (p->flow != SCREE_ASSOCIATED)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: a flow H is given with Coulomb's law, expected the associated law");
  for (int c = 0; c < p->nc; ++c) {
    const double *H = p->flow_blocks + (size_t)c * (size_t)(d * d);
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

static scree_Status check_sets(const scree_Problem *p, size_t n, const scree_Log *log) {
  for (size_t c = 0; c < n; ++c) {
    if (p->set[c] >= SCREE_SET_KINDS)
      return scree_fail(log, SCREE_BAD_INPUT, "problem: set of contact %zu is %d, expected 0 to %d",
                        c, p->set[c], SCREE_SET_KINDS - 1);
    if (c < (size_t)p->nc && p->set[c] == SCREE_SET_ROLLING)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "problem: contact %zu has %d rows and resists rolling, expected it behind "
                        "the contacts, as a constraint of %d rows",
                        c, p->d, p->d == 2 ? 3 : 6);
  }
  return SCREE_OK;
}

scree_Status scree_problem_check(const scree_Problem *p, const scree_Log *log) {
  scree_Status status = scree_problem_check_sizes(p->d, p->nc, log);
  if (status) return status;
  if (p->flow != SCREE_COULOMB && p->flow != SCREE_ASSOCIATED)
    return scree_fail(log, SCREE_BAD_INPUT, "problem: law is %d, expected coulomb or associated",
                      (int)p->flow);
  if (p->general.count < 0 || p->vertices.count < 0)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: %d constraints of any size and %d further vertices, expected >= 0",
                      p->general.count, p->vertices.count);
  if (p->kind == SCREE_ASSEMBLED && (p->general.count || p->vertices.count))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: W is assembled and there are %d constraints of any size, expected "
                      "contacts only",
                      p->general.count);
  const size_t n = (size_t)scree_problem_constraints(p);
  if (p->set) status = check_sets(p, n, log);
  if (!status) status = p->kind == SCREE_ASSEMBLED ? check_blocks(p, log) : check_bodies(p, log);
  if (!status) status = check_finite("q", p->q, (size_t)p->nc, (size_t)p->d, log);
  for (size_t i = (size_t)p->nc * (size_t)p->d; !status && i < scree_problem_rows(p); ++i)
    if (!isfinite(p->q[i]))
      status = scree_fail(log, SCREE_BAD_INPUT,
                          "problem: row %zu of q is %g, expected a finite number", i, p->q[i]);
  if (!status) status = check_not_negative("mu", p->mu, n, log);
  if (!status && p->set_a) status = check_not_negative("set parameter a", p->set_a, n, log);
  if (!status && p->set_b) status = check_not_negative("set parameter b", p->set_b, n, log);
  if (!status && p->flow_blocks) status = check_flow(p, log);
  return status;
}
