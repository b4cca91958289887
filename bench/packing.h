/* Contact problems made in code, for benchmarks: spheres (3D) or disks (2D) on a dense lattice with
 * jittered masses, about three contacts per body, pressed together and sheared at random. In the
 * form of balls; packing_dense gives the same problem with B written out, scree_problem_assemble
 * with W. The same arguments give the same problem on any machine.
 *
 * Half of the neighbours of the face-centred (3D) or triangular (2D) lattice touch, chosen at
 * random; bodies are numbered along the lattice and contacts in the order of their first body, as a
 * broad phase would give them. */
#ifndef SCREE_BENCH_PACKING_H
#define SCREE_BENCH_PACKING_H

#include "scree/problem.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* uniform in [0, 1): a fixed generator, so that problems do not depend on the C library */
static inline double packing_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* A lattice site's neighbours with a larger number: offsets in units of half the cell. */
typedef struct PackingLattice {
  int d, n[3], neighbours;
  double offset[6][3]; /* unit normals */
  int step[6][3];
} PackingLattice;

static inline PackingLattice packing_lattice(int d, int contacts) {
  PackingLattice lattice = {.d = d, .n = {1, 1, 1}};
  const double half = sqrt(0.5), h = 0.5 * sqrt(3.0);
  /* the sheared cell of the lattice: basis vectors at 60 degrees, neighbours at unit distance */
  const double basis2[2][3] = {{1.0, 0.0, 0.0}, {0.5, h, 0.0}};
  const double basis3[3][3] = {{half, half, 0.0}, {half, 0.0, half}, {0.0, half, half}};
  const int steps2[3][3] = {{1, 0, 0}, {0, 1, 0}, {-1, 1, 0}};
  const int steps3[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 1, 0}, {-1, 0, 1}, {0, -1, 1}};
  lattice.neighbours = d == 3 ? 6 : 3;
  const double bodies = (double)contacts / (d == 3 ? 3.0 : 2.0);
  for (int a = 0; a < d; ++a) lattice.n[a] = (int)ceil(pow(bodies, 1.0 / d)) + 1;
  for (int k = 0; k < lattice.neighbours; ++k)
    for (int a = 0; a < 3; ++a) {
      lattice.step[k][a] = d == 3 ? steps3[k][a] : steps2[k][a];
      lattice.offset[k][a] = 0.0;
      for (int b = 0; b < d; ++b)
        lattice.offset[k][a] +=
            (d == 3 ? steps3[k][b] * basis3[b][a] : steps2[k][b] * basis2[b][a]);
    }
  return lattice;
}

/* s and a of one side */
static inline void packing_arm(int d, double sign, double radius, double mass, double *arm) {
  const double inertia = (d == 3 ? 0.4 : 0.5) * mass * radius * radius;
  arm[0] = sign / sqrt(mass);
  arm[1] = radius / sqrt(inertia);
}

/* The axes (d x 3) of a contact, as scree/problem.h says. */
static inline void packing_frame(int d, const double *n, double *frame) {
  const double o = copysign(1.0, n[2]), p = -1.0 / (o + n[2]);
  const double plane[6] = {n[0], n[1], 0.0, -n[1], n[0], 0.0};
  const double space[9] = {n[0],
                           n[1],
                           n[2],
                           1.0 + o * n[0] * n[0] * p,
                           o * n[0] * n[1] * p,
                           -o * n[0],
                           n[0] * n[1] * p,
                           o + n[1] * n[1] * p,
                           -n[1]};
  for (int k = 0; k < 3 * d; ++k) frame[k] = d == 3 ? space[k] : plane[k];
}

/* Rows of B for one side with the arm s, a: s e_i and (arm x e_i) / sqrt(J), by the cross product;
 * the axes may be any frame. */
static inline void packing_rows(int d, const double *frame, const double *arm, double *B) {
  const int nb = d == 3 ? 6 : 3;
  const double sign = arm[0] < 0.0 ? -1.0 : 1.0, *n = frame;
  /* the point of contact lies at -sign * n from the centre, in units of its distance */
  for (int i = 0; i < d; ++i) {
    const double *e = frame + 3 * i;
    const double turn[3] = {n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2],
                            n[0] * e[1] - n[1] * e[0]};
    for (int k = 0; k < d; ++k) B[i * nb + k] = arm[0] * e[k];
    for (int k = 0; k < nb - d; ++k)
      B[i * nb + d + k] = sign * arm[1] * -sign * turn[d == 3 ? k : 2];
  }
}

