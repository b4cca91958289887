/* Files of several ranks (see shared_file.h). The checksums of the pieces are joined, so that no
 * rank reads the whole file. */
#define _POSIX_C_SOURCE 200809L
#include "run/shared_file.h"

#include "core/log.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* Size and checksum of a piece, which are sent to the other ranks. */
typedef struct Piece {
  uint64_t bytes, checksum;
} Piece;

bool scree_read_all(int file, void *data, size_t count, int64_t offset) {
  char *bytes = data;
  while (count > 0) {
    const ssize_t got = pread(file, bytes, count, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= (size_t)got;
    offset += got;
  }
  return true;
}

static int write_at(int file, const void *data, size_t count, int64_t offset) {
  const char *bytes = data;
  while (count > 0) {
    const ssize_t put = pwrite(file, bytes, count, (off_t)offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return put < 0 ? errno : ENOSPC;
    bytes += put;
    count -= (size_t)put;
    offset += put;
  }
  return 0;
}

static scree_Status fail_write(const char *path, int error, const scree_Log *log) {
  return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", path, strerror(error));
}

int scree_shared_open(const scree_Ranks *ranks, const char *path, bool make, const scree_Log *log) {
  const bool first = scree_ranks_rank(ranks) == 0;
  int file = -1;
  scree_Status status = SCREE_OK;
  for (int turn = 0; turn < 2 && status == SCREE_OK; ++turn) { /* rank 0, then the others */
    if (first == (turn == 0)) {
      const int flags = first && make ? O_RDWR | O_CREAT | O_TRUNC : O_RDWR;
      file = open(path, flags | O_CLOEXEC, 0666);
      if (file < 0 && !first)
        status = scree_fail(log, SCREE_MACHINE,
                            "%s: not seen by all ranks: a run needs a disk that they share", path);
      else if (file < 0)
        status = fail_write(path, errno, log);
    }
    status = scree_ranks_agree(ranks, status, log);
  }
  if (status == SCREE_OK) return file;
  if (file >= 0) (void)close(file);
  return -1;
}

/* The first error of a rank, on all of them: rank 0 alone prints. */
static scree_Status agree_on_write(const scree_Ranks *ranks, int mine, const char *path,
                                   const scree_Log *log) {
  const int *all = scree_ranks_gather(ranks, &mine, sizeof mine);
  for (int k = 0; k < scree_ranks_count(ranks); ++k)
    if (all[k]) return fail_write(path, all[k], log);
  return SCREE_OK;
}

scree_Status scree_shared_write(const scree_Ranks *ranks, int file, int64_t offset,
                                const scree_FilePieces *pieces, uint32_t before, int64_t *bytes,
                                uint32_t *checksum, const char *path, const scree_Log *log) {
  const size_t size = (size_t)scree_ranks_count(ranks), count = (size_t)pieces->count;
  const size_t rank = (size_t)scree_ranks_rank(ranks);
  Piece *mine = SCREE_ALLOC(Piece, count), *all = SCREE_ALLOC(Piece, count * size);
  scree_Status status = mine && all ? SCREE_OK : scree_fail_memory(log, path);
  status = scree_ranks_agree(ranks, status, log);
  *bytes = 0;
  *checksum = before;
  if (!status && mine && all) {
    for (size_t k = 0; k < count; ++k)
      mine[k] =
          (Piece){pieces->bytes[k], crc32_z(0, (const Bytef *)pieces->data[k], pieces->bytes[k])};
    scree_ranks_gather_all(ranks, mine, count * sizeof *mine, all);
    int error = 0;
    for (size_t k = 0; k < count; ++k)
      for (size_t r = 0; r < size; ++r) {
        const Piece *piece = &all[r * count + k];
        if (r == rank && !error && piece->bytes)
          error = write_at(file, pieces->data[k], pieces->bytes[k], offset + *bytes);
        *bytes += (int64_t)piece->bytes;
        *checksum =
            (uint32_t)crc32_combine(*checksum, (uLong)piece->checksum, (z_off_t)piece->bytes);
      }
    status = agree_on_write(ranks, error, path, log);
  }
  scree_free(mine);
  scree_free(all);
  return status;
}
