/* Steps that are divided where bodies have several impacts at once (step/impacts.c,
 * world/refine.c). */
#include "test_world_heap.h"
#include "world/refine.h"

/* A disk that flies into a corner without gravity hits the floor, slides, and then hits the
 * frictionless wall. With vx, vy its velocities, impulses per mass and a slip that stays positive
 *
 *     floor: vy^2/2 by impact, mu vy (vx + (vx - 3 mu vy))/2 by friction,
 *     wall:  (vx - mu vy)^2/2 by impact. */
static const double vx = 1, vy = 0.5, mu = 0.3, radius = 0.5;

typedef struct Split {
  double normal, friction;
  int parts;
} Split;

/* The gaps are closed after the given parts of the first steps. */
static Split into_corner(double step, double floor, double wall, int max_halvings) {
  enum { STEPS = 4 };
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.step = step;
  settings.gravity = vec(0, 0, 0);
  settings.max_halvings = max_halvings;
  settings.solve.threads = 1;
  settings.solve.tolerance = 1e-10;
  scree_World *world = make_world(&settings, mu, 0, 0);
  const scree_PairLaw smooth = scree_pair_law_coulomb(0, 0, 0);
  int glass;
  OK(scree_world_add_material(world, &glass));
  OK(scree_world_set_pair_law(world, 0, glass, &smooth));
  add_half_plane(world, obstacle_at(0, -radius - floor * step * vy, 0));
  scree_BodyDef def = obstacle_at(radius + floor * step * vx + wall * step * (vx - mu * vy), 0, 0);
  def.pose.orientation = turned(0.5 * acos(-1));
  def.material = glass;
  add_half_plane(world, def);
  def = at(0, 0, 0);
  def.velocity.linear = vec(vx, -vy, 0);
  const int disk = add_disk(world, radius, def);
  Split split = {0, 0, 0};
  for (int k = 0; k < STEPS; ++k) {
    scree_StepReport report;
    OK(scree_world_step(world, &report));
    split.normal += report.energy.normal / scree_body_mass(world, disk);
    split.friction += report.energy.friction / scree_body_mass(world, disk);
    split.parts += report.substeps;
  }
  scree_world_destroy(world);
  return split;
}

static double worst_of(const Split *split) {
  const double slip = vx + (vx - 3 * mu * vy), after = vx - mu * vy;
  const double normal = 0.5 * vy * vy + 0.5 * after * after, friction = 0.5 * mu * vy * slip;
  return fmax(fabs(split->normal / normal - 1), fabs(split->friction / friction - 1));
}

static void corner(void **state) {
  (void)state;
  static const double floors[] = {0.2, 0.35}, walls[] = {0.6, 0.4};
  for (int k = 0; k < 2; ++k) {
    const Split whole = into_corner(0.1, floors[k], walls[k], 0);
    const Split divided = into_corner(0.1, floors[k], walls[k], 4);
    print_message("corner %d: off by %.3f in one step, by %.3f in %d parts\n", k, worst_of(&whole),
                  worst_of(&divided), divided.parts);
    assert_true(worst_of(&whole) > 0.2);
    assert_true(worst_of(&divided) < 0.1);
  }
}

/* What is decided after a history of energies. */
static bool rises(const scree_ImpactSums *recent) {
  const scree_Refinement none = {.level = 0};
  return scree_refine_rises(&none, recent, 0);
}

static int next(const scree_ImpactSums *recent, int level) {
  const scree_Refinement account = {.recent = *recent, .level = level};
  return scree_refine_next(&account, level);
}

