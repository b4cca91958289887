/* Deformable bodies in worlds: free flight, loads, contacts, mixtures with rigid bodies. */
#include "test_world_scene.h"

static scree_BodyDef soft_at(double x, double y, double z, double young) {
  scree_BodyDef def = at(x, y, z);
  def.kind = SCREE_BODY_PSEUDO_RIGID;
  def.density = 1000;
  def.elastic = (scree_Elastic){.young = young, .poisson = 0.25};
  return def;
}

static int add_ellipsoid(scree_World *world, double a, double b, double c, scree_BodyDef def) {
  scree_Shape shape;
  OK(scree_shape_init_ellipsoid(&shape, a, b, c, &test_log));
  return add_shape(world, &shape, def);
}

static scree_World *space(double step, double g) {
  scree_WorldSettings settings = scree_world_settings();
  settings.step = step;
  settings.gravity = vec(0, 0, -g);
  return make_world(&settings, 0.3, 0, 0);
}

static double energy_of(const scree_World *world) {
  const scree_EnergyBalance e = scree_world_energy(world);
  return e.kinetic + e.potential + e.elastic;
}

int main(void) {
  for (int n = 1; n <= 8; n *= 2) {
    scree_World *w = space(0.01 / n, 0);
    scree_BodyDef def = soft_at(0, 0, 0, 1e5);
    def.velocity = (scree_Twist){{1, 2, 3}, {2, 3, 1}};
    add_ellipsoid(w, 0.5, 0.3, 0.4, def);
    run_steps(w, 1);
    double e0 = energy_of(w);
    for (int k = 0; k < 5; ++k) {
      run_steps(w, 20 * n);
      scree_EnergyBalance e = scree_world_energy(w);
      printf("%d %g: E %.6g strain %g drift %.3e closing %.2e scheme %.2e w %.6f %.6f %.6f semi %g "
             "%g %g\n",
             n, scree_world_time(w), energy_of(w), e.elastic, energy_of(w) / e0 - 1, e.closing,
             e.scheme, scree_body_velocity(w, 0).angular.x, scree_body_velocity(w, 0).angular.y,
             scree_body_velocity(w, 0).angular.z, scree_body_shape(w, 0)->semi.x,
             scree_body_shape(w, 0)->semi.y, scree_body_shape(w, 0)->semi.z);
    }
    scree_world_destroy(w);
  }
  for (int n = 1; n <= 4; n *= 2) {
    scree_World *w = space(0.002 / n, 9.81);
    add_half_space(w, obstacle_at(0, 0, 0));
    add_sphere(w, 0.5, soft_at(0, 0, 0.55, 1e6));
    add_sphere(w, 0.5, at(0.02, 0, 1.75));
    for (int k = 0; k < 10; ++k) {
      run_steps(w, 50 * n);
      scree_EnergyBalance e = scree_world_energy(w);
      printf("%d %g: z %.6f z1 %.6f vz %.4f semi %.5f %.5f %.5f E %.5g strain %.4g closing %.1e "
             "scheme %.2e normal %.4g friction %.3g push %.2g\n",
             n, scree_world_time(w), scree_body_pose(w, 1).position.z,
             scree_body_pose(w, 2).position.z, scree_body_velocity(w, 1).linear.z,
             scree_body_shape(w, 1)->semi.x, scree_body_shape(w, 1)->semi.y,
             scree_body_shape(w, 1)->semi.z, energy_of(w), e.elastic, e.closing, e.scheme, e.normal,
             e.friction, e.push);
    }
    scree_world_destroy(w);
  }
}
