/* What every kind of body must fulfil (body/class.h). Rigid: the block of a point is the derivative
 * of its velocity in the scaled components, the kinetic energy is half their square, and free
 * motion keeps it. Deformable kinds: N of a point is the derivative of its place, forces and
 * stiffness are derivatives of the strain energy, the kick and its work fit together. */
#include "body/bodies.h"
#include "test_world_scene.h"

enum { COMPONENTS = 6, MANY = 400 };

static double some(int k) {
  return sin(12.9898 * k + 0.3);
}

static scree_Inertia inertia_of(double mass, scree_Vec3 J) {
  return (scree_Inertia){.mass = mass,
                         .inv_sqrt_mass = 1 / sqrt(mass),
                         .moments = J,
                         .inv_sqrt_moments = {1 / sqrt(J.x), 1 / sqrt(J.y), 1 / sqrt(J.z)}};
}

static void check_rigid(int d) {
  const scree_Inertia inertia = inertia_of(2.5, d == 2 ? vec(0.7, 0.7, 0.7) : vec(0.3, 0.7, 0.9));
  const int n = d == 2 ? 3 : 6;
  scree_Motion motion = {
      .pose = {.position = {0.3, -0.2, d == 2 ? 0 : 0.5},
               .orientation = d == 2 ? turned(0.7) : (scree_Quat){0.5, 0.5, -0.5, 0.5}}};
  double y[COMPONENTS], B[3 * COMPONENTS], square = 0;
  for (int k = 0; k < n; ++k) {
    y[k] = some(k);
    square += y[k] * y[k];
  }
  motion.velocity = scree_rigid_unscale(&inertia, motion.pose.orientation, d, y);
  double rotation;
  const double energy = scree_rigid_kinetic(&inertia, &motion, &rotation);
  NEAR(energy, 0.5 * square, 1e-14 * square);
  assert_true(rotation >= 0 && rotation <= energy);
  const scree_Vec3 point = vec(1.1, 0.4, d == 2 ? 0 : -0.6);
  const scree_Vec3 axes[3] = {{0.6, 0.8, 0}, {-0.8, 0.6, 0}, {0, 0, 1}};
  const scree_Vec3 arm = scree_sub(point, motion.pose.position);
  scree_rigid_block(&inertia, motion.pose.orientation, arm, axes, -1, d, B);
  const scree_Vec3 v = scree_rigid_velocity(&motion.pose, &motion.velocity, point);
  for (int k = 0; k < d; ++k) {
    double u = 0;
    for (int j = 0; j < n; ++j) u += B[k * n + j] * y[j];
    NEAR(-u, axes[k].x * v.x + axes[k].y * v.y + axes[k].z * v.z, 1e-14);
  }
  for (int k = 0; k < 100; ++k) scree_rigid_drift(&inertia, 0.01, &motion);
  NEAR(scree_rigid_kinetic(&inertia, &motion, NULL), energy, 1e-13 * energy);
}

static void test_rigid(void **state) {
  (void)state;
  assert_string_equal(scree_body_registry[SCREE_BODY_RIGID]->name, "rigid");
  check_rigid(2);
  check_rigid(3);
}

/* ---- deformable kinds ------------------------------------------------------------------------ */

