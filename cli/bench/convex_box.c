/* convex-box: 003 Table 2 and Figure 10. n^3 spheres without friction fall in a box of side 10.
 *
 * As printed: grid of step d = 10/n, radii uniform in [0.8, 0.9] d/2, centres moved by up to
 * 0.05 d/2, masses in [1, 2], gravity 1, t = 8, rho = 0.2/dt^2, tol = 1e-3. The time step is the
 * one with which the fastest fall, sqrt(2 g L), moves a fifth of the smallest radius.
 *
 * Units: the paper's unknown is a force; masses are counted in units of dt, so that impulses are
 * forces (march.h), and its gradient is dt times our velocity, so that rho is 0.2/dt.
 * `constraints` are the pairs nearer than the largest radius at the end, the paper's
 * neighbours; ours takes the pairs that can meet in a step, which are fewer. */
#include "cli/bench/cases.h"
#include "cli/bench/march.h"
#include "cli/bench/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHODS = 5, ROWS = 6, SIZES = 4 };

static const char *const names[ROWS] = {"pgd", "apgd", "apgd-as", "apgd-ar", "apgd-asr", "auto"};
static const int sides[SIZES] = {8, 16, 32, 50};
static const double side = 10.0, end = 8.0;

/* Table 2: constraints and active contacts for 512 and 125 000; time of 125 000 over that of 512;
 * time over pgd's for both. */
static const double published[METHODS][7] = {
    {2426, 1488, 910646, 299758, 9.4, NAN, NAN},    {2439, 1354, 910867, 292170, 12.9, 0.37, 0.51},
    {2452, 1416, 910794, 291796, 14.4, 0.66, 1.01}, {2418, 1372, 910715, 292480, 12.9, 0.31, 0.43},
    {2428, 1447, 910238, 292839, 14.2, 0.45, 0.69},
};

static double time_step(int n) {
  return 0.2 * 0.8 * side / n / 2.0 / sqrt(2.0 * side);
}

static scree_Status fill(scree_World *world, int n, double step, const scree_Log *log) {
  const double cell = side / n, shift = 0.05 * cell / 2.0;
  uint64_t seed = (uint64_t)n;
  scree_Status status = SCREE_OK;
  for (int k = 0; k < n * n * n && !status; ++k) {
    const double radius = march_random(&seed, 0.8, 0.9) * cell / 2.0;
    const int row = k / n % n, layer = k / n / n;
    const scree_Vec3 at = {cell * (k % n + 0.5) + march_random(&seed, -shift, shift),
                           cell * (row + 0.5) + march_random(&seed, -shift, shift),
                           cell * (layer + 0.5) + march_random(&seed, -shift, shift)};
    status = march_add_sphere(world, radius, at, march_random(&seed, 1.0, 2.0) / step, log);
  }
  for (int axis = 0; axis < 3 && !status; ++axis) {
    const scree_Vec3 low = {0.0, 0.0, 0.0}, high = {side, side, side};
    status = march_add_wall_3d(world, low, axis, 1, log);
    if (!status) status = march_add_wall_3d(world, high, axis, -1, log);
  }
  return status;
}

/* Pairs of spheres, and of spheres and walls, nearer than the largest radius. */
static double neighbours(const scree_World *world, int n) {
  const int count = n * n * n;
  const double largest = 0.9 * side / n / 2.0, cell = 3.0 * largest;
  const int m = (int)(side / cell) > 1 ? (int)(side / cell) : 1;
  int *first = malloc((size_t)m * (size_t)m * (size_t)m * sizeof *first),
      *next = malloc((size_t)count * sizeof *next);
  double pairs = 0.0;
  if (!first || !next) {
    free(first);
    free(next);
    return NAN;
  }
  for (int k = 0; k < m * m * m; ++k) first[k] = -1;
  for (int k = 0; k < count; ++k) {
    const scree_Vec3 p = scree_body_pose(world, k).position;
    const double at[3] = {p.x, p.y, p.z}, r = scree_body_shape(world, k)->radius;
    int c[3];
    for (int i = 0; i < 3; ++i) {
      c[i] = (int)fmin(m - 1, fmax(0.0, at[i] / side * m));
      pairs += (at[i] - r <= largest) + (side - at[i] - r <= largest);
    }
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          const int x = c[0] + dx, y = c[1] + dy, z = c[2] + dz;
          if (x < 0 || y < 0 || z < 0 || x >= m || y >= m || z >= m) continue;
          for (int j = first[(z * m + y) * m + x]; j >= 0; j = next[j]) {
            const scree_Vec3 q = scree_body_pose(world, j).position;
            const double distance = sqrt((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) +
                                         (p.z - q.z) * (p.z - q.z));
            pairs += distance - r - scree_body_shape(world, j)->radius <= largest;
          }
        }
    next[k] = first[(c[2] * m + c[1]) * m + c[0]];
    first[(c[2] * m + c[1]) * m + c[0]] = k;
  }
  free(first);
  free(next);
  return pairs;
}

/* Iterations of a step over its active contacts, for Figure 10. */
typedef struct Cloud {
  double active[MARCH_TRACE], iterations[MARCH_TRACE];
  size_t count;
  int64_t every;
} Cloud;

static void observe(void *user, scree_World *world, const scree_StepReport *report) {
  Cloud *cloud = user;
  (void)world;
  if (report->step % cloud->every || cloud->count >= MARCH_TRACE) return;
  cloud->active[cloud->count] = report->active;
  cloud->iterations[cloud->count++] = report->iterations;
}

