/* Costs of a sweep and of a factorisation, in seconds of a reference core, computed from counts of
 * operations: decisions that use these prices give the same bits on every machine. */
#ifndef SCREE_SOLVER_PRICE_H
#define SCREE_SOLVER_PRICE_H

#include "parallel/shared_factor.h"
#include "problem/operator.h"

/* Whether sweeps visit contact by contact, several times slower: the associated law with friction,
 * and non-associated flow. */
bool scree_price_is_slow(const scree_Problem *problem);

/* One sweep of Gauss-Seidel. `balls`: the fast path of balls is used. */
double scree_price_sweep(const scree_Problem *problem, bool balls);

/* The same before the kind of sweeps is known. */
SCREE_PRIVATE double scree_sweep_seconds(const scree_Problem *problem);

/* The same on several ranks, called by all of them: the largest part, with its messages. `exact`:
 * an exchange after each colour. */
double scree_price_shared_sweep(const scree_Operator *W, bool balls, bool exact);

/* One factorisation with its solves on all ranks; and on one of them alone. */
double scree_price_shared_factorisation(const scree_Operator *W, const scree_SharedWork *work,
                                        bool alone);

/* One factorisation with its solves, from the operations and the entries of the factor. */
double scree_price_factorisation(const scree_Operator *W, double flops, double entries);

#endif
