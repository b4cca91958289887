/* Counts what the whole program allocates and frees, by standing in for the functions of the C
 * library. Included by one source file of a test. COUNTED is 0 where that is not possible: the
 * sanitizers have functions of their own. */
#ifndef COUNTED_ALLOCATIONS_H
#define COUNTED_ALLOCATIONS_H

#include <stdatomic.h>
#include <stdlib.h> /* defines __GLIBC__ */

static atomic_long allocations;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { COUNTED = 1 };

#pragma GCC visibility push(default) /* for shared libraries too */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size); /* of malloc.h */

void *memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size);

int posix_memalign(void **memory, size_t alignment, size_t size) {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : 12;
}

void free(void *memory) {
  if (memory) ++allocations; /* what is given back was taken */
  __libc_free(memory);
}

#pragma GCC visibility pop
#else
enum { COUNTED = 0 };
#endif

#endif
