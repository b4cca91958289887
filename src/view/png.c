/* PNG: eight bits, red, green, blue, filter "up" (each row stored as its difference to the row
 * above). */
#include "core/log.h"
#include "core/memory.h"
#include "scree/view.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static void put_u32(unsigned char *at, uint32_t value) {
  for (int b = 0; b < 4; ++b) at[b] = (unsigned char)(value >> (24 - 8 * b));
}

static void put_chunk(FILE *file, const char *type, const unsigned char *data, size_t size) {
  unsigned char word[4];
  put_u32(word, (uint32_t)size);
  fwrite(word, 1, 4, file);
  fwrite(type, 1, 4, file);
  if (size) fwrite(data, 1, size, file);
  uLong sum = crc32(0, (const Bytef *)type, 4);
  if (size) sum = crc32(sum, data, (uInt)size);
  put_u32(word, (uint32_t)sum);
  fwrite(word, 1, 4, file);
}

scree_Status scree_png_write(const char *path, int width, int height, const unsigned char *pixels,
                             const scree_Log *log) {
  const size_t row = 3 * (size_t)width, raw_size = (row + 1) * (size_t)height;
  unsigned char *raw = SCREE_ALLOC(unsigned char, raw_size);
  uLongf size = compressBound((uLong)raw_size);
  unsigned char *packed = SCREE_ALLOC(unsigned char, size);
  if (!raw || !packed) {
    scree_free(raw);
    scree_free(packed);
    return scree_fail_memory(log, "a picture");
  }
  for (size_t y = 0; y < (size_t)height; ++y) {
    unsigned char *to = raw + y * (row + 1);
    to[0] = 2;
    for (size_t x = 0; x < row; ++x)
      to[x + 1] = (unsigned char)(pixels[y * row + x] - (y ? pixels[(y - 1) * row + x] : 0));
  }
  scree_Status status = SCREE_OK;
  FILE *file = NULL;
  if (compress2(packed, &size, raw, (uLong)raw_size, 9) != Z_OK)
    status = scree_fail_memory(log, "a picture");
  else if (!(file = fopen(path, "wb")))
    status = scree_fail(log, SCREE_MACHINE, "%s: cannot write: %s", path, strerror(errno));
  if (file) {
    unsigned char head[13] = {0};
    put_u32(head, (uint32_t)width);
    put_u32(head + 4, (uint32_t)height);
    head[8] = 8, head[9] = 2;
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    put_chunk(file, "IHDR", head, sizeof head);
    put_chunk(file, "IDAT", packed, size);
    put_chunk(file, "IEND", NULL, 0);
    const bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
      status = scree_fail(log, SCREE_MACHINE, "%s: cannot write: %s", path, strerror(errno));
  }
  scree_free(raw);
  scree_free(packed);
  return status;
}
