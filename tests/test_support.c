/* A body of every shape and kind falls on an obstacle of every kind, from scenes as a user writes
 * them, with all defaults. Every step must be certified, less than 1 % of the energy may be
 * created, and a body that has come to rest is carried: the contact forces on it sum up to its
 * weight. Bodies of round shapes have rolling resistance; deformable ones do not, and are asked to
 * rest only where they cannot roll. Bounded obstacles are five fixed bodies of one shape, a nest;
 * below is a floor, on which bodies end that fall through it.
 *
 * Sizes, orientations and velocities are random. Of all pairs every fifth is run, or all with
 * SCREE_ALL=1 in the environment; SCREE_SEED=2 takes other bodies. */
#include "test_world_scene.h"

#include "scree/scene.h"

enum { TEXT = 8192, EVERY = 5, GRID = 8 };

static const double gravity = 9.81, created_most = 0.01, at_rest = 1e-7, off_weight = 2e-3;
static const double fall = 2.5, look = 0.3; /* seconds until rest is looked for, and at rest */

static uint64_t random_state;

static double between(double low, double high) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  uint64_t x = random_state;
  x ^= x >> 32;
  return low + (high - low) * (((double)(x >> 11) + 0.5) * 0x1p-53);
}

typedef struct Text {
  char *end, *last;
} Text;

