/* Bodies found in an assembled W: structures of boxes whose W is formed, handed over without its
 * bodies, in any order and any units, and must come back; problems that hide no bodies, or not
 * quite, must be refused or be right; and the problem files. */
#define _DEFAULT_SOURCE /* scandir */

#include "bench/packing.h"
#include "box_structures.h"
#include "problem_files.h"
#include "scree/solver.h"
#include "solver/recover.h"
#include "tests/small_problems.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- judging ----------------------------------------------------------------------------------
 */

static double get_entry(const scree_Problem *p, int row, int column) {
  const size_t d = (size_t)p->d, c = (size_t)row / d, i = (size_t)row % d;
  const size_t start = p->blocks.row[c], n = p->blocks.row[c + 1] - start;
  for (size_t k = 0; k < n; ++k)
    if ((size_t)p->blocks.col[start + k] == (size_t)column / d)
      return p->blocks.x[d * d * start + i * d * n + d * k + (size_t)column % d];
  return 0.0;
}

/* Largest difference of two W, entry by entry, relative to the diagonal. */
static double difference(const scree_Problem *p, const scree_Problem *bodies) {
  scree_Problem again;
  assert_int_equal(scree_problem_assemble(bodies, &again, NULL), SCREE_OK);
  const int n = p->d * p->nc;
  double *D = calloc((size_t)n, sizeof *D), worst = 0.0;
  for (int i = 0; i < n; ++i) D[i] = get_entry(p, i, i);
  for (int pass = 0; pass < 2; ++pass) { /* blocks of one, then blocks of the other */
    const scree_Problem *a = pass ? &again : p, *b = pass ? p : &again;
    for (int c = 0; c < p->nc; ++c)
      for (size_t k = a->blocks.row[c]; k < a->blocks.row[c + 1]; ++k)
        for (int e = 0; e < p->d * p->d; ++e) {
          const int i = p->d * c + e / p->d, j = p->d * a->blocks.col[k] + e % p->d;
          const double gap = fabs(get_entry(a, i, j) - get_entry(b, i, j));
          if (gap > worst * sqrt(D[i] * D[j])) worst = gap / sqrt(D[i] * D[j]);
        }
  }
  free(D);
  scree_problem_destroy(&again);
  return worst;
}

/* Recover; what is found must be the problem. Returns the number of bodies, -1 if not found. */
static int recover_within(const scree_Problem *p, double tolerance) {
  bool found;
  scree_Problem bodies;
  assert_int_equal(scree_recover_bodies(p, &bodies, &found, NULL), SCREE_OK);
  if (!found) {
    assert_null(bodies.owned);
    return -1;
  }
  assert_int_equal(bodies.kind, SCREE_BODIES);
  assert_int_equal(scree_problem_check(&bodies, NULL), SCREE_OK);
  assert_int_equal(bodies.nc, p->nc);
  assert_int_equal(bodies.d, p->d);
  assert_int_equal(bodies.flow, p->flow);
  assert_ptr_equal(bodies.flow_blocks, p->flow_blocks);
  const size_t nc = (size_t)p->nc;
  assert_memory_equal(bodies.q, p->q, nc * (size_t)p->d * sizeof(double));
  assert_memory_equal(bodies.mu, p->mu, nc * sizeof(double));
  assert_int_equal(!bodies.set, !p->set);
  if (p->set) {
    assert_memory_equal(bodies.set, p->set, nc);
    assert_memory_equal(bodies.set_a, p->set_a, nc * sizeof(double));
    assert_memory_equal(bodies.set_b, p->set_b, nc * sizeof(double));
  }
  assert_true(difference(p, &bodies) <= tolerance);
  /* the same bits once more */
  scree_Problem again;
  assert_int_equal(scree_recover_bodies(p, &again, &found, NULL), SCREE_OK);
  assert_true(found);
  assert_memory_equal(bodies.bodies.body, again.bodies.body, 2 * nc * sizeof(int));
  assert_memory_equal(bodies.bodies.B, again.bodies.B,
                      nc * (size_t)(2 * p->d * bodies.bodies.nb) * sizeof(double));
  const int nbodies = bodies.bodies.nbodies;
  scree_problem_destroy(&bodies);
  scree_problem_destroy(&again);
  return nbodies;
}

