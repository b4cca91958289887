/* Contact problems made in code, for benchmarks: spheres (3D) or disks (2D) on a dense lattice with
 * jittered masses, about three contacts per body, pressed together and sheared at random. Body
 * form; scree_problem_assemble gives the other. The same arguments give the same problem on any
 * machine.
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

/* Rows of B for one side: e_i / sqrt(m) and (arm x e_i) / sqrt(I), with the sign of the side. */
static inline void packing_block(int d, const double *frame, double sign, double radius,
                                 double mass, double *B) {
  const double inertia = (d == 3 ? 0.4 : 0.5) * mass * radius * radius;
  const double a = 1.0 / sqrt(mass), b = 1.0 / sqrt(inertia), *n = frame;
  /* the point of contact lies at -sign * radius * n from the centre */
  for (int i = 0; i < d; ++i) {
    const double *e = frame + 3 * i;
    const double arm[3] = {-sign * radius * n[0], -sign * radius * n[1], -sign * radius * n[2]};
    const double turn[3] = {arm[1] * e[2] - arm[2] * e[1], arm[2] * e[0] - arm[0] * e[2],
                            arm[0] * e[1] - arm[1] * e[0]};
    const int nb = d == 3 ? 6 : 3;
    for (int k = 0; k < d; ++k) B[i * nb + k] = sign * a * e[k];
    if (d == 3)
      for (int k = 0; k < 3; ++k) B[i * nb + 3 + k] = sign * b * turn[k];
    else
      B[i * nb + 2] = sign * b * turn[2];
  }
}

static inline void packing_frame(int d, const double *n, double *frame) {
  for (int k = 0; k < 3; ++k) frame[k] = n[k];
  if (d == 2) {
    frame[3] = -n[1], frame[4] = n[0], frame[5] = 0.0;
    return;
  }
  const double other[3] = {fabs(n[0]) < 0.6, fabs(n[0]) >= 0.6, 0.0};
  double t[3] = {n[1] * other[2] - n[2] * other[1], n[2] * other[0] - n[0] * other[2],
                 n[0] * other[1] - n[1] * other[0]};
  const double length = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
  for (int k = 0; k < 3; ++k) frame[3 + k] = t[k] / length;
  const double *t1 = frame + 3;
  frame[6] = n[1] * t1[2] - n[2] * t1[1];
  frame[7] = n[2] * t1[0] - n[0] * t1[2];
  frame[8] = n[0] * t1[1] - n[1] * t1[0];
}

/* Up to `contacts` contacts with friction mu. `pairs` receives the bodies when not null. */
static inline scree_Status packing_create(int d, int contacts, double mu, scree_Problem *problem,
                                          const scree_Log *log) {
  const PackingLattice lattice = packing_lattice(d, contacts);
  const int *n = lattice.n, bodies = n[0] * n[1] * n[2], nb = d == 3 ? 6 : 3;
  uint64_t seed = 20;
  scree_Problem p;
  scree_Status status = scree_problem_create_bodies(&p, d, contacts, bodies, nb, false, false, log);
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
      double frame[9], *B = p.bodies.B + (size_t)c * (size_t)(2 * d * nb);
      packing_frame(d, lattice.offset[k], frame); /* from b to other: other is the first body */
      p.bodies.body[2 * c] = other;
      p.bodies.body[2 * c + 1] = b;
      packing_block(d, frame, 1.0, 0.5, mass[other], B);
      packing_block(d, frame, -1.0, 0.5, mass[b], B + d * nb);
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

#endif