/* The same from the mass of a body. */
static inline void packing_block(int d, const double *frame, double sign, double radius,
                                 double mass, double *B) {
  double arm[2];
  packing_arm(d, sign, radius, mass, arm);
  packing_rows(d, frame, arm, B);
}

/* Up to `contacts` contacts with friction mu. */
static inline scree_Status packing_create(int d, int contacts, double mu, scree_Problem *problem,
                                          const scree_Log *log) {
  const PackingLattice lattice = packing_lattice(d, contacts);
  const int *n = lattice.n, bodies = n[0] * n[1] * n[2];
  uint64_t seed = 20;
  scree_Problem p;
  scree_Status status = scree_problem_create_balls(&p, d, contacts, bodies, false, false, log);
  if (status) return status;
  double *mass = malloc((size_t)bodies * sizeof *mass), *v = malloc((size_t)bodies * 6 * sizeof *v);
  if (!mass || !v) abort();
  for (int b = 0; b < bodies; ++b) {
    mass[b] = 0.7 + 0.6 * packing_random(&seed);
    const int at[3] = {b % n[0], b / n[0] % n[1], b / n[0] / n[1]};
    for (int k = 0; k < 6; ++k) v[6 * b + k] = 0.6 * (packing_random(&seed) - 0.5);
    for (int k = 0; k < d; ++k) v[6 * b + k] -= (double)at[k] * 0.1; /* pressed together */
  }
  int c = 0;
  for (int b = 0; b < bodies && c < contacts; ++b)
    for (int k = 0; k < lattice.neighbours && c < contacts; ++k) {
      const int at[3] = {b % n[0] + lattice.step[k][0], b / n[0] % n[1] + lattice.step[k][1],
                         b / n[0] / n[1] + lattice.step[k][2]};
      if (at[0] < 0 || at[0] >= n[0] || at[1] < 0 || at[1] >= n[1] || at[2] < 0 || at[2] >= n[2])
        continue;
      const int other = at[0] + n[0] * (at[1] + n[1] * at[2]);
      if (packing_random(&seed) < (d == 3 ? 0.4 : 0.2)) continue;
      double frame[9], *n_c = p.bodies.normal + 3 * (size_t)c, *arm = p.bodies.arm + 4 * (size_t)c;
      for (int a = 0; a < 3; ++a) n_c[a] = lattice.offset[k][a];
      packing_frame(d, n_c, frame); /* from b to other: other is the first body */
      p.bodies.body[2 * c] = other;
      p.bodies.body[2 * c + 1] = b;
      packing_arm(d, 1.0, 0.5, mass[other], arm);
      packing_arm(d, -1.0, 0.5, mass[b], arm + 2);
      for (int i = 0; i < d; ++i) {
        double q = 0.0;
        for (int j = 0; j < d; ++j) q += frame[3 * i + j] * (v[6 * other + j] - v[6 * b + j]);
        p.q[d * c + i] = q;
      }
      p.mu[c++] = mu;
    }
  free(mass);
  free(v);
  p.nc = c;
  *problem = p;
  return SCREE_OK;
}

/* The same problem with B written out. */
static inline scree_Status packing_dense(const scree_Problem *balls, scree_Problem *dense,
                                         const scree_Log *log) {
  const int d = balls->d, nb = balls->bodies.nb;
  const size_t nc = (size_t)balls->nc;
  scree_Status status = scree_problem_create_bodies(dense, d, balls->nc, balls->bodies.nbodies, nb,
                                                    false, false, log);
  if (status) return status;
  memcpy(dense->q, balls->q, nc * (size_t)d * sizeof *dense->q);
  memcpy(dense->mu, balls->mu, nc * sizeof *dense->mu);
  memcpy(dense->bodies.body, balls->bodies.body, 2 * nc * sizeof *dense->bodies.body);
  for (size_t c = 0; c < nc; ++c) {
    double frame[9], *B = dense->bodies.B + c * (size_t)(2 * d * nb);
    packing_frame(d, balls->bodies.normal + 3 * c, frame);
    for (int side = 0; side < 2; ++side)
      packing_rows(d, frame, balls->bodies.arm + 4 * c + 2 * side, B + side * d * nb);
  }
  return SCREE_OK;
}

#endif
