/* Loads of many times the weight of what carries them: grains under a plate that is pressed, and an
 * elastic cube under a heavy plate. Every step is certified, at twice, once and half the default
 * step, and no energy comes from pushing bodies out of penetrations that are harmless. */
#include "test_world_scene.h"

static const double g = 9.81;

static double next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed / 4294967296.0 - 0.5;
}

/* ---- grains ---------------------------------------------------------------------------------- */

enum { GRAINS = 35 };

static const double settled = 0.1, loaded = 0.08, force = 100; /* s, s, N */

/* Spheres of 4 mm in a cylinder under a plate of 0.06 kg that cannot turn, which a force of about
 * 14 000 weights of a sphere presses from `settled` on. */
static scree_World *fill(double step, int *plate) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 3;
  settings.step = step;
  settings.gravity = vec(0, 0, -g);
  scree_World *world = make_world(&settings, 0.4, 0, 0);
  scree_Shape shape;
  OK(scree_shape_init_drum(&shape, 0.018, INFINITY, &test_log));
  add_shape(world, &shape, obstacle_at(0, 0, 0));
  add_half_space(world, obstacle_at(0, 0, 0));
  uint32_t seed = 7;
  int count = 0;
  for (int layer = 0; count < GRAINS; ++layer)
    for (int k = 0; k < 9 && count < GRAINS; ++k) {
      const double x = 0.0105 * (k % 3 - 1), y = 0.0105 * (k / 3 - 1);
      if (hypot(x, y) > 0.0132) continue;
      scree_BodyDef def =
          at(x + 1e-4 * next_random(&seed), y + 1e-4 * next_random(&seed), 0.0055 + 0.0105 * layer);
      def.density = 2650;
      add_sphere(world, 0.004 * (1 + 0.4 * next_random(&seed)), def);
      ++count;
    }
  scree_BodyDef def = at(0, 0, 0.0105 * (GRAINS / 5 + 1));
  def.mass = 0.06;
  def.inertia = vec(1e6, 1e6, 1e6);
  *plate = add_box(world, 0.0115, 0.0115, 0.005, def);
  const double times[] = {settled, settled + loaded};
  const scree_Twist values[] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, -force}, {0, 0, 0}}};
  const scree_ForceDef press = {
      .body = *plate,
      .signal = {.kind = SCREE_SIGNAL_TABLE, .count = 2, .times = times, .values = values}};
  OK(scree_world_add_force(world, &press));
  return world;
}

static void grains(void **state) {
  (void)state;
  const double step = 0.1 * sqrt(0.0064 * 0.06 / force); /* as of scenes */
  const double factors[] = {2, 1, 0.5};
  for (int k = 0; k < 3; ++k) {
    int plate;
    scree_World *world = fill(factors[k] * step, &plate);
    scree_StepReport report = {0};
    double most = 0, deepest = 0;
    while (scree_world_time(world) < settled + loaded) {
      OK(scree_world_step(world, &report)); /* certified */
      most = fmax(most, report.energy_created);
      deepest = fmax(deepest, report.penetration);
    }
    const scree_EnergyBalance e = scree_world_energy(world);
    print_message("grains, %.1f h: plate at %.5f m, work %.5f J, push %.1e J, %.1e J move, created "
                  "%.1e, penetration %.1e\n",
                  factors[k], scree_body_pose(world, plate).position.z, e.forces, e.push, e.kinetic,
                  most, deepest);
    assert_true(most < 3e-3);
    assert_true(deepest < 3e-3);
    scree_world_destroy(world);
  }
}

/* ---- self-stress ----------------------------------------------------------------------------- */

/* A disk in a groove whose walls are 10 degrees from the vertical, closer than friction holds. */
static scree_World *groove(int *disk) {
  const double radius = 0.5, aside = acos(-1) / 18, wide = radius / cos(aside);
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.step = 1e-3;
  settings.gravity = vec(0, -g, 0);
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  for (int side = -1; side <= 1; side += 2) {
    scree_BodyDef def = obstacle_at(side * wide, 0, 0);
    def.pose.orientation = turned(side * (0.5 * acos(-1) - aside));
    add_half_plane(world, def);
  }
  scree_BodyDef def = at(0, 0, 0);
  def.mass = 1;
  *disk = add_disk(world, radius, def);
  return world;
}

/* Largest normal impulse over the weight in a step. */
static double pressed(const scree_World *world, double step) {
  double most = 0;
  for (int c = 0; c < scree_world_contact_count(world); ++c)
    most = fmax(most, scree_world_contact(world, c).r[0]);
  return most / (g * step);
}

/* Impulses that press the disk from both sides hold each other in any amount. Those of a load are
 * not kept when it has gone, and those of a moderate one that the walls may well hold are. */
static void self_stress(void **state) {
  (void)state;
  static const double before[] = {1e6, 3};
  for (int k = 0; k < 2; ++k) {
    int disk;
    scree_World *world = groove(&disk);
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    assert_int_equal(scree_world_contact_count(world), 2);
    scree_ContactImpulse held[2];
    for (int c = 0; c < 2; ++c) {
      const scree_Contact contact = scree_world_contact(world, c);
      const double side = contact.position.x > 0 ? -1 : 1; /* on the disk */
      held[c] = (scree_ContactImpulse){
          .body = {contact.body[0], contact.body[1]},
          .position = contact.position,
          .impulse = vec((contact.body[0] == disk ? 1 : -1) * side * before[k] * g * report.h,
                         (contact.body[0] == disk ? 1 : -1) * 0.5 * g * report.h, 0)};
    }
    OK(scree_world_set_impulses(world, held, 2, report.h));
    double most = 0;
    for (int n = 0; n < 20; ++n) {
      OK(scree_world_step(world, &report));
      most = pressed(world, report.h);
    }
    print_message("groove: %.0e weights before, %.3g after, energy created %.1e\n", before[k], most,
                  report.energy_created);
    assert_true(fabs(scree_body_pose(world, disk).position.y) < 1e-6);
    if (k == 0) assert_true(most < 10);
    if (k == 1) assert_true(most > 0.8 * before[k] * cos(acos(-1) / 18));
    scree_world_destroy(world);
  }
}

