/* Forces and pressures on a part of the surface of finite-element bodies, against theory. */
#include "body/bodies.h"
#include "math/vec3.h"
#include "test_world_scene.h"
#include "world/world.h"

#include <string.h>

static scree_World *space(double step) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 3;
  settings.gravity = vec(0, 0, 0);
  settings.step = step;
  return make_world(&settings, 0, 0, 0);
}

/* A bar of 1 m x 0.1 m x 0.1 m along x. */
static int add_bar(scree_World *world, scree_BodyDef def, double young, double poisson) {
  const int n[3] = {8, 2, 2};
  scree_ElementMesh *mesh;
  scree_Shape shape;
  OK(scree_element_mesh_create_block(3, vec(0.5, 0.05, 0.05), n, &mesh, &test_log));
  OK(scree_shape_init_elements(&shape, mesh, &test_log));
  scree_element_mesh_destroy(mesh);
  def.kind = SCREE_BODY_ELEMENTS;
  def.elastic.young = young;
  def.elastic.poisson = poisson;
  return add_shape(world, &shape, def);
}

static bool at_left(void *user, scree_Vec3 place) {
  (void)user;
  return place.x < -0.5 + 1e-9;
}

static bool at_right(void *user, scree_Vec3 place) {
  (void)user;
  return place.x > 0.5 - 1e-9;
}

static bool anywhere(void *user, scree_Vec3 place) {
  (void)user;
  (void)place;
  return true;
}

static bool nowhere(void *user, scree_Vec3 place) {
  (void)user;
  (void)place;
  return false;
}

static bool at_corner(void *user, scree_Vec3 place) {
  return at_right(user, place) && place.y > 0.04 && place.z > 0.04;
}

static scree_ForceDef load_on(int body, bool (*nodes)(void *, scree_Vec3), scree_Vec3 force) {
  return (scree_ForceDef){
      .body = body,
      .nodes = nodes,
      .signal = {.kind = SCREE_SIGNAL_CONSTANT, .constant = {force, {0, 0, 0}}}};
}

static scree_StepReport run(scree_World *world, int steps) {
  scree_StepReport report = {0};
  for (int k = 0; k < steps; ++k) {
    OK(scree_world_step(world, &report));
    assert_true(report.certified);
    assert_true(fabs(report.energy.closing) <= 1e-12 * (1 + fabs(report.energy.forces)));
  }
  return report;
}

static double *nodes_of(scree_World *world, int body, double **v, int *count) {
  scree_Bodies *b = &world->system.bodies;
  const scree_Deformable *self = scree_bodies_deformable(b, body);
  *v = scree_deformable_v(b, self);
  *count = self->vertices;
  return scree_deformable_q(b, self);
}

static double extent(scree_World *world, int body, int axis) {
  double *v, least = INFINITY, most = -INFINITY;
  int n;
  const double *q = nodes_of(world, body, &v, &n);
  for (int k = 0; k < n; ++k) {
    least = fmin(least, q[3 * k + axis]);
    most = fmax(most, q[3 * k + axis]);
  }
  return most - least;
}

/* Held at one end and pulled at the other, without Poisson's effect: the nominal stress is
 * P = F S with Green's strain, E (1 + e)(e + e^2/2) = force over area, uniform in the bar. */
static void test_traction(void **state) {
  (void)state;
  scree_World *world = space(1e-3);
  scree_BodyDef def = at(0, 0, 0);
  def.elastic.damping = 0.02;
  def.elastic.held = at_left;
  const int bar = add_bar(world, def, 1e6, 0);
  const scree_ForceDef pull = load_on(bar, at_right, vec(500, 0, 0));
  OK(scree_world_add_force(world, &pull));
  run(world, 1500);
  double e = 0.05;
  for (int k = 0; k < 50; ++k)
    e -= (1e6 * (1 + e) * (e + 0.5 * e * e) - 5e4) / (1e6 * (1 + 3 * e + 1.5 * e * e));
  print_message("strain %.9f, theory %.9f\n", extent(world, bar, 0) - 1, e);
  NEAR(extent(world, bar, 0) - 1, e, 1e-7);
  NEAR(extent(world, bar, 1), 0.1, 1e-9);
  scree_world_destroy(world);
}

/* The same pressure on all faces shrinks a free body by the factor s in all directions:
 * Cauchy's stress is S/s, S = (3 lambda + 2 mu)(s^2 - 1)/2. It stays where it is. */
