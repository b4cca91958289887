/* The global form of an FCLIB file: M v = H r + f, u = H^T v + w. */
#ifndef SCREE_FCLIB_GLOBAL_H
#define SCREE_FCLIB_GLOBAL_H

#include "fclib/fclib_sparse.h"
#include "scree/problem.h"

typedef struct scree_Global {
  int d, nc, nd;   /* local size, contacts, degrees of freedom */
  scree_Sparse M;  /* (nd x nd) */
  scree_Sparse Ht; /* (nc*d x nd) H^T: a row per contact component */
  double *f;       /* (nd) */
  double *w;       /* (nc x d) */
  double *mu;      /* (nc) */
} scree_Global;

scree_Status scree_global_read(const scree_H5 *h5, scree_Global *global);
void scree_global_fini(scree_Global *global);

/* The contact problem behind it: u = (H^T M^-1 H) r + (H^T M^-1 f + w). */
scree_Status scree_global_reduce(const scree_H5 *h5, const scree_Global *global,
                                 scree_Problem *problem);

/* The same with W = H^T M^-1 H assembled, part by part. */
struct scree_MassGroups;
scree_Status scree_global_assemble(const scree_H5 *h5, const scree_Global *global,
                                   const struct scree_MassGroups *parts, scree_Problem *problem);

/* v = M^-1 (H r + f), (nd). */
scree_Status scree_global_velocity(const scree_H5 *h5, const scree_Global *global, const double *r,
                                   double *v);

/* Sizes common to both forms: the local size d from `spacedim`, and contacts from mu and the vector
 * of relative velocities (`q` or `w`). */
scree_Status scree_fclib_sizes(const scree_H5 *h5, const char *root, const char *vector, int *d,
                               int *nc);

/* mu (nc), finite and not negative. */
scree_Status scree_fclib_read_mu(const scree_H5 *h5, const char *root, int nc, double *mu);

/* Refuse the optional equality parts by name: matrices and vectors that are there and not empty. */
scree_Status scree_fclib_refuse(const scree_H5 *h5, const char *root, const char *const *matrices,
                                const char *vector);

#endif
