/* Blocks of the page's data: columns of numbers, quantised, predicted, in byte planes, deflated.
 *
 * A block is a zlib stream. What it holds, all in little-endian order:
 *     "SCB2", u32 number of columns, then each column:
 *     char name[64]; u8 type, components, prediction, curve; u32 frames, count, 0;
 *     f64 scale, offset[3]; then frames x components x count numbers, as byte planes: first the
 *     lowest byte of every number, then the next, and so on.
 * A number q stands for offset[component] + scale q, or offset + scale q |q| on a square curve.
 * Prediction between the frames of a column: 0 none; 1 exclusive or with the frame before (bytes);
 * 2 difference to the frame before; 3 second difference (both modulo the type's range, as a signed
 * number r, stored as 2r, or as -2r - 1 when it is negative). */
#ifndef SCREE_VIEW_REPORT_BLOCK_H
#define SCREE_VIEW_REPORT_BLOCK_H

#include "scree/base.h"

#include <stddef.h>
#include <stdint.h>

typedef enum scree_PageColumnType {
  SCREE_COLUMN_U8,
  SCREE_COLUMN_I8,
  SCREE_COLUMN_U16,
  SCREE_COLUMN_I16,
  SCREE_COLUMN_U32,
  SCREE_COLUMN_F32,
  SCREE_COLUMN_F64
} scree_PageColumnType;

typedef struct scree_PageColumn {
  const char *name; /* shorter than 64 */
  scree_PageColumnType type;
  int components;
  size_t frames, count;
  const double *values; /* (frames x components x count) */
  bool square;
  double scale, offset[3]; /* scale > 0 */
} scree_PageColumn;

typedef struct scree_PageBlock {
  unsigned char *bytes;
  size_t size, capacity;
  uint32_t columns;
  bool failed; /* memory ran out */
} scree_PageBlock;

/* Start a block; the memory of an earlier one is used again. */
void scree_block_begin(scree_PageBlock *block);
void scree_block_add(scree_PageBlock *block, const scree_PageColumn *column);
/* A column of numbers as they are. */
void scree_block_put(scree_PageBlock *block, const char *name, scree_PageColumnType type,
                     int components, size_t frames, size_t count, const double *values);
/* Deflate. *bytes (size) is to be freed with scree_free. */
scree_Status scree_block_end(scree_PageBlock *block, const scree_Log *log, unsigned char **bytes,
                             size_t *size);
void scree_block_fini(scree_PageBlock *block);

#endif
