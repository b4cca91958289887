/* Ranks by MPI (see ranks.h). MPI's default is kept that a failed call ends all ranks: a rank that
 * dies is noticed by mpirun, which ends the others, so that none waits for it. */
#define _POSIX_C_SOURCE 200809L
#include "parallel/mpi_ranks.h"

#include "core/log.h"
#include "core/memory.h"
#include "parallel/petsc_mpi.h"

#include <assert.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Whether a launcher started this process. Without one MPI_Init would start a service of its own,
 * which takes longer than most solves. */
static bool has_launcher(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                                      "MPI_LOCALNRANKS"};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (getenv(names[k])) return true;
  return false;
}

static void free_ranks(scree_Ranks *ranks) {
  scree_free(ranks->gathered);
  scree_free(ranks->requests);
  scree_free(ranks->offset);
  scree_free(ranks);
}

scree_Status scree_ranks_create(scree_Ranks **out, const scree_Log *log) {
  *out = NULL;
  int initialised = 0, provided = 0, size = 0;
  MPI_Initialized(&initialised);
  if (!initialised && !has_launcher()) return SCREE_OK;
  if (!initialised && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided))
    return scree_fail(log, SCREE_MACHINE, "MPI cannot be initialised");
#ifdef M_MMAP_MAX
  /* large arrays go back to the system when they are freed: libraries below MPI switch that off */
  mallopt(M_MMAP_MAX, 65536);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  scree_Ranks *ranks = SCREE_ALLOC(scree_Ranks, 1);
  if (!ranks) return scree_fail_memory(log, "the ranks");
  ranks->started = !initialised;
  MPI_Comm_dup(MPI_COMM_WORLD, &ranks->comm);
  MPI_Comm_rank(ranks->comm, &ranks->rank);
  MPI_Comm_size(ranks->comm, &size);
  ranks->size = size;
  ranks->gathered = SCREE_ALLOC(char, (size_t)size *SCREE_GATHER_MOST);
  ranks->requests = SCREE_ALLOC(MPI_Request, 2 * (size_t)size);
  ranks->offset = SCREE_ALLOC(int, (size_t)size);
  if (!ranks->gathered || !ranks->requests || !ranks->offset) {
    free_ranks(ranks);
    return scree_fail_memory(log, "the ranks");
  }
  *out = ranks;
  return SCREE_OK;
}

void scree_ranks_destroy(scree_Ranks *ranks) {
  if (!ranks) return;
  scree_petsc_end(ranks);
  MPI_Comm_free(&ranks->comm);
  if (ranks->started) MPI_Finalize();
  free_ranks(ranks);
}

int scree_ranks_rank(const scree_Ranks *ranks) {
  return ranks ? ranks->rank : 0;
}

int scree_ranks_size(const scree_Ranks *ranks) {
  return ranks ? ranks->size : 1;
}

int scree_ranks_count(const scree_Ranks *ranks) {
  return ranks ? ranks->size : 1;
}

scree_RankCounts scree_ranks_counts(const scree_Ranks *ranks) {
  return ranks ? ranks->counts : (scree_RankCounts){0};
}

const void *scree_ranks_gather(const scree_Ranks *ranks, const void *mine, size_t bytes) {
  if (!ranks) return mine;
  scree_Ranks *own = scree_ranks_own(ranks);
  assert(bytes <= SCREE_GATHER_MOST);
  MPI_Allgather(mine, (int)bytes, MPI_BYTE, own->gathered, (int)bytes, MPI_BYTE, own->comm);
  ++own->counts.synchronisations;
  return own->gathered;
}

void scree_ranks_sums(const scree_Ranks *ranks, double *numbers, size_t count) {
  if (!ranks) return;
  const double *all = scree_ranks_gather(ranks, numbers, count * sizeof *numbers);
  for (size_t k = 0; k < count; ++k) {
    numbers[k] = 0.0;
    for (int rank = 0; rank < ranks->size; ++rank) numbers[k] += all[(size_t)rank * count + k];
  }
}

double scree_ranks_sum(const scree_Ranks *ranks, double mine) {
  scree_ranks_sums(ranks, &mine, 1);
  return mine;
}

