/* Joints against closed forms: pendulums, chains, linkages, a gyroscope, motors, springs, stops. */
#include "test_world_scene.h"

static const double PI = 3.141592653589793238462643;

static scree_WorldSettings settings_of(int dimension, double step, double g) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = dimension;
  settings.step = step;
  settings.gravity = dimension == 2 ? vec(0, -g, 0) : vec(0, 0, -g);
  settings.solve.threads = 1;
  return settings;
}

static int add_joint(scree_World *world, scree_JointDef def) {
  int joint;
  OK(scree_world_add_joint(world, &def, &joint));
  return joint;
}

static scree_JointDef joint_at(scree_JointKind kind, int a, int b, scree_Vec3 anchor) {
  scree_JointDef def = scree_joint_def();
  def.kind = kind;
  def.body[0] = a;
  def.body[1] = b;
  def.anchor = anchor;
  return def;
}

static double energy_of(const scree_World *world) {
  const scree_EnergyBalance e = scree_world_energy(world);
  return e.kinetic + e.potential + e.elastic;
}

/* ---- pendulums ------------------------------------------------------------------------------- */

/* Period of a pendulum with the reduced length l at an amplitude, by the arithmetic-geometric mean.
 */
static double period_of(double l, double g, double amplitude) {
  double a = 1, b = cos(amplitude / 2);
  for (int k = 0; k < 10; ++k) {
    const double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return 2 * PI * sqrt(l / g) / a;
}

/* A rod on a hinge, released at rest at an angle: the first return of its speed to zero is half a
 * period. Returns the relative error of the period. */
static double swing(int dimension, double amplitude, double step, double *drift, double *gap) {
  const double g = 10, half = 0.5;
  const scree_WorldSettings settings = settings_of(dimension, step, g);
  scree_World *world = make_world(&settings, 0, 0, 0);
  const double x = half * sin(amplitude), y = -half * cos(amplitude);
  scree_BodyDef def = dimension == 2 ? at(x, y, 0) : at(x, 0, y);
  scree_Vec3 moments;
  int rod, support;
  if (dimension == 2) {
    def.pose.orientation = turned(amplitude);
    support = add_disk(world, 0.1, obstacle_at(0, 0, 0));
    rod = add_rectangle(world, 0.02, half, def);
  } else {
    def.pose.orientation = (scree_Quat){cos(amplitude / 2), 0, -sin(amplitude / 2), 0};
    support = add_sphere(world, 0.1, obstacle_at(0, 0, 0));
    rod = add_box(world, 0.02, 0.05, half, def);
  }
  moments = scree_body_inertia(world, rod);
  const double m = scree_body_mass(world, rod), J = dimension == 2 ? moments.z : moments.y;
  scree_JointDef hinge = joint_at(SCREE_JOINT_HINGE, rod, support, vec(0, 0, 0));
  hinge.axis = dimension == 2 ? vec(0, 0, 1) : vec(0, 1, 0);
  const int joint = add_joint(world, hinge);
  const double period = period_of((J + m * half * half) / (m * half), g, amplitude);
  const double start = energy_of(world), swing_energy = m * g * half * (1 - cos(amplitude));
  double last = 0, found = 0;
  *drift = *gap = 0;
  while (found == 0) {
    run_steps(world, 1);
    const scree_JointState state = scree_world_joint(world, joint);
    const double now = scree_world_time(world);
    if (now > 0.25 * period && last * state.velocity <= 0 && last != 0)
      found = now - step * state.velocity / (state.velocity - last);
    last = state.velocity;
    *drift = fmax(*drift, fabs(energy_of(world) - start) / swing_energy);
    *gap = fmax(*gap, state.error);
  }
  scree_world_destroy(world);
  return fabs(2 * found - period) / period;
}

static void pendulum(void **state) {
  (void)state;
  for (int dimension = 2; dimension <= 3; ++dimension)
    for (int large = 0; large < 2; ++large) {
      double drift[2], gap, error[2];
      const double amplitude = large ? 2.5 : 0.01;
      error[0] = swing(dimension, amplitude, 4e-3, &drift[0], &gap);
      error[1] = swing(dimension, amplitude, 2e-3, &drift[1], &gap);
      print_message(
          "pendulum %dD, amplitude %g: period off by %.1e and %.1e, energy %.1e and %.1e, "
          "joint %.1e\n",
          dimension, amplitude, error[0], error[1], drift[0], drift[1], gap);
      assert_true(error[1] < 2e-5 && drift[1] < 1e-3);
      assert_true(drift[1] < 0.3 * drift[0]); /* second order, and it does not grow */
    }
}

/* At the kicks a joint is closed to round-off; between them, where states are read, the bodies
 * have moved along chords. */
static void no_drift(void **state) {
  (void)state;
  const scree_WorldSettings settings = settings_of(2, 5e-4, 10);
  scree_World *world = make_world(&settings, 0, 0, 0);
  const int support = add_disk(world, 0.1, obstacle_at(0, 0, 0));
  int last = support;
  for (int k = 0; k < 5; ++k) {
    const int rod = add_rectangle(world, 0.1, 0.01, at(0.2 * k + 0.1, 0, 0));
    add_joint(world, joint_at(SCREE_JOINT_HINGE, rod, last, vec(0.2 * k, 0, 0)));
    last = rod;
  }
  double worst = 0;
  for (int k = 0; k < 2000; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    assert_int_equal(report.joints, 5);
    worst = fmax(worst, report.joint_error);
  }
  print_message("whip of 5 rods, 1 s: joints open by %.1e of their size\n", worst);
  assert_true(worst < 1e-11);
  scree_world_destroy(world);
}

/* ---- statics --------------------------------------------------------------------------------- */

/* A chain of 100 links with a mass ratio of 1000 at its end: reactions are the weight below. The
 * step resolves the oscillation of a link under that tension, sqrt(4 T / (m l)) = 660 /s. */
static void chain(void **state) {
  (void)state;
  for (int dimension = 2; dimension <= 3; ++dimension) {
    const double g = 10;
    const scree_WorldSettings settings = settings_of(dimension, 1e-3, g);
    scree_World *world = make_world(&settings, 0, 0, 0);
    scree_BodyDef def = obstacle_at(0, 0, 0);
    int last = dimension == 2 ? add_disk(world, 0.02, def) : add_sphere(world, 0.02, def), top = -1;
    double weight = 0;
    for (int k = 0; k < 100; ++k) {
      def = dimension == 2 ? at(0, -0.1 * k - 0.05, 0) : at(0, 0, -0.1 * k - 0.05);
      def.mass = k == 99 ? 1000 : 1;
      const int link = dimension == 2 ? add_disk(world, 0.05, def) : add_sphere(world, 0.05, def);
      scree_JointDef joint =
          joint_at(dimension == 2 ? SCREE_JOINT_HINGE : SCREE_JOINT_BALL, link, last,
                   dimension == 2 ? vec(0, -0.1 * k, 0) : vec(0, 0, -0.1 * k));
      const int made = add_joint(world, joint);
      if (k == 0) top = made;
      weight += def.mass * g;
      last = link;
    }
    run_steps(world, 200);
    const scree_JointState reaction = scree_world_joint(world, top);
    const double force = dimension == 2 ? reaction.force.y : reaction.force.z;
    print_message("chain %dD: reaction off by %.1e\n", dimension, fabs(force - weight) / weight);
    NEAR(force, weight, 1e-8 * weight);
    scree_world_destroy(world);
  }
}

/* The same chain let go at an angle: in every step its joints hold, and the reaction at the top is
 * what the momentum of all links asks for. */
static void swinging_chain(void **state) {
  (void)state;
  enum { LINKS = 100, STEPS = 400 };
  const double g = 10, h = 5e-4, angle = 0.3;
  const scree_WorldSettings settings = settings_of(2, h, g);
  scree_World *world = make_world(&settings, 0, 0, 0);
  int last = add_disk(world, 0.02, obstacle_at(0, 0, 0)), top = -1;
  double mass = 0, momentum[2] = {0, 0}, worst = 0, open = 0;
  for (int k = 0; k < LINKS; ++k) {
    const double l = 0.1 * k, x = sin(angle), y = -cos(angle);
    scree_BodyDef def = at((l + 0.05) * x, (l + 0.05) * y, 0);
    def.mass = k == LINKS - 1 ? 1000 : 1;
    mass += def.mass;
    const int link = add_disk(world, 0.05, def);
    const int made =
        add_joint(world, joint_at(SCREE_JOINT_HINGE, link, last, vec(l * x, l * y, 0)));
    if (k == 0) top = made;
    last = link;
  }
  for (int n = 0; n < STEPS; ++n) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    open = fmax(open, report.joint_error);
    double now[2] = {0, 0};
    for (int k = 1; k <= LINKS; ++k) {
      const scree_Vec3 v = scree_body_velocity(world, k).linear;
      now[0] += scree_body_mass(world, k) * v.x;
      now[1] += scree_body_mass(world, k) * v.y;
    }
    const scree_Vec3 force = scree_world_joint(world, top).force;
    worst = fmax(worst, hypot(now[0] - momentum[0] - h * force.x,
                              now[1] - momentum[1] - h * (force.y - mass * g)));
    memcpy(momentum, now, sizeof now);
  }
  print_message("swinging chain: reactions off by %.1e, joints open by %.1e of their size\n",
                worst / (h * mass * g), open);
  assert_true(worst < 1e-8 * h * mass * g && open < 1e-8);
  assert_true(momentum[0] < -0.1 * mass * g * sin(angle) * h * STEPS); /* it swings */
  scree_world_destroy(world);
}

