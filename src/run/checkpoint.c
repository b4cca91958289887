/* Checkpoints (see checkpoint.h): magic, version of the format, size and checksum, then the head,
 * the order of poured bodies, and the world's state. Numbers are in the byte order
 * of the machine, so that a run can be continued only on a machine of the same kind; results.h5 is
 * portable. */
#define _POSIX_C_SOURCE 200809L
#include "run/checkpoint.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/results_file.h"
#include "run/shared_file.h"
#include "world/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

typedef struct FileHead {
  char magic[8];
  uint32_t version, head_size;
  uint64_t size, checksum; /* of the data that follows */
} FileHead;

static const char magic[8] = {'s', 'c', 'r', 'e', 'e', 'c', 'p', '\n'};

enum { VERSION = 3 };

scree_Status scree_checkpoint_write(const char *path, const scree_CheckpointHead *head,
                                    const int *order, const void *state, const scree_Log *log) {
  const size_t poured = (size_t)head->poured * sizeof *order;
  const size_t size = sizeof *head + poured + (size_t)head->state;
  char *data = SCREE_ALLOC(char, sizeof(FileHead) + size);
  if (!data) return scree_fail_memory(log, path);
  char *payload = data + sizeof(FileHead);
  FileHead file = {.version = VERSION, .head_size = sizeof *head, .size = size};
  memcpy(file.magic, magic, sizeof magic);
  memcpy(payload, head, sizeof *head);
  if (poured) memcpy(payload + sizeof *head, order, poured);
  memcpy(payload + sizeof *head + poured, state, (size_t)head->state);
  file.checksum = crc32_z(0, (const Bytef *)payload, size);
  memcpy(data, &file, sizeof file);
  scree_Status status = scree_file_replace(path, data, sizeof file + size, log);
  scree_free(data);
  return status;
}

scree_Status scree_checkpoint_read(const char *path, scree_CheckpointHead *head, int **order,
                                   void **state, bool *found, const scree_Log *log) {
  char *data;
  size_t count;
  *order = NULL;
  *state = NULL;
  scree_Status status = scree_file_load(path, &data, &count, log);
  *found = data != NULL;
  if (status != SCREE_OK || !data) return status;
  FileHead file = {0};
  if (count >= sizeof file) memcpy(&file, data, sizeof file);
  const char *payload = data + sizeof file;
  bool good = count >= sizeof file && memcmp(file.magic, magic, sizeof magic) == 0;
  if (good && (file.version != VERSION || file.head_size != sizeof *head)) {
    scree_free(data);
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: found version %u with a head of %u bytes, expected %d and %zu: written "
                      "by another version of scree",
                      path, file.version, file.head_size, VERSION, sizeof *head);
  }
  good = good && file.size == count - sizeof file && file.size >= sizeof *head &&
         file.checksum == crc32_z(0, (const Bytef *)payload, (size_t)file.size);
  if (good) memcpy(head, payload, sizeof *head);
  good = good && head->poured >= 0 && head->state <= file.size &&
         file.size == sizeof *head + (size_t)head->poured * sizeof(int) + head->state;
  if (!good) {
    scree_free(data);
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: damaged: found a wrong size or checksum, expected a complete checkpoint",
                      path);
  }
  *order = SCREE_ALLOC(int, head->poured);
  *state = SCREE_ALLOC(char, head->state);
  if (*order && *state) {
    memcpy(*order, payload + sizeof *head, (size_t)head->poured * sizeof(int));
    memcpy(*state, payload + sizeof *head + (size_t)head->poured * sizeof(int),
           (size_t)head->state);
    head->summary.reason = NULL; /* a pointer of another process */
  } else {
    scree_free(*order);
    scree_free(*state);
    status = scree_fail_memory(log, path);
  }
  scree_free(data);
  return status;
}

/* ---- several ranks -----------------------------------------------------------------------------
 */

enum { PIECES = 2 + SCREE_STATE_SECTIONS, SCAN = 1 << 20 };

/* The payload, then rank 0 writes the head of the file. */
static scree_Status write_pieces(int file, const char *part, const scree_CheckpointHead *head,
                                 const int *order, const scree_PartState *state,
                                 const scree_Ranks *ranks, const scree_Log *log) {
  const bool first = scree_ranks_rank(ranks) == 0;
  const void *data[PIECES] = {head, order};
  size_t sizes[PIECES] = {first ? sizeof *head : 0,
                          first ? (size_t)head->poured * sizeof *order : 0};
  memcpy(data + 2, state->data, sizeof state->data);
  memcpy(sizes + 2, state->bytes, sizeof state->bytes);
  const scree_FilePieces pieces = {PIECES, data, sizes};
  FileHead top = {.version = VERSION, .head_size = sizeof *head};
  int64_t bytes;
  uint32_t sum;
  scree_Status status =
      scree_shared_write(ranks, file, sizeof top, &pieces, 0, &bytes, &sum, part, log);
  if (status == SCREE_OK && first) {
    memcpy(top.magic, magic, sizeof magic);
    top.size = (uint64_t)bytes;
    top.checksum = sum;
    const int error = scree_write_all(file, &top, sizeof top);
    if (error)
      status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", part, strerror(error));
  }
  return scree_ranks_agree(ranks, status, log);
}