static void decisions(void **state) {
  (void)state;
  const scree_ImpactSums none = {0};
  const scree_Impacts quiet = {0, 1}, bad = {0.1, 1}, fair = {1e-3, 1};
  scree_ImpactSums recent = none;
  assert_false(rises(&none)); /* a world at rest is left alone */
  assert_int_equal(next(&none, 0), 0);
  for (int k = 0; k < 100; ++k) recent = scree_refine_add(&recent, &quiet, 1, 100);
  assert_false(rises(&recent));
  assert_int_equal(next(&recent, 3), 2); /* one level at a time */
  recent = scree_refine_add(&recent, &bad, 1, 100);
  assert_true(rises(&recent)); /* one bad step is enough */
  assert_int_equal(next(&recent, 2), 2);
  /* while nothing happens the sums fall alike; parts become longer all the same */
  const scree_Impacts nothing = {0, 0};
  for (int k = 0; k < 10; ++k) recent = scree_refine_add(&recent, &nothing, 1, 0);
  assert_true(rises(&recent));
  assert_int_equal(next(&recent, 2), 1);
  const scree_ImpactSums still = scree_refine_add(&none, &fair, 1, 100);
  assert_false(rises(&still));
  assert_int_equal(next(&still, 2), 2); /* longer parts would be too long */
  /* impacts with next to no energy, of all that was turned over, are left alone */
  const scree_Impacts small = {1e-7, 1e-6};
  const scree_ImpactSums after = scree_refine_add(&none, &small, 1, 1);
  assert_false(rises(&after));
  /* soft bodies get at once the parts that they need, and fewer if their impacts matter less */
  scree_StepOutcome hit = {.soft = {.energy = 1, .error = {0.75, 0.44, 0.17, 0.048}}};
  assert_int_equal(scree_refine_soft(&none, &hit, 0, 3), 3);
  assert_int_equal(scree_refine_soft(&none, &hit, 0, 2), 2);
  const scree_ImpactSums flow = {.energy = 3}, most = {.energy = 100};
  assert_int_equal(scree_refine_soft(&flow, &hit, 3, 3), 2);
  assert_int_equal(scree_refine_soft(&most, &hit, 3, 3), 0);
  const scree_StepOutcome calm = {.vibration = 1e-6}, fast = {.vibration = 1e-2};
  assert_int_equal(scree_refine_soft(&none, &calm, 2, 3), 0);
  assert_int_equal(scree_refine_soft(&none, &fast, 2, 3), 3);
  assert_int_equal(scree_refine_soft(&none, &fast, 4, 3), 3);
  assert_int_equal(scree_refine_highest(0), 0);
  assert_true(scree_refine_highest(20) <= 4);
}

/* A world whose every step should be divided as often as possible, and whose undivided steps take
 * `usual` seconds, in solves or in detection and motion. The work of n solves is n^1.2 times as
 * much, that of a repeated attempt once. */
static double price(double usual, bool solves, int steps, int *divided) {
  const scree_ImpactSums bad = {.error = 0.1, .energy = 1, .latest = 0.1};
  scree_Refinement account = {.recent = bad};
  double all = 0;
  for (int k = 0; k < steps; ++k) {
    const int before = (int)account.level;
    int level = before, following = scree_refine_next(&account, level);
    while (level < scree_refine_highest(20) && scree_refine_rises(&account, &bad, level))
      following = ++level;
    const int parts = 1 << level, again = level - before;
    const double work = usual * (pow(parts, solves ? 1.2 : 1) + again);
    if (solves)
      scree_refine_pay(&account, level, work, parts + again, 0, 0);
    else /* of about a microsecond each */
      scree_refine_pay(&account, level, 0, parts + again, 1e6 * usual, 0);
    account.level = following;
    all += work;
    *divided += level > 0;
  }
  return all / (usual * steps);
}

/* What steps cost that are divided is bounded, and small worlds do not feel the bound. */
static void bound(void **state) {
  (void)state;
  int divided;
  for (int solves = 0; solves < 2; ++solves) {
    divided = 0;
    const double large = price(0.1, solves, 3000, &divided);
    print_message("long steps: %.2f times the work of undivided ones, %d of 3000 divided\n", large,
                  divided);
    assert_true(large < 1.6);
    assert_in_range(divided, 100, 2900);
  }
  divided = 0;
  assert_true(price(1e-5, true, 1000, &divided) > 8);
  assert_int_equal(divided, 1000);
}

/* Divided steps, too, go on from a saved state with the same bits, for any number of threads. */
static void same_bits(void **state) {
  (void)state;
  enum { STEPS = 150, PARTS = 8, CUTS = 40 };
  int divided = 0;
  scree_World *a = heap(2, "moreau-jean", 30, 1), *two = heap(2, "moreau-jean", 30, 2);
  for (int k = 0; k < STEPS; ++k) {
    size_t size;
    void *saved = save(a, &size);
    scree_World *b = heap(2, "moreau-jean", 30, 1);
    scree_StepReport report;
    OK(scree_world_restore(b, saved, size));
    OK(scree_world_step(a, &report));
    run_steps(b, 1);
    run_steps(two, 1);
    assert_same_state(a, b);
    divided += report.substeps > 1;
    assert_true(report.substeps <= PARTS + CUTS);
    free(saved);
    scree_world_destroy(b);
  }
  print_message("%d of %d steps divided\n", divided, STEPS);
  assert_true(divided > 5 && divided < STEPS);
  assert_same_state(a, two);
  scree_world_destroy(a);
  scree_world_destroy(two);
}

