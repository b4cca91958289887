/* Narrow phase: every pair of shapes against a second method, on seeded random configurations.
 *
 * The second method knows only support functions: the signed distance of two convex bodies is the
 * largest separation over all directions, searched for on a dense set of directions and refined by
 * shrinking random steps. Besides that: the surface points of every contact lie on the surfaces,
 * common normals are common, exchange of the bodies flips the normals exactly, powers of two scale
 * exactly, rigid motions change nothing but rounding, nothing is ever NaN. */
#include "narrow_reference.h"

/* ---- pairs of convex bodies -------------------------------------------------------------------
 */

enum { MOST_KINDS = 7 };

static const scree_ShapeKind convex[2][MOST_KINDS] = {
    {SCREE_SHAPE_DISK, SCREE_SHAPE_ELLIPSE, SCREE_SHAPE_POLYGON, SCREE_SHAPE_SEGMENT},
    {SCREE_SHAPE_SPHERE, SCREE_SHAPE_ELLIPSOID, SCREE_SHAPE_BOX, SCREE_SHAPE_CAPSULE,
     SCREE_SHAPE_CYLINDER, SCREE_SHAPE_CONE, SCREE_SHAPE_POLYHEDRON}};

static int kinds(int dimension) {
  return dimension == 2 ? 4 : MOST_KINDS;
}

/* Pairs with these go through the generic routine. */
static bool is_generic(int i) {
  return i >= 4;
}

typedef struct Couple {
  scree_Shape a, b;
  scree_Pose pa, pb;
  int dimension;
} Couple;

/* Two bodies whose separation along a random direction is `gap`. */
static void random_couple(Couple *c, int dimension, int i, int j, double gap, double aspect) {
  c->dimension = dimension;
  random_shape(&c->a, convex[dimension - 2][i], 1, aspect);
  random_shape(&c->b, convex[dimension - 2][j], 1, aspect);
  c->pb.position = scree_scale(3, random_direction(dimension));
  c->pa.orientation = random_quat(dimension);
  c->pb.orientation = random_quat(dimension);
  scree_Vec3 u = random_direction(dimension);
  c->pa.position = c->pb.position;
  double s = separation(&c->a, &c->pa, &c->b, &c->pb, u);
  c->pa.position = scree_axpy(c->pb.position, gap - s, u);
}

static void free_couple(Couple *c) {
  scree_shape_fini(&c->a);
  scree_shape_fini(&c->b);
}

static bool is_flat(scree_ShapeKind k) {
  return k == SCREE_SHAPE_POLYGON || k == SCREE_SHAPE_BOX || k == SCREE_SHAPE_SEGMENT ||
         k == SCREE_SHAPE_CAPSULE || k == SCREE_SHAPE_CYLINDER || k == SCREE_SHAPE_CONE ||
         k == SCREE_SHAPE_POLYHEDRON;
}

/* The least gap is the signed distance; the contact points are on both surfaces. */
static void test_distance(void **state) {
  (void)state;
  random_state = 1;
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int i = 0; i < kinds(dimension); i++)
      for (int j = 0; j < kinds(dimension); j++) {
        double worst = 0;
        for (int trial = 0; trial < 40; trial++) {
          Couple c;
          scree_Manifold m;
          double target = trial % 4 == 3 ? between(0, 0.05) : between(-0.04, 0.04);
          random_couple(&c, dimension, i, j, target, 4);
          double margin = 0.1, gap = reference_gap(&c.a, &c.pa, &c.b, &c.pb, dimension);
          scree_collide(&c.a, &c.pa, &c.b, &c.pb, margin, &m);
          check_sane(&m, margin, dimension);
          if (gap < 0.09) assert_true(m.count > 0); /* the search stays below by a little */
          if (gap > margin) assert_int_equal(m.count, 0);
          if (m.count > 0) {
            bool flat = is_flat(c.a.kind) && is_flat(c.b.kind);
            double least = least_gap(&m), own = -INFINITY;
            for (int k = 0; k < m.count; k++)
              if (m.points[k].gap == least)
                own = separation(&c.a, &c.pa, &c.b, &c.pb, m.points[k].normal);
            /* The separation along its own normal bounds the true one from below, and so does every
             * direction of the search; the distance of surface points bounds it from above. */
            bool clipped = flat && (m.count > 1 || gap < 0);
            if (clipped) { /* the search is slow at kinks: GJK is exact here */
              scree_Manifold generic = {0};
              scree_collide_convex(&c.a, &c.pa, &c.b, &c.pb, 1, &generic);
              if (gap > 0) assert_true(least_gap(&generic) >= gap - 1e-9);
              gap = fmax(gap, least_gap(&generic));
            }
            double error = fmax(clipped ? least - gap : fabs(least - own), gap - least);
            /* Overlapping faces that overhang each other: only where both are counts as depth. */
            if (clipped && gap < 0) error = fmax(least, gap - least);
            /* Clipped faces: a thousandth of the margin at most. */
            double tolerance = clipped ? 1.01e-4 : is_generic(i) || is_generic(j) ? 2e-7 : 2e-13;
            if (error > tolerance)
              print_message("%s %s trial %d: gap %.15g, reference %.15g\n",
                            scree_shape_type(c.a.kind)->name, scree_shape_type(c.b.kind)->name,
                            trial, least_gap(&m), gap);
            assert_true(error <= tolerance);
            worst = fmax(worst, error);
            check_surfaces(&c.a, &c.pa, &c.b, &c.pb, &m,
                           is_generic(i) || is_generic(j) ? 1e-7 : 1e-12);
          }
          free_couple(&c);
        }
        print_message("%-9s %-9s worst difference %.1e\n",
                      scree_shape_type(convex[dimension - 2][i])->name,
                      scree_shape_type(convex[dimension - 2][j])->name, worst);
      }
}

