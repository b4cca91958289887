/* Factorising A over coupled vertices, and condensed blocks of W (see coupling.h). */
#include "problem/coupling.h"

#include "core/log.h"
#include "problem/pieces.h"

#include <stdlib.h>
#include <string.h>

/* ---- clusters ---------------------------------------------------------------------------------
 */

static int find_root(int *parent, int v) {
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}

/* cluster_of, members and places. Clusters are numbered by their first vertex. */
static scree_Status find_clusters(const scree_Vertices *v, scree_Coupling *coupling,
                                  scree_Arena *arena, scree_Arena *scratch, const scree_Log *log) {
  int *parent = SCREE_TAKE_RAW(scratch, int, v->count);
  coupling->coupled = SCREE_TAKE(arena, uint8_t, v->count);
  coupling->cluster_of = SCREE_TAKE_RAW(arena, int, v->count);
  coupling->place = SCREE_TAKE(arena, size_t, v->count);
  coupling->member = SCREE_TAKE_RAW(arena, int, v->count);
  if (!parent || !coupling->coupled || !coupling->cluster_of || !coupling->place ||
      !coupling->member)
    return scree_fail_memory(log, "the coupling of vertices");
  for (int k = 0; k < v->count; ++k) parent[k] = k;
  for (int k = 0; k < v->count; ++k)
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      const int a = find_root(parent, k), b = find_root(parent, v->col[j]);
      parent[a > b ? a : b] = a > b ? b : a;
      coupling->coupled[k] = coupling->coupled[v->col[j]] = 1;
    }
  for (int k = 0; k < v->count; ++k) { /* a root comes before the others of its cluster */
    coupling->cluster_of[k] = -1;
    if (!coupling->coupled[k]) continue;
    const int root = find_root(parent, k);
    coupling->cluster_of[k] = root == k ? coupling->clusters++ : coupling->cluster_of[root];
  }
  coupling->cluster = SCREE_TAKE(arena, scree_Cluster, coupling->clusters);
  if (!coupling->cluster) return scree_fail_memory(log, "the coupling of vertices");
  for (int k = 0; k < v->count; ++k)
    if (coupling->coupled[k]) ++coupling->cluster[coupling->cluster_of[k]].count;
  int filled = 0;
  for (int i = 0; i < coupling->clusters; ++i) {
    coupling->cluster[i].first = filled;
    filled += coupling->cluster[i].count;
    coupling->cluster[i].count = 0;
  }
  for (int k = 0; k < v->count; ++k) {
    if (!coupling->coupled[k]) continue;
    scree_Cluster *cluster = &coupling->cluster[coupling->cluster_of[k]];
    coupling->member[cluster->first + cluster->count++] = k;
    coupling->place[k] = cluster->length;
    cluster->length += (size_t)v->size[k];
  }
  return SCREE_OK;
}

/* ---- the factors of A -------------------------------------------------------------------------
 */

/* Where the blocks of each vertex begin in v->x. */
static const size_t *find_blocks(const scree_Vertices *v, scree_Arena *scratch) {
  size_t *start = SCREE_TAKE(scratch, size_t, v->count + 1);
  for (int k = 0; k < v->count && start; ++k) {
    start[k + 1] = start[k];
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j)
      start[k + 1] += (size_t)v->size[k] * (size_t)v->size[v->col[j]];
  }
  return start;
}

/* A = I + E of a cluster in the order of the pattern; `number` of a vertex within its cluster. */
static void fill_values(const scree_Vertices *v, const scree_Coupling *coupling,
                        const scree_Cluster *cluster, const int *number, const size_t *start,
                        const scree_Pieces *pieces, double *x) {
  const size_t g = (size_t)pieces->piece;
  memset(x, 0, pieces->row[pieces->n] * g * g * sizeof *x);
  for (int m = 0; m < cluster->count; ++m) {
    const int k = coupling->member[cluster->first + m];
    size_t length;
    const size_t own = scree_pieces_slot(pieces, m, m, &length);
    for (int i = 0; i < v->size[k]; ++i) {
      const size_t j = (size_t)i;
      x[(own + j / g * (length + 1)) * g * g + (j % g) * (g + 1)] = 1.0;
    }
    const double *block = v->x + start[k];
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j) {
      const int col = v->col[j], other = number[col];
      size_t slot = scree_pieces_slot(pieces, m, other, &length);
      scree_pieces_add(pieces, slot, length, v->size[k], v->size[col], block, false, x);
      slot = scree_pieces_slot(pieces, other, m, &length);
      scree_pieces_add(pieces, slot, length, v->size[col], v->size[k], block, true, x);
      block += (size_t)v->size[k] * (size_t)v->size[col];
    }
  }
}

