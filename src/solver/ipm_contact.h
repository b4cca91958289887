/* One constraint in the interior point of ipm.c: its variables, its blocks of the linear system and
 * its part of a step.
 *
 * Variables. Per contact x = (mu r_n, r_T) and z = (k u_n/mu + s, u_T) in the second-order cone Q,
 * with x o z = 0 at a solution. For the associated law s = 0 and k = 1: the problem is convex. For
 * Coulomb's law the De Saxce term is smoothed by s(z) = |z_T|^2/z_0, which on the central path
 * x o z = e makes r_n u_n = e exactly and tends to |u_T| as e -> 0. With non-associated flow
 * (002 section 9) z = S H u.
 *
 * With S = diag(1/mu, 1, ..), r = S x, D = diag(k, 1, ..) or H, the Nesterov-Todd scaling P
 * (P z = x), g = grad s, N = (I - e_0 g^T)^-1 = I + e_0 g^T/(1 - g_0) and E the compliance plus the
 * proximal weight, both in x, the linearised laws are
 *     dx + P dz = a,      dz - e_0 g.dz - D S (du) = -r_u,      du = B dy + E' dr
 *     body form:       K = (I + N D E P)^-1 N,   G = S P K D S,
 *                      dz = K w,  dx = a - P K w,  w = D S B dy + D E a - r_u
 *     assembled form:  G = S^-1 (D^-1 N^-1 P^-1 + prox) S^-1
 *                      right side S^-1 D^-1 (N^-1 P^-1 a + r_u)
 *
 * Kinds of constraint: a cone, from its apex (r + a e_0 = S x for a cone with cohesion a); a
 * half-line (mu = 0), where only component 0 counts and P = x_0/z_0; the whole space (a joint, any
 * number of rows), where z = 0 and r is free: it has no barrier, its row is the equality u = 0, and
 * the proximal weight, centred at the current r, makes its block regular: G = E^-1,
 * dx = -G (B dy - r_u); a ball |r| <= a (dry friction of a joint, strength of a bond; any number of
 * rows), and r = 0 (a ball without a radius).
 *
 * A ball is a cut through the cone Q of one dimension more: X = (a, r) and Z = (zeta, u) in Q with
 * X o Z = 0 say that r = -a u/|u| where it slides, zeta = |u|. X_0 does not change, so that
 * dX + P dZ = A gives d zeta = (A_0 - P_0T dz)/P_00 and, with the Schur complement P',
 *     dx + P' dz = a,    P'^-1 = (P^-1)_TT,    a = A_T - P_T0 A_0/P_00 ,
 * which is the form above with S = D = N = 1.
 *
 * The number of rows of a constraint and its offsets in the vectors are set only in
 * scree_ipm_contact_init. */
#ifndef SCREE_SOLVER_IPM_CONTACT_H
#define SCREE_SOLVER_IPM_CONTACT_H

#include "solver/cone_scaling.h"

typedef enum scree_IpmKind {
  SCREE_IPM_CONE,
  SCREE_IPM_LINE,
  SCREE_IPM_SPACE,
  SCREE_IPM_BALL,
  SCREE_IPM_NONE
} scree_IpmKind;

typedef struct scree_IpmContact {
  scree_IpmKind kind;
  int d;          /* rows; 2 or 3 for a cone */
  int m;          /* rows that have a law of their own: 1 for a half-line, the others are r = 0 */
  size_t at, mat; /* its first index in vectors, and in arrays of d x d blocks */
  scree_Scaling scaling;
  double g[3];        /* gradient of s */
  double f;           /* proximal factor: its proximal weight is w/f */
  double w;           /* mean diagonal of S W_cc S */
  double s_scale;     /* 1/mu; 1 for a half-line or the whole space */
  double shift;       /* distance of the apex of the cone from r = 0 */
  double radius;      /* of a ball */
  double zeta, dzeta; /* of a ball, and its step */
  double head;        /* A_0 of a ball */
  double reach;       /* its own largest step in this iteration */
  const double *C;    /* (d x d) compliance in body form, or null */
  const double *flow; /* (d x d) H, or null */
} scree_IpmContact;

