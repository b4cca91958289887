/* Factorising A over coupled vertices, and its condensed inverse (see coupling.h). */
#include "problem/coupling.h"

#include "core/log.h"
#include "core/union_find.h"
#include "math/simd.h"
#include "problem/pieces.h"

#include <string.h>

/* Doubles of the further vertices, which are contiguous at the end of a state. */
static size_t length_of(const scree_Operator *W) {
  return W->offset[W->problem->vertices.count] - W->offset[0];
}

/* ---- the factor of A --------------------------------------------------------------------------
 */

/* A = I + E in the order of the pattern. */
static void fill_values(const scree_Vertices *v, const scree_Pieces *pieces, double *x) {
  const size_t g = (size_t)pieces->piece;
  memset(x, 0, pieces->row[pieces->n] * g * g * sizeof *x);
  const double *block = v->x;
  for (int k = 0; k < v->count; ++k) {
    size_t length;
    const size_t own = scree_pieces_slot(pieces, k, k, &length);
    for (int i = 0; i < v->size[k]; ++i) {
      const size_t j = (size_t)i;
      x[(own + j / g * (length + 1)) * g * g + (j % g) * (g + 1)] = 1.0;
    }
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      const int col = v->col[j];
      size_t slot = scree_pieces_slot(pieces, k, col, &length);
      scree_piece_add(x, pieces->piece, slot, length, v->size[k], v->size[col], block, false);
      slot = scree_pieces_slot(pieces, col, k, &length);
      scree_piece_add(x, pieces->piece, slot, length, v->size[col], v->size[k], block, true);
      block += (size_t)v->size[k] * (size_t)v->size[col];
    }
  }
}

static scree_Status factorise_in(const scree_Problem *p, scree_Coupling *coupling,
                                 scree_Arena *arena, scree_Arena *scratch, const scree_Log *log) {
  const scree_Vertices *v = &p->vertices;
  const size_t pairs = v->row[v->count];
  int *pair = SCREE_TAKE_RAW(scratch, int, 2 * pairs);
  if (!pair) return scree_fail_memory(log, "the coupling of vertices");
  for (int k = 0; k < v->count; ++k)
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      pair[2 * j] = k;
      pair[2 * j + 1] = v->col[j];
    }
  scree_Pieces pieces;
  coupling->piece = scree_piece_size(0, v->count, v->size);
  scree_Status status =
      scree_pieces_create(v->count, v->size, coupling->piece, pairs, pair, scratch, log, &pieces);
  if (status) return status;
  coupling->nodes = pieces.n;
  const size_t g = (size_t)pieces.piece;
  double *x = SCREE_TAKE_RAW(scratch, double, pieces.row[pieces.n] * g * g);
  if (!x) return scree_fail_memory(log, "the coupling of vertices");
  fill_values(v, &pieces, x);
  status = scree_factor_create_in(arena, scratch, pieces.n, pieces.piece, pieces.row, pieces.col,
                                  SCREE_FACTOR_SYMMETRIC, NULL, log, &coupling->factor);
  int perturbed = 0;
  if (!status) status = scree_factor_compute(coupling->factor, x, &perturbed);
  if (status == SCREE_MACHINE) return scree_fail_memory(log, "the coupling of vertices");
  if (status || perturbed || scree_factor_negative(coupling->factor))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: the inertia of the coupled vertices has %d pivots that are not "
                      "positive, expected a positive definite matrix",
                      status ? pieces.n : perturbed + scree_factor_negative(coupling->factor));
  return SCREE_OK;
}

static scree_Status factorise(const scree_Problem *p, scree_Coupling *coupling, scree_Arena *arena,
                              const scree_Log *log) {
  scree_Arena scratch = {0};
  const scree_Status status = factorise_in(p, coupling, arena, &scratch, log);
  scree_arena_fini(&scratch);
  return status;
}

