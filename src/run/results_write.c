/* results.h5 (see results_write.h, docs/RESULTS.md). The heads of the journal's frames give the
 * sizes, so that every dataset is made with its final extent; its chunks are already compressed
 * (results_pack.h) and only copied. Object times are not recorded: equal results give equal files.
 *
 * HDF5 does not recover from a failed write of its own: the file cannot be closed, and the process
 * may crash when it ends. So files of ordinary size are built in memory (fclib_h5.h) and written
 * without HDF5; larger ones are written by HDF5 if the disk has room for them. */
#define _POSIX_C_SOURCE 200809L
#include "run/results_write.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/frames_data.h"
#include "run/results_data.h"
#include "run/results_file.h"
#include "run/results_pack.h"
#include "run/results_sizes.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int64_t IN_MEMORY = 256000000; /* bytes before compression */

/* ---- frames ---------------------------------------------------------------------------------- */

/* A dataset and its chunks. */
static scree_Status write_column(scree_ResultsWriter *writer, scree_ResultsPack *pack, int k,
                                 const scree_ResultsSizes *sizes, const scree_Log *log) {
  const scree_ResultsColumn *column = &scree_columns[k];
  const scree_ResultsPackColumn *from = &pack->column[k];
  const bool contacts = column->rows >= SCREE_ROWS_CONTACT;
  const bool items = !contacts && column->rows != SCREE_ROWS_FRAME;
  const hsize_t rows = (hsize_t)(contacts ? sizes->offset[sizes->frames] : sizes->frames);
  hsize_t extent[3] = {rows, (hsize_t)column->count, 0}, chunk[3] = {(hsize_t)from->rows, 0, 0};
  chunk[1] = extent[1];
  int rank = column->count > 1 ? 2 : 1;
  if (items) {
    ++rank;
    extent[1] = (hsize_t)scree_column_items(column, &sizes->rows);
    extent[2] = chunk[2] = (hsize_t)column->count;
    chunk[1] = (hsize_t)from->items;
  }
  scree_ResultsData data =
      scree_results_chunked(writer, column->name, scree_column_disk(column), rank, extent,
                            from->bytes ? chunk : NULL, items && column->type == 'd');
  scree_Status status = SCREE_OK;
  for (size_t c = 0; c < scree_pack_count(from) && writer->good && status == SCREE_OK; ++c) {
    scree_ResultsPackChunk at;
    const void *bytes;
    status = scree_pack_chunk(pack, k, c, &at, &bytes, log);
    const hsize_t start[3] = {(hsize_t)at.row, (hsize_t)at.item, 0};
    if (status == SCREE_OK)
      writer->good = H5Dwrite_chunk(data.id, H5P_DEFAULT, 0, start, at.size, bytes) >= 0;
  }
  if (data.id >= 0) H5Dclose(data.id);
  return status;
}

