/* pqn-drum: 100 ellipsoids or spheres in a rotating drum (004 section 8.1, Tables 2 to 4).
 *
 * The drum is a polygon of 32 flat pieces, inner radius 1 m (touched by the pieces in their
 * middles), length 0.5 m along y, closed by two walls, with two blocks of 0.2 x 0.5 x 0.2 m as
 * lifters. N = 100 ellipsoids have the semi-axes (0.9, 0.5, 1) r_0, r_0 = (0.1/N)^(1/3); spheres
 * have their mean as radius. E = 1 MPa, nu = 0.25, 100 kg/m^3, mu = 0.3, g = 10 m/s^2, step 1 ms.
 * Deformable bodies are pseudo-rigid, linearly implicit; ellipsoids follow their deformation,
 * spheres keep their shape, as in the paper.
 *
 * What the paper leaves open is as in the author's input file (solfec-1.0, examples/
 * parallel-scaling/rotating-drum.py): bodies start at rest, with axes along x, y, z, in layers of
 * 1.4 x 0.4 m at z = 0.25 m, a layer in the time that it takes to fall by its height; the drum
 * starts to turn when all of them are in; and pseudo-rigid bodies have the damping h K u.
 *
 * pqn and nlgs run on the paper's scheme (1)-(5) with its stopping test, merit 1e-8, from the
 * impulses of the last step; a step of pqn counts as diverged when Gauss-Seidel took over, one of
 * nlgs after 1000 sweeps. auto runs on the default scheme to the same merit.
 *
 * The paper's R are mean forces of a step, its W is h H A^-1 H^T, and an absolute delta is compared
 * with that (as in its code). So masses are counted here in units of h kg: impulses have the
 * numbers of forces then. pqn takes the paper's own form (scaled=no); velocities, times and counts
 * are as in SI. */
#include "cli/bench/cases.h"
#include "cli/bench/pqn.h"
#include "cli/ranks.h"
#include "math/vec3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 32, BODIES = 100, QUICK = 1000 };
enum { STARTS = 8 }; /* of the same drum, which is chaotic */
/* Of the rows with ranks: steps from the lattice on until most bodies lie, on rank 0 alone, and
 * steps that are counted. */
enum { RANK_BODIES = 10000, RANK_QUICK = 1000, RANK_FALL = 200, RANK_STEPS = 5 };

static const double step = 1e-3, gravity = 10.0, width = 0.5, rim = 0.2, turning = 1.0;
static const double unit = 1e-3; /* of mass, in kg: the step */
static const int64_t steps_full = 10000;
static const double PI = 3.14159265358979323846;

/* One population of the drum, and what Table 3 prints for it. */
typedef struct Kind {
  const char *name;
  bool ball, soft;
  double epsilon; /* of the recommended parameters of pqn */
  int krylov;
  double pqn[4], nlgs[4]; /* seconds, solver_ratio, iterations_per_step, diverged */
} Kind;

