/* Shapes of the second part: mass properties of superellipsoids, rounded bodies and solids against
 * integration and closed forms; walls of revolution against formulas; height fields as planes;
 * the wrench that a reduced manifold carries. */
#include "narrow_reference.h"

#include "geometry/composite.h"
#include "geometry/manifold.h"
#include "geometry/shape_class.h"
#include "scree/world.h"

#include <stdlib.h>

static const double PI = 3.14159265358979323846;

/* ---- mass --------------------------------------------------------------------------------------
 */

/* Moments of a convex shape by integration over directions from the origin, which is inside: along
 * n the surface is at the distance 1 / max over m of (n.m / h(m)); here the shape is given by
 * `inside` instead, and the distance found by bisection. */
typedef bool (*Inside)(const scree_Shape *s, scree_Vec3 x);

static void integrate(const scree_Shape *s, Inside inside, int n, double *volume,
                      scree_Vec3 *inertia) {
  *volume = 0;
  double xx = 0, yy = 0, zz = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 2 * n; j++) {
      const double c = 2 * (i + 0.5) / n - 1, r = sqrt(1 - c * c), t = PI * (j + 0.5) / n;
      const scree_Vec3 u = scree_vec3(r * cos(t), r * sin(t), c);
      double low = 0, high = 2 * s->bounding_radius;
      for (int k = 0; k < 50; k++) {
        const double middle = 0.5 * (low + high);
        if (inside(s, scree_scale(middle, u)))
          low = middle;
        else
          high = middle;
      }
      const double w = (2.0 / n) * (PI / n), l5 = pow(low, 5) / 5 * w;
      *volume += low * low * low / 3 * w;
      xx += l5 * u.x * u.x, yy += l5 * u.y * u.y, zz += l5 * u.z * u.z;
    }
  *inertia = scree_vec3(yy + zz, zz + xx, xx + yy);
}

static bool in_super(const scree_Shape *s, scree_Vec3 x) {
  const double p = s->exponent[0], q = s->exponent[1];
  const double u = pow(fabs(x.x / s->semi.x), p) + pow(fabs(x.y / s->semi.y), p);
  return pow(u, q / p) + pow(fabs(x.z / s->semi.z), q) <= 1;
}

/* By the distance from the core, for which GJK is the second method. */
static bool in_rounded(const scree_Shape *s, scree_Vec3 x) {
  scree_Shape point;
  scree_shape_init_sphere(&point, 1e-9, NULL);
  const scree_Pose at = {x, scree_quat_identity()}, none = {{0, 0, 0}, {1, 0, 0, 0}};
  scree_Manifold m = {0};
  scree_collide_convex(&point, &at, s, &none, INFINITY, &m);
  return m.points[0].gap <= 0;
}

static void same_mass(const scree_Shape *s, double volume, scree_Vec3 inertia, double tolerance) {
  const double scale = s->inertia.x + s->inertia.y + s->inertia.z;
  if (fabs(volume / s->volume - 1) > tolerance ||
      scree_norm(scree_sub(inertia, s->inertia)) > tolerance * scale)
    print_message(
        "%s: volume %.9g, expected %.9g; moments %.9g %.9g %.9g, expected %.9g %.9g %.9g\n",
        scree_shape_type(s->kind)->name, s->volume, volume, s->inertia.x, s->inertia.y,
        s->inertia.z, inertia.x, inertia.y, inertia.z);
  assert_true(fabs(volume / s->volume - 1) <= tolerance);
  assert_true(scree_norm(scree_sub(inertia, s->inertia)) <= tolerance * scale);
}

