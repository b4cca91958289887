/* Polyhedra, cylinders and cones: mass properties, faces of hulls, and how they stand, slide and
 * roll. Distances of pairs are in test_narrow.c. */
#include "test_world_scene.h"

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

/* Every edge belongs to two faces, all vertices are behind all faces. */
static void check_hull(const scree_Shape *s) {
  int corners = 0;
  for (int f = 0; f < scree_shape_face_count(s); ++f) {
    int n;
    scree_Vec3 out;
    const int *corner = scree_shape_face(s, f, &n, &out);
    const scree_Vec3 at = s->vertices[corner[0]];
    assert_true(n >= 3);
    corners += n;
    for (int k = 0; k < s->vertex_count; ++k) {
      const scree_Vec3 v = s->vertices[k];
      const double height = out.x * (v.x - at.x) + out.y * (v.y - at.y) + out.z * (v.z - at.z);
      assert_true(height <= 1e-12 * s->bounding_radius);
    }
  }
  assert_int_equal(s->vertex_count - corners / 2 + scree_shape_face_count(s), 2); /* Euler */
  int n = 7;
  assert_null(scree_shape_face(s, scree_shape_face_count(s), &n, NULL));
  assert_int_equal(n, 0);
}

static void test_hulls(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int trial = 0; trial < 200; ++trial) {
    scree_Vec3 v[40];
    const int n = 4 + (int)(36 * uniform(&random));
    for (int k = 0; k < n; ++k)
      v[k] = vec(uniform(&random), 2 * uniform(&random), 0.5 * uniform(&random));
    scree_Shape s, again;
    OK(scree_shape_init_polyhedron(&s, v, n, &test_log));
    check_hull(&s);
    /* in its frame already: it stays there */
    OK(scree_shape_init_polyhedron(&again, s.vertices, s.vertex_count, &test_log));
    NEAR(scree_shape_frame(&again).orientation.w, 1, 0);
    NEAR(again.inertia.x, s.inertia.x, 1e-12 * s.inertia.x);
    assert_int_equal(again.vertex_count, s.vertex_count);
    scree_shape_fini(&s);
    scree_shape_fini(&again);
  }
}

/* A cube given by its corners, turned and moved, with points on its faces and inside. */
static void test_cube(void **state) {
  (void)state;
  scree_Vec3 v[16];
  for (int k = 0; k < 8; ++k) {
    const double x = k & 1 ? 2 : -2, y = k & 2 ? 1 : -1, z = k & 4 ? 0.5 : -0.5;
    const double c = cos(0.3), s = sin(0.3);
    v[k] = vec(7 + c * x - s * y, s * x + c * y, z);
  }
  v[8] = vec(7, 0, 0.5);
  v[9] = vec(7, 0, 0);
  scree_Shape s, box;
  OK(scree_shape_init_polyhedron(&s, v, 10, &test_log));
  OK(scree_shape_init_box(&box, 2, 1, 0.5, &test_log));
  check_hull(&s);
  assert_int_equal(s.vertex_count, 8);
  assert_int_equal(scree_shape_face_count(&s), 6);
  NEAR(s.volume, box.volume, 1e-13);
  NEAR(s.size, 1, 1e-13);
  NEAR(scree_shape_frame(&s).position.x, 7, 1e-13);
  const double sum = s.inertia.x + s.inertia.y + s.inertia.z;
  NEAR(sum, box.inertia.x + box.inertia.y + box.inertia.z, 1e-12 * sum);
  NEAR(s.inertia.x * s.inertia.y * s.inertia.z, box.inertia.x * box.inertia.y * box.inertia.z,
       1e-11 * s.inertia.x * s.inertia.y * s.inertia.z);
  scree_shape_fini(&s);
  const scree_Log quiet = {0};
  for (int k = 0; k < 8; ++k) v[k].z = 0;
  assert_int_equal(scree_shape_init_polyhedron(&s, v, 8, &quiet), SCREE_BAD_INPUT); /* flat */
  assert_int_equal(scree_shape_init_polyhedron(&s, v, 3, &quiet), SCREE_BAD_INPUT);
  v[2].x = NAN;
  assert_int_equal(scree_shape_init_polyhedron(&s, v, 8, &quiet), SCREE_BAD_INPUT);
}

/* Prisms and pyramids of many sides against the closed forms of cylinder and cone: the difference
 * falls with the square of the number of sides. */
static void test_round_limits(void **state) {
  (void)state;
  for (int cone = 0; cone < 2; ++cone) {
    scree_Shape round;
    if (cone)
      OK(scree_shape_init_cone(&round, 0.7, 0.6, &test_log));
    else
      OK(scree_shape_init_cylinder(&round, 0.7, 0.6, &test_log));
    double error[2];
    for (int k = 0; k < 2; ++k) {
      const int sides = k ? 256 : 128;
      scree_Vec3 v[512];
      int n = 0;
      for (int i = 0; i < sides; ++i) {
        const double angle = 2 * acos(-1) * i / sides, x = 0.7 * cos(angle), y = 0.7 * sin(angle);
        v[n++] = vec(x, y, cone ? -0.3 : -0.6);
        if (!cone) v[n++] = vec(x, y, 0.6);
      }
      if (cone) v[n++] = vec(0, 0, 0.9);
      scree_Shape many;
      OK(scree_shape_init_polyhedron(&many, v, n, &test_log));
      NEAR(scree_shape_frame(&many).position.z, 0, 1e-13);
      NEAR(many.inertia.x / round.inertia.x, 1, 2e-3);
      NEAR(many.inertia.z / round.inertia.z, 1, 2e-3);
      error[k] = 1 - many.volume / round.volume;
      scree_shape_fini(&many);
    }
    assert_true(error[0] > 0 && error[0] < 1e-3);
    NEAR(error[0] / error[1], 4, 0.1);
  }
}

