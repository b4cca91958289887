/* The ranks as the library's own code sees them: reductions and agreements.
 *
 * Solvers are written once for one rank and for several. Data of other ranks come through these
 * functions and through halo.h; in a build without MPI they are inline, do nothing, and leave no
 * code. A null pointer is a single rank.
 *
 * Every reduction is one MPI_Allgather of a few numbers, which each rank then adds in the order of
 * the ranks: MPI's own sums may be added in another order from call to call. Each rank receives N
 * times the data that a tree of sums would send to it, which for hundreds of ranks takes much less
 * time than the latency (docs/SCALING.md). */
#ifndef SCREE_PARALLEL_RANKS_H
#define SCREE_PARALLEL_RANKS_H

#include "core/private.h"
#include "scree/parallel.h"

#include <string.h>

enum { SCREE_GATHER_MOST = 256 }; /* bytes of one rank in scree_ranks_gather */

/* On rank 0: *all = the `bytes` bytes of every rank in the order of the ranks, *total of them; 0 on
 * the others. The array grows and can be used again; it is freed with scree_free. The status is the
 * same on all ranks. */
SCREE_PRIVATE scree_Status scree_ranks_bring(const scree_Ranks *ranks, const void *mine,
                                             size_t bytes, char **all, size_t *capacity,
                                             size_t *total, const scree_Log *log);

/* Elements of all ranks to the ranks that they belong to, some thousands at a time, so that no rank
 * has them twice. They come by rounds, in each by the rank that sent them, and in its order. */
typedef struct scree_Deal {
  size_t bytes;                                     /* of an element */
  int (*pack)(void *user, size_t k, void *element); /* the rank that gets it, or -1: none */
  bool (*take)(void *user, const void *element);    /* false: out of memory */
  void *user;
} scree_Deal;

/* Elements 0 to count - 1 of this rank. The status is the same on all ranks. */
SCREE_PRIVATE scree_Status scree_ranks_deal(const scree_Ranks *ranks, size_t count,
                                            const scree_Deal *deal, const scree_Log *log);

#ifdef SCREE_MPI

/* Number of ranks, 1 for null. */
SCREE_PRIVATE int scree_ranks_count(const scree_Ranks *ranks);

/* `bytes` bytes of every rank, one after the other; valid until the next call. */
SCREE_PRIVATE const void *scree_ranks_gather(const scree_Ranks *ranks, const void *mine,
                                             size_t bytes);

SCREE_PRIVATE double scree_ranks_sum(const scree_Ranks *ranks, double mine);
/* Each of some numbers, at most SCREE_GATHER_MOST bytes of them, in one reduction. */
SCREE_PRIVATE void scree_ranks_sums(const scree_Ranks *ranks, double *numbers, size_t count);
SCREE_PRIVATE double scree_ranks_max(const scree_Ranks *ranks, double mine);

/* The root of the sum of squares, also when the squares overflow. */
double scree_ranks_norm(const scree_Ranks *ranks, double mine);

/* Whether it is true on any rank. */
SCREE_PRIVATE bool scree_ranks_any(const scree_Ranks *ranks, bool mine);

/* The worst status of all ranks, which every rank returns; a message where another rank failed. */
SCREE_PRIVATE scree_Status scree_ranks_agree(const scree_Ranks *ranks, scree_Status mine,
                                             const scree_Log *log);

/* On rank 0: all = the arrays of all ranks one after the other, count[k] doubles of rank k. */
void scree_ranks_collect(const scree_Ranks *ranks, const double *mine, const int *count,
                         double *all);

/* mine = the part of `all` of rank 0 that is of this rank. */
void scree_ranks_scatter(const scree_Ranks *ranks, const double *all, const int *count,
                         double *mine);

/* The bytes of rank 0, on every rank. Ranks that wait for it sleep now and then: rank 0 may be busy
 * with other things for long. */
SCREE_PRIVATE void scree_ranks_broadcast(const scree_Ranks *ranks, void *bytes, size_t count);

/* Sums and maxima of longer arrays. */
SCREE_PRIVATE void scree_ranks_add(const scree_Ranks *ranks, double *numbers, size_t count);
SCREE_PRIVATE void scree_ranks_most(const scree_Ranks *ranks, double *numbers, size_t count);

