/* Broad phase: the pairs of bodies that may touch, in time linear in the number of bodies.
 *
 * It works on boxes and does not depend on worlds. Each update gets the axis-aligned bounds of all
 * bodies; the result is every pair (i < j), once, sorted by i and then j, whose bounds, each
 * inflated by `distance`, overlap, together with some more that may overlap soon: the list is built
 * from bounds enlarged by a skin and kept until a body leaves its fat bounds (Verlet list). The
 * skin of a body follows its own observed motion. Since a caller tests every pair anyway, the extra
 * pairs change no result, and the order is always the sorted one: the caller's results do not
 * depend on the skin, the history or the number of threads. */
#ifndef SCREE_GEOMETRY_BROAD_H
#define SCREE_GEOMETRY_BROAD_H

#include "core/arena.h"
#include "core/poll.h"
#include "core/private.h"
#include "scree/shape.h"

#include <stdint.h>

/* The pairs (i, partner[k]), i < partner[k], of body i are k = row[i] .. row[i+1]-1, ascending. */
typedef struct scree_Pairs {
  int n; /* bodies */
  size_t count;
  const uint32_t *row;    /* [n + 1] */
  const int32_t *partner; /* [count] */
} scree_Pairs;

/* The first body of pair k < count, for loops that start at any pair. */
static inline int scree_pairs_first(const scree_Pairs *pairs, size_t k) {
  int low = 0, high = pairs->n; /* row[low] <= k < row[high] */
  while (low + 1 < high) {
    const int middle = low + (high - low) / 2;
    if (pairs->row[middle] <= k)
      low = middle;
    else
      high = middle;
  }
  return low;
}

typedef struct scree_BroadPhase scree_BroadPhase;

enum { SCREE_BROAD_ABSENT = 2 };

/* NULL if out of memory. */
SCREE_PRIVATE scree_BroadPhase *scree_broad_create(void);
SCREE_PRIVATE void scree_broad_destroy(scree_BroadPhase *broad);

/* aabbs [n]; infinite bounds are allowed (half-spaces, drums) and pair with everything they reach.
 * radii [n] or NULL: a ball of radius radii[i] around the centre of aabbs[i] also bounds body i;
 * pairs whose balls are separated are skipped (INFINITY: no such ball is known). fixed [n] or NULL:
 * two bodies for which it is not 0 are never paired, and one that has the bit SCREE_BROAD_ABSENT is
 * never paired. Memory grows only when n or the number of pairs exceeds all previous values; a
 * build of the list temporarily needs as much again. Bounds that are NaN are treated as covering
 * everything. */
SCREE_PRIVATE scree_Status scree_broad_update(scree_BroadPhase *broad, int n,
                                              const scree_Aabb *aabbs, const double *radii,
                                              const unsigned char *fixed, double distance,
                                              const scree_Log *log);

/* A build of the list calls `poll` (or null), which must outlive the broad phase, at intervals; if
 * it asks to stop, the build returns SCREE_INTERRUPTED, and the next update rebuilds the list. */
void scree_broad_set_poll(scree_BroadPhase *broad, scree_Poll *poll);
/* Arena for the temporary memory of builds; null: the broad phase keeps its own. */
void scree_broad_set_work(scree_BroadPhase *b, scree_Arena *work);

/* Threads of the next updates (1); they do not change the pairs or their order. */
void scree_broad_set_threads(scree_BroadPhase *broad, int threads);

/* The pairs of the last update; valid until the next one. */
SCREE_PRIVATE scree_Pairs scree_broad_pairs(const scree_BroadPhase *broad);

/* Invalidate the list: the next update rebuilds it (bodies were removed, renumbered or changed). */
void scree_broad_invalidate(scree_BroadPhase *broad);

/* Bytes allocated. */
size_t scree_broad_memory(const scree_BroadPhase *broad);

/* With skins off every update rebuilds the list, and the pairs are exactly those that overlap. */
void scree_broad_set_skin(scree_BroadPhase *broad, bool on);

/* Number of rebuilds and of updates since creation. */
void scree_broad_stats(const scree_BroadPhase *broad, size_t *rebuilds, size_t *updates);

#endif