/* One body of a kind, deformed and moving. */
static const scree_Deformable *make(scree_Bodies *b, scree_BodyKind kind, int d, bool explicit_,
                                    double damping) {
  scree_Shape shape;
  if (kind == SCREE_BODY_ELEMENTS) {
    scree_ElementMesh *mesh;
    OK(scree_element_mesh_create_block(3, vec(0.5, 0.3, 0.4), (int[]){2, 1, 2}, &mesh, &test_log));
    OK(scree_shape_init_elements(&shape, mesh, &test_log));
    scree_element_mesh_destroy(mesh);
  } else if (d == 2)
    OK(scree_shape_init_ellipse(&shape, 0.5, 0.3, &test_log));
  else
    OK(scree_shape_init_ellipsoid(&shape, 0.5, 0.3, 0.4, &test_log));
  scree_BodyDef def = scree_body_def();
  def.shape = &shape;
  def.kind = kind;
  def.density = 700;
  def.pose = (scree_Pose){{1, 2, d == 2 ? 0 : 3},
                          d == 2 ? turned(0.7) : (scree_Quat){0.5, 0.5, -0.5, 0.5}};
  def.velocity = (scree_Twist){{0.3, 0.2, d == 2 ? 0 : 0.1}, {d == 2 ? 0 : 1, d == 2 ? 0 : 2, 3}};
  def.elastic =
      (scree_Elastic){.young = 1e4, .poisson = 0.3, .damping = damping, .explicit_ = explicit_};
  def.elastic.consistent_mass = true; /* has the moments of the solid */
  scree_bodies_init(b, d);
  OK(scree_bodies_add(b, &def, &test_log));
  scree_shape_fini(&shape);
  const scree_Deformable *self = scree_bodies_deformable(b, 0);
  assert_non_null(self);
  assert_true(self->components <= MANY && self->size <= SCREE_VERTEX_MAX);
  /* the undeformed body has no strain, and the kinetic energy of a rigid one */
  const scree_Inertia *inertia = &b->inertia[0];
  const double energy = scree_rigid_kinetic(
      inertia, &(scree_Motion){{def.pose.position, b->motion[0].pose.orientation}, def.velocity},
      NULL);
  NEAR(self->class_->strain(self, scree_deformable_q(b, self)), 0, 1e-20 * energy);
  NEAR(scree_bodies_kinetic(b, 0, NULL), energy, 1e-12 * energy);
  NEAR(b->motion[0].velocity.angular.z, def.velocity.angular.z, 1e-13);
  NEAR(b->motion[0].velocity.linear.x, def.velocity.linear.x, 1e-13);
  double *q = scree_deformable_q(b, self), *v = scree_deformable_v(b, self);
  for (size_t k = 0; k < self->components; ++k) {
    q[k] += 0.05 * some((int)k);
    v[k] += 0.5 * some((int)k + 31);
  }
  scree_deformable_update(b, self);
  return self;
}

static void check_points(const scree_Bodies *b, const scree_Deformable *self) {
  const int d = self->dimension, n = self->size;
  const double *q = scree_deformable_q(b, self), *v = scree_deformable_v(b, self);
  const scree_Vec3 c = b->motion[0].pose.position;
  scree_Vec3 point = vec(c.x + 0.1, c.y - 0.2, d == 2 ? 0 : c.z + 0.15);
  const scree_Vec3 *x0;
  const int *triangle = scree_shape_triangles(&b->cold[0].shape, &x0);
  if (triangle) { /* points of part 0 lie on this triangle */
    const scree_Vec3 sum = scree_add(x0[triangle[0]], scree_add(x0[triangle[1]], x0[triangle[2]]));
    point = scree_pose_apply(&b->motion[0].pose, scree_scale(1.0 / 3, sum));
  }
  double N[SCREE_TOUCH_MAX * 3 * SCREE_VERTEX_MAX], moved[MANY], M[SCREE_TOUCH_MAX * 36];
  int vertex[SCREE_TOUCH_MAX], other[SCREE_TOUCH_MAX];
  const int count = self->class_->touch(self, q, point, 0, vertex, N);
  assert_in_range(count, 1, SCREE_TOUCH_MAX);
  scree_Vec3 x = {0, 0, 0}, u = {0, 0, 0};
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < n; ++j) {
      const size_t at = (size_t)(vertex[i] * n + j);
      const double *Ni = N + i * d * n;
      x = scree_add(x, vec(Ni[j] * q[at], Ni[n + j] * q[at], d == 2 ? 0 : Ni[2 * n + j] * q[at]));
      u = scree_add(u, vec(Ni[j] * v[at], Ni[n + j] * v[at], d == 2 ? 0 : Ni[2 * n + j] * v[at]));
    }
  /* the map is linear in q: the point itself is N q, and stays the same material point */
  assert_true(scree_norm(scree_sub(x, point)) < 1e-12);
  const double h = 1e-6;
  for (size_t k = 0; k < self->components; ++k) moved[k] = q[k] + h * v[k];
  assert_int_equal(self->class_->touch(self, moved, scree_axpy(point, h, u), 0, other, M), count);
  for (int k = 0; k < count * d * n; ++k) NEAR(M[k], N[k], 1e-12);
  assert_true(self->class_->reach(self, q, v, h) >= h * scree_norm(u));
}