static int recover(const scree_Problem *p) {
  return recover_within(p, 1e-11);
}

static void scale_blocks(scree_Problem *p, double factor) {
  for (size_t k = 0; k < p->blocks.row[p->nc] * (size_t)(p->d * p->d); ++k)
    p->blocks.x[k] *= factor;
}

/* The scene must come back with `expected` bodies, in every order and every unit. */
static void assert_recovered(Scene *s, int expected) {
  for (int k = 0; k < 4; ++k) {
    scree_Problem bodies = scene_bodies(s, k < 2 ? 0 : (unsigned long long)k), p;
    assert_int_equal(scree_problem_assemble(&bodies, &p, NULL), SCREE_OK);
    scale_blocks(&p, k == 1 ? 1e-9 : k == 3 ? 1e9 : 1.0);
    assert_int_equal(recover_within(&p, 1e-12), expected);
    scree_problem_destroy(&bodies);
    scree_problem_destroy(&p);
  }
}

/* Points of one full contact between two faces. */
static int face(int d) {
  return d == 2 ? 3 : 4;
}

/* ---- the structures ------------------------------------------------------------------------ */

static void add_tower(Scene *s, double x, int layers) {
  for (int k = 0; k < layers; ++k) {
    const int b = add_body(s, x, k + 0.5, 0.0);
    touch(s, b, k ? b - 1 : -1, x, k, 0.0, face(s->d));
  }
}

static void towers(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d)
    for (int layers = 1; layers <= 12; layers += 1 + layers / 3) {
      Scene s;
      scene_init(&s, d);
      add_tower(&s, 0.0, layers);
      assert_recovered(&s, layers);
      add_tower(&s, 5.0, 3); /* and another one beside it */
      assert_recovered(&s, layers + 3);
    }
}

/* Bricks on two bricks each, with joints between neighbours where `joints`. */
static void make_wall(Scene *s, int d, int layers, int columns, bool ground, bool joints) {
  scene_init(s, d);
  for (int k = 0; k < layers; ++k)
    for (int j = 0; j < columns; ++j) {
      const double x = j + (k % 2 ? 0.5 : 0.0);
      const int b = add_body(s, x, k + 0.5, 0.0);
      if (!k && ground) touch(s, b, -1, x, k, 0.0, face(d));
      if (k) touch(s, b, b - columns, x + (k % 2 ? -0.25 : 0.25), k, 0.0, face(d));
      const int across = b - columns + (k % 2 ? 1 : -1);
      if (k && (k % 2 ? j + 1 < columns : j > 0))
        touch(s, b, across, x + (k % 2 ? 0.25 : -0.25), k, 0.0, face(d));
      if (joints && j) touch(s, b, b - 1, x - 0.5, k + 0.5, 0.0, face(d));
    }
}

static void walls(void **state) {
  (void)state;
  Scene s;
  for (int d = 2; d <= 3; ++d) {
    make_wall(&s, d, 3, 3, true, false);
    assert_recovered(&s, 9);
    make_wall(&s, d, 16, 4, true, false); /* tall: rounding must not grow from layer to layer */
    assert_recovered(&s, 64);
    make_wall(&s, d, 6, 4, true, true);
    assert_recovered(&s, 24);
    make_wall(&s, d, 4, 4, false, true); /* floating */
    assert_recovered(&s, 16);
  }
}

/* Two piers and a beam on them, twice; both ends stand on the ground. */
static void bridges(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    Scene s;
    scene_init(&s, d);
    int below[2] = {-1, -1};
    for (int k = 0; k < 2; ++k) {
      const double y = 2.0 * k;
      int pier[2];
      for (int j = 0; j < 2; ++j) {
        pier[j] = add_body(&s, 3.0 * j, y + 0.5, 0.0);
        touch(&s, pier[j], below[j], 3.0 * j, y, 0.0, face(d));
      }
      below[0] = below[1] = add_body(&s, 1.5, y + 1.5, 0.0);
      for (int j = 0; j < 2; ++j) touch(&s, below[0], pier[j], 3.0 * j, y + 1.0, 0.0, face(d));
    }
    assert_recovered(&s, 6);
  }
}

