/* Arenas: pieces are aligned, apart from each other and zeroed where that is promised, marks give
 * back what was taken after them, and work that is repeated needs no new memory. */
#include "core/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PIECES = 300 };

/* Pieces of many sizes, each filled with its number. */
static void take_pieces(scree_Arena *arena, unsigned char *piece[PIECES], size_t size[PIECES]) {
  for (int k = 0; k < PIECES; ++k) {
    size[k] = (size_t)(k * k * k) % 70001;
    piece[k] = k % 2 ? SCREE_TAKE(arena, unsigned char, size[k])
                     : SCREE_TAKE_RAW(arena, unsigned char, size[k]);
    assert_non_null(piece[k]);
    assert_int_equal((uintptr_t)piece[k] % 64, 0);
    for (size_t i = 0; k % 2 && i < size[k]; ++i) assert_int_equal(piece[k][i], 0);
    memset(piece[k], k % 251, size[k]);
  }
}

static void check_pieces(unsigned char *const piece[PIECES], const size_t size[PIECES]) {
  for (int k = 0; k < PIECES; ++k)
    for (size_t i = 0; i < size[k]; ++i) assert_int_equal(piece[k][i], k % 251);
}

static void pieces_do_not_overlap(void **state) {
  (void)state;
  scree_Arena arena = {0};
  unsigned char *piece[PIECES];
  size_t size[PIECES];
  for (int round = 0; round < 3; ++round) {
    take_pieces(&arena, piece, size);
    check_pieces(piece, size);
    scree_arena_reset(&arena);
  }
  scree_arena_fini(&arena);
  assert_int_equal(scree_arena_memory(&arena), 0);
}

static void memory_is_used_again(void **state) {
  (void)state;
  scree_Arena arena = {0};
  unsigned char *piece[PIECES], *first[PIECES];
  size_t size[PIECES];
  take_pieces(&arena, piece, size);
  scree_arena_reset(&arena); /* one chunk from here on */
  const size_t memory = scree_arena_memory(&arena);
  take_pieces(&arena, first, size);
  for (int round = 0; round < 3; ++round) {
    scree_arena_reset(&arena);
    take_pieces(&arena, piece, size);
    assert_memory_equal(piece, first, sizeof piece);
    assert_int_equal(scree_arena_memory(&arena), memory);
  }
  scree_arena_fini(&arena);
}

/* What was taken before a mark stays; what comes after it gets the same places again, also when it
 * has led to new chunks. */
static void marks_give_back(void **state) {
  (void)state;
  scree_Arena arena = {0};
  unsigned char *piece[PIECES], *inner[PIECES];
  size_t size[PIECES], inner_size[PIECES];
  const scree_ArenaMark empty = scree_arena_mark(&arena);
  take_pieces(&arena, piece, size);
  const scree_ArenaMark mark = scree_arena_mark(&arena);
  size_t memory = 0;
  for (int round = 0; round < 3; ++round) {
    take_pieces(&arena, inner, inner_size);
    scree_arena_release(&arena, mark);
    check_pieces(piece, size);
    if (round) assert_int_equal(scree_arena_memory(&arena), memory);
    memory = scree_arena_memory(&arena);
  }
  scree_arena_release(&arena, empty);
  take_pieces(&arena, piece, size);
  check_pieces(piece, size);
  assert_int_equal(scree_arena_memory(&arena), memory);
  scree_arena_fini(&arena);
}

static void memory_can_be_lent(void **state) {
  (void)state;
  _Alignas(64) static char room[SCREE_ARENA_LENT];
  scree_Arena arena = {0};
  unsigned char *piece[PIECES];
  size_t size[PIECES];
  scree_arena_lend(&arena, room);
  const char *first = SCREE_TAKE(&arena, char, 100);
  assert_true(first > room && first + 100 <= room + sizeof room);
  take_pieces(&arena, piece, size); /* more than it holds */
  check_pieces(piece, size);
  scree_arena_reset(&arena);
  take_pieces(&arena, piece, size);
  check_pieces(piece, size);
  scree_arena_fini(&arena);
  scree_arena_lend(&arena, room);
  scree_arena_fini(&arena);
}

static void impossible_sizes_are_refused(void **state) {
  (void)state;
  scree_Arena arena = {0};
  assert_null(scree_arena_take(&arena, SIZE_MAX / 4, 8));
  assert_null(scree_arena_take_raw(&arena, SIZE_MAX, 1));
  assert_non_null(SCREE_TAKE(&arena, double, 0));
  scree_arena_fini(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_do_not_overlap),
      cmocka_unit_test(memory_is_used_again),
      cmocka_unit_test(marks_give_back),
      cmocka_unit_test(memory_can_be_lent),
      cmocka_unit_test(impossible_sizes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
