/* Contacts of bodies of different sizes as contacts of bodies of one size.
 *
 * Contacts of pseudo-rigid bodies are constraints of any size over vertices of 12 components
 * (scree/problem.h). Where no vertices are coupled and each constraint has d rows on at most two
 * vertices, the problem is one of contacts over bodies with as many components as the largest
 * vertex, the further components of smaller ones being zero. In that form it is divided between
 * ranks. Rows, sets, r and u are the same; the bodies are followed by the vertices. */
#ifndef SCREE_PROBLEM_WIDEN_H
#define SCREE_PROBLEM_WIDEN_H

#include "core/arena.h"
#include "scree/problem.h"

/* Whether a problem with constraints of any size has such a form. */
bool scree_problem_can_widen(const scree_Problem *problem);

/* A view of it in that form; what it does not share is from the arena. `bodies.id` is not set. */
scree_Status scree_problem_widen(const scree_Problem *problem, scree_Arena *arena,
                                 scree_Problem *wide, const scree_Log *log);

/* Velocities as those of the problem's operator lie (problem/operator.h), from those of `wide`. */
scree_Status scree_problem_narrow(const scree_Problem *problem, const scree_Problem *wide,
                                  const double *velocities, scree_Arena *arena,
                                  const double **narrow, const scree_Log *log);

#endif