/* f = -d strain/dq and K = -df/dq by central differences. */
static void check_derivatives(const scree_Bodies *b, const scree_Deformable *self) {
  const size_t n = self->components;
  const double *q = scree_deformable_q(b, self), h = 1e-6;
  static double f[MANY], more[MANY], less[MANY], moved[MANY], K[MANY * MANY];
  double scale = 0, stiff = 0;
  self->class_->force(self, q, f, K);
  for (size_t k = 0; k < n; ++k) scale = fmax(scale, fabs(f[k]));
  for (size_t k = 0; k < n * n; ++k) stiff = fmax(stiff, fabs(K[k]));
  for (size_t k = 0; k < n; ++k) {
    memcpy(moved, q, n * sizeof *q);
    moved[k] = q[k] + h;
    const double up = self->class_->strain(self, moved);
    self->class_->force(self, moved, more, NULL);
    moved[k] = q[k] - h;
    const double down = self->class_->strain(self, moved);
    self->class_->force(self, moved, less, NULL);
    NEAR((down - up) / (2 * h), f[k], 1e-8 * scale);
    for (size_t j = 0; j < n; ++j) {
      NEAR((less[j] - more[j]) / (2 * h), K[j * n + k], 1e-7 * stiff);
      NEAR(K[j * n + k], K[k * n + j], 1e-12 * stiff);
    }
  }
}

/* The kick: kinetic energy changes by the work of internal forces, of the load and of damping. */
static void check_kick(scree_Bodies *b, const scree_Deformable *self, double h) {
  const size_t n = self->components;
  const double *q = scree_deformable_q(b, self), *v = scree_deformable_v(b, self);
  double *change = scree_deformable_change(b, self), after[MANY], damped;
  const scree_BodyLoad load = {vec(1, -9, self->dimension == 2 ? 0 : 2),
                               self->dimension == 2 ? vec(0, 0, 40) : vec(30, -20, 40), NULL, NULL};
  assert_true(self->class_->prepare(self, q, v, &load, h, change));
  for (size_t k = 0; k < n; ++k) after[k] = v[k] + change[k];
  const scree_Twist a = self->class_->twist(self, q, v), z = self->class_->twist(self, q, after);
  const double work = self->class_->work(self, v, after, &damped);
  const double given =
      0.5 * h *
      (b->inertia[0].mass * scree_dot(load.acceleration, scree_add(a.linear, z.linear)) +
       scree_dot(load.torque, scree_add(a.angular, z.angular)));
  const double before = self->class_->kinetic(self, v, NULL);
  const double change_of = self->class_->kinetic(self, after, NULL) - before;
  NEAR(change_of, work + given - damped, 1e-12 * (before + fabs(work) + fabs(given)));
  if (h == 0) NEAR(change_of, 0, 1e-15 * before);
}

/* A body that keeps its shape is touched at a material point, that of the kept shape without
 * deformation; and the place that is furthest along n, or of a corner, changes as the velocity of
 * this point says. */
static void check_kept(const scree_Shape *shape, int d, bool flat) {
  scree_Bodies b;
  scree_BodyDef def = scree_body_def();
  def.shape = shape;
  def.kind = SCREE_BODY_PSEUDO_RIGID;
  def.elastic = (scree_Elastic){.young = 1e4, .poisson = 0.3, .keeps_shape = true};
  scree_bodies_init(&b, d);
  OK(scree_bodies_add(&b, &def, &test_log));
  const scree_Deformable *self = scree_bodies_deformable(&b, 0);
  double *q = scree_deformable_q(&b, self), *v = scree_deformable_v(&b, self);
  const size_t count = self->components;
  for (int strained = 0; strained < 2; ++strained) {
    for (size_t k = 0; k < count; ++k) {
      q[k] += strained * 0.2 * some((int)k);
      v[k] = some((int)k + 31);
    }
    for (int k = 0; k < 10; ++k) {
      const scree_Vec3 n =
          scree_unit_or(vec(some(k), some(k + 50), d == 2 ? 0 : some(k + 90)), vec(1, 0, 0));
      const double h = 1e-6;
      double moved[2][SCREE_VERTEX_MAX];
      scree_Vec3 on[3], to[3]; /* before, after and now */
      for (int i = 0; i < 3; ++i) {
        scree_Shape view = *shape;
        scree_Pose pose;
        if (i < 2)
          for (size_t j = 0; j < count; ++j) moved[i][j] = q[j] + (i == 0 ? -h : h) * v[j];
        const double *at = i < 2 ? moved[i] : q;
        self->class_->shape(self, at, &view, &pose);
        const scree_Vec3 own = scree_quat_rotate(scree_quat_conj(pose.orientation), n);
        on[i] = scree_pose_apply(&pose, scree_shape_support(shape, own));
        to[i] = self->class_->deformed(self, at, on[i], n);
      }
      if (!strained) assert_true(scree_norm(scree_sub(to[2], on[2])) < 1e-14);
      int vertex[SCREE_TOUCH_MAX];
      double N[SCREE_TOUCH_MAX * 3 * SCREE_VERTEX_MAX], u = 0;
      assert_int_equal(self->class_->touch(self, q, to[2], 0, vertex, N), 1);
      for (int i = 0; i < d; ++i)
        for (size_t j = 0; j < count; ++j)
          u += scree_component(n, i) * N[(size_t)i * count + j] * v[j];
      NEAR(scree_dot(n, scree_sub(to[1], to[0])) / (2 * h), u, 1e-8);
      /* no material point is further along n */
      for (int j = 0; j < 20 && !flat; ++j) {
        const scree_Vec3 way =
            scree_unit_or(vec(some(j), some(j + 7), d == 2 ? 0 : some(j + 13)), n);
        const scree_Vec3 X = scree_shape_support(shape, way),
                         f[3] = {vec(q[d], q[d + 1], d == 2 ? 0 : q[d + 2]),
                                 vec(q[2 * d], q[2 * d + 1], d == 2 ? 0 : q[2 * d + 2]),
                                 d == 2 ? vec(0, 0, 1) : vec(q[9], q[10], q[11])};
        const scree_Vec3 c = vec(q[0], q[1], d == 2 ? 0 : q[2]);
        const scree_Vec3 x =
            scree_add(scree_axpy(c, X.x, f[0]), scree_axpy(scree_scale(X.y, f[1]), X.z, f[2]));
        assert_true(scree_dot(n, scree_sub(x, to[2])) < 1e-14);
      }
    }
  }
  scree_bodies_fini(&b);
}

