/* Finding bodies in W (see recover.h).
 *
 * W = sum over bodies b of B_b B_b^T. A *group* is the contacts of one pair of bodies (one may be
 * the ground). Two facts carry everything:
 *
 *   - Contacts of one pair are coupled with the same other contacts, so that their rows of W have
 *     the same pattern, and their velocities depend on one relative twist: their rows have rank
 *     nb = 3 (plane) or 6 (space) at most. Different pairs may share a pattern too (two boxes on a
 *     third one); then the rank of the class is larger, and two contacts are of one pair just when
 *     their common 2d rows are dependent: the distance of two points of a body does not change.
 *   - Two groups share one body at most, so that an off-diagonal block of W is explained by one
 *     body, whole. Only diagonal blocks are sums of two bodies.
 *
 * Hence bodies can be taken off one after the other. If all bodies of group e but one (call it b)
 * are known, then the rest of its diagonal block, R = W_ee - B_e1 B_e1^T, is B_eb B_eb^T, the
 * groups of b are e and those of its neighbours that share no known body with it, and
 *     B_eb = Cholesky factor of R ,   B_hb = W_he B_eb^-T   for each group h of b,
 * which is one pivoted Cholesky elimination whose pivots are rows of e (or of all groups of b that
 * lack only b), over columns that are rows of W as they stand. No residual matrix is ever formed:
 * each body costs the reading of nb rows of W. Its groups then lack one body less: a queue walks
 * through the structure in the order of distance from where it starts.
 *
 * It starts at groups of which no body is known, each kind tried when the ones before are used up:
 *   1. a group between a body and the ground. Its neighbours are all coupled with each other, and
 *      eliminating it leaves nothing of their coupling;
 *   2. three groups e, f, g of one body, none of them at the ground. Their off-diagonal blocks are
 *      enough: B_e B_e^T = W_ef W_gf^-1 W_ge;
 *   3. the end of a chain, a group with one neighbour or none. Here W does not determine the
 *      bodies, and any Cholesky factor will do.
 * At the end W x and B B^T x are compared for two x without structure. Whatever went wrong before
 * (a compliance, an asymmetry, digits cut off, bodies that are not rigid) ends there at the latest,
 * so none of the decisions on the way has to be proven. */
#include "problem/recover.h"

#include "core/log.h"
#include "core/memory.h"
#include "problem/operator.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Relative to the diagonal entry of W that a residual is left over from. Rounding leaves 1e-16 to
 * 1e-14; the smallest real ones are ratios of masses or squares of distances between points of
 * contact over the size of a body, 1e-10 and larger where W has enough digits for any method. */
static const double NOTHING = 1e-12;
/* A decision between "zero but for the rounding of a few bodies in a row" and "not at all". */
static const double SMALL = 1e-7;
/* The asymmetry of what is symmetric but for a few roundings. */
static const double EXACT = 1e-14;
/* B B^T x against W x, each row relative to its diagonal. */
static const double SAME = 1e-11;

enum {
  MOST_NB = 6,
  MOST_PARTS = 8, /* pairs of bodies with one pattern that may hide behind single contacts */
  MOST_TRIES = 6, /* triples of groups tried for each group */
  MOST_LOST = 12  /* triples tried in vain before one gives up on them */
};

typedef struct Finder {
  const scree_Problem *p;
  int d, nb, nc;
  void *memory[3]; /* for classes, for groups, for their couplings */
  /* contacts */
  size_t *diagonal; /* (nc) index of the diagonal block in its row */
  int *group;       /* (nc) */
  int *member;      /* (nc) contacts, group by group */
  int *local;       /* (nc) place in `list`, or -1 */
  int *spare;       /* (nc) */
  /* groups */
  int ngroups;
  int *first;      /* (ngroups + 1) range in `member` */
  int *pivot;      /* (ngroups x nb) independent rows, d * contact + component */
  int *rank;       /* (ngroups) of the rows of a group with several contacts, else 0 */
  size_t *adj_row; /* (ngroups + 1) groups coupled with a group, itself left out */
  int *adj;        /* (adj_row[ngroups]), memory[2] */
  int *body;       /* (ngroups x 2) known bodies, -1 */
  bool *done;      /* (ngroups) all of its bodies are known */
  int *mark;       /* (ngroups) */
  int *queue;      /* (2 ngroups) groups that lack one body */
  int head, tail;
  int *clique; /* (ngroups) groups of the body in work */
  int nclique, nknown;
  /* the elimination in work, over rows d * place + component */
  int *list; /* (nc) contacts */
  int nlist, neligible;
  size_t stride;            /* d nc rounded up to a multiple of 8 */
  double *L;                /* (nb x stride) columns */
  double *residual, *scale; /* (stride) of rows that may be pivots */
  double *B;                /* (nc x 2 x d x nb) of the result, or null */
  int nbodies;
} Finder;

