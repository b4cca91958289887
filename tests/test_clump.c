/* Clumps: mass properties against closed forms, contacts of parts, shared data, restart. */
#include "test_world_scene.h"

static scree_ClumpPart part_of(scree_Shape shape, double x, double y, double z) {
  return (scree_ClumpPart){shape, {{x, y, z}, {1, 0, 0, 0}}};
}

static scree_Shape box_of(double x, double y, double z) {
  scree_Shape shape;
  OK(scree_shape_init_box(&shape, x, y, z, &test_log));
  return shape;
}

static scree_Shape sphere_of(double r) {
  scree_Shape shape;
  OK(scree_shape_init_sphere(&shape, r, &test_log));
  return shape;
}

static scree_Shape rectangle_of(double x, double y) {
  scree_Shape shape;
  const scree_Vec3 corners[4] = {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
  OK(scree_shape_init_polygon(&shape, corners, 4, &test_log));
  return shape;
}

/* Eight boxes make one box, turned about an axis of its own and moved away. */
static void test_box_of_boxes(void **state) {
  (void)state;
  const scree_Shape whole = box_of(0.2, 0.3, 0.4), small = box_of(0.1, 0.15, 0.2);
  const double angle = 0.4, c = cos(angle), s = sin(angle);
  scree_ClumpPart parts[8];
  for (int variant = 0; variant < 2; ++variant) {
    for (int k = 0; k < 8; ++k) {
      const double x = k & 1 ? 0.1 : -0.1, y = k & 2 ? 0.15 : -0.15, z = k & 4 ? 0.2 : -0.2;
      parts[k] = part_of(small, 5 + x, y, z - 7);
      if (variant == 1) { /* turned about z */
        parts[k].pose.position = vec(5 + c * x - s * y, s * x + c * y, z - 7);
        parts[k].pose.orientation = turned(angle);
      }
    }
    scree_Shape clump;
    OK(scree_shape_init_clump(&clump, parts, 8, &test_log));
    assert_int_equal(scree_shape_part_count(&clump), 8);
    NEAR(clump.volume, whole.volume, 1e-15);
    const scree_Pose frame = scree_shape_frame(&clump);
    NEAR(frame.position.x, 5, 1e-14);
    NEAR(frame.position.z, -7, 1e-14);
    /* principal moments, in some order of the axes */
    double J[3] = {clump.inertia.x, clump.inertia.y, clump.inertia.z};
    const double expected[3] = {whole.inertia.x, whole.inertia.y, whole.inertia.z};
    for (int k = 0; k < 3; ++k) {
      double best = INFINITY;
      for (int i = 0; i < 3; ++i) best = fmin(best, fabs(J[i] - expected[k]));
      NEAR(best, 0, 1e-13 * expected[k]);
    }
    if (variant == 0) { /* axes that are principal stay as they are */
      NEAR(frame.orientation.w, 1, 0);
      NEAR(J[0], expected[0], 1e-13 * J[0]);
    }
    NEAR(clump.bounding_radius, whole.bounding_radius, 1e-14);
    /* once in its frame it stays there */
    scree_ClumpPart again[8];
    for (int k = 0; k < 8; ++k) again[k] = *scree_shape_part(&clump, k);
    assert_null(scree_shape_part(&clump, 8));
    assert_null(scree_shape_part(&clump, -1));
    scree_Shape same;
    OK(scree_shape_init_clump(&same, again, 8, &test_log));
    NEAR(scree_shape_frame(&same).orientation.w, 1, 0);
    NEAR(same.inertia.x, clump.inertia.x, 1e-13 * J[0]);
    scree_shape_fini(&same);
    scree_shape_fini(&clump);
  }
}

static void test_dumbbell(void **state) {
  (void)state;
  const double pi = acos(-1), a = 0.1, b = 0.2, d = 1;
  const double va = 4 * pi / 3 * a * a * a, vb = 4 * pi / 3 * b * b * b;
  const scree_ClumpPart parts[2] = {part_of(sphere_of(a), 0, 0, 0), part_of(sphere_of(b), 0, 0, d)};
  scree_Shape clump;
  OK(scree_shape_init_clump(&clump, parts, 2, &test_log));
  const double z = d * vb / (va + vb), along = 0.4 * (va * a * a + vb * b * b);
  const double across = along + va * z * z + vb * (d - z) * (d - z);
  NEAR(scree_shape_frame(&clump).position.z, z, 1e-15);
  NEAR(clump.inertia.x, across, 1e-15);
  NEAR(clump.inertia.z, along, 1e-15);
  scree_shape_fini(&clump);
}

static void test_refusals(void **state) {
  (void)state;
  const scree_Log quiet = {0};
  scree_Shape clump, plane;
  OK(scree_shape_init_half_space(&plane, &test_log));
  const scree_ClumpPart unbounded[1] = {part_of(plane, 0, 0, 0)};
  assert_int_equal(scree_shape_init_clump(&clump, unbounded, 1, &quiet), SCREE_BAD_INPUT);
  assert_int_equal(scree_shape_init_clump(&clump, NULL, 0, &quiet), SCREE_BAD_INPUT);
  const scree_ClumpPart mixed[2] = {part_of(sphere_of(1), 0, 0, 0),
                                    part_of(rectangle_of(1, 1), 0, 0, 0)};
  assert_int_equal(scree_shape_init_clump(&clump, mixed, 2, &quiet), SCREE_BAD_INPUT);
  scree_shape_fini((scree_Shape *)&mixed[1].shape);
}

static scree_World *slope_world(int dimension) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = dimension;
  settings.step = 2e-3;
  settings.gravity = dimension == 2 ? vec(3, -9, 0) : vec(3, 0, -9);
  settings.solve.tolerance = 1e-10;
  return make_world(&settings, 0.2, 0, 0);
}