/* Smooth pairs, also very flat and elongated ones: the line between the two points is the common
 * normal, to rounding, whether apart or overlapping. */
static void test_common_normal(void **state) {
  (void)state;
  random_state = 2;
  double worst = 0;
  for (int trial = 0; trial < 4000; trial++) {
    Couple c;
    scree_Manifold m;
    int dimension = 2 + trial % 2;
    random_couple(&c, dimension, trial / 2 % 2, 1, between(-0.002, 0.02),
                  trial % 3 == 0   ? 1.01
                  : trial % 3 == 1 ? 4
                                   : 50);
    scree_collide(&c.a, &c.pa, &c.b, &c.pb, 1, &m);
    check_sane(&m, 1, dimension);
    if (m.count > 0) {
      assert_int_equal(m.count, 1);
      scree_Vec3 n = m.points[0].normal, local;
      scree_Mat3 Ra = scree_quat_matrix(c.pa.orientation), Rb = scree_quat_matrix(c.pb.orientation);
      local = scree_shape_support(&c.a, scree_mat3_tmul(&Ra, scree_neg(n)));
      scree_Vec3 qa = scree_add(c.pa.position, scree_mat3_mul(&Ra, local));
      local = scree_shape_support(&c.b, scree_mat3_tmul(&Rb, n));
      scree_Vec3 qb = scree_add(c.pb.position, scree_mat3_mul(&Rb, local));
      scree_Vec3 residual = scree_axpy(scree_sub(qa, qb), -m.points[0].gap, n);
      worst = fmax(worst, scree_norm(residual));
    }
    free_couple(&c);
  }
  print_message("common normal: worst residual %.1e of the size\n", worst);
  assert_true(worst < 1e-12);
}

/* The generic routine (GJK, EPA of libccd) against the pair functions. */
static void test_generic(void **state) {
  (void)state;
  random_state = 3;
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++)
        for (int trial = 0; trial < 20; trial++) {
          Couple c;
          scree_Manifold m, generic = {0};
          random_couple(&c, dimension, i, j, trial % 2 ? -0.02 : 0.02, 3);
          scree_collide(&c.a, &c.pa, &c.b, &c.pb, 1, &m);
          scree_collide_convex(&c.a, &c.pa, &c.b, &c.pb, 1, &generic);
          check_sane(&generic, 1, dimension);
          assert_int_equal(m.count > 0, generic.count > 0);
          bool flat = is_flat(c.a.kind) && is_flat(c.b.kind);
          if (m.count > 0 && !(flat && m.count > 1)) {
            if (!(fabs(least_gap(&m) - least_gap(&generic)) < 1e-4))
              print_message("%s %s: %g, generic %g\n", scree_shape_type(c.a.kind)->name,
                            scree_shape_type(c.b.kind)->name, least_gap(&m), least_gap(&generic));
            assert_true(fabs(least_gap(&m) - least_gap(&generic)) < 1e-4);
          }
          free_couple(&c);
        }
}

/* ---- invariances ------------------------------------------------------------------------------
 */

