/* Islands: contacts that are coupled by no chain of bodies do not influence each other, since
 * obstacles transmit nothing. Each island is a problem of its own, with an error of its own: one
 * that satisfies the law already can keep its impulses while the others are solved. */
#ifndef SCREE_PROBLEM_ISLANDS_H
#define SCREE_PROBLEM_ISLANDS_H

#include "core/arena.h"
#include "core/private.h"
#include "problem/operator.h"

typedef struct scree_Islands {
  int count;
  int *of;     /* (nc) island of a contact; numbered in the order of their first contacts */
  int *size;   /* (count) contacts */
  bool *bound; /* (count) constraints other than contacts act on its bodies: joints, elements */
  int largest; /* size of the largest */
} scree_Islands;

/* Bodies that are coupled by other constraints than contacts are in one island as well. With an
 * assembled W all contacts are one island. Memory is from the arena. */
SCREE_PRIVATE scree_Status scree_islands_find(const scree_Problem *problem, scree_Arena *arena,
                                              scree_Islands *islands, const scree_Log *log);

/* Norms over the contacts of an island. */
typedef struct scree_IslandNorms {
  double rho; /* given: of the natural map */
  double map; /* |r - P(r - rho (u + s(u)))| */
  double r, q, u;
} scree_IslandNorms;

/* Fill all but rho of norms (count), for r with velocities u: the same bits for any number of
 * threads. */
SCREE_PRIVATE void scree_islands_norms(const scree_Problem *problem, const scree_Islands *islands,
                                       const double *r, const double *u, int threads,
                                       scree_IslandNorms *norms);

/* The `error` of an island alone, relative to its own scale; zero where that is zero. */
double scree_island_error(const scree_IslandNorms *norms);

#endif
