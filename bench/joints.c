/* Cost of joints: a hanging chain of ball joints and a net of distances of 1e2 to 1e4 joints, both
 * solved to 1e-8 in a world.
 *
 *     joints [--largest N (10000)]
 *
 * Each row: joints, mean processor seconds of a step, seconds over joints, iterations and solves of
 * a step, the largest error of the solver and of the joints. Time is linear in the number of joints
 * if the fourth column stays the same; counts do not depend on the machine. */
#include "scree/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 5 };

static const scree_Log silent;

static bool good(scree_Status status) {
  if (status == SCREE_OK) return true;
  fprintf(stderr, "joints: a call failed with status %d\n", (int)status);
  return false;
}

static bool add_balls(scree_World *world, int columns, int rows) {
  scree_Shape shape;
  if (!good(scree_shape_init_sphere(&shape, 0.3, &silent))) return false;
  bool done = true;
  for (int k = 0; k < columns * rows && done; ++k) {
    scree_BodyDef def = scree_body_def();
    def.shape = &shape;
    def.mass = 1;
    def.pose.position = (scree_Vec3){k % columns + 1, k / columns, 0};
    done = good(scree_world_add_body(world, &def, NULL));
  }
  scree_shape_fini(&shape);
  return done;
}

/* Ball joints along the chain, or distances to the left and down in the net; the first column hangs
 * on the world. */
static int add_joints(scree_World *world, int columns, int rows) {
  int count = 0;
  for (int k = 0; k < columns * rows; ++k) {
    const int x = k % columns, y = k / columns;
    for (int down = 0; down < 2; ++down) {
      if (down && y == 0) continue;
      scree_JointDef def = scree_joint_def();
      const scree_Vec3 here = {x + 1, y, 0};
      const scree_Vec3 there = {x + down, y - down, 0};
      def.kind = rows > 1 ? SCREE_JOINT_DISTANCE : SCREE_JOINT_BALL;
      def.body[0] = k;
      def.body[1] = down ? k - columns : x > 0 ? k - 1 : -1;
      def.anchor = rows > 1 ? here : (scree_Vec3){x + 0.5, y, 0};
      def.anchor2 = there;
      if (!good(scree_world_add_joint(world, &def, NULL))) return -1;
      ++count;
    }
  }
  return count;
}

static bool run(const char *name, int columns, int rows) {
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  settings.step = 1e-4;
  settings.gravity = (scree_Vec3){0, 0, -10};
  settings.solve.threads = 1;
  settings.solve.tolerance = 1e-8;
  settings.max_work = INFINITY;
  if (!good(scree_world_create(&settings, &silent, &world))) return false;
  const int joints = add_balls(world, columns, rows) ? add_joints(world, columns, rows) : -1;
  int iterations = 0, solves = 0;
  double error = 0, open = 0;
  const clock_t start = clock();
  bool done = joints > 0;
  for (int k = 0; k < STEPS && done; ++k) {
    scree_StepReport report;
    done = good(scree_world_step(world, &report));
    iterations += report.iterations;
    solves += report.solves;
    error = fmax(error, report.error);
    open = fmax(open, report.joint_error);
  }
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC / STEPS;
  if (done)
    printf("%-6s %7d %10.4f %12.2e %8.1f %6.1f %10.1e %10.1e\n", name, joints, seconds,
           seconds / joints, (double)iterations / STEPS, (double)solves / STEPS, error, open);
  scree_world_destroy(world);
  return done;
}

int main(int argc, char **argv) {
  const int largest = argc == 3 && strcmp(argv[1], "--largest") == 0 ? atoi(argv[2]) : 10000;
  printf("%-6s %7s %10s %12s %8s %6s %10s %10s\n", "", "joints", "s/step", "s/joint", "iter/step",
         "solves", "error", "open");
  for (int n = 100; n <= largest; n *= 10)
    if (!run("chain", n, 1)) return 1;
  for (int n = 100; n <= largest; n *= 10) {
    const int side = (int)(0.5 + sqrt(0.5 * n));
    if (!run("net", side, side)) return 1;
  }
  return 0;
}