/* Row `i` of contact c: the concatenated rows of its blocks. */
static const double *row_of(const Finder *f, int c, int i, size_t *start, size_t *n) {
  *start = f->p->blocks.row[c];
  *n = f->p->blocks.row[c + 1] - *start;
  return f->p->blocks.x + *start * (size_t)(f->d * f->d) + (size_t)i * (size_t)f->d * *n;
}

static double diagonal_entry(const Finder *f, int c, int i) {
  size_t start, n;
  return row_of(f, c, i, &start, &n)[(size_t)f->d * f->diagonal[c] + (size_t)i];
}

/* Where column k is in the row of contact c, or the row's length. */
static size_t find_column(const Finder *f, int c, int k) {
  const size_t start = f->p->blocks.row[c], n = f->p->blocks.row[c + 1] - start;
  const int *col = f->p->blocks.col + start;
  size_t lo = 0, hi = n;
  while (lo < hi) {
    const size_t mid = (lo + hi) / 2;
    if (col[mid] < k)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < n && col[lo] == k ? lo : n;
}

/* W between two scalar rows, zero where there is no block. */
static double entry(const Finder *f, int row, int column) {
  const int d = f->d;
  size_t start, n;
  const double *x = row_of(f, row / d, row % d, &start, &n);
  const size_t k = find_column(f, row / d, column / d);
  return k < n ? x[(size_t)d * k + (size_t)(column % d)] : 0.0;
}

/* ---- one elimination --------------------------------------------------------------------------
 */

static void clear_list(Finder *f) {
  for (int k = 0; k < f->nlist; ++k) f->local[f->list[k]] = -1;
  f->nlist = f->neligible = 0;
}

static void list_contact(Finder *f, int c) {
  f->local[c] = f->nlist;
  f->list[f->nlist++] = c;
}

static void list_group(Finder *f, int g) {
  for (int k = f->first[g]; k < f->first[g + 1]; ++k) list_contact(f, f->member[k]);
}

/* Column k of L: aligned, with room for whole lanes. */
static double *column(const Finder *f, int k) {
  return f->L + (size_t)k * f->stride;
}

/* v = row i of contact c of W, over the rows of the list */
static void gather_row(const Finder *f, int c, int i, double *v) {
  const size_t d = (size_t)f->d;
  size_t start, n;
  const double *x = row_of(f, c, i, &start, &n);
  const int *col = f->p->blocks.col + start;
  memset(v, 0, ((size_t)f->nlist * d + 3) / 4 * 4 * sizeof *v);
  if ((size_t)f->nlist * 8 < n) {
    for (int l = 0; l < f->nlist; ++l) {
      const size_t k = find_column(f, c, f->list[l]);
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

/* The first known body of a contact: (d x nb). */
static const double *known_rows(const Finder *f, int c) {
  return f->B + (size_t)c * (size_t)(2 * f->d * f->nb);
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/* Diagonals of the rows that may be pivots, less what their known body explains. False where W has
 * a negative diagonal. */
static bool start_residuals(Finder *f) {
  const int d = f->d, nb = f->nb;
  for (int l = 0; l < f->neligible; ++l) {
    const int c = f->list[l];
    const bool known = f->B && f->body[2 * f->group[c]] >= 0;
    for (int i = 0; i < d; ++i) {
      const double w = diagonal_entry(f, c, i);
      if (!(w >= 0.0)) return false;
      const double *b = known ? known_rows(f, c) + i * nb : NULL;
      f->scale[d * l + i] = w;
      f->residual[d * l + i] = b ? w - dot(nb, b, b) : w;
    }
  }
  return true;
}

/* The largest residual that is not rounding, or -1. */
static int choose_pivot(const Finder *f) {
  int best = -1;
  double most = 0.0;
  for (int i = 0; i < f->d * f->neligible; ++i) {
    const bool better = (f->residual[i] > most) & (f->residual[i] > NOTHING * f->scale[i]);
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

/* The column of L for pivot p (a place in the list), given those before it. */
SCREE_CLONES static void eliminate_row(Finder *f, int p, int rank) {
  const int d = f->d, nb = f->nb, c = f->list[p / d], g = f->group[c];
  const size_t lanes = ((size_t)(d * f->nlist) + 3) / 4;
  const size_t pivot_lanes = ((size_t)(d * f->neligible) + 3) / 4;
  double *v = column(f, rank);
  gather_row(f, c, p % d, v);
  if (f->B && f->body[2 * g] >= 0) {
    const double *b = known_rows(f, c) + p % d * nb;
    for (int k = f->first[g]; k < f->first[g + 1]; ++k) {
      const int other = f->member[k], l = f->local[other];
      for (int i = 0; i < d; ++i) v[d * l + i] -= dot(nb, known_rows(f, other) + i * nb, b);
    }
  }
  for (int j = 0; j < rank; ++j)
    subtract(lanes, column(f, j)[p], (const scree_Lane *)column(f, j), (scree_Lane *)v);
  const double root = sqrt(f->residual[p]), a = 1.0 / root;
  const scree_Lane inverse = {a, a, a, a};
  scree_Lane *w = (scree_Lane *)v, *residual = (scree_Lane *)f->residual;
  for (size_t i = 0; i < lanes; ++i) w[i] *= inverse;
  v[p] = root;
  for (size_t i = 0; i < pivot_lanes; ++i) residual[i] -= w[i] * w[i];
  f->residual[p] = 0.0;
}

/* Pivoted Cholesky with pivots among the first `neligible` contacts of the list, `most` of them at
 * most. Returns how many there were, their rows in `pivots` (or null), and in *left the largest
 * residual relative to its diagonal; -1 where W is not positive. */
static int eliminate(Finder *f, int most, int *pivots, double *left) {
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

/* ---- groups ------------------------------------------------------------------------------------
 */

/* splitmix64: a number without structure for each n */
static uint64_t scramble(uint64_t n) {
  uint64_t z = (n + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static bool same_pattern(const scree_BlockRows *rows, int a, int b) {
  const size_t n = rows->row[a + 1] - rows->row[a];
  return rows->row[b + 1] - rows->row[b] == n &&
         memcmp(rows->col + rows->row[a], rows->col + rows->row[b], n * sizeof(int)) == 0;
}

/* Classes of contacts whose rows have the same pattern, numbered by their first contact, into
 * `group`; returns how many. `key` (nc), `table` (size, a power of 2 above nc, zeroed). */
static int classify(Finder *f, uint64_t *key, int *table, size_t size, int *leader) {
  const scree_BlockRows *rows = &f->p->blocks;
  int classes = 0;
  for (int c = 0; c < f->nc; ++c) key[c] = scramble((uint64_t)c);
  for (int c = 0; c < f->nc; ++c) {
    uint64_t sum = 0; /* of the keys of a set: the same for the same set alone */
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
static void sort_members(Finder *f) {
  memset(f->first, 0, (size_t)(f->ngroups + 1) * sizeof(int));
  for (int c = 0; c < f->nc; ++c) ++f->first[f->group[c] + 1];
  for (int g = 0; g < f->ngroups; ++g) f->first[g + 1] += f->first[g];
  for (int c = 0; c < f->nc; ++c) f->member[f->first[f->group[c]]++] = c;
  for (int g = f->ngroups; g > 0; --g) f->first[g] = f->first[g - 1];
  f->first[0] = 0;
}

/* Whether W_ck = W_kc^T for two contacts of one class. */
static bool is_symmetric(const Finder *f, int c, int k) {
  const int d = f->d;
  const size_t at = find_column(f, c, k), ta = find_column(f, k, c);
  for (int i = 0; i < d; ++i) {
    size_t start, n;
    const double *x = row_of(f, c, i, &start, &n) + (size_t)d * at;
    if (at == n || ta == n) return false;
    for (int j = 0; j < d; ++j) {
      const double y = row_of(f, k, j, &start, &n)[(size_t)d * ta + (size_t)i];
      const double most = diagonal_entry(f, c, i) + diagonal_entry(f, k, j);
      if (!(fabs(x[j] - y) <= SMALL * most)) return false;
    }
  }
  return true;
}

/* Rank and independent rows of a group. False when it cannot be the contacts of one pair, or when W
 * is not symmetric there. */
static bool examine_group(Finder *f, int g, bool *single) {
  const int begin = f->first[g], end = f->first[g + 1];
  *single = true;
  f->rank[g] = 0;
  if (end - begin < 2) return true;
  if (!is_symmetric(f, f->member[begin], f->member[end - 1])) return false;
  double left;
  clear_list(f);
  list_group(f, g);
  f->neligible = f->nlist;
  f->rank[g] = eliminate(f, f->nb, f->pivot + (size_t)g * (size_t)f->nb, &left);
  *single = left <= NOTHING;
  return f->rank[g] >= 0;
}

/* Whether two contacts join the same two bodies: their 2d rows are dependent. */
static bool same_pair(Finder *f, int a, int b) {
  double left = 0.0;
  clear_list(f);
  list_contact(f, a);
  list_contact(f, b);
  f->neligible = 2;
  return eliminate(f, 2 * f->d - 1, NULL, &left) >= 0 && left <= NOTHING;
}

/* Split class g into pairs; new groups are numbered from f->ngroups. False when there is nothing
 * but single contacts in it. */
static bool split_class(Finder *f, int g) {
  const int begin = f->first[g], end = f->first[g + 1];
  int parts = 0;
  for (int k = begin; k < end; ++k) {
    const int c = f->member[k];
    int part = parts - 1; /* the last one first: contacts of a pair mostly come one by one */
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
static bool make_groups(Finder *f) {
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

/* Which groups are coupled. Contacts of a group have one pattern: the first one's will do. */
static void couple_groups(Finder *f) {
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

/* ---- bodies ------------------------------------------------------------------------------------
 */

static bool share_body(const Finder *f, int g, int h) {
  const int *a = f->body + 2 * g, *b = f->body + 2 * h;
  return (a[0] >= 0 && (a[0] == b[0] || a[0] == b[1])) ||
         (a[1] >= 0 && (a[1] == b[0] || a[1] == b[1]));
}

/* The list is the groups of the clique, the first `eligible` of them with pivots. */
static void list_clique(Finder *f, int eligible) {
  clear_list(f);
  for (int k = 0; k < f->nclique; ++k) {
    if (k == eligible) f->neligible = f->nlist;
    list_group(f, f->clique[k]);
  }
  if (eligible == f->nclique) f->neligible = f->nlist;
}

/* The columns L are a body of all groups of the clique. Those groups of it that lacked one body are
 * done, the others lack one now. */
static void accept_body(Finder *f, int rank) {
  const int d = f->d, nb = f->nb;
  for (int l = 0; l < f->nlist; ++l) {
    const int c = f->list[l], side = f->body[2 * f->group[c]] >= 0;
    double *b = f->B + (size_t)(2 * c + side) * (size_t)(d * nb);
    for (int k = 0; k < rank; ++k) {
      const double *v = column(f, k) + d * l;
      for (int i = 0; i < d; ++i) b[i * nb + k] = v[i];
    }
  }
  for (int k = 0; k < f->nclique; ++k) {
    const int g = f->clique[k], side = f->body[2 * g] >= 0;
    f->body[2 * g + side] = f->nbodies;
    f->done[g] = side;
    if (!side) f->queue[f->tail++] = g;
  }
  ++f->nbodies;
}

/* The body that group e lacks: its groups into the clique, e first, then the others that lack only
 * this body. False when one of them has two other bodies already. */
static bool gather_clique(Finder *f, int e) {
  f->nclique = 0;
  f->clique[f->nclique++] = e;
  f->nknown = 1;
  for (size_t k = f->adj_row[e]; k < f->adj_row[e + 1]; ++k) {
    const int h = f->adj[k];
    if (share_body(f, e, h)) continue;
    if (f->done[h]) return false;
    f->clique[f->nclique++] = h;
    if (f->body[2 * h] >= 0) {
      f->clique[f->nclique - 1] = f->clique[f->nknown];
      f->clique[f->nknown++] = h;
    }
  }
  return true;
}

/* Finish group e, of which one body is known. False when that is impossible. When the rows that may
 * be pivots do not determine the body yet, e is left for later. */
static bool finish_group(Finder *f, int e) {
  if (f->done[e]) return true;
  if (!gather_clique(f, e)) return false;
  list_clique(f, f->nknown);
  double left;
  const int rank = eliminate(f, f->nb, NULL, &left);
  if (rank < 0 || left > SMALL) return false;
  if (rank < f->nb && f->nknown < f->nclique) return true;
  if (rank > 0)
    accept_body(f, rank);
  else
    for (int k = 0; k < f->nclique; ++k) f->done[f->clique[k]] = true;
  return true;
}

static bool drain_queue(Finder *f) {
  while (f->head < f->tail)
    if (!finish_group(f, f->queue[f->head++])) return false;
  return true;
}

/* Whether all others of the clique are coupled with its second group. */
static bool looks_complete(Finder *f) {
  const int g = f->clique[1];
  int coupled = 0;
  for (int k = 2; k < f->nclique; ++k) f->mark[f->clique[k]] = g;
  for (size_t k = f->adj_row[g]; k < f->adj_row[g + 1]; ++k) coupled += f->mark[f->adj[k]] == g;
  for (int k = 2; k < f->nclique; ++k) f->mark[f->clique[k]] = -1;
  return coupled == f->nclique - 2;
}

/* Whether the columns L explain the coupling of the second and the last group of the clique. */
static bool explains_coupling(const Finder *f, int rank) {
  const int d = f->d, a = f->member[f->first[f->clique[1]]],
            b = f->member[f->first[f->clique[f->nclique - 1]]];
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      double sum = entry(f, d * a + i, d * b + j);
      const double most =
          sqrt(entry(f, d * a + i, d * a + i)) * sqrt(entry(f, d * b + j, d * b + j));
      for (int k = 0; k < rank; ++k) {
        const double *v = column(f, k);
        sum -= v[d * f->local[a] + i] * v[d * f->local[b] + j];
      }
      if (!(fabs(sum) <= SMALL * most)) return false;
    }
  return true;
}

/* Start 1: group e, of which nothing is known, may lie between a body and the ground. */
static bool start_at_ground(Finder *f, int e) {
  if (f->rank[e] < f->nb || f->body[2 * e] >= 0 || f->adj_row[e + 1] - f->adj_row[e] < 2)
    return true;
  if (!gather_clique(f, e)) return false;
  if (!looks_complete(f)) return true;
  list_clique(f, 1);
  double left;
  if (eliminate(f, f->nb, NULL, &left) == f->nb && explains_coupling(f, f->nb))
    accept_body(f, f->nb);
  return true;
}

/* Start 3: the end of a chain, or a group alone. */
static bool start_at_end(Finder *f, int e) {
  if (f->done[e] || f->body[2 * e] >= 0 || f->adj_row[e + 1] - f->adj_row[e] > 1) return true;
  if (!gather_clique(f, e)) return false;
  list_clique(f, 1);
  double left;
  const int rank = eliminate(f, f->nb, NULL, &left);
  if (rank < 0 || left > SMALL) return false;
  if (rank > 0)
    accept_body(f, rank);
  else
    f->done[e] = true;
  return drain_queue(f);
}

/* ---- start 2: three groups of one body ---------------------------------------------------------
 */

/* X <- A^-1 X for A (n x n), X (n x n), both row by row with MOST_NB columns; A is destroyed. False
 * when A is singular. */
static bool solve_small(int n, double A[MOST_NB][MOST_NB], double X[MOST_NB][MOST_NB]) {
  for (int k = 0; k < n; ++k) {
    int p = k;
    for (int i = k + 1; i < n; ++i)
      if (fabs(A[i][k]) > fabs(A[p][k])) p = i;
    if (!(fabs(A[p][k]) > 0.0)) return false;
    for (int j = 0; j < n; ++j) {
      const double a = A[k][j], x = X[k][j];
      A[k][j] = A[p][j], A[p][j] = a;
      X[k][j] = X[p][j], X[p][j] = x;
    }
    for (int i = k + 1; i < n; ++i) {
      const double m = A[i][k] / A[k][k];
      for (int j = k; j < n; ++j) A[i][j] -= m * A[k][j];
      for (int j = 0; j < n; ++j) X[i][j] -= m * X[k][j];
    }
  }
  for (int k = n - 1; k >= 0; --k)
    for (int j = 0; j < n; ++j) {
      for (int i = k + 1; i < n; ++i) X[k][j] -= A[k][i] * X[i][j];
      X[k][j] /= A[k][k];
    }
  return true;
}

/* W between the pivot rows of two groups. All contacts of a group have one pattern, so that a
 * column has one place in all their rows. */
static void between(const Finder *f, int g, int h, double A[MOST_NB][MOST_NB]) {
  const int *P = f->pivot + (size_t)g * (size_t)f->nb, *Q = f->pivot + (size_t)h * (size_t)f->nb;
  const int d = f->d;
  size_t start, n, at[MOST_NB];
  for (int j = 0; j < f->nb; ++j)
    at[j] = j > 0 && Q[j] / d == Q[j - 1] / d ? at[j - 1] : find_column(f, P[0] / d, Q[j] / d);
  for (int i = 0; i < f->nb; ++i) {
    const double *x = row_of(f, P[i] / d, P[i] % d, &start, &n);
    for (int j = 0; j < f->nb; ++j)
      A[i][j] = at[j] < n ? x[(size_t)d * at[j] + (size_t)(Q[j] % d)] : 0.0;
  }
}

/* The lower Cholesky factor C of S = W_eg W_hg^-1 W_he over the pivot rows of e. False when S is
 * not symmetric (up to `tolerance`) and positive definite, or larger than W_ee: then the three
 * groups do not share a body. */
static bool factor_triple(const Finder *f, int e, int g, int h, double tolerance,
                          double C[MOST_NB][MOST_NB]) {
  const int n = f->nb, *P = f->pivot + (size_t)e * (size_t)f->nb;
  double A[MOST_NB][MOST_NB], M[MOST_NB][MOST_NB], X[MOST_NB][MOST_NB];
  between(f, e, g, A);
  between(f, h, g, M);
  between(f, h, e, X);
  if (!solve_small(n, M, X)) return false;
  double S[MOST_NB][MOST_NB] = {{0.0}};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) S[i][j] += A[i][k] * X[k][j];
  for (int i = 0; i < n; ++i) {
    if (!(S[i][i] > 0.0 && S[i][i] <= (1.0 + SMALL) * entry(f, P[i], P[i]))) return false;
    for (int j = 0; j < i; ++j)
      if (!(fabs(S[i][j] - S[j][i]) <= tolerance * sqrt(S[i][i] * S[j][j]))) return false;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = 0.5 * (S[i][j] + S[j][i]);
      for (int k = 0; k < j; ++k) sum -= C[i][k] * C[j][k];
      if (i == j && !(sum > NOTHING * S[i][i])) return false;
      C[i][j] = i == j ? sqrt(sum) : sum / C[j][j];
    }
  return true;
}

/* The groups coupled with all of e, g, h are those of their body. */
static bool gather_triple(Finder *f, int e, int g, int h) {
  const int three[3] = {e, g, h};
  f->nclique = 0;
  for (int k = 0; k < 3; ++k) {
    f->clique[f->nclique++] = three[k];
    if (f->done[three[k]]) return false;
  }
  for (int k = 0; k < 2; ++k)
    for (size_t a = f->adj_row[three[k]]; a < f->adj_row[three[k] + 1]; ++a)
      if (k == 0)
        f->mark[f->adj[a]] = e;
      else if (f->mark[f->adj[a]] == e)
        f->mark[f->adj[a]] = f->ngroups;
  bool good = true;
  for (size_t a = f->adj_row[h]; a < f->adj_row[h + 1]; ++a) {
    const int other = f->adj[a];
    if (f->mark[other] != f->ngroups || other == e) continue;
    good = good && !f->done[other] && !share_body(f, other, e);
    f->clique[f->nclique++] = other;
  }
  for (size_t a = f->adj_row[e]; a < f->adj_row[e + 1]; ++a) f->mark[f->adj[a]] = -1;
  f->mark[e] = -1;
  for (size_t a = f->adj_row[g]; a < f->adj_row[g + 1]; ++a) f->mark[f->adj[a]] = -1;
  return good;
}

/* L over the clique from the factor C of the pivot rows of its first group e; the rows of e itself
 * from those of the second group, W_eg B_g^-T. */
static bool spread_triple(Finder *f, double C[MOST_NB][MOST_NB]) {
  const int n = f->nb, d = f->d, rows = d * f->nlist;
  const int *P = f->pivot + (size_t)f->clique[0] * (size_t)n,
            *Q = f->pivot + (size_t)f->clique[1] * (size_t)n;
  for (int k = 0; k < n; ++k) {
    double *v = column(f, k);
    gather_row(f, P[k] / d, P[k] % d, v);
    for (int j = 0; j < k; ++j) {
      const double *u = column(f, j);
      for (int i = 0; i < rows; ++i) v[i] -= C[k][j] * u[i];
    }
    for (int i = 0; i < rows; ++i) v[i] /= C[k][k];
  }
  double M[MOST_NB][MOST_NB], X[MOST_NB][MOST_NB] = {{0.0}}; /* X = (pivot rows of B_g)^-1 */
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      M[i][k] = column(f, k)[d * f->local[Q[i] / d] + Q[i] % d];
      X[i][k] = i == k;
    }
  if (!solve_small(n, M, X)) return false;
  const int e = f->clique[0];
  for (int m = f->first[e]; m < f->first[e + 1]; ++m)
    for (int i = 0; i < d; ++i) {
      const int c = f->member[m];
      double w[MOST_NB];
      for (int k = 0; k < n; ++k) w[k] = entry(f, d * c + i, Q[k]);
      for (int k = 0; k < n; ++k) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) sum += X[k][j] * w[j];
        column(f, k)[d * f->local[c] + i] = sum;
      }
    }
  return true;
}

static bool is_coupled(const Finder *f, int g, int h) {
  const int c = f->member[f->first[g]], k = f->member[f->first[h]];
  return find_column(f, c, k) < f->p->blocks.row[c + 1] - f->p->blocks.row[c];
}

/* Start 2 at the bodies of group e. Adds to *lost the triples that were tried in vain. */
static void start_at_triples(Finder *f, int e, double tolerance, int *lost) {
  int tries = 0;
  for (size_t a = f->adj_row[e]; a < f->adj_row[e + 1]; ++a) {
    const int g = f->adj[a];
    if (f->rank[g] < f->nb || f->done[g] || share_body(f, e, g)) continue;
    for (size_t b = a + 1; b < f->adj_row[e + 1]; ++b) {
      const int h = f->adj[b];
      if (f->rank[h] < f->nb || f->done[h] || share_body(f, e, h) || !is_coupled(f, g, h)) continue;
      if (f->done[e] || tries++ == MOST_TRIES) return;
      ++*lost;
      double C[MOST_NB][MOST_NB];
      if (!factor_triple(f, e, g, h, tolerance, C) || !gather_triple(f, e, g, h)) continue;
      list_clique(f, 0);
      if (!spread_triple(f, C)) continue;
      accept_body(f, f->nb);
      --*lost;
      break;
    }
  }
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

/* From body to body rounding errors grow where they lean on each other (a wall of ten layers turned
 * 1e-16 into 1e-9), so that bodies are taken from triples first where these are exact; far apart
 * and small, groups give a worse triple than the way from the ground (a tower of planks), which
 * then goes first. The asymmetry of the triple tells. */
static bool find_bodies(Finder *f) {
  for (int g = 0; g < f->ngroups; ++g)
    if (!start_at_ground(f, g)) return false;
  const int ground = f->nbodies;
  int lost = 0;
  for (int g = 0; g < f->ngroups && lost <= MOST_LOST + f->nbodies - ground; ++g)
    if (f->rank[g] == f->nb && !f->done[g]) start_at_triples(f, g, EXACT, &lost);
  bool good = drain_queue(f);
  for (int g = 0; good && g < f->ngroups; ++g)
    if (f->rank[g] == f->nb && f->body[2 * g] < 0) {
      start_at_triples(f, g, SMALL, &lost);
      good = drain_queue(f);
    }
  for (int g = 0; good && g < f->ngroups; ++g) good = start_at_end(f, g);
  for (int g = 0; good && g < f->ngroups; ++g) good = f->done[g];
  return good;
}

/* x without structure, scaled so that every contact counts alike, and y = B^T x */
SCREE_INLINE void try_vector(const scree_Operator *V, int d, int nb, uint64_t seed,
                             const double *scale, double *x, double *y) {
  for (int c = 0; c < V->problem->nc; ++c) {
    double *xc = x + (size_t)c * (size_t)d;
    for (int i = 0; i < d; ++i) {
      const uint64_t bits = scramble(3 * (uint64_t)c + (uint64_t)i + seed);
      const double z = (double)(int64_t)(bits >> 11) * 0x1p-52 - 1.0;
      xc[i] = scale[c] > 0.0 ? z / scale[c] : 0.0;
    }
    scree_contact_update(V, SCREE_BODIES, d, nb, c, xc, y);
  }
}

/* Whether W x = B y, each contact relative to its own scale. */
SCREE_INLINE bool same_product(const scree_Operator *W, const scree_Operator *V, int d, int nb,
                               const double *scale, const double *x, const double *y) {
  const scree_Problem *p = W->problem;
  if (!V->problem->bodies.B) __builtin_unreachable();
  for (int c = 0; c < p->nc; ++c) {
    double u[3], v[3];
    const double n = (double)(p->blocks.row[c + 1] - p->blocks.row[c]);
    scree_contact_velocity(W, SCREE_ASSEMBLED, d, 0, c, x, NULL, NULL, u);
    scree_contact_velocity(V, SCREE_BODIES, d, nb, c, NULL, y, NULL, v);
    for (int i = 0; i < d; ++i)
      if (!(fabs(u[i] - v[i]) <= SAME * scale[c] * sqrt(n))) return false;
  }
  return true;
}

/* Whether B B^T x = W x for two x. `scale` (nc), `x` (d nc) and `y` ((nbodies + 1) x nb) are
 * scratch. */
SCREE_CLONES static bool agrees(const Finder *f, const scree_Problem *bodies, double *scale,
                                double *x, double *y) {
  const int d = f->d, nb = f->nb;
  const scree_Operator W = {.problem = f->p}, V = {.problem = bodies};
  const size_t state = ((size_t)bodies->bodies.nbodies + 1) * (size_t)nb;
  for (int c = 0; c < f->nc; ++c) {
    double most = 0.0;
    for (int i = 0; i < d; ++i) {
      const double w = diagonal_entry(f, c, i);
      if (w > most) most = w;
    }
    scale[c] = sqrt(most);
  }
  bool same = true;
  for (uint64_t vector = 0; same && vector < 2; ++vector) {
    memset(y, 0, state * sizeof *y);
    if (d == 3) {
      try_vector(&V, 3, 6, vector << 40, scale, x, y);
      same = same_product(&W, &V, 3, 6, scale, x, y);
    } else {
      try_vector(&V, 2, 3, vector << 40, scale, x, y);
      same = same_product(&W, &V, 2, 3, scale, x, y);
    }
  }
  return same;
}

/* Cuts aligned pieces from one allocation; with a null base it only measures. */
static void *cut(char *base, size_t *used, size_t count, size_t size) {
  void *piece = base ? base + *used : NULL;
  *used += (count * size + 63) / 64 * 64;
  return piece;
}

/* The arrays for classes; `key`, `table` and `leader` are theirs alone. */
static size_t cut_classes(Finder *f, char *base, size_t size, uint64_t **key, int **table,
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
static size_t cut_groups(Finder *f, char *base) {
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
  f->mark = cut(base, &used, nc, sizeof(int));
  f->queue = cut(base, &used, 2 * nc, sizeof(int));
  f->clique = cut(base, &used, nc, sizeof(int));
  f->L = cut(base, &used, nb * f->stride, sizeof(double));
  f->residual = cut(base, &used, f->stride, sizeof(double));
  f->scale = cut(base, &used, f->stride, sizeof(double));
  return used;
}

/* The classes of contacts with one pattern. *worth: there is something to be gained; problems of
 * single contacts, where there is not, are found out here, at the cost of reading the pattern. */
static scree_Status begin(Finder *f, bool *worth, const scree_Log *log) {
  size_t size = 16;
  while (size < 2 * (size_t)f->nc) size *= 2;
  uint64_t *key;
  int *table, *leader;
  f->memory[0] = scree_alloc(cut_classes(f, NULL, size, &key, &table, &leader), 1);
  if (!f->memory[0]) return scree_fail_memory(log, "the patterns of contacts");
  cut_classes(f, f->memory[0], size, &key, &table, &leader);
  f->ngroups = classify(f, key, table, size, leader);
  int *count = table; /* has done its work */
  memset(count, 0, (size_t)f->nc * sizeof *count);
  for (int c = 0; c < f->nc; ++c) ++count[f->group[c]];
  int single = 0;
  for (int g = 0; g < f->ngroups; ++g) single += count[g] == 1;
  *worth = 2 * single <= f->nc;
  return SCREE_OK;
}

/* Groups and their couplings. *good: they are what groups of rigid bodies must be. */
static scree_Status group_contacts(Finder *f, bool *good, const scree_Log *log) {
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

static bool is_gain(const Finder *f, int nbodies) {
  return 4 * (size_t)nbodies * (size_t)f->nb <= 3 * (size_t)f->nc * (size_t)f->d;
}

/* Everything of the problem but W. */
static void fill_result(const Finder *f, scree_Problem *bodies) {
  const scree_Problem *p = f->p;
  const size_t nc = (size_t)f->nc;
  bodies->law = p->law;
  bodies->flow = p->flow;
  bodies->bodies.nbodies = f->nbodies;
  memcpy(bodies->q, p->q, nc * (size_t)f->d * sizeof *p->q);
  memcpy(bodies->mu, p->mu, nc * sizeof *p->mu);
  if (p->set) memcpy(bodies->set, p->set, nc);
  if (p->set_a) memcpy(bodies->set_a, p->set_a, nc * sizeof *p->set_a);
  if (p->set_b) memcpy(bodies->set_b, p->set_b, nc * sizeof *p->set_b);
  for (size_t c = 0; c < nc; ++c)
    memcpy(bodies->bodies.body + 2 * c, f->body + 2 * f->group[c], 2 * sizeof(int));
}

scree_Status scree_recover_bodies(const scree_Problem *p, scree_Problem *bodies, bool *found,
                                  const scree_Log *log) {
  *bodies = (scree_Problem){0};
  *found = false;
  Finder f = {.p = p, .d = p->d, .nb = 3 * (p->d - 1), .nc = p->nc};
  f.stride = ((size_t)f.nc * (size_t)f.d + 7) / 8 * 8;
  if (p->kind != SCREE_ASSEMBLED || !is_gain(&f, 1)) return SCREE_OK;
  bool good = false;
  scree_Status status = begin(&f, &good, log);
  if (!status && good) status = group_contacts(&f, &good, log);
  if (!status && good)
    status = scree_problem_create_bodies(bodies, f.d, f.nc, 0, f.nb, p->set || p->set_a || p->set_b,
                                         false, log);
  if (!status && good) {
    f.B = bodies->bodies.B;
    good = find_bodies(&f) && is_gain(&f, f.nbodies);
    if (good) {
      fill_result(&f, bodies);
      /* the state of the bodies, fewer numbers than rows, fits into two columns */
      good = agrees(&f, bodies, f.residual, column(&f, 0), column(&f, 1));
    }
    *found = good;
  }
  for (int k = 0; k < 3; ++k) scree_free(f.memory[k]);
  if (!*found) scree_problem_destroy(bodies);
  return status;
}
