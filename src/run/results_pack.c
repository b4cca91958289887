/* Chunks of results.h5 (see results_pack.h).
 *
 * Extents of chunks are powers of two of at most 128 kB. Datasets with a row for each frame or each
 * contact grow during the run, and a chunk is a number of their rows. In datasets of items (bodies,
 * joints, nodes) a chunk has either all items of several frames or a part of the items of one. When
 * the number of items has grown so far that the extents change, or datasets are added, all chunks
 * are packed again. */
#define _POSIX_C_SOURCE 200809L
#include "run/results_pack.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/results_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const size_t CHUNK_BYTES = 131072;
static const int64_t FRAME_ROWS = 512; /* of a chunk of numbers that a frame has once */

static scree_Status fail_file(const scree_ResultsPack *pack, int error, const scree_Log *log) {
  return scree_fail(log, SCREE_MACHINE, "chunks of results.h5 beside %s: cannot be written: %s",
                    pack->path, strerror(error));
}

/* A file without a name: created beside the journal, and unlinked. */
static int open_file(const char *journal, int *error) {
  const size_t size = strlen(journal) + 8;
  char *path = SCREE_ALLOC(char, size);
  int file = -1;
  *error = ENOMEM;
  if (path) {
    snprintf(path, size, "%s.pack", journal);
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    *error = errno;
    if (file >= 0) (void)unlink(path);
  }
  scree_free(path);
  return file;
}

scree_Status scree_pack_init(scree_ResultsPack *pack, const char *journal, int compression,
                             const scree_Log *log) {
  int error = 0;
  *pack = (scree_ResultsPack){.path = journal, .deflate = scree_deflate_create(compression)};
  pack->file = open_file(journal, &error);
  if (pack->deflate && pack->file >= 0) return SCREE_OK;
  const scree_Status status = pack->deflate ? fail_file(pack, error, log)
                                            : scree_fail_memory(log, "the compression of results");
  scree_pack_fini(pack);
  return status;
}

static void forget(scree_ResultsPack *pack) {
  for (int k = 0; k < SCREE_COLUMNS; ++k) {
    scree_free(pack->column[k].tile);
    scree_free(pack->column[k].chunk);
    pack->column[k] = (scree_ResultsPackColumn){0};
  }
  pack->length = pack->offset = 0;
  pack->frames = 0;
}

void scree_pack_fini(scree_ResultsPack *pack) {
  forget(pack);
  if (pack->deflate && pack->file >= 0) (void)close(pack->file);
  pack->file = -1;
  scree_deflate_destroy(pack->deflate);
  pack->deflate = NULL;
  scree_frame_fini(&pack->frame);
}

/* ---- extents of chunks ----------------------------------------------------------------------- */

static size_t row_bytes(const scree_ResultsColumn *column) {
  return scree_column_value(column) * (size_t)column->count;
}

/* Largest power of two of rows of so many bytes in a chunk. */
static int64_t most_rows(size_t bytes) {
  int64_t rows = 1;
  while (2 * (size_t)rows * bytes <= CHUNK_BYTES) rows *= 2;
  return rows;
}

void scree_pack_extents(const scree_ResultsColumn *column, const scree_ColumnSizes *sizes,
                        int64_t *rows, int64_t *items) {
  const int64_t most = most_rows(row_bytes(column));
  const int n = scree_column_items(column, sizes);
  *items = 0;
  *rows = column->rows == SCREE_ROWS_FRAME ? FRAME_ROWS : most;
  if (n == 0) return;
  for (*items = 1; *items < n && *items < most;) *items *= 2;
  *rows = most / *items;
}

static bool is_item(const scree_ResultsColumn *column) {
  return column->rows != SCREE_ROWS_FRAME && column->rows < SCREE_ROWS_CONTACT;
}

/* NaN where there is no body; 0 otherwise. */
static void clear_tile(const scree_ResultsColumn *column, scree_ResultsPackColumn *c) {
  memset(c->tile, 0, c->bytes);
  if (!is_item(column) || column->type != 'd') return;
  double *values = (double *)(void *)c->tile;
  for (size_t k = 0; k < c->bytes / sizeof *values; ++k) values[k] = NAN;
}

