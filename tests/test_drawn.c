/* Triangles of shapes, as VTK files and pictures show them: the surface is closed and seen from
 * outside (its volume, area and centroid are those of the shape), normals are those of the
 * triangles, no point is outside of the shape, obstacles look to their free side; deformed
 * surfaces of finite elements follow their nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/vec3.h"
#include "view/mesh.h"

#include <stdlib.h>

enum { SEGMENTS = 64 };

static scree_Vec3 point_of(const scree_DrawnMesh *mesh, int p) {
  return scree_vec3(mesh->point[3 * p], mesh->point[3 * p + 1], mesh->point[3 * p + 2]);
}

static scree_Vec3 normal_of(const scree_DrawnMesh *mesh, int p) {
  return scree_vec3(mesh->normal[3 * p], mesh->normal[3 * p + 1], mesh->normal[3 * p + 2]);
}

/* Twice the vector area of triangle t; also its corners. */
static scree_Vec3 area_of(const scree_DrawnMesh *mesh, size_t t, scree_Vec3 x[3]) {
  for (size_t k = 0; k < 3; ++k) {
    const int p = mesh->triangle[3 * t + k];
    assert_in_range(p, 0, (int)mesh->points - 1);
    x[k] = point_of(mesh, p);
  }
  return scree_cross(scree_sub(x[1], x[0]), scree_sub(x[2], x[0]));
}

/* Normals are unit vectors on the side from which the triangles are counter-clockwise. */
static void check_normals(const scree_DrawnMesh *mesh) {
  for (size_t p = 0; p < mesh->points; ++p)
    assert_true(fabs(scree_norm(normal_of(mesh, (int)p)) - 1) < 1e-12);
  for (size_t t = 0; t < mesh->triangles; ++t) {
    scree_Vec3 x[3];
    const scree_Vec3 n = area_of(mesh, t, x);
    for (size_t k = 0; k < 3; ++k)
      assert_true(scree_dot(n, normal_of(mesh, mesh->triangle[3 * t + k])) >= -1e-12);
  }
}

/* Volume of the closed surface, and the integral of the position over it. */
static double volume_of(const scree_DrawnMesh *mesh, scree_Vec3 *first) {
  double volume = 0;
  *first = scree_vec3(0, 0, 0);
  for (size_t t = 0; t < mesh->triangles; ++t) {
    scree_Vec3 x[3];
    area_of(mesh, t, x);
    const double part = scree_dot(x[0], scree_cross(x[1], x[2])) / 6;
    volume += part;
    *first = scree_axpy(*first, 0.25 * part, scree_add(x[0], scree_add(x[1], x[2])));
  }
  return volume;
}

static double area_of_all(const scree_DrawnMesh *mesh, scree_Vec3 *first) {
  double sum = 0;
  *first = scree_vec3(0, 0, 0);
  for (size_t t = 0; t < mesh->triangles; ++t) {
    scree_Vec3 x[3];
    const double part = 0.5 * area_of(mesh, t, x).z;
    assert_true(part >= 0);
    sum += part;
    *first = scree_axpy(*first, part / 3, scree_add(x[0], scree_add(x[1], x[2])));
  }
  return sum;
}

/* A bounded shape: its size within the part `loose`, its centroid at the origin. */
static void check_solid(scree_Shape *shape, double loose) {
  scree_DrawnMesh mesh = {0};
  const scree_Vec3 origin = {0, 0, 0};
  const bool flat = scree_shape_type(shape->kind)->dimension == 2;
  assert_int_equal(scree_mesh_shape(shape, SEGMENTS, 1, origin, NULL, &mesh), SCREE_OK);
  assert_false(mesh.sheet);
  assert_false(mesh.stressed);
  check_normals(&mesh);
  scree_Vec3 first;
  const double size = flat ? area_of_all(&mesh, &first) : volume_of(&mesh, &first);
  if (fabs(size / shape->volume - 1) > loose)
    fail_msg("%s: drawn %g, expected %g", scree_shape_type(shape->kind)->name, size, shape->volume);
  /* the flat faces of a superellipsoid magnify the rounding of normals along the axes */
  const double centred = shape->kind == SCREE_SHAPE_SUPERELLIPSOID ? 1e-6 : 1e-9;
  if (!(scree_norm(first) < centred * shape->volume * shape->bounding_radius))
    fail_msg("%s: centroid (%g, %g, %g) over volume %g", scree_shape_type(shape->kind)->name,
             first.x, first.y, first.z, size);
  for (size_t p = 0; p < mesh.points; ++p)
    assert_true(scree_norm(point_of(&mesh, (int)p)) <= shape->bounding_radius * (1 + 1e-12));
  scree_mesh_fini(&mesh);
  scree_shape_fini(shape);
}

