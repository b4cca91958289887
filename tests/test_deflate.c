/* Chunks of results.h5 as HDF5's filters would leave them: read back by zlib and unshuffled, they
 * are the numbers again, whatever these are. */
#include "core/memory.h"
#include "core/mix.h"
#include "run/deflate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

/* Compress, read back, compare; the compressed size. */
static size_t check(scree_Deflate *deflate, const void *numbers, size_t count, size_t size) {
  const size_t bytes = count * size;
  size_t packed;
  const void *data = scree_deflate_chunk(deflate, numbers, bytes, size, &packed);
  assert_non_null(data);
  unsigned char *planes = SCREE_ALLOC(unsigned char, bytes),
                *back = SCREE_ALLOC(unsigned char, bytes);
  uLongf length = (uLongf)bytes;
  assert_int_equal(uncompress(planes, &length, data, (uLong)packed), Z_OK);
  assert_int_equal(length, bytes);
  for (size_t k = 0; k < count; ++k)
    for (size_t j = 0; j < size; ++j) back[k * size + j] = planes[j * count + k];
  assert_memory_equal(back, numbers, bytes);
  scree_free(planes);
  scree_free(back);
  return packed;
}

static void all_kinds(void **state) {
  (void)state;
  enum { MOST = 20000 };
  double *x = SCREE_ALLOC(double, MOST);
  const size_t counts[] = {1, 15, 16, 17, 600, 4096, MOST};
  for (int level = 1; level <= 9; level += 4) {
    scree_Deflate *deflate = scree_deflate_create(level);
    assert_non_null(deflate);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
      const size_t n = counts[c];
      for (int kind = 0; kind < 4; ++kind) {
        for (size_t k = 0; k < n; ++k) {
          const uint64_t random = scree_mix((uint64_t)(k + 7919 * c));
          const double part = (double)(random >> 11) * 0x1p-53;
          x[k] = kind == 0 ? 0.0 : kind == 1 ? NAN : kind == 2 ? part - 0.5 : 0.0;
          if (kind == 3) memcpy(&x[k], &random, sizeof random); /* any bits */
        }
        const size_t packed = check(deflate, x, n, sizeof *x);
        if (n >= 4096 && kind < 2) assert_true(packed < n / 20);
        /* sign and exponent are compressed, random mantissas grow by a few bytes only */
        if (n >= 4096 && kind == 2) assert_true(packed < n * 7 + n / 2);
        assert_true(packed <= n * sizeof *x + n / 1000 + 100);
      }
      int32_t *small = (int32_t *)(void *)x;
      for (size_t k = 0; k < n; ++k) small[k] = (int32_t)(k % 50);
      (void)check(deflate, small, n, sizeof *small);
      (void)check(deflate, small, n, 1);
    }
    scree_deflate_destroy(deflate);
  }
  scree_free(x);
}

/* Level 0 leaves numbers as they are. */
static void not_compressed(void **state) {
  (void)state;
  const double x[3] = {1, 2, 3};
  size_t packed;
  scree_Deflate *deflate = scree_deflate_create(0);
  assert_non_null(deflate);
  const void *data = scree_deflate_chunk(deflate, x, sizeof x, sizeof *x, &packed);
  assert_int_equal(packed, sizeof x);
  assert_memory_equal(data, x, sizeof x);
  scree_deflate_destroy(deflate);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_kinds), cmocka_unit_test(not_compressed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