static void test_mass(void **state) {
  (void)state;
  scree_Shape s, t;
  double volume;
  scree_Vec3 inertia;
  assert_int_equal(scree_shape_init_superellipsoid(&s, 1, 0.5, 0.7, 2, 2, NULL), SCREE_OK);
  assert_int_equal(scree_shape_init_ellipsoid(&t, 1, 0.5, 0.7, NULL), SCREE_OK);
  same_mass(&s, t.volume, t.inertia, 1e-13);
  const double exponents[3][2] = {{4, 4}, {2, 8}, {3, 2.5}};
  for (int k = 0; k < 3; k++) {
    assert_int_equal(
        scree_shape_init_superellipsoid(&s, 1, 0.5, 0.7, exponents[k][0], exponents[k][1], NULL),
        SCREE_OK);
    integrate(&s, in_super, 100, &volume, &inertia);
    same_mass(&s, volume, inertia, 1e-3);
  }
  /* a rounded box: closed form, as a polyhedron, and by integration */
  const double box[4] = {0.6, 0.4, 0.3, 0.2};
  assert_int_equal(scree_shape_init(&s, SCREE_SHAPE_BOX, box, NULL, 0, NULL), SCREE_OK);
  scree_Vec3 v[8];
  for (int k = 0; k < 8; k++)
    v[k] = scree_vec3(k & 1 ? 0.6 : -0.6, k & 2 ? 0.4 : -0.4, k & 4 ? 0.3 : -0.3);
  assert_int_equal(scree_shape_init(&t, SCREE_SHAPE_POLYHEDRON, &box[3], v, 8, NULL), SCREE_OK);
  same_mass(&s, t.volume, t.inertia, 1e-13);
  integrate(&s, in_rounded, 40, &volume, &inertia);
  same_mass(&s, volume, inertia, 3e-3);
  scree_shape_fini(&t);
  /* a rounded tetrahedron: not symmetric, so the centroid moves too */
  const scree_Vec3 w[4] = {{0, 0, 0}, {1, 0, 0}, {0.2, 0.8, 0}, {0.1, 0.1, 1.2}};
  const double radius = 0.15;
  assert_int_equal(scree_shape_init(&t, SCREE_SHAPE_POLYHEDRON, &radius, w, 4, NULL), SCREE_OK);
  integrate(&t, in_rounded, 120, &volume, &inertia);
  same_mass(&t, volume, inertia, 3e-3);
  scree_shape_fini(&t);
  /* a point-like polyhedron with a large rounding is a ball */
  for (int k = 0; k < 8; k++) v[k] = scree_scale(1e-7, v[k]);
  const double one = 1;
  assert_int_equal(scree_shape_init(&t, SCREE_SHAPE_POLYHEDRON, &one, v, 8, NULL), SCREE_OK);
  same_mass(&t, 4 * PI / 3, scree_scale(8 * PI / 15, scree_vec3(1, 1, 1)), 1e-6);
  scree_shape_fini(&t);
}

/* ---- solids ------------------------------------------------------------------------------------
 */

/* Triangles of an extruded polygon: v counter-clockwise in x, y, and its triangulation. */
static int extrude(const double (*outline)[2], int n, const int (*fill)[3], int fills, double h,
                   scree_Vec3 *v, int *t) {
  int count = 0;
  for (int k = 0; k < n; k++) {
    v[k] = scree_vec3(outline[k][0], outline[k][1], 0);
    v[n + k] = scree_vec3(outline[k][0], outline[k][1], h);
  }
  for (int k = 0; k < fills; k++) {
    const int bottom[3] = {fill[k][0], fill[k][2], fill[k][1]};
    const int top[3] = {n + fill[k][0], n + fill[k][1], n + fill[k][2]};
    memcpy(t + 3 * count++, bottom, sizeof bottom);
    memcpy(t + 3 * count++, top, sizeof top);
  }
  for (int k = 0; k < n; k++) {
    const int m = (k + 1) % n;
    const int one[3] = {k, m, n + m}, two[3] = {k, n + m, n + k};
    memcpy(t + 3 * count++, one, sizeof one);
    memcpy(t + 3 * count++, two, sizeof two);
  }
  return count;
}