double scree_ranks_max(const scree_Ranks *ranks, double mine) {
  if (!ranks) return mine;
  const double *all = scree_ranks_gather(ranks, &mine, sizeof mine);
  double largest = all[0];
  for (int k = 1; k < ranks->size; ++k) largest = fmax(largest, all[k]);
  return largest;
}

double scree_ranks_norm(const scree_Ranks *ranks, double mine) {
  if (!ranks) return mine;
  const double *all = scree_ranks_gather(ranks, &mine, sizeof mine);
  double largest = 0.0, sum = 0.0;
  for (int k = 0; k < ranks->size; ++k) {
    if (isnan(all[k])) return all[k];
    largest = fmax(largest, all[k]);
  }
  if (!(largest > 0.0) || isinf(largest)) return largest;
  for (int k = 0; k < ranks->size; ++k) sum += (all[k] / largest) * (all[k] / largest);
  return largest * sqrt(sum);
}

bool scree_ranks_any(const scree_Ranks *ranks, bool mine) {
  if (!ranks) return mine;
  const bool *all = scree_ranks_gather(ranks, &mine, sizeof mine);
  bool any = false;
  for (int k = 0; k < ranks->size; ++k) any = any || all[k];
  return any;
}

scree_Status scree_ranks_agree(const scree_Ranks *ranks, scree_Status mine, const scree_Log *log) {
  if (!ranks) return mine;
  const int status = (int)mine;
  const int *all = scree_ranks_gather(ranks, &status, sizeof status);
  int worst = 0;
  for (int k = 1; k < ranks->size; ++k)
    if (all[k] > all[worst]) worst = k;
  if (all[worst] == status) return mine;
  const scree_Status other = (scree_Status)all[worst];
  if (other == SCREE_BAD_INPUT || other == SCREE_MACHINE)
    return scree_fail(log, other, "rank %d: %s", worst, scree_status_name(other));
  return other;
}

static void find_offsets(scree_Ranks *own, const int *count) {
  for (int k = 0, at = 0; k < own->size; at += count[k++]) own->offset[k] = at;
}

void scree_ranks_collect(const scree_Ranks *ranks, const double *mine, const int *count,
                         double *all) {
  if (!ranks) return;
  scree_Ranks *own = scree_ranks_own(ranks);
  find_offsets(own, count);
  MPI_Gatherv(mine, count[own->rank], MPI_DOUBLE, all, count, own->offset, MPI_DOUBLE, 0,
              own->comm);
  ++own->counts.synchronisations;
}

void scree_ranks_scatter(const scree_Ranks *ranks, const double *all, const int *count,
                         double *mine) {
  if (!ranks) return;
  scree_Ranks *own = scree_ranks_own(ranks);
  find_offsets(own, count);
  MPI_Scatterv(all, count, own->offset, MPI_DOUBLE, mine, count[own->rank], MPI_DOUBLE, 0,
               own->comm);
  ++own->counts.synchronisations;
}

/* A large message goes in pieces that an int counts. */
enum { PIECE = 1 << 30, SPINS = 2000, SLEEP_NANOSECONDS = 50000 };

void scree_ranks_broadcast(const scree_Ranks *ranks, void *bytes, size_t count) {
  if (!ranks) return;
  scree_Ranks *own = scree_ranks_own(ranks);
  const struct timespec pause = {0, SLEEP_NANOSECONDS};
  for (size_t at = 0; at < count; at += PIECE) {
    const int n = count - at < PIECE ? (int)(count - at) : PIECE;
    MPI_Request request;
    MPI_Ibcast((char *)bytes + at, n, MPI_BYTE, 0, own->comm, &request);
    int done = 0;
    for (int spins = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done; ++spins)
      if (spins > SPINS) nanosleep(&pause, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* at once: it is done */
  }
  ++own->counts.synchronisations;
}

/* As many numbers as fit into the room of a gather at a time. */
enum { AT_ONCE = SCREE_GATHER_MOST / 8 };

void scree_ranks_add(const scree_Ranks *ranks, double *numbers, size_t count) {
  for (size_t at = 0; ranks && at < count; at += AT_ONCE)
    scree_ranks_sums(ranks, numbers + at, count - at < AT_ONCE ? count - at : AT_ONCE);
}

void scree_ranks_most(const scree_Ranks *ranks, double *numbers, size_t count) {
  for (size_t at = 0; ranks && at < count; at += AT_ONCE) {
    const size_t n = count - at < AT_ONCE ? count - at : AT_ONCE;
    const double *all = scree_ranks_gather(ranks, numbers + at, n * sizeof *numbers);
    for (size_t k = 0; k < n; ++k)
      for (int rank = 0; rank < ranks->size; ++rank)
        numbers[at + k] = fmax(rank ? numbers[at + k] : -INFINITY, all[(size_t)rank * n + k]);
  }
}

void scree_ranks_gather_all(const scree_Ranks *ranks, const void *mine, size_t bytes, void *all) {
  if (!ranks) {
    if (bytes) memcpy(all, mine, bytes);
    return;
  }
  scree_Ranks *own = scree_ranks_own(ranks);
  assert(bytes <= PIECE);
  MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, own->comm);
  ++own->counts.synchronisations;
}

