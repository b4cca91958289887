/* What exchanges between ranks cost on this machine, for the model of docs/SCALING.md:
 *
 *     mpirun -n 2 build/mpi/bench/exchange
 *
 * Ping-pong: rank 0 sends bytes to rank 1, which sends as many back; half of the round trip is the
 * time of a message. Then all ranks add a number, many times in a row. Each is repeated, and the
 * shortest time counts: where other programs use the processors, or ranks share one, most
 * repetitions wait for the operating system. */
#include "core/clock.h"
#include "parallel/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 2000, SUMS = 16, LONGEST = 1 << 18 };

/* Memory of the exchanges. */
typedef struct Post {
  char *in, *out;
  size_t *sizes; /* (2 x ranks) sent, received */
} Post;

/* `bytes` bytes of rank `from` to rank `to`; the others do nothing. */
static void pass(const scree_Ranks *ranks, const Post *post, int from, int to, size_t bytes) {
  const int size = scree_ranks_size(ranks), rank = scree_ranks_rank(ranks);
  for (int k = 0; k < 2 * size; ++k) post->sizes[k] = 0;
  if (rank == from) post->sizes[to] = bytes;
  if (rank == to) post->sizes[size + from] = bytes;
  scree_ranks_swap(ranks, post->out, post->sizes, post->in, post->sizes + size);
}

int main(void) {
  static const size_t sizes[] = {8, 256, 1024, 4096, 16384, 65536, LONGEST};
  scree_Ranks *ranks;
  if (scree_ranks_create(&ranks, NULL) != SCREE_OK) return 3;
  const int size = scree_ranks_size(ranks), rank = scree_ranks_rank(ranks);
  const Post post = {calloc(LONGEST, 1), calloc(LONGEST, 1),
                     calloc(2 * (size_t)size, sizeof(size_t))};
  if (!post.in || !post.out || !post.sizes) return 3;
  for (size_t k = 0; size > 1 && k < sizeof sizes / sizeof *sizes; ++k) {
    double least = INFINITY;
    for (int repeat = 0; repeat < REPEATS; ++repeat) {
      const double start = scree_seconds();
      pass(ranks, &post, 0, 1, sizes[k]);
      pass(ranks, &post, 1, 0, sizes[k]);
      if (rank == 0) least = fmin(least, scree_seconds() - start);
    }
    if (rank == 0)
      printf("%d ranks: %zu bytes to a neighbour %.3f us\n", size, sizes[k], 0.5e6 * least);
  }
  double least = INFINITY;
  for (int repeat = 0; repeat < REPEATS / SUMS; ++repeat) {
    const double start = scree_seconds();
    for (int k = 0; k < SUMS; ++k) (void)scree_ranks_sum(ranks, 1);
    least = fmin(least, (scree_seconds() - start) / SUMS);
  }
  if (rank == 0) printf("%d ranks: a sum %.3f us\n", size, 1e6 * least);
  free(post.in);
  free(post.out);
  free(post.sizes);
  scree_ranks_destroy(ranks);
  return 0;
}
