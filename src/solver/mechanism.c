/* Mechanisms (see mechanism.h). */
#include "solver/mechanism.h"

#include "core/log.h"

#include <math.h>

/* A pivot below this part of its diagonal is round-off. */
static const double rounding = 1e-11;
/* Operations of a factorisation, per constraint of the problem, above which mechanisms are left to
 * the visits one by one: about a hundred sweeps. */
static const double most_operations = 3e4;
enum { MOST_CHANGES = 20 }; /* of what holds; then nothing begins to hold any more */

/* ---- which constraints, in which order ------------------------------------------------------- */

/* Constraints that may hold, by vertex: entries e of the vertex v at start[v] .. start[v + 1] - 1.
 */
typedef struct Touching {
  int vertices;
  size_t *start;
  size_t *entry;
  int *owner; /* constraint of the entry */
} Touching;

static bool may_hold(const scree_Operator *W, int k) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  const int kind = p->set ? p->set[p->nc + k] : SCREE_SET_CONE;
  const size_t rows = g->row[k + 1] - g->row[k];
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e)
    if (scree_is_coupled(W, g->vertex[e])) return false;
  return kind == SCREE_SET_SPACE || kind == SCREE_SET_BALL ||
         (kind == SCREE_SET_HALF_LINE && rows == 1);
}

static bool find_touching(const scree_Operator *W, scree_Arena *arena, Touching *t) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  t->vertices = p->bodies.nbodies + p->vertices.count;
  t->start = SCREE_TAKE(arena, size_t, t->vertices + 2);
  t->entry = SCREE_TAKE_RAW(arena, size_t, g->entry[g->count]);
  t->owner = SCREE_TAKE_RAW(arena, int, g->entry[g->count]);
  if (!t->start || !t->entry || !t->owner) return false;
  size_t *next = t->start + 1; /* filled, it becomes the starts of the next vertices */
  for (int k = 0; k < g->count; ++k)
    if (may_hold(W, k))
      for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) ++next[g->vertex[e] + 1];
  for (int v = 0; v < t->vertices; ++v) next[v + 1] += next[v];
  for (int k = 0; k < g->count; ++k) {
    if (!may_hold(W, k)) continue;
    for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
      const size_t at = next[g->vertex[e]]++;
      t->entry[at] = e;
      t->owner[at] = k;
    }
  }
  return true;
}

/* Entries of other constraints on the vertices of constraint k. */
static size_t neighbours(const scree_GeneralRows *g, const Touching *t, int k) {
  size_t count = 0;
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e)
    count += t->start[g->vertex[e] + 1] - t->start[g->vertex[e]] - 1;
  return count;
}

/* Breadth first from `from` over constraints with place < 0; returns how many have a place then. */
static int spread(const scree_GeneralRows *g, const Touching *t, int from, int count, int *order,
                  int *place) {
  int done = count;
  place[from] = count;
  order[count++] = from;
  for (; done < count; ++done)
    for (size_t e = g->entry[order[done]]; e < g->entry[order[done] + 1]; ++e)
      for (size_t i = t->start[g->vertex[e]]; i < t->start[g->vertex[e] + 1]; ++i) {
        if (place[t->owner[i]] >= 0) continue;
        place[t->owner[i]] = count;
        order[count++] = t->owner[i];
      }
  return count;
}

/* Reverse order of Cuthill and McKee: from a constraint at the end of each mechanism, which has few
 * neighbours. Constraints without neighbours are in no mechanism. */
static bool find_order(const scree_Operator *W, const Touching *t, scree_Arena *arena,
                       scree_Mechanisms *m, int *place) {
  const scree_GeneralRows *g = &W->problem->general;
  int *order = SCREE_TAKE_RAW(arena, int, g->count);
  int *trial = SCREE_TAKE_RAW(arena, int, g->count);
  if (!order || !trial) return false;
  for (int k = 0; k < g->count; ++k) place[k] = trial[k] = -1;
  int count = 0;
  for (int k = 0; k < g->count; ++k) {
    if (place[k] >= 0 || !may_hold(W, k) || neighbours(g, t, k) == 0) continue;
    /* the last constraint reached is at an end */
    const int end = order[spread(g, t, k, count, order, trial) - 1];
    count = spread(g, t, end, count, order, place);
  }
  for (int k = 0; k < count / 2; ++k) {
    const int other = order[k];
    order[k] = order[count - 1 - k];
    order[count - 1 - k] = other;
  }
  for (int k = 0; k < count; ++k) place[order[k]] = k;
  m->constraint = order;
  m->count = count;
  return true;
}

