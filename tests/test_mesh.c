/* Triangle meshes as obstacles: distances against a second method, and bodies that slide and roll
 * over the edges between coplanar triangles as on a plane. */
#include "deepest.h"
#include "geometry/composite.h"
#include "geometry/gjk.h"
#include "geometry/shape_class.h"
#include "geometry/trimesh.h"
#include "scene/mesh_file.h"
#include "test_world_scene.h"

enum { TRIALS = 40 }; /* of boxes that slide */

static uint64_t seed;

static double uniform(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return ((double)(seed >> 11) + 0.5) * 0x1p-53;
}

static double between(double a, double b) {
  return a + (b - a) * uniform();
}

/* A grid of n x n squares of `pitch`, two triangles each, at heights height(x, y). */
static void make_grid(scree_Shape *shape, int n, double pitch, double (*height)(double, double)) {
  const size_t nv = (size_t)(n + 1) * (size_t)(n + 1), nt = 2 * (size_t)n * (size_t)n;
  scree_Vec3 *v = malloc(nv * sizeof *v);
  int *t = malloc(3 * nt * sizeof *t), at = 0;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) {
      const double x = (i - 0.5 * n) * pitch, y = (j - 0.5 * n) * pitch;
      v[j * (n + 1) + i] = vec(x, y, height(x, y));
    }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      const int two[6] = {a, b, d, a, d, c}, other[6] = {a, b, c, b, d, c};
      memcpy(t + at, (i + j) % 2 ? two : other, sizeof two);
      at += 6;
    }
  OK(scree_shape_init_mesh(shape, v, (int)nv, t, (int)nt, &test_log));
  free(v);
  free(t);
}

static double flat(double x, double y) {
  (void)x, (void)y;
  return 0;
}

static double hill(double x, double y) {
  return -0.5 * (x * x + y * y); /* convex: every edge is sharp */
}

static void count_triangle(void *user, int triangle) {
  int *count = user;
  assert_true(triangle >= 0);
  ++*count;
}

static void test_tree(void **state) {
  (void)state;
  scree_Shape s;
  make_grid(&s, 40, 0.1, hill);
  const scree_TriangleMesh *m = s.data->mesh;
  assert_int_equal(m->vertex_count - m->edge_count + m->triangle_count, 1); /* Euler: a disk */
  seed = 3;
  for (int trial = 0; trial < 200; ++trial) {
    const scree_Vec3 c = vec(between(-2, 2), between(-2, 2), between(-4, 0));
    const double e = between(0, 0.4);
    const scree_Aabb box = {vec(c.x - e, c.y - e, c.z - e), vec(c.x + e, c.y + e, c.z + e)};
    int found = 0, expected = 0;
    scree_trimesh_query(m, &box, count_triangle, &found);
    for (int t = 0; t < m->triangle_count; ++t) {
      double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
      for (int k = 0; k < 3; ++k) {
        const scree_Vec3 v = m->vertex[m->triangle[t][k]];
        const double x[3] = {v.x, v.y, v.z};
        for (int a = 0; a < 3; ++a) low[a] = fmin(low[a], x[a]), high[a] = fmax(high[a], x[a]);
      }
      expected += low[0] <= box.upper.x && high[0] >= box.lower.x && low[1] <= box.upper.y &&
                  high[1] >= box.lower.y && low[2] <= box.upper.z && high[2] >= box.lower.z;
    }
    assert_int_equal(found, expected);
  }
  scree_shape_fini(&s);
}

typedef struct Placed {
  const scree_Shape *shape;
  scree_Mat3 axes;
  scree_Vec3 centre;
} Placed;

static scree_Vec3 placed_support(const void *body, scree_Vec3 d) {
  const Placed *p = body;
  return scree_add(
      p->centre,
      scree_mat3_mul(&p->axes, scree_shape_support(p->shape, scree_mat3_tmul(&p->axes, d))));
}

