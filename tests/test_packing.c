/* The generator `pack`: solid fraction, overlap and sizes measured here from radii and centres
 * alone, by formulas of this file; regions, obstacles, refusals, the same bits again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/vec3.h"
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static char said[4096];

static void gather(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  (void)level;
  snprintf(said, sizeof said, "%s", message);
}

static const scree_Log log_here = {gather, NULL};

static scree_Scene *parse(const char *text) {
  scree_Scene *scene = NULL;
  said[0] = '\0';
  scree_scene_parse(text, strlen(text), "s.yaml", NULL, &log_here, &scene);
  return scene;
}

static scree_Scene *parse_good(const char *text) {
  scree_Scene *scene = parse(text);
  if (!scene) fail_msg("%s", said);
  return scene;
}

/* Volume (area) of all balls. */
static double volume(const scree_Scene *scene) {
  double sum = 0;
  for (size_t k = 0; k < scene->body_count; ++k) {
    const scree_SceneBody *b = &scene->bodies[k];
    const double r = b->shape.radius;
    if (!scree_shape_is_ball(&b->shape)) continue;
    sum += scene->dimension == 3 ? 4.0 / 3 * PI * r * r * r : PI * r * r;
  }
  return sum;
}

/* No two balls are nearer than the sum of their radii, of n^2 pairs. */
static void check_balls(const scree_Scene *scene) {
  for (size_t i = 0; i < scene->body_count; ++i)
    for (size_t j = 0; j < i; ++j) {
      const scree_SceneBody *a = &scene->bodies[i], *b = &scene->bodies[j];
      if (!scree_shape_is_ball(&a->shape) || !scree_shape_is_ball(&b->shape)) continue;
      const double x = a->def.pose.position.x - b->def.pose.position.x;
      const double y = a->def.pose.position.y - b->def.pose.position.y;
      const double z = a->def.pose.position.z - b->def.pose.position.z;
      const double reach = a->shape.radius + b->shape.radius;
      assert_true(sqrt(x * x + y * y + z * z) >= reach * (1 - 1e-12));
    }
}

static void check_box(const scree_Scene *scene, double width) {
  for (size_t k = 0; k < scene->body_count; ++k) {
    const scree_Vec3 c = scene->bodies[k].def.pose.position;
    const double r = scene->bodies[k].shape.radius, slack = 1e-12 * width;
    assert_true(c.x - r >= -slack && c.x + r <= width + slack);
    assert_true(c.y - r >= -slack && c.y + r <= width + slack);
    if (scene->dimension == 3) assert_true(c.z - r >= -slack && c.z + r <= width + slack);
  }
}

static void spheres(void **state) {
  (void)state;
  scree_Scene *scene = parse_good("dimension: 3\n"
                                  "materials: {sand: {density: 2600}}\n"
                                  "generators:\n"
                                  "  - kind: pack\n"
                                  "    region: {kind: box, lower: [0, 0, 0], upper: [20, 20, 20]}\n"
                                  "    shape: {kind: sphere, radius: 0.5}\n"
                                  "    scale: {min: 1, max: 2}\n");
  check_balls(scene);
  check_box(scene, 20);
  const double fraction = volume(scene) / 8000;
  assert_true(fraction > 0.5995 && fraction < 0.6005);
  assert_true(scene->body_count > 2000);
  scree_scene_destroy(scene);
}

static const char *const disks_text = "dimension: 2\n"
                                      "seed: %d\n"
                                      "solver: {threads: %d}\n"
                                      "materials: {sand: {density: 2600}}\n"
                                      "generators:\n"
                                      "  - kind: pack\n"
                                      "    name: \"grain-{i}\"\n"
                                      "    region: {kind: box, lower: [0, 0], upper: [30, 30]}\n"
                                      "    fraction: 0.82\n"
                                      "    shape: {kind: disk, radius: 0.5}\n"
                                      "    scale: {min: 0.7, max: 1.4}\n";