/* ---- the system ------------------------------------------------------------------------------ */

/* The envelope; false: memory. *operations of a factorisation. */
static bool find_envelope(const scree_Operator *W, const Touching *t, const int *place,
                          scree_Arena *arena, scree_Mechanisms *m, double *operations) {
  const scree_GeneralRows *g = &W->problem->general;
  m->row = SCREE_TAKE(arena, size_t, m->count + 1);
  if (!m->row) return false;
  for (int k = 0; k < m->count; ++k)
    m->row[k + 1] = m->row[k] + g->row[m->constraint[k] + 1] - g->row[m->constraint[k]];
  const size_t rows = m->row[m->count];
  m->first = SCREE_TAKE(arena, size_t, rows);
  m->start = SCREE_TAKE(arena, size_t, rows + 1);
  if (!m->first || !m->start) return false;
  *operations = 0;
  for (int k = 0; k < m->count; ++k) {
    const int c = m->constraint[k];
    int first = k;
    for (size_t e = g->entry[c]; e < g->entry[c + 1]; ++e)
      for (size_t i = t->start[g->vertex[e]]; i < t->start[g->vertex[e] + 1]; ++i)
        if (place[t->owner[i]] < first) first = place[t->owner[i]];
    for (size_t i = m->row[k]; i < m->row[k + 1]; ++i) {
      const size_t length = i + 1 - m->row[first];
      m->first[i] = m->row[first];
      m->start[i + 1] = m->start[i] + length;
      *operations += (double)length * (double)length;
    }
  }
  return true;
}

static double *at(const scree_Mechanisms *m, size_t i, size_t j) {
  return m->S + m->start[i] + (j - m->first[i]);
}

/* S of constraint number k with those before it that share a vertex. */
static void assemble(const scree_Operator *W, const Touching *t, const int *place,
                     scree_Mechanisms *m, int k) {
  const scree_GeneralRows *g = &W->problem->general;
  const int c = m->constraint[k];
  const size_t rows = m->row[k + 1] - m->row[k];
  const double *own = W->general_diagonal + W->square[c];
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j <= i; ++j) *at(m, m->row[k] + i, m->row[k] + j) = own[i * rows + j];
  for (size_t e = g->entry[c]; e < g->entry[c + 1]; ++e) {
    const int v = g->vertex[e];
    const size_t size = (size_t)scree_vertex_size(W->problem, v);
    const double *B = g->B + g->block[e];
    for (size_t n = t->start[v]; n < t->start[v + 1]; ++n) {
      const int other = place[t->owner[n]];
      if (other >= k) continue;
      const double *D = g->B + g->block[t->entry[n]];
      for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < m->row[other + 1] - m->row[other]; ++j) {
          double sum = 0;
          for (size_t l = 0; l < size; ++l) sum += B[i * size + l] * D[j * size + l];
          *at(m, m->row[k] + i, m->row[other] + j) += sum;
        }
    }
  }
}

/* S = L D L^T of the rows that hold; the others get a reciprocal pivot of zero, and then no part in
 * the solution. */
static void factorise(scree_Mechanisms *m) {
  for (int k = 0; k < m->count; ++k)
    for (size_t i = m->row[k]; i < m->row[k + 1]; ++i) {
      const size_t first = m->first[i];
      const double *S = m->S + m->start[i];
      double *L = m->L + m->start[i];
      double pivot = S[i - first];
      const double diagonal = pivot;
      for (size_t j = first; j < i; ++j) { /* L D first */
        const size_t from = m->first[j] > first ? m->first[j] : first;
        const double *other = m->L + m->start[j];
        double sum = S[j - first];
        for (size_t l = from; l < j; ++l) sum -= L[l - first] * other[l - m->first[j]];
        L[j - first] = sum;
      }
      for (size_t j = first; j < i; ++j) {
        const double scaled = L[j - first] * m->reciprocal[j];
        pivot -= L[j - first] * scaled;
        L[j - first] = scaled;
      }
      const bool good = m->holds[m->constraint[k]] && pivot > rounding * diagonal;
      m->reciprocal[i] = good ? 1 / pivot : 0;
    }
  m->stale = false;
}

