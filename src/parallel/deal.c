/* Sends elements to the ranks that they belong to (see ranks.h). */
#include "core/log.h"
#include "core/memory.h"
#include "parallel/ranks.h"

#include <string.h>

enum { ROUND = 16384 }; /* elements that a rank sends at a time */

/* Memory of a round. */
typedef struct Post {
  const scree_Deal *deal;
  size_t *sizes; /* (3 x ranks) sent, received, where the next one goes */
  int *to;       /* (ROUND) */
  char *mine, *out, *in;
  size_t capacity; /* of `in` */
} Post;

/* Elements first .. end - 1 of this rank, those of each rank together. */
static void pack(const scree_Ranks *ranks, Post *post, size_t first, size_t end) {
  const scree_Deal *deal = post->deal;
  const size_t size = (size_t)scree_ranks_count(ranks), bytes = deal->bytes;
  size_t *at = post->sizes + 2 * size, n = 0;
  memset(post->sizes, 0, 3 * size * sizeof *post->sizes);
  for (size_t k = first; k < end; ++k) {
    const int to = deal->pack(deal->user, k, post->mine + n * bytes);
    if (to < 0) continue;
    post->to[n++] = to;
    post->sizes[to] += bytes;
  }
  for (size_t k = 1; k < size; ++k) at[k] = at[k - 1] + post->sizes[k - 1];
  for (size_t k = 0; k < n; ++k) {
    memcpy(post->out + at[post->to[k]], post->mine + k * bytes, bytes);
    at[post->to[k]] += bytes;
  }
}

static scree_Status swap(const scree_Ranks *ranks, Post *post, const scree_Log *log) {
  const scree_Deal *deal = post->deal;
  const size_t size = (size_t)scree_ranks_count(ranks);
  size_t *received = post->sizes + size, total = 0;
  scree_ranks_swap_sizes(ranks, post->sizes, received);
  for (size_t k = 0; k < size; ++k) total += received[k];
  scree_Status status = scree_grow((void **)&post->in, &post->capacity, total, 1)
                            ? SCREE_OK
                            : scree_fail_memory(log, "what ranks send to each other");
  status = scree_ranks_agree(ranks, status, log);
  if (status) return status;
  scree_ranks_swap(ranks, post->out, post->sizes, post->in, received);
  for (size_t at = 0; at < total && !status; at += deal->bytes)
    if (!deal->take(deal->user, post->in + at))
      status = scree_fail_memory(log, "what ranks send to each other");
  return status;
}

scree_Status scree_ranks_deal(const scree_Ranks *ranks, size_t count, const scree_Deal *deal,
                              const scree_Log *log) {
  const size_t size = (size_t)scree_ranks_count(ranks);
  const size_t round = count < ROUND ? count : ROUND;
  Post post = {.deal = deal,
               .sizes = SCREE_ALLOC(size_t, 3 * size),
               .to = SCREE_ALLOC(int, round),
               .mine = SCREE_ALLOC(char, round * deal->bytes),
               .out = SCREE_ALLOC(char, round * deal->bytes)};
  const bool room = post.sizes && post.to && post.mine && post.out;
  scree_Status status = room ? SCREE_OK : scree_fail_memory(log, "what ranks send to each other");
  for (size_t first = 0; scree_ranks_any(ranks, first < count || first == 0); first += ROUND) {
    status = scree_ranks_agree(ranks, status, log);
    if (status || !room) break;
    const size_t end = first + ROUND < count ? first + ROUND : count;
    pack(ranks, &post, first < count ? first : count, end);
    status = swap(ranks, &post, log);
  }
  scree_free(post.sizes);
  scree_free(post.to);
  scree_free(post.mine);
  scree_free(post.out);
  scree_free(post.in);
  return scree_ranks_agree(ranks, status, log);
}