void scree_ranks_swap_sizes(const scree_Ranks *ranks, const size_t *out, size_t *in) {
  if (!ranks) {
    in[0] = out[0];
    return;
  }
  scree_Ranks *own = scree_ranks_own(ranks);
  MPI_Alltoall(out, (int)sizeof *out, MPI_BYTE, in, (int)sizeof *in, MPI_BYTE, own->comm);
  ++own->counts.synchronisations;
}

/* One message to and one from each rank with which there are bytes to exchange. Long ones go in
 * pieces, one round after the other: both sides know how many. */
void scree_ranks_swap(const scree_Ranks *ranks, const void *out, const size_t *out_size, void *in,
                      const size_t *in_size) {
  if (!ranks) {
    if (out_size[0]) memcpy(in, out, out_size[0]);
    return;
  }
  scree_Ranks *own = scree_ranks_own(ranks);
  enum { TAG = 2 };
  bool more = true;
  for (size_t at = 0; more; at += PIECE) {
    const char *from = out;
    char *to = in;
    int pending = 0;
    more = false;
    for (int k = 0; k < own->size; to += in_size[k++]) {
      if (k == own->rank || in_size[k] <= at) continue;
      const size_t left = in_size[k] - at;
      MPI_Irecv(to + at, (int)(left < PIECE ? left : PIECE), MPI_BYTE, k, TAG, own->comm,
                &own->requests[pending++]);
      more = more || left > PIECE;
    }
    for (int k = 0; k < own->size; from += out_size[k++]) {
      if (k == own->rank || out_size[k] <= at) continue;
      const size_t left = out_size[k] - at, n = left < PIECE ? left : PIECE;
      MPI_Isend(from + at, (int)n, MPI_BYTE, k, TAG, own->comm, &own->requests[pending++]);
      more = more || left > PIECE;
      ++own->counts.messages;
      own->counts.bytes += (long long)n;
    }
    MPI_Waitall(pending, own->requests, MPI_STATUSES_IGNORE);
  }
  const char *from = out;
  char *to = in;
  for (int k = 0; k < own->rank; ++k) {
    from += out_size[k];
    to += in_size[k];
  }
  if (out_size[own->rank]) memcpy(to, from, out_size[own->rank]);
}

void scree_ranks_send(const scree_Ranks *ranks, int to, const double *numbers, size_t count) {
  if (!ranks) return;
  scree_Ranks *own = scree_ranks_own(ranks);
  enum { MOST = PIECE / 8 };
  for (size_t at = 0; at < count; at += MOST) {
    const int n = count - at < MOST ? (int)(count - at) : MOST;
    MPI_Send(numbers + at, n, MPI_DOUBLE, to, 0, own->comm);
    ++own->counts.messages;
  }
  own->counts.bytes += (long long)(count * sizeof *numbers);
}

void scree_ranks_receive(const scree_Ranks *ranks, double *numbers, size_t count) {
  if (!ranks) return;
  enum { MOST = PIECE / 8 };
  for (size_t at = 0; at < count; at += MOST) {
    const int n = count - at < MOST ? (int)(count - at) : MOST;
    MPI_Recv(numbers + at, n, MPI_DOUBLE, 0, 0, ranks->comm, MPI_STATUS_IGNORE);
  }
}