static scree_Vec3 corner_support(const void *corners, scree_Vec3 d) {
  const scree_Vec3 *x = corners;
  int best = 0;
  for (int k = 1; k < 3; ++k)
    if (scree_dot(d, x[k]) > scree_dot(d, x[best])) best = k;
  return x[best];
}

/* Bodies apart from a convex hill: the least gap is the least distance of body and triangle, by GJK
 * over all triangles. */
static void test_distance(void **state) {
  (void)state;
  scree_Shape mesh, shape[7];
  make_grid(&mesh, 6, 0.5, hill);
  OK(scree_shape_init_sphere(&shape[0], 0.3, &test_log));
  OK(scree_shape_init_capsule(&shape[1], 0.3, 0.1, &test_log));
  OK(scree_shape_init_box(&shape[2], 0.2, 0.3, 0.4, &test_log));
  OK(scree_shape_init_ellipsoid(&shape[3], 0.2, 0.3, 0.4, &test_log));
  OK(scree_shape_init_cylinder(&shape[4], 0.2, 0.3, &test_log));
  OK(scree_shape_init_cone(&shape[5], 0.3, 0.3, &test_log));
  const scree_Vec3 v[5] = {{0.4, 0, 0}, {0, 0.4, 0}, {-0.3, -0.2, 0}, {0, 0, 0.5}, {0, 0, -0.3}};
  OK(scree_shape_init_polyhedron(&shape[6], v, 5, &test_log));
  seed = 1;
  const scree_TriangleMesh *m = mesh.data->mesh;
  const scree_Pose origin = {{0, 0, 0}, {1, 0, 0, 0}};
  double worst[7] = {0};
  int tried = 0;
  for (int trial = 0; trial < 7 * 300; ++trial) {
    const int k = trial % 7;
    scree_Pose pose = {vec(between(-1, 1), between(-1, 1), between(-0.4, 0.7)),
                       {between(-1, 1), between(-1, 1), between(-1, 1), between(-1, 1)}};
    pose.orientation = scree_quat_normalize(pose.orientation);
    const Placed body = {&shape[k], scree_quat_matrix(pose.orientation), pose.position};
    double expected = INFINITY;
    for (int t = 0; t < m->triangle_count; ++t) {
      scree_Vec3 corner[3], qa, qb, n;
      for (int c = 0; c < 3; ++c) corner[c] = m->vertex[m->triangle[t][c]];
      expected = fmin(expected, scree_gjk_distance(placed_support, &body, corner_support, corner,
                                                   m->normal[t], &qa, &qb, &n));
    }
    if (!(expected > 0) || expected > 0.2) continue;
    if (pose.position.z < hill(pose.position.x, pose.position.y)) continue; /* behind it */
    Deepest found = no_point;
    scree_collide_each(&shape[k], &pose, &mesh, &origin, 0.25, keep_deepest, &found);
    assert_true(found.count > 0);
    worst[k] = fmax(worst[k], fabs(found.gap - expected));
    ++tried;
    Deepest other = no_point;
    scree_collide_each(&mesh, &origin, &shape[k], &pose, 0.25, keep_deepest, &other);
    assert_int_equal(other.count, found.count);
    assert_true(other.gap == found.gap && other.normal.z == -found.normal.z);
  }
  assert_true(tried > 300);
  for (int k = 0; k < 7; ++k) {
    print_message("%-10s worst difference %.1e\n", scree_shape_type(shape[k].kind)->name, worst[k]);
    assert_true(worst[k] < 2e-7);
    scree_shape_fini(&shape[k]);
  }
  scree_shape_fini(&mesh);
}

/* A square funnel of four slopes, open at the bottom: valleys between the slopes, borders at the
 * outlet. */
