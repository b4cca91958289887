/* convex-collapse and convex-ellipses: 003 Figures 11 to 13.
 *
 * Collapse, 2D: 30 x 30 disks of radius H/62 on a grid of side H = 10, the first row shifted by
 * r/2, masses in [1, 2], gravity 1, on a plane; 3D: n^3 spheres as in convex-box, on a plane, until
 * t = 2.58 (the paper's figure; dt = 0.0086 for 1728). mu = 0.1 and 1. The convex relaxation is
 * compared with Coulomb's law by the profile: the height of the pile over x at the end, and by its
 * two numbers, `height` and `width` (98% of the bodies). `fixed_point_iterations` are convex
 * problems per step that has contacts, with tolFP = 1e-2 and from s = 0.
 *
 * Ellipses: 10 x 10, vertical semi-axis 0.45, horizontal one in [0.22, 0.68], masses in [1, 2],
 * gravity 5, dt = 0.01, no friction, on glued disks of radius 0.045; apgd-ar with tol = 1e-3. */
#include "cli/bench/cases.h"
#include "cli/bench/march.h"
#include "cli/bench/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 60, SCHEMES = 3 };

static const char *const schemes[SCHEMES] = {"convex", "fixed", "auto"};
static const double side = 10.0;

/* ---- profiles -------------------------------------------------------------------------------- */

typedef struct Profile {
  double x[BINS], y[BINS];
  double height, width;
} Profile;

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static scree_Status profile(const scree_World *world, int count, int up, Profile *out) {
  double *h = malloc((size_t)count * sizeof *h), *w = malloc((size_t)count * sizeof *w);
  if (!h || !w) {
    free(h);
    free(w);
    return SCREE_MACHINE;
  }
  for (int b = 0; b < BINS; ++b) {
    out->x[b] = side * (-1.0 + 3.0 * (b + 0.5) / BINS);
    out->y[b] = 0.0;
  }
  for (int k = 0; k < count; ++k) {
    const scree_Vec3 p = scree_body_pose(world, k).position;
    const double top = (up == 1 ? p.y : p.z) + scree_body_shape(world, k)->radius;
    const int b = (int)floor((p.x / side + 1.0) / 3.0 * BINS);
    if (b >= 0 && b < BINS) out->y[b] = fmax(out->y[b], top);
    h[k] = top;
    w[k] = fabs(p.x - 0.5 * side);
  }
  qsort(h, (size_t)count, sizeof *h, ascending);
  qsort(w, (size_t)count, sizeof *w, ascending);
  out->height = h[(int)(0.98 * (count - 1))];
  out->width = 2.0 * w[(int)(0.98 * (count - 1))];
  free(h);
  free(w);
  return SCREE_OK;
}

/* ---- collapse -------------------------------------------------------------------------------- */

typedef struct Collapse {
  int dimension, count;
  double mu, step, end, iterations; /* published */
} Collapse;

static scree_Status fill_2d(scree_World *world, const scree_Log *log) {
  const double cell = side / 30, radius = side / 62;
  uint64_t seed = 900;
  scree_Status status = SCREE_OK;
  for (int k = 0; k < 900 && !status; ++k) {
    const double m = march_random(&seed, 1.0, 2.0),
                 x = cell * (k % 30 + 0.5) + (k < 30 ? radius / 2 : 0);
    const int row = k / 30;
    status = march_add_disk(world, radius, x, cell * row + radius, 0.0, 0.0, m,
                            0.5 * m * radius * radius, log);
  }
  return status ? status : march_add_wall(world, 0.0, 0.0, 0.0, log);
}

static scree_Status fill_3d(scree_World *world, int count, const scree_Log *log) {
  const int n = (int)lround(cbrt(count));
  const double cell = side / n, shift = 0.05 * cell / 2.0;
  uint64_t seed = (uint64_t)count;
  scree_Status status = SCREE_OK;
  for (int k = 0; k < count && !status; ++k) {
    const double radius = march_random(&seed, 0.8, 0.9) * cell / 2.0;
    const int row = k / n % n, layer = k / n / n;
    const scree_Vec3 at = {cell * (k % n + 0.5) + march_random(&seed, -shift, shift),
                           cell * (row + 0.5) + march_random(&seed, -shift, shift),
                           cell * (layer + 0.5) + march_random(&seed, -shift, shift)};
    status = march_add_sphere(world, radius, at, march_random(&seed, 1.0, 2.0), log);
  }
  return status ? status : march_add_wall_3d(world, (scree_Vec3){0, 0, 0}, 2, 1, log);
}