/* x := A^-1 x */
static void solve(const scree_Vertices *v, const scree_Coupling *coupling, double *x) {
  if (v->solve)
    v->solve(v->user, x);
  else
    scree_factor_solve(coupling->factor, coupling->work, x);
}

void scree_coupling_solve(const scree_Operator *W, double *y) {
  solve(&W->problem->vertices, W->coupling, y + W->offset[0]);
}

void scree_coupling_multiply(const scree_Operator *W, const double *y, double *out) {
  const scree_Vertices *v = &W->problem->vertices;
  const double *x = v->x;
  for (int k = 0; k < v->count; ++k)
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      const int rows = v->size[k], cols = v->size[v->col[j]];
      const size_t a = W->offset[k], b = W->offset[v->col[j]];
      for (int i = 0; i < rows; ++i)
        for (int m = 0; m < cols; ++m, ++x) {
          out[a + (size_t)i] += *x * y[b + (size_t)m];
          out[b + (size_t)m] += *x * y[a + (size_t)i];
        }
    }
}

/* ---- condensed inverses -----------------------------------------------------------------------
 */

/* Number the groups of vertices that E connects. */
static scree_Status find_groups(const scree_Problem *p, scree_Coupling *coupling,
                                scree_Arena *arena, const scree_Log *log) {
  const scree_Vertices *v = &p->vertices;
  int *parent = SCREE_TAKE_RAW(arena, int, v->count);
  coupling->group_of = SCREE_TAKE_RAW(arena, int, v->count);
  coupling->place = SCREE_TAKE_RAW(arena, int, v->count);
  if (!parent || !coupling->group_of || !coupling->place)
    return scree_fail_memory(log, "the groups of coupled vertices");
  for (int k = 0; k < v->count; ++k) parent[k] = k;
  for (int k = 0; k < v->count; ++k)
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      scree_unite(parent, k, v->col[j]);
      coupling->coupled[k] = coupling->coupled[v->col[j]] = 1;
    }
  for (int k = 0; k < v->count; ++k) { /* a root is the first vertex of its group */
    const int root = scree_root_of(parent, k);
    coupling->place[k] = -1;
    if (!coupling->coupled[k])
      coupling->group_of[k] = -1;
    else
      coupling->group_of[k] = root == k ? coupling->groups++ : coupling->group_of[root];
  }
  coupling->group = SCREE_TAKE(arena, scree_CoupledGroup, coupling->groups);
  return coupling->group ? SCREE_OK : scree_fail_memory(log, "the groups of coupled vertices");
}

/* The runs of a group, of which every vertex may begin one. */
static void find_runs(const scree_Operator *W, scree_CoupledGroup *group) {
  for (int t = 0; t < group->count; ++t) {
    const int v = group->vertex[t];
    scree_CoupledRun *last = &group->run[group->runs - (group->runs > 0)];
    const size_t size = (size_t)W->problem->vertices.size[v];
    if (group->runs > 0 && last->at + last->count == W->offset[v])
      last->count += size;
    else
      group->run[group->runs++] = (scree_CoupledRun){W->offset[v], size};
  }
}

/* The touched vertices of each group, and their places in its inverse. */
static scree_Status find_touched(const scree_Operator *W, scree_Coupling *coupling,
                                 scree_Arena *arena, const scree_Log *log) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  for (size_t e = 0; e < (g->count ? g->entry[g->count] : 0); ++e) {
    const int v = g->vertex[e] - p->bodies.nbodies;
    if (v < 0 || !coupling->coupled[v] || coupling->place[v] == 0) continue;
    coupling->place[v] = 0; /* touched */
    coupling->group[coupling->group_of[v]].room++;
  }
  for (int k = 0; k < coupling->groups; ++k) {
    scree_CoupledGroup *group = &coupling->group[k];
    group->vertex = SCREE_TAKE_RAW(arena, int, group->room);
    group->run = SCREE_TAKE_RAW(arena, scree_CoupledRun, group->room);
    if (!group->vertex || !group->run) return scree_fail_memory(log, "the touched vertices");
  }
  for (int v = 0; v < p->vertices.count; ++v) {
    if (coupling->place[v] < 0) continue;
    scree_CoupledGroup *group = &coupling->group[coupling->group_of[v]];
    group->vertex[group->count++] = v;
    coupling->place[v] = (int)group->width;
    group->width += (size_t)p->vertices.size[v];
  }
  for (int k = 0; k < coupling->groups; ++k) {
    scree_CoupledGroup *group = &coupling->group[k];
    group->inverse = SCREE_TAKE_RAW(arena, double, group->width * group->width);
    if (!group->inverse) return scree_fail_memory(log, "the condensed inverse of A");
    find_runs(W, group);
  }
  return SCREE_OK;
}

