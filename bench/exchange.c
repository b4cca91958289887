/* What exchanges between ranks cost on this machine, for the model of docs/SCALING.md:
 *
 *     mpirun -n 4 build/mpi/bench/exchange
 *
 * Every rank sends `bytes` bytes to the next and receives as many from the one before, as in an
 * exchange of a halo; or all ranks add a number. Each is repeated, and the shortest time counts:
 * where other programs use the processors, or ranks share one, most repetitions wait for the
 * operating system. */
#include "core/clock.h"
#include "parallel/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 300, LONGEST = 1 << 18 };

int main(void) {
  static const size_t sizes[] = {8, 1024, 16384, LONGEST};
  scree_Ranks *ranks;
  if (scree_ranks_create(&ranks, NULL) != SCREE_OK) return 3;
  const int size = scree_ranks_size(ranks), rank = scree_ranks_rank(ranks);
  char *in = calloc(LONGEST, 1), *out = calloc(LONGEST, 1);
  size_t *count = calloc(2 * (size_t)size, sizeof *count);
  if (!in || !out || !count) return 3;
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    double least = INFINITY;
    count[(rank + 1) % size] = sizes[k];
    count[size + (rank + size - 1) % size] = sizes[k];
    for (int repeat = 0; repeat < REPEATS; ++repeat) {
      const double start = scree_seconds();
      scree_ranks_swap(ranks, out, count, in, count + size);
      least = fmin(least, scree_seconds() - start);
    }
    if (rank == 0)
      printf("%d ranks: %zu bytes to a neighbour %.2f us\n", size, sizes[k], 1e6 * least);
  }
  double least = INFINITY;
  for (int repeat = 0; repeat < REPEATS; ++repeat) {
    const double start = scree_seconds();
    (void)scree_ranks_sum(ranks, 1);
    least = fmin(least, scree_seconds() - start);
  }
  if (rank == 0) printf("%d ranks: a sum %.2f us\n", size, 1e6 * least);
  free(in);
  free(out);
  free(count);
  scree_ranks_destroy(ranks);
  return 0;
}