/* A beam clamped to a wall: force and torque of the clamp. */
static void clamp(void **state) {
  (void)state;
  const scree_WorldSettings settings = settings_of(3, 1e-2, 10);
  scree_World *world = make_world(&settings, 0, 0, 0);
  const int wall = add_box(world, 0.1, 1, 1, obstacle_at(-0.1, 0, 0));
  scree_BodyDef def = at(0.5, 0, 0);
  def.mass = 3;
  const int beam = add_box(world, 0.5, 0.05, 0.05, def);
  const int joint = add_joint(world, joint_at(SCREE_JOINT_FIXED, beam, wall, vec(0, 0, 0)));
  run_steps(world, 50);
  const scree_JointState reaction = scree_world_joint(world, joint);
  NEAR(reaction.force.z, 30, 1e-8);
  NEAR(reaction.torque.y, -15, 1e-8);
  NEAR(scree_body_pose(world, beam).position.z, 0, 1e-12);
  scree_world_destroy(world);
}

/* ---- linkages -------------------------------------------------------------------------------- */

/* A parallelogram of three bars on two supports: the coupler stays parallel, and the whole swings
 * as a pendulum, with its period. Closed loops have no more unknowns than others. */
static void four_bar(void **state) {
  (void)state;
  const scree_WorldSettings settings = settings_of(2, 1e-3, 10);
  scree_World *world = make_world(&settings, 0, 0, 0);
  const int ground = add_rectangle(world, 2, 0.01, obstacle_at(0, 0, 0));
  const double angle = 0.5, l = 0.4;
  const double dx = l * sin(angle), dy = -l * cos(angle);
  int bar[3], first = -1;
  for (int k = 0; k < 2; ++k) {
    scree_BodyDef def = at(0.6 * k + dx / 2, dy / 2, 0);
    def.pose.orientation = turned(angle);
    bar[k] = add_rectangle(world, 0.02, l / 2, def);
    first = add_joint(world, joint_at(SCREE_JOINT_HINGE, bar[k], ground, vec(0.6 * k, 0, 0)));
  }
  bar[2] = add_rectangle(world, 0.3, 0.02, at(0.3 + dx, dy, 0));
  for (int k = 0; k < 2; ++k)
    add_joint(world, joint_at(SCREE_JOINT_HINGE, bar[2], bar[k], vec(0.6 * k + dx, dy, 0)));
  const double m = scree_body_mass(world, bar[0]), coupler = scree_body_mass(world, bar[2]);
  const double J = 2 * (scree_body_inertia(world, bar[0]).z + m * l * l / 4) + coupler * l * l;
  const double period = period_of(J / ((m + coupler) * l), 10, angle);
  const double start = energy_of(world), height = (m + coupler) * 10 * l * (1 - cos(angle));
  double drift = 0, last = 0, half = 0;
  for (int k = 0; k < 1500; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    assert_true(report.joint_error < 1e-11);
    NEAR(scree_body_pose(world, bar[2]).orientation.z, 0, 1e-6);
    drift = fmax(drift, fabs(energy_of(world) - start));
    const double rate = scree_world_joint(world, first).velocity, now = scree_world_time(world);
    if (half == 0 && now > 0.25 * period && rate * last <= 0)
      half = now - settings.step * rate / (rate - last);
    last = rate;
  }
  print_message("four bars: period off by %.1e, energy %.1e\n", 2 * half / period - 1,
                drift / height);
  NEAR(2 * half, period, 1e-5 * period);
  assert_true(drift < 1e-4 * height);
  scree_world_destroy(world);
}

