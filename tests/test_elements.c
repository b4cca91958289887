/* Finite-element bodies in worlds: free flight, rest on a floor, free vibrations, contacts with
 * other bodies and shapes, order in the step, same bits after a restart.
 * More than 600 lines: the tests share the blocks that they let fall, turn and vibrate. */
#include "body/bodies.h"
#include "deepest.h"
#include "element/assemble.h"
#include "geometry/composite.h"
#include "math/vec3.h"
#include "test_world_scene.h"
#include "world/world.h"

static const double pi = 3.14159265358979323846;

static scree_World *space(double step, double g, double mu) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 3;
  settings.gravity = vec(0, 0, -g);
  settings.step = step;
  return make_world(&settings, mu, 0, 0);
}

static int add_floor(scree_World *world) {
  scree_Shape floor;
  OK(scree_shape_init_half_space(&floor, &test_log));
  return add_shape(world, &floor, obstacle_at(0, 0, 0));
}

static scree_Shape block_shape(scree_Vec3 semi, int nx, int ny, int nz) {
  const int n[3] = {nx, ny, nz};
  scree_ElementMesh *mesh;
  scree_Shape shape;
  OK(scree_element_mesh_create_block(3, semi, n, &mesh, &test_log));
  OK(scree_shape_init_elements(&shape, mesh, &test_log));
  scree_element_mesh_destroy(mesh);
  return shape;
}

static int add_block(scree_World *world, scree_Vec3 semi, int nx, int ny, int nz, scree_BodyDef def,
                     double young, double poisson) {
  scree_Shape shape = block_shape(semi, nx, ny, nz);
  def.kind = SCREE_BODY_ELEMENTS;
  def.elastic.young = young;
  def.elastic.poisson = poisson;
  return add_shape(world, &shape, def);
}

/* Positions and velocities of the nodes. */
static double *nodes_of(scree_World *world, int body, double **v, int *count) {
  scree_Bodies *b = &world->system.bodies;
  const scree_Deformable *self = scree_bodies_deformable(b, body);
  assert_non_null(self);
  *v = scree_deformable_v(b, self);
  *count = self->vertices;
  return scree_deformable_q(b, self);
}

static scree_StepReport run(scree_World *world, int steps) {
  scree_StepReport report = {0};
  for (int k = 0; k < steps; ++k) {
    OK(scree_world_step(world, &report));
    if (!report.certified)
      print_message("step %d: error %g, penetration %g, energy %g\n", k, report.error,
                    report.penetration, report.energy_created);
    assert_true(report.certified);
  }
  return report;
}

static scree_Vec3 impulse_of(const scree_Contact *c) {
  return scree_axpy(scree_axpy(scree_scale(c->r[0], c->normal), c->r[1], c->tangent[0]), c->r[2],
                    c->tangent[1]);
}

/* Force of all contacts. */
static scree_Vec3 contact_force(const scree_World *world, double h) {
  scree_Vec3 sum = {0, 0, 0};
  for (int c = 0; c < scree_world_contact_count(world); ++c) {
    const scree_Contact contact = scree_world_contact(world, c);
    sum = scree_add(sum, impulse_of(&contact));
  }
  return scree_scale(1 / h, sum);
}

/* A cube falls on a floor and comes to rest: the floor carries its weight; its centre sinks by
 * about rho g H^2 / (3 E), and exactly by that without friction and Poisson's effect as the mesh
 * is refined. */
