/* What every kind of body must fulfil: the block of a point is the derivative of its velocity in
 * the scaled components, the kinetic energy is half their square, and free motion keeps it. */
#include "body/class.h"
#include "test_world_scene.h"

enum { COMPONENTS = 32, STATE = 64 };

static double some(int k) {
  return sin(12.9898 * k + 0.3);
}

static scree_Inertia inertia_of(double mass, scree_Vec3 J) {
  return (scree_Inertia){.mass = mass,
                         .inv_sqrt_mass = 1 / sqrt(mass),
                         .moments = J,
                         .inv_sqrt_moments = {1 / sqrt(J.x), 1 / sqrt(J.y), 1 / sqrt(J.z)}};
}

static void check_class(const scree_BodyClass *class_, int d) {
  const scree_Inertia inertia = inertia_of(2.5, d == 2 ? vec(0.7, 0.7, 0.7) : vec(0.3, 0.7, 0.9));
  const int n = class_->components(d), more = class_->state ? class_->state(d) : 0;
  assert_true(n > 0 && n <= COMPONENTS && more <= STATE);
  scree_Motion motion = {
      .pose = {.position = {0.3, -0.2, d == 2 ? 0 : 0.5},
               .orientation = d == 2 ? turned(0.7) : (scree_Quat){0.5, 0.5, -0.5, 0.5}}};
  double state[STATE] = {0}, y[COMPONENTS], B[3 * COMPONENTS], square = 0;
  for (int k = 0; k < n; ++k) {
    y[k] = some(k);
    square += y[k] * y[k];
  }
  class_->kick(&inertia, y, d, &motion, state);
  double rotation;
  const double energy = class_->kinetic(&inertia, &motion, state, &rotation);
  NEAR(energy, 0.5 * square, 1e-14 * square);
  assert_true(rotation >= 0 && rotation <= energy);
  const scree_Vec3 point = vec(1.1, 0.4, d == 2 ? 0 : -0.6);
  const scree_Vec3 axes[3] = {{0.6, 0.8, 0}, {-0.8, 0.6, 0}, {0, 0, 1}};
  class_->block(&inertia, &motion, state, point, axes, -1, d, B);
  const scree_Vec3 v = class_->velocity(&motion, state, point);
  for (int k = 0; k < d; ++k) {
    double u = 0;
    for (int j = 0; j < n; ++j) u += B[k * n + j] * y[j];
    NEAR(-u, axes[k].x * v.x + axes[k].y * v.y + axes[k].z * v.z, 1e-14);
  }
  for (int k = 0; k < 100; ++k) class_->drift(&inertia, 0.01, &motion, state);
  NEAR(class_->kinetic(&inertia, &motion, state, NULL), energy, 1e-13 * energy);
}

static void test_classes(void **state) {
  (void)state;
  assert_string_equal(scree_body_registry[0]->name, "rigid");
  for (int k = 0; scree_body_registry[k]; ++k)
    for (int d = 2; d <= 3; ++d) check_class(scree_body_registry[k], d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_classes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
