/* Mechanisms (see mechanism.h). */
#include "solver/mechanism.h"

#include "core/log.h"
#include "problem/pieces.h"

#include <math.h>
#include <string.h>

/* A pivot below this part of its diagonal is round-off. */
static const double rounding = 1e-11;
/* Operations of a factorisation, per constraint of the problem, above which mechanisms are left to
 * the visits one by one: about a hundred sweeps. A net of 1e4 distances needs 1e3, one of 1e4
 * hinges 1e5 (bench/results/joints.txt). */
static const double most_operations = 3e5;
enum { MOST_CHANGES = 20 }; /* of what holds; then nothing begins to hold any more */

/* ---- which constraints, and which of them are neighbours --------------------------------------
 */

static bool may_hold(const scree_Operator *W, int k) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  const int kind = p->set ? p->set[p->nc + k] : SCREE_SET_CONE;
  const size_t rows = g->row[k + 1] - g->row[k];
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e)
    if (scree_is_coupled(W, g->vertex[e])) return false;
  return kind == SCREE_SET_SPACE || kind == SCREE_SET_BALL || kind == SCREE_SET_SHIFTED ||
         (kind == SCREE_SET_HALF_LINE && rows == 1);
}

/* Entries of the constraints in the list, by vertex. */
static bool find_touching(const scree_Operator *W, scree_Arena *arena, scree_Mechanisms *m) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  const int vertices = p->bodies.nbodies + p->vertices.count;
  m->start = SCREE_TAKE(arena, size_t, vertices + 2);
  m->entry = SCREE_TAKE_RAW(arena, size_t, g->entry[g->count]);
  m->owner = SCREE_TAKE_RAW(arena, int, g->entry[g->count]);
  if (!m->start || !m->entry || !m->owner) return false;
  size_t *next = m->start + 1; /* filled, it becomes the starts of the next vertices */
  for (int k = 0; k < m->count; ++k)
    for (size_t e = g->entry[m->constraint[k]]; e < g->entry[m->constraint[k] + 1]; ++e)
      ++next[g->vertex[e] + 1];
  for (int v = 0; v < vertices; ++v) next[v + 1] += next[v];
  for (int k = 0; k < m->count; ++k)
    for (size_t e = g->entry[m->constraint[k]]; e < g->entry[m->constraint[k] + 1]; ++e) {
      const size_t at = next[g->vertex[e]]++;
      m->entry[at] = e;
      m->owner[at] = k;
    }
  return true;
}

/* Constraints that may hold and share a vertex with another one. False: memory. */
static bool find_constraints(const scree_Operator *W, scree_Arena *arena, scree_Mechanisms *m) {
  const scree_GeneralRows *g = &W->problem->general;
  const int vertices = W->problem->bodies.nbodies + W->problem->vertices.count;
  m->constraint = SCREE_TAKE_RAW(arena, int, g->count);
  int *touched = SCREE_TAKE(arena, int, vertices);
  if (!m->constraint || !touched) return false;
  for (int k = 0; k < g->count; ++k)
    if (may_hold(W, k))
      for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) ++touched[g->vertex[e]];
  m->count = 0;
  for (int k = 0; k < g->count; ++k) {
    bool shares = false;
    if (!may_hold(W, k)) continue;
    for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e)
      shares = shares || touched[g->vertex[e]] > 1;
    if (shares) m->constraint[m->count++] = k;
  }
  return true;
}

/* A lower bound of the operations: the constraints of each vertex are a dense block of S. */
static double least_operations(const scree_Operator *W, const scree_Mechanisms *m) {
  const scree_GeneralRows *g = &W->problem->general;
  const int vertices = W->problem->bodies.nbodies + W->problem->vertices.count;
  double most = 0;
  for (int v = 0; v < vertices; ++v) {
    double rows = 0;
    for (size_t i = m->start[v]; i < m->start[v + 1]; ++i) {
      const int c = m->constraint[m->owner[i]];
      rows += (double)(g->row[c + 1] - g->row[c]);
    }
    most = fmax(most, rows * rows * rows / 3);
  }
  return most;
}

/* Ascending; lists are short and nearly in order. */
static void sort(int *list, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    const int value = list[i];
    size_t j = i;
    for (; j > 0 && list[j - 1] > value; --j) list[j] = list[j - 1];
    list[j] = value;
  }
}