static scree_Status write_frames(scree_ResultsWriter *writer, scree_ResultsPack *pack,
                                 const scree_ResultsSizes *sizes, scree_Poll *poll,
                                 const scree_Log *log) {
  scree_results_frame_groups(writer);
  scree_Status status = SCREE_OK;
  for (int k = 0; k < SCREE_COLUMNS && writer->good && status == SCREE_OK; ++k) {
    if (scree_poll(poll)) return SCREE_INTERRUPTED;
    if (scree_column_is_there(&scree_columns[k], &sizes->rows))
      status = write_column(writer, pack, k, sizes, log);
  }
  if (status != SCREE_OK) return status;
  if (sizes->removed) scree_results_alive(writer, sizes);
  scree_results_contact_offsets(writer, sizes);
  return SCREE_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

static scree_Status write_content(hid_t file, const char *path, scree_ResultsPack *pack,
                                  const scree_ResultsSizes *sizes, const scree_ResultsHead *head,
                                  const scree_World *world, scree_Poll *poll,
                                  const scree_Log *log) {
  scree_ResultsWriter writer = {.file = file, .compression = head->compression, .good = true};
  scree_results_write_world(&writer, head, world, &sizes->table, sizes->first, sizes->last);
  scree_Status status = write_frames(&writer, pack, sizes, poll, log);
  if (status == SCREE_OK && !writer.good)
    status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written: memory or disk is full", path);
  return status;
}

/* Whether the disk takes as many bytes: 0, or errno. The file is there and empty afterwards. */
static int try_room(const char *path, int64_t bytes) {
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int error = posix_fallocate(file, 0, (off_t)bytes);
  if (error == EOPNOTSUPP || error == EINVAL) error = 0; /* it does not tell */
  if (ftruncate(file, 0) != 0 && !error) error = errno;
  (void)close(file);
  if (error) (void)unlink(path);
  return error;
}

/* A file that does not fit into memory: straight to the disk, under another name. */
static scree_Status write_large(const char *path, const scree_Journal *journal,
                                scree_ResultsPack *pack, const scree_ResultsSizes *sizes,
                                const scree_ResultsHead *head, const scree_World *world,
                                scree_Poll *poll, const scree_Log *log) {
  const size_t length = strlen(path) + 8;
  char *part = SCREE_ALLOC(char, length);
  if (!part) return scree_fail_memory(log, path);
  snprintf(part, length, "%s.part", path);
  /* the journal has all numbers; compression makes them less */
  const int error = try_room(part, journal->length + (1 << 20));
  if (error) {
    scree_free(part);
    return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s (%lld bytes are needed)", path,
                      strerror(error), (long long)journal->length);
  }
  H5E_auto2_t function = NULL;
  void *user = NULL;
  H5Eget_auto2(H5E_DEFAULT, &function, &user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fcreate(part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  scree_Status status = SCREE_MACHINE;
  if (file >= 0) status = write_content(file, path, pack, sizes, head, world, poll, log);
  if (file >= 0 && H5Fclose(file) < 0 && status == SCREE_OK) file = -1, status = SCREE_MACHINE;
  if (file < 0) status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written", path);
  H5Eset_auto2(H5E_DEFAULT, function, user);
  if (status == SCREE_OK)
    status = scree_file_settle(part, path, log);
  else
    (void)unlink(part);
  scree_free(part);
  return status;
}

static scree_Status write_file(const char *path, const scree_Journal *journal,
                               scree_ResultsPack *pack, const scree_ResultsHead *head,
                               const scree_World *world, int64_t memory, scree_Poll *poll,
                               const scree_Log *log) {
  scree_ResultsSizes sizes;
  scree_Status status = scree_pack_update(pack, journal, NULL, poll, log);
  if (status != SCREE_OK) return status;
  status = scree_results_sizes(journal, world, head->bodies, NULL, &sizes, log);
  if (status == SCREE_OK && journal->length > memory) {
    status = write_large(path, journal, pack, &sizes, head, world, poll, log);
  } else if (status == SCREE_OK) {
    scree_H5 h5;
    status = scree_h5_create(&h5, path, NULL, log);
    if (status == SCREE_OK) {
      status = write_content(h5.file, path, pack, &sizes, head, world, poll, log);
      if (status == SCREE_OK) status = scree_h5_save(&h5);
      scree_h5_close(&h5);
    }
  }
  scree_results_sizes_fini(&sizes);
  return status;
}

/* With chunks that are made for this file alone. */
static scree_Status write_alone(const char *path, const scree_Journal *journal,
                                const scree_ResultsHead *head, const scree_World *world,
                                int64_t memory, scree_Poll *poll, const scree_Log *log) {
  scree_ResultsPack pack;
  scree_Status status = scree_pack_init(&pack, journal->path, head->compression, log);
  if (status != SCREE_OK) return status;
  status = write_file(path, journal, &pack, head, world, memory, poll, log);
  scree_pack_fini(&pack);
  return status;
}

scree_Status scree_results_write_within(const char *path, const scree_Journal *journal,
                                        const scree_ResultsHead *head, const scree_World *world,
                                        int64_t memory, const scree_Log *log) {
  return write_alone(path, journal, head, world, memory, NULL, log);
}

scree_Status scree_results_write(const char *path, const scree_Journal *journal,
                                 const scree_ResultsHead *head, const scree_World *world,
                                 scree_Poll *poll, const scree_Log *log) {
  return write_alone(path, journal, head, world, IN_MEMORY, poll, log);
}

scree_Status scree_results_write_packed(const char *path, const scree_Journal *journal,
                                        scree_ResultsPack *pack, const scree_ResultsHead *head,
                                        const scree_World *world, scree_Poll *poll,
                                        const scree_Log *log) {
  return write_file(path, journal, pack, head, world, IN_MEMORY, poll, log);
}

/* ---- back to a journal -------------------------------------------------------------------------
 */

/* Rows [start, start + count) of a dataset, `width` values each; false when it has other sizes. */
static bool read_rows(const scree_H5 *h5, const char *name, hid_t type, hsize_t start,
                      hsize_t count, hsize_t width, void *values) {
  if (count == 0) return true;
  const hid_t data = scree_h5_has(h5, name) ? H5Dopen2(h5->file, name, H5P_DEFAULT) : -1;
  const hid_t space = data >= 0 ? H5Dget_space(data) : -1;
  hsize_t dims[3] = {0, 1, 1}, first[3] = {start, 0, 0}, many[3] = {count, 1, 1};
  const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;
  bool good = rank >= 1 && rank <= 3 && H5Sget_simple_extent_dims(space, dims, NULL) == rank &&
              start + count <= dims[0];
  /* of N x 3 numbers of a frame the first bodies are read */
  if (good && rank == 3) {
    many[1] = width / dims[2];
    many[2] = dims[2];
    good = dims[2] > 0 && many[1] * many[2] == width && many[1] <= dims[1];
  } else if (good && rank == 2) {
    many[1] = width;
    good = width <= dims[1];
  } else {
    good = good && width == 1;
  }
  const hid_t memory = good ? H5Screate_simple(rank, many, NULL) : -1;
  good = good && memory >= 0 &&
         H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, many, NULL) >= 0 &&
         H5Dread(data, type, memory, space, H5P_DEFAULT, values) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  if (data >= 0) H5Dclose(data);
  return good;
}

/* The rows of one column of frame f, contacts from row `contact` on; `work` has room for them. */
static bool scatter(const scree_H5 *h5, const scree_ResultsColumn *column, int f, int64_t contact,
                    scree_Frame *frame, char *work) {
  char *first;
  size_t stride;
  const int rows = scree_column_find(column, frame, &first, &stride);
  const hsize_t n = (hsize_t)rows, width = (hsize_t)column->count;
  const bool list = column->rows >= SCREE_ROWS_CONTACT;
  const size_t size = scree_column_size(column) * (size_t)column->count;
  if (rows == 0) return true;
  if (!(list ? read_rows(h5, column->name, scree_column_memory(column), (hsize_t)contact, n, width,
                         work)
             : read_rows(h5, column->name, scree_column_memory(column), (hsize_t)f, 1, n * width,
                         work)))
    return false;
  for (int k = 0; k < rows; ++k) memcpy(first + (size_t)k * stride, work + (size_t)k * size, size);
  return true;
}

static void fill_unknown(const scree_ResultsColumn *column, scree_Frame *frame) {
  char *first;
  size_t stride;
  const size_t rows = (size_t)scree_column_find(column, frame, &first, &stride);
  double *values = (double *)(void *)first;
  for (size_t k = 0; k < rows * (size_t)column->count; ++k) values[k] = NAN;
}

static bool read_frame(const scree_H5 *h5, int f, const int64_t *offset, scree_Frame *frame,
                       char **work, size_t *capacity) {
  scree_FrameHead *head = &frame->head;
  memset(head, 0, sizeof *head);
  const int64_t contacts = offset[f + 1] - offset[f];
  bool good = offset[f] >= 0 && contacts >= 0 && contacts < INT32_MAX &&
              scree_grow((void **)work, capacity, sizeof *head, 1);
  const bool nodes = scree_h5_has(h5, "/frames/node_count");
  for (int k = 0; k < SCREE_COLUMNS && good; ++k) {
    const scree_ResultsColumn *column = &scree_columns[k];
    if (column->rows != SCREE_ROWS_FRAME) continue;
    if (column->offset == offsetof(scree_FrameHead, nodes) && !nodes) continue;
    good = scatter(h5, column, f, 0, frame, *work);
  }
  good = good && head->bodies >= 0 && head->nodes >= 0;
  if (!good) return false;
  head->contacts = (int32_t)contacts;
  head->deforms = scree_h5_has(h5, "/frames/stretch");
  head->affine = scree_h5_has(h5, "/frames/gradient");
  head->remembers = scree_h5_has(h5, "/contacts/bond");
  hsize_t joints[3] = {0, 0, 0};
  if (scree_frames_extent(h5, "/frames/joint_position", 3, joints)) head->joints = (int)joints[1];
  const int counts[4] = {head->bodies, head->contacts, head->joints, head->nodes};
  size_t most = 0;
  for (int k = 0; k < 4; ++k) most = most < (size_t)counts[k] ? (size_t)counts[k] : most;
  good = scree_frame_make_room(frame) && scree_grow((void **)work, capacity, 160 * most + 1, 1);
  if (good) memset(frame->contact, 0, (size_t)contacts * sizeof *frame->contact);
  for (int k = 0; k < SCREE_COLUMNS && good; ++k) {
    const scree_ResultsColumn *column = &scree_columns[k];
    if (column->rows == SCREE_ROWS_FRAME) continue;
    if (column->rows >= SCREE_ROWS_MEMORY && !head->remembers) continue;
    if ((column->rows == SCREE_ROWS_NODE || column->rows == SCREE_ROWS_LAW) &&
        !scree_h5_has(h5, column->name)) {
      fill_unknown(column, frame); /* in files of earlier versions */
      continue;
    }
    good = scatter(h5, column, f, offset[f], frame, *work);
  }
  return good;
}

scree_Status scree_results_to_journal(const char *path, scree_Journal *journal, int frames,
                                      const scree_Log *log) {
  scree_H5 h5;
  scree_Frame frame = {0};
  char *work = NULL;
  size_t capacity = 0;
  scree_Status status = scree_h5_open(&h5, path, log);
  if (status != SCREE_OK) return status;
  int64_t *offset = SCREE_ALLOC(int64_t, (size_t)frames + 1);
  bool good = offset && read_rows(&h5, "/frames/contact_offset", H5T_NATIVE_INT64, 0,
                                  (hsize_t)frames + 1, 1, offset);
  for (int f = 0; f < frames && good && status == SCREE_OK; ++f) {
    good = read_frame(&h5, f, offset, &frame, &work, &capacity);
    if (good) status = scree_journal_append(journal, &frame, log);
  }
  if (!good)
    status = scree_fail(log, SCREE_BAD_INPUT,
                        "%s: cannot be read back, expected %d frames: the file is damaged, or "
                        "there is not enough memory",
                        path, frames);
  scree_frame_fini(&frame);
  scree_free(work);
  scree_free(offset);
  scree_h5_close(&h5);
  return status;
}
