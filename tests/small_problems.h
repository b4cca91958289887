/* Small contact problems for tests, and a second, plain implementation of the error that shares no
 * code with the library: dense W, the projection written as a formula. */
#ifndef SCREE_TESTS_SMALL_PROBLEMS_H
#define SCREE_TESTS_SMALL_PROBLEMS_H

#include "scree/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* uniform in [-1, 1): the same numbers on any machine */
static inline double small_random(unsigned long long *state) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

/* Rows of H for a contact of a body: frame (d vectors of 2 or 3), lever arm, sign, over the square
 * root of the inertia. */
static inline void small_block(int d, const double *frame, const double *arm, double sign,
                               double mass, double inertia, double *B) {
  const double a = sign / sqrt(mass), b = sign / sqrt(inertia);
  for (int i = 0; i < d; ++i) {
    const double *e = frame + d * i;
    if (d == 2) {
      B[3 * i] = a * e[0];
      B[3 * i + 1] = a * e[1];
      B[3 * i + 2] = b * (arm[0] * e[1] - arm[1] * e[0]);
    } else {
      for (int j = 0; j < 3; ++j) B[6 * i + j] = a * e[j];
      B[6 * i + 3] = b * (arm[1] * e[2] - arm[2] * e[1]);
      B[6 * i + 4] = b * (arm[2] * e[0] - arm[0] * e[2]);
      B[6 * i + 5] = b * (arm[0] * e[1] - arm[1] * e[0]);
    }
  }
}

/* A pile in body form: `layers` cubes (squares) on top of each other on the ground, each resting on
 * corner points (2 or 4 per face: hyperstatic), pushed sideways by `push` times gravity's h g. */
static inline scree_Problem small_pile(int d, int layers, double mu, double push) {
  const int per_face = d == 2 ? 2 : 4, nb = d == 2 ? 3 : 6;
  scree_Problem p;
  if (scree_problem_create_bodies(&p, d, layers * per_face, layers, nb, false, false, NULL))
    abort();
  const double frame2[4] = {0, 1, -1, 0}, frame3[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  for (int k = 0; k < layers; ++k)
    for (int j = 0; j < per_face; ++j) {
      const int c = k * per_face + j;
      const double mass = 1.0 + 0.3 * k, inertia = mass / 6.0;
      const double below = 1.0 + 0.3 * (k - 1);
      const double s0 = j % 2 ? 0.5 : -0.5, s1 = j / 2 ? 0.5 : -0.5;
      const double arm2[2] = {s0, -0.5}, arm3[3] = {s0, s1, -0.5};
      const double up2[2] = {s0, 0.5}, up3[3] = {s0, s1, 0.5};
      double *B = p.bodies.B + (size_t)c * (size_t)(2 * d * nb);
      p.bodies.body[2 * c] = k;
      p.bodies.body[2 * c + 1] = k - 1;
      small_block(d, d == 2 ? frame2 : frame3, d == 2 ? arm2 : arm3, 1.0, mass, inertia, B);
      if (k)
        small_block(d, d == 2 ? frame2 : frame3, d == 2 ? up2 : up3, -1.0, below, below / 6.0,
                    B + d * nb);
      p.mu[c] = mu;
      /* all bodies fall with speed 1 and drift with speed push: only the ground sees it */
      if (k == 0) {
        p.q[d * c] = -1.0;
        p.q[d * c + 1] = d == 2 ? -push : push;
        if (d == 3) p.q[d * c + 2] = 0.5 * push;
      } else {
        p.q[d * c + 1] = 0.2 * push * (k % 2 ? 1 : -1);
      }
    }
  return p;
}

/* nc contacts with a random dense symmetric positive definite W. */
static inline scree_Problem small_random_problem(int d, int nc, double mu,
                                                 unsigned long long seed) {
  const int n = d * nc, rank = n + 2;
  double *A = calloc((size_t)(n * rank), sizeof *A), *W = calloc((size_t)(n * n), sizeof *W);
  double *q = calloc((size_t)n, sizeof *q), *m = calloc((size_t)nc, sizeof *m);
  for (int i = 0; i < n * rank; ++i) A[i] = small_random(&seed);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < rank; ++k) W[i * n + j] += A[i * rank + k] * A[j * rank + k] / rank;
      if (i == j) W[i * n + j] += 0.5;
    }
  for (int i = 0; i < n; ++i) q[i] = small_random(&seed);
  for (int c = 0; c < nc; ++c) {
    q[d * c] -= 0.5;
    m[c] = mu;
  }
  scree_Problem p;
  if (scree_problem_create_dense(&p, d, nc, W, q, m, NULL)) abort();
  free(A);
  free(W);
  free(q);
  free(m);
  return p;
}

