/* Piles of spheres (3D) or disks (2D) made in code, for benchmarks and tests: n layers of about n^2
 * (3D) or n (2D) grains on a close-packed lattice, in a box with a floor and four (two) walls, at
 * rest, one step under gravity. Masses are uniform in [1, 2], as in 003 section 3.3.1; normals are
 * tilted a little, so that chains of forces are not straight, and every third contact has a gap to
 * close first (the Taylor form of 003: gap over h is part of q). Two walls stand off a little: a
 * pile wedged between walls has no strictly feasible motion and unbounded impulses.
 *
 * Body form; scree_problem_assemble gives the other. The same arguments give the same problem on
 * any machine. */
#ifndef SCREE_BENCH_PILE_H
#define SCREE_BENCH_PILE_H

#include "bench/packing.h"

#include <string.h>

/* The problem being filled; the first pass only counts. */
typedef struct Pile {
  int d, n, count;
  double mu, speed; /* gravity times the time step */
  uint64_t seed;
  const double *mass; /* (bodies) */
  scree_Problem *problem;
} Pile;

static inline void pile_tilt(int d, uint64_t *seed, double *normal) {
  double length = 0.0;
  for (int k = 0; k < d; ++k) {
    normal[k] += 0.1 * (packing_random(seed) - 0.5);
    length += normal[k] * normal[k];
  }
  for (int k = 0; k < d; ++k) normal[k] /= sqrt(length);
}

/* A contact of body `first` on body `second` (-1: the box), normal from the second to the first,
 * with a gap of `gap` times what gravity closes in a step. */
static inline void pile_contact(Pile *pile, int first, int second, const double *direction,
                                double gap) {
  const int c = pile->count++, d = pile->d, nb = d == 3 ? 6 : 3, up = d - 1;
  if (!pile->problem) return;
  scree_Problem *p = pile->problem;
  double normal[3] = {direction[0], direction[1], direction[2]}, frame[9];
  if (second >= 0) pile_tilt(d, &pile->seed, normal);
  packing_frame(d, normal, frame);
  double *B = p->bodies.B + (size_t)c * (size_t)(2 * d * nb);
  p->bodies.body[2 * c] = first;
  p->bodies.body[2 * c + 1] = second;
  packing_block(d, frame, 1.0, 0.5, pile->mass[first], B);
  if (second >= 0) packing_block(d, frame, -1.0, 0.5, pile->mass[second], B + d * nb);
  for (int i = 0; i < d;
       ++i) /* grains fall together: only contacts with the box have an approach velocity */
    p->q[d * c + i] = second < 0 ? -pile->speed * frame[3 * i + up] : 0.0;
  if (packing_random(&pile->seed) < 1.0 / 3.0) gap += 0.2 * packing_random(&pile->seed);
  p->q[d * c] += gap * pile->speed;
  p->mu[c] = pile->mu;
}

/* Sites of a close packing by rows: odd layers are shifted by half a grain along x (and y), so that
 * each grain rests on 2 (2D) or 4 (3D) of the layer below. Grains of a layer touch along the rows.
 */
static inline void pile_fill(Pile *pile) {
  const int n = pile->n, d = pile->d, rows = d == 3 ? n : 1;
  const double half = sqrt(0.5), h = 0.5 * sqrt(3.0);
  const double x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0}, left[3] = {-1.0, 0.0, 0.0},
               back[3] = {0.0, -1.0, 0.0};
  const double up[3] = {0.0, d == 2, d == 3};
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < rows; ++j)
      for (int i = 0; i < n; ++i) {
        const int b = i + n * (j + rows * k);
        if (k == 0) pile_contact(pile, b, -1, up, 0.0);
        if (i == 0) pile_contact(pile, b, -1, x, 0.0);
        if (i + 1 == n) pile_contact(pile, b, -1, left, 0.5);
        if (d == 3 && j == 0) pile_contact(pile, b, -1, y, 0.0);
        if (d == 3 && j + 1 == rows) pile_contact(pile, b, -1, back, 0.5);
        if (i + 1 < n) pile_contact(pile, b + 1, b, x, 0.0);
        if (d == 3 && j + 1 < rows) pile_contact(pile, b + n, b, y, 0.0);
        if (k + 1 == n) continue;
        const int shift = k % 2 ? 0 : -1; /* of the layer above */
        for (int jj = 0; jj < (d == 3 ? 2 : 1); ++jj)
          for (int ii = 0; ii < 2; ++ii) {
            const int i2 = i + ii + shift, j2 = d == 3 ? j + jj + shift : 0;
            if (i2 < 0 || i2 >= n || j2 < 0 || j2 >= rows) continue;
            const double sx = ii ? 0.5 : -0.5, sy = jj ? 0.5 : -0.5;
            const double normal[3] = {sx, d == 3 ? sy : h, d == 3 ? half : 0.0};
            pile_contact(pile, i2 + n * (j2 + rows * (k + 1)), b, normal, 0.0);
          }
      }
}

/* n layers; friction mu (0 with frictionless = true: half-lines). */
static inline scree_Status pile_create(int d, int n, double mu, bool frictionless,
                                       scree_Problem *problem, const scree_Log *log) {
  const int bodies = d == 3 ? n * n * n : n * n;
  Pile pile = {.d = d, .n = n, .mu = mu, .speed = 0.01, .seed = 7};
  pile_fill(&pile);
  scree_Status status = scree_problem_create_bodies(problem, d, pile.count, bodies, d == 3 ? 6 : 3,
                                                    frictionless, false, log);
  if (status) return status;
  double *mass = malloc((size_t)bodies * sizeof *mass);
  if (!mass) {
    scree_problem_destroy(problem);
    return SCREE_MACHINE;
  }
  for (int b = 0; b < bodies; ++b) mass[b] = 1.0 + packing_random(&pile.seed);
  pile.count = 0;
  pile.mass = mass;
  pile.problem = problem;
  pile_fill(&pile);
  if (frictionless) memset(problem->set, SCREE_SET_HALF_LINE, (size_t)problem->nc);
  free(mass);
  return SCREE_OK;
}

#endif
