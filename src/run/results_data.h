/* Groups, datasets and attributes of results.h5. After a failure `good` is false and all further
 * calls do nothing, so that the writer checks once, at the end. */
#ifndef SCREE_RUN_RESULTS_DATA_H
#define SCREE_RUN_RESULTS_DATA_H

#include "fclib/fclib_h5.h"
#include "parallel/ranks.h"

/* A dataset that is filled row by row; rank 1 to 3. */
typedef struct scree_ResultsData {
  hid_t id, memory; /* dataset; type of the values in memory */
  int rank;
  hsize_t extent[3];
} scree_ResultsData;

/* With `ranks` all of them write one file: every call is made by all, and data without a range of
 * rows are those of rank 0. */
typedef struct scree_ResultsWriter {
  hid_t file;
  int compression;
  bool good;
  const scree_Ranks *ranks; /* null: this process alone */
  hid_t transfer;           /* collective with `ranks`; 0: the default */
} scree_ResultsWriter;

/* Whether all is well on all ranks, which is the same on all from here on. */
bool scree_results_ready(scree_ResultsWriter *writer);

void scree_results_group(scree_ResultsWriter *writer, const char *name);

/* A dataset of rank 1 to 3 and extent a x b x c, in chunks, compressed; `disk` and `memory` are the
 * types of its values. `fill_nan`: what is not written reads as NaN. */
scree_ResultsData scree_results_data(scree_ResultsWriter *writer, const char *name, hid_t disk,
                                     hid_t memory, int rank, hsize_t a, hsize_t b, hsize_t c,
                                     bool fill_nan);
scree_ResultsData scree_results_reals(scree_ResultsWriter *writer, const char *name, int rank,
                                      hsize_t a, hsize_t b, hsize_t c);

/* A dataset whose chunks, of these extents, are written by the caller, compressed by himself; null:
 * it has none. */
scree_ResultsData scree_results_chunked(scree_ResultsWriter *writer, const char *name, hid_t disk,
                                        int rank, const hsize_t *extent, const hsize_t *chunk,
                                        bool fill_nan);

/* Write a block of `count` from `start`; all values, and close; the values of row `row`. */
void scree_results_put(scree_ResultsWriter *writer, const scree_ResultsData *data,
                       const hsize_t *start, const hsize_t *count, const void *values);
void scree_results_put_all(scree_ResultsWriter *writer, scree_ResultsData data, const void *values);
/* Of several ranks each its own block, or none, whose counts are 0. */
void scree_results_put_block(scree_ResultsWriter *writer, const scree_ResultsData *data,
                             const hsize_t *start, const hsize_t *count, const void *values);
/* Rows first .. first + count - 1 are those of this rank; and close. */
void scree_results_put_rows(scree_ResultsWriter *writer, scree_ResultsData data, hsize_t first,
                            hsize_t count, const void *values);
void scree_results_put_row(scree_ResultsWriter *writer, const scree_ResultsData *data, hsize_t row,
                           const void *values);

/* Bits of /bodies/body_flags. */
enum { SCREE_RESULTS_EXPLICIT = 1, SCREE_RESULTS_CONSISTENT = 2, SCREE_RESULTS_KEEPS_SHAPE = 4 };

/* Texts of equal length, padded with zeros; rank 0 to 2. */
void scree_results_texts(scree_ResultsWriter *writer, const char *name, const char *const *texts,
                         int rank, hsize_t a, hsize_t b);

/* Rows first .. first + count - 1 of `whole`, each at most `width` bytes. */
void scree_results_put_texts(scree_ResultsWriter *writer, const char *name,
                             const char *const *texts, size_t width, hsize_t whole, hsize_t first,
                             hsize_t count);

/* Attributes of the file: `count` values (0: one, a scalar), or a text. */
void scree_results_attribute(scree_ResultsWriter *writer, const char *name, hid_t disk,
                             hid_t memory, int count, const void *value);
void scree_results_text(scree_ResultsWriter *writer, const char *name, const char *text);

#endif
