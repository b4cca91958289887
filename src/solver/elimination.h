/* Data that a solver keeps about its factorisations: a good order of elimination, and the work of
 * a factorisation. Both influence results (the order their round-off, the work the
 * decisions of `auto`), and neither follows from the current problem alone, so this is the part of
 * a scree_Solver that is saved and restored (scree/solver.h).
 *
 * The order is stored by the names of the nodes (scree_BodyRows.id, else their numbers), since
 * each problem numbers its bodies anew. For the next pattern, known nodes keep their order.
 * New nodes are eliminated before all others: a body that has just come into contact has few
 * neighbours, and eliminating it first causes fill only among these. Removed nodes are skipped.
 *
 * The quality of such an order degrades: where 0.4 per cent of the contacts of a packing change in
 * a step, a factorisation needs 1.0 to 1.4 times the operations of a new order in the next four
 * steps, and 2 times (space) to 7 times (plane) after 16 steps (bench/results/solver.txt). These
 * losses are accumulated over the solves, and when they reach the time of computing an order, a new
 * one is computed: soon with AMD, which is cheap, after some steps with METIS. So the time lost
 * with old orders never exceeds the time spent on new ones. */
#ifndef SCREE_SOLVER_ELIMINATION_H
#define SCREE_SOLVER_ELIMINATION_H

#include "core/arena.h"
#include "math/factor.h"

typedef struct scree_Elimination {
  int count; /* nodes in the order, 0: there is none */
  size_t capacity;
  int *id;               /* (count) their names, in the order of elimination */
  int nodes, nb;         /* nodes and their size when the order was new */
  double operations;     /* operations of a factorisation then (scree_FactorOrder) */
  double current;        /* operations with the last pattern that was analysed */
  double loss;           /* accumulated loss compared with a new order, in nanoseconds */
  int analysed;          /* nodes of that pattern, 0: none */
  double flops, entries; /* of its factorisation */
} scree_Elimination;

/* Prepare `order` for n nodes of size nb with names id (null: their numbers): nodes in the stored
 * order, and the limit of its work. order->node (n) is taken from the arena. */
scree_Status scree_elimination_propose(const scree_Elimination *elimination, int n, int nb,
                                       const int *id, scree_Arena *arena, const scree_Log *log,
                                       scree_FactorOrder *order);

/* Whether the order is still good enough for the pattern that was analysed last. */
bool scree_elimination_is_good(const scree_Elimination *elimination);

/* Call when a solve factorises with the current order: adds up its loss. */
void scree_elimination_use(scree_Elimination *elimination);

/* Store the order that was used and the work of the factor that was analysed with it. */
scree_Status scree_elimination_remember(scree_Elimination *elimination, int n, int nb,
                                        const int *id, const scree_FactorOrder *order,
                                        const scree_Factor *factor, const scree_Log *log);

/* The work of a factorisation with n nodes of size nb, from the last analysed pattern if it has
 * about as many nodes. False: a pattern has to be analysed first. */
bool scree_elimination_work(const scree_Elimination *elimination, int n, int nb, double *flops,
                            double *entries);

void scree_elimination_fini(scree_Elimination *elimination);

/* As new, but with its memory. */
void scree_elimination_forget(scree_Elimination *elimination);

/* Bytes of scree_elimination_save. */
size_t scree_elimination_size(const scree_Elimination *elimination);
/* Write; returns the end. */
char *scree_elimination_save(const scree_Elimination *elimination, char *buffer);
/* The end of the data written at `buffer`, or null if buffer .. end is not valid. */
const char *scree_elimination_check(const char *buffer, const char *end);
/* Read data that has been checked. */
scree_Status scree_elimination_restore(scree_Elimination *elimination, const char *buffer,
                                       const scree_Log *log);

#endif
