/* Whether threads pay for a kind of loop, by trying.
 *
 * How long threads wait for each other differs from machine to machine, and on a virtual one from
 * minute to minute: a sweep of 10 000 contacts on two threads took 0.55 or 1.05 of its time on one.
 * So the cost of a loop is measured with one thread and with all, the cheaper is used, and the
 * other is tried again now and then. Results do not depend on the number of threads, only times
 * do. */
#ifndef SCREE_CORE_PACE_H
#define SCREE_CORE_PACE_H

/* Costs of loops of one kind and size; all zero at the beginning. */
typedef struct scree_Pace {
  double one, many; /* of a loop with one thread and with more, 0: not tried yet */
  int turn;         /* loops since the dearer was tried */
} scree_Pace;

/* The threads for the next loop: 1 or `most`. */
int scree_pace_threads(scree_Pace *pace, int most);

/* What a loop with so many threads has cost, in any unit; not a finite cost above 0: nothing. */
void scree_pace_add(scree_Pace *pace, int threads, double cost);

#endif
