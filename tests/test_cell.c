/* Periodic cells: collisions through a side, gases, translation of the cell, shear, pressure. */
#include "math/vec3.h"
#include "test_world_scene.h"

/* All bodies of two worlds, to the bit. */
static void assert_same_poses(const scree_World *a, const scree_World *b) {
  for (int k = 0; k < scree_world_body_count(a); ++k) {
    const scree_Pose p = scree_body_pose(a, k), q = scree_body_pose(b, k);
    assert_memory_equal(&p, &q, sizeof p);
  }
}

static scree_WorldSettings settings_of(int dimension, double step) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = dimension;
  settings.step = step;
  settings.gravity = vec(0, 0, 0);
  settings.solve.threads = 1;
  return settings;
}

static void set_cell(scree_World *world, scree_Vec3 origin, scree_Vec3 size) {
  scree_CellDef def = scree_cell_def();
  def.origin = origin;
  def.size = size;
  OK(scree_world_set_cell(world, &def));
}

/* Random numbers that are the same everywhere. */
static double next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0;
}

/* ---- a collision through a side -------------------------------------------------------------- */

/* Two balls with spin and friction, off centre: as without a cell, but for the lattice. */
static void pair(int dimension, bool periodic, scree_Twist out[2]) {
  const scree_WorldSettings settings = settings_of(dimension, 0.01);
  scree_World *world = make_world(&settings, 0.3, 0.7, 0);
  scree_BodyDef a = at(0.2, 0.5, 0), b = at(periodic ? 0.9 : -0.1, 0.53, 0);
  a.velocity.linear = vec(-1, 0, 0);
  b.velocity.linear = vec(1, 0.1, 0);
  a.velocity.angular = vec(0, 0, 3);
  if (dimension == 3) b.velocity.angular = vec(1, 2, 0);
  const int body[2] = {dimension == 2 ? add_disk(world, 0.05, a) : add_sphere(world, 0.05, a),
                       dimension == 2 ? add_disk(world, 0.08, b) : add_sphere(world, 0.08, b)};
  if (periodic) set_cell(world, vec(0, 0, 0), vec(1, 0, 0));
  run_steps(world, 30);
  for (int k = 0; k < 2; ++k) {
    out[k] = scree_body_velocity(world, body[k]);
    const double x = scree_body_pose(world, body[k]).position.x;
    if (periodic) assert_true(x >= 0 && x < 1);
  }
  scree_world_destroy(world);
}

static void test_collision(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Twist with[2], without[2];
    pair(d, true, with);
    pair(d, false, without);
    assert_true(without[0].linear.x > 0); /* they met */
    for (int k = 0; k < 2; ++k) {
      NEAR(with[k].linear.x, without[k].linear.x, 1e-12);
      NEAR(with[k].linear.y, without[k].linear.y, 1e-12);
      NEAR(with[k].angular.z, without[k].angular.z, 1e-11);
      NEAR(with[k].angular.x, without[k].angular.x, 1e-11);
    }
  }
}

/* ---- gases ----------------------------------------------------------------------------------- */

enum { SIDE = 4 };

/* A gas on a lattice with random velocities; the cell begins at `origin`, the bodies where they
 * would be with the origin 0. */
static scree_World *make_gas(int dimension, scree_Vec3 origin, double e_n, double mu,
                             const scree_CellDef *drive, int threads) {
  scree_WorldSettings settings = settings_of(dimension, 0.002);
  settings.solve.threads = threads;
  scree_World *world = make_world(&settings, mu, e_n, 0);
  uint64_t random = 7;
  const int nz = dimension == 2 ? 1 : SIDE;
  for (int x = 0; x < SIDE; ++x)
    for (int y = 0; y < SIDE; ++y)
      for (int z = 0; z < nz; ++z) {
        scree_BodyDef def =
            at((x + 0.5) / SIDE, (y + 0.5) / SIDE, dimension == 2 ? 0 : (z + 0.5) / SIDE);
        def.velocity.linear =
            vec(next(&random) - 0.5, next(&random) - 0.5, dimension == 2 ? 0 : next(&random) - 0.5);
        const double r = 0.06 + 0.05 * next(&random);
        if (dimension == 2)
          add_disk(world, r, def);
        else
          add_sphere(world, r, def);
      }
  scree_CellDef def = drive ? *drive : scree_cell_def();
  def.origin = origin;
  def.size = vec(1, 1, dimension == 2 ? 0 : 1);
  OK(scree_world_set_cell(world, &def));
  return world;
}

