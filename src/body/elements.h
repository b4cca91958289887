/* Finite-element bodies: their data, shared by elements.c (motion, energy) and elements_kick.c. */
#ifndef SCREE_BODY_ELEMENTS_H
#define SCREE_BODY_ELEMENTS_H

#include "body/class.h"
#include "body/driven.h"
#include "element/assemble.h"
#include "math/factor.h"

#include <math.h>

enum { D = 3, DD = 9 };

typedef struct scree_ElementBody {
  const scree_ElementMesh *mesh; /* of the own shape */
  scree_ElasticMaterial elastic;
  bool implicit_;
  double total;              /* mass */
  double *mass;              /* (nodes) lumped */
  double *diagonal, *below;  /* consistent mass, or null: lumped (nodes; entries of the graph) */
  scree_Shape base, own;     /* the surface, undeformed and deformed */
  scree_Shape later;         /* of another time */
  bool *held;                /* (nodes) they do not move, or as an obstacle does: */
  scree_DrivenNodes *driven; /* or null: none */
  double spread[D];          /* sum of mass times the square of each undeformed coordinate */
  scree_Vec3 *surface;       /* (its vertices) work */
  /* of the last kick: */
  double h;
  double *place;        /* (components) q */
  double *inner;        /* (components) internal forces without damping */
  double *A, *scaling;  /* (nodes x D x D) diagonal blocks, and their L^-1 */
  double *E;            /* (entries x D x D) */
  double *work[2];      /* (components) */
  scree_Factor *factor; /* of I + E */
  size_t *row, *lower;  /* (nodes + 1), (entries): its pattern, and where E goes in it */
  int *col;
  double *x;
} scree_ElementBody;

static inline size_t count_of(const scree_ElementBody *d) {
  return (size_t)d->mesh->node_count * D;
}

static inline scree_Vec3 node_at(const double *q, int node) {
  return scree_vec3(q[D * node], q[D * node + 1], q[D * node + 2]);
}

static inline void put(double *q, int node, scree_Vec3 x) {
  q[D * node] = x.x, q[D * node + 1] = x.y, q[D * node + 2] = x.z;
}

/* Whether A couples nodes. */
static inline bool is_coupled(const scree_ElementBody *d) {
  return d->implicit_ || d->below;
}

scree_Vec3 scree_elements_centre(const scree_ElementBody *d, const double *q);
/* J^-1 a, J the moment of inertia of the lumped masses about the centre c. */
scree_Vec3 scree_elements_inertia_solve(const scree_ElementBody *d, const double *q, scree_Vec3 c,
                                        scree_Vec3 a);
/* The factor of I + E, whose values are in E; false where it is not positive definite. */
bool scree_elements_factorise(scree_ElementBody *d);

/* Of scree_BodyClass. */
bool scree_elements_prepare(const scree_Deformable *self, const double *q, const double *v,
                            const scree_BodyLoad *load, double h, double *change);
const double *scree_elements_scaling(const scree_Deformable *self);
scree_BodyCoupling scree_elements_coupling(const scree_Deformable *self);
void scree_elements_solve(const scree_Deformable *self, double *x);
double scree_elements_work(const scree_Deformable *self, const double *v, const double *w,
                           double *damped);

#endif
