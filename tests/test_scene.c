/* Scenes: expressions, YAML with places, the schema's checks, round trips, generators, random
 * numbers, and the reader under seeded mutations. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/vec3.h"
#include "scene/generator_random.h"
#include "scene/scene.h"
#include "scene/scene_expression.h"
#include "scene/scene_schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages are gathered, so that they can be looked at. */
typedef struct Messages {
  char text[16384];
} Messages;

static void gather(void *user, scree_LogLevel level, const char *message) {
  Messages *m = user;
  (void)level;
  const size_t used = strlen(m->text);
  snprintf(m->text + used, sizeof m->text - used, "%s\n", message);
}

static scree_Scene *parse(const char *text, Messages *messages) {
  scree_Scene *scene = NULL;
  messages->text[0] = '\0';
  const scree_Log log = {gather, messages};
  scree_Status status = scree_scene_parse(text, strlen(text), "s.yaml", NULL, &log, &scene);
  assert_true((status == SCREE_OK) == (scene != NULL));
  if (!scene) assert_true(status == SCREE_BAD_INPUT && messages->text[0]);
  return scene;
}

/* ---- expressions ---- */

static void check_expression(const char *text, double t, double expected) {
  scree_Expression e;
  int at;
  assert_null(scree_expression_parse(&e, text, &at));
  const double value = scree_expression_value(&e, t);
  assert_true(fabs(value - expected) <= 1e-14 * fmax(1, fabs(expected)));
}

static void expressions(void **state) {
  (void)state;
  check_expression("1 + 2*3 - 4/8", 0, 6.5);
  check_expression("-2^2", 0, -4);
  check_expression("2^3^2", 0, 512);
  check_expression("2^-1", 0, 0.5);
  check_expression("(1+2)*3", 0, 9);
  check_expression("pi/6", 0, 3.14159265358979323846 / 6);
  check_expression("30*deg", 0, 30 * (3.14159265358979323846 / 180));
  check_expression("0.1*sin(2*pi*t)", 0.25, 0.1);
  check_expression("min(t, 3) + max(1, t) + abs(-t) + sqrt(16) + exp(0) + log(1) + cos(0) + tan(0)",
                   2, 2 + 2 + 2 + 4 + 1 + 0 + 1 + 0);
  check_expression("1.5e-3*2E3", 0, 3);
  check_expression("10 - 3 - 2", 0, 5);
  check_expression("16/4/2", 0, 2);
  static const char *const wrong[] = {"",    "1+",  "sin",   "sin(1", "foo(1)", "1 2", "min(1)",
                                      "(1",  ")",   "0x10",  "t t",   "1e",     "^2",  "max(1,2,3)",
                                      "..1", "1,2", "sin()", "2**3",  "exit(1)"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
    scree_Expression e;
    int at = -1;
    assert_non_null(scree_expression_parse(&e, wrong[k], &at));
    assert_in_range(at, 0, strlen(wrong[k]));
  }
  /* depth and length are bounded */
  char deep[4096];
  memset(deep, '(', sizeof deep);
  deep[sizeof deep - 1] = '\0';
  scree_Expression e;
  int at;
  assert_non_null(scree_expression_parse(&e, deep, &at));
  for (size_t k = 0; k + 2 < sizeof deep; k += 2) memcpy(deep + k, "1+", 2);
  assert_non_null(scree_expression_parse(&e, deep, &at));
}

/* ---- messages ---- */

