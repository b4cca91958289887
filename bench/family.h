/* A family of contact problems that judges `auto`: it was never used for choosing the numbers of
 * any solver, and must not be. Each is the problem of one time step of a small scene that is built
 * by calls: grains of one shape fall into a box, on which a wall may close in or a heavy block may
 * fall; walls of bricks on a floor that shakes. Seeds, sizes, shapes and friction differ from those
 * of the problem files, of bench/settle.h and of the tests.
 *
 * No clocks take part: the same problems on any machine. */
#ifndef SCREE_BENCH_FAMILY_H
#define SCREE_BENCH_FAMILY_H

#include "bench/walls.h"
#include "scree/world.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

typedef enum FamilyScene { FAMILY_HEAP, FAMILY_PRESS, FAMILY_BLOCK, FAMILY_BRICKS } FamilyScene;

typedef struct FamilyMember {
  const char *name;
  int d;
  scree_ShapeKind shape;
  FamilyScene scene;
  int columns, layers; /* of grains (in 3D columns x columns) or bricks */
  double mu;
  unsigned seed;
  int steps; /* until the problem is taken */
} FamilyMember;

static const FamilyMember family[] = {
    {"disks, heap", 2, SCREE_SHAPE_DISK, FAMILY_HEAP, 17, 15, 0.35, 101, 90},
    {"disks, wall closing in", 2, SCREE_SHAPE_DISK, FAMILY_PRESS, 14, 14, 0.7, 102, 90},
    {"ellipses, heap", 2, SCREE_SHAPE_ELLIPSE, FAMILY_HEAP, 12, 12, 0.45, 103, 90},
    {"ellipses under a block", 2, SCREE_SHAPE_ELLIPSE, FAMILY_BLOCK, 10, 8, 0.25, 104, 90},
    {"pentagons, heap", 2, SCREE_SHAPE_POLYGON, FAMILY_HEAP, 10, 10, 0.55, 105, 90},
    {"pentagons, wall closing in", 2, SCREE_SHAPE_POLYGON, FAMILY_PRESS, 9, 9, 0.3, 106, 90},
    {"bricks, shaken, plane", 2, SCREE_SHAPE_POLYGON, FAMILY_BRICKS, 7, 9, 0.65, 107, 25},
    {"spheres, heap", 3, SCREE_SHAPE_SPHERE, FAMILY_HEAP, 6, 7, 0.4, 108, 90},
    {"spheres, frictionless", 3, SCREE_SHAPE_SPHERE, FAMILY_HEAP, 5, 6, 0.0, 109, 90},
    {"spheres under a block", 3, SCREE_SHAPE_SPHERE, FAMILY_BLOCK, 5, 5, 0.6, 110, 90},
    {"spheres, wall closing in", 3, SCREE_SHAPE_SPHERE, FAMILY_PRESS, 5, 6, 0.8, 111, 90},
    {"ellipsoids, heap", 3, SCREE_SHAPE_ELLIPSOID, FAMILY_HEAP, 4, 6, 0.3, 112, 90},
    {"capsules, heap", 3, SCREE_SHAPE_CAPSULE, FAMILY_HEAP, 4, 6, 0.5, 113, 90},
    {"boxes, heap", 3, SCREE_SHAPE_BOX, FAMILY_HEAP, 4, 4, 0.45, 114, 90},
    {"boxes, wall closing in", 3, SCREE_SHAPE_BOX, FAMILY_PRESS, 3, 5, 0.2, 115, 90},
    {"bricks, shaken, space", 3, SCREE_SHAPE_BOX, FAMILY_BRICKS, 4, 6, 0.55, 116, 25},
};
enum { FAMILY_SIZE = sizeof family / sizeof *family };

static const double family_radius = 0.05; /* of the sphere around a grain, metres */
static const double family_step = 2e-3;