static void test_gas(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_World *world = make_gas(d, vec(0, 0, 0), 1, 0, NULL, 1);
    scree_Analysis start, end;
    OK(scree_world_analyse(world, NULL, &start));
    int met = 0;
    for (int k = 0; k < 300; ++k) {
      scree_StepReport report;
      OK(scree_world_step(world, &report));
      met += report.active;
    }
    OK(scree_world_analyse(world, NULL, &end));
    assert_true(met > 10);
    NEAR(end.momentum.x, start.momentum.x, 1e-12 * start.mass);
    NEAR(end.momentum.y, start.momentum.y, 1e-12 * start.mass);
    NEAR(end.momentum.z, start.momentum.z, 1e-12 * start.mass);
    NEAR(end.kinetic, start.kinetic, 2e-3 * start.kinetic);
    scree_CellInfo cell;
    assert_true(scree_world_cell(world, &cell));
    NEAR(cell.work, 0, 0);
    scree_world_destroy(world);
  }
}

/* Distance of two positions modulo a lattice of sides 1. */
static double apart(scree_Vec3 a, scree_Vec3 b) {
  const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return fmax(fabs(x - round(x)), fmax(fabs(y - round(y)), fabs(z - round(z))));
}

static void test_translation(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_World *a = make_gas(d, vec(0, 0, 0), 0.5, 0.4, NULL, 1);
    scree_World *b = make_gas(d, vec(0.3, -0.77, 0.12), 0.5, 0.4, NULL, 1);
    run_steps(a, 150);
    run_steps(b, 150);
    for (int k = 0; k < scree_world_body_count(a); ++k) {
      NEAR(apart(scree_body_pose(a, k).position, scree_body_pose(b, k).position), 0, 1e-9);
      NEAR(scree_body_velocity(a, k).linear.x, scree_body_velocity(b, k).linear.x, 1e-8);
      NEAR(scree_body_velocity(a, k).angular.z, scree_body_velocity(b, k).angular.z, 1e-7);
    }
    scree_world_destroy(a);
    scree_world_destroy(b);
  }
}

/* ---- shear ----------------------------------------------------------------------------------- */

/* Energy balance of a sheared gas: what the cell does is kept or dissipated. Restart and threads:
 * same bits. */
static void test_shear(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_CellDef drive = scree_cell_def();
    drive.gradient[1] = 2;
    scree_World *a = make_gas(d, vec(0, 0, 0), 0.2, 0.4, &drive, 1);
    scree_World *b = make_gas(d, vec(0, 0, 0), 0.2, 0.4, &drive, 2);
    scree_World *c = make_gas(d, vec(0, 0, 0), 0.2, 0.4, &drive, 1);
    const double start = scree_world_energy(a).kinetic;
    run_steps(a, 200);
    void *saved = malloc(scree_world_state_size(a));
    const size_t size = scree_world_state_size(a);
    scree_world_save(a, saved);
    OK(scree_world_restore(c, saved, size));
    free(saved);
    run_steps(a, 200);
    run_steps(b, 400);
    run_steps(c, 200);
    const scree_EnergyBalance e = scree_world_energy(a);
    NEAR(e.closing, 0, 1e-9 * e.kinetic);
    NEAR(e.kinetic + e.normal + e.friction - e.push, start + e.drivers, 1e-9 * e.kinetic);
    scree_CellInfo cell;
    assert_true(scree_world_cell(a, &cell));
    NEAR(cell.work, e.drivers, 1e-9 * fabs(e.drivers));
    NEAR(cell.strain[1], 2 * 0.8, 2 * 0.002);
    assert_true(fabs(cell.side[1].x) <= 0.5 + 1e-9); /* 1.6 less two sides */
    NEAR(cell.volume, 1, 1e-12);
    assert_true(cell.work > 0);
    assert_same_poses(a, b);
    assert_same_poses(a, c);
    scree_world_destroy(a);
    scree_world_destroy(b);
    scree_world_destroy(c);
  }
}