static void mistakes(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"dimension: 2\ngrvity: [0, 1]\n",
       "s.yaml:2:1: unknown key \"grvity\"; did you mean gravity?"},
      {"bodies:\n  - shape: {kind: sphere, radius: -1}\n",
       "s.yaml:2:35: bodies[0].shape.radius: found \"-1\", expected a number > 0"},
      {"bodies:\n  - shape: {kind: spere, radius: 1}\n", "did you mean sphere?"},
      {"bodies:\n  - {shape: {kind: disk, radius: 1}}\n",
       "a disk exists in 2D, but the scene is 3D"},
      {"bodies:\n  - {shape: {kind: sphere}}\n", "s.yaml:2:13: bodies[0].shape: radius is missing"},
      {"bodies:\n  - {shape: {kind: sphere, radius: 1}, angle: 1}\n", "exists in 2D only"},
      {"gravity: [0, 1]\n",
       "s.yaml:1:10: gravity: found a list of 2, expected a list of 3 numbers"},
      {"time: {step: 0}\n", "time.step: found \"0\", expected a number > 0"},
      {"time: {theta: 2}\n", "expected a number from 0.5 to 1"},
      {"time: {scheme: eular}\n", "did you mean euler?"},
      {"seed: 1.5\n", "expected an integer"},
      {"seed: [1]\n", "found a list of 1, expected an integer"},
      {"output: {contacts: maybe}\n", "expected true or false"},
      {"solver: {name: nlgs, options: {locl: exact}}\n", "did you mean \"local\"?"},
      {"a: 1\na: 2\n", "s.yaml:2:1: key \"a\" is given twice"},
      {"a: [1, 2\n", "not valid YAML"},
      {"a: *b\n", "names no anchor"},
      {"- 1\n", "found a list of 1, expected a map"},
      {"materials: {a: {}}\nbodies:\n  - {shape: {kind: sphere, radius: 1}, material: b}\n",
       "s.yaml:3:50: unknown material \"b\""},
      {"pairs: [{between: [default, x]}]\n", "unknown material \"x\""},
      {"bodies:\n  - {shape: {kind: half-space}}\n", "it can only be an obstacle"},
      {"forces: [{force: [1, 0, 0], body: z}]\n", "no body is named \"z\""},
      {"forces: [{body: all}]\n", "expected force and torque, or acceleration"},
      {"obstacles: [{shape: {kind: half-space}, velocity: [t, u, 0]}]\n", "unknown name"},
      {"obstacles: [{shape: {kind: half-space}, velocity: {times: [0, 0], values: "
       "[[0,0,0],[0,0,0]]}}]\n",
       "expected a time after the one before it"},
      {"obstacles: [{shape: {kind: half-space}, normal: [0, 0, 0]}]\n", "other than zero"},
      {"generators:\n  - {kind: fill, fraction: 0.9, shape: {kind: sphere, radius: 1}, "
       "region: {kind: box, lower: [0,0,0], upper: [10,10,10]}}\n",
       "fill at most"},
      {"generators:\n  - {kind: lattice, count: [2, 2, 2], spacing: 1, shape: {kind: sphere, "
       "radius: 1}}\n",
       "overlaps body 0"},
      {"bodies: [{shape: {kind: elements, half_x: 1, half_y: 1, half_z: 1}}]\n",
       "divisions are missing"},
      {"bodies: [{shape: {kind: elements, half_x: 1, half_y: 1, half_z: 1, divisions: [1, 0, "
       "1]}}]\n",
       "divisions: found \"0\", expected an integer from 1 to 1000"},
      {"bodies: [{kind: elements, shape: {kind: sphere, radius: 1}}]\nmaterials: {a: {young: 1}}\n",
       "expected the shape elements"},
      {"bodies: [{kind: elements, shape: {kind: elements, half_x: 1, half_y: 1, half_z: 1, "
       "divisions: [1, 1, 1]}}]\n",
       "has no `young`"},
      {"dimension: 2\ngenerators: [{kind: dome, radius: 1, thickness: 1, courses: 3, blocks: 8, "
       "opening: 0.2}]\n",
       "dome exists in 3D only"},
      {"dimension: 2\nbodies: [{shape: {kind: polygon, vertices: [[0,0],[1,0],[2,0]]}}]\n",
       "lie on a line"},
      /* words of other programs */
      {"materials: {a: {friction: 0.3}}\n", "unknown key \"friction\"; did you mean contact.mu?"},
      {"contact: {friction: 0.3}\n", "contact: unknown key \"friction\"; did you mean mu?"},
      {"contact: {restitution: 0.3}\n", "did you mean e_n?"},
      {"materials: {a: {mass: 2}}\n", "did you mean density (bodies"},
      {"output: {interval: 0.1}\n", "did you mean every?"},
      {"threads: 2\n", "did you mean solver.threads, or --threads of scree run?"},
      {"dt: 1e-3\n", "did you mean time.step?"},
      {"time: {timestep: 1e-3}\n", "did you mean time.step?"},
      {"time: {t_end: 1}\n", "did you mean time.duration?"},
      {"time: {end: 1}\n", "did you mean time.duration?"},
      {"bodies: [{shape: {kind: box, half_extents: [1, 1, 1]}}]\n", "did you mean half_x, half_y"},
      {"bodies: [{shape: {kind: box, size: [1, 1, 1]}}]\n", "(half of each size)?"},
      {"bodies: [{shape: {kind: ellipsoid, semi_axes: [1, 1, 1]}}]\n",
       "did you mean semi_x, semi_y"},
      {"bodies: [{shape: {kind: sphere, diameter: 1}}]\n", "did you mean radius (half"},
      {"bodies: [{shape: {kind: cube, half_x: 1}}]\n", "did you mean box?"},
      {"bodies: [{shape: {kind: sphere, radius: 1}, fixed: true}]\n", "an entry of obstacles"},
      {"joints: [{kind: revolute, bodies: [a, b]}]\n", "did you mean hinge?"},
      {"joints: [{kind: ball, between: [a, b], position: [0, 0, 0]}]\n", "did you mean bodies?"},
      {"joints: [{kind: ball, between: [a, b], position: [0, 0, 0]}]\n", "did you mean anchor?"},
      {"dimension: 2\nobstacles: [{name: ground, shape: {kind: half-plane}}]\n"
       "generators: [{kind: lattice, origin: [0, 0.2], count: [1, 1], spacing: 1,\n"
       "  shape: {kind: polygon, vertices: [[-1, -0.2], [1, -0.2], [1, 0.2], [-1, 0.2]]}}]\n",
       "overlaps obstacle 0, ground; it is turned at random"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    Messages messages;
    assert_null(parse(cases[k].text, &messages));
    if (!strstr(messages.text, cases[k].message))
      fail_msg("case %zu: found\n%sexpected\n%s", k, messages.text, cases[k].message);
  }
  /* all mistakes are reported, not only the first */
  Messages messages;
  assert_null(parse("seed: x\ntime: {step: -1}\ngravty: 1\n", &messages));
  assert_non_null(strstr(messages.text, "seed"));
  assert_non_null(strstr(messages.text, "time.step"));
  assert_non_null(strstr(messages.text, "gravty"));
}