/* Boxes that touch one plate and nothing else: all contacts have one pattern. */
static void plates(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d)
    for (int ground = 0; ground < 2; ++ground) {
      Scene s;
      scene_init(&s, d);
      const int plate = add_body(&s, 2.0, 0.0, 0.0);
      if (ground) touch(&s, plate, -1, 2.0, -0.1, 0.0, face(d));
      for (int k = 0; k < 5; ++k) touch(&s, add_body(&s, k, 0.6, 0.0), plate, k, 0.1, 0.0, face(d));
      assert_recovered(&s, 6);
    }
}

/* Clusters that float: a chain (whose bodies W does not all determine), a star with long arms. */
static void floating_clusters(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    Scene s;
    scene_init(&s, d);
    for (int k = 0; k < 5; ++k) {
      const int b = add_body(&s, k, 0.0, 0.0);
      if (k) touch(&s, b, b - 1, k - 0.5, 0.0, 0.0, face(d));
    }
    assert_recovered(&s, 4);
    scene_init(&s, d);
    const int centre = add_body(&s, 0.0, 0.0, 0.0);
    for (int arm = 0; arm < 3; ++arm) {
      const double x = arm == 0 ? 1.0 : arm == 1 ? -1.0 : 0.0, y = arm == 2 ? 1.0 : 0.0;
      int last = centre;
      for (int k = 1; k <= 3; ++k) {
        const int b = add_body(&s, k * x, k * y, 0.0);
        touch(&s, b, last, (k - 0.5) * x, (k - 0.5) * y, 0.0, face(d));
        last = b;
      }
    }
    assert_recovered(&s, 10);
  }
}

/* A stack of boxes, one of which stands on an edge: its group has rank 5. And a floating ring,
 * which has nowhere to start: found or not, it must not be wrong. */
static void odd_structures(void **state) {
  (void)state;
  Scene s;
  scene_init(&s, 3);
  add_tower(&s, 0.0, 3);
  touch(&s, add_body(&s, 0.0, 3.5, 0.0), 2, 0.0, 3.0, 0.0, 2);
  assert_recovered(&s, 4);
  for (int d = 2; d <= 3; ++d) {
    scene_init(&s, d);
    for (int k = 0; k < 6; ++k) add_body(&s, cos(k), sin(k), 0.0);
    for (int k = 0; k < 6; ++k) touch(&s, k, (k + 1) % 6, cos(k + 0.5), sin(k + 0.5), 0.0, face(d));
    scree_Problem bodies = scene_bodies(&s, 0), p;
    assert_int_equal(scree_problem_assemble(&bodies, &p, NULL), SCREE_OK);
    recover(&p);
    scree_problem_destroy(&bodies);
    scree_problem_destroy(&p);
  }
}

/* Random graphs of bodies, with faces, edges and points between them: never wrong. */
static void random_structures(void **state) {
  (void)state;
  unsigned long long seed = 5;
  int found = 0;
  for (int round = 0; round < 60; ++round) {
    const int d = 2 + round % 2, n = 3 + round % 7;
    Scene s;
    scene_init(&s, d);
    s.seed += (unsigned long long)round;
    for (int b = 0; b < n; ++b)
      add_body(&s, 3.0 * small_random(&seed), 3.0 * small_random(&seed), 3.0 * small_random(&seed));
    for (int a = 0; a < n; ++a)
      for (int b = -1; b < a; ++b) {
        if (small_random(&seed) > (b < 0 ? -0.4 : 0.0)) continue;
        const double *x = s.centre[a], *y = s.centre[b < 0 ? a : b];
        const int points = small_random(&seed) < 0.6 ? face(d) : 1 + (round / 2) % 2;
        touch(&s, a, b, 0.5 * (x[0] + y[0]), 0.5 * (x[1] + y[1]), 0.5 * (x[2] + y[2]), points);
      }
    scree_Problem bodies = scene_bodies(&s, 3), p;
    assert_int_equal(scree_problem_assemble(&bodies, &p, NULL), SCREE_OK);
    const int got = recover(&p);
    assert_true(got <= n);
    found += got >= 0;
    scree_problem_destroy(&bodies);
    scree_problem_destroy(&p);
  }
  assert_true(found >= 50); /* not where points and edges leave nowhere to start */
}

