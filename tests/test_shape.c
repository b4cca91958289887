/* Shapes: volumes and moments of inertia against quasi-Monte-Carlo, support points and
 * bounds against sampling, refusals with messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/vec3.h"
#include "scree/shape.h"

#include <string.h>

static uint64_t random_state;

static double uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  uint64_t x = random_state;
  x ^= x >> 32;
  return ((double)(x >> 11) + 0.5) * 0x1p-53;
}

static bool contains(const scree_Shape *s, scree_Vec3 q) {
  switch (s->kind) {
  case SCREE_SHAPE_DISK:
  case SCREE_SHAPE_SPHERE: return scree_norm(q) <= s->radius;
  case SCREE_SHAPE_ELLIPSE: return scree_norm(scree_vec3(q.x / s->semi.x, q.y / s->semi.y, 0)) <= 1;
  case SCREE_SHAPE_ELLIPSOID:
    return scree_norm(scree_vec3(q.x / s->semi.x, q.y / s->semi.y, q.z / s->semi.z)) <= 1;
  case SCREE_SHAPE_BOX:
    return fabs(q.x) <= s->semi.x && fabs(q.y) <= s->semi.y && fabs(q.z) <= s->semi.z;
  case SCREE_SHAPE_SEGMENT: q = scree_vec3(q.y, 0, q.x); /* fall through */
  case SCREE_SHAPE_CAPSULE:
    q.z -= fmin(fmax(q.z, -s->half_length), s->half_length);
    return scree_norm(q) <= s->radius;
  case SCREE_SHAPE_POLYGON:
    for (int k = 0; k < s->vertex_count; k++) {
      scree_Vec3 a = s->vertices[k], b = s->vertices[(k + 1) % s->vertex_count];
      if ((b.x - a.x) * (q.y - a.y) - (b.y - a.y) * (q.x - a.x) < 0) return false;
    }
    return true;
  default: return false;
  }
}

enum { SHAPES = 9 };

static void make_shapes(scree_Shape s[SHAPES]) {
  scree_Vec3 v[5] = {{0.3, 0.1, 0}, {2, 0.4, 0}, {2.5, 1.5, 0}, {1, 2, 0}, {0, 1, 0}};
  scree_Vec3 shuffled[6] = {v[3], v[0], v[4], v[2], v[1], v[0]}; /* with one given twice */
  int good = 0;
  good += scree_shape_init_disk(&s[0], 0.7, NULL) == SCREE_OK;
  good += scree_shape_init_ellipse(&s[1], 0.4, 1.1, NULL) == SCREE_OK;
  good += scree_shape_init_polygon(&s[2], shuffled, 6, NULL) == SCREE_OK;
  good += scree_shape_init_segment(&s[3], 0.8, 0.3, NULL) == SCREE_OK;
  good += scree_shape_init_sphere(&s[4], 0.6, NULL) == SCREE_OK;
  good += scree_shape_init_ellipsoid(&s[5], 0.5, 0.8, 1.2, NULL) == SCREE_OK;
  good += scree_shape_init_box(&s[6], 0.5, 0.7, 0.9, NULL) == SCREE_OK;
  good += scree_shape_init_capsule(&s[7], 0.6, 0.4, NULL) == SCREE_OK;
  good += scree_shape_init_capsule(&s[8], 0, 0.4, NULL) == SCREE_OK; /* a ball */
  assert_int_equal(good, SHAPES);
  assert_int_equal(s[2].vertex_count, 5);
}