static void scale_shape(const scree_Shape *s, double f, scree_Shape *out) {
  scree_Status status;
  if (s->kind == SCREE_SHAPE_POLYGON) {
    scree_Vec3 v[16];
    for (int k = 0; k < s->vertex_count; k++)
      v[k] = scree_scale(f, scree_add(s->vertices[k], scree_shape_frame(s).position));
    status = scree_shape_init_polygon(out, v, s->vertex_count, NULL);
  } else {
    const scree_ShapeType *type = scree_shape_type(s->kind);
    double parameters[4];
    for (int k = 0; k < type->parameter_count; k++)
      parameters[k] =
          f * *(const double *)(const void *)((const char *)s + type->parameters[k].offset);
    status = scree_shape_init(out, s->kind, parameters, NULL, 0, NULL);
  }
  assert_int_equal(status, SCREE_OK);
}

static void unbounded_couple(Couple *c, int dimension, int i, int which, double gap) {
  c->dimension = dimension;
  random_shape(&c->a, convex[dimension - 2][i], 1, 4);
  c->pa.orientation = random_quat(dimension);
  c->pb.orientation = random_quat(dimension);
  c->pb.position = random_direction(dimension);
  scree_Mat3 R = scree_quat_matrix(c->pb.orientation);
  scree_Status status;
  if (which == 0) {
    status = dimension == 2 ? scree_shape_init_half_plane(&c->b, NULL)
                            : scree_shape_init_half_space(&c->b, NULL);
    scree_Vec3 n = dimension == 2 ? R.y : R.z;
    c->pa.position = scree_vec3(0, 0, 0);
    double low = -support_value(&c->a, &c->pa, scree_neg(n));
    c->pa.position = scree_axpy(c->pb.position, gap - low, n);
    c->pa.position = scree_axpy(c->pa.position, 2, dimension == 2 ? R.x : R.y);
  } else {
    double radius = between(2, 4);
    double length = which == 1 ? INFINITY : 2;
    status = dimension == 2 ? scree_shape_init_drum_2d(&c->b, radius, NULL)
                            : scree_shape_init_drum(&c->b, radius, length, NULL);
    double angle = between(-3, 3);
    scree_Vec3 u = scree_add(scree_scale(cos(angle), R.x), scree_scale(sin(angle), R.y));
    c->pa.position = scree_vec3(0, 0, 0);
    double reach = support_value(&c->a, &c->pa, u);
    c->pa.position = scree_axpy(c->pb.position, radius - reach - gap, u);
    if (dimension == 3) c->pa.position = scree_axpy(c->pa.position, between(-1.5, 1.5), R.z);
  }
  assert_int_equal(status, SCREE_OK);
}

static void check_exchange(const Couple *c, double margin) {
  scree_Manifold m, x;
  scree_collide(&c->a, &c->pa, &c->b, &c->pb, margin, &m);
  scree_collide(&c->b, &c->pb, &c->a, &c->pa, margin, &x);
  assert_int_equal(m.count, x.count);
  for (int k = 0; k < m.count; k++) {
    const scree_ManifoldPoint *p = &m.points[k], *q = &x.points[k];
    assert_true(p->gap == q->gap);
    assert_true(p->normal.x == -q->normal.x && p->normal.y == -q->normal.y &&
                p->normal.z == -q->normal.z);
    assert_true(p->position.x == q->position.x && p->position.y == q->position.y &&
                p->position.z == q->position.z);
  }
}

static void check_scaling(const Couple *c, double margin, int exponent) {
  Couple s = *c;
  double f = ldexp(1, exponent);
  scale_shape(&c->a, f, &s.a);
  scale_shape(&c->b, f, &s.b);
  s.pa.position = scree_scale(f, c->pa.position);
  s.pb.position = scree_scale(f, c->pb.position);
  scree_Manifold m, x;
  /* the shapes are made twice, so that polygons go through the same rounding */
  Couple one = *c;
  scale_shape(&c->a, 1, &one.a);
  scale_shape(&c->b, 1, &one.b);
  scree_collide(&one.a, &one.pa, &one.b, &one.pb, margin, &m);
  scree_collide(&s.a, &s.pa, &s.b, &s.pb, f * margin, &x);
  assert_int_equal(m.count, x.count);
  for (int k = 0; k < m.count; k++) {
    const scree_ManifoldPoint *p = &m.points[k], *q = &x.points[k];
    assert_true(f * p->gap == q->gap);
    assert_true(f * p->position.x == q->position.x && f * p->position.y == q->position.y &&
                f * p->position.z == q->position.z);
    assert_memory_equal(&p->normal, &q->normal, sizeof p->normal);
    assert_int_equal(p->feature, q->feature);
  }
  free_couple(&s);
  free_couple(&one);
}

