/* The sparse factorisation behind factor.h: a multifrontal method.
 *
 * 1. Order (factor_order.c). AMD, and METIS for large graphs, order the nodes; from the elimination
 *    tree of that order nodes are merged into fronts where a model of the cost says that one larger
 *    dense front is cheaper than two. Fronts are numbered in postorder, nodes by their fronts.
 * 2. Analysis (factor_analyse.c). A front eliminates `pivots` nodes and touches `rest` later ones.
 *    It is a dense matrix of P^ + M^ rows: the pivots' P numbers, padding to a multiple of 4, the
 *    rest's M numbers, padding. Where each block of A and each child's update goes is listed once.
 * 3. Numbers (factor.c). In postorder, each front is summed from A and its children's updates, its
 *    pivots are eliminated in panels of at most SCREE_PANEL, and what remains, M^ x M^, goes on a
 *    stack for its parent: children are on top of the stack when their parent comes. The front is
 *    a scratch array used again and again, so it stays in the cache; the last panel writes the
 *    update from there to the stack without a copy in between.
 * 4. Solution (factor_solve.c), panel by panel, forwards and backwards.
 *
 * Symmetric fronts hold only their upper triangle. With (P) the exchange of rows within a panel,
 *     symmetric    F11 = L D L^T,    left = D^-1 L^-1 F12,    F22 -= left^T (L^-1 F12)
 *     unsymmetric  (P) F11 = L U,    right = L^-1 (P) F12,    left = U^-T F21^T,
 *                  F22 -= left^T right
 *
 * Reference: J. W. H. Liu, The multifrontal method for sparse matrix solution: theory and practice,
 * SIAM Review 34 (1992) 82-109. */
#ifndef SCREE_MATH_FACTOR_INTERNAL_H
#define SCREE_MATH_FACTOR_INTERNAL_H

#include "math/dense.h"
#include "math/factor.h"

/* A block of A: `source` in x, `target` in the front. */
typedef struct scree_FactorBlock {
  size_t source, target;
} scree_FactorBlock;

typedef struct scree_Front {
  int first, pivots; /* nodes first .. first + pivots - 1 in the factor's order */
  int rest;          /* later nodes touched */
  int parent;        /* front, or -1 */
  int children;      /* how many: those whose parent this is, all before it */
  int child;         /* the first of them, and the next of the same parent; -1 ends */
  int sibling;
  int panel, panels;              /* its panels */
  int size1, size2;               /* P^ and M^; the front's row length is their sum */
  size_t rows;                    /* in scree_Factor.rows: its `rest` nodes, ascending */
  size_t update;                  /* in scree_Factor.stack: M^ x M^ for the parent */
  size_t run, runs;               /* in scree_Factor.runs: how that goes into the parent */
  size_t block, straight, turned; /* in scree_Factor.blocks: first those as they are, then those
                                     that are transposed */
} scree_Front;

/* Pivots start .. start + p - 1 (numbers) of the whole vector, at `offset` in their front. */
typedef struct scree_FactorPanel {
  int front, start, offset, p;
  int m;              /* columns to the right of the pivots, padding included */
  size_t rd;          /* where in scree_Factor.values: reciprocals of the pivots (p) */
  size_t lt, u;       /* p x (p rounded up to 4); u only if unsymmetric */
  size_t left, right; /* tiles p x m; right only if unsymmetric */
} scree_FactorPanel;

struct scree_Factor {
  scree_Arena *keep; /* where its arrays are taken from: `own`, or the caller's */
  scree_Arena own;
  int n, nb, fronts, panels;
  scree_FactorKind kind;
  int *order;               /* (n) the caller's node at each position */
  size_t *diagonal;         /* (n) its diagonal block in x, symmetric kind */
  size_t nonzeros;          /* blocks of A */
  int *columns;             /* (nonzeros) positions of their columns, unsymmetric kind */
  scree_Front *front;       /* (fronts) in postorder */
  scree_FactorPanel *panel; /* (panels) */
  int *rows;
  scree_DenseRun *runs;
  scree_FactorBlock *blocks;
  int *perm; /* (n x nb) exchanges of rows, panel by panel, unsymmetric kind */
  size_t values_size, stack_size, scratch_size, tiles_size;
  double *values;  /* the factor; this and the next three are made with the first matrix */
  double *stack;   /* updates waiting for their parents */
  double *scratch; /* one front */
  double *tiles;   /* right tiles of one panel, symmetric kind */
  double *scale;   /* (n x nb) what pivots are compared with */
  size_t entries;
  int vector_max; /* largest panel.m, rounded up to a whole tile */
  double flops;
  double dependent;    /* see scree_factor_set_dependent */
  scree_Pivots pivots; /* of the last compute */
  scree_Poll *poll;    /* or null */
};

/* Fronts before analysis: the order of the nodes and the tree. All arrays (n). */
typedef struct scree_FactorTree {
  int fronts;
  int *order;  /* the caller's node at each position */
  int *pivots; /* of each front, in postorder */
  int *rest;
  int *parent;
} scree_FactorTree;

/* The tree is taken from `scratch`, and what is needed on the way too. `order` may be null. */
scree_Status scree_factor_order(scree_Arena *scratch, int n, int nb, const size_t *row,
                                const int *col, scree_FactorKind kind, scree_FactorOrder *order,
                                const scree_Log *log, scree_FactorTree *tree);

/* Check the pattern and find, for each block (i, j), where (j, i) is. `next` (n) is work space. */
scree_Status scree_factor_transpose(int n, const size_t *row, const int *col, size_t *next,
                                    size_t *transposed, const scree_Log *log);

/* Fill all that `create` fills but n, nb and the kind. */
scree_Status scree_factor_analyse(scree_Factor *factor, scree_Arena *scratch, const size_t *row,
                                  const int *col, const size_t *transposed,
                                  const scree_FactorTree *tree, const scree_Log *log);

#endif
