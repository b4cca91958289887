/* results.h5 by all ranks (see results_shared.h).
 *
 * Every rank reads what it writes from the journal, which all have written. The numbers of frames
 * are cut into units that are whole chunks, which ranks take in turn; a round of units is one
 * collective write of each dataset. Compressed chunks can be written by several processes in this
 * way alone, since HDF5 must agree on their places.
 *
 * On a full disk Open MPI's collective writes leave ranks waiting for each other, and HDF5 1.10
 * ends the program in MPI_Finalize where it could not close a file. So before it begins the disk
 * must have room for all numbers, uncompressed. */
#define _POSIX_C_SOURCE 200809L
#include "run/results_shared.h"

#include "core/log.h"
#include "core/memory.h"
#include "parallel/mpi_ranks.h"
#include "run/results_file.h"
#include "run/results_pack.h"
#include "run/results_sizes.h"
#include "run/shared_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Blocks of items (bodies, joints) in a unit at most, and contacts. A unit is about 7 MB of
 * records. */
enum { BLOCKS = 16, CONTACTS = 32768 };

/* Bytes of the file: heads of datasets, what is written once for each body and node, and all
 * frames. They
 * were 1.2 times those of the journal without compression. */
static const double heads = 1e6, body_once = 512, node_once = 256, frames_part = 1.5;

bool scree_results_can_share(void) {
  return true;
}

typedef struct Shared {
  scree_ResultsWriter writer;
  scree_ResultsSizes sizes;
  const scree_Journal *journal;
  const scree_Ranks *ranks;
  scree_Poll *poll;
  int64_t *record;                       /* (frames) where they begin in the journal */
  scree_FrameHead *head;                 /* (frames) */
  scree_ResultsData data[SCREE_COLUMNS]; /* of items and contacts */
  char *rows, *numbers;                  /* of a unit: records, and a column of them */
  size_t row_capacity, number_capacity;
} Shared;

/* ---- reading the journal -----------------------------------------------------------------------
 */

static scree_Status read_heads(Shared *s, const scree_Log *log) {
  const int frames = s->sizes.frames, size = scree_ranks_count(s->ranks);
  scree_Status status = SCREE_OK;
  int64_t at = 0;
  s->record = SCREE_ALLOC(int64_t, frames);
  s->head = SCREE_ALLOC(scree_FrameHead, frames);
  if (!s->record || !s->head) status = scree_fail_memory(log, "the frames of the results");
  for (int f = 0; f < frames && status == SCREE_OK; ++f) {
    bool end = false;
    s->record[f] = at;
    status = scree_journal_skip(s->journal, &at, &s->head[f], &end, log);
    /* each frame is verified by one rank */
    const bool mine = f % size == scree_ranks_rank(s->ranks);
    if (status == SCREE_OK && (end || (mine && !scree_journal_is_whole(s->journal, s->record[f]))))
      status = scree_fail(log, SCREE_BAD_INPUT,
                          "%s: frame %d is damaged, expected a record with its checksum",
                          s->journal->path, f);
  }
  return scree_ranks_agree(s->ranks, status, log);
}

static bool make_room(Shared *s, size_t rows, size_t bytes) {
  return scree_grow((void **)&s->rows, &s->row_capacity, rows * bytes + 1, 1) &&
         scree_grow((void **)&s->numbers, &s->number_capacity,
                    rows * SCREE_CONTACT_MEMORY * sizeof(double) + 1, 1);
}

/* ---- datasets ----------------------------------------------------------------------------------
 */

/* Numbers of each body, node or joint of a frame. */
static bool is_item(const scree_ResultsColumn *column) {
  return column->rows == SCREE_ROWS_BODY || column->rows == SCREE_ROWS_STRETCH ||
         column->rows == SCREE_ROWS_GRADIENT || column->rows == SCREE_ROWS_NODE ||
         column->rows == SCREE_ROWS_JOINT;
}

/* How many items of this kind there are, in all frames or in one. */
static int items_of(const Shared *s, scree_ColumnRows rows) {
  return rows == SCREE_ROWS_JOINT  ? s->sizes.rows.joints
         : rows == SCREE_ROWS_NODE ? s->sizes.rows.nodes
                                   : s->sizes.bodies;
}

static int items_in(const scree_FrameHead *head, scree_ColumnRows rows) {
  return rows == SCREE_ROWS_JOINT  ? head->joints
         : rows == SCREE_ROWS_NODE ? head->nodes
                                   : head->bodies;
}

