/* A packing of balls on a lattice, in each form of a problem, for tests of several ranks. */
#ifndef TESTS_RANKS_PACKING_H
#define TESTS_RANKS_PACKING_H

#include "scree/problem.h"

#include <math.h>
#include <stdint.h>

static inline double packing_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(int64_t)(*state) * 0x1p-63;
}

/* side^d balls with a contact to each neighbour, on a floor, pushed down; returns the status of
 * creating it. Lattice positions are disturbed, so that normals are; every fifth ball is heavy. */
static inline scree_Status packing_create(scree_Problem *p, int d, int side) {
  uint64_t random = (uint64_t)(77 + d);
  int n = 1, contacts = 0;
  for (int k = 0; k < d; ++k) n *= side;
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1) {
      const scree_Status status = scree_problem_create_balls(p, d, contacts, n, false, false, NULL);
      if (status) return status;
    }
    int c = 0;
    for (int b = 0; b < n; ++b)
      for (int axis = 0, stride = 1; axis < d; ++axis, stride *= side) {
        const int place = b / stride % side;
        const bool floor_ = axis == 0 && place == 0;
        for (int other = place + 1 < side ? b + stride : -2, k = 0; k < 2; ++k) {
          /* the neighbour above, then the floor */
          const int second = k == 0 ? other : floor_ ? -1 : -2;
          if (second == -2) continue;
          if (pass == 1) {
            double *normal = p->bodies.normal + 3 * (size_t)c, length = 0.0;
            for (int i = 0; i < d; ++i) normal[i] = 0.2 * packing_random(&random);
            normal[axis] += k == 0 ? -1.0 : 1.0;
            for (int i = 0; i < d; ++i) length += normal[i] * normal[i];
            for (int i = 0; i < d; ++i) normal[i] /= sqrt(length);
            const int sides[2] = {b, second};
            for (int j = 0; j < 2; ++j) {
              const double mass = sides[j] % 5 == 0 ? 10.0 : 1.0;
              double *arm = p->bodies.arm + 4 * (size_t)c + 2 * j;
              p->bodies.body[2 * c + j] = sides[j];
              arm[0] = sides[j] < 0 ? 0.0 : (j == 0 ? 1.0 : -1.0) / sqrt(mass);
              arm[1] = sides[j] < 0 ? 0.0 : sqrt(2.5 / mass);
            }
            p->mu[c] = 0.3;
            p->q[(size_t)c * (size_t)d] = (floor_ && k == 1 ? -1.0 : 0.0) - 0.02;
            for (int i = 1; i < d; ++i) p->q[(size_t)(c * d + i)] = 0.1 * packing_random(&random);
          }
          ++c;
        }
      }
    contacts = c;
  }
  return SCREE_OK;
}

/* The same with blocks B instead of normals and arms; compliances, if they are not zero, make the
 * impulses of a convex law unique. */
static inline scree_Status packing_dense(const scree_Problem *balls, double compliance,
                                         scree_Problem *p) {
  const scree_Status status =
      scree_problem_create_bodies(p, balls->d, balls->nc, balls->bodies.nbodies, balls->bodies.nb,
                                  false, compliance > 0.0, NULL);
  if (status) return status;
  const size_t size = 2 * (size_t)(balls->d * balls->bodies.nb);
  for (int c = 0; c < balls->nc; ++c) {
    scree_problem_blocks(balls, c, p->bodies.B + (size_t)c * size);
    for (int k = 0; k < 2; ++k) p->bodies.body[2 * c + k] = balls->bodies.body[2 * c + k];
    p->mu[c] = balls->mu[c];
    for (int i = 0; i < balls->d; ++i) p->q[c * balls->d + i] = balls->q[c * balls->d + i];
    for (int i = 0; compliance > 0.0 && i < balls->d; ++i)
      p->bodies.C[(c * balls->d + i) * balls->d + i] = compliance;
  }
  return SCREE_OK;
}

#endif