enum { ROW = 5 };

/* Balls of radius 1/2 in a row without gravity, with the given gaps and velocities. */
static scree_World *row(double step, double e_n, const double *gaps, const double *velocities) {
  scree_WorldSettings settings = scree_world_settings();
  settings.step = step;
  settings.gravity = vec(0, 0, 0);
  settings.solve.threads = 1;
  scree_World *world = make_world(&settings, 0, e_n, 0);
  double x = 0;
  for (int k = 0; k < ROW; ++k) {
    scree_BodyDef def = at(x, 0, 0);
    def.velocity.linear = vec(velocities[k], 0, 0);
    add_sphere(world, 0.5, def);
    x += 1 + gaps[k];
  }
  return world;
}

/* A ball that hits a row passes its velocity on from ball to ball, in one step or in several. */
static void passed_on(void **state) {
  (void)state;
  static const double parts[] = {1, 0.3, 0.1, 0.02}, velocities[ROW] = {1};
  for (int k = 0; k < 4; ++k) {
    const double step = 0.02, gap = parts[k] * step;
    const double gaps[ROW] = {1.7 * step, gap, 1.1 * gap, 0.8 * gap};
    scree_World *world = row(step, 1, gaps, velocities);
    run_steps(world, 12);
    for (int i = 0; i < ROW; ++i) NEAR(scree_body_velocity(world, i).linear.x, i == ROW - 1, 1e-6);
    scree_world_destroy(world);
  }
}

/* Balls that are thrown at each other over gaps of a small part of a step gain nothing. */
static void gains_nothing(void **state) {
  (void)state;
  enum { CASES = 40 };
  uint32_t seed = 3;
  double most = 0;
  for (int k = 0; k < CASES; ++k) {
    double gaps[ROW], velocities[ROW];
    for (int i = 0; i < ROW; ++i) {
      seed = seed * 1664525u + 1013904223u;
      gaps[i] = 0.02 * pow(10, -1 - k % 4) * (0.3 + seed / 4294967296.0);
      seed = seed * 1664525u + 1013904223u;
      velocities[i] = 2 * (seed / 4294967296.0) - 1;
    }
    scree_World *world = row(0.02, k % 3 == 0 ? 0.9 : 1, gaps, velocities);
    const double start = scree_world_energy(world).kinetic;
    for (int i = 0; i < 60; ++i) OK(scree_world_step(world, NULL));
    most = fmax(most, scree_world_energy(world).kinetic / start - 1);
    scree_world_destroy(world);
  }
  print_message("rows gain at most %.1e of their energy\n", most);
  assert_true(most < 0.01);
}

/* A ball that hits a row with gaps of a small part of a step, whose balls hardly move, loses
 * nothing: in the time in which one gap closes the body behind it must not be pushed on. */
static void loses_nothing(void **state) {
  (void)state;
  enum { CASES = 60 };
  uint32_t seed = 5;
  double most = 0;
  int lossy = 0;
  for (int k = 0; k < CASES; ++k) {
    const double step = 0.02;
    double gaps[ROW], velocities[ROW];
    for (int i = 0; i < ROW; ++i) {
      seed = seed * 1664525u + 1013904223u;
      gaps[i] = step * (0.01 * (1 << k % 5) + 0.5 * (seed / 4294967296.0) * (k % 3));
      seed = seed * 1664525u + 1013904223u;
      velocities[i] = 2e-3 * (seed / 4294967296.0) - 1e-3;
    }
    gaps[0] = step * (2 + k / (double)CASES);
    velocities[0] = 1;
    scree_World *world = row(step, 1, gaps, velocities);
    const double start = scree_world_energy(world).kinetic;
    for (int i = 0; i < 12; ++i) OK(scree_world_step(world, NULL));
    const double lost = 1 - scree_world_energy(world).kinetic / start;
    lossy += lost > 1e-3;
    most = fmax(most, lost);
    scree_world_destroy(world);
  }
  print_message("%d of %d rows lose energy, at most %.1e\n", lossy, CASES, most);
  assert_int_equal(lossy, 0);
}