static void overrides(void **state) {
  (void)state;
  static const char text[] = "dimension: 2\nbodies:\n  - {shape: {kind: disk, radius: 1}}\n";
  static const char *const sets[] = {
      "bodies[0].velocity=[3, 4]", "time.step=1/8", "bodies[1].shape={kind: disk, radius: 2}",
      "bodies[1].position=[9, 0]", "title=a: b",    NULL};
  static const char *const bad[][2] = {
      {"time.stp=1", NULL},   {"time.step", NULL}, {"bodies[7].x=1", NULL}, {"seed.x=1", NULL},
      {"time.step=-1", NULL}, {"=3", NULL},        {"bodies[x]=1", NULL},   {"title=[", NULL}};
  Messages messages = {""};
  const scree_Log log = {gather, &messages};
  scree_Scene *scene;
  assert_int_equal(scree_scene_parse(text, strlen(text), "s", sets, &log, &scene), SCREE_BAD_INPUT);
  /* "a: b" is a map in YAML; quotes make it a text */
  const char *fixed[6];
  memcpy(fixed, sets, sizeof fixed);
  fixed[4] = "title=\"a: b\"";
  assert_int_equal(scree_scene_parse(text, strlen(text), "s", fixed, &log, &scene), SCREE_OK);
  assert_int_equal(scene->body_count, 2);
  assert_true(scene->bodies[0].def.velocity.linear.x == 3);
  assert_true(scene->bodies[0].def.velocity.linear.y == 4);
  assert_true(scene->bodies[1].shape.radius == 2);
  assert_true(scree_scene_info(scene).step == 0.125);
  assert_string_equal(scree_scene_info(scene).title, "a: b");
  scree_scene_destroy(scene);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
    messages.text[0] = '\0';
    assert_int_equal(scree_scene_parse(text, strlen(text), "s", bad[k], &log, &scene),
                     SCREE_BAD_INPUT);
    assert_non_null(strstr(messages.text, "--set"));
  }
}

