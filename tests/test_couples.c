/* Every shape of scenes against every other one: each kind of body (rigid, pseudo-rigid, finite
 * elements) runs against each other body and against each obstacle, every step certified, or the
 * scene is refused with a message that names what is wrong.
 *
 * That bodies stay outside of each other is judged without the contacts: each shape contains a ball
 * round its origin, and no two such balls may meet. Pairs of bodies must keep their momentum. */
#include "test_world_scene.h"

#include "scree/scene.h"

typedef struct Entry {
  const char *name, *text; /* the shape, as a scene has it */
  double inner;            /* radius of a ball round the origin that it contains */
  const char *kind;        /* of the body, besides rigid ones: "", "pseudo-rigid", "elements" */
} Entry;

static const Entry bodies_2d[] = {
    {"disk", "{ kind: disk, radius: 0.4 }", 0.4, "pseudo-rigid"},
    {"ellipse", "{ kind: ellipse, semi_x: 0.5, semi_y: 0.3 }", 0.3, "pseudo-rigid"},
    {"polygon", "{ kind: polygon, vertices: [[-0.4, -0.3], [0.5, -0.3], [0.1, 0.5]] }", 0.15, ""},
    {"box", "{ kind: box, half_x: 0.5, half_y: 0.3 }", 0.3, ""},
    {"segment", "{ kind: segment, half_length: 0.3, radius: 0.2 }", 0.2, ""},
    {"clump",
     "{ kind: clump, parts: [{ shape: { kind: disk, radius: 0.3 }, position: [0.2, 0] },"
     " { shape: { kind: box, half_x: 0.3, half_y: 0.25 }, position: [-0.2, 0] }] }",
     0.2, ""},
};
static const Entry bodies_3d[] = {
    {"sphere", "{ kind: sphere, radius: 0.4 }", 0.4, "pseudo-rigid"},
    {"ellipsoid", "{ kind: ellipsoid, semi_x: 0.5, semi_y: 0.3, semi_z: 0.4 }", 0.3,
     "pseudo-rigid"},
    {"box", "{ kind: box, half_x: 0.5, half_y: 0.3, half_z: 0.4 }", 0.3, "pseudo-rigid"},
    {"rounded box", "{ kind: box, half_x: 0.4, half_y: 0.2, half_z: 0.3, radius: 0.1 }", 0.3, ""},
    {"capsule", "{ kind: capsule, half_length: 0.3, radius: 0.25 }", 0.25, ""},
    {"cylinder", "{ kind: cylinder, radius: 0.3, half_length: 0.4 }", 0.3, ""},
    {"cone", "{ kind: cone, radius: 0.4, half_length: 0.4 }", 0.15, ""},
    {"superellipsoid",
     "{ kind: superellipsoid, semi_x: 0.5, semi_y: 0.3, semi_z: 0.4, exponent_xy: 4,"
     " exponent_z: 3 }",
     0.3, ""},
    {"polyhedron", "{ kind: polyhedron, random: { diameter: 1, points: 20, seed: 3 } }", 0.15,
     "pseudo-rigid"},
    {"rounded polyhedron",
     "{ kind: polyhedron, radius: 0.1, vertices: [[0.3, 0.3, 0.3], [-0.3, -0.3, 0.3],"
     " [-0.3, 0.3, -0.3], [0.3, -0.3, -0.3]] }",
     0.2, ""},
    {"clump",
     "{ kind: clump, parts: [{ shape: { kind: sphere, radius: 0.3 }, position: [0.2, 0, 0] },"
     " { shape: { kind: box, half_x: 0.3, half_y: 0.25, half_z: 0.25 },"
     " position: [-0.2, 0, 0] }] }",
     0.2, ""},
    {"elements", "{ kind: elements, half_x: 0.4, half_y: 0.3, half_z: 0.35, divisions: [2, 2, 2] }",
     0.28, "elements"},
};

/* Obstacles that bodies do not have, and where a body falls on them from: it must stay above
 * `floor`, or within `wall` of the z axis (0: no wall), by the radius of its inner ball. */
typedef struct Trap {
  const char *name, *text;
  double from[3], floor, wall;
} Trap;

