/* Checks that creating and checking a problem share. */
#ifndef SCREE_PROBLEM_CHECK_H
#define SCREE_PROBLEM_CHECK_H

#include "scree/problem.h"

/* The size of the contacts and their number. */
scree_Status scree_problem_check_sizes(int d, int nc, const scree_Log *log);

#endif
