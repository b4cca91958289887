/* Arenas: memory that is allocated piece by piece and released all at once.
 *
 * Pieces are 64-byte aligned, like those of memory.h. They cannot be freed one by one: `release`
 * frees all pieces allocated since a mark, `reset` all of them. The arena keeps its memory for the
 * next pieces, so that work of the same size that is done again and again allocates nothing. A
 * zeroed struct is an empty arena.
 *
 * An arena is a list of chunks. A piece that does not fit into the rest of the current chunk takes
 * the next chunk that is large enough, or a new one; `reset` replaces several chunks by one that
 * holds them all. In builds with AddressSanitizer pieces have poisoned gaps between them, and
 * memory that is not taken is poisoned. */
#ifndef SCREE_CORE_ARENA_H
#define SCREE_CORE_ARENA_H

#include "core/private.h"

#include <stddef.h>

typedef struct scree_ArenaChunk scree_ArenaChunk;

typedef struct scree_Arena {
  scree_ArenaChunk *first;   /* chunks; those behind the current one are free */
  scree_ArenaChunk *current; /* null: nothing is allocated */
  size_t taken, peak;        /* bytes in pieces, now and at most since the last reset */
} scree_Arena;

typedef struct scree_ArenaMark {
  scree_ArenaChunk *chunk;
  size_t used, taken;
} scree_ArenaMark;

enum { SCREE_ARENA_LENT = 16 << 10 }; /* bytes; a problem of some ten contacts fits */

/* Lend an empty arena SCREE_ARENA_LENT bytes, 64-byte aligned, for its first pieces; they must stay
 * until `fini`. */
void scree_arena_lend(scree_Arena *arena, void *memory);

/* `count` elements of `size` bytes, set to zero; null when memory runs out. A count of zero gives a
 * valid pointer. */
SCREE_PRIVATE void *scree_arena_take(scree_Arena *arena, size_t count, size_t size);

/* The same, uninitialised: for arrays that are written before they are read. */
SCREE_PRIVATE void *scree_arena_take_raw(scree_Arena *arena, size_t count, size_t size);

/* Release all pieces allocated since the mark. */
SCREE_PRIVATE scree_ArenaMark scree_arena_mark(const scree_Arena *arena);
SCREE_PRIVATE void scree_arena_release(scree_Arena *arena, scree_ArenaMark mark);

/* Release all pieces, and keep the memory. */
SCREE_PRIVATE void scree_arena_reset(scree_Arena *arena);

/* Free the memory; the arena is empty afterwards. */
SCREE_PRIVATE void scree_arena_fini(scree_Arena *arena);

/* Bytes that the arena holds, taken or not. */
SCREE_PRIVATE size_t scree_arena_memory(const scree_Arena *arena);

#define SCREE_TAKE(arena, type, count)                                                             \
  ((type *)scree_arena_take(arena, (size_t)(count), sizeof(type)))
#define SCREE_TAKE_RAW(arena, type, count)                                                         \
  ((type *)scree_arena_take_raw(arena, (size_t)(count), sizeof(type)))

#endif
