/* Global FCLIB problems without a body form: W = H^T M^-1 H and q = H^T M^-1 f + w, assembled from
 * one sparse factorisation of M for each of its connected components, a solve per column of H, and
 * the sparse rows of H^T. Where M is symmetric W is made so to the bit: half of it is computed. */
#include "core/log.h"
#include "core/memory.h"
#include "fclib/fclib_parts.h"
#include "math/factor.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- factors of a part of M --------------------------------------------------------------------
 */

/* Pattern of M + M^T on part p with the diagonal, and M's values in it. */
typedef struct Part {
  int n;
  bool symmetric;
  size_t *row; /* (n+1) */
  int *col;
  double *x;
  double *b, *work; /* (n) right side and solution, scratch */
  scree_Factor *factor;
} Part;

static void part_fini(Part *part) {
  scree_free(part->row);
  scree_free(part->col);
  scree_free(part->x);
  scree_free(part->b);
  scree_free(part->work);
  if (part->factor) scree_factor_destroy(part->factor);
  *part = (Part){0};
}

/* Fill the pattern and values. Rows are built in three rounds, count, fill, sort; an entry (i, j)
 * of M marks both (i, j) and (j, i). */
static bool part_pattern(const scree_Global *global, const scree_MassGroups *parts, int p,
                         Part *part) {
  const scree_Sparse *M = &global->M;
  const int *dof = parts->dof + parts->start[p];
  for (int pass = 0; pass < 2; ++pass) {
    for (int a = 0; a < part->n; ++a) {
      const int i = dof[a];
      for (size_t k = M->row[i]; k < M->row[i + 1]; ++k) {
        const int j = M->col[k], b = parts->place[j];
        if (M->x[k] == 0.0 || i == j) continue;
        const bool twice = scree_sparse_at(M, j, i) == 0.0; /* (j, i) is not an entry of its own */
        if (pass == 0) {
          part->row[a + 2]++;
          part->row[b + 2] += twice;
        } else {
          part->col[part->row[a + 1]++] = b;
          if (twice) part->col[part->row[b + 1]++] = a;
        }
      }
      if (pass == 0)
        part->row[a + 2]++;
      else
        part->col[part->row[a + 1]++] = a;
    }
    if (pass == 1) break;
    for (int a = 0; a < part->n; ++a) part->row[a + 2] += part->row[a + 1];
    part->col = SCREE_ALLOC(int, part->row[part->n + 1]);
    part->x = SCREE_ALLOC(double, part->row[part->n + 1]);
    if (!part->col || !part->x) return false;
  }
  return true;
}

