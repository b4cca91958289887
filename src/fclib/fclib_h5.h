/* Guarded access to an HDF5 file: every read checks that the dataset exists, holds numbers, has the
 * expected size and that the size is backed by data in the file, before any memory is taken; every
 * refusal names the file, the dataset, what was found and what was expected.
 *
 * HDF5 prints its own error stack by default; this is switched off between open and close, and the
 * caller's setting is restored. */
#ifndef SCREE_FCLIB_H5_H
#define SCREE_FCLIB_H5_H

#include "scree/base.h"

#include <hdf5.h>

typedef struct scree_H5 {
  const char *path;
  const scree_Log *log;
  hid_t file;
  unsigned long long bytes;   /* size of the file: no dataset can hold more unless compressed */
  H5E_auto2_t error_function; /* the caller's error printing, put back by close */
  void *error_data;
} scree_H5;

/* Open for reading. After a failure there is nothing to close. */
scree_Status scree_h5_open(scree_H5 *h5, const char *path, const scree_Log *log);

/* A file for writing, held in memory: empty, or a copy of the file at `source`. Nothing is written
 * to the disk before scree_h5_save, so that HDF5 never fails on a full disk. */
scree_Status scree_h5_create(scree_H5 *h5, const char *path, const char *source,
                             const scree_Log *log);

/* Put the file made by scree_h5_create in its place: written beside it under another name, flushed
 * to the disk, then renamed. The replacement is atomic. */
scree_Status scree_h5_save(const scree_H5 *h5);

void scree_h5_close(scree_H5 *h5);

bool scree_h5_has(const scree_H5 *h5, const char *name);

/* Number of values of a dataset whose type is a number. */
scree_Status scree_h5_count(const scree_H5 *h5, const char *name, size_t *count);

/* Read exactly `count` values; `why` says in words where that number comes from. Reals must be
 * finite; integers must fit in an int. */
scree_Status scree_h5_read_reals(const scree_H5 *h5, const char *name, size_t count,
                                 const char *why, double *values);
scree_Status scree_h5_read_ints(const scree_H5 *h5, const char *name, size_t count, const char *why,
                                int *values);
scree_Status scree_h5_read_int(const scree_H5 *h5, const char *name, int *value);

/* A text of any HDF5 string type, cut to `size`; empty when it is absent or no text. */
void scree_h5_read_text(const scree_H5 *h5, const char *name, char *text, size_t size);

/* Writing: true when it worked. Integers have shape (count), texts are scalars, as FCLIB's own. */
bool scree_h5_make_group(const scree_H5 *h5, const char *name);
bool scree_h5_write_reals(const scree_H5 *h5, const char *name, size_t count, const double *values);
bool scree_h5_write_ints(const scree_H5 *h5, const char *name, size_t count, const int *values);
bool scree_h5_write_text(const scree_H5 *h5, const char *name, const char *text);

#endif
