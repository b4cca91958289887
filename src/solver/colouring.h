/* An order of the contacts for Gauss-Seidel that does not depend on the number of threads: colours
 * are visited one after the other, and no two contacts of a colour are coupled, so they may
 * be visited in parallel with the same bits. */
#ifndef SCREE_SOLVER_COLOURING_H
#define SCREE_SOLVER_COLOURING_H

#include "problem/operator.h"

typedef struct scree_Colouring {
  int colours;
  int *start;  /* (colours + 1) range of each colour in `order` */
  int *order;  /* (nc) contacts, colour by colour, ascending within a colour */
  int *serial; /* (colours) 1 if the contacts of the colour are coupled: not in parallel */
} scree_Colouring;

/* Greedy colouring in the order of the contacts. Contacts of a body with very many contacts (a
 * plate on a packing) would need a colour each; they form one serial group at the end. The result
 * depends on the graph of the contacts alone. Its arrays are taken from the arena. */
scree_Status scree_colouring_create(const scree_Operator *W, scree_Arena *arena,
                                    scree_Colouring *colouring, const scree_Log *log);

/* One serial group in natural order: for problems too small to gain from threads. */
scree_Status scree_colouring_natural(const scree_Operator *W, scree_Arena *arena,
                                     scree_Colouring *colouring, const scree_Log *log);

#endif