/* Component `column` of the touched vertices of a group, as a place in the further vertices. */
static size_t component(const scree_Operator *W, const scree_Coupling *coupling,
                        const scree_CoupledGroup *group, int *vertex, size_t column) {
  while (*vertex + 1 < group->count &&
         (size_t)coupling->place[group->vertex[*vertex + 1]] <= column)
    ++*vertex;
  const int v = group->vertex[*vertex];
  return W->offset[v] - W->offset[0] + (column - (size_t)coupling->place[v]);
}

/* The columns of the inverses: groups do not see each other, so that one solution has a column of
 * each of them. */
static scree_Status condense(const scree_Operator *W, scree_Coupling *coupling, scree_Arena *arena,
                             const scree_Log *log) {
  const scree_Problem *p = W->problem;
  double *x = SCREE_TAKE_RAW(arena, double, length_of(W));
  int *at = SCREE_TAKE(arena, int, coupling->groups);
  if (!x || !at) return scree_fail_memory(log, "the condensed inverse of A");
  size_t widest = 0;
  for (int k = 0; k < coupling->groups; ++k)
    if (coupling->group[k].width > widest) widest = coupling->group[k].width;
  for (size_t column = 0; column < widest; ++column) {
    memset(x, 0, length_of(W) * sizeof *x);
    for (int k = 0; k < coupling->groups; ++k)
      if (column < coupling->group[k].width)
        x[component(W, coupling, &coupling->group[k], &at[k], column)] = 1.0;
    solve(&p->vertices, coupling, x);
    for (int k = 0; k < coupling->groups; ++k) {
      const scree_CoupledGroup *group = &coupling->group[k];
      if (column >= group->width) continue;
      double *row = group->inverse + column * group->width; /* symmetric: a row for a column */
      for (int t = 0; t < group->count; ++t) {
        const int v = group->vertex[t];
        const double *from = x + (W->offset[v] - W->offset[0]);
        for (int j = 0; j < p->vertices.size[v]; ++j) *row++ = from[j];
      }
    }
  }
  return SCREE_OK;
}

/* y (n) += f x, and the same for three rows of a matrix at once, each element in their order. */
SCREE_CLONES static void add_one(size_t n, const double *x, double f, double *y) {
  size_t k = 0;
  for (; k + 4 <= n; k += 4)
    *scree_lane_at(y + k) = scree_lane_load(y + k) + scree_lane_load(x + k) * f;
  for (; k < n; ++k) y[k] += x[k] * f;
}

SCREE_CLONES static void add_three(size_t n, const double *x, size_t width, const double *f,
                                   double *y) {
  const double *x1 = x + width, *x2 = x1 + width;
  size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    const scree_Lane sum = scree_lane_load(y + k) + scree_lane_load(x + k) * f[0];
    *scree_lane_at(y + k) = sum + scree_lane_load(x1 + k) * f[1] + scree_lane_load(x2 + k) * f[2];
  }
  for (; k < n; ++k) y[k] = y[k] + x[k] * f[0] + x1[k] * f[1] + x2[k] * f[2];
}

