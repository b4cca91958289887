/* What a benchmark asks of its own process. */
#ifndef SCREE_BENCH_PROCESS_H
#define SCREE_BENCH_PROCESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most memory of this process so far, in MB (Linux). */
static inline double peak_memory(void) {
  char line[256];
  double kilobytes = 0.0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, "VmHWM:", 6) == 0) kilobytes = strtod(line + 6, NULL);
  if (file) fclose(file);
  return kilobytes / 1024.0;
}

#endif
