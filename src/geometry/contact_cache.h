/* Persistence of contacts: which contact of the previous step is the same as one of this step.
 *
 * A contact is named by (body i, body j, their parts, feature). Contacts come in the order of the
 * sorted pairs of the broad phase, so both lists are sorted by (i, j) and one merge finds all
 * matches in linear time; within a pair the few features are compared, and where none is the same,
 * places. */
#ifndef SCREE_GEOMETRY_CONTACT_CACHE_H
#define SCREE_GEOMETRY_CONTACT_CACHE_H

#include "math/vec3.h"
#include "scree/base.h"

#include <stdint.h>

typedef struct scree_ContactKey {
  int32_t i, j;
  uint32_t part[2]; /* of i and j */
  uint32_t feature;
} scree_ContactKey;

typedef struct scree_ContactCache {
  size_t count, capacity;
  scree_ContactKey *keys; /* [count], sorted by (i, j) */
} scree_ContactCache;

void scree_contact_cache_init(scree_ContactCache *cache);
void scree_contact_cache_fini(scree_ContactCache *cache);

/* previous[k] becomes the index that contact k had in the previous step, or -1; then `keys` become
 * the previous step. keys [count] must be sorted by (i, j), features unique within a pair. */
scree_Status scree_contact_cache_update(scree_ContactCache *cache, const scree_ContactKey *keys,
                                        size_t count, int32_t *previous, const scree_Log *log);

/* The matching alone, between any two such lists. */
void scree_contact_match(const scree_ContactKey *old_keys, size_t old_count,
                         const scree_ContactKey *keys, size_t count, int32_t *previous);

/* The same with the points' places relative to body i (or any other frame in which contacts that
 * persist hardly move), for names that have changed. */
void scree_contact_match_near(const scree_ContactKey *old_keys, const scree_Vec3 *old_arms,
                              size_t old_count, const scree_ContactKey *keys,
                              const scree_Vec3 *arms, size_t count, int32_t *previous);

#endif