static void check_motion(const Couple *c, double margin) {
  Couple s = *c;
  int d = c->dimension;
  scree_Quat turn = random_quat(d);
  scree_Vec3 shift = random_direction(d);
  s.pa.orientation = scree_quat_normalize(scree_quat_mul(turn, c->pa.orientation));
  s.pb.orientation = scree_quat_normalize(scree_quat_mul(turn, c->pb.orientation));
  s.pa.position = scree_add(shift, scree_quat_rotate(turn, c->pa.position));
  s.pb.position = scree_add(shift, scree_quat_rotate(turn, c->pb.position));
  scree_Manifold m, x;
  scree_collide(&c->a, &c->pa, &c->b, &c->pb, margin, &m);
  scree_collide(&s.a, &s.pa, &s.b, &s.pb, margin, &x);
  assert_int_equal(m.count, x.count);
  for (int k = 0; k < m.count; k++) {
    int match = -1; /* the order may differ, the features may not */
    for (int j = 0; j < x.count; j++)
      if (x.points[j].feature == m.points[k].feature) match = j;
    if (c->b.kind == SCREE_SHAPE_DRUM && c->a.kind == SCREE_SHAPE_ELLIPSOID && match < 0) continue;
    if (match < 0) {
      print_message("%s %s: feature lost\n", scree_shape_type(c->a.kind)->name,
                    scree_shape_type(c->b.kind)->name);
    }
    assert_true(match >= 0);
    if (c->b.kind == SCREE_SHAPE_DRUM && c->a.kind == SCREE_SHAPE_ELLIPSOID) continue;
    assert_true(fabs(m.points[k].gap - x.points[match].gap) < 1e-12);
    scree_Vec3 n = scree_quat_rotate(turn, m.points[k].normal);
    assert_true(scree_norm(scree_sub(n, x.points[match].normal)) < 1e-7);
  }
  if (m.count > 0) assert_true(fabs(least_gap(&m) - least_gap(&x)) < 1e-12);
}

static void test_invariance(void **state) {
  (void)state;
  random_state = 4;
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int i = 0; i < kinds(dimension); i++)
      for (int j = 0; j < kinds(dimension) + 3; j++)
        for (int trial = 0; trial < 60; trial++) {
          Couple c;
          double gap = between(-0.05, 0.05);
          if (j < kinds(dimension))
            random_couple(&c, dimension, i, j, gap, 4);
          else
            unbounded_couple(&c, dimension, i, j - kinds(dimension), gap);
          check_exchange(&c, 0.1);
          if (is_generic(i) || (j < kinds(dimension) && is_generic(j))) { /* not to the bit */
            free_couple(&c);
            continue;
          }
          check_scaling(&c, 0.1, trial % 2 ? 20 : -13);
          check_motion(&c, 0.1);
          free_couple(&c);
        }
}

/* ---- obstacles --------------------------------------------------------------------------------
 */

/* No point of the body is deeper in the wall than the least gap says, the contact points are on the
 * surfaces: together these determine the gap exactly. */
static void test_unbounded(void **state) {
  (void)state;
  random_state = 5;
  int several = 0;
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int i = 0; i < kinds(dimension); i++)
      for (int which = 0; which < 3; which++)
        for (int trial = 0; trial < 60; trial++) {
          Couple c;
          scree_Manifold m;
          unbounded_couple(&c, dimension, i, which, between(-0.05, 0.05));
          scree_collide(&c.a, &c.pa, &c.b, &c.pb, 0.3, &m);
          check_sane(&m, 0.3, dimension);
          check_surfaces(&c.a, &c.pa, &c.b, &c.pb, &m, 1e-12);
          assert_true(m.count > 0);
          several += m.count > 1 && i == 1;
          double least = INFINITY;
          for (int k = 0; k < 400; k++) {
            scree_Vec3 u = random_direction(dimension);
            scree_Vec3 q = scree_pose_apply(&c.pa, scree_shape_support(&c.a, u));
            q = scree_pose_invert(&c.pb, q);
            double radial = sqrt(q.x * q.x + q.y * q.y), gap = dimension == 2 ? q.y : q.z;
            if (which > 0) gap = c.b.radius - radial;
            if (which > 0 && dimension == 3) gap = fmin(gap, c.b.half_length - fabs(q.z));
            least = fmin(least, gap);
          }
          assert_true(least >= least_gap(&m) - 1e-12);
          free_couple(&c);
        }
  assert_true(several > 0); /* ellipses in a drum do touch on both sides */
}