static void make_funnel(scree_Shape *mesh) {
  scree_Vec3 v[8];
  int triangle[24], *t = triangle;
  for (int k = 0; k < 4; ++k) {
    const double x = k == 0 || k == 3 ? 1 : -1, y = k < 2 ? 1 : -1;
    v[k] = vec(0.3 * x, 0.3 * y, 0.75);
    v[4 + k] = vec(0.09 * x, 0.09 * y, 0.45);
    const int n = (k + 1) % 4, two[6] = {k, n, 4 + n, k, 4 + n, 4 + k};
    memcpy(t, two, sizeof two);
    t += 6;
  }
  OK(scree_shape_init_mesh(mesh, v, 8, triangle, 8, &test_log));
}

/* A box that does not overlap it has no contact that is closer than the distance from the
 * triangles, and one inside misses none. A corner that presses into a valley is held by both
 * slopes. */
static void test_funnel(void **state) {
  (void)state;
  scree_Shape mesh;
  make_funnel(&mesh);
  const scree_TriangleMesh *m = mesh.data->mesh;
  const scree_Pose origin = {{0, 0, 0}, {1, 0, 0, 0}};
  seed = 3;
  int tried = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    scree_Shape box;
    OK(scree_shape_init_box(&box, between(0.01, 0.03), between(0.01, 0.03), between(0.01, 0.03),
                            &test_log));
    scree_Pose pose = {vec(between(-0.2, 0.2), between(-0.2, 0.2), between(0.4, 0.6)),
                       {between(-1, 1), between(-1, 1), between(-1, 1), between(-1, 1)}};
    pose.orientation = scree_quat_normalize(pose.orientation);
    const Placed body = {&box, scree_quat_matrix(pose.orientation), pose.position};
    double expected = INFINITY;
    bool inside = true;
    for (int k = 0; k < m->triangle_count; ++k) {
      scree_Vec3 corner[3], qa, qb, n;
      for (int c = 0; c < 3; ++c) corner[c] = m->vertex[m->triangle[k][c]];
      inside = inside && scree_dot(m->normal[k], scree_sub(pose.position, corner[0])) > 0;
      expected = fmin(expected, scree_gjk_distance(placed_support, &body, corner_support, corner,
                                                   m->normal[k], &qa, &qb, &n));
    }
    if (!inside || !(expected > 0) || expected > 0.01) continue;
    Deepest found = no_point;
    scree_collide_each(&box, &pose, &mesh, &origin, 0.012, keep_deepest, &found);
    NEAR(found.gap, expected, 1e-6);
    ++tried;
  }
  print_message("funnel: %d boxes\n", tried);
  assert_true(tried > 300);
  /* a spike upon its tip in the valley at x = y, 1e-4 behind both slopes */
  const scree_Vec3 w[4] = {{0, 0, 0}, {0.01, 0, 0.1}, {-0.005, 0.009, 0.1}, {-0.005, -0.009, 0.1}};
  scree_Shape spike;
  OK(scree_shape_init_polyhedron(&spike, w, 4, &test_log));
  scree_Pose pose = scree_shape_frame(&spike);
  const double deep = 1e-4;
  pose.position = scree_add(pose.position, vec(0.2, 0.2, 0.45 + 0.11 / 0.21 * 0.3 - deep));
  Deepest found = no_point;
  scree_collide_each(&spike, &pose, &mesh, &origin, 0, keep_deepest, &found);
  assert_int_equal(found.count, 2);
  NEAR(found.gap, -deep * 0.21 / hypot(0.21, 0.3), 1e-12);
  scree_shape_fini(&spike);
  scree_shape_fini(&mesh);
}

typedef struct Slopes {
  uint32_t corner; /* whose points are kept */
  int count[2];    /* upon the slopes at x > 0 and y > 0 */
  double gap[2];
} Slopes;

static void keep_slopes(void *user, const scree_ManifoldPoint *point) {
  Slopes *found = user;
  if (point->feature != found->corner) return;
  const int side = fabs(point->normal.x) > fabs(point->normal.y) ? 0 : 1;
  found->count[side]++;
  found->gap[side] = point->gap;
}