scree_Status scree_checkpoint_write_part(const char *path, scree_CheckpointHead *head,
                                         const int *order, const scree_PartState *state,
                                         const scree_Ranks *ranks, const scree_Log *log) {
  const bool first = scree_ranks_rank(ranks) == 0;
  const size_t size = strlen(path) + 8;
  char *part = SCREE_ALLOC(char, size);
  scree_Status status = part ? SCREE_OK : scree_fail_memory(log, path);
  status = scree_ranks_agree(ranks, status, log);
  if (status == SCREE_OK && part) {
    snprintf(part, size, "%s.part", path);
    if (first) {
      scree_StateHeader header;
      memcpy(&header, state->data[0], sizeof header);
      head->state = (uint64_t)header.size;
    }
    const int file = scree_shared_open(ranks, part, true, log);
    status = file >= 0 ? write_pieces(file, part, head, order, state, ranks, log) : SCREE_MACHINE;
    if (file >= 0) {
      const int error = fsync(file) != 0 && errno != EINVAL && errno != ENOTSUP ? errno : 0;
      if ((close(file) != 0 || error) && status == SCREE_OK)
        status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", path,
                            strerror(error ? error : errno));
      status = scree_ranks_agree(ranks, status, log);
    }
    if (first && status != SCREE_OK) (void)unlink(part);
    if (first && status == SCREE_OK) status = scree_file_settle(part, path, log);
    status = scree_ranks_agree(ranks, status, log);
  }
  scree_free(part);
  return status;
}

/* The sum of the payload behind the head of the file. */
static bool sum_payload(int file, int64_t size, uint64_t *sum) {
  unsigned char *piece = SCREE_ALLOC(unsigned char, SCAN);
  bool good = piece != NULL;
  *sum = 0;
  for (int64_t at = 0; at < size && good; at += SCAN) {
    const size_t n = size - at < SCAN ? (size_t)(size - at) : SCAN;
    good = scree_read_all(file, piece, n, (int64_t)sizeof(FileHead) + at);
    if (good) *sum = crc32_z((uLong)*sum, piece, n);
  }
  scree_free(piece);
  return good;
}

static scree_Status scan(int file, const char *path, scree_CheckpointHead *head, int **order,
                         int64_t *state, const scree_Log *log) {
  FileHead top;
  uint64_t sum = 0;
  bool good =
      scree_read_all(file, &top, sizeof top, 0) && memcmp(top.magic, magic, sizeof magic) == 0;
  if (good && (top.version != VERSION || top.head_size != sizeof *head))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: found version %u with a head of %u bytes, expected %d and %zu: written "
                      "by another version of scree",
                      path, top.version, top.head_size, VERSION, sizeof *head);
  good = good && top.size >= sizeof *head && top.size < INT64_MAX &&
         sum_payload(file, (int64_t)top.size, &sum) && sum == top.checksum &&
         scree_read_all(file, head, sizeof *head, sizeof top);
  good = good && head->poured >= 0 && head->state <= top.size &&
         top.size == sizeof *head + (size_t)head->poured * sizeof(int) + head->state;
  if (!good)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: damaged: found a wrong size or checksum, expected a complete checkpoint",
                      path);
  *order = SCREE_ALLOC(int, head->poured);
  if (!*order) return scree_fail_memory(log, path);
  const size_t poured = (size_t)head->poured * sizeof(int);
  *state = (int64_t)(sizeof top + sizeof *head + poured);
  head->summary.reason = NULL; /* a pointer of another process */
  if (scree_read_all(file, *order, poured, (int64_t)(sizeof top + sizeof *head))) return SCREE_OK;
  return scree_fail(log, SCREE_BAD_INPUT,
                    "%s: cannot be read, expected the numbers of %lld poured bodies", path,
                    (long long)head->poured);
}

scree_Status scree_checkpoint_scan(const char *path, scree_CheckpointHead *head, int **order,
                                   int64_t *state, bool *found, const scree_Log *log) {
  *order = NULL;
  *found = false;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return SCREE_OK;
  if (file < 0)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read: %s, expected a checkpoint", path,
                      strerror(errno));
  *found = true;
  const scree_Status status = scan(file, path, head, order, state, log);
  (void)close(file);
  return status;
}