/* A U: two cuts make three boxes; its moments are those of the three. */
static void test_solid(void **state) {
  (void)state;
  const double u[8][2] = {{0, 0}, {3, 0}, {3, 2}, {2, 2}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
  const int fill[6][3] = {{0, 5, 6}, {0, 6, 7}, {0, 1, 4}, {0, 4, 5}, {1, 2, 3}, {1, 3, 4}};
  scree_Vec3 v[16];
  int t[3 * 32];
  const int count = extrude(u, 8, fill, 6, 1, v, t);
  scree_Shape s, clump;
  assert_int_equal(scree_shape_init_solid(&s, v, 16, t, count, 0.01, 16, NULL), SCREE_OK);
  scree_ClumpPart parts[3];
  const double boxes[3][6] = {{1.5, 0.5, 0.5, 1.5, 0.5, 0.5},
                              {0.5, 1.5, 0.5, 0.5, 0.5, 0.5},
                              {2.5, 1.5, 0.5, 0.5, 0.5, 0.5}};
  for (int k = 0; k < 3; k++) {
    scree_shape_init_box(&parts[k].shape, boxes[k][3], boxes[k][4], boxes[k][5], NULL);
    parts[k].pose = (scree_Pose){{boxes[k][0], boxes[k][1], boxes[k][2]}, {1, 0, 0, 0}};
  }
  assert_int_equal(scree_shape_init_clump(&clump, parts, 3, NULL), SCREE_OK);
  same_mass(&s, clump.volume, clump.inertia, 1e-12);
  assert_true(scree_norm(scree_sub(scree_shape_frame(&s).position,
                                   scree_shape_frame(&clump).position)) < 1e-12);
  double sum = 0;
  for (int k = 0; k < scree_shape_part_count(&s); k++) sum += scree_shape_part(&s, k)->shape.volume;
  print_message("U: %d parts, volume %.12g of %.12g\n", scree_shape_part_count(&s), sum, s.volume);
  assert_int_equal(scree_shape_part_count(&s), 3);
  assert_true(fabs(sum - s.volume) < 1e-9);
  scree_shape_fini(&s);
  scree_shape_fini(&clump);
  /* open, and seen from the wrong side */
  assert_int_equal(scree_shape_init_solid(&s, v, 16, t, count - 1, 0.01, 16, NULL),
                   SCREE_BAD_INPUT);
  for (int k = 0; k < count; k++) {
    const int swap = t[3 * k];
    t[3 * k] = t[3 * k + 1];
    t[3 * k + 1] = swap;
  }
  assert_int_equal(scree_shape_init_solid(&s, v, 16, t, count, 0.01, 16, NULL), SCREE_OK);
  assert_true(fabs(s.volume - 5) < 1e-12);
  scree_shape_fini(&s);
}

/* A torus of 24 x 12 quads: the parts cover it with little excess, the moments are exact. */
static void test_torus(void **state) {
  (void)state;
  enum { N = 24, M = 12 };
  static scree_Vec3 v[N * M];
  static int t[6 * N * M];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      const double a = 2 * PI * i / N, b = 2 * PI * j / M, r = 1 + 0.3 * cos(b);
      v[M * i + j] = scree_vec3(r * cos(a), r * sin(a), 0.3 * sin(b));
      const int p = M * i + j, q = M * ((i + 1) % N) + j, pn = M * i + (j + 1) % M,
                qn = M * ((i + 1) % N) + (j + 1) % M;
      const int two[6] = {p, q, qn, p, qn, pn};
      memcpy(t + 6 * p, two, sizeof two);
    }
  scree_Shape s;
  assert_int_equal(scree_shape_init_solid(&s, v, N * M, t, 2 * N * M, 0.03, 64, NULL), SCREE_OK);
  double sum = 0;
  for (int k = 0; k < scree_shape_part_count(&s); k++) sum += scree_shape_part(&s, k)->shape.volume;
  print_message("torus: %d parts, hulls %.4f of the solid\n", scree_shape_part_count(&s),
                sum / s.volume);
  assert_true(sum / s.volume < 1.1 && sum / s.volume > 1 - 1e-9);
  scree_shape_fini(&s);
}

/* ---- walls of revolution ------------------------------------------------------------------------
 */

static scree_Pose at(double x, double y, double z) {
  return (scree_Pose){{x, y, z}, {1, 0, 0, 0}};
}