/* ---- an elastic cube ------------------------------------------------------------------------- */

static const double edge = 0.01, young = 1e7, heavy = 2; /* m, Pa, kg */

typedef struct Press {
  scree_World *world;
  int cube, plate;
} Press;

/* A cube of 1 g between a floor and a plate of 2 kg, without friction, `aside` of its centre. */
static Press press(double step, double tolerance, double aside, double damping, bool guided) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 3;
  settings.step = step;
  settings.gravity = vec(0, 0, -g);
  settings.solve.tolerance = tolerance;
  Press p = {.world = make_world(&settings, 0, 0, 0)};
  const int n[3] = {2, 2, 2};
  scree_ElementMesh *mesh;
  scree_Shape shape;
  add_half_space(p.world, obstacle_at(0, 0, 0));
  OK(scree_element_mesh_create_block(3, vec(0.5 * edge, 0.5 * edge, 0.5 * edge), n, &mesh,
                                     &test_log));
  OK(scree_shape_init_elements(&shape, mesh, &test_log));
  scree_element_mesh_destroy(mesh);
  scree_BodyDef def = at(aside, 0, 0.5 * edge);
  def.kind = SCREE_BODY_ELEMENTS;
  def.elastic.young = young;
  def.elastic.poisson = 0.3;
  def.elastic.damping = damping;
  p.cube = add_shape(p.world, &shape, def);
  def = at(0, 0, edge + 0.005);
  def.mass = heavy;
  if (guided) def.inertia = vec(1e6, 1e6, 1e6);
  p.plate = add_box(p.world, 0.02, 0.02, 0.005, def);
  return p;
}

static double height(const Press *p) {
  return scree_body_pose(p->world, p->plate).position.z - 0.005;
}

/* A plate that cannot turn rests on the cube, whose stretch l satisfies
 * E l (1 - l^2) / 2 = weight / area in the material of St. Venant and Kirchhoff. */
static void cube_carries(void **state) {
  (void)state;
  const double stress = heavy * g / (edge * edge) / young;
  double stretch = 1;
  for (int k = 0; k < 50; ++k) stretch = 1 - 2 * stress / (stretch * (1 + stretch));
  for (int k = 0; k < 3; ++k) {
    Press p = press(4e-4 / (1 << k), 1e-4, 0, 5e-3, true);
    scree_StepReport report = {0};
    while (scree_world_time(p.world) < 0.15) OK(scree_world_step(p.world, &report));
    print_message("cube, step %.0e: carries the plate at %.8f m, theory %.8f m; created %.1e\n",
                  report.h, height(&p), stretch * edge, report.energy_created);
    NEAR(height(&p), stretch * edge, 1e-5 * edge);
    scree_world_destroy(p.world);
  }
}

/* Growth of the distance x of the cube from the centre from one time to the other: the plate, which
 * vibrates on the cube, tilts by w towards the side where nothing carries it,
 *     I w'' = N x - k w ,   m x'' = N w ,   N = M g (1 - cos(sqrt(E a / M) t)) ,
 * k the stiffness of the cube against bending. */
static double growth_expected(double from, double to) {
  const double k = young * edge * edge * edge / 12, m = 1000 * edge * edge * edge;
  const double I = heavy * ((0.04 * 0.04 + 0.01 * 0.01) / 12 + 0.005 * 0.005);
  const double pace = sqrt(young * edge / heavy), h = 1e-6;
  double x = 1, v = 0, tilt = 0, turn = 0, first = 0;
  for (int i = 0; i < (int)(to / h); ++i) {
    const double N = heavy * g * (1 - cos(pace * i * h));
    v += h * N * tilt / m;
    turn += h * (N * x - k * tilt) / I;
    x += h * v;
    tilt += h * turn;
    if (i == (int)(from / h)) first = x;
  }
  return log(x / first);
}

/* A plate that can turn squeezes a cube without friction out to the side, like a wet stone between
 * two fingers, and ends on the floor. That is an instability of the bodies, not of the steps: it
 * grows from any deviation, at the same rate for every step and tolerance. */
static void cube_slips_out(void **state) {
  (void)state;
  const double from = 0.03, to = 0.06, expected = growth_expected(from, to);
  const double steps[] = {2e-4, 1e-4}, tolerances[] = {1e-10, 1e-8};
  for (int k = 0; k < 2; ++k) {
    Press p = press(steps[k], tolerances[k], 1e-9, 0, false);
    double first = 0;
    while (scree_world_time(p.world) < to) {
      OK(scree_world_step(p.world, NULL));
      if (first == 0 && scree_world_time(p.world) >= from)
        first = scree_body_pose(p.world, p.cube).position.x;
    }
    const double growth = log(scree_body_pose(p.world, p.cube).position.x / first);
    print_message("cube, step %.0e: leaves the centre by exp(%.3f), theory exp(%.3f)\n", steps[k],
                  growth, expected);
    NEAR(growth, expected, 0.08 * expected);
    scree_world_destroy(p.world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(grains), cmocka_unit_test(self_stress),
                                     cmocka_unit_test(cube_carries),
                                     cmocka_unit_test(cube_slips_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
