/* Costs of a sweep and of a factorisation, in seconds of a reference core, computed from counts of
 * operations: decisions that use these prices give the same bits on every machine. */
#ifndef SCREE_SOLVER_PRICE_H
#define SCREE_SOLVER_PRICE_H

#include "problem/operator.h"

/* Whether sweeps visit contact by contact, several times slower: the associated law with friction,
 * and non-associated flow. */
bool scree_price_is_slow(const scree_Problem *problem);

/* One sweep of Gauss-Seidel. `balls`: the fast path of balls is used. */
double scree_price_sweep(const scree_Problem *problem, bool balls);

/* The same before the kind of sweeps is known. */
SCREE_PRIVATE double scree_sweep_seconds(const scree_Problem *problem);

/* One factorisation with its solves, from the operations and the entries of the factor. */
double scree_price_factorisation(const scree_Operator *W, double flops, double entries);

#endif