/* Factorise the part of a cluster. size and pair have room for the largest one. */
static scree_Status factorise(const scree_Vertices *v, const scree_Coupling *coupling,
                              scree_Cluster *cluster, const int *number, const size_t *start,
                              int *size, int *pair, scree_Arena *arena, scree_Arena *scratch,
                              const scree_Log *log) {
  size_t pairs = 0;
  for (int m = 0; m < cluster->count; ++m) {
    const int k = coupling->member[cluster->first + m];
    size[m] = v->size[k];
    for (size_t j = v->row[k]; j < v->row[k + 1]; ++j, ++pairs) {
      pair[2 * pairs] = m;
      pair[2 * pairs + 1] = number[v->col[j]];
    }
  }
  scree_Pieces pieces;
  scree_Status status =
      scree_pieces_create(cluster->count, size, scree_piece_size(0, cluster->count, size), pairs,
                          pair, scratch, log, &pieces);
  if (status) return status;
  const size_t g = (size_t)pieces.piece;
  double *x = SCREE_TAKE_RAW(scratch, double, pieces.row[pieces.n] * g * g);
  if (!x) return scree_fail_memory(log, "the coupling of vertices");
  fill_values(v, coupling, cluster, number, start, &pieces, x);
  status = scree_factor_create_in(arena, scratch, pieces.n, pieces.piece, pieces.row, pieces.col,
                                  SCREE_FACTOR_SYMMETRIC, NULL, log, &cluster->factor);
  int perturbed = 0;
  if (!status) status = scree_factor_compute(cluster->factor, x, &perturbed);
  if (status == SCREE_MACHINE) return scree_fail_memory(log, "the coupling of vertices");
  if (status || perturbed || scree_factor_negative(cluster->factor))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "problem: the inertia of the coupled vertices from %d on has %d pivots that "
                      "are not positive, expected a positive definite matrix",
                      coupling->member[cluster->first],
                      status ? pieces.n : perturbed + scree_factor_negative(cluster->factor));
  return SCREE_OK;
}

static scree_Status factorise_all(const scree_Vertices *v, scree_Coupling *coupling,
                                  scree_Arena *arena, scree_Arena *scratch, const scree_Log *log) {
  size_t longest = 0;
  const size_t *start = find_blocks(v, scratch);
  int *number = SCREE_TAKE_RAW(scratch, int, v->count);
  int *size = SCREE_TAKE_RAW(scratch, int, v->count);
  int *pair = SCREE_TAKE_RAW(scratch, int, 2 * v->row[v->count]);
  if (!start || !number || !size || !pair)
    return scree_fail_memory(log, "the coupling of vertices");
  for (int i = 0; i < coupling->clusters; ++i) {
    const scree_Cluster *cluster = &coupling->cluster[i];
    if (cluster->length > longest) longest = cluster->length;
    for (int m = 0; m < cluster->count; ++m) number[coupling->member[cluster->first + m]] = m;
  }
  coupling->work = SCREE_TAKE_RAW(arena, double, longest);
  coupling->vector = SCREE_TAKE_RAW(arena, double, longest);
  if (!coupling->work || !coupling->vector)
    return scree_fail_memory(log, "the coupling of vertices");
  for (int i = 0; i < coupling->clusters; ++i) {
    const scree_ArenaMark mark = scree_arena_mark(scratch);
    const scree_Status status = factorise(v, coupling, &coupling->cluster[i], number, start, size,
                                          pair, arena, scratch, log);
    scree_arena_release(scratch, mark);
    if (status) return status;
  }
  return SCREE_OK;
}