/* An ellipse that just fits across the drum touches at both tips; one on the far side at one. */
static void test_ellipse_in_drum(void **state) {
  (void)state;
  scree_Shape e, drum;
  scree_Manifold m;
  scree_shape_init_ellipse(&e, 1, 0.25, NULL);
  scree_shape_init_drum_2d(&drum, 1.01, NULL);
  scree_Pose p = {{0, 0, 0}, {1, 0, 0, 0}}, q = p;
  assert_int_equal(scree_collide(&e, &p, &drum, &q, 0.05, &m), 2);
  assert_true(fabs(m.points[0].gap - 0.01) < 1e-15 && fabs(m.points[1].gap - 0.01) < 1e-15);
  p.position.x = 0.004; /* along the major axis: still both, exactly known */
  assert_int_equal(scree_collide(&e, &p, &drum, &q, 0.05, &m), 2);
  assert_true(fabs(least_gap(&m) - 0.006) < 1e-15);
  scree_shape_init_drum_2d(&drum, 10, NULL);
  p.position = scree_vec3(0, -9.76, 0); /* flat side down: curvature a^2/b = 4 < 10 */
  assert_int_equal(scree_collide(&e, &p, &drum, &q, 0.05, &m), 1);
  assert_true(fabs(m.points[0].gap + 0.01) < 1e-14 && m.points[0].normal.y == 1);
}

/* ---- manifolds and features -------------------------------------------------------------------
 */

static bool has_feature(const scree_Manifold *m, uint32_t feature) {
  for (int k = 0; k < m->count; k++)
    if (m->points[k].feature == feature) return true;
  return false;
}

static void test_manifolds(void **state) {
  (void)state;
  scree_Shape box, other, ground, rod, square, bar;
  scree_Manifold m, m2;
  scree_shape_init_box(&box, 1, 1, 1, NULL);
  scree_shape_init_box(&other, 2, 2, 0.5, NULL);
  scree_shape_init_half_space(&ground, NULL);
  scree_shape_init_capsule(&rod, 1, 0.25, NULL);
  scree_Pose up = {{0, 0, 1.5}, {1, 0, 0, 0}}, origin = {{0, 0, 0}, {1, 0, 0, 0}};
  assert_int_equal(scree_collide(&box, &up, &other, &origin, 0.01, &m), 4);
  for (int k = 0; k < 4; k++) {
    assert_true(m.points[k].gap == 0 && m.points[k].normal.z == 1);
    assert_true(fabs(m.points[k].position.x) == 1 && m.points[k].position.z == 0.5);
  }
  /* The same corners keep their ids when the box leans, slides and the reference may change. */
  for (int k = 0; k < 20; k++) {
    scree_Pose lean = up;
    lean.position.x = 0.01 * k;
    lean.orientation = scree_quat_axis_angle(scree_vec3(0.6, 0.8, 0), 1e-4 * (k - 10));
    assert_int_equal(scree_collide(&box, &lean, &other, &origin, 0.01, &m2), 4);
    for (int j = 0; j < 4; j++) assert_true(has_feature(&m, m2.points[j].feature));
  }
  /* Two unit boxes turned by 45 degrees: an octagon. */
  up.position.z = 2;
  up.orientation = scree_quat_axis_angle(scree_vec3(0, 0, 1), 0.7853981633974483);
  assert_int_equal(scree_collide(&box, &up, &box, &origin, 0.01, &m), 8);
  up.orientation = scree_quat_axis_angle(scree_vec3(0.6, 0.8, 0), 1e-5);
  up.position = scree_vec3(0.5, 0.3, 2); /* overhanging and leaning by a hair: still a full face */
  assert_int_equal(scree_collide(&box, &up, &box, &origin, 0.01, &m), 4);
  up.position = scree_vec3(0, 0, 1);
  assert_int_equal(scree_collide(&box, &up, &ground, &origin, 0.01, &m), 4);
  /* Rods: lying on the ground, on a box (one end over its edge), side by side, crossed. */
  scree_Pose lying = {{0, 0, 0.25}, {0, 0, 0, 0}};
  lying.orientation = scree_quat_axis_angle(scree_vec3(0, 1, 0), 1.5707963267948966);
  assert_int_equal(scree_collide(&rod, &lying, &ground, &origin, 0.01, &m), 2);
  lying.position = scree_vec3(0.7, 0, 1.25);
  assert_int_equal(scree_collide(&box, &origin, &rod, &lying, 0.01, &m), 2);
  assert_true(fabs(m.points[0].gap) < 1e-15 && fabs(m.points[1].gap) < 1e-15);
  scree_Pose beside = lying;
  beside.position.y = 0.5;
  beside.position.x += 0.5;
  assert_int_equal(scree_collide(&rod, &lying, &rod, &beside, 0.01, &m), 2);
  scree_Pose crossed = {{0.7, 0, 1.75}, {0, 0, 0, 0}};
  crossed.orientation = scree_quat_axis_angle(scree_vec3(1, 0, 0), 1.5707963267948966);
  assert_int_equal(scree_collide(&rod, &lying, &rod, &crossed, 0.01, &m), 1);
  /* 2D */
  scree_Vec3 corners[4] = {{1, 1, 0}, {0, 0, 0}, {0, 1, 0}, {1, 0, 0}}; /* any order */
  assert_int_equal(scree_shape_init_polygon(&square, corners, 4, NULL), SCREE_OK);
  scree_shape_init_segment(&bar, 4, 0, NULL);
  scree_Pose stacked = {{0.3, 1, 0}, {1, 0, 0, 0}};
  assert_int_equal(scree_collide(&square, &stacked, &square, &origin, 0.01, &m), 2);
  assert_true(m.points[0].normal.y == 1 && fabs(m.points[0].gap) < 1e-15);
  stacked.position.y = 0.5;
  assert_int_equal(scree_collide(&square, &stacked, &bar, &origin, 0.01, &m), 2);
  assert_true(m.points[0].normal.y == 1);
  scree_shape_fini(&square);
}