/* ---- what a scene becomes ---- */

static char *load(const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", SCREE_SOURCE, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 20);
  const size_t n = fread(text, 1, (1 << 20) - 1, file);
  assert_true(n > 0);
  fclose(file);
  return text;
}

static const char *const examples[] = {"examples/drum.yaml",     "examples/sedimentation.yaml",
                                       "examples/column.yaml",   "examples/hopper.yaml",
                                       "examples/pile.yaml",     "examples/wall.yaml",
                                       "examples/ellipses.yaml", "examples/dominoes.yaml"};
enum { EXAMPLES = sizeof examples / sizeof *examples };

/* The scene as used, read again, is itself; examples start without overlap. */
static void round_trip(void **state) {
  (void)state;
  for (int k = 0; k < EXAMPLES; ++k) {
    char *text = load(examples[k]);
    Messages messages;
    scree_Scene *scene = parse(text, &messages);
    if (!scene) fail_msg("%s: %s", examples[k], messages.text);
    scree_Scene *again = parse(scree_scene_text(scene), &messages);
    if (!again) fail_msg("%s as used: %s", examples[k], messages.text);
    assert_string_equal(scree_scene_text(scene), scree_scene_text(again));
    assert_int_equal(scene->body_count, again->body_count);
    for (size_t b = 0; b < scene->body_count; ++b) {
      assert_memory_equal(&scene->bodies[b].def.pose, &again->bodies[b].def.pose,
                          sizeof(scree_Pose));
      assert_true(scene->bodies[b].shape.radius == again->bodies[b].shape.radius);
    }
    scree_World *world = NULL;
    double penetration = 1;
    assert_int_equal(scree_scene_build(scene, NULL, &world), SCREE_OK);
    assert_int_equal(scree_world_penetration(world, &penetration, NULL), SCREE_OK);
    assert_true(penetration < 1e-9);
    scree_world_destroy(world);
    scree_scene_destroy(scene);
    scree_scene_destroy(again);
    free(text);
  }
}

static void placing(void **state) {
  (void)state;
  Messages messages;
  scree_Scene *scene = parse("dimension: 2\n"
                             "obstacles:\n"
                             "  - {shape: {kind: segment, radius: 0.1}, from: [1, 1], to: [1, 3]}\n"
                             "  - {shape: {kind: half-plane}, normal: [1, 0]}\n"
                             "bodies:\n"
                             "  - {shape: {kind: polygon, vertices: [[1,1],[3,1],[3,2],[1,2]]}}\n"
                             "  - {shape: {kind: disk, radius: 1}, angle: pi/2, mass: 7}\n",
                             &messages);
  assert_non_null(scene);
  assert_true(fabs(scene->bodies[0].shape.half_length - 1) < 1e-15);
  assert_true(fabs(scene->bodies[0].def.pose.position.y - 2) < 1e-15);
  const scree_Vec3 end = scree_pose_apply(&scene->bodies[0].def.pose, scree_vec3(1, 0, 0));
  assert_true(fabs(end.x - 1) < 1e-15 && fabs(end.y - 3) < 1e-15);
  const scree_Vec3 n =
      scree_quat_rotate(scene->bodies[1].def.pose.orientation, scree_vec3(0, 1, 0));
  assert_true(fabs(n.x - 1) < 1e-15 && fabs(n.y) < 1e-15);
  /* a polygon's vertices are where they are typed */
  const scree_Aabb box = scree_shape_aabb(&scene->bodies[2].shape, &scene->bodies[2].def.pose);
  assert_true(fabs(box.lower.x - 1) < 1e-12 && fabs(box.upper.y - 2) < 1e-12);
  assert_true(scene->bodies[3].def.mass == 7);
  scree_scene_destroy(scene);
}

