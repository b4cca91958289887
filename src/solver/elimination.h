/* What a solver remembers of its factorisations: an order of elimination that was good, and how
 * much work a factorisation was. Both influence results (the order their round-off, the work the
 * decisions of `auto`), and neither follows from the problem at hand alone, so this is the part of
 * a scree_Solver that is saved and restored (scree/solver.h).
 *
 * The order is kept by the names of the nodes (scree_BodyRows.id, else their numbers), since
 * problems number their bodies anew. For the next pattern, nodes that are known keep their order.
 * Those that are new are eliminated before all others: a body that has just come into contact has
 * few neighbours, and eliminated first it joins only these, wherever else it would be put before
 * them. Nodes that have gone are left out.
 *
 * An order that is kept so gets worse: where 0.4 per cent of the contacts of a packing change in a
 * step, a factorisation needs 1.0 to 1.4 times the operations of a new order in the next four
 * steps, and 2 times (space) to 7 times (plane) after 16 steps (bench/results/solver.txt). Such
 * losses are added up from solve to solve, and when they come to the time that it takes to look for
 * an order, a new one is looked for: with AMD, which is cheap, soon, with METIS after some steps.
 * Time lost with old orders is so never more than time spent on new ones. */
#ifndef SCREE_SOLVER_ELIMINATION_H
#define SCREE_SOLVER_ELIMINATION_H

#include "core/arena.h"
#include "math/factor.h"

typedef struct scree_Elimination {
  int count; /* nodes in the order, 0: none is known */
  size_t capacity;
  int *id;               /* (count) their names, in the order of elimination */
  int nodes, nb;         /* nodes and their size when the order was new */
  double operations;     /* and those of a factorisation (scree_FactorOrder) */
  double current;        /* with the last pattern that was analysed */
  double loss;           /* nanoseconds that this order has cost more than a new one, so far */
  int analysed;          /* nodes of that pattern, 0: none */
  double flops, entries; /* of its factorisation */
} scree_Elimination;

/* Prepare `order` for n nodes of size nb with names id (null: their numbers): nodes in the order
 * that is remembered, and how much work it may be. order->node (n) is taken from the arena. */
scree_Status scree_elimination_propose(const scree_Elimination *elimination, int n, int nb,
                                       const int *id, scree_Arena *arena, const scree_Log *log,
                                       scree_FactorOrder *order);

/* Whether the order is still good enough for the pattern that was analysed last. */
bool scree_elimination_is_good(const scree_Elimination *elimination);

/* A solve factorises with the order at hand: add up its loss. */
void scree_elimination_use(scree_Elimination *elimination);

/* Remember the order that was taken and the work of the factor that was analysed with it. */
scree_Status scree_elimination_remember(scree_Elimination *elimination, int n, int nb,
                                        const int *id, const scree_FactorOrder *order,
                                        const scree_Factor *factor, const scree_Log *log);

/* The work of a factorisation with n nodes of size nb as far as it is remembered: that of a pattern
 * of about as many nodes. False: such a pattern has to be analysed first. */
bool scree_elimination_work(const scree_Elimination *elimination, int n, int nb, double *flops,
                            double *entries);

void scree_elimination_fini(scree_Elimination *elimination);

/* Bytes of scree_elimination_save. */
size_t scree_elimination_size(const scree_Elimination *elimination);
/* Write; returns the end. */
char *scree_elimination_save(const scree_Elimination *elimination, char *buffer);
/* The end of what was written at `buffer`, or null when buffer .. end holds nothing sound. */
const char *scree_elimination_check(const char *buffer, const char *end);
/* Read what has been checked. */
scree_Status scree_elimination_restore(scree_Elimination *elimination, const char *buffer,
                                       const scree_Log *log);

#endif
