/* Groups of contacts between the same two bodies, and the elimination that determines their rank
 * (see recover.c).
 *
 * Rows of one pattern are found by a hash of the pattern that does not depend on order, and
 * compared exactly. A class of them is one group unless its rank is too large; then each contact
 * is compared with the first one of each group found so far. */
#include "solver/recover_internal.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/mix.h"

#include <math.h>
#include <string.h>

/* Pairs of bodies with one pattern, beyond half of the contacts seen: more are single contacts. */
enum { MOST_PARTS = 8 };

/* ---- one elimination --------------------------------------------------------------------------
 */

void scree_finder_gather(const scree_Finder *f, int c, int i, double *v) {
  const size_t d = (size_t)f->d;
  size_t start, n;
  const double *x = scree_finder_row(f, c, i, &start, &n);
  const int *col = f->p->blocks.col + start;
  memset(v, 0, ((size_t)f->nlist * d + 3) / 4 * 4 * sizeof *v);
  if ((size_t)f->nlist * 8 < n) {
    for (int l = 0; l < f->nlist; ++l) {
      const size_t k = scree_finder_place(f, c, f->list[l]);
      if (k < n) memcpy(v + (size_t)l * d, x + k * d, d * sizeof *v);
    }
    return;
  }
  for (size_t k = 0; k < n; ++k) {
    const int l = f->local[col[k]];
    if (l < 0) continue;
    for (size_t j = 0; j < d; ++j) v[(size_t)l * d + j] = x[k * d + j];
  }
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/* The known bodies of a contact: (sides x d x nb). */
static const double *known_rows(const scree_Finder *f, int c) {
  return f->B + (size_t)c * (size_t)(2 * f->d * f->nb);
}

/* The part of W that the known bodies of group g explain, between row i of contact c and row j of
 * contact k, both of that group. */
static double known_part(const scree_Finder *f, int g, int c, int i, int k, int j) {
  const int d = f->d, nb = f->nb;
  const double *a = known_rows(f, c) + i * nb, *b = known_rows(f, k) + j * nb;
  double sum = f->body[2 * g] >= 0 ? dot(nb, a, b) : 0.0;
  if (f->body[2 * g + 1] >= 0) sum += dot(nb, a + d * nb, b + d * nb);
  return sum;
}

/* Diagonals of the rows that may be pivots, less the part explained by their known bodies. False if
 * W has a negative diagonal. */
static bool start_residuals(scree_Finder *f) {
  const int d = f->d;
  for (int l = 0; l < f->neligible; ++l) {
    const int c = f->list[l];
    for (int i = 0; i < d; ++i) {
      const double w = scree_finder_diagonal(f, c, i);
      if (!(w >= 0.0)) return false;
      f->scale[d * l + i] = w;
      f->residual[d * l + i] = f->B ? w - known_part(f, f->group[c], c, i, c, i) : w;
    }
  }
  return true;
}

/* The largest residual above rounding, or -1. */
static int choose_pivot(const scree_Finder *f) {
  int best = -1;
  double most = 0.0;
  for (int i = 0; i < f->d * f->neligible; ++i) {
    const bool better =
        (f->residual[i] > most) & (f->residual[i] > SCREE_FINDER_NOTHING * f->scale[i]);
    best = better ? i : best;
    most = better ? f->residual[i] : most;
  }
  return best;
}

/* v -= a u, n lanes */
SCREE_INLINE void subtract(size_t n, double a, const scree_Lane *u, scree_Lane *v) {
  const scree_Lane four = {a, a, a, a};
  for (size_t i = 0; i < n; ++i) v[i] -= four * u[i];
}

/* The column of L for pivot p (an index in the list), given those before it. */
SCREE_CLONES static void eliminate_row(scree_Finder *f, int p, int rank) {
  const int d = f->d, c = f->list[p / d], g = f->group[c];
  const size_t lanes = ((size_t)(d * f->nlist) + 3) / 4;
  const size_t pivot_lanes = ((size_t)(d * f->neligible) + 3) / 4;
  double *v = scree_finder_column(f, rank);
  scree_finder_gather(f, c, p % d, v);
  for (int k = f->first[g]; f->B && k < f->first[g + 1]; ++k) {
    const int other = f->member[k];
    for (int i = 0; i < d; ++i) v[d * f->local[other] + i] -= known_part(f, g, other, i, c, p % d);
  }
  for (int j = 0; j < rank; ++j)
    subtract(lanes, scree_finder_column(f, j)[p], (const scree_Lane *)scree_finder_column(f, j),
             (scree_Lane *)v);
  const double root = sqrt(f->residual[p]), a = 1.0 / root;
  const scree_Lane inverse = {a, a, a, a};
  scree_Lane *w = (scree_Lane *)v, *residual = (scree_Lane *)f->residual;
  for (size_t i = 0; i < lanes; ++i) w[i] *= inverse;
  v[p] = root;
  for (size_t i = 0; i < pivot_lanes; ++i) residual[i] -= w[i] * w[i];
  f->residual[p] = 0.0;
}

int scree_finder_eliminate(scree_Finder *f, int most, int *pivots, double *left) {
  if (!start_residuals(f)) return -1;
  int rank = 0;
  for (; rank < most; ++rank) {
    const int p = choose_pivot(f);
    if (p < 0) break;
    if (pivots) pivots[rank] = f->d * f->list[p / f->d] + p % f->d;
    eliminate_row(f, p, rank);
  }
  *left = 0.0;
  for (int i = 0; i < f->d * f->neligible; ++i)
    if (fabs(f->residual[i]) > *left * f->scale[i])
      *left = f->scale[i] > 0.0 ? fabs(f->residual[i]) / f->scale[i] : INFINITY;
  return rank;
}

/* ---- groups -----------------------------------------------------------------------------------
 */

static bool same_pattern(const scree_BlockRows *rows, int a, int b) {
  const size_t n = rows->row[a + 1] - rows->row[a];
  return rows->row[b + 1] - rows->row[b] == n &&
         memcmp(rows->col + rows->row[a], rows->col + rows->row[b], n * sizeof(int)) == 0;
}

/* Classes of contacts whose rows have the same pattern, numbered by their first contact, into
 * `group`; returns how many. `key` (nc), `table` (size, a power of 2 above nc, zeroed). */
static int classify(scree_Finder *f, uint64_t *key, int *table, size_t size, int *leader) {
  const scree_BlockRows *rows = &f->p->blocks;
  int classes = 0;
  for (int c = 0; c < f->nc; ++c) key[c] = scree_mix((uint64_t)c);
  for (int c = 0; c < f->nc; ++c) {
    uint64_t sum = 0; /* sum of the hash keys of a set, independent of its order */
    for (size_t k = rows->row[c]; k < rows->row[c + 1]; ++k) {
      sum += key[rows->col[k]];
      if (rows->col[k] == c) f->diagonal[c] = k - rows->row[c];
    }
    size_t at = (size_t)(sum >> 20) & (size - 1);
    while (table[at] && !same_pattern(rows, leader[table[at] - 1], c)) at = (at + 1) & (size - 1);
    if (!table[at]) {
      leader[classes] = c;
      table[at] = ++classes;
    }
    f->group[c] = table[at] - 1;
  }
  return classes;
}

/* `member` and `first` from `group`: a counting sort. */
static void sort_members(scree_Finder *f) {
  memset(f->first, 0, (size_t)(f->ngroups + 1) * sizeof(int));
  for (int c = 0; c < f->nc; ++c) ++f->first[f->group[c] + 1];
  for (int g = 0; g < f->ngroups; ++g) f->first[g + 1] += f->first[g];
  for (int c = 0; c < f->nc; ++c) f->member[f->first[f->group[c]]++] = c;
  for (int g = f->ngroups; g > 0; --g) f->first[g] = f->first[g - 1];
  f->first[0] = 0;
}

/* Whether W_ck = W_kc^T for two contacts of one class. */
static bool is_symmetric(const scree_Finder *f, int c, int k) {
  const int d = f->d;
  const size_t at = scree_finder_place(f, c, k), ta = scree_finder_place(f, k, c);
  for (int i = 0; i < d; ++i) {
    size_t start, n;
    const double *x = scree_finder_row(f, c, i, &start, &n) + (size_t)d * at;
    if (at == n || ta == n) return false;
    for (int j = 0; j < d; ++j) {
      const double y = scree_finder_row(f, k, j, &start, &n)[(size_t)d * ta + (size_t)i];
      const double most = scree_finder_diagonal(f, c, i) + scree_finder_diagonal(f, k, j);
      if (!(fabs(x[j] - y) <= SCREE_FINDER_SMALL * most)) return false;
    }
  }
  return true;
}

/* Rank and independent rows of a group. False when it cannot be the contacts of one pair, or when W
 * is not symmetric there. */
static bool examine_group(scree_Finder *f, int g, bool *single) {
  const int begin = f->first[g], end = f->first[g + 1];
  *single = true;
  f->rank[g] = 0;
  if (end - begin < 2) return true;
  if (!is_symmetric(f, f->member[begin], f->member[end - 1])) return false;
  double left;
  scree_finder_clear_list(f);
  scree_finder_list_group(f, g);
  f->neligible = f->nlist;
  f->rank[g] = scree_finder_eliminate(f, f->nb, f->pivot + (size_t)g * (size_t)f->nb, &left);
  *single = left <= SCREE_FINDER_NOTHING;
  return f->rank[g] >= 0;
}

/* Whether two contacts join the same two bodies: their 2d rows are dependent. */
static bool same_pair(scree_Finder *f, int a, int b) {
  double left = 0.0;
  scree_finder_clear_list(f);
  scree_finder_list_contact(f, a);
  scree_finder_list_contact(f, b);
  f->neligible = 2;
  return scree_finder_eliminate(f, 2 * f->d - 1, NULL, &left) >= 0 && left <= SCREE_FINDER_NOTHING;
}

/* Split class g into pairs; new groups are numbered from f->ngroups. False if it contains only
 * single contacts. */
static bool split_class(scree_Finder *f, int g) {
  const int begin = f->first[g], end = f->first[g + 1];
  int parts = 0;
  for (int k = begin; k < end; ++k) {
    const int c = f->member[k];
    int part = parts - 1; /* the last one first: contacts of a pair are mostly consecutive */
    while (part >= 0 && !same_pair(f, f->spare[part], c)) --part;
    if (part < 0) {
      part = parts++;
      f->spare[part] = c;
      if (parts > MOST_PARTS + (k - begin) / 2) return false;
    }
    f->group[c] = part == 0 ? g : f->ngroups + part - 1;
  }
  f->ngroups += parts - 1;
  return true;
}

/* From classes to groups. */
static bool make_groups(scree_Finder *f) {
  const int classes = f->ngroups;
  bool single, split = false;
  for (int g = 0; g < classes; ++g) {
    if (!examine_group(f, g, &single)) return false;
    if (single) continue;
    if (!split_class(f, g)) return false;
    f->rank[g] = -1; /* to be examined again */
    split = true;
  }
  if (!split) return true;
  sort_members(f);
  for (int g = 0; g < f->ngroups; ++g)
    if (g >= classes || f->rank[g] < 0)
      if (!examine_group(f, g, &single) || !single) return false;
  return true;
}

/* Which groups are coupled. Contacts of a group have one pattern, so the first one's is used. */
static void couple_groups(scree_Finder *f) {
  const scree_BlockRows *rows = &f->p->blocks;
  size_t filled = 0;
  for (int g = 0; g < f->ngroups; ++g) f->mark[g] = -1;
  for (int g = 0; g < f->ngroups; ++g) {
    const int c = f->member[f->first[g]];
    f->mark[g] = g;
    for (size_t k = rows->row[c]; k < rows->row[c + 1]; ++k) {
      const int h = f->group[rows->col[k]];
      if (f->mark[h] == g) continue;
      f->mark[h] = g;
      f->adj[filled++] = h;
    }
    f->adj_row[g + 1] = filled;
  }
  for (int g = 0; g < f->ngroups; ++g) f->mark[g] = -1;
}

/* ---- memory -----------------------------------------------------------------------------------
 */

/* Splits one allocation into aligned arrays; with a null base it only computes the size. */
static void *cut(char *base, size_t *used, size_t count, size_t size) {
  void *piece = base ? base + *used : NULL;
  *used += (count * size + 63) / 64 * 64;
  return piece;
}

/* The arrays for classes; `key`, `table` and `leader` are used only for them. */
static size_t cut_classes(scree_Finder *f, char *base, size_t size, uint64_t **key, int **table,
                          int **leader) {
  const size_t nc = (size_t)f->nc;
  size_t used = 0;
  f->diagonal = cut(base, &used, nc, sizeof(size_t));
  f->group = cut(base, &used, nc, sizeof(int));
  *key = cut(base, &used, nc, sizeof(uint64_t));
  *table = cut(base, &used, size, sizeof(int));
  *leader = cut(base, &used, nc, sizeof(int));
  return used;
}

/* All other arrays but `adj`. There are at most as many groups as contacts. */
static size_t cut_groups(scree_Finder *f, char *base) {
  const size_t nc = (size_t)f->nc, nb = (size_t)f->nb;
  size_t used = 0;
  f->member = cut(base, &used, nc, sizeof(int));
  f->local = cut(base, &used, nc, sizeof(int));
  f->spare = cut(base, &used, nc, sizeof(int));
  f->list = cut(base, &used, nc, sizeof(int));
  f->first = cut(base, &used, nc + 1, sizeof(int));
  f->pivot = cut(base, &used, nc * nb, sizeof(int));
  f->rank = cut(base, &used, nc, sizeof(int));
  f->adj_row = cut(base, &used, nc + 1, sizeof(size_t));
  f->body = cut(base, &used, 2 * nc, sizeof(int));
  f->done = cut(base, &used, nc, sizeof(bool));
  f->mixed = cut(base, &used, nc, sizeof(bool));
  f->columns = cut(base, &used, 2 * nc, sizeof(int));
  f->mark = cut(base, &used, nc, sizeof(int));
  f->queue = cut(base, &used, 2 * nc, sizeof(int));
  f->clique = cut(base, &used, nc, sizeof(int));
  f->L = cut(base, &used, nb * f->stride, sizeof(double));
  f->residual = cut(base, &used, f->stride, sizeof(double));
  f->scale = cut(base, &used, f->stride, sizeof(double));
  return used;
}

scree_Status scree_finder_classes(scree_Finder *f, bool *worth, const scree_Log *log) {
  size_t size = 16;
  while (size < 2 * (size_t)f->nc) size *= 2;
  uint64_t *key;
  int *table, *leader;
  f->memory[0] = scree_alloc(cut_classes(f, NULL, size, &key, &table, &leader), 1);
  if (!f->memory[0]) return scree_fail_memory(log, "the patterns of contacts");
  cut_classes(f, f->memory[0], size, &key, &table, &leader);
  f->ngroups = classify(f, key, table, size, leader);
  int *count = table; /* no longer needed as a table */
  memset(count, 0, (size_t)f->nc * sizeof *count);
  for (int c = 0; c < f->nc; ++c) ++count[f->group[c]];
  int single = 0;
  for (int g = 0; g < f->ngroups; ++g) single += count[g] == 1;
  *worth = 2 * single <= f->nc;
  return SCREE_OK;
}

scree_Status scree_finder_groups(scree_Finder *f, bool *good, const scree_Log *log) {
  f->memory[1] = scree_alloc(cut_groups(f, NULL), 1);
  if (!f->memory[1]) return scree_fail_memory(log, "groups of contacts");
  cut_groups(f, f->memory[1]);
  memset(f->local, -1, (size_t)f->nc * sizeof *f->local);
  memset(f->body, -1, 2 * (size_t)f->nc * sizeof *f->body);
  sort_members(f);
  *good = make_groups(f);
  if (!*good) return SCREE_OK;
  size_t most = 0;
  for (int g = 0; g < f->ngroups; ++g) {
    const int c = f->member[f->first[g]];
    const size_t n = f->p->blocks.row[c + 1] - f->p->blocks.row[c];
    most += n < (size_t)f->ngroups ? n : (size_t)f->ngroups;
  }
  f->memory[2] = f->adj = SCREE_ALLOC(int, most);
  if (!f->adj) return scree_fail_memory(log, "the couplings of groups");
  couple_groups(f);
  return SCREE_OK;
}