static void test_kept(void **state) {
  (void)state;
  scree_Shape shape;
  const scree_Vec3 corners[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  OK(scree_shape_init_disk(&shape, 0.4, &test_log));
  check_kept(&shape, 2, false);
  OK(scree_shape_init_ellipse(&shape, 0.5, 0.3, &test_log));
  check_kept(&shape, 2, false);
  OK(scree_shape_init_sphere(&shape, 0.4, &test_log));
  check_kept(&shape, 3, false);
  OK(scree_shape_init_ellipsoid(&shape, 0.5, 0.3, 0.4, &test_log));
  check_kept(&shape, 3, false);
  OK(scree_shape_init_box(&shape, 0.5, 0.3, 0.4, &test_log));
  check_kept(&shape, 3, true);
  OK(scree_shape_init_polyhedron(&shape, corners, 4, &test_log));
  check_kept(&shape, 3, true);
  scree_shape_fini(&shape);
}

static void test_deformable(void **state) {
  (void)state;
  for (int kind = SCREE_BODY_RIGID + 1; kind < SCREE_BODY_KINDS; ++kind) {
    assert_int_equal(scree_body_kind(scree_body_kind_name((scree_BodyKind)kind)), kind);
    for (int d = kind == SCREE_BODY_ELEMENTS ? 3 : 2; d <= 3; ++d)
      for (int how = 0; how < 4; ++how) {
        scree_Bodies b;
        const scree_Deformable *self =
            make(&b, (scree_BodyKind)kind, d, how % 2 == 1, how >= 2 ? 1e-3 : 0);
        check_points(&b, self);
        check_derivatives(&b, self);
        check_kick(&b, self, 0);
        check_kick(&b, self, 2e-3);
        check_kick(&b, self, 0.2);
        scree_bodies_fini(&b);
      }
  }
}

/* Damping takes energy whatever the deformation and the motion, and none from a body that turns
 * without deforming further, loaded or not. The state of `k` has stretches from 0.3 to 1.7. */
static void test_damping(void **state) {
  (void)state;
  enum { STATES = 40 };
  const double t = 1e-3, h = 2e-3;
  for (int kind = SCREE_BODY_RIGID + 1; kind < SCREE_BODY_KINDS; ++kind)
    for (int d = kind == SCREE_BODY_ELEMENTS ? 3 : 2; d <= 3; ++d) {
      scree_Bodies b;
      const scree_Deformable *self = make(&b, (scree_BodyKind)kind, d, false, t);
      const size_t n = self->components;
      double *q = scree_deformable_q(&b, self), *v = scree_deformable_v(&b, self);
      double *change = scree_deformable_change(&b, self), place[MANY], damped;
      memcpy(place, q, n * sizeof *q);
      for (int k = 0; k < STATES; ++k) {
        const double stretch[3] = {1 + 0.7 * some(3 * k), 1 + 0.7 * some(3 * k + 1),
                                   1 + 0.7 * some(3 * k + 2)};
        for (size_t i = 0; i < n; i += (size_t)d)
          for (size_t j = 0; j < (size_t)d; ++j) q[i + j] = place[i + j] * stretch[j];
        for (size_t i = 0; i < n; ++i) v[i] = some(17 * k + 5 * (int)i);
        const scree_BodyLoad none = {0};
        assert_true(self->class_->prepare(self, q, v, &none, h, change));
        self->class_->work(self, v, v, &damped);
        assert_true(damped > 0);
        const double largest = damped;
        /* the rate of a rotation; nodes and columns of F turn alike */
        for (size_t i = 0; i < n; i += (size_t)d) {
          const scree_Vec3 x = vec(q[i], q[i + 1], d == 2 ? 0 : q[i + 2]);
          const scree_Vec3 u = scree_cross(d == 2 ? vec(0, 0, 3) : vec(1, -2, 3), x);
          v[i] = u.x, v[i + 1] = u.y;
          if (d == 3) v[i + 2] = u.z;
        }
        assert_true(self->class_->prepare(self, q, v, &none, h, change));
        self->class_->work(self, v, v, &damped);
        NEAR(damped, 0, 1e-11 * largest);
      }
      scree_bodies_fini(&b);
    }
}

/* The power of damping of a body that is not deformed yet: V t (lambda tr(D)^2 + 2 mu D:D), D the
 * symmetric part of the rate. */
static void test_damping_rate(void **state) {
  (void)state;
  const double t = 1e-3, h = 2e-3;
  scree_Bodies b;
  const scree_Deformable *self = make(&b, SCREE_BODY_PSEUDO_RIGID, 3, false, t);
  double *q = scree_deformable_q(&b, self), *v = scree_deformable_v(&b, self);
  double *change = scree_deformable_change(&b, self), damped, trace = 0, square = 0;
  for (int k = 3; k < 12; ++k) q[k] = (k - 3) % 4 == 0;
  for (int k = 0; k < 12; ++k) v[k] = some(k);
  const scree_BodyLoad none = {0};
  assert_true(self->class_->prepare(self, q, v, &none, h, change));
  self->class_->work(self, v, v, &damped);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double D = 0.5 * (v[3 + 3 * j + i] + v[3 + 3 * i + j]);
      square += D * D;
      if (i == j) trace += D;
    }
  const double lambda = 1e4 * 0.3 / (1.3 * 0.4), mu = 1e4 / 2.6;
  const double volume = 4.0 / 3 * acos(-1.0) * 0.5 * 0.3 * 0.4;
  const double expected = h * t * volume * (lambda * trace * trace + 2 * mu * square);
  NEAR(damped, expected, 1e-12 * expected);
  scree_bodies_fini(&b);
}

