/* For the tests of FCLIB files: a scratch folder, datasets made and replaced through plain HDF5
 * calls (not through the code under test), a log that keeps the last message, and random numbers
 * that are the same everywhere. */
#ifndef TESTS_FCLIB_FILES_H
#define TESTS_FCLIB_FILES_H

#define _XOPEN_SOURCE 700
#include "scree/fclib.h"

#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char scratch[256];
static char message[2048];

static inline void keep_message(void *user, scree_LogLevel level, const char *text) {
  (void)user;
  if (level == SCREE_LOG_ERROR) snprintf(message, sizeof message, "%s", text);
}

static const scree_Log keep_log = {keep_message, NULL};

static inline int make_scratch(void **state) {
  (void)state;
  const char *folder = getenv("TMPDIR");
  snprintf(scratch, sizeof scratch, "%s/scree-fclib-XXXXXX", folder ? folder : "/tmp");
  return mkdtemp(scratch) ? 0 : -1;
}

static inline int remove_scratch(void **state) {
  (void)state;
  return rmdir(scratch); /* fails when a test, or the writer, left something behind */
}

/* A path in the scratch folder; the same name gives the same pointer. */
static inline const char *scratch_path(const char *name) {
  static char paths[32][512];
  for (int k = 0; k < 32; ++k) {
    char *path = paths[k];
    const size_t folder = strlen(scratch) + 1;
    if (path[0] && strcmp(path + folder, name) == 0) return path;
    if (path[0]) continue;
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
  }
  fail_msg("too many scratch files");
  return NULL;
}

static inline scree_Status read_again(const char *path, scree_Problem *problem,
                                      scree_FclibInfo *info) {
  message[0] = '\0';
  return scree_fclib_read(path, problem, info, &keep_log);
}

/* splitmix64 */
static inline uint64_t random_bits(uint64_t *seed) {
  uint64_t z = *seed += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline int random_int(uint64_t *seed, int count) {
  return (int)(random_bits(seed) % (uint64_t)count);
}

static inline double random_real(uint64_t *seed) {
  return 2.0 * (double)(random_bits(seed) >> 11) * 0x1p-53 - 1.0;
}

/* Create a dataset, in place of the one of that name; count < 0 makes a scalar. */
static inline void put(hid_t file, const char *name, hid_t disk, hid_t memory, long count,
                       const void *values) {
  const hsize_t extent = count < 0 ? 1 : (hsize_t)count;
  hid_t space = count < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, NULL);
  hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  H5E_BEGIN_TRY {
    H5Ldelete(file, name, H5P_DEFAULT);
  }
  H5E_END_TRY;
  hid_t data = H5Dcreate2(file, name, disk, space, links, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(data >= 0);
  if (extent) assert_true(H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(data);
  H5Pclose(links);
  H5Sclose(space);
}

static inline void put_ints(hid_t file, const char *name, long count, const int *values) {
  put(file, name, H5T_STD_I32LE, H5T_NATIVE_INT, count, values);
}

static inline void put_int(hid_t file, const char *name, int value) {
  put_ints(file, name, 1, &value);
}

static inline void put_reals(hid_t file, const char *name, long count, const double *values) {
  put(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, values);
}

/* A whole dataset as doubles or ints; the count is returned. */
static inline size_t get(const char *path, const char *name, hid_t memory, size_t size,
                         void **values) {
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(data >= 0);
  hid_t space = H5Dget_space(data);
  const size_t count = (size_t)H5Sget_simple_extent_npoints(space);
  *values = calloc(count + 1, size);
  assert_non_null(*values);
  assert_true(H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) >= 0);
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
  return count;
}

static inline size_t get_reals(const char *path, const char *name, double **values) {
  return get(path, name, H5T_NATIVE_DOUBLE, sizeof(double), (void **)values);
}

static inline size_t get_ints(const char *path, const char *name, int **values) {
  return get(path, name, H5T_NATIVE_INT, sizeof(int), (void **)values);
}

static inline int get_int(const char *path, const char *name) {
  int *values = NULL;
  assert_int_equal(get_ints(path, name, &values), 1);
  const int value = values[0];
  free(values);
  return value;
}

static inline void copy_file(const char *from, const char *to) {
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  char buffer[4096];
  size_t count;
  assert_true(in && out);
  while ((count = fread(buffer, 1, sizeof buffer, in)) > 0)
    assert_int_equal(fwrite(buffer, 1, count, out), count);
  fclose(in);
  fclose(out);
}

/* The sparse layouts of FCLIB. */
enum { BY_COLUMNS = -1, BY_ROWS = -2, TRIPLETS = 0 };

/* Write a dense matrix A (rows x cols, row by row) as a sparse group in one of the layouts, entries
 * of zero left out. With `twice` every entry is split in two halves that must be summed. */
static inline void put_sparse(hid_t file, const char *group, int layout, int rows, int cols,
                              const double *A, bool twice) {
  const int copies = twice ? 2 : 1, lines = layout == BY_COLUMNS ? cols : rows;
  const int others = layout == BY_COLUMNS ? rows : cols;
  const size_t most = (size_t)(copies * rows * cols) + 1;
  int *p = calloc(most + (size_t)lines + 1, sizeof *p), *i = calloc(most, sizeof *i);
  double *x = calloc(most, sizeof *x);
  assert_true(p && i && x);
  int used = 0;
  for (int line = 0; line < lines; ++line) {
    for (int copy = 0; copy < copies; ++copy)
      for (int k = 0; k < others; ++k) {
        /* descending in the second copy: order within a line is free */
        const int other = copy ? others - 1 - k : k;
        const int row = layout == BY_COLUMNS ? other : line;
        const int col = layout == BY_COLUMNS ? line : other;
        const double value = A[row * cols + col];
        if (value == 0.0) continue;
        i[used] = layout == TRIPLETS ? row : other;
        if (layout == TRIPLETS) p[used] = col;
        x[used++] = value / copies;
      }
    if (layout != TRIPLETS) p[line + 1] = used;
  }
  char name[128];
  const char *const fields[] = {"nzmax", "m", "n", "nz"};
  const int values[] = {used, rows, cols, layout == TRIPLETS ? used : layout};
  for (int k = 0; k < 4; ++k) {
    snprintf(name, sizeof name, "%s/%s", group, fields[k]);
    put_int(file, name, values[k]);
  }
  snprintf(name, sizeof name, "%s/p", group);
  put_ints(file, name, layout == TRIPLETS ? used : lines + 1, p);
  snprintf(name, sizeof name, "%s/i", group);
  put_ints(file, name, used, i);
  snprintf(name, sizeof name, "%s/x", group);
  put_reals(file, name, used, x);
  free(p);
  free(i);
  free(x);
}

#endif
