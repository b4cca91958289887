/* Common declarations of the search for bodies (recover.h, recover.c). */
#ifndef SCREE_SOLVER_RECOVER_INTERNAL_H
#define SCREE_SOLVER_RECOVER_INTERNAL_H

#include "problem/operator.h"
#include "solver/recover.h"

/* Residuals below this part of their diagonal entry of W are zero. Rounding leaves 1e-16 to 1e-14;
 * the smallest real ones are ratios of masses or squares of distances between points of contact
 * over the size of a body, 1e-10 and larger where W has enough digits for any method. */
#define SCREE_FINDER_NOTHING 1e-12
/* Threshold between "zero up to the rounding of a few bodies in a row" and "not zero". */
#define SCREE_FINDER_SMALL 1e-7

enum { SCREE_FINDER_NB = 6 }; /* most velocities of a body */

typedef struct scree_Finder {
  const scree_Problem *p;
  int d, nb, nc;
  void *memory[3]; /* for classes, for groups, for their couplings */
  /* contacts */
  size_t *diagonal; /* (nc) index of the diagonal block in its row */
  int *group;       /* (nc) */
  int *member;      /* (nc) contacts, group by group */
  int *local;       /* (nc) index in `list`, or -1 */
  int *spare;       /* (nc) */
  /* groups */
  int ngroups;
  int *first;      /* (ngroups + 1) range in `member` */
  int *pivot;      /* (ngroups x nb) independent rows, d * contact + component */
  int *rank;       /* (ngroups) of the rows of a group with several contacts, else 0 */
  size_t *adj_row; /* (ngroups + 1) groups coupled with a group, without itself */
  int *adj;        /* (adj_row[ngroups]), memory[2] */
  int *body;       /* (ngroups x 2) known bodies, -1 */
  bool *done;      /* (ngroups) all of its bodies are known */
  bool *mixed;     /* (ngroups) one body is known, but not with all of its columns */
  int *columns;    /* (2 ngroups) of each body found */
  int *mark;       /* (ngroups) */
  int *queue;      /* (2 ngroups) groups that lack one body */
  int head, tail;
  int *clique; /* (ngroups) groups of the current body */
  int nclique, nknown;
  /* the current elimination, over rows d * index + component */
  int *list; /* (nc) contacts */
  int nlist, neligible;
  size_t stride;            /* d nc rounded up to a multiple of 8 */
  double *L;                /* (nb x stride) columns */
  double *residual, *scale; /* (stride) of rows that may be pivots */
  double *B;                /* (nc x 2 x d x nb) of the result, or null */
  int nbodies;
} scree_Finder;

/* ---- W ----------------------------------------------------------------------------------------
 */

/* Row `i` of contact c: the concatenated rows of its blocks. */
static inline const double *scree_finder_row(const scree_Finder *f, int c, int i, size_t *start,
                                             size_t *n) {
  *start = f->p->blocks.row[c];
  *n = f->p->blocks.row[c + 1] - *start;
  return f->p->blocks.x + *start * (size_t)(f->d * f->d) + (size_t)i * (size_t)f->d * *n;
}

static inline double scree_finder_diagonal(const scree_Finder *f, int c, int i) {
  size_t start, n;
  return scree_finder_row(f, c, i, &start, &n)[(size_t)f->d * f->diagonal[c] + (size_t)i];
}

/* Index of column k in the row of contact c, or the row's length. */
static inline size_t scree_finder_place(const scree_Finder *f, int c, int k) {
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
static inline double scree_finder_entry(const scree_Finder *f, int row, int column) {
  const int d = f->d;
  size_t start, n;
  const double *x = scree_finder_row(f, row / d, row % d, &start, &n);
  const size_t k = scree_finder_place(f, row / d, column / d);
  return k < n ? x[(size_t)d * k + (size_t)(column % d)] : 0.0;
}

/* ---- the current list of contacts ------------------------------------------------------------ */

static inline void scree_finder_clear_list(scree_Finder *f) {
  for (int k = 0; k < f->nlist; ++k) f->local[f->list[k]] = -1;
  f->nlist = f->neligible = 0;
}

static inline void scree_finder_list_contact(scree_Finder *f, int c) {
  f->local[c] = f->nlist;
  f->list[f->nlist++] = c;
}

static inline void scree_finder_list_group(scree_Finder *f, int g) {
  for (int k = f->first[g]; k < f->first[g + 1]; ++k) scree_finder_list_contact(f, f->member[k]);
}

/* Column k of L: aligned, with room for whole lanes. */
static inline double *scree_finder_column(const scree_Finder *f, int k) {
  return f->L + (size_t)k * f->stride;
}

/* Whether two groups have a known body in common. */
static inline bool scree_finder_share_body(const scree_Finder *f, int g, int h) {
  const int *a = f->body + 2 * g, *b = f->body + 2 * h;
  return (a[0] >= 0 && (a[0] == b[0] || a[0] == b[1])) ||
         (a[1] >= 0 && (a[1] == b[0] || a[1] == b[1]));
}

/* ---- recover_groups.c -------------------------------------------------------------------------
 */

/* Classes of contacts whose rows have one pattern. *worth: the search is worthwhile; problems of
 * single contacts, for which it is not, are detected here, at the cost of reading the pattern. */
scree_Status scree_finder_classes(scree_Finder *f, bool *worth, const scree_Log *log);

/* Groups and their couplings, from classes. *good: they satisfy the conditions for groups of rigid
 * bodies. */
scree_Status scree_finder_groups(scree_Finder *f, bool *good, const scree_Log *log);

/* v = row i of contact c of W, over the rows of the list */
void scree_finder_gather(const scree_Finder *f, int c, int i, double *v);

/* Pivoted Cholesky with pivots among the first `neligible` contacts of the list, `most` of them at
 * most. Returns how many there were, their rows in `pivots` (or null), and in *left the largest
 * residual relative to its diagonal; -1 where W is not positive. */
int scree_finder_eliminate(scree_Finder *f, int most, int *pivots, double *left);

/* ---- recover.c --------------------------------------------------------------------------------
 */

/* Fill the list with the groups of the clique, the first `eligible` of them with pivots. */
void scree_finder_list_clique(scree_Finder *f, int eligible);

/* Store the columns L as a body of all groups of the clique. Those groups of it that lacked one
 * body are done, the others now lack one. */
void scree_finder_accept(scree_Finder *f, int rank);

/* ---- recover_triples.c ------------------------------------------------------------------------
 */

/* Bodies of group e that three groups determine (start 2). Adds the number of unsuccessful triples
 * to *lost. */
void scree_finder_triples(scree_Finder *f, int e, double tolerance, int *lost);

#endif