/* ---- the error, once more ----------------------------------------------------------------------
 */

/* u = W r + q from the definition of each form */
static inline void plain_velocity(const scree_Problem *p, const double *r, double *u) {
  const int d = p->d, nb = p->bodies.nb;
  for (int i = 0; i < d * p->nc; ++i) u[i] = p->q[i];
  if (p->kind == SCREE_ASSEMBLED) {
    for (int c = 0; c < p->nc; ++c) {
      const size_t start = p->blocks.row[c], n = p->blocks.row[c + 1] - start;
      for (size_t k = 0; k < n; ++k)
        for (size_t i = 0; i < (size_t)d; ++i)
          for (size_t j = 0; j < (size_t)d; ++j)
            u[(size_t)(c * d) + i] +=
                p->blocks.x[(size_t)(d * d) * start + i * (size_t)d * n + (size_t)d * k + j] *
                r[(size_t)p->blocks.col[start + k] * (size_t)d + j];
    }
    return;
  }
  double *y = calloc((size_t)(p->bodies.nbodies * nb + 1), sizeof *y);
  for (int pass = 0; pass < 2; ++pass)
    for (int c = 0; c < p->nc; ++c)
      for (int side = 0; side < 2; ++side) {
        const int b = p->bodies.body[2 * c + side];
        if (b < 0) continue;
        for (int i = 0; i < d; ++i)
          for (int j = 0; j < nb; ++j) {
            const double h = p->bodies.B[((2 * c + side) * d + i) * nb + j];
            if (pass == 0)
              y[b * nb + j] += h * r[c * d + i];
            else
              u[c * d + i] += h * y[b * nb + j];
          }
      }
  for (int c = 0; p->bodies.C && c < p->nc; ++c)
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) u[c * d + i] += p->bodies.C[(c * d + i) * d + j] * r[c * d + j];
  free(y);
}

/* P_K for the Coulomb cone, from papers/README's formula */
static inline void plain_project(int d, double mu, const double *x, double *out) {
  double s = 0.0;
  for (int i = 1; i < d; ++i) s += x[i] * x[i];
  s = sqrt(s);
  const double n = x[0];
  if (s <= mu * n) {
    for (int i = 0; i < d; ++i) out[i] = x[i];
  } else if (mu * s <= -n) {
    for (int i = 0; i < d; ++i) out[i] = 0.0;
  } else {
    const double a = (n + mu * s) / (1.0 + mu * mu);
    out[0] = a;
    for (int i = 1; i < d; ++i) out[i] = mu * a * x[i] / s;
  }
}

/* |r - P(r - rho(u + s))| / max(|r|, rho|q|, rho|u|) for problems with cones; rho <= 0: 1/mean diag
 * W */
static inline double plain_error(const scree_Problem *p, const double *r, double rho) {
  const int d = p->d, n = d * p->nc;
  double *u = calloc((size_t)n + 1, sizeof *u), *e = calloc((size_t)n + 1, sizeof *e),
         *We = calloc((size_t)n + 1, sizeof *We);
  plain_velocity(p, r, u);
  if (rho <= 0.0) {
    double trace = 0.0;
    for (int i = 0; i < n; ++i) {
      e[i] = 1.0;
      plain_velocity(p, e, We);
      trace += We[i] - p->q[i];
      e[i] = 0.0;
    }
    rho = n / trace;
  }
  double map2 = 0.0, r2 = 0.0, q2 = 0.0, u2 = 0.0;
  for (int c = 0; c < p->nc; ++c) {
    double z[3] = {0.0}, ut = 0.0;
    for (int i = 1; i < d; ++i) ut += u[c * d + i] * u[c * d + i];
    for (int i = 0; i < d; ++i) z[i] = r[c * d + i] - rho * u[c * d + i];
    if (p->flow == SCREE_COULOMB) z[0] -= rho * p->mu[c] * sqrt(ut);
    plain_project(d, p->mu[c], z, z);
    for (int i = 0; i < d; ++i) {
      map2 += (r[c * d + i] - z[i]) * (r[c * d + i] - z[i]);
      r2 += r[c * d + i] * r[c * d + i];
      q2 += p->q[c * d + i] * p->q[c * d + i];
      u2 += u[c * d + i] * u[c * d + i];
    }
  }
  free(u);
  free(e);
  free(We);
  const double scale = fmax(sqrt(r2), rho * fmax(sqrt(q2), sqrt(u2)));
  return scale > 0.0 ? sqrt(map2) / scale : 0.0;
}

#endif
