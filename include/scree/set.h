/* scree/set.h — the sets that impulses are confined to, by a contact law for a contact problem. */
#ifndef SCREE_SET_H
#define SCREE_SET_H

#include "scree/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The closed convex sets Y. K is Coulomb's cone { |r_T| <= mu r_n }. */
typedef enum scree_SetKind {
  SCREE_SET_CONE,      /* K */
  SCREE_SET_SHIFTED,   /* K - c n: cohesion c = parameter a */
  SCREE_SET_CONE_BALL, /* K + ball of radius d = parameter a */
  SCREE_SET_CAPPED,    /* (K cut by the ball of radius b) + ball of radius a */
  SCREE_SET_HALF_LINE, /* r_n >= 0, r_T = 0: frictionless */
  SCREE_SET_SPACE,     /* all of R^d: bilateral */
  SCREE_SET_KINDS
} scree_SetKind;

/* One contact's set. `mu` is ignored by HALF_LINE and SPACE. */
typedef struct scree_Set {
  scree_SetKind kind;
  double mu, a, b;
} scree_Set;

/* Y's exact projection: out = P_Y(x), both of size d. `out` may be `x`. */
SCREE_API void scree_set_project(const scree_Set *set, int d, const double *x, double *out);

#ifdef __cplusplus
}
#endif

#endif