void scree_coupling_solve(const scree_Operator *W, double *y) {
  const scree_Coupling *coupling = W->coupling;
  const int *sizes = W->problem->vertices.size;
  for (int i = 0; i < coupling->clusters; ++i) {
    const scree_Cluster *cluster = &coupling->cluster[i];
    const int *member = coupling->member + cluster->first;
    double *x = coupling->vector;
    for (int m = 0; m < cluster->count; ++m)
      memcpy(x + coupling->place[member[m]], y + W->offset[member[m]],
             (size_t)sizes[member[m]] * sizeof *x);
    scree_factor_solve(cluster->factor, coupling->work, x);
    for (int m = 0; m < cluster->count; ++m)
      memcpy(y + W->offset[member[m]], x + coupling->place[member[m]],
             (size_t)sizes[member[m]] * sizeof *x);
  }
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

/* ---- condensed W ------------------------------------------------------------------------------
 */

static size_t rows_of(const scree_GeneralRows *g, int k) {
  return g->row[k + 1] - g->row[k];
}

/* The cluster that entry e of a constraint touches, -1: none. */
static int cluster_at(const scree_Problem *p, const scree_Coupling *coupling, size_t e) {
  const int v = p->general.vertex[e] - p->bodies.nbodies;
  return v < 0 ? -1 : coupling->cluster_of[v];
}

/* The same for the first entry of constraint k in that cluster; -1 for the others. */
static int new_cluster_at(const scree_Problem *p, const scree_Coupling *coupling, int k, size_t e) {
  const int cluster = cluster_at(p, coupling, e);
  for (size_t before = p->general.entry[k]; before < e && cluster >= 0; ++before)
    if (cluster_at(p, coupling, before) == cluster) return -1;
  return cluster;
}

/* The constraints on each cluster, ascending: list[start[i]] .. list[start[i + 1] - 1]. */
typedef struct Lists {
  size_t *start;
  int *list;
} Lists;

static bool list_constraints(const scree_Problem *p, const scree_Coupling *coupling,
                             scree_Arena *scratch, Lists *lists) {
  const scree_GeneralRows *g = &p->general;
  lists->start = SCREE_TAKE(scratch, size_t, coupling->clusters + 2);
  lists->list = SCREE_TAKE_RAW(scratch, int, g->entry[g->count]);
  if (!lists->start || !lists->list) return false;
  size_t *next = lists->start + 1; /* start of a cluster, then its end: the start of the next */
  for (int k = 0; k < g->count; ++k)
    for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
      const int cluster = new_cluster_at(p, coupling, k, e);
      if (cluster >= 0 && cluster + 1 < coupling->clusters) ++next[cluster + 1];
    }
  for (int i = 1; i < coupling->clusters; ++i) next[i] += next[i - 1];
  for (int k = 0; k < g->count; ++k)
    for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
      const int cluster = new_cluster_at(p, coupling, k, e);
      if (cluster >= 0) lists->list[next[cluster]++] = k;
    }
  return true;
}

static int ascending(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* The constraints that share a cluster with k, each once, ascending, into col; returns how many.
 * `seen` (constraints) holds for which k a constraint was last found. */
static size_t find_partners(const scree_Problem *p, const scree_Coupling *coupling,
                            const Lists *lists, int k, int *seen, int *col) {
  const scree_GeneralRows *g = &p->general;
  size_t count = 0;
  int clusters = 0;
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    const int cluster = new_cluster_at(p, coupling, k, e);
    if (cluster < 0) continue;
    ++clusters;
    for (size_t i = lists->start[cluster]; i < lists->start[cluster + 1]; ++i) {
      const int c = lists->list[i];
      if (seen[c] == k) continue;
      seen[c] = k;
      if (col) col[count] = c;
      ++count;
    }
  }
  if (col && clusters > 1) qsort(col, count, sizeof *col, ascending);
  return count;
}

/* B_k^T of row i over a cluster, into x (zeroed). */
static void scatter_row(const scree_Problem *p, const scree_Coupling *coupling, int cluster, int k,
                        size_t i, double *x) {
  const scree_GeneralRows *g = &p->general;
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    if (cluster_at(p, coupling, e) != cluster) continue;
    const int v = g->vertex[e] - p->bodies.nbodies;
    const size_t size = (size_t)p->vertices.size[v];
    memcpy(x + coupling->place[v], g->B + g->block[e] + i * size, size * sizeof *x);
  }
}

/* sum[j] += row j of B of constraint k times x over a cluster. */
static void gather_rows(const scree_Problem *p, const scree_Coupling *coupling, int cluster, int k,
                        const double *x, double *sum) {
  const scree_GeneralRows *g = &p->general;
  const size_t rows = rows_of(g, k);
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    if (cluster_at(p, coupling, e) != cluster) continue;
    const int v = g->vertex[e] - p->bodies.nbodies;
    const size_t size = (size_t)p->vertices.size[v];
    const double *B = g->B + g->block[e], *at = x + coupling->place[v];
    for (size_t j = 0; j < rows; ++j)
      for (size_t a = 0; a < size; ++a) sum[j] += B[j * size + a] * at[a];
  }
}

/* Blocks of row k: W_kc = (A^-1 B_k^T)^T B_c^T for all c that share a cluster; slot (constraints)
 * tells where c is in the row. */