static scree_Status run_row(Bench *bench, int m, int n, const char *name, Cloud *cloud,
                            double *constraints, March *result) {
  const double step = time_step(n);
  const int64_t steps = (int64_t)ceil(end / step);
  const char *pointers[MARCH_OPTIONS + 1];
  Method method = method_auto();
  if (m < METHODS) {
    method = (Method){.name = names[m],
                      .solver = names[m],
                      .tolerance = 1e-3,
                      .measure = SCREE_MEASURE_INCREMENT,
                      .max_iterations = 100000};
    snprintf(method.text[0], sizeof *method.text, "rho=%.17g", 0.2 / step);
  } else {
    method.tolerance = 1e-3; /* the tolerance is about the error_max of the gradient methods */
  }
  scree_WorldSettings settings = march_settings(bench, &method, 3, step, 1.0, pointers);
  settings.scheme = "euler";
  settings.flow = SCREE_ASSOCIATED;
  const scree_PairLaw law = scree_pair_law("frictionless");
  scree_World *world = NULL;
  cloud->count = 0;
  cloud->every = steps / (MARCH_TRACE - 1) + 1;
  scree_Status status = scree_world_create(&settings, bench->log, &world);
  if (!status) status = scree_world_set_default_law(world, &law);
  if (!status) status = fill(world, n, step, bench->log);
  if (!status) status = march(bench, name, world, steps, observe, cloud, result);
  if (!status) *constraints = neighbours(world, n);
  if (!status) march_note_stopped(bench, name, result, steps);
  scree_world_destroy(world);
  return status;
}

static scree_Status run_size(Bench *bench, int size, Cloud *clouds, March *result,
                             double first[ROWS]) {
  const int n = sides[size], count = n * n * n;
  const bool smallest = size == 0, largest = size == SIZES - 1;
  double pgd = NAN, here = INFINITY;
  for (int m = 0; m < ROWS; ++m) {
    char name[32];
    double constraints;
    const bool ours = m == METHODS, known = !ours && (smallest || largest);
    snprintf(name, sizeof name, "%s/%d", names[m], count);
    clouds[m].count = 0;
    if (!bench_wants(bench, name)) continue;
    const scree_Status status = run_row(bench, m, n, name, &clouds[m], &constraints, result);
    if (status) return status;
    const double seconds = result->stopped ? NAN : result->seconds_solve;
    const double *table = published[ours ? 0 : m];
    bench_figure(bench, name, "constraints", known ? table[smallest ? 0 : 2] : NAN, constraints);
    bench_figure(bench, name, "active", known ? table[smallest ? 1 : 3] : NAN, result->active_last);
    bench_figure(bench, name, "seconds", NAN, result->seconds_solve);
    bench_figure(bench, name, "iterations", NAN, result->iterations);
    bench_figure(bench, name, "error_max", NAN, result->error_max);
    if (m == 0) pgd = seconds;
    if (m > 0 && !ours)
      bench_figure(bench, name, "time_over_pgd", known ? table[smallest ? 5 : 6] : NAN,
                   seconds / pgd);
    if (smallest)
      first[m] = seconds;
    else
      bench_figure(bench, name, "time_over_512", known ? table[4] : NAN, seconds / first[m]);
    if (ours) {
      bench_figure(bench, name, "penetration_max", NAN, result->penetration_max);
      if (isfinite(seconds)) march_faster(bench, name, seconds, NAN, isfinite(here) ? here : NAN);
    } else if (isfinite(seconds)) {
      here = fmin(here, seconds);
    }
  }
  return SCREE_OK;
}

static scree_Status run_box(Bench *bench) {
  Cloud *clouds = calloc(ROWS, sizeof *clouds);
  March *result = malloc(sizeof *result);
  scree_Status status = clouds && result ? SCREE_OK : SCREE_MACHINE;
  double first[ROWS] = {NAN, NAN, NAN, NAN, NAN, NAN};
  for (int size = 0; size < (bench->quick ? 1 : SIZES) && !status; ++size) {
    char title[64], name[48];
    Plot plot = {.title = title,
                 .x_label = "active contacts",
                 .y_label = "iterations of a step",
                 .log_y = true,
                 .count = ROWS};
    status = run_size(bench, size, clouds, result, first);
    for (int m = 0; m < ROWS; ++m)
      plot.series[m] =
          (PlotSeries){names[m], clouds[m].active, clouds[m].iterations, clouds[m].count, true};
    snprintf(title, sizeof title, "003 Figure 10: %d spheres",
             sides[size] * sides[size] * sides[size]);
    snprintf(name, sizeof name, "iterations-%d", sides[size] * sides[size] * sides[size]);
    if (!status) status = plot_write(bench, &plot, name);
    if (!bench_progress(bench, "%d^3 spheres done", sides[size])) break;
  }
  bench_note(bench, "the paper prints times as ratios only. Its simulation with 244 times as many "
                    "spheres takes 9 to 14 times as long, which cannot be the time of all steps, "
                    "since there are six times as many of them");
  free(result);
  free(clouds);
  return status;
}

const BenchCase bench_convex_box = {
    .name = "convex-box",
    .reference = "003 Table 2, Figure 10",
    .summary = "512 to 125 000 spheres fall in a box without friction: contacts, time",
    .duration = "hours without --limit, a minute with --quick",
    .run = run_box,
};
