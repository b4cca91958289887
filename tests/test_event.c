/* Steps that are cut at impacts: a block that rocks from edge to edge. Housner's impact keeps the
 * angular momentum about the new edge, so that of a block of half sides b and h it leaves
 *
 *     (1 - 3/2 b^2 / (b^2 + h^2))^2
 *
 * of the energy above that of the upright block, whatever the speed. */
#include "test_world_scene.h"

static const double g = 9.81, half_b = 0.1, half_h = 0.4;

typedef struct Rocking {
  scree_World *world;
  int block;
} Rocking;

/* Tilted by `tilt` about its right lower edge, which is at x = b; in 3D it is as deep as wide. */
static Rocking make(int dimension, double step, double tilt, double scale) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = dimension;
  settings.step = step;
  settings.gravity = dimension == 2 ? vec(0, -g * scale, 0) : vec(0, 0, -g * scale);
  settings.solve.threads = 1;
  Rocking r = {.world = make_world(&settings, 0.7, 0, 0)};
  const double b = scale * half_b, h = scale * half_h;
  const double x = b - b * cos(tilt) + h * sin(tilt), y = b * sin(tilt) + h * cos(tilt);
  scree_BodyDef def = dimension == 2 ? at(x, y, 0) : at(x, 0, y);
  if (dimension == 2) {
    add_half_plane(r.world, obstacle_at(0, 0, 0));
    def.pose.orientation = turned(-tilt);
    r.block = add_rectangle(r.world, b, h, def);
  } else {
    add_half_space(r.world, obstacle_at(0, 0, 0));
    def.pose.orientation = (scree_Quat){cos(tilt / 2), 0, sin(tilt / 2), 0};
    r.block = add_box(r.world, b, b, h, def);
  }
  return r;
}

static double turning(const Rocking *r, int dimension) {
  const scree_Twist v = scree_body_velocity(r->world, r->block);
  return dimension == 2 ? v.angular.z : v.angular.y;
}

/* Energy above that of the upright block at the first `swings` turning points. */
static void rock(int dimension, double step, int swings, double *energy) {
  Rocking r = make(dimension, step, 0.1, 1);
  const double upright = scree_body_mass(r.world, r.block) * g * half_h;
  double last = 0;
  for (int count = 0; count < swings;) {
    const scree_EnergyBalance e = scree_world_energy(r.world);
    const double now = turning(&r, dimension);
    if (scree_world_time(r.world) == 0 || now * last < 0)
      energy[count++] = e.kinetic + e.potential - upright;
    last = now;
    run_steps(r.world, 1);
  }
  scree_world_destroy(r.world);
}

static void housner(void **state) {
  (void)state;
  enum { SWINGS = 9 };
  const double left = 1 - 1.5 * half_b * half_b / (half_b * half_b + half_h * half_h);
  const double steps[] = {4.3e-3, 8.6e-3}; /* the automatic step of a scene, and twice that */
  for (int dimension = 2; dimension <= 3; ++dimension) {
    for (int k = 0; k < 2; ++k) {
      double energy[SWINGS], worst = 0;
      rock(dimension, steps[k], SWINGS, energy);
      for (int i = 1; i < SWINGS; ++i)
        worst = fmax(worst, fabs(energy[i] / energy[i - 1] / (left * left) - 1));
      const double all = energy[SWINGS - 1] / energy[0] / pow(left, 2 * (SWINGS - 1)) - 1;
      print_message(
          "rocking, %dD, h %g: energy kept per impact off by up to %.1e, in all by %.1e\n",
          dimension, steps[k], worst, all);
      assert_true(worst < 0.01 && fabs(all) < 0.01); /* not cut: 0.08 to 0.3, and 0.8 in all */
    }
  }
}

/* The impulses of all contacts in all steps are the change of momentum less the weight, though a
 * cut step has three kicks. */
static void impulses_add_up(void **state) {
  (void)state;
  Rocking r = make(2, 4.3e-3, 0.1, 1);
  const double mass = scree_body_mass(r.world, r.block);
  double sum[2] = {0, 0};
  int cut = 0;
  for (int k = 0; k < 300; ++k) {
    scree_StepReport report;
    OK(scree_world_step(r.world, &report));
    cut += report.substeps > 1;
    for (int c = 0; c < scree_world_contact_count(r.world); ++c) {
      const scree_Contact contact = scree_world_contact(r.world, c);
      const double sign = contact.body[0] == r.block ? 1 : -1;
      sum[0] += sign * (contact.r[0] * contact.normal.x + contact.r[1] * contact.tangent[0].x);
      sum[1] += sign * (contact.r[0] * contact.normal.y + contact.r[1] * contact.tangent[0].y);
    }
  }
  const scree_Twist v = scree_body_velocity(r.world, r.block);
  const double weight = mass * g * scree_world_time(r.world);
  assert_true(cut >= 3);
  NEAR(sum[0], mass * v.linear.x, 1e-9 * weight);
  NEAR(sum[1], mass * v.linear.y + weight, 1e-9 * weight);
  scree_world_destroy(r.world);
}

/* From a state saved at any step, also between a step and the cut of the next one, and in units
 * that are powers of two, the motion has the same bits. */
static void same_bits(void **state) {
  (void)state;
  enum { STEPS = 200 };
  Rocking a = make(2, 4.3e-3, 0.1, 1), big = make(2, 4.3e-3, 0.1, 64);
  for (int k = 0; k < STEPS; ++k) {
    const size_t size = scree_world_state_size(a.world);
    char *saved = malloc(size);
    assert_non_null(saved);
    scree_world_save(a.world, saved);
    Rocking b = make(2, 4.3e-3, 0.1, 1);
    OK(scree_world_restore(b.world, saved, size));
    run_steps(a.world, 1);
    run_steps(b.world, 1);
    run_steps(big.world, 1);
    const scree_Twist va = scree_body_velocity(a.world, a.block);
    const scree_Twist vb = scree_body_velocity(b.world, b.block);
    assert_memory_equal(&va, &vb, sizeof va);
    NEAR(scree_body_velocity(big.world, big.block).angular.z, va.angular.z, 0);
    free(saved);
    scree_world_destroy(b.world);
  }
  scree_world_destroy(a.world);
  scree_world_destroy(big.world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(housner), cmocka_unit_test(impulses_add_up),
                                     cmocka_unit_test(same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