/* Up to speed in 0.2 s. */
static double ramp(void *user, double time) {
  return *(const double *)user * fmin(1, time / 0.2);
}

/* A crank turned by a motor pushes a slider: its place is known at every angle. */
static void slider_crank(void **state) {
  (void)state;
  const double r = 0.2, l = 0.5;
  double speed = 3;
  const scree_WorldSettings settings = settings_of(2, 1e-3, 10);
  scree_World *world = make_world(&settings, 0, 0, 0);
  const int ground = add_rectangle(world, 2, 0.01, obstacle_at(0, -1, 0));
  const int crank = add_rectangle(world, r / 2, 0.02, at(r / 2, 0, 0));
  const int rod = add_rectangle(world, l / 2, 0.01, at(r + l / 2, 0, 0));
  const int block = add_rectangle(world, 0.05, 0.05, at(r + l, 0, 0));
  scree_JointDef def = joint_at(SCREE_JOINT_HINGE, crank, ground, vec(0, 0, 0));
  def.motor = (scree_Motor){.kind = SCREE_MOTOR_VELOCITY, .function = ramp, .user = &speed};
  const int motor = add_joint(world, def);
  add_joint(world, joint_at(SCREE_JOINT_HINGE, rod, crank, vec(r, 0, 0)));
  add_joint(world, joint_at(SCREE_JOINT_HINGE, block, rod, vec(r + l, 0, 0)));
  def = joint_at(SCREE_JOINT_SLIDER, block, ground, vec(r + l, 0, 0));
  def.axis = vec(1, 0, 0);
  const int guide = add_joint(world, def);
  for (int k = 0; k < 2500; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    assert_true(report.joint_error < 1e-10);
    const double a = scree_world_joint(world, motor).x;
    const double x = r * cos(a) + sqrt(l * l - r * r * sin(a) * sin(a));
    NEAR(scree_body_pose(world, block).position.x, x, 2e-5); /* read between two kicks */
    NEAR(scree_world_joint(world, guide).x, x - r - l, 2e-5);
  }
  /* angles count turns: 7.2 rad are more than one */
  NEAR(scree_world_joint(world, motor).x, speed * (scree_world_time(world) - 0.1), 5e-3);
  const scree_EnergyBalance e = scree_world_energy(world);
  assert_true(fabs(e.closing) < 1e-9 && e.drivers > 0);
  scree_world_destroy(world);
}

