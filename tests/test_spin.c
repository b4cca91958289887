/* Bodies that spin and roll on curved constraints, with friction that sticks and should do no work:
 * a top on its tip, a coin that rolls on its edge (Euler's disk), a ball that rolls around the
 * inside of an upright drum, an ellipsoid and an ellipse that rock on a plane. All but the
 * ellipsoid have a closed solution; errors are of second order in the step, the energy is kept, and
 * every step is certified.
 */
#include "test_world_scene.h"

static const double g = 9.81;

static scree_WorldSettings settings_with(const char *scheme, double step) {
  scree_WorldSettings settings = scree_world_settings();
  settings.step = step;
  settings.scheme = scheme;
  settings.gravity = vec(0, 0, -g);
  settings.solve.threads = 1;
  return settings;
}

static scree_Quat turned_y(double angle) {
  return (scree_Quat){cos(angle / 2), 0, sin(angle / 2), 0};
}

static double energy_of(const scree_World *world) {
  const scree_EnergyBalance e = scree_world_energy(world);
  return e.kinetic + e.potential;
}

typedef struct Result {
  double error;  /* of the motion, relative */
  double energy; /* lost or gained, over the kinetic energy at the start */
  double created;
} Result;

/* Runs for `duration`, every step certified. */
static double run_for(scree_World *world, double duration, double kinetic, Result *result) {
  scree_StepReport report = {0};
  OK(scree_world_step(world, &report));
  const double start = energy_of(world);
  while (scree_world_time(world) < duration) OK(scree_world_step(world, &report));
  result->energy = (energy_of(world) - start) / kinetic;
  result->created = report.energy_created;
  return scree_world_time(world);
}

/* ---- a top ----------------------------------------------------------------------------------- */

/* A cone on its tip, leaning by 20 degrees, with the spin w about its axis, in steady precession:
 * with the moments I of the axis and J about the tip, J cos(a) W^2 - I w W + m g l = 0. The error
 * is that of W. */
static Result top(const char *scheme, double step) {
  const double radius = 0.05, height = 0.06, l = 0.75 * height, a = 0.3490658503988659, w = 150;
  const double I = 0.3 * radius * radius;
  const double J = 0.15 * radius * radius + 0.0375 * height * height + l * l;
  const double A = J * cos(a), B = I * w, C = g * l;
  const double W = (B - sqrt(B * B - 4 * A * C)) / (2 * A), spin = w - W * cos(a);
  const scree_WorldSettings settings = settings_with(scheme, step);
  scree_World *world = make_world(&settings, 1, 0, 0);
  add_half_space(world, obstacle_at(0, 0, 0));
  scree_BodyDef def = at(l * sin(a), 0, l * cos(a));
  def.mass = 1;
  def.pose.orientation = turned_y(3.14159265358979323846 + a);
  def.velocity = (scree_Twist){{0, W * l * sin(a), 0}, {spin * sin(a), 0, W + spin * cos(a)}};
  scree_Shape shape;
  OK(scree_shape_init_cone(&shape, radius, 0.5 * height, &test_log));
  const int body = add_shape(world, &shape, def);
  Result result;
  const double time = run_for(world, 0.5, 0.5 * I * w * w, &result);
  const scree_Vec3 x = scree_body_pose(world, body).position;
  result.error = atan2(x.y, x.x) / (W * time) - 1;
  scree_world_destroy(world);
  return result;
}

/* ---- a coin ---------------------------------------------------------------------------------- */

/* A coin leans by a and rolls on its edge while its centre rests: its velocity of rotation points
 * to the point of contact c = -b e + R d (e its axis, d down in its plane), of the size for which
 * c x m g z is the change of its angular momentum in the precession W. The error is the largest
 * change of height, over the radius. */