/* Data common to all constraints of a problem. */
typedef struct scree_IpmLaw {
  bool coulomb, bodies;
  double kappa;  /* k above */
  double w_mean; /* mean of scree_IpmContact.w */
} scree_IpmLaw;

/* Blocks of all constraints; those of one begin at scree_IpmContact.mat. */
typedef struct scree_IpmBlocks {
  double *G;      /* of the linear system */
  double *PK, *K; /* body form: P K and K */
} scree_IpmBlocks;

/* All functions take whole vectors and find the constraint's part by `at`. */

/* Kind, size, offsets and scales of constraint c. */
void scree_ipm_contact_init(scree_IpmContact *k, const scree_Operator *W, int c);

/* Whether it has a barrier. */
SCREE_INLINE bool scree_ipm_has_barrier(const scree_IpmContact *k) {
  return k->kind != SCREE_IPM_SPACE && k->kind != SCREE_IPM_NONE;
}

/* r = S x, from the apex */
void scree_ipm_contact_impulse(const scree_IpmContact *k, const double *x, double *r);

/* x and z of the constraint's own central path near (r, u), with barrier mu: for
 * w = x(r) - rho z(u),  x = (w + (w o w + 4 rho mu e)^(1/2)) / 2 and rho z = x - w, so that
 * x o z = mu e exactly. */
void scree_ipm_contact_start(const scree_IpmLaw *law, scree_IpmContact *k, const double *r,
                             const double *u, double mu, double *x, double *z);

/* ru = z - s e_0 - D S u */
void scree_ipm_contact_residual(const scree_IpmLaw *law, const scree_IpmContact *k, const double *u,
                                const double *z, double *ru);

/* Scaling, gradient and blocks at (x, z). */
void scree_ipm_contact_blocks(const scree_IpmLaw *law, scree_IpmContact *k, const double *x,
                              const double *z, const scree_IpmBlocks *blocks);

/* a = R (l \ (target e - correction)) - x, the correction from the affine step (dxa, dza), which
 * may be null. */
void scree_ipm_contact_target(scree_IpmContact *k, double target, const double *x, const double *z,
                              const double *dxa, const double *dza, double *a);

/* Body form: v = D E a - ru, and t = S (a - P K v), whose B^T is the right side. */
void scree_ipm_contact_load(const scree_IpmLaw *law, const scree_IpmContact *k,
                            const scree_IpmBlocks *blocks, const double *a, const double *ru,
                            double *v, double *t);

/* Body form: the step, for Bdy = B dy and the v of the load. */
void scree_ipm_contact_step(const scree_IpmLaw *law, scree_IpmContact *k,
                            const scree_IpmBlocks *blocks, const double *a, const double *Bdy,
                            const double *v, double *dx, double *dz);

/* Assembled form: the right side b; h = P^-1 a is kept for the step. */
void scree_ipm_contact_load_assembled(const scree_IpmLaw *law, const scree_IpmContact *k,
                                      const double *x, const double *z, const double *a,
                                      const double *ru, double *h, double *b);

/* Assembled form: the step for dr; dz holds h on entry. */
void scree_ipm_contact_step_assembled(scree_IpmContact *k, const double *x, const double *z,
                                      const double *dr, double *dx, double *dz);

/* The largest steps of x and z, at most 1. */
void scree_ipm_contact_reach(const scree_IpmContact *k, const double *x, const double *z,
                             const double *dx, const double *dz, double *x_step, double *z_step);

/* ru + second-order term of s: s(z + dz) - s - g.dz = |dz_T - z_T dz_0/z_0|^2 / z_0 + ... */
void scree_ipm_contact_curvature(const scree_IpmContact *k, const double *z, const double *dz,
                                 double *ru);

#endif