static void signals(void **state) {
  (void)state;
  Messages messages;
  scree_Scene *scene =
      parse("obstacles:\n"
            "  - {shape: {kind: half-space}, velocity: [t^2, 1, -t], angular_velocity: "
            "{times: [1, 2], values: [[0,0,0],[2,4,6]]}}\n",
            &messages);
  assert_non_null(scene);
  scree_Twist v = scree_scene_signal_at(scene->bodies[0].driver, 1.5);
  assert_true(v.linear.x == 2.25 && v.linear.y == 1 && v.linear.z == -1.5);
  assert_true(v.angular.x == 1 && v.angular.y == 2 && v.angular.z == 3);
  v = scree_scene_signal_at(scene->bodies[0].driver, 0);
  assert_true(v.angular.z == 0);
  v = scree_scene_signal_at(scene->bodies[0].driver, 9);
  assert_true(v.angular.z == 6);
  scree_scene_destroy(scene);
}

/* A fill reaches its fraction to half a body, inside its region, among obstacles. */
static void filling(void **state) {
  (void)state;
  Messages messages;
  static const char *const regions[] = {
      "{kind: box, lower: [0, 0], upper: [1, 1]}", "{kind: drum, radius: 0.6, centre: [0.5, 0.5]}",
      "{kind: hopper, outlet: [0.5, 0], outlet_width: 0.4, top_width: 1.4, height: 1}"};
  static const double volumes[] = {1, 3.14159265358979 * 0.36, 0.9};
  for (int k = 0; k < 3; ++k) {
    char text[512];
    snprintf(text, sizeof text,
             "dimension: 2\nobstacles: [{shape: {kind: disk, radius: 0.1}, position: [0.5, 0.3]}]\n"
             "generators: [{kind: fill, region: %s, fraction: 0.3, shape: {kind: ellipse, "
             "semi_x: 0.02, semi_y: 0.015}, scale: {min: 0.8, max: 1.2}}]\n",
             regions[k]);
    scree_Scene *scene = parse(text, &messages);
    if (!scene) fail_msg("%s", messages.text);
    double volume = 0, largest = 0;
    for (size_t b = 1; b < scene->body_count; ++b) {
      volume += scene->bodies[b].shape.volume;
      largest = fmax(largest, scene->bodies[b].shape.volume);
    }
    assert_true(fabs(volume - 0.3 * volumes[k]) <= largest);
    scree_World *world = NULL;
    double penetration = 1;
    assert_int_equal(scree_scene_build(scene, NULL, &world), SCREE_OK);
    assert_int_equal(scree_world_penetration(world, &penetration, NULL), SCREE_OK);
    assert_true(penetration == 0);
    scree_world_destroy(world);
    scree_scene_destroy(scene);
  }
}

static void masonry(void **state) {
  (void)state;
  Messages messages;
  scree_Scene *scene = parse(
      "generators: [{kind: wall, brick: [0.2, 0.1, 0.05], courses: 3, length: 4, density: 2000}]\n",
      &messages);
  assert_non_null(scene);
  assert_int_equal(scene->body_count, 4 + 5 + 4);
  double volume = 0;
  for (size_t b = 0; b < scene->body_count; ++b) volume += scene->bodies[b].shape.volume;
  assert_true(fabs(volume - 12 * 0.2 * 0.1 * 0.05) < 1e-15);
  scree_scene_destroy(scene);
  scene = parse("dimension: 2\ngenerators: [{kind: arch, radius: 1, thickness: 0.2, blocks: 7}]\n",
                &messages);
  assert_non_null(scene);
  assert_int_equal(scene->body_count, 7);
  scree_World *world = NULL;
  double penetration = 1;
  assert_int_equal(scree_scene_build(scene, NULL, &world), SCREE_OK);
  assert_int_equal(scree_world_penetration(world, &penetration, NULL), SCREE_OK);
  assert_true(penetration < 1e-12);
  scree_world_destroy(world);
  scree_scene_destroy(scene);
}

/* How far the highest block of a half-circular arch of mean radius 1 has come down after a while.
 */