/* Under a strong compression K is indefinite; the step still has a positive definite A. */
static void test_compressed(void **state) {
  (void)state;
  scree_Bodies b;
  const scree_Deformable *self = make(&b, SCREE_BODY_PSEUDO_RIGID, 3, false, 0);
  double *q = scree_deformable_q(&b, self);
  for (int k = 3; k < 12; ++k) q[k] *= 0.3;
  check_kick(&b, self, 0.5);
  scree_bodies_fini(&b);
}

static void test_refusals(void **state) {
  (void)state;
  scree_Bodies b;
  scree_Shape shape;
  OK(scree_shape_init_capsule(&shape, 0.3, 0.2, &test_log));
  scree_BodyDef def = scree_body_def();
  def.shape = &shape;
  def.kind = SCREE_BODY_PSEUDO_RIGID;
  def.elastic = (scree_Elastic){.young = 1e4, .poisson = 0.3};
  scree_bodies_init(&b, 3);
  assert_int_equal(scree_bodies_add(&b, &def, NULL), SCREE_BAD_INPUT);
  scree_shape_fini(&shape);
  OK(scree_shape_init_sphere(&shape, 0.3, &test_log));
  const scree_Elastic bad[] = {{.young = 0, .poisson = 0.3},
                               {.young = 1, .poisson = 0.5},
                               {.young = 1, .poisson = -1},
                               {.young = NAN},
                               {.young = 1, .damping = -1}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
    def.elastic = bad[k];
    assert_int_equal(scree_bodies_add(&b, &def, NULL), SCREE_BAD_INPUT);
  }
  def.elastic = (scree_Elastic){.young = 1};
  def.obstacle = true;
  assert_int_equal(scree_bodies_add(&b, &def, NULL), SCREE_BAD_INPUT);
  assert_int_equal(b.count, 0);
  scree_shape_fini(&shape);
  scree_bodies_fini(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rigid),      cmocka_unit_test(test_deformable),
      cmocka_unit_test(test_damping),    cmocka_unit_test(test_damping_rate),
      cmocka_unit_test(test_compressed), cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
