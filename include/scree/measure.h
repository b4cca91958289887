/* scree/measure.h — error measures. One function computes all errors of the literature from the
 * impulses alone, independently of the solver. */
#ifndef SCREE_MEASURE_H
#define SCREE_MEASURE_H

#include "scree/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum scree_Measure {
  SCREE_MEASURE_ERROR,    /* natural map made independent of units: the default */
  SCREE_MEASURE_SICONOS,  /* natural map with rho = 1, as published comparisons do */
  SCREE_MEASURE_BOTH,     /* the larger of the two */
  SCREE_MEASURE_EPS_GLOB, /* 001 (37) */
  SCREE_MEASURE_MERIT,    /* 004 (40) */
  SCREE_MEASURE_INCREMENT /* 000 (4.15), 003: the change of the impulses in one iteration */
} scree_Measure;

typedef struct scree_Measures {
  double error;         /* |r - P(r - rho(u+s))| / max(|r|, rho|q|, rho|u|), rho = 1/mean diag W */
  double error_siconos; /* the same with rho = 1 */
  double eps_glob;      /* 001 (37): mean over contacts of the four parts below */
  double eps_motion;    /* |u_claimed - (W r + q)| */
  double eps_proj;      /* |r - P_K(r)| */
  double eps_bipotential; /* |u.r + mu r_n |u_T|| */
  double eps_penetration; /* -min(0, u_n) */
  double merit;           /* 004 (40): sum <W_cc^-1 C, C> / sum <W_cc^-1 q, q> */
  int worst_contact;      /* with the largest natural map, -1 if there is none */
  double worst_error;     /* its natural map over the scale of `error` */
  double rho, scale;      /* of `error`: step of its natural map, and what it is divided by */
  double cone_violation;  /* max over contacts |r - P(r)| over the scale of `error` */
  double dilatation_max,
      dilatation_mean; /* mu |u_T| on active contacts: what the associated law adds */
} scree_Measures;

/* "error", "siconos", "both", "eps_glob", "merit", "increment"; null for other values. */
SCREE_API const char *scree_measure_name(scree_Measure measure);

/* Measure impulses r (scree_problem_rows). u = W r + q is computed here; `u_claimed` (or null) is
 * only compared with it for eps_motion. `u` (or null) receives W r + q. */
SCREE_API scree_Status scree_problem_measure(const scree_Problem *problem, const double *r,
                                             const double *u_claimed, double *u,
                                             scree_Measures *measures, const scree_Log *log);

#ifdef __cplusplus
}
#endif

#endif
