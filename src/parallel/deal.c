/* Elements to the ranks that they belong to (see ranks.h). */
#include "core/log.h"
#include "core/memory.h"
#include "parallel/ranks.h"

#include <string.h>

scree_Status scree_ranks_deal(const scree_Ranks *ranks, const void *elements, size_t bytes,
                              const int *to, size_t count, char **got, size_t *capacity,
                              size_t *got_count, const scree_Log *log) {
  const size_t size = (size_t)scree_ranks_count(ranks);
  size_t *sizes = SCREE_ALLOC(size_t, 3 * size); /* sent, received, where the next one goes */
  char *out = SCREE_ALLOC(char, count *bytes);
  size_t total = 0;
  *got_count = 0;
  const bool enough = sizes && out;
  scree_Status status = enough ? SCREE_OK : scree_fail_memory(log, "what ranks send to each other");
  status = scree_ranks_agree(ranks, status, log);
  if (!status && enough) {
    size_t *received = sizes + size, *at = sizes + 2 * size;
    for (size_t k = 0; k < count; ++k) sizes[to[k]] += bytes;
    for (size_t k = 1; k < size; ++k) at[k] = at[k - 1] + sizes[k - 1];
    for (size_t k = 0; k < count; ++k) {
      memcpy(out + at[to[k]], (const char *)elements + k * bytes, bytes);
      at[to[k]] += bytes;
    }
    scree_ranks_swap_sizes(ranks, sizes, received);
    for (size_t k = 0; k < size; ++k) total += received[k];
    if (!scree_grow((void **)got, capacity, total, 1))
      status = scree_fail_memory(log, "what ranks send to each other");
    status = scree_ranks_agree(ranks, status, log);
    if (!status) scree_ranks_swap(ranks, out, sizes, *got, received);
    if (!status) *got_count = total / bytes;
  }
  scree_free(sizes);
  scree_free(out);
  return status;
}
