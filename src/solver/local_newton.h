/* Newton's method on one contact, shared by `ebp`, `eal` and (one step of it) `ibp`: 001 (25)-(32).
 *
 * The unknowns are (r, v), the equations v = W r + q_c and Z(r, v) = 0, where Z is r minus a
 * projection. With A = dZ/dr and B = dZ/dv the first equation is eliminated and (A + B W) dr = -Z
 * remains, 2 x 2 or 3 x 3: since v starts at the contact's velocity and is always recomputed from
 * r, the residual f of (31) is zero. */
#ifndef SCREE_SOLVER_LOCAL_NEWTON_H
#define SCREE_SOLVER_LOCAL_NEWTON_H

#include "solver/local.h"

typedef enum scree_LocalStatus {
  SCREE_LOCAL_FREE, /* no contact */
  SCREE_LOCAL_STICK,
  SCREE_LOCAL_SLIP
} scree_LocalStatus;

/* Z (d) and its derivatives A, B (d x d, row by row) at (r, v). `saxce` is mu for Coulomb's law and
 * 0 for the associated one. The formulas are those of 001 sections 3.3 and 3.5 with the misprints
 * corrected; where Z has no derivative one of its generalised ones is given. */
typedef scree_LocalStatus (*scree_LocalTangent)(int d, double mu, double saxce, double rho,
                                                const double *r, const double *v, double *Z,
                                                double *A, double *B);

scree_LocalStatus scree_local_ebp_tangent(int d, double mu, double saxce, double rho,
                                          const double *r, const double *v, double *Z, double *A,
                                          double *B);
scree_LocalStatus scree_local_eal_tangent(int d, double mu, double saxce, double rho,
                                          const double *r, const double *v, double *Z, double *A,
                                          double *B);

/* Newton with its safeguards from (r, u), for any tangent. */
void scree_local_newton(const scree_LocalParameters *parameters, scree_LocalTangent tangent, int d,
                        const double *W, double mu, const double *u, const double *r,
                        double *r_new);

#endif
