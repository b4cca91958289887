/* Generators of arches, vaults, domes and random polyhedra, and shapes that scenes describe: blocks
 * fit and stand, an arch falls and stands at the same thickness in 2D and 3D, a flat height field
 * is a plane. */
#include "test_world_scene.h"

#include "scree/scene.h"

#include <stdio.h>
#include <unistd.h>

static scree_Scene *scene_of(const char *text) {
  scree_Scene *scene;
  OK(scree_scene_parse(text, strlen(text), "test.yaml", NULL, &test_log, &scene));
  return scene;
}

/* Runs for `duration`, or until a body has moved by `enough`, all steps certified; returns the
 * largest way of a body. */
static double way_of(scree_World *world, double duration, double enough) {
  enum { MOST = 512 };
  static scree_Vec3 start[MOST];
  const int n = scree_world_body_count(world);
  assert_true(n <= MOST);
  for (int k = 0; k < n; ++k) start[k] = scree_body_pose(world, k).position;
  double most = 0;
  while (scree_world_time(world) < duration && most < enough) {
    run_steps(world, 1);
    for (int k = 0; k < n; ++k) {
      const scree_Vec3 p = scree_body_pose(world, k).position;
      most = fmax(most, hypot(hypot(p.x - start[k].x, p.y - start[k].y), p.z - start[k].z));
    }
  }
  return most;
}

static double arch_way(int dimension, double thickness) {
  char text[600];
  snprintf(text, sizeof text,
           "dimension: %d\ncontact: { mu: 2 }\nobstacles:\n  - { shape: { kind: %s } }\n"
           "generators:\n  - { kind: arch, radius: %.17g, thickness: %.17g, blocks: 27%s }\n"
           "time: { duration: 3 }\n",
           dimension, dimension == 2 ? "half-plane" : "half-space", 1 - 0.5 * thickness, thickness,
           dimension == 2 ? "" : ", depth: 0.3");
  scree_Scene *scene = scene_of(text);
  scree_World *world;
  OK(scree_scene_build(scene, &test_log, &world));
  const double way = way_of(world, 3, 0.05);
  scree_world_destroy(world);
  scree_scene_destroy(scene);
  return way;
}

/* A semicircle of 27 voussoirs stands from t/R between 0.10672 and 0.10673 on (Milankovitch).
 * Its blocks almost touch for long: a wrong normal in one step would be seen as energy. */
static void test_arch(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    const double thin = arch_way(d, 0.10670), thick = arch_way(d, 0.10675);
    print_message("arch %dD: moves by %.3f at 0.10670, by %.1e at 0.10675\n", d, thin, thick);
    assert_true(thin >= 0.05);
    assert_true(thick < 1e-6);
  }
  assert_true(arch_way(3, 0.105) >= 0.05);
}

static double run_text(const char *text, double duration, int bodies) {
  scree_Scene *scene = scene_of(text);
  scree_World *world;
  OK(scree_scene_build(scene, &test_log, &world));
  assert_int_equal(scree_world_body_count(world), bodies);
  const double way = way_of(world, duration, INFINITY);
  scree_world_destroy(world);
  scree_scene_destroy(scene);
  return way;
}

static void test_vault_and_dome(void **state) {
  (void)state;
  const double vault =
      run_text("contact: { mu: 0.7 }\nobstacles: [{ shape: { kind: half-space } }]\n"
               "generators:\n  - { kind: vault, radius: 2, thickness: 0.5, courses: 9, length: 2, "
               "depth: 0.5 }\ntime: { duration: 1 }\n",
               0.3, 1 + 5 * 2 + 4 * 3);
  print_message("vault: moves by %.1e\n", vault);
  assert_true(vault < 1e-5);
  const double dome =
      run_text("contact: { mu: 0.7 }\nobstacles: [{ shape: { kind: half-space } }]\n"
               "generators:\n  - { kind: dome, radius: 5, thickness: 0.6, courses: 5, blocks: 12, "
               "opening: 0.2 }\ntime: { duration: 1 }\n",
               0.2, 1 + 60);
  print_message("dome: moves by %.1e\n", dome);
  assert_true(dome < 1e-4);
}