static void test_rest(void **state) {
  (void)state;
  double sag[2];
  for (int k = 0; k < 2; ++k) {
    scree_World *world = space(1e-3, 10, 0);
    add_floor(world);
    scree_BodyDef def = at(0, 0, 0.051);
    def.elastic.damping = 2e-3;
    const int n = 1 << k;
    const int body = add_block(world, vec(0.05, 0.05, 0.05), n, n, 2 * n, def, 1e6, 0);
    const scree_StepReport report = run(world, 300);
    const scree_Vec3 force = contact_force(world, 1e-3);
    NEAR(fabs(force.z), 10, 1e-5);
    NEAR(hypot(force.x, force.y), 0, 1e-12);
    assert_true(report.energy.kinetic < 1e-10);
    sag[k] = 0.05 - scree_body_pose(world, body).position.z;
    scree_world_destroy(world);
  }
  /* lumped masses: the error of the mean is a quarter with half of the size */
  const double exact = 1000 * 10 * 0.1 * 0.1 / 3 / 1e6, limit = sag[1] + (sag[1] - sag[0]) / 3;
  print_message("sag %g %g, limit over theory %.6f\n", sag[0], sag[1], limit / exact);
  NEAR(limit / exact, 1, 2e-3); /* the material is softer by 1.5 times the strain, 1e-3 */
}

/* Angular momentum about the origin, with the mass matrix of the body. */
static scree_Vec3 spin_of(scree_World *world, int body, bool consistent) {
  double *v, mass[64], below[1024];
  int n;
  const double *q = nodes_of(world, body, &v, &n);
  const scree_ElementMesh *m = scree_shape_elements(scree_body_shape(world, body));
  scree_Vec3 sum = {0, 0, 0};
  assert_true(n <= 64 && m->row[n] <= 1024);
  if (consistent)
    scree_element_mass(m, 1000, mass, below);
  else
    scree_element_lump(m, 1000, mass);
  for (int k = 0; k < n; ++k) {
    scree_Vec3 p = scree_scale(mass[k], vec(v[3 * k], v[3 * k + 1], v[3 * k + 2]));
    for (int i = 0; consistent && i < n; ++i) {
      const int high = i > k ? i : k, low = i > k ? k : i;
      for (size_t e = m->row[high]; e < m->row[high + 1]; ++e)
        if (m->col[e] == low)
          p = scree_axpy(p, below[e], vec(v[3 * i], v[3 * i + 1], v[3 * i + 2]));
    }
    sum = scree_add(sum, scree_cross(vec(q[3 * k], q[3 * k + 1], q[3 * k + 2]), p));
  }
  return sum;
}

/* A block that spins, stretches and vibrates in free flight for 0.2 s (explicitly 0.04 s): the
 * relative change of its angular momentum. Its momentum is kept to rounding, its energy up to
 * swings. */
static double flight(int model, int kind, double step) { /* implicit, explicit, consistent mass */
  scree_World *world = space(step, 0, 0);
  scree_BodyDef def = at(0.3, 0.2, 0.1);
  def.velocity = (scree_Twist){{1, 2, 3}, {10, -20, 15}};
  def.elastic.model = model ? "neo-hookean" : NULL;
  def.elastic.explicit_ = kind == 1;
  def.elastic.consistent_mass = kind == 2;
  const int body = add_block(world, vec(0.05, 0.04, 0.06), 2, 2, 3, def, 2e6, 0.3);
  double *v;
  int n;
  const double *q = nodes_of(world, body, &v, &n);
  for (int k = 0; k < n; ++k) v[3 * k] += 8 * (q[3 * k] - 0.3); /* stretch it */
  scree_StepReport report = run(world, 1);
  const double first = report.energy.kinetic + report.energy.elastic;
  const scree_Vec3 p = scree_body_velocity(world, body).linear;
  const scree_Vec3 L = spin_of(world, body, kind == 2);
  double most = 0, least = INFINITY;
  while (report.time < (kind == 1 ? 0.04 : 0.2)) {
    report = run(world, 1);
    const double now = report.energy.kinetic + report.energy.elastic;
    most = fmax(most, now), least = fmin(least, now);
    assert_true(fabs(report.energy.closing) < 1e-12 * first);
  }
  const scree_Vec3 drift = scree_sub(spin_of(world, body, kind == 2), L);
  const double turned = scree_norm(drift) / scree_norm(L);
  print_message("model %d kind %d: energy %.2e .. %.2e, spin %.1e, elastic %.3g of %.3g\n", model,
                kind, least / first - 1, most / first - 1, turned, report.energy.elastic, first);
  NEAR(scree_norm(scree_sub(scree_body_velocity(world, body).linear, p)), 0, 1e-12 * scree_norm(p));
  assert_true(most / first - 1 < 2e-3 && least / first - 1 > -2e-3);
  scree_Analysis analysis;
  OK(scree_world_analyse(world, NULL, &analysis));
  NEAR(scree_norm(scree_sub(analysis.angular_momentum, spin_of(world, body, kind == 2))), 0,
       1e-9 * scree_norm(L));
  scree_world_destroy(world);
  return turned;
}