/* The corner of a box near a valley has the height over each slope as its gap, in front of and
 * behind either: it meets no slope late, and loses none when it is deep behind one of them. */
static void test_valley(void **state) {
  (void)state;
  enum { STEPS = 40 };
  scree_Shape mesh, box;
  make_funnel(&mesh);
  const double half = 0.02, margin = 0.004, steep = 0.3 / hypot(0.21, 0.3);
  OK(scree_shape_init_box(&box, half, half, half, &test_log));
  const scree_Pose origin = {{0, 0, 0}, {1, 0, 0, 0}};
  for (int i = 0; i <= STEPS; ++i)
    for (int j = 0; j <= STEPS; ++j) {
      const double x = -0.0015 + 0.005 * i / STEPS, y = -0.0015 + 0.005 * j / STEPS;
      const double z = 0.45 + 0.11 / 0.21 * 0.3; /* of the valley at x = y = 0.2 */
      const scree_Pose pose = {vec(0.2 - x - half, 0.2 - y - half, z + half), {1, 0, 0, 0}};
      Slopes found = {scree_feature_vertex(0, 3, 0), {0, 0}, {0, 0}};
      scree_collide_each(&box, &pose, &mesh, &origin, margin, keep_slopes, &found);
      assert_int_equal(found.count[0], 1);
      assert_int_equal(found.count[1], 1);
      NEAR(found.gap[0], x * steep, 1e-12);
      NEAR(found.gap[1], y * steep, 1e-12);
    }
  scree_shape_fini(&box);
  scree_shape_fini(&mesh);
}

typedef struct Borders {
  int count;
  double gap[2];
} Borders;

static void keep_borders(void *user, const scree_ManifoldPoint *point) {
  Borders *b = user;
  if (point->feature >> 30 != SCREE_FEATURE_EDGES) return;
  if (b->count < 2) b->gap[b->count] = point->gap;
  ++b->count;
}

/* A stone that slides down the valley and passes the corner of the outlet with an edge, which
 * presses into both borders there and crosses neither: it has the contact of both, from before it
 * touches them. It once got them at the depth at which it came to cross one of them. */
static void test_outlet_corner(void **state) {
  (void)state;
  const scree_Pose origin = {{0, 0, 0}, {1, 0, 0, 0}};
  const scree_Vec3 v[5] = {{0.0113, 0.0113, 0.0184}, /* the edge passes through the origin */
                           {-0.65 * 0.0113, -0.65 * 0.0113, -0.65 * 0.0184},
                           {-0.03, -0.03, 0.005},
                           {-0.03, -0.005, 0.01},
                           {-0.005, -0.03, 0.01}};
  const double slope = 0.0184 / hypot(0.0184, 0.0113); /* of the normals of both crossings */
  scree_Shape mesh, stone;
  make_funnel(&mesh);
  OK(scree_shape_init_polyhedron(&stone, v, 5, &test_log));
  const scree_Pose frame = scree_shape_frame(&stone);
  for (int k = -10; k <= 4; ++k) {
    const double depth = 2e-5 * k;
    scree_Pose pose = frame;
    pose.position = scree_add(pose.position, vec(0.09 + depth, 0.09 + depth, 0.45));
    Borders found = {0};
    scree_collide_each(&stone, &pose, &mesh, &origin, 0.002, keep_borders, &found);
    assert_int_equal(found.count, 2);
    NEAR(found.gap[0], -slope * depth, 1e-3 * fabs(depth) + 1e-12);
    NEAR(found.gap[1], -slope * depth, 1e-3 * fabs(depth) + 1e-12);
  }
  scree_shape_fini(&stone);
  scree_shape_fini(&mesh);
}

/* A stone that leans upon a slope with a corner and hangs through the outlet, turning until its
 * centre is behind the plane of the slope: it keeps the corner, and no edge above the border is
 * taken for one below it. */