static const Trap traps_2d[] = {
    {"half-plane", "shape: { kind: half-plane }", {0, 0.8, 0}, 0, 0},
    {"drum", "shape: { kind: drum, radius: 2 }", {0.3, -1.2, 0}, -2, 0},
};
static const Trap traps_3d[] = {
    {"half-space", "shape: { kind: half-space }", {0, 0, 0.8}, 0, 0},
    {"rectangle", "shape: { kind: rectangle, half_x: 4, half_y: 4 }", {0.1, 0.2, 0.8}, 0, 0},
    {"mesh",
     "shape: { kind: mesh, vertices: [[-4, -4, 0], [4, -4, 0], [4, 4, 0.1], [-4, 4, 0.1],"
     " [0.1, 0, 0]], triangles: [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]] }",
     {0.1, 0.2, 0.85},
     0,
     0},
    {"height-field",
     "shape: { kind: height-field, expression: 0.05*sin(3*x)*cos(2*y), size: [8, 8],"
     " count: [41, 41] }",
     {0.1, 0.2, 0.85},
     -0.05,
     0},
    {"pipe",
     "shape: { kind: pipe, radius: 2, half_length: 3 }, rotation: { axis: [0, 1, 0], angle: pi/2 }",
     {0.1, 0.2, -1.2},
     -2,
     0},
    {"drum (3D)", "shape: { kind: drum, radius: 1, half_length: 1 }", {0.1, 0, -0.2}, -1, 1},
    {"funnel",
     "shape: { kind: funnel, radius: 0, top_radius: 2, half_length: 1 }",
     {0.1, 0.1, 0.2},
     -1,
     2},
    {"ring", "shape: { kind: ring, radius: 4, hole_radius: 0.1 }", {1.5, 0.5, 0.8}, 0, 0},
};

enum { COUNT_2D = sizeof bodies_2d / sizeof *bodies_2d };
enum { COUNT_3D = sizeof bodies_3d / sizeof *bodies_3d };

static long runs, failed;

static scree_World *world_of(const char *text, scree_Scene **scene) {
  scree_World *world = NULL;
  scree_Status status =
      scree_scene_parse(text, strlen(text), "couple.yaml", NULL, &test_log, scene);
  if (!status) status = scree_scene_build(*scene, &test_log, &world);
  if (status) print_message("%s\n", text);
  assert_int_equal(status, SCREE_OK);
  return world;
}

static void miss(const char *what, const char *a, const char *b, double value) {
  ++failed;
  print_message("%s against %s: %s (%g)\n", a, b, what, value);
}

/* One step; says what is not certified. */
static bool step(scree_World *world, int *touched) {
  scree_StepReport report;
  const scree_Status status = scree_world_step(world, &report);
  *touched += report.active > 0;
  if (status)
    print_message("t %g: %s, error %.1e of %.1e, penetration %.1e, energy %.1e, creep %.1e, %d "
                  "contacts\n",
                  report.time, scree_status_name(status), report.error, report.tolerance,
                  report.penetration, report.energy_created, report.creep, report.contacts);
  return status == SCREE_OK;
}