/* Angular momentum is kept to rounding by explicit steps. The stiffness of linearly implicit ones
 * belongs to a configuration that turns within the step: third order in a step. */
static void test_flight(void **state) {
  (void)state;
  for (int model = 0; model < 2; ++model)
    for (int kind = 0; kind < 3; ++kind) {
      const double step = kind == 1 ? 1e-4 : 5e-4;
      const double a = flight(model, kind, step), b = flight(model, kind, 0.5 * step);
      if (kind == 1)
        assert_true(a < 1e-13 && b < 1e-13);
      else
        assert_true(a < 1e-5 && b < 0.35 * a);
    }
}

/* Zero crossings of a quantity of a body that vibrates freely. */
static double frequency(scree_World *world, int body, int node, int axis, double rest, double step,
                        int steps) {
  double *v, last = 0, first_time = -1, last_time = -1;
  int n, crossings = 0;
  for (int k = 0; k < steps; ++k) {
    run(world, 1);
    const double *q = nodes_of(world, body, &v, &n);
    const double centre = axis == 0 ? scree_body_pose(world, body).position.x
                                    : scree_body_pose(world, body).position.z;
    const double now = q[3 * node + axis] - centre - rest;
    if (k > 0 && (last < 0) != (now < 0)) {
      const double t = (k - now / (now - last)) * step;
      if (first_time < 0)
        first_time = t;
      else
        ++crossings;
      last_time = t;
    }
    last = now;
  }
  return 0.5 * crossings / (last_time - first_time);
}

/* A free bar along its axis: c / (2 L). The error falls with the square of the step. */
static void test_bar(void **state) {
  (void)state;
  const double exact = sqrt(1e7 / 1000) / 2;
  double value[3];
  for (int s = 0; s < 3; ++s) {
    const double step = 1.6e-3 / (1 << s);
    scree_World *world = space(step, 0, 0);
    const int body = add_block(world, vec(0.5, 0.02, 0.02), 20, 1, 1, at(0, 0, 0), 1e7, 0);
    double *v;
    int n;
    const double *q = nodes_of(world, body, &v, &n);
    for (int k = 0; k < n; ++k) v[3 * k] = 0.1 * sin(pi * q[3 * k]);
    value[s] = frequency(world, body, 20, 0, 0.5, step, 200 << s);
    scree_world_destroy(world);
  }
  const double order = log2((value[1] - value[0]) / (value[2] - value[1]));
  const double limit = value[2] + (value[2] - value[1]) / 3;
  print_message("bar %.5f %.5f %.5f of theory, order %.2f, limit %.5f\n", value[0] / exact,
                value[1] / exact, value[2] / exact, order, limit / exact);
  NEAR(order, 2, 0.2);
  NEAR(limit / exact, 1, 2e-3); /* lumped masses on 20 elements: -(pi/20)^2/24 = -1.0e-3 */
}

/* A free beam that bends: 22.373 / (2 pi) sqrt(E I / (rho A L^4)), Euler and Bernoulli; a beam of
 * 1 : 20 is lower by 1.5 % through shear and rotation, elements of full integration are stiffer. */