static bool is_contact(const scree_ResultsColumn *column) {
  return column->rows == SCREE_ROWS_CONTACT || column->rows == SCREE_ROWS_MEMORY ||
         column->rows == SCREE_ROWS_LAW;
}

static scree_ResultsData open_column(Shared *s, const scree_ResultsColumn *column) {
  int64_t rows, items;
  scree_pack_extents(column, &s->sizes.rows, &rows, &items);
  const bool item = is_item(column), contacts = is_contact(column);
  const hsize_t count = (hsize_t)(contacts ? s->sizes.offset[s->sizes.frames] : s->sizes.frames);
  hsize_t extent[3] = {count, (hsize_t)column->count, 0};
  hsize_t chunk[3] = {(hsize_t)rows, (hsize_t)column->count, 0};
  int rank = column->count > 1 ? 2 : 1;
  if (item) {
    ++rank;
    extent[1] = (hsize_t)items_of(s, column->rows);
    chunk[1] = (hsize_t)items;
    extent[2] = chunk[2] = (hsize_t)column->count;
  }
  return scree_results_chunked(&s->writer, column->name, scree_column_disk(column), rank, extent,
                               item && items == 0 ? NULL : chunk, item);
}

/* Numbers that a frame has once: those of rank 0. */
static void write_frame_column(Shared *s, const scree_ResultsColumn *column) {
  const size_t frames = (size_t)s->sizes.frames;
  const bool first = scree_ranks_rank(s->ranks) == 0;
  scree_ResultsData data = open_column(s, column);
  s->writer.good = s->writer.good && make_room(s, frames, 0);
  if (s->writer.good && first)
    scree_pack_gather(column, (const char *)s->head + column->offset, sizeof *s->head,
                      (int64_t)frames, s->numbers);
  scree_results_put_rows(&s->writer, data, 0, first ? (hsize_t)frames : 0, s->numbers);
}

/* ---- items -------------------------------------------------------------------------------------
 */

/* Frames frame .. frame + frames - 1 of items item .. item + items - 1. */
typedef struct Unit {
  int frame, frames, item, items;
} Unit;

/* Unit k of `all` items, which is empty behind the last one. */
static Unit unit_of(const Shared *s, int all, int64_t k, int64_t rows, int64_t span) {
  const int64_t spans = (all + span - 1) / span;
  const int64_t frame = k / spans * rows, item = k % spans * span;
  if (frame >= s->sizes.frames) return (Unit){0};
  const int64_t frames = s->sizes.frames - frame, items = all - item;
  return (Unit){(int)frame, (int)(frames < rows ? frames : rows), (int)item,
                (int)(items < span ? items : span)};
}

/* Bytes that frame f has of kind `rows` for an item, 0: none; and where these begin. Nodes have no
 * records, but each of their columns is together. */
static int64_t bytes_of_item(const Shared *s, const scree_ResultsColumn *column, int f,
                             int64_t *at) {
  const scree_ColumnRows rows = column->rows;
  const scree_FrameHead *head = &s->head[f];
  const int64_t number = (int64_t)sizeof(double);
  const int64_t body = (int64_t)sizeof(scree_FrameBody);
  const int64_t stretch = head->deforms ? SCREE_FRAME_STRETCH * number : 0;
  *at = scree_journal_bodies(s->record[f]);
  if (rows == SCREE_ROWS_BODY) return body;
  *at += head->bodies * body + head->contacts * (int64_t)sizeof(scree_FrameContact);
  if (rows == SCREE_ROWS_STRETCH) return stretch;
  *at += head->bodies * stretch;
  const int64_t gradient = head->affine ? SCREE_FRAME_GRADIENT * number : 0;
  if (rows == SCREE_ROWS_GRADIENT) return gradient;
  *at += head->bodies * gradient;
  if (rows == SCREE_ROWS_NODE) {
    *at += (int64_t)column->offset * head->nodes * number;
    return column->count * number;
  }
  *at += 12 * number * head->nodes;
  return (int64_t)sizeof(scree_FrameJoint);
}

/* Items of frame f in the unit that have something of this kind. */
static int items_there(const Shared *s, const Unit *u, const scree_ResultsColumn *column, int f) {
  int64_t at;
  const int left = items_in(&s->head[u->frame + f], column->rows) - u->item;
  if (bytes_of_item(s, column, u->frame + f, &at) == 0) return 0;
  return left < 0 ? 0 : left < u->items ? left : u->items;
}