static double distance(scree_Vec3 a, scree_Vec3 b) {
  return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

/* A material, soft enough to deform and stiff enough to keep its inner ball. */
#define HEAD                                                                                       \
  "dimension: %d\ngravity: %s\ncontact: { mu: 0.3 }\n"                                             \
  "materials: { stuff: { density: 1000, young: 1e7, poisson: 0.25, damping: 1e-3 } }\n"

/* ---- a body runs into another, without gravity ------------------------------------------------
 */

static void meet(int d, const Entry *a, const char *kind_a, const Entry *b, const char *kind_b) {
  char text[2000];
  snprintf(text, sizeof text,
           HEAD "bodies:\n  - { shape: %s, kind: %s, position: %s, %s }\n"
                "  - { shape: %s, kind: %s, position: %s, velocity: %s, %s }\n"
                "time: { duration: 1, step: 0.01 }\n",
           d, d == 2 ? "[0, 0]" : "[0, 0, 0]", a->text, kind_a, d == 2 ? "[0, 0]" : "[0, 0, 0]",
           d == 2 ? "angle: 0.3" : "rotation: { axis: [1, 2, 3], angle: 0.7 }", b->text, kind_b,
           d == 2 ? "[0.05, 1.3]" : "[0.05, 0.03, 1.3]", d == 2 ? "[0, -1]" : "[0, 0, -1]",
           d == 2 ? "angle: 1.1" : "rotation: { axis: [3, -1, 2], angle: 1.3 }");
  scree_Scene *scene;
  scree_World *world = world_of(text, &scene);
  const double mass[2] = {scree_body_mass(world, 0), scree_body_mass(world, 1)};
  int touched = 0;
  bool certified = true;
  double nearest = INFINITY;
  for (int k = 0; k < 100 && certified; ++k) {
    certified = step(world, &touched);
    nearest = fmin(
        nearest, distance(scree_body_pose(world, 0).position, scree_body_pose(world, 1).position));
  }
  const scree_Vec3 u = scree_body_velocity(world, 0).linear,
                   v = scree_body_velocity(world, 1).linear;
  const double along = d == 2 ? mass[0] * u.y + mass[1] * v.y : mass[0] * u.z + mass[1] * v.z;
  const double error = fmax(fmax(fabs(mass[0] * u.x + mass[1] * v.x), fabs(along + mass[1])),
                            d == 2 ? 0 : fabs(mass[0] * u.y + mass[1] * v.y)) /
                       mass[1];
  char name[2][64];
  snprintf(name[0], sizeof name[0], "%s %s", kind_a, a->name);
  snprintf(name[1], sizeof name[1], "%s %s", kind_b, b->name);
  ++runs;
  if (!certified) miss("a step is not certified", name[0], name[1], scree_world_time(world));
  if (touched == 0) miss("they never touched", name[0], name[1], nearest);
  if (nearest < 0.98 * (a->inner + b->inner)) miss("too near", name[0], name[1], nearest);
  if (!(error < 1e-9)) miss("momentum is not kept", name[0], name[1], error);
  scree_world_destroy(world);
  scree_scene_destroy(scene);
}

static void test_bodies(void **state) {
  (void)state;
  runs = failed = 0;
  for (int d = 2; d <= 3; ++d) {
    const Entry *all = d == 2 ? bodies_2d : bodies_3d;
    const int n = d == 2 ? COUNT_2D : COUNT_3D;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        /* the other order is another case: the first body is the one that is hit */
        if (j >= i) meet(d, &all[i], "rigid", &all[j], "rigid");
        if (*all[j].kind) meet(d, &all[i], "rigid", &all[j], all[j].kind);
        if (*all[i].kind && *all[j].kind && j >= i)
          meet(d, &all[i], all[i].kind, &all[j], all[j].kind);
      }
  }
  print_message("%ld couples of bodies, %ld complaints\n", runs, failed);
  assert_int_equal(failed, 0);
}

/* ---- a body falls on an obstacle --------------------------------------------------------------
 */

static void fall(int d, const char *name, const char *obstacle, const double *from, double ground,
                 double wall, const Entry *body, const char *kind, double apart) {
  char text[2000], place[120];
  if (d == 2)
    snprintf(place, sizeof place, "[%g, %g], angle: 1.1", from[0], from[1]);
  else
    snprintf(place, sizeof place, "[%g, %g, %g], rotation: { axis: [3, -1, 2], angle: 1.3 }",
             from[0], from[1], from[2]);
  snprintf(text, sizeof text,
           HEAD "bodies:\n  - { shape: %s, kind: %s, position: %s }\nobstacles:\n  - { %s }\n"
                "time: { duration: 0.6 }\n",
           d, d == 2 ? "[0, -9.81]" : "[0, 0, -9.81]", body->text, kind, place, obstacle);
  scree_Scene *scene;
  scree_World *world = world_of(text, &scene);
  int touched = 0;
  bool certified = true;
  double least = INFINITY;
  while (scree_world_time(world) < 0.6 && certified) {
    certified = step(world, &touched);
    const scree_Vec3 p = scree_body_pose(world, 1).position; /* obstacles come first */
    double room = (d == 2 ? p.y : p.z) - ground;
    if (wall > 0) room = fmin(room, wall - hypot(p.x, p.y));
    if (apart > 0) room = hypot(hypot(p.x, p.y), p.z) - apart; /* from a bounded obstacle */
    least = fmin(least, room);
  }
  char label[64];
  snprintf(label, sizeof label, "%s %s", kind, body->name);
  ++runs;
  if (!certified) miss("a step is not certified", label, name, scree_world_time(world));
  if (touched == 0) miss("they never touched", label, name, least);
  /* a soft ball is pressed together by 0.022 of its radius by the fall, at any step */
  const double kept = strcmp(kind, "pseudo-rigid") == 0 ? 0.97 : 0.98;
  if (least < kept * body->inner) miss("too near", label, name, least);
  scree_world_destroy(world);
  scree_scene_destroy(scene);
}

