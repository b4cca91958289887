/* Scenes with a known solution, from the papers: 000 section 6.1 (ball on a belt; also in the notch
 * beside one) and 6.2 (ball in a drum), 003 section 3.2 and appendix B (disk falling on an inclined
 * plane); and a pendulum of two blocks. */
#include "test_world_scene.h"

static const double gravity = 9.80665, radius = 2.7e-3, friction = 0.22;

/* The steel ball of 000: a disk in 2D with the mass and inertia of a sphere. */
static scree_BodyDef steel_ball(double x, double y, double speed) {
  scree_BodyDef def = at(x, y, 0);
  def.mass = 8000 * 4.0 / 3 * 3.14159265358979323846 * radius * radius * radius;
  def.inertia.z = 0.4 * def.mass * radius * radius;
  def.velocity.linear.x = speed;
  return def;
}

/* The scheme as 000 prints it. */
static scree_WorldSettings settings_of_000(double step) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.step = step;
  settings.gravity = vec(0, -gravity, 0);
  settings.scheme = "moreau-jean-closed";
  settings.solve.tolerance = 1e-13;
  settings.solve.threads = 1;
  return settings;
}

/* Mean absolute errors over the rolling phase, 000 table 1; `belt` is the speed v1. */
static void roll(double belt, double step_fraction, double *error_v, double *error_w,
                 double *error_x) {
  const double v0 = 1, rolling = fabs(v0 - belt) / (friction * gravity * 3.5);
  const double step = rolling * step_fraction, sign = belt > v0 ? 1 : -1;
  const scree_WorldSettings settings = settings_of_000(step);
  scree_World *world = make_world(&settings, friction, 1, 1);
  const int ball = add_disk(world, radius, steel_ball(0, radius, v0));
  scree_BodyDef plane = obstacle_at(0, 0, 0);
  plane.driver.kind = SCREE_SIGNAL_CONSTANT;
  plane.driver.constant.linear.x = belt;
  plane.belt = true;
  add_half_plane(world, plane);
  const double v1 = v0 + sign * friction * gravity * rolling, w1 = (belt - v1) / radius;
  const double x1 = v0 * rolling + 0.5 * sign * friction * gravity * rolling * rolling;
  const int slides = (int)lround(1 / step_fraction), steps = (int)(1 / step);
  int count = 0;
  *error_v = *error_w = *error_x = 0;
  for (int k = 1; k <= steps; ++k) {
    OK(scree_world_step(world, NULL));
    const scree_Twist v = scree_body_velocity(world, ball);
    if (k == slides / 2) { /* sliding: v and w are linear in time */
      const double t = scree_world_time(world);
      NEAR(v.linear.x, v0 + sign * friction * gravity * t, 1e-11);
      NEAR(v.angular.z * radius, 2.5 * sign * friction * gravity * t, 1e-11);
    }
    if (k <= slides) continue;
    *error_v += fabs(v.linear.x - v1);
    *error_w += fabs(v.angular.z - w1);
    *error_x += fabs(scree_body_pose(world, ball).position.x -
                     (x1 + v1 * (scree_world_time(world) - rolling)));
    ++count;
  }
  *error_v /= count;
  *error_w /= count;
  *error_x /= count;
  const scree_EnergyBalance energy = scree_world_energy(world);
  assert_true(energy.closing < 1e-12 * energy.kinetic * steps);
  scree_world_destroy(world);
}

static void ball_on_belt(void **state) {
  (void)state;
  double v, w, x;
  roll(2, 1e-4, &v, &w, &x);
  print_message("belt, dt = 1.32e-5: errors v %.2e (3.83e-13), w %.2e (2.03e-10), x %.2e "
                "(5.18e-13)\n",
                v, w, x);
  assert_true(v <= 3.83e-13);
  assert_true(w <= 2.03e-10);
  assert_true(x <= 2e-12); /* rounding of a sum of 75 000 steps */
}

/* A ball in the notch between a wall and the round end of a belt, without friction: the surface of
 * a belt moves along itself, so the ball rests as if the belt stood still. */
