/* Parts of datasets, attributes and texts of results.h5 (see frames_data.h). */
#include "run/frames_data.h"

#include "core/log.h"
#include "core/memory.h"

#include <string.h>

/* Shape of a dataset: false when it is absent or has another rank. */
bool scree_frames_extent(const scree_H5 *h5, const char *name, int rank, hsize_t *dims) {
  if (!scree_h5_has(h5, name)) return false;
  const hid_t data = H5Dopen2(h5->file, name, H5P_DEFAULT);
  if (data < 0) return false;
  const hid_t space = H5Dget_space(data);
  const bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                    H5Sget_simple_extent_dims(space, dims, NULL) == rank;
  if (space >= 0) H5Sclose(space);
  H5Dclose(data);
  return good;
}

/* Rows [start, start + count) of an open dataset whose first dimension is rows; the whole rest of
 * each row. `columns` per row are expected in `values`. */
bool scree_frames_rows(hid_t data, hsize_t start, hsize_t count, hsize_t columns, hid_t type,
                       void *values) {
  if (count == 0 || columns == 0) return true;
  const hid_t space = H5Dget_space(data);
  hsize_t dims[3], first[3] = {start, 0, 0}, many[3] = {count, 1, 1};
  const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;
  bool good = rank >= 1 && rank <= 3 && H5Sget_simple_extent_dims(space, dims, NULL) == rank;
  hsize_t width = 1;
  for (int k = 1; good && k < rank; ++k) width *= many[k] = dims[k];
  good = good && width == columns && start + count <= dims[0];
  /* Of the selection's own shape: HDF5 copies between different shapes number by number. */
  const hid_t memory = good ? H5Screate_simple(rank, many, NULL) : -1;
  good = good && memory >= 0 &&
         H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, many, NULL) >= 0 &&
         H5Dread(data, type, memory, space, H5P_DEFAULT, values) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  return good;
}

/* The same by name. */
scree_Status scree_frames_named(const scree_H5 *h5, const char *name, hsize_t start, hsize_t count,
                                hsize_t columns, hid_t type, void *values) {
  const hid_t data = scree_h5_has(h5, name) ? H5Dopen2(h5->file, name, H5P_DEFAULT) : -1;
  const bool good = data >= 0 && scree_frames_rows(data, start, count, columns, type, values);
  if (data >= 0) H5Dclose(data);
  if (good) return SCREE_OK;
  return scree_fail(h5->log, SCREE_BAD_INPUT,
                    "%s: %s: rows %llu to %llu cannot be read, expected %llu numbers in each: the "
                    "file is damaged, or was not written by scree run",
                    h5->path, name, (unsigned long long)start, (unsigned long long)(start + count),
                    (unsigned long long)columns);
}

void scree_frames_attribute(const scree_H5 *h5, const char *name, hid_t type, void *value,
                            hsize_t count) {
  const hid_t attribute = H5Aopen(h5->file, name, H5P_DEFAULT);
  if (attribute < 0) return;
  const hid_t space = H5Aget_space(attribute);
  if (space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count)
    (void)H5Aread(attribute, type, value);
  if (space >= 0) H5Sclose(space);
  H5Aclose(attribute);
}

/* Texts are of fixed size, as scree run writes them. Those of variable size are not read: HDF5
 * follows their addresses without checks, and crashes on a damaged file. */
static bool is_fixed_text(hid_t type) {
  return type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
         H5Tget_size(type) <= 4096;
}

void scree_frames_text_attribute(const scree_H5 *h5, const char *name, char *text, size_t size) {
  text[0] = 0;
  const hid_t attribute = H5Aopen(h5->file, name, H5P_DEFAULT);
  if (attribute < 0) return;
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  char value[4097] = {0};
  if (is_fixed_text(type) && space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
      H5Aread(attribute, type, value) >= 0)
    snprintf(text, size, "%s", value);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  H5Aclose(attribute);
}

/* A list of texts: (count x 64), or null. */
char (*scree_frames_texts(const scree_H5 *h5, const char *name, int *count))[64] {
  hsize_t dims[1];
  *count = 0;
  if (!scree_frames_extent(h5, name, 1, dims) || dims[0] > 100000) return NULL;
  const hid_t data = H5Dopen2(h5->file, name, H5P_DEFAULT), type = H5Dget_type(data);
  char(*texts)[64] = NULL;
  if (is_fixed_text(type)) {
    const size_t width = H5Tget_size(type);
    char *values = SCREE_ALLOC(char, dims[0] * (width + 1));
    texts = scree_alloc((size_t)dims[0], 64);
    if (values && texts && H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) {
      for (hsize_t k = 0; k < dims[0]; ++k)
        snprintf(texts[k], 64, "%.*s", width < 63 ? (int)width : 63, values + k * width);
      *count = (int)dims[0];
    } else {
      scree_free(texts);
      texts = NULL;
    }
    scree_free(values);
  }
  if (type >= 0) H5Tclose(type);
  H5Dclose(data);
  return texts;
}
