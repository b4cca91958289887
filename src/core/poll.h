/* The caller's request to stop, polled during long computations.
 *
 * Loops that may run for more than a few hundredths of a second call scree_poll now and then, from
 * the thread that called the library, and leave with SCREE_INTERRUPTED when it returns true. After
 * that it stays true: everything that is still running ends at its next call. */
#ifndef SCREE_CORE_POLL_H
#define SCREE_CORE_POLL_H

#include "scree/base.h"

typedef struct scree_Poll {
  bool (*interrupted)(void *user); /* the caller's callback; null: never stop */
  void *user;
  bool stopped; /* it has returned true */
} scree_Poll;

/* A null poll never stops. */
static inline bool scree_poll(scree_Poll *poll) {
  if (!poll || !poll->interrupted) return false;
  if (!poll->stopped) poll->stopped = poll->interrupted(poll->user);
  return poll->stopped;
}

#endif
