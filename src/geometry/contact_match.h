/* Persistence of contacts: which contact of the previous step is the same as one of this step.
 *
 * A contact has the key (body i, body j, their parts, feature, image). Contacts come in the order
 * of the sorted pairs of the broad phase, so both lists are sorted by (i, j) and one merge finds
 * all matches in linear time; within a pair the few features are compared, and if none is equal,
 * positions. */
#ifndef SCREE_GEOMETRY_CONTACT_MATCH_H
#define SCREE_GEOMETRY_CONTACT_MATCH_H

#include "math/vec3.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct scree_ContactKey {
  int32_t i, j;
  uint32_t part[2]; /* of i and j */
  uint32_t feature;
  uint32_t image; /* of j in a periodic cell (cell.h); 0: j itself */
} scree_ContactKey;

/* previous[k] becomes the index in `old_keys` of contact k of `keys`, or -1. Both lists are sorted
 * by (i, j), keys are unique within a pair. */
void scree_contact_match(const scree_ContactKey *old_keys, size_t old_count,
                         const scree_ContactKey *keys, size_t count, int32_t *previous);

/* The same with the positions of the points relative to body i (or any other frame in which
 * persistent contacts hardly move), for keys that have changed. */
void scree_contact_match_near(const scree_ContactKey *old_keys, const scree_Vec3 *old_arms,
                              size_t old_count, const scree_ContactKey *keys,
                              const scree_Vec3 *arms, size_t count, int32_t *previous);

#endif