/* A lattice of bodies that touch with faces, edges and points: bodies whose known groups do not
 * determine them. */
static void loose_packings(void **state) {
  (void)state;
  unsigned long long seed = 1;
  enum { N = 4 };
  for (int round = 0; round < 6; ++round) {
    Scene s;
    scene_init(&s, 3);
    s.seed += (unsigned long long)round;
    for (int b = 0; b < N * N * N; ++b) {
      double shift[3];
      for (int i = 0; i < 3; ++i) shift[i] = 0.2 * small_random(&seed);
      add_body(&s, b % N + shift[0], b / N % N + shift[1], b / N / N + shift[2]);
    }
    for (int b = 0; b < N * N * N; ++b)
      for (int axis = 0, step = 1; axis < 3; ++axis, step *= N) {
        const bool border = b / step % N == 0;
        if (border && (axis < 2 || round % 2)) continue;
        if (small_random(&seed) > 0.6) continue;
        const double kind = small_random(&seed);
        double x[3];
        memcpy(x, s.centre[b], sizeof x);
        x[axis] -= 0.5;
        touch(&s, b, border ? -1 : b - step, x[0], x[1], x[2], kind < 0.6 ? 4 : kind < 0.8 ? 2 : 1);
      }
    scree_Problem bodies = scene_bodies(&s, 7), p;
    assert_int_equal(scree_problem_assemble(&bodies, &p, NULL), SCREE_OK);
    assert_in_range(recover(&p), N * N * N - 6, N * N * N); /* some float alone */
    scree_problem_destroy(&bodies);
    scree_problem_destroy(&p);
  }
}

/* ---- refusals ------------------------------------------------------------------------------ */

static scree_Problem assembled_wall(int d) {
  Scene s;
  make_wall(&s, d, 4, 3, true, false);
  scree_Problem bodies = scene_bodies(&s, 0), p;
  assert_int_equal(scree_problem_assemble(&bodies, &p, NULL), SCREE_OK);
  scree_problem_destroy(&bodies);
  return p;
}

/* W with one number changed beside the diagonal is not symmetric. With a larger diagonal it still
 * is B B^T, of more bodies perhaps. */
static void a_wrong_number_is_refused(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p = assembled_wall(d);
    assert_int_equal(recover(&p), 12);
    const double more = 1e-7 * get_entry(&p, 0, 0);
    const size_t n = p.blocks.row[p.nc] * (size_t)(d * d);
    for (size_t k = 0; k < n; k += 41) {
      const double kept = p.blocks.x[k];
      double trace = 0.0, changed = 0.0;
      for (int i = 0; i < d * p.nc; ++i) trace += get_entry(&p, i, i);
      p.blocks.x[k] += more;
      for (int i = 0; i < d * p.nc; ++i) changed += get_entry(&p, i, i);
      const int got = recover(&p);
      if (changed == trace) assert_int_equal(got, -1);
      p.blocks.x[k] = kept;
    }
    assert_int_equal(recover(&p), 12);
    scree_problem_destroy(&p);
  }
}

/* A compliance, even a small one, gives every contact a velocity of its own. */
static void compliance_is_refused(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d)
    for (double c = 1e-8; c < 10.0; c *= 1e4) {
      scree_Problem p = assembled_wall(d);
      const double diagonal = get_entry(&p, 0, 0);
      for (int k = 0; k < p.nc; ++k) {
        const size_t start = p.blocks.row[k], width = (size_t)d * (p.blocks.row[k + 1] - start);
        for (size_t b = start; b < p.blocks.row[k + 1]; ++b)
          for (size_t i = 0; p.blocks.col[b] == k && i < (size_t)d; ++i)
            p.blocks.x[(size_t)(d * d) * start + i * width + (size_t)d * (b - start) + i] +=
                c * diagonal;
      }
      assert_int_equal(recover(&p), -1);
      scree_problem_destroy(&p);
    }
}

