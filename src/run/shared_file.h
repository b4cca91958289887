/* A file that all ranks write and read together, on a disk that all of them see: each opens it, and
 * writes its own pieces at their places. On one rank an ordinary file. */
#ifndef SCREE_RUN_SHARED_FILE_H
#define SCREE_RUN_SHARED_FILE_H

#include "parallel/ranks.h"

#include <stdint.h>

/* The pieces of a rank: behind each other in the file stand piece 0 of rank 0, of rank 1 and so on,
 * then piece 1 of all ranks, ... */
typedef struct scree_FilePieces {
  int count;
  const void *const *data; /* (count) */
  const size_t *bytes;     /* (count) */
} scree_FilePieces;

/* Write from `offset` on. *bytes is the length of all, *checksum its CRC-32 behind that of
 * `before`; both are the same on all ranks. So is the status; `path` is for messages. */
scree_Status scree_shared_write(const scree_Ranks *ranks, int file, int64_t offset,
                                const scree_FilePieces *pieces, uint32_t before, int64_t *bytes,
                                uint32_t *checksum, const char *path, const scree_Log *log);

/* Open a file that rank 0 makes if `make` is true; -1 with a message, on all ranks. */
int scree_shared_open(const scree_Ranks *ranks, const char *path, bool make, const scree_Log *log);

/* Exactly `count` bytes; false when there are fewer. */
bool scree_read_all(int file, void *data, size_t count, int64_t offset);

#endif