/* Position in units of the sides. */
static scree_Vec3 fraction_in(const scree_CellInfo *cell, scree_Vec3 position) {
  const scree_Vec3 *a = cell->side, x = scree_sub(position, cell->origin);
  const double volume = scree_dot(a[0], scree_cross(a[1], a[2]));
  return vec(scree_dot(x, scree_cross(a[1], a[2])) / volume,
             scree_dot(x, scree_cross(a[2], a[0])) / volume,
             scree_dot(x, scree_cross(a[0], a[1])) / volume);
}

/* Where a sheared cell begins does not matter: bodies go the same ways against each other. */
static void test_shear_translation(void **state) {
  (void)state;
  scree_CellDef drive = scree_cell_def();
  drive.gradient[1] = 1;
  drive.gradient[4] = -0.2;
  scree_World *a = make_gas(2, vec(0, 0, 0), 0.5, 0.4, &drive, 1);
  scree_World *b = make_gas(2, vec(0.31, 0.4, 0), 0.5, 0.4, &drive, 1);
  /* the second half of the bodies begins in other images, where the cell moves in other ways */
  for (int k = 0; k < 100; ++k) {
    OK(scree_world_step(a, NULL));
    OK(scree_world_step(b, NULL));
  }
  scree_CellInfo ca, cb;
  assert_true(scree_world_cell(a, &ca));
  assert_true(scree_world_cell(b, &cb));
  double spin = 0, way = 0;
  for (int k = 1; k < scree_world_body_count(a); ++k) {
    const double spins[2] = {scree_body_velocity(a, k).angular.z,
                             scree_body_velocity(b, k).angular.z};
    spin = fmax(spin, fabs(spins[0] - spins[1]));
    const scree_Vec3 xa = fraction_in(&ca, scree_body_pose(a, k).position);
    const scree_Vec3 xb = fraction_in(&cb, scree_body_pose(b, k).position);
    const scree_Vec3 oa = fraction_in(&ca, scree_body_pose(a, 0).position);
    const scree_Vec3 ob = fraction_in(&cb, scree_body_pose(b, 0).position);
    way = fmax(way, apart(scree_sub(xa, oa), scree_sub(xb, ob)));
  }
  assert_true(spin < 1e-6 && way < 1e-8);
  NEAR(ca.side[1].y, exp(-0.2 * 0.2), 1e-3);
  scree_world_destroy(a);
  scree_world_destroy(b);
}

/* Velocities less the common one. */
static void stop_as_whole(scree_World *world) {
  scree_Vec3 momentum = {0, 0, 0};
  double mass = 0;
  for (int k = 0; k < scree_world_body_count(world); ++k) {
    const double m = scree_body_mass(world, k);
    momentum = scree_axpy(momentum, m, scree_body_velocity(world, k).linear);
    mass += m;
  }
  for (int k = 0; k < scree_world_body_count(world); ++k) {
    scree_Twist v = scree_body_velocity(world, k);
    v.linear = scree_axpy(v.linear, -1 / mass, momentum);
    OK(scree_body_set_velocity(world, k, &v));
  }
}

/* In units of the sides the bodies as a whole stay where they are, however the cell moves and
 * whatever crosses its sides. Returns how far they went, and in `far` the largest way of one. */