static bool find_neighbours(const scree_Operator *W, scree_Arena *arena, scree_Mechanisms *m) {
  const scree_GeneralRows *g = &W->problem->general;
  size_t most = 0;
  for (int k = 0; k < m->count; ++k)
    for (size_t e = g->entry[m->constraint[k]]; e < g->entry[m->constraint[k] + 1]; ++e)
      most += m->start[g->vertex[e] + 1] - m->start[g->vertex[e]];
  m->first = SCREE_TAKE_RAW(arena, size_t, m->count + 1);
  m->neighbour = SCREE_TAKE_RAW(arena, int, most);
  m->column = SCREE_TAKE_RAW(arena, int, m->count);
  if (!m->first || !m->neighbour || !m->column) return false;
  for (int k = 0; k < m->count; ++k) m->column[k] = -1;
  size_t end = m->first[0] = 0;
  for (int k = 0; k < m->count; ++k) {
    for (size_t e = g->entry[m->constraint[k]]; e < g->entry[m->constraint[k] + 1]; ++e)
      for (size_t i = m->start[g->vertex[e]]; i < m->start[g->vertex[e] + 1]; ++i) {
        if (m->column[m->owner[i]] == k) continue;
        m->column[m->owner[i]] = k;
        m->neighbour[end++] = m->owner[i];
      }
    sort(m->neighbour + m->first[k], end - m->first[k]);
    m->first[k + 1] = end;
  }
  return true;
}

/* ---- the system ------------------------------------------------------------------------------ */

static int rows_of(const scree_GeneralRows *g, int constraint) {
  return (int)(g->row[constraint + 1] - g->row[constraint]);
}

/* Nodes of nb rows, the largest number that divides the rows of every constraint. */
static bool find_nodes(const scree_Operator *W, scree_Arena *arena, scree_Mechanisms *m, int *nb) {
  const scree_GeneralRows *g = &W->problem->general;
  int size = 0;
  m->node = SCREE_TAKE_RAW(arena, int, m->count + 1);
  if (!m->node) return false;
  for (int k = 0; k < m->count; ++k)
    size = scree_common_divisor(rows_of(g, m->constraint[k]), size);
  m->node[0] = 0;
  for (int k = 0; k < m->count; ++k)
    m->node[k + 1] = m->node[k] + rows_of(g, m->constraint[k]) / size;
  *nb = size;
  return true;
}

/* The pattern of S over the nodes. */
static bool find_pattern(const scree_Mechanisms *m, scree_Arena *arena, size_t **row, int **col) {
  *row = SCREE_TAKE_RAW(arena, size_t, m->node[m->count] + 1);
  if (!*row) return false;
  size_t end = 0;
  for (int k = 0; k < m->count; ++k) {
    size_t width = 0;
    for (size_t i = m->first[k]; i < m->first[k + 1]; ++i)
      width += (size_t)(m->node[m->neighbour[i] + 1] - m->node[m->neighbour[i]]);
    for (int node = m->node[k]; node < m->node[k + 1]; ++node, end += width) (*row)[node] = end;
  }
  (*row)[m->node[m->count]] = end;
  int *at = *col = SCREE_TAKE_RAW(arena, int, end);
  if (!at) return false;
  for (int k = 0; k < m->count; ++k)
    for (int node = m->node[k]; node < m->node[k + 1]; ++node)
      for (size_t i = m->first[k]; i < m->first[k + 1]; ++i)
        for (int other = m->node[m->neighbour[i]]; other < m->node[m->neighbour[i] + 1]; ++other)
          *at++ = other;
  return true;
}

static bool is_same_pattern(const scree_MechanismFactor *kept, int n, int nb, const size_t *row,
                            const int *col) {
  return kept->factor && kept->n == n && kept->nb == nb && kept->row[n] == row[n] &&
         memcmp(kept->row, row, (size_t)n * sizeof *row) == 0 &&
         memcmp(kept->col, col, row[n] * sizeof *col) == 0;
}

/* Make `kept` the factor of the pattern. */
static scree_Status analyse(scree_MechanismFactor *kept, int n, int nb, const size_t *row,
                            const int *col, scree_Arena *scratch, const scree_Log *log) {
  if (is_same_pattern(kept, n, nb, row, col)) return SCREE_OK;
  kept->factor = NULL;
  scree_arena_reset(&kept->arena);
  kept->n = n;
  kept->nb = nb;
  kept->row = SCREE_TAKE_RAW(&kept->arena, size_t, n + 1);
  kept->col = SCREE_TAKE_RAW(&kept->arena, int, row[n]);
  if (!kept->row || !kept->col) return scree_fail_memory(log, "mechanisms");
  memcpy(kept->row, row, ((size_t)n + 1) * sizeof *row);
  memcpy(kept->col, col, row[n] * sizeof *col);
  const scree_Status status =
      scree_factor_create_in(&kept->arena, scratch, n, nb, kept->row, kept->col,
                             SCREE_FACTOR_SYMMETRIC, NULL, log, &kept->factor);
  if (!status) scree_factor_set_dependent(kept->factor, rounding);
  return status;
}

