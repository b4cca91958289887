/* A list of chunks that are filled one after the other (see arena.h). */
#include "core/arena.h"

#include "core/memory.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_SANITIZER
#elif defined(__has_feature) /* Clang's spelling of __SANITIZE_ADDRESS__ */
#if __has_feature(address_sanitizer)
#define WITH_SANITIZER
#endif
#endif

#ifdef WITH_SANITIZER
#include <sanitizer/asan_interface.h>
#define POISON(memory, size)   ASAN_POISON_MEMORY_REGION(memory, size)
#define UNPOISON(memory, size) ASAN_UNPOISON_MEMORY_REGION(memory, size)
enum { GAP = 64, NOT_A_NUMBER = 0xff }; /* bytes between pieces; contents of raw ones */
#else
#define POISON(memory, size)   ((void)0)
#define UNPOISON(memory, size) ((void)0)
enum { GAP = 0 };
#endif

enum {
  ALIGNMENT = 64,
  SMALLEST = SCREE_ARENA_LENT - ALIGNMENT, /* bytes of the first chunk */
  LARGEST_SPARE = 64 << 10 /* new chunks are as large as all others together, up to this */
};

struct scree_ArenaChunk {
  scree_ArenaChunk *next;
  size_t size, used; /* bytes behind the header */
  bool lent;         /* memory of the caller */
};

static char *payload(scree_ArenaChunk *chunk) {
  return (char *)chunk + ALIGNMENT;
}

static size_t round_up(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static scree_ArenaChunk *chunk_create(size_t size) {
  _Static_assert(sizeof(scree_ArenaChunk) <= ALIGNMENT, "the header fits before the payload");
  scree_ArenaChunk *chunk = aligned_alloc(ALIGNMENT, ALIGNMENT + size);
  if (!chunk) return NULL;
  scree_memory_advise(chunk, ALIGNMENT + size);
  *chunk = (scree_ArenaChunk){.size = size};
  POISON(payload(chunk), size);
  return chunk;
}

static void chunk_destroy(scree_ArenaChunk *chunk) {
  UNPOISON(payload(chunk), chunk->size);
  if (!chunk->lent) free(chunk);
}

void scree_arena_lend(scree_Arena *arena, void *memory) {
  scree_ArenaChunk *chunk = memory;
  assert(!arena->first && (uintptr_t)memory % ALIGNMENT == 0);
  *chunk = (scree_ArenaChunk){.size = SMALLEST, .lent = true};
  POISON(payload(chunk), chunk->size);
  arena->first = chunk;
}

/* Where the list of free chunks begins. */
static scree_ArenaChunk **free_chunks(scree_Arena *arena) {
  return arena->current ? &arena->current->next : &arena->first;
}

/* Take the first `whole` bytes of the next chunk that has them. Not inlined: small solves take some
 * hundred pieces, nearly all from the current chunk. */
__attribute__((noinline)) static char *take_from_next(scree_Arena *arena, size_t whole) {
  scree_ArenaChunk **begin = free_chunks(arena), **link = begin;
  while (*link && (*link)->size < whole) link = &(*link)->next;
  scree_ArenaChunk *chunk = *link;
  if (chunk) {
    *link = chunk->next;
  } else {
    size_t size = scree_arena_memory(arena);
    if (size > LARGEST_SPARE) size = LARGEST_SPARE;
    if (size < SMALLEST) size = SMALLEST;
    chunk = chunk_create(size > whole ? size : whole);
    if (!chunk) return NULL;
  }
  chunk->next = *begin;
  *begin = chunk;
  arena->current = chunk;
  chunk->used = whole;
  arena->taken += whole;
  if (arena->taken > arena->peak) arena->peak = arena->taken;
  return payload(chunk);
}

/* Bytes of a piece, 0 if they cannot be counted. */
static inline size_t piece_bytes(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) return 0;
  return bytes ? round_up(bytes) : ALIGNMENT;
}

static inline void *take(scree_Arena *arena, size_t bytes) {
  const size_t whole = bytes + GAP;
  scree_ArenaChunk *chunk = arena->current;
  if (bytes == 0) return NULL;
  if (!chunk || chunk->size - chunk->used < whole) {
    char *piece = take_from_next(arena, whole);
    if (piece) UNPOISON(piece, bytes);
    return piece;
  }
  char *piece = payload(chunk) + chunk->used;
  chunk->used += whole;
  arena->taken += whole;
  assert(chunk->used <= chunk->size);
  if (arena->taken > arena->peak) arena->peak = arena->taken;
  UNPOISON(piece, bytes);
  return piece;
}

void *scree_arena_take(scree_Arena *arena, size_t count, size_t size) {
  const size_t bytes = piece_bytes(count, size);
  void *piece = take(arena, bytes);
  if (piece) memset(piece, 0, bytes);
  return piece;
}

void *scree_arena_take_raw(scree_Arena *arena, size_t count, size_t size) {
  const size_t bytes = piece_bytes(count, size);
  void *piece = take(arena, bytes);
#ifdef WITH_SANITIZER
  if (piece) memset(piece, NOT_A_NUMBER, bytes); /* reads before the first write become visible */
#endif
  return piece;
}

scree_ArenaMark scree_arena_mark(const scree_Arena *arena) {
  return (scree_ArenaMark){.chunk = arena->current,
                           .used = arena->current ? arena->current->used : 0,
                           .taken = arena->taken};
}

void scree_arena_release(scree_Arena *arena, scree_ArenaMark mark) {
  assert(mark.taken <= arena->taken); /* marks are released in the reverse order */
  arena->current = mark.chunk;
  arena->taken = mark.taken;
  if (mark.chunk) {
    mark.chunk->used = mark.used;
    POISON(payload(mark.chunk) + mark.used, mark.chunk->size - mark.used);
  }
  for (scree_ArenaChunk *chunk = *free_chunks(arena); chunk; chunk = chunk->next)
    POISON(payload(chunk), chunk->size);
}

void scree_arena_reset(scree_Arena *arena) {
  const size_t peak = arena->peak;
  scree_arena_release(arena, (scree_ArenaMark){0});
  arena->peak = 0;
  if (!arena->first || !arena->first->next) return;
  scree_arena_fini(arena);
  arena->first = chunk_create(round_up(peak + peak / 16)); /* null: made when it is needed */
}

void scree_arena_fini(scree_Arena *arena) {
  for (scree_ArenaChunk *chunk = arena->first, *next; chunk; chunk = next) {
    next = chunk->next;
    chunk_destroy(chunk);
  }
  *arena = (scree_Arena){0};
}

size_t scree_arena_memory(const scree_Arena *arena) {
  size_t bytes = 0;
  for (const scree_ArenaChunk *chunk = arena->first; chunk; chunk = chunk->next)
    bytes += ALIGNMENT + chunk->size;
  return bytes;
}
