/* Everything that follows from the graph of a problem alone, kept from solve to solve: the contacts
 * of each body, the order of the contacts for Gauss-Seidel.
 *
 * The graph is which bodies each contact touches, or the pattern of an assembled W. From one time
 * step to the next it is often the same. Everything here is computed on first use, and again when
 * the graph has changed, which is detected by comparing it with a copy: so the data are the same
 * whether kept or not, and results do not depend on it. */
#ifndef SCREE_SOLVER_KEPT_GRAPH_H
#define SCREE_SOLVER_KEPT_GRAPH_H

#include "solver/colouring.h"

typedef struct scree_KeptGraph {
  scree_Arena arena; /* of all arrays here */
  int changes;       /* how often the graph has changed */
  bool known;        /* the copy below is of the current problem */
  scree_OperatorKind kind;
  int nc, nbodies;
  int *body; /* (nc x 2) copy of the graph in body form; then, if present: */
  int general, vertices;
  size_t *entry;       /* (general + 1) */
  int *vertex;         /* (entry[general]) */
  int *size;           /* (vertices) */
  size_t *coupled_row; /* (vertices + 1), or null */
  int *coupled_col;
  size_t *row;      /* (nc + 1) and in assembled form */
  int *col;         /* (row[nc]) */
  size_t *body_row; /* of scree_body_graph, or null */
  int *body_entry;
  bool has_natural, has_coloured;
  scree_Colouring natural, coloured;
} scree_KeptGraph;

/* From now on the graph is that of `problem`. */
scree_Status scree_kept_graph_set(scree_KeptGraph *kept, const scree_Problem *problem,
                                  const scree_Log *log);

/* The order of the contacts, coloured or natural. W is an operator of the graph. */
scree_Status scree_kept_graph_order(scree_KeptGraph *kept, const scree_Operator *W, bool coloured,
                                    const scree_Log *log, const scree_Colouring **order);

#endif