static void problems_without_groups_are_refused(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem balls, p = small_random_problem(d, 30, 0.5, 4);
    assert_int_equal(recover(&p), -1);
    scree_problem_destroy(&p);
    assert_int_equal(packing_create(d, 500, 0.4, &balls, NULL), SCREE_OK);
    assert_int_equal(recover(&balls), -1); /* in body form already */
    assert_int_equal(scree_problem_assemble(&balls, &p, NULL), SCREE_OK);
    assert_int_equal(recover(&p), -1);
    scree_problem_destroy(&p);
    scree_problem_destroy(&balls);
    for (int nc = 0; nc <= 1; ++nc) {
      assert_int_equal(scree_problem_create_assembled(&p, d, nc, (size_t)nc, false, NULL),
                       SCREE_OK);
      p.blocks.row[nc] = (size_t)nc;
      assert_int_equal(recover(&p), -1);
      scree_problem_destroy(&p);
    }
  }
}

/* Some blocks beside the diagonal left out, mostly without their twins. */
static void missing_blocks_are_refused(void **state) {
  (void)state;
  unsigned long long seed = 3;
  for (int round = 0; round < 60; ++round) {
    const int d = 2 + round % 2;
    scree_Problem p = assembled_wall(d), q;
    double *W = calloc((size_t)(p.nc * d * p.nc * d), sizeof *W);
    int removed = 0;
    for (int c = 0; c < p.nc; ++c)
      for (size_t k = p.blocks.row[c]; k < p.blocks.row[c + 1]; ++k) {
        const bool drop = p.blocks.col[k] != c && small_random(&seed) > 1.0 - 2.0 / (round + 2);
        removed += drop;
        for (int e = 0; !drop && e < d * d; ++e) {
          const int i = d * c + e / d, j = d * p.blocks.col[k] + e % d;
          W[i * p.nc * d + j] = get_entry(&p, i, j);
        }
      }
    assert_true(removed > 0);
    assert_int_equal(scree_problem_create_dense(&q, d, p.nc, W, p.q, p.mu, NULL), SCREE_OK);
    assert_int_equal(recover(&q), -1);
    scree_problem_destroy(&p);
    scree_problem_destroy(&q);
    free(W);
  }
}

/* W = 0 and a W with a negative diagonal have no bodies. */
static void degenerate_blocks(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p = assembled_wall(d);
    scale_blocks(&p, -1.0);
    assert_int_equal(recover(&p), -1);
    scale_blocks(&p, 0.0);
    assert_int_equal(recover(&p), -1);
    scree_problem_destroy(&p);
  }
}

/* ---- auto ---------------------------------------------------------------------------------- */

static void note_bodies(void *user, scree_LogLevel level, const char *text) {
  (void)level;
  if (strstr(text, "bodies behind W")) ++*(int *)user;
}

/* auto takes an assembled wall apart before it factorises; what it returns is a solution of W as
 * given, and the same bits on two threads. */
