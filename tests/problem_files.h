/* The problem files that tests visit: those of SCREE_PROBLEMS, an environment variable, or where
 * the build found them. */
#ifndef SCREE_TESTS_PROBLEM_FILES_H
#define SCREE_TESTS_PROBLEM_FILES_H

#include "scree/fclib.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Call `visit` for each problem file with at most `most` contacts; returns how many there were. */
static inline int small_files(int most, void (*visit)(const char *name, scree_Problem *problem)) {
  const char *folder = getenv("SCREE_PROBLEMS");
#ifdef SCREE_PROBLEMS
  if (!folder) folder = SCREE_PROBLEMS;
#endif
  struct dirent **entries = NULL;
  const int n = folder ? scandir(folder, &entries, NULL, alphasort) : -1;
  int seen = 0;
  for (int k = 0; k < n; ++k) {
    const size_t length = strlen(entries[k]->d_name);
    if (length > 5 && strcmp(entries[k]->d_name + length - 5, ".hdf5") == 0) {
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
      scree_Problem p;
      if (scree_fclib_read(path, &p, NULL, NULL) == SCREE_OK) {
        if (p.nc <= most) {
          visit(entries[k]->d_name, &p);
          ++seen;
        }
        scree_problem_destroy(&p);
      }
    }
    free(entries[k]);
  }
  free(entries);
  if (!seen) fprintf(stderr, "no problem files found: this part is skipped\n");
  return seen;
}

#endif
