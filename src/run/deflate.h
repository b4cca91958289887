/* Compresses a chunk of numbers into the format of HDF5's filters `shuffle` and `deflate`, without
 * HDF5, so that another thread can do it while HDF5, which is not safe with threads, is used
 * elsewhere. Every reader of HDF5 files reads such chunks: they are ordinary zlib streams.
 *
 * After the shuffle the first bytes of all numbers follow each other, then the second ones, and so
 * on. The low bytes of mantissas are random: deflate cannot compress them, and would spend most of
 * its time on them. Planes of random bytes at the start are therefore stored as they are. */
#ifndef SCREE_RUN_DEFLATE_H
#define SCREE_RUN_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct scree_Deflate scree_Deflate;

/* Level 0: chunks are copied, without shuffle; 1 (fast) to 9 (small). Null: out of memory. */
scree_Deflate *scree_deflate_create(int level);
void scree_deflate_destroy(scree_Deflate *deflate);

/* `bytes` bytes of numbers of `size` bytes each; the result stays until the next call. Null: out of
 * memory. */
const void *scree_deflate_chunk(scree_Deflate *deflate, const void *numbers, size_t bytes,
                                size_t size, size_t *result);

#endif