static scree_Vec3 drift_of(scree_World *world, int steps, double *far) {
  enum { MOST = 256 };
  static scree_Vec3 last[MOST];
  const int n = scree_world_body_count(world);
  double mass = 0;
  scree_Vec3 sum = {0, 0, 0}, first = sum;
  assert_in_range(n, 1, MOST);
  for (int step = 0; step <= steps; ++step) {
    scree_CellInfo cell;
    if (step > 0) OK(scree_world_step(world, NULL));
    assert_true(scree_world_cell(world, &cell));
    for (int k = 0; k < n; ++k) {
      const scree_Vec3 f = fraction_in(&cell, scree_body_pose(world, k).position);
      const scree_Vec3 go = scree_sub(f, last[k]);
      const scree_Vec3 way = vec(go.x - round(go.x), go.y - round(go.y), go.z - round(go.z));
      last[k] = f;
      if (step == 0) continue;
      sum = scree_axpy(sum, scree_body_mass(world, k), way);
      if (k == 0) first = scree_add(first, way);
    }
  }
  for (int k = 0; k < n; ++k) mass += scree_body_mass(world, k);
  *far = scree_norm(first);
  return scree_scale(1 / mass, sum);
}

static void test_drift(void **state) {
  (void)state;
  const char *const schemes[] = {"moreau-jean", "euler"};
  for (int d = 2; d <= 3; ++d)
    for (int k = 0; k < 2; ++k) {
      double far;
      scree_CellDef drive = scree_cell_def();
      drive.gradient[1] = 3;
      drive.gradient[3] = -1;
      drive.pressure[1] = 200;
      scree_World *world = make_gas(d, vec(0, 0, 0), 0.2, 0.4, &drive, 1);
      scree_WorldSettings settings = *scree_world_get_settings(world);
      settings.scheme = schemes[k];
      OK(scree_world_set_settings(world, &settings));
      stop_as_whole(world);
      const scree_Vec3 drift = drift_of(world, 300, &far);
      assert_true(far > 0.1);
      NEAR(scree_norm(drift), 0, 1e-10);
      scree_world_destroy(world);
    }
}

/* ---- pressure -------------------------------------------------------------------------------- */

/* Disks on a square lattice in a cell at a pressure p. */
static scree_World *make_lattice(const scree_PairLaw *law, double d, double p) {
  const scree_WorldSettings settings = settings_of(2, 1e-3);
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  OK(scree_world_set_default_law(world, law));
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 3; ++y)
      add_disk(world, d / 2, at((x + 0.5) * 1.01 * d, (y + 0.5) * 1.01 * d, 0));
  scree_CellDef def = scree_cell_def();
  def.size = vec(3.03 * d, 3.03 * d, 0);
  def.pressure[0] = def.pressure[1] = p;
  OK(scree_world_set_cell(world, &def));
  return world;
}

static const double rigid_step = 1e-3;

/* Rigid disks or spheres on a lattice of n[k] along each side, in a cell at the pressure p[k] along
 * it; NAN: the side stays as it is, and there the lattice is loose. */
static scree_World *make_rigid(int dimension, const char *scheme, const int n[3],
                               const double p[3]) {
  const double d = 0.1;
  scree_WorldSettings settings = settings_of(dimension, rigid_step);
  settings.solve.tolerance = 1e-6; /* the load of all contacts is the softest mode of the problem */
  settings.scheme = scheme;
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  for (int x = 0; x < n[0]; ++x)
    for (int y = 0; y < n[1]; ++y)
      for (int z = 0; z < (dimension == 2 ? 1 : n[2]); ++z) {
        const scree_BodyDef def = at((x + 0.5) * 1.01 * d, (y + 0.5) * 1.01 * d,
                                     dimension == 2 ? 0 : (z + 0.5) * 1.01 * d);
        if (dimension == 2)
          add_disk(world, d / 2, def);
        else
          add_sphere(world, d / 2, def);
      }
  scree_CellDef def = scree_cell_def();
  const double side[3] = {n[0] * 1.01 * d, n[1] * 1.01 * d, n[2] * 1.01 * d};
  def.size = vec(isnan(p[0]) ? 1.5 * d : side[0], isnan(p[1]) ? 1.5 * d : side[1],
                 dimension == 2 ? 0
                 : isnan(p[2])  ? 1.5 * d
                                : side[2]);
  memcpy(def.pressure, p, (size_t)dimension * sizeof *p);
  OK(scree_world_set_cell(world, &def));
  return world;
}