static double fall_of_arch(double thickness) {
  Messages messages;
  char text[400];
  snprintf(text, sizeof text,
           "dimension: 2\ncontact: {mu: 0.8}\nobstacles: [{shape: {kind: half-plane}}]\n"
           "generators: [{kind: arch, radius: %g, thickness: %g, blocks: 31}]\n"
           "time: {scheme: euler, step: 4e-3}\nsolver: {tolerance: 1e-6, threads: 1}\n",
           1 - 0.5 * thickness, thickness);
  scree_Scene *scene = parse(text, &messages);
  assert_non_null(scene);
  scree_World *world = NULL;
  assert_int_equal(scree_scene_build(scene, NULL, &world), SCREE_OK);
  const int keystone = 16; /* the obstacle is 0 */
  const double height = scree_body_pose(world, keystone).position.y;
  assert_true(fabs(height - 1) < 0.01);
  for (int k = 0; k < 150; ++k) assert_int_equal(scree_world_step(world, NULL), SCREE_OK);
  const double fallen = height - scree_body_pose(world, keystone).position.y;
  scree_world_destroy(world);
  scree_scene_destroy(scene);
  return fallen;
}

/* The least thickness with which a half-circular arch stands is 0.1075 of its mean radius
 * (Milankovitch, 1907); friction of 0.8 lets nothing slide. */
static void thin_arches_fall(void **state) {
  (void)state;
  const double thin = fall_of_arch(0.1), thick = fall_of_arch(0.115);
  print_message("arches: of 0.1 falls by %.2e, of 0.115 by %.2e\n", thin, thick);
  assert_true(thin > 0.05);
  assert_true(fabs(thick) < 1e-3);
}

/* ---- random numbers ---- */

/* Golden values: the same on every platform. */
static void random_golden(void **state) {
  (void)state;
  scree_Random random = scree_random(1, 2, 3);
  uint64_t hash = 1469598103934665603u;
  for (int k = 0; k < 100; ++k) {
    const scree_Distribution normal = {
        .kind = SCREE_DISTRIBUTION_NORMAL, .min = 0.5, .max = 1.5, .mean = 1, .deviation = 0.2};
    const scree_Distribution power = {
        .kind = SCREE_DISTRIBUTION_POWER, .min = 0.1, .max = 10, .exponent = 2.5};
    const scree_Quat q = scree_random_orientation(&random, 3);
    const double values[] = {scree_random_real(&random), scree_random_from(&random, &normal),
                             scree_random_from(&random, &power), q.w, q.z};
    for (size_t i = 0; i < sizeof values; ++i)
      hash = (hash ^ ((const unsigned char *)values)[i]) * 1099511628211u;
  }
  assert_int_equal(hash, 0xf86b6d7e0806e110u);
}

