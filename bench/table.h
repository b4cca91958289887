/* Shared by benchmarks over problem files: a table on the screen and in a file, durations in words,
 * the name of the processor, the folder of problems. Include after _DEFAULT_SOURCE. */
#ifndef SCREE_BENCH_TABLE_H
#define SCREE_BENCH_TABLE_H

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Print to the screen and, when not null, to the file. */
static inline void table_say(FILE *file, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  fflush(stdout);
  if (!file) return;
  va_start(arguments, format);
  vfprintf(file, format, arguments);
  va_end(arguments);
  fflush(file);
}

static inline void table_duration(double seconds, char *text, size_t size) {
  if (!(seconds >= 0.0) || isinf(seconds))
    snprintf(text, size, "-");
  else if (seconds < 1e-3)
    snprintf(text, size, seconds < 1e-5 ? "%.1f us" : "%.0f us", 1e6 * seconds);
  else if (seconds < 1.0)
    snprintf(text, size, "%.2f ms", 1e3 * seconds);
  else
    snprintf(text, size, "%.2f s", seconds);
}

static inline void table_processor(char *model, size_t size) {
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "r");
  snprintf(model, size, "unknown processor");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
      snprintf(model, size, "%.190s", strchr(line, ':') + 2);
      model[strcspn(model, "\n")] = '\0';
      break;
    }
  if (file) fclose(file);
}

static inline int table_is_problem(const struct dirent *entry) {
  const size_t length = strlen(entry->d_name);
  return length > 5 && strcmp(entry->d_name + length - 5, ".hdf5") == 0;
}

/* Visit the given files, or without any all problems of SCREE_PROBLEMS in the order of their names.
 * False when that folder is not there. */
static inline bool table_each_problem(int count, char **paths,
                                      void (*visit)(void *user, const char *path), void *user) {
  for (int k = 0; k < count; ++k) visit(user, paths[k]);
  if (count > 0) return true;
  const char *folder = getenv("SCREE_PROBLEMS") ? getenv("SCREE_PROBLEMS") : SCREE_PROBLEMS;
  struct dirent **entries;
  const int found = scandir(folder, &entries, table_is_problem, alphasort);
  if (found < 0) return false;
  for (int k = 0; k < found; ++k) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
    visit(user, path);
    free(entries[k]);
  }
  free(entries);
  return true;
}

#endif