/* A sphere rolls and a block slides over a height field of coplanar faces as over a plane. */
static void test_flat_field(void **state) {
  (void)state;
  static const char *const floors[2] = {
      "{ kind: half-space }",
      "{ kind: height-field, expression: \"0*x\", size: [7.3, 5.1], count: [41, 33] }"};
  scree_Pose end[2][2];
  for (int k = 0; k < 2; ++k) {
    char text[700];
    snprintf(text, sizeof text,
             "gravity: [4, 1.2, -9.81]\ncontact: { mu: 0.25 }\nobstacles: [{ shape: %s }]\n"
             "bodies:\n  - { shape: { kind: sphere, radius: 0.15 }, position: [-2, 0.4, 0.15], "
             "velocity: [1, 0, 0] }\n"
             "  - { shape: { kind: box, half_x: 0.3, half_y: 0.2, half_z: 0.1 }, position: [-2, "
             "-0.6, 0.1], rotation: { axis: [0, 0, 1], angle: 0.3 } }\n"
             "solver: { tolerance: 1e-9 }\ntime: { duration: 0.8, step: 0.002 }\n",
             floors[k]);
    scree_Scene *scene = scene_of(text);
    scree_World *world;
    OK(scree_scene_build(scene, &test_log, &world));
    way_of(world, 0.8, INFINITY);
    for (int b = 0; b < 2; ++b) end[k][b] = scree_body_pose(world, 1 + b);
    scree_world_destroy(world);
    scree_scene_destroy(scene);
  }
  for (int b = 0; b < 2; ++b) {
    const scree_Vec3 p = end[0][b].position, q = end[1][b].position;
    print_message("body %d: %.9g %.9g %.9g, height field %.9g %.9g %.9g\n", b, p.x, p.y, p.z, q.x,
                  q.y, q.z);
    NEAR(p.x, q.x, 2e-5);
    NEAR(p.y, q.y, 2e-5);
    NEAR(p.z, q.z, 1e-7);
    assert_true(q.x > -1.6); /* it did move over many edges */
  }
}

/* Random polyhedra differ, have the asked size, and are the same in every run. */
static void test_rubble(void **state) {
  (void)state;
  const char *text = "seed: 4\ngenerators:\n  - { kind: lattice, count: [4, 3, 2], shape: { kind: "
                     "polyhedron, random: { diameter: 0.2, points: 12, angularity: 1, flatness: "
                     "1.5 }, radius: 0.01 }, scale: { min: 0.5, max: 1 } }\n";
  scree_Vec3 first[2] = {{0, 0, 0}, {0, 0, 0}};
  for (int k = 0; k < 2; ++k) {
    scree_Scene *scene = scene_of(text);
    scree_World *world;
    OK(scree_scene_build(scene, &test_log, &world));
    assert_int_equal(scree_world_body_count(world), 24);
    for (int b = 0; b < 24; ++b) {
      const scree_Shape *s = scree_body_shape(world, b);
      assert_int_equal(s->kind, SCREE_SHAPE_POLYHEDRON);
      assert_true(s->bounding_radius <= 0.1 * (1 + 1e-9) &&
                  s->bounding_radius >= 0.05 * (1 - 1e-9));
      assert_true(s->radius >= 0.005 * (1 - 1e-12) && s->radius <= 0.01);
      if (b > 0) assert_true(s->volume != scree_body_shape(world, b - 1)->volume);
    }
    first[k] = scree_body_shape(world, 7)->vertices[2];
    scree_world_destroy(world);
    scree_scene_destroy(scene);
  }
  assert_memory_equal(&first[0], &first[1], sizeof first[0]);
}