static void test_beam(void **state) {
  (void)state;
  const double E = 1e8, H = 0.05, beta = 4.730041;
  const double exact = beta * beta / (2 * pi) * sqrt(E * H * H / 12 / 1000);
  double value[2];
  for (int s = 0; s < 2; ++s) {
    scree_World *world = space(1e-3, 0, 0);
    const int nx = 20 << s, nz = 1 << s;
    const int body = add_block(world, vec(0.5, H / 2, H / 2), nx, 1, nz, at(0, 0, 0), E, 0);
    double *v;
    int n;
    const double *q = nodes_of(world, body, &v, &n);
    for (int k = 0; k < n; ++k) {
      const double x = beta * (q[3 * k] + 0.5);
      v[3 * k + 2] = 0.05 * (cosh(x) + cos(x) - 0.982502 * (sinh(x) + sin(x)));
    }
    value[s] = frequency(world, body, 0, 2, -H / 2, 1e-3, 150) / exact;
    scree_world_destroy(world);
  }
  /* the stiffness converges with the square of the size */
  const double a = value[0] * value[0], b = value[1] * value[1], limit = sqrt(b + (b - a) / 3);
  print_message("beam %.4f %.4f of theory, limit %.4f\n", value[0], value[1], limit);
  NEAR(limit, 0.985, 0.015);
}

/* Soft blocks on each other, rigid spheres, an ellipsoid, boxes and a capsule on a soft block: all
 * come to rest, and the floor carries the weight. */
static void test_mixed(void **state) {
  (void)state;
  scree_World *world = space(2e-3, 10, 0.5);
  add_floor(world);
  scree_BodyDef def = at(0, 0, 0.051);
  def.elastic.damping = 4e-3;
  add_block(world, vec(0.15, 0.15, 0.05), 4, 4, 2, def, 1e6, 0.3);
  def.pose.position = vec(0.07, 0.07, 0.132);
  add_block(world, vec(0.03, 0.03, 0.03), 2, 2, 2, def, 5e5, 0.3);
  scree_Shape shape;
  OK(scree_shape_init_sphere(&shape, 0.03, &test_log));
  add_shape(world, &shape, at(-0.07, 0.07, 0.132));
  OK(scree_shape_init_box(&shape, 0.03, 0.02, 0.02, &test_log));
  add_shape(world, &shape, at(-0.07, -0.07, 0.122));
  OK(scree_shape_init_ellipsoid(&shape, 0.04, 0.03, 0.02, &test_log));
  add_shape(world, &shape, at(0.07, -0.07, 0.122));
  OK(scree_shape_init_box(&shape, 0.03, 0.03, 0.01, &test_log));
  add_shape(world, &shape, at(0.07, 0.07, 0.174));
  double weight = 0;
  for (int k = 1; k < scree_world_body_count(world); ++k) weight += 10 * scree_body_mass(world, k);
  run(world, 200);
  double floor = 0;
  for (int c = 0; c < scree_world_contact_count(world); ++c) {
    const scree_Contact contact = scree_world_contact(world, c);
    if (contact.body[0] == 0 || contact.body[1] == 0) floor += fabs(impulse_of(&contact).z) / 2e-3;
  }
  print_message("floor %g of %g N\n", floor, weight);
  NEAR(floor / weight, 1, 1e-3);
  scree_world_destroy(world);
}

/* The same bits after saving and restoring, in another world that was built alike. */
static void test_restart(void **state) {
  (void)state;
  scree_World *world[2];
  for (int w = 0; w < 2; ++w) {
    world[w] = space(2e-3, 10, 0.3);
    add_floor(world[w]);
    scree_BodyDef def = at(0, 0, 0.06);
    def.velocity.angular = vec(3, 1, 0);
    add_block(world[w], vec(0.05, 0.05, 0.05), 2, 2, 2, def, 1e6, 0.3);
    scree_Shape sphere;
    OK(scree_shape_init_sphere(&sphere, 0.03, &test_log));
    add_shape(world[w], &sphere, at(0.01, 0, 0.16));
  }
  scree_StepReport report;
  for (int k = 0; k < 60; ++k) assert_true(scree_world_step(world[0], &report) <= 1);
  const size_t size = scree_world_state_size(world[0]);
  void *buffer = malloc(size), *end[2];
  size_t sizes[2];
  scree_world_save(world[0], buffer);
  OK(scree_world_restore(world[1], buffer, size));
  for (int w = 0; w < 2; ++w) {
    for (int k = 0; k < 60; ++k) assert_true(scree_world_step(world[w], &report) <= 1);
    sizes[w] = scree_world_state_size(world[w]);
    end[w] = malloc(sizes[w]);
    scree_world_save(world[w], end[w]);
  }
  assert_int_equal(sizes[0], sizes[1]);
  assert_memory_equal(end[0], end[1], sizes[0]);
  free(buffer), free(end[0]), free(end[1]);
  scree_world_destroy(world[0]);
  scree_world_destroy(world[1]);
}

