/* Shuffle and deflate (see deflate.h). A zlib stream (RFC 1950) is a head of two bytes, blocks of
 * deflate (RFC 1951) and a checksum; a stored block is a byte (the last one or not), its length and
 * the complement of that, and at most 65535 bytes. */
#include "run/deflate.h"

#include "core/memory.h"

#include <libdeflate.h>
#include <stdint.h>
#include <string.h>

/* A plane is stored when two of its bytes are equal at most this many times as often as two random
 * ones: deflate would save 2 % of it. Found from so many of its bytes, at least. */
static const double random_equal = 1.25;
enum { SAMPLES = 2048, FEWEST = 512, STORED_MOST = 65535, STORED_HEAD = 5, HEAD = 2, SUM = 4 };

struct scree_Deflate {
  int level;
  struct libdeflate_compressor *compressor; /* null: level 0 */
  void *planes, *out;
  size_t planes_capacity, out_capacity;
};

scree_Deflate *scree_deflate_create(int level) {
  scree_Deflate *deflate = SCREE_ALLOC(scree_Deflate, 1);
  if (!deflate) return NULL;
  deflate->level = level;
  if (level > 0) deflate->compressor = libdeflate_alloc_compressor(level);
  if (level == 0 || deflate->compressor) return deflate;
  scree_deflate_destroy(deflate);
  return NULL;
}

void scree_deflate_destroy(scree_Deflate *deflate) {
  if (!deflate) return;
  if (deflate->compressor) libdeflate_free_compressor(deflate->compressor);
  scree_free(deflate->planes);
  scree_free(deflate->out);
  scree_free(deflate);
}

/* ---- shuffle --------------------------------------------------------------------------------- */

typedef unsigned char Bytes __attribute__((vector_size(16)));

/* Sixteen numbers of eight bytes, in eight registers. Let e be the bits of a number's place and b
 * those of a byte's in its number: register [e3 e2 e1], byte [e0 b2 b1 b0] of it. Interleaving two
 * registers that differ in one bit makes this the last bit of the byte's place and its first bit
 * that of the register: after four rounds the bytes are [e3 e2 e1 e0] of register [b0 b2 b1]. */
static void shuffle_16(const unsigned char *in, unsigned char *out, size_t stride) {
  static const int rounds[4] = {4, 2, 1, 4};
  Bytes x[8];
  memcpy(x, in, sizeof x);
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < 8; ++i) {
      if (i & rounds[round]) continue;
      const Bytes a = x[i], b = x[i + rounds[round]];
      x[i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      x[i + rounds[round]] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                     29, 14, 30, 15, 31);
    }
  for (int i = 0; i < 8; ++i) {
    const size_t plane = (size_t)((i & 3) << 1 | i >> 2);
    memcpy(out + plane * stride, &x[i], sizeof x[i]);
  }
}

static void shuffle(const unsigned char *in, size_t n, size_t size, unsigned char *out) {
  size_t k = 0;
  for (; size == 8 && k + 16 <= n; k += 16) shuffle_16(in + 8 * k, out + k, n);
  for (; k < n; ++k)
    for (size_t j = 0; j < size; ++j) out[j * n + k] = in[k * size + j];
}

/* ---- deflate --------------------------------------------------------------------------------- */

/* Whether a plane of n bytes cannot be compressed, from the number of equal pairs of bytes. */
static bool is_random(const unsigned char *plane, size_t n) {
  uint32_t count[256] = {0};
  const size_t step = n / SAMPLES | 1;
  size_t samples = 0;
  for (size_t k = 0; k < n; k += step, ++samples) ++count[plane[k]];
  if (samples < FEWEST) return false;
  double equal = 0;
  for (int k = 0; k < 256; ++k) equal += (double)count[k] * ((double)count[k] - 1);
  return 256 * equal < random_equal * (double)samples * (double)(samples - 1);
}

static size_t store(const unsigned char *data, size_t bytes, unsigned char *out) {
  size_t at = 0;
  while (bytes > 0) {
    const size_t n = bytes < STORED_MOST ? bytes : STORED_MOST;
    const unsigned low = (unsigned)n & 255u, high = (unsigned)n >> 8;
    const unsigned char head[STORED_HEAD] = {0, (unsigned char)low, (unsigned char)high,
                                             (unsigned char)(255u - low),
                                             (unsigned char)(255u - high)};
    memcpy(out + at, head, sizeof head);
    memcpy(out + at + sizeof head, data, n);
    at += sizeof head + n;
    data += n;
    bytes -= n;
  }
  return at;
}

const void *scree_deflate_chunk(scree_Deflate *deflate, const void *numbers, size_t bytes,
                                size_t size, size_t *result) {
  *result = bytes;
  if (deflate->level == 0) return numbers;
  const size_t n = bytes / size;
  const size_t stored_most = bytes + (bytes / STORED_MOST + 1) * STORED_HEAD;
  const size_t room =
      HEAD + stored_most + SUM + libdeflate_deflate_compress_bound(deflate->compressor, bytes);
  if (!scree_grow(&deflate->planes, &deflate->planes_capacity, bytes, 1) ||
      !scree_grow(&deflate->out, &deflate->out_capacity, room, 1))
    return NULL;
  const unsigned char *data = numbers;
  if (size > 1) {
    shuffle(data, n, size, deflate->planes);
    data = deflate->planes;
  }
  size_t random = 0;
  while (random < size && is_random(data + random * n, n)) ++random;
  unsigned char *out = deflate->out;
  /* deflate with a window of 32 kB, a fast level; the two bytes are a multiple of 31 */
  out[0] = 0x78;
  out[1] = 0x01;
  size_t at = HEAD + store(data, random * n, out + HEAD);
  at += libdeflate_deflate_compress(deflate->compressor, data + random * n, bytes - random * n,
                                    out + at, room - at - SUM);
  const uint32_t sum = libdeflate_adler32(1, data, bytes);
  for (int k = 0; k < SUM; ++k) out[at++] = (unsigned char)(sum >> (24 - 8 * k));
  *result = at;
  return out;
}
