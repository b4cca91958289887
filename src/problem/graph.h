/* The contacts of each body, for problems in body form. */
#ifndef SCREE_PROBLEM_GRAPH_H
#define SCREE_PROBLEM_GRAPH_H

#include "core/arena.h"
#include "scree/problem.h"

/* Body b's entries are (*entry)[(*row)[b]] .. (*entry)[(*row)[b+1]-1], each 2*c + side, ascending.
 * Both arrays are taken from the arena. */
scree_Status scree_body_graph(const scree_Problem *problem, scree_Arena *arena, size_t **row,
                              int **entry, const scree_Log *log);

#endif