/* Volume, centroid and moments by an evenly spread sequence of points (Kronecker). */
static void test_mass(void **state) {
  (void)state;
  scree_Shape shapes[SHAPES];
  make_shapes(shapes);
  for (int k = 0; k < SHAPES; k++) {
    const scree_Shape *s = &shapes[k];
    int dimension = scree_shape_type(s->kind)->dimension;
    const double alpha[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
    const int n = 300000;
    double r = s->bounding_radius, volume = 0;
    double w = (dimension == 2 ? 4 * r * r : 8 * r * r * r) / n;
    scree_Vec3 first = {0, 0, 0}, second = {0, 0, 0};
    for (int i = 0; i < n; i++) {
      scree_Vec3 q = {fmod(i * alpha[0], 1), fmod(i * alpha[1], 1), fmod(i * alpha[2], 1)};
      q = scree_vec3(r * (2 * q.x - 1), r * (2 * q.y - 1), dimension == 2 ? 0 : r * (2 * q.z - 1));
      if (!contains(s, q)) continue;
      volume += w;
      first = scree_axpy(first, w, q);
      second = scree_axpy(second, w, scree_vec3(q.x * q.x, q.y * q.y, q.z * q.z));
    }
    double tolerance = 2e-3;
    assert_true(fabs(volume / s->volume - 1) < tolerance);
    assert_true(scree_norm(first) < tolerance * volume * r);
    assert_true(fabs((second.x + second.y) / s->inertia.z - 1) < tolerance);
    if (dimension == 3) {
      assert_true(fabs((second.y + second.z) / s->inertia.x - 1) < tolerance);
      assert_true(fabs((second.x + second.z) / s->inertia.y - 1) < tolerance);
    }
  }
  /* a capsule without length is a ball, exactly */
  scree_Shape ball;
  scree_shape_init_sphere(&ball, 0.4, NULL);
  assert_true(fabs(ball.volume / shapes[8].volume - 1) < 1e-15);
  assert_true(fabs(ball.inertia.x / shapes[8].inertia.x - 1) < 1e-15);
  for (int k = 0; k < SHAPES; k++) scree_shape_fini(&shapes[k]);
}

/* Points inside the shape are below every support plane and inside the bounds, and the bounds are
 * reached by support points. */
static void test_support(void **state) {
  (void)state;
  random_state = 1;
  scree_Shape shapes[SHAPES];
  make_shapes(shapes);
  for (int k = 0; k < SHAPES; k++) {
    const scree_Shape *s = &shapes[k];
    bool flat = scree_shape_type(s->kind)->dimension == 2;
    for (int trial = 0; trial < 300; trial++) {
      double r = s->bounding_radius * (1 + 1e-12);
      scree_Vec3 q = scree_scale(
          r, scree_vec3(2 * uniform() - 1, 2 * uniform() - 1, flat ? 0 : 2 * uniform() - 1));
      scree_Vec3 d = {uniform() - 0.5, uniform() - 0.5, flat ? 0 : uniform() - 0.5};
      scree_Vec3 top = scree_shape_support(s, d);
      assert_true(scree_norm(top) <= r);
      assert_true(contains(s, scree_scale(1 - 1e-12, top)));
      assert_true(top.z == 0 || !flat);
      if (contains(s, q)) assert_true(scree_dot(d, q) <= scree_dot(d, top) + 1e-12);
      scree_Pose pose = {{uniform(), uniform(), flat ? 0 : uniform()}, {0, 0, 0, 0}};
      pose.orientation = scree_quat_normalize(
          (scree_Quat){uniform(), flat ? 0 : uniform(), flat ? 0 : -uniform(), uniform()});
      scree_Aabb box = scree_shape_aabb(s, &pose);
      scree_Mat3 R = scree_quat_matrix(pose.orientation);
      for (int axis = 0; axis < (flat ? 2 : 3); axis++) {
        scree_Vec3 e = scree_vec3(axis == 0, axis == 1, axis == 2);
        scree_Vec3 high = scree_pose_apply(&pose, scree_shape_support(s, scree_mat3_tmul(&R, e)));
        scree_Vec3 low =
            scree_pose_apply(&pose, scree_shape_support(s, scree_mat3_tmul(&R, scree_neg(e))));
        assert_true(fabs(scree_component(high, axis) - scree_component(box.upper, axis)) < 1e-14);
        assert_true(fabs(scree_component(low, axis) - scree_component(box.lower, axis)) < 1e-14);
      }
    }
  }
  scree_Shape ground;
  scree_shape_init_half_space(&ground, NULL);
  scree_Pose pose = {{1, 2, 3}, {1, 0, 0, 0}};
  scree_Aabb box = scree_shape_aabb(&ground, &pose);
  assert_true(box.upper.z == 3 && isinf(box.lower.z) && isinf(box.upper.x));
  for (int k = 0; k < SHAPES; k++) scree_shape_fini(&shapes[k]);
}

static char message[1024];

static void keep(void *user, scree_LogLevel level, const char *text) {
  (void)user;
  (void)level;
  strncpy(message, text, sizeof message - 1);
}

static void refused(scree_Status status, const char *part) {
  assert_int_equal(status, SCREE_BAD_INPUT);
  if (!strstr(message, part)) print_message("message: %s\n", message);
  assert_non_null(strstr(message, part));
  message[0] = 0;
}

static void test_refusals(void **state) {
  (void)state;
  scree_Log log = {keep, NULL};
  scree_Shape s;
  scree_Vec3 line[3] = {{0, 0, 0}, {1, 1, 0}, {3, 3, 0}};
  scree_Vec3 dent[5] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {1, 1.5, 0}, {0, 2, 0}};
  scree_Vec3 bad[3] = {{0, 0, 0}, {1, NAN, 0}, {3, 3, 0}};
  refused(scree_shape_init_disk(&s, 0, &log), "radius is 0");
  refused(scree_shape_init_sphere(&s, -1, &log), "radius is -1");
  refused(scree_shape_init_sphere(&s, NAN, &log), "radius");
  refused(scree_shape_init_sphere(&s, INFINITY, &log), "finite");
  refused(scree_shape_init_box(&s, 1, 0, 1, &log), "half_y");
  refused(scree_shape_init_ellipse(&s, 1, -2, &log), "semi_y");
  refused(scree_shape_init_drum(&s, 1, 0, &log), "half_length");
  refused(scree_shape_init_polygon(&s, line, 3, &log), "line");
  refused(scree_shape_init_polygon(&s, line, 2, &log), "at least 3");
  refused(scree_shape_init_polygon(&s, dent, 5, &log), "vertex 3");
  refused(scree_shape_init_polygon(&s, bad, 3, &log), "vertex 1");
  assert_int_equal(scree_shape_init_drum(&s, 1, INFINITY, &log), SCREE_OK);
  assert_int_equal(scree_shape_init_segment(&s, 1, 0, &log), SCREE_OK);
  assert_true(s.volume == 0);
}