/* `bytes` bytes of every rank, in their order; any length, the same on all. */
SCREE_PRIVATE void scree_ranks_gather_all(const scree_Ranks *ranks, const void *mine, size_t bytes,
                                          void *all);

/* Every rank to every other one, in two calls: how many bytes, then these, those of rank 0 first in
 * `out` and `in`. Ranks without data for each other exchange no message in the second. */
SCREE_PRIVATE void scree_ranks_swap_sizes(const scree_Ranks *ranks, const size_t *out, size_t *in);
SCREE_PRIVATE void scree_ranks_swap(const scree_Ranks *ranks, const void *out,
                                    const size_t *out_size, void *in, const size_t *in_size);

/* From rank 0 to another one. */
void scree_ranks_send(const scree_Ranks *ranks, int to, const double *numbers, size_t count);
void scree_ranks_receive(const scree_Ranks *ranks, double *numbers, size_t count);

#else

/* Without other ranks these functions leave their arguments unchanged. */
/* NOLINTBEGIN(readability-non-const-parameter) */

static inline int scree_ranks_count(const scree_Ranks *ranks) {
  (void)ranks;
  return 1;
}

static inline const void *scree_ranks_gather(const scree_Ranks *ranks, const void *mine,
                                             size_t bytes) {
  (void)ranks;
  (void)bytes;
  return mine;
}

static inline double scree_ranks_sum(const scree_Ranks *ranks, double mine) {
  (void)ranks;
  return mine;
}

static inline void scree_ranks_sums(const scree_Ranks *ranks, double *numbers, size_t count) {
  (void)ranks;
  (void)numbers;
  (void)count;
}

static inline double scree_ranks_max(const scree_Ranks *ranks, double mine) {
  (void)ranks;
  return mine;
}

static inline double scree_ranks_norm(const scree_Ranks *ranks, double mine) {
  (void)ranks;
  return mine;
}

static inline bool scree_ranks_any(const scree_Ranks *ranks, bool mine) {
  (void)ranks;
  return mine;
}

static inline scree_Status scree_ranks_agree(const scree_Ranks *ranks, scree_Status mine,
                                             const scree_Log *log) {
  (void)ranks;
  (void)log;
  return mine;
}

static inline void scree_ranks_collect(const scree_Ranks *ranks, const double *mine,
                                       const int *count, double *all) {
  (void)ranks;
  (void)mine;
  (void)count;
  (void)all;
}

static inline void scree_ranks_scatter(const scree_Ranks *ranks, const double *all,
                                       const int *count, double *mine) {
  (void)ranks;
  (void)all;
  (void)count;
  (void)mine;
}

static inline void scree_ranks_broadcast(const scree_Ranks *ranks, void *bytes, size_t count) {
  (void)ranks;
  (void)bytes;
  (void)count;
}

static inline void scree_ranks_add(const scree_Ranks *ranks, double *numbers, size_t count) {
  (void)ranks;
  (void)numbers;
  (void)count;
}

static inline void scree_ranks_most(const scree_Ranks *ranks, double *numbers, size_t count) {
  (void)ranks;
  (void)numbers;
  (void)count;
}

static inline void scree_ranks_gather_all(const scree_Ranks *ranks, const void *mine, size_t bytes,
                                          void *all) {
  (void)ranks;
  if (bytes && mine && all) memcpy(all, mine, bytes);
}

static inline void scree_ranks_swap_sizes(const scree_Ranks *ranks, const size_t *out, size_t *in) {
  (void)ranks;
  in[0] = out[0];
}

static inline void scree_ranks_swap(const scree_Ranks *ranks, const void *out,
                                    const size_t *out_size, void *in, const size_t *in_size) {
  (void)ranks;
  (void)in_size;
  if (out_size[0] && in && out) memcpy(in, out, out_size[0]);
}

static inline void scree_ranks_send(const scree_Ranks *ranks, int to, const double *numbers,
                                    size_t count) {
  (void)ranks;
  (void)to;
  (void)numbers;
  (void)count;
}

static inline void scree_ranks_receive(const scree_Ranks *ranks, double *numbers, size_t count) {
  (void)ranks;
  (void)numbers;
  (void)count;
}

/* NOLINTEND(readability-non-const-parameter) */

#endif

#endif
