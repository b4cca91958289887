/* Blocks of the page's data (see report_block.h). The prediction of a column of integers is the one
 * with the smallest sum of residuals, which is close to the smallest deflated size and cheap to
 * compute. Numbers of floating type that repeat (bodies at rest) or are near their neighbours in
 * time share sign, exponent and high bits, which the exclusive or clears. */
#include "view/report_block.h"

#include "core/log.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

enum { HEADER = 8, COLUMN_HEADER = 112, NAME = 64 };

static const int widths[] = {1, 1, 2, 2, 4, 4, 8};

static bool reserve(scree_PageBlock *block, size_t more) {
  if (block->failed) return false;
  if (!scree_grow((void **)&block->bytes, &block->capacity, block->size + more, 1))
    block->failed = true;
  return !block->failed;
}

static void put_u32(unsigned char *at, uint32_t value) {
  for (int b = 0; b < 4; ++b) at[b] = (unsigned char)(value >> (8 * b));
}

static void put_u64(unsigned char *at, uint64_t value) {
  for (int b = 0; b < 8; ++b) at[b] = (unsigned char)(value >> (8 * b));
}

static void put_f64(unsigned char *at, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_u64(at, bits);
}

void scree_block_begin(scree_PageBlock *block) {
  block->size = 0;
  block->columns = 0;
  block->failed = false;
  if (!reserve(block, HEADER)) return;
  memcpy(block->bytes, "SCB2\0\0\0\0", HEADER);
  block->size = HEADER;
}

/* Nearest integer of the type. */
static int64_t quantise(const scree_PageColumn *column, double value, int component) {
  static const double low[] = {0, -128, 0, -32768, 0},
                      high[] = {255, 127, 65535, 32767, 4294967295};
  double q = (value - (component < 3 ? column->offset[component] : 0.0)) / column->scale;
  if (column->square) q = copysign(sqrt(fabs(q)), q);
  if (!(q == q)) q = 0.0;
  q = fmin(fmax(rint(q), low[column->type]), high[column->type]);
  return (int64_t)q;
}

/* Small numbers of either sign as small numbers without: 0, -1, 1, -2, 2 as 0, 1, 2, 3, 4. Their
 * high bytes are then zero, and not the sign over again. */
static uint64_t fold(int64_t value) {
  return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

/* The bits of every number of a column, widened. */
static void fill_words(const scree_PageColumn *column, uint64_t *words) {
  size_t k = 0;
  for (size_t f = 0; f < column->frames; ++f)
    for (int c = 0; c < column->components; ++c)
      for (size_t i = 0; i < column->count; ++i, ++k) {
        const double value = column->values[k];
        if (column->type == SCREE_COLUMN_F64) {
          memcpy(&words[k], &value, sizeof value);
        } else if (column->type == SCREE_COLUMN_F32) {
          const float single = (float)((value - (c < 3 ? column->offset[c] : 0.0)) / column->scale);
          uint32_t bits;
          memcpy(&bits, &single, sizeof bits);
          words[k] = bits;
        } else {
          words[k] = (uint64_t)quantise(column, value, c);
        }
      }
}

/* Residual of order 0, 2 (first) or 3 (second difference), as a signed number of the width. */
static int64_t residual(const uint64_t *words, size_t k, size_t per, int op, int width) {
  uint64_t value = words[k];
  if (op == 2 && k >= per) value -= words[k - per];
  if (op == 3 && k >= per)
    value -= k >= 2 * per ? 2 * words[k - per] - words[k - 2 * per] : words[k - per];
  const int shift = 64 - 8 * width;
  return (int64_t)(value << shift) >> shift;
}

static int choose_prediction(const scree_PageColumn *column, const uint64_t *words, size_t total,
                             size_t per, int width) {
  if (column->frames < 2) return 0;
  if (column->type >= SCREE_COLUMN_F32) return 1;
  double best = INFINITY;
  int choice = 0;
  for (int op = 0; op <= 3; ++op) {
    if (op == 1) continue;
    double sum = 0.0;
    const size_t stride = total > 200000 ? 7 : 1; /* a sample is enough */
    for (size_t k = 0; k < total; k += stride)
      sum += log2(1.0 + fabs((double)residual(words, k, per, op, width)));
    if (sum < best) best = sum, choice = op;
  }
  return choice;
}

void scree_block_add(scree_PageBlock *block, const scree_PageColumn *column) {
  const int width = widths[column->type];
  const size_t per = (size_t)column->components * column->count, total = per * column->frames;
  uint64_t *words = SCREE_ALLOC(uint64_t, total);
  if (!words) block->failed = true;
  if (!words || !reserve(block, COLUMN_HEADER + total * (size_t)width)) {
    scree_free(words);
    return;
  }
  fill_words(column, words);
  const int op = choose_prediction(column, words, total, per, width);
  unsigned char *head = block->bytes + block->size, *data = head + COLUMN_HEADER;
  memset(head, 0, COLUMN_HEADER);
  strncpy((char *)head, column->name, NAME - 1);
  head[NAME] = (unsigned char)column->type;
  head[NAME + 1] = (unsigned char)column->components;
  head[NAME + 2] = (unsigned char)op;
  head[NAME + 3] = column->square;
  put_u32(head + NAME + 4, (uint32_t)column->frames);
  put_u32(head + NAME + 8, (uint32_t)column->count);
  const bool raw = column->type == SCREE_COLUMN_F64;
  put_f64(head + NAME + 16, raw ? 1.0 : column->scale);
  for (int c = 0; c < 3; ++c) put_f64(head + NAME + 24 + 8 * c, raw ? 0.0 : column->offset[c]);
  for (size_t k = 0; k < total; ++k) {
    uint64_t value;
    if (op == 1)
      value = k >= per ? words[k] ^ words[k - per] : words[k];
    else
      value = op ? fold(residual(words, k, per, op, width)) : words[k];
    for (int b = 0; b < width; ++b) data[(size_t)b * total + k] = (unsigned char)(value >> (8 * b));
  }
  block->size += COLUMN_HEADER + total * (size_t)width;
  ++block->columns;
  scree_free(words);
}

scree_Status scree_block_end(scree_PageBlock *block, const scree_Log *log, unsigned char **bytes,
                             size_t *size) {
  *bytes = NULL;
  if (block->failed) return scree_fail_memory(log, "the page's data");
  put_u32(block->bytes + 4, block->columns);
  uLongf length = compressBound((uLong)block->size);
  *bytes = SCREE_ALLOC(unsigned char, length);
  if (!*bytes || compress2(*bytes, &length, block->bytes, (uLong)block->size, 6) != Z_OK) {
    scree_free(*bytes);
    *bytes = NULL;
    return scree_fail_memory(log, "the page's data");
  }
  *size = length;
  return SCREE_OK;
}

void scree_block_fini(scree_PageBlock *block) {
  scree_free(block->bytes);
  *block = (scree_PageBlock){0};
}

void scree_block_put(scree_PageBlock *block, const char *name, scree_PageColumnType type,
                     int components, size_t frames, size_t count, const double *values) {
  const scree_PageColumn column = {.name = name,
                                   .type = type,
                                   .components = components,
                                   .frames = frames,
                                   .count = count,
                                   .values = values,
                                   .scale = 1.0};
  scree_block_add(block, &column);
}
