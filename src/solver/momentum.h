/* Momentum for sweeps of Gauss-Seidel. Plain sweeps carry a load through a packing layer by layer;
 * the accelerated gradient method of Nesterov (1983), with a sweep F in place of the step along the
 * gradient, needs the root of their number. Before each sweep but the first
 *
 *     x = F_k + b (F_k - F_{k-1}),     b = (t_k - 1) / t_{k+1},
 *     t_{k+1} = (1 + sqrt(1 + 4 t_k^2)) / 2
 *
 * and F_{k+1} is the sweep from x. Friction is not the gradient of anything, so that momentum may
 * also drive impulses around: when the change |F - x| of a sweep has grown, the next starts without
 * momentum and t is set back (O'Donoghue and Candes 2015 for gradients). Velocities of bodies are
 * linear in the impulses and are moved with them.
 *
 * Impulses in single precision are moved by the visits themselves, contact by contact, and so is
 * the change summed (singles.h): each number is then loaded once in a sweep.
 *
 * Sums are over pieces whose borders depend on lengths alone (math/vector.h): the same bits for any
 * number of threads. */
#ifndef SCREE_SOLVER_MOMENTUM_H
#define SCREE_SOLVER_MOMENTUM_H

#include "core/arena.h"
#include "core/barrier.h"
#include <stdbool.h>
#include <stddef.h>

enum { SCREE_MOMENTUM_PARTS = 4 };

/* Numbers that are moved together, in double or in single precision. */
typedef struct scree_MomentumPart {
  void *now; /* (n), owned by the sweeps */
  size_t n;
  void *last;           /* (n) after the sweep before */
  void *from;           /* (n) before the last sweep; null: not part of the change */
  bool single;          /* they are floats */
  const float *changes; /* (nchanges) squared changes, where visits sum and move; otherwise null */
  size_t nchanges;
} scree_MomentumPart;

typedef struct scree_Momentum {
  int parts;
  scree_MomentumPart part[SCREE_MOMENTUM_PARTS];
  double *sum; /* (SCREE_CHUNKS) of squares of the change */
} scree_Momentum;

/* State of the momentum; all threads have equal copies. */
typedef struct scree_MomentumState {
  bool swept;     /* a sweep has been made */
  double t;       /* t_k */
  double change2; /* squared change of the last sweep */
} scree_MomentumState;

/* Add numbers to be moved; `impulses`: their changes are summed. False: no memory. */
bool scree_momentum_add(scree_Momentum *momentum, double *now, size_t n, bool impulses,
                        scree_Arena *arena);
bool scree_momentum_add_singles(scree_Momentum *momentum, float *now, size_t n, scree_Arena *arena);

/* Add impulses that the visits move, with the array `last` of what they were after the sweep
 * before; changes: (nchanges) squares that a sweep leaves. */
void scree_momentum_add_visited(scree_Momentum *momentum, float *now, float *last, size_t n,
                                const float *changes, size_t nchanges);

/* Begin at the present numbers. */
scree_MomentumState scree_momentum_begin(const scree_Momentum *momentum);

/* The numbers `now` become changes from their present values. */
void scree_momentum_zero(const scree_Momentum *momentum, float *now);

/* The part of thread `me` in the sum of the change of the last sweep. All threads must have done
 * theirs before the next call. */
void scree_momentum_sum(const scree_Momentum *momentum, int me, int threads);

/* b of the next sweep. */
double scree_momentum_factor(const scree_Momentum *momentum, scree_MomentumState *state);

/* Move to the start of the next sweep; the part of thread `me`. */
void scree_momentum_move(const scree_Momentum *momentum, double b, int me, int threads);

/* These three before a sweep, the part of thread `me`; nothing before the first. `barrier`: null
 * for one thread. Returns b. */
double scree_momentum_step(const scree_Momentum *momentum, scree_MomentumState *state, int me,
                           int threads, scree_Barrier *barrier);

#endif