static void solids(void **state) {
  (void)state;
  const double exact = 1e-12, fine = 5e-3; /* 64 corners of a circle: 0.16 % for each direction */
  const scree_Vec3 corner[6] = {{1, 0, 0},    {-1, 0, 0}, {0, 1.5, 0},
                                {0, -1.5, 0}, {0, 0, 2},  {0, 0, -2}};
  const double rounded[4] = {0.5, 0.7, 0.9, 0.05};
  scree_Shape s = {0};
  assert_int_equal(scree_shape_init_sphere(&s, 0.6, NULL), SCREE_OK);
  check_solid(&s, fine);
  assert_int_equal(scree_shape_init_ellipsoid(&s, 0.5, 0.8, 1.2, NULL), SCREE_OK);
  check_solid(&s, fine);
  assert_int_equal(scree_shape_init_box(&s, 0.5, 0.7, 0.9, NULL), SCREE_OK);
  check_solid(&s, exact);
  assert_int_equal(scree_shape_init(&s, SCREE_SHAPE_BOX, rounded, NULL, 0, NULL), SCREE_OK);
  check_solid(&s, 0.02);
  assert_int_equal(scree_shape_init_capsule(&s, 0.6, 0.4, NULL), SCREE_OK);
  check_solid(&s, fine);
  assert_int_equal(scree_shape_init_cylinder(&s, 0.6, 0.4, NULL), SCREE_OK);
  check_solid(&s, fine);
  assert_int_equal(scree_shape_init_cone(&s, 0.6, 0.4, NULL), SCREE_OK);
  check_solid(&s, fine);
  assert_int_equal(scree_shape_init_superellipsoid(&s, 0.5, 0.8, 1.2, 4, 6, NULL), SCREE_OK);
  check_solid(&s, 0.02);
  assert_int_equal(scree_shape_init_polyhedron(&s, corner, 6, NULL), SCREE_OK);
  check_solid(&s, exact);
}

static void flat_shapes(void **state) {
  (void)state;
  const scree_Vec3 corner[5] = {{0.3, 0.1, 0}, {2, 0.4, 0}, {2.5, 1.5, 0}, {1, 2, 0}, {0, 1, 0}};
  scree_Shape s = {0};
  assert_int_equal(scree_shape_init_disk(&s, 0.7, NULL), SCREE_OK);
  check_solid(&s, 4e-3);
  assert_int_equal(scree_shape_init_ellipse(&s, 0.4, 1.1, NULL), SCREE_OK);
  check_solid(&s, 4e-3);
  assert_int_equal(scree_shape_init_segment(&s, 0.8, 0.3, NULL), SCREE_OK);
  check_solid(&s, 4e-3);
  assert_int_equal(scree_shape_init_polygon(&s, corner, 5, NULL), SCREE_OK);
  check_solid(&s, 1e-12);
}

/* Two boxes side by side, one of them turned: the volume is the sum. */
static void clumps(void **state) {
  (void)state;
  scree_ClumpPart part[2] = {0};
  scree_Shape s = {0};
  assert_int_equal(scree_shape_init_box(&part[0].shape, 0.5, 0.2, 0.3, NULL), SCREE_OK);
  assert_int_equal(scree_shape_init_box(&part[1].shape, 0.1, 0.4, 0.2, NULL), SCREE_OK);
  part[0].pose.orientation = scree_quat_identity();
  part[1].pose.position = scree_vec3(2, 1, 0);
  part[1].pose.orientation = scree_quat_normalize((scree_Quat){0.9, 0.1, 0.3, -0.2});
  assert_int_equal(scree_shape_init_clump(&s, part, 2, NULL), SCREE_OK);
  check_solid(&s, 1e-12);
  scree_shape_fini(&part[0].shape);
  scree_shape_fini(&part[1].shape);
}

/* Surfaces of obstacles, whose normals look to the free side: upwards, or inwards. */
static void check_sheet(scree_Shape *shape, bool inward) {
  scree_DrawnMesh mesh = {0};
  assert_int_equal(scree_mesh_shape(shape, SEGMENTS, 2, scree_vec3(0, 0, 0), NULL, &mesh),
                   SCREE_OK);
  assert_true(mesh.sheet && mesh.triangles > 0);
  for (size_t p = 0; p < mesh.points; ++p) {
    const scree_Vec3 x = point_of(&mesh, (int)p), n = normal_of(&mesh, (int)p);
    assert_true(fabs(scree_norm(n) - 1) < 1e-12);
    if (inward)
      assert_true(scree_dot(n, x) <= 1e-12);
    else
      assert_true(n.z > 0);
  }
  scree_mesh_fini(&mesh);
  scree_shape_fini(shape);
}