static void test_obstacles(void **state) {
  (void)state;
  runs = failed = 0;
  for (int d = 2; d <= 3; ++d) {
    const Entry *all = d == 2 ? bodies_2d : bodies_3d;
    const int n = d == 2 ? COUNT_2D : COUNT_3D;
    const Trap *traps = d == 2 ? traps_2d : traps_3d;
    const int trap_count = d == 2 ? (int)(sizeof traps_2d / sizeof *traps_2d)
                                  : (int)(sizeof traps_3d / sizeof *traps_3d);
    for (int i = 0; i < n; ++i)
      for (int soft = 0; soft < (*all[i].kind ? 2 : 1); ++soft) {
        const char *kind = soft ? all[i].kind : "rigid";
        for (int t = 0; t < trap_count; ++t)
          fall(d, traps[t].name, traps[t].text, traps[t].from, traps[t].floor, traps[t].wall,
               &all[i], kind, 0);
        for (int j = 0; j < n; ++j) {
          static const double above[2][3] = {{0.05, 1.25, 0}, {0.05, 0.03, 1.25}};
          char obstacle[600], name[64];
          snprintf(obstacle, sizeof obstacle, "shape: %s, %s", all[j].text,
                   d == 2 ? "angle: 0.3" : "rotation: { axis: [1, 2, 3], angle: 0.7 }");
          snprintf(name, sizeof name, "the obstacle %s", all[j].name);
          fall(d, name, obstacle, above[d - 2], 0, 0, &all[i], kind, all[j].inner);
        }
      }
  }
  print_message("%ld couples with obstacles, %ld complaints\n", runs, failed);
  assert_int_equal(failed, 0);
}

/* ---- straight sides on a face of finite elements ----------------------------------------------
 */

/* Cylinders and cones that lie or stand on a soft block of one element, whose corners they do not
 * touch: they come to rest where theory has them, without creating energy. */
static void lie(const char *name, const char *shape, const char *turn, double height) {
  char text[2000];
  snprintf(text, sizeof text,
           HEAD "bodies:\n"
                "  - { shape: { kind: elements, half_x: 0.3, half_y: 0.3, half_z: 0.1,"
                " divisions: [1, 1, 1] }, kind: elements, position: [0, 0, 0.1] }\n"
                "  - { shape: %s, position: [0.03, 0.05, %g], rotation: %s }\n"
                "obstacles: [{ shape: { kind: half-space } }]\ntime: { duration: 0.6 }\n",
           3, "[0, 0, -9.81]", shape, 0.205 + height, turn);
  scree_Scene *scene;
  scree_World *world = world_of(text, &scene);
  scree_StepReport report;
  do {
    OK(scree_world_step(world, &report));
  } while (scree_world_time(world) < 0.6);
  const double above = scree_body_pose(world, 2).position.z - 0.2;
  print_message("%s: at %.5f of %.5f, created %.1e\n", name, above, height, report.energy_created);
  NEAR(above, height, 0.005 * height); /* the block is compressed by less than that */
  assert_true(report.energy_created < 1e-4);
  assert_true(scree_world_energy(world).kinetic < 1e-6 * scree_world_energy(world).potential);
  scree_world_destroy(world);
  scree_scene_destroy(scene);
}

static void test_lying(void **state) {
  (void)state;
  static const char *const cylinder = "{ kind: cylinder, radius: 0.1, half_length: 0.15 }";
  static const char *const cone = "{ kind: cone, radius: 0.1, half_length: 0.15 }";
  char on_side[80];
  lie("lying cylinder", cylinder, "{ axis: [1, 0.2, 0], angle: pi/2 }", 0.1);
  lie("standing cylinder", cylinder, "{ axis: [0, 0, 1], angle: 0.3 }", 0.15);
  lie("standing cone", cone, "{ axis: [0, 0, 1], angle: 0.3 }", 0.075);
  /* its axis rises by the half-angle a: the centre is 3/4 of the height from the tip */
  const double a = atan(0.1 / 0.3);
  snprintf(on_side, sizeof on_side, "{ axis: [1, 0.2, 0], angle: pi/2 + %.17g }", a);
  lie("lying cone", cone, on_side, 0.75 * 0.3 * sin(a));
}