static size_t most_bytes(const scree_ResultsColumn *column) {
  const scree_ColumnRows rows = column->rows;
  return rows == SCREE_ROWS_BODY      ? sizeof(scree_FrameBody)
         : rows == SCREE_ROWS_JOINT   ? sizeof(scree_FrameJoint)
         : rows == SCREE_ROWS_NODE    ? (size_t)column->count * sizeof(double)
         : rows == SCREE_ROWS_STRETCH ? SCREE_FRAME_STRETCH * sizeof(double)
                                      : SCREE_FRAME_GRADIENT * sizeof(double);
}

static bool read_items(Shared *s, const Unit *u, const scree_ResultsColumn *column) {
  const size_t each = most_bytes(column);
  if (!make_room(s, (size_t)u->frames * (size_t)u->items, each)) return false;
  for (int f = 0; f < u->frames; ++f) {
    int64_t at;
    const int64_t bytes = bytes_of_item(s, column, u->frame + f, &at);
    if (!scree_read_all(s->journal->file, s->rows + (size_t)f * (size_t)u->items * each,
                        (size_t)items_there(s, u, column, f) * each, at + u->item * bytes))
      return false;
  }
  return true;
}

/* The numbers of a column, NaN where there is no body yet; of joints there are all. */
static void gather_items(Shared *s, const Unit *u, const scree_ResultsColumn *column) {
  const size_t width = (size_t)column->count, n = (size_t)u->items;
  const size_t bytes = column->type == 's' ? 1 : width * scree_column_size(column);
  for (int f = 0; f < u->frames; ++f) {
    const size_t each = most_bytes(column);
    const char *first =
        s->rows + (size_t)f * n * each + (column->rows == SCREE_ROWS_NODE ? 0 : column->offset);
    char *out = s->numbers + (size_t)f * n * bytes;
    const int there = items_there(s, u, column, f);
    scree_pack_gather(column, first, each, there, out);
    if (column->type != 'd') continue;
    double *values = (double *)(void *)out;
    for (size_t k = (size_t)there * width; k < n * width; ++k) values[k] = NAN;
  }
}

/* The columns of one kind of numbers of items, which have the same chunks; or of these the one
 * column `only`. */
static scree_Status write_items(Shared *s, scree_ColumnRows kind, int only) {
  const int64_t size = scree_ranks_count(s->ranks), rank = scree_ranks_rank(s->ranks);
  const int all = items_of(s, kind);
  int64_t rows = 1, items = 0;
  const scree_ResultsColumn *one = NULL;
  for (int k = 0; k < SCREE_COLUMNS && items == 0; ++k)
    if (scree_columns[k].rows == kind && (only < 0 || k == only) &&
        scree_column_is_there(&scree_columns[k], &s->sizes.rows)) {
      one = &scree_columns[k];
      scree_pack_extents(one, &s->sizes.rows, &rows, &items);
    }
  if (!one || items == 0) return SCREE_OK;
  const int64_t blocks = (all + items - 1) / items, share = (blocks + size - 1) / size;
  const int64_t span = items * (share < BLOCKS ? share : BLOCKS);
  const int64_t units = (s->sizes.frames + rows - 1) / rows * ((all + span - 1) / span);
  for (int64_t first = 0; first < units; first += size) {
    if (scree_ranks_any(s->ranks, scree_poll(s->poll))) return SCREE_INTERRUPTED;
    const Unit u = unit_of(s, all, first + rank, rows, span);
    if (u.frames > 0) s->writer.good = s->writer.good && read_items(s, &u, one);
    for (int k = 0; k < SCREE_COLUMNS; ++k) {
      if (scree_columns[k].rows != kind || (only >= 0 && k != only)) continue;
      if (s->writer.good && u.frames > 0) gather_items(s, &u, &scree_columns[k]);
      const hsize_t start[3] = {(hsize_t)u.frame, (hsize_t)u.item, 0};
      const hsize_t count[3] = {(hsize_t)u.frames, (hsize_t)u.items,
                                (hsize_t)scree_columns[k].count};
      scree_results_put_block(&s->writer, &s->data[k], start, count, s->numbers);
    }
  }
  return SCREE_OK;
}

/* ---- contacts ----------------------------------------------------------------------------------
 */

/* What frames have of contacts first .. first + count - 1 of all frames: `each` bytes a contact;
 * `law`: the memory of laws, behind the contacts. */