static void test_pressure(void **state) {
  (void)state;
  scree_World *world = space(1e-3);
  scree_BodyDef def = at(0, 0, 0);
  def.elastic.damping = 0.02;
  const int bar = add_bar(world, def, 1e6, 0.25);
  scree_ForceDef squeeze = load_on(bar, anywhere, vec(0, 0, 1e5));
  squeeze.pressure = true;
  OK(scree_world_add_force(world, &squeeze));
  run(world, 1500);
  const double bulk3 = 1e6 / (1 - 2 * 0.25);
  double s = 1;
  for (int k = 0; k < 50; ++k)
    s -= (bulk3 * (s * s - 1) / (2 * s) + 1e5) / (bulk3 * (s * s + 1) / (2 * s * s));
  print_message("factor %.9f, theory %.9f\n", extent(world, bar, 0), s);
  NEAR(extent(world, bar, 0), s, 1e-7);
  NEAR(extent(world, bar, 2), 0.1 * s, 1e-8);
  NEAR(scree_norm(scree_body_pose(world, bar).position), 0, 1e-10);
  scree_world_destroy(world);
}

/* A free bar that is pushed at one corner: momentum is force times time, and its moment about the
 * start that of the force, whatever it does inside. Work of the force and energy agree. */
static void test_push(void **state) {
  (void)state;
  scree_World *world = space(1e-3);
  const int bar = add_bar(world, at(0, 0, 0), 1e6, 0.3);
  const scree_ForceDef push = load_on(bar, at_corner, vec(0, 3, -4));
  OK(scree_world_add_force(world, &push));
  const scree_StepReport report = run(world, 100);
  const scree_Vec3 v = scree_body_velocity(world, bar).linear;
  NEAR(v.x, 0, 1e-12);
  NEAR(v.y, 0.03, 1e-12); /* 10 kg, 0.1 s */
  NEAR(v.z, -0.04, 1e-12);
  const scree_EnergyBalance total = scree_world_energy(world);
  NEAR(total.forces, total.kinetic + total.elastic, 1e-3 * total.forces);
  (void)report;
  scree_world_destroy(world);
}

static void test_refused(void **state) {
  (void)state;
  scree_World *world = space(1e-3);
  const int bar = add_bar(world, at(0, 0, 0), 1e6, 0.3);
  scree_Shape ball;
  OK(scree_shape_init_sphere(&ball, 0.1, &test_log));
  const int rigid = add_shape(world, &ball, at(0, 0, 2));
  scree_ForceDef bad[] = {load_on(rigid, anywhere, vec(1, 0, 0)),
                          load_on(-1, anywhere, vec(1, 0, 0)), load_on(bar, nowhere, vec(1, 0, 0)),
                          load_on(bar, at_corner, vec(0, 0, 1)),
                          load_on(bar, at_right, vec(1, 0, 0))};
  bad[3].pressure = true;
  bad[4].per_mass = true;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k)
    assert_int_equal(scree_world_add_force(world, &bad[k]), SCREE_BAD_INPUT);
  run(world, 2);
  scree_world_destroy(world);
}

static scree_World *loaded(bool patch) {
  scree_World *world = space(1e-3);
  scree_BodyDef def = at(0, 0, 0);
  def.elastic.held = at_left;
  const int bar = add_bar(world, def, 1e6, 0.3);
  scree_ForceDef press = load_on(bar, patch ? at_right : NULL, vec(0, 0, 1e4));
  press.pressure = patch;
  OK(scree_world_add_force(world, &press));
  return world;
}

/* The same bits after a restart; a world with another kind of force is refused. */
static void test_restart(void **state) {
  (void)state;
  scree_World *one = loaded(true), *two = loaded(true), *other = loaded(false);
  run(one, 20);
  const size_t size = scree_world_state_size(one);
  void *buffer = malloc(size);
  assert_non_null(buffer);
  scree_world_save(one, buffer);
  OK(scree_world_restore(two, buffer, size));
  assert_int_equal(scree_world_restore(other, buffer, size), SCREE_BAD_INPUT);
  run(one, 20);
  run(two, 20);
  double *v1, *v2;
  int n;
  const double *q1 = nodes_of(one, 0, &v1, &n), *q2 = nodes_of(two, 0, &v2, &n);
  assert_int_equal(memcmp(q1, q2, (size_t)n * 3 * sizeof *q1), 0);
  assert_int_equal(memcmp(v1, v2, (size_t)n * 3 * sizeof *v1), 0);
  free(buffer);
  scree_world_destroy(one);
  scree_world_destroy(two);
  scree_world_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_traction), cmocka_unit_test(test_pressure), cmocka_unit_test(test_push),
      cmocka_unit_test(test_refused),  cmocka_unit_test(test_restart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
