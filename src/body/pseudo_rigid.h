/* Pseudo-rigid bodies: their data, shared by pseudo_rigid.c (motion, shape) and
 * pseudo_rigid_kick.c (forces, the kick, energies). */
#ifndef SCREE_BODY_PSEUDO_RIGID_H
#define SCREE_BODY_PSEUDO_RIGID_H

#include "body/class.h"

enum { N = 9 }; /* most components of F */

typedef struct scree_PseudoRigid {
  scree_Elastic elastic;
  scree_Shape given; /* of the definition */
  scree_Shape base;  /* undeformed; a polyhedron for a box that does not keep its shape */
  scree_Shape own;   /* present shape of a polyhedron */
  scree_Shape later; /* of another time */
  bool flat;         /* it is one */
  double lambda, mu; /* Lame's constants */
  double volume, mass;
  double euler[3]; /* e_j */
  /* of the last kick: */
  double h;              /* its length */
  double f[N], K[N * N]; /* internal force without damping, and stiffness */
  double D[N * N];       /* forces of damping are -damping D v */
  double scaling[SCREE_VERTEX_MAX * SCREE_VERTEX_MAX]; /* L^-1 */
} scree_PseudoRigid;

static inline scree_Vec3 vec_of(int d, const double *x) {
  return scree_vec3(x[0], x[1], d == 3 ? x[2] : 0);
}

/* F as a matrix of columns; the third column is e_z in 2D. */
static inline scree_Mat3 gradient(const scree_Deformable *self, const double *q) {
  const int d = self->dimension;
  return (scree_Mat3){vec_of(d, q + d), vec_of(d, q + 2 * d),
                      d == 3 ? vec_of(d, q + 3 * d) : scree_vec3(0, 0, 1)};
}

static inline double determinant(const scree_Mat3 *F) {
  return scree_dot(F->x, scree_cross(F->y, F->z));
}

/* The shape without deformation of a body of a given shape, of the kind of the deformed one. */
scree_Status scree_pseudo_rigid_undeformed(const scree_Shape *given, bool keeps_shape,
                                           scree_Shape *shape, const scree_Log *log);

/* Of scree_BodyClass. */
bool scree_pseudo_rigid_prepare(const scree_Deformable *self, const double *q, const double *v,
                                const scree_BodyLoad *load, double h, double *change);
const double *scree_pseudo_rigid_scaling(const scree_Deformable *self);
double scree_pseudo_rigid_work(const scree_Deformable *self, const double *v, const double *w,
                               double *damped);
double scree_pseudo_rigid_kinetic(const scree_Deformable *self, const double *v, double *rotation);
double scree_pseudo_rigid_strain(const scree_Deformable *self, const double *q);
void scree_pseudo_rigid_force(const scree_Deformable *self, const double *q, double *f, double *K);

#endif