static bool read_contacts(Shared *s, int64_t first, int64_t count, bool law, int64_t each,
                          char *to) {
  const int64_t *offset = s->sizes.offset;
  for (int f = 0; f < s->sizes.frames; ++f) {
    const int64_t from = offset[f] > first ? offset[f] : first;
    const int64_t end = offset[f + 1] < first + count ? offset[f + 1] : first + count;
    if (from >= end) continue;
    const int64_t contacts =
        scree_journal_bodies(s->record[f]) + s->head[f].bodies * (int64_t)sizeof(scree_FrameBody);
    int64_t behind; /* of contacts, and of what bodies have besides: joints */
    const scree_ResultsColumn joint = {.rows = SCREE_ROWS_JOINT};
    const int64_t each_joint = bytes_of_item(s, &joint, f, &behind);
    const int64_t rows = law ? behind + each_joint * s->head[f].joints : contacts;
    const size_t bytes = (size_t)((end - from) * each);
    char *place = to + (from - first) * each;
    if (law && !s->head[f].remembers)
      memset(place, 0, bytes);
    else if (!scree_read_all(s->journal->file, place, bytes, rows + (from - offset[f]) * each))
      return false;
  }
  return true;
}

/* The numbers of a column for these contacts. */
static bool gather_contacts(Shared *s, const scree_ResultsColumn *column, int64_t first,
                            int64_t count) {
  const int64_t each = SCREE_CONTACT_MEMORY * (int64_t)sizeof(double);
  if (column->rows == SCREE_ROWS_LAW) return read_contacts(s, first, count, true, each, s->numbers);
  scree_pack_gather(column, s->rows + column->offset, sizeof(scree_FrameContact), count,
                    s->numbers);
  return true;
}

static scree_Status write_contacts(Shared *s) {
  const int64_t size = scree_ranks_count(s->ranks), rank = scree_ranks_rank(s->ranks);
  const int64_t all = s->sizes.frames > 0 ? s->sizes.offset[s->sizes.frames] : 0;
  for (int64_t round = 0; round < all; round += size * CONTACTS) {
    if (scree_ranks_any(s->ranks, scree_poll(s->poll))) return SCREE_INTERRUPTED;
    const int64_t first = round + rank * CONTACTS, left = all - first;
    const int64_t count = left < 0 ? 0 : left < CONTACTS ? left : CONTACTS;
    const int64_t each = sizeof(scree_FrameContact);
    if (count > 0)
      s->writer.good = s->writer.good && make_room(s, (size_t)count, (size_t)each) &&
                       read_contacts(s, first, count, false, each, s->rows);
    for (int k = 0; k < SCREE_COLUMNS; ++k) {
      const scree_ResultsColumn *column = &scree_columns[k];
      if (!is_contact(column) || !scree_column_is_there(column, &s->sizes.rows)) continue;
      if (s->writer.good && count > 0) s->writer.good = gather_contacts(s, column, first, count);
      const hsize_t start[3] = {(hsize_t)first, 0, 0};
      const hsize_t many[3] = {(hsize_t)count, (hsize_t)column->count, 0};
      scree_results_put_block(&s->writer, &s->data[k], start, many, s->numbers);
    }
  }
  return SCREE_OK;
}

/* ---- the file ----------------------------------------------------------------------------------
 */

/* Whether the disk of the run has room for the file. */
static scree_Status find_room(const Shared *s, const char *path, const scree_Log *log) {
  struct statvfs disk;
  scree_Status status = SCREE_OK;
  const double need = heads + body_once * s->sizes.bodies + node_once * s->sizes.rows.nodes +
                      frames_part * (double)s->journal->length;
  if (scree_ranks_rank(s->ranks) == 0 && fstatvfs(s->journal->file, &disk) == 0) {
    const double room = (double)disk.f_bavail * (double)disk.f_frsize;
    if (room < need)
      status = scree_fail(log, SCREE_MACHINE,
                          "%s: cannot be written: the disk has %.1f MB left, expected %.1f MB or "
                          "more",
                          path, 1e-6 * room, 1e-6 * need);
  }
  return scree_ranks_agree(s->ranks, status, log);
}

