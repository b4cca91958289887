/* scree/set.h — the sets of admissible impulses of a contact problem. */
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
  SCREE_SET_HALF_LINE, /* r_n >= 0, r_T = 0: frictionless contact, stop of a joint; any size */
  SCREE_SET_SPACE,     /* all of R^d: bilateral; any size */
  SCREE_SET_BALL,      /* |r| <= a: dry friction in a joint, motor of limited force; any size */
  /* Contact with resistance to rolling and spinning: |r_T| <= mu r_n, |m_T| <= a r_n and
   * |m_n| <= b r_n, moments over a length. 3 rows in 2D, (n, t, m_T); 6 rows in 3D,
   * (n, t1, t2, m_t1, m_t2, m_n). */
  SCREE_SET_ROLLING,
  SCREE_SET_KINDS
} scree_SetKind;

/* The set of one constraint. `mu` is used by the cones only. */
typedef struct scree_Set {
  scree_SetKind kind;
  double mu, a, b;
} scree_Set;

/* Whether the set is built on Coulomb's cone, with friction mu. */
static inline bool scree_set_has_cone(scree_SetKind kind) {
  return kind == SCREE_SET_CONE || kind == SCREE_SET_SHIFTED || kind == SCREE_SET_CONE_BALL ||
         kind == SCREE_SET_CAPPED || kind == SCREE_SET_ROLLING;
}

/* Y's exact projection: out = P_Y(x), both of size d (2 or 3 for cones, 3 or 6 with rolling). `out`
 * may be `x`. */
SCREE_API void scree_set_project(const scree_Set *set, int d, const double *x, double *out);

#ifdef __cplusplus
}
#endif

#endif