static int compare_ints(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

static scree_Status part_init(const scree_H5 *h5, const scree_Global *global,
                              const scree_MassGroups *parts, int p, Part *part) {
  const int n = parts->start[p + 1] - parts->start[p], *dof = parts->dof + parts->start[p];
  *part = (Part){.n = n, .symmetric = scree_parts_symmetric(global, parts, p)};
  part->row = SCREE_ALLOC(size_t, (size_t)n + 2);
  part->b = SCREE_ALLOC(double, n);
  part->work = SCREE_ALLOC(double, n);
  scree_Status status = SCREE_OK;
  if (!part->row || !part->b || !part->work || !part_pattern(global, parts, p, part))
    status = scree_fail_memory(h5->log, "M");
  for (int a = 0; a < n && status == SCREE_OK; ++a) {
    assert(part->col);
    qsort(part->col + part->row[a], part->row[a + 1] - part->row[a], sizeof(int), compare_ints);
    for (size_t k = part->row[a]; k < part->row[a + 1]; ++k)
      part->x[k] = scree_sparse_at(&global->M, dof[a], dof[part->col[k]]);
  }
  if (status == SCREE_OK)
    status =
        scree_factor_create(n, 1, part->row, part->col,
                            part->symmetric ? SCREE_FACTOR_SYMMETRIC : SCREE_FACTOR_UNSYMMETRIC,
                            h5->log, &part->factor);
  int perturbed = 0;
  if (status == SCREE_OK) status = scree_factor_compute(part->factor, part->x, &perturbed);
  if (status == SCREE_BAD_INPUT)
    status = scree_parts_fail(h5, parts, p, "within the range of numbers");
  else if (status == SCREE_OK && part->symmetric &&
           (perturbed || scree_factor_negative(part->factor)))
    status = scree_parts_fail(h5, parts, p, "positive definite");
  else if (status == SCREE_OK && perturbed)
    status = scree_parts_fail(h5, parts, p, "invertible");
  if (status != SCREE_OK) part_fini(part);
  return status;
}

/* b = M^-1 b */
static void part_solve(Part *part) {
  scree_factor_solve(part->factor, part->work, part->b);
}

/* ---- the pattern of W --------------------------------------------------------------------------
 */

/* The contacts that touch each part. */
typedef struct Touching {
  size_t *start; /* (parts + 1) */
  int *contact;  /* contacts of each part, ascending, once each */
} Touching;

static void touching_fini(Touching *touching) {
  scree_free(touching->start);
  scree_free(touching->contact);
}

static scree_Status touching_init(const scree_Global *global, const scree_MassGroups *parts,
                                  const scree_Log *log, Touching *touching) {
  touching->start = SCREE_ALLOC(size_t, (size_t)parts->count + 2);
  int *last = SCREE_ALLOC(int, parts->count);
  touching->contact = SCREE_ALLOC(int, global->Ht.row[global->Ht.rows]);
  if (!touching->start || !last || !touching->contact) {
    scree_free(last);
    return scree_fail_memory(log, "the contacts of each body");
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (int p = 0; p < parts->count; ++p) last[p] = -1;
    for (int row = 0; row < global->Ht.rows; ++row)
      for (size_t k = global->Ht.row[row]; k < global->Ht.row[row + 1]; ++k) {
        const int p = parts->part[global->Ht.col[k]], c = row / global->d;
        if (global->Ht.x[k] == 0.0 || last[p] == c) continue;
        last[p] = c;
        if (pass == 0)
          touching->start[p + 2]++;
        else
          touching->contact[touching->start[p + 1]++] = c;
      }
    if (pass == 0)
      for (int p = 0; p < parts->count; ++p) touching->start[p + 2] += touching->start[p + 1];
  }
  scree_free(last);
  return SCREE_OK;
}

/* Pattern of W: contacts that share a component, and the diagonal. Counted first, then stored. */
static scree_Status pattern_init(const scree_H5 *h5, const scree_Global *global,
                                 const scree_MassGroups *parts, const Touching *touching,
                                 scree_Sparse *pattern) {
  const int d = global->d;
  *pattern = (scree_Sparse){.rows = global->nc, .cols = global->nc};
  pattern->row = SCREE_ALLOC(size_t, (size_t)global->nc + 1);
  int *seen = SCREE_ALLOC(int, global->nc);
  int *seen_part = SCREE_ALLOC(int, parts->count);
  bool good = pattern->row && seen && seen_part;
  for (int pass = 0; pass < 2 && good; ++pass) {
    for (int c = 0; c < global->nc; ++c) seen[c] = -1;
    for (int p = 0; p < parts->count; ++p) seen_part[p] = -1;
    size_t used = 0;
    for (int c = 0; c < global->nc; ++c) {
      const size_t begin = used;
      seen[c] = c;
      if (pass) pattern->col[used] = c;
      used++;
      for (size_t k = global->Ht.row[c * d]; k < global->Ht.row[(c + 1) * d]; ++k) {
        const int p = parts->part[global->Ht.col[k]];
        if (global->Ht.x[k] == 0.0 || seen_part[p] == c) continue;
        seen_part[p] = c;
        for (size_t a = touching->start[p]; a < touching->start[p + 1]; ++a) {
          const int other = touching->contact[a];
          if (seen[other] == c) continue;
          seen[other] = c;
          if (pass) pattern->col[used] = other;
          used++;
        }
      }
      if (pass) qsort(pattern->col + begin, used - begin, sizeof(int), compare_ints);
      pattern->row[c + 1] = used;
    }
    if (pass == 0) good = (pattern->col = SCREE_ALLOC(int, used)) != NULL;
  }
  scree_free(seen);
  scree_free(seen_part);
  return good ? SCREE_OK : scree_fail_memory(h5->log, "the pattern of W");
}

/* ---- assembling --------------------------------------------------------------------------------
 */

/* H_line^T x of part p, x by places. */
static double row_times(const scree_Global *global, const scree_MassGroups *parts, int p, int line,
                        const double *x) {
  double sum = 0.0;
  for (size_t k = global->Ht.row[line]; k < global->Ht.row[line + 1]; ++k)
    if (parts->part[global->Ht.col[k]] == p)
      sum += global->Ht.x[k] * x[parts->place[global->Ht.col[k]]];
  return sum;
}

/* Entry (i, j) of W; the block is in the pattern. */
static double *entry_of_W(scree_Problem *problem, int i, int j) {
  const int d = problem->d, c = i / d;
  const size_t first = problem->blocks.row[c], count = problem->blocks.row[c + 1] - first;
  const int column = j / d;
  const int *found =
      bsearch(&column, problem->blocks.col + first, count, sizeof(int), compare_ints);
  const size_t k = (size_t)(found - (problem->blocks.col + first));
  return problem->blocks.x + first * (size_t)(d * d) + (size_t)(i % d) * (size_t)d * count +
         k * (size_t)d + (size_t)(j % d);
}

/* Add one part's share of W and q. */
static void add_part(const scree_Global *global, const scree_MassGroups *parts, int p, Part *part,
                     const int *contact, int contacts, scree_Problem *problem) {
  const int d = global->d, m = contacts * d;
  for (int j = 0; j < part->n; ++j) part->b[j] = global->f[parts->dof[parts->start[p] + j]];
  part_solve(part);
  for (int a = 0; a < m; ++a) {
    const int line = contact[a / d] * d + a % d;
    problem->q[line] += row_times(global, parts, p, line, part->b);
  }
  for (int b = 0; b < m; ++b) {
    const int column = contact[b / d] * d + b % d;
    memset(part->b, 0, (size_t)part->n * sizeof *part->b);
    for (size_t k = global->Ht.row[column]; k < global->Ht.row[column + 1]; ++k)
      if (parts->part[global->Ht.col[k]] == p)
        part->b[parts->place[global->Ht.col[k]]] = global->Ht.x[k];
    part_solve(part);
    for (int a = part->symmetric ? b : 0; a < m; ++a) {
      const int line = contact[a / d] * d + a % d;
      const double value = row_times(global, parts, p, line, part->b);
      *entry_of_W(problem, line, column) += value;
      if (part->symmetric && a != b) *entry_of_W(problem, column, line) += value;
    }
  }
}

scree_Status scree_global_assemble(const scree_H5 *h5, const scree_Global *global,
                                   const scree_MassGroups *parts, scree_Problem *problem) {
  Touching touching = {0};
  scree_Sparse pattern = {0};
  scree_Status status = touching_init(global, parts, h5->log, &touching);
  if (status == SCREE_OK) status = pattern_init(h5, global, parts, &touching, &pattern);
  if (status == SCREE_OK)
    status = scree_problem_create_assembled(problem, global->d, global->nc, pattern.row[global->nc],
                                            false, h5->log);
  if (status == SCREE_OK) {
    assert(pattern.row && pattern.col);
    memcpy(problem->blocks.row, pattern.row, ((size_t)global->nc + 1) * sizeof(size_t));
    memcpy(problem->blocks.col, pattern.col, pattern.row[global->nc] * sizeof(int));
    memcpy(problem->q, global->w, (size_t)(global->nc * global->d) * sizeof(double));
    memcpy(problem->mu, global->mu, (size_t)global->nc * sizeof(double));
  }
  for (int p = 0; p < parts->count && status == SCREE_OK; ++p) {
    const int contacts = (int)(touching.start[p + 1] - touching.start[p]);
    Part part;
    if (contacts == 0) continue;
    status = part_init(h5, global, parts, p, &part);
    if (status != SCREE_OK) break;
    add_part(global, parts, p, &part, touching.contact + touching.start[p], contacts, problem);
    part_fini(&part);
  }
  touching_fini(&touching);
  scree_sparse_fini(&pattern);
  return status;
}

/* All of M as one part: a single solve needs no more. */
scree_Status scree_global_velocity(const scree_H5 *h5, const scree_Global *global, const double *r,
                                   double *v) {
  scree_MassGroups all = {0};
  if (global->nd == 0) return SCREE_OK;
  scree_Status status = scree_parts_init(&all, global->nd, h5->log);
  if (status != SCREE_OK) return status;
  scree_parts_consecutive(&all, global, global->nd);
  Part part;
  status = part_init(h5, global, &all, 0, &part);
  if (status == SCREE_OK) {
    memcpy(part.b, global->f, (size_t)global->nd * sizeof *part.b);
    for (int line = 0; line < global->Ht.rows; ++line)
      for (size_t k = global->Ht.row[line]; k < global->Ht.row[line + 1]; ++k)
        part.b[global->Ht.col[k]] += global->Ht.x[k] * r[line];
    part_solve(&part);
    memcpy(v, part.b, (size_t)global->nd * sizeof *v);
    part_fini(&part);
  }
  scree_parts_fini(&all);
  return status;
}
