/* St Venant-Kirchhoff: Hooke's law between Green's strain E = (C - I)/2 and S,
 *
 *     W = lambda/2 (tr E)^2 + mu E : E ,   S = lambda tr(E) I + 2 mu E .
 *
 * It is the material of 004. For large rotations and moderate strains: it softens in compression
 * and a finite energy crushes it to no volume. With lambda < 0 (Poisson's ratio below
 * zero) D stays positive definite, since 3 lambda + 2 mu > 0. */
#include "element/elastic.h"

#include <string.h>

static bool respond(const scree_ElasticMaterial *elastic, const double *C, bool tangent,
                    bool definite, scree_ElasticPoint *point) {
  (void)definite;
  const double lambda = elastic->lambda, mu = elastic->mu;
  double E[6];
  for (int k = 0; k < 6; ++k) E[k] = 0.5 * (C[k] - (k < 3 ? 1 : 0));
  const double trace = E[0] + E[1] + E[2];
  double square = 0;
  for (int k = 0; k < 6; ++k) {
    square += (k < 3 ? 1 : 2) * E[k] * E[k];
    point->S[k] = 2 * mu * E[k] + (k < 3 ? lambda * trace : 0);
  }
  point->energy = 0.5 * lambda * trace * trace + mu * square;
  if (!tangent) return true;
  memset(point->D, 0, sizeof point->D);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) point->D[i][j] = lambda + (i == j ? 2 * mu : 0);
    point->D[i + 3][i + 3] = mu;
  }
  return true;
}

const scree_ElasticClass scree_elastic_st_venant_kirchhoff = {
    .name = "st-venant-kirchhoff",
    .summary = "Hooke's law between Green's strain and the second Piola-Kirchhoff stress",
    .respond = respond};
