/* Ranks by MPI (see ranks.h). MPI's default is kept that a failed call ends all ranks: a rank that
 * dies is noticed by mpirun, which ends the others, so that none waits for it. */
#include "parallel/mpi_ranks.h"

#include "core/log.h"
#include "core/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

double scree_ranks_sum(const scree_Ranks *ranks, double mine) {
  if (!ranks) return mine;
  const double *all = scree_ranks_gather(ranks, &mine, sizeof mine);
  double sum = 0.0;
  for (int k = 0; k < ranks->size; ++k) sum += all[k];
  return sum;
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

void scree_ranks_collect(const scree_Ranks *ranks, const double *mine, const int *count,
                         double *all) {
  if (!ranks) return;
  scree_Ranks *own = scree_ranks_own(ranks);
  for (int k = 0, at = 0; k < own->size; at += count[k++]) own->offset[k] = at;
  MPI_Allgatherv(mine, count[own->rank], MPI_DOUBLE, all, count, own->offset, MPI_DOUBLE,
                 own->comm);
  ++own->counts.synchronisations;
}

void scree_ranks_broadcast(const scree_Ranks *ranks, int *numbers, int count) {
  if (!ranks) return;
  MPI_Bcast(numbers, count, MPI_INT, 0, ranks->comm);
  ++scree_ranks_own(ranks)->counts.synchronisations;
}
