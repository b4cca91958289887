/* Greedy colouring of contacts (see colouring.h). In body form two contacts are coupled when they
 * share a body; each body stores the set of colours of its contacts as bits. In assembled form they
 * are coupled when W has a block for them. */
#include "solver/colouring.h"

#include "core/log.h"

#include <assert.h>
#include <string.h>

/* A body with more contacts than HUB goes to the serial group; others need at most 2 HUB colours.
 */
enum { HUB = 128, WORDS = 2 * HUB / 64, MAX_COLOURS = 2 * HUB };

static int first_free(const uint64_t *a, const uint64_t *b) {
  for (int w = 0; w < WORDS; ++w) {
    const uint64_t used = (a ? a[w] : 0) | (b ? b[w] : 0);
    if (~used) return 64 * w + __builtin_ctzll(~used);
  }
  return MAX_COLOURS; /* not for two bodies: they block fewer than 2 HUB colours */
}

static bool is_hub(const scree_Operator *W, int body) {
  return body >= 0 && W->body_row[body + 1] - W->body_row[body] > HUB;
}

static bool colour_bodies(const scree_Operator *W, scree_Arena *arena, int *colour) {
  const scree_Problem *p = W->problem;
  uint64_t *used = SCREE_TAKE(arena, uint64_t, (size_t)p->bodies.nbodies * WORDS);
  if (!used) return false;
  for (int c = 0; c < p->nc; ++c) {
    const int b0 = p->bodies.body[2 * c], b1 = p->bodies.body[2 * c + 1];
    if (is_hub(W, b0) || is_hub(W, b1)) {
      colour[c] = MAX_COLOURS;
      continue;
    }
    uint64_t *u0 = b0 >= 0 ? used + (size_t)b0 * WORDS : NULL;
    uint64_t *u1 = b1 >= 0 ? used + (size_t)b1 * WORDS : NULL;
    const int k = colour[c] = first_free(u0, u1);
    assert(k < MAX_COLOURS); /* two bodies that are no hubs block fewer */
    if (u0) u0[k / 64] |= (uint64_t)1 << (k % 64);
    if (u1) u1[k / 64] |= (uint64_t)1 << (k % 64);
  }
  return true;
}

/* The pattern of W may be unsymmetric too, so both directions are marked: `used` of each contact
 * holds the colours of the earlier contacts that are coupled with it. */
static bool colour_blocks(const scree_Operator *W, scree_Arena *arena, int *colour) {
  const scree_Problem *p = W->problem;
  uint64_t *used = SCREE_TAKE(arena, uint64_t, (size_t)p->nc * WORDS);
  if (!used) return false;
  for (int c = 0; c < p->nc; ++c) {
    uint64_t mine[WORDS];
    memcpy(mine, used + (size_t)c * WORDS, sizeof mine);
    for (size_t k = p->blocks.row[c]; k < p->blocks.row[c + 1]; ++k) {
      const int other = p->blocks.col[k];
      if (other < c && colour[other] < MAX_COLOURS)
        mine[colour[other] / 64] |= (uint64_t)1 << (colour[other] % 64);
    }
    const int chosen = colour[c] = first_free(mine, NULL);
    if (chosen == MAX_COLOURS) continue;
    for (size_t k = p->blocks.row[c]; k < p->blocks.row[c + 1]; ++k)
      if (p->blocks.col[k] > c)
        used[(size_t)p->blocks.col[k] * WORDS + (size_t)(chosen / 64)] |= (uint64_t)1
                                                                          << (chosen % 64);
  }
  return true;
}

static scree_Status allocate(scree_Colouring *colouring, scree_Arena *arena, int nc, int colours,
                             const scree_Log *log) {
  *colouring = (scree_Colouring){.colours = colours};
  colouring->start = SCREE_TAKE(arena, int, colours + 1);
  colouring->order = SCREE_TAKE_RAW(arena, int, nc);
  colouring->serial = SCREE_TAKE(arena, int, colours);
  if (colouring->start && colouring->order && colouring->serial) return SCREE_OK;
  return scree_fail_memory(log, "the order of contacts");
}

/* Contacts sorted by colour (nc), without empty colours. */
static void sort_contacts(scree_Colouring *colouring, int nc, const int *colour) {
  int count[MAX_COLOURS + 1] = {0}, next[MAX_COLOURS + 1], colours = 0;
  for (int c = 0; c < nc; ++c) ++count[colour[c]];
  for (int k = 0; k <= MAX_COLOURS; ++k) {
    if (!count[k]) continue;
    next[k] = colouring->start[colours];
    colouring->start[colours + 1] = next[k] + count[k];
    colouring->serial[colours++] = k == MAX_COLOURS;
  }
  colouring->colours = colours;
  assert(colouring->start[colours] == nc); /* every contact has one colour */
  for (int c = 0; c < nc; ++c) colouring->order[next[colour[c]]++] = c;
}

scree_Status scree_colouring_create(const scree_Operator *W, scree_Arena *arena,
                                    scree_Colouring *colouring, const scree_Log *log) {
  const int nc = W->problem->nc;
  scree_Status status = allocate(colouring, arena, nc, MAX_COLOURS + 1, log);
  if (status) return status;
  const scree_ArenaMark mark = scree_arena_mark(arena);
  int *colour = SCREE_TAKE_RAW(arena, int, nc);
  const bool enough =
      colour && (W->problem->kind == SCREE_BODIES ? colour_bodies(W, arena, colour)
                                                  : colour_blocks(W, arena, colour));
  if (enough) sort_contacts(colouring, nc, colour);
  scree_arena_release(arena, mark);
  return enough ? SCREE_OK : scree_fail_memory(log, "a colouring");
}

scree_Status scree_colouring_natural(const scree_Operator *W, scree_Arena *arena,
                                     scree_Colouring *colouring, const scree_Log *log) {
  const int nc = W->problem->nc;
  scree_Status status = allocate(colouring, arena, nc, 1, log);
  if (status) return status;
  for (int c = 0; c < nc; ++c) colouring->order[c] = c;
  colouring->start[1] = nc;
  colouring->serial[0] = 1;
  return SCREE_OK;
}