static scree_Status run_collapse_row(Bench *bench, const Collapse *c, int scheme, const char *name,
                                     Profile *out, March *result) {
  const char *pointers[MARCH_OPTIONS + 1];
  Method method = method_auto();
  method.tolerance = 1e-6;
  if (scheme == 1) {
    method.solver = "fixed-point";
    method.max_iterations = 100;
    snprintf(method.text[0], sizeof *method.text, "inner=%s", "apgd-ar");
    method.measure = SCREE_MEASURE_INCREMENT; /* |F(s) - s|/(|s| + 1), the paper's */
    method.tolerance = 1e-2;
    method.automatic = false;
  }
  scree_WorldSettings settings =
      march_settings(bench, &method, c->dimension, c->step, 1.0, pointers);
  settings.scheme = "euler";
  settings.flow = scheme == 0 ? SCREE_ASSOCIATED : SCREE_COULOMB;
  const scree_PairLaw law = scree_pair_law_coulomb(c->mu, 0.0, 0.0);
  scree_World *world = NULL;
  const int64_t steps = (int64_t)lround(c->end / c->step);
  scree_Status status = scree_world_create(&settings, bench->log, &world);
  if (!status) status = scree_world_set_default_law(world, &law);
  if (!status)
    status = c->dimension == 2 ? fill_2d(world, bench->log) : fill_3d(world, c->count, bench->log);
  if (!status) status = march(bench, name, world, steps, NULL, NULL, result);
  if (!status) status = profile(world, c->count, c->dimension == 2 ? 1 : 2, out);
  if (!status) march_note_stopped(bench, name, result, steps);
  scree_world_destroy(world);
  return status;
}

static scree_Status run_one_collapse(Bench *bench, const Collapse *c, Profile *profiles,
                                     March *result) {
  char name[48], title[96];
  double here = NAN;
  Plot plot = {.title = title, .x_label = "x", .y_label = "height", .count = SCHEMES};
  for (int s = 0; s < SCHEMES; ++s) {
    snprintf(name, sizeof name, "%s-%dd-mu%g/%d", schemes[s], c->dimension, c->mu, c->count);
    plot.series[s] = (PlotSeries){schemes[s], profiles[s].x, profiles[s].y, 0, false};
    if (!bench_wants(bench, name)) continue;
    const scree_Status status = run_collapse_row(bench, c, s, name, &profiles[s], result);
    if (status) return status;
    plot.series[s].count = BINS;
    bench_figure(bench, name, "height", NAN, profiles[s].height);
    bench_figure(bench, name, "width", NAN, profiles[s].width);
    if (s == 1)
      bench_figure(bench, name, "fixed_point_iterations", c->iterations,
                   result->touching ? result->iterations / (double)result->touching : NAN);
    bench_figure(bench, name, "seconds", NAN, result->seconds_solve);
    bench_figure(bench, name, "penetration_max", NAN, result->penetration_max);
    if (s == 1) here = result->stopped ? NAN : result->seconds_solve;
    if (s == 2 && !result->stopped) march_faster(bench, name, result->seconds_solve, NAN, here);
  }
  snprintf(title, sizeof title, "003 Figures 11 and 12: %d bodies in %dD, mu = %g, t = %g",
           c->count, c->dimension, c->mu, c->end);
  snprintf(name, sizeof name, "profile-%dd-mu%g-%d", c->dimension, c->mu, c->count);
  return plot_write(bench, &plot, name);
}

static scree_Status run_collapse(Bench *bench) {
  /* 2D: a tenth of the radius at the speed of a fall from H */
  const double step_2d = 0.1 * side / 62 / sqrt(2.0 * side), end_2d = bench->quick ? 1.5 : 8.0,
               end_3d = 2.58;
  const Collapse all[] = {{2, 900, 0.1, step_2d, end_2d, NAN}, {2, 900, 1.0, step_2d, end_2d, NAN},
                          {3, 512, 0.1, 0.0086, end_3d, 3.5},  {3, 512, 1.0, 0.0086, end_3d, 8.0},
                          {3, 1000, 0.1, 0.0086, end_3d, 3.5}, {3, 1000, 1.0, 0.0086, end_3d, 8.0},
                          {3, 1728, 0.1, 0.0086, end_3d, 3.5}, {3, 1728, 1.0, 0.0086, end_3d, 8.0}};
  const int count = bench->quick ? 4 : (int)(sizeof all / sizeof *all);
  Profile *profiles = calloc(SCHEMES, sizeof *profiles);
  March *result = malloc(sizeof *result);
  scree_Status status = profiles && result ? SCREE_OK : SCREE_MACHINE;
  for (int k = 0; k < count && !status; ++k) {
    status = run_one_collapse(bench, &all[k], profiles, result);
    if (!bench_progress(bench, "%d of %d", k + 1, count)) break;
  }
  if (bench->quick) bench_note(bench, "--quick: the simulations in 2D end at t = %g s", end_2d);
  bench_note(bench, "fixed_point_iterations are means over the steps with contacts; the paper does "
                    "not say over which steps its means are taken. `auto` solves to an error of "
                    "1e-6, `fixed` to tolFP = 1e-2, with its convex problems to 1e-4");
  free(result);
  free(profiles);
  return status;
}

