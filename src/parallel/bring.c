/* Collects on rank 0 an array of each rank; their lengths may differ (see ranks.h). */
#include "core/log.h"
#include "core/memory.h"
#include "parallel/ranks.h"

scree_Status scree_ranks_bring(const scree_Ranks *ranks, const void *mine, size_t bytes, char **all,
                               size_t *capacity, size_t *total, const scree_Log *log) {
  const size_t size = (size_t)scree_ranks_count(ranks);
  size_t *sizes = SCREE_ALLOC(size_t, 2 * size); /* sent, received */
  *total = 0;
  scree_Status status = sizes ? SCREE_OK : scree_fail_memory(log, "what ranks send to rank 0");
  status = scree_ranks_agree(ranks, status, log);
  if (!status && sizes) {
    sizes[0] = bytes;
    scree_ranks_swap_sizes(ranks, sizes, sizes + size);
    for (size_t k = 0; k < size; ++k) *total += sizes[size + k];
    if (!scree_grow((void **)all, capacity, *total, 1))
      status = scree_fail_memory(log, "what ranks send to rank 0");
    status = scree_ranks_agree(ranks, status, log);
  }
  if (!status && sizes) scree_ranks_swap(ranks, mine, sizes, *all, sizes + size);
  scree_free(sizes);
  return status;
}
