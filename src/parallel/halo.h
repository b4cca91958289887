/* The blocks of numbers that a rank shares with others, and their exchange.
 *
 * A rank has a part of the constraints. It holds a block of numbers for each body that these touch:
 * its velocity y_b; where W is assembled, a block for each contact of their rows: its impulse. Some
 * blocks are held by several ranks.
 *
 * Velocities are sums: y_b = sum over the constraints of b. Each rank computes the part of its own
 * constraints; every rank that holds b sends its part to every other one, and each adds the parts
 * in the order of the ranks. So there is one round of messages and no owner of a body to wait for,
 * and all of them have the same bits. A body that touches the parts of m ranks costs m (m - 1)
 * blocks; m is 2 or 3 for most. Impulses have one owner, which sends them to the others.
 *
 * A neighbour is a rank with which at least one block is shared: one message to each and one from
 * each, whatever the number of blocks. */
#ifndef SCREE_PARALLEL_HALO_H
#define SCREE_PARALLEL_HALO_H

#include "parallel/ranks.h"

#include <stddef.h>

/* Blocks to send and to receive in one exchange, neighbour by neighbour. Both sides list them in
 * the same order. */
typedef struct scree_HaloLists {
  size_t *send_start, *receive_start; /* (neighbours + 1) each */
  int *send, *receive;                /* numbers of blocks */
} scree_HaloLists;

typedef struct scree_Halo {
  const scree_Ranks *ranks;
  int size;              /* numbers of a block, unless blocks are of any size: */
  const size_t *start;   /* (blocks) where a block starts in y, or null */
  const int *length;     /* (blocks) its numbers */
  bool sums;             /* velocities, which are sums; else impulses, which have one owner */
  int blocks;            /* held by this rank */
  long long constraints; /* of all ranks together */
  long long rows;        /* of all ranks together */
  bool any_size;         /* some rank has constraints of any size (problem/general.h) */
  const int *number;     /* (constraints of this rank) their numbers in the whole problem */
  int neighbours;
  int *neighbour; /* (neighbours) ranks, ascending */
  scree_HaloLists all;
  /* Sums: shared block k is `shared[k]`, and its parts are source[source_start[k] ..], in the
   * order of the ranks: the number of a received block, or -1 for the rank's own. */
  int nshared;
  int *shared;
  size_t *source_start;
  int *source;
  double *out, *in; /* as long as the longest lists */
  /* Blocks of any size, which only the lists `all` have: where each entry is in `out` and `in`. */
  size_t *out_at, *in_at; /* (entries + 1) */
} scree_Halo;

/* Numbers that this rank sends in an exchange of all. */
static inline double scree_halo_numbers(const scree_Halo *halo) {
  const size_t sent = halo->all.send_start[halo->neighbours];
  return halo->start ? (double)halo->out_at[sent] : (double)sent * halo->size;
}

#ifdef SCREE_MPI

/* Whether there are other ranks: the halo is not null. */
static inline bool scree_halo_exists(const scree_Halo *halo) {
  return halo != NULL;
}

/* Complete the blocks of y, which are `stride` doubles apart if they are of one size: sums from
 * their parts, impulses from their owners. */
void scree_halo_complete(const scree_Halo *halo, double *y, size_t stride);

/* Send and receive the blocks of these lists as they are. */
void scree_halo_exchange(const scree_Halo *halo, const scree_HaloLists *lists, double *y,
                         size_t stride);

#else

/* Without other ranks these functions leave their arguments unchanged. */
/* NOLINTBEGIN(readability-non-const-parameter) */

static inline bool scree_halo_exists(const scree_Halo *halo) {
  (void)halo;
  return false;
}

static inline void scree_halo_complete(const scree_Halo *halo, double *y, size_t stride) {
  (void)halo;
  (void)y;
  (void)stride;
}

static inline void scree_halo_exchange(const scree_Halo *halo, const scree_HaloLists *lists,
                                       double *y, size_t stride) {
  (void)halo;
  (void)lists;
  (void)y;
  (void)stride;
}

/* NOLINTEND(readability-non-const-parameter) */

#endif

#endif
