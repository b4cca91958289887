/* The states of deformable bodies in a saved state of a divided world (see part_state.c): each rank
 * writes those of a range of numbers. Bodies have different sizes, so that their states are sent in
 * pieces of one size. */
#include "core/log.h"
#include "core/memory.h"
#include "world/spread.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of the state of a deformable body (its coordinates, then its rates) that are sent
 * together. */
enum { CHUNK = 24 };

typedef struct Chunk {
  int number, index; /* of the body; of the chunk in it */
  int count;
  double account;
  double x[CHUNK];
} Chunk;

/* States on their way to the ranks of their range. */
typedef struct Deformed {
  const scree_System *s;
  int block;
  const size_t *start; /* (deformable_count + 1) chunks of the bodies of this rank */
  Chunk *chunk;        /* (chunks) those that have arrived */
  size_t chunks, capacity;
} Deformed;

static size_t chunks_of(size_t components) {
  return (2 * components + CHUNK - 1) / CHUNK;
}

static int pack_chunk(void *user, size_t k, void *element) {
  const Deformed *to = user;
  const scree_System *s = to->s;
  const scree_Bodies *b = &s->bodies;
  int low = 0, high = b->deformable_count - 1; /* the last whose chunks begin at k or before */
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (to->start[middle] <= k)
      low = middle;
    else
      high = middle - 1;
  }
  const scree_Deformable *self = &b->deformable[low];
  if (!scree_domain_owns(&s->domain, self->body)) return -1;
  Chunk chunk = {.number = s->domain.global[self->body],
                 .index = (int)(k - to->start[low]),
                 .account = b->account[low]};
  const size_t first = CHUNK * (size_t)chunk.index, all = 2 * self->components;
  chunk.count = (int)(all - first < CHUNK ? all - first : CHUNK);
  memcpy(chunk.x, scree_deformable_q(b, self) + first, (size_t)chunk.count * sizeof *chunk.x);
  memcpy(element, &chunk, sizeof chunk);
  return chunk.number / to->block;
}

static bool take_chunk(void *user, const void *element) {
  Deformed *to = user;
  if (!scree_grow_lean((void **)&to->chunk, &to->capacity, to->chunks + 1, sizeof *to->chunk))
    return false;
  memcpy(&to->chunk[to->chunks++], element, sizeof(Chunk));
  return true;
}

static int compare_chunks(const void *a, const void *b) {
  const Chunk *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

/* Coordinates and rates, and accounts, in the order of the numbers; false: out of memory. */
static bool write_states(const Deformed *to, void **states, size_t *state_bytes, void **accounts,
                         size_t *account_bytes) {
  size_t bodies = 0, numbers = 0;
  if (to->chunks) qsort(to->chunk, to->chunks, sizeof *to->chunk, compare_chunks);
  for (size_t k = 0; k < to->chunks; ++k) {
    bodies += to->chunk[k].index == 0;
    numbers += (size_t)to->chunk[k].count;
  }
  double *state = SCREE_ALLOC(double, numbers), *account = SCREE_ALLOC(double, bodies);
  *states = state;
  *accounts = account;
  if (!state || !account) return false;
  *state_bytes = numbers * sizeof *state;
  *account_bytes = bodies * sizeof *account;
  for (size_t k = 0; k < to->chunks; ++k) {
    const Chunk *chunk = &to->chunk[k];
    memcpy(state, chunk->x, (size_t)chunk->count * sizeof *state);
    state += chunk->count;
    if (chunk->index == 0) *account++ = chunk->account;
  }
  return true;
}

scree_Status scree_part_share_deformed(const scree_System *s, int block, void **states,
                                       size_t *state_bytes, void **accounts,
                                       size_t *account_bytes) {
  const scree_Bodies *b = &s->bodies;
  const size_t n = (size_t)b->deformable_count;
  size_t *start = SCREE_ALLOC(size_t, n + 1);
  Deformed to = {.s = s, .block = block, .start = start};
  const scree_Deal deal = {sizeof(Chunk), pack_chunk, take_chunk, &to};
  scree_Status status =
      scree_domain_agree(s, start ? SCREE_OK : scree_fail_memory(s->log, "the state of a rank"));
  for (size_t k = 0; !status && start && k < n; ++k)
    start[k + 1] = start[k] + chunks_of(b->deformable[k].components);
  if (!status && start) status = scree_ranks_deal(s->domain.ranks, start[n], &deal, s->log);
  if (!status && !write_states(&to, states, state_bytes, accounts, account_bytes))
    status = scree_fail_memory(s->log, "the state of a rank");
  scree_free(to.chunk);
  scree_free(start);
  return status;
}