static void fill_row(const scree_Problem *p, const scree_Coupling *coupling, const Lists *lists,
                     int k, const size_t *slot) {
  const scree_GeneralRows *g = &p->general;
  double *x = coupling->vector;
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    const int cluster = new_cluster_at(p, coupling, k, e);
    if (cluster < 0) continue;
    for (size_t i = 0; i < rows_of(g, k); ++i) {
      memset(x, 0, coupling->cluster[cluster].length * sizeof *x);
      scatter_row(p, coupling, cluster, k, i, x);
      scree_factor_solve(coupling->cluster[cluster].factor, coupling->work, x);
      for (size_t n = lists->start[cluster]; n < lists->start[cluster + 1]; ++n) {
        const int c = lists->list[n];
        gather_rows(p, coupling, cluster, c, x,
                    coupling->values + coupling->block[slot[c]] + i * rows_of(g, c));
      }
    }
  }
}

static scree_Status condense(const scree_Problem *p, scree_Coupling *coupling, scree_Arena *arena,
                             scree_Arena *scratch, const scree_Log *log) {
  const scree_GeneralRows *g = &p->general;
  const int count = g->count;
  Lists lists;
  int *seen = SCREE_TAKE_RAW(scratch, int, count);
  size_t *slot = SCREE_TAKE_RAW(scratch, size_t, count);
  coupling->row = SCREE_TAKE(arena, size_t, count + 1);
  if (!list_constraints(p, coupling, scratch, &lists) || !seen || !slot || !coupling->row)
    return scree_fail_memory(log, "the condensed blocks of W");
  for (int k = 0; k < count; ++k) seen[k] = -1;
  for (int k = 0; k < count; ++k)
    coupling->row[k + 1] = coupling->row[k] + find_partners(p, coupling, &lists, k, seen, NULL);
  coupling->col = SCREE_TAKE_RAW(arena, int, coupling->row[count]);
  coupling->block = SCREE_TAKE_RAW(arena, size_t, coupling->row[count]);
  if (!coupling->col || !coupling->block)
    return scree_fail_memory(log, "the condensed blocks of W");
  size_t numbers = 0;
  for (int k = 0; k < count; ++k) seen[k] = -1;
  for (int k = 0; k < count; ++k) {
    find_partners(p, coupling, &lists, k, seen, coupling->col + coupling->row[k]);
    for (size_t e = coupling->row[k]; e < coupling->row[k + 1]; ++e) {
      coupling->block[e] = numbers;
      numbers += rows_of(g, k) * rows_of(g, coupling->col[e]);
    }
  }
  if (!(coupling->values = SCREE_TAKE(arena, double, numbers)))
    return scree_fail_memory(log, "the condensed blocks of W");
  for (int k = 0; k < count; ++k) {
    for (size_t e = coupling->row[k]; e < coupling->row[k + 1]; ++e) slot[coupling->col[e]] = e;
    fill_row(p, coupling, &lists, k, slot);
  }
  return SCREE_OK;
}

void scree_coupling_velocity(const scree_Operator *W, int k, const double *r, double *u) {
  const scree_GeneralRows *g = &W->problem->general;
  const scree_Coupling *coupling = W->coupling;
  const size_t rows = rows_of(g, k);
  for (size_t e = coupling->row[k]; e < coupling->row[k + 1]; ++e) {
    const int c = coupling->col[e];
    const size_t width = rows_of(g, c);
    const double *x = coupling->values + coupling->block[e], *rc = r + g->row[c];
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < width; ++j) u[i] += x[i * width + j] * rc[j];
  }
}

void scree_coupling_diagonal(const scree_Operator *W, int k, double *D) {
  const scree_Coupling *coupling = W->coupling;
  const size_t rows = rows_of(&W->problem->general, k);
  for (size_t e = coupling->row[k]; e < coupling->row[k + 1]; ++e)
    if (coupling->col[e] == k)
      for (size_t i = 0; i < rows * rows; ++i) D[i] += coupling->values[coupling->block[e] + i];
}

/* ---- create -----------------------------------------------------------------------------------
 */

scree_Status scree_coupling_create(const scree_Operator *W, scree_Arena *arena,
                                   const scree_Log *log, const scree_Coupling **out) {
  const scree_Problem *p = W->problem;
  *out = NULL;
  if (!p->vertices.row || !p->vertices.row[p->vertices.count]) return SCREE_OK;
  scree_Coupling *coupling = SCREE_TAKE(arena, scree_Coupling, 1);
  if (!coupling) return scree_fail_memory(log, "the coupling of vertices");
  scree_Arena scratch = {0};
  scree_Status status = find_clusters(&p->vertices, coupling, arena, &scratch, log);
  if (!status) status = factorise_all(&p->vertices, coupling, arena, &scratch, log);
  if (!status) status = condense(p, coupling, arena, &scratch, log);
  scree_arena_fini(&scratch);
  if (!status) *out = coupling;
  return status;
}