static const Kind kinds[] = {
    {"rigid-ellipsoids", false, false, 0.25, 10, {467, 0.77, 9, 0}, {495, 0.85, 112, 20}},
    {"pseudo-ellipsoids", false, true, 0.01, 5, {352, 0.65, 5, 0}, {482, 0.45, 18, 0}},
    {"rigid-spheres", true, false, 0.25, 10, {272, 0.93, 14, 0}, {462, 0.96, 174, 330}},
    {"pseudo-spheres", true, true, 0.01, 5, {135, 0.82, 4, 0}, {64, 0.64, 21, 0}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- the world ------------------------------------------------------------------------------- */

/* A drum, and how it is filled. */
typedef struct Drum {
  const Kind *kind;
  int bodies, placed;
  int across, along; /* bodies of a layer in x and in y */
  int layers;        /* dropped so far */
  double interval;   /* between two layers */
  double begin;      /* of the rotation */
  uint64_t seed;     /* of small displacements at the start; 0: none */
} Drum;

static scree_Twist turn(void *user, double time) {
  const Drum *drum = user;
  return (scree_Twist){{0, 0, 0}, {0, time < drum->begin ? 0 : turning, 0}};
}

typedef struct Surface {
  scree_Vec3 vertices[2 * PIECES + 24];
  int triangles[3 * (2 * PIECES + 12)];
  int vertex_count, triangle_count;
} Surface;

static void add_quad(Surface *s, scree_Vec3 a, scree_Vec3 b, scree_Vec3 c, scree_Vec3 d) {
  const scree_Vec3 corner[4] = {a, b, c, d};
  const int first = s->vertex_count, order[6] = {0, 1, 2, 0, 2, 3};
  for (int k = 0; k < 4; ++k) s->vertices[s->vertex_count++] = corner[k];
  for (int k = 0; k < 6; ++k) s->triangles[3 * s->triangle_count + k] = first + order[k];
  s->triangle_count += 2;
}

/* The three sides of a lifter that can be touched; `sign` is the side of the drum. */
static void add_lifter(Surface *s, double sign) {
  const double inner = 0.8 * sign, outer = sign, z = 0.1;
  const double y = -rim, Y = width + rim;
  const scree_Vec3 a = {inner, y, -z}, b = {inner, Y, -z}, c = {inner, Y, z}, d = {inner, y, z};
  const scree_Vec3 A = {outer, y, -z}, B = {outer, Y, -z}, C = {outer, Y, z}, D = {outer, y, z};
  if (sign > 0) {
    add_quad(s, a, d, c, b); /* towards -x */
    add_quad(s, d, D, C, c); /* towards +z */
    add_quad(s, a, b, B, A); /* towards -z */
  } else {
    add_quad(s, a, b, c, d);
    add_quad(s, d, c, C, D);
    add_quad(s, a, A, B, b);
  }
}

static scree_Status add_drum(scree_World *world, Drum *drum, const scree_Log *log) {
  /* the pieces share their corners, and reach beyond the walls: their borders are not felt */
  Surface s = {.vertex_count = 2 * PIECES, .triangle_count = 2 * PIECES};
  const double radius = 1 / cos(PI / PIECES);
  for (int k = 0; k < PIECES; ++k) {
    const double a = 2 * PI * k / PIECES;
    const int p = 2 * k, q = 2 * ((k + 1) % PIECES);
    /* counter-clockwise as seen from the axis */
    const int corner[6] = {p, q, q + 1, p, q + 1, p + 1};
    for (int i = 0; i < 2; ++i)
      s.vertices[p + i] = (scree_Vec3){radius * cos(a), i ? width + rim : -rim, radius * sin(a)};
    memcpy(s.triangles + 6 * k, corner, sizeof corner);
  }
  add_lifter(&s, 1);
  add_lifter(&s, -1);
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  def.obstacle = true;
  def.shape = &shape;
  def.driver.kind = SCREE_SIGNAL_CALLBACK;
  def.driver.callback = turn;
  def.driver.user = drum;
  scree_Status status =
      scree_shape_init_mesh(&shape, s.vertices, s.vertex_count, s.triangles, s.triangle_count, log);
  if (status) return status;
  status = scree_world_add_body(world, &def, NULL);
  scree_shape_fini(&shape);
  if (!status) status = march_add_wall_3d(world, (scree_Vec3){0, 0, 0}, 1, 1, log);
  if (!status) status = march_add_wall_3d(world, (scree_Vec3){0, width, 0}, 1, -1, log);
  return status;
}

/* A random orientation. */
static scree_Quat random_turn(uint64_t *seed) {
  const double u = march_random(seed, 0, 1), a = march_random(seed, 0, 2 * PI),
               b = march_random(seed, 0, 2 * PI);
  return (scree_Quat){sqrt(1 - u) * sin(a), sqrt(1 - u) * cos(a), sqrt(u) * sin(b),
                      sqrt(u) * cos(b)};
}

/* Semi-axes of the bodies; all of them the radius of balls. */
static scree_Vec3 axes_of(const Kind *kind, int bodies) {
  const double r0 = cbrt(0.1 / bodies), mean = (0.9 + 0.5 + 1.0) / 3 * r0;
  return kind->ball ? (scree_Vec3){mean, mean, mean} : (scree_Vec3){0.9 * r0, 0.5 * r0, r0};
}

static scree_Status begin_body(const Kind *kind, int bodies, scree_Shape *shape, scree_BodyDef *def,
                               const scree_Log *log) {
  const scree_Vec3 a = axes_of(kind, bodies);
  *def = scree_body_def();
  def->shape = shape;
  def->density = 100 / unit;
  if (kind->soft) {
    def->kind = SCREE_BODY_PSEUDO_RIGID;
    def->elastic = (scree_Elastic){
        .young = 1e6 / unit, .poisson = 0.25, .damping = step, .keeps_shape = kind->ball};
  }
  return kind->ball ? scree_shape_init_sphere(shape, a.x, log)
                    : scree_shape_init_ellipsoid(shape, a.x, a.y, a.z, log);
}

static Drum drum_of(const Kind *kind, int bodies) {
  static const double round = 1e-9;
  const scree_Vec3 a = axes_of(kind, bodies);
  Drum drum = {.kind = kind,
               .bodies = bodies,
               .across = (int)ceil(1.4 / (2 * a.x) - round),
               .along = (int)ceil(0.4 / (2 * a.y) - round),
               .interval = sqrt(2 * 2.1 * cbrt(0.1 / bodies) / gravity)};
  const int layer = drum.across * drum.along, layers = (bodies + layer - 1) / layer;
  drum.begin = drum.interval * layers;
  return drum;
}

/* Drop a layer, the first one before the first step. */
static scree_Status drop_layer(scree_World *world, Drum *drum, const scree_Log *log) {
  scree_Shape shape;
  scree_BodyDef def;
  const scree_Vec3 a = axes_of(drum->kind, drum->bodies);
  scree_Status status = begin_body(drum->kind, drum->bodies, &shape, &def, log);
  if (status) return status;
  const double first = fmax(0.05, a.y); /* balls at 0.05 would be in the wall */
  for (int k = 0; k < drum->across * drum->along && drum->placed < drum->bodies && !status; ++k) {
    const int row = k / drum->along, place = k % drum->along;
    def.pose.position = (scree_Vec3){-0.7 + 2 * a.x * row, first + 2 * a.y * place, 0.25};
    if (drum->seed) def.pose.position.z += march_random(&drum->seed, 0, 1e-3 * a.z);
    status = scree_world_add_body(world, &def, NULL);
    ++drum->placed;
  }
  ++drum->layers;
  scree_shape_fini(&shape);
  return status;
}

/* Many bodies at once, on a lattice that fills the drum from below, at random orientations. */
static scree_Status fill(scree_World *world, Drum *drum, const scree_Log *log) {
  const double r0 = cbrt(0.1 / drum->bodies), cell = 2.02 * r0;
  const int rows = (int)(width / cell);
  scree_Shape shape;
  scree_BodyDef def;
  scree_Status status = begin_body(drum->kind, drum->bodies, &shape, &def, log);
  if (status) return status;
  uint64_t seed = 4;
  for (double z = -0.99 + r0; drum->placed < drum->bodies && z < 1 && !status; z += cell)
    for (double x = -0.98 + r0; drum->placed < drum->bodies && x < 1 && !status; x += cell) {
      if (hypot(x, z) + 1.01 * r0 > 1) continue;
      if (fabs(x) + r0 > 0.79 && fabs(z) - r0 < 0.11) continue; /* a lifter */
      for (int row = 0; row < rows && drum->placed < drum->bodies && !status; ++row) {
        def.pose.position = (scree_Vec3){x, width * (row + 0.5) / rows, z};
        def.pose.orientation = random_turn(&seed);
        status = scree_world_add_body(world, &def, NULL);
        ++drum->placed;
      }
    }
  scree_shape_fini(&shape);
  return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Counts of a row; on several ranks of their messages too. */
typedef struct Count {
  PqnCount own;
  Drum *drum;
  const scree_Log *log;
  scree_Status status; /* of the last layer */
  double iterations, messages, bytes, synchronisations, imbalance;
} Count;

static void observe(void *user, scree_World *world, const scree_StepReport *report) {
  Count *count = user;
  const scree_SolveInfo *info = &report->solve;
  Drum *drum = count->drum;
  pqn_observe(&count->own, world, report);
  if (drum->placed < drum->bodies && !count->status &&
      report->time > drum->interval * drum->layers - 0.5 * step)
    count->status = drop_layer(world, drum, count->log);
  if (report->contacts == 0) return;
  count->iterations += info->iterations;
  count->messages += (double)info->sent.messages;
  count->bytes += (double)info->sent.bytes;
  count->synchronisations += (double)info->sent.synchronisations;
  count->imbalance = fmax(count->imbalance, info->imbalance);
}

/* How a row begins: with displacements of a seed, or from the state of a world with the same
 * bodies. */
typedef struct Start {
  uint64_t seed;
  void *state; /* or null */
  size_t size;
} Start;

/* A drum with its bodies, or with the first layer of them. */
static scree_Status make_world(Bench *bench, const scree_WorldSettings *settings, Drum *drum,
                               bool full, scree_World **world) {
  const scree_PairLaw law = scree_pair_law_coulomb(0.3, 0, 0);
  scree_Status status = scree_world_create(settings, bench->log, world);
  if (!status) status = scree_world_set_default_law(*world, &law);
  if (!status) status = add_drum(*world, drum, bench->log);
  if (!status)
    status = full ? fill(*world, drum, bench->log) : drop_layer(*world, drum, bench->log);
  return status;
}

/* A row of the drum; `own` takes its counts, if it is not null. */
static scree_Status run_start(Bench *bench, const char *name, const Kind *kind, int bodies,
                              int64_t steps, const Method *method, const double *published,
                              const Start *start, PqnCount *own) {
  const char *pointers[MARCH_OPTIONS + 1];
  scree_WorldSettings settings = march_settings(bench, method, 3, step, gravity, pointers);
  settings.warm_start = true;
  const bool ranks = bodies != BODIES;
  if (ranks) settings.solve.ranks = cli_ranks();
  scree_World *world = NULL;
  Drum drum = drum_of(kind, bodies);
  drum.seed = start->seed;
  Count count = {
      .own = {.newton = strcmp(method->solver, "pqn") == 0}, .drum = &drum, .log = bench->log};
  March *result = malloc(sizeof *result);
  scree_Status status = result ? SCREE_OK : SCREE_MACHINE;
  if (!status) status = make_world(bench, &settings, &drum, ranks, &world);
  if (!status && start->state) status = scree_world_restore(world, start->state, start->size);
  if (!status) status = march(bench, name, world, steps, observe, &count, result);
  if (!status) status = count.status;
  if (!status) {
    march_note_stopped(bench, name, result, steps);
    pqn_figures(bench, name, bench->quick ? NULL : published, &count.own, result);
    if (ranks && count.iterations > 0) {
      bench_figure(bench, name, "ranks", NAN, scree_ranks_size(settings.solve.ranks));
      bench_figure(bench, name, "messages_per_iteration", NAN, count.messages / count.iterations);
      bench_figure(bench, name, "bytes_per_iteration", NAN, count.bytes / count.iterations);
      bench_figure(bench, name, "synchronisations_per_iteration", NAN,
                   count.synchronisations / count.iterations);
      bench_figure(bench, name, "imbalance", NAN, count.imbalance);
    }
    bench_figure(bench, name, "contacts_max", NAN, result->contacts_max);
    bench_figure(bench, name, "penetration_max", NAN, result->penetration_max);
  }
  if (own) *own = count.own;
  scree_world_destroy(world);
  free(result);
  return status;
}

static scree_Status run_row(Bench *bench, const char *name, const Kind *kind, int bodies,
                            int64_t steps, const Method *method, const double *published) {
  const Start start = {0};
  return run_start(bench, name, kind, bodies, steps, method, published, &start, NULL);
}

static Method pqn_method(double delta, const char *scale, double epsilon, int krylov) {
  Method method = {.name = "pqn",
                   .solver = "pqn",
                   .tolerance = 1e-8,
                   .measure = SCREE_MEASURE_MERIT,
                   .max_iterations = 100 * PQN_LIMIT};
  snprintf(method.text[0], sizeof *method.text, "delta=%.17g", delta);
  snprintf(method.text[1], sizeof *method.text, "delta_scale=%s", scale);
  snprintf(method.text[2], sizeof *method.text, "epsilon=%.17g", epsilon);
  snprintf(method.text[3], sizeof *method.text, "krylov=%d", krylov);
  snprintf(method.text[4], sizeof *method.text, "scaled=no");
  return method;
}

static scree_Status run_kind(Bench *bench, const Kind *kind) {
  Method methods[3] = {pqn_method(0.01, "mean", kind->epsilon, kind->krylov),
                       {.name = "nlgs",
                        .solver = "nlgs",
                        .tolerance = 1e-8,
                        .measure = SCREE_MEASURE_MERIT,
                        .max_iterations = PQN_LIMIT},
                       method_auto()};
  methods[2].tolerance = 1e-8;
  methods[2].measure = SCREE_MEASURE_MERIT;
  const double *published[3] = {kind->pqn, kind->nlgs, NULL};
  for (int m = 0; m < 3; ++m) {
    char name[48];
    snprintf(name, sizeof name, "%s-%s", kind->name, methods[m].name);
    if (!bench_wants(bench, name)) continue;
    const scree_Status status = run_row(
        bench, name, kind, BODIES, bench->quick ? QUICK : steps_full, &methods[m], published[m]);
    if (status || !bench_progress(bench, "%s done", name)) return status;
  }
  return SCREE_OK;
}

/* Table 2: delta as an absolute value. Table 4: the shortest runs with delta relative to the
 * diagonal of W; those with its mean are the rows of Table 3. */
static const struct {
  const char *name;
  int kind;
  double delta;
  const char *scale;
  double epsilon;
  int krylov;
  double published[4]; /* as in Kind */
} tables[] = {
    {"table2", 0, 1e-4, "absolute", 0.25, 15, {525, 0.78, 10, 0}},
    {"table2", 1, 1e-13, "absolute", 0.25, 20, {356, 0.64, 5, 0}},
    {"table2", 2, 1e-4, "absolute", 0.25, 15, {257, 0.93, 12, 1}},
    {"table2", 3, 1e-13, "absolute", 0.25, 20, {217, 0.89, 6, 44}},
    {"table4-min", 0, 0.025, "min", 0.25, 15, {495, NAN, NAN, NAN}},
    {"table4-max", 0, 0.01, "max", 0.25, 20, {525, NAN, NAN, NAN}},
    {"table4-min", 1, 0.1, "min", 0.1, 20, {378, NAN, NAN, NAN}},
    {"table4-max", 1, 0.01, "max", 0.05, 10, {385, NAN, NAN, NAN}},
};

static scree_Status run_tables(Bench *bench) {
  for (size_t k = 0; k < sizeof tables / sizeof *tables; ++k) {
    const Kind *kind = &kinds[tables[k].kind];
    char name[48];
    snprintf(name, sizeof name, "%s-%s", tables[k].name, kind->name);
    if (!bench_wants(bench, name)) continue;
    const Method method =
        pqn_method(tables[k].delta, tables[k].scale, tables[k].epsilon, tables[k].krylov);
    const scree_Status status = run_row(
        bench, name, kind, BODIES, bench->quick ? QUICK : steps_full, &method, tables[k].published);
    if (status || !bench_progress(bench, "%s done", name)) return status;
  }
  return SCREE_OK;
}

/* The drum is chaotic, and few of its steps diverge: a row of a table from several starts, that
 * differ by displacements below 1e-3 of a body's size; mean and standard deviation. */
static scree_Status run_from_starts(Bench *bench, const char *name, const Kind *kind,
                                    const Method *method, const double *published) {
  double sum[2] = {0}, square[2] = {0};
  for (int k = 1; k <= STARTS; ++k) {
    char row[64];
    PqnCount own;
    snprintf(row, sizeof row, "%s-%d", name, k);
    const Start start = {.seed = (uint64_t)k};
    const scree_Status status =
        run_start(bench, row, kind, BODIES, bench->quick ? QUICK : steps_full, method, published,
                  &start, &own);
    if (status || !bench_progress(bench, "%s done", row)) return status;
    const double values[2] = {own.iterations / fmax(1, (double)own.converged),
                              (double)own.diverged};
    for (int i = 0; i < 2; ++i) sum[i] += values[i], square[i] += values[i] * values[i];
  }
  static const char *const names[2][2] = {{"iterations_per_step", "iterations_deviation"},
                                          {"diverged", "diverged_deviation"}};
  for (int i = 0; i < 2; ++i) {
    const double mean = sum[i] / STARTS, variance = square[i] / STARTS - mean * mean;
    bench_figure(bench, name, names[i][0], published[2 + i], mean);
    bench_figure(bench, name, names[i][1], NAN, sqrt(fmax(0, variance) * STARTS / (STARTS - 1)));
  }
  return SCREE_OK;
}

/* The rows of Table 2, and those of pqn in Table 3. */
static scree_Status run_starts(Bench *bench) {
  for (int k = 0; k < KINDS; ++k)
    for (int table = 2; table <= 3; ++table) {
      char name[48];
      snprintf(name, sizeof name, "starts-table%d-%s", table, kinds[k].name);
      if (!bench_wants(bench, name)) continue;
      const Method method =
          table == 2
              ? pqn_method(tables[k].delta, tables[k].scale, tables[k].epsilon, tables[k].krylov)
              : pqn_method(0.01, "mean", kinds[k].epsilon, kinds[k].krylov);
      const scree_Status status = run_from_starts(bench, name, &kinds[k], &method,
                                                  table == 2 ? tables[k].published : kinds[k].pqn);
      if (status) return status;
    }
  return SCREE_OK;
}

/* Figures 2, 3 and 6 to 11, on the grids of the author's jobs (tr2-jobs-drum100-absdelta.py and
 * -reldelta.py): (a) m = 1000, delta and eps vary; (b) eps = 1e-3, delta and m vary; (c) pairs of
 * eps and m, delta varies. Only with --only sweep..., since the 3528 rows take 10 to 60 s each. */
static const double absolutes[] = {0,    1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8,
                                   1e-7, 1e-6,  1e-5,  1e-4,  1e-3,  0.01,  0.1};
static const double relatives[] = {0, 0.001, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5};
static const double epsilons_a[] = {1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.25};
static const double epsilons_c[] = {0.5, 0.25, 0.1, 0.05, 0.025, 0.01};
static const int krylovs_b[] = {3, 5, 10, 15, 20, 25, 30, 40, 50, 70, 100};
static const int krylovs_c[] = {5, 10, 15, 20};
enum { EPSILONS_A = 7, EPSILONS_C = 6, KRYLOVS_B = 11, KRYLOVS_C = 4 };

/* Parameters of column k of a figure (0: a, 1: b, 2: c); false behind the last. */
static bool column(int figure, int k, double *epsilon, int *krylov) {
  const int counts[] = {EPSILONS_A, KRYLOVS_B, EPSILONS_C * KRYLOVS_C};
  if (k >= counts[figure]) return false;
  *epsilon = figure == 0 ? epsilons_a[k] : figure == 1 ? 1e-3 : epsilons_c[k % EPSILONS_C];
  *krylov = figure == 0 ? 1000 : figure == 1 ? krylovs_b[k] : krylovs_c[k / EPSILONS_C];
  return true;
}

static scree_Status run_sweeps(Bench *bench) {
  static const char *const scales[] = {"absolute", "min", "mean", "max"};
  for (int row = 0; row < 2 * 4 * 3; ++row) {
    const int kind = row / 12, scale = row / 3 % 4, figure = row % 3;
    const double *deltas = scale ? relatives : absolutes;
    const int delta_count =
        (int)(scale ? sizeof relatives / sizeof *relatives : sizeof absolutes / sizeof *absolutes);
    double epsilon;
    int krylov;
    for (int i = 0; i < delta_count; ++i)
      for (int k = 0; column(figure, k, &epsilon, &krylov); ++k) {
        char name[48];
        snprintf(name, sizeof name, "sweep-%c-%s-%s-%g-%g-%d", 'a' + figure,
                 kinds[kind].soft ? "pseudo" : "rigid", scales[scale], deltas[i], epsilon, krylov);
        if (!bench_wants(bench, name)) continue;
        const Method method = pqn_method(deltas[i], scales[scale], epsilon, krylov);
        const scree_Status status = run_row(bench, name, &kinds[kind], BODIES,
                                            bench->quick ? QUICK : steps_full, &method, NULL);
        if (status || !bench_progress(bench, "%s done", name)) return status;
      }
  }
  return SCREE_OK;
}

static Method rank_sweeps(void) {
  return (Method){.name = "nlgs",
                  .solver = "nlgs",
                  .tolerance = 1e-8,
                  .measure = SCREE_MEASURE_MERIT,
                  .max_iterations = PQN_LIMIT};
}

/* Section 8.1.5: many ellipsoids on several ranks. Only with --only ranks. All rows of a kind begin
 * where sweeps on rank 0 have brought its bodies. */
static scree_Status let_fall(Bench *bench, const Kind *kind, int bodies, Start *start) {
  const Method method = rank_sweeps();
  const char *pointers[MARCH_OPTIONS + 1];
  const scree_WorldSettings settings = march_settings(bench, &method, 3, step, gravity, pointers);
  Drum drum = drum_of(kind, bodies);
  scree_World *world = NULL;
  scree_Status status = make_world(bench, &settings, &drum, true, &world);
  for (int k = 0; k < RANK_FALL && status <= SCREE_NOT_CONVERGED; ++k) {
    status = scree_world_step(world, NULL);
    if (k % 16 == 0 && !bench_progress(bench, "bodies fall, step %d of %d", k, RANK_FALL))
      status = SCREE_INTERRUPTED;
  }
  if (status <= SCREE_NOT_CONVERGED) {
    start->size = scree_world_state_size(world);
    start->state = malloc(start->size);
    status = start->state ? SCREE_OK : SCREE_MACHINE;
    if (start->state) scree_world_save(world, start->state);
  }
  scree_world_destroy(world);
  return status;
}

static scree_Status run_ranks_of(Bench *bench, const Kind *kind) {
  const int bodies = bench->quick ? RANK_QUICK : RANK_BODIES;
  const Method methods[2] = {pqn_method(0.01, "mean", kind->epsilon, kind->krylov), rank_sweeps()};
  Start start = {0};
  scree_Status status = SCREE_OK;
  for (int m = 0; m < 2 && !status; ++m) {
    char name[48];
    snprintf(name, sizeof name, "ranks-%s-%s", kind->soft ? "pseudo" : "rigid", methods[m].name);
    if (!bench_wants(bench, name)) continue;
    if (!start.state) status = let_fall(bench, kind, bodies, &start);
    if (!status)
      status = run_start(bench, name, kind, bodies, RANK_STEPS, &methods[m], NULL, &start, NULL);
    if (!status && !bench_progress(bench, "%s done", name)) break;
  }
  free(start.state);
  return status;
}

static scree_Status run_ranks(Bench *bench) {
  const scree_Status status = run_ranks_of(bench, &kinds[0]);
  return status ? status : run_ranks_of(bench, &kinds[1]);
}

static scree_Status run_drum(Bench *bench) {
  scree_Status status = SCREE_OK;
  if (bench->only && strncmp(bench->only, "ranks", 5) == 0) return run_ranks(bench);
  if (bench->only && strncmp(bench->only, "sweep", 5) == 0) return run_sweeps(bench);
  if (bench->only && strncmp(bench->only, "starts", 6) == 0) return run_starts(bench);
  for (int k = 0; k < KINDS && !status; ++k) status = run_kind(bench, &kinds[k]);
  if (!status) status = run_tables(bench);
  bench_note(
      bench,
      "`mpirun -n N scree bench pqn-drum --only ranks` simulates 10 000 ellipsoids on N ranks");
  bench_note(bench,
             "`--only starts` repeats Tables 2 and 3 from %d initial states that differ by 1e-3 of "
             "the size of a body",
             STARTS);
  bench_note(
      bench,
      "`--only sweep` repeats the sensitivity studies, in rows "
      "sweep-FIGURE-KIND-SCALE-DELTA-EPSILON-M; `--only sweep-a-rigid-mean` repeats a part of "
      "them");
  return status;
}

const BenchCase bench_pqn_drum = {
    .name = "pqn-drum",
    .reference = "004 Tables 2 to 4, Figures 2 to 11",
    .summary = "100 rigid or pseudo-rigid ellipsoids and spheres in a drum: iterations, time",
    .duration = "minutes, 20 s with --quick",
    .run = run_drum,
};