static void refused(const char *text) {
  scree_Scene *scene = NULL;
  assert_int_equal(scree_scene_parse(text, strlen(text), "test.yaml", NULL, NULL, &scene),
                   SCREE_BAD_INPUT);
}

static void test_refusals(void **state) {
  (void)state;
  refused("obstacles: [{ shape: { kind: height-field, size: [1, 1] } }]\n");
  refused(
      "obstacles: [{ shape: { kind: height-field, expression: \"z+t\", size: [1, 1], count: [3, "
      "3] } }]\n");
  refused(
      "obstacles: [{ shape: { kind: height-field, expression: \"x\", size: [1, 1], count: [1, 3] "
      "} }]\n");
  refused("obstacles: [{ shape: { kind: ring, radius: 1, hole_radius: 2 } }]\n");
  refused("bodies: [{ shape: { kind: pipe, radius: 1, half_length: 2 } }]\n");
  refused(
      "bodies: [{ shape: { kind: superellipsoid, semi_x: 1, semi_y: 1, semi_z: 1, exponent_z: 1 } "
      "}]\n");
  refused("bodies: [{ shape: { kind: polyhedron, random: { points: 3, diameter: 1 } } }]\n");
  refused("bodies: [{ shape: { kind: polyhedron, random: { diameter: 1 }, radius: 0.6 } }]\n");
  refused("bodies: [{ shape: { kind: clump, file: none.obj } }]\n");
  refused("generators: [{ kind: dome, radius: 1, thickness: 0.1, courses: 3, blocks: 8, base: 0.5, "
          "opening: 0.6 }]\n");
}

/* A tetrahedron with the corners 0, e_x, e_y, e_z, in a file, filled with balls: all inside,
 * whichever way its triangles are turned; a surface with a hole is refused. */
static void test_mesh_region(void **state) {
  (void)state;
  static const char *const faces[3] = {"f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
                                       "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n",
                                       "f 1 3 2\nf 1 2 4\nf 1 4 3\n"};
  char path[64], text[512];
  snprintf(path, sizeof path, "/tmp/scree-region-%ld.obj", (long)getpid());
  for (int k = 0; k < 3; ++k) {
    const double r = 0.03, shift = 0.5;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n%s", faces[k]);
    fclose(file);
    snprintf(text, sizeof text,
             "dimension: 3\ngenerators:\n  - { kind: fill, fraction: 0.2, shape: { kind: sphere, "
             "radius: %g }, region: { kind: mesh, file: \"%s\", position: [%g, 0, 0] } }\n",
             r, path, shift);
    scree_Scene *scene;
    if (k == 2) {
      assert_int_equal(scree_scene_parse(text, strlen(text), "test.yaml", NULL, NULL, &scene),
                       SCREE_BAD_INPUT);
      continue;
    }
    scree_World *world;
    scene = scene_of(text);
    OK(scree_scene_build(scene, &test_log, &world));
    const int n = scree_world_body_count(world);
    const double share = n * 4.0 / 3 * 3.14159265358979 * r * r * r * 6;
    assert_true(share > 0.195 && share < 0.205);
    for (int i = 0; i < n; ++i) {
      const scree_Vec3 x = scree_body_pose(world, i).position;
      const double face = (1 + shift - x.x - x.y - x.z) / sqrt(3.0);
      const double least = fmin(fmin(x.x - shift, x.y), fmin(x.z, face));
      if (least < r * (1 - 1e-9))
        fail_msg("ball %d at %g %g %g: %g from a face", i, x.x, x.y, x.z, least);
    }
    scree_world_destroy(world);
    scree_scene_destroy(scene);
  }
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arch),       cmocka_unit_test(test_vault_and_dome),
      cmocka_unit_test(test_flat_field), cmocka_unit_test(test_rubble),
      cmocka_unit_test(test_refusals),   cmocka_unit_test(test_mesh_region)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