static void ball_beside_belt(void **state) {
  (void)state;
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.step = 1e-3;
  settings.gravity = vec(0, -gravity, 0);
  settings.solve.threads = 1;
  scree_World *world = make_world(&settings, 0, 0, 0);
  scree_BodyDef end = obstacle_at(0, 0, 0), wall = obstacle_at(-0.16, 0, 0);
  end.driver.kind = SCREE_SIGNAL_CONSTANT;
  end.driver.constant.linear.x = 1;
  end.belt = true;
  const double h = sqrt(0.5);
  wall.pose.orientation = (scree_Quat){h, 0, 0, -h}; /* its free side is x > -0.16 */
  const double x = -0.11, y = sqrt(0.15 * 0.15 - x * x);
  const int ball = add_disk(world, 0.05, at(x, y, 0));
  add_disk(world, 0.1, end);
  add_half_plane(world, wall);
  for (int k = 0; k < 500; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    assert_true(report.certified);
  }
  NEAR(scree_body_pose(world, ball).position.x, x, 1e-6);
  NEAR(scree_body_pose(world, ball).position.y, y, 1e-6);
  assert_true(fabs(scree_world_energy(world).drivers) < 1e-9);
  scree_world_destroy(world);
}

static void ball_on_plane(void **state) {
  (void)state;
  double v, w, x;
  roll(0, 1e-3, &v, &w, &x);
  assert_true(v < 1e-12 && w < 1e-9 && x < 1e-12);
}

/* 000 section 6.2. The ball slides, then rolls like a pendulum; the energy is constant then. */
static void ball_in_drum(void **state) {
  (void)state;
  const double drum = 0.05, step = 2.5e-5;
  scree_WorldSettings settings = settings_of_000(step);
  scree_World *world = make_world(&settings, friction, 1, 1);
  scree_Shape shape;
  const int ball = add_disk(world, radius, steel_ball(0, radius - drum, 0.5));
  OK(scree_shape_init_drum_2d(&shape, drum, &test_log));
  add_shape(world, &shape, obstacle_at(0, 0, 0));
  double low = INFINITY, high = -INFINITY, peak = 0;
  const int steps = 40000; /* 1 s of the paper's 5 s: about three swings */
  for (int k = 1; k <= steps; ++k) {
    OK(scree_world_step(world, NULL));
    if (k < 10000) continue; /* sliding is over well before */
    const scree_EnergyBalance energy = scree_world_energy(world);
    const double total = energy.kinetic + energy.potential;
    low = fmin(low, total);
    high = fmax(high, total);
    peak = fmax(peak, fabs(scree_body_velocity(world, ball).angular.z));
  }
  print_message("drum: energy varies by %.2e J (< 1e-7), peak |w| %.2f (135.1)\n", high - low,
                peak);
  assert_true(high - low < 1e-7);
  assert_true(fabs(peak - 135.1) < 0.1);
  scree_world_destroy(world);
}

/* ---- 003 section 3.2 ------------------------------------------------------------------------- */

static const double slope = 3.14159265358979323846 / 6;

typedef struct Inclined {
  double distance, tangent, angle; /* along n and t from the start, and rotation */
} Inclined;

/* Appendix B with g = R = m = 1 and the gap 1 at the start. */
static Inclined exact(double t, double mu) {
  const double s = sin(slope), c = cos(slope), ti = sqrt(2 / c);
  if (t < ti) return (Inclined){1 - 0.5 * c * t * t, 0.5 * s * t * t, 0};
  const double dt = t - ti;
  Inclined out = {0, 0.5 * s * ti * ti, 0};
  if (mu >= tan(slope) / 3) { /* no slip: a = 2/3 g sin(alpha), v+ = 2/3 v- */
    const double v = 2.0 / 3 * s * ti, moved = v * dt + s / 3 * dt * dt;
    out.tangent += moved;
    out.angle = -moved;
  } else {
    const double v = s * ti - mu * c * ti, a = s - mu * c;
    out.tangent += v * dt + 0.5 * a * dt * dt;
    out.angle = -(2 * mu * c * ti * dt + mu * c * dt * dt);
  }
  return out;
}