/* A block of four parts slides as the one block does. */
static void test_slides_as_one(void **state) {
  (void)state;
  double x[2];
  for (int k = 0; k < 2; ++k) {
    scree_World *world = slope_world(2);
    add_half_plane(world, obstacle_at(0, 0, 0));
    scree_Shape shape = rectangle_of(0.2, 0.1);
    if (k == 1) {
      scree_ClumpPart parts[4];
      for (int p = 0; p < 4; ++p)
        parts[p] = part_of(rectangle_of(0.1, 0.05), p & 1 ? 0.1 : -0.1, p & 2 ? 0.05 : -0.05, 0);
      scree_shape_fini(&shape);
      OK(scree_shape_init_clump(&shape, parts, 4, &test_log));
      for (int p = 0; p < 4; ++p) scree_shape_fini(&parts[p].shape);
    }
    const int block = add_shape(world, &shape, at(0, 0.1, 0));
    run_steps(world, 200);
    x[k] = scree_body_pose(world, block).position.x;
    if (k == 1) {
      bool seen[4] = {false};
      for (int c = 0; c < scree_world_contact_count(world); ++c) {
        const scree_Contact contact = scree_world_contact(world, c);
        const int side = contact.body[0] == block ? 0 : 1;
        assert_true(contact.part[side] < 4 && contact.part[1 - side] == 0);
        seen[contact.part[side]] = true;
      }
      assert_true(seen[0] && seen[1] && !seen[2] && !seen[3]); /* the lower ones */
    }
    scree_world_destroy(world);
  }
  NEAR(x[1], x[0], 1e-8);
  NEAR(x[0], 0.5 * (3 - 0.2 * 9) * 0.4 * 0.4, 2e-3);
}

/* Tetrapods that fall on each other: certified, the same after a restart, their data shared. */
static void test_heap(void **state) {
  (void)state;
  scree_World *worlds[2];
  scree_ClumpPart parts[4];
  const double e = 0.06;
  const double corner[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  for (int k = 0; k < 4; ++k)
    parts[k] = part_of(sphere_of(0.05), e * corner[k][0], e * corner[k][1], e * corner[k][2]);
  scree_Shape pod;
  OK(scree_shape_init_clump(&pod, parts, 4, &test_log));
  for (int w = 0; w < 2; ++w) {
    worlds[w] = slope_world(3);
    add_half_space(worlds[w], obstacle_at(0, 0, 0));
    for (int k = 0; k < 6; ++k) {
      scree_BodyDef def = at(0.05 * (k % 2), 0.03 * (k % 3), 0.2 + 0.32 * k);
      def.pose.orientation = (scree_Quat){1, 0.1 * k, 0.3, -0.2 * k};
      def.shape = &pod;
      OK(scree_world_add_body(worlds[w], &def, NULL));
    }
  }
  assert_true(scree_body_shape(worlds[0], 1)->data == scree_body_shape(worlds[1], 6)->data);
  scree_shape_fini(&pod);
  run_steps(worlds[0], 250);
  const size_t size = scree_world_state_size(worlds[0]);
  void *buffer = malloc(size);
  scree_world_save(worlds[0], buffer);
  OK(scree_world_restore(worlds[1], buffer, size));
  for (int w = 0; w < 2; ++w) run_steps(worlds[w], 50);
  assert_true(scree_world_contact_count(worlds[0]) > 6);
  for (int body = 1; body < 7; ++body) {
    const scree_Pose a = scree_body_pose(worlds[0], body), b = scree_body_pose(worlds[1], body);
    assert_memory_equal(&a, &b, sizeof a);
  }
  double penetration;
  OK(scree_world_penetration(worlds[0], &penetration, NULL));
  assert_true(penetration < 1e-2);
  free(buffer);
  for (int w = 0; w < 2; ++w) scree_world_destroy(worlds[w]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_box_of_boxes), cmocka_unit_test(test_dumbbell),
      cmocka_unit_test(test_refusals),     cmocka_unit_test(test_slides_as_one),
      cmocka_unit_test(test_heap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