static void test_outlet(void **state) {
  (void)state;
  const scree_Vec3 v[14] = {
      {-0.0003453816, -0.02296182, -0.0002034884}, {-0.03469989, 0.008691767, 0.005945637},
      {0.004412803, -0.01085378, 0.01865163},      {0.007563396, -0.004430897, 0.02238444},
      {0.01200959, -0.006890206, -0.02347944},     {0.03025256, -0.001706794, 0.009758635},
      {-0.01464476, 0.02946664, -0.00420211},      {-0.02058621, -0.005858812, 0.01587642},
      {-0.002241704, -0.01780663, 0.011302},       {-0.01810811, -0.01890529, -0.0138689},
      {0.02401608, -0.004036301, 0.01582816},      {0.02922111, 0.005523188, 0.01387091},
      {0.02842377, 0.008483581, -0.0101797},       {0.01021969, -0.009589714, -0.02328785}};
  const scree_Pose origin = {{0, 0, 0}, {1, 0, 0, 0}};
  const scree_Pose start = {{-0.0777666311, 0.0651159817, 0.4329720953},
                            {0.764255246, 0.626312893, -0.152399088, -0.020508457}};
  const scree_Pose end = {{-0.0779599767, 0.0650802729, 0.432574225},
                          {0.76482003, 0.627084672, -0.145831548, -0.023415706}};
  scree_Shape mesh, stone;
  make_funnel(&mesh);
  OK(scree_shape_init_polyhedron(&stone, v, 14, &test_log));
  const scree_Pose frame = scree_shape_frame(&stone);
  for (int k = 0; k <= 60; ++k) {
    const double f = k / 50.0;
    const scree_Quat a = start.orientation, b = end.orientation;
    scree_Pose pose = {
        scree_axpy(start.position, f, scree_sub(end.position, start.position)),
        scree_quat_normalize((scree_Quat){a.w + f * (b.w - a.w), a.x + f * (b.x - a.x),
                                          a.y + f * (b.y - a.y), a.z + f * (b.z - a.z)})};
    pose.position = scree_pose_apply(&pose, frame.position);
    pose.orientation = scree_quat_mul(pose.orientation, frame.orientation);
    Deepest found = no_point;
    scree_collide_each(&stone, &pose, &mesh, &origin, 1e-3, keep_deepest, &found);
    assert_true(found.count >= 1);
    assert_true(fabs(found.gap) < 2e-3 * stone.size);
    assert_true(found.normal.z > 0);
  }
  scree_shape_fini(&stone);
  scree_shape_fini(&mesh);
}

typedef struct Ends {
  int count;
  double gap[2]; /* at x < 0 and x > 0 */
} Ends;

static void keep_ends(void *user, const scree_ManifoldPoint *point) {
  Ends *found = user;
  if (point->feature >> 30 != SCREE_FEATURE_VERTEX_B) return;
  found->count++;
  found->gap[point->position.x > 0] = point->gap;
}

/* A face of a box that lies on an edge of the mesh touches both of its ends, also where it is not
 * quite parallel to the edge: with the lower one alone a box at rest rocked from end to end. */