/* Stacked cubes with their sides in line, the upper one tilted: its lowest corner is closer to the
 * sides of the lower cube than to the top that it presses into, and must be found there. */
static void test_corner_in_line(void **state) {
  (void)state;
  scree_Shape cube = block_shape(vec(0.05, 0.05, 0.05), 2, 2, 2), others[3];
  scree_Vec3 corner[8];
  for (int k = 0; k < 8; ++k)
    corner[k] = vec(k & 1 ? 0.05 : -0.05, k & 2 ? 0.05 : -0.05, k & 4 ? 0.05 : -0.05);
  others[0] = block_shape(vec(0.05, 0.05, 0.05), 1, 1, 1);
  OK(scree_shape_init_box(&others[1], 0.05, 0.05, 0.05, &test_log));
  OK(scree_shape_init_polyhedron(&others[2], corner, 8, &test_log));
  const double a = 0.004, shift = 2e-4; /* about (-1, 1, 0): the corner (1, 1) is the lowest */
  const scree_Pose below = {{0, 0, 0}, {1, 0, 0, 0}};
  const scree_Vec3 axis = scree_scale(sqrt(0.5), vec(-1, 1, 0));
  const scree_Pose above = {{shift, shift, 0.1 + 1e-4},
                            {cos(a), sin(a) * axis.x, sin(a) * axis.y, 0}};
  const scree_Vec3 low = scree_pose_apply(&above, vec(0.05, 0.05, -0.05));
  const double depth = 0.05 - low.z, side = 0.05 - fmax(low.x, low.y);
  assert_true(side > 0 && side < 0.8 * depth);
  for (int k = 0; k < 3; ++k)
    for (int swap = 0; swap < 2; ++swap) {
      Deepest deepest = no_point;
      scree_collide_each(swap ? &others[k] : &cube, swap ? &below : &above,
                         swap ? &cube : &others[k], swap ? &above : &below, 1e-3, keep_deepest,
                         &deepest);
      assert_true(deepest.count > 0);
      assert_true(fabs(deepest.gap + depth) <= 0.02 * depth);
      assert_true((swap ? -1 : 1) * deepest.normal.z > 0.999);
    }
  for (int k = 0; k < 3; ++k) scree_shape_fini(&others[k]);
  scree_shape_fini(&cube);
}

/* ---- held nodes ------------------------------------------------------------------------------ */

static bool at_wall(void *user, scree_Vec3 x) {
  (void)user;
  return x.x < 1e-9;
}

/* A cantilever in a world, clamped at a wall that its held nodes touch, swings about the deflection
 * of the beam's theory under its weight; damped, it rests there, and its energy balance holds. */
