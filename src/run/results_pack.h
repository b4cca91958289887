/* The chunks of results.h5, made while the run goes on: the numbers of frames, column by column
 * (results_columns.h), compressed as soon as a chunk is full, so that each is compressed once
 * although results.h5 is written several times. HDF5 is not used: another thread may do this.
 *
 * Chunks are kept in a file without a name in the folder of the run. The system deletes it when the
 * process ends, and a resumed run makes the chunks again from the journal. Their extents depend on
 * the frames alone, so that results.h5 has the same bytes whether or not a run was interrupted. */
#ifndef SCREE_RUN_RESULTS_PACK_H
#define SCREE_RUN_RESULTS_PACK_H

#include "core/poll.h"
#include "run/deflate.h"
#include "run/results_columns.h"

/* Where a chunk starts in its dataset and in the file. */
typedef struct scree_ResultsPackChunk {
  int64_t row, item; /* first index of the dataset, and second if it is the number of an item */
  int64_t offset;
  size_t size;
} scree_ResultsPackChunk;

typedef struct scree_ResultsPackColumn {
  int64_t rows, items; /* of a chunk: frames and items; frames or contacts, and 0 */
  char *tile;          /* numbers of the chunk that is being filled */
  size_t bytes;        /* of a chunk; 0: the dataset is not there */
  int64_t filled;      /* rows of it */
  int64_t done;        /* rows before it */
  scree_ResultsPackChunk *chunk;
  size_t count, capacity;
} scree_ResultsPackColumn;

typedef struct scree_ResultsPack {
  const char *path; /* of the journal, for messages */
  int file;
  int64_t length; /* bytes of chunks in the file */
  int64_t offset; /* where the next frame begins in the journal */
  int frames;
  scree_ColumnSizes sizes; /* of the frames so far */
  scree_ResultsPackColumn column[SCREE_COLUMNS];
  scree_Deflate *deflate;
  scree_Frame frame; /* the last one that was read back */
} scree_ResultsPack;

/* `journal` is the path of the journal; compression 0 to 9. */
scree_Status scree_pack_init(scree_ResultsPack *pack, const char *journal, int compression,
                             const scree_Log *log);
void scree_pack_fini(scree_ResultsPack *pack);

/* Take all frames of the journal that are not packed yet. SCREE_INTERRUPTED when `poll` (or null),
 * asked before each frame, says stop; the next call goes on. `last` is the last frame of the
 * journal, if it is at hand, or null. */
scree_Status scree_pack_update(scree_ResultsPack *pack, const scree_Journal *journal,
                               scree_Frame *last, scree_Poll *poll, const scree_Log *log);

/* Compressed numbers of chunk k of a column, or, for k = count, of the chunk that is not full yet:
 * where it starts, and its bytes, which stay until the next call. */
scree_Status scree_pack_chunk(scree_ResultsPack *pack, int column, size_t k,
                              scree_ResultsPackChunk *chunk, const void **data,
                              const scree_Log *log);
/* Number of chunks, the last one included. */
size_t scree_pack_count(const scree_ResultsPackColumn *column);

/* Extents of the chunks of a column: rows (frames or contacts), and items of a frame or 0. */
void scree_pack_extents(const scree_ResultsColumn *column, const scree_ColumnSizes *sizes,
                        int64_t *rows, int64_t *items);
/* The numbers of `rows` rows side by side, as they are in the file. */
void scree_pack_gather(const scree_ResultsColumn *column, const char *first, size_t stride,
                       int64_t rows, char *out);

#endif