/* uniform in [0, 1) */
static inline double family_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* A grain inside the sphere of the given radius, slightly irregular. */
static inline scree_Status family_shape(const FamilyMember *m, double radius, uint64_t *seed,
                                        scree_Shape *shape) {
  const double a = 0.55 + 0.3 * family_random(seed), b = 0.55 + 0.3 * family_random(seed);
  switch (m->shape) {
  case SCREE_SHAPE_DISK: return scree_shape_init_disk(shape, radius, NULL);
  case SCREE_SHAPE_ELLIPSE: return scree_shape_init_ellipse(shape, radius, a * radius, NULL);
  case SCREE_SHAPE_POLYGON: {
    scree_Vec3 corner[5];
    for (int k = 0; k < 5; ++k) {
      const double angle = 2.0 * 3.141592653589793 * (k + 0.4 * family_random(seed)) / 5.0;
      corner[k] = (scree_Vec3){0.95 * radius * cos(angle), 0.95 * radius * sin(angle), 0.0};
    }
    return scree_shape_init_polygon(shape, corner, 5, NULL);
  }
  case SCREE_SHAPE_SPHERE: return scree_shape_init_sphere(shape, radius, NULL);
  case SCREE_SHAPE_ELLIPSOID:
    return scree_shape_init_ellipsoid(shape, radius, a * radius, b * radius, NULL);
  case SCREE_SHAPE_CAPSULE:
    return scree_shape_init_capsule(shape, (1.0 - 0.6 * a) * radius, 0.6 * a * radius, NULL);
  default:
    return scree_shape_init_box(shape, 0.6 * radius, 0.6 * a * radius, 0.5 * b * radius, NULL);
  }
}

/* A turn about a random axis; in the plane about z. */
static inline scree_Quat family_turn(int d, uint64_t *seed) {
  const double angle = 3.0 * family_random(seed), s = sin(0.5 * angle), c = cos(0.5 * angle);
  const double x = family_random(seed) - 0.5, y = family_random(seed) - 0.5,
               z = family_random(seed) + 0.1;
  const double size = sqrt(x * x + y * y + z * z);
  if (d == 2) return (scree_Quat){c, 0.0, 0.0, s};
  return (scree_Quat){c, s * x / size, s * y / size, s * z / size};
}

/* Floor and walls of a box of this width; the far wall of x closes in with the given speed. Bricks,
 * which are shaken, stand on the floor alone. */
static inline scree_Status family_box(scree_World *world, int d, double width, double speed,
                                      double shake) {
  const double times[2] = {0.0, 10.0 * family_step};
  const scree_Twist closing[2] = {{.linear = {0, 0, 0}}, {.linear = {-speed, 0, 0}}};
  const scree_Twist shaking[2] = {{.linear = {0, 0, 0}}, {.linear = {shake, 0, 0}}};
  const bool shakes = shake > 0.0;
  const scree_Signal driver = {
      .kind = SCREE_SIGNAL_TABLE, .count = 2, .times = times, .values = shakes ? shaking : closing};
  const int moving = shakes ? 0 : speed > 0.0 ? 2 : -1;
  return bench_walls(world, d, width, shakes ? 1 : d == 2 ? 3 : 5, moving, &driver, NULL);
}

static inline scree_Status family_grains(scree_World *world, const FamilyMember *m,
                                         uint64_t *seed) {
  const double pitch = 2.02 * family_radius;
  const int rows = m->d == 3 ? m->columns : 1;
  scree_Status status = SCREE_OK;
  for (int k = 0; k < m->layers && !status; ++k)
    for (int j = 0; j < rows && !status; ++j)
      for (int i = 0; i < m->columns && !status; ++i) {
        scree_Shape shape;
        scree_BodyDef def = scree_body_def();
        const double size = family_radius * (0.75 + 0.25 * family_random(seed));
        const double shift = 0.5 + (k % 2 ? 0.45 : 0.0), up = pitch * (0.86 * k + 0.5);
        status = family_shape(m, size, seed, &shape);
        def.shape = &shape;
        def.pose.orientation = family_turn(m->d, seed);
        def.pose.position = m->d == 2 ? (scree_Vec3){pitch * (i + shift), up, 0}
                                      : (scree_Vec3){pitch * (i + shift), pitch * (j + shift), up};
        if (!status) status = scree_world_add_body(world, &def, NULL);
        scree_shape_fini(&shape);
      }
  if (status || m->scene != FAMILY_BLOCK) return status;
  const double half = 0.4 * pitch * m->columns, top = pitch * (0.86 * m->layers + 1.2);
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  const scree_Vec3 corner[4] = {
      {-half, -0.05, 0}, {half, -0.05, 0}, {half, 0.05, 0}, {-half, 0.05, 0}};
  status = m->d == 2 ? scree_shape_init_polygon(&shape, corner, 4, NULL)
                     : scree_shape_init_box(&shape, half, half, 0.05, NULL);
  def.shape = &shape;
  def.density = 20000.0;
  const double middle = 0.5 * pitch * (m->columns + 0.5);
  def.pose.position = m->d == 2 ? (scree_Vec3){middle, top, 0} : (scree_Vec3){middle, middle, top};
  if (!status) status = scree_world_add_body(world, &def, NULL);
  scree_shape_fini(&shape);
  return status;
}