static void test_clamped(void **state) {
  (void)state;
  const double L = 1, H = 0.1, E = 1e7, rho = 1000, g = 1;
  scree_World *world = space(1e-2, g, 0.3);
  scree_Shape wall;
  OK(scree_shape_init_half_space(&wall, &test_log));
  scree_BodyDef side = obstacle_at(0, 0, 0);
  side.pose.orientation = (scree_Quat){sqrt(0.5), 0, sqrt(0.5), 0}; /* z to x */
  add_shape(world, &wall, side);
  scree_BodyDef def = scree_body_def();
  def.pose.position = vec(0.5 * L, 0, 0);
  def.density = rho;
  def.velocity.linear = vec(0, 0, 1e-4);
  def.elastic.held = at_wall;
  def.elastic.damping = 0.1; /* half of the critical damping */
  const int beam = add_block(world, vec(0.5 * L, 0.5 * H, 0.5 * H), 20, 2, 2, def, E, 0);
  double *v;
  int count;
  const double *q = nodes_of(world, beam, &v, &count);
  double start[3 * 9], sag = 0;
  int held = 0, tip = -1;
  for (int k = 0; k < count; ++k) {
    if (q[3 * k] < 1e-9) {
      assert_true(held < 9);
      memcpy(start + 3 * held++, q + 3 * k, 3 * sizeof *q);
    }
    if (tip < 0 || q[3 * k] > q[3 * tip]) tip = k;
  }
  assert_int_equal(held, 9);
  const double z = q[3 * tip + 2];
  const scree_StepReport report = run(world, 180);
  q = nodes_of(world, beam, &v, &count);
  for (int k = 0, i = 0; k < count && i < held; ++k)
    if (q[3 * k] < 1e-9) assert_memory_equal(q + 3 * k, start + 3 * i++, 3 * sizeof *q);
  sag = z - q[3 * tip + 2];
  /* rho g A L^4 / (8 E I) and the shear of a square section; hexahedra across are too stiff */
  const double A = H * H, I = H * H * H * H / 12, G = 0.5 * E;
  const double theory = rho * g * A * (L * L * L * L / (8 * E * I) + 0.6 * L * L / (G * A));
  print_message("clamped: sag %g, %.4f of theory, energy %g\n", sag, sag / theory,
                report.energy_created);
  assert_true(sag > 0.85 * theory && sag < 1.0 * theory);
  scree_world_destroy(world);
}

/* The same bits with one thread and two. */
static void test_threads(void **state) {
  (void)state;
  double q[2][3 * 27];
  for (int k = 0; k < 2; ++k) {
    scree_WorldSettings settings = scree_world_settings();
    settings.dimension = 3;
    settings.gravity = vec(0, 0, -10);
    settings.step = 1e-3;
    settings.solve.threads = k + 1;
    scree_World *world = make_world(&settings, 0.3, 0, 0);
    add_floor(world);
    scree_BodyDef def = scree_body_def();
    def.pose.position = vec(0, 0, 0.051);
    add_block(world, vec(0.05, 0.05, 0.05), 2, 2, 2, def, 1e6, 0.3);
    def.pose.position = vec(0.01, 0.02, 0.153);
    const int upper = add_block(world, vec(0.05, 0.05, 0.05), 2, 2, 2, def, 1e6, 0.3);
    run(world, 40);
    double *v;
    int count;
    const double *x = nodes_of(world, upper, &v, &count);
    assert_int_equal(count, 27);
    memcpy(q[k], x, sizeof q[k]);
    scree_world_destroy(world);
  }
  assert_memory_equal(q[0], q[1], sizeof q[0]);
}

/* A block of elements that hangs on ball joints at its four upper corners is stretched as one whose
 * upper nodes are held; the joints carry its weight. A joint in the middle of an element turns it
 * about that point without moving it. */
