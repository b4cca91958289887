/* The exchange of shared blocks by MPI (see halo.h). */
#include "parallel/halo.h"

#include "parallel/mpi_ranks.h"

#include <string.h>

enum { TAG = 1 };

/* One message to and one from each neighbour that has blocks in the lists: out to in. */
static void exchange(const scree_Halo *halo, const scree_HaloLists *lists) {
  scree_Ranks *ranks = scree_ranks_own(halo->ranks);
  const size_t size = (size_t)halo->size;
  int pending = 0;
  for (int k = 0; k < halo->neighbours; ++k) {
    const size_t first = lists->receive_start[k], n = lists->receive_start[k + 1] - first;
    if (n)
      MPI_Irecv(halo->in + first * size, (int)(n * size), MPI_DOUBLE, halo->neighbour[k], TAG,
                ranks->comm, &ranks->requests[pending++]);
  }
  for (int k = 0; k < halo->neighbours; ++k) {
    const size_t first = lists->send_start[k], n = lists->send_start[k + 1] - first;
    if (!n) continue;
    MPI_Isend(halo->out + first * size, (int)(n * size), MPI_DOUBLE, halo->neighbour[k], TAG,
              ranks->comm, &ranks->requests[pending++]);
    ++ranks->counts.messages;
    ranks->counts.bytes += (long long)(n * size * sizeof(double));
  }
  MPI_Waitall(pending, ranks->requests, MPI_STATUSES_IGNORE);
}

static void pack(const scree_Halo *halo, const scree_HaloLists *lists, const double *y,
                 size_t stride) {
  const size_t size = (size_t)halo->size, first = lists->send_start[0];
  for (size_t k = first; k < lists->send_start[halo->neighbours]; ++k)
    memcpy(halo->out + k * size, y + (size_t)lists->send[k] * stride, size * sizeof *y);
}

void scree_halo_exchange(const scree_Halo *halo, const scree_HaloLists *lists, double *y,
                         size_t stride) {
  if (!halo) return;
  const size_t size = (size_t)halo->size;
  pack(halo, lists, y, stride);
  exchange(halo, lists);
  for (size_t k = 0; k < lists->receive_start[halo->neighbours]; ++k)
    memcpy(y + (size_t)lists->receive[k] * stride, halo->in + k * size, size * sizeof *y);
}

void scree_halo_complete(const scree_Halo *halo, double *y, size_t stride) {
  if (!halo) return;
  if (!halo->sums) {
    scree_halo_exchange(halo, &halo->all, y, stride);
    return;
  }
  const size_t size = (size_t)halo->size;
  pack(halo, &halo->all, y, stride);
  exchange(halo, &halo->all);
  for (int k = 0; k < halo->nshared; ++k) {
    double *block = y + (size_t)halo->shared[k] * stride;
    for (size_t i = 0; i < size; ++i) {
      double sum = 0.0;
      for (size_t s = halo->source_start[k]; s < halo->source_start[k + 1]; ++s)
        sum += halo->source[s] < 0 ? block[i] : halo->in[(size_t)halo->source[s] * size + i];
      block[i] = sum;
    }
  }
}