static void run_certified(scree_World *world, int steps) {
  for (int k = 0; k < steps; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    assert_true(report.certified);
  }
}

/* Once jammed, the cell is at rest with sides n d and the stress -p, to the solver's tolerance. How
 * the rows of a rigid lattice share the load is not determined, but all contacts along k together
 * carry p_k times the area of one, on average. Bodies are at rest: what the cell gave them is
 * dissipated. */
static void rigid_lattice(int dimension, const char *scheme) {
  const double d = 0.1, p[3] = {1000, 2000, 500};
  const int n[3] = {3, 4, 3};
  scree_World *world = make_rigid(dimension, scheme, n, p);
  run_certified(world, 300);
  scree_CellInfo cell;
  assert_true(scree_world_cell(world, &cell));
  const double sides[3] = {cell.side[0].x, cell.side[1].y, cell.side[2].z};
  const double area = dimension == 2 ? d : d * d;
  double force[3] = {0, 0, 0};
  int count[3] = {0, 0, 0};
  for (int c = 0; c < scree_world_contact_count(world); ++c) {
    const scree_Contact contact = scree_world_contact(world, c);
    const int k = fabs(contact.normal.x) > 0.5 ? 0 : fabs(contact.normal.y) > 0.5 ? 1 : 2;
    force[k] += contact.r[0] / rigid_step;
    count[k]++;
  }
  for (int k = 0; k < dimension; ++k) {
    NEAR(sides[k], n[k] * d, 1e-5 * d);
    NEAR(cell.stress[4 * k], -p[k], 1e-3 * p[k]);
    assert_int_equal(count[k], 12 * (dimension == 2 ? 1 : n[2]));
    NEAR(force[k] / count[k], p[k] * area, 1e-3 * p[k] * area);
  }
  const scree_EnergyBalance e = scree_world_energy(world);
  assert_true(e.drivers > 0);
  NEAR(e.closing, 0, 1e-9 * e.drivers);
  NEAR(e.kinetic, 0, 1e-9 * e.drivers);
  NEAR(e.normal + e.friction - e.push, e.drivers, 1e-6 * e.drivers);
  NEAR(cell.work, e.drivers, 1e-9 * e.drivers);
  scree_world_destroy(world);
}

/* A row of disks or spheres that touches nothing across: each of its contacts carries p A. Before,
 * the side falls freely, M l'' = -p A, and the bodies with it. */
static void rigid_row(int dimension, const char *scheme, int axis) {
  const double d = 0.1, p = 800, area = dimension == 2 ? 1.5 * d : 1.5 * d * 1.5 * d;
  double pressure[3] = {NAN, NAN, NAN};
  int n[3] = {1, 1, 1};
  n[axis] = 5;
  pressure[axis] = p;
  scree_World *world = make_rigid(dimension, scheme, n, pressure);
  double mass = 0;
  for (int k = 0; k < n[axis]; ++k) mass += scree_body_mass(world, k);
  scree_CellInfo cell;
  const int fall = 10;
  run_certified(world, fall);
  assert_true(scree_world_cell(world, &cell));
  const double l = axis == 0 ? cell.side[0].x : axis == 1 ? cell.side[1].y : cell.side[2].z;
  const double theta = strcmp(scheme, "euler") == 0 ? 1 : 0.5;
  const double t2 =
      rigid_step * rigid_step * (0.5 * fall * (fall - 1) + theta * fall); /* sum of the drifts */
  const double way = p * area / mass * t2;
  assert_true(way < 0.04 * d);             /* it does not touch yet */
  NEAR(5 * 1.01 * d - l, way, 0.02 * way); /* l' = L l, with L changed by the force over l */
  run_certified(world, 300);
  assert_int_equal(scree_world_contact_count(world), n[axis]);
  for (int c = 0; c < n[axis]; ++c)
    NEAR(scree_world_contact(world, c).r[0] / rigid_step, p * area, 1e-3 * p * area);
  scree_world_destroy(world);
}

/* The same row with a joint that holds two neighbours apart, which it presses with p A, too, and
 * with resistance to rolling, which changes nothing. */
