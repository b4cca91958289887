/* The linear systems of Newton-like methods, factorised.
 *
 * Body form:       (A + B^T G B) dy = b      over the vertices, G block-diagonal (W->squares)
 * Assembled form:  (L W + G) dr = b          over the contacts, L block-diagonal too
 * The nodes are bodies, or contacts; with constraints of any size, further vertices, or bodies too
 * large for a node they are pieces of vertices (problem/pieces.h), the ground among them, so that
 * the unknowns lie as in the state of the operator.
 * Both have a symmetric block pattern that does not change during a solve, and values that are
 * unsymmetric when G is. The pattern is analysed once, and the analysis is kept for the next
 * problem with the same pattern; for a nearly equal pattern the order of elimination is reused
 * (elimination.h).
 *
 * Several ranks. Each rank assembles the part of its own constraints over the bodies that it holds,
 * and A where it owns the body; the sum of these parts is solved by parallel/shared_factor.h. b is
 * complete, and the solution is on every rank that holds a body. All functions are then called by
 * all ranks together, and the analysis is kept for one solve only. */
#ifndef SCREE_SOLVER_GRAPH_SYSTEM_H
#define SCREE_SOLVER_GRAPH_SYSTEM_H

#include "parallel/shared_factor.h"
#include "problem/operator.h"
#include "solver/elimination.h"

typedef struct scree_GraphSystem {
  const scree_Operator *W;
  const scree_Log *log;
  scree_Arena kept;     /* of all arrays but `slot`: until the pattern changes */
  scree_Arena slots;    /* of that one: until the contacts change */
  bool analysed;        /* there is a factor for the pattern */
  int graph;            /* the number of the graph that `slot` belongs to (kept_graph.h) */
  int n, nb;            /* block nodes and their size */
  bool pieces;          /* they are pieces of vertices */
  size_t size;          /* n * nb unknowns */
  size_t *row;          /* (n + 1) block pattern */
  int *col;             /* (row[n]) */
  double *x;            /* (row[n] x nb x nb) values, allocated with the first matrix */
  int *id;              /* (n) names of the nodes, or null: their numbers */
  int *slot;            /* body form: (nc x 4) blocks (0,0) (0,1) (1,0) (1,1) of a contact */
  size_t *pair;         /* (general.count + 1) pairs of vertices of each constraint of any size */
  int *pair_slot;       /* (pair[general.count]) start of the block of a pair */
  int *coupled_slot;    /* (couplings x 2) the same for the blocks of E, and for their transposes */
  double *room;         /* for G B of one constraint */
  scree_Factor *factor; /* on one rank */
  scree_SharedFactor *shared;   /* on several, else null */
  scree_SharedMethod method;    /* of those; set by the caller before a factorisation */
  scree_SharedWork shared_work; /* of one direct factorisation there */
  double *work, *residual;      /* (size) */
} scree_GraphSystem;

/* The names of scree_SharedMethod, for options; null ends. */
extern const char *const scree_graph_system_methods[];

/* Whether there can be a system of W: on one rank always. */
bool scree_graph_system_fits(const scree_Operator *W);

/* Make a system, zeroed before its first use, that of W: pattern and analysis, or only what has
 * changed since the last call. `graph` numbers the graph of W's problem: the same number, the same
 * graph. Work memory comes from `scratch` and is released. */
scree_Status scree_graph_system_set(scree_GraphSystem *system, const scree_Operator *W, int graph,
                                    scree_Elimination *elimination, scree_Arena *scratch,
                                    const scree_Log *log);

/* Nodes of the system of W, and their size. */
void scree_graph_system_nodes(const scree_Operator *W, int *n, int *nb);

/* Free what only the solve in progress needs. */
void scree_graph_system_end(scree_GraphSystem *system);

/* Free all memory; the system may be set again. */
void scree_graph_system_fini(scree_GraphSystem *system);

/* Assemble for G (and L, null: identity; not used in body form) and factorise. *broken is set when
 * the numbers are not finite any more: the method has broken down, and there is no factor.
 * SCREE_INTERRUPTED when the factor's poll says so. */
scree_Status scree_graph_system_factor(scree_GraphSystem *system, const double *L, const double *G,
                                       bool *broken);

/* b <- solution, with one step of iterative refinement. It can fail on several ranks only. */
scree_Status scree_graph_system_solve(scree_GraphSystem *system, double *b);

#endif
