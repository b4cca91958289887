/* Files and folders (see results_file.h). */
#define _POSIX_C_SOURCE 200809L
#include "run/results_file.h"

#include "core/log.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int scree_write_all(int file, const void *data, size_t count) {
  const char *bytes = data;
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes += written;
    count -= (size_t)written;
  }
  return 0;
}

char *scree_join_path(const char *folder, const char *name) {
  const size_t size = strlen(folder) + strlen(name) + 2;
  char *path = SCREE_ALLOC(char, size);
  if (path) snprintf(path, size, "%s/%s", folder, name);
  return path;
}

static int flush_file(const char *path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  int error = fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
  if (close(file) != 0 && !error) error = errno;
  return error;
}

/* A rename survives a power cut only when the folder is flushed too; not all file systems can. */
static void flush_folder_of(const char *path) {
  char *folder = scree_join_path(path, "");
  if (!folder) return;
  folder[strlen(path)] = '\0';
  char *slash = strrchr(folder, '/');
  if (slash) slash[slash == folder ? 1 : 0] = '\0';
  (void)flush_file(slash ? folder : ".");
  scree_free(folder);
}

scree_Status scree_file_settle(const char *part, const char *path, const scree_Log *log) {
  int error = flush_file(part);
  if (!error && rename(part, path) != 0) error = errno;
  if (error) {
    (void)unlink(part);
    return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", path, strerror(error));
  }
  flush_folder_of(path);
  return SCREE_OK;
}

scree_Status scree_file_replace(const char *path, const void *data, size_t count,
                                const scree_Log *log) {
  const size_t size = strlen(path) + 8;
  char *part = SCREE_ALLOC(char, size);
  if (!part) return scree_fail_memory(log, path);
  snprintf(part, size, "%s.part", path);
  int error = 0;
  const int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) error = errno;
  if (!error) error = scree_write_all(file, data, count);
  if (file >= 0 && close(file) != 0 && !error) error = errno;
  scree_Status status = SCREE_OK;
  if (error) {
    (void)unlink(part);
    status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", path, strerror(error));
  } else {
    status = scree_file_settle(part, path, log);
  }
  scree_free(part);
  return status;
}

scree_Status scree_file_load(const char *path, char **data, size_t *count, const scree_Log *log) {
  *data = NULL;
  *count = 0;
  FILE *file = fopen(path, "rb");
  if (!file && errno == ENOENT) return SCREE_OK;
  if (!file)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read: %s, expected a file of a run",
                      path, strerror(errno));
  void *bytes = NULL;
  size_t capacity = 0, length = 0, got = 0;
  bool good = true;
  do {
    good = scree_grow(&bytes, &capacity, length + 65536, 1);
    got = good ? fread((char *)bytes + length, 1, 65535, file) : 0;
    length += got;
  } while (got > 0);
  const int error = ferror(file) ? errno : 0;
  fclose(file);
  if (good && !error) {
    *data = bytes;
    (*data)[length] = '\0';
    *count = length;
    return SCREE_OK;
  }
  scree_free(bytes);
  if (!good) return scree_fail_memory(log, path);
  return scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read: %s, expected a file of a run", path,
                    strerror(error));
}

int scree_make_folder(const char *path) {
  char *copy = scree_join_path(path, "");
  if (!copy) return ENOMEM;
  copy[strlen(path)] = '\0';
  int error = *copy ? 0 : ENOENT;
  for (char *p = copy + 1; !error; ++p) {
    if (*p != '/' && *p != '\0') continue;
    const char end = *p;
    *p = '\0';
    if (mkdir(copy, 0777) != 0 && errno != EEXIST) error = errno;
    if (end == '\0') break;
    *p = end;
  }
  struct stat status;
  if (!error && stat(path, &status) != 0) error = errno;
  if (!error && !S_ISDIR(status.st_mode)) error = ENOTDIR;
  scree_free(copy);
  return error;
}
