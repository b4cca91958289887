/* Aligned, zeroed arrays (see memory.h). */
#define _DEFAULT_SOURCE /* madvise */
#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20, LARGE = 4 * HUGE_PAGE };

void scree_memory_advise(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
  if (bytes < LARGE) return;
  const uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  const uintptr_t end = ((uintptr_t)memory + bytes) / HUGE_PAGE * HUGE_PAGE;
  (void)madvise((char *)memory + (begin - (uintptr_t)memory), end - begin, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

static size_t whole_lines(size_t bytes) {
  return bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

void *scree_alloc(size_t count, size_t size) {
  if (size != 0 && count > (SIZE_MAX - ALIGNMENT) / size) return NULL;
  const size_t bytes = whole_lines(count * size);
  void *memory = aligned_alloc(ALIGNMENT, bytes);
  if (!memory) return NULL;
  scree_memory_advise(memory, bytes);
  memset(memory, 0, bytes);
  return memory;
}

void scree_free(void *memory) {
  free(memory);
}

static int grow(void **array, size_t *capacity, size_t count, size_t size, size_t wanted) {
  if (wanted < count) wanted = count;
  if (wanted < 16) wanted = 16;
  /* as scree_alloc, but what is copied is not zeroed first */
  if (size != 0 && wanted > (SIZE_MAX - ALIGNMENT) / size) return 0;
  const size_t bytes = whole_lines(wanted * size), old = *capacity * size;
  char *grown = aligned_alloc(ALIGNMENT, bytes);
  if (!grown) return 0;
  scree_memory_advise(grown, bytes);
  if (old) memcpy(grown, *array, old);
  memset(grown + old, 0, bytes - old);
  scree_free(*array);
  *array = grown;
  *capacity = wanted;
  return 1;
}

int scree_grow(void **array, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity) return 1;
  return grow(array, capacity, count, size, *capacity + *capacity / 2);
}

int scree_grow_lean(void **array, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity) return 1;
  return grow(array, capacity, count, size, *capacity + *capacity / 8);
}

void scree_fit(void **array, size_t *capacity, size_t count, size_t size) {
  if (count >= *capacity) return;
  void *fitted = scree_alloc(count, size);
  if (!fitted) return;
  if (count) memcpy(fitted, *array, count * size);
  scree_free(*array);
  *array = fitted;
  *capacity = count;
}