/* A top on a ball joint whose axis is level precesses at m g l / (J w). */
static void gyroscope(void **state) {
  (void)state;
  const double g = 10, l = 0.2, w = 400;
  const scree_WorldSettings settings = settings_of(3, 1e-4, g);
  scree_World *world = make_world(&settings, 0, 0, 0);
  const int support = add_sphere(world, 0.05, obstacle_at(0, 0, 0));
  scree_BodyDef def = at(l, 0, 0);
  def.mass = 1;
  def.inertia = vec(0.02, 0.012, 0.012); /* about x, along which it spins */
  const double rate = def.mass * g * l / (def.inertia.x * w);
  def.velocity.angular = vec(w, 0, rate);
  def.velocity.linear = vec(0, rate * l, 0);
  const int top = add_sphere(world, 0.1, def);
  add_joint(world, joint_at(SCREE_JOINT_BALL, top, support, vec(0, 0, 0)));
  run_steps(world, 3000);
  const scree_Vec3 x = scree_body_pose(world, top).position;
  const double angle = atan2(x.y, x.x), time = scree_world_time(world);
  print_message("gyroscope: turned by %.6f, expected %.6f; height %.1e\n", angle, rate * time, x.z);
  NEAR(angle, rate * time, 1e-5 * rate * time); /* the axis is level: exact at any speed */
  NEAR(x.z, 0, 1e-6 * l);
  scree_world_destroy(world);
}

