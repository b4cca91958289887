/* Disjoint sets of numbers 0 .. n-1 (union-find with path halving). parent[k] leads from k to the
 * root of its set. The root is the smallest number of the set, so the result does not depend on the
 * order in which sets are united. Start with parent[k] = k. */
#ifndef SCREE_CORE_UNION_FIND_H
#define SCREE_CORE_UNION_FIND_H

#include <assert.h>

static inline int scree_root_of(int *parent, int k) {
  assert(k >= 0);
  while (parent[k] != k) {
    parent[k] = parent[parent[k]];
    k = parent[k];
  }
  return k;
}

static inline void scree_unite(int *parent, int a, int b) {
  a = scree_root_of(parent, a);
  b = scree_root_of(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

#endif
