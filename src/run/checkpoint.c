/* Checkpoints (see checkpoint.h): magic, version of the format, size and checksum, then the head,
 * the order of poured bodies, and the world's state. In machine byte order: a checkpoint continues
 * a run on a machine of the same kind; results.h5 is portable. */
#include "run/checkpoint.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/results_file.h"

#include <string.h>
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
    return scree_fail(log, SCREE_BAD_INPUT, "%s: written by another version of scree", path);
  }
  good = good && file.size == count - sizeof file && file.size >= sizeof *head &&
         file.checksum == crc32_z(0, (const Bytef *)payload, (size_t)file.size);
  if (good) memcpy(head, payload, sizeof *head);
  good = good && head->poured >= 0 && head->state <= file.size &&
         file.size == sizeof *head + (size_t)head->poured * sizeof(int) + head->state;
  if (!good) {
    scree_free(data);
    return scree_fail(log, SCREE_BAD_INPUT, "%s: damaged: wrong checksum", path);
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