/* S += B D^T, the coupling of constraint k by its entry e and another constraint by its entry n. */
static void couple(const scree_Operator *W, scree_Mechanisms *m, int k, size_t e, size_t n) {
  const scree_GeneralRows *g = &W->problem->general;
  const int other = m->owner[n], v = g->vertex[e], d = m->constraint[other];
  const size_t nb = (size_t)m->kept->nb, size = (size_t)scree_vertex_size(W->problem, v);
  const size_t rows = g->row[m->constraint[k] + 1] - g->row[m->constraint[k]];
  const size_t columns = g->row[d + 1] - g->row[d];
  const double *B = g->B + g->block[e], *D = g->B + g->block[m->entry[n]];
  for (size_t i = 0; i < rows; ++i) {
    const size_t line = m->kept->row[(size_t)m->node[k] + i / nb] + (size_t)m->column[other];
    for (size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (size_t l = 0; l < size; ++l) sum += B[i * size + l] * D[j * size + l];
      m->S[(line + j / nb) * nb * nb + i % nb * nb + j % nb] += sum;
    }
  }
}

/* The rows of constraint k; unit rows where it does not hold. */
static void assemble(const scree_Operator *W, scree_Mechanisms *m, int k) {
  const scree_GeneralRows *g = &W->problem->general;
  const size_t nb = (size_t)m->kept->nb;
  const int c = m->constraint[k];
  int column = 0;
  for (size_t i = m->first[k]; i < m->first[k + 1]; ++i) {
    m->column[m->neighbour[i]] = column;
    column += m->node[m->neighbour[i] + 1] - m->node[m->neighbour[i]];
  }
  const size_t rows = g->row[c + 1] - g->row[c];
  const double *own = W->general_diagonal + W->square[c];
  for (size_t i = 0; i < rows; ++i) {
    const size_t line = m->kept->row[(size_t)m->node[k] + i / nb] + (size_t)m->column[k];
    for (size_t j = 0; j <= i; ++j)
      m->S[(line + j / nb) * nb * nb + i % nb * nb + j % nb] =
          m->holds[c] ? own[i * rows + j] : i == j;
  }
  if (!m->holds[c]) return;
  for (size_t e = g->entry[c]; e < g->entry[c + 1]; ++e)
    for (size_t n = m->start[g->vertex[e]]; n < m->start[g->vertex[e] + 1]; ++n)
      if (m->owner[n] < k && m->holds[m->constraint[m->owner[n]]]) couple(W, m, k, e, n);
}

/* Without a factor (no memory, or a request to stop) all are left to the visits one by one. */
static void factorise(scree_Mechanisms *m, const scree_Operator *W) {
  const scree_MechanismFactor *kept = m->kept;
  const size_t nb = (size_t)kept->nb;
  memset(m->S, 0, kept->row[kept->n] * nb * nb * sizeof *m->S);
  for (int k = 0; k < m->count; ++k) assemble(W, m, k);
  m->stale = false;
  if (scree_factor_compute(kept->factor, m->S, NULL) == SCREE_OK) return;
  for (int k = 0; k < m->count; ++k) m->holds[m->constraint[k]] = false;
  m->count = 0;
}

/* ---- what holds ------------------------------------------------------------------------------ */

/* Whether constraint k holds with these impulses. */
static bool is_inside(const scree_Problem *p, int k, const double *r) {
  const scree_Set set = scree_problem_set(p, p->nc + k);
  const size_t first = p->general.row[k], last = p->general.row[k + 1];
  if (set.kind == SCREE_SET_SPACE) return true;
  if (set.kind == SCREE_SET_HALF_LINE) return r[first] > 0;
  const bool cone = set.kind == SCREE_SET_SHIFTED; /* of a bond: |r_T| <= mu (r_n + a) */
  const double limit = cone ? set.mu * (r[first] + set.a) : set.a;
  double square = 0;
  for (size_t i = first + cone; i < last; ++i) square += r[i] * r[i];
  return sqrt(square) < limit * (1 - 1e-12);
}

