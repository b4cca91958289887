/* Grouping the degrees of freedom of a global problem into parts (see fclib_parts.h).
 *
 * M is block diagonal in any file: the connected components of its pattern do not interact but
 * through contacts. A diagonal M, the usual case for rigid bodies, does not show which components
 * belong together, so consecutive degrees of freedom are tried in the natural sizes (3 in 2D, 6 in
 * 3D, d for points, 12 for pseudo-rigid bodies) as well as the components themselves. Only W and q
 * matter to contacts, so any grouping that passes gives the same problem; the smallest is kept. */
#include "fclib/fclib_parts.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/union_find.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

void scree_parts_fini(scree_MassGroups *parts) {
  scree_free(parts->part);
  scree_free(parts->place);
  scree_free(parts->start);
  scree_free(parts->dof);
  *parts = (scree_MassGroups){0};
}

scree_Status scree_parts_init(scree_MassGroups *parts, int nd, const scree_Log *log) {
  parts->part = SCREE_ALLOC(int, nd);
  parts->place = SCREE_ALLOC(int, nd);
  parts->start = SCREE_ALLOC(int, (size_t)nd + 1);
  parts->dof = SCREE_ALLOC(int, nd);
  if (parts->part && parts->place && parts->start && parts->dof) return SCREE_OK;
  scree_parts_fini(parts);
  return scree_fail_memory(log, "the bodies of M");
}

/* Fill place, start, dof and the sizes from part[] and count. */
static void parts_list(scree_MassGroups *parts, int nd) {
  memset(parts->start, 0, ((size_t)nd + 1) * sizeof *parts->start);
  for (int i = 0; i < nd; ++i) parts->place[i] = parts->start[parts->part[i] + 1]++;
  parts->largest = 0;
  for (int p = 0; p < parts->count; ++p) {
    if (parts->start[p + 1] > parts->largest) parts->largest = parts->start[p + 1];
    parts->start[p + 1] += parts->start[p];
  }
  for (int i = 0; i < nd; ++i) parts->dof[parts->start[parts->part[i]] + parts->place[i]] = i;
}

/* Parts = connected components of M's pattern, numbered by their first degree of freedom. */
static void parts_components(scree_MassGroups *parts, const scree_Global *global) {
  int *parent = parts->part;
  for (int i = 0; i < global->nd; ++i) parent[i] = i;
  for (int i = 0; i < global->nd; ++i)
    for (size_t k = global->M.row[i]; k < global->M.row[i + 1]; ++k) {
      if (global->M.x[k] != 0.0) scree_unite(parent, i, global->M.col[k]);
    }
  /* Roots are the smallest members, so they are numbered before the other members. */
  int *number = parts->dof;
  parts->count = 0;
  for (int i = 0; i < global->nd; ++i) {
    const int root = scree_root_of(parent, i);
    if (root == i) number[i] = parts->count++;
    parts->place[i] = number[root];
  }
  memcpy(parts->part, parts->place, (size_t)global->nd * sizeof *parts->part);
  parts_list(parts, global->nd);
}

bool scree_parts_consecutive(scree_MassGroups *parts, const scree_Global *global, int size) {
  if (global->nd == 0 || global->nd % size != 0) return false;
  for (int i = 0; i < global->nd; ++i)
    for (size_t k = global->M.row[i]; k < global->M.row[i + 1]; ++k)
      if (global->M.x[k] != 0.0 && global->M.col[k] / size != i / size) return false;
  parts->count = global->nd / size;
  for (int i = 0; i < global->nd; ++i) parts->part[i] = i / size;
  parts_list(parts, global->nd);
  return true;
}

int scree_parts_touched(const scree_Global *global, const scree_MassGroups *parts, int c, int limit,
                        int *touched) {
  int count = 0;
  for (int i = c * global->d; i < (c + 1) * global->d; ++i)
    for (size_t k = global->Ht.row[i]; k < global->Ht.row[i + 1]; ++k) {
      if (global->Ht.x[k] == 0.0) continue;
      const int part = parts->part[global->Ht.col[k]];
      int t = 0;
      while (t < count && touched[t] != part) ++t;
      if (t < count) continue;
      if (count == limit) return limit + 1;
      touched[count++] = part;
    }
  return count;
}

/* Numbers stored for the contacts with this grouping (a row of each side's B), or -1 when some
 * contact touches more than two parts or a part is too large. */
static long long contacts_cost(const scree_Global *global, const scree_MassGroups *parts) {
  int touched[2];
  long long sides = 0;
  if (parts->largest > SCREE_PART_MAX) return -1;
  for (int c = 0; c < global->nc; ++c) {
    const int count = scree_parts_touched(global, parts, c, 2, touched);
    if (count > 2) return -1;
    sides += count;
  }
  return sides * parts->largest;
}

bool scree_parts_symmetric(const scree_Global *global, const scree_MassGroups *parts, int p) {
  const scree_Sparse *M = &global->M;
  for (int a = parts->start[p]; a < parts->start[p + 1]; ++a) {
    const int i = parts->dof[a];
    const double diagonal = sqrt(fabs(scree_sparse_at(M, i, i)));
    for (size_t k = M->row[i]; k < M->row[i + 1]; ++k) {
      const int j = M->col[k];
      const double scale = diagonal * sqrt(fabs(scree_sparse_at(M, j, j)));
      if (!(fabs(M->x[k] - scree_sparse_at(M, j, i)) <= 4.0 * DBL_EPSILON * scale)) return false;
    }
  }
  return true;
}

/* Group by candidate k: consecutive degrees of freedom in natural sizes, then M's components. False
 * past the last one; *cost is -1 when the candidate does not fit. */
static bool group(const scree_Global *global, int k, scree_MassGroups *parts, long long *cost) {
  const int sizes[] = {global->d == 2 ? 3 : 6, global->d, SCREE_PART_MAX};
  if (k > 3) return false;
  *cost = -1;
  if (k == 3)
    parts_components(parts, global);
  else if (!scree_parts_consecutive(parts, global, sizes[k]))
    return true;
  *cost = contacts_cost(global, parts);
  for (int p = 0; p < parts->count && *cost >= 0; ++p)
    if (!scree_parts_symmetric(global, parts, p)) *cost = -1;
  return true;
}

bool scree_parts_choose(const scree_Global *global, scree_MassGroups *parts) {
  int best = -1;
  long long cost = -1, least = LLONG_MAX;
  for (int k = 0; group(global, k, parts, &cost); ++k)
    if (cost >= 0 && cost < least) {
      least = cost;
      best = k;
    }
  group(global, best >= 0 ? best : 3, parts, &cost);
  return best >= 0;
}

scree_Status scree_parts_fail(const scree_H5 *h5, const scree_MassGroups *parts, int p,
                              const char *what) {
  return scree_fail(h5->log, SCREE_BAD_INPUT,
                    "%s: /fclib_global/M of body %d (rows %d to %d) is not %s, expected the mass "
                    "matrix of a body",
                    h5->path, p, parts->dof[parts->start[p]], parts->dof[parts->start[p + 1] - 1],
                    what);
}