static void solve(const scree_Mechanisms *m, double *x) {
  const size_t rows = m->row[m->count];
  for (size_t i = 0; i < rows; ++i) {
    const double *L = m->L + m->start[i];
    double sum = x[i];
    for (size_t j = m->first[i]; j < i; ++j) sum -= L[j - m->first[i]] * x[j];
    x[i] = sum;
  }
  for (size_t i = 0; i < rows; ++i) x[i] *= m->reciprocal[i];
  for (size_t i = rows; i-- > 0;) {
    const double *L = m->L + m->start[i], value = x[i];
    for (size_t j = m->first[i]; j < i; ++j) x[j] -= L[j - m->first[i]] * value;
  }
  for (size_t i = 0; i < rows; ++i)
    if (m->reciprocal[i] == 0) x[i] = 0;
}

/* ---- what holds ------------------------------------------------------------------------------ */

/* Whether constraint k holds with these impulses. */
static bool is_inside(const scree_Problem *p, int k, const double *r) {
  const scree_Set set = scree_problem_set(p, p->nc + k);
  const size_t first = p->general.row[k], last = p->general.row[k + 1];
  if (set.kind == SCREE_SET_SPACE) return true;
  if (set.kind == SCREE_SET_HALF_LINE) return r[first] > 0;
  double square = 0;
  for (size_t i = first; i < last; ++i) square += r[i] * r[i];
  return sqrt(square) < set.a * (1 - 1e-12);
}

scree_Status scree_mechanisms_create(const scree_Operator *W, const double *r, scree_Arena *arena,
                                     const scree_Log *log, scree_Mechanisms *m) {
  const scree_Problem *p = W->problem;
  Touching touching;
  double operations;
  *m = (scree_Mechanisms){0};
  if (p->general.count < 2 || scree_is_divided(W)) return SCREE_OK;
  int *place = SCREE_TAKE_RAW(arena, int, p->general.count);
  if (!place || !find_touching(W, arena, &touching) || !find_order(W, &touching, arena, m, place) ||
      !find_envelope(W, &touching, place, arena, m, &operations))
    return scree_fail_memory(log, "mechanisms");
  if (m->count < 2 || operations > most_operations * (double)scree_all_constraints(W)) {
    m->count = 0;
    return SCREE_OK;
  }
  const size_t rows = m->row[m->count];
  m->S = SCREE_TAKE(arena, double, m->start[rows]);
  m->L = SCREE_TAKE(arena, double, m->start[rows]);
  m->reciprocal = SCREE_TAKE(arena, double, rows);
  m->x = SCREE_TAKE(arena, double, rows);
  m->holds = SCREE_TAKE(arena, bool, p->general.count);
  if (!m->S || !m->L || !m->reciprocal || !m->x || !m->holds)
    return scree_fail_memory(log, "mechanisms");
  for (int k = 0; k < m->count; ++k) {
    assemble(W, &touching, place, m, k);
    m->holds[m->constraint[k]] = is_inside(p, m->constraint[k], r);
  }
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
  if (m->stale) factorise(m);
  for (int k = 0; k < m->count; ++k) {
    const int c = m->constraint[k];
    double u[SCREE_ROWS_MAX];
    scree_general_velocity(W, c, r, state, u);
    for (size_t i = m->row[k]; i < m->row[k + 1]; ++i)
      m->x[i] = m->reciprocal[i] == 0 ? 0 : -u[i - m->row[k]];
  }
  solve(m, m->x);
  for (int k = 0; k < m->count; ++k) {
    const int c = m->constraint[k];
    if (!m->holds[c]) continue;
    double *rc = r + p->general.row[c], *change = m->x + m->row[k];
    const size_t rows = m->row[k + 1] - m->row[k];
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