static void test_ridge(void **state) {
  (void)state;
  const scree_Vec3 v[8] = {{-0.05, 0, 0},      {0.05, 0, 0},      {-0.05, -0.3, -0.2},
                           {0.05, -0.3, -0.2}, {0.05, 0.3, -0.2}, {-0.05, 0.3, -0.2},
                           {-0.35, 0, -0.2},   {0.35, 0, -0.2}};
  const int triangles[24] = {0, 2, 3, 0, 3, 1, 0, 1, 4, 0, 4, 5,
                             0, 5, 6, 0, 6, 2, 1, 3, 7, 1, 7, 4};
  const scree_Pose origin = {{0, 0, 0}, {1, 0, 0, 0}};
  const double tilt[7] = {0, 1e-9, 1e-6, -1e-4, 1e-3, -5e-3, 0.015};
  scree_Shape mesh, box;
  OK(scree_shape_init_mesh(&mesh, v, 8, triangles, 8, &test_log));
  OK(scree_shape_init_box(&box, 0.1, 0.08, 0.02, &test_log));
  for (int k = 0; k < 7; ++k) {
    scree_Pose pose = {{0, 0, 0}, {cos(0.5 * tilt[k]), 0, sin(0.5 * tilt[k]), 0}};
    pose.position = scree_quat_rotate(pose.orientation, vec(0, 0, 0.02));
    Ends found = {0};
    scree_collide_each(&box, &pose, &mesh, &origin, 2e-3, keep_ends, &found);
    assert_int_equal(found.count, 2);
    NEAR(found.gap[0], 0.05 * sin(tilt[k]), 1e-15);
    NEAR(found.gap[1], -0.05 * sin(tilt[k]), 1e-15);
  }
  scree_shape_fini(&box);
  scree_shape_fini(&mesh);
}

/* Boxes that slide along a slope into the next one, and out past the corners of the outlet: every
 * step is certified. */
static void test_slide(void **state) {
  (void)state;
  seed = 5;
  int slid = 0;
  for (int trial = 0; trial < TRIALS; ++trial) {
    scree_WorldSettings settings = scree_world_settings();
    settings.step = 1e-3;
    settings.gravity = vec(0, 0, -9.81);
    scree_World *world = make_world(&settings, 0.3, 0, 0);
    scree_Shape mesh;
    make_funnel(&mesh);
    add_shape(world, &mesh, obstacle_at(0, 0, 0));
    scree_BodyDef def = at(between(0.1, 0.18), between(-0.05, 0.05), between(0.66, 0.7));
    def.pose.orientation = scree_quat_normalize(
        (scree_Quat){between(-1, 1), between(-1, 1), between(-1, 1), between(-1, 1)});
    def.velocity.linear = vec(0.5, between(1, 2), 0);
    def.velocity.angular = vec(between(-9, 9), between(-9, 9), between(-9, 9));
    const int box = add_box(world, between(0.02, 0.04), between(0.02, 0.04), 0.03, def);
    for (int k = 0; k < 400; ++k) OK(scree_world_step(world, NULL));
    slid += scree_body_pose(world, box).position.z < 0.6;
    scree_world_destroy(world);
  }
  assert_true(slid > TRIALS / 2);
}

static scree_World *world_of(double gx, double mu) {
  scree_WorldSettings settings = scree_world_settings();
  settings.step = 2e-3;
  settings.gravity = vec(gx, 0.31 * gx, -9.81);
  settings.solve.tolerance = 1e-9;
  return make_world(&settings, mu, 0, 0);
}

/* A block, a sphere, a cylinder and a polyhedron go over a plane of triangles as over a plane. */
static void test_as_on_a_plane(void **state) {
  (void)state;
  scree_Pose end[2][4];
  for (int k = 0; k < 2; ++k) {
    scree_World *world = world_of(4, 0.25);
    if (k == 0) {
      add_half_space(world, obstacle_at(0, 0, 0));
    } else {
      scree_Shape mesh;
      make_grid(&mesh, 60, 0.137, flat);
      add_shape(world, &mesh, obstacle_at(0.011, 0.023, 0));
    }
    scree_BodyDef def = at(-1, -1, 0.1);
    def.pose.orientation = turned(0.3);
    int body[4];
    body[0] = add_box(world, 0.3, 0.2, 0.1, def);
    def = at(-1, 1, 0.15);
    def.velocity.linear.x = 1;
    body[1] = add_sphere(world, 0.15, def);
    scree_Shape s;
    OK(scree_shape_init_cylinder(&s, 0.1, 0.2, &test_log));
    def = at(1, -1, 0.1);
    def.pose.orientation = (scree_Quat){sqrt(0.5), sqrt(0.5), 0, 0};
    body[2] = add_shape(world, &s, def);
    const scree_Vec3 v[5] = {{0.2, 0, 0}, {-0.1, 0.2, 0}, {-0.1, -0.2, 0}, {0, 0, 0.3}};
    OK(scree_shape_init_polyhedron(&s, v, 4, &test_log));
    const scree_Pose frame = scree_shape_frame(&s);
    def = at(1 + frame.position.x, 1 + frame.position.y, frame.position.z);
    def.pose.orientation = frame.orientation;
    body[3] = add_shape(world, &s, def);
    run_steps(world, 300);
    for (int b = 0; b < 4; ++b) end[k][b] = scree_body_pose(world, body[b]);
    scree_world_destroy(world);
  }
  for (int b = 0; b < 4; ++b) {
    const scree_Vec3 p = end[0][b].position, q = end[1][b].position;
    print_message("body %d: %g %g %g, mesh %g %g %g\n", b, p.x, p.y, p.z, q.x, q.y, q.z);
    NEAR(p.x, q.x, 2e-5);
    NEAR(p.y, q.y, 2e-5);
    NEAR(p.z, q.z, 1e-6);
  }
}