static Result coin_of(const char *scheme, double step, double b) {
  const double R = 0.04, a = 0.6;
  const double I = 0.5 * R * R, J = (3 * R * R + 4 * b * b) / 12, arm = hypot(R, b);
  const double e = -b / arm, d = R / arm; /* components of the direction of rotation */
  const double W = -d / sin(a);           /* precession for a rotation of 1 */
  /* with z = cos(a) e - sin(a) d: z x L and c x z along e x d, L = (I e, J d) */
  const double change = -W * (cos(a) * J * d + sin(a) * I * e);
  const double moment = g * (R * cos(a) - b * sin(a));
  const double w = sqrt(fabs(moment / change));
  const scree_Vec3 axis = vec(sin(a), 0, cos(a)), down = vec(cos(a), 0, -sin(a));
  const scree_WorldSettings settings = settings_with(scheme, step);
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  add_half_space(world, obstacle_at(0, 0, 0));
  const double height = b * cos(a) + R * sin(a);
  scree_BodyDef def = at(0, 0, height);
  def.mass = 1;
  def.pose.orientation = turned_y(a);
  def.velocity.angular = vec(w * (e * axis.x + d * down.x), 0, w * (e * axis.z + d * down.z));
  scree_Shape shape;
  OK(scree_shape_init_cylinder(&shape, R, b, &test_log));
  const int body = add_shape(world, &shape, def);
  Result result;
  run_for(world, 0.5, 0.5 * (I * e * e + J * d * d) * w * w, &result);
  const scree_Vec3 x = scree_body_pose(world, body).position;
  result.error = fmax(fabs(x.z - height), hypot(x.x, x.y)) / R;
  scree_world_destroy(world);
  return result;
}

static Result coin(const char *scheme, double step) {
  return coin_of(scheme, step, 0.01);
}

/* Its thickness is 1/40 of its diameter. */
static Result thin_coin(const char *scheme, double step) {
  return coin_of(scheme, step, 0.001);
}

/* ---- a ball in a drum ------------------------------------------------------------------------ */

/* A ball that rolls around the inside of an upright drum falls and rises again: with the rate W
 * around the axis its height is -5/2 g/W^2 (1 - cos(sqrt(2/7) W t)). The error is that of the
 * height, over the amplitude. */
static Result ball(const char *scheme, double step) {
  const double R = 0.1, r = 0.02, W = 30, v = W * (R - r);
  const scree_WorldSettings settings = settings_with(scheme, step);
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  scree_Shape shape;
  OK(scree_shape_init_drum(&shape, R, INFINITY, &test_log));
  add_shape(world, &shape, obstacle_at(0, 0, 0));
  scree_BodyDef def = at(R - r, 0, 0);
  def.mass = 1;
  def.velocity = (scree_Twist){{0, v, 0}, {0, 0, -v / r}};
  const int body = add_sphere(world, r, def);
  Result result;
  const double time = run_for(world, 1, 0.7 * v * v, &result);
  const double most = 2.5 * g / (W * W), expected = -most * (1 - cos(sqrt(2.0 / 7) * W * time));
  result.error = fabs(scree_body_pose(world, body).position.z - expected) / most;
  scree_world_destroy(world);
  return result;
}

/* ---- an ellipsoid on a plane ----------------------------------------------------------------- */

/* An ellipsoid rocks, rolls and spins on a plane; there is no closed solution, only its energy. */
static Result egg(scree_Shape floor, scree_World *world) {
  const double c = 0.05;
  scree_BodyDef def = at(0, 0, c);
  def.mass = 1;
  def.velocity = (scree_Twist){{3 * c, -2 * c, 0}, {2, 3, 4}};
  add_shape(world, &floor, obstacle_at(0, 0, 0));
  scree_Shape shape;
  OK(scree_shape_init_ellipsoid(&shape, 0.1, 0.08, c, &test_log));
  const int body = add_shape(world, &shape, def);
  Result result = {0};
  run_for(world, 2, g * c, &result);
  const scree_Twist v = scree_body_velocity(world, body);
  assert_true(hypot(hypot(v.angular.x, v.angular.y), v.angular.z) > 1); /* it goes on */
  scree_world_destroy(world);
  return result;
}

static Result egg_on_plane(const char *scheme, double step) {
  const scree_WorldSettings settings = settings_with(scheme, step);
  scree_Shape shape;
  OK(scree_shape_init_half_space(&shape, &test_log));
  return egg(shape, make_world(&settings, 1, 0, 0));
}