static void auto_goes_over_bodies(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    Scene s;
    make_wall(&s, d, 16, 4, true, false);
    scree_Problem bodies = scene_bodies(&s, 0), p;
    bodies.flow = SCREE_COULOMB;
    const int nb = bodies.bodies.nb;
    double y[6 * MOST_BODIES]; /* free velocities of bodies: contacts can stop them */
    for (int k = 0; k < nb * s.nbodies; ++k) y[k] = small_random(&s.seed);
    for (int c = 0; c < bodies.nc; ++c) {
      bodies.set[c] = SCREE_SET_CONE;
      bodies.mu[c] = 0.4;
      for (int i = 0; i < d; ++i) bodies.q[d * c + i] = 0.0;
      for (int side = 0; side < 2; ++side) {
        const int b = bodies.bodies.body[2 * c + side];
        for (int i = 0; b >= 0 && i < d; ++i)
          for (int k = 0; k < nb; ++k)
            bodies.q[d * c + i] +=
                bodies.bodies.B[((2 * c + side) * d + i) * nb + k] * y[nb * b + k];
      }
    }
    assert_int_equal(scree_problem_assemble(&bodies, &p, NULL), SCREE_OK);
    const size_t n = (size_t)(p.nc * d);
    double *r = calloc(2 * n, sizeof *r), *u = calloc(n, sizeof *u);
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info;
    scree_Measures measures;
    int seen = 0;
    const scree_Log log = {note_bodies, &seen};
    settings.tolerance = 1e-8;
    for (int threads = 1; threads <= 2; ++threads) {
      settings.threads = threads;
      assert_int_equal(scree_solve(&p, &settings, r + (threads - 1) * (int)n, u, &info, &log),
                       SCREE_OK);
    }
    assert_int_equal(seen, 2);
    assert_memory_equal(r, r + n, n * sizeof *r);
    assert_int_equal(scree_problem_measure(&p, r, NULL, NULL, &measures, NULL), SCREE_OK);
    assert_true(measures.error <= 1e-8);
    free(r);
    free(u);
    scree_problem_destroy(&bodies);
    scree_problem_destroy(&p);
  }
}

/* ---- files --------------------------------------------------------------------------------- */

static int bodies_in(const char *name) {
  const struct {
    const char *name;
    int bodies;
  } known[] = {{"KaplasTower-i1061-4", 84},
               {"BoxesStack1-i100000-32", 13},
               {"LMGC_100_PR_PerioBox", 12},
               {"wall-50", 50},
               {"Capsules", -1},
               {"OneObject", -1},
               {"Rover", -1},
               {"disks-400", -1},
               {"spheres-500", -1},
               /* the stand-ins */
               {"BoxesStack-made", 8},
               {"wall.hdf5", 7},
               {"box-", 1}};
  for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
    if (strncmp(name, known[k].name, strlen(known[k].name)) == 0) return known[k].bodies;
  return -2;
}

/* The number of bodies, and a solution over the bodies is one of the file's own problem. */
static void visit(const char *name, scree_Problem *problem) {
  scree_Problem p = *problem, bodies;
  if (p.kind == SCREE_BODIES) assert_int_equal(scree_problem_assemble(problem, &p, NULL), SCREE_OK);
  const int expected = bodies_in(name), got = recover(&p);
  if (expected != -2 && got != expected)
    fail_msg("%s: %d bodies, expected %d", name, got, expected);
  bool found;
  assert_int_equal(scree_recover_bodies(&p, &bodies, &found, NULL), SCREE_OK);
  if (found) {
    const size_t n = (size_t)(p.nc * p.d);
    double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u);
    scree_SolveSettings settings = scree_solve_settings();
    scree_SolveInfo info;
    scree_Measures measures;
    settings.tolerance = 1e-8;
    settings.threads = 1;
    assert_int_equal(scree_solve(&bodies, &settings, r, u, &info, NULL), SCREE_OK);
    assert_int_equal(scree_problem_measure(&p, r, NULL, NULL, &measures, NULL), SCREE_OK);
    assert_true(measures.error <= 1.01e-8);
    free(r);
    free(u);
  }
  scree_problem_destroy(&bodies);
  if (problem->kind == SCREE_BODIES) scree_problem_destroy(&p);
}

static void problem_files(void **state) {
  (void)state;
  if (!small_files(1500, visit)) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(towers),
      cmocka_unit_test(walls),
      cmocka_unit_test(bridges),
      cmocka_unit_test(plates),
      cmocka_unit_test(floating_clusters),
      cmocka_unit_test(odd_structures),
      cmocka_unit_test(random_structures),
      cmocka_unit_test(loose_packings),
      cmocka_unit_test(a_wrong_number_is_refused),
      cmocka_unit_test(compliance_is_refused),
      cmocka_unit_test(problems_without_groups_are_refused),
      cmocka_unit_test(missing_blocks_are_refused),
      cmocka_unit_test(degenerate_blocks),
      cmocka_unit_test(auto_goes_over_bodies),
      cmocka_unit_test(problem_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