static void test_walls(void **state) {
  (void)state;
  const scree_Pose none = at(0, 0, 0);
  scree_Shape ball, pipe, funnel, ring;
  scree_Manifold m;
  scree_shape_init_sphere(&ball, 0.1, NULL);
  assert_int_equal(scree_shape_init(&pipe, SCREE_SHAPE_PIPE, (double[]){1, 2}, NULL, 0, NULL),
                   SCREE_OK);
  assert_int_equal(
      scree_shape_init(&funnel, SCREE_SHAPE_FUNNEL, (double[]){0.5, 1.5, 0.5}, NULL, 0, NULL),
      SCREE_OK);
  assert_int_equal(scree_shape_init(&ring, SCREE_SHAPE_RING, (double[]){1, 0.3}, NULL, 0, NULL),
                   SCREE_OK);
  assert_int_equal(scree_shape_init(&ring, SCREE_SHAPE_RING, (double[]){1, 1}, NULL, 0, NULL),
                   SCREE_BAD_INPUT);
  scree_shape_init(&ring, SCREE_SHAPE_RING, (double[]){1, 0.3}, NULL, 0, NULL);
  scree_Pose p = at(0.85, 0, 0.3);
  assert_int_equal(scree_collide(&ball, &p, &pipe, &none, 0.1, &m), 1);
  assert_true(fabs(m.points[0].gap - 0.05) < 1e-15 && fabs(m.points[0].normal.x + 1) < 1e-15);
  p = at(0.85, 0, 2.05); /* beyond the end: the rim at (1, 0, 2) */
  assert_int_equal(scree_collide(&ball, &p, &pipe, &none, 0.1, &m), 1);
  assert_true(fabs(m.points[0].gap - (hypot(0.15, 0.05) - 0.1)) < 1e-12);
  p = at(1.2, 0, 0); /* outside of a pipe there is nothing */
  assert_int_equal(scree_collide(&ball, &p, &pipe, &none, 0.01, &m), 0);
  p = at(0.9, 0, 0); /* slope of 45 degrees: the wall is x = 1 + z */
  assert_int_equal(scree_collide(&ball, &p, &funnel, &none, 0.1, &m), 1);
  assert_true(fabs(m.points[0].gap - (0.1 * sqrt(0.5) - 0.1)) < 1e-14);
  p = at(0.5, 0.2, 0.12);
  assert_int_equal(scree_collide(&ball, &p, &ring, &none, 0.1, &m), 1);
  assert_true(fabs(m.points[0].gap - 0.02) < 1e-15 && m.points[0].normal.z == 1);
  p = at(0.25, 0, 0.08); /* over the hole: its rim */
  assert_int_equal(scree_collide(&ball, &p, &ring, &none, 0.1, &m), 1);
  assert_true(fabs(m.points[0].gap - (hypot(0.05, 0.08) - 0.1)) < 1e-12);
  /* a box standing on the ring over part of the hole: three corners on it, and the rim twice under
   * its edges */
  scree_Shape box;
  scree_shape_init_box(&box, 0.3, 0.3, 0.1, NULL);
  p = at(0.35, 0.35, 0.1);
  const int n = scree_collide(&box, &p, &ring, &none, 1e-3, &m);
  int corners = 0, rims = 0;
  for (int k = 0; k < n; k++) {
    assert_true(fabs(m.points[k].gap) < 1e-9);
    assert_true(m.points[k].normal.z > 0.999999);
    if (hypot(m.points[k].position.x, m.points[k].position.y) > 0.31)
      ++corners;
    else
      ++rims;
  }
  print_message("box over a hole: %d corners, %d points of the rim\n", corners, rims);
  assert_int_equal(corners, 3);
  assert_true(rims >= 1);
  /* a capsule, an ellipsoid and a superellipsoid lying in a pipe, against a drum */
  scree_Shape drum, bodies[3];
  scree_Manifold other;
  scree_shape_init_drum(&drum, 1, INFINITY, NULL);
  scree_shape_init_capsule(&bodies[0], 0.4, 0.1, NULL);
  scree_shape_init_ellipsoid(&bodies[1], 0.5, 0.2, 0.3, NULL);
  scree_shape_init_superellipsoid(&bodies[2], 0.5, 0.2, 0.3, 3, 4, NULL);
  random_state = 5;
  for (int k = 0; k < 300; k++) {
    const scree_Shape *b = &bodies[k % 3];
    p.position = scree_vec3(between(-0.8, 0.8), between(-0.8, 0.8), between(-1, 1));
    p.orientation = random_quat(3);
    scree_collide(b, &p, &pipe, &none, 0.2, &m);
    scree_collide(b, &p, &drum, &none, 0.2, &other);
    if (m.count == 0 && other.count == 0) continue;
    if (hypot(p.position.x, p.position.y) >= 1) continue;
    if (fabs(least_gap(&m) - least_gap(&other)) > 1e-9)
      print_message("%s in a pipe: %g, in a drum %g\n", scree_shape_type(b->kind)->name,
                    least_gap(&m), least_gap(&other));
    assert_true(fabs(least_gap(&m) - least_gap(&other)) < 1e-9);
  }
}

