/* The exchange of shared blocks by MPI (see halo.h). */
#include "parallel/halo.h"

#include "parallel/mpi_ranks.h"

#include <string.h>

enum { TAG = 1 };

/* Where entry k of a list is in a buffer. */
static size_t entry_at(const scree_Halo *halo, const size_t *at, size_t k) {
  return halo->start ? at[k] : k * (size_t)halo->size;
}

static size_t block_at(const scree_Halo *halo, int block, size_t stride) {
  return halo->start ? halo->start[block] : (size_t)block * stride;
}

static size_t length_of(const scree_Halo *halo, int block) {
  return (size_t)(halo->start ? halo->length[block] : halo->size);
}

/* One message to and one from each neighbour that has blocks in the lists: out to in. */
static void exchange(const scree_Halo *halo, const scree_HaloLists *lists) {
  scree_Ranks *ranks = scree_ranks_own(halo->ranks);
  int pending = 0;
  for (int k = 0; k < halo->neighbours; ++k) {
    const size_t first = entry_at(halo, halo->in_at, lists->receive_start[k]);
    const size_t n = entry_at(halo, halo->in_at, lists->receive_start[k + 1]) - first;
    if (n)
      MPI_Irecv(halo->in + first, (int)n, MPI_DOUBLE, halo->neighbour[k], TAG, ranks->comm,
                &ranks->requests[pending++]);
  }
  for (int k = 0; k < halo->neighbours; ++k) {
    const size_t first = entry_at(halo, halo->out_at, lists->send_start[k]);
    const size_t n = entry_at(halo, halo->out_at, lists->send_start[k + 1]) - first;
    if (!n) continue;
    MPI_Isend(halo->out + first, (int)n, MPI_DOUBLE, halo->neighbour[k], TAG, ranks->comm,
              &ranks->requests[pending++]);
    ++ranks->counts.messages;
    ranks->counts.bytes += (long long)(n * sizeof(double));
  }
  MPI_Waitall(pending, ranks->requests, MPI_STATUSES_IGNORE);
}

static void pack(const scree_Halo *halo, const scree_HaloLists *lists, const double *y,
                 size_t stride) {
  for (size_t k = lists->send_start[0]; k < lists->send_start[halo->neighbours]; ++k)
    memcpy(halo->out + entry_at(halo, halo->out_at, k), y + block_at(halo, lists->send[k], stride),
           length_of(halo, lists->send[k]) * sizeof *y);
}

void scree_halo_exchange(const scree_Halo *halo, const scree_HaloLists *lists, double *y,
                         size_t stride) {
  if (!halo) return;
  pack(halo, lists, y, stride);
  exchange(halo, lists);
  for (size_t k = 0; k < lists->receive_start[halo->neighbours]; ++k)
    memcpy(y + block_at(halo, lists->receive[k], stride), halo->in + entry_at(halo, halo->in_at, k),
           length_of(halo, lists->receive[k]) * sizeof *y);
}

void scree_halo_complete(const scree_Halo *halo, double *y, size_t stride) {
  if (!halo) return;
  if (!halo->sums) {
    scree_halo_exchange(halo, &halo->all, y, stride);
    return;
  }
  pack(halo, &halo->all, y, stride);
  exchange(halo, &halo->all);
  for (int k = 0; k < halo->nshared; ++k) {
    double *block = y + block_at(halo, halo->shared[k], stride);
    for (size_t i = 0, size = length_of(halo, halo->shared[k]); i < size; ++i) {
      double sum = 0.0;
      for (size_t s = halo->source_start[k]; s < halo->source_start[k + 1]; ++s)
        sum += halo->source[s] < 0
                   ? block[i]
                   : halo->in[entry_at(halo, halo->in_at, (size_t)halo->source[s]) + i];
      block[i] = sum;
    }
  }
}