/* ---- the free coordinate --------------------------------------------------------------------- */

/* A block on a slider along x, without gravity. */
static scree_World *make_slider(double step, double mass, scree_JointDef with, int *joint) {
  const scree_WorldSettings settings = settings_of(3, step, 0);
  scree_World *world = make_world(&settings, 0, 0, 0);
  const int rail = add_box(world, 5, 0.01, 0.01, obstacle_at(0, 0, -0.2));
  scree_BodyDef def = at(0, 0, 0);
  def.mass = mass;
  const int block = add_box(world, 0.1, 0.1, 0.1, def);
  with.kind = SCREE_JOINT_SLIDER;
  with.body[0] = block;
  with.body[1] = rail;
  with.axis = vec(1, 0, 0);
  *joint = add_joint(world, with);
  return world;
}

/* m x'' + c x' + k x = 0 from x0 at rest. */
static double oscillator(double m, double c, double k, double x0, double t) {
  const double a = c / (2 * m), w = sqrt(k / m - a * a);
  return x0 * exp(-a * t) * (cos(w * t) + a / w * sin(w * t));
}

static void springs(void **state) {
  (void)state;
  double error[2];
  for (int fine = 0; fine < 2; ++fine) {
    const double m = 2, k = 50, c = 1, step = fine ? 5e-3 : 1e-2;
    scree_JointDef def = scree_joint_def();
    def.stiffness = k;
    def.damping = c;
    def.rest = -0.3;
    int joint;
    scree_World *world = make_slider(step, m, def, &joint);
    error[fine] = 0;
    double dissipated = 0;
    while (scree_world_time(world) < 3) {
      run_steps(world, 1);
      const double x = scree_world_joint(world, joint).x, t = scree_world_time(world);
      error[fine] = fmax(error[fine], fabs(x + 0.3 - oscillator(m, c, k, 0.3, t)));
      assert_true(scree_world_energy(world).friction >= dissipated);
      dissipated = scree_world_energy(world).friction;
    }
    const scree_EnergyBalance e = scree_world_energy(world);
    NEAR(e.kinetic + e.elastic + e.friction, 0.5 * k * 0.09, 1e-9 * 0.5 * k * 0.09);
    assert_true(fabs(e.closing) < 1e-12);
    scree_world_destroy(world);
  }
  print_message("damped spring: off by %.1e and %.1e of 0.3\n", error[0], error[1]);
  assert_true(error[0] < 1e-3 && error[1] < 0.3 * error[0]);
  /* a spring far too stiff for the step holds, and a soft one does not disturb the error */
  for (int soft = 0; soft < 2; ++soft) {
    scree_JointDef def = scree_joint_def();
    def.stiffness = soft ? 1e-6 : 1e12;
    def.rest = 0;
    def.motor = (scree_Motor){.kind = SCREE_MOTOR_NONE};
    int joint;
    scree_World *world = make_slider(1e-2, 1, def, &joint);
    run_steps(world, 100);
    NEAR(scree_world_joint(world, joint).x, 0, 1e-9);
    scree_world_destroy(world);
  }
}

/* A mass on a spring between two points in the plane hangs at m g / k. */
static void hanging(void **state) {
  (void)state;
  const scree_WorldSettings settings = settings_of(2, 1e-2, 10);
  scree_World *world = make_world(&settings, 0, 0, 0);
  const int hook = add_disk(world, 0.1, obstacle_at(0, 0, 0));
  scree_BodyDef body = at(0, -1, 0);
  body.mass = 3;
  const int ball = add_disk(world, 0.1, body);
  scree_JointDef def = joint_at(SCREE_JOINT_SPRING, ball, hook, vec(0, -1, 0));
  def.stiffness = 100;
  def.damping = 20;
  const int joint = add_joint(world, def);
  run_steps(world, 1500);
  NEAR(scree_world_joint(world, joint).x, 1.3, 1e-6);
  NEAR(scree_world_joint(world, joint).force.y, 30, 1e-4);
  scree_world_destroy(world);
}

