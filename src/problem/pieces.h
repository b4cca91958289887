/* Vertices of different sizes as nodes of one size, for the block factorisation.
 *
 * A factor (math/factor.h) has nodes of one size. Vertices are cut into pieces of a common divisor
 * of their sizes: 3, 6 and 12 components become 1, 2 and 4 pieces of 3. Pieces of a vertex have the
 * same neighbours, so the order of elimination keeps them together and the fronts are those of
 * whole vertices. */
#ifndef SCREE_PROBLEM_PIECES_H
#define SCREE_PROBLEM_PIECES_H

#include "core/arena.h"
#include "scree/base.h"

typedef struct scree_Pieces {
  int piece;       /* size of a node */
  int vertices, n; /* n nodes */
  int *first;      /* (vertices + 1) first node of each vertex */
  size_t *start;   /* (vertices + 1) neighbours of a vertex, itself among them: */
  int *neighbour;  /* (start[vertices]) ascending */
  int *before;     /* (start[vertices]) pieces of the neighbours before this one */
  size_t *row;     /* (n + 1) pattern of the nodes */
  int *col;        /* (row[n]) */
} scree_Pieces;

/* The largest number that divides both; of a and 0 it is a. */
static inline int scree_common_divisor(int a, int b) {
  while (b) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* The largest size of a piece: divides nb (0: none) and all `size` (count), and fits a factor. */
int scree_piece_size(int nb, int count, const int *size);

/* The pattern of vertices with these sizes, multiples of `piece`, and these pairs of neighbours
 * (pairs x 2, any order, repeated or not; pairs with a negative number are ignored). */
scree_Status scree_pieces_create(int vertices, const int *size, int piece, size_t pairs,
                                 const int *pair, scree_Arena *arena, const scree_Log *log,
                                 scree_Pieces *pieces);

/* Position of the block of a vertex and its neighbour: its piece (i, j) is block slot + i * length
 * + j of the pattern. */
size_t scree_pieces_slot(const scree_Pieces *pieces, int vertex, int neighbour, size_t *length);

/* Entry (i, j) of the block of two vertices that starts at `slot`, in the values x of the pattern.
 */
static inline double *scree_piece_entry(double *x, int piece, size_t slot, size_t length, int i,
                                        int j) {
  const size_t block = slot + (size_t)(i / piece) * length + (size_t)(j / piece);
  return x + block * (size_t)(piece * piece) + (size_t)(i % piece * piece + j % piece);
}

/* x += block (sizes of vertex x neighbour, row by row), or its transpose (sizes of neighbour x
 * vertex) if `turned`. */
void scree_piece_add(double *x, int piece, size_t slot, size_t length, int rows, int cols,
                     const double *block, bool turned);

#endif