/* Whether the chunks so far are those of frames of these sizes. */
static bool fits(const scree_ResultsPack *pack, const scree_ColumnSizes *sizes) {
  for (int k = 0; k < SCREE_COLUMNS; ++k) {
    const scree_ResultsColumn *column = &scree_columns[k];
    const scree_ResultsPackColumn *c = &pack->column[k];
    int64_t rows, items;
    scree_pack_extents(column, sizes, &rows, &items);
    const bool there = scree_column_is_there(column, sizes) && (items > 0 || !is_item(column));
    if (there != (c->bytes > 0) || (there && (rows != c->rows || items != c->items))) return false;
  }
  return true;
}

static bool begin(scree_ResultsPack *pack) {
  forget(pack);
  for (int k = 0; k < SCREE_COLUMNS; ++k) {
    const scree_ResultsColumn *column = &scree_columns[k];
    scree_ResultsPackColumn *c = &pack->column[k];
    if (!scree_column_is_there(column, &pack->sizes)) continue;
    scree_pack_extents(column, &pack->sizes, &c->rows, &c->items);
    if (is_item(column) && c->items == 0) continue;
    c->bytes = row_bytes(column) * (size_t)(c->rows * (c->items ? c->items : 1));
    c->tile = SCREE_ALLOC(char, c->bytes);
    if (!c->tile) return false;
    clear_tile(column, c);
  }
  return true;
}

/* ---- packing --------------------------------------------------------------------------------- */

static scree_Status write_chunk(scree_ResultsPack *pack, const scree_ResultsColumn *column,
                                scree_ResultsPackColumn *c, int64_t item, const scree_Log *log) {
  scree_ResultsPackChunk chunk = {.row = c->done, .item = item, .offset = pack->length};
  const void *data = scree_deflate_chunk(pack->deflate, c->tile, c->bytes,
                                         scree_column_value(column), &chunk.size);
  if (!data || !scree_grow((void **)&c->chunk, &c->capacity, c->count + 1, sizeof *c->chunk))
    return scree_fail_memory(log, "the chunks of results.h5");
  int error = lseek(pack->file, pack->length, SEEK_SET) < 0 ? errno : 0;
  if (!error) error = scree_write_all(pack->file, data, chunk.size);
  if (error) return fail_file(pack, error, log);
  pack->length += (int64_t)chunk.size;
  c->chunk[c->count++] = chunk;
  clear_tile(column, c);
  return SCREE_OK;
}

void scree_pack_gather(const scree_ResultsColumn *column, const char *first, size_t stride,
                       int64_t rows, char *out) {
  if (column->type == 's') {
    for (int64_t k = 0; k < rows; ++k) {
      int32_t value;
      memcpy(&value, first + (size_t)k * stride, sizeof value);
      out[k] = (char)value;
    }
    return;
  }
  const size_t size = row_bytes(column);
  if (size == 24) /* most of them: a copy of known length */
    for (int64_t k = 0; k < rows; ++k) memcpy(out + 24 * k, first + (size_t)k * stride, 24);
  else
    for (int64_t k = 0; k < rows; ++k)
      memcpy(out + (size_t)k * size, first + (size_t)k * stride, size);
}

/* Rows of frames or contacts: behind those of the frame before. */
static scree_Status add_rows(scree_ResultsPack *pack, const scree_ResultsColumn *column,
                             scree_ResultsPackColumn *c, const char *first, size_t stride,
                             int64_t rows, const scree_Log *log) {
  scree_Status status = SCREE_OK;
  for (int64_t at = 0; at < rows && status == SCREE_OK;) {
    const int64_t room = c->rows - c->filled, n = rows - at < room ? rows - at : room;
    scree_pack_gather(column, first + (size_t)at * stride, stride, n,
                      c->tile + (size_t)c->filled * row_bytes(column));
    c->filled += n;
    at += n;
    if (c->filled < c->rows) break;
    status = write_chunk(pack, column, c, 0, log);
    c->done += c->rows;
    c->filled = 0;
  }
  return status;
}