static scree_Status write_content(Shared *s, const char *path, const scree_ResultsHead *head,
                                  const scree_World *world, const scree_Log *log) {
  scree_Status status = SCREE_OK;
  scree_results_write_world(&s->writer, head, world, &s->sizes.table, s->sizes.first,
                            s->sizes.last);
  scree_results_frame_groups(&s->writer);
  for (int k = 0; k < SCREE_COLUMNS; ++k) {
    const scree_ResultsColumn *column = &scree_columns[k];
    if (!scree_column_is_there(column, &s->sizes.rows)) continue;
    if (column->rows == SCREE_ROWS_FRAME)
      write_frame_column(s, column);
    else
      s->data[k] = open_column(s, column);
  }
  status = write_items(s, SCREE_ROWS_BODY, -1);
  if (status == SCREE_OK) status = write_items(s, SCREE_ROWS_STRETCH, -1);
  if (status == SCREE_OK) status = write_items(s, SCREE_ROWS_GRADIENT, -1);
  for (int k = 0; k < SCREE_COLUMNS && status == SCREE_OK; ++k) /* each has chunks of its own */
    if (scree_columns[k].rows == SCREE_ROWS_NODE || scree_columns[k].rows == SCREE_ROWS_JOINT)
      status = write_items(s, scree_columns[k].rows, k);
  if (status == SCREE_OK) status = write_contacts(s);
  for (int k = 0; k < SCREE_COLUMNS; ++k)
    if (s->data[k].id > 0) H5Dclose(s->data[k].id);
  if (status != SCREE_OK) return status;
  if (s->sizes.removed) scree_results_alive(&s->writer, &s->sizes);
  scree_results_contact_offsets(&s->writer, &s->sizes);
  if (!scree_results_ready(&s->writer))
    status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written: memory or disk is full", path);
  return status;
}

static hid_t create(const char *part, const scree_Ranks *ranks) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  hid_t file = -1;
  if (access >= 0 && H5Pset_fapl_mpio(access, ranks->comm, MPI_INFO_NULL) >= 0)
    file = H5Fcreate(part, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (access >= 0) H5Pclose(access);
  return file;
}

static scree_Status write_file(Shared *s, const char *part, const char *path,
                               const scree_ResultsHead *head, const scree_World *world,
                               const scree_Log *log) {
  scree_Status status = read_heads(s, log);
  if (status != SCREE_OK) return status;
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER), file = create(part, s->ranks);
  s->writer = (scree_ResultsWriter){.file = file,
                                    .compression = head->compression,
                                    .good = true,
                                    .ranks = s->ranks,
                                    .transfer = transfer};
  if (file < 0 || transfer < 0 || H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE) < 0)
    status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written", path);
  status = scree_ranks_agree(s->ranks, status, log);
  if (status == SCREE_OK) status = write_content(s, path, head, world, log);
  if (file >= 0 && H5Fclose(file) < 0 && status == SCREE_OK)
    status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written", path);
  if (transfer >= 0) H5Pclose(transfer);
  return scree_ranks_agree(s->ranks, status, log);
}

scree_Status scree_results_write_shared(const char *path, const scree_Journal *journal,
                                        const scree_ResultsHead *head, const scree_World *world,
                                        const scree_Ranks *ranks, scree_Poll *poll,
                                        const scree_Log *log) {
  Shared s = {.journal = journal, .ranks = ranks, .poll = poll};
  const bool first = scree_ranks_rank(ranks) == 0;
  const size_t length = strlen(path) + 8;
  char *part = SCREE_ALLOC(char, length);
  scree_Status status = scree_results_sizes(journal, world, head->bodies, ranks, &s.sizes, log);
  if (!part && status == SCREE_OK) status = scree_fail_memory(log, path);
  status = scree_ranks_agree(ranks, status, log);
  if (status == SCREE_OK) status = find_room(&s, path, log);
  if (status == SCREE_OK && part) {
    snprintf(part, length, "%s.part", path);
    H5E_auto2_t function = NULL;
    void *user = NULL;
    H5Eget_auto2(H5E_DEFAULT, &function, &user);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    status = write_file(&s, part, path, head, world, log);
    H5Eset_auto2(H5E_DEFAULT, function, user);
    if (first && status == SCREE_OK) status = scree_file_settle(part, path, log);
    if (first && status != SCREE_OK) (void)unlink(part);
    status = scree_ranks_agree(ranks, status, log);
  }
  scree_results_sizes_fini(&s.sizes);
  scree_free(s.record);
  scree_free(s.head);
  scree_free(s.rows);
  scree_free(s.numbers);
  scree_free(part);
  return status;
}
