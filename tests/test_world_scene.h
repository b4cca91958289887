/* Small scenes for the tests of worlds: every call is checked, a failure names the line. */
#ifndef TEST_WORLD_SCENE_H
#define TEST_WORLD_SCENE_H

#include "scree/world.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* cmocka's own compares floats. */
#define NEAR(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))
#define OK(call)              assert_int_equal((call), SCREE_OK)

static inline void print_message_of_library(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level <= SCREE_LOG_WARNING) print_message("%s\n", message);
}

static const scree_Log test_log = {print_message_of_library, NULL};

static inline scree_Vec3 vec(double x, double y, double z) {
  return (scree_Vec3){x, y, z};
}

static inline scree_Quat turned(double angle) {
  return (scree_Quat){cos(angle / 2), 0, 0, sin(angle / 2)};
}

static inline scree_World *make_world(const scree_WorldSettings *settings, double mu, double e_n,
                                      double e_t) {
  scree_World *world;
  const scree_PairLaw law = scree_pair_law_coulomb(mu, e_n, e_t);
  OK(scree_world_create(settings, &test_log, &world));
  OK(scree_world_set_default_law(world, &law));
  return world;
}

/* Adds a body and forgets its shape. */
static inline int add_shape(scree_World *world, scree_Shape *shape, scree_BodyDef def) {
  int body;
  def.shape = shape;
  OK(scree_world_add_body(world, &def, &body));
  scree_shape_fini(shape);
  return body;
}

static inline scree_BodyDef at(double x, double y, double z) {
  scree_BodyDef def = scree_body_def();
  def.pose.position = vec(x, y, z);
  return def;
}

/* A pseudo-rigid body. */
static inline scree_BodyDef soft_at(double x, double y, double z, double young) {
  scree_BodyDef def = at(x, y, z);
  def.kind = SCREE_BODY_PSEUDO_RIGID;
  def.density = 1000;
  def.elastic = (scree_Elastic){.young = young, .poisson = 0.25};
  return def;
}

static inline scree_BodyDef obstacle_at(double x, double y, double z) {
  scree_BodyDef def = at(x, y, z);
  def.obstacle = true;
  return def;
}

static inline int add_disk(scree_World *world, double radius, scree_BodyDef def) {
  scree_Shape shape;
  OK(scree_shape_init_disk(&shape, radius, &test_log));
  return add_shape(world, &shape, def);
}

static inline int add_sphere(scree_World *world, double radius, scree_BodyDef def) {
  scree_Shape shape;
  OK(scree_shape_init_sphere(&shape, radius, &test_log));
  return add_shape(world, &shape, def);
}

static inline int add_box(scree_World *world, double x, double y, double z, scree_BodyDef def) {
  scree_Shape shape;
  OK(scree_shape_init_box(&shape, x, y, z, &test_log));
  return add_shape(world, &shape, def);
}

static inline int add_rectangle(scree_World *world, double x, double y, scree_BodyDef def) {
  scree_Shape shape;
  const scree_Vec3 corners[4] = {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
  OK(scree_shape_init_polygon(&shape, corners, 4, &test_log));
  return add_shape(world, &shape, def);
}

static inline int add_half_plane(scree_World *world, scree_BodyDef def) {
  scree_Shape shape;
  OK(scree_shape_init_half_plane(&shape, &test_log));
  return add_shape(world, &shape, def);
}

static inline int add_half_space(scree_World *world, scree_BodyDef def) {
  scree_Shape shape;
  OK(scree_shape_init_half_space(&shape, &test_log));
  return add_shape(world, &shape, def);
}

/* n steps, each certified. */
static inline void run_steps(scree_World *world, int n) {
  for (int k = 0; k < n; ++k) {
    scree_StepReport report;
    const scree_Status status = scree_world_step(world, &report);
    if (status)
      print_message("step %lld: error %.2e of %.2e, penetration %.2e, %d contacts, %s\n",
                    (long long)report.step, report.error, report.tolerance, report.penetration,
                    report.contacts, report.solve.solver);
    OK(status);
  }
}

#endif
