/* Matching of contacts between steps (see contact_match.h). */
#include "geometry/contact_match.h"

#include <assert.h>

static bool pair_before(const scree_ContactKey *a, const scree_ContactKey *b) {
  return a->i < b->i || (a->i == b->i && a->j < b->j);
}

static bool same_name(const scree_ContactKey *a, const scree_ContactKey *b) {
  return a->feature == b->feature && a->part[0] == b->part[0] && a->part[1] == b->part[1] &&
         a->image == b->image;
}

void scree_contact_match(const scree_ContactKey *old_keys, size_t old_count,
                         const scree_ContactKey *keys, size_t count, int32_t *previous) {
  size_t start = 0; /* first old contact whose pair is not before the current pair */
  for (size_t k = 0; k < count; k++) {
    previous[k] = -1;
    assert(k == 0 || !pair_before(&keys[k], &keys[k - 1])); /* both lists ascend */
    while (start < old_count && pair_before(&old_keys[start], &keys[k])) start++;
    for (size_t o = start; o < old_count && !pair_before(&keys[k], &old_keys[o]); o++) {
      if (!same_name(&old_keys[o], &keys[k])) continue;
      previous[k] = (int32_t)o;
      break;
    }
  }
}

/* Keys are made of corners and edges. Where two corners coincide (boxes that are stacked
 * exactly) rounding decides in each step which of them is in the key. So a point whose key
 * is new takes the nearest unmatched point of the pair, if it is this close, relative to its
 * distance from the body. */
static const double same_place = 0.02;

/* The point of the pair, first .. last - 1, that has taken the old point; -1: none. */
static ptrdiff_t holder_of(const int32_t *previous, size_t first, size_t last, size_t old) {
  for (size_t k = first; k < last; ++k)
    if (previous[k] == (int32_t)old) return (ptrdiff_t)k;
  return -1;
}

void scree_contact_match_near(const scree_ContactKey *old_keys, const scree_Vec3 *old_arms,
                              size_t old_count, const scree_ContactKey *keys,
                              const scree_Vec3 *arms, size_t count, int32_t *previous) {
  scree_contact_match(old_keys, old_count, keys, count, previous);
  size_t start = 0;
  for (size_t first = 0, last; first < count; first = last) {
    for (last = first + 1; last < count && !pair_before(&keys[first], &keys[last]);) ++last;
    while (start < old_count && pair_before(&old_keys[start], &keys[first])) ++start;
    for (size_t k = first; k < last; ++k) {
      ptrdiff_t point = previous[k] < 0 ? (ptrdiff_t)k : -1;
      while (point >= 0) { /* an old point is for the nearest one; a farther one looks again */
        double least = same_place * same_place * scree_norm2(arms[point]);
        ptrdiff_t dropped = -1;
        for (size_t o = start; o < old_count && !pair_before(&keys[k], &old_keys[o]); ++o) {
          const double distance2 = scree_norm2(scree_sub(arms[point], old_arms[o]));
          if (distance2 > least) continue;
          const ptrdiff_t holder = holder_of(previous, first, last, o);
          if (holder >= 0 && holder != point &&
              (same_name(&old_keys[o], &keys[holder]) ||
               scree_norm2(scree_sub(arms[holder], old_arms[o])) <= distance2))
            continue;
          least = distance2;
          previous[point] = (int32_t)o;
          dropped = holder == point ? dropped : holder;
        }
        if (dropped >= 0) previous[dropped] = -1;
        point = dropped;
      }
    }
  }
}