/* ---- ellipses -------------------------------------------------------------------------------- */

static scree_Status fill_ellipses(scree_World *world, const scree_Log *log) {
  const double tall = 0.45, grain = 0.045, cell_x = 1.4, cell_y = 0.92;
  uint64_t seed = 100;
  scree_Status status = SCREE_OK;
  for (int k = 0; k < 100 && !status; ++k) {
    scree_Shape shape;
    scree_BodyDef def = scree_body_def();
    status = scree_shape_init_ellipse(&shape, march_random(&seed, 0.22, 0.68), tall, log);
    def.shape = &shape;
    def.mass = march_random(&seed, 1.0, 2.0);
    def.pose.position.x = cell_x * (k % 10 + 0.5);
    const int row = k / 10;
    def.pose.position.y = grain + 1.02 * tall + cell_y * row;
    if (!status) status = scree_world_add_body(world, &def, NULL);
  }
  /* glued disks, a diameter apart, three heaps wide */
  for (int k = 0; k < 620 && !status; ++k) {
    scree_Shape shape;
    scree_BodyDef def = scree_body_def();
    status = scree_shape_init_disk(&shape, grain, log);
    def.shape = &shape;
    def.obstacle = true;
    def.pose.position.x = 2.0 * grain * (k - 310) + 7.0;
    if (!status) status = scree_world_add_body(world, &def, NULL);
  }
  return status;
}

static scree_Status run_ellipses(Bench *bench) {
  static const char *const names[2] = {"apgd-ar", "auto"};
  const double step = 0.01;
  const int64_t steps = bench->quick ? 100 : 500;
  March *result = malloc(sizeof *result);
  scree_Status status = result ? SCREE_OK : SCREE_MACHINE;
  double here = NAN, x[2][100], y[2][100];
  Plot plot = {.title = "003 Figure 13: centres of the ellipses at the end",
               .x_label = "x",
               .y_label = "y",
               .count = 2};
  for (int m = 0; m < 2 && !status; ++m) {
    const char *pointers[MARCH_OPTIONS + 1];
    Method method = method_auto();
    if (m == 0)
      method = (Method){.name = names[0],
                        .solver = names[0],
                        .tolerance = 1e-3,
                        .measure = SCREE_MEASURE_INCREMENT,
                        .max_iterations = 100000};
    scree_WorldSettings settings = march_settings(bench, &method, 2, step, 5.0, pointers);
    settings.scheme = "euler";
    settings.flow = SCREE_ASSOCIATED;
    const scree_PairLaw law = scree_pair_law("frictionless");
    scree_World *world = NULL;
    status = scree_world_create(&settings, bench->log, &world);
    if (!status) status = scree_world_set_default_law(world, &law);
    if (!status) status = fill_ellipses(world, bench->log);
    if (!status) status = march(bench, names[m], world, steps, NULL, NULL, result);
    if (!status) {
      bench_figure(bench, names[m], "penetration_max", NAN, result->penetration_max);
      bench_figure(bench, names[m], "seconds", NAN, result->seconds);
      bench_figure(bench, names[m], "iterations", NAN, result->iterations);
      march_note_stopped(bench, names[m], result, steps);
      if (m) march_faster(bench, names[m], result->seconds, NAN, here);
      here = result->seconds;
      for (int k = 0; k < 100; ++k) {
        const scree_Vec3 p = scree_body_pose(world, k).position;
        x[m][k] = p.x;
        y[m][k] = p.y;
      }
      plot.series[m] = (PlotSeries){names[m], x[m], y[m], 100, true};
    }
    scree_world_destroy(world);
  }
  if (!status) status = plot_write(bench, &plot, "centres");
  bench_note(bench, "penetration_max is relative to the size of the smaller body, which may be a "
                    "glued disk (diameter 0.09). The simulation ends at 5 s. The paper shows "
                    "pictures, but prints no figures");
  free(result);
  return status;
}

const BenchCase bench_convex_collapse = {
    .name = "convex-collapse",
    .reference = "003 Figures 11 and 12",
    .summary = "collapse of 900 disks and 512 to 1728 spheres: convex against fixed point",
    .duration = "half an hour without --limit, half a minute with --quick",
    .run = run_collapse,
};

const BenchCase bench_convex_ellipses = {
    .name = "convex-ellipses",
    .reference = "003 Figure 13",
    .summary = "collapse of 100 ellipses on glued disks",
    .duration = "10 s, 2 s with --quick",
    .run = run_ellipses,
};