__attribute__((format(printf, 2, 3))) static void add(Text *text, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(text->end, (size_t)(text->last - text->end), format, list);
  va_end(list);
  assert_true(n >= 0 && n < text->last - text->end);
  text->end += n;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

typedef void (*AddShape)(Text *text);

static void sphere(Text *t) {
  add(t, "{ kind: sphere, radius: %g }", between(0.05, 0.1));
}
static void ellipsoid(Text *t) {
  add(t, "{ kind: ellipsoid, semi_x: %g, semi_y: %g, semi_z: %g }", between(0.05, 0.1),
      between(0.05, 0.1), between(0.05, 0.1));
}
static void box(Text *t) {
  add(t, "{ kind: box, half_x: %g, half_y: %g, half_z: %g }", between(0.04, 0.1),
      between(0.04, 0.1), between(0.04, 0.1));
}
static void rounded_box(Text *t) {
  add(t, "{ kind: box, half_x: %g, half_y: %g, half_z: %g, radius: 0.02 }", between(0.05, 0.1),
      between(0.05, 0.1), between(0.05, 0.1));
}
static void capsule(Text *t) {
  add(t, "{ kind: capsule, half_length: %g, radius: %g }", between(0.04, 0.1), between(0.03, 0.06));
}
static void cylinder(Text *t) {
  add(t, "{ kind: cylinder, half_length: %g, radius: %g }", between(0.04, 0.1),
      between(0.04, 0.08));
}
static void cone(Text *t) {
  add(t, "{ kind: cone, half_length: %g, radius: %g }", between(0.05, 0.1), between(0.05, 0.1));
}
static void superellipsoid(Text *t) {
  add(t,
      "{ kind: superellipsoid, semi_x: %g, semi_y: %g, semi_z: %g, exponent_xy: %g, exponent_z: "
      "%g }",
      between(0.05, 0.1), between(0.05, 0.1), between(0.05, 0.1), between(2, 8), between(2, 8));
}
static void polyhedron(Text *t) {
  add(t, "{ kind: polyhedron, random: { diameter: %g, points: %d, seed: %d, angularity: %g } }",
      between(0.15, 0.2), (int)between(6, 30), (int)between(0, 1000), between(0, 1));
}
static void tetrahedron(Text *t) {
  add(t, "{ kind: polyhedron, vertices: [");
  for (int k = 0; k < 4; ++k)
    add(t, "%s[%g, %g, %g]", k ? ", " : "", between(-0.1, 0.1), between(-0.1, 0.1),
        between(-0.1, 0.1));
  add(t, "] }");
}
static void rounded_polyhedron(Text *t) {
  add(t, "{ kind: polyhedron, random: { diameter: 0.2, points: 12, seed: %d }, radius: 0.02 }",
      (int)between(0, 1000));
}
static void clump(Text *t) {
  add(t,
      "{ kind: clump, parts: [{ shape: { kind: sphere, radius: 0.06 } }, { shape: { kind: box, "
      "half_x: 0.03, half_y: 0.05, half_z: 0.04 }, position: [0.07, 0, 0.02] }, { shape: { kind: "
      "cylinder, radius: 0.03, half_length: 0.05 }, position: [-0.06, 0.03, 0], rotation: { axis: "
      "[1, 0, 0], angle: 1 } }] }");
}
static void elements(Text *t) {
  add(t, "{ kind: elements, half_x: 0.08, half_y: 0.06, half_z: 0.05, divisions: [2, 2, 2] }");
}
static void disk(Text *t) {
  add(t, "{ kind: disk, radius: %g }", between(0.05, 0.1));
}
static void ellipse(Text *t) {
  add(t, "{ kind: ellipse, semi_x: %g, semi_y: %g }", between(0.05, 0.1), between(0.05, 0.1));
}
static void polygon(Text *t) {
  const int n = (int)between(3, 9);
  add(t, "{ kind: polygon, vertices: [");
  for (int k = 0; k < n; ++k) { /* on a circle */
    const double angle = 6.28 * (k + between(0, 0.8)) / n;
    add(t, "%s[%g, %g]", k ? ", " : "", 0.09 * cos(angle), 0.09 * sin(angle));
  }
  add(t, "] }");
}
static void box_2d(Text *t) {
  add(t, "{ kind: box, half_x: %g, half_y: %g }", between(0.04, 0.1), between(0.04, 0.1));
}
static void segment(Text *t) {
  add(t, "{ kind: segment, half_length: %g, radius: %g }", between(0.05, 0.1), between(0.02, 0.05));
}
static void clump_2d(Text *t) {
  add(t, "{ kind: clump, parts: [{ shape: { kind: disk, radius: 0.06 } }, { shape: { kind: box, "
         "half_x: 0.05, half_y: 0.03 }, position: [0.06, 0.01], angle: 0.5 }, { shape: { kind: "
         "ellipse, semi_x: 0.03, semi_y: 0.06 }, position: [-0.05, 0] }] }");
}

typedef struct Body {
  const char *name;
  AddShape shape;
  const char *kind;
  bool rolls; /* deformable and round: nothing stops it */
} Body;

static const Body solids[] = {
    {"sphere", sphere, "rigid", false},
    {"ellipsoid", ellipsoid, "rigid", false},
    {"box", box, "rigid", false},
    {"rounded box", rounded_box, "rigid", false},
    {"capsule", capsule, "rigid", false},
    {"cylinder", cylinder, "rigid", false},
    {"cone", cone, "rigid", false},
    {"superellipsoid", superellipsoid, "rigid", false},
    {"polyhedron", polyhedron, "rigid", false},
    {"tetrahedron", tetrahedron, "rigid", false},
    {"rounded polyhedron", rounded_polyhedron, "rigid", false},
    {"clump", clump, "rigid", false},
    {"soft sphere", sphere, "pseudo-rigid", true},
    {"soft ellipsoid", ellipsoid, "pseudo-rigid", true},
    {"soft box", box, "pseudo-rigid", true},
    {"soft polyhedron", polyhedron, "pseudo-rigid", true},
    {"elements", elements, "elements", true},
};
static const Body planes[] = {
    {"disk", disk, "rigid", false},
    {"ellipse", ellipse, "rigid", false},
    {"polygon", polygon, "rigid", false},
    {"box", box_2d, "rigid", false},
    {"segment", segment, "rigid", false},
    {"clump", clump_2d, "rigid", false},
    {"soft disk", disk, "pseudo-rigid", true},
    {"soft ellipse", ellipse, "pseudo-rigid", true},
};

/* ---- obstacles ------------------------------------------------------------------------------- */

static double flat(double x, double y) {
  (void)x, (void)y;
  return 0;
}
static double bowl(double x, double y) {
  return 0.8 * hypot(x, y) + between(0, 0.01);
}
static double rough(double x, double y) {
  return 0.3 * fmax(fabs(x), fabs(y)) + between(-0.04, 0.04);
}

/* Triangles over a grid of 1.6 m that is not regular. */
static void add_mesh(Text *t, double (*height)(double x, double y)) {
  add(t, "  - shape:\n      kind: mesh\n      vertices: [");
  for (int i = 0; i <= GRID; ++i)
    for (int j = 0; j <= GRID; ++j) {
      const bool inside = i > 0 && i < GRID && j > 0 && j < GRID;
      const double x = 0.2 * (i + (inside ? between(-0.3, 0.3) : 0)) - 0.8,
                   y = 0.2 * (j + (inside ? between(-0.3, 0.3) : 0)) - 0.8;
      add(t, "%s[%.4g, %.4g, %.4g]", i + j ? ", " : "", x, y, height(x, y));
    }
  add(t, "]\n      triangles: [");
  for (int i = 0; i < GRID; ++i)
    for (int j = 0; j < GRID; ++j) {
      const int a = i * (GRID + 1) + j, b = a + GRID + 1;
      add(t, "%s[%d, %d, %d], [%d, %d, %d]", i + j ? ", " : "", a, b, b + 1, a, b + 1, a + 1);
    }
  add(t, "]\n");
}

static void mesh_flat(Text *t) {
  add_mesh(t, flat);
}
static void mesh_bowl(Text *t) {
  add_mesh(t, bowl);
}
static void mesh_rough(Text *t) {
  add_mesh(t, rough);
}

typedef struct Obstacle {
  const char *name, *text; /* or: */
  void (*make)(Text *text);
  AddShape nest;
} Obstacle;

static const Obstacle supports[] = {
    {"half-space", "  - { shape: { kind: half-space } }\n", NULL, NULL},
    {"rectangle", "  - { shape: { kind: rectangle, half_x: 1, half_y: 1 } }\n", NULL, NULL},
    {"ring", "  - { shape: { kind: ring, radius: 1, hole_radius: 0.03 } }\n", NULL, NULL},
    {"flat mesh", NULL, mesh_flat, NULL},
    {"mesh bowl", NULL, mesh_bowl, NULL},
    {"rough mesh", NULL, mesh_rough, NULL},
    {"height field",
     "  - { shape: { kind: height-field, expression: x^2 + y^2, size: [2, 2], count: [41, 41] } "
     "}\n",
     NULL, NULL},
    {"lying drum",
     "  - { shape: { kind: drum, radius: 0.3, half_length: 0.4 }, rotation: { axis: [1, 0, 0], "
     "angle: pi/2 }, position: [0, 0, 0.3] }\n",
     NULL, NULL},
    {"standing drum",
     "  - { shape: { kind: drum, radius: 0.3, half_length: 0.4 }, position: [0, 0, 0.4] }\n", NULL,
     NULL},
    {"pipe",
     "  - { shape: { kind: pipe, radius: 0.3, half_length: 1 }, rotation: { axis: [1, 0, 0], "
     "angle: "
     "pi/2 }, position: [0, 0, 0.3] }\n",
     NULL, NULL},
    {"funnel",
     "  - { shape: { kind: funnel, radius: 0.02, top_radius: 0.5, half_length: 0.25 }, position: "
     "[0, 0, 0.1] }\n",
     NULL, NULL},
    {"closed funnel",
     "  - { shape: { kind: funnel, radius: 0, top_radius: 0.5, half_length: 0.25 }, position: [0, "
     "0, 0.1] }\n",
     NULL, NULL},
    {"fixed spheres", NULL, NULL, sphere},
    {"fixed ellipsoids", NULL, NULL, ellipsoid},
    {"fixed boxes", NULL, NULL, box},
    {"fixed rounded boxes", NULL, NULL, rounded_box},
    {"fixed capsules", NULL, NULL, capsule},
    {"fixed cylinders", NULL, NULL, cylinder},
    {"fixed cones", NULL, NULL, cone},
    {"fixed superellipsoids", NULL, NULL, superellipsoid},
    {"fixed polyhedra", NULL, NULL, polyhedron},
    {"fixed rounded polyhedra", NULL, NULL, rounded_polyhedron},
    {"fixed clumps", NULL, NULL, clump},
};
static const Obstacle supports_2d[] = {
    {"half-plane", "  - { shape: { kind: half-plane } }\n", NULL, NULL},
    {"drum", "  - { shape: { kind: drum, radius: 0.3 }, position: [0, 0.3] }\n", NULL, NULL},
    {"segments",
     "  - { shape: { kind: segment, half_length: 0.5 }, position: [0.4, 0.15], angle: 0.5 }\n"
     "  - { shape: { kind: segment, half_length: 0.5 }, position: [-0.4, 0.15], angle: -0.5 }\n"
     "  - { shape: { kind: half-plane }, position: [0, -0.5] }\n",
     NULL, NULL},
    {"fixed disks", NULL, NULL, disk},
    {"fixed ellipses", NULL, NULL, ellipse},
    {"fixed polygons", NULL, NULL, polygon},
    {"fixed boxes", NULL, NULL, box_2d},
    {"fixed segments", NULL, NULL, segment},
    {"fixed clumps", NULL, NULL, clump_2d},
};

static void add_turn(Text *t, int d) {
  if (d == 2)
    add(t, "angle: %g", between(0, 6.28));
  else
    add(t, "rotation: { axis: [%g, %g, %g], angle: %g }", between(-1, 1), between(-1, 1),
        between(-1, 1), between(0, 6.28));
}

static void add_nest(Text *t, int d, AddShape shape) {
  for (int k = 0; k < (d == 2 ? 3 : 5); ++k) {
    const double x = k & 1 ? 0.1 : -0.1, y = k & 2 ? 0.1 : -0.1;
    add(t, "  - shape: ");
    shape(t);
    if (d == 2 && k < 2)
      add(t, "\n    position: [%g, 0]\n    ", 1.3 * x);
    else if (k < 4 && d == 3)
      add(t, "\n    position: [%g, %g, 0]\n    ", x, y);
    else
      add(t, "\n    position: [0, %s-0.1]\n    ", d == 2 ? "" : "0, ");
    add_turn(t, d);
    add(t, "\n");
  }
  add(t, d == 2 ? "  - { shape: { kind: half-plane }, position: [0, -0.5] }\n"
                : "  - { shape: { kind: half-space }, position: [0, 0, -0.5] }\n");
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void write_scene(Text *t, int d, const Obstacle *obstacle, const Body *body) {
  const bool rigid = strcmp(body->kind, "rigid") == 0;
  add(t,
      "dimension: %d\nmaterials: { m: { density: 1000, young: 1e6, poisson: 0.3, damping: 2e-3 "
      "} }\n",
      d);
  add(t, "contact: { mu: 0.6%s }\n",
      !rigid   ? ""
      : d == 2 ? ", rolling: 0.2"
               : ", rolling: 0.2, spinning: 0.2");
  add(t, "bodies:\n  - name: b\n    kind: %s\n    shape: ", body->kind);
  body->shape(t);
  if (d == 2)
    add(t, "\n    position: [%g, 0.3]\n    velocity: [%g, 0]\n    ", between(-0.02, 0.02),
        between(-0.2, 0.2));
  else
    add(t, "\n    position: [%g, %g, 0.3]\n    velocity: [%g, %g, 0]\n    ", between(-0.02, 0.02),
        between(-0.02, 0.02), between(-0.2, 0.2), between(-0.2, 0.2));
  add_turn(t, d);
  add(t, "\nobstacles:\n");
  if (obstacle->text) add(t, "%s", obstacle->text);
  if (obstacle->make) obstacle->make(t);
  if (obstacle->nest) add_nest(t, d, obstacle->nest);
}

/* Impulses of the last step on a body. */
static scree_Vec3 carried(const scree_World *world, int b) {
  scree_Vec3 sum = {0, 0, 0};
  for (int k = 0; k < scree_world_contact_count(world); ++k) {
    const scree_Contact c = scree_world_contact(world, k);
    const double sign = c.body[0] == b ? 1 : c.body[1] == b ? -1 : 0;
    const scree_Vec3 axis[3] = {c.normal, c.tangent[0], c.tangent[1]};
    for (int i = 0; i < scree_world_get_settings(world)->dimension; ++i) {
      sum.x += sign * c.r[i] * axis[i].x;
      sum.y += sign * c.r[i] * axis[i].y;
      sum.z += sign * c.r[i] * axis[i].z;
    }
  }
  return sum;
}

/* Whether the body fell on the obstacle as it should; says what went wrong. */
static bool falls(int d, const Obstacle *obstacle, const Body *body) {
  static char room[TEXT];
  Text text = {room, room + TEXT};
  scree_Scene *scene;
  scree_World *world;
  scree_StepReport report;
  write_scene(&text, d, obstacle, body);
  OK(scree_scene_parse(room, strlen(room), obstacle->name, NULL, &test_log, &scene));
  OK(scree_scene_build(scene, &test_log, &world));
  int b = 0;
  while (scree_body_is_obstacle(world, b)) ++b;
  const double weight = scree_body_mass(world, b) * gravity;
  double created = 0, time = 0, moves = 0;
  scree_Vec3 force = {0, 0, 0};
  int missed = 0;
  do {
    const scree_Status status = scree_world_step(world, &report);
    assert_true(status <= SCREE_NOT_CONVERGED);
    missed += status != SCREE_OK;
    created = fmax(created, report.energy_created);
    if (report.time < fall) continue;
    const scree_Vec3 r = carried(world, b);
    force = vec(force.x + r.x, force.y + r.y, force.z + r.z);
    time += report.h;
    moves = fmax(moves, report.energy.kinetic / (weight * 0.1));
  } while (report.time < fall + look);
  const double up = (d == 2 ? force.y : force.z) / (weight * time) - 1;
  const double aside = hypot(force.x, d == 2 ? 0 : force.y) / (weight * time);
  const double height =
      d == 2 ? scree_body_pose(world, b).position.y : scree_body_pose(world, b).position.z;
  const bool rests = moves < at_rest;
  bool good = missed == 0 && created < created_most && height > -0.5;
  if (!rests && !body->rolls) good = false;
  if (rests) good = good && fabs(up) < off_weight && aside < off_weight;
  if (!good)
    print_message(
        "%s on %s: %d steps missed, created %.1e, height %.3f, energy at rest %.1e, force "
        "%.2e beside the weight, %.2e across\n",
        body->name, obstacle->name, missed, created, height, moves, up, aside);
  scree_world_destroy(world);
  scree_scene_destroy(scene);
  return good;
}

static void run_pairs(int d, const Obstacle *obstacle, int obstacles, const Body *body,
                      int bodies) {
  const char *all = getenv("SCREE_ALL"), *seed = getenv("SCREE_SEED");
  const uint64_t start = seed ? (uint64_t)atoi(seed) : 1;
  int wrong = 0;
  for (int i = 0; i < obstacles; ++i)
    for (int j = 0; j < bodies; ++j) {
      random_state = start * 1000003 + (uint64_t)(i * 1000 + j);
      for (int k = 0; k < 8; ++k) between(0, 1);
      if (!all && (i + j) % EVERY != (int)(start % EVERY)) continue;
      wrong += !falls(d, &obstacle[i], &body[j]);
    }
  assert_int_equal(wrong, 0);
}

static void test_space(void **state) {
  (void)state;
  run_pairs(3, supports, (int)(sizeof supports / sizeof *supports), solids,
            (int)(sizeof solids / sizeof *solids));
}

static void test_plane(void **state) {
  (void)state;
  run_pairs(2, supports_2d, (int)(sizeof supports_2d / sizeof *supports_2d), planes,
            (int)(sizeof planes / sizeof *planes));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plane), cmocka_unit_test(test_space)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
