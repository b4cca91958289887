/* Cost of joints: structures of 1e2 to 4e4 joints under gravity, solved to 1e-8 in a world.
 *
 *     joints [--largest N (40000)]
 *
 *     chain   ball joints in a row, the first on the world
 *     loop    a ring of ball joints that hangs on one more
 *     tree    ball joints, two children on each body
 *     net     distances to the left and down, the first column on the world
 *     hinges  the same net with hinges: closed loops, more rows than motions
 *     truss   in 2D, distances with both diagonals: more rows than motions, so that rows depend on
 *             each other (W is singular) and the forces are not determined by statics
 *
 * Each row: joints, mean processor seconds of a step, seconds over joints, the exponent of the time
 * against the row before, iterations and solves of a step, the largest error of the solver and of
 * the joints. Time is linear in the number of joints if the exponent is 1; counts do not depend on
 * the machine. */
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

typedef enum Structure { CHAIN, LOOP, TREE, NET, HINGES, TRUSS, STRUCTURES } Structure;

static const char *const names[] = {"chain", "loop", "tree", "net", "hinges", "truss"};

static bool add_joint(scree_World *world, Structure structure, int a, int b, scree_Vec3 here,
                      scree_Vec3 there) {
  scree_JointDef def = scree_joint_def();
  const bool distance = structure == NET || structure == TRUSS;
  def.kind = distance              ? SCREE_JOINT_DISTANCE
             : structure == HINGES ? SCREE_JOINT_HINGE
                                   : SCREE_JOINT_BALL;
  def.body[0] = a;
  def.body[1] = b;
  def.anchor = here;
  if (distance)
    def.anchor2 = there;
  else
    def.anchor =
        (scree_Vec3){0.5 * (here.x + there.x), 0.5 * (here.y + there.y), 0.5 * (here.z + there.z)};
  if (structure == HINGES) def.axis = (scree_Vec3){0, 0, 1};
  return good(scree_world_add_joint(world, &def, NULL));
}

/* Where body k is. */
static scree_Vec3 place(Structure structure, int columns, int k) {
  if (structure != LOOP) return (scree_Vec3){k % columns + 1, k / columns, 0};
  const double turn = 2 * 3.14159265358979323846 / columns, angle = turn * k;
  return (scree_Vec3){sin(angle) / turn, 0, cos(angle) / turn};
}

static bool add_balls(scree_World *world, Structure structure, int columns, int rows) {
  scree_Shape shape;
  if (!good(structure == TRUSS ? scree_shape_init_disk(&shape, 0.3, &silent)
                               : scree_shape_init_sphere(&shape, 0.3, &silent)))
    return false;
  bool done = true;
  for (int k = 0; k < columns * rows && done; ++k) {
    scree_BodyDef def = scree_body_def();
    def.shape = &shape;
    def.mass = 1;
    def.pose.position = place(structure, columns, k);
    done = good(scree_world_add_body(world, &def, NULL));
  }
  scree_shape_fini(&shape);
  return done;
}

/* Joints of body k; returns how many, or -1. */
static int add_joints_of(scree_World *world, Structure structure, int columns, int rows, int k) {
  const int x = k % columns, y = k / columns;
  const scree_Vec3 here = place(structure, columns, k), left = {here.x - 1, here.y, here.z};
  const bool plane = structure >= NET;
  int other[4], count = 0;
  if (structure == TREE)
    other[count++] = k > 0 ? (k - 1) / 2 : -1;
  else
    other[count++] = x > 0 ? k - 1 : -1;
  if (plane && y > 0) other[count++] = k - columns;
  if (structure == TRUSS && y > 0 && x > 0) other[count++] = k - columns - 1;
  if (structure == TRUSS && y > 0 && x + 1 < columns) other[count++] = k - columns + 1;
  for (int i = 0; i < count; ++i)
    if (!add_joint(world, structure, k, other[i], here,
                   other[i] < 0 ? left : place(structure, columns, other[i])))
      return -1;
  if (structure == TRUSS && x == 0)
    return add_joint(world, structure, k, -1, here, (scree_Vec3){0, y + 1, 0}) ? count + 1 : -1;
  if (structure != LOOP || k + 1 < columns * rows) return count;
  return add_joint(world, structure, k, 0, here, place(structure, columns, 0)) ? count + 1 : -1;
}

static int add_joints(scree_World *world, Structure structure, int columns, int rows) {
  int count = 0;
  for (int k = 0; k < columns * rows; ++k) {
    const int added = add_joints_of(world, structure, columns, rows, k);
    if (added < 0) return -1;
    count += added;
  }
  return count;
}

/* *before: joints and seconds of the row before, zero at the first. */
static bool run(Structure structure, int columns, int rows, double before[2]) {
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  settings.step = 1e-4;
  if (structure == TRUSS) settings.dimension = 2;
  settings.gravity = (scree_Vec3){0, -6, structure == TRUSS ? 0 : -8};
  settings.solve.threads = 1;
  settings.solve.tolerance = 1e-8;
  settings.max_work = INFINITY;
  if (!good(scree_world_create(&settings, &silent, &world))) return false;
  const int joints =
      add_balls(world, structure, columns, rows) ? add_joints(world, structure, columns, rows) : -1;
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
  if (done) {
    printf("%-6s %7d %10.4f %12.2e", names[structure], joints, seconds, seconds / joints);
    if (before[0] > 0)
      printf(" %8.2f", log(seconds / before[1]) / log(joints / before[0]));
    else
      printf(" %8s", "");
    printf(" %8.1f %6.1f %10.1e %10.1e\n", (double)iterations / STEPS, (double)solves / STEPS,
           error, open);
    fflush(stdout);
  }
  before[0] = joints;
  before[1] = seconds;
  scree_world_destroy(world);
  return done;
}

int main(int argc, char **argv) {
  const int largest = argc == 3 && strcmp(argv[1], "--largest") == 0 ? atoi(argv[2]) : 40000;
  static const int sizes[] = {100, 1000, 10000, 40000};
  printf("%-6s %7s %10s %12s %8s %8s %6s %10s %10s\n", "", "joints", "s/step", "s/joint",
         "exponent", "iter/step", "solves", "error", "open");
  for (int structure = 0; structure < STRUCTURES; ++structure) {
    const double per_body = structure < NET ? 1 : structure == TRUSS ? 4 : 2;
    double before[2] = {0, 0};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && sizes[k] <= largest; ++k) {
      const int side = (int)(0.5 + sqrt(sizes[k] / per_body));
      if (!run((Structure)structure, structure < NET ? sizes[k] : side, structure < NET ? 1 : side,
               before))
        return 1;
    }
  }
  return 0;
}