/* Rows of items: all of them in one chunk with those of other frames, or in several chunks. */
static scree_Status add_items(scree_ResultsPack *pack, const scree_ResultsColumn *column,
                              scree_ResultsPackColumn *c, const char *first, size_t stride,
                              int64_t rows, const scree_Log *log) {
  scree_Status status = SCREE_OK;
  if (c->rows > 1) {
    scree_pack_gather(column, first, stride, rows,
                      c->tile + (size_t)(c->filled * c->items) * row_bytes(column));
    if (++c->filled < c->rows) return SCREE_OK;
    status = write_chunk(pack, column, c, 0, log);
  } else {
    for (int64_t at = 0; at < rows && status == SCREE_OK; at += c->items) {
      const int64_t n = rows - at < c->items ? rows - at : c->items;
      scree_pack_gather(column, first + (size_t)at * stride, stride, n, c->tile);
      status = write_chunk(pack, column, c, at, log);
    }
  }
  c->done += c->rows;
  c->filled = 0;
  return status;
}

static scree_Status add_frame(scree_ResultsPack *pack, scree_Frame *frame, const scree_Log *log) {
  scree_Status status = SCREE_OK;
  for (int k = 0; k < SCREE_COLUMNS && status == SCREE_OK; ++k) {
    const scree_ResultsColumn *column = &scree_columns[k];
    scree_ResultsPackColumn *c = &pack->column[k];
    if (c->bytes == 0) continue;
    char *first;
    size_t stride;
    const int rows = scree_column_find(column, frame, &first, &stride);
    status = is_item(column) ? add_items(pack, column, c, first, stride, rows, log)
                             : add_rows(pack, column, c, first, stride, rows, log);
  }
  return status;
}

static int64_t record_bytes(const scree_Journal *journal, const scree_Frame *last) {
  return last ? journal->length - scree_journal_record(last) : -1;
}

scree_Status scree_pack_update(scree_ResultsPack *pack, const scree_Journal *journal,
                               scree_Frame *last, scree_Poll *poll, const scree_Log *log) {
  const int64_t at_hand = record_bytes(journal, last);
  while (pack->offset < journal->length) {
    if (scree_poll(poll)) return SCREE_INTERRUPTED;
    int64_t next = pack->offset;
    bool end = false;
    scree_Frame *frame = last;
    if (next == at_hand) {
      next = journal->length;
    } else {
      frame = &pack->frame;
      const scree_Status status = scree_journal_read(journal, &next, frame, &end, log);
      if (status != SCREE_OK) return status;
    }
    if (end || next > journal->length)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "%s: frame %d is damaged, expected a record with its checksum",
                        journal->path, pack->frames);
    scree_column_sizes_add(&pack->sizes, &frame->head);
    if (!fits(pack, &pack->sizes)) { /* also before the first frame */
      const bool first = pack->offset == 0;
      if (!begin(pack)) return scree_fail_memory(log, "the chunks of results.h5");
      if (!first) continue;
    }
    const scree_Status status = add_frame(pack, frame, log);
    if (status != SCREE_OK) { /* part of the frame is packed: begin again next time */
      pack->sizes = (scree_ColumnSizes){0};
      forget(pack);
      return status;
    }
    pack->offset = next;
    ++pack->frames;
  }
  return SCREE_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

size_t scree_pack_count(const scree_ResultsPackColumn *column) {
  return column->count + (column->filled > 0);
}

scree_Status scree_pack_chunk(scree_ResultsPack *pack, int column, size_t k,
                              scree_ResultsPackChunk *chunk, const void **data,
                              const scree_Log *log) {
  scree_ResultsPackColumn *c = &pack->column[column];
  if (k == c->count) {
    *chunk = (scree_ResultsPackChunk){.row = c->done};
    *data = scree_deflate_chunk(pack->deflate, c->tile, c->bytes,
                                scree_column_value(&scree_columns[column]), &chunk->size);
    return *data ? SCREE_OK : scree_fail_memory(log, "the chunks of results.h5");
  }
  *chunk = c->chunk[k];
  void *memory = pack->frame.memory; /* not in use here */
  if (!scree_grow(&memory, &pack->frame.capacity, chunk->size, 1))
    return scree_fail_memory(log, "the chunks of results.h5");
  pack->frame.memory = memory;
  for (size_t done = 0; done < chunk->size;) {
    const ssize_t got = pread(pack->file, (char *)memory + done, chunk->size - done,
                              (off_t)(chunk->offset + (int64_t)done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail_file(pack, got < 0 ? errno : EIO, log);
    done += (size_t)got;
  }
  *data = memory;
  return SCREE_OK;
}