static bool same(const scree_Scene *a, const scree_Scene *b) {
  if (a->body_count != b->body_count) return false;
  for (size_t k = 0; k < a->body_count; ++k)
    if (memcmp(&a->bodies[k].def.pose, &b->bodies[k].def.pose, sizeof(scree_Pose)) != 0)
      return false;
  return true;
}

static void disks(void **state) {
  (void)state;
  scree_Scene *scenes[3];
  for (int k = 0; k < 3; ++k) {
    char text[1024];
    snprintf(text, sizeof text, disks_text, k == 2 ? 7 : 1, k == 1 ? 3 : 1);
    scenes[k] = parse_good(text);
    check_balls(scenes[k]);
    check_box(scenes[k], 30);
    const double fraction = volume(scenes[k]) / 900;
    assert_true(fraction > 0.8195 && fraction < 0.8205);
  }
  assert_true(same(scenes[0], scenes[1]));
  assert_false(same(scenes[0], scenes[2]));
  assert_string_equal(scenes[0]->bodies[3].name, "grain-3");
  for (int k = 0; k < 3; ++k) scree_scene_destroy(scenes[k]);
}

/* A cylinder with a sphere in it that is there already. */
static void drum(void **state) {
  (void)state;
  scree_Scene *scene =
      parse_good("dimension: 3\n"
                 "materials: {sand: {density: 2600}}\n"
                 "bodies: [{name: big, shape: {kind: sphere, radius: 2}, position: [1, 0, 0]}]\n"
                 "generators:\n"
                 "  - kind: pack\n"
                 "    fraction: 0.5\n"
                 "    region: {kind: drum, radius: 6, half_length: 5, axis: [0, 0, 1]}\n"
                 "    shape: {kind: sphere, radius: 0.5}\n");
  check_balls(scene);
  for (size_t k = 0; k < scene->body_count; ++k) {
    const scree_Vec3 c = scene->bodies[k].def.pose.position;
    const double r = scene->bodies[k].shape.radius;
    assert_true(sqrt(c.x * c.x + c.y * c.y) + r <= 6 * (1 + 1e-12) && fabs(c.z) + r <= 5 + 1e-11);
  }
  /* the sphere is none of the generator's */
  const double own = volume(scene) - 4.0 / 3 * PI * 8;
  assert_true(fabs(own / (PI * 36 * 10) - 0.5) < 1e-3);
  scree_scene_destroy(scene);
}

/* Mass that passes a sieve, of stratified draws: within 1 %, although the largest are few. */
static void sieve(void **state) {
  (void)state;
  scree_Scene *scene =
      parse_good("dimension: 3\n"
                 "materials: {sand: {density: 2600}}\n"
                 "generators:\n"
                 "  - kind: pack\n"
                 "    fraction: 0.55\n"
                 "    region: {kind: box, lower: [0, 0, 0], upper: [20, 20, 20]}\n"
                 "    shape: {kind: sphere, radius: 0.5}\n"
                 "    scale: {distribution: sieve, sizes: [1, 2, 4], shares: [0, 0.3, 1]}\n");
  double passes = 0;
  for (size_t k = 0; k < scene->body_count; ++k) {
    const double r = scene->bodies[k].shape.radius;
    if (r < 1) passes += 4.0 / 3 * PI * r * r * r;
  }
  check_balls(scene);
  assert_true(fabs(passes / volume(scene) - 0.3) < 0.01);
  scree_scene_destroy(scene);
}

/* A uniform distribution of the mass: half of it lies below the middle size. */
static void by_mass(void **state) {
  (void)state;
  scree_Scene *scene = parse_good("dimension: 2\n"
                                  "materials: {sand: {density: 2600}}\n"
                                  "generators:\n"
                                  "  - kind: pack\n"
                                  "    fraction: 0.7\n"
                                  "    region: {kind: box, lower: [0, 0], upper: [60, 60]}\n"
                                  "    shape: {kind: disk, radius: 0.5}\n"
                                  "    scale: {min: 1, max: 3, by: mass}\n");
  double below = 0;
  for (size_t k = 0; k < scene->body_count; ++k) {
    const double r = scene->bodies[k].shape.radius;
    if (r < 1) below += PI * r * r;
  }
  assert_true(fabs(below / volume(scene) - 0.5) < 0.01);
  scree_scene_destroy(scene);
}