void scree_coupling_push(const scree_Operator *W, size_t e, size_t rows, const double *dr,
                         double *y) {
  const scree_Vertices *vertices = &W->problem->vertices;
  const scree_GeneralRows *g = &W->problem->general;
  const scree_Coupling *coupling = W->coupling;
  const int k = g->vertex[e] - W->problem->bodies.nbodies;
  const size_t own = (size_t)vertices->size[k];
  const double *B = g->B + g->block[e];
  const scree_CoupledGroup *group = &coupling->group[coupling->group_of[k]];
  const double *inverse = group->inverse + (size_t)coupling->place[k] * group->width;
  double f[3];
  for (size_t i = 0; i < own; i += 3) { /* a node has three components */
    const size_t n = own - i < 3 ? own - i : 3;
    for (size_t m = 0; m < n; ++m) {
      f[m] = 0.0;
      for (size_t j = 0; j < rows; ++j) f[m] += B[j * own + i + m] * dr[j];
    }
    const double *x = inverse + i * group->width;
    for (int t = 0; t < group->runs; ++t) {
      const scree_CoupledRun *run = &group->run[t];
      if (n == 3)
        add_three(run->count, x, group->width, f, y + run->at);
      else
        for (size_t m = 0; m < n; ++m) add_one(run->count, x + m * group->width, f[m], y + run->at);
      x += run->count;
    }
  }
}

void scree_coupling_diagonal(const scree_Operator *W, int k, double *D) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  const scree_Coupling *coupling = W->coupling;
  const size_t rows = g->row[k + 1] - g->row[k];
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e)
    for (size_t f = g->entry[k]; f < g->entry[k + 1]; ++f) {
      const int a = g->vertex[e] - p->bodies.nbodies, b = g->vertex[f] - p->bodies.nbodies;
      if (a < 0 || b < 0 || !coupling->coupled[a] || !coupling->coupled[b]) continue;
      if (coupling->group_of[a] != coupling->group_of[b]) continue;
      const scree_CoupledGroup *group = &coupling->group[coupling->group_of[a]];
      const size_t sa = (size_t)p->vertices.size[a], sb = (size_t)p->vertices.size[b];
      const double *inverse =
          group->inverse + (size_t)coupling->place[a] * group->width + (size_t)coupling->place[b];
      const double *Ba = g->B + g->block[e], *Bb = g->B + g->block[f];
      for (size_t i = 0; i < rows; ++i)
        for (size_t m = 0; m < sa; ++m) {
          const double factor = Ba[i * sa + m];
          for (size_t j = 0; j < rows; ++j)
            for (size_t n = 0; n < sb; ++n)
              D[i * rows + j] += factor * inverse[m * group->width + n] * Bb[j * sb + n];
        }
    }
}

/* ---- create and destroy -----------------------------------------------------------------------
 */

scree_Status scree_coupling_create(const scree_Operator *W, scree_Arena *arena,
                                   const scree_Log *log, const scree_Coupling **out) {
  const scree_Problem *p = W->problem;
  *out = NULL;
  if (!p->vertices.row || !p->vertices.row[p->vertices.count]) return SCREE_OK;
  scree_Coupling *coupling = SCREE_TAKE(arena, scree_Coupling, 1);
  if (coupling) coupling->coupled = SCREE_TAKE(arena, uint8_t, p->vertices.count);
  if (coupling) coupling->work = SCREE_TAKE_RAW(arena, double, length_of(W));
  if (!coupling || !coupling->coupled || !coupling->work)
    return scree_fail_memory(log, "the coupling of vertices");
  scree_Status status = p->vertices.solve ? SCREE_OK : factorise(p, coupling, arena, log);
  if (!status) status = find_groups(p, coupling, arena, log);
  if (!status) status = find_touched(W, coupling, arena, log);
  if (!status) status = condense(W, coupling, arena, log);
  if (!status) *out = coupling;
  return status;
}