/* A motor that may apply at most F accelerates by F/m until it has its speed. */
static void motors(void **state) {
  (void)state;
  scree_JointDef def = scree_joint_def();
  def.motor = (scree_Motor){.kind = SCREE_MOTOR_VELOCITY, .target = 2, .force = 6};
  int joint;
  scree_World *world = make_slider(1e-2, 3, def, &joint);
  run_steps(world, 50);
  NEAR(scree_world_joint(world, joint).velocity, 1, 1e-9); /* 2 m/s^2 for 0.5 s */
  NEAR(scree_world_joint(world, joint).effort, 6, 1e-9);
  run_steps(world, 100);
  NEAR(scree_world_joint(world, joint).velocity, 2, 1e-9);
  NEAR(scree_world_joint(world, joint).effort, 0, 1e-7);
  NEAR(scree_world_energy(world).drivers, 0.5 * 3 * 4, 1e-9);
  const scree_Motor back = {.kind = SCREE_MOTOR_POSITION, .target = 0.25};
  OK(scree_world_set_motor(world, joint, &back));
  run_steps(world, 3);
  NEAR(scree_world_joint(world, joint).x, 0.25, 1e-9);
  scree_world_destroy(world);
}

/* Dry friction takes F d; the block stops after m v^2 / (2 F) and stays. */
static void friction(void **state) {
  (void)state;
  scree_JointDef def = scree_joint_def();
  def.friction = 4;
  int joint;
  scree_World *world = make_slider(1e-3, 2, def, &joint);
  const scree_Twist v = {{3, 0, 0}, {0, 0, 0}};
  OK(scree_body_set_velocity(world, 1, &v));
  run_steps(world, 2000);
  const double x = scree_world_joint(world, joint).x;
  NEAR(x, 2 * 9 / (2 * 4.0), 4e-3);
  NEAR(scree_world_energy(world).friction, 9, 1e-3);
  run_steps(world, 100);
  NEAR(scree_world_joint(world, joint).x, x, 1e-12);
  scree_world_destroy(world);
}

static void stops(void **state) {
  (void)state;
  for (int bounce = 0; bounce < 2; ++bounce) {
    scree_JointDef def = scree_joint_def();
    def.lower = -0.2;
    def.upper = 0.5;
    def.restitution = bounce ? 0.5 : 0;
    int joint;
    scree_World *world = make_slider(1e-3, 2, def, &joint);
    const scree_Twist v = {{3, 0, 0}, {0, 0, 0}};
    OK(scree_body_set_velocity(world, 1, &v));
    for (int k = 0; k < 400; ++k) {
      run_steps(world, 1);
      const double x = scree_world_joint(world, joint).x;
      assert_true(x <= 0.5 + 1e-9 && x >= -0.2 - 1e-9);
    }
    const scree_JointState now = scree_world_joint(world, joint);
    NEAR(now.velocity, bounce ? -1.5 : 0, 1e-9);
    if (!bounce) NEAR(now.x, 0.5, 1e-9);
    NEAR(scree_world_energy(world).normal, 9 - 0.25 * 9 * bounce, 1e-9);
    scree_world_destroy(world);
  }
}

/* ---- with contacts, and restarts ------------------------------------------------------------- */

/* A cart: a box on two driven wheels rolls over the ground; wheels do not touch their box. */
static scree_World *make_cart(int threads) {
  scree_WorldSettings settings = settings_of(2, 2e-3, 10);
  settings.solve.threads = threads;
  scree_World *world = make_world(&settings, 0.8, 0, 0);
  add_half_plane(world, obstacle_at(0, 0, 0));
  const int box = add_rectangle(world, 0.5, 0.1, at(0, 0.25, 0));
  for (int k = 0; k < 2; ++k) {
    const double x = k ? 0.4 : -0.4;
    const int wheel = add_disk(world, 0.15, at(x, 0.15, 0));
    scree_JointDef def = joint_at(SCREE_JOINT_HINGE, wheel, box, vec(x, 0.15, 0));
    def.motor = (scree_Motor){.kind = SCREE_MOTOR_VELOCITY, .target = -4};
    add_joint(world, def);
  }
  return world;
}

