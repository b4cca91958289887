/* Elastic materials: the second Piola-Kirchhoff stress S and its derivative for a given strain.
 *
 * A model is one file with one `const scree_ElasticClass` and one line in registry.c. It is given
 * by its energy per volume of the undeformed body as a function of C = F^T F, so that it does not
 * depend on rotations. Symmetric tensors are six numbers xx, yy, zz, yz, zx, xy; in those of strain
 * the last three are twice the components, so that S : dE is a dot product. Plane strain is the
 * same with C_zz = 1. */
#ifndef SCREE_ELEMENT_ELASTIC_H
#define SCREE_ELEMENT_ELASTIC_H

#include "core/private.h"
#include "scree/element.h"

typedef struct scree_ElasticClass scree_ElasticClass;

/* A material with its constants. */
typedef struct scree_ElasticMaterial {
  const scree_ElasticClass *model;
  double lambda, mu; /* Lame's constants */
  double density;
  double damping_mass, damping_stiffness;
} scree_ElasticMaterial;

typedef struct scree_ElasticPoint {
  double energy;  /* per volume */
  double S[6];    /* stress */
  double D[6][6]; /* dS/dE */
} scree_ElasticPoint;

/* The number of the model of this name in the registry; -1 if there is none, or no name. */
SCREE_PRIVATE int scree_elastic_find(const char *name);

struct scree_ElasticClass {
  const char *name, *summary;
  /* Energy, stress and, if `tangent`, D. C are the components of F^T F (not doubled). False where
   * the model has no value. With `definite` D is replaced by a positive semidefinite matrix that is
   * not smaller. */
  bool (*respond)(const scree_ElasticMaterial *elastic, const double *C, bool tangent,
                  bool definite, scree_ElasticPoint *point);
};

extern const scree_ElasticClass scree_elastic_st_venant_kirchhoff, scree_elastic_neo_hookean;
extern const scree_ElasticClass *const scree_elastic_registry[]; /* null-terminated */

/* Check the definition and compute the constants. */
scree_Status scree_elastic_init(scree_ElasticMaterial *elastic, const scree_Elastic *def,
                                double density, const scree_Log *log);

#endif
