/* Compressible neo-Hookean material,
 *
 *     W = mu/2 (tr C - 3) - mu ln J + lambda/2 (ln J)^2 ,   J = sqrt(det C) ,
 *     S = mu (I - C^-1) + lambda ln J C^-1 ,
 *     dS = lambda C^-1 (C^-1 : dE) + 2 (mu - lambda ln J) C^-1 dE C^-1 ,
 *
 * which resists crushing: W grows without bound as J tends to 0, and is not defined for an element
 * that is inside out. Where mu < lambda ln J the second term of the tangent is negative; the
 * definite form sets it to zero, or with lambda < 0 to the least factor for which the sum is
 * positive semidefinite. */
#include "element/elastic.h"

#include <math.h>

static const int first[6] = {0, 1, 2, 1, 2, 0}, second[6] = {0, 1, 2, 2, 0, 1};

static bool respond(const scree_ElasticMaterial *elastic, const double *C, bool tangent,
                    bool definite, scree_ElasticPoint *point) {
  const double lambda = elastic->lambda, mu = elastic->mu;
  const double xx = C[0], yy = C[1], zz = C[2], yz = C[3], zx = C[4], xy = C[5];
  const double cofactor[6] = {yy * zz - yz * yz, xx * zz - zx * zx, xx * yy - xy * xy,
                              xy * zx - xx * yz, xy * yz - yy * zx, yz * zx - zz * xy};
  const double det = xx * cofactor[0] + xy * cofactor[5] + zx * cofactor[4];
  if (!(det > 0)) return false;
  const double log_J = 0.5 * log(det);
  double inverse[6], G[3][3];
  for (int k = 0; k < 6; ++k) {
    inverse[k] = cofactor[k] / det;
    G[first[k]][second[k]] = G[second[k]][first[k]] = inverse[k];
    point->S[k] = mu * ((k < 3 ? 1 : 0) - inverse[k]) + lambda * log_J * inverse[k];
  }
  point->energy = 0.5 * mu * (xx + yy + zz - 3) - mu * log_J + 0.5 * lambda * log_J * log_J;
  if (!tangent) return true;
  double shear = mu - lambda * log_J;
  if (definite) shear = fmax(shear, fmax(0, -1.5 * lambda));
  for (int p = 0; p < 6; ++p)
    for (int q = 0; q < 6; ++q) {
      const int i = first[p], j = second[p], k = first[q], l = second[q];
      point->D[p][q] =
          lambda * inverse[p] * inverse[q] + shear * (G[i][k] * G[j][l] + G[i][l] * G[j][k]);
    }
  return true;
}

const scree_ElasticClass scree_elastic_neo_hookean = {
    .name = "neo-hookean",
    .summary = "rubber-like: resists crushing, for large strains",
    .respond = respond};