static void sheets(void **state) {
  (void)state;
  const double funnel[3] = {0.2, 0.6, 0.5}, ring[2] = {1, 0.4}, pipe[2] = {0.5, 1};
  const double heights[6] = {0, 0.1, 0, 0.2, 0, 0.1};
  scree_Shape s = {0};
  assert_int_equal(scree_shape_init_half_space(&s, NULL), SCREE_OK);
  check_sheet(&s, false);
  assert_int_equal(scree_shape_init_rectangle(&s, 1, 2, NULL), SCREE_OK);
  check_sheet(&s, false);
  assert_int_equal(scree_shape_init_height_field(&s, heights, 3, 2, 1, 1, NULL), SCREE_OK);
  check_sheet(&s, false);
  assert_int_equal(scree_shape_init(&s, SCREE_SHAPE_RING, ring, NULL, 0, NULL), SCREE_OK);
  check_sheet(&s, false);
  assert_int_equal(scree_shape_init(&s, SCREE_SHAPE_FUNNEL, funnel, NULL, 0, NULL), SCREE_OK);
  check_sheet(&s, true);
  assert_int_equal(scree_shape_init(&s, SCREE_SHAPE_PIPE, pipe, NULL, 0, NULL), SCREE_OK);
  check_sheet(&s, true);
  assert_int_equal(scree_shape_init_drum(&s, 0.5, 1, NULL), SCREE_OK);
  check_sheet(&s, true);
  assert_int_equal(scree_shape_init_drum(&s, 0.5, INFINITY, NULL), SCREE_OK);
  check_sheet(&s, true);
}

/* A block of 2 x 1 x 1 elements, stretched to twice its length, in the frame of a pose. */
static void nodes(void **state) {
  (void)state;
  const int divisions[3] = {2, 1, 1};
  scree_ElementMesh *elements = NULL;
  scree_ReplayBody body = {.node_first = 3};
  scree_ReplayFrame frame = {0};
  scree_DrawnMesh mesh = {0};
  assert_int_equal(
      scree_element_mesh_create_block(3, scree_vec3(1, 0.5, 0.5), divisions, &elements, NULL),
      SCREE_OK);
  assert_int_equal(scree_shape_init_elements(&body.shape, elements, NULL), SCREE_OK);
  check_normals((scree_mesh_shape(&body.shape, 8, 1, scree_vec3(0, 0, 0), NULL, &mesh), &mesh));
  scree_Vec3 first;
  assert_true(fabs(volume_of(&mesh, &first) - 2) < 1e-12);

  const scree_Pose pose = {{0.3, -0.2, 0.5},
                           scree_quat_normalize((scree_Quat){0.8, 0.2, -0.3, 0.1})};
  const int count = body.shape.vertex_count, all = body.node_first + count;
  int *surface_node = calloc((size_t)count, sizeof *surface_node);
  frame.node = calloc(3 * (size_t)all, sizeof(double));
  frame.node_stress = calloc(6 * (size_t)all, sizeof(double));
  assert_true(surface_node && frame.node && frame.node_stress);
  frame.nodes = all;
  body.node_count = count;
  body.surface_node = surface_node;
  assert_true(scree_mesh_has_nodes(&body, &frame));
  for (int k = 0; k < count; ++k) {
    surface_node[k] = count - 1 - k; /* numbered in another order than the vertices */
    const scree_Vec3 v = body.shape.vertices[k];
    const scree_Vec3 x = scree_pose_apply(&pose, scree_vec3(2 * v.x, v.y, v.z));
    const int node = body.node_first + surface_node[k];
    frame.node[3 * node] = x.x, frame.node[3 * node + 1] = x.y, frame.node[3 * node + 2] = x.z;
    frame.node_stress[6 * node] = 5; /* uniaxial: its equivalent is itself */
  }
  assert_int_equal(scree_mesh_nodes(&body, &frame, &pose, NULL, &mesh), SCREE_OK);
  assert_true(mesh.stressed && !mesh.sheet);
  check_normals(&mesh);
  assert_true(fabs(volume_of(&mesh, &first) - 4) < 1e-12);
  for (size_t p = 0; p < mesh.points; ++p) assert_true(fabs(mesh.value[p] - 5) < 1e-12);
  assert_true(fabs(scree_mesh_mean_mises(&body, &frame) - 5) < 1e-12);
  frame.nodes = all - 1;
  assert_false(scree_mesh_has_nodes(&body, &frame));
  free(surface_node);
  free(frame.node);
  free(frame.node_stress);
  scree_mesh_fini(&mesh);
  scree_shape_fini(&body.shape);
  scree_element_mesh_destroy(elements);
}

/* A beam between two points, open at its ends: its points are at its radius from the axis. */
static void beams(void **state) {
  (void)state;
  const scree_Vec3 from = {0.1, 0.2, 0.3}, to = {1, -1, 2};
  scree_DrawnMesh mesh = {0};
  assert_int_equal(scree_mesh_beam(from, to, 0.05, 12, NULL, &mesh), SCREE_OK);
  const scree_Vec3 axis = scree_unit_or(scree_sub(to, from), from);
  check_normals(&mesh);
  for (size_t p = 0; p < mesh.points; ++p) {
    const scree_Vec3 x = scree_sub(point_of(&mesh, (int)p), from);
    const scree_Vec3 out = scree_axpy(x, -scree_dot(axis, x), axis);
    assert_true(fabs(scree_norm(out) - 0.05) < 1e-12);
    assert_true(scree_dot(out, normal_of(&mesh, (int)p)) > 0.05 * (1 - 1e-9));
  }
  scree_mesh_fini(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solids), cmocka_unit_test(flat_shapes), cmocka_unit_test(clumps),
      cmocka_unit_test(sheets), cmocka_unit_test(nodes),       cmocka_unit_test(beams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
