/* Shared by the fuzz targets: a scratch folder in memory, and a log whose messages are looked at.
 *
 * A target is one function, LLVMFuzzerTestOneInput, which libFuzzer calls with one input after
 * another, in one process. Sanitizers find errors of memory and undefined behaviour; what the
 * readers promise beyond that is checked with `demand`, which ends the process with a message. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#define _XOPEN_SOURCE 700
#include "scree/base.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void demand(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "fuzz: broken promise: %s\n", what);
  abort();
}

/* Messages of one input. */
static int fuzz_errors;

static inline void fuzz_listen(void *user, scree_LogLevel level, const char *text) {
  (void)user;
  demand(text && text[0], "a message is not empty");
  if (level == SCREE_LOG_ERROR) ++fuzz_errors;
}

static const scree_Log fuzz_log = {fuzz_listen, NULL};

/* A reader succeeds, or fails with a message and a status that blames the input, not itself. */
static inline void fuzz_check_status(scree_Status status) {
  demand(status == SCREE_OK || status == SCREE_BAD_INPUT || status == SCREE_MACHINE,
         "a reader returns SCREE_OK, SCREE_BAD_INPUT or SCREE_MACHINE");
  demand(status == SCREE_OK || fuzz_errors > 0, "a failure comes with a message");
}

static char fuzz_folder[64];

static inline void fuzz_remove_folder(void) {
  static const char *const names[] = {"results.h5",   "telemetry.jsonl", "checkpoint", "frames.bin",
                                      "problem.hdf5", "table.csv",       "part.yaml"};
  char path[128];
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    snprintf(path, sizeof path, "%s/%s", fuzz_folder, names[k]);
    (void)unlink(path);
  }
  (void)rmdir(fuzz_folder);
}

/* A path in a folder of this process, which is removed at the end. */
static inline const char *fuzz_path(const char *name) {
  static char path[128];
  if (!fuzz_folder[0]) {
    struct stat status;
    const bool memory = stat("/dev/shm", &status) == 0 && S_ISDIR(status.st_mode);
    snprintf(fuzz_folder, sizeof fuzz_folder, "%s/scree-fuzz-XXXXXX", memory ? "/dev/shm" : "/tmp");
    demand(mkdtemp(fuzz_folder) != NULL, "a scratch folder can be made");
    atexit(fuzz_remove_folder);
  }
  snprintf(path, sizeof path, "%s/%s", fuzz_folder, name);
  return path;
}

static inline void fuzz_write(const char *name, const void *data, size_t size) {
  FILE *file = fopen(fuzz_path(name), "wb");
  demand(file && (size == 0 || fwrite(data, 1, size, file) == size) && fclose(file) == 0,
         "a scratch file can be written");
}

#endif