/* ---- what does not work is refused by name ----------------------------------------------------
 */

static void keep_message(void *user, scree_LogLevel level, const char *message) {
  if (level <= SCREE_LOG_ERROR) snprintf(user, 1000, "%s", message);
}

static void refused(int d, const char *shape, const char *kind, const char *name) {
  char text[1000], message[1000] = "";
  const scree_Log log = {keep_message, message};
  snprintf(text, sizeof text, HEAD "bodies:\n  - { shape: %s, kind: %s }\n", d,
           d == 2 ? "[0, 0]" : "[0, 0, 0]", shape, kind);
  scree_Scene *scene = NULL;
  scree_World *world = NULL;
  scree_Status status = scree_scene_parse(text, strlen(text), "couple.yaml", NULL, &log, &scene);
  if (!status) status = scree_scene_build(scene, &log, &world);
  ++runs;
  if (status != SCREE_BAD_INPUT || !strstr(message, name)) {
    ++failed;
    print_message("%dD %s %s: status %d, message \"%s\"\n", d, kind, name, status, message);
  }
  scree_world_destroy(world);
  scree_scene_destroy(scene);
}

static void test_refused(void **state) {
  (void)state;
  runs = failed = 0;
  for (int d = 2; d <= 3; ++d) {
    const Entry *all = d == 2 ? bodies_2d : bodies_3d, *others = d == 2 ? bodies_3d : bodies_2d;
    const int n = d == 2 ? COUNT_2D : COUNT_3D, other_count = d == 2 ? COUNT_3D : COUNT_2D;
    for (int k = 0; k < n; ++k) {
      const char *bare = strstr(all[k].text, "kind: ") + 6;
      char kind[32];
      snprintf(kind, sizeof kind, "%.*s", (int)strcspn(bare, ","), bare);
      if (strcmp(all[k].kind, "pseudo-rigid") != 0)
        refused(d, all[k].text, "pseudo-rigid", strcmp(kind, "box") ? kind : "pseudo-rigid");
      if (strcmp(all[k].kind, "elements") != 0) refused(d, all[k].text, "elements", "elements");
    }
    for (int k = 0; k < other_count; ++k) /* of the other dimension, unless both have the name */
      if (strcmp(others[k].name, "box") && strcmp(others[k].name, "clump") &&
          strcmp(others[k].name, "rounded box"))
        refused(d, others[k].text, "rigid", "exists in");
  }
  static const char *const unbounded[][2] = {
      {"half-space", "{ kind: half-space }"},
      {"drum", "{ kind: drum, radius: 1 }"},
      {"pipe", "{ kind: pipe, radius: 1, half_length: 1 }"},
      {"rectangle", "{ kind: rectangle, half_x: 1, half_y: 1 }"},
      {"ring", "{ kind: ring, radius: 1 }"},
      {"funnel", "{ kind: funnel, radius: 0.1, top_radius: 1,"
                 " half_length: 1 }"},
      {"mesh", "{ kind: mesh, vertices: [[0, 0, 0], [1, 0, 0],"
               " [0, 1, 0]], triangles: [[0, 1, 2]] }"},
      {"height-field", "{ kind: height-field, expression: 0*x,"
                       " size: [1, 1], count: [3, 3] }"}};
  for (size_t k = 0; k < sizeof unbounded / sizeof *unbounded; ++k)
    refused(3, unbounded[k][1], "rigid", unbounded[k][0]);
  refused(2, "{ kind: half-plane }", "rigid", "half-plane");
  refused(2, "{ kind: drum, radius: 1 }", "rigid", "drum");
  print_message("%ld bodies that do not exist, %ld complaints\n", runs, failed);
  assert_int_equal(failed, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bodies),
                                     cmocka_unit_test(test_obstacles), cmocka_unit_test(test_lying),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
