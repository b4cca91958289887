/* GMRES on several ranks by PETSc, for matrices that are only applied (004 section 7). The vectors
 * of a rank are its rows. Everything is called by all ranks together, and gives the same result on
 * all of them. A build without PETSc does not have it: SCREE_KRYLOV is 0, and `create` fails. */
#ifndef SCREE_PARALLEL_KRYLOV_H
#define SCREE_PARALLEL_KRYLOV_H

#include "parallel/ranks.h"

typedef struct scree_Krylov scree_Krylov;

/* The system: z = A v, and z = M v with M about the inverse of A. */
typedef struct scree_KrylovSystem {
  void *data;
  void (*multiply)(void *data, const double *v, double *z);
  void (*precondition)(void *data, const double *v, double *z);
  size_t rows; /* of this rank */
  int restart; /* vectors after which it starts anew */
  int most;    /* iterations, at most */
} scree_KrylovSystem;

#ifdef SCREE_PETSC

enum { SCREE_KRYLOV = 1 };

scree_Status scree_krylov_create(const scree_Ranks *ranks, const scree_KrylovSystem *system,
                                 const scree_Log *log, scree_Krylov **krylov);

/* x = A^-1 b to a residual of `part` |b|, from x = 0, preconditioned on the right; or as far as it
 * gets. False: it broke down. */
bool scree_krylov_solve(scree_Krylov *krylov, double part, const double *b, double *x);

/* Null is allowed. */
void scree_krylov_destroy(scree_Krylov *krylov);

#else

/* NOLINTBEGIN(readability-non-const-parameter) */

enum { SCREE_KRYLOV = 0 };

static inline scree_Status scree_krylov_create(const scree_Ranks *ranks,
                                               const scree_KrylovSystem *system,
                                               const scree_Log *log, scree_Krylov **krylov) {
  (void)ranks;
  (void)system;
  (void)log;
  *krylov = NULL;
  return SCREE_BAD_INPUT;
}

static inline bool scree_krylov_solve(scree_Krylov *krylov, double part, const double *b,
                                      double *x) {
  (void)krylov;
  (void)part;
  (void)b;
  (void)x;
  return false;
}

static inline void scree_krylov_destroy(scree_Krylov *krylov) {
  (void)krylov;
}

/* NOLINTEND(readability-non-const-parameter) */

#endif

#endif
