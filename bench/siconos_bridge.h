/* From a scree problem to Siconos' own structures, for the benchmarks that compare with it. Siconos
 * gets the form that is fastest for it: W in sparse block storage, blocks column by column. */
#ifndef SCREE_BENCH_SICONOS_BRIDGE_H
#define SCREE_BENCH_SICONOS_BRIDGE_H

#include "scree/problem.h"

#include <stdlib.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

static inline void *bridge_alloc(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) abort();
  return memory;
}

/* An assembled problem as Siconos' FrictionContactProblem; frictionContactProblem_free frees all.
 */
static inline FrictionContactProblem *bridge_create(const scree_Problem *p) {
  const size_t nc = (size_t)p->nc, d = (size_t)p->d, nblocks = p->blocks.row[nc];
  SparseBlockStructuredMatrix *M = SBM_new();
  M->nbblocks = (unsigned)nblocks;
  M->blocknumber0 = M->blocknumber1 = (unsigned)nc;
  M->blocksize0 = bridge_alloc(nc, sizeof *M->blocksize0);
  M->blocksize1 = bridge_alloc(nc, sizeof *M->blocksize1);
  M->filled1 = nc + 1;
  M->filled2 = nblocks;
  M->index1_data = bridge_alloc(nc + 1, sizeof *M->index1_data);
  M->index2_data = bridge_alloc(nblocks, sizeof *M->index2_data);
  M->block = bridge_alloc(nblocks, sizeof *M->block);
  for (size_t c = 0; c < nc; ++c) {
    const size_t first = p->blocks.row[c], n = p->blocks.row[c + 1] - first;
    M->blocksize0[c] = M->blocksize1[c] = (unsigned)((c + 1) * d);
    M->index1_data[c + 1] = first + n;
    for (size_t k = 0; k < n; ++k) {
      double *block = M->block[first + k] = bridge_alloc(d * d, sizeof *block);
      M->index2_data[first + k] = (size_t)p->blocks.col[first + k];
      for (size_t i = 0; i < d; ++i)
        for (size_t j = 0; j < d; ++j)
          block[j * d + i] = p->blocks.x[d * d * first + i * d * n + d * k + j];
    }
  }
  double *q = bridge_alloc(nc * d, sizeof *q), *mu = bridge_alloc(nc, sizeof *mu);
  for (size_t i = 0; i < nc * d; ++i) q[i] = p->q[i];
  for (size_t c = 0; c < nc; ++c) mu[c] = p->mu[c];
  NumericsMatrix *W = NM_new_SBM((int)(nc * d), (int)(nc * d), M);
  return frictionContactProblem_new_with_data(p->d, p->nc, W, q, mu);
}

static inline int bridge_solve(FrictionContactProblem *problem, SolverOptions *options, double *r,
                               double *u) {
  return problem->dimension == 3 ? fc3d_driver(problem, r, u, options)
                                 : fc2d_driver(problem, r, u, options);
}

#endif