static void cart(void **state) {
  (void)state;
  scree_World *world = make_cart(1), *other = make_cart(2);
  run_steps(world, 300);
  run_steps(other, 300);
  NEAR(scree_body_velocity(world, 1).linear.x, 0.6, 1e-3);
  const size_t size = scree_world_state_size(world);
  char *saved[2] = {malloc(size), malloc(size)};
  assert_int_equal(scree_world_state_size(other), size);
  scree_world_save(world, saved[0]);
  scree_world_save(other, saved[1]);
  assert_memory_equal(saved[0], saved[1], size); /* any number of threads */
  run_steps(world, 100);
  OK(scree_world_restore(other, saved[0], size));
  run_steps(other, 100);
  assert_int_equal(scree_world_state_size(other), scree_world_state_size(world));
  char *now[2] = {malloc(scree_world_state_size(world)), malloc(scree_world_state_size(world))};
  scree_world_save(world, now[0]);
  scree_world_save(other, now[1]);
  assert_memory_equal(now[0], now[1], scree_world_state_size(world)); /* a restart */
  for (int k = 0; k < 2; ++k) {
    free(saved[k]);
    free(now[k]);
  }
  scree_world_destroy(world);
  scree_world_destroy(other);
}

/* ---- bad descriptions ------------------------------------------------------------------------ */

static char message[1000];

static void keep_message(void *user, scree_LogLevel level, const char *text) {
  (void)user;
  if (level == SCREE_LOG_ERROR) snprintf(message, sizeof message, "%s", text);
}

static void refused(scree_World *world, scree_JointDef def, const char *part) {
  message[0] = '\0';
  assert_int_equal(scree_world_add_joint(world, &def, NULL), SCREE_BAD_INPUT);
  if (!strstr(message, part)) fail_msg("\"%s\" does not contain \"%s\"", message, part);
}

static void bad(void **state) {
  (void)state;
  const scree_Log log = {keep_message, NULL};
  const scree_WorldSettings settings = settings_of(2, 1e-3, 10);
  scree_World *world;
  OK(scree_world_create(&settings, &log, &world));
  add_disk(world, 0.1, obstacle_at(0, 0, 0));
  add_disk(world, 0.1, obstacle_at(1, 0, 0));
  add_disk(world, 0.1, at(2, 0, 0));
  const scree_JointDef good = joint_at(SCREE_JOINT_HINGE, 2, 0, vec(0, 0, 0));
  scree_JointDef def = good;
  def.body[1] = 3;
  refused(world, def, "body 3, expected 0 to 2");
  def.body[1] = 2;
  refused(world, def, "with itself");
  def.body[0] = 1;
  def.body[1] = 0;
  refused(world, def, "neither of the bodies 1 and 0 can move");
  def = good;
  def.kind = SCREE_JOINT_BALL;
  refused(world, def, "joint: ball in 2D, expected a kind that exists there");
  def = good;
  def.kind = SCREE_JOINT_FIXED;
  def.stiffness = 1;
  refused(world, def, "no free coordinate");
  def = good;
  def.lower = 1;
  def.upper = 0;
  refused(world, def, "lower <= upper");
  def = good;
  def.friction = -1;
  refused(world, def, "friction of a hinge is -1");
  def = good;
  def.anchor.x = NAN;
  refused(world, def, "not finite");
  def = good;
  def.kind = SCREE_JOINT_DISTANCE;
  def.anchor2 = def.anchor;
  refused(world, def, "at one point");
  assert_int_equal(scree_world_joint_count(world), 0);
  assert_true(isnan(scree_world_joint(world, 0).x));
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum),       cmocka_unit_test(no_drift),  cmocka_unit_test(chain),
      cmocka_unit_test(swinging_chain), cmocka_unit_test(clamp),     cmocka_unit_test(four_bar),
      cmocka_unit_test(slider_crank),   cmocka_unit_test(gyroscope), cmocka_unit_test(springs),
      cmocka_unit_test(hanging),        cmocka_unit_test(motors),    cmocka_unit_test(friction),
      cmocka_unit_test(stops),          cmocka_unit_test(cart),      cmocka_unit_test(bad),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
