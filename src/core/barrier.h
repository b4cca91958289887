/* A barrier for loops with many of them.
 *
 * A thread that waits spins for some microseconds, then sleeps. OpenMP's barrier spins for
 * milliseconds: when another program holds a processor, the thread that waits keeps the other
 * processor busy, and the one that is missing gets its turn late.
 *
 * The memory is that of the caller; count is the number of threads that meet. */
#ifndef SCREE_CORE_BARRIER_H
#define SCREE_CORE_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>

typedef struct scree_Barrier {
  int count;
  atomic_int arrived;
  atomic_int phase; /* increases when all have arrived */
  int asleep;       /* guarded by the mutex */
  pthread_mutex_t mutex;
  pthread_cond_t wake;
} scree_Barrier;

void scree_barrier_init(scree_Barrier *barrier, int count);
void scree_barrier_fini(scree_Barrier *barrier);

/* Return when `count` threads have called it. What they wrote before is seen by all after. */
void scree_barrier_wait(scree_Barrier *barrier);

#endif
