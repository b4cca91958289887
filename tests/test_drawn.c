/* Triangles of solids for pictures and VTK files: the surface is closed and outward (the volume
 * within it is that of the shape, less what flat triangles cut off), its points lie on the shape,
 * and the normals of round parts are those of the shape (a support point in the direction of the
 * normal is as far out). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "math/vec3.h"
#include "view/mesh.h"

#include <math.h>
#include <string.h>

static scree_Vec3 at(const double *x, int k) {
  return scree_vec3(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
}

/* Volume within the triangles, and the vector sum of their areas, which is zero for a closed
 * surface. */
static double volume_within(const scree_DrawnMesh *mesh, scree_Vec3 *sum, double *area) {
  double volume = 0.0;
  *sum = scree_vec3(0, 0, 0);
  *area = 0.0;
  for (size_t k = 0; k < mesh->triangles; ++k) {
    const int *t = mesh->triangle + 3 * k;
    const scree_Vec3 a = at(mesh->point, t[0]), b = at(mesh->point, t[1]);
    const scree_Vec3 c = at(mesh->point, t[2]);
    const scree_Vec3 n = scree_scale(0.5, scree_cross(scree_sub(b, a), scree_sub(c, a)));
    volume += scree_dot(a, n) / 3.0;
    *sum = scree_add(*sum, n);
    *area += scree_norm(n);
  }
  return volume;
}

/* Mesh of a solid; `less`: largest part of its volume that flat triangles may cut off. */
static void check(const scree_Shape *shape, double volume, double less) {
  scree_DrawnMesh mesh = {0};
  scree_Vec3 sum;
  double area;
  assert_int_equal(scree_mesh_shape(shape, 32, 1.0, scree_vec3(0, 0, 0), NULL, &mesh), SCREE_OK);
  const double within = volume_within(&mesh, &sum, &area);
  assert_true(within <= volume * (1 + 1e-9) && within >= volume * (1 - less));
  assert_true(scree_norm(sum) < 1e-9 * area);
  for (size_t k = 0; k < mesh.points; ++k) {
    const scree_Vec3 x = at(mesh.point, (int)k), n = at(mesh.normal, (int)k);
    const double out = scree_dot(n, scree_shape_support(shape, n));
    assert_true(fabs(scree_norm(n) - 1.0) < 1e-12);
    assert_true(fabs(scree_dot(n, x) - out) < 1e-9 * shape->bounding_radius);
  }
  scree_mesh_fini(&mesh);
}

static const scree_Vec3 corners[] = {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {2, 2, 1}};
enum { CORNERS = sizeof corners / sizeof *corners };

static void flat_solids(void **state) {
  (void)state;
  scree_Shape shape;
  assert_int_equal(scree_shape_init_box(&shape, 1, 2, 3, NULL), SCREE_OK);
  check(&shape, 48.0, 1e-9);
  scree_shape_fini(&shape);
  assert_int_equal(scree_shape_init_polyhedron(&shape, corners, CORNERS, NULL), SCREE_OK);
  check(&shape, shape.volume, 1e-9);
  scree_shape_fini(&shape);
}

static void round_solids(void **state) {
  (void)state;
  const double pi = 3.14159265358979323846;
  scree_Shape shape;
  assert_int_equal(scree_shape_init_sphere(&shape, 2, NULL), SCREE_OK);
  check(&shape, 32.0 * pi / 3.0, 0.04);
  assert_int_equal(scree_shape_init_ellipsoid(&shape, 1, 2, 3, NULL), SCREE_OK);
  check(&shape, 8.0 * pi, 0.04);
  assert_int_equal(scree_shape_init_capsule(&shape, 2, 1, NULL), SCREE_OK);
  check(&shape, 4.0 * pi + 4.0 * pi / 3.0, 0.04);
}

static void rounded_solids(void **state) {
  (void)state;
  const double pi = 3.14159265358979323846, r = 0.3;
  scree_Shape shape;
  const double box[] = {1, 2, 3, r};
  assert_int_equal(scree_shape_init(&shape, SCREE_SHAPE_BOX, box, NULL, 0, NULL), SCREE_OK);
  /* Steiner's formula: box, slabs on the faces, cylinders along the edges, a ball at the corners */
  const double sharp = 48.0, faces = 2.0 * r * (8.0 + 12.0 + 24.0);
  check(&shape, sharp + faces + 12.0 * pi * r * r + 4.0 * pi * r * r * r / 3.0, 0.02);
  scree_shape_fini(&shape);
  assert_int_equal(scree_shape_init(&shape, SCREE_SHAPE_POLYHEDRON, &r, corners, CORNERS, NULL),
                   SCREE_OK);
  check(&shape, shape.volume, 0.03);
  scree_shape_fini(&shape);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_solids),
      cmocka_unit_test(round_solids),
      cmocka_unit_test(rounded_solids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