/* Value of the ellipsoid's quadratic form at a point: below 1 inside. */
static double form(const scree_SceneBody *b, scree_Vec3 x) {
  const scree_Quat q = b->def.pose.orientation, back = {q.w, -q.x, -q.y, -q.z};
  const scree_Vec3 y = scree_quat_rotate(back, scree_sub(x, b->def.pose.position));
  const scree_Vec3 s = b->shape.semi;
  return y.x * y.x / (s.x * s.x) + y.y * y.y / (s.y * s.y) + y.z * y.z / (s.z * s.z);
}

/* Ellipsoids: no point of a grid on the surface of one lies inside another or outside the box. */
static void ellipsoids(void **state) {
  (void)state;
  scree_Scene *scene =
      parse_good("dimension: 3\n"
                 "materials: {sand: {density: 2600}}\n"
                 "generators:\n"
                 "  - kind: pack\n"
                 "    fraction: 0.58\n"
                 "    region: {kind: box, lower: [0, 0, 0], upper: [10, 10, 10]}\n"
                 "    shape: {kind: ellipsoid, semi_x: 1, semi_y: 0.8, semi_z: 0.6}\n"
                 "    scale: {min: 0.9, max: 1.1}\n");
  double sum = 0;
  for (size_t i = 0; i < scene->body_count; ++i) {
    const scree_SceneBody *a = &scene->bodies[i];
    sum += 4.0 / 3 * PI * a->shape.semi.x * a->shape.semi.y * a->shape.semi.z;
    for (int u = 0; u < 24; ++u)
      for (int v = 0; v <= 12; ++v) {
        const double p = 2 * PI * u / 24, t = PI * v / 12;
        const scree_Vec3 s = a->shape.semi;
        const scree_Vec3 x =
            scree_add(a->def.pose.position,
                      scree_quat_rotate(
                          a->def.pose.orientation,
                          scree_vec3(s.x * cos(p) * sin(t), s.y * sin(p) * sin(t), s.z * cos(t))));
        assert_true(fmin(x.x, fmin(x.y, x.z)) > -1e-9 && fmax(x.x, fmax(x.y, x.z)) < 10 + 1e-9);
        for (size_t j = 0; j < scene->body_count; ++j)
          if (j != i) assert_true(form(&scene->bodies[j], x) > 1 - 1e-6);
      }
  }
  assert_true(fabs(sum / 1000 - 0.58) < 2e-3);
  scree_scene_destroy(scene);
}

static void refusals(void **state) {
  (void)state;
  assert_null(parse("dimension: 3\n"
                    "materials: {sand: {density: 2600}}\n"
                    "generators:\n"
                    "  - kind: pack\n"
                    "    fraction: 0.8\n"
                    "    region: {kind: box, lower: [0, 0, 0], upper: [4, 4, 4]}\n"
                    "    shape: {kind: sphere, radius: 0.5}\n"));
  assert_non_null(strstr(said, "s.yaml:4:5: fraction: found 0.8, at which these bodies overlap"));
  assert_null(parse("dimension: 3\n"
                    "materials: {sand: {density: 2600}}\n"
                    "generators:\n"
                    "  - kind: pack\n"
                    "    region: {kind: box, lower: [0, 0, 0], upper: [1, 1, 1]}\n"
                    "    shape: {kind: sphere, radius: 0.00001}\n"));
  assert_non_null(strstr(said, "expected 1 to 1e+07"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spheres), cmocka_unit_test(disks),
                                     cmocka_unit_test(drum),    cmocka_unit_test(sieve),
                                     cmocka_unit_test(by_mass), cmocka_unit_test(ellipsoids),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