static Result egg_on_mesh(const char *scheme, double step) {
  const scree_WorldSettings settings = settings_with(scheme, step);
  const scree_Vec3 corner[4] = {{-9, -8, 0}, {9, -8, 0}, {9, 8, 0}, {-9, 8, 0}};
  const int triangles[6] = {0, 1, 2, 0, 2, 3};
  scree_Shape shape;
  OK(scree_shape_init_mesh(&shape, corner, 4, triangles, 2, &test_log));
  return egg(shape, make_world(&settings, 1, 0, 0));
}

/* A soft ball that rolls without slip at its own speed v = w R: its points move on straight lines
 * in a step, so the part that comes down next goes into the plane by R (w h)^2/2 unless that is
 * foreseen, and pushing it out again creates 13 % of its energy, in steps that are not certified.
 * The error is that of the way. */
static Result soft_ball(const char *scheme, double step) {
  const double R = 0.09, v = 1, fall = 2e-4 * R; /* it is not deformed at the start */
  const scree_WorldSettings settings = settings_with(scheme, step);
  scree_World *world = make_world(&settings, 0.6, 0, 0);
  add_half_space(world, obstacle_at(0, 0, 0));
  scree_BodyDef def = at(0, 0, R + fall);
  def.kind = SCREE_BODY_PSEUDO_RIGID;
  def.density = 1000;
  def.elastic = (scree_Elastic){.young = 1e6, .poisson = 0.3, .damping = 2e-3};
  def.velocity = (scree_Twist){{v, 0, 0}, {0, v / R, 0}};
  const int body = add_sphere(world, R, def);
  Result result = {0};
  const double time = run_for(world, 2, 0.7 * v * v * scree_body_mass(world, body), &result);
  result.error = scree_body_pose(world, body).position.x / (v * time) - 1;
  scree_world_destroy(world);
  return result;
}

/* ---------------------------------------------------------------------------------------------- */

typedef Result Case(const char *scheme, double step);

/* With half of the step the errors of the default scheme fall to a third or less, unless they are
 * tiny. */
static void compare(const char *name, Case *run, double step, double error, double energy,
                    double created) {
  static const char *const schemes[] = {"moreau-jean", "euler"};
  for (int k = 0; k < 2; ++k) {
    const Result a = run(schemes[k], step), b = run(schemes[k], 0.5 * step);
    print_message("%s, %s: error %.1e and %.1e at half of the step, energy %.1e and %.1e, created "
                  "%.1e\n",
                  name, schemes[k], fabs(a.error), fabs(b.error), a.energy, b.energy, a.created);
    assert_true(fabs(a.error) < error * (k == 0 ? 1 : 4)); /* euler is of first order in time */
    assert_true(fabs(a.energy) < energy * (k == 0 ? 1 : 10));
    if (k == 0) assert_true(fabs(b.energy) < 0.35 * fabs(a.energy) || fabs(b.energy) < 5e-5);
    if (k == 0) assert_true(fabs(b.error) < 0.4 * fabs(a.error) || fabs(b.error) < 1e-5);
    assert_true(a.created < created);
  }
}

static void spinning_top(void **state) {
  (void)state;
  compare("top", top, 3.8e-4, 1e-3, 5e-5, 1e-3);
}

static void rolling_coin(void **state) {
  (void)state;
  compare("coin", coin, 2e-4, 1e-3, 1e-4, 1e-3);
}

/* Its edge turns by more than the tolerated overlap in a step: unless that is foreseen, each second
 * step turns it back, and after 0.4 s 1 % of the energy counts as created. */
static void rolling_thin_coin(void **state) {
  (void)state;
  compare("thin coin", thin_coin, 1.05e-4, 1e-3, 1e-4, 1e-3);
}

static void ball_around_drum(void **state) {
  (void)state;
  compare("ball", ball, 8.3e-4, 1e-2, 2e-4, 1e-3);
}

static void rolling_egg(void **state) {
  (void)state;
  compare("egg on a plane", egg_on_plane, 1e-3, 1e-12, 1e-3, 5e-3);
  compare("egg on a mesh", egg_on_mesh, 1e-3, 1e-12, 1e-3, 5e-3);
}

