/* Vectors of SUNDIALS with the operations of this library: sums that use the threads and the ranks
 * of an operator. With the serial vectors of SUNDIALS half of the time of GMRES was spent on
 * orthogonalisation, on one thread. */
#ifndef SCREE_SOLVER_PQN_VECTOR_H
#define SCREE_SOLVER_PQN_VECTOR_H

#include "problem/operator.h"

#include <nvector/nvector_serial.h>

/* A view of x (W->rows), or null. W must outlive it and its clones. */
N_Vector scree_pqn_vector(const scree_Operator *W, double *x, SUNContext context);

#endif