/* Coincident centres, equal poses, deep overlap, exact touch: always finite, always a unit normal,
 * and a contact, since the bodies overlap. */
static void test_degenerate(void **state) {
  (void)state;
  random_state = 6;
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++)
        for (int trial = 0; trial < 60; trial++) {
          Couple c;
          scree_Manifold m;
          random_couple(&c, dimension, i, j, 0, trial % 2 ? 4 : 1.0001);
          double depth = trial % 6 == 0 ? 0 : trial % 6 == 1 ? 1e-300 : trial % 6 == 2 ? 0.3 : 1e-9;
          c.pb.position = scree_vec3(0, 0, 0);
          c.pa.position = scree_scale(depth, random_direction(dimension));
          if (trial % 3 == 0) c.pa.orientation = c.pb.orientation;
          if (trial % 5 == 0) c.pa.orientation = c.pb.orientation = scree_quat_identity();
          scree_collide(&c.a, &c.pa, &c.b, &c.pb, 0.01, &m);
          if (depth < 0.1 && m.count == 0)
            print_message("%s %s trial %d\n", scree_shape_type(c.a.kind)->name,
                          scree_shape_type(c.b.kind)->name, trial);
          if (depth < 0.1) assert_true(m.count > 0);
          check_sane(&m, 0.01, dimension);
          free_couple(&c);
        }
}

/* The frame of a contact is orthonormal and right-handed. */
static void test_frame(void **state) {
  (void)state;
  random_state = 7;
  for (int trial = 0; trial < 1000; trial++) {
    int dimension = 2 + trial % 2;
    scree_Vec3 n = random_direction(dimension), t1, t2;
    if (trial == 1) n = scree_vec3(0, 0, -1);
    scree_contact_frame(n, dimension, &t1, &t2);
    assert_true(fabs(scree_norm(t1) - 1) < 1e-14 && fabs(scree_norm(t2) - 1) < 1e-14);
    assert_true(scree_norm(scree_sub(scree_cross(n, t1), t2)) < 1e-14);
    if (dimension == 2) assert_true(t1.x == -n.y && t1.y == n.x && t1.z == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distance),  cmocka_unit_test(test_common_normal),
      cmocka_unit_test(test_generic),   cmocka_unit_test(test_invariance),
      cmocka_unit_test(test_unbounded), cmocka_unit_test(test_ellipse_in_drum),
      cmocka_unit_test(test_manifolds), cmocka_unit_test(test_degenerate),
      cmocka_unit_test(test_frame),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
