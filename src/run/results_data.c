/* Pieces of results.h5 (see results_data.h). Object times are not recorded: equal results give
 * equal files. */
#include "run/results_data.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

bool scree_results_ready(scree_ResultsWriter *writer) {
  if (writer->ranks) writer->good = !scree_ranks_any(writer->ranks, !writer->good);
  return writer->good;
}

void scree_results_group(scree_ResultsWriter *writer, const char *name) {
  if (!scree_results_ready(writer)) return;
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
  /* ranks write all of it: no chunk is filled first */
  if (writer->ranks && good) good = H5Pset_fill_time(create, H5D_FILL_TIME_NEVER) >= 0;
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
  if (scree_results_ready(writer))
    data.id = make_data(writer, name, disk, rank, extent, chunk, fill_nan);
  return data;
}

scree_ResultsData scree_results_data(scree_ResultsWriter *writer, const char *name, hid_t disk,
                                     hid_t memory, int rank, hsize_t a, hsize_t b, hsize_t c,
                                     bool fill_nan) {
  scree_ResultsData data = {.id = -1, .memory = memory, .rank = rank, .extent = {a, b, c}};
  if (!scree_results_ready(writer)) return data;
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

void scree_results_put_block(scree_ResultsWriter *writer, const scree_ResultsData *data,
                             const hsize_t *start, const hsize_t *count, const void *values) {
  bool none = false;
  if (!scree_results_ready(writer)) return;
  bool empty = false;
  for (int k = 0; k < data->rank; ++k) {
    none = none || count[k] == 0;
    empty = empty || data->extent[k] == 0;
  }
  if (empty || (none && !writer->ranks)) return;
  const hsize_t one[3] = {1, 1, 1};
  hid_t file = H5Dget_space(data->id);
  hid_t memory = H5Screate_simple(data->rank, none ? one : count, NULL);
  bool good = file >= 0 && memory >= 0;
  if (good && none)
    good = H5Sselect_none(file) >= 0 && H5Sselect_none(memory) >= 0;
  else if (good)
    good = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
  const double nothing = 0;
  writer->good = good && H5Dwrite(data->id, data->memory, memory, file,
                                  writer->transfer ? writer->transfer : H5P_DEFAULT,
                                  none ? &nothing : values) >= 0;
  if (file >= 0) H5Sclose(file);
  if (memory >= 0) H5Sclose(memory);
}

void scree_results_put(scree_ResultsWriter *writer, const scree_ResultsData *data,
                       const hsize_t *start, const hsize_t *count, const void *values) {
  const hsize_t zero[3] = {0, 0, 0};
  scree_results_put_block(writer, data, start, scree_ranks_rank(writer->ranks) == 0 ? count : zero,
                          values);
}

void scree_results_put_all(scree_ResultsWriter *writer, scree_ResultsData data,
                           const void *values) {
  const hsize_t zero[3] = {0, 0, 0};
  scree_results_put(writer, &data, zero, data.extent, values);
  if (data.id >= 0) H5Dclose(data.id);
}

void scree_results_put_rows(scree_ResultsWriter *writer, scree_ResultsData data, hsize_t first,
                            hsize_t count, const void *values) {
  const hsize_t start[3] = {first, 0, 0}, many[3] = {count, data.extent[1], data.extent[2]};
  scree_results_put_block(writer, &data, start, many, values);
  if (data.id >= 0) H5Dclose(data.id);
}

/* Values of row `row`. */
void scree_results_put_row(scree_ResultsWriter *writer, const scree_ResultsData *data, hsize_t row,
                           const void *values) {
  const hsize_t start[3] = {row, 0, 0}, count[3] = {1, data->extent[1], data->extent[2]};
  scree_results_put(writer, data, start, count, values);
}

/* A dataset of texts of `width` bytes; the type is closed by the caller. */
static hid_t make_texts(scree_ResultsWriter *writer, const char *name, size_t width, int rank,
                        const hsize_t *extent, hid_t *type) {
  hid_t data = -1, create = H5Pcreate(H5P_DATASET_CREATE);
  hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, extent, NULL);
  *type = H5Tcopy(H5T_C_S1);
  writer->good = *type >= 0 && space >= 0 && create >= 0 && H5Tset_size(*type, width) >= 0 &&
                 H5Tset_strpad(*type, H5T_STR_NULLPAD) >= 0 &&
                 H5Tset_cset(*type, H5T_CSET_UTF8) >= 0 &&
                 H5Pset_obj_track_times(create, false) >= 0;
  if (writer->good)
    data = H5Dcreate2(writer->file, name, *type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  writer->good = writer->good && data >= 0;
  if (create >= 0) H5Pclose(create);
  if (space >= 0) H5Sclose(space);
  return data;
}

/* The texts one after the other, each padded with zeros; null: out of memory. */
static char *join(const char *const *texts, size_t count, size_t width) {
  char *flat = SCREE_ALLOC(char, count *width + 1);
  for (size_t k = 0; flat && k < count; ++k) memcpy(flat + k * width, texts[k], strlen(texts[k]));
  return flat;
}

/* Texts of equal length, padded with zeros; rank 0 to 2. Small ones, that all ranks have. */
void scree_results_texts(scree_ResultsWriter *writer, const char *name, const char *const *texts,
                         int rank, hsize_t a, hsize_t b) {
  if (!scree_results_ready(writer)) return;
  const size_t count = rank == 0 ? 1 : rank == 1 ? (size_t)a : (size_t)(a * b);
  size_t width = 1;
  for (size_t k = 0; k < count; ++k)
    if (strlen(texts[k]) > width) width = strlen(texts[k]);
  const hsize_t extent[2] = {a, b};
  char *flat = join(texts, count, width);
  hid_t type = -1, data = make_texts(writer, name, width, rank, extent, &type);
  writer->good = writer->good && flat;
  if (scree_results_ready(writer)) /* the same from all ranks */
    writer->good = H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flat) >= 0;
  if (data >= 0) H5Dclose(data);
  if (type >= 0) H5Tclose(type);
  scree_free(flat);
}

void scree_results_put_texts(scree_ResultsWriter *writer, const char *name,
                             const char *const *texts, size_t width, hsize_t whole, hsize_t first,
                             hsize_t count) {
  if (!scree_results_ready(writer)) return;
  char *flat = join(texts, (size_t)count, width);
  hid_t type = -1;
  scree_ResultsData data = {.rank = 1, .extent = {whole, 0, 0}};
  data.id = make_texts(writer, name, width, 1, data.extent, &type);
  data.memory = type;
  writer->good = writer->good && flat;
  scree_results_put_rows(writer, data, first, count, flat);
  if (type >= 0) H5Tclose(type);
  scree_free(flat);
}

void scree_results_attribute(scree_ResultsWriter *writer, const char *name, hid_t disk,
                             hid_t memory, int count, const void *value) {
  if (!scree_results_ready(writer)) return;
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
