/* A sequence of contact problems like those of a simulation: a packing (packing.h) in which a few
 * contacts open and close from step to step, bodies without contacts are left out and the others
 * numbered anew, and the velocities change a little. The same arguments give the same problems on
 * any machine. */
#ifndef SCREE_BENCH_SEQUENCE_H
#define SCREE_BENCH_SEQUENCE_H

#include "bench/packing.h"
#include "core/mix.h"

typedef struct Sequence {
  scree_Problem all;     /* with every contact that ever closes */
  int open;              /* per cent of the contacts that are open in a step */
  int life;              /* steps for which a contact stays open or closed, at least */
  scree_Problem problem; /* of the step at hand; problem.bodies.id names its bodies */
  int *index, *id;       /* (bodies of `all`) */
} Sequence;

/* A contact is open or closed for `life` steps, then by chance again. */
static inline bool sequence_is_open(const Sequence *s, int c, int step) {
  const uint64_t turn = (uint64_t)((step + c % s->life) / s->life);
  return scree_mix((uint64_t)c * 1000003u + turn) % 100 < (uint64_t)s->open;
}

/* `dense`: with B written out and spheres that are not quite round, so that the short form for
 * balls does not apply. */
static inline Sequence sequence_create(int d, int contacts, double mu, int open, int life,
                                       bool dense) {
  Sequence s = {.open = open, .life = life};
  scree_Problem balls;
  if (packing_create(d, contacts, mu, &balls, NULL)) abort();
  s.all = balls;
  if (dense) {
    if (packing_dense(&balls, &s.all, NULL)) abort();
    scree_problem_destroy(&balls);
    for (int c = 0; c < s.all.nc; ++c)
      for (int i = 0; i < d; ++i)
        s.all.bodies.B[((2 * c) * d + i + 1) * s.all.bodies.nb - 1] *= 1.001;
  }
  const size_t bodies = (size_t)s.all.bodies.nbodies;
  s.index = malloc(bodies * sizeof *s.index);
  s.id = malloc(bodies * sizeof *s.id);
  const scree_Status status =
      dense ? scree_problem_create_bodies(&s.problem, d, s.all.nc, (int)bodies, s.all.bodies.nb,
                                          false, false, NULL)
            : scree_problem_create_balls(&s.problem, d, s.all.nc, (int)bodies, false, false, NULL);
  if (!s.index || !s.id || status) abort();
  s.problem.bodies.id = s.id;
  return s;
}

static inline void sequence_destroy(Sequence *s) {
  scree_problem_destroy(&s->all);
  scree_problem_destroy(&s->problem);
  free(s->index);
  free(s->id);
}

/* Make s->problem that of a step. */
static inline void sequence_set(Sequence *s, int step) {
  const scree_Problem *a = &s->all;
  scree_Problem *p = &s->problem;
  const size_t d = (size_t)a->d, block = 2 * d * (size_t)a->bodies.nb;
  int nc = 0, nbodies = 0;
  for (int b = 0; b < a->bodies.nbodies; ++b) s->index[b] = -1;
  for (int c = 0; c < a->nc; ++c)
    if (!sequence_is_open(s, c, step))
      s->index[a->bodies.body[2 * c]] = s->index[a->bodies.body[2 * c + 1]] = 0;
  for (int b = 0; b < a->bodies.nbodies; ++b)
    if (s->index[b] == 0) {
      s->id[nbodies] = b;
      s->index[b] = nbodies++;
    }
  for (int c = 0; c < a->nc; ++c) {
    if (sequence_is_open(s, c, step)) continue;
    const size_t from = (size_t)c, to = (size_t)nc++;
    for (int side = 0; side < 2; ++side)
      p->bodies.body[2 * to + (size_t)side] = s->index[a->bodies.body[2 * c + side]];
    if (a->bodies.B) {
      memcpy(p->bodies.B + block * to, a->bodies.B + block * from, block * sizeof(double));
    } else {
      memcpy(p->bodies.normal + 3 * to, a->bodies.normal + 3 * from, 3 * sizeof(double));
      memcpy(p->bodies.arm + 4 * to, a->bodies.arm + 4 * from, 4 * sizeof(double));
    }
    const double change = (double)(scree_mix((uint64_t)(c + 7919 * step)) % 1000) * 1e-5;
    for (size_t i = 0; i < d; ++i) p->q[d * to + i] = (1.0 + change) * a->q[d * from + i];
    p->mu[to] = a->mu[c];
  }
  p->nc = nc;
  p->bodies.nbodies = nbodies;
}

#endif