/* A wall in running bond, the bricks of a course a little apart. */
static inline scree_Status family_bricks(scree_World *world, const FamilyMember *m,
                                         uint64_t *seed) {
  const double x = 0.11, y = 0.06, z = 0.035; /* half sizes */
  const scree_Vec3 corner[4] = {{-x, -z, 0}, {x, -z, 0}, {x, z, 0}, {-x, z, 0}};
  scree_Shape shape;
  scree_Status status = m->d == 2 ? scree_shape_init_polygon(&shape, corner, 4, NULL)
                                  : scree_shape_init_box(&shape, x, y, z, NULL);
  for (int k = 0; k < m->layers && !status; ++k)
    for (int i = 0; i < m->columns && !status; ++i) {
      scree_BodyDef def = scree_body_def();
      const double at = 2.0 * x * 1.01 * (i + 0.5 * (k % 2)) + 0.002 * family_random(seed);
      const double up = z * (2 * k + 1);
      def.shape = &shape;
      def.pose.position = m->d == 2 ? (scree_Vec3){at, up, 0} : (scree_Vec3){at, 0, up};
      status = scree_world_add_body(world, &def, NULL);
    }
  scree_shape_fini(&shape);
  return status;
}

/* The world after its steps, whose problem is the member; the caller destroys it. */
static inline scree_Status family_world(const FamilyMember *m, scree_World **world) {
  scree_WorldSettings settings = scree_world_settings();
  const scree_PairLaw law = scree_pair_law_coulomb(m->mu, 0, 0);
  uint64_t seed = m->seed;
  const double width = 2.02 * family_radius * (m->columns + 0.5);
  settings.dimension = m->d;
  settings.step = family_step;
  settings.gravity = m->d == 2 ? (scree_Vec3){0, -9.81, 0} : (scree_Vec3){0, 0, -9.81};
  /* by sweeps, and whatever they reach: the problems do not depend on the solvers they judge */
  settings.penetration_limit = settings.energy_limit = settings.max_work = INFINITY;
  settings.max_retries = settings.max_halvings = 0;
  settings.solve.solver = "nlgs";
  settings.solve.max_iterations = 100;
  settings.solve.threads = 1;
  for (int k = 0; k < 10; ++k) family_random(&seed);
  scree_Status status = scree_world_create(&settings, NULL, world);
  if (!status) status = scree_world_set_default_law(*world, &law);
  if (!status)
    status = family_box(*world, m->d, width, m->scene == FAMILY_PRESS ? 0.5 : 0.0,
                        m->scene == FAMILY_BRICKS ? 0.6 : 0.0);
  if (!status)
    status = m->scene == FAMILY_BRICKS ? family_bricks(*world, m, &seed)
                                       : family_grains(*world, m, &seed);
  for (int k = 0; k < m->steps && !status; ++k) {
    scree_StepReport report;
    status = scree_world_step(*world, &report);
    if (status == SCREE_NOT_CONVERGED) status = SCREE_OK;
  }
  return status;
}

#endif