/* ---- reduced manifolds --------------------------------------------------------------------------
 */

/* What contacts can carry is the cone of their unit wrenches along the normal; two sets of points
 * of a plane carry the same if their hulls are the same, that is if in every direction of the plane
 * the furthest points are equally far. A clipped face is compared with its clip on a fine polygon.
 */
static void test_wrench(void **state) {
  (void)state;
  random_state = 9;
  for (int trial = 0; trial < 200; trial++) {
    scree_Shape a, b;
    random_shape(&a, trial % 2 ? SCREE_SHAPE_BOX : SCREE_SHAPE_CYLINDER, 1, 2);
    random_shape(&b, trial % 3 ? SCREE_SHAPE_BOX : SCREE_SHAPE_CYLINDER, 1, 2);
    const double za = trial % 2 ? a.semi.z : a.half_length,
                 zb = trial % 3 ? b.semi.z : b.half_length;
    scree_Pose pb = at(0, 0, 0), pa = at(between(-0.3, 0.3), between(-0.3, 0.3), za + zb);
    pa.orientation = scree_quat_axis_angle(scree_vec3(0, 0, 1), between(0, 6));
    scree_Manifold m;
    scree_collide(&a, &pa, &b, &pb, 0.01, &m);
    assert_true(m.count >= 3);
    scree_Feature fa, fb;
    const scree_Mat3 Ra = scree_quat_matrix(pa.orientation);
    scree_shape_feature(&a, scree_vec3(0, 0, -1), &fa);
    scree_shape_feature(&b, scree_vec3(0, 0, 1), &fb);
    scree_feature_place(&fa, &Ra, pa.position);
    for (int k = 0; k < 64; k++) {
      const double t = 2 * PI * k / 64, c = cos(t), s = sin(t);
      double reduced = -INFINITY, whole = -INFINITY;
      for (int j = 0; j < m.count; j++)
        reduced = fmax(reduced, c * m.points[j].position.x + s * m.points[j].position.y);
      /* support of the intersection of two convex polygons: the smallest sum of supports over
       * splittings of the direction is at least it; its corners are those of one inside the other
       * and crossings of sides */
      for (int pass = 0; pass < 2; pass++) {
        const scree_Feature *f = pass ? &fb : &fa, *g = pass ? &fa : &fb;
        for (int i = 0; i < f->count; i++) {
          const scree_Vec3 p = f->point[i], q = f->point[(i + 1) % f->count];
          double low = 0, high = 1; /* part of the side inside the other polygon */
          for (int j = 0; j < g->count; j++) {
            const scree_Vec3 x = g->point[j], y = g->point[(j + 1) % g->count];
            const double turn =
                pass ? -1 : 1; /* the lower face of a is clockwise seen from above */
            const double dp = turn * ((y.x - x.x) * (p.y - x.y) - (y.y - x.y) * (p.x - x.x));
            const double dq = turn * ((y.x - x.x) * (q.y - x.y) - (y.y - x.y) * (q.x - x.x));
            if (dp < 0 && dq < 0) high = -1;
            if (dp < 0 && dq >= 0) low = fmax(low, dp / (dp - dq));
            if (dp >= 0 && dq < 0) high = fmin(high, dp / (dp - dq));
          }
          if (low > high) continue;
          for (int end = 0; end < 2; end++) {
            const double u = end ? high : low;
            whole = fmax(whole, c * (p.x + u * (q.x - p.x)) + s * (p.y + u * (q.y - p.y)));
          }
        }
      }
      if (fabs(reduced - whole) > 3e-5) print_message("trial %d: %g %g\n", trial, reduced, whole);
      assert_true(fabs(reduced - whole) <= 3e-5); /* STRAIGHT of the extent */
    }
    scree_shape_fini(&a);
    scree_shape_fini(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mass), cmocka_unit_test(test_solid),
                                     cmocka_unit_test(test_torus), cmocka_unit_test(test_walls),
                                     cmocka_unit_test(test_wrench)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