/* The list, its neighbours and the analysed factor; m->count is 0 where there is no mechanism. */
static scree_Status prepare(const scree_Operator *W, scree_Arena *arena,
                            scree_MechanismFactor *kept, const scree_Log *log,
                            scree_Mechanisms *m) {
  const double most = most_operations * (double)scree_all_constraints(W);
  size_t *row;
  int *col, nb;
  if (!find_constraints(W, arena, m)) return scree_fail_memory(log, "mechanisms");
  if (m->count < 2) {
    m->count = 0;
    return SCREE_OK;
  }
  if (!find_touching(W, arena, m)) return scree_fail_memory(log, "mechanisms");
  if (least_operations(W, m) > most) {
    m->count = 0;
    return SCREE_OK;
  }
  if (!find_neighbours(W, arena, m) || !find_nodes(W, arena, m, &nb) ||
      !find_pattern(m, arena, &row, &col))
    return scree_fail_memory(log, "mechanisms");
  const scree_Status status = analyse(kept, m->node[m->count], nb, row, col, arena, log);
  if (!status && scree_factor_flops(kept->factor) > most) m->count = 0;
  return status;
}

scree_Status scree_mechanisms_create(const scree_Operator *W, const double *r, scree_Arena *arena,
                                     scree_MechanismFactor *kept, scree_Poll *poll,
                                     const scree_Log *log, scree_Mechanisms *m) {
  const scree_Problem *p = W->problem;
  *m = (scree_Mechanisms){.kept = kept, .holds = SCREE_TAKE(arena, bool, p->general.count)};
  if (!m->holds) return scree_fail_memory(log, "mechanisms");
  if (p->general.count < 2) return SCREE_OK;
  const scree_Status status = prepare(W, arena, kept, log, m);
  if (status || m->count == 0) return status;
  scree_factor_set_poll(kept->factor, poll);
  const size_t nb = (size_t)kept->nb, rows = (size_t)kept->n * nb;
  m->S = SCREE_TAKE_RAW(arena, double, kept->row[kept->n] * nb * nb);
  m->x = SCREE_TAKE_RAW(arena, double, rows);
  m->room = SCREE_TAKE_RAW(arena, double, rows);
  if (!m->S || !m->x || !m->room) return scree_fail_memory(log, "mechanisms");
  for (int k = 0; k < m->count; ++k) m->holds[m->constraint[k]] = is_inside(p, m->constraint[k], r);
  m->stale = true;
  return SCREE_OK;
}

/* Constraints that pressed against their limit and no longer do begin to hold. */
static void take_hold(scree_Mechanisms *m, const scree_Problem *p, const double *r) {
  for (int k = 0; k < m->count && m->changes < MOST_CHANGES; ++k) {
    const int c = m->constraint[k];
    if (m->holds[c] || !is_inside(p, c, r)) continue;
    m->holds[c] = m->stale = true;
    ++m->changes;
  }
}

double scree_mechanisms_visit(scree_Mechanisms *m, const scree_Operator *W,
                              const scree_VertexState *state, double *r) {
  const scree_Problem *p = W->problem;
  double largest = 0;
  take_hold(m, p, r);
  if (m->stale) factorise(m, W);
  if (m->count == 0) return 0;
  const size_t nb = (size_t)m->kept->nb;
  for (int k = 0; k < m->count; ++k) {
    const int c = m->constraint[k];
    const size_t rows = p->general.row[c + 1] - p->general.row[c];
    double u[SCREE_ROWS_MAX], *x = m->x + (size_t)m->node[k] * nb;
    scree_general_velocity(W, c, r, state, u);
    for (size_t i = 0; i < rows; ++i) x[i] = m->holds[c] ? -u[i] : 0;
  }
  scree_factor_solve(m->kept->factor, m->room, m->x);
  for (int k = 0; k < m->count; ++k) {
    const int c = m->constraint[k];
    if (!m->holds[c]) continue;
    double *rc = r + p->general.row[c], *change = m->x + (size_t)m->node[k] * nb;
    const size_t rows = p->general.row[c + 1] - p->general.row[c];
    for (size_t i = 0; i < rows; ++i) rc[i] += change[i];
    if (!is_inside(p, c, r)) { /* to its limit, where the visits one by one take over */
      const scree_Set set = scree_problem_set(p, p->nc + c);
      double projected[SCREE_ROWS_MAX];
      scree_set_project(&set, (int)rows, rc, projected);
      for (size_t i = 0; i < rows; ++i) {
        change[i] += projected[i] - rc[i];
        rc[i] = projected[i];
      }
      m->holds[c] = false;
      m->stale = true;
      ++m->changes;
    }
    for (size_t i = 0; i < rows; ++i) largest = fmax(largest, fabs(change[i]));
    scree_general_move(W, c, change, state);
  }
  return largest;
}