static void joined_row(int dimension, double rolling) {
  const double d = 0.1, p = 800, area = dimension == 2 ? 1.5 * d : 1.5 * d * 1.5 * d;
  const double pressure[3] = {p, NAN, NAN};
  const int n[3] = {5, 1, 1};
  scree_World *world = make_rigid(dimension, "moreau-jean", n, pressure);
  scree_PairLaw law = scree_pair_law_coulomb(0.5, 0, 0);
  OK(scree_pair_law_set(&law, "rolling", rolling, &test_log));
  OK(scree_world_set_default_law(world, &law));
  scree_JointDef def = scree_joint_def();
  int joint;
  def.kind = SCREE_JOINT_DISTANCE;
  def.body[0] = 2;
  def.body[1] = 1;
  def.anchor = scree_body_pose(world, 2).position;
  def.anchor2 = scree_body_pose(world, 1).position;
  OK(scree_world_add_joint(world, &def, &joint));
  run_certified(world, 300);
  scree_CellInfo cell;
  assert_true(scree_world_cell(world, &cell));
  NEAR(cell.side[0].x, 5.01 * d, 1e-5 * d);
  assert_int_equal(scree_world_contact_count(world), 4);
  for (int c = 0; c < 4; ++c)
    NEAR(scree_world_contact(world, c).r[0] / rigid_step, p * area, 1e-3 * p * area);
  NEAR(fabs(scree_world_joint(world, joint).force.x), p * area, 1e-3 * p * area);
  scree_world_destroy(world);
}

static void test_rigid_pressure(void **state) {
  (void)state;
  static const char *const schemes[] = {"moreau-jean", "euler"};
  for (int d = 2; d <= 3; ++d)
    for (int k = 0; k < 2; ++k) {
      rigid_lattice(d, schemes[k]);
      for (int axis = 0; axis < d; ++axis) rigid_row(d, schemes[k], axis);
      joined_row(d, 0.1 * k);
    }
}

/* A rigid gas that is compressed and sheared until it jams: where the cell begins does not matter,
 * a restart and threads give the same bits, momentum across the sheared sides and the energy
 * balance close. */
static void test_jamming(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_CellDef drive = scree_cell_def();
    drive.gradient[1] = 0.5;
    drive.pressure[1] = 3000;
    drive.pressure[0] = 2000;
    scree_World *a = make_gas(d, vec(0, 0, 0), 0.2, 0.4, &drive, 1);
    scree_World *b = make_gas(d, vec(0, 0, 0), 0.2, 0.4, &drive, 2);
    scree_World *c = make_gas(d, vec(0, 0, 0), 0.2, 0.4, &drive, 1);
    run_steps(a, 150);
    const size_t size = scree_world_state_size(a);
    void *saved = malloc(size);
    scree_world_save(a, saved);
    OK(scree_world_restore(c, saved, size));
    free(saved);
    run_certified(a, 150);
    run_steps(b, 300);
    run_steps(c, 150);
    scree_CellInfo cell;
    assert_true(scree_world_cell(a, &cell));
    assert_true(cell.volume < 0.8); /* dense: */
    assert_true(scree_world_contact_count(a) > (d == 2 ? 24 : 120));
    const scree_EnergyBalance e = scree_world_energy(a);
    NEAR(e.closing, 0, 1e-9 * (e.normal + e.friction));
    NEAR(cell.work, e.drivers, 1e-9 * fabs(e.drivers));
    assert_same_poses(a, b);
    assert_same_poses(a, c);
    scree_world_destroy(a);
    scree_world_destroy(b);
    scree_world_destroy(c);
  }
}