/* Velocities of balls in a row after a time, one impact after the other. */
static void in_sequence(double e_n, double time, const double *gaps, double *v) {
  double gap[ROW];
  memcpy(gap, gaps, sizeof gap);
  for (;;) {
    double next = time;
    int at = -1;
    for (int k = 0; k + 1 < ROW; ++k) {
      const double closing = v[k] - v[k + 1];
      if (closing > 0 && gap[k] / closing < next) next = gap[k] / closing, at = k;
    }
    for (int k = 0; k + 1 < ROW; ++k) gap[k] -= next * (v[k] - v[k + 1]);
    if (at < 0) return;
    const double mean = 0.5 * (v[at] + v[at + 1]), rebound = 0.5 * e_n * (v[at] - v[at + 1]);
    v[at] = mean - rebound;
    v[at + 1] = mean + rebound;
    gap[at] = 0;
    time -= next;
  }
}

/* Balls that are hit from both sides, or reach the next one within a small part of a step, move as
 * if each impact had been computed alone; velocities below a tenth of those of an impact may be
 * shared. Without cuts 50 of the rows differ. */
static void one_after_the_other(void **state) {
  (void)state;
  enum { CASES = 60, STEPS = 8 };
  const double step = 0.02, e_n[] = {1, 0.9, 0.5};
  uint32_t seed = 11;
  int wrong = 0;
  for (int k = 0; k < CASES; ++k) {
    double gaps[ROW], v[ROW] = {1, 0, 0, 0, k % 2 ? -0.7 : 0};
    for (int i = 0; i < ROW; ++i) {
      seed = seed * 1664525u + 1013904223u;
      gaps[i] = step * pow(10, -(k % 3)) * (0.1 + seed / 4294967296.0);
    }
    gaps[0] += step;
    scree_World *world = row(step, e_n[k / 2 % 3], gaps, v);
    run_steps(world, STEPS);
    in_sequence(e_n[k / 2 % 3], STEPS * step, gaps, v);
    double worst = 0;
    for (int i = 0; i < ROW; ++i)
      worst = fmax(worst, fabs(scree_body_velocity(world, i).linear.x - v[i]));
    wrong += worst > 0.02;
    scree_world_destroy(world);
  }
  print_message("%d of %d rows differ from one impact after the other\n", wrong, CASES);
  assert_int_equal(wrong, 0);
}

static double gas_keeps(double step, double time) {
  enum { SIDE = 7 };
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.step = step;
  settings.gravity = vec(0, 0, 0);
  settings.solve.threads = 1;
  scree_World *world = make_world(&settings, 0, 1, 0);
  for (int k = 0; k < 4; ++k) {
    const double x = k == 1 ? 1 : k == 3 ? -1 : 0, y = k == 0 ? -1 : k == 2 ? 1 : 0;
    scree_BodyDef wall = obstacle_at(x, y, 0);
    wall.pose.orientation = turned(0.5 * acos(-1) * k);
    add_half_plane(world, wall);
  }
  uint32_t seed = 7;
  for (int k = 0; k < SIDE * SIDE; ++k) {
    scree_BodyDef def = at(-0.85 + 0.28 * (k % SIDE), -0.85 + 0.28 * (k / SIDE), 0); // NOLINT
    for (int i = 0; i < 2; ++i) {
      seed = seed * 1664525u + 1013904223u;
      *(i ? &def.velocity.linear.y : &def.velocity.linear.x) = 2 * (seed / 4294967296.0) - 1;
    }
    add_disk(world, 0.06 + 0.04 * (seed / 4294967296.0), def);
  }
  const double start = scree_world_energy(world).kinetic;
  while (scree_world_time(world) < time) OK(scree_world_step(world, NULL));
  const double end = scree_world_energy(world).kinetic;
  scree_world_destroy(world);
  return end / start;
}

/* Disks that bounce without friction or loss between four walls keep their energy but for the
 * chains of impacts that are not cut apart. */
static void gas(void **state) {
  (void)state;
  const double coarse = gas_keeps(4e-3, 8), fine = gas_keeps(1e-3, 8);
  print_message("a gas of disks keeps %.4f of its energy, %.4f with a quarter of the step\n",
                coarse, fine);
  assert_true(fabs(coarse - 1) < 0.02 && fabs(fine - 1) < 0.02);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(corner),
                                     cmocka_unit_test(decisions),
                                     cmocka_unit_test(bound),
                                     cmocka_unit_test(same_bits),
                                     cmocka_unit_test(passed_on),
                                     cmocka_unit_test(gains_nothing),
                                     cmocka_unit_test(loses_nothing),
                                     cmocka_unit_test(one_after_the_other),
                                     cmocka_unit_test(gas)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
