/* Assembling and solving the systems of Newton-like methods (see system.h). */
#include "solver/graph_system.h"

#include "core/log.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- pattern ----------------------------------------------------------------------------------
 */

static int compare_ints(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Rows of the body graph: each body itself and those it touches, ascending. */
static scree_Status pattern_of_bodies(scree_GraphSystem *system, const scree_Log *log) {
  const scree_Operator *W = system->W;
  const int *body = W->problem->bodies.body;
  system->row = SCREE_ALLOC(size_t, system->n + 1);
  system->col = SCREE_ALLOC(int, (size_t)system->n + 2 * (size_t)W->problem->nc);
  if (!system->row || !system->col) return scree_fail_memory(log, "the pattern of a system");
  size_t filled = 0;
  for (int b = 0; b < system->n; ++b) {
    int *list = system->col + filled;
    size_t n = 0;
    list[n++] = b;
    for (size_t e = W->body_row[b]; e < W->body_row[b + 1]; ++e) {
      const int other = body[W->body_entry[e] ^ 1];
      if (other >= 0) list[n++] = other;
    }
    qsort(list, n, sizeof *list, compare_ints);
    size_t kept = 0;
    for (size_t k = 0; k < n; ++k)
      if (k == 0 || list[k] != list[k - 1]) list[kept++] = list[k];
    filled += kept;
    system->row[b + 1] = filled;
  }
  return SCREE_OK;
}

static size_t find_block(const scree_GraphSystem *system, int row, int col) {
  size_t lo = system->row[row], hi = system->row[row + 1];
  while (lo + 1 < hi) {
    const size_t mid = (lo + hi) / 2;
    if (system->col[mid] <= col)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

static scree_Status slots_of_contacts(scree_GraphSystem *system, const scree_Log *log) {
  const scree_Problem *p = system->W->problem;
  system->slot = SCREE_ALLOC(int, 4 * (size_t)p->nc);
  if (!system->slot) return scree_fail_memory(log, "the slots of a system");
  for (int c = 0; c < p->nc; ++c)
    for (int k = 0; k < 4; ++k) {
      const int a = p->bodies.body[2 * c + k / 2], b = p->bodies.body[2 * c + k % 2];
      if (a >= 0 && b >= 0) system->slot[4 * c + k] = (int)find_block(system, a, b);
    }
  return SCREE_OK;
}

/* The pattern of W, made symmetric where the file's is not. */
static scree_Status pattern_of_blocks(scree_GraphSystem *system, const scree_Log *log) {
  const scree_BlockRows *rows = &system->W->problem->blocks;
  const size_t n = (size_t)system->n, nnz = rows->row[n];
  size_t *count = SCREE_ALLOC(size_t, n + 1);
  system->row = SCREE_ALLOC(size_t, n + 1);
  system->col = SCREE_ALLOC(int, 2 * nnz);
  int *list = SCREE_ALLOC(int, 2 * nnz);
  scree_Status status = SCREE_OK;
  if (!count || !system->row || !system->col || !list) {
    status = scree_fail_memory(log, "the pattern of a system");
  } else {
    for (size_t c = 0; c < n; ++c)
      for (size_t k = rows->row[c]; k < rows->row[c + 1]; ++k) {
        ++count[c];
        ++count[rows->col[k]];
      }
    size_t sum = 0;
    for (size_t c = 0; c < n; ++c) {
      const size_t here = count[c];
      count[c] = sum;
      sum += here;
    }
    for (size_t c = 0; c < n; ++c)
      for (size_t k = rows->row[c]; k < rows->row[c + 1]; ++k) {
        list[count[c]++] = rows->col[k];
        list[count[rows->col[k]]++] = (int)c;
      }
    size_t start = 0, filled = 0;
    for (size_t c = 0; c < n; ++c) {
      const size_t end = count[c];
      qsort(list + start, end - start, sizeof *list, compare_ints);
      for (size_t k = start; k < end; ++k)
        if (k == start || list[k] != list[k - 1]) system->col[filled++] = list[k];
      system->row[c + 1] = filled;
      start = end;
    }
  }
  scree_free(count);
  scree_free(list);
  return status;
}

scree_Status scree_graph_system_create(const scree_Operator *W, bool symmetric,
                                       const scree_Log *log, scree_GraphSystem *system) {
  const scree_Problem *p = W->problem;
  const bool bodies = p->kind == SCREE_BODIES;
  *system = (scree_GraphSystem){.W = W, .log = log, .n = bodies ? p->bodies.nbodies : p->nc};
  system->nb = bodies ? p->bodies.nb : p->d;
  system->size = (size_t)system->n * (size_t)system->nb;
  scree_Status status = bodies ? pattern_of_bodies(system, log) : pattern_of_blocks(system, log);
  if (!status && bodies) status = slots_of_contacts(system, log);
  if (!status) {
    system->work = SCREE_ALLOC(double, system->size);
    system->residual = SCREE_ALLOC(double, system->size);
    if (!system->work || !system->residual)
      status = scree_fail_memory(log, "the values of a system");
  }
  if (!status)
    status = scree_factor_create(system->n, system->nb, system->row, system->col,
                                 symmetric ? SCREE_FACTOR_SYMMETRIC : SCREE_FACTOR_UNSYMMETRIC, log,
                                 &system->factor);
  if (status) scree_graph_system_destroy(system);
  return status;
}

void scree_graph_system_destroy(scree_GraphSystem *system) {
  if (system->factor) scree_factor_destroy(system->factor);
  scree_free(system->row);
  scree_free(system->col);
  scree_free(system->x);
  scree_free(system->slot);
  scree_free(system->work);
  scree_free(system->residual);
  *system = (scree_GraphSystem){0};
}

/* ---- values -----------------------------------------------------------------------------------
 */

/* x[slot] += B_a^T (G B_b) for the pairs of bodies of one contact */
SCREE_INLINE void add_contact(scree_GraphSystem *system, int d, int nb, int c, const double *G) {
  const scree_Problem *p = system->W->problem;
  double GB[2 * 3 * 12], room[SCREE_BALL_ROOM];
  const double *B = scree_contact_blocks(p, c, room);
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < nb; ++j) {
        double sum = 0.0;
        for (int k = 0; k < d; ++k) sum += G[i * d + k] * B[(side * d + k) * nb + j];
        GB[(side * d + i) * nb + j] = sum;
      }
  for (int k = 0; k < 4; ++k) {
    const int a = k / 2, b = k % 2;
    if (p->bodies.body[2 * c + a] < 0 || p->bodies.body[2 * c + b] < 0) continue;
    double *x = system->x + (size_t)system->slot[4 * c + k] * (size_t)(nb * nb);
    for (int i = 0; i < nb; ++i)
      for (int j = 0; j < nb; ++j) {
        double sum = 0.0;
        for (int m = 0; m < d; ++m) sum += B[(a * d + m) * nb + i] * GB[(b * d + m) * nb + j];
        x[i * nb + j] += sum;
      }
  }
}

static void assemble_bodies(scree_GraphSystem *system, const double *G) {
  const scree_Problem *p = system->W->problem;
  const int d = p->d, nb = system->nb;
  const size_t bb = (size_t)nb * (size_t)nb, dd = (size_t)d * (size_t)d;
  memset(system->x, 0, system->row[system->n] * bb * sizeof(double));
  for (int b = 0; b < system->n; ++b) {
    double *x = system->x + find_block(system, b, b) * bb;
    for (int i = 0; i < nb; ++i) x[i * nb + i] = 1.0;
  }
  if (d == 3 && nb == 6)
    for (int c = 0; c < p->nc; ++c) add_contact(system, 3, 6, c, G + (size_t)c * dd);
  else if (d == 2 && nb == 3)
    for (int c = 0; c < p->nc; ++c) add_contact(system, 2, 3, c, G + (size_t)c * dd);
  else
    for (int c = 0; c < p->nc; ++c) add_contact(system, d, nb, c, G + (size_t)c * dd);
}

static void assemble_blocks(scree_GraphSystem *system, const double *L, const double *G) {
  const scree_BlockRows *rows = &system->W->problem->blocks;
  const size_t d = (size_t)system->nb, dd = d * d;
  memset(system->x, 0, system->row[system->n] * dd * sizeof(double));
  for (int c = 0; c < system->n; ++c) {
    const size_t start = rows->row[c], n = rows->row[c + 1] - start;
    size_t at = system->row[c];
    for (size_t k = 0; k < n; ++k) {
      while (system->col[at] != rows->col[start + k]) ++at;
      double *x = system->x + at * dd;
      const double *w = rows->x + start * dd + d * k; /* rows n d apart */
      for (size_t i = 0; i < d; ++i)
        for (size_t j = 0; j < d; ++j) {
          double sum = L ? 0.0 : w[i * d * n + j];
          for (size_t m = 0; L && m < d; ++m)
            sum += L[(size_t)c * dd + i * d + m] * w[m * d * n + j];
          x[i * d + j] = sum;
        }
      if (rows->col[start + k] == c)
        for (size_t i = 0; i < dd; ++i) x[i] += G[(size_t)c * dd + i];
    }
  }
}

scree_Status scree_graph_system_factor(scree_GraphSystem *system, const double *L, const double *G,
                                       bool *broken) {
  const size_t bb = (size_t)system->nb * (size_t)system->nb;
  if (!system->x && !(system->x = SCREE_ALLOC(double, system->row[system->n] * bb)))
    return scree_fail_memory(system->log, "the matrix of a Newton step");
  if (system->W->problem->kind == SCREE_BODIES)
    assemble_bodies(system, G);
  else
    assemble_blocks(system, L, G);
  const scree_Status status = scree_factor_compute(system->factor, system->x, NULL);
  if (status == SCREE_INTERRUPTED) return status;
  if (status == SCREE_MACHINE) return scree_fail_memory(system->log, "a factorisation");
  *broken = status != SCREE_OK;
  return SCREE_OK;
}

/* ---- solving ----------------------------------------------------------------------------------
 */

SCREE_INLINE void subtract_product(const scree_GraphSystem *system, int nb, const double *v,
                                   double *out) {
  for (int a = 0; a < system->n; ++a) {
    double *o = out + (size_t)a * (size_t)nb;
    for (size_t k = system->row[a]; k < system->row[a + 1]; ++k) {
      const double *x = system->x + k * (size_t)(nb * nb);
      const double *w = v + (size_t)system->col[k] * (size_t)nb;
      for (int i = 0; i < nb; ++i)
        for (int j = 0; j < nb; ++j) o[i] -= x[i * nb + j] * w[j];
    }
  }
}

void scree_graph_system_solve(scree_GraphSystem *system, double *b) {
  const size_t bytes = system->size * sizeof(double);
  memcpy(system->residual, b, bytes);
  scree_factor_solve(system->factor, system->work, b);
  switch (system->nb) {
  case 2: subtract_product(system, 2, b, system->residual); break;
  case 3: subtract_product(system, 3, b, system->residual); break;
  case 6: subtract_product(system, 6, b, system->residual); break;
  default: subtract_product(system, system->nb, b, system->residual); break;
  }
  scree_factor_solve(system->factor, system->work, system->residual);
  for (size_t i = 0; i < system->size; ++i) b[i] += system->residual[i];
}
