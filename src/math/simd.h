/* Four doubles in a vector register. With compilers' vector types the same source serves every
 * processor: where there are no registers this wide, the compiler uses narrower ones. IEEE
 * arithmetic lane by lane, so the bits are those of the scalar operations.
 *
 * Permutations are written with __builtin_shufflevector, which Clang always had and GCC has since
 * version 12. */
#ifndef SCREE_MATH_SIMD_H
#define SCREE_MATH_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { SCREE_LANES = 4 };

typedef double scree_Lane __attribute__((vector_size(8 * SCREE_LANES)));
typedef int64_t scree_LaneMask __attribute__((vector_size(8 * SCREE_LANES)));

/* the same, wherever a double may lie */
typedef double scree_LaneAnywhere
    __attribute__((vector_size(8 * SCREE_LANES), aligned(8), may_alias));

/* Two doubles: the registers that every x86-64 and ARM processor has. */
typedef double scree_Pair __attribute__((vector_size(16)));
typedef double scree_PairAnywhere __attribute__((vector_size(16), aligned(8), may_alias));

#define SCREE_INLINE static inline __attribute__((always_inline))
#define SCREE_UNROLL _Pragma("GCC unroll 8")

/* Built with a sanitizer: GCC says so by macros, Clang by __has_feature. libFuzzer and coverage
 * need no mention here, they come with AddressSanitizer or do no harm. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCREE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SCREE_SANITIZED 1
#endif
#endif

/* On a function: compiled twice, with and without wide registers, and chosen when the program is
 * loaded. It must be static (Clang 14 gives it a symbol of another name than its own) and must not
 * contain a parallel region. A function that it calls with a vector by value is SCREE_INLINE: the
 * wide clone passes such arguments in registers that a function compiled once does not look into
 * (tests/layering). Sanitizers do not support functions that are resolved this early. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__AVX2__) &&                         \
    !defined(SCREE_SANITIZED) && !defined(SCREE_WITHOUT_CLONES)
#define SCREE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SCREE_CLONES
#endif

SCREE_INLINE const scree_LaneAnywhere *scree_lane_from(const double *x) {
  return (const scree_LaneAnywhere *)x;
}

/* The four numbers at x. Not a function: Clang refuses one that returns a vector and is called from
 * the AVX2 clone of another, although it is inlined. */
#define scree_lane_load(x) ((scree_Lane)*scree_lane_from(x))

/* Where four numbers are stored; not a function that takes them by value, which GCC remarks on. */
SCREE_INLINE scree_LaneAnywhere *scree_lane_at(double *x) {
  return (scree_LaneAnywhere *)x;
}

/* mask ? yes : no */
SCREE_INLINE scree_Lane scree_lane_choose(scree_LaneMask mask, scree_Lane yes, scree_Lane no) {
  return (scree_Lane)((mask & (scree_LaneMask)yes) | (~mask & (scree_LaneMask)no));
}

SCREE_INLINE bool scree_lane_any(scree_LaneMask mask) {
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

SCREE_INLINE scree_Lane scree_lane_sqrt(scree_Lane x) {
  return (scree_Lane){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
}

SCREE_INLINE scree_Lane scree_lane_abs(scree_Lane x) {
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0};
  return scree_lane_choose(x < zero, -x, x);
}

SCREE_INLINE scree_Lane scree_lane_max(scree_Lane a, scree_Lane b) {
  return scree_lane_choose(a > b, a, b);
}

/* rows a, b, c, d become columns, in place */
SCREE_INLINE void scree_lane_transpose(scree_Lane *a, scree_Lane *b, scree_Lane *c, scree_Lane *d) {
  const scree_Lane ab02 = __builtin_shufflevector(*a, *b, 0, 4, 2, 6);
  const scree_Lane ab13 = __builtin_shufflevector(*a, *b, 1, 5, 3, 7);
  const scree_Lane cd02 = __builtin_shufflevector(*c, *d, 0, 4, 2, 6);
  const scree_Lane cd13 = __builtin_shufflevector(*c, *d, 1, 5, 3, 7);
  *a = __builtin_shufflevector(ab02, cd02, 0, 1, 4, 5);
  *b = __builtin_shufflevector(ab13, cd13, 0, 1, 4, 5);
  *c = __builtin_shufflevector(ab02, cd02, 2, 3, 6, 7);
  *d = __builtin_shufflevector(ab13, cd13, 2, 3, 6, 7);
}

#endif