/* L2 errors of the position and the angle for one step length. The plane goes down along +t. */
static void fall(const char *scheme, double mu, scree_Flow flow, double step, double *error_x,
                 double *error_a) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.scheme = scheme;
  settings.step = step;
  settings.flow = flow;
  settings.gravity = vec(sin(slope), -cos(slope), 0);
  settings.solve.tolerance = 1e-12;
  settings.solve.threads = 1;
  scree_World *world = make_world(&settings, mu, 0, 0);
  scree_BodyDef def = at(0, 2, 0);
  def.mass = 1;
  const int disk = add_disk(world, 1, def);
  add_half_plane(world, obstacle_at(0, 0, 0));
  double angle = 0;
  *error_x = *error_a = 0;
  for (int k = 1; k * step <= 10 + 1e-9; ++k) {
    OK(scree_world_step(world, NULL));
    const Inclined e = exact(k * step, mu);
    const scree_Vec3 x = scree_body_pose(world, disk).position;
    angle += step * scree_body_velocity(world, disk).angular.z;
    assert_true(x.y >= 1 - 1e-10);
    *error_x += step * (pow(x.y - 1 - e.distance, 2) + pow(x.x - e.tangent, 2));
    *error_a += step * pow(angle - e.angle, 2);
  }
  *error_x = sqrt(*error_x);
  *error_a = sqrt(*error_a);
  scree_world_destroy(world);
}

/* The slope of log(error) over log(step) by least squares, since the time of impact falls anywhere
 * within a step. */
