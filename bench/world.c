/* Cost of a step besides the solver: spheres fall into a box and settle; nanoseconds per body
 * and step for detection, building the problem, moving and certifying, on one thread and more, and
 * the memory held per body with its contacts.
 *
 *     world [spheres (8000)] [steps (400)] [scheme] [threads (1)] [quantile (0.5)]
 *
 * The quantile of the steps of a quarter of the run: the median, or less on a machine that is
 * shared with other programs, which lengthen some steps. The last two columns compare sizes:
 * nanoseconds per body plus contact of everything but the solver, and of the solver per contact and
 * sweep. Processor time of all threads and the peak of memory are in the last line. */
#include "scree/world.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static const double radius = 0.01;

static double next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed / 4294967296.0;
}

static void print_log(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level <= SCREE_LOG_WARNING) fprintf(stderr, "%s\n", message);
}

static const scree_Log bench_log = {print_log, NULL};

/* A box open above: five half-spaces. */
static int add_walls(scree_World *world, double half) {
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  if (scree_shape_init_half_space(&shape, &bench_log)) return 1;
  def.shape = &shape;
  def.obstacle = true;
  const double s = sqrt(0.5);
  const scree_Quat turns[5] = {
      {1, 0, 0, 0}, {s, 0, s, 0}, {s, 0, -s, 0}, {s, -s, 0, 0}, {s, s, 0, 0}};
  const scree_Vec3 places[5] = {
      {0, 0, 0}, {-half, 0, 0}, {half, 0, 0}, {0, -half, 0}, {0, half, 0}};
  for (int k = 0; k < 5; ++k) {
    def.pose = (scree_Pose){places[k], turns[k]};
    if (scree_world_add_body(world, &def, NULL)) return 1;
  }
  return 0;
}

static int add_spheres(scree_World *world, int n) {
  const int side = (int)lround(cbrt(n));
  const double pitch = 2.1 * radius, half = 0.5 * pitch * side;
  uint32_t seed = 1;
  if (add_walls(world, half)) return 1;
  for (int k = 0; k < n; ++k) {
    scree_Shape shape;
    scree_BodyDef def = scree_body_def();
    const double r = radius * (0.9 + 0.1 * next_random(&seed));
    if (scree_shape_init_sphere(&shape, r, &bench_log)) return 1;
    def.shape = &shape;
    const double jitter = 0.04 * radius;
    def.pose.position =
        (scree_Vec3){(k % side + 0.5) * pitch - half + jitter * (next_random(&seed) - 0.5),
                     (k / side % side + 0.5) * pitch - half + jitter * (next_random(&seed) - 0.5),
                     (k / side / side + 0.5) * pitch + jitter * (next_random(&seed) - 0.5)};
    if (scree_world_add_body(world, &def, NULL)) return 1;
  }
  return 0;
}

enum { PARTS = 6 }; /* detect, build, move, certify, all of these, solve */

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(double *values, int n, double part) {
  qsort(values, (size_t)n, sizeof *values, compare);
  return values[(int)(part * (n - 1))];
}

static void keep(const scree_StepReport *r, double *parts[PARTS], int k) {
  const double seconds[PARTS] = {r->seconds_detect,
                                 r->seconds_build,
                                 r->seconds_move,
                                 r->seconds_certify,
                                 r->seconds_detect + r->seconds_build + r->seconds_move +
                                     r->seconds_certify,
                                 r->seconds_solve};
  for (int i = 0; i < PARTS; ++i) parts[i][k] = seconds[i];
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 8000, steps = argc > 2 ? atoi(argv[2]) : 400;
  scree_World *world;
  scree_WorldSettings settings = scree_world_settings();
  settings.step = 5e-4;
  settings.gravity = (scree_Vec3){0, 0, -9.81};
  if (argc > 3) settings.scheme = argv[3];
  settings.solve.threads = argc > 4 ? atoi(argv[4]) : 1;
  const double part = argc > 5 ? fmin(1.0, fmax(0.0, atof(argv[5]))) : 0.5;
  settings.solve.tolerance = 1e-4;
  if (scree_world_create(&settings, &bench_log, &world) || add_spheres(world, n)) return 3;
  const int window = steps / 4 > 0 ? steps / 4 : 1;
  double *parts[PARTS];
  for (int i = 0; i < PARTS; ++i)
    if (!(parts[i] = calloc((size_t)window, sizeof(double)))) return 3;
  int uncertified = 0, solves = 0;
  long sweeps = 0;
  double rest = 0, solving = 0, things = 0, visits = 0;
  double depth = 0;
  printf("%d spheres, %s, %d thread(s): ns per body and step\n", n, settings.scheme,
         settings.solve.threads);
  printf("%6s %9s %9s %9s %9s %9s %9s %9s %7s %9s %9s %8s %8s %8s\n", "step", "contacts", "detect",
         "build", "move", "certify", "all", "solve", "solves", "B/body", "depth", "sweeps",
         "per b+c", "per c+s");
  for (int k = 1; k <= steps; ++k) {
    scree_StepReport report;
    const scree_Status status = scree_world_step(world, &report);
    if (status > SCREE_NOT_CONVERGED) return 3;
    uncertified += status != SCREE_OK;
    solves += report.solves;
    depth = fmax(depth, report.penetration);
    sweeps += report.iterations;
    rest +=
        report.seconds_detect + report.seconds_build + report.seconds_move + report.seconds_certify;
    solving += report.seconds_solve;
    things += n + (double)report.contacts;
    visits += (double)report.contacts * report.iterations;
    keep(&report, parts, (k - 1) % window);
    if (k % window) continue;
    printf("%6d %9d", k, report.contacts);
    for (int i = 0; i < PARTS; ++i) printf(" %9.0f", 1e9 * quantile(parts[i], window, part) / n);
    printf(" %7.2f %9.0f %9.1e %8.1f %8.0f %8.1f\n", (double)solves / window,
           (double)scree_world_memory(world) / n, depth, (double)sweeps / window,
           1e9 * rest / things, visits > 0 ? 1e9 * solving / visits : 0.0);
    fflush(stdout);
    solves = 0;
    sweeps = 0;
    depth = rest = solving = things = visits = 0;
  }
  const scree_EnergyBalance energy = scree_world_energy(world);
  printf("not certified: %d steps; energy: %.3g J dissipated, %.1e J pushed, closes to %.1e J\n",
         uncertified, energy.normal + energy.friction, energy.push, energy.closing);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("processor seconds a step: %.3f; peak memory %.2f GB\n",
         ((double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
          (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec) /
             steps,
         (double)usage.ru_maxrss * 1024 / 1e9);
  for (int i = 0; i < PARTS; ++i) free(parts[i]);
  scree_world_destroy(world);
  return 0;
}
