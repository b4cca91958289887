/* Local solvers: the update of one contact in Gauss-Seidel.
 *
 * The other contacts are frozen, so the contact has u = W_cc r + q_c with q_c = u - W_cc r known.
 * A local solver takes the current (r, u) and gives the new r; it need not solve the local problem
 * (the papers' standard methods take one step only). A local solver is one file local_<name>.c with
 * one const descriptor scree_local_<name>, and one line in the table of nlgs.c.
 *
 * rho (001) and gamma (000) have the meaning of the papers when given; 0 means automatic, scaled
 * with W_cc so that it is independent of units. */
#ifndef SCREE_SOLVER_LOCAL_H
#define SCREE_SOLVER_LOCAL_H

#include "scree/problem.h"

typedef struct scree_LocalParameters {
  scree_Flow law;    /* SCREE_COULOMB unless the solver supports both */
  double rho;        /* sbp sal ebp eal ibp: descent parameter, 0 automatic */
  double rho_factor; /* multiplies the automatic rho (alpha of 001 table IV) */
  double gamma_n;    /* epdas ipdas: active-set parameters, 0 automatic */
  double gamma_t;
  double newton_tolerance; /* ebp eal: stop of the local Newton, 001 (28), relative to |u|, |r| */
  int newton_iterations;   /* ebp eal: at most */
} scree_LocalParameters;

/* New impulse of a contact with Coulomb's cone of coefficient mu. d is 2 or 3; W (d x d) row by
 * row, u = W r + q_c the current local velocity, r the current impulse. Writes r_new. Never NaN for
 * finite arguments. */
typedef void (*scree_LocalSolve)(const scree_LocalParameters *parameters, int d, const double *W,
                                 double mu, const double *u, const double *r, double *r_new);

typedef struct scree_LocalClass {
  const char *name, *summary, *reference;
  bool associated; /* supports the associated law too */
  scree_LocalSolve solve;
} scree_LocalClass;

extern const scree_LocalClass scree_local_exact, scree_local_sbp, scree_local_sal, scree_local_ebp,
    scree_local_eal, scree_local_ibp, scree_local_epdas, scree_local_ipdas;

#endif
