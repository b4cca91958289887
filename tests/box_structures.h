/* Structures of boxes as contact problems in body form: bodies and points of contact by hand, with
 * random frames. */
#ifndef TESTS_BOX_STRUCTURES_H
#define TESTS_BOX_STRUCTURES_H

#include "scree/problem.h"
#include "tests/small_problems.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_BODIES = 128, MOST_CONTACTS = 1024 };

/* Bodies and points of contact between them; frames are random. */
typedef struct Scene {
  int d, nbodies, nc;
  double centre[MOST_BODIES][3], mass[MOST_BODIES];
  int body[MOST_CONTACTS][2];
  double point[MOST_CONTACTS][3];
  unsigned long long seed;
} Scene;

static inline void scene_init(Scene *s, int d) {
  memset(s, 0, sizeof *s);
  s->d = d;
  s->seed = 17;
}

static inline int add_body(Scene *s, double x, double y, double z) {
  assert_true(s->nbodies < MOST_BODIES);
  const double centre[3] = {x, y, z};
  memcpy(s->centre[s->nbodies], centre, sizeof centre);
  s->mass[s->nbodies] = 1.5 + small_random(&s->seed);
  return s->nbodies++;
}

/* `count` points around (x, y, z), some 0.4 apart, between bodies a and b (-1: ground) */
static inline void touch(Scene *s, int a, int b, double x, double y, double z, int count) {
  const double about[3] = {x, y, z};
  for (int k = 0; k < count; ++k) {
    assert_true(s->nc < MOST_CONTACTS);
    s->body[s->nc][0] = a;
    s->body[s->nc][1] = b;
    for (int i = 0; i < 3; ++i)
      s->point[s->nc][i] = about[i] + 0.2 * (k >> (i == 1) & 1 ? 1.0 : -1.0) * (i < 2) +
                           0.05 * small_random(&s->seed);
    ++s->nc;
  }
}

/* A random orthonormal frame (d x d). */
static inline void random_frame(int d, unsigned long long *seed, double *frame) {
  for (int i = 0; i < d; ++i) {
    double *e = frame + d * i, norm = 0.0;
    for (int j = 0; j < d; ++j) e[j] = small_random(seed);
    for (int k = 0; k < i; ++k) {
      double sum = 0.0;
      for (int j = 0; j < d; ++j) sum += e[j] * frame[d * k + j];
      for (int j = 0; j < d; ++j) e[j] -= sum * frame[d * k + j];
    }
    for (int j = 0; j < d; ++j) norm += e[j] * e[j];
    for (int j = 0; j < d; ++j) e[j] /= sqrt(norm);
  }
}

/* The scene in body form, contacts in a random order when `shuffle` is not 0. */
static inline scree_Problem scene_bodies(Scene *s, unsigned long long shuffle) {
  const int d = s->d, nb = 3 * (d - 1);
  scree_Problem p;
  assert_int_equal(scree_problem_create_bodies(&p, d, s->nc, s->nbodies, nb, true, false, NULL),
                   SCREE_OK);
  int order[MOST_CONTACTS];
  for (int c = 0; c < s->nc; ++c) order[c] = c;
  for (int c = s->nc - 1; shuffle && c > 0; --c) {
    const int k = (int)((small_random(&shuffle) + 1.0) * 0.5 * (c + 1)), kept = order[c];
    order[c] = order[k];
    order[k] = kept;
  }
  for (int c = 0; c < s->nc; ++c) {
    const int from = order[c];
    double frame[9];
    random_frame(d, &s->seed, frame);
    for (int side = 0; side < 2; ++side) {
      const int b = p.bodies.body[2 * c + side] = s->body[from][side];
      if (b < 0) continue;
      double arm[3];
      for (int i = 0; i < 3; ++i) arm[i] = s->point[from][i] - s->centre[b][i];
      small_block(d, frame, arm, side ? -1.0 : 1.0, s->mass[b], 0.3 * s->mass[b],
                  p.bodies.B + (2 * c + side) * d * nb);
    }
    p.mu[c] = 0.1 + 0.01 * c;
    p.set[c] = (uint8_t)(c % 3 ? SCREE_SET_CONE : SCREE_SET_SHIFTED);
    p.set_a[c] = 0.5 * c;
    for (int i = 0; i < d; ++i) p.q[d * c + i] = small_random(&s->seed);
  }
  p.flow = SCREE_ASSOCIATED;
  return p;
}

#endif