static scree_World *world_of(double gx, double mu) {
  scree_WorldSettings settings = scree_world_settings();
  settings.step = 2e-3;
  settings.gravity = vec(gx, 0, -9.81);
  settings.solve.tolerance = 1e-8;
  return make_world(&settings, mu, 0, 0);
}

/* A polyhedron with the corners of a box slides and stacks as the box does. */
static void test_box_and_polyhedron(void **state) {
  (void)state;
  double x[2], z[2];
  for (int k = 0; k < 2; ++k) {
    scree_World *world = world_of(3, 0.2);
    add_box(world, 2, 2, 0.5, obstacle_at(0, 0, -0.5));
    int body = 0;
    for (int level = 0; level < 2; ++level) {
      scree_Shape s;
      scree_Vec3 v[8];
      for (int c = 0; c < 8; ++c)
        v[c] = vec(c & 1 ? 0.2 : -0.2, c & 2 ? 0.3 : -0.3, c & 4 ? 0.1 : -0.1);
      if (k == 0)
        OK(scree_shape_init_box(&s, 0.2, 0.3, 0.1, &test_log));
      else
        OK(scree_shape_init_polyhedron(&s, v, 8, &test_log));
      body = add_shape(world, &s, at(0.03 * level, 0.02 * level, 0.1 + 0.2 * level));
    }
    run_steps(world, 150);
    x[k] = scree_body_pose(world, body).position.x;
    z[k] = scree_body_pose(world, body).position.z;
    assert_true(scree_world_contact_count(world) >= 8);
    scree_world_destroy(world);
  }
  NEAR(x[0], 0.03 + 0.5 * (3 - 0.2 * 9.81) * 0.09, 1e-3);
  NEAR(x[1], x[0], 1e-5);
  NEAR(z[1], z[0], 1e-5);
}

/* Cylinders: standing they stay, lying they roll with 2/3 of the pull. */
static void test_cylinder(void **state) {
  (void)state;
  scree_World *world = world_of(1, 0.5);
  add_half_space(world, obstacle_at(0, 0, 0));
  scree_Shape s;
  OK(scree_shape_init_cylinder(&s, 0.1, 0.2, &test_log));
  const int standing = add_shape(world, &s, at(0, 5, 0.2));
  OK(scree_shape_init_cylinder(&s, 0.1, 0.2, &test_log));
  scree_BodyDef def = at(0, 0, 0.1);
  def.pose.orientation = (scree_Quat){sqrt(0.5), sqrt(0.5), 0, 0}; /* axis along y */
  const int rolling = add_shape(world, &s, def);
  OK(scree_shape_init_cone(&s, 0.1, 0.1, &test_log));
  const int cone = add_shape(world, &s, at(0, -5, 0.05));
  run_steps(world, 400);
  const double t = 0.8;
  NEAR(scree_body_pose(world, rolling).position.x, 0.5 * 2 / 3.0 * t * t, 5e-3);
  NEAR(scree_body_velocity(world, rolling).angular.y, 2 / 3.0 * t / 0.1, 0.05);
  NEAR(scree_body_pose(world, standing).position.x, 0, 1e-6);
  NEAR(scree_body_pose(world, standing).position.z, 0.2, 1e-5);
  NEAR(scree_body_pose(world, cone).position.x, 0, 1e-6);
  NEAR(scree_body_pose(world, cone).position.z, 0.05, 1e-5);
  scree_world_destroy(world);
}

/* A cylinder on a cylinder, on a box: caps are clipped. */
static void test_tower(void **state) {
  (void)state;
  scree_World *world = world_of(0.2, 0.6);
  add_box(world, 1, 1, 0.5, obstacle_at(0, 0, -0.5));
  int body[3];
  for (int k = 0; k < 3; ++k) {
    scree_Shape s;
    OK(scree_shape_init_cylinder(&s, 0.1, 0.05, &test_log));
    scree_BodyDef def = at(0.01 * k, 0, 0.05 + 0.1 * k);
    def.pose.orientation = turned(0.4 * k);
    body[k] = add_shape(world, &s, def);
  }
  run_steps(world, 300);
  for (int k = 0; k < 3; ++k) {
    NEAR(scree_body_pose(world, body[k]).position.x, 0.01 * k, 1e-5);
    NEAR(scree_body_pose(world, body[k]).position.z, 0.05 + 0.1 * k, 2e-5);
  }
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hulls),        cmocka_unit_test(test_cube),
      cmocka_unit_test(test_round_limits), cmocka_unit_test(test_box_and_polyhedron),
      cmocka_unit_test(test_cylinder),     cmocka_unit_test(test_tower),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
