/* Pieces of results.h5 (see results_data.h). Object times are not recorded: equal results give
 * equal files. */
#include "run/results_data.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

void scree_results_group(scree_ResultsWriter *writer, const char *name) {
  if (!writer->good) return;
  hid_t group = H5Gcreate2(writer->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  writer->good = group >= 0 && H5Gclose(group) >= 0;
}

/* Chunks of about 64 kB, along the first axes. */
static void choose_chunk(int rank, const hsize_t *extent, size_t size, hsize_t *chunk) {
  double room = 65536.0 / (double)size;
  for (int k = rank - 1; k >= 0; --k) {
    const double n = extent[k] < 1 ? 1 : (double)extent[k];
    const double take = room < 1 ? 1 : n < room ? n : floor(room);
    chunk[k] = (hsize_t)take;
    room /= take;
  }
}

/* A dataset; `chunk` null: not in chunks. Where a chunk is larger than the dataset, the dataset may
 * grow to its size: HDF5 asks for that. */
static hid_t make_data(scree_ResultsWriter *writer, const char *name, hid_t disk, int rank,
                       const hsize_t *extent, const hsize_t *chunk, bool fill_nan) {
  const double nan = NAN;
  hsize_t most[3];
  hid_t id = -1;
  for (int k = 0; k < rank; ++k) most[k] = chunk && chunk[k] > extent[k] ? chunk[k] : extent[k];
  hid_t space = H5Screate_simple(rank, extent, most);
  hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  bool good = space >= 0 && create >= 0 && H5Pset_obj_track_times(create, false) >= 0;
  if (chunk && good) good = H5Pset_chunk(create, rank, chunk) >= 0;
  if (chunk && good && writer->compression > 0)
    good =
        H5Pset_shuffle(create) >= 0 && H5Pset_deflate(create, (unsigned)writer->compression) >= 0;
  if (fill_nan && good) good = H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &nan) >= 0;
  if (good) id = H5Dcreate2(writer->file, name, disk, space, H5P_DEFAULT, create, H5P_DEFAULT);
  writer->good = good && id >= 0;
  if (create >= 0) H5Pclose(create);
  if (space >= 0) H5Sclose(space);
  return id;
}

scree_ResultsData scree_results_chunked(scree_ResultsWriter *writer, const char *name, hid_t disk,
                                        int rank, const hsize_t *extent, const hsize_t *chunk,
                                        bool fill_nan) {
  scree_ResultsData data = {.id = -1, .memory = disk, .rank = rank};
  for (int k = 0; k < rank; ++k) data.extent[k] = extent[k];
  if (writer->good) data.id = make_data(writer, name, disk, rank, extent, chunk, fill_nan);
  return data;
}

scree_ResultsData scree_results_data(scree_ResultsWriter *writer, const char *name, hid_t disk,
                                     hid_t memory, int rank, hsize_t a, hsize_t b, hsize_t c,
                                     bool fill_nan) {
  scree_ResultsData data = {.id = -1, .memory = memory, .rank = rank, .extent = {a, b, c}};
  if (!writer->good) return data;
  hsize_t chunk[3];
  bool empty = false;
  for (int k = 0; k < rank; ++k) empty |= data.extent[k] == 0;
  choose_chunk(rank, data.extent, H5Tget_size(disk), chunk);
  data.id = make_data(writer, name, disk, rank, data.extent, empty ? NULL : chunk, fill_nan);
  return data;
}

scree_ResultsData scree_results_reals(scree_ResultsWriter *writer, const char *name, int rank,
                                      hsize_t a, hsize_t b, hsize_t c) {
  return scree_results_data(writer, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rank, a, b, c, false);
}

/* Write a block of `count` from `start`. */
void scree_results_put(scree_ResultsWriter *writer, const scree_ResultsData *data,
                       const hsize_t *start, const hsize_t *count, const void *values) {
  if (!writer->good) return;
  for (int k = 0; k < data->rank; ++k)
    if (count[k] == 0) return;
  hid_t file = H5Dget_space(data->id), memory = H5Screate_simple(data->rank, count, NULL);
  writer->good = file >= 0 && memory >= 0 &&
                 H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                 H5Dwrite(data->id, data->memory, memory, file, H5P_DEFAULT, values) >= 0;
  if (file >= 0) H5Sclose(file);
  if (memory >= 0) H5Sclose(memory);
}

void scree_results_put_all(scree_ResultsWriter *writer, scree_ResultsData data,
                           const void *values) {
  const hsize_t zero[3] = {0, 0, 0};
  scree_results_put(writer, &data, zero, data.extent, values);
  if (data.id >= 0) H5Dclose(data.id);
}

/* Values of row `row`. */
void scree_results_put_row(scree_ResultsWriter *writer, const scree_ResultsData *data, hsize_t row,
                           const void *values) {
  const hsize_t start[3] = {row, 0, 0}, count[3] = {1, data->extent[1], data->extent[2]};
  scree_results_put(writer, data, start, count, values);
}

/* Texts of equal length, padded with zeros; rank 0 to 2. */
void scree_results_texts(scree_ResultsWriter *writer, const char *name, const char *const *texts,
                         int rank, hsize_t a, hsize_t b) {
  if (!writer->good) return;
  const size_t count = rank == 0 ? 1 : rank == 1 ? (size_t)a : (size_t)(a * b);
  size_t width = 1;
  for (size_t k = 0; k < count; ++k)
    if (strlen(texts[k]) > width) width = strlen(texts[k]);
  char *flat = SCREE_ALLOC(char, count *width + 1);
  const hsize_t extent[2] = {a, b};
  hid_t type = H5Tcopy(H5T_C_S1), create = H5Pcreate(H5P_DATASET_CREATE);
  hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, extent, NULL);
  writer->good = flat && type >= 0 && space >= 0 && create >= 0 && H5Tset_size(type, width) >= 0 &&
                 H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                 H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                 H5Pset_obj_track_times(create, false) >= 0;
  hid_t data = -1;
  if (writer->good) {
    for (size_t k = 0; k < count; ++k) memcpy(flat + k * width, texts[k], strlen(texts[k]));
    data = H5Dcreate2(writer->file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    writer->good = data >= 0 && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flat) >= 0;
  }
  if (data >= 0) H5Dclose(data);
  if (create >= 0) H5Pclose(create);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  scree_free(flat);
}

void scree_results_attribute(scree_ResultsWriter *writer, const char *name, hid_t disk,
                             hid_t memory, int count, const void *value) {
  if (!writer->good) return;
  const hsize_t extent = (hsize_t)count;
  hid_t space = count > 0 ? H5Screate_simple(1, &extent, NULL) : H5Screate(H5S_SCALAR);
  hid_t id = H5Acreate2(writer->file, name, disk, space, H5P_DEFAULT, H5P_DEFAULT);
  writer->good = id >= 0 && H5Awrite(id, memory, value) >= 0;
  if (id >= 0) H5Aclose(id);
  if (space >= 0) H5Sclose(space);
}

void scree_results_text(scree_ResultsWriter *writer, const char *name, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1);
  const size_t length = strlen(text);
  if (type < 0 || H5Tset_size(type, length ? length : 1) < 0 ||
      H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)
    writer->good = false;
  scree_results_attribute(writer, name, type, type, 0, text);
  if (type >= 0) H5Tclose(type);
}