/* A box at the edge of a table of triangles with sides: it rests, and tips over only when its
 * centre is beyond the edge. */
static void test_table(void **state) {
  (void)state;
  const double h = 0.02;
  scree_Vec3 v[8];
  for (int k = 0; k < 8; ++k) v[k] = vec(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 0 : -h);
  const int t[36] = {4, 5, 7, 4, 7, 6, 0, 3, 1, 0, 2, 3, 0, 1, 5, 0, 5, 4,
                     2, 7, 3, 2, 6, 7, 1, 3, 7, 1, 7, 5, 0, 4, 6, 0, 6, 2};
  for (int k = 0; k < 2; ++k) {
    scree_World *world = world_of(0, 0.5);
    scree_Shape mesh;
    OK(scree_shape_init_mesh(&mesh, v, 8, t, 12, &test_log));
    add_shape(world, &mesh, obstacle_at(0, 0, 0));
    const double x = k == 0 ? 0.95 : 1.05;
    const int box = add_box(world, 0.2, 0.2, 0.2, at(x, 0.1, 0.2));
    run_steps(world, 250);
    const scree_Vec3 p = scree_body_pose(world, box).position;
    if (k == 0) {
      NEAR(p.x, x, 1e-6);
      NEAR(p.z, 0.2, 1e-5);
    } else {
      assert_true(p.z < 0.1);
    }
    scree_world_destroy(world);
  }
}

static void test_refusals(void **state) {
  (void)state;
  const scree_Log quiet = {0};
  const scree_Vec3 v[4] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, NAN}};
  const int line[3] = {0, 1, 2}, missing[3] = {0, 1, 7}, bad[3] = {0, 1, 3};
  scree_Shape s;
  assert_int_equal(scree_shape_init_mesh(&s, v, 3, line, 1, &quiet), SCREE_BAD_INPUT);
  assert_int_equal(scree_shape_init_mesh(&s, v, 3, missing, 1, &quiet), SCREE_BAD_INPUT);
  assert_int_equal(scree_shape_init_mesh(&s, v, 4, bad, 1, &quiet), SCREE_BAD_INPUT);
  assert_int_equal(scree_shape_init_mesh(&s, v, 3, NULL, 0, &quiet), SCREE_BAD_INPUT);
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  settings.step = 1e-3;
  OK(scree_world_create(&settings, &quiet, &world));
  OK(scree_shape_init_rectangle(&s, 1, 1, &test_log));
  scree_BodyDef def = at(0, 0, 0);
  def.shape = &s;
  assert_int_equal(scree_world_add_body(world, &def, NULL), SCREE_BAD_INPUT); /* no mass */
  scree_shape_fini(&s);
  scree_world_destroy(world);
}

/* ---- files ---- */

