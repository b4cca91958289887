/* Broad phase: the pairs of bodies that may touch, in time linear in the number of bodies.
 *
 * It knows boxes, not worlds. Each update gets the axis-aligned bounds of all bodies; the result is
 * every pair (i < j), once, sorted by i and then j, whose bounds, each inflated by `distance`,
 * overlap — together with some more that may come to overlap soon: the list is built from bounds
 * fattened by a skin and kept until a body leaves its fat bounds (Verlet list). The skin of a body
 * follows its own observed motion. Since a caller tests every pair anyway, the extra pairs change
 * no result, and the order is always the sorted one: neither the skin, nor the history, nor the
 * number of threads can be seen in what a caller computes. */
#ifndef SCREE_GEOMETRY_BROAD_H
#define SCREE_GEOMETRY_BROAD_H

#include "scree/shape.h"

#include <stdint.h>

typedef struct scree_Pair {
  int32_t i, j; /* i < j */
} scree_Pair;

typedef struct scree_BroadPhase scree_BroadPhase;

/* NULL when memory runs out. */
scree_BroadPhase *scree_broad_create(void);
void scree_broad_destroy(scree_BroadPhase *broad);

/* aabbs [n]; infinite bounds are allowed (half-spaces, drums) and pair with everything they reach.
 * radii [n] or NULL: a ball of radius radii[i] round the middle of aabbs[i] also bounds body i;
 * pairs whose balls are apart are left out (INFINITY: no such ball is known).
 * fixed [n] or NULL: two bodies that are both fixed are never paired.
 * What is held grows only when n or the number of pairs outgrows what was seen before; a build of
 * the list takes as much again while it lasts. Bounds that are not a number are treated as covering
 * everything. */
scree_Status scree_broad_update(scree_BroadPhase *broad, int n, const scree_Aabb *aabbs,
                                const double *radii, const unsigned char *fixed, double distance,
                                const scree_Log *log);

/* The pairs of the last update; valid until the next one. */
const scree_Pair *scree_broad_pairs(const scree_BroadPhase *broad, size_t *count);

/* Forget the list: the next update builds it anew (bodies were removed, renumbered or changed). */
void scree_broad_invalidate(scree_BroadPhase *broad);

/* Bytes held. */
size_t scree_broad_memory(const scree_BroadPhase *broad);

/* With skins off every update rebuilds, and the pairs are exactly those that overlap. */
void scree_broad_set_skin(scree_BroadPhase *broad, bool on);

/* Number of rebuilds and of updates since creation: how well the list lasts. */
void scree_broad_stats(const scree_BroadPhase *broad, size_t *rebuilds, size_t *updates);

#endif