/* Compliant disks: every contact carries p d, and the sides are shorter by its compression. */
static void test_pressure(void **state) {
  (void)state;
  const double d = 0.1, p = 1000, compliance = 1e-6;
  scree_PairLaw law = scree_pair_law("compliant");
  OK(scree_pair_law_set(&law, "compliance_n", compliance, &test_log));
  OK(scree_pair_law_set(&law, "compliance_t", compliance, &test_log));
  OK(scree_pair_law_set(&law, "damping", 3e-3, &test_log));
  scree_World *world = make_lattice(&law, d, p);
  run_steps(world, 600);
  scree_CellInfo cell;
  assert_true(scree_world_cell(world, &cell));
  NEAR(cell.side[0].x, 3 * (d - compliance * p * d), 1e-5 * d);
  NEAR(cell.stress[0], -p, 0.02 * p);
  NEAR(cell.stress[4], -p, 0.02 * p);
  NEAR(cell.stress[1], 0, 0.01 * p);
  assert_int_equal(scree_world_contact_count(world), 18);
  for (int c = 0; c < 18; ++c) {
    const scree_Contact contact = scree_world_contact(world, c);
    NEAR(contact.r[0] / 1e-3, p * d, 0.02 * p * d);
  }
  scree_Analysis analysis;
  const scree_Aabb region = {vec(-1, -1, -1), vec(1, 1, 1)};
  OK(scree_world_analyse(world, &region, &analysis));
  NEAR(analysis.stress[0] * analysis.volume, cell.stress[0] * cell.volume, 1e-3 * p * d * d);
  scree_world_destroy(world);
}

/* ---- stress without walls -------------------------------------------------------------------- */

/* The force on a floor under a periodic heap is its weight, wherever the sides are. */
static void test_floor(void **state) {
  (void)state;
  scree_WorldSettings settings = settings_of(3, 2e-3);
  settings.gravity = vec(0, 0, -10);
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  const int floor = add_half_space(world, obstacle_at(0, 0, 0));
  double weight = 0;
  uint64_t random = 3;
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 3; ++y)
      for (int z = 0; z < 3; ++z) {
        const double r = 0.04 + 0.009 * next(&random);
        const int body = add_box(world, r, r, r, at(0.1 * x, 0.1 * y, 0.05 + 0.1 * z));
        weight += 10 * scree_body_mass(world, body);
      }
  set_cell(world, vec(-0.02, -0.07, 0), vec(0.3, 0.3, 0));
  run_steps(world, 300);
  double force = 0;
  for (int c = 0; c < scree_world_contact_count(world); ++c) {
    const scree_Contact contact = scree_world_contact(world, c);
    if (contact.body[0] == floor) force -= contact.r[0] * contact.normal.z / settings.step;
    if (contact.body[1] == floor) force += contact.r[0] * contact.normal.z / settings.step;
  }
  NEAR(force, weight, 0.01 * weight);
  scree_world_destroy(world);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_refused(void **state) {
  (void)state;
  const scree_WorldSettings settings = settings_of(2, 1e-3);
  scree_World *world;
  OK(scree_world_create(&settings, NULL, &world));
  scree_CellInfo info;
  assert_false(scree_world_cell(world, &info));
  scree_CellDef def = scree_cell_def();
  def.size = vec(-1, 0, 0);
  assert_int_equal(scree_world_set_cell(world, &def), SCREE_BAD_INPUT);
  def.size = vec(1, 0, 0);
  def.gradient[1] = 1; /* y is not periodic */
  assert_int_equal(scree_world_set_cell(world, &def), SCREE_BAD_INPUT);
  def.gradient[1] = NAN;
  assert_int_equal(scree_world_set_cell(world, &def), SCREE_BAD_INPUT);
  def.gradient[1] = 0;
  def.pressure[0] = 1; /* no stress without a volume */
  assert_int_equal(scree_world_set_cell(world, &def), SCREE_BAD_INPUT);
  def.pressure[0] = NAN;
  OK(scree_world_set_cell(world, &def));
  OK(scree_world_step(world, NULL));
  assert_int_equal(scree_world_set_cell(world, &def), SCREE_BAD_INPUT);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_collision),         cmocka_unit_test(test_gas),
      cmocka_unit_test(test_translation),       cmocka_unit_test(test_shear),
      cmocka_unit_test(test_shear_translation), cmocka_unit_test(test_drift),
      cmocka_unit_test(test_rigid_pressure),    cmocka_unit_test(test_jamming),
      cmocka_unit_test(test_pressure),          cmocka_unit_test(test_floor),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
