/* CPU time of this process outside of MPI: what a rank computes, packs and unpacks, without its
 * waiting for others. MPI's profiling interface makes this possible: calls of the library find the
 * functions below first. Counted work takes the same CPU time however many other programs use the
 * processors; waiting does not. Include it in one file of a program. */
#ifndef SCREE_BENCH_OWN_TIME_H
#define SCREE_BENCH_OWN_TIME_H

#include "core/clock.h"

static double own_inside;

#ifdef SCREE_MPI
#include <mpi.h>

#define OWN_TIME(call)                                                                             \
  do {                                                                                             \
    const double start = scree_processor_seconds();                                                \
    const int error = (call);                                                                      \
    own_inside += scree_processor_seconds() - start;                                               \
    return error;                                                                                  \
  } while (0)

int MPI_Allgather(const void *out, int sent, MPI_Datatype of, void *in, int got, MPI_Datatype as,
                  MPI_Comm comm) {
  OWN_TIME(PMPI_Allgather(out, sent, of, in, got, as, comm));
}

int MPI_Alltoall(const void *out, int sent, MPI_Datatype of, void *in, int got, MPI_Datatype as,
                 MPI_Comm comm) {
  OWN_TIME(PMPI_Alltoall(out, sent, of, in, got, as, comm));
}

int MPI_Isend(const void *out, int count, MPI_Datatype of, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
  OWN_TIME(PMPI_Isend(out, count, of, to, tag, comm, request));
}

int MPI_Irecv(void *in, int count, MPI_Datatype of, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
  OWN_TIME(PMPI_Irecv(in, count, of, from, tag, comm, request));
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  OWN_TIME(PMPI_Waitall(count, requests, statuses));
}
#endif

static double own_seconds(void) {
  return scree_processor_seconds() - own_inside;
}

#endif
