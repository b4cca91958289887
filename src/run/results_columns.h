/* The datasets of results.h5 whose rows come from frames, and where their numbers are in a frame.
 */
#ifndef SCREE_RUN_RESULTS_COLUMNS_H
#define SCREE_RUN_RESULTS_COLUMNS_H

#include "run/results_frame.h"

/* What a dataset has a row for. */
typedef enum scree_ColumnRows {
  SCREE_ROWS_FRAME,    /* F [x count] */
  SCREE_ROWS_BODY,     /* F x N x count */
  SCREE_ROWS_STRETCH,  /* the same, if some bodies deform */
  SCREE_ROWS_GRADIENT, /* the same, if some are pseudo-rigid */
  SCREE_ROWS_NODE,     /* F x P x count; `offset`: numbers that each node has before these */
  SCREE_ROWS_JOINT,    /* F x J [x count] */
  SCREE_ROWS_CONTACT,  /* C [x count]: the contacts of all frames */
  SCREE_ROWS_MEMORY,   /* the same, if some law has a memory */
  SCREE_ROWS_LAW       /* the same: that memory itself */
} scree_ColumnRows;

typedef struct scree_ResultsColumn {
  const char *name;
  scree_ColumnRows rows;
  size_t offset; /* of the first number in the record of a row */
  int count;     /* numbers in a row */
  char type;     /* d double, i int32, u uint32, l int64, s int32 kept in 8 bits */
} scree_ResultsColumn;

enum { SCREE_COLUMNS = 70 };
extern const scree_ResultsColumn scree_columns[SCREE_COLUMNS];

/* How many rows a frame has, and whether some datasets are there. */
typedef struct scree_ColumnSizes {
  int bodies, nodes, joints;
  bool deforms, affine, remembers;
} scree_ColumnSizes;

/* The sizes of all frames up to this one. */
void scree_column_sizes_add(scree_ColumnSizes *sizes, const scree_FrameHead *head);

bool scree_column_is_there(const scree_ResultsColumn *column, const scree_ColumnSizes *sizes);
/* Rows that follow each other within a frame and are padded to the same number in all of them: 0
 * for frames and contacts. */
int scree_column_items(const scree_ResultsColumn *column, const scree_ColumnSizes *sizes);
/* Bytes of one number in the file, and in a record. */
size_t scree_column_value(const scree_ResultsColumn *column);
size_t scree_column_size(const scree_ResultsColumn *column);

/* Rows of the column in a frame; the first number of the first row and the distance of rows. */
int scree_column_find(const scree_ResultsColumn *column, scree_Frame *frame, char **first,
                      size_t *stride);

#endif