/* ---- an elliptic cylinder that rocks on its flat side ---------------------------------------- */

static const double long_axis = 0.2, short_axis = 0.1;

/* Height of the centre above a plane, leaning by `a`, and its derivative. */
static double height_of(double a, double *slope) {
  const double x = long_axis * sin(a), y = short_axis * cos(a), height = sqrt(x * x + y * y);
  *slope = (long_axis * long_axis - short_axis * short_axis) * sin(a) * cos(a) / height;
  return height;
}

/* Of rolling with the amplitude A: 2 times the integral of da / w over a swing, with the velocity w
 * from the energy; a = A sin(p). */
static double period_of(double A) {
  enum { POINTS = 2000 };
  const double pi = acos(-1);
  const double k = (long_axis * long_axis + short_axis * short_axis) / 4;
  double sum = 0, slope;
  const double top = height_of(A, &slope);
  for (int i = 0; i < POINTS; ++i) {
    const double p = pi * ((i + 0.5) / POINTS - 0.5), h = height_of(A * sin(p), &slope);
    sum += sqrt((k + h * h + slope * slope) / (2 * g * (top - h))) * A * cos(p) * pi / POINTS;
  }
  return 2 * sum;
}

/* Its path bends towards the plane in each step. Where that was not foreseen, 2200 of 2335 steps at
 * an amplitude of 0.2 were not certified, and 39 % of the energy was created. */
static void rocking_ellipse(void **state) {
  (void)state;
  static const double amplitudes[] = {0.05, 0.2};
  for (int k = 0; k < 2; ++k) {
    const double A = amplitudes[k], period = period_of(A);
    double slope, first = 0, last = 0, before = A, most = 0;
    int turns = 0;
    scree_WorldSettings settings = settings_with("moreau-jean", 0.03 * sqrt(0.2 / g));
    settings.dimension = 2;
    settings.gravity = vec(0, -g, 0);
    scree_World *world = make_world(&settings, 0.8, 0, 0);
    add_half_plane(world, obstacle_at(0, 0, 0));
    scree_Shape ellipse;
    OK(scree_shape_init_ellipse(&ellipse, long_axis, short_axis, &test_log));
    scree_BodyDef def = at(0, height_of(A, &slope), 0);
    def.pose.orientation = turned(A);
    const int body = add_shape(world, &ellipse, def);
    scree_StepReport report = {0};
    while (scree_world_time(world) < 10) {
      OK(scree_world_step(world, &report));
      assert_true(report.certified);
      const double time = scree_world_time(world);
      const double angle = 2 * scree_body_pose(world, body).orientation.z;
      if (time > 9) most = fmax(most, fabs(angle));
      if (angle * before < 0) { /* where a straight line passes zero */
        last = time - settings.step * angle / (angle - before);
        if (!turns++) first = last;
      }
      before = angle;
    }
    const double found = 2 * (last - first) / (turns - 1);
    print_message("rocking by %g: period %.2e, amplitude %.2e, created %.2e\n", A,
                  found / period - 1, most / A - 1, report.energy_created);
    NEAR(found / period, 1, 2e-4);
    NEAR(most / A, 1, 0.01); /* sin(a/2) is not a/2 */
    assert_true(report.energy_created < 4e-3);
    scree_world_destroy(world);
  }
}

static void rolling_soft_ball(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) {
    const Result r = soft_ball("moreau-jean", k == 0 ? 2.7e-3 : 1.35e-3);
    print_message("soft ball: error %.1e, energy %.1e, created %.1e\n", r.error, r.energy,
                  r.created);
    assert_true(r.created < (k == 0 ? 2e-3 : 4e-4)); /* mostly of the first contact */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spinning_top),      cmocka_unit_test(rolling_coin),
      cmocka_unit_test(rolling_thin_coin), cmocka_unit_test(ball_around_drum),
      cmocka_unit_test(rolling_egg),       cmocka_unit_test(rocking_ellipse),
      cmocka_unit_test(rolling_soft_ball)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
