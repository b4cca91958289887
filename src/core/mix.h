/* A pseudo-random 64-bit hash of a number: the finaliser of splitmix64 (Steele, Lea, Flood
 * 2014). The same bits on every machine. */
#ifndef SCREE_CORE_MIX_H
#define SCREE_CORE_MIX_H

#include <stdint.h>

static inline uint64_t scree_mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

#endif
