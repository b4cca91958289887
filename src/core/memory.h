/* Arrays: 64-byte aligned (a cache line, and any vector register), zeroed, with the product of the
 * sizes checked. Freed with scree_free. A count of zero gives a valid, freeable pointer. */
#ifndef SCREE_CORE_MEMORY_H
#define SCREE_CORE_MEMORY_H

#include "core/private.h"

#include <stddef.h>

SCREE_PRIVATE void *scree_alloc(size_t count, size_t size);
SCREE_PRIVATE void scree_free(void *memory);

/* Make *array hold at least `count` elements, keeping the first *capacity of them; the capacity
 * grows by half at least, so that appending is linear. Returns false, with nothing changed, when
 * memory runs out. */
SCREE_PRIVATE int scree_grow(void **array, size_t *capacity, size_t count, size_t size);

/* The same for arrays that stay large for long: the capacity grows by an eighth at least. */
SCREE_PRIVATE int scree_grow_lean(void **array, size_t *capacity, size_t count, size_t size);

/* Shrink *array to its first `count` elements; it is unchanged when memory runs out. */
SCREE_PRIVATE void scree_fit(void **array, size_t *capacity, size_t count, size_t size);

/* Before the first use of memory: large arrays get large pages where the system has them, which
 * makes their first use and access in any order faster. */
void scree_memory_advise(void *memory, size_t bytes);

#define SCREE_ALLOC(type, count) ((type *)scree_alloc((size_t)(count), sizeof(type)))

#endif