static void test_registry(void **state) {
  (void)state;
  for (int k = 0; k < SCREE_SHAPE_KINDS; k++) {
    const scree_ShapeType *t = scree_shape_type((scree_ShapeKind)k);
    assert_non_null(t->name);
    assert_int_equal(scree_shape_kind(t->name, t->dimension), k);
  }
  assert_int_equal(scree_shape_kind("teapot", 3), SCREE_SHAPE_KINDS);
}

/* Rotations: matrix and product agree, from_to takes a to b, integration is exact for constant w.
 */
static void test_rotations(void **state) {
  (void)state;
  random_state = 2;
  for (int trial = 0; trial < 200; trial++) {
    scree_Vec3 a = scree_unit_or(scree_vec3(uniform() - 0.5, uniform() - 0.5, uniform() - 0.5),
                                 scree_vec3(1, 0, 0));
    scree_Vec3 b = scree_unit_or(scree_vec3(uniform() - 0.5, uniform() - 0.5, uniform() - 0.5),
                                 scree_vec3(1, 0, 0));
    if (trial == 0) b = scree_neg(a);
    if (trial == 1) a = scree_vec3(0, 1, 0), b = scree_vec3(0, -1, 0);
    scree_Quat q = scree_quat_from_to(a, b), p = scree_quat_axis_angle(a, uniform());
    assert_true(scree_norm(scree_sub(scree_quat_rotate(q, a), b)) < 1e-14);
    scree_Vec3 one = scree_quat_rotate(scree_quat_mul(q, p), b);
    scree_Vec3 two = scree_quat_rotate(q, scree_quat_rotate(p, b));
    assert_true(scree_norm(scree_sub(one, two)) < 1e-14);
    scree_Quat half = scree_quat_integrate(q, a, 0.4), whole = scree_quat_integrate(half, a, 0.4);
    scree_Quat once = scree_quat_integrate(q, a, 0.8);
    assert_true(fabs(whole.w - once.w) + fabs(whole.x - once.x) + fabs(whole.y - once.y) +
                    fabs(whole.z - once.z) <
                1e-14);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mass),      cmocka_unit_test(test_support),
      cmocka_unit_test(test_refusals),  cmocka_unit_test(test_registry),
      cmocka_unit_test(test_rotations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