static void test_hung(void **state) {
  (void)state;
  scree_World *world = space(1e-3, 10, 0);
  scree_BodyDef def = at(0, 0, 0);
  def.elastic.damping = 3e-3;
  const int body = add_block(world, vec(0.05, 0.05, 0.2), 1, 1, 4, def, 1e6, 0);
  int joints[4];
  for (int k = 0; k < 4; ++k) {
    scree_JointDef joint = scree_joint_def();
    joint.kind = SCREE_JOINT_BALL;
    joint.body[0] = body;
    joint.body[1] = -1;
    joint.anchor = vec(k % 2 ? 0.05 : -0.05, k / 2 ? 0.05 : -0.05, 0.2);
    OK(scree_world_add_joint(world, &joint, &joints[k]));
  }
  run(world, 1500);
  double *v, force = 0;
  int n;
  const double *q = nodes_of(world, body, &v, &n);
  double low = 0, high = 0;
  for (int k = 0; k < n; ++k) low = fmin(low, q[3 * k + 2]), high = fmax(high, q[3 * k + 2]);
  for (int k = 0; k < 4; ++k) {
    assert_true(scree_world_joint(world, joints[k]).error < 1e-12);
    force += scree_world_joint(world, joints[k]).force.z;
  }
  NEAR(high, 0.2, 1e-12);
  /* rho g H^2 / (2 E), the material being stiffer by about 1.5 times the strain */
  NEAR((-0.2 - low) / (1000 * 10 * 0.4 * 0.4 / 2 / 1e6), 1, 0.01);
  NEAR(force / (1000 * 0.1 * 0.1 * 0.4 * 10), 1, 1e-4);
  scree_JointDef joint = scree_joint_def();
  joint.body[0] = body;
  joint.body[1] = -1;
  joint.anchor = vec(0.2, 0, 0); /* outside */
  assert_int_equal(scree_world_add_joint(world, &joint, NULL), SCREE_BAD_INPUT);
  scree_world_destroy(world);

  world = space(1e-3, 0, 0);
  def = at(0, 0, 0);
  def.velocity.angular = vec(0, 3, 0);
  const int turned = add_block(world, vec(0.05, 0.05, 0.2), 1, 1, 3, def, 1e6, 0.25);
  joint.body[0] = turned;
  joint.anchor = vec(0, 0, 0);
  int pin;
  OK(scree_world_add_joint(world, &joint, &pin));
  run(world, 200);
  assert_true(scree_world_joint(world, pin).error < 1e-12);
  NEAR(scree_body_velocity(world, turned).angular.y, 3, 0.05);
  scree_world_destroy(world);
}

/* A cube between a floor and a heavy plate, with Poisson's ratio 0 so that friction has no effect:
 * a pseudo-rigid one, the same as a polyhedron, and one of hexahedra are compressed alike, and as
 * theory has it. */
static void test_cubes_agree(void **state) {
  (void)state;
  const double a = 0.05, young = 1e6, load = 20, area = 4 * a * a;
  double height[3];
  for (int kind = 0; kind < 3; ++kind) {
    scree_World *world = space(5e-4, 10, 0.3);
    add_floor(world);
    scree_BodyDef def = at(0, 0, a);
    def.density = 1;
    def.elastic = (scree_Elastic){.young = young, .poisson = 0, .damping = 2e-3};
    scree_Shape shape;
    if (kind == 0) {
      OK(scree_shape_init_box(&shape, a, a, a, &test_log));
    } else if (kind == 1) {
      scree_Vec3 corner[8];
      for (int k = 0; k < 8; ++k) corner[k] = vec(k & 1 ? a : -a, k & 2 ? a : -a, k & 4 ? a : -a);
      OK(scree_shape_init_polyhedron(&shape, corner, 8, &test_log));
    } else {
      shape = block_shape(vec(a, a, a), 2, 2, 2);
    }
    def.kind = kind < 2 ? SCREE_BODY_PSEUDO_RIGID : SCREE_BODY_ELEMENTS;
    const int cube = add_shape(world, &shape, def);
    scree_BodyDef heavy = at(0, 0, 2 * a + 0.02);
    heavy.density = load / 10 / (8 * 0.1 * 0.1 * 0.02);
    OK(scree_shape_init_box(&shape, 0.1, 0.1, 0.02, &test_log));
    const int plate = add_shape(world, &shape, heavy);
    run(world, 1500);
    height[kind] = scree_body_pose(world, plate).position.z - 0.02;
    const scree_Vec3 velocity = scree_body_velocity(world, plate).linear;
    assert_true(fabs(velocity.z) < 1e-6);
    NEAR(scree_body_pose(world, cube).position.z, 0.5 * height[kind], 1e-6);
    scree_world_destroy(world);
  }
  const double strain = (2 * a - height[0]) / (2 * a);
  print_message("strain %g, theory %g; heights %.9g %.9g %.9g\n", strain, load / area / young,
                height[0], height[1], height[2]);
  NEAR(strain / (load / area / young), 1, 0.01); /* 1.5 times the strain softer */
  NEAR(height[1], height[0], 1e-9);
  NEAR((height[2] - height[0]) / (2 * a), 0, 1e-3 * strain);
}