static double order(const char *scheme, double mu, scree_Flow flow, bool angle) {
  enum { N = 6 };
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int k = 0; k < N; ++k) {
    double error[2];
    const double step = 0.1 / (1 << k);
    fall(scheme, mu, flow, step, &error[0], &error[1]);
    const double x = log(step), y = log(error[angle ? 1 : 0]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (N * sxy - sx * sy) / (N * sxx - sx * sx);
}

static void disk_on_inclined_plane(void **state) {
  (void)state;
  const struct {
    const char *name;
    double mu;
    scree_Flow flow;
  } cases[] = {{"affine", 0, SCREE_COULOMB},
               {"convex, rolling", 1, SCREE_ASSOCIATED},
               {"convex, sliding", 0.1, SCREE_ASSOCIATED},
               {"exact, rolling", 1, SCREE_COULOMB},
               {"exact, sliding", 0.1, SCREE_COULOMB}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    const double x = order("euler", cases[k].mu, cases[k].flow, false);
    const double a = cases[k].mu > 0 ? order("euler", cases[k].mu, cases[k].flow, true) : 1;
    print_message("disk on an inclined plane, %s: order %.2f in position, %.2f in angle\n",
                  cases[k].name, x, a);
    assert_true(x > 0.85 && x < 1.2);
    assert_true(a > 0.85 && a < 1.2);
  }
  /* The leapfrog is exact before the impact and after it. The impact takes two steps: position is
   * wrong by up to h v for a time of h, which is h^1.5 in this norm. */
  const double slip[] = {0, 0.1};
  for (int k = 0; k < 2; ++k) {
    const double x = order("moreau-jean", slip[k], SCREE_COULOMB, false);
    print_message("disk on an inclined plane, moreau-jean, mu = %g: order %.2f in position\n",
                  slip[k], x);
    assert_true(x > 1.3 && x < 2.2);
  }
}

/* ---- pendulum of two blocks -------------------------------------------------------------------
 */

/* A block stands with two corners in a smooth drum and carries a second one, held by friction
 * alone. Both corners stay on the circle, so the two swing about its axis as one body of moment J =
 * sum J_k + m_k l_k^2, l_k distances of the centres from the axis: J w' = -g sum m_k l_k sin(angle)
 * ,   period 2 pi / (p agm(1, cos(amplitude / 2))) , p^2 = g sum m_k l_k / J. The force between the
 * blocks is known too: on the upper one N = m (g cos(angle) + l w^2) ,   T = m (g sin(angle) + l
 * w')   along and across the string, and its moment about the upper centre is J_2 w': all three
 * components are compared. */
typedef struct Pendulum {
  double angle, speed;                  /* errors after 5/4 periods, relative */
  double normal, tangent, moment;       /* largest errors of the force over m g, m g and m g l */
  double energy, penetration, friction; /* of energy over the largest kinetic one */
} Pendulum;

typedef struct Blocks {
  int lower, upper;
  double m, J, l, p2; /* of the upper one; p^2 of both */
  double g, h;
} Blocks;

static double mean(double a, double b) {
  return 0.5 * (a + b);
}

/* Force between the blocks in the last step against the closed form at the middle of the step. */
static void compare_force(const scree_World *world, const Blocks *b, double angle, double w,
                          Pendulum *out) {
  const scree_Vec3 centre = vec(b->l * sin(angle), -b->l * cos(angle), 0);
  double normal = 0, tangent = 0, moment = 0;
  for (int k = 0; k < scree_world_contact_count(world); ++k) {
    const scree_Contact c = scree_world_contact(world, k);
    if (c.body[0] != b->lower && c.body[1] != b->lower) continue;
    if (c.body[0] != b->upper && c.body[1] != b->upper) continue;
    const double sign = (c.body[0] == b->upper ? 1 : -1) / b->h;
    const double fx = sign * (c.r[0] * c.normal.x + c.r[1] * c.tangent[0].x);
    const double fy = sign * (c.r[0] * c.normal.y + c.r[1] * c.tangent[0].y);
    normal += -fx * sin(angle) + fy * cos(angle);
    tangent += fx * cos(angle) + fy * sin(angle);
    moment += (c.position.x - centre.x) * fy - (c.position.y - centre.y) * fx;
  }
  const double turn = -b->p2 * sin(angle), weight = b->m * b->g;
  const double N = b->m * (b->g * cos(angle) + b->l * w * w);
  const double T = b->m * (b->g * sin(angle) + b->l * turn);
  out->normal = fmax(out->normal, fabs(normal - N) / weight);
  out->tangent = fmax(out->tangent, fabs(tangent - T) / weight);
  out->moment = fmax(out->moment, fabs(moment - b->J * turn) / (weight * b->l));
}

static double agm(double a, double b) {
  for (int k = 0; k < 8; ++k) {
    const double c = sqrt(a * b);
    a = mean(a, b);
    b = c;
  }
  return a;
}

static Pendulum swing(const char *scheme, double e, int steps_per_period) {
  const double pi = 3.14159265358979323846, start = 0.6, g = 9.81, floor = sqrt(1 - 0.3 * 0.3);
  const double half[2][2] = {{0.3, 0.05}, {0.15, 0.1}}, l[2] = {floor - 0.05, floor - 0.2};
  double ml = 0, J = 0;
  for (int k = 0; k < 2; ++k) {
    const double m = 1000 * 4 * half[k][0] * half[k][1];
    ml += m * l[k];
    J += m * (l[k] * l[k] + (half[k][0] * half[k][0] + half[k][1] * half[k][1]) / 3);
  }
  const double p = sqrt(g * ml / J), period = 2 * pi / (p * agm(1, cos(start / 2)));
  scree_WorldSettings settings = settings_of_000(period / steps_per_period);
  settings.scheme = scheme;
  settings.gravity = vec(0, -g, 0);
  settings.gap_tolerance = 1e-2; /* closed contacts only: one that turns stays a contact */
  /* Forces jump a little when overlap is corrected that the turn of the corners in the drum leaves:
   * tolerate less of it than by default. */
  if (strcmp(scheme, "moreau-jean-closed") != 0) settings.penetration = 1e-6;
  settings.solve.tolerance = 1e-11;
  scree_World *world = make_world(&settings, 0, e, e);
  int wood;
  const scree_PairLaw law = scree_pair_law_coulomb(0.5, e, e);
  OK(scree_world_add_material(world, &wood));
  OK(scree_world_set_pair_law(world, wood, wood, &law));
  scree_Shape shape;
  OK(scree_shape_init_drum_2d(&shape, 1, &test_log));
  add_shape(world, &shape, obstacle_at(0, 0, 0));
  Blocks b = {.l = l[1], .p2 = p * p, .g = g, .h = settings.step};
  for (int k = 0; k < 2; ++k) {
    scree_BodyDef def = at(l[k] * sin(start), -l[k] * cos(start), 0);
    def.pose.orientation = turned(start);
    def.material = wood;
    b.lower = b.upper;
    b.upper = add_rectangle(world, half[k][0], half[k][1], def);
  }
  b.m = scree_body_mass(world, b.upper);
  b.J = scree_body_inertia(world, b.upper).z;
  const scree_EnergyBalance first = scree_world_energy(world);
  Pendulum out = {0};
  double angle = start, w = 0, kinetic = 0;
  for (int k = 0; k < steps_per_period * 5 / 4; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    const scree_Pose pose = scree_body_pose(world, b.lower);
    const double angle1 = 2 * atan2(pose.orientation.z, pose.orientation.w);
    const double w1 = scree_body_velocity(world, b.lower).angular.z;
    compare_force(world, &b, mean(angle, angle1), mean(w, w1), &out);
    angle = angle1;
    w = w1;
    out.penetration = fmax(out.penetration, report.penetration);
    kinetic = fmax(kinetic, report.energy.kinetic);
  }
  const scree_EnergyBalance last = scree_world_energy(world);
  const double change = last.kinetic + last.potential - first.kinetic - first.potential;
  out.energy = fabs(change) / kinetic;
  out.friction = fabs(last.friction) / kinetic;
  out.angle = fabs(angle) / start;
  out.speed = fabs(w / (2 * p * sin(start / 2)) + 1); /* it swings back */
  scree_world_destroy(world);
  return out;
}

/* Orders in the step from two runs. */
static void check_swing(const char *scheme, double e, double order_angle, double order_speed,
                        const Pendulum *most) {
  const Pendulum a = swing(scheme, e, 200), b = swing(scheme, e, 400);
  const double angle = log2(a.angle / b.angle), speed = log2(a.speed / b.speed);
  print_message("pendulum of two blocks, %s, e = %g: order %.2f in angle, %.2f in speed; errors: "
                "angle %.1e, speed %.1e, force %.1e %.1e %.1e, energy %.1e, friction %.1e, "
                "penetration %.1e\n",
                scheme, e, angle, speed, b.angle, b.speed, b.normal, b.tangent, b.moment, b.energy,
                b.friction, b.penetration);
  assert_true(angle > order_angle - 0.1 && speed > order_speed - 0.1);
  assert_true(b.angle < most->angle && b.speed < most->speed && b.energy < most->energy);
  assert_true(b.normal < most->normal && b.tangent < most->tangent && b.moment < most->moment);
  assert_true(b.friction < most->friction && b.penetration < most->penetration);
}

static void pendulum_of_two_blocks(void **state) {
  (void)state;
  /* what returns is what came: the midpoint rule shows its second order */
  check_swing("moreau-jean-closed", 1, 2, 2,
              &(Pendulum){.angle = 3e-6,
                          .speed = 3e-6,
                          .normal = 1e-4,
                          .tangent = 1e-4,
                          .moment = 1e-4,
                          .energy = 1e-9,
                          .friction = 1e-10,
                          .penetration = 3e-4});
  /* with the gap in the law also when nothing returns */
  check_swing("moreau-jean", 0, 2, 2,
              &(Pendulum){.angle = 3e-4,
                          .speed = 1e-4,
                          .normal = 2e-4,
                          .tangent = 1e-4,
                          .moment = 1e-4,
                          .energy = 3e-4,
                          .friction = 1e-7,
                          .penetration = 1e-6});
  /* restitution changes nothing: a contact that stays closed along a curve is no impact */
  check_swing("moreau-jean", 1, 2, 2,
              &(Pendulum){.angle = 3e-4,
                          .speed = 1e-4,
                          .normal = 2e-4,
                          .tangent = 1e-4,
                          .moment = 1e-4,
                          .energy = 3e-4,
                          .friction = 1e-7,
                          .penetration = 1e-6});
  check_swing("euler", 0, 1, 2,
              &(Pendulum){.angle = 1e-2,
                          .speed = 1e-4,
                          .normal = 1e-2,
                          .tangent = 1e-2,
                          .moment = 1e-2,
                          .energy = 3e-4,
                          .friction = 1e-7,
                          .penetration = 1e-6});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ball_on_belt),           cmocka_unit_test(ball_beside_belt),
      cmocka_unit_test(ball_on_plane),          cmocka_unit_test(ball_in_drum),
      cmocka_unit_test(disk_on_inclined_plane), cmocka_unit_test(pendulum_of_two_blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
