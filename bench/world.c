/* What a step costs besides the solver: spheres fall into a box and settle; nanoseconds per body
 * and step for detection, building the problem, moving and certifying, on one thread and more, and
 * the memory held per body with its contacts.
 *
 *     world [spheres (8000)] [steps (400)] [scheme] [threads (1)] */
#include "scree/world.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 8000, steps = argc > 2 ? atoi(argv[2]) : 400;
  scree_World *world;
  scree_WorldSettings settings = scree_world_settings();
  settings.step = 5e-4;
  settings.gravity = (scree_Vec3){0, 0, -9.81};
  if (argc > 3) settings.scheme = argv[3];
  settings.solve.threads = argc > 4 ? atoi(argv[4]) : 1;
  settings.solve.tolerance = 1e-4;
  if (scree_world_create(&settings, &bench_log, &world) || add_spheres(world, n)) return 3;
  scree_StepReport sum = {0};
  int uncertified = 0, stabilised = 0;
  const int report_every = steps / 4 > 0 ? steps / 4 : 1;
  printf("%d spheres, %s, %d thread(s): ns per body and step\n", n, settings.scheme,
         settings.solve.threads);
  printf("%6s %9s %9s %9s %9s %9s %9s %9s %7s %9s %9s\n", "step", "contacts", "detect", "build",
         "move", "certify", "all", "solve", "solves", "B/body", "depth");
  for (int k = 1; k <= steps; ++k) {
    scree_StepReport report;
    const scree_Status status = scree_world_step(world, &report);
    if (status > SCREE_NOT_CONVERGED) return 3;
    uncertified += status != SCREE_OK;
    stabilised += report.stabilised;
    sum.seconds_detect += report.seconds_detect;
    sum.seconds_build += report.seconds_build;
    sum.seconds_move += report.seconds_move;
    sum.seconds_certify += report.seconds_certify;
    sum.seconds_solve += report.seconds_solve;
    sum.solves += report.solves;
    sum.penetration = fmax(sum.penetration, report.penetration);
    if (k % report_every) continue;
    const double ns = 1e9 / ((double)report_every * n);
    printf("%6d %9d %9.0f %9.0f %9.0f %9.0f %9.0f %9.0f %7.2f %9.0f %9.1e\n", k, report.contacts,
           ns * sum.seconds_detect, ns * sum.seconds_build, ns * sum.seconds_move,
           ns * sum.seconds_certify,
           ns * (sum.seconds_detect + sum.seconds_build + sum.seconds_move + sum.seconds_certify),
           ns * sum.seconds_solve, (double)sum.solves / report_every,
           (double)scree_world_memory(world) / n, sum.penetration);
    fflush(stdout);
    sum = (scree_StepReport){0};
  }
  const scree_EnergyBalance energy = scree_world_energy(world);
  printf("not certified: %d steps; stabilised: %d steps; energy closes to %.1e of %.3g J\n",
         uncertified, stabilised, energy.closing, energy.normal + energy.friction);
  scree_world_destroy(world);
  return 0;
}