static char last[512];

static void keep_message(void *user, scree_LogLevel level, const char *message) {
  (void)user, (void)level;
  snprintf(last, sizeof last, "%s", message);
}

static const scree_Log keep = {keep_message, NULL};

static scree_Status parse(const char *path, const char *text, scree_MeshFile *mesh) {
  return scree_mesh_file_parse(path, text, strlen(text), mesh, &keep);
}

static void test_obj(void **state) {
  (void)state;
  scree_MeshFile mesh;
  OK(parse("a.OBJ",
           "# a square and a triangle\nvn 0 0 1\nv 0 0 0\n  v 1 0 0 1.0\nv 1 1 0\nv 0 1 0\n"
           "f 1/1/1 2//3 3 4\nv 2 0 0\nf -4 -1 -3\n",
           &mesh));
  assert_int_equal(mesh.vertex_count, 5);
  assert_int_equal(mesh.triangle_count, 3);
  const int expected[9] = {0, 1, 2, 0, 2, 3, 1, 4, 2};
  assert_memory_equal(mesh.triangles, expected, sizeof expected);
  scree_mesh_file_fini(&mesh);
  assert_int_equal(parse("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n", &mesh), SCREE_BAD_INPUT);
  assert_non_null(strstr(last, "a.obj:3"));
  assert_int_equal(parse("a.obj", "v 0 zero 0\n", &mesh), SCREE_BAD_INPUT);
  assert_int_equal(parse("a.obj", "v 0 0 nan\n", &mesh), SCREE_BAD_INPUT);
  assert_int_equal(parse("a.obj", "", &mesh), SCREE_BAD_INPUT);
  assert_int_equal(parse("a.ply", "ply\n", &mesh), SCREE_BAD_INPUT);
  assert_int_equal(scree_mesh_file_read("/nonexistent.stl", &mesh, &keep), SCREE_BAD_INPUT);
}

static void test_stl(void **state) {
  (void)state;
  scree_MeshFile mesh;
  OK(parse("b.stl",
           "solid b\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
           "endloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\n"
           "vertex 0 1 0\nendloop\nendfacet\nendsolid b\n",
           &mesh));
  assert_int_equal(mesh.vertex_count, 4); /* welded */
  const int expected[6] = {0, 1, 2, 1, 3, 2};
  assert_memory_equal(mesh.triangles, expected, sizeof expected);
  /* the same as a binary file */
  unsigned char bytes[84 + 2 * 50] = {0};
  bytes[80] = 2;
  for (int k = 0; k < 6; ++k) {
    const scree_Vec3 v = mesh.vertices[mesh.triangles[k]];
    const float x[3] = {(float)v.x, (float)v.y, (float)v.z};
    memcpy(bytes + 84 + 50 * (k / 3) + 12 + 12 * (k % 3), x, sizeof x);
  }
  scree_MeshFile binary;
  OK(scree_mesh_file_parse("b.stl", (const char *)bytes, sizeof bytes, &binary, &keep));
  assert_int_equal(binary.vertex_count, 4);
  assert_memory_equal(binary.triangles, expected, sizeof expected);
  scree_mesh_file_fini(&binary);
  scree_mesh_file_fini(&mesh);
  assert_int_equal(parse("b.stl", "solid\nvertex 0 0 0\nvertex 1 0 0\n", &mesh), SCREE_BAD_INPUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tree),          cmocka_unit_test(test_distance),
      cmocka_unit_test(test_as_on_a_plane), cmocka_unit_test(test_table),
      cmocka_unit_test(test_refusals),      cmocka_unit_test(test_obj),
      cmocka_unit_test(test_stl),           cmocka_unit_test(test_funnel),
      cmocka_unit_test(test_valley),        cmocka_unit_test(test_slide),
      cmocka_unit_test(test_outlet),        cmocka_unit_test(test_outlet_corner),
      cmocka_unit_test(test_ridge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