/* Positions and stresses of all nodes; either alone gives the same numbers. */
static void test_nodes(void **state) {
  (void)state;
  scree_World *world = space(1e-3, 9.81, 0.3);
  double *v, position[54], stress[108], alone[108];
  int count;
  add_block(world, vec(0.1, 0.1, 0.1), 1, 1, 2, at(0, 0, 1), 1e6, 0.2);
  run(world, 2);
  const double *q = nodes_of(world, 0, &v, &count);
  assert_int_equal(scree_world_node_count(world), count);
  assert_true(count <= 18);
  OK(scree_world_nodes(world, position, stress));
  assert_memory_equal(position, q, 3 * (size_t)count * sizeof *q);
  OK(scree_world_nodes(world, alone, NULL));
  assert_memory_equal(alone, position, 3 * (size_t)count * sizeof *alone);
  OK(scree_world_nodes(world, NULL, alone));
  assert_memory_equal(alone, stress, 6 * (size_t)count * sizeof *alone);
  scree_world_destroy(world);
}

/* The end nodes of a bar at rest are tied by ball joints to an obstacle that moves with the
 * velocity V from the start: a wave of the stress rho c V runs to the free end and back, which
 * takes 2 L/c; then the bar moves with 2 V everywhere without strain, and the obstacle has done 2 m
 * V^2 of work. On the way the balance closes, the first impact included. */
static void test_driven(void **state) {
  (void)state;
  const double V = 0.1, semi = 0.02, young = 1e7, wave = sqrt(young / 1000), step = 5e-5;
  scree_World *world = space(step, 0, 0);
  const int bar = add_block(world, vec(0.5, semi, semi), 80, 1, 1, at(0, 0, 0), young, 0);
  scree_BodyDef def = obstacle_at(-0.6, 0, 0);
  def.driver.kind = SCREE_SIGNAL_CONSTANT;
  def.driver.constant.linear.x = V;
  scree_Shape box;
  OK(scree_shape_init_box(&box, 0.1, 0.05, 0.05, &test_log));
  const int plate = add_shape(world, &box, def);
  for (int k = 0; k < 4; ++k) {
    scree_JointDef joint = scree_joint_def();
    joint.kind = SCREE_JOINT_BALL;
    joint.body[0] = bar;
    joint.body[1] = plate;
    joint.anchor = vec(-0.5, k & 1 ? semi : -semi, k & 2 ? semi : -semi);
    OK(scree_world_add_joint(world, &joint, NULL));
  }
  const double mass = 1000 * 4 * semi * semi, wanted = 2 * mass * V * V;
  run(world, (int)(2 / (wave * step) + 0.5));
  const scree_EnergyBalance e = scree_world_energy(world);
  print_message("driven bar: work %.4f, kinetic %.4f of theory, strain %.1e\n", e.drivers / wanted,
                e.kinetic / wanted, e.elastic / wanted);
  NEAR(e.drivers / wanted, 1, 0.02);
  NEAR(e.kinetic / wanted, 1, 0.04);
  NEAR(e.closing, 0, 1e-10 * wanted);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nodes),   cmocka_unit_test(test_corner_in_line),
      cmocka_unit_test(test_clamped), cmocka_unit_test(test_threads),
      cmocka_unit_test(test_rest),    cmocka_unit_test(test_flight),
      cmocka_unit_test(test_bar),     cmocka_unit_test(test_beam),
      cmocka_unit_test(test_mixed),   cmocka_unit_test(test_restart),
      cmocka_unit_test(test_hung),    cmocka_unit_test(test_cubes_agree),
      cmocka_unit_test(test_driven),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