/* Moments against the exact ones, to five standard errors. */
static void random_moments(void **state) {
  (void)state;
  enum { N = 20000 };
  double uniform = 0, gauss = 0, gauss2 = 0, below = 0;
  const scree_Distribution normal = {
      .kind = SCREE_DISTRIBUTION_NORMAL, .min = -9, .max = 11, .mean = 1, .deviation = 2};
  const scree_Distribution power = {
      .kind = SCREE_DISTRIBUTION_POWER, .min = 1, .max = 4, .exponent = 2};
  for (int k = 0; k < N; ++k) {
    scree_Random random = scree_random(5, 0, (uint64_t)k);
    uniform += scree_random_real(&random);
    const double x = scree_random_from(&random, &normal) - 1;
    gauss += x;
    gauss2 += x * x;
    below += scree_random_from(&random, &power) < 2;
  }
  assert_true(fabs(uniform / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
  assert_true(fabs(gauss / N) < 5 * 2 / sqrt(N));
  assert_true(fabs(gauss2 / N - 4) < 5 * 4 * sqrt(2.0 / N));
  /* density x^-2 on [1, 4]: P(x < 2) = (1 - 1/2) / (1 - 1/4) */
  assert_true(fabs(below / N - 2.0 / 3) < 5 * sqrt(2.0 / 9 / N));
}

/* ---- the reader under mutations ---- */

static void mutate(char *text, scree_Random *random) {
  static const char alphabet[] = " \n\t:-[]{},&*#'\"|>%@!?.0123456789abefinrstxyz\\\xff\x01";
  const size_t length = strlen(text);
  const int times = 1 + (int)(4 * scree_random_real(random));
  for (int k = 0; k < times && length > 8; ++k) {
    const size_t at = (size_t)(scree_random_real(random) * (double)length);
    const size_t from = (size_t)(scree_random_real(random) * (double)length);
    const double what = scree_random_real(random);
    if (what < 0.6)
      text[at] = alphabet[(size_t)(scree_random_real(random) * (double)(sizeof alphabet - 1))];
    else if (what < 0.8)
      memmove(text + at, text + from, length - (at > from ? at : from));
    else
      text[at] = '\0';
  }
}

static void fuzz(void **state) {
  (void)state;
  static const char small[] =
      "dimension: 2\nmaterials: {a: {density: 2}}\ncontact: {mu: 0.3}\nbodies:\n"
      "  - {name: b, shape: {kind: polygon, vertices: [[0,0],[1,0],[0,1]]}, angle: pi/3}\n"
      "obstacles:\n  - {shape: {kind: segment}, from: [0, 0], to: [1, t], normal: [1, 2]}\n"
      "  - {shape: &s {kind: half-plane}, velocity: {times: [0, 1], values: [[1, 2], [3, 4]]}}\n"
      "  - {shape: *s, angular_velocity: sin(2*t)}\nforces: [{body: b, force: [t, 0], torque: 1}]\n"
      "time: {step: 1e-3, duration: 2}\nstop: {plane: {normal: [0, 1]}}\n";
  int good = 0, bad = 0;
  for (int k = 0; k < 3000; ++k) {
    scree_Random random = scree_random(99, 0, (uint64_t)k);
    const bool whole = k % 3 == 0;
    char *text = whole ? strdup(small) : load(examples[k % EXAMPLES]);
    mutate(text, &random);
    scree_Scene *scene = NULL;
    scree_Tree tree, checked;
    if (whole) {
      if (scree_scene_parse(text, strlen(text), "f", NULL, NULL, &scene) == SCREE_OK)
        ++good;
      else
        ++bad;
      scree_scene_destroy(scene);
    } else if (scree_tree_parse(&tree, text, strlen(text), "f", NULL) == SCREE_OK) {
      /* generators could ask for a great many bodies: the reader alone is what is tried here */
      if (scree_scene_normalise(tree.root, "f", &checked, NULL) == SCREE_OK) {
        char *out = scree_tree_write(checked.root);
        assert_non_null(out);
        scree_scene_free_text(out);
        scree_tree_fini(&checked);
        ++good;
      } else {
        ++bad;
      }
      scree_tree_fini(&tree);
    }
    free(text);
  }
  /* the mutations are neither harmless nor hopeless */
  assert_true(good > 50 && bad > 500);
}

static void bombs(void **state) {
  (void)state;
  Messages messages;
  /* a billion laughs */
  char text[4096] = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int k = 1; k < 12; ++k) {
    char line[128];
    snprintf(line, sizeof line, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", k,
             k, k - 1, k - 1, k - 1, k - 1, k - 1, k - 1, k - 1, k - 1);
    strcat(text, line);
  }
  assert_null(parse(text, &messages));
  assert_non_null(strstr(messages.text, "too large"));
  char deep[2000];
  memset(deep, '[', sizeof deep);
  deep[sizeof deep - 1] = '\0';
  assert_null(parse(deep, &messages));
  assert_non_null(strstr(messages.text, "nested too deeply"));
}

/* ---- documents ---- */

static void documents(void **state) {
  (void)state;
  char *page = scree_scene_reference(), *schema = scree_scene_json_schema();
  char *stored_page = load("docs/SCENES.md"), *stored_schema = load("docs/scene.schema.json");
  /* after a change: scree check --reference > docs/SCENES.md, --schema > docs/scene.schema.json */
  assert_string_equal(page, stored_page);
  assert_string_equal(schema, stored_schema);
  free(stored_page);
  free(stored_schema);
  scree_scene_free_text(page);
  scree_scene_free_text(schema);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(expressions),
                                     cmocka_unit_test(mistakes),
                                     cmocka_unit_test(overrides),
                                     cmocka_unit_test(round_trip),
                                     cmocka_unit_test(placing),
                                     cmocka_unit_test(signals),
                                     cmocka_unit_test(filling),
                                     cmocka_unit_test(masonry),
                                     cmocka_unit_test(thin_arches_fall),
                                     cmocka_unit_test(random_golden),
                                     cmocka_unit_test(random_moments),
                                     cmocka_unit_test(fuzz),
                                     cmocka_unit_test(bombs),
                                     cmocka_unit_test(documents)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
